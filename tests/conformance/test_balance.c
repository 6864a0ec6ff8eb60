/* test_balance.c - the balance check on random mechanisms: what every method answers passes, and what is altered does not.
 *
 * Trees with all joints and forces, eight kinds of loops (redundant ones too) on three bases, trees and loops with bodies without
 * mass; every method that applies. Then an acceleration, a reaction or a multiplier is altered, and the check must see it: a tenth of
 * the largest wherever it moves anything, 1e-4 of it nearly everywhere (forces much larger than all reactions may act on a body).
 */
#include "random_loops.h"
#include "random_massless.h"
#include "formulations/common/checked_accelerations.h"
#include <linkwork/io.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double altered = 1e-4, plainly = 0.1;

typedef struct subject {
    const lw_model *model;
    int seed;
    const char *what;
    double t, *q, *v;
} subject;

static int answers, wrong, alterations, seen, unseen;
static double worst;

static double largest(const double *x, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
    return most;
}

static bool massless_somewhere(const lw_model *model) {
    for (int i = 1; i <= model->body_count; i++)
        if (!(model->links[i].inertia.mass > 0)) return true;
    return false;
}

/* Alters one number after the other and asks the check. Accelerations of bodies without mass may be anything. */
static void alter(const subject *s, lw_balance *balance, lw_balance_state *state, const lw_formulation *f,
                  double *vdot, double *reactions, double *multipliers) {
    const lw_model *model = s->model;
    int loads = 6 * model->joint_count, rows = lw_balance_multiplier_count(model);
    double fast = fmax(largest(vdot, model->nv), 1), strong = fmax(largest(reactions, loads), 1e-3);
    double *numbers[3] = {vdot, reactions, multipliers};
    const int counts[3] = {massless_somewhere(model) ? 0 : model->nv, loads, rows};
    const double size[3] = {fast, strong, strong};
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < counts[kind]; k += 1 + counts[kind] / 8) {
            double keep = numbers[kind][k];
            numbers[kind][k] += altered * size[kind];
            lw_balance_result result = lw_balance_check(balance, state);
            alterations++;
            if (result.amount > LW_BALANCE_ENOUGH) seen++;
            numbers[kind][k] = keep + plainly * size[kind];
            result = lw_balance_check(balance, state);
            numbers[kind][k] = keep;
            if (!(result.amount > LW_BALANCE_ENOUGH)) {
                unseen++;
                print_message(
                    "%s seed %d, method %s: number %d of kind %d altered, and nobody sees it: %g of %g\n",
                    s->what, s->seed, f->name, k, kind, result.amount, size[kind]);
            }
        }
}

static void put_to_check(const subject *s) {
    const lw_model *model = s->model;
    const lw_method_options options = {0};
    lw_checked *checked = lw_checked_create(model);
    lw_balance *balance = lw_balance_create(model);
    double *vdot = calloc((size_t)model->nv + 1, sizeof *vdot);
    double *reactions = calloc(6 * (size_t)model->joint_count + 1, sizeof *reactions);
    double *multipliers = calloc((size_t)lw_balance_multiplier_count(model) + 1, sizeof *multipliers);
    assert_true(checked && balance && vdot && reactions && multipliers);
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        lw_method *method;
        lw_error error = {0};
        double amount;
        if (f->borrows || f->applies(model, &error) != LW_OK) continue;
        if (f->create(model, &options, &method, &error) != LW_OK) continue;
        if (f->accelerations(method, s->t, s->q, s->v, NULL, vdot, reactions, NULL, &error) == LW_OK) {
            lw_status status = lw_checked_accelerations(
                checked, &(lw_checked_state){method, &options, s->t, s->q, s->v, NULL},
                (lw_checked_answer){.vdot = vdot, .reactions = reactions, .amount = &amount}, &error);
            if (status != LW_OK &&
                !(f->accuracy > 0)) /* an approximate method may be told that it is out of its depth */
                print_error("%s seed %d, method %s: %s: %s\n", s->what, s->seed, f->name, error.object,
                            error.message),
                    wrong++;
            answers++;
            if (status == LW_OK) worst = fmax(worst, amount);
            if (f->multipliers) f->multipliers(method, multipliers);
            lw_balance_state state = {.t = s->t,
                                      .q = s->q,
                                      .v = s->v,
                                      .vdot = vdot,
                                      .reactions = reactions,
                                      .multipliers = multipliers,
                                      .accuracy = f->accuracy,
                                      .speeds = f->speeds ? f->speeds(method) : s->v,
                                      .free_speeds = f->frees_speeds};
            if (!(f->accuracy > 0)) alter(s, balance, &state, f, vdot, reactions, multipliers);
        }
        f->destroy(method);
    }
    free(vdot), free(reactions), free(multipliers);
    lw_balance_destroy(balance);
    lw_checked_destroy(checked);
}

