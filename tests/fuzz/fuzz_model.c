/* fuzz_model.c - any bytes as a model file: read, compile, write and read back, accelerate.
 *
 * What must hold, besides no crash, no leak, no undefined behaviour and no hang:
 *   - a call that fails says why (a report with an error), a call that succeeds gives an object;
 *   - a model that compiles can be written, reads back, and is written as the same text again;
 *   - a model that compiles starts from a finite state, and its accelerations are finite or their status says
 *     that they are not determined. Numbers beyond all mechanics may overflow, and an expression of time such
 *     as log(t - 1) may have no value.
 */
#include "demand.h"
#include "io/model_write/write_model.h"
#include "model/compiled_model.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libfyaml 0.7.12 loses its scratch space when a text in ' quotes has many '' in a row, e.g. ''''''''''''.
 * The tests with sanitizers see whether we give back what we take from it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml"; }

enum { MOST_SPEEDS = 200 }; /* larger models cost time and find nothing new */

/* A repeat of a million objects is allowed and slow; here ranges stay below four digits. */
static bool is_slow(const uint8_t *data, size_t size) {
    size_t digits = 0;
    bool repeats = false, large = false;
    for (size_t k = 0; k < size; k++) {
        bool digit = data[k] >= '0' && data[k] <= '9';
        digits = digit ? digits + 1 : 0;
        large = large || digits >= 4 || (digit && k + 1 < size && (data[k + 1] | 0x20) == 'e');
        repeats = repeats || (data[k] == '.' && k + 1 < size && data[k + 1] == '.');
    }
    return repeats && large;
}

static lw_spec *read_text(const char *text, size_t length) {
    lw_report *report = lw_report_create();
    lw_spec *spec;
    lw_status status = lw_read_model_text(text, length, "fuzz", NULL, 0, report, &spec);
    DEMAND((status == LW_OK) == (spec != NULL));
    DEMAND((status == LW_OK) == (lw_report_errors(report) == 0));
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1200];
        DEMAND(lw_error_format(lw_report_get(report, k), line, sizeof line) > 0);
    }
    lw_report_destroy(report);
    return spec;
}

static lw_model *compile(const lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_status status = lw_compile_as_cut(spec, NULL, report, &model);
    DEMAND((status == LW_OK) == (model != NULL));
    DEMAND((status == LW_OK) == (lw_report_errors(report) == 0));
    lw_report_destroy(report);
    return model;
}

/* Numbers of the text are 0 or between 1e-12 and 1e17, and no force has an expression. */
static bool is_ordinary(lw_spec *spec, const char *text) {
    for (const char *e = text; (e = strchr(e, 'e')); e++) {
        if ((e[1] == '+' || e[1] == '-') && abs(atoi(e + 1)) > 12) return false;
    }
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
        const lw_force_spec *force = lw_spec_force(spec, k);
        if (force->drive || force->law.expression || force->type == LW_FORCE_APPLIED) return false;
    }
    return true;
}

/* Returns whether the model must have finite accelerations. */
static bool write_and_read(lw_spec *spec) {
    char *text, *again;
    size_t length, again_length;
    DEMAND(lw_model_text(spec, &text, &length, NULL) == LW_OK);
    lw_spec *back = read_text(text, length);
    if (!back) fprintf(stderr, "%s", text);
    DEMAND(back);
    DEMAND(lw_model_text(back, &again, &again_length, NULL) == LW_OK);
    if (strcmp(text, again) != 0) fprintf(stderr, "%s\n%s", text, again);
    DEMAND(strcmp(text, again) == 0);
    bool ordinary = is_ordinary(spec, text);
    lw_spec_destroy(back);
    free(text);
    free(again);
    return ordinary;
}

static bool finite(const double *values, int count) {
    for (int k = 0; k < count; k++) {
        if (!isfinite(values[k])) return false;
    }
    return true;
}

static void accelerate(const lw_model *model, bool ordinary) {
    static double q[MOST_SPEEDS * 2], v[MOST_SPEEDS], vdot[MOST_SPEEDS];
    int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    lw_data *data;
    lw_error error;
    if (nv > MOST_SPEEDS) return;
    lw_model_initial_state(model, q, v);
    DEMAND(finite(q, nq) && finite(v, nv));
    DEMAND(lw_data_create(model, NULL, &data) == LW_OK);
    lw_status status = lw_tree_forward_dynamics(model, data, 0, q, v, NULL, vdot, &error);
    if (status == LW_OK && ordinary) DEMAND(finite(vdot, nv));
    lw_data_destroy(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (is_slow(data, size)) return 0;
    lw_spec *spec = read_text((const char *)data, size);
    lw_model *model = spec ? compile(spec) : NULL;
    if (model) {
        accelerate(model, write_and_read(spec));
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return 0;
}
