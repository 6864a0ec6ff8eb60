/* fmu_variables.c - the table of an FMU's variables.
 *
 * Order: time; inputs; parameters; outputs; coordinates, speeds; user states; integrals that outputs need;
 * rates of the continuous states; reactions; event indicators. Names are those of results files where the
 * standard's structured names allow them: joint "left.pin" has left.pin.q, and left.pin.reaction.fx.
 * What is no identifier between two dots is quoted. Where two objects of different kinds have one name, the
 * later one in the table gets the word for its kind in front: output.lean.
 *
 * Source   docs/fmu.md.
 * Cost     O(variables log variables + parameters^2 x length of their expressions).
 */
#include "fmu/fmu_variables.h"
#include "model/joint_types.h"
#include "model/spec/parameter_use.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 512 };

typedef struct maker {
    lw_fmu_table *table;
    const lw_model *model;
    int room;
} maker;

/* --- names ------------------------------------------------------------------------------------------ */

static bool is_identifier(const char *text, size_t length) {
    if (length == 0 || isdigit((unsigned char)text[0])) return false;
    for (size_t k = 0; k < length; k++)
        if (!(isalnum((unsigned char)text[k]) && (unsigned char)text[k] < 128) && text[k] != '_')
            return false;
    return true;
}

/* link[3] is a structured name, too. */
static bool is_element(const char *text, size_t length) {
    const char *open = memchr(text, '[', length);
    if (!open || text[length - 1] != ']' || !is_identifier(text, (size_t)(open - text))) return false;
    const size_t digits = length - (size_t)(open - text) - 2;
    if (digits == 0) return false;
    for (size_t k = 1; k <= digits; k++)
        if (!isdigit((unsigned char)open[k])) return false;
    return true;
}

/* Appends a name, segment by segment, quoting what is no identifier. */
static void put_name(char *out, size_t size, const char *name) {
    size_t used = strlen(out);
    while (*name && used + 8 < size) {
        const size_t length = strcspn(name, ".");
        const bool plain = is_identifier(name, length) || is_element(name, length);
        if (!plain) out[used++] = '\'';
        for (size_t k = 0; k < length && used + 8 < size; k++) {
            if (!plain && (name[k] == '\'' || name[k] == '\\')) out[used++] = '\\';
            out[used++] = name[k];
        }
        if (!plain) out[used++] = '\'';
        name += length;
        if (*name == '.') out[used++] = *name++;
    }
    out[used] = '\0';
}

bool lw_fmu_table_is_structured(const lw_fmu_table *table) {
    for (int k = 0; k < table->count; k++)
        for (const char *c = table->variables[k].name; *c; c++)
            if ((unsigned char)*c < 32 || (unsigned char)*c > 126) return false;
    return true;
}

static int compare_names(const void *a, const void *b) {
    const lw_fmu_variable *const *first = a, *const *second = b;
    const int order = strcmp((*first)->name, (*second)->name);
    return order ? order : (*first > *second) - (*first < *second);
}

/* Gives variables that have the name of an earlier one the word for their kind in front. */
static lw_status make_unique(lw_fmu_table *table) {
    static const char *const words[] = {"time",  "input", "parameter", "output",   "coordinate", "speed",
                                        "state", "book",  "rate",      "reaction", "indicator"};
    const lw_fmu_variable **order = LW_NEW(table->arena, const lw_fmu_variable *, table->count + 1);
    if (!order) return LW_ERROR_MEMORY;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < table->count; k++) order[k] = &table->variables[k];
        qsort(order, (size_t)table->count, sizeof *order, compare_names);
        for (int k = 1; k < table->count && !changed; k++) {
            if (strcmp(order[k - 1]->name, order[k]->name) != 0) continue;
            lw_fmu_variable *later = &table->variables[order[k] - table->variables];
            char name[NAME];
            snprintf(name, sizeof name, "%s.%s", words[later->kind], later->name);
            later->name = lw_arena_text(table->arena, name);
            if (!later->name) return LW_ERROR_MEMORY;
            changed = true; /* The order is another one now. */
        }
    }
    return LW_OK;
}

