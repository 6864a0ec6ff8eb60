/* modes.c - vibrations of small amplitude about a position: frequencies, damping, shapes.
 *
 *   M z'' + C z' + K z = 0,   M = N'M N,   K = -M A21,   C = -M A22                                    (1-3)
 *
 * Without damping and with a symmetric K (forces with a potential) frequencies come from K x = w^2 M x, and
 * are exactly imaginary eigenvalues; otherwise from the eigenvalues of A, user states included.
 *
 * Source   docs/theory/modes.md.
 * Cost     O(states^3), dense. Allocates.
 */
#include "analyses/linear_parts.h"
#include "linalg/eigen.h"
#include <linkwork/assemble.h>
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
    lw_modes result;
    lw_linear_work work;
    const lw_model *model;
    double length;
    double *q, *v, *M, *K, *C, *values, *vectors;
    lw_mode *modes;
    char name[256];
} answer;

/* M, K and C in the independent coordinates, column by column. Returns whether there is neither damping nor a
 * part of K that is not symmetric, to rounding. */
static bool reduce(answer *a) {
    const lw_linear_work *w = &a->work;
    const lw_derivatives *d = w->derivatives;
    const int f = w->speeds, nf = d->free_count, nv = a->model->nv, n = w->n;
    const double *mass = d->tree->mass;
    double damping = 0, stiff = 0, skew = 0;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) {
            double sum = 0;
            for (int k = 0; k < nf; k++)
                for (int l = 0; l < nf; l++)
                    sum += w->Nv[k + i * nf] * mass[d->free[k] * nv + d->free[l]] * w->Nv[l + j * nf];
            a->M[i + j * f] = sum;
        }
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) {
            double k = 0, c = 0;
            for (int l = 0; l < f; l++) {
                k -= a->M[i + l * f] * w->A[(f + l) * n + j];
                c -= a->M[i + l * f] * w->A[(f + l) * n + f + j];
            }
            a->K[i + j * f] = k, a->C[i + j * f] = c;
        }
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) {
            const double size = sqrt(fabs(a->K[i + i * f] * a->K[j + j * f])) + fabs(a->K[i + j * f]);
            const double inertia = sqrt(a->M[i + i * f] * a->M[j + j * f]);
            stiff = fmax(stiff, size / inertia);
            skew = fmax(skew, fabs(a->K[i + j * f] - a->K[j + i * f]) / inertia);
            damping = fmax(damping, fabs(a->C[i + j * f]) / inertia);
        }
    return skew <= 1e-9 * stiff && damping <= 1e-12 * sqrt(stiff);
}

/* The shape of a mode from the motion x + i y of the independent coordinates. */
static bool shape(answer *a, lw_mode *mode, const double *x, const double *y) {
    const lw_linear_work *w = &a->work;
    const int nv = a->model->nv, n = w->n, f = w->coordinates;
    double *re = LW_NEW(w->arena, double, nv + 1), *im = LW_NEW(w->arena, double, nv + 1), most = 0, c = 1,
           s = 0;
    if (!re || !im) return false;
    for (int k = 0; k < nv; k++) {
        for (int j = 0; j < f; j++) {
            re[k] += w->Lq[(size_t)k * (size_t)n + (size_t)j] * x[j];
            im[k] += y ? w->Lq[(size_t)k * (size_t)n + (size_t)j] * y[j] : 0;
        }
        const double size = hypot(re[k], im[k]) / (w->slides[k] ? a->length : 1);
        if (size > most * (1 + 1e-9)) most = size, c = re[k], s = im[k];
    }
    const double turn = hypot(c, s);
    for (int k = 0; k < nv && most > 0; k++) { /* divided by the largest entry's direction and size */
        const double r = re[k], i = im[k];
        re[k] = (r * c + i * s) / (turn * most);
        im[k] = (i * c - r * s) / (turn * most);
    }
    mode->shape = re, mode->imaginary = im;
    return true;
}

static lw_status undamped(answer *a, lw_error *error) {
    const int f = a->work.speeds;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < i; j++)
            a->K[i + j * f] = a->K[j + i * f] = 0.5 * (a->K[i + j * f] + a->K[j + i * f]);
    if (!lw_eigen_definite(f, a->K, a->M, a->values))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the frequencies did not converge");
    double most = 0;
    for (int k = 0; k < f; k++) most = fmax(most, fabs(a->values[k]));
    for (int k = 0; k < f; k++) {
        const double square = a->values[k];
        if (!(fabs(square) > 1e-11 * most)) {
            a->result.rigid++;
            continue;
        }
        for (int sign = 1; sign >= (square < 0 ? -1 : 1); sign -= 2) { /* Unstable: it grows and decays. */
            lw_mode *mode = &a->modes[a->result.count++];
            const double w = sqrt(fabs(square));
            *mode = (lw_mode){.frequency = w / (2 * LW_PI)};
            mode->eigenvalue[square > 0] = sign * w;
            mode->damping_ratio = square > 0 ? 0 : -sign;
            if (!shape(a, mode, a->K + (size_t)k * (size_t)f, NULL)) return lw_out_of_memory(error);
        }
    }
    return LW_OK;
}

