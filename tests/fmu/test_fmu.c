/* test_fmu.c - exported FMUs by an importer of our own: the whole call sequence of FMI 2.0 and 3.0, both kinds.
 *
 * Truths: Model Exchange, integrated outside by the classical Runge-Kutta method, against a run of ours with a
 * tolerance of 1e-13; Co-Simulation against lw_simulation bit by bit; FMU states against the same steps taken
 * again; instances on threads against one alone.
 */
#define _POSIX_C_SOURCE 200809L
#include "fmu_importer.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void path_of(const char *problem, char *path, size_t size) {
    snprintf(path, size, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, problem);
}

static void open_problem(importer *fmu, const char *problem, int version) {
    char path[512];
    path_of(problem, path, sizeof path);
    importer_open(fmu, path, version, NULL);
}

/* The names of coordinates and speeds of the tree in the order of q and v, with their places. */
static int list_variables(const lw_model *model, const importer *fmu, unsigned *references, int *places,
                          int room) {
    char list[] = "joint(*)";
    lw_record *record = NULL;
    lw_error error;
    assert_int_equal(lw_record_create(model, list, &record, &error), LW_OK);
    int n = 0;
    for (size_t c = 1; c < lw_record_count(record) && n < room; c++) {
        char key[256];
        snprintf(key, sizeof key, " name=\"%s\" valueReference=", lw_record_name(record, c));
        if (!strstr(fmu->description, key)) continue; /* of a joint that closes a loop */
        references[n] = importer_reference(fmu, lw_record_name(record, c));
        places[n++] = (int)c;
    }
    lw_record_destroy(record);
    return n;
}

enum { MOST = 256 };

/* --- Model Exchange --------------------------------------------------------------------------------- */

typedef struct row {
    lw_record *record;
    double values[MOST];
} row;

static bool keep_row(const lw_sample *sample, void *context) {
    row *r = context;
    return lw_record_row(r->record, sample, r->values) == LW_OK;
}

static void check_exchange(const char *problem, int version, double end, double h, double most, int events) {
    importer fmu;
    importer_instance i;
    unsigned references[MOST];
    int places[MOST];
    open_problem(&fmu, problem, version);
    lw_model *model = read_problem(problem);
    lw_run_options options;
    lw_error error = {0};
    row last = {0};
    lw_run_defaults(model, &options);
    options.integrator = "erk", options.step = 0;
    options.tolerance = 1e-13, options.end = end, options.output = end;
    options.observe = keep_row, options.context = &last;
    assert_int_equal(lw_record_create(model, "joint(*)", &last.record, &error), LW_OK);
    assert_true(lw_record_count(last.record) < MOST);
    if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK) fail_msg("%s", error.message);
    assert_true(importer_instantiate(&fmu, true, &i));
    assert_int_equal(importer_enter(&i, 0, end, NAN), 0);
    assert_int_equal(importer_exit(&i), 0);
    const int happened = importer_integrate(&i, 0, end, h, NULL);
    if (happened < 0) fail_msg("%s: %s", problem, i.last);
    if (events >= 0) assert_int_equal(happened, events);
    const int n = list_variables(model, &fmu, references, places, MOST);
    assert_true(n > 0);
    double worst = 0;
    for (int k = 0; k < n; k++) {
        double value;
        assert_int_equal(importer_get(&i, references[k], &value), 0);
        const double truth = last.values[places[k]];
        const double off = fabs(value - truth) / fmax(1, fabs(truth));
        if (off > worst) worst = off;
    }
    print_message("%s, FMI %d, ME: %.2g over %d variables, %d events\n", problem, version, worst, n,
                  happened);
    if (!(worst <= most)) fail_msg("%s: %.3g", problem, worst);
    assert_int_equal(importer_terminate(&i), 0);
    importer_free(&i);
    lw_record_destroy(last.record);
    lw_model_destroy(model);
    importer_close(&fmu);
}

static void test_exchange_is_a_run(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        check_exchange("double_pendulum", version, 1, 5e-4, 1e-8, 0);
        check_exchange("four_bar", version, 1, 5e-4, 1e-8, 0);
        check_exchange("bricard", version, 1, 1e-3, 1e-8, 0);
        check_exchange("series_damper", version, 1, 1e-3, 1e-8, -1);
        check_exchange("cart_pole", version, 3.2, 1e-3, 1e-8, 2);
        check_exchange("bouncing_ball", version, 1, 1e-2, 1e-8, -1);
        check_exchange("tumbling_body", version, 1, 1e-3, 1e-8, 0);
    }
    check_exchange("suspension", 3, 0.2, 5e-5, 1e-8, -1);
}

