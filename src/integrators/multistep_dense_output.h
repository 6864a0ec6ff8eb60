/* multistep_dense_output.h - dense output by the steps before: a polynomial through states and rates that are
 * known already.
 */
#ifndef LW_MULTISTEP_DENSE_OUTPUT_H
#define LW_MULTISTEP_DENSE_OUTPUT_H

#include "core/archive.h"
#include "core/core.h"

#include <stdbool.h>

enum { LW_NEIGHBOURS = 4, LW_NEIGHBOUR_NODES = LW_NEIGHBOURS + 2, LW_NEIGHBOUR_RATES = 2 };

typedef struct lw_neighbours {
    int size, controlled; /* states, and those under error control */
    int least;            /* steps before that are needed */
    double tolerance;

    int known; /* steps since the last start, at most LW_NEIGHBOURS */
    double begin[LW_NEIGHBOURS], *y_begin[LW_NEIGHBOURS], *f_begin[LW_NEIGHBOURS]; /* the last one first */

    /* Of the step at hand: y and ydot at its ends and at the beginnings of those before. */
    int used; /* steps before it */
    double h, node[LW_NEIGHBOUR_NODES];
    const double *y[LW_NEIGHBOUR_NODES], *f[LW_NEIGHBOUR_NODES];
    /* Rates found within it: their places, the polynomials that they add, and the factors of these. */
    int rates, asked; /* how many, and how often the system was asked for one */
    /* what the last rate says of quadratures: how wrong they were, in units of the tolerance */
    double others;
    double place[LW_NEIGHBOUR_RATES], mix[LW_NEIGHBOUR_RATES][LW_NEIGHBOUR_RATES];
    double *factor[LW_NEIGHBOUR_RATES];
} lw_neighbours;

/* least: so many steps before are needed, and all that are known are used. false: no memory. */
bool lw_neighbours_create(lw_neighbours *n, lw_arena *arena, int size, int controlled, int least,
                          double tolerance);
/* There are none: a start, or an event. */
void lw_neighbours_forget(lw_neighbours *n);
/* The step that began there is a neighbour of those to come. */
void lw_neighbours_keep(lw_neighbours *n, double t, const double *y, const double *f);
/* The neighbours that are known; a step has to be entered anew. */
void lw_neighbours_archive(lw_neighbours *n, lw_archive *archive);

/* A step from t of length h. false: it has not enough neighbours, or they are too near for the tolerance. */
bool lw_neighbours_enter(lw_neighbours *n, double t, double h, const double *y_begin, const double *f_begin,
                         const double *y_end, const double *f_end);
/* Where the next rate is of most use, 0 .. 1 of the step; negative: it would be one too many. */
double lw_neighbours_next(lw_neighbours *n);
/* Takes that rate into the polynomial. Returns how wrong this was before, in units of the tolerance. */
double lw_neighbours_add(lw_neighbours *n, const double *rate);
/* The state at theta, 0 .. 1. */
void lw_neighbours_state(const lw_neighbours *n, double theta, double *y);

#endif
