/* mjcf_weights.c - the mass matrix of MJCF in the drawn configuration, for values that MuJoCo derives from
 * it: springs by time constants (springdamper) and damping ratios of servos (dampratio).
 *
 * With the twist of body b, angular part w_b and velocity of its centre u_b per unit speed of coordinate i,
 *     M_ij = sum_b  m_b u_bi . u_bj + w_bi . J_b w_bj,      M_ii += armature_i,
 * over the bodies that both coordinates move. Linear speeds of free joints are along world axes, angular ones
 * and those of balls along body axes. What a force along x'v feels as inertia is 1 / (x' M^-1 x), by a
 * Cholesky factor of M.
 *
 * Cost     O(bodies x coordinates^2) + O(coordinates^3), once, and only if a file asks for it.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

enum { MOST_COORDINATES = 3000 };

/* The axis of speed k of a joint in the world, and whether it turns. */
static bool axis_of(const mj_reader *reader, const mj_joint *joint, int k, double axis[3]) {
    const mj_body *body = MJ_BODY(reader, joint->body);
    double own[3] = {0, 0, 0};
    if (joint->type <= MJ_SLIDE) {
        lw_m3_mul_v(body->world.R, joint->axis, axis);
        return joint->type == MJ_HINGE;
    }
    own[k % 3] = 1;
    if (joint->type == MJ_FREE && k < 3) {
        lw_v3_copy(own, axis);
        return false;
    }
    lw_m3_mul_v(body->world.R, own, axis);
    return true;
}

/* Adds the part of one body: columns are those of its joints and of those of its ancestors. */
static void add_body(mj_reader *reader, int b, double *columns, int *dofs, double *M) {
    const mj_body *body = MJ_BODY(reader, b);
    double centre[3], J[6], com[3];
    lw_pose at = body->world;
    int count = 0;
    lw_pose_point(body->world.R, body->world.p, body->com, centre);
    lw_inertia_in(&at, body->inertia, com, J);
    for (int a = b; a > 0; a = MJ_BODY(reader, a)->parent) {
        const mj_body *up = MJ_BODY(reader, a);
        for (int j = 0; j < up->joint_count; j++) {
            const mj_joint *joint = MJ_JOINT(reader, up->first_joint + j);
            const int n = joint->type == MJ_FREE ? 6 : joint->type == MJ_BALL ? 3 : 1;
            double anchor[3], arm[3];
            lw_pose_point(up->world.R, up->world.p, joint->pos, anchor);
            lw_v3_sub(centre, anchor, arm);
            for (int k = 0; k < n; k++, count++) {
                double *w = columns + 6 * count, *u = w + 3, axis[3];
                memset(w, 0, 6 * sizeof *w);
                if (axis_of(reader, joint, k, axis)) {
                    lw_v3_copy(axis, w);
                    lw_v3_cross(axis, arm, u);
                } else
                    lw_v3_copy(axis, u);
                dofs[count] = joint->dof + k;
            }
        }
    }
    for (int i = 0; i < count; i++) {
        double Jw[3];
        lw_s3_mul_v(J, columns + 6 * i, Jw);
        for (int k = 0; k < count; k++)
            M[(size_t)dofs[i] * (size_t)reader->nv + (size_t)dofs[k]] +=
                body->mass * lw_v3_dot(columns + 6 * i + 3, columns + 6 * k + 3) +
                lw_v3_dot(Jw, columns + 6 * k);
    }
}

/* M = L L' of n x n: M becomes L. False if M is not positive. */
static bool factorise(int n, double *M) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double *row = M + (size_t)i * (size_t)n, *other = M + (size_t)j * (size_t)n, sum = row[j];
            for (int k = 0; k < j; k++) sum -= row[k] * other[k];
            if (i == j && !(sum > 0)) return false;
            row[j] = i == j ? sqrt(sum) : sum / other[j];
        }
    return true;
}

/* x' M^-1 x = |L^-1 x|^2, with x in work, of which the first entries are zero. */
static double inverse_form(int n, const double *L, double *work, int first) {
    double square = 0;
    for (int i = first; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)n;
        for (int j = first; j < i; j++) work[i] -= row[j] * work[j];
        work[i] /= row[i];
        square += work[i] * work[i];
    }
    return square;
}

/* Averages over the axes of a rotation, as MuJoCo does. */
static void average(double *x) { x[0] = x[1] = x[2] = (x[0] + x[1] + x[2]) / 3; }

const double *mj_weights(mj_reader *reader) {
    const int n = reader->nv;
    if (!reader->weights && n > 0 && n <= MOST_COORDINATES) {
        double *M = LW_NEW(reader->arena, double, (size_t)n *(size_t)n);
        double *columns = LW_NEW(reader->arena, double, 6 * n), *out = LW_NEW(reader->arena, double, n);
        int *dofs = LW_NEW(reader->arena, int, n);
        if (!M || !columns || !out || !dofs) {
            reader->importer->out_of_memory = true;
            return NULL;
        }
        for (int b = 1; b < reader->bodies.count; b++) add_body(reader, b, columns, dofs, M);
        for (int j = 0; j < reader->joints.count; j++) {
            const mj_joint *joint = MJ_JOINT(reader, j);
            const int own = joint->type == MJ_FREE ? 6 : joint->type == MJ_BALL ? 3 : 1;
            for (int k = 0; k < own; k++) {
                const size_t at = (size_t)(joint->dof + k);
                M[at * (size_t)n + at] += joint->armature;
            }
        }
        if (!factorise(n, M)) return NULL;
        for (int k = 0; k < n; k++) {
            memset(columns, 0, (size_t)n * sizeof *columns);
            columns[k] = 1;
            out[k] = inverse_form(n, M, columns, k);
        }
        for (int j = 0; j < reader->joints.count; j++) {
            const mj_joint *joint = MJ_JOINT(reader, j);
            if (joint->type == MJ_BALL || joint->type == MJ_FREE) average(out + joint->dof);
            if (joint->type == MJ_FREE) average(out + joint->dof + 3);
        }
        reader->weights = out;
        reader->factor = M;
        reader->work = columns;
    }
    return reader->weights;
}

double mj_felt_inertia(mj_reader *reader, const int *dofs, const double *moments, int count) {
    if (!mj_weights(reader)) return 0;
    memset(reader->work, 0, (size_t)reader->nv * sizeof *reader->work);
    for (int k = 0; k < count; k++) reader->work[dofs[k]] += moments[k];
    const double inverse = inverse_form(reader->nv, reader->factor, reader->work, 0);
    return inverse > 0 ? 1 / inverse : 0;
}
