/* urdf_sidecar.c - robot.yaml beside a URDF: the loops of example-parallel-robots (Gepetto).
 *
 *   closed_loop: [[frameA, frameB], ...]  links, or joints for their children, that lie on each other
 *   type: ["6d", "3d", ...]               all six coordinates, or the three of the origin; 6d if left out
 *   name_mot: [joint, ...]                joints with motors: each gets an input and a drive by it
 *   joint_name: [...], joint_type: [...]  joints that are of another kind than the URDF can say: SPHERICAL,
 *                                         UJOINT_XY (any two letters), FIXED
 *
 * The file is used if it lies beside the URDF, under its name or as robot.yaml, and has one of these keys.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/import/urdf/urdf_parts.h"
#include "io/model_read/yaml.h"
#include "io/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const lw_yaml *entry(const lw_yaml *list, size_t index) {
    return list && list->kind == LW_YAML_LIST && index < list->count ? list->items[index] : NULL;
}

static const char *word(lw_importer *importer, const lw_yaml *node, lw_place place, const char *what) {
    if (node && node->kind == LW_YAML_TEXT && node->text[0]) return node->text;
    lw_import_fault(importer, node ? node->place : place, NULL, "give a name", "%s is no name", what);
    return NULL;
}

static bool is_list(lw_importer *importer, const lw_yaml *node, const char *key) {
    if (!node || node->kind == LW_YAML_NULL) return false;
    if (node->kind == LW_YAML_LIST) return true;
    lw_import_fault(importer, node->place, NULL, "give a list", "%s is no list", key);
    return false;
}

/* The link of a frame: a link, or the child of a joint. */
static int frame_of(lw_urdf *urdf, const char *name, lw_place place) {
    const lw_named *link = lw_results_table_find(&urdf->link_names, name),
                   *joint = lw_results_table_find(&urdf->joint_names, name);
    if (link) return link->type;
    if (joint) return urdf->joints[joint->type].child;
    return lw_urdf_find_link(urdf, name, place, NULL);
}

static void read_loop(lw_urdf *urdf, const lw_yaml *pair, const lw_yaml *type, size_t index) {
    lw_importer *importer = urdf->importer;
    int links[2];
    if (pair->kind != LW_YAML_LIST || pair->count != 2) {
        lw_import_fault(importer, pair->place, NULL, "give [frameA, frameB]",
                        "an entry of closed_loop is no pair of frames");
        return;
    }
    const char *names[2];
    for (int k = 0; k < 2; k++) {
        names[k] = word(importer, pair->items[k], pair->place, "a frame of closed_loop");
        links[k] = names[k] ? frame_of(urdf, names[k], pair->items[k]->place) : -1;
    }
    const char *kind = type ? word(importer, type, pair->place, "a type") : "6d";
    if (!kind || links[0] < 0 || links[1] < 0) return;
    if (strcasecmp(kind, "6d") != 0 && strcasecmp(kind, "3d") != 0) {
        lw_import_fault(importer, type->place, NULL, "give 6d or 3d", "type \"%.40s\" is not known", kind);
        return;
    }
    if (links[0] == links[1]) {
        lw_import_fault(importer, pair->place, NULL, "name two different links",
                        "\"%.80s\" and \"%.80s\" are one link", names[0], names[1]);
        return;
    }
    lw_urdf_joint *joint = lw_urdf_new_joint(urdf);
    if (!joint) return;
    joint->name = lw_import_print(importer, "closed_loop_%zu", index + 1);
    joint->object = lw_import_print(importer, "closed loop %zu", index + 1);
    joint->type = strcasecmp(kind, "6d") == 0 ? LW_JOINT_WELD : LW_JOINT_SPHERICAL;
    joint->parent = links[0], joint->child = links[1];
    joint->closure = true;
    joint->place = (lw_place){0, 0}; /* in the other file */
}

/* UJOINT_XY: the axes of its two letters; false if it is not of this form. */
static bool universal_axes(const char *type, double axis[3], double second[3]) {
    if (strncasecmp(type, "UJOINT_", 7) != 0 || strlen(type) != 9) return false;
    const char *letters = "XYZ", *first = strchr(letters, type[7] & ~32),
               *next = strchr(letters, type[8] & ~32);
    if (!first || !next || first == next || !*first || !*next) return false;
    for (int k = 0; k < 3; k++) axis[k] = k == first - letters, second[k] = k == next - letters;
    return true;
}

