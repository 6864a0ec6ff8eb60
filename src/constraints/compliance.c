/* compliance.c - the reactions of least elastic energy among those that cause the same motion.
 *
 *   minimise  E = 1/2 sum over joints (c_t |f|^2 + c_r |m|^2)   over   reactions + N z             (7)-(9)
 *
 * f and m are the force and the torque that a joint transmits at its point, without what drives and elements
 * do along its free directions; N are the null vectors of all rows, those of the tree included, because the
 * internal forces of a loop go through all its joints. With B = sqrt(C) N the problem is one of least
 * squares, solved by B P = Q R with column pivoting. Combinations of N that strain no joint are the null
 * space of B: what they touch stays undetermined.
 *
 * Source   docs/theory/redundancy.md, section 5.
 * Cost     O(speeds rows^2 + joints nulls (nulls + bodies)) for a state; only create allocates.
 * Limits   dense, so mechanisms of more than LW_DENSE_ENTRIES entries rows x speeds are left as they are.
 */
#include "constraints/compliance.h"
#include "constraints/rank/row_independence.h"
#include "constraints/rank/sparse_rank.h"

#include <math.h>
#include <string.h>

/* As in redundancy.c: methods are to agree to that. */
static const double threshold = 1e-9;

struct lw_compliance {
    lw_arena *arena;
    const lw_model *model;
    lw_newton_euler *system;
    lw_independence *rows; /* NULL: nothing to share, or too large */
    lw_orthogonal *work;
    int compliant;     /* how many joints have a compliance, */
    int *joints;       /* and which */
    double *B, *right; /* 6 per compliant joint x nulls; 6 per compliant joint */
    double *z, *x;     /* per null vector */
    double *scale;     /* per null vector: one over its largest component */
    int *order;
    double *wrench; /* 6 per joint (torque; force) */
    bool *touched;  /* 6 per joint: by a null vector that strains no joint */
    bool *flags;
};

bool lw_compliance_given(const lw_model *model) { return model->compliance != NULL; }

void lw_compliance_destroy(lw_compliance *c) {
    if (!c) return;
    lw_newton_euler_destroy(c->system);
    lw_independence_destroy(c->rows);
    lw_orthogonal_destroy(c->work);
    lw_arena_destroy(c->arena);
}

/* Workspace for so many rows of closures and constraints. */
static bool create_dense(lw_compliance *c, size_t rows) {
    const size_t most = 6 * (size_t)c->compliant;
    c->rows = lw_independence_create(c->model, c->system->rows, true);
    c->work = lw_orthogonal_create((int)most, (int)rows, false);
    c->B = LW_NEW(c->arena, double, most *rows + 1);
    c->right = LW_NEW(c->arena, double, most + 1);
    c->z = LW_NEW(c->arena, double, rows + 1);
    c->x = LW_NEW(c->arena, double, rows + 1);
    c->scale = LW_NEW(c->arena, double, rows + 1);
    c->order = LW_NEW(c->arena, int, rows + 1);
    return c->rows && c->work && !lw_arena_failed(c->arena);
}

lw_compliance *lw_compliance_create(const lw_model *model) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_compliance *c = LW_NEW(arena, lw_compliance, 1);
    if (!c) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    const size_t joints = (size_t)model->joint_count;
    c->arena = arena;
    c->model = model;
    c->joints = LW_NEW(arena, int, joints + 1);
    c->wrench = LW_NEW(arena, double, 6 * joints + 1);
    c->touched = LW_NEW(arena, bool, 6 * joints + 1);
    c->flags = LW_NEW(arena, bool, 6 * joints + 1);
    c->system = lw_newton_euler_create(model, LW_HOLD_NONE);
    bool fine = c->system && !lw_arena_failed(arena);
    for (int j = 0; j < model->joint_count && fine && model->compliance; j++)
        if (model->compliance[2 * j] > 0 || model->compliance[2 * j + 1] > 0) c->joints[c->compliant++] = j;
    const int rows = fine ? c->system->rows->count - c->system->rows->tree_count : 0;
    if (fine && c->compliant && rows > 0 && (double)rows * model->nv <= LW_DENSE_ENTRIES)
        fine = create_dense(c, (size_t)rows);
    if (fine) return c;
    lw_compliance_destroy(c);
    return NULL;
}

const bool *lw_compliance_flags(const lw_compliance *c) { return c->flags; }

/* --- wrenches -------------------------------------------------------------------------------------- */

