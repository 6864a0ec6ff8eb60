/* read_section.c - common parts of all sections: names, references to them, repeat, and pairs of points.
 *
 * An entry with  repeat: {i: 1..N, j: [1, 3]}  is read once for each value of i and j (j varies fastest;
 * ranges may use parameters and earlier indices). Inside the entry i and j are numbers like parameters, and
 * {i+1} in a name or text is replaced by its value. Faults of a repeated entry are reported for the first
 * step that has any.
 */
#include "io/model_read/reader.h"
#include "model/joint_types.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- names ---------------------------------------------------------------------------------------- */

static size_t hash(const char *name) { /* FNV-1a, 64 bits */
    uint64_t h = 14695981039346656037u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    return (size_t)(h ^ (h >> 32));
}

/* The slot of a name, or the free one where it belongs. slot_count is a power of two. */
static size_t *slot_of(const lw_name_table *table, const char *name) {
    size_t k = hash(name) & (table->slot_count - 1);
    while (table->slots[k] && strcmp(table->items[table->slots[k] - 1].name, name) != 0) {
        k = (k + 1) & (table->slot_count - 1);
    }
    return &table->slots[k];
}

lw_named *lw_results_table_find(const lw_name_table *table, const char *name) {
    if (table->count == 0) return NULL;
    size_t slot = *slot_of(table, name);
    return slot ? &table->items[slot - 1] : NULL;
}

static bool grow(lw_name_table *table, lw_arena *arena) {
    size_t capacity = table->capacity ? 2 * table->capacity : 16;
    lw_named *items = LW_NEW(arena, lw_named, capacity);
    size_t *slots = LW_NEW(arena, size_t, 2 * capacity);
    if (lw_arena_failed(arena)) return false;
    if (table->count > 0) memcpy(items, table->items, table->count * sizeof *items);
    *table = (lw_name_table){items, table->count, capacity, slots, 2 * capacity, table->incomplete};
    for (size_t k = 0; k < table->count; k++) *slot_of(table, items[k].name) = k + 1;
    return true;
}

lw_named *lw_results_table_add(lw_name_table *table, lw_arena *arena, const char *name, lw_place place) {
    const char *copy = lw_arena_text(arena, name);
    if (!copy || (table->count == table->capacity && !grow(table, arena))) return NULL;
    lw_named *named = &table->items[table->count];
    *named = (lw_named){.name = copy, .place = place, .type = -1};
    *slot_of(table, copy) = ++table->count;
    return named;
}

const char *lw_results_table_closest(const lw_name_table *table, const char *word, const char *extra) {
    enum { MOST = 4096 }; /* Comparisons are expensive. */
    lw_closest_search search = lw_closest_to(word);
    lw_closest_try(&search, extra);
    for (size_t k = 0; k < table->count && k < MOST; k++) lw_closest_try(&search, table->items[k].name);
    return search.name;
}

static bool good_name(lw_reader *reader, const lw_yaml *node, const char *name) {
    const char *fault = NULL;
    if (!*name) {
        fault = "a name is empty";
    } else if (strlen(name) > LW_MAX_NAME) {
        fault = "a name is longer than 80 bytes";
    } else if (strpbrk(name, "\"',{}\n\r\t")) {
        fault = "a name has a quote, comma, brace or line break in it";
    } else if (lw_escape(name, NULL, 0) != strlen(name)) {
        fault = "a name has a control character in it";
    }
    if (fault)
        lw_reader_fault(reader, node->place, "use letters, digits, - and _, e.g. left_arm", "%s", fault);
    return !fault;
}

/* --- references ----------------------------------------------------------------------------------- */

