/* test_loops.c - every registered formulation on random mechanisms with closed loops, dependent rows included.
 *
 * The reference knows none of the library's rows. It has the mass matrix and inverse dynamics of the tree (test_tree.c
 * stands behind them), writes down for every joint that closes a loop and for every constraint what it asks of the poses
 * of two bodies, and takes the derivatives of that by differences:
 *
 *   Phi(t, q) = 0,   G = dPhi/dq,   g = d2 Phi/ds2 on the curve of constant speeds (one derivative less for slip)
 *   vdot = vdot_0 + L^-T (G L^-T)^+ (-g - G vdot_0),   M = L L',   vdot_0 that of the open tree
 *
 * which is Gauss' principle and asks nothing of the rank of G. On each mechanism, for every method that applies:
 *
 *   accelerations          against the reference, and against every other method
 *   reactions              against every other method where unique; `unique` against the null space of all wrenches
 *   balance                of all wrenches on every body, unique or not
 *   derivative, power      carry the same accelerations; the energy changes by what is booked
 *   states, projection     there and back; a consistent state stays, a disturbed one is repaired
 *
 * Tolerances grow with the condition of the closures, kappa = the largest over the smallest singular value of G L^-T that
 * is not zero, since near a dead centre all numbers are that much less certain. The share of such mechanisms is printed.
 */
#include "random_loops.h"
#include "closures.h"
#include "formulations/formulation.h"
#include "constraints/rank/redundancy.h"
#include "dynamics/tree_dynamics.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MECHANISMS = 600,
    MAX_NV = 6 * LOOP_BODIES,
    MAX_NQ = 7 * LOOP_BODIES,
    MAX_ROWS = CLOSURES_MAX,
    MAX_STATE = 40 * LOOP_BODIES,
    MAX_METHODS = 32,
    SAMPLES = 8
};

/* Rounding times the condition of what a method solves: the bound that all methods are held to. */
static const double agreement = 1e-9;
/* Eighth-order differences with steps of 0.02 or less leave 1e-10 to 1e-8 where bodies turn at some rad/s. */
static const double differences = 1e-6;
/* Singular values of G L^-T below this part of the largest, or of 0.1 = 1 / sqrt(100 kg), are zero: differences leave
 * 1e-10 of them. */
static const double rank_threshold = 1e-7;
/* kappa beyond which tolerances grow: methods that form H'J^-1 H work with its square, 1e-16 kappa^2 = 1e-10. */
static const double well_conditioned = 1e3;

typedef enum check_kind {
    ACCELERATIONS,
    BALANCE,
    AGREEMENT,
    UNIQUE,
    ROUND_TRIP,
    DERIVATIVE,
    POWER,
    KEEPS,
    REPAIRS,
    CHECKS
} check_kind;

static const char *const check_names[CHECKS] = {
    "accelerations and reference", "balance of wrenches",        "agreement with other methods",
    "uniqueness of reactions",     "state there and back",       "derivative and accelerations",
    "rate of energy and power",    "projection of a good state", "projection of a disturbed state"};

typedef struct subject {
    random_loops loops;
    bool moved;
    lw_model *model;
    lw_data *data;
    int nq, nv, free_count, free_speed[MAX_NV];
    double q[MAX_NQ], v[MAX_NV], tau[MAX_NV], vdot[MAX_NV];
    int rows, rank;
    double kappa;
    bool unique[6 * LOOP_JOINTS], doubtful[6 * LOOP_JOINTS];
    /* what each method says */
    const lw_formulation *methods[MAX_METHODS];
    double accelerations[MAX_METHODS][MAX_NV], reactions[MAX_METHODS][6 * LOOP_JOINTS];
    bool unique_said[MAX_METHODS][6 * LOOP_JOINTS];
} subject;

/* Per method and check: how often it failed, and the worst of difference / tolerance. */
typedef struct score {
    int tested, failed[CHECKS];
    double worst[CHECKS];
} score;
static score scores[MAX_METHODS];

extern void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
extern void dtrtrs_(const char *uplo, const char *trans, const char *diag, const int *n, const int *nrhs,
                    const double *a, const int *lda, double *b, const int *ldb, int *info);

/* --- differences ---------------------------------------------------------------------------------- */

/* The larger; what is not a number counts as the largest. */
static double worse(double a, double b) { return isnan(a) || isnan(b) ? HUGE_VAL : fmax(a, b); }

