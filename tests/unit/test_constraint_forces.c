/* test_constraint_forces.c - reactions of closures by the three schemes of blajer1994: the same, and in balance on every body.
 */
#include "random_loops.h"
#include "build.h"
#include "dynamics/tree_dynamics.h"
#include "formulations/partition/constraint_forces.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MECHANISMS = 400, MAX_NV = 6 * LOOP_BODIES, MAX_NQ = 7 * LOOP_BODIES, LOADS = 6 * LOOP_JOINTS };

static lw_method *make_method(const lw_model *model) {
    const lw_formulation *f = lw_formulation_find("partition");
    const lw_method_options options = {0};
    lw_error error = {0};
    lw_method *method;
    if (f->create(model, &options, &method, &error) != LW_OK) fail_msg("%s", error.message);
    return method;
}

/* What is left on any body, about the world's origin: all joints transmit `reactions`, the tree alone would need `tree` (inverse
 * dynamics) for the same accelerations. Relative to the largest wrench. For mechanisms without constraints. */
static double imbalance(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                        const double *vdot, const double *reactions) {
    double tree[LOADS], net[6 * (LOOP_BODIES + 1)] = {0}, scale = 1, worst = 0;
    lw_open_reactions(model, data, t, q, v, vdot, tree);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        const lw_pose *second = &data->world[entry->info.bodies[1]];
        double at[3], force[3], torque[3];
        lw_pose_point(second->R, second->p, entry->frames[1].p, at);
        for (int k = 0; k < 3; k++) {
            force[k] = reactions[6 * j + k] - tree[6 * j + k];
            torque[k] = reactions[6 * j + 3 + k] - tree[6 * j + 3 + k];
        }
        for (int k = 0; k < 6; k++)
            scale = fmax(scale, fmax(fabs(reactions[6 * j + k]), fabs(tree[6 * j + k])));
        lw_v3_add_cross(at, force, torque);
        for (int k = 0; k < 3; k++) {
            net[6 * entry->info.bodies[1] + k] += force[k],
                net[6 * entry->info.bodies[1] + 3 + k] += torque[k];
            net[6 * entry->info.bodies[0] + k] -= force[k],
                net[6 * entry->info.bodies[0] + 3 + k] -= torque[k];
        }
    }
    for (int k = 6; k < 6 * (model->body_count + 1); k++) worst = fmax(worst, fabs(net[k]));
    return worst / scale;
}

static void schemes_agree(void **state) {
    (void)state;
    double worst[LW_SCHEMES] = {0}, worst_balance[LW_SCHEMES] = {0};
    int balanced = 0, closed = 0;
    for (int seed = 0; seed < MECHANISMS; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        double q[MAX_NQ], v[MAX_NV], vdot[LW_SCHEMES][MAX_NV], reactions[LW_SCHEMES][LOADS], largest = 0;
        bool unique[LW_SCHEMES][LOADS];
        random_loops_state(&loops, model, seed % 5 < 3, q, v);
        lw_method *method = make_method(model);
        lw_error error = {0};
        for (int s = 0; s < LW_SCHEMES; s++) {
            method->formulation->schemes->use(method, s);
            lw_status status = method->formulation->accelerations(method, loops.t, q, v, NULL, vdot[s],
                                                                  reactions[s], unique[s], &error);
            if (status != LW_OK)
                fail_msg("seed %d, scheme %s: %s", seed, lw_scheme_name((lw_scheme)s), error.message);
        }
        for (int k = 0; k < 6 * model->joint_count; k++)
            largest = fmax(largest, fabs(reactions[0][k])); /* of all: those that are unique may be zero */
        for (int s = 0; s < LW_SCHEMES; s++) {
            for (int k = 0; k < 6 * model->joint_count; k++) {
                assert_int_equal(unique[s][k], unique[0][k]);
                if (!unique[0][k] || !(largest > 0)) continue;
                double difference = fabs(reactions[s][k] - reactions[0][k]) / largest;
                worst[s] = fmax(worst[s], difference);
                if (!(difference <= 1e-10))
                    fail_msg("seed %d, %s: scheme %s differs from (38) by %g of the largest", seed,
                             loop_kind_name(loops.kind), lw_scheme_name((lw_scheme)s), difference);
            }
            if (model->constraint_count) continue; /* they take what they can, and are no joints */
            double left = imbalance(model, data, loops.t, q, v, vdot[s], reactions[s]);
            worst_balance[s] = fmax(worst_balance[s], left);
            balanced += s == 0;
            if (!(left <= 1e-10)) /* unique or not */
                fail_msg("seed %d: scheme %s leaves %g on a body", seed, lw_scheme_name((lw_scheme)s), left);
        }
        closed += model->closure_count > 0;
        method->formulation->destroy(method);
        lw_data_destroy(data);
        lw_model_destroy(model);
    }
    print_message("%d mechanisms, %d with closures, %d in balance\n", MECHANISMS, closed, balanced);
    for (int s = 0; s < LW_SCHEMES; s++)
        print_message("scheme %s: differs from (38) by at most %.1e, leaves %.1e\n",
                      lw_scheme_name((lw_scheme)s), worst[s], worst_balance[s]);
    assert_true(balanced > MECHANISMS / 2);
}

