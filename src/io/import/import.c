/* import.c - mechanisms in the formats of others: which format a text has, its reader, and what was left out.
 *
 * The format follows from the content: the name of the root element, whatever the file is called.
 */
#define _XOPEN_SOURCE 700

#include "io/import/importer.h"

#include "io/results/read_results.h"
#include "io/table_file.h"
#include "io/whole_file.h"

#include <linkwork/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what was found ------------------------------------------------------------------------------- */

struct lw_import_notes {
    lw_import_note *items;
    size_t count, room;
};

lw_import_notes *lw_import_notes_create(void) { return calloc(1, sizeof(lw_import_notes)); }

void lw_import_notes_destroy(lw_import_notes *notes) {
    if (!notes) return;
    free(notes->items);
    free(notes);
}

size_t lw_import_notes_size(const lw_import_notes *notes) { return notes ? notes->count : 0; }

const lw_import_note *lw_import_notes_get(const lw_import_notes *notes, size_t index) {
    return notes && index < notes->count ? &notes->items[index] : NULL;
}

void lw_import_note_of(lw_importer *importer, lw_place place, const char *kind, const char *meaning) {
    lw_import_notes *notes = importer->options.notes;
    if (!notes) return;
    for (size_t k = 0; k < notes->count; k++) {
        if (strcmp(notes->items[k].kind, kind) != 0) continue;
        notes->items[k].count++;
        return;
    }
    if (notes->count == notes->room) {
        const size_t room = 2 * notes->room + 8;
        lw_import_note *items = realloc(notes->items, room * sizeof *items);
        if (!items) {
            importer->out_of_memory = true;
            return;
        }
        notes->items = items;
        notes->room = room;
    }
    lw_import_note *note = &notes->items[notes->count++];
    *note = (lw_import_note){.count = 1, .place = place};
    (void)snprintf(note->kind, sizeof note->kind, "%s", kind);
    (void)snprintf(note->meaning, sizeof note->meaning, "%s", meaning);
}

static void tell(lw_importer *importer, lw_severity severity, lw_place place, const char *object,
                 const char *remedy, const char *format, va_list arguments) {
    char message[sizeof((lw_error *)0)->message];
    (void)vsnprintf(message, sizeof message, format, arguments);
    lw_complain(importer->report, severity, importer->file, place, object, remedy, "%s", message);
}

void lw_import_fault(lw_importer *importer, lw_place place, const char *object, const char *remedy,
                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(importer, importer->drawing ? LW_SEVERITY_WARNING : LW_SEVERITY_ERROR, place, object, remedy, format,
         arguments);
    va_end(arguments);
    importer->faults += !importer->drawing;
}

void lw_import_warning(lw_importer *importer, lw_place place, const char *object, const char *remedy,
                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell(importer, LW_SEVERITY_WARNING, place, object, remedy, format, arguments);
    va_end(arguments);
}

void lw_import_warning_once(lw_importer *importer, const char *kind, lw_place place, const char *object,
                            const char *remedy, const char *format, ...) {
    enum { MOST = sizeof importer->repeats / sizeof *importer->repeats };
    int k = 0;
    while (k < importer->repeat_count && strcmp(importer->repeats[k].kind, kind) != 0) k++;
    if (k == MOST) return;
    lw_import_repeat *repeat = &importer->repeats[k];
    repeat->count++;
    if (k < importer->repeat_count) return;
    importer->repeat_count++;
    repeat->kind = kind;
    char message[sizeof repeat->first.message - 40];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)lw_fail(&repeat->first, LW_ERROR_MODEL, object, remedy, "%s", message);
    repeat->first.severity = LW_SEVERITY_WARNING;
    repeat->first.place = place;
    (void)snprintf(repeat->first.file, sizeof repeat->first.file, "%s", importer->file);
}

