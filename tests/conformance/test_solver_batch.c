/* test_solver_batch.c - many states of a model in one call against one state at a time: all problems with closed
 * loops or constraints, 200 random mechanisms, trees; on one thread and on several; singular states.
 *
 * Vectors round in each lane as a scalar does, and the sweeps differ in the order of pivots only: 1e-11 of the
 * largest acceleration is promised and tested, and the worst difference is shown. Everything else is tested to
 * the last bit: a state's answer must not depend on the others.
 */
#include "problems.h"
#include "random_loops.h"
#include "formulations/rcr/rcr_simd.h"

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

static const double agreement = 1e-11;

/* States of one model, and their accelerations one by one; number k of state s at [k * count + s]. */
typedef struct many {
    const lw_model *model;
    int count;
    size_t nq, nv;
    double t, *q, *v, *tau, *expected, *got;
} many;

static many many_create(const lw_model *model, int count) {
    many m = {.model = model,
              .count = count,
              .nq = (size_t)lw_model_q_size(model),
              .nv = (size_t)lw_model_v_size(model)};
    size_t n = (size_t)count;
    m.q = calloc(m.nq * n + 1, sizeof *m.q);
    m.v = calloc(m.nv * n + 1, sizeof *m.v);
    m.tau = calloc(m.nv * n + 1, sizeof *m.tau);
    m.expected = calloc(m.nv * n + 1, sizeof *m.expected);
    m.got = calloc(m.nv * n + 1, sizeof *m.got);
    return m;
}

static void many_free(many *m) { free(m->q), free(m->v), free(m->tau), free(m->expected), free(m->got); }

static void put(const many *m, int s, size_t rows, const double *x, double *to) {
    for (size_t k = 0; k < rows; k++) to[k * (size_t)m->count + (size_t)s] = x[k];
}
static void get(const many *m, int s, size_t rows, const double *x, double *to) {
    for (size_t k = 0; k < rows; k++) to[k] = x[k * (size_t)m->count + (size_t)s];
}

/* Consistent states beside the initial one; where closing fails, nearer and nearer to it. */
static many states_beside_start(const lw_model *model, int count, lw_random *random) {
    many m = many_create(model, count);
    double *q0 = calloc(m.nq + 1, sizeof *q0), *v0 = calloc(m.nv + 1, sizeof *v0);
    double *q = calloc(m.nq + 1, sizeof *q), *v = calloc(m.nv + 1, sizeof *v);
    lw_error error;
    lw_model_initial_state(model, q0, v0);
    assert_int_equal(lw_assemble(model, 0, q0, v0, NULL, &error), LW_OK);
    for (int s = 0; s < count; s++) {
        for (double step = 0.5;; step = step > 1e-3 ? step / 4 : 0) {
            memcpy(q, q0, m.nq * sizeof *q);
            random_vector(random, (int)m.nv, step, v);
            lw_integrate_q(model, q, v, 1);
            random_vector(random, (int)m.nv, step > 0 ? 1 : 0, v);
            for (size_t k = 0; k < m.nv; k++) v[k] += v0[k];
            if (lw_assemble(model, 0, q, v, NULL, &error) == LW_OK) break;
            assert_true(step > 0);
        }
        put(&m, s, m.nq, q, m.q), put(&m, s, m.nv, v, m.v);
        random_vector(random, (int)m.nv, s % 2 ? 1 : 0, v);
        put(&m, s, m.nv, v, m.tau);
    }
    free(q0), free(v0), free(q), free(v);
    return m;
}

static many states_of_loops(random_loops *loops, const lw_model *model, int count) {
    many m = many_create(model, count);
    double q[7 * LOOP_BODIES + 1], v[6 * LOOP_BODIES + 1];
    m.t = loops->t;
    for (int s = 0; s < count; s++) {
        random_loops_state(loops, model, s % 3 > 0, q, v);
        put(&m, s, m.nq, q, m.q), put(&m, s, m.nv, v, m.v);
        random_vector(&loops->random, (int)m.nv, s % 2 ? 1 : 0, v);
        put(&m, s, m.nv, v, m.tau);
    }
    return m;
}

