/* rcr_parts.h - the state of the method rcr and the functions that its files share.
 *
 * Terms: the rows of a loop are its scalar constraint equations (loop_constraints.h). A row is awake if it
 * takes part in the elimination, and asleep if it is left out as redundant (lw_selection). A run is one
 * elimination inwards and one solution outwards over the tree (rcr_solve.c).
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

/* Passage through singular positions (rcr_singular_passage.c). */
typedef struct lw_crossing {
    /* Found by the last derivative. */
    double narrow; /* The smallest pivot relative to its scale; 0 where rank is lost. */
    int narrowest; /* The loop to which that pivot belongs. */
    bool within;   /* Rank is lost, or the pivots are so small that it is about to be lost. */
    bool *near;    /* Per loop: it has lost rank or is about to, where `within` is true. */
    /* The latest time at which the motion turned back from a singular position where rank is lost. */
    double reversed_at;
    int reversing_loop; /* The loop of that position. */
    bool reported;      /* A note that positions are closed has been given; for runs without drift control. */
    /* Workspace. */
    double *q, *v, *vdot, *drive; /* The state before it is moved along the motion. */
    /* Per speed: the displacement from one sample of the extrapolation to the next. */
    double *shift;
    double *limit_q, *limit_v, *limit_vdot, *limit_drive;
} lw_crossing;

typedef struct lw_rcr {
    lw_loop_method loop_base;
    lw_loop_constraints *loops;
    lw_rcr_system *system;
    /* The rows, where all closures hold a point; NULL where model/rows.h evaluates them. */
    lw_closures *closures;
    lw_choice *choice; /* The independent coordinates. */
    /* Selections of rows (rcr_rows.c). */
    lw_rank *finder;
    lw_selection whole; /* All rows. */
    /* The rows that are independent at the initial position; used while they are well conditioned. */
    lw_selection base;
    /* The rows that are independent at the present state; used where the base does not serve. */
    lw_selection own;
    lw_selection kept; /* The own rows of the last accepted state. */
    bool keeps;        /* The kept rows are tried first until the next accepted step. */
    bool based;        /* The base exists: a closed position has been found. */
    /* The number of independent rows away from singular positions; a smaller rank means a singular one. */
    int generic;
    double narrowest; /* The smallest pivot of rcr_rank.c at the position of the base, at most 1. */
    bool fragile;     /* Some rows are redundant only where the loops are closed. */
    /* Bodies without inertia have some for the elimination (rcr_auxiliary_inertia.c). */
    bool auxiliary;
    bool delicate; /* The elimination loses so many digits that its result is corrected. */
    bool owned;    /* The last run used the own rows of its state. */
    /* The simulation in progress. */
    bool asked;     /* Independent coordinates have been chosen since the simulation began. */
    double latest;  /* The time at which the choice was last reconsidered. */
    bool started;   /* The first state has been examined for singular positions. */
    double fastest; /* The largest joint acceleration so far, in rad/s^2 (lw_rcr_rate). */
    double *start;  /* The coordinates q at the start. */
    double *before; /* Per speed: the speeds of a state that is evaluated more than once. */
    double *given;  /* The coordinates and speeds of the first state while it is examined. */
    /* Workspace. */
    double *zero; /* Per speed: zeros. */
    double
        *angle;   /* Per speed of loops: the angle for which a unit of its coordinate counts (lw_rcr_rate). */
    double *open; /* 6 per joint: the reactions that undetermined multipliers cause. */
    /* Per row, from model/rows.h: the term that the row's products with the accelerations must balance. */
    double *bias;
    double *gap;  /* Per row: the position error. */
    double *left; /* Per row: the residual of a solution. */
    /* Per speed: residual joint forces, accelerations (and a copy of a state), drive forces of a correction
     * and of the solution. */
    double *rest, *moved, *force, *push;
    double *held; /* Per row: the multipliers of the solution. */
    double *a;    /* 6 per body: the accelerations of the solution. */
    lw_crossing crossing;
} lw_rcr;

/* The largest error of accelerations in rows that are asleep, relative to those of their bodies; beyond it
 * other rows are taken. Errors below `noticeable` of the largest accelerations are rounding. */
static const double lw_rcr_satisfied = 1e-9, lw_rcr_noticeable = 1e-9;

/* Speed or acceleration number `speed` of x, in rad/s or rad/s^2: linear ones are divided by the length of a
 * link. */
static inline double lw_rcr_rate(const lw_rcr *m, int speed, const double *x) {
    const lw_link *link = &m->loop_base.base.model->links[m->choice->body_of[speed]];
    bool turns = lw_joint_speed_turns(link->joint.type, speed - link->v);
    return fabs(x[speed]) / (turns ? 1 : m->system->length);
}

/* The wrench of block b of the rows just evaluated by model/rows.h on its body, in internal axes about the
 * internal origin. */
static inline void lw_rcr_block_wrench(const lw_rcr *m, int b, double w[6]) {
    const lw_rows *rows = m->loop_base.rows;
    const lw_pose *world = &m->loop_base.data->world[rows->body[b]];
    const double *h = rows->H + 6 * b;
    double arm[3], moment[3];
    lw_v3_sub(rows->bodies[rows->body[b]].r, world->p, arm);
    lw_v3_cross(arm, h + 3, moment);
    lw_v3_add(moment, h, moment);
    lw_m3_tmul_v(world->R, moment, w);
    lw_m3_tmul_v(world->R, h + 3, w + 3);
}

