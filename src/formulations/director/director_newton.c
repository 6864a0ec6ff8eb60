/* director_newton.c - the discrete equations of a step and their derivative.
 *
 *   (2/h) M (q1 - q0) - 2 M v0 + h DV + h G(qm)'lambda = 0,   Phi(q1) = 0     (10), v1 = 2 (q1 - q0) / h - v0
 *
 * director-full solves these equations for increments of q1 and lambda. director multiplies the balance f of
 * each body by P_int(qm)', which leaves six equations, and moves the body by P_int(q1) times six increments
 * of its twist. Together with the rows of the joints Newton's direction is then that of the reduced scheme
 * (docs/theory/director.md, 6), and the matrix has the graph of the tree.
 *
 *   d(P_int'f) = P_int' df + (sum dd_k x f_k) / 2
 *
 * Source   Betsch and Leyendecker (2006), eqs 10-15, 39, 67-74.
 * Cost     O(bodies + rows + elements), no allocation.
 */
#include "formulations/director/director_parts.h"
#include "model/coupling.h"

#include <math.h>
#include <string.h>

/* --- contributions -------------------------------------------------------------------------------- */

/* block[0 .. 2][0 .. 2] += factor x~ y~ = factor (y x' - (x.y) I). */
static void add_cross_cross(double *block, int stride, double factor, const double x[3], const double y[3]) {
    double dot = lw_v3_dot(x, y);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) block[i + j * stride] += factor * (y[i] * x[j] - (i == j ? dot : 0));
}

/* block += factor x~. */
static void add_cross(double *block, int stride, double factor, const double x[3]) {
    block[0 + 1 * stride] -= factor * x[2], block[1 + 0 * stride] += factor * x[2];
    block[0 + 2 * stride] += factor * x[1], block[2 + 0 * stride] -= factor * x[1];
    block[1 + 2 * stride] -= factor * x[0], block[2 + 1 * stride] += factor * x[0];
}

void lw_director_add_product(lw_director *d, int i, int j, int block, const double p[4], const double r[4],
                             double factor) {
    if (i == 0 || j == 0 || factor == 0) return;
    int stride;
    double *A = d->solver->block(d, i, j, block, &stride);
    if (d->full) {
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int k = 0; k < 3; k++) A[3 * a + k + (3 * b + k) * stride] += factor * p[a] * r[b];
        return;
    }
    const double left[4] = {0, p[1], p[2], p[3]}, right[4] = {0, r[1], r[2], r[3]};
    double x[3], y[3];
    lw_director_combine(left, d->step.qm + 12 * i, x);
    lw_director_combine(right, d->step.q1 + 12 * j, y);
    for (int k = 0; k < 3; k++) A[k + k * stride] += factor * p[0] * r[0];
    add_cross(A + 3 * stride, stride, -factor * p[0], y);
    add_cross(A + 3, stride, factor * r[0], x);
    add_cross_cross(A + 3 + 3 * stride, stride, -factor, x, y);
}

/* Projects twelve components of a force or a gradient to the equations or unknowns of a body: none for
 * director-full, the six of P_int'f for director. */
static const double *project(const lw_director *d, const double *q, int body, const double f[12],
                             double wrench[6]) {
    if (d->full) return f;
    lw_director_wrench(q + 12 * body, f, wrench);
    return wrench;
}

