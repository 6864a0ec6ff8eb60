/* erk.c - explicit Runge-Kutta pairs, order 5, and order 8 for tight tolerances; step by tolerance; ARKODE.
 *
 *   k_i = f(t + c_i h, y + h sum_j<i a_ij k_j),  y_next = y + h sum b_i k_i,  error = h sum (b_i - d_i) k_i
 *
 * with the coefficients of erk_pairs.c. Stages, error estimate, first step and step size are ARKODE's
 * (ERKStep). Added here is what ERKStep lacks:
 *
 * A smaller step where the system fails. ERKStep ends the run when a stage cannot be evaluated, though only
 * the stage may have left the possible states and not the motion. Then ARKODE is set back to the beginning of
 * the step, with a first step of a quarter of the way to the time of the failure, until this comes to
 * nothing.
 *
 * Dense output (ERKStep's has degree 5 at most), computed only for steps in which an output time lies. Two
 * ways:
 *
 *   By neighbours (multistep_dense_output.c), where there were steps before since the last start and nothing
 *   has jumped: a polynomial through the ends of this step and the beginnings of up to four before, of degree
 *   11, that is improved by one to four evaluations within the step until what these change is 0.3 of the
 *   tolerance.
 *
 *   From inside the step, in any case. Hermite interpolation of y and ydot at both ends of the step and in
 *   its middle, which the same formula reaches by a shorter step from the beginning: degree 5, local error
 *   O(h^6). At order 8 it serves to find ydot at a quarter and at three quarters of the step as well, wrong
 *   by O(h^6); the polynomial of degree 7 through all of these, wrong by O(h^7), serves to find these two
 *   again, and the one through what is found then has a local error of O(h^8).
 *
 * Projection acts on the new state before ARKODE evaluates ydot there.
 *
 * Cost: 6 (order 5; 7 with projection) or 13 (order 8) evaluations per step. Where there is dense output, one
 * to four more by neighbours; else as many again as the step took, and four more at order 8.
 */
#include "integrators/erk_pairs.h"
#include "integrators/multistep_dense_output.h"
#include "integrators/sundials.h"

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <string.h>

extern const lw_integrator lw_erk;

/* Order 5 is for the few digits of looser tolerances and forces with kinks. From here on order 8 has errors
 * 10 to 1000 times smaller at about the same cost on mechanisms, and a switch further down would make cost
 * and error jump back there. */
static const double HIGH_ORDER_BELOW = 1e-4 * (1 + 1e-9);

/* Errors of dense output in units of the tolerance, root mean square: small enough, and such that one more
 * rate does not mend them. */
static const double enough = 0.3, hopeless = 1e4;

enum {
    SLOPES = 2, /* at quarters of the step: order 8, ... */
    ROUNDS = 2, /* ... found twice */
    CUBIC = 3,
    REJECTIONS = 50 /* in a row; ARKODE's own limit, 7, is few where a long step meets a kink */
};

typedef struct {
    lw_sundials base;
    void *memory; /* ARKODE's */
    ARKodeButcherTable pair;
    bool last_is_new;          /* the last stage is the new state, of use for the error estimate alone */
    N_Vector y_begin, f_begin; /* at the beginning of the last step, ... */
    N_Vector y_end; /* ... and at its end, where the derivative is base.ydot; an event may end it before */
    double t_end;

    /* dense output: */
    bool high; /* order 8 */
    bool inside_known;
    bool by_neighbours; /* and so by the polynomial of multistep_dense_output.c, ... */
    bool books_too;     /* ... quadratures too: states must not notice whether there are any */
    bool moving;        /* since the last start there was a step, ... */
    bool ends_known;    /* ... whose derivatives at both ends have been asked for */
    lw_neighbours neighbours;
    double *y_middle, *f_middle, *f_quarter[ROUNDS * SLOPES];
    double *k[LW_ERK_STAGES], *stage; /* k[0] is f_begin */

    long steps, restarts;
} erk;

/* --- steps ---------------------------------------------------------------------------------------- */

