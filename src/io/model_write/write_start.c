/* write_start.c - a model file with another start, its text otherwise as it was written.
 *
 * What a person wrote stays: expressions, units, repeats, parts, comments. Only these places change: an entry
 * in `starts`, `begin` in `run`, starts of user states, and values of parameters that were set from outside.
 * Each is found by the place of its node in the text; sections that are missing are added at the end. A text
 * whose form leaves no such place, as with an anchor before a value, is refused, and the caller has
 * lw_write_model.
 *
 * Cost     O(length of the text).
 */
#include "core/core.h"
#include "io/model_read/yaml.h"
#include "io/number.h"
#include "io/whole_file.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"

#include <linkwork/io.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the text that another one replaces. */
typedef struct edit {
    size_t at, length;
    char *text;
} edit;

typedef struct editor {
    lw_arena *arena;
    const char *path, *text;
    size_t length;
    const lw_yaml *root;
    edit *edits;
    size_t count, room;
    const char *trouble; /* why the text cannot be changed; NULL: it can */
} editor;

/* A text that grows. */
typedef struct piece {
    char *text;
    size_t length, room;
    bool failed;
} piece;

static void put(piece *p, const char *text) {
    const size_t more = strlen(text);
    if (p->length + more + 1 > p->room) {
        const size_t room = 2 * (p->length + more) + 256;
        char *longer = realloc(p->text, room);
        if (!longer) {
            p->failed = true;
            return;
        }
        p->text = longer, p->room = room;
    }
    memcpy(p->text + p->length, text, more + 1);
    p->length += more;
}

/* A key, in quotes unless it is a plain word. */
static void put_key(piece *p, const char *name) {
    bool plain = name[0] && !strchr("0123456789-", name[0]);
    for (const char *c = name; *c; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                          *c == '_');
    if (!plain) put(p, "\"");
    for (const char *c = name; *c; c++) {
        const char one[] = {*c, 0};
        if (!plain && (*c == '"' || *c == '\\')) put(p, "\\");
        put(p, one);
    }
    put(p, plain ? ": " : "\": ");
}

static void put_number(piece *p, double value) {
    char text[LW_NUMBER_SIZE];
    lw_number_print(value, text);
    put(p, text);
}

static void put_numbers(piece *p, const char *key, const double *values, int count) {
    put(p, key);
    put(p, count == 1 ? ": " : ": [");
    for (int k = 0; k < count; k++) {
        if (k) put(p, ", ");
        put_number(p, values[k]);
    }
    if (count != 1) put(p, "]");
}

/* --- places ---------------------------------------------------------------------------------------- */

static size_t offset_of(const editor *e, lw_place place) {
    size_t at = 0;
    for (int line = 1; line < place.line && at < e->length; at++) line += e->text[at] == '\n';
    for (int column = 1; column < place.column && at < e->length; column++)
        for (at++; at < e->length && lw_utf8_continues(e->text[at]); at++) {
        }
    return at;
}

static void add(editor *e, size_t at, size_t length, const char *text) {
    char *copy = lw_arena_text(e->arena, text);
    if (e->count == e->room) {
        const size_t room = 2 * e->room + 16;
        edit *longer = LW_NEW(e->arena, edit, room);
        if (!longer) return;
        if (e->count) memcpy(longer, e->edits, e->count * sizeof *longer);
        e->edits = longer, e->room = room;
    }
    if (copy) e->edits[e->count++] = (edit){at, length, copy};
}

/* Replaces a text node. */
static void replace(editor *e, const lw_yaml *node, const char *text) {
    size_t at = offset_of(e, node->place), end;
    if (node->kind != LW_YAML_TEXT) {
        e->trouble = "a value that has to change is not a plain one";
        return;
    }
    if (node->quoted) {
        if (at > 0 && e->text[at] != '"' && e->text[at] != '\'') at--;
        const char quote = e->text[at];
        if (quote != '"' && quote != '\'') {
            e->trouble = "a value that has to change has an anchor";
            return;
        }
        for (end = at + 1; end < e->length && e->text[end] != quote; end++)
            if (quote == '"' && e->text[end] == '\\') end++;
        add(e, at, end + 1 - at, text);
        return;
    }
    const size_t length = strlen(node->text);
    if (at + length > e->length || memcmp(e->text + at, node->text, length) != 0)
        e->trouble = "a value that has to change stands in several lines, or has an anchor";
    else
        add(e, at, length, text);
}

