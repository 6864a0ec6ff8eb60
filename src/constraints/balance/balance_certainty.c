/* balance_certainty.c - do the equations of motion determine the accelerations, or is one of them rounding of
 * far larger forces?
 *
 * The joint forces tau are changed by the last digit of what each joint transmits; an acceleration that
 * changes with them is not determined (8). This matters for a light body whose own motion is due to forces
 * far smaller than those that it transmits; where the loops determine its motion, nothing changes.
 *
 * Source   docs/theory/balance.md, 8.
 * Cost     O(bodies), and one more call of the method where forces are that different.
 * Limits   wide by about a hundred: errors of methods are smaller than the worst case of (8).
 */
#include "constraints/balance/balance_parts.h"
#include "model/joint.h"

#include <float.h>
#include <math.h>

static const double last_digit = DBL_EPSILON;
/* Relative to the forces that move a body. */
static const double noticeable = 1e-8;
static const double certain = 1e-3;
/* Relative to the accelerations of the joints on the path to the body, of which its own may be what is
 * left. */
static const double unnoticed = 1e-7;
/* Relative to the accelerations that own forces and speeds give the bodies of the same mechanism: where all
 * of these balance, as in a chain that hangs at rest, accelerations are nothing but rounding, and rightly
 * so. */
static const double negligible = 1e-9;

/* The wrench (torque, force) that the joint of body i transmits, about the origin of the body's internal
 * frame, by size. */
static void transmitted_by_joint(const lw_balance *b, int i, const double *reactions, double size[2]) {
    const double *reaction = reactions + 6 * b->model->bodies[i].joint_index;
    size[1] = lw_v3_norm(reaction);
    size[0] = lw_v3_norm(reaction + 3) + b->sums[i].arm * size[1];
}

/* Spreads the scales of bodies over the mechanism to which they belong: to the first body on the ground, over
 * loops, and back. */
static void spread_scales(const lw_balance *b) {
    const lw_model *model = b->model;
    double *scales = b->scales;
    for (bool again = true; again;) {
        again = false;
        for (int i = model->body_count; i >= 1; i--)
            if (model->links[i].parent > 0)
                scales[model->links[i].parent] = fmax(scales[model->links[i].parent], scales[i]);
        for (int i = 1; i <= model->body_count; i++)
            if (model->links[i].parent > 0) scales[i] = scales[model->links[i].parent];
        for (int k = 0; k < model->closure_count; k++) {
            const int *ends = model->joints[model->closures[k]].info.bodies;
            if (ends[0] == 0 || ends[1] == 0 || scales[ends[0]] == scales[ends[1]]) continue;
            scales[ends[0]] = scales[ends[1]] = fmax(scales[ends[0]], scales[ends[1]]);
            again = true;
        }
    }
}

bool lw_balance_shake(const lw_balance *b, const lw_balance_state *s, double *shaken) {
    const lw_model *model = b->model;
    bool strained = false;
    double sign = 1;
    for (int k = 0; k < model->nv; k++) shaken[k] = s->tau ? s->tau[k] : 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_term_sum *m = &b->sums[i];
        const double moment = link->inertia.second[0] + link->inertia.second[1] + link->inertia.second[2];
        double size[2];
        transmitted_by_joint(b, i, s->reactions, size);
        double acting[2] = {m->own[0] + m->swirl[0], m->own[1] + m->swirl[1]};
        for (int k = 0; k < link->joint.nv; k++)
            acting[lw_joint_speed_turns(link->joint.type, k) ? 0 : 1] += b->gross[link->v + k];
        /* m/s^2; of a torque, what it gives the body's material in the mean */
        b->scales[i] = link->inertia.mass > 0 ? acting[1] / link->inertia.mass : 0;
        if (moment > 0 && link->inertia.mass > 0)
            b->scales[i] = fmax(b->scales[i], acting[0] / sqrt(moment * link->inertia.mass));
        for (int k = 0; k < link->joint.nv; k++, sign = -sign) {
            const double *S = b->data->S + 6 * (link->v + k), turn = lw_v3_norm(S), slide = lw_v3_norm(S + 3);
            const double digits = last_digit * (turn * size[0] + slide * size[1]);
            const double own = turn * m->own[0] + slide * m->own[1] + b->gross[link->v + k];
            if (link->prescribed >> k & 1) continue;
            shaken[link->v + k] += sign * digits;
            if (link->inertia.mass > 0 || moment > 0) strained |= digits > noticeable * own;
        }
    }
    if (strained) spread_scales(b);
    return strained;
}

int lw_balance_uncertain(const lw_balance *b, const double *vdot, const double *other) {
    const lw_model *model = b->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_rigid_inertia *I = &link->inertia;
        double size[2] = {0}, change[2] = {0}, moves[2] = {0};
        if (!(I->mass > 0)) continue; /* Its accelerations follow from others, or from rates of forces. */
        for (int k = 0; k < link->joint.nv; k++) {
            const int turns = lw_joint_speed_turns(link->joint.type, k);
            size[turns] += vdot[link->v + k] * vdot[link->v + k];
            const double by = fabs(other[link->v + k] - vdot[link->v + k]);
            const double *S = b->data->S + 6 * (link->v + k);
            double IS[6]; /* by times the mean speed of the body's material at a unit speed */
            lw_rigid_mul(I, S, IS);
            change[turns] = fmax(change[turns], by);
            moves[turns] = fmax(moves[turns], by * sqrt(fmax(lw_v6_dot(S, IS), 0) / I->mass));
        }
        for (int turns = 0; turns < 2; turns++) {
            const double along = b->digits[2 * i + (turns ? 0 : 1)] / DBL_EPSILON;
            if (change[turns] > certain * sqrt(size[turns]) + unnoticed * along &&
                moves[turns] > negligible * b->scales[i])
                return link->v;
        }
    }
    return -1;
}
