/* force.c - force elements: loads on bodies, forces on joint coordinates, their potential and power.
 *
 *   spring     F = k x + c xdot + law(x, xdot, t) along the line, x = length - free length, tension positive
 *   torsion    tau = -(k x + c xdot + law), x = coordinate - free value
 *   bushing    on the second body, d displacement and phi rotation vector of its frame in the first:
 *                  force   -K d - C d'            in the first frame's axes
 *                  torque  -J^-T(phi) K phi       in the second's, J the right Jacobian of SO(3)
 *                          -C w                   in the first's, w relative angular velocity
 *              K gives the gradient of U = (d'K d + phi'K phi) / 2
 *   applied    force and torque, functions of t, on one body, the opposite on another
 *   drive      tau = drive(t, q, v)
 *   friction   tau = -(viscous v + coulomb tanh(v / smoothing))
 *   contact    contact.c
 *
 * Source   docs/theory/tree.md, section "Force elements".
 * Laws, applied forces and drives may depend on inputs, user states, signals and quantities of the state,
 * too (signals.h); such a law has no potential.
 * Every element books its energy: a potential, or power as drives, forces or dissipation.
 * Cost     O(elements), no allocation.
 */
#include "model/contact.h"
#include "model/signals.h"

#include <math.h>

/* World position and velocity of a point fixed in a body's internal frame. */
static void point_motion(const lw_data *data, int body, const double at[3], double x[3], double xdot[3]) {
    const double *V = data->motion[body].V;
    double local[3];
    lw_v3_copy(V + 3, local);
    lw_v3_add_cross(V, at, local);
    lw_pose_point(data->world[body].R, data->world[body].p, at, x);
    lw_m3_mul_v(data->world[body].R, local, xdot);
}

/* Adds a force at a world point and a torque, both in world axes, to a body. */
static void load_body(lw_data *data, int body, const double at[3], const double force[3],
                      const double torque[3]) {
    const lw_pose *world = &data->world[body];
    double arm[3], n[3], local[3];
    lw_v3_sub(at, world->p, arm);
    lw_v3_cross(arm, force, n);
    lw_v3_add(n, torque, n);
    lw_m3_tmul_v(world->R, n, local);
    lw_v3_add(data->load + 6 * body, local, data->load + 6 * body);
    lw_m3_tmul_v(world->R, force, local);
    lw_v3_add(data->load + 6 * body + 3, local, data->load + 6 * body + 3);
}

/* The value of a law or drive of element k; `speed` is the index of the variable that is its speed. Where
 * data->still is set, the value is extrapolated to zero speed by its slope. */
static double value_of(const lw_function *f, const lw_data *data, int k, const double variables[3],
                       int speed) {
    if (!data->still || !data->still[k])
        return lw_function_value_held(f, variables, data->values, lw_held(data, k));
    lw_jet at[3];
    for (int c = 0; c < 3; c++) at[c] = (lw_jet){variables[c], c == speed, 0};
    lw_jet jet = lw_function_jet_held(f, at, data->values, lw_held(data, k));
    return jet.f - (isfinite(jet.d) ? jet.d * variables[speed] : 0);
}

/* What the parts of a law that belong to single variables contribute, by its slopes: they may cancel within
 * it, as those of 80 x + 9 v do at a body without mass. first, last: its variables that count. */
static double parts_of(const lw_function *f, const lw_data *data, int k, const double variables[3], int first,
                       int last) {
    double size = 0;
    for (int c = first; c <= last; c++) {
        lw_jet at[3];
        for (int i = 0; i < 3; i++) at[i] = (lw_jet){variables[i], i == c, 0};
        double slope = lw_function_jet_held(f, at, data->values, lw_held(data, k)).d;
        if (isfinite(slope)) size += fabs(slope * variables[c]);
    }
    return size;
}

/* The tension of a spring-damper, element k, with elongation x and rate v; potential and power are added to
 * data. */
