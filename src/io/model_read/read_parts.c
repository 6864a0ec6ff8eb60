/* read_parts.c - section parts: other model files used as parts of this one.
 *
 *     front_left: {use: wishbone.yaml, parameters: {L: 0.4}, at: {position: [...], mirror: y},
 *                  joins: {chassis: car}}
 *
 * The file of a part is read by a reader of its own into a spec of its own, with the part's parameters set,
 * which may use parts again. append_part.c adds that spec to the one of the model, with the part's name and a
 * dot before every name; where it lies is kept beside it (model/spec/parts.h), so that values still depend on
 * parameters as they did in the file. Faults of the file are reported with its name, and with the place of
 * its use.
 *
 * Limits   LW_MAX_PARTS parts, LW_MAX_PART_DEPTH within each other, and for all files together as many bytes
 *          as for one model; a file that uses itself, straight or by others, is a fault.
 */
#include "io/model_read/reader.h"
#include "io/table_file.h"
#include "model/spec/spec_storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the part's own keys -------------------------------------------------------------------------- */

static bool good_part_name(lw_reader *reader, const lw_named *named) {
    const lw_yaml word = {.kind = LW_YAML_TEXT, .text = named->name, .place = named->place};
    if (strchr(named->name, '.') || strcmp(named->name, "body") == 0 || strcmp(named->name, LW_GROUND) == 0) {
        lw_reader_fault(reader, named->place, "use letters, digits and _, e.g. front_left",
                        "\"%.40s\" cannot be the name of a part", named->name);
        return false;
    }
    return lw_reader_new_name(reader, &word, "part");
}

static void read_place(lw_reader *reader, const lw_yaml *at, lw_part_spec *part) {
    static const char *const keys[] = {"position", "rotation", "mirror", NULL};
    static const char *const mirrors[] = {"x", "y", "z", NULL};
    if (!at || at->kind == LW_YAML_NULL || !lw_reader_keys(reader, at, keys)) return;
    const lw_yaml *rotation = lw_yaml_get(at, "rotation"), *mirror = lw_yaml_get(at, "mirror");
    lw_reader_key_numbers(reader, at, "position", LW_LENGTH, 3, part->position);
    if (rotation) lw_reader_rotation(reader, rotation, "rotation", part->rotation);
    const int axis = mirror ? lw_reader_choice(reader, mirror, "mirror", mirrors) : -1;
    if (axis >= 0) part->mirror = (lw_mirror)(axis + 1);
}

/* Values for parameters of the part: expressions of those of the model. */
static bool read_presets(lw_reader *reader, const lw_yaml *map, lw_part_read *part) {
    if (!map || map->kind == LW_YAML_NULL) return true;
    if (map->kind != LW_YAML_MAP) {
        lw_reader_fault(reader, map->place, "write parameters: {L: 0.4}",
                        "here a mapping from the part's parameters to values is wanted");
        return false;
    }
    const size_t before = reader->faults;
    part->presets = LW_NEW(reader->arena, lw_preset, map->count + 1);
    if (!part->presets) {
        reader->out_of_memory = true;
        return false;
    }
    for (size_t k = 0; k < map->count; k++) {
        const lw_yaml *key = map->items[2 * k], *node = map->items[2 * k + 1];
        double value;
        (void)lw_reader_add_preset(reader, part, key->text, node, LW_ANY_QUANTITY, &value);
    }
    return reader->faults == before;
}

static bool read_joins(lw_reader *reader, const lw_yaml *map, lw_part_read *part) {
    if (!map || map->kind == LW_YAML_NULL) return true;
    if (map->kind != LW_YAML_MAP) {
        lw_reader_fault(reader, map->place,
                        "write joins: {chassis: car}, body of the part: body of the model",
                        "here a mapping from bodies of the part to bodies is wanted");
        return false;
    }
    part->joins = LW_NEW(reader->arena, lw_part_join, map->count + 1);
    if (!part->joins) {
        reader->out_of_memory = true;
        return false;
    }
    bool good = true;
    for (size_t k = 0; k < map->count; k++) {
        lw_part_join *join = &part->joins[part->join_count];
        join->place = map->items[2 * k]->place;
        join->inner = lw_reader_text(reader, map->items[2 * k], "body of the part");
        join->outer = lw_reader_text(reader, map->items[2 * k + 1], "outer body");
        join->outer_place = map->items[2 * k + 1]->place;
        good = join->inner && join->outer && good;
        part->join_count += join->inner && join->outer;
        part->ground_joined = part->ground_joined || (join->inner && strcmp(join->inner, LW_GROUND) == 0);
    }
    return good;
}

