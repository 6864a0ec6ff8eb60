/* simulation_values.c - inputs, user states with their rates, and outputs of a simulation.
 *
 * Rates are functions of (t, q, v, user states): q and v follow from the method's state y, and the kinematics
 * that quantities need are computed for them alone, with the simulation's own lw_data.
 *
 * Steps of methods of their own (energy-momentum) take the user states in two halves,
 *     x_m = x_0 + h/2 f(t_0, z_0, x_m)      before the step, implicit,
 *     x_1 = x_m + h/2 f(t_1, z_1, x_m)      behind it, explicit,
 * with the mechanism's step z_0 -> z_1 between, in which forces see x_m. The second half is the adjoint of
 * the first, so that the whole is symmetric and of second order (docs/theory/signals.md, 7-9). The first half
 * is solved by Newton's method with a Jacobian of differences.
 *
 * Cost     rates: O(bodies + entries); outputs: what they need, at most accelerations with the check. Nothing
 *          is allocated.
 */
#include "model/signals.h"
#include "simulation/simulation_parts.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- inputs --------------------------------------------------------------------------------------- */

/* Those that move with time take their values at t. */
void lw_simulation_take_inputs(const lw_simulation *s, double t) {
    for (int k = 0; k < lw_model_input_count(s->model); k++) {
        const lw_moving_input *m = &s->moving[k];
        const double x = t - m->since;
        if (m->moves) s->inputs[k] = m->at[0] + x * (m->at[1] + x / 2 * (m->at[2] + x / 3 * m->at[3]));
    }
}

/* From now on an input has the value that it has at present. */
static void hold(lw_simulation *s, int input) {
    if (!s->moving[input].moves) return;
    lw_simulation_take_inputs(s, s->t);
    s->moving[input].moves = s->inputs_move = false;
    s->stale = true;
    for (int k = 0; k < lw_model_input_count(s->model); k++) s->inputs_move |= s->moving[k].moves;
}

void lw_simulation_hold_inputs(lw_simulation *s) {
    for (int k = 0; k < lw_model_input_count(s->model); k++) hold(s, k);
}

lw_status lw_simulation_move_input(lw_simulation *s, int input, int order, double value) {
    if (!s || input < 0 || input >= lw_model_input_count(s->model) || order < 1 || order > LW_INPUT_ORDER ||
        !isfinite(value) || !isfinite(s->inputs[input]))
        return LW_ERROR_ARGUMENT;
    lw_moving_input *m = &s->moving[input];
    if (!m->moves && value == 0) return LW_OK;
    lw_simulation_take_inputs(s, s->t);
    if (!m->moves || m->since != s->t)
        *m = (lw_moving_input){.since = s->t, .at = {s->inputs[input]}, .moves = true};
    m->at[order] = value;
    s->inputs_move = s->stale = true;
    return LW_OK;
}

lw_status lw_simulation_set_input(lw_simulation *s, int input, double value) {
    if (!s || input < 0 || input >= lw_model_input_count(s->model)) return LW_ERROR_ARGUMENT;
    const bool to_default = isnan(value) && isnan(s->model->input_defaults[input]);
    if (!isfinite(value) && !to_default) return LW_ERROR_ARGUMENT;
    s->given[input] = true;
    hold(s, input);
    if (s->inputs[input] == value || (to_default && isnan(s->inputs[input]))) return LW_OK;
    s->inputs[input] = value;
    s->stale = true;
    return LW_OK;
}

/* Those that the run was given are set if they are no defaults. */
void lw_simulation_forget_given(lw_simulation *s) {
    for (int k = 0; k < lw_model_input_count(s->plan.model); k++)
        s->given[k] = s->first_inputs[k] != lw_model_input_default(s->plan.model, k);
}

/* Inputs that nobody has set follow their defaults, which depend on parameters. */
void lw_simulation_follow_defaults(lw_simulation *s) {
    for (int k = 0; k < lw_model_input_count(s->model); k++)
        if (!s->given[k]) s->inputs[k] = lw_model_input_default(s->model, k);
}

