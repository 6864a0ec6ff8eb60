/* test_rollout.c - many runs in one call against simulations one by one: all problems, all methods, inputs
 * and forces held from instant to instant, threads, vectors, runs that fail, stop, are stopped.
 *
 * Runs on threads are compared to the last bit. Runs in vectors are compared with those to 1e-9 of the
 * largest number: kernels round differently, and the motion multiplies that over the run.
 */
#include "problems.h"
#include "random_model.h"

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

enum { RUNS = 5, INSTANTS = 4 };

/* Runs of one model, and what came out. */
typedef struct runs {
    const lw_model *model;
    int count, instants;
    size_t nq, nv, inputs, outputs, states;
    double times[64], *q, *v, *given, *tau;
    double *q_out, *v_out, *outputs_out, *states_out;
    lw_status *status;
} runs;

static double *numbers(size_t count) {
    double *x = calloc(count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Starts beside the initial one, on the loops. */
static runs runs_of(const lw_model *model, int count, int instants, double interval, lw_random *random) {
    runs x = {.model = model,
              .count = count,
              .instants = instants,
              .nq = (size_t)lw_model_q_size(model),
              .nv = (size_t)lw_model_v_size(model),
              .inputs = (size_t)lw_model_input_count(model),
              .outputs = (size_t)lw_model_output_count(model),
              .states = (size_t)lw_model_state_count(model)};
    const size_t n = (size_t)count, T = n * (size_t)instants;
    lw_error error;
    x.q = numbers(n * x.nq), x.v = numbers(n * x.nv);
    x.q_out = numbers(T * x.nq), x.v_out = numbers(T * x.nv);
    x.outputs_out = numbers(T * x.outputs), x.states_out = numbers(T * x.states);
    x.status = calloc(n, sizeof *x.status);
    for (int k = 0; k < instants; k++) x.times[k] = (k + 1) * interval;
    double *q0 = numbers(x.nq), *v0 = numbers(x.nv), *move = numbers(x.nv);
    lw_model_initial_state(model, q0, v0);
    assert_int_equal(lw_assemble(model, 0, q0, v0, NULL, &error), LW_OK);
    for (size_t r = 0; r < n; r++) {
        double *q = x.q + r * x.nq, *v = x.v + r * x.nv;
        memcpy(q, q0, x.nq * sizeof *q), memcpy(v, v0, x.nv * sizeof *v);
        if (r == 0) continue;
        random_vector(random, (int)x.nv, 1e-3, move);
        lw_integrate_q(model, q, move, 1);
        if (lw_assemble(model, 0, q, v, NULL, &error) != LW_OK) memcpy(q, q0, x.nq * sizeof *q);
    }
    free(q0), free(v0), free(move);
    return x;
}

static void give_inputs(runs *x, lw_random *random) {
    const size_t rows = (size_t)x->count * (size_t)x->instants;
    x->given = numbers(rows * x->inputs);
    for (size_t k = 0; k < rows * x->inputs; k++) {
        const double base = lw_model_input_default(x->model, (int)(k % x->inputs));
        random_vector(random, 1, 0.1, &x->given[k]);
        if (!isnan(base)) x->given[k] += base;
    }
}

static void give_forces(runs *x, lw_random *random) {
    const size_t rows = (size_t)x->count * (size_t)x->instants;
    x->tau = numbers(rows * x->nv);
    random_vector(random, (int)(rows * x->nv), 0.1, x->tau);
}

static void runs_free(runs *x) {
    free(x->q), free(x->v), free(x->given), free(x->tau), free(x->q_out), free(x->v_out),
        free(x->outputs_out);
    free(x->states_out), free(x->status);
}

static lw_rollout_runs call_of(runs *x) {
    return (lw_rollout_runs){.count = x->count,
                             .instants = x->instants,
                             .times = x->times,
                             .q = x->q,
                             .v = x->v,
                             .inputs = x->given,
                             .tau = x->tau,
                             .q_out = x->q_out,
                             .v_out = x->v_out,
                             .states_out = x->states_out,
                             .outputs_out = x->outputs_out,
                             .status = x->status};
}

static lw_rollout *create(const lw_model *model, const lw_rollout_options *options, const char *what) {
    lw_rollout *rollout;
    lw_error error = {0};
    if (lw_rollout_create(model, options, NULL, &rollout, &error) != LW_OK)
        fail_msg("%s: %s", what, error.message);
    return rollout;
}

/* --- against simulations --------------------------------------------------------------------------- */

static void add(double t, const double *q, const double *v, double *tau, void *context) {
    const runs *x = ((void **)context)[0];
    const double *own = ((double **)context)[1];
    (void)t, (void)q, (void)v;
    for (size_t k = 0; k < x->nv; k++) tau[k] += own[k];
}

static void must_be(const char *what, const char *of, int run, int instant, const double *got,
                    const double *want, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (memcmp(&got[k], &want[k], sizeof *got) != 0 && !(isnan(got[k]) && isnan(want[k])))
            fail_msg("%s, run %d, instant %d: %s[%zu] is %.17g, by a simulation %.17g", what, run, instant,
                     of, k, got[k], want[k]);
}

/* What a new simulation gives for every run. */
static void must_be_simulations(runs *x, const lw_rollout *rollout, const lw_rollout_options *options,
                                const char *what) {
    double *q = numbers(x->nq), *v = numbers(x->nv), *outputs = numbers(x->outputs),
           *states = numbers(x->states);
    for (int r = 0; r < x->count; r++) {
        lw_run_options run = options->run;
        lw_simulation *s;
        lw_error error = {0};
        const size_t T = (size_t)x->instants, first = (size_t)r * T;
        void *context[2] = {x, x->tau ? x->tau + first * x->nv : NULL};
        run.method = lw_rollout_method(rollout);
        run.q = x->q + (size_t)r * x->nq, run.v = x->v + (size_t)r * x->nv;
        run.inputs = x->given ? x->given + first * x->inputs : NULL;
        if (x->tau) run.force = add, run.context = context;
        lw_status status = lw_simulation_create(x->model, &run, NULL, &s, &error);
        for (size_t k = 0; k < T; k++) {
            const size_t at = first + k;
            if (status == LW_OK && x->given && x->inputs)
                assert_int_equal(lw_simulation_set_inputs(s, x->given + at * x->inputs), LW_OK);
            if (x->tau) context[1] = x->tau + at * x->nv;
            if (status == LW_OK)
                status = x->given || x->tau ? lw_simulation_step_to(s, x->times[k], &error)
                                            : lw_simulation_advance(s, x->times[k], &error);
            if (status == LW_OK) {
                lw_simulation_state(s, q, v);
                lw_simulation_states(s, states);
                if (x->outputs) status = lw_simulation_outputs(s, outputs);
            }
            if (status != LW_OK) {
                for (size_t i = 0; i < x->nq; i++) q[i] = NAN;
                for (size_t i = 0; i < x->nv; i++) v[i] = NAN;
            }
            must_be(what, "q", r, (int)k, x->q_out + at * x->nq, q, x->nq);
            must_be(what, "v", r, (int)k, x->v_out + at * x->nv, v, x->nv);
            if (status != LW_OK) continue;
            must_be(what, "states", r, (int)k, x->states_out + at * x->states, states, x->states);
            must_be(what, "outputs", r, (int)k, x->outputs_out + at * x->outputs, outputs, x->outputs);
        }
        if (x->status[r] != status)
            fail_msg("%s, run %d: status %d, by a simulation %d: %s", what, r, x->status[r], status,
                     error.message);
        lw_simulation_destroy(s);
    }
    free(q), free(v), free(outputs), free(states);
}

/* Twice by one rollout, whose simulations have then made other runs before, and on one thread and three. */
static void compare(runs *x, lw_rollout_options options, const char *what) {
    options.forces = x->tau != NULL;
    for (int threads = 1; threads <= 3; threads += 2) {
        options.threads = threads;
        lw_rollout *rollout = create(x->model, &options, what);
        assert_int_equal(lw_rollout_threads(rollout), threads);
        lw_error error = {0};
        for (int again = 0; again < 2; again++) {
            const lw_rollout_runs call = call_of(x);
            const lw_status status = lw_rollout_run(rollout, &call, &error);
            for (int r = 0; r < x->count && status == LW_OK; r++)
                assert_true(x->status[r] == LW_OK || x->status[r] == LW_EVENT);
        }
        must_be_simulations(x, rollout, &options, what);
        lw_rollout_destroy(rollout);
    }
}

static void problems_to_the_last_bit(void **state) {
    (void)state;
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    lw_random random = random_seed(27);
    int seen = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || strchr(entry->d_name, '.')) continue;
        lw_model *model = read_problem(entry->d_name);
        if (lw_model_v_size(model) <= 40) {
            lw_rollout_options options;
            lw_rollout_defaults(model, &options);
            const double span = options.run.end - options.run.start;
            runs x = runs_of(model, 3, INSTANTS, fmin(0.02, span / INSTANTS), &random);
            for (int k = 0; k < INSTANTS; k++) x.times[k] += options.run.start;
            compare(&x, options, entry->d_name);
            if (x.inputs) {
                give_inputs(&x, &random);
                compare(&x, options, entry->d_name);
            }
            runs_free(&x);
            seen++;
        }
        lw_model_destroy(model);
    }
    closedir(folder);
    assert_true(seen > 30);
}

