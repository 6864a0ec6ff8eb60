/* test_parameters.c - changing a parameter of a spec gives the spec that reading with this value gives.
 *
 * For every model of problems/ and a model that has every kind of value, and for every parameter: both ways lead to
 * equal specs, field by field, to the last bit, to equal written models and equal accelerations. Where a parameter
 * decides which objects there are, the change is refused.
 */
#include "problems.h"
#include "same_spec.h"
#include "io/model_write/write_model.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Every kind of value that may depend on a parameter. */
static const char everything[] =
    "linkwork: 1\n"
    "name: everything\n"
    "parameters: {first: 2*L, L: 0.5, rho: 7850, a: 20 deg, m: 2, k: 30, N: 2, c: 0}\n"
    "inputs: {push: k/10, pull: 1}\n"
    "tables:\n"
    "  hill: {x: [0, L, 1.5 + L], y: [0, k/7, 2*L], interpolation: smooth, beyond: repeat}\n"
    "  flat: {x: [0, 1], y: [2, 3], interpolation: steps}\n"
    "gravity: [0, k/100, -9.81]\n"
    "bodies:\n"
    "  box: {shape: box, size: [L, 2*L, first], density: rho}\n"
    "  can: {mass: m, shape: {type: cylinder, radius: L/5, length: L, position: [0, 0, L], rotation: {axis: "
    "[L, 0, 1], angle: a}}}\n"
    "  ball: {mass: m, com: [0, 0, L], shape: sphere, radius: L/10}\n"
    "  rod: {kind: planar, density: rho, shape: rod, points: [[0, 0, 0], [L, 0, 0]], radius: L/50}\n"
    "  dot: {kind: point, mass: m, shape: sphere, radius: L/7}\n"
    "  full: {mass: m, com: [L/3, 0, 0], inertia: [[2*m, m/10, 0], [m/10, 3*m, 0], [0, 0, 3*m]], rotation: "
    "{cardan: [a, 2*a, 0]}, position: [0, 0, L]}\n"
    "  six: {mass: 3 + flat(m/4) + hill(0.3)/100, inertia: [m, m, m + 0.1, 0.01, 0, 0], rotation: [cos(a/2), "
    "0, sin(a/2), 0]}\n"
    "  made: {mass: m, shape: box, size: [1, 1, 1], inertia: [m, m, m]}\n"
    "  parts: {density: rho, shapes: [{type: box, size: [L, 1, 1]}, {type: capsule, radius: L/3, length: L, "
    "position: [0, L, 0], mass: m, colour: red}, {type: ellipsoid, radii: [L, 1, 1], density: rho/2, "
    "rotation: {axis: "
    "[0, L, 1], angle: a}}]}\n"
    "  shared: {mass: m, shapes: [{type: sphere, radius: L}, {type: box, size: [1, 1, L], position: [L, 0, "
    "0]}]}\n"
    "  wedge: {density: rho, shape: mesh, scale: L, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "
    "triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}\n"
    "  wedges: {density: rho, shapes: [{type: mesh, scale: [L, 1, -1], vertices: [[0, 0, 0], [1, 0, 0], [0, "
    "1, 0], "
    "[0, 0, 1]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}]}\n"
    "  link{i}: {repeat: {i: 1..3}, mass: m/i, inertia: [m*i, m*i, m*i], position: [i*L, 0, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, box], point: [L, 0, 0], axis: [0, L, 1], q: a, v: k/10}\n"
    "  b: {type: spherical, between: [box, can], point: [L, 0, 0], rotation: {axis: [0, 1, 0], angle: a}, "
    "angular_velocity: [k/20, 0, 0]}\n"
    "  c: {type: screw, between: [can, ball], point: [0, 0, L], axis: [0, 0, 1], lead: L/100}\n"
    "  d: {type: free, between: [ground, full], position: [L, 0, 0], rotation: {cardan: [0, a, 0]}, "
    "velocity: [0, k/30, 0]}\n"
    "  e: {type: prismatic, between: [full, six], axis: [1, 0, 0], motion: L*sin(k*t)}\n"
    "  f: {type: free, between: [ground, dot]}\n"
    "  g: {type: planar, between: [ground, rod], point: [0, 0, 0], normal: [0, 0, 1], q: [L, 0, a]}\n"
    "  h: {type: free, between: [ground, made]}\n"
    "  parts: {type: free, between: [ground, parts]}\n"
    "  shared: {type: free, between: [ground, shared]}\n"
    "  wedge: {type: free, between: [ground, wedge]}\n"
    "  wedges: {type: free, between: [ground, wedges]}\n"
    "  j{i}: {repeat: {i: 1..3}, type: revolute, between: [ground, 'link{i}'], point: [i*L, 0, 0], axis: [0, "
    "1, L*i]}\n"
    "forces:\n"
    "  s: {type: spring, between: [ground, box], points: [[L, 0, 1], [0, 0, 0]], stiffness: k, damping: "
    "k/10, length: L, law: k*x^3 + push*x}\n"
    "  t: {type: torsion, joint: a, free: a, table: {x: [-L/m, 0, L/m], torque: [-k, 0, k/2]}}\n"
    "  u: {type: bushing, between: [ground, six], first: [L, 0, 0], second: [0, 0, 0], rotation: {axis: [0, "
    "0, 1], angle: a}, stiffness: [k, k, k, 1, 1, 1], damping: [1, 1, k/30, 0, 0, 0]}\n"
    "  w: {type: applied, body: can, point: [0, L, 0], frame: body, force: [k*t, pull, 0]}\n"
    "  x: {type: friction, joint: a, viscous: k/100, coulomb: k/50, smoothing: L/100}\n"
    "  y: {type: drive, joint: j1, torque: k*push - c + hill(t)}\n"
    "constraints:\n"
    "  g: {type: coupling, terms: [{joint: j1, factor: L}, {joint: j2, factor: -k}], offset: 0.5*k - 30*L*L "
    "- 7.5}\n"
    "run: {end: k*0.1 s, step: L*1 ms, tolerance: 1e-6*m, baumgarte: [k, k]}\n";

