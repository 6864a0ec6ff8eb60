/* balance_positions.c - what rounding of positions changes in the forces, where positions follow from forces.
 *
 * A body without mass between springs is where their forces balance. Its position is a solution of that
 * balance, known to some eps of the lengths, and a stiff spring turns these digits into a force that nothing
 * balances: 2e-11 N for 2 kN/m and a length of 1 m. While the heavy bodies fall freely, no other force is
 * there with which it could be compared. So all positions are displaced along their speeds by h units, an
 * angle of h or h times the length of the mechanism, first in one sense, then in alternating senses, and
 *
 *   blur = p |Q(q + h u) - Q(q)| / h,      p = 4e-14                                               (9)
 *
 * is part of the noise of (2): for the elements in joints, and for the loads of all bodies that a joint
 * carries.
 *
 * Source   docs/theory/balance.md, 9.
 * Cost     three evaluations of the elements, for method massless only; no allocation.
 * Limits   two senses for all coordinates together: displacements that cancel in both are not noticed.
 */
#include "constraints/balance/balance_parts.h"
#include "linkwork/dynamics.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

static const double displacement = 1e-7; /* h: its square is below what its rounding leaves. */
/* p: method massless ends Newton's iteration at 1e-14; the positions of two bodies and the arms between them
 * enter an element. */
static const double position_noise = 4e-14;

static void evaluate_at(lw_balance *b, const lw_balance_state *s, const double *q) {
    const lw_model *model = b->model;
    lw_data *data = b->data;
    lw_data_set_values(model, data, s->inputs, s->states);
    lw_take_state(model, data, s->t, q, s->speeds);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_data_hold(data, s->hold);
    lw_forces_clear(model, data, s->t);
    lw_forces_add(model, data, 0, model->force_count, s->t, false);
}

/* The displacement of every speed by its unit, in one sense or in alternating ones. */
static void displace(lw_balance *b, const lw_balance_state *s, bool alternating) {
    const lw_model *model = b->model;
    double sign = 1;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++) {
            double unit = lw_joint_speed_turns(link->joint.type, k) ? 1 : b->length;
            b->displaced_v[link->v + k] = sign * unit;
            if (alternating) sign = -sign;
        }
    }
    memcpy(b->displaced_q, s->q, (size_t)model->nq * sizeof *s->q);
    lw_integrate_q(model, b->displaced_q, b->displaced_v, displacement);
}

void lw_balance_blur(lw_balance *b, const lw_balance_state *s) {
    const lw_model *model = b->model;
    const lw_data *data = b->data;
    const double share = position_noise / displacement;
    const size_t speeds = (size_t)model->nv, bodies = (size_t)model->body_count + 1;
    double *tau = b->plain, *load = b->plain + speeds;
    memset(b->blur, 0, (speeds + 2 * bodies) * sizeof *b->blur);
    if (!s->free_speeds || !model->force_count) return;
    evaluate_at(b, s, s->q);
    memcpy(tau, data->tau, speeds * sizeof *tau);
    memcpy(load, data->load, 6 * bodies * sizeof *load);
    for (int alternating = 0; alternating < 2; alternating++) {
        displace(b, s, alternating);
        evaluate_at(b, s, b->displaced_q);
        for (size_t k = 0; k < speeds; k++) b->blur[k] += share * fabs(data->tau[k] - tau[k]);
        for (size_t i = 1; i < bodies && model->forces_need_world; i++) {
            double change[6];
            for (int k = 0; k < 6; k++) change[k] = data->load[6 * i + k] - load[6 * i + k];
            b->blur[speeds + 2 * i] += share * lw_v3_norm(change);
            b->blur[speeds + 2 * i + 1] += share * lw_v3_norm(change + 3);
        }
    }
}