static double apart(const double *a, const double *b, int count) {
    for (int k = 0; k < count; k++)
        if (!isfinite(a[k]) || !isfinite(b[k])) return HUGE_VAL;
    return relative_difference(a, b, count);
}

/* Eighth-order central differences of samples at -4h .. 4h without 0. */
static double offset(int sample, double h) { return (sample < SAMPLES / 2 ? sample - 4 : sample - 3) * h; }
static double first_derivative(const double *f, int stride, double h) {
    static const double c[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double sum = 0;
    for (int k = 1; k <= 4; k++) sum += c[k - 1] * (f[(k + 3) * stride] - f[(4 - k) * stride]);
    return sum / h;
}
static double second_derivative(const double *f, double middle, int stride, double h) {
    static const double c[4] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};
    double sum = -205.0 / 72 * middle;
    for (int k = 1; k <= 4; k++) sum += c[k - 1] * (f[(k + 3) * stride] + f[(4 - k) * stride]);
    return sum / (h * h);
}

/* --- the reference -------------------------------------------------------------------------------- */

/* G (rows x free speeds) and g; checks on the way that the state satisfies everything. */
static void differentiate(subject *s, double *G, double *g) {
    static double samples[SAMPLES][MAX_ROWS];
    double fastest = 3;
    for (int k = 0; k < s->nv; k++) fastest = fmax(fastest, fabs(s->v[k]));
    const double h = 0.06 / fastest; /* no joint turns far within the samples */
    double middle[MAX_ROWS], plain[MAX_ROWS], q[MAX_NQ], unit[MAX_NV] = {0}, zero[MAX_NV] = {0};
    bool of_speed[MAX_ROWS];
    int m = s->rows = closures_at(s->model, s->data, s->loops.t, s->q, s->v, middle, of_speed);
    for (int r = 0; r < m; r++)
        if (!(fabs(middle[r]) < 1e-10)) fail_msg("seed %d: row %d is off by %g", s->loops.seed, r, middle[r]);
    for (int k = 0; k < SAMPLES; k++) {
        double step = offset(k, h);
        memcpy(q, s->q, sizeof q);
        lw_integrate_q(s->model, q, s->v, step);
        closures_at(s->model, s->data, s->loops.t + step, q, s->v, samples[k], of_speed);
    }
    for (int r = 0; r < m; r++) {
        double rate = first_derivative(&samples[0][r], MAX_ROWS, h);
        g[r] = of_speed[r] ? rate : second_derivative(&samples[0][r], middle[r], MAX_ROWS, h);
        if (!of_speed[r] && !(fabs(rate) < differences))
            fail_msg("seed %d: row %d has the rate %g", s->loops.seed, r, rate);
    }
    closures_at(s->model, s->data, s->loops.t, s->q, zero, plain, of_speed);
    for (int j = 0; j < s->free_count; j++) {
        unit[s->free_speed[j]] = 1;
        for (int k = 0; k < SAMPLES; k++) {
            memcpy(q, s->q, sizeof q);
            lw_integrate_q(s->model, q, unit, offset(k, h));
            closures_at(s->model, s->data, s->loops.t, q, zero, samples[k], of_speed);
        }
        closures_at(s->model, s->data, s->loops.t, s->q, unit, middle, of_speed);
        for (int r = 0; r < m; r++)
            G[r + j * m] = of_speed[r] ? middle[r] - plain[r] : first_derivative(&samples[0][r], MAX_ROWS, h);
        unit[s->free_speed[j]] = 0;
    }
}

