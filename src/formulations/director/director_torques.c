/* director_torques.c - torques on rotations that have no coordinate: two bodies against each other, and their
 * derivatives.
 *
 * Each body has a rotation w_i in the step, d1 - d0 = w_i x d_m. With the relative rotation w = w_2 - w_1 a
 * torque T between the bodies does the work T.w.
 *
 *   about an axis a of the second body    T = tau(a.w / h) a, a in the middle of the step
 *   damping of a bushing                  T = - sum C_k (a_k.w / h) a_k, a_k of the first frame in the middle
 *   stiffness of a bushing                T = T_m + c w,   c = (U_0 - U_1 - w.T_m) / |w|^2
 *
 * The last is Gonzalez' discrete derivative. U = sum k phi^2 / 2 with the rotation vector phi of the second
 * frame in the first. In the axes of the second frame the torque is F = J^-T(phi) (-k phi), with J the right
 * Jacobian of SO(3):
 *
 *   J^-T x = x - phi x x / 2 + g phi x (phi x x),   g = 1 / a^2 - 1 / (2 a tan(a / 2)),   a = |phi|
 *
 * The mean of F at both ends does its work to third order in w, however far both bodies turn together, if
 *
 *   T_m = s sum (F_0 + F_1)_i / 2  b_i,      s = 1 / (1 + w_1.w_2 / 4)
 *
 * with the vectors b reciprocal to the axes of the second frame in the middle: w_1 and w_2 are Cayley
 * vectors, so that the relative rotation is that of s (w + w_2 x w / 2).
 *
 * Derivatives are by the directors of q1. director-full moves these freely, so all functions here are defined
 * for directors that need not be orthonormal: w by K(d_m) w = sum d_m x (d1 - d0) (director_coordinates.c),
 * phi by the rotation nearest to the products R_ij of both frames' axes. Neither notices a small stretch,
 * which c would divide by |w|.
 *
 * Source   docs/theory/director.md, 5 and 6.
 * Cost     O(1) each, no allocation.
 */
#include "formulations/director/director_parts.h"

#include <math.h>
#include <string.h>

/* --- a couple ------------------------------------------------------------------------------------- */

void lw_director_relative_turn(const lw_director *d, const int bodies[2], double w[3], lw_couple *couple) {
    double own[2][3] = {{0, 0, 0}, {0, 0, 0}};
    if (couple) memset(couple->turn, 0, sizeof couple->turn);
    for (int side = 0; side < 2; side++) {
        int i = bodies[side];
        if (i == 0) continue;
        lw_director_turn(d->step.qm + 12 * i, d->step.change + 12 * i, own[side]);
        if (!couple) continue;
        lw_director_turn_slope(d->step.qm + 12 * i, d->step.change + 12 * i, own[side], couple->turn[side]);
        for (int k = 0; k < 36 && side == 0; k++) couple->turn[0][k] = -couple->turn[0][k];
    }
    lw_v3_sub(own[1], own[0], w);
}

/* slope += x y', where y is a row of derivatives by q1 of one body. */
static void add_outer(const double x[3], const double y[12], double slope[36]) {
    for (int b = 0; b < 12; b++)
        for (int a = 0; a < 3; a++) slope[a + 3 * b] += x[a] * y[b];
}

/* out = x' turn, the derivative of x.w. */
static void along_turn(const double x[3], const double turn[36], double out[12]) {
    for (int b = 0; b < 12; b++) out[b] = lw_v3_dot(x, turn + 3 * b);
}

/* Adds factor times the derivative of an axis, a combination of one body's coordinates. */
static void add_axis(const double axis[4], double factor, double slope[36]) {
    for (int k = 0; k < 4; k++)
        for (int a = 0; a < 3; a++) slope[a + 3 * (3 * k + a)] += factor * axis[k];
}

void lw_director_add_about(const double axis[4], int side, const double a[3], const double w[3], double tau,
                           double slope, lw_couple *couple) {
    for (int body = 0; body < 2; body++) {
        double row[12], push[3];
        along_turn(a, couple->turn[body], row);
        for (int k = 0; k < 4 && body == side;
             k++) /* In the middle the axis moves half as far as at the end. */
            lw_v3_axpy(0.5 * axis[k], w, row + 3 * k);
        for (int i = 0; i < 3; i++) push[i] = slope * a[i];
        add_outer(push, row, couple->slope[body]);
    }
    add_axis(axis, 0.5 * tau, couple->slope[side]);
}

