/* fmu_check.c - is a file an FMU that importers will take? From any program, of FMI 2.0 or 3.0.
 *
 * 1  the archive: names, sizes, methods (zip_reader.c)
 * 2  modelDescription.xml: the rules below, with lines and columns
 * 3  a smoke sequence in a child process (fmu_smoke.c)
 *
 * Rules: version; name, token, a kind with an identifier; names and units of variables; attributes that go
 * together (causality, variability, initial, start); rates refer to states; every output is listed once,
 * every rate too; references of the structure exist; no number is infinite.
 *
 * Source   the specifications of FMI 2.0.4 and 3.0.1; docs/fmu.md.
 * Cost     O(variables log variables), and the FMU's own.
 */
#include "export/fmu/fmu_smoke.h"
#include "export/fmu/zip_reader.h"
#include "io/import/import_xml.h"
#include "io/number.h"
#include <linkwork/fmu.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct variable {
    const lw_xml *element, *type; /* type: the child of FMI 2.0 with unit, start; in 3.0 the element itself */
    const char *name;
    unsigned reference;
    bool listed_output, listed_rate;
} variable;

typedef struct checker {
    lw_importer *importer;
    const lw_xml *root;
    int version;
    variable *variables;
    size_t count;
} checker;

static bool is(const char *text, const char *word) { return text && strcmp(text, word) == 0; }

static void fault(checker *c, const lw_xml *at, const char *object, const char *remedy, const char *text) {
    lw_import_fault(c->importer, at->place, object, remedy, "%s", text);
}

/* --- variables -------------------------------------------------------------------------------------- */

static size_t count_children(const lw_xml *element) {
    size_t n = 0;
    for (const lw_xml *child = element->first; child; child = child->next) n++;
    return n;
}

static bool defines_unit(const checker *c, const char *unit) {
    const lw_xml *list = lw_xml_child(c->root, "UnitDefinitions");
    for (const lw_xml *u = list ? list->first : NULL; u; u = u->next)
        if (is(lw_xml_get(u, "name"), unit)) return true;
    return false;
}

static void check_variable(checker *c, variable *v) {
    const char *causality = lw_xml_get(v->element, "causality"), *initial = lw_xml_get(v->element, "initial");
    const char *start = lw_xml_get(v->type, "start"), *unit = lw_xml_get(v->type, "unit");
    const char *variability = lw_xml_get(v->element, "variability");
    char object[112];
    snprintf(object, sizeof object, "variable \"%.80s\"", v->name);
    const bool real =
        lw_xml_is(v->type, "Real") || lw_xml_is(v->type, "Float64") || lw_xml_is(v->type, "Float32");
    if (unit && !defines_unit(c, unit))
        fault(c, v->element, object, "define it in UnitDefinitions", "its unit is not defined");
    const bool needs = is(causality, "input") || is(causality, "parameter") ||
                       is(causality, "structuralParameter") || is(initial, "exact") ||
                       is(initial, "approx") || is(variability, "constant");
    if (needs && !start && !lw_xml_child(v->element, "Start") && !lw_xml_child(v->type, "Start") &&
        !lw_xml_is(v->type, "Clock"))
        fault(c, v->element, object, "give one", "it has no start value, and its role needs one");
    if (start && (is(initial, "calculated") || is(causality, "independent")))
        fault(c, v->element, object, "leave it out", "it has a start value, and is calculated or the time");
    if ((is(causality, "parameter") || is(causality, "calculatedParameter")) && !is(variability, "fixed") &&
        !is(variability, "tunable"))
        fault(c, v->element, object, "give fixed or tunable", "a parameter is fixed or tunable");
    if (real && start)
        for (const char *at = start; *at;) {
            char text[64];
            const size_t n = strcspn(at, " \t\r\n");
            double value = 0;
            snprintf(text, sizeof text, "%.*s", (int)(n < 63 ? n : 63), at);
            if (n && (!lw_number_read(text, &value) || !isfinite(value))) {
                fault(c, v->element, object, "give a number", "its start value is no finite number");
                break;
            }
            at += n + strspn(at + n, " \t\r\n");
        }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const variable *const *)a)->name, (*(const variable *const *)b)->name);
}

static void check_names(checker *c) {
    const variable **order = LW_NEW(c->importer->arena, const variable *, c->count + 1);
    if (!order) return;
    for (size_t k = 0; k < c->count; k++) order[k] = &c->variables[k];
    qsort(order, c->count, sizeof *order, by_name);
    for (size_t k = 1; k < c->count; k++)
        if (strcmp(order[k - 1]->name, order[k]->name) == 0)
            lw_import_fault(c->importer, order[k]->element->place, NULL, "names must differ",
                            "two variables have the name \"%.80s\"", order[k]->name);
}

