/* motion_rows.c - speeds and accelerations that a motion by rows does not give, by differences.
 *
 *   f'(t_i) = sum_j w_j f(t_j)    over the seven rows nearest to row i                          (1)
 *
 * with the weights of the polynomial through them, for any distances of rows (Fornberg). The same over five
 * rows gives the estimate of the error. Speeds are the rates of coordinates; accelerations those of speeds,
 * given or found before.
 *
 * Source   docs/theory/inverse_motion.md, section 1; B. Fornberg, Generation of finite difference formulas on
 *          arbitrarily spaced grids, Mathematics of Computation 51, 1988.
 * Cost     O(rows speeds).
 * Limits   balls are given with their angular velocities. Jumps of speed between rows are not seen; the
 *          estimate becomes large there.
 */
#include "analyses/motion_rows.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STENCIL = 7, SMALLER = 5 };
/* Differences of five and seven rows may differ by this part of the largest rate. */
static const double coarse = 1e-2;

/* Weights of the first derivative at x0 over the points x[0] .. x[n-1]. */
static void weights(double x0, int n, const double *x, double *w) {
    double c[STENCIL][2] = {{1, 0}}, c1 = 1, c4 = x[0] - x0;
    for (int i = 1; i < n; i++) {
        const int most = i < 1 ? i : 1;
        double c2 = 1, c5 = c4;
        c4 = x[i] - x0;
        for (int j = 0; j < i; j++) {
            const double c3 = x[i] - x[j];
            c2 *= c3;
            if (j == i - 1) {
                for (int k = most; k >= 1; k--) c[i][k] = c1 * (k * c[i - 1][k - 1] - c5 * c[i - 1][k]) / c2;
                c[i][0] = -c1 * c5 * c[i - 1][0] / c2;
            }
            for (int k = most; k >= 1; k--) c[j][k] = (c4 * c[j][k] - k * c[j][k - 1]) / c3;
            c[j][0] = c4 * c[j][0] / c3;
        }
        c1 = c2;
    }
    for (int i = 0; i < n; i++) w[i] = c[i][1];
}

/* The first of n rows around row i of all. */
static int first_row(int i, int n, int all) {
    const int at = i - n / 2;
    return at < 0 ? 0 : at + n > all ? all - n : at;
}

/* Rates of `from` (entry of_from of rows of `stride` numbers) into `to`, where some[k]; the estimate of the
 * error and the largest rate. */
static void differentiate(const lw_motion_table *m, int nv, const bool *some, const int *entry, int stride,
                          const double *from, double *to, double *error, double *largest) {
    const int n = m->samples < STENCIL ? m->samples : STENCIL, less = n < SMALLER ? n : n - 2;
    for (int i = 0; i < m->samples; i++) {
        double w[STENCIL], smaller[STENCIL];
        const int a = first_row(i, n, m->samples), b = first_row(i, less, m->samples);
        weights(m->t[i], n, m->t + a, w);
        weights(m->t[i], less, m->t + b, smaller);
        for (int k = 0; k < nv; k++) {
            if (!some[k]) continue;
            double rate = 0, other = 0;
            for (int j = 0; j < n; j++)
                rate += w[j] * from[(size_t)(a + j) * (size_t)stride + (size_t)entry[k]];
            for (int j = 0; j < less; j++)
                other += smaller[j] * from[(size_t)(b + j) * (size_t)stride + (size_t)entry[k]];
            to[(size_t)i * (size_t)nv + (size_t)k] = rate;
            *error = fmax(*error, fabs(rate - other));
            *largest = fmax(*largest, fabs(rate));
        }
    }
}

static lw_status wrong(const lw_motion_rows *r, const char *remedy, int speed, double t, const char *what,
                       lw_error *error) {
    int body = 1;
    while (body < r->model->body_count && r->model->links[body + 1].v <= speed) body++;
    while (r->model->links[body].joint.nv == 0) body--;
    char object[200];
    snprintf(object, sizeof object, "joint \"%.160s\"",
             r->model->joints[r->model->bodies[body].joint_index].name);
    return lw_fail(error, LW_ERROR_ARGUMENT, object, remedy, "the given motion, t = %.9g s: %s", t, what);
}

/* Is a column of numbers given? -1: in some rows only. */
static int is_given(const lw_motion_table *m, const double *numbers, int stride, int entry) {
    int count = 0;
    for (int i = 0; numbers && i < m->samples; i++)
        count += isfinite(numbers[(size_t)i * (size_t)stride + (size_t)entry]);
    return count == 0 ? 0 : count == m->samples ? 1 : -1;
}

