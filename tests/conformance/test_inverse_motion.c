/* test_inverse_motion.c - forces of drives over time.
 *
 *   round trip    random mechanisms: accelerations by forward dynamics -> forces -> the same accelerations, with the
 *                 forces as inputs of the model that the answer carries; a run with a law of force -> forces
 *                 -> a run with these forces as a table, which ends in the same state to 1e-8
 *   closed form   a pendulum by expressions, and by rows of its angle alone
 *   energy        a crank with prescribed motion: the work of its drive is what the energies change by
 *   closures      an imprecise motion is moved by what it is off and said to be; a contradiction is refused
 */
#include "closures.h"
#include "problems.h"
#include "random_loops.h"
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 160 };

static lw_inverse *forces_of(const lw_model *model, const lw_inverse_options *options) {
    lw_inverse *inverse;
    lw_error error = {0};
    if (lw_inverse_find(model, options, &inverse, &error) != LW_OK)
        fail_msg("%s: %s", lw_model_name(model), error.message);
    return inverse;
}

static void refused(const lw_model *model, const lw_inverse_options *options, lw_status wanted,
                    const char *says) {
    lw_inverse *inverse;
    lw_error error = {0};
    const lw_status status = lw_inverse_find(model, options, &inverse, &error);
    assert_null(inverse);
    if (status != wanted || !strstr(error.message, says))
        fail_msg("status %d, \"%s\", and not \"%s\"", (int)status, error.message, says);
}

static void near(double expected, double found, double tolerance) {
    if (!(fabs(expected - found) <= tolerance * (1 + fabs(expected))))
        fail_msg("%.15g and not %.15g", found, expected);
}

/* --- round trips ----------------------------------------------------------------------------------- */

/* One instant of a mechanism under random forces. Mechanisms whose accelerations the method itself has to
 * 1e-9 only, next to singular positions, are left out. */
