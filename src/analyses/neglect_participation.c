/* neglect_participation.c - the participation of small inertia in the motions that remain without it.
 *
 * Without the small inertia A = sum A_b the mechanism has the mass matrix M0, and may have motions N without
 * mass (M0 N = 0). Springs and dampers determine how these follow all others: for a motion w that grows or
 * decays at the rate s
 *
 *   N'(K + s C) T w = 0,      T w = w + N z,      K = -dQ/dq,  C = -dQ/dv
 *
 * (for s = 0 this is Guyan's static condensation). Then
 *
 *   participation of b = max over w of (T w)'A_b T w / w'M0 w
 *
 * is, to first order, the relative change of inertia due to b in a remaining motion, in any coordinates and
 * units: a mass at the long end of a lever and a rotor behind a gear count with their effective inertia. The
 * rates s are some that a run can show.
 *
 * Loops and constraints J v = 0: all motions are v = Z y, J Z = 0. Speeds are scaled by the mass matrix of
 * the true bodies, so that its diagonal is one.
 *
 * Source   R. J. Guyan (1965); docs/theory/neglect.md.
 * Cost     O(n^3) at the initial position, up to SPEEDS_MAX speeds.
 */
#include "analyses/neglect_participation.h"
#include "constraints/loop_constraints.h"
#include "dynamics/tree_dynamics.h"
#include "linalg/dense.h"
#include "model/compile/compile.h"
#include "model/joint.h"
#include <linkwork/assemble.h>
#include <linkwork/tree.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPEEDS_MAX = 200, RATES = 3, ROUNDS = 100 };
static const double massless = 1e-11; /* eigenvalue of the scaled mass matrix without the small inertia */
static const double held = 1e-9;      /* of the largest singular value of N'(K + s C) N */
static const double rates[RATES] = {1, 30, 1000}; /* per run */

/* Sums of v v' of a centre of mass, and of w w' in the axes of the spec. */
typedef struct squares {
    double v[6], w[6];
} squares;

typedef struct view {
    const lw_model *model; /* without the small inertia */
    lw_arena *arena;
    lw_data *data;
    lw_orthogonal *space; /* of the factorisations */
    int n, free, dynamic; /* speeds that are not prescribed; motions that loops allow; those with mass */
    int *speed;
    double *scale;
    double *q, *v;
    double *K, *C;    /* n x n, scaled */
    double *Z;        /* n x free */
    double *motions;  /* n x free: dynamic ones, of unit kinetic energy, then those without mass */
    double *followed; /* n x dynamic: T w */
    double *work[4];  /* n x n each */
    double *values;
    int *order;
    double *still; /* 6 per body: its velocity due to prescribed motions alone. */
    squares *sums; /* per body */
} view;

static bool view_create(view *s, const lw_model *with) {
    const lw_model *model = s->model;
    size_t nv = (size_t)model->nv + 1, square;
    lw_arena *arena = s->arena = lw_arena_create(NULL);
    if (!arena || lw_data_create(model, NULL, &s->data) != LW_OK) return false;
    s->speed = LW_NEW(arena, int, nv);
    s->scale = LW_NEW(arena, double, nv);
    s->q = LW_NEW(arena, double, model->nq + 1);
    s->v = LW_NEW(arena, double, nv);
    lw_rows *rows = lw_rows_create_loops(with, arena);
    if (lw_arena_failed(arena) || !rows) return false;
    size_t larger = nv > (size_t)rows->count + 1 ? nv : (size_t)rows->count + 1;
    square = nv * larger;
    double **all[] = {&s->K,       &s->C,       &s->Z,       &s->motions, &s->followed,
                      &s->work[0], &s->work[1], &s->work[2], &s->work[3]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = LW_NEW(arena, double, square))) return false;
    s->values = LW_NEW(arena, double, nv);
    s->order = LW_NEW(arena, int, larger);
    s->still = LW_NEW(arena, double, 6 * ((size_t)model->body_count + 1));
    s->sums = LW_NEW(arena, squares, (size_t)model->body_count + 1);
    s->space = lw_orthogonal_create((int)larger, (int)larger, true);
    return !lw_arena_failed(arena) && s->space;
}

