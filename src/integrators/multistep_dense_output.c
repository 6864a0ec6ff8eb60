/* multistep_dense_output.c - dense output by the steps before: a polynomial through states and rates that are
 * known already.
 *
 * Of a step, theta = 0 .. 1, the states y and rates ydot are known at both ends, and at the beginnings of the
 * m steps before, theta_j < 0. Hermite's polynomial p_0 through all of them has degree 2m + 3 and an error of
 * O(h^(2m+4)), without any evaluation:
 *
 *   p_0 - y = -y^(2m+4) h^(2m+4) / (2m+4)! omega(theta),   omega = product of (theta - theta_j)^2
 *
 * To see whether that is good enough, the system is evaluated at a point theta_1 within the step. There
 * r = h ydot(theta_1, p_0(theta_1)) - p_0'(theta_1) is the residual of the polynomial, and
 *
 *   p_k = p_(k-1) + K_k phi_k,   K_k = r_k / phi_k'(theta_k),
 *   phi_k = omega (theta - 1/2)^(k-1) - sum of c_kj phi_j over j < k
 *
 * with c_kj such that phi_k' = 0 at theta_1 .. theta_(k-1), satisfies them there, and changes nothing at any
 * node. The order rises by one each time, and max |K_k phi_k| over the step estimates the error of p_(k-1).
 * theta_k is where phi_k' is largest: near a maximum of the error its slope tells nothing.
 *
 * The first rate was found at a state with the error e_0 of p_0, and keeps an error of about h L e_0, L being
 * that of Lipschitz, in all p_k. So after two rates each of them is found anew, from the better polynomial:
 * what this changes is the estimate then. The caller goes on until it is well within the tolerance, and does
 * something else if four rates do not suffice: next to a kink of a force neighbours are of no use.
 *
 * States of one step and the next are not on one solution; they differ by the errors of steps. Weights of the
 * states before are 0.3 (m = 2) to 1.2 (m = 4) in sum for equal steps, and thousands where steps grow
 * quickly. So many neighbours are taken as have weights up to 1.5.
 *
 * Symbols  theta_j: node; theta_k: point; c_kj: mix; K_k: factor.
 * Source   Hermite interpolation; improving it by rates of its own values: Enright, Jackson, Norsett,
 *          Thomsen, Interpolants for Runge-Kutta formulas, ACM Trans. Math. Softw. 12 (1986).
 * Cost     O(states) for each state that is asked for; no evaluation, but for those that the caller makes.
 */
#include "integrators/multistep_dense_output.h"

#include <math.h>
#include <string.h>

static const double bearable = 1.5; /* sum of the weights of states before */

enum { ASKED = 2 * LW_NEIGHBOUR_RATES, POINTS = 16 };

bool lw_neighbours_create(lw_neighbours *n, lw_arena *arena, int size, int controlled, int least,
                          double tolerance, const double *scale) {
    *n = (lw_neighbours){
        .size = size, .controlled = controlled, .least = least, .tolerance = tolerance, .scale = scale};
    bool ok = true;
    for (int k = 0; k < LW_NEIGHBOURS; k++)
        ok = ok && (n->y_begin[k] = LW_NEW(arena, double, size)) &&
             (n->f_begin[k] = LW_NEW(arena, double, size));
    for (int k = 0; k < LW_NEIGHBOUR_RATES; k++) ok = ok && (n->factor[k] = LW_NEW(arena, double, size));
    return ok;
}

void lw_neighbours_forget(lw_neighbours *n) { n->known = 0; }

void lw_neighbours_keep(lw_neighbours *n, double t, const double *y, const double *f) {
    const int last = LW_NEIGHBOURS - 1;
    double *oldest_y = n->y_begin[last], *oldest_f = n->f_begin[last];
    for (int k = last; k > 0; k--) {
        n->begin[k] = n->begin[k - 1];
        n->y_begin[k] = n->y_begin[k - 1], n->f_begin[k] = n->f_begin[k - 1];
    }
    n->begin[0] = t, n->y_begin[0] = oldest_y, n->f_begin[0] = oldest_f;
    memcpy(oldest_y, y, sizeof *y * (size_t)n->size);
    memcpy(oldest_f, f, sizeof *f * (size_t)n->size);
    if (n->known < LW_NEIGHBOURS) n->known++;
}

