/* director_nullspace.c - the spanning tree in director coordinates: reparametrisation of a step, and the
 * null-space matrix.
 *
 * The unknowns of a step are increments u of the joint coordinates, and for spherical and free joints
 * rotations of the body itself. With Q_i the rotation of body i in the step and n a joint's axes at its begin
 *
 *   Q_i = Q_parent exp(u_1 n_1) exp(u_2 n_2)                              (116), (126), (152), (188)
 *   p_2 = p_1 + sum x_k a_k                                               (98), (127), (138), (189)
 *
 * Only changes are computed, never differences of coordinates: a rotation by the quaternion (q0, q) changes d
 * by 2 (q0 q x d + q x (q x d)) / |(q0, q)|^2. The rates 2 (q_n+1 - q_n) / h - v_n then have rounding errors
 * of their own size, not of 1 / h times that of the coordinates.
 *
 * Null-space matrix (84), (113), (122), (133), (149): a turn about n moves the body by (n x (phi - p_2); n),
 * a slide by the vector that is perpendicular to all other vectors of the joint's basis: in the middle of a
 * step directors are not orthonormal.
 *
 * Source   Betsch and Leyendecker (2006), sections 3.3, 4.4, 4.5, 5.4.1.
 * Cost     O(bodies); a column O(bodies). No allocation.
 */
#include "formulations/director/director_parts.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

/* Replaces Q by Q * exp(angle axis); axis is a unit vector. */
static void turn_by(double *Q, const double axis[3], double angle) {
    double s = sin(0.5 * angle), q[4] = {cos(0.5 * angle), s * axis[0], s * axis[1], s * axis[2]}, product[4];
    lw_quat_mul(Q, q, product);
    memcpy(Q, product, sizeof product);
}

/* Changes of the directors by a rotation. Q need not have unit length: normalising it would round the
 * solution that Newton's method has found, each time in the same sense. */
static void turn_directors(const double *Q, const double *q0, double *change) {
    double factor = 2 / (Q[0] * Q[0] + lw_v3_dot(Q + 1, Q + 1));
    for (int k = 3; k < 12; k += 3) {
        double first[3], second[3];
        lw_v3_cross(Q + 1, q0 + k, first);
        lw_v3_cross(Q + 1, first, second);
        for (int i = 0; i < 3; i++) change[k + i] = factor * (Q[0] * first[i] + second[i]);
    }
}

static void turn_with_joint(lw_director *d, const lw_director_joint *joint, int body, int parent) {
    double *Q = d->step.turn + 4 * body;
    const int *bodies = d->model->joints[d->model->bodies[body].joint_index].info.bodies;
    memcpy(Q, d->step.turn + 4 * parent, 4 * sizeof *Q);
    for (int k = 0; k < joint->moves; k++) { /* Seen from the second body, order and sense are reversed. */
        const lw_director_move *move = &joint->move[joint->side ? k : joint->moves - 1 - k];
        if (!move->turns) continue;
        double axis[3];
        lw_director_combine(move->vector, d->step.q0 + 12 * bodies[move->side], axis);
        turn_by(Q, axis, joint->side ? d->step.u[move->speed] : -d->step.u[move->speed]);
    }
}

static void place_at_joint(lw_director *d, const lw_director_joint *joint, int body, int parent) {
    double *change = d->step.change + 12 * body, part[3];
    const int *bodies = d->model->joints[d->model->bodies[body].joint_index].info.bodies;
    lw_v3_set(change, 0, 0, 0); /* The combination below is then the change of the arm alone. */
    double arm[3], sum[3];
    lw_director_combine(joint->point[1 - joint->side], d->step.change + 12 * parent, sum);
    lw_director_combine(joint->point[joint->side], change, arm);
    lw_v3_sub(sum, arm, sum);
    for (int k = 0; k < joint->moves; k++) {
        const lw_director_move *move = &joint->move[k];
        if (move->turns) continue;
        double sense = joint->side ? move->factor : -move->factor, x = d->measures[move->measure].from;
        lw_director_combine(move->vector, d->step.change + 12 * bodies[0], part);
        lw_v3_axpy(sense * (x + d->step.u[move->speed]), part, sum);
        lw_director_combine(move->vector, d->step.q0 + 12 * bodies[0], part);
        lw_v3_axpy(sense * d->step.u[move->speed], part, sum);
    }
    lw_v3_copy(sum, change);
}

