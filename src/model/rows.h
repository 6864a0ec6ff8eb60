/* rows.h - constraint rows of a mechanism in the velocities of its bodies: the conditions of joints,
 * closures, prescribed motions and constraints.
 *
 *   H'V = rate,   H'A = gamma,   V_i = (angular velocity; velocity of the centre of mass), world axes
 *
 * with phi the violation at position level. There is one row for each wrench that a joint transmits, tree
 * joint or cut joint alike; one for each prescribed speed; one for each scalar condition of a constraint. A
 * row has a block of six numbers for each body that it touches; ground has none.
 */
#ifndef LW_ROWS_H
#define LW_ROWS_H

#include "model/data.h"

typedef enum lw_row_kind {
    LW_ROW_TREE = 0,   /* Wrench transmitted by a joint of the spanning tree. */
    LW_ROW_PRESCRIBED, /* A speed prescribed as a function of time. */
    LW_ROW_HELD,       /* A speed that assembly keeps as given. */
    LW_ROW_CLOSURE,    /* Wrench transmitted by a joint that closes a loop. */
    LW_ROW_CONSTRAINT
} lw_row_kind;

typedef struct lw_row {
    lw_row_kind kind;
    int joint;        /* in the spec's order, or -1 */
    int constraint;   /* -1 if it belongs to a joint. */
    int component;    /* Column of the joint's W, or number of the constraint's row. */
    int block, count; /* Range of its blocks in body[] and H[]. */
} lw_row;

/* A body in world axes: centre of mass, angular velocity, velocity of the centre. Entry 0 is ground. */
typedef struct lw_body_state {
    double r[3], w[3], rdot[3];
} lw_body_state;

/* A joint in world axes, at its point on the second body. With the relative acceleration
 *   A = (wdot_2 - wdot_1; acceleration of second and first body at that point that is linear in wdot, rddot)
 * it satisfies  W_k'(A - c) = vdot_k for its own speeds and 0 for the wrenches that it transmits. */
typedef struct lw_joint_state {
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V];
    double at[3];
    double W[36];    /* lw_joint_dual, turned into world axes: 6 columns of (torque; force) */
    double c[6];     /* The part of the relative acceleration that depends on speeds only. */
    double error[6]; /* The small twist from the joint's pose at q to the true one. */
} lw_joint_state;

typedef struct lw_rows {
    /* Numbers of rows, of rows of tree joints (with prescribed and held ones), which come first, and of
     * blocks. */
    int count, tree_count, block_count;
    lw_row *rows;
    int *body;                  /* per block */
    double *H;                  /* 6 per block */
    double *gamma, *rate, *phi; /* per row */
    lw_body_state *bodies;      /* 0 .. n */
    lw_joint_state *joints;     /* the spec's order */
    int joint_count, *needed;   /* The joints that the rows need. */
    int *coupling_joint;        /* LW_COUPLING_MAX per constraint: the joint of a coupled speed. */
    int *coupling_component;    /* LW_COUPLING_MAX per constraint: which of the joint's speeds is coupled. */
    double *coupling_factor;    /* LW_COUPLING_MAX per constraint: the slope of a term where it is. */
} lw_rows;

/* Which given initial values become rows in assembly. */
typedef enum lw_hold { LW_HOLD_NONE = 0, LW_HOLD_Q, LW_HOLD_V } lw_hold;

/* Returns NULL when memory is out. The arena owns the result. */
lw_rows *lw_rows_create(const lw_model *model, lw_hold hold, lw_arena *arena);
/* The rows of closures and constraints alone: tree_count is 0. */
lw_rows *lw_rows_create_loops(const lw_model *model, lw_arena *arena);

/* Evaluates the rows from world poses and twists in data, with prescribed values filled in (lw_take_state,
 * lw_velocities, lw_world_poses). fit: coordinates and speeds of the tree joints are found from the poses too
 * and written to data->q and data->v, which hold guesses; otherwise they are those in data. */
void lw_rows_evaluate(const lw_model *model, lw_data *data, bool fit, lw_rows *rows);

/* F += H x: wrenches (torque about the centre; force) on bodies 1 .. n, 6 each from F[0]. */
void lw_rows_times(const lw_rows *rows, const double *x, double *F);
/* out = H'V. */
void lw_rows_transposed(const lw_rows *rows, const double *V, double *out);
/* Velocities of the bodies, 6 each from V[0], as in bodies. */
void lw_rows_velocities(const lw_model *model, const lw_rows *rows, double *V);
/* Joint accelerations of the tree from those of the bodies. */
void lw_rows_joint_accelerations(const lw_model *model, const lw_rows *rows, const double *A, double *vdot);
/* Speeds of the tree (or increments) from velocities of the bodies that satisfy its rows. */
void lw_rows_joint_speeds(const lw_model *model, const lw_rows *rows, const double *V, double *v);

/* How many rows there are with LW_HOLD_NONE. */
int lw_row_count(const lw_model *model);
/* Does the row express the slip of rolling bodies, which has no position level? */
bool lw_row_is_slip(const lw_model *model, const lw_row *row);
/* Is the row a length rather than an angle? For couplings, whatever their terms are. */
bool lw_row_is_length(const lw_model *model, const lw_rows *rows, int row);

/* The directions of the two rows of a rolling constraint along its plane, which has normal n and belongs to a
 * body with rotation R. */
void lw_rolling_directions(const lw_constraint *constraint, const double R[9], const double n[3],
                           double first[3], double second[3]);

/* Describes a row for messages: joint "pin", position x. */
void lw_row_describe(const lw_model *model, const lw_row *row, char *text, size_t size);
/* The remedy for rows that become contradictory during a run: it mentions prescribed motions if there are
 * some. */
const char *lw_rows_remedy(const lw_model *model);

#endif
