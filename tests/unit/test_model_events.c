/* test_model_events.c - events of models: when they happen, what they do, in which order, and where they end.
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

enum { MOST = 400, ALL = 5 };

static const char *const integrators[ALL] = {"erk", "adams", "bdf", "rk4", "erk"};

/* What a run tells of events. */
typedef struct history {
    int count;
    double t[MOST];
    char name[MOST][32];
    bool stops; /* the caller's own event stops the run */
} history;

static void hear(double t, const char *kind, const char *text, void *context) {
    history *h = context;
    if (strcmp(kind, "event") != 0 || h->count == MOST) return;
    h->t[h->count] = t;
    snprintf(h->name[h->count++], sizeof h->name[0], "%s", text);
}

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

/* A mass of 1 kg on a line without gravity, with these sections in addition. */
static lw_model *line(const char *joint, const char *sections) {
    char text[2000];
    snprintf(text, sizeof text,
             "linkwork: 1\nname: line\ngravity: [0, 0, 0]\nbodies:\n  m: {mass: 1, inertia: [1, 1, 1]}\n"
             "joints:\n  x: {type: prismatic, between: [ground, m], axis: [1, 0, 0]%s}\n%s",
             joint, sections);
    return compile_text(text);
}

static lw_run_options options_of(const lw_model *model, int k, history *h) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = integrators[k];
    options.step = k == 3 ? 1e-3 : 0;
    options.tolerance = k == 3 ? 0 : k == 4 ? 1e-4 : 1e-10;
    options.event = hear;
    options.context = h;
    return options;
}

static lw_status run(const lw_model *model, const lw_run_options *options, double *q, double *v,
                     lw_run_summary *summary) {
    lw_error error = {0};
    lw_status status = lw_simulate(model, options, q, v, summary, &error);
    if (status != LW_OK && status != LW_EVENT) fail_msg("%s: %s", options->integrator, error.message);
    return status;
}

/* --- impacts --------------------------------------------------------------------------------------- */

/* The ten impacts of a ball, by all integrators and by another path of output times, to the last bit. */
static void ball_bounces(void **state) {
    (void)state;
    reference_table *reference = malloc(sizeof *reference);
    read_reference("bouncing_ball/reference.csv", reference);
    lw_model *model = read_problem("bouncing_ball");
    for (int k = 0; k < ALL; k++) {
        history h = {0}, other = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_run_summary summary;
        options.tolerance = k == 3 ? 0 : k == 4 ? 1e-4 : 1e-12;
        assert_int_equal(run(model, &options, NULL, NULL, &summary), LW_OK);
        assert_int_equal(h.count, 10);
        for (int i = 0; i < 10; i++)
            if (!(fabs(h.t[i] - reference->at[i][1]) < 1e-9))
                fail_msg("%s: impact %d at %.15g, not %.15g", integrators[k], i + 1, h.t[i],
                         reference->at[i][1]);
        assert_true(summary.verdict.ok);
        assert_true(summary.energy_max_drift < 1e-8);
        const double lost = 9.81 * (1 - pow(0.8, 20)); /* of 9.81 J, 0.8^2 remain at each impact */
        assert_true(fabs(summary.ledger.dissipation - lost) < 1e-8);
        options.context = &other;
        options.output = 0.0123;
        assert_int_equal(run(model, &options, NULL, NULL, &summary), LW_OK);
        assert_int_equal(other.count, h.count);
        assert_memory_equal(other.t, h.t, (size_t)h.count * sizeof h.t[0]);
    }
    lw_model_destroy(model);
    free(reference);
}

/* A ball that comes to rest ends the run with the reason, and does not fall through. */
static void ball_rests(void **state) {
    (void)state;
    for (int k = 0; k < ALL; k++) {
        for (int factor = 0; factor < 2; factor++) {
            lw_model *model = read_problem_with("bouncing_ball", "k", factor ? "0.5" : "0");
            history h = {0};
            lw_run_options options = options_of(model, k, &h);
            lw_error error = {0};
            double q[1], v[1];
            assert_int_equal(lw_simulate(model, &options, q, v, NULL, &error), LW_ERROR_INTEGRATION);
            if (strcmp(error.object, "event \"bounce\"") != 0)
                fail_msg("%s %d: %s: %s", integrators[k], factor, error.object, error.message);
            assert_non_null(strstr(error.message, "come to rest"));
            assert_true(error.place.line > 0 && error.remedy[0]);
            lw_model_destroy(model);
        }
    }
}

