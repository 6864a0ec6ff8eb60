/* test_rcr_allocation.c - a run by rcr that changes its independent coordinates on the way allocates nothing in its steps.
 *
 * With sanitizers, or without glibc, the run goes on but nothing is counted (tests/support/allocations.h).
 */
#include "allocations.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

typedef struct watch {
    long at_first, at_last;
    int samples, changes;
} watch;

static bool observe(const lw_sample *sample, void *context) {
    (void)sample;
    watch *w = context;
    if (w->samples++ == 1) w->at_first = allocations; /* behind the first step */
    w->at_last = allocations;
    return true;
}

static void hear(double t, const char *kind, const char *text, void *context) {
    watch *w = context;
    (void)t, (void)text;
    w->changes += strcmp(kind, "coordinates") == 0;
}

static void steps_do_not_allocate(void **state) {
    (void)state;
    static const char *const problems[] = {"spatial_slider_crank", "bennett", "six_body_linkage"};
    for (int k = 0; k < 3; k++) {
        lw_model *model = read_problem(problems[k]);
        watch w = {0};
        lw_run_options options = {.method = "rcr",
                                  .integrator = "rk4",
                                  .step = 1e-3,
                                  .end = 2,
                                  .output = 0.7e-3, /* between the steps */
                                  .observe = observe,
                                  .event = hear,
                                  .context = &w};
        lw_error error = {0};
        if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK)
            fail_msg("%s: %s", problems[k], error.message);
        print_message("%s: %d changes\n", problems[k], w.changes);
        assert_true(w.changes > 0);
        assert_int_equal(w.at_last, w.at_first);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_do_not_allocate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
