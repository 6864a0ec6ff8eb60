/* director_coordinates.c - director coordinates of bodies, and measures with their discrete derivatives.
 *
 *   E = tr(J) I / 2 - J                    Euler tensor from the inertia about the centre of mass (158)
 *   M = diag(m I, E_1 I, E_2 I, E_3 I)     (23)
 *   P_int(q) (v; w) = (v, w x d_k)         (29);   P_int'f = (f_0; sum d_k x f_k)
 *
 * Discrete derivatives (docs/theory/director.md, 3), D at the middle qm of q0 and q1:
 *   product    grad(qm)
 *   length l   grad(l^2)(qm) / (l0 + l1)
 *   angle      (e / (2 sin(e/2))) (cos m grad s(qm) - sin m grad c(qm)),  e = change, m = mean of both angles
 *
 * Source   Betsch and Leyendecker (2006), eqs 16-37; angles and lengths are ours.
 * Cost     O(1) each, no allocation.
 */
#include "formulations/director/director_coordinates.h"
#include "linalg/small.h"
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
    /* Products that the shift to the centre of mass leaves are rounding if they are this small; they would
     * tilt the axes. */
    double rounding = 1e-15 * (I->second[0] + I->second[1] + I->second[2]);
    for (int k = 3; k < 6; k++)
        if (fabs(E[k]) < rounding) E[k] = 0;
    lw_s3_axes(E, out->euler, out->axes);
    out->mass = m;
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

void lw_director_polar(const double A[9], double out[9]) {
    double X[9]; /* Newton's iteration with inverse transposes */
    memcpy(out, A, 9 * sizeof *out);
    for (int round = 0; round < 8; round++) {
        double change = 0;
        double det = lw_cofactors(out, X);
        for (int k = 0; k < 9; k++) {
            double next = 0.5 * (out[k] + X[k] / det);
            change = fmax(change, fabs(next - out[k]));
            out[k] = next;
        }
        if (!(change > 1e-15)) break;
    }
}

void lw_director_rotation(const lw_director_body *body, const double *q, double R[9]) {
    double A[9], axes[9], best[9];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) A[3 * i + k] = q[3 + 3 * k + i];
    lw_director_polar(A, best);
    lw_m3_transpose(body->axes, axes);
    lw_m3_mul(best, axes, R);
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
    double volume = lw_cofactors(q + 3, dual);
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

/* Inverse of K = sum (|d|^2 I - d d'), which is symmetric. */
static void turn_inverse(const double *middle, double C[9]) {
    double K[9] = {0};
    for (int k = 1; k < 4; k++) {
        const double *d = middle + 3 * k, square = lw_v3_dot(d, d);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) K[3 * i + j] += (i == j ? square : 0) - d[i] * d[j];
    }
    double det = lw_cofactors(K, C);
    for (int i = 0; i < 9; i++) C[i] /= det;
}

void lw_director_turn(const double *middle, const double *change, double w[3]) {
    double b[3] = {0, 0, 0}, C[9]; /* K w = sum d x change */
    for (int k = 3; k < 12; k += 3) lw_v3_add_cross(middle + k, change + k, b);
    turn_inverse(middle, C);
    lw_m3_mul_v(C, b, w);
}

void lw_director_turn_slope(const double *middle, const double *change, const double w[3], double slope[36]) {
    double C[9];
    /* K dw = sum (d x dx + dx x change / 2 - (d.dx) w + (d.w) dx / 2 + (w.dx) d / 2) for dx of an end */
    turn_inverse(middle, C);
    memset(slope, 0, 9 * sizeof *slope);
    for (int k = 3; k < 12; k += 3) {
        const double *d = middle + k, along = 0.5 * lw_v3_dot(d, w);
        for (int j = 0; j < 3; j++) {
            double dx[3] = {0, 0, 0}, right[3];
            dx[j] = 1;
            for (int i = 0; i < 3; i++) right[i] = -d[j] * w[i] + along * dx[i] + 0.5 * w[j] * d[i];
            lw_v3_add_cross(d, dx, right);
            dx[j] = 0.5;
            lw_v3_add_cross(dx, change + k, right);
            lw_m3_mul_v(C, right, slope + 3 * (k + j));
        }
    }
}

