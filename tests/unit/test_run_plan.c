/* test_run_plan.c - the start of a run, told beforehand, is that of a simulation and of a run, to the last
 * bit; the method too, with the request that decides it.
 */
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

enum { MAX = 256 };

static const char *const problems[] = {"four_bar",         "double_pendulum", "andrews_squeezer",
                                       "bennett",          "series_damper",   "hub",
                                       "stewart_platform", "walker",          "blajer_four_bar"};

typedef struct first_sample {
    int samples, nq, nv;
    double q[MAX], v[MAX];
} first_sample;

static bool look(const lw_sample *sample, void *context) {
    first_sample *first = context;
    if (first->samples++ == 0) {
        memcpy(first->q, sample->q, (size_t)first->nq * sizeof *first->q);
        memcpy(first->v, sample->v, (size_t)first->nv * sizeof *first->v);
    }
    return false;
}

static void same_start(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = read_problem(problems[p]);
        const size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
        lw_run_options options;
        lw_simulation *simulation;
        lw_assembly assembly;
        lw_error error = {0};
        double q[MAX], v[MAX], q_run[MAX], v_run[MAX], q_given[MAX], v_given[MAX];
        const char *method = NULL, *again = NULL;
        char why[256] = "";
        lw_run_defaults(model, &options);
        if (lw_run_start(model, &options, q, v, &assembly, &method, why, sizeof why, &error) != LW_OK)
            fail_msg("%s: %s", problems[p], error.message);
        assert_true(assembly.position < 1e-10 && why[0]);
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, &error), LW_OK);
        assert_string_equal(lw_simulation_method(simulation), method);
        assert_string_equal(lw_simulation_method_reason(simulation), why);
        lw_simulation_destroy(simulation);
        /* what is given, with the method, is not decided again */
        first_sample first = {.nq = (int)nq, .nv = (int)nv}, other = first;
        options.observe = look, options.context = &first;
        (void)lw_simulate(model, &options, q_run, v_run, NULL, &error);
        options.q = q, options.v = v, options.method = method, options.as_given = true;
        options.context = &other;
        (void)lw_simulate(model, &options, q_run, v_run, NULL, &error);
        assert_int_equal(first.samples, 1);
        assert_memory_equal(first.q, other.q, nq * sizeof *q);
        assert_memory_equal(first.v, other.v, nv * sizeof *v);
        assert_int_equal(lw_run_start(model, &options, q_given, v_given, NULL, &again, NULL, 0, &error),
                         LW_OK);
        assert_string_equal(again, method);
        assert_memory_equal(q_given, q, nq * sizeof *q);
        assert_memory_equal(v_given, v, nv * sizeof *v);
        lw_model_destroy(model);
    }
}

static void requests_choose(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_run_options options;
    lw_error error = {0};
    double q[MAX], v[MAX];
    const char *method = NULL;
    char why[256];
    lw_run_defaults(model, &options);
    options.reactions = "37";
    assert_int_equal(lw_run_start(model, &options, q, v, NULL, &method, why, sizeof why, &error), LW_OK);
    assert_string_equal(method, "partition");
    assert_non_null(strstr(why, "no other method"));
    options.method = "tree"; /* which takes no loops */
    assert_int_equal(lw_run_start(model, &options, q, v, NULL, &method, NULL, 0, &error),
                     LW_ERROR_UNSUPPORTED);
    options.method = "nothing";
    assert_int_equal(lw_run_start(model, &options, q, v, NULL, &method, NULL, 0, &error), LW_ERROR_ARGUMENT);
    /* nobody asks for the method */
    assert_int_equal(lw_run_start(model, &options, q, v, NULL, NULL, NULL, 0, &error), LW_OK);
    assert_int_equal(lw_run_start(model, &options, NULL, v, NULL, NULL, NULL, 0, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_run_start(NULL, &options, q, v, NULL, NULL, NULL, 0, NULL), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_start), cmocka_unit_test(requests_choose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
