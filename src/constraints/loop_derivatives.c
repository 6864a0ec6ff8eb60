/* loop_derivatives.c - derivatives of closures and constraints at the level of accelerations, of their
 * forces, and of force elements at cut joints.
 *
 *   closure    A_2 - A_1 = what the cut joint's own motions add; these vary as those of a tree joint do, and
 *              their changes dq_c, dv_c follow from the changes of the bodies by the joint's dual wrenches
 *   distance   e.e'' + e'.e' = 0 for the line e between the points, divided by its length
 *   coupling   sum of F'(q) a + F''(q) v^2, whose derivatives are at hand
 *   rolling    the material points at the contact have the same acceleration of contact, as vectors
 *
 * Source   docs/theory/derivatives.md, 22-32.
 * Cost     O(path^2) for each closure or constraint whose bodies are `path` speeds apart, no allocation.
 * Limits   exact along admissible motions and speeds; a single column that violates the rows has no meaning.
 */
#include "constraints/loop_derivatives.h"
#include "model/coupling.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

/* --- closures -------------------------------------------------------------------------------------- */

/* A joint that closes a loop in one state. */
typedef struct closure_state {
    const lw_joint *joint;
    int nv;
    lw_motion_column motions[LW_JOINT_MAX_V]; /* its own, from the first body on */
    double W[36];                             /* lw_joint_dual in the world, about the origin */
    double V[6], A[6];                        /* of the second body, */
    double V1[6], V21[6], A21[6];             /* of the first, and the differences */
    double load[6];                           /* the wrench on the second body whose change is wanted */
    /* A force element on component `own`: load = force W_own. */
    int own;
    double by_q, by_v;
} closure_state;

static void look_at_closure(const lw_tree_derivatives *d, const lw_rows *rows, int joint, closure_state *c) {
    const lw_joint_entry *entry = &d->model->joints[joint];
    const lw_joint_state *state = &rows->joints[joint];
    const lw_pose *second = &d->data->world[entry->info.bodies[1]];
    const int nv = entry->joint.nv;
    lw_pose two;
    double R[9], p[3], own[6 * LW_JOINT_MAX_V], S[6 * LW_JOINT_MAX_V], at[3], vdot[LW_JOINT_MAX_V] = {0},
                                                                              V[6], A[6];
    *c = (closure_state){.joint = &entry->joint, .nv = nv, .own = -1};
    lw_pose_compose(second->R, second->p, entry->frames[1].R, entry->frames[1].p, two.R, two.p);
    lw_v3_sub(two.p, d->origin, at);
    lw_joint_motion(&entry->joint, state->q, NULL, R, p, own, NULL);
    for (int k = 0; k < nv; k++) lw_twist_to_parent(two.R, at, own + 6 * k, S + 6 * k);
    memcpy(c->W, state->W, sizeof c->W);
    for (int k = 0; k < 6; k++) lw_v3_add_cross(at, c->W + 6 * k + 3, c->W + 6 * k);
    memcpy(c->V, d->V + 6 * entry->info.bodies[1], sizeof c->V);
    memcpy(c->A, d->A + 6 * entry->info.bodies[1], sizeof c->A);
    memcpy(c->V1, d->V + 6 * entry->info.bodies[0], sizeof c->V1);
    for (int k = 0; k < 6; k++) {
        c->V21[k] = c->V[k] - c->V1[k];
        c->A21[k] = c->A[k] - d->A[6 * entry->info.bodies[0] + k];
    }
    for (int pass = 0; pass < 2; pass++) { /* First what the speeds alone add, then with accelerations. */
        memcpy(V, d->V + 6 * entry->info.bodies[0], sizeof V);
        memcpy(A, d->A + 6 * entry->info.bodies[0], sizeof A);
        lw_motion_columns(&entry->joint, S, state->v, vdot, V, A, c->motions);
        for (int k = 0; k < 6; k++) A[k] = c->A[k] - A[k];
        for (int k = 0; k < nv && pass == 0; k++) vdot[k] = lw_v6_dot(c->W + 6 * k, A);
    }
}

