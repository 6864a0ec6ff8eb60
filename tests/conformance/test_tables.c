/* test_tables.c - models with tables: runs over a road against the same road as an expression, motions, laws,
 * steps, inputs from columns of files, by all integrators; written, saved and read again; parameters in points.
 */
#define _POSIX_C_SOURCE 200809L

#include "build.h"
#include "io/model_write/write_model.h"
#include "model/model_knots.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PI 3.14159265358979323846

typedef struct way {
    const char *method, *integrator;
    double step, tolerance;
} way;

static const way ways[] = {
    {"tree", "erk", 0, 1e-10},    {"tree", "adams", 0, 1e-10},
    {"tree", "bdf", 0, 1e-10},    {"tree", "ida", 0, 1e-10},
    {"tree", "rk4", 1e-3, 0},     {"lagrange", "rk4", 1e-3, 0},
    {"lagrange", "erk", 0, 1e-9}, {"partition", "erk", 0, 1e-9},
    {"schur", "adams", 0, 1e-10}, {"director", "energy-momentum", 5e-4, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* The points of f at count equal distances as the keys x and y. */
static char *points_of(double (*f)(double), double from, double to, int count) {
    const size_t size = (size_t)count * 56 + 40;
    char *text = malloc(size);
    size_t used = 0;
    assert_non_null(text);
    for (int column = 0; column < 2; column++) {
        used += (size_t)snprintf(text + used, size - used, column ? "], y: [" : "x: [");
        for (int i = 0; i < count; i++) {
            const double x = from + (to - from) * i / (count - 1);
            used += (size_t)snprintf(text + used, size - used, "%s%.17g", i ? ", " : "", column ? f(x) : x);
        }
    }
    snprintf(text + used, size - used, "]");
    return text;
}

static lw_model *model_of(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = malloc((size_t)length + 1);
    assert_non_null(text);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    lw_model *model = compile_or_fail(read_text_spec(text));
    free(text);
    return model;
}

static void run(const lw_model *model, const way *w, double end, double *q, double *v) {
    lw_run_options options;
    lw_run_summary summary;
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.method = w->method, options.integrator = w->integrator;
    options.step = w->step, options.tolerance = w->tolerance;
    options.end = end;
    if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
        fail_msg("%s by %s: %s", w->method, w->integrator, error.message);
    if (!summary.verdict.ok)
        fail_msg("%s by %s: doubtful: %s", w->method, w->integrator, summary.verdict.reasons[0]);
}

/* --- a road --------------------------------------------------------------------------------------- */

static double road(double t) { return 0.05 * exp(sin(3 * t)) - 0.05; }

static const char quarter[] =
    "linkwork: 1\nname: quarter\ngravity: [0, 0, 0]\n%s"
    "bodies:\n  wheel: {mass: 30, inertia: [1, 1, 1]}\n  car: {mass: 300, inertia: [1, 1, 1]}\n"
    "joints:\n  hop: {type: prismatic, axis: [0, 0, 1], between: [ground, wheel]}\n"
    "  heave: {type: prismatic, axis: [0, 0, 1], between: [ground, car]}\n"
    "forces:\n  tyre: {type: drive, joint: hop, force: \"2e5*(%s - q)\"}\n"
    "  leg: {type: spring, between: [wheel, car], points: [[0, 0, 0], [0, 0, 1]], stiffness: 2e4, "
    "damping: 1500}\n";

static lw_model *on_table(int count, const char *more) {
    char *points = points_of(road, 0, 4, count), *section = malloc(strlen(points) + 200);
    assert_non_null(section);
    sprintf(section, "tables:\n  road: {%s%s}\n", points, more);
    lw_model *model = model_of(quarter, section, "road(t)");
    free(points);
    free(section);
    return model;
}

/* The wheel and the body on a road of n points come as close to those on the road itself as the interpolation
 * is close: with n^-2 for lines, faster for cubics, n^-1 for steps. */
static void road_against_expression(void **state) {
    (void)state;
    lw_model *exact = model_of(quarter, "", "(0.05*exp(sin(3*t)) - 0.05)");
    double q[2] = {0}, v[2] = {0};
    run(exact, &(way){"tree", "erk", 0, 1e-12}, 4, q, v);
    const struct {
        const char *more;
        double order, slack;
    } cases[] = {{", interpolation: steps", 1, 0.2},
                 {"", 2, 0.2},
                 {", interpolation: smooth", 3.3, 1.2}}; /* order 2 beside two extrema only */
    for (int c = 0; c < 3; c++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            lw_model *model = on_table(k ? 801 : 101, cases[c].more);
            double p[2] = {0}, w[2] = {0};
            run(model, &(way){"tree", "erk", 0, 1e-11}, 4, p, w);
            error[k] = hypot(p[0] - q[0], p[1] - q[1]);
            lw_model_destroy(model);
        }
        const double order = log(error[0] / error[1]) / log(8);
        if (fabs(order - cases[c].order) > cases[c].slack)
            fail_msg("case %d: errors %g and %g, order %.2f", c, error[0], error[1], order);
    }
    lw_model_destroy(exact);
}

/* The same by every integrator and several methods, for all interpolations: a run ends where the others
 * end. */
static void all_ways(void **state) {
    (void)state;
    const char *const kinds[] = {"", ", interpolation: smooth", ", interpolation: steps", ", beyond: repeat",
                                 ", interpolation: steps, beyond: repeat"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        lw_model *model = on_table(33, kinds[k]);
        double q[2] = {0}, v[2] = {0};
        run(model, &(way){"tree", "erk", 0, 1e-12}, 6, q, v); /* beyond the end, too */
        for (int w = 0; w < WAYS; w++) {
            double p[2] = {0}, u[2] = {0};
            run(model, &ways[w], 6, p, u);
            const double gap = fmax(hypot(p[0] - q[0], p[1] - q[1]), 0.1 * hypot(u[0] - v[0], u[1] - v[1]));
            const double allowed = strcmp(ways[w].method, "director") == 0 ? 2e-5 : 3e-8;
            if (!(gap < allowed))
                fail_msg("%s: %s by %s: off by %g", kinds[k], ways[w].method, ways[w].integrator, gap);
        }
        lw_model_destroy(model);
    }
}

/* --- steps ---------------------------------------------------------------------------------------- */

/* A body of 1 kg under a force in steps: speeds are sums, to rounding, also of a pulse of a microsecond in a
 * second of nothing, and of one behind thousands of points. */
static void pulses(void **state) {
    (void)state;
    const char *const tables[] = {
        "x: [0, 0.5, 0.500001, 10], y: [0, 1e6, 0, 0], interpolation: steps",
        "x: [0, 0.5, 0.5000005, 0.500001, 10], y: [0, 0, 2e6, 0, 0]",
        "x: [0, 0.5, 0.5000005, 0.500001, 10], y: [0, 0, 2e6, 0, 0], interpolation: smooth",
        "x: [0, 0.25, 0.75, 1], y: [0, 1, 0, 0], interpolation: steps, beyond: repeat"};
    const double speeds[] = {1, 1, 1, 5};
    for (int k = 0; k < 4; k++) {
        lw_model *model =
            model_of("linkwork: 1\ngravity: [0, 0, 0]\ntables:\n  f: {%s}\nbodies:\n  b: {mass: 1, inertia: "
                     "[1, 1, 1]}\n"
                     "joints:\n  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
                     "  f: {type: drive, joint: x, force: f(t)}\n",
                     tables[k]);
        for (int w = 0; w < WAYS; w++) {
            double q = 0, v = 0;
            if (k == 2 && ways[w].step > 0) continue; /* Few fixed steps integrate no cubics of two pieces. */
            run(model, &ways[w], 10, &q, &v);
            if (!(fabs(v - speeds[k]) < 1e-8))
                fail_msg("table %d, %s by %s: %.12g", k, ways[w].method, ways[w].integrator, v);
        }
        lw_model_destroy(model);
    }
}

/* Knots: every point of a table in steps that repeats, for ever, each found among thousands. */
static void repeated_knots(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    static double x[COUNT], y[COUNT];
    lw_random r = random_seed(4);
    x[0] = 0.3;
    for (int i = 1; i < COUNT; i++) x[i] = x[i - 1] + random_between(&r, 1e-3, 5e-3);
    for (int i = 0; i < COUNT; i++) y[i] = random_between(&r, -1, 1);
    lw_spec *spec = read_text_spec("linkwork: 1\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
                                   "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
                                   "  f: {type: drive, joint: x, force: 0}\n");
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "f",
                                                              .size = COUNT,
                                                              .x = x,
                                                              .y = y,
                                                              .interpolation = LW_INTERPOLATION_STEPS,
                                                              .beyond = LW_BEYOND_REPEAT}),
                     LW_OK);
    lw_spec_force(spec, 0)->drive = "f(2*t - 1) + mod(t, 7)";
    lw_model *model = compile_or_fail(spec);
    assert_int_equal(model->rhythm_count, COUNT); /* the last point is the first again; and one of mod */
    const double period = (x[COUNT - 1] - x[0]) / 2;
    for (int trial = 0; trial < 3000; trial++) {
        const double t = random_between(&r, -50, 50);
        double next = 7 * (floor(t / 7) + 1);
        for (int i = 0; i + 1 < COUNT; i++) {
            const double at = (x[i] + 1) / 2, turn = floor((t - at) / period) + 1;
            next = fmin(next, at + turn * period);
        }
        const lw_time_span span = lw_model_span(model, t);
        if (fabs(span.stop - next) > 1e-12) fail_msg("t %.17g: %.17g instead of %.17g", t, span.stop, next);
    }
    lw_model_destroy(model);
}

