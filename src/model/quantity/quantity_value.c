/* quantity_value.c - the values of the quantities of a state (quantity.h).
 *
 * With world poses (R, p) and twists (w; v) of the internal frames, in internal axes, and x a point of a body
 * there,
 *
 *     position       p + R x                      velocity   R (v + w x x)
 *     acceleration   R (a + alpha x x + w x (v + w x x)),   (alpha; a) the spatial acceleration
 *
 *     A_i = X_i A_parent + S_i vdot_i + S_i' v_i + V_i x S_i v_i           (docs/theory/tree.md, 7)
 *
 * The speeds of a cut joint accelerate by vdot_k = W_k'(u' - bias), where u = S v is the twist of its second
 * frame relative to its first in the axes of the second, so that u' = X A_2 - X A_1 + V_2 x X V_1.
 *
 * Cardan angles: R = Rx(a) Ry(b) Rz(c). With Rx(a)'R = Ry(b) Rz(c) the angles b and c follow from a without
 * cancellation, so that they rebuild R wherever a stands, also where cos b vanishes and a is arbitrary.
 *
 * Cost     O(1), but O(n) of energies and total momentum; no allocation.
 */
#include "model/contact.h"
#include "model/joint.h"
#include "model/quantity/quantity.h"
#include "model/rows.h"

#include <math.h>

static void place_of(const lw_data *data, int body, const double at[3], double out[3]) {
    lw_pose_point(data->world[body].R, data->world[body].p, at, out);
}

static void velocity_of(const lw_data *data, int body, const double at[3], double out[3]) {
    const double *V = data->motion[body].V;
    double local[3];
    lw_v3_copy(V + 3, local);
    lw_v3_add_cross(V, at, local);
    lw_m3_mul_v(data->world[body].R, local, out);
}

static void acceleration_of(const lw_data *data, const double *rates, int body, const double at[3],
                            double out[3]) {
    const double *V = data->motion[body].V, *A = rates + 6 * (size_t)body;
    double v[3], local[3];
    lw_v3_copy(V + 3, v);
    lw_v3_add_cross(V, at, v);
    lw_v3_copy(A + 3, local);
    lw_v3_add_cross(A, at, local);
    lw_v3_add_cross(V, v, local);
    lw_m3_mul_v(data->world[body].R, local, out);
}

void lw_body_accelerations(const lw_model *model, const lw_data *data, const double *vdot, double *A) {
    for (int k = 0; k < 6; k++) A[k] = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        const double *v = data->v + link->v, *parent = A + 6 * (size_t)link->parent;
        double R[9], p[3], S[6 * LW_JOINT_MAX_V], bias[6], own[6] = {0}, *out = A + 6 * (size_t)i;
        lw_joint_motion(&link->joint, data->q + link->q, v, R, p, S, bias);
        lw_twist_to_child(motion->R, motion->p, parent, out);
        for (int k = 0; k < link->joint.nv; k++) {
            lw_v6_axpy(v[k], S + 6 * k, own);
            lw_v6_axpy(vdot[link->v + k], S + 6 * k, out);
        }
        double turning[6];
        lw_twist_cross(motion->V, own, turning);
        lw_v6_axpy(1, bias, out);
        lw_v6_axpy(1, turning, out);
    }
}

/* --- joints --------------------------------------------------------------------------------------- */

/* The pose of a joint's frame on one of its bodies, in the world. */
static void joint_frame(const lw_data *data, const lw_joint_entry *entry, int side, lw_pose *pose) {
    const lw_pose *world = &data->world[entry->info.bodies[side]];
    lw_pose_compose(world->R, world->p, entry->frames[side].R, entry->frames[side].p, pose->R, pose->p);
}

static void cut_accelerations(const lw_model *model, const lw_data *data, const double *rates,
                              const lw_joint_entry *entry, int loop, double *out) {
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3], own[36], S[36], bias[6] = {0}, R[9], p[3];
    const int first = entry->info.bodies[0], second = entry->info.bodies[1];
    lw_cut_joint(model, data, loop, q, v, W, at);
    lw_joint_dual(&entry->joint, q, own);
    lw_joint_motion(&entry->joint, q, v, R, p, S, bias);

    lw_pose one, two, inverse, relative;
    joint_frame(data, entry, 1, &two);
    one = data->world[first];
    lw_pose_invert(one.R, one.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, two.R, two.p, relative.R, relative.p);
    double V1[6], V2[6], A1[6], A2[6], turning[6];
    lw_twist_to_child(relative.R, relative.p, data->motion[first].V, V1);
    lw_twist_to_child(relative.R, relative.p, rates + 6 * (size_t)first, A1);
    lw_twist_to_child(entry->frames[1].R, entry->frames[1].p, data->motion[second].V, V2);
    lw_twist_to_child(entry->frames[1].R, entry->frames[1].p, rates + 6 * (size_t)second, A2);
    lw_twist_cross(V2, V1, turning);
    for (int k = 0; k < 6; k++) A2[k] += turning[k] - A1[k] - bias[k];
    for (int k = 0; k < entry->joint.nv; k++) out[k] = lw_v6_dot(own + 6 * k, A2);
}