/* What a change of both bodies does to the joint's own coordinates and speeds, and to its rows. */
static void closure_rows(const closure_state *c, const lw_variation *plus, const lw_variation *minus,
                         double dq[LW_JOINT_MAX_V], double dv[LW_JOINT_MAX_V], double rows[12]) {
    double place[6], V[6], A[6], part[6], own[6];
    /* `minus` says how twist and acceleration of the first body change. What moves this body moves the second
     * by way of the joint, too, and changes its twist and acceleration by as much and by (24). */
    lw_twist_cross(minus->place, c->V1, part);
    for (int k = 0; k < 6; k++) own[k] = minus->V[k] - part[k];
    lw_twist_cross(minus->place, c->V21, V);
    lw_twist_cross(minus->place, c->A21, A);
    lw_twist_cross(own, c->V21, part);
    for (int k = 0; k < 6; k++) {
        place[k] = plus->place[k] - minus->place[k];
        V[k] = plus->V[k] - minus->V[k] - V[k];
        A[k] = plus->A[k] - minus->A[k] - A[k] - part[k];
    }
    for (int k = 0; k < c->nv; k++) dq[k] = lw_v6_dot(c->W + 6 * k, place);
    for (int k = 0; k < c->nv; k++) {
        const lw_motion_column *m = &c->motions[k];
        lw_twist_cross(m->S, c->V, part);
        for (int i = 0; i < 6; i++) V[i] -= dq[k] * (part[i] + m->P[i]);
        lw_twist_cross(m->S, c->A, part);
        for (int i = 0; i < 6; i++) A[i] -= dq[k] * (part[i] + m->C[i]);
        lw_twist_cross(m->P, c->V, part);
        for (int i = 0; i < 6; i++) A[i] -= dq[k] * part[i];
    }
    for (int k = 0; k < c->nv; k++) dv[k] = lw_v6_dot(c->W + 6 * k, V);
    for (int k = 0; k < c->nv; k++) {
        const lw_motion_column *m = &c->motions[k];
        lw_twist_cross(m->S, c->V, part);
        for (int i = 0; i < 6; i++) A[i] -= dv[k] * (part[i] + m->D[i]);
    }
    for (int k = c->nv; k < 6; k++) {
        rows[k - c->nv] = lw_v6_dot(c->W + 6 * k, A);
        rows[6 + k - c->nv] = lw_v6_dot(c->W + 6 * k, V);
    }
}

/* dW = place_1 x* W + x, where x keeps W . S_k as it is for all motions of the joint (27). */
static void carry_load(const closure_state *c, const double place[6], const double dq[LW_JOINT_MAX_V],
                       double dW[6]) {
    lw_wrench_cross(place, c->load, dW);
    for (int k = 0; k < c->nv; k++) {
        double turned[6] = {0}, cross[6];
        for (int j = 0; j < c->nv; j++) {
            if (!lw_column_moves(c->joint, j, k)) continue;
            lw_twist_cross(c->motions[j].S, c->motions[k].S, cross);
            lw_v6_axpy(dq[j], cross, turned);
        }
        lw_v6_axpy(-lw_v6_dot(c->load, turned), c->W + 6 * k, dW);
    }
}

static void closure_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                           double dW[6], double rows[12]) {
    const closure_state *c = context;
    double dq[LW_JOINT_MAX_V], dv[LW_JOINT_MAX_V];
    closure_rows(c, plus, minus, dq, dv, rows);
    carry_load(c, minus->place, dq, dW);
    if (c->own >= 0) lw_v6_axpy(c->by_q * dq[c->own] + c->by_v * dv[c->own], c->W + 6 * c->own, dW);
}

/* Keeps the wrench of a unit of a row's multiplier, for derivatives of reactions. */
static void keep_row(lw_tree_derivatives *d, int row, const lw_pair *pair, const double W[6]) {
    if (!d->loads) return;
    struct lw_unit_wrench *unit = &d->units_of_rows[d->unit_count++];
    *unit = (struct lw_unit_wrench){.row = row, .plus = pair->plus, .minus = pair->minus};
    memcpy(unit->W, W, sizeof unit->W);
}

static void closure(lw_tree_derivatives *d, const lw_rows *rows, int first, const double *lambda,
                    const lw_row_matrices *matrices) {
    const int joint = rows->rows[first].joint;
    const lw_joint_entry *entry = &d->model->joints[joint];
    closure_state c;
    look_at_closure(d, rows, joint, &c);
    lw_pair pair = {.plus = entry->info.bodies[1],
                    .minus = entry->info.bodies[0],
                    .invariant = true,
                    .first = first,
                    .count = 6 - c.nv};
    if (d->loads) pair.own = d->cut_loads + 6 * (size_t)(d->columns + 1) * (size_t)d->closure_of[joint];
    for (int k = 0; k < pair.count; k++) {
        lw_v6_axpy(lambda[first + k], c.W + 6 * (c.nv + k), c.load);
        keep_row(d, first + k, &pair, c.W + 6 * (c.nv + k));
    }
    memcpy(pair.W, c.load, sizeof pair.W);
    lw_pair_derivatives(d, &pair, closure_change, &c, matrices);
}

