/* kinematics.c - positions and twists of the spanning tree; poses and velocities of bodies; quaternions of
 * unit length.
 *
 *   V_i = X_i V_parent + S_i v_i
 *
 * Source   docs/theory/tree.md, 4-6. The twists of this file are spatial; the recursions of the dynamics
 *          (dynamics/tree_recursion.h) use accelerations of points and have their own kinematics.
 * Cost     O(n), one pass in regular labelling, no allocation.
 */
#include "model/data.h"
#include "model/joint.h"
#define LANES 1
#include "model/joint_motion.h"
#include "model/signals.h"
#include <linkwork/tree.h>

lw_status lw_data_create(const lw_model *model, const lw_allocator *allocator, lw_data **out) {
    if (out) *out = NULL;
    if (!model || !out) return LW_ERROR_ARGUMENT;
    lw_arena *arena = lw_arena_create(allocator);
    if (!arena) return LW_ERROR_MEMORY;
    lw_data *data = LW_NEW(arena, lw_data, 1);
    size_t n = (size_t)model->body_count + 1, nv = (size_t)model->nv + 1, nq = (size_t)model->nq + 1;
    if (data) {
        data->arena = arena;
        data->model = model;
        data->motion = LW_NEW(arena, lw_body_motion, n);
        data->world = LW_NEW(arena, lw_pose, n);
        data->S = LW_NEW(arena, double, 6 * nv);
        data->q = LW_NEW(arena, double, nq);
        data->v = LW_NEW(arena, double, nv);
        data->vdot = LW_NEW(arena, double, nv);
        data->tau = LW_NEW(arena, double, nv);
        data->load = LW_NEW(arena, double, 6 * n);
        data->nodes = LW_NEW(arena, lw_node, n);
        data->relative = LW_NEW(arena, lw_relative_pose, n);
        data->sums = LW_NEW(arena, lw_node_sum, model->slot_count + 1);
        data->swings = LW_NEW(arena, lw_node_swing, model->slot_count + 2);
        data->wrenches = LW_NEW(arena, double, 6 * n);
        data->joint_U = LW_NEW(arena, double, 6 * nv);
        data->joint_D = LW_NEW(arena, double, 6 * nv);
        data->joint_u = LW_NEW(arena, double, nv);
        data->drive = LW_NEW(arena, double, nv);
        data->sine = LW_NEW(arena, double, nv);
        data->cosine = LW_NEW(arena, double, nv);
        data->composite = LW_NEW(arena, lw_rigid_inertia, n);
        data->cut_load = LW_NEW(arena, double, 6 * model->closure_count + 1);
        data->computed = model->values.count ? LW_NEW(arena, double, model->values.count + 1) : NULL;
        if (model->values.mover_count) data->jets = LW_NEW(arena, lw_jet, model->values.count + 1);
        data->columns = LW_NEW(arena, double, 6 * ((size_t)model->branches[0].end + 2));
    }
    if (lw_arena_failed(arena)) {
        lw_arena_destroy(arena);
        return LW_ERROR_MEMORY;
    }
    lw_m3_identity(data->world[0].R);
    lw_m3_identity(data->motion[0].R);
    if (model->merged && lw_data_create(model->merged, allocator, &data->merged) != LW_OK) {
        lw_arena_destroy(arena);
        return LW_ERROR_MEMORY;
    }
    lw_data_set_values(model, data, NULL, NULL);
    *out = data;
    return LW_OK;
}

void lw_data_set_values(const lw_model *model, lw_data *data, const double *inputs, const double *states) {
    const bool plain = lw_values_are_inputs(&model->values, &model->values.for_forces);
    data->inputs = inputs ? inputs : model->input_defaults;
    data->states = states ? states : model->values.starts;
    data->values = plain ? data->inputs : data->computed;
    if (data->merged) lw_data_set_values(model->merged, data->merged, inputs, states);
}

lw_status lw_data_set_inputs(const lw_model *model, lw_data *data, const double *inputs) {
    if (!lw_data_fits(model, data)) return LW_ERROR_ARGUMENT;
    lw_data_set_values(model, data, inputs, data->states);
    return LW_OK;
}

lw_status lw_data_set_states(const lw_model *model, lw_data *data, const double *states) {
    if (!lw_data_fits(model, data)) return LW_ERROR_ARGUMENT;
    lw_data_set_values(model, data, data->inputs, states);
    return LW_OK;
}

