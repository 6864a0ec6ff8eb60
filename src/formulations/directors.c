/* directors.c - director coordinates of bodies, and measures with their discrete derivatives.
 *
 *   E = tr(J) I / 2 - J                    Euler tensor from the inertia about the centre of mass (158)
 *   M = diag(m I, E_1 I, E_2 I, E_3 I)     (23)
 *   P_int(q) (v; w) = (v, w x d_k)         (29);   P_int'f = (f_0; sum d_k x f_k)
 *
 * Discrete derivatives (docs/theory/director.md, 3), D at the middle qm of q0 and q1:
 *   product    grad(qm)
 *   length l   grad(l^2)(qm) / (l0 + l1)
 *   angle      (e / (2 sin(e/2))) (cos m grad s(qm) - sin m grad c(qm)),  e the change, m the mean of both angles
 *
 * Source   Betsch and Leyendecker (2006), eqs 16-37; angles and lengths are ours.
 * Cost     O(1) each, no allocation.
 */
#include "formulations/directors.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* --- bodies --------------------------------------------------------------------------------------- */

void lw_director_vector(const lw_director_body *body, const double internal[3], double out[4]) {
    out[0] = 0;
    lw_m3_tmul_v(body->axes, internal, out + 1);
}

void lw_director_point(const lw_director_body *body, const double internal[3], double out[4]) {
    double arm[3];
    lw_v3_sub(internal, body->com, arm);
    lw_director_vector(body, arm, out);
    out[0] = 1;
}

/* Principal axes of a symmetric matrix by Jacobi rotations; axes of one that is diagonal stay as they are. */
static void principal_axes(double S[6], double axes[9]) {
    double A[9] = {S[0], S[3], S[4], S[3], S[1], S[5], S[4], S[5], S[2]};
    double size = fabs(S[0]) + fabs(S[1]) + fabs(S[2]);
    lw_m3_identity(axes);
    for (int sweep = 0; sweep < 50; sweep++) {
        if (fabs(A[1]) + fabs(A[2]) + fabs(A[5]) <= 1e-16 * size) break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[3 * p + q] == 0) continue;
                double theta = (A[4 * q] - A[4 * p]) / (2 * A[3 * p + q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(1 + theta * theta));
                double c = 1 / sqrt(1 + t * t), s = c * t;
                for (int k = 0; k < 3; k++) { /* A G, then G'(A G); axes G */
                    double x = A[3 * k + p], y = A[3 * k + q];
                    A[3 * k + p] = c * x - s * y, A[3 * k + q] = s * x + c * y;
                    x = axes[3 * k + p], y = axes[3 * k + q];
                    axes[3 * k + p] = c * x - s * y, axes[3 * k + q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = A[3 * p + k], y = A[3 * q + k];
                    A[3 * p + k] = c * x - s * y, A[3 * q + k] = s * x + c * y;
                }
            }
    }
    for (int k = 0; k < 3; k++) S[k] = A[4 * k];
}

void lw_director_body_of(const lw_model *model, int i, lw_director_body *out) {
    *out = (lw_director_body){0};
    lw_m3_identity(out->axes);
    if (i == 0) return;
    const lw_rigid_inertia *I = &model->links[i].inertia;
    const double *c = model->bodies[i].com, m = I->mass, square = lw_v3_dot(c, c);
    double J[6], E[6];
    for (int k = 0; k < 3; k++) J[k] = I->second[k] - m * (square - c[k] * c[k]);
    J[3] = I->second[3] + m * c[0] * c[1];
    J[4] = I->second[4] + m * c[0] * c[2];
    J[5] = I->second[5] + m * c[1] * c[2];
    double half = 0.5 * (J[0] + J[1] + J[2]);
    for (int k = 0; k < 6; k++) E[k] = (k < 3 ? half : 0) - J[k];
    /* what the shift to the centre of mass leaves of nothing is rounding, and would tilt the axes */
    double rounding = 1e-15 * (I->second[0] + I->second[1] + I->second[2]);
    for (int k = 3; k < 6; k++)
        if (fabs(E[k]) < rounding) E[k] = 0;
    principal_axes(E, out->axes);
    out->mass = m;
    lw_v3_copy(E, out->euler);
    lw_v3_copy(c, out->com);
}

void lw_director_from_pose(const lw_director_body *body, const double R[9], const double centre[3],
                           double *q) {
    double A[9];
    lw_m3_mul(R, body->axes, A);
    lw_v3_copy(centre, q);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) q[3 + 3 * k + i] = A[3 * i + k];
}

void lw_director_rates(const double *q, const double V[6], double *v) {
    lw_v3_copy(V + 3, v);
    for (int k = 1; k < 4; k++) lw_v3_cross(V, q + 3 * k, v + 3 * k);
}

