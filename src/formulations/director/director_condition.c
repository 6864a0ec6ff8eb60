/* director_condition.c - condition numbers of the iteration matrices of betsch2006, Tables II to V.
 *
 * director-full   [ K     h G(qm)' ]    K = (2/h) M + h sum lambda Phi''/2 + forces, with all rows that have
 *                 [ G(q1)    0     ]    multipliers
 * director        [ Z'P(qm)'K P(q1) ]   P the null-space matrix of the tree (187), K with the multipliers of
 *                 [ C(q1) P(q1)     ]   its joints, C the closure rows (190), Z an orthonormal basis of
 *                                       the null space of C(qm) P(qm); without loops Z = 1, and there is no C
 *
 * Both matrices are the derivatives of what the schemes solve: d(P'r) = P'dr + dP'r with r = -h G'lambda at
 * the solution, and G P = 0 along all motions, so dP'r = P'dG'(h lambda). The multipliers take the place of
 * the derivative of P.
 *
 * Where closure rows depend on each other the paper does not say which ones it takes. Here the last step
 * takes those that pivoting chooses on the rows as (190) writes them, in their own units; every other step is
 * the method's own.
 *
 * The condition number is |A| |A^-1|. Rows and columns of A differ by powers of h, so that the small singular
 * values of A itself would be lost beyond 1e16. Therefore A^-1 comes from the matrix with rows and columns
 * scaled to size one, whose inverse has small relative errors.
 *
 * Source   Betsch and Leyendecker (2006), section 5.
 * Cost     cubic in the number of unknowns. Allocates: an analysis, not a step.
 */
#include "formulations/director/director_parts.h"
#include "model/coupling.h"
#include "formulations/common/absolute_method_base.h"
#include "linalg/dense.h"
#include <linkwork/assemble.h>
#include <linkwork/director.h>

#include <math.h>
#include <string.h>

static double *matrix(lw_arena *arena, int rows, int columns) {
    return LW_NEW(arena, double, (size_t)rows *(size_t)columns + 1);
}

/* --- condition of a square matrix ----------------------------------------------------------------- */

typedef struct decomposition {
    int n;
    lw_orthogonal *work;
    double *A, *s, *U, *Vt, *row, *column;
} decomposition;

static bool decomposition_create(decomposition *x, int n, lw_arena *arena) {
    *x = (decomposition){.n = n, .work = lw_orthogonal_create(n, n, true)};
    x->A = matrix(arena, n, n), x->U = matrix(arena, n, n), x->Vt = matrix(arena, n, n);
    x->s = matrix(arena, n, 1), x->row = matrix(arena, n, 1), x->column = matrix(arena, n, 1);
    return x->work && !lw_arena_failed(arena);
}

static double norm(decomposition *x, const double *A) {
    memcpy(x->A, A, (size_t)x->n * (size_t)x->n * sizeof *A);
    lw_svd(x->work, x->n, x->n, x->A, x->s, x->U, x->Vt, 0);
    return x->s[0];
}

/* Finds factors that bring the largest entry of every row and column near one. They are powers of two, so
 * that scaling is exact. */
static void equilibrate(decomposition *x, const double *A) {
    int n = x->n;
    for (int k = 0; k < n; k++) x->row[k] = x->column[k] = 1;
    for (int pass = 0; pass < 20; pass++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                double most = 0, *mine = side ? &x->column[i] : &x->row[i];
                for (int j = 0; j < n; j++) {
                    int r = side ? j : i, c = side ? i : j;
                    most = fmax(most, fabs(A[r + c * n]) * x->row[r] * x->column[c]);
                }
                if (most > 0) *mine *= exp2(-round(0.5 * log2(most)));
            }
}