static void view_destroy(view *s) {
    lw_orthogonal_destroy(s->space);
    lw_data_destroy(s->data);
    if (s->arena) lw_arena_destroy(s->arena);
}

/* --- the remaining motions ---------------------------------------------------------------------------- */

/* Which speeds are free, and their units: those of the true mass matrix, or of the largest of the kind. */
static void choose_units(view *s, const double *M) {
    const lw_model *model = s->model;
    double most[2] = {0}; /* slides, turns */
    for (int pass = 0; pass < 2; pass++)
        for (int i = s->n = 0; i <= model->body_count; i++) {
            const lw_link *link = &model->links[i];
            for (int k = 0; i > 0 && k < link->joint.nv; k++) {
                bool turns = lw_joint_speed_turns(link->joint.type, k);
                double own = M[(size_t)(link->v + k) * ((size_t)model->nv + 1)];
                if (link->prescribed >> k & 1) continue;
                most[turns] = fmax(most[turns], own);
                if (!(own > 0)) own = most[turns] > 0 ? most[turns] : 1;
                s->speed[s->n] = link->v + k;
                s->scale[s->n++] = 1 / sqrt(own);
            }
        }
}

/* Z: J Z = 0. */
static void allow(view *s) {
    const lw_model *model = s->model;
    int n = s->n, rank = 0;
    double *loops = s->work[0], *J = s->work[1];
    lw_rows *rows = lw_rows_create_loops(model, s->arena);
    int m = rows ? rows->count : 0;
    if (m) {
        lw_rows_evaluate(model, s->data, false, rows);
        lw_loop_constraint_matrix(model, s->data, rows, loops);
        for (int r = 0; r < m; r++) {
            double norm = 0;
            for (int k = 0; k < n; k++) {
                J[k + r * n] = s->scale[k] * loops[s->speed[k] + r * model->nv];
                norm = hypot(norm, J[k + r * n]);
            }
            for (int k = 0; k < n; k++) J[k + r * n] /= norm > 0 ? norm : 1;
        }
        rank = lw_qr_factor(s->space, n, m, J, s->order, LW_RANK_TOLERANCE);
    }
    s->free = n - rank;
    memset(s->Z, 0, (size_t)n * (size_t)s->free * sizeof *s->Z);
    for (int k = 0; k < s->free; k++) s->Z[rank + k + k * n] = 1;
    if (m && s->free) lw_qr_apply(s->space, false, n, m, J, s->free, s->Z);
}

/* Motions with and without mass: eigenvectors of Z'M0 Z. M0 is given for all speeds. */
static bool sort_motions(view *s, const double *M0) {
    int n = s->n, f = s->free;
    double *scaled = s->work[0], *product = s->work[1], *A = s->work[2], *U = s->work[3], *Vt = s->work[0];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            scaled[a + b * n] = s->scale[a] * s->scale[b] *
                                M0[(size_t)s->speed[a] + (size_t)s->speed[b] * (size_t)s->model->nv];
    lw_dense_multiply(false, false, n, f, n, 1, scaled, s->Z, 0, product);
    lw_dense_multiply(true, false, f, f, n, 1, s->Z, product, 0, A);
    lw_svd(s->space, f, f, A, s->values, U, Vt, massless);
    for (s->dynamic = 0; s->dynamic < f && s->values[s->dynamic] > massless;) s->dynamic++;
    if (s->dynamic == 0) return false;
    lw_dense_multiply(false, false, n, f, f, 1, s->Z, U, 0, s->motions);
    for (int k = 0; k < s->dynamic; k++)
        for (int i = 0; i < n; i++) s->motions[i + k * n] /= sqrt(s->values[k]);
    return true;
}

