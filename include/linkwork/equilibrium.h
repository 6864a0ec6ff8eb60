/* equilibrium.h - statics: positions in which a mechanism stays at rest, and its vibrations about them.
 *
 * Part of the full library, not of linkwork-core. Methods: docs/theory/equilibrium.md, docs/theory/modes.md.
 */
#ifndef LINKWORK_EQUILIBRIUM_H
#define LINKWORK_EQUILIBRIUM_H

#include <linkwork/linearise.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_equilibrium {
    bool converged;
    bool stable;             /* every small motion is opposed, and no small disturbance grows */
    int neutral;             /* motions that nothing opposes */
    double residual;         /* the largest acceleration at rest of an independent coordinate, SI units */
    int rounds;              /* of the iteration */
    const double *q;         /* the position */
    const double *states;    /* user states, which are at rest, too */
    const double *reactions; /* joint_count x 6 as lw_solver_reactions gives them */
    const bool *unique;
    const char *unbalanced; /* the coordinates that are not balanced, with their accelerations; "": none is */
} lw_equilibrium;

/* The position of rest that is reached from the state of the options (its speeds are ignored; the coordinates
 * that they name are of no use here): by Newton's method along the motions that closures and constraints
 * admit, and by relaxation where no stable position is near. If there is none, converged is false, and
 * `unbalanced` says why. LW_ERROR_UNSUPPORTED: a prescribed motion moves at this time. */
LW_API lw_status lw_equilibrium_find(const lw_model *model, const lw_linearise_options *options,
                                     lw_equilibrium **equilibrium, lw_error *error);
LW_API void lw_equilibrium_destroy(lw_equilibrium *equilibrium);

/* Positions of rest, by potential energy. */
typedef struct lw_equilibria {
    int count;
    const lw_equilibrium *const *items;
    const double *potential; /* energy of each, J */
    int tried, reached;      /* starts from which a search began, and led to a position */
} lw_equilibria;

/* Different positions that are reached from the start of the options and from starts around it, `starts` in
 * all, the same ones for the same arguments. What no start leads to is not found, unstable positions above
 * all. */
LW_API lw_status lw_equilibria_find(const lw_model *model, const lw_linearise_options *options, int starts,
                                    lw_equilibria **equilibria, lw_error *error);
LW_API void lw_equilibria_destroy(lw_equilibria *equilibria);

/* Trim: `count` coordinates are to rest at these values (rad, m), and as many parameters or inputs are
 * free. */
typedef struct lw_trim_options {
    lw_linearise_options state; /* where the search begins */
    const char *const *held;    /* coordinates by name */
    const double *values;
    const char *const *freed; /* parameters and inputs by name, which begin with their values in the model */
    int count;
} lw_trim_options;

typedef struct lw_trim {
    bool converged;
    int rounds, count;
    const double *values; /* of what is free */
    double off;           /* how far a coordinate is from its value, rad or parts of the longest arm */
    const lw_equilibrium *equilibrium;
    const lw_model *model; /* with these values */
} lw_trim;

/* LW_ERROR_ARGUMENT: a name is wrong. LW_ERROR_SINGULAR: on the way there is no position of rest, or the held
 * coordinates do not depend on what is free. */
LW_API lw_status lw_trim_find(const lw_model *model, const lw_trim_options *options, lw_trim **trim,
                              lw_error *error);
LW_API void lw_trim_destroy(lw_trim *trim);

/* One vibration, or one motion that decays or grows without vibrating. */
typedef struct lw_mode {
    double frequency;     /* |eigenvalue| / (2 pi), Hz: the undamped one if damping is small */
    double damping_ratio; /* -real part / |eigenvalue| */
    double eigenvalue[2];
    /* nv each: the motion of every speed of the tree, real and imaginary part; the largest entry, lengths
     * divided by the longest arm of the model, is 1. */
    const double *shape, *imaginary;
    /* body_count, in label order without ground: which part of the mode's kinetic energy each body has, by
     * the speeds of its own motion; the sum is 1. Means over a period where phases differ. */
    const double *energy;
    /* Along x, y, z: which part of the mechanism's mass takes part when ground is shaken in that direction,
     * the effective mass of the mode. NAN where modes are damped, or in a mechanism with loops. */
    double participation[3];
} lw_mode;

typedef struct lw_modes {
    int rigid; /* motions that nothing opposes, which are not among the modes */
    int count;
    const lw_mode *modes; /* by frequency */
    bool undamped;        /* no damping: eigenvalues are exactly imaginary */
    double imbalance;     /* the largest acceleration of the state: zero in an equilibrium */
    const char *name;     /* of the coordinate that has it */
} lw_modes;

/* The modes of small vibrations about the position of the options, at rest: all of them; or only the `most`
 * lowest, rigid-body modes included in that number, which in large trees is much cheaper. */
LW_API lw_status lw_modes_lowest(const lw_model *model, const lw_linearise_options *options, int most,
                                 lw_modes **modes, lw_error *error);
LW_API lw_status lw_modes_find(const lw_model *model, const lw_linearise_options *options, lw_modes **modes,
                               lw_error *error);
LW_API void lw_modes_destroy(lw_modes *modes);

#ifdef __cplusplus
}
#endif
#endif
