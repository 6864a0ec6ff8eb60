/* test_formulations.c - every registered formulation on random mechanisms, against an independent reference.
 *
 * The reference knows no recursion: the mass matrix and inverse dynamics at rest of acceleration, solved by LAPACK, and the
 * balance of every body (test_tree.c) stand behind the numbers compared here. A formulation is tested wherever it says that
 * it applies:
 *
 *   accelerations and unique reactions       against the reference
 *   derivative                               carries the same accelerations, and the rates of the coordinates
 *   residual                                 vanishes on the derivative
 *   to_state, from_state                     there and back
 *   power                                    equals that of the reference method
 */
#include "random_model.h"
#include "formulations/common/tree_method_base.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding times the condition of the equations that a formulation solves. */
static const double agreement = 1e-9;

enum { MODELS = 150, MAX_NV = 96, MAX_STATE = 40 * MAX_NV };

typedef struct reference {
    lw_model *model;
    lw_data *data;
    int nq, nv, seed;
    double t, q[2 * MAX_NV], v[MAX_NV], tau[MAX_NV], vdot[MAX_NV], *reactions;
} reference;

extern void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                   const int *ldb, int *info);

static bool prescribed(const lw_model *model, int speed) {
    for (int i = 1; i <= model->body_count; i++) {
        int k = speed - model->links[i].v;
        if (k >= 0 && k < model->links[i].joint.nv) return model->links[i].prescribed >> k & 1;
    }
    return false;
}

/* M vdot = tau - (inverse dynamics with vdot = 0), prescribed speeds left out. */
static void solve_reference(reference *r) {
    double zero[MAX_NV] = {0}, bias[MAX_NV], b[MAX_NV];
    double *M = calloc((size_t)(r->nv * r->nv + 1), sizeof *M),
           *A = calloc((size_t)(r->nv * r->nv + 1), sizeof *A);
    int free_speed[MAX_NV], n = 0, one = 1, info = 0;
    for (int k = 0; k < r->nv; k++)
        if (!prescribed(r->model, k)) free_speed[n++] = k;
    assert_int_equal(lw_tree_inverse_dynamics(r->model, r->data, r->t, r->q, r->v, zero, bias, NULL), LW_OK);
    memcpy(r->vdot, r->data->vdot, (size_t)r->nv * sizeof *r->vdot); /* the prescribed ones */
    lw_tree_mass_matrix(r->model, r->data, r->t, r->q, M);
    for (int i = 0; i < n; i++) {
        b[i] = r->tau[free_speed[i]] - bias[free_speed[i]];
        for (int j = 0; j < n; j++) A[i * n + j] = M[free_speed[i] * r->nv + free_speed[j]];
    }
    if (n > 0) dposv_("U", &n, &one, A, &n, b, &n, &info);
    assert_int_equal(info, 0);
    for (int i = 0; i < n; i++) r->vdot[free_speed[i]] = b[i];
    free(M), free(A);
}

static void set_up(reference *r, int seed) {
    lw_random random = random_seed((uint64_t)seed + 9000);
    random_tree options = {.bodies = 1 + random_below(&random, 7), /* short chains: well conditioned */
                           .forces = seed % 2,
                           .prescribed = seed % 3 == 1,
                           .reversed = seed % 4 < 2,
                           .aligned = seed % 5 < 3,
                           .joint = -1};
    r->seed = seed;
    r->model = random_tree_model(&random, &options);
    assert_int_equal(lw_data_create(r->model, NULL, &r->data), LW_OK);
    r->nq = lw_model_q_size(r->model), r->nv = lw_model_v_size(r->model);
    r->t = random_between(&random, 0, 3);
    random_state(&random, r->model, r->q, r->v);
    lw_take_state(r->model, r->data, r->t, r->q, r->v); /* with prescribed values */
    memcpy(r->q, r->data->q, (size_t)r->nq * sizeof *r->q);
    memcpy(r->v, r->data->v, (size_t)r->nv * sizeof *r->v);
    random_vector(&random, r->nv, 3, r->tau);
    for (int k = 0; k < r->nv; k++)
        if (prescribed(r->model, k)) r->tau[k] = 0;
    solve_reference(r);
    r->reactions = calloc((size_t)r->model->joint_count * 6 + 6, sizeof *r->reactions);
    assert_int_equal(lw_joint_reactions(r->model, r->data, r->t, r->q, r->v, r->vdot, r->reactions, NULL),
                     LW_OK);
}

static void tear_down(reference *r) {
    free(r->reactions);
    lw_data_destroy(r->data);
    lw_model_destroy(r->model);
}

static void check(const reference *r, const lw_formulation *f, double difference, const char *what) {
    if (!(difference <= fmax(agreement, f->accuracy)))
        fail_msg("seed %d, method %s: %s differ by %g", r->seed, f->name, what, difference);
}

static void test_accelerations(const reference *r, const lw_formulation *f, lw_method *method) {
    double vdot[MAX_NV];
    int n = 6 * r->model->joint_count;
    double *reactions = calloc((size_t)n + 1, sizeof *reactions);
    bool *unique = calloc((size_t)n + 1, sizeof *unique);
    lw_error error;
    assert_int_equal(f->accelerations(method, r->t, r->q, r->v, r->tau, vdot, reactions, unique, &error),
                     LW_OK);
    check(r, f, relative_difference(r->vdot, vdot, r->nv), "accelerations");
    for (int k = 0; k < n; k++)
        if (!unique[k]) reactions[k] = r->reactions[k];
    check(r, f, relative_difference(r->reactions, reactions, n), "reactions");
    free(reactions), free(unique);
}

