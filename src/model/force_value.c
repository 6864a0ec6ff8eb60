/* force_value.c - what each force element exerts in a state, one by one: its force, where it acts, its power.
 *
 * Each element is evaluated by lw_forces_add alone, on loads that are zero at the bodies and speeds that it
 * touches; afterwards these have their values again. So an element has the same force here and in the
 * dynamics.
 *
 * Cost     O(elements), no allocation.
 */
#include "model/contact.h"
#include "model/joint.h"
#include "model/quantity/quantity.h"
#include "model/signals.h"

#include <string.h>

/* The parts of lw_data that one element changes. */
typedef struct touched {
    double load[2][6], cut_load[6], tau;
    lw_power power;
    double potential, gross[2];
} touched;

/* The bodies that the element loads: first and second; applied: the other one and the body. */
static void loaded_bodies(const lw_model *model, const lw_force *force, int bodies[2]) {
    const int *own =
        force->closure >= 0 ? model->joints[model->closures[force->closure]].info.bodies : force->bodies;
    const bool swap = force->type == LW_FORCE_APPLIED;
    bodies[0] = own[swap], bodies[1] = own[!swap];
}

/* Saves what the element will change and sets it to zero, or restores it. */
static void save(lw_data *data, const lw_force *force, const int bodies[2], touched *kept) {
    kept->power = data->power, kept->potential = data->potential;
    memcpy(kept->gross, data->gross, sizeof kept->gross);
    data->power = (lw_power){0, 0, 0}, data->potential = 0;
    if (lw_force_in_joint(force)) {
        kept->tau = data->tau[force->v];
        data->tau[force->v] = 0;
        return;
    }
    for (int k = 0; k < 2; k++) memcpy(kept->load[k], data->load + 6 * bodies[k], sizeof kept->load[k]);
    for (int k = 0; k < 2; k++) memset(data->load + 6 * bodies[k], 0, sizeof kept->load[k]);
    if (force->closure < 0) return;
    memcpy(kept->cut_load, data->cut_load + 6 * force->closure, sizeof kept->cut_load);
    memset(data->cut_load + 6 * force->closure, 0, sizeof kept->cut_load);
}

static void restore(lw_data *data, const lw_force *force, const int bodies[2], const touched *kept) {
    data->power = kept->power, data->potential = kept->potential;
    memcpy(data->gross, kept->gross, sizeof kept->gross);
    if (lw_force_in_joint(force)) {
        data->tau[force->v] = kept->tau;
        return;
    }
    for (int k = 0; k < 2; k++) memcpy(data->load + 6 * bodies[k], kept->load[k], sizeof kept->load[k]);
    if (force->closure >= 0)
        memcpy(data->cut_load + 6 * force->closure, kept->cut_load, sizeof kept->cut_load);
}

/* The joint in the tree whose speeds include this one. */
static int joint_of_speed(const lw_model *model, int speed) {
    int low = 1, high = model->body_count;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (model->links[middle].v <= speed)
            low = middle;
        else
            high = middle - 1;
    }
    while (model->links[low].joint.nv == 0) low--;
    return model->bodies[low].joint_index;
}

/* An element on a coordinate of a joint: its generalised force, and the wrench dual to the speed. */
static void in_joint(const lw_model *model, const lw_data *data, const lw_force *force,
                     lw_force_value *value) {
    const bool cut = force->closure >= 0;
    const int joint = cut ? model->closures[force->closure] : joint_of_speed(model, force->v);
    const lw_joint_entry *entry = &model->joints[joint];
    const lw_pose *world = &data->world[entry->info.bodies[1]], *one = &data->world[entry->info.bodies[0]];
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3], tau, w[6];
    lw_pose_point(one->R, one->p, entry->frames[0].p, value->at[1]);
    lw_pose_point(world->R, world->p, entry->frames[1].p, value->at[0]);
    if (cut) {
        const double *load = data->cut_load + 6 * force->closure;
        lw_cut_joint(model, data, force->closure, q, v, W, at);
        memcpy(w, W + 6 * force->v, sizeof w);
        tau = lw_v6_dot(load, w) / lw_v6_dot(w, w);
        value->power = tau * v[force->v];
    } else {
        double R[9];
        const int k = force->v - entry->info.v;
        lw_joint_dual(&entry->joint, data->q + entry->info.q, W);
        lw_m3_mul(world->R, entry->frames[1].R, R);
        lw_m3_mul_v(R, W + 6 * k, w);
        lw_m3_mul_v(R, W + 6 * k + 3, w + 3);
        tau = data->tau[force->v];
        value->power = tau * data->v[force->v];
    }
    value->value = tau;
    for (int k = 0; k < 3; k++) value->wrench[k] = tau * w[3 + k], value->wrench[3 + k] = tau * w[k];
}

