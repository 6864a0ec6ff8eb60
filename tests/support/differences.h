/* differences.h - extrapolated differences along curves, for tests of derivatives.
 *
 * Ridders' scheme: central differences at falling distances, and of their table the entry with the smallest
 * estimated error. They are right to about 1e-10 of the sizes involved.
 */
#ifndef LW_TEST_DIFFERENCES_H
#define LW_TEST_DIFFERENCES_H

#include <linkwork/linkwork.h>

enum { NV = 96, DIFFERENCE_LEVELS = 7, DIFFERENCE_VALUES = 16 * NV };

/* A function of one number with `count` values; false where it cannot be evaluated. */
typedef bool curve(void *context, double s, double *out);

/* The derivative at 0 of all values. Returns the largest estimated error relative to the largest entry. */
double ridders(curve *f, void *context, int count, double start, double *out);
/* The same, where values in unsteady[] (may be NULL) do not count for the error. */
double ridders_of(curve *f, void *context, int count, double start, const bool *unsteady, double *out);

/* A curve through a state on the closures: displaced along an admissible motion, projected back, with speeds
 * that are projected, too. Values: accelerations, the change of speeds, the motion, and reactions if these
 * are wanted. */
typedef struct loop_case {
    const lw_model *model;
    lw_solver *solver;
    double t;
    const double *q, *v, *tau, *along, *faster;
    bool reactions;
} loop_case;
bool loop_curve(void *context, double s, double *out);

#endif
