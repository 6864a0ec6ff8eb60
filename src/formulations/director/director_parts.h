/* director_parts.h - what the files of the methods director and director-full share: the mechanism in
 * director coordinates, its Newton system, and one step of the energy-momentum scheme.
 */
#ifndef LW_DIRECTOR_PARTS_H
#define LW_DIRECTOR_PARTS_H

#include "formulations/director/block_matrix.h"
#include "formulations/director/director_coordinates.h"
#include "formulations/formulation.h"

/* --- structure (director_joints.c) ---------------------------------------------------------------- */

typedef enum lw_director_row_kind {
    LW_DIRECTOR_RIGID = 0,  /* of one body (24); director-full only */
    LW_DIRECTOR_JOINT,      /* of a joint of the tree (80, 100, 119, 129, 139) */
    LW_DIRECTOR_PRESCRIBED, /* coordinate or rotation given as a function of time */
    LW_DIRECTOR_CLOSURE,    /* of a joint that closes a loop (190) */
    LW_DIRECTOR_CONSTRAINT
} lw_director_row_kind;

/* A row: the sum of factors times measures, less constant, is zero. */
typedef struct lw_director_row {
    lw_director_row_kind kind;
    int joint, constraint, component; /* or -1; component as in lw_row */
    int term, terms;                  /* in terms[] */
    double constant;
    int target;    /* coordinate whose prescribed value takes the place of constant, or -1 */
    bool length;   /* speaks of lengths rather than angles */
    int diagonal;  /* block of the matrix */
    double lambda; /* multiplier; of the last step before the first solution */
    double value;  /* what is left of it at the end of the step */
    bool dropped;  /* depends on others, checked only */
} lw_director_row;

typedef struct lw_director_term {
    int measure;
    double factor;
    int column[2],
        line[2]; /* blocks (body, row) and (row, body) for both bodies of the measure; -1 for ground */
} lw_director_term;

/* What one speed of a joint does: turns about or slides along a vector fixed to one of its bodies. */
typedef struct lw_director_move {
    bool turns;
    int side;         /* 0: vector on the first body, 1: on the second */
    int speed;        /* of the tree */
    int measure;      /* of its coordinate */
    int angle;        /* its number among the angles of the state, or -1 */
    double vector[4]; /* combination of that body's coordinates */
    double factor;    /* advance per unit of the speed */
    int index;        /* slides: which vector of the joint's basis measures it ... */
    double sense;     /* ... and its sign */
} lw_director_move;

/* The joint that carries a body of the tree. */
typedef struct lw_director_joint {
    lw_joint_type type;
    bool ball;          /* it turns anyhow: spherical and free */
    bool free;          /* and moves anyhow */
    bool screws;        /* its turn advances */
    bool crossed;       /* it has two turns */
    int side;           /* the body is the joint's first (0) or second (1); the other one is its parent */
    double point[2][4]; /* its place on both bodies */
    double basis[3][4]; /* vectors on the first body that measure slides, and what is kept from sliding */
    int moves;          /* those of a ball and of a free joint are not here */
    lw_director_move move[3];
    unsigned prescribed;
} lw_director_joint;

/* A prescribed rotation: three measures whose vectors on the first body turn with time. */
typedef struct lw_director_aim {
    int joint, measure;
} lw_director_aim;

/* Mean reactions of a step, 6 per joint. */
enum { LW_DIRECTOR_KEPT = 8 };
typedef struct lw_director_past {
    double begin, h, *reactions;
} lw_director_past;