/* Adds factor times the combination c of numbers x whose digits beyond a double are in rest. */
static void combine_long(const double c[4], const double *x, const double *rest, long double factor,
                         long double out[3]) {
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 4; k++) out[a] += factor * c[k] * (x[3 * k + a] + (long double)rest[3 * k + a]);
}

/* The same equations as turn_directors and place_at_joint, with long doubles. */
void lw_director_rest(lw_director *d, int body) {
    const lw_director_joint *joint = &d->joints[body];
    const double *Q = d->step.turn + 4 * body, *q0 = d->step.q0 + 12 * body, *low = d->step.low_q + 12 * body;
    double *change = d->step.change + 12 * body, *rest = d->step.rest + 12 * body;
    const int *bodies = d->model->joints[d->model->bodies[body].joint_index].info.bodies;
    int parent = d->model->links[body].parent;
    long double r[4] = {Q[0], Q[1], Q[2], Q[3]}, x[3], first[3], sum[3] = {0, 0, 0};
    long double factor = 2 / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
    for (int k = 3; k < 12; k += 3) {
        for (int a = 0; a < 3; a++) x[a] = q0[k + a] + (long double)low[k + a];
        for (int a = 0; a < 3; a++)
            first[a] = r[1 + (a + 1) % 3] * x[(a + 2) % 3] - r[1 + (a + 2) % 3] * x[(a + 1) % 3];
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            long double exact = factor * (r[0] * first[a] + (r[1 + b] * first[c] - r[1 + c] * first[b]));
            rest[k + a] = (double)(exact - change[k + a]);
        }
    }
    lw_v3_set(rest, 0, 0, 0);
    if (joint->free) return;
    const double *own = joint->point[joint->side], arm[4] = {0, own[1], own[2], own[3]};
    combine_long(joint->point[1 - joint->side], d->step.change + 12 * parent, d->step.rest + 12 * parent, 1,
                 sum);
    combine_long(arm, change, rest, -1, sum);
    for (int k = 0; k < joint->moves; k++) {
        const lw_director_move *move = &joint->move[k];
        if (move->turns) continue;
        int first_body = bodies[0];
        long double sense = joint->side ? move->factor : -move->factor, u = d->step.u[move->speed];
        combine_long(move->vector, d->step.change + 12 * first_body, d->step.rest + 12 * first_body,
                     sense * (d->measures[move->measure].from + u), sum);
        combine_long(move->vector, d->step.q0 + 12 * first_body, d->step.low_q + 12 * first_body, sense * u,
                     sum);
    }
    for (int a = 0; a < 3; a++) rest[a] = (double)(sum[a] - change[a]);
}

/* Reparametrisation: computes change, q1 and qm from turn and u, body by body from ground (95, 118, 126, 136,
 * 154, 188, 189). */
static void place_bodies(lw_director *d) {
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        int parent = d->model->links[i].parent;
        if (!joint->ball) turn_with_joint(d, joint, i, parent);
        turn_directors(d->step.turn + 4 * i, d->step.q0 + 12 * i, d->step.change + 12 * i);
        if (!joint->free) place_at_joint(d, joint, i, parent);
    }
    for (int k = 12; k < 12 * (d->n + 1); k++) {
        d->step.q1[k] = d->step.q0[k] + d->step.change[k];
        d->step.qm[k] = d->step.q0[k] + 0.5 * d->step.change[k];
    }
}

/* The rotation with Cayley vector w, by which the scheme answers a constant angular velocity w / h. */
static void cayley(const double w[3], double *Q) {
    Q[0] = 1;
    for (int k = 0; k < 3; k++) Q[1 + k] = 0.5 * w[k];
}

