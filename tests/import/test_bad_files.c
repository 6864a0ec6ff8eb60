/* test_bad_files.c - bad files of other formats: each must give its messages, all of them, and nothing else.
 *
 * tests/import/fault/expected*.txt have a line  FILE: message  for each, in the order of the report, without
 * the folder. What would be too large for a repository is made here. Every message has a remedy.
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linkwork/linkwork.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FOLDER LW_SOURCE_DIR "/tests/import/fault/"

static lw_report *messages_of(const char *path) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_import(path, NULL, report, &spec);
    assert_int_equal(status == LW_OK, spec != NULL);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return report;
}

static size_t bad; /* lines that were not as expected */

/* Checks the lines of one file, which begin with its name. */
static void check(const char *name, const char *const *lines, size_t count) {
    char path[1024], text[2048];
    snprintf(path, sizeof path, FOLDER "%s", name);
    lw_report *report = messages_of(path);
    for (size_t k = 0; k < count || k < lw_report_size(report); k++) {
        text[0] = '\0';
        if (k < lw_report_size(report)) {
            lw_error_format(lw_report_get(report, k), text, sizeof text);
            assert_true(lw_report_get(report, k)->remedy[0] || lw_report_get(report, k)->severity);
        }
        const char *shown = strstr(text, "/fault/") ? strstr(text, "/fault/") + 7 : text;
        if (k < count && strcmp(shown, lines[k]) == 0) continue;
        print_message("%s:\n  wanted %s\n  got    %s\n", name, k < count ? lines[k] : "nothing", shown);
        bad++;
    }
    lw_report_destroy(report);
}

enum { MOST_LINES = 1000, MOST_LENGTH = 1200 };

static size_t check_list(const char *list) {
    static char lines[MOST_LINES][MOST_LENGTH];
    FILE *file = fopen(list, "rb");
    size_t count = 0, files = 0;
    assert_non_null(file);
    while (count < MOST_LINES && fgets(lines[count], MOST_LENGTH, file)) {
        lines[count][strcspn(lines[count], "\n")] = '\0';
        count++;
    }
    fclose(file);
    for (size_t first = 0, next; first < count; first = next, files++) {
        /* "> FILE" begins the messages of a file */
        const char *wanted[MOST_LINES];
        assert_true(strncmp(lines[first], "> ", 2) == 0);
        for (next = first + 1; next < count && strncmp(lines[next], "> ", 2) != 0; next++)
            wanted[next - first - 1] = lines[next];
        check(lines[first] + 2, wanted, next - first - 1);
    }
    return files;
}

static void test_listed(void **state) {
    (void)state;
    glob_t found;
    size_t files = 0;
    assert_int_equal(glob(FOLDER "expected*.txt", 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++) files += check_list(found.gl_pathv[k]);
    globfree(&found);
    assert_int_equal(bad, 0);
    assert_true(files >= 90);
}

/* --- made here ------------------------------------------------------------------------------------ */

/* The first message of a text, which must be refused quickly. */
static void expect(const char *text, size_t length, const char *wanted) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    char shown[2048] = "";
    const clock_t start = clock();
    const lw_status status = lw_import_text(text, length, "text", NULL, report, &spec);
    if (lw_report_size(report) > 0) lw_error_format(lw_report_get(report, 0), shown, sizeof shown);
    if (status == LW_OK || !strstr(shown, wanted)) fail_msg("wanted \"%s\", got \"%s\"", wanted, shown);
    assert_null(spec);
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
    lw_report_destroy(report);
}

/* head, then count times part, then tail. */
static char *repeat(const char *head, const char *part, int count, const char *tail) {
    const size_t size = strlen(part);
    char *text = malloc(strlen(head) + size * (size_t)count + strlen(tail) + 1), *at = text;
    assert_non_null(text);
    at = stpcpy(at, head);
    for (int k = 0; k < count; k++) at = stpcpy(at, part);
    strcpy(at, tail);
    return text;
}

static void test_deep(void **state) {
    (void)state;
    char *text = repeat("<robot name=\"r\">", "<link>", 100000, "");
    expect(text, strlen(text), "more than 250 deep");
    free(text);
    text = repeat("<sdf version=\"1.9\">", "<model name=\"m\">", 100000, "");
    expect(text, strlen(text), "more than 250 deep");
    free(text);
    text = repeat("<robot name=\"r\">", "<x/>", 1100000, "</robot>");
    expect(text, strlen(text), "more than a million elements");
    free(text);
}

static void test_bytes(void **state) {
    (void)state;
    static const char nul[] = "<robot name=\"r\">\0</robot>";
    expect(nul, sizeof nul - 1, "not well-formed");
    static const char bad_utf8[] = "<robot name=\"r\"><link name=\"\xff\xfe\"/></robot>";
    expect(bad_utf8, sizeof bad_utf8 - 1, "not well-formed");
    static const char cut[] = "<robot name=\"r\"><link name=\"a";
    for (size_t length = 8; length < sizeof cut; length++) expect(cut, length, "");
    assert_int_equal(lw_import_text(NULL, 3, "x", NULL, NULL, NULL), LW_ERROR_ARGUMENT);
    lw_spec *spec = NULL;
    const lw_import_options wrong = {.base = (lw_import_base)7};
    assert_int_equal(lw_import("x", &wrong, NULL, &spec), LW_ERROR_ARGUMENT);
    assert_int_equal(lw_import(NULL, NULL, NULL, &spec), LW_ERROR_ARGUMENT);
    assert_null(lw_import_notes_get(NULL, 0));
    assert_int_equal(lw_import_notes_size(NULL), 0);
    assert_string_equal(lw_import_format_name((lw_import_format)99), "unknown");
}

