/* nullspace_graph.c - the formulation `nullspace-graph`: motion without the multipliers of the tree's forces,
 * with Z from the graph.
 *
 *   rddot = N s - T2'H_w'wdot + T2'gamma,   qddot = (s; wdot)                                   (40-d), (69)
 *   Z = [ N  -T2'H_w' ; 0  1 ],   Z'H = 0 for the translational rows of the tree                      (40-d)
 *   [  Z'J Z   -H^ ] [ qddot  ]   [ Z'(u - J a_0) ]
 *   [ -H^'       0 ] [ lambda ] = [ H'a_0 - gamma ],   H^ = Z'H*,  a_0 = (T2'gamma; 0)              (67-73)
 *   f = T2 (M rddot - u_1 - H*_r lambda)                                                              (56)
 *
 * Symbols   H_r, H_w, f    translational rows of the tree's joints; T2 their path matrix, T2 H_r = 1
 *           s, N           translations that these leave free, H_r'N = 0: the paper's r_1 and 1_n for a tree
 *                          of ball joints
 *           H*, lambda     remaining rows: rotational rows of the tree (48), closures and constraints (66)
 *
 * Z follows from the graph without factorisation or rank decision. The remaining rows form a system of the
 * same form (73), without those that depend on others (row_independence.c).
 *
 * Source   Mufti (1983), remark 2 (40-d), 67-73, remarks 3 and 5; docs/theory/nullspace.md, 6.
 * Cost     dense: (3 bodies + slides + remaining rows)^3 / 3; no allocation but in create.
 * Limits   J may be singular as long as the motion is determined.
 */
#include "formulations/mufti/augmented_bodies.h"
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "constraints/kkt/kkt_dense.h"
#include "constraints/projective_criterion.h"
#include "model/joint.h"

#include <math.h>

typedef struct graph_method {
    lw_absolute_method absolute_base;
    lw_augmented_bodies *tree; /* directions of the tree's joints: slides and reach */
    lw_independence *independence;
    lw_refinement *refinement;
    lw_kkt_dense *kkt;
    int size; /* number of unknowns: slides, then 3 per body */
    /* The length of the mechanism, a power of two. It is the unit of slides, so that all entries of J have
     * the unit of mass times its square. */
    double length;
    int left, *row; /* remaining rows: rotational ones of the tree, then closures and constraints */
    double *R;      /* translations of Z: 3 bodies x size */
    double *MR;     /* M R */
    double *J;      /* Z'J Z */
    double *H;      /* Z'H* */
    double *r0;     /* 3 per body: T2'gamma */
    double *f;      /* per translational row */
    double *x, *y;  /* right-hand sides, then qddot and lambda; 3 per body */
} graph_method;

extern const lw_formulation lw_formulation_nullspace_graph;

/* --- matrices ------------------------------------------------------------------------------------- */

/* Computes the translations of Z, column by column. */
static void find_paths(graph_method *method) {
    const lw_augmented_bodies *tree = method->tree;
    const lw_rows *rows = tree->s->rows;
    size_t height = 3 * (size_t)tree->n;
    memset(method->R, 0, height * (size_t)method->size * sizeof *method->R);
    for (int i = 1; i <= tree->n; i++)
        for (int k = tree->slide_at[i]; k < tree->slide_at[i + 1]; k++) {
            double *column = method->R + (size_t)k * height;
            lw_v3_axpy(method->length, tree->slide + 3 * k, column + 3 * (i - 1));
            for (int j = i + 1; j <= tree->n; j++) /* all bodies beyond it */
                if (tree->up[j])
                    lw_v3_add(column + 3 * (j - 1), column + 3 * (tree->up[j] - 1), column + 3 * (j - 1));
        }
    for (int i = 1; i <= tree->n; i++)
        for (int axis = 0; axis < 3; axis++) {
            memset(method->f, 0, (size_t)tree->forces * sizeof *method->f);
            for (int k = 0; k < tree->forces; k++) {
                const lw_row *row = &rows->rows[tree->force_row[k]];
                for (int b = row->block; b < row->block + row->count; b++)
                    if (rows->body[b] == i) method->f[k] -= rows->H[6 * b + axis];
            }
            lw_augmented_displace(tree, method->f,
                                  method->R + (size_t)(tree->slides + 3 * (i - 1) + axis) * height);
        }
}

