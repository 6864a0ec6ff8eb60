/* test_error.c - formatting, filling and reporting faults; "did you mean". */
#include "core/core.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static void check_format(const lw_error *error, const char *expected) {
    char text[2048];
    int length = lw_error_format(error, text, sizeof text);
    assert_string_equal(text, expected);
    assert_int_equal(length, (int)strlen(expected));
}

static void format_has_all_parts(void **state) {
    (void)state;
    lw_error error = {.status = LW_ERROR_MODEL,
                      .file = "crane.yaml",
                      .place = {41, 11},
                      .object = "joint \"boom_pin\"",
                      .message = "axis [0, 0, 0] has no direction",
                      .remedy = "give any non-zero vector, e.g. [0, 0, 1]"};
    check_format(&error, "crane.yaml:41:11: joint \"boom_pin\": axis [0, 0, 0] has no direction; "
                         "give any non-zero vector, e.g. [0, 0, 1]");
    error.severity = LW_SEVERITY_WARNING;
    error.remedy[0] = '\0';
    check_format(&error, "crane.yaml:41:11: warning: joint \"boom_pin\": axis [0, 0, 0] has no direction");
    error.place.column = 0;
    error.object[0] = '\0';
    check_format(&error, "crane.yaml:41: warning: axis [0, 0, 0] has no direction");
    error.place.line = 0;
    check_format(&error, "crane.yaml: warning: axis [0, 0, 0] has no direction");
    error.file[0] = '\0';
    error.severity = LW_SEVERITY_ERROR;
    check_format(&error, "axis [0, 0, 0] has no direction");
    error.message[0] = '\0';
    check_format(&error, "the model is wrong");
}

static void format_respects_the_size(void **state) {
    (void)state;
    lw_error error = {.status = LW_ERROR_FILE, .file = "a", .place = {2, 3}, .message = "gone"};
    const char *whole = "a:2:3: gone";
    for (size_t size = 0; size <= strlen(whole) + 2; size++) {
        char text[32];
        memset(text, '#', sizeof text);
        assert_int_equal(lw_error_format(&error, text, size), (int)strlen(whole));
        if (size > 0) {
            size_t kept = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
            assert_memory_equal(text, whole, kept);
            assert_int_equal(text[kept], '\0');
        }
        assert_int_equal(text[size], '#');
    }
    assert_int_equal(lw_error_format(&error, NULL, 0), (int)strlen(whole));
}

static void every_status_has_its_text(void **state) {
    (void)state;
    for (int a = LW_OK; a <= LW_ERROR_STOPPED; a++) {
        assert_true(strlen(lw_status_text((lw_status)a)) > 0);
        for (int b = LW_OK; b < a; b++) {
            assert_string_not_equal(lw_status_text((lw_status)a), lw_status_text((lw_status)b));
        }
    }
    assert_string_equal(lw_status_text((lw_status)99), "unknown status");
}

static void fail_fills_the_error(void **state) {
    (void)state;
    lw_error error;
    memset(&error, 0x55, sizeof error);
    assert_int_equal(lw_fail(&error, LW_ERROR_ARGUMENT, "option \"--tol\"", "give a positive number",
                             "%g is %s", 0.0, "not positive"),
                     LW_ERROR_ARGUMENT);
    assert_int_equal(error.status, LW_ERROR_ARGUMENT);
    check_format(&error, "option \"--tol\": 0 is not positive; give a positive number");
    assert_int_equal(lw_fail(&error, LW_ERROR_MEMORY, NULL, NULL, "no %d bytes", 7), LW_ERROR_MEMORY);
    check_format(&error, "no 7 bytes");
    assert_int_equal(lw_fail(NULL, LW_ERROR_FILE, "x", "y", "z"), LW_ERROR_FILE);
}

/* What does not fit ends in "..." and is cut between characters; each letter here is two bytes of UTF-8. */
static void long_texts_are_cut_cleanly(void **state) {
    (void)state;
    enum { LETTERS = 600 };
    char text[2 * LETTERS + 1];
    for (int k = 0; k < LETTERS; k++) memcpy(text + 2 * k, "\xC3\xA4", 2);
    text[2 * LETTERS] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        lw_error error;
        lw_fail(&error, LW_ERROR_MODEL, text + (shift ? 2 : 0), text, "%s%s", shift ? "a" : "", text);
        const char *fields[] = {error.object, error.remedy, error.message};
        size_t sizes[] = {sizeof error.object, sizeof error.remedy, sizeof error.message};
        for (int f = 0; f < 3; f++) {
            size_t length = strlen(fields[f]);
            assert_in_range(length, sizes[f] - 3, sizes[f] - 1);
            assert_string_equal(fields[f] + length - 3, "...");
            size_t letters = length - 3 - (f == 2 && shift ? 1 : 0);
            assert_int_equal(letters % 2, 0);
        }
    }
    /* exactly full: nothing to cut */
    lw_error error;
    text[sizeof error.remedy - 1] = '\0';
    memset(text, 'r', sizeof error.remedy - 1);
    lw_fail(&error, LW_ERROR_MODEL, NULL, text, "m");
    assert_string_equal(error.remedy, text);
}

