/* director_sparse.c - the solver for every mechanism: all bodies and rows in one sparse matrix.
 *
 * The unknowns are the increments of the bodies (12 coordinates each for director-full, 6 twists for
 * director) and those of the multipliers of all rows. director_newton.c evaluates the equations and their
 * derivative; this file names the blocks of the matrix, solves, and decides whether the solution is one of
 * the step. A row that depends on others has a one on the diagonal in place of its equation, so that the
 * structure of the matrix never changes.
 *
 * Source   Betsch and Leyendecker (2006), eqs 10-15; block_matrix.c for the linear algebra.
 * Cost     one evaluation and one sparse solution per increment; as a rule one factorisation per step. A new
 *          choice of pivots allocates, nothing else does.
 */
#include "formulations/director/director_parts.h"

#include <math.h>
#include <string.h>

/* A step that violates some row by more than this, over the length of the mechanism, has left the constraint
 * manifold. */
static const double violation = 1e-9;

/* --- structure of the matrix ---------------------------------------------------------------------- */

static bool name_pair(lw_director *d, const int bodies[2]) {
    bool fine = true;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (bodies[i] && bodies[j])
                fine &= lw_block_matrix_name(d->sparse.matrix, bodies[i] - 1, bodies[j] - 1);
    return fine;
}

/* Names every block that some body, measure, element or row writes to. */
static bool name_blocks(lw_director *d) {
    const lw_model *model = d->model;
    lw_block_matrix *matrix = d->sparse.matrix;
    bool fine = true;
    int bodies[2];
    for (int i = 0; i < d->n; i++) fine &= lw_block_matrix_name(matrix, i, i);
    for (int k = 0; k < d->measure_count; k++) fine &= name_pair(d, d->measures[k].bodies);
    for (int k = 0; k < model->force_count; k++) {
        lw_director_loaded_bodies(d, &model->forces[k], bodies);
        fine &= name_pair(d, bodies);
    }
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        if (r >= d->first_loop_row) fine &= lw_block_matrix_name(matrix, d->n + r, d->n + r);
        for (int k = row->term; k < row->term + row->terms; k++)
            for (int side = 0; side < 2; side++) {
                int body = d->measures[d->terms[k].measure].bodies[side];
                if (body == 0) continue;
                fine &= lw_block_matrix_name(matrix, body - 1, d->n + r);
                fine &= lw_block_matrix_name(matrix, d->n + r, body - 1);
            }
    }
    return fine;
}

static void find_pair(const lw_director *d, const int bodies[2], int blocks[4]) {
    for (int k = 0; k < 4; k++) {
        int i = bodies[k / 2], j = bodies[k % 2];
        blocks[k] = i && j ? lw_block_matrix_find(d->sparse.matrix, i - 1, j - 1) : -1;
    }
}

/* Writes the numbers of the blocks to where they are needed. */
static void find_blocks(lw_director *d) {
    const lw_model *model = d->model;
    const lw_block_matrix *matrix = d->sparse.matrix;
    int bodies[2];
    for (int i = 1; i <= d->n; i++) d->sparse.body_block[i] = lw_block_matrix_find(matrix, i - 1, i - 1);
    for (int k = 0; k < d->measure_count; k++) find_pair(d, d->measures[k].bodies, d->measures[k].block);
    for (int k = 0; k < model->force_count; k++) {
        lw_director_loaded_bodies(d, &model->forces[k], bodies);
        find_pair(d, bodies, d->sparse.force_block + 4 * k);
    }
    for (int r = 0; r < d->row_count; r++) {
        lw_director_row *row = &d->rows[r];
        row->diagonal = r >= d->first_loop_row ? lw_block_matrix_find(matrix, d->n + r, d->n + r) : -1;
        for (int k = row->term; k < row->term + row->terms; k++)
            for (int side = 0; side < 2; side++) {
                int body = d->measures[d->terms[k].measure].bodies[side];
                d->terms[k].column[side] = body ? lw_block_matrix_find(matrix, body - 1, d->n + r) : -1;
                d->terms[k].line[side] = body ? lw_block_matrix_find(matrix, d->n + r, body - 1) : -1;
            }
    }
}

bool lw_director_sparse_create(lw_director *d) {
    int count = d->n + d->row_count, *sizes = LW_NEW(d->arena, int, count + 1);
    if (!sizes) return false;
    for (int k = 0; k < count; k++) sizes[k] = k < d->n ? d->size : 1;
    d->sparse.matrix = lw_block_matrix_create(count, sizes);
    if (!d->sparse.matrix || !name_blocks(d) || !lw_block_matrix_finish(d->sparse.matrix)) return false;
    find_blocks(d);
    d->sparse.right = LW_NEW(d->arena, double, lw_block_matrix_size(d->sparse.matrix) + 1);
    return d->sparse.right != NULL;
}

