/* record.c - the quantities of a results file, and their values in a sample.
 *
 * A list has items, separated by commas outside parentheses. An item is
 *     a keyword with objects    reaction(pin), com(*), point(load, 0, 0, -0.5), force(spring in arm)
 *     a keyword alone           ledger; reaction is short for reaction(*)
 *     either with components    reaction(pin).f*
 *     the name of a column      crank.q, body.rod.*, reaction(pin).force
 *     an expression             2*crank.q + body.rod.z
 * where * stands for any characters. A column is a quantity (model/quantity/quantity.h) and has its name; a
 * keyword stands for some kinds of them. What a keyword means without components are the usual ones; the
 * others (magnitudes, rates) have to be named.
 *
 * Cost     of a row O(n + elements + columns): the poses and twists of all bodies once, if any column needs
 *          them.
 */
#include "io/results/record_columns.h"
#include "io/results/record_expression.h"
#include "io/results/record_turns.h"
#include "io/results/record_words.h"
#include "model/signals.h"

#include <linkwork/io.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the record ----------------------------------------------------------------------------------- */

struct lw_record {
    const lw_model *model;
    lw_data *data;
    lw_arena *arena;
    size_t count, capacity;
    lw_state_quantity *columns;
    lw_record_column *names;
    int *table; /* columns by the hash of their names, or -1; a power of two, at most half full */
    size_t table_size;
    /* Columns of kind LW_Q_NONE are expressions; their object is an index of these. */
    lw_record_expression *expressions;
    int expression_count, expression_room;
    lw_arena *compiled; /* memory of the expressions */
    double *constants;  /* values of the model's parameters with which they were compiled */
    bool with_inputs;   /* Are inputs among the columns? */
    double *inputs;     /* their values, those of defaults too */
    unsigned needs;
    lw_last_row last;       /* signs and turns of the last row */
    double *rates;          /* accelerations of bodies, if needed */
    lw_force_value *forces; /* if needed */

    lw_error *error; /* used only while the list is parsed, as is item */
    const char *item;
};

bool lw_pattern_matches(const char *pattern, const char *text) {
    const char *star = NULL, *again = NULL; /* where to resume if the text after the last * does not match */
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            again = text;
        } else if (*pattern == *text) {
            pattern++, text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static lw_status out_of_memory(lw_error *error) {
    return lw_fail(error, LW_ERROR_MEMORY, "record", NULL, "memory is out");
}

/* The place in the table of the column of this name, or of none. */
static size_t slot_of(const lw_record *record, const char *name) {
    uint64_t hash = 14695981039346656037u;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t slot = (size_t)hash & (record->table_size - 1);
    while (record->table[slot] >= 0 && strcmp(record->names[record->table[slot]].name, name) != 0)
        slot = (slot + 1) & (record->table_size - 1);
    return slot;
}

static bool make_room(lw_record *record) {
    if (record->count < record->capacity) return true;
    const size_t capacity = record->capacity ? 2 * record->capacity : 64;
    lw_state_quantity *columns = realloc(record->columns, capacity * sizeof *columns);
    if (columns) record->columns = columns;
    lw_record_column *names = realloc(record->names, capacity * sizeof *names);
    if (names) record->names = names;
    int *table = realloc(record->table, 2 * capacity * sizeof *table);
    if (table) record->table = table;
    if (!columns || !names || !table) return false;
    record->capacity = capacity;
    record->table_size = 2 * capacity;
    for (size_t k = 0; k < record->table_size; k++) table[k] = -1;
    for (size_t k = 0; k < record->count; k++) table[slot_of(record, names[k].name)] = (int)k;
    return true;
}

/* Adds a column, unless there is one of this name. */
static lw_status add_named(lw_record *record, const lw_state_quantity *quantity, const char *name) {
    if (!make_room(record)) return out_of_memory(record->error);
    const size_t slot = slot_of(record, name);
    if (record->table[slot] >= 0) return LW_OK;
    const char *kept = lw_arena_text(record->arena, name);
    if (!kept) return out_of_memory(record->error);
    record->table[slot] = (int)record->count;
    record->columns[record->count] = *quantity;
    record->names[record->count] = (lw_record_column){kept, quantity->unit};
    record->count++;
    record->needs |= quantity->needs;
    if (quantity->kind == LW_Q_INPUT) record->with_inputs = true;
    return LW_OK;
}

static lw_status add(lw_record *record, const lw_state_quantity *quantity) {
    char name[LW_QUANTITY_NAME];
    lw_quantity_print(record->model, quantity, name);
    return add_named(record, quantity, name);
}

/* --- faults --------------------------------------------------------------------------------------- */

/* Writes the names into a text of limited size. */
static void list_names(const char *const *names, size_t count, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < count; k++) {
        int length = snprintf(text + used, size - used, "%s%s", k ? ", " : "", names[k]);
        if (length < 0 || used + (size_t)length + 6 >= size) {
            snprintf(text + used, size - used, "%s", used + 6 < size ? ", ..." : "");
            return;
        }
        used += (size_t)length;
    }
}

