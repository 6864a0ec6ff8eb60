/* test_director.c - the energy-momentum scheme on random mechanisms: trees, loops and dependent rows, all force elements.
 *
 *   ledger        the energy changes by what is booked, to rounding, whatever acts
 *   positions     joints, loops, constraints and rigidity hold at the end of every step, dropped rows included
 *   accuracy      both schemes agree with each other, and with an adaptive run of another method to the order of h^2
 *   no trend      energy and momentum of the heavy top wander with rounding and go nowhere (docs/endurance.md: a million steps)
 *   the trap      the six-body linkage at h = 0.01, where a fixed choice of rows lets Newton leave the manifold
 */
#include "random_loops.h"
#include "formulations/director/director_parts.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 80, LOOPS = 110, STEPS = 25, MAX = 400 };
static const double h = 0.01;

/* What is booked and what is not, relative to the energies that come and go: rounding of some dozen steps, times the
 * condition of what Newton solves. */
static const double ledger_tolerance = 1e-11;
static const double position_tolerance = 1e-10;

typedef struct outcome {
    bool applies;
    double ledger, position, q[MAX], v[MAX];
    int halved;
} outcome;

static void listen(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text;
    ((outcome *)context)->halved += strcmp(kind, "halved") == 0;
}

static void run_scheme(const char *name, const lw_model *model, double t, const double *q, const double *v,
                       int steps, double size, int seed, outcome *out) {
    const lw_formulation *f = lw_formulation_find(name);
    lw_error error = {0};
    lw_method *method;
    *out = (outcome){0};
    const lw_method_options options = {.note = listen, .note_context = out};
    if (f->applies(model, &error) != LW_OK) return;
    out->applies = true;
    assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
    size_t n = (size_t)method->state_size + 1;
    double *y = calloc(n, sizeof *y), *next = calloc(n, sizeof *next);
    f->to_state(method, t, q, v, y);
    lw_energy start = f->energy(method, t, y), now = start;
    lw_power work;
    double booked = 0, moved = 1 + fabs(start.kinetic) + fabs(start.potential), velocity;
    for (int k = 0; k < steps; k++) {
        if (f->step(method, t + k * size, size, y, next, &work, &error) != LW_OK)
            fail_msg("seed %d, %s, step %d: %s", seed, name, k, error.message);
        double *swap = y, position;
        y = next, next = swap;
        now = f->energy(method, t + (k + 1) * size, y);
        booked += work.drives + work.forces - work.dissipation;
        moved += fabs(work.drives) + fabs(work.forces) + fabs(work.dissipation);
        moved = fmax(moved, fabs(now.kinetic) + fabs(now.potential));
        double missing = now.kinetic + now.potential - start.kinetic - start.potential - booked;
        out->ledger = fmax(out->ledger, fabs(missing) / moved);
        f->violation(method, t + (k + 1) * size, y, &position, &velocity);
        out->position = fmax(out->position, position);
    }
    f->from_state(method, t + steps * size, y, out->q, out->v);
    f->destroy(method);
    free(y), free(next);
    if (!(out->ledger < ledger_tolerance)) fail_msg("seed %d, %s: ledger off by %g", seed, name, out->ledger);
    if (!(out->position < position_tolerance))
        fail_msg("seed %d, %s: violated by %g", seed, name, out->position);
}

/* Difference of two states in poses of the bodies, which know no signs of quaternions. */
static double difference(const lw_model *model, lw_data *data, double t, const double *a, const double *b) {
    double worst = 0, pa[3], pb[3], Ra[9], Rb[9];
    for (int i = 1; i <= model->body_count; i++) {
        lw_body_pose(model, data, t, a, i, pa, Ra);
        lw_body_pose(model, data, t, b, i, pb, Rb);
        worst = fmax(worst, fmax(relative_difference(pa, pb, 3), relative_difference(Ra, Rb, 9)));
    }
    return worst;
}

