/* test_penalty.c - the penalty method is wrong by what its theory says: in proportion to 1 / penalty.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

enum { MAX_V = 16, MAX_JOINTS = 8 };

static const double x_axis[3] = {1, 0, 0}, z_axis[3] = {0, 0, 1}, tilted[3] = {0.3, 1, 0.2};
static const double origin[3] = {0, 0, 0}, left[3] = {0.2, 0.4, 0}, right[3] = {1.2, 0.7, 0},
                    foot[3] = {1.4, 0, 0};

static void add_link(lw_spec *spec, const char *name, double mass, double x, double y, double z) {
    add_body(spec, (lw_body_spec){.name = name,
                                  .mass = mass,
                                  .com = {x, y, z},
                                  .inertia = {0.05 * mass, 0.07 * mass, 0.1 * mass}});
}

/* Four revolute joints with parallel axes in space: three of the closing rows depend on the others. */
static lw_model *four_bar(void) {
    lw_spec *spec = lw_spec_create("four-bar");
    add_link(spec, "crank", 1, 0.1, 0.2, 0);
    add_link(spec, "coupler", 2, 0.7, 0.5, 0.02);
    add_link(spec, "rocker", 1.5, 1.3, 0.3, 0);
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, LW_GROUND, "crank", origin, z_axis);
    add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, "crank", "coupler", left, z_axis);
    add_plain_joint(spec, "c", LW_JOINT_REVOLUTE, "coupler", "rocker", right, z_axis);
    add_plain_joint(spec, "d", LW_JOINT_REVOLUTE, "rocker", LW_GROUND, foot, z_axis);
    lw_model *model = compile_or_fail(spec);
    assert_int_equal(lw_model_loop_count(model), 1);
    return model;
}

static lw_model *chain(void) {
    lw_spec *spec = lw_spec_create("chain");
    add_link(spec, "upper", 1, 0.1, 0.2, 0);
    add_link(spec, "middle", 2, 0.7, 0.5, 0.2);
    add_link(spec, "lower", 0.5, 1.3, 0.3, 0.1);
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, LW_GROUND, "upper", origin, z_axis);
    add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, "upper", "middle", left, tilted);
    add_plain_joint(spec, "c", LW_JOINT_PRISMATIC, "middle", "lower", right, x_axis);
    return compile_or_fail(spec);
}

typedef struct answer {
    double vdot[MAX_V], reactions[6 * MAX_JOINTS];
} answer;

/* The model's own state with random speeds that its loops allow. */
static void moving_state(const lw_model *model, double *q, double *v) {
    lw_random random = random_seed(7);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_violation rest;
    lw_error error;
    assert_non_null(projection);
    lw_model_initial_state(model, q, v);
    random_vector(&random, lw_model_v_size(model), 1, v);
    assert_int_equal(lw_project_velocities(projection, 0, q, v, &rest, &error), LW_OK);
    lw_projection_destroy(projection);
}

static lw_status solve(const lw_model *model, const char *name, double penalty, const double *q,
                       const double *v, answer *out, bool *unique, lw_error *error) {
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {.penalty = penalty};
    lw_method *method;
    assert_int_equal(f->create(model, &options, &method, error), LW_OK);
    lw_status status = f->accelerations(method, 0, q, v, NULL, out->vdot, out->reactions, unique, error);
    f->destroy(method);
    return status;
}

static void errors(const lw_model *model, const answer *exact, const bool *unique, double penalty,
                   const double *q, const double *v, double *acceleration, double *reaction) {
    lw_error error;
    answer own;
    int count = 6 * lw_model_joint_count(model);
    assert_int_equal(solve(model, "penalty", penalty, q, v, &own, NULL, &error), LW_OK);
    for (int k = 0; k < count; k++)
        if (!unique[k]) own.reactions[k] = exact->reactions[k];
    *acceleration = relative_difference(exact->vdot, own.vdot, lw_model_v_size(model));
    *reaction = relative_difference(exact->reactions, own.reactions, count);
}

