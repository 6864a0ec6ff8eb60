/* registry.c - the formulations that Linkwork has, and the choice among them.
 *
 * A new formulation is one file with one lw_formulation, and one line in the list below.
 */
#include "formulations/formulation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define LW_FORMULATIONS(row) \
    row(tree) \
    row(cut) \
    row(rcr) \
    row(lagrange) \
    row(schur) \
    row(rates) \
    row(barycentre) \
    row(relative) \
    row(nullspace) \
    row(nullspace_partition) \
    row(nullspace_svd) \
    row(penalty)
/* clang-format on */

#define LW_DECLARE(name) extern const lw_formulation lw_formulation_##name;
#define LW_ROW(name) &lw_formulation_##name,
LW_FORMULATIONS(LW_DECLARE)
static const lw_formulation *const formulations[] = {LW_FORMULATIONS(LW_ROW)};
enum { count = sizeof formulations / sizeof *formulations };

int lw_formulation_count(void) { return count; }

const lw_formulation *lw_formulation_at(int index) {
    return index >= 0 && index < count ? formulations[index] : NULL;
}

const lw_formulation *lw_formulation_find(const char *name) {
    for (int k = 0; k < count; k++)
        if (strcmp(formulations[k]->name, name) == 0) return formulations[k];
    return NULL;
}

static lw_status unknown(const char *name, lw_error *error) {
    const char *names[count + 1];
    char remedy[256] = "known are auto";
    names[0] = "auto";
    for (int k = 0; k < count; k++) {
        names[k + 1] = formulations[k]->name;
        size_t used = strlen(remedy);
        snprintf(remedy + used, sizeof remedy - used, ", %s", formulations[k]->name);
    }
    const char *close = lw_closest(name, names, count + 1);
    if (close) snprintf(remedy, sizeof remedy, "did you mean \"%s\"?", close);
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "unknown method \"%s\"", name);
}

lw_status lw_formulation_choose(const char *name, const lw_model *model, const lw_formulation **formulation,
                                const char **why, lw_error *error) {
    *formulation = NULL;
    if (name && strcmp(name, "auto") != 0) {
        const lw_formulation *asked = lw_formulation_find(name);
        if (!asked) return unknown(name, error);
        lw_status status = asked->applies(model, error);
        if (status != LW_OK) return status;
        *formulation = asked;
        if (why) *why = "as asked";
        return LW_OK;
    }
    lw_status first_status = LW_OK;
    lw_error first = {0};
    int applicable = 0;
    for (int k = 0; k < count; k++) {
        lw_error reason = {0};
        lw_status status = formulations[k]->applies(model, &reason);
        if (status == LW_OK) {
            applicable++;
            if (!*formulation || formulations[k]->rank < (*formulation)->rank) *formulation = formulations[k];
        } else if (first_status == LW_OK)
            first_status = status, first = reason;
    }
    if (*formulation) {
        if (why) *why = applicable == 1 ? "the only method that applies" : "the fastest method that applies";
        return LW_OK;
    }
    if (error) *error = first;
    return first_status;
}

void lw_note(const lw_method_options *options, double t, const char *kind, const char *format, ...) {
    if (!options->note) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options->note(t, kind, text, options->note_context);
}