/* A weight that hangs on two hinges of a square frame: the reaction at the cut is a force in newtons along the joint's own
 * directions, whatever the size of the rows. By hand: a point mass m on a massless, symmetric pair of rods at 45 degrees
 * at rest carries m g / (2 sin 45) in each rod. */
static void reactions_are_physical(void **state) {
    (void)state;
    const double mass = 8, g = 10, z[3] = {0, 0, 1};
    lw_spec *spec = lw_spec_create("gable");
    lw_spec_set_gravity(spec, (double[3]){0, -g, 0});
    /* rods of no mass from (-1, 0) and (1, 0) to the top (0, 1); the load sits at the top of the left one */
    add_body(spec, (lw_body_spec){.name = "left", .mass = mass, .com = {0, 1, 0}});
    add_body(spec, (lw_body_spec){
                       .name = "right", .mass = 1e-3, .com = {0.5, 0.5, 0}, .inertia = {1e-6, 1e-6, 1e-6}});
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, LW_GROUND, "left", (double[3]){-1, 0, 0}, z);
    add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, LW_GROUND, "right", (double[3]){1, 0, 0}, z);
    lw_joint_spec top = {.name = "top", .type = LW_JOINT_REVOLUTE, .bodies = {"left", "right"}, .cut = true};
    top.geometry[0] = (lw_joint_geometry){.point = {0, 1, 0}, .axes = {{0, 0, 1}}, .axis_count = 1};
    add_joint(spec, top);
    lw_model *model = compile_or_fail(spec);
    lw_method *method = make_method(model);
    const double q[2] = {0, 0}, v[2] = {0, 0}, weight = mass * g;
    for (int s = 0; s < LW_SCHEMES; s++) {
        double vdot[2], reactions[18];
        bool unique[18];
        lw_error error = {0};
        method->formulation->schemes->use(method, s);
        assert_int_equal(
            method->formulation->accelerations(method, 0, q, v, NULL, vdot, reactions, unique, &error),
            LW_OK);
        const double *pin =
            reactions + 12; /* of the left on the right rod: down its axis, with half of the weight */
        assert_true(unique[12] && unique[13]);
        assert_true(fabs(pin[0] - weight / 2) < 1e-3 * weight &&
                    fabs(pin[1] + weight / 2) < 1e-3 * weight); /* right rod: 1e-3 kg */
    }
    method->formulation->destroy(method);
    lw_model_destroy(model);
}

/* A slider without mass, pushed along x by 3 N and held by a rod (a distance) to a crank: M is singular, the motion is not.
 * Only (35) has no answer. The rod carries 3 N / cos, so the slider's guide 3 N tan of the rod's angle. */
static void massless_slider(void **state) {
    (void)state;
    const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0}, push = 3, place = 2.6;
    lw_spec *spec = lw_spec_create("massless slider");
    add_body(spec,
             (lw_body_spec){.name = "crank", .mass = 1, .com = {0.3, 0.4, 0}, .inertia = {0.1, 0.1, 0.1}});
    add_body(spec, (lw_body_spec){.name = "slider"});
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "crank", (double[3]){0, 0, 0}, z);
    add_plain_joint(spec, "guide", LW_JOINT_PRISMATIC, LW_GROUND, "slider", (double[3]){place, 0, 0}, x);
    add_constraint(spec, (lw_constraint_spec){.name = "rod",
                                              .type = LW_CONSTRAINT_DISTANCE,
                                              .bodies = {"crank", "slider"},
                                              .points = {{0.6, 0.8, 0}, {place, 0, 0}}});
    add_force(spec, (lw_force_spec){.name = "push",
                                    .type = LW_FORCE_APPLIED,
                                    .bodies = {"slider"},
                                    .points = {{place, 0, 0}},
                                    .force = {"3", NULL, NULL}});
    lw_model *model = compile_or_fail(spec);
    lw_error error = {0};
    assert_int_equal(lw_formulation_find("partition")->applies(model, &error), LW_OK);
    lw_method *method = make_method(model);
    const double q[2] = {0, 0},
                 v[2] = {1, 0.8 / (place - 0.6) * -1}; /* the slider follows: any speeds would do */
    for (int s = 0; s < LW_SCHEMES; s++) {
        double vdot[2], reactions[12];
        method->formulation->schemes->use(method, s);
        lw_status status =
            method->formulation->accelerations(method, 0, q, v, NULL, vdot, reactions, NULL, &error);
        if (s == LW_SCHEME_35) {
            assert_int_equal(status, LW_ERROR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "no inverse"));
            continue;
        }
        assert_int_equal(status, LW_OK);
        assert_true(fabs(fabs(reactions[7]) - push * 0.8 / (place - 0.6)) < 1e-12);
    }
    method->formulation->destroy(method);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_agree),
        cmocka_unit_test(reactions_are_physical),
        cmocka_unit_test(massless_slider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
