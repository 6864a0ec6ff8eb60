/* relative.c - the formulation `relative`: the unknowns are the accelerations of the rotations in the joints,
 * and the multipliers of closures and constraints.
 *
 *   wdot = Z vdot + w0,   Z = -T'P,   w0 = -T'Pdot gammadot                                   (43), (58-60)
 *   [  Z'K Z  -Z'N ] [ vdot    ]   [ Z'(right - K w0)     ]
 *   [ -N'Z    -S   ] [ lambda* ] = [ right_star + N'w0    ]                                (57), (61), (73)
 *   Q lambda = T (K wdot - right - N lambda*)                                                        (56)
 *
 * Symbols   P     axes of rotation, one for each rotational speed that is not prescribed; three for a free
 *                 joint, instead of wdot_1 in (61)
 *           Q     directions of the rotational rows, including those of prescribed rotations; w0 satisfies
 *                 all of them
 *
 * Translations of the joints are eliminated with the tree's translations (augmented_bodies.c) and follow
 * afterwards.
 *
 * Source   Mufti (1983), eqs 42-48, 52-61, 65-73, remarks 3 and 5; docs/theory/relative.md.
 * Cost     dense: O(bodies^2) and (rates + rows of closures and constraints)^3 / 3; Cholesky for trees.
 * Limits   a body that slides freely must have mass.
 */
#include "formulations/mufti/augmented_bodies.h"
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "constraints/kkt/kkt_dense.h"
#include "formulations/common/tree_method_base.h"
#include "model/joint.h"

typedef struct relative_method {
    lw_absolute_method absolute_base;
    lw_augmented_bodies *augmented;
    lw_kkt_dense *kkt;
    lw_independence *independence;
    lw_refinement *refinement;
    int rates;
    int *rate_at;            /* 1 .. n + 1: first rate of the joint of body i */
    int *torque_at;          /* 1 .. n + 1: first rotational row of the joint of body i */
    int *speed, *torque_row; /* per rate: its speed in the joint; per rotational row: its row */
    double *P, *dual;    /* 3 per rate: axis, with the sense of the tree; 3 per rotational row: dual to Q */
    double *w0, *torque; /* 3 per body: w0, then wdot; residual torque of the bodies beyond its joint */
    double *rows;        /* Per row of closures and constraints: its residual. */
    double *TKT, *TN, *A, *G; /* T K T', T N, Z'K Z, Z'N */
    double *x;                /* right-hand sides, then vdot and lambda* */
} relative_method;

extern const lw_formulation lw_formulation_relative;

static bool is_rate(const lw_link *link, int k) {
    return lw_joint_speed_turns(link->joint.type, k) && !(link->prescribed >> k & 1);
}

static lw_status applies(const lw_model *model, lw_error *error) {
    int rates = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) rates += is_rate(&model->links[i], k);
    int unknowns = rates + lw_augmented_stars(model), all = 3 * model->body_count; /* K is formed, too. */
    return lw_augmented_applies("relative", model, unknowns > all ? unknowns : all, error);
}

/* Replaces each body's vector by the sum over the body and all bodies beyond it, across every joint of the
 * tree. */
static void gather(const lw_model *model, double *x) {
    for (int i = model->body_count; i >= 1; i--)
        if (model->links[i].parent > 0) lw_v3_axpy(1, x + 3 * (i - 1), x + 3 * (model->links[i].parent - 1));
}

static void spread(const lw_model *model, double *x) {
    for (int i = 1; i <= model->body_count; i++)
        if (model->links[i].parent > 0) lw_v3_axpy(1, x + 3 * (model->links[i].parent - 1), x + 3 * (i - 1));
}

