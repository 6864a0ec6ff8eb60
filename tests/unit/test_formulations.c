/* test_formulations.c - the registry, the choice among methods, and the reasons they give.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

static const double z_axis[3] = {0, 0, 1}, first[3] = {1, 0, 0}, second[3] = {1, 1, 0};

static lw_spec *arm(void) {
    lw_spec *spec = lw_spec_create("arm");
    add_plain_body(spec, "upper");
    add_plain_body(spec, "lower");
    add_plain_joint(spec, "shoulder", LW_JOINT_REVOLUTE, LW_GROUND, "upper", NULL, z_axis);
    add_plain_joint(spec, "elbow", LW_JOINT_REVOLUTE, "upper", "lower", first, z_axis);
    return spec;
}

static void every_method_tells_about_itself(void **state) {
    (void)state;
    assert_true(lw_method_count() >= 1);
    assert_int_equal(lw_method_count(), lw_formulation_count());
    for (int k = 0; k < lw_method_count(); k++) {
        lw_method_info info = lw_method_at(k);
        const lw_formulation *f = lw_formulation_at(k);
        assert_ptr_equal(lw_formulation_find(info.name), f);
        assert_string_not_equal(info.name, "auto");
        assert_true(info.source[0] && info.cost[0] && info.summary[0] && info.coordinates[0]);
        for (int i = 0; i < k; i++) assert_string_not_equal(info.name, lw_method_at(i).name);
        /* the table is complete: it offers something to integrate, and every conversion */
        assert_true(f->derivative || f->residual || f->step);
        assert_true(f->applies && f->create && f->destroy && f->to_state && f->from_state &&
                    f->accelerations);
    }
    assert_null(lw_formulation_at(-1));
    assert_null(lw_formulation_at(lw_formulation_count()));
    assert_null(lw_formulation_find("Tree"));
    assert_null(lw_formulation_find(""));
}

static void every_integrator_tells_about_itself(void **state) {
    (void)state;
    static const char *const expected[] = {"rk4", "erk", "adams", "bdf", "ida"};
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        bool found = false;
        for (int k = 0; k < lw_integrator_count(); k++)
            found |= strcmp(lw_integrator_name(k), expected[e]) == 0;
        assert_true(found);
    }
    for (int k = 0; k < lw_integrator_count(); k++) assert_true(lw_integrator_summary(k)[0]);
}

static void unknown_methods(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(arm());
    lw_error error = {0};
    assert_int_equal(lw_method_applies("tre", model, &error), LW_ERROR_ARGUMENT);
    assert_string_equal(error.message, "unknown method \"tre\"");
    assert_string_equal(error.remedy, "did you mean \"tree\"?");
    assert_int_equal(error.status, LW_ERROR_ARGUMENT);
    assert_int_equal(lw_method_applies("atuo", model, &error), LW_ERROR_ARGUMENT);
    assert_string_equal(error.remedy, "did you mean \"auto\"?");
    assert_int_equal(lw_method_applies("featherstone", model, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.remedy, "known are auto, tree"));
    double q[2] = {0}, v[2] = {0}, vdot[2];
    assert_int_equal(lw_accelerations(model, "tre", 0, q, v, vdot, NULL, NULL, &error), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_accelerations(model, "tre", 0, q, v, vdot, NULL, NULL, NULL), LW_ERROR_ARGUMENT);
    lw_model_destroy(model);
}

/* A sentence: object, what is so, why not, and what to do. */
static void tree_refuses(lw_spec *spec, const char *object, const char *message, const char *remedy) {
    lw_model *model = compile_or_fail(spec);
    lw_error error = {0};
    assert_int_equal(lw_method_applies("tree", model, &error), LW_ERROR_UNSUPPORTED);
    assert_int_equal(error.status, LW_ERROR_UNSUPPORTED);
    assert_string_equal(error.object, object);
    if (!strstr(error.message, message)) fail_msg("\"%s\" is not in \"%s\"", message, error.message);
    if (!strstr(error.remedy, remedy)) fail_msg("\"%s\" is not in \"%s\"", remedy, error.remedy);
    assert_int_equal(lw_method_applies("tree", model, NULL), LW_ERROR_UNSUPPORTED);
    lw_model_destroy(model);
}