/* Solves A x = b for 6 x 6 by rows, with pivots. */
static void solve_six(double A[36], double b[6]) {
    for (int k = 0; k < 6; k++) {
        int p = k;
        for (int i = k + 1; i < 6; i++)
            if (fabs(A[6 * i + k]) > fabs(A[6 * p + k])) p = i;
        for (int j = 0; j < 6 && p != k; j++) {
            const double swap = A[6 * k + j];
            A[6 * k + j] = A[6 * p + j], A[6 * p + j] = swap;
        }
        const double swap = b[k];
        b[k] = b[p], b[p] = swap;
        for (int i = k + 1; i < 6; i++) {
            const double factor = A[6 * i + k] / A[6 * k + k];
            for (int j = k; j < 6; j++) A[6 * i + j] -= factor * A[6 * k + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = 5; k >= 0; k--) {
        for (int j = k + 1; j < 6; j++) b[k] -= A[6 * k + j] * b[j];
        b[k] /= A[6 * k + k];
    }
}

/* Takes from a reaction (torque; force) what acts along the joint's free directions: with W x = w, the parts
 * of the columns that are dual to speeds. */
static void transmitted_part(const lw_joint_state *state, int speeds, double w[6]) {
    double A[36], x[6];
    for (int i = 0; i < 6; i++) {
        x[i] = w[i];
        for (int k = 0; k < 6; k++) A[6 * i + k] = state->W[6 * k + i];
    }
    solve_six(A, x);
    for (int k = 0; k < speeds; k++) lw_v6_axpy(-x[k], state->W + 6 * k, w);
}

/* Reactions of all joints (torque; force) that multipliers l of all rows are; without those of prescribed
 * speeds, which drives supply, if `bearings`. */
static void wrenches_of(const lw_compliance *c, const double *l, bool bearings, double *wrench) {
    const lw_rows *rows = c->system->rows;
    memset(wrench, 0, 6 * (size_t)c->model->joint_count * sizeof *wrench);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        if (row->joint < 0 || (bearings && row->kind == LW_ROW_PRESCRIBED)) continue;
        lw_v6_axpy(l[r], rows->joints[row->joint].W + 6 * row->component, wrench + 6 * row->joint);
    }
}

static const double *null_of(const lw_compliance *c, int k) {
    return c->rows->null + (size_t)k * (size_t)c->system->rows->count;
}

/* The largest component of reactions, torques over the size of the mechanism; and of multipliers of
 * constraints, which perhaps load no joint. */
static double largest_of(const lw_compliance *c, const double *l, const double *wrench) {
    const lw_rows *rows = c->system->rows;
    double most = 0;
    for (int k = 0; k < 6 * c->model->joint_count; k++)
        most = fmax(most, fabs(wrench[k]) / (k % 6 < 3 ? c->rows->size : 1));
    for (int r = rows->tree_count; r < rows->count && l; r++)
        if (rows->rows[r].constraint >= 0)
            most = fmax(most, fabs(l[r]) / (c->rows->unit[r - rows->tree_count] * c->rows->size));
    return most;
}

/* Marks the components (force, torque) that a set of reactions touches. */
static void mark(const lw_compliance *c, const double *wrench, double largest, bool *marks) {
    for (int j = 0; j < c->model->joint_count; j++)
        for (int k = 0; k < 3; k++) {
            const double *w = wrench + 6 * j;
            if (fabs(w[3 + k]) > threshold * largest) marks[6 * j + k] = true;
            if (fabs(w[k]) / c->rows->size > threshold * largest) marks[6 * j + 3 + k] = true;
        }
}

/* Puts the wrenches of the compliant joints, by the roots of their compliance, into a column. */
static void weigh(const lw_compliance *c, const double *wrench, double factor, double *column) {
    for (int i = 0; i < c->compliant; i++) {
        const double *of = c->model->compliance + 2 * c->joints[i];
        const double slide = factor * sqrt(of[0]), turn = factor * sqrt(of[1]);
        const double *w = wrench + 6 * c->joints[i];
        for (int k = 0; k < 3; k++) column[6 * i + k] = turn * w[k], column[6 * i + 3 + k] = slide * w[3 + k];
    }
}

/* --- the problem of least squares -------------------------------------------------------------------- */

static void fill(lw_compliance *c, int nulls, const double *reactions) {
    const lw_rows *rows = c->system->rows;
    const size_t height = 6 * (size_t)c->compliant;
    for (int k = 0; k < nulls; k++) {
        wrenches_of(c, null_of(c, k), false, c->wrench);
        const double largest = largest_of(c, null_of(c, k), c->wrench);
        c->scale[k] = largest > 0 ? 1 / largest : 0;
        mark(c, c->wrench, largest, c->flags);
        wrenches_of(c, null_of(c, k), true, c->wrench);
        weigh(c, c->wrench, c->scale[k], c->B + (size_t)k * height);
        c->order[k] = k;
    }
    memset(c->wrench, 0, 6 * (size_t)c->model->joint_count * sizeof *c->wrench);
    for (int i = 0; i < c->compliant; i++) {
        const int j = c->joints[i];
        double *w = c->wrench + 6 * j;
        lw_v3_copy(reactions + 6 * j + 3, w), lw_v3_copy(reactions + 6 * j, w + 3);
        transmitted_part(&rows->joints[j], c->model->joints[j].joint.nv, w);
    }
    weigh(c, c->wrench, -1, c->right);
}

/* Marks what combinations of the null vectors that strain no joint touch. */
static void mark_free(lw_compliance *c, int nulls, int rank) {
    const int height = 6 * c->compliant;
    for (int free = rank; free < nulls; free++) {
        for (int k = 0; k < rank; k++) c->x[k] = -c->B[(size_t)k + (size_t)free * (size_t)height];
        lw_qr_triangle(false, rank, height, c->B, 1, c->x, rank > 0 ? rank : 1);
        memset(c->wrench, 0, 6 * (size_t)c->model->joint_count * sizeof *c->wrench);
        double largest = 0;
        const lw_rows *rows = c->system->rows;
        for (int r = 0; r < rows->count; r++) {
            const lw_row *row = &rows->rows[r];
            double sum = c->scale[c->order[free]] * null_of(c, c->order[free])[r];
            for (int k = 0; k < rank; k++)
                sum += c->x[k] * c->scale[c->order[k]] * null_of(c, c->order[k])[r];
            if (row->joint >= 0)
                lw_v6_axpy(sum, rows->joints[row->joint].W + 6 * row->component, c->wrench + 6 * row->joint);
            else
                largest = fmax(largest, fabs(sum) / (c->rows->unit[r - rows->tree_count] * c->rows->size));
        }
        mark(c, c->wrench, fmax(largest, largest_of(c, NULL, c->wrench)), c->touched);
    }
}

/* Adds the null vectors with the factors z. */
static void add(lw_compliance *c, int nulls, double *reactions, double *multipliers) {
    const lw_rows *rows = c->system->rows;
    int next = 0;
    memset(c->wrench, 0, 6 * (size_t)c->model->joint_count * sizeof *c->wrench);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double sum = 0;
        for (int k = 0; k < nulls; k++) sum += c->z[k] * null_of(c, k)[r];
        if (row->joint >= 0)
            lw_v6_axpy(sum, rows->joints[row->joint].W + 6 * row->component, c->wrench + 6 * row->joint);
        else if (multipliers)
            multipliers[next++] += sum;
    }
    for (int j = 0; j < c->model->joint_count; j++)
        for (int k = 0; k < 3; k++) {
            reactions[6 * j + k] += c->wrench[6 * j + 3 + k];
            reactions[6 * j + 3 + k] += c->wrench[6 * j + k];
        }
}

