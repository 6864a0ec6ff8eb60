/* test_integrators_failures.c - what integrators do when the system fails, diverges or asks for the
 * impossible.
 */
#define _POSIX_C_SOURCE 200809L /* dup2, fileno */

#include "integrators_support.h"

#include <unistd.h>

/* --- failures ------------------------------------------------------------------------------------- */

/* All of standard output and standard error while work runs; returns how many bytes were written. */
static long bytes_printed(void (*work)(void)) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    int out = dup(1), err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    work();
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return size;
}

static lw_status singular_at_1(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)system;
    if (t >= 1)
        return lw_fail(error, LW_ERROR_SINGULAR, "joint \"pin\"", NULL, "the motion is not determined");
    ydot[0] = y[1];
    ydot[1] = -y[0];
    return LW_OK;
}

static lw_status not_a_number_from_1(lw_system *system, double t, const double *y, double *ydot,
                                     lw_error *error) {
    (void)system, (void)error;
    ydot[0] = y[1];
    ydot[1] = t < 1 ? -y[0] : NAN;
    return LW_OK;
}

static lw_status blow_up(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)system, (void)t, (void)error;
    ydot[0] = y[0] * y[0]; /* y = 1 / (1 - t) */
    ydot[1] = 0;
    return LW_OK;
}

static lw_status stopped_from_1(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    if (t >= 1) return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "interrupted");
    return singular_at_1(system, 0, y, ydot, error);
}

static lw_status failure_of(const char *name, lw_system *system, lw_error *error) {
    double y[2] = {1, 0};
    lw_integration *integration = begin(name, system, strcmp(name, "rk4") == 0 ? 1e-3 : 0, 1e-6, 0, y, NULL);
    lw_status status = integration->integrator->advance(integration, 2, 2, y, error);
    end(integration);
    return status;
}

/* The time that the message names. */
static double time_in(const lw_error *error) {
    const char *at = strstr(error->message, "t = "), *next;
    assert_non_null(at);
    while ((next = strstr(at + 1, "t = "))) at = next;
    return atof(at + 4);
}

static void failures(void) {
    static const char *const names[] = {"rk4", "erk", "adams", "bdf", "ida"};
    for (int k = 0; k < 5; k++) {
        lw_error error = {0};
        problem p = {.base = {.size = 2, .derivative = singular_at_1, .residual = ode_residual}};
        assert_int_equal(failure_of(names[k], &p.base, &error), LW_ERROR_SINGULAR);
        assert_string_equal(error.object, "joint \"pin\""); /* the system's own words */
        assert_non_null(strstr(error.message, "not determined"));
        assert_true(fabs(time_in(&error) - 1) < 0.01);

        error = (lw_error){0};
        p.base.derivative = not_a_number_from_1;
        assert_int_equal(failure_of(names[k], &p.base, &error), LW_ERROR_SINGULAR);
        assert_non_null(strstr(error.message, "state 1"));
        assert_true(fabs(time_in(&error) - 1) < 0.01);

        error = (lw_error){0};
        p.base.derivative = stopped_from_1;
        assert_int_equal(failure_of(names[k], &p.base, &error), LW_ERROR_STOPPED);

        error = (lw_error){0};
        p.base.derivative = blow_up;
        assert_int_not_equal(failure_of(names[k], &p.base, &error), LW_OK);
        if (k > 0) assert_true(fabs(time_in(&error) - 1) < 0.05);
        assert_true(error.remedy[0] != '\0');
        assert_int_not_equal(failure_of(names[k], &p.base, NULL), LW_OK); /* nobody reads the error */
    }
}

static void test_failures(void **state) {
    (void)state;
    failures(); /* once where assertions can speak */
    assert_int_equal(bytes_printed(failures), 0);
}

/* At the start already, and in the search for consistent values. */
static lw_status never(lw_system *system, double t, const double *y, const double *ydot, double *residual,
                       lw_error *error) {
    (void)system, (void)t, (void)error;
    residual[0] = ydot[0] - y[1];
    residual[1] = y[1] * y[1] + 1; /* no solution */
    return LW_OK;
}

