/* test_ida.c - ida makes Newton's matrix by differences where it has to, not whenever the step changes.
 *
 * IDA asks for F_y + c F_ydot anew as soon as c, about 1/h, has changed by some. With 29 states and contacts that come and go, four fifths of all
 * residuals went into that. Errors must still follow the tolerance: compared with erk at 1e-11.
 */
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { MAX = 64 };

static lw_run_summary run(const lw_model *model, const char *integrator, double tolerance, double end,
                          double *q) {
    lw_run_options options;
    lw_run_summary summary;
    lw_error error;
    double v[MAX];
    lw_run_defaults(model, &options);
    options.method = "tree", options.integrator = integrator, options.tolerance = tolerance;
    options.end = options.output = end;
    if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
        fail_msg("%s: %s", integrator, error.message);
    return summary;
}

static void residuals_go_into_steps(void **state) {
    (void)state;
    lw_model *model = read_problem("walker");
    double q[MAX];
    lw_run_summary summary = run(model, "ida", 1e-6, 1, q);
    /* one or two for a step, and 29 for some ten steps on the average; with a matrix for each change of c there were 7.5 */
    print_message("%g residuals for a step\n", (double)summary.evaluations / (double)summary.steps);
    assert_true((double)summary.evaluations < 5 * (double)summary.steps);
    lw_model_destroy(model);
}

static void errors_follow_the_tolerance(void **state) {
    (void)state;
    static const char *const problems[] = {"double_pendulum", "free_tree", "tumbling_body"};
    for (int p = 0; p < 3; p++) {
        lw_model *model = read_problem(problems[p]);
        int nq = lw_model_q_size(model);
        double exact[MAX], q[MAX];
        assert_true(nq <= MAX);
        run(model, "erk", 1e-11, 1, exact);
        for (int d = 4; d <= 9; d++) {
            double most = 0, tolerance = pow(10, -d);
            run(model, "ida", tolerance, 1, q);
            for (int k = 0; k < nq; k++) most = fmax(most, fabs(q[k] - exact[k]) / (1 + fabs(exact[k])));
            /* the tolerance is that of a step: 14 when each matrix was new */
            if (!(most < 50 * tolerance))
                fail_msg("%s at 1e-%d: %g tolerances", problems[p], d, most / tolerance);
        }
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_go_into_steps),
        cmocka_unit_test(errors_follow_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