static lw_spec *read_with(const char *path, const lw_setting *setting, size_t count) {
    lw_spec *spec = NULL;
    if (path)
        (void)lw_read_model(path, setting, count, NULL, &spec);
    else
        (void)lw_read_model_text(everything, strlen(everything), "everything", setting, count, NULL, &spec);
    return spec;
}

static char *written(const lw_spec *spec) {
    size_t length;
    char *text = NULL;
    lw_error error;
    if (lw_model_text(spec, &text, &length, &error) != LW_OK) fail_msg("%s: %s", what, error.message);
    return text;
}

static void same_accelerations(const lw_spec *a, const lw_spec *b) {
    enum { MOST = 600 };
    static double q[MOST], v[MOST], one[MOST], two[MOST];
    lw_model *first = NULL, *second = NULL;
    assert_int_equal(lw_model_compile(a, NULL, NULL, &first), lw_model_compile(b, NULL, NULL, &second));
    if (!first) return; /* both are refused */
    int nv = lw_model_v_size(first);
    assert_true(nv <= MOST && lw_model_q_size(first) <= MOST);
    lw_model_initial_state(first, q, v);
    lw_status status = lw_accelerations(first, "lagrange", 0, q, v, one, NULL, NULL, NULL);
    assert_int_equal(lw_accelerations(second, "lagrange", 0, q, v, two, NULL, NULL, NULL), status);
    if (status == LW_OK) same_numbers("model", "accelerations", one, two, nv);
    lw_model_destroy(first);
    lw_model_destroy(second);
}

/* How the changes of one model came out. */
typedef struct tally {
    int taken, refused;
} tally;

static void change(const char *path, const char *name, double value, tally *count) {
    char number[40], title[400];
    snprintf(number, sizeof number, "%.17g", value);
    snprintf(title, sizeof title, "%s with %s = %s", path ? path : "everything", name, number);
    what = title;
    text_under_test = "";
    const lw_setting setting = {name, number};
    lw_spec *again = read_with(path, &setting, 1), *changed = read_with(path, NULL, 0);
    char *before = written(changed);
    lw_error error = {0};
    lw_status status = lw_spec_set_parameter(changed, name, value, &error);
    if (status == LW_OK) {
        if (!again) fail_msg("%s: it can be set, but not read", what);
        same_spec(again, changed);
        char *one = written(again), *two = written(changed);
        assert_string_equal(one, two);
        same_accelerations(again, changed);
        free(one), free(two);
        count->taken++;
    } else {
        bool structure = strstr(error.message, "decides which objects") != NULL;
        if (again && !structure) fail_msg("%s: it can be read, but not set: %s", what, error.message);
        if (structure) assert_string_equal(error.remedy, "read the model file again with this setting");
        char *after = written(changed);
        assert_string_equal(before, after); /* as it was */
        free(after);
        count->refused++;
    }
    free(before);
    lw_spec_destroy(again);
    lw_spec_destroy(changed);
}

static void change_all(const char *path, tally *count) {
    lw_spec *spec = read_with(path, NULL, 0);
    assert_non_null(spec);
    for (size_t k = 0; k < lw_spec_parameter_count(spec); k++) {
        double value;
        const char *name = lw_spec_parameter(spec, k, &value);
        change(path, name, value != 0 ? 1.03125 * value : 0.125, count);
        change(path, name, value + 1, count);
        change(path, name, value, count);
        change(path, name, 0, count);
        change(path, name, -value, count);
    }
    lw_spec_destroy(spec);
}

static void test_problems(void **state) {
    (void)state;
    tally all = {0, 0};
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, LW_SOURCE_DIR "/problems/%s/model.yaml", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (!file) continue;
        fclose(file);
        change_all(path, &all);
    }
    closedir(folder);
    print_message("%d changes taken, %d refused\n", all.taken, all.refused);
    assert_true(all.taken > 300 && all.refused > 10);
}

