/* loop_method_base.c - what methods in joint coordinates with closed loops share: state, rows of closures and
 * constraints, reactions.
 *
 * The state is (q, v) of the spanning tree. Reactions of the tree's joints are those without loops (inverse
 * dynamics) plus what the multipliers of the loops make them hold.
 *
 * Cost     that of solve, and O(n + m); no allocation but in create.
 */
#include "formulations/common/loop_method_base.h"
#include "constraints/rank/redundancy.h"
#include "constraints/loop_constraints.h"
#include "formulations/common/tree_method_base.h"

#include <math.h>
#include <string.h>

lw_loop_method *lw_loop_method_create(size_t size, const lw_formulation *formulation, const lw_model *model,
                                      const lw_method_options *options,
                                      lw_status (*solve)(lw_loop_method *method, double t, const double *tau,
                                                         lw_error *error)) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_loop_method *method = lw_arena_take(arena, 1, size);
    if (method) {
        method->arena = arena;
        method->rows = lw_rows_create_loops(model, arena);
        method->body = LW_NEW(arena, double, 6 * model->body_count + 6);
        method->v = LW_NEW(arena, double, model->nv + 1);
        if (method->rows) {
            method->lambda = LW_NEW(arena, double, method->rows->count + 1);
            method->defect = LW_NEW(arena, double, method->rows->count + 1);
        }
    }
    if (!method || !method->rows || lw_arena_failed(arena) ||
        lw_data_create(model, NULL, &method->data) != LW_OK) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    if (options->flags && !(method->uniqueness = lw_uniqueness_create(model, NULL))) {
        lw_loop_method_destroy(&method->base);
        return NULL;
    }
    method->base.formulation = formulation;
    method->base.model = model;
    method->base.state_size = model->nq + model->nv;
    method->options = *options;
    lw_data_set_values(model, method->data, options->inputs, options->states);
    lw_data_hold(method->data, options->hold);
    method->solve = solve;
    return method;
}

void lw_loop_method_destroy(lw_method *base) {
    lw_loop_method *method = (lw_loop_method *)base;
    if (!method) return;
    lw_uniqueness_destroy(method->uniqueness);
    lw_data_destroy(method->data);
    lw_arena_destroy(method->arena);
}

void lw_loop_method_rows(lw_loop_method *method) {
    lw_velocities(method->base.model, method->data);
    lw_world_poses(method->base.model, method->data);
    lw_rows_evaluate(method->base.model, method->data, false, method->rows);
}

double lw_loop_method_velocity_defect(lw_loop_method *method) {
    const lw_rows *rows = method->rows;
    double worst = 0, fastest = 0;
    lw_rows_velocities(method->base.model, rows, method->body);
    lw_rows_transposed(rows, method->body, method->defect);
    for (int r = 0; r < rows->count; r++) {
        method->defect[r] -= rows->rate[r];
        worst = fmax(worst, fabs(method->defect[r]));
    }
    for (int k = 0; k < 6 * method->base.model->body_count; k++)
        fastest = fmax(fastest, fabs(method->body[k]));
    return fastest > 0 ? worst / fastest : 0;
}

void lw_loop_method_bias(const lw_loop_method *method, double *bias) {
    const lw_rows *rows = method->rows;
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        bias[r] = -rows->gamma[r];
        for (int b = row->block; b < row->block + row->count; b++) {
            const lw_body_state *body = &rows->bodies[rows->body[b]];
            double arm[3], first[3], second[3]; /* w x (w x c) + g: centre against internal origin */
            lw_v3_sub(body->r, method->data->world[rows->body[b]].p, arm);
            lw_v3_cross(body->w, arm, first);
            lw_v3_cross(body->w, first, second);
            lw_v3_add(second, method->base.model->gravity, second);
            bias[r] += lw_v3_dot(rows->H + 6 * b + 3, second);
        }
    }
}

