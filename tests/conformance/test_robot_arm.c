/* test_robot_arm.c - the problem robot_arm, a PUMA 560, against published constants and an integration of its own.
 *
 *   weights   joint torques at rest, g1 .. g5 of Armstrong, Khatib and Burdick (1986), in closed form and as published
 *   inertia   entries of the mass matrix by the paper's constants Im, I2, I5, I6, I12, I15, I16, in closed form and as
 *             published, with the rotors
 *   motion    problems/robot_arm/reference.csv, with motors at their limits and the elbow at its stop, by three methods
 */
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* m, m, kg: as in the model. */
static const double a2 = 0.4318, a3 = -0.0203, d4 = 0.4331, m2 = 17.4, m3 = 4.8, m4 = 0.82, m5 = 0.34,
                    m6 = 0.09;
static const double rx2 = 0.068, ry2 = 0.006, ry3 = -0.070, rz4 = -0.019, rz6 = 0.032, gravity = 9.81;

/* The constants of the paper's gravity terms, with its signs, and as it prints them with its uncertainties. */
static void weights_are_the_papers(void **state) {
    (void)state;
    const double wrist = m4 + m5 + m6;
    const double g[5] = {-gravity * ((m3 + wrist) * a2 + m2 * rx2),
                         gravity * (m3 * ry3 - wrist * d4 - m4 * rz4), gravity * m2 * ry2,
                         -gravity * wrist * a3, -gravity * m6 * rz6};
    static const double printed[5] = {-37.2, -8.44, 1.02, 0.249, -0.0282},
                        around[5] = {0.5, 0.20, 0.50, 0.025, 0.0056};
    for (int k = 0; k < 5; k++) assert_true(fabs(g[k] - printed[k]) < around[k]);
    lw_model *model = read_problem("robot_arm");
    lw_data *data;
    lw_error error;
    lw_random random = random_seed(560);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int n = 0; n < 50; n++) {
        double q[6], zero[6] = {0}, at_rest[6], tau[6];
        for (int k = 0; k < 6; k++) q[k] = random_between(&random, -0.7, 0.7); /* within limits */
        const double s2 = sin(q[1]), c2 = cos(q[1]), s23 = sin(q[1] + q[2]), c23 = cos(q[1] + q[2]),
                     s4 = sin(q[3]), c4 = cos(q[3]), s5 = sin(q[4]), c5 = cos(q[4]);
        const double expected[6] = {0,
                                    g[0] * c2 + g[1] * s23 + g[2] * s2 + g[3] * c23 +
                                        g[4] * (s23 * c5 + c23 * c4 * s5),
                                    g[1] * s23 + g[3] * c23 + g[4] * (s23 * c5 + c23 * c4 * s5),
                                    -g[4] * s23 * s4 * s5,
                                    g[4] * (c23 * s5 + s23 * c4 * c5),
                                    0};
        /* With what the motors of the model give. */
        assert_int_equal(lw_tree_inverse_dynamics(model, data, 0, q, zero, zero, at_rest, &error), LW_OK);
        const double motors[6] = {150 * (acos(-1) / 3 - q[0]),     600 * (-acos(-1) / 6 - q[1]),
                                  200 * (4 * acos(-1) / 3 - q[2]), 20 * (acos(-1) / 6 - q[3]),
                                  20 * (acos(-1) / 3 - q[4]),      20 * (-acos(-1) / 3 - q[5])};
        static const double limit[6] = {97.6, 186.4, 89.4, 24.2, 20.1, 21.3};
        for (int k = 0; k < 6; k++) tau[k] = at_rest[k] + fmax(-limit[k], fmin(limit[k], motors[k]));
        for (int k = 0; k < 6; k++)
            if (!(fabs(tau[k] - expected[k]) < 1e-11))
                fail_msg("state %d: torque %d is %.15g, not %.15g", n, k + 1, tau[k], expected[k]);
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
}