/* --- the file ------------------------------------------------------------------------------------- */

/* The path as messages show it: in the folder of the file that uses it. */
static const char *shown_path(lw_reader *reader, const char *use) {
    const char *slash = strrchr(reader->file, '/');
    const size_t folder = slash && use[0] != '/' ? (size_t)(slash - reader->file) + 1 : 0;
    char *path = LW_NEW(reader->arena, char, folder + strlen(use) + 1);
    if (!path) {
        reader->out_of_memory = true;
        return NULL;
    }
    memcpy(path, reader->file, folder);
    strcpy(path + folder, use);
    return path;
}

/* Is the file one of those that are being read? */
static bool uses_itself(lw_reader *reader, lw_place place, const char *path) {
    char chain[300] = "";
    size_t used = 0;
    for (const lw_reader *r = reader; r; r = r->user) {
        const char *name = strrchr(r->file, '/') ? strrchr(r->file, '/') + 1 : r->file;
        if (used < sizeof chain)
            used += (size_t)snprintf(chain + used, sizeof chain - used, "%.60s -> ", name);
        if (!r->path || strcmp(r->path, path) != 0) continue;
        lw_reader_fault(reader, place, "a part may use other parts, but not itself",
                        "the file uses itself: %s...", chain);
        return true;
    }
    return false;
}

static void take_faults(lw_reader *reader, const lw_named *named, const lw_report *found) {
    for (size_t k = 0; k < lw_report_size(found); k++) {
        lw_error error = *lw_report_get(found, k);
        char message[sizeof error.message];
        if (error.severity == LW_SEVERITY_ERROR)
            reader->faults++;
        else if (reader->warned)
            continue;
        else
            reader->warnings++;
        (void)snprintf(message, sizeof message, "%.330s (used as part \"%.60s\", %.80s:%d:%d)", error.message,
                       named->name, reader->file, named->place.line, named->place.column);
        memcpy(error.message, message, sizeof message);
        (void)lw_report_add(reader->report, &error);
    }
}

bool lw_setting_is_use(const char *name) { return strncmp(name, "use(", 4) == 0; }

/* Settings front_left.L = 2 of the caller, as L = 2 for the part; use(front_left.tyre) = a.yaml as
 * use(tyre) = a.yaml. */
static lw_setting *own_settings(lw_reader *reader, const char *name, size_t *count) {
    lw_setting *own = LW_NEW(reader->arena, lw_setting, reader->setting_count + 1);
    const size_t length = strlen(name);
    *count = 0;
    if (!own) reader->out_of_memory = true;
    for (size_t k = 0; own && k < reader->setting_count; k++) {
        const lw_setting *setting = &reader->settings[k];
        const bool file = lw_setting_is_use(setting->name);
        const char *at = setting->name + (file ? strlen("use(") : 0);
        if (strncmp(at, name, length) != 0 || at[length] != '.') continue;
        char *inner = LW_NEW(reader->arena, char, strlen(setting->name) + 1);
        if (!inner) {
            reader->out_of_memory = true;
            return NULL;
        }
        strcat(strcpy(inner, file ? "use(" : ""), at + length + 1);
        own[(*count)++] = (lw_setting){inner, setting->value};
    }
    return own;
}

/* The caller's file for the part of this name, "use(front_left)", or NULL. */
static const char *file_given(const lw_reader *reader, const char *part) {
    const char *file = NULL;
    for (size_t k = 0; k < reader->setting_count; k++) {
        const char *name = reader->settings[k].name;
        const size_t length = strlen(part);
        if (lw_setting_is_use(name) && strncmp(name + 4, part, length) == 0 &&
            strcmp(name + 4 + length, ")") == 0)
            file = reader->settings[k].value;
    }
    return file;
}

