/* characteristic_length.h - lengths of a mechanism that make rows and coordinates dimensionless, and the rank
 * tolerance that goes with them.
 *
 * Three lengths are in use. They agree within a small factor for most mechanisms and differ where it matters:
 *
 *   lw_longest_arm    the model alone (model/compiled_model.h): constant during a run, for units of
 *                     coordinates and for the tolerances of the balance check
 *   lw_body_length    one state, from the rows of absolute coordinates: how large the bodies are, for
 *                     equations about single bodies
 *   lw_joint_extent   one state: how far the joints are apart, for rows that involve whole loops
 */
#ifndef LW_CHARACTERISTIC_LENGTH_H
#define LW_CHARACTERISTIC_LENGTH_H

#include "constraints/newton_euler_system.h"

/* The size of the largest body at the state in the system: the longest arm from a centre of mass to the line
 * along which a row acts on that body, or the largest radius of gyration. 1 if both are zero. */
double lw_body_length(const lw_newton_euler *s);

/* The largest distance of a joint from the mean position of all joints, at the state in the system; where all
 * joints are near one point, a tenth of lw_body_length. */
double lw_joint_extent(const lw_newton_euler *s);

/* The relative tolerance of rank decisions at the state in the system. Dependent rows of an overconstrained
 * loop that is slightly open appear independent, with singular values of the order of the gap; so the
 * tolerance grows with the gap. */
double lw_rank_tolerance(const lw_newton_euler *s);

#endif