static void tell_repeats(lw_importer *importer) {
    for (int k = 0; k < importer->repeat_count && importer->report; k++) {
        lw_import_repeat *repeat = &importer->repeats[k];
        lw_error *first = &repeat->first;
        const size_t length = strlen(first->message);
        if (repeat->count > 1)
            (void)snprintf(first->message + length, sizeof first->message - length, " (and %d more like it)",
                           repeat->count - 1);
        if (lw_report_add(importer->report, first) != LW_OK) importer->out_of_memory = true;
    }
}

void lw_import_check(lw_importer *importer, lw_status status) {
    if (status == LW_OK) return;
    if (status == LW_ERROR_MEMORY)
        importer->out_of_memory = true;
    else
        lw_import_fault(importer, (lw_place){0, 0}, NULL, NULL, "the mechanism cannot be held: %s",
                        lw_status_text(status));
}

const char *lw_import_print(lw_importer *importer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : LW_NEW(importer->arena, char, (size_t)length + 1);
    if (text)
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    else
        importer->out_of_memory = true;
    va_end(again);
    return text ? text : "";
}

const char *lw_import_file(lw_importer *importer, lw_place place, const char *object, const char *path,
                           size_t *length, const char **shown) {
    lw_error error = {0};
    if (!importer->has_folder) {
        lw_import_fault(importer, place, object, "import the file by its path",
                        "\"%.150s\" cannot be read, since this text is not from a file", path);
        return NULL;
    }
    char *real = lw_table_file_path(importer->file, path, importer->options.any_path, &error), *text = NULL;
    lw_report *report = lw_report_create();
    lw_status status = LW_ERROR_FILE;
    if (real && report) {
        status = lw_whole_file(real, LW_IMPORT_MAX_BYTES, "split the file", report, &text, length);
        if (status != LW_OK && lw_report_size(report) > 0) error = *lw_report_get(report, 0);
    }
    const char *kept = NULL;
    if (status == LW_OK) {
        kept = lw_import_print(importer, "%s", text);
        if (shown) *shown = lw_import_print(importer, "%s", path);
        if (memchr(text, '\0', *length)) *length = strlen(kept);
    } else if (error.status == LW_ERROR_MEMORY || !report)
        importer->out_of_memory = true;
    else
        lw_import_fault(importer, place, object, error.remedy, "\"%.150s\": %.200s", path, error.message);
    lw_report_destroy(report);
    free(real), free(text);
    return importer->out_of_memory ? NULL : kept;
}

/* --- formats -------------------------------------------------------------------------------------- */

static const char *const format_names[LW_FORMATS] = {"unknown", "Linkwork",          "URDF", "SDF", "MJCF",
                                                     "xacro",   "Simscape Multibody"};

const char *lw_import_format_name(lw_import_format format) {
    return (int)format >= 0 && format < LW_FORMATS ? format_names[format] : format_names[0];
}

/* Where what begins with `start` ends behind `end`; NULL if it does not. */
static const char *behind(const char *at, const char *last, const char *start, const char *end) {
    const size_t size = strlen(start), tail = strlen(end);
    if ((size_t)(last - at) < size || memcmp(at, start, size) != 0) return NULL;
    for (at += size; (size_t)(last - at) >= tail; at++)
        if (memcmp(at, end, tail) == 0) return at + tail;
    return last;
}

/* Whether macros of xacro stand in a text. What xacro has expanded keeps its comments, with the macros in
 * them. */
static bool holds_macros(const char *at, const char *last) {
    while (at < last) {
        const char *next = behind(at, last, "<!--", "-->");
        if (next) {
            at = next;
            continue;
        }
        const size_t rest = (size_t)(last - at);
        if ((rest >= 7 && memcmp(at, "<xacro:", 7) == 0) || (rest >= 2 && memcmp(at, "${", 2) == 0))
            return true;
        at++;
    }
    return false;
}

/* A DOCTYPE may hold declarations in brackets. */
static const char *behind_doctype(const char *at, const char *last) {
    if ((size_t)(last - at) < 2 || memcmp(at, "<!", 2) != 0) return NULL;
    int depth = 0;
    for (; at < last; at++) {
        if (*at == '[') depth++;
        if (*at == ']') depth--;
        if (*at == '>' && depth <= 0) return at + 1;
    }
    return last;
}

