/* multistep_dense_output.h - dense output from preceding steps: a polynomial through states and rates that
 * are already known. A neighbour is a preceding step.
 */
#ifndef LW_MULTISTEP_DENSE_OUTPUT_H
#define LW_MULTISTEP_DENSE_OUTPUT_H

#include "core/archive.h"
#include "core/core.h"

#include <stdbool.h>

enum { LW_NEIGHBOURS = 4, LW_NEIGHBOUR_NODES = LW_NEIGHBOURS + 2, LW_NEIGHBOUR_RATES = 2 };

typedef struct lw_neighbours {
    int size, controlled; /* The number of states, and of those under error control. */
    int least;            /* The smallest number of neighbours needed. */
    double tolerance;
    const double *scale; /* as in lw_system */

    int known; /* The number of steps since the last start, at most LW_NEIGHBOURS. */
    /* Beginnings of the neighbours, their states and rates; the latest comes first. */
    double begin[LW_NEIGHBOURS], *y_begin[LW_NEIGHBOURS], *f_begin[LW_NEIGHBOURS];

    /* The present step: y and ydot at its ends and at the beginnings of its neighbours. */
    int used; /* The number of neighbours in use. */
    double h, node[LW_NEIGHBOUR_NODES];
    const double *y[LW_NEIGHBOUR_NODES], *f[LW_NEIGHBOUR_NODES];
    /* Rates evaluated within the step: where, the polynomials that they add, and the factors of these. */
    int rates, asked; /* How many rates are in use, and how often the system was evaluated for one. */
    /* The error of quadratures that the last rate shows, in units of the tolerance. */
    double others;
    double point[LW_NEIGHBOUR_RATES], mix[LW_NEIGHBOUR_RATES][LW_NEIGHBOUR_RATES];
    double *factor[LW_NEIGHBOUR_RATES];
} lw_neighbours;

/* least: the smallest number of neighbours needed; all known ones are used. Returns false when memory is
 * out. */
bool lw_neighbours_create(lw_neighbours *n, lw_arena *arena, int size, int controlled, int least,
                          double tolerance, const double *scale);
/* Forgets all neighbours: at a start or an event. */
void lw_neighbours_forget(lw_neighbours *n);
/* Makes the step that began at (t, y) with rate f a neighbour of the steps to come. */
void lw_neighbours_keep(lw_neighbours *n, double t, const double *y, const double *f);
/* Archives the neighbours; the present step has to be entered again. */
void lw_neighbours_archive(lw_neighbours *n, lw_archive *archive);

/* Enters a step from t of length h. Returns false if it has too few neighbours, or they are too close for the
 * tolerance. */
bool lw_neighbours_enter(lw_neighbours *n, double t, double h, const double *y_begin, const double *f_begin,
                         const double *y_end, const double *f_end);
/* The most useful position of another rate, 0 .. 1 of the step; negative if there are enough. */
double lw_neighbours_next(lw_neighbours *n);
/* Adds that rate to the polynomial. Returns the error before, in units of the tolerance. */
double lw_neighbours_add(lw_neighbours *n, const double *rate);
/* The state at theta, 0 .. 1. */
void lw_neighbours_state(const lw_neighbours *n, double theta, double *y);

#endif