/* Computes P and the duals of Q: (P, dual) is dual to the torques (W_k, Q). */
static void find_axes(relative_method *method) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    for (int i = 1; i <= model->body_count; i++) {
        int j = model->bodies[i].joint_index, count = 0;
        const lw_joint_state *state = &rows->joints[j];
        double sign = model->joints[j].info.bodies[1] == i ? 1 : -1, basis[9], dual[9];
        for (int k = method->rate_at[i]; k < method->rate_at[i + 1]; k++, count++)
            lw_v3_copy(state->W + 6 * method->speed[k], basis + 3 * count);
        for (int k = method->torque_at[i]; k < method->torque_at[i + 1]; k++, count++)
            lw_v3_copy(state->W + 6 * rows->rows[method->torque_row[k]].component, basis + 3 * count);
        lw_dual_basis(basis, dual);
        for (int k = 0; k < 9; k++) dual[k] *= sign;
        int turning = method->rate_at[i + 1] - method->rate_at[i];
        memcpy(method->P + 3 * method->rate_at[i], dual, 3 * (size_t)turning * sizeof *dual);
        memcpy(method->dual + 3 * method->torque_at[i], dual + 3 * turning,
               3 * (size_t)(3 - turning) * sizeof *dual);
    }
}

/* Computes w0 = -T'(Pdot gammadot): the relative angular acceleration of a joint is
 *   sum P_k (vdot_k + W_k'c) + sum dual_r gamma_r.
 * If gamma is not that of the state but a residual, the terms in c are left out. */
static void find_offset(relative_method *method, const double *gamma) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_model *model = s->model;
    bool moving = gamma == s->rows->gamma;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_joint_state *state = &s->rows->joints[model->bodies[i].joint_index];
        double *w0 = method->w0 + 3 * (i - 1);
        lw_v3_set(w0, 0, 0, 0);
        for (int k = method->rate_at[i]; moving && k < method->rate_at[i + 1]; k++)
            lw_v3_axpy(lw_v3_dot(state->W + 6 * method->speed[k], state->c), method->P + 3 * k, w0);
        for (int k = method->torque_at[i]; k < method->torque_at[i + 1]; k++)
            lw_v3_axpy(gamma[method->torque_row[k]], method->dual + 3 * k, w0);
    }
    spread(model, method->w0);
}

/* Computes T K T' and T N: sums of rows, and of columns, over the bodies that each joint carries. */
static void gather_matrices(relative_method *method) {
    const lw_augmented_bodies *a = method->augmented;
    const lw_model *model = method->absolute_base.base.model;
    size_t size = 3 * (size_t)a->n;
    memcpy(method->TKT, a->K, size * size * sizeof *method->TKT);
    memcpy(method->TN, a->N, size * (size_t)a->stars * sizeof *method->TN);
    for (size_t column = 0; column < size; column++) gather(model, method->TKT + column * size);
    for (int column = 0; column < a->stars; column++) gather(model, method->TN + (size_t)column * size);
    for (int i = a->n; i >= 1; i--) {
        int parent = model->links[i].parent;
        if (parent == 0) continue;
        const double *from = method->TKT + 3 * size * (size_t)(i - 1);
        double *to = method->TKT + 3 * size * (size_t)(parent - 1);
        for (size_t k = 0; k < 3 * size; k++) to[k] += from[k];
    }
}

/* Z'K Z and Z'N */
static void project(relative_method *method) {
    const lw_augmented_bodies *a = method->augmented;
    size_t size = 3 * (size_t)a->n, rates = (size_t)method->rates;
    for (int j = 1; j <= a->n; j++)
        for (int l = method->rate_at[j]; l < method->rate_at[j + 1]; l++) {
            double *column = a->y; /* T K T'P_l */
            memset(column, 0, size * sizeof *column);
            for (int c = 0; c < 3; c++) {
                const double *from = method->TKT + (3 * (size_t)(j - 1) + (size_t)c) * size;
                for (size_t k = 0; k < size; k++) column[k] += method->P[3 * l + c] * from[k];
            }
            for (int i = 1; i <= j; i++)
                for (int k = method->rate_at[i]; k < method->rate_at[i + 1]; k++)
                    method->A[(size_t)k + (size_t)l * rates] = method->A[(size_t)l + (size_t)k * rates] =
                        lw_v3_dot(method->P + 3 * k, column + 3 * (i - 1));
        }
    for (int r = 0; r < a->stars; r++)
        for (int i = 1; i <= a->n; i++)
            for (int k = method->rate_at[i]; k < method->rate_at[i + 1]; k++)
                method->G[(size_t)k + (size_t)r * rates] =
                    lw_v3_dot(method->P + 3 * k, method->TN + (size_t)r * size + 3 * (i - 1));
}