typedef struct lw_director {
    const lw_model *model;
    lw_arena *arena;
    lw_data *data;             /* for prescribed values */
    bool full;                 /* director-full: twelve unknowns per body, else six */
    int n, size;               /* bodies; unknowns per body */
    lw_director_body *bodies;  /* 0 .. n */
    lw_director_joint *joints; /* 0 .. n */
    int measure_count, row_count, term_count, tie, aim_count; /* rows from tie on may depend on each other */
    lw_measure *measures;
    double *slopes; /* of the measures, 72 each */
    lw_director_row *rows;
    lw_director_term *terms;
    lw_director_aim *aims;
    int *coordinate;     /* nq: measure of a coordinate of the tree, -1 for quaternions */
    int *cut_coordinate; /* LW_JOINT_MAX_Q per closure */
    int *force_measure;  /* per force: the first of its own, or -1 */
    int angle_count;     /* angles that the state remembers */
    int *angle_measure;  /* their measures */
    double length;       /* of the mechanism, to compare rows with */

    /* one step (director_step.c); coordinates 12 per body, ground first */
    double h, t0;
    double *q0, *v0, *qm, *q1, *change; /* begin, rates there, middle, end, q1 - q0 without cancellation */
    double *rest;                       /* what is still to be added to change, below its rounding */
    double *low_q, *low, *q_end,
        *v_end; /* what rounding has cut off q0 and v0, and the end of the last step, to which it belongs */
    double *angles;   /* at the begin, per angle */
    double *turn, *u; /* quaternion of each body's rotation in the step; increments of the speeds */
    double *residual,
        *torque;        /* balance, 12 per body; torques of director that no measure carries, 3 per body */
    long double *exact; /* what measures add to the balance where no matrix is wanted, 12 per body */
    double *right;      /* of the Newton system */
    int iterations;     /* of the last step */
    long newton;        /* iterations of all steps, ... */
    long factored;      /* ... and those with a new matrix */
    double *weight;     /* 4 per body: inertia by which increments are measured */
    const lw_director_row *broken; /* why the last attempt failed: a row that it leaves, or NULL */
    int age;                       /* steps since rows were chosen */
    bool warned;                   /* that rotations alias */
    double halved_at;              /* begin of the last step that was told to be halved */
    lw_block_matrix *matrix;
    struct lw_sweep
        *sweep;       /* director_recursive_newton.c; NULL if the graph of joints and elements is no tree */
    bool renew;       /* the last increment, too, wants a new matrix */
    bool clear;       /* nothing is left in what it adds up */
    bool sweeping;    /* elements add to its blocks rather than to those of matrix */
    bool swept;       /* the last step was found by it */
    int *body_block;  /* diagonal blocks */
    int *force_block; /* per force: blocks of its two bodies: (a,a) (a,b) (b,a) (b,b) */
    /* choice of rows (director_redundancy.c) */
    double *tie_matrix, *tie_work, *tie_speeds, *tie_scale;
    int *tie_order;
    int tie_rank;
    struct lw_orthogonal *orthogonal;
    lw_power work; /* of the step */
    /* reactions (director_reactions.c) */
    double *joint_torque; /* 3 per joint: of elements that act on rotations without a coordinate */
    lw_director_past kept[LW_DIRECTOR_KEPT]; /* of the last steps, newest first */
    int kept_count;
} lw_director;

lw_status lw_director_create(const lw_model *model, bool full, lw_director **out, lw_error *error);
void lw_director_destroy(lw_director *d);
/* Rows and measures; false when memory is out. */
bool lw_director_build(lw_director *d);
/* Every measure has room for slopes of its own. */
void lw_director_own_slopes(lw_director *d);

/* What rounding has cut off a body's change, into rest; that of its parent is known. */
void lw_director_rest(lw_director *d, int body);
/* Turn and u from twists of the bodies: those of the step's begin times h (start), or increments delta of q1
 * (6 per body: displacement of the centre, rotation; world axes). */
void lw_director_start(lw_director *d);
void lw_director_advance(lw_director *d, const double *delta);
/* q1 anew from the joint coordinates reached, so that rounding does not add up over many steps. */
void lw_director_rebuild(lw_director *d);
/* Prescribed values at the end of the step, and vectors of prescribed rotations. */
void lw_director_aim_at(lw_director *d);

/* The discrete null-space matrix of the tree at coordinates q, in twists of the bodies (58), (69), (187):
 * column of a speed, 6 numbers per body from out[0], (velocity of the centre; angular velocity). middle: q
 * lies between two steps. */
void lw_director_column(const lw_director *d, const double *q, int body, int k, bool middle, double *out);

/* --- forces (director_forces.c) ------------------------------------------------------------------- */

/* Adds what gravity and the elements do in the step to measures, residual and (matrix) Newton's matrix; their
 * work in the step to d->work, which it starts anew. */
void lw_director_forces(lw_director *d, bool matrix);
/* One element of them. */
void lw_director_force(lw_director *d, int k, bool matrix);
/* Its measures: the first and how many. */
int lw_director_force_measures(const lw_director *d, int k, int *count);
/* It has a potential and nothing else: no work is booked. */
bool lw_director_force_conserves(const lw_force *force);
/* The bodies that an element loads: its own, or those of its joint. */
void lw_director_loaded_bodies(const lw_director *d, const lw_force *force, int bodies[2]);
/* The joint that an element acts in, and (k) which axis of its second frame if it is a rotation without a
 * coordinate. */
int lw_director_force_joint(const lw_director *d, const lw_force *force, int *k);
/* Energies at a state; coordinates and rates ground first. */
lw_energy lw_director_energy(const lw_director *d, const double *q, const double *v, const double *angles);

/* --- equations (director_newton.c) ---------------------------------------------------------------- */

bool lw_director_matrix_create(lw_director *d);
/* Residual of the balance of all bodies and of all rows at q1 with the present multipliers, negative, into
 * d->right; matrix: Newton's matrix too. */