static double tension(const lw_force *force, int k, lw_data *data, double t, double x, double v,
                      bool integrate) {
    double total = force->stiffness * x + force->damping * v;
    data->gross[0] = data->gross[1] = fabs(force->stiffness * x) + fabs(force->damping * v);
    data->potential += 0.5 * force->stiffness * x * x;
    data->power.dissipation += force->damping * v * v;
    if (force->law) {
        const double variables[3] = {x, v, t};
        double law = value_of(force->law, data, k, variables, 1);
        total += law;
        data->gross[0] = data->gross[1] +=
            fabs(law) + (data->measuring ? parts_of(force->law, data, k, variables, 0, 1) : 0);
        if (force->law_dissipates)
            data->power.dissipation += law * v;
        else if (!force->law_is_potential)
            data->power.forces -= law * v;
        else if (integrate)
            data->potential += lw_function_integral(force->law, 0, x, variables);
    }
    return total;
}

/* The wrench of a unit force along a world direction, at a point fixed in a body's internal frame. */
static void unit_wrench(const lw_pose *world, const double at[3], const double direction[3], double h[6]) {
    lw_m3_tmul_v(world->R, direction, h + 3);
    lw_v3_cross(at, h + 3, h);
}

/* Applies a spring; h receives the derivatives that LW_LINE describes. */
static void spring(const lw_force *force, int k, lw_data *data, double t, bool integrate, double h[LW_LINE]) {
    const int first = force->bodies[0], second = force->bodies[1];
    const lw_pose *one = &data->world[first], *two = &data->world[second];
    double a[3], b[3], line[3], unit[3] = {0, 0, 0};
    lw_pose_point(one->R, one->p, force->frames[0].p, a);
    lw_pose_point(two->R, two->p, force->frames[1].p, b);
    lw_v3_sub(b, a, line);
    double length = lw_v3_norm(line);
    if (length > 0) /* The line between coinciding points has no direction. */
        for (int c = 0; c < 3; c++) unit[c] = line[c] / length;
    unit_wrench(one, force->frames[0].p, unit, h);
    unit_wrench(two, force->frames[1].p, unit, h + 6);
    h[12] = lw_v6_dot(h + 6, data->motion[second].V) - lw_v6_dot(h, data->motion[first].V);
    double pull = tension(force, k, data, t, length - force->free_length, h[12], integrate);
    lw_v6_axpy(pull, h, data->load + 6 * first);
    lw_v6_axpy(-pull, h + 6, data->load + 6 * second);
}

/* Inverse transpose of the right Jacobian of SO(3), with a = |phi| (docs/theory/tree.md, 23):
 *     y - phi x y / 2 + g phi x (phi x y),    g = 1/a^2 - (1 + cos a) / (2 a sin a). */
static void inverse_jacobian_transpose(const double phi[3], const double x[3], double out[3]) {
    double a2 = lw_v3_dot(phi, phi), a = sqrt(a2), first[3], second[3];
    /* The series to a^4 serves below 0.01. The closed form is regular at pi, where (1 + cos a) / sin a ->
     * 0. */
    double g = a < 1e-2 ? 1.0 / 12 + a2 / 720 + a2 * a2 / 30240 : 1 / a2 - 0.5 / (a * tan(0.5 * a));
    lw_v3_cross(phi, x, first);
    lw_v3_cross(phi, first, second);
    for (int k = 0; k < 3; k++) out[k] = x[k] - 0.5 * first[k] + g * second[k];
}

/* The second frame of a bushing as its first frame sees it. */
typedef struct bushing_motion {
    double Ra[9], Rb[9], b[3];   /* axes of both frames, and the origin of the second, in the world */
    double d[3], d_dot[3], w[3]; /* displacement, its rate, relative angular velocity, in axes of the first */
    double phi[3];               /* rotation vector of the second frame in the first */
} bushing_motion;

