/* rates.c - the formulation `rates`: angular accelerations and forces; the centres of mass are eliminated.
 *
 * The rows' blocks are split into a rotational part L and a translational part C:  H = (L; C).  With
 * rddot = M^-1 (u_1 + C lambda) from Newton's equations there remain
 *
 *   [  I       -L       ] [  wdot  ]   [           u_2            ]
 *   [ -L'   -C'M^-1 C   ] [ lambda ] = [ C'M^-1 u_1 - gamma       ]                                     (15)
 *
 * In an open chain the rows that have a translational part are independent by it, G = C'M^-1 C is positive definite,
 * and they are eliminated, too (index t; s: the rows that only turn, for which C = 0):
 *
 *   [ I + L_t G^-1 L_t'   -L_s ] [  wdot    ]
 *   [      -L_s'           0   ] [ lambda_s ] = ...                                                     (16)
 *
 * In a closed chain G is in general singular: the closures add columns to C, but hardly any rank (62). There (15) is solved
 * as it is. The rows that stay get a small -E on the diagonal, and corrections by the residual with E = 0, as in
 * kkt.c, so that dependent rows do no harm.
 *
 * Source   Mufti (1983), eqs 15, 16, 49, 63; docs/theory/rates.md. E and the corrections are ours.
 * Cost     O((bodies + rows)^3), dense; no allocation but in create.
 * Limits   every body must have mass; inertias may be singular as long as the motion is determined.
 */
#include "formulations/reduction.h"
#include "formulations/scaling.h"
#include "linalg/dense.h"

#include <math.h>

/* E relative to the inverse of the mass that a row meets. */
static const double softness = 1e-9;

typedef struct rates_method {
    lw_reduction reduction;
    lw_symmetric *work;
    bool thin;         /* some inertia is singular: K may be */
    int forces;        /* rows that are eliminated: t */
    int size;          /* 3 bodies + rows that stay */
    bool *eliminated;  /* per row */
    int *place;        /* per row: among the eliminated ones, or in K */
    int *start, *list; /* blocks by body: list[start[i]] .. */
    int *row;          /* per block */
    double *K;         /* size x size, lower triangle */
    double *G;         /* forces x forces, lower triangle, then its Cholesky factor */
    double *Y;         /* G^-1 L_t', forces x 3 bodies */
    double *F;         /* u + H lambda, 6 per body */
    double *top;       /* residual of the torques, 3 per body */
    double *bottom;    /* residual of the rows */
    double *mobility;  /* per row: scaling.h */
    double *x, *f;     /* wdot and lambda_s; lambda_t */
} rates_method;

extern const lw_formulation lw_formulation_rates;

/* --- structure ------------------------------------------------------------------------------------ */

/* Lists the blocks of each body, and gives each row its place. The state in the system is the initial one. */
static void number_rows(rates_method *method) {
    const lw_stationary *s = method->reduction.system;
    const lw_rows *rows = s->rows;
    int n = s->model->body_count;
    bool open = rows->count == rows->tree_count;
    method->size = 3 * n;
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        /* W of a joint has the same zeros in all states */
        method->eliminated[r] = open && lw_v3_norm(rows->joints[row->joint].W + 6 * row->component + 3) > 0;
        method->place[r] = method->eliminated[r] ? method->forces++ : method->size++;
        for (int b = row->block; b < row->block + row->count; b++) {
            method->row[b] = r;
            method->start[rows->body[b]]++; /* counts, one place further */
        }
    }
    for (int i = 0; i < n; i++) method->start[i + 1] += method->start[i];
    for (int b = rows->block_count - 1; b >= 0; b--) method->list[--method->start[rows->body[b]]] = b;
    for (int i = 0; i < n; i++) method->start[i] = method->start[i + 1];
    method->start[n] = rows->block_count;
}

/* --- matrices ------------------------------------------------------------------------------------- */

/* -E */
static void soften(rates_method *method) {
    const lw_stationary *s = method->reduction.system;
    lw_row_mobilities(s->rows, s->inertia, s->mass, method->mobility);
    for (int r = 0; r < s->rows->count; r++) {
        size_t at = (size_t)method->place[r] * ((size_t)method->size + 1);
        if (!method->eliminated[r]) method->K[at] -= softness * method->mobility[r];
    }
}

