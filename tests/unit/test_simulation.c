/* test_simulation.c - a simulation that the caller advances: times, steps, snapshots, inputs, forces, events.
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
#include <stdlib.h>
#include <string.h>

enum { MAX = 512 };

static lw_model *compile_text(const char *text) { return compile_or_fail(read_text_spec(text)); }

static lw_simulation *create(const lw_model *model, const lw_run_options *options) {
    lw_simulation *simulation;
    lw_error error = {0};
    lw_status status = lw_simulation_create(model, options, NULL, &simulation, &error);
    if (status != LW_OK) fail_msg("%s %s: %s", options->method, options->integrator, error.message);
    return simulation;
}

static void advance(lw_simulation *simulation, double t) {
    lw_error error = {0};
    lw_status status = lw_simulation_advance(simulation, t, &error);
    if (status != LW_OK) fail_msg("t = %g: %s", t, error.message);
    if (lw_simulation_time(simulation) != t)
        fail_msg("%s: at t = %.17g instead of %.17g", lw_simulation_integrator(simulation),
                 lw_simulation_time(simulation), t);
}

/* Time and state as one array. */
static int state_of(const lw_simulation *simulation, double *out) {
    const lw_model *model = lw_simulation_model(simulation);
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    assert_true(nq + nv + 1 <= MAX);
    out[0] = lw_simulation_time(simulation);
    assert_int_equal(lw_simulation_state(simulation, out + 1, out + 1 + nq), LW_OK);
    return nq + nv + 1;
}

static void must_be_same(const lw_simulation *simulation, const double *expected, const char *what) {
    double now[MAX];
    const int count = state_of(simulation, now);
    for (int k = 0; k < count; k++)
        if (memcmp(&now[k], &expected[k], sizeof now[k]) != 0)
            fail_msg("%s, %s: number %d is %.17g and was %.17g", what, lw_simulation_integrator(simulation),
                     k, now[k], expected[k]);
}

/* --- times ------------------------------------------------------------------------------------------ */

/* The times asked for have no influence on the steps: a run, a single advance, many of them and steps. */
static void times_do_not_matter(void **state) {
    (void)state;
    static const char *const integrators[] = {"rk4", "rosenbrock", "erk", "adams", "bdf"};
    lw_model *model = read_problem("four_bar");
    for (int k = 0; k < 5; k++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.integrator = integrators[k];
        options.step = k < 2 ? 1e-3 : 0;
        options.tolerance = k < 2 ? 0 : 1e-8;
        double expected[MAX];
        lw_simulation *once = create(model, &options), *often = create(model, &options);
        advance(once, 0.777);
        state_of(once, expected);
        for (int i = 1; i <= 37; i++) advance(often, i == 37 ? 0.777 : 0.777 * i / 37);
        must_be_same(often, expected, "often");
        long steps = 0;
        lw_run_summary summary;
        assert_int_equal(lw_simulation_reset(often, NULL), LW_OK);
        while (lw_simulation_time(often) < 0.7) {
            assert_int_equal(lw_simulation_step(often, NULL), LW_OK);
            steps++;
        }
        advance(often, 0.777);
        must_be_same(often, expected, "by steps");
        lw_simulation_summary(once, &summary);
        assert_true(steps > 5 && steps <= summary.steps);
        lw_simulation_destroy(once);
        lw_simulation_destroy(often);
    }
    lw_model_destroy(model);
}

static void beyond_the_end(void **state) {
    (void)state;
    lw_model *model = compile_text(
        "linkwork: 1\nname: p\nbodies:\n  b: {mass: 1, com: [0, 0, -1], inertia: [0, 0, 0]}\n"
        "joints:\n  pin: {type: revolute, point: [0, 0, 0], axis: [0, 1, 0], between: [ground, b], q: 1}\n"
        "run: {end: 0.25, step: 0.1}\n");
    lw_run_options options;
    lw_run_defaults(model, &options);
    lw_run_summary summary;
    lw_simulation *simulation = create(model, &options);
    assert_int_equal(lw_simulation_run(simulation, &summary, NULL), LW_OK);
    assert_true(lw_simulation_time(simulation) == 0.25 && summary.steps == 3);
    assert_int_equal(lw_simulation_run(simulation, &summary, NULL), LW_ERROR_ARGUMENT);
    advance(simulation, 5);
    lw_ledger ledger;
    lw_simulation_ledger(simulation, &ledger);
    assert_true(fabs(ledger.unaccounted) < 1e-2);
    assert_int_equal(lw_simulation_advance(simulation, 4, NULL), LW_ERROR_ARGUMENT);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
}