void lw_director_add_couple(lw_director *d, const int bodies[2], const int blocks[4], const double T[3],
                            const lw_couple *couple) {
    double opposite[3] = {-T[0], -T[1], -T[2]}, minus[36];
    lw_director_add_torque(d, bodies[1], T, couple != NULL);
    lw_director_add_torque(d, bodies[0], opposite, couple != NULL);
    for (int side = 0; side < 2 && couple; side++) {
        for (int k = 0; k < 36; k++) minus[k] = -couple->slope[side][k];
        lw_director_add_torque_slope(d, bodies[0], bodies[side], blocks[side], minus);
        lw_director_add_torque_slope(d, bodies[1], bodies[side], blocks[2 + side], couple->slope[side]);
    }
}

/* --- rotation of a bushing ------------------------------------------------------------------------ */

/* Frames of a bushing at q: combinations, and axes in the world. */
typedef struct corners {
    double vector[2][3][4], axis[2][3][3];
} corners;

static void corners_at(const lw_director *d, const lw_force *force, const double *q, corners *c) {
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 3; k++) {
            const double *R = force->frames[side].R, internal[3] = {R[k], R[3 + k], R[6 + k]};
            lw_director_vector(&d->bodies[force->bodies[side]], internal, c->vector[side][k]);
            lw_director_combine(c->vector[side][k], q + 12 * force->bodies[side], c->axis[side][k]);
        }
}

/* g(a^2) and its derivative; below 1/4 by their series, |B_2n| / (2n)! a^(2n - 2). */
static double coefficient(double a2, double *slope) {
    static const double series[6] = {1.0 / 12,      1.0 / 720,      1.0 / 30240,
                                     1.0 / 1209600, 1.0 / 47900160, 691 / 1307674368000.0};
    double g = 0;
    *slope = 0;
    if (a2 < 0.0625) {
        for (int k = 5; k >= 0; k--) {
            g = series[k] + a2 * g;
            if (k > 0) *slope = k * series[k] + a2 * *slope;
        }
        return g;
    }
    double a = sqrt(a2), tangent = tan(0.5 * a), sine = sin(0.5 * a);
    *slope = (-2 / a2 + 0.5 / (a * tangent) + 0.25 / (sine * sine)) / (2 * a2);
    return 1 / a2 - 0.5 / (a * tangent);
}

/* F = J^-T(phi) (-k phi), the torque in the second frame's axes, and (unless NULL) dF/dphi. */
static void local_torque(const double k[3], const double phi[3], double F[3], double slope[3][3]) {
    double x[3], first[3], second[3], bend, g = coefficient(lw_v3_dot(phi, phi), &bend);
    for (int i = 0; i < 3; i++) x[i] = -k[i] * phi[i];
    lw_v3_cross(phi, x, first);
    lw_v3_cross(phi, first, second);
    for (int i = 0; i < 3; i++) F[i] = x[i] - 0.5 * first[i] + g * second[i];
    for (int j = 0; j < 3 && slope; j++) {
        double e[3] = {0, 0, 0}, dx[3] = {0, 0, 0}, df[3], ds[3];
        e[j] = 1, dx[j] = -k[j];
        lw_v3_cross(e, x, df);
        lw_v3_add_cross(phi, dx, df);
        lw_v3_cross(e, first, ds);
        lw_v3_add_cross(phi, df, ds);
        for (int i = 0; i < 3; i++)
            slope[i][j] = dx[i] - 0.5 * df[i] + g * ds[i] + 2 * bend * phi[j] * second[i];
    }
}

/* x = J^-1(phi) x = x + phi x x / 2 + g phi x (phi x x). */
static void inverse_jacobian(const double phi[3], double x[3]) {
    double first[3], second[3], bend, g = coefficient(lw_v3_dot(phi, phi), &bend);
    lw_v3_cross(phi, x, first);
    lw_v3_cross(phi, first, second);
    for (int i = 0; i < 3; i++) x[i] += 0.5 * first[i] + g * second[i];
}

