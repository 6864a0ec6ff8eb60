/* energy_momentum.c - the integrators "energy-momentum" and "energy-momentum-4": a method's own conserving
 * step, repeated.
 *
 * energy-momentum is the step itself, order 2. energy-momentum-4 composes it five times (Suzuki),
 *
 *   g h, g h, (1 - 4 g) h, g h, g h,   g = 1 / (4 - 4^(1/3)),
 *
 * which makes order 4 of any symmetric scheme of order 2, and keeps what each part keeps.
 *
 * With a fixed h step k goes from t_start + k h to t_start + (k + 1) h. With a tolerance h is chosen: each
 * step is taken in two halves, and once as a whole; of the difference 1 / (2^order - 1) is the error of the
 * halves. These are kept, so whatever the scheme conserves is conserved with any sequence of steps. An
 * estimate from the rates would be cheaper by a third, but rates of such schemes oscillate from step to step
 * where stiff, and a whole step solves the same equations that the halves start from.
 *
 * A whole step and its halves may look past a force that switches in their last quarter, so that their
 * difference is no measure of it. With a tolerance, a step in which a condition changes its outcome is
 * divided, until the part in which it happens is `tolerance` of what the step was; what is left of the jump
 * is as small. A condition that switches to and fro without end is not looked for any more after MOST times.
 *
 * Nothing is projected after a step: the scheme is where it wants to be. A state between the ends of a step
 * is that of a shorter step from its begin, so it conserves what the others do.
 *
 * Source   Suzuki, Phys. Lett. A 146 (1990); Hairer, Lubich, Wanner, Geometric numerical integration (2006),
 *          II.4.
 * Cost     1 (or 5) solutions per step; adaptive 3 (15). Evaluations count solutions.
 */
#include "integrators/integration.h"

#include <float.h>
#include <math.h>
#include <string.h>

extern const lw_integrator lw_energy_momentum, lw_energy_momentum_4;

typedef struct conserving {
    lw_integration base;
    lw_arena *arena;
    int order;
    double t_start, h, tolerance, longest; /* h: fixed, or the next one to try */
    double begin, end;                     /* the last step taken; both t_start before the first */
    double *y_begin, *y_end, *rate, *middle, *whole, *work;
    double switches, usual; /* before when a condition switches, else 0; the step in which that was found */
    double crossed;         /* the last instant of that kind */
    int repeated;           /* how many have followed each other at one instant; then none is looked for */
    long grid;              /* fixed steps that have ended where they should, since the start */
    long steps, rejected, evaluations;
} conserving;

/* Relative to h: a remainder before t_stop that is not worth a step. */
static const double remainder_of_step = 1e-9;
static const double instant = 1e-6; /* of a step: shorter parts of it are nothing */
static const double small_part = 1e-4;
enum { MOST = 20 };
static const double safety = 0.9, smallest_factor = 0.2, largest_factor = 4;