static void bushing_moves(const lw_force *force, const lw_data *data, bushing_motion *m) {
    const lw_pose *wa = &data->world[force->bodies[0]], *wb = &data->world[force->bodies[1]];
    double a[3], va[3], vb[3], R[9], quaternion[4];
    point_motion(data, force->bodies[0], force->frames[0].p, a, va);
    point_motion(data, force->bodies[1], force->frames[1].p, m->b, vb);
    lw_m3_mul(wa->R, force->frames[0].R, m->Ra);
    lw_m3_mul(wb->R, force->frames[1].R, m->Rb);
    lw_m3_tmul(m->Ra, m->Rb, R);

    double wa_world[3], wb_world[3], gap[3], rate[3], w[3], spin[3];
    lw_m3_mul_v(wa->R, data->motion[force->bodies[0]].V, wa_world);
    lw_m3_mul_v(wb->R, data->motion[force->bodies[1]].V, wb_world);
    lw_v3_sub(m->b, a, gap);
    lw_v3_sub(vb, va, rate);
    lw_v3_cross(wa_world, gap, spin); /* The first frame rotates. */
    lw_v3_sub(rate, spin, rate);
    lw_v3_sub(wb_world, wa_world, w);
    lw_m3_tmul_v(m->Ra, gap, m->d);
    lw_m3_tmul_v(m->Ra, rate, m->d_dot);
    lw_m3_tmul_v(m->Ra, w, m->w);
    lw_quat_rot(R, quaternion);
    lw_quat_log(quaternion, m->phi);
}

/* Computes the derivatives of a bushing that LW_LINE describes. */
static void bushing_line(const lw_force *force, const lw_data *data, const bushing_motion *m, double *line) {
    const lw_pose *wa = &data->world[force->bodies[0]], *wb = &data->world[force->bodies[1]];
    double arm[3];
    lw_m3_tmul(wb->R, m->Ra, line);
    lw_v3_sub(m->b, wa->p, arm);
    lw_m3_tmul_v(wa->R, arm, line + 9);
    lw_v3_copy(m->d_dot, line + 12);
    lw_v3_copy(m->w, line + 15);
}

/* Applies a bushing; `line`, which may be NULL, receives the derivatives that LW_LINE describes. */
static void bushing(const lw_force *force, lw_data *data, double *line) {
    const double *K = force->bushing_stiffness, *C = force->bushing_damping;
    double f[3], n_damp[3], k_phi[3], n_spring[3], world_force[3], world_torque[3], part[3];
    bushing_motion m;
    bushing_moves(force, data, &m);
    if (line) bushing_line(force, data, &m, line);
    data->gross[0] = data->gross[1] = 0;
    for (int k = 0; k < 3; k++) {
        f[k] = -K[k] * m.d[k] - C[k] * m.d_dot[k];
        data->gross[1] += fabs(K[k] * m.d[k]) + fabs(C[k] * m.d_dot[k]);
        data->gross[0] += fabs(K[3 + k] * m.phi[k]) + fabs(C[3 + k] * m.w[k]);
        n_damp[k] = -C[3 + k] * m.w[k];
        k_phi[k] = -K[3 + k] * m.phi[k];
        data->potential += 0.5 * (K[k] * m.d[k] * m.d[k] + K[3 + k] * m.phi[k] * m.phi[k]);
        data->power.dissipation += C[k] * m.d_dot[k] * m.d_dot[k] + C[3 + k] * m.w[k] * m.w[k];
    }
    inverse_jacobian_transpose(m.phi, k_phi, n_spring); /* in the second frame's axes */
    lw_m3_mul_v(m.Ra, f, world_force);
    lw_m3_mul_v(m.Ra, n_damp, world_torque);
    lw_m3_mul_v(m.Rb, n_spring, part);
    lw_v3_add(world_torque, part, world_torque);
    load_body(data, force->bodies[1], m.b, world_force, world_torque);
    for (int k = 0; k < 3; k++) world_force[k] = -world_force[k], world_torque[k] = -world_torque[k];
    load_body(data, force->bodies[0], m.b, world_force, world_torque);
}