/* Reports an unknown name; what is "joint", "body" or "quantity", and names are the valid ones. */
static lw_status unknown(const lw_record *record, const char *what, const char *name,
                         const char *const *names, size_t count) {
    char object[112], list[190], remedy[256];
    snprintf(object, sizeof object, "record \"%.90s\"", record->item);
    list_names(names, count, list, sizeof list);
    const char *closest = lw_closest(name, names, count);
    if (!lw_did_you_mean(closest, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "there is %s", count > 0 ? list : "none");
    return lw_fail(record->error, LW_ERROR_ARGUMENT, object, remedy, "unknown %s \"%.100s\"%s%s", what, name,
                   closest ? "; there is " : "", closest ? list : "");
}

static lw_status wrong(const lw_record *record, const char *remedy, const char *message) {
    char object[112];
    snprintf(object, sizeof object, "record \"%.90s\"", record->item);
    return lw_fail(record->error, LW_ERROR_ARGUMENT, object, remedy, "%s", message);
}

static int object_count(const lw_model *model, lw_object_kind kind) {
    switch (kind) {
    case LW_OBJECT_JOINT:
        return model->joint_count;
    case LW_OBJECT_CONSTRAINT:
        return model->constraint_count;
    case LW_OBJECT_FORCE:
        return model->force_count;
    case LW_OBJECT_BODY:
        return model->body_count + 1; /* Body 0 is ground. */
    case LW_OBJECT_STATE:
        return model->values.state_count;
    case LW_OBJECT_OUTPUT:
        return model->output_names.count;
    case LW_OBJECT_INPUT:
        return model->input_names.count;
    case LW_OBJECT_PARAMETER:
        return model->parameter_names.count;
    default:
        return 1;
    }
}

static int first_object(lw_object_kind kind) { return kind == LW_OBJECT_BODY ? 1 : 0; }

static const char *object_name(const lw_model *model, lw_object_kind kind, int object) {
    switch (kind) {
    case LW_OBJECT_JOINT:
        return model->joints[object].name;
    case LW_OBJECT_CONSTRAINT:
        return model->constraints[object].name;
    case LW_OBJECT_FORCE:
        return model->forces[object].name;
    case LW_OBJECT_STATE:
        return model->values.state_names.names[object];
    case LW_OBJECT_OUTPUT:
        return model->output_names.names[object];
    case LW_OBJECT_INPUT:
        return model->input_names.names[object];
    case LW_OBJECT_PARAMETER:
        return model->parameter_names.names[object];
    default:
        return model->bodies[object].name;
    }
}

static const char *object_word(lw_object_kind kind) {
    return kind == LW_OBJECT_JOINT       ? "joint"
           : kind == LW_OBJECT_FORCE     ? "force element"
           : kind == LW_OBJECT_STATE     ? "state"
           : kind == LW_OBJECT_OUTPUT    ? "output"
           : kind == LW_OBJECT_INPUT     ? "input"
           : kind == LW_OBJECT_PARAMETER ? "parameter"
                                         : "body";
}

static lw_status unknown_object(lw_record *record, lw_object_kind kind, const char *name) {
    const int first = first_object(kind), count = object_count(record->model, kind) - first;
    const int frames = kind == LW_OBJECT_BODY ? record->model->frame_count : 0;
    const char **names = LW_NEW(record->arena, const char *, count + frames + 1);
    if (!names) return out_of_memory(record->error);
    for (int k = 0; k < count; k++) names[k] = object_name(record->model, kind, first + k);
    for (int k = 0; k < frames; k++) names[count + k] = record->model->frames[k].name;
    return unknown(record, object_word(kind), name, names, (size_t)(count + frames));
}

/* --- columns of everything ------------------------------------------------------------------------ */

typedef lw_status (*column_visitor)(lw_record *record, const lw_state_quantity *quantity, const char *name,
                                    bool usual, void *context);

static lw_status visit_kinds(lw_record *record, const lw_quantity_kind *kinds, int object,
                             column_visitor visit, void *context) {
    lw_status status = LW_OK;
    for (; *kinds && status == LW_OK; kinds++) {
        lw_component parts[LW_QUANTITY_COMPONENTS];
        const int count = lw_quantity_components(record->model, *kinds, object, parts);
        for (int k = 0; k < count && status == LW_OK; k++) {
            char name[LW_QUANTITY_NAME];
            lw_state_quantity quantity;
            lw_quantity_make(record->model, *kinds, object, k, &quantity);
            lw_quantity_print(record->model, &quantity, name);
            status =
                visit(record, &quantity, name, lw_record_is_usual(record->model, *kinds, object, k), context);
        }
    }
    return status;
}

/* Could a column of this object have the name? It contains the object's. */
static bool may_be_of(const lw_model *model, lw_object_kind kind, int object, const char *name) {
    const int frame = object - (model->body_count + 1);
    if (kind == LW_OBJECT_NONE) return true;
    const char *own =
        kind == LW_OBJECT_BODY && frame >= 0 ? model->frames[frame].name : object_name(model, kind, object);
    return strlen(own) >= 300 || strstr(name, own) != NULL;
}

/* Visits all columns that have names in every list; only: NULL, or the name of the one that is looked for. */
static lw_status visit_everything(lw_record *record, const char *only, column_visitor visit, void *context) {
    lw_status status = LW_OK;
    const lw_record_word *set;
    for (int e = 0; (set = lw_record_everything_at(e)) != NULL; e++) {
        const lw_object_kind kind = set->object;
        /* Frames have the columns of bodies that are of the frame, not of the mass; their indices follow. */
        const bool of_frame = set->usual[0] == LW_Q_POSITION;
        const int count = object_count(record->model, kind) + (of_frame ? record->model->frame_count : 0);
        for (int object = first_object(kind); object < count && status == LW_OK; object++) {
            if (only && !may_be_of(record->model, kind, object, only)) continue;
            status = visit_kinds(record, set->usual, object, visit, context);
            if (status == LW_OK) status = visit_kinds(record, set->more, object, visit, context);
        }
    }
    return status;
}

typedef struct search {
    const char *pattern;
    bool usual;
    int found;
    const char **names;
    size_t count, capacity;
} search;

static lw_status add_matching(lw_record *record, const lw_state_quantity *quantity, const char *name,
                              bool usual, void *context) {
    search *s = context;
    if (usual != s->usual || !lw_pattern_matches(s->pattern, name)) return LW_OK;
    s->found++;
    return add(record, quantity);
}

static lw_status collect_name(lw_record *record, const lw_state_quantity *quantity, const char *name,
                              bool usual, void *context) {
    search *s = context;
    (void)quantity, (void)usual;
    if (s->count == s->capacity) {
        const size_t capacity = 2 * s->capacity + 256;
        const char **names = realloc(s->names, capacity * sizeof *names);
        if (!names) return out_of_memory(record->error);
        s->names = names, s->capacity = capacity;
    }
    s->names[s->count] = lw_arena_text(record->arena, name);
    return s->names[s->count++] ? LW_OK : out_of_memory(record->error);
}

/* Reports an unknown column. The valid names are the keywords and then all columns, or only the keywords if
 * the name has parentheses. */
static lw_status unknown_column(lw_record *record, const char *name) {
    size_t words = 0;
    while (lw_record_word_at((int)words)) words++;
    search s = {.names = malloc(words * sizeof(char *)), .capacity = words, .count = words};
    if (!s.names) return out_of_memory(record->error);
    for (size_t k = 0; k < words; k++) s.names[k] = lw_record_word_at((int)k)->name;
    char *called = lw_arena_text(record->arena, name), *open = called ? strchr(called, '(') : NULL;
    lw_status status = called ? LW_OK : out_of_memory(record->error);
    if (open) *open = '\0';
    if (status == LW_OK && !open) status = visit_everything(record, NULL, collect_name, &s);
    if (status == LW_OK) status = unknown(record, "quantity", called, s.names, s.count);
    free(s.names);
    return status;
}

/* --- parsing -------------------------------------------------------------------------------------- */

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t' || *text == '\n') text++;
    for (char *end = text + strlen(text); end > text && strchr(" \t\n", end[-1]);) *--end = '\0';
    return text;
}

