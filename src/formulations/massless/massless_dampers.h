/* massless_dampers.h - the dampers that resist massless motions. massless_damping.c finds once which they are
 * and the structure of N'C N; massless_damping_matrix.c evaluates them.
 */
#ifndef LW_MASSLESS_DAMPERS_H
#define LW_MASSLESS_DAMPERS_H

#include "formulations/massless/massless_parts.h"

typedef struct lw_mixed lw_mixed; /* massless_pivoted_ldl.h */

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
    int speed;               /* In a joint: the speed at which it acts. */
    int bodies[2];           /* Between bodies: the bodies at which it acts. */
    int line;                /* Spring, bushing: the index of the line (LW_LINE) that its element stores. */
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
    /* The rates of one damper between bodies, one per share; six per share for a bushing. */
    double *rate;
    double *wrench; /* 12 per damper: h at a cut joint. Elements between other bodies store h themselves. */
    /* line_count is the number of elements that store a line (LW_LINE); line_of has, per element, the index
     * of its line, or -1. */
    int line_count, *line_of;
    bool linear; /* Every damper is linear in the speeds. */
    /* All forces follow a change of velocity by lw_dampers_advance alone: the mechanism is a tree, every
     * damper is linear, and no drive, applied force or law without potential acts on a direction. */
    bool steady;
    /* The structure of N'C N: start (size + 1) has the range of each row in column, which has its columns up
     * to the diagonal, the last. */
    int size, *start, *column;
    /* value has the entries of N'C N; diagonal has the diagonal in units of length (a damping
     * times length^2, for rotations and translations alike). */
    double *value, *diagonal;
    /* The structure of L: parent is the elimination tree; L_start, L_count and L_row have L by columns;
     * row_start (size + 1) has the range of each row in row_column, its columns in the order in which they
     * are computed, and in row_entry, the indices of these entries in L. */
    int *parent, *L_start, *L_count, *L_row, *row_start, *row_column, *row_entry;
    /* L has the entries of L by columns; inverse the inverses of the pivots, 0 for loose directions; pivot
     * the pivots in units of length; work is a workspace that is zero between calls. */
    double *L, *inverse, *pivot, *work;
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

/* Returns NULL when memory is out. */
lw_dampers *lw_dampers_create(const lw_null *null, lw_arena *arena);
/* Updates the forces and the power of the dampers in data after a change of the velocities: e per speed, and
 * E of the twists, 6 per body. The factor must be that of the present position. */
void lw_dampers_advance(const lw_dampers *dampers, const double *e, const double *E, lw_data *data);
/* Assembles N'C N at the state in data, after lw_forces, and factors it as L D L' without the directions that
 * are skipped. Returns the first direction whose pivot does not exceed its floor, or -1. */
int lw_dampers_factor(lw_dampers *dampers, lw_data *data, double t);
/* Returns the speed at which a negative damper in a joint does the most work along N z, with the damping of
 * the last factor, or -1. */
int lw_dampers_driver(const lw_dampers *dampers, const double *z);
/* Returns the element of a latent damper that acts on direction k, or -1. */
int lw_dampers_latent_element(const lw_dampers *dampers, int k);
/* Returns the element of a damper on direction k whose slope depends on the speed, as that of friction, or
 * -1. */
int lw_dampers_curved_element(const lw_dampers *dampers, int k);
/* Leaves the held directions to springs at all states to come, whatever their pivots are, and keeps all other
 * latent directions damped. NULL ends this. */
void lw_dampers_freeze(lw_dampers *dampers, const bool *held);
/* Leaves the held directions to springs at the state of the last factor, which no longer counts them as
 * missing. */
void lw_dampers_hold(lw_dampers *dampers, const bool *held);
/* Returns, per direction, whether it is held; NULL if the dampers are not frozen and no direction is held. */
const bool *lw_dampers_held(const lw_dampers *dampers);
/* Fills, per direction, the number of its group. Directions that dampers connect form a group, whose number
 * is that of one of its directions. */
void lw_dampers_groups(const lw_dampers *dampers, int *of);
/* Prepares groups that contain both skipped and other directions, which then choose their pivots at each
 * position. Must be called when skipped is filled. Returns false when memory is out. */
bool lw_dampers_mix(lw_dampers *dampers, lw_arena *arena);
/* size: per direction, the diagonal entry that would result if every damper that may act on the direction
 * took all of its speed. The rounding of the diagonal is measured by this size. */
void lw_dampers_sizes(const lw_dampers *dampers, lw_data *data, double t, double *size);
/* x = (N'C N)^-1 x, with zeros in D^-1 at loose directions. */
void lw_dampers_solve(const lw_dampers *dampers, double *x);
/* x = L^-1 x. */
void lw_dampers_lower(const lw_dampers *dampers, double *x);
/* x = L^-T x. */
void lw_dampers_upper(const lw_dampers *dampers, double *x);

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
/* Tells whether the element acts on one speed of a joint, which may be cut, not between two bodies. */
static inline bool acts_in_joint(const lw_force *force) { return lw_force_type_in_joint(force->type); }
/* Returns the two bodies between which an element acts. */
void lw_damper_bodies(const lw_model *model, const lw_force *force, int bodies[2]);

#endif