/* Derivative of phi by the q of one body. The products of axes are R = U H, U the rotation; with dU = U w~
 * their change says (tr(H) I - H) w = axial part of U'dR - dR'U, and dphi = J^-1 w. Of R moves one factor,
 * U'dR = p q', whose part is q x p. */
static void phi_slope_of(const corners *c, int side, const double R[9], const double U[9],
                         const double phi[3], double slope[36]) {
    double H[9], K[9], C[9];
    lw_m3_tmul(U, R, H);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[3 * i + j] = (i == j ? H[0] + H[4] + H[8] : 0) - 0.5 * (H[3 * i + j] + H[3 * j + i]);
    double det = lw_cofactors(K, C);
    memset(slope, 0, 9 * sizeof *slope);
    for (int m = 1; m < 4; m++)
        for (int x = 0; x < 3; x++) {
            const double moves[3] = {c->vector[side][0][m], c->vector[side][1][m], c->vector[side][2][m]};
            const double other[3] = {c->axis[1 - side][0][x], c->axis[1 - side][1][x],
                                     c->axis[1 - side][2][x]};
            double p[3], part[3], *out = slope + 3 * (3 * m + x);
            lw_m3_tmul_v(U, side ? other : moves, p);
            lw_v3_cross(side ? moves : other, p, part);
            lw_m3_mul_v(C, part, out);
            for (int i = 0; i < 3; i++) out[i] /= det;
            inverse_jacobian(phi, out);
        }
}

/* phi and the torque F at q, in the second frame's axes; unless NULL also their derivatives by the q of both
 * bodies. */
static void bushing_at(const lw_director *d, const lw_force *force, const double *q, double phi[3],
                       double F[3], double phi_slope[2][36], double F_slope[2][36]) {
    corners c;
    double R[9], U[9], quaternion[4], by_phi[3][3];
    corners_at(d, force, q, &c);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = lw_v3_dot(c.axis[0][i], c.axis[1][j]);
    lw_director_polar(R, U);
    lw_quat_rot(U, quaternion);
    lw_quat_log(quaternion, phi);
    local_torque(force->bushing_stiffness + 3, phi, F, phi_slope ? by_phi : NULL);
    for (int side = 0; side < 2 && phi_slope; side++) {
        phi_slope_of(&c, side, R, U, phi, phi_slope[side]);
        for (int b = 0; b < 12; b++)
            for (int i = 0; i < 3; i++)
                F_slope[side][i + 3 * b] = lw_v3_dot(by_phi[i], phi_slope[side] + 3 * b);
    }
}

double lw_director_bushing_potential(const lw_director *d, const lw_force *force, const double *q) {
    double phi[3], F[3], U = 0;
    bushing_at(d, force, q, phi, F, NULL, NULL);
    for (int k = 0; k < 3; k++) U += 0.5 * force->bushing_stiffness[3 + k] * phi[k] * phi[k];
    return U;
}

/* T_m of the mean F; unless slope is NULL also its derivatives by the q1 of both bodies. */
static void middle_torque(const lw_director *d, const lw_force *force, const double F[3],
                          double F_slope[2][36], const lw_couple *couple, double T[3], double slope[2][36]) {
    double own[2][3] = {{0, 0, 0}, {0, 0, 0}}, reciprocal[3][3], sum[3] = {0, 0, 0};
    corners c;
    corners_at(d, force, d->step.qm, &c);
    for (int side = 0; side < 2; side++) {
        int i = force->bodies[side];
        if (i) lw_director_turn(d->step.qm + 12 * i, d->step.change + 12 * i, own[side]);
    }
    for (int i = 0; i < 3; i++) lw_v3_cross(c.axis[1][(i + 1) % 3], c.axis[1][(i + 2) % 3], reciprocal[i]);
    const double det = lw_v3_dot(c.axis[1][0], reciprocal[0]), s = 1 / (1 + 0.25 * lw_v3_dot(own[0], own[1]));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) reciprocal[i][k] /= det;
        lw_v3_axpy(F[i], reciprocal[i], sum);
    }
    for (int k = 0; k < 3; k++) T[k] = s * sum[k];
    for (int side = 0; side < 2 && slope; side++)
        for (int b = 0; b < 12; b++) {
            const double *turn = couple->turn[side] + 3 * b; /* the derivative of -w_1 or of w_2 */
            double *out = slope[side] + 3 * b, bend = 0.25 * s * lw_v3_dot(own[1 - side], turn);
            for (int k = 0; k < 3; k++) out[k] = (side ? -bend : bend) * T[k];
            for (int i = 0; i < 3; i++) {
                double change = 0.5 * s * F_slope[side][i + 3 * b];
                if (side == 1)
                    change -= 0.5 * c.vector[1][i][b / 3] * T[b % 3]; /* due to the axis in the middle */
                lw_v3_axpy(change, reciprocal[i], out);
            }
        }
}

