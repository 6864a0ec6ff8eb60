/* test_rosenbrock.c - the linearly implicit integrator and the linear equations of its steps.
 *
 * The equations are put to central differences of the system's own rates. The observed order is that of the
 * derivation, 3, on trees, loops and bushings, with user states and forces of time, by exact derivatives and
 * by differences. A car on four bushed wishbones is right to 1e-3 of its motion at 1 ms, with the same work in
 * every step and no allocation. Trusted: bdf and erk at 1e-10 and 1e-11.
 */
#include "allocations.h"
#include "integrators/integrator.h"
#include "problems.h"
#include "random_model.h"
#include "simulation/simulation_parts.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *numbers(int count) {
    double *memory = calloc((size_t)count + 1, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static lw_simulation *begin(const lw_model *model, const char *method, const char *integrator, double step,
                            double tolerance, double end) {
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *s = NULL;
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator;
    options.step = step, options.tolerance = tolerance, options.end = end;
    if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK)
        fail_msg("%s, %s: %s %s", lw_model_name(model), integrator, error.object, error.message);
    return s;
}

static void advance(lw_simulation *s, double t) {
    lw_error error = {0};
    if (lw_simulation_advance(s, t, &error) != LW_OK)
        fail_msg("%s: %s %s", lw_model_name(lw_simulation_model(s)), error.object, error.message);
}

/* --- the linear equations --------------------------------------------------------------------------- */

/* The largest entry of (I - gamma J) x - r over that of r, J x by central differences, for a random r; the
 * change of y by x is small against what curves the rates. */
static double defect_of_solution(lw_simulation *s, lw_random *random) {
    lw_system *system = &s->system.base;
    lw_error error = {0};
    const double gamma = 0.01;
    const int n = system->linearised->count, size = system->size;
    double *r = numbers(size), *x = numbers(size), *y = numbers(size), *plus = numbers(size),
           *minus = numbers(size), largest = 0, worst = 0;
    for (int k = 0; k < n; k++) r[k] = x[k] = random_between(random, -1, 1);
    assert_int_equal(system->linearised->at(system, s->t, s->y, &error), LW_OK);
    assert_true(system->linearised->factor(system, gamma));
    system->linearised->solve(system, x);
    for (int k = 0; k < n; k++) largest = fmax(largest, fabs(x[k]));
    const double step = 1e-5 / largest;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int k = 0; k < size; k++) y[k] = s->y[k] + (k < n ? sign * step * x[k] : 0);
        assert_int_equal(system->derivative(system, s->t, y, sign > 0 ? plus : minus, &error), LW_OK);
    }
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(x[k] - gamma * (plus[k] - minus[k]) / (2 * step) - r[k]));
    free(r), free(x), free(y), free(plus), free(minus);
    return worst / fmax(1, largest);
}

/* Trees, where a state may change in any way. Differences of 1e-5 of rates up to 1e4 leave errors of 1e-6; in
 * prescribed coordinates r keeps, since they are functions of time. */
static void equations_of_trees(void **state) {
    (void)state;
    static const char *const names[] = {
        "pendulum",     "double_pendulum", "gyro_top",  "heavy_top_fast", "tumbling_body",
        "spring_chain", "free_tree",       "cart_pole", "pid_arm",        "car",
        "quarter_car"};
    lw_random random = random_seed(11);
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        lw_model *model = read_problem(names[p]);
        lw_simulation *s = begin(model, "tree", "rosenbrock", 1e-3, 0, 1);
        advance(s, 0.05);
        assert_non_null(s->system.base.linearised);
        for (int trial = 0; trial < 5; trial++) {
            const double defect = defect_of_solution(s, &random);
            if (!(defect < 2e-5)) fail_msg("%s: %.3e", names[p], defect);
        }
        lw_simulation_destroy(s);
        lw_model_destroy(model);
    }
}

/* Random trees of all joints and force elements, some of them prescribed, in random states. */
static void equations_of_random_trees(void **state) {
    (void)state;
    int asked = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed(seed);
        const random_tree options = {.bodies = 1 + random_below(&random, 8),
                                     .forces = seed % 2 == 0,
                                     .prescribed = seed % 3 == 0,
                                     .reversed = true,
                                     .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
        double *q = numbers(nq), *v = numbers(nv);
        lw_simulation *s = begin(model, "tree", "rosenbrock", 1e-3, 0, 1);
        random_state(&random, model, q, v);
        const bool exact = s->system.base.linearised != NULL;
        asked += exact;
        if (exact && lw_simulation_set_state(s, 0.3, q, v, NULL) == LW_OK) {
            const double defect = defect_of_solution(s, &random);
            if (!(defect < 1e-4)) fail_msg("seed %d: %.3e", (int)seed, defect);
        }
        free(q), free(v);
        lw_simulation_destroy(s);
        lw_model_destroy(model);
    }
    print_message("%d random trees\n", asked);
    assert_true(asked > 50);
}

/* --- order ------------------------------------------------------------------------------------------ */

typedef struct order_case {
    const char *problem, *method, *trusted;
    double end, step;
} order_case;

static void final_state(const lw_model *model, const order_case *c, const char *integrator, double step,
                        double tolerance, double *q) {
    lw_simulation *s = begin(model, c->method, integrator, step, tolerance, c->end);
    advance(s, c->end);
    double *v = numbers(lw_model_v_size(model));
    assert_int_equal(lw_simulation_state(s, q, v), LW_OK);
    free(v);
    lw_simulation_destroy(s);
}

