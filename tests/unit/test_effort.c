/* test_effort.c - how a run gets on, by counts; spectral radius and trial of bdf for systems whose eigenvalues are known.
 */
#include "simulation/progress_monitor.h"
#include "simulation/choice/stiffness.h"
#include "integrators_support.h"

/* --- effort --------------------------------------------------------------------------------------- */

/* Steps of length h with so many evaluations each, until the end or an answer; returns the answer. */
static lw_effort_answer walk(lw_effort *effort, double h, int evaluations, double until) {
    for (double t = effort->t; t < until;) {
        for (int k = 0; k < evaluations; k++) {
            lw_effort_answer answer = lw_effort_evaluated(effort);
            if (answer >= LW_EFFORT_HOPELESS) return answer;
        }
        t += h;
        lw_effort_stepped(effort, t);
    }
    return LW_EFFORT_COUNTED;
}

static void steady_runs_go_on(void **state) {
    (void)state;
    static const struct {
        double end, h;
    } runs[] = {{1e-2, 2e-8}, {10, 5e-6}, {3600, 1e-3}, {3e5, 0.1}, {1e-6, 2e-12}};
    for (int k = 0; k < 5; k++) {
        lw_effort effort = {0};
        lw_effort_start(&effort, 0, runs[k].end);
        assert_int_equal(walk(&effort, runs[k].h, 1, runs[k].end), LW_EFFORT_COUNTED);
    }
}

static void hopeless_ones_end(void **state) {
    (void)state;
    static const struct { double end, h; } runs[] = {{1e-2, 1e-9}, {10, 1e-8}, {3600, 1e-8}, {1, 1e-14}};
    for (int k = 0; k < 4; k++) {
        lw_effort effort = {0};
        lw_effort_start(&effort, 0, runs[k].end);
        assert_int_equal(walk(&effort, runs[k].h, 7, runs[k].end), LW_EFFORT_HOPELESS);
        assert_int_equal(effort.evaluations, 300000);
        /* what is wished for is not judged */
        effort = (lw_effort){.largest = runs[k].h};
        lw_effort_start(&effort, 0, runs[k].end);
        assert_int_equal(walk(&effort, runs[k].h, 7, 1e6 * runs[k].h), LW_EFFORT_COUNTED);
        effort = (lw_effort){.most = 1e12};
        lw_effort_start(&effort, 0, runs[k].end);
        if (runs[k].end / runs[k].h < 1e12)
            assert_int_equal(walk(&effort, runs[k].h, 7, 1e6 * runs[k].h), LW_EFFORT_COUNTED);
        effort = (lw_effort){.most = 1000};
        lw_effort_start(&effort, 0, runs[k].end);
        assert_int_equal(walk(&effort, runs[k].h, 7, runs[k].end), LW_EFFORT_SPENT);
        assert_int_equal(effort.steps, 1000);
    }
}

/* No evaluation leads to a step. */
static void standstill_ends(void **state) {
    (void)state;
    lw_effort effort = {0};
    lw_effort_start(&effort, 0, 1);
    long count = 0;
    while (lw_effort_evaluated(&effort) != LW_EFFORT_HOPELESS) count++;
    assert_true(count < 1000000);
}

/* An impact late in a long run, of many tiny steps, does not condemn it; one that lasts does. */
static void an_impact_is_passed(void **state) {
    (void)state;
    lw_effort effort = {0};
    lw_effort_start(&effort, 0, 100);
    assert_int_equal(walk(&effort, 1e-4, 7, 50), LW_EFFORT_COUNTED);
    assert_int_equal(walk(&effort, 1e-10, 7, 50 + 1e-5), LW_EFFORT_COUNTED);
    assert_int_equal(walk(&effort, 1e-4, 7, 60), LW_EFFORT_COUNTED);
    assert_int_equal(walk(&effort, 1e-10, 7, 100), LW_EFFORT_HOPELESS);
}

/* --- stiffness ------------------------------------------------------------------------------------ */

/* A damped oscillator, w and decay d in parameter[2]; beside it a slow one. */
typedef struct {
    lw_system base;
    double w, d;
} two;

static lw_status derivative(lw_system *base, double t, const double *y, double *ydot, lw_error *error) {
    (void)t, (void)error;
    const two *s = (const two *)base;
    ydot[0] = y[2], ydot[1] = y[3];
    ydot[2] = -s->w * s->w * y[0] - s->d * y[2] + y[1];
    ydot[3] = -y[1];
    return LW_OK;
}

static void the_radius_is_that_of_the_fastest(void **state) {
    (void)state;
    /* sqrt(w^2) = w undamped or with d < 2 w; the larger root of l^2 + d l + w^2 otherwise */
    static const double cases[][3] = {
        {1e3, 0, 1e3}, {1e5, 1e3, 1e5}, {10, 1e4, 1e4}, {1e4, 1e6, 999900}, {0, 0, 1}};
    for (int k = 0; k < 5; k++) {
        two system = {.base = {.size = 4, .derivative = derivative}, .w = cases[k][0], .d = cases[k][1]};
        double y[4] = {1e-3, 1, 0, 0.2}, work[12];
        double rho = lw_spectral_radius(&system.base, 0, y, work);
        /* eight products: phases of a complex pair leave some percent */
        if (!(fabs(rho / cases[k][2] - 1) < 0.2)) fail_msg("radius %g instead of %g", rho, cases[k][2]);
    }
}

/* What decays bdf steps over, what swings it has to follow. */
static void bdf_is_tried(void **state) {
    (void)state;
    const lw_integrator_options options = {0, 1e-6};
    two decays = {.base = {.size = 4, .derivative = derivative}, .w = 1e4, .d = 1e6};
    two swings = {.base = {.size = 4, .derivative = derivative}, .w = 1e4, .d = 0};
    double y[4] = {0.01, 1, 0, 0};
    assert_true(lw_bdf_reaches(&decays.base, &options, 0, y, 0.1, 1, 2000));
    assert_false(lw_bdf_reaches(&swings.base, &options, 0, y, 0.1, 1, 2000));
    assert_true(lw_bdf_reaches(&swings.base, &options, 0, y, 0.1, 1, 1000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_runs_go_on),
        cmocka_unit_test(hopeless_ones_end),
        cmocka_unit_test(standstill_ends),
        cmocka_unit_test(an_impact_is_passed),
        cmocka_unit_test(the_radius_is_that_of_the_fastest),
        cmocka_unit_test(bdf_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