lw_status lw_simulation_set_inputs(lw_simulation *s, const double *values) {
    if (!s || !values) return LW_ERROR_ARGUMENT;
    const int count = lw_model_input_count(s->model);
    for (int k = 0; k < count; k++)
        if (!isfinite(values[k]) && !(isnan(values[k]) && isnan(s->model->input_defaults[k])))
            return LW_ERROR_ARGUMENT;
    for (int k = 0; k < count; k++) (void)lw_simulation_set_input(s, k, values[k]);
    return LW_OK;
}

double lw_simulation_input(const lw_simulation *s, int input) {
    if (!s || input < 0 || input >= lw_model_input_count(s->model)) return NAN;
    if (s->inputs_move) lw_simulation_take_inputs(s, s->t);
    return s->inputs[input];
}

/* --- user states ---------------------------------------------------------------------------------- */

lw_status lw_simulation_states(const lw_simulation *s, double *states) {
    if (!s || (!states && s->model->values.state_count)) return LW_ERROR_ARGUMENT;
    for (int k = 0; k < s->model->values.state_count; k++) states[k] = s->y[lw_simulation_own(s) + k];
    return LW_OK;
}

lw_status lw_simulation_set_states(lw_simulation *s, const double *states) {
    if (!s || (!states && s->model->values.state_count)) return LW_ERROR_ARGUMENT;
    const int count = s->model->values.state_count;
    for (int k = 0; k < count; k++)
        if (!isfinite(states[k])) return LW_ERROR_ARGUMENT;
    for (int k = 0; k < count; k++) {
        double *own = &s->y[lw_simulation_own(s) + k];
        if (*own != states[k]) s->stale = true;
        *own = states[k];
    }
    return LW_OK;
}

/* Takes the kinematics of a state into data, as far as rates need them. */
static void take_kinematics(lw_simulation *s, lw_method *method, double t, const double *y) {
    if (!s->model->values.for_rates.needs) return;
    method->formulation->from_state(method, t, y, s->rate_q, s->rate_v);
    lw_take_state(s->model, s->data, t, s->rate_q, s->rate_v);
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
}

/* The rates with the user states that the simulation shows; after take_kinematics. */
static lw_status rates_here(lw_simulation *s, double t, double *rates, lw_error *error) {
    static const double largest = 1e150; /* Squares of larger rates overflow in the norms of integrators. */
    const lw_values *values = &s->model->values;
    lw_state_rates(s->model, s->data, t, rates);
    for (int k = 0; k < values->state_count; k++)
        if (!(fabs(rates[k]) < largest)) {
            char object[sizeof error->object];
            snprintf(object, sizeof object, "state \"%.80s\"", values->state_names.names[k]);
            return lw_fail(error, LW_ERROR_SINGULAR, object,
                           "look for a division by zero, or a root or logarithm of what is negative there",
                           "its rate is %.3g at t = %.9g", rates[k], t);
        }
    return LW_OK;
}

lw_status lw_simulation_rates(lw_simulation *s, lw_method *method, double t, const double *y, double *rates,
                              lw_error *error) {
    lw_simulation_see(s, y);
    take_kinematics(s, method, t, y);
    lw_data_hold(s->data, s->method_options.hold);
    lw_status status = rates_here(s, t, rates, error);
    lw_data_hold(s->data, NULL);
    return status;
}

/* --- steps of methods of their own ---------------------------------------------------------------- */

/* Solves A x = b, n x n row by row, by elimination with row pivots; b becomes x. False: A is singular. */
static bool eliminate(int n, double *A, double *b) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        if (!(fabs(A[best * n + k]) > 0)) return false;
        for (int j = 0; j < n && best != k; j++) {
            const double kept = A[k * n + j];
            A[k * n + j] = A[best * n + j], A[best * n + j] = kept;
        }
        const double kept = b[k];
        b[k] = b[best], b[best] = kept;
        for (int i = k + 1; i < n; i++) {
            const double factor = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
    return true;
}

