/* rates.c - the formulation `rates`: angular accelerations and forces; the centres of mass are eliminated.
 *
 * The rows' blocks are split into a rotational part L and a translational part C:  H = (L; C).  With
 * rddot = M^-1 (u_1 + C lambda) from Newton's equations there remain
 *
 *   [  I       -L       ] [  wdot  ]   [           u_2            ]
 *   [ -L'   -C'M^-1 C   ] [ lambda ] = [ C'M^-1 u_1 - gamma       ]                                     (15)
 *
 * In an open chain the translational parts of the rows that have one (index t) are independent. Their matrix
 * G = C'M^-1 C is positive definite, and these rows are eliminated, too. The purely rotational rows, for
 * which C = 0, remain (index s):
 *
 *   [ I + L_t G^-1 L_t'   -L_s ] [  wdot    ]
 *   [      -L_s'           0   ] [ lambda_s ] = ...                                                     (16)
 *
 * In a closed chain G is in general singular: the closures add columns to C, but hardly any rank (62). There
 * (15) is solved directly, without the rows that depend on others (row_independence.c). Divisions by the
 * masses of light bodies leave few digits of the heavy ones in G; refinement.c restores them.
 *
 * Source   Mufti (1983), eqs 15, 16, 49, 63; docs/theory/rates.md.
 * Cost     O((bodies + rows)^3), dense; no allocation but in create.
 * Limits   every body must have mass; inertias may be singular as long as the motion is determined.
 */
#include "constraints/rank/row_independence.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/mufti/refinement.h"
#include "constraints/kkt/kkt_dense.h"

#include <math.h>

typedef struct rates_method {
    lw_absolute_method absolute_base;
    lw_independence *independence;
    lw_refinement *refinement;
    lw_kkt_dense *kkt;
    lw_symmetric *work;
    int forces;        /* number of eliminated rows (t) */
    int stay;          /* number of other rows (s) */
    bool *eliminated;  /* per row: it is eliminated */
    int *index;        /* per row: its index among the eliminated rows, or among the others */
    int *start, *list; /* blocks of body i: list[start[i]] .. list[start[i + 1] - 1] */
    int *row;          /* per block: its row */
    double *K;         /* 3 bodies x 3 bodies: I, or I + L_t G^-1 L_t'; lower triangle */
    double *L;         /* 3 bodies x stay */
    double *S;         /* stay x stay: C'M^-1 C of a closed chain */
    double *G;         /* forces x forces, lower triangle, then its Cholesky factor */
    double *Y;         /* G^-1 L_t', forces x 3 bodies */
    double *x, *f;     /* wdot and lambda_s; lambda_t */
    double norm;       /* norm of G */
} rates_method;

extern const lw_formulation lw_formulation_rates;

/* --- structure ------------------------------------------------------------------------------------ */

/* Lists the blocks of each body, and numbers the rows. The system is in the initial state. */
static void number_rows(rates_method *method) {
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_rows *rows = s->rows;
    int n = s->model->body_count;
    bool open = rows->count == rows->tree_count;
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        /* W of a joint has the same zeros in all states. */
        method->eliminated[r] = open && lw_v3_norm(rows->joints[row->joint].W + 6 * row->component + 3) > 0;
        method->index[r] = method->eliminated[r] ? method->forces++ : method->stay++;
        for (int b = row->block; b < row->block + row->count; b++) {
            method->row[b] = r;
            method->start[rows->body[b]]++; /* counts, shifted by one */
        }
    }
    for (int i = 0; i < n; i++) method->start[i + 1] += method->start[i];
    for (int b = rows->block_count - 1; b >= 0; b--) method->list[--method->start[rows->body[b]]] = b;
    for (int i = 0; i < n; i++) method->start[i] = method->start[i + 1];
    method->start[n] = rows->block_count;
}

/* --- matrices ------------------------------------------------------------------------------------- */

/* Fills K with I, L with L_s, S with C'M^-1 C of the remaining rows, G with that of the eliminated rows, and
 * Y with L_t'. */