/* --- motions -------------------------------------------------------------------------------------- */

static double turning(double t) { return 0.7 * sin(2 * t) + 0.1 * t; }

/* A driven crank moves a hanging mass: a motion by a smooth table of many points against the expression. */
static void motions(void **state) {
    (void)state;
    static const char crank[] =
        "linkwork: 1\n%sbodies:\n  crank: {mass: 1, com: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
        "  bob: {mass: 1, com: [0.2, 0, -0.4], inertia: [0.02, 0.02, 0.01]}\n"
        "joints:\n  drive: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], "
        "motion: \"%s\"}\n"
        "  pin: {type: revolute, between: [crank, bob], point: [0.2, 0, 0], axis: [0, 1, 0]}\n";
    lw_model *exact = model_of(crank, "", "0.7*sin(2*t) + 0.1*t");
    double q[2] = {0}, v[2] = {0}, error[2];
    run(exact, &(way){"tree", "erk", 0, 1e-12}, 3, q, v);
    for (int k = 0; k < 2; k++) {
        char *points = points_of(turning, 0, 3, k ? 1601 : 201), *section = malloc(strlen(points) + 100);
        sprintf(section, "tables: {phi: {%s, interpolation: smooth, beyond: linear}}\n", points);
        lw_model *model = model_of(crank, section, "phi(t)");
        double p[2] = {0}, u[2] = {0};
        run(model, &(way){"tree", "erk", 0, 1e-11}, 3, p, u);
        error[k] = hypot(p[1] - q[1], p[0] - q[0]);
        for (int w = 0; w < WAYS - 1 && k == 0; w++) {
            double p2[2] = {0}, u2[2] = {0};
            if (strcmp(ways[w].integrator, "bdf") == 0 || strcmp(ways[w].integrator, "ida") == 0)
                continue; /* slow */
            run(model, &ways[w], 3, p2, u2);
            if (!(hypot(p2[0] - p[0], p2[1] - p[1]) < 1e-7))
                fail_msg("%s by %s: off by %g", ways[w].method, ways[w].integrator, p2[1] - p[1]);
        }
        lw_model_destroy(model);
        free(points);
        free(section);
    }
    if (!(error[0] < 1e-3 && error[1] < error[0] / 32)) fail_msg("errors %g, %g", error[0], error[1]);
    lw_model_destroy(exact);
}