/* Where a contact acts: in the middle of its probes that touch, weighted by their forces; otherwise at the
 * shape's frame. Its value is the sum of the normal forces. */
static void in_contact(const lw_data *data, const lw_force *force, lw_force_value *value) {
    lw_contact_body surface, shape;
    lw_touch touch;
    double sum = 0, x[3] = {0, 0, 0};
    lw_contact_bodies(force, data, &surface, &shape);
    value->friction = 0;
    double friction[3] = {0, 0, 0};
    for (int k = 0; k < force->contact->probes; k++) {
        lw_contact_look(force->contact, &surface, &shape, k, &touch);
        lw_contact_forces(force->contact, NAN, &touch);
        sum += touch.normal;
        lw_v3_axpy(touch.normal, touch.x, x);
        lw_v3_add(friction, touch.friction, friction);
    }
    lw_v3_copy(shape.p, value->at[0]);
    for (int k = 0; k < 3 && sum > 0; k++) value->at[0][k] = x[k] / sum;
    lw_v3_copy(value->at[0], value->at[1]);
    value->value = sum;
    value->friction = lw_v3_norm(friction);
}

static void on_bodies(const lw_data *data, const lw_force *force, const int bodies[2],
                      lw_force_value *value) {
    const lw_pose *one = &data->world[bodies[0]], *two = &data->world[bodies[1]];
    const double *load = data->load + 6 * bodies[1];
    const bool applied = force->type == LW_FORCE_APPLIED, contact = force->type == LW_FORCE_CONTACT;
    double torque[3], arm[3];
    lw_pose_point(two->R, two->p, force->frames[!applied].p, value->at[0]);
    lw_pose_point(one->R, one->p, force->frames[0].p, value->at[1]);
    if (applied) lw_v3_copy(value->at[0], value->at[1]);
    if (contact) in_contact(data, force, value);
    lw_m3_mul_v(two->R, load + 3, value->wrench);
    lw_m3_mul_v(two->R, load, torque);
    lw_v3_sub(two->p, value->at[0], arm);
    lw_v3_add_cross(arm, value->wrench, torque);
    lw_v3_copy(torque, value->wrench + 3);
    if (!contact) value->value = lw_v3_norm(value->wrench);
    if (force->type == LW_FORCE_SPRING) {
        double line[3];
        lw_v3_sub(value->at[0], value->at[1], line);
        if (lw_v3_dot(line, value->wrench) > 0) value->value = -value->value; /* It pushes. */
        lw_v3_set(value->wrench + 3, 0, 0, 0); /* What is left there is rounding. */
    }
    value->power = 0;
    for (int k = 0; k < 2; k++)
        value->power += lw_v6_dot(data->load + 6 * bodies[k], data->motion[bodies[k]].V);
}

void lw_force_values(const lw_model *model, lw_data *data, double t, bool potential, lw_force_value *values) {
    lw_signals(model, data, t);
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        touched kept;
        int bodies[2];
        loaded_bodies(model, force, bodies);
        save(data, force, bodies, &kept);
        lw_forces_add(model, data, k, k + 1, t, potential);
        values[k].friction = 0;
        if (lw_force_type_in_joint(force->type))
            in_joint(model, data, force, &values[k]);
        else
            on_bodies(data, force, bodies, &values[k]);
        values[k].booked = data->power;
        values[k].potential = data->potential;
        restore(data, force, bodies, &kept);
    }
}
