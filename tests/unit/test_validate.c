/* test_validate.c - every rule that a model can break, with the words it is told in: object, value, rule,
 * remedy.
 *
 * Each case spoils a sound model in one place; the report must then hold exactly that one error.
 */
#include "build.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static const double z_axis[3] = {0, 0, 1}, origin[3] = {0, 0, 0}, elbow[3] = {1, 0, 0};

/* An arm of two bodies: pin at ground, wrist between arm and hand; both turn about z. */
static lw_spec *sound(void) {
    lw_spec *spec = lw_spec_create("arm");
    assert_int_equal(lw_spec_set_file(spec, "arm.yaml"), LW_OK);
    add_body(spec,
             (lw_body_spec){
                 .name = "arm", .mass = 1, .inertia = {0.1, 0.2, 0.25}, .place = {.line = 3, .column = 5}});
    add_plain_body(spec, "hand");
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "arm", origin, z_axis);
    add_plain_joint(spec, "wrist", LW_JOINT_REVOLUTE, "arm", "hand", elbow, z_axis);
    return spec;
}

static void one_error(lw_spec *spec, int line, const char *object, const char *message, const char *remedy) {
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_status status = lw_model_compile(spec, NULL, report, &model);
    lw_spec_destroy(spec);
    if (status != LW_ERROR_MODEL || lw_report_errors(report) != 1 || model) {
        show_report(report);
        fail_msg("line %d: status %d, %zu errors instead of one: %s: %s", line, (int)status,
                 lw_report_errors(report), object ? object : "", message);
    }
    must_say(report, LW_SEVERITY_ERROR, object, message, remedy);
    for (size_t k = 0; k < lw_report_size(report); k++) {
        const lw_error *error = lw_report_get(report, k);
        assert_string_equal(error->file, "arm.yaml");
        assert_true(error->remedy[0] != '\0');
        assert_int_equal(error->status, LW_ERROR_MODEL);
    }
    lw_report_destroy(report);
}

/* In the edit: spec, and its parts arm, hand, pin, wrist. */
#define FAULT(object, message, remedy, edit)                                                                 \
    do {                                                                                                     \
        lw_spec *spec = sound();                                                                             \
        lw_body_spec *arm = lw_spec_body(spec, 0), *hand = lw_spec_body(spec, 1);                            \
        lw_joint_spec *pin = lw_spec_joint(spec, 0), *wrist = lw_spec_joint(spec, 1);                        \
        (void)arm, (void)hand, (void)pin, (void)wrist;                                                       \
        edit;                                                                                                \
        one_error(spec, __LINE__, object, message, remedy);                                                  \
    } while (0)

static void set3(double *a, double x, double y, double z) { a[0] = x, a[1] = y, a[2] = z; }
static void set6(double *a, double xx, double yy, double zz, double xy, double xz, double yz) {
    set3(a, xx, yy, zz);
    set3(a + 3, xy, xz, yz);
}