/* --- adding ----------------------------------------------------------------------------------------- */

static lw_fmu_variable *add(maker *m, lw_fmu_kind kind, int index, const char *unit, const char *prefix,
                            const char *name, const char *suffix) {
    lw_fmu_table *table = m->table;
    if (table->count == m->room) {
        const int room = 2 * m->room + 64;
        lw_fmu_variable *more = LW_NEW(table->arena, lw_fmu_variable, room);
        if (!more) return NULL;
        if (table->count) memcpy(more, table->variables, (size_t)table->count * sizeof *more);
        table->variables = more, m->room = room;
    }
    char text[NAME] = "";
    snprintf(text, sizeof text, "%s", prefix);
    put_name(text, sizeof text - 32, name);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s", suffix);
    lw_fmu_variable *v = &table->variables[table->count++];
    *v = (lw_fmu_variable){.kind = kind,
                           .index = index,
                           .name = lw_arena_text(table->arena, text),
                           .unit = strcmp(unit, "1") == 0 ? "" : unit,
                           .scale = 1,
                           .state = -1,
                           .joint = -1};
    return v->name ? v : NULL;
}

static bool mentions(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++) {
        const char before = at == text ? ' ' : at[-1], behind = at[length];
        if (!isalnum((unsigned char)before) && before != '_' && before != '.' &&
            !isalnum((unsigned char)behind) && behind != '_' && behind != '.')
            return true;
    }
    return false;
}

/* Does parameter k follow when parameter `other`, which its text mentions, is changed? The word might be that
 * of a unit: 3 m beside a parameter m. */
static bool follows(const lw_spec *spec, size_t k, size_t other) {
    size_t needed = 0;
    lw_spec *copy = NULL;
    if (lw_spec_save(spec, NULL, 0, &needed) != LW_OK) return true;
    void *bytes = malloc(needed);
    bool does = true;
    if (bytes && lw_spec_save(spec, bytes, needed, NULL) == LW_OK &&
        lw_spec_load(bytes, needed, &copy, NULL) == LW_OK) {
        const double value = spec->parameters[other].value;
        const double near = value != 0 ? value * (1 + 1e-6) : 1e-6;
        if (lw_spec_set_parameter(copy, spec->parameters[other].name, near, NULL) == LW_OK)
            does = copy->parameters[k].value != spec->parameters[k].value;
    }
    lw_spec_destroy(copy);
    free(bytes);
    return does;
}

static bool is_calculated(const lw_spec *spec, size_t k) {
    const char *text = spec->parameters[k].text;
    for (size_t other = 0; text && other < spec->parameter_count; other++)
        if (other != k && mentions(text, spec->parameters[other].name) && follows(spec, k, other))
            return true;
    return false;
}

static bool add_values(maker *m, const lw_spec *spec) {
    const lw_model *model = m->model;
    if (!add(m, LW_FMU_TIME, 0, "s", "", "time", "")) return false;
    for (int k = 0; k < lw_model_input_count(model); k++)
        if (!add(m, LW_FMU_INPUT, k, "", "", lw_model_input_name(model, k), "")) return false;
    for (int k = 0; k < lw_model_parameter_count(model); k++) {
        lw_fmu_variable *v = add(m, LW_FMU_PARAMETER, k, "", "", lw_model_parameter_name(model, k), "");
        if (!v) return false;
        v->calculated = is_calculated(spec, (size_t)k);
        v->tunable = lw_parameter_enters_forces_only(spec, (size_t)k, NULL) == LW_OK;
    }
    for (int k = 0; k < lw_model_output_count(model); k++) {
        double scale;
        const char *unit = lw_model_output_unit(model, k, &scale);
        lw_fmu_variable *v = add(m, LW_FMU_OUTPUT, k, unit, "", lw_model_output_name(model, k), "");
        if (!v) return false;
        v->scale = scale;
    }
    return true;
}