void lw_director_start(lw_director *d) {
    double h = d->step.h;
    memset(d->step.u, 0, (size_t)d->model->nv * sizeof *d->step.u);
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        const double *q = d->step.q0 + 12 * i, *v = d->step.v0 + 12 * i;
        if (joint->ball) {
            double w[3] = {0, 0, 0};
            for (int k = 3; k < 12; k += 3) lw_v3_add_cross(q + k, v + k, w);
            for (int k = 0; k < 3; k++) w[k] *= 0.5 * h;
            cayley(w, d->step.turn + 4 * i);
            for (int k = 0; k < 3; k++) d->step.change[12 * i + k] = h * v[k];
        }
        for (int k = 0; k < joint->moves; k++) {
            const lw_director_move *move = &joint->move[k];
            const lw_measure *m = &d->measures[move->measure];
            double slope[24];
            if (joint->screws && !move->turns) continue;
            lw_measure_slope(m, d->step.q0, slope);
            double change = h * lw_measure_along(slope, m->bodies, d->step.v0);
            d->step.u[move->speed] = move->turns ? 2 * atan(0.5 * change) : change;
        }
    }
    for (int r = 0; r < d->row_count; r++) { /* Prescribed coordinates are known. */
        const lw_director_row *row = &d->rows[r];
        if (row->target < 0) continue;
        const lw_joint_info *info = &d->model->joints[row->joint].info;
        double from = d->measures[d->terms[row->term].measure].from;
        if (!lw_joint_is_free(info->type)) d->step.u[info->v + row->component] = row->constant - from;
    }
    place_bodies(d);
}

void lw_director_advance(lw_director *d, const double *delta) {
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        const double *own = delta + 6 * (i - 1);
        if (joint->ball) {
            double Q[4], product[4];
            lw_quat_exp(own + 3, Q);
            lw_quat_mul(Q, d->step.turn + 4 * i, product);
            memcpy(d->step.turn + 4 * i, product, sizeof product);
            lw_v3_add(d->step.change + 12 * i, own, d->step.change + 12 * i);
        }
        for (int k = 0; k < joint->moves; k++) {
            const lw_director_move *move = &joint->move[k];
            const lw_measure *m = &d->measures[move->measure];
            if (joint->screws && !move->turns) continue;
            for (int side = 0; side < 2; side++) {
                if (m->bodies[side] == 0) continue;
                double wrench[6];
                lw_director_wrench(d->step.q1 + 12 * m->bodies[side], m->slope + 12 * side, wrench);
                d->step.u[move->speed] += lw_v6_dot(wrench, delta + 6 * (m->bodies[side] - 1));
            }
        }
    }
    place_bodies(d);
}

void lw_director_rebuild(lw_director *d) {
    const lw_model *model = d->model;
    for (int i = 1; i <= d->n; i++) {
        const lw_link *link = &model->links[i];
        const lw_pose *parent = &d->data->world[link->parent];
        lw_pose *own = &d->data->world[i];
        double *q = d->step.q1 + 12 * i, arm[3], centre[3];
        if (d->joints[i].ball) {
            lw_director_rotation(&d->bodies[i], q, own->R);
            lw_pose_point(parent->R, parent->p, link->p, own->p);
        } else {
            double x[LW_JOINT_MAX_Q], S[6 * LW_JOINT_MAX_V], bias[6];
            lw_pose joint, relative;
            for (int k = 0; k < link->joint.nq; k++) x[k] = d->measures[d->coordinate[link->q + k]].to;
            lw_joint_motion(&link->joint, x, NULL, joint.R, joint.p, S, bias);
            lw_pose_compose(link->R, link->p, joint.R, joint.p, relative.R, relative.p);
            lw_pose_compose(parent->R, parent->p, relative.R, relative.p, own->R, own->p);
        }
        lw_m3_mul_v(own->R, d->bodies[i].com, arm);
        lw_v3_add(own->p, arm, centre);
        if (d->joints[i].free) {
            lw_v3_copy(q, centre);
            lw_v3_sub(q, arm, own->p);
        }
        lw_director_from_pose(&d->bodies[i], own->R, centre, q);
    }
}

