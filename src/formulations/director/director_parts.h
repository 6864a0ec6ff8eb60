/* director_parts.h - the inner header of the methods director and director-full.
 *
 * lw_director holds the mechanism in director coordinates (director_mechanism.h), the step that is being
 * found (lw_director_step), and the solver of Newton's equations that is at work (director_solver.h). The
 * functions below are grouped by the file that defines them.
 */
#ifndef LW_DIRECTOR_PARTS_H
#define LW_DIRECTOR_PARTS_H

#include "formulations/director/director_mechanism.h"
#include "formulations/director/director_solver.h"
#include "formulations/formulation.h"

/* One step of the scheme, from t0 to t0 + h. Coordinates have 12 numbers per body, ground first.
 *
 * A run of many steps would show the rounding of each. So the scheme carries along what a double cannot hold:
 * the exact start is q0 + low_q and v0 + low_v, the exact change is change + rest (docs/theory/director.md,
 * 6: Rounding). */
typedef struct lw_director_step {
    double t0, h;
    double *q0, *v0;       /* coordinates and rates at the start */
    double *low_q, *low_v; /* what rounding has removed from these */
    double *angles;        /* the remembered angles of joints at the start */
    double *change;        /* q1 - q0, never computed as that difference */
    double *rest;          /* what rounding has removed from the change */
    double *qm, *q1;       /* coordinates in the middle, (q0 + q1) / 2, and at the end */
    double *turn;          /* quaternion of each body's rotation in the step; its length does not matter */
    double *u;             /* change of the coordinate that belongs to each speed of the tree */
    double *residual;      /* balance of the bodies: the left-hand side of (10), 12 numbers each */
    long double *exact;    /* the part of the residual that measures add, with more digits */
    double *torque;        /* torques on the bodies that no measure carries, times -h; director only */
    double *joint_torque;  /* torques of elements on rotations without a coordinate, 3 numbers per joint */
    lw_power work;         /* of force elements and drives */
    double *q_end,
        *v_end; /* the end that was stored last: the step that begins there inherits low_q, low_v */
} lw_director_step;

/* What the steps of a run have cost, and what has been reported. */
typedef struct lw_director_progress {
    int iterations;                /* of Newton's method in the last step */
    long newton, factored;         /* increments of all steps, and those among them with a new matrix */
    const lw_director_row *broken; /* the row that the last attempt violated, or NULL */
    bool warned;                   /* the user has been told that rotations are too fast for the step */
    bool forgotten;                /* the next sparse matrix needs a new choice of pivots */
    double halved_at;              /* start of the last step that was halved and reported */
} lw_director_progress;

/* Mean reactions of the last steps, newest first, 6 numbers per joint (director_reactions.c). */
enum { LW_DIRECTOR_KEPT = 8 };
typedef struct lw_director_past {
    double begin, h, *reactions;
} lw_director_past;
typedef struct lw_director_history {
    lw_director_past kept[LW_DIRECTOR_KEPT];
    int count;
} lw_director_history;

typedef struct lw_director {
    const lw_model *model;
    lw_arena *arena;
    lw_data *data;             /* room for prescribed values, and for poses in lw_director_rebuild */
    lw_method_options options; /* where notes go */

    /* The mechanism; arrays over bodies start with ground. */
    bool full; /* director-full: the unknowns of a body are its 12 coordinates; otherwise its 6 twists */
    int n;     /* number of bodies without ground */
    int size;  /* unknowns per body: 12 or 6 */
    lw_director_body *bodies;
    lw_director_joint *joints; /* of each body to its parent */
    lw_measure *measures;
    double *slopes; /* the memory of the measures' derivatives, 72 numbers each */
    lw_director_row *rows;
    lw_director_term *terms;
    lw_director_aim *aims;
    int measure_count, row_count, aim_count;
    int first_loop_row;  /* from this one on rows close loops or are constraints, and may be dependent */
    int *coordinate;     /* the measure of each coordinate of the tree; -1 for quaternions */
    int *cut_coordinate; /* the same for the joints that close loops, LW_JOINT_MAX_Q each */
    int *force_measure;  /* the first measure of a force element's own, or -1 */
    int angle_count;     /* angles that the state remembers, because directors know no full revolutions */
    int *angle_measure;  /* their measures */
    double length;       /* size of the mechanism, with which rows that are lengths are compared */
    double *weight;      /* 4 per body: the inertias by which changes of phi, d_1, d_2, d_3 are measured */

    lw_director_step step;
    lw_director_progress progress;
    lw_director_history history;

    const lw_director_solver *solver; /* the one at work */
    lw_director_sparse sparse;
    lw_director_choice choice;
    struct lw_director_recursive *recursive; /* NULL where the recursive solver does not apply */
} lw_director;