static void form_J(graph_method *method) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const lw_augmented_bodies *tree = method->tree;
    const lw_newton_euler *s = tree->s;
    size_t height = 3 * (size_t)tree->n, size = (size_t)method->size;
    for (size_t k = 0; k < height * size; k++) method->MR[k] = s->mass[k % height / 3] * method->R[k];
    lw_dense_multiply(true, false, method->size, method->size, (int)height, 1, method->R, method->MR, 0,
                      method->J);
    for (size_t i = 0; i < (size_t)tree->n; i++)
        for (size_t k = 0; k < 9; k++) {
            size_t first = (size_t)tree->slides + 3 * i;
            method->J[first + k % 3 + (first + k / 3) * size] += s->inertia[6 * i + (size_t)symmetric[k]];
        }
}

static void form_H(graph_method *method) {
    const lw_augmented_bodies *tree = method->tree;
    const lw_rows *rows = tree->s->rows;
    int height = 3 * tree->n;
    for (int r = 0; r < method->left; r++) {
        const lw_row *row = &rows->rows[method->row[r]];
        double *column = method->H + (size_t)r * (size_t)method->size, *force = method->y;
        memset(force, 0, (size_t)height * sizeof *force);
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_copy(rows->H + 6 * b + 3, force + 3 * (rows->body[b] - 1));
        lw_dense_times(true, height, method->size, 1, method->R, force, 0, column);
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_axpy(1, rows->H + 6 * b, column + tree->slides + 3 * (rows->body[b] - 1));
    }
}

/* --- solution ------------------------------------------------------------------------------------- */

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *a,
                      double *lambda) {
    graph_method *method = (graph_method *)base;
    lw_augmented_bodies *tree = method->tree;
    const lw_newton_euler *s = tree->s;
    const lw_rows *rows = s->rows;
    int height = 3 * tree->n;
    double *x = method->x, *of_rows = x + method->size, *y = method->y, *r0 = method->r0;
    for (int k = 0; k < tree->forces; k++) method->f[k] = gamma[tree->force_row[k]];
    lw_augmented_displace(tree, method->f, r0);
    for (int i = 0; i < tree->n; i++)
        for (int k = 0; k < 3; k++) y[3 * i + k] = u[6 * i + 3 + k] - s->mass[i] * r0[3 * i + k];
    lw_dense_times(true, height, method->size, 1, method->R, y, 0, x);
    for (int i = 0; i < tree->n; i++) lw_v3_axpy(1, u + 6 * i, x + tree->slides + 3 * i);
    for (int r = 0; r < method->left; r++) {
        const lw_row *row = &rows->rows[method->row[r]];
        of_rows[r] = -gamma[method->row[r]];
        for (int b = row->block; b < row->block + row->count; b++)
            of_rows[r] += lw_v3_dot(rows->H + 6 * b + 3, r0 + 3 * (rows->body[b] - 1));
    }
    lw_kkt_dense_solve(method->kkt, x);
    lw_dense_times(false, height, method->size, 1, method->R, x, 1, r0); /* rddot */
    for (int i = 0; i < tree->n; i++) {
        lw_v3_copy(x + tree->slides + 3 * i, a + 6 * i);
        lw_v3_copy(r0 + 3 * i, a + 6 * i + 3);
        for (int k = 0; k < 3; k++) y[3 * i + k] = s->mass[i] * r0[3 * i + k] - u[6 * i + 3 + k];
    }
    for (int r = 0; r < method->left; r++) {
        const lw_row *row = &rows->rows[method->row[r]];
        lambda[method->row[r]] = of_rows[r];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_axpy(-of_rows[r], rows->H + 6 * b + 3, y + 3 * (rows->body[b] - 1));
    }
    lw_augmented_forces(tree, y, method->f);
    for (int k = 0; k < tree->forces; k++) lambda[tree->force_row[k]] = method->f[k];
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    graph_method *method = (graph_method *)absolute_base;
    lw_augmented_directions(method->tree);
    lw_independence_at(method->independence, absolute_base->system);
    find_paths(method);
    form_J(method);
    form_H(method);
    lw_status status = lw_kkt_dense_factor(method->kkt, method->J, method->H, NULL,
                                           method->independence->kept, method->independence->rows, error);
    if (status == LW_OK) status = lw_refine(method->refinement, solve_for, &method->absolute_base, error);
    if (status == LW_OK)
        lw_least_multipliers(method->independence, absolute_base->system, absolute_base->system->lambda);
    return status;
}

