/* test_solver_inverse.c - inverse dynamics of a solver: closed forms by virtual work, drives that share,
 * prescribing drives, missing directions, wrong motions, wrong calls.
 */
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static lw_solver *solver_of(const lw_model *model, int count, const char *const *driven) {
    lw_solver_options options;
    lw_error error = {0};
    lw_solver *solver;
    lw_solver_defaults(model, &options);
    options.driven = driven, options.driven_count = count;
    if (lw_solver_create(model, &options, NULL, &solver, &error) != LW_OK) fail_msg("%s", error.message);
    return solver;
}

static int at(const lw_model *model, const char *joint) {
    return lw_model_joint_info(model, lw_model_joint(model, joint)).v;
}

static void near(double x, double expected) {
    if (!(fabs(x - expected) <= 1e-12 * (1 + fabs(expected))))
        fail_msg("%.17g instead of %.17g", x, expected);
}

static const double g = 9.81; /* of a model that says nothing else */

/* The crank angle is theta, from the vertical; 10 kg/m. */
static double parallelogram_torque(double theta, double rate) {
    const double a = 1, b = 1.5, r = 0.02, m = 10 * a, M = 10 * b;
    return (2 * m * (a * a / 3 + r * r / 4) + M * a * a) * rate - (m + M) * g * a * sin(theta);
}

static void parallelogram(void **state) {
    (void)state;
    lw_model *model = read_problem("parallelogram");
    const int A = at(model, "A"), B = at(model, "B"), D = at(model, "D");
    const double theta = 0.7, speed = 2.5, rate = -1.3, all = parallelogram_torque(theta, rate);
    double q[3], v[3], vdot[3], tau[3];
    bool unique[3];
    lw_error error = {0};
    q[A] = q[D] = theta, q[B] = -theta;
    v[A] = v[D] = speed, v[B] = -speed;
    vdot[A] = vdot[D] = rate, vdot[B] = -rate;
    const char *const names[3] = {"A", "D", "B"};
    const int joints[3] = {A, D, B}, sign[3] = {1, 1, -1};
    for (int one = 0; one < 3; one++) { /* one drive: virtual work */
        lw_solver *solver = solver_of(model, 1, names + one);
        if (lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error) != LW_OK)
            fail_msg("%s", error.message);
        for (int k = 0; k < 3; k++) near(tau[joints[k]], k == one ? sign[k] * all : 0);
        assert_int_equal(lw_solver_unique_forces(solver, unique, NULL), LW_OK);
        assert_true(unique[0] && unique[1] && unique[2]);
        lw_solver_destroy(solver);
    }
    for (int count = 2; count <= 3; count++) { /* equal arms share equally */
        lw_solver *solver = solver_of(model, count, names);
        assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, NULL), LW_OK);
        assert_int_equal(lw_solver_unique_forces(solver, unique, NULL), LW_OK);
        for (int k = 0; k < 3; k++) {
            near(tau[joints[k]], k < count ? sign[k] * all / count : 0);
            assert_true(unique[joints[k]] == (k >= count));
        }
        lw_solver_destroy(solver);
    }
    lw_solver *solver = solver_of(model, 0, NULL); /* all joints of the tree */
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, NULL), LW_OK);
    for (int k = 0; k < 3; k++) near(tau[joints[k]], sign[k] * all / 3);
    assert_int_equal(lw_solver_unique_forces(solver, unique, NULL), LW_OK);
    assert_false(unique[0] || unique[1] || unique[2]);
    /* its reactions are those of accelerations under these forces */
    double reactions[24], others[24], back[3];
    bool flags[24];
    assert_int_equal(lw_solver_reactions(solver, reactions, flags, &error), LW_OK);
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, tau, back, &error), LW_OK);
    assert_int_equal(lw_solver_reactions(solver, others, NULL, &error), LW_OK);
    for (int k = 0; k < 24; k++) assert_true(!flags[k] || fabs(reactions[k] - others[k]) < 1e-9);
    for (int k = 0; k < 3; k++) assert_true(fabs(back[k] - vdot[k]) < 1e-12);
    assert_int_equal(lw_solver_unique_forces(solver, unique, &error), LW_ERROR_ARGUMENT);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