static void methods_to_the_last_bit(void **state) {
    (void)state;
    static const char *const names[] = {"four_bar", "double_pendulum", "spatial_slider_crank"};
    lw_random random = random_seed(28);
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        lw_model *model = read_problem(names[p]);
        for (int m = 0; m < lw_method_count(); m++) {
            lw_rollout_options options;
            lw_rollout_defaults(model, &options);
            options.run.method = lw_method_at(m).name;
            options.run.integrator = strncmp(options.run.method, "director", 8) == 0 ? NULL : "erk";
            options.run.step = options.run.integrator ? 0 : 1e-3;
            options.run.tolerance = 1e-6;
            lw_simulation *s;
            lw_error error;
            if (lw_simulation_create(model, &options.run, NULL, &s, &error) != LW_OK) continue;
            lw_simulation_destroy(s);
            runs x = runs_of(model, 3, 3, 0.01, &random);
            compare(&x, options, options.run.method);
            runs_free(&x);
        }
        for (int i = 0; i < lw_integrator_count(); i++) {
            lw_rollout_options options;
            lw_rollout_defaults(model, &options);
            options.run.integrator = lw_integrator_name(i);
            options.run.step = 1e-3;
            lw_simulation *s;
            lw_error error;
            if (lw_simulation_create(model, &options.run, NULL, &s, &error) != LW_OK) continue;
            lw_simulation_destroy(s);
            runs x = runs_of(model, RUNS, 3, 0.01, &random);
            compare(&x, options, options.run.integrator);
            bool by_residual = strcmp(options.run.integrator, "ida") == 0;
            if (!by_residual) {
                give_forces(&x, &random);
                compare(&x, options, options.run.integrator);
            }
            runs_free(&x);
        }
        lw_model_destroy(model);
    }
}