void lw_compliance_share(lw_compliance *c, double t, const double *q, double *reactions,
                         double *multipliers) {
    const size_t components = 6 * (size_t)c->model->joint_count;
    memset(c->flags, 0, components * sizeof *c->flags);
    if (!c->rows) return;
    lw_newton_euler_rows_at(c->system, t, q, NULL);
    lw_independence_at(c->rows, c->system);
    const int nulls = c->rows->rows - c->rows->rank, height = 6 * c->compliant;
    if (nulls == 0) return;
    fill(c, nulls, reactions);
    const int rank = lw_qr_factor(c->work, height, nulls, c->B, c->order, threshold);
    lw_qr_apply(c->work, true, height, nulls, c->B, 1, c->right);
    memset(c->z, 0, (size_t)nulls * sizeof *c->z);
    if (rank > 0) lw_qr_triangle(false, rank, height, c->B, 1, c->right, rank);
    for (int k = 0; k < rank; k++) c->z[c->order[k]] = c->right[k] * c->scale[c->order[k]];
    memset(c->touched, 0, components * sizeof *c->touched);
    mark_free(c, nulls, rank);
    add(c, nulls, reactions, multipliers);
    for (size_t k = 0; k < components; k++) c->flags[k] = c->flags[k] && !c->touched[k];
}