/* more: another table of names that would do, or NULL; extra: such a name, or NULL. */
static void report_unknown(lw_reader *reader, const lw_yaml *node, const char *what, const char *noun,
                           const char *name, const lw_name_table *table, const lw_name_table *more,
                           const char *extra) {
    char remedy[160];
    if (table->incomplete || (more && more->incomplete)) return;
    /* The search for similar names is expensive, and the hundredth suggestion is useless. */
    const char *closest = reader->faults < 100 ? lw_results_table_closest(table, name, extra) : NULL;
    if (more && reader->faults < 100) {
        lw_closest_search both = lw_closest_to(name);
        lw_closest_try(&both, lw_results_table_closest(more, name, NULL));
        lw_closest_try(&both, closest);
        closest = both.name;
    }
    if (!lw_did_you_mean(closest, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "name one of the %s", noun);
    size_t before = reader->faults;
    lw_reader_fault(reader, node->place, remedy, "%s \"%.80s\" is not among the %s", what, name, noun);
    reader->harmless += reader->faults - before;
}

const char *lw_reader_body(lw_reader *reader, const lw_yaml *node, const char *what) {
    const char *name = lw_reader_text(reader, node, what);
    if (!name || strcmp(name, LW_GROUND) == 0) return name;
    const lw_named *named = lw_results_table_find(&reader->bodies, name);
    if (named) return named->stands_for ? named->stands_for : named->name;
    named = lw_results_table_find(&reader->frames, name);
    if (named) return named->name;
    const lw_name_table *frames =
        reader->frames.count > 0 || reader->frames.incomplete ? &reader->frames : NULL;
    report_unknown(reader, node, what, frames ? "bodies and frames" : "bodies", name, &reader->bodies, frames,
                   LW_GROUND);
    return NULL;
}

const lw_named *lw_reader_joint(lw_reader *reader, const lw_yaml *node, const char *what) {
    const char *name = lw_reader_text(reader, node, what);
    if (!name) return NULL;
    const lw_named *named = lw_results_table_find(&reader->joints, name);
    if (!named) report_unknown(reader, node, what, "joints", name, &reader->joints, NULL, NULL);
    return named;
}

bool lw_reader_between(lw_reader *reader, const lw_yaml *map, const char *bodies[2]) {
    const lw_yaml *node = lw_reader_need(reader, map, "between", "name two bodies: between: [ground, rod]");
    if (!node || !lw_reader_list(reader, node, "between", 2)) return false;
    bodies[0] = lw_reader_body(reader, node->items[0], "first body");
    bodies[1] = lw_reader_body(reader, node->items[1], "second body");
    return bodies[0] && bodies[1];
}

lw_quantity lw_coordinate_quantity(int joint_type, int k) {
    lw_joint_type type = (lw_joint_type)joint_type;
    if (joint_type < 0 || k >= lw_joint_type_v(type, LW_JOINT_MOTIONS)) return LW_ANY_QUANTITY;
    return lw_joint_speed_turns(type, k) ? LW_ANGLE : LW_LENGTH;
}

lw_coordinate_quantities lw_quantities_of(lw_quantity coordinate) {
    if (coordinate == LW_LENGTH)
        return (lw_coordinate_quantities){LW_LENGTH, LW_SPEED, LW_FORCE, LW_STIFFNESS, LW_DAMPING};
    if (coordinate == LW_ANGLE)
        return (lw_coordinate_quantities){LW_ANGLE, LW_ANGULAR_SPEED, LW_TORQUE, LW_TURNING_STIFFNESS,
                                          LW_TURNING_DAMPING};
    return (lw_coordinate_quantities){LW_ANY_QUANTITY, LW_ANY_QUANTITY, LW_ANY_QUANTITY, LW_ANY_QUANTITY,
                                      LW_ANY_QUANTITY};
}

bool lw_reader_coordinate(lw_reader *reader, const lw_yaml *map, const lw_named *joint, int *coordinate) {
    const lw_yaml *node = lw_yaml_get(map, "coordinate");
    if (!joint || joint->type < 0) return false; /* The joint's own faults have been reported. */
    lw_joint_type type = (lw_joint_type)joint->type;
    int count = lw_joint_type_v(type, joint->axis_count);
    char remedy[160];
    int used = snprintf(remedy, sizeof remedy, "give coordinate: one of ");
    for (int k = 0; k < count; k++) {
        used += snprintf(remedy + used, sizeof remedy - (size_t)used, "%s%d (%s)", k ? ", " : "", k,
                         lw_joint_speed_word(type, k));
    }
    if (count == 0) {
        lw_reader_fault(reader, map->place, "name another joint",
                        "joint \"%s\" is a %s and has no coordinate", joint->name, lw_joint_type_name(type));
        return false;
    }
    *coordinate = 0;
    if (!node && count == 1) return true;
    if (!node) {
        lw_reader_fault(reader, map->place, remedy, "joint \"%s\" has %d coordinates", joint->name, count);
        return false;
    }
    const char *text = lw_reader_text(reader, node, "coordinate");
    if (!text) return false;
    for (int k = 0; k < count; k++) {
        if (strcmp(text, lw_joint_speed_word(type, k)) == 0) {
            *coordinate = k;
            return true;
        }
    }
    double number;
    if (lw_number(text, reader->constants, reader->parameter_count + reader->index_count, &number, NULL)) {
        for (int k = 0; k < count; k++) {
            if (number != k) continue;
            lw_reader_bind_structure(reader, text, node->place, number);
            *coordinate = k;
            return true;
        }
    }
    lw_reader_fault(reader, node->place, remedy, "joint \"%s\" has no coordinate \"%.40s\"", joint->name,
                    text);
    return false;
}

bool lw_reader_points(lw_reader *reader, const lw_yaml *map, const char *const bodies[2],
                      lw_geometry_frame *frame, double points[2][3]) {
    const lw_yaml *world = lw_yaml_get(map, "points");
    const lw_yaml *first = lw_yaml_get(map, "first"), *second = lw_yaml_get(map, "second");
    bool good = false;
    if (world && !first && !second) {
        *frame = LW_GEOMETRY_WORLD;
        good = lw_reader_list(reader, world, "points", 2);
        good = good && lw_reader_numbers(reader, world->items[0], "first point", LW_LENGTH, 3, points[0]);
        good = good && lw_reader_numbers(reader, world->items[1], "second point", LW_LENGTH, 3, points[1]);
    } else if (!world && (first || lw_reader_has_point(reader, bodies[0])) &&
               (second || lw_reader_has_point(reader, bodies[1]))) {
        *frame = LW_GEOMETRY_BODY;
        good = !first || lw_reader_numbers(reader, first, "first", LW_LENGTH, 3, points[0]);
        good = (!second || lw_reader_numbers(reader, second, "second", LW_LENGTH, 3, points[1])) && good;
    } else {
        lw_reader_fault(
            reader, map->place,
            "give either points: [[x, y, z], [x, y, z]] in the world, or first: [x, y, z] and second: [x, "
            "y, z] in the frames of the two bodies",
            "the two points are given %s",
            world             ? "twice"
            : first || second ? "by half"
                              : "nowhere");
    }
    return good;
}

/* --- repeat --------------------------------------------------------------------------------------- */

typedef struct repetition {
    lw_reader *reader;
    const lw_yaml *key, *entry; /* key and value of the object in the file */
    const lw_yaml *indices;     /* mapping from names of indices to ranges */
    const char *noun;           /* noun for the objects in messages; NULL if the objects get no names */
    lw_name_table *table;
    lw_entry_reader *read;
    bool faulty;  /* A step had faults; of the other steps only the names are recorded, for references. */
    bool warned;  /* A step had warnings; those of the other steps are most likely the same. */
    bool stopped; /* Names or ranges have faults. */
} repetition;

static bool may_go_on(const repetition *job) { return !job->stopped && !job->reader->out_of_memory; }

static void stop(repetition *job) {
    job->stopped = true;
    job->table->incomplete = true;
}

/* Adds to the number of objects; returns false, with a fault, if a model may not have so many. */
static bool count_steps(const repetition *job, long count) {
    lw_reader *reader = job->reader;
    if (count <= (long)(LW_MAX_OBJECTS - reader->objects)) {
        reader->objects += (size_t)count;
        return true;
    }
    lw_reader_fault(reader, job->key->place, "check the ranges of repeat", "more than %d objects",
                    LW_MAX_OBJECTS);
    return false;
}

static void read_once(repetition *job) {
    lw_reader *reader = job->reader;
    if (!job->noun) {
        job->read(reader, NULL, job->entry);
        return;
    }
    const char *name = lw_reader_text(reader, job->key, "name");
    if (!name || !good_name(reader, job->key, name)) {
        stop(job);
        return;
    }
    snprintf(reader->object, sizeof reader->object, "%s \"%s\"", job->noun, name);
    const char *part = lw_reader_part_of(reader, name);
    if (part && !reader->start) {
        lw_reader_fault(reader, job->key->place, "choose another name",
                        "names that begin with \"%s.\" belong to the part of this name", part);
        stop(job);
        return;
    }
    const lw_named *other = lw_results_table_find(job->table, name);
    if (other) {
        job->stopped = true;
        bool same_entry =
            other->place.line == job->key->place.line && other->place.column == job->key->place.column;
        if (!same_entry && strcmp(other->key, job->key->text) == 0)
            return; /* The duplicate key has been reported. */
        lw_reader_fault(reader, job->key->place,
                        same_entry ? "put the index into the name, e.g. link{i}"
                                   : "names must differ; rename one",
                        "the name stands in line %d already", other->place.line);
        return;
    }
    if (job->table == &reader->bodies && strcmp(name, LW_GROUND) == 0) {
        lw_reader_fault(reader, job->key->place,
                        "ground always exists and does not move; choose another name", "the name is taken");
        return;
    }
    lw_named *named = lw_results_table_add(job->table, reader->arena, name, job->key->place);
    if (named) {
        size_t before = reader->faults, warnings = reader->warnings;
        named->key = job->key->text;
        reader->warned = job->warned;
        reader->waiting_count = 0;
        if (!job->faulty) job->read(reader, named, job->entry);
        job->faulty = job->faulty || reader->faults > before;
        job->warned = job->warned || reader->warnings > warnings;
        reader->warned = false;
    } else {
        reader->out_of_memory = true;
    }
}

static void repeat_index(repetition *job, size_t level);

static void one_step(repetition *job, size_t level, double value) {
    lw_reader *reader = job->reader;
    lw_constant *index = &reader->constants[reader->parameter_count + level];
    *index = (lw_constant){
        .name = job->indices->items[2 * level]->text, .value = value, .meaning = {.kind = LW_MEANING_NUMBER}};
    reader->index_count = level + 1;
    repeat_index(job, level + 1);
    reader->index_count = level;
}

/* Repeats the entry over one index after the other; the last index varies fastest. */
static void repeat_index(repetition *job, size_t level) {
    lw_reader *reader = job->reader;
    if (level == job->indices->count) {
        read_once(job);
        return;
    }
    const lw_yaml *range = job->indices->items[2 * level + 1];
    if (range->kind == LW_YAML_LIST) {
        if (!count_steps(job, (long)range->count)) stop(job);
        for (size_t k = 0; k < range->count && may_go_on(job); k++) {
            double value;
            size_t mark = reader->waiting_count;
            if (lw_reader_number(reader, range->items[k], "index", LW_PLAIN_NUMBER, &value)) {
                reader->waiting_count =
                    mark; /* It is not a value of an object, but decides how many objects there are. */
                lw_reader_bind_structure(reader, range->items[k]->text, range->items[k]->place, value);
                one_step(job, level, value);
            } else {
                stop(job);
            }
        }
        return;
    }
    const char *dots = range->kind == LW_YAML_TEXT ? strstr(range->text, "..") : NULL;
    char from[128];
    if (!dots || (size_t)(dots - range->text) >= sizeof from) {
        lw_reader_fault(reader, range->place, "give a range 1..N or a list [1, 3, 5]",
                        "index \"%.40s\" has no range", job->indices->items[2 * level]->text);
        stop(job);
        return;
    }
    snprintf(from, sizeof from, "%.*s", (int)(dots - range->text), range->text);
    long first, last;
    if (!lw_reader_integer(reader, from, range, "start of range", &first) ||
        !lw_reader_integer(reader, dots + 2, range, "end of range", &last)) {
        stop(job);
        return;
    }
    if (last >= first && !count_steps(job, last - first + 1)) stop(job); /* checked before any work */
    for (long value = first; value <= last && may_go_on(job); value++) one_step(job, level, (double)value);
}

/* The number of objects that the ranges require, as far as these consist of numbers and parameters; a range
 * that depends on another index counts as one. */
static double asked_steps(const repetition *job) {
    double steps = 1;
    for (size_t level = 0; level < job->indices->count; level++) {
        const lw_yaml *range = job->indices->items[2 * level + 1];
        const char *dots = range->kind == LW_YAML_TEXT ? strstr(range->text, "..") : NULL;
        char from[128];
        double first, last;
        if (range->kind == LW_YAML_LIST) {
            steps *= (double)range->count;
        } else if (dots && (size_t)(dots - range->text) < sizeof from) {
            snprintf(from, sizeof from, "%.*s", (int)(dots - range->text), range->text);
            if (lw_number(from, job->reader->constants, job->reader->parameter_count, &first, NULL) &&
                lw_number(dots + 2, job->reader->constants, job->reader->parameter_count, &last, NULL))
                steps *= last >= first ? last - first + 1 : 0;
        }
    }
    return steps;
}

static bool good_indices(lw_reader *reader, const lw_yaml *indices) {
    if (indices->kind != LW_YAML_MAP || indices->count == 0 || indices->count > LW_MAX_INDICES) {
        lw_reader_fault(reader, indices->place, "write repeat: {i: 1..N}",
                        "repeat wants 1 to %d indices with ranges", LW_MAX_INDICES);
        return false;
    }
    size_t before = reader->faults;
    for (size_t k = 0; k < indices->count; k++) {
        const lw_yaml *key = indices->items[2 * k];
        bool taken = false;
        for (size_t j = 0; j < reader->parameter_count && !taken; j++) {
            taken = strcmp(reader->constants[j].name, key->text) == 0;
        }
        bool input = false;
        const size_t values = reader->input_count + reader->state_count + reader->signal_count;
        for (size_t j = 0; j < values && !input; j++) input = strcmp(reader->inputs[j].name, key->text) == 0;
        if (taken || input) {
            lw_reader_fault(reader, key->place, "rename the index", "index \"%.40s\" is %s name", key->text,
                            taken ? "a parameter's" : "an input's, a state's or a signal's");
        } else {
            lw_reader_new_name(reader, key, "index");
        }
    }
    return reader->faults == before;
}

/* Reads all entries of a section that is a mapping. */
static void read_entries(lw_reader *reader, const lw_yaml *section, const char *noun, lw_name_table *table,
                         lw_entry_reader *read) {
    static const lw_yaml once = {.kind = LW_YAML_MAP};
    for (size_t k = 0; k < section->count && !reader->out_of_memory; k++) {
        const lw_yaml *key = section->items[2 * k], *entry = section->items[2 * k + 1];
        const lw_yaml *repeat = entry->kind == LW_YAML_MAP ? lw_yaml_get(entry, "repeat") : NULL;
        if (noun) snprintf(reader->object, sizeof reader->object, "%s \"%.80s\"", noun, key->text);
        if (repeat && !good_indices(reader, repeat)) {
            table->incomplete = true;
        } else {
            repetition job = {reader, key,   entry, repeat ? repeat : &once, noun, table, read,
                              false,  false, false};
            double steps = asked_steps(&job);
            if (steps > LW_MAX_OBJECTS) {
                lw_reader_fault(reader, repeat->place, "check the ranges",
                                "repeat asks for %.7g objects, but a model has "
                                "at most %d",
                                steps, LW_MAX_OBJECTS);
                table->incomplete = true;
            } else if (!repeat && !count_steps(&job, 1)) { /* One fault is sufficient. */
                table->incomplete = true;
                k = section->count;
            } else {
                repeat_index(&job, 0);
            }
        }
        reader->object[0] = '\0';
    }
}

void lw_reader_section(lw_reader *reader, const lw_yaml *section, const char *noun, lw_name_table *table,
                       lw_entry_reader *read) {
    if (!section || section->kind == LW_YAML_NULL) return;
    if (section->kind == LW_YAML_MAP) {
        read_entries(reader, section, noun, table, read);
        return;
    }
    lw_reader_fault(reader, section->place, "write one line for each:  name: {key: value, ...}",
                    "here a mapping from names to %s descriptions is wanted", noun);
    table->incomplete = true;
}

void lw_reader_walk(lw_reader *reader, const lw_yaml *section, lw_name_table *names, lw_entry_reader *visit) {
    if (section && section->kind == LW_YAML_MAP) read_entries(reader, section, NULL, names, visit);
}
