/* rcr_parts.h - what the files of the method rcr share.
 */
#ifndef LW_RCR_PARTS_H
#define LW_RCR_PARTS_H

#include "constraints/closure_rows.h"
#include "formulations/common/loop_method_base.h"
#include "formulations/rcr/rcr_coordinate_choice.h"
#include "formulations/rcr/rcr_rank.h"
#include "formulations/rcr/rcr_solve.h"
#include "model/joint.h"

#include <math.h>

/* Singular positions on the way (rcr_singular_passage.c). */
typedef struct lw_crossing {
    /* of the last derivative */
    double narrow; /* the smallest pivot relative to its scale; 0 where rank is lost */
    int narrowest; /* its loop */
    bool within;   /* so near that rank is lost or about to be, ... */
    bool *near;    /* ... by these loops */
    double
        reversed_at; /* when the motion last turned away from a singular position where rank is lost, ... */
    int reversing_loop; /* ... and the loop */
    bool reported;      /* without drift control: that loops are closed here */
    /* workspace */
    double *q, *v, *vdot, *drive; /* of the state */
    double *shift;                /* along the motion */
    double *limit_q, *limit_v, *limit_vdot, *limit_drive;
} lw_crossing;

typedef struct lw_rcr {
    lw_loop_method loop_base;
    lw_loop_constraints *loops;
    lw_rcr_system *system;
    lw_closures *closures; /* NULL: rows.c is asked */
    lw_choice *choice;     /* of independent coordinates */
    /* which rows take part (rcr_rows.c); what is found once and for all at the model's initial position comes
     * first */
    lw_rank *finder;
    lw_selection whole; /* all rows */
    lw_selection base;  /* independent rows found once at the initial position, used while well conditioned */
    lw_selection own;   /* rows chosen at the current state where the base does not serve */
    lw_selection kept;  /* own rows of the last accepted state */
    bool keeps;         /* the kept rows are tried first until the next accepted step */
    bool based;         /* there is a base: a closed position has been found */
    int generic;        /* independent rows: fewer mean a singular position */
    double narrowest;   /* smallest pivot of rcr_rank.c, at most 1 */
    bool fragile;       /* rows are redundant only where the loops are closed */
    bool lends;    /* bodies that move no inertia are lent some for the elimination (rcr_lent_inertia.c) */
    bool delicate; /* elimination loses so many digits that its result is corrected */
    bool owned;    /* the last run was with rows of its own */
    /* a run */
    bool asked;     /* for a choice, since the run began */
    double latest;  /* when the choice was looked at last */
    bool started;   /* the first state has been looked at */
    double fastest; /* of the accelerations of the joints in the run, as angles */
    double *start;  /* q where the run began */
    double *before; /* per speed: what a state has that is looked at twice */
    /* workspace */
    double *zero; /* per speed */
    double *open; /* 6 per joint: what redundancy leaves open */
    double *bias; /* per row, by rows.c: what its products with the accelerations must balance */
    double *gap;  /* per row */
    double *left; /* per row: what a solution leaves of it */
    double *rest, *moved, *force, *push; /* per speed: what a solution leaves, and the solution */
    double *held;                        /* per row: its multipliers */
    double *a;                           /* 6 per body: its accelerations */
    lw_crossing crossing;
} lw_rcr;

/* A speed or acceleration of x as an angle: lengths relative to the size of the mechanism. */
static inline double lw_rcr_rate(const lw_rcr *m, int speed, const double *x) {
    const lw_link *link = &m->loop_base.base.model->links[m->choice->body_of[speed]];
    bool turns = lw_joint_speed_turns(link->joint.type, speed - link->v);
    return fabs(x[speed]) / (turns ? 1 : m->system->length);
}

/* --- rcr.c: rows and runs at the state in data ------------------------------------------------------- */

