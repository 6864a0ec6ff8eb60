/* cut.c - the formulation `cut`: the traditional treatment of closed loops in joint coordinates.
 *
 *   vdot = eta + zeta lambda                                                       (13)
 *   [Phi_q zeta] lambda = psi - Phi_q eta                                          (32)
 *
 * eta is the acceleration of the tree with all loops cut, column c of zeta what the unit constraint load c adds to it:
 * one recursion for eta and one for each column. Rows that depend on others are left out by pivoting.
 *
 * Source   Anderson & Critchley (2003), eqs 13, 28-32; docs/theory/cut.md.
 * Cost     O(n + n m + n m^2 + m^3) per call, no allocation.
 * Limits   each joint of the tree must move some inertia; dense in the number m of rows.
 */
#include "formulations/cut.h"
