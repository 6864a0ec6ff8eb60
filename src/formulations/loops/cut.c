/* cut.c - the formulation `cut`: the traditional treatment of closed loops in joint coordinates.
 *
 *   vdot = eta + zeta lambda                                                       (13)
 *   [Phi_q zeta] lambda = psi - Phi_q eta                                          (32)
 *
 * eta is the acceleration of the tree with all loops cut, column c of zeta what the unit constraint load c
 * adds to it: the recursion of the tree for eta, and its passes once more for each column. The matrix is
 * symmetric and positive semi-definite; rows that depend on others are left out by pivoting. Where bodies of
 * a loop differ so much in inertia that its pivots lose the heavy ones, rows are told apart by their geometry
 * instead, G = Q R with pivoting, and lambda is corrected by what vdot leaves of the rows.
 *
 * Source   Anderson & Critchley (2003), eqs 13, 28-32; docs/theory/cut.md.
 * Cost     O(n + n m + n m^2 + m^3) per call, no allocation.
 * Limits   each joint of the tree must move some inertia; dense in the number m of rows.
 */
#include "constraints/balance/balance.h"
#include "formulations/common/loop_method_base.h"
#include "constraints/projection.h"
#include "formulations/common/absolute_method_base.h"
#include "constraints/loop_constraints.h"
#include "formulations/common/tree_method_base.h"
#include "linalg/dense.h"
#include "model/joint.h"

#define LANES 1
#include "dynamics/tree_forward.h"

#include <math.h>
#include <string.h>

typedef struct cut_method {
    lw_loop_method loop_base;
    lw_projection *projection;
    double *G;    /* Phi_q: speeds x rows, column by column */
    double *zeta; /* the same size */
    double *A;    /* rows x rows */
    double *b;    /* per row */
    double *scale;
    int *order;
    double *force; /* 6 per body, 0 .. n: bias wrenches of a column */
    double *rise;  /* 6 per body, 0 .. n: accelerations of a column */
    double *q, *vdot, *work;
    double least[2]; /* inverse of the mechanism's mass, and of its inertia */
    double length;   /* of a link */
    double condition;
    /* where masses differ much */
    lw_orthogonal *orthogonal;
    double *QR;            /* the size of G */
    double *rest, *change; /* per row: what vdot leaves of it; per speed: by how much it differs from eta */
    double *push;          /* per speed: the caller's tau and what the multipliers do */
} cut_method;

extern const lw_formulation lw_formulation_cut;

/* Of a pivot relative to the largest of its kind: redundant rows leave rounding. */
static const double vanished = 1e-12;
/* The condition beyond which digits are lost: then the residuals of the rows are examined. */
static const double doubtful = 1e6, certain = 1e-9; /* certain: a correction, of the accelerations */

/* --- one column: vdot = M^-1 tau with the inertias that the recursion for eta has left -------------- */

/* u = tau - S'f and what the parent gets, f + U D^-1 u, for joint i; u replaces what eta needed. */
static void hand_force(const recursion *r, int i, const double *tau, double *u, double *f, double *parent) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    int nv = link->joint.nv, kernel = link->kernel;
    double z[LW_JOINT_MAX_V], moved[6];
    if (kernel < LW_KERNEL_SPHERICAL) {
        u[0] = link->sign * tau[0] - f[kernel];
        lw_v6_axpy(own->d * u[0], own->U, f);
    } else if (kernel == LW_KERNEL_SPHERICAL) { /* U D^-1 u = (u; B'A^-1 u) */
        double t[3];
        for (int k = 0; k < 3; k++) z[k] = u[k] = tau[k] - f[k];
        solve_lower(3, 0, r->D + 6 * link->v, z);
        solve_upper(3, 0, r->D + 6 * link->v, z);
        lw_m3_tmul_v(r->U + 6 * link->v, z, t);
        for (int k = 0; k < 3; k++) f[k] = tau[k], f[3 + k] += t[k];
    } else if (kernel == LW_KERNEL_FREE) { /* the parent feels S^-T tau alone */
        const double *S = r->S + 6 * link->v;
        double w[6];
        for (int k = 0; k < 3; k++) {
            w[k] = tau[3 + k];
            w[3 + k] = S[3 + k] * tau[0] + S[9 + k] * tau[1] + S[15 + k] * tau[2];
        }
        for (int k = 0; k < 6; k++) u[k] = w[k] - f[k], f[k] = w[k];
    } else {
        for (int k = 0; k < nv; k++) z[k] = u[k] = tau[k] - lw_v6_dot(r->S + 6 * (link->v + k), f);
        solve_lower(nv, link->prescribed, r->D + 6 * link->v, z);
        solve_upper(nv, link->prescribed, r->D + 6 * link->v, z);
        for (int k = 0; k < nv; k++)
            if (!(link->prescribed >> k & 1)) lw_v6_axpy(z[k], r->U + 6 * (link->v + k), f);
    }
    if (link->parent == 0) return;
    if (kernel < LW_KERNEL_PRISMATIC) {
        turn(kernel, r->cosine[link->v], r->sine[link->v], f, moved);
        turn(kernel, r->cosine[link->v], r->sine[link->v], f + 3, moved + 3);
        lw_v3_add_cross(link->p, moved + 3, moved);
    } else if (kernel < LW_KERNEL_SPHERICAL) {
        memcpy(moved, f, sizeof moved);
        lw_v3_add_cross(r->relative[i].p, moved + 3, moved);
    } else
        lw_wrench_to_parent(r->relative[i].R, r->relative[i].p, f, moved);
    lw_v6_axpy(1, moved, parent);
}