/* --- vectors --------------------------------------------------------------------------------------- */

static lw_rollout_options by_vectors(const lw_model *model) {
    lw_rollout_options options;
    lw_rollout_defaults(model, &options);
    options.run.method = "tree", options.run.integrator = "rk4";
    options.run.step = 1e-3, options.run.tolerance = 0;
    return options;
}

static void trees_side_by_side(void **state) {
    (void)state;
    double worst = 0;
    int seen = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        lw_random random = random_seed(seed);
        const random_tree tree = {.bodies = 1 + (int)(seed % 9),
                                  .forces = seed % 3 == 0,
                                  .reversed = seed % 2,
                                  .aligned = seed % 5 > 2,
                                  .joint = -1};
        lw_model *model = random_tree_model(&random, &tree);
        runs one = runs_of(model, 37, 3, 0.005, &random), side;
        lw_rollout_options options = by_vectors(model);
        options.forces = seed % 2;
        if (options.forces) give_forces(&one, &random);
        lw_error error = {0};
        lw_rollout *single = create(model, &options, "single"), *vectors;
        options.vectors = true;
        options.threads = 1 + (int)(seed % 3);
        const lw_status possible = lw_rollout_create(model, &options, NULL, &vectors, &error);
        assert_true(possible == LW_OK || possible == LW_ERROR_UNSUPPORTED);
        if (possible == LW_OK) {
            lw_rollout_runs call = call_of(&one);
            side = one;
            side.q_out = numbers((size_t)37 * 3 * one.nq), side.v_out = numbers((size_t)37 * 3 * one.nv);
            assert_int_equal(lw_rollout_run(single, &call, &error), LW_OK);
            call = call_of(&side);
            call.outputs_out = NULL;
            assert_int_equal(lw_rollout_run(vectors, &call, &error), LW_OK);
            seen++;
            double size = 1e-3, difference = 0;
            for (size_t k = 0; k < 37 * 3 * one.nq; k++) {
                size = fmax(size, fabs(one.q_out[k]));
                difference = fmax(difference, fabs(one.q_out[k] - side.q_out[k]));
            }
            if (!(difference <= 1e-9 * size)) fail_msg("seed %d: %g of %g", (int)seed, difference, size);
            worst = fmax(worst, difference / size);
            /* Bits of a run are its own. */
            const size_t row = 3 * one.nq;
            double *alone = numbers(row);
            for (int r = 0; r < 37; r += 9) {
                call = call_of(&side);
                call.count = 1, call.q += (size_t)r * one.nq, call.v += (size_t)r * one.nv;
                if (call.tau) call.tau += (size_t)r * 3 * one.nv;
                call.q_out = alone, call.v_out = NULL, call.outputs_out = NULL, call.status = NULL;
                assert_int_equal(lw_rollout_run(vectors, &call, &error), LW_OK);
                must_be("alone", "q", r, 0, side.q_out + (size_t)r * row, alone, row);
            }
            free(alone), free(side.q_out), free(side.v_out);
        }
        lw_rollout_destroy(single), lw_rollout_destroy(vectors);
        runs_free(&one);
        lw_model_destroy(model);
    }
    print_message("%d trees: vectors and single runs differ by at most %.1e\n", seen, worst);
    assert_true(seen > 20);
}