static lw_status create(const lw_integrator *integrator, int order, lw_system *system,
                        const lw_integrator_options *options, double t, const double *y,
                        lw_integration **integration, lw_error *error) {
    *integration = NULL;
    lw_status status = lw_check_start(integrator, system, options, t, y, error);
    if (status) return status;
    lw_arena *arena = lw_arena_create(NULL);
    conserving *run = LW_NEW(arena, conserving, 1);
    size_t n = (size_t)system->size;
    double *numbers = run ? LW_NEW(arena, double, 6 * n) : NULL;
    if (!numbers) {
        if (arena) lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    double **arrays[] = {&run->y_begin, &run->y_end, &run->rate, &run->middle, &run->whole, &run->work};
    for (size_t i = 0; i < 6; i++) *arrays[i] = numbers + i * n;
    run->base.integrator = integrator;
    run->base.system = system;
    run->arena = arena;
    run->order = order;
    run->t_start = run->begin = run->end = t;
    run->crossed = -HUGE_VAL;
    run->tolerance = options->tolerance;
    run->longest = options->step > 0 ? options->step : HUGE_VAL;
    run->h = run->tolerance > 0 ? 0 : options->step;
    memcpy(run->y_end, y, n * sizeof *y);
    *integration = &run->base;
    return LW_OK;
}

static lw_status create_2(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                          const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return create(&lw_energy_momentum, 2, system, options, t, y, integration, error);
}

static lw_status create_4(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                          const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    return create(&lw_energy_momentum_4, 4, system, options, t, y, integration, error);
}

static void destroy(lw_integration *integration) {
    if (integration) lw_arena_destroy(((conserving *)integration)->arena);
}

/* One step of the scheme, or of its composition. */
static lw_status take(conserving *run, double t, double h, const double *y, double *next, lw_error *error) {
    lw_system *system = run->base.system;
    if (run->order == 2) {
        run->evaluations++;
        return system->step(system, t, h, y, next, error);
    }
    const double g = 1 / (4 - cbrt(4)), parts[5] = {g, g, 1 - 4 * g, g, g};
    double at = 0;
    lw_status status = LW_OK;
    for (int k = 0; k < 5 && !status; k++) {
        memcpy(run->work, k ? next : y, (size_t)system->size * sizeof *y);
        run->evaluations++;
        status = system->step(system, t + at * h, parts[k] * h, run->work, next, error);
        at += parts[k];
    }
    return status;
}

/* --- step size ------------------------------------------------------------------------------------ */

/* Largest difference over its tolerance; the integrals of the ledger take no part, nor does what is not
 * differential. */
static double scaled(const conserving *run, const double *a, const double *b, double factor) {
    const bool *differential = run->base.system->differential;
    double worst = 0;
    for (int i = 0; i < lw_controlled_states(run->base.system); i++)
        if (!differential || differential[i])
            worst = fmax(worst, factor * fabs(a[i] - b[i]) /
                                    (run->tolerance * lw_error_unit(run->base.system, i, run->y_begin[i])));
    return worst;
}

/* A first step that changes little. */
static lw_status first_step(conserving *run, double t_stop, lw_error *error) {
    lw_system *system = run->base.system;
    run->h = fmin(run->longest, 1e-3 * (isfinite(t_stop) ? t_stop - run->end : 1));
    if (!system->derivative) return LW_OK;
    lw_status status =
        lw_checked_derivative(system, run->end, run->y_end, run->rate, &run->evaluations, error);
    if (status) return status;
    double rate = 0;
    for (int i = 0; i < lw_controlled_states(system); i++)
        rate = fmax(rate, fabs(run->rate[i]) / lw_error_unit(system, i, run->y_end[i]));
    if (rate > 0) run->h = fmin(run->h, 0.1 * pow(run->tolerance, 1.0 / (run->order + 1)) / rate);
    return LW_OK;
}

static bool switches(const conserving *run, double h, double next) {
    lw_system *system = run->base.system;
    const double middle = run->begin + 0.5 * h;
    if (!system->switched || run->repeated > MOST) return false;
    return system->switched(system, run->begin, run->y_begin, middle, run->middle) ||
           system->switched(system, middle, run->middle, next, run->y_end);
}

/* After a step of h, accurate enough, to `next`: whether it shall be divided, since a condition switches in
 * it. Chooses the next step near such an instant. */
static bool divide(conserving *run, double h, double next) {
    const bool found = switches(run, h, next);
    if (!found && !(run->switches > 0)) return false;
    if (!(run->switches > 0)) run->usual = h;
    const double shortest = fmax(run->tolerance * run->usual, 64 * DBL_EPSILON * fabs(run->begin));
    if (found && h > shortest) {
        run->switches = h;
        run->h = 0.5 * h;
        return true;
    }
    if (found) {
        run->repeated = next - run->crossed < 100 * shortest ? run->repeated + 1 : 0;
        run->crossed = next;
    }
    const double left = run->switches - h; /* It lies before the end of that. */
    run->switches = found || left <= 0 ? 0 : left;
    if (run->switches > 0)
        run->h = left > shortest ? 0.5 * left : left;
    else
        run->h = 0.1 * run->usual;
    return false;
}

/* In two halves, compared with a whole; shorter until the error is small enough. */
static lw_status adaptive_step(conserving *run, double t_stop, double *end, lw_error *error) {
    double left = t_stop - run->begin;
    for (;;) {
        bool last = run->h >= left * (1 - 1e-9);
        double h = last ? left : fmin(run->h, 0.5 * left), factor = smallest_factor;
        if (!(run->begin + 0.1 * h > run->begin))
            return lw_step_vanished(run->base.integrator, run->begin, h, run->tolerance, error);
        double next = last ? t_stop : run->begin + h;
        lw_status status = take(run, run->begin, h, run->y_begin, run->whole, error);
        if (!status) status = take(run, run->begin, 0.5 * h, run->y_begin, run->middle, error);
        if (!status) status = take(run, run->begin + 0.5 * h, 0.5 * h, run->middle, run->y_end, error);
        if (status && status != LW_ERROR_INTEGRATION && status != LW_ERROR_SINGULAR) return status;
        double wrong =
            status ? HUGE_VAL : scaled(run, run->whole, run->y_end, 1 / (double)((1 << run->order) - 1));
        if (wrong > 0 && isfinite(wrong))
            factor =
                fmax(smallest_factor, fmin(largest_factor, safety * pow(wrong, -1.0 / (run->order + 1))));
        else if (wrong == 0)
            factor = largest_factor;
        run->h = fmin(run->longest, factor * h);
        /* Of a small part of a step that was accurate enough, the difference is rounding: in loops that of
         * Newton's method, over h. */
        const bool rounding = run->switches > 0 && h < small_part * run->usual && !status && isfinite(wrong);
        if ((wrong <= 1 || rounding) && !divide(run, h, next)) {
            *end = next;
            return LW_OK;
        }
        run->rejected++;
        if (status && h < 1e-10 * fmin(t_stop - run->t_start, 1)) return status;
    }
}

static lw_status step(conserving *run, double t_stop, lw_error *error) {
    lw_system *system = run->base.system;
    lw_status status = LW_OK;
    if (run->h == 0) status = first_step(run, t_stop, error);
    if (status) return lw_stopped_at(run->end, status, error);
    double *y = run->y_begin, next = run->end;
    run->y_begin = run->y_end, run->y_end = y, run->begin = run->end;
    if (run->tolerance > 0) {
        status = adaptive_step(run, t_stop, &next, error);
    } else {
        next = run->t_start + (double)(run->grid + 1) * run->h;
        if (next <= t_stop + remainder_of_step * run->h) run->grid++;
        if (next > t_stop - remainder_of_step * run->h) next = t_stop;
        double h = next - run->begin;
        if (!(h > 0)) return lw_step_vanished(run->base.integrator, run->begin, run->h, 0, error);
        status = take(run, run->begin, h, run->y_begin, run->y_end, error);
    }
    if (status) return lw_stopped_at(run->begin, status, error);
    int bad = lw_first_not_finite(system->size, run->y_end);
    if (bad >= 0)
        return lw_fail(
            error, LW_ERROR_INTEGRATION, NULL, "give a smaller step (--step), or a tolerance (--tol)",
            "state %d became %g in the step from t = %.9g to %.9g", bad, run->y_end[bad], run->begin, next);
    run->end = next;
    run->steps++;
    return system->accepted ? system->accepted(system, next, next - run->begin, 0, run->y_end, error) : LW_OK;
}

static lw_status between(conserving *run, double t, double *y, lw_error *error) {
    if (t - run->begin < instant * (run->end - run->begin)) { /* too short for a step */
        memcpy(y, run->y_begin, sizeof *y * (size_t)run->base.system->size);
        return LW_OK;
    }
    lw_status status = take(run, run->begin, t - run->begin, run->y_begin, y, error);
    return status ? lw_stopped_at(run->begin, status, error) : LW_OK;
}

static lw_status advance(lw_integration *integration, double t_out, double t_stop, double *y,
                         lw_error *error) {
    conserving *run = (conserving *)integration;
    lw_status status = lw_check_times(integration->integrator, run->begin, t_out, t_stop, error);
    while (!status && run->end < t_out) {
        /* times that differ by rounding are the same, but for the very end */
        if (t_out < t_stop && t_out - run->end < remainder_of_step * (run->end - run->begin)) break;
        status = step(run, t_stop, error);
    }
    if (status) return status;
    if (t_out < run->end) return between(run, t_out, y, error);
    memcpy(y, run->y_end, sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

static lw_status one_step(lw_integration *integration, double t_stop, double *t, double *y, lw_error *error) {
    conserving *run = (conserving *)integration;
    lw_status status = step(run, t_stop, error);
    *t = run->end;
    memcpy(y, run->y_end, sizeof *y * (size_t)integration->system->size);
    return status;
}

static lw_status restart(lw_integration *integration, double t, const double *y, lw_error *error) {
    (void)error;
    conserving *run = (conserving *)integration;
    run->t_start = run->begin = run->end = t;
    run->grid = 0;
    run->switches = 0, run->repeated = 0;
    if (run->tolerance > 0) run->h = 0;
    memcpy(run->y_end, y, sizeof *y * (size_t)integration->system->size);
    return LW_OK;
}

static void statistics(const lw_integration *integration, lw_integrator_statistics *statistics) {
    const conserving *run = (const conserving *)integration;
    *statistics = (lw_integrator_statistics){
        .steps = run->steps, .evaluations = run->evaluations, .rejected = run->rejected};
}

const lw_integrator lw_energy_momentum = {
    .name = "energy-momentum",
    .summary = "the method's own conserving step, order 2, fixed step or by tolerance",
    .either = true,
    .needs_step = true,
    .create = create_2,
    .destroy = destroy,
    .advance = advance,
    .step = one_step,
    .restart = restart,
    .statistics = statistics,
};

const lw_integrator lw_energy_momentum_4 = {
    .name = "energy-momentum-4",
    .summary = "five conserving steps composed to order 4, fixed step or by tolerance",
    .either = true,
    .needs_step = true,
    .create = create_4,
    .destroy = destroy,
    .advance = advance,
    .step = one_step,
    .restart = restart,
    .statistics = statistics,
};
