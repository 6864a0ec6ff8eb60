/* test_tree_dynamics.c - the calls of tree.h refuse what the recursions on the tree do not answer: loops, constraints, data of
 * another model, states that are no numbers; mass matrix and Jacobians of a closed loop's spanning tree mean what tree.h says.
 */
#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LINK "mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]"
#define CHAIN                                                                                                \
    "linkwork: 1\n"                                                                                          \
    "gravity: [0, 0, -9.81]\n"                                                                               \
    "bodies:\n"                                                                                              \
    "  one: {" LINK "}\n"                                                                                    \
    "  two: {" LINK "}\n"                                                                                    \
    "joints:\n"                                                                                              \
    "  a: {type: revolute, between: [ground, one], first: {point: [0, 0, 0], axis: [0, 1, 0]},"              \
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.3, v: 0.7}\n"                                        \
    "  b: {type: revolute, between: [one, two], first: {point: [1, 0, 0], axis: [0, 1, 0]},"                 \
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.4}\n"
#define ROPE                                                                                                 \
    "constraints:\n  rope: {type: distance, between: [ground, two], points: [[0, 0, -2], [1, 0, 0]]}\n"

static const char chain[] = CHAIN;
static const char roped[] = CHAIN ROPE;
static const char four_bar[] =
    CHAIN "  c: {type: revolute, between: [two, three], first: {point: [1, 0, 0], axis: [0, 1, 0]},"
          " second: {point: [0, 0, 0], axis: [0, 1, 0]}}\n"
          "  d: {type: revolute, between: [three, ground], first: {point: [1, 0, 0], axis: [0, 1, 0]},"
          " second: {point: [1.2, 0, -0.5], axis: [0, 1, 0]}, cut: true}\n";

static lw_model *compile(const char *text, bool third) {
    char whole[4096];
    const char *split = strstr(text, "joints:");
    snprintf(whole, sizeof whole, "%.*s%s%s", (int)(split - text), text, third ? "  three: {" LINK "}\n" : "",
             split);
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_read_model_text(whole, strlen(whole), "text", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    if (status != LW_OK) fail_msg("%s", lw_report_get(report, 0)->message);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

enum { MAX = 3, STATES = 5 };

/* All calls that would answer for the open tree refuse, name the object and a remedy, and write nothing. */
static void refuses(const char *text, bool third, const char *object) {
    lw_model *model = compile(text, third);
    lw_data *data;
    lw_batch *batch;
    double q[MAX], v[MAX], out[6 * 8] = {7}, many[MAX * STATES] = {0};
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
    lw_model_initial_state(model, q, v);
    for (int call = 0; call < 5; call++) {
        lw_error error = {0};
        lw_status status =
            call == 0   ? lw_tree_forward_dynamics(model, data, 0, q, v, NULL, out, &error)
            : call == 1 ? lw_tree_inverse_dynamics(model, data, 0, q, v, v, out, &error)
            : call == 2 ? lw_joint_reactions(model, data, 0, q, v, v, out, &error)
            : call == 3
                ? lw_tree_forward_dynamics_batch(model, batch, STATES, 0, many, many, NULL, out, &error)
                : lw_tree_inverse_dynamics_batch(model, batch, STATES, 0, many, many, many, out, &error);
        assert_int_equal(status, LW_ERROR_UNSUPPORTED);
        assert_string_equal(error.object, object);
        assert_non_null(strstr(error.remedy, "lw_solver_"));
        assert_true(out[0] == 7);
    }
    lw_batch_destroy(batch);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

static void loops_and_constraints_are_refused(void **state) {
    (void)state;
    refuses(four_bar, true, "joint \"d\"");
    refuses(roped, false, "constraint \"rope\"");
}

/* For speeds that satisfy the closure: kinetic energy by the mass matrix and by the bodies, velocity of a point by the Jacobian
 * and by the body. */
static void spanning_tree_of_a_loop_has_meaning(void **state) {
    (void)state;
    lw_model *model = compile(four_bar, true);
    lw_data *data;
    double q[MAX], v[MAX], M[MAX * MAX], J[6 * MAX], P[3 * MAX], w[3], l[3], at[3];
    const double point[3] = {0.3, -0.2, 0.5}, origin[3] = {0};
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
    assert_true(fabs(v[2]) > 1e-3); /* the loop moves */
    assert_int_equal(lw_tree_mass_matrix(model, data, 0, q, M), LW_OK);
    double kinetic = 0;
    for (int i = 0; i < MAX; i++)
        for (int k = 0; k < MAX; k++) kinetic += 0.5 * v[i] * M[MAX * i + k] * v[k];
    assert_true(fabs(kinetic - lw_energy_of(model, data, 0, q, v).kinetic) < 1e-13);
    for (int body = 1; body <= 3; body++) {
        assert_int_equal(lw_tree_body_jacobian(model, data, 0, q, body, J), LW_OK);
        assert_int_equal(lw_tree_point_jacobian(model, data, 0, q, body, point, P), LW_OK);
        lw_body_velocity(model, data, 0, q, v, body, origin, w, l);
        lw_body_velocity(model, data, 0, q, v, body, point, w, at);
        for (int r = 0; r < 3; r++) {
            double angular = 0, linear = 0, of_point = 0;
            for (int k = 0; k < MAX; k++) {
                angular += J[MAX * r + k] * v[k];
                linear += J[MAX * (r + 3) + k] * v[k];
                of_point += P[MAX * r + k] * v[k];
            }
            assert_true(fabs(angular - w[r]) + fabs(linear - l[r]) + fabs(of_point - at[r]) < 1e-13);
        }
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
}

static void data_of_another_model_is_refused(void **state) {
    (void)state;
    lw_model *model = compile(chain, false), *twin = compile(chain, false);
    lw_data *data;
    lw_batch *batch;
    lw_error error = {0};
    double q[2], v[2], out[12];
    assert_int_equal(lw_data_create(twin, NULL, &data), LW_OK);
    assert_int_equal(lw_batch_create(twin, 1, NULL, &batch), LW_OK);
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_tree_forward_dynamics(model, data, 0, q, v, NULL, out, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "another model"));
    assert_int_equal(lw_tree_inverse_dynamics(model, data, 0, q, v, v, out, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_joint_reactions(model, data, 0, q, v, v, out, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_tree_mass_matrix(model, data, 0, q, out), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_tree_body_jacobian(model, data, 0, q, 1, out), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_tree_point_jacobian(model, data, 0, q, 1, (double[3]){0}, out), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_tree_forward_dynamics_batch(model, batch, 1, 0, q, v, NULL, out, &error),
                     LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "another model"));
    assert_int_equal(lw_tree_inverse_dynamics_batch(model, batch, 1, 0, q, v, v, out, &error),
                     LW_ERROR_ARGUMENT);
    lw_batch_destroy(batch);
    lw_data_destroy(data);
    lw_model_destroy(model);
    lw_model_destroy(twin);
}

/* Wherever one number of the state is none, every call says so. */
static void states_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    static const double none[] = {NAN, INFINITY, -INFINITY};
    lw_model *model = compile(chain, false);
    lw_data *data;
    lw_batch *batch;
    double out[12] = {0};
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 4; k++) {
            double y[4], *q = y, *v = y + 2, many[4 * STATES];
            lw_model_initial_state(model, q, v);
            for (int i = 0; i < 4; i++)
                for (int s = 0; s < STATES; s++) many[i * STATES + s] = y[i];
            y[k] = none[kind], many[k * STATES + STATES - 1] = none[kind];
            double result[2 * STATES];
            assert_int_not_equal(lw_tree_forward_dynamics(model, data, 0, q, v, NULL, out, NULL), LW_OK);
            assert_int_not_equal(lw_tree_inverse_dynamics(model, data, 0, q, v, out + 4, out, NULL), LW_OK);
            assert_int_not_equal(lw_tree_forward_dynamics_batch(model, batch, STATES, 0, many,
                                                                many + 2 * STATES, NULL, result, NULL),
                                 LW_OK);
            assert_int_not_equal(lw_tree_inverse_dynamics_batch(model, batch, STATES, 0, many,
                                                                many + 2 * STATES, many + 2 * STATES, result,
                                                                NULL),
                                 LW_OK);
            if (k > 1) continue;
            assert_int_equal(lw_tree_mass_matrix(model, data, 0, q, out), LW_ERROR_ARGUMENT);
            assert_int_equal(lw_tree_body_jacobian(model, data, 0, q, 1, out), LW_ERROR_ARGUMENT);
        }
    lw_batch_destroy(batch);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_and_constraints_are_refused),
        cmocka_unit_test(spanning_tree_of_a_loop_has_meaning),
        cmocka_unit_test(data_of_another_model_is_refused),
        cmocka_unit_test(states_that_are_no_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
