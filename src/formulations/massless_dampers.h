/* massless_dampers.h - the dampers that resist motions without mass: what massless_dampers.c finds once, massless_resistance.c evaluates.
 */
#ifndef LW_MASSLESS_DAMPERS_H
#define LW_MASSLESS_DAMPERS_H

#include "formulations/massless_mixed.h"

/* The part of a direction in a damper's rate: an entry of its speeds, or twists of the two bodies (-1: none). */
typedef struct share {
    int direction, first, second;
} share;

typedef enum damper_kind { IN_JOINT, ON_LINE, IN_BUSHING, IN_CUT } damper_kind;

/* Of a bushing: its axes on the first body, its point on the second, its damping; apart from the rest of its element, one after another. */
typedef struct bushing {
    double axes[9], at[3], C[6];
} bushing;

typedef struct damper {
    const lw_force *force;
    damper_kind kind;
    int share, count; /* its shares */
    int pair;         /* the place of each pair (a, b <= a) of its directions in the matrix, in this order */
    int direction;    /* the first of its directions */
    int speed;        /* in a joint: where it acts */
    int bodies[2];    /* between bodies */
    bool moves[2];    /* ... and whether some direction moves them */
    size_t line;      /* spring, bushing: the first of what its element leaves (LW_LINE) */
    bool constant;    /* in a joint or along a line, and linear: c does not change */
    int from, end;    /* bushing: the components that damp */
    int solid; /* bushing: 1 + the side of a free body whose six speeds are all its shares, apart from other dampers; or 0 */
    int place; /* ... and the place of the first of its twists */
    const bushing *bushing;
    double c; /* at the last state; of a bushing each component has its own */
    const double *
        h; /* line, cut: its rate is h V of the second less h V of the first, 6 each, internal axes; bushing: see LW_LINE */
} damper;

struct lw_dampers {
    const lw_null *null;
    int count;
    damper *dampers;
    bushing *bushings;
    share *shares;
    int *pairs;
    double
        *rate; /* of one damper between bodies, per share: its rate along the direction; of a bushing six */
    double *wrench; /* 12 per damper: h at a cut joint; other elements between bodies leave it themselves */
    int piece_count;
    lw_null_piece *pieces, whole;
    bool linear;
    bool steady; /* linear, and no other element that such motions reach books power */
    /* the matrix: for each direction its columns up to the diagonal, which comes last */
    int size, *start, *column;
    double *value, *diagonal;
    /* L by columns, D; of each row its columns, in the order in which they are known, and the places in L */
    int *parent, *L_start, *L_count, *L_row, *row_start, *row_column, *row_place;
    double *L, *inverse, *pivot, *work;
    unsigned char *
        full; /* per direction: of so many from here on each shares dampers with each, and with no other; or 0 */
    bool *skipped;
    double *floor;
    bool *loose; /* skipped, or without a pivot at this position */
    int loose_count;
    int missing; /* the first direction without a pivot that is not skipped, or -1 */
    int driven;  /* a direction with a negative pivot, or -1 */
    /* groups in which dampers resist some directions only; NULL: there are none */
    lw_mixed *mixed;
    const lw_dampers *follow; /* whose pivots they take; NULL: their own */
    bool *within;             /* per direction: it belongs to one of these */
    double *unit;
};

/* c of an element in a joint, at coordinate q and speed v; of a law or drive: the derivative by the speed (variable k). */
double lw_joint_damping(const lw_force *force, double q, double v, double t);
double lw_law_slope(const lw_function *f, const double variables[3], int k);
/* Does the law (may be NULL) depend on this variable? */
static inline bool law_uses(const lw_function *f, size_t variable) {
    return f && lw_function_uses(f, variable);
}
/* The bodies that an element acts between. */
void lw_damper_bodies(const lw_model *model, const lw_force *force, int bodies[2]);

#endif
