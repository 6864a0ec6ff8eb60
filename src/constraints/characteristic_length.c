/* characteristic_length.c - lengths that make rows and coordinates dimensionless, and the rank tolerance that
 * goes with them.
 *
 * A block (n; f) of a row is a wrench about the body's centre of mass. It acts along a line at the distance
 * |f x n| / |f|^2 from there, whatever the unit of the row and whatever torque along the line it has
 * (screws).
 *
 * Cost     O(blocks + bodies); the extent O(joints).
 */
#include "constraints/characteristic_length.h"
#include "linalg/dense.h"

#include <math.h>

double lw_body_length(const lw_newton_euler *s) {
    /* arms shorter than this share of a world position may be nothing but rounding */
    const double rounding = 1e-6;
    const lw_rows *rows = s->rows;
    double length = 0;
    for (int b = 0; b < rows->block_count; b++) {
        const double *h = rows->H + 6 * b;
        double arm[3], square = lw_v3_dot(h + 3, h + 3);
        lw_v3_cross(h + 3, h, arm);
        if (square > 0) length = fmax(length, lw_v3_norm(arm) / square);
    }
    for (int i = 0; i < s->model->body_count; i++) {
        const double *I = s->inertia + 6 * i;
        if (s->mass[i] > 0) length = fmax(length, sqrt(fmax(I[0] + I[1] + I[2], 0) / (2 * s->mass[i])));
        length = fmax(length, rounding * lw_v3_norm(rows->bodies[i + 1].r));
    }
    return length > 0 && isfinite(length) ? length : 1;
}

double lw_joint_extent(const lw_newton_euler *s) {
    /* Distances below this share of a body are no measure of the arms in the rows: joints that meet in one
     * point are apart by rounding, or by what a stage of an integrator has opened, and the arms of rolling or
     * distance constraints are not among them. */
    const double share = 0.1;
    double middle[3] = {0, 0, 0}, far = 0;
    int count = s->model->joint_count;
    for (int j = 0; j < count; j++) lw_v3_axpy(1.0 / count, s->rows->joints[j].at, middle);
    for (int j = 0; j < count; j++) {
        double arm[3];
        lw_v3_sub(s->rows->joints[j].at, middle, arm);
        far = fmax(far, lw_v3_norm(arm));
    }
    return fmax(far, share * lw_body_length(s));
}

double lw_rank_tolerance(const lw_newton_euler *s) {
    const double least = LW_RANK_TOLERANCE, most = 3e-5, share = 100; /* pivots per relative gap */
    double gap = 0;
    for (int r = 0; r < s->rows->count; r++) gap = fmax(gap, fabs(s->rows->phi[r]));
    return fmin(most, fmax(least, share * gap / lw_body_length(s)));
}