/* --- the motions without mass ------------------------------------------------------------------------- */

/* K and C by central differences of the forces at rest. */
static void find_stiffness(view *s, double length) {
    const lw_model *model = s->model;
    int n = s->n, nv = model->nv;
    double *speed = s->values, *moved = s->work[0], *side[2] = {s->work[1], s->work[2]}, *zero = s->work[3];
    memset(zero, 0, (size_t)nv * sizeof *zero);
    for (int damping = 0; damping < 2; damping++)
        for (int k = 0; k < n; k++) {
            bool turns = false;
            for (int i = 1; i <= model->body_count; i++) {
                int own = s->speed[k] - model->links[i].v;
                if (own >= 0 && own < model->links[i].joint.nv)
                    turns = lw_joint_speed_turns(model->links[i].joint.type, own);
            }
            double h = 1e-5 * (turns ? 1 : length), *to = damping ? s->C : s->K;
            for (int sign = 0; sign < 2; sign++) {
                memset(speed, 0, (size_t)nv * sizeof *speed);
                memcpy(moved, s->q, (size_t)model->nq * sizeof *moved);
                speed[s->speed[k]] = sign ? -h : h;
                if (!damping) lw_integrate_q(model, moved, speed, 1);
                lw_open_inverse(model, s->data, 0, moved, damping ? speed : zero, zero, side[sign]);
            }
            for (int i = 0; i < n; i++)
                to[i + k * n] =
                    s->scale[i] * s->scale[k] * (side[0][s->speed[i]] - side[1][s->speed[i]]) / (2 * h);
        }
}

/* followed = T w for all w at one rate. */
static void follow(view *s, double rate) {
    int n = s->n, d = s->dynamic, k = s->free - d;
    const double *N = s->motions + (size_t)n * (size_t)d;
    double *D = s->work[0], *side = s->work[1], *A = s->work[2], *U = s->work[3];
    memcpy(s->followed, s->motions, (size_t)n * (size_t)d * sizeof *s->followed);
    if (k == 0) return;
    for (int i = 0; i < n * n; i++) D[i] = s->K[i] + rate * s->C[i];
    lw_dense_multiply(true, false, k, n, n, 1, N, D, 0, side); /* N'D */
    lw_dense_multiply(false, false, k, k, n, 1, side, N, 0, A);
    double *B = s->work[0]; /* D is no longer needed. */
    lw_dense_multiply(false, false, k, d, n, -1, side, s->motions, 0, B);
    double *Vt = s->work[1];
    int rank = lw_svd(s->space, k, k, A, s->values, U, Vt, held);
    double *z = s->work[2];
    lw_dense_multiply(true, false, k, d, k, 1, U, B, 0, z); /* U'B, divided by the singular values */
    for (int j = 0; j < d; j++)
        for (int i = 0; i < k; i++) z[i + j * k] = i < rank ? z[i + j * k] / s->values[i] : 0;
    lw_dense_multiply(true, false, k, d, k, 1, Vt, z, 0, B);
    lw_dense_multiply(false, false, n, d, k, 1, N, B, 1, s->followed);
}

/* --- energies ----------------------------------------------------------------------------------------- */

static void add_square(double S[6], const double x[3]) {
    S[0] += x[0] * x[0], S[1] += x[1] * x[1], S[2] += x[2] * x[2];
    S[3] += x[0] * x[1], S[4] += x[0] * x[2], S[5] += x[1] * x[2];
}

/* Sums of v v' and w w' over all columns of followed, for each body, without the contribution of prescribed
 * motions. */
