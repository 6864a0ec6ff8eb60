/* test_integrators.c - every integrator against exact solutions and against the others. Failures: see
 * test_integrators_failures.c.
 */
#include "integrators_support.h"

/* --- systems -------------------------------------------------------------------------------------- */

static double square(double t, const double *y, int index) {
    (void)t, (void)index;
    return y[0] * y[0];
}

/* Huge, wild, stiff in y: nothing the error control would leave alone if it looked. */
static double wild(double t, const double *y, int index) {
    return index == 0 ? 1e12 * sin(1e4 * t) : 1e9 * y[0] * y[0] + (t > 0.5 ? 1e6 : 0);
}

static lw_status kepler(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)error;
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    ydot[0] = y[2], ydot[1] = y[3], ydot[2] = -y[0] / r3, ydot[3] = -y[1] / r3;
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

/* Excentricity 0.6, period 2 pi, perihelion at t = 0; Kepler's equation by Newton's method. */
static void kepler_exact(double t, double y[4]) {
    const double e = 0.6;
    double anomaly = t;
    for (int i = 0; i < 60; i++) anomaly -= (anomaly - e * sin(anomaly) - t) / (1 - e * cos(anomaly));
    double b = sqrt(1 - e * e), c = 1 - e * cos(anomaly);
    y[0] = cos(anomaly) - e, y[1] = b * sin(anomaly);
    y[2] = -sin(anomaly) / c, y[3] = b * cos(anomaly) / c;
}

static lw_status van_der_pol(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)error;
    ydot[0] = y[1];
    ydot[1] = ((problem *)system)->parameter * (1 - y[0] * y[0]) * y[1] - y[0];
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

/* --- running -------------------------------------------------------------------------------------- */

/* Largest error of Kepler's motion over [0, 5] at `outputs` times, none of them special. */
static double kepler_error(const char *name, double step, double tolerance, int outputs,
                           lw_integrator_statistics *statistics) {
    problem p = {.base = {.size = 4, .derivative = kepler, .residual = ode_residual}};
    double y[4], exact[4], worst = 0;
    kepler_exact(0, y);
    lw_integration *integration = begin(name, &p.base, step, tolerance, 0, y, NULL);
    for (int i = 1; i <= outputs; i++) {
        double t = 5.0 * i / outputs;
        to(integration, t, 5, y);
        kepler_exact(t, exact);
        worst = fmax(worst, distance(4, y, exact));
    }
    *statistics = end(integration);
    return worst;
}

/* --- the table ------------------------------------------------------------------------------------ */

static void test_registry(void **state) {
    (void)state;
    static const char *const names[] = {"rk4", "erk", "rosenbrock",      "adams",
                                        "bdf", "ida", "energy-momentum", "energy-momentum-4"};
    assert_int_equal(lw_integrators_count(), 8);
    for (int i = 0; i < 8; i++) {
        const lw_integrator *integrator = lw_integrator_find(names[i]);
        assert_non_null(integrator);
        assert_ptr_equal(integrator, lw_integrator_at(i));
        assert_non_null(integrator->summary);
    }
    assert_null(lw_integrator_find("euler"));
    assert_null(lw_integrator_at(-1));
    assert_null(lw_integrator_at(8));
}

/* --- rk4 ------------------------------------------------------------------------------------------ */

static void test_rk4_order(void **state) {
    (void)state;
    lw_integrator_statistics statistics;
    /* 1 output: the end of a step. 7 * 11 outputs: mostly within steps, the cubic's error dominates or
     * equals. */
    for (int outputs = 1; outputs <= 77; outputs += 76) {
        double coarse = kepler_error("rk4", 5.0 / 4096, 0, outputs, &statistics);
        double fine = kepler_error("rk4", 5.0 / 8192, 0, outputs, &statistics);
        double slope = log2(coarse / fine);
        if (fabs(slope - 4) > 0.1) print_error("%d outputs: slope %.3f\n", outputs, slope);
        assert_true(fabs(slope - 4) <= 0.1);
        assert_int_equal(statistics.steps, 8192);
        assert_true(statistics.evaluations <= 4 * 8192 + 1); /* dense output costs at most one in all */
    }
}

