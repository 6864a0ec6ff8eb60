/* massless_loops.c - massless motions of mechanisms with closed loops, by dense algebra.
 *
 *   N:  K N = 0,  J N = 0,        K = sum J_i'P_i J_i
 *
 * P_i is the kinetic indicator of body i, J has the rows of loops and constraints. J' = Q R with pivoting
 * gives all motions Z that the loops allow; the singular vectors of Z'K Z whose singular value vanishes are
 * the massless directions. A basis with ones at the speeds that represent them varies smoothly with position.
 *
 *   [ M + s E   -J' ] [ vdot   ]   [ Q - h ]
 *   [ J          0  ] [ lambda ] = [ -b    ]       E has ones at these speeds
 *
 * is regular if the massless directions are the only singularity. Multiplication by N' shows that vdot is
 * zero at these speeds, since Q is in balance, so s does not change the result. Dependent rows are left out
 * by pivoting.
 *
 * Source   docs/theory/massless.md, 7.
 * Cost     O(n^3), no allocation but in create.
 */
#include "dynamics/tree_dynamics.h"
#include "formulations/massless/massless_loops.h"
#include "constraints/projection.h"
#include "constraints/loop_constraints.h"
#include "linalg/dense.h"
#include "model/joint.h"
#include "core/pseudo_random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A singular value of Z'K Z counts as zero below this part of the largest one. */
static const double kinetic_zero = 1e-10;

struct lw_loop_null {
    const lw_null_shape *shape;
    lw_rows *rows;
    int count;     /* The number of free speeds, which are not prescribed. */
    int *speed;    /* Per free speed: its index among all speeds. */
    double *scale; /* Per free speed: its unit, 1 for a rotation and the typical length otherwise. */
    double *P;     /* 36 per body: the kinetic indicator of its own inertia. */
    lw_orthogonal *qr, *svd; /* Workspaces of the QR factor and of the singular values. */
    int *order, rank;        /* The order of the rows after pivoting, and the rank of J. */
    double *G;               /* nv per row: the constraint matrix. */
    double *J;               /* count x rows: J' in units of length, factored. */
    double *Z;               /* count x (count - rank): the motions that the loops allow. */
    double *jacobian;        /* 6 per body and free speed: the twist of the body for this speed alone. */
    double *K, *KZ;          /* count x count: K, and Z'K Z. */
    double *values, *left, *right; /* The singular values and vectors of Z'K Z. */
    double *basis;                 /* count x directions: the massless directions in units of length. */
};

/* --- the motions that loops allow --------------------------------------------------------------------- */

lw_loop_null *lw_loop_null_create(const lw_null_shape *shape, lw_arena *arena) {
    const lw_model *model = shape->model;
    lw_loop_null *l = LW_NEW(arena, lw_loop_null, 1);
    if (!l) return NULL;
    l->shape = shape;
    l->rows = lw_rows_create_loops(model, arena);
    size_t nv = (size_t)model->nv + 1, bodies = (size_t)model->body_count + 1;
    if (!l->rows) return NULL;
    size_t rows = (size_t)l->rows->count + 1;
    l->speed = LW_NEW(arena, int, nv);
    l->scale = LW_NEW(arena, double, nv);
    l->P = LW_NEW(arena, double, 36 * bodies);
    l->order = LW_NEW(arena, int, rows + nv);
    l->G = LW_NEW(arena, double, nv *rows);
    l->J = LW_NEW(arena, double, nv *rows);
    l->Z = LW_NEW(arena, double, nv *nv);
    l->jacobian = LW_NEW(arena, double, 6 * bodies * nv);
    l->K = LW_NEW(arena, double, nv *nv);
    l->KZ = LW_NEW(arena, double, nv *nv);
    l->values = LW_NEW(arena, double, nv);
    l->left = LW_NEW(arena, double, nv *nv);
    l->right = LW_NEW(arena, double, nv *nv);
    l->basis = LW_NEW(arena, double, nv *nv);
    if (lw_arena_failed(arena)) return NULL;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        lw_kinetic_own(model, i, shape->length, l->P + 36 * i);
        for (int k = 0; k < link->joint.nv; k++) {
            if (link->prescribed >> k & 1) continue;
            l->scale[l->count] = lw_joint_speed_turns(link->joint.type, k) ? 1 : shape->length;
            l->speed[l->count++] = link->v + k;
        }
    }
    int larger = l->count > l->rows->count ? l->count : l->rows->count;
    l->qr = lw_orthogonal_create(larger + 1, larger + 1, false);
    l->svd = lw_orthogonal_create(l->count + 1, l->count + 1, true);
    if (l->qr && l->svd) return l;
    lw_loop_null_destroy(l);
    return NULL;
}

