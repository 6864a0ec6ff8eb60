/* closures.h - what the joints that close loops and the constraints ask of the poses of bodies, for the tests: written
 * down once more, from the pictures of the joints, without the library's rows.
 */
#ifndef LW_TEST_CLOSURES_H
#define LW_TEST_CLOSURES_H

#include "model/data.h"

enum { CLOSURES_MAX = 144 };

/* Values that must be zero, of all closures and constraints at a state; of_speed marks those that are velocities (slip).
 * Returns how many. */
int closures_at(const lw_model *model, lw_data *data, double t, const double *q, const double *v, double *out,
                bool *of_speed);

/* The parts of it, from the world poses in data. */
void closures_point(const lw_data *data, int body, const double local[3], double x[3]);
/* Frames of a joint on both bodies in the world, and the place of the second in the first. */
void closures_place(const lw_data *data, const lw_joint_entry *entry, lw_pose ends[2], lw_pose *place);
/* Where a sphere or disc touches its plane; two directions along the plane that turn with it, and its normal. */
void closures_touch(const lw_data *data, const lw_constraint *c, double touch[3], double along[3][3]);

/* A = U diag(s) V', U m x m, V' n x n, column by column. Singular values up to threshold times the largest, or times
 * `size` if all are smaller, count as zero. */
typedef struct closures_svd {
    int m, n, rank;
    double *s, *U, *Vt;
} closures_svd;
closures_svd closures_decompose(int m, int n, const double *A, double threshold, double size);
void closures_discard(closures_svd *d);
/* x = A^+ b; b loses the part that x accounts for. */
void closures_solve(const closures_svd *d, double *b, double *x);

#endif
