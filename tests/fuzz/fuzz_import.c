/* fuzz_import.c - any bytes as a file of another format, LW_FUZZ_FORMAT: import, compile, write and read back.
 *
 * What must hold, besides no crash, no leak, no undefined behaviour and no hang:
 *   - an import that fails says why, one that succeeds gives a spec; what was left out has a kind and a count;
 *   - a mechanism that compiles can be written as a model file, which reads back and compiles, too.
 */
#include "demand.h"
#include "io/model_write/write_model.h"
#include "model/compiled_model.h"

#include <linkwork/linkwork.h>

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As in fuzz_model.c. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml"; }

static void check_report(const lw_report *report, bool good) {
    DEMAND(good == (lw_report_errors(report) == 0));
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1200];
        DEMAND(lw_error_format(lw_report_get(report, k), line, sizeof line) > 0);
        DEMAND(lw_report_get(report, k)->message[0]);
    }
}

static lw_model *compile(const lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model = NULL;
    const lw_status status = lw_compile_as_cut(spec, NULL, report, &model);
    DEMAND((status == LW_OK) == (model != NULL));
    check_report(report, status == LW_OK);
    lw_report_destroy(report);
    return model;
}

static void write_and_read(const lw_spec *spec) {
    char *text = NULL;
    size_t length = 0;
    lw_spec *back = NULL;
    lw_error error = {0};
    if (lw_model_text(spec, &text, &length, &error) != LW_OK) {
        fprintf(stderr, "%s: %s\n", error.object, error.message);
        abort();
    }
    lw_report *report = lw_report_create();
    const lw_status status = lw_read_model_text(text, length, "fuzz", NULL, 0, report, &back);
    for (size_t k = 0; k < lw_report_size(report) && status != LW_OK; k++)
        fprintf(stderr, "%s: %s\n", lw_report_get(report, k)->object, lw_report_get(report, k)->message);
    DEMAND(status == LW_OK);
    lw_model *model = compile(back);
    DEMAND(model);
    lw_model_destroy(model);
    lw_report_destroy(report);
    lw_spec_destroy(back);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    if (lw_import_format_of_text(text, size) != LW_FUZZ_FORMAT) return -1;
    lw_import_options options;
    lw_import_defaults(&options);
    /* The last bytes choose the options: they are mostly line breaks behind the end. */
    options.base =
        LW_FUZZ_FORMAT == LW_FORMAT_URDF && size > 0 && data[size - 1] == ' ' ? LW_BASE_FREE : LW_BASE_FIXED;
    options.loops = size > 1 && data[size - 2] == ' ' ? LW_LOOPS_JOINTS : LW_LOOPS_AS_WRITTEN;
    options.keep_fixed = size > 2 && data[size - 3] == ' ';
    options.notes = lw_import_notes_create();
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    const lw_status status = lw_import_text(text, size, "fuzz", &options, report, &spec);
    DEMAND((status == LW_OK) == (spec != NULL));
    check_report(report, status == LW_OK);
    for (size_t k = 0; k < lw_import_notes_size(options.notes); k++)
        DEMAND(lw_import_notes_get(options.notes, k)->kind[0] &&
               lw_import_notes_get(options.notes, k)->count > 0);
    lw_model *model = spec ? compile(spec) : NULL;
    if (model) write_and_read(spec);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    lw_import_notes_destroy(options.notes);
    return 0;
}