lw_import_format lw_import_format_of_text(const char *text, size_t length) {
    static const struct {
        const char *root;
        lw_import_format format;
    } roots[] = {{"robot", LW_FORMAT_URDF},         {"sdf", LW_FORMAT_SDF},
                 {"gazebo", LW_FORMAT_SDF},         {"mujoco", LW_FORMAT_MJCF},
                 {"mujocoinclude", LW_FORMAT_MJCF}, {"SimscapeMultibodyImportXML", LW_FORMAT_SIMSCAPE}};
    if (!text) return LW_FORMAT_UNKNOWN;
    const char *at = text, *last = text + length;
    if (length >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) at += 3;
    for (;;) {
        while (at < last && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
        if (at >= last) return LW_FORMAT_MODEL; /* which says that nothing is there */
        if (*at != '<') return LW_FORMAT_MODEL;
        const char *next = behind(at, last, "<?", "?>");
        if (!next) next = behind(at, last, "<!--", "-->");
        if (!next) next = behind_doctype(at, last);
        if (!next) break;
        at = next;
    }
    size_t size = 0;
    at++;
    while (at + size < last && !strchr(" \t\r\n/>", at[size])) size++;
    for (size_t k = 0; k < sizeof roots / sizeof *roots; k++) {
        if (strlen(roots[k].root) != size || memcmp(at, roots[k].root, size) != 0) continue;
        if (roots[k].format == LW_FORMAT_URDF && holds_macros(at, last)) return LW_FORMAT_XACRO;
        return roots[k].format;
    }
    return LW_FORMAT_UNKNOWN;
}

lw_import_format lw_import_format_of(const char *path) {
    if (!path) return LW_FORMAT_UNKNOWN;
    if (lw_is_results(path)) return LW_FORMAT_MODEL;
    char *text = NULL;
    size_t length = 0;
    if (lw_whole_file(path, LW_IMPORT_MAX_BYTES, NULL, NULL, &text, &length) != LW_OK)
        return LW_FORMAT_UNKNOWN;
    const lw_import_format format = lw_import_format_of_text(text, length);
    free(text);
    return format;
}

/* --- calls ---------------------------------------------------------------------------------------- */

void lw_import_defaults(lw_import_options *options) {
    if (options) *options = (lw_import_options){.base = LW_BASE_FIXED};
}

static void refuse(lw_importer *importer, lw_import_format format) {
    const lw_place start = {1, 1};
    if (format == LW_FORMAT_XACRO)
        lw_import_fault(importer, start, NULL, "run xacro first: xacro FILE > robot.urdf",
                        "this is xacro, not URDF: a text with macros that the program xacro expands");
    else
        lw_import_fault(importer, start, NULL,
                        "give a file whose root element is <robot>, <sdf>, <mujoco> or "
                        "<SimscapeMultibodyImportXML>, or a model file",
                        "this is neither URDF nor SDF nor MJCF nor XML of Simscape Multibody");
}

/* Closures ask to be cut, so that the coordinates of the tree are those of the file. Beside a body without
 * mass that is not followed (src/model/graph.c), and the file has not asked: no request, then, and no
 * warning. */
static void withdraw_cuts(lw_importer *importer) {
    lw_name_table light = {0};
    lw_spec *spec = importer->spec;
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        const lw_body_spec *body = lw_spec_body(spec, k);
        if (body->mass == 0 && !lw_results_table_add(&light, importer->arena, body->name, body->place))
            importer->out_of_memory = true;
    }
    for (size_t k = 0; k < lw_spec_joint_count(spec) && light.count > 0; k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        for (int side = 0; side < 2 && joint->cut; side++)
            joint->cut = !lw_results_table_find(&light, joint->bodies[side]);
    }
}

