/* projective_criterion.h - which coordinates of a constrained system are the best independent ones: the
 * projective criterion.
 *
 * A system of n coordinates with the mass matrix M (n x n) and m rows C qdot = ... at one state. Rows of
 * prescribed speeds are rows like others: C = e_i. The vector of coordinate i points into the tangent space
 * at an angle alpha_i and into the space of the constraints at beta_i, in the metric of the kinetic energy.
 */
#ifndef LW_PROJECTIVE_CRITERION_H
#define LW_PROJECTIVE_CRITERION_H

#include "core/core.h"
#include "model/rows.h"

typedef struct lw_criterion lw_criterion;

/* Workspace for n coordinates and m rows at most; NULL when memory is out. No other call allocates. The arena
 * owns it, but for what destroy gives back. */
lw_criterion *lw_criterion_create(int n, int m, lw_arena *arena);
void lw_criterion_destroy(lw_criterion *c);

/* The state: M, symmetric, and C row by row (entry i of row r is C[r n + i]; C may be redundant). A row's
 * size must tell rounding from what is meant: not each made one of unit length (lw_criterion_rows). units
 * (may be NULL: 1): a coordinate divided by its unit has no dimension; only rank decisions and
 * lw_criterion_svd depend on it. rank_tolerance is relative (LW_RANK_TOLERANCE where rows hold exactly).
 * cos2_alpha (23a) and cos2_beta (23b) per coordinate, either may be NULL; *freedom = n - rank (may be NULL).
 * LW_ERROR_SINGULAR if D M D' is singular: some motion has no inertia. */
lw_status lw_criterion_evaluate(lw_criterion *c, int n, int m, const double *M, const double *C,
                                const double *units, double rank_tolerance, double *cos2_alpha,
                                double *cos2_beta, int *freedom, lw_error *error);

/* What follows is about the state evaluated last. */

/* False if M is singular, though D M D' is not: M^-1(i, i) has no bound, and instead of cos^2 alpha_i there
 * is how far coordinate i (in its unit) moves for a given kinetic energy, relative to the coordinate that
 * moves most; cos^2 beta_i = 1 - that. */
bool lw_criterion_bounded(const lw_criterion *c);

/* Greedy choice with pivoting in the same metric: the first is the paper's, each of the others has most left
 * outside of those chosen before. Coordinates with skip (may be NULL) are not chosen. chosen[] and pivots[]
 * (cos^2 of what was left; may be NULL) have room for *freedom; returns how many were chosen: fewer if skip
 * leaves too few. */
int lw_criterion_choose(lw_criterion *c, const bool *skip, int *chosen, double *pivots);

/* How good a given set is: the smallest pivot when its members are picked in the same way; 0: singular as a
 * set. */
double lw_criterion_worth(lw_criterion *c, const int *set, int count);

/* The criterion of the singular value decomposition, which ignores masses: squared length of the projection
 * of coordinate i (in its unit) on the null space of C. */
void lw_criterion_svd(const lw_criterion *c, double *weight);

/* --- a mechanism in the joint coordinates of its spanning tree -------------------------------------- */

/* Rows: those of closures and constraints, then one for each prescribed speed. */
int lw_criterion_row_count(const lw_model *model);
/* C with rows without dimension, and the factor of each row (may be NULL), after lw_velocities,
 * lw_world_poses and lw_rows_evaluate of rows made by lw_rows_create_loops. */
void lw_criterion_rows(const lw_model *model, const lw_data *data, const lw_rows *loops, double length,
                       double *C, double *factor);
/* Units of the speeds: 1 where they turn, length where they slide. */
void lw_criterion_units(const lw_model *model, double length, double *units);
/* Rows of a loop that does not quite close look independent by as much as the gap is wide: rank_tolerance for
 * this state. */
double lw_criterion_tolerance(const lw_rows *loops, double length);

/* What a user calls speed number `speed` of the tree: its joint, and which one where there are several:
 * "crank", "ball.wx". */
void lw_speed_name(const lw_model *model, int speed, char *text, size_t size);

#endif