static lw_status condition_of(int n, double *A, double *condition, lw_arena *arena, lw_error *error) {
    decomposition x;
    if (!decomposition_create(&x, n, arena)) {
        lw_orthogonal_destroy(x.work);
        return lw_out_of_memory(error);
    }
    double own = norm(&x, A);
    equilibrate(&x, A);
    for (int c = 0; c < n; c++)
        for (int r = 0; r < n; r++) A[r + c * n] *= x.row[r] * x.column[c];
    norm(&x, A);
    double least = x.s[n - 1];
    for (int c = 0; c < n; c++) /* A^-1 = columns V s^-1 U' rows */
        for (int r = 0; r < n; r++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += x.Vt[k + r * n] * x.U[c + k * n] / x.s[k];
            A[r + c * n] = x.column[r] * sum * x.row[c];
        }
    *condition = least > 0 ? own * norm(&x, A) : INFINITY;
    lw_orthogonal_destroy(x.work);
    return isfinite(*condition)
               ? LW_OK
               : lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL, "Newton's matrix is singular");
}

/* --- director-full -------------------------------------------------------------------------------- */

/* Rows without multipliers are a one on the diagonal of the matrix. The condition is that of the others. */
static lw_status full_condition(lw_director *d, double *condition, lw_arena *arena, lw_error *error) {
    int size = lw_block_matrix_size(d->sparse.matrix), n = 0;
    int *kept = LW_NEW(arena, int, size + 1);
    double *all = matrix(arena, size, size), *A = matrix(arena, size, size);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    lw_block_matrix_dense(d->sparse.matrix, all);
    for (int k = 0; k < 12 * d->n; k++) kept[n++] = k;
    for (int r = 0; r < d->row_count; r++)
        if (!d->rows[r].dropped) kept[n++] = lw_block_matrix_start(d->sparse.matrix, d->n + r);
    for (int c = 0; c < n; c++)
        for (int r = 0; r < n; r++) A[r + c * n] = all[kept[r] + kept[c] * size];
    return condition_of(n, A, condition, arena, error);
}

/* --- director ------------------------------------------------------------------------------------- */

typedef struct reduced {
    int speeds, loop_rows;    /* numbers of free speeds of the tree, and of closure rows with multipliers */
    double *middle, *end;     /* P(qm), P(q1): 6 per body x speeds */
    double *C_middle, *C_end; /* closure rows in speeds: loop_rows x speeds */
    double *A;                /* P(qm)'K P(q1): speeds x speeds */
} reduced;

typedef enum instant { BEGIN, MIDDLE, END } instant;

/* Row r in twists of the bodies times each column of P, all at one instant of the step; slopes are those of
 * that instant. */
static void row_in_speeds(const lw_director *d, int r, instant at, const double *P, int speeds, int stride,
                          double *out) {
    const lw_director_row *row = &d->rows[r];
    const double *q = at == BEGIN ? d->step.q0 : at == MIDDLE ? d->step.qm : d->step.q1;
    for (int k = 0; k < speeds; k++) out[k * stride] = 0;
    for (int t = row->term; t < row->term + row->terms; t++) {
        const lw_director_term *term = &d->terms[t];
        const lw_measure *m = &d->measures[term->measure];
        double factor = at == END ? term->end : term->factor;
        if (at == BEGIN && term->curved) factor = lw_coupling_term(term->curved, term->number, m->from).slope;
        for (int side = 0; side < 2; side++) {
            double wrench[6];
            int body = m->bodies[side];
            if (body == 0) continue;
            lw_director_wrench(q + 12 * body, (at == MIDDLE ? m->D : m->slope) + 12 * side, wrench);
            for (int k = 0; k < speeds; k++)
                out[k * stride] += factor * lw_v6_dot(wrench, P + 6 * (body - 1 + d->n * k));
        }
    }
}

/* P at one instant, 6 per body x free speeds; returns how many these are. */
static int columns_at(const lw_director *d, instant at, double *P) {
    int speeds = 0;
    const double *q = at == BEGIN ? d->step.q0 : at == MIDDLE ? d->step.qm : d->step.q1;
    for (int i = 1; i <= d->n; i++)
        for (int k = 0; k < d->model->links[i].joint.nv; k++)
            if (!(d->joints[i].prescribed >> k & 1))
                lw_director_column(d, q, i, k, at == MIDDLE, P + 6 * d->n * speeds++);
    return speeds;
}

/* Chooses as many closure rows as are kept now, by pivoting on the rows in their own units at the start y of
 * the step. */
