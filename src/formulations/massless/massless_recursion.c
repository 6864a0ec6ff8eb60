/* massless_recursion.c - accelerations and rows of a tree with massless motions, by recursions.
 *
 *   wdot    follows from the articulated-body recursion (17) without the speeds that represent massless
 *           directions: the floors of their pivots are infinite, and their wdot is zero
 *   vdot    follows from the same outward pass with given accelerations of these speeds
 *   rows    M wdot + h - Q follow from a Newton-Euler recursion, without articulated inertias
 *
 * Source   Arnold (2013), eqs 17, 25, 26; docs/theory/massless.md, 2, 5 and 6. The kernels are those of
 *          tree_forward.h and massless_joints.h.
 * Cost     O(n), no allocation.
 */
#include "formulations/massless/massless_method.h"
#include "formulations/massless/massless_bias.h"
#include "formulations/massless/massless_joints.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

static double dot(int n, const double *x, const double *weight, const double *y) {
    double total = 0;
    for (int k = 0; k < n; k++) total += weight[k] * x[k] * y[k];
    return total;
}
/* Removes from y its part along x, whose square is given. */
static void remove_along(int n, const double *x, const double *weight, double square, double *y) {
    double part = dot(n, x, weight, y) / square;
    for (int k = 0; k < n; k++) y[k] -= part * x[k];
}

/* Removes from the accelerations y of a joint their massless part. The result is the smallest of all
 * accelerations that differ by massless ones, so it does not depend on the speeds that represent the
 * directions (the pseudo-inverse of 17). */
static void remove_still(const massless_method *m, int i, double *y) {
    const lw_null_shape *shape = m->shape;
    const lw_link *link = &shape->model->links[i];
    const int nv = link->joint.nv;
    double basis[LW_JOINT_MAX_V][LW_JOINT_MAX_V], square[LW_JOINT_MAX_V], weight[LW_JOINT_MAX_V];
    if (!shape->responding[i]) { /* All speeds that are not prescribed represent directions. */
        for (int k = 0; k < nv; k++)
            if (shape->left_out[i] >> k & 1) y[k] = 0;
        return;
    }
    const int first = m->direction[i];
    if (link->kernel == LW_KERNEL_UNIVERSAL) { /* one direction of two rotations */
        const double *n = m->flow->null->value + shape->nodes[shape->node_start[first]].entry;
        double part = (n[0] * y[0] + n[1] * y[1]) / (n[0] * n[0] + n[1] * n[1]);
        y[0] -= part * n[0], y[1] -= part * n[1];
        return;
    }
    for (int k = 0; k < nv; k++) weight[k] = 1 / shape->square[link->v + k];
    for (int d = 0; first + d < shape->count && shape->rep_body[first + d] == i; d++) {
        /* Gram-Schmidt orthogonalisation in units of length */
        const double *n = m->flow->null->value + shape->nodes[shape->node_start[first + d]].entry;
        for (int k = 0; k < nv; k++) basis[d][k] = n[k];
        for (int e = 0; e < d; e++) remove_along(nv, basis[e], weight, square[e], basis[d]);
        square[d] = dot(nv, basis[d], weight, basis[d]);
        remove_along(nv, basis[d], weight, square[d], y);
    }
}

/* The same as eliminate of tree_forward.h, with the kernels of massless_joints.h for joints of several speeds
 * of which some are left out. Returns the first body whose pivot is below its floor, or 0. */
static int eliminate_deficient(const massless_method *m, const recursion *r, int *speed) {
    const unsigned char *left_out = m->shape->left_out;
    int body = 0;
    for (int i = r->model->body_count; i >= 1; i--) {
        const lw_link *link = &r->model->links[i];
        int bad = 0;
        look_ahead(r->model->links, sizeof(lw_link), 2, i - AHEAD);
        if (left_out[i] && link->kernel >= LW_KERNEL_SPHERICAL)
            deficient_eliminate(r, i, left_out[i], &bad);
        else
            BY_JOINT(link, eliminate, r, i, &bad)
        if (bad && !body) body = i, *speed = bad;
    }
    return body;
}
/* Adds massless motions to the accelerations y of a joint, so that the speeds which represent directions
 * accelerate as given. A direction has entries for the speeds that take part in it only. */