/* An impact on the slider of a crank goes through the loop: against a quadrature, by many methods. */
static void crank_hits(void **state) {
    (void)state;
    static const char *const methods[] = {"cut",       "rcr",        "lagrange", "schur",
                                          "rates",     "barycentre", "relative", "nullspace",
                                          "partition", "massless",   "director"};
    reference_table *reference = malloc(sizeof *reference);
    read_reference("crank_stop/reference.csv", reference);
    lw_model *model = read_problem("crank_stop");
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        history h = {0};
        lw_run_options options = options_of(model, 0, &h);
        lw_run_summary summary;
        options.method = methods[k];
        assert_int_equal(run(model, &options, NULL, NULL, &summary), LW_OK);
        assert_int_equal(h.count, 3);
        for (int i = 0; i < 3; i++)
            if (!(fabs(h.t[i] - reference->at[i][1]) < 1e-8))
                fail_msg("%s: impact %d at %.15g, not %.15g", methods[k], i + 1, h.t[i], reference->at[i][1]);
        assert_true(fabs(summary.ledger.dissipation - reference->at[2][4]) < 1e-5);
        assert_true(summary.energy_max_drift < 1e-6 && summary.verdict.ok);
        assert_true(summary.velocity_max < 1e-8);
    }
    lw_model_destroy(model);
    free(reference);
}

/* The joint of the impact closes the loop; its motion is seen in the slider. */
static void cut_joint_hits(void **state) {
    (void)state;
    lw_spec *spec = read_problem_spec("crank_stop", NULL, 0);
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        joint->cut = strcmp(joint->name, "D") == 0;
    }
    lw_spec_event(spec, 0)->when = "body.slider.x + 0.9";
    lw_report *report = lw_report_create();
    lw_model *model;
    if (lw_model_compile(spec, NULL, report, &model) != LW_OK) show_report(report);
    assert_non_null(model);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    history h = {0};
    lw_run_options options = options_of(model, 0, &h);
    lw_run_summary summary;
    options.method = "rcr";
    assert_int_equal(run(model, &options, NULL, NULL, &summary), LW_OK);
    assert_int_equal(h.count, 3);
    assert_true(fabs(h.t[2] - 2.27199941250587874) < 1e-8);
    assert_true(fabs(summary.ledger.dissipation - 485.319127190925957) < 1e-5);
    lw_model_destroy(model);
}

/* Two masses in the same free flight: an impulse between them keeps their momentum. */
static void momentum_stays(void **state) {
    (void)state;
    lw_model *model = compile_text(
        "linkwork: 1\nname: two\ngravity: [0, 0, 0]\nbodies:\n  a: {mass: 2, inertia: [1, 1, 1]}\n"
        "  b: {mass: 3, inertia: [1, 1, 1]}\njoints:\n"
        "  track: {type: prismatic, between: [ground, a], axis: [1, 0, 0], v: 4}\n"
        "  gap: {type: prismatic, between: [a, b], axis: [1, 0, 0], q: 1, v: -5}\n"
        "events:\n  hit: {when: gap.q, direction: down, do: {restitution: {joint: gap, factor: 0.4}}}\n"
        "run: {end: 1}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_run_summary summary;
        double q[2], v[2];
        assert_int_equal(run(model, &options, q, v, &summary), LW_OK);
        assert_int_equal(h.count, 1);
        assert_true(fabs(h.t[0] - 0.2) < 1e-9);
        assert_true(fabs(v[1] - 2) < 1e-9);                                          /* 0.4 times 5 */
        assert_true(fabs(2 * v[0] + 3 * (v[0] + v[1]) - 5) < 1e-9);                  /* 2*4 + 3*(4 - 5) */
        assert_true(fabs(summary.ledger.dissipation - 0.5 * 1.2 * (25 - 4)) < 1e-8); /* reduced mass 1.2 */
    }
    lw_model_destroy(model);
}

/* --- order ----------------------------------------------------------------------------------------- */

/* At equal instants, at knots of forces, at times of samples, at the start; what they set holds from
 * there. */