/* Adds the torque of the stiffness. */
static void stiffness(const lw_director *d, const lw_force *force, const double w[3], double T[3],
                      lw_couple *couple) {
    const double *k = force->bushing_stiffness + 3;
    double before[3], after[3], phi[2][3], F[3], mean[3], missing = 0, c = 0;
    double phi_slope[2][36], F_slope[2][36], mean_slope[2][36];
    bushing_at(d, force, d->step.q0, phi[0], before, NULL, NULL);
    bushing_at(d, force, d->step.q1, phi[1], after, couple ? phi_slope : NULL, couple ? F_slope : NULL);
    for (int i = 0; i < 3; i++) F[i] = 0.5 * (before[i] + after[i]);
    middle_torque(d, force, F, F_slope, couple, mean, couple ? mean_slope : NULL);
    for (int i = 0; i < 3; i++)
        missing -= 0.5 * k[i] * (phi[1][i] - phi[0][i]) * (phi[1][i] + phi[0][i]) + mean[i] * w[i];
    /* The missing work is of third order in w. Below this it is rounding, and is not corrected. */
    double square = lw_v3_dot(w, w);
    bool corrected = square > 1e-11;
    if (corrected) c = missing / square;
    lw_v3_add(T, mean, T);
    lw_v3_axpy(c, w, T);
    for (int side = 0; side < 2 && couple; side++) {
        const double *turn = couple->turn[side];
        double *slope = couple->slope[side];
        for (int b = 0; b < 12; b++) {
            const double *dw = turn + 3 * b, *dT = mean_slope[side] + 3 * b, *dphi = phi_slope[side] + 3 * b;
            lw_v3_add(slope + 3 * b, dT, slope + 3 * b);
            if (!corrected) continue;
            double change = -lw_v3_dot(w, dT) - lw_v3_dot(mean, dw) - 2 * c * lw_v3_dot(w, dw);
            for (int i = 0; i < 3; i++) change -= k[i] * phi[1][i] * dphi[i];
            lw_v3_axpy(c, dw, slope + 3 * b);
            lw_v3_axpy(change / square, w, slope + 3 * b);
        }
    }
}

void lw_director_bushing_turn(lw_director *d, const lw_force *force, const int blocks[4], bool matrix) {
    const double *K = force->bushing_stiffness, *C = force->bushing_damping, h = d->step.h;
    bool stiff = K[3] != 0 || K[4] != 0 || K[5] != 0, damped = C[3] != 0 || C[4] != 0 || C[5] != 0;
    if (!stiff && !damped) return;
    lw_couple storage, *couple = matrix ? &storage : NULL;
    double w[3], T[3] = {0, 0, 0};
    if (couple) memset(couple->slope, 0, sizeof couple->slope);
    lw_director_relative_turn(d, force->bodies, w, couple);
    if (stiff) stiffness(d, force, w, T, couple);
    if (damped) {
        corners c;
        corners_at(d, force, d->step.qm, &c);
        for (int k = 0; k < 3; k++) {
            const double *a = c.axis[0][k], turn = lw_v3_dot(a, w), drag = -C[3 + k] * turn / h;
            lw_v3_axpy(drag, a, T);
            d->step.work.dissipation -= drag * turn;
            if (couple) lw_director_add_about(c.vector[0][k], 0, a, w, drag, -C[3 + k] / h, couple);
        }
    }
    lw_director_add_couple(d, force->bodies, blocks, T, couple);
}
