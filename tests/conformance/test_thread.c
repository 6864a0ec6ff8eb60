/* test_thread.c - one model shared by several threads, each with data and runs of its own: bit for bit the
 * results of one thread. Build with -DLINKWORK_SANITIZE=thread to look for races as well.
 */
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, STATES = 40, MAX = 120, RUNS = 5, SAMPLES = 64 };
static const char *const integrators[RUNS] = {"rk4", "erk", "adams", "bdf", "ida"};

/* All that one thread computes. */
typedef struct work {
    const lw_model *model;
    uint64_t seed;
    lw_status status;
    double numbers[STATES][4 * MAX];
    double runs[RUNS][SAMPLES];
    int samples[RUNS];
} work;

typedef struct one_run {
    work *work;
    int index;
} one_run;

static bool observe(const lw_sample *sample, void *context) {
    work *w = ((one_run *)context)->work;
    int run = ((one_run *)context)->index;
    if (w->samples[run] + 2 > SAMPLES) return true;
    w->runs[run][w->samples[run]++] = sample->ledger->kinetic + sample->ledger->dissipation;
    w->runs[run][w->samples[run]++] = lw_model_v_size(w->model) ? sample->v[0] : 0;
    return true;
}

/* No assertions in here: cmocka belongs to the main thread. */
static void *compute(void *context) {
    work *w = context;
    const lw_model *model = w->model;
    int nv = lw_model_v_size(model), nj = lw_model_joint_count(model), nb = lw_model_body_count(model);
    lw_random random = random_seed(w->seed);
    double q[MAX], v[MAX], reactions[6 * MAX], jacobian[6 * MAX];
    lw_error error;
    lw_data *data;
    w->status = lw_data_create(model, NULL, &data);
    if (w->status) return NULL;
    for (int s = 0; s < STATES && !w->status; s++) {
        double *out = w->numbers[s];
        random_state(&random, model, q, v);
        w->status = lw_tree_forward_dynamics(model, data, 0.1 * s, q, v, NULL, out, &error);
        if (!w->status)
            w->status = lw_tree_inverse_dynamics(model, data, 0.1 * s, q, v, out, out + nv, &error);
        if (!w->status) w->status = lw_joint_reactions(model, data, 0.1 * s, q, v, out, reactions, &error);
        lw_tree_body_jacobian(model, data, 0.1 * s, q, nb, jacobian);
        lw_energy energy = lw_energy_of(model, data, 0.1 * s, q, v);
        double *more = out + 2 * nv;
        for (int k = 0; k < 6 * nj; k++) more[0] += reactions[k];
        for (int k = 0; k < 6 * nv; k++) more[1] += jacobian[k];
        more[2] = energy.kinetic, more[3] = energy.potential;
    }
    lw_data_destroy(data);
    for (int run = 0; run < RUNS && !w->status; run++) {
        one_run this_run = {w, run};
        lw_run_options options;
        lw_run_defaults(model, &options);
        options.integrator = integrators[run];
        options.end = 0.2, options.output = 0.01;
        options.step = run == 0 ? 2e-3 : 0, options.tolerance = 1e-6;
        options.observe = observe, options.context = &this_run;
        w->status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
        lw_method_applies("tere", model, &error); /* the registries are shared, too */
        lw_method_auto(model, NULL, 0, &error);
    }
    return NULL;
}