/* Accelerations one by one; false if some state has none. */
static bool solve_one_by_one(many *m, const char *method, bool unchecked) {
    lw_solver_options options;
    lw_solver *solver;
    lw_error error;
    lw_solver_defaults(m->model, &options);
    options.method = method;
    options.unchecked = unchecked;
    if (lw_solver_create(m->model, &options, NULL, &solver, &error) != LW_OK) return false;
    double *q = calloc(m->nq + 1, sizeof *q), *v = calloc(m->nv + 1, sizeof *v);
    double *tau = calloc(m->nv + 1, sizeof *tau), *vdot = calloc(m->nv + 1, sizeof *vdot);
    bool all = true;
    for (int s = 0; s < m->count; s++) {
        get(m, s, m->nq, m->q, q), get(m, s, m->nv, m->v, v), get(m, s, m->nv, m->tau, tau);
        lw_status status = lw_solver_accelerations(solver, m->t, q, v, tau, vdot, &error);
        for (size_t k = 0; k < m->nv && status != LW_OK; k++) vdot[k] = NAN;
        all &= status == LW_OK;
        put(m, s, m->nv, vdot, m->expected);
    }
    free(q), free(v), free(tau), free(vdot);
    lw_solver_destroy(solver);
    return all;
}

static lw_solver_batch *batch_of(const lw_model *model, const char *method, int threads, bool unchecked) {
    lw_solver_options options;
    lw_solver_batch *batch;
    lw_error error;
    lw_solver_batch_defaults(model, &options);
    options.method = method;
    options.unchecked = unchecked;
    if (lw_solver_batch_create(model, &options, threads, NULL, &batch, &error) != LW_OK)
        fail_msg("%s", error.message);
    return batch;
}

static lw_status solve(lw_solver_batch *batch, many *m, lw_error *error) {
    memset(m->got, 0, m->nv * (size_t)m->count * sizeof *m->got);
    return lw_solver_batch_accelerations(batch, m->count, m->t, m->q, m->v, m->tau, m->got, error);
}

/* The largest difference of a state, relative to its largest acceleration. */
static double difference(const many *m, int *where) {
    double worst = 0;
    for (int s = 0; s < m->count; s++) {
        double size = 0, off = 0;
        for (size_t k = 0; k < m->nv; k++) {
            size_t at = k * (size_t)m->count + (size_t)s;
            size = fmax(size, fabs(m->expected[at]));
            if (!(fabs(m->got[at] - m->expected[at]) <= off)) off = fabs(m->got[at] - m->expected[at]);
        }
        if (!(off <= worst * size)) worst = off / fmax(size, 1e-300), *where = s;
    }
    return worst;
}

/* --- against single calls ------------------------------------------------------------------------------- */

static void check_agreement(many *m, const char *name, double *worst) {
    lw_error error;
    int where = 0;
    solve_one_by_one(m, NULL, true);
    lw_solver_batch *batch = batch_of(m->model, NULL, 1, true);
    lw_status status = solve(batch, m, &error);
    if (status != LW_OK) fail_msg("%s: %s", name, error.message);
    double off = difference(m, &where);
    if (!(off <= agreement)) fail_msg("%s, state %d: differ by %g", name, where, off);
    *worst = fmax(*worst, off);
    lw_solver_batch_destroy(batch);
}

static void all_problems_with_loops_agree(void **state) {
    (void)state;
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    int seen = 0;
    double worst = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, LW_SOURCE_DIR "/problems/%s/model.yaml", entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        fclose(file);
        lw_model *model = read_problem(entry->d_name);
        if (model->closure_count + model->constraint_count > 0) {
            lw_random random = random_seed(77);
            many m = states_beside_start(model, 21, &random);
            check_agreement(&m, entry->d_name, &worst);
            many_free(&m);
            seen++;
        }
        lw_model_destroy(model);
    }
    closedir(folder);
    print_message("%d problems: worst relative difference %g\n", seen, worst);
    assert_true(seen >= 20);
}

static void random_mechanisms_agree(void **state) {
    (void)state;
    double worst = 0;
    int vectors = 0;
    for (int seed = 1; seed <= 200; seed++) {
        static random_loops loops;
        char name[64];
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        many m = states_of_loops(&loops, model, 13);
        snprintf(name, sizeof name, "seed %d (%s, %s)", seed, loop_kind_name(loops.kind),
                 loop_base_name(loops.base));
        check_agreement(&m, name, &worst);
        lw_solver_batch *batch = batch_of(model, NULL, 1, true);
        vectors += lw_solver_batch_lanes(batch) > 1;
        lw_solver_batch_destroy(batch);
        many_free(&m);
        lw_model_destroy(model);
    }
    print_message("200 mechanisms, %d of them on vectors: worst relative difference %g\n", vectors, worst);
    assert_true(vectors >= 150);
}