void lw_director_aim_at(lw_director *d) {
    const lw_model *model = d->model;
    if (!model->motion_count) return;
    for (int end = 0; end < 2; end++) {
        lw_take_prescribed(model, d->data, d->step.t0 + (end ? d->step.h : 0));
        for (int r = 0; r < d->row_count && end; r++)
            if (d->rows[r].target >= 0) d->rows[r].constant = d->data->q[d->rows[r].target];
        for (int k = 0; k < d->aim_count; k++) {
            const lw_joint_entry *entry = &model->joints[d->aims[k].joint];
            int at = entry->info.q + lw_joint_quaternion(entry->joint.type);
            double R[9], first[9], internal[3], vector[4];
            lw_rot_quat(d->data->q + at, R);
            lw_m3_mul(entry->frames[0].R, R, first);
            for (int i = 0; i < 3; i++) {
                lw_measure *m = &d->measures[d->aims[k].measure + i];
                lw_v3_set(internal, first[i], first[3 + i], first[6 + i]);
                lw_director_vector(&d->bodies[entry->info.bodies[0]], internal, vector);
                for (int j = 0; j < 4; j++) {
                    m->c.a[0][j] = 0.5 * vector[j] + (end ? m->c.a[0][j] : 0);
                    m->s.a[0][j] = vector[j];
                }
            }
        }
    }
}

/* Vector k of the reciprocal basis of three vectors. */
static void reciprocal(double basis[3][3], int k, double out[3]) {
    lw_v3_cross(basis[(k + 1) % 3], basis[(k + 2) % 3], out);
    double volume = lw_v3_dot(basis[k], out);
    for (int i = 0; i < 3; i++) out[i] /= volume;
}

/* The twist (velocity of the centre; angular velocity) of a body for a unit of speed k of its joint. */
static void twist_of_speed(const lw_director *d, const double *q, int body, int k, bool middle,
                           double twist[6]) {
    const lw_director_joint *joint = &d->joints[body];
    const int *bodies = d->model->joints[d->model->bodies[body].joint_index].info.bodies;
    int speed = d->model->links[body].v + k;
    double arm[3], hinge[3], basis[3][3];
    for (int i = 0; i < 6; i++) twist[i] = 0;
    if (joint->free) {
        twist[k] = 1;
        return;
    }
    lw_director_combine(joint->point[1], q + 12 * bodies[1], hinge);
    lw_v3_sub(q + 12 * body, hinge, arm);
    if (joint->ball) {
        twist[3 + k] = 1;
        lw_v3_cross(twist + 3, arm, twist);
        return;
    }
    for (int i = 0; i < 3; i++) lw_director_combine(joint->basis[i], q + 12 * bodies[0], basis[i]);
    double sense = joint->side ? 1 : -1;
    for (int i = 0; i < joint->moves; i++) {
        const lw_director_move *move = &joint->move[i];
        double direction[3], amount = sense * move->factor;
        if (move->speed != speed) continue;
        if (move->turns) {
            lw_director_combine(move->vector, q + 12 * bodies[move->side], direction);
            lw_v3_axpy(sense, direction, twist + 3);
            lw_v3_cross(twist + 3, arm, twist);
            continue;
        }
        if (joint->screws) { /* The slide of a screw follows its turn as its row does. */
            const lw_measure *m = &d->measures[move->measure];
            double wrench[6];
            lw_director_wrench(q + 12 * body, (middle ? m->D : m->slope) + 12 * joint->side, wrench);
            amount = sense * move->factor * lw_v6_dot(wrench, twist);
        } else
            amount *= move->sense;
        reciprocal(basis, move->index, direction);
        lw_v3_axpy(amount, direction, twist);
    }
}

void lw_director_column(const lw_director *d, const double *q, int body, int k, bool middle, double *out) {
    memset(out, 0, 6 * (size_t)d->n * sizeof *out);
    double *own = out + 6 * (body - 1);
    twist_of_speed(d, q, body, k, middle, own);
    for (int i = body + 1; i <= d->n; i++) { /* All bodies that it carries move with it. */
        int parent = d->model->links[i].parent;
        if (parent < body) continue;
        const double *from = out + 6 * (parent - 1);
        double *to = out + 6 * (i - 1), arm[3];
        lw_v3_sub(q + 12 * i, q + 12 * parent, arm);
        lw_v3_copy(from + 3, to + 3);
        lw_v3_cross(from + 3, arm, to);
        lw_v3_add(to, from, to);
    }
}
