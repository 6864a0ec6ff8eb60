/* closing_dyads.h - the closed formulas behind closing conditions: triangles, slides, universal joints.
 */
#ifndef LW_CLOSING_DYADS_H
#define LW_CLOSING_DYADS_H

#include <stdbool.h>

/* Relative size of lengths that counts as rounding. */
#define LW_DYAD_ROUNDING 1e-13

/* The angle between sides a and b of a triangle whose third side is c. False if no such triangle exists; gap
 * is then the missing length. A triangle that is flat within rounding is treated as flat. */
bool lw_dyad_triangle(double a, double b, double c, double *cosine, double *sine, double *gap);

/* root = sqrt(length^2 - across^2): half the chord that a line at a distance `across` from the centre cuts
 * out of a circle. */
bool lw_dyad_chord(double length, double across, double *root, double *gap);

/* The angles of a universal joint with Rx(a) Ry(b) u = w, |u| = |w|. The branch is the sign of y_z, y = Ry(b)
 * u. R = Rx(a) and S = Ry(b), by rows. False if no angles reach w. */
bool lw_dyad_cardan(const double u[3], const double w[3], double branch, double R[9], double S[9],
                    double *gap);

/* The rotation that takes the perpendicular pair (n2, a2) to (n1, a1); a1 and a2 need not be of unit
 * length. */
void lw_dyad_turn(const double n1[3], const double a1[3], const double n2[3], const double a2[3],
                  double R[9]);
/* The smallest rotation that takes direction a to direction b. */
void lw_dyad_swing(const double a[3], const double b[3], double R[9]);

#endif