/* Returns the text up to the next comma outside parentheses; *rest is NULL after the last item. */
static char *next_item(char **rest) {
    char *start = *rest, *at = start;
    for (int depth = 0; *at && (*at != ',' || depth > 0); at++) depth += (*at == '(') - (*at == ')');
    *rest = *at ? at + 1 : NULL;
    *at = '\0';
    return trim(start);
}

/* Adds the components of these kinds of a target that match, either the usual ones or the others; *found
 * counts them. */
static lw_status add_kinds(lw_record *record, const lw_quantity_kind *kinds, const lw_quantity_target *target,
                           const char *part, bool usual, int *found) {
    for (; *kinds; kinds++) {
        lw_component parts[LW_QUANTITY_COMPONENTS];
        lw_quantity_kind kind = *kinds;
        if (kind == LW_Q_REACTION && target->kind == LW_OBJECT_CONSTRAINT) kind = LW_Q_CONSTRAINT;
        const int count = lw_quantity_components(record->model, kind, target->object, parts);
        for (int k = 0; k < count; k++) {
            lw_state_quantity quantity;
            if (lw_record_is_usual(record->model, kind, target->object, k) != usual) continue;
            if (!lw_pattern_matches(part, parts[k].name)) continue;
            if (!lw_quantity_of_target(record->model, kind, target, k, &quantity)) continue;
            ++*found;
            lw_status status = add(record, &quantity);
            if (status != LW_OK) return status;
        }
    }
    return LW_OK;
}

