/* track_motion.h - a given motion brought to where closures and constraints hold: coordinates, speeds and
 * accelerations of the tree that are nearest to given ones.
 */
#ifndef LW_TRACK_MOTION_H
#define LW_TRACK_MOTION_H

#include "simulation/solver/solver_parts.h"

/* How far a motion has been moved: dimensionless positions (rad, or parts of the longest arm), and the same
 * of speeds and accelerations. */
enum { LW_TRACK_LEVELS = 3 };

typedef struct lw_track {
    lw_solver *solver;
    const lw_model *model;
    lw_arena *arena;
    bool *given;          /* per speed: its coordinate is given; false at prescribed ones */
    bool all;             /* All free speeds that rows touch are given. */
    bool slips;           /* There are rows of rolling wheels, which have no position level. */
    int count;            /* the given speeds that rows touch, and */
    int *followed;        /* which these are */
    double *q, *v, *vdot; /* the motion on the closures */
    /* What it was moved by, and the speed at which most. */
    double moved[LW_TRACK_LEVELS];
    int moved_speed[LW_TRACK_LEVELS];
    /* workspaces */
    double *wanted, *x, *y, *right, *rest, *row, *T;
    int *order, *null;
    lw_orthogonal *work;
} lw_track;

/* given: per speed of the solver's model; start: a position in which loops are closed, from which the motion
 * is sought. The solver must outlive it. */
lw_status lw_track_create(lw_solver *solver, const bool *given, const double *start, lw_track **follow,
                          lw_error *error);
void lw_track_destroy(lw_track *follow);

/* The motion at t nearest to q, v, vdot at the given coordinates; other entries are not read. Goes on from
 * the motion of the last call. LW_ERROR_ARGUMENT: the given coordinates do not determine the motion, or no
 * position near them closes the loops; the sentence names a coordinate or a row. */
lw_status lw_track_at(lw_track *follow, double t, const double *q, const double *v, const double *vdot,
                      lw_error *error);

#endif