void lw_director_add_torque(lw_director *d, int body, const double torque[3], bool matrix) {
    if (body == 0) return;
    if (!d->full) {
        lw_v3_axpy(-d->step.h, torque, d->step.torque + 3 * body);
        return;
    }
    const double *q = d->step.qm + 12 * body;
    double f[12], dual[9];
    lw_director_lift(q, torque, f);
    for (int k = 3; k < 12; k++) d->step.residual[12 * body + k] -= d->step.h * f[k];
    if (!matrix) return;
    int stride;
    double *A = lw_block_matrix_at(d->sparse.matrix, d->sparse.body_block[body], &stride);
    lw_director_dual(q, dual);
    for (int I = 0; I < 3; I++) /* df_I = - sum f_J (d^I . dd_J), dd_J half the change of the end */
        for (int J = 0; J < 3; J++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    A[3 + 3 * I + a + (3 + 3 * J + b) * stride] +=
                        0.5 * d->step.h * f[3 + 3 * J + a] * dual[3 * I + b];
}

void lw_director_add_torque_slope(lw_director *d, int body, int other, int block, const double slope[36]) {
    if (body == 0 || other == 0) return;
    int stride;
    double *A = d->solver->block(d, body, other, block, &stride), dual[9], part[3];
    if (!d->full) { /* The derivative by the twist of the other body is slope P_int. */
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++) A[3 + a + b * stride] -= d->step.h * slope[a + 3 * b];
        for (int a = 0; a < 3; a++) {
            lw_v3_set(part, 0, 0, 0);
            for (int k = 3; k < 12; k += 3) {
                const double row[3] = {slope[a + 3 * k], slope[a + 3 * k + 3], slope[a + 3 * k + 6]};
                lw_v3_add_cross(d->step.q1 + 12 * other + k, row, part);
            }
            for (int b = 0; b < 3; b++) A[3 + a + (3 + b) * stride] -= d->step.h * part[b];
        }
        return;
    }
    lw_director_dual(d->step.qm + 12 * body, dual);
    for (int I = 0; I < 3; I++)
        for (int b = 0; b < 12; b++) {
            lw_v3_cross(slope + 3 * b, dual + 3 * I, part);
            for (int a = 0; a < 3; a++) A[3 + 3 * I + a + b * stride] -= 0.5 * d->step.h * part[a];
        }
}

void lw_director_add_measure(lw_director *d, const lw_measure *m, bool matrix) {
    if (m->force == 0 && m->stiffness == 0) return;
    bool exact = !matrix && !d->full;
    for (int side = 0; side < 2; side++)
        for (int k = 0, at = 12 * m->bodies[side]; k < 12 && at; k++) {
            if (exact)
                d->step.exact[at + k] += (long double)m->force * m->D[12 * side + k];
            else
                d->step.residual[at + k] += m->force * m->D[12 * side + k];
        }
    if (!matrix) return;
    double pull[24], c = 0.5 * m->force * m->curve_c, other = 0.5 * m->force * m->curve_s;
    const lw_bilinear *p = &m->c, *r = &m->s;
    bool bends = m->stiffness != 0 || m->kind == LW_MEASURE_ANGLE || m->kind == LW_MEASURE_LENGTH,
         sine = m->kind == LW_MEASURE_ANGLE;
    for (int k = 0; k < 24 && bends; k++) pull[k] = m->force * m->bend[k] + m->stiffness * m->D[k];
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++) {
            int i = m->bodies[s], j = m->bodies[t], block = m->block[2 * s + t], stride;
            if (i == 0 || j == 0) continue;
            if (p->has_a[s] && p->has_b[t]) lw_director_add_product(d, i, j, block, p->a[s], p->b[t], c);
            if (p->has_b[s] && p->has_a[t]) lw_director_add_product(d, i, j, block, p->b[s], p->a[t], c);
            if (sine && r->has_a[s] && r->has_b[t])
                lw_director_add_product(d, i, j, block, r->a[s], r->b[t], other);
            if (sine && r->has_b[s] && r->has_a[t])
                lw_director_add_product(d, i, j, block, r->b[s], r->a[t], other);
            if (!bends) continue;
            double left[6], right[6], *A = d->solver->block(d, i, j, block, &stride);
            const double *x = project(d, d->step.qm, i, pull + 12 * s, left);
            const double *y = project(d, d->step.q1, j, m->slope + 12 * t, right);
            for (int b = 0; b < d->size; b++)
                for (int a = 0; a < d->size; a++) A[a + b * stride] += x[a] * y[b];
        }
}