void lw_director_equations(lw_director *d, bool matrix);
/* What is left of all rows, from the values of their measures at the end. */
void lw_director_row_values(lw_director *d);

/* What a measure with its gathered force adds. */
void lw_director_add_measure(lw_director *d, const lw_measure *m, bool matrix);
/* For elements. Adds factor p r' (x) I3 to the block of bodies i (equations) and j (unknowns). */
void lw_director_add_product(lw_director *d, int i, int j, int block, const double p[4], const double r[4],
                             double factor);
/* A torque on a body in the step. */
void lw_director_add_torque(lw_director *d, int body, const double torque[3], bool matrix);
/* Its derivative by q1 of another body: 3 numbers for each of its 12 coordinates. */
void lw_director_add_torque_slope(lw_director *d, int body, int other, int block, const double slope[36]);

/* --- rotations without a coordinate (director_torques.c) ------------------------------------------ */

/* Derivatives by q1 of two bodies, as above: of their relative rotation w in the step, and of a torque. */
typedef struct lw_couple {
    double turn[2][36], slope[2][36];
} lw_couple;

/* couple (may be NULL): its turn is filled. */
void lw_director_relative_turn(const lw_director *d, const int bodies[2], double w[3], lw_couple *couple);
/* Adds to slope what a torque tau(a.w) a does, a in the middle of the step the combination axis of one body's
 * coordinates. */
void lw_director_add_about(const double axis[4], int side, const double a[3], const double w[3], double tau,
                           double slope, lw_couple *couple);
/* T on the second body, -T on the first; couple NULL: no matrix. */
void lw_director_add_couple(lw_director *d, const int bodies[2], const int blocks[4], const double T[3],
                            const lw_couple *couple);
/* What a bushing does to rotations, and its potential. */
void lw_director_bushing_turn(lw_director *d, const lw_force *force, const int blocks[4], bool matrix);
double lw_director_bushing_potential(const lw_director *d, const lw_force *force, const double *q);

/* --- one step (director_step.c) ------------------------------------------------------------------- */

/* From state y at t (q, v 12 per body from 1, then angles) to next; halves the step where it must, and tells
 * so. */
lw_status lw_director_step(lw_director *d, const lw_method_options *options, double t, double h,
                           const double *y, double *next, lw_power *work, lw_error *error);
/* Factors the matrix of a step from y, so that memory for pivots is taken before the first. */
void lw_director_warm_up(lw_director *d, const double *y);
int lw_director_state_size(const lw_director *d);
/* Takes a state as the begin of a step. */
void lw_director_load(lw_director *d, const double *y);
/* Newton's matrix at the end of the last step, with its multipliers; false: singular. */
bool lw_director_last_matrix(lw_director *d);
/* Estimate of the condition number of the Newton matrix at the end of the last step. */
double lw_director_condition(lw_director *d);

/* --- trees (director_recursive_newton.c)
 * --------------------------------------------------------------------- */

typedef struct lw_sweep lw_sweep;
/* d->sweep, where it applies; false when memory is out. */
bool lw_director_sweep_create(lw_director *d);
/* Starts a step. Then Newton's iteration: inwards (matrix: with a new one; false: singular), and outwards,
 * which tells the sizes of the increment and of the step. */
void lw_director_sweep_start(lw_director *d);
bool lw_director_sweep_in(lw_director *d, bool matrix, double *reactions);
void lw_director_sweep_out(lw_director *d, double *size, double *step);
/* After a last way in (with reactions; false also where a body turns by half a turn), from ground to the
 * leaves: the increment that is left of a body, into d->rest; and angles of the end. */
void lw_director_sweep_rest(lw_director *d, int body, double *angles);
/* Some element books work. */
bool lw_director_sweep_books(const lw_director *d);
/* Where an element adds what body j does to the balance of body i, column by column. */
double *lw_director_sweep_block(lw_director *d, int i, int j);

/* --- reactions (director_reactions.c) ------------------------------------------------------------- */

/* Keeps those of the step that has been found. */
void lw_director_keep_reactions(lw_director *d);
/* Where to put those of a step, 6 per joint. */
double *lw_director_reactions_room(lw_director *d);
/* Adds what elements on the coordinates of a joint do to its second body: (force; torque about its
 * centre). */
void lw_director_coordinate_loads(const lw_director *d, int joint, const int *coordinates, double *wrench);
/* At time t from the last steps: force, torque per joint as in dynamics.h. False: no step has been taken. */
bool lw_director_reactions_at(const lw_director *d, double t, double *reactions);

/* --- rows that depend on others (director_redundancy.c) ------------------------------------------------- */

/* Chooses at q0 which rows from tie on are kept. fresh: whatever the present choice is. Returns whether it
 * changed. */
bool lw_director_choose(lw_director *d, bool fresh);

#endif
