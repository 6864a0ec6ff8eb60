/* test_spec.c - a spec owns deep copies, keeps order, grows; names and sizes of the kinds. */
#include <linkwork/spec.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static void a_new_spec_has_its_defaults(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("crane");
    assert_non_null(spec);
    assert_string_equal(lw_spec_name(spec), "crane");
    assert_string_equal(lw_spec_file(spec), "");
    const double *g = lw_spec_gravity(spec);
    assert_true(g[0] == 0 && g[1] == 0 && g[2] == -9.81);
    assert_null(lw_spec_run(spec)->method);
    assert_true(lw_spec_run(spec)->end == 0);
    assert_int_equal(lw_spec_body_count(spec) + lw_spec_joint_count(spec) + lw_spec_force_count(spec) +
                         lw_spec_constraint_count(spec) + lw_spec_parameter_count(spec),
                     0);
    assert_null(lw_spec_body(spec, 0));
    assert_null(lw_spec_joint(spec, 0));
    assert_null(lw_spec_force(spec, 0));
    assert_null(lw_spec_constraint(spec, 0));
    assert_null(lw_spec_parameter(spec, 0, NULL));
    lw_spec_destroy(spec);
    lw_spec_destroy(NULL);
}

static void settings_are_copied(void **state) {
    (void)state;
    char text[16] = "first";
    lw_spec *spec = lw_spec_create(text);
    assert_int_equal(lw_spec_set_file(spec, text), LW_OK);
    assert_int_equal(
        lw_spec_set_run(spec, &(lw_run_spec){.end = 2, .step = 0.1, .method = text, .drift = text}), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, text, 1.5), LW_OK);
    lw_spec_set_gravity(spec, (const double[3]){1, 2, 3});
    strcpy(text, "second");
    assert_int_equal(lw_spec_add_parameter(spec, text, 2.5), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, "first", 4.5), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_set_parameter(spec, "first", 3.5, NULL), LW_OK);
    lw_error error;
    assert_int_equal(lw_spec_set_parameter(spec, "frist", 3.5, &error), LW_ERROR_ARGUMENT);
    assert_string_equal(error.message, "there is no parameter \"frist\" to set");
    assert_string_equal(error.remedy, "did you mean \"first\"?");

    assert_string_equal(lw_spec_name(spec), "first");
    assert_string_equal(lw_spec_file(spec), "first");
    const lw_run_spec *run = lw_spec_run(spec);
    assert_string_equal(run->method, "first");
    assert_string_equal(run->drift, "first");
    assert_null(run->integrator);
    assert_true(run->end == 2 && run->step == 0.1);
    assert_true(lw_spec_gravity(spec)[0] == 1 && lw_spec_gravity(spec)[2] == 3);

    double value;
    assert_int_equal(lw_spec_parameter_count(spec), 2);
    assert_string_equal(lw_spec_parameter(spec, 0, &value), "first");
    assert_true(value == 3.5);
    assert_string_equal(lw_spec_parameter(spec, 1, &value), "second");
    assert_true(value == 2.5);
    lw_spec_destroy(spec);
}

/* Everything that an element points to is overwritten after the add; the spec must not notice. */
static void elements_are_copied_deeply(void **state) {
    (void)state;
    char text[16] = "one";
    double x[3] = {0, 1, 2}, y[3] = {5, 6, 7};
    lw_spec *spec = lw_spec_create("m");
    lw_body_spec body = {.name = text, .mass = 3, .com = {1, 2, 3}, .place = {4, 5}};
    lw_joint_spec joint = {.name = text,
                           .type = LW_JOINT_FREE,
                           .bodies = {text, text},
                           .motion = {NULL, text, NULL, NULL, NULL, text}};
    lw_force_spec force = {.name = text,
                           .bodies = {text, NULL},
                           .joint = text,
                           .law = {.expression = text, .table_size = 3, .table_x = x, .table_y = y},
                           .force = {text, NULL, text},
                           .torque = {NULL, text, NULL},
                           .drive = text};
    lw_constraint_spec constraint = {.name = text,
                                     .type = LW_CONSTRAINT_COUPLING,
                                     .bodies = {NULL, text},
                                     .terms = 2,
                                     .joints = {text, text},
                                     .factors = {1, -2}};
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
    assert_int_equal(lw_spec_add_constraint(spec, &constraint), LW_OK);
    strcpy(text, "overwritten");
    x[1] = y[1] = -1;

    const lw_body_spec *b = lw_spec_body(spec, 0);
    assert_string_equal(b->name, "one");
    assert_true(b->mass == 3 && b->com[2] == 3 && b->place.column == 5);

    const lw_joint_spec *j = lw_spec_joint(spec, 0);
    assert_string_equal(j->name, "one");
    assert_string_equal(j->bodies[0], "one");
    assert_string_equal(j->bodies[1], "one");
    assert_null(j->motion[0]);
    assert_string_equal(j->motion[1], "one");
    assert_string_equal(j->motion[5], "one");

    const lw_force_spec *f = lw_spec_force(spec, 0);
    assert_string_equal(f->name, "one");
    assert_string_equal(f->bodies[0], "one");
    assert_null(f->bodies[1]);
    assert_string_equal(f->joint, "one");
    assert_string_equal(f->law.expression, "one");
    assert_true(f->law.table_x[1] == 1 && f->law.table_y[1] == 6 && f->law.table_y[2] == 7);
    assert_string_equal(f->force[0], "one");
    assert_null(f->force[1]);
    assert_string_equal(f->torque[1], "one");
    assert_string_equal(f->drive, "one");

    const lw_constraint_spec *c = lw_spec_constraint(spec, 0);
    assert_string_equal(c->name, "one");
    assert_null(c->bodies[0]);
    assert_string_equal(c->bodies[1], "one");
    assert_string_equal(c->joints[1], "one");
    assert_null(c->joints[2]);
    assert_true(c->factors[1] == -2);
    lw_spec_destroy(spec);
}