/* The tree as it moves under its forces, and at rest without any. */
lw_subject lw_rcr_in_motion(const lw_rcr *m);
lw_subject lw_rcr_at_rest(const lw_rcr *m);
/* Rows that the last run has found independent. */
int lw_rcr_rank(const lw_rcr *m);
/* Rows ready for a run; returns how far velocities are from them, if asked for. */
double lw_rcr_evaluate(lw_rcr *m, const lw_subject *subject, bool velocities);
/* Columns of the rows just evaluated; all: else those of dependent speeds only. */
void lw_rcr_columns(lw_rcr *m, bool all);
/* How far rows are open, into gap: slip is a matter of velocities only. Returns the row that is off most. */
int lw_rcr_ask_positions(lw_rcr *m, double *worst);
/* Bias of the rows that are awake, in the order of their lists. */
void lw_rcr_list_bias(lw_rcr *m, const double *bias);
/* Prescribed speeds have no rates. */
void lw_rcr_still(lw_rcr *m);
/* The smallest motion in the mass metric with G x = -l, into data->vdot; the state in data stays. */
lw_status lw_rcr_smallest_motion(lw_rcr *m, const double *l, lw_error *error);
/* Positions in data by the smallest motions that close the loops; returns the row that is off most then.
 * Velocities in data are lost. */
int lw_rcr_close(lw_rcr *m, double *left, lw_status *status, lw_error *error);
/* Accelerations with the rows that suit the state; where drift is possible, velocities first. */
lw_status lw_rcr_run(lw_rcr *m, double t, const double *tau, lw_error *error);

/* --- rcr_lent_inertia.c: bodies without mass
 * ------------------------------------------------------------------ */

/* Lends inertia to bodies in loops whose joints move none in the open tree; fails at one that is in no
 * loop. */
lw_status lw_rcr_lend(lw_rcr *m, lw_error *error);

/* --- rcr_rows.c: which rows take part ----------------------------------------------------------------- */

/* What holds for all states, from the model's initial position. */
lw_status lw_rcr_survey(lw_rcr *m, lw_error *error);
/* Selects the rows that are independent at the state in data. */
void lw_rcr_own_rows(lw_rcr *m);
/* The base, where there is one; else those of the state. */
void lw_rcr_base_rows(lw_rcr *m);
/* Of an accepted state, after a run: if its own rows are good ones, they are taken for the states that
 * follow. */
void lw_rcr_keep_rows(lw_rcr *m);
/* How far the accelerations of the last run are from the rows that sleep, relative to those of the bodies
 * they act on. */
double lw_rcr_sleeping_defect(const lw_rcr *m);
/* Corrects accelerations and multipliers of the last run by what they leave of the equations. */
lw_status lw_rcr_correct(lw_rcr *m, const lw_subject *subject, lw_error *error);

/* --- rcr_singular.c: starts and rests there ----------------------------------------------------------- */

/* A mechanism that comes to a singular position goes straight on. One that starts there may have been given
 * velocities, or, at rest, be moved by its forces, in a direction in which nothing goes on. */
lw_status lw_rcr_look_at_start(lw_rcr *m, double t, lw_error *error);
/* After a step, with fewer independent rows than there have been: a mechanism that passes goes on, one whose
 * speeds take it no farther than it can be told from the singular position comes to rest there, and where
 * more than one motion leads out. */
lw_status lw_rcr_look_at_rest(lw_rcr *m, double t, lw_error *error);
/* The sentence for a motion that turns away from a singular position nearer than it can be told from it. */
lw_status lw_rcr_reverses(const lw_rcr *m, double t, lw_error *error);

/* --- rcr_singular_passage.c: ways through
 * ---------------------------------------------------------------------- */

bool lw_crossing_create(lw_rcr *m);
/* Another run begins. */
void lw_crossing_forget(lw_rcr *m);
/* How narrow the last run is. */
void lw_crossing_look(lw_rcr *m);
/* Are positions of a state y at t to be closed? Always, or, where they are left alone (--drift none), near
 * singular positions, which is told. */
bool lw_crossing_closes(lw_rcr *m, double t, const double *y);
/* Speeds, accelerations and drive forces in data by their limits along the motion, where that goes straight
 * through a singular position; after a run. */
void lw_crossing_limit(lw_rcr *m, double t);
/* Has a derivative of the step that ends at t been at a place where the motion turns away, so near a singular
 * position that its accelerations are not known? */
bool lw_crossing_reverses(const lw_rcr *m, double t);

#endif
