/* search_cma.c - the least of a function by evolution of a normal distribution (CMA-ES).
 *
 * docs/theory/optimise.md, equations (1) to (7), from Hansen: The CMA evolution strategy, a tutorial (2016);
 * restarts with twice the population (Auger, Hansen 2005). Only the order of what was found counts, so that
 * steps, failures and constraints need no care. Random numbers are functions of the seed, the number of the
 * point and the coordinate.
 *
 * Symbols   m mean, sigma step, C covariance = B diag(d^2) B', p_s, p_c paths; n dimension, lambda points.
 * Cost      O(n^2) a point, and the axes of C, O(n^3), once a generation.
 */
#include "core/counter_random.h"
#include "sweep/search.h"
#include "sweep/sweep_parts.h"

#include <math.h>
#include <string.h>

enum { PURPOSE_NORMAL = 8, PURPOSE_START, LAMBDA_MOST = 4096, HISTORY = 1024 };

typedef struct cma {
    lw_search_settings s;
    int n, lambda, mu, restart, generation;
    double *mean, *C, *B, *d, *path_s, *path_c, *work;
    double *steps;  /* y of each point */
    double *points; /* the same in the box */
    double *weights;
    int *order;
    double sigma, mu_eff, c_sigma, damping, c_c, c_1, c_mu, chi;
    double best_of[HISTORY]; /* the best of the last generations, in a ring */
    uint64_t drawn;          /* points so far */
    const char *why;
} cma;

/* The axes of C by Jacobi's rotations: eigenvalues in d, eigenvectors in the columns of B. */
static void find_axes(cma *c) {
    const int n = c->n;
    double *A = c->work;
    memcpy(A, c->C, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n * n; i++) c->B[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < n * n; i++) {
            all += A[i] * A[i];
            if (i / n != i % n) off += A[i] * A[i];
        }
        if (off <= 1e-30 * all) break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (A[p * n + q] == 0) continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double cs = 1 / sqrt(t * t + 1), sn = t * cs;
                for (int k = 0; k < n; k++) {
                    const double a = A[k * n + p], b = A[k * n + q];
                    A[k * n + p] = cs * a - sn * b, A[k * n + q] = sn * a + cs * b;
                }
                for (int k = 0; k < n; k++) {
                    const double a = A[p * n + k], b = A[q * n + k];
                    A[p * n + k] = cs * a - sn * b, A[q * n + k] = sn * a + cs * b;
                    const double e = c->B[k * n + p], f = c->B[k * n + q];
                    c->B[k * n + p] = cs * e - sn * f, c->B[k * n + q] = sn * e + cs * f;
                }
            }
    }
    for (int i = 0; i < n; i++) c->d[i] = sqrt(fmax(A[i * n + i], 1e-40));
}

/* Weights and rates for a population, equations (2) and (7). */
static void set_rates(cma *c) {
    const double n = c->n;
    double sum = 0, squares = 0;
    c->mu = c->lambda / 2;
    for (int i = 0; i < c->mu; i++) {
        c->weights[i] = log(0.5 * (c->lambda + 1)) - log(i + 1.0);
        sum += c->weights[i];
    }
    for (int i = 0; i < c->mu; i++) c->weights[i] /= sum, squares += c->weights[i] * c->weights[i];
    c->mu_eff = 1 / squares;
    c->c_sigma = (c->mu_eff + 2) / (n + c->mu_eff + 5);
    c->damping = 1 + 2 * fmax(0, sqrt((c->mu_eff - 1) / (n + 1)) - 1) + c->c_sigma;
    c->c_c = (4 + c->mu_eff / n) / (n + 4 + 2 * c->mu_eff / n);
    c->c_1 = 2 / ((n + 1.3) * (n + 1.3) + c->mu_eff);
    c->c_mu = fmin(1 - c->c_1, 2 * (c->mu_eff - 2 + 1 / c->mu_eff) / ((n + 2) * (n + 2) + c->mu_eff));
    c->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

static void begin(cma *c) {
    const int n = c->n;
    for (int i = 0; i < n; i++) {
        c->mean[i] =
            c->restart == 0
                ? c->s.start[i]
                : lw_random_unit(lw_random_bits(c->s.seed, (uint64_t)c->restart, (uint32_t)i, PURPOSE_START));
        c->path_s[i] = c->path_c[i] = 0, c->d[i] = 1;
    }
    for (int i = 0; i < n * n; i++) c->B[i] = c->C[i] = i % (n + 1) == 0;
    c->sigma = 0.3, c->generation = 0;
    set_rates(c);
}

static void *create(lw_arena *arena, const lw_search_settings *settings) {
    cma *c = LW_NEW(arena, cma, 1);
    if (!c) return NULL;
    const int n = settings->dimension;
    c->s = *settings, c->n = n;
    c->lambda = settings->population > 0 ? settings->population : 4 + (int)(3 * log(n));
    if (c->lambda < 4) c->lambda = 4;
    if (c->lambda > LAMBDA_MOST) c->lambda = LAMBDA_MOST;
    int most = c->lambda;
    for (int k = 0; k < settings->restarts && most < LAMBDA_MOST; k++) most *= 2;
    c->mean = LW_NEW(arena, double, n);
    c->C = LW_NEW(arena, double, n *n), c->B = LW_NEW(arena, double, n *n);
    c->work = LW_NEW(arena, double, n *n);
    c->d = LW_NEW(arena, double, n), c->path_s = LW_NEW(arena, double, n);
    c->path_c = LW_NEW(arena, double, n);
    c->steps = LW_NEW(arena, double, n *most), c->points = LW_NEW(arena, double, n *most);
    c->weights = LW_NEW(arena, double, most), c->order = LW_NEW(arena, int, most);
    if (lw_arena_failed(arena)) return NULL;
    begin(c);
    return c;
}

/* Mirrors a coordinate into the box, equation (3). */
static double mirrored(double x) {
    x = fabs(x - 2 * floor(0.5 * x)); /* between 0 and 2 */
    return x > 1 ? 2 - x : x;
}

static int ask(void *search, const double **points) {
    cma *c = search;
    const int n = c->n;
    if (c->why) return 0;
    for (int k = 0; k < c->lambda; k++, c->drawn++) {
        double *y = c->steps + (size_t)k * (size_t)n, *x = c->points + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) y[i] = 0;
        for (int j = 0; j < n; j++) {
            const double z = c->d[j] * lw_normal_quantile(lw_random_unit(
                                           lw_random_bits(c->s.seed, c->drawn, (uint32_t)j, PURPOSE_NORMAL)));
            for (int i = 0; i < n; i++) y[i] += c->B[i * n + j] * z;
        }
        for (int i = 0; i < n; i++) x[i] = mirrored(c->mean[i] + c->sigma * y[i]);
    }
    *points = c->points;
    return c->lambda;
}