void lw_neighbours_archive(lw_neighbours *n, lw_archive *archive) {
    LW_ARCHIVE_ONE(archive, n->known);
    LW_ARCHIVE_ONE(archive, n->begin);
    for (int k = 0; k < LW_NEIGHBOURS; k++) {
        LW_ARCHIVE_MANY(archive, n->y_begin[k], n->size);
        LW_ARCHIVE_MANY(archive, n->f_begin[k], n->size);
    }
}

/* Weights of y and of h ydot at the nodes in p_0(theta) or, if slope, in p_0'(theta); theta is no node
 * then. */
static void weigh(const lw_neighbours *n, double theta, bool slope, double *of_y, double *of_f) {
    const int nodes = n->used + 2;
    for (int i = 0; i < nodes; i++) {
        double lagrange = 1, own = 0, here = 0, distance = theta - n->node[i];
        for (int j = 0; j < nodes; j++) {
            if (j == i) continue;
            lagrange *= (theta - n->node[j]) / (n->node[i] - n->node[j]);
            own += 1 / (n->node[i] - n->node[j]);
            if (slope) here += 1 / (theta - n->node[j]);
        }
        double square = lagrange * lagrange;
        of_y[i] = (1 - 2 * distance * own) * square;
        of_f[i] = distance * square;
        if (slope) {
            of_y[i] = 2 * here * of_y[i] - 2 * own * square;
            of_f[i] = 2 * here * of_f[i] + square;
        }
    }
}

/* omega (theta - 1/2)^(k-1) less its parts along those before: phi_k for k = 1 .. count, and its slope. */
static void correct(const lw_neighbours *n, double theta, int count, double *value, double *slope) {
    double omega = 1, rate = 0, power = 1, power_before = 0;
    for (int i = 0; i < n->used + 2; i++) {
        omega *= (theta - n->node[i]) * (theta - n->node[i]);
        if (slope) rate += 2 / (theta - n->node[i]);
    }
    for (int k = 0; k < count; k++) {
        value[k] = omega * power;
        if (slope) slope[k] = omega * (rate * power + k * power_before);
        for (int j = 0; j < k; j++) {
            value[k] -= n->mix[k][j] * value[j];
            if (slope) slope[k] -= n->mix[k][j] * slope[j];
        }
        power_before = power;
        power *= theta - 0.5;
    }
}

/* The amplification of errors of the preceding states: the largest sum of their weights in the step, at a few
 * positions. */
static double magnified(const lw_neighbours *n) {
    double of_y[LW_NEIGHBOUR_NODES], of_f[LW_NEIGHBOUR_NODES], most = 0;
    for (int k = 1; k < POINTS; k++) {
        double sum = 0;
        weigh(n, (double)k / POINTS, false, of_y, of_f);
        for (int i = 2; i < n->used + 2; i++) sum += fabs(of_y[i]);
        most = fmax(most, sum);
    }
    return most;
}

bool lw_neighbours_enter(lw_neighbours *n, double t, double h, const double *y_begin, const double *f_begin,
                         const double *y_end, const double *f_end) {
    if (!(h > 0)) return false;
    n->h = h;
    n->rates = n->asked = 0;
    n->node[0] = 0, n->y[0] = y_begin, n->f[0] = f_begin;
    n->node[1] = 1, n->y[1] = y_end, n->f[1] = f_end;
    for (int k = 0; k < n->known; k++) {
        n->node[2 + k] = (n->begin[k] - t) / h;
        n->y[2 + k] = n->y_begin[k], n->f[2 + k] = n->f_begin[k];
    }
    for (n->used = n->known; n->used >= n->least; n->used--)
        if (magnified(n) <= bearable) return true;
    return false;
}