void lw_loop_null_destroy(lw_loop_null *l) {
    if (!l) return;
    lw_orthogonal_destroy(l->qr);
    lw_orthogonal_destroy(l->svd);
    l->qr = l->svd = NULL;
}

/* Computes J' of the free speeds in units of length, its factor, and Z. */
static void allowed(lw_loop_null *l, lw_data *data) {
    const lw_model *model = l->shape->model;
    int n = l->count, m = l->rows->count;
    lw_rows_evaluate(model, data, false, l->rows);
    lw_loop_constraint_matrix(model, data, l->rows, l->G);
    for (int r = 0; r < m; r++) {
        double unit = lw_row_is_length(model, l->rows, r) ? 1 / l->shape->length : 1;
        for (int k = 0; k < n; k++) l->J[k + r * n] = unit * l->scale[k] * l->G[l->speed[k] + r * model->nv];
    }
    l->rank = m && n ? lw_qr_factor(l->qr, n, m, l->J, l->order, LW_RANK_TOLERANCE) : 0;
    /* Rows that no free speed changes have rounding only, of entries of order one. */
    while (l->rank && fabs(l->J[(size_t)(l->rank - 1) * (size_t)(n + 1)]) < LW_RANK_TOLERANCE) l->rank--;
    int free_count = n - l->rank;
    memset(l->Z, 0, (size_t)n * (size_t)(free_count + 1) * sizeof *l->Z);
    for (int k = 0; k < free_count; k++) l->Z[l->rank + k + k * n] = 1;
    if (m && free_count) lw_qr_apply(l->qr, false, n, m, l->J, free_count, l->Z);
}

/* Computes K = sum J_i'P_i J_i of the free speeds; jacobian keeps the twists of all bodies per speed. */
static void kinetic(lw_loop_null *l, const lw_data *data) {
    const lw_model *model = l->shape->model;
    int n = l->count;
    double length = l->shape->length;
    memset(l->K, 0, (size_t)n * (size_t)n * sizeof *l->K);
    memset(l->jacobian, 0, 6 * (size_t)n * sizeof *l->jacobian);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_body_motion *motion = &data->motion[i];
        const double *parent = l->jacobian + 6 * (size_t)n * (size_t)model->links[i].parent,
                     *P = l->P + 36 * i;
        double *own = l->jacobian + 6 * (size_t)n * (size_t)i;
        for (int k = 0; k < n; k++) {
            lw_twist_to_child(motion->R, motion->p, parent + 6 * k, own + 6 * k);
            int speed = l->speed[k] - model->links[i].v;
            if (speed >= 0 && speed < model->links[i].joint.nv)
                lw_v6_axpy(l->scale[k], data->S + 6 * l->speed[k], own + 6 * k);
        }
        for (int a = 0; a < n; a++) {
            double x[6], f[6];
            for (int c = 0; c < 6; c++) x[c] = own[6 * a + c] / (c < 3 ? 1 : length);
            for (int c = 0; c < 6; c++) f[c] = lw_v6_dot(P + 6 * c, x) / (c < 3 ? 1 : length);
            for (int b = 0; b < n; b++) l->K[b + a * n] += lw_v6_dot(f, own + 6 * b);
        }
    }
}

/* Computes the singular values of Z'K Z, descending, with the singular vectors. Returns their number. */
static int still(lw_loop_null *l) {
    int n = l->count, free_count = n - l->rank;
    if (!free_count) return 0;
    lw_dense_multiply(false, false, n, free_count, n, 1, l->K, l->Z, 0, l->basis);
    lw_dense_multiply(true, false, free_count, free_count, n, 1, l->Z, l->basis, 0, l->KZ);
    lw_svd(l->svd, free_count, free_count, l->KZ, l->values, l->left, l->right, kinetic_zero);
    return free_count;
}

/* Sets basis to the last `count` singular vectors, as motions of the free speeds. */
static void take_last(lw_loop_null *l, int free_count, int count) {
    int n = l->count;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++) {
            double x = 0;
            for (int j = 0; j < free_count; j++) /* row free_count - count + k of V' */
                x += l->Z[i + j * n] * l->right[free_count - count + k + j * free_count];
            l->basis[i + k * n] = x;
        }
}