void lw_data_destroy(lw_data *data) {
    if (!data) return;
    lw_data_destroy(data->merged);
    lw_arena_destroy(data->arena);
}

lw_status lw_bad_arguments(const lw_model *model, const lw_data *data, lw_error *error) {
    if (model && data && data->model != model)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "create data for this model (lw_data_create)",
                       "the data belong to another model");
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give model, data, state and a place for the result",
                   "an argument of the call is NULL");
}

/* Computes the quaternion of a rotation by Cardan angles, R = Rx(a) Ry(b) Rz(c), and its angular velocity and
 * acceleration in the rotated axes (docs/theory/tree.md, 21). */
static void cardan_motion(const lw_jet angle[3], double quaternion[4], double w[3], double wdot[3]) {
    double half[4], x[4], y[4], z[4];
    for (int k = 0; k < 3; k++) half[k] = 0.5 * angle[k].f;
    lw_v3_set(x + 1, sin(half[0]), 0, 0), x[0] = cos(half[0]);
    lw_v3_set(y + 1, 0, sin(half[1]), 0), y[0] = cos(half[1]);
    lw_v3_set(z + 1, 0, 0, sin(half[2])), z[0] = cos(half[2]);
    lw_quat_mul(x, y, half);
    lw_quat_mul(half, z, quaternion);

    double sb = sin(angle[1].f), cb = cos(angle[1].f), sc = sin(angle[2].f), cc = cos(angle[2].f);
    double da = angle[0].d, db = angle[1].d, dc = angle[2].d;
    const double e1[3] = {cc * cb, -sc * cb, sb}, e2[3] = {sc, cc, 0};
    const double e1_dot[3] = {-sc * dc * cb - cc * sb * db, -cc * dc * cb + sc * sb * db, cb * db};
    const double e2_dot[3] = {cc * dc, -sc * dc, 0};
    for (int k = 0; k < 3; k++) {
        w[k] = e1[k] * da + e2[k] * db;
        wdot[k] = e1[k] * angle[0].dd + e2[k] * angle[1].dd + e1_dot[k] * da + e2_dot[k] * db;
    }
    w[2] += dc;
    wdot[2] += angle[2].dd;
}

static lw_jet motion_jet(const lw_data *data, const lw_function *function, const lw_jet *time) {
    return data->jets ? lw_function_jet_along(function, time, data->jets)
                      : lw_function_jet(function, time, NULL);
}

void lw_take_prescribed(const lw_model *model, lw_data *data, double t) {
    const lw_jet time = {t, 1, 0};
    if (data->jets) lw_motion_jets(model, data, t);
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        const lw_link *link = &model->links[motion->body];
        int v = link->v + motion->speed;
        if (motion->count == 1) {
            lw_jet jet = motion_jet(data, motion->functions[0], &time);
            data->q[link->q + motion->speed] = jet.f;
            data->v[v] = jet.d;
            data->vdot[v] = jet.dd;
        } else {
            lw_jet angle[3];
            for (int i = 0; i < 3; i++) angle[i] = motion_jet(data, motion->functions[i], &time);
            int at = lw_joint_quaternion(link->joint.type);
            cardan_motion(angle, data->q + link->q + at, data->v + v, data->vdot + v);
        }
    }
}

void lw_take_state(const lw_model *model, lw_data *data, double t, const double *q, const double *v) {
    memcpy(data->q, q, (size_t)model->nq * sizeof *q);
    if (v)
        memcpy(data->v, v, (size_t)model->nv * sizeof *v);
    else
        memset(data->v, 0, (size_t)model->nv * sizeof *data->v);
    if (model->motion_count) lw_take_prescribed(model, data, t);
}

/* Pose in the parent and motion subspace; the sine and cosine of an aligned revolute joint. */
static inline void joint_pose(const lw_link *link, lw_data *data, lw_body_motion *motion, double *s,
                              double *c) {
    const double *q = data->q + link->q;
    double *S = data->S + 6 * link->v, R[9], p[3];
    if (link->kernel >= LW_KERNEL_PRISMATIC) {
        lw_joint_motion(&link->joint, q, NULL, R, p, S, NULL);
        lw_pose_compose(link->R, link->p, R, p, motion->R, motion->p);
        return;
    }
    real_sincos((double)link->sign * q[0], s, c);
    for (int k = 0; k < 9; k++) motion->R[k] = 0;
    joint_turn(link->kernel, *s, *c, motion->R);
    lw_v3_copy(link->p, motion->p);
    for (int k = 0; k < 6; k++) S[k] = k == link->kernel ? (double)link->sign : 0;
}