/* phi_k for k = rates + 1: c_kj, and the position of its largest slope among a few. */
static void choose(lw_neighbours *n) {
    const int k = n->rates;
    double value[LW_NEIGHBOUR_RATES], slope[LW_NEIGHBOUR_RATES], steepest = 0;
    memset(n->mix[k], 0, sizeof n->mix[k]);
    for (int j = 0; j < k; j++) { /* phi_j' is zero at all points before its own: one after the other */
        correct(n, n->point[j], k + 1, value, slope);
        n->mix[k][j] = slope[k] / slope[j];
    }
    for (int i = 1; i < POINTS; i++) {
        const double theta = (double)i / POINTS;
        correct(n, theta, k + 1, value, slope);
        if (fabs(slope[k]) > steepest) steepest = fabs(slope[k]), n->point[k] = theta;
    }
}

double lw_neighbours_next(lw_neighbours *n) {
    if (n->asked == ASKED) return -1;
    if (n->rates < LW_NEIGHBOUR_RATES) choose(n);
    return n->point[n->asked % LW_NEIGHBOUR_RATES];
}

/* The polynomial, as a sum of phi, that is zero at all nodes and has slope 1 at point k and 0 at the other
 * points; its largest value. */
static double unit_slope(const lw_neighbours *n, int k, double *of_phi) {
    double value[LW_NEIGHBOUR_RATES], slope[LW_NEIGHBOUR_RATES], most = 0;
    memset(of_phi, 0, sizeof *of_phi * LW_NEIGHBOUR_RATES);
    for (int j = k; j < n->rates; j++) {
        correct(n, n->point[j], n->rates, value, slope);
        double left = j == k ? 1 : 0;
        for (int i = k; i < j; i++) left -= of_phi[i] * slope[i];
        of_phi[j] = left / slope[j];
    }
    for (int i = 1; i < POINTS; i++) {
        double sum = 0;
        correct(n, (double)i / POINTS, n->rates, value, NULL);
        for (int j = k; j < n->rates; j++) sum += of_phi[j] * value[j];
        most = fmax(most, fabs(sum));
    }
    return most;
}

double lw_neighbours_add(lw_neighbours *n, const double *rate) {
    const int k = n->asked % LW_NEIGHBOUR_RATES;
    double of_y[LW_NEIGHBOUR_NODES], of_f[LW_NEIGHBOUR_NODES];
    double value[LW_NEIGHBOUR_RATES], slope[LW_NEIGHBOUR_RATES], of_phi[LW_NEIGHBOUR_RATES];
    double states = 0, others = 0;
    if (n->rates <= k) {
        memset(n->factor[k], 0, sizeof(double) * (size_t)n->size);
        n->rates = k + 1;
    }
    const double most = unit_slope(n, k, of_phi);
    correct(n, n->point[k], n->rates, value, slope);
    weigh(n, n->point[k], true, of_y, of_f);
    for (int s = 0; s < n->size; s++) {
        double left = n->h * rate[s];
        for (int i = 0; i < n->used + 2; i++)
            left -= of_y[i] * (n->y[i][s] - n->y[0][s]) + n->h * of_f[i] * n->f[i][s];
        for (int j = 0; j < n->rates; j++) left -= slope[j] * n->factor[j][s];
        for (int j = k; j < n->rates; j++) n->factor[j][s] += of_phi[j] * left;
        double wrong = most * left / (n->tolerance * ((n->scale ? n->scale[s] : 1) + fabs(n->y[0][s])));
        if (s < n->controlled)
            states += wrong * wrong;
        else
            others = fmax(others, fabs(wrong));
    }
    n->asked++;
    n->others = others;
    return n->controlled ? sqrt(states / n->controlled) : 0;
}

void lw_neighbours_state(const lw_neighbours *n, double theta, double *y) {
    double of_y[LW_NEIGHBOUR_NODES], of_f[LW_NEIGHBOUR_NODES], value[LW_NEIGHBOUR_RATES];
    weigh(n, theta, false, of_y, of_f);
    correct(n, theta, n->rates, value, NULL);
    for (int s = 0; s < n->size; s++) {
        const double first = n->y[0][s]; /* Weights of y add up to one: what is constant stays so exactly. */
        double sum = n->h * of_f[0] * n->f[0][s];
        for (int i = 1; i < n->used + 2; i++)
            sum += of_y[i] * (n->y[i][s] - first) + n->h * of_f[i] * n->f[i][s];
        for (int k = 0; k < n->rates; k++) sum += value[k] * n->factor[k][s];
        y[s] = first + sum;
    }
}