static void read_kind(lw_urdf *urdf, const lw_yaml *name_node, const lw_yaml *type_node) {
    lw_importer *importer = urdf->importer;
    const char *name = word(importer, name_node, name_node->place, "an entry of joint_name"),
               *type = word(importer, type_node, name_node->place, "its joint_type");
    const int index = name ? lw_urdf_find_joint(urdf, name, name_node->place, NULL) : -1;
    if (index < 0 || !type) return;
    lw_urdf_joint *joint = &urdf->joints[index];
    if (strcasecmp(type, "SPHERICAL") == 0)
        joint->type = LW_JOINT_SPHERICAL;
    else if (strcasecmp(type, "FIXED") == 0)
        joint->type = LW_JOINT_WELD;
    else if (universal_axes(type, joint->axis, joint->second_axis))
        joint->type = LW_JOINT_UNIVERSAL;
    else {
        lw_import_fault(importer, type_node->place, joint->object, "give SPHERICAL, FIXED or UJOINT_XY",
                        "joint_type \"%.40s\" is not known", type);
        return;
    }
    joint->limits[0] = joint->limits[1] = 0;
}

static void read_keys(lw_urdf *urdf, const lw_yaml *root) {
    lw_importer *importer = urdf->importer;
    const lw_yaml *loops = lw_yaml_get(root, "closed_loop"), *types = lw_yaml_get(root, "type"),
                  *motors = lw_yaml_get(root, "name_mot"), *names = lw_yaml_get(root, "joint_name"),
                  *kinds = lw_yaml_get(root, "joint_type");
    if (is_list(importer, names, "joint_name"))
        for (size_t k = 0; k < names->count; k++) read_kind(urdf, names->items[k], entry(kinds, k));
    if (is_list(importer, loops, "closed_loop"))
        for (size_t k = 0; k < loops->count; k++) read_loop(urdf, loops->items[k], entry(types, k), k);
    if (!is_list(importer, motors, "name_mot")) return;
    for (size_t k = 0; k < motors->count; k++) {
        const char *name = word(importer, motors->items[k], motors->place, "an entry of name_mot");
        const int index = name ? lw_urdf_find_joint(urdf, name, motors->items[k]->place, NULL) : -1;
        if (index >= 0) urdf->joints[index].motor = true;
    }
}

/* The path of a file beside the URDF that exists, in the arena; NULL if there is none. */
static const char *beside(lw_importer *importer, const char *name, size_t length, const char *ending) {
    const char *slash = strrchr(importer->file, '/');
    const int folder = slash ? (int)(slash - importer->file) + 1 : 0;
    const char *path =
        lw_import_print(importer, "%.*s%.*s%s", folder, importer->file, (int)length, name, ending);
    return path[0] && access(path, R_OK) == 0 ? path : NULL;
}

static void read_file(lw_urdf *urdf, const char *path) {
    lw_importer *importer = urdf->importer;
    const char *own = importer->file;
    char *text = NULL;
    size_t length = 0;
    lw_report *report = lw_report_create();
    const lw_yaml *root = NULL;
    if (!report || lw_whole_file(path, LW_YAML_MAX_BYTES, NULL, NULL, &text, &length) != LW_OK) {
        lw_report_destroy(report);
        return;
    }
    const lw_status status = lw_yaml_parse(importer->arena, text, length, path, report, &root);
    static const char *const keys[] = {"closed_loop", "name_mot", "joint_name"};
    bool meant = false;
    for (int k = 0; k < 3 && root && root->kind == LW_YAML_MAP; k++)
        meant = meant || lw_yaml_get(root, keys[k]);
    if (status == LW_ERROR_MEMORY) importer->out_of_memory = true;
    importer->file = path;
    if (meant && status == LW_OK) {
        read_keys(urdf, root);
        lw_import_note_of(importer, root->place, "file beside it with loops and motors",
                          lw_import_print(importer, "%.200s closes the loops", path));
    } else if (meant) {
        for (size_t k = 0; k < lw_report_size(report) && importer->report; k++)
            (void)lw_report_add(importer->report, lw_report_get(report, k));
        importer->faults++;
    }
    importer->file = own;
    lw_report_destroy(report);
    free(text);
}

void lw_urdf_read_sidecar(lw_urdf *urdf) {
    lw_importer *importer = urdf->importer;
    if (!importer->has_folder) return;
    const char *slash = strrchr(importer->file, '/'), *name = slash ? slash + 1 : importer->file,
               *dot = strrchr(name, '.');
    const char *path = beside(importer, name, dot ? (size_t)(dot - name) : strlen(name), ".yaml");
    if (!path || strcmp(path, importer->file) == 0) path = beside(importer, "robot", 5, ".yaml");
    if (path && strcmp(path, importer->file) != 0) read_file(urdf, path);
}

void lw_urdf_add_motors(lw_urdf *urdf) {
    for (int k = 0; k < urdf->joint_count; k++) {
        const lw_urdf_joint *joint = &urdf->joints[k];
        if (!joint->motor) continue;
        const int speeds = lw_joint_type_v(joint->type, 0);
        if (joint->type == LW_JOINT_FREE || joint->type == LW_JOINT_SPHERICAL || speeds == 0) {
            lw_import_note_of(urdf->importer, joint->place, "motors of balls and fixed joints",
                              "they have no coordinate that a motor could drive");
            continue;
        }
        for (int c = 0; c < speeds; c++)
            lw_import_add_motor(urdf->importer, joint->own, joint->type, c, joint->place);
    }
}
