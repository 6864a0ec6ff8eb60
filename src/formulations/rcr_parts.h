/* rcr_parts.h - what the files of the method rcr share.
 */
#ifndef LW_RCR_PARTS_H
#define LW_RCR_PARTS_H

#include "formulations/closures.h"
#include "formulations/looped.h"
#include "formulations/rcr_choice.h"
#include "formulations/sweeps.h"
#include "model/joint.h"

#include <math.h>

/* Singular positions on the way (rcr_crossing.c). */
typedef struct lw_crossing {
    /* of positions looked at, the most */
    int total;      /* independent rows; fewer are of a singular position */
    int *rank;      /* per tie */
    double *widest; /* per tie: its smallest pivot, relative to its scale */
    /* of the last derivative */
    double narrow; /* the smallest pivot relative to the widest; 0 where rank is lost */
    int narrowest; /* its tie */
    bool *near;    /* per tie */
    double turned; /* when the motion last turned away from a singular position where rank is lost, ... */
    int turning;   /* ... and the tie */
    bool told;     /* without drift control: that loops are closed here */
    /* workspace */
    bool *wide;                   /* per tie */
    double *q, *v, *vdot, *drive; /* of the state */
    double *shift;                /* along the motion */
    double *limit_q, *limit_v, *limit_vdot, *limit_drive;
} lw_crossing;

typedef struct lw_rcr {
    lw_looped looped;
    lw_ties *ties;
    lw_sweeps *sweeps;
    lw_closures *closures; /* NULL: rows.c is asked */
    lw_choice *choice;     /* of independent coordinates */
    bool asked;            /* for one, since the run began */
    bool doubt;            /* rows have woken up since the choice */
    double latest;         /* when the choice was looked at last */
    double *zero;          /* per speed */
    double *open;          /* 6 per joint: what redundancy leaves open */
    double *bias;          /* per row, by rows.c: what its products with the accelerations must balance */
    bool started;          /* the first state has been looked at */
    int rank;              /* independent rows, the most after any step: fewer mean a singular position */
    double fastest;        /* of the accelerations of the joints in the run, as angles */
    double tolerated;      /* by how much sleeping rows may be off until the step ends */
    bool fragile;          /* rows have been found to be redundant only where the loops are closed */
    lw_crossing crossing;
} lw_rcr;

/* A speed or acceleration of x as an angle: lengths relative to the size of the mechanism. */
static inline double lw_rcr_rate(const lw_rcr *m, int speed, const double *x) {
    const lw_link *link = &m->looped.base.model->links[m->choice->body_of[speed]];
    bool turns = lw_joint_speed_turns(link->joint.type, speed - link->v);
    return fabs(x[speed]) / (turns ? 1 : m->sweeps->length);
}

/* --- rcr.c: rows and runs at the state in data ------------------------------------------------------- */

/* The tree as it moves under its forces. */
lw_subject lw_rcr_in_motion(const lw_rcr *m);
/* Rows that the last run has found independent. */
int lw_rcr_rank(const lw_rcr *m);
/* Rows ready for a run; returns how far velocities are from them, if asked for. */
double lw_rcr_evaluate(lw_rcr *m, const lw_subject *subject, bool velocities);
/* Rows at position level: slip is a matter of velocities only. Returns the row that is off most. */
int lw_rcr_ask_positions(lw_rcr *m, double *worst);
/* The smallest motion in the mass metric with G x = -l, into data->vdot; the state in data stays. */
lw_status lw_rcr_smallest_motion(lw_rcr *m, const double *l, lw_error *error);
/* Positions in data by the smallest motions that close the loops; returns the row that is off most then. Velocities in data are lost. */
int lw_rcr_close(lw_rcr *m, double *left, lw_status *status, lw_error *error);
/* Accelerations with the rows that are awake; where drift is possible, velocities first. */
lw_status lw_rcr_run(lw_rcr *m, double t, const double *tau, lw_error *error);

/* --- rcr_singular.c: starts and rests there ----------------------------------------------------------- */

/* A mechanism that comes to a singular position goes straight on. One that starts there may have been given velocities, or,
 * at rest, be moved by its forces, in a direction in which nothing goes on. */
lw_status lw_rcr_look_at_start(lw_rcr *m, double t, lw_error *error);
/* After a step, with fewer independent rows than there have been: a mechanism that passes goes on, one whose speeds take it
 * no farther than it can be told from the singular position comes to rest there, and where more than one motion leads out. */
lw_status lw_rcr_look_at_rest(lw_rcr *m, double t, lw_error *error);
/* The sentence for a motion that turns away from a singular position nearer than it can be told from it. */
lw_status lw_rcr_turns_away(const lw_rcr *m, double t, lw_error *error);

/* --- rcr_crossing.c: ways through ---------------------------------------------------------------------- */

bool lw_crossing_create(lw_rcr *m);
/* Another run begins. */
void lw_crossing_forget(lw_rcr *m);
/* The pivots of the last run, before rows are put to sleep: how narrow it is; and for later comparison. */
void lw_crossing_look(lw_rcr *m);
void lw_crossing_remember(lw_rcr *m);
/* The same with a position beside the state in data, which stays: a run may start in a singular position. */
void lw_crossing_look_beside(lw_rcr *m);
/* Are positions of a state y at t to be closed? Always, or, where they are left alone (--drift none), near singular positions,
 * which is told. */
bool lw_crossing_closes(lw_rcr *m, double t, const double *y);
/* Speeds, accelerations and drive forces in data by their limits along the motion, where that goes straight through a singular
 * position; after a run. All rows are awake then. */
void lw_crossing_limit(lw_rcr *m, double t);
/* Has a derivative of the step that ends at t been at a place where the motion turns away, so near a singular position that its
 * accelerations are not known? */
bool lw_crossing_turns(const lw_rcr *m, double t);

#endif