static void a_sound_model_has_nothing_to_say(void **state) {
    (void)state;
    lw_spec *spec = sound();
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    assert_int_equal(lw_report_size(report), 0);
    lw_model_destroy(model);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK); /* a report is not needed */
    lw_model_destroy(model);
    lw_spec_body(spec, 0)->mass = -1;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_ERROR_MODEL);
    assert_null(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

static void bodies(void **state) {
    (void)state;
    FAULT("body \"arm\"", "mass -1 is not a mass", "zero or a positive number", arm->mass = -1);
    FAULT("body \"arm\"", "is not a mass", "zero or a positive number", arm->mass = NAN);
    FAULT("body \"arm\"", "mass inf is not a mass", "zero or a positive number", arm->mass = INFINITY);
    FAULT("body \"arm\"", "centre of mass [0, inf, 0] is not a point", "three finite numbers",
          arm->com[1] = INFINITY);
    FAULT("body \"hand\"", "inertia is not finite", "finite", hand->inertia[4] = NAN);
    FAULT("body \"hand\"", "position or rotation is not finite", "finite",
          (hand->has_pose = true, hand->rotation[0] = 1, hand->position[2] = NAN));
    FAULT("body \"hand\"", "position or rotation is not finite", "finite",
          (hand->has_pose = true, hand->rotation[0] = INFINITY));
    FAULT("body \"hand\"", "rotation quaternion [0, 0, 0, 0] has no direction", "[1, 0, 0, 0]",
          hand->has_pose = true);
    /* one negative moment; and products of inertia that are too large: moments 1 - 1.2, 1 + 1.2 */
    FAULT("body \"arm\"", "not positive: its principal moments are -0.5, 1, 1", "products of inertia",
          set6(arm->inertia, 1, 1, -0.5, 0, 0, 0));
    FAULT("body \"arm\"", "not positive: its principal moments are -0.2, 1, 2.2", "products of inertia",
          set6(arm->inertia, 1, 1, 1, 1.2, 0, 0));
    /* negative by little, but by far more than masses and lengths make of rounding */
    FAULT("body \"arm\"", "not positive: its principal moments are -1e-12, 0, 1e-12", "products of inertia",
          set6(arm->inertia, 0, 0, 0, 1e-12, 0, 0));
    FAULT("body \"arm\"", "a point mass has no inertia", "leave the inertia out", arm->kind = LW_BODY_POINT);
    FAULT("body \"arm\"", "inertia -0.25 about the plane's normal is negative", "zero or a positive",
          (arm->kind = LW_BODY_PLANAR, arm->inertia[2] = -0.25));
}

/* Rods, plates and rounded data are allowed: limits of the rules, not breaches. */
static void inertias_at_the_limit(void **state) {
    (void)state;
    static const double good[][6] = {
        {0, 0, 0, 0, 0, 0},        {1, 1, 0, 0, 0, 0},         {1, 2, 3, 0, 0, 0},
        {1, 1, 1, 0, 0, 0},        {1, 1, 2 + 1e-10, 0, 0, 0}, {1e-300, 1e-300, 0, 0, 0, 0},
        {0.5, 0.5, 1, -0.5, 0, 0}, /* a rod along (1, 1, 0) */
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        lw_spec *spec = sound();
        memcpy(lw_spec_body(spec, 0)->inertia, good[k], sizeof good[k]);
        lw_model_destroy(compile_or_fail(spec));
    }
}

/* Moments of no solid, as of rotors and measured arms: taken as given, with one warning that tells the amount. */
static void moments_of_no_solid(void **state) {
    (void)state;
    lw_spec *spec = sound();
    set6(lw_spec_body(spec, 0)->inertia, 2, 4, 1, 0, 0, 0);
    lw_spec_body(spec, 1)->mass = 0;
    set6(lw_spec_body(spec, 1)->inertia, 0, 0, 0.35, 2.4e-35, 0, 0); /* rounding is nothing */
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    must_say(report, LW_SEVERITY_WARNING, "body \"arm\"",
             "triangle inequality by 1: principal moments 1 + 2 < 4", "check units and axes");
    must_say(report, LW_SEVERITY_WARNING, "body \"hand\"",
             "triangle inequality by 0.35: principal moments 0 + 0 < 0.35", "taken as given");
    assert_int_equal(lw_report_size(report), 2);
    lw_model_destroy(model);
    lw_report_destroy(report);

    /* all moments zero, but for rounding beside mass and length: no warning, and no inertia is made of it */
    lw_spec *bare = sound();
    set6(lw_spec_body(bare, 1)->inertia, 0, 0, 0, 0, 2.4e-35, 0);
    lw_model_destroy(compile_or_fail(bare));
    lw_spec_destroy(spec);
}

static void names(void **state) {
    (void)state;
    /* a body whose name is taken cannot be joined to anything, so that more may be said of it */
    lw_spec *twice = sound();
    add_plain_body(twice, "arm");
    add_plain_body(twice, LW_GROUND);
    lw_report *report = compile_and_fail(twice);
    must_say(report, LW_SEVERITY_ERROR, "body \"arm\"", "the name is taken twice", "rename");
    must_say(report, LW_SEVERITY_ERROR, "body \"ground\"", "the name belongs to ground", "rename");
    lw_report_destroy(report);
    FAULT("body \"\"", "has no name", "give it a name",
          (add_plain_body(spec, NULL), add_plain_joint(spec, "glue", LW_JOINT_WELD, "arm", "", NULL, NULL)));
    FAULT("joint \"pin\"", "the name is taken twice", "rename", wrist->name = "pin");
    FAULT("force \"pull\"", "the name is taken twice", "rename",
          for (int k = 0; k < 2; k++)
              add_force(spec, (lw_force_spec){.name = "pull", .type = LW_FORCE_APPLIED, .bodies = {"arm"}}));
    FAULT("constraint \"rod\"", "the name is taken twice", "rename",
          for (int k = 0; k < 2; k++) add_constraint(
              spec, (lw_constraint_spec){.name = "rod", .bodies = {"arm", LW_GROUND}, .length = 1}));
    FAULT("joint \"wrist\"", "unknown body \"amr\"", "did you mean \"arm\"?", wrist->bodies[0] = "amr");
    FAULT("joint \"wrist\"", "unknown body \"gearbox\"", "name a body of this model",
          wrist->bodies[1] = "gearbox");
    FAULT("joint \"wrist\"", "unknown body \"\"", "name a body of this model", wrist->bodies[1] = NULL);
    FAULT("force \"motor\"", "unknown joint \"wirst\"", "did you mean \"wrist\"?",
          add_force(spec, (lw_force_spec){
                              .name = "motor", .type = LW_FORCE_DRIVE, .joint = "wirst", .drive = "1"}));
    FAULT("force \"band\"", "unknown body \"Hand\"", "did you mean \"hand\"?",
          add_force(spec, (lw_force_spec){.name = "band", .bodies = {"Hand", "ground"}}));
}

static void joints(void **state) {
    (void)state;
    FAULT("joint \"pin\"", "axis [0, 0, 0] has no direction", "give any non-zero vector, e.g. [0, 0, 1]",
          set3(pin->geometry[0].axes[0], 0, 0, 0));
    FAULT("joint \"pin\"", "has no direction", "non-zero vector", pin->geometry[0].axes[0][1] = NAN);
    FAULT("joint \"pin\"", "point [0, inf, 0] is not a point", "three finite numbers",
          pin->geometry[0].point[1] = INFINITY);
    FAULT("joint \"pin\"", "0 axes given to a revolute joint", "give 1 to 2",
          pin->geometry[0].axis_count = 0);
    FAULT("joint \"pin\"", "3 axes given to a revolute joint", "give 1 to 2",
          pin->geometry[0].axis_count = 3);
    FAULT("joint \"pin\"", "-1 axes given to a weld joint", "give 0 to 2",
          (pin->type = LW_JOINT_WELD, pin->geometry[0].axis_count = -1));
    FAULT("joint \"pin\"", "1 axis given to a universal joint", "give 2", pin->type = LW_JOINT_UNIVERSAL);
    FAULT("joint \"pin\"", "4 axes given to a translation joint", "give 1 to 3",
          (pin->type = LW_JOINT_TRANSLATION, pin->geometry[0].axis_count = 4));
    FAULT("joint \"pin\"", "0 axes given to a translation joint", "give 1 to 3",
          (pin->type = LW_JOINT_TRANSLATION, pin->geometry[0].axis_count = 0));
    FAULT("joint \"pin\"", "universal joint stand at 60 degrees", "perpendicular",
          (pin->type = LW_JOINT_UNIVERSAL, pin->geometry[0].axis_count = 2,
           set3(pin->geometry[0].axes[1], 0, sqrt(3), 1)));
    FAULT("joint \"pin\"", "its axes are not independent", "leave one out, or turn it",
          (pin->geometry[0].axis_count = 2, set3(pin->geometry[0].axes[1], 0, 0, -2)));
    FAULT("joint \"pin\"", "its axes are not independent", "leave one out, or turn it",
          (pin->type = LW_JOINT_TRANSLATION, pin->geometry[0].axis_count = 3,
           set3(pin->geometry[0].axes[1], 1, 0, 1), set3(pin->geometry[0].axes[2], 2, 0, 1)));
    FAULT("joint \"pin\"", "lead", "metres per turn", (pin->type = LW_JOINT_SCREW, pin->lead = NAN));
    FAULT("joint \"pin\"", "initial coordinates or speeds are not finite", "finite",
          (pin->has_q = true, pin->q[0] = NAN));
    FAULT("joint \"pin\"", "initial coordinates or speeds are not finite", "finite",
          (pin->has_v = true, pin->v[0] = INFINITY));
    FAULT("joint \"pin\"", "initial quaternion [0, 0, 0, 0] has no direction", "[1, 0, 0, 0]",
          (pin->type = LW_JOINT_SPHERICAL, pin->has_q = true));
    FAULT("joint \"pin\"", "joins body \"arm\" to itself", "two different bodies", pin->bodies[0] = "arm");
    /* both geometries of a joint in body frames are looked at */
    FAULT("joint \"wrist\"", "axis [0, 0, 0] has no direction", "non-zero",
          (wrist->frame = LW_GEOMETRY_BODY, wrist->geometry[1].axis_count = 1));
    FAULT("joint \"wrist\"", "0 axes given", "give 1 to 2", wrist->frame = LW_GEOMETRY_BODY);
}

static void an_unknown_type_is_a_fault(void **state) {
    (void)state;
    lw_spec *spec = sound();
    lw_spec_joint(spec, 0)->type = (lw_joint_type)77;
    add_force(spec, (lw_force_spec){.name = "f", .type = (lw_force_type)77});
    add_constraint(spec, (lw_constraint_spec){.name = "c", .type = (lw_constraint_type)77});
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "joint \"pin\"", "unknown joint type 77", NULL);
    must_say(report, LW_SEVERITY_ERROR, "force \"f\"", "unknown force type 77", NULL);
    must_say(report, LW_SEVERITY_ERROR, "constraint \"c\"", "unknown constraint type 77", NULL);
    lw_report_destroy(report);
}

