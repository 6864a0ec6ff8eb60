/* tree_derivatives.h - derivatives of the inverse dynamics of the spanning tree, and what force elements and
 * the rows of loops need to add theirs.
 *
 * Twists and wrenches here are in world axes about one fixed point, `origin`, near the mechanism. Columns of
 * derivatives are nv motions (q displaced as lw_integrate_q does), nv speeds, the inputs, the user states.
 */
#ifndef LW_TREE_DERIVATIVES_H
#define LW_TREE_DERIVATIVES_H

#include "dynamics/tree_derivatives_simd.h"
#include "model/data.h"
#include "model/quantity/quantity.h"

/* One motion of a joint, an elementary one or one of the three of a ball (docs/theory/derivatives.md, 4-9).
 */
typedef struct lw_motion_column {
    double S[6];         /* The twist of a unit of its speed. */
    double P[6];         /* Psi: V^ x S, the rate of S where its base moves by V^. */
    double C[6], D[6];   /* dA = S x A + P x V + C for its motion, dA = D + S x V for its speed. */
    int body, component; /* Whose joint, and which of its speeds. */
} lw_motion_column;

/* What a motion or a speed changes on a body: its place, its twist, its acceleration. */
typedef struct lw_variation {
    double place[6], V[6], A[6];
} lw_variation;

typedef struct lw_tree_derivatives {
    lw_arena *arena;
    const lw_model *model;
    lw_data *data;
    double t;
    const double *vdot; /* the accelerations of the state */
    double origin[3];
    int columns;               /* 2 nv + inputs + user states */
    lw_motion_column *motions; /* per speed; body and component alone if nothing acts between bodies */
    double *V, *A;             /* 6 per body, 0 .. n; A less gravity */
    lw_tree_flat flat;         /* what runs on vectors, and the mass matrix along the paths */
    const lw_tree_simd *simd;
    bool acting;       /* Elements or rows act between bodies. */
    double *lanes[5];  /* results of pairs */
    double *mass;      /* nv x nv, row by row, with the moments that hold idle spins */
    double *T;         /* nv x columns: of the forces that inverse dynamics gives */
    int stride, units; /* from row to row of T; where the inverse of the mass matrix begins in them */
    double *values;    /* entries of the vector of values x columns */
    double *slopes;    /* per entry of the vector of values */
    double *row;       /* columns */
    /* For analyses that ask for values beyond forces: derivatives of the accelerations of speeds, nv x
     * columns, or NULL; quantities without derivatives are NAN and not refused. */
    const double *accelerations;
    bool tolerant;
    /* For derivatives of reactions, or NULL: of the wrenches that act on bodies, 6 x (columns + 1) per body,
     * 0 .. n, and of those in cut joints, the same per closure; the last column is the wrench itself;
     * closure_of: per joint; */
    double *loads, *cut_loads;
    int *closure_of;
    /* and the wrenches of a unit of a row's multiplier: the row, the bodies, the wrench. */
    struct lw_unit_wrench {
        int row, plus, minus;
        double W[6];
    } * units_of_rows;
    int unit_count;
    unsigned char *side; /* per body: a workspace for pairs */
    int *path;           /* likewise */
} lw_tree_derivatives;

lw_tree_derivatives *lw_tree_derivatives_create(const lw_model *model, lw_arena *arena, lw_data *data);

/* Kinematics and the derivatives of ID(q, v, vdot) without force elements at the state in data
 * (lw_take_state), where vdot holds all accelerations. Overwrites T, and flat.mass. */
void lw_tree_derivatives_inertia(lw_tree_derivatives *d, double t, const double *vdot);
/* The mass matrix, from flat.mass. */
void lw_tree_derivatives_mass(lw_tree_derivatives *d);
/* T = M^-1 T in place, and M^-1 behind `units` if that is wanted, on and above the diagonal. False: the mass
 * matrix is singular, or T is not finite. */
