/* time_knots.h - times, known in advance, at which an expression has a jump or a kink.
 */
#ifndef LW_TIME_KNOTS_H
#define LW_TIME_KNOTS_H

#include "expression/expression_machine.h"

/* The time `at`, or with a period the times at + k period for all integers k. The comparison that makes the
 * knot is computed with rounding errors and may change at a time that is wrong by
 * DBL_EPSILON (rate |t| + noise). */
typedef struct lw_knot {
    double at, period; /* The period is 0 if there is only one time. */
    double rate, noise;
} lw_knot;

typedef void (*lw_knot_found)(const lw_knot *knot, void *context);

/* Calls `found` for the knots of a program of which variable number `time` is the time: every jump or kink
 * that depends neither on other variables nor on inputs is among them, as far as time_knots.c can tell;
 * others among them are harmless. derivatives: how many of them the caller uses, 0 for a force, 2 for a
 * motion; tables have further knots where these jump. */
void lw_machine_knots(const lw_instruction *code, size_t length, size_t time, int derivatives,
                      lw_knot_found found, void *context);

#endif