/* The matrix E - h/2 df/dx at the user states that are shown; rates: f there. */
static lw_status make_matrix(lw_simulation *s, double t, double h, const double *rates, double *A,
                             double *other, lw_error *error) {
    const int n = s->model->values.state_count;
    for (int j = 0; j < n; j++) {
        const double x = s->states[j],
                     step = sqrt(DBL_EPSILON) * fmax(fabs(x), 1e-3 * s->scale[lw_simulation_own(s) + j]);
        s->states[j] = x + step;
        const double taken = s->states[j] - x;
        lw_status status = rates_here(s, t, other, error);
        s->states[j] = x;
        if (status != LW_OK) return status;
        for (int i = 0; i < n; i++) A[i * n + j] = (i == j) - 0.5 * h * (other[i] - rates[i]) / taken;
    }
    return LW_OK;
}

lw_status lw_simulation_half_before(lw_simulation *s, double t, double h, const double *y, double *next,
                                    lw_error *error) {
    enum { MOST = 30 };
    const int n = s->model->values.state_count, own = lw_simulation_own(s);
    double *x = s->states, *rates = s->implicit, *change = rates + n, *other = change + n, *A = other + n;
    const double *x0 = y + own;
    double size = 0;
    lw_simulation_see(s, y);
    take_kinematics(s, s->method, t, y);
    for (int iteration = 0; iteration < MOST; iteration++) {
        lw_status status = rates_here(s, t, rates, error);
        if (status == LW_OK) status = make_matrix(s, t, h, rates, A, other, error);
        if (status != LW_OK) return status;
        for (int k = 0; k < n; k++) change[k] = x0[k] + 0.5 * h * rates[k] - x[k];
        if (!eliminate(n, A, change)) break;
        double moved = 0;
        for (int k = 0; k < n; k++) {
            x[k] += change[k];
            size = fmax(size, fabs(x[k]));
            moved = fmax(moved, fabs(change[k]));
        }
        /* The Jacobian is exact to half the digits, so that the next change would be below rounding. */
        if (moved <= 1e-8 * size || moved == 0) {
            memcpy(next + own, x, (size_t)n * sizeof *x);
            return LW_OK;
        }
    }
    return lw_fail(error, LW_ERROR_INTEGRATION, NULL,
                   "take shorter steps (--step), or an integrator such as erk or bdf with another method",
                   "the user states find no solution in a step of %.3g s at t = %.9g", h, t);
}

lw_status lw_simulation_half_after(lw_simulation *s, double t, double h, double *next, lw_error *error) {
    const int n = s->model->values.state_count, own = lw_simulation_own(s);
    double *rates = s->implicit;
    memcpy(next + own, s->states, (size_t)n * sizeof *next); /* The method may have used all of `next`. */
    take_kinematics(s, s->method, t + h, next);
    lw_status status = rates_here(s, t + h, rates, error);
    for (int k = 0; k < n; k++) next[own + k] += 0.5 * h * rates[k];
    return status;
}

/* --- outputs -------------------------------------------------------------------------------------- */

/* What outputs need beside kinematics, for which take_memory has room. */
static lw_status late_values(lw_simulation *s, unsigned needs, double t, const double *vdot,
                             const double *reactions, lw_quantity_source *source, lw_error *error) {
    lw_late_values *late = &s->late;
    const lw_formulation *f = s->plan.formulation;
    const unsigned solved =
        LW_NEEDS_ACCELERATION | LW_NEEDS_MOTION_RATES | LW_NEEDS_REACTION | LW_NEEDS_MULTIPLIER;
    if (needs & solved) {
        if (!vdot || (!reactions && needs & (LW_NEEDS_REACTION | LW_NEEDS_MULTIPLIER))) {
            lw_status status = lw_checked_accelerations(
                s->checked,
                &(lw_checked_state){s->method, &s->method_options, t, s->q, s->v,
                                    lw_simulation_tau(s, t, s->q, s->v)},
                (lw_checked_answer){.vdot = late->vdot, .reactions = late->reactions}, error);
            if (status != LW_OK) return status;
            vdot = late->vdot, reactions = late->reactions;
        }
        source->vdot = vdot, source->reactions = reactions;
        if (needs & LW_NEEDS_MULTIPLIER) {
            if (!f->multipliers)
                return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take method lagrange or cut",
                               "method %s has no reactions of constraints, which an output or event needs",
                               f->name);
            f->multipliers(s->method, late->multipliers);
            source->multipliers = late->multipliers;
        }
    }
    return LW_OK;
}