lw_status lw_cut_force_derivatives(lw_tree_derivatives *d, const lw_rows *rows, lw_error *error) {
    for (int f = 0; f < d->model->force_count; f++) {
        const lw_force *force = &d->model->forces[f];
        if (force->closure < 0) continue;
        const int joint = d->model->closures[force->closure];
        const lw_joint_entry *entry = &d->model->joints[joint];
        const lw_joint_state *state = &rows->joints[joint];
        closure_state c;
        double value;
        look_at_closure(d, rows, joint, &c);
        c.own = force->v;
        if (!lw_joint_force_slopes(d, force, force->q >= 0 ? state->q[force->q] : 0, state->v[force->v],
                                   &value, &c.by_q, &c.by_v))
            return lw_fail(error, LW_ERROR_SINGULAR, force->name,
                           "take a state beside this one, or an expression that is smooth here",
                           "its law has no derivatives in this state");
        if (force->q < 0) c.by_q = 0;
        lw_pair pair = {.plus = entry->info.bodies[1], .minus = entry->info.bodies[0], .invariant = true};
        if (d->loads) pair.own = d->cut_loads + 6 * (size_t)(d->columns + 1) * (size_t)force->closure;
        lw_v6_axpy(value, c.W + 6 * c.own, c.load);
        memcpy(pair.W, c.load, sizeof pair.W);
        lw_pair_wrench(d, &pair, c.W + 6 * c.own, d->row);
        lw_pair_derivatives(d, &pair, closure_change, &c, NULL);
    }
    return LW_OK;
}

/* --- distances ------------------------------------------------------------------------------------- */

typedef struct distance_state {
    const lw_tree_derivatives *d;
    const lw_constraint *constraint;
    lw_point_motion end[2];
    double e[3], e_dot[3], e_ddot[3], length, lambda;
} distance_state;

static void distance_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                            double dW[6], double rows[12]) {
    const distance_state *s = context;
    lw_point_motion a, b;
    double e[3], e_dot[3], e_ddot[3], dF[3], F[3];
    lw_point_vary(s->d, s->constraint->bodies[0], &s->end[0], minus, &a);
    lw_point_vary(s->d, s->constraint->bodies[1], &s->end[1], plus, &b);
    lw_v3_sub(b.x, a.x, e);
    lw_v3_sub(b.v, a.v, e_dot);
    lw_v3_sub(b.a, a.a, e_ddot);
    rows[0] =
        (lw_v3_dot(e, s->e_ddot) + lw_v3_dot(s->e, e_ddot) + 2 * lw_v3_dot(s->e_dot, e_dot)) / s->length;
    rows[6] = (lw_v3_dot(e, s->e_dot) + lw_v3_dot(s->e, e_dot)) / s->length;
    for (int k = 0; k < 3; k++) F[k] = s->lambda * s->e[k] / s->length, dF[k] = s->lambda * e[k] / s->length;
    lw_wrench_of_force(s->end[1].x, dF, dW);
    lw_v3_add_cross(b.x, F, dW);
}

static void distance(lw_tree_derivatives *d, const lw_constraint *constraint, int row, double lambda,
                     const lw_row_matrices *matrices) {
    distance_state s = {.d = d, .constraint = constraint, .lambda = lambda};
    lw_pair pair = {.plus = constraint->bodies[1],
                    .minus = constraint->bodies[0],
                    .invariant = true,
                    .first = row,
                    .count = 1};
    double F[3];
    for (int k = 0; k < 2; k++) lw_point_of(d, constraint->bodies[k], constraint->points[k], &s.end[k]);
    lw_v3_sub(s.end[1].x, s.end[0].x, s.e);
    lw_v3_sub(s.end[1].v, s.end[0].v, s.e_dot);
    lw_v3_sub(s.end[1].a, s.end[0].a, s.e_ddot);
    s.length = lw_v3_norm(s.e);
    if (!(s.length > 0)) s.length = 1; /* The row is zero then, as rows.c has it. */
    for (int k = 0; k < 3; k++) F[k] = lambda * s.e[k] / s.length;
    lw_wrench_of_force(s.end[1].x, F, pair.W);
    for (int k = 0; k < 3; k++) F[k] = s.e[k] / s.length;
    double unit[6];
    lw_wrench_of_force(s.end[1].x, F, unit);
    keep_row(d, row, &pair, unit);
    lw_pair_derivatives(d, &pair, distance_change, &s, matrices);
}