static lw_status choose_rows(lw_director *d, const double *y, lw_arena *arena, lw_error *error) {
    int first = d->first_loop_row, rows = d->row_count - first, nv = d->model->nv, kept = 0;
    for (int r = first; r < d->row_count; r++) kept += !d->rows[r].dropped;
    if (kept == rows) return LW_OK;
    double *P = matrix(arena, 6 * d->n, nv), *C = matrix(arena, nv, rows);
    int *order = LW_NEW(arena, int, rows + 1);
    lw_orthogonal *work = lw_orthogonal_create(nv, rows, false);
    if (lw_arena_failed(arena) || !work) {
        lw_orthogonal_destroy(work);
        return lw_out_of_memory(error);
    }
    lw_director_load(d, y);
    for (int k = 0; k < d->measure_count; k++)
        lw_measure_slope(&d->measures[k], d->step.q0, d->measures[k].slope);
    int speeds = columns_at(d, BEGIN, P);
    for (int r = 0; r < rows; r++) row_in_speeds(d, first + r, BEGIN, P, speeds, 1, C + speeds * r);
    lw_qr_factor(work, speeds, rows, C, order, 0);
    for (int k = 0; k < rows; k++) {
        lw_director_row *row = &d->rows[first + order[k]];
        row->dropped = k >= kept;
        row->lambda = 0;
    }
    lw_orthogonal_destroy(work);
    return LW_OK;
}

static bool reduced_create(const lw_director *d, reduced *x, lw_arena *arena) {
    *x = (reduced){0};
    for (int r = d->first_loop_row; r < d->row_count; r++) x->loop_rows += !d->rows[r].dropped;
    int nv = d->model->nv, twists = 6 * d->n;
    x->middle = matrix(arena, twists, nv), x->end = matrix(arena, twists, nv);
    x->A = matrix(arena, nv, nv);
    x->C_middle = matrix(arena, x->loop_rows, nv), x->C_end = matrix(arena, x->loop_rows, nv);
    return !lw_arena_failed(arena);
}

/* P, C and P'K P. K is the part of Newton's matrix that belongs to the bodies, in their twists. */
static bool reduced_fill(lw_director *d, reduced *x, lw_arena *arena) {
    int twists = 6 * d->n, size = lw_block_matrix_size(d->sparse.matrix);
    double *in = matrix(arena, size, 1), *out = matrix(arena, size, 1);
    if (lw_arena_failed(arena)) return false;
    x->speeds = columns_at(d, MIDDLE, x->middle);
    columns_at(d, END, x->end);
    for (int k = 0; k < x->speeds; k++) {
        memcpy(in, x->end + twists * k, (size_t)twists * sizeof *in);
        lw_block_matrix_times(d->sparse.matrix, in, out);
        lw_dense_times(true, twists, x->speeds, 1, x->middle, out, 0, x->A + x->speeds * k);
    }
    for (int r = d->first_loop_row, row = 0; r < d->row_count; r++) {
        if (d->rows[r].dropped) continue;
        row_in_speeds(d, r, MIDDLE, x->middle, x->speeds, x->loop_rows, x->C_middle + row);
        row_in_speeds(d, r, END, x->end, x->speeds, x->loop_rows, x->C_end + row);
        row++;
    }
    return true;
}

/* Puts [Z'A; C(q1)] in the place of A, with Z from the singular vectors of C(qm). */
static bool close_loops(reduced *x, lw_arena *arena) {
    int n = x->speeds, m = x->loop_rows;
    double *s = matrix(arena, n, 1), *U = matrix(arena, m, m), *Vt = matrix(arena, n, n),
           *closed = matrix(arena, n, n);
    lw_orthogonal *work = lw_orthogonal_create(m, n, true);
    bool fine = work && !lw_arena_failed(arena);
    if (fine) {
        lw_svd(work, m, n, x->C_middle, s, U, Vt, 0);
        for (int c = 0; c < n; c++) {
            for (int r = 0; r < n - m; r++)
                for (int k = 0; k < n; k++) closed[r + c * n] += Vt[m + r + k * n] * x->A[k + c * n];
            for (int r = 0; r < m; r++) closed[n - m + r + c * n] = x->C_end[r + c * m];
        }
        memcpy(x->A, closed, (size_t)n * (size_t)n * sizeof *closed);
    }
    lw_orthogonal_destroy(work);
    return fine;
}