/* Adds an entry before the others of a map, in its own manner. */
static void insert(editor *e, const lw_yaml *map, const char *entry) {
    piece p = {0};
    const size_t from = offset_of(e, map->place);
    if (map->kind == LW_YAML_MAP && map->count > 0) {
        size_t at = offset_of(e, map->items[0]->place), before, start;
        if (map->items[0]->quoted && at > 0 && e->text[at] != '"' && e->text[at] != '\'') at--;
        for (before = at; before > 0 && strchr(" \t\r\n", e->text[before - 1]); before--) {
        }
        for (start = at; start > 0 && e->text[start - 1] == ' '; start--) {
        }
        if (before > 0 && e->text[before - 1] == '{') {
            put(&p, entry), put(&p, ", ");
            add(e, before, 0, p.failed ? "" : p.text);
        } else if (start == 0 || e->text[start - 1] == '\n') {
            put(&p, entry), put(&p, "\n");
            for (size_t k = start; k < at; k++) put(&p, " ");
            add(e, at, 0, p.failed ? "" : p.text);
        } else
            e->trouble = "a section that has to change begins behind an anchor or a comment";
    } else if (map->kind == LW_YAML_MAP && from < e->length && e->text[from] == '{')
        add(e, from + 1, 0, entry);
    else
        e->trouble = "a section that has to change is empty";
    if (p.failed) e->trouble = "memory is out";
    free(p.text);
}

/* Adds a section at the end of the text. */
static void append(editor *e, const char *section, const char *entry) {
    piece p = {0};
    if (e->root->count == 0 || e->root->items[0]->place.column != 1) {
        e->trouble = "its sections do not begin in the first column";
        return;
    }
    if (e->length > 0 && e->text[e->length - 1] != '\n') put(&p, "\n");
    put(&p, section), put(&p, ":\n  "), put(&p, entry), put(&p, "\n");
    if (p.failed)
        e->trouble = "memory is out";
    else
        add(e, e->length, 0, p.text);
    free(p.text);
}

static void put_in(editor *e, const char *section, const char *entry) {
    const lw_yaml *map = lw_yaml_get(e->root, section);
    if (map)
        insert(e, map, entry);
    else
        append(e, section, entry);
}

/* --- changes --------------------------------------------------------------------------------------- */

static void change_start(editor *e, const lw_spec *spec, const lw_new_start *start) {
    piece p = {0};
    bool first = true;
    put_key(&p, start->name);
    put(&p, "{");
    for (size_t k = 0; k < start->joint_count; k++) {
        const lw_start_spec *entry = &start->joints[k];
        const lw_joint_spec *joint = NULL;
        for (size_t j = 0; j < spec->joint_count; j++)
            if (strcmp(spec->joints[j].name, entry->joint) == 0) joint = &spec->joints[j];
        if (!joint || !(entry->has_q || entry->has_v)) continue;
        const int axes = joint->geometry[0].axis_count;
        if (!first) put(&p, ", ");
        first = false;
        put_key(&p, entry->joint);
        put(&p, "{");
        if (entry->has_q) put_numbers(&p, "q", entry->q, lw_joint_type_q(joint->type, axes));
        if (entry->has_q && entry->has_v) put(&p, ", ");
        if (entry->has_v) put_numbers(&p, "v", entry->v, lw_joint_type_v(joint->type, axes));
        put(&p, "}");
    }
    put(&p, "}");
    if (p.failed)
        e->trouble = "memory is out";
    else if (!first)
        put_in(e, "starts", p.text);
    free(p.text);
    if (first) return;
    piece begin = {0};
    put_key(&begin, "begin");
    const lw_yaml *run = lw_yaml_get(e->root, "run"), *old = run ? lw_yaml_get(run, "begin") : NULL;
    piece quoted = {0};
    put(&quoted, "\""), put(&quoted, start->name), put(&quoted, "\"");
    put(&begin, quoted.failed ? "" : quoted.text);
    if (quoted.failed || begin.failed)
        e->trouble = "memory is out";
    else if (old)
        replace(e, old, quoted.text);
    else
        put_in(e, "run", begin.text);
    free(begin.text);
    free(quoted.text);
}

