/* parameter_changes.c - derivatives with respect to a parameter, by differences of models.
 *
 *   d/dp f = sum over k of w_k f(p + h_k),   h_k = -2 h, -h, h, 2 h  or  0, h, 2 h, 3 h, 4 h             (1)
 *
 * A parameter may enter everything: masses, places of joints, lengths, laws, prescribed motions. So the model
 * is compiled with neighbouring values, once; and a state is taken to each of these models along the smallest
 * motion that closes its loops. On this curve the mechanism is whole, so that accelerations have derivatives
 * along it, whatever the parameter does to the closures.
 *
 * Source   docs/theory/sensitivity.md, (1) to (3).
 * Symbols  p the parameter, h the step, w_k the weights.
 * Cost     four accelerations and projections per evaluation; compiling four models in create.
 * Limits   truncation and rounding together leave derivatives right to about 1e-9 of the largest.
 */
#include "analyses/parameter_changes.h"
#include "core/core.h"
#include "model/joint.h"
#include "model/kept_spec.h"
#include "model/signals.h"
#include <linkwork/dynamics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* h relative to the value: (1e-3)^4 is what the formula truncates, 1e-13 / 1e-3 what rounding leaves. */
static const double relative_step = 1e-3;
static const double central_offsets[] = {-2, -1, 1, 2},
                    central_weights[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
static const double sided_offsets[] = {0, 1, 2, 3, 4},
                    sided_weights[] = {-25. / 12, 48. / 12, -36. / 12, 16. / 12, -3. / 12};

double lw_parameter_weight(const lw_parameter_changes *c, int k) {
    return (c->central ? central_weights[k] : sided_weights[k]) / c->step;
}

void lw_motion_between(const lw_model *model, const double *q, const double *other, double *motion) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int at = lw_joint_quaternion(link->joint.type), turning = at == 3 ? 3 : 0;
        const int sliding = at < 0 ? link->joint.nv : turning;
        const double *from = q + link->q, *to = other + link->q;
        for (int k = 0; k < sliding; k++) motion[link->v + k] = to[k] - from[k];
        if (at < 0) continue;
        const double back[4] = {from[at], -from[at + 1], -from[at + 2], -from[at + 3]};
        double turn[4];
        lw_quat_mul(back, to + at, turn);
        lw_quat_log(turn, motion + link->v + turning);
    }
}

/* --- creation -------------------------------------------------------------------------------------- */

static lw_status unknown(const lw_model *model, const char *name, lw_error *error) {
    char remedy[256] = "name a parameter of the model";
    lw_closest_search near = lw_closest_to(name ? name : "");
    for (int i = 0; i < lw_model_parameter_count(model); i++)
        lw_closest_try(&near, lw_model_parameter_name(model, i));
    lw_did_you_mean(near.name, remedy, sizeof remedy);
    return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(model), remedy,
                   "\"%s\" is no parameter of the model", name ? name : "");
}

static void drop(lw_variant_model *at) {
    lw_solver_destroy(at->solver);
    lw_projection_destroy(at->projection);
    lw_data_destroy(at->data);
    lw_model_destroy(at->model);
    *at = (lw_variant_model){0};
}

static lw_status compile_one(lw_parameter_changes *c, lw_variant_model *at, lw_error *error) {
    lw_spec *spec = NULL;
    lw_status status = lw_model_kept_spec(c->model, &spec, error);
    if (status == LW_OK) status = lw_spec_set_parameter(spec, c->name, c->value + at->offset, error);
    if (status == LW_OK) status = lw_model_compile_again(c->model, spec, &at->model, error);
    lw_spec_destroy(spec);
    return status;
}

/* Models on both sides of the value or, where those below are not possible (a mass of zero, say), above
 * it. */
static lw_status compile(lw_parameter_changes *c, lw_error *error) {
    lw_error first = {0};
    lw_status status = LW_OK;
    for (int side = 0; side < 2; side++) {
        c->central = side == 0, c->count = c->central ? 4 : 5;
        status = LW_OK;
        for (int k = 0; k < c->count && status == LW_OK; k++) {
            c->at[k].offset = c->step * (c->central ? central_offsets[k] : sided_offsets[k]);
            status = compile_one(c, &c->at[k], side == 0 ? &first : NULL);
        }
        if (status == LW_OK || status == LW_ERROR_MEMORY) return status;
        for (int k = 0; k < c->count; k++) drop(&c->at[k]);
    }
    if (error) *error = first;
    return status;
}