static void connections(void **state) {
    (void)state;
    FAULT("body \"stray\"", "is not connected to ground", "free", add_plain_body(spec, "stray"));
    lw_spec *spec = sound(); /* every loose body is named, and the forces are still looked at */
    lw_spec_joint(spec, 0)->bodies[0] = "hand";
    add_force(spec, (lw_force_spec){.name = "pull", .type = LW_FORCE_APPLIED, .bodies = {"nobody"}});
    add_constraint(spec, (lw_constraint_spec){.name = "rod", .bodies = {"nobody", "arm"}});
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "body \"arm\"", "is not connected to ground", NULL);
    must_say(report, LW_SEVERITY_ERROR, "body \"hand\"", "is not connected to ground", NULL);
    must_say(report, LW_SEVERITY_ERROR, "force \"pull\"", "unknown body \"nobody\"", NULL);
    must_say(report, LW_SEVERITY_ERROR, "constraint \"rod\"", "unknown body \"nobody\"", NULL);
    assert_int_equal(lw_report_errors(report), 4);
    lw_report_destroy(report);
}

static void planar_bodies(void **state) {
    (void)state;
    lw_spec *flat = sound();
    for (size_t k = 0; k < 2; k++) lw_spec_body(flat, k)->kind = LW_BODY_PLANAR;
    lw_model_destroy(compile_or_fail(flat));
#define LEAVES(type_name, edit)                                                                              \
    FAULT("body \"arm\"", "is planar, but joint \"pin\" (" type_name ") lets it leave its plane",            \
          "make the body spatial", (arm->kind = LW_BODY_PLANAR, edit))
    LEAVES("revolute", set3(pin->geometry[0].axes[0], 0, 0.1, 1));
    LEAVES("prismatic", (pin->type = LW_JOINT_PRISMATIC));
    LEAVES("screw", (pin->type = LW_JOINT_SCREW, pin->lead = 0.1));
    LEAVES("cylindrical", (pin->type = LW_JOINT_CYLINDRICAL));
    LEAVES("spherical", (pin->type = LW_JOINT_SPHERICAL));
    LEAVES("free", (pin->type = LW_JOINT_FREE));
    LEAVES("translation", (pin->type = LW_JOINT_TRANSLATION));
    LEAVES("universal", (pin->type = LW_JOINT_UNIVERSAL, pin->geometry[0].axis_count = 2,
                         set3(pin->geometry[0].axes[1], 1, 0, 0)));
    LEAVES("planar", (pin->type = LW_JOINT_PLANAR, set3(pin->geometry[0].axes[0], 0, 1, 1)));
    /* the plane is that of the body's own axes, and the whole way to ground counts */
    FAULT("body \"hand\"", "is planar, but joint \"wrist\" (revolute) lets it leave its plane", "spatial",
          (hand->kind = LW_BODY_PLANAR, hand->has_pose = true, hand->rotation[0] = hand->rotation[1] = 1));
    FAULT("body \"hand\"", "is planar, but joint \"pin\" (spherical) lets it leave its plane", "spatial",
          (hand->kind = LW_BODY_PLANAR, pin->type = LW_JOINT_SPHERICAL));
    /* joints that keep the plane */
    lw_spec *spec = sound();
    lw_spec_body(spec, 0)->kind = lw_spec_body(spec, 1)->kind = LW_BODY_PLANAR;
    lw_joint_spec *pin = lw_spec_joint(spec, 0), *wrist = lw_spec_joint(spec, 1);
    pin->type = LW_JOINT_TRANSLATION;
    pin->geometry[0].axis_count = 2;
    set3(pin->geometry[0].axes[0], 1, 0, 0), set3(pin->geometry[0].axes[1], 1, 1, 0);
    wrist->type = LW_JOINT_PLANAR;
    set3(wrist->geometry[0].axes[0], 0, 0, -1);
    lw_model_destroy(compile_or_fail(spec));
}

