/* massless_rows.c - the mixed first and second order equations of the paper: a residual in (q, v) and their
 * rates.
 *
 *   qdot - H(q) v = 0                                                                         (25a)
 *   M(q) vdot + h(q, v) - Q(q, v, t) = 0          by one Newton-Euler recursion               (25b), (26)
 *
 * M is singular along the massless motions N, so N' times the second rows is the balance of forces
 * N'Q(q, v, t) = 0, (28b), which need not be formed: there is no inverse, no N, and no basis that could jump.
 * All directions must be of first order (index 1).
 *
 * A BDF step replaces vdot by differences of v. Their product with M(q) contains
 * M(q) N(q_before) zeta_before / h, which vanishes if N is constant, but not if N turns: then errors of zeta,
 * which the balance determines anew in every step, are divided by h and enter the momenta (the leading term
 * is not properly stated). Therefore massless.c gives ida rows in w, and the rows of this file only if every
 * motion has mass; docs/theory/massless.md, 5, compares both.
 *
 * Source   Arnold (2013), eqs 25, 26, 28.
 * Cost     O(n), no allocation.
 */
#include "formulations/massless/massless_parts.h"
#include "dynamics/tree_dynamics.h"

#include <string.h>

void lw_massless_rows(const lw_model *model, lw_data *data, double t, const double *y, const double *ydot,
                      double *force, double *out, lw_power *power) {
    int nq = model->nq;
    lw_inverse_held(model, data, t, y, y + nq, ydot + nq, force);
    lw_take_state(model, data, t, y, y + nq); /* inverse dynamics of a plain model does not store the state */
    *power = data->power;
    power->drives += lw_prescribed_power(model, data, force);
    memcpy(out + nq, force, (size_t)model->nv * sizeof *out);
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        int first = model->links[motion->body].v + motion->speed;
        for (int v = first; v < first + motion->count; v++) out[nq + v] = ydot[nq + v] - data->vdot[v];
    }
    lw_q_rate_stable(model, data->q, data->v, out);
    for (int k = 0; k < nq; k++) out[k] = ydot[k] - out[k];
}
