/* closing_dyads.c - the closed formulas behind closing conditions.
 *
 *   triangle    Kahan's formula for the half angle: with a >= b,  mu = c - (a - b) if b >= c,
 *               else b - (a - c)
 *                 tan^2(C/2) = ((a - b) + c) mu / ((a + (b + c)) ((a - c) + b))
 *               The factors keep all digits, so that the sides are correct to rounding even where the
 *               triangle is flat and the angle itself is only known to the square root of rounding.
 *   chord       (length - across) (length + across)
 *   cardan      x of Ry(b) u is that of w, its y is that of u: z = +- sqrt(w_y^2 + w_z^2 - u_y^2)
 *
 * Source   docs/theory/closing.md, sections 2 and 3; (40)-(41) of Blajer, Schiehlen and Schirm (1994) are the
 *          triangle.
 * Cost     O(1).
 */
#include "formulations/partition/closing_dyads.h"
#include "linalg/vec3.h"

#include <float.h>

bool lw_dyad_triangle(double a, double b, double c, double *cosine, double *sine, double *gap) {
    if (a < b) {
        double t = a;
        a = b, b = t;
    }
    double folded = b >= c ? c - (a - b) : b - (a - c), stretched = (a - c) + b, all = a + (b + c);
    double rounding = LW_DYAD_ROUNDING * all;
    *gap = fmax(-folded, -stretched);
    if (!(*gap <= rounding) || !(b > 0)) return false;
    *gap = 0;
    double y = fmax((a - b) + c, 0) * fmax(folded, 0), x = all * fmax(stretched, 0);
    *cosine = (x - y) / (x + y);
    *sine = 2 * sqrt(x) * sqrt(y) / (x + y);
    return isfinite(*sine);
}

bool lw_dyad_chord(double length, double across, double *root, double *gap) {
    *gap = across - length;
    if (!(*gap <= LW_DYAD_ROUNDING * (across + length))) return false;
    *root = sqrt(fmax(-*gap, 0)) * sqrt(length + across);
    *gap = 0;
    return true;
}

bool lw_dyad_cardan(const double u[3], const double w[3], double branch, double R[9], double S[9],
                    double *gap) {
    double in = hypot(u[0], u[2]), out = hypot(w[1], w[2]), z;
    if (!(in > 0) || !(out > 0)) {
        *gap = 0;
        return false;
    }
    if (!lw_dyad_chord(out, fabs(u[1]), &z, gap)) return false;
    if (branch < 0) z = -z;
    /* (u_x, u_z) -> (w_x, z) about y, then (u_y, z) -> (w_y, w_z) about x */
    double n = in * hypot(w[0], z), c = (u[0] * w[0] + u[2] * z) / n, s = (u[2] * w[0] - u[0] * z) / n;
    const double about_y[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
    memcpy(S, about_y, sizeof about_y);
    n = out * hypot(u[1], z), c = (u[1] * w[1] + z * w[2]) / n, s = (u[1] * w[2] - z * w[1]) / n;
    const double about_x[9] = {1, 0, 0, 0, c, -s, 0, s, c};
    memcpy(R, about_x, sizeof about_x);
    return isfinite(S[0] + S[2] + R[4] + R[7]);
}

static void frame(const double n[3], const double a[3], double F[9]) {
    double x[3], y[3], size = lw_v3_norm(a);
    for (int k = 0; k < 3; k++) x[k] = a[k] / size;
    lw_v3_cross(n, x, y);
    for (int i = 0; i < 3; i++) F[i] = x[i], F[3 + i] = y[i], F[6 + i] = n[i]; /* rows */
}

void lw_dyad_turn(const double n1[3], const double a1[3], const double n2[3], const double a2[3],
                  double R[9]) {
    double F1[9], F2[9];
    frame(n1, a1, F1);
    frame(n2, a2, F2);
    lw_m3_tmul(F1, F2, R);
}

void lw_dyad_swing(const double a[3], const double b[3], double R[9]) {
    double q[4], size = lw_v3_norm(a) * lw_v3_norm(b);
    lw_v3_cross(a, b, q + 1);
    q[0] = size + lw_v3_dot(a, b); /* q is a multiple of cosine and sine of the half angle. */
    if (!(q[0] > 1e-15 * size)) {  /* Opposite vectors: half a turn about any perpendicular. */
        double unit[3];
        for (int k = 0; k < 3; k++) unit[k] = a[k] / lw_v3_norm(a);
        q[0] = 0;
        lw_v3_perpendicular(unit, q + 1);
    }
    lw_rot_quat(q, R);
}
