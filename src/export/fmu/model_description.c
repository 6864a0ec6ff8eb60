/* model_description.c - modelDescription.xml of an FMU, for FMI 2.0 and 3.0.
 *
 * Both versions have the same variables in the same order, with the same value references; they differ in the
 * names of elements, in what `derivative` and the model structure refer to (places in the list from 1 in 2.0,
 * value references in 3.0), and in event indicators, which are variables in 3.0 only.
 *
 * Rules that are kept: states are exact and have start values; rates are calculated and have none; every
 * output is listed; initial unknowns are the calculated outputs, rates and parameters, in the order of
 * variables; a unit that is used is defined; lists that would be empty are left out; numbers are finite.
 * Dependencies are not given, which stands for all.
 *
 * Source   docs/fmu.md; the schemas of the standards.
 * Cost     O(variables x units).
 */
#include "export/fmu/model_description.h"
#include "expression/units.h"
#include "io/number.h"
#include "model/spec/spec_storage.h"
#include <linkwork/version.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    char *text;
    size_t length, room;
    bool failed;
    const lw_description *d;
    const lw_fmu_table *table;
} writer;

/* --- text ------------------------------------------------------------------------------------------- */

static void put_bytes(writer *w, const char *bytes, size_t length) {
    if (w->failed) return;
    if (w->length + length + 1 > w->room) {
        const size_t room = 2 * (w->length + length) + 4096;
        char *more = realloc(w->text, room);
        if (!more) {
            w->failed = true;
            return;
        }
        w->text = more, w->room = room;
    }
    memcpy(w->text + w->length, bytes, length);
    w->length += length;
    w->text[w->length] = '\0';
}

static void put(writer *w, const char *text) { put_bytes(w, text, strlen(text)); }

static void put_integer(writer *w, const char *name, long value) {
    char text[96];
    snprintf(text, sizeof text, " %s=\"%ld\"", name, value);
    put(w, text);
}

static void put_number(writer *w, const char *name, double value) {
    char number[LW_NUMBER_SIZE], text[96];
    lw_number_print(value, number);
    snprintf(text, sizeof text, " %s=\"%s\"", name, number);
    put(w, text);
}

/* name="text"; what XML cannot hold becomes a blank. */
static void put_text(writer *w, const char *name, const char *text) {
    put(w, " "), put(w, name), put(w, "=\"");
    for (; *text; text++) {
        if (*text == '&')
            put(w, "&amp;");
        else if (*text == '<')
            put(w, "&lt;");
        else if (*text == '"')
            put(w, "&quot;");
        else if ((unsigned char)*text < 32)
            put(w, " ");
        else
            put_bytes(w, text, 1);
    }
    put(w, "\"");
}

/* --- units ------------------------------------------------------------------------------------------ */

static bool read_unit(const char *name, lw_units *units) {
    const lw_expression_names none = {0};
    if (strncmp(name, "1/", 2) == 0) {
        if (lw_units_read(name + 2, 0, &none, units) != LW_UNITS_FOUND) return false;
        lw_dimension *d = &units->dimension;
        *d = (lw_dimension){-d->length, -d->mass, -d->time, -d->angle};
        const double numerator = units->numerator;
        units->numerator = units->denominator, units->denominator = numerator;
        return true;
    }
    return lw_units_read(name, 0, &none, units) == LW_UNITS_FOUND && name[units->end] == '\0';
}

static void put_unit(writer *w, const char *name) {
    lw_units u = {0};
    put(w, "    <Unit"), put_text(w, "name", name);
    if (!read_unit(name, &u)) {
        put(w, "/>\n");
        return;
    }
    put(w, "><BaseUnit");
    const char *const names[] = {"kg", "m", "s", "rad"};
    const int powers[] = {u.dimension.mass, u.dimension.length, u.dimension.time, u.dimension.angle};
    for (int k = 0; k < 4; k++)
        if (powers[k]) put_integer(w, names[k], powers[k]);
    if (u.numerator != u.denominator) put_number(w, "factor", u.numerator / u.denominator);
    put(w, "/></Unit>\n");
}