static void order_of_events(void **state) {
    (void)state;
    lw_model *model = line("", "parameters: {k: 1}\ninputs: {u: 0, w: 0}\n"
                               "forces:\n  f: {type: drive, joint: x, force: \"k*u + if(t < 2, 0, 3)\"}\n"
                               "events:\n"
                               "  never: {when: t, do: stop}\n"
                               "  first: {when: t - 1, do: {set: {u: 2}}}\n"
                               "  second: {when: 2*t - 2, do: {set: {u: u + 1, w: 7}}}\n"
                               "  caused: {when: w - 6, direction: up, do: note}\n"
                               "  knot: {when: t - 2, do: {set: {k: 2*k}}}\n"
                               "  sample: {when: t - 2.5, direction: up, do: note}\n"
                               "  past: {when: 2.75 - t, direction: up, do: stop}\n"
                               "  end: {when: 3 - t, direction: down, do: stop}\n"
                               "run: {end: 4, output: 0.5}\n");
    static const char *const names[] = {"first", "second", "caused", "knot", "sample", "end"};
    static const double times[] = {1, 1, 1, 2, 2.5, 3};
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_run_summary summary;
        double q[1], v[1];
        assert_int_equal(run(model, &options, q, v, &summary), LW_EVENT);
        assert_true(fabs(summary.t_end - 3) < 1e-14);
        assert_int_equal(h.count, 6);
        for (int i = 0; i < 6; i++) {
            assert_string_equal(h.name[i], names[i]);
            assert_true(fabs(h.t[i] - times[i]) < 1e-14);
        }
        assert_true(fabs(v[0] - (3 + 6 + 3)) < 1e-6); /* 3 N to t = 2, then 6 N and 3 N */
        assert_true(fabs(q[0] - (1.5 + 3 + 4.5)) < 1e-5);
    }
    lw_model_destroy(model);
}

static double at_one(double t, const double *q, const double *v, void *context) {
    (void)q, (void)v, (void)context;
    return t - 1;
}

static bool caller_hears(lw_simulation *simulation, int event, void *context) {
    history *h = context;
    (void)simulation;
    h->t[h->count] = lw_simulation_time(simulation);
    snprintf(h->name[h->count++], sizeof h->name[0], "caller %d", event);
    return !h->stops;
}

/* The model's events come before those of the caller; a stop of either ends the call. */
static void model_before_caller(void **state) {
    (void)state;
    const lw_event_function event = {.value = at_one};
    for (int stop = 0; stop < 3; stop++) {
        lw_model *model = line("", stop == 1 ? "events:\n  a: {when: t - 1, do: note}\n"
                                               "  b: {when: t - 1, do: stop}\nrun: {end: 2}\n"
                                             : "events:\n  a: {when: t - 1, do: note}\n"
                                               "  b: {when: t - 1, do: note}\nrun: {end: 2}\n");
        history h = {.stops = stop == 2};
        lw_run_options options = options_of(model, 0, &h);
        lw_simulation *simulation;
        options.events = &event, options.event_count = 1, options.happened = caller_hears;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        assert_int_equal(lw_simulation_advance(simulation, 1.5, NULL), stop ? LW_EVENT : LW_OK);
        assert_int_equal(h.count, 3);
        assert_string_equal(h.name[0], "a");
        assert_string_equal(h.name[1], "b");
        assert_string_equal(h.name[2], "caller 0");
        assert_int_equal(lw_simulation_model_event(simulation), stop == 1 ? 1 : -1);
        assert_int_equal(lw_simulation_event(simulation), stop == 2 || stop == 1 ? 0 : -1);
        assert_string_equal(lw_model_event_name(model, 1), "b");
        assert_null(lw_model_event_name(model, 2));
        assert_int_equal(lw_simulation_advance(simulation, 1.75, NULL), LW_OK); /* It goes on. */
        assert_int_equal(h.count, 3);
        lw_simulation_destroy(simulation);
        lw_model_destroy(model);
    }
}