/* Adds keyword(target).part: the usual components that match or, if there are none, the others. */
static lw_status add_target(lw_record *record, const lw_record_word *w, const lw_quantity_target *target,
                            const char *part, int *found) {
    int here = 0;
    lw_status status = add_kinds(record, w->usual, target, part, true, &here);
    if (status == LW_OK && here == 0) status = add_kinds(record, w->usual, target, part, false, &here);
    if (status == LW_OK && here == 0) status = add_kinds(record, w->more, target, part, true, &here);
    *found += here;
    return status;
}

/* Adds keyword(pattern).part for all objects that match, of one kind. */
static lw_status add_objects(lw_record *record, const lw_record_word *w, lw_object_kind kind,
                             const char *pattern, const char *part, int *named, int *found) {
    const int count = object_count(record->model, kind);
    for (int object = first_object(kind); object < count; object++) {
        if (!lw_pattern_matches(pattern, object_name(record->model, kind, object))) continue;
        const lw_quantity_target target = {.kind = kind, .object = object};
        ++*named;
        lw_status status = add_target(record, w, &target, part, found);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

static lw_status no_component(const lw_record *record, const lw_record_word *w,
                              const lw_quantity_target *target, const char *part) {
    if (target->at_first || target->axes > 0)
        return wrong(record,
                     "leave \"at first\" or \"in\" away; reactions and forces have both, vectors of "
                     "bodies have axes",
                     "there is no such component with this reference");
    if (strcmp(part, "*") != 0)
        return wrong(record, "leave the part after the point away to get all", "there is no such component");
    if (w->usual[0] == LW_Q_DRIVE)
        return wrong(record, "record force(NAME) of a force element, or reaction of the joint",
                     "no motion of the joint is prescribed");
    return wrong(record, "record its reaction, or coordinates of other joints",
                 "the joint has no coordinates");
}

/* Values of the model have names, and no place, axes or components. */
static bool is_own_value(lw_object_kind kind) {
    return kind == LW_OBJECT_STATE || kind == LW_OBJECT_OUTPUT || kind == LW_OBJECT_INPUT ||
           kind == LW_OBJECT_PARAMETER;
}

/* Adds the columns of keyword(objects).part; objects ends in its parenthesis. */
static lw_status add_word(lw_record *record, const lw_record_word *w, char *objects, const char *part) {
    const lw_quantity_target nothing = {.kind = LW_OBJECT_NONE};
    int found = 0, named = 0;
    lw_status status = LW_OK;
    if (w->object == LW_OBJECT_NONE) {
        status = add_target(record, w, &nothing, part, &found);
    } else if ((strchr(objects, '*') || is_own_value(w->object)) && w->object != LW_OBJECT_POINT &&
               w->object != LW_OBJECT_PAIR) {
        objects[strlen(objects) - 1] = '\0';
        objects = trim(objects);
        status = add_objects(record, w, w->object, objects, part, &named, &found);
        if (status == LW_OK && w->usual[0] == LW_Q_REACTION)
            status = add_objects(record, w, LW_OBJECT_CONSTRAINT, objects, part, &named, &found);
        if (status != LW_OK) return status;
        if (named == 0 && strcmp(objects, "*") != 0) return unknown_object(record, w->object, objects);
        if (strcmp(part, "*") == 0) return LW_OK; /* An empty match of * is no fault. */
    } else {
        lw_quantity_target target;
        lw_syntax syntax = {0};
        const size_t length = lw_quantity_target_read(record->model, w->object, objects, &target, &syntax);
        if (length == 0) {
            objects[strlen(objects) - 1] = '\0';
            const bool lone = !strpbrk(objects, ",'") && !strstr(objects, " in ") && !strstr(objects, " at ");
            const bool object = w->object != LW_OBJECT_POINT && w->object != LW_OBJECT_PAIR;
            if (object && lone) return unknown_object(record, w->object, trim(objects));
            return wrong(record, syntax.remedy, syntax.message);
        }
        if (objects[length] != '\0')
            return wrong(record, "write e.g. reaction(pin) or point(load, 0, 0, -0.5).z",
                         "the parentheses do not match");
        if (w->object == LW_OBJECT_BODY && target.object == 0)
            return wrong(record, "name a body that moves", "ground does not move");
        if (w->object == LW_OBJECT_BODY && lw_is_marker(record->model, target.object) &&
            w->usual[0] >= LW_Q_COM && w->usual[0] <= LW_Q_MOMENTUM)
            return wrong(record, "name the body that carries the frame",
                         "a frame has no centre of mass and no momentum");
        status = add_target(record, w, &target, part, &found);
        if (status == LW_OK && found == 0) return no_component(record, w, &target, part);
    }
    if (status == LW_OK && found == 0)
        return wrong(record, "leave the part after the point away to get all", "there is no such component");
    return status;
}

/* Adds an expression as a column, which has its text as name; false with syntax filled if it is none. */
static bool add_expression(lw_record *record, const char *text, lw_syntax *syntax, lw_status *status) {
    if (record->expression_count == record->expression_room) {
        const int room = record->expression_room ? 2 * record->expression_room : 8;
        lw_record_expression *more = realloc(record->expressions, (size_t)room * sizeof *more);
        *status = more ? LW_OK : out_of_memory(record->error);
        if (!more) return true;
        record->expressions = more, record->expression_room = room;
    }
    lw_record_expression *e = &record->expressions[record->expression_count];
    if (!lw_record_expression_compile(record->model, text, record->compiled, e, syntax)) {
        *status = lw_arena_failed(record->compiled) ? out_of_memory(record->error) : LW_ERROR_ARGUMENT;
        return *status == LW_ERROR_MEMORY;
    }
    const lw_state_quantity column = {
        .kind = LW_Q_NONE, .object = record->expression_count++, .other = -1, .needs = e->needs, .unit = ""};
    *status = add_named(record, &column, text);
    return true;
}

/* Does the text look like an expression rather than the name of a column? */
static bool looks_computed(const char *text) {
    return strpbrk(text, "+/^ ") || (text[0] >= '0' && text[0] <= '9') || text[0] == '(' || text[0] == '-';
}

static lw_status bad_expression(const lw_record *record, const lw_syntax *syntax) {
    char message[300];
    snprintf(message, sizeof message, "character %zu: %s", syntax->offset + 1, syntax->message);
    return wrong(record, syntax->remedy[0] ? syntax->remedy : NULL, message);
}

/* Adds the columns whose names match a name or a pattern: the usual ones or, if there are none, others. */
static lw_status add_columns(lw_record *record, const char *pattern) {
    search s = {.pattern = pattern, .usual = true};
    const char *only = strchr(pattern, '*') ? NULL : pattern;
    lw_status status = visit_everything(record, only, add_matching, &s);
    s.usual = false;
    if (status == LW_OK && s.found == 0) status = visit_everything(record, only, add_matching, &s);
    if (status != LW_OK || s.found > 0 || strcmp(pattern, "t") == 0) return status;
    lw_syntax syntax = {0};
    if (add_expression(record, pattern, &syntax, &status)) return status;
    return looks_computed(pattern) ? bad_expression(record, &syntax) : unknown_column(record, pattern);
}

/* Is there more behind keyword(...) than the pattern of a component: is the item an expression? */
static bool goes_on(const char *open) {
    int depth = 0;
    const char *at = open;
    for (; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) break;
    }
    return *at && strpbrk(at + 1, "+-/^ ()<>") != NULL;
}

/* Adds the parameters that events of the model set; the others do not change. */
static lw_status add_set_parameters(lw_record *record) {
    lw_status status = LW_OK;
    for (int k = 0; k < record->model->parameter_names.count && status == LW_OK; k++) {
        lw_state_quantity quantity;
        if (!lw_model_event_sets(record->model, LW_SET_PARAMETER, k)) continue;
        lw_quantity_make(record->model, LW_Q_PARAMETER, k, 0, &quantity);
        status = add(record, &quantity);
    }
    return status;
}

static lw_status add_item(lw_record *record, char *item) {
    if (!item[0]) return wrong(record, "write e.g. joint(*), reaction(pin), ledger", "an item is empty");
    char *open = strchr(item, '('), *close = strrchr(item, ')'), all[] = "*)";
    const lw_record_word *w = lw_record_word_find(item, open ? (size_t)(open - item) : strlen(item));
    if (w && !open && strcmp(w->name, "momentum") == 0) w = &lw_record_total_momentum;
    if (w && !open && w->object == LW_OBJECT_PARAMETER) return add_set_parameters(record);
    if (w && !open && w->object != LW_OBJECT_POINT && w->object != LW_OBJECT_PAIR)
        return add_word(record, w, all, "*");
    if (!w || w->object == LW_OBJECT_NONE || (open && goes_on(open))) return add_columns(record, item);
    if (!open || !close || close < open || (close[1] != '\0' && close[1] != '.'))
        return wrong(record, "write e.g. reaction(pin) or point(load, 0, 0, -0.5).z",
                     "the parentheses do not match");
    const char *part = close[1] ? close + 2 : "*";
    char *objects = LW_NEW(record->arena, char, close - open + 1);
    if (!objects) return out_of_memory(record->error);
    memcpy(objects, open + 1, (size_t)(close - open));
    return add_word(record, w, objects, part);
}

static lw_status parse(lw_record *record, const char *list) {
    char *rest = lw_arena_text(record->arena, list);
    lw_state_quantity time;
    if (!rest) return out_of_memory(record->error);
    lw_quantity_make(record->model, LW_Q_TIME, 0, 0, &time);
    lw_status status = add(record, &time);
    while (rest && status == LW_OK) {
        char *item = next_item(&rest);
        record->item = lw_arena_text(record->arena, item);
        status = record->item ? add_item(record, item) : out_of_memory(record->error);
    }
    return status;
}

static lw_status add_works(lw_record *record, const lw_state_quantity *quantities, int count) {
    lw_status status = LW_OK;
    for (int k = 0; k < count && status == LW_OK; k++)
        if (quantities[k].needs & LW_NEEDS_WORK) status = add(record, &quantities[k]);
    return status;
}

/* The coordinates of cut joints that an expression uses, whose revolutions the state may leave open. */
static lw_status add_cut(lw_record *record, const lw_record_expression *e) {
    lw_status status = LW_OK;
    for (int k = 0; k < e->quantity_count && status == LW_OK; k++) {
        lw_state_quantity cut = e->quantities[k];
        const lw_force *force = cut.kind == LW_Q_ELEMENT ? &record->model->forces[cut.object] : NULL;
        if (force && lw_force_type_in_joint(force->type) && force->closure >= 0 && force->q >= 0)
            lw_quantity_make(record->model, LW_Q_COORDINATE, record->model->closures[force->closure],
                             force->q, &cut);
        if (cut.kind == LW_Q_COORDINATE && cut.other >= 0) status = add(record, &cut);
    }
    return status;
}

/* Works and angles of cut joints that outputs and expressions are computed from become columns of their own:
 * a run that goes on from the file needs them, and cannot find them out of an expression's value. */
static lw_status add_works_used(lw_record *record) {
    const lw_values *values = &record->model->values;
    bool computed = false;
    for (size_t k = 0; k < record->count; k++) {
        const lw_state_quantity *column = &record->columns[k];
        const unsigned needs =
            column->kind == LW_Q_OUTPUT ? record->model->outputs[column->object].needs : column->needs;
        computed |= column->kind != LW_Q_FORCE && needs & LW_NEEDS_WORK;
    }
    lw_status status = computed ? add_works(record, values->quantities, values->quantity_count) : LW_OK;
    for (int k = 0; k < record->expression_count && status == LW_OK; k++) {
        const lw_record_expression *e = &record->expressions[k];
        status = add_works(record, e->quantities, e->quantity_count);
        if (status == LW_OK) status = add_cut(record, e);
    }
    return status;
}

/* --- creation ------------------------------------------------------------------------------------- */

/* Takes the memory that the columns need in rows. */
static lw_status prepare(lw_record *record) {
    const lw_model *model = record->model;
    const size_t bodies = (size_t)model->body_count + 1;
    lw_last_row_create(record->arena, model, &record->last);
    if (record->needs & LW_NEEDS_MOTION_RATES) record->rates = LW_NEW(record->arena, double, 6 * bodies);
    if (record->needs & LW_NEEDS_FORCES)
        record->forces = LW_NEW(record->arena, lw_force_value, model->force_count + 1);
    if (record->with_inputs) {
        record->inputs = LW_NEW(record->arena, double, model->input_names.count + 1);
        record->needs |= lw_record_input_needs(model);
    }
    const size_t parameters = (size_t)model->parameter_names.count;
    record->constants = LW_NEW(record->arena, double, parameters + 1);
    if (lw_arena_failed(record->arena)) return out_of_memory(record->error);
    if (parameters) memcpy(record->constants, model->parameter_values, parameters * sizeof(double));
    return LW_OK;
}

lw_status lw_record_create(const lw_model *model, const char *list, lw_record **out, lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out) return lw_call_needs("a model and a place for the record", error);
    if (!list) list = LW_RECORD_DEFAULT;
    lw_arena *arena = lw_arena_create(NULL);
    lw_record *record = LW_NEW(arena, lw_record, 1);
    if (!record) {
        lw_arena_destroy(arena);
        return out_of_memory(error);
    }
    record->arena = arena;
    record->model = model;
    record->error = error;
    record->compiled = lw_arena_create(NULL);
    lw_status status = record->compiled ? lw_data_create(model, NULL, &record->data) : LW_ERROR_MEMORY;
    status = status == LW_OK ? parse(record, list) : out_of_memory(error);
    if (status == LW_OK) status = add_works_used(record);
    if (status == LW_OK) status = prepare(record);
    record->error = NULL;
    if (status != LW_OK)
        lw_record_destroy(record);
    else
        *out = record;
    return status;
}

