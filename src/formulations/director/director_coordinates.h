/* director_coordinates.h - a mechanism in director coordinates: twelve numbers per body, and the scalar
 * functions of them from which everything else is made.
 *
 *   q_i = (phi, d_1, d_2, d_3)   centre of mass and principal axes of body i in the world (21), v_i rates
 *
 * Ground is body 0 with phi = 0 and d_k the world's axes. A measure is a scalar function of the coordinates
 * of two bodies that does not change if both move together as one rigid body: a product of two vectors that
 * are linear in q, the angle whose cosine and sine are two such products, or a length whose square is such a
 * product. Rows of joints and constraints are made of measures; joint coordinates and lengths of springs are
 * measures. Each has a discrete derivative D for which
 *
 *   measure(q_n+1) - measure(q_n) = D (q_n+1 - q_n)
 *
 * holds exactly. This is why the scheme keeps energy and momenta (docs/theory/director.md).
 */
#ifndef LW_DIRECTOR_COORDINATES_H
#define LW_DIRECTOR_COORDINATES_H

#include "model/data.h"

/* --- bodies --------------------------------------------------------------------------------------- */

typedef struct lw_director_body {
    double mass, euler[3]; /* M = diag(mass, euler[k]) in blocks of three (23) */
    double axes[9];        /* principal axes in the internal frame: its columns are the directors */
    double com[3];         /* internal frame */
} lw_director_body;

/* A vector or a point fixed to a body as a combination of its (phi, d_1, d_2, d_3). */
void lw_director_vector(const lw_director_body *body, const double internal[3], double out[4]);
void lw_director_point(const lw_director_body *body, const double internal[3], double out[4]);
/* Computes the combination c of the coordinates (or rates) q of one body. */
static inline void lw_director_combine(const double c[4], const double *q, double out[3]) {
    for (int k = 0; k < 3; k++) out[k] = c[0] * q[k] + c[1] * q[3 + k] + c[2] * q[6 + k] + c[3] * q[9 + k];
}
void lw_director_body_of(const lw_model *model, int body, lw_director_body *out);
/* Coordinates from the rotation of the internal frame and the centre of mass; rates from the twist V of the
 * centre (angular; linear) in world axes. */
void lw_director_from_pose(const lw_director_body *body, const double R[9], const double centre[3],
                           double *q);
void lw_director_rates(const double *q, const double V[6], double *v);
/* The rotation nearest to A, which is nearly a rotation; and the rotation of the internal frame at q. */
void lw_director_polar(const double A[9], double out[9]);
void lw_director_rotation(const lw_director_body *body, const double *q, double R[9]);
/* The angular momentum of the rates v about the centre of mass, and the inertia there. */
void lw_director_spin(const lw_director_body *body, const double *q, const double *v, double momentum[3],
                      double inertia[6]);
/* The matrix C of cofactors of A, and the determinant of A: C'A = det(A) I. */
static inline double lw_cofactors(const double A[9], double C[9]) {
    lw_v3_cross(A + 3, A + 6, C);
    lw_v3_cross(A + 6, A, C + 3);
    lw_v3_cross(A, A + 3, C + 6);
    return lw_v3_dot(A, C);
}
/* The reciprocal basis of the directors. */
void lw_director_dual(const double *q, double dual[9]);
/* P_int'f: the force and torque of twelve components f. And back: the f with P_int'f = (0; torque). */
void lw_director_wrench(const double *q, const double f[12], double wrench[6]);
void lw_director_lift(const double *q, const double torque[3], double f[12]);
/* The rotation w of a body in a step: d_n+1 - d_n = w x d_n+1/2 for all three directors. */
void lw_director_turn(const double *middle, const double *change, double w[3]);
/* The derivative of w by the coordinates at the end, 3 numbers for each of 12. */
void lw_director_turn_slope(const double *middle, const double *change, const double w[3], double slope[36]);

/* --- measures ------------------------------------------------------------------------------------- */

/* The product (fixed + sum a q) . (sum b q), with sums over two bodies. */
typedef struct lw_bilinear {
    bool has_a[2], has_b[2]; /* the coefficients are not all zero */
    double a[2][4], b[2][4], fixed[3];
} lw_bilinear;

typedef enum lw_measure_kind {
    LW_MEASURE_PRODUCT = 0,
    LW_MEASURE_ANGLE,  /* the angle whose cosine is c and whose sine is s */
    LW_MEASURE_LENGTH, /* the square root of c */
    LW_MEASURE_MOVING  /* a product that changes with time, too: c in the middle, s at the end of the step */
} lw_measure_kind;

typedef struct lw_measure { /* What every pass over the measures reads stands first. */
    lw_measure_kind kind;
    int bodies[2];
    int angle;               /* for an angle, its number among those that the state remembers; else -1 */
    int block[4];            /* blocks (body, body) of Newton's matrix, -1 for ground */
    double sign;             /* factor of the whole: +1 or -1 */
    double from, to;         /* one step: values at its begin and end */
    double force, stiffness; /* h times the forces against the measure, and their derivative by `to` */
    double element;          /* the force of elements alone */
    double curve_c, curve_s;
    /* 24 numbers each, 12 per body: the discrete derivative D, the gradient `slope` at the end of the step,
     * and `bend` = dD/dto. The derivative of D by the coordinates at the end is (curve_c c'' + curve_s s'') /
     * 2 + bend slope'. */
    double *D, *slope, *bend;
    lw_bilinear c, s;
} lw_measure;

/* The value at q (12 numbers per body, ground first). Of an angle: in the turn nearest to `near`. */
double lw_measure_value(const lw_measure *measure, const double *q, double near);
/* The gradient at q. */
void lw_measure_slope(const lw_measure *measure, const double *q, double slope[24]);
/* Called once, when the vectors of a measure are known. */
void lw_measure_finish(lw_measure *measure);
/* Evaluates a measure for a step from q0 to q1, where `from` is its value at q0. Without slopes, slope and
 * bend keep their values. */
void lw_measure_step(lw_measure *measure, double from, const double *q0, const double *q1, bool slopes);
/* The product of D and a change of coordinates. */
double lw_measure_along(const double D[24], const int bodies[2], const double *change);

#endif