/* A snapshot between events, and one taken at an event: the same bits follow; reset goes back. */
static void snapshots(void **state) {
    (void)state;
    lw_model *model = read_problem("bouncing_ball");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_simulation *simulation;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        for (int again = 0; again < 2; again++) {
            const double saved_at = again ? 1.17396146656290035 : 0.7;
            double q[2], v[2];
            assert_int_equal(lw_simulation_advance(simulation, saved_at, NULL), LW_OK);
            const size_t size = lw_simulation_snapshot_size(simulation);
            void *bytes = malloc(size);
            assert_int_equal(lw_simulation_save(simulation, bytes, size), LW_OK);
            for (int i = 0; i < 2; i++) {
                assert_int_equal(lw_simulation_advance(simulation, 3, NULL), LW_OK);
                lw_simulation_state(simulation, q + i, v + i);
                lw_error error = {0};
                if (lw_simulation_restore(simulation, bytes, size, &error) != LW_OK)
                    fail_msg("%s: %s", integrators[k], error.message);
            }
            assert_true(memcmp(q, q + 1, sizeof *q) == 0 && memcmp(v, v + 1, sizeof *v) == 0);
            free(bytes);
            assert_int_equal(lw_simulation_reset(simulation, NULL), LW_OK);
            history before = h;
            h.count = 0;
            assert_int_equal(lw_simulation_advance(simulation, 2, NULL), LW_OK);
            assert_int_equal(h.count, 3);
            assert_true(h.t[0] == before.t[0]);
            assert_int_equal(lw_simulation_reset(simulation, NULL), LW_OK);
        }
        lw_simulation_destroy(simulation);
    }
    lw_model_destroy(model);
}

/* Where a simulation stands, with all that expressions can see of it. */
typedef struct standing {
    double q[1], v[1], states[2], outputs[2];
} standing;

static standing go_to(lw_simulation *simulation, double t) {
    standing at = {0};
    lw_error error = {0};
    if (lw_simulation_advance(simulation, t, &error) != LW_OK)
        fail_msg("%s: %s", lw_simulation_integrator(simulation), error.message);
    lw_simulation_state(simulation, at.q, at.v);
    assert_int_equal(lw_simulation_states(simulation, at.states), LW_OK);
    assert_int_equal(lw_simulation_outputs(simulation, at.outputs), LW_OK);
    return at;
}

/* Snapshots amid events that are awaited since a step or two, switches that are held, a parameter that an
 * event has just set, and events that the integrator has found beyond the time asked for: the same bits
 * follow, also in another simulation, and the first buffer fits for good. */
static void snapshots_amid_events(void **state) {
    (void)state;
    lw_model *model =
        line(", q: 0.1",
             "parameters: {k: 5}\ninputs: {u: 4}\n"
             "tables: {saw: {x: [0, 0.7, 1], y: [0, 1, 0.2], beyond: repeat}}\n"
             "states: {i: {rate: u - x.q}, n: {rate: \"if(x.v > 0, 1, -1)\"}}\n"
             "forces:\n"
             "  f: {type: drive, joint: x, force: \"15*(u - q) + i - 0.15*v + 2*sin(5*t) + 5*saw(t)\"}\n"
             "  s: {type: drive, joint: x, force: \"-k*q - if(q > 2, q - 2, 0)\"}\n"
             "outputs: {a: x.a, w: force(s).work}\n"
             "events:\n"
             "  up: {when: x.q - 3, direction: up, do: {set: {u: 0}}}\n"
             "  low: {when: x.q - 1, direction: down, do: {set: {u: 4, k: 5 + 0.3*t}}}\n"
             "  tick: {when: \"sin(3*t)\", direction: up, do: {set: {n: 0}}}\n"
             "  beat: {when: t - 1, do: {set: {k: 5.5}}}\n"
             "  wall: {when: x.q - 4.5, direction: up, do: {restitution: {joint: x, factor: 0.8}}}\n"
             "run: {end: 6}\n");
    const double times[] = {0, 0.01, 0.3333, 0.7, 1, 1.7, 2.0943951023931953, 3, 3.5, 5.1};
    const char *const every[] = {"erk", "adams", "bdf", "rk4", "ida"};
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        options.integrator = every[k], options.tolerance = k == 3 ? 0 : 1e-8;
        lw_simulation *simulation, *other;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        assert_int_equal(lw_simulation_create(model, &options, NULL, &other, NULL), LW_OK);
        const size_t size = lw_simulation_snapshot_size(simulation);
        void *bytes = malloc(size);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            go_to(simulation, times[i]);
            assert_int_equal(lw_simulation_save(simulation, bytes, size), LW_OK);
            const standing first = go_to(simulation, times[i] + 0.8123);
            for (int again = 0; again < 2; again++) {
                lw_simulation *one = again ? other : simulation;
                lw_error error = {0};
                if (lw_simulation_restore(one, bytes, size, &error) != LW_OK)
                    fail_msg("%s at %g: %s", every[k], times[i], error.message);
                const standing second = go_to(one, times[i] + 0.8123);
                if (memcmp(&first, &second, sizeof first) != 0)
                    fail_msg("%s saved at %g: q = %.17g, and %.17g after restoring it", every[k], times[i],
                             first.q[0], second.q[0]);
            }
            assert_int_equal(lw_simulation_restore(simulation, bytes, size, NULL), LW_OK);
        }
        free(bytes);
        lw_simulation_destroy(simulation);
        lw_simulation_destroy(other);
    }
    lw_model_destroy(model);
}