void lw_director_use_matrix(lw_director *d) {
    if (d->solver == &lw_director_by_matrix) return;
    lw_director_own_slopes(d);
    d->solver = &lw_director_by_matrix;
}

static double *block(lw_director *d, int i, int j, int number, int *stride) {
    (void)i, (void)j;
    return lw_block_matrix_at(d->sparse.matrix, number, stride);
}

/* --- Newton's iteration --------------------------------------------------------------------------- */

static void measure_begin(lw_director *d) {
    for (int k = 0; k < d->measure_count; k++) {
        lw_measure *m = &d->measures[k];
        m->from = lw_measure_value(m, d->step.q0, m->angle >= 0 ? d->step.angles[m->angle] : 0);
    }
}

static void start(lw_director *d) {
    lw_director_use_matrix(d);
    measure_begin(d);
    lw_director_aim_at(d);
    /* The vectors of a prescribed rotation are those of the end. At the begin its rows hold. */
    for (int k = 0; k < d->aim_count; k++)
        for (int i = 0; i < 3; i++) d->measures[d->aims[k].measure + i].from = 0;
    lw_director_start(d);
}

static double size_of_increment(const lw_director *d, const double *delta) {
    double sum = 0;
    for (int i = 1; i <= d->n; i++) {
        const double *own = delta + d->size * (i - 1), *weight = d->weight + 4 * i;
        if (d->full) {
            for (int k = 0; k < 4; k++) sum += weight[k] * lw_v3_dot(own + 3 * k, own + 3 * k);
            continue;
        }
        sum += weight[0] * lw_v3_dot(own, own);
        for (int k = 1; k < 4; k++) {
            double part[3];
            lw_v3_cross(own + 3, d->step.q1 + 12 * i + 3 * k, part);
            sum += weight[k] * lw_v3_dot(part, part);
        }
    }
    return sqrt(sum);
}

/* Adds the solution of the linear system to the multipliers. */
static void advance_multipliers(lw_director *d) {
    for (int r = 0; r < d->row_count; r++)
        d->rows[r].lambda += d->sparse.right[lw_block_matrix_start(d->sparse.matrix, d->n + r)];
}

static void advance(lw_director *d) {
    const double *delta = d->sparse.right;
    lw_director_step *s = &d->step;
    if (!d->full) {
        lw_director_advance(d, delta);
    } else {
        for (int k = 0; k < 12 * d->n; k++) {
            s->change[12 + k] += delta[k];
            s->q1[12 + k] = s->q0[12 + k] + s->change[12 + k];
            s->qm[12 + k] = s->q0[12 + k] + 0.5 * s->change[12 + k];
        }
    }
    advance_multipliers(d);
}

static bool is_finite(const lw_director *d) {
    double sum = 0;
    for (int k = 12; k < 12 * (d->n + 1); k++) sum += d->step.change[k];
    return isfinite(sum);
}

static bool increment(lw_director *d, lw_director_matrix_use use, double *size, double *step) {
    bool matrix = use != LW_DIRECTOR_SAME_MATRIX;
    lw_director_equations(d, matrix);
    if (matrix && !lw_block_matrix_factor(d->sparse.matrix, use == LW_DIRECTOR_NEW_PIVOTS)) return false;
    lw_block_matrix_solve(d->sparse.matrix, d->sparse.right);
    *size = size_of_increment(d, d->sparse.right);
    if (!isfinite(*size)) return false;
    advance(d);
    *step = lw_director_norm(d, d->step.change);
    return is_finite(d);
}

/* The iteration goes on until the next increment would be rounding. */
static double last_increment(const lw_director *d) {
    (void)d;
    return 0;
}

/* --- the solution --------------------------------------------------------------------------------- */

/* The row that the step violates most, or NULL if it violates none too much. */
static const lw_director_row *violated_row(const lw_director *d) {
    const lw_director_row *worst = NULL;
    double most = violation;
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        double size = fabs(row->value) / (row->length ? d->length : 1);
        if (!(size <= most)) worst = row, most = size;
    }
    return worst;
}

/* Where a body turns by half a turn in the step, its directors in the middle no longer span space and P_int
 * loses rank: the balance multiplied by P_int' then has solutions that the balance itself has not. The volume
 * of the directors is the square of the cosine of half the angle; for a true solution it is
 * 1 / (1 + (h w)^2 / 4). */