typedef struct tally {
    int tested, halved, far;
    double ledger, position, apart, far_most;
} tally;

static void check(const lw_model *model, double t, const double *q, const double *v, int seed, tally *sum) {
    outcome reduced, full;
    lw_run_options options;
    lw_error error;
    lw_data *data;
    double end[MAX], speeds[MAX];
    run_scheme("director", model, t, q, v, STEPS, h, seed, &reduced);
    run_scheme("director-full", model, t, q, v, STEPS, h, seed, &full);
    assert_int_equal(reduced.applies, full.applies);
    if (!reduced.applies) return;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    double apart = difference(model, data, t + STEPS * h, reduced.q, full.q);
    /* the same equations; where rows may be chosen in two ways the choices differ by O(h^2) */
    bool one_choice = model->closure_count == 0 && model->constraint_count == 0;
    if (one_choice && !reduced.halved && !full.halved && apart > 1e-7)
        fail_msg("seed %d: the schemes differ by %g", seed, apart);
    lw_run_defaults(model, &options);
    options.method = "lagrange", options.integrator = "erk", options.tolerance = 1e-9, options.step = 0;
    options.start = t, options.end = t + STEPS * h, options.output = STEPS * h;
    options.q = q, options.v = v, options.as_given = true;
    if (lw_simulate(model, &options, end, speeds, NULL, &error) == LW_OK) {
        double far = difference(model, data, options.end, reduced.q, end);
        sum->far += far > 1e-2;
        sum->far_most = fmax(sum->far_most, far);
    }
    lw_data_destroy(data);
    sum->tested++;
    sum->halved += reduced.halved > 0;
    sum->ledger = fmax(sum->ledger, fmax(reduced.ledger, full.ledger));
    sum->position = fmax(sum->position, fmax(reduced.position, full.position));
    sum->apart = fmax(sum->apart, one_choice ? apart : 0);
}

static void show(const char *what, const tally *sum) {
    print_message("%d %s: ledger %.1e, positions %.1e, schemes apart %.1e, from other methods %.1e (%d "
                  "beyond 0.01), halved in "
                  "%d\n",
                  sum->tested, what, sum->ledger, sum->position, sum->apart, sum->far_most, sum->far,
                  sum->halved);
}

static void trees(void **state) {
    (void)state;
    tally sum = {0};
    for (int seed = 0; seed < TREES; seed++) {
        lw_random random = random_seed((uint64_t)seed + 9000);
        random_tree options = {.bodies = 1 + random_below(&random, 5),
                               .forces = seed % 3 > 0,
                               .prescribed = seed % 4 == 3,
                               .reversed = seed % 2,
                               .aligned = seed % 5 < 2,
                               .joint = seed % 13 < LW_JOINT_TYPES ? seed % 13 : -1};
        lw_model *model = random_tree_model(&random, &options);
        double q[MAX], v[MAX];
        random_state(&random, model, q, v);
        check(model, 0, q, v, seed, &sum);
        lw_model_destroy(model);
    }
    show("trees", &sum);
    assert_true(sum.tested == TREES);
    assert_true(sum.far <= TREES / 20); /* stiff elements that h does not resolve */
}

static void loops(void **state) {
    (void)state;
    tally sum = {0};
    static random_loops mechanism;
    for (int seed = 0; seed < LOOPS; seed++) {
        random_loops_build(&mechanism, seed);
        lw_model *model = compile_or_fail(mechanism.spec);
        double q[MAX], v[MAX];
        random_loops_state(&mechanism, model, true, q, v);
        check(model, mechanism.t, q, v, seed, &sum);
        lw_model_destroy(model);
    }
    show("mechanisms with loops", &sum);
    assert_true(sum.tested > LOOPS * 4 / 5); /* the others roll */
    assert_true(sum.far <= LOOPS / 20);
}

