/* test_bad_indices.c - every question of spec.h and model.h about an object that is not there, or of no spec or model,
 * has an answer.
 */
#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <string.h>

static const char four_bar[] =
    "linkwork: 1\n"
    "parameters: {L: 1}\n"
    "inputs: {u: 2}\n"
    "bodies:\n"
    "  one: {mass: 1, com: [0, 0, 0.5], inertia: [1, 1, 1]}\n"
    "  two: {mass: 1, com: [0.5, 0, 1], inertia: [1, 1, 1]}\n"
    "  three: {mass: 1, com: [1, 0, 0.5], inertia: [1, 1, 1]}\n"
    "  disc: {mass: 1, inertia: [1, 1, 1]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, one], point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "  b: {type: revolute, between: [one, two], point: [0, 0, 1], axis: [0, 1, 0]}\n"
    "  c: {type: revolute, between: [two, three], point: [1, 0, 1], axis: [0, 1, 0]}\n"
    "  d: {type: revolute, between: [ground, three], point: [L, 0, 0], axis: [0, 1, 0]}\n"
    "  e: {type: free, between: [ground, disc]}\n"
    "forces:\n"
    "  motor: {type: drive, joint: a, torque: u}\n"
    "constraints:\n"
    "  rope: {type: distance, between: [one, disc], points: [[0, 0, 1], [0, 0, 2]]}\n";

static const int bad[] = {-1, 5, 6, 999, INT_MAX, INT_MIN};
enum { BAD = sizeof bad / sizeof *bad };

static void model_answers(const lw_model *model, int k) {
    assert_null(lw_model_body_name(model, k));
    assert_int_equal(lw_model_body_parent(model, k), -1);
    assert_int_equal(lw_model_body_joint(model, k), -1);
    assert_true(isnan(lw_model_body_mass(model, k)));
    assert_int_equal((int)lw_model_body_kind(model, k), -1);
    assert_null(lw_model_body_shape(model, k));
    assert_int_equal(lw_model_body_shape_count(model, k), 0);
    assert_null(lw_model_body_shape_at(model, k, 0));
    assert_null(lw_model_body_shape_at(model, 1, k));
    lw_joint_info info = lw_model_joint_info(model, k);
    assert_true(!info.name && info.q_count == 0 && info.v_count == 0 && info.rows == 0);
    assert_null(lw_model_force_name(model, k));
    assert_null(lw_model_constraint_name(model, k));
    assert_int_equal((int)lw_model_constraint_type(model, k), -1);
    assert_null(lw_model_input_name(model, k));
    assert_true(isnan(lw_model_input_default(model, k)));
    assert_int_equal(lw_model_incidence(model, k, 1), 0);
    assert_int_equal(lw_model_incidence(model, 1, k), 0);
    assert_int_equal(lw_model_path(model, k, 1), 0);
    assert_int_equal(lw_model_path(model, 1, k), 0);
    assert_int_equal(lw_model_loop_cut(model, k), -1);
    assert_int_equal(lw_model_loop_length(model, k), 0);
    int sense = 7;
    assert_int_equal(lw_model_loop_joint(model, k, 0, &sense), -1);
    assert_int_equal(sense, 0);
    assert_int_equal(lw_model_loop_joint(model, 0, k, NULL), -1);
    assert_int_equal(lw_model_loop_base(model, k), -1);
    assert_false(lw_model_joint_merged(model, k));
}