/* --- measures ------------------------------------------------------------------------------------- */

static bool any(const double c[4]) { return c[0] != 0 || c[1] != 0 || c[2] != 0 || c[3] != 0; }

void lw_measure_finish(lw_measure *m) {
    for (int k = 0; k < 2; k++) {
        lw_bilinear *p = k ? &m->s : &m->c;
        for (int side = 0; side < 2; side++) {
            bool moves = m->kind == LW_MEASURE_MOVING && side == 0; /* Its vector is set in every step. */
            p->has_a[side] = moves || any(p->a[side]);
            p->has_b[side] = any(p->b[side]);
        }
    }
}

/* Both vectors of a product. */
typedef struct factors {
    double a[3], b[3];
} factors;

static inline void add_combination(const double c[4], const double *q, double out[3]) {
    for (int k = 0; k < 3; k++) out[k] += c[0] * q[k] + c[1] * q[3 + k] + c[2] * q[6 + k] + c[3] * q[9 + k];
}

static inline factors factors_at(const lw_bilinear *p, const int bodies[2], const double *q) {
    factors f = {{p->fixed[0], p->fixed[1], p->fixed[2]}, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        if (p->has_a[side]) add_combination(p->a[side], q + 12 * bodies[side], f.a);
        if (p->has_b[side]) add_combination(p->b[side], q + 12 * bodies[side], f.b);
    }
    return f;
}

/* The factors are linear in q, so that their mean is their value in the middle. */
static inline factors halfway(const factors *x, const factors *y) {
    factors f;
    for (int k = 0; k < 3; k++) f.a[k] = 0.5 * (x->a[k] + y->a[k]), f.b[k] = 0.5 * (x->b[k] + y->b[k]);
    return f;
}

static double product(const lw_bilinear *p, const int bodies[2], const double *q) {
    factors f = factors_at(p, bodies, q);
    return lw_v3_dot(f.a, f.b);
}