/* In line, where the parallelogram has one freedom more: all joints driven, and one that is not enough. */
static void in_line(void **state) {
    (void)state;
    lw_model *model = read_problem_with("parallelogram", "start", "90 deg");
    const char *const crank[1] = {"A"};
    double q[3], v[3] = {0}, vdot[3] = {0}, tau[3];
    int mobility;
    lw_error error = {0};
    lw_model_initial_state(model, q, NULL);
    lw_solver *solver = solver_of(model, 0, NULL), *one = solver_of(model, 1, crank);
    assert_int_equal(lw_solver_mobility(solver, 0, q, &mobility, NULL), LW_OK);
    assert_int_equal(mobility, 2);
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_OK);
    /* The coupler rests in its middle on the ends of both cranks. */
    assert_int_equal(lw_solver_inverse_dynamics(one, 0, q, v, vdot, tau, &error), LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "\"B\""));
    lw_solver_destroy(solver);
    lw_solver_destroy(one);
    lw_model_destroy(model);
}

static void slider_crank(void **state) {
    (void)state;
    lw_model *model = read_problem("slider_crank");
    const double a = 1, b = 2.5, m = 10 * a, M = 10 * b, theta = 0.9;
    const double lean = -asin(a * sin(theta) / b), root = sqrt(b * b - a * a * sin(theta) * sin(theta));
    const double ratio = -a * sin(theta) - a * a * sin(theta) * cos(theta) / root; /* of the slider */
    const double torque = g * (m + M) * a / 2 * cos(theta);
    const int A = at(model, "A"), B = at(model, "B"), D = at(model, "D");
    double q[3], v[3] = {0}, vdot[3] = {0}, tau[3];
    lw_error error = {0};
    q[A] = theta, q[B] = lean - theta, q[D] = a * cos(theta) + root - a - b;
    const char *const drives[2] = {"A", "D"};
    lw_solver *crank = solver_of(model, 1, drives), *slide = solver_of(model, 1, drives + 1);
    if (lw_solver_inverse_dynamics(crank, 0, q, v, vdot, tau, &error) != LW_OK) fail_msg("%s", error.message);
    near(tau[A], torque), near(tau[B], 0), near(tau[D], 0);
    if (lw_solver_inverse_dynamics(slide, 0, q, v, vdot, tau, &error) != LW_OK) fail_msg("%s", error.message);
    near(tau[A], 0), near(tau[B], 0), near(tau[D], torque / ratio);
    /* Stretched, the slider cannot turn the crank, against which gravity acts. */
    q[A] = q[B] = q[D] = 0;
    assert_int_equal(lw_solver_inverse_dynamics(slide, 0, q, v, vdot, tau, &error), LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "cannot produce this motion"));
    assert_non_null(strstr(error.message, "\"A\""));
    assert_non_null(strstr(error.message, "\"B\""));
    assert_null(strstr(error.message, "\"D\""));
    lw_solver_destroy(crank);
    lw_solver_destroy(slide);
    lw_model_destroy(model);
}

static const char four_bar[] =
    "linkwork: 1\nname: four-bar\nbodies:\n"
    "  crank: {mass: 1, com: [0, 0, 0.25], inertia: [0.1, 0.1, 0.1]}\n"
    "  coupler: {mass: 2, com: [0.5, 0, 0.75], inertia: [0.2, 0.2, 0.2]}\n"
    "  rocker: {mass: 1.5, com: [1, 0, 0.5], inertia: [0.3, 0.3, 0.3]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]%s}\n"
    "  B: {type: revolute, between: [crank, coupler], point: [0, 0, 0.5], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [coupler, rocker], point: [1, 0, 1], axis: [0, 1, 0], cut: true}\n"
    "  D: {type: revolute, between: [ground, rocker], point: [1, 0, 0], axis: [0, 1, 0]}\n";

static lw_model *four_bar_model(const char *motion) {
    char text[1024];
    snprintf(text, sizeof text, four_bar, motion);
    lw_spec *spec = read_text_spec(text);
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return model;
}

/* The force of a prescribing drive is that of a driven joint in the same motion; the other joints add
 * nothing. */