/* --- memory (director.c) -------------------------------------------------------------------------- */

lw_status lw_director_create(const lw_model *model, bool full, lw_director **out, lw_error *error);
void lw_director_destroy(lw_director *d);

/* --- structure (director_joints.c) ---------------------------------------------------------------- */

/* Builds rows, measures and joints; false: memory is out. */
bool lw_director_build(lw_director *d);
/* Gives every measure memory of its own for derivatives. */
void lw_director_own_slopes(lw_director *d);

/* --- the spanning tree (director_nullspace.c) ----------------------------------------------------- */

/* Newton's start: turn, u and the end of the step from the velocities at its start. */
void lw_director_start(lw_director *d);
/* Adds increments to the end of the step: 6 per body, displacement of the centre and rotation, both in world
 * axes. */
void lw_director_advance(lw_director *d, const double *delta);
/* Finds what rounding has removed from the change of a body; that of its parent must have been found
 * before. */
void lw_director_rest(lw_director *d, int body);
/* Computes q1 anew from the joint coordinates at the end, which removes rounding that many steps have added
 * up. */
void lw_director_rebuild(lw_director *d);
/* Sets prescribed values to the end of the step, and the vectors of prescribed rotations to its middle and
 * end. */
void lw_director_aim_at(lw_director *d);
/* One column of the null-space matrix of the tree at coordinates q (58, 69, 187): the velocities of all
 * bodies for a unit of speed k of the body's joint. out has 6 numbers per body: velocity of the centre,
 * angular velocity. middle: q is the middle of the step, where directors are not orthonormal. */
void lw_director_column(const lw_director *d, const double *q, int body, int k, bool middle, double *out);

/* --- forces (director_forces.c) ------------------------------------------------------------------- */

/* Adds gravity and all force elements to measures and balance, with matrix also their derivatives; sets
 * step.work to the work of the elements. */
void lw_director_forces(lw_director *d, bool matrix);
/* The same for force element k alone. */
void lw_director_force(lw_director *d, int k, bool matrix);
/* The first measure of force element k; count is the number of its measures. */
int lw_director_force_measures(const lw_director *d, int k, int *count);
/* Whether the element has a potential and nothing else, so that no work is booked. */
bool lw_director_force_conserves(const lw_force *force);
/* The two bodies that an element loads: its own, or those of its joint. */
void lw_director_loaded_bodies(const lw_director *d, const lw_force *force, int bodies[2]);
/* Energies of a state; coordinates and rates with ground first. */
lw_energy lw_director_energy(const lw_director *d, const double *q, const double *v, const double *angles);

/* --- equations (director_newton.c) ---------------------------------------------------------------- */

/* Evaluates balance and rows at q1 with the present multipliers; their negative goes to sparse.right. matrix:
 * Newton's matrix, too. Makes the sparse solver the one at work. */
void lw_director_equations(lw_director *d, bool matrix);
/* Sets the value of every row from the values of its measures at the end. */
void lw_director_row_values(lw_director *d);
/* Adds the force gathered in a measure to the balance of its bodies, with matrix also its derivative. */
void lw_director_add_measure(lw_director *d, const lw_measure *m, bool matrix);
/* Adds factor p r' (x) I3, a derivative of the balance of body i by the coordinates of body j, to their block
 * of the matrix. */
void lw_director_add_product(lw_director *d, int i, int j, int block, const double p[4], const double r[4],
                             double factor);
/* Adds a torque on a body in the step, with matrix also what of its derivative is due to that body's
 * directors. */
void lw_director_add_torque(lw_director *d, int body, const double torque[3], bool matrix);
/* Adds the derivative of such a torque by q1 of another body, 3 numbers for each of 12 coordinates. */
void lw_director_add_torque_slope(lw_director *d, int body, int other, int block, const double slope[36]);

/* --- rotations without a coordinate (director_torques.c) ------------------------------------------ */