static void solve_reference(subject *s) {
    static double G[MAX_ROWS * MAX_NV], Gt[MAX_ROWS * MAX_NV], M[MAX_NV * MAX_NV], L[MAX_NV * MAX_NV];
    double g[MAX_ROWS], bias[MAX_NV], zero[MAX_NV] = {0}, start[MAX_NV], change[MAX_NV];
    int n = s->free_count, one = 1, info = 0;
    differentiate(s, G, g);
    int m = s->rows;
    lw_open_inverse(s->model, s->data, s->loops.t, s->q, s->v, zero, bias);
    memcpy(s->vdot, s->data->vdot, (size_t)s->nv * sizeof *s->vdot); /* the prescribed ones; in g already */
    lw_tree_mass_matrix(s->model, s->data, s->loops.t, s->q, M);
    for (int i = 0; i < n; i++) {
        start[i] = s->tau[s->free_speed[i]] - bias[s->free_speed[i]];
        for (int j = 0; j < n; j++) L[i + j * n] = M[s->free_speed[i] * s->nv + s->free_speed[j]];
    }
    if (n > 0) {
        dpotrf_("L", &n, L, &n, &info);
        assert_int_equal(info, 0);
        dtrtrs_("L", "N", "N", &n, &one, L, &n, start, &n, &info);
        dtrtrs_("L", "T", "N", &n, &one, L, &n, start, &n, &info); /* vdot_0 */
    }
    for (int r = 0; r < m; r++)
        for (int j = 0; j < n; j++) Gt[j + r * n] = G[r + j * m]; /* (G L^-T)' = L^-1 G' */
    if (n > 0 && m > 0) dtrtrs_("L", "N", "N", &n, &m, L, &n, Gt, &n, &info);
    for (int r = 0; r < m; r++) {
        g[r] = -g[r];
        for (int j = 0; j < n; j++) g[r] -= G[r + j * m] * start[j], G[r + j * m] = Gt[j + r * n];
    }
    closures_svd d = closures_decompose(m, n, G, rank_threshold, 0.1);
    double scale = 1, left = 0;
    for (int r = 0; r < m; r++) scale = fmax(scale, fabs(g[r]));
    closures_solve(&d, g, change);
    for (int r = 0; r < m; r++) left = fmax(left, fabs(g[r]));
    s->rank = d.rank;
    s->kappa = d.rank > 0 ? d.s[0] / d.s[d.rank - 1] : 1;
    closures_discard(&d);
    if (!(left / scale < differences * fmax(1, s->kappa / well_conditioned)))
        fail_msg("seed %d, %s: no acceleration satisfies the closures, %g is left", s->loops.seed,
                 loop_kind_name(s->loops.kind), left / scale);
    if (n > 0) dtrtrs_("L", "T", "N", &n, &one, L, &n, change, &n, &info);
    for (int i = 0; i < n; i++) s->vdot[s->free_speed[i]] = start[i] + change[i];
}

/* --- wrenches ------------------------------------------------------------------------------------- */

/* Adds factor times a wrench (torque; force) at x to a column of 6 numbers per body: about centres of mass. */
static void act(const subject *s, int body, double factor, const double w[6], const double x[3],
                double *columns) {
    if (body == 0) return;
    double centre[3], arm[3], moment[3], *out = columns + 6 * (body - 1);
    closures_point(s->data, body, s->model->bodies[body].com, centre);
    lw_v3_sub(x, centre, arm);
    lw_v3_cross(arm, w + 3, moment);
    for (int k = 0; k < 3; k++) out[k] += factor * (w[k] + moment[k]), out[3 + k] += factor * w[3 + k];
}

/* The six wrenches of a joint in world axes at its point on the second body, as joint.h orders them. */
static void joint_wrenches(const subject *s, int j, double W[36], double at[3]) {
    const lw_joint_entry *entry = &s->model->joints[j];
    lw_pose ends[2], place;
    double q[LW_JOINT_MAX_Q], local[36];
    closures_place(s->data, entry, ends, &place);
    lw_joint_zero(entry->joint.type, q);
    lw_joint_fit(&entry->joint, place.R, place.p, q);
    lw_joint_dual(&entry->joint, q, local);
    for (int k = 0; k < 12; k++) lw_m3_mul_v(ends[1].R, local + 3 * k, W + 3 * k);
    lw_v3_copy(ends[1].p, at);
}