void lw_positions(const lw_model *model, lw_data *data) {
    double s = 0, c = 1;
    for (int i = 1; i <= model->body_count; i++) joint_pose(&model->links[i], data, &data->motion[i], &s, &c);
}

void lw_velocities(const lw_model *model, lw_data *data) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        lw_body_motion *motion = &data->motion[i];
        const double *v = data->v + link->v, *S = data->S + 6 * link->v, *V = data->motion[link->parent].V;
        double s = 0, c = 1;
        joint_pose(link, data, motion, &s, &c);
        if (link->kernel < LW_KERNEL_PRISMATIC) {
            const int a = link->kernel, j = (a + 1) % 3, k = (a + 2) % 3;
            double u[3];
            lw_v3_cross(V, link->p, u);
            lw_v3_add(V + 3, u, u);
            motion->V[a] = V[a] + (double)link->sign * v[0];
            motion->V[j] = c * V[j] + s * V[k];
            motion->V[k] = c * V[k] - s * V[j];
            motion->V[3 + a] = u[a];
            motion->V[3 + j] = c * u[j] + s * u[k];
            motion->V[3 + k] = c * u[k] - s * u[j];
            continue;
        }
        lw_twist_to_child(motion->R, motion->p, V, motion->V);
        for (int k = 0; k < link->joint.nv; k++) lw_v6_axpy(v[k], S + 6 * k, motion->V);
    }
}

void lw_world_poses(const lw_model *model, lw_data *data) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        const lw_pose *parent = &data->world[link->parent];
        lw_pose *own = &data->world[i];
        if (link->kernel >= LW_KERNEL_PRISMATIC) {
            lw_pose_compose(parent->R, parent->p, motion->R, motion->p, own->R, own->p);
            continue;
        }
        const int a = link->kernel, j = (a + 1) % 3, k = (a + 2) % 3;
        const double c = motion->R[4 * j], s = motion->R[3 * k + j];
        for (int row = 0; row < 9; row += 3) {
            own->R[row + a] = parent->R[row + a];
            own->R[row + j] = c * parent->R[row + j] + s * parent->R[row + k];
            own->R[row + k] = c * parent->R[row + k] - s * parent->R[row + j];
        }
        lw_pose_point(parent->R, parent->p, motion->p, own->p);
    }
}

/* Adds sign times the twist of a body (angular velocity; velocity of its point at x), in world axes, to V. */
static void add_twist_at(const lw_data *data, int body, const double x[3], double sign, double V[6]) {
    const lw_pose *world = &data->world[body];
    double w[3], origin[3], arm[3];
    lw_m3_mul_v(world->R, data->motion[body].V, w);
    lw_m3_mul_v(world->R, data->motion[body].V + 3, origin);
    lw_v3_sub(x, world->p, arm);
    lw_v3_add_cross(w, arm, origin);
    lw_v3_axpy(sign, w, V);
    lw_v3_axpy(sign, origin, V + 3);
}

void lw_cut_guess(const lw_joint_entry *entry, const double *q, double *guess) {
    lw_joint_zero(entry->joint.type, guess);
    for (int k = 0; k < entry->joint.nq; k++)
        if (entry->winding[k] >= 0) guess[k] = q[entry->winding[k]];
}

void lw_put_coordinates(const lw_joint_entry *entry, const double *coordinates, double *q) {
    if (!entry->info.cut) memcpy(q + entry->info.q, coordinates, (size_t)entry->joint.nq * sizeof *q);
    for (int k = 0; k < entry->joint.nq; k++)
        if (entry->winding[k] >= 0) q[entry->winding[k]] = coordinates[k];
}