/* Between the ends of one large step the error is that of the cubic, 1/384 h^4 y'''' at the middle. */
static void test_rk4_dense_constant(void **state) {
    (void)state;
    problem p = {.base = {.size = 2, .derivative = oscillator}};
    const double h = 0.1, y0[2] = {1, 0};
    double y[2];
    lw_integration *integration = begin("rk4", &p.base, h, 0, 0, y0, NULL);
    to(integration, h / 2, 1, y);
    end(integration);
    double predicted = h * h * h * h / 384;
    double error = cos(h / 2) - y[0];
    /* The step's own error, h^5/120, is 3 % of this, the next term of the cubic's as well. */
    assert_true(fabs(error - predicted) < 0.15 * predicted);
}

static lw_status remember_time(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)y, (void)error;
    problem *p = (problem *)system;
    double half = p->parameter / 2, off = fabs(t - half * round(t / half));
    p->t_last = fmax(p->t_last, t);
    p->off_grid = fmax(p->off_grid, off);
    ydot[0] = 1;
    return LW_OK;
}

static void test_rk4_times(void **state) {
    (void)state;
    static const struct {
        double step, stop;
        long steps;
    } cases[] = {{0.3, 1, 4}, {0.1, 1, 10},   {0.1, 1.00000000001, 10}, {0.1, 0.99999999999, 10},
                 {2, 1, 1},   {1e-3, 7, 7000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        problem p = {
            .base = {.size = 1, .derivative = remember_time}, .t_last = -1, .parameter = cases[i].step};
        double y[1] = {0};
        lw_integration *integration = begin("rk4", &p.base, cases[i].step, 0, 0, y, NULL);
        to(integration, cases[i].stop, cases[i].stop, y);
        assert_int_equal(end(integration).steps, cases[i].steps);
        assert_true(p.t_last == cases[i].stop); /* exactly */
        /* rounding of 7, not 7000 times rounding */
        if (cases[i].step == 1e-3) assert_true(p.off_grid < 4e-15);
        assert_true(fabs(y[0] - cases[i].stop) < 1e-12); /* 7000 additions of rounding 1e-15 */
    }
}

/* --- accuracy of the adaptive ones ---------------------------------------------------------------- */

static void test_error_follows_tolerance(void **state) {
    (void)state;
    /* How far the error at t = 5 may be from the tolerance: Kepler's motion multiplies errors made at
     * perihelion by about 3 pi / (1 - e)^2 ~ 60 per turn, times the number of steps (up to some thousand for
     * the low orders). */
    for (int k = 0; k < ADAPTIVE; k++) {
        double first = 0, last = 0;
        for (int decade = 4; decade <= 11; decade++) {
            lw_integrator_statistics statistics;
            double tolerance = pow(10, -decade);
            double error = kepler_error(adaptive[k], 0, tolerance, 1, &statistics);
            expect_at_most("error", adaptive[k], error, 3e4 * tolerance);
            if (decade == 5)
                first = error; /* at 1e-4 erk has just come to order 8, and is better than it has to be */
            last = error;
        }
        double slope = log10(first / last) / 6;
        if (slope < 0.8 || slope > 1.3) print_error("%s: error ~ tolerance^%.2f\n", adaptive[k], slope);
        assert_true(slope >= 0.8 && slope <= 1.3);
    }
}

/* Who asks for more gets more, and pays for it: over a decade of tolerance erk's error falls and its evaluations do not, where it changes
 * from order 5 to order 8 too. With an output in every step as well, which costs more at order 8. */
static void test_erk_is_monotone(void **state) {
    (void)state;
    for (int outputs = 1; outputs <= 500; outputs += 499) {
        double last_error = HUGE_VAL;
        long last_cost = 0;
        for (int decade = 4; decade <= 12; decade++) {
            lw_integrator_statistics statistics;
            double error = kepler_error("erk", 0, pow(10, -decade), outputs, &statistics);
            if (!(error < last_error) || statistics.evaluations < last_cost)
                fail_msg("tolerance 1e-%d: error %g after %g, %ld evaluations after %ld", decade, error,
                         last_error, statistics.evaluations, last_cost);
            last_error = error, last_cost = statistics.evaluations;
        }
    }
}

/* With a largest step below what the tolerance asks for, erk is a method with a fixed step: order 5 for the
 * looser, 8 for the tighter tolerance. */
static void test_erk_order(void **state) {
    (void)state;
    static const struct {
        double tolerance, coarse, fine, order;
        long evaluations; /* per step */
    } cases[] = {{1e-3, 0.1, 0.05, 5, 6}, {1e-9, 0.35, 0.25, 8, 13}};
    for (int k = 0; k < 2; k++) {
        double errors[2];
        for (int fine = 0; fine < 2; fine++) {
            problem p = {.base = {.size = 2, .derivative = oscillator}};
            double y[2] = {1, 0}, h = fine ? cases[k].fine : cases[k].coarse;
            lw_integration *integration = begin("erk", &p.base, h, cases[k].tolerance, 0, y, NULL);
            to(integration, 60, 60, y);
            lw_integrator_statistics statistics = end(integration);
            errors[fine] = distance(2, y, (double[2]){cos(60), -sin(60)});
            assert_int_equal(statistics.rejected, 0);
            /* The start: the first derivative and the search for the first step. */
            assert_true(statistics.evaluations >= cases[k].evaluations * statistics.steps);
            assert_true(statistics.evaluations <= cases[k].evaluations * statistics.steps + 10);
        }
        double slope = log(errors[0] / errors[1]) / log(cases[k].coarse / cases[k].fine);
        /* Between order and order + 1: the leading term of the 8(7) pair is small on an oscillator. A
         * derivative that is not taken at the new state, but at the last stage, makes that 5. */
        double excess = slope - cases[k].order;
        if (excess < -0.1 || excess > 1) print_error("order %.0f: slope %.3f\n", cases[k].order, slope);
        assert_true(excess >= -0.1 && excess <= 1);
    }
}

static void test_oscillator(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        problem p = {.base = {.size = 2, .derivative = oscillator, .residual = ode_residual}};
        double y[2] = {1, 0};
        lw_integration *integration = begin(adaptive[k], &p.base, 0, 1e-8, 0, y, NULL);
        to(integration, 20, 20, y);
        lw_integrator_statistics statistics = end(integration);
        double exact[2] = {cos(20), -sin(20)};
        /* Errors add up over the steps (up to some hundred). */
        expect_at_most("error", adaptive[k], distance(2, y, exact), 2e-6);
        assert_true(statistics.steps > 10 && statistics.evaluations >= statistics.steps);
    }
}