/* The wrenches on the bodies that constraints can exert, one column each; returns how many. */
static int constraint_columns(const subject *s, double *A) {
    const lw_model *model = s->model;
    int size = 6 * model->body_count, n = 0;
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint *c = &model->constraints[k];
        double a[3], b[3], along[3][3], w[6] = {0}, W[36], at[3], *column = A + n * size;
        int rows = c->type == LW_CONSTRAINT_ROLLING ? 3 : 1;
        memset(column, 0, (size_t)(rows * size) * sizeof *column);
        n += rows;
        if (c->type == LW_CONSTRAINT_DISTANCE) {
            closures_point(s->data, c->bodies[0], c->points[0], a);
            closures_point(s->data, c->bodies[1], c->points[1], b);
            lw_v3_sub(b, a, w + 3);
            act(s, c->bodies[1], 1, w, b, column);
            act(s, c->bodies[0], -1, w, a, column);
        } else if (c->type == LW_CONSTRAINT_ROLLING) {
            closures_touch(s->data, c, a, along);
            for (int i = 0; i < 3; i++) {
                lw_v3_copy(along[i], w + 3);
                act(s, c->bodies[0], 1, w, a, column + i * size);
                act(s, c->bodies[1], -1, w, a, column + i * size);
            }
        } else
            for (int i = 0; i < c->terms; i++)
                for (int j = 0; j < model->joint_count; j++) {
                    const lw_joint_info *info = &model->joints[j].info;
                    int speed = c->speeds[i] - info->v;
                    if (info->cut || speed < 0 || speed >= info->v_count) continue;
                    joint_wrenches(s, j, W, at);
                    act(s, info->bodies[1], c->factors[i], W + 6 * speed, at, column);
                    act(s, info->bodies[0], -c->factors[i], W + 6 * speed, at, column);
                }
    }
    return n;
}

/* Which components are unique: those that no self-equilibrated set of transmitted wrenches touches. */
static void find_unique(subject *s) {
    const lw_model *model = s->model;
    int size = 6 * model->body_count, n = 0, count = 6 * model->joint_count;
    static double A[6 * LOOP_BODIES * 2 * MAX_ROWS], transmitted[2 * MAX_ROWS][6];
    int of_joint[2 * MAX_ROWS];
    lw_take_state(model, s->data, s->loops.t, s->q, s->v);
    lw_positions(model, s->data);
    lw_world_poses(model, s->data);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        double W[36], at[3];
        joint_wrenches(s, j, W, at);
        for (int k = 0; k < 6; k++) {
            bool passes = k >= model->joints[j].joint.nv || (!info->cut && info->prescribed >> k & 1);
            if (!passes) continue;
            memset(A + n * size, 0, (size_t)size * sizeof *A);
            act(s, info->bodies[1], 1, W + 6 * k, at, A + n * size);
            act(s, info->bodies[0], -1, W + 6 * k, at, A + n * size);
            memcpy(transmitted[n], W + 6 * k, sizeof transmitted[n]);
            of_joint[n++] = j;
        }
    }
    int joints = n;
    n += constraint_columns(s, A + n * size);
    assert_true(n <= 2 * MAX_ROWS);
    closures_svd d = closures_decompose(size, n, A, 1e-9, 0);
    double most[6 * LOOP_JOINTS] = {0};
    for (int k = d.rank; k < n; k++) {
        double sum[6 * LOOP_JOINTS] = {0};
        for (int c = 0; c < joints; c++)
            for (int i = 0; i < 6; i++)
                sum[6 * of_joint[c] + (i + 3) % 6] += d.Vt[k + c * n] * transmitted[c][i]; /* force first */
        for (int c = 0; c < count; c++) most[c] = fmax(most[c], fabs(sum[c]));
    }
    closures_discard(&d);
    for (int c = 0; c < count; c++) {
        s->unique[c] = most[c] < 1e-7;
        s->doubtful[c] = most[c] > 1e-10 && most[c] < 1e-4; /* near either threshold anything goes */
    }
}

/* What is left over on the bodies when all wrenches act: those of the method less those that make the tree, with inverse
 * dynamics, accelerate like that. Constraints may take what they can. */
static double imbalance(subject *s, const double *vdot, const double *reactions) {
    const lw_model *model = s->model;
    static double A[6 * LOOP_BODIES * MAX_ROWS];
    double tree[6 * LOOP_JOINTS], net[6 * LOOP_BODIES] = {0}, force[MAX_ROWS], scale = 1, worst = 0;
    int size = 6 * model->body_count;
    lw_open_reactions(model, s->data, s->loops.t, s->q, s->v, vdot, tree);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        double w[6], at[3];
        for (int k = 0; k < 6; k++) {
            w[(k + 3) % 6] = reactions[6 * j + k] - tree[6 * j + k];
            scale = fmax(scale, fmax(fabs(reactions[6 * j + k]), fabs(tree[6 * j + k])));
        }
        closures_point(s->data, entry->info.bodies[1], entry->frames[1].p, at);
        act(s, entry->info.bodies[1], 1, w, at, net);
        act(s, entry->info.bodies[0], -1, w, at, net);
    }
    int n = constraint_columns(s, A);
    if (n > 0) {
        closures_svd d = closures_decompose(size, n, A, 1e-9, 0);
        closures_solve(&d, net, force);
        closures_discard(&d);
    }
    for (int k = 0; k < size; k++) worst = worse(worst, fabs(net[k]));
    return worst / scale;
}

