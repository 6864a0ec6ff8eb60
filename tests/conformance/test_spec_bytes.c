/* test_spec_bytes.c - a spec as bytes comes back as the same spec, and damaged bytes never as another one.
 *
 * Round trips of all of problems/ and of a model with every kind of value: equal fields, text and
 * accelerations to the last bit, equal bytes when saved again, and parameters that can be changed as before.
 * Then damage: every bit of a small model, every length, and changes behind a checksum that fits, where the
 * bytes must be refused or be a spec that can be compiled, written, changed and saved without harm.
 */
#include "problems.h"
#include "same_spec.h"
#include "core/checksum.h"
#include "io/model_write/write_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char everything[] =
    "linkwork: 1\n"
    "name: everything\n"
    "parameters: {first: 2*L, L: 0.5, rho: 7850, a: 20 deg, m: 2, k: 30, N: 2}\n"
    "inputs: {push: k/10, pull: 1}\n"
    "gravity: [0, k/100, -9.81]\n"
    "bodies:\n"
    "  box: {shape: box, size: [L, 2*L, first], density: rho}\n"
    "  can: {mass: m, shape: {type: cylinder, radius: L/5, length: L, rotation: {axis: [L, 0, 1], angle: "
    "a}}}\n"
    "  full: {mass: m, inertia: [[2*m, m/10, 0], [m/10, 3*m, 0], [0, 0, 3*m]], rotation: {cardan: [a, 2*a, "
    "0]}}\n"
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
    "  link{i}: {repeat: {i: 1..N}, mass: m/i, inertia: [m*i, m*i, m*i], position: [i*L, 0, 0]}\n"
    "frames:\n"
    "  hook: {body: box, position: [L, 0, k/10], rotation: {axis: [0, L, 1], angle: a}}\n"
    "  eye: {body: can, position: [0, L, 0]}\n"
    "starts:\n"
    "  home: {a: {q: 2*a, v: k}, d: {rotation: {cardan: [a, 0, 0]}, velocity: [L, 0, 0]}}\n"
    "  away: {'j{i}': {repeat: {i: 1..N}, q: i*L}}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, box], point: [L, 0, 0], axis: [0, L, 1], q: a, v: k/10}\n"
    "  c: {type: screw, between: [box, can], point: [0, 0, L], axis: [0, 0, 1], lead: L/100, motion: "
    "L*sin(k*t)}\n"
    "  d: {type: free, between: [ground, full], position: [L, 0, 0], rotation: {cardan: [0, a, 0]}}\n"
    "  parts: {type: free, between: [ground, parts]}\n"
    "  shared: {type: free, between: [ground, shared]}\n"
    "  wedge: {type: free, between: [ground, wedge]}\n"
    "  wedges: {type: free, between: [ground, wedges]}\n"
    "  j{i}: {repeat: {i: 1..N}, type: revolute, between: [ground, 'link{i}'], point: [i*L, 0, 0], axis: [0, "
    "1, 0]}\n"
    "forces:\n"
    "  s: {type: spring, between: [ground, box], points: [[L, 0, 1], [0, 0, 0]], stiffness: k, length: L, "
    "law: k*x^3 + push*x}\n"
    "  t: {type: torsion, joint: a, free: a, table: {x: [-L/m, 0, L/m], torque: [-k, 0, k/2]}}\n"
    "  w: {type: applied, body: can, point: [0, L, 0], frame: body, force: [k*t, pull, 0]}\n"
    "  y: {type: drive, joint: j1, torque: k*push}\n"
    "  e: {type: spring, between: [hook, eye], stiffness: k, length: L}\n"
    "constraints:\n"
    "  g: {type: coupling, terms: [{joint: j1, factor: L}, {joint: j2, factor: -k}]}\n"
    "run: {end: k*0.1 s, method: lagrange, baumgarte: [k, k]}\n";

typedef struct bytes {
    unsigned char *at;
    size_t size;
} bytes;

static bytes save(const lw_spec *spec) {
    bytes b = {NULL, 0};
    assert_int_equal(lw_spec_save(spec, NULL, 0, &b.size), LW_OK);
    b.at = malloc(b.size);
    assert_non_null(b.at);
    size_t needed = 0;
    assert_int_equal(lw_spec_save(spec, b.at, b.size - 1, &needed), LW_ERROR_ARGUMENT);
    assert_int_equal(needed, b.size);
    assert_int_equal(lw_spec_save(spec, b.at, b.size, NULL), LW_OK);
    return b;
}

