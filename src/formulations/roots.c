/* roots.c - principal axes and moments of all bodies, by Jacobi's rotations; once, for they turn with the bodies.
 *
 * The moments about the centre of mass are what is left of those about the body's origin less m c^2, so a moment below
 * 1e-13 of the latter is zero: rounding leaves 1e-16. That is a ratio within one body, whatever its unit and however light
 * it is beside others.
 *
 * Source   any text on the symmetric eigenvalue problem.
 * Cost     O(bodies); no allocation but in create.
 */
#include "formulations/roots.h"

#include <math.h>

static const double rounding = 1e-13;

/* Eigenvectors V (one after the other) and eigenvalues e of a symmetric matrix. */
static void decompose(double A[3][3], double V[9], double e[3]) {
    enum { SWEEPS = 30 }; /* convergence is quadratic: five are plenty */
    lw_m3_identity(V);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = fabs(A[0][1]) + fabs(A[0][2]) + fabs(A[1][2]);
        if (!(off > 0)) break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[p][q] == 0) continue;
                double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                if (!isfinite(theta)) t = 0, c = 1, s = 0;
                for (int k = 0; k < 3; k++) {
                    double kp = A[k][p], kq = A[k][q];
                    A[k][p] = c * kp - s * kq, A[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) {
                    double pk = A[p][k], qk = A[q][k], vp = V[3 * p + k], vq = V[3 * q + k];
                    A[p][k] = c * pk - s * qk, A[q][k] = s * pk + c * qk;
                    V[3 * p + k] = c * vp - s * vq, V[3 * q + k] = s * vp + c * vq;
                }
                A[p][q] = A[q][p] = 0;
            }
    }
    for (int k = 0; k < 3; k++) e[k] = A[k][k];
}

lw_roots *lw_roots_create(const lw_model *model, lw_arena *arena) {
    static const int symmetric[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    lw_roots *roots = LW_NEW(arena, lw_roots, 1);
    size_t n = (size_t)model->body_count;
    if (!roots) return NULL;
    roots->bodies = model->body_count;
    roots->own = LW_NEW(arena, double, 9 * n + 1);
    roots->axes = LW_NEW(arena, double, 9 * n + 1);
    roots->moment = LW_NEW(arena, double, 3 * n + 1);
    if (!roots->own || !roots->axes || !roots->moment) return NULL;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        const double *c = model->bodies[i].com;
        double about[6], A[3][3], *e = roots->moment + 3 * (i - 1), square = lw_v3_dot(c, c);
        double least = rounding * (I->second[0] + I->second[1] + I->second[2]);
        for (int k = 0; k < 3; k++) about[k] = I->second[k] - I->mass * (square - c[k] * c[k]);
        about[3] = I->second[3] + I->mass * c[0] * c[1];
        about[4] = I->second[4] + I->mass * c[0] * c[2];
        about[5] = I->second[5] + I->mass * c[1] * c[2];
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++) A[p][q] = about[symmetric[p][q]];
        decompose(A, roots->own + 9 * (i - 1), e);
        for (int k = 0; k < 3; k++)
            if (!(e[k] > least)) e[k] = 0;
    }
    return roots;
}

void lw_roots_at(lw_roots *roots, const lw_stationary *s) {
    for (int i = 0; i < roots->bodies; i++)
        for (int k = 0; k < 3; k++)
            lw_m3_mul_v(s->data->world[i + 1].R, roots->own + 9 * i + 3 * k, roots->axes + 9 * i + 3 * k);
}