static void vectors_refuse(void **state) {
    (void)state;
    static const struct {
        const char *problem, *why;
    } cases[] = {{"four_bar", "loops"}, {"bouncing_ball", ""}, {"pid_arm", ""}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char path[200];
        snprintf(path, sizeof path, LW_SOURCE_DIR "/problems/%s", cases[k].problem);
        DIR *folder = opendir(path);
        if (!folder) continue;
        closedir(folder);
        lw_model *model = read_problem(cases[k].problem);
        lw_rollout_options options = by_vectors(model);
        options.run.method = NULL;
        options.vectors = true;
        lw_rollout *rollout;
        lw_error error = {0};
        assert_int_equal(lw_rollout_create(model, &options, NULL, &rollout, &error), LW_ERROR_UNSUPPORTED);
        assert_null(rollout);
        assert_non_null(strstr(error.message, cases[k].why));
        lw_model_destroy(model);
    }
}

/* --- runs that do not come to their end -------------------------------------------------------------- */

static const char *const pendulum_with_stop =
    "linkwork: 1\nname: p\ngravity: [0, 0, -9.81]\n"
    "bodies:\n  rod: {mass: 1, com: [0, 0, -1], inertia: [0.1, 0.1, 0.01]}\n"
    "joints:\n  pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0], q: 0.1}\n"
    "events:\n  far: {when: pin.q - 0.5, direction: up, do: stop}\n";

