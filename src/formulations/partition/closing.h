/* closing.h - closing conditions: the dependent joint coordinates as functions of the independent ones,
 *
 *   q_D = g(q_I, t)                      (27)
 *
 * with the equation numbers of Blajer, Schiehlen and Schirm (1994); docs/theory/closing.md derives them.
 * Loops that decompose into planar dyads or spatial pairs are solved in closed form, one after the other; the
 * rest is solved by Newton's method.
 *
 * Order of calls: create; plan (a set of independent speeds); take_branch (an assembled position); then
 * positions as often as needed. A new plan needs a new take_branch, because the branches depend on the set.
 * Only create allocates.
 */
#ifndef LW_CLOSING_H
#define LW_CLOSING_H

#include "model/compiled_model.h"

typedef struct lw_closing lw_closing;

/* Returns NULL when memory is out. The arena owns the result except for what lw_closing_destroy releases. */
lw_closing *lw_closing_create(const lw_model *model, lw_arena *arena);
/* Inputs and user states for all later calls (lw_data_set_values). */
void lw_closing_set_values(lw_closing *closing, const double *inputs, const double *states);
void lw_closing_destroy(lw_closing *closing);

/* Plans the solution for a set: independent[k] for each speed k; prescribed speeds always count as known. The
 * coordinates of independent speeds are given. Either all three speeds of a spherical joint are independent
 * or none; where only some are, its rotation is chosen as close to the given one as the loop allows (the spin
 * of a rod between two spherical joints). LW_ERROR_ARGUMENT if some coordinate is neither independent nor in
 * a loop or constraint that could determine it. A set that is numerically unsuitable (too large, too small,
 * at a dead point) is detected by the calls below. Coaxial axes are recognised at the position evaluated last
 * (at first the initial one). */
lw_status lw_closing_plan(lw_closing *closing, const bool *independent, lw_error *error);

/* Reads the branch (assembly mode) of every step of the plan from an assembled position. */
void lw_closing_take_branch(lw_closing *closing, double t, const double *q);

/* q holds the independent coordinates and a guess for the dependent ones: the last position or, better, a
 * prediction. On return all coordinates are consistent, including prescribed ones and unit quaternions. The
 * guess selects the revolution of angles, the start of Newton's method and the spin of rods. The branch is
 * the one kept; but where both branches nearly meet and the guess lies clearly on the other one, the other is
 * followed. (A parallelogram passes its change points correctly with a predicted guess, not with an old
 * position.) LW_ERROR_SINGULAR, and q unchanged, if the loops cannot be closed. */
lw_status lw_closing_positions(lw_closing *closing, double t, double *q, lw_error *error);

#endif
