/* director_forces.c - force elements in a step of the energy-momentum scheme.
 *
 *   potential V of a measure m           ((V(m1) - V(m0)) / (m1 - m0)) D, D the measure's discrete derivative
 *   damper, drive, friction              force in the middle of a step, with the speed (m1 - m0) / h, times D
 *   applied force, torque                in the middle of the step; work F.(x1 - x0), and T.w with the w of
 *                                        d1 - d0 = w x d_middle
 *   rotations without a coordinate       director_torques.c
 *
 * The first quotient is never computed as a difference of potentials: for a linear law it is the mean force,
 * for other laws the mean of the law between m0 and m1, found by quadrature. Then the change of kinetic
 * energy is, to rounding, what the potentials lose and what is booked in step.work, and forces in pairs keep
 * both momenta.
 *
 * Source   docs/theory/director.md, 5; the discrete derivative is Gonzalez's, as in Betsch and Leyendecker
 *          (2006), eq 10.
 * Cost     O(elements) per evaluation, no allocation.
 */
#include "formulations/director/director_parts.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

/* --- elements on measures ------------------------------------------------------------------------- */

/* Mean of a law between x0 and x1, and its derivative by x1. */
static double mean_of_law(const lw_function *law, double x0, double x1, double *slope) {
    double change = x1 - x0, middle = 0.5 * (x0 + x1);
    const double variables[3] = {middle, 0, 0};
    /* Below this the value in the middle is the mean to rounding. */
    if (fabs(change) <= 1e-6 * (fabs(middle) + 1e-6)) {
        const lw_jet jets[3] = {{middle, 1, 0}, {0, 0, 0}, {0, 0, 0}};
        lw_jet at = lw_function_jet(law, jets, NULL);
        *slope = 0.5 * at.d;
        return at.f;
    }
    const double end[3] = {x1, 0, 0};
    double mean = lw_function_integral(law, x0, x1, variables) / change;
    *slope = (lw_function_value(law, end, NULL) - mean) / change;
    return mean;
}

/* Tension of a spring-damper whose elongation goes from x0 to x1; slope by x1. Books its work. */
static double mean_tension(const lw_force *force, lw_director *d, double x0, double x1, double *slope) {
    double h = d->step.h, change = x1 - x0, rate = change / h;
    double total = 0.5 * force->stiffness * (x0 + x1) + force->damping * rate;
    *slope = 0.5 * force->stiffness + force->damping / h;
    d->step.work.dissipation += force->damping * rate * change;
    if (!force->law) return total;
    if (force->law_is_potential) {
        double law_slope;
        total += mean_of_law(force->law, x0, x1, &law_slope);
        *slope += law_slope;
        return total;
    }
    const lw_jet jets[3] = {{0.5 * (x0 + x1), 0.5, 0}, {rate, 1 / h, 0}, {d->step.t0 + 0.5 * h, 0, 0}};
    lw_jet law = lw_function_jet(force->law, jets, d->data->values);
    d->step.work.forces -= law.f * change;
    *slope += law.d;
    return total + law.f;
}

/* Adds a force against a measure. */
static void against(const lw_director *d, lw_measure *m, double force, double slope) {
    m->force += d->step.h * force;
    m->stiffness += d->step.h * slope;
}

static lw_measure *joint_measure(const lw_director *d, const lw_force *force) {
    if (force->q < 0) return NULL;
    int at = force->closure < 0 ? d->coordinate[force->q]
                                : d->cut_coordinate[LW_JOINT_MAX_Q * force->closure + force->q];
    return at < 0 ? NULL : &d->measures[at];
}

/* The force of a drive or of friction along a coordinate that changes by `change` and is x in the middle of
 * the step. slope is its derivative by the change, x_slope that of x. */