/* From the file `path`, or from a text that is made here. */
static void read_spec(lw_reader *reader, const lw_named *named, lw_place place, lw_part_read *part,
                      const char *path, const char *text) {
    size_t count;
    lw_report *found = lw_report_create();
    lw_setting *settings = own_settings(reader, named->name, &count);
    lw_reader inner = {.file = part->file,
                       .has_folder = true,
                       .any_path = reader->any_path,
                       .user = reader,
                       .path = path,
                       .depth = reader->depth + 1,
                       .presets = part->presets,
                       .preset_count = part->preset_count,
                       .objects = reader->objects,
                       .part_count_all = reader->part_count_all,
                       .part_bytes = reader->part_bytes};
    lw_status status = LW_ERROR_MEMORY;
    if (found && settings)
        status = text ? lw_read_part_text(&inner, text, settings, count, found, &part->spec)
                      : lw_read_part_file(&inner, path, settings, count, found, &part->spec);
    reader->objects = inner.objects;
    reader->part_count_all = inner.part_count_all;
    reader->part_bytes = inner.part_bytes;
    if (found) take_faults(reader, named, found);
    if (status == LW_ERROR_MEMORY) reader->out_of_memory = true;
    if (status != LW_OK && status != LW_ERROR_MEMORY && found && lw_report_size(found) == 0)
        lw_reader_fault(reader, place, "check the file", "the part's file cannot be read");
    lw_report_destroy(found);
}

static void read_file(lw_reader *reader, const lw_named *named, const lw_yaml *use, lw_part_read *part) {
    const char *file = lw_reader_text(reader, use, "use"), *given = file_given(reader, named->name);
    if (!file) return;
    if (given) file = given;
    if (!reader->has_folder) {
        lw_reader_fault(reader, use->place, "read the model from a file",
                        "a model in memory has no folder in which the file \"%.60s\" could be", file);
        return;
    }
    if (reader->depth >= LW_MAX_PART_DEPTH) {
        lw_reader_fault(reader, use->place, "use fewer levels", "parts lie in parts, more than %d deep",
                        LW_MAX_PART_DEPTH);
        return;
    }
    if (++reader->part_count_all > LW_MAX_PARTS) {
        if (reader->part_count_all == LW_MAX_PARTS + 1)
            lw_reader_fault(reader, use->place, "check the ranges of repeat", "more than %d parts",
                            LW_MAX_PARTS);
        reader->faults += reader->part_count_all > LW_MAX_PARTS + 1;
        return;
    }
    lw_error error = {0};
    part->use = file;
    part->file = shown_path(reader, file);
    char *found = lw_table_file_path(reader->file, file, reader->any_path, &error);
    const char *path = found ? lw_arena_text(reader->arena, found) : NULL;
    free(found);
    if (!found && !reader->muted)
        lw_reader_fault(reader, use->place, error.remedy, "%s", error.message);
    else if (!path || !part->file)
        reader->out_of_memory = true;
    else if (!uses_itself(reader, use->place, path))
        read_spec(reader, named, use->place, part, path, NULL);
}

/* Do the names that the model gives exist in the part? */
static void check_names(lw_reader *reader, const lw_part_read *part) {
    const lw_spec *spec = part->spec;
    for (const lw_preset *p = part->presets; p < part->presets + part->preset_count; p++) {
        lw_closest_search search = lw_closest_to(p->name);
        bool there = false;
        for (size_t k = 0; k < spec->parameter_count && !there; k++) {
            there = strcmp(spec->parameters[k].name, p->name) == 0;
            lw_closest_try(&search, spec->parameters[k].name);
        }
        char remedy[160] = "name one of its parameters";
        lw_did_you_mean(search.name, remedy, sizeof remedy);
        if (!there) lw_reader_fault(reader, p->place, remedy, "the part has no parameter \"%.60s\"", p->name);
    }
    for (const lw_part_join *j = part->joins; j < part->joins + part->join_count; j++) {
        lw_closest_search search = lw_closest_to(j->inner);
        bool there = strcmp(j->inner, LW_GROUND) == 0;
        for (size_t k = 0; k < spec->body_count && !there; k++) {
            there = strcmp(spec->bodies[k].name, j->inner) == 0;
            lw_closest_try(&search, spec->bodies[k].name);
        }
        char remedy[160] = "name one of its bodies, or ground";
        lw_did_you_mean(search.name, remedy, sizeof remedy);
        if (!there) lw_reader_fault(reader, j->place, remedy, "the part has no body \"%.60s\"", j->inner);
    }
}