/* An option without a meaning in this format is a misunderstanding. */
static void refuse_options(lw_importer *importer, lw_import_format format) {
    const lw_place start = {1, 1};
    if (importer->options.key && format != LW_FORMAT_MJCF)
        lw_import_fault(importer, start, NULL, "leave the keyframe out",
                        "the keyframe \"%.60s\" is asked for, but only MJCF has keyframes",
                        importer->options.key);
    if (importer->options.base == LW_BASE_FREE && format != LW_FORMAT_URDF)
        lw_import_fault(importer, start, NULL,
                        format == LW_FORMAT_SDF || format == LW_FORMAT_SIMSCAPE
                            ? "leave it out: links that no joint holds are free"
                            : "leave it out: a body with a free joint is free",
                        "a free base is asked for, but only URDF leaves open whether its base is free");
}

static lw_status import_text(lw_importer *importer, lw_import_format format, lw_spec **spec) {
    static void (*const readers[LW_FORMATS])(lw_importer *) = {[LW_FORMAT_URDF] = lw_import_urdf,
                                                               [LW_FORMAT_SDF] = lw_import_sdf,
                                                               [LW_FORMAT_MJCF] = lw_import_mjcf,
                                                               [LW_FORMAT_SIMSCAPE] = lw_import_simscape};
    importer->arena = lw_arena_create(NULL);
    if (!importer->arena) return LW_ERROR_MEMORY;
    if (readers[format]) {
        refuse_options(importer, format);
        readers[format](importer);
    } else
        refuse(importer, format);
    tell_repeats(importer);
    lw_status status = LW_OK;
    if (importer->faults > 0 || !importer->spec) status = LW_ERROR_MODEL;
    if (importer->out_of_memory || lw_arena_failed(importer->arena)) status = LW_ERROR_MEMORY;
    if (status == LW_OK) withdraw_cuts(importer);
    if (importer->out_of_memory) status = LW_ERROR_MEMORY;
    if (status == LW_OK) status = lw_spec_set_file(importer->spec, importer->file);
    if (status == LW_OK && importer->options.keep_fixed)
        status = lw_spec_set_welds(importer->spec, LW_WELDS_KEEP);
    if (status == LW_OK)
        *spec = importer->spec;
    else
        lw_spec_destroy(importer->spec);
    lw_arena_destroy(importer->arena);
    return status;
}

static bool good_options(const lw_import_options *options) {
    if (!options) return true;
    for (size_t k = 0; k < options->folder_count; k++)
        if (!options->folders || !options->folders[k]) return false;
    return (unsigned)options->base <= LW_BASE_FREE && (unsigned)options->loops <= LW_LOOPS_JOINTS;
}

lw_status lw_import_text(const char *text, size_t length, const char *name, const lw_import_options *options,
                         lw_report *report, lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || (!text && length > 0) || !good_options(options)) return LW_ERROR_ARGUMENT;
    const lw_import_format format = lw_import_format_of_text(text ? text : "", length);
    if (format == LW_FORMAT_MODEL) return lw_read_model_text(text, length, name, NULL, 0, report, spec);
    lw_importer importer = {
        .file = name ? name : "", .report = report, .text = text ? text : "", .length = length};
    if (options) importer.options = *options;
    return import_text(&importer, format, spec);
}

lw_status lw_import(const char *path, const lw_import_options *options, lw_report *report, lw_spec **spec) {
    if (spec) *spec = NULL;
    if (!spec || !path || !good_options(options)) return LW_ERROR_ARGUMENT;
    const lw_read_options reading = {.any_path = options && options->any_path};
    if (lw_is_results(path)) return lw_read_model_with(path, &reading, report, spec);
    char *text = NULL;
    size_t length = 0;
    lw_status status = lw_whole_file(path, LW_IMPORT_MAX_BYTES, "split the file", report, &text, &length);
    if (status != LW_OK) return status;
    const lw_import_format format = lw_import_format_of_text(text, length);
    if (format == LW_FORMAT_MODEL)
        status = lw_read_model_with(path, &reading, report, spec);
    else {
        lw_importer importer = {
            .file = path, .has_folder = true, .report = report, .text = text, .length = length};
        if (options) importer.options = *options;
        status = import_text(&importer, format, spec);
    }
    free(text);
    return status;
}