static lw_spec *load(const bytes *b) {
    lw_spec *spec = NULL;
    lw_error error = {0};
    if (lw_spec_load(b->at, b->size, &spec, &error) != LW_OK) fail_msg("%s: %s", what, error.message);
    return spec;
}

static char *written(const lw_spec *spec) {
    char *text = NULL;
    size_t length;
    assert_int_equal(lw_model_text(spec, &text, &length, NULL), LW_OK);
    return text;
}

static void same_accelerations(const lw_spec *a, const lw_spec *b) {
    enum { MOST = 600 };
    static double q[MOST], v[MOST], one[MOST], two[MOST];
    lw_model *first = NULL, *second = NULL;
    assert_int_equal(lw_model_compile(a, NULL, NULL, &first), LW_OK);
    assert_int_equal(lw_model_compile(b, NULL, NULL, &second), LW_OK);
    assert_true(lw_model_v_size(first) <= MOST && lw_model_q_size(first) <= MOST);
    lw_model_initial_state(first, q, v);
    lw_status status = lw_accelerations(first, "lagrange", 0, q, v, one, NULL, NULL, NULL);
    assert_int_equal(lw_accelerations(second, "lagrange", 0, q, v, two, NULL, NULL, NULL), status);
    if (status == LW_OK) same_numbers("model", "accelerations", one, two, lw_model_v_size(first));
    lw_model_destroy(first);
    lw_model_destroy(second);
}

/* There and back; consumes the spec. */
static void round_trip(lw_spec *spec) {
    text_under_test = "";
    bytes b = save(spec);
    lw_spec *back = load(&b);
    same_spec(spec, back);
    same_text("model", "file", lw_spec_file(spec), lw_spec_file(back));
    char *one = written(spec), *two = written(back);
    assert_string_equal(one, two);
    free(one), free(two);
    same_accelerations(spec, back);
    bytes again = save(back);
    assert_int_equal(again.size, b.size);
    assert_memory_equal(again.at, b.at, b.size);
    for (size_t k = 0; k < lw_spec_parameter_count(spec); k++) {
        double value;
        const char *name = lw_spec_parameter(spec, k, &value);
        lw_error here = {0}, there = {0};
        lw_status status = lw_spec_set_parameter(spec, name, 1.0625 * value, &here);
        assert_int_equal(lw_spec_set_parameter(back, name, 1.0625 * value, &there), status);
        assert_string_equal(here.message, there.message);
        assert_int_equal(here.place.line, there.place.line);
        same_spec(spec, back);
    }
    free(again.at);
    free(b.at);
    lw_spec_destroy(back);
    lw_spec_destroy(spec);
}

static lw_spec *read_everything(void) {
    lw_spec *spec = NULL;
    assert_int_equal(lw_read_model_text(everything, strlen(everything), "everything", NULL, 0, NULL, &spec),
                     LW_OK);
    return spec;
}

static void test_round_trips(void **state) {
    (void)state;
    what = "everything";
    round_trip(read_everything());
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    int models = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, LW_SOURCE_DIR "/problems/%s/model.yaml", entry->d_name);
        lw_spec *spec = NULL;
        if (entry->d_name[0] == '.' || lw_read_model(path, NULL, 0, NULL, &spec) != LW_OK) continue;
        what = path;
        round_trip(spec);
        models++;
    }
    closedir(folder);
    assert_true(models > 30);
}

/* A spec built by calls, with texts and a table of the caller's own in it. */
static void test_edited(void **state) {
    (void)state;
    static const double x[3] = {0, 1, 2}, y[3] = {0, 5, 6};
    what = "edited", text_under_test = "";
    lw_spec *spec = read_everything();
    lw_force_spec *torsion = lw_spec_force(spec, 1);
    torsion->law.table_x = x, torsion->law.table_y = y;
    lw_spec_body(spec, 1)->mass = 17;
    bytes b = save(spec);
    lw_spec *back = load(&b);
    same_spec(spec, back);
    assert_int_equal(lw_spec_set_parameter(spec, "m", 3, NULL), LW_OK);
    assert_int_equal(lw_spec_set_parameter(back, "m", 3, NULL), LW_OK);
    assert_true(lw_spec_body(back, 1)->mass == 17);
    same_spec(spec, back);
    free(b.at);
    lw_spec_destroy(back);
    lw_spec_destroy(spec);
}