static void applied(const lw_force *force, lw_data *data, const double *held, double t) {
    double x[3], xdot[3], F[6], w[3], w_against[3], v_against[3], at[3];
    for (int k = 0; k < 6; k++) {
        const lw_function *component = force->components[k];
        F[k] = component ? lw_function_value_held(component, &t, data->values, held) : 0;
        if (component && held) held += lw_function_conditions(component);
    }
    point_motion(data, force->bodies[0], force->frames[0].p, x, xdot);
    const lw_pose *world = &data->world[force->bodies[0]], *against = &data->world[force->bodies[1]];
    if (force->follows_body) { /* The components are those in the user's axes of the body. */
        double R[9], f[3], n[3];
        lw_m3_mul(world->R, force->frames[0].R, R);
        lw_m3_mul_v(R, F, f);
        lw_m3_mul_v(R, F + 3, n);
        lw_v3_copy(f, F);
        lw_v3_copy(n, F + 3);
    }
    data->gross[0] = lw_v3_norm(F + 3), data->gross[1] = lw_v3_norm(F);
    load_body(data, force->bodies[0], x, F, F + 3);
    lw_m3_mul_v(world->R, data->motion[force->bodies[0]].V, w);
    data->power.forces += lw_v3_dot(F, xdot) + lw_v3_dot(F + 3, w);
    if (force->bodies[1] == 0) return; /* A force on ground does no work. */

    double reaction[6], gap[3];
    for (int k = 0; k < 6; k++) reaction[k] = -F[k];
    load_body(data, force->bodies[1], x, reaction, reaction + 3);
    lw_v3_sub(x, against->p, gap); /* point of the other body that is now at x */
    lw_m3_tmul_v(against->R, gap, at);
    point_motion(data, force->bodies[1], at, x, v_against);
    lw_m3_mul_v(against->R, data->motion[force->bodies[1]].V, w_against);
    data->power.forces -= lw_v3_dot(F, v_against) + lw_v3_dot(F + 3, w_against);
}

/* Applies a contact; of `held`, one number for each probe (lw_contact_forces). */
static void contact(const lw_force *force, lw_data *data, const double *held) {
    const lw_contact *c = force->contact;
    lw_contact_body surface, shape;
    lw_contact_bodies(force, data, &surface, &shape);
    data->gross[0] = data->gross[1] = 0;
    for (int k = 0; k < c->probes; k++) {
        static const double none[3] = {0, 0, 0};
        lw_touch touch;
        double F[3], against[3];
        lw_contact_look(c, &surface, &shape, k, &touch);
        lw_contact_forces(c, held ? held[k] : NAN, &touch);
        if (!touch.acts) continue;
        for (int i = 0; i < 3; i++) F[i] = touch.normal * touch.n[i] + touch.friction[i];
        for (int i = 0; i < 3; i++) against[i] = -F[i];
        load_body(data, force->bodies[1], touch.x, F, none);
        load_body(data, force->bodies[0], touch.x, against, none);
        data->gross[1] += fabs(touch.normal) + lw_v3_norm(touch.friction);
        data->potential += touch.elastic * touch.depth / (c->exponent + 1);
        data->power.dissipation +=
            (touch.normal - touch.elastic) * touch.rate - lw_v3_dot(touch.friction, touch.u);
    }
}

/* The state of the joint coordinate that an element acts on. */
typedef struct in_joint {
    double q, v;
    double W[36], at[3]; /* cut joint: its wrenches in world axes, and its point */
} in_joint;

static void look_at_joint(const lw_model *model, lw_data *data, const lw_force *force, in_joint *joint) {
    if (force->closure < 0) {
        joint->v = force->v >= 0 ? data->v[force->v] : 0;
        joint->q = force->q >= 0 ? data->q[force->q] : 0;
        return;
    }
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V];
    lw_cut_joint(model, data, force->closure, q, v, joint->W, joint->at);
    joint->v = v[force->v];
    joint->q = force->q >= 0 ? q[force->q] : 0;
}

/* Applies tau to the coordinate: as a joint force in the tree, as a wrench between the bodies at a cut
 * joint. */