/* --- the formulation ------------------------------------------------------------------------------ */

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status =
        lw_dense_limit("nullspace-graph", 6 * model->body_count + lw_augmented_stars(model), error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

static void destroy(lw_method *base) {
    graph_method *method = (graph_method *)base;
    if (!method) return;
    lw_kkt_dense_destroy(method->kkt);
    lw_independence_destroy(method->independence);
    lw_augmented_destroy(method->tree);
    lw_absolute_method_destroy(&method->absolute_base);
}

static bool build(graph_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    lw_augmented_bodies *tree = method->tree = lw_augmented_create(s, true);
    method->row = LW_NEW(s->arena, int, s->rows->count + 1);
    method->independence = lw_independence_create(s->model, s->rows, true);
    if (!tree || !method->row || !method->independence) return false;
    for (int r = 0; r < s->rows->count; r++)
        if (r >= s->rows->tree_count || !lw_augmented_is_force(s->model, &s->rows->rows[r]))
            method->row[method->left++] = r;
    size_t height = 3 * (size_t)tree->n, size = height + (size_t)tree->slides, left = (size_t)method->left;
    method->size = (int)size;
    method->length = ldexp(1, ilogb(lw_longest_arm(s->model)));
    method->refinement = lw_refinement_create(s, s->rows->tree_count, method->independence->kept);
    bool thin = lw_needs_inverse("nullspace-graph", s->model, true, NULL) != LW_OK;
    method->kkt = lw_kkt_dense_create(method->size, method->left, 0, thin);
    method->R = LW_NEW(s->arena, double, height *size + 1);
    method->MR = LW_NEW(s->arena, double, height *size + 1);
    method->J = LW_NEW(s->arena, double, size *size + 1);
    method->H = LW_NEW(s->arena, double, size *left + 1);
    method->r0 = LW_NEW(s->arena, double, height + 1);
    method->y = LW_NEW(s->arena, double, height + 1);
    method->f = LW_NEW(s->arena, double, tree->forces + 1);
    method->x = LW_NEW(s->arena, double, size + left + 1);
    return method->refinement && method->kkt && !lw_arena_failed(s->arena);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    graph_method *method = (graph_method *)lw_absolute_method_create(
        sizeof *method, &lw_formulation_nullspace_graph, model, options, solve);
    return lw_absolute_method_finish((lw_absolute_method *)method, method && build(method), out, error);
}

static double condition(lw_method *base) { return lw_kkt_dense_condition(((graph_method *)base)->kkt); }

const lw_formulation lw_formulation_nullspace_graph = {
    .name = "nullspace-graph",
    .source = "mufti1983 40-d, 67-73",
    .cost = "O(n^3), dense",
    .summary = "motion only, in a basis written down from the graph: free translations, all rotations",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 38,
    .dense = true,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
};