static void close_loop(lw_spec *spec) {
    add_joint(spec, (lw_joint_spec){.name = "closing",
                                    .type = LW_JOINT_REVOLUTE,
                                    .bodies = {"hand", LW_GROUND},
                                    .geometry = {{.point = {2, 1, 0}, .axes = {{0, 0, 1}}, .axis_count = 1}},
                                    .cut = true});
}

static void motions(void **state) {
    (void)state;
    FAULT("joint \"pin\"", "motion \"2*sin(tt)\": ", NULL, pin->motion[0] = "2*sin(tt)");
    FAULT("joint \"pin\"", "the rotation of a spherical joint is prescribed in part", "all three Cardan",
          (pin->type = LW_JOINT_SPHERICAL, pin->motion[1] = "t"));
    FAULT("joint \"pin\"", "the rotation of a free joint is prescribed in part", "all three Cardan",
          (pin->type = LW_JOINT_FREE, pin->motion[0] = "t", pin->motion[3] = "t", pin->motion[4] = "t"));
    FAULT("joint \"pin\"", "its prescribed motion is not finite at t = 0", "a speed and an acceleration",
          pin->motion[0] = "1/t");
    FAULT("joint \"closing\"", "where a loop is cut there are no coordinates to prescribe",
          "take out cut: true", (close_loop(spec), lw_spec_joint(spec, 2)->motion[0] = "t"));
    FAULT(NULL, "every joint of its loop must be kept", "another joint of the loop",
          (pin->motion[0] = "t", wrist->motion[0] = "t",
           add_joint(spec,
                     (lw_joint_spec){.name = "closing",
                                     .type = LW_JOINT_REVOLUTE,
                                     .bodies = {"hand", LW_GROUND},
                                     .geometry = {{.point = {2, 1, 0}, .axes = {{0, 0, 1}}, .axis_count = 1}},
                                     .motion = {"t"}})));
}