/* --- one mechanism -------------------------------------------------------------------------------- */

static bool prescribed(const lw_model *model, int speed) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        int k = info->cut ? -1 : speed - info->v;
        if (k >= 0 && k < info->v_count) return info->prescribed >> k & 1;
    }
    return false;
}

static void set_up(subject *s, int seed) {
    memset(s, 0, sizeof *s);
    random_loops_build(&s->loops, seed);
    s->model = compile_or_fail(s->loops.spec);
    assert_int_equal(lw_data_create(s->model, NULL, &s->data), LW_OK);
    s->nq = lw_model_q_size(s->model), s->nv = lw_model_v_size(s->model);
    s->moved = random_loops_state(&s->loops, s->model, seed % 5 < 3, s->q, s->v);
    random_vector(&s->loops.random, s->nv, 3, s->tau);
    for (int k = 0; k < s->nv; k++)
        if (prescribed(s->model, k))
            s->tau[k] = 0;
        else
            s->free_speed[s->free_count++] = k;
    solve_reference(s);
    find_unique(s);
}

static void tear_down(subject *s) {
    lw_data_destroy(s->data);
    lw_model_destroy(s->model);
}

static void record(const subject *s, int method, check_kind check, double difference, double tolerance) {
    score *own = &scores[method];
    double ratio = difference / tolerance;
    if (!(ratio <= own->worst[check])) own->worst[check] = ratio;
    if (ratio <= 1) return;
    if (own->failed[check]++ < 5)
        print_error("seed %d, %s on a %s base%s, kappa %.1e, method %s: %s: %g, allowed %g\n", s->loops.seed,
                    loop_kind_name(s->loops.kind), loop_base_name(s->loops.base), s->moved ? ", moved" : "",
                    s->kappa, s->methods[method]->name, check_names[check], difference, tolerance);
}

/* How much wider tolerances are here than on a well-conditioned mechanism. */
static double slack(const subject *s) {
    double ratio = s->kappa / well_conditioned;
    return ratio > 1 ? ratio * ratio : 1;
}

/* What a method is held to here. An approximate one says how far it may be off; what it neglects is weighed by the
 * weakest closure, with the square of kappa, and a kappa below five is rare. */
static double tolerance_of(const subject *s, const lw_formulation *f) {
    double ratio = fmax(1, s->kappa / 5);
    return fmax(agreement * slack(s), f->accuracy * ratio * ratio);
}

static void test_accelerations(subject *s, int m, lw_method *method) {
    const lw_formulation *f = s->methods[m];
    lw_error error = {0};
    lw_status status = f->accelerations(method, s->loops.t, s->q, s->v, s->tau, s->accelerations[m],
                                        s->reactions[m], s->unique_said[m], &error);
    double own = tolerance_of(s, f);
    if (status != LW_OK && f->accuracy > 0 &&
        own > 1e-3) { /* an approximate method sees that it has no digit there */
        s->methods[m] = NULL;
        return;
    }
    if (status != LW_OK) {
        print_error("%s\n", error.message);
        record(s, m, ACCELERATIONS, HUGE_VAL, 1);
        return;
    }
    record(s, m, ACCELERATIONS, apart(s->vdot, s->accelerations[m], s->nv),
           fmax(differences * slack(s), own));
    record(s, m, BALANCE, imbalance(s, s->accelerations[m], s->reactions[m]), own);
    int wrong = 0;
    for (int k = 0; k < 6 * s->model->joint_count; k++)
        wrong += !s->doubtful[k] && s->unique[k] != s->unique_said[m][k];
    record(s, m, UNIQUE, wrong, 0.5);
}

