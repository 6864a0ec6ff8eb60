/* massless_pivoted_ldl.h - groups of directions without mass that dampers resist in part, with pivots chosen
 * at each position.
 */
#ifndef LW_MASSLESS_PIVOTED_LDL_H
#define LW_MASSLESS_PIVOTED_LDL_H

#include "formulations/massless/massless_parts.h"

typedef struct lw_mixed lw_mixed;

/* Of n directions in groups (of: per direction, one number of a direction per group), those with algebraic
 * ones beside others. within: per direction, whether its group is one of these. *out is NULL if there is
 * none. False when memory is out. */
bool lw_mixed_create(int n, const int *of, const bool *algebraic, bool *within, lw_arena *arena,
                     lw_mixed **out);
/* From the lower triangle of N'C N, row by row; unit: per direction, what one of its speed is in length or
 * angle; floor: of pivots; held: slots that are not to be damped; frozen: others are, by the floor at least;
 * pivot, inverse: out, by slots, the pivot of the first that has none too. follow: whose order to take.
 * Returns a direction whose pivot does not exceed the floor, or -1; *driven is set to one whose pivot is
 * below minus that. */
int lw_mixed_factor(lw_mixed *m, const lw_mixed *follow, const int *start, const int *column,
                    const double *value, const double *unit, const double *floor, const bool *held,
                    bool frozen, double *pivot, double *inverse, int *driven);
/* As lw_dampers_lower, upper, for the directions of these groups. */
void lw_mixed_lower(const lw_mixed *m, double *x);
void lw_mixed_upper(const lw_mixed *m, double *x);

#endif