/* The state between steps is as good as that at their ends. Two ways: against the exact solution, and against
 * a second run whose largest step is so small that there is (nearly) no room between steps. */
static void test_dense_output(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        for (int decade = 5; decade <= 11; decade += 3) {
            double tolerance = pow(10, -decade);
            lw_integrator_statistics few, many;
            problem p = {.base = {.size = 2, .derivative = oscillator, .residual = ode_residual}};
            double y[2] = {1, 0}, y0[2] = {1, 0}, at_end = 0, between = 0, previous = 0;
            lw_integration *integration = begin(adaptive[k], &p.base, 0, tolerance, 0, y0, NULL);
            for (int i = 1; i <= 997; i++) {
                double t = 10.0 * i / 997, exact[2] = {cos(t), -sin(t)};
                to(integration, t, 10, y);
                between = fmax(between, distance(2, y, exact));
                previous = t;
            }
            assert_true(previous == 10);
            at_end = distance(2, y, (double[2]){cos(10), -sin(10)});
            many = end(integration);

            double y_few[2];
            integration = begin(adaptive[k], &p.base, 0, tolerance, 0, y0, NULL);
            to(integration, 10, 10, y_few);
            few = end(integration);
            assert_memory_equal(y, y_few, sizeof y); /* output times do not change the steps */
            assert_int_equal(few.steps, many.steps);
            /* The global error at the end is some 10 local errors or more; one local error more
             * is allowed. */
            expect_at_most("dense output error", adaptive[k], between, 3 * at_end + 10 * tolerance);
        }
    }
}

