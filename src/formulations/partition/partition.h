/* partition.h - coordinate partitioning of a constrained system into independent and dependent coordinates,
 * and the equations of motion projected into the tangent space. It serves the methods `partition` (joint
 * coordinates) and `partition-absolute`.
 *
 *   M vdot = h + C'lambda,   C vdot = b                                                           (1), (4)
 *
 * The caller fills M, C and tolerance of a state and calls lw_partition_scale. Coordinates, velocities and
 * accelerations are passed in their own units, right-hand sides and multipliers in those of the rows of C.
 */
#ifndef LW_PARTITION_H
#define LW_PARTITION_H

#include "constraints/projective_criterion.h"
#include "formulations/formulation.h"
#include "linalg/dense.h"

/* A set of independent coordinates; empty before the first choice. */
typedef struct lw_coordinate_set {
    int count; /* -1 if no set has been chosen. */
    int *independent;
} lw_coordinate_set;

typedef struct lw_partition {
    int n, m;         /* The numbers of coordinates and rows. */
    double *M;        /* n x n */
    double *C;        /* m x n, by rows. */
    double *units;    /* Per coordinate: the unit that makes it dimensionless. */
    double tolerance; /* The tolerance of rank decisions. */
    int choices;      /* How often the set of the run has been chosen. */
    /* The set of the run, that of a single state, and that of the run before its last change. */
    lw_coordinate_set run, query, former;
    /* The set prescribed by the user; if there is none, the criterion chooses. */
    lw_coordinate_set fixed;
    double latest; /* The time at which the set of the run was last reconsidered. */
    bool crossing; /* The state factored last has lost rank. */
    bool crossed;  /* A state since the last accepted step has lost rank. */
    /* The set factored last. */
    int k, d, rank;   /* The numbers of independent and dependent coordinates; the rank of C_D. */
    int *independent; /* The independent coordinates of the set. */
    int *dependent;   /* The dependent coordinates, in the order of the factors. */
    double *CD;       /* m x d, factored. */
    double *D;        /* n x k: D' = [I A']', in units. */
    /* Workspace. */
    double *columns, *MD, *Md, *x, *right;
    int *order, *chosen;
    double *pivots, *cos2;
    lw_criterion *criterion;
    lw_orthogonal *orthogonal;
    lw_symmetric *symmetric;
    double condition; /* The condition number of M_d. */
    const lw_model *model;
    void (*name)(const lw_model *model, int coordinate, char *text, size_t size);
} lw_partition;

/* Returns NULL when memory is out. The arena owns the result except for what lw_partition_destroy
 * releases. */
lw_partition *lw_partition_create(int n, int m, const lw_model *model, lw_arena *arena);
void lw_partition_destroy(lw_partition *p);

/* Prescribes the independent coordinates for all later calls by their names, separated by commas; NULL lets
 * the criterion choose. LW_ERROR_ARGUMENT names a coordinate that does not exist. */
lw_status lw_partition_fix(lw_partition *p, const char *names, lw_error *error);

/* Divides M and C, as filled in by the caller, by the units. */
void lw_partition_scale(lw_partition *p);

/* Chooses the best set at this state by the criterion. */
lw_status lw_partition_choose(lw_partition *p, lw_coordinate_set *set, lw_error *error);
/* A run begins at t in this state. Its set is chosen here or, if that fails, by the first call that needs
 * it. */
void lw_partition_begin(lw_partition *p, double t);
/* Is the set of the run to be reconsidered at the end t of a step? True once for each step, so that states
 * between steps, which are evaluated later, change nothing. */
bool lw_partition_due(lw_partition *p, double t);
/* Changes the set of the run if it has none or another one is clearly better here, with a note at t. */
lw_status lw_partition_reconsider(lw_partition *p, const lw_method_options *options, double t, bool *changed,
                                  lw_error *error);
/* The state at the end t of a step has been made consistent with the constraints. */
void lw_partition_accept(lw_partition *p, double t);

/* What the run has decided so far. */
void lw_partition_archive(lw_partition *p, lw_archive *archive);

/* Computes A = -C_D^-1 C_I for a set. LW_ERROR_SINGULAR, naming the set, if C_D does not have full rank,
 * unless deficient allows this. */
lw_status lw_partition_factor(lw_partition *p, const lw_coordinate_set *set, bool deficient, lw_error *error);
/* The same for the set of the run, which is chosen here if there is none. Where C loses rank (a change point
 * of a linkage), no set of that size determines the other coordinates; then a larger set for this state alone
 * is used, whose speeds are part of the state too. */
lw_status lw_partition_factor_run(lw_partition *p, lw_error *error);
/* After lw_partition_reduce: changes x by the smallest amount in the mass metric so that C x = right. */
void lw_partition_tangent(lw_partition *p, const double *right, double *x);
/* Computes x_D for given x_I so that C x = right: by least squares where rows contradict each other, zero
 * where rank is missing. */
void lw_partition_dependent(lw_partition *p, const double *right, double *x);
/* Computes M_d of the set factored last. LW_ERROR_SINGULAR if some motion has no inertia. */
lw_status lw_partition_reduce(lw_partition *p, lw_error *error);
/* (12), (10): x += D'a with M_d a = D force, force = h - M x, for an x with C x = b. A second call removes
 * rounding errors of the first. */
void lw_partition_move(lw_partition *p, const double *force, double *x);
/* The smallest multipliers with C'lambda = force, from the equations of the dependent coordinates. */
void lw_partition_multipliers(lw_partition *p, const double *force, double *lambda);

/* Returns LW_ERROR_SINGULAR for rows that cannot be satisfied together at a level ("positions"). The message
 * names the drive of their loop, if there is one. */
lw_status lw_stays_open(const lw_model *model, const lw_data *data, const lw_rows *rows,
                        const double *violation, const char *level, lw_error *error);

#endif
