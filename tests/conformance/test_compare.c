/* test_compare.c - lw_compare: what it says of methods is what they are.
 *
 * Differences, conditions and runs are checked against the calls that they stand for; a model that no method could get wrong, and
 * ones with loops and redundant rows. On every problem no method gives a wrong number (LINKWORK_LONG=1; some of them otherwise).
 */
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static lw_comparison results[MOST];

static int compare(const lw_model *model, const lw_compare_options *options) {
    int count;
    lw_error error = {0};
    assert_true(lw_method_count() <= MOST);
    lw_status status = lw_compare(model, options, results, &count, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    return count;
}

/* Short times: these tests look at everything but them. */
static lw_compare_options quick(const lw_model *model) {
    lw_compare_options options;
    lw_compare_defaults(model, &options);
    options.timing = 0.01;
    options.run.end = 0.2;
    options.patience = 120; /* a run is not given up because the machine is busy */
    return options;
}

static void methods_agree_or_say_why(void **state) {
    (void)state;
    static const char *const problems[] = {"two_arms", "free_tree", "four_bar",
                                           "bricard",  "gantry",    "six_bodies"};
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = read_problem(problems[p]);
        lw_compare_options options = quick(model);
        int count = compare(model, &options), references = 0;
        bool trees = lw_method_applies("tree", model, NULL) == LW_OK;
        assert_int_equal(count, lw_method_count());
        for (int k = 0; k < count; k++) {
            const lw_comparison *r = &results[k];
            bool applies = lw_method_applies(r->method, model, NULL) == LW_OK;
            assert_string_equal(r->method, lw_method_at(k).name);
            assert_int_equal(applies, r->verdict != LW_VERDICT_REFUSED);
            if (!applies) {
                assert_true(r->reason[0] != '\0' && isnan(r->ns_per_call) && isnan(r->max_rel_diff));
                continue;
            }
            if (r->verdict == LW_VERDICT_DIFFERS || r->verdict == LW_VERDICT_FAILED)
                fail_msg("%s, %s: %s", problems[p], r->method, r->reason);
            assert_int_equal(r->verdict == LW_VERDICT_APPROXIMATE, r->accuracy > 0);
            if (r->reference) assert_string_equal(r->method, trees ? "tree" : "lagrange");
            references += r->reference;
            if (strncmp(r->method, "director", 8) == 0) { /* says that its accelerations are another's */
                assert_true(r->states == 0 && isnan(r->max_rel_diff) && strstr(r->reason, "lagrange"));
            } else {
                assert_int_equal(r->states, 6);
                assert_true(r->ns_per_call > 10 && r->ns_per_call < 1e8);
                assert_true(r->max_rel_diff <= (r->accuracy > 0 ? 100 * r->accuracy : 1e-9));
                assert_true(r->balance <= (r->accuracy > 0 ? 100 * r->accuracy : 1e-6));
            }
            assert_true(isnan(r->condition) || r->condition >= 1);
            if (r->run_status != LW_OK) fail_msg("%s, %s: %s", problems[p], r->method, r->run_reason);
            assert_true(r->run.steps > 0 && r->run.t_end == options.run.end);
            /* 0.2 s at tolerances of 1e-8 and less; the approximate one follows its own accuracy */
            assert_true(r->final_diff <= 1e-5 && r->run.position_max < 1e-10);
        }
        assert_int_equal(references, 1);
        lw_model_destroy(model);
    }
}

/* --- every problem ---------------------------------------------------------------------------------- */