/* New paths, mean, covariance and step, equations (4) to (7). */
static void learn(cma *c) {
    const int n = c->n;
    double *y = c->work, *t = c->work + n, length = 0; /* n^2 >= 2 n unless n is 1 */
    double small[4];
    if (n == 1) y = small, t = small + 1;
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int k = 0; k < c->mu; k++)
            y[i] += c->weights[k] * c->steps[(size_t)c->order[k] * (size_t)n + (size_t)i];
        c->mean[i] += c->sigma * y[i];
    }
    const double forget = sqrt(c->c_sigma * (2 - c->c_sigma) * c->mu_eff);
    for (int j = 0; j < n; j++) { /* C^-1/2 y = B d^-1 B' y */
        t[j] = 0;
        for (int i = 0; i < n; i++) t[j] += c->B[i * n + j] * y[i];
        t[j] /= c->d[j];
    }
    for (int i = 0; i < n; i++) {
        double whitened = 0;
        for (int j = 0; j < n; j++) whitened += c->B[i * n + j] * t[j];
        c->path_s[i] = (1 - c->c_sigma) * c->path_s[i] + forget * whitened;
        length += c->path_s[i] * c->path_s[i];
    }
    length = sqrt(length);
    const double settled = 1 - pow(1 - c->c_sigma, 2.0 * (c->generation + 1));
    const bool slow = length / sqrt(settled) < (1.4 + 2 / (n + 1.0)) * c->chi;
    for (int i = 0; i < n; i++)
        c->path_c[i] =
            (1 - c->c_c) * c->path_c[i] + (slow ? sqrt(c->c_c * (2 - c->c_c) * c->mu_eff) * y[i] : 0);
    const double keep = 1 - c->c_1 - c->c_mu + (slow ? 0 : c->c_1 * c->c_c * (2 - c->c_c));
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double rank = 0;
            for (int k = 0; k < c->mu; k++) {
                const double *step = c->steps + (size_t)c->order[k] * (size_t)n;
                rank += c->weights[k] * step[i] * step[j];
            }
            c->C[i * n + j] = c->C[j * n + i] =
                keep * c->C[i * n + j] + c->c_1 * c->path_c[i] * c->path_c[j] + c->c_mu * rank;
        }
    c->sigma *= exp(fmin(1, c->c_sigma / c->damping * (length / c->chi - 1)));
    if (c->sigma > 1) c->sigma = 1; /* The box is no wider. */
}

/* Has this generation ended the search, and why? */
static const char *over(const cma *c, const lw_found *found) {
    const lw_found *best = &found[c->order[0]];
    const int memory = 10 + (30 * c->n + c->lambda - 1) / c->lambda;
    double widest = 0, least = best->value, greatest = best->value;
    for (int i = 0; i < c->n; i++) widest = fmax(widest, c->sigma * c->d[i]);
    if (widest < c->s.tolerance) return "the points have come together";
    if (widest > 0 && best->value != best->value && c->generation > 20 * c->n + 100) return "every run fails";
    if (c->generation < memory || best->violation > 0) return NULL;
    for (int k = 0; k < memory && k < HISTORY; k++) {
        least = fmin(least, c->best_of[(c->generation - k) % HISTORY]);
        greatest = fmax(greatest, c->best_of[(c->generation - k) % HISTORY]);
    }
    return greatest - least <= 1e-14 * fabs(least) ? "the best value does not change any more" : NULL;
}

static void tell(void *search, const lw_found *found) {
    cma *c = search;
    for (int k = 0; k < c->lambda; k++) { /* Sorted by insertion; those that are equal keep their order. */
        int i = k;
        for (; i > 0 && lw_found_better(&found[k], &found[c->order[i - 1]]); i--)
            c->order[i] = c->order[i - 1];
        c->order[i] = k;
    }
    c->best_of[c->generation % HISTORY] = found[c->order[0]].value;
    learn(c);
    find_axes(c);
    const char *why = over(c, found);
    c->generation++;
    if (!why) return;
    if (c->restart == c->s.restarts) {
        c->why = why;
        return;
    }
    c->restart++;
    if (2 * c->lambda <= LAMBDA_MOST) c->lambda *= 2;
    begin(c);
}

static const char *ended(const void *search) { return ((const cma *)search)->why; }

const lw_search_way lw_search_cma = {"cma", true, create, ask, tell, ended};
