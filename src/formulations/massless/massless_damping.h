/* massless_damping.h - the dampers that resist motions without mass: what massless_damping.c finds once,
 * massless_damping_matrix.c evaluates.
 */
#ifndef LW_MASSLESS_DAMPING_H
#define LW_MASSLESS_DAMPING_H

#include "formulations/massless/massless_pivoted_ldl.h"

/* The part of a direction in a damper's rate: an entry of its speeds, or twists of the two bodies (-1:
 * none). */
typedef struct share {
    int direction, first, second;
} share;

typedef enum damper_kind { IN_JOINT, ON_LINE, IN_BUSHING, IN_CUT } damper_kind;

/* What is needed at each state stands together: one line of memory. */
typedef struct damper {
    int share, count; /* its shares */
    int pair;         /* the place of each pair (a, b <= a) of its directions in the matrix, in this order */
    int direction;    /* the first of its directions */
    int speed;        /* in a joint: where it acts */
    int bodies[2];    /* between bodies */
    int line[2]; /* spring, bushing: which of what elements leave (LW_LINE) is its own: of all, and brief */
    unsigned char kind;      /* damper_kind */
    unsigned char from, end; /* bushing: the components that damp */
    bool constant;           /* in a joint or along a line, and linear: c does not change */
    bool latent;   /* a law or drive whose slope depends on position or time: it may be none somewhere */
    bool moves[2]; /* between bodies: whether some direction moves them */
    double c;      /* at the last state; of a bushing each component has its own */
} damper;

struct lw_dampers {
    const lw_null *null;
    int count;
    damper *dampers;
    const lw_force **forces; /* of each its element */
    share *shares;
    int *pairs;
    /* constant ones in joints that the directions of one block alone feel, and that are in no list: */
    double *in_joints;            /* per speed: c of all of them */
    bool *gathered, any_gathered; /* per block: it has some */
    /* of one damper between bodies, per share: its rate along the direction; of a bushing six */
    double *rate;
    double *wrench; /* 12 per damper: h at a cut joint; other elements between bodies leave it themselves */
    /* what elements leave, as data.h has it: all, in their order; and brief, of those pieces only that are
     * worked on */
    int line_count, *line_of[2];
    bool brief; /* which of these is in use */
    int piece_count;
    lw_null_piece *pieces, whole;
    unsigned *known; /* as they refer to, ... */
    int *placed;     /* ... and this */
    bool linear;
    bool steady; /* linear, and no other element that such motions reach books power */
    /* the matrix: for each direction its columns up to the diagonal, which comes last */
    int size, *start, *column;
    double *value, *diagonal;
    /* L by columns, D; of each row its columns, in the order in which they are known, and the places in L */
    int *parent, *L_start, *L_count, *L_row, *row_start, *row_column, *row_place;
    double *L, *inverse, *pivot, *work;
    unsigned epoch; /* of factors that are kept: lw_null_piece.known */
    bool *skipped;
    double *floor;
    bool *latent;        /* per direction: some latent damper reaches it */
    bool without_latent; /* these are left out */
    bool *still;         /* per element: it is one of these; NULL: there are none */
    bool *held;          /* per direction: springs hold it, whatever its pivot, ... */
    bool any_held;       /* ... some are so, ... */
    bool
        /* ... and stay so at other states; others stay damped, by as much as their floor at least: ... */
        frozen;
    double *least; /* ... next above it */
    bool *loose;   /* skipped, held, or without a pivot at this position */
    int loose_count;
    int missing; /* the first direction without a pivot that is neither skipped nor held, or -1 */
    int driven;  /* a direction with a negative pivot, or -1 */
    /* groups in which dampers resist some directions only; NULL: there are none */
    lw_mixed *mixed;
    const lw_dampers *follow; /* whose pivots they take; NULL: their own */
    bool *within;             /* per direction: it belongs to one of these */
    double *unit;
};

/* What a law or drive is evaluated with, beside its variables. */
typedef struct law_context {
    const double *inputs; /* of the caller, as data.h has them */
    const double *held;   /* the outcomes of its conditions, or NULL: those of its variables */
    double unit;          /* of its speed: 1 if that is a rotation, else the typical length */
} law_context;

/* c of an element in a joint, at coordinate q and speed v; of a law or drive: the derivative by the speed
 * (variable k). */
double lw_joint_damping(const lw_force *force, const law_context *context, double q, double v, double t);
double lw_law_slope(const lw_function *f, const law_context *context, const double variables[3], int k);
/* Does the law (may be NULL) depend on this variable? */
static inline bool law_uses(const lw_function *f, size_t variable) {
    return f && lw_function_uses(f, variable);
}
/* The bodies that an element acts between. */
void lw_damper_bodies(const lw_model *model, const lw_force *force, int bodies[2]);

#endif