static void fill(rates_method *method) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const lw_newton_euler *s = method->absolute_base.system;
    size_t stay = (size_t)method->stay, forces = (size_t)method->forces;
    size_t turns = 3 * (size_t)s->model->body_count;
    bool open = s->rows->count == s->rows->tree_count;
    memset(method->K, 0, turns * turns * sizeof *method->K);
    memset(method->L, 0, turns * stay * sizeof *method->L);
    memset(method->S, 0, (open ? 0 : stay * stay) * sizeof *method->S);
    memset(method->G, 0, forces * forces * sizeof *method->G);
    memset(method->Y, 0, forces * turns * sizeof *method->Y);
    for (int i = 0; i < s->model->body_count; i++) {
        size_t first = 3 * (size_t)i;
        for (size_t k = 0; k < 9; k++)
            method->K[first + k % 3 + (first + k / 3) * turns] = s->inertia[6 * i + symmetric[k]];
        for (int j = method->start[i]; j < method->start[i + 1]; j++) {
            const double *h = s->rows->H + 6 * method->list[j];
            int r = method->row[method->list[j]];
            size_t index = (size_t)method->index[r];
            for (size_t k = 0; k < 3; k++)
                if (method->eliminated[r])
                    method->Y[index + (first + k) * forces] = h[k];
                else
                    method->L[first + k + index * turns] = h[k];
            for (int l = method->start[i]; l <= j; l++) { /* Rows ascend, and so do their indices. */
                int other = method->row[method->list[l]];
                double part = lw_v3_dot(h + 3, s->rows->H + 6 * method->list[l] + 3) / s->mass[i];
                if (method->eliminated[r] != method->eliminated[other]) continue; /* The part is zero then. */
                if (method->eliminated[r])
                    method->G[index + (size_t)method->index[other] * forces] += part;
                else if (!open)
                    method->S[index + (size_t)method->index[other] * stay] += part;
            }
        }
    }
}

/* Adds L_t Y to K, column by column of both. */
static void add_forces(rates_method *method) {
    const lw_newton_euler *s = method->absolute_base.system;
    int turns = 3 * s->model->body_count;
    for (int column = 0; column < turns; column++) {
        double *K = method->K + (size_t)column * (size_t)turns;
        const double *Y = method->Y + (size_t)column * (size_t)method->forces;
        for (int i = column / 3; i < s->model->body_count; i++)
            for (int j = method->start[i]; j < method->start[i + 1]; j++) {
                int b = method->list[j], r = method->row[b];
                if (method->eliminated[r]) lw_v3_axpy(Y[method->index[r]], s->rows->H + 6 * b, K + 3 * i);
            }
    }
}

static lw_status factor(rates_method *method, lw_error *error) {
    const lw_newton_euler *s = method->absolute_base.system;
    fill(method);
    method->norm = lw_symmetric_norm(method->work, method->forces, method->G);
    if (!lw_cholesky_factor(method->work, method->forces, method->G, NULL))
        return lw_kkt_dense_singular(error);
    lw_cholesky_solve(method->work, method->forces, method->G, 3 * s->model->body_count, method->Y);
    add_forces(method);
    lw_independence_at(method->independence, s);
    return lw_kkt_dense_factor(method->kkt, method->K, method->L, method->S, method->independence->kept,
                               method->independence->rows, error);
}

/* --- solution ------------------------------------------------------------------------------------- */

static void solve_for(lw_absolute_method *base, const double *u, const double *gamma, double *a,
                      double *lambda) {
    rates_method *method = (rates_method *)base;
    const lw_newton_euler *s = method->absolute_base.system;
    const lw_rows *rows = s->rows;
    int bodies = s->model->body_count, turns = 3 * bodies;
    double *x = method->x, *of_rows = x + turns, *f = method->f;
    for (int i = 0; i < bodies; i++) lw_v3_copy(u + 6 * i, x + 3 * i);
    for (int r = 0; r < rows->count; r++) { /* C'M^-1 u_1 - gamma */
        double *right = (method->eliminated[r] ? f : of_rows) + method->index[r];
        *right = -gamma[r];
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++) {
            int i = rows->body[b] - 1;
            *right += lw_v3_dot(rows->H + 6 * b + 3, u + 6 * i + 3) / s->mass[i];
        }
    }
    lw_cholesky_solve(method->work, method->forces, method->G, 1, f);
    for (int b = 0; b < rows->block_count; b++) {
        int r = method->row[b];
        if (method->eliminated[r])
            lw_v3_axpy(-f[method->index[r]], rows->H + 6 * b, x + 3 * (rows->body[b] - 1));
    }
    lw_kkt_dense_solve(method->kkt, x);
    lw_dense_times(false, method->forces, turns, -1, method->Y, x, -1, f);
    for (int r = 0; r < rows->count; r++) lambda[r] = (method->eliminated[r] ? f : of_rows)[method->index[r]];
    memcpy(a, u, 6 * (size_t)bodies * sizeof *a); /* rddot = M^-1 (u_1 + C lambda) */
    lw_rows_times(rows, lambda, a);
    for (int i = 0; i < bodies; i++) {
        lw_v3_copy(x + 3 * i, a + 6 * i);
        for (int k = 3; k < 6; k++) a[6 * i + k] /= s->mass[i];
    }
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    rates_method *method = (rates_method *)absolute_base;
    lw_status status = factor(method, error);
    if (status == LW_OK) status = lw_refine(method->refinement, solve_for, &method->absolute_base, error);
    if (status == LW_OK)
        lw_least_multipliers(method->independence, absolute_base->system, absolute_base->system->lambda);
    return status;
}