static void prescribed_crank(void **state) {
    (void)state;
    const double t = 0.4;
    lw_model *model = four_bar_model(", motion: 3*t + 0.2*sin(t)"), *plain = four_bar_model("");
    const int A = at(model, "A");
    double q[3], v[3], vdot[3], tau[3], expected[3];
    bool unique[3];
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, t, q, v, NULL, &error), LW_OK);
    const char *const crank[1] = {"A"};
    lw_solver *all = solver_of(model, 0, NULL), *none = solver_of(model, 0, crank);
    lw_solver *named = solver_of(model, 1, crank), *driven = solver_of(plain, 1, crank);
    int mobility;
    assert_int_equal(lw_solver_mobility(all, t, q, &mobility, NULL), LW_OK);
    assert_int_equal(mobility, 0);
    assert_int_equal(lw_solver_tangent_basis(all, t, q, 0, NULL, NULL, NULL), LW_OK);
    assert_int_equal(lw_solver_accelerations(all, t, q, v, NULL, vdot, &error), LW_OK);
    near(vdot[A], -0.2 * sin(t));
    assert_int_equal(lw_solver_inverse_dynamics(driven, t, q, v, vdot, expected, &error), LW_OK);
    lw_solver *const solvers[3] = {all, none, named};
    for (int s = 0; s < 3; s++) {
        double given[3] = {vdot[0], vdot[1], vdot[2]};
        given[A] = 77; /* is taken from the prescription */
        if (lw_solver_inverse_dynamics(solvers[s], t, q, v, given, tau, &error) != LW_OK)
            fail_msg("%s", error.message);
        for (int k = 0; k < 3; k++) near(tau[k], expected[k]);
        assert_int_equal(lw_solver_unique_forces(solvers[s], unique, NULL), LW_OK);
        for (int k = 0; k < 3; k++) assert_true(unique[k] == (s > 0));
    }
    for (int s = 0; s < 3; s++) lw_solver_destroy(solvers[s]);
    lw_solver_destroy(driven);
    lw_model_destroy(model);
    lw_model_destroy(plain);
}

static void missing_direction(void **state) {
    (void)state;
    lw_model *model = read_problem("double_pendulum");
    const char *const first[1] = {lw_model_joint_info(model, 0).name};
    const char *second = lw_model_joint_info(model, 1).name;
    double q[2], v[2], vdot[2] = {0.3, -0.4}, tau[2];
    char quoted[64];
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    q[0] = 0.3, q[1] = 0.5;
    lw_solver *solver = solver_of(model, 1, first);
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_ERROR_SINGULAR);
    snprintf(quoted, sizeof quoted, "\"%s\" by 1 rad", second);
    assert_non_null(strstr(error.message, quoted));
    assert_non_null(strstr(error.message, "N m"));
    /* free fall of the second: the motion that the drive of the first alone gives */
    double push[2] = {0};
    push[at(model, first[0])] = 1.5;
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, push, vdot, &error), LW_OK);
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_OK);
    near(tau[0], push[0]), near(tau[1], push[1]);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

static void wrong_motions(void **state) {
    (void)state;
    lw_model *model = four_bar_model("");
    lw_solver *solver = solver_of(model, 0, NULL);
    double q[3], v[3], vdot[3] = {0}, tau[3] = {7, 7, 7};
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_OK);
    const int A = at(model, "A");
    vdot[A] = 1;
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "the accelerations violate joint \"C\", position"));
    assert_int_equal(lw_solver_reactions(solver, NULL, NULL, &error), LW_ERROR_ARGUMENT);
    vdot[A] = 0, v[A] += 1;
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "the speeds violate joint \"C\""));
    v[A] -= 1, q[A] += 0.1;
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "the position violates joint \"C\""));
    assert_non_null(strstr(error.remedy, "lw_assemble"));
    q[A] = NAN;
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error), LW_ERROR_ARGUMENT);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

static lw_status create_with(const lw_model *model, const char *name, lw_error *error) {
    lw_solver_options options;
    lw_solver *solver;
    const char *list[1] = {name};
    lw_solver_defaults(model, &options);
    options.driven = list, options.driven_count = 1;
    lw_status status = lw_solver_create(model, &options, NULL, &solver, error);
    lw_solver_destroy(solver);
    return status;
}