static void joint_values(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                         const lw_state_quantity *quantity, double *out) {
    const lw_joint_entry *entry = &model->joints[quantity->object];
    const lw_joint_info *info = &entry->info;
    if (!info->cut) {
        const double *from = quantity->kind == LW_Q_COORDINATE ? data->q + info->q
                             : quantity->kind == LW_Q_SPEED    ? data->v + info->v
                                                               : source->vdot + info->v;
        const int count = quantity->kind == LW_Q_COORDINATE ? info->q_count : info->v_count;
        for (int k = 0; k < count; k++) out[k] = from[k];
        return;
    }
    if (quantity->kind == LW_Q_ACCELERATION) {
        cut_accelerations(model, data, source->motion_rates, entry, quantity->other, out);
        return;
    }
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    lw_cut_joint(model, data, quantity->other, q, v, W, at);
    const int count = quantity->kind == LW_Q_COORDINATE ? entry->joint.nq : entry->joint.nv;
    for (int k = 0; k < count; k++) out[k] = quantity->kind == LW_Q_COORDINATE ? q[k] : v[k];
}

/* The wrench of a joint about its point on the first body, and magnitudes. */
static void reaction_values(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                            const lw_state_quantity *quantity, double *out) {
    const double *wrench = source->reactions + 6 * (size_t)quantity->object;
    for (int k = 0; k < 6; k++) out[k] = wrench[k];
    if (quantity->at_first) {
        lw_pose one, two;
        double arm[3];
        joint_frame(data, &model->joints[quantity->object], 0, &one);
        joint_frame(data, &model->joints[quantity->object], 1, &two);
        lw_v3_sub(two.p, one.p, arm);
        lw_v3_add_cross(arm, wrench, out + 3);
    }
    out[6] = lw_v3_norm(out);
    out[7] = lw_v3_norm(out + 3);
}

/* The wrench f of a joint along its speeds, S'f. */
static void along_speeds(const lw_model *model, const lw_data *data, const double *reactions, int object,
                         double out[LW_JOINT_MAX_V]) {
    const lw_joint_entry *entry = &model->joints[object];
    const double *reaction = reactions + 6 * (size_t)object;
    const double wrench[6] = {reaction[3], reaction[4], reaction[5], reaction[0], reaction[1], reaction[2]};
    double R[9], p[3], S[36];
    lw_pose two;
    joint_frame(data, entry, 1, &two);
    lw_joint_motion(&entry->joint, data->q + entry->info.q, NULL, R, p, S, NULL);
    for (int k = 0; k < entry->info.v_count; k++) {
        double direction[6];
        lw_m3_mul_v(two.R, S + 6 * k, direction);
        lw_m3_mul_v(two.R, S + 6 * k + 3, direction + 3);
        out[k] = lw_v6_dot(direction, wrench);
    }
}

/* What prescribed motions exert: the wrench that the joint transmits, along their directions, without the
 * elements that act on the same speed, and what their rotors take: tau = S'f + J vdot
 * (docs/theory/armature.md, 6). */
static void drive_values(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                         const lw_state_quantity *quantity, double *out) {
    const lw_joint_info *info = &model->joints[quantity->object].info;
    double along[LW_JOINT_MAX_V], power = 0;
    int count = 0;
    along_speeds(model, data, source->reactions, quantity->object, along);
    for (int k = 0; k < info->v_count; k++) {
        if (!(info->prescribed >> k & 1)) continue;
        double force = along[k];
        for (int f = 0; f < model->force_count; f++)
            if (lw_force_in_joint(&model->forces[f]) && model->forces[f].v == info->v + k)
                force -= source->forces[f].value;
        if (model->armature) force += model->armature[info->v + k] * source->vdot[info->v + k];
        out[count++] = force;
        power += force * data->v[info->v + k];
    }
    out[count] = power;
}