/* Transforms the basis so that it has ones at the speeds that represent it, B := B (B_rep)^-1, by elimination
 * on columns. The rows with the largest pivots are chosen, unless the choice of another basis is taken over.
 * Returns false if the columns depend on each other. */
static bool represent(lw_loop_null *l, lw_null *null) {
    const int n = l->count, count = l->shape->count;
    for (int k = 0; k < count; k++) {
        int row = -1, best = k;
        for (int i = 0; i < n; i++) {
            if (null->follow && l->speed[i] != null->follow->rep[k]) continue;
            bool taken = false;
            for (int j = 0; j < k; j++) taken |= null->rep[j] == l->speed[i];
            for (int j = k; j < count && !taken; j++)
                if (row < 0 || fabs(l->basis[i + j * n]) > fabs(l->basis[row + best * n])) row = i, best = j;
        }
        double pivot = row < 0 ? 0 : l->basis[row + best * n];
        if (!(fabs(pivot) > 1e-9)) return false;
        null->rep[k] = l->speed[row];
        for (int i = 0; i < n; i++) {
            double x = l->basis[i + best * n];
            l->basis[i + best * n] = l->basis[i + k * n];
            l->basis[i + k * n] = x / pivot;
        }
        for (int j = 0; j < count; j++) {
            double x = l->basis[row + j * n];
            if (j == k || x == 0) continue;
            for (int i = 0; i < n; i++) l->basis[i + j * n] -= x * l->basis[i + k * n];
        }
    }
    return true;
}

/* Puts the columns of the basis, and the twists that they cause, into null. */
static void store_directions(const lw_loop_null *l, lw_null *null) {
    const lw_null_shape *shape = l->shape;
    const lw_model *model = shape->model;
    const int n = l->count, nv = model->nv;
    for (int k = 0; k < shape->count; k++) {
        double *value = null->value + shape->entry_start[k];
        int rep = 0;
        while (l->speed[rep] != null->rep[k]) rep++;
        memset(value, 0, (size_t)nv * sizeof *value);
        for (int i = 0; i < n; i++) value[l->speed[i]] = l->basis[i + k * n] * l->scale[i] / l->scale[rep];
        for (int b = 1; b <= model->body_count; b++) {
            double *twist = null->twist + 6 * (shape->moved_start[k] + b - 1);
            memset(twist, 0, 6 * sizeof *twist);
            for (int i = 0; i < n; i++)
                lw_v6_axpy(l->basis[i + k * n] / l->scale[rep],
                           l->jacobian + 6 * ((size_t)n * (size_t)b + (size_t)i), twist);
        }
    }
}

lw_status lw_loop_null_at(lw_loop_null *l, lw_null *null, lw_data *data, lw_error *error) {
    const int count = l->shape->count;
    allowed(l, data);
    if (!count) return LW_OK;
    kinetic(l, data);
    int free_count = still(l);
    /* If one more motion is massless, the position is singular: the smallest singular value that is not of a
     * direction must exceed rounding. */
    if (free_count < count ||
        (free_count > count && !(l->values[free_count - count - 1] > 1e-13 * l->values[0])))
        return lw_fail(
            error, LW_ERROR_SINGULAR, NULL,
            "give some mass to the bodies without, or choose another position",
            "bodies without mass are in a singular position: there are more motions without mass than "
            "elsewhere");
    take_last(l, free_count, count);
    if (!represent(l, null))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, "choose another position",
                       "motions without mass of closed loops depend on each other there");
    store_directions(l, null);
    return LW_OK;
}

void lw_loop_close(lw_loop_null *l, double rate, const double *violation, double *v) {
    const lw_model *model = l->shape->model;
    int n = l->count, m = l->rows->count;
    double *x = l->values;
    if (!l->rank) return;
    memset(x, 0, (size_t)n * sizeof *x);
    for (int k = 0; k < l->rank; k++) {
        int r = l->order[k];
        x[k] = violation[r] * (lw_row_is_length(model, l->rows, r) ? 1 / l->shape->length : 1);
    }
    lw_qr_triangle(true, l->rank, n, l->J, 1, x, n);
    lw_qr_apply(l->qr, false, n, m, l->J, 1, x);
    for (int a = 0; a < n; a++) v[l->speed[a]] -= rate * x[a] * l->scale[a];
}