static void stops_and_failures(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec(pendulum_with_stop);
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    lw_rollout_options options;
    lw_rollout_defaults(model, &options);
    lw_rollout *rollout = create(model, &options, "stop");
    const double times[] = {0.05, 0.1, 1}, q[] = {0.1, 0.4, 0.2}, v[] = {0, 2, 0};
    double q_out[9];
    lw_status status[3];
    lw_error error = {0};
    lw_rollout_runs call = {
        .count = 3, .instants = 3, .times = times, .q = q, .v = v, .q_out = q_out, .status = status};
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_OK);
    assert_int_equal(status[0], LW_OK);
    assert_int_equal(status[1], LW_EVENT);
    assert_true(!isnan(q_out[0]) && !isnan(q_out[2]) && isnan(q_out[5]) && !isnan(q_out[8]));
    const double bad_q[] = {0.1, NAN, 0.2}, bad_times[] = {0.05, 0.05, 1};
    call.q = bad_q;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_ARGUMENT);
    assert_string_equal(error.message, "q[1][0] is nan");
    call.q = q, call.times = bad_times;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_ARGUMENT);
    call.times = times, call.tau = q_out;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_rollout_run(NULL, &call, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_rollout_run(rollout, NULL, &error), LW_ERROR_ARGUMENT);
    lw_rollout_destroy(rollout);

    options.run.integrator = "rk4", options.run.step = 2, options.run.tolerance = 0;
    rollout = create(model, &options, "too long");
    const double late[] = {400};
    call =
        (lw_rollout_runs){.count = 2, .instants = 1, .times = late, .q = q, .q_out = q_out, .status = status};
    const lw_status blown = lw_rollout_run(rollout, &call, &error);
    for (int r = 0; r < 2; r++)
        assert_true(status[r] == LW_ERROR_INTEGRATION ? isnan(q_out[r]) : status[r] == LW_EVENT);
    assert_true(blown == LW_OK || blown == LW_ERROR_INTEGRATION);
    lw_rollout_destroy(rollout);
    lw_model_destroy(model), lw_spec_destroy(spec), lw_report_destroy(report);
}

/* A start whose loops do not close fails for itself alone, and is named. */
static void open_loops(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_random random = random_seed(3);
    lw_rollout_options options;
    lw_rollout_defaults(model, &options);
    options.run.as_given = true;
    lw_rollout *rollout = create(model, &options, "as given");
    runs x = runs_of(model, 4, 2, 0.01, &random);
    for (size_t k = 0; k < x.nq; k++) x.q[2 * x.nq + k] += k == 0 ? 3 : 0;
    lw_error error = {0};
    const lw_rollout_runs call = call_of(&x);
    const lw_status status = lw_rollout_run(rollout, &call, &error);
    for (int r = 0; r < 4; r++)
        if (r != 2) assert_int_equal(x.status[r], LW_OK);
    if (status != LW_OK) assert_non_null(strstr(error.message, "run 2: "));
    assert_true(!isnan(x.q_out[(3 * 2 + 1) * x.nq]));
    runs_free(&x);
    lw_rollout_destroy(rollout);
    lw_model_destroy(model);
}

/* A caller who changes an input at every instant gets the steps that he has given, not more for the sake of
 * rounding. */