double lw_prescribed_wrench_power(const lw_model *model, const lw_data *data, const double *reactions) {
    double along[LW_JOINT_MAX_V], power = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        if (info->cut || !info->prescribed) continue;
        along_speeds(model, data, reactions, j, along);
        for (int k = 0; k < info->v_count; k++)
            if (info->prescribed >> k & 1) power += along[k] * data->v[info->v + k];
    }
    return power;
}

/* The force of the first body of a distance or rolling constraint on the second. */
static void constraint_values(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                              const lw_state_quantity *quantity, double *out) {
    const lw_constraint *constraint = &model->constraints[quantity->object];
    const double *x = source->multipliers + quantity->other;
    const int first = constraint->bodies[0], second = constraint->bodies[1];
    if (constraint->type == LW_CONSTRAINT_COUPLING) {
        out[0] = x[0];
        return;
    }
    if (constraint->type == LW_CONSTRAINT_DISTANCE) {
        double a[3], b[3], line[3];
        place_of(data, first, constraint->points[0], a);
        place_of(data, second, constraint->points[1], b);
        lw_v3_sub(b, a, line);
        const double length = lw_v3_norm(line);
        for (int k = 0; k < 3; k++) out[k] = length > 0 ? x[0] * line[k] / length : 0;
    } else {
        double n[3], one[3], two[3];
        lw_m3_mul_v(data->world[second].R, constraint->normal, n);
        lw_rolling_directions(constraint, data->world[second].R, n, one, two);
        for (int k = 0; k < 3; k++) out[k] = -(x[0] * n[k] + x[1] * one[k] + x[2] * two[k]);
    }
    out[3] = lw_v3_norm(out);
}

/* --- bodies --------------------------------------------------------------------------------------- */

static void cardan_angles(const double R[9], double out[3]) {
    const double a = atan2(-R[5], R[8]), s = sin(a), c = cos(a);
    out[0] = a;
    out[1] = atan2(R[2], c * R[8] - s * R[5]);
    out[2] = atan2(c * R[3] + s * R[6], c * R[4] + s * R[7]);
}

static void body_rotation(const lw_model *model, const lw_data *data, int body, int marker, double R[9]) {
    lw_m3_mul(data->world[body].R, lw_marker_axes(model, body, marker), R);
}

/* Linear momentum, and angular momentum about the world's origin; adds mass and mass moment of the body. */
static void body_momentum(const lw_model *model, const lw_data *data, int body, int marker, double out[6]) {
    const lw_rigid_inertia inertia = lw_member_inertia(model, body, marker);
    double local[6], world[6];
    lw_rigid_mul(&inertia, data->motion[body].V, local);
    lw_wrench_to_parent(data->world[body].R, data->world[body].p, local, world);
    for (int k = 0; k < 3; k++) out[k] = world[3 + k], out[3 + k] = world[k];
}

static void total_momentum(const lw_model *model, const lw_data *data, double out[9]) {
    double mass = model->fixed_mass, centre[3];
    lw_v3_copy(model->fixed_moment, centre);
    for (int k = 0; k < 6; k++) out[k] = 0;
    for (int i = 1; i <= model->body_count; i++) {
        double own[6], c[3];
        body_momentum(model, data, i, 0, own);
        lw_v6_axpy(1, own, out);
        place_of(data, i, model->bodies[i].com, c);
        mass += model->links[i].inertia.mass;
        lw_v3_axpy(model->links[i].inertia.mass, c, centre);
    }
    for (int k = 0; k < 3; k++) out[6 + k] = out[3 + k], centre[k] = mass > 0 ? -centre[k] / mass : 0;
    lw_v3_add_cross(centre, out, out + 6);
}

static double kinetic_energy(const lw_model *model, const lw_data *data) {
    double energy = 0;
    for (int i = 1; i <= model->body_count; i++) {
        double momentum[6];
        lw_rigid_mul(&model->links[i].inertia, data->motion[i].V, momentum);
        energy += 0.5 * lw_v6_dot(data->motion[i].V, momentum);
    }
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        double spin = lw_v3_dot(idle->axis, data->motion[idle->body].V);
        energy -= 0.5 * idle->moment * spin * spin;
    }
    return energy + lw_rotor_energy(model, data->v);
}