static int count_of(int usual) { return getenv("LINKWORK_LONG") ? 20 * usual : usual; }

static void test_trees(void **unused) {
    (void)unused;
    for (int seed = 0; seed < count_of(200); seed++) {
        lw_random random = random_seed((uint64_t)seed + 77000);
        random_tree options = {.bodies = 1 + random_below(&random, 7),
                               .forces = seed % 2,
                               .prescribed = seed % 3 == 1,
                               .reversed = seed % 4 < 2,
                               .aligned = seed % 5 < 3,
                               .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q);
        subject s = {model, seed, "tree", random_between(&random, 0, 3), q, q + model->nq};
        random_state(&random, model, s.q, s.v);
        put_to_check(&s);
        free(q);
        lw_model_destroy(model);
    }
}

static void test_loops(void **unused) {
    (void)unused;
    const int known =
        7537; /* rcr: what another selection of rows had left was added to those of the next loop */
    for (int number = 0; number <= count_of(400); number++) {
        int seed = number < count_of(400) ? number : known;
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q);
        subject s = {model, seed, loop_kind_name(loops.kind), loops.t, q, q + model->nq};
        random_loops_state(&loops, model, seed % 3 > 0, s.q, s.v);
        put_to_check(&s);
        free(q);
        lw_model_destroy(model);
    }
}

static void test_massless(void **unused) {
    (void)unused;
    /* initial positions that springs alone hold, out of balance */
    static const int unbalanced[] = {608, 678, 784, 1088, 1114, 1208, 1304, 1328, 1364, 1604};
    enum { UNBALANCED = sizeof unbalanced / sizeof *unbalanced };
    for (int k = 0; k < count_of(100) + UNBALANCED; k++) {
        int seed = k < UNBALANCED ? unbalanced[k] : k - UNBALANCED;
        lw_model *model = random_massless_model(
            (uint64_t)seed, 2 + seed % 6, seed % 2 ? HOLD_DAMPED : HOLD_SPRUNG, seed % 5 == 0 ? 1e-6 : 0);
        double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q);
        subject s = {model, seed, "massless tree", 0, q, q + model->nq};
        lw_model_initial_state(model, s.q, s.v);
        put_to_check(&s);
        free(q);
        lw_model_destroy(model);
    }
}

/* Two bars that stand on the ground and hold each other are a structure: accelerations are zero, and only the rows of the loop say
 * so, because forces at its three hinges can be found for any others. Speeds are rounding, which must excuse nothing. */
