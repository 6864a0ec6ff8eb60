/* test_batch.c - many states at once against one state at a time.
 *
 * Vectors round in each lane as a scalar does (no fused multiply-add on either side), so results should agree
 * to the last bit; 1e-12 of the largest is promised and tested, and the worst difference
 * is shown.
 */
#include "random_model.h"
#include "dynamics/batch_simd.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

static const double agreement = 1e-12;

typedef struct many {
    int count, nq, nv;
    double *q, *v, *tau, *vdot, *expected, *expected_tau, *got;
} many;

/* Random states with their accelerations, one by one: coordinate k of state s at [k * count + s]. */
static many random_states(lw_random *random, const lw_model *model, int count) {
    many m = {.count = count, .nq = lw_model_q_size(model), .nv = lw_model_v_size(model)};
    size_t rows = (size_t)(m.nq > m.nv ? m.nq : m.nv) + 1, n = rows * (size_t)count;
    double **arrays[] = {&m.q, &m.v, &m.tau, &m.vdot, &m.expected, &m.expected_tau, &m.got};
    for (int k = 0; k < 7; k++) *arrays[k] = calloc(n, sizeof(double));
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    double *q = calloc(rows, sizeof *q), *v = calloc(rows, sizeof *v), *tau = calloc(rows, sizeof *tau);
    double *out = calloc(rows, sizeof *out);
    for (int s = 0; s < count; s++) {
        random_state(random, model, q, v);
        random_vector(random, m.nv, 3, tau);
        for (int k = 0; k < m.nq; k++) m.q[k * count + s] = q[k];
        for (int k = 0; k < m.nv; k++) m.v[k * count + s] = v[k], m.tau[k * count + s] = tau[k];
        assert_int_equal(lw_tree_forward_dynamics(model, data, 0.7, q, v, tau, out, NULL), LW_OK);
        for (int k = 0; k < m.nv; k++) m.expected[k * count + s] = out[k];
        random_vector(random, m.nv, 3, out);
        for (int k = 0; k < m.nv; k++) m.vdot[k * count + s] = out[k];
        assert_int_equal(lw_tree_inverse_dynamics(model, data, 0.7, q, v, out, tau, NULL), LW_OK);
        for (int k = 0; k < m.nv; k++) m.expected_tau[k * count + s] = tau[k];
    }
    free(q), free(v), free(tau), free(out);
    lw_data_destroy(data);
    return m;
}

static void free_states(many *m) {
    free(m->q), free(m->v), free(m->tau), free(m->vdot), free(m->expected), free(m->expected_tau),
        free(m->got);
}

static random_tree tree_for(lw_random *random, int seed) {
    return (random_tree){.bodies = 1 + random_below(random, 14),
                         .forces = seed % 3 == 1,
                         .prescribed = seed % 4 == 1,
                         .reversed = seed % 2,
                         .aligned = seed % 5 < 3,
                         .joint = -1};
}

static bool supported(const lw_batch_simd *simd) {
#if defined(__x86_64__)
    if (simd->width == 8) return __builtin_cpu_supports("avx512f");
    if (simd->width == 4) return __builtin_cpu_supports("avx2");
#endif
    return simd->width == 2;
}

static void every_width_agrees_with_one_state(void **state) {
    (void)state;
    static const lw_batch_simd *const all[] = {&lw_batch_simd_2, &lw_batch_simd_4, &lw_batch_simd_8};
    for (int w = 0; w < 3; w++) {
        const lw_batch_simd *simd = all[w];
        if (!supported(simd)) {
            print_message("%s: this processor has no such vectors\n", simd->name);
            continue;
        }
        double worst = 0;
        for (int seed = 1; seed <= 150; seed++) {
            lw_random random = random_seed((uint64_t)seed + 5000);
            random_tree options = tree_for(&random, seed);
            lw_model *model = random_tree_model(&random, &options);
            many m = random_states(&random, model, 1 + random_below(&random, 2 * simd->width));
            lw_data *data;
            assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
            double *workspace = aligned_alloc(64, (simd->size(model) * sizeof(double) + 63) / 64 * 64);
            const lw_states states = {m.count, 0.7, m.q, m.v, m.tau, m.got};
            for (int s = 0; s < m.count; s += simd->width)
                assert_int_equal(simd->forward(model, data, workspace, &states, s, NULL), LW_OK);
            double difference = relative_difference(m.expected, m.got, m.nv * m.count);
            const lw_states inverse = {m.count, 0.7, m.q, m.v, NULL, m.vdot};
            for (int s = 0; s < m.count; s += simd->width)
                assert_int_equal(simd->inverse(model, data, workspace, &inverse, s, m.got, NULL), LW_OK);
            difference = fmax(difference, relative_difference(m.expected_tau, m.got, m.nv * m.count));
            if (!(difference <= agreement))
                fail_msg("seed %d, %s: differ by %g", seed, simd->name, difference);
            worst = fmax(worst, difference);
            free(workspace);
            free_states(&m);
            lw_data_destroy(data);
            lw_model_destroy(model);
        }
        print_message("%s: worst relative difference %g\n", simd->name, worst);
    }
}

static void batches_on_any_number_of_threads_agree(void **state) {
    (void)state;
    for (int seed = 1; seed <= 40; seed++) {
        lw_random random = random_seed((uint64_t)seed + 6000);
        random_tree options = tree_for(&random, seed);
        lw_model *model = random_tree_model(&random, &options);
        many m = random_states(&random, model, 1 + random_below(&random, 400));
        lw_batch *batch;
        lw_error error;
        assert_int_equal(lw_batch_create(model, seed % 4, NULL, &batch), LW_OK);
        int lanes = lw_batch_lanes(batch);
        assert_true(lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8);
        for (int round = 0; round < 3; round++) {
            memset(m.got, 0, (size_t)(m.nv * m.count) * sizeof(double));
            assert_int_equal(
                lw_tree_forward_dynamics_batch(model, batch, m.count, 0.7, m.q, m.v, m.tau, m.got, &error),
                LW_OK);
            double difference = relative_difference(m.expected, m.got, m.nv * m.count);
            assert_int_equal(
                lw_tree_inverse_dynamics_batch(model, batch, m.count, 0.7, m.q, m.v, m.vdot, m.got, NULL),
                LW_OK);
            difference = fmax(difference, relative_difference(m.expected_tau, m.got, m.nv * m.count));
            if (!(difference <= agreement)) fail_msg("seed %d: differ by %g", seed, difference);
        }
        lw_batch_destroy(batch);
        free_states(&m);
        lw_model_destroy(model);
    }
}

static void a_singular_state_is_reported(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("arm without mass");
    lw_body_spec body = {.name = "arm"};
    lw_joint_spec joint = {.name = "pin", .type = LW_JOINT_REVOLUTE, .bodies = {"ground", "arm"}};
    joint.geometry[0].axis_count = 1, joint.geometry[0].axes[0][2] = 1;
    lw_spec_add_body(spec, &body);
    lw_spec_add_joint(spec, &joint);
    lw_model *model = compile_or_fail(spec);
    lw_batch *batch;
    double q[3] = {0, 1, 2}, v[3] = {0}, vdot[3];
    lw_error error = {0};
    assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
    assert_int_equal(lw_tree_forward_dynamics_batch(model, batch, 3, 0, q, v, NULL, vdot, &error),
                     LW_ERROR_SINGULAR);
    assert_string_equal(error.object, "joint \"pin\"");
    lw_batch_destroy(batch);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_agrees_with_one_state),
        cmocka_unit_test(batches_on_any_number_of_threads_agree),
        cmocka_unit_test(a_singular_state_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