/* --- structure ---------------------------------------------------------------------------------------- */

/* Takes the initial position (number 0) or one beside it, with its loops closed. */
static void position(const lw_model *model, lw_projection *projection, const double *unit, int number,
                     double *q, double *v, lw_data *data) {
    uint64_t random = 77u + (uint64_t)number;
    lw_violation left;
    memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    for (int k = 0; k < model->nv; k++) v[k] = 0.2 * lw_pseudo_random(&random) * unit[k];
    if (number) lw_integrate_q(model, q, v, 1);
    lw_project_positions(projection, 0, q, 60, &left, NULL);
    lw_take_state(model, data, 0, q, NULL);
    lw_velocities(model, data);
    lw_world_poses(model, data);
}

lw_status lw_loops_structure(lw_null_shape *shape, int *mobility, lw_error *error) {
    enum { POSITIONS = 3 };
    const lw_model *model = shape->model;
    bool deficient = mobility != NULL;
    double P[36];
    for (int i = 1; i <= model->body_count && !deficient; i++)
        deficient = lw_kinetic_own(model, i, shape->length, P) < 6;
    if (!deficient) return LW_OK; /* Every motion moves mass. */
    lw_arena *arena = lw_arena_create(NULL);
    lw_data *data = NULL;
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_loop_null *l = arena ? lw_loop_null_create(shape, arena) : NULL;
    double *q = LW_NEW(arena, double, model->nq + 1), *v = LW_NEW(arena, double, model->nv + 1);
    bool fine = l && !lw_arena_failed(arena) && projection && lw_data_create(model, NULL, &data) == LW_OK;
    int fewest = -1, n = fine ? l->count : 0;
    for (int k = 0; k <= POSITIONS && fine; k++) {
        /* The last round is at the initial position again, for the choice of the representing speeds. */
        position(model, projection, shape->unit, k % POSITIONS, q, v, data);
        allowed(l, data);
        kinetic(l, data);
        int free_count = still(l), without = 0;
        while (without < free_count &&
               !(l->values[free_count - 1 - without] > kinetic_zero * fmax(l->values[0], 1e-300)))
            without++;
        if (k == POSITIONS) {
            if (mobility) *mobility = free_count;
            take_last(l, free_count, fewest < free_count ? fewest : free_count);
            break;
        }
        if (fewest < 0 || without < fewest) fewest = without;
    }
    /* Pivoting on the transpose of the basis finds the rows that are farthest from dependent. */
    if (fine && fewest > 0) {
        double *T = LW_NEW(arena, double, (size_t)n *(size_t)fewest + 1);
        int *order = LW_NEW(arena, int, n + 1), *reps = LW_NEW(arena, int, fewest + 1);
        fine = !lw_arena_failed(arena);
        if (fine) {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < fewest; k++) T[k + i * fewest] = l->basis[i + k * n];
            lw_qr_factor(l->qr, fewest, n, T, order, LW_RANK_TOLERANCE);
            for (int k = 0; k < fewest; k++) reps[k] = l->speed[order[k]];
            fine = lw_null_shape_fill(shape, fewest, reps);
        }
    }
    lw_loop_null_destroy(l);
    lw_projection_destroy(projection);
    lw_data_destroy(data);
    if (arena) lw_arena_destroy(arena);
    return fine ? LW_OK : lw_out_of_memory(error);
}

/* --- accelerations ------------------------------------------------------------------------------------ */

struct lw_loop_system {
    lw_loop_null *null;
    lw_symmetric *symmetric; /* Workspace of the Cholesky factor. */
    double *M;               /* nv x nv: the mass matrix. */
    double *q, *v;           /* The state, which the mass matrix and inverse dynamics overwrite in data. */
    double *vdot;            /* Per speed: the accelerations found so far. */
    double *force;           /* Per speed: Q - h - M vdot + J'lambda. */
    double *A;               /* M + s E of the free speeds, in units of length. */
    double added;            /* s */
    double *small;           /* Z'A Z, factored. */
    double *x;               /* Per free speed, in units of length: the change of vdot in the last round. */
    double uncertainty;      /* The relative error that rounding leaves in the accelerations. */
    int uncertain;           /* The speed with the largest such error. */
    double *load;            /* Per free speed, in units of length: the residual of the forces. */
    double *rhs;             /* Per row, in units of length: the residual of the rows. */
};