static lw_status always_singular(lw_system *system, double t, const double *y, double *ydot,
                                 lw_error *error) {
    (void)system, (void)t, (void)y, (void)ydot;
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL, "nothing is determined");
}

static void failures_at_start(void) {
    static const char *const names[] = {"rk4", "erk", "adams", "bdf"};
    double y[2] = {1, 1};
    lw_error error = {0};
    for (int k = 0; k < 4; k++) {
        problem p = {.base = {.size = 2, .derivative = always_singular}};
        assert_int_equal(failure_of(names[k], &p.base, &error), LW_ERROR_SINGULAR);
    }
    static const bool differential[2] = {true, false};
    problem p = {.base = {.size = 2, .residual = never, .differential = differential}};
    lw_integration *integration = begin("ida", &p.base, 0, 1e-6, 0, y, NULL);
    assert_int_equal(integration->integrator->advance(integration, 1, 1, y, &error), LW_ERROR_INTEGRATION);
    end(integration);
}

static void test_failures_at_start(void **state) {
    (void)state;
    failures_at_start(); /* once where assertions can speak */
    assert_int_equal(bytes_printed(failures_at_start), 0);
}

/* At rest until t = 1, then a stiff spring; walls at |y| = 1.5, beyond the path, which the long steps taken
 * at rest may run into: that asks for a smaller step, not for the end. So do two calls after t = 1, whatever y is. */
static lw_status walls(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    if (fabs(y[0]) > 1.5 || (t > 1 && ((problem *)system)->refusals < 2)) {
        ((problem *)system)->refusals++;
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, NULL, "beyond the wall");
    }
    ydot[0] = y[1];
    ydot[1] = t < 1 ? 0 : -1000 * y[0];
    return LW_OK;
}

static void test_recovers_near_singular_states(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        problem p = {.base = {.size = 2, .derivative = walls, .residual = ode_residual}};
        double y[2] = {1, 0};
        lw_integration *integration = begin(adaptive[k], &p.base, 0, 1e-7, 0, y, NULL);
        to(integration, 2.3, 2.3, y);
        end(integration);
        /* Hundreds of local errors, which the frequency 32 turns into larger ones of position. */
        expect_at_most("error", adaptive[k], fabs(y[0] - cos(1.3 * sqrt(1000))), 2e-3);
        assert_true(p.refusals > 0); /* otherwise this tests nothing */
    }
}

static void test_bad_arguments(void **state) {
    (void)state;
    const double good[2] = {1, 0}, bad[2] = {1, NAN};
    for (int k = 0; k < lw_integrators_count(); k++) {
        const lw_integrator *integrator = lw_integrator_at(k);
        problem full = {
            .base = {.size = 2, .derivative = oscillator, .residual = ode_residual, .step = midpoint}};
        problem empty = {.base = {.size = 2}}, none = full;
        none.base.size = 0;
        lw_integration *integration;
        lw_error error = {0};
        lw_integrator_options options = {1e-3, 1e-6}, wrong = {-1, 0};
        assert_int_equal(integrator->create(&full.base, &wrong, 0, good, NULL, &integration, &error),
                         LW_ERROR_ARGUMENT);
        assert_null(integration);
        assert_int_equal(integrator->create(&full.base, &options, 0, bad, NULL, &integration, &error),
                         LW_ERROR_ARGUMENT);
        assert_int_equal(integrator->create(&none.base, &options, 0, good, NULL, &integration, &error),
                         LW_ERROR_ARGUMENT);
        assert_int_equal(integrator->create(&empty.base, &options, 0, good, NULL, &integration, &error),
                         LW_ERROR_UNSUPPORTED);
        integrator->destroy(NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_failures_at_start),
        cmocka_unit_test(test_recovers_near_singular_states),
        cmocka_unit_test(test_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
