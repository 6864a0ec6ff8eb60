/* characteristic_length.c - a length that makes rows and coordinates dimensionless, and the rank tolerance
 * that follows from it.
 *
 * A block (n; f) of a row is a wrench about the body's centre of mass: it acts along a line at the distance
 * |f x n| / |f|^2 from there, whatever its unit and whatever torque along the line goes with it (screws).
 *
 * Cost     O(blocks + bodies).
 */
#include "constraints/characteristic_length.h"
#include "linalg/dense.h"

#include <math.h>

double lw_length_of(const lw_newton_euler *s) {
    const double rounding = 1e-6; /* of places in the world: shorter arms may be nothing but that */
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

double lw_rank_tolerance(const lw_newton_euler *s) {
    const double least = LW_RANK_TOLERANCE, most = 3e-5, share = 100; /* of the gap, in terms of pivots */
    double gap = 0;
    for (int r = 0; r < s->rows->count; r++) gap = fmax(gap, fabs(s->rows->phi[r]));
    return fmin(most, fmax(least, share * gap / lw_length_of(s)));
}
