/* absolute_method_base.c - what the methods of Mufti (1983) share: states, drift control, accelerations,
 * reactions.
 *
 *   absolute   y_i = (centre of mass, quaternion, its velocity, angular velocity), i = 1 .. n, world axes;
 *              then the angles of joints, since poses do not tell how many revolutions a joint has made
 *   joint      y = (q, v) of the spanning tree
 *
 * Drift control (remark 4):
 *   none       rows at acceleration level only
 *   baumgarte  terms of velocity and position in gamma
 *   project    back onto the constraints after each step (projection.c)
 *
 * Quaternions are normalised by project; otherwise a term of their rate keeps them at unit length.
 *
 * Cost     that of solve, and O(bodies + joints); no allocation.
 */
#include "constraints/kkt/kkt_sparse.h"
#include "formulations/common/absolute_method_base.h"
#include "constraints/rank/redundancy.h"
#include "formulations/common/tree_method_base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lw_absolute_method *lw_absolute_method_create(size_t size, const lw_formulation *formulation,
                                              const lw_model *model, const lw_method_options *options,
                                              lw_status (*solve)(lw_absolute_method *method,
                                                                 lw_error *error)) {
    lw_absolute_method *method = calloc(1, size);
    if (!method) return NULL;
    method->base.formulation = formulation;
    method->base.model = model;
    method->options = *options;
    method->solve = solve;
    method->system = lw_newton_euler_create(model, LW_HOLD_NONE);
    method->projection = lw_projection_create(model, LW_HOLD_NONE);
    bool fine = method->system && method->projection;
    if (fine && model->armature) {
        method->rotors = lw_rotors_create(method->system);
        fine = method->rotors != NULL;
    }
    if (fine && options->flags) {
        lw_newton_euler_rows_at(method->system, 0, model->q0, NULL);
        method->uniqueness = lw_uniqueness_create(model, method->system);
        fine = method->uniqueness != NULL;
    }
    if (fine) {
        lw_data_set_values(model, method->system->data, options->inputs, options->states);
        lw_data_hold(method->system->data, options->hold);
        lw_projection_set_values(method->projection, options->inputs, options->states);
        method->base.state_size = formulation->coordinates == LW_COORDINATES_ABSOLUTE
                                      ? lw_absolute_size(method->system)
                                      : model->nq + model->nv;
        return method;
    }
    lw_absolute_method_destroy(method);
    return NULL;
}

lw_status lw_absolute_method_finish(lw_absolute_method *method, bool fine, lw_method **out, lw_error *error) {
    *out = fine ? &method->base : NULL;
    if (fine) return LW_OK;
    if (method) method->base.formulation->destroy(&method->base);
    return lw_out_of_memory(error);
}

void lw_absolute_method_destroy(lw_absolute_method *method) {
    if (!method) return;
    lw_rotors_destroy(method->rotors);
    lw_uniqueness_destroy(method->uniqueness);
    lw_projection_destroy(method->projection);
    lw_newton_euler_destroy(method->system);
    free(method);
}

lw_status lw_dense_limit(const char *method, int unknowns, lw_error *error) {
    enum { LIMIT = 12000 }; /* a matrix of 1.1 GB */
    if (unknowns <= LIMIT) return LW_OK;
    return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take a recursive or a sparse method",
                   "method %s would need a dense matrix with %d rows, and its limit is %d", method, unknowns,
                   LIMIT);
}

lw_status lw_needs_inverse(const char *method, const lw_model *model, bool rotation, lw_error *error) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        const lw_body *body = &model->bodies[i];
        const double *c = body->com;
        double J[6], m = I->mass;
        for (int k = 0; k < 3; k++) J[k] = I->second[k] - m * (lw_v3_dot(c, c) - c[k] * c[k]);
        J[3] = I->second[3] + m * c[0] * c[1];
        J[4] = I->second[4] + m * c[0] * c[2];
        J[5] = I->second[5] + m * c[1] * c[2];
        double det = J[0] * (J[1] * J[2] - J[5] * J[5]) - J[3] * (J[3] * J[2] - J[5] * J[4]) +
                     J[4] * (J[3] * J[5] - J[1] * J[4]);
        double trace = J[0] + J[1] + J[2];
        /* det / trace^2 is about the smallest moment; the subtraction above leaves 1e-16 of the moments it
         * starts from */
        double about_origin = I->second[0] + I->second[1] + I->second[2];
        bool turns = !rotation || det > 1e-12 * about_origin * trace * trace;
        if (m > 0 && turns) continue;
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, body->place, "body", body->name,
                          "take a method that needs no inverse, such as lagrange or massless",
                          m > 0 ? "its inertia has no inverse, and method %s needs one"
                                : "it has no mass, and method %s divides by it",
                          method);
    }
    return LW_OK;
}