/* --- Co-Simulation ---------------------------------------------------------------------------------- */

static void check_bits(const char *problem, int version) {
    importer fmu;
    importer_instance i;
    unsigned references[MOST];
    int places[MOST];
    double values[MOST], q[MOST], v[MOST];
    open_problem(&fmu, problem, version);
    lw_model *model = read_problem(problem);
    lw_run_options options;
    lw_error error = {0};
    lw_simulation *simulation = NULL;
    lw_record *record = NULL;
    lw_run_defaults(model, &options);
    assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, &error), LW_OK);
    assert_int_equal(lw_record_create(model, "joint(*)", &record, &error), LW_OK);
    assert_true(importer_instantiate(&fmu, false, &i));
    assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
    assert_int_equal(importer_exit(&i), 0);
    const int n = list_variables(model, &fmu, references, places, MOST);
    const double steps[] = {0.01, 0.02, 0.005, 0.0375, 0.01, 0.1};
    double t = 0;
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        bool ended;
        const int status = importer_step(&i, t, steps[k], &ended);
        if (status != 0) fail_msg("%s: %s", problem, i.last);
        t += steps[k];
        if (lw_simulation_advance(simulation, t, &error) != LW_OK) fail_msg("%s", error.message);
        lw_simulation_state(simulation, q, v);
        const lw_sample sample = {.model = model, .t = t, .q = q, .v = v};
        assert_int_equal(lw_record_row(record, &sample, values), LW_OK);
        for (int c = 0; c < n; c++) {
            double value;
            assert_int_equal(importer_get(&i, references[c], &value), 0);
            if (memcmp(&value, &values[places[c]], sizeof value) != 0 &&
                fabs(value) != fabs(values[places[c]]))
                fail_msg("%s: %.17g is not %.17g at t = %g", problem, value, values[places[c]], t);
        }
        for (int o = 0; o < lw_model_output_count(model); o++) {
            double value, own, scale;
            lw_model_output_unit(model, o, &scale);
            if (importer_get(&i, importer_reference(&fmu, lw_model_output_name(model, o)), &value) != 0)
                continue;
            assert_int_equal(lw_simulation_output(simulation, o, &own), LW_OK);
            own *= scale;
            assert_memory_equal(&value, &own, sizeof own);
        }
    }
    importer_free(&i);
    lw_record_destroy(record);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
    importer_close(&fmu);
}

static void test_co_simulation_has_the_bits_of_a_simulation(void **state) {
    (void)state;
    static const char *const problems[] = {"double_pendulum",  "four_bar",    "bricard",     "suspension",
                                           "series_damper",    "cart_pole",   "quarter_car", "tumbling_body",
                                           "stewart_platform", "slider_crank"};
    for (size_t k = 0; k < sizeof problems / sizeof problems[0]; k++)
        check_bits(problems[k], 2 + (int)(k % 2));
}

/* --- FMU states ------------------------------------------------------------------------------------- */

static void take_steps(importer_instance *i, double t, int count, const unsigned *references, int n,
                       double *values) {
    for (int k = 0; k < count; k++) {
        bool ended;
        assert_int_equal(importer_step(i, t + 0.01 * k, 0.01, &ended), 0);
    }
    for (int c = 0; c < n; c++) assert_int_equal(importer_get(i, references[c], &values[c]), 0);
}