void lw_cut_joint(const lw_model *model, const lw_data *data, int closure, double *q, double *v, double W[36],
                  double at[3]) {
    const lw_joint_entry *entry = &model->joints[model->closures[closure]];
    const lw_pose *world1 = &data->world[entry->info.bodies[0]],
                  *world2 = &data->world[entry->info.bodies[1]];
    lw_pose one, two, inverse, relative;
    double own[36], V[6] = {0};
    lw_pose_compose(world1->R, world1->p, entry->frames[0].R, entry->frames[0].p, one.R, one.p);
    lw_pose_compose(world2->R, world2->p, entry->frames[1].R, entry->frames[1].p, two.R, two.p);
    lw_pose_invert(one.R, one.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, two.R, two.p, relative.R, relative.p);
    lw_cut_guess(entry, data->q, q);
    lw_joint_fit(&entry->joint, relative.R, relative.p, q);
    lw_joint_dual(&entry->joint, q, own);
    for (int k = 0; k < 12; k++) lw_m3_mul_v(two.R, own + 3 * k, W + 3 * k);
    lw_v3_copy(two.p, at);
    add_twist_at(data, entry->info.bodies[1], at, 1, V);
    add_twist_at(data, entry->info.bodies[0], at, -1, V);
    for (int k = 0; k < entry->joint.nv; k++) v[k] = lw_v6_dot(W + 6 * k, V);
}

int lw_joint_coordinates(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                         int joint, double *coordinates, double *speeds) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || !lw_given(v, model->nv)) return -1;
    if (joint < 0 || joint >= model->joint_count || !lw_finite(q, model->nq) || !lw_finite(v, model->nv))
        return -1;
    const lw_joint_entry *entry = &model->joints[joint];
    if (entry->joint.nq > 0 && (!coordinates || !speeds)) return -1;
    lw_take_state(model, data, t, q, v);
    if (!entry->info.cut) {
        memcpy(coordinates, data->q + entry->info.q, (size_t)entry->joint.nq * sizeof *coordinates);
        memcpy(speeds, data->v + entry->info.v, (size_t)entry->joint.nv * sizeof *speeds);
        return entry->joint.nq;
    }
    for (int k = 0; k < entry->joint.nq && lw_joint_quaternion(entry->joint.type) < 0; k++)
        if (lw_joint_speed_turns(entry->joint.type, k) && entry->winding[k] < 0) return 0;
    double W[36], at[3];
    int closure = 0;
    while (model->closures[closure] != joint) closure++;
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_cut_joint(model, data, closure, coordinates, speeds, W, at);
    return entry->joint.nq;
}

/* Are the arguments of a question about a body right? */
static bool asks_for_body(const lw_model *model, const lw_data *data, const double *q, int body) {
    return lw_data_fits(model, data) && lw_given(q, model->nq) && body >= 0 && body <= model->body_count &&
           lw_finite(q, model->nq);
}

lw_status lw_body_pose(const lw_model *model, lw_data *data, double t, const double *q, int body,
                       double position[3], double rotation[9]) {
    if (!asks_for_body(model, data, q, body)) return LW_ERROR_ARGUMENT;
    lw_take_state(model, data, t, q, NULL);
    lw_positions(model, data);
    lw_world_poses(model, data);
    const lw_pose *world = &data->world[body], *frame = &model->bodies[body].frame;
    double R[9], p[3];
    lw_pose_compose(world->R, world->p, frame->R, frame->p, R, p);
    if (position) lw_v3_copy(p, position);
    if (rotation) memcpy(rotation, R, sizeof R);
    return LW_OK;
}

lw_status lw_body_velocity(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                           int body, const double point[3], double angular[3], double linear[3]) {
    if (!asks_for_body(model, data, q, body) || !lw_given(v, model->nv) || !lw_finite(v, model->nv) ||
        !point || !lw_finite(point, 3))
        return LW_ERROR_ARGUMENT;
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    const double *V = data->motion[body].V;
    double at[3], local[3];
    lw_pose_point(model->bodies[body].frame.R, model->bodies[body].frame.p, point, at);
    lw_v3_copy(V + 3, local);
    lw_v3_add_cross(V, at, local);
    if (angular) lw_m3_mul_v(data->world[body].R, V, angular);
    if (linear) lw_m3_mul_v(data->world[body].R, local, linear);
    return LW_OK;
}

/* Computes the Jacobians of the angular velocity and of the velocity of a point of the body, in world axes:
 * one column for every speed on the path from ground to the body. */