static double push(const lw_force *force, lw_director *d, double change, double x, double x_slope,
                   double *slope) {
    double h = d->step.h, rate = change / h;
    if (force->type == LW_FORCE_DRIVE) {
        const lw_jet jets[3] = {{d->step.t0 + 0.5 * h, 0, 0}, {x, x_slope, 0}, {rate, 1 / h, 0}};
        lw_jet drive = lw_function_jet(force->drive, jets, d->data->values);
        d->step.work.drives += drive.f * change;
        *slope = drive.d;
        return drive.f;
    }
    double drag = force->viscous * rate;
    *slope = -force->viscous / h;
    if (force->coulomb != 0) {
        double saturation = tanh(rate / force->smoothing);
        drag += force->coulomb * saturation;
        *slope -= force->coulomb * (1 - saturation * saturation) / (force->smoothing * h);
    }
    d->step.work.dissipation += drag * change;
    return -drag;
}

/* --- elements on rotations without a coordinate --------------------------------------------------- */

/* The number of speeds of a joint before those of its quaternion; zero for other joints. */
static int speeds_before_rotation(const lw_joint *joint) {
    int at = lw_joint_quaternion(joint->type);
    return at > 0 ? at : 0;
}

/* The joint in which an element acts. If it acts on a rotation without a coordinate, k is the axis of the
 * joint's second frame about which it does. */
static int joint_of(const lw_director *d, const lw_force *force, int *k) {
    const lw_model *model = d->model;
    if (force->closure >= 0) {
        int joint = model->closures[force->closure];
        *k = force->v - speeds_before_rotation(&model->joints[joint].joint);
        return joint;
    }
    int low = 1, high = model->body_count;
    while (low < high) { /* the last body whose speeds start at or before this one ... */
        int middle = (low + high + 1) / 2;
        if (model->links[middle].v <= force->v)
            low = middle;
        else
            high = middle - 1;
    }
    while (model->links[low].joint.nv == 0) low--; /* ... and that has any */
    int joint = model->bodies[low].joint_index;
    *k = force->v - model->links[low].v - speeds_before_rotation(&model->joints[joint].joint);
    return joint;
}

void lw_director_loaded_bodies(const lw_director *d, const lw_force *force, int bodies[2]) {
    bodies[0] = force->bodies[0], bodies[1] = force->bodies[1];
    if (!lw_force_type_in_joint(force->type)) return;
    int k, joint = joint_of(d, force, &k);
    memcpy(bodies, d->model->joints[joint].info.bodies, 2 * sizeof *bodies);
}

static void about_axis(const lw_force *force, lw_director *d, const int blocks[4], bool matrix) {
    int k, joint = joint_of(d, force, &k);
    const lw_joint_entry *entry = &d->model->joints[joint];
    const int *bodies = entry->info.bodies;
    const double *R = entry->frames[1].R, internal[3] = {R[k], R[3 + k], R[6 + k]};
    lw_couple storage = {0}, *couple = matrix ? &storage : NULL;
    double vector[4], axis[3], w[3], slope, T[3];
    lw_director_vector(&d->bodies[bodies[1]], internal, vector);
    lw_director_combine(vector, d->step.qm + 12 * bodies[1], axis);
    lw_director_relative_turn(d, bodies, w, couple);
    double change = lw_v3_dot(axis, w), tau;
    if (force->type == LW_FORCE_TORSION) { /* The coordinate is always zero: only the rate counts. */
        double rate = change / d->step.h, x = -force->free_length;
        tau = -force->stiffness * x - force->damping * rate;
        slope = -force->damping / d->step.h;
        d->step.work.dissipation += force->damping * rate * change;
        d->step.work.forces -= force->stiffness * x * change;
        if (force->law) {
            const lw_jet jets[3] = {
                {x, 0, 0}, {rate, 1 / d->step.h, 0}, {d->step.t0 + 0.5 * d->step.h, 0, 0}};
            lw_jet law = lw_function_jet(force->law, jets, d->data->values);
            tau -= law.f, slope -= law.d;
            d->step.work.forces -= law.f * change;
        }
    } else
        tau = push(force, d, change, 0, 0, &slope);
    for (int i = 0; i < 3; i++) T[i] = tau * axis[i];
    lw_v3_add(d->step.joint_torque + 3 * joint, T, d->step.joint_torque + 3 * joint);
    if (couple) lw_director_add_about(vector, 1, axis, w, tau, slope, couple);
    lw_director_add_couple(d, bodies, blocks, T, couple);
}