/* --- snapshots -------------------------------------------------------------------------------------- */

/* Advance, save, advance, restore, advance; and the same in another simulation. */
static void save_and_restore(const lw_model *model, const lw_run_options *options, const char *name) {
    lw_simulation *first, *second;
    lw_error error = {0};
    lw_status status = lw_simulation_create(model, options, NULL, &first, &error);
    if (status != LW_OK) return; /* a method that refuses the model */
    second = create(model, options);
    const double end = options->end;
    double expected[MAX];
    char what[160];
    snprintf(what, sizeof what, "%s by %s", name, options->method);
    status = lw_simulation_advance(first, 0.37 * end, &error);
    if (status == LW_OK) {
        const size_t size = lw_simulation_snapshot_size(first);
        void *snapshot = malloc(size);
        assert_non_null(snapshot);
        assert_int_equal(lw_simulation_save(first, snapshot, size), LW_OK);
        status = lw_simulation_advance(first, 0.81 * end, &error);
        if (status == LW_OK) {
            state_of(first, expected);
            assert_int_equal(lw_simulation_restore(first, snapshot, size, &error), LW_OK);
            advance(first, 0.81 * end);
            must_be_same(first, expected, what);
            strcat(what, " elsewhere");
            assert_int_equal(lw_simulation_restore(second, snapshot, size, &error), LW_OK);
            advance(second, 0.6 * end);
            advance(second, 0.81 * end);
            must_be_same(second, expected, what);
            strcat(what, " reset");
            assert_int_equal(lw_simulation_reset(second, &error), LW_OK);
            advance(second, 0.81 * end);
            must_be_same(second, expected, what);
        }
        free(snapshot);
    }
    lw_simulation_destroy(first);
    lw_simulation_destroy(second);
}

/* A damper lets go at 0.15 s: an event of method massless. */
static const char *const clutch =
    "linkwork: 1\nname: clutch\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: 0}\n"
    "  B: {kind: point, mass: 1}\njoints:\n  a: {type: prismatic, axis: [0, 0, 1], between: [ground, A]}\n"
    "  b: {type: prismatic, axis: [0, 0, 1], between: [A, B], v: 2}\nforces:\n"
    "  s1: {type: torsion, joint: a, stiffness: 100, law: \"if(t < 0.15, 30*v, 0)\"}\n"
    "  s2: {type: torsion, joint: b, stiffness: 100}\nrun: {end: 0.3}\n";

static void snapshots(void **state) {
    (void)state;
    static const char *const problems[] = {"four_bar",      "double_pendulum",      "gyro_top",
                                           "series_damper", "slider_crank",         "tumbling_body",
                                           "parallelogram", "spatial_slider_crank", NULL};
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = problems[p] ? read_problem(problems[p]) : compile_text(clutch);
        for (int i = 0; i < lw_integrator_count(); i++)
            for (int m = 0; m < lw_method_count(); m++) {
                lw_run_options options;
                lw_run_defaults(model, &options);
                options.method = lw_method_at(m).name;
                options.integrator = lw_integrator_name(i);
                options.end = fmin(options.end, 0.3);
                const bool fixed = strcmp(options.integrator, "rk4") == 0 ||
                                   strcmp(options.integrator, "rosenbrock") == 0 ||
                                   strncmp(options.integrator, "energy", 6) == 0;
                options.step = fixed ? options.end / 100 : 0;
                options.tolerance = fixed ? 0 : 1e-6;
                if (strcmp(options.method, "penalty") == 0) continue; /* stiff: erk would take minutes */
                /* With ida method massless still remembers at which states it was asked for output. */
                if (!problems[p] && strcmp(options.integrator, "ida") == 0) continue;
                save_and_restore(model, &options, problems[p] ? problems[p] : "clutch");
            }
        lw_model_destroy(model);
    }
}