void lw_record_destroy(lw_record *record) {
    if (!record) return;
    free(record->columns);
    free(record->names);
    free(record->table);
    free(record->expressions);
    lw_data_destroy(record->data);
    lw_arena_destroy(record->compiled);
    lw_arena_destroy(record->arena);
}

size_t lw_record_count(const lw_record *record) { return record ? record->count : 0; }
const lw_record_column *lw_record_columns(const lw_record *record) { return record->names; }
bool lw_record_accelerations(const lw_record *record) {
    return record && record->needs & LW_NEEDS_ACCELERATION;
}
bool lw_record_reactions(const lw_record *record) {
    return record && record->needs & (LW_NEEDS_REACTION | LW_NEEDS_MULTIPLIER);
}

bool lw_record_is_work(const lw_record *record, size_t column) {
    return record->columns[column].kind == LW_Q_FORCE && record->columns[column].needs & LW_NEEDS_WORK;
}

bool lw_record_works(const lw_record *record) { return record && record->needs & LW_NEEDS_WORK; }

/* --- values --------------------------------------------------------------------------------------- */

/* Computes what the columns need of the state: poses and twists, forces, accelerations of bodies. */
static void move_bodies(lw_record *record, const lw_model *model, const lw_sample *sample,
                        lw_quantity_source *source) {
    lw_data *data = record->data;
    const unsigned needs = record->needs;
    const double t = sample->t + sample->aside;
    *source = (lw_quantity_source){.t = t,
                                   .vdot = sample->vdot,
                                   .reactions = sample->reactions,
                                   .multipliers = sample->multipliers,
                                   .ledger = sample->ledger,
                                   .works = sample->works,
                                   .states = sample->states,
                                   .outputs = sample->outputs,
                                   .position_violation = sample->position_violation,
                                   .velocity_violation = sample->velocity_violation};
    lw_data_set_values(model, data, sample->inputs, sample->states);
    lw_take_state(model, data, t, sample->q, sample->v);
    if (needs & (LW_NEEDS_VELOCITY | LW_NEEDS_FORCES))
        lw_velocities(model, data);
    else if (needs & LW_NEEDS_POSITION)
        lw_positions(model, data);
    if (needs & (LW_NEEDS_KINEMATICS | LW_NEEDS_FORCES)) lw_world_poses(model, data);
    if (record->rates && sample->vdot) {
        lw_body_accelerations(model, data, sample->vdot, record->rates);
        source->motion_rates = record->rates;
    }
    if (record->forces) {
        lw_force_values(model, data, t, !sample->ledger, record->forces);
        source->forces = record->forces;
    }
    if (record->with_inputs) {
        const size_t inputs = (size_t)model->input_names.count * sizeof *record->inputs;
        lw_values_compute(model, data, t, source, &model->values.for_all);
        memcpy(record->inputs, data->computed, inputs);
        source->inputs = record->inputs;
    }
}

