/* projective_criterion.h - the best independent coordinates of a constrained system by the projective
 * criterion.
 *
 * The system has n coordinates, the mass matrix M (n x n) and m constraint rows C qdot = rate, at one state.
 * A prescribed speed i is a row C = e_i. In the metric of the kinetic energy the vector of coordinate i has
 * the angle alpha_i to the tangent space of the constraints and beta_i to the constrained subspace.
 */
#ifndef LW_PROJECTIVE_CRITERION_H
#define LW_PROJECTIVE_CRITERION_H

#include "core/core.h"
#include "model/rows.h"

typedef struct lw_criterion lw_criterion;

/* Workspace for at most n coordinates and m rows; NULL when memory is out. No other function allocates. The
 * arena owns the memory except for what lw_criterion_destroy releases. */
lw_criterion *lw_criterion_create(int n, int m, lw_arena *arena);
void lw_criterion_destroy(lw_criterion *c);

/* Evaluates the criterion at a state.
 *
 *   M, C             M is symmetric; entry i of row r is C[r n + i]. Rows may be redundant. They must not be
 *                    normalised one by one: rounding errors are recognised by their size (lw_criterion_rows).
 *   units            a coordinate divided by its unit is dimensionless; NULL means 1. Only rank decisions and
 *                    lw_criterion_svd depend on the units.
 *   rank_tolerance   relative; LW_RANK_TOLERANCE where rows are evaluated exactly
 *   cos2_alpha       (23a) per coordinate; may be NULL
 *   cos2_beta        (23b) per coordinate; may be NULL
 *   freedom          n - rank; may be NULL
 *
 * LW_ERROR_SINGULAR if D M D' is singular, which means that some motion has no inertia. */
lw_status lw_criterion_evaluate(lw_criterion *c, int n, int m, const double *M, const double *C,
                                const double *units, double rank_tolerance, double *cos2_alpha,
                                double *cos2_beta, int *freedom, lw_error *error);

/* The functions below refer to the state evaluated last. */

/* False if M is singular although D M D' is not. M^-1(i, i) is then unbounded. Instead of cos^2 alpha_i the
 * criterion gives how far coordinate i (in its unit) moves for a given kinetic energy, relative to the
 * coordinate that moves most, and cos^2 beta_i is one minus that. */
bool lw_criterion_bounded(const lw_criterion *c);

/* Chooses independent coordinates greedily: the first is that of the paper; each of the others has the
 * largest component perpendicular to those already chosen, in the same metric. Coordinates with skip[i]
 * (NULL: none) are not chosen. chosen[] and pivots[] (cos^2 of that component; may be NULL) need `freedom`
 * entries. Returns how many were chosen, which is fewer if skip leaves too few. */
int lw_criterion_choose(lw_criterion *c, const bool *skip, int *chosen, double *pivots);

/* The quality of a given set: the smallest pivot when its members are chosen in the same way; 0 if the set is
 * singular. */
double lw_criterion_worth(lw_criterion *c, const int *set, int count);

/* The criterion of the singular value decomposition, which ignores masses: the squared length of the
 * projection of coordinate i (in its unit) onto the null space of C. */
void lw_criterion_svd(const lw_criterion *c, double *weight);

/* --- a mechanism in the joint coordinates of its spanning tree -------------------------------------- */

/* The number of rows: those of closures and constraints, then one for each prescribed speed. */
int lw_criterion_row_count(const lw_model *model);
/* C with dimensionless rows, and the factor of each row (may be NULL). It needs lw_velocities, lw_world_poses
 * and lw_rows_evaluate; loops are rows from lw_rows_create_loops. */
void lw_criterion_rows(const lw_model *model, const lw_data *data, const lw_rows *loops, double length,
                       double *C, double *factor);
/* Units of the speeds: 1 for rotations, length for translations. */
void lw_criterion_units(const lw_model *model, double length, double *units);
/* The rank tolerance of this state. Dependent rows of a loop that is slightly open appear independent by an
 * amount of the order of the gap. */
double lw_criterion_tolerance(const lw_rows *loops, double length);

/* The user's name for speed number `speed` of the tree: its joint, and a component where the joint has
 * several speeds, as in "crank" and "ball.wx". */
void lw_speed_name(const lw_model *model, int speed, char *text, size_t size);

#endif
