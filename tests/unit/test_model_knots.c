/* test_model_knots.c - the knots of a model: sorted and distinct, from all elements and motions; the spans
 * between them, which follow one another without a gap.
 */
#include "build.h"
#include "model/model_knots.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

static lw_model *with_forces(const char *forces, const char *motion) {
    char text[2000];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: knots\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\n  c: {mass: 1, inertia: "
             "[1, 1, 1]}\n"
             "joints:\n  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\n"
             "  y: {type: prismatic, axis: [1, 0, 0], between: [ground, c]%s}\nforces:\n%s",
             motion, forces);
    return compile_or_fail(read_text_spec(text));
}

/* Knots of all kinds of elements and of motions, each time once. */
static void collected(void **state) {
    (void)state;
    lw_model *model =
        with_forces("  d: {type: drive, joint: x, force: \"if(t > 5, 1, 0)\"}\n"
                    "  e: {type: drive, joint: x, force: \"if(t >= 5 and q > 0 and t < 3, v, 0)\"}\n"
                    "  l: {type: torsion, joint: x, stiffness: 1, law: \"if(t > 7, v, 0)\"}\n"
                    "  a: {type: applied, body: b, point: [0, 0, 0], force: [\"step(t, 1, 0, 2, 1)\", 0, 0], "
                    "torque: [0, \"ramp(t - 9)\", 0]}\n"
                    "  s: {type: spring, between: [ground, b], points: [[0, 0, 0], [0, 1, 0]], stiffness: 1, "
                    "law: \"if(3*t > 33, x, 0)\"}\n",
                    ", motion: \"step(t, 4, 0, 4.5, 1)\"");
    const double expected[] = {1, 2, 3, 4, 4.5, 5, 7, 9, 11};
    assert_int_equal(model->knot_count, 9);
    assert_int_equal(model->rhythm_count, 0);
    for (int k = 0; k < 9; k++) {
        const lw_model_knot *knot = &model->knots[k];
        assert_true(knot->at == expected[k] && knot->before < knot->at && knot->after > knot->at);
        assert_true(knot->after - knot->before < 3e-14);
    }
    lw_time_span span = lw_model_span(model, 0);
    assert_true(span.after == -HUGE_VAL && span.stop == 1 && span.before < 1);
    span = lw_model_span(model, 1);
    assert_true(span.after > 1 && span.stop == 2);
    assert_true(lw_time_within(&span, 1) > 1 && lw_time_within(&span, 2) < 2 &&
                lw_time_within(&span, 1.5) == 1.5);
    span = lw_model_span(model, nextafter(1, 0)); /* within rounding errors of the knot: beyond it */
    assert_true(span.after > 1 && span.stop == 2);
    span = lw_model_span(model, 11);
    assert_true(span.after > 11 && span.stop == HUGE_VAL && span.before == HUGE_VAL);
    lw_model_destroy(model);
    model = with_forces("  d: {type: drive, joint: x, force: \"sin(3*t)\"}\n", "");
    assert_int_equal(model->knot_count + model->rhythm_count, 0);
    span = lw_model_span(model, 3);
    assert_true(span.after == -HUGE_VAL && span.stop == HUGE_VAL);
    lw_model_destroy(model);
}

/* Goes from span to span: the stops are those expected. */
static void must_stop_at(const lw_model *model, double from, int count, const double *expected) {
    double t = from;
    for (int k = 0; k < count; k++) {
        const lw_time_span span = lw_model_span(model, t);
        if (!(fabs(span.stop - expected[k]) < 1e-13) || !(span.stop > t) || !(span.before < span.stop) ||
            !(span.after < span.before))
            fail_msg("stop %d at %.17g instead of %.17g", k, span.stop, expected[k]);
        t = span.stop;
    }
}

/* Recurring knots, some of which coincide with others but for rounding. */
static void recurring(void **state) {
    (void)state;
    lw_model *model =
        with_forces("  d: {type: drive, joint: x, force: \"if(mod(t, 0.3) < 0.1, 1, 0)\"}\n"
                    "  e: {type: drive, joint: x, force: \"if(t > 0.9, 1, 0)\"}\n"
                    "  f: {type: drive, joint: x, force: \"floor(t/0.6)\"}\n"
                    "  g: {type: drive, joint: x, force: \"if(t > 0.5 and t < 0.5 + 1e-9, 1, 0)\"}\n"
                    "  h: {type: drive, joint: x, force: \"mod(t, 0.3)\"}\n",
                    "");
    assert_int_equal(model->rhythm_count, 3);
    must_stop_at(model, 0, 8, (double[]){0.1, 0.3, 0.4, 0.5, 0.5 + 1e-9, 0.6, 0.7, 0.9});
    must_stop_at(model, -0.5, 4, (double[]){-0.3, -0.2, 0, 0.1});
    double t = 1;
    for (int k = 0; k < 20000; k++) t = lw_model_span(model, t).stop;
    if (fabs(t - 3001) > 1e-9) fail_msg("20000 knots later: %.17g", t);
    lw_model_destroy(model);
    model = with_forces("  d: {type: drive, joint: x, force: \"mod(t, 1e-9)\"}\n", "");
    assert_true(lw_model_span(model, 1).stop < 1 + 1.1e-9);
    assert_true(lw_model_span(model, 1e9).stop == HUGE_VAL); /* cannot be told apart there */
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(collected), cmocka_unit_test(recurring)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