static void bushing(const lw_force *force, lw_director *d, int first, const int blocks[4], bool matrix) {
    const double *K = force->bushing_stiffness, *C = force->bushing_damping, h = d->step.h;
    for (int k = 0; k < 3; k++) {
        lw_measure *m = &d->measures[first + k];
        double change = m->to - m->from;
        against(d, m, 0.5 * K[k] * (m->from + m->to) + C[k] * change / h, 0.5 * K[k] + C[k] / h);
        d->step.work.dissipation += C[k] * change * change / h;
    }
    lw_director_bushing_turn(d, force, blocks, matrix);
}

/* --- applied forces ------------------------------------------------------------------------------- */

/* The derivative by q1 of a torque M (sum r q1). */
static void slope_of(const double r[4], const double M[9], double slope[36]) {
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) slope[i + 3 * (3 * k + j)] = r[k] * M[3 * i + j];
}

/* The same for the torque factor x ~ (sum r q1), a cross product. */
static void cross_slope_of(const double r[4], const double x[3], double factor, double slope[36]) {
    const double M[9] = {
        0, -factor * x[2], factor * x[1], factor * x[2], 0, -factor * x[0], -factor * x[1], factor * x[0], 0};
    slope_of(r, M, slope);
}

static void add_force(lw_director *d, int body, const double c[4], double factor, const double F[3]) {
    for (int k = 0; k < 4; k++)
        lw_v3_axpy(-d->step.h * factor * c[k], F, d->step.residual + 12 * body + 3 * k);
}

/* An applied force and torque in the middle of the step: values, and as combinations of the coordinates of
 * its body if they follow the body (else zero). point: where it acts, as such a combination. */
typedef struct applied_load {
    double F[3], T[3], force_of[4], torque_of[4], point[4];
} applied_load;

static applied_load applied_at(const lw_director *d, const lw_force *force) {
    applied_load load = {.force_of = {0}, .torque_of = {0}};
    double t = d->step.t0 + 0.5 * d->step.h, value[6], internal[3];
    int body = force->bodies[0];
    for (int k = 0; k < 6; k++)
        value[k] = force->components[k] ? lw_function_value(force->components[k], &t, d->data->values) : 0;
    lw_director_point(&d->bodies[body], force->frames[0].p, load.point);
    lw_v3_copy(value, load.F), lw_v3_copy(value + 3, load.T);
    if (!force->follows_body) return load;
    /* The components are in the user's body axes, in the middle of the step. */
    lw_m3_mul_v(force->frames[0].R, value, internal);
    lw_director_vector(&d->bodies[body], internal, load.force_of);
    lw_m3_mul_v(force->frames[0].R, value + 3, internal);
    lw_director_vector(&d->bodies[body], internal, load.torque_of);
    lw_director_combine(load.force_of, d->step.qm + 12 * body, load.F);
    lw_director_combine(load.torque_of, d->step.qm + 12 * body, load.T);
    return load;
}

/* The load on its own body. */
static void apply_to_body(const lw_force *force, lw_director *d, const applied_load *load,
                          const int blocks[4], bool matrix) {
    const double half[9] = {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5};
    int body = force->bodies[0];
    double step[3], w[3] = {0, 0, 0}, M[36];
    lw_director_combine(load->point, d->step.change + 12 * body, step);
    if (body) lw_director_turn(d->step.qm + 12 * body, d->step.change + 12 * body, w);
    d->step.work.forces += lw_v3_dot(load->F, step) + lw_v3_dot(load->T, w);
    add_force(d, body, load->point, 1, load->F);
    lw_director_add_torque(d, body, load->T, matrix);
    if (!matrix || !force->follows_body) return;
    lw_director_add_product(d, body, body, blocks[0], load->point, load->force_of, -0.5 * d->step.h);
    slope_of(load->torque_of, half, M);
    lw_director_add_torque_slope(d, body, body, blocks[0], M);
}