static lw_model *problem(const char *path) {
    lw_report *report = lw_report_create();
    lw_spec *spec;
    assert_int_equal(lw_read_model(path, NULL, 0, report, &spec), LW_OK);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

/* Steady precession repeats itself, so any rounding with a preferred sign adds up. Increments of an error over blocks of steps are independent of each
 * other: mean over standard error is Student's t with 19 degrees of freedom, beyond 5 in one case of 10000. Without `find_rest`
 * (director_step.c) the energy shows 9.6. */
static void heavy_top_has_no_trend(void **state) {
    (void)state;
    enum { BLOCKS = 20, LENGTH = 5000 };
    lw_model *model = problem(LW_SOURCE_DIR "/problems/gyro_top/model.yaml");
    const lw_formulation *f = lw_formulation_find("director");
    const lw_method_options options = {0};
    lw_error error;
    lw_data *data;
    lw_method *method;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
    size_t n = (size_t)method->state_size + 1;
    double *y = calloc(n, sizeof *y), *next = calloc(n, sizeof *next), q[MAX], v[MAX];
    double values[2][BLOCKS + 1], p[3], L[3];
    lw_model_initial_state(model, q, v);
    f->to_state(method, 0, q, v, y);
    for (int b = 0; b <= BLOCKS; b++) {
        lw_energy energy = f->energy(method, 0, y);
        f->from_state(method, 0, y, q, v);
        lw_momentum(model, data, 0, q, v, p, L);
        values[0][b] = energy.kinetic + energy.potential, values[1][b] = L[2];
        for (int k = 0; k < LENGTH; k++) {
            lw_power work;
            assert_int_equal(f->step(method, 0, 1e-3, y, next, &work, &error), LW_OK);
            double *swap = y;
            y = next, next = swap;
        }
    }
    for (int i = 0; i < 2; i++) {
        double mean = (values[i][BLOCKS] - values[i][0]) / BLOCKS, squares = 0;
        for (int b = 0; b < BLOCKS; b++) {
            double off = values[i][b + 1] - values[i][b] - mean;
            squares += off * off;
        }
        double t = mean / sqrt(squares / (BLOCKS - 1) / BLOCKS);
        print_message("%s: changed by %.1e of itself, t = %.1f\n", i ? "vertical momentum" : "energy",
                      BLOCKS * mean / values[i][0], t);
        assert_true(fabs(t) < 5);
    }
    f->destroy(method);
    lw_data_destroy(data);
    lw_model_destroy(model);
    free(y), free(next);
}

/* The mechanism of betsch2006, section 5.4.2: five closure rows of which one is redundant, another at other times. At h = 0.01 a
 * choice that stays lets the dropped row go by 1e-2. */
static void six_body_linkage(void **state) {
    (void)state;
    lw_model *model = problem(LW_SOURCE_DIR "/problems/six_body_linkage/model.yaml");
    double q[MAX], v[MAX];
    lw_error error;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    for (int k = 0; k < 2; k++) {
        outcome out;
        run_scheme(k ? "director-full" : "director", model, 0, q, v, 500, 0.01, k, &out);
        /* theta1 = theta3 = theta5, theta2 = theta4 = asin(sin th1 / (1 - sin th1)) along the motion, the paper's
         * sense being about -x */
        print_message("ledger %.1e, position %.1e, halved %d, angles %.6f %.6f\n", out.ledger, out.position,
                      out.halved, out.q[0], out.q[1]);
        assert_int_equal(out.halved, 0);
        for (int i = 2; i < 5; i++) assert_true(fabs(out.q[i] - out.q[i - 2]) < 1e-9);
        double sine = sin(out.q[0]), branches[2] = {sine / (1 - sine), -sine / (1 + sine)};
        double left = fmin(fabs(fabs(sin(out.q[1])) - fabs(branches[0])),
                           fabs(fabs(sin(out.q[1])) - fabs(branches[1])));
        assert_true(left < 1e-9);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(loops),
        cmocka_unit_test(heavy_top_has_no_trend),
        cmocka_unit_test(six_body_linkage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