bool lw_tree_derivatives_solve(lw_tree_derivatives *d, bool units);
/* An entry of M^-1. */
static inline double lw_solved_unit(const lw_tree_derivatives *d, int row, int column) {
    const int first = row < column ? row : column, second = row < column ? column : row;
    return d->T[(size_t)first * (size_t)d->stride + (size_t)(d->units + second)];
}
/* Subtracts the derivatives of the forces of all elements but those at cut joints. */
lw_status lw_tree_derivatives_forces(lw_tree_derivatives *d, lw_error *error);
/* The generalised force of an element on a joint coordinate with value q and speed v, and its slopes; d->row
 * receives the derivatives by way of the vector of values. False: it has none here. */
bool lw_joint_force_slopes(lw_tree_derivatives *d, const lw_force *force, double q, double v, double *value,
                           double *by_q, double *by_v);
/* Sets the columns of prescribed motions and speeds to zero. */
void lw_tree_derivatives_prescribe(lw_tree_derivatives *d, int rows, int stride, double *matrix);

/* The rows of `values` for an order of the vector of values. */
lw_status lw_value_derivatives(lw_tree_derivatives *d, const lw_value_order *order, lw_error *error);
/* row += factor times the derivatives of a function of t and the vector of values by way of the latter;
 * returns false if a slope is not finite. variables, slopes: as lw_function_gradient. */
bool lw_function_derivatives(lw_tree_derivatives *d, const lw_function *function, const double *variables,
                             const double *values, double factor, double *row, double *slopes,
                             int variables_count);

/* The motions that a joint is a product of, from the body or frame with V and A on, which become those behind
 * it. inverse: the tree passes it against its sense. S: nv columns in the coordinates of this file. */
void lw_motion_columns(const lw_joint *joint, const double *S, const double *v, const double *vdot,
                       double V[6], double A[6], lw_motion_column *out);
/* Does column k of a joint move with its motion j? */
bool lw_column_moves(const lw_joint *joint, int j, int k);

/* Something that acts between two bodies: the wrench W on `plus` and its opposite on `minus`, and rows of
 * constraints. invariant: it depends on the motion of the two relative to each other only. */
typedef struct lw_pair {
    int plus, minus;
    bool invariant;
    double W[6];
    int first, count; /* rows */
    double *own;      /* 6 x (columns + 1), or NULL: the changes of W are added to it */
} lw_pair;
/* What the pair does for a variation of both bodies: dW and, if it has rows, the changes of these at the
 * level of accelerations, 6 numbers, and of velocities, 6 numbers behind them. */
typedef void lw_pair_change(const void *context, const lw_variation *plus, const lw_variation *minus,
                            double dW[6], double rows[12]);
/* Derivatives of rows, rows x columns each: of their accelerations and of their velocities. */
typedef struct lw_row_matrices {
    double *accelerations, *velocities;
} lw_row_matrices;
/* T -= the derivatives of the pair's generalised forces; those of its rows are added to the matrices (NULL:
 * it has none). */
void lw_pair_derivatives(lw_tree_derivatives *d, const lw_pair *pair, lw_pair_change *change,
                         const void *context, const lw_row_matrices *matrices);
/* T -= the generalised forces of a wrench W of the pair times a row of derivatives. */
void lw_pair_wrench(lw_tree_derivatives *d, const lw_pair *pair, const double W[6], const double *row);

/* A point of a body: where it is, its velocity and acceleration, and how a variation changes them. */
typedef struct lw_point_motion {
    double x[3], v[3], a[3];
} lw_point_motion;
void lw_point_of(const lw_tree_derivatives *d, int body, const double local[3], lw_point_motion *out);
void lw_point_vary(const lw_tree_derivatives *d, int body, const lw_point_motion *point,
                   const lw_variation *by, lw_point_motion *out);
/* The wrench of a force at a place, about `origin`; the pose of a body relative to it. */
static inline void lw_wrench_of_force(const double x[3], const double force[3], double out[6]) {
    lw_v3_cross(x, force, out);
    lw_v3_copy(force, out + 3);
}

#endif