static void test_stiff(void **state) {
    (void)state;
    /* mu = 1000, before, during (near t = 807) and after the first jump; erk is limited by stability, 1e-10
     * is its error. */
    const double times[3] = {400, 800, 1000};
    double reference[3][2];
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"erk", "bdf", "ida"};
        problem p = {.base = {.size = 2, .derivative = van_der_pol, .residual = ode_residual},
                     .parameter = 1000};
        double y[2] = {2, 0};
        lw_integration *integration = begin(names[k], &p.base, 0, k == 0 ? 1e-8 : 1e-9, 0, y, NULL);
        for (int i = 0; i < 3; i++) {
            to(integration, times[i], 1000, y);
            if (k == 0) memcpy(reference[i], y, sizeof y);
            /* Tolerance 1e-9 times some hundred steps; the jump's time amplifies by a further
             * factor of ten. */
            expect_at_most("difference to erk", names[k], distance(2, y, reference[i]), 1e-5);
        }
        lw_integrator_statistics statistics = end(integration);
        /* stiff solvers take no stability-limited steps (>300000) */
        if (k > 0) assert_true(statistics.steps < 5000);
    }
}

/* --- quadratures ---------------------------------------------------------------------------------- */

static void test_quadrature_value(void **state) {
    (void)state;
    /* integral of cos^2 = t/2 + sin(2 t)/4 */
    static const char *const names[] = {"rk4", "erk", "adams", "bdf", "ida"};
    for (int k = 0; k < 5; k++) {
        for (int decade = 5; decade <= 9; decade += 2) {
            problem p = {
                .base = {.size = 3, .quadratures = 1, .derivative = oscillator, .residual = ode_residual},
                .quadrature = square};
            double y[3] = {1, 0, 0}, tolerance = pow(10, -decade), worst = 0, states = 0;
            /* rk4: h^4/120 = tolerance per unit of time */
            lw_integration *integration =
                begin(names[k], &p.base, k == 0 ? pow(120 * tolerance, 0.25) : 0, tolerance, 0, y, NULL);
            for (int i = 1; i <= 100; i++) {
                double t = 0.1 * i;
                to(integration, t, 10, y);
                worst = fmax(worst, fabs(y[2] - (t / 2 + sin(2 * t) / 4)));
                states = fmax(states, distance(2, y, (double[2]){cos(t), -sin(t)}));
            }
            end(integration);
            /* As good as the states it depends on, up to a small factor (integral over t = 10 of their
             * error). */
            expect_at_most("integral's error", names[k], worst, 20 * states + tolerance);
        }
    }
}

/* A mass dragged through thick oil that moves with sin t, and the impulse of the oil: both are the same
 * number. The force is stiff in the velocity, so an impulse that lags by one Newton iterate is wrong by
 * thousands of tolerances. */
static double force(double t, const double *y, int index) {
    (void)index;
    return 1e4 * (sin(t) - y[0]);
}

static lw_status dragged(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)error;
    ydot[0] = force(t, y, 0);
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

static void test_stiff_impulse(void **state) {
    (void)state;
    for (int k = 2; k < ADAPTIVE; k++) {
        for (int decade = 6; decade <= 9; decade++) {
            problem p = {
                .base = {.size = 2, .quadratures = 1, .derivative = dragged, .residual = ode_residual},
                .quadrature = force};
            double y[2] = {0};
            lw_integration *integration = begin(adaptive[k], &p.base, 0, pow(10, -decade), 0, y, NULL);
            to(integration, 3, 3, y);
            end(integration);
            /* About hundred steps, each with what Newton's method leaves over. */
            expect_at_most("impulse - momentum", adaptive[k], fabs(y[1] - y[0]), 100 * pow(10, -decade));
        }
    }
}