static void add_row(lw_director *d, int r) {
    const lw_director_row *row = &d->rows[r];
    int stride;
    if (row->dropped) {
        *lw_block_matrix_at(d->sparse.matrix, row->diagonal, &stride) = 1;
        return;
    }
    for (int k = row->term; k < row->term + row->terms; k++) {
        const lw_director_term *term = &d->terms[k];
        const lw_measure *m = &d->measures[term->measure];
        for (int side = 0; side < 2; side++) {
            int body = m->bodies[side];
            double wrench[6];
            if (body == 0) continue;
            const double *f = project(d, d->step.qm, body, m->D + 12 * side, wrench);
            double *A = lw_block_matrix_at(d->sparse.matrix, term->column[side], &stride);
            for (int a = 0; a < d->size; a++) A[a] += d->step.h * term->factor * f[a];
            f = project(d, d->step.q1, body, m->slope + 12 * side, wrench);
            A = lw_block_matrix_at(d->sparse.matrix, term->line[side], &stride);
            for (int a = 0; a < d->size; a++) A[a * stride] += term->end * f[a];
        }
    }
}

/* Adds the inertia of a body to the matrix, and for director the derivative of P_int'. */
static void add_body(lw_director *d, int i) {
    const lw_director_body *body = &d->bodies[i];
    int stride;
    double *A = lw_block_matrix_at(d->sparse.matrix, d->sparse.body_block[i], &stride),
           factor = 2 / d->step.h;
    for (int k = 0; k < 3; k++) A[k + k * stride] += factor * body->mass;
    for (int k = 0; k < 3; k++) {
        if (d->full) {
            for (int a = 3 + 3 * k; a < 6 + 3 * k; a++) A[a + a * stride] += factor * body->euler[k];
            continue;
        }
        const double *end = d->step.q1 + 12 * i + 3 + 3 * k;
        add_cross_cross(A + 3 + 3 * stride, stride, -factor * body->euler[k], d->step.qm + 12 * i + 3 + 3 * k,
                        end);
        add_cross_cross(A + 3 + 3 * stride, stride, 0.5, d->step.residual + 12 * i + 3 + 3 * k, end);
    }
}

static void find_value(const lw_director *d, lw_director_row *row) {
    row->value = -row->constant;
    for (int k = row->term; k < row->term + row->terms; k++) {
        const lw_director_term *term = &d->terms[k];
        const double to = d->measures[term->measure].to;
        row->value +=
            term->curved ? lw_coupling_term(term->curved, term->number, to).value : term->factor * to;
    }
}

/* The slopes of curves in the step: the mean one makes D (q1 - q0) the difference of the curve's values. */
static void find_slopes(lw_director_term *term, const lw_measure *m) {
    if (!term->curved) return;
    term->factor = lw_coupling_mean_slope(term->curved, term->number, m->from, m->to, &term->change);
    term->end = lw_coupling_term(term->curved, term->number, m->to).slope;
}

void lw_director_row_values(lw_director *d) {
    for (int r = 0; r < d->row_count; r++) find_value(d, &d->rows[r]);
}

/* How far Newton's method is to move a row. The parameters of the tree satisfy the rows of its joints; what
 * is left of these is rounding, which would enter the rates divided by h. */
static double wanted_of_row(const lw_director *d, lw_director_row *row) {
    find_value(d, row);
    return row->dropped || (row->kind == LW_DIRECTOR_JOINT && !d->full) ? 0 : row->value;
}

static double inertia_of(const lw_director *d, int i, int k) {
    return k ? d->bodies[i].euler[k - 1] : d->bodies[i].mass;
}

