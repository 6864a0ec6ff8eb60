/* quantity_gradient.c - exact derivatives of the quantities of kinematics (quantity.h).
 *
 * A quantity f depends on the poses and the twists V_b of a few bodies. With both in world axes about the
 * world's origin,
 *
 *     df = sum_b  P_b . delta_b + T_b . dV_b                                                            (1)
 *
 * where delta_b is the small twist by which body b is displaced: P_b and T_b are wrenches. The motion that
 * speed k of the joint of body i makes displaces all bodies that i carries by the same twist D_k, the column
 * of its motion subspace; V_b = sum_j D_j v_j over the speeds j between ground and b. A column D_j moves with
 * k, dD_j = D_k x D_j, if it lies behind k: so
 *
 *     dV_b / dk = D_k x (V_b - V_i + sum of D_j v_j over the columns of the same joint that move with k)  (2)
 *     dV_b / dv_k = D_k                                                                                 (3)
 *
 * Within a joint, a product of motions in the order of its coordinates, later columns move with earlier ones,
 * and the columns of a ball, which are fixed in the second body, all move with its motions. In a joint that
 * the tree passes against its sense, the second body is the one that stands: earlier columns move with later
 * ones, and those of a ball do not move.
 *
 * Cost     O(depth of the bodies), O(n depth) of energies and total momentum; no allocation.
 */
#include "model/contact.h"
#include "model/joint.h"
#include "model/quantity/quantity.h"

#include <math.h>
#include <string.h>

typedef struct gradient {
    const lw_model *model;
    const lw_data *data;
    double *dq, *dv; /* either may be NULL */
} gradient;

/* Adds one body's part of (1): pose and twist are P_b and T_b, (torque; force) about the world's origin;
 * twist may be NULL. */
static void add_body(gradient *g, int body, const double pose[6], const double *twist) {
    const lw_model *model = g->model;
    const lw_data *data = g->data;
    double V[6];
    lw_twist_to_parent(data->world[body].R, data->world[body].p, data->motion[body].V, V);
    for (int i = body; i > 0; i = model->links[i].parent) {
        const lw_link *link = &model->links[i];
        const lw_pose *world = &data->world[i];
        const lw_joint_descriptor *type = lw_joint_describe(link->joint.type);
        const int nv = link->joint.nv, slides = type->axes_are_slides ? nv : type->slides;
        double D[LW_JOINT_MAX_V][6], Vi[6], behind[6];
        for (int k = 0; k < nv; k++)
            lw_twist_to_parent(world->R, world->p, data->S + 6 * (link->v + k), D[k]);
        if (twist) lw_twist_to_parent(world->R, world->p, data->motion[i].V, Vi);
        for (int k = 0; k < nv; k++) {
            if (g->dq && pose) g->dq[link->v + k] += lw_v6_dot(pose, D[k]);
            if (!twist) continue;
            if (g->dv) g->dv[link->v + k] += lw_v6_dot(twist, D[k]);
            if (!g->dq) continue;
            for (int c = 0; c < 6; c++) behind[c] = V[c] - Vi[c];
            for (int j = 0; j < nv; j++) {
                const bool both_ball = type->ball && j >= slides && k >= slides;
                const bool moves = both_ball ? !link->joint.inverse : link->joint.inverse ? j < k : j > k;
                if (moves) lw_v6_axpy(data->v[link->v + j], D[j], behind);
            }
            double change[6];
            lw_twist_cross(D[k], behind, change);
            g->dq[link->v + k] += lw_v6_dot(twist, change);
        }
    }
}

/* The wrench of a force at a point, about the world's origin. */
static void wrench_at(const double at[3], const double force[3], double wrench[6]) {
    lw_v3_cross(at, force, wrench);
    lw_v3_copy(force, wrench + 3);
}

/* u . x of a point x fixed in a body; with turning, u is fixed in the body `axes`. */
static void add_position(gradient *g, int body, const double at[3], const double u[3]) {
    double x[3], pose[6];
    lw_pose_point(g->data->world[body].R, g->data->world[body].p, at, x);
    wrench_at(x, u, pose);
    add_body(g, body, pose, NULL);
}