static void a_report_keeps_the_order(void **state) {
    (void)state;
    lw_report *report = lw_report_create();
    assert_non_null(report);
    assert_int_equal(lw_report_size(report), 0);
    assert_null(lw_report_get(report, 0));
    for (int k = 0; k < 100; k++) {
        lw_complain(report, k % 3 ? LW_SEVERITY_ERROR : LW_SEVERITY_WARNING, "m.yaml", (lw_place){k + 1, 2},
                    "body \"b\"", NULL, "fault %d", k);
    }
    assert_int_equal(lw_report_size(report), 100);
    assert_int_equal(lw_report_errors(report), 66); /* 100 less the 34 multiples of three */
    for (int k = 0; k < 100; k++) {
        char expected[100];
        snprintf(expected, sizeof expected, "m.yaml:%d:2: %sbody \"b\": fault %d", k + 1,
                 k % 3 ? "" : "warning: ", k);
        check_format(lw_report_get(report, (size_t)k), expected);
        assert_int_equal(lw_report_get(report, (size_t)k)->status, LW_ERROR_MODEL);
    }
    lw_error copy = *lw_report_get(report, 1);
    assert_int_equal(lw_report_add(report, &copy), LW_OK);
    assert_true(lw_report_size(report) == 101 && lw_report_errors(report) == 67);
    check_format(lw_report_get(report, 100), "m.yaml:2:2: body \"b\": fault 1");
    lw_report_destroy(report);
}

static void a_full_report_says_so(void **state) {
    (void)state;
    lw_report *report = lw_report_create();
    assert_non_null(report);
    for (int k = 0; k < 1000; k++) {
        lw_complain(report, LW_SEVERITY_WARNING, "m.yaml", (lw_place){1, 1}, NULL, NULL, "%d", k);
    }
    assert_int_equal(lw_report_size(report), 1000);
    lw_complain(report, LW_SEVERITY_WARNING, "m.yaml", (lw_place){1, 1}, NULL, NULL, "one more");
    assert_int_equal(lw_report_size(report), 1001);
    assert_int_equal(lw_report_errors(report), 0);
    /* an error that is not kept must not be forgotten */
    lw_complain(report, LW_SEVERITY_ERROR, "m.yaml", (lw_place){1, 1}, NULL, NULL, "a true error");
    for (int k = 0; k < 100; k++) {
        lw_complain(report, LW_SEVERITY_WARNING, "m.yaml", (lw_place){1, 1}, NULL, NULL, "late %d", k);
    }
    assert_int_equal(lw_report_size(report), 1001);
    assert_int_equal(lw_report_errors(report), 1);
    check_format(lw_report_get(report, 1000),
                 "m.yaml: there are more than 1000 faults; further ones are not listed; "
                 "mend these first and look again");
    lw_report_destroy(report);
}

static void no_report_is_no_fault(void **state) {
    (void)state;
    lw_complain(NULL, LW_SEVERITY_ERROR, "f", (lw_place){1, 1}, NULL, NULL, "nobody listens");
    assert_int_equal(lw_report_size(NULL), 0);
    assert_int_equal(lw_report_errors(NULL), 0);
    assert_null(lw_report_get(NULL, 0));
    lw_report_destroy(NULL);
}

static void the_closest_name_is_found(void **state) {
    (void)state;
    const char *names[] = {"revolute", "prismatic", "screw", "free", "weld", "", NULL, "x", "Boom"};
    const size_t count = sizeof names / sizeof *names;
    const struct {
        const char *word, *closest;
    } cases[] = {{"revolut", "revolute"},
                 {"revoltue", "revolute"},
                 {"rvoluet", "revolute"},
                 {"prizmatik", "prismatic"},
                 {"screw", "screw"},
                 {"SCREW", "screw"},
                 {"fre", "free"},
                 {"fere", "free"},
                 {"wild", "weld"},
                 {"boom", "Boom"},
                 {"bom", "Boom"},
                 {"y", NULL},
                 {"X", "x"},
                 {"", NULL},
                 {"hydraulic", NULL},
                 {"wxyz", NULL},
                 {"spherical", NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *closest = lw_closest(cases[k].word, names, count);
        if (cases[k].closest) {
            assert_non_null(closest);
            assert_string_equal(closest, cases[k].closest);
        } else {
            assert_null(closest);
        }
    }
    assert_null(lw_closest(NULL, names, count));
    assert_null(lw_closest("word", NULL, 0));
}

/* A megabyte of one letter costs no quadratic time and is still found when it is equal. */
static void very_long_words_are_cheap(void **state) {
    (void)state;
    enum { LENGTH = 1000000 };
    char *word = malloc(LENGTH + 1), *other = malloc(LENGTH + 1);
    assert_non_null(word);
    assert_non_null(other);
    memset(word, 'a', LENGTH);
    memset(other, 'A', LENGTH);
    word[LENGTH] = other[LENGTH] = '\0';
    const char *names[] = {"aaa", other};
    assert_ptr_equal(lw_closest(word, names, 2), other);
    other[LENGTH - 1] = 'b';
    assert_null(lw_closest(word, names, 2));
    assert_null(lw_closest("aab", names + 1, 1));
    free(word);
    free(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(format_has_all_parts),       cmocka_unit_test(format_respects_the_size),
        cmocka_unit_test(every_status_has_its_text),  cmocka_unit_test(fail_fills_the_error),
        cmocka_unit_test(long_texts_are_cut_cleanly), cmocka_unit_test(a_report_keeps_the_order),
        cmocka_unit_test(a_full_report_says_so),      cmocka_unit_test(no_report_is_no_fault),
        cmocka_unit_test(the_closest_name_is_found),  cmocka_unit_test(very_long_words_are_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