static void random_trees_agree(void **state) {
    (void)state;
    double worst = 0;
    for (int seed = 1; seed <= 60; seed++) {
        char name[32];
        lw_random random = random_seed((uint64_t)seed + 7000);
        random_tree options = {.bodies = 1 + seed % 12,
                               .forces = seed % 3 == 1,
                               .prescribed = seed % 4 == 1,
                               .reversed = seed % 2,
                               .aligned = seed % 5 < 3,
                               .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        many m = many_create(model, 19);
        double q[128], v[128], tau[128];
        for (int s = 0; s < m.count; s++) {
            random_state(&random, model, q, v);
            random_vector(&random, (int)m.nv, 3, tau);
            put(&m, s, m.nq, q, m.q), put(&m, s, m.nv, v, m.v), put(&m, s, m.nv, tau, m.tau);
        }
        snprintf(name, sizeof name, "seed %d", seed);
        check_agreement(&m, name, &worst);
        lw_solver_batch *batch = batch_of(model, "tree", 2, true);
        assert_true(lw_solver_batch_lanes(batch) > 1);
        lw_solver_batch_destroy(batch);
        many_free(&m);
        lw_model_destroy(model);
    }
    print_message("60 trees: worst relative difference %g\n", worst);
}

/* --- a state's answer is its own ------------------------------------------------------------------------ */

static bool same_bits(const many *m, const double *a, const double *b) {
    return memcmp(a, b, m->nv * (size_t)m->count * sizeof *a) == 0;
}

/* problems/parallelogram, whose cranks turn alike, on both sides of the position in line, where its loop is
 * singular: of the states of a vector some keep to the base rows and others do not. */
static many states_near_line(const lw_model *model, int count) {
    lw_random random = random_seed(5);
    many m = many_create(model, count);
    double q[3], v[3], tau[3], along[3], speed;
    lw_model_initial_state(model, q, along); /* q is zero, and the speeds are 6 rad/s or -6 rad/s. */
    for (int s = 0; s < count; s++) {
        double angle = LW_PI / 2 + (s % 5 - 2) * (s % 7 < 3 ? 1e-3 : 0.3);
        random_vector(&random, 1, 1, &speed);
        for (int k = 0; k < 3; k++) q[k] = along[k] / 6 * angle, v[k] = along[k] * speed;
        random_vector(&random, 3, 1, tau);
        put(&m, s, m.nq, q, m.q), put(&m, s, m.nv, v, m.v), put(&m, s, m.nv, tau, m.tau);
    }
    return m;
}

/* Any number of threads, any width of vector, any neighbours: the same bits. */
static void check_independence(many *m, const char *name) {
    lw_error error;
    lw_solver_batch *one = batch_of(m->model, "rcr", 1, true);
    lw_status status = solve(one, m, &error);
    memcpy(m->expected, m->got, m->nv * (size_t)m->count * sizeof *m->got);
    for (int threads = 2; threads <= 4; threads++) {
        lw_solver_batch *several = batch_of(m->model, "rcr", threads, true);
        assert_true(lw_solver_batch_threads(several) >= 1);
        for (int round = 0; round < 3; round++) {
            assert_int_equal(solve(several, m, &error), status);
            if (!same_bits(m, m->got, m->expected)) fail_msg("%s: %d threads differ", name, threads);
        }
        lw_solver_batch_destroy(several);
    }
    many other = many_create(m->model, m->count); /* the same states in another order, and fewer of them */
    other.t = m->t;
    double x[7 * LOOP_BODIES + 64];
    for (int kept = m->count; kept > 0; kept -= 1 + m->count / 7) {
        other.count = kept;
        for (int s = 0; s < kept; s++) {
            int from = (s * 5 + kept) % m->count;
            get(m, from, m->nq, m->q, x), put(&other, s, m->nq, x, other.q);
            get(m, from, m->nv, m->v, x), put(&other, s, m->nv, x, other.v);
            get(m, from, m->nv, m->tau, x), put(&other, s, m->nv, x, other.tau);
            get(m, from, m->nv, m->expected, x), put(&other, s, m->nv, x, other.expected);
        }
        solve(one, &other, &error);
        if (!same_bits(&other, other.got, other.expected)) fail_msg("%s: %d states differ", name, kept);
    }
    many_free(&other);
    lw_solver_batch_destroy(one);
}

static void a_state_does_not_depend_on_the_others(void **state) {
    (void)state;
    static const char *const problems[] = {"four_bar", "bricard", "stewart_platform", "andrews_squeezer"};
    for (int k = 0; k < 4; k++) {
        lw_random random = random_seed((uint64_t)k + 1);
        lw_model *model = read_problem(problems[k]);
        many m = states_beside_start(model, 61, &random);
        check_independence(&m, problems[k]);
        many_free(&m);
        lw_model_destroy(model);
    }
    lw_model *model = read_problem("parallelogram");
    many m = states_near_line(model, 61);
    check_independence(&m, "parallelogram");
    many_free(&m);
    lw_model_destroy(model);
}

static bool supported(const lw_rcr_simd *simd) {
#if defined(__x86_64__)
    if (simd->width == 8) return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    if (simd->width == 4) return __builtin_cpu_supports("avx2");
#endif
    return simd->width == 2;
}

/* Near a singular position some lanes are left out, and only those that a single call treats otherwise, too. */
static void every_width_has_the_same_bits(void **state) {
    (void)state;
    static const lw_rcr_simd *const all[] = {&lw_rcr_simd_2, &lw_rcr_simd_4, &lw_rcr_simd_8};
    lw_model *model = read_problem("parallelogram");
    many m = states_near_line(model, 64);
    const lw_states states = {m.count, 0, m.q, m.v, m.tau, m.got};
    const lw_method_options options = {0};
    bool answered[64];
    int first_width = 0, left_out = 0;
    for (int w = 0; w < 3; w++) {
        if (!supported(all[w])) {
            print_message("%d lanes: this processor has no such vectors\n", all[w]->width);
            continue;
        }
        lw_method *method;
        lw_error error;
        lw_arena *arena = lw_arena_create(NULL);
        assert_int_equal(lw_formulation_find("rcr")->create(model, &options, &method, &error), LW_OK);
        void *workspace = all[w]->create((lw_rcr *)method, arena);
        for (int s = 0; s < m.count; s += all[w]->width) {
            unsigned mask = all[w]->accelerations((lw_rcr *)method, workspace, &states, s);
            for (int l = 0; l < all[w]->width; l++) {
                if (!first_width) answered[s + l] = mask >> l & 1;
                assert_int_equal(answered[s + l], mask >> l & 1);
            }
        }
        for (int s = 0; s < m.count; s++)
            for (size_t k = 0; k < m.nv; k++) {
                size_t at = k * (size_t)m.count + (size_t)s;
                if (!first_width) m.expected[at] = m.got[at];
                if (answered[s]) assert_memory_equal(&m.expected[at], &m.got[at], sizeof *m.got);
            }
        first_width = all[w]->width;
        method->formulation->destroy(method);
        lw_arena_destroy(arena);
    }
    for (int s = 0; s < m.count; s++) left_out += !answered[s];
    print_message("%d of %d states are left to single calls\n", left_out, m.count);
    assert_true(left_out > 5 && left_out < 40);
    many_free(&m);
    lw_model_destroy(model);
}

/* --- states without accelerations, other methods, checks ------------------------------------------------ */

static void a_state_without_accelerations_is_alone(void **state) {
    (void)state;
    lw_random random = random_seed(3);
    lw_model *model = read_problem("four_bar");
    many m = states_beside_start(model, 40, &random);
    lw_error error;
    for (int threads = 1; threads <= 3; threads++) {
        lw_solver_batch *batch = batch_of(model, "rcr", threads, true);
        assert_int_equal(solve(batch, &m, &error), LW_OK);
        memcpy(m.expected, m.got, m.nv * (size_t)m.count * sizeof *m.got);
        m.tau[17] = INFINITY, m.q[33] = NAN;
        assert_int_equal(solve(batch, &m, &error), LW_ERROR_SINGULAR);
        assert_non_null(strstr(error.message, "state 17 at t = 0 is not finite"));
        for (size_t k = 0; k < m.nv; k++) {
            m.expected[k * 40 + 17] = m.got[k * 40 + 17], m.expected[k * 40 + 33] = m.got[k * 40 + 33];
            assert_false(isfinite(m.got[k * 40 + 17]) || isfinite(m.got[k * 40 + 33]));
        }
        assert_true(same_bits(&m, m.got, m.expected));
        m.tau[17] = 0;
        assert_int_equal(solve(batch, &m, &error), LW_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "state 33 has numbers"));
        m.q[33] = m.q[32];
        lw_solver_batch_destroy(batch);
    }
    many_free(&m);
    lw_model_destroy(model);
}