static void snapshots_that_do_not_fit(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar"), *other = read_problem_with("double_pendulum", NULL, NULL);
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = "erk";
    lw_simulation *simulation = create(model, &options);
    const size_t size = lw_simulation_snapshot_size(simulation);
    unsigned char *snapshot = malloc(size);
    assert_non_null(snapshot);
    advance(simulation, 0.1);
    assert_int_equal(lw_simulation_save(simulation, snapshot, size - 1), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_save(simulation, snapshot, size), LW_OK);
    double expected[MAX];
    advance(simulation, 0.2);
    state_of(simulation, expected);
    assert_int_equal(lw_simulation_restore(simulation, snapshot, size - 1, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_restore(simulation, snapshot, 3, NULL), LW_ERROR_ARGUMENT);
    snapshot[20]++;
    assert_int_equal(lw_simulation_restore(simulation, snapshot, size, NULL), LW_ERROR_ARGUMENT);
    snapshot[20]--;
    must_be_same(simulation, expected, "after a refusal");
    lw_run_defaults(other, &options);
    options.integrator = "erk";
    lw_simulation *foreign = create(other, &options);
    assert_int_equal(lw_simulation_restore(foreign, snapshot, size, NULL), LW_ERROR_ARGUMENT);
    lw_simulation_destroy(foreign);
    lw_simulation_destroy(simulation);
    free(snapshot);
    lw_model_destroy(model);
    lw_model_destroy(other);
}

/* --- inputs and forces ------------------------------------------------------------------------------- */

static const char *const driven =
    "linkwork: 1\nname: driven\n"
    "%s"
    "bodies:\n  a: {mass: 2, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
    "  b: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
    "joints:\n  pin: {type: revolute, point: [0, 0, 0], axis: [0, 1, 0], between: [ground, a]}\n"
    "  elbow: {type: revolute, axis: [0, 1, 0], between: [a, b], point: [1, 0, 0], "
    "q: 0.3}\n"
    "forces:\n  motor: {type: drive, joint: pin, torque: %s}\n"
    "run: {end: 1, tolerance: 1e-9}\n";

/* An input that is changed on the way is a law that changes at that time. */
static void inputs_change(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, driven, "inputs: {throttle: 3 N m}\n", "throttle");
    lw_model *model = compile_text(text);
    snprintf(text, sizeof text, driven, "", "\"if(t < 0.4, 3, -7)\"");
    lw_model *written = compile_text(text);
    static const char *const integrators[] = {"erk", "adams", "bdf", "rk4", "ida", "rosenbrock"};
    for (int k = 0; k < 6; k++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.integrator = integrators[k];
        if (k == 3 || k == 5) options.step = 1e-3;
        lw_simulation *simulation = create(model, &options), *law = create(written, &options);
        advance(simulation, 0.4);
        advance(law, 0.4);
        assert_int_equal(lw_simulation_set_input(simulation, lw_model_input(model, "throttle"), -7), LW_OK);
        assert_true(lw_simulation_input(simulation, 0) == -7);
        advance(simulation, 0.9);
        advance(law, 0.9);
        double a[MAX], b[MAX];
        const int count = state_of(simulation, a);
        state_of(law, b);
        for (int i = 0; i < count; i++)
            /* A stage of rk4 at the very instant takes the new law for the step before. */
            if (!(fabs(a[i] - b[i]) < (k == 3 ? 1e-2 : 3e-6)))
                fail_msg("%s: %.9g instead of %.9g", integrators[k], a[i], b[i]);
        lw_ledger ledger;
        lw_simulation_ledger(simulation, &ledger);
        assert_true(fabs(ledger.unaccounted) < 1e-4);
        lw_simulation_destroy(simulation);
        lw_simulation_destroy(law);
    }
    lw_model_destroy(model);
    lw_model_destroy(written);
}

static void motor(double t, const double *q, const double *v, double *tau, void *context) {
    (void)v, (void)context;
    tau[0] += 3 * cos(5 * t) - q[0];
}

/* A force of the caller's own is the same as one in the file, by every method; its work is booked. */
static void own_force(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, driven, "", "\"0\"");
    lw_model *model = compile_text(text);
    snprintf(text, sizeof text, driven, "", "\"3*cos(5*t) - q\"");
    lw_model *written = compile_text(text);
    int done = 0;
    for (int m = 0; m < lw_method_count(); m++) {
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.method = lw_method_at(m).name;
        lw_simulation *with, *law = NULL;
        lw_error error = {0};
        options.force = motor;
        lw_status status = lw_simulation_create(model, &options, NULL, &with, &error);
        if (strncmp(options.method, "director", 8) == 0) {
            assert_int_equal(status, LW_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "force of the caller's own"));
        }
        if (status != LW_OK || strcmp(options.method, "penalty") == 0) {
            lw_simulation_destroy(with);
            continue;
        }
        options.force = NULL;
        law = create(written, &options);
        advance(with, 1);
        advance(law, 1);
        double a[MAX], b[MAX], vdot[8], other[8];
        const int count = state_of(with, a);
        state_of(law, b);
        for (int i = 0; i < count; i++)
            if (!(fabs(a[i] - b[i]) < 1e-6))
                fail_msg("%s: %.12g instead of %.12g", options.method, a[i], b[i]);
        assert_int_equal(lw_simulation_accelerations(with, vdot, NULL, &error), LW_OK);
        assert_int_equal(lw_simulation_accelerations(law, other, NULL, &error), LW_OK);
        for (int i = 0; i < 2; i++) assert_true(fabs(vdot[i] - other[i]) < 1e-4);
        lw_ledger ledger;
        lw_simulation_ledger(with, &ledger);
        assert_true(fabs(ledger.unaccounted) < 1e-6 && fabs(ledger.forces) > 0.1);
        lw_simulation_destroy(with);
        lw_simulation_destroy(law);
        done++;
    }
    assert_true(done >= 8);
    lw_model_destroy(model);
    lw_model_destroy(written);
}