/* User states are set, and quantities of the state stand in values: a counter and a thermostat with a gap. */
static void states_and_quantities(void **state) {
    (void)state;
    lw_model *model =
        line(", v: 1", "states:\n  hits: {rate: 0, start: 0}\n  heat: {rate: \"on - 0.3*heat\"}\n"
                       "inputs: {on: 1}\n"
                       "forces:\n  f: {type: drive, joint: x, force: \"-4*q + 0*hits\"}\n"
                       "events:\n"
                       "  pass: {when: x.q, do: {set: {hits: hits + x.v}}}\n"
                       "  hot: {when: heat - 2, direction: up, do: {set: {on: 0}}}\n"
                       "  cold: {when: heat - 1, direction: down, do: {set: {on: 1}}}\n"
                       "run: {end: 7.8}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_simulation *simulation;
        double states[2];
        assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, NULL), LW_OK);
        assert_int_equal(lw_simulation_run(simulation, NULL, NULL), LW_OK);
        assert_int_equal(lw_simulation_states(simulation, states), LW_OK);
        int passes = 0;
        double heated = 0;
        for (int i = 0; i < h.count; i++) {
            if (strcmp(h.name[i], "pass") == 0) { /* sin(2 t)/2 */
                passes++;
                assert_true(fabs(h.t[i] - passes * 1.5707963267948966) < (k == 4 ? 1e-3 : 1e-7));
            } else if (heated == 0) { /* (1 - exp(-0.3 t))/0.3 = 2 */
                heated = h.t[i];
                assert_true(fabs(heated - log(2.5) / 0.3) < (k == 4 ? 1e-2 : 1e-6));
            }
        }
        assert_int_equal(passes, 4);
        assert_true(fabs(states[0] - (-1 + 1 - 1 + 1)) < (k == 4 ? 1e-2 : 1e-6));
        assert_true(states[1] > 0.999 && states[1] < 2.001);
        assert_true(h.count > 5);
        lw_simulation_destroy(simulation);
    }
    lw_model_destroy(model);
}

/* Accelerations and reactions in `when`: a pendulum whose pin bears a given force. */
static void late_quantities(void **state) {
    (void)state;
    lw_model *model = compile_text(
        "linkwork: 1\nname: p\nbodies:\n  bob: {kind: point, mass: 1, com: [0, 0, -1]}\njoints:\n"
        "  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], q: 90 deg}\n"
        "events:\n  heavy: {when: \"reaction(pin).force - 15\", direction: up, do: stop}\nrun: {end: 5}\n");
    history h = {0};
    lw_run_options options = options_of(model, 0, &h);
    double q[1], v[1];
    assert_int_equal(run(model, &options, q, v, NULL), LW_EVENT);
    /* The rod pulls with m g cos + m v^2 = 3 m g cos. */
    assert_true(fabs(3 * 9.81 * cos(q[0]) - 15) < 1e-6);
    lw_model_destroy(model);
}

/* An event that its own action makes happen again and again. */
static void endless(void **state) {
    (void)state;
    lw_model *model = line(", v: 1", "inputs: {u: -1}\nforces:\n  f: {type: drive, joint: x, force: 2*u}\n"
                                     "events:\n  flip: {when: x.v, do: {set: {u: -u}}}\nrun: {end: 3}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_error error = {0};
        lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
        if (status == LW_OK) continue; /* It turned round once: zero was touched and not crossed. */
        assert_int_equal(status, LW_ERROR_INTEGRATION);
        assert_string_equal(error.object, "event \"flip\"");
        assert_true(h.count <= 110);
    }
    lw_model_destroy(model);
}