static void sum_motions(view *s) {
    const lw_model *model = s->model;
    double *speed = s->work[0], *still = s->still;
    memset(s->sums, 0, ((size_t)model->body_count + 1) * sizeof *s->sums);
    for (int c = -1; c < s->dynamic; c++) {
        memset(speed, 0, (size_t)model->nv * sizeof *speed);
        for (int k = 0; c >= 0 && k < s->n; k++) speed[s->speed[k]] = s->scale[k] * s->followed[k + c * s->n];
        lw_take_state(model, s->data, 0, s->q, speed);
        lw_velocities(model, s->data);
        for (int b = 1; b <= model->body_count; b++) {
            double V[6], w[3];
            for (int k = 0; k < 6; k++) V[k] = s->data->motion[b].V[k] - (c < 0 ? 0 : still[6 * b + k]);
            if (c < 0) memcpy(still + 6 * b, V, sizeof V);
            if (c < 0) continue;
            lw_v3_add_cross(V, model->bodies[b].com, V + 3);
            lw_m3_tmul_v(model->bodies[b].frame.R, V, w);
            add_square(s->sums[b].v, V + 3);
            add_square(s->sums[b].w, w);
        }
    }
}

/* The largest |eigenvalue| of I S, S >= 0, by power iteration. */
static double largest_energy(const double I[6], const double S[6]) {
    double y[3] = {1, 0.7, 0.4}, part[3], next[3], size = 0;
    for (int k = 0; k < ROUNDS; k++) {
        lw_s3_mul_v(I, y, part);
        lw_s3_mul_v(S, part, next);
        size = lw_v3_norm(next);
        if (!(size > 0)) return 0;
        for (int i = 0; i < 3; i++) y[i] = next[i] / size;
    }
    return size;
}

static void find_energies(view *s, lw_participation *list, int count) {
    for (int k = 0; k < count; k++) {
        int b = lw_model_body(s->model, list[k].body);
        double e[3];
        lw_principal_moments(s->sums[b].v, e);
        list[k].by_mass = fmax(list[k].by_mass, list[k].mass * e[2]);
        list[k].by_inertia = fmax(list[k].by_inertia, largest_energy(list[k].inertia, s->sums[b].w));
    }
}

lw_status lw_participation_find(const lw_model *with, const lw_model *without, lw_participation *list,
                                int count, lw_error *error) {
    view s = {.model = without};
    for (int k = 0; k < count; k++) list[k].by_mass = list[k].by_inertia = 0;
    if (with->nv != without->nv || with->nv > SPEEDS_MAX || with->nv == 0) return LW_OK;
    lw_data *data = NULL;
    double *M = calloc(2 * (size_t)with->nv * (size_t)with->nv, sizeof *M),
           *M0 = M + (size_t)with->nv * (size_t)with->nv;
    lw_status status = LW_OK;
    if (!M || !view_create(&s, with) || lw_data_create(with, NULL, &data) != LW_OK)
        status = lw_out_of_memory(error);
    if (status == LW_OK) {
        lw_model_initial_state(with, s.q, s.v);
        if (lw_assemble(with, 0, s.q, s.v, NULL, NULL) == LW_OK) {
            lw_tree_mass_matrix(with, data, 0, s.q, M);
            lw_tree_mass_matrix(without, s.data, 0, s.q, M0);
            lw_take_state(without, s.data, 0, s.q, NULL);
            lw_velocities(without, s.data);
            lw_world_poses(without, s.data);
            double length = 0;
            for (int b = 1; b <= without->body_count; b++)
                for (int k = 0; k < 3; k++) length = fmax(length, fabs(s.data->world[b].p[k]));
            choose_units(&s, M);
            allow(&s);
            if (s.free > 0 && sort_motions(&s, M0)) {
                const double end = without->run.end > 0 ? without->run.end : 10;
                find_stiffness(&s, length > 0 ? length : 1);
                for (int k = 0; k < RATES; k++) {
                    follow(&s, rates[k] / end);
                    sum_motions(&s);
                    find_energies(&s, list, count);
                }
            }
        }
    }
    free(M);
    lw_data_destroy(data);
    view_destroy(&s);
    return status;
}
