/* closures.c - what closures and constraints ask of the poses of bodies (closures.h), and the linear algebra to judge it.
 */
#include "closures.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
                    const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
                    double *work, const int *lwork, int *info);

/* --- linear algebra, column by column ------------------------------------------------------------- */

/* Singular values up to threshold times the largest, or times `size` if all are smaller, are zero. */
closures_svd closures_decompose(int m, int n, const double *A, double threshold, double size) {
    closures_svd d = {.m = m, .n = n};
    int least = m < n ? m : n, lwork = 10 * (m + n) + 10, info = 0;
    d.s = calloc((size_t)least + 1, sizeof *d.s);
    d.U = calloc((size_t)(m * m) + 1, sizeof *d.U);
    d.Vt = calloc((size_t)(n * n) + 1, sizeof *d.Vt);
    for (int k = 0; k < m; k++) d.U[k * (m + 1)] = 1;
    for (int k = 0; k < n; k++) d.Vt[k * (n + 1)] = 1;
    if (least == 0) return d;
    double *copy = malloc((size_t)(m * n) * sizeof *copy), *work = malloc((size_t)lwork * sizeof *work);
    memcpy(copy, A, (size_t)(m * n) * sizeof *copy);
    dgesvd_("A", "A", &m, &n, copy, &m, d.s, d.U, &m, d.Vt, &n, work, &lwork, &info);
    assert_int_equal(info, 0);
    while (d.rank < least && d.s[d.rank] > threshold * fmax(d.s[0], size)) d.rank++;
    free(copy), free(work);
    return d;
}

void closures_discard(closures_svd *d) { free(d->s), free(d->U), free(d->Vt); }

/* x = A^+ b; b loses the part that x accounts for. */
void closures_solve(const closures_svd *d, double *b, double *x) {
    memset(x, 0, (size_t)d->n * sizeof *x);
    for (int k = 0; k < d->rank; k++) {
        double part = 0;
        for (int i = 0; i < d->m; i++) part += d->U[i + k * d->m] * b[i];
        for (int i = 0; i < d->m; i++) b[i] -= part * d->U[i + k * d->m];
        for (int j = 0; j < d->n; j++) x[j] += part / d->s[k] * d->Vt[k + j * d->n];
    }
}

/* --- what closures and constraints ask of poses, written without the library's rows ---------------- */

void closures_point(const lw_data *data, int body, const double local[3], double x[3]) {
    lw_pose_point(data->world[body].R, data->world[body].p, local, x);
}

static void world_velocity(const lw_data *data, int body, const double x[3], double out[3]) {
    const lw_pose *world = &data->world[body];
    double arm[3], local[3], velocity[3];
    lw_v3_sub(x, world->p, arm);
    lw_m3_tmul_v(world->R, arm, local);
    lw_v3_copy(data->motion[body].V + 3, velocity);
    lw_v3_add_cross(data->motion[body].V, local, velocity);
    lw_m3_mul_v(world->R, velocity, out);
}

void closures_place(const lw_data *data, const lw_joint_entry *entry, lw_pose ends[2], lw_pose *place) {
    lw_pose inverse;
    for (int side = 0; side < 2; side++) {
        const lw_pose *world = &data->world[entry->info.bodies[side]], *frame = &entry->frames[side];
        lw_pose_compose(world->R, world->p, frame->R, frame->p, ends[side].R, ends[side].p);
    }
    lw_pose_invert(ends[0].R, ends[0].p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, ends[1].R, ends[1].p, place->R, place->p);
}

