/* test_works.c - the work of single force elements: against closed forms, against the energy ledger, by every
 * integrator, in snapshots; where it is refused.
 */
#include "build.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_model *compile_text(const char *text) {
    lw_report *report = lw_report_create();
    lw_spec *spec;
    lw_model *model = NULL;
    if (lw_read_model_text(text, strlen(text), "test", NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        show_report(report);
        fail_msg("a model of the test is refused");
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

/* Two links with elements of nearly every type, one that jumps among them; the second joint turns about an
 * axis, closes a loop with a third link, or is a ball. The bushing has no stiffness against turning, whose
 * torque jumps after half a revolution. `rest` is T + U of gravity - sum of works, which the motion keeps. */
static const char links[] =
    "linkwork: 1\nname: links\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -0.5]}\n"
    "  b: {mass: 2, inertia: [0.1, 0.1, 0.2], com: [0, 0, -1.5]}\n"
    "%s"
    "joints:\n"
    "  j1: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], q: 1, v: 2}\n"
    "  j2: {type: %s, between: [a, b], point: [0, 0, -1]%s}\n"
    "%s"
    "states:\n"
    "  lag: {rate: j1.q - lag, start: 0}\n"
    "forces:\n"
    "  spring: {type: spring, between: [ground, b], points: [[1, 0, 0], [0, 0, -2]], stiffness: 20, length: "
    "1}\n"
    "  damped: {type: spring, between: [a, b], points: [[0, 0.3, 0], [0, 0, -1.7]], stiffness: 5, damping: "
    "0.4,"
    " length: 1}\n"
    "  friction: {type: friction, joint: j1, viscous: 0.3}\n"
    "  drive: {type: drive, joint: j1, torque: 2*sin(3*t) - lag}\n"
    "  bush: {type: bushing, between: [ground, b], point: [0, 0, -2], stiffness: [1, 2, 3, 0, 0, 0],"
    " damping: [0.1, 0, 0, 0, 0.1, 0]}\n"
    "  push: {type: applied, body: b, point: [0, 0, -2], force: [\"if(t > 0.4, 3, 0)\", 1, 0]}\n"
    "outputs:\n"
    "  sum: force(spring).work + force(damped).work + force(friction).work + force(drive).work\n"
    "    + force(bush).work + force(push).work\n"
    "  rest: kinetic + 9.81*(com(a).z + 2*com(b).z%s) - sum_of\n"
    "  length: spring.length\n"
    "  elements: potential - 9.81*(com(a).z + 2*com(b).z%s)\n"
    "run: {end: 1}\n";

static lw_model *make(int kind) {
    static const char *const bodies[] = {"", "  c: {mass: 0.5, inertia: [0.1, 0.1, 0.1], com: [1, 0, -1]}\n",
                                         ""};
    static const char *const types[] = {"revolute", "revolute", "spherical"};
    static const char *const axes[] = {", axis: [0, 1, 0], q: 0.3", ", axis: [0, 1, 0]",
                                       ", v: [0.2, 0.3, 0.1]"};
    static const char *const more[] = {
        "",
        "  j3: {type: revolute, between: [b, c], point: [0, 0, -2], axis: [0, 1, 0]}\n"
        "  j4: {type: revolute, between: [c, ground], point: [2, 0, 0], axis: [0, 1, 0]}\n",
        ""};
    static const char *const third[] = {"", " + 0.5*com(c).z", ""};
    static const char works[] = "(force(spring).work + force(damped).work + force(friction).work + "
                                "force(drive).work + force(bush).work + force(push).work)";
    char text[6000], *at;
    snprintf(text, sizeof text, links, bodies[kind], types[kind], axes[kind], more[kind], third[kind],
             third[kind]);
    while ((at = strstr(text, "sum_of"))) {
        memmove(at + strlen(works), at + 6, strlen(at + 6) + 1);
        memcpy(at, works, strlen(works));
    }
    return compile_text(text);
}

typedef struct seen {
    int samples;
    double works[16], outputs[4], first[4], worst, largest;
} seen;

static bool observe(const lw_sample *sample, void *context) {
    seen *s = context;
    assert_non_null(sample->works);
    for (int k = 0; k < 6; k++) s->works[k] = sample->works[k];
    for (int k = 0; k < 4; k++) s->outputs[k] = sample->outputs[k];
    if (s->samples++ == 0) memcpy(s->first, s->outputs, sizeof s->first);
    const double *now = s->outputs, *first = s->first;
    const lw_ledger *l = sample->ledger;
    double errors[4], sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += s->works[k];
        s->largest = fmax(s->largest, fabs(s->works[k]));
    }
    errors[0] = now[0] - sum;
    errors[1] = now[1] - first[1];                                              /* the work-energy theorem */
    errors[2] = s->works[0] - 10 * (pow(first[2] - 1, 2) - pow(now[2] - 1, 2)); /* a potential */
    errors[3] = sum - (l->drives + l->forces - l->dissipation -
                       (now[3] - first[3])); /* the ledger's lines, less what is stored */
    for (int k = 0; k < 4; k++) s->worst = fmax(s->worst, fabs(errors[k]));
    return true;
}

/* Sums, closed forms and the ledger, by every integrator. The works are quadratures of the integrator's own
 * order at states that its tolerance permits: some hundred times the tolerance over a second. */
static void works_add_up(void **state) {
    (void)state;
    static const struct {
        const char *integrator, *method;
        double step, tolerance, error;
    } ways[] = {{"erk", NULL, 0, 1e-10, 1e-8},       {"adams", NULL, 0, 1e-10, 1e-6},
                {"bdf", NULL, 0, 1e-10, 1e-6},       {"rk4", NULL, 5e-4, 0, 1e-7},
                {"erk", "lagrange", 0, 1e-10, 1e-8}, {"ida", "tree", 0, 1e-10, 1e-6}};
    for (int kind = 0; kind < 3; kind++) {
        lw_model *model = make(kind);
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            if (ways[k].method && strcmp(ways[k].method, "tree") == 0 && kind == 1) continue; /* a loop */
            seen s = {0};
            lw_run_options options;
            lw_error error = {0};
            lw_run_defaults(model, &options);
            options.integrator = ways[k].integrator;
            options.method = ways[k].method;
            options.step = ways[k].step;
            options.tolerance = ways[k].tolerance;
            options.output = 0.01;
            options.observe = observe;
            options.context = &s;
            if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK)
                fail_msg("model %d by %s: %s", kind, ways[k].integrator, error.message);
            if (!(s.worst <= ways[k].error * fmax(1, s.largest)))
                fail_msg("model %d by %s: works are off by %.3g J of %.3g", kind, ways[k].integrator, s.worst,
                         s.largest);
            for (int f = 0; f < 6; f++) assert_true(fabs(s.works[f]) > 1e-3); /* every element does some */
        }
        lw_model_destroy(model);
    }
}