/* Acceleration of body i from that of its parent (no bias, no gravity), and of its joint. */
static void rise(const recursion *r, int i, const double *u, const double *parent, double *a, double *vdot) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    int nv = link->joint.nv, kernel = link->kernel;
    double z[LW_JOINT_MAX_V], t[3];
    const double *p = kernel < LW_KERNEL_PRISMATIC ? link->p : r->relative[i].p;
    lw_v3_cross(parent, p, t);
    lw_v3_add(t, parent + 3, t);
    if (kernel < LW_KERNEL_PRISMATIC) {
        turn_back(kernel, r->cosine[link->v], r->sine[link->v], parent, a);
        turn_back(kernel, r->cosine[link->v], r->sine[link->v], t, a + 3);
    } else if (kernel < LW_KERNEL_SPHERICAL) {
        lw_v3_copy(parent, a);
        lw_v3_copy(t, a + 3);
    } else {
        lw_m3_tmul_v(r->relative[i].R, parent, a);
        lw_m3_tmul_v(r->relative[i].R, t, a + 3);
    }
    if (kernel < LW_KERNEL_SPHERICAL) {
        double rate = (u[0] - lw_v6_dot(own->U, a)) * own->d;
        a[kernel] += rate;
        vdot[0] = link->sign * rate;
    } else if (kernel == LW_KERNEL_SPHERICAL) {
        const double *B = r->U + 6 * link->v;
        for (int k = 0; k < 3; k++) z[k] = u[k] - lw_v3_dot(B + 3 * k, a + 3);
        solve_lower(3, 0, r->D + 6 * link->v, z);
        solve_upper(3, 0, r->D + 6 * link->v, z);
        for (int k = 0; k < 3; k++) vdot[k] = z[k] - a[k], a[k] = z[k];
    } else if (kernel == LW_KERNEL_FREE) {
        const double *S = r->S + 6 * link->v;
        double x[6];
        memcpy(z, u, 6 * sizeof *z);
        solve_lower(6, 0, r->D + 6 * link->v, z);
        solve_upper(6, 0, r->D + 6 * link->v, z);
        for (int k = 0; k < 6; k++) x[k] = z[k] - a[k], a[k] = z[k];
        for (int k = 0; k < 3; k++) vdot[k] = lw_v3_dot(S + 6 * k + 3, x + 3), vdot[3 + k] = x[k];
    } else {
        for (int k = 0; k < nv; k++) z[k] = u[k] - lw_v6_dot(r->U + 6 * (link->v + k), a);
        solve_lower(nv, link->prescribed, r->D + 6 * link->v, z);
        solve_upper(nv, link->prescribed, r->D + 6 * link->v, z);
        for (int k = 0; k < nv; k++) {
            vdot[k] = link->prescribed >> k & 1 ? 0 : z[k];
            lw_v6_axpy(vdot[k], r->S + 6 * (link->v + k), a);
        }
    }
}

static void column(cut_method *m, const recursion *r, const double *tau, double *vdot) {
    const lw_model *model = r->model;
    int n = model->body_count;
    memset(m->force, 0, 6 * ((size_t)n + 1) * sizeof *m->force);
    memset(m->rise, 0, 6 * sizeof *m->rise);
    for (int i = n; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        hand_force(r, i, tau + link->v, m->loop_base.v + link->v, m->force + 6 * i,
                   m->force + 6 * link->parent);
    }
    for (int i = 1; i <= n; i++) {
        const lw_link *link = &model->links[i];
        rise(r, i, m->loop_base.v + link->v, m->rise + 6 * link->parent, m->rise + 6 * i, vdot + link->v);
    }
}

