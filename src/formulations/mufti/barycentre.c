/* barycentre.c - the formulation `barycentre`: angular accelerations of all bodies, with augmented bodies.
 *
 *   [  K     -C Q  -N ] [ wdot    ]   [ right      ]
 *   [ -Q'C'   0     0 ] [ lambda  ] = [ u4         ]                                        (38), (51), (73)
 *   [ -N'     0    -S ] [ lambda* ]   [ right_star ]
 *
 * Without rotational rows and closures (a tree of ball joints) this is K wdot = right (38), by Cholesky.
 *
 * K is a sum of masses, in which light bodies lose digits; refinement.c restores them.
 *
 * Source   Mufti (1983), eqs 28-38, 51, 65-73, remarks 3 and 5; docs/theory/barycentre.md. augmented_bodies.c
 *          builds K, N, S.
 * Cost     dense: (3 bodies + rotational rows + rows of closures and constraints)^3 / 3.
 * Limits   a body that slides freely must have mass.
 */
#include "formulations/mufti/augmented_bodies.h"
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "constraints/kkt/kkt_dense.h"
#include "model/joint.h"

typedef struct barycentre_method {
    lw_absolute_method absolute_base;
    lw_augmented_bodies *augmented;
    lw_kkt_dense *kkt;
    lw_independence *independence;
    lw_refinement *refinement;
    int torques, *torque_row; /* rotational rows of the tree: C Q */
    double *G;                /* (C Q, N) */
    double *x;                /* right-hand sides, then wdot, lambda, lambda* */
} barycentre_method;

extern const lw_formulation lw_formulation_barycentre;

static lw_status applies(const lw_model *model, lw_error *error) {
    int unknowns = 3 * model->body_count + lw_augmented_stars(model);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        unknowns += 3;
        for (int k = 0; k < link->joint.nv; k++)
            unknowns -= lw_joint_speed_turns(link->joint.type, k) && !(link->prescribed >> k & 1);
    }
    return lw_augmented_applies("barycentre", model, unknowns, error);
}

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *acceleration,
                      double *lambda) {
    barycentre_method *method = (barycentre_method *)base;
    lw_augmented_bodies *a = method->augmented;
    size_t size = 3 * (size_t)a->n;
    double *x = method->x, *u4 = x + size, *right_star = u4 + method->torques;
    lw_augmented_right(a, u, gamma);
    memcpy(x, a->right, size * sizeof *x);
    memcpy(right_star, a->right_star, (size_t)a->stars * sizeof *x);
    for (int k = 0; k < method->torques; k++) u4[k] = -gamma[method->torque_row[k]];
    lw_kkt_dense_solve(method->kkt, x);
    for (int k = 0; k < method->torques; k++) lambda[method->torque_row[k]] = u4[k];
    lw_augmented_expand(a, u, gamma, x, right_star, acceleration, lambda);
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    barycentre_method *method = (barycentre_method *)absolute_base;
    lw_augmented_bodies *a = method->augmented;
    lw_newton_euler *s = absolute_base->system;
    size_t size = 3 * (size_t)a->n;
    int torques = method->torques;
    lw_status status = lw_augmented_at(a, error);
    if (status != LW_OK) return status;
    lw_independence_at(method->independence, s);
    memset(method->G, 0, size * (size_t)torques * sizeof *method->G);
    for (int k = 0; k < torques; k++) {
        const lw_row *row = &s->rows->rows[method->torque_row[k]];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_copy(s->rows->H + 6 * b, method->G + size * (size_t)k + 3 * (s->rows->body[b] - 1));
    }
    memcpy(method->G + size * (size_t)torques, a->N, size * (size_t)a->stars * sizeof *method->G);
    status =
        lw_kkt_dense_factor(method->kkt, a->K, method->G, a->S, method->independence->kept, a->stars, error);
    if (status == LW_OK) status = lw_refine(method->refinement, solve_for, &method->absolute_base, error);
    if (status == LW_OK) lw_least_multipliers(method->independence, s, s->lambda);
    return status;
}

static void destroy(lw_method *base) {
    barycentre_method *method = (barycentre_method *)base;
    if (!method) return;
    lw_independence_destroy(method->independence);
    lw_kkt_dense_destroy(method->kkt);
    lw_augmented_destroy(method->augmented);
    lw_absolute_method_destroy(&method->absolute_base);
}

static bool build(barycentre_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    lw_augmented_bodies *a = method->augmented = lw_augmented_create(s, false);
    method->torque_row = LW_NEW(s->arena, int, s->rows->tree_count + 1);
    if (!a || !method->torque_row) return false;
    for (int r = 0; r < s->rows->tree_count; r++)
        if (!lw_augmented_is_force(s->model, &s->rows->rows[r])) method->torque_row[method->torques++] = r;
    size_t size = 3 * (size_t)a->n, rows = (size_t)method->torques + (size_t)a->stars;
    method->G = LW_NEW(s->arena, double, size *rows + 1);
    method->x = LW_NEW(s->arena, double, size + rows + 1);
    bool thin = lw_needs_inverse("barycentre", s->model, true, NULL) != LW_OK;
    method->kkt = lw_kkt_dense_create(3 * a->n, (int)rows, a->stars, thin);
    method->independence = lw_independence_create(s->model, s->rows, true);
    if (!method->independence) return false;
    method->refinement = lw_refinement_create(s, s->rows->tree_count, method->independence->kept);
    return !lw_arena_failed(s->arena) && method->kkt && method->refinement;
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    barycentre_method *method = (barycentre_method *)lw_absolute_method_create(
        sizeof *method, &lw_formulation_barycentre, model, options, solve);
    return lw_absolute_method_finish((lw_absolute_method *)method, method && build(method), out, error);
}

static double condition(lw_method *base) { return lw_kkt_dense_condition(((barycentre_method *)base)->kkt); }

const lw_formulation lw_formulation_barycentre = {
    .name = "barycentre",
    .source = "mufti1983 28-38, 51, 73",
    .cost = "O(n^3)",
    .dense = true,
    .summary = "augmented bodies: angular accelerations of all bodies first, absolute coordinates",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 33,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
};