/* Each within half the bound of lagrange, which applies to everything: so any two are within the bound. */
static void test_agreement(const subject *s) {
    int count = 6 * s->model->joint_count, hub = 0;
    while (lw_formulation_at(hub) != lw_formulation_find("lagrange")) hub++;
    for (int m = 0; m < MAX_METHODS; m++) {
        if (!s->methods[m] || m == hub) continue;
        double tolerance = tolerance_of(s, s->methods[m]) * (s->methods[m]->accuracy > 0 ? 1 : 0.5);
        double here[6 * LOOP_JOINTS] = {0}, there[6 * LOOP_JOINTS] = {0};
        for (int k = 0; k < count; k++)
            if (s->unique[k]) here[k] = s->reactions[m][k], there[k] = s->reactions[hub][k];
        record(s, m, AGREEMENT, apart(s->accelerations[hub], s->accelerations[m], s->nv), tolerance);
        record(s, m, AGREEMENT, apart(there, here, count), tolerance);
    }
}

static double pose_difference(const subject *s, const double *q1, const double *q2) {
    double worst = 0;
    for (int i = 1; i <= s->model->body_count; i++) {
        double Ra[9], Rb[9], pa[3], pb[3];
        lw_body_pose(s->model, s->data, s->loops.t, q1, i, pa, Ra);
        lw_body_pose(s->model, s->data, s->loops.t, q2, i, pb, Rb);
        worst = worse(worst, worse(apart(pa, pb, 3), apart(Ra, Rb, 9)));
    }
    return worst;
}

/* There and back; the derivative carries the accelerations; energy changes by the power that is booked. */
static void test_state(subject *s, int m, lw_method *method) {
    const lw_formulation *f = s->methods[m];
    double t = s->loops.t, y[MAX_STATE], ydot[MAX_STATE], nudged[MAX_STATE], q[2][MAX_NQ], v[2][MAX_NV],
           rate[MAX_NQ];
    double zero[MAX_NV] = {0}, vdot[MAX_NV], total[SAMPLES], magnitude = 1;
    lw_power power = {0};
    lw_error error = {0};
    assert_true(method->state_size <= MAX_STATE);
    f->to_state(method, t, s->q, s->v, y);
    f->from_state(method, t, y, q[0], v[0]);
    record(s, m, ROUND_TRIP, worse(pose_difference(s, s->q, q[0]), apart(s->v, v[0], s->nv)), 1e-12);
    if (!f->derivative) return;
    lw_status status =
        f->accelerations(method, t, s->q, s->v, zero, vdot, NULL, NULL, &error); /* a run has no tau */
    if (status == LW_OK) status = f->derivative(method, t, y, ydot, &power, &error);
    if (status != LW_OK) {
        print_error("%s\n", error.message);
        record(s, m, DERIVATIVE, HUGE_VAL, 1);
        return;
    }
    const double h = 1e-6; /* errors of order h^2 times third derivatives, and 1e-16 / h */
    for (int side = 0; side < 2; side++) {
        double step = side ? h : -h;
        for (int k = 0; k < method->state_size; k++) nudged[k] = y[k] + step * ydot[k];
        f->from_state(method, t + step, nudged, q[side], v[side]);
        lw_same_signs(s->model, s->q, q[side]);
    }
    lw_q_rate(s->model, s->q, s->v, rate);
    for (int k = 0; k < s->nv; k++) v[0][k] = (v[1][k] - v[0][k]) / (2 * h);
    for (int k = 0; k < s->nq; k++) q[0][k] = (q[1][k] - q[0][k]) / (2 * h);
    record(s, m, DERIVATIVE, worse(apart(vdot, v[0], s->nv), apart(rate, q[0], s->nq)),
           fmax(1e-6 * slack(s), f->accuracy));

    /* a short step, since tables are C1 only and a bushing's potential has a kink where its rotation passes pi; only first
     * derivatives matter, so that leaving the constraints does not */
    const double step = 0.001;
    for (int k = 0; k < SAMPLES; k++) {
        memcpy(q[0], s->q, sizeof q[0]);
        lw_integrate_q(s->model, q[0], s->v, offset(k, step));
        for (int i = 0; i < s->nv; i++) v[0][i] = s->v[i] + offset(k, step) * vdot[i];
        lw_energy energy = lw_energy_of(s->model, s->data, t + offset(k, step), q[0], v[0]);
        total[k] = energy.kinetic + energy.potential;
        magnitude = fmax(magnitude, fmax(energy.kinetic, fabs(energy.potential)));
    }
    double booked = power.drives + power.forces - power.dissipation;
    magnitude = fmax(magnitude, fmax(fabs(power.drives), fabs(power.forces)));
    record(s, m, POWER, fabs(first_derivative(total, 1, step) - booked) / magnitude,
           fmax(1e-6 * slack(s), tolerance_of(s, f)));
}