/* out += factor grad. */
static inline void add_gradient(const lw_bilinear *p, const factors *f, double factor, double out[24]) {
    double a[3], b[3];
    for (int i = 0; i < 3; i++) a[i] = factor * f->a[i], b[i] = factor * f->b[i];
    for (int side = 0; side < 2; side++) {
        double *own = out + 12 * side;
        for (int k = 0; k < 4 && p->has_a[side]; k++) lw_v3_axpy(p->a[side][k], b, own + 3 * k);
        for (int k = 0; k < 4 && p->has_b[side]; k++) lw_v3_axpy(p->b[side][k], a, own + 3 * k);
    }
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

/* The gradient of a measure, from the factors of c and s. */
static void slope_at(const lw_measure *m, const factors *fc, const factors *fs, double slope[24]) {
    memset(slope, 0, 24 * sizeof *slope);
    if (m->kind == LW_MEASURE_MOVING) {
        add_gradient(&m->s, fs, m->sign, slope);
        return;
    }
    if (m->kind == LW_MEASURE_PRODUCT) {
        add_gradient(&m->c, fc, m->sign, slope);
        return;
    }
    double c = lw_v3_dot(fc->a, fc->b);
    if (m->kind == LW_MEASURE_ANGLE) {
        double s = lw_v3_dot(fs->a, fs->b), square = c * c + s * s;
        add_gradient(&m->s, fs, m->sign * c / square, slope);
        add_gradient(&m->c, fc, -m->sign * s / square, slope);
    } else if (c > 0)
        add_gradient(&m->c, fc, m->sign * 0.5 / sqrt(c), slope);
}

static bool has_sine(const lw_measure *m) {
    return m->kind == LW_MEASURE_ANGLE || m->kind == LW_MEASURE_MOVING;
}

void lw_measure_slope(const lw_measure *m, const double *q, double slope[24]) {
    factors c = factors_at(&m->c, m->bodies, q), s = {0};
    if (has_sine(m)) s = factors_at(&m->s, m->bodies, q);
    slope_at(m, &c, &s, slope);
}

/* Change of an angle from (c0, s0) to (c1, s1), within half a turn. */
static void angle_step(lw_measure *m, const factors c[2], const factors s[2], bool slopes) {
    double c0 = lw_v3_dot(c[0].a, c[0].b), s0 = lw_v3_dot(s[0].a, s[0].b);
    double c1 = lw_v3_dot(c[1].a, c[1].b), s1 = lw_v3_dot(s[1].a, s[1].b);
    factors cm = halfway(&c[0], &c[1]), sm = halfway(&s[0], &s[1]);
    double change = atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0), half = 0.5 * change, e2 = half * half;
    double sh = sin(half), ch = cos(half), size = sqrt(c0 * c0 + s0 * s0);
    double cosine = (c0 * ch - s0 * sh) / size, sine = (s0 * ch + c0 * sh) / size; /* of the mean */
    /* f = half / sin(half) and its derivative by the change; series below 1e-2: error 1e-14 */
    double f = fabs(half) < 1e-2 ? 1 + e2 / 6 + 7 * e2 * e2 / 360 : half / sh;
    m->to = m->from + m->sign * change;
    m->curve_c = -m->sign * f * sine, m->curve_s = m->sign * f * cosine;
    add_gradient(&m->c, &cm, m->curve_c, m->D);
    add_gradient(&m->s, &sm, m->curve_s, m->D);
    if (!slopes) return;
    double slope = fabs(half) < 1e-2 ? half / 6 + 7 * half * e2 / 180 : 0.5 * (sh - half * ch) / (sh * sh);
    memset(m->bend, 0, 24 * sizeof *m->bend);
    add_gradient(&m->c, &cm, -slope * sine - 0.5 * f * cosine, m->bend);
    add_gradient(&m->s, &sm, slope * cosine - 0.5 * f * sine, m->bend);
}

void lw_measure_step(lw_measure *m, double from, const double *q0, const double *q1, bool slopes) {
    const double *positions[2] = {q0, q1};
    factors c[2], s[2] = {{{0}, {0}}, {{0}, {0}}};
    for (int end = 0; end < 2; end++) {
        c[end] = factors_at(&m->c, m->bodies, positions[end]);
        if (has_sine(m)) s[end] = factors_at(&m->s, m->bodies, positions[end]);
    }
    m->from = from;
    memset(m->D, 0, 24 * sizeof *m->D);
    if (slopes) slope_at(m, &c[1], &s[1], m->slope);
    if (m->kind == LW_MEASURE_ANGLE) {
        angle_step(m, c, s, slopes);
        return;
    }
    factors middle = halfway(&c[0], &c[1]);
    double value = lw_v3_dot(c[1].a, c[1].b);
    m->curve_c = m->sign;
    if (m->kind == LW_MEASURE_LENGTH) {
        m->to = m->sign * sqrt(fmax(value, 0));
        double sum = fabs(m->from) + fabs(m->to); /* Points that coincide have no direction. */
        m->curve_c = sum > 0 ? m->sign / sum : 0;
        add_gradient(&m->c, &middle, m->curve_c, m->D);
        for (int k = 0; k < 24 && slopes; k++) m->bend[k] = sum > 0 ? -m->sign * m->D[k] / sum : 0;
        return;
    }
    m->to = m->sign * (m->kind == LW_MEASURE_MOVING ? lw_v3_dot(s[1].a, s[1].b) : value);
    add_gradient(&m->c, &middle, m->sign, m->D);
    if (slopes)
        memset(m->bend, 0,
               24 * sizeof *m->bend); /* The recursive solver shares this memory between measures. */
}

double lw_measure_along(const double D[24], const int bodies[2], const double *change) {
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < 12; k++) sum += D[12 * side + k] * change[12 * bodies[side] + k];
    return sum;
}