static int derivative(double t, N_Vector y, N_Vector ydot, void *data) {
    return lw_sundials_derivative(data, t, y, ydot);
}

static int project(double t, N_Vector y, void *data) {
    lw_sundials *run = data;
    lw_system *system = run->base.system;
    if (!system->project) return 0;
    return lw_sundials_answer(run, t, system->project(system, t, NV_DATA_S(y), &run->failure));
}

static int start(lw_sundials *run, double t_stop) { return ERKStepSetStopTime(((erk *)run)->memory, t_stop); }

static int restart(lw_sundials *run, double t_stop) {
    ((erk *)run)->restarts = 0; /* they are counted in `before` */
    ((erk *)run)->moving = false;
    lw_neighbours_forget(&((erk *)run)->neighbours);
    int flag = ERKStepReInit(((erk *)run)->memory, derivative, run->end, run->y);
    return flag < 0 ? flag : start(run, t_stop);
}

/* At the ends of a step the slopes of ARKODE's cubic are the derivatives it was made of. */
static int derivatives_at_ends(erk *run) {
    if (run->ends_known) return 0;
    int flag = ERKStepGetDky(run->memory, run->base.begin, 1, run->f_begin);
    if (flag >= 0) flag = ERKStepGetDky(run->memory, run->t_end, 1, run->base.ydot);
    run->ends_known = flag >= 0;
    return flag;
}

static int step(lw_sundials *base, double t_stop, double *end) {
    erk *run = (erk *)base;
    if (run->moving) {
        int flag = derivatives_at_ends(run);
        if (flag < 0) return flag;
        lw_neighbours_keep(&run->neighbours, base->begin, NV_DATA_S(run->y_begin), NV_DATA_S(run->f_begin));
    }
    N_VScale(1, base->y, run->y_begin);
    run->inside_known = run->ends_known = false;
    for (;;) {
        base->failure.status = LW_OK;
        int flag = ERKStepEvolve(run->memory, t_stop, base->y, end, ARK_ONE_STEP);
        if (flag >= 0) {
            run->steps++;
            run->moving = true;
            run->t_end = *end;
            N_VScale(1, base->y, run->y_end);
        }
        if (flag >= 0 || base->failure.status != LW_ERROR_SINGULAR) return flag;

        double h = 0.25 * (base->failed_at - base->end);
        if (!(base->end + h > base->end)) return flag;
        run->restarts++;
        if (ERKStepReset(run->memory, base->end, run->y_begin) || ERKStepSetInitStep(run->memory, h)) {
            return flag;
        }
    }
}

static double step_size(lw_sundials *run) {
    double h = 0;
    ERKStepGetCurrentStep(((erk *)run)->memory, &h);
    return h;
}

/* --- dense output --------------------------------------------------------------------------------- */

/* The formula's step of length h from the beginning of the last step. */
static lw_status runge_kutta(erk *run, double h, double *y_next) {
    lw_sundials *base = &run->base;
    const ARKodeButcherTable pair = run->pair;
    const int n = base->base.system->size;
    const double *y = NV_DATA_S(run->y_begin);
    const int stages = pair->stages - (run->last_is_new ? 1 : 0);
    for (int s = 1; s <= stages; s++) {
        const double *row = s < stages ? pair->A[s] : pair->b;
        double *to = s < stages ? run->stage : y_next;
        memset(to, 0, sizeof *to * (size_t)n);
        for (int j = 0; j < s; j++) {
            if (row[j] == 0) continue;
            for (int i = 0; i < n; i++) to[i] += row[j] * run->k[j][i];
        }
        for (int i = 0; i < n; i++) to[i] = y[i] + h * to[i];
        if (s == stages) break;
        lw_status status = lw_checked_derivative(base->base.system, base->begin + pair->c[s] * h, to,
                                                 run->k[s], &base->evaluations, &base->failure);
        if (status) return status;
    }
    return LW_OK;
}