static void test_quadratures_do_not_disturb(void **state) {
    (void)state;
    static const char *const names[] = {"rk4", "erk", "adams", "bdf", "ida"};
    static lw_status (*const systems[])(lw_system *, double, const double *, double *,
                                        lw_error *) = {oscillator, kepler, van_der_pol};
    static const int sizes[] = {2, 4, 2};
    for (int k = 0; k < 5; k++) {
        for (int s = 0; s < 3; s++) {
            double results[2][40][4] = {{{0}}};
            lw_integrator_statistics statistics[2];
            for (int with = 0; with < 2; with++) {
                problem p = {.base = {.size = sizes[s] + 2 * with,
                                      .quadratures = 2 * with,
                                      .derivative = systems[s],
                                      .residual = ode_residual},
                             .quadrature = wild,
                             .parameter = 50};
                double y[6] = {0.4, 0, 0, 2, 0, 0};
                if (sizes[s] == 2) y[0] = 2, y[3] = 0;
                lw_integration *integration = begin(names[k], &p.base, k == 0 ? 1e-3 : 0, 1e-6, 0, y, NULL);
                for (int i = 0; i < 40; i++) {
                    to(integration, 0.1 * (i + 1), 4, y);
                    memcpy(results[with][i], y, sizeof *y * (size_t)sizes[s]);
                    assert_true(isfinite(y[p.base.size - 1]));
                }
                statistics[with] = end(integration);
            }
            if (memcmp(results[0], results[1], sizeof results[0]))
                print_error("%s, system %d\n", names[k], s);
            assert_memory_equal(results[0], results[1], sizeof results[0]);
            assert_int_equal(statistics[0].steps, statistics[1].steps);
            /* Dense output of erk looks closer for the sake of integrals, and only these get anything of it. */
            assert_true(
                statistics[0].evaluations == statistics[1].evaluations ||
                (strcmp(names[k], "erk") == 0 && statistics[0].evaluations < statistics[1].evaluations));
            assert_int_equal(statistics[0].rejected, statistics[1].rejected);
        }
    }
}

/* Only integrals: then they are what is controlled. */
static lw_status only_integral(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)system, (void)y, (void)error;
    ydot[0] = cos(5 * t);
    return LW_OK;
}

static void test_only_quadratures(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        for (int decade = 6; decade <= 10; decade += 4) {
            problem p = {
                .base = {.size = 1, .quadratures = 1, .derivative = only_integral, .residual = ode_residual}};
            double y[1] = {0}, tolerance = pow(10, -decade);
            lw_integration *integration = begin(adaptive[k], &p.base, 0, tolerance, 0, y, NULL);
            to(integration, 10, 10, y);
            end(integration);
            /* Some hundred local errors. */
            expect_at_most("error", adaptive[k], fabs(y[0] - sin(50) / 5), 300 * tolerance);
        }
    }
}

/* --- large systems: iterative linear solver ------------------------------------------------------- */

enum { NODES = 450 };

/* Heat in a rod of unit length, ends at 0; the lowest mode decays at 4 (N+1)^2 sin^2(pi / (2 (N+1))). */
static lw_status heat(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)error;
    double scale = (NODES + 1.0) * (NODES + 1.0);
    for (int i = 0; i < NODES; i++) {
        double left = i > 0 ? y[i - 1] : 0, right = i < NODES - 1 ? y[i + 1] : 0;
        ydot[i] = scale * (left - 2 * y[i] + right);
    }
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

static double middle(double t, const double *y, int index) {
    (void)t, (void)index;
    return y[NODES / 2];
}

/* Everybody follows sin t, fast: Newton's matrix is far from the identity, in one direction only. */
static lw_status followers(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)error;
    for (int i = 0; i < NODES; i++) ydot[i] = 1e4 * (sin(t) - y[i]);
    fill_quadratures((problem *)system, t, y, ydot);
    return LW_OK;
}

static void test_large_quadrature(void **state) {
    (void)state;
    for (int k = 2; k < ADAPTIVE; k++) {
        problem p = {
            .base = {.size = NODES + 1, .quadratures = 1, .derivative = followers, .residual = ode_residual},
            .quadrature = middle};
        double y[NODES + 1] = {0};
        lw_integration *integration = begin(adaptive[k], &p.base, 0, 1e-6, 0, y, NULL);
        to(integration, 3, 3, y);
        end(integration);
        /* Hundred steps and more of 1e-6 each, that nothing damps. A solver that leaves the integral's
         * equation to GMRES on the states fails by 2. The states lag behind sin t by 1e-4. */
        expect_at_most("integral's error", adaptive[k], fabs(y[NODES] - (1 - cos(3) - sin(3) / 1e4)), 3e-4);
    }
}

