/* import_sdf.c - SDF: worlds and models with their links, joints and frames, included files among them.
 *
 * Names of links and joints have those of the models around them before them, arm::hand::finger, but that of
 * the only model of a file is left away. All poses are resolved to the world first (sdf_poses.c); then links
 * become bodies, joints get their frames on both links. What no joint connects with the world is free there,
 * as in the simulators of the format: the first link of each such group gets a free joint. Links of static
 * models are frames of the ground. Versions 1.4 to 1.12 are read: until 1.4 axes are in the frame of the
 * model, in 1.5 and 1.6 where use_parent_model_frame says so, later in that of the joint.
 *
 * Cost     O(elements log elements).
 */
#define _POSIX_C_SOURCE 200809L

#include "io/import/sdf/sdf_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_INCLUDES = 16, OLDEST = 4, NEWEST = 12 };

/* --- collecting ----------------------------------------------------------------------------------- */

static int new_item(lw_sdf *sdf, lw_sdf_kind kind, const lw_xml *element, const char *name, int scope) {
    static const char *const words[] = {"model", "link", "joint", "frame"};
    lw_importer *importer = sdf->importer;
    int around = scope;
    while (around >= 0 && sdf->items[around].merged) around = sdf->items[around].scope;
    const char *full = around >= 0 ? lw_import_print(importer, "%s::%s", sdf->items[around].full, name)
                                   : lw_import_print(importer, "%s", name);
    const char *object = lw_import_print(importer, "%s \"%.80s\"", words[kind], full);
    const lw_named *before = lw_results_table_find(&sdf->names, full);
    if (before) {
        lw_import_fault(importer, lw_xml_place(element, "name"), NULL, "give it another name",
                        "\"%.80s\" is there twice, the first in line %d", full, before->place.line);
        return -1;
    }
    if (strcmp(name, "world") == 0 || strcmp(name, "__model__") == 0) {
        lw_import_fault(importer, lw_xml_place(element, "name"), NULL, "give it another name",
                        "a %s cannot be called \"%s\"", words[kind], name);
        return -1;
    }
    if (sdf->count == sdf->room) {
        const int room = 2 * sdf->room + 64;
        lw_sdf_item *items = LW_NEW(importer->arena, lw_sdf_item, room);
        if (!items) {
            importer->out_of_memory = true;
            return -1;
        }
        if (sdf->count > 0) memcpy(items, sdf->items, (size_t)sdf->count * sizeof *items);
        sdf->items = items;
        sdf->room = room;
    }
    lw_named *named = lw_results_table_add(&sdf->names, importer->arena, full, element->place);
    if (!named) {
        importer->out_of_memory = true;
        return -1;
    }
    named->type = sdf->count;
    sdf->items[sdf->count] = (lw_sdf_item){.kind = kind,
                                           .name = name,
                                           .full = full,
                                           .object = object,
                                           .element = element,
                                           .scope = scope,
                                           .version = sdf->version,
                                           .pose = lw_xml_child(element, "pose"),
                                           .attached = LW_SDF_NONE,
                                           .group = sdf->count,
                                           .sides = {LW_SDF_NONE, LW_SDF_NONE}};
    return sdf->count++;
}

static void collect_model(lw_sdf *sdf, const lw_xml *element, int scope, const lw_xml *include,
                          bool is_static);
static void collect_include(lw_sdf *sdf, const lw_xml *include, int scope, bool is_static);

