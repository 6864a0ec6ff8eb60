/* solver.c - accelerations and reactions of single states: one method on one model for one thread.
 *
 * The state of the last call is kept, so that reactions, uniqueness and balance are computed only when they
 * are requested; a checked call always needs reactions.
 *
 * Cost     unchecked: one call of the method. Checked: one call with reactions, and the check, O(n). No
 *          allocation after creation.
 */
#include "simulation/choice/method_auto.h"
#include "simulation/solver/solver_parts.h"
#include "formulations/common/method_create.h"
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

void lw_solver_defaults(const lw_model *model, lw_solver_options *options) {
    if (!options) return;
    *options = (lw_solver_options){.method = model ? lw_model_run(model)->method : NULL};
}

static lw_status create(lw_solver *s, const lw_solver_options *options, lw_error *error) {
    const lw_model *model = s->model;
    const lw_method_choice_state at = {options->t, options->q, options->v};
    const bool given = options->q && options->v;
    lw_status status = lw_method_choose_at(options->method, model, given ? &at : NULL, &s->formulation,
                                           s->why, sizeof s->why, error);
    if (status != LW_OK) return status;
    s->unchecked = options->unchecked;
    s->amount = NAN;
    s->options = (lw_method_options){
        .penalty = options->penalty, .inputs = options->inputs, .states = options->states, .flags = true};
    s->q = LW_NEW(s->arena, double, model->nq + 1);
    s->v = LW_NEW(s->arena, double, model->nv + 1);
    s->tau = LW_NEW(s->arena, double, model->nv + 1);
    s->vdot = LW_NEW(s->arena, double, model->nv + 1);
    s->reactions = LW_NEW(s->arena, double, 6 * (size_t)model->joint_count + 1);
    s->checked = lw_checked_create(model);
    if (lw_arena_failed(s->arena) || !s->checked) return lw_out_of_memory(error);
    status = lw_solver_create_inverse(s, options, error);
    return status == LW_OK ? lw_method_create(s->formulation, model, &s->options, &s->method, error) : status;
}

lw_status lw_solver_create(const lw_model *model, const lw_solver_options *options,
                           const lw_allocator *allocator, lw_solver **solver, lw_error *error) {
    if (solver) *solver = NULL;
    if (!model || !options || !solver)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL,
                       "a solver needs a model, options and a pointer for the result");
    if (!(options->penalty >= 0) || !isfinite(options->penalty))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a positive number such as 1e8",
                       "penalty %g is not a positive number", options->penalty);
    lw_arena *arena = lw_arena_create(allocator);
    lw_solver *s = LW_NEW(arena, lw_solver, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    s->arena = arena;
    s->model = model;
    lw_status status = create(s, options, error);
    if (status == LW_OK)
        *solver = s;
    else
        lw_solver_destroy(s);
    return status;
}

void lw_solver_destroy(lw_solver *s) {
    if (!s) return;
    lw_method_destroy(s->method);
    lw_checked_destroy(s->checked);
    lw_loop_inverse_destroy(s->inverse);
    lw_orthogonal_destroy(s->turn);
    lw_arena_destroy(s->arena);
}

const lw_model *lw_solver_model(const lw_solver *s) { return s ? s->model : NULL; }
const char *lw_solver_method(const lw_solver *s) { return s ? s->formulation->name : NULL; }
const char *lw_solver_method_reason(const lw_solver *s) { return s ? s->why : NULL; }

static const double *tau_of(const lw_solver *s) { return s->has_tau ? s->tau : NULL; }

/* Computes and checks accelerations and reactions of the state that is kept. */
static lw_status check(lw_solver *s, bool *unique, lw_error *error) {
    lw_status status = lw_checked_accelerations(
        s->checked, &(lw_checked_state){s->method, &s->options, s->t, s->q, s->v, tau_of(s)},
        (lw_checked_answer){
            .vdot = s->vdot, .reactions = s->reactions, .unique = unique, .amount = &s->amount},
        error);
    s->has_reactions = status == LW_OK;
    return status;
}

lw_status lw_solver_accelerations(lw_solver *s, double t, const double *q, const double *v, const double *tau,
                                  double *vdot, lw_error *error) {
    if (!s || !q || !v || !vdot)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a solver, q, v and a place for vdot",
                       "accelerations need a state");
    const size_t nv = (size_t)s->model->nv;
    s->t = t;
    memcpy(s->q, q, (size_t)s->model->nq * sizeof *q);
    memcpy(s->v, v, nv * sizeof *v);
    s->has_tau = tau != NULL;
    if (tau) memcpy(s->tau, tau, nv * sizeof *tau);
    s->has_reactions = s->inverted = false;
    s->amount = NAN;
    lw_status status = s->unchecked ? s->formulation->accelerations(s->method, t, s->q, s->v, tau_of(s),
                                                                    s->vdot, NULL, NULL, error)
                                    : check(s, NULL, error);
    s->known = status == LW_OK;
    if (s->known) memcpy(vdot, s->vdot, nv * sizeof *vdot);
    return status;
}

static lw_status needs_state(const lw_solver *s, lw_error *error) {
    if (s && s->known) return LW_OK;
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                   "call lw_solver_accelerations or lw_solver_inverse_dynamics first",
                   "no accelerations have been computed yet");
}

lw_status lw_solver_reactions(lw_solver *s, double *reactions, bool *unique, lw_error *error) {
    lw_status status = needs_state(s, error);
    if (status != LW_OK) return status;
    if (s->inverted && (unique || !s->has_reactions)) {
        status = lw_checked_reactions(s->checked,
                                      &(lw_checked_state){s->method, &s->options, s->t, s->q, s->v, s->tau},
                                      s->vdot, s->reactions, unique, error);
        s->has_reactions = status == LW_OK;
    } else if (unique || !s->has_reactions) {
        status = lw_method_accelerations(s->method, s->t, s->q, s->v, tau_of(s), s->vdot, s->reactions,
                                         unique, error);
        s->has_reactions = status == LW_OK;
        if (s->has_reactions) lw_checked_share(s->checked, s->t, s->q, s->reactions);
    }
    if (status == LW_OK && reactions)
        memcpy(reactions, s->reactions, 6 * (size_t)s->model->joint_count * sizeof *reactions);
    return status;
}

lw_status lw_solver_by_compliance(lw_solver *s, bool *by_compliance, lw_error *error) {
    lw_status status = lw_solver_reactions(s, NULL, NULL, error);
    if (status == LW_OK && by_compliance)
        memcpy(by_compliance, lw_checked_by_compliance(s->checked),
               6 * (size_t)s->model->joint_count * sizeof *by_compliance);
    return status;
}

lw_status lw_solver_balance(lw_solver *s, double *amount, lw_error *error) {
    if (amount) *amount = NAN;
    const bool fails = s && !s->known && !isnan(s->amount);
    lw_status status = fails ? LW_OK : needs_state(s, error);
    if (status != LW_OK) return status;
    if (isnan(s->amount)) status = check(s, NULL, error);
    if (amount) *amount = s->amount;
    if (!fails) return status;
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL, "the last accelerations did not balance (%.3g)",
                   s->amount);
}