static lw_status equip(lw_parameter_changes *c, lw_variant_model *at, const char *method,
                       const double *inputs, lw_error *error) {
    const lw_model *model = at->model;
    const size_t nv = (size_t)model->nv + 1, ns = (size_t)model->values.state_count + 1;
    const int ni = model->values.input_count;
    at->inputs = LW_NEW(c->arena, double, ni + 1);
    at->q = LW_NEW(c->arena, double, model->nq + 1);
    at->v = LW_NEW(c->arena, double, nv);
    at->vdot = LW_NEW(c->arena, double, nv);
    at->rates = LW_NEW(c->arena, double, ns);
    if (lw_arena_failed(c->arena)) return lw_out_of_memory(error);
    for (int k = 0; k < ni; k++) {
        const double standing = lw_model_input_default(c->model, k);
        const bool given = inputs && !(inputs[k] == standing || (isnan(inputs[k]) && isnan(standing)));
        at->inputs[k] = given ? inputs[k] : lw_model_input_default(model, k);
    }
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    if (method) options.method = method;
    options.inputs = at->inputs, options.states = c->states, options.unchecked = true;
    lw_status status = lw_solver_create(model, &options, NULL, &at->solver, error);
    if (status == LW_OK && lw_data_create(model, NULL, &at->data) != LW_OK) status = lw_out_of_memory(error);
    if (status != LW_OK) return status;
    lw_data_set_values(model, at->data, at->inputs, c->states);
    if (model->closure_count + model->constraint_count == 0) return LW_OK;
    at->projection = lw_projection_create(model, LW_HOLD_NONE);
    if (!at->projection) return lw_out_of_memory(error);
    lw_projection_set_values(at->projection, at->inputs, c->states);
    return LW_OK;
}

lw_status lw_parameter_changes_create(const lw_model *model, const lw_solver_options *options,
                                      const char *parameter, lw_parameter_changes **changes,
                                      lw_error *error) {
    if (changes) *changes = NULL;
    if (!model || !changes) return lw_call_needs("a model and a pointer for the result", error);
    const int number = parameter ? lw_model_parameter(model, parameter) : -1;
    if (number < 0) return unknown(model, parameter, error);
    lw_arena *arena = lw_arena_create(NULL);
    lw_parameter_changes *c = LW_NEW(arena, lw_parameter_changes, 1);
    if (!c) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    const double value = lw_model_parameter_value(model, number);
    const size_t nv = (size_t)model->nv + 1;
    *c = (lw_parameter_changes){.arena = arena,
                                .model = model,
                                .name = lw_arena_text(arena, parameter),
                                .value = value,
                                .scale = value != 0 ? fabs(value) : 1,
                                .step = relative_step * (value != 0 ? fabs(value) : 1),
                                .states = options ? options->states : NULL,
                                .dq = LW_NEW(arena, double, nv),
                                .dv = LW_NEW(arena, double, nv),
                                .da = LW_NEW(arena, double, nv),
                                .motion = LW_NEW(arena, double, nv),
                                .rates = LW_NEW(arena, double, (size_t)model->values.state_count + 1)};
    lw_status status = lw_arena_failed(arena) ? lw_out_of_memory(error) : compile(c, error);
    for (int k = 0; k < c->count && status == LW_OK; k++)
        status =
            equip(c, &c->at[k], options ? options->method : NULL, options ? options->inputs : NULL, error);
    if (status == LW_OK)
        *changes = c;
    else
        lw_parameter_changes_destroy(c);
    return status;
}

void lw_parameter_changes_destroy(lw_parameter_changes *c) {
    if (!c) return;
    for (int k = 0; k < LW_VARIANTS; k++) drop(&c->at[k]);
    lw_arena_destroy(c->arena);
}

/* --- derivatives ----------------------------------------------------------------------------------- */

/* The state as the model of the variant has it: prescribed motions in place, loops closed. */
static lw_status follow(lw_variant_model *at, double t, const double *q, const double *v, lw_error *error) {
    const lw_model *model = at->model;
    lw_take_state(model, at->data, t, q, v);
    memcpy(at->q, at->data->q, (size_t)model->nq * sizeof *q);
    memcpy(at->v, at->data->v, (size_t)model->nv * sizeof *v);
    return at->projection ? lw_project_state(at->projection, t, at->q, at->v, error) : LW_OK;
}