void lw_director_rotation(const lw_director_body *body, const double *q, double R[9]) {
    double A[9], X[9], best[9];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) A[3 * i + k] = q[3 + 3 * k + i];
    /* the polar factor by Newton's iteration with inverse transposes; directors are nearly orthonormal */
    memcpy(best, A, sizeof best);
    for (int round = 0; round < 8; round++) {
        double change = 0;
        lw_v3_cross(best + 3, best + 6, X);
        lw_v3_cross(best + 6, best, X + 3);
        lw_v3_cross(best, best + 3, X + 6);
        double det = lw_v3_dot(best, X);
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * (best[k] + X[k] / det);
            change = fmax(change, fabs(next - best[k]));
            best[k] = next;
        }
        if (!(change > 1e-15)) break;
    }
    lw_m3_transpose(body->axes, X);
    lw_m3_mul(best, X, R);
}

void lw_director_spin(const lw_director_body *body, const double *q, const double *v, double momentum[3],
                      double inertia[6]) {
    lw_v3_set(momentum, 0, 0, 0);
    memset(inertia, 0, 6 * sizeof *inertia);
    for (int k = 0; k < 3; k++) {
        const double *d = q + 3 + 3 * k, E = body->euler[k];
        double part[3], square = lw_v3_dot(d, d);
        lw_v3_cross(d, v + 3 + 3 * k, part);
        lw_v3_axpy(E, part, momentum);
        for (int i = 0; i < 3; i++) inertia[i] += E * (square - d[i] * d[i]);
        inertia[3] -= E * d[0] * d[1], inertia[4] -= E * d[0] * d[2], inertia[5] -= E * d[1] * d[2];
    }
}

void lw_director_wrench(const double *q, const double f[12], double wrench[6]) {
    lw_v3_copy(f, wrench);
    lw_v3_set(wrench + 3, 0, 0, 0);
    for (int k = 1; k < 4; k++) lw_v3_add_cross(q + 3 * k, f + 3 * k, wrench + 3);
}

void lw_director_dual(const double *q, double dual[9]) {
    const double *d = q + 3;
    lw_v3_cross(d + 3, d + 6, dual);
    lw_v3_cross(d + 6, d, dual + 3);
    lw_v3_cross(d, d + 3, dual + 6);
    double volume = lw_v3_dot(d, dual);
    for (int k = 0; k < 9; k++) dual[k] /= volume;
}

void lw_director_lift(const double *q, const double torque[3], double f[12]) {
    double dual[9];
    lw_director_dual(q, dual);
    lw_v3_set(f, 0, 0, 0);
    for (int k = 0; k < 3; k++) {
        lw_v3_cross(torque, dual + 3 * k, f + 3 + 3 * k);
        for (int i = 0; i < 3; i++) f[3 + 3 * k + i] *= 0.5;
    }
}

void lw_director_turn(const double *middle, const double *change, double w[3]) {
    /* sum d x (w x d) = sum d x change:  K w = b with K = sum (|d|^2 I - d d') */
    double b[3] = {0, 0, 0}, K[9] = {0}, C[9];
    for (int k = 1; k < 4; k++) {
        const double *d = middle + 3 * k, square = lw_v3_dot(d, d);
        lw_v3_add_cross(d, change + 3 * k, b);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) K[3 * i + j] += (i == j ? square : 0) - d[i] * d[j];
    }
    lw_v3_cross(K + 3, K + 6, C);
    lw_v3_cross(K + 6, K, C + 3);
    lw_v3_cross(K, K + 3, C + 6);
    double det = lw_v3_dot(K, C);
    for (int i = 0; i < 3; i++) w[i] = (C[i] * b[0] + C[3 + i] * b[1] + C[6 + i] * b[2]) / det;
}

/* --- measures ------------------------------------------------------------------------------------- */

static void factors(const lw_bilinear *p, const int bodies[2], const double *q, double a[3], double b[3]) {
    const double *one = q + 12 * bodies[0], *two = q + 12 * bodies[1];
    double x[3], y[3];
    lw_director_combine(p->a[0], one, x);
    lw_director_combine(p->a[1], two, y);
    for (int k = 0; k < 3; k++) a[k] = p->fixed[k] + x[k] + y[k];
    lw_director_combine(p->b[0], one, x);
    lw_director_combine(p->b[1], two, y);
    lw_v3_add(x, y, b);
}

static double product(const lw_bilinear *p, const int bodies[2], const double *q) {
    double a[3], b[3];
    factors(p, bodies, q, a, b);
    return lw_v3_dot(a, b);
}