/* By any method that the batch knows no vectors for, and with the check. */
static void other_methods_and_checked_batches_agree(void **state) {
    (void)state;
    static const char *const methods[] = {"cut", "lagrange", "rcr"};
    lw_random random = random_seed(9);
    lw_model *model = read_problem("stewart_platform");
    many m = states_beside_start(model, 19, &random);
    for (int k = 0; k < 6; k++) {
        lw_error error;
        bool unchecked = k < 3;
        assert_true(solve_one_by_one(&m, methods[k % 3], unchecked));
        lw_solver_batch *batch = batch_of(model, methods[k % 3], 2, unchecked);
        assert_string_equal(lw_solver_batch_method(batch), methods[k % 3]);
        assert_ptr_equal(lw_solver_batch_model(batch), model);
        assert_int_equal(solve(batch, &m, &error), LW_OK);
        if (k != 2)
            assert_true(same_bits(&m, m.got, m.expected));
        else
            assert_true(lw_solver_batch_lanes(batch) > 1);
        lw_solver_batch_destroy(batch);
    }
    many_free(&m);
    lw_model_destroy(model);
}

static void arguments_are_checked(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_solver_options options;
    lw_solver_batch *batch;
    lw_error error;
    double x[8] = {0};
    lw_solver_batch_defaults(model, &options);
    assert_true(options.unchecked);
    lw_solver_batch_defaults(model, NULL);
    assert_int_equal(lw_solver_batch_create(NULL, &options, 1, NULL, &batch, &error), LW_ERROR_ARGUMENT);
    assert_null(batch);
    assert_int_equal(lw_solver_batch_create(model, NULL, 1, NULL, &batch, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_batch_create(model, &options, 1, NULL, NULL, &error), LW_ERROR_ARGUMENT);
    options.penalty = -1;
    assert_int_equal(lw_solver_batch_create(model, &options, 1, NULL, &batch, &error), LW_ERROR_ARGUMENT);
    options.penalty = 0, options.method = "tree";
    assert_int_equal(lw_solver_batch_create(model, &options, 1, NULL, &batch, &error), LW_ERROR_UNSUPPORTED);
    assert_int_equal(lw_solver_batch_accelerations(NULL, 1, 0, x, x, NULL, x, &error), LW_ERROR_ARGUMENT);
    assert_null(lw_solver_batch_method(NULL));
    assert_null(lw_solver_batch_model(NULL));
    assert_int_equal(lw_solver_batch_lanes(NULL), 0);
    assert_int_equal(lw_solver_batch_threads(NULL), 0);
    lw_solver_batch_destroy(NULL);
    options.method = NULL;
    assert_int_equal(lw_solver_batch_create(model, &options, 0, NULL, &batch, &error), LW_OK);
    assert_int_equal(lw_solver_batch_accelerations(batch, 1, 0, NULL, x, NULL, x, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_batch_accelerations(batch, -1, 0, x, x, NULL, x, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_batch_accelerations(batch, 0, 0, NULL, NULL, NULL, NULL, &error), LW_OK);
    lw_solver_batch_destroy(batch);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_problems_with_loops_agree),
        cmocka_unit_test(random_mechanisms_agree),
        cmocka_unit_test(random_trees_agree),
        cmocka_unit_test(a_state_does_not_depend_on_the_others),
        cmocka_unit_test(every_width_has_the_same_bits),
        cmocka_unit_test(a_state_without_accelerations_is_alone),
        cmocka_unit_test(other_methods_and_checked_batches_agree),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