static lw_status add_reactions(lw_parameter_changes *c, lw_variant_model *at, double weight,
                               lw_error *error) {
    lw_status status = lw_solver_reactions(at->solver, c->reaction, c->unique, error);
    for (int i = 0; i < 6 * c->model->joint_count && status == LW_OK; i++) {
        c->reactions[i] += weight * c->reaction[i];
        c->all_unique[i] &= c->unique[i];
    }
    return status;
}

lw_status lw_parameter_changes_evaluate(lw_parameter_changes *c, double t, const double *q, const double *v,
                                        lw_error *error) {
    const lw_model *model = c->model;
    const int nv = model->nv, ns = model->values.state_count;
    double *const results[] = {c->dq, c->dv, c->da};
    for (int r = 0; r < 3; r++) memset(results[r], 0, (size_t)nv * sizeof *results[r]);
    if (ns > 0) memset(c->rates, 0, (size_t)ns * sizeof *c->rates);
    for (int k = 0; k < c->count; k++) {
        lw_variant_model *at = &c->at[k];
        lw_error reason = {0};
        lw_status status = follow(at, t, q, v, &reason);
        if (status == LW_OK)
            status = lw_solver_accelerations(at->solver, t, at->q, at->v, NULL, at->vdot, &reason);
        if (status != LW_OK)
            return lw_fail(error, status == LW_ERROR_MEMORY ? status : LW_ERROR_SINGULAR, c->name,
                           "where loops close for one value only, as with redundant rows, change the "
                           "parameters that keep them closed by one common parameter",
                           "with %s = %.9g instead of %.9g the mechanism has no motion at t = %.9g: %s",
                           c->name, c->value + at->offset, c->value, t, reason.message);
        if (ns > 0) {
            lw_take_state(at->model, at->data, t, at->q, at->v);
            lw_velocities(at->model, at->data);
            lw_world_poses(at->model, at->data);
            lw_state_rates(at->model, at->data, t, at->rates);
        }
        const double weight = lw_parameter_weight(c, k);
        lw_motion_between(model, q, at->q, c->motion);
        for (int i = 0; i < nv; i++) {
            c->dq[i] += weight * c->motion[i];
            c->dv[i] += weight * at->v[i];
            c->da[i] += weight * at->vdot[i];
        }
        for (int i = 0; i < ns; i++) c->rates[i] += weight * at->rates[i];
        if (c->reactions && (status = add_reactions(c, at, weight, error)) != LW_OK) return status;
    }
    return LW_OK;
}

lw_status lw_parameter_changes_of_state(lw_parameter_changes *c, double t, const double *q, const double *v,
                                        const lw_parameter_derivatives *out, lw_error *error) {
    if (!c || !out || !isfinite(t) || !lw_given(q, c->model->nq) || !lw_given(v, c->model->nv) ||
        !lw_finite(q, c->model->nq) || !lw_finite(v, c->model->nv))
        return lw_call_needs("an object, a finite state and a place for the results", error);
    const size_t nv = (size_t)c->model->nv, joints = (size_t)c->model->joint_count;
    if (out->dreactions && !c->reaction) {
        c->reaction = LW_NEW(c->arena, double, 6 * joints + 1);
        c->unique = LW_NEW(c->arena, bool, 6 * joints + 1);
        c->all_unique = LW_NEW(c->arena, bool, 6 * joints + 1);
        if (lw_arena_failed(c->arena)) return lw_out_of_memory(error);
    }
    c->reactions = out->dreactions;
    for (size_t i = 0; out->dreactions && i < 6 * joints; i++)
        out->dreactions[i] = 0, c->all_unique[i] = true;
    lw_status status = lw_parameter_changes_evaluate(c, t, q, v, error);
    c->reactions = NULL;
    if (status != LW_OK) return status;
    if (out->dq) memcpy(out->dq, c->dq, nv * sizeof *c->dq);
    if (out->dv) memcpy(out->dv, c->dv, nv * sizeof *c->dv);
    if (out->dvdot) memcpy(out->dvdot, c->da, nv * sizeof *c->da);
    for (size_t i = 0; out->dreactions && i < 6 * joints; i++)
        if (!c->all_unique[i]) out->dreactions[i] = NAN;
    return LW_OK;
}