static void collect_parts(lw_sdf *sdf, const lw_xml *element, int scope, bool is_static) {
    static const char *const passed[] = {"pose",
                                         "static",
                                         "self_collide",
                                         "allow_auto_disable",
                                         "enable_wind",
                                         "gravity",
                                         "physics",
                                         "scene",
                                         "light",
                                         "gui",
                                         "magnetic_field",
                                         "atmosphere",
                                         "wind",
                                         "audio",
                                         "spherical_coordinates",
                                         "state",
                                         "actor",
                                         "drake:ball_constraint"};
    lw_importer *importer = sdf->importer;
    for (const lw_xml *part = element->first; part && !importer->out_of_memory; part = part->next) {
        const bool link = lw_xml_is(part, "link"), joint = lw_xml_is(part, "joint"),
                   frame = lw_xml_is(part, "frame");
        if (link || joint || frame) {
            const char *name = lw_xml_need(importer, part, part->name, "name");
            if (link && scope < 0) {
                lw_import_fault(importer, part->place, NULL, "put it into a <model>",
                                "a link stands outside of any model");
                continue;
            }
            const lw_sdf_kind kind = link ? LW_SDF_LINK : joint ? LW_SDF_JOINT : LW_SDF_FRAME;
            const int item = name ? new_item(sdf, kind, part, name, scope) : -1;
            if (item >= 0) sdf->items[item].is_static = is_static;
        } else if (lw_xml_is(part, "model"))
            collect_model(sdf, part, scope, NULL, is_static);
        else if (lw_xml_is(part, "include"))
            collect_include(sdf, part, scope, is_static);
        else {
            bool known = false;
            for (size_t k = 0; k < sizeof passed / sizeof *passed; k++)
                known = known || lw_xml_is(part, passed[k]);
            if (lw_xml_is(part, "wind") || lw_xml_is(part, "actor")) known = false;
            if (!known)
                lw_import_note_of(importer, part->place,
                                  lw_import_print(importer, "<%.40s> elements", part->name), "passed over");
        }
    }
}

/* include: the element that brought the model in, whose name, pose and flags win; NULL if none did. */
static void collect_model(lw_sdf *sdf, const lw_xml *element, int scope, const lw_xml *include,
                          bool is_static) {
    lw_importer *importer = sdf->importer;
    const char *given = lw_sdf_text(include, "name"),
               *name = given ? given : lw_xml_need(importer, element, "model", "name");
    if (!name) return;
    const bool merged = include && lw_xml_flag(importer, include, "include", "merge", false);
    if (merged) name = lw_import_print(importer, "_merged__%.200s__model__", name);
    const int item = new_item(sdf, LW_SDF_MODEL, element, name, scope);
    if (item < 0) return;
    sdf->items[item].merged = merged;
    if (scope < 0) sdf->top_models++;
    lw_sdf_item *model = &sdf->items[item];
    const char *placement = lw_xml_get(element, "placement_frame"),
               *other = lw_sdf_text(include, "placement_frame");
    if (other) placement = other;
    if (include && lw_xml_child(include, "pose")) {
        model->pose = lw_xml_child(include, "pose");
        model->placement = other; /* the model's own belongs to its own pose */
    } else
        model->placement = placement && placement[0] ? placement : NULL;
    bool fixed = is_static || lw_sdf_flag(importer, element, model->object, "static", false);
    fixed = lw_sdf_flag(importer, include, model->object, "static", fixed) || is_static;
    model->is_static = fixed;
    collect_parts(sdf, element, item, fixed);
}

/* --- included files ------------------------------------------------------------------------------- */

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static const char *folder_of(lw_importer *importer, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? lw_import_print(importer, "%.*s", (int)(slash - path) + 1, path) : "";
}

/* The file of a folder with a model: what its model.config says, or model.sdf. */
static const char *file_in(lw_sdf *sdf, const char *folder) {
    lw_importer *importer = sdf->importer;
    char text[4096];
    FILE *config = fopen(lw_import_print(importer, "%s/model.config", folder), "rb");
    const char *name = "model.sdf";
    if (config) {
        const size_t length = fread(text, 1, sizeof text - 1, config);
        text[length] = '\0';
        (void)fclose(config);
        /* the last <sdf version="...">file</sdf>, which is that of the newest version */
        for (const char *at = strstr(text, "<sdf"); at; at = strstr(at + 4, "<sdf")) {
            const char *begin = strchr(at, '>'), *end = begin ? strchr(begin, '<') : NULL;
            if (end && end - begin > 1 && !memchr(begin, '/', (size_t)(end - begin)))
                name = lw_import_print(importer, "%.*s", (int)(end - begin - 1), begin + 1);
        }
    }
    return name;
}