/* The opposite on the other body, at the point of that body that is there in the middle of the step. */
static void apply_opposite(const lw_force *force, lw_director *d, const applied_load *load,
                           const int blocks[4], bool matrix) {
    const double centre[4] = {1, 0, 0, 0}, minus[9] = {-0.5, 0, 0, 0, -0.5, 0, 0, 0, -0.5};
    int body = force->bodies[0], other = force->bodies[1];
    double at[3], arm[3], moment[3], opposite[3], w[3], M[36];
    lw_director_combine(load->point, d->step.qm + 12 * body, at);
    lw_v3_sub(at, d->step.qm + 12 * other, arm);
    lw_v3_cross(arm, load->F, moment);
    for (int k = 0; k < 3; k++) opposite[k] = -moment[k] - load->T[k];
    lw_director_turn(d->step.qm + 12 * other, d->step.change + 12 * other, w);
    d->step.work.forces += lw_v3_dot(opposite, w) - lw_v3_dot(load->F, d->step.change + 12 * other);
    add_force(d, other, centre, -1, load->F);
    lw_director_add_torque(d, other, opposite, matrix);
    if (!matrix) return;
    cross_slope_of(load->point, load->F, 0.5, M); /* -arm x F = F x arm */
    lw_director_add_torque_slope(d, other, body, blocks[2], M);
    cross_slope_of(centre, load->F, -0.5, M);
    lw_director_add_torque_slope(d, other, other, blocks[3], M);
    if (!force->follows_body) return;
    lw_director_add_product(d, other, body, blocks[2], centre, load->force_of, 0.5 * d->step.h);
    cross_slope_of(load->force_of, arm, -0.5, M);
    lw_director_add_torque_slope(d, other, body, blocks[2], M);
    slope_of(load->torque_of, minus, M);
    lw_director_add_torque_slope(d, other, body, blocks[2], M);
}

static void applied(const lw_force *force, lw_director *d, const int blocks[4], bool matrix) {
    applied_load load = applied_at(d, force);
    apply_to_body(force, d, &load, blocks, matrix);
    if (force->bodies[1]) apply_opposite(force, d, &load, blocks, matrix);
}

/* --- idle spins ------------------------------------------------------------------------------------- */

/* w x B u (u.w), which takes the gyroscopic torque of the moment B away again (docs/theory/idle.md), in the
 * middle of the step. It does no work. Newton's matrix goes without its slope: B is a small part of the
 * inertia beside it (idle_spins.c). */
static void idle_torque(lw_director *d, const lw_idle *idle, bool matrix) {
    double vector[4], u[3], w[3], T[3];
    lw_director_vector(&d->bodies[idle->body], idle->axis, vector);
    lw_director_combine(vector, d->step.qm + 12 * idle->body, u);
    lw_director_turn(d->step.qm + 12 * idle->body, d->step.change + 12 * idle->body, w);
    lw_v3_cross(w, u, T);
    double factor = idle->moment * lw_v3_dot(u, w) / (d->step.h * d->step.h);
    for (int k = 0; k < 3; k++) T[k] *= factor;
    lw_director_add_torque(d, idle->body, T, matrix);
}

/* --- all of them ---------------------------------------------------------------------------------- */

bool lw_director_force_conserves(const lw_force *force) {
    if (force->type == LW_FORCE_SPRING || (force->type == LW_FORCE_TORSION && force->q >= 0))
        return force->damping == 0 && (!force->law || force->law_is_potential);
    for (int k = 0; k < 6; k++)
        if (force->type != LW_FORCE_BUSHING || force->bushing_damping[k] != 0) return false;
    return true;
}

int lw_director_force_measures(const lw_director *d, int k, int *count) {
    const lw_force *force = &d->model->forces[k];
    const lw_measure *m;
    *count = 0;
    switch (force->type) {
    case LW_FORCE_SPRING:
        *count = 1;
        return d->force_measure[k];
    case LW_FORCE_BUSHING:
        *count = 3;
        return d->force_measure[k];
    case LW_FORCE_TORSION:
    case LW_FORCE_DRIVE:
    case LW_FORCE_FRICTION:
        m = joint_measure(d, force);
        *count = m != NULL;
        return m ? (int)(m - d->measures) : 0;
    case LW_FORCE_APPLIED:
    case LW_FORCE_CONTACT: /* refused */
    case LW_FORCE_TYPES:
        break;
    }
    return 0;
}