lw_status lw_needs_no_rotors(const lw_model *model, lw_error *error) {
    for (int i = 1; i <= model->body_count && model->armature; i++) {
        const lw_joint_entry *joint = &model->joints[model->bodies[i].joint_index];
        if (lw_rotor_speeds(model, i))
            return lw_fail_at(
                error, LW_ERROR_UNSUPPORTED, model->file, joint->place, "joint", joint->name,
                "take another method, such as tree, rcr or lagrange, or make the rotor a body of its own, "
                "geared "
                "to the joint by a coupling",
                "it has a rotor (armature), whose inertia belongs to the joint's coordinate and "
                "to no body, and this method knows the inertia of bodies only");
    }
    return LW_OK;
}

lw_status lw_needs_determined(const lw_model *model, lw_error *error) {
    lw_error body = {0}; /* the one at fault */
    if (lw_needs_inverse("", model, true, NULL) == LW_OK) return LW_OK;
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_kkt_sparse *kkt = s ? lw_kkt_sparse_create(model, s->rows) : NULL;
    lw_status status = LW_ERROR_MEMORY;
    if (kkt) {
        lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
        status = lw_kkt_sparse_factor(kkt, s->inertia, s->mass, s->rows, &body);
    }
    lw_kkt_sparse_destroy(kkt);
    lw_newton_euler_destroy(s);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    if (status == LW_OK) return LW_OK;
    body.status = LW_ERROR_UNSUPPORTED;
    snprintf(
        body.message, sizeof body.message,
        "it has no inertia in some direction, and neither have the bodies that move with it there, so that "
        "%s",
        model->armature ? "nothing but a rotor may determine its acceleration, which this method cannot use"
                        : "some acceleration is not determined");
    if (model->armature)
        snprintf(body.remedy, sizeof body.remedy, "%s",
                 "take a method in joint coordinates: tree, cut or rcr");
    if (error) *error = body;
    return LW_ERROR_UNSUPPORTED;
}

static lw_status solve_bare(void *context, lw_error *error) {
    lw_absolute_method *method = context;
    return method->solve(method, error);
}

static lw_status solve(lw_absolute_method *method, lw_error *error) {
    if (!method->rotors) return method->solve(method, error);
    const lw_rotors_method own = {method->system, solve_bare, method};
    return lw_rotors_solve(method->rotors, &own, error);
}

lw_status lw_absolute_method_accelerations(lw_method *base, double t, const double *q, const double *v,
                                           const double *tau, double *vdot, double *reactions, bool *unique,
                                           lw_error *error) {
    lw_absolute_method *method = (lw_absolute_method *)base;
    lw_newton_euler *s = method->system;
    lw_newton_euler_at(s, t, q, v, tau);
    lw_status status = solve(method, error);
    if (status != LW_OK) return status;
    lw_rows_joint_accelerations(base->model, s->rows, s->a, vdot);
    if (reactions) lw_newton_euler_reactions(s, reactions);
    return unique ? lw_unique_reactions(method->uniqueness, s, unique, error) : LW_OK;
}

/* --- absolute coordinates ------------------------------------------------------------------------- */

void lw_absolute_method_multipliers(const lw_method *base, double *multipliers) {
    const lw_newton_euler *s = ((const lw_absolute_method *)base)->system;
    for (int r = 0, next = 0; r < s->rows->count; r++)
        if (s->rows->rows[r].kind == LW_ROW_CONSTRAINT) multipliers[next++] = s->lambda[r];
}

void lw_absolute_to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    lw_newton_euler *s = ((lw_absolute_method *)base)->system;
    lw_newton_euler_rows_at(s, t, q, v);
    lw_absolute_from_joints(s, y);
}

void lw_absolute_from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    lw_newton_euler *s = ((lw_absolute_method *)base)->system;
    lw_newton_euler_rows_at_absolute(s, t, y);
    memcpy(q, s->data->q, (size_t)base->model->nq * sizeof *q);
    memcpy(v, s->data->v, (size_t)base->model->nv * sizeof *v);
}