static void threads_share_a_model(void **state) {
    (void)state;
    work *alone = calloc(1, sizeof *alone), *together = calloc(THREADS, sizeof *together);
    assert_non_null(alone);
    assert_non_null(together);
    for (int seed = 1; seed <= 6; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {
            .bodies = 3 + seed, .forces = true, .prescribed = seed % 2, .reversed = true, .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        memset(alone, 0, sizeof *alone);
        memset(together, 0, THREADS * sizeof *together);
        *alone = (work){.model = model, .seed = 100u + (uint64_t)seed};
        compute(alone);
        if (alone->status != LW_OK) fail_msg("seed %d: %s", seed, lw_status_text(alone->status));
        pthread_t threads[THREADS];
        for (int k = 0; k < THREADS; k++) {
            together[k].model = model, together[k].seed = alone->seed;
            assert_int_equal(pthread_create(&threads[k], NULL, compute, &together[k]), 0);
        }
        for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(together[k].status, LW_OK);
            assert_memory_equal(together[k].numbers, alone->numbers, sizeof alone->numbers);
            assert_memory_equal(together[k].samples, alone->samples, sizeof alone->samples);
            for (int run = 0; run < RUNS; run++) {
                assert_true(alone->samples[run] > 30);
                if (memcmp(together[k].runs[run], alone->runs[run], sizeof alone->runs[run]) != 0)
                    fail_msg("seed %d: thread %d with %s differs from one thread", seed, k, integrators[run]);
            }
        }
        lw_model_destroy(model);
    }
    free(alone);
    free(together);
}

/* Compiling in several threads at once: no shared state in reader, compiler, expressions. */
static void *compile_and_ask(void *context) {
    double *out = context;
    static const char text[] =
        "linkwork: 1\n"
        "bodies: {arm: {mass: 2 kg, inertia: [0.1, 0.1, 0.1], com: [1, 0, 0]}}\n"
        "joints: {pin: {type: revolute, between: [ground, arm], point: [0, 0, 0], axis: [0, 1, 0]}}\n";
    for (int k = 0; k < 20; k++) {
        lw_spec *spec = NULL;
        lw_model *model = NULL;
        lw_data *data;
        lw_report *report = lw_report_create();
        double q = 0.1 * k, v = 0, vdot = 0;
        if (lw_read_model_text(text, sizeof text - 1, "text", NULL, 0, report, &spec) != LW_OK ||
            lw_model_compile(spec, NULL, report, &model) != LW_OK ||
            lw_data_create(model, NULL, &data) != LW_OK)
            return context; /* not NULL: failed */
        if (lw_tree_forward_dynamics(model, data, 0, &q, &v, NULL, &vdot, NULL) != LW_OK) return context;
        out[k] = vdot;
        lw_data_destroy(data);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
        lw_report_destroy(report);
    }
    return NULL;
}

static void threads_compile_models(void **state) {
    (void)state;
    double alone[20], together[THREADS][20];
    pthread_t threads[THREADS];
    assert_null(compile_and_ask(alone));
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, compile_and_ask, together[k]), 0);
    for (int k = 0; k < THREADS; k++) {
        void *failed;
        assert_int_equal(pthread_join(threads[k], &failed), 0);
        assert_null(failed);
    }
    for (int k = 0; k < THREADS; k++) assert_memory_equal(together[k], alone, sizeof alone);
}

/* Batches of a mechanism with a loop, on several threads each, two of them at a time. */
enum { BATCH = 403 };

static void *ask_batch(void *context) {
    const lw_model *model = ((work *)context)->model;
    double *vdot = &((work *)context)->numbers[0][0], q[3 * BATCH], v[3 * BATCH], q0[3], v0[3];
    lw_solver_options options;
    lw_solver_batch *batch;
    lw_error error;
    lw_model_initial_state(model, q0, v0);
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < BATCH; s++)
            q[k * BATCH + s] = v0[k] / 6 * (0.01 * s), v[k * BATCH + s] = v0[k] * (1 + 0.01 * s);
    lw_solver_batch_defaults(model, &options);
    lw_status status =
        lw_solver_batch_create(model, &options, (int)((work *)context)->seed, NULL, &batch, &error);
    for (int round = 0; round < 20 && status == LW_OK; round++)
        status = lw_solver_batch_accelerations(batch, BATCH, 0, q, v, NULL, vdot, &error);
    lw_solver_batch_destroy(batch);
    ((work *)context)->status = status;
    return NULL;
}