/* The motion does not notice that works are integrated, and a snapshot contains them to the last bit. */
static void motion_is_the_same(void **state) {
    (void)state;
    lw_model *model = read_problem("quarter_car");
    static const char *const names[] = {"erk", "bdf", "adams"};
    for (int k = 0; k < 3; k++) {
        double q[2][64], v[2][64], works[3][64];
        const size_t bytes = (size_t)lw_model_q_size(model) * sizeof(double),
                     size = (size_t)lw_model_force_count(model) * sizeof(double);
        for (int with = 0; with < 2; with++) {
            lw_run_options options;
            lw_simulation *s;
            lw_error error = {0};
            lw_run_defaults(model, &options);
            options.integrator = names[k];
            options.want_works = with;
            for (int f = 0; f < 64; f++) works[2][f] = 0.25 * f;
            options.works = works[2];
            if (lw_simulation_create(model, &options, NULL, &s, &error) != LW_OK)
                fail_msg("%s", error.message);
            assert_int_equal(lw_simulation_works(s, works[0]), with ? LW_OK : LW_ERROR_UNSUPPORTED);
            if (with) assert_memory_equal(works[0], works[2], size);
            assert_int_equal(lw_simulation_advance(s, 0.1, &error), LW_OK);
            const size_t room = lw_simulation_snapshot_size(s);
            void *snapshot = malloc(room);
            assert_int_equal(lw_simulation_save(s, snapshot, room), LW_OK);
            assert_int_equal(lw_simulation_advance(s, 0.3, &error), LW_OK);
            assert_int_equal(lw_simulation_state(s, q[with], v[with]), LW_OK);
            if (with) {
                assert_int_equal(lw_simulation_works(s, works[0]), LW_OK);
                assert_int_equal(lw_simulation_restore(s, snapshot, room, &error), LW_OK);
                assert_int_equal(lw_simulation_advance(s, 0.3, &error), LW_OK);
                assert_int_equal(lw_simulation_works(s, works[1]), LW_OK);
                assert_memory_equal(works[0], works[1], size);
                assert_true(memcmp(works[0], works[2], size) != 0);
                assert_int_equal(lw_simulation_reset(s, &error), LW_OK);
                assert_int_equal(lw_simulation_works(s, works[1]), LW_OK);
                assert_memory_equal(works[1], works[2], size);
            }
            free(snapshot);
            lw_simulation_destroy(s);
        }
        assert_memory_equal(q[0], q[1], bytes);
    }
    lw_model_destroy(model);
}

/* Conserving steps, jumps of bodies without mass, and starts that are no numbers are refused, with the
 * reason. */
static void refusals(void **state) {
    (void)state;
    lw_model *model = compile_text(
        "linkwork: 1\nname: pendulum\nbodies:\n  a: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -1]}\n"
        "joints:\n  pin: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], q: 1}\n"
        "forces:\n  s: {type: spring, between: [ground, a], points: [[1, 0, 0], [0, 0, -1]], stiffness: "
        "5}\n");
    lw_run_options options;
    lw_simulation *s;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.want_works = true;
    options.method = "director";
    options.integrator = "energy-momentum";
    assert_int_equal(lw_simulation_create(model, &options, NULL, &s, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "book the work of all elements together"));
    options.method = options.integrator = NULL;
    options.works = (double[]){NAN};
    assert_int_equal(lw_simulation_create(model, &options, NULL, &s, &error), LW_ERROR_ARGUMENT);
    options.works = NULL;
    assert_int_equal(lw_simulation_create(model, &options, NULL, &s, &error), LW_OK);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_add_up),
        cmocka_unit_test(motion_is_the_same),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