static void add_inertia(lw_director *d, int i) {
    for (int k = 0; k < 4; k++)
        for (int a = 12 * i + 3 * k; a < 12 * i + 3 * k + 3; a++) /* v1 - v0 is rounded once. */
            d->step.residual[a] +=
                inertia_of(d, i, k) *
                (fma(2 / d->step.h, d->step.change[a], -2 * d->step.v0[a]) - 2 * d->step.low_v[a]);
}

/* Computes -P_int(qm)'(forces + M (v1 - v0)) with long doubles. The directors of a fast body change by
 * vectors almost parallel to them, so that products nearly vanish, and their rounding is the same in step
 * after step of a steady motion. */
static void exact_balance(lw_director *d, int i, double *right) {
    lw_director_rest(d, i);
    long double f[12], m[12], torque[3], factor = 2 / d->step.h;
    for (int k = 0; k < 12; k++) {
        int a = 12 * i + k;
        long double change = d->step.change[a] + (long double)d->step.rest[a];
        m[k] = d->step.q0[a] + (d->step.low_q[a] + 0.5L * change);
        f[k] = d->step.exact[a] + d->step.residual[a] +
               inertia_of(d, i, k / 3) * (factor * change - 2.0L * d->step.v0[a] - 2.0L * d->step.low_v[a]);
    }
    for (int a = 0; a < 3; a++) torque[a] = d->step.torque[3 * i + a];
    for (int k = 3; k < 12; k += 3)
        for (int a = 0; a < 3; a++) {
            int b = (a + 1) % 3, c = (a + 2) % 3;
            torque[a] += m[k + b] * f[k + c] - m[k + c] * f[k + b];
        }
    for (int a = 0; a < 3; a++) right[a] = (double)-f[a], right[3 + a] = (double)-torque[a];
}

void lw_director_equations(lw_director *d, bool matrix) {
    double h = d->step.h;
    lw_director_use_matrix(d);
    if (matrix) lw_block_matrix_clear(d->sparse.matrix);
    memset(d->step.residual, 0, 12 * ((size_t)d->n + 1) * sizeof *d->step.residual);
    memset(d->step.exact, 0, 12 * ((size_t)d->n + 1) * sizeof *d->step.exact);
    memset(d->step.torque, 0, 3 * ((size_t)d->n + 1) * sizeof *d->step.torque);
    for (int k = 0; k < d->measure_count; k++) {
        lw_measure *m = &d->measures[k];
        lw_measure_step(m, m->from, d->step.q0, d->step.q1, matrix);
        m->force = m->stiffness = 0;
    }
    lw_director_forces(d, matrix);
    for (int k = 0; k < d->measure_count; k++) d->measures[k].element = d->measures[k].force / h;
    for (int r = 0; r < d->row_count; r++) {
        lw_director_row *row = &d->rows[r];
        for (int k = row->term; k < row->term + row->terms; k++) {
            lw_director_term *term = &d->terms[k];
            lw_measure *m = &d->measures[term->measure];
            find_slopes(term, m);
            m->force += h * term->factor * row->lambda;
            m->stiffness += h * term->change * row->lambda;
        }
        d->sparse.right[lw_block_matrix_start(d->sparse.matrix, d->n + r)] = -wanted_of_row(d, row);
        if (matrix) add_row(d, r);
    }
    for (int k = 0; k < d->measure_count; k++) lw_director_add_measure(d, &d->measures[k], matrix);
    for (int i = 1; i <= d->n; i++) {
        double *right = d->sparse.right + lw_block_matrix_start(d->sparse.matrix, i - 1), wrench[6];
        if (!matrix && !d->full) {
            exact_balance(d, i, right);
            continue;
        }
        add_inertia(d, i);
        const double *f = project(d, d->step.qm, i, d->step.residual + 12 * i, wrench);
        if (!d->full) lw_v3_add(wrench + 3, d->step.torque + 3 * i, wrench + 3);
        for (int a = 0; a < d->size; a++) right[a] = -f[a];
        if (matrix) add_body(d, i);
    }
}