/* No method gives a wrong number; what it declines, it gives a reason for. */
static void compare_problem(const char *name, double patience) {
    lw_model *model = read_problem(name);
    lw_compare_options options;
    lw_compare_defaults(model, &options);
    options.timing = 1e-3;
    options.patience = patience;
    int count = compare(model, &options), guides = 0, references = 0, declined = 0, ended = 0, given_up = 0;
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        bool told = r->run_status != LW_OK && r->verdict != LW_VERDICT_REFUSED;
        if (lw_comparison_wrong(r))
            fail_msg("%s, %s: %s", name, r->method, r->reason[0] ? r->reason : r->run_reason);
        if (r->verdict == LW_VERDICT_DECLINED) assert_true(r->reason[0] != '\0');
        if (told && r->run.samples > 0) assert_true(r->run_reason[0] != '\0');
        references += r->reference, guides += r->guide;
        declined += r->verdict == LW_VERDICT_DECLINED;
        ended += told && r->run_status == LW_ERROR_SINGULAR;
        given_up += r->run_status == LW_ERROR_STOPPED;
    }
    print_message("%-24s %d declined, %d runs ended with a reason, %d given up\n", name, declined, ended,
                  given_up);
    assert_int_equal(references, 1);
    assert_true(guides == 1 || given_up > 0);
    lw_model_destroy(model);
}

static void no_wrong_number_on_any_problem(void **state) {
    (void)state;
    /* Points on welds, singular positions, a body of next to no inertia, contacts, redundant rows, no loop at all; LINKWORK_LONG=1: all. */
    static const char *const some[] = {"net",     "parallelogram",  "andrews_squeezer", "walker",
                                       "sarrus",  "slider_crank",   "two_arms",         "scissor",
                                       "bennett", "double_wishbone"};
    if (!getenv("LINKWORK_LONG")) {
        for (size_t k = 0; k < sizeof some / sizeof *some; k++) compare_problem(some[k], 0.25);
        return;
    }
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    int problems = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        compare_problem(entry->d_name, 5);
        problems++;
    }
    closedir(folder);
    assert_true(problems >= 43);
}

/* Methods without a way through a singular position stop before it; those that have one end alike. */
static void singular_positions(void **state) {
    (void)state;
    lw_model *model = read_problem("parallelogram");
    lw_compare_options options;
    lw_compare_defaults(model, &options);
    options.timing = 1e-3;
    int count = compare(model, &options), stopped = 0, passed = 0;
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        if (r->verdict == LW_VERDICT_REFUSED || r->accuracy > 0) continue;
        assert_int_equal(r->guide, strcmp(r->method, "rcr") == 0);
        assert_true(r->run.verdict.ok || r->run_status != LW_OK);
        if (r->run_status == LW_OK) {
            assert_true(r->final_diff < 1e-6); /* on the branch: the other one ends 0.2 and more away */
            passed++;
        } else {
            assert_int_equal(r->run_status, LW_ERROR_SINGULAR);
            assert_non_null(strstr(r->run_reason, "joint \"C\": the loop that it closes has come"));
            assert_non_null(strstr(r->run_reason, "method rcr passes"));
            stopped++;
        }
    }
    print_message("%d methods pass, %d stop before\n", passed, stopped);
    assert_true(passed >= 3 && stopped > 0); /* rcr and the two of partition */
    lw_model_destroy(model);
}

