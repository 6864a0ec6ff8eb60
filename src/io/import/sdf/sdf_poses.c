/* sdf_poses.c - the poses of an SDF: a graph of names, each given relative to another.
 *
 * Without relative_to, a link, a frame and a nested model are relative to the model around them, a frame with
 * attached_to to that, a joint to its child, a model of the world to the world. A model with a placement
 * frame P is where the pose puts P: X = X_relative pose inverse(P in the model). Chains are followed one by
 * one, without recursion but for placement frames, which nest no deeper than models do; a chain that comes
 * back to itself is a fault. Cost O(items) and one look-up by name for each.
 */
#include "io/import/sdf/sdf_parts.h"

#include <math.h>
#include <string.h>

/* --- values in elements --------------------------------------------------------------------------- */

const char *lw_sdf_text(const lw_xml *element, const char *name) {
    const lw_xml *child = lw_xml_child(element, name);
    return child && child->text[0] ? child->text : NULL;
}

bool lw_sdf_vector(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int count, double *values) {
    const lw_xml *child = lw_xml_child(element, name);
    double read[8];
    if (!child || !child->text[0] || count > 8) return false;
    if (lw_xml_read_numbers(importer, child->text, child->text_place, object, name, count, count, read) < 0)
        return false;
    memcpy(values, read, (size_t)count * sizeof *values);
    return true;
}

double lw_sdf_number(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                     double otherwise) {
    double value = otherwise;
    (void)lw_sdf_vector(importer, element, object, name, 1, &value);
    return value;
}

bool lw_sdf_flag(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                 bool otherwise) {
    const lw_xml *child = lw_xml_child(element, name);
    const char *text = lw_sdf_text(element, name);
    if (!text) return otherwise;
    if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0 || strcmp(text, "True") == 0) return true;
    if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0 || strcmp(text, "False") == 0) return false;
    lw_import_fault(importer, child->text_place, object, "give true or false",
                    "%s: \"%.60s\" is neither true nor false", name, text);
    return otherwise;
}

lw_pose lw_sdf_pose(lw_importer *importer, const lw_xml *element, const char *object) {
    static const char *const names[] = {"relative_to", "degrees", "rotation_format", "frame", NULL};
    double numbers[7] = {0, 0, 0, 0, 0, 0, 0};
    if (!element) return lw_pose_none();
    lw_xml_known(importer, element, object, names);
    const char *format = lw_xml_get(element, "rotation_format");
    const bool quaternion = format && strcmp(format, "quat_xyzw") == 0,
               degrees = lw_xml_flag(importer, element, object, "degrees", false);
    if (format && !quaternion && strcmp(format, "euler_rpy") != 0)
        lw_import_fault(importer, lw_xml_place(element, "rotation_format"), object,
                        "give euler_rpy or quat_xyzw", "rotation format \"%.40s\" is not known", format);
    const int count = quaternion ? 7 : 6;
    if (!element->text[0]) return lw_pose_none();
    if (lw_xml_read_numbers(importer, element->text, element->text_place, object, "pose", count, count,
                            numbers) < 0)
        return lw_pose_none();
    if (!quaternion) {
        for (int k = 3; k < 6 && degrees; k++) numbers[k] *= 3.14159265358979323846 / 180;
        return lw_pose_rpy(numbers, numbers + 3);
    }
    lw_pose pose = lw_pose_none();
    const double turn[4] = {numbers[6], numbers[3], numbers[4], numbers[5]};
    lw_v3_copy(numbers, pose.p);
    if (turn[0] == 0 && turn[1] == 0 && turn[2] == 0 && turn[3] == 0)
        lw_import_fault(importer, element->text_place, object, "give e.g. 0 0 0 1",
                        "the quaternion is zero and means no rotation");
    else
        lw_rot_quat(turn, pose.R);
    return pose;
}

/* --- names ---------------------------------------------------------------------------------------- */