static void test_large_stiff(void **state) {
    (void)state;
    const double pi = acos(-1);
    for (int k = 2; k < ADAPTIVE; k++) {
        double results[2][NODES], y[NODES + 1] = {0};
        lw_integrator_statistics statistics[2];
        for (int with = 0; with < 2; with++) {
            problem p = {.base = {.size = NODES + with,
                                  .quadratures = with,
                                  .derivative = heat,
                                  .residual = ode_residual},
                         .quadrature = middle};
            for (int i = 0; i < NODES; i++) y[i] = sin(pi * (i + 1) / (NODES + 1));
            y[NODES] = 0;
            lw_integration *integration = begin(adaptive[k], &p.base, 0, 1e-6, 0, y, NULL);
            to(integration, 0.1, 0.1, y);
            statistics[with] = end(integration);
            memcpy(results[with], y, sizeof results[with]);
        }
        double rate = 4 * pow(NODES + 1.0, 2) * pow(sin(pi / (2 * (NODES + 1))), 2), worst = 0;
        double centre = sin(pi * (NODES / 2 + 1) / (NODES + 1));
        for (int i = 0; i < NODES; i++) {
            worst = fmax(worst, fabs(y[i] - sin(pi * (i + 1) / (NODES + 1)) * exp(-rate * 0.1)));
        }
        expect_at_most("error", adaptive[k], worst, 1e-4); /* some hundred steps of 1e-6 */
        expect_at_most("integral's error", adaptive[k],
                       fabs(y[NODES] - centre * (1 - exp(-rate * 0.1)) / rate), 1e-4);
        assert_memory_equal(results[0], results[1], sizeof results[0]);
        assert_int_equal(statistics[0].steps, statistics[1].steps);
    }
}

/* --- projection ----------------------------------------------------------------------------------- */

/* Torque-free symmetric top, inertia (1, 1, 1.5): quaternion and body rates. */
static const double axial = 1.5;

static void multiply(const double p[4], const double q[4], double r[4]) {
    r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

static lw_status top(lw_system *system, double t, const double *y, double *ydot, lw_error *error) {
    (void)system, (void)t, (void)error;
    const double *w = y + 4, rates[4] = {0, w[0], w[1], w[2]};
    multiply(y, rates, ydot);
    for (int i = 0; i < 4; i++) ydot[i] *= 0.5;
    ydot[4] = -(axial - 1) * w[1] * w[2];
    ydot[5] = (axial - 1) * w[0] * w[2];
    ydot[6] = 0;
    return LW_OK;
}

static lw_status unit_length(lw_system *system, double t, double *y, lw_error *error) {
    (void)t, (void)error;
    problem *p = (problem *)system;
    double length = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]);
    p->projections++;
    p->largest_correction = fmax(p->largest_correction, fabs(length - 1));
    for (int i = 0; i < 4; i++) y[i] /= length;
    return LW_OK;
}

/* Turn about the fixed angular momentum L by |L| t, then about the body's axis by (1 - axial) w3 t. */
static void top_exact(double t, const double w0[3], double q[4]) {
    double momentum[3] = {w0[0], w0[1], axial * w0[2]};
    double size = sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2]);
    double a = size * t / 2, b = (1 - axial) * w0[2] * t / 2;
    double first[4] = {cos(a), 0, 0, 0}, second[4] = {cos(b), 0, 0, sin(b)};
    for (int i = 0; i < 3; i++) first[i + 1] = sin(a) * momentum[i] / size;
    multiply(first, second, q);
}