/* Computes the residuals of the equations at wdot = w and lambda* = star: T (right - K w + N star) and
 * right_star + N'w + S star. */
static void remaining(const relative_method *method, const double *w, const double *star, double *torque,
                      double *rows) {
    const lw_augmented_bodies *a = method->augmented;
    int size = 3 * a->n;
    memcpy(torque, a->right, (size_t)size * sizeof *torque);
    lw_dense_times(false, size, size, -1, a->K, w, 1, torque);
    lw_dense_times(false, size, a->stars, 1, a->N, star, 1, torque);
    gather(method->absolute_base.base.model, torque);
    memcpy(rows, a->right_star, (size_t)a->stars * sizeof *rows);
    lw_dense_times(true, size, a->stars, 1, a->N, w, 1, rows);
    lw_dense_times(false, a->stars, a->stars, 1, a->S, star, 1, rows);
}

/* w += Z x */
static void turn(const relative_method *method, const double *x, double *w) {
    const lw_augmented_bodies *a = method->augmented;
    double *part = a->w;
    memset(part, 0, 3 * (size_t)a->n * sizeof *part);
    for (int i = 1; i <= a->n; i++)
        for (int k = method->rate_at[i]; k < method->rate_at[i + 1]; k++)
            lw_v3_axpy(x[k], method->P + 3 * k, part + 3 * (i - 1));
    spread(method->absolute_base.base.model, part);
    for (int k = 0; k < 3 * a->n; k++) w[k] += part[k];
}

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *acceleration,
                      double *lambda) {
    relative_method *method = (relative_method *)base;
    lw_augmented_bodies *a = method->augmented;
    double *x = method->x, *star = x + method->rates, *torque = method->torque, *w = method->w0;
    lw_augmented_right(a, u, gamma);
    find_offset(method, gamma);
    memset(star, 0, (size_t)a->stars * sizeof *star);
    remaining(method, w, star, torque, method->rows);
    memcpy(star, method->rows, (size_t)a->stars * sizeof *star);
    for (int i = 1; i <= a->n; i++)
        for (int k = method->rate_at[i]; k < method->rate_at[i + 1]; k++)
            x[k] = lw_v3_dot(method->P + 3 * k, torque + 3 * (i - 1));
    lw_kkt_dense_solve(method->kkt, x);
    turn(method, x, w);
    remaining(method, w, star, torque, method->rows);
    for (int i = 1; i <= a->n; i++)
        for (int k = method->torque_at[i]; k < method->torque_at[i + 1]; k++)
            lambda[method->torque_row[k]] = -lw_v3_dot(method->dual + 3 * k, torque + 3 * (i - 1));
    lw_augmented_expand(a, u, gamma, w, star, acceleration, lambda);
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    relative_method *method = (relative_method *)absolute_base;
    lw_augmented_bodies *a = method->augmented;
    lw_status status = lw_augmented_at(a, error);
    if (status != LW_OK) return status;
    lw_independence_at(method->independence, absolute_base->system);
    find_axes(method);
    gather_matrices(method);
    project(method);
    status = lw_kkt_dense_factor(method->kkt, method->A, method->G, a->S, method->independence->kept,
                                 a->stars, error);
    if (status == LW_OK) status = lw_refine(method->refinement, solve_for, &method->absolute_base, error);
    if (status == LW_OK)
        lw_least_multipliers(method->independence, absolute_base->system, absolute_base->system->lambda);
    return status;
}