static bool middles_span(const lw_director *d) {
    for (int i = 1; i <= d->n; i++) {
        const double *m = d->step.qm + 12 * i + 3;
        double normal[3];
        lw_v3_cross(m, m + 3, normal);
        if (!(lw_v3_dot(normal, m + 6) > 1e-3)) return false;
    }
    return true;
}

static bool accept(lw_director *d, bool new_matrix) {
    (void)new_matrix;
    if (!middles_span(d)) return false;
    lw_director_equations(d, false);
    d->progress.broken = violated_row(d);
    return !d->progress.broken;
}

/* The change of a row in the step, D (q1 - q0). If it is zero the multiplier does no work. */
static double change_of_row(const lw_director *d, const lw_director_row *row) {
    long double sum = 0;
    for (int t = row->term; t < row->term + row->terms; t++) {
        const lw_measure *m = &d->measures[d->terms[t].measure];
        for (int side = 0; side < 2; side++)
            for (int k = 0, at = 12 * m->bodies[side]; k < 12; k++)
                sum += d->terms[t].factor * m->D[12 * side + k] *
                       (d->step.change[at + k] + (long double)d->step.rest[at + k]);
    }
    return (double)sum;
}

/* What rounding has left of the equations is solved for once more. This increment is too small for the
 * numbers that describe the step and goes to step.rest. Without it such remainders would add up, since they
 * have the same sign in step after step. */
static void find_rest(lw_director *d) {
    double *right = d->sparse.right;
    for (int r = 0; r < d->row_count && !d->full; r++) {
        const lw_director_row *row = &d->rows[r];
        bool off = fabs(row->value) > 1e-14 * (row->length ? d->length : 1);
        if (row->dropped || row->kind == LW_DIRECTOR_PRESCRIBED || (off && r >= d->first_loop_row)) continue;
        right[lw_block_matrix_start(d->sparse.matrix, d->n + r)] = -change_of_row(d, row);
    }
    lw_block_matrix_solve(d->sparse.matrix, right);
    for (int i = 1; i <= d->n; i++) {
        const double *own = right + d->size * (i - 1);
        double *rest = d->step.rest + 12 * i;
        if (d->full) {
            memcpy(rest, own, 12 * sizeof *rest);
            continue;
        }
        lw_v3_add(rest, own, rest);
        for (int k = 3; k < 12; k += 3) lw_v3_add_cross(own + 3, d->step.q1 + 12 * i + k, rest + k);
    }
    advance_multipliers(d);
}

static void book_drives(lw_director *d) {
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        if (row->kind != LW_DIRECTOR_PRESCRIBED) continue;
        const lw_measure *m = &d->measures[d->terms[row->term].measure];
        d->step.work.drives -= row->lambda * lw_measure_along(m->D, m->bodies, d->step.change);
    }
}

static bool store(lw_director *d, double *y) {
    double *angles = y + 24 * (size_t)d->n;
    bool off = false;
    find_rest(d);
    lw_director_keep_reactions(d);
    for (int k = 0; k < d->angle_count; k++) angles[k] = d->measures[d->angle_measure[k]].to;
    book_drives(d);
    for (int i = 1; i <= d->n; i++) {
        lw_director_store_body(d, i, y);
        off = off || lw_director_directors_are_off(d, i);
    }
    return !d->full && (off || lw_director_rows_are_off(d));
}

const lw_director_solver lw_director_by_matrix = {
    .start = start,
    .increment = increment,
    .last_increment = last_increment,
    .accept = accept,
    .store = store,
    .block = block,
};

/* --- the matrix itself ---------------------------------------------------------------------------- */

void lw_director_warm_up(lw_director *d, const double *y) {
    lw_director_load(d, y);
    d->step.t0 = 0, d->step.h = 1e-3;
    lw_director_choose(d, true);
    start(d);
    lw_director_equations(d, true);
    lw_block_matrix_factor(d->sparse.matrix, true);
    d->step.h = 0, d->choice.rank = -1; /* The first step chooses its rows itself. */
}

bool lw_director_last_matrix(lw_director *d) {
    /* The matrix depends on multipliers, which the recursive solver does not have: one increment of this
     * solver finds them. */
    if (d->solver != &lw_director_by_matrix) {
        measure_begin(d);
        lw_director_equations(d, true);
        if (!lw_block_matrix_factor(d->sparse.matrix, false)) return false;
        lw_block_matrix_solve(d->sparse.matrix, d->sparse.right);
        advance_multipliers(d);
    }
    lw_director_equations(d, true);
    return true;
}

double lw_director_condition(lw_director *d) {
    return lw_director_last_matrix(d) && lw_block_matrix_factor(d->sparse.matrix, false)
               ? lw_block_matrix_condition(d->sparse.matrix)
               : HUGE_VAL;
}