/* u . velocity of a point of a body. d(u . (v + w x x)) has the twist's part at x, and (u x w) . dx. */
static void add_velocity(gradient *g, int body, const double at[3], const double u[3]) {
    const lw_pose *world = &g->data->world[body];
    double x[3], w[3], along[3], pose[6], twist[6];
    lw_pose_point(world->R, world->p, at, x);
    lw_m3_mul_v(world->R, g->data->motion[body].V, w);
    lw_v3_cross(u, w, along);
    wrench_at(x, along, pose);
    wrench_at(x, u, twist);
    add_body(g, body, pose, twist);
}

/* u . angular velocity. */
static void add_spin(gradient *g, int body, const double u[3]) {
    const double twist[6] = {u[0], u[1], u[2], 0, 0, 0};
    add_body(g, body, NULL, twist);
}

/* u . (small rotation of the body). */
static void add_rotation(gradient *g, int body, const double u[3]) {
    const double pose[6] = {u[0], u[1], u[2], 0, 0, 0};
    add_body(g, body, pose, NULL);
}

/* Axis of the frame in which the components are taken that belongs to this one, in the world. */
static void axis_of(const lw_model *model, const lw_data *data, const lw_state_quantity *quantity,
                    double u[3]) {
    const int axes = quantity->axes, k = quantity->component % 3;
    const double unit[3] = {k == 0, k == 1, k == 2};
    lw_v3_copy(unit, u);
    if (axes <= 0 && quantity->axes_marker <= 0) return;
    double R[9];
    lw_m3_mul(data->world[axes].R, lw_marker_axes(model, axes, quantity->axes_marker), R);
    lw_m3_mul_v(R, unit, u);
}

/* --- kinds ---------------------------------------------------------------------------------------- */

static void unit_vector(int count, int k, double *v) {
    for (int i = 0; i < count; i++) v[i] = i == k;
}

/* u' = u x (rate of the joint's frame) and the like follow from differences of the columns: a speed of a cut
 * joint is v_k = W_k . u, u = S v its relative twist; with W S = 1, dv_k = W_k . (du - dS v). */
static void cut_speed(gradient *g, const lw_state_quantity *quantity) {
    const lw_joint_entry *entry = &g->model->joints[quantity->object];
    const lw_data *data = g->data;
    const int first = entry->info.bodies[0], second = entry->info.bodies[1], nv = entry->joint.nv;
    const lw_joint_descriptor *type = lw_joint_describe(entry->joint.type);
    const int slides = type->axes_are_slides ? nv : type->slides;
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3], own[36], S[36], R[9], p[3];
    lw_cut_joint(g->model, data, quantity->other, q, v, W, at);
    lw_joint_dual(&entry->joint, q, own);
    lw_joint_motion(&entry->joint, q, NULL, R, p, S, NULL);

    /* In world axes: relative twist of the bodies about the world's origin, and W_k as a wrench there. */
    double T[6], V1[6], V2[6], pose[6], back[6];
    lw_v3_copy(W + 6 * quantity->component, T);
    lw_v3_copy(W + 6 * quantity->component + 3, T + 3);
    lw_v3_add_cross(at, T + 3, T);
    lw_twist_to_parent(data->world[first].R, data->world[first].p, data->motion[first].V, V1);
    lw_twist_to_parent(data->world[second].R, data->world[second].p, data->motion[second].V, V2);
    for (int k = 0; k < 6; k++) V2[k] -= V1[k];
    /* W_k is fixed in the second body but for its own dependence on q: d(T . V) = T . dV + (delta_2 x* T) .
     * V, and the latter is -(V x* T) . delta_2. */
    lw_wrench_cross(V2, T, pose);
    for (int k = 0; k < 6; k++) pose[k] = -pose[k];
    add_body(g, second, pose, T);
    for (int k = 0; k < 6; k++) back[k] = -T[k];
    add_body(g, first, NULL, back);

    /* - W_k . (dS v): column j of S, in the axes of the second frame, changes by -w_m x S_j with coordinate m
     * if j stands before m; coordinate m changes by W_m . (delta_2 - delta_1). */
    for (int m = slides; m < nv; m++) {
        double moved[6] = {0}, change[6] = {0};
        for (int j = 0; j < m; j++)
            if (!(type->ball && j >= slides)) lw_v6_axpy(v[j], S + 6 * j, moved);
        lw_v3_cross(S + 6 * m, moved, change);
        lw_v3_cross(S + 6 * m, moved + 3, change + 3);
        const double factor = lw_v6_dot(own + 6 * quantity->component, change);
        double along[6];
        for (int k = 0; k < 6; k++) along[k] = factor * W[6 * m + k];
        lw_v3_add_cross(at, along + 3, along);
        add_body(g, second, along, NULL);
        for (int k = 0; k < 6; k++) along[k] = -along[k];
        add_body(g, first, along, NULL);
    }
}

