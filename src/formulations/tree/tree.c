/* tree.c - the formulation `tree`: joint coordinates, forward dynamics by the articulated-body recursion.
 *
 *   derivative   (q, v)' = (N(q) v, vdot)             by forward dynamics
 *   residual     qdot - N(q) v,  tau(q, v, vdot)      by inverse dynamics: no matrix is formed or solved
 *
 * Source   Anderson & Critchley (2003), eqs 8-27; docs/theory/tree.md. The recursions stand in
 *          tree_forward.h, tree_inverse.h.
 * Cost     O(n) per call, no allocation.
 * Limits   no loops, no constraints; every joint must move some inertia (LW_ERROR_SINGULAR names it if not).
 */
#include "formulations/common/tree_method_base.h"

#include <stdio.h>
#include <stdlib.h>

extern const lw_formulation lw_formulation_tree;

typedef struct tree_method {
    lw_method base;
    lw_data *data;
    lw_method_options options;
    double *tau; /* of the residual */
} tree_method;

/* --- the method ----------------------------------------------------------------------------------- */

static lw_status applies(const lw_model *model, lw_error *error) {
    if (model->closure_count) {
        const lw_joint_entry *joint = &model->joints[model->closures[0]];
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, joint->place, "joint", joint->name,
                          "open the loop, or take a method for closed loops where linkwork info lists one",
                          "closes a loop (%d loop%s in all), and method tree handles trees only",
                          model->closure_count, model->closure_count == 1 ? "" : "s");
    }
    if (model->constraint_count) {
        const lw_constraint *constraint = &model->constraints[0];
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, constraint->place, "constraint",
                          constraint->name,
                          "leave it out, or take a method for constraints where linkwork info lists one",
                          "is a %s constraint, and method tree handles joints and forces only",
                          lw_constraint_type_name(constraint->type));
    }
    return lw_tree_determined(model, error);
}

static void destroy(lw_method *base) {
    tree_method *method = (tree_method *)base;
    if (!method) return;
    lw_data_destroy(method->data);
    free(method->tau);
    free(method);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    tree_method *method = calloc(1, sizeof *method);
    if (method) method->tau = calloc((size_t)model->nv + 1, sizeof *method->tau);
    if (!method || !method->tau || lw_data_create(model, NULL, &method->data) != LW_OK) {
        if (method) free(method->tau);
        free(method);
        return lw_out_of_memory(error);
    }
    lw_data_set_values(model, method->data, options->inputs, options->states);
    lw_data_hold(method->data, options->hold);
    method->base.formulation = &lw_formulation_tree;
    method->base.model = model;
    method->base.state_size = model->nq + model->nv;
    method->options = *options;
    *out = &method->base;
    return LW_OK;
}

static void from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    lw_tree_from_state(base->model, ((tree_method *)base)->data, t, y, q, v);
}

static lw_status accelerations(lw_method *base, double t, const double *q, const double *v, const double *tau,
                               double *vdot, double *reactions, bool *unique, lw_error *error) {
    const lw_model *model = base->model;
    lw_data *data = ((tree_method *)base)->data;
    lw_status status = lw_open_forward(model, data, t, q, v, tau, vdot, error);
    if (status != LW_OK) return status;
    if (reactions) lw_open_reactions(model, data, t, q, v, vdot, reactions);
    if (unique)
        for (int k = 0; k < 6 * model->joint_count; k++) unique[k] = true; /* a tree has nothing redundant */
    return LW_OK;
}

static lw_status derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error) {
    const lw_model *model = base->model;
    lw_data *data = ((tree_method *)base)->data;
    lw_take_state(model, data, t, y, y + model->nq);
    const double *tau = lw_outer_tau(&((tree_method *)base)->options, model, t, data->q, data->v);
    lw_status status = lw_tree_solve(model, data, t, tau, error);
    if (status != LW_OK) return status;
    lw_q_rate_stable(model, data->q, data->v, ydot);
    memcpy(ydot + model->nq, data->vdot, (size_t)model->nv * sizeof *ydot);
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, data->drive);
    return LW_OK;
}

/* Rows: qdot - N(q) v;  tau by inverse dynamics, but vdot - (the prescribed one) at prescribed speeds. */
static lw_status residual(lw_method *base, double t, const double *y, const double *ydot, double *out,
                          lw_power *power, lw_error *error) {
    (void)error;
    tree_method *method = (tree_method *)base;
    const lw_model *model = base->model;
    lw_data *data = method->data;
    int nq = model->nq;
    lw_inverse_held(model, data, t, y, y + nq, ydot + nq, method->tau);
    lw_take_state(model, data, t, y, y + nq); /* a plain model is not taken over by inverse dynamics */
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, method->tau);
    memcpy(out + nq, method->tau, (size_t)model->nv * sizeof *out);
    lw_tree_residual(model, data, data->v, ydot, out);
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    (void)t, (void)error;
    lw_normalise_q(base->model, y);
    return LW_OK;
}

const lw_formulation lw_formulation_tree = {
    .name = "tree",
    .source = "anderson2003 8-27",
    .cost = "O(n)",
    .summary = "articulated-body recursion for trees, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 0,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = lw_tree_to_state,
    .from_state = from_state,
    .accelerations = accelerations,
    .derivative = derivative,
    .residual = residual,
    .project = project,
};