static void push_joint(const lw_model *model, lw_data *data, const lw_force *force, const in_joint *joint,
                       double tau) {
    if (force->closure < 0) {
        data->tau[force->v] += tau;
        return;
    }
    const lw_joint_info *info = &model->joints[model->closures[force->closure]].info;
    double wrench[6], against[6];
    for (int k = 0; k < 6; k++) wrench[k] = tau * joint->W[6 * force->v + k], against[k] = -wrench[k];
    lw_v6_axpy(1, wrench, data->cut_load + 6 * force->closure);
    load_body(data, info->bodies[1], joint->at, wrench + 3, wrench);
    load_body(data, info->bodies[0], joint->at, against + 3, against);
}

/* The memory for the derivatives of element k (LW_LINE), or NULL if they are not stored. */
static double *line_at(const lw_data *data, int k) {
    return data->line_of && data->line_of[k] >= 0 ? data->lines + LW_LINE * (size_t)data->line_of[k] : NULL;
}

void lw_forces_add(const lw_model *model, lw_data *data, int first, int end, double t, bool potential) {
    for (int k = first; k < end; k++) {
        const lw_force *force = &model->forces[k];
        in_joint joint;
        switch (force->type) {
        case LW_FORCE_SPRING: {
            double h[LW_LINE], *line = line_at(data, k);
            spring(force, k, data, t, potential, line ? line : h);
            break;
        }
        case LW_FORCE_BUSHING:
            bushing(force, data, line_at(data, k));
            break;
        case LW_FORCE_APPLIED:
            applied(force, data, lw_held(data, k), t);
            break;
        case LW_FORCE_CONTACT:
            contact(force, data, lw_held(data, k));
            break;
        case LW_FORCE_TORSION:
            look_at_joint(model, data, force, &joint);
            push_joint(model, data, force, &joint,
                       -tension(force, k, data, t, joint.q - force->free_length, joint.v, potential));
            break;
        case LW_FORCE_DRIVE: {
            look_at_joint(model, data, force, &joint);
            const double variables[3] = {t, joint.q, joint.v};
            double drive = value_of(force->drive, data, k, variables, 2);
            data->gross[0] = data->gross[1] =
                fabs(drive) + (data->measuring ? parts_of(force->drive, data, k, variables, 1, 2) : 0);
            push_joint(model, data, force, &joint, drive);
            data->power.drives += drive * joint.v;
            break;
        }
        case LW_FORCE_FRICTION: {
            look_at_joint(model, data, force, &joint);
            double drag = force->viscous * joint.v;
            data->gross[0] = data->gross[1] = fabs(drag) + force->coulomb;
            if (force->coulomb != 0) drag += force->coulomb * tanh(joint.v / force->smoothing);
            push_joint(model, data, force, &joint, -drag);
            data->power.dissipation += drag * joint.v;
            break;
        }
        case LW_FORCE_TYPES:
            break;
        }
    }
}

bool lw_force_in_joint(const lw_force *force) {
    return lw_force_type_in_joint(force->type) && force->closure < 0;
}

void lw_forces_clear(const lw_model *model, lw_data *data, double t) {
    data->potential = 0;
    data->power = (lw_power){0, 0, 0};
    if (model->forces_need_world) /* Otherwise no element loads a body. */
        memset(data->load, 0, 6 * ((size_t)model->body_count + 1) * sizeof *data->load);
    memset(data->tau, 0, (size_t)model->nv * sizeof *data->tau);
    if (model->closure_count)
        memset(data->cut_load, 0, 6 * (size_t)model->closure_count * sizeof *data->cut_load);
    lw_signals(model, data, t);
}

void lw_forces(const lw_model *model, lw_data *data, double t, bool potential) {
    lw_forces_clear(model, data, t);
    lw_forces_add(model, data, 0, model->force_count, t, potential);
}

/* Cancels the gyroscopic torques of the moments of inertia added for idle spins (docs/theory/idle.md). */
void lw_idle_loads(const lw_model *model, lw_data *data) {
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        const double *w = data->motion[idle->body].V, *u = idle->axis;
        double torque[3];
        lw_v3_cross(w, u, torque);
        lw_v3_axpy(idle->moment * lw_v3_dot(u, w), torque, data->load + 6 * idle->body);
    }
}