static void jacobian(const lw_model *model, lw_data *data, double t, const double *q, int body,
                     const double point[3], double *angular, double *linear) {
    lw_take_state(model, data, t, q, NULL);
    lw_positions(model, data);
    lw_world_poses(model, data);
    const lw_pose *frame = &model->bodies[body].frame;
    double at[3], target[3];
    lw_pose_point(frame->R, frame->p, point, at);
    lw_pose_point(data->world[body].R, data->world[body].p, at, target);
    size_t nv = (size_t)model->nv;
    if (angular) memset(angular, 0, 3 * nv * sizeof *angular);
    memset(linear, 0, 3 * nv * sizeof *linear);
    for (int i = body; i > 0; i = model->links[i].parent) {
        const lw_link *link = &model->links[i];
        double arm[3], w[3], l[3];
        lw_v3_sub(target, data->world[i].p, arm);
        for (int k = 0; k < link->joint.nv; k++) {
            const double *S = data->S + 6 * (link->v + k);
            lw_m3_mul_v(data->world[i].R, S, w);
            lw_m3_mul_v(data->world[i].R, S + 3, l);
            lw_v3_add_cross(w, arm, l);
            for (size_t r = 0; r < 3; r++) {
                if (angular) angular[r * nv + (size_t)(link->v + k)] = w[r];
                linear[r * nv + (size_t)(link->v + k)] = l[r];
            }
        }
    }
}

lw_status lw_tree_body_jacobian(const lw_model *model, lw_data *data, double t, const double *q, int body,
                                double *out) {
    const double origin[3] = {0, 0, 0};
    if (!asks_for_body(model, data, q, body) || !lw_given(out, model->nv)) return LW_ERROR_ARGUMENT;
    jacobian(model, data, t, q, body, origin, out, out + 3 * (size_t)model->nv);
    return LW_OK;
}

lw_status lw_tree_point_jacobian(const lw_model *model, lw_data *data, double t, const double *q, int body,
                                 const double point[3], double *out) {
    if (!asks_for_body(model, data, q, body) || !point || !lw_finite(point, 3) || !lw_given(out, model->nv))
        return LW_ERROR_ARGUMENT;
    jacobian(model, data, t, q, body, point, NULL, out);
    return LW_OK;
}

/* Computes the pose of a body in the frame of an ancestor, and its twist relative to the ancestor, in its own
 * axes; v may be NULL. */
static void relative_motion(const lw_model *model, int body, int base, const double *q, const double *v,
                            lw_pose *relative, double V[6]) {
    memset(relative, 0, sizeof *relative);
    lw_m3_identity(relative->R);
    for (int k = 0; k < 6; k++) V[k] = 0;
    for (int i = body; i != base; i = model->links[i].parent) {
        const lw_link *link = &model->links[i];
        double R[9], p[3], S[6 * LW_JOINT_MAX_V], own[6] = {0}, moved[6];
        lw_pose joint, next;
        lw_joint_motion(&link->joint, q + link->q, NULL, R, p, S, NULL);
        for (int k = 0; v && k < link->joint.nv; k++) lw_v6_axpy(v[link->v + k], S + 6 * k, own);
        lw_twist_to_child(relative->R, relative->p, own, moved);
        lw_v6_axpy(1, moved, V);
        lw_pose_compose(link->R, link->p, R, p, joint.R, joint.p);
        lw_pose_compose(joint.R, joint.p, relative->R, relative->p, next.R, next.p);
        *relative = next;
    }
}

/* Computes an angle of a cut joint that has its own entry in q, and its speed. Both follow from the
 * coordinates on the two branches of the loop, from the body where these meet. */