static void test_everything(void **state) {
    (void)state;
    tally all = {0, 0};
    change_all(NULL, &all);
    print_message("%d changes taken, %d refused\n", all.taken, all.refused);
    assert_true(all.taken > 20);
}

/* One change after the other; expressions of other parameters; what the caller has changed stays. */
static void test_caller_changes(void **state) {
    (void)state;
    lw_spec *spec = read_with(NULL, NULL, 0);
    lw_body_spec *can = lw_spec_body(spec, 1);
    assert_string_equal(can->name, "can");
    can->mass = 17;
    lw_spec_joint(spec, 0)->q[0] = 0.25;
    assert_int_equal(lw_spec_set_parameter(spec, "m", 5, NULL), LW_OK);
    assert_int_equal(lw_spec_set_parameter(spec, "a", 0.5, NULL), LW_OK);
    assert_int_equal(lw_spec_set_parameter(spec, "L", 0.25, NULL), LW_OK);
    assert_true(can->mass == 17 && lw_spec_joint(spec, 0)->q[0] == 0.25);
    double first = 0;
    assert_string_equal(lw_spec_parameter(spec, 0, &first), "first");
    assert_true(first == 0.5);
    const lw_setting settings[] = {{"m", "5"}, {"a", "0.5"}, {"L", "0.25"}};
    lw_spec *again = read_with(NULL, settings, 3);
    lw_spec_body(again, 1)->mass = 17;
    lw_spec_joint(again, 0)->q[0] = 0.25;
    what = "caller", text_under_test = "";
    same_spec(again, spec);
    /* a parameter that is set has its own value from then on */
    assert_int_equal(lw_spec_set_parameter(spec, "first", 3, NULL), LW_OK);
    assert_int_equal(lw_spec_set_parameter(spec, "L", 1, NULL), LW_OK);
    lw_spec_parameter(spec, 0, &first);
    assert_true(first == 3);
    /* a table of the caller's own is not touched */
    static const double x[2] = {0, 1}, y[2] = {3, 4};
    lw_force_spec *torsion = lw_spec_force(spec, 1);
    torsion->law.table_x = x, torsion->law.table_y = y, torsion->law.table_size = 2;
    assert_int_equal(lw_spec_set_parameter(spec, "k", 7, NULL), LW_OK);
    assert_true(torsion->law.table_x == x && y[1] == 4);
    lw_spec_destroy(again);
    lw_spec_destroy(spec);
}

static void test_sentences(void **state) {
    (void)state;
    static const char text[] = "linkwork: 1\n"
                               "parameters: {N: 2, d: 4, T: 3}\n"
                               "bodies:\n"
                               "  rod{i}: {repeat: {i: 1..N}, mass: 1/d, inertia: [1, 1, 1]}\n"
                               "joints:\n"
                               "  pin{i}: {repeat: {i: 1..N}, type: free, between: [ground, 'rod{i}']}\n"
                               "run: {end: d}\n"
                               "states: {lag: {rate: (1 - lag)/(T - 1), start: 0}}\n";
    static const struct {
        const char *name;
        double value;
        const char *said;
    } cases[] = {
        {"N", 3,
         "test:4:24: parameter \"N\" cannot have this value: \"N\" decides which objects the model has, and "
         "would "
         "change from 2 to 3; read the model file again with this setting"},
        {"d", 0,
         "test:4:37: body \"rod1\": parameter \"d\" cannot have this value: \"1/d\": division by zero; the "
         "divisor is "
         "0 whatever the variables are; check the parameters in it"},
        {"d", -1,
         "test:7:12: parameter \"d\" cannot have this value: a value would be -1; it must be positive"},
        {"d", INFINITY, "test:2:23: parameter \"d\": its value would not be finite; give a finite number"},
        {"T", 1,
         "test:8:31: state \"lag\": parameter \"T\" cannot have this value: \"(1 - lag)/(T - 1)\": division "
         "by zero; the divisor is 0 whatever the variables are; check the parameters in it"},
        {"D", 1, "test: there is no parameter \"D\" to set; did you mean \"d\"?"},
    };
    lw_spec *spec = NULL;
    assert_int_equal(lw_read_model_text(text, strlen(text), "test", NULL, 0, NULL, &spec), LW_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char line[1024];
        lw_error error = {0};
        assert_int_not_equal(lw_spec_set_parameter(spec, cases[k].name, cases[k].value, &error), LW_OK);
        lw_error_format(&error, line, sizeof line);
        assert_string_equal(line, cases[k].said);
    }
    assert_int_equal(lw_spec_set_parameter(spec, "N", 2, NULL), LW_OK); /* nothing changes */
    assert_int_equal(lw_spec_set_parameter(NULL, "N", 2, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_set_parameter(spec, NULL, 2, NULL), LW_ERROR_ARGUMENT);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_caller_changes),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