static void lists_grow_in_order(void **state) {
    (void)state;
    enum { MANY = 5000 };
    lw_spec *spec = lw_spec_create("m");
    for (int k = 0; k < MANY; k++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", k);
        assert_int_equal(lw_spec_add_body(spec, &(lw_body_spec){.name = name, .mass = k}), LW_OK);
        assert_int_equal(lw_spec_add_joint(spec, &(lw_joint_spec){.name = name, .lead = k}), LW_OK);
        assert_int_equal(lw_spec_add_force(spec, &(lw_force_spec){.name = name, .damping = k}), LW_OK);
        assert_int_equal(lw_spec_add_constraint(spec, &(lw_constraint_spec){.name = name, .offset = k}),
                         LW_OK);
    }
    for (int k = 0; k < 50; k++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", k);
        assert_int_equal(lw_spec_add_parameter(spec, name, k), LW_OK);
    }
    assert_int_equal(lw_spec_body_count(spec), MANY);
    assert_int_equal(lw_spec_joint_count(spec), MANY);
    assert_int_equal(lw_spec_force_count(spec), MANY);
    assert_int_equal(lw_spec_constraint_count(spec), MANY);
    assert_int_equal(lw_spec_parameter_count(spec), 50);
    for (size_t k = 0; k < MANY; k++) {
        char name[32];
        snprintf(name, sizeof name, "n%zu", k);
        assert_string_equal(lw_spec_body(spec, k)->name, name);
        assert_string_equal(lw_spec_joint(spec, k)->name, name);
        assert_string_equal(lw_spec_force(spec, k)->name, name);
        assert_string_equal(lw_spec_constraint(spec, k)->name, name);
        assert_true(lw_spec_body(spec, k)->mass == (double)k &&
                    lw_spec_constraint(spec, k)->offset == (double)k);
    }
    lw_spec_destroy(spec);
}

static void elements_can_be_edited_and_doubled(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("m");
    assert_int_equal(lw_spec_add_body(spec, &(lw_body_spec){.name = NULL, .mass = 1}), LW_OK);
    assert_string_equal(lw_spec_body(spec, 0)->name, ""); /* no name is an empty one */
    lw_spec_body(spec, 0)->mass = 7;
    /* an element of the spec itself as the source, while the list moves */
    for (int k = 0; k < 40; k++) assert_int_equal(lw_spec_add_body(spec, lw_spec_body(spec, 0)), LW_OK);
    assert_true(lw_spec_body(spec, 40)->mass == 7);
    /* a table without numbers stays one without numbers, for the compiler to complain about */
    assert_int_equal(lw_spec_add_force(spec, &(lw_force_spec){.law = {.table_size = 3}}), LW_OK);
    assert_null(lw_spec_force(spec, 0)->law.table_x);
    lw_spec_destroy(spec);
}

static void kinds_have_names_and_sizes(void **state) {
    (void)state;
    const struct {
        const char *name;
        int q, v;
    } joints[LW_JOINT_TYPES] = {{"weld", 0, 0},      {"revolute", 1, 1},    {"prismatic", 1, 1},
                                {"screw", 1, 1},     {"cylindrical", 2, 2}, {"universal", 2, 2},
                                {"spherical", 4, 3}, {"planar", 3, 3},      {"translation", 2, 2},
                                {"free", 7, 6}};
    for (int k = 0; k < LW_JOINT_TYPES; k++) {
        assert_string_equal(lw_joint_type_name((lw_joint_type)k), joints[k].name);
        assert_int_equal(lw_joint_type_q((lw_joint_type)k, 2), joints[k].q);
        assert_int_equal(lw_joint_type_v((lw_joint_type)k, 2), joints[k].v);
        assert_true(joints[k].q <= LW_JOINT_MAX_Q && joints[k].v <= LW_JOINT_MAX_V);
    }
    for (int axes = 0; axes <= 3; axes++) {
        assert_int_equal(lw_joint_type_q(LW_JOINT_TRANSLATION, axes), axes);
        assert_int_equal(lw_joint_type_v(LW_JOINT_TRANSLATION, axes), axes);
        assert_int_equal(lw_joint_type_v(LW_JOINT_REVOLUTE, axes), 1);
    }
    assert_int_equal(lw_joint_type_q(LW_JOINT_TRANSLATION, 99), 3);
    assert_int_equal(lw_joint_type_q(LW_JOINT_TRANSLATION, -1), 0);
    const char *forces[LW_FORCE_TYPES] = {"spring", "torsion",  "bushing", "applied",
                                          "drive",  "friction", "contact"};
    for (int k = 0; k < LW_FORCE_TYPES; k++)
        assert_string_equal(lw_force_type_name((lw_force_type)k), forces[k]);
    const char *constraints[LW_CONSTRAINT_TYPES] = {"distance", "coupling", "rolling"};
    for (int k = 0; k < LW_CONSTRAINT_TYPES; k++) {
        assert_string_equal(lw_constraint_type_name((lw_constraint_type)k), constraints[k]);
    }
    assert_string_equal(lw_joint_type_name(LW_JOINT_TYPES), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_spec_has_its_defaults),        cmocka_unit_test(settings_are_copied),
        cmocka_unit_test(elements_are_copied_deeply),         cmocka_unit_test(lists_grow_in_order),
        cmocka_unit_test(elements_can_be_edited_and_doubled), cmocka_unit_test(kinds_have_names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
