/* mjcf_settings.c - what holds for a whole MJCF file: its includes, and the sections compiler and option.
 *
 * An <include file="..."/> stands for the children of the root of that file. As MuJoCo does, a file may be
 * included once, which bounds the whole by the sum of the files and makes circles impossible. Files lie in
 * the folder of the first one, unless the caller allows other places.
 */
#include "io/import/mjcf/mjcf.h"

#include <ctype.h>
#include <string.h>

enum { MOST_INCLUDES = 200 };

typedef struct mj_includes {
    const char *files[MOST_INCLUDES];
    int count;
} mj_includes;

static void expand(mj_reader *reader, lw_xml *parent, mj_includes *done);

/* The elements of the file that an <include> names, in its place; NULL: there are none. */
static lw_xml *included(mj_reader *reader, lw_xml *include, mj_includes *done) {
    const char *file = lw_xml_get(include, "file"), *shown = NULL;
    size_t length = 0;
    if (!file || !file[0]) {
        mj_error(reader, include, NULL, "give <include file=\"...\"/>", "it names no file");
        return NULL;
    }
    for (int k = 0; k < done->count; k++)
        if (strcmp(done->files[k], file) == 0) {
            mj_error(reader, include, "file", "include it once",
                     "the file \"%.100s\" is included already; a circle of files has no end", file);
            return NULL;
        }
    if (done->count == MOST_INCLUDES) {
        mj_error(reader, include, "file", "join some of them", "there are more than %d includes",
                 MOST_INCLUDES);
        return NULL;
    }
    done->files[done->count++] = file;
    if (!reader->importer->has_folder) {
        mj_error(reader, include, "file", "save the text as a file",
                 "a text without a folder cannot include \"%.100s\"", file);
        return NULL;
    }
    const char *text =
        lw_import_file(reader->importer, lw_xml_place(include, "file"), "include", file, &length, &shown);
    lw_xml *root = text ? lw_xml_parse(reader->importer, text, length, shown ? shown : file) : NULL;
    if (!root) return NULL;
    if (!lw_xml_is(root, "mujoco") && !lw_xml_is(root, "mujocoinclude")) {
        mj_error(reader, root, NULL, "give a file with <mujoco> or <mujocoinclude>",
                 "the root of an included file is <%.40s>", root->name);
        return NULL;
    }
    expand(reader, root, done);
    return root;
}

static void expand(mj_reader *reader, lw_xml *parent, mj_includes *done) {
    lw_xml **link = &parent->first;
    parent->last = NULL;
    while (*link) {
        lw_xml *child = *link;
        if (!lw_xml_is(child, "include")) {
            expand(reader, child, done);
            parent->last = child;
            link = &child->next;
            continue;
        }
        lw_xml *root = included(reader, child, done);
        if (!root || !root->first) {
            *link = child->next;
            continue;
        }
        for (lw_xml *one = root->first; one; one = one->next) one->parent = parent;
        *link = root->first;
        root->last->next = child->next;
        parent->last = root->last;
        link = &root->last->next;
    }
}

static void read_compiler(mj_reader *reader, const lw_xml *node) {
    static const char *const angles[] = {"radian", "degree", NULL}, *const coordinates[] = {"local", "global",
                                                                                            NULL};
    const mj_element element = {node, -1, "compiler"};
    const int angle = mj_word(reader, &element, "angle", angles, -2);
    if (angle >= 0) reader->degrees = angle == 1;
    if (mj_word(reader, &element, "coordinate", coordinates, 0) == 1)
        mj_error(reader, node, "coordinate",
                 "open the file with MuJoCo 2.3.3 or older and save it again: it then has local ones",
                 "global coordinates are not read, as MuJoCo itself has given them up");
    (void)mj_flag(reader, &element, "autolimits", &reader->autolimits);
    (void)mj_flag(reader, &element, "balanceinertia", &reader->balanceinertia);
    (void)mj_flag(reader, &element, "strippath", &reader->strippath);
    (void)mj_flag(reader, &element, "exactmeshinertia", &reader->exact_meshes); /* of older files */
    (void)mj_flag(reader, &element, "alignfree", &reader->align_free);
    (void)mj_number(reader, &element, "boundmass", &reader->boundmass);
    (void)mj_number(reader, &element, "boundinertia", &reader->boundinertia);
    (void)mj_number(reader, &element, "settotalmass", &reader->settotalmass);
    reader->inertiafromgeom = mj_tristate(reader, &element, "inertiafromgeom", reader->inertiafromgeom);
    double range[2];
    if (mj_numbers(reader, &element, "inertiagrouprange", 2, 2, range) == 2)
        for (int k = 0; k < 2; k++) reader->group_range[k] = (int)fmax(-1e6, fmin(1e6, range[k]));
    const char *sequence = lw_xml_get(node, "eulerseq");
    if (sequence) {
        bool good = strlen(sequence) == 3;
        for (int k = 0; good && k < 3; k++) good = strchr("xyzXYZ", sequence[k]) != NULL;
        if (good)
            memcpy(reader->eulerseq, sequence, 4);
        else
            mj_error(reader, node, "eulerseq", "give three of x, y, z or X, Y, Z, e.g. xyz",
                     "eulerseq \"%.20s\" is no order of axes", sequence);
    }
    const char *meshes = lw_xml_get(node, "meshdir"), *assets = lw_xml_get(node, "assetdir");
    if (meshes || assets) reader->meshdir = meshes ? meshes : assets;
}