/* Every beginning of a good file is refused or read, without a fault of memory. */
static void test_cut_off(void **state) {
    (void)state;
    static const char *const names[] = {"../tree.urdf", "../loop_native.sdf"};
    for (int n = 0; n < 2; n++) {
        char path[1024], *text = NULL;
        snprintf(path, sizeof path, FOLDER "%s", names[n]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        text = calloc(1, 1 << 16);
        assert_non_null(text);
        const size_t length = fread(text, 1, (1 << 16) - 1, file);
        fclose(file);
        for (size_t k = 1; k < length; k += 7) {
            lw_spec *spec = NULL;
            char *part = malloc(k); /* of its own size, for the sanitizer */
            assert_non_null(part);
            memcpy(part, text, k);
            (void)lw_import_text(part, k, "text", NULL, NULL, &spec);
            lw_spec_destroy(spec);
            free(part);
        }
        free(text);
    }
}

/* --- speed ---------------------------------------------------------------------------------------- */

/* A chain of 100 links takes less than 20 ms; the shortest of several times counts, since others use the
 * machine too. Sanitizers are slower by more than ten times. */
static void test_speed(void **state) {
    (void)state;
    char *text = malloc(100000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "<robot name=\"chain\">\n");
    for (int k = 0; k <= 100; k++)
        at += sprintf(
            at,
            "<link name=\"l%d\"><inertial><origin xyz=\"0 0 0.1\"/><mass value=\"1\"/><inertia ixx=\"1\" "
            "iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial><visual><geometry><box size=\"1 1 "
            "1\"/></geometry></visual></link>\n",
            k);
    for (int k = 1; k <= 100; k++)
        at += sprintf(at,
                      "<joint name=\"j%d\" type=\"revolute\"><parent link=\"l%d\"/><child "
                      "link=\"l%d\"/><origin xyz=\"0 0 "
                      "1\"/><axis xyz=\"0 1 0\"/><limit lower=\"-1\" upper=\"1\"/></joint>\n",
                      k, k - 1, k);
    at += sprintf(at, "</robot>\n");
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
        lw_spec *spec = NULL;
        const clock_t start = clock();
        assert_int_equal(lw_import_text(text, (size_t)(at - text), "chain", NULL, NULL, &spec), LW_OK);
        const double time = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (time < best) best = time;
        assert_int_equal(lw_spec_body_count(spec), 101);
        lw_spec_destroy(spec);
    }
    print_message("100 links in %.2f ms\n", 1e3 * best);
    assert_true(best < 0.02);
    free(text);
}

/* Typing errors in URDF and SDF are warnings with what was meant; what resembles nothing is counted. */
static void test_typing_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *words[8];
    } files[] = {
        {"<robot name='t'><link name='b'/><link name='a'><inertial><mass vale='1' value='2'/><orign xyz='1 0 "
         "0'/>"
         "<inertia ixx='1' iyy='1' izz='1' izy='2'/></inertial></link><joint name='j' type='revolute'>"
         "<parent link='b'/><child link='a'/><orgin xyz='1 2 3'/><axis xzy='0 0 1'/><limit lower='-1' "
         "uper='1'/>"
         "<dynamics dampng='3' K='7'/><joint_properties/></joint></robot>",
         {"vale", "orign", "izy", "orgin", "xzy", "uper", "dampng", NULL}},
        {"<sdf version='1.9'><model name='m'><link "
         "name='a'><inertial><mas>1</mas><inertia><iyyy>3</iyyy></inertia>"
         "</inertial></link><joint name='j' type='revolute'><parent>world</parent><child>a</child><whatever/>"
         "<axis><xyz expresed_in='a'>0 0 "
         "1</xyz><limits/><dynamics><dampng>1</dampng></dynamics></axis></joint>"
         "</model></sdf>",
         {"mas", "iyyy", "expresed_in", "limits", "dampng", NULL}}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        lw_import_options options;
        lw_report *report = lw_report_create();
        lw_spec *spec = NULL;
        int counted = 0;
        lw_import_defaults(&options);
        options.notes = lw_import_notes_create();
        assert_int_equal(
            lw_import_text(files[k].text, strlen(files[k].text), "text", &options, report, &spec), LW_OK);
        for (int w = 0; files[k].words[w]; w++) {
            bool found = false;
            for (size_t i = 0; i < lw_report_size(report); i++) {
                const lw_error *error = lw_report_get(report, i);
                found |= strstr(error->message, files[k].words[w]) && strstr(error->remedy, "did you mean");
            }
            if (!found) fail_msg("no word about \"%s\"", files[k].words[w]);
        }
        for (size_t i = 0; i < lw_import_notes_size(options.notes); i++)
            counted +=
                strstr(lw_import_notes_get(options.notes, i)->meaning, "not known: passed over") != NULL;
        assert_int_equal(counted, k == 0 ? 2 : 1);
        lw_import_notes_destroy(options.notes);
        lw_spec_destroy(spec);
        lw_report_destroy(report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typing_errors), cmocka_unit_test(test_listed),  cmocka_unit_test(test_deep),
        cmocka_unit_test(test_bytes),         cmocka_unit_test(test_cut_off), cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