/* A22 and A33 of the paper where the wrist is straight (S4 = S5 = 0), and A66. */
static void inertia_is_the_papers(void **state) {
    (void)state;
    const double wrist = m4 + m5 + m6, Im[6] = {1.14, 4.71, 0.83, 0.2, 0.179, 0.193};
    const double I2 = 0.539 + m2 * (rx2 * rx2 + ry2 * ry2) + (m3 + wrist) * a2 * a2;
    const double I5 = -m3 * a2 * ry3 + wrist * a2 * d4 + m4 * a2 * rz4;
    const double I6 = 0.086 + m3 * ry3 * ry3 + wrist * a3 * a3 + m4 * (d4 + rz4) * (d4 + rz4) + 1.8e-3 +
                      m5 * d4 * d4 + 0.4e-3 + m6 * d4 * d4 + m6 * rz6 * rz6 + 0.15e-3;
    const double I12 = wrist * a2 * a3, I15 = m6 * d4 * rz6, I16 = m6 * a2 * rz6;
    assert_true(fabs(I2 - 1.75) < 0.07 && fabs(I5 - 0.372) < 0.031 && fabs(I6 - 0.333) < 0.016);
    assert_true(fabs(I12 + 0.0110) < 0.0011 && fabs(I15 - 1.25e-3) < 0.3e-3 && fabs(I16 - 1.24e-3) < 0.3e-3);
    lw_model *model = read_problem("robot_arm");
    lw_data *data;
    lw_random random = random_seed(561);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int n = 0; n < 50; n++) {
        double q[6], M[36];
        for (int k = 0; k < 6; k++) q[k] = random_between(&random, -2, 2);
        q[3] = q[4] = 0;
        assert_int_equal(lw_tree_mass_matrix(model, data, 0, q, M), LW_OK);
        const double s3 = sin(q[2]), c3 = cos(q[2]);
        const double A33 = Im[2] + I6 + 2 * I15,
                     A22 = Im[1] + I2 + I6 + 2 * (I5 * s3 + I12 * c3 + I15 + I16 * s3);
        const double A66 = Im[5] + 0.04e-3;
        if (!(fabs(M[14] - A33) < 1e-13) || !(fabs(M[7] - A22) < 1e-12) || !(fabs(M[35] - A66) < 1e-14))
            fail_msg("state %d: A33 %.15g, not %.15g; A22 %.15g, not %.15g; A66 %.15g", n, M[14], A33, M[7],
                     A22, M[35]);
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
}

static void the_motion_is_the_references(void **state) {
    (void)state;
    static reference_table table;
    static const struct {
        const char *method, *integrator;
        double limit;
    } ways[] = {{"tree", "erk", 1e-8}, {"lagrange", "erk", 1e-8}, {"tree", "bdf", 1e-4}};
    read_reference("robot_arm/reference.csv", &table);
    assert_int_equal(table.rows, 21);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        lw_model *model = read_problem("robot_arm");
        lw_run_options options;
        lw_simulation *simulation;
        lw_error error;
        double q[6], v[6], worst = 0;
        lw_run_defaults(model, &options);
        options.method = ways[w].method;
        options.integrator = ways[w].integrator;
        options.tolerance = w == 2 ? 1e-8 : 1e-11;
        if (lw_simulation_create(model, &options, NULL, &simulation, &error) != LW_OK)
            fail_msg("%s", error.message);
        for (int r = 1; r < table.rows; r++) {
            lw_status status;
            do status = lw_simulation_advance(simulation, table.at[r][0], &error);
            while (status == LW_EVENT);
            if (status != LW_OK) fail_msg("%s", error.message);
            assert_int_equal(lw_simulation_state(simulation, q, v), LW_OK);
            for (int k = 0; k < 6; k++) {
                worst = fmax(worst, fabs(q[k] - table.at[r][1 + k]));
                worst = fmax(worst, fabs(v[k] - table.at[r][7 + k]));
            }
        }
        print_message("%s, %s: differs by %.1e\n", ways[w].method, ways[w].integrator, worst);
        assert_true(worst < ways[w].limit);
        lw_simulation_destroy(simulation);
        lw_model_destroy(model);
    }
    assert_true(table.at[20][3] > 225 * acos(-1) / 180); /* The elbow leans against its stop. */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_the_papers),
        cmocka_unit_test(inertia_is_the_papers),
        cmocka_unit_test(the_motion_is_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