/* I, -L_s' and -C'M^-1 C into K; C'M^-1 C of the eliminated rows into G, L_t' into Y. */
static void fill(rates_method *method) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const lw_stationary *s = method->reduction.system;
    size_t size = (size_t)method->size, forces = (size_t)method->forces;
    size_t turns = 3 * (size_t)s->model->body_count;
    memset(method->K, 0, size * size * sizeof *method->K);
    memset(method->G, 0, forces * forces * sizeof *method->G);
    memset(method->Y, 0, forces * turns * sizeof *method->Y);
    for (int i = 0; i < s->model->body_count; i++) {
        size_t first = 3 * (size_t)i;
        for (size_t k = 0; k < 9; k++)
            method->K[first + k % 3 + (first + k / 3) * size] = s->inertia[6 * i + symmetric[k]];
        for (int j = method->start[i]; j < method->start[i + 1]; j++) {
            const double *h = s->rows->H + 6 * method->list[j];
            int r = method->row[method->list[j]];
            size_t place = (size_t)method->place[r];
            for (size_t k = 0; k < 3; k++)
                if (method->eliminated[r])
                    method->Y[place + (first + k) * forces] = h[k];
                else
                    method->K[place + (first + k) * size] = -h[k];
            for (int l = method->start[i]; l <= j; l++) { /* rows ascend, and so do their places */
                int other = method->row[method->list[l]];
                double part = lw_v3_dot(h + 3, s->rows->H + 6 * method->list[l] + 3) / s->mass[i];
                if (method->eliminated[r] != method->eliminated[other]) continue; /* then part is zero */
                if (method->eliminated[r])
                    method->G[place + (size_t)method->place[other] * forces] += part;
                else
                    method->K[place + (size_t)method->place[other] * size] -= part;
            }
        }
    }
}

/* K += L_t Y, column by column of both. */
static void add_forces(rates_method *method) {
    const lw_stationary *s = method->reduction.system;
    for (int column = 0; column < 3 * s->model->body_count; column++) {
        double *K = method->K + (size_t)column * (size_t)method->size;
        const double *Y = method->Y + (size_t)column * (size_t)method->forces;
        for (int i = column / 3; i < s->model->body_count; i++)
            for (int j = method->start[i]; j < method->start[i + 1]; j++) {
                int b = method->list[j], r = method->row[b];
                if (method->eliminated[r]) lw_v3_axpy(Y[method->place[r]], s->rows->H + 6 * b, K + 3 * i);
            }
    }
}

static lw_status undetermined(lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, "give inertia to the bodies that turn freely without any",
                   "the equations of motion are singular: some acceleration is not determined");
}

/* condition (may be NULL) receives that of the worse of the two matrices. */
static lw_status factor(rates_method *method, double *condition, lw_error *error) {
    double of_forces = 1;
    fill(method);
    soften(method);
    bool regular = lw_cholesky_factor(method->work, method->forces, method->G, condition ? &of_forces : NULL);
    if (regular) {
        lw_cholesky_solve(method->work, method->forces, method->G,
                          3 * method->reduction.system->model->body_count, method->Y);
        add_forces(method);
        regular = lw_symmetric_factor(method->work, method->size, method->K, condition);
    }
    if (condition) *condition = regular ? fmax(*condition, of_forces) : HUGE_VAL;
    return regular ? LW_OK : undetermined(error);
}

/* --- solution ------------------------------------------------------------------------------------- */

/* Residuals of (15) with E = 0 at wdot and lambda in the system, where rddot follows from them. Returns the largest
 * one relative to the terms that make it up; torque receives that of the torques. */
static double residual_of(rates_method *method, double *torque) {
    lw_stationary *s = method->reduction.system;
    int bodies = s->model->body_count;
    double worst = 0, scale = 0, worst_row = 0, row_scale = 0;
    memcpy(method->F, s->u, 6 * (size_t)bodies * sizeof *method->F);
    lw_rows_times(s->rows, s->lambda, method->F);
    for (int i = 0; i < bodies; i++) {
        const double *F = method->F + 6 * i;
        double *a = s->a + 6 * i, Iw[3];
        lw_s3_mul_v(s->inertia + 6 * i, a, Iw);
        for (int k = 0; k < 3; k++) {
            a[3 + k] = F[3 + k] / s->mass[i];
            method->top[3 * i + k] = F[k] - Iw[k];
            worst = fmax(worst, fabs(F[k] - Iw[k]));
            scale = fmax(scale, fmax(fabs(s->u[6 * i + k]), fabs(Iw[k])));
        }
    }
    for (int r = 0; r < s->rows->count; r++) {
        const lw_row *row = &s->rows->rows[r];
        double sum = -s->rows->gamma[r];
        row_scale = fmax(row_scale, fabs(sum));
        for (int b = row->block; b < row->block + row->count; b++) {
            const double *h = s->rows->H + 6 * b;
            double part = lw_v6_dot(h, s->a + 6 * (s->rows->body[b] - 1));
            sum += part;
            row_scale = fmax(row_scale, fabs(part));
            scale = fmax(scale, fabs(s->lambda[r]) * lw_v3_norm(h));
        }
        method->bottom[r] = sum;
        worst_row = fmax(worst_row, fabs(sum));
    }
    *torque = scale > 0 ? worst / scale : 0;
    return fmax(*torque, row_scale > 0 ? worst_row / row_scale : 0);
}

