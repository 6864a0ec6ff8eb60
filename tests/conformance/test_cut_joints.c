/* test_cut_joints.c - a loop moves in the same way wherever it is cut, also with springs, drives and friction in all of
 * its joints: those of the tree act on coordinates, that of the closure on the bodies.
 *
 * The four-bar linkage of problems/ from rest, by several methods and with each joint cut in turn, against the first run.
 */
#include "build.h"
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <stdio.h>
#include <string.h>

enum { JOINTS = 4, BODIES = 3, SAMPLES = 21, NUMBERS = 12 * BODIES };

typedef struct history {
    const lw_model *model;
    lw_data *data;
    int samples;
    double at[SAMPLES][NUMBERS];
    double energy[SAMPLES][4]; /* potential and the work of drives, forces, dissipation */
} history;

static bool keep(const lw_sample *sample, void *context) {
    history *h = context;
    assert_true(h->samples < SAMPLES);
    for (int i = 0; i < BODIES; i++) {
        static const char *const names[BODIES] = {"crank", "coupler", "rocker"};
        double *to = h->at[h->samples] + 12 * i;
        lw_body_pose(h->model, h->data, sample->t, sample->q, lw_model_body(h->model, names[i]), to, to + 3);
    }
    const lw_ledger *ledger = sample->ledger;
    double *energy = h->energy[h->samples++];
    energy[0] = ledger->potential, energy[1] = ledger->drives;
    energy[2] = ledger->forces, energy[3] = ledger->dissipation;
    return true;
}

/* The problem with elements in every joint, different in each, and the cut at one of them. */
static lw_model *linkage(int cut) {
    char name[32];
    lw_spec *spec = read_problem_spec("four_bar", NULL, 0);
    assert_int_equal(lw_spec_joint_count(spec), JOINTS);
    static const char *const drives[JOINTS] = {"30*cos(3*t)", "5*sin(2*t) - 2*q", "8 - 3*v", "20*sin(t + 1)"};
    for (int k = 0; k < JOINTS; k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, (size_t)k);
        joint->cut = k == cut;
        joint->has_v = false; /* a joint that is cut has no initial values to give */
        joint->v[0] = 0;
        snprintf(name, sizeof name, "spring%d", k);
        add_force(spec, (lw_force_spec){.name = name,
                                        .type = LW_FORCE_TORSION,
                                        .joint = joint->name,
                                        .stiffness = 10 + 5 * k,
                                        .damping = 1 + k,
                                        .free_length = 0.3 * k,
                                        .law = {.expression = k % 2 ? "2*x^3" : NULL}});
        snprintf(name, sizeof name, "drive%d", k);
        add_force(spec, (lw_force_spec){
                            .name = name, .type = LW_FORCE_DRIVE, .joint = joint->name, .drive = drives[k]});
        snprintf(name, sizeof name, "friction%d", k);
        add_force(spec, (lw_force_spec){.name = name,
                                        .type = LW_FORCE_FRICTION,
                                        .joint = joint->name,
                                        .viscous = 0.5,
                                        .coulomb = 2 + k,
                                        .smoothing = 0.2});
    }
    lw_model *model = compile_or_fail(spec);
    for (int k = 0; k < JOINTS; k++) assert_int_equal(lw_model_joint_info(model, k).cut, k == cut);
    return model;
}

static void run(int cut, const char *method, history *h) {
    lw_model *model = linkage(cut);
    lw_run_options options;
    lw_error error;
    lw_run_summary summary;
    memset(h, 0, sizeof *h);
    h->model = model;
    assert_int_equal(lw_data_create(model, NULL, &h->data), LW_OK);
    lw_run_defaults(model, &options);
    options.method = method;
    options.end = 2;
    options.output = options.end / (SAMPLES - 1);
    options.tolerance = 1e-12;
    options.observe = keep;
    options.context = h;
    if (lw_simulate(model, &options, NULL, NULL, &summary, &error) != LW_OK)
        fail_msg("cut %d, %s: %s", cut, method, error.message);
    assert_int_equal(h->samples, SAMPLES);
    lw_data_destroy(h->data);
    lw_model_destroy(model);
}

static void the_cut_does_not_matter(void **state) {
    (void)state;
    static const char *const methods[] = {"lagrange", "cut", "rcr", "relative", "nullspace"};
    static history first, other; /* large */
    run(0, methods[0], &first);
    /* it must be worth looking at: the crank turns by a good part of a radian */
    assert_true(relative_difference(first.at[0], first.at[SAMPLES - 1], NUMBERS) > 0.3);
    for (int cut = 0; cut < JOINTS; cut++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            run(cut, methods[m], &other);
            for (int k = 0; k < SAMPLES; k++) {
                /* the tolerance is 1e-12 per step, and friction forgets errors: measured 2e-13 and 1e-12 */
                double moved = relative_difference(first.at[k], other.at[k], NUMBERS);
                double worked = relative_difference(first.energy[k], other.energy[k], 4);
                if (!(moved < 1e-9) || !(worked < 1e-9))
                    fail_msg("cut %d, %s, sample %d: poses differ by %g, energies by %g", cut, methods[m], k,
                             moved, worked);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cut_does_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
