/* partition.h - coordinate partitioning of a constrained system: independent and dependent coordinates, and
 * the equations of motion projected into the tangent space. For the methods `partition` (joint coordinates)
 * and `partition-absolute`.
 *
 *   M vdot = h + C'lambda,   C vdot = b                                                               (1),
 *   (4)
 *
 * The caller fills M, C and tolerance of a state and calls lw_partition_scale. Coordinates, velocities and
 * accelerations go in and out in their own units, right-hand sides and multipliers in those of the rows of C.
 */
#ifndef LW_PARTITION_H
#define LW_PARTITION_H

#include "constraints/projective_criterion.h"
#include "formulations/formulation.h"
#include "linalg/dense.h"

/* Coordinates taken as independent; none before the first choice. */
typedef struct lw_coordinate_set {
    int count; /* -1: none */
    int *independent;
} lw_coordinate_set;

typedef struct lw_partition {
    int n, m;                             /* coordinates, rows */
    double *M;                            /* n x n */
    double *C;                            /* row by row */
    double *units;                        /* per coordinate: what makes it one without dimension */
    double tolerance;                     /* of rank decisions */
    int choices;                          /* of the run's set, so far */
    lw_coordinate_set run, query, former; /* of the run; of a single state; before the last change */
    lw_coordinate_set fixed;              /* what the user wants; none: the criterion chooses */
    double latest;                        /* when the run's set was looked at last */
    bool crossing;                        /* the state factored last has lost rank */
    bool crossed;                         /* one since the last accepted step has */
    /* of the set factored last */
    int k, d, rank;   /* independent, dependent; rank of C_D */
    int *independent; /* the set's */
    int *dependent;   /* in the order of the factors */
    double *CD;       /* m x d, factored */
    double *D;        /* n x k: D' = [I A']', in units */
    /* workspace */
    double *columns, *MD, *Md, *x, *right;
    int *order, *chosen;
    double *pivots, *cos2;
    lw_criterion *criterion;
    lw_orthogonal *orthogonal;
    lw_symmetric *symmetric;
    double condition; /* of M_d */
    const lw_model *model;
    void (*name)(const lw_model *model, int coordinate, char *text, size_t size);
} lw_partition;

/* NULL when memory is out. The arena owns it, but for what destroy gives back. */
lw_partition *lw_partition_create(int n, int m, const lw_model *model, lw_arena *arena);
void lw_partition_destroy(lw_partition *p);

/* Takes the coordinates of these names, separated by commas, for all that follows; NULL: the criterion
 * chooses. LW_ERROR_ARGUMENT names one that is not there. */
lw_status lw_partition_fix(lw_partition *p, const char *names, lw_error *error);

/* M and C, as filled in, into units. */
void lw_partition_scale(lw_partition *p);

/* The best set at this state by the criterion. */
lw_status lw_partition_choose(lw_partition *p, lw_coordinate_set *set, lw_error *error);
/* A run begins at t, in this state; its set is chosen here or, where that fails, by the first call that needs
 * it. */
void lw_partition_begin(lw_partition *p, double t);
/* Is the set of the run to be looked at, at the end t of a step? Once for each: states between steps come
 * later and change nothing. */
bool lw_partition_due(lw_partition *p, double t);
/* Changes the run's set if another is clearly better here, or there is none, and tells so at t. */
lw_status lw_partition_reconsider(lw_partition *p, const lw_method_options *options, double t, bool *changed,
                                  lw_error *error);
/* The step that ends at t is on the constraints. */
void lw_partition_accept(lw_partition *p, double t);

/* A = -C_D^-1 C_I for a set. LW_ERROR_SINGULAR, naming the set, if C_D has not full rank; deficient: that is
 * all right. */
lw_status lw_partition_factor(lw_partition *p, const lw_coordinate_set *set, bool deficient, lw_error *error);
/* The same for the run's set, chosen here if there is none. Where C loses rank (a change point of a linkage)
 * no set of that size determines the others: then for a set of this state alone, with more coordinates, whose
 * speeds the state carries too. */
lw_status lw_partition_factor_run(lw_partition *p, lw_error *error);
/* All of x with C x = right by the smallest change in the mass metric, after lw_partition_reduce. */
void lw_partition_tangent(lw_partition *p, const double *right, double *x);
/* x_D with C x = right for the x_I given; least squares where rows contradict each other, zeros where rank is
 * missing. */
void lw_partition_dependent(lw_partition *p, const double *right, double *x);
/* M_d of the set factored last. LW_ERROR_SINGULAR if some motion has no inertia. */
lw_status lw_partition_reduce(lw_partition *p, lw_error *error);
/* (12), (10): x += D'a with M_d a = D force, force = h - M x, for an x with C x = b. Once more, it takes off
 * what rounding left. */
void lw_partition_move(lw_partition *p, const double *force, double *x);
/* Multipliers of C'lambda = force, the smallest of all solutions, from the equations of the dependent
 * coordinates. */
void lw_partition_multipliers(lw_partition *p, const double *force, double *lambda);

/* LW_ERROR_SINGULAR: rows that cannot be satisfied together, at a level ("positions"); with what drives their
 * loop. */
lw_status lw_stays_open(const lw_model *model, const lw_data *data, const lw_rows *rows,
                        const double *violation, const char *level, lw_error *error);

#endif