static void take_given(const massless_method *m, int i, const double *given, double *y) {
    const lw_null_shape *shape = m->shape;
    const lw_null *null = m->flow->null;
    const lw_link *link = &shape->model->links[i];
    const int first = m->direction[i], count = __builtin_popcount(shape->left_out[i]);
    for (int k = first; k < first + count; k++) {
        const double by = given[null->rep[k]] - y[null->rep[k] - link->v];
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++) {
            const int l = shape->speed[e] - link->v;
            if (l >= 0 && l < link->joint.nv) y[l] += by * null->value[e];
        }
    }
}

/* Sets the accelerations of a joint of which every speed is left out to the given ones. */
static void accelerate_given(const recursion *r, int i, const double *given) {
    const lw_link *link = &r->model->links[i];
    double x[6], S[6];
    const double *motion = subspace(r, i, S);
    carry(r, i, x);
    for (int k = 0; k < link->joint.nv; k++) {
        r->vdot[link->v + k] = given[link->v + k];
        lw_v6_axpy(given[link->v + k], motion + 6 * k, x);
    }
    memcpy(r->nodes[i].a, x, sizeof x);
}

/* The same as accelerate of tree_forward.h for joints of which some speeds are left out. given: the
 * accelerations of the speeds that represent massless directions; NULL: the result is wdot, which has no
 * massless part. */
static void accelerate_deficient(const massless_method *m, const recursion *r, const double *given) {
    const unsigned char *left_out = m->shape->left_out;
    hang_ground(r);
    for (int i = 1; i <= r->model->body_count; i++) {
        const lw_link *link = &r->model->links[i];
        look_ahead(r->model->links, sizeof(lw_link), 1, i + AHEAD);
        if (!left_out[i] || (link->kernel < LW_KERNEL_SPHERICAL && !given))
            BY_JOINT(link, accelerate, r, i)
        else if (given && is_rigid(link, left_out[i]))
            accelerate_given(r, i, given);
        else if (is_rigid(link, left_out[i]))
            rigid_accelerate(r, i);
        else {
            double x[6], y[LW_JOINT_MAX_V];
            deficient_rates(r, i, x, y);
            if (given)
                take_given(m, i, given, y);
            else
                remove_still(m, i, y);
            deficient_accelerate(r, i, x, y);
        }
    }
}

/* Updates the floors of joints with left-out and other speeds, for the speeds that are left out at this
 * position. */
static void take_left_out(massless_method *m) {
    const lw_null_shape *shape = m->shape;
    const unsigned *left_out = m->flow->null->left_out;
    for (int k = 0; k < shape->kinetic_count; k++) {
        int i = shape->kinetic[k];
        if (left_out[k] == m->taken[k] || !shape->left_out[i]) continue;
        const lw_link *link = &shape->model->links[i];
        m->taken[k] = left_out[k];
        for (int v = 0; v < link->joint.nv; v++)
            m->floor[link->v + v] = left_out[k] >> v & 1 ? HUGE_VAL : m->least[link->v + v];
    }
}

/* Reports that a pivot vanishes at this position which does not vanish elsewhere. */
static lw_status lost(const massless_method *m, int body, int speed, lw_error *error) {
    const lw_model *model = m->shape->model;
    const lw_joint_entry *joint = &model->joints[model->bodies[body].joint_index];
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
                      "give the bodies it carries mass or inertia, or keep away from that position",
                      "is in a singular position: nothing it carries (body \"%s\" and beyond) resists its %s "
                      "(speed %d) there, "
                      "though elsewhere something does",
                      model->bodies[body].name,
                      lw_joint_speed_turns(joint->info.type, speed - 1) ? "rotation" : "translation",
                      speed - 1);
}