/* An excursion beyond zero that is shorter than a step, for both directions. */
static void short_excursions(void **state) {
    (void)state;
    lw_model *model = line("", "events:\n  up: {when: \"sin(40*t) - 0.999\", direction: up, do: note}\n"
                               "  down: {when: \"sin(40*t) - 0.999\", direction: down, do: note}\n"
                               "run: {end: 2}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        assert_int_equal(run(model, &options, NULL, NULL, NULL), LW_OK);
        int up = 0, down = 0;
        for (int i = 0; i < h.count; i++) {
            const double at = asin(0.999);
            const bool is_up = h.name[i][0] == 'u';
            const double expected =
                ((is_up ? at : 3.14159265358979312 - at) + 6.28318530717958648 * (is_up ? up : down)) / 40;
            *(is_up ? &up : &down) += 1;
            if (!(fabs(h.t[i] - expected) < 1e-9))
                fail_msg("%s: %s at %.12g, not %.12g", integrators[k], h.name[i], h.t[i], expected);
        }
        assert_int_equal(up, 13);
        assert_int_equal(down, 13);
    }
    lw_model_destroy(model);
}

/* --- specs ----------------------------------------------------------------------------------------- */

static void specs_hold_events(void **state) {
    (void)state;
    lw_spec *spec = read_problem_spec("bouncing_ball", NULL, 0), *again;
    const lw_event_spec stop = {.name = "stop", .when = "t - 1", .direction = 1};
    const lw_event_spec set = {.name = "a b",
                               .when = "fall.q - 2",
                               .action = LW_ACTION_SET,
                               .set_count = 2,
                               .sets = {{"u", "2*t"}, {"w", "fall.v"}}};
    assert_int_equal(lw_spec_add_event(spec, &stop), LW_OK);
    assert_int_equal(lw_spec_set_input(spec, "u", 0), LW_OK);
    assert_int_equal(lw_spec_set_input(spec, "w", 0), LW_OK);
    assert_int_equal(lw_spec_add_event(spec, &set), LW_OK);
    assert_int_equal(lw_spec_event_count(spec), 3);
    assert_null(lw_spec_event(spec, 3));
    size_t size;
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &again, NULL), LW_OK);
    for (int k = 0; k < 3; k++) {
        const lw_event_spec *a = lw_spec_event(spec, (size_t)k), *b = lw_spec_event(again, (size_t)k);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->when, b->when);
        assert_true(a->action == b->action && a->direction == b->direction && a->set_count == b->set_count);
        for (int i = 0; i < a->set_count; i++) {
            assert_string_equal(a->sets[i].name, b->sets[i].name);
            assert_string_equal(a->sets[i].value, b->sets[i].value);
        }
    }
    assert_string_equal(lw_spec_event(again, 0)->factor, "k");
    assert_string_equal(lw_spec_event(again, 0)->joint, "fall");
    lw_event_spec bad = set;
    bad.set_count = LW_EVENT_SETS + 1;
    assert_int_equal(lw_spec_add_event(spec, &bad), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_event(spec, NULL), LW_ERROR_ARGUMENT);
    lw_spec_destroy(again);
    lw_spec_destroy(spec);
    free(bytes);
}

/* Steps of their own have no events: refused with the reason. */
static void conserving_steps_refuse(void **state) {
    (void)state;
    lw_model *model = read_problem("bouncing_ball");
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = "director", options.integrator = "energy-momentum", options.step = 1e-3;
    options.tolerance = 0;
    lw_error error = {0};
    assert_int_equal(lw_simulate(model, &options, NULL, NULL, NULL, &error), LW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "event"));
    lw_model_destroy(model);
}

/* --- events that carry values back -------------------------------------------------------------------- */

/* A sawtooth of a state, which its own event sets back: it happens in every period, by all integrators; and
 * one of the mechanism, by the caller, who sets the state back after a stop. */