/* The text of an included file, and in *path the file as it stands from here. */
static const char *read_included(lw_sdf *sdf, const lw_xml *uri, size_t *length, const char **path) {
    lw_importer *importer = sdf->importer;
    const char *name = uri->text, *own = importer->file;
    if (strncmp(name, "model://", 8) == 0) name += 8;
    if (strncmp(name, "file://", 7) == 0) name += 7;
    const char *folder = folder_of(importer, importer->file);
    /* A folder that the user has named may hold the model. */
    const bool any_path = importer->options.any_path;
    for (size_t k = 0; k < importer->options.folder_count && name[0] != '/' && !strstr(name, ".."); k++) {
        const char *there = lw_import_print(importer, "%s/%s", importer->options.folders[k], name);
        struct stat about;
        if (stat(there, &about) != 0) continue;
        folder = lw_import_print(importer, "%s/", importer->options.folders[k]);
        importer->options.any_path = true;
        break;
    }
    const char *whole = lw_import_print(importer, "%s%s", name[0] == '/' ? "" : folder, name);
    if (importer->has_folder && is_folder(whole)) {
        name = lw_import_print(importer, "%s/%s", name, file_in(sdf, whole));
        whole = lw_import_print(importer, "%s%s", name[0] == '/' ? "" : folder, name);
    }
    importer->file = lw_import_print(importer, "%s%s", folder, "x");
    if (!importer->has_folder) importer->file = own;
    const size_t before = importer->faults;
    /* Messages name the including file. */
    lw_report *report = importer->report, *inner = lw_report_create();
    importer->report = inner;
    const char *text = lw_import_file(importer, uri->text_place, "include", name, length, NULL);
    importer->file = own;
    importer->report = report;
    importer->options.any_path = any_path;
    for (size_t k = 0; k < lw_report_size(inner) && importer->faults > before; k++) {
        const lw_error *error = lw_report_get(inner, k);
        importer->faults--;
        lw_import_fault(importer, error->place, error->object, error->remedy, "%s", error->message);
    }
    if (!inner) importer->out_of_memory = true;
    lw_report_destroy(inner);
    *path = whole;
    return text;
}

static void read_version(lw_sdf *sdf, const lw_xml *root) {
    lw_importer *importer = sdf->importer;
    const char *version = lw_xml_need(importer, root, NULL, "version");
    int major = 0, minor = 0;
    char rest;
    if (!version) return;
    if (sscanf(version, "%4d.%4d%c", &major, &minor, &rest) != 2 || major < 0 || minor < 0) {
        lw_import_fault(importer, lw_xml_place(root, "version"), NULL, "give e.g. version=\"1.9\"",
                        "version \"%.40s\" is no version of SDF", version);
        return;
    }
    sdf->version = minor;
    if (major != 1 || minor < OLDEST)
        lw_import_fault(importer, lw_xml_place(root, "version"), NULL,
                        "convert it to a newer one, e.g. by gz sdf --print",
                        "version %.20s of SDF is not read, but 1.4 to 1.12 are", version);
    else if (minor > NEWEST)
        lw_import_warning(importer, lw_xml_place(root, "version"), NULL, NULL,
                          "version %.20s of SDF is newer than 1.12; what is new in it is not known", version);
}