/* The place of the second frame in the first, and what must be zero of it. */
static int closure_values(const lw_joint *joint, const lw_pose *place, double *out) {
    const double *R = place->R, *p = place->p;
    const double tilt[2] = {R[2], R[5]}, turn[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    int n = 0;
    switch (joint->type) {
    case LW_JOINT_WELD:
        for (int k = 0; k < 3; k++) out[n++] = p[k], out[n++] = turn[k];
        break;
    case LW_JOINT_REVOLUTE:
        for (int k = 0; k < 3; k++) out[n++] = p[k];
        for (int k = 0; k < 2; k++) out[n++] = tilt[k];
        break;
    case LW_JOINT_PRISMATIC:
        for (int k = 0; k < 2; k++) out[n++] = p[k];
        for (int k = 0; k < 3; k++) out[n++] = turn[k];
        break;
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL:
        for (int k = 0; k < 2; k++) out[n++] = p[k], out[n++] = tilt[k];
        if (joint->type == LW_JOINT_SCREW) out[n++] = p[2] - joint->pitch * atan2(R[3], R[0]);
        break;
    case LW_JOINT_UNIVERSAL:
        for (int k = 0; k < 3; k++) out[n++] = p[k];
        out[n++] = R[1]; /* x of the first and y of the second stay perpendicular */
        break;
    case LW_JOINT_SPHERICAL:
        for (int k = 0; k < 3; k++) out[n++] = p[k];
        break;
    case LW_JOINT_PLANAR:
        out[n++] = p[2];
        for (int k = 0; k < 2; k++) out[n++] = tilt[k];
        break;
    case LW_JOINT_TRANSLATION: {
        double across[3];
        for (int k = 0; k < 3; k++) out[n++] = turn[k];
        if (joint->nv == 2) {
            lw_v3_cross(joint->axes, joint->axes + 3, across);
            out[n++] = lw_v3_dot(across, p);
        }
        if (joint->nv == 1) {
            lw_v3_perpendicular(joint->axes, across);
            out[n++] = lw_v3_dot(across, p);
            double other[3];
            lw_v3_cross(joint->axes, across, other);
            out[n++] = lw_v3_dot(other, p);
        }
        break;
    }
    case LW_JOINT_FREE:
    case LW_JOINT_TYPES:
        break;
    }
    return n;
}

/* Where a sphere or disc touches its plane, and two directions along the plane that turn with it. */
void closures_touch(const lw_data *data, const lw_constraint *c, double touch[3], double along[3][3]) {
    const double *plane = data->world[c->bodies[1]].R;
    double axis[3], local[3], local2[3], down[3];
    lw_v3_perpendicular(c->normal, local);
    lw_v3_cross(c->normal, local, local2);
    lw_m3_mul_v(plane, local, along[0]);
    lw_m3_mul_v(plane, local2, along[1]);
    lw_m3_mul_v(plane, c->normal, along[2]);
    lw_m3_mul_v(data->world[c->bodies[0]].R, c->axis, axis);
    lw_v3_copy(along[2], down);
    lw_v3_axpy(-lw_v3_dot(axis, down), axis, down);
    closures_point(data, c->bodies[0], c->points[0], touch);
    lw_v3_axpy(-c->radius / lw_v3_norm(down), down, touch);
}

/* All values at a state; of_speed marks those that are velocities. */
int closures_at(const lw_model *model, lw_data *data, double t, const double *q, const double *v, double *out,
                bool *of_speed) {
    int n = 0;
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    for (int k = 0; k < model->closure_count; k++) {
        const lw_joint_entry *entry = &model->joints[model->closures[k]];
        lw_pose ends[2], place;
        closures_place(data, entry, ends, &place);
        n += closure_values(&entry->joint, &place, out + n);
    }
    for (int k = 0; k < n; k++) of_speed[k] = false;
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint *c = &model->constraints[k];
        double a[3], b[3], along[3][3];
        of_speed[n] = false;
        if (c->type == LW_CONSTRAINT_DISTANCE) {
            closures_point(data, c->bodies[0], c->points[0], a);
            closures_point(data, c->bodies[1], c->points[1], b);
            lw_v3_sub(b, a, b);
            out[n++] =
                (lw_v3_dot(b, b) - c->length * c->length) / (2 * c->length); /* smooth, unlike the root */
        } else if (c->type == LW_CONSTRAINT_COUPLING) {
            out[n] = -c->offset;
            for (int i = 0; i < c->terms; i++) out[n] += c->factors[i] * data->q[c->coordinates[i]];
            n++;
        } else {
            double slip[3], base[3];
            closures_touch(data, c, a, along);
            closures_point(data, c->bodies[1], c->points[1], b);
            world_velocity(data, c->bodies[0], a, slip);
            world_velocity(data, c->bodies[1], a, base);
            lw_v3_sub(slip, base, slip);
            lw_v3_sub(a, b, b);
            out[n++] = lw_v3_dot(along[2], b);
            for (int i = 0; i < 2; i++) of_speed[n] = true, out[n++] = lw_v3_dot(along[i], slip);
        }
    }
    assert_true(n <= CLOSURES_MAX);
    return n;
}