/* Parameters are constants in expressions, and may have changed since these were compiled; then they are
 * compiled again. */
static void renew_expressions(lw_record *record, const lw_model *model) {
    const size_t size = (size_t)model->parameter_names.count * sizeof *record->constants;
    if (record->expression_count == 0 || size == 0) return;
    if (memcmp(record->constants, model->parameter_values, size) == 0) return;
    lw_arena *arena = lw_arena_create(NULL);
    for (int k = 0; arena && k < record->expression_count; k++) {
        lw_syntax syntax;
        lw_record_expression again = {0};
        if (!lw_record_expression_compile(model, record->expressions[k].text, arena, &again, &syntax))
            again.function = NULL; /* Its values are not known. */
        record->expressions[k] = again;
    }
    if (!arena)
        for (int k = 0; k < record->expression_count; k++) record->expressions[k].function = NULL;
    lw_arena_destroy(record->compiled);
    record->compiled = arena;
    memcpy(record->constants, model->parameter_values, size);
}

/* The vector of a quantity, in a row that follows the last. */
static void next_vector(lw_record *record, const lw_model *model, const lw_quantity_source *source,
                        const lw_state_quantity *quantity, double vector[LW_QUANTITY_COMPONENTS]) {
    lw_quantity_vector(model, record->data, source, quantity, vector);
    lw_last_row_follow(record->model, &record->last, quantity, vector);
}