static void refused_motions(void **state) {
    (void)state;
    const struct {
        const char *table;
        bool fault;
        const char *message, *remedy;
    } cases[] = {
        {"x: [0, 1, 2], y: [0, 1, 0]", true, "but the slope of table \"f\" jumps at 1",
         "interpolation: smooth"},
        {"x: [0, 1, 2], y: [0, 1, 0], interpolation: steps", true, "but the value of table \"f\" jumps at 1",
         "interpolation: smooth"},
        {"x: [0, 1, 2], y: [0, 1, 3], interpolation: smooth", false, "where table \"f\" begins at 0",
         "let the table end level"},
        {"x: [0, 1, 2], y: [0, 1, 3], interpolation: smooth, beyond: repeat", false,
         "where table \"f\" begins again at 2", "let the table end as it begins"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "linkwork: 1\ntables:\n  f: {%s}\nbodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\n"
                 "joints:\n  j: {type: revolute, axis: [1, 0, 0], point: [0, 0, 0], between: [ground, b], "
                 "motion: f(t)}\n",
                 cases[k].table);
        lw_spec *spec = read_text_spec(text);
        lw_report *report = lw_report_create();
        lw_model *model = NULL;
        assert_int_equal(lw_model_compile(spec, NULL, report, &model) == LW_OK, !cases[k].fault);
        must_say(report, cases[k].fault ? LW_SEVERITY_ERROR : LW_SEVERITY_WARNING, "joint \"j\"",
                 cases[k].message, cases[k].remedy);
        lw_report_destroy(report);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
}

/* --- laws ----------------------------------------------------------------------------------------- */

/* A spring by a table, as a force's own table, as a call and as a sum of calls: the same motion, and a
 * potential that keeps the energy. */
static void laws(void **state) {
    (void)state;
    const char *const springs[] = {
        "table: {x: [-0.5, -0.1, 0, 0.2, 0.6], force: [-60, -20, 0, 10, 80], smooth: true}", "law: k(x)",
        "law: \"0.5*k(x) - k2(-x)/4\""};
    double q[3] = {0}, v[3] = {0};
    for (int k = 0; k < 3; k++) {
        lw_model *model = model_of(
            "linkwork: 1\ntables:\n"
            "  k: {x: [-0.5, -0.1, 0, 0.2, 0.6], y: [-60, -20, 0, 10, 80], interpolation: smooth, beyond: "
            "linear}\n"
            "  k2: {x: [-0.6, -0.2, 0, 0.1, 0.5], y: [-160, -20, 0, 40, 120], interpolation: smooth, beyond: "
            "linear}\n"
            "bodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\n"
            "joints:\n  x: {type: prismatic, axis: [0, 0, 1], between: [ground, b], v: 3}\nforces:\n"
            "  s: {type: spring, between: [ground, b], points: [[0, 0, 2], [0, 0, 1]], length: 1, %s}\n",
            springs[k]);
        lw_run_options options;
        lw_run_summary summary;
        lw_error error = {0};
        lw_run_defaults(model, &options);
        options.method = "tree", options.integrator = "erk", options.tolerance = 1e-11, options.end = 5;
        assert_int_equal(lw_simulate(model, &options, &q[k], &v[k], &summary, &error), LW_OK);
        if (!(summary.energy_max_drift < 1e-8) || summary.ledger.forces != 0)
            fail_msg("law %d: drift %g, work %g", k, summary.energy_max_drift, summary.ledger.forces);
        lw_model_destroy(model);
    }
    assert_true(fabs(q[1] - q[0]) < 1e-9 && fabs(q[2] - q[0]) < 1e-8 && fabs(v[2] - v[0]) < 1e-7);
}

/* --- specs ---------------------------------------------------------------------------------------- */

static char *text_of(const lw_spec *spec) {
    char *text;
    size_t length;
    lw_error error;
    if (lw_model_text(spec, &text, &length, &error) != LW_OK) fail_msg("%s", error.message);
    return text;
}

/* Written and saved, a table comes back to the last bit; parameters that its points depend on can be set, and
 * reach what calls it. */
static void specs(void **state) {
    (void)state;
    static const char model[] =
        "linkwork: 1\nparameters: {a: 2, b: 1}\ntables:\n"
        "  g: {x: [0, b, a], y: [0, a^2, 1/3], interpolation: smooth, beyond: repeat}\n"
        "  h: {x: [-1e-3, 0.1], y: [5, 7], interpolation: steps}\n"
        "bodies:\n  c: {mass: \"g(0.5) + h(1)\", inertia: [1, 1, 1]}\njoints:\n"
        "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, c], q: h(b)}\n";
    lw_spec *spec = read_text_spec(model), *loaded, *again;
    char *text = text_of(spec), *other;
    lw_error error;
    size_t size;
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &loaded, &error), LW_OK);
    other = text_of(loaded);
    assert_string_equal(text, other);
    free(other);
    again = read_text_spec(text);
    other = text_of(again);
    assert_string_equal(text, other);
    for (int k = 0; k < 2; k++) { /* the spec as read, and from bytes */
        lw_spec *s = k ? loaded : spec;
        assert_int_equal(lw_spec_set_parameter(s, "a", 3, &error), LW_OK);
        const lw_setting setting = {"a", "3"};
        lw_spec *fresh;
        assert_int_equal(lw_read_model_text(model, strlen(model), "text", &setting, 1, NULL, &fresh), LW_OK);
        assert_true(lw_spec_body(s, 0)->mass == lw_spec_body(fresh, 0)->mass);
        assert_true(lw_spec_body(s, 0)->mass != lw_spec_body(again, 0)->mass);
        assert_memory_equal(lw_spec_table(s, 0)->x, lw_spec_table(fresh, 0)->x, 3 * sizeof(double));
        assert_memory_equal(lw_spec_table(s, 0)->y, lw_spec_table(fresh, 0)->y, 3 * sizeof(double));
        /* A value with which x does not ascend is refused, and the spec is as it was. */
        assert_int_equal(lw_spec_set_parameter(s, "a", 0.5, &error), LW_ERROR_MODEL);
        assert_non_null(strstr(error.message, "x does not ascend"));
        assert_true(lw_spec_table(s, 0)->x[2] == 3);
        lw_spec_destroy(fresh);
    }
    /* damaged bytes */
    for (size_t k = 0; k < size; k += 7) {
        unsigned char *copy = malloc(size);
        lw_spec *wrong;
        memcpy(copy, bytes, size);
        copy[k] ^= 0x41;
        assert_int_not_equal(lw_spec_load(copy, size, &wrong, NULL), LW_OK);
        assert_int_not_equal(lw_spec_load(copy, k, &wrong, NULL), LW_OK);
        free(copy);
    }
    free(text);
    free(other);
    free(bytes);
    lw_spec_destroy(spec);
    lw_spec_destroy(loaded);
    lw_spec_destroy(again);
}