/* The SI unit of what a parameter or input measures, as far as the model file says it; else "". A frequency
 * and an angular speed differ by the radian alone, a torque and a stiffness of turning do so too. */
static const char *unit_of_meaning(const lw_meaning *m) {
    const char *found = "";
    if (m->kind != LW_MEANING_SURE) return "";
    for (int k = LW_ANGLE; k < LW_QUANTITIES; k++) {
        const lw_meaning of = lw_quantity_meaning((lw_quantity)k, LW_MEANING_SURE);
        const bool plain = of.length == 0 && of.mass == 0 && of.time == 0;
        if (!lw_meaning_same(m, &of) || (plain && m->angle != of.angle)) continue;
        if (m->angle == of.angle) return lw_quantity_unit((lw_quantity)k);
        if (!found[0]) found = lw_quantity_unit((lw_quantity)k);
    }
    return m->angle == 0 && strcmp(found, "rad/s") == 0 ? "1/s" : found;
}

static const char *unit_of(const writer *w, int variable) {
    const lw_fmu_variable *v = &w->table->variables[variable];
    const lw_spec *spec = w->d->spec;
    const size_t k = (size_t)v->index;
    if (v->kind == LW_FMU_PARAMETER && k < spec->parameter_count)
        return unit_of_meaning(&spec->parameters[k].meaning);
    if (v->kind == LW_FMU_INPUT && k < spec->input_count) return unit_of_meaning(&spec->inputs[k].meaning);
    return v->unit;
}

static void put_units(writer *w) {
    bool any = false;
    for (int k = 0; k < w->table->count; k++) {
        const char *unit = unit_of(w, k);
        bool new = unit[0] != '\0';
        for (int i = 0; i < k && new; i++) new = strcmp(unit_of(w, i), unit) != 0;
        if (!new) continue;
        if (!any) put(w, "  <UnitDefinitions>\n");
        any = true;
        put_unit(w, unit);
    }
    if (any) put(w, "  </UnitDefinitions>\n");
}

/* --- variables -------------------------------------------------------------------------------------- */

typedef struct role {
    const char *causality, *variability, *initial; /* initial NULL: that of the standard */
    bool start, output, initial_unknown;
} role;

static role role_of(const lw_fmu_variable *v) {
    switch (v->kind) {
    case LW_FMU_TIME:
        return (role){.causality = "independent", .variability = "continuous"};
    case LW_FMU_INPUT:
        return (role){.causality = "input", .variability = "continuous", .start = true};
    case LW_FMU_PARAMETER:
        if (v->calculated)
            return (role){.causality = "calculatedParameter",
                          .variability = v->tunable ? "tunable" : "fixed",
                          .initial = "calculated",
                          .initial_unknown = true};
        return (role){.causality = "parameter",
                      .variability = v->tunable ? "tunable" : "fixed",
                      .initial = "exact",
                      .start = true};
    case LW_FMU_COORDINATE:
    case LW_FMU_SPEED:
        if (v->prescribed) break;
        return (role){.causality = "output",
                      .variability = "continuous",
                      .initial = "exact",
                      .start = true,
                      .output = true};
    case LW_FMU_STATE:
    case LW_FMU_BOOK:
        return (role){.causality = "local", .variability = "continuous", .initial = "exact", .start = true};
    case LW_FMU_RATE:
        return (role){.causality = "local",
                      .variability = "continuous",
                      .initial = "calculated",
                      .initial_unknown = true};
    case LW_FMU_INDICATOR:
        return (role){.causality = "local", .variability = "continuous", .initial = "calculated"};
    default:
        break;
    }
    return (role){.causality = "output",
                  .variability = "continuous",
                  .initial = "calculated",
                  .output = true,
                  .initial_unknown = true};
}