static void check_states(const char *problem, int version) {
    importer fmu;
    importer_instance i, other;
    unsigned references[MOST];
    int places[MOST];
    double first[MOST], again[MOST];
    open_problem(&fmu, problem, version);
    lw_model *model = read_problem(problem);
    const int n = list_variables(model, &fmu, references, places, MOST);
    assert_true(importer_instantiate(&fmu, false, &i));
    assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
    assert_int_equal(importer_exit(&i), 0);
    take_steps(&i, 0, 5, references, n, first);
    void *kept = NULL, *copy = NULL;
    assert_int_equal(importer_save(&i, &kept), 0);
    take_steps(&i, 0.05, 5, references, n, first);
    assert_int_equal(importer_restore(&i, kept), 0);
    take_steps(&i, 0.05, 5, references, n, again);
    assert_memory_equal(first, again, (size_t)n * sizeof *first);
    /* As bytes, into an instance that has been somewhere else. */
    const size_t size = importer_serialise(&i, kept, NULL, 0);
    assert_true(size > 0);
    void *bytes = malloc(size);
    assert_int_equal(importer_serialise(&i, kept, bytes, size), size);
    assert_true(importer_instantiate(&fmu, false, &other));
    assert_int_equal(importer_enter(&other, 0, NAN, NAN), 0);
    assert_int_equal(importer_exit(&other), 0);
    assert_int_equal(importer_deserialise(&other, bytes, size, &copy), 0);
    assert_int_equal(importer_restore(&other, copy), 0);
    take_steps(&other, 0.05, 5, references, n, again);
    assert_memory_equal(first, again, (size_t)n * sizeof *first);
    ((unsigned char *)bytes)[size / 2] ^= 0x40; /* Damaged bytes are refused. */
    importer_forget(&other, &copy);
    assert_int_equal(importer_deserialise(&other, bytes, size, &copy), 0);
    assert_int_not_equal(importer_restore(&other, copy), 0);
    assert_true(other.messages > 0);
    importer_forget(&other, &copy);
    importer_forget(&i, &kept);
    free(bytes);
    importer_free(&other);
    importer_free(&i);
    lw_model_destroy(model);
    importer_close(&fmu);
}

static void test_states_come_back_bit_by_bit(void **state) {
    (void)state;
    check_states("four_bar", 2);
    check_states("suspension", 3);
    check_states("bouncing_ball", 3);
    check_states("series_damper", 2);
}