static void check_slope(lw_model *model, const char *reference, const char *second) {
    double q[2 * MAX_V], v[MAX_V], accelerations[2], reactions[2];
    bool unique[6 * MAX_JOINTS];
    answer exact, other;
    lw_error error;
    moving_state(model, q, v);
    assert_int_equal(solve(model, reference, 0, q, v, &exact, unique, &error), LW_OK);
    assert_int_equal(solve(model, second, 0, q, v, &other, NULL, &error), LW_OK);
    /* two methods of another kind know the truth, to rounding */
    assert_true(relative_difference(exact.vdot, other.vdot, lw_model_v_size(model)) < 1e-12);
    /* Below 1e4 the next term of the series, of order 1 / penalty^2, shows; above 1e7 rounding, 1e-16 times penalty. */
    errors(model, &exact, unique, 1e4, q, v, &accelerations[0], &reactions[0]);
    assert_true(accelerations[0] < 1e-2); /* it does something sensible */
    for (int decade = 5; decade <= 7; decade++) {
        errors(model, &exact, unique, pow(10, decade), q, v, &accelerations[1], &reactions[1]);
        double slope_a = log10(accelerations[1] / accelerations[0]),
               slope_r = log10(reactions[1] / reactions[0]);
        if (!(fabs(slope_a + 1) < 0.02) || !(fabs(slope_r + 1) < 0.02))
            fail_msg("%s, penalty 1e%d: slopes %g and %g instead of -1", lw_model_name(model), decade,
                     slope_a, slope_r);
        accelerations[0] = accelerations[1], reactions[0] = reactions[1];
    }
    errors(model, &exact, unique, 0, q, v, &accelerations[1],
           &reactions[1]); /* its own choice is a good one */
    double accuracy = lw_formulation_find("penalty")->accuracy;
    assert_true(accelerations[1] < accelerations[0] && accelerations[1] < accuracy);
    assert_true(reactions[1] < reactions[0] && reactions[1] < accuracy);
    lw_model_destroy(model);
}

static void error_of_a_closed_loop(void **state) {
    (void)state;
    check_slope(four_bar(), "lagrange", "nullspace");
}

static void error_of_a_tree(void **state) {
    (void)state;
    check_slope(chain(), "tree", "lagrange");
}

/* A run takes the penalty from its options: a tenth of the error with ten times as much. */
static void run_takes_the_penalty(void **state) {
    (void)state;
    lw_model *model = chain();
    lw_run_options options;
    double q[4][MAX_V], v[MAX_V], difference[2];
    const double penalties[2] = {1e4, 1e5};
    lw_error error;
    lw_run_defaults(model, &options);
    assert_true(options.penalty == 0);
    options.end = 0.2, options.tolerance = 1e-12, options.drift = "none";
    options.method = "tree";
    assert_int_equal(lw_simulate(model, &options, q[2], v, NULL, &error), LW_OK);
    options.method = "penalty";
    for (int k = 0; k < 2; k++) {
        options.penalty = penalties[k];
        assert_int_equal(lw_simulate(model, &options, q[k], v, NULL, &error), LW_OK);
        difference[k] = relative_difference(q[2], q[k], lw_model_q_size(model));
    }
    /* the next term of the series again, and 1e-12 from the integrator beside differences above 1e-7 */
    if (!(fabs(difference[0] / difference[1] - 10) < 0.5))
        fail_msg("differences %g and %g at penalties 1e4 and 1e5", difference[0], difference[1]);
    options.penalty = -1;
    assert_int_equal(lw_simulate(model, &options, q[3], v, NULL, &error), LW_ERROR_ARGUMENT);
    assert_string_equal(error.message, "penalty -1 is not a positive number");
    options.penalty = NAN;
    assert_int_equal(lw_run_check(model, &options, &error), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

/* A massless body that may turn as it likes: no method without a reason to prefer one answer gives any. */
static void undetermined_accelerations_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"penalty", "nullspace", "nullspace-partition", "nullspace-svd"};
    lw_spec *spec = lw_spec_create("idle");
    add_link(spec, "arm", 1, 0.1, 0.2, 0);
    add_body(spec, (lw_body_spec){.name = "idle"});
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, LW_GROUND, "arm", origin, z_axis);
    add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, "arm", "idle", left, tilted);
    lw_model *model = compile_or_fail(spec);
    double q[MAX_V], v[MAX_V];
    lw_model_initial_state(model, q, v);
    for (int k = 0; k < 4; k++) {
        answer none;
        lw_error error = {0};
        assert_int_equal(solve(model, names[k], 0, q, v, &none, NULL, &error), LW_ERROR_SINGULAR);
        assert_non_null(strstr(error.message, "singular"));
        assert_non_null(strstr(error.remedy, "give mass or inertia"));
    }
    lw_model_destroy(model);
}

/* `lagrange` applies to everything and comes first, whatever is only approximate. */
static void auto_never_takes_it(void **state) {
    (void)state;
    lw_model *models[2] = {four_bar(), chain()};
    for (int k = 0; k < 2; k++) {
        lw_error error;
        assert_string_not_equal(lw_method_auto(models[k], NULL, 0, &error), "penalty");
        lw_model_destroy(models[k]);
    }
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        if (f->accuracy > 0) assert_true(f->rank > lw_formulation_find("lagrange")->rank);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_of_a_closed_loop), cmocka_unit_test(error_of_a_tree),
        cmocka_unit_test(run_takes_the_penalty),  cmocka_unit_test(undetermined_accelerations_are_refused),
        cmocka_unit_test(auto_never_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