static void joint_coordinate(gradient *g, const lw_state_quantity *quantity) {
    const lw_joint_entry *entry = &g->model->joints[quantity->object];
    const lw_joint_info *info = &entry->info;
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], rate[LW_JOINT_MAX_Q], W[36], at[3];
    if (info->cut)
        lw_cut_joint(g->model, g->data, quantity->other, q, v, W, at);
    else
        memcpy(q, g->data->q + info->q, (size_t)entry->joint.nq * sizeof *q);
    for (int k = 0; k < entry->joint.nv; k++) {
        double unit[LW_JOINT_MAX_V];
        unit_vector(entry->joint.nv, k, unit);
        lw_joint_rate(&entry->joint, q, unit, false, rate);
        const double factor = rate[quantity->component];
        if (factor == 0) continue;
        if (!info->cut) {
            if (g->dq) g->dq[info->v + k] += factor;
            continue;
        }
        double along[6];
        for (int c = 0; c < 6; c++) along[c] = factor * W[6 * k + c];
        lw_v3_add_cross(at, along + 3, along);
        add_body(g, info->bodies[1], along, NULL);
        for (int c = 0; c < 6; c++) along[c] = -along[c];
        add_body(g, info->bodies[0], along, NULL);
    }
}

/* The distance of two points, or its rate: u . (x2 - x1), and rate' = (perpendicular part of the relative
 * velocity / distance) . dx + u . dv. */
static bool distance(gradient *g, const int bodies[2], const double *const at[2], bool rate) {
    double x[2][3], line[3], v[2][3], across[3];
    for (int k = 0; k < 2; k++) {
        const lw_pose *world = &g->data->world[bodies[k]];
        double local[3];
        lw_pose_point(world->R, world->p, at[k], x[k]);
        lw_v3_copy(g->data->motion[bodies[k]].V + 3, local);
        lw_v3_add_cross(g->data->motion[bodies[k]].V, at[k], local);
        lw_m3_mul_v(world->R, local, v[k]);
    }
    lw_v3_sub(x[1], x[0], line);
    const double length = lw_v3_norm(line);
    if (!(length > 0)) return false;
    for (int k = 0; k < 3; k++) line[k] /= length;
    lw_v3_sub(v[1], v[0], across);
    const double along = lw_v3_dot(across, line);
    for (int k = 0; k < 3; k++) across[k] = (across[k] - along * line[k]) / length;
    for (int end = 0; end < 2; end++) {
        double u[3], w[3];
        for (int k = 0; k < 3; k++) u[k] = end ? line[k] : -line[k], w[k] = end ? across[k] : -across[k];
        if (rate) {
            add_velocity(g, bodies[end], at[end], u);
            add_position(g, bodies[end], at[end], w);
        } else {
            add_position(g, bodies[end], at[end], u);
        }
    }
    return true;
}

/* The gap of a contact changes as its two points part along the normal: sliding of the nearest point does not
 * count. Its rate has none here. */