static void collect_include(lw_sdf *sdf, const lw_xml *include, int scope, bool is_static) {
    lw_importer *importer = sdf->importer;
    const lw_xml *uri = lw_xml_child(include, "uri");
    if (!uri || !uri->text[0]) {
        lw_import_fault(importer, include->place, "include", "give <uri>model://name</uri>",
                        "<uri> is missing");
        return;
    }
    if (scope < 0 && lw_xml_flag(importer, include, "include", "merge", false)) {
        lw_import_fault(importer, lw_xml_place(include, "merge"), "include", "leave merge away",
                        "a model is merged into the world, but only into a model can it be");
        return;
    }
    if (sdf->include_depth >= MOST_INCLUDES) {
        lw_import_fault(importer, include->place, "include", "let no file include itself",
                        "files include each other more than %d deep", MOST_INCLUDES);
        return;
    }
    size_t length = 0;
    const char *path = NULL, *own = importer->file, *text = read_included(sdf, uri, &length, &path);
    if (!text) return;
    const lw_xml *root = lw_xml_parse(importer, text, length, path), *model = lw_xml_child(root, "model");
    if (!root) return;
    if (!model) {
        lw_import_fault(importer, uri->text_place, "include", "include a file with an SDF <model>",
                        "\"%.150s\" holds no model", uri->text);
        return;
    }
    const int version = sdf->version;
    sdf->include_depth++;
    importer->file = path;
    read_version(sdf, root); /* Each file has its own. */
    collect_model(sdf, model, scope, include, is_static);
    lw_import_unread(importer, root, true);
    importer->file = own;
    sdf->version = version;
    sdf->include_depth--;
}

/* --- into the spec -------------------------------------------------------------------------------- */

/* The name in the spec: without that of the only model. */
static const char *short_name(const lw_sdf *sdf, const lw_sdf_item *item) {
    const char *rest = sdf->top_models == 1 && item->scope >= 0 ? strstr(item->full, "::") : NULL;
    return rest ? rest + 2 : item->full;
}

static int group_of(lw_sdf *sdf, int link) {
    while (sdf->items[link].group != link) {
        const int above = sdf->items[link].group;
        if (above < 0) return LW_SDF_WORLD;
        sdf->items[link].group = sdf->items[above].group < 0 ? LW_SDF_WORLD : sdf->items[above].group;
        link = above;
    }
    return link;
}

static void join_groups(lw_sdf *sdf, const lw_sdf_item *joint) {
    int groups[2];
    for (int k = 0; k < 2; k++) {
        const int link = joint->sides[k];
        groups[k] = link < 0 || sdf->items[link].is_static ? LW_SDF_WORLD : group_of(sdf, link);
    }
    if (groups[0] == groups[1]) return;
    const int from = groups[1] >= 0 ? groups[1] : groups[0], to = groups[1] >= 0 ? groups[0] : groups[1];
    /* The group keeps its first link as its representative. */
    if (to >= 0 && from < to)
        sdf->items[to].group = from;
    else
        sdf->items[from].group = to;
}

static void free_groups(lw_sdf *sdf) {
    lw_importer *importer = sdf->importer;
    for (int k = 0; k < sdf->count; k++) {
        const lw_sdf_item *link = &sdf->items[k];
        if (link->kind != LW_SDF_LINK || link->is_static || group_of(sdf, k) != k) continue;
        const lw_pose none = lw_pose_none();
        lw_joint_spec joint = {.name = lw_import_own_name(importer, &importer->joints,
                                                          lw_import_print(importer, "%s.free", link->body)),
                               .type = LW_JOINT_FREE,
                               .bodies = {LW_GROUND, link->body},
                               .place = link->element->place};
        lw_import_geometry(&joint, &link->world, &none, none.p, NULL, NULL);
        lw_import_add_joint(importer, &joint);
    }
}

static void add_frame(lw_sdf *sdf, const lw_sdf_item *frame) {
    lw_importer *importer = sdf->importer;
    const int link = frame->attached;
    const bool ground = link < 0 || sdf->items[link].is_static;
    const lw_pose carrier = ground ? lw_pose_none() : lw_sdf_world(sdf, link),
                  pose = lw_pose_between(&carrier, &frame->world);
    const char *name =
        lw_import_name(importer, &importer->bodies, short_name(sdf, frame), frame->element->place, "frame");
    lw_import_add_frame(importer, name, ground ? LW_GROUND : sdf->items[link].body, &pose,
                        frame->element->place);
}