static void test_projection(subject *s, int m, lw_method *method) {
    const lw_formulation *f = s->methods[m];
    double t = s->loops.t, y[MAX_STATE], projected[MAX_STATE], position, velocity;
    lw_error error = {0};
    if (!f->project) return;
    f->to_state(method, t, s->q, s->v, y);
    memcpy(projected, y, sizeof y);
    lw_status status = f->project(method, t, projected, &error);
    /* rounding of positions and speeds, as far as the closures enlarge it */
    record(s, m, KEEPS, status == LW_OK ? apart(y, projected, method->state_size) : HUGE_VAL,
           1e-12 * fmax(1, s->kappa));
    if (!f->violation) return;
    for (int k = 0; k < method->state_size; k++) y[k] += random_between(&s->loops.random, -1e-4, 1e-4);
    status = f->project(method, t, y, &error);
    f->violation(method, t, y, &position, &velocity);
    record(s, m, REPAIRS, status == LW_OK ? worse(position, velocity) : HUGE_VAL, 1e-10 * slack(s));
}

/* --- mobility ------------------------------------------------------------------------------------- */

static lw_redundancy *redundancy_at(const lw_model *model, double t, const double *q) {
    lw_newton_euler *system = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_redundancy *redundancy;
    lw_error error;
    assert_non_null(system);
    lw_newton_euler_rows_at(system, t, q, NULL);
    assert_int_equal(lw_redundancy_create(system, &redundancy, &error), LW_OK);
    lw_newton_euler_destroy(system);
    return redundancy;
}

/* Does an element, a coupling or a motion hold on to this joint? Then it must stay in the tree. */
static bool held(lw_spec *spec, size_t j) {
    const lw_joint_spec *joint = lw_spec_joint(spec, j);
    for (int k = 0; k < LW_JOINT_MAX_V; k++)
        if (joint->motion[k]) return true;
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        const char *name = lw_spec_force(spec, k)->joint;
        if (name && strcmp(name, joint->name) == 0) return true;
    }
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++)
        for (int i = 0; i < lw_spec_constraint(spec, k)->terms; i++)
            if (strcmp(lw_spec_constraint(spec, k)->joints[i], joint->name) == 0) return true;
    return false;
}

/* Rank and mobility are those of the reference; where the loops are cut changes nothing. */
static void mobility_belongs_to_the_mechanism(void **state) {
    (void)state;
    static subject s;
    int differs = 0, other_cuts = 0;
    for (int seed = 0; seed < MECHANISMS; seed++) {
        set_up(&s, seed);
        lw_redundancy *here = redundancy_at(s.model, s.loops.t, s.q);
        int mobility = s.free_count - s.rank, kept = 0;
        for (int r = 0; r < here->rows; r++) kept += here->kept[r];
        assert_int_equal(kept, here->rank);
        bool single = s.loops.kind == LOOP_CRANKS || s.loops.kind == LOOP_BENNETT;
        if (single) assert_int_equal(mobility, 1 + (s.loops.base == LOOP_FIXED ? 0 : s.loops.freedom[0]));
        random_loops again;
        random_loops_build(&again, seed);
        for (size_t j = 0; j < lw_spec_joint_count(again.spec); j++)
            lw_spec_joint(again.spec, j)->cut = !held(again.spec, j) && random_below(&again.random, 2);
        lw_model *other = compile_or_fail(again.spec);
        double q[MAX_NQ];
        random_loops_configuration(&again, other, q);
        lw_redundancy *there = redundancy_at(other, again.t, q);
        for (int j = 0; j < again.joints; j++)
            if (lw_model_joint_info(other, j).cut != lw_model_joint_info(s.model, j).cut) {
                other_cuts++;
                break;
            }
        if (here->mobility != mobility || here->rank != s.rank || here->nulls != s.rows - s.rank ||
            there->mobility != mobility) {
            if (differs++ < 10)
                print_error(
                    "seed %d, %s on a %s base: mobility %d, with other cuts %d, by the reference %d\n", seed,
                    loop_kind_name(s.loops.kind), loop_base_name(s.loops.base), here->mobility,
                    there->mobility, mobility);
        }
        lw_redundancy_destroy(here), lw_redundancy_destroy(there);
        lw_model_destroy(other);
        tear_down(&s);
    }
    print_message("%d of %d mechanisms also with other cuts\n", other_cuts, MECHANISMS);
    if (differs) fail_msg("mobility of %d mechanisms", differs);
}