/* --- couplings ------------------------------------------------------------------------------------- */

/* lw_joint_dual keeps the directions of slides and of a first turn in the first body, that of a second turn
 * behind the first, and forces at the joint's point on the second body, which slides move. */
static void term_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                        double dW[6], double rows[12]) {
    const closure_state *c = context;
    const lw_joint_descriptor *type = lw_joint_describe(c->joint->type);
    double dq[LW_JOINT_MAX_V], dv[LW_JOINT_MAX_V], turned[6];
    closure_rows(c, plus, minus, dq, dv, rows);
    lw_wrench_cross(minus->place, c->load, dW);
    for (int k = 0; k < c->nv; k++) {
        if (k >= type->slides && (k != type->slides || c->own != k + 1)) continue;
        lw_wrench_cross(c->motions[k].S, c->load, turned);
        lw_v6_axpy(dq[k], turned, dW);
    }
    lw_v6_axpy(c->by_q * dq[c->own], c->W + 6 * c->own, dW);
}

/* The force of a term is a wrench on both bodies of its joint, which does not transmit it. */
static void coupling_load(lw_tree_derivatives *d, const lw_rows *rows, int row, int term, double lambda) {
    const lw_constraint *constraint = &d->model->constraints[rows->rows[row].constraint];
    const int at = LW_COUPLING_MAX * rows->rows[row].constraint + term, joint = rows->coupling_joint[at];
    const lw_joint_info *info = &d->model->joints[joint].info;
    const lw_coupling_value F = lw_coupling_term(constraint, term, d->data->q[constraint->coordinates[term]]);
    lw_pair pair = {.plus = info->bodies[1], .minus = info->bodies[0], .invariant = true};
    closure_state c;
    double unit[6] = {0};
    look_at_closure(d, rows, joint, &c);
    c.own = rows->coupling_component[at];
    c.by_q = lambda * F.curvature;
    lw_v6_axpy(F.slope, c.W + 6 * c.own, unit);
    lw_v6_axpy(lambda, unit, c.load);
    memcpy(pair.W, c.load, sizeof pair.W);
    keep_row(d, row, &pair, unit);
    lw_pair_derivatives(d, &pair, term_change, &c, NULL);
}

static void coupling(lw_tree_derivatives *d, const lw_rows *rows, int row, double lambda,
                     const lw_row_matrices *matrices) {
    const lw_constraint *constraint = &d->model->constraints[rows->rows[row].constraint];
    const int nv = d->model->nv;
    const size_t at = (size_t)row * (size_t)d->columns;
    for (int k = 0; k < constraint->terms; k++) {
        const int speed = constraint->speeds[k];
        const double q = d->data->q[constraint->coordinates[k]], v = d->data->v[speed];
        const double curvature = lw_coupling_term(constraint, k, q).curvature;
        double *accelerations = matrices->accelerations + at + speed;
        accelerations[0] += curvature * d->vdot[speed] + lw_coupling_third(constraint, k, q) * v * v;
        accelerations[nv] += 2 * curvature * v;
        matrices->velocities[at + (size_t)speed] += curvature * v;
        if (d->loads)
            coupling_load(d, rows, row, k, lambda);
        else
            d->T[(size_t)speed * (size_t)d->stride + (size_t)speed] -= lambda * curvature;
    }
}

/* --- rolling --------------------------------------------------------------------------------------- */

typedef struct rolling_state {
    const lw_tree_derivatives *d;
    const lw_constraint *constraint;
    lw_point_motion centre, plane; /* of the roller, and the point of the plane */
    double n[3], a[3];             /* normal of the plane, axis of the disc */
    double m[3], m_dot[3], size, growth;
    double arm[3], arm_dot[3]; /* from the centre to the contact */
    double touch[3], F[3];     /* the contact, and the force on the roller there */
    const double *e[3];        /* directions of the rows */
} rolling_state;

