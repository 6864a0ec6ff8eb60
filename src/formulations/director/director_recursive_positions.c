/* director_recursive_positions.c - where the bodies of a tree are at the end of a step, from its rotations
 * and joint increments.
 *
 *   Q_i = Q_parent exp(u_1 n_1) exp(u_2 n_2)        rotations in the step, n at its begin (116), (126), (188)
 *   p_2 - p_1 = Q_1 (p_2 - p_1) + sum u_k a_k       of a slide: turned with the first body, and grown along
 *                                                   that body's vectors (98), (189)
 *
 * As in director_nullspace.c only changes are computed, here with long doubles, and body by body, each once.
 * The digits of a change that a double does not hold go to step.rest. So the rows of joints hold to more
 * digits than coordinates have.
 *
 * Source   Betsch and Leyendecker (2006), sections 4.4, 4.5, 5.4.1.
 * Cost     O(bodies), no allocation.
 */
#include "formulations/director/director_recursive_newton.h"

#include <math.h>
#include <string.h>

/* The change of a vector x by the rotation Q; factor = 2 / |Q|^2. */
static void turned(const lw_wide Q[4], lw_wide factor, const lw_wide x[3], lw_wide out[3]) {
    lw_wide first[3], second[3];
    lw_wide_cross(Q + 1, x, first);
    lw_wide_cross(Q + 1, first, second);
    for (int a = 0; a < 3; a++) out[a] = factor * (Q[0] * first[a] + second[a]);
}
static lw_wide factor_of(const lw_wide Q[4]) {
    return 2 / (Q[0] * Q[0] + Q[1] * Q[1] + Q[2] * Q[2] + Q[3] * Q[3]);
}

/* The rotation of a body: that of its parent, then the joint's turns, in the order of
 * director_nullspace.c. */
static void turn_with_joint(lw_director *d, const lw_director_joint *joint, int i, const lw_wide own[12],
                            const lw_wide parent[12]) {
    lw_recursive_body *b = &d->recursive->bodies[i];
    memcpy(b->turn, d->recursive->bodies[b->parent].turn, sizeof b->turn);
    for (int k = 0; k < joint->moves; k++) {
        const lw_director_move *move = &joint->move[joint->side ? k : joint->moves - 1 - k];
        if (!move->turns) continue;
        lw_wide axis[3], Q[4], before[4];
        double half = joint->side ? 0.5 * d->step.u[move->speed] : -0.5 * d->step.u[move->speed],
               s = sin(half);
        lw_wide_combine(move->vector, move->side == joint->side ? own : parent, axis);
        Q[0] = cos(half);
        for (int a = 0; a < 3; a++) Q[1 + a] = s * axis[a];
        memcpy(before, b->turn, sizeof before);
        lw_wide_multiply(before, Q, b->turn);
    }
}

/* The change of the centre: p_2 = p_1 + gap, where the gap turns with the first body and grows along its
 * vectors. */
static void place_at_joint(const lw_director *d, const lw_director_joint *joint, int i, const lw_wide own[12],
                           const lw_wide parent[12], lw_wide change[12]) {
    const lw_recursive_body *b = &d->recursive->bodies[i];
    lw_wide of_parent[12];
    lw_wide_change(d, b->parent, of_parent);
    lw_wide_combine(joint->point[1 - joint->side], of_parent, change);
    lw_wide_add_arm(joint->point[joint->side], change, -1, change);
    if (!b->slides) return;
    const lw_wide *Q = joint->side ? d->recursive->bodies[b->parent].turn : b->turn;
    const lw_wide *first = joint->side ? parent : own, *moved = joint->side ? of_parent : change;
    lw_wide gap[3], other[3], part[3], sense = joint->side ? 1 : -1;
    lw_wide_combine(joint->point[1], joint->side ? own : parent, gap);
    lw_wide_combine(joint->point[0], first, other);
    for (int a = 0; a < 3; a++) gap[a] -= other[a];
    turned(Q, factor_of(Q), gap, part);
    for (int k = 0; k < joint->moves; k++) {
        const lw_director_move *move = &joint->move[k];
        if (move->turns) continue;
        lw_wide at_begin[3], grows[3] = {0, 0, 0};
        lw_wide_combine(move->vector, first, at_begin);
        lw_wide_add_arm(move->vector, moved, 1, grows);
        for (int a = 0; a < 3; a++) part[a] += d->step.u[move->speed] * (at_begin[a] + grows[a]);
    }
    for (int a = 0; a < 3; a++) change[a] += sense * part[a];
}