lw_status lw_simulation_source(lw_simulation *s, unsigned needs, double t, const double *vdot,
                               const double *reactions, lw_quantity_source *source, lw_error *error) {
    const lw_model *model = s->model;
    lw_status status = late_values(s, needs, t, vdot, reactions, source, error);
    if (status != LW_OK) return status;
    lw_take_state(model, s->data, t, s->q, s->v);
    lw_velocities(model, s->data);
    lw_world_poses(model, s->data);
    if (needs & LW_NEEDS_MOTION_RATES) {
        lw_body_accelerations(model, s->data, source->vdot, s->late.motion_rates);
        source->motion_rates = s->late.motion_rates;
    }
    if (needs & LW_NEEDS_FORCES) {
        lw_force_values(model, s->data, t, true, s->late.forces);
        source->forces = s->late.forces;
    }
    return LW_OK;
}

lw_status lw_simulation_compute_outputs(lw_simulation *s, const double *vdot, const double *reactions,
                                        int first, int end, double *values, lw_error *error) {
    const lw_model *model = s->model;
    const double t = lw_simulation_seen(s, s->t);
    unsigned needs = 0;
    lw_quantity_source source = {.t = t};
    lw_ledger ledger;
    if (first >= end) return LW_OK;
    for (int k = first; k < end; k++) needs |= model->outputs[k].needs;
    if (needs & LW_NEEDS_LEDGER) {
        lw_simulation_ledger(s, &ledger);
        source.ledger = &ledger;
    }
    if (needs & LW_NEEDS_RUN && s->plan.formulation->violation)
        s->plan.formulation->violation(s->method, t, s->y, &source.position_violation,
                                       &source.velocity_violation);
    if (s->work_count) source.works = s->y + lw_simulation_works_at(s);
    lw_simulation_see(s, s->y);
    lw_status status = lw_simulation_source(s, needs, t, vdot, reactions, &source, error);
    if (status != LW_OK) return status;
    lw_outputs_compute(model, s->data, &source, first, end, values);
    return LW_OK;
}

bool lw_simulation_late_memory(lw_simulation *s) {
    const lw_model *model = s->model;
    const unsigned needs = lw_outputs_need(model) | model->values.for_events.needs;
    s->outputs = LW_NEW(s->arena, double, model->output_names.count + 1);
    s->missed = LW_NEW(s->arena, bool, model->output_names.count + 1);
    if (!(needs & ~(unsigned)LW_NEEDS_KINEMATICS)) return !lw_arena_failed(s->arena);
    s->late =
        (lw_late_values){.vdot = LW_NEW(s->arena, double, model->nv + 1),
                         .reactions = LW_NEW(s->arena, double, 6 * (size_t)model->joint_count + 1),
                         .multipliers = LW_NEW(s->arena, double, lw_balance_multiplier_count(model) + 1),
                         .motion_rates = LW_NEW(s->arena, double, 6 * ((size_t)model->body_count + 1)),
                         .forces = LW_NEW(s->arena, lw_force_value, model->force_count + 1)};
    return !lw_arena_failed(s->arena);
}

lw_status lw_simulation_outputs(lw_simulation *s, double *values) {
    if (!s || !values) return LW_ERROR_ARGUMENT;
    (void)lw_simulation_state(s, NULL, NULL); /* computes q and v */
    return lw_simulation_compute_outputs(s, NULL, NULL, 0, s->model->output_names.count, values, NULL);
}

lw_status lw_simulation_output(lw_simulation *s, int output, double *value) {
    if (!s || !value || output < 0 || output >= lw_model_output_count(s->model)) return LW_ERROR_ARGUMENT;
    (void)lw_simulation_state(s, NULL, NULL);
    return lw_simulation_compute_outputs(s, NULL, NULL, output, output + 1, value, NULL);
}