/* --- events ------------------------------------------------------------------------------------------- */

static const char *const ball =
    "linkwork: 1\nname: ball\ngravity: [0, 0, -10]\nbodies:\n  b: {kind: point, mass: 1}\n"
    "joints:\n  z: {type: prismatic, axis: [0, 0, 1], between: [ground, b], q: 1.25}\n"
    "run: {end: 10}\n";

static double height(double t, const double *q, const double *v, void *context) {
    (void)t, (void)v, (void)context;
    return q[0];
}
static double half_past(double t, const double *q, const double *v, void *context) {
    (void)q, (void)v, (void)context;
    return t - 0.75;
}
static double speed(double t, const double *q, const double *v, void *context) {
    (void)t, (void)q, (void)context;
    return v[0];
}

typedef struct diary {
    double times[64];
    int which[64], count;
} diary;

static bool bounce(lw_simulation *simulation, int event, void *context) {
    diary *l = context;
    double q[8], v[8];
    l->times[l->count] = lw_simulation_time(simulation);
    l->which[l->count++] = event;
    if (event != 0) return true;
    lw_simulation_state(simulation, q, v);
    v[0] = -0.5 * v[0];
    return lw_simulation_set_state(simulation, lw_simulation_time(simulation), q, v, NULL) == LW_OK;
}

/* From 1.25 m at 10 m/s^2: at the ground at 0.5 s with 5 m/s; 2.5 m/s back, at the top at 0.75 s, at the
 * ground again at 1 s, 1.25 s, 1.375 s: halves of the time before. */
static void a_ball_bounces(void **state) {
    (void)state;
    lw_model *model = compile_text(ball);
    static const char *const integrators[] = {"erk", "adams", "bdf", "rk4", "ida", "rosenbrock"};
    const lw_event_function events[] = {{height, -1}, {half_past, 0}, {speed, -1}};
    for (int k = 0; k < 6; k++) {
        diary l = {.count = 0};
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.integrator = integrators[k];
        options.step = k == 3 || k == 5 ? 1e-2 : 0;
        options.tolerance = k == 3 || k == 5 ? 0 : 1e-10;
        options.events = events;
        options.event_count = 3;
        options.happened = bounce;
        options.context = &l;
        lw_simulation *simulation = create(model, &options);
        advance(simulation, 1.3);
        static const struct {
            double t;
            int event;
        } expected[] = {{0.5, 0}, {0.75, 1}, {0.75, 2}, {1, 0}, {1.125, 2}, {1.25, 0}};
        if (l.count != 6) fail_msg("%s: %d events", integrators[k], l.count);
        bool seen[2] = {false, false};
        for (int i = 0; i < 6; i++) {
            if (!(fabs(l.times[i] - expected[i].t) < 1e-7))
                fail_msg("%s: event %d at %.12g", integrators[k], i, l.times[i]);
            if (i == 1 || i == 2)
                seen[l.which[i] - 1] = true; /* the order of two at once is open */
            else
                assert_int_equal(l.which[i], expected[i].event);
        }
        assert_true(seen[0] && seen[1]);
        lw_ledger ledger;
        lw_simulation_ledger(simulation, &ledger);
        assert_true(fabs(ledger.unaccounted) < 1e-6);
        assert_true(fabs(ledger.forces + 0.75 * (12.5 + 12.5 / 4 + 12.5 / 16)) < 1e-5);
        lw_simulation_destroy(simulation);
    }
    lw_model_destroy(model);
}