static void change_states(editor *e, const lw_new_start *start) {
    const lw_yaml *states = lw_yaml_get(e->root, "states");
    for (size_t k = 0; k < start->state_count; k++) {
        char text[LW_NUMBER_SIZE + 16];
        const lw_yaml *state = states ? lw_yaml_get(states, start->states[k]) : NULL;
        const lw_yaml *old = state && state->kind == LW_YAML_MAP ? lw_yaml_get(state, "start") : NULL;
        lw_number_print(start->state_starts[k], text);
        if (old)
            replace(e, old, text);
        else if (state && state->kind == LW_YAML_MAP) {
            char entry[LW_NUMBER_SIZE + 32];
            snprintf(entry, sizeof entry, "start: %s", text);
            insert(e, state, entry);
        } else
            e->trouble = "a user state stands in a part, or is repeated";
    }
}

static void change_parameters(editor *e, const lw_new_start *start) {
    const lw_yaml *parameters = lw_yaml_get(e->root, "parameters");
    for (size_t k = 0; k < start->setting_count; k++) {
        const lw_yaml *old = parameters ? lw_yaml_get(parameters, start->settings[k].name) : NULL;
        piece p = {0};
        put(&p, "\"");
        for (const char *c = start->settings[k].value; *c; c++) {
            const char one[] = {*c, 0};
            if (*c == '"' || *c == '\\') put(&p, "\\");
            put(&p, one);
        }
        put(&p, "\"");
        if (p.failed)
            e->trouble = "memory is out";
        else if (old)
            replace(e, old, p.text);
        else
            e->trouble = "a parameter that was set stands in a part";
        free(p.text);
    }
}

/* --- the file -------------------------------------------------------------------------------------- */

/* The text with all changes, in the order of their places; sections that are added at the end keep theirs. */
static lw_status write_text(editor *e, const char *path, lw_error *error) {
    piece whole = {0};
    char *rest = malloc(e->length + 1);
    size_t at = 0;
    for (size_t k = 1; k < e->count; k++)
        for (size_t i = k; i > 0 && e->edits[i - 1].at > e->edits[i].at; i--) {
            const edit keep = e->edits[i];
            e->edits[i] = e->edits[i - 1], e->edits[i - 1] = keep;
        }
    for (size_t k = 0; rest && k < e->count; k++) {
        const edit *one = &e->edits[k];
        memcpy(rest, e->text + at, one->at - at), rest[one->at - at] = 0;
        put(&whole, rest), put(&whole, one->text);
        at = one->at + one->length;
    }
    if (rest) put(&whole, e->text + at);
    const bool room = rest && !whole.failed;
    free(rest);
    FILE *file = room ? fopen(path, "wb") : NULL;
    bool good = file && fwrite(whole.text, 1, whole.length, file) == whole.length;
    if (file && fclose(file) != 0) good = false;
    free(whole.text);
    if (!room) return lw_out_of_memory(error);
    return good ? LW_OK
                : lw_fail(error, LW_ERROR_FILE, path, "look at the folder, its permissions and the disk",
                          "the file cannot be written: %s", strerror(errno));
}

lw_status lw_write_with_start(const char *model, const lw_spec *spec, const lw_new_start *start,
                              const char *path, lw_error *error) {
    if (!model || !spec || !start || !start->name || !path)
        return lw_call_needs("the path of a model file, its spec, a start with a name, and a path", error);
    char *text = NULL;
    size_t length = 0;
    editor e = {.arena = lw_arena_create(NULL), .path = model};
    if (!e.arena) return lw_out_of_memory(error);
    lw_status status = lw_whole_file(model, LW_YAML_MAX_BYTES, "", NULL, &text, &length);
    if (status != LW_OK)
        (void)lw_fail(error, status, model, "give the path of a model file", "it cannot be read once more");
    if (status == LW_OK) status = lw_yaml_parse(e.arena, text, length, model, NULL, &e.root);
    if (status == LW_OK && (!e.root || e.root->kind != LW_YAML_MAP || strlen(text) != length))
        status = LW_ERROR_MODEL;
    if (status == LW_OK) {
        e.text = text, e.length = length;
        change_start(&e, spec, start);
        change_states(&e, start);
        change_parameters(&e, start);
        if (lw_arena_failed(e.arena))
            status = lw_out_of_memory(error);
        else if (e.trouble)
            status = lw_fail(error, LW_ERROR_UNSUPPORTED, model, "write it anew (lw_write_model)", "%s",
                             e.trouble);
        else
            status = write_text(&e, path, error);
    } else if (status == LW_ERROR_MODEL)
        (void)lw_fail(error, status, model, "give a model file", "it is no text of a model");
    free(text);
    lw_arena_destroy(e.arena);
    return status;
}