/* m = n - (n.a) a and its rate, from n, a and their rates. */
static void steepest(const double n[3], const double a[3], const double n_dot[3], const double a_dot[3],
                     double m[3], double m_dot[3]) {
    const double na = lw_v3_dot(n, a), na_dot = lw_v3_dot(n_dot, a) + lw_v3_dot(n, a_dot);
    for (int k = 0; k < 3; k++) {
        m[k] = n[k] - na * a[k];
        m_dot[k] = n_dot[k] - na_dot * a[k] - na * a_dot[k];
    }
}

static void look_at_contact(rolling_state *s) {
    const lw_constraint *c = s->constraint;
    const double *w0 = s->d->V + 6 * c->bodies[0], *w1 = s->d->V + 6 * c->bodies[1];
    double n_dot[3], a_dot[3];
    lw_point_of(s->d, c->bodies[0], c->points[0], &s->centre);
    lw_point_of(s->d, c->bodies[1], c->points[1], &s->plane);
    lw_m3_mul_v(s->d->data->world[c->bodies[1]].R, c->normal, s->n);
    lw_m3_mul_v(s->d->data->world[c->bodies[0]].R, c->axis, s->a);
    lw_v3_cross(w1, s->n, n_dot);
    lw_v3_cross(w0, s->a, a_dot);
    steepest(s->n, s->a, n_dot, a_dot, s->m, s->m_dot);
    s->size = lw_v3_norm(s->m);
    if (!(s->size > 0)) s->size = 1;
    s->growth = lw_v3_dot(s->m, s->m_dot) / (s->size * s->size);
    for (int k = 0; k < 3; k++) {
        s->arm[k] = -c->radius * s->m[k] / s->size;
        s->arm_dot[k] = -c->radius * (s->m_dot[k] - s->growth * s->m[k]) / s->size;
        s->touch[k] = s->centre.x[k] + s->arm[k];
    }
}

/* The changes of the arm and of its rate (31). */
static void vary_arm(const rolling_state *s, const lw_variation *plus, const lw_variation *minus,
                     double arm[3], double arm_dot[3]) {
    const lw_constraint *c = s->constraint;
    const double *w0 = s->d->V + 6 * c->bodies[0], *w1 = s->d->V + 6 * c->bodies[1], *n = s->n, *a = s->a;
    double dn[3], da[3], n_dot[3], a_dot[3], dn_dot[3], da_dot[3], dm[3], dm_dot[3];
    lw_v3_cross(minus->place, n, dn);
    lw_v3_cross(plus->place, a, da);
    lw_v3_cross(w1, n, n_dot);
    lw_v3_cross(w0, a, a_dot);
    lw_v3_cross(minus->V, n, dn_dot);
    lw_v3_add_cross(w1, dn, dn_dot);
    lw_v3_cross(plus->V, a, da_dot);
    lw_v3_add_cross(w0, da, da_dot);
    const double na = lw_v3_dot(n, a), dna = lw_v3_dot(dn, a) + lw_v3_dot(n, da);
    const double na_dot = lw_v3_dot(n_dot, a) + lw_v3_dot(n, a_dot);
    const double dna_dot =
        lw_v3_dot(dn_dot, a) + lw_v3_dot(n_dot, da) + lw_v3_dot(dn, a_dot) + lw_v3_dot(n, da_dot);
    for (int k = 0; k < 3; k++) {
        dm[k] = dn[k] - dna * a[k] - na * da[k];
        dm_dot[k] = dn_dot[k] - dna_dot * a[k] - na_dot * da[k] - dna * a_dot[k] - na * da_dot[k];
    }
    const double square = s->size * s->size, along = lw_v3_dot(s->m, dm) / square;
    const double dgrowth =
        (lw_v3_dot(dm, s->m_dot) + lw_v3_dot(s->m, dm_dot)) / square - 2 * s->growth * along;
    for (int k = 0; k < 3; k++) {
        arm[k] = -c->radius * (dm[k] - along * s->m[k]) / s->size;
        arm_dot[k] = -c->radius *
                     (dm_dot[k] - dgrowth * s->m[k] - s->growth * dm[k] -
                      along * (s->m_dot[k] - s->growth * s->m[k])) /
                     s->size;
    }
}