/* The polynomial of degree 5. */
static void quintic(const erk *run, double theta, double *y) {
    const lw_sundials *base = &run->base;
    const double thetas[] = {0, 0.5, 1},
                 *states[] = {NV_DATA_S(run->y_begin), run->y_middle, NV_DATA_S(run->y_end)};
    const double *rates[] = {NV_DATA_S(run->f_begin), run->f_middle, NV_DATA_S(base->ydot)};
    lw_hermite(base->base.system->size, 3, thetas, states, rates, run->t_end - base->begin, theta, y);
}

/* That of degree 7, sum of c_k s^k with s = 2 theta - 1, from y at s = -1, 0, 1 and g = h/2 ydot at s = -1,
 * -1/2, 0, 1/2, 1. Even and odd parts are found apart:
 *     c2 + c4 + c6           = E  = (y(1) + y(-1))/2 - y(0)      c3 + c5 + c7             = D = (y(1) -
 *     y(-1))/2 - c1,  c1 = g(0)
 *     2 c2 + 4 c4 + 6 c6     = G1 = (g(1) - g(-1))/2             3 c3 + 5 c5 + 7 c7       = H1 = (g(1) +
 *     g(-1))/2 - c1
 *     c2 + c4/2 + 3/16 c6    = G  = (g(1/2) - g(-1/2))/2         3/4 c3 + 5/16 c5 + 7/64 c7 = H = (g(1/2) +
 *     g(-1/2))/2 - c1 */
static void septic(const erk *run, double theta, double *y) {
    const lw_sundials *base = &run->base;
    const double *y0 = NV_DATA_S(run->y_begin), *y1 = NV_DATA_S(run->y_end), *ym = run->y_middle;
    const double *f0 = NV_DATA_S(run->f_begin), *f1 = NV_DATA_S(base->ydot), *fm = run->f_middle;
    const double half = 0.5 * (run->t_end - base->begin), s = 2 * theta - 1, s2 = s * s;
    for (int i = 0; i < base->base.system->size; i++) {
        const double c1 = half * fm[i];
        const double E = 0.5 * (y1[i] + y0[i]) - ym[i], D = 0.5 * (y1[i] - y0[i]) - c1;
        const double G1 = 0.5 * half * (f1[i] - f0[i]), H1 = 0.5 * half * (f1[i] + f0[i]) - c1;
        const double G = 0.5 * half * (run->f_quarter[1][i] - run->f_quarter[0][i]);
        const double H = 0.5 * half * (run->f_quarter[1][i] + run->f_quarter[0][i]) - c1;
        const double c6 = (G - E + 0.25 * (G1 - 2 * E)) * 16 / 3, c4 = 0.5 * (G1 - 2 * E) - 2 * c6;
        const double c7 = (H - 0.75 * D + 7.0 / 32 * (H1 - 3 * D)) * 64 / 15,
                     c5 = 0.5 * (H1 - 3 * D) - 2 * c7;
        const double c2 = E - c4 - c6, c3 = D - c5 - c7;
        y[i] = ym[i] + s * (c1 + s2 * (c3 + s2 * (c5 + s2 * c7))) + s2 * (c2 + s2 * (c4 + s2 * c6));
    }
}

static lw_status look_inside(erk *run) {
    lw_sundials *base = &run->base;
    lw_system *system = base->base.system;
    const double h = run->t_end - base->begin, middle = base->begin + 0.5 * h;
    lw_status status = runge_kutta(run, 0.5 * h, run->y_middle);
    if (!status && system->project) status = system->project(system, middle, run->y_middle, &base->failure);
    if (!status)
        status = lw_checked_derivative(system, middle, run->y_middle, run->f_middle, &base->evaluations,
                                       &base->failure);
    for (int k = 0; k < ROUNDS * SLOPES && run->high && !status; k++) {
        const double theta = 0.25 + 0.5 * (k % SLOPES);
        double *to = run->f_quarter[k < SLOPES ? k : SLOPES + k % SLOPES];
        if (k < SLOPES)
            quintic(run, theta, run->stage);
        else
            septic(run, theta, run->stage);
        status = lw_checked_derivative(system, base->begin + theta * h, run->stage, to, &base->evaluations,
                                       &base->failure);
    }
    /* those found by the better polynomial take the place of the others */
    for (int k = 0; k < SLOPES; k++) {
        double *first = run->f_quarter[k];
        run->f_quarter[k] = run->f_quarter[SLOPES + k], run->f_quarter[SLOPES + k] = first;
    }
    return status;
}