static void batches_share_a_model(void **state) {
    (void)state;
    lw_model *model = read_problem("parallelogram"); /* It passes through its singular position on the way. */
    work *works = calloc(3, sizeof *works);
    assert_non_null(works);
    for (int k = 0; k < 3; k++) works[k].model = model, works[k].seed = k ? 3 : 1;
    ask_batch(&works[0]);
    assert_int_equal(works[0].status, LW_OK);
    pthread_t threads[3];
    for (int k = 1; k < 3; k++) assert_int_equal(pthread_create(&threads[k], NULL, ask_batch, &works[k]), 0);
    for (int k = 1; k < 3; k++) {
        assert_int_equal(pthread_join(threads[k], NULL), 0);
        assert_int_equal(works[k].status, LW_OK);
        assert_memory_equal(works[k].numbers, works[0].numbers, sizeof works[0].numbers);
    }
    free(works);
    lw_model_destroy(model);
}

/* Simulations of a mechanism with loops, each advanced by its own thread, with a way back; the number of the
 * thread, in `seed`, chooses method and integrator. */
static void *advance(void *context) {
    static const char *const methods[] = {"rcr", "lagrange", "partition", "cut"};
    work *w = context;
    lw_run_options options;
    lw_simulation *simulation = NULL;
    lw_error error;
    lw_run_defaults(w->model, &options);
    options.method = methods[w->seed % 4];
    options.integrator = w->seed % 8 < 4 ? "rk4" : "erk";
    options.step = w->seed % 8 < 4 ? 1e-3 : 0;
    options.tolerance = w->seed % 8 < 4 ? 0 : 1e-6;
    lw_status status = lw_simulation_create(w->model, &options, NULL, &simulation, &error);
    const size_t size = lw_simulation_snapshot_size(simulation);
    void *snapshot = malloc(size + 1);
    if (status == LW_OK && !snapshot) status = LW_ERROR_MEMORY;
    if (status == LW_OK) status = lw_simulation_advance(simulation, 0.02, &error);
    if (status == LW_OK) status = lw_simulation_save(simulation, snapshot, size);
    for (int round = 0; round < 3; round++) {
        if (status == LW_OK) status = lw_simulation_advance(simulation, 0.05, &error);
        if (status == LW_OK)
            status = lw_simulation_state(simulation, w->numbers[round], w->numbers[round] + MAX);
        if (status == LW_OK) status = lw_simulation_restore(simulation, snapshot, size, &error);
    }
    free(snapshot);
    lw_simulation_destroy(simulation);
    w->status = status;
    return NULL;
}

static void simulations_share_a_model(void **state) {
    (void)state;
    static const char *const problems[] = {"four_bar", "andrews_squeezer", "stewart_platform"};
    work *alone = calloc(1, sizeof *alone), *together = calloc(THREADS, sizeof *together);
    assert_non_null(alone);
    assert_non_null(together);
    for (int p = 0; p < 3; p++) {
        lw_model *model = read_problem(problems[p]);
        pthread_t threads[THREADS];
        for (int k = 0; k < THREADS; k++) {
            memset(&together[k], 0, sizeof together[k]);
            together[k].model = model, together[k].seed = (uint64_t)k;
            assert_int_equal(pthread_create(&threads[k], NULL, advance, &together[k]), 0);
        }
        for (int k = 0; k < THREADS; k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
        for (int k = 0; k < THREADS; k++) {
            memset(alone, 0, sizeof *alone);
            alone->model = model, alone->seed = (uint64_t)k;
            advance(alone);
            if (alone->status != LW_OK) fail_msg("%s: %s", problems[p], lw_status_text(alone->status));
            assert_int_equal(together[k].status, LW_OK);
            assert_memory_equal(together[k].numbers, alone->numbers, sizeof alone->numbers);
            for (int round = 1; round < 3; round++)
                assert_memory_equal(alone->numbers[round], alone->numbers[0], sizeof alone->numbers[0]);
        }
        lw_model_destroy(model);
    }
    free(alone), free(together);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_model),
        cmocka_unit_test(threads_compile_models),
        cmocka_unit_test(batches_share_a_model),
        cmocka_unit_test(simulations_share_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