/* --- (13), (32) ----------------------------------------------------------------------------------- */

/* Rows made comparable: in units of the largest pivot among rows of lengths, and of angles, but at least of
 * what they would be if the whole mechanism had to follow. */
static void scale_rows(cut_method *m) {
    int rows = m->loop_base.rows->count;
    double largest[2] = {m->least[0], m->least[1]};
    for (int r = 0; r < rows; r++) {
        bool angle = !lw_row_is_length(m->loop_base.base.model, m->loop_base.rows, r);
        largest[angle] = fmax(largest[angle], m->A[r + (size_t)r * (size_t)rows]);
    }
    for (int r = 0; r < rows; r++)
        m->scale[r] = 1 / sqrt(largest[!lw_row_is_length(m->loop_base.base.model, m->loop_base.rows, r)]);
    for (int c = 0; c < rows; c++)
        for (int r = 0; r < rows; r++) m->A[r + (size_t)c * (size_t)rows] *= m->scale[r] * m->scale[c];
}

/* Adds to lambda, and to vdot, what the factors make of the rest of the rows; returns by how much of vdot's
 * own change that is. */
static double add_multipliers(cut_method *m, int rank) {
    int count = m->loop_base.rows->count, nv = m->loop_base.base.model->nv;
    double *step = m->loop_base.defect, most = 0, all = 0;
    for (int k = 0; k < count; k++) step[k] = -m->rest[k] * m->scale[k];
    lw_semidefinite_solve(count, rank, m->A, m->order, m->work, step);
    for (int k = 0; k < count; k++) {
        step[k] *= m->scale[k];
        m->loop_base.lambda[k] += step[k];
    }
    lw_dense_times(false, nv, count, 1, m->zeta, step, 0, m->vdot);
    for (int k = 0; k < nv; k++) {
        m->change[k] += m->vdot[k];
        most = fmax(most, fabs(m->vdot[k]));
        all = fmax(all, fmax(fabs(m->change[k]), fabs(m->loop_base.data->vdot[k])));
    }
    return all > 0 ? most / all : 0;
}

/* The terms of a row. */
static double size_of_row(const cut_method *m, int r) {
    int nv = m->loop_base.base.model->nv;
    const double *G = m->G + (size_t)r * (size_t)nv;
    double size = fabs(m->b[r]);
    for (int k = 0; k < nv; k++) size += fabs(G[k] * m->change[k]) + fabs(G[k] * m->loop_base.data->vdot[k]);
    return size;
}

/* What vdot leaves of the rows into rest; are they satisfied, relative to their terms? */
static bool satisfied(cut_method *m) {
    const double slight = 1e-10;
    int count = m->loop_base.rows->count, nv = m->loop_base.base.model->nv;
    bool fine = true;
    for (int r = 0; r < count; r++) {
        const double *G = m->G + (size_t)r * (size_t)nv;
        double left = m->b[r], size = fabs(left);
        for (int k = 0; k < nv; k++) left += G[k] * m->change[k], size += fabs(G[k] * m->change[k]);
        m->rest[r] = left;
        fine &= fabs(left) <= slight * size;
    }
    return fine;
}

/* Rows that are independent by their geometry alone become the first in order; returns how many they are. */
static int independent_rows(cut_method *m) {
    const double redundant = 1e-7;
    const lw_model *model = m->loop_base.base.model;
    int count = m->loop_base.rows->count, nv = model->nv;
    for (int r = 0; r < count; r++) {
        bool length = lw_row_is_length(model, m->loop_base.rows, r);
        for (int i = 1; i <= model->body_count; i++)
            for (int k = 0; k < model->links[i].joint.nv; k++) {
                size_t at = (size_t)r * (size_t)nv + (size_t)(model->links[i].v + k);
                bool turns = lw_joint_speed_turns(model->links[i].joint.type, k);
                m->QR[at] = m->G[at] * (length ? 1 / m->length : 1) * (turns ? 1 : m->length);
                if (model->links[i].prescribed >> k & 1) m->QR[at] = 0;
            }
    }
    int rank = lw_qr_factor(m->orthogonal, nv, count, m->QR, m->order, redundant);
    while (rank > 0 && !(fabs(m->QR[(size_t)(rank - 1) * (size_t)(nv + 1)]) > redundant))
        rank--; /* an angle */
    return rank;
}