/* Largest error over [0, 10] and largest departure from unit length. */
static double top_error(const char *name, double step, double tolerance, bool project, int outputs,
                        double *length, double *correction) {
    problem p = {.base = {.size = 7, .derivative = top, .project = project ? unit_length : NULL}};
    const double w0[3] = {1, 0.2, 2};
    double y[7] = {1, 0, 0, 0, w0[0], w0[1], w0[2]}, exact[4], worst = 0;
    lw_integration *integration = begin(name, &p.base, step, tolerance, 0, y, NULL);
    *length = 0;
    for (int i = 1; i <= outputs; i++) {
        double t = 10.0 * i / outputs;
        to(integration, t, 10, y);
        top_exact(t, w0, exact);
        worst = fmax(worst, distance(4, y, exact));
        *length = fmax(*length, fabs(sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]) - 1));
    }
    lw_integrator_statistics statistics = end(integration);
    if (project) assert_true(p.projections >= statistics.steps);
    *correction = p.largest_correction;
    return worst;
}

static void test_projection(void **state) {
    (void)state;
    enum { OUTPUTS = 321 };
    double length, correction, of_steps, unused;
    double coarse = top_error("rk4", 10.0 / 256, 0, true, OUTPUTS, &length, &correction);
    double fine = top_error("rk4", 10.0 / 512, 0, true, OUTPUTS, &length, &correction);
    expect_at_most("length", "rk4", length, 4e-16);
    double slope = log2(coarse / fine);
    if (fabs(slope - 4) > 0.1) print_error("rk4 with projection: slope %.3f\n", slope);
    assert_true(fabs(slope - 4) <= 0.1);

    for (int k = 0; k < 3; k++) {
        for (int decade = 6; decade <= 10; decade += 2) {
            double free_length, tolerance = pow(10, -decade);
            top_error(adaptive[k], 0, tolerance, true, 1, &length, &of_steps);
            double with = top_error(adaptive[k], 0, tolerance, true, OUTPUTS, &length, &correction);
            double without = top_error(adaptive[k], 0, tolerance, false, OUTPUTS, &free_length, &unused);
            expect_at_most("length", adaptive[k], length, 4e-16);
            /* Each projection takes away what one step did, not what has added up: the projected state went back into
             * the integrator. Dense output may be off by the tolerance on top of that. */
            expect_at_most("correction", adaptive[k], of_steps, 0.5 * free_length);
            expect_at_most("correction", adaptive[k], correction, 0.5 * free_length + 0.5 * tolerance);
            /* Projection removes one part of the error and may shift the rest by some steps' worth. */
            expect_at_most("error", adaptive[k], with, 1.5 * without + 10 * tolerance);
        }
    }
}

/* --- residuals ------------------------------------------------------------------------------------ */

/* ydot = -z y, 0 = z - (1 + y): logistic decay y = 1 / (2 e^t - 1) from y = 1, with z = 1 + y. */
static lw_status algebraic(lw_system *system, double t, const double *y, const double *ydot, double *residual,
                           lw_error *error) {
    (void)system, (void)t, (void)error;
    residual[0] = ydot[0] + y[1] * y[0];
    residual[1] = y[1] - (1 + y[0]);
    residual[2] = ydot[2] - y[1];
    return LW_OK;
}

static void test_ida_start(void **state) {
    (void)state;
    static const bool differential[3] = {true, false, true};
    for (int given = 0; given < 2; given++) {
        problem p = {
            .base = {.size = 3, .quadratures = 1, .residual = algebraic, .differential = differential}};
        double y[3] = {1, given ? 2 : 17, 0}, ydot[3] = {-2, 0, 2}; /* z = 17 is wrong: 2 is right */
        lw_integration *integration = begin("ida", &p.base, 0, 1e-8, 0, y, given ? ydot : NULL);
        to(integration, 0, 2, y);
        expect_at_most("z at the start", "ida", fabs(y[1] - 2), 1e-7);
        to(integration, 2, 2, y);
        end(integration);
        double exact = 1 / (2 * exp(2) - 1);
        /* integral of z = -log(y / y0); some hundred local errors of 1e-8 */
        double right[3] = {exact, 1 + exact, -log(exact)};
        expect_at_most("error", "ida", distance(3, y, right), 3e-6);
    }
}

/* --- the system's own step ------------------------------------------------------------------------ */