/* What is given; coordinate[k] becomes the coordinate whose rate speed k is, -1 for balls. */
static lw_status look(lw_motion_rows *r, int *coordinate, lw_error *error) {
    const lw_model *model = r->model;
    const lw_motion_table *m = r->motion;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int ball = lw_joint_quaternion(link->joint.type);
        for (int k = 0; k < link->joint.nv; k++) {
            const int v = link->v + k, c = lw_joint_coordinate_of_speed(link->joint.type, k);
            int q = c >= 0 ? is_given(m, m->q, model->nq, link->q + c) : 1;
            for (int j = 0; c < 0 && j < 4; j++) {
                const int one = is_given(m, m->q, model->nq, link->q + ball + j);
                q = j == 0 ? one : one == q ? q : -1;
            }
            const int speed = is_given(m, m->v, model->nv, v), rate = is_given(m, m->vdot, model->nv, v);
            if (q < 0 || speed < 0 || rate < 0)
                return wrong(r, "give finite numbers in all rows, or in none", v, m->t[0],
                             "it is known in some rows only", error);
            if (q == 0 && speed + rate > 0)
                return wrong(r, "give its coordinates, too", v, m->t[0],
                             "speeds or accelerations are given, but not the position", error);
            if (q > 0 && c < 0 && !speed)
                return wrong(r, "give its angular velocities (wx, wy, wz), too", v, m->t[0],
                             "the rates of a quaternion are not found by differences", error);
            coordinate[v] = c < 0 ? -1 : link->q + c;
            r->given[v] = q, r->speed[v] = speed, r->acceleration[v] = rate;
        }
    }
    return LW_OK;
}

lw_status lw_motion_rows_complete(const lw_model *model, const lw_motion_table *motion, lw_arena *arena,
                                  lw_motion_rows *r, lw_error *error) {
    const size_t nv = (size_t)model->nv, all = (size_t)motion->samples * nv;
    *r = (lw_motion_rows){.model = model, .motion = motion};
    r->given = LW_NEW(arena, bool, nv + 1);
    r->speed = LW_NEW(arena, bool, nv + 1);
    r->acceleration = LW_NEW(arena, bool, nv + 1);
    r->v = LW_NEW(arena, double, all + 1);
    r->vdot = LW_NEW(arena, double, all + 1);
    bool *lacks = LW_NEW(arena, bool, nv + 1);
    int *coordinate = LW_NEW(arena, int, nv + 1), *same = LW_NEW(arena, int, nv + 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    lw_status status = look(r, coordinate, error);
    if (status != LW_OK) return status;
    if (motion->v) memcpy(r->v, motion->v, all * sizeof *r->v);
    if (motion->vdot) memcpy(r->vdot, motion->vdot, all * sizeof *r->vdot);
    int missing = -1;
    for (int level = 0; level < 2; level++) {
        double off = 0, largest = 0;
        int of = -1;
        for (int k = 0; k < model->nv; k++) {
            lacks[k] = r->given[k] && !(level ? r->acceleration[k] : r->speed[k]);
            same[k] = k;
            if (lacks[k]) of = missing = k;
        }
        if (of < 0) continue;
        if (motion->samples < 3)
            return wrong(r, "give speeds and accelerations, too, or more rows", of, motion->t[0],
                         "differences need at least 3 rows", error);
        for (int i = 1; i < motion->samples; i++)
            if (!(motion->t[i] > motion->t[i - 1]))
                return wrong(r, "give each time once, or speeds and accelerations, too", of, motion->t[i],
                             "differences need times that grow from row to row", error);
        if (level == 0)
            differentiate(motion, model->nv, lacks, coordinate, model->nq, motion->q, r->v, &off, &largest);
        else
            differentiate(motion, model->nv, lacks, same, model->nv, r->v, r->vdot, &off, &largest);
        if (largest > 0) r->differences = fmax(r->differences, off / largest);
    }
    if (r->differences > coarse) {
        char text[160];
        snprintf(
            text, sizeof text,
            "its rates by differences of rows are uncertain by %.2g of the largest: rows are too far apart, "
            "or the motion is not smooth",
            r->differences);
        return wrong(r, "give more rows, or accelerations (run --record \"joint, accelerations\")", missing,
                     motion->t[0], text, error);
    }
    return LW_OK;
}