/* out += factor grad. */
static void add_gradient(const lw_bilinear *p, const int bodies[2], const double *q, double factor,
                         double out[24]) {
    double a[3], b[3];
    factors(p, bodies, q, a, b);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 4; k++)
            for (int i = 0; i < 3; i++)
                out[12 * side + 3 * k + i] += factor * (p->a[side][k] * b[i] + p->b[side][k] * a[i]);
}

static double nearest(double angle, double near) {
    double turns = round((near - angle) / (2 * LW_PI));
    return isfinite(turns) ? angle + 2 * LW_PI * turns : angle;
}

double lw_measure_value(const lw_measure *m, const double *q, double near) {
    double c = product(&m->c, m->bodies, q);
    switch (m->kind) {
    case LW_MEASURE_ANGLE:
        return nearest(m->sign * atan2(product(&m->s, m->bodies, q), c), near);
    case LW_MEASURE_LENGTH:
        return m->sign * sqrt(fmax(c, 0));
    case LW_MEASURE_MOVING:
        return m->sign * product(&m->s, m->bodies, q);
    case LW_MEASURE_PRODUCT:
        break;
    }
    return m->sign * c;
}

void lw_measure_slope(const lw_measure *m, const double *q, double slope[24]) {
    memset(slope, 0, 24 * sizeof *slope);
    double c = product(&m->c, m->bodies, q);
    if (m->kind == LW_MEASURE_ANGLE) {
        double s = product(&m->s, m->bodies, q), square = c * c + s * s;
        add_gradient(&m->s, m->bodies, q, m->sign * c / square, slope);
        add_gradient(&m->c, m->bodies, q, -m->sign * s / square, slope);
    } else if (m->kind == LW_MEASURE_LENGTH) {
        double length = sqrt(fmax(c, 0));
        if (length > 0) add_gradient(&m->c, m->bodies, q, m->sign * 0.5 / length, slope);
    } else
        add_gradient(m->kind == LW_MEASURE_MOVING ? &m->s : &m->c, m->bodies, q, m->sign, slope);
}

/* Change of an angle from (c0, s0) to (c1, s1), within half a turn. */
static void angle_step(lw_measure *m, const double *q0, const double *qm, const double *q1) {
    double c0 = product(&m->c, m->bodies, q0), s0 = product(&m->s, m->bodies, q0);
    double c1 = product(&m->c, m->bodies, q1), s1 = product(&m->s, m->bodies, q1);
    double change = atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0), mean = atan2(s0, c0) + 0.5 * change;
    double half = 0.5 * change, e2 = half * half;
    /* f = half / sin(half) and its derivative by the change; series below 1e-2: error 1e-14 */
    double f = fabs(half) < 1e-2 ? 1 + e2 / 6 + 7 * e2 * e2 / 360 : half / sin(half);
    double slope = fabs(half) < 1e-2 ? half / 6 + 7 * half * e2 / 180
                                     : 0.5 * (sin(half) - half * cos(half)) / (sin(half) * sin(half));
    double cosine = cos(mean), sine = sin(mean);
    m->to = m->from + m->sign * change;
    m->curve_c = -m->sign * f * sine, m->curve_s = m->sign * f * cosine;
    add_gradient(&m->c, m->bodies, qm, m->curve_c, m->D);
    add_gradient(&m->s, m->bodies, qm, m->curve_s, m->D);
    add_gradient(&m->c, m->bodies, qm, -slope * sine - 0.5 * f * cosine, m->bend);
    add_gradient(&m->s, m->bodies, qm, slope * cosine - 0.5 * f * sine, m->bend);
}

void lw_measure_step(lw_measure *m, double from, const double *q0, const double *qm, const double *q1) {
    memset(m->D, 0, sizeof m->D);
    memset(m->bend, 0, sizeof m->bend);
    m->from = from;
    m->curve_s = 0;
    lw_measure_slope(m, q1, m->slope);
    if (m->kind == LW_MEASURE_ANGLE) {
        angle_step(m, q0, qm, q1);
        return;
    }
    m->to = lw_measure_value(m, q1, 0);
    m->curve_c = m->sign;
    if (m->kind == LW_MEASURE_LENGTH) {
        double sum = fabs(m->from) + fabs(m->to); /* points that coincide pull nowhere */
        m->curve_c = sum > 0 ? m->sign / sum : 0;
        add_gradient(&m->c, m->bodies, qm, m->curve_c, m->D);
        for (int k = 0; k < 24 && sum > 0; k++) m->bend[k] = -m->sign * m->D[k] / sum;
        return;
    }
    add_gradient(&m->c, m->bodies, qm, m->sign, m->D);
}

double lw_measure_along(const double D[24], const int bodies[2], const double *change) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 12; k++) sum += D[12 * side + k] * change[12 * bodies[side] + k];
    return sum;
}