/* Do the steps before tell what is within this one? A failure there is left to the other way. */
static bool ask_neighbours(erk *run) {
    lw_sundials *base = &run->base;
    lw_neighbours *n = &run->neighbours;
    const double h = run->t_end - base->begin;
    if (!lw_neighbours_enter(n, base->begin, h, NV_DATA_S(run->y_begin), NV_DATA_S(run->f_begin),
                             NV_DATA_S(run->y_end), NV_DATA_S(base->ydot)))
        return false;
    for (double theta = lw_neighbours_next(n); theta >= 0; theta = lw_neighbours_next(n)) {
        lw_error ignored = {0};
        lw_neighbours_state(n, theta, run->stage);
        if (lw_checked_derivative(base->base.system, base->begin + theta * h, run->stage, run->f_middle,
                                  &base->evaluations, &ignored))
            return false;
        double wrong = lw_neighbours_add(n, run->f_middle);
        if (wrong <= enough) return true;
        if (!(wrong <= hopeless)) return false;
    }
    return false;
}

static lw_status interpolate(erk *run, double t, double *y) {
    lw_sundials *base = &run->base;
    lw_system *system = base->base.system;
    const double theta = (t - base->begin) / (run->t_end - base->begin);
    double *inside = run->by_neighbours ? run->stage : y;
    if (!run->books_too) {
        if (run->high)
            septic(run, theta, inside);
        else
            quintic(run, theta, inside);
    }
    if (run->by_neighbours) {
        const int count = base->controlled;
        lw_neighbours_state(&run->neighbours, theta, y);
        if (!run->books_too) memcpy(y + count, inside + count, sizeof *y * (size_t)(system->size - count));
    }
    return system->project ? system->project(system, t, y, &base->failure) : LW_OK;
}

static int dense(lw_sundials *base, double t, N_Vector y) {
    erk *run = (erk *)base;
    lw_status status = LW_OK;
    if (!run->inside_known) {
        int flag = derivatives_at_ends(run);
        if (flag < 0) return flag;
        run->by_neighbours = ask_neighbours(run);
        run->books_too = run->by_neighbours && run->neighbours.others <= enough;
        if (!run->books_too) status = look_inside(run);
        run->inside_known = !status;
    }
    if (!status) status = interpolate(run, t, NV_DATA_S(y));
    /* The step is taken: a failure within it can only be reported, as one of what follows. */
    return lw_sundials_answer(base, run->t_end, status) ? -1 : 0;
}

/* --- creation ------------------------------------------------------------------------------------- */

static void destroy(lw_integration *integration) {
    if (!integration) return;
    erk *run = (erk *)integration;
    if (run->memory) ERKStepFree(&run->memory);
    if (run->pair) ARKodeButcherTable_Free(run->pair);
    if (run->y_begin) N_VDestroy(run->y_begin);
    if (run->f_begin) N_VDestroy(run->f_begin);
    if (run->y_end) N_VDestroy(run->y_end);
    lw_sundials_destroy(&run->base);
}

