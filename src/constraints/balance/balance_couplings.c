/* balance_couplings.c - couplings by curves, checked in the coordinates of joints.
 *
 * The rows of model/rows.h have the slopes and curvatures of curves in them, so that an error there would be
 * the same in every method and in the check. So the check derives the condition once more: along the motion
 * with q, v and vdot the sum of all terms is a function of time, whose derivatives follow by the arithmetic
 * of jets, and
 *
 *   d2/dt2 sum F_k(q_k(t)) = -2 alpha d/dt sum F_k - beta^2 (sum F_k - offset)                        (3c)
 *
 * Source   docs/theory/balance.md. Cost O(terms).
 */
#include "constraints/balance/balance_parts.h"
#include "model/coupling.h"

#include <math.h>

double lw_balance_curve(const lw_balance *b, const lw_balance_state *s, const lw_constraint *constraint,
                        double *sum) {
    const double *q = b->data->q, *v = b->data->v;
    double rest = -s->beta * s->beta * constraint->offset;
    *sum = fabs(rest);
    for (int k = 0; k < constraint->terms; k++) {
        const int at = constraint->speeds[k];
        const lw_jet term =
            lw_coupling_jet(constraint, k, (lw_jet){q[constraint->coordinates[k]], v[at], s->vdot[at]});
        /* The two parts of its second derivative may cancel each other. */
        const double steady =
            lw_coupling_jet(constraint, k, (lw_jet){q[constraint->coordinates[k]], v[at], 0}).dd;
        rest += term.dd + 2 * s->alpha * term.d + s->beta * s->beta * term.f;
        *sum += fabs(steady) + fabs(term.dd - steady) + fabs(2 * s->alpha * term.d) +
                fabs(s->beta * s->beta * term.f);
    }
    return rest;
}