static double condition(lw_method *base) {
    rates_method *method = (rates_method *)base;
    return fmax(lw_factored_condition(method->work, method->forces, method->G, method->norm, true),
                lw_kkt_dense_condition(method->kkt));
}

/* --- the formulation ------------------------------------------------------------------------------ */

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status = lw_needs_inverse("rates", model, false, error);
    if (status != LW_OK) return status;
    status = lw_dense_limit("rates", 3 * model->body_count + lw_row_count(model), error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

static void destroy(lw_method *base) {
    rates_method *method = (rates_method *)base;
    if (!method) return;
    lw_symmetric_destroy(method->work);
    lw_kkt_dense_destroy(method->kkt);
    lw_independence_destroy(method->independence);
    lw_absolute_method_destroy(&method->absolute_base);
}

static bool make_room(rates_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    const lw_rows *rows = s->rows;
    size_t n = (size_t)s->model->body_count, m = (size_t)rows->count;
    method->eliminated = LW_NEW(s->arena, bool, m);
    method->index = LW_NEW(s->arena, int, m);
    method->start = LW_NEW(s->arena, int, n + 1);
    method->list = LW_NEW(s->arena, int, rows->block_count);
    method->row = LW_NEW(s->arena, int, rows->block_count);
    if (lw_arena_failed(s->arena)) return false;
    number_rows(method);
    size_t stay = (size_t)method->stay, forces = (size_t)method->forces;
    bool open = m == (size_t)rows->tree_count,
         thin = lw_needs_inverse("rates", s->model, true, NULL) != LW_OK;
    method->work = lw_symmetric_create(method->forces);
    method->kkt = lw_kkt_dense_create(3 * (int)n, method->stay, open ? 0 : method->stay, thin);
    method->independence = lw_independence_create(s->model, rows, true);
    if (!method->independence) return false;
    method->refinement = lw_refinement_create(s, s->rows->tree_count, method->independence->kept);
    method->K = LW_NEW(s->arena, double, 9 * n * n + 1);
    method->L = LW_NEW(s->arena, double, 3 * n * stay + 1);
    method->S = LW_NEW(s->arena, double, open ? 1 : stay *stay + 1);
    method->G = LW_NEW(s->arena, double, forces *forces + 1);
    method->Y = LW_NEW(s->arena, double, forces * 3 * n + 1);
    method->x = LW_NEW(s->arena, double, 3 * n + stay + 1);
    method->f = LW_NEW(s->arena, double, forces + 1);
    return method->work && method->kkt && method->refinement && !lw_arena_failed(s->arena);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    rates_method *method = (rates_method *)lw_absolute_method_create(sizeof *method, &lw_formulation_rates,
                                                                     model, options, solve);
    if (!method) return lw_out_of_memory(error);
    lw_newton_euler_rows_at(method->absolute_base.system, 0, model->q0, model->v0); /* for the zeros of W */
    return lw_absolute_method_finish(&method->absolute_base, make_room(method), out, error);
}

const lw_formulation lw_formulation_rates = {
    .name = "rates",
    .source = "mufti1983 15, 16",
    .cost = "O(n^3), dense",
    .dense = true,
    .summary = "angular accelerations from a dense system, the centres of mass eliminated",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 31,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
};