static bool read_variables(checker *c) {
    const lw_xml *list = lw_xml_child(c->root, "ModelVariables");
    if (!list) {
        fault(c, c->root, NULL, NULL, "there is no list ModelVariables");
        return false;
    }
    c->variables = LW_NEW(c->importer->arena, variable, count_children(list) + 1);
    if (!c->variables) return false;
    for (const lw_xml *e = list->first; e; e = e->next) {
        variable *v = &c->variables[c->count];
        const char *name = lw_xml_need(c->importer, e, "a variable", "name");
        const char *reference = lw_xml_need(c->importer, e, "a variable", "valueReference");
        if (!name || !reference) continue;
        *v = (variable){.element = e, .type = c->version == 2 && e->first ? e->first : e, .name = name};
        if (c->version == 2) /* Annotations may stand before the type. */
            for (const lw_xml *t = e->first; t; t = t->next)
                if (!lw_xml_is(t, "Annotations")) v->type = t;
        v->reference = (unsigned)strtoul(reference, NULL, 10);
        c->count++;
        check_variable(c, v);
    }
    check_names(c);
    return true;
}

/* --- structure -------------------------------------------------------------------------------------- */

static variable *find(const checker *c, const char *number) {
    const unsigned value = (unsigned)strtoul(number ? number : "", NULL, 10);
    if (c->version == 2) return value >= 1 && value <= c->count ? &c->variables[value - 1] : NULL;
    for (size_t k = 0; k < c->count; k++)
        if (c->variables[k].reference == value) return &c->variables[k];
    return NULL;
}

static void check_list(checker *c, const lw_xml *first, const char *element, bool outputs, bool rates) {
    for (const lw_xml *e = first; e; e = e->next) {
        if (!lw_xml_is(e, element)) continue;
        variable *v = find(c, lw_xml_get(e, c->version == 2 ? "index" : "valueReference"));
        if (!v) {
            fault(c, e, NULL, NULL, "the structure refers to a variable that is not there");
            continue;
        }
        char object[112];
        snprintf(object, sizeof object, "variable \"%.80s\"", v->name);
        if (outputs && !is(lw_xml_get(v->element, "causality"), "output"))
            fault(c, e, object, NULL, "it is listed as an output and is none");
        if (rates && !lw_xml_get(v->type, "derivative"))
            fault(c, e, object, NULL, "it is listed as a rate and has no attribute derivative");
        if ((outputs && v->listed_output) || (rates && v->listed_rate))
            fault(c, e, object, NULL, "it is listed twice");
        v->listed_output |= outputs, v->listed_rate |= rates;
    }
}

static void check_structure(checker *c) {
    const lw_xml *s = lw_xml_child(c->root, "ModelStructure");
    if (!s) {
        fault(c, c->root, NULL, NULL, "there is no ModelStructure");
        return;
    }
    if (c->version == 2) {
        const lw_xml *outputs = lw_xml_child(s, "Outputs"), *rates = lw_xml_child(s, "Derivatives"),
                     *initial = lw_xml_child(s, "InitialUnknowns");
        check_list(c, outputs ? outputs->first : NULL, "Unknown", true, false);
        check_list(c, rates ? rates->first : NULL, "Unknown", false, true);
        check_list(c, initial ? initial->first : NULL, "Unknown", false, false);
    } else {
        check_list(c, s->first, "Output", true, false);
        check_list(c, s->first, "ContinuousStateDerivative", false, true);
        check_list(c, s->first, "InitialUnknown", false, false);
        check_list(c, s->first, "EventIndicator", false, false);
    }
    for (size_t k = 0; k < c->count; k++) {
        variable *v = &c->variables[k];
        char object[112];
        snprintf(object, sizeof object, "variable \"%.80s\"", v->name);
        if (is(lw_xml_get(v->element, "causality"), "output") && !v->listed_output)
            fault(c, v->element, object, "list it in the model structure",
                  "it is an output that is not listed");
        const char *of = lw_xml_get(v->type, "derivative");
        if (of && !find(c, of))
            fault(c, v->element, object, NULL, "it is the rate of a variable that is not there");
        if (of && lw_xml_child(c->root, "ModelExchange") && !v->listed_rate)
            lw_import_warning(c->importer, v->element->place, object, NULL,
                              "it is a rate that is not listed");
    }
}