static void test_structure(void **unused) {
    (void)unused;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  one: {mass: 2, com: [0.5, 0.5, 0], inertia: [0.1, 0.1, 0.3]}\n"
        "  two: {mass: 3, com: [1.5, 0.5, 0], inertia: [0.1, 0.1, 0.5]}\n"
        "joints:\n"
        "  a: {type: revolute, between: [ground, one], point: [0, 0, 0], axis: [0, 0, 1]}\n"
        "  b: {type: revolute, between: [ground, two], point: [2, 0, 0], axis: [0, 0, 1]}\n"
        "  c: {type: revolute, between: [one, two], point: [1, 1, 0], axis: [0, 0, 1], cut: true}\n"
        "gravity: [0, 0, 0]\n";
    const double masses[2] = {2, 3}, moments[2] = {0.3, 0.5}; /* about the centres of mass */
    const double foot[2][2] = {{0, 0}, {2, 0}}, centre[2][2] = {{0.5, 0.5}, {1.5, 0.5}}, top[2] = {1, 1};
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    assert_int_equal(lw_read_model_text(text, sizeof text - 1, "text", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_balance *balance = lw_balance_create(model);
    assert_non_null(balance);
    for (int k = 0; k < 60; k++) {
        lw_random random = random_seed((uint64_t)k);
        const double scale = pow(10, -4 + k % 9), rounding = k % 3 ? random_between(&random, 0, 1e-15) : 0;
        const double small = k % 2 ? 1e-4 : 1; /* one of the two much less than the other */
        double q[2] = {0}, v[2] = {rounding, -0.3 * rounding};
        double vdot[2] = {random_between(&random, 0.5, 2) * scale,
                          random_between(&random, -2, -0.5) * small * scale};
        /* moments about the feet give the force G of bar two on bar one at the top */
        double reactions[18] = {0}, G[2], arm[2][2], moment[2], force[2][2];
        for (int i = 0; i < 2; i++) {
            double c[2] = {centre[i][0] - foot[i][0], centre[i][1] - foot[i][1]};
            arm[i][0] = top[0] - foot[i][0], arm[i][1] = top[1] - foot[i][1];
            moment[i] = (moments[i] + masses[i] * (c[0] * c[0] + c[1] * c[1])) * vdot[i];
            force[i][0] = -masses[i] * vdot[i] * c[1], force[i][1] = masses[i] * vdot[i] * c[0];
        }
        /* arm_0 x G = moment_0, -arm_1 x G = moment_1 */
        double det = -arm[0][1] * arm[1][0] + arm[0][0] * arm[1][1];
        G[0] = (arm[1][0] * moment[0] + arm[0][0] * moment[1]) / det;
        G[1] = (arm[1][1] * moment[0] + arm[0][1] * moment[1]) / det;
        for (int a = 0; a < 2; a++) {
            reactions[a] = force[0][a] - G[a];
            reactions[6 + a] = force[1][a] + G[a];
            reactions[12 + a] = -G[a];
        }
        const lw_balance_state state = {
            .q = q, .v = v, .speeds = v, .vdot = vdot, .reactions = reactions, .multipliers = q};
        lw_balance_result result = lw_balance_check(balance, &state);
        if (result.object != LW_BALANCE_CLOSURE || !(result.amount > 1e-3))
            fail_msg("case %d: accelerations %g, %g of a structure pass: %g at place %d", k, vdot[0], vdot[1],
                     result.amount, (int)result.object);
    }
    lw_balance_destroy(balance);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

/* A lift that holds still under a load at rest: nothing accelerates, so that the accuracy of an approximate method is that of the
 * forces, which it must not be refused for. */
static void test_rest(void **unused) {
    (void)unused;
    static const char text[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  lift: {mass: 10, inertia: [1, 1, 1]}\n"
        "  load: {mass: 300, inertia: [1, 1, 1]}\n"
        "joints:\n"
        "  rail: {type: prismatic, between: [ground, lift], axis: [0, 0, 1], motion: 0}\n"
        "  slide: {type: prismatic, between: [ground, load], axis: [0, 0, 1]}\n"
        "forces:\n"
        "  foot: {type: applied, body: load, against: lift, point: [0, 0, 0], force: [0, 0, 300*9.81]}\n";
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    assert_int_equal(lw_read_model_text(text, sizeof text - 1, "text", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    for (int m = 0; m < lw_method_count(); m++) {
        double q[2] = {0}, v[2] = {0}, vdot[2], reactions[12];
        lw_error error = {0};
        const char *method = lw_method_at(m).name;
        const lw_status status = lw_accelerations(model, method, 0, q, v, vdot, reactions, NULL, &error);
        if (status == LW_ERROR_UNSUPPORTED) continue;
        if (status != LW_OK) fail_msg("%s: %s", method, error.message);
        const double near = strcmp(method, "penalty") == 0 ? 1e-5 : 1e-12;
        assert_true(fabs(vdot[0]) < near && fabs(vdot[1]) < near);
        assert_true(fabs(reactions[2] - 310 * 9.81) < near * 310 * 9.81);
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees),     cmocka_unit_test(test_loops), cmocka_unit_test(test_massless),
        cmocka_unit_test(test_structure), cmocka_unit_test(test_rest),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    /* a spin that moves next to no inertia may be anything */
    if (wrong || seen < 0.99 * alterations || unseen > 1e-5 * alterations) status = 1;
    printf("%d answers, %d of them do not balance, the largest amount of the others %.2g; %d of %d "
           "alterations seen, %d plain ones "
           "not\n",
           answers, wrong, worst, seen, alterations, unseen);
    return status;
}