static void test_own_step(void **state) {
    (void)state;
    for (int with = 0; with < 2; with++) {
        double errors[2];
        for (int fine = 0; fine < 2; fine++) {
            problem p = {.base = {.size = 2, .step = midpoint, .derivative = with ? oscillator : NULL}};
            double y[2] = {1, 0}, h = fine ? 0.01 : 0.02;
            errors[fine] = 0;
            lw_integration *integration = begin("energy-momentum", &p.base, h, 0, 0, y, NULL);
            for (int i = 1; i <= 77; i++) {
                double t = 10.0 * i / 77;
                to(integration, t, 10, y);
                errors[fine] = fmax(errors[fine], distance(2, y, (double[2]){cos(t), -sin(t)}));
            }
            assert_true(fabs(y[0] * y[0] + y[1] * y[1] - 1) < 1e-13); /* the scheme keeps the energy */
            assert_int_equal(end(integration).steps, fine ? 1000 : 500);
        }
        assert_true(fabs(log2(errors[0] / errors[1]) - 2) < 0.1); /* order 2, between steps as well */
    }
}

/* --- times ---------------------------------------------------------------------------------------- */

static void test_output_times(void **state) {
    (void)state;
    for (int k = 0; k < lw_integrators_count(); k++) {
        const lw_integrator *integrator = lw_integrator_at(k);
        problem p = {
            .base = {.size = 2, .derivative = oscillator, .residual = ode_residual, .step = midpoint}};
        const double y0[2] = {1, 0}, tolerance = integrator->fixed_step ? 1e-3 : 1e-5, t0 = -3;
        double y[2];
        lw_error error = {0};
        lw_integration *integration = begin(integrator->name, &p.base, 0.1, 1e-7, t0, y0, NULL);
        /* the start, twice; very near the start; many within a step; the end, twice */
        static const double times[] = {
            0, 0, 1e-300, 1e-12, 0.01, 0.02, 0.021, 0.0210001, 0.3, 0.9999999999999999, 1, 1};
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            to(integration, t0 + times[i], t0 + 1, y);
            expect_at_most("error", integrator->name,
                           distance(2, y, (double[2]){cos(times[i]), -sin(times[i])}), tolerance);
            if (i < 2) assert_memory_equal(y, y0, sizeof y);
        }
        assert_int_equal(integrator->advance(integration, t0 + 0.1, t0 + 1, y, &error), LW_ERROR_ARGUMENT);
        assert_int_equal(integrator->advance(integration, t0 + 1.5, t0 + 1, y, &error), LW_ERROR_ARGUMENT);
        end(integration);

        integration = begin(integrator->name, &p.base, 0.1, 1e-7, t0, y0, NULL);
        to(integration, t0, t0, y); /* nothing to do */
        assert_memory_equal(y, y0, sizeof y);
        assert_int_equal(end(integration).steps, 0);
    }
}

static void test_largest_step(void **state) {
    (void)state;
    for (int k = 0; k < ADAPTIVE; k++) {
        problem p = {.base = {.size = 2, .derivative = oscillator, .residual = ode_residual}};
        double y[2] = {1, 0};
        lw_integration *integration = begin(adaptive[k], &p.base, 0.01, 1e-3, 0, y, NULL);
        to(integration, 5, 5, y);
        assert_true(end(integration).steps >= 500);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_rk4_order),
        cmocka_unit_test(test_rk4_dense_constant),
        cmocka_unit_test(test_rk4_times),
        cmocka_unit_test(test_error_follows_tolerance),
        cmocka_unit_test(test_erk_is_monotone),
        cmocka_unit_test(test_erk_order),
        cmocka_unit_test(test_oscillator),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_quadrature_value),
        cmocka_unit_test(test_stiff_impulse),
        cmocka_unit_test(test_quadratures_do_not_disturb),
        cmocka_unit_test(test_only_quadratures),
        cmocka_unit_test(test_large_stiff),
        cmocka_unit_test(test_large_quadrature),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_ida_start),
        cmocka_unit_test(test_own_step),
        cmocka_unit_test(test_output_times),
        cmocka_unit_test(test_largest_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