static void rolling_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                           double dW[6], double rows[12]) {
    const rolling_state *s = context;
    const lw_constraint *c = s->constraint;
    const double *V0 = s->d->V + 6 * c->bodies[0], *V1 = s->d->V + 6 * c->bodies[1],
                 *A0 = s->d->A + 6 * c->bodies[0], *A1 = s->d->A + 6 * c->bodies[1];
    lw_point_motion centre, plane;
    double arm[3], arm_dot[3], gap[3], gap_dot[3], dgap[3], dgap_dot[3], change[3], touch[3];
    lw_point_vary(s->d, c->bodies[0], &s->centre, plus, &centre);
    lw_point_vary(s->d, c->bodies[1], &s->plane, minus, &plane);
    vary_arm(s, plus, minus, arm, arm_dot);
    for (int k = 0; k < 3; k++) {
        gap[k] = s->touch[k] - s->plane.x[k];
        gap_dot[k] = s->centre.v[k] + s->arm_dot[k] - s->plane.v[k];
        dgap[k] = centre.x[k] + arm[k] - plane.x[k];
        dgap_dot[k] = centre.v[k] + arm_dot[k] - plane.v[k];
        change[k] = centre.a[k] - plane.a[k];
        touch[k] = centre.x[k] + arm[k];
    }
    /* a_0 + A_0 x arm + w_0 x arm' - a_1 - A_1 x gap - w_1 x gap' */
    lw_v3_add_cross(plus->A, s->arm, change);
    lw_v3_add_cross(A0, arm, change);
    lw_v3_add_cross(plus->V, s->arm_dot, change);
    lw_v3_add_cross(V0, arm_dot, change);
    lw_v3_add_cross(gap, minus->A, change);
    lw_v3_add_cross(dgap, A1, change);
    lw_v3_add_cross(gap_dot, minus->V, change);
    lw_v3_add_cross(dgap_dot, V1, change);
    for (int k = 0; k < 3; k++) rows[k] = lw_v3_dot(s->e[k], change);
    /* v_0 + w_0 x arm - v_1 - w_1 x gap */
    lw_v3_sub(centre.v, plane.v, change);
    lw_v3_add_cross(plus->V, s->arm, change);
    lw_v3_add_cross(V0, arm, change);
    lw_v3_add_cross(gap, minus->V, change);
    lw_v3_add_cross(dgap, V1, change);
    for (int k = 0; k < 3; k++) rows[6 + k] = lw_v3_dot(s->e[k], change);
    lw_v3_cross(touch, s->F, dW);
    lw_v3_set(dW + 3, 0, 0, 0);
}

static void rolling(lw_tree_derivatives *d, const lw_constraint *constraint, int row, const double *lambda,
                    const lw_row_matrices *matrices) {
    rolling_state s = {.d = d, .constraint = constraint};
    double first[3], second[3];
    lw_pair pair = {.plus = constraint->bodies[0],
                    .minus = constraint->bodies[1],
                    .invariant = true,
                    .first = row,
                    .count = 3};
    look_at_contact(&s);
    lw_rolling_directions(constraint, d->data->world[constraint->bodies[1]].R, s.n, first, second);
    s.e[0] = s.n, s.e[1] = first, s.e[2] = second;
    for (int k = 0; k < 3; k++) lw_v3_axpy(lambda[row + k], s.e[k], s.F);
    lw_wrench_of_force(s.touch, s.F, pair.W);
    for (int k = 0; k < 3; k++) {
        double unit[6];
        lw_wrench_of_force(s.touch, s.e[k], unit);
        keep_row(d, row + k, &pair, unit);
    }
    lw_pair_derivatives(d, &pair, rolling_change, &s, matrices);
}

/* --- all ------------------------------------------------------------------------------------------- */

void lw_loop_derivatives(lw_tree_derivatives *d, const lw_rows *rows, const double *lambda,
                         const lw_row_matrices *matrices) {
    const size_t size = (size_t)rows->count * (size_t)d->columns * sizeof(double);
    memset(matrices->accelerations, 0, size);
    memset(matrices->velocities, 0, size);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        if (row->joint >= 0) {
            if (row->component == d->model->joints[row->joint].joint.nv)
                closure(d, rows, r, lambda, matrices);
            continue;
        }
        const lw_constraint *constraint = &d->model->constraints[row->constraint];
        if (constraint->type == LW_CONSTRAINT_DISTANCE)
            distance(d, constraint, r, lambda[r], matrices);
        else if (constraint->type == LW_CONSTRAINT_COUPLING)
            coupling(d, rows, r, lambda[r], matrices);
        else if (constraint->type == LW_CONSTRAINT_ROLLING && row->component == 0)
            rolling(d, constraint, r, lambda, matrices);
    }
}