/* The values of an expression's own quantities. */
static void take_quantities(lw_record *record, const lw_model *model, const lw_quantity_source *source,
                            const lw_record_expression *e) {
    double vector[LW_QUANTITY_COMPONENTS];
    for (int k = 0; k < e->quantity_count; k++) {
        next_vector(record, model, source, &e->quantities[k], vector);
        e->own[k] = vector[e->quantities[k].component];
    }
}

lw_status lw_record_row(lw_record *record, const lw_sample *sample, double *row) {
    if (!record || !sample || !sample->q || !sample->v || !row) return LW_ERROR_ARGUMENT;
    double vector[LW_QUANTITY_COMPONENTS];
    lw_quantity_source source;
    const lw_state_quantity *last = NULL;
    const lw_model *model = sample->model ? sample->model : record->model;
    renew_expressions(record, model);
    move_bodies(record, model, sample, &source);
    for (size_t k = 0; k < record->count; k++) {
        const lw_state_quantity *c = &record->columns[k];
        if (c->kind == LW_Q_NONE) {
            lw_record_expression *e = &record->expressions[c->object];
            if (e->function) take_quantities(record, model, &source, e);
            row[k] = e->function ? lw_record_expression_value(model, record->data, &source, e) : NAN;
            continue;
        }
        if (!last || !lw_quantity_same_vector(last, c)) next_vector(record, model, &source, c, vector);
        row[k] = c->kind == LW_Q_TIME ? sample->t : vector[c->component];
        last = c;
    }
    return LW_OK;
}

/* Is a quantity of this kind among the columns, or in an expression? */
static bool has_kind(const lw_record *record, lw_quantity_kind kind) {
    bool found = false;
    for (size_t k = 0; k < record->count && !found; k++) found = record->columns[k].kind == kind;
    for (int e = 0; e < record->expression_count; e++)
        for (int k = 0; k < record->expressions[e].quantity_count && !found; k++)
            found = record->expressions[e].quantities[k].kind == kind;
    return found;
}

void lw_record_go_on(lw_record *record, lw_record_value *value, void *context) {
    const bool turns = has_kind(record, LW_Q_COORDINATE) || has_kind(record, LW_Q_ELEMENT);
    lw_last_row_set(record->model, &record->last, has_kind(record, LW_Q_ROTATION), turns, value, context);
}
