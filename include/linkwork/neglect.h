/* neglect.h - inertia so small that it only makes a run stiff: where it is, a run without it, and the error
 * made by that.
 *
 * A body's mass is measured against the heaviest body that it is coupled with, directly or through others, by
 * joints, force elements or constraints, ground not counted. Its moments of inertia are measured against the
 * sum of
 *
 *   - the largest moment of inertia that one of these bodies has about its joint,
 *   - those that the body would have about its centre of mass if the heaviest of them hung wherever it is
 *   connected to others,
 *
 * so that neither lengths nor masses of the body itself enter, and the largest of a kind is never called
 * small. What is small so, but large in some motion of what is left, as a mass behind a lever or a gear,
 * stays (docs/theory/neglect.md).
 */
#ifndef LINKWORK_NEGLECT_H
#define LINKWORK_NEGLECT_H

#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- what is neglected ---------------------------------------------------------------------------- */

typedef enum lw_kept {
    LW_KEPT_NOT = 0, /* neglected */
    /* small, but without it nothing would determine the body's motion: it stays after all */
    LW_KEPT_DETERMINES,
    /* small, but without it springs alone would hold the body, in no stable balance: it stays after all */
    LW_KEPT_BALANCES,
    LW_KEPT_PARTICIPATES /* small, but not in some motion of what is left: it stays after all */
} lw_kept;

/* Small inertia of one body. */
typedef struct lw_neglected {
    const char *body;
    double mass, mass_ratio;       /* kg, and its ratio; 0: its mass is not small */
    double inertia, inertia_ratio; /* largest principal moment that is small, and its ratio; 0: none is */
    lw_kept mass_kept, inertia_kept;
    double mass_participation,
        inertia_participation; /* at most this part of the kinetic energy of what is left; 0: not known */
    bool kept;                 /* all that is small stays after all */
} lw_neglected;

typedef struct lw_neglect lw_neglect;

/* Finds the inertia below ratio (0 < ratio < 1) in a spec that compiles. The spec stays as it is, and must
 * outlive this. */
LW_API lw_status lw_neglect_create(lw_spec *spec, double ratio, lw_neglect **neglect, lw_error *error);
LW_API void lw_neglect_destroy(lw_neglect *neglect);
LW_API int lw_neglect_count(const lw_neglect *neglect); /* bodies concerned, kept ones included */
LW_API const lw_neglected *lw_neglect_at(const lw_neglect *neglect, int index);
LW_API double
lw_neglect_largest(const lw_neglect *neglect); /* the largest ratio that is neglected; 0: nothing is */
/* Sets what is neglected to factor times its value in the spec: 0 leaves it out, 1 puts it back. */
LW_API void lw_neglect_scale(lw_neglect *neglect, double factor);
/* A state of the model with its true inertia in the coordinates of the model without: that closes its loops
 * elsewhere than at bodies without mass. */
LW_API lw_status lw_neglect_state(const lw_model *with, const lw_model *without, double t,
                                  const double *q_with, const double *v_with, double *q, double *v,
                                  lw_error *error);

/* --- the error made by it ------------------------------------------------------------------------- */

/* With s times the neglected inertia the solution is y(s) = y(0) + s c + O(s^2), and c is the error made.
 * Runs with S and 2 S times the inertia, S so large that these are hardly stiff, give c = (4 (y(S) - y(0)) -
 * (y(2S) - y(0))) / (2 S). */
typedef struct lw_neglect_error {
    double scale; /* S; 1: the run with the true inertia was made, and the error is measured, not estimated */
    double
        /* of y(S) - y(0) in S as observed: 1 where the theory holds; NaN for S = 1 and where nothing
         * differs */
        order;
    bool trusted;   /* the order is near 1, or the error is measured */
    bool resolved;  /* y(S) - y(0) stands above the tolerance; otherwise the errors are bounds */
    double largest; /* of all coordinates over the run, SI units */
    int joint;      /* where that is */
    double t;
    /* For each joint: the largest error of its coordinates over the run, and how far they went without the
     * inertia. Rotations count as angles. */
    const double *errors, *motions;
    long steps; /* of the runs made for this */
    double wall_s;
} lw_neglect_error;

/* Estimates the error of the run that options describe; an initial state in them is one of the model with its
 * true inertia. Sets the spec's inertia to its true value. The arrays live as long as neglect does. */
LW_API lw_status lw_neglect_estimate(lw_neglect *neglect, const lw_run_options *options,
                                     lw_neglect_error *result, lw_error *error);

/* --- where small inertia makes a run stiff --------------------------------------------------------- */

typedef struct lw_stiff_body {
    const char *body;
    double mass;     /* kg */
    double ratio;    /* the largest of its small ones: neglect it with a little more */
    double rate;     /* of the motion that its inertia makes fast, 1/s */
    double rest;     /* the fastest rate that would be left if no body were so light, 1/s */
    bool oscillates; /* spring against inertia; otherwise damper against inertia */
} lw_stiff_body;

/* The bodies whose small inertia, below 1 % of what they are coupled with, makes the initial state's fastest
 * rate at least 30 times that of the rest, and light bodies joined to them; fastest first, at most
 * room. Loops count as open. Cost: a few hundred calls of forward dynamics. */
LW_API lw_status lw_stiff_bodies(lw_spec *spec, lw_stiff_body *bodies, int room, int *count, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