static void destroy(lw_method *base) {
    relative_method *method = (relative_method *)base;
    if (!method) return;
    lw_independence_destroy(method->independence);
    lw_kkt_dense_destroy(method->kkt);
    lw_augmented_destroy(method->augmented);
    lw_absolute_method_destroy(&method->absolute_base);
}

static void number_rates(relative_method *method) {
    const lw_model *model = method->absolute_base.base.model;
    const lw_rows *rows = method->absolute_base.system->rows;
    int row = 0, torques = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        method->rate_at[i] = method->rates;
        method->torque_at[i] = torques;
        for (int k = 0; k < link->joint.nv; k++)
            if (is_rate(link, k)) method->speed[method->rates++] = k;
        for (; row < rows->tree_count && rows->rows[row].joint == model->bodies[i].joint_index; row++)
            if (!lw_augmented_is_force(model, &rows->rows[row])) method->torque_row[torques++] = row;
    }
    method->rate_at[model->body_count + 1] = method->rates;
    method->torque_at[model->body_count + 1] = torques;
}

static bool build(relative_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    lw_arena *arena = s->arena;
    lw_augmented_bodies *a = method->augmented = lw_augmented_create(s, false);
    size_t n = (size_t)s->model->body_count;
    method->rate_at = LW_NEW(arena, int, n + 2);
    method->torque_at = LW_NEW(arena, int, n + 2);
    method->speed = LW_NEW(arena, int, 3 * n + 1);
    method->torque_row = LW_NEW(arena, int, 3 * n + 1);
    if (!a || lw_arena_failed(arena)) return false;
    number_rates(method);
    size_t rates = (size_t)method->rates, stars = (size_t)a->stars;
    method->P = LW_NEW(arena, double, 3 * rates + 1);
    method->dual = LW_NEW(arena, double, 3 * (3 * n - rates) + 1);
    method->w0 = LW_NEW(arena, double, 3 * n + 1);
    method->rows = LW_NEW(arena, double, stars + 1);
    method->torque = LW_NEW(arena, double, 3 * n + 1);
    method->TKT = LW_NEW(arena, double, 9 * n * n + 1);
    method->TN = LW_NEW(arena, double, 3 * n * stars + 1);
    method->A = LW_NEW(arena, double, rates *rates + 1);
    method->G = LW_NEW(arena, double, rates *stars + 1);
    method->x = LW_NEW(arena, double, rates + stars + 1);
    bool thin = lw_needs_inverse("relative", s->model, true, NULL) != LW_OK;
    method->kkt = lw_kkt_dense_create(method->rates, a->stars, a->stars, thin);
    method->independence = lw_independence_create(s->model, s->rows, true);
    if (!method->independence) return false;
    method->refinement = lw_refinement_create(s, s->rows->tree_count, method->independence->kept);
    return !lw_arena_failed(arena) && method->kkt && method->refinement;
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    relative_method *method = (relative_method *)lw_absolute_method_create(
        sizeof *method, &lw_formulation_relative, model, options, solve);
    return lw_absolute_method_finish((lw_absolute_method *)method, method && build(method), out, error);
}

static double condition(lw_method *base) { return lw_kkt_dense_condition(((relative_method *)base)->kkt); }

const lw_formulation lw_formulation_relative = {
    .name = "relative",
    .source = "mufti1983 55-61, 73",
    .cost = "O(n^3)",
    .dense = true,
    .summary = "augmented bodies: accelerations of the rotations in the joints, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 34,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = lw_tree_to_state,
    .from_state = lw_jointed_from_state,
    .accelerations = lw_absolute_method_accelerations,
    .multipliers = lw_absolute_method_multipliers,
    .derivative = lw_jointed_derivative,
    .project = lw_jointed_project,
    .violation = lw_jointed_violation,
    .condition = condition,
};
