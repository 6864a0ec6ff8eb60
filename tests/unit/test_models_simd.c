/* Accelerations of trees that differ in their numbers, one in each lane: those of each model by itself, to the last bit, by every
 * width of vector that the processor has; and which models may stand side by side.
 */
#include "dynamics/models_simd.h"

#include <linkwork/linkwork.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    "linkwork: 1\n"
    "parameters: {m: 1, h: 0.4, J: 0.02, a: 0.001, k: 200, type: 1}\n"
    "bodies:\n"
    "  base: {mass: 3*m, com: [0, 0, h], inertia: [J, 2*J, 3*J], position: [0, 0, 0]}\n"
    "  arm: {mass: m, com: [h, 0, 0.01], inertia: [J, J, 0.5*J], position: [h, 0, 0]}\n"
    "  ball: {mass: m, com: [h, 0, -0.2], inertia: [J, 1.5*J, J, 0.1*J, 0, 0], position: [2*h, 0, 0]}\n"
    "  flyer: {mass: m, com: [0, 0, 2], inertia: [J, 2*J, 2.5*J], position: [0, 0, 2]}\n"
    "joints:\n"
    "  lift: {type: prismatic, between: [ground, base], axis: [0, 0, 1]}\n"
    "  turn: {type: revolute, between: [base, arm], point: [0.1, 0, 0], axis: [0, 1, 1], armature: a}\n"
    "  ball: {type: spherical, between: [arm, ball], point: [h + 0.2, 0, 0]}\n"
    "  free: {type: free, between: [ground, flyer], point: [0, 0, 2]}\n"
    "forces:\n"
    "  tie: {type: spring, between: [ball, flyer], points: [[h, 0, -0.2], [0, 0, 2]], stiffness: k, length: "
    "2}\n";

static lw_model *new_model(double m, double h) {
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    assert_int_equal(lw_read_model_text(text, sizeof text - 1, "text", NULL, 0, NULL, &spec), LW_OK);
    const char *names[] = {"m", "h"};
    const double values[] = {m, h};
    assert_int_equal(lw_spec_set_parameters(spec, names, values, 2, NULL), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    return model;
}

static void one_width(const lw_models_simd *simd) {
    const lw_model *models[LW_MODELS_MOST];
    lw_data *datas[LW_MODELS_MOST];
    lw_power powers[LW_MODELS_MOST];
    const int w = simd->width;
    double q[32][LW_MODELS_MOST], v[32][LW_MODELS_MOST];
    _Alignas(64) double flat_q[32 * LW_MODELS_MOST], flat_v[32 * LW_MODELS_MOST], vdot[32 * LW_MODELS_MOST];
    srand(7);
    for (int l = 0; l < w; l++) {
        models[l] = new_model(1 + 0.1 * l, 0.4 + 0.01 * l);
        assert_int_equal(lw_data_create(models[l], NULL, &datas[l]), LW_OK);
        assert_true(lw_models_alike(models[0], models[l]));
    }
    const int nq = lw_model_q_size(models[0]), nv = lw_model_v_size(models[0]);
    for (int l = 0; l < w; l++) {
        double start_q[32], start_v[32];
        lw_model_initial_state(models[l], start_q, start_v);
        for (int k = 0; k < nq; k++) q[k][l] = start_q[k] + 0.3 * rand() / RAND_MAX;
        for (int k = 0; k < nv; k++) v[k][l] = (double)rand() / RAND_MAX - 0.5;
    }
    for (int k = 0; k < nq; k++)
        for (int l = 0; l < w; l++) flat_q[k * w + l] = q[k][l];
    for (int k = 0; k < nv; k++)
        for (int l = 0; l < w; l++) flat_v[k * w + l] = v[k][l];
    double *memory = aligned_alloc(64, (simd->size(models[0]) * sizeof(double) + 63) / 64 * 64);
    assert_non_null(memory);
    simd->take(models, memory);
    assert_true(simd->forward(models, datas, memory, 0, flat_q, flat_v, vdot, powers));
    for (int l = 0; l < w; l++) {
        double one_q[32], one_v[32], one[32];
        for (int k = 0; k < nq; k++) one_q[k] = q[k][l];
        for (int k = 0; k < nv; k++) one_v[k] = v[k][l];
        assert_int_equal(lw_tree_forward_dynamics(models[l], datas[l], 0, one_q, one_v, NULL, one, NULL),
                         LW_OK);
        for (int k = 0; k < nv; k++) assert_true(vdot[k * w + l] == one[k]);
    }
    free(memory);
    for (int l = 0; l < w; l++) {
        lw_data_destroy(datas[l]);
        lw_model_destroy((lw_model *)models[l]);
    }
}

static void widths(void **state) {
    (void)state;
    one_width(&lw_models_simd_2);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) one_width(&lw_models_simd_4);
    if (__builtin_cpu_supports("avx512f")) one_width(&lw_models_simd_8);
#endif
}

/* On another body it is another structure. */
static void alike(void **state) {
    (void)state;
    lw_model *one = new_model(1, 0.4), *other = new_model(2, 0.5), *moved = NULL;
    lw_spec *spec = NULL;
    char changed[sizeof text + 16];
    char *at = strstr(memcpy(changed, text, sizeof text), "[ground, flyer]");
    memcpy(at, "[  base, flyer]", strlen("[  base, flyer]"));
    assert_int_equal(lw_read_model_text(changed, strlen(changed), "text", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &moved), LW_OK);
    assert_true(lw_models_alike(one, other));
    assert_false(lw_models_alike(one, moved));
    lw_spec_destroy(spec);
    lw_model_destroy(one);
    lw_model_destroy(other);
    lw_model_destroy(moved);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(widths), cmocka_unit_test(alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