static bool gap(gradient *g, const lw_force *force, bool rate) {
    lw_contact_body surface, shape;
    lw_touch touch, nearest = {.depth = -HUGE_VAL};
    if (rate) return false;
    lw_contact_bodies(force, g->data, &surface, &shape);
    for (int k = 0; k < force->contact->probes; k++) {
        lw_contact_look(force->contact, &surface, &shape, k, &touch);
        if (touch.depth > nearest.depth) nearest = touch;
    }
    double away[6], pose[6];
    wrench_at(nearest.x, nearest.n, pose);
    for (int c = 0; c < 6; c++) away[c] = -pose[c];
    add_body(g, force->bodies[1], pose, NULL);
    add_body(g, force->bodies[0], away, NULL);
    return true;
}

static bool element(gradient *g, const lw_state_quantity *quantity) {
    const lw_force *force = &g->model->forces[quantity->object];
    if (force->type == LW_FORCE_CONTACT) return gap(g, force, quantity->component == 1);
    if (force->type == LW_FORCE_SPRING) {
        const double *const at[2] = {force->frames[0].p, force->frames[1].p};
        return distance(g, force->bodies, at, quantity->component == 1);
    }
    if (force->closure >= 0) {
        lw_state_quantity of_joint;
        if (quantity->component == 0 && force->q < 0) return false;
        lw_quantity_make(g->model, quantity->component ? LW_Q_SPEED : LW_Q_COORDINATE,
                         g->model->closures[force->closure], quantity->component ? force->v : force->q,
                         &of_joint);
        quantity->component ? cut_speed(g, &of_joint) : joint_coordinate(g, &of_joint);
        return true;
    }
    if (quantity->component == 1 && g->dv) g->dv[force->v] += 1;
    if (quantity->component == 1) return true;
    if (force->q < 0) return false;
    if (g->dq) g->dq[force->v] += 1;
    return true;
}

/* Cardan angles (quantity_value.c) of a small rotation about the world's axes. */
static bool cardan(gradient *g, const lw_state_quantity *quantity) {
    double R[9], u[3];
    lw_m3_mul(g->data->world[quantity->object].R,
              lw_marker_axes(g->model, quantity->object, quantity->marker[0]), R);
    const double a = atan2(-R[5], R[8]), s = sin(a), c = cos(a), cb = c * R[8] - s * R[5], sb = R[2];
    if (quantity->component == 1) {
        lw_v3_set(u, 0, c, s);
    } else {
        if (!(fabs(cb) > 1e-12)) return false;
        if (quantity->component == 2)
            lw_v3_set(u, 0, -s / cb, c / cb);
        else
            lw_v3_set(u, 1, s * sb / cb, -c * sb / cb);
    }
    add_rotation(g, quantity->object, u);
    return true;
}

/* q' = (0, w) q / 2 with w in world axes. */
static void quaternion(gradient *g, const lw_state_quantity *quantity) {
    double R[9], q[4], u[3];
    lw_m3_mul(g->data->world[quantity->object].R,
              lw_marker_axes(g->model, quantity->object, quantity->marker[0]), R);
    lw_quat_rot(R, q);
    for (int k = 0; k < 3; k++) {
        double w[4] = {0, 0, 0, 0}, rate[4];
        w[1 + k] = 0.5;
        lw_quat_mul(w, q, rate);
        u[k] = rate[quantity->component];
    }
    add_rotation(g, quantity->object, u);
}

/* The momentum of a body is M_b V_b about the world's origin, M_b carried along: along a motion delta of the
 * body d(c . M V) = c . M dV + (V x*(M c) ... ). With momentum h = M V and a fixed wrench-space covector c, a
 * twist: d(c . h) = (M c) . dV + (delta x* h) . c - (M c) . (delta x V), each of which is linear in delta. */
