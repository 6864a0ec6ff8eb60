/* closing.h - closing conditions: the dependent joint coordinates as functions of the independent ones,
 *
 *   q_D = g(q_I, t)                      (27)
 *
 * with Blajer, Schiehlen and Schirm's (1994) numbers; docs/theory/closing.md derives what stands here. Loops
 * that decompose into planar dyads or into spatial pairs are solved in closed form, one after the other; what
 * is left, by Newton's method.
 *
 * Order of calls: create; plan (a set of independent speeds); take_branch (an assembled position); then
 * positions as often as needed. A new plan needs a new take_branch: what a branch is, depends on the
 * set. Only create allocates.
 */
#ifndef LW_CLOSING_H
#define LW_CLOSING_H

#include "model/compiled_model.h"

typedef struct lw_closing lw_closing;

/* NULL when memory is out. The arena owns it, but for what lw_closing_destroy gives back. */
lw_closing *lw_closing_create(const lw_model *model, lw_arena *arena);
void lw_closing_destroy(lw_closing *closing);

/* Plans the solution for a set: independent[k] for each speed k; prescribed speeds count as known whatever it
 * says. The coordinates of independent speeds are given. Of a spherical joint all three speeds may be
 * independent, or none; where only some are, its rotation is taken as close to the given one as the loop
 * allows (the spin of a rod between two spherical joints). LW_ERROR_ARGUMENT if some coordinate is neither
 * independent nor in a loop or constraint that could determine it. A set that numbers do not allow (too many,
 * too few, at a dead point) is found out by the calls below. Lengths that tell coaxial axes from others are
 * looked up at the position last seen (at first: the initial one). */
lw_status lw_closing_plan(lw_closing *closing, const bool *independent, lw_error *error);

/* Reads the branch (assembly mode) of every step of the plan from an assembled position. */
void lw_closing_take_branch(lw_closing *closing, double t, const double *q);

/* q: in, the independent coordinates, and for the dependent ones a guess: the last position or, better, a
 * prediction. Out: all, prescribed ones and unit quaternions included. The guess chooses the turn of angles,
 * where Newton's method starts, the spin of rods; the branch is the one kept, but where both branches nearly
 * meet and the guess lies clearly at the other one, that is followed (a parallelogram passes its change
 * points that way with a predicted guess, not with an old one). LW_ERROR_SINGULAR, and q as it was, if the
 * loops cannot be closed. */
lw_status lw_closing_positions(lw_closing *closing, double t, double *q, lw_error *error);

#endif
