/* test_events.c - events within a step: where integrators find them, what they do there.
 *
 * A ball that bounces has its instants in closed form; an oscillator whose spring is switched by sign and by a force that steps in t
 * has its motion in closed form. Roots are given as distances and as signs alone.
 */
#include "integrators_support.h"

typedef struct bouncing {
    lw_system base;
    bool sign_only;
    int bounces;
    double at[64];
} bouncing;

static const double gravity = 9.81, restitution = 0.8;

static lw_status falls(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)system, (void)t, (void)error;
    ydot[0] = y[1];
    ydot[1] = -gravity;
    ydot[2] = 1; /* a quadrature: time */
    return LW_OK;
}
static lw_status height(lw_system *system, double t, const double *y, double *values, lw_error *error) {
    (void)t, (void)error;
    double clear = y[0] > 0 || y[1] > 0 ? 1 : -1;
    values[0] = 1; /* never happens */
    values[1] = ((bouncing *)system)->sign_only || y[1] > 0 ? clear : y[0];
    return LW_OK;
}
static lw_status bounce(lw_system *system, double t, double *y, lw_error *error) {
    (void)error;
    bouncing *own = (bouncing *)system;
    if (own->bounces < 64) own->at[own->bounces] = t;
    own->bounces++;
    y[0] = 0;
    y[1] = -restitution * y[1];
    return LW_OK;
}

/* From height 1 at rest: the first impact at t0, flights of 2 t0 e^k between them. */
static double bouncing_height(double t, int *bounces) {
    double t0 = sqrt(2 / gravity), at = t0, speed = gravity * t0;
    *bounces = 0;
    if (t < t0) return 1 - gravity * t * t / 2;
    for (;;) {
        ++*bounces;
        speed *= restitution;
        double flight = 2 * speed / gravity;
        if (t < at + flight) return speed * (t - at) - gravity * (t - at) * (t - at) / 2;
        at += flight;
    }
}

static void ball(const char *name, double step, double tolerance, bool sign_only) {
    bouncing system = {.base = {.size = 3, .quadratures = 1}, .sign_only = sign_only};
    system.base.derivative = falls, system.base.residual = ode_residual;
    system.base.root_count = 2, system.base.roots = height, system.base.cross = bounce;
    const double start[3] = {1, 0, 0};
    double y[3];
    lw_integration *run = begin(name, &system.base, step, tolerance, 0, start, NULL);
    for (int k = 1; k <= 300; k++) {
        int bounces;
        double t = 0.01 * k, right;
        to(run, t, 3, y);
        right = bouncing_height(t, &bounces);
        if (!(fabs(y[0] - right) < 1e-6)) print_error("%s at %g: %.9g, not %.9g\n", name, t, y[0], right);
        assert_true(fabs(y[0] - right) <
                    1e-6); /* parabolas: only the formula's start is not exact, at 1e-10 */
        assert_true(fabs(y[2] - t) < 1e-9);
    }
    int right;
    bouncing_height(3, &right);
    assert_int_equal(system.bounces, right);
    assert_true(fabs(system.at[0] - sqrt(2 / gravity)) < 1e-8);
    lw_integrator_statistics statistics = end(run);
    assert_true(statistics.steps >= right && statistics.evaluations > statistics.steps);
}

static void test_bouncing_ball(void **state) {
    (void)state;
    for (int sign_only = 0; sign_only < 2; sign_only++) {
        for (int k = 0; k < ADAPTIVE; k++) ball(adaptive[k], 0, 1e-10, sign_only);
        ball("rk4", 0.0137, 0, sign_only);
    }
}

/* y'' = -y + f, f = 0 before t = 1 and 1 after it: held at what it was until it is crossed. Order 4 is kept by rk4. */
typedef struct switched {
    lw_system base;
    double force;
} switched;

static lw_status pushed(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)t, (void)error;
    ydot[0] = y[1];
    ydot[1] = ((switched *)system)->force - y[0];
    return LW_OK;
}
static lw_status before_1(lw_system *system, double t, const double *y, double *values, lw_error *error) {
    (void)y, (void)error;
    values[0] = (t < 1) == (((switched *)system)->force == 0) ? 1 : -1;
    return LW_OK;
}
static lw_status push(lw_system *system, double t, double *y, lw_error *error) {
    (void)y, (void)error;
    ((switched *)system)->force = t < 1 ? 0 : 1;
    return LW_OK;
}
static double pushed_error(const char *name, double step, double tolerance) {
    switched system = {.base = {.size = 2, .derivative = pushed, .residual = ode_residual}};
    system.base.root_count = 1, system.base.roots = before_1, system.base.cross = push;
    const double start[2] = {1, 0};
    double y[2];
    lw_integration *run = begin(name, &system.base, step, tolerance, 0, start, NULL);
    to(run, 3, 3, y);
    end(run);
    return fabs(y[0] - (cos(3) + 1 - cos(2)));
}

static void test_switched_force(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        double error = pushed_error(adaptive[k], 0, 1e-10);
        if (!(error < 1e-7)) print_error("%s: %g\n", adaptive[k], error);
        assert_true(error < 1e-7); /* bdf and ida at order 5 collect some hundred tolerances */
    }
    double coarse = pushed_error("rk4", 0.07, 0), fine = pushed_error("rk4", 0.035, 0);
    assert_true(coarse < 1e-5 && coarse / fine > 12); /* order 4: 16 */
    coarse = pushed_error("rosenbrock", 0.07, 0), fine = pushed_error("rosenbrock", 0.035, 0);
    assert_true(coarse < 2e-4 && coarse / fine > 6); /* order 3: 8 */
}

/* An event that comes again at once, for ever. */
static lw_status stays(lw_system *system, double t, double *y, lw_error *error) {
    (void)system, (void)t, (void)y, (void)error;
    return LW_OK;
}
static void test_endless(void **state) {
    (void)state;
    static const char *const all[] = {"erk", "adams", "bdf", "ida", "rk4", "rosenbrock"};
    for (int k = 0; k < 6; k++) {
        switched system = {.base = {.size = 2, .derivative = pushed, .residual = ode_residual}};
        system.base.root_count = 1, system.base.roots = before_1, system.base.cross = stays;
        const double start[2] = {1, 0};
        double y[2];
        lw_error error = {0};
        lw_integration *run =
            begin(all[k], &system.base, k >= 4 ? 0.01 : 0, k >= 4 ? 0 : 1e-8, 0, start, NULL);
        assert_int_equal(run->integrator->advance(run, 3, 3, y, &error), LW_ERROR_INTEGRATION);
        assert_non_null(strstr(error.message, "without end"));
        end(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bouncing_ball),
                                       cmocka_unit_test(test_switched_force), cmocka_unit_test(test_endless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