static double potential_energy(const lw_model *model, const lw_data *data, const lw_quantity_source *source) {
    double energy = -lw_v3_dot(model->gravity, model->fixed_moment);
    if (model->force_count > 0 && !source->forces) return NAN;
    for (int i = 1; i <= model->body_count; i++) {
        double centre[3];
        place_of(data, i, model->bodies[i].com, centre);
        energy -= model->links[i].inertia.mass * lw_v3_dot(model->gravity, centre);
    }
    for (int k = 0; k < model->force_count; k++) energy += source->forces[k].potential;
    return energy;
}

/* --- elements and distances ----------------------------------------------------------------------- */

/* The distance of two points, and its rate. */
static void distance_values(const lw_data *data, const int bodies[2], const double *const at[2],
                            double *out) {
    double x[2][3], v[2][3], line[3], rate[3];
    for (int k = 0; k < 2; k++) {
        place_of(data, bodies[k], at[k], x[k]);
        velocity_of(data, bodies[k], at[k], v[k]);
    }
    lw_v3_sub(x[1], x[0], line);
    lw_v3_sub(v[1], v[0], rate);
    out[0] = lw_v3_norm(line);
    /* Points that coincide move apart in every direction of their relative velocity. */
    out[1] = out[0] > 0 ? lw_v3_dot(line, rate) / out[0] : lw_v3_norm(rate);
}

static void element_values(const lw_model *model, const lw_data *data, const lw_force *force, double *out) {
    if (force->type == LW_FORCE_SPRING) {
        const double *const at[2] = {force->frames[0].p, force->frames[1].p};
        distance_values(data, force->bodies, at, out);
    } else if (force->type == LW_FORCE_CONTACT) {
        lw_contact_gap(force, data, &out[0], &out[1]);
    } else if (force->closure >= 0) {
        double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
        lw_cut_joint(model, data, force->closure, q, v, W, at);
        out[0] = force->q >= 0 ? q[force->q] : NAN;
        out[1] = v[force->v];
    } else {
        out[0] = force->q >= 0 ? data->q[force->q] : NAN;
        out[1] = data->v[force->v];
    }
}

static void force_values(const lw_force_value *value, const lw_state_quantity *quantity, double *out) {
    for (int k = 0; k < 6; k++) out[k] = value->wrench[k];
    if (quantity->at_first) {
        double arm[3];
        lw_v3_sub(value->at[0], value->at[1], arm);
        lw_v3_add_cross(arm, value->wrench, out + 3);
    }
    out[6] = value->value;
    out[LW_FORCE_POWER] = value->power;
    out[LW_FORCE_FRICTION_OF_CONTACT] = value->friction;
}

/* --- vectors -------------------------------------------------------------------------------------- */

static bool is_known(const lw_quantity_source *source, unsigned needs) {
    return !((needs & LW_NEEDS_ACCELERATION && !source->vdot) ||
             (needs & LW_NEEDS_MOTION_RATES && !source->motion_rates) ||
             (needs & LW_NEEDS_REACTION && !source->reactions) ||
             (needs & LW_NEEDS_MULTIPLIER && !source->multipliers) ||
             (needs & LW_NEEDS_LEDGER && !source->ledger) || (needs & LW_NEEDS_WORK && !source->works));
}