/* Computes velocities and bias accelerations. as_given: w is v, so the bias is that of v. */
static void find_velocities(massless_method *m, const recursion *r, bool as_given) {
    bool apart = !as_given && m->shape->count;
    lw_flow *flow = m->flow;
    if (apart && !flow->apart_known) lw_null_motion(flow->null, flow->zeta, flow->apart, flow->twist);
    velocities_apart(m->shape, r, flow->apart, apart ? flow->twist : NULL);
}

lw_status lw_massless_accelerate(massless_method *m, bool as_given, lw_error *error) {
    const lw_model *model = m->shape->model;
    recursion r = recursion_of(model, m->flow->data);
    int speed, body;
    r.floor = m->floor;
    find_velocities(m, &r, as_given);
    take_left_out(m);
    body = eliminate_deficient(m, &r, &speed);
    if (body) return lost(m, body, speed, error);
    accelerate_deficient(m, &r, NULL);
    return LW_OK;
}

/* The given accelerations contain errors of differences. Since all other accelerations follow from them by
 * the same articulated inertias, the errors of the result are massless motions, and the forces on every body
 * balance to rounding. */
void lw_massless_accelerate_by_rates(massless_method *m, double *vdot) {
    const lw_model *model = m->shape->model;
    const recursion r = recursion_of(model, m->flow->data);
    accelerate_deficient(m, &r, vdot);
    memcpy(vdot, r.vdot, (size_t)model->nv * sizeof *vdot);
}

/* --- floors of pivots --------------------------------------------------------------------------------- */

/* The floor of a speed that is left out is infinite. All other floors are at most those of the compiled
 * model, which are a part of the composite inertia. In a long chain the composite inertia may exceed by far
 * what a massless body carries, so floors are also at most 1e-11 of the pivots at some positions. */
/* Raises m->rate, per speed, to its pivot at position s of a few that lie beside the initial one. */
static void look_at_pivots(massless_method *m, recursion *r, int s) {
    const lw_model *model = m->shape->model;
    const lw_null_shape *shape = m->shape;
    lw_data *data = m->flow->data;
    memcpy(m->q, model->q0, (size_t)model->nq * sizeof *m->q);
    for (int k = 0; k < model->nv; k++) m->v[k] = sin(1.0 + k) * shape->unit[k];
    lw_integrate_q(model, m->q, m->v, 0.3 * s);
    lw_take_state(model, data, 0, m->q, NULL);
    memset(data->tau, 0, (size_t)model->nv * sizeof *data->tau);
    r->load = NULL;
    velocities(r);
    int speed;
    lw_null_at(m->flow->null, data);
    take_left_out(m);
    eliminate_deficient(m, r, &speed);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++) {
            /* The kernel of free joints stores the rows of rotations first. */
            int row = link->kernel == LW_KERNEL_FREE && !shape->left_out[i] ? (k + 3) % 6 : k;
            double inverse =
                link->kernel < LW_KERNEL_SPHERICAL ? r->nodes[i].d : r->D[6 * (link->v + row) + row];
            if (!(link->prescribed >> k & 1) && inverse > 0 && isfinite(inverse))
                m->rate[link->v + k] = fmax(m->rate[link->v + k], 1 / inverse);
        }
    }
}

/* A speed that was left out or singular at all these positions gets the pivot of the joint's other speeds of
 * its kind. */
static void even_out_pivots(massless_method *m) {
    const lw_model *model = m->shape->model;
    const lw_null_shape *shape = m->shape;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double most[2] = {0, 0};
        for (int k = 0; k < link->joint.nv && shape->responding[i]; k++) {
            double *of = &most[lw_joint_speed_turns(link->joint.type, k)];
            *of = fmax(*of, m->rate[link->v + k]);
        }
        for (int k = 0; k < link->joint.nv && shape->responding[i]; k++)
            m->rate[link->v + k] = most[lw_joint_speed_turns(link->joint.type, k)];
    }
}

