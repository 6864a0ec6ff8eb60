/* massless_pivoted_ldl.h - the factor L D L' of groups of massless directions in which dampers resist some
 * motions only, with pivots chosen at each position (massless_pivoted_ldl.c).
 */
#ifndef LW_MASSLESS_PIVOTED_LDL_H
#define LW_MASSLESS_PIVOTED_LDL_H

#include "formulations/massless/massless_dampers.h"

/* Takes those groups of the n directions that contain both algebraic and damped directions.
 *   of             per direction: the number of its group, which is that of one of its directions
 *   algebraic      per direction: no damper resists it
 *   within (out)   per direction: its group is one of those taken
 *   out            NULL if no group is taken
 * Returns false when memory is out. */
bool lw_mixed_create(int n, const int *of, const bool *algebraic, bool *within, lw_arena *arena,
                     lw_mixed **out);
/* Factors the groups of N'C N, which has been assembled, in the order of pivots of dampers->follow, or with
 * the largest pivots first. Sets diagonal, pivot, inverse, loose, loose_count, missing and driven of the
 * dampers at the directions of these groups. The first slot without a pivot has the largest diagonal entry
 * that is left as its pivot. */
void lw_mixed_factor(lw_dampers *dampers);
/* x = L^-1 x for the directions of these groups, as lw_dampers_lower. */
void lw_mixed_lower(const lw_mixed *m, double *x);
/* x = L^-T x for the directions of these groups, as lw_dampers_upper. */
void lw_mixed_upper(const lw_mixed *m, double *x);

#endif