static void add_momentum(gradient *g, int body, int marker, const double c[6]) {
    const lw_pose *world = &g->data->world[body];
    const lw_rigid_inertia inertia = lw_member_inertia(g->model, body, marker);
    double own[6], local[6], h[6], Mc[6], V[6], pose[6], part[6];
    lw_rigid_mul(&inertia, g->data->motion[body].V, local);
    lw_wrench_to_parent(world->R, world->p, local, h);
    lw_twist_to_child(world->R, world->p, c, own);
    lw_rigid_mul(&inertia, own, local);
    lw_wrench_to_parent(world->R, world->p, local, Mc);
    lw_twist_to_parent(world->R, world->p, g->data->motion[body].V, V);
    /* (delta x* h) . c = -h . (delta x c) = h . (c x delta) = -(c x* h) . delta;
     * (M c) . (delta x V) = -(M c) . (V x delta) = (V x* M c) . delta. */
    lw_wrench_cross(c, h, pose);
    lw_wrench_cross(V, Mc, part);
    for (int k = 0; k < 6; k++) pose[k] = -pose[k] - part[k];
    add_body(g, body, pose, Mc);
}

/* The linear momentum along u; the angular momentum about the world's origin along u. */
static void momentum_row(int component, const double u[3], double c[6]) {
    for (int k = 0; k < 6; k++) c[k] = 0;
    lw_v3_copy(u, component < 3 ? c + 3 : c); /* A twist: dual to (angular; linear) momentum. */
}

/* Angular momentum about a centre: h = l - r x p, with centre r of mass m and p its linear momentum. */
static void body_momentum(gradient *g, const lw_state_quantity *quantity, const double u[3]) {
    double c[6];
    momentum_row(quantity->component, u, c);
    add_momentum(g, quantity->object, quantity->marker[0], c);
    if (quantity->component < 6) return;
    /* -u . (r x p) = -(u x r) . p = -(p x u) . r */
    const lw_pose *world = &g->data->world[quantity->object];
    double r[3], p[3], local[3], arm[3], lever[3], shift[6] = {0};
    const double *com = lw_member_com(g->model, quantity->object, quantity->marker[0]);
    const double *V = g->data->motion[quantity->object].V;
    lw_pose_point(world->R, world->p, com, r);
    lw_v3_copy(V + 3, local);
    lw_v3_add_cross(V, com, local);
    lw_m3_mul_v(world->R, local, p);
    const double mass = lw_member_inertia(g->model, quantity->object, quantity->marker[0]).mass;
    for (int k = 0; k < 3; k++) p[k] *= mass;
    lw_v3_cross(r, u, arm); /* -(u x r) */
    lw_v3_copy(arm, shift + 3);
    add_momentum(g, quantity->object, quantity->marker[0], shift);
    lw_v3_cross(u, p, lever); /* -(p x u) */
    add_position(g, quantity->object, com, lever);
}

static void total_momentum(gradient *g, const lw_state_quantity *quantity) {
    const lw_model *model = g->model;
    double u[3], c[6], r[3], p[3] = {0, 0, 0}, mass = model->fixed_mass;
    lw_v3_copy(model->fixed_moment, r);
    unit_vector(3, quantity->component % 3, u);
    momentum_row(quantity->component, u, c);
    for (int i = 1; i <= model->body_count; i++) add_momentum(g, i, 0, c);
    if (quantity->component < 6) return;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_pose *world = &g->data->world[i];
        double x[3], local[3], v[3], m = model->links[i].inertia.mass;
        lw_pose_point(world->R, world->p, model->bodies[i].com, x);
        lw_v3_copy(g->data->motion[i].V + 3, local);
        lw_v3_add_cross(g->data->motion[i].V, model->bodies[i].com, local);
        lw_m3_mul_v(world->R, local, v);
        lw_v3_axpy(m, x, r);
        lw_v3_axpy(m, v, p);
        mass += m;
    }
    if (!(mass > 0)) return;
    double shift[6] = {0}, lever[3];
    for (int k = 0; k < 3; k++) r[k] /= mass;
    lw_v3_cross(r, u, shift + 3);
    for (int i = 1; i <= model->body_count; i++) add_momentum(g, i, 0, shift);
    for (int i = 1; i <= model->body_count; i++) {
        lw_v3_cross(u, p, lever);
        for (int k = 0; k < 3; k++) lever[k] *= model->links[i].inertia.mass / mass;
        add_position(g, i, model->bodies[i].com, lever);
    }
}