static void reasons_of_tree(void **state) {
    (void)state;
    lw_spec *spec = arm();
    add_plain_joint(spec, "closing", LW_JOINT_REVOLUTE, "lower", LW_GROUND, second, z_axis);
    lw_spec_joint(spec, 2)->cut = true;
    tree_refuses(spec, "joint \"closing\"",
                 "closes a loop (1 loop in all), and method tree handles trees only",
                 "open the loop, or take a method for closed loops");

    spec = arm();
    add_plain_joint(spec, "closing", LW_JOINT_REVOLUTE, "lower", LW_GROUND, second, z_axis);
    add_plain_joint(spec, "again", LW_JOINT_SPHERICAL, "lower", LW_GROUND, second, NULL);
    lw_spec_joint(spec, 2)->cut = lw_spec_joint(spec, 3)->cut = true;
    tree_refuses(spec, "joint \"closing\"", "(2 loops in all)", "open the loop");

    static const lw_constraint_spec constraints[] = {
        {.name = "c", .type = LW_CONSTRAINT_DISTANCE, .bodies = {"lower", LW_GROUND}, .length = 1},
        {.name = "c", .type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"elbow"}, .factors = {1}},
        {.name = "c",
         .type = LW_CONSTRAINT_ROLLING,
         .bodies = {"lower", LW_GROUND},
         .radius = 1,
         .normal = {0, 0, 1}}};
    static const char *const kinds[] = {"is a distance constraint", "is a coupling constraint",
                                        "is a rolling constraint"};
    for (int k = 0; k < 3; k++) {
        spec = arm();
        add_constraint(spec, constraints[k]);
        tree_refuses(spec, "constraint \"c\"", kinds[k], "leave it out, or take a method for constraints");
    }

    spec = arm(); /* nothing beyond the elbow resists */
    lw_spec_body(spec, 1)->mass = 0;
    memset(lw_spec_body(spec, 1)->inertia, 0, sizeof lw_spec_body(spec, 1)->inertia);
    tree_refuses(spec, "joint \"elbow\"",
                 "nothing it carries (body \"lower\" and beyond) resists its rotation (speed 0)",
                 "mass or inertia");

    spec = arm(); /* a point mass does not resist turning about itself, and something turns it */
    lw_body_spec *lower = lw_spec_body(spec, 1);
    lower->kind = LW_BODY_POINT;
    memset(lower->inertia, 0, sizeof lower->inertia);
    lower->com[0] = 1; /* the elbow's point */
    lw_spec_joint(spec, 1)->type = LW_JOINT_SPHERICAL;
    add_force(spec, (lw_force_spec){.name = "twist",
                                    .type = LW_FORCE_APPLIED,
                                    .bodies = {"lower", LW_GROUND},
                                    .points = {{1, 0, 0}},
                                    .torque = {"1", "2", "3"}});
    tree_refuses(spec, "joint \"elbow\"", "resists its rotation (speed 0)",
                 "give the bodies it carries mass");
}

/* A massless body that cannot move by itself, or that carries mass, is no trouble; nor is a
 * prescribed one. */
static void massless_bodies_that_tree_takes(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        lw_spec *spec = arm();
        lw_body_spec *light = lw_spec_body(spec, how == 0 ? 0 : 1);
        light->mass = 0;
        memset(light->inertia, 0, sizeof light->inertia);
        if (how == 1) lw_spec_joint(spec, 1)->type = LW_JOINT_WELD;
        if (how == 2) lw_spec_joint(spec, 1)->motion[0] = "t";
        lw_model *model = compile_or_fail(spec);
        lw_error error;
        assert_int_equal(lw_method_applies("tree", model, &error), LW_OK);
        lw_model_destroy(model);
    }
}

static void auto_says_which_and_why(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(arm());
    char why[200] = "";
    lw_error error = {0};
    const char *name = lw_method_auto(model, why, sizeof why, &error);
    assert_string_equal(name, "tree"); /* nothing is faster where it applies */
    assert_true(strlen(why) > 5);
    assert_int_equal(lw_method_applies(NULL, model, &error), LW_OK);
    assert_int_equal(lw_method_applies("auto", model, &error), LW_OK);
    lw_model_destroy(model);
}

/* Where no method applies there is a reason, and where one does, auto finds it. */
static void auto_finds_what_applies(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        lw_spec *spec = arm();
        if (how == 1) add_plain_joint(spec, "closing", LW_JOINT_REVOLUTE, "lower", LW_GROUND, second, z_axis);
        if (how == 2)
            add_constraint(spec,
                           (lw_constraint_spec){.name = "c", .bodies = {"lower", LW_GROUND}, .length = 1});
        lw_model *model = compile_or_fail(spec);
        lw_error error = {0};
        int applicable = 0;
        for (int k = 0; k < lw_method_count(); k++)
            applicable += lw_method_applies(lw_method_at(k).name, model, &error) == LW_OK;
        error = (lw_error){0};
        char why[200];
        const char *name = lw_method_auto(model, why, sizeof why, &error);
        assert_int_equal(name != NULL, applicable > 0);
        if (!name) assert_true(error.message[0] && error.remedy[0]);
        lw_model_destroy(model);
    }
}

/* All that apply agree on accelerations and reactions, and their states convert there and back. */
static void methods_agree_on_an_arm(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(arm());
    const double q[2] = {0.3, -0.8}, v[2] = {1, 2};
    double want[2], reactions[2][12];
    bool unique[12];
    lw_error error;
    assert_int_equal(lw_accelerations(model, "tree", 0, q, v, want, reactions[0], unique, &error), LW_OK);
    for (int k = 0; k < 12; k++) assert_true(unique[k]);
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        if (f->applies(model, &error) != LW_OK) continue;
        double vdot[2], back_q[2], back_v[2];
        assert_int_equal(lw_accelerations(model, f->name, 0, q, v, vdot, reactions[1], NULL, &error), LW_OK);
        double agreement = f->accuracy > 0 ? f->accuracy : 1e-9; /* methods may square the condition */
        assert_true(relative_difference(want, vdot, 2) < agreement);
        assert_true(relative_difference(reactions[0], reactions[1], 12) < agreement);
        lw_method *method;
        const lw_method_options options = {0};
        assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
        double y[256];
        assert_true(method->state_size <= 256);
        f->to_state(method, 0, q, v, y);
        f->from_state(method, 0, y, back_q, back_v);
        assert_true(relative_difference(q, back_q, 2) < 1e-12 && relative_difference(v, back_v, 2) < 1e-12);
        f->destroy(method);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_tells_about_itself),
        cmocka_unit_test(every_integrator_tells_about_itself),
        cmocka_unit_test(unknown_methods),
        cmocka_unit_test(reasons_of_tree),
        cmocka_unit_test(massless_bodies_that_tree_takes),
        cmocka_unit_test(auto_says_which_and_why),
        cmocka_unit_test(auto_finds_what_applies),
        cmocka_unit_test(methods_agree_on_an_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