static void test_state(reference *r, const lw_formulation *f, lw_method *method) {
    static double y[MAX_STATE], ydot[MAX_STATE], residual[MAX_STATE], nudged[MAX_STATE];
    double q[2 * MAX_NV], v[MAX_NV], q1[2 * MAX_NV], v1[MAX_NV], tau[MAX_NV] = {0}, rate[2 * MAX_NV];
    lw_power power = {0}, expected = {0};
    lw_error error;
    assert_true(method->state_size <= MAX_STATE);
    f->to_state(method, r->t, r->q, r->v, y);
    f->from_state(method, r->t, y, q, v);
    /* a quaternion and its opposite are the same rotation: compare by what they do */
    double Ra[9], Rb[9], pa[3], pb[3];
    for (int i = 1; i <= r->model->body_count; i++) {
        lw_body_pose(r->model, r->data, r->t, r->q, i, pa, Ra);
        lw_body_pose(r->model, r->data, r->t, q, i, pb, Rb);
        check(r, f, fmax(relative_difference(pa, pb, 3), relative_difference(Ra, Rb, 9)),
              "poses there and back");
    }
    check(r, f, relative_difference(r->v, v, r->nv), "speeds there and back");
    memcpy(r->tau, tau, sizeof tau); /* a run has no additional forces */
    solve_reference(r);
    if (f->derivative) {
        assert_int_equal(f->derivative(method, r->t, y, ydot, &power, &error), LW_OK);
        const double h =
            1e-6; /* one-sided steps of the state: errors of order h times second derivatives, and 1e-16 / h */
        for (int side = 0; side < 2; side++) {
            double step = side ? h : -h;
            for (int k = 0; k < method->state_size; k++) nudged[k] = y[k] + step * ydot[k];
            f->from_state(method, r->t + step, nudged, side ? q1 : q, side ? v1 : v);
            lw_same_signs(r->model, r->q, side ? q1 : q);
        }
        lw_q_rate(r->model, r->q, r->v, rate);
        double worst_v = 0, worst_q = 0, scale = 1;
        for (int k = 0; k < r->nv; k++) scale = fmax(scale, fabs(r->vdot[k]));
        for (int k = 0; k < r->nv; k++) worst_v = fmax(worst_v, fabs((v1[k] - v[k]) / (2 * h) - r->vdot[k]));
        for (int k = 0; k < r->nq; k++) worst_q = fmax(worst_q, fabs((q1[k] - q[k]) / (2 * h) - rate[k]));
        if (!(worst_v / scale < 1e-6 + f->accuracy) || !(worst_q < 1e-6))
            fail_msg("seed %d, method %s: the derivative moves speeds off by %g, coordinates by %g", r->seed,
                     f->name, worst_v / scale, worst_q);
        lw_take_state(r->model, r->data, r->t, r->q, r->v);
        assert_int_equal(lw_tree_solve(r->model, r->data, r->t, NULL, &error), LW_OK);
        expected = r->data->power;
        for (int k = 0; k < r->nv; k++)
            if (prescribed(r->model, k)) expected.drives += r->data->drive[k] * r->data->v[k];
        double size = 1 + fabs(expected.drives) + fabs(expected.forces) + fabs(expected.dissipation);
        check(r, f, fabs(power.drives - expected.drives) / size, "power of drives");
        check(r, f, fabs(power.forces - expected.forces) / size, "power of forces");
        check(r, f, fabs(power.dissipation - expected.dissipation) / size, "dissipation");
    }
    if (f->residual && f->derivative) {
        assert_int_equal(f->residual(method, r->t, y, ydot, residual, &power, &error), LW_OK);
        double worst = 0, scale = 1;
        for (int k = 0; k < method->state_size; k++) {
            worst = fmax(worst, fabs(residual[k]));
            scale = fmax(scale, fabs(ydot[k]));
        }
        check(r, f, worst / scale, "residual and zero");
    }
}

static void every_formulation_agrees_with_the_reference(void **state) {
    (void)state;
    int tested[64] = {0};
    for (int seed = 1; seed <= MODELS; seed++) {
        reference r = {0};
        set_up(&r, seed);
        for (int k = 0; k < lw_formulation_count(); k++) {
            const lw_formulation *f = lw_formulation_at(k);
            const lw_method_options options = {0};
            lw_error error;
            lw_method *method;
            if (f->applies(r.model, &error) != LW_OK) continue;
            assert_int_equal(f->create(r.model, &options, &method, &error), LW_OK);
            assert_ptr_equal(method->formulation, f);
            test_accelerations(&r, f, method);
            double tau[MAX_NV], vdot[MAX_NV];
            memcpy(tau, r.tau, sizeof tau), memcpy(vdot, r.vdot, sizeof vdot);
            test_state(&r, f, method);
            memcpy(r.tau, tau, sizeof tau), memcpy(r.vdot, vdot, sizeof vdot);
            f->destroy(method);
            tested[k]++;
        }
        tear_down(&r);
    }
    for (int k = 0; k < lw_formulation_count(); k++) {
        print_message("method %s: %d of %d mechanisms\n", lw_formulation_at(k)->name, tested[k], MODELS);
        if (!tested[k]) fail_msg("method %s applied to no mechanism", lw_formulation_at(k)->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formulation_agrees_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
