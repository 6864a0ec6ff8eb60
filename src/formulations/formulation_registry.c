/* formulation_registry.c - the formulations that Linkwork has.
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
    row(massless) \
    row(lagrange) \
    row(schur) \
    row(rates) \
    row(barycentre) \
    row(relative) \
    row(nullspace) \
    row(nullspace_partition) \
    row(nullspace_svd) \
    row(nullspace_graph) \
    row(partition) \
    row(partition_absolute) \
    row(penalty) \
    row(director) \
    row(director_full)
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

lw_status lw_formulation_named(const char *name, const lw_formulation **formulation, lw_error *error) {
    *formulation = lw_formulation_find(name);
    if (*formulation) return LW_OK;
    const char *names[count + 1];
    char remedy[400] = "known are auto";
    names[0] = "auto";
    for (int k = 0; k < count; k++) {
        names[k + 1] = formulations[k]->name;
        size_t used = strlen(remedy);
        snprintf(remedy + used, sizeof remedy - used, ", %s", formulations[k]->name);
    }
    lw_did_you_mean(lw_closest(name, names, count + 1), remedy, sizeof remedy);
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "unknown method \"%s\"", name);
}

const double *lw_outer_tau(const lw_method_options *options, const lw_model *model, double t, const double *q,
                           const double *v) {
    lw_outer_force *force = options->force;
    if (!force || !force->add) return NULL;
    for (int k = 0; k < model->nv; k++) force->tau[k] = 0;
    force->add(t, q, v, force->tau, force->context);
    force->power = 0;
    for (int k = 0; k < model->nv; k++) force->power += force->tau[k] * v[k];
    return force->tau;
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