int lw_sdf_find(lw_sdf *sdf, int scope, const char *name, lw_place place, const char *object, bool quiet) {
    lw_importer *importer = sdf->importer;
    if (strcmp(name, "__model__") == 0) return scope;
    if (strcmp(name, "world") == 0) return LW_SDF_WORLD;
    while (scope >= 0 && sdf->items[scope].merged) scope = sdf->items[scope].scope;
    const char *around = scope >= 0 ? sdf->items[scope].full : "";
    const char *full = scope >= 0 ? lw_import_print(importer, "%s::%s", around, name)
                                  : lw_import_print(importer, "%s", name);
    const size_t length = strlen(full);
    const char *tail = "::__model__";
    if (length > strlen(tail) && strcmp(full + length - strlen(tail), tail) == 0)
        full = lw_import_print(importer, "%.*s", (int)(length - strlen(tail)), full);
    const lw_named *named = lw_results_table_find(&sdf->names, full);
    if (named) return named->type;
    if (quiet) return LW_SDF_NONE;
    char remedy[160] = "name a link, joint, frame or model of the same model";
    enum { MOST = 4096 };
    lw_closest_search search = lw_closest_to(name);
    for (int k = 0; k < sdf->count && k < MOST && importer->faults < 100; k++)
        if (sdf->items[k].scope == scope) lw_closest_try(&search, sdf->items[k].name);
    (void)lw_did_you_mean(search.name, remedy, sizeof remedy);
    lw_import_fault(importer, place, object, remedy, "there is no \"%.80s\" here", name);
    return LW_SDF_NONE;
}

/* --- the graph ------------------------------------------------------------------------------------ */

/* Relative to what an item is given. */
static int reference_of(lw_sdf *sdf, lw_sdf_item *item) {
    const char *relative = lw_xml_get(item->pose, "relative_to");
    const char *key = "relative_to";
    if (!relative) relative = lw_xml_get(item->pose, "frame"), key = "frame"; /* before 1.7 */
    if (relative && relative[0])
        return lw_sdf_find(sdf, item->scope, relative, lw_xml_place(item->pose, key), item->object, false);
    if (item->kind == LW_SDF_JOINT) {
        const lw_xml *child = lw_xml_child(item->element, "child");
        return child && child->text[0]
                   ? lw_sdf_find(sdf, item->scope, child->text, child->text_place, item->object, true)
                   : LW_SDF_NONE;
    }
    const char *attached = item->kind == LW_SDF_FRAME ? lw_xml_get(item->element, "attached_to") : NULL;
    if (attached && attached[0])
        return lw_sdf_find(sdf, item->scope, attached, lw_xml_place(item->element, "attached_to"),
                           item->object, false);
    return item->scope;
}

lw_pose lw_sdf_world(const lw_sdf *sdf, int item) {
    return item >= 0 ? sdf->items[item].world : lw_pose_none();
}

/* The pose of the placement frame in its model: from the frame up to the model, which is not placed itself
 * yet. False: the way does not lead there. */
static bool placement_of(lw_sdf *sdf, int model, lw_pose *pose, int depth) {
    lw_sdf_item *own = &sdf->items[model];
    *pose = lw_pose_none();
    int at = lw_sdf_find(sdf, model, own->placement, own->element->place, own->object, false);
    for (int steps = 0; at >= 0 && at != model && steps <= sdf->count; steps++) {
        lw_sdf_item *item = &sdf->items[at];
        lw_pose here = item->raw;
        if (item->kind == LW_SDF_MODEL && item->placement) {
            lw_pose inner;
            if (depth > LW_XML_MAX_DEPTH || !placement_of(sdf, at, &inner, depth + 1)) return false;
            const lw_pose none = lw_pose_none(), back = lw_pose_between(&inner, &none);
            here = lw_pose_in(&here, &back);
        }
        *pose = lw_pose_in(&here, pose);
        at = item->relative_to;
    }
    if (at == model) return true;
    if (sdf->importer->faults == 0)
        lw_import_fault(sdf->importer, own->element->place, own->object,
                        "name a frame whose pose is given in the model",
                        "the placement frame \"%.80s\" does not lie in the model", own->placement);
    return false;
}

static void finish(lw_sdf *sdf, int index) {
    lw_sdf_item *item = &sdf->items[index];
    const lw_pose outer = lw_sdf_world(sdf, item->relative_to);
    item->world = lw_pose_in(&outer, &item->raw);
    if (item->kind == LW_SDF_MODEL && item->placement) {
        lw_pose inner;
        if (placement_of(sdf, index, &inner, 0)) {
            const lw_pose none = lw_pose_none(), back = lw_pose_between(&inner, &none);
            item->world = lw_pose_in(&item->world, &back);
        }
    }
    item->state = 2;
}

