/* test_solver.c - a solver: every method on every small problem against single calls, tau, reactions, balance,
 * wrong calls, no history.
 */
#include "build.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 256 };

static const char *const problems[] = {"four_bar",         "double_pendulum", "andrews_squeezer",
                                       "gyro_top",         "slider_crank",    "bennett",
                                       "six_body_linkage", "stewart_platform"};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
    return most;
}

/* Methods agree on accelerations under an additional tau, answers balance, and the same question has the same
 * answer to the last bit after others. */
static void methods_agree(void **state) {
    (void)state;
    for (int p = 0; p < PROBLEMS; p++) {
        lw_model *model = read_problem(problems[p]);
        const int nv = lw_model_v_size(model), joints = lw_model_joint_count(model);
        double q[MAX], v[MAX], other[MAX], tau[MAX], first[MAX], vdot[MAX], again[MAX], amount;
        double reactions[6 * MAX], loads[6 * MAX];
        bool unique[6 * MAX], had = false;
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
        for (int k = 0; k < nv; k++) tau[k] = sin(1.3 * k + 0.2), other[k] = 0;
        for (int m = 0; m < lw_method_count(); m++) {
            lw_solver_options options;
            lw_error error = {0};
            lw_solver *solver;
            lw_solver_defaults(model, &options);
            options.method = lw_method_at(m).name;
            if (lw_solver_create(model, &options, NULL, &solver, &error) != LW_OK) continue;
            assert_string_equal(lw_solver_method(solver), options.method);
            lw_status status = lw_solver_accelerations(solver, 0, q, v, tau, vdot, &error);
            if (status != LW_OK) fail_msg("%s by %s: %s", problems[p], options.method, error.message);
            assert_int_equal(lw_solver_balance(solver, &amount, &error), LW_OK);
            assert_true(amount < 1e-6);
            assert_int_equal(lw_solver_reactions(solver, reactions, unique, &error), LW_OK);
            const double allowed = strcmp(options.method, "penalty") == 0 ? 1e-4 : 1e-8;
            if (!had) memcpy(first, vdot, sizeof first), memcpy(loads, reactions, sizeof loads), had = true;
            for (int k = 0; k < nv; k++)
                if (!(fabs(vdot[k] - first[k]) <= allowed * (1 + largest(first, nv))))
                    fail_msg("%s by %s: acceleration %d is %.12g instead of %.12g", problems[p],
                             options.method, k, vdot[k], first[k]);
            for (int k = 0; k < 6 * joints; k++)
                if (unique[k] &&
                    !(fabs(reactions[k] - loads[k]) <= allowed * (1 + largest(loads, 6 * joints))))
                    fail_msg("%s by %s: reaction %d is %.12g instead of %.12g", problems[p], options.method,
                             k, reactions[k], loads[k]);
            (void)lw_solver_accelerations(solver, 0.3, q, other, NULL, again, NULL);
            assert_int_equal(lw_solver_accelerations(solver, 0, q, v, tau, again, &error), LW_OK);
            assert_memory_equal(again, vdot, (size_t)nv * sizeof *vdot);
            lw_solver_destroy(solver);

            options.unchecked = true;
            assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
            assert_int_equal(lw_solver_accelerations(solver, 0, q, v, tau, again, &error), LW_OK);
            for (int k = 0; k < nv; k++)
                assert_true(fabs(again[k] - vdot[k]) <= allowed * (1 + largest(first, nv)));
            assert_int_equal(lw_solver_balance(solver, &amount, &error), LW_OK);
            assert_true(amount < 1e-6);
            lw_solver_destroy(solver);
        }
        assert_true(had);
        lw_model_destroy(model);
    }
}

static void wrong_calls(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_solver_options options;
    lw_solver *solver;
    lw_error error;
    double q[MAX], v[MAX], vdot[MAX], amount;
    lw_solver_defaults(model, &options);
    lw_solver_defaults(NULL, &options);
    lw_solver_defaults(model, NULL);
    assert_int_equal(lw_solver_create(NULL, &options, NULL, &solver, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_create(model, NULL, NULL, &solver, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_create(model, &options, NULL, NULL, NULL), LW_ERROR_ARGUMENT);
    options.method = "rcrr";
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "did you mean \"rcr\""));
    assert_null(solver);
    options.method = "tree";
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_ERROR_UNSUPPORTED);
    options.method = NULL;
    options.penalty = NAN;
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_ERROR_ARGUMENT);
    options.penalty = 0;
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
    assert_int_equal(lw_solver_reactions(solver, vdot, NULL, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "lw_solver_accelerations"));
    assert_int_equal(lw_solver_balance(solver, &amount, NULL), LW_ERROR_ARGUMENT);
    assert_true(isnan(amount));
    lw_model_initial_state(model, q, v);
    lw_assemble(model, 0, q, v, NULL, NULL);
    assert_int_equal(lw_solver_accelerations(solver, 0, NULL, v, NULL, vdot, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, NULL, NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_accelerations(NULL, 0, q, v, NULL, vdot, NULL), LW_ERROR_ARGUMENT);
    q[0] = NAN;
    assert_int_not_equal(lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error), LW_OK);
    lw_model_initial_state(model, q, v);
    lw_assemble(model, 0, q, v, NULL, NULL);
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error), LW_OK);
    assert_null(lw_solver_method(NULL));
    lw_solver_destroy(solver);
    lw_solver_destroy(NULL);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_agree),
        cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