/* The difference is that of the accelerations, and the run is that of lw_simulate. */
static void numbers_are_those_of_the_calls(void **state) {
    (void)state;
    lw_model *model = read_problem("two_arms");
    static const char *const two[] = {"penalty", "tree"}; /* penalty: a difference well above rounding */
    lw_compare_options options = quick(model);
    options.methods = two;
    options.method_count = 2;
    options.no_run = true;
    assert_int_equal(compare(model, &options), 2);
    assert_string_equal(results[0].method, "tree"); /* the order of the registry */
    assert_true(results[0].reference);
    assert_int_equal(results[1].run.samples, 0);
    assert_int_equal(results[1].states, 1);

    double q[32], v[32], vdot[2][32], worst = 0, scale = 9.81;
    lw_error error;
    lw_model_initial_state(model, q, v);
    for (int k = 0; k < 2; k++)
        assert_int_equal(lw_accelerations(model, two[k], 0, q, v, vdot[k], NULL, NULL, &error), LW_OK);
    for (int i = 0; i < lw_model_v_size(model); i++) {
        worst = fmax(worst, fabs(vdot[0][i] - vdot[1][i]));
        scale = fmax(scale, fmax(fabs(vdot[1][i]), v[i] * v[i]));
    }
    assert_true(fabs(results[1].max_rel_diff - worst / scale) <= 1e-6 * worst / scale);
    assert_true(results[1].reaction_diff > 0);
    options.no_reactions = true;
    assert_int_equal(compare(model, &options), 2);
    assert_true(isnan(results[1].reaction_diff) && results[1].verdict == LW_VERDICT_APPROXIMATE);
    assert_true(fabs(results[1].max_rel_diff - worst / scale) <= 1e-6 * worst / scale);
    options.no_reactions = false;

    options.no_run = false;
    options.run.integrator = "rk4";
    options.run.step = 1e-3;
    assert_int_equal(compare(model, &options), 2);
    lw_run_options run = options.run;
    lw_run_summary summary;
    run.method = "tree";
    run.output = run.end / 200;
    assert_int_equal(lw_simulate(model, &run, NULL, NULL, &summary, &error), LW_OK);
    assert_int_equal(results[0].run.steps, summary.steps);
    assert_true(results[0].run.energy_max_drift == summary.energy_max_drift);
    lw_model_destroy(model);
}

static bool stop_at_once(const char *method, const char *work, void *context) {
    (void)method, (void)work;
    ++*(int *)context;
    return false;
}

static void calls_that_are_wrong(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    static const char *const unknown[] = {"tree", "lagrang"}, *const automatic[] = {"auto"},
                             *const refused[] = {"tree"};
    lw_compare_options options = quick(model);
    lw_error error = {0};
    int count, asked = 0;
    options.methods = unknown, options.method_count = 2;
    assert_int_equal(lw_compare(model, &options, results, &count, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "lagrang"));
    assert_non_null(strstr(error.remedy, "lagrange"));
    options.methods = automatic, options.method_count = 1;
    assert_int_equal(lw_compare(model, &options, results, &count, &error), LW_ERROR_ARGUMENT);

    options = quick(model);
    options.run.drift = "some";
    assert_int_equal(lw_compare(model, &options, results, &count, &error), LW_ERROR_ARGUMENT);
    options = quick(model);
    options.run.end = -1;
    assert_int_equal(lw_compare(model, &options, results, &count, &error), LW_ERROR_ARGUMENT);

    options = quick(model); /* nobody applies: no reference, and a reason */
    options.methods = refused, options.method_count = 1;
    assert_int_equal(compare(model, &options), 1);
    assert_int_equal(results[0].verdict, LW_VERDICT_REFUSED);
    assert_false(results[0].reference);
    assert_true(results[0].reason[0] != '\0');

    options = quick(model);
    options.observe = stop_at_once;
    options.context = &asked;
    assert_int_equal(lw_compare(model, &options, results, &count, &error), LW_ERROR_STOPPED);
    assert_int_equal(asked, 1);
    lw_model_destroy(model);
}

/* A run that takes too long is given up and says so; the rest stands. */
static void patience_ends(void **state) {
    (void)state;
    lw_model *model = read_problem("two_arms");
    static const char *const one[] = {"tree"};
    lw_compare_options options = quick(model);
    options.methods = one, options.method_count = 1;
    options.run.end = 1e6;
    options.patience = 0.05;
    assert_int_equal(compare(model, &options), 1);
    assert_int_equal(results[0].run_status, LW_ERROR_STOPPED);
    assert_non_null(strstr(results[0].run_reason, "given up"));
    assert_int_equal(results[0].verdict, LW_VERDICT_AGREES);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_agree_or_say_why), cmocka_unit_test(no_wrong_number_on_any_problem),
        cmocka_unit_test(singular_positions),       cmocka_unit_test(numbers_are_those_of_the_calls),
        cmocka_unit_test(calls_that_are_wrong),     cmocka_unit_test(patience_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