/* --- files ---------------------------------------------------------------------------------------- */

static void put_file(const char *folder, const char *name, const char *text) {
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool file_has(const char *folder, const char *name, const char *part) {
    char path[700], text[4000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return strstr(text, part) != NULL;
}

static lw_spec *read_from(const char *folder, const char *name) {
    char path[700];
    lw_spec *spec = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(lw_read_model(path, NULL, 0, NULL, &spec), LW_OK);
    return spec;
}

static void write_to(const lw_spec *spec, const char *folder, const char *name) {
    char path[700];
    lw_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (lw_write_model(spec, path, &error) != LW_OK) fail_msg("%s", error.message);
}

static void same_points(lw_spec *a, lw_spec *b) {
    const lw_table_spec *one = lw_spec_table(a, 0), *other = lw_spec_table(b, 0);
    assert_int_equal(one->size, other->size);
    assert_memory_equal(one->x, other->x, (size_t)one->size * sizeof(double));
    assert_memory_equal(one->y, other->y, (size_t)one->size * sizeof(double));
}

/* A table of a file is written as columns of this file as long as that gives its points, else as points. */
static void files(void **state) {
    (void)state;
    char folder[] = "/tmp/linkwork-tables-XXXXXX", inner[300], command[400];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(command, sizeof command, "mkdir '%s'", inner);
    assert_int_equal(system(command), 0);
    put_file(folder, "road.csv", "time [ms],height [mm]\n0,0\n10,0.1\n20,3\n");
    put_file(folder, "model.yaml",
             "linkwork: 1\ninputs: {u: 1 m}\ntables:\n  road: {file: road.csv, x: time, y: height, beyond: "
             "linear}\n"
             "bodies:\n  b: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"
             "  x: {type: prismatic, axis: [1, 0, 0], between: [ground, b]}\nforces:\n"
             "  f: {type: drive, joint: x, force: \"5 N/m*(road(t) + u)\"}\n");
    lw_spec *spec = read_from(folder, "model.yaml"), *back;
    assert_true(lw_spec_table(spec, 0)->x[1] == 0.01 && lw_spec_table(spec, 0)->y[1] == 0.1 / 1000);
    write_to(spec, folder, "again.yaml");
    assert_true(file_has(folder, "again.yaml", "file: road.csv"));
    back = read_from(folder, "again.yaml");
    same_points(spec, back);
    lw_spec_destroy(back);
    write_to(spec, inner, "moved.yaml"); /* no road.csv there */
    assert_false(file_has(inner, "moved.yaml", "file:"));
    back = read_from(inner, "moved.yaml");
    same_points(spec, back);
    lw_spec_destroy(back);
    /* through bytes */
    size_t size;
    lw_error error = {0};
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    assert_int_equal(lw_spec_load(bytes, size, &back, &error), LW_OK);
    same_points(spec, back);
    write_to(back, folder, "again.yaml");
    assert_true(file_has(folder, "again.yaml", "file: road.csv"));
    lw_spec_destroy(back);
    free(bytes);
    /* other points in the spec, or in the file */
    const double *y = lw_spec_table(spec, 0)->y, other[] = {1, 2, 3};
    lw_spec_table(spec, 0)->y = other;
    write_to(spec, folder, "again.yaml");
    assert_false(file_has(folder, "again.yaml", "file:"));
    lw_spec_table(spec, 0)->y = y;
    put_file(folder, "road.csv", "time [ms],height [mm]\n0,0\n10,0.1\n20,4\n");
    write_to(spec, folder, "again.yaml");
    assert_false(file_has(folder, "again.yaml", "file:"));
    back = read_from(folder, "again.yaml");
    same_points(spec, back);
    lw_spec_destroy(back);
    /* an input from a column: its dimension must fit; the written model holds it */
    char path[700];
    put_file(folder, "u.csv", "t,u [mm],m [kg]\n0,0,0\n1,1,1\n");
    snprintf(path, sizeof path, "%s/u.csv", folder);
    assert_int_equal(lw_read_input(spec, "u", path, "m", &error), LW_ERROR_FILE);
    assert_non_null(strstr(error.message, "the column is a mass, the input a length"));
    assert_int_equal(lw_read_input(spec, "u", path, "u", &error), LW_OK);
    assert_string_equal(lw_spec_input_expression(spec, 0), "u_over_time(t)");
    write_to(spec, folder, "again.yaml");
    back = read_from(folder, "again.yaml");
    assert_string_equal(lw_spec_input_expression(back, 0), "u_over_time(t)");
    assert_true(lw_spec_table(back, 1)->y[1] == 1.0 / 1000);
    lw_spec_destroy(back);
    lw_spec_destroy(spec);
    /* A model in memory has no files. */
    const char *text = "linkwork: 1\ntables: {f: {file: /etc/passwd, x: a, y: b}}\n";
    lw_report *report = lw_report_create();
    assert_int_equal(lw_read_model_text(text, strlen(text), "m", NULL, 0, report, &spec), LW_ERROR_MODEL);
    must_say(report, LW_SEVERITY_ERROR, "table \"f\"", "a model in memory has no folder", NULL);
    lw_report_destroy(report);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

static void refused_specs(void **state) {
    (void)state;
    const double x[] = {0, 1, 1}, y[] = {0, NAN, 1};
    lw_spec *spec = lw_spec_create("t");
    const lw_table_spec good = {.name = "f", .size = 2, .x = x, .y = x};
    assert_int_equal(lw_spec_add_table(NULL, &good), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_table(spec, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "f"}), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.size = 2, .x = x, .y = x}), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_add_table(spec, &good), LW_OK);
    assert_int_equal(lw_spec_add_table(spec, &good), LW_ERROR_ARGUMENT);
    lw_spec_add_parameter(spec, "p", 1);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "p", .size = 2, .x = x, .y = x}),
                     LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_table_count(spec), 1);
    assert_null(lw_spec_table(spec, 1));
    assert_int_equal(lw_spec_table_count(NULL), 0);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "up", .size = 3, .x = x, .y = x}),
                     LW_OK);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "nan", .size = 2, .x = x, .y = x}),
                     LW_OK);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "a b", .size = 2, .x = x, .y = x}),
                     LW_OK);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "n", .size = 2, .x = x, .y = y}),
                     LW_OK);
    assert_int_equal(lw_spec_add_table(spec, &(lw_table_spec){.name = "one", .size = 1, .x = x, .y = x}),
                     LW_OK);
    assert_int_equal(
        lw_spec_add_table(spec, &(lw_table_spec){.name = "k", .size = 2, .x = x, .y = x, .interpolation = 9}),
        LW_OK);
    lw_report *report = compile_and_fail(spec);
    must_say(report, LW_SEVERITY_ERROR, "table \"up\"", "point 3: x does not ascend", NULL);
    must_say(report, LW_SEVERITY_ERROR, "table \"nan\"", "name is taken by", NULL);
    must_say(report, LW_SEVERITY_ERROR, "table \"a b\"", "cannot stand in expressions", NULL);
    must_say(report, LW_SEVERITY_ERROR, "table \"n\"", "point 2: y is not a finite number", NULL);
    must_say(report, LW_SEVERITY_ERROR, "table \"one\"", "1 point is no function", NULL);
    must_say(report, LW_SEVERITY_ERROR, "table \"k\"", "interpolation 9", NULL);
    lw_report_destroy(report);
}