lw_part_read *lw_reader_new_part(lw_reader *reader, const lw_named *named) {
    if (reader->part_count == reader->part_capacity) {
        const size_t capacity = 2 * reader->part_capacity + 8;
        lw_part_read *longer = LW_NEW(reader->arena, lw_part_read, capacity);
        if (!longer) {
            reader->out_of_memory = true;
            return NULL;
        }
        if (reader->part_count) memcpy(longer, reader->parts, reader->part_count * sizeof *longer);
        reader->parts = longer;
        reader->part_capacity = capacity;
    }
    lw_part_read *part = &reader->parts[reader->part_count++];
    *part = (lw_part_read){.name = ""};
    if (!good_part_name(reader, named)) return NULL;
    char *prefix = LW_NEW(reader->arena, char, strlen(named->name) + 2);
    if (!prefix) {
        reader->out_of_memory = true;
        return NULL;
    }
    strcat(strcpy(prefix, named->name), ".");
    part->name = named->name, part->prefix = prefix, part->place = named->place;
    return part;
}

bool lw_reader_add_preset(lw_reader *reader, lw_part_read *part, const char *name, const lw_yaml *node,
                          lw_quantity quantity, double *value) {
    lw_preset *preset = &part->presets[part->preset_count];
    const size_t mark = reader->waiting_count;
    if (!lw_reader_number(reader, node, name, quantity, value)) return false;
    reader->waiting_count = mark; /* The parameter itself keeps the expression. */
    lw_expression_names names = lw_reader_names(reader);
    *preset = (lw_preset){.name = name, .place = node->place, .value = *value};
    names.table_count = 0;
    if (!lw_number_meaning(node->text, &names, value, &preset->meaning, NULL)) {
        lw_reader_fault(reader, node->place, "write the expression without the table",
                        "tables may use parameters, so that parameters of a part may not use tables");
        return false;
    }
    preset->text = reader->index_count > 0 ? lw_reader_without_indices(reader, node->text) : node->text;
    part->preset_count += preset->text != NULL;
    return true;
}

void lw_reader_finish_part(lw_reader *reader, const lw_named *named, lw_part_read *part, lw_part_spec *own,
                           const char *text, size_t faults_before) {
    if (text && file_given(reader, named->name))
        lw_reader_fault(reader, named->place, "set its parameters",
                        "\"%.60s\" is a beam, whose file cannot be set", named->name);
    if (text) {
        lw_waiting *waiting = reader->waiting;
        const size_t waiting_count = reader->waiting_count;
        part->use = part->file = named->name;
        read_spec(reader, named, named->place, part, NULL, text);
        reader->waiting = waiting, reader->waiting_count = waiting_count;
    }
    own->file = part->file;
    if (part->spec) check_names(reader, part);
    if (!part->spec || reader->faults > faults_before) return;
    lw_status status = lw_spec_add_part(reader->spec, own);
    lw_reader_check(reader, status);
    if (status == LW_OK)
        lw_reader_bound(reader, LW_OWNER_PART, reader->spec->part_count - 1, own, sizeof *own);
}