static void sawtooth(void **state) {
    (void)state;
    lw_model *model = line("", "states:\n  s: {rate: 1, start: 0.25}\n  n: {rate: 0, start: 0}\n"
                               "events:\n  tick: {when: s - 1, direction: up, do: {set: {s: 0, n: n + 1}}}\n"
                               "run: {end: 5}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        assert_int_equal(run(model, &options, NULL, NULL, NULL), LW_OK);
        assert_int_equal(h.count, 5);
        for (int i = 0; i < 5; i++) assert_true(fabs(h.t[i] - (0.75 + i)) < 1e-9);
    }
    lw_model_destroy(model);
    model = line(", v: 1", "events:\n  end: {when: x.q - 0.5, direction: up, do: stop}\nrun: {end: 5}\n");
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        lw_simulation *s;
        lw_error error;
        assert_int_equal(lw_simulation_create(model, &options, NULL, &s, &error), LW_OK);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(lw_simulation_advance(s, 100, &error), LW_EVENT);
            assert_true(fabs(lw_simulation_time(s) - 0.5 * (i + 1)) < 1e-9);
            const double q = 0, v = 1;
            assert_int_equal(lw_simulation_set_state(s, lw_simulation_time(s), &q, &v, &error), LW_OK);
        }
        /* Left where it is, it goes on. */
        assert_int_equal(lw_simulation_advance(s, 100, &error), LW_EVENT);
        assert_int_equal(lw_simulation_advance(s, 10, &error), LW_OK);
        lw_simulation_destroy(s);
    }
    lw_model_destroy(model);
}

/* Two events that set each other at one instant go on until none happens, and without end they stop the run
 * with a sentence. */
static void cascade(void **state) {
    (void)state;
    static const char sections[] =
        "states:\n  a: {rate: 1, start: 0}\n  b: {rate: 0, start: 0}\n  n: {rate: 0, start: 0}\n"
        "events:\n  one: {when: a - 0.5, direction: up, do: {set: {a: 0, b: 1, n: n + 1}}}\n"
        "  other: {when: b - 0.5, direction: up, do: {set: {b: 0, a: %s}}}\n"
        "  third: {when: n - 2.5, direction: any, do: note}\nrun: {end: 0.9}\n";
    char text[600];
    snprintf(text, sizeof text, sections, "\"if(n < 4, 1, 0)\"");
    lw_model *model = line("", text);
    static const char *const order[] = {"one",   "other", "one", "other", "one",
                                        "other", "third", "one", "other"};
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_run_options options = options_of(model, k, &h);
        assert_int_equal(run(model, &options, NULL, NULL, NULL), LW_OK);
        assert_int_equal(h.count, 9);
        for (int i = 0; i < 9; i++) {
            assert_string_equal(h.name[i], order[i]);
            assert_true(h.t[i] == h.t[0] && fabs(h.t[i] - 0.5) < 1e-9);
        }
    }
    lw_model_destroy(model);
    snprintf(text, sizeof text, sections, "1");
    model = line("", text);
    for (int k = 0; k < ALL; k++) {
        history h = {0};
        lw_error error = {0};
        lw_run_options options = options_of(model, k, &h);
        assert_int_equal(lw_simulate(model, &options, NULL, NULL, NULL, &error), LW_ERROR_INTEGRATION);
        assert_non_null(strstr(error.message, "it has happened 100 times within 0 s at t = 0.5"));
        assert_non_null(strstr(error.object, "one"));
    }
    lw_model_destroy(model);
}

/* Events of one instant are found whatever rounding makes of their values, in the order of the file: a ball's
 * impacts are counted beside the rebounds, which would undo the condition that is counted; and counters are
 * whole numbers to the last bit, for a state whose rate is zero does not change. */
static void one_instant(void **state) {
    (void)state;
    static const char *const counted[] = {"when: x.q < 0, direction: up", "when: x.q > 0, direction: down",
                                          "when: x.q/3, direction: down",
                                          "when: 0.1 - x.q - 0.1, direction: up"};
    static const char rebound[] =
        "  hit: {when: x.q, direction: down, do: {restitution: {joint: x, factor: 0.8}}}\n";
    enum { WAYS = sizeof counted / sizeof counted[0] };
    for (int way = 0; way < 2 * WAYS; way++) {
        char text[700];
        const bool after = way % 2;
        snprintf(text, sizeof text,
                 "forces:\n  weight: {type: drive, joint: x, force: -9.81}\n"
                 "states:\n  n: {rate: 0, start: 0}\nevents:\n%s"
                 "  count: {%s, do: {set: {n: n + 1}}}\n%srun: {end: 3}\n",
                 after ? rebound : "", counted[way / 2], after ? "" : rebound);
        lw_model *model = line(", q: 1", text);
        for (int k = 0; k < ALL; k++) {
            history h = {0};
            double n = 0;
            lw_run_options options = options_of(model, k, &h);
            lw_simulation *s;
            assert_int_equal(lw_simulation_create(model, &options, NULL, &s, NULL), LW_OK);
            assert_int_equal(lw_simulation_advance(s, 3, NULL), LW_OK);
            assert_int_equal(lw_simulation_states(s, &n), LW_OK);
            lw_simulation_destroy(s);
            /* The fall takes sqrt(2/g), each flight 0.8 of the one before, the first 1.6 of the fall. */
            double t = sqrt(2 / 9.81), flight = 1.6 * t;
            int impacts = 0;
            for (; t < 3; t += flight, flight *= 0.8, impacts++) {
                assert_true(2 * impacts + 1 < h.count);
                for (int i = 0; i < 2; i++) assert_true(fabs(h.t[2 * impacts + i] - t) < 1e-6);
                assert_string_equal(h.name[2 * impacts], after ? "hit" : "count");
                assert_string_equal(h.name[2 * impacts + 1], after ? "count" : "hit");
            }
            assert_int_equal(h.count, 2 * impacts);
            assert_true(n == impacts);
        }
        lw_model_destroy(model);
    }
}