/* Components in world axes. */
static void world_vector(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                         const lw_state_quantity *quantity, double *out) {
    const int object = quantity->object;
    const double *at = quantity->at[0];
    double R[9];
    switch (quantity->kind) {
    case LW_Q_TIME:
        out[0] = source->t;
        break;
    case LW_Q_COORDINATE:
    case LW_Q_SPEED:
    case LW_Q_ACCELERATION:
        joint_values(model, data, source, quantity, out);
        break;
    case LW_Q_DRIVE:
        if (source->forces || model->force_count == 0) drive_values(model, data, source, quantity, out);
        break;
    case LW_Q_REACTION:
        reaction_values(model, data, source, quantity, out);
        break;
    case LW_Q_CONSTRAINT:
        constraint_values(model, data, source, quantity, out);
        break;
    case LW_Q_POSITION:
    case LW_Q_COM:
    case LW_Q_POINT:
        place_of(data, object, at, out);
        break;
    case LW_Q_ROTATION:
        body_rotation(model, data, object, quantity->marker[0], R);
        lw_quat_rot(R, out);
        break;
    case LW_Q_CARDAN:
        body_rotation(model, data, object, quantity->marker[0], R);
        cardan_angles(R, out);
        break;
    case LW_Q_VELOCITY:
    case LW_Q_COM_VELOCITY:
    case LW_Q_POINT_VELOCITY:
        velocity_of(data, object, at, out);
        break;
    case LW_Q_SPIN:
        lw_m3_mul_v(data->world[object].R, data->motion[object].V, out);
        break;
    case LW_Q_BODY_ACCELERATION:
    case LW_Q_COM_ACCELERATION:
    case LW_Q_POINT_ACCELERATION:
        acceleration_of(data, source->motion_rates, object, at, out);
        break;
    case LW_Q_SPIN_RATE:
        lw_m3_mul_v(data->world[object].R, source->motion_rates + 6 * (size_t)object, out);
        break;
    case LW_Q_MOMENTUM: {
        double c[3];
        body_momentum(model, data, object, quantity->marker[0], out);
        place_of(data, object, at, c);
        lw_v3_copy(out + 3, out + 6);
        for (int k = 0; k < 3; k++) c[k] = -c[k];
        lw_v3_add_cross(c, out, out + 6);
        break;
    }
    case LW_Q_DISTANCE: {
        const int bodies[2] = {object, quantity->other};
        const double *const ends[2] = {quantity->at[0], quantity->at[1]};
        distance_values(data, bodies, ends, out);
        break;
    }
    case LW_Q_ELEMENT:
        element_values(model, data, &model->forces[object], out);
        break;
    case LW_Q_FORCE:
        if (source->forces) force_values(&source->forces[object], quantity, out);
        if (source->works) out[LW_FORCE_WORK] = source->works[object];
        break;
    case LW_Q_TOTAL_MOMENTUM:
        total_momentum(model, data, out);
        break;
    case LW_Q_ENERGY:
        out[0] = source->ledger ? source->ledger->kinetic : kinetic_energy(model, data);
        if (quantity->needs & LW_NEEDS_FORCES)
            out[1] = source->ledger ? source->ledger->potential : potential_energy(model, data, source);
        break;
    case LW_Q_LEDGER:
        out[0] = source->ledger->drives, out[1] = source->ledger->forces;
        out[2] = source->ledger->dissipation, out[3] = source->ledger->unaccounted;
        break;
    case LW_Q_VIOLATION:
        out[0] = source->position_violation, out[1] = source->velocity_violation;
        break;
    case LW_Q_STATE:
        if (source->states) out[0] = source->states[object];
        break;
    case LW_Q_OUTPUT:
        if (source->outputs)
            out[0] = source->outputs[object] * model->outputs[object].denominator /
                     model->outputs[object].numerator;
        break;
    case LW_Q_INPUT:
        if (source->inputs) out[0] = source->inputs[object];
        break;
    case LW_Q_PARAMETER:
        out[0] = model->parameter_values[object];
        break;
    case LW_Q_NONE:
    case LW_Q_KINDS:
        break;
    }
}

void lw_quantity_vector(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                        const lw_state_quantity *quantity, double out[LW_QUANTITY_COMPONENTS]) {
    static const lw_quantity_source nothing = {0};
    if (!source) source = &nothing;
    for (int k = 0; k < LW_QUANTITY_COMPONENTS; k++) out[k] = NAN;
    if (!is_known(source, quantity->needs)) return;
    world_vector(model, data, source, quantity, out);
    if (quantity->axes <= 0 && quantity->axes_marker <= 0) return;
    double R[9], own[3];
    const int threes = quantity->kind == LW_Q_MOMENTUM                                   ? 3
                       : quantity->kind == LW_Q_REACTION || quantity->kind == LW_Q_FORCE ? 2
                                                                                         : 1;
    body_rotation(model, data, quantity->axes, quantity->axes_marker, R);
    for (int k = 0; k < threes; k++) {
        lw_m3_tmul_v(R, out + 3 * k, own);
        lw_v3_copy(own, out + 3 * k);
    }
}

double lw_quantity_value(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                         const lw_state_quantity *quantity) {
    double vector[LW_QUANTITY_COMPONENTS];
    /* The commonest in laws and controllers. */
    if (quantity->other < 0 && quantity->kind == LW_Q_COORDINATE)
        return data->q[model->joints[quantity->object].info.q + quantity->component];
    if (quantity->other < 0 && quantity->kind == LW_Q_SPEED)
        return data->v[model->joints[quantity->object].info.v + quantity->component];
    lw_quantity_vector(model, data, source, quantity, vector);
    return vector[quantity->component];
}