#define FORCE(...) add_force(spec, (lw_force_spec){.name = "f", __VA_ARGS__})

static void force_elements(void **state) {
    (void)state;
    static const double up[] = {0, 1, 1}, y[] = {0, 1, 2}, bad[] = {0, NAN, 1}, x[] = {0, 1, 2};
    FAULT("force \"f\"", "acts between body \"arm\" and itself", "two different bodies",
          FORCE(.bodies = {"arm", "arm"}));
    FAULT("force \"f\"", "stiffness is not finite", "finite",
          FORCE(.bodies = {"arm", "ground"}, .stiffness = INFINITY));
    FAULT("force \"f\"", "damping is not finite", "finite",
          FORCE(.bodies = {"arm", "ground"}, .damping = NAN));
    FAULT("force \"f\"", "a point is not finite", "finite",
          FORCE(.bodies = {"arm", "ground"}, .points = {{0, 0, 0}, {0, NAN, 0}}));
    FAULT("force \"f\"", "free length -1 is negative", "zero or a positive",
          FORCE(.bodies = {"arm", "ground"}, .free_length = -1, .has_free_length = true));
    FAULT("force \"f\"", "its table is not a function", "x ascending",
          FORCE(.bodies = {"arm", "ground"}, .law = {.table_size = 3, .table_x = up, .table_y = y}));
    FAULT("force \"f\"", "its table is not a function", "x ascending",
          FORCE(.bodies = {"arm", "ground"}, .law = {.table_size = 3, .table_x = x, .table_y = bad}));
    FAULT("force \"f\"", "its table is not a function", "x ascending",
          FORCE(.bodies = {"arm", "ground"}, .law = {.table_size = 1, .table_x = x, .table_y = y}));
    FAULT("force \"f\"", "law \"k*x\": ", NULL,
          FORCE(.bodies = {"arm", "ground"}, .law = {.expression = "k*x"}));
    FAULT("force \"f\"", "joint \"pin\" (revolute) has no coordinate 1", "count from 0 to 0",
          FORCE(.type = LW_FORCE_TORSION, .joint = "pin", .coordinate = 1));
    FAULT("force \"f\"", "joint \"pin\" (revolute) has no coordinate -1", "count from 0",
          FORCE(.type = LW_FORCE_FRICTION, .joint = "pin", .coordinate = -1));
    FAULT("force \"f\"", "joint \"pin\" (weld) has no coordinate 0", "choose a joint that moves",
          (pin->type = LW_JOINT_WELD, FORCE(.type = LW_FORCE_DRIVE, .joint = "pin", .drive = "1")));
    FAULT("force \"f\"", "coordinate 2 of joint \"pin\" (spherical) is an angular velocity", "bushing",
          (pin->type = LW_JOINT_SPHERICAL, FORCE(.type = LW_FORCE_TORSION, .joint = "pin", .coordinate = 2)));
    FAULT("force \"f\"", "coordinate 4 of joint \"pin\" (free) is an angular velocity", "bushing",
          (pin->type = LW_JOINT_FREE,
           FORCE(.type = LW_FORCE_DRIVE, .joint = "pin", .coordinate = 4, .drive = "-q")));
    FAULT("force \"f\"", "has no force", "expression of t, q and v",
          FORCE(.type = LW_FORCE_DRIVE, .joint = "pin"));
    FAULT("force \"f\"", "torque \"2*x\": ", NULL,
          FORCE(.type = LW_FORCE_DRIVE, .joint = "pin", .drive = "2*x"));
    FAULT("force \"f\"", "viscous -1, coulomb 0", "zero or positive",
          FORCE(.type = LW_FORCE_FRICTION, .joint = "pin", .viscous = -1));
    FAULT("force \"f\"", "smoothing 0 is not a speed", "e.g. 0.01",
          FORCE(.type = LW_FORCE_FRICTION, .joint = "pin", .coulomb = 1));
    FAULT("force \"f\"", "torque \"sin(\": ", NULL,
          FORCE(.type = LW_FORCE_APPLIED, .bodies = {"arm"}, .torque = {NULL, "sin("}));
    FAULT("force \"f\"", "point is not finite", "finite",
          FORCE(.type = LW_FORCE_APPLIED, .bodies = {"arm"}, .points = {{NAN, 0, 0}}));
    FAULT("force \"f\"", "stiffness is not finite", "finite",
          FORCE(.type = LW_FORCE_BUSHING, .bodies = {"arm", "ground"}, .bushing_stiffness = {[4] = NAN}));
    FAULT("force \"f\"", "rotation is not finite", "finite",
          FORCE(.type = LW_FORCE_BUSHING, .bodies = {"arm", "ground"}, .rotation = {NAN}));
}