/* Is a flag of <flag> set to disable? */
static bool disabled(mj_reader *reader, const lw_xml *node, const char *key) {
    static const char *const words[] = {"disable", "enable", NULL};
    const mj_element element = {node, -1, "flag"};
    return mj_word(reader, &element, key, words, 1) == 0;
}

static void read_option(mj_reader *reader, const lw_xml *node) {
    const mj_element element = {node, -1, "option"};
    double fluid[2] = {0, 0}, wind[3] = {0, 0, 0}, groups[31];
    const int off = mj_numbers(reader, &element, "actuatorgroupdisable", 1, 31, groups);
    for (int k = 0; k < off; k++)
        if (groups[k] >= 0 && groups[k] < 31) reader->groups_off |= 1u << (unsigned)groups[k];
    (void)mj_numbers(reader, &element, "gravity", 3, 3, reader->gravity);
    (void)mj_number(reader, &element, "density", &fluid[0]);
    (void)mj_number(reader, &element, "viscosity", &fluid[1]);
    (void)mj_numbers(reader, &element, "wind", 3, 3, wind);
    if (fluid[0] != 0 || fluid[1] != 0)
        lw_import_note_of(reader->importer, node->place, "a fluid around the bodies",
                          "its drag and lift are not computed: bodies move as in a vacuum");
    for (const lw_xml *flag = lw_xml_child(node, "flag"); flag; flag = lw_xml_next(flag)) {
        const bool all = disabled(reader, flag, "constraint"), passive = disabled(reader, flag, "passive");
        reader->no_clamp |= disabled(reader, flag, "clampctrl");
        reader->no_equality |= all || disabled(reader, flag, "equality");
        reader->no_limit |= all || disabled(reader, flag, "limit");
        reader->no_frictionloss |= all || disabled(reader, flag, "frictionloss");
        reader->no_spring |= passive || disabled(reader, flag, "spring");
        reader->no_damper |= passive || disabled(reader, flag, "damper");
        reader->no_gravcomp |= passive;
        reader->no_actuation |= disabled(reader, flag, "actuation");
        reader->no_gravity |= disabled(reader, flag, "gravity");
    }
}

void mj_read_settings(mj_reader *reader) {
    /* The file itself is the first one. */
    const char *slash = strrchr(reader->importer->file, '/');
    mj_includes done = {.files = {slash ? slash + 1 : reader->importer->file}, .count = 1};
    expand(reader, reader->root, &done);
    reader->degrees = reader->autolimits = true;
    reader->inertiafromgeom = 2;
    reader->group_range[1] = 5;
    memcpy(reader->eulerseq, "xyz", 4);
    lw_v3_set(reader->gravity, 0, 0, -9.81);
    for (const lw_xml *node = lw_xml_child(reader->root, "compiler"); node; node = lw_xml_next(node))
        read_compiler(reader, node);
    for (const lw_xml *node = lw_xml_child(reader->root, "option"); node; node = lw_xml_next(node))
        read_option(reader, node);
    if (reader->no_gravity) lw_v3_set(reader->gravity, 0, 0, 0);
}