lw_loop_system *lw_loop_system_create(lw_loop_null *null, lw_arena *arena) {
    const lw_model *model = null->shape->model;
    lw_loop_system *s = LW_NEW(arena, lw_loop_system, 1);
    size_t nv = (size_t)model->nv + 1;
    if (!s) return NULL;
    s->null = null;
    s->M = LW_NEW(arena, double, nv *nv);
    s->q = LW_NEW(arena, double, model->nq + 1);
    s->v = LW_NEW(arena, double, nv);
    s->vdot = LW_NEW(arena, double, nv);
    s->force = LW_NEW(arena, double, nv);
    s->small = LW_NEW(arena, double, nv *nv);
    s->A = LW_NEW(arena, double, nv *nv);
    s->x = LW_NEW(arena, double, nv);
    s->load = LW_NEW(arena, double, nv);
    s->rhs = LW_NEW(arena, double, null->rows->count + 1);
    s->symmetric = lw_symmetric_create(null->count + 1);
    if (s->M && !lw_arena_failed(arena) && s->symmetric) return s;
    lw_loop_system_destroy(s);
    return NULL;
}

void lw_loop_system_destroy(lw_loop_system *s) {
    if (s) lw_symmetric_destroy(s->symmetric);
}

/* Computes A = M + s E of the free speeds in units of length, and factors Z'A Z. */
static bool factor_system(lw_loop_system *s, const lw_loop_equations *e) {
    lw_loop_null *l = s->null;
    const int n = l->count, nv = l->shape->model->nv, free_count = n - l->rank;
    double *AZ = l->basis;
    lw_mass_matrix_held(l->shape->model, e->data, e->t, s->q, s->M); /* may set the state in data, at rest */
    s->added = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double entry = s->M[l->speed[a] + (size_t)l->speed[b] * (size_t)nv] * l->scale[a] * l->scale[b];
            s->A[a + b * n] = entry;
            if (a == b) s->added = fmax(s->added, entry);
        }
    if (!(s->added > 0)) s->added = 1;
    for (int k = 0; k < l->shape->count; k++)
        for (int a = 0; a < n; a++)
            if (l->speed[a] == e->reps[k]) s->A[a + a * n] += s->added;
    if (!free_count) return true;
    lw_dense_multiply(false, false, n, free_count, n, 1, s->A, l->Z, 0, AZ);
    lw_dense_multiply(true, false, free_count, free_count, n, 1, l->Z, AZ, 0, s->small);
    return lw_cholesky_factor(s->symmetric, free_count, s->small, NULL);
}

/* Computes the residuals of the equations at accelerations vdot and multipliers lambda: load and rhs in units
 * of length, and force per speed, which at prescribed speeds gives the force of the drive. */
static void find_rest(lw_loop_system *s, const lw_loop_equations *e, const double *vdot) {
    const lw_loop_null *l = s->null;
    const lw_model *model = l->shape->model;
    const int n = l->count, m = l->rows->count, nv = model->nv;
    lw_inverse_held(model, e->data, e->t, s->q, s->v, vdot, s->force); /* M vdot + h - Q */
    lw_take_state(model, e->data, e->t, s->q, s->v);
    for (int k = 0; k < nv; k++) {
        s->force[k] = (e->tau ? e->tau[k] : 0) - s->force[k];
        for (int r = 0; r < m; r++) s->force[k] += l->G[k + (size_t)r * (size_t)nv] * e->lambda[r];
    }
    for (int a = 0; a < n; a++) s->load[a] = s->force[l->speed[a]] * l->scale[a];
    for (int k = 0; k < l->shape->count; k++)
        for (int a = 0; a < n; a++) {
            double rest = (e->given ? e->given[l->speed[a]] : 0) - vdot[l->speed[a]];
            if (l->speed[a] == e->reps[k]) s->load[a] += s->added * rest / l->scale[a];
        }
    for (int r = 0; r < m; r++) {
        double rest = -e->defect[r];
        for (int a = 0; a < n; a++) rest -= l->G[l->speed[a] + (size_t)r * (size_t)nv] * vdot[l->speed[a]];
        s->rhs[r] = rest * (lw_row_is_length(model, l->rows, r) ? 1 / l->shape->length : 1);
    }
}

/* Adds to vdot and lambda the corrections that the residuals require: x = Q_1 R_11^-T (rhs of the independent
 * rows) + Z z and J'lambda = A x - load. */