static lw_status reduced_condition(lw_director *d, double *condition, lw_arena *arena, lw_error *error) {
    reduced x;
    bool fine = reduced_create(d, &x, arena) && reduced_fill(d, &x, arena);
    if (fine && x.loop_rows > 0) fine = close_loops(&x, arena);
    return fine ? condition_of(x.speeds, x.A, condition, arena, error) : lw_out_of_memory(error);
}

/* --- the call ------------------------------------------------------------------------------------- */

typedef struct halvings {
    bool any;
} halvings;

static void listen(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text;
    if (strcmp(kind, "halved") == 0) ((halvings *)context)->any = true;
}

/* The state of the method at the model's initial state, assembled, with room for another state behind it. */
static lw_status initial_state(const lw_formulation *f, const lw_model *model, double **state, int *size,
                               lw_arena *arena, lw_error *error) {
    const lw_method_options options = {0};
    lw_method *method = NULL;
    double *q = matrix(arena, lw_model_q_size(model), 1), *v = matrix(arena, lw_model_v_size(model), 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    lw_model_initial_state(model, q, v);
    lw_status status = lw_assemble(model, 0, q, v, NULL, error);
    if (status == LW_OK) status = f->create(model, &options, &method, error);
    if (status != LW_OK) return status;
    *size = method->state_size;
    *state = matrix(arena, 2 * *size, 1);
    if (*state) f->to_state(method, 0, q, v, *state);
    f->destroy(method);
    return *state ? LW_OK : lw_out_of_memory(error);
}

/* All steps from y, the last with the rows that the paper would take. */
static lw_status take_steps(lw_director *d, double h, long steps, double *y, int size, lw_arena *arena,
                            lw_error *error) {
    halvings heard = {false};
    lw_status status = LW_OK;
    d->options = (lw_method_options){.note = listen, .note_context = &heard};
    for (long k = 0; k < steps && status == LW_OK; k++) {
        lw_power work;
        if (k > 0 && k == steps - 1) status = choose_rows(d, y, arena, error);
        if (status == LW_OK) status = lw_director_take_step(d, (double)k * h, h, y, y + size, &work, error);
        if (k < steps - 1) memcpy(y, y + size, (size_t)size * sizeof *y);
    }
    if (status == LW_OK && heard.any)
        status =
            lw_fail(error, LW_ERROR_INTEGRATION, NULL, "give a smaller step", "a step of %g s was halved", h);
    return status;
}

lw_status lw_newton_condition(const lw_model *model, const char *method, double h, long steps,
                              double *condition, lw_error *error) {
    if (!model || !method || !condition)
        return lw_call_needs("a model, a method and a place for the number", error);
    bool full = strcmp(method, "director-full") == 0;
    if ((!full && strcmp(method, "director") != 0) || !(h > 0) || steps < 1)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "give director or director-full, h > 0 and at least one step",
                       "no condition number of %ld steps of %g s by \"%s\"", steps, h, method);
    const lw_formulation *f = lw_formulation_find(method);
    model = lw_merged(model);
    lw_arena *arena = lw_arena_create(NULL);
    lw_director *d = NULL;
    double *y = NULL;
    int size = 0;
    lw_status status = f->applies(model, error);
    if (status == LW_OK) status = initial_state(f, model, &y, &size, arena, error);
    if (status == LW_OK) status = lw_director_create(model, full, &d, error);
    if (status == LW_OK) status = take_steps(d, h, steps, y, size, arena, error);
    if (status == LW_OK) {
        lw_director_last_matrix(d); /* That of a singular matrix is infinite. */
        status =
            full ? full_condition(d, condition, arena, error) : reduced_condition(d, condition, arena, error);
    }
    lw_director_destroy(d);
    lw_arena_destroy(arena);
    return status;
}
