/* mjcf_values.c - messages about elements of MJCF, and values of their attributes with defaults.
 *
 * An attribute is the element's own or that of the nearest class of defaults which gives it. Within a class
 * the last element of the tag wins, as MuJoCo reads one after the other.
 */
#include "io/import/mjcf/mjcf.h"

#include "io/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *mj_add(mj_reader *reader, mj_table *table, size_t size) {
    if (table->count == table->room) {
        const int room = 2 * table->room + 16;
        void *items = lw_arena_take(reader->arena, (size_t)room, size);
        if (!items) {
            reader->importer->out_of_memory = true;
            return NULL;
        }
        if (table->count > 0) memcpy(items, table->items, (size_t)table->count * size);
        table->items = items;
        table->room = room;
    }
    return (char *)table->items + (size_t)table->count++ * size;
}

/* --- messages -------------------------------------------------------------------------------------- */

/* What a message calls an element: joint "knee", or geom of body "shin". */
static void describe(const lw_xml *node, char *text, size_t size) {
    const char *name = lw_xml_get(node, "name");
    if (name) {
        (void)snprintf(text, size, "%.30s \"%.70s\"", node->name, name);
        return;
    }
    for (const lw_xml *above = node->parent; above; above = above->parent)
        if (lw_xml_is(above, "body") && lw_xml_get(above, "name")) {
            (void)snprintf(text, size, "%.30s of body \"%.60s\"", node->name, lw_xml_get(above, "name"));
            return;
        }
    (void)snprintf(text, size, "%.30s", node->name);
}

/* Where the value of an attribute stands, which may be in a class of defaults. */
static const lw_xml *told(mj_reader *reader, const lw_xml *node, const char **file) {
    *file = reader->importer->file;
    if (node && node->file) reader->importer->file = node->file;
    return node;
}

void mj_error(mj_reader *reader, const lw_xml *node, const char *key, const char *remedy, const char *format,
              ...) {
    char object[112] = "", message[512];
    const char *file;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)told(reader, node, &file);
    if (node) describe(node, object, sizeof object);
    const lw_place place = node ? key ? lw_xml_place(node, key) : node->place : (lw_place){0, 0};
    lw_import_fault(reader->importer, place, object[0] ? object : NULL, remedy, "%s", message);
    reader->importer->file = file;
}

void mj_warn(mj_reader *reader, const lw_xml *node, const char *key, const char *remedy, const char *format,
             ...) {
    char object[112] = "", message[512];
    const char *file;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)told(reader, node, &file);
    if (node) describe(node, object, sizeof object);
    const lw_place place = node ? key ? lw_xml_place(node, key) : node->place : (lw_place){0, 0};
    lw_import_warning(reader->importer, place, object[0] ? object : NULL, remedy, "%s", message);
    reader->importer->file = file;
}

/* --- values ---------------------------------------------------------------------------------------- */

/* The element that gives the attribute: this one, or one of its class or of a class above. */
static const lw_xml *giver(const mj_reader *reader, const mj_element *element, const char *key) {
    if (lw_xml_find(element->node, key)) return element->node;
    for (int class = element->class; class >= 0;) {
        const mj_class *of = &((const mj_class *)reader->classes.items)[class];
        const lw_xml *found = NULL;
        for (const lw_xml *node = of->node ? of->node->first : NULL; node; node = node->next)
            if (lw_xml_is(node, element->tag) && lw_xml_find(node, key)) found = node;
        if (found) return found;
        class = of->parent;
    }
    return NULL;
}

const char *mj_text(const mj_reader *reader, const mj_element *element, const char *key) {
    const lw_xml *node = giver(reader, element, key);
    return node ? lw_xml_get(node, key) : NULL;
}

int mj_numbers(mj_reader *reader, const mj_element *element, const char *key, int least, int most,
               double *out) {
    const lw_xml *node = giver(reader, element, key);
    const char *file;
    char object[112];
    if (!node) return 0;
    describe(node, object, sizeof object);
    (void)told(reader, node, &file);
    const int count = lw_xml_numbers(reader->importer, node, object, key, least, most, out);
    reader->importer->file = file;
    return count > 0 ? count : 0;
}

bool mj_number(mj_reader *reader, const mj_element *element, const char *key, double *value) {
    return mj_numbers(reader, element, key, 1, 1, value) == 1;
}

const double *mj_list(mj_reader *reader, const mj_element *element, const char *key, int *count) {
    const char *text = mj_text(reader, element, key);
    *count = 0;
    if (!text) return NULL;
    const int most = (int)(strlen(text) / 2 + 1);
    double *values = LW_NEW(reader->arena, double, most);
    if (!values) {
        reader->importer->out_of_memory = true;
        return NULL;
    }
    *count = mj_numbers(reader, element, key, 0, most, values);
    return values;
}

int mj_word(mj_reader *reader, const mj_element *element, const char *key, const char *const *words,
            int otherwise) {
    const lw_xml *node = giver(reader, element, key);
    const char *word = node ? lw_xml_get(node, key) : NULL;
    if (!word) return otherwise;
    char known[200] = "one of";
    size_t count = 0;
    for (; words[count]; count++)
        if (strcmp(words[count], word) == 0) return (int)count;
    for (size_t k = 0; k < count; k++)
        (void)snprintf(known + strlen(known), sizeof known - strlen(known), " %s", words[k]);
    char remedy[256] = "";
    if (!lw_did_you_mean(lw_closest(word, words, count), remedy, sizeof remedy))
        (void)snprintf(remedy, sizeof remedy, "give %s", known);
    mj_error(reader, node, key, remedy, "%s: \"%.60s\" is not known", key, word);
    return -1;
}

bool mj_flag(mj_reader *reader, const mj_element *element, const char *key, bool *value) {
    static const char *const words[] = {"false", "true", NULL};
    const int k = mj_word(reader, element, key, words, 2);
    if (k == 0 || k == 1) *value = k == 1;
    return k == 0 || k == 1;
}

int mj_tristate(mj_reader *reader, const mj_element *element, const char *key, int otherwise) {
    static const char *const words[] = {"false", "true", "auto", NULL};
    const int k = mj_word(reader, element, key, words, otherwise);
    return k < 0 ? otherwise : k;
}

const char *mj_digits(mj_reader *reader, double value) {
    char text[LW_NUMBER_SIZE];
    (void)lw_number_print(value, text);
    return lw_import_print(reader->importer, value < 0 ? "(%s)" : "%s", text);
}