void lw_massless_find_floors(massless_method *m) {
    const lw_model *model = m->shape->model;
    const lw_null_shape *shape = m->shape;
    recursion r = recursion_of(model, m->flow->data);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            m->floor[model->links[i].v + k] = shape->left_out[i] >> k & 1 ? HUGE_VAL : 0;
    for (int k = 0; k < model->nv; k++) m->rate[k] = 0;
    if (!shape->count) {
        memcpy(m->floor, model->pivot_floor, (size_t)model->nv * sizeof *m->floor);
        return;
    }
    r.floor = m->floor;
    for (int s = 0; s < 3; s++) look_at_pivots(m, &r, s);
    double typical = 0;
    for (int k = 0; k < model->nv; k++) typical += m->rate[k] / model->nv;
    if (!shape->dense) even_out_pivots(m);
    for (int k = 0; k < model->nv; k++) {
        double seen = m->rate[k] > 0 ? 1e-11 * m->rate[k] : HUGE_VAL;
        m->least[k] = fmin(model->pivot_floor[k], seen);
        if (!isinf(m->floor[k])) m->floor[k] = m->least[k];
        m->rate[k] = 0;
    }
    m->inertia = typical > 0 && isfinite(typical) ? typical : 1;
}

/* --- rows --------------------------------------------------------------------------------------------- */

/* Row k is (M wdot + h - Q)_k, by the Newton-Euler recursion with the bias of w, at the state that
 * lw_springs_consistent has found. */
void lw_massless_balance_rows(massless_method *m, const double *wdot, double *row) {
    const lw_model *model = m->shape->model;
    recursion r = recursion_of(model, m->flow->data);
    find_velocities(m, &r, false);
    hang_ground(&r);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double x[6], S[6], *f = r.wrenches + 6 * i, speeds[6];
        const double *motion = subspace(&r, i, S);
        carry(&r, i, x);
        for (int k = 0; k < link->joint.nv; k++)
            lw_v6_axpy(link->prescribed >> k & 1 ? r.vdot[link->v + k] : wdot[link->v + k], motion + 6 * k,
                       x);
        memcpy(r.nodes[i].a, x, sizeof x);
        lw_rigid_mul(&link->inertia, x, f);
        body_wrench(&r, i, r.nodes[i].w, speeds);
        lw_v6_axpy(1, speeds, f);
    }
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const double *f = r.wrenches + 6 * i;
        double S[6], moved[6];
        const double *motion = subspace(&r, i, S);
        for (int k = 0; k < link->joint.nv; k++)
            row[link->v + k] = lw_v6_dot(motion + 6 * k, f) - r.tau[link->v + k];
        if (!link->parent) continue;
        if (link->kernel < LW_KERNEL_PRISMATIC) {
            turn(link->kernel, r.cosine[link->v], r.sine[link->v], f, moved);
            turn(link->kernel, r.cosine[link->v], r.sine[link->v], f + 3, moved + 3);
            lw_v3_add_cross(link->p, moved + 3, moved);
        } else if (link->kernel < LW_KERNEL_SPHERICAL) {
            memcpy(moved, f, sizeof moved);
            lw_v3_add_cross(r.relative[i].p, moved + 3, moved);
        } else
            lw_wrench_to_parent(r.relative[i].R, r.relative[i].p, f, moved);
        lw_v6_axpy(1, moved, r.wrenches + 6 * link->parent);
    }
}

/* The massless part of a joint's accelerations is wdot less the result of remove_still. It enters the rows
 * with a typical inertia as its factor, which makes their matrix regular. The product of N' and the rows
 * states that this part is zero. */
void lw_massless_add_still(massless_method *m, const double *wdot, double *row) {
    const lw_model *model = m->shape->model;
    for (int k = 0; k < m->shape->count; k++) {
        int i = m->shape->rep_body[k];
        const lw_link *link = &model->links[i];
        if (m->direction[i] != k) continue;
        double y[LW_JOINT_MAX_V];
        memcpy(y, wdot + link->v, (size_t)link->joint.nv * sizeof *y);
        remove_still(m, i, y);
        for (int j = 0; j < link->joint.nv; j++) row[link->v + j] += m->inertia * (wdot[link->v + j] - y[j]);
    }
}