static void steps_end_where_inputs_change(void **state) {
    (void)state;
    lw_model *model = read_problem("cart_pole");
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = "rk4", options.step = 0.01, options.tolerance = 0;
    lw_simulation *s;
    lw_error error;
    lw_run_summary summary;
    assert_int_equal(lw_simulation_create(model, &options, NULL, &s, &error), LW_OK);
    for (int k = 1; k <= 250; k++) {
        assert_int_equal(lw_simulation_set_input(s, 0, 0.01 * k), LW_OK);
        assert_int_equal(lw_simulation_step_to(s, 0.01 * k, &error), LW_OK);
        assert_true(lw_simulation_time(s) == 0.01 * k);
    }
    lw_simulation_summary(s, &summary);
    assert_int_equal(summary.steps, 250);
    assert_int_equal(lw_simulation_step_to(NULL, 1, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_step_to(s, 1, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_simulation_step_to(s, NAN, &error), LW_ERROR_ARGUMENT);
    lw_simulation_destroy(s);
    lw_model_destroy(model);
}

static void nothing_given(void **state) {
    (void)state;
    lw_model *model = read_problem("double_pendulum");
    lw_rollout_options options;
    lw_rollout *rollout;
    lw_error error;
    lw_rollout_defaults(NULL, &options);
    lw_rollout_defaults(model, NULL);
    lw_rollout_defaults(model, &options);
    assert_int_equal(lw_rollout_create(NULL, &options, NULL, &rollout, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_rollout_create(model, NULL, NULL, &rollout, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_rollout_create(model, &options, NULL, NULL, &error), LW_ERROR_ARGUMENT);
    options.run.method = "there is none";
    assert_int_equal(lw_rollout_create(model, &options, NULL, &rollout, NULL), LW_ERROR_ARGUMENT);
    assert_null(rollout);
    lw_rollout_destroy(NULL);
    assert_null(lw_rollout_model(NULL));
    assert_null(lw_rollout_method(NULL));
    assert_null(lw_rollout_integrator(NULL));
    assert_int_equal(lw_rollout_threads(NULL) + lw_rollout_lanes(NULL), 0);
    lw_rollout_defaults(model, &options);
    rollout = create(model, &options, "nothing");
    assert_ptr_equal(lw_rollout_model(rollout), model);
    assert_int_equal(lw_rollout_lanes(rollout), 1);
    lw_rollout_runs call = {0};
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_OK);
    call.count = 2;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_OK);
    call.count = -1;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_ARGUMENT);
    call.count = 1, call.instants = 1;
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_ARGUMENT);
    lw_rollout_destroy(rollout);
    lw_model_destroy(model);
}

static bool never_again(void *context) { return ++*(int *)context > 2; }

static void stopped_by_the_caller(void **state) {
    (void)state;
    lw_model *model = read_problem("double_pendulum");
    lw_random random = random_seed(4);
    int asked = 0;
    lw_rollout_options options;
    lw_rollout_defaults(model, &options);
    options.run.interrupted = never_again, options.run.context = &asked;
    options.threads = 2;
    lw_rollout *rollout = create(model, &options, "stopped");
    runs x = runs_of(model, 40, 4, 2.0, &random);
    lw_error error = {0};
    asked = 0;
    const lw_rollout_runs call = call_of(&x);
    assert_int_equal(lw_rollout_run(rollout, &call, &error), LW_ERROR_STOPPED);
    assert_int_equal(x.status[39], LW_ERROR_STOPPED);
    assert_true(isnan(x.q_out[39 * 4 * x.nq]));
    options.run.observe = (bool (*)(const lw_sample *, void *))(void (*)(void))never_again;
    lw_rollout *refused;
    assert_int_equal(lw_rollout_create(model, &options, NULL, &refused, &error), LW_ERROR_ARGUMENT);
    runs_free(&x);
    lw_rollout_destroy(rollout);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stops_and_failures),
        cmocka_unit_test(open_loops),
        cmocka_unit_test(stopped_by_the_caller),
        cmocka_unit_test(vectors_refuse),
        cmocka_unit_test(trees_side_by_side),
        cmocka_unit_test(methods_to_the_last_bit),
        cmocka_unit_test(problems_to_the_last_bit),
        cmocka_unit_test(steps_end_where_inputs_change),
        cmocka_unit_test(nothing_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
