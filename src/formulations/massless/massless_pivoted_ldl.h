/* massless_pivoted_ldl.h - the factor L D L' of groups of massless directions in which dampers resist some
 * motions only, with pivots chosen at each position (massless_pivoted_ldl.c).
 */
#ifndef LW_MASSLESS_PIVOTED_LDL_H
#define LW_MASSLESS_PIVOTED_LDL_H

#include "formulations/massless/massless_parts.h"

typedef struct lw_mixed lw_mixed;

/* Takes those groups of the n directions that contain both algebraic and damped directions.
 *   of             per direction: the number of its group, which is that of one of its directions
 *   algebraic      per direction: no damper resists it
 *   within (out)   per direction: its group is one of those taken
 *   out            NULL if no group is taken
 * Returns false when memory is out. */
bool lw_mixed_create(int n, const int *of, const bool *algebraic, bool *within, lw_arena *arena,
                     lw_mixed **out);
/* Factors the groups of N'C N.
 *   follow                 the object whose order of pivots is taken over; NULL: largest pivots come first
 *   start, column, value   the lower triangle of N'C N, row by row
 *   unit                   per direction: the unit of its speed, 1 or the typical length
 *   floor                  per direction: the floor of its pivot
 *   held                   per direction: its slot is not to be damped
 *   frozen                 all other slots are damped, with a fourth of the floor as their least pivot
 *   pivot (out)            per direction: the pivot in its slot; the first slot without a pivot has the
 *                          largest diagonal entry that is left
 *   inverse (out)          per direction: the inverse of the pivot in its slot; 0 if it has none
 *   driven (out)           a direction whose pivot is below minus the floor; unchanged if there is none
 * Returns a direction whose pivot does not exceed the floor, or -1. */
int lw_mixed_factor(lw_mixed *m, const lw_mixed *follow, const int *start, const int *column,
                    const double *value, const double *unit, const double *floor, const bool *held,
                    bool frozen, double *pivot, double *inverse, int *driven);
/* x = L^-1 x for the directions of these groups, as lw_dampers_lower. */
void lw_mixed_lower(const lw_mixed *m, double *x);
/* x = L^-T x for the directions of these groups, as lw_dampers_upper. */
void lw_mixed_upper(const lw_mixed *m, double *x);

#endif