/* Derivatives by q1 of two bodies, 3 numbers for each of their 12 coordinates: of the relative rotation w of
 * the bodies in the step, and of a torque between them. */
typedef struct lw_couple {
    double turn[2][36], slope[2][36];
} lw_couple;

/* The relative rotation w of two bodies in the step; couple (may be NULL) receives its derivative. */
void lw_director_relative_turn(const lw_director *d, const int bodies[2], double w[3], lw_couple *couple);
/* Adds the derivative of a torque tau(a.w) a to couple->slope. In the middle of the step a is the combination
 * `axis` of the coordinates of one body; slope is the derivative of tau. */
void lw_director_add_about(const double axis[4], int side, const double a[3], const double w[3], double tau,
                           double slope, lw_couple *couple);
/* Adds a torque T on the second body and -T on the first; couple is NULL where no matrix is wanted. */
void lw_director_add_couple(lw_director *d, const int bodies[2], const int blocks[4], const double T[3],
                            const lw_couple *couple);
/* Adds the torque of a bushing. */
void lw_director_bushing_turn(lw_director *d, const lw_force *force, const int blocks[4], bool matrix);
/* The potential of a bushing's rotation. */
double lw_director_bushing_potential(const lw_director *d, const lw_force *force, const double *q);

/* --- one step (director_step.c) ------------------------------------------------------------------- */

/* Takes a step from the state y at t (q and v with 12 numbers per body, without ground, then angles) to
 * next. Halves it where it must, and says so by a note. */
lw_status lw_director_take_step(lw_director *d, double t, double h, const double *y, double *next,
                                lw_power *work, lw_error *error);
int lw_director_state_size(const lw_director *d);
/* Forgets the steps before, so that the next one depends on the state alone: multipliers, the remainders
 * low_q and low_v, selected rows, pivots and reactions. */
void lw_director_forget(lw_director *d);
void lw_director_recursive_forget(lw_director *d); /* the part of the recursive solver */
void lw_director_load(lw_director *d, const double *y);
/* The length of a change x of all coordinates in the metric of weight. */
double lw_director_norm(const lw_director *d, const double *x);
/* Writes the end of the step of one body into the state y. */
void lw_director_store_body(lw_director *d, int body, double *y);
/* Whether some row of the tree, or the directors of a body, have drifted by rounding. */
bool lw_director_rows_are_off(const lw_director *d);
bool lw_director_directors_are_off(const lw_director *d, int body);

/* --- the sparse solver (director_sparse.c) -------------------------------------------------------- */

/* Builds the structure of Newton's matrix; false: memory is out. */
bool lw_director_sparse_create(lw_director *d);
/* Makes the sparse solver the one at work. */
void lw_director_use_matrix(lw_director *d);
/* Factors the matrix of a step from y, so that memory for pivots is taken before the first step. */
void lw_director_warm_up(lw_director *d, const double *y);
/* Evaluates Newton's matrix at the end of the last step, with its multipliers; false: it is singular. */
bool lw_director_last_matrix(lw_director *d);
/* An estimate of the condition number of that matrix. */
double lw_director_condition(lw_director *d);

/* --- the recursive solver (director_recursive_newton.c) ------------------------------------------- */

/* Creates lw_director.recursive, where that solver applies; false: memory is out. */
bool lw_director_recursive_create(lw_director *d);

/* --- reactions (director_reactions.c) ------------------------------------------------------------- */

/* Computes and keeps the reactions of the step that has been found, from its multipliers. */
void lw_director_keep_reactions(lw_director *d);
/* Memory for the reactions of the present step, 6 numbers per joint, for a solver that finds them itself. */
double *lw_director_reactions_room(lw_director *d);
/* Adds what elements on the coordinates of a joint do to its second body: force, and torque about its centre.
 * coordinates: the measures of these coordinates. */
void lw_director_coordinate_loads(const lw_director *d, int joint, const int *coordinates, double *wrench);
/* Reactions at time t from those of the last steps: force and torque per joint as in dynamics.h. False: no
 * step has been taken. */
bool lw_director_reactions_at(const lw_director *d, double t, double *reactions);

/* --- dependent rows (director_redundancy.c) ------------------------------------------------------- */

/* Chooses at q0 which rows from first_loop_row on are kept. fresh: whatever the present choice is. Returns
 * whether the choice has changed. */
bool lw_director_choose(lw_director *d, bool fresh);

#endif