static void negative_damping_is_worth_a_word(void **state) {
    (void)state;
    lw_spec *spec = sound();
    FORCE(.type = LW_FORCE_TORSION, .joint = "pin", .damping = -1);
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    must_say(report, LW_SEVERITY_WARNING, "force \"f\"", "damping -1 is negative and puts energy in", NULL);
    assert_int_equal(lw_report_errors(report), 0);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

/* Elements of joints act in any joint; only couplings need coordinates of the tree. */
static void forces_in_the_joint_that_closes_a_loop(void **state) {
    (void)state;
    lw_spec *spec = sound();
    close_loop(spec);
    FORCE(.type = LW_FORCE_DRIVE, .joint = "closing", .drive = "1");
    lw_report *report = lw_report_create();
    lw_model *model;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    assert_int_equal(lw_report_size(report), 0);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

#define CONSTRAINT(...) add_constraint(spec, (lw_constraint_spec){.name = "c", __VA_ARGS__})

static void constraints(void **state) {
    (void)state;
    FAULT("constraint \"c\"", "length -2 is not a length", "positive length",
          CONSTRAINT(.bodies = {"arm", "ground"}, .length = -2));
    FAULT("constraint \"c\"", "its two points coincide in the initial state", "spherical joint",
          CONSTRAINT(.bodies = {"arm", "ground"}));
    FAULT("constraint \"c\"", "acts between body \"hand\" and itself", "two different",
          CONSTRAINT(.bodies = {"hand", "hand"}, .length = 1));
    FAULT("constraint \"c\"", "a point is not finite", "finite",
          CONSTRAINT(.bodies = {"arm", "ground"}, .points = {{0, 0, INFINITY}}));
    FAULT("constraint \"c\"", "has 0 terms", "at least one, at most 8",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING));
    FAULT("constraint \"c\"", "has 9 terms", "at most 8",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 9));
    FAULT("constraint \"c\"", "unknown joint \"pni\"", "did you mean \"pin\"?",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"pni"}, .factors = {1}));
    FAULT("constraint \"c\"", "joint \"pin\" (revolute) has no coordinate 3", "count from 0 to 0",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"pin"}, .coordinates = {3},
                     .factors = {1}));
    FAULT("constraint \"c\"", "all its factors are zero", "not zero",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 2, .joints = {"pin", "wrist"}));
    FAULT("constraint \"c\"", "joint \"closing\" closes a loop and has no coordinates",
          "couple another joint of the loop", {
              close_loop(spec);
              CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"closing"}, .factors = {1});
          });
    FAULT("constraint \"c\"", "offset is not finite", "finite",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"pin"}, .factors = {1},
                     .offset = NAN));
    FAULT("constraint \"c\"", "a factor is not finite", "finite",
          CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 1, .joints = {"pin"}, .factors = {INFINITY}));
    FAULT("constraint \"c\"", "radius 0 is not a length", "positive radius",
          CONSTRAINT(.type = LW_CONSTRAINT_ROLLING, .bodies = {"arm", "ground"}, .normal = {0, 0, 1}));
    FAULT("constraint \"c\"", "the plane's normal [0, 0, 0] has no direction", "e.g. [0, 0, 1]",
          CONSTRAINT(.type = LW_CONSTRAINT_ROLLING, .bodies = {"arm", "ground"}, .radius = 1));
}

