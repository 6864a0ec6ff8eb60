/* criterion.h - which coordinates serve best as independent ones, at one position, along a motion, and for
 * every way to cut loops: the projective criterion (Blajer, Schiehlen & Schirm 1994).
 */
#ifndef LINKWORK_CRITERION_H
#define LINKWORK_CRITERION_H

#include <linkwork/assemble.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one coordinate is worth as an independent one. */
typedef struct lw_merit {
    char name[112];               /* as a user calls it: "crank", "ball.wx"; absolute: "rod.x", "rod.wz" */
    double cos2_alpha, cos2_beta; /* (23a), (23b): 1 and 0 the best, 0 and 1 singular; they sum to 1 */
    double svd;             /* what the singular value decomposition says, which ignores masses: 0 .. 1 */
    int choice, svd_choice; /* by either: 1 the first to be chosen, 2 the next, ...; 0 dependent */
} lw_merit;

/* The coordinates of a model: a workspace, and what was evaluated last. */
typedef struct lw_merits lw_merits;

/* Of the joint coordinates of the spanning tree, one for each speed; or of absolute ones, six for each body:
 * x, y, z of the centre of mass, wx, wy, wz, world axes. LW_ERROR_UNSUPPORTED: there are too many for dense
 * matrices. */
LW_API lw_status lw_merits_create(const lw_model *model, bool absolute, lw_merits **merits, lw_error *error);
LW_API void lw_merits_destroy(lw_merits *merits);
/* At an assembled position. LW_ERROR_SINGULAR: some motion of the mechanism has no inertia. */
LW_API lw_status lw_merits_evaluate(lw_merits *merits, double t, const double *q, lw_error *error);

/* How many coordinates there are, and what was found of each; NULL: there is none of this index. */
LW_API int lw_merits_count(const lw_merits *merits);
LW_API const lw_merit *lw_merits_get(const lw_merits *merits, int index);
LW_API int lw_merits_freedom(const lw_merits *merits); /* how many coordinates are independent */
/* How good the chosen ones are as a set: the smallest cos^2 of what each has to itself; 1 if there is nothing
 * to choose. */
LW_API double lw_merits_worth(const lw_merits *merits);
/* False: the mass matrix itself is singular, and cos2_alpha tells how far a coordinate moves for a given
 * kinetic energy, relative to the one that moves most. */
LW_API bool lw_merits_bounded(const lw_merits *merits);

/* --- loop by loop ------------------------------------------------------------------------------------ */

/* What the method rcr chooses for one loop: coordinates that it has from the others. */
typedef struct lw_loop_choice {
    const char *closed_by; /* the joint or constraint that closes the loop */
    int count, speeds[6];  /* of the tree, dependent */
    double cos2;           /* of this set, 1 the best */
} lw_loop_choice;

/* At an assembled position. Fills choices for the first `room` loops; *count is how many there are (0: there
 * is no choice). LW_ERROR_UNSUPPORTED: rcr does not take the model. */
LW_API lw_status lw_loop_choices(const lw_model *model, double t, const double *q, lw_loop_choice *choices,
                                 int room, int *count, lw_error *error);

/* --- along a motion --------------------------------------------------------------------------------- */

typedef struct lw_merits_path {
    int speed; /* the coordinate that is driven, by its speed in the tree: not one of an angular velocity */
    double from, to; /* its range */
    int intervals;   /* there is one point more */
    /* Told at each point; returning false stops. */
    bool (*observe)(double value, const double *q, const lw_merits *merits, void *context);
    void *context;
    /* What came out: the range that was reached. Where the coordinate cannot go on (a dead point), the last
     * point stands there, and stuck says so. */
    double reached_from, reached_to;
    bool stuck_from, stuck_to;
} lw_merits_path;

/* Drives a coordinate over its range from an assembled position q on, each position from the last one; other
 * freedoms move as little as they can, prescribed motions stand still. spec is what the model was compiled
 * from. */
LW_API lw_status lw_merits_sweep(const lw_spec *spec, const lw_model *model, double t, const double *q,
                                 lw_merits_path *sweep, lw_error *error);

/* --- cuts ------------------------------------------------------------------------------------------- */

/* One way to cut the loops: as the model does, but for one loop. */
typedef struct lw_cut_option {
    int loop, joint;   /* this loop at this joint instead; -1, -1: as the model does */
    lw_merits *merits; /* evaluated, to be read only; NULL: it cannot be so, reason says why */
    /* speeds whose accelerations the tree's own masses leave open: methods by recursion fail */
    int undetermined;
    bool free; /* the automatic choice may take it: the user gave this joint and this loop nothing to keep */
    char reason[320]; /* why not, or what is undetermined; else "" */
} lw_cut_option;

typedef struct lw_cuts lw_cuts;

/* Every possible cut at an assembled position, one loop at a time; the first option is the model's own. spec
 * is what the model was compiled from. LW_ERROR_UNSUPPORTED: too many. */
LW_API lw_status lw_cuts_create(const lw_spec *spec, const lw_model *model, double t, const double *q,
                                lw_cuts **cuts, lw_error *error);
LW_API void lw_cuts_destroy(lw_cuts *cuts);
LW_API int lw_cuts_count(const lw_cuts *cuts);
LW_API const lw_cut_option *lw_cuts_get(const lw_cuts *cuts, int index);
/* The best of those that are free (0: the model's own): one with fewer speeds undetermined, or, if the
 * present best coordinates are worth less than LW_CUT_POOR, with at least LW_CUT_GAIN times as much. */
LW_API int lw_cuts_best(const lw_cuts *cuts);

#define LW_CUT_POOR 1e-3
#define LW_CUT_GAIN 10.0

/* A cut that was moved. */
typedef struct lw_cut_move {
    int from, to; /* joints */
    char why[400];
} lw_cut_move;

/* Cuts that lw_model_compile has moved, by the rule of lw_cuts_best at the assembled initial state: those
 * that leave a singular tree, or poor coordinates. A cut that the user asks for stays, and so do all cuts of
 * models that cannot be assembled or are too large. NULL: there is none of this index. */
LW_API int lw_model_cut_move_count(const lw_model *model);
LW_API const lw_cut_move *lw_model_cut_move(const lw_model *model, int index);
/* The spec's joints get the cut flags of its compiled model, so that variants of it keep the layout of q. */
LW_API lw_status lw_spec_keep_cuts(lw_spec *spec, const lw_model *model);

#ifdef __cplusplus
}
#endif
#endif