static double distance(int n, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum = fmax(sum, fabs(a[k] - b[k]));
    return sum;
}

/* From step to half the step an error of order 3 falls by 8; 5.6 is order 2.5, which leaves room for the
 * terms of order 4. Where stiff terms are, the order is seen once steps resolve them. */
static void order(void **state) {
    (void)state;
    static const order_case cases[] = {
        {"double_pendulum", "tree", "erk", 1, 2e-3},    {"heavy_top_fast", "tree", "erk", 0.3, 2e-3},
        {"tumbling_body", "tree", "erk", 1, 1e-2},      {"pid_arm", "auto", "erk", 0.5, 1e-3},
        {"four_bar", "rcr", "erk", 0.5, 1e-3},          {"four_bar", "cut", "erk", 0.5, 1e-3},
        {"four_bar", "partition", "erk", 0.5, 1e-3},    {"four_bar", "lagrange", "erk", 0.5, 1e-3},
        {"andrews_squeezer", "rcr", "erk", 0.02, 2e-5}, {"slider_crank", "auto", "erk", 1, 1e-3},
        {"stewart_platform", "auto", "erk", 0.2, 2e-3}, {"double_wishbone", "auto", "bdf", 0.2, 2e-3},
        {"quarter_car", "auto", "erk", 1.5, 1e-3},      {"car", "tree", "bdf", 0.2, 1e-3},
        {"series_damper", "auto", "bdf", 0.2, 1e-3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const order_case *c = &cases[k];
        lw_model *model = read_problem(c->problem);
        const int nq = lw_model_q_size(model);
        double *right = numbers(nq), *coarse = numbers(nq), *fine = numbers(nq);
        final_state(model, c, c->trusted, 0, strcmp(c->trusted, "erk") == 0 ? 1e-11 : 1e-10, right);
        final_state(model, c, "rosenbrock", c->step, 0, coarse);
        final_state(model, c, "rosenbrock", c->step / 2, 0, fine);
        const double was = distance(nq, coarse, right), is = distance(nq, fine, right);
        print_message("%-18s %-10s %9.2e %9.2e  order %.2f\n", c->problem, c->method, was, is,
                      log2(was / is));
        if (!(was / is > 5.6)) fail_msg("%s by %s: %.3e, then %.3e", c->problem, c->method, was, is);
        free(right), free(coarse), free(fine);
        lw_model_destroy(model);
    }
}

/* --- a stiff car ------------------------------------------------------------------------------------ */

static lw_model *read_car(void) {
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    assert_int_equal(
        lw_read_model(LW_SOURCE_DIR "/tests/support/models/bushed_car.yaml", NULL, 0, report, &spec), LW_OK);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

/* All coordinates are within 1e-3 of what they change by, at 1 ms; bushings have rates of 1e5 1/s. */
static void stiff_car(void **state) {
    (void)state;
    enum { SAMPLES = 20 };
    lw_model *model = read_car();
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    lw_simulation *right = begin(model, NULL, "bdf", 0, 1e-10, 2),
                  *s = begin(model, NULL, "rosenbrock", 1e-3, 0, 2);
    double *q = numbers(nq), *v = numbers(nv), *a = numbers(nq), *low = numbers(nq), *high = numbers(nq),
           *wrong = numbers(nq), worst = 0;
    for (int k = 0; k < nq; k++) low[k] = HUGE_VAL, high[k] = -HUGE_VAL;
    long before = 0, most = 0, least = 1000;
    lw_integrator_statistics now;
    for (int i = 1; i <= SAMPLES; i++) {
        const double t = 2.0 * i / SAMPLES;
        advance(right, t);
        lw_status status = LW_OK;
        const long had = allocations;
        status = lw_simulation_advance(s, t, NULL);
        const long during = allocations - had;
        assert_int_equal(status, LW_OK);
        assert_true(!counting || during == 0);
        assert_int_equal(lw_simulation_state(right, a, v), LW_OK);
        assert_int_equal(lw_simulation_state(s, q, v), LW_OK);
        for (int k = 0; k < nq; k++) {
            low[k] = fmin(low[k], a[k]), high[k] = fmax(high[k], a[k]);
            wrong[k] = fmax(wrong[k], fabs(a[k] - q[k]));
        }
    }
    /* Small coordinates count as parts of the largest motion of a bushing, 1 mm. */
    for (int k = 0; k < nq; k++) worst = fmax(worst, wrong[k] / fmax(high[k] - low[k], 1e-3));
    print_message("car: error %.2e of each motion\n", worst);
    assert_true(worst < 1e-3);
    for (int i = 0; i < 50; i++) {
        s->integrator->statistics(s->integration, &now);
        before = now.evaluations;
        assert_int_equal(s->integrator->step(s->integration, 10, &(double){0}, s->next_y, NULL), LW_OK);
        s->integrator->statistics(s->integration, &now);
        if (now.evaluations - before > most) most = now.evaluations - before;
        if (now.evaluations - before < least) least = now.evaluations - before;
    }
    assert_int_equal(most, least);
    assert_int_equal(most, 7);
    lw_simulation_destroy(right), lw_simulation_destroy(s);
    free(q), free(v), free(a), free(low), free(high), free(wrong);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_of_trees),
        cmocka_unit_test(equations_of_random_trees),
        cmocka_unit_test(order),
        cmocka_unit_test(stiff_car),
    };
    return cmocka_run_group_tests_name("rosenbrock", tests, NULL, NULL);
}
