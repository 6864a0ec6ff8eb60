/* inverse.c - inverse dynamics and joint reactions of trees: the recursive Newton-Euler algorithm.
 *
 *   a_i = X_i a_parent + S_i vdot_i + bias_i                       outwards
 *   f_i = I_i a_i + V_i x* I_i V_i - load_i + sum of children      inwards: the wrench that joint i transmits
 *   tau_i = S_i' f_i - (forces of elements in the joint)
 *
 * Source   docs/theory/tree.md, 7-9; anderson2003 eqs 8-13.
 * Cost     O(n), no allocation.
 */
#include "formulations/tree.h"

void lw_tree_wrenches(const lw_model *model, lw_data *data, const double *vdot) {
    double *ground = data->motion[0].a;
    lw_v3_set(ground, 0, 0, 0);
    for (int k = 0; k < 3; k++) ground[3 + k] = -model->gravity[k];
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        lw_body_motion *motion = &data->motion[i];
        double *f = data->wrench + 6 * i, momentum[6], gyroscopic[6];
        lw_twist_to_child(motion->R, motion->p, data->motion[link->parent].a, motion->a);
        lw_v6_axpy(1, motion->bias, motion->a);
        for (int k = 0; k < link->joint.nv; k++)
            lw_v6_axpy(vdot[link->v + k], data->S + 6 * (link->v + k), motion->a);
        lw_rigid_mul(&link->inertia, motion->a, f);
        lw_rigid_mul(&link->inertia, motion->V, momentum);
        lw_wrench_cross(motion->V, momentum, gyroscopic);
        lw_v6_axpy(1, gyroscopic, f);
        lw_v6_axpy(-1, motion->load, f);
    }
    for (int i = model->body_count; i >= 1; i--) {
        int parent = model->links[i].parent;
        double t[6];
        if (parent == 0) continue;
        lw_wrench_to_parent(data->motion[i].R, data->motion[i].p, data->wrench + 6 * i, t);
        lw_v6_axpy(1, t, data->wrench + 6 * parent);
    }
}

static void evaluate(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                     const double *vdot) {
    lw_take_state(model, data, t, q, v);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++)
            if (!(link->prescribed >> k & 1)) data->vdot[link->v + k] = vdot[link->v + k];
    }
    lw_velocities(model, data);
    if (model->forces_need_world) lw_world_poses(model, data);
    lw_forces(model, data, t, false);
    lw_tree_wrenches(model, data, data->vdot);
}

void lw_inverse_dynamics(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                         const double *vdot, double *tau) {
    evaluate(model, data, t, q, v, vdot);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = link->v; k < link->v + link->joint.nv; k++)
            tau[k] = lw_v6_dot(data->S + 6 * k, data->wrench + 6 * i) - data->tau[k];
    }
}

void lw_joint_reactions(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                        const double *vdot, double *reactions) {
    evaluate(model, data, t, q, v, vdot);
    lw_world_poses(model, data);
    memset(reactions, 0, (size_t)model->joint_count * 6 * sizeof *reactions);
    for (int i = 1; i <= model->body_count; i++) {
        int index = model->links[i].joint_index;
        const lw_joint_entry *entry = &model->joints[index];
        const lw_pose *world = &data->world[i];
        double *force = reactions + 6 * index, *torque = force + 3;
        lw_m3_mul_v(world->R, data->wrench + 6 * i + 3, force);
        lw_m3_mul_v(world->R, data->wrench + 6 * i, torque);
        if (!entry->info.reversed) continue;
        /* the child is the first body: turn the wrench round and move it to the point on the second */
        double at[3], arm[3];
        const lw_pose *second = &data->world[entry->info.bodies[1]];
        lw_pose_point(second->R, second->p, entry->second.p, at);
        lw_v3_sub(world->p, at, arm);
        lw_v3_add_cross(arm, force, torque);
        for (int k = 0; k < 6; k++) force[k] = -force[k];
    }
}