static void fill_spec(lw_sdf *sdf) {
    lw_importer *importer = sdf->importer;
    for (int k = 0; k < sdf->count; k++) {
        lw_sdf_item *item = &sdf->items[k];
        importer->file = item->element->file;
        if (item->kind == LW_SDF_LINK)
            item->body = lw_import_name(importer, &importer->bodies, short_name(sdf, item),
                                        item->element->place, "link");
        if (item->kind == LW_SDF_JOINT) lw_sdf_read_joint(sdf, item);
    }
    if (importer->faults > 0 || importer->out_of_memory) return;
    for (int k = 0; k < sdf->count; k++) {
        lw_sdf_item *item = &sdf->items[k];
        importer->file = item->element->file;
        if (item->kind == LW_SDF_LINK) lw_sdf_add_link(sdf, item);
        if (item->kind == LW_SDF_FRAME) add_frame(sdf, item);
        if (item->kind != LW_SDF_JOINT) continue;
        item->own[0] = item->type == LW_JOINT_TYPES
                           ? short_name(sdf, item)
                           : lw_import_name(importer, &importer->joints, short_name(sdf, item),
                                            item->element->place, "joint");
    }
    for (int k = 0; k < sdf->count; k++) {
        lw_sdf_item *item = &sdf->items[k];
        importer->file = item->element->file;
        if (item->kind != LW_SDF_JOINT || item->is_static) continue;
        lw_sdf_add_joint(sdf, item);
        if (item->type != LW_JOINT_TYPES) join_groups(sdf, item);
    }
    for (int k = 0; k < sdf->count; k++) {
        importer->file = sdf->items[k].element->file;
        if (sdf->items[k].kind == LW_SDF_JOINT && !sdf->items[k].is_static)
            lw_sdf_add_relations(sdf, &sdf->items[k]);
    }
    for (int k = 0; k < sdf->count; k++) {
        if (sdf->items[k].kind != LW_SDF_MODEL) continue;
        importer->file = sdf->items[k].element->file;
        for (const lw_xml *e = lw_xml_child(sdf->items[k].element, "drake:ball_constraint"); e;
             e = lw_xml_next(e))
            lw_sdf_add_ball(sdf, e, k);
    }
    free_groups(sdf);
}

/* --- the file ------------------------------------------------------------------------------------- */

void lw_import_sdf(lw_importer *importer) {
    lw_sdf sdf = {.importer = importer};
    const char *own = importer->file;
    const lw_xml *root = lw_xml_parse(importer, importer->text, importer->length, importer->file);
    if (!root) return;
    read_version(&sdf, root);
    const lw_xml *world = lw_xml_child(root, "world"), *outer = world ? world : root;
    const lw_xml *first = lw_xml_child(outer, "model");
    const char *name = lw_xml_get(world ? world : first, "name");
    importer->spec = lw_spec_create(name && name[0] ? name : "sdf");
    if (!importer->spec) {
        importer->out_of_memory = true;
        return;
    }
    if (world && lw_xml_next(world))
        lw_import_note_of(importer, lw_xml_next(world)->place, "further worlds", "only the first is read");
    double gravity[3] = {0, 0, -9.8};
    if (world) (void)lw_sdf_vector(importer, world, "world", "gravity", 3, gravity);
    lw_spec_set_gravity(importer->spec, gravity);
    if (importer->faults == 0) collect_parts(&sdf, outer, LW_SDF_WORLD, false);
    if (importer->faults == 0 && sdf.count == 0)
        lw_import_fault(importer, root->place, NULL, "give a <model> with a <link>", "the file has no model");
    if (importer->faults > 0 || importer->out_of_memory) return;
    lw_sdf_resolve(&sdf);
    if (importer->faults == 0 && !importer->out_of_memory) fill_spec(&sdf);
    lw_import_unread(importer, root, true);
    importer->file = own;
}
