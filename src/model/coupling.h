/* coupling.h - the terms of a coupling, factor times a curve of one coordinate, with their derivatives.
 *
 *   F(q) = factor c(q - about),   c(x) = x, a polynomial up to the 4th degree, or a smooth table
 *
 * docs/theory/rows.md, section 3.
 */
#ifndef LW_COUPLING_H
#define LW_COUPLING_H

#include "model/compiled_model.h"

typedef struct lw_coupling_value {
    double value, slope, curvature; /* F, F', F'' */
} lw_coupling_value;

lw_coupling_value lw_coupling_term(const lw_constraint *constraint, int term, double q);

/* The third derivative; of a table that of the piece to the right. */
double lw_coupling_third(const lw_constraint *constraint, int term, double q);

/* The mean slope from a to b, (F(b) - F(a))/(b - a) without cancellation, and its derivative by b. */
double lw_coupling_mean_slope(const lw_constraint *constraint, int term, double a, double b, double *by_b);

/* Is the term a multiple of its coordinate, but not zero? Then lw_coupling_solve finds q with F(q) =
 * value. */
bool lw_coupling_is_linear(const lw_constraint *constraint, int term);
double lw_coupling_solve(const lw_constraint *constraint, int term, double value);

/* F along a motion q(t): its value and both derivatives by time, from the value, the speed and the
 * acceleration in the jet q, by the arithmetic of jets and not by the derivatives above. */
lw_jet lw_coupling_jet(const lw_constraint *constraint, int term, lw_jet q);

#endif
