/* differences.c - extrapolated differences along curves (differences.h).
 */
#include "differences.h"
#include "model/compiled_model.h"

#include <math.h>
#include <string.h>

/* The derivative at 0 of all values. Returns the largest estimated error relative to the largest entry. */
double ridders_of(curve *f, void *context, int count, double start, const bool *unsteady, double *out) {
    static double table[DIFFERENCE_LEVELS][DIFFERENCE_LEVELS][DIFFERENCE_VALUES];
    static double errors[DIFFERENCE_VALUES], plus[DIFFERENCE_VALUES], minus[DIFFERENCE_VALUES];
    double size = 0, worst = 0;
    for (int k = 0; k < count; k++) errors[k] = HUGE_VAL, out[k] = NAN;
    double h = start;
    for (int i = 0; i < DIFFERENCE_LEVELS; i++, h /= 2) {
        if (!f(context, h, plus) || !f(context, -h, minus)) return HUGE_VAL;
        for (int k = 0; k < count; k++) {
            table[i][0][k] = (plus[k] - minus[k]) / (2 * h);
            double factor = 4;
            for (int j = 1; j <= i; j++, factor *= 4) {
                table[i][j][k] = (factor * table[i][j - 1][k] - table[i - 1][j - 1][k]) / (factor - 1);
                double error = fmax(fabs(table[i][j][k] - table[i][j - 1][k]),
                                    fabs(table[i][j][k] - table[i - 1][j - 1][k]));
                if (error < errors[k]) errors[k] = error, out[k] = table[i][j][k];
            }
        }
    }
    for (int k = 0; k < count; k++)
        if (!unsteady || !unsteady[k]) size = fmax(size, fabs(out[k])), worst = fmax(worst, errors[k]);
    return worst / (1 + size);
}

double ridders(curve *f, void *context, int count, double start, double *out) {
    return ridders_of(f, context, count, start, NULL, out);
}

bool loop_curve(void *context, double s, double *out) {
    loop_case *c = context;
    const int nv = lw_model_v_size(c->model);
    double q[2 * NV], v[NV];
    memcpy(q, c->q, (size_t)lw_model_q_size(c->model) * sizeof *q);
    lw_integrate_q(c->model, q, c->along, s);
    for (int k = 0; k < nv; k++) v[k] = c->v[k] + s * c->faster[k];
    if (lw_assemble(c->model, c->t, q, v, NULL, NULL) != LW_OK) return false;
    if (lw_solver_accelerations(c->solver, c->t, q, v, c->tau, out, NULL) != LW_OK) return false;
    memcpy(out + nv, v, (size_t)nv * sizeof *v);
    memset(out + 2 * nv, 0, (size_t)nv * sizeof *out);
    for (int i = 1; i <= c->model->body_count; i++) { /* the motion, in the tangent coordinates of q */
        const lw_link *link = &c->model->links[i];
        int at = lw_joint_quaternion(link->joint.type);
        for (int k = 0; k < link->joint.nv; k++) {
            double *to = out + 2 * nv + link->v + k;
            if (at < 0 || k < at) {
                *to = q[link->q + k] - c->q[link->q + k];
                continue;
            }
            double back[4], turn[4], phi[3];
            const double *from = c->q + link->q + at;
            back[0] = from[0];
            for (int j = 1; j < 4; j++) back[j] = -from[j];
            lw_quat_mul(back, q + link->q + at, turn);
            lw_quat_log(turn, phi);
            *to = phi[k - at];
        }
    }
    if (!c->reactions) return true;
    return lw_solver_reactions(c->solver, out + 3 * nv, NULL, NULL) == LW_OK;
}