static void resolve(lw_sdf *sdf, int index, int *chain) {
    int count = 0, at = index;
    while (at >= 0 && sdf->items[at].state == 0) {
        sdf->items[at].state = 1;
        chain[count++] = at;
        at = sdf->items[at].relative_to;
    }
    if (at >= 0 && sdf->items[at].state == 1) {
        const lw_sdf_item *item = &sdf->items[at];
        sdf->importer->file = item->element->file;
        lw_import_fault(sdf->importer, item->pose ? item->pose->place : item->element->place, item->object,
                        "let one of them be relative to the model",
                        "its pose is relative to itself, by way of \"%.80s\"",
                        sdf->items[chain[count - 1]].full);
    }
    while (count > 0) finish(sdf, chain[--count]);
}

/* --- attachments ---------------------------------------------------------------------------------- */

/* To what an item is fixed: a link to itself, a frame as it says, a model to its canonical link, or else its
 * first link, a joint to its child. */
static int next_attached(lw_sdf *sdf, lw_sdf_item *item, int index) {
    const char *name = NULL;
    lw_place place = item->element->place;
    if (item->kind == LW_SDF_FRAME) {
        name = lw_xml_get(item->element, "attached_to");
        if (!name || !name[0]) return item->scope;
        place = lw_xml_place(item->element, "attached_to");
    } else if (item->kind == LW_SDF_JOINT) {
        name = lw_sdf_text(item->element, "child");
        if (!name) return LW_SDF_NONE;
        place = lw_xml_child(item->element, "child")->text_place;
    } else if (item->kind == LW_SDF_MODEL) {
        name = lw_xml_get(item->element, "canonical_link");
        if (name && name[0])
            return lw_sdf_find(sdf, index, name, lw_xml_place(item->element, "canonical_link"), item->object,
                               false);
        int nested = LW_SDF_NONE;
        /* Its items, and theirs, follow it. Links come before models. */
        for (int k = index + 1; k < sdf->count && sdf->items[k].scope >= index; k++) {
            const lw_sdf_item *inner = &sdf->items[k];
            if (inner->scope == index && inner->kind == LW_SDF_LINK) return k;
            if (inner->scope == index && inner->kind == LW_SDF_MODEL && nested == LW_SDF_NONE) nested = k;
        }
        return nested;
    }
    return lw_sdf_find(sdf, item->scope, name, place, item->object, false);
}

static void attach(lw_sdf *sdf, int index, int *chain, int *next) {
    int count = 0, at = index;
    while (at >= 0 && sdf->items[at].attached == LW_SDF_NONE && sdf->items[at].kind != LW_SDF_LINK) {
        if (count > sdf->count) {
            lw_import_fault(sdf->importer, sdf->items[index].element->place, sdf->items[index].object,
                            "attach one of them to a link",
                            "it is attached to itself, by way of other frames");
            return;
        }
        chain[count++] = at;
        at = next[at];
    }
    const int link = at < 0 ? at : sdf->items[at].kind == LW_SDF_LINK ? at : sdf->items[at].attached;
    while (count > 0) sdf->items[chain[--count]].attached = link;
}

void lw_sdf_resolve(lw_sdf *sdf) {
    lw_importer *importer = sdf->importer;
    int *chain = LW_NEW(importer->arena, int, 2 * sdf->count + 4),
        *next = LW_NEW(importer->arena, int, sdf->count + 1);
    if (!chain || !next) {
        importer->out_of_memory = true;
        return;
    }
    const char *own = importer->file;
    for (int k = 0; k < sdf->count; k++) {
        lw_sdf_item *item = &sdf->items[k];
        importer->file = item->element->file;
        item->raw = lw_sdf_pose(importer, item->pose, item->object);
        item->relative_to = reference_of(sdf, item);
        next[k] = item->kind == LW_SDF_LINK ? k : next_attached(sdf, item, k);
    }
    for (int k = 0; k < sdf->count && importer->faults == 0; k++) resolve(sdf, k, chain);
    for (int k = 0; k < sdf->count && importer->faults == 0; k++) {
        importer->file = sdf->items[k].element->file;
        attach(sdf, k, chain, next);
        if (sdf->items[k].kind == LW_SDF_LINK) sdf->items[k].attached = k;
    }
    importer->file = own;
}