static void stabilise(lw_absolute_method *method) {
    if (method->options.drift == LW_DRIFT_BAUMGARTE)
        lw_newton_euler_stabilise(method->system, method->options.baumgarte_alpha,
                                  method->options.baumgarte_beta);
}

lw_status lw_absolute_derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                                 lw_error *error) {
    lw_absolute_method *method = (lw_absolute_method *)base;
    lw_newton_euler *s = method->system;
    lw_newton_euler_rows_at_absolute(s, t, y);
    lw_newton_euler_forces(s, t, lw_outer_tau(&method->options, base->model, t, s->data->q, s->data->v));
    stabilise(method);
    lw_status status = solve(method, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < base->model->body_count; i++) {
        const double *own = y + 13 * i, *quaternion = own + 3, *w = own + 10, *a = s->a + 6 * i;
        double *rate = ydot + 13 * i;
        const double pure[4] = {0, w[0], w[1], w[2]};
        lw_v3_copy(own + 7, rate);
        lw_quat_mul(pure, quaternion, rate + 3); /* w in world axes, so from the left */
        double square = 0;
        for (int k = 0; k < 4; k++) square += quaternion[k] * quaternion[k];
        double pull = lw_v3_norm(w) * (1 - square); /* as in joint.c: keeps unit length in long runs */
        for (int k = 0; k < 4; k++) rate[3 + k] = 0.5 * (rate[3 + k] + pull * quaternion[k]);
        lw_v3_copy(a + 3, rate + 7);
        lw_v3_copy(a, rate + 10);
    }
    for (int k = 0; k < s->angle_count; k++)
        ydot[13 * base->model->body_count + k] = s->rows->joints[s->angles[k].joint].v[s->angles[k].speed];
    *power = lw_newton_euler_power(s);
    return LW_OK;
}

lw_status lw_absolute_project(lw_method *base, double t, double *y, lw_error *error) {
    lw_absolute_method *method = (lw_absolute_method *)base;
    if (method->options.drift == LW_DRIFT_PROJECT)
        return lw_project_absolute(method->projection, t, y, error);
    for (int i = 0; i < base->model->body_count; i++) lw_quat_normalise(y + 13 * i + 3);
    lw_newton_euler_rows_at_absolute(method->system, t, y);
    lw_absolute_take_angles(method->system, y);
    return LW_OK;
}

void lw_absolute_violation(lw_method *base, double t, const double *y, double *position, double *velocity) {
    lw_newton_euler *s = ((lw_absolute_method *)base)->system;
    lw_newton_euler_rows_at_absolute(s, t, y);
    lw_newton_euler_violation(s, position, velocity);
}

/* --- joint coordinates ---------------------------------------------------------------------------- */

void lw_jointed_from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    lw_tree_from_state(base->model, ((lw_absolute_method *)base)->system->data, t, y, q, v);
}

lw_status lw_jointed_derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                                lw_error *error) {
    lw_absolute_method *method = (lw_absolute_method *)base;
    lw_newton_euler *s = method->system;
    const lw_model *model = base->model;
    lw_newton_euler_rows_at(s, t, y, y + model->nq);
    lw_newton_euler_forces(s, t, lw_outer_tau(&method->options, model, t, s->data->q, s->data->v));
    stabilise(method);
    lw_status status = solve(method, error);
    if (status != LW_OK) return status;
    lw_q_rate_stable(model, s->data->q, s->data->v, ydot);
    lw_rows_joint_accelerations(model, s->rows, s->a, ydot + model->nq);
    *power = lw_newton_euler_power(s);
    return LW_OK;
}

lw_status lw_jointed_project(lw_method *base, double t, double *y, lw_error *error) {
    lw_absolute_method *method = (lw_absolute_method *)base;
    lw_normalise_q(base->model, y);
    if (method->options.drift != LW_DRIFT_PROJECT) return LW_OK;
    return lw_project_state(method->projection, t, y, y + base->model->nq, error);
}

void lw_jointed_violation(lw_method *base, double t, const double *y, double *position, double *velocity) {
    lw_newton_euler *s = ((lw_absolute_method *)base)->system;
    lw_newton_euler_rows_at(s, t, y, y + base->model->nq);
    lw_newton_euler_violation(s, position, velocity);
}