static void solve_rest(lw_loop_system *s, double *vdot, double *lambda) {
    lw_loop_null *l = s->null;
    const int n = l->count, m = l->rows->count, rank = l->rank, free_count = n - rank;
    memset(s->x, 0, (size_t)n * sizeof *s->x);
    for (int k = 0; k < rank; k++) s->x[k] = s->rhs[l->order[k]];
    if (rank) {
        lw_qr_triangle(true, rank, n, l->J, 1, s->x, n);
        lw_qr_apply(l->qr, false, n, m, l->J, 1, s->x);
    }
    lw_dense_times(false, n, n, -1, s->A, s->x, 1, s->load);
    if (free_count) {
        double *z = l->values;
        lw_dense_times(true, n, free_count, 1, l->Z, s->load, 0, z);
        lw_cholesky_solve(s->symmetric, free_count, s->small, 1, z);
        lw_dense_times(false, n, free_count, 1, l->Z, z, 1, s->x);
        lw_dense_times(false, n, free_count, -1, l->basis, z, 1, s->load);
    }
    for (int a = 0; a < n; a++) vdot[l->speed[a]] += s->x[a] * l->scale[a];
    if (!rank) return;
    for (int a = 0; a < n; a++) s->load[a] = -s->load[a];
    lw_qr_apply(l->qr, true, n, m, l->J, 1, s->load);
    lw_qr_triangle(false, rank, n, l->J, 1, s->load, n);
    for (int k = 0; k < rank; k++) {
        int r = l->order[k];
        bool length = lw_row_is_length(l->shape->model, l->rows, r);
        lambda[r] += s->load[k] * (length ? 1 / l->shape->length : 1);
    }
}

/* Measures the change of the accelerations in the last round, each relative to those of its joint (at least
 * 1/s^2), as the error that rounding leaves. Keeps the speed with the largest change. */
static void find_uncertainty(lw_loop_system *s) {
    const lw_loop_null *l = s->null;
    const lw_model *model = l->shape->model;
    s->uncertainty = 0;
    for (int a = 0; a < l->count; a++) {
        const lw_link *link = &model->links[lw_body_of_speed(model, l->speed[a])];
        double size = 1;
        for (int k = link->v; k < link->v + link->joint.nv; k++)
            size = fmax(size, fabs(s->vdot[k]) / l->shape->unit[k]);
        if (fabs(s->x[a]) > s->uncertainty * size)
            s->uncertainty = fabs(s->x[a]) / size, s->uncertain = l->speed[a];
    }
}

double lw_loop_uncertainty(const lw_loop_system *s, int *speed) {
    *speed = s->uncertain;
    return s->uncertainty;
}

/* Light bodies among heavy ones, and motions that move next to no mass, may have large accelerations that
 * hardly affect other bodies. Two further rounds from the residuals find the accelerations of the other
 * bodies as accurately as rounding allows, and measure this accuracy. */
lw_status lw_loop_solve(lw_loop_system *s, const lw_loop_equations *e, lw_error *error) {
    enum { ROUNDS = 3 };
    const lw_model *model = s->null->shape->model;
    lw_data *data = e->data;
    memcpy(s->q, data->q, (size_t)model->nq * sizeof *s->q);
    memcpy(s->v, data->v, (size_t)model->nv * sizeof *s->v);
    memset(s->vdot, 0, (size_t)model->nv * sizeof *s->vdot);
    memset(e->lambda, 0, (size_t)s->null->rows->count * sizeof *e->lambda);
    if (!factor_system(s, e)) {
        lw_take_state(model, data, e->t, s->q, s->v);
        return lw_fail(
            error, LW_ERROR_SINGULAR, NULL,
            "choose another position, or give some mass to the bodies without",
            "the mechanism is in a singular position at t = %g: a motion that its loops allow moves "
            "no mass there",
            e->t);
    }
    for (int round = 0; round < ROUNDS; round++) {
        find_rest(s, e, s->vdot);
        solve_rest(s, s->vdot, e->lambda);
        find_uncertainty(s);
    }
    if (model->motion_count) { /* The drives of prescribed speeds take the residual. */
        find_rest(s, e, s->vdot);
        for (int k = 0; k < model->nv; k++) data->drive[k] = -s->force[k];
    }
    for (int a = 0; a < s->null->count; a++) data->vdot[s->null->speed[a]] = s->vdot[s->null->speed[a]];
    return LW_OK;
}