/* Adds the solution for the right-hand sides top and bottom to wdot and lambda of the system. */
static void add_solution(rates_method *method) {
    lw_stationary *s = method->reduction.system;
    const lw_rows *rows = s->rows;
    int turns = 3 * s->model->body_count;
    double *x = method->x, *f = method->f;
    memcpy(x, method->top, (size_t)turns * sizeof *x);
    for (int r = 0; r < rows->count; r++)
        *((method->eliminated[r] ? f : x) + method->place[r]) = method->bottom[r];
    lw_cholesky_solve(method->work, method->forces, method->G, 1, f);
    for (int b = 0; b < rows->block_count; b++) {
        int r = method->row[b];
        if (method->eliminated[r])
            lw_v3_axpy(-f[method->place[r]], rows->H + 6 * b, x + 3 * (rows->body[b] - 1));
    }
    lw_symmetric_solve(method->work, method->size, method->K, 1, x);
    lw_dense_times(false, method->forces, turns, -1, method->Y, x, -1, f);
    for (int i = 0; i < s->model->body_count; i++) lw_v3_axpy(1, x + 3 * i, s->a + 6 * i);
    for (int r = 0; r < rows->count; r++) s->lambda[r] += (method->eliminated[r] ? f : x)[method->place[r]];
}

static lw_status solve(lw_reduction *reduction, lw_error *error) {
    enum { ROUNDS = 60 };
    const double rounding = 4e-16, enough = 1e-6; /* torques that do not balance: K was singular */
    const double singular = 1e15;                 /* softness alone makes a condition of 1e9 to 1e12 */
    rates_method *method = (rates_method *)reduction;
    lw_stationary *s = reduction->system;
    double estimate = 1, before = HUGE_VAL, torque = 0;
    lw_status status = factor(method, method->thin ? &estimate : NULL, error);
    if (status != LW_OK) return status;
    if (!(estimate < singular)) return undetermined(error);
    memset(s->a, 0, 6 * (size_t)s->model->body_count * sizeof *s->a);
    memset(s->lambda, 0, (size_t)s->rows->count * sizeof *s->lambda);
    for (int round = 0;; round++) {
        double now = residual_of(method, &torque);
        if (!(now > rounding) || round == ROUNDS || (round > 3 && now > 0.9 * before)) break;
        before = now;
        add_solution(method);
    }
    return torque < enough ? LW_OK : undetermined(error);
}

/* Of the state in the system: K is overwritten by its factors, so it is filled and factored once more. */
static double condition(lw_method *base) {
    double estimate = 1;
    factor((rates_method *)base, &estimate, NULL);
    return estimate;
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
    lw_reduction_destroy(&method->reduction);
}

static bool make_room(rates_method *method) {
    lw_stationary *s = method->reduction.system;
    const lw_rows *rows = s->rows;
    size_t n = (size_t)s->model->body_count, m = (size_t)rows->count;
    method->eliminated = LW_NEW(s->arena, bool, m);
    method->place = LW_NEW(s->arena, int, m);
    method->start = LW_NEW(s->arena, int, n + 1);
    method->list = LW_NEW(s->arena, int, rows->block_count);
    method->row = LW_NEW(s->arena, int, rows->block_count);
    if (!method->eliminated || !method->place || !method->start || !method->list || !method->row)
        return false;
    number_rows(method);
    size_t size = (size_t)method->size, forces = (size_t)method->forces;
    method->work = lw_symmetric_create((int)(size > forces ? size : forces));
    method->K = LW_NEW(s->arena, double, size *size);
    method->G = LW_NEW(s->arena, double, forces *forces);
    method->Y = LW_NEW(s->arena, double, forces * 3 * n);
    method->F = LW_NEW(s->arena, double, 6 * n);
    method->top = LW_NEW(s->arena, double, 3 * n);
    method->bottom = LW_NEW(s->arena, double, m);
    method->mobility = LW_NEW(s->arena, double, m);
    method->x = LW_NEW(s->arena, double, size);
    method->f = LW_NEW(s->arena, double, forces);
    return method->work && method->K && method->G && method->Y && method->F && method->top &&
           method->bottom && method->mobility && method->x && method->f;
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    rates_method *method =
        (rates_method *)lw_reduction_create(sizeof *method, &lw_formulation_rates, model, options, solve);
    if (!method) return lw_out_of_memory(error);
    method->thin = lw_needs_inverse("rates", model, true, NULL) != LW_OK;
    lw_stationary_rows_at(method->reduction.system, 0, model->q0, model->v0); /* for the zeros of W */
    if (!make_room(method)) {
        destroy(&method->reduction.base);
        return lw_out_of_memory(error);
    }
    *out = &method->reduction.base;
    return LW_OK;
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