/* Coordinates or speeds of all joints of the tree. */
static bool add_joints(maker *m, int order) {
    for (int j = 0; j < lw_model_joint_count(m->model); j++) {
        const lw_joint_info info = lw_model_joint_info(m->model, j);
        if (info.cut) continue;
        const int quaternion = lw_joint_quaternion(info.type);
        for (int k = 0; k < (order ? info.v_count : info.q_count); k++) {
            const char *unit, *column = lw_joint_column(info.type, info.v_count, order, k, &unit);
            char suffix[32];
            snprintf(suffix, sizeof suffix, ".%s", column);
            lw_fmu_variable *v = add(m, order ? LW_FMU_SPEED : LW_FMU_COORDINATE,
                                     (order ? info.v : info.q) + k, unit, "", info.name, suffix);
            if (!v) return false;
            v->joint = j, v->number = k;
            /* A rotation is prescribed as a whole. */
            v->prescribed = order == 0 && quaternion >= 0 && k >= quaternion
                                ? (info.prescribed >> quaternion) != 0
                                : (info.prescribed >> k & 1) != 0;
        }
    }
    return true;
}

/* Angles of joints that close loops, whose revolutions count. */
static bool add_turns(maker *m) {
    for (int j = 0; j < lw_model_joint_count(m->model); j++) {
        const lw_joint_entry *entry = &m->model->joints[j];
        for (int k = 0; entry->info.cut && k < entry->joint.nq; k++) {
            if (entry->winding[k] < 0) continue;
            const char *unit, *column = lw_joint_column(entry->info.type, entry->joint.nv, 0, k, &unit);
            char suffix[32];
            snprintf(suffix, sizeof suffix, ".%s", column);
            if (!add(m, LW_FMU_COORDINATE, entry->winding[k], unit, "", entry->name, suffix)) return false;
        }
    }
    return true;
}

static bool add_reactions(maker *m, const char *list, lw_error *error, lw_status *status) {
    static const char *const parts[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    const bool all = strcmp(list, "*") == 0;
    for (int j = 0; j < lw_model_joint_count(m->model); j++) {
        const char *name = lw_model_joint_info(m->model, j).name;
        bool wanted = all;
        for (const char *at = list; *at && !wanted; at += strcspn(at, ","), at += *at == ',')
            wanted = strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0;
        for (int c = 0; c < 6 && wanted; c++) {
            char suffix[32];
            snprintf(suffix, sizeof suffix, ".reaction.%s", parts[c]);
            if (!add(m, LW_FMU_REACTION, 6 * j + c, c < 3 ? "N" : "N m", "", name, suffix)) return false;
        }
    }
    for (const char *at = list; *at && !all; at += strcspn(at, ","), at += *at == ',') {
        char name[NAME];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (lw_model_joint(m->model, name) >= 0) continue;
        *status = lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give names of joints, separated by commas, or *",
                          "reactions: there is no joint \"%s\"", name);
        return false;
    }
    return true;
}

/* --- Model Exchange --------------------------------------------------------------------------------- */

static bool is_state(const lw_fmu_variable *v) {
    return (v->kind == LW_FMU_COORDINATE || v->kind == LW_FMU_SPEED || v->kind == LW_FMU_STATE ||
            v->kind == LW_FMU_BOOK) &&
           !v->prescribed;
}

static int place_of(const maker *m, const lw_simulation *s, const lw_fmu_variable *v) {
    return v->kind == LW_FMU_COORDINATE ? v->index
           : v->kind == LW_FMU_SPEED    ? m->model->nq + v->index
           : v->kind == LW_FMU_STATE    ? lw_simulation_own(s) + v->index
                                        : lw_simulation_books(s) + v->index;
}