/* --- rcr.c: rows and runs at the state in data ------------------------------------------------------- */

/* Loads of a run: the tree moves under all its forces, or is at rest without any. */
lw_subject lw_rcr_in_motion(const lw_rcr *m);
lw_subject lw_rcr_at_rest(const lw_rcr *m);
/* The number of rows that the last run has found independent. */
int lw_rcr_rank(const lw_rcr *m);
/* Evaluates the rows for a run. If velocities is true, returns the relative error of the velocities. */
double lw_rcr_evaluate(lw_rcr *m, const lw_subject *subject, bool velocities);
/* Columns of the rows just evaluated: of all speeds, or of dependent speeds only. */
void lw_rcr_columns(lw_rcr *m, bool all);
/* Position errors of all rows into gap, 0 for rows at velocity level. Returns the row with the largest
 * error. */
int lw_rcr_ask_positions(lw_rcr *m, double *worst);
/* Copies the biases of the rows that are awake into the order of the selection. */
void lw_rcr_list_bias(lw_rcr *m, const double *bias);
/* Sets the accelerations of prescribed speeds to zero. */
void lw_rcr_still(lw_rcr *m);
/* The smallest motion in the mass metric with G x = -l, into data->vdot. The state in data is unchanged. */
lw_status lw_rcr_smallest_motion(lw_rcr *m, const double *l, lw_error *error);
/* Closes the loops of the positions in data by the smallest motions in the mass metric. *left is the largest
 * error that remains; returns its row. Velocities in data are overwritten. */
int lw_rcr_close(lw_rcr *m, double *left, lw_status *status, lw_error *error);
/* Accelerations with the rows that suit the state. While integrating, velocities are made consistent
 * first. */
lw_status lw_rcr_run(lw_rcr *m, double t, const double *tau, lw_error *error);

/* --- rcr_auxiliary_inertia.c: bodies without mass ------------------------------------------------------- */

/* Adds auxiliary inertia to bodies in loops whose joints move none in the open tree. Fails if such a body is
 * in no loop. */
lw_status lw_rcr_add_inertia(lw_rcr *m, lw_error *error);

/* --- rcr_rows.c: which rows take part ----------------------------------------------------------------- */

/* Finds the base rows and everything else that holds for all states, from the model's initial position. */
lw_status lw_rcr_survey(lw_rcr *m, lw_error *error);
/* Selects the rows that are independent at the state in data. */
void lw_rcr_own_rows(lw_rcr *m);
/* Selects the base; where none exists, the rows that are independent at the state in data. */
void lw_rcr_base_rows(lw_rcr *m);
/* After the run of an accepted state: if its own rows are well conditioned, they are kept for the states that
 * follow. */
void lw_rcr_keep_rows(lw_rcr *m);
/* The largest error of the last run's accelerations in rows that are asleep, relative to the accelerations of
 * the bodies on which these rows act. */
double lw_rcr_sleeping_defect(const lw_rcr *m);
/* Corrects the accelerations and multipliers of the last run by the residual of the equations. */
lw_status lw_rcr_correct(lw_rcr *m, const lw_subject *subject, lw_error *error);

/* --- rcr_singular.c: simulations that start or come to rest in a singular position -------------------- */

/* Examines the start of a simulation. A mechanism that arrives at a singular position goes straight through.
 * One that starts there may have velocities with which no motion continues, or, at rest, forces that leave
 * the branch undetermined: then this fails. */
lw_status lw_rcr_look_at_start(lw_rcr *m, double t, lw_error *error);
/* Examines an accepted step whose rank is lower than `generic`. It fails if the mechanism comes to rest in
 * the singular position, that is, if its speeds carry it no farther than positions can be distinguished, and
 * more than one motion leads out. */
lw_status lw_rcr_look_at_rest(lw_rcr *m, double t, lw_error *error);
/* Fails with the message for a motion that turns back from a singular position at a distance too small to
 * resolve. */
lw_status lw_rcr_reverses(const lw_rcr *m, double t, lw_error *error);

/* --- rcr_singular_passage.c: passing through singular positions --------------------------------------- */

bool lw_crossing_create(lw_rcr *m);
/* A new simulation begins. */
void lw_crossing_forget(lw_rcr *m);
/* Stores the smallest relative pivot of the last run in crossing.narrow. */
void lw_crossing_look(lw_rcr *m);
/* Are the positions of a state y at t to be closed? With drift control always. With --drift none only near
 * singular positions and where rows are redundant only in closed loops; a note says so. */
bool lw_crossing_closes(lw_rcr *m, double t, const double *y);
/* After a run: replaces speeds, accelerations and drive forces in data by their limits along the motion, if
 * the motion goes straight through a singular position. */
void lw_crossing_limit(lw_rcr *m, double t);
/* Has a derivative of the step that ends at t found that the motion turns back so near to a singular position
 * that its accelerations are unknown? */
bool lw_crossing_reverses(const lw_rcr *m, double t);

#endif