static int trip(const lw_model *model, double t, const double *q, const double *v, lw_random *random,
                int seed) {
    double tau[MOST], vdot[MOST], again[MOST], size = 1;
    lw_solver *solver, *other;
    lw_solver_options options;
    lw_error error = {0};
    lw_solver_defaults(model, &options);
    options.t = t, options.q = q, options.v = v;
    if (lw_solver_create(model, &options, NULL, &solver, NULL) != LW_OK) return 0;
    for (int k = 0; k < model->nv; k++) tau[k] = random_between(random, -1, 1);
    lw_status status = lw_solver_accelerations(solver, t, q, v, tau, vdot, NULL);
    lw_solver_destroy(solver);
    if (status != LW_OK) return 0;
    for (int k = 0; k < model->nv; k++) size = fmax(size, fabs(vdot[k]));
    if (size > 1e5) return 0;
    lw_inverse_options asked;
    lw_inverse_defaults(model, &asked);
    const lw_motion_table motion = {.samples = 1, .t = &t, .q = q, .v = v, .vdot = vdot};
    asked.motion = &motion;
    const char *driven[MOST]; /* all joints, those without drives too */
    for (int j = 0; j < model->joint_count; j++)
        if (!model->joints[j].info.cut && model->joints[j].joint.nv > 0)
            driven[asked.drive_count++] = model->joints[j].name;
    asked.drives = driven;
    lw_inverse *inverse = forces_of(model, &asked);
    for (int k = 0; k < model->nv; k++)
        if (!(fabs(inverse->vdot[k] - vdot[k]) < 1e-8 * size))
            fail_msg("seed %d: acceleration %d was moved by %g", seed, k, inverse->vdot[k] - vdot[k]);
    double inputs[MOST];
    lw_sample sample;
    lw_ledger ledger;
    assert_int_equal(lw_inverse_sample(inverse, 0, inputs, &ledger, &sample), LW_OK);
    lw_solver_defaults(inverse->model, &options);
    options.t = t, options.q = sample.q, options.v = sample.v, options.inputs = inputs;
    if (lw_solver_create(inverse->model, &options, NULL, &other, &error) != LW_OK ||
        lw_solver_accelerations(other, t, sample.q, sample.v, NULL, again, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    for (int k = 0; k < model->nv; k++)
        if (!(fabs(again[k] - vdot[k]) < 1e-7 * size))
            fail_msg("seed %d: acceleration %d is %.12g and not %.12g", seed, k, again[k], vdot[k]);
    lw_solver_destroy(other);
    lw_inverse_destroy(inverse);
    return 1;
}

static void random_mechanisms(void **state) {
    (void)state;
    int count = 0;
    for (int seed = 1; seed <= 240; seed++) {
        random_loops loops;
        lw_model *model;
        double q[MOST], v[MOST];
        random_loops_build(&loops, seed);
        if (lw_model_compile(loops.spec, NULL, NULL, &model) == LW_OK) {
            if (model->nv < MOST && random_loops_state(&loops, model, true, q, v))
                count += trip(model, loops.t, q, v, &loops.random, seed);
            lw_model_destroy(model);
        }
        lw_spec_destroy(loops.spec);
    }
    if (count < 150) fail_msg("only %d mechanisms came back", count);
}

/* --- a run and back -------------------------------------------------------------------------------- */

typedef struct history {
    int count, nq, nv;
    double *t, *q, *v, *vdot;
} history;

static bool keep(const lw_sample *sample, void *context) {
    history *h = context;
    const size_t row = (size_t)h->count++;
    h->t[row] = sample->t;
    memcpy(h->q + row * (size_t)h->nq, sample->q, (size_t)h->nq * sizeof(double));
    memcpy(h->v + row * (size_t)h->nv, sample->v, (size_t)h->nv * sizeof(double));
    memcpy(h->vdot + row * (size_t)h->nv, sample->vdot, (size_t)h->nv * sizeof(double));
    return true;
}

static const char crank_text[] =
    "linkwork: 1\nname: driven crank\n"
    "bodies:\n"
    "  crank: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-2, 1e-2]}\n"
    "  rod: {mass: 2, com: [0.45, 0, 0], inertia: [1e-3, 6e-2, 6e-2]}\n"
    "  piston: {mass: 0.5, com: [0.7, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}\n"
    "joints:\n"
    "  pin: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], q: 0.5}\n"
    "  knee: {type: revolute, between: [crank, rod], point: [0.2, 0, 0], axis: [0, 1, 0]}\n"
    "  wrist: {type: revolute, between: [rod, piston], point: [0.7, 0, 0], axis: [0, 1, 0], cut: true}\n"
    "  slide: {type: prismatic, between: [ground, piston], axis: [1, 0, 0]}\n"
    "forces:\n"
    "  motor: {type: drive, joint: pin, force: %s}\n"
    "  brake: {type: friction, joint: slide, viscous: 3}\n"
    "run: {end: 1, tolerance: 1e-12}\n";

static lw_model *crank_with(const char *law, const double *force, const double *t, int count) {
    char text[2048];
    snprintf(text, sizeof text, crank_text, law);
    lw_spec *spec = read_text_spec(text);
    if (force) {
        const lw_table_spec table = {
            .name = "found", .size = count, .x = t, .y = force, .interpolation = LW_INTERPOLATION_SMOOTH};
        assert_int_equal(lw_spec_add_table(spec, &table), LW_OK);
        lw_spec_force(spec, 0)->drive = "found(t)";
    }
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    return model;
}

static void run_and_back(void **state) {
    (void)state;
    enum { ROWS = 4001 };
    lw_model *model = crank_with("4*cos(7*t) - 0.2*v", NULL, NULL, 0);
    lw_run_options run;
    lw_error error = {0};
    double q[2][8], v[2][8];
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    history h = {.nq = nq, .nv = nv};
    h.t = calloc(ROWS + 2, sizeof(double)), h.q = calloc((ROWS + 2) * (size_t)nq, sizeof(double));
    h.v = calloc((ROWS + 2) * (size_t)nv, sizeof(double));
    h.vdot = calloc((ROWS + 2) * (size_t)nv, sizeof(double));
    lw_run_defaults(model, &run);
    run.output = 1.0 / (ROWS - 1), run.want_accelerations = true, run.observe = keep, run.context = &h;
    assert_int_equal(lw_simulate(model, &run, q[0], v[0], NULL, &error), LW_OK);
    assert_int_equal(h.count, ROWS);
    /* The motor alone, by name and by default; the friction stays a force of the model. */
    const lw_motion_table motion = {.samples = h.count, .t = h.t, .q = h.q, .v = h.v, .vdot = h.vdot};
    const char *const motor[] = {"motor"};
    double *force = calloc(ROWS, sizeof *force);
    for (int named = 0; named < 2; named++) {
        lw_inverse_options asked;
        lw_inverse_defaults(model, &asked);
        asked.motion = &motion;
        if (named) asked.drives = motor, asked.drive_count = 1;
        lw_inverse *inverse = forces_of(model, &asked);
        assert_int_equal(inverse->drives, 1);
        assert_string_equal(inverse->names[0], "motor");
        assert_string_equal(inverse->units[0], "N m");
        assert_true(inverse->unique[0] && inverse->differences == 0 && inverse->balance < 1e-8);
        const int pin = lw_model_joint_info(model, lw_model_joint(model, "pin")).v;
        for (int i = 0; i < ROWS; i++) {
            const double law = 4 * cos(7 * h.t[i]) - 0.2 * h.v[i * nv + pin];
            force[i] = inverse->forces[i];
            near(law, force[i], 1e-9); /* accelerations pass the balance check to 1e-10 */
        }
        lw_inverse_destroy(inverse);
    }
    lw_model *again = crank_with("0", force, h.t, h.count);
    lw_run_defaults(again, &run);
    assert_int_equal(lw_simulate(again, &run, q[1], v[1], NULL, &error), LW_OK);
    for (int k = 0; k < nq; k++) near(q[0][k], q[1][k], 1e-8);
    for (int k = 0; k < nv; k++) near(v[0][k], v[1][k], 1e-8);
    /* Without accelerations, and without speeds: differences of rows 1/4000 s apart. */
    for (int less = 0; less < 2; less++) {
        lw_motion_table fewer = motion;
        lw_inverse_options asked;
        fewer.vdot = NULL;
        if (less) fewer.v = NULL;
        lw_inverse_defaults(model, &asked);
        asked.motion = &fewer;
        lw_inverse *inverse = forces_of(model, &asked);
        assert_true(inverse->differences > 0 && inverse->differences < 1e-5);
        for (int i = 0; i < ROWS; i++) near(force[i], inverse->forces[i], less ? 1e-5 : 1e-8);
        lw_inverse_destroy(inverse);
    }
    lw_model_destroy(again);
    lw_model_destroy(model);
    free(force), free(h.t), free(h.q), free(h.v), free(h.vdot);
}

/* --- closed forms ---------------------------------------------------------------------------------- */

static void pendulum(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec("linkwork: 1\nname: pendulum\nparameters: {w: 3}\n"
                                   "bodies: {bob: {kind: point, mass: 2, com: [0, 0, -0.5]}}\n"
                                   "joints: {pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], "
                                   "axis: [0, 1, 0]}}\nrun: {end: 2}\n");
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    lw_inverse_options asked;
    lw_inverse_defaults(model, &asked);
    asked.coordinates = (const char *[]){"pin"}, asked.expressions = (const char *[]){"0.4*sin(w*t)"};
    asked.coordinate_count = 1;
    lw_inverse *inverse = forces_of(model, &asked);
    assert_int_equal(inverse->samples, 1001);
    near(2, inverse->t[1000], 1e-14);
    double t[201], q[201];
    for (int i = 0; i < inverse->samples; i++) {
        const double a = 0.4 * sin(3 * inverse->t[i]), rate = -9 * a;
        near(2 * 0.25 * rate + 2 * 9.81 * 0.5 * sin(a), inverse->forces[i], 1e-12);
    }
    for (int i = 0; i < 201; i++) /* rows at distances of their own */
        t[i] = 2 * (i + 0.3 * sin(0.7 * i)) / 200, q[i] = 0.4 * sin(3 * t[i]);
    const lw_motion_table motion = {.samples = 201, .t = t, .q = q};
    lw_inverse_defaults(model, &asked);
    asked.motion = &motion;
    lw_inverse *rows = forces_of(model, &asked);
    for (int i = 0; i < 201; i++)
        near(-4.5 * q[i] + 9.81 * sin(q[i]), rows->forces[i], 1e-6); /* (3 h)^5 at the ends */
    lw_inverse_destroy(rows);
    lw_inverse_destroy(inverse);
    /* refusals */
    double bad[3] = {0, NAN, 0}, times[3] = {0, 1, 2}, jump[8] = {0, 0, 0, 0, 1, 1, 1, 1},
           even[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const lw_motion_table holes = {.samples = 3, .t = times, .q = bad};
    asked.motion = &holes;
    refused(model, &asked, LW_ERROR_ARGUMENT, "some rows only");
    const lw_motion_table jumps = {.samples = 8, .t = even, .q = jump};
    asked.motion = &jumps;
    refused(model, &asked, LW_ERROR_ARGUMENT, "too far apart");
    const lw_motion_table turned = {.samples = 2, .t = (double[]){1, 0}, .q = bad};
    asked.motion = &turned;
    refused(model, &asked, LW_ERROR_ARGUMENT, "t[1]");
    lw_inverse_defaults(model, &asked);
    asked.coordinate_count = 1;
    asked.coordinates = (const char *[]){"pim"}, asked.expressions = (const char *[]){"t"};
    refused(model, &asked, LW_ERROR_ARGUMENT, "no coordinate of that name");
    asked.coordinates = (const char *[]){"pin"}, asked.expressions = (const char *[]){"t +"};
    refused(model, &asked, LW_ERROR_MODEL, "");
    asked.expressions = (const char *[]){"t"};
    asked.drives = (const char *[]){"motor"}, asked.drive_count = 1;
    refused(model, &asked, LW_ERROR_ARGUMENT, "no drive, joint or coordinate");
    asked.drives = (const char *[]){"pin"}, asked.drive_count = 0;
    refused(model, &asked, LW_ERROR_SINGULAR, "cannot produce this motion");
    lw_inverse_defaults(model, &asked);
    refused(model, &asked, LW_ERROR_ARGUMENT, "says nothing of \"pin\"");
    lw_model_destroy(model);
}

/* The power of a prescribing drive is the rate of the energies: by Simpson's rule over the whole turn. */
static void prescribed(void **state) {
    (void)state;
    char text[2048], *at;
    snprintf(text, sizeof text, crank_text, "0");
    at = strstr(text, "q: 0.5");
    memcpy(at, "      ", 6);
    at[-2] = ' ';
    char whole[2300];
    snprintf(whole, sizeof whole, "%.*s, motion: [0.3 + 2*t + sin(3*t)]%s", (int)(at - text), text, at + 6);
    /* no friction: energies alone */
    at = strstr(whole, "viscous: 3");
    at[9] = '0';
    lw_spec *spec = read_text_spec(whole);
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    lw_inverse_options asked;
    lw_inverse_defaults(model, &asked);
    asked.end = 1, asked.output = 1e-3;
    lw_inverse *inverse = forces_of(model, &asked);
    assert_int_equal(inverse->drives, 1);
    assert_int_equal(inverse->input_of[0], -1);
    const int pin = lw_model_joint_info(model, lw_model_joint(model, "pin")).v, nv = lw_model_v_size(model),
              nq = lw_model_q_size(model);
    double work = 0, energy[2];
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int side = 0; side < 2; side++) {
        const int row = side * 1000;
        const lw_energy e =
            lw_energy_of(model, data, inverse->t[row], inverse->q + row * nq, inverse->v + row * nv);
        energy[side] = e.kinetic + e.potential;
    }
    for (int i = 0; i <= 1000; i++)
        work += inverse->forces[i] * inverse->v[i * nv + pin] *
                (i == 0 || i == 1000 ? 1
                 : i % 2             ? 4
                                     : 2) *
                1e-3 / 3;
    near(energy[1] - energy[0], work, 1e-8); /* h^4 times fourth derivatives */
    lw_data_destroy(data);
    lw_inverse_destroy(inverse);
    lw_model_destroy(model);
}

/* --- closures -------------------------------------------------------------------------------------- */

static void moved(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_inverse_options asked;
    lw_inverse_defaults(model, &asked);
    asked.end = 0.2;
    asked.coordinates = (const char *[]){"A", "D"};
    asked.expressions = (const char *[]){"6*t", "t"};
    asked.coordinate_count = 2;
    refused(model, &asked, LW_ERROR_ARGUMENT, "contradicts the closures");
    asked.coordinate_count = 1;
    lw_inverse *exact = forces_of(model, &asked);
    assert_true(exact->moved[0] < 1e-12 && exact->moved[1] < 1e-12 && exact->moved[2] < 1e-11);
    /* All coordinates, 1e-6 off at one of them: moved by no more than that, and said so. */
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    double *q = calloc((size_t)(exact->samples * nq), sizeof *q);
    memcpy(q, exact->q, (size_t)(exact->samples * nq) * sizeof *q);
    const int at = lw_model_joint_info(model, lw_model_joint(model, "D")).q;
    q[500 * nq + at] += 1e-6;
    lw_motion_table motion = {
        .samples = exact->samples, .t = exact->t, .q = q, .v = exact->v, .vdot = exact->vdot};
    lw_inverse_defaults(model, &asked);
    asked.motion = &motion;
    lw_inverse *off = forces_of(model, &asked);
    assert_true(off->moved[0] > 1e-8 && off->moved[0] < 1e-6);
    near(exact->t[500], off->moved_at[0], 1e-12);
    assert_true(off->moved_name[0] && off->moved_name[0][0]);
    for (int k = 0; k < nq; k++) near(exact->q[499 * nq + k], off->q[499 * nq + k], 1e-12);
    assert_true(lw_model_v_size(model) == nv);
    q[500 * nq + at] += 0.1;
    refused(model, &asked, LW_ERROR_ARGUMENT, "position of");
    lw_inverse_destroy(off);
    lw_inverse_destroy(exact);
    free(q);
    /* A drive that is not enough: the five-bar's two freedoms. */
    lw_model_destroy(model);
    model = read_problem("double_pendulum");
    lw_inverse_defaults(model, &asked);
    asked.coordinates = (const char *[]){"pin", "elbow"};
    asked.expressions = (const char *[]){"t", "t^2"};
    asked.coordinate_count = 2, asked.end = 0.1;
    asked.drives = (const char *[]){"pin"}, asked.drive_count = 1;
    refused(model, &asked, LW_ERROR_SINGULAR, "elbow");
    asked.drives = NULL;
    asked.expressions = (const char *[]){"t", "sqrt(-1 - t)"};
    refused(model, &asked, LW_ERROR_MODEL, "not finite");
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_mechanisms), cmocka_unit_test(run_and_back), cmocka_unit_test(pendulum),
        cmocka_unit_test(prescribed),        cmocka_unit_test(moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