/* A motion by a table that ends steep, in a run that ends with it: the last sample still has speed and power. */
static void runs_end_with_their_table(void **state) {
    (void)state;
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    static const char text[] =
        "linkwork: 1\ntables: {was: {x: [0, 1, 2], y: [0, 3, 6], interpolation: smooth}}\n"
        "bodies: {b: {mass: 2, inertia: [1, 1, 1]}}\n"
        "joints: {y: {type: prismatic, between: [ground, b], axis: [0, 0, 1], motion: was(t)}}\n"
        "run: {end: 2}\n";
    assert_int_equal(lw_read_model_text(text, sizeof text - 1, "text", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    static const char *const integrators[] = {"erk", "adams", "bdf", "rk4"};
    for (size_t k = 0; k < sizeof integrators / sizeof *integrators; k++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error error = {0};
        double q, v;
        lw_run_defaults(model, &options);
        options.integrator = integrators[k];
        if (k == 3) options.step = 1e-2;
        if (lw_simulate(model, &options, &q, &v, &summary, &error) != LW_OK)
            fail_msg("%s: %s", integrators[k], error.message);
        assert_true(fabs(q - 6) < 1e-12 && fabs(v - 3) < 1e-12);
        assert_true(summary.verdict.ok); /* the weight is lifted by 6 m: all of it by the drive */
        assert_true(fabs(summary.ledger.drives - 2 * 9.81 * 6) < 1e-9);
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_with_their_table),
        cmocka_unit_test(road_against_expression),
        cmocka_unit_test(all_ways),
        cmocka_unit_test(pulses),
        cmocka_unit_test(repeated_knots),
        cmocka_unit_test(motions),
        cmocka_unit_test(refused_motions),
        cmocka_unit_test(laws),
        cmocka_unit_test(specs),
        cmocka_unit_test(files),
        cmocka_unit_test(refused_specs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