static bool allocate(erk *run, bool high) {
    lw_arena *arena = run->base.arena;
    size_t size = (size_t)run->base.base.system->size;
    run->pair = lw_erk_pair(high);
    run->y_begin = N_VClone(run->base.y);
    run->f_begin = N_VClone(run->base.y);
    run->y_end = N_VClone(run->base.y);
    bool ok =
        run->pair && run->y_begin && run->f_begin && run->y_end && (run->stage = LW_NEW(arena, double, size));
    run->high = high;
    ok = ok && lw_neighbours_create(&run->neighbours, arena, (int)size, run->base.controlled, high ? 2 : 1,
                                    run->base.tolerance);
    ok = ok && (run->y_middle = LW_NEW(arena, double, size)) && (run->f_middle = LW_NEW(arena, double, size));
    for (int k = 0; k < ROUNDS * SLOPES; k++) ok = ok && (run->f_quarter[k] = LW_NEW(arena, double, size));
    for (int s = 1; ok && s < run->pair->stages; s++) ok = (run->k[s] = LW_NEW(arena, double, size)) != NULL;
    if (!ok) return false;
    run->k[0] = NV_DATA_S(run->f_begin);
    const double *last = run->pair->A[run->pair->stages - 1];
    run->last_is_new = memcmp(last, run->pair->b, sizeof *last * (size_t)run->pair->stages) == 0;
    return true;
}

/* PI control: h_next = 0.8 h e^(-1/q) e_previous^(0.3/q), q the order, e the error norm. ARKODE's defaults
 * (PID, error bias 1.5, steps kept where they might grow by less than 1.5) need 10 % (order 5) to 20 % (order
 * 8) more evaluations for the same error, with three times as many rejected steps or more, and oscillate
 * where stability bounds the step. */
static bool set_control(void *memory) {
    double powers[3] = {1, 0.3, 0};
    enum { POWERS_GIVEN = 0, DIVIDED_BY_ORDER = 1 };
    return ERKStepSetAdaptivityMethod(memory, ARK_ADAPT_PI, POWERS_GIVEN, DIVIDED_BY_ORDER, powers) == 0 &&
           ERKStepSetSafetyFactor(memory, 0.8) == 0 && ERKStepSetErrorBias(memory, 1) == 0 &&
           ERKStepSetFixedStepBounds(memory, 1, 1) == 0 && ERKStepSetMaxErrTestFails(memory, REJECTIONS) == 0;
}

static bool attach(erk *run, double t) {
    lw_sundials *base = &run->base;
    /* SUNDIALS 6.4 takes the last stage's derivative for that of the new state whenever the two have the same
     * time, though they may differ (its issue 311), unless there is a projection; so we pretend. */
    bool projection = base->base.system->project || !run->last_is_new;
    run->memory = ERKStepCreate(derivative, t, base->y, base->context);
    return run->memory && ERKStepSetErrHandlerFn(run->memory, lw_sundials_message, base) == 0 &&
           ERKStepSetUserData(run->memory, base) == 0 && ERKStepSetTable(run->memory, run->pair) == 0 &&
           ERKStepSStolerances(run->memory, base->tolerance, base->tolerance) == 0 &&
           ERKStepSetMaxStep(run->memory, base->largest_step) == 0 && set_control(run->memory) &&
           ERKStepSetInterpolantDegree(run->memory, CUBIC) == 0 &&
           ERKStepSetPostprocessStepFn(run->memory, projection ? project : NULL) == 0;
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    *integration = NULL;
    lw_sundials *base;
    lw_status status = lw_sundials_create(&lw_erk, sizeof(erk), system, options, t, y, &base, error);
    if (status) return status;

    erk *run = (erk *)base;
    base->start = start;
    base->restart = restart;
    base->step = step;
    base->dense = dense;
    base->step_size = step_size;
    if (!allocate(run, options->tolerance <= HIGH_ORDER_BELOW) || !attach(run, t)) {
        destroy(&base->base);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    *integration = &base->base;
    return LW_OK;
}

static void statistics(const lw_integration *integration, lw_integrator_statistics *result) {
    const erk *run = (const erk *)integration;
    *result = (lw_integrator_statistics){.steps = run->steps, .evaluations = run->base.evaluations};
    ERKStepGetNumErrTestFails(run->memory, &result->rejected);
    result->rejected += run->restarts + run->base.before.rejected;
}

const lw_integrator lw_erk = {
    .name = "erk",
    .summary = "explicit Runge-Kutta pairs of order 5 and 8, step by tolerance",
    .create = create,
    .destroy = destroy,
    .advance = lw_sundials_advance,
    .statistics = statistics,
};