/* The same by geometry: rank of the rows from G alone, their matrix with a unit diagonal, and corrections. */
static lw_status solve_by_geometry(cut_method *m, double t, const double *tau, lw_error *error) {
    enum { ROUNDS = 8, TIMES = 2 };
    const double rounding = 1e-13, good = 1e-8, hopeless = 1e10;
    int count = m->loop_base.rows->count, nv = m->loop_base.base.model->nv, rank = independent_rows(m);
    double change = HUGE_VAL;
    lw_dense_multiply(true, false, count, count, nv, 1, m->G, m->zeta, 0, m->A);
    for (int r = 0; r < count; r++) m->scale[r] = 0;
    for (int k = 0; k < rank; k++) {
        double diagonal = m->A[(size_t)m->order[k] * (size_t)(count + 1)];
        m->scale[m->order[k]] = diagonal > 0 ? 1 / sqrt(diagonal) : 0;
    }
    for (int c = 0; c < count; c++)
        for (int r = 0; r < count; r++) m->A[r + (size_t)c * (size_t)count] *= m->scale[r] * m->scale[c];
    rank = lw_semidefinite_factor(count, m->A, m->order, m->work, 1e-15, &m->condition);
    memset(m->loop_base.lambda, 0, (size_t)count * sizeof *m->loop_base.lambda);
    for (int time = 0;; time++) {
        memset(m->change, 0, (size_t)nv * sizeof *m->change);
        memcpy(m->rest, m->b, (size_t)count * sizeof *m->rest);
        for (int round = 0; round < ROUNDS; round++) {
            double last = change;
            change = add_multipliers(m, rank);
            satisfied(m);
            if (!(change > rounding) || !(change < 0.5 * last)) break;
        }
        if (time == TIMES) break;
        /* columns of zeta lose digits in their sum: the tree under the multipliers does not */
        for (int k = 0; k < nv; k++) m->push[k] = tau ? tau[k] : 0;
        lw_dense_times(false, nv, count, 1, m->G, m->loop_base.lambda, 1, m->push);
        lw_status status = lw_tree_solve(m->loop_base.base.model, m->loop_base.data, t, m->push, error);
        if (status != LW_OK) return status;
        lw_loop_method_row_defects(&m->loop_base, m->b);
        change = HUGE_VAL;
    }
    bool lost = !(change <= good);
    for (int r = 0; r < count && !lost; r++) /* a row that should count, and did not */
        lost = m->scale[r] > 0 && fabs(m->rest[r]) > good * size_of_row(m, r);
    if (!lost || m->condition < hopeless) return LW_OK;
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL, "take method massless, or give light bodies more mass",
        "bodies of the closed loops differ so much in mass and inertia that method cut loses all digits");
}

static lw_status solve(lw_loop_method *loop_base, double t, const double *tau, lw_error *error) {
    cut_method *m = (cut_method *)loop_base;
    const lw_model *model = loop_base->base.model;
    const lw_rows *rows = loop_base->rows;
    lw_data *data = loop_base->data;
    int count = rows->count, nv = model->nv;
    lw_loop_method_rows(loop_base);
    lw_loop_method_stabilise(loop_base);
    lw_status status = lw_tree_solve(model, data, t, tau, error); /* eta */
    if (status != LW_OK || count == 0) return status;
    lw_loop_method_row_defects(loop_base, m->b); /* Phi_q eta - psi */
    lw_loop_constraint_matrix(model, data, rows, m->G);
    const recursion r = recursion_of(model, data);
    for (int c = 0; c < count; c++)
        column(m, &r, m->G + (size_t)c * (size_t)nv, m->zeta + (size_t)c * (size_t)nv);
    lw_dense_multiply(true, false, count, count, nv, 1, m->G, m->zeta, 0, m->A);
    scale_rows(m);
    int rank = lw_semidefinite_factor(count, m->A, m->order, m->work, vanished, &m->condition);
    memset(m->change, 0, (size_t)nv * sizeof *m->change);
    memset(loop_base->lambda, 0, (size_t)count * sizeof *loop_base->lambda);
    memcpy(m->rest, m->b, (size_t)count * sizeof *m->rest);
    add_multipliers(m, rank);
    bool fine = satisfied(m);
    if (fine) fine = add_multipliers(m, rank) < certain && satisfied(m);
    if (!fine || m->condition > doubtful) status = solve_by_geometry(m, t, tau, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < nv; k++) data->vdot[k] += m->change[k];
    if (model->motion_count) { /* the drives of prescribed speeds hold the loops too */
        memcpy(m->q, data->q, (size_t)model->nq * sizeof *m->q);
        memcpy(loop_base->v, data->v, (size_t)nv * sizeof *loop_base->v);
        memcpy(m->vdot, data->vdot, (size_t)nv * sizeof *m->vdot);
        lw_inverse_held(model, data, t, m->q, loop_base->v, m->vdot, data->drive);
        lw_dense_times(false, nv, count, -1, m->G, loop_base->lambda, 1, data->drive);
    }
    return LW_OK;
}

