/* director_redundancy.c - which rows of closures and constraints are kept, and which depend on them.
 *
 * The rows that close loops may depend on each other as functions of the speeds of the tree; then only as
 * many as their rank may have multipliers. The true rank shows at the begin of a step, where all rows hold;
 * in the middle they look independent. So the matrix (rows x free speeds) at q0 is factored with pivoting
 * over the rows. The present choice is kept as long as its smallest pivot is not much below that of the best
 * choice.
 *
 * Source   docs/theory/director.md, 7: on the six-body linkage of betsch2006 it matters which row is dropped.
 * Cost     O(speeds (bodies + rows) + speeds rows^2), no allocation. Trees have no such rows.
 */
#include "formulations/director/director_parts.h"
#include "linalg/dense.h"
#include "model/coupling.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

/* Pivots below this count as zero. Rows and speeds are dimensionless, and both of the order of one. */
static const double zero = 1e-8;

/* The rate of a row for velocities V of the bodies (6 numbers each). With V NULL, the size of the row: the
 * root of the sum of squares over its bodies, where lengths are divided by that of the mechanism. */
static double along(const lw_director *d, const lw_director_row *row, const double *V) {
    double sum = 0, L = d->length;
    for (int t = row->term; t < row->term + row->terms; t++) {
        const lw_measure *m = &d->measures[d->terms[t].measure];
        double factor = d->terms[t].curved
                            ? lw_coupling_term(d->terms[t].curved, d->terms[t].number, m->from).slope
                            : d->terms[t].factor;
        for (int side = 0; side < 2; side++) {
            int body = m->bodies[side];
            double w[6];
            if (body == 0) continue;
            lw_director_wrench(d->step.q0 + 12 * body, m->slope + 12 * side, w);
            sum += V ? factor * lw_v6_dot(w, V + 6 * (body - 1))
                     : factor * factor * (L * L * lw_v3_dot(w, w) + lw_v3_dot(w + 3, w + 3));
        }
    }
    return V ? sum : sqrt(sum);
}

/* Fills one column of A for each row from first_loop_row on: its rate for every speed that is not prescribed,
 * at q0. Returns the number of these speeds. */
static int fill(lw_director *d, double *A) {
    int rows = d->row_count - d->first_loop_row, speeds = 0;
    for (int r = 0; r < rows; r++) {
        double size = along(d, &d->rows[d->first_loop_row + r], NULL);
        d->choice.scale[r] = size > 0 ? 1 / size : 0;
    }
    for (int i = 1; i <= d->n; i++)
        for (int k = 0; k < d->model->links[i].joint.nv; k++) {
            if (d->joints[i].prescribed >> k & 1) continue;
            bool slides = !lw_joint_speed_turns(d->joints[i].type, k);
            lw_director_column(d, d->step.q0, i, k, false, d->choice.speeds);
            for (int r = 0; r < rows; r++)
                A[speeds + (size_t)r * (size_t)d->model->nv] =
                    along(d, &d->rows[d->first_loop_row + r], d->choice.speeds) * d->choice.scale[r] *
                    (slides ? d->length : 1);
            speeds++;
        }
    return speeds;
}

/* The smallest pivot of the given rows, which are columns of A. */
static double smallest_pivot(lw_director *d, const double *A, int speeds, const int *rows, int rank) {
    int nv = d->model->nv;
    for (int k = 0; k < rank; k++)
        for (int i = 0; i < speeds; i++)
            d->choice.work[i + (size_t)k * (size_t)speeds] = A[i + (size_t)rows[k] * (size_t)nv];
    lw_qr_factor(d->choice.orthogonal, speeds, rank, d->choice.work,
                 d->choice.order + (d->row_count - d->first_loop_row), 0);
    int last = rank - 1;
    return last < speeds ? fabs(d->choice.work[last + (size_t)last * (size_t)speeds]) : 0;
}

bool lw_director_choose(lw_director *d, bool fresh) {
    int rows = d->row_count - d->first_loop_row, nv = d->model->nv, kept = 0;
    if (rows == 0) return false;
    for (int k = 0; k < d->measure_count; k++)
        lw_measure_slope(&d->measures[k], d->step.q0, d->measures[k].slope);
    int speeds = fill(d, d->choice.matrix);
    int *order = d->choice.order, *mine = d->choice.order + 2 * rows;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < speeds; i++)
            d->choice.work[i + (size_t)r * (size_t)speeds] = d->choice.matrix[i + (size_t)r * (size_t)nv];
    int rank = speeds ? lw_qr_factor(d->choice.orthogonal, speeds, rows, d->choice.work, order, zero) : 0;
    while (rank > 0 && fabs(d->choice.work[rank - 1 + (size_t)(rank - 1) * (size_t)speeds]) < zero) rank--;
    for (int r = 0; r < rows; r++)
        if (!d->rows[d->first_loop_row + r].dropped) mine[kept++] = r;
    if (!fresh && rank <= kept && kept <= speeds) {
        double best = rank ? fabs(d->choice.work[rank - 1 + (size_t)(rank - 1) * (size_t)speeds]) : 0;
        if (rank < kept) return false; /* A position where the rank is lower for a moment. */
        if (kept == 0 || smallest_pivot(d, d->choice.matrix, speeds, mine, kept) > 0.5 * best) return false;
    }
    bool changed = false;
    for (int k = 0; k < rows; k++) {
        lw_director_row *row = &d->rows[d->first_loop_row + order[k]];
        changed |= row->dropped != (k >= rank);
        row->dropped = k >= rank;
        if (row->dropped) row->lambda = 0;
    }
    d->choice.rank = rank;
    return changed;
}