/* How many motions nothing opposes: eigenvalues of -A21 that are zero. */
static bool count_rigid(answer *a) {
    const lw_linear_work *w = &a->work;
    const int f = w->speeds, n = w->n;
    double most = 0;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) a->K[i + j * f] = -w->A[(f + i) * n + j];
    if (!lw_eigen_general(f, a->K, a->values, NULL)) return false;
    for (int k = 0; k < f; k++) most = fmax(most, hypot(a->values[2 * k], a->values[2 * k + 1]));
    for (int k = 0; k < f; k++)
        a->result.rigid += !(hypot(a->values[2 * k], a->values[2 * k + 1]) > 1e-11 * most);
    return true;
}

static int by_frequency(const void *x, const void *y) {
    const lw_mode *a = x, *b = y;
    return a->frequency < b->frequency ? -1 : a->frequency > b->frequency;
}

static lw_status damped(answer *a, lw_error *error) {
    const lw_linear_work *w = &a->work;
    const int n = w->n;
    double most = 0;
    if (!count_rigid(a))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the eigenvalues did not converge");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w->subspace[i + j * n] = w->A[i * n + j];
    if (!lw_eigen_general(n, w->subspace, a->values, a->vectors))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the eigenvalues did not converge");
    for (int k = 0; k < n; k++) most = fmax(most, hypot(a->values[2 * k], a->values[2 * k + 1]));
    for (int k = 0; k < n; k++) {
        const double re = a->values[2 * k], im = a->values[2 * k + 1], size = hypot(re, im);
        if (im < 0) continue;                                                   /* the second of a pair */
        if (size == 0 || (a->result.rigid > 0 && size < 1e-6 * most)) continue; /* rigid, split by rounding */
        lw_mode *mode = &a->modes[a->result.count++];
        *mode =
            (lw_mode){.frequency = size / (2 * LW_PI), .damping_ratio = -re / size, .eigenvalue = {re, im}};
        const double *x = a->vectors + (size_t)k * (size_t)n;
        if (!shape(a, mode, x, im > 0 ? x + n : NULL)) return lw_out_of_memory(error);
    }
    qsort(a->modes, (size_t)a->result.count, sizeof *a->modes, by_frequency);
    return LW_OK;
}

static lw_status find(answer *a, const lw_linearise_options *options, lw_error *error) {
    lw_linear_work *w = &a->work;
    const lw_model *model = a->model;
    lw_status status = lw_linear_create(w, model, options, error);
    if (status != LW_OK) return status;
    const size_t nv = (size_t)model->nv, n = 2 * nv + (size_t)model->values.state_count + 1;
    a->q = LW_NEW(w->arena, double, model->nq + 1);
    a->v = LW_NEW(w->arena, double, nv + 1);
    a->M = LW_NEW(w->arena, double, nv *nv + 1);
    a->K = LW_NEW(w->arena, double, nv *nv + 1);
    a->C = LW_NEW(w->arena, double, nv *nv + 1);
    a->values = LW_NEW(w->arena, double, 2 * n);
    a->vectors = LW_NEW(w->arena, double, n *n);
    a->modes = LW_NEW(w->arena, lw_mode, n);
    if (lw_arena_failed(w->arena)) return lw_out_of_memory(error);
    status = lw_linear_start(model, options, a->q, a->v, error);
    memset(a->v, 0, nv * sizeof *a->v);
    if (status == LW_OK) status = lw_linear_at(w, options, options->t, a->q, a->v, error);
    if (status != LW_OK) return status;
    if (w->coordinates != w->speeds)
        return lw_fail(
            error, LW_ERROR_UNSUPPORTED, lw_model_name(model),
            "linkwork linearise has the eigenvalues of such a mechanism",
            "modes are those of mechanisms whose positions and speeds are equally many, and wheels roll "
            "here");
    for (int k = 0; k < w->speeds; k++)
        if (fabs(w->rates[w->coordinates + k]) > a->result.imbalance) {
            a->result.imbalance = fabs(w->rates[w->coordinates + k]);
            lw_state_name(model, w->derivatives->free[w->own_v[k]], 0, a->name, sizeof a->name);
        }
    a->result.undamped = reduce(a) && model->values.state_count == 0;
    status = a->result.undamped ? undamped(a, error) : damped(a, error);
    a->result.modes = a->modes, a->result.name = a->name;
    return status;
}

lw_status lw_modes_find(const lw_model *model, const lw_linearise_options *options, lw_modes **modes,
                        lw_error *error) {
    if (modes) *modes = NULL;
    if (!model || !options || !modes || !isfinite(options->t) ||
        (options->q && !lw_finite(options->q, model->nq)))
        return lw_call_needs("a model, options with finite numbers and a pointer for the result", error);
    answer *a = calloc(1, sizeof *a);
    if (!a) return lw_out_of_memory(error);
    a->model = model, a->length = lw_longest_arm(model);
    lw_status status = find(a, options, error);
    if (status == LW_OK)
        *modes = &a->result;
    else
        lw_modes_destroy(&a->result);
    return status;
}

void lw_modes_destroy(lw_modes *modes) {
    if (!modes) return;
    answer *a = (answer *)modes;
    lw_linear_destroy(&a->work);
    free(a);
}
