/* problems.c - reads what problems/ holds, and models written in a test.
 */
#include "problems.h"
#include "build.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lw_spec *good_spec(const char *name, lw_status status, lw_spec *spec, lw_report *report) {
    if (status != LW_OK || lw_report_size(report) > 0) {
        show_report(report);
        fail_msg("%s: not read, or not without remarks", name);
    }
    lw_report_destroy(report);
    return spec;
}

lw_spec *read_problem_spec(const char *problem, const lw_setting *settings, size_t count) {
    char path[512];
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    snprintf(path, sizeof path, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, problem);
    lw_status status = lw_read_model(path, settings, count, report, &spec);
    return good_spec(problem, status, spec, report);
}

lw_spec *read_text_spec(const char *text) {
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    lw_status status = lw_read_model_text(text, strlen(text), "text", NULL, 0, report, &spec);
    return good_spec("text", status, spec, report);
}

lw_model *read_problem(const char *problem) { return compile_or_fail(read_problem_spec(problem, NULL, 0)); }

lw_model *read_problem_with(const char *problem, const char *parameter, const char *value) {
    const lw_setting setting = {parameter, value};
    return compile_or_fail(read_problem_spec(problem, &setting, parameter ? 1 : 0));
}

void read_reference(const char *file_name, reference_table *out) {
    char path[512], line[4096];
    snprintf(path, sizeof path, "%s/problems/%s", LW_SOURCE_DIR, file_name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    out->rows = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        assert_true(out->rows < REFERENCE_ROWS);
        int column = 0;
        for (char *at = line, *end; *at && *at != '\n'; at = *end == ',' ? end + 1 : end) {
            assert_true(column < REFERENCE_COLUMNS);
            out->at[out->rows][column++] = strtod(at, &end);
            assert_ptr_not_equal(at, end);
        }
        out->rows++;
    }
    fclose(file);
    assert_true(out->rows > 1);
}