static void test_model(void **state) {
    (void)state;
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    assert_int_equal(lw_read_model_text(four_bar, strlen(four_bar), "test", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    assert_int_equal(lw_model_body_count(model), 4);
    assert_int_equal(lw_model_joint_count(model), 5);
    assert_int_equal(lw_model_loop_count(model), 1);
    for (int k = 0; k < BAD; k++) model_answers(model, bad[k]);
    for (int k = 0; k <= 4; k++) assert_non_null(lw_model_body_name(model, k));
    for (int k = 0; k < 5; k++) assert_non_null(lw_model_joint_info(model, k).name);
    for (int k = 0; k < 4; k++) assert_true(lw_model_loop_joint(model, 0, k, NULL) >= 0);
    assert_int_equal(lw_model_loop_joint(model, 0, 4, NULL), -1);
    assert_string_equal(lw_model_force_name(model, 0), "motor");
    assert_null(lw_model_force_name(model, 1));
    assert_string_equal(lw_model_constraint_name(model, 0), "rope");
    assert_null(lw_model_constraint_name(model, 1));
    assert_string_equal(lw_model_input_name(model, 0), "u");
    assert_null(lw_model_input_name(model, 1));
    assert_int_equal(lw_model_body(model, NULL), -1);
    assert_int_equal(lw_model_joint(model, NULL), -1);
    assert_int_equal(lw_model_input(model, NULL), -1);
    lw_model_initial_state(model, NULL, NULL);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

static void test_no_model(void **state) {
    (void)state;
    for (int k = 0; k < BAD; k++) model_answers(NULL, bad[k]);
    model_answers(NULL, 0);
    assert_null(lw_model_name(NULL));
    assert_null(lw_model_file(NULL));
    assert_null(lw_model_gravity(NULL));
    assert_null(lw_model_run(NULL));
    assert_int_equal(lw_model_q_size(NULL) + lw_model_v_size(NULL) + lw_model_body_count(NULL) +
                         lw_model_joint_count(NULL) + lw_model_force_count(NULL) +
                         lw_model_constraint_count(NULL) + lw_model_input_count(NULL) +
                         lw_model_output_count(NULL) + lw_model_loop_count(NULL),
                     0);
    assert_int_equal(lw_model_body(NULL, "a"), -1);
    assert_int_equal(lw_model_joint(NULL, "a"), -1);
    assert_int_equal(lw_model_input(NULL, "a"), -1);
    assert_int_equal(lw_model_output(NULL, "a"), -1);
    double q = 7;
    lw_model_initial_state(NULL, &q, &q);
    assert_true(q == 7);
    lw_model *model = (lw_model *)&q;
    assert_int_equal(lw_model_compile(NULL, NULL, NULL, &model), LW_ERROR_ARGUMENT);
    assert_null(model);
    lw_model_destroy(NULL);
}

static void test_spec(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("empty");
    lw_spec *const specs[] = {spec, NULL};
    for (int s = 0; s < 2; s++) {
        const size_t indices[] = {0, 1, SIZE_MAX};
        for (int k = 0; k < 3; k++) {
            assert_null(lw_spec_parameter(specs[s], indices[k], NULL));
            assert_null(lw_spec_input(specs[s], indices[k], NULL));
            assert_null(lw_spec_body(specs[s], indices[k]));
            assert_null(lw_spec_joint(specs[s], indices[k]));
            assert_null(lw_spec_force(specs[s], indices[k]));
            assert_null(lw_spec_constraint(specs[s], indices[k]));
        }
        assert_int_equal(lw_spec_parameter_count(specs[s]) + lw_spec_input_count(specs[s]) +
                             lw_spec_body_count(specs[s]) + lw_spec_joint_count(specs[s]) +
                             lw_spec_force_count(specs[s]) + lw_spec_constraint_count(specs[s]),
                         0);
        assert_int_equal(lw_spec_add_body(specs[s], NULL), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_add_joint(specs[s], NULL), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_add_force(specs[s], NULL), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_add_constraint(specs[s], NULL), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_set_run(specs[s], NULL), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_add_parameter(specs[s], NULL, 1), LW_ERROR_ARGUMENT);
        assert_int_equal(lw_spec_set_input(specs[s], NULL, 1), LW_ERROR_ARGUMENT);
        lw_spec_set_gravity(specs[s], NULL);
    }
    assert_null(lw_spec_name(NULL));
    assert_int_equal(lw_spec_welds(NULL), LW_WELDS_MERGE);
    assert_int_equal(lw_model_merged_count(NULL), 0);
    assert_null(lw_spec_file(NULL));
    assert_null(lw_spec_gravity(NULL));
    assert_null(lw_spec_run(NULL));
    assert_int_equal(lw_spec_set_file(NULL, "a"), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_parameter(NULL, "a", 1), LW_ERROR_ARGUMENT);
    lw_spec_set_gravity(NULL, (const double[3]){0, 0, 0});
    lw_spec_destroy(spec);
    lw_spec_destroy(NULL);
}

static void test_kinds(void **state) {
    (void)state;
    for (int k = 0; k < BAD; k++) {
        if (bad[k] >= 0 && bad[k] < 999) continue;
        assert_string_equal(lw_joint_type_name((lw_joint_type)bad[k]), "unknown");
        assert_string_equal(lw_force_type_name((lw_force_type)bad[k]), "unknown");
        assert_string_equal(lw_constraint_type_name((lw_constraint_type)bad[k]), "unknown");
        assert_int_equal(lw_joint_type_q((lw_joint_type)bad[k], 1), 0);
        assert_int_equal(lw_joint_type_v((lw_joint_type)bad[k], 1), 0);
        assert_false(lw_joint_type_turns((lw_joint_type)bad[k], 0));
        assert_false(lw_joint_type_turns(LW_JOINT_REVOLUTE, bad[k]));
    }
    assert_true(lw_joint_type_turns(LW_JOINT_REVOLUTE, 0));
    double total, com[3], inertia[6];
    lw_shape shape = {.kind = (lw_shape_kind)99};
    assert_int_equal(lw_shape_inertia(&shape, 1, 0, &total, com, inertia), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_shape_inertia(NULL, 1, 0, &total, com, inertia), LW_ERROR_ARGUMENT);
    shape = (lw_shape){.kind = LW_SHAPE_SPHERE, .size = {1}};
    assert_int_equal(lw_shape_inertia(&shape, 1, 0, NULL, com, inertia), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_shape_inertia(&shape, 1, 0, &total, com, inertia), LW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