static void header(void **state) {
    (void)state;
    const double gravity[3] = {0, 0, NAN};
    FAULT(NULL, "gravity is not finite", "three finite numbers", lw_spec_set_gravity(spec, gravity));
}

static void places_are_kept(void **state) {
    (void)state;
    lw_spec *spec = sound();
    lw_spec_body(spec, 0)->mass = -1;
    lw_report *report = compile_and_fail(spec);
    char text[400];
    lw_error_format(lw_report_get(report, 0), text, sizeof text);
    assert_string_equal(text, "arm.yaml:3:5: body \"arm\": mass -1 is not a mass; give zero or a positive "
                              "number of kilograms");
    lw_report_destroy(report);
}

static void all_errors_in_one_go(void **state) {
    (void)state;
    lw_spec *spec = sound();
    lw_spec_body(spec, 0)->mass = -1;
    set6(lw_spec_body(spec, 1)->inertia, 2, 4, -1, 0, 0, 0);
    lw_spec_joint(spec, 0)->geometry[0].axis_count = 0;
    lw_spec_joint(spec, 1)->bodies[0] = "amr";
    FORCE(.type = LW_FORCE_FRICTION, .joint = "pin", .viscous = -1);
    CONSTRAINT(.type = LW_CONSTRAINT_COUPLING, .terms = 0);
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "body \"arm\"", "mass -1", NULL);
    must_say(report, LW_SEVERITY_ERROR, "body \"hand\"", "inertia is not positive", NULL);
    must_say(report, LW_SEVERITY_ERROR, "joint \"pin\"", "0 axes given", NULL);
    must_say(report, LW_SEVERITY_ERROR, "joint \"wrist\"", "unknown body \"amr\"", NULL);
    must_say(report, LW_SEVERITY_ERROR, "force \"f\"", "viscous -1", NULL);
    must_say(report, LW_SEVERITY_ERROR, "constraint \"c\"", "has 0 terms", NULL);
    assert_int_equal(lw_report_errors(report), 6);
    lw_report_destroy(report);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_model_has_nothing_to_say),
        cmocka_unit_test(bodies),
        cmocka_unit_test(inertias_at_the_limit),
        cmocka_unit_test(moments_of_no_solid),
        cmocka_unit_test(names),
        cmocka_unit_test(joints),
        cmocka_unit_test(an_unknown_type_is_a_fault),
        cmocka_unit_test(connections),
        cmocka_unit_test(planar_bodies),
        cmocka_unit_test(motions),
        cmocka_unit_test(force_elements),
        cmocka_unit_test(negative_damping_is_worth_a_word),
        cmocka_unit_test(forces_in_the_joint_that_closes_a_loop),
        cmocka_unit_test(constraints),
        cmocka_unit_test(header),
        cmocka_unit_test(places_are_kept),
        cmocka_unit_test(all_errors_in_one_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