static void an_event_ends_the_call(void **state) {
    (void)state;
    lw_model *model = compile_text(ball);
    const lw_event_function events[] = {{height, -1}};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.events = events;
    options.event_count = 1;
    lw_simulation *simulation = create(model, &options);
    assert_int_equal(lw_simulation_event(simulation), -1);
    assert_int_equal(lw_simulation_advance(simulation, 2, NULL), LW_EVENT);
    assert_int_equal(lw_simulation_event(simulation), 0);
    assert_true(fabs(lw_simulation_time(simulation) - 0.5) < 1e-9);
    assert_int_equal(lw_simulation_advance(simulation, 2, NULL), LW_OK);
    double q, v;
    lw_simulation_state(simulation, &q, &v);
    assert_true(fabs(q - (1.25 - 20)) < 1e-7 && fabs(v + 20) < 1e-7);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
}

/* --- errors ------------------------------------------------------------------------------------------- */

static void wrong_calls(void **state) {
    (void)state;
    lw_model *model = compile_text(ball);
    lw_run_options options;
    lw_run_defaults(model, &options);
    lw_simulation *simulation;
    double q = 0, v = 0;
    assert_int_equal(lw_simulation_create(NULL, &options, NULL, &simulation, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_create(model, NULL, NULL, &simulation, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_create(model, &options, NULL, NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_advance(NULL, 1, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_step(NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_state(NULL, &q, &v), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_reset(NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_set_input(NULL, 0, 0), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_restore(NULL, &q, sizeof q, NULL), LW_ERROR_ARGUMENT);
    assert_true(isnan(lw_simulation_time(NULL)) && isnan(lw_simulation_input(NULL, 0)));
    lw_simulation_destroy(NULL);
    simulation = create(model, &options);
    assert_int_equal(lw_simulation_set_input(simulation, 0, 0), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_output(simulation, 0, &q), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_advance(simulation, NAN, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_advance(simulation, -1, NULL), LW_ERROR_ARGUMENT);
    q = NAN;
    lw_error error;
    assert_int_equal(lw_simulation_set_state(simulation, 0, &q, &v, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "q[0] is"));
    assert_int_equal(lw_simulation_set_state(simulation, 0, NULL, &v, NULL), LW_ERROR_ARGUMENT);
    advance(simulation, 0.5);
    lw_simulation_state(simulation, &q, &v);
    assert_true(fabs(q) < 1e-9 && fabs(v + 5) < 1e-9);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
}

/* A state with open loops is closed, or refused: never simulated as it is. */
static void open_states(void **state) {
    (void)state;
    static const char *const drifts[] = {"project", "none", "baumgarte"};
    lw_model *model = read_problem("four_bar");
    int closed = 0, refused = 0;
    for (int d = 0; d < 3; d++)
        for (int m = 0; m < lw_method_count(); m++) {
            lw_run_options options;
            lw_run_defaults(model, &options);
            options.method = lw_method_at(m).name;
            options.integrator = NULL;
            options.drift = drifts[d];
            lw_simulation *simulation;
            lw_error error = {0};
            if (lw_simulation_create(model, &options, NULL, &simulation, NULL) != LW_OK) continue;
            double q[MAX], v[MAX], before[MAX];
            state_of(simulation, before);
            lw_simulation_state(simulation, q, v);
            for (int k = 0; k < lw_model_q_size(model); k++) q[k] += 0.1 * (k + 1);
            lw_status status = lw_simulation_set_state(simulation, 0, q, v, &error);
            if (d > 0) {
                assert_int_equal(status, LW_ERROR_ARGUMENT);
                assert_non_null(strstr(error.remedy, "lw_assemble"));
                must_be_same(simulation, before, "a refused state");
                refused++;
            } else {
                assert_int_equal(status, LW_OK);
                lw_simulation_state(simulation, q, v);
                memcpy(before, q, sizeof before);
                assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
                for (int k = 0; k < lw_model_q_size(model); k++) assert_true(fabs(q[k] - before[k]) < 1e-9);
                closed++;
            }
            lw_simulation_destroy(simulation);
        }
    assert_true(closed >= 12 && refused >= 20);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_do_not_matter), cmocka_unit_test(beyond_the_end),
        cmocka_unit_test(snapshots),           cmocka_unit_test(snapshots_that_do_not_fit),
        cmocka_unit_test(inputs_change),       cmocka_unit_test(own_force),
        cmocka_unit_test(a_ball_bounces),      cmocka_unit_test(an_event_ends_the_call),
        cmocka_unit_test(open_states),         cmocka_unit_test(wrong_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
