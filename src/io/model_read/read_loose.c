/* read_loose.c - finds bodies without a connection to ground in a text that has other faults.
 *
 * A text without faults becomes a spec, and compiling finds loose bodies (compile_tree.c). The spec of a
 * faulty text lacks the faulty entries, so that the text is examined once more: all names of bodies count,
 * and every joint that names its two bodies, whatever other faults they have. A name that no body has may
 * mean ground or any body with a similar name, so that a misspelt name in a joint does not make its bodies
 * loose. If some joint does not name its bodies, nothing is reported. Of a repeated entry only the first
 * loose body is reported.
 *
 * Groups of connected names are found by union-find with path halving. Cost O(objects), and O(bodies) for
 * each unknown name; if more than MOST_COMPARISONS of names are needed, nothing is reported.
 */
#include "io/model_read/reader.h"

#include <stdio.h>
#include <string.h>

enum { MOST_COMPARISONS = 4000000, GROUND = 0 /* index of its name */ };

static size_t group_of(lw_name_table *names, size_t k) {
    lw_named *items = names->items;
    while (items[k].joined != k) {
        items[k].joined = items[items[k].joined].joined;
        k = items[k].joined;
    }
    return k;
}

static void join(lw_name_table *names, size_t a, size_t b) {
    names->items[group_of(names, a)].joined = group_of(names, b);
}

/* Finds the index of a name, which is added if it is new; returns false if there is no memory. */
static bool index_of(lw_reader *reader, const char *name, size_t *index) {
    lw_name_table *names = &reader->connected;
    lw_named *named = lw_results_table_find(names, name);
    if (!named) {
        named = lw_results_table_add(names, reader->arena, name, (lw_place){0, 0});
        if (named) named->joined = names->count - 1;
    }
    if (named) *index = (size_t)(named - names->items);
    reader->out_of_memory = reader->out_of_memory || !named;
    return named != NULL;
}

/* Joins the bodies of one step of a joint's entry. */
static void connect(lw_reader *reader, lw_named *named, const lw_yaml *entry) {
    (void)named;
    const lw_yaml *between = entry->kind == LW_YAML_MAP ? lw_yaml_get(entry, "between") : NULL;
    size_t ends[2];
    if (!between || between->kind != LW_YAML_LIST || between->count != 2) {
        reader->connected.incomplete = true;
        return;
    }
    for (int k = 0; k < 2; k++) {
        const char *name = lw_reader_text(reader, between->items[k], "body");
        const lw_named *body = name ? lw_results_table_find(&reader->bodies, name) : NULL;
        const lw_named *frame = name && !body ? lw_results_table_find(&reader->frames, name) : NULL;
        if (body && body->stands_for) name = body->stands_for;
        if (frame) name = frame->stands_for; /* NULL if the frame has faults */
        if (!name) reader->connected.incomplete = true;
        if (!name || !index_of(reader, name, &ends[k])) return;
    }
    join(&reader->connected, ends[0],
         ends[0] == ends[1] ? GROUND : ends[1]); /* One of two equal names is wrong. */
}

/* Joins the names that no body has, from index first on, to ground and to similar names. */
static void join_similar(lw_reader *reader, size_t first) {
    lw_name_table *names = &reader->connected;
    /* It would take seconds. */
    if ((names->count - first) * first > MOST_COMPARISONS) names->incomplete = true;
    for (size_t k = first; k < names->count && !names->incomplete; k++) {
        join(names, k, GROUND);
        for (size_t body = 0; body < first; body++) {
            if (lw_closest(names->items[k].name, &names->items[body].name, 1)) join(names, k, body);
        }
    }
}

void lw_report_loose(lw_reader *reader, const lw_yaml *joints) {
    lw_name_table *names = &reader->connected;
    size_t index;
    if (reader->joints.incomplete || !index_of(reader, LW_GROUND, &index)) return;
    for (size_t k = 0; k < reader->bodies.count; k++) {
        const lw_named *body = &reader->bodies.items[k];
        if (!body->stands_for && !index_of(reader, body->name, &index)) return;
    }
    size_t known = names->count;

    reader->muted = true; /* Their faults have been reported. */
    reader->objects = 0;
    lw_reader_walk(reader, joints, names, connect);
    reader->muted = false;
    join_similar(reader, known);

    lw_place last = {0, 0};
    for (size_t k = 0; k < known && !names->incomplete && !reader->out_of_memory; k++) {
        if (group_of(names, k) == group_of(names, GROUND)) continue;
        const lw_named *body = lw_results_table_find(&reader->bodies, names->items[k].name);
        if (body->place.line == last.line && body->place.column == last.column) continue;
        last = body->place;
        snprintf(reader->object, sizeof reader->object, "body \"%s\"", body->name);
        lw_reader_fault(reader, body->place,
                        "join it to ground or to a body that is; a joint of type free lets it float",
                        "is not connected to ground");
    }
    reader->object[0] = '\0';
}