/* The kinetic energy depends on a body's pose only through its twist in its own axes: dT = h . (dV - delta x
 * V) = h . dV + (V x* h) . -delta. */
static void kinetic(gradient *g) {
    for (int i = 1; i <= g->model->body_count; i++) {
        const lw_pose *world = &g->data->world[i];
        const lw_rigid_inertia inertia = lw_true_inertia(g->model, i);
        double local[6], h[6], V[6], pose[6];
        lw_rigid_mul(&inertia, g->data->motion[i].V, local);
        lw_wrench_to_parent(world->R, world->p, local, h);
        lw_twist_to_parent(world->R, world->p, g->data->motion[i].V, V);
        lw_wrench_cross(V, h, pose);
        for (int k = 0; k < 6; k++) pose[k] = -pose[k];
        add_body(g, i, pose, h);
    }
    for (int k = 0; g->dv && g->model->armature && k < g->model->nv; k++) /* rotors: J v^2 / 2 */
        g->dv[k] += g->model->armature[k] * g->data->v[k];
}

/* A vector of a body along an axis that is fixed in the body `axes`: u turns with it, du = delta x u. */
static void turn_axis(gradient *g, const lw_state_quantity *quantity, const double u[3]) {
    if (quantity->axes <= 0) return;
    lw_state_quantity in_world = *quantity;
    double vector[LW_QUANTITY_COMPONENTS], lever[3];
    lw_quantity_refer(g->model, &in_world, 0, quantity->at_first);
    lw_quantity_vector(g->model, g->data, NULL, &in_world, vector);
    lw_v3_cross(u, vector + 3 * (quantity->component / 3), lever); /* (delta x u) . x = delta . (u x x) */
    add_rotation(g, quantity->axes, lever);
}

bool lw_quantity_gradient(const lw_model *model, const lw_data *data, const lw_state_quantity *quantity,
                          double *dq, double *dv) {
    gradient g = {model, data, dq, dv};
    const size_t size = (size_t)model->nv * sizeof *dq;
    if (dq && model->nv) memset(dq, 0, size);
    if (dv && model->nv) memset(dv, 0, size);
    if (quantity->needs & ~(unsigned)LW_NEEDS_KINEMATICS) return false;
    const int bodies[2] = {quantity->object, quantity->other};
    const double *const ends[2] = {quantity->at[0], quantity->at[1]};
    double u[3];
    axis_of(model, data, quantity, u);
    switch (quantity->kind) {
    case LW_Q_COORDINATE:
        joint_coordinate(&g, quantity);
        return true;
    case LW_Q_SPEED:
        if (quantity->other >= 0)
            cut_speed(&g, quantity);
        else if (dv)
            dv[model->joints[quantity->object].info.v + quantity->component] = 1;
        return true;
    case LW_Q_POSITION:
    case LW_Q_COM:
    case LW_Q_POINT:
        add_position(&g, quantity->object, quantity->at[0], u);
        turn_axis(&g, quantity, u);
        return true;
    case LW_Q_VELOCITY:
    case LW_Q_COM_VELOCITY:
    case LW_Q_POINT_VELOCITY:
        add_velocity(&g, quantity->object, quantity->at[0], u);
        turn_axis(&g, quantity, u);
        return true;
    case LW_Q_SPIN:
        add_spin(&g, quantity->object, u);
        turn_axis(&g, quantity, u);
        return true;
    case LW_Q_MOMENTUM:
        body_momentum(&g, quantity, u);
        turn_axis(&g, quantity, u);
        return true;
    case LW_Q_ROTATION:
        quaternion(&g, quantity);
        return true;
    case LW_Q_CARDAN:
        return cardan(&g, quantity);
    case LW_Q_DISTANCE:
        return distance(&g, bodies, ends, quantity->component == 1);
    case LW_Q_ELEMENT:
        return element(&g, quantity);
    case LW_Q_TOTAL_MOMENTUM:
        total_momentum(&g, quantity);
        return true;
    case LW_Q_ENERGY:
        kinetic(&g); /* The potential needs forces. */
        return true;
    default:
        return false;
    }
}
