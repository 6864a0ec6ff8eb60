/* mjcf_defaults.c - classes of defaults of MJCF.
 *
 * The outermost <default> is the class main, whatever its name; those inside inherit from the one around
 * them. An element has the class that it names, otherwise the childclass of the nearest body or frame around
 * it, otherwise main.
 */
#include "io/import/mjcf/mjcf.h"

#include <string.h>

int mj_find_class(const mj_reader *reader, const char *name) {
    const mj_class *classes = reader->classes.items;
    for (int k = 0; k < reader->classes.count; k++)
        if (classes[k].name && strcmp(classes[k].name, name) == 0) return k;
    return -1;
}

static void read_class(mj_reader *reader, const lw_xml *node, int parent) {
    const char *name = lw_xml_get(node, "class");
    if (!name && parent < 0) name = "main";
    if (!name) {
        mj_error(reader, node, NULL, "give <default class=\"...\">", "a default within another has no class");
        return;
    }
    if (mj_find_class(reader, name) >= 0) {
        mj_error(reader, node, "class", "give it another name", "there is a class \"%.60s\" already", name);
        return;
    }
    mj_class *added = mj_add(reader, &reader->classes, sizeof *added);
    const int own = reader->classes.count - 1;
    if (!added) return;
    *added = (mj_class){name, parent, node};
    for (const lw_xml *child = node->first; child; child = child->next)
        if (lw_xml_is(child, "default")) read_class(reader, child, own);
}

void mj_read_defaults(mj_reader *reader) {
    lw_xml *whole = NULL;
    /* Several sections are one: the children of later ones follow those of the first. */
    for (lw_xml *section = reader->root->first; section; section = section->next) {
        if (!lw_xml_is(section, "default")) continue;
        const char *name = lw_xml_get(section, "class");
        if (!whole) {
            whole = section;
            continue;
        }
        if (name && strcmp(name, "main") != 0 &&
            strcmp(name, lw_xml_get(whole, "class") ? lw_xml_get(whole, "class") : "main") != 0) {
            mj_error(reader, section, "class", "put the class inside the first <default>",
                     "the outermost class is \"main\", not \"%.60s\"", name);
            continue;
        }
        if (!section->first) continue;
        if (whole->last)
            whole->last->next = section->first;
        else
            whole->first = section->first;
        whole->last = section->last;
        section->first = section->last = NULL;
    }
    if (whole) read_class(reader, whole, -1);
}

mj_element mj_with_class(mj_reader *reader, const lw_xml *node, const char *tag, int childclass) {
    mj_element element = {node, childclass, tag};
    const char *name = lw_xml_get(node, "class");
    if (!name) return element;
    const int class = mj_find_class(reader, name);
    if (class >= 0) {
        element.class = class;
        return element;
    }
    char remedy[160] = "";
    lw_closest_search search = lw_closest_to(name);
    for (int k = 0; k < reader->classes.count; k++)
        lw_closest_try(&search, ((const mj_class *)reader->classes.items)[k].name);
    if (!lw_did_you_mean(search.name, remedy, sizeof remedy))
        memcpy(remedy, "define it in <default>", sizeof "define it in <default>");
    mj_error(reader, node, "class", remedy, "there is no class \"%.60s\"", name);
    return element;
}