/* --- the whole -------------------------------------------------------------------------------------- */

static bool check_head(checker *c) {
    const char *version = lw_xml_need(c->importer, c->root, NULL, "fmiVersion");
    (void)lw_xml_need(c->importer, c->root, NULL, "modelName");
    if (!lw_xml_is(c->root, "fmiModelDescription")) {
        fault(c, c->root, NULL, NULL, "the root is not fmiModelDescription");
        return false;
    }
    c->version = version && version[0] == '2' ? 2 : version && version[0] == '3' ? 3 : 0;
    if (!c->version) {
        fault(c, c->root, NULL, "FMI 2.0 and 3.0 are checked", "its version of FMI is not known here");
        return false;
    }
    (void)lw_xml_need(c->importer, c->root, NULL, c->version == 2 ? "guid" : "instantiationToken");
    const lw_xml *me = lw_xml_child(c->root, "ModelExchange"), *cs = lw_xml_child(c->root, "CoSimulation");
    if (!me && !cs && !lw_xml_child(c->root, "ScheduledExecution"))
        fault(c, c->root, NULL, NULL, "it has no kind: neither ModelExchange nor CoSimulation");
    if (me) (void)lw_xml_need(c->importer, me, "ModelExchange", "modelIdentifier");
    if (cs) (void)lw_xml_need(c->importer, cs, "CoSimulation", "modelIdentifier");
    return true;
}

static void make_plan(const checker *c, lw_smoke_plan *plan) {
    const lw_xml *me = lw_xml_child(c->root, "ModelExchange"), *cs = lw_xml_child(c->root, "CoSimulation");
    const lw_xml *any = cs ? cs : me, *experiment = lw_xml_child(c->root, "DefaultExperiment");
    const char *indicators = lw_xml_get(c->root, "numberOfEventIndicators");
    *plan = (lw_smoke_plan){.version = c->version, .exchange = me != NULL, .co_simulation = cs != NULL};
    plan->identifier = any ? lw_xml_get(any, "modelIdentifier") : NULL;
    plan->token = lw_xml_get(c->root, c->version == 2 ? "guid" : "instantiationToken");
    const char *start = experiment ? lw_xml_get(experiment, "startTime") : NULL;
    const char *stop = experiment ? lw_xml_get(experiment, "stopTime") : NULL;
    if (!start || !lw_number_read(start, &plan->start)) plan->start = 0;
    if (!stop || !lw_number_read(stop, &plan->stop) || !(plan->stop > plan->start))
        plan->stop = plan->start + 1;
    plan->indicators = indicators ? atoi(indicators) : 0;
    plan->references = LW_NEW(c->importer->arena, unsigned, c->count + 1);
    for (size_t k = 0; k < c->count && plan->references; k++) {
        const variable *v = &c->variables[k];
        if (lw_xml_get(v->type, "derivative")) plan->states++;
        if ((lw_xml_is(v->type, "Real") || lw_xml_is(v->type, "Float64")) && !v->type->first &&
            is(lw_xml_get(v->element, "causality"), "output"))
            plan->references[plan->count++] = v->reference;
    }
}

lw_status lw_fmu_check(const char *path, lw_report *report) {
    lw_error error = {0};
    if (!path || !report) return LW_ERROR_ARGUMENT;
    lw_unzip *zip = lw_unzip_open(path, &error);
    const int at = zip ? lw_unzip_find(zip, "modelDescription.xml") : -1;
    unsigned char *text = NULL;
    if (zip && at < 0)
        lw_fail(&error, LW_ERROR_FILE, NULL, NULL, "%s has no modelDescription.xml", path);
    else if (zip)
        text = lw_unzip_read(zip, at, &error);
    if (!text) {
        lw_unzip_close(zip);
        (void)lw_report_add(report, &error);
        return LW_ERROR_FILE;
    }
    lw_importer importer = {.file = "modelDescription.xml", .report = report, .arena = lw_arena_create(NULL)};
    checker c = {.importer = &importer};
    c.root = lw_xml_parse(&importer, (const char *)text, lw_unzip_at(zip, at).size, importer.file);
    if (c.root && check_head(&c) && read_variables(&c)) {
        check_structure(&c);
        lw_smoke_plan plan;
        make_plan(&c, &plan);
        if (importer.faults == 0) lw_fmu_smoke(zip, path, &plan, report);
    }
    if (importer.arena) lw_arena_destroy(importer.arena);
    free(text);
    lw_unzip_close(zip);
    return lw_report_errors(report) ? LW_ERROR_MODEL : LW_OK;
}