/* --- the method ----------------------------------------------------------------------------------- */

static lw_status applies(const lw_model *model, lw_error *error) {
    int rows = 0;
    for (int k = 0; k < model->closure_count; k++) rows += model->joints[model->closures[k]].info.rows;
    for (int k = 0; k < model->constraint_count; k++)
        rows += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    lw_status status = lw_dense_limit("cut", rows, error);
    return status == LW_OK ? lw_tree_determined(model, error) : status;
}

static void destroy(lw_method *base) {
    if (base) lw_projection_destroy(((cut_method *)base)->projection);
    if (base) lw_orthogonal_destroy(((cut_method *)base)->orthogonal);
    lw_loop_method_destroy(base);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    cut_method *m =
        (cut_method *)lw_loop_method_create(sizeof *m, &lw_formulation_cut, model, options, solve);
    lw_arena *arena = m ? m->loop_base.arena : NULL;
    if (m) {
        size_t rows = (size_t)m->loop_base.rows->count + 1, nv = (size_t)model->nv + 1;
        size_t bodies = (size_t)model->body_count + 1;
        m->projection = lw_projection_create(model, LW_HOLD_NONE);
        if (m->projection) lw_projection_set_values(m->projection, options->inputs, options->states);
        m->G = LW_NEW(arena, double, rows *nv);
        m->zeta = LW_NEW(arena, double, rows *nv);
        m->A = LW_NEW(arena, double, rows *rows);
        m->b = LW_NEW(arena, double, rows);
        m->scale = LW_NEW(arena, double, rows);
        m->work = LW_NEW(arena, double, 2 * rows);
        m->order = LW_NEW(arena, int, rows);
        m->force = LW_NEW(arena, double, 6 * bodies);
        m->rise = LW_NEW(arena, double, 6 * bodies);
        m->q = LW_NEW(arena, double, model->nq + 1);
        m->vdot = LW_NEW(arena, double, nv);
        m->change = LW_NEW(arena, double, nv);
        m->push = LW_NEW(arena, double, nv);
        m->rest = LW_NEW(arena, double, rows);
        m->QR = LW_NEW(arena, double, rows *nv);
        m->orthogonal = lw_orthogonal_create(model->nv, m->loop_base.rows->count, false);
    }
    if (lw_arena_failed(arena) || !m->projection || !m->orthogonal) {
        if (m) destroy(&m->loop_base.base);
        return lw_out_of_memory(error);
    }
    double mass = 0, inertia = 0, length = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        mass += link->inertia.mass;
        inertia += link->inertia.second[0] + link->inertia.second[1] + link->inertia.second[2];
        length = fmax(length, lw_v3_norm(link->p));
    }
    m->length = fmax(length, 0.1 * lw_longest_arm(model)); /* Joints in one point are apart by rounding. */
    m->least[0] = 1 / mass;
    m->least[1] = 1 / (inertia + mass * length * length);
    *out = &m->loop_base.base;
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    cut_method *m = (cut_method *)base;
    const lw_model *model = base->model;
    lw_normalise_q(model, y);
    if (m->loop_base.options.drift != LW_DRIFT_PROJECT) return LW_OK;
    return lw_project_state(m->projection, t, y, y + model->nq, error);
}

static double condition(lw_method *base) { return ((cut_method *)base)->condition; }

/* Recursions of the tree, one for each row, and a dense factor; times fitted as in rcr.c. */
static double least_expense(const lw_model *model) {
    double bodies = model->body_count, rows = lw_balance_multiplier_count(model);
    for (int k = 0; k < model->closure_count; k++) rows += model->joints[model->closures[k]].info.rows;
    return 300 + 100 * bodies + 150 * rows + 10 * model->nv * rows + 0.12 * rows * rows * rows;
}

static double expense(lw_method *base) { return least_expense(base->model); }

const lw_formulation lw_formulation_cut = {
    .name = "cut",
    .source = "anderson2003 13, 28-32",
    .cost = "O(n + nm + nm^2 + m^3)",
    .summary = "loops cut, and held together by multipliers of a dense system, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 15,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = lw_tree_to_state,
    .from_state = lw_loop_method_from_state,
    .accelerations = lw_loop_method_accelerations,
    .multipliers = lw_loop_method_multipliers,
    .speeds = lw_loop_method_speeds,
    .derivative = lw_loop_method_derivative,
    .project = project,
    .violation = lw_loop_method_violation,
    .condition = condition,
    .expense = expense,
    .least_expense = least_expense,
    .dense = true,
};