static void read_part(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    static const char *const keys[] = {"use", "parameters", "at", "joins", "repeat", NULL};
    const size_t before = reader->faults;
    lw_part_read *part = lw_reader_new_part(reader, named);
    if (!part || !lw_reader_keys(reader, entry, keys)) return;
    const lw_yaml *use =
        lw_reader_need(reader, entry, "use", "name the part's model file, e.g. use: wishbone.yaml");
    if (!use) {
        part->prefix = NULL;
        return;
    }
    lw_part_spec own = {.name = named->name, .place = named->place};
    read_place(reader, lw_yaml_get(entry, "at"), &own);
    const bool presets = read_presets(reader, lw_yaml_get(entry, "parameters"), part);
    const bool joins = read_joins(reader, lw_yaml_get(entry, "joins"), part);
    if (presets && joins) {
        lw_waiting *waiting =
            reader->waiting; /* Reading the file does not touch the bindings of this entry. */
        const size_t waiting_count = reader->waiting_count;
        read_file(reader, named, use, part);
        reader->waiting = waiting, reader->waiting_count = waiting_count;
    }
    lw_reader_finish_part(reader, named, part, &own, NULL, before);
}

/* "front_left)" or "front_left.tyre)": is there such a part? */
static void check_file_of(lw_reader *reader, const char *name) {
    const int length = (int)strcspn(name, ".)");
    char part[LW_MAX_NAME + 1], remedy[160] = "write use(PART)=FILE";
    (void)snprintf(part, sizeof part, "%.*s", length > LW_MAX_NAME ? LW_MAX_NAME : length, name);
    if (lw_results_table_find(&reader->part_names, part) || reader->part_names.incomplete) return;
    (void)lw_did_you_mean(lw_results_table_closest(&reader->part_names, part, NULL), remedy, sizeof remedy);
    lw_reader_fault(reader, (lw_place){0, 0}, remedy, "there is no part \"%.80s\" whose file could be set",
                    part);
}

/* Settings that no part has taken. */
static void check_settings(lw_reader *reader) {
    for (size_t k = 0; k < reader->setting_count; k++) {
        const bool file = lw_setting_is_use(reader->settings[k].name);
        const char *name = reader->settings[k].name + (file ? strlen("use(") : 0), *dot = strchr(name, '.');
        bool known = false;
        if (file) {
            check_file_of(reader, name);
            continue;
        }
        for (size_t i = 0; dot && i < reader->part_count && !known; i++)
            known = reader->parts[i].prefix &&
                    strncmp(name, reader->parts[i].prefix, strlen(reader->parts[i].prefix)) == 0;
        for (size_t i = 0; i < reader->spec->parameter_count && !known; i++)
            known = strcmp(reader->spec->parameters[i].name, name) == 0;
        if (dot && !known && !reader->part_names.incomplete)
            lw_reader_fault(reader, (lw_place){0, 0}, "name a part and a parameter of it, front_left.L",
                            "there is no parameter \"%.80s\" to set", name);
    }
}

void lw_read_parts(lw_reader *reader, const lw_yaml *section, const lw_yaml *beams) {
    const size_t before = reader->faults;
    lw_reader_section(reader, section, "part", &reader->part_names, read_part);
    lw_reader_section(reader, beams, "beam", &reader->part_names, lw_read_beam);
    if ((!section || section->kind == LW_YAML_NULL) && (!beams || beams->kind == LW_YAML_NULL)) return;
    /* After a fault parts are missing, of which a setting may be. */
    if (reader->faults == before) check_settings(reader);
    for (size_t k = 0; k < reader->part_count; k++) {
        if (reader->parts[k].spec) continue;
        reader->bodies.incomplete = reader->frames.incomplete = reader->joints.incomplete = true;
    }
}

void lw_reader_free_parts(lw_reader *reader) {
    for (size_t k = 0; k < reader->part_count; k++) lw_spec_destroy(reader->parts[k].spec);
    reader->part_count = 0;
}

const char *lw_reader_part_of(const lw_reader *reader, const char *name) {
    char front[LW_MAX_NAME + 1];
    const char *dot = reader->part_names.count > 0 ? strchr(name, '.') : NULL;
    if (!dot || (size_t)(dot - name) > LW_MAX_NAME) return NULL;
    (void)snprintf(front, sizeof front, "%.*s", (int)(dot - name), name);
    const lw_named *part = lw_results_table_find(&reader->part_names, front);
    return part ? part->name : NULL;
}
