/* test_massless_nearby.c - differences of derivative and residual of method massless, told that they are such, are those of plain evaluations.
 *
 * Told so, it takes zeta and the slopes of dampers from the state next to it. What that leaves out is of second order: with increments d
 * it must vanish as d^2. Random damped trees, a machine with contacts, dampers that are not linear.
 */
#include "formulations/formulation.h"
#include "problems.h"
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 200 };

typedef struct look {
    const lw_formulation *f;
    lw_method *method;
    int n;
    double ydot[MAX];
} look;

/* Derivative or residual, and power. */
static void evaluate(look *l, bool residual, const double *y, double *out) {
    lw_error error = {0};
    lw_power power;
    lw_status status = residual ? l->f->residual(l->method, 0.1, y, l->ydot, out, &power, &error)
                                : l->f->derivative(l->method, 0.1, y, out, &power, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    out[l->n] = power.drives, out[l->n + 1] = power.forces, out[l->n + 2] = power.dissipation;
}

static double distance(const double *a, const double *b, int n) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(a[k] - b[k]));
    return most;
}

/* The largest error of a column, relative to the column. */
static double worst_column(look *l, bool residual, double *y) {
    const double increment = 1e-7;
    double base[MAX], plain[MAX], told[MAX], worst = 0;
    const double zero[MAX] = {0};
    int n = l->n + 3;
    const lw_newton_hints *hints = l->f->newton_hints(l->method);
    evaluate(l, residual, y, base);
    double size = distance(base, zero, n);
    for (int j = 0; j < l->n; j++) {
        double kept = y[j];
        y[j] += increment * (1 + fabs(kept));
        evaluate(l, residual, y, plain);
        y[j] = kept;
        evaluate(l, residual, y, told); /* the last one before */
        hints->differences(hints->subject, true);
        y[j] += increment * (1 + fabs(kept));
        evaluate(l, residual, y, told);
        hints->differences(hints->subject, false);
        y[j] = kept;
        /* rounding of both, some of it times slopes */
        double noise = 1e-13 * (1 + size), error = distance(told, plain, n) - noise;
        worst = fmax(worst, error / (distance(plain, base, n) + noise));
    }
    evaluate(l, residual, y, plain);
    /* nothing is left of it */
    assert_true(distance(plain, base, n) <= 1e-12 * (1 + size));
    return worst;
}

static double look_at(const char *name, const lw_model *model, const double *q, const double *v) {
    look l = {.f = lw_formulation_find("massless")};
    const lw_method_options options = {0};
    lw_error error = {0};
    double y[MAX], worst = 0;
    if (l.f->create(model, &options, &l.method, &error) != LW_OK) fail_msg("%s: %s", name, error.message);
    l.n = l.method->state_size;
    assert_true(l.n + 3 <= MAX);
    l.f->to_state(l.method, 0.1, q, v, y);
    evaluate(&l, false, y, l.ydot);
    for (int k = 0; k < l.n; k++) l.ydot[k] += 0.1 * sin(k);
    for (int residual = 0; residual < 2; residual++) worst = fmax(worst, worst_column(&l, residual, y));
    l.f->destroy(l.method);
    /* increments of 1e-7, slopes that change by hundreds of themselves: 1e-5. Left out altogether, zeta's change is of order one */
    if (!(worst < 1e-4)) fail_msg("%s: a column is wrong by %g of itself", name, worst);
    return worst;
}

static void random_trees(void **state) {
    (void)state;
    double worst = 0;
    for (int seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = random_massless_model((uint64_t)seed, 2 + random_below(&random, 6), HOLD_DAMPED, 0);
        double q[MAX], v[MAX];
        char name[32];
        random_state(&random, model, q, v);
        snprintf(name, sizeof name, "seed %d", seed);
        worst = fmax(worst, look_at(name, model, q, v));
        lw_model_destroy(model);
    }
    print_message("at most %g of a column\n", worst);
}

static void laws(void **state) {
    (void)state;
    static const char *const law[] = {"30*v", "2*v*abs(v) + v", "5*tanh(3*v) + v + 20*x",
                                      "v*(3 + cos(5*t))*exp(-x)"};
    for (int k = 0; k < 4; k++) {
        char text[1400];
        snprintf(
            text, sizeof text,
            "linkwork: 1\n"
            "name: row\n"
            "bodies:\n"
            "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0.5, 0, 0]}\n"
            "  b: {mass: 0, inertia: [0, 0, 0], position: [1, 0, 0]}\n"
            "  c: {mass: 2, inertia: [0.1, 0.2, 0.2], position: [1.5, 0.2, 0]}\n"
            "joints:\n"
            "  ja: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], v: 1.3}\n"
            "  jb: {type: prismatic, between: [a, b], axis: [1, 0.3, 0], v: 0.4}\n"
            "  jc: {type: planar, between: [b, c], point: [1.5, 0, 0], normal: [0, 0, 1], v: [0.2, -0.3, "
            "0.5]}\n"
            "forces:\n"
            "  fa: {type: torsion, joint: jb, stiffness: 30, damping: 0.5}\n"
            "  fb: {type: spring, between: [ground, b], points: [[2, 1, 0], [1, 0, 0]], law: \"%s\"}\n"
            "  fc: {type: spring, between: [b, c], points: [[1, 0, 0], [1.5, 0.4, 0]], law: \"%s\"}\n"
            "  fd: {type: drive, joint: jb, force: \"3*sin(t) - 0.2*v^3\"}\n",
            law[k], law[(k + 1) % 4]);
        lw_model *model = compile_or_fail(read_text_spec(text));
        double q[MAX], v[MAX];
        lw_model_initial_state(model, q, v);
        print_message("%s: %g of a column\n", law[k], look_at(law[k], model, q, v));
        lw_model_destroy(model);
    }
}

static void walker(void **state) {
    (void)state;
    lw_spec *spec = read_problem_spec("walker", NULL, 0);
    lw_neglect *neglect;
    lw_error error;
    assert_int_equal(lw_neglect_create(spec, 5e-3, &neglect, &error), LW_OK);
    lw_neglect_scale(neglect, 0);
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    double q[MAX], v[MAX];
    lw_model_initial_state(model, q, v);
    q[2] -= 1e-3, v[2] = -0.1; /* on the ground */
    print_message("walker: %g of a column\n", look_at("walker", model, q, v));
    lw_model_destroy(model);
    lw_report_destroy(report);
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees),
        cmocka_unit_test(laws),
        cmocka_unit_test(walker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