static void expect_refusal(const void *at, size_t size, const char *part) {
    lw_spec *spec = NULL;
    lw_error error = {0};
    assert_int_equal(lw_spec_load(at, size, &spec, &error), LW_ERROR_FILE);
    assert_null(spec);
    if (part && !strstr(error.message, part)) fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void test_damage(void **state) {
    (void)state;
    what = "everything";
    lw_spec *spec = read_everything();
    bytes b = save(spec);
    /* One bit of every byte; all bits of the head, where each has a sentence of its own. */
    for (size_t k = 0; k < 8 * b.size; k += k < 512 ? 1 : 9 - k / 8 % 2 * 2) {
        b.at[k / 8] ^= (unsigned char)(1u << k % 8);
        expect_refusal(b.at, b.size,
                       k < 64               ? "no saved model"
                       : k >= 96 && k < 160 ? "bytes, but"
                                            : "checksum differs");
        b.at[k / 8] ^= (unsigned char)(1u << k % 8);
    }
    for (size_t size = 0; size < b.size; size++) {
        void *part = malloc(size + 1); /* of its own, so that a tool would see a byte read too many */
        memcpy(part, b.at, size);
        expect_refusal(part, size, size < 24 ? "no saved model" : "are given");
        free(part);
    }
    expect_refusal(NULL, 100, "no saved model");
    b.at[8] = 4; /* a newer version */
    uint32_t sum = lw_crc32(b.at, b.size - 4);
    for (int k = 0; k < 4; k++) b.at[b.size - 4 + (size_t)k] = (unsigned char)(sum >> 8 * k);
    expect_refusal(b.at, b.size, "version 4");
    assert_int_equal(lw_spec_load(b.at, b.size, NULL, NULL), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_spec_save(NULL, NULL, 0, NULL), LW_ERROR_ARGUMENT);
    free(b.at);
    lw_spec_destroy(spec);
}

static void use(lw_spec *spec) {
    lw_model *model = NULL;
    char *text = NULL;
    size_t length;
    lw_error error;
    lw_report *report = lw_report_create();
    (void)lw_model_compile(spec, NULL, report, &model);
    lw_model_destroy(model);
    lw_report_destroy(report);
    if (lw_model_text(spec, &text, &length, &error) == LW_OK) free(text);
    for (size_t k = 0; k < lw_spec_parameter_count(spec); k++)
        (void)lw_spec_set_parameter(spec, lw_spec_parameter(spec, k, NULL), 0.5, &error);
    bytes b = save(spec);
    free(b.at);
}

/* Changed bytes with a checksum that fits: whatever they say, nothing breaks. */
static void test_forgeries(void **state) {
    (void)state;
    enum { TRIES = 20000 };
    what = "forgery";
    lw_spec *spec = read_everything();
    bytes b = save(spec);
    unsigned char *copy = malloc(b.size);
    uint64_t random = 12345;
    int loaded = 0;
    const char *few = getenv("LW_TRIES"); /* for runs under valgrind */
    int tries = few ? atoi(few) : TRIES;
    for (int k = 0; k < tries; k++) {
        memcpy(copy, b.at, b.size);
        for (int change = 0; change <= k % 3; change++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = 20 + (size_t)(random >> 33) % (b.size - 28);
            static const unsigned char values[] = {0, 1, 2, 0x7F, 0x80, 0xFF, 0xFE, 16};
            unsigned char value = values[random >> 29 & 7];
            int width = random >> 28 & 1 ? 4 : 1;
            for (int i = 0; i < width; i++)
                copy[at + (size_t)i] = width == 4 && i > 0 && value < 0x7F ? 0 : value;
        }
        uint32_t sum = lw_crc32(copy, b.size - 4);
        for (int i = 0; i < 4; i++) copy[b.size - 4 + (size_t)i] = (unsigned char)(sum >> 8 * i);
        lw_spec *forged = NULL;
        lw_error error;
        if (lw_spec_load(copy, b.size, &forged, &error) != LW_OK) continue;
        use(forged);
        lw_spec_destroy(forged);
        loaded++;
    }
    print_message("%d of %d forgeries are specs\n", loaded, tries);
    assert_true(loaded > 0 && loaded < tries);
    free(copy);
    free(b.at);
    lw_spec_destroy(spec);
}

static void test_checksum(void **state) {
    (void)state;
    assert_int_equal(lw_crc32("123456789", 9), 0xCBF43926u); /* the check value of this CRC */
    assert_int_equal(lw_crc32("", 0), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksum), cmocka_unit_test(test_round_trips), cmocka_unit_test(test_edited),
        cmocka_unit_test(test_damage),   cmocka_unit_test(test_forgeries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