static const char *describe(const lw_fmu_variable *v) {
    switch (v->kind) {
    case LW_FMU_TIME:
        return "time";
    case LW_FMU_INPUT:
        return "input of the model";
    case LW_FMU_PARAMETER:
        return "parameter of the model";
    case LW_FMU_OUTPUT:
        return "output of the model";
    case LW_FMU_COORDINATE:
        return "joint coordinate";
    case LW_FMU_SPEED:
        return "joint speed";
    case LW_FMU_STATE:
        return "user state of the model";
    case LW_FMU_BOOK:
        return "integral of the energy ledger";
    case LW_FMU_RATE:
        return "rate of a state";
    case LW_FMU_REACTION:
        return "first body on the second, at the joint's point, world axes";
    case LW_FMU_INDICATOR:
        return "positive until its event has happened";
    }
    return "";
}

/* Places in the list count from 1 in FMI 2.0, whose indicators are no variables and come last. */
static long reference(const writer *w, int variable) { return w->d->version == 2 ? variable + 1 : variable; }

static bool put_variable(writer *w, int k, lw_error *error) {
    const lw_fmu_variable *v = &w->table->variables[k];
    const role r = role_of(v);
    const bool two = w->d->version == 2;
    const unsigned number = (unsigned)k;
    double start = 0;
    if (r.start && (lw_fmu_get(w->d->fmu, &number, 1, &start) > LW_FMU_WARNING || !isfinite(start))) {
        lw_fail(error, LW_ERROR_MODEL, NULL, "give the model a start where it is a number",
                "the start value of %s is %g, and an FMU needs a finite one", v->name, start);
        return false;
    }
    put(w, two ? "    <ScalarVariable" : "    <Float64");
    put_text(w, "name", v->name);
    put_integer(w, "valueReference", k);
    put_text(w, "description", describe(v));
    put_text(w, "causality", r.causality);
    put_text(w, "variability", r.variability);
    if (r.initial) put_text(w, "initial", r.initial);
    if (two) put(w, "><Real");
    const char *unit = unit_of(w, k);
    if (unit[0]) put_text(w, "unit", unit);
    if (v->kind == LW_FMU_RATE) put_integer(w, "derivative", reference(w, w->table->states[v->index]));
    if (r.start) put_number(w, "start", start);
    if (!two && w->d->co_simulation && r.output) put_text(w, "intermediateUpdate", "true");
    put(w, two ? "/></ScalarVariable>\n" : "/>\n");
    return true;
}

static int listed(const writer *w) {
    return w->d->version == 2 ? w->table->count - w->table->indicator_count : w->table->count;
}

/* --- structure -------------------------------------------------------------------------------------- */

static bool is_output(const lw_fmu_variable *v) { return role_of(v).output; }
static bool is_rate(const lw_fmu_variable *v) { return v->kind == LW_FMU_RATE; }
static bool is_initial(const lw_fmu_variable *v) { return role_of(v).initial_unknown; }
static bool is_indicator(const lw_fmu_variable *v) { return v->kind == LW_FMU_INDICATOR; }

/* group: the element around the list in FMI 2.0; element: that of each variable in 3.0. */
static void put_list(writer *w, const char *group, const char *element, bool (*in)(const lw_fmu_variable *)) {
    const bool two = w->d->version == 2;
    bool any = false;
    for (int k = 0; k < listed(w); k++) {
        if (!in(&w->table->variables[k])) continue;
        if (two && !any) put(w, "    <"), put(w, group), put(w, ">\n");
        any = true;
        put(w, two ? "      <Unknown" : "    <");
        if (!two) put(w, element);
        put_integer(w, two ? "index" : "valueReference", reference(w, k));
        put(w, "/>\n");
    }
    if (two && any) put(w, "    </"), put(w, group), put(w, ">\n");
}