void lw_loop_method_row_defects(const lw_loop_method *method, double *out) {
    const lw_rows *rows = method->rows;
    const lw_data *data = method->data;
    lw_loop_method_bias(method, out);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        for (int b = row->block; b < row->block + row->count; b++) {
            int body = rows->body[b];
            const double *h = rows->H + 6 * b, *a = data->nodes[body].a;
            double alpha[3], centre[3], arm[3];
            lw_m3_mul_v(data->world[body].R, a, alpha);
            lw_m3_mul_v(data->world[body].R, a + 3, centre);
            lw_v3_sub(rows->bodies[body].r, data->world[body].p, arm);
            lw_v3_add_cross(alpha, arm, centre);
            out[r] += lw_v3_dot(h, alpha) + lw_v3_dot(h + 3, centre);
        }
    }
}

void lw_loop_method_stabilise(lw_loop_method *method) {
    if (method->options.drift != LW_DRIFT_BAUMGARTE) return;
    double alpha = method->options.baumgarte_alpha, beta = method->options.baumgarte_beta;
    lw_loop_method_velocity_defect(method);
    for (int r = 0; r < method->rows->count; r++)
        method->rows->gamma[r] -= 2 * alpha * method->defect[r] + beta * beta * method->rows->phi[r];
}

void lw_loop_method_from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    lw_tree_from_state(base->model, ((lw_loop_method *)base)->data, t, y, q, v);
}

lw_status lw_loop_method_derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                                    lw_error *error) {
    lw_loop_method *method = (lw_loop_method *)base;
    const lw_model *model = base->model;
    lw_data *data = method->data;
    lw_take_state(model, data, t, y, y + model->nq);
    method->integrating = true;
    lw_status status =
        method->solve(method, t, lw_outer_tau(&method->options, model, t, data->q, data->v), error);
    method->integrating = false;
    if (status != LW_OK) return status;
    lw_q_rate_stable(model, data->q, data->v, ydot);
    memcpy(ydot + model->nq, data->vdot, (size_t)model->nv * sizeof *ydot);
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, data->drive);
    return LW_OK;
}

lw_status lw_loop_method_accelerations(lw_method *base, double t, const double *q, const double *v,
                                       const double *tau, double *vdot, double *reactions, bool *unique,
                                       lw_error *error) {
    lw_loop_method *method = (lw_loop_method *)base;
    const lw_model *model = base->model;
    lw_data *data = method->data;
    lw_take_state(model, data, t, q, v);
    method->reacting = reactions != NULL;
    lw_status status = method->solve(method, t, tau, error);
    method->reacting = false;
    if (status != LW_OK) return status;
    memcpy(vdot, data->vdot, (size_t)model->nv * sizeof *vdot);
    if (reactions) {
        memcpy(method->v, data->v, (size_t)model->nv * sizeof *method->v); /* solve may have corrected them */
        lw_loop_method_rows(method); /* solve may know the rows otherwise */
        lw_open_reactions(model, data, t, q, method->v, vdot, reactions);
        lw_loop_constraint_reactions(model, data, method->rows, method->lambda, method->body, reactions);
    }
    if (!unique) return LW_OK;
    lw_take_state(model, data, t, q, v);
    return method->unique ? method->unique(method, t, unique, error)
                          : lw_unique_reactions_at(method->uniqueness, model, t, q, unique, error);
}

void lw_loop_method_multipliers(const lw_method *base, double *multipliers) {
    const lw_loop_method *method = (const lw_loop_method *)base;
    for (int r = 0, next = 0; r < method->rows->count; r++)
        if (method->rows->rows[r].kind == LW_ROW_CONSTRAINT) multipliers[next++] = method->lambda[r];
}

const double *lw_loop_method_speeds(const lw_method *base) { return ((const lw_loop_method *)base)->v; }

void lw_loop_method_violation(lw_method *base, double t, const double *y, double *position,
                              double *velocity) {
    lw_loop_method *method = (lw_loop_method *)base;
    lw_take_state(base->model, method->data, t, y, y + base->model->nq);
    lw_loop_method_rows(method);
    lw_loop_method_velocity_defect(method);
    *position = *velocity = 0;
    for (int r = 0; r < method->rows->count; r++) {
        *position = fmax(*position, fabs(method->rows->phi[r]));
        *velocity = fmax(*velocity, fabs(method->defect[r]));
    }
}