static void wrong_calls(void **state) {
    (void)state;
    lw_model *model = four_bar_model("");
    double q[3] = {0}, v[3] = {0}, x[64];
    int count;
    lw_error error = {0};
    assert_int_equal(create_with(model, "A", &error), LW_OK);
    assert_int_equal(create_with(model, "A.q", &error), LW_OK);
    assert_int_equal(create_with(model, "C", &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "closes a loop"));
    assert_non_null(strstr(error.remedy, "cut: true"));
    assert_int_equal(create_with(model, "AA", &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "\"AA\""));
    assert_int_equal(create_with(model, "A.x", &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "joint \"A\" has no coordinate \"x\""));
    assert_non_null(strstr(error.remedy, "A.q"));
    assert_int_equal(create_with(model, "C.q", &error), LW_ERROR_ARGUMENT);
    assert_int_equal(create_with(model, NULL, &error), LW_ERROR_ARGUMENT);
    lw_solver_options options;
    lw_solver *solver;
    lw_solver_defaults(model, &options);
    options.driven_count = 2;
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_ERROR_ARGUMENT);
    solver = solver_of(model, 0, NULL);
    assert_int_equal(lw_solver_inverse_dynamics(NULL, 0, q, v, v, x, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_inverse_dynamics(solver, 0, q, v, NULL, x, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_unique_forces(solver, NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_mobility(solver, 0, NULL, &count, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_tangent_basis(solver, 0, q, 3, x, NULL, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "there are 1"));
    assert_int_equal(lw_solver_mass_matrix(solver, 0, q, 1, NULL, x, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_closure_jacobian(solver, 0, q, NULL, x, x + 30, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_solver_row_count(NULL), 0);
    assert_null(lw_solver_row_name(NULL, 0));
    assert_int_equal(lw_solver_row_count(solver), 5);
    assert_non_null(strstr(lw_solver_row_name(solver, 0), "joint \"C\""));
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

/* Along a motion the basis goes on continuously where the same joint stands for it. */
static void basis_is_continuous(void **state) {
    (void)state;
    lw_model *model = four_bar_model(", motion: t");
    lw_model *plain = four_bar_model("");
    lw_solver *solver = solver_of(plain, 0, NULL);
    double q[3], v[3], T[3], before[3] = {0}, mass, q_before[3] = {0};
    int own, own_before = -1, changes = 0;
    const double h = 1e-3;
    lw_model_initial_state(model, q, v);
    for (double t = 0; t < 6.2; t += h) {
        assert_int_equal(lw_assemble(model, t, q, v, NULL, NULL), LW_OK);
        assert_int_equal(lw_solver_tangent_basis(solver, t, q, 1, T, &own, NULL), LW_OK);
        assert_int_equal(lw_solver_mass_matrix(solver, t, q, 1, T, &mass, NULL), LW_OK);
        assert_true(mass > 0);
        for (int k = 0; k < 3 && own == own_before; k++) {
            double most = 0;
            for (int j = 0; j < 3; j++) most = fmax(most, fabs(q[j] - q_before[j]));
            assert_true(fabs(T[k] - before[k]) < 50 * (most + h));
            assert_true(fabs(T[k] * v[own] - T[own] * v[k]) < 1e-9); /* it is the motion */
        }
        changes += own != own_before;
        own_before = own;
        memcpy(before, T, sizeof T);
        memcpy(q_before, q, sizeof q);
    }
    assert_true(changes >= 1 && changes < 12);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
    lw_model_destroy(plain);
}

/* Unchecked, a tree whose joints are all driven takes the recursion: the same forces, which belong to the
 * motion, and reactions and balance can be asked for afterwards. */
static void trees_unchecked(void **state) {
    (void)state;
    int seen = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed(seed);
        const random_tree tree = {
            .bodies = 1 + (int)(seed % 8), .forces = seed % 2, .prescribed = seed % 5 == 0, .joint = -1};
        lw_model *model = random_tree_model(&random, &tree);
        const int nv = lw_model_v_size(model);
        double q[80], v[80], vdot[80], tau[2][80], reactions[2][6 * 80], back[80], amount;
        lw_error error = {0};
        lw_status status[2];
        random_state(&random, model, q, v);
        random_vector(&random, nv, 1, vdot);
        for (int unchecked = 0; unchecked < 2; unchecked++) {
            lw_solver_options options;
            lw_solver *solver;
            lw_solver_defaults(model, &options);
            options.unchecked = unchecked;
            assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
            status[unchecked] = lw_solver_inverse_dynamics(solver, 0.3, q, v, vdot, tau[unchecked], &error);
            if (status[unchecked] == LW_OK) {
                assert_int_equal(lw_solver_reactions(solver, reactions[unchecked], NULL, &error), LW_OK);
                assert_int_equal(lw_solver_balance(solver, &amount, &error), LW_OK);
                assert_true(amount < 1e-6);
                assert_int_equal(lw_solver_accelerations(solver, 0.3, q, v, tau[unchecked], back, &error),
                                 LW_OK);
                if (!tree.prescribed) assert_true(relative_difference(vdot, back, nv) < 1e-6);
            }
            lw_solver_destroy(solver);
        }
        assert_int_equal(status[0], status[1]);
        if (status[0] == LW_OK) {
            seen++;
            assert_true(relative_difference(tau[0], tau[1], nv) < 1e-11);
            assert_true(relative_difference(reactions[0], reactions[1], 6 * lw_model_joint_count(model)) <
                        1e-11);
        }
        lw_model_destroy(model);
    }
    assert_true(seen > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallelogram),     cmocka_unit_test(in_line),
        cmocka_unit_test(slider_crank),      cmocka_unit_test(prescribed_crank),
        cmocka_unit_test(missing_direction), cmocka_unit_test(wrong_motions),
        cmocka_unit_test(wrong_calls),       cmocka_unit_test(basis_is_continuous),
        cmocka_unit_test(trees_unchecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