/* Model Exchange: back to a state within continuous time. */
static void test_exchange_goes_back(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        importer fmu;
        importer_instance i;
        double x[MOST], first[MOST], again[MOST];
        open_problem(&fmu, "bouncing_ball", version);
        assert_true(importer_instantiate(&fmu, true, &i));
        assert_int_equal(importer_enter(&i, 0, 2, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        assert_true(importer_integrate(&i, 0, 0.6, 1e-2, NULL) > 0);
        void *kept = NULL;
        assert_int_equal(importer_save(&i, &kept), 0);
        assert_int_equal(importer_states(&i, x), 0);
        const int events = importer_integrate(&i, 0.6, 1.2, 1e-2, NULL);
        assert_int_equal(importer_states(&i, first), 0);
        assert_int_equal(importer_restore(&i, kept), 0);
        assert_int_equal(importer_states(&i, again), 0);
        assert_memory_equal(x, again, (size_t)fmu.states * sizeof *x);
        assert_int_equal(importer_integrate(&i, 0.6, 1.2, 1e-2, NULL), events);
        assert_int_equal(importer_states(&i, again), 0);
        assert_memory_equal(first, again, (size_t)fmu.states * sizeof *x);
        importer_forget(&i, &kept);
        importer_free(&i);
        importer_close(&fmu);
    }
}

/* --- start values, parameters, inputs ------------------------------------------------------------------ */

static void test_start_values_hold(void **state) {
    (void)state;
    static const char *const problems[] = {"four_bar", "suspension", "cart_pole", "tumbling_body"};
    for (size_t p = 0; p < 4; p++)
        for (int exchange = 0; exchange < 2; exchange++) {
            importer fmu;
            importer_instance i;
            unsigned references[MOST];
            int places[MOST];
            open_problem(&fmu, problems[p], 2);
            lw_model *model = read_problem(problems[p]);
            lw_record *record = NULL;
            lw_error error;
            const int n = list_variables(model, &fmu, references, places, MOST);
            assert_int_equal(lw_record_create(model, "joint(*)", &record, &error), LW_OK);
            assert_true(importer_instantiate(&fmu, exchange, &i));
            /* An importer may set every start value to what it is. */
            for (int k = 0; k < n; k++) {
                const double start = importer_start(&fmu, lw_record_name(record, (size_t)places[k]));
                if (!isnan(start)) assert_int_equal(importer_set(&i, references[k], start), 0);
            }
            assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
            assert_int_equal(importer_exit(&i), 0);
            for (int k = 0; k < n; k++) {
                double value;
                const double start = importer_start(&fmu, lw_record_name(record, (size_t)places[k]));
                assert_int_equal(importer_get(&i, references[k], &value), 0);
                if (!isnan(start)) assert_true(value == start);
            }
            lw_record_destroy(record);
            importer_free(&i);
            lw_model_destroy(model);
            importer_close(&fmu);
        }
}

/* A fixed parameter, a start value, a tunable parameter and an input, against a simulation with the same. */
static void test_changes_are_those_of_the_model(void **state) {
    (void)state;
    importer fmu;
    importer_instance i;
    lw_error error = {0};
    lw_simulation *simulation = NULL;
    lw_run_options options;
    open_problem(&fmu, "cart_pole", 3);
    lw_model *model = read_problem_with("cart_pole", "l", "0.35");
    double q[2], v[2], value;
    lw_model_initial_state(model, q, v);
    q[1] = 0.1;
    lw_run_defaults(model, &options);
    options.q = q, options.v = v;
    assert_int_equal(lw_simulation_create(model, &options, NULL, &simulation, &error), LW_OK);
    assert_true(importer_instantiate(&fmu, false, &i));
    assert_int_equal(importer_set(&i, importer_reference(&fmu, "l"), 0.35), 0);
    assert_int_equal(importer_set(&i, importer_reference(&fmu, "pivot.q"), 0.1), 0);
    assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
    assert_int_equal(importer_get(&i, importer_reference(&fmu, "tip"), &value), 0); /* It is known now. */
    assert_true(fabs(value + 0.7 * sin(0.1)) < 1e-12);
    assert_int_equal(importer_exit(&i), 0);
    assert_int_not_equal(importer_set(&i, importer_reference(&fmu, "l"), 0.4), 0);
    assert_non_null(strstr(i.last, "l cannot be set after initialisation"));
    for (int k = 0; k < 20; k++) {
        bool ended;
        if (k == 5) {
            assert_int_equal(importer_set(&i, importer_reference(&fmu, "push"), 2), 0);
            assert_int_equal(lw_simulation_set_input(simulation, 0, 2), LW_OK);
        }
        if (k == 10) {
            assert_int_equal(importer_set(&i, importer_reference(&fmu, "b"), 0.3), 0);
            const int b = lw_model_parameter(model, "b");
            assert_int_equal(lw_simulation_set_parameter(simulation, b, 0.3, &error), LW_OK);
        }
        assert_int_equal(importer_step(&i, 0.01 * k, 0.01, &ended), 0);
        assert_int_equal(lw_simulation_advance(simulation, 0.01 * k + 0.01, &error), LW_OK);
    }
    lw_simulation_state(simulation, q, v);
    assert_int_equal(importer_get(&i, importer_reference(&fmu, "pivot.q"), &value), 0);
    assert_true(value == q[1]);
    assert_int_equal(importer_reset(&i), 0);
    assert_int_equal(importer_get(&i, importer_reference(&fmu, "pivot.q"), &value), 0);
    assert_true(value == 0.2);
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
    importer_free(&i);
    importer_close(&fmu);
}

/* --- an event that stops, an input with a default, calculated and tunable parameters, names ----------------- */

/* A mass falls with a wind whose default is an expression, until it has fallen half a metre. */
static const char falling[] =
    "linkwork: 1\n"
    "parameters: {m: 2 kg, weight: 9 N, half: weight/2, drop: 0.5 m}\n"
    "inputs: {wind: 3 N*t}\n"
    "bodies: {load-1: {mass: m, inertia: [1, 1, 1]}}\n"
    "joints: {rail: {type: prismatic, between: [ground, load-1], axis: [1, 0, 0]}}\n"
    "gravity: [0, 0, 0]\n"
    "forces: {pull: {type: drive, joint: rail, force: 2*half + wind}}\n"
    "outputs: {rail: 2*rail.q}\n"
    "events: {done: {when: rail.q - drop, direction: up, do: stop}}\n"
    "run: {end: 2 s, tolerance: 1e-10}\n";

static void test_stop_defaults_and_names(void **state) {
    (void)state;
    char path[300];
    snprintf(path, sizeof path, "fmu-falling-%d.yaml", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(falling, file);
    fclose(file);
    /* x = (9 t^2/2 + 3 t^3/6)/2 = 0.5 by bisection */
    double low = 0, high = 1;
    for (int k = 0; k < 60; k++) {
        const double t = 0.5 * (low + high);
        if (2.25 * t * t + 0.25 * t * t * t < 0.5)
            low = t;
        else
            high = t;
    }
    for (int version = 2; version <= 3; version++) {
        importer fmu;
        importer_instance i;
        double value = 0, stopped = 0;
        bool ended = false;
        importer_open(&fmu, path, version, NULL);
        const unsigned wind = importer_reference(&fmu, "wind"), weight = importer_reference(&fmu, "weight");
        const unsigned half = importer_reference(&fmu, "half"), output = importer_reference(&fmu, "rail");
        assert_true(isnan(importer_start(&fmu, "half"))); /* It is calculated. */
        assert_true(importer_start(&fmu, "wind") == 0 && importer_start(&fmu, "m") == 2);
        assert_true(importer_instantiate(&fmu, true, &i));
        assert_int_equal(importer_enter(&i, 0, 2, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        assert_int_equal(importer_integrate(&i, 0, 2, 1e-2, &stopped), 1);
        assert_true(fabs(stopped - low) < 1e-9);
        assert_int_equal(importer_get(&i, wind, &value), 0);
        assert_true(fabs(value - 3 * stopped) < 1e-9);
        importer_free(&i);
        assert_true(importer_instantiate(&fmu, false, &i));
        assert_int_equal(importer_enter(&i, 0, 2, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        double t = 0;
        for (; t < 2 && !ended; t += 0.05) assert_int_equal(importer_step(&i, t, 0.05, &ended), 0);
        assert_true(ended);
        assert_int_equal(importer_get(&i, 0, &value), 0); /* time */
        assert_true(fabs(value - low) < 1e-7);
        assert_int_equal(importer_get(&i, output, &value), 0);
        assert_true(fabs(value - 1) < 1e-7);
        importer_free(&i);
        /* A tunable parameter moves what follows from it; that cannot be set. */
        assert_true(importer_instantiate(&fmu, false, &i));
        assert_int_equal(importer_set(&i, half, 7), 3);
        assert_int_equal(importer_set(&i, weight, 12), 0);
        assert_int_equal(importer_enter(&i, 0, 2, NAN), 0);
        assert_int_equal(importer_get(&i, half, &value), 0);
        assert_true(value == 6);
        assert_int_equal(importer_exit(&i), 0);
        assert_int_equal(importer_set(&i, weight, 10), 0);
        assert_int_equal(importer_get(&i, half, &value), 0);
        assert_true(value == 5);
        assert_int_equal(importer_set(&i, wind, 1), 0);
        assert_int_equal(importer_step(&i, 0, 0.1, &ended), 0);
        assert_int_equal(importer_get(&i, importer_reference(&fmu, "rail.q"), &value), 0);
        assert_true(fabs(value - 0.5 * 11.0 / 2 * 0.01) < 1e-9);
        importer_free(&i);
        importer_close(&fmu);
    }
    remove(path);
}

/* --- within communication steps ------------------------------------------------------------------------ */

/* A mass of 2 kg on a rail without gravity under a force that is an input. */
static const char pushed[] = "linkwork: 1\n"
                             "inputs: {push: 0 N}\n"
                             "bodies: {load: {mass: 2, inertia: [1, 1, 1]}}\n"
                             "joints: {rail: {type: prismatic, between: [ground, load], axis: [1, 0, 0]}}\n"
                             "gravity: [0, 0, 0]\n"
                             "forces: {pull: {type: drive, joint: rail, force: push}}\n"
                             "run: {end: 2 s, tolerance: 1e-10, integrator: %s}\n";

static void write_pushed(const char *path, const char *integrator) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, pushed, integrator);
    fclose(file);
}

/* push = 1 + t - 6 t^2 + 4 t^3: x = (t^2/2 + t^3/6 - t^4/2 + t^5/5)/2, exact with the derivatives at each
 * communication point, in steps of any length; the state in the middle comes back to the last bit. */
static void test_inputs_move(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "bdf", "rk4, step: 1e-3", "rosenbrock, step: 1e-3"};
    char path[300];
    snprintf(path, sizeof path, "fmu-pushed-%d.yaml", (int)getpid());
    for (int k = 0; k < 4; k++) {
        importer fmu;
        importer_instance i;
        double x[2], value;
        void *kept = NULL;
        write_pushed(path, integrators[k]);
        importer_open(&fmu, path, 2, NULL);
        const unsigned push = importer_reference(&fmu, "push"), rail = importer_reference(&fmu, "rail.q");
        assert_true(importer_instantiate(&fmu, false, &i));
        assert_int_equal(importer_move(&i, push, 1, 1), 1); /* too early: a warning */
        assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        assert_int_equal(importer_move(&i, push, 4, 1), 3);
        assert_int_equal(importer_move(&i, rail, 1, 1), 3);
        for (int again = 0; again < 2; again++) {
            for (int n = again ? 2 : 0; n < 4; n++) {
                bool ended;
                const double t = 0.25 * n;
                if (n == 2 && !again) assert_int_equal(importer_save(&i, &kept), 0);
                assert_int_equal(importer_set(&i, push, 1 + t - 6 * t * t + 4 * t * t * t), 0);
                assert_int_equal(importer_move(&i, push, 1, 1 - 12 * t + 12 * t * t), 0);
                assert_int_equal(importer_move(&i, push, 2, -12 + 24 * t), 0);
                assert_int_equal(importer_move(&i, push, 3, 24), 0);
                assert_int_equal(importer_step(&i, t, 0.1, &ended), 0);
                assert_int_equal(importer_step(&i, t + 0.1, 0.15, &ended), 0); /* It goes on. */
            }
            assert_int_equal(importer_get(&i, rail, &x[again]), 0);
            assert_int_equal(importer_get(&i, push, &value), 0);
            assert_true(fabs(value) < 1e-12); /* 1 + 1 - 6 + 4 */
            if (!again) assert_int_equal(importer_restore(&i, kept), 0);
        }
        print_message("moving input, %s: off by %.2g\n", integrators[k], fabs(x[0] - 11.0 / 60));
        assert_true(fabs(x[0] - 11.0 / 60) < 1e-8);
        assert_memory_equal(&x[0], &x[1], sizeof x[0]);
        importer_forget(&i, &kept);
        importer_free(&i);
        importer_close(&fmu);
    }
    remove(path);
}

/* Updates at the ends of the integrator's steps leave the bits as they are; a step can be ended at one of
 * them, or at a time between. */
static void test_updates_and_early_return(void **state) {
    (void)state;
    importer fmu;
    importer_instance i, other;
    bool early = true, ended;
    double last = 0, value = 0, truth = 0;
    open_problem(&fmu, "four_bar", 3);
    importer_updates u = {.reference = importer_reference(&fmu, "A.q")};
    assert_true(importer_instantiate_watched(&fmu, &u, &i) && importer_instantiate(&fmu, false, &other));
    assert_int_equal(importer_enter(&i, 0, NAN, NAN) + importer_enter(&other, 0, NAN, NAN), 0);
    assert_int_equal(importer_exit(&i) + importer_exit(&other), 0);
    assert_int_equal(importer_step_watched(&i, 0, 0.5, &early, &last), 0);
    assert_int_equal(importer_step(&other, 0, 0.5, &ended), 0);
    assert_true(u.count > 3 && u.t == 0.5 && last == 0.5 && !early);
    assert_int_equal(importer_get(&other, u.reference, &truth), 0);
    assert_memory_equal(&u.value, &truth, sizeof truth);
    u = (importer_updates){.reference = u.reference, .most = 2};
    assert_int_equal(importer_step_watched(&i, 0.5, 0.5, &early, &last), 0);
    assert_true(u.count == 2 && early && last == u.t && last > 0.5 && last < 1);
    assert_int_equal(importer_step(&other, 0.5, last - 0.5, &ended), 0);
    assert_int_equal(importer_get(&other, u.reference, &truth), 0);
    assert_memory_equal(&u.value, &truth, sizeof truth);
    const double from = last;
    u = (importer_updates){.reference = u.reference, .until = 0.875};
    assert_int_equal(importer_step_watched(&i, from, 1 - from, &early, &last), 0);
    assert_true(early && last == 0.875);
    assert_int_equal(importer_step(&other, from, 0.875 - from, &ended), 0);
    assert_int_equal(importer_get(&other, u.reference, &truth), 0);
    assert_int_equal(importer_get(&i, u.reference, &value), 0);
    assert_memory_equal(&value, &truth, sizeof truth);
    importer_free(&i), importer_free(&other);
    importer_close(&fmu);
}

/* --- failures --------------------------------------------------------------------------------------- */

static void test_failures_are_told(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        importer fmu;
        importer_instance i;
        bool ended;
        double value = 0;
        open_problem(&fmu, "double_pendulum", version);
        assert_true(importer_instantiate(&fmu, false, &i));
        assert_int_equal(importer_step(&i, 0, 0.1, &ended), 3);
        assert_non_null(strstr(i.last, "outside of step mode"));
        assert_int_equal(importer_get(&i, 100000, &value), 3);
        assert_int_equal(importer_set(&i, importer_reference(&fmu, "pin.q"), NAN), 3);
        assert_int_equal(importer_set(&i, importer_reference(&fmu, "pin.reaction.fx"), 1), 3);
        assert_int_equal(importer_rates(&i, &value), 3);
        assert_non_null(strstr(i.last, "Model Exchange"));
        assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        assert_int_equal(importer_step(&i, 0.5, 0.1, &ended), 3);
        assert_int_equal(importer_step(&i, 0, 0.1, &ended), 0);
        importer_free(&i);
        /* Another FMU's token. */
        char kept = fmu.token[3];
        fmu.token[3] = kept == '0' ? '1' : '0';
        assert_false(importer_instantiate(&fmu, false, &i));
        assert_non_null(strstr(i.last, "description"));
        fmu.token[3] = kept;
        importer_close(&fmu);
    }
}

/* --- threads, and loading again ---------------------------------------------------------------------- */

typedef struct job {
    const importer *fmu;
    double results[2][4];
} job;

static void *work(void *context) {
    job *j = context;
    importer_instance a, b;
    if (!importer_instantiate(j->fmu, false, &a) || !importer_instantiate(j->fmu, true, &b)) return NULL;
    importer_enter(&a, 0, NAN, NAN), importer_enter(&b, 0, NAN, NAN);
    importer_exit(&a), importer_exit(&b);
    bool ended;
    for (int k = 0; k < 50; k++) importer_step(&a, 0.01 * k, 0.01, &ended);
    importer_integrate(&b, 0, 0.5, 1e-3, NULL);
    static const char *const names[] = {"A.q", "A.v", "B.q", "B.v"};
    for (int k = 0; k < 4; k++) {
        importer_get(&a, importer_reference(j->fmu, names[k]), &j->results[0][k]);
        importer_get(&b, importer_reference(j->fmu, names[k]), &j->results[1][k]);
    }
    importer_free(&a), importer_free(&b);
    return context;
}

static void test_eight_instances_on_four_threads(void **state) {
    (void)state;
    importer fmu;
    open_problem(&fmu, "four_bar", 3);
    job alone = {.fmu = &fmu}, jobs[4];
    pthread_t threads[4];
    assert_non_null(work(&alone));
    for (int k = 0; k < 4; k++) jobs[k] = (job){.fmu = &fmu};
    for (int k = 0; k < 4; k++) assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
    for (int k = 0; k < 4; k++) {
        void *result;
        pthread_join(threads[k], &result);
        assert_non_null(result);
        assert_memory_equal(jobs[k].results, alone.results, sizeof alone.results);
    }
    importer_close(&fmu);
}

static void test_loads_a_hundred_times(void **state) {
    (void)state;
    importer fmu;
    open_problem(&fmu, "double_pendulum", 2);
    for (int k = 0; k < 100; k++) {
        importer_instance i;
        bool ended;
        importer_unload(&fmu);
        importer_load(&fmu);
        assert_true(importer_instantiate(&fmu, k % 2, &i));
        assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
        assert_int_equal(importer_exit(&i), 0);
        if (k % 2 == 0) assert_int_equal(importer_step(&i, 0, 0.01, &ended), 0);
        importer_free(&i);
    }
    importer_close(&fmu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_is_a_run),
        cmocka_unit_test(test_co_simulation_has_the_bits_of_a_simulation),
        cmocka_unit_test(test_states_come_back_bit_by_bit),
        cmocka_unit_test(test_exchange_goes_back),
        cmocka_unit_test(test_start_values_hold),
        cmocka_unit_test(test_changes_are_those_of_the_model),
        cmocka_unit_test(test_stop_defaults_and_names),
        cmocka_unit_test(test_inputs_move),
        cmocka_unit_test(test_updates_and_early_return),
        cmocka_unit_test(test_failures_are_told),
        cmocka_unit_test(test_eight_instances_on_four_threads),
        cmocka_unit_test(test_loads_a_hundred_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