/* The mechanisms are what they should be: every joint in the tree, in both senses, and as a closure; every constraint. */
static void everything_occurs(void **state) {
    (void)state;
    int tree[LW_JOINT_TYPES] = {0}, cut[LW_JOINT_TYPES] = {0}, reversed = 0,
        constraints[LW_CONSTRAINT_TYPES] = {0}, coupled = 0;
    for (int seed = 0; seed < MECHANISMS; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        for (int j = 0; j < loops.joints; j++) {
            lw_joint_info info = lw_model_joint_info(model, j);
            (info.cut ? cut : tree)[info.type]++;
            reversed += info.reversed;
        }
        for (int k = 0; k < lw_model_constraint_count(model); k++)
            constraints[lw_model_constraint_type(model, k)]++;
        coupled += lw_model_loop_count(model) > 1;
        lw_model_destroy(model);
    }
    for (int k = 0; k < LW_JOINT_TYPES; k++) {
        print_message("%s: %d in trees, %d closures\n", lw_joint_type_name((lw_joint_type)k), tree[k],
                      cut[k]);
        assert_true(tree[k] >= 10 && cut[k] >= 10);
    }
    for (int k = 0; k < LW_CONSTRAINT_TYPES; k++) {
        print_message("%s: %d\n", lw_constraint_type_name((lw_constraint_type)k), constraints[k]);
        assert_true(constraints[k] >= 10);
    }
    print_message("reversed joints: %d; mechanisms with several loops: %d\n", reversed, coupled);
    assert_true(reversed >= 100 && coupled >= 100);
}

/* --- all methods ---------------------------------------------------------------------------------- */

static void every_method_agrees(void **state) {
    (void)state;
    static subject s;
    int kinds[LOOP_KINDS] = {0}, bases[LOOP_BASES] = {0}, moved = 0, stuck = 0, redundant = 0, difficult = 0;
    for (int seed = 0; seed < MECHANISMS; seed++) {
        set_up(&s, seed);
        kinds[s.loops.kind]++, bases[s.loops.base]++, moved += s.moved;
        stuck += s.rank == s.free_count, redundant += s.rank<s.rows, difficult += s.kappa> well_conditioned;
        for (int k = 0; k < lw_formulation_count(); k++) {
            const lw_formulation *f = lw_formulation_at(k);
            const lw_method_options options = {0};
            lw_error error;
            lw_method *method;
            assert_true(k < MAX_METHODS);
            if (f->applies(s.model, &error) != LW_OK) continue;
            assert_int_equal(f->create(s.model, &options, &method, &error), LW_OK);
            s.methods[k] = f;
            test_accelerations(&s, k, method);
            if (s.methods[k]) test_state(&s, k, method);
            if (s.methods[k]) test_projection(&s, k, method);
            f->destroy(method);
            scores[k].tested++;
        }
        test_agreement(&s);
        tear_down(&s);
    }
    print_message("%d mechanisms:", MECHANISMS);
    for (int k = 0; k < LOOP_KINDS; k++) print_message(" %s %d,", loop_kind_name((loop_kind)k), kinds[k]);
    for (int k = 0; k < LOOP_BASES; k++)
        print_message(" %s base %d,", loop_base_name((loop_base)k), bases[k]);
    print_message(" moved %d, stuck %d, with dependent rows %d, kappa > %g %d\n", moved, stuck, redundant,
                  well_conditioned, difficult);
    int failures = 0;
    for (int k = 0; k < lw_formulation_count(); k++) {
        const score *own = &scores[k];
        print_message("method %s: %d mechanisms; worst difference / tolerance (failures):",
                      lw_formulation_at(k)->name, own->tested);
        for (int c = 0; c < CHECKS && own->tested; c++) {
            print_message(" %s %.1e (%d)%s", check_names[c], own->worst[c], own->failed[c],
                          c + 1 < CHECKS ? "," : "");
            failures += own->failed[c];
        }
        print_message("\n");
    }
    if (failures) fail_msg("%d checks failed", failures);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_occurs),
        cmocka_unit_test(mobility_belongs_to_the_mechanism),
        cmocka_unit_test(every_method_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