static bool add_exchange(maker *m, const lw_simulation *s) {
    lw_fmu_table *table = m->table;
    const int before = table->count;
    int n = 0;
    for (int k = 0; k < before; k++) n += is_state(&table->variables[k]);
    table->states = LW_NEW(table->arena, int, n + 1);
    table->rates = LW_NEW(table->arena, int, n + 1);
    table->place = LW_NEW(table->arena, int, n + 1);
    if (lw_arena_failed(table->arena)) return false;
    for (int k = 0; k < before; k++) {
        if (!is_state(&table->variables[k])) continue;
        const int i = table->state_count++;
        table->states[i] = k;
        table->place[i] = place_of(m, s, &table->variables[k]);
        table->variables[k].state = i;
    }
    for (int i = 0; i < n; i++) {
        char unit[64] = "";
        const lw_fmu_variable of = table->variables[table->states[i]];
        if (of.unit[0])
            snprintf(unit, sizeof unit,
                     strcmp(of.unit, "m/s") == 0 || strcmp(of.unit, "rad/s") == 0 ? "%s^2" : "%s/s", of.unit);
        else if (of.kind == LW_FMU_COORDINATE)
            snprintf(unit, sizeof unit, "1/s");
        char name[NAME];
        snprintf(name, sizeof name, "der(%s)", of.name);
        const char *kept = lw_arena_text(table->arena, unit);
        lw_fmu_variable *v = kept ? add(m, LW_FMU_RATE, i, kept, "", "", name) : NULL;
        if (!v) return false;
        table->rates[i] = table->count - 1;
    }
    return true;
}

static bool add_rest(maker *m, const lw_simulation *s, bool exchange) {
    static const char *const books[] = {"ledger.drives", "ledger.forces", "ledger.dissipation"};
    for (int k = 0; k < m->model->values.state_count; k++)
        if (!add(m, LW_FMU_STATE, k, "", "", lw_model_state_name(m->model, k), "")) return false;
    const int extra = exchange ? lw_outside_size(s) - lw_simulation_books(s) : 0;
    for (int k = 0; k < extra; k++) {
        const bool work = k >= LW_POWERS;
        if (!add(m, LW_FMU_BOOK, k, "J", "", work ? lw_model_force_name(m->model, k - LW_POWERS) : books[k],
                 work ? ".work" : ""))
            return false;
    }
    return true;
}

lw_status lw_fmu_table_create(const lw_spec *spec, const lw_simulation *simulation, const char *reactions,
                              bool exchange, int indicators, lw_fmu_table *table, lw_error *error) {
    *table = (lw_fmu_table){.arena = lw_arena_create(NULL)};
    maker m = {.table = table, .model = lw_simulation_model(simulation)};
    lw_status status = exchange ? lw_outside_possible(simulation, error) : LW_OK;
    bool whole = status == LW_OK && add_values(&m, spec) && add_joints(&m, 0) && add_turns(&m) &&
                 add_joints(&m, 1) && add_rest(&m, simulation, exchange) && make_unique(table) == LW_OK &&
                 (!exchange || add_exchange(&m, simulation)) &&
                 add_reactions(&m, reactions ? reactions : "", error, &status);
    table->indicator_count = exchange ? indicators : 0;
    for (int k = 0; whole && k < table->indicator_count; k++) {
        char name[32];
        snprintf(name, sizeof name, "event_indicator[%d]", k + 1);
        whole = add(&m, LW_FMU_INDICATOR, k, "", "", "", name) != NULL;
    }
    if (whole && make_unique(table) != LW_OK) whole = false;
    if (!whole && status == LW_OK) status = lw_out_of_memory(error);
    if (status != LW_OK) lw_fmu_table_destroy(table);
    return status;
}

void lw_fmu_table_destroy(lw_fmu_table *table) {
    if (table->arena) lw_arena_destroy(table->arena);
    *table = (lw_fmu_table){0};
}
