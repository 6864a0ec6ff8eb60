/* massless_velocity.h - what a flow (massless.h) keeps from one state to the next, so that runs cost less.
 *
 *   states that follow one another   each begins with the zeta of the one before
 *   states nearby                    for derivatives by differences: zeta and the factor of N'C N of the
 *   state next to them serve
 *   changes                          by what factor pivots of N'C N, and so stiffness, differ from those at
 *   some time before
 */
#ifndef LW_MASSLESS_VELOCITY_H
#define LW_MASSLESS_VELOCITY_H

#include "formulations/massless/massless_parts.h"

/* Whether the states to come follow one another, as an integrator asks for them; others in between are not
 * to. */
void lw_flow_follows(lw_flow *flow, bool on);
/* Whether the states to come are next to the last one, by some 1e-8. From its zeta and by its factor one step
 * of Newton's method is right to first order, and no slope of a damper is asked for. */
void lw_flow_nearby(lw_flow *flow, bool on);
/* The factor, 1 or more, by which pivots differ from those when it was called with mark; HUGE_VAL where
 * springs or loops hold something, or all dampers are linear. */
double lw_flow_change(lw_flow *flow, bool mark);

#endif
