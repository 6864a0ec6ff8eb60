/* stiffness.c - tests whether stability bounds the steps of an explicit formula, and whether an implicit one
 * needs less work.
 *
 * A run is stiff if h rho is about the stability limit of the formula, where rho is the spectral radius of
 * J = df/dy: accuracy alone would allow longer steps. rho is found by power iteration with differences of f,
 *
 *     x <- J x = (f(t, y + e x) - f(t, y)) / e,       rho = (|J^m x| / |J^k x|)^(1 / (m - k))
 *
 * where the mean over an even number of products is also correct for oscillations, J^2 = -w^2 I, in any units
 * of positions and speeds. h rho does not show whether an implicit formula pays: it does not if the formula
 * has to follow undamped vibrations. This is decided by a trial with bdf from the same state, with a bound on
 * its evaluations. With n states every evaluation of the trial counts as 1 + n / 100, for dense
 * factorisations: one follows n evaluations for J and takes n / 3 operations of about 1 ns per entry of J,
 * while an evaluation takes 40 ns per state.
 *
 * Cost     PRODUCTS + 1 evaluations; the trial takes at most the given number.
 */
#include "simulation/choice/stiffness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 4, PRODUCTS = 12 };

static double weighted(const lw_system *system, int n, const double *x, const double *y) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]) / lw_error_unit(system, k, y[k]));
    return most;
}

double lw_spectral_radius(lw_system *system, double t, const double *y, double *work) {
    const int n = system->size, states = n - system->quadratures > 0 ? n - system->quadratures : n;
    const double e = 1e-6;
    double *f = work, *moved = work + n, *there = work + 2 * n, sum = 0;
    if (system->derivative(system, t, y, f, NULL) != LW_OK) return 0;
    memcpy(moved, y, sizeof *y * (size_t)n);
    /* The start vector has components in all directions. */
    for (int k = 0; k < states; k++)
        moved[k] += e * (0.5 + 0.5 * cos(7.0 * k)) * lw_error_unit(system, k, y[k]);
    for (int i = 0; i < PRODUCTS; i++) {
        if (system->derivative(system, t, moved, there, NULL) != LW_OK) return 0;
        for (int k = 0; k < states; k++) there[k] = (there[k] - f[k]) / e;
        double size = weighted(system, states, there, y);
        if (!(size > 0) || !isfinite(size)) return 0;
        if (i >= SKIPPED) sum += log(size);
        for (int k = 0; k < states; k++) moved[k] = y[k] + e * there[k] / size;
    }
    return exp(sum / (PRODUCTS - SKIPPED));
}

/* A system that fails after a given number of evaluations. */
typedef struct {
    lw_system base;
    lw_system *inner;
    double left, price;
} budget;

static lw_status derivative(lw_system *base, double t, const double *y, double *ydot, lw_error *error) {
    budget *b = (budget *)base;
    b->left -= b->price;
    if (b->left < 0) return LW_ERROR_STOPPED;
    return b->inner->derivative(b->inner, t, y, ydot, error);
}

static lw_status project(lw_system *base, double t, double *y, lw_error *error) {
    lw_system *inner = ((budget *)base)->inner;
    return inner->project(inner, t, y, error);
}

bool lw_bdf_reaches(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                    double t_end, double t_stop, long most) {
    const lw_integrator *bdf = lw_integrator_find("bdf");
    budget b = {.base = {.size = system->size,
                         .quadratures = system->quadratures,
                         .scale = system->scale,
                         .derivative = derivative,
                         .project = system->project ? project : NULL,
                         .newton_hints = system->newton_hints},
                .inner = system,
                .left = (double)most,
                .price = 1 + (system->size - system->quadratures) / 100.0};
    lw_integration *trial = NULL;
    lw_error error = {0};
    double *end = bdf ? calloc((size_t)system->size, sizeof *end) : NULL;
    bool reached = end && bdf->create(&b.base, options, t, y, NULL, &trial, &error) == LW_OK &&
                   bdf->advance(trial, fmin(t_end, t_stop), t_stop, end, &error) == LW_OK;
    if (trial) bdf->destroy(trial);
    free(end);
    return reached;
}
