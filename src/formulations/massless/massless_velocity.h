/* massless_velocity.h - what a flow (massless_parts.h) keeps from one state to the next, so that a run costs
 * fewer evaluations.
 *
 *   successive states   each starts Newton's method with the zeta of the state before
 *   states nearby       for derivatives by differences: zeta and the factor of N'C N of the state beside them
 *                       are used again
 *   changes             the factor by which the pivots of N'C N, and with them the stiffness of the
 *                       equations, have changed since a marked state
 */
#ifndef LW_MASSLESS_VELOCITY_H
#define LW_MASSLESS_VELOCITY_H

#include "formulations/massless/massless_parts.h"

/* Declares that the states to come follow one another, as those of an integrator do. Any other state must
 * not be evaluated before this is turned off. */
void lw_flow_follows(lw_flow *flow, bool on);
/* Declares that the states to come differ from the last one by some 1e-8 only. One step of Newton's method
 * from its zeta and by its factor is then exact to first order, and no slope of a damper is evaluated. */
void lw_flow_nearby(lw_flow *flow, bool on);
/* Returns the largest factor, at least 1, by which a pivot of the last factor has grown or fallen since the
 * last call with mark. Returns HUGE_VAL in closed loops, where springs hold some direction, and where all
 * dampers are linear. mark: later calls measure from the present pivots. */
double lw_flow_change(lw_flow *flow, bool mark);

#endif
