/* massless_damping.h - the dampers that resist massless motions. massless_damping.c finds once which they are
 * and the structure of N'C N; massless_damping_matrix.c evaluates them.
 */
#ifndef LW_MASSLESS_DAMPING_H
#define LW_MASSLESS_DAMPING_H

#include "formulations/massless/massless_pivoted_ldl.h"

/* The share of a direction in the rate of a damper. For a damper in a joint, first is the index of the
 * speed's part in lw_null.value. For a damper between bodies, first and second are the indices of the twists
 * of its two bodies in lw_null.twist; -1 if the direction does not move the body. */
typedef struct share {
    int direction, first, second;
} share;

typedef enum damper_kind { IN_JOINT, ON_LINE, IN_BUSHING, IN_CUT } damper_kind;

/* A damper is no larger than a cache line, since every evaluation reads all dampers. */
typedef struct damper {
    int share, count; /* The index of its first share, and the number of its shares. */
    /* The index in pairs of its first pair of shares; pairs (a, b <= a) follow in this order. */
    int pair;
    int direction; /* The first of its directions. */
    int speed;     /* In a joint: the speed at which it acts. */
    int bodies[2]; /* Between bodies: the bodies at which it acts. */
    /* Spring, bushing: the index of the line (LW_LINE) that its element stores, [0] if each element has a
     * line of its own, [1] if pieces use lines again (lw_dampers_lines). */
    int line[2];
    unsigned char kind;      /* damper_kind */
    unsigned char from, end; /* Bushing: the range of the components that damp. */
    bool constant;           /* The damper acts in a joint or along a line and is linear: c is constant. */
    bool latent;             /* Its slope depends on position, time or inputs, and may vanish in a region. */
    bool moves[2];           /* Between bodies: some direction moves the body. */
    double c;                /* Its slope at the last state; each component of a bushing has its own. */
} damper;

struct lw_dampers {
    const lw_null *null;
    int count; /* The number of dampers. */
    damper *dampers;
    const lw_force **forces; /* Per damper: its element. */
    share *shares;
    int *pairs; /* Per pair of shares of a damper: the index of its entry in value. */
    /* Per speed: the sum of the c of those constant dampers in its joint that act on the directions of a
     * single block only; these dampers are not in the list. */
    double *in_joints;
    /* gathered: per block, whether in_joints has dampers that act on it. any_gathered: whether this is so for
     * some block. */
    bool *gathered, any_gathered;
    /* The rates of one damper between bodies, one per share; six per share for a bushing. */
    double *rate;
    double *wrench; /* 12 per damper: h at a cut joint. Elements between other bodies store h themselves. */
    /* line_count is the number of elements that store a line (LW_LINE). line_of has, per element, the index
     * of its line, or -1: [0] separate lines, [1] lines that pieces use again. */
    int line_count, *line_of[2];
    bool brief; /* line_of[1] is in use. */
    int piece_count;
    /* pieces are the pieces that are factored one by one; whole has all directions. */
    lw_null_piece *pieces, whole;
    unsigned *known; /* Per piece: the epoch of its factor (lw_null_piece.known). */
    int *placed;     /* The bodies to which lw_null_piece.placed refers. */
    bool linear;     /* Every damper is linear in the speeds. */
    bool steady;     /* See lw_dampers_steady. */
    /* The structure of N'C N: start (size + 1) has the range of each row in column, which has its columns up
     * to the diagonal, the last. */
    int size, *start, *column;
    /* value has the entries of N'C N of the piece that was assembled last, from its first entry on; diagonal
     * has the diagonal in units of length (lw_dampers_diagonal). */
    double *value, *diagonal;
    /* The structure of L: parent is the elimination tree; L_start, L_count and L_row have L by columns;
     * row_start (size + 1) has the range of each row in row_column, its columns in the order in which they
     * are computed, and in row_place, the indices of these entries in L. */
    int *parent, *L_start, *L_count, *L_row, *row_start, *row_column, *row_place;
    /* L has the entries of L by columns; inverse the inverses of the pivots, 0 for loose directions; pivot
     * the pivots in units of length; work is a workspace that is zero between calls. */
    double *L, *inverse, *pivot, *work;
    unsigned epoch;      /* Factors of an earlier epoch are not used again. */
    bool *skipped;       /* Per direction: no damper ever resists it. */
    double *floor;       /* Per direction: the floor of its pivot. */
    bool *latent;        /* Per direction: a latent damper acts on it. */
    bool without_latent; /* Latent dampers are left out of N'C N. */
    bool *still;         /* Per element: it is a latent damper; NULL if there are none. */
    bool *held;          /* Per direction: springs hold it, whatever its pivot is. */
    bool any_held;       /* Some direction is held. */
    /* The held directions stay held at other states, and all other latent directions stay damped, with a
     * pivot of at least `least`. */
    bool frozen;
    double *least;   /* Per direction: the least pivot while frozen, a fourth of the floor. */
    bool *loose;     /* Per direction: it is skipped, held, or without a pivot at this position. */
    int loose_count; /* The number of loose directions. */
    int missing;     /* The first direction without a pivot that is neither skipped nor held, or -1. */
    int driven;      /* A direction with a negative pivot, or -1. */
    lw_mixed *mixed; /* Groups in which dampers resist some directions only; NULL if there are none. */
    const lw_dampers *follow; /* The dampers whose pivots are taken over; NULL: the choice is free. */
    bool *within;             /* Per direction: it belongs to a group of `mixed`. */
    double *unit;             /* Per direction of a group of `mixed`: the unit of its speed. */
};

/* The arguments of a law or drive beside its variables. */
typedef struct law_context {
    const double *inputs; /* The inputs of the caller, as in data.h. */
    const double *held;   /* The outcomes of its conditions; NULL: its variables decide them. */
    double unit;          /* The unit of its speed: 1 for a rotation, else the typical length. */
} law_context;

/* Returns the damping c of an element in a joint, at coordinate q and speed v. */
double lw_joint_damping(const lw_force *force, const law_context *context, double q, double v, double t);
/* Returns the derivative of a law or drive with respect to its variable k, the speed. */
double lw_law_slope(const lw_function *f, const law_context *context, const double variables[3], int k);
/* Tells whether the law (may be NULL) depends on this variable. */
static inline bool law_uses(const lw_function *f, size_t variable) {
    return f && lw_function_uses(f, variable);
}
/* Returns the two bodies between which an element acts. */
void lw_damper_bodies(const lw_model *model, const lw_force *force, int bodies[2]);

#endif