void lw_director_recursive_poses(lw_director *d, int i) {
    const lw_director_joint *joint = &d->joints[i];
    lw_recursive_body *b = &d->recursive->bodies[i];
    lw_wide own[12], parent[12], change[12];
    lw_wide_begin(d, i, own);
    if (!joint->ball) {
        lw_wide_begin(d, b->parent, parent);
        turn_with_joint(d, joint, i, own, parent);
    }
    lw_wide factor = factor_of(b->turn);
    for (int k = 3; k < 12; k += 3) turned(b->turn, factor, own + k, change + k);
    if (joint->free)
        for (int a = 0; a < 3; a++) change[a] = d->step.change[12 * i + a];
    else
        place_at_joint(d, joint, i, own, parent, change);
    for (int k = 0, at = 12 * i; k < 12; k++, at++) {
        d->step.change[at] = (double)change[k];
        d->step.rest[at] = (double)(change[k] - d->step.change[at]);
        d->step.q1[at] = d->step.q0[at] + d->step.change[at];
        d->step.qm[at] = d->step.q0[at] + 0.5 * d->step.change[at];
    }
}

/* The angular velocity of a body at the begin of the step. */
static void spin_of(const lw_director *d, int i, double w[3]) {
    lw_v3_set(w, 0, 0, 0);
    for (int k = 12 * i + 3; k < 12 * i + 12; k += 3) lw_v3_add_cross(d->step.q0 + k, d->step.v0 + k, w);
    for (int a = 0; a < 3; a++) w[a] *= 0.5;
}

/* The rate of a slide: the velocity of p_2 as seen from the first body, along the vector that measures it. */
static double slide_rate(const lw_director *d, const lw_director_joint *joint, const lw_director_move *move,
                         int first, int second, const double w[3]) {
    double p[3], gap[3], v[3], rate[3], measure[3];
    lw_director_combine(joint->point[1], d->step.q0 + 12 * second, gap);
    lw_director_combine(joint->point[0], d->step.q0 + 12 * first, p);
    lw_director_combine(joint->point[1], d->step.v0 + 12 * second, rate);
    lw_director_combine(joint->point[0], d->step.v0 + 12 * first, v);
    lw_director_combine(joint->basis[move->index], d->step.q0 + 12 * first, measure);
    for (int a = 0; a < 3; a++) gap[a] -= p[a], rate[a] -= v[a];
    lw_v3_cross(w, gap, v);
    lw_v3_sub(rate, v, rate);
    return move->sense * lw_v3_dot(measure, rate);
}

void lw_director_recursive_start(lw_director *d) {
    lw_director_recursive *s = d->recursive;
    double h = d->step.h;
    if (d->solver != &lw_director_by_recursion || !s->clear) lw_director_recursive_clear(d);
    s->far = true;
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        lw_recursive_body *b = &s->bodies[i];
        double w[3], carrier[3], axis[3];
        lw_director_recursive_fetch(d, i + LW_FETCH_AHEAD);
        spin_of(d, i, w);
        for (int m = s->first_measure[i]; m < s->first_measure[i + 1]; m++) {
            lw_measure *measure = &d->measures[s->measures[m]];
            measure->from = lw_measure_value(measure, d->step.q0,
                                             measure->angle >= 0 ? d->step.angles[measure->angle] : 0);
        }
        if (joint->ball) {
            b->turn[0] = 1;
            for (int a = 0; a < 3; a++)
                b->turn[1 + a] = 0.5 * h * w[a], d->step.change[12 * i + a] = h * d->step.v0[12 * i + a];
        } else
            spin_of(d, b->parent, carrier);
        int first = joint->side ? b->parent : i, second = joint->side ? i : b->parent;
        for (int k = 0; k < joint->moves; k++) {
            const lw_director_move *move = &joint->move[k];
            if (!move->turns) {
                d->step.u[move->speed] =
                    h * slide_rate(d, joint, move, first, second, joint->side ? carrier : w);
                continue;
            }
            lw_director_combine(move->vector, d->step.q0 + 12 * (move->side ? second : first), axis);
            double rate = lw_v3_dot(axis, w) - lw_v3_dot(axis, carrier);
            d->step.u[move->speed] = 2 * atan(0.5 * h * (joint->side ? rate : -rate));
        }
        lw_director_recursive_poses(d, i);
    }
}
