/* test_solver_batch.c - many states of a model in one call against one state at a time: all problems with closed
 * loops or constraints, 200 random mechanisms, trees; on one thread and on several; singular states.
 *
 * Vectors round in each lane as a scalar does, and the sweeps differ in the order of pivots only: 1e-11 of the
 * largest acceleration is promised and tested, and the worst difference is shown. Everything else is tested to
 * the last bit: a state's answer must not depend on the others.
 */
#include "problems.h"
#include "random_loops.h"
#include "formulations/rcr/rcr_lanes.h"

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
    assert_true(vectors >= 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_problems_with_loops_agree),
        cmocka_unit_test(random_mechanisms_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