/* Events that come and go faster than the state are counted in full, by steps that the state alone would let
 * grow: a mass moves freely at 1 m/s for 2 s, the ticks of an encoder and of a clock, with pulses whose own
 * value is the same on both sides; and a coordinate that oscillates and hardly passes its mark. */
static void fast_events(void **state) {
    (void)state;
    static const struct {
        const char *when, *joint, *force;
        int count;
    } cases[] = {
        {"mod(x.q, 0.01) < 0.001", ", v: 1", "0", 399}, /* 0.001, 0.01, 0.011 .. 1.991 */
        {"tick", ", v: 1", "0", 399},                   /* the same by a signal */
        {"mod(t, 0.01) < 0.001", ", v: 1", "0", 399},   /* and in time */
        {"sin(50*x.q)", ", v: 1", "0", 31},             /* 100/pi */
        {"sin(50*x.q) > 0.9", ", v: 1", "0", 32},       /* (pi/2 -+ acos(0.9) + 2 k pi)/50, k up to 15 */
        {"point(m, 0, 0, 1).x - x.q + sin(30*x.v*t)", ", v: 1", "0", 19}, /* 60/pi */
        {"x.q - 0.0999999", ", v: 1", "-100*q", 6}, /* 0.1 sin(10 t): six times in 20 rad */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "signals:\n  tick: mod(x.q, 0.01) < 0.001\nforces:\n  f: {type: drive, joint: x, force: %s}\n"
            "states:\n  n: {rate: 0, start: 0}\n"
            "events:\n  e: {when: \"%s\", direction: any, do: {set: {n: n + 1}}}\nrun: {end: 1.9951}\n",
            cases[i].force, cases[i].when);
        lw_model *model = line(cases[i].joint, text);
        for (int k = 0; k < ALL; k++) {
            history h = {0};
            double n = 0;
            lw_run_options options = options_of(model, k, &h);
            /* What it loses by tolerance keeps a coarse run, and one of low order, below the mark. */
            if (cases[i].force[0] == '-' && (k == 2 || k == 4)) continue;
            if (cases[i].force[0] == '-' && k == 3) options.step = 1e-3;
            if (k < 3) options.tolerance = 1e-12;
            lw_simulation *s;
            assert_int_equal(lw_simulation_create(model, &options, NULL, &s, NULL), LW_OK);
            assert_int_equal(lw_simulation_advance(s, 1.9951, NULL), LW_OK);
            assert_int_equal(lw_simulation_states(s, &n), LW_OK);
            lw_simulation_destroy(s);
            if (n != cases[i].count)
                fail_msg("%s by %s: %g times, not %d", cases[i].when, integrators[k], n, cases[i].count);
        }
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_events),
        cmocka_unit_test(one_instant),
        cmocka_unit_test(ball_bounces),
        cmocka_unit_test(ball_rests),
        cmocka_unit_test(crank_hits),
        cmocka_unit_test(cut_joint_hits),
        cmocka_unit_test(momentum_stays),
        cmocka_unit_test(order_of_events),
        cmocka_unit_test(model_before_caller),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(snapshots_amid_events),
        cmocka_unit_test(states_and_quantities),
        cmocka_unit_test(late_quantities),
        cmocka_unit_test(endless),
        cmocka_unit_test(short_excursions),
        cmocka_unit_test(specs_hold_events),
        cmocka_unit_test(conserving_steps_refuse),
        cmocka_unit_test(sawtooth),
        cmocka_unit_test(cascade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