static double cut_angle(const lw_model *model, const lw_cut_angle *angle, const double *q, const double *v,
                        double near, double *speed) {
    const lw_joint_entry *entry = &model->joints[model->closures[angle->closure]];
    int base = model->graph.loop_base[angle->closure];
    lw_pose pose1, pose2, one, two, inverse, relative;
    double V1[6], V2[6], at1[6], at2[6], fit[LW_JOINT_MAX_Q], W[36];
    relative_motion(model, entry->info.bodies[0], base, q, v, &pose1, V1);
    relative_motion(model, entry->info.bodies[1], base, q, v, &pose2, V2);
    lw_pose_compose(pose1.R, pose1.p, entry->frames[0].R, entry->frames[0].p, one.R, one.p);
    lw_pose_compose(pose2.R, pose2.p, entry->frames[1].R, entry->frames[1].p, two.R, two.p);
    lw_pose_invert(one.R, one.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, two.R, two.p, relative.R, relative.p);
    lw_cut_guess(entry, q, fit);
    fit[angle->coordinate] = near;
    lw_joint_fit(&entry->joint, relative.R, relative.p, fit);

    /* Both twists refer to the joint's point on the second body, in the joint's frame there. */
    lw_pose_invert(pose1.R, pose1.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, two.R, two.p, relative.R, relative.p);
    lw_twist_to_child(relative.R, relative.p, V1, at1);
    lw_twist_to_child(entry->frames[1].R, entry->frames[1].p, V2, at2);
    lw_joint_dual(&entry->joint, fit, W);
    lw_v6_axpy(-1, at1, at2);
    *speed = lw_v6_dot(W + 6 * angle->coordinate, at2);
    return fit[angle->coordinate];
}

static void cut_angle_rates(const lw_model *model, const double *q, const double *v, double *qdot) {
    for (int k = 0; k < model->cut_angle_count; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        cut_angle(model, angle, q, v, q[angle->q], &qdot[angle->q]);
    }
}

void lw_fit_cut_angles(const lw_model *model, double *q) {
    for (int k = 0; k < model->cut_angle_count; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        double speed;
        q[angle->q] = cut_angle(model, angle, q, NULL, q[angle->q], &speed);
    }
}

lw_status lw_q_rate(const lw_model *model, const double *q, const double *v, double *qdot) {
    if (!model || !lw_given(q, model->nq) || !lw_given(v, model->nv) || !lw_given(qdot, model->nq))
        return LW_ERROR_ARGUMENT;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        lw_joint_rate(&link->joint, q + link->q, v + link->v, false, qdot + link->q);
    }
    cut_angle_rates(model, q, v, qdot);
    return LW_OK;
}

void lw_q_rate_stable(const lw_model *model, const double *q, const double *v, double *qdot) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        if (link->joint.nv == 1) /* No quaternion has a single speed. */
            qdot[link->q] = v[link->v];
        else
            lw_joint_rate(&link->joint, q + link->q, v + link->v, true, qdot + link->q);
    }
    cut_angle_rates(model, q, v, qdot);
}

lw_status lw_normalise_q(const lw_model *model, double *q) {
    if (!model || !lw_given(q, model->nq)) return LW_ERROR_ARGUMENT;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int at = lw_joint_quaternion(link->joint.type);
        if (at >= 0) lw_quat_normalise(q + link->q + at);
    }
    lw_fit_cut_angles(model, q);
    return LW_OK;
}

void lw_same_signs(const lw_model *model, const double *like, double *q) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int at = lw_joint_quaternion(link->joint.type);
        if (at < 0) continue;
        double *own = q + link->q + at, dot = 0;
        for (int k = 0; k < 4; k++) dot += own[k] * like[link->q + at + k];
        for (int k = 0; k < 4 && dot < 0; k++) own[k] = -own[k];
    }
}

lw_status lw_integrate_q(const lw_model *model, double *q, const double *v, double dt) {
    if (!model || !lw_given(q, model->nq) || !lw_given(v, model->nv) || !isfinite(dt))
        return LW_ERROR_ARGUMENT;
    for (int k = 0; k < model->cut_angle_count; k++) { /* This selects the revolution. */
        const lw_cut_angle *angle = &model->cut_angles[k];
        double speed, now = cut_angle(model, angle, q, v, q[angle->q], &speed);
        q[angle->q] = now + dt * speed;
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int at = lw_joint_quaternion(link->joint.type), turning = at == 3 ? 3 : 0;
        double *qi = q + link->q;
        const double *vi = v + link->v;
        int sliding = at < 0 ? link->joint.nv : turning;
        for (int k = 0; k < sliding; k++) qi[k] += dt * vi[k];
        if (at < 0) continue;
        double phi[3] = {dt * vi[turning], dt * vi[turning + 1], dt * vi[turning + 2]}, step[4], next[4];
        lw_quat_exp(phi, step);
        lw_quat_mul(qi + at, step, next);
        lw_quat_normalise(next);
        memcpy(qi + at, next, sizeof next);
    }
    lw_fit_cut_angles(model, q);
    return LW_OK;
}