void lw_director_force(lw_director *d, int k, bool matrix) {
    const lw_force *force = &d->model->forces[k];
    const int *blocks = d->sparse.force_block + 4 * k;
    lw_measure *m;
    double total, slope;
    switch (force->type) {
    case LW_FORCE_SPRING:
        m = &d->measures[d->force_measure[k]];
        total = mean_tension(force, d, m->from - force->free_length, m->to - force->free_length, &slope);
        against(d, m, total, slope);
        break;
    case LW_FORCE_TORSION:
        m = joint_measure(d, force);
        if (!m) {
            about_axis(force, d, blocks, matrix);
            break;
        }
        total = mean_tension(force, d, m->from - force->free_length, m->to - force->free_length, &slope);
        against(d, m, total, slope);
        break;
    case LW_FORCE_DRIVE:
    case LW_FORCE_FRICTION:
        m = joint_measure(d, force);
        if (!m) {
            about_axis(force, d, blocks, matrix);
            break;
        }
        total = push(force, d, m->to - m->from, 0.5 * (m->from + m->to), 0.5, &slope);
        against(d, m, -total, -slope);
        break;
    case LW_FORCE_BUSHING:
        bushing(force, d, d->force_measure[k], blocks, matrix);
        break;
    case LW_FORCE_APPLIED:
        applied(force, d, blocks, matrix);
        break;
    case LW_FORCE_CONTACT:
    case LW_FORCE_TYPES:
        break;
    }
}

void lw_director_forces(lw_director *d, bool matrix) {
    const lw_model *model = d->model;
    d->step.work = (lw_power){0, 0, 0};
    memset(d->step.joint_torque, 0, 3 * (size_t)model->joint_count * sizeof *d->step.joint_torque);
    for (int i = 1; i <= d->n; i++)
        lw_v3_axpy(-d->step.h * d->bodies[i].mass, model->gravity, d->step.residual + 12 * i);
    for (int k = 0; k < model->force_count; k++) lw_director_force(d, k, matrix);
    for (int k = 0; k < model->idle_count; k++) idle_torque(d, &model->idle[k], matrix);
}

static double potential_of(const lw_force *force, double x) {
    double U = 0.5 * force->stiffness * x * x;
    const double variables[3] = {x, 0, 0};
    if (force->law && force->law_is_potential) U += lw_function_integral(force->law, 0, x, variables);
    return U;
}

lw_energy lw_director_energy(const lw_director *d, const double *q, const double *v, const double *angles) {
    const lw_model *model = d->model;
    lw_energy energy = {0, -lw_v3_dot(model->gravity, model->fixed_moment)};
    for (int i = 1; i <= d->n; i++) {
        const lw_director_body *body = &d->bodies[i];
        for (int k = 0; k < 4; k++) {
            const double *rate = v + 12 * i + 3 * k;
            energy.kinetic += 0.5 * (k ? body->euler[k - 1] : body->mass) * lw_v3_dot(rate, rate);
        }
        energy.potential -= body->mass * lw_v3_dot(model->gravity, q + 12 * i);
    }
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        double vector[4], u[3], w[3];
        lw_director_vector(&d->bodies[idle->body], idle->axis, vector);
        lw_director_combine(vector, q + 12 * idle->body, u);
        lw_director_turn(q + 12 * idle->body, v + 12 * idle->body, w);
        energy.kinetic -= 0.5 * idle->moment * lw_v3_dot(u, w) * lw_v3_dot(u, w);
    }
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        const lw_measure *m = force->type == LW_FORCE_SPRING    ? &d->measures[d->force_measure[k]]
                              : force->type == LW_FORCE_TORSION ? joint_measure(d, force)
                                                                : NULL;
        if (m) {
            double value = lw_measure_value(m, q, m->angle >= 0 ? angles[m->angle] : 0);
            energy.potential += potential_of(force, value - force->free_length);
        } else if (force->type == LW_FORCE_TORSION)
            energy.potential += potential_of(force, -force->free_length);
        if (force->type != LW_FORCE_BUSHING) continue;
        for (int i = 0; i < 3; i++) {
            double value = lw_measure_value(&d->measures[d->force_measure[k] + i], q, 0);
            energy.potential += 0.5 * force->bushing_stiffness[i] * value * value;
        }
        energy.potential += lw_director_bushing_potential(d, force, q);
    }
    return energy;
}