static void put_structure(writer *w) {
    put(w, "  <ModelStructure>\n");
    put_list(w, "Outputs", "Output", is_output);
    put_list(w, "Derivatives", "ContinuousStateDerivative", is_rate);
    put_list(w, "InitialUnknowns", "InitialUnknown", is_initial);
    if (w->d->version == 3) put_list(w, "", "EventIndicator", is_indicator);
    put(w, "  </ModelStructure>\n");
}

/* --- the file --------------------------------------------------------------------------------------- */

static void put_kind(writer *w, const char *name, bool exchange) {
    const bool two = w->d->version == 2;
    put(w, "  <"), put(w, name);
    put_text(w, "modelIdentifier", w->d->identifier);
    if (exchange && !two) put_text(w, "needsCompletedIntegratorStep", "true");
    if (!exchange) put_text(w, "canHandleVariableCommunicationStepSize", "true");
    if (!exchange && two) put_text(w, "canInterpolateInputs", "true");
    if (!exchange && !two) {
        put_text(w, "canReturnEarlyAfterIntermediateUpdate", "true");
        put_text(w, "providesIntermediateUpdate", "true");
    }
    put_text(w, two ? "canGetAndSetFMUstate" : "canGetAndSetFMUState", "true");
    put_text(w, two ? "canSerializeFMUstate" : "canSerializeFMUState", "true");
    if (lw_fmu_is_differentiable(w->d->fmu))
        put_text(w, two ? "providesDirectionalDerivative" : "providesDirectionalDerivatives", "true");
    put(w, "/>\n");
}

static void put_experiment(writer *w) {
    lw_run_options options;
    lw_run_defaults(w->d->model, &options);
    put(w, "  <DefaultExperiment"), put_number(w, "startTime", 0);
    put_number(w, "stopTime", options.end);
    put_number(w, "tolerance", options.tolerance > 0 ? options.tolerance : 1e-8);
    put_number(w, "stepSize", options.output > 0 ? options.output : options.end / 1000);
    put(w, "/>\n");
}

static void put_head(writer *w) {
    const bool two = w->d->version == 2;
    put(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription");
    put_text(w, "fmiVersion", two ? "2.0" : "3.0");
    put_text(w, "modelName", w->d->model->name[0] ? w->d->model->name : w->d->identifier);
    put_text(w, two ? "guid" : "instantiationToken", w->d->token);
    put_text(w, "generationTool", "Linkwork " LW_VERSION);
    put_text(w, "variableNamingConvention", lw_fmu_table_is_structured(w->table) ? "structured" : "flat");
    if (two && w->d->exchange) put_integer(w, "numberOfEventIndicators", w->table->indicator_count);
    put(w, ">\n");
}

static void put_categories(writer *w) {
    static const char *const categories[] = {"logEvents", "logStatusWarning", "logStatusDiscard",
                                             "logStatusError"};
    put(w, "  <LogCategories>\n");
    for (int k = 0; k < 4; k++) put(w, "    <Category"), put_text(w, "name", categories[k]), put(w, "/>\n");
    put(w, "  </LogCategories>\n");
}

char *lw_description_write(const lw_description *d, size_t *length, lw_error *error) {
    writer w = {.d = d, .table = lw_fmu_table_of(d->fmu)};
    put_head(&w);
    if (d->exchange) put_kind(&w, "ModelExchange", true);
    if (d->co_simulation) put_kind(&w, "CoSimulation", false);
    put_units(&w);
    put_categories(&w);
    put_experiment(&w);
    put(&w, "  <ModelVariables>\n");
    bool good = true;
    for (int k = 0; k < listed(&w) && good; k++) good = put_variable(&w, k, error);
    put(&w, "  </ModelVariables>\n");
    put_structure(&w);
    put(&w, "</fmiModelDescription>\n");
    if (good && !w.failed) {
        *length = w.length;
        return w.text;
    }
    if (good) lw_out_of_memory(error);
    free(w.text);
    return NULL;
}
