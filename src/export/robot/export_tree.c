/* export_tree.c - a mechanism as the tree that formats of robots want: bodies in each other, with elementary
 * joints.
 *
 * With the joint's frames F0 on the first and F1 on the second body and its motion T(q), the second body lies
 * in the first at F0 T(q) F1^-1. T is a product of slides along, then of turns about axes of the joint's
 * frame, or ends in a ball; so it is a chain of elementary joints through one point. Where the tree carries
 * the first body by the second, the inverse acts: the same motions in the opposite order, about opposite
 * axes.
 *
 * Cost     O(bodies + joints).
 */
#include "export/robot/export_tree.h"

#include "io/number.h"
#include "model/joint.h"
#include "model/joint_types.h"
#include "model/spec/parts.h"
#include "model/spec/spec_storage.h"

#include <linkwork/text.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void lw_export_note(lw_export_tree *tree, const char *kind, const char *meaning) {
    lw_import_note_of(&tree->importer, (lw_place){0, 0}, kind, meaning);
}

/* --- motions ---------------------------------------------------------------------------------------- */

static void make_motions(const lw_joint_entry *entry, const lw_pose *frame, lw_export_body *body) {
    const lw_joint_descriptor *about = lw_joint_describe(entry->info.type);
    const int single = about->ball ? about->slides : entry->joint.nv;
    const bool screws = about->screws && entry->joint.pitch != 0; /* Without lead it is a hinge. */
    const bool several = screws || (entry->joint.nv > 1 && !(about->ball && about->slides == 0));
    lw_export_motion *motions = body->motions;
    int count = 0;
    if (screws) {
        double direction[3];
        lw_joint_direction(&entry->joint, 0, direction);
        lw_m3_mul_v(frame->R, direction, motions[0].axis);
        motions[0].pitch = entry->joint.pitch;
        motions[0].suffix = "displacement";
        count = 1;
    }
    for (int k = 0; k < single; k++) {
        double direction[3];
        lw_export_motion *motion = &motions[count++];
        lw_joint_direction(&entry->joint, k, direction);
        lw_m3_mul_v(frame->R, direction, motion->axis);
        motion->turns = lw_joint_type_turns(entry->info.type, k);
        motion->coordinate = k;
        motion->suffix = several ? about->names[k].word : "";
    }
    if (about->ball)
        motions[count++] = (lw_export_motion){
            .turns = true, .ball = true, .coordinate = about->slides, .suffix = several ? "ball" : ""};
    body->motion_count = count;
    if (!entry->info.reversed) return;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) motions[k].axis[i] = -motions[k].axis[i];
    /* Turns, the last one first, then slides, whose order does not matter. */
    lw_export_motion turned[LW_JOINT_MAX_V];
    int placed = 0;
    for (int k = count - 1; k >= 0; k--)
        if (motions[k].turns) turned[placed++] = motions[k];
    for (int k = 0; k < count; k++)
        if (!motions[k].turns) turned[placed++] = motions[k];
    memcpy(motions, turned, (size_t)count * sizeof *motions);
}

static void make_body(lw_export_tree *tree, int label, bool at_joints) {
    const lw_model *model = tree->model;
    const lw_body *of = &model->bodies[label];
    lw_export_body *body = &tree->bodies[label];
    const lw_joint_entry *entry = &model->joints[of->joint_index];
    const lw_joint_descriptor *about = lw_joint_describe(entry->info.type);
    const int child = entry->info.reversed ? 0 : 1;
    body->name = of->name;
    body->parent = model->links[label].parent;
    body->joint = of->joint_index;
    const lw_pose user =
        lw_pose_between(&of->frame, &entry->frames[child]); /* the joint in the user's frame */
    lw_pose own = lw_pose_none();                           /* the frame of the body here in the user's */
    if (at_joints) {
        lw_v3_copy(user.p, own.p);
        if (about->ball) memcpy(own.R, user.R, sizeof own.R);
    } else if (about->ball && !lw_pose_is_none(&user))
        own = user;
    const lw_pose whole = lw_pose_in(&of->frame, &own), none = lw_pose_none();
    body->inverse = lw_pose_between(&whole, &none);
    body->user = lw_pose_between(&own, &none);
    const lw_pose joint = lw_export_pose(tree, label, &entry->frames[child]);
    const lw_pose above = lw_export_pose(tree, body->parent, &entry->frames[1 - child]);
    const lw_pose back = lw_pose_between(&joint, &none);
    body->pose = lw_pose_in(&above, &back);
    lw_v3_copy(joint.p, body->point);
    make_motions(entry, &joint, body);
}

lw_pose lw_export_pose(const lw_export_tree *tree, int body, const lw_pose *internal) {
    return lw_pose_in(&tree->bodies[body].inverse, internal);
}

/* --- the tree --------------------------------------------------------------------------------------- */

/* A copy of a spec, in which drives have no limits, so that their laws can be told from their values. */
lw_status lw_export_copy_spec(const lw_spec *spec, lw_spec **copy, lw_error *error) {
    size_t size = 0;
    lw_status status = lw_spec_save(spec, NULL, 0, &size);
    void *bytes = status == LW_OK ? malloc(size > 0 ? size : 1) : NULL;
    if (status == LW_OK && !bytes) return lw_out_of_memory(error);
    if (status == LW_OK) status = lw_spec_save(spec, bytes, size, NULL);
    if (status == LW_OK) status = lw_spec_load(bytes, size, copy, error);
    free(bytes);
    return status;
}

lw_status lw_export_tree_create(const lw_spec *spec, bool at_joints, lw_import_notes *notes,
                                lw_export_tree *tree, lw_error *error) {
    *tree = (lw_export_tree){.spec = NULL};
    if (!spec) return lw_call_needs("an export needs a spec", error);
    tree->importer.options.notes = notes;
    tree->importer.arena = lw_arena_create(NULL);
    tree->limits = LW_NEW(tree->importer.arena, double, lw_spec_force_count(spec) + 1);
    if (!tree->limits) return lw_out_of_memory(error);
    lw_spec placed; /* The objects of parts lie in their own worlds. */
    lw_status status = lw_spec_placed(spec, tree->importer.arena, &placed, NULL);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    if (status != LW_OK)
        return lw_fail(error, status, NULL, "linkwork check names the faults", "its parts cannot be placed");
    status = lw_export_copy_spec(&placed, &tree->spec, error);
    for (size_t k = 0; status == LW_OK && k < lw_spec_part_count(tree->spec); k++) {
        lw_part_spec *part = lw_spec_part(tree->spec, k); /* From now on nothing but a name. */
        *part = (lw_part_spec){.name = part->name, .file = part->file, .place = part->place};
    }
    for (size_t k = 0; status == LW_OK && k < lw_spec_force_count(tree->spec); k++) {
        tree->limits[k] = lw_spec_force(tree->spec, k)->limit;
        lw_spec_force(tree->spec, k)->limit = 0;
    }
    lw_report *report = lw_report_create();
    if (status == LW_OK && !report) status = lw_out_of_memory(error);
    if (status == LW_OK) status = lw_model_compile(tree->spec, NULL, report, &tree->model);
    if (status != LW_OK && error)
        for (size_t k = 0; k < lw_report_size(report); k++)
            if (lw_report_get(report, k)->severity == LW_SEVERITY_ERROR) {
                *error = *lw_report_get(report, k);
                break;
            }
    lw_report_destroy(report);
    if (status != LW_OK) return status;
    tree->bodies = LW_NEW(tree->importer.arena, lw_export_body, tree->model->body_count + 1);
    if (!tree->bodies) return lw_out_of_memory(error);
    tree->bodies[0] = (lw_export_body){.name = LW_GROUND, .parent = -1, .joint = -1};
    tree->bodies[0].pose = tree->bodies[0].user = lw_pose_none();
    const lw_pose none = lw_pose_none();
    tree->bodies[0].inverse = lw_pose_between(&tree->model->bodies[0].frame, &none);
    for (int k = 1; k <= tree->model->body_count; k++) make_body(tree, k, at_joints);
    return LW_OK;
}

void lw_export_tree_destroy(lw_export_tree *tree) {
    lw_model_destroy(tree->model);
    lw_spec_destroy(tree->spec);
    lw_arena_destroy(tree->importer.arena);
}

lw_body_spec *lw_export_spec_body(const lw_export_tree *tree, int body) {
    for (size_t k = 0; body > 0 && k < lw_spec_body_count(tree->spec); k++)
        if (strcmp(lw_spec_body(tree->spec, k)->name, tree->bodies[body].name) == 0)
            return lw_spec_body(tree->spec, k);
    return NULL;
}

void lw_export_inertia(const lw_export_tree *tree, int body, double *mass, double com[3], double inertia[6]) {
    const lw_body_spec *spec = lw_export_spec_body(tree, body);
    lw_pose centre = lw_pose_none();
    *mass = spec->mass;
    lw_v3_copy(spec->com, centre.p);
    centre = lw_pose_in(&tree->bodies[body].user, &centre);
    lw_inertia_in(&centre, spec->inertia, com, inertia);
}

/* --- text ------------------------------------------------------------------------------------------- */

void lw_export_numbers(FILE *file, const char *name, const double *values, int count) {
    fprintf(file, " %s=\"", name);
    for (int k = 0; k < count; k++) {
        char digits[LW_NUMBER_SIZE];
        (void)lw_number_print(values[k] == 0 ? 0 : values[k], digits);
        fprintf(file, "%s%s", k ? " " : "", digits);
    }
    fprintf(file, "\"");
}

void lw_export_text(FILE *file, const char *name, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(file, " %s=\"", name);
    lw_put_xml(file, text, INT_MAX);
    fprintf(file, "\"");
}

FILE *lw_export_open(const char *path, lw_error *error) {
    FILE *file = !path ? NULL : strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!file)
        (void)lw_fail(error, LW_ERROR_FILE, path, "choose a folder that you may write to",
                      "the file cannot be written: %s", path ? strerror(errno) : "it has no name");
    return file;
}

lw_status lw_export_close(FILE *file, const char *path, lw_error *error) {
    bool good = fflush(file) == 0 && !ferror(file);
    if (file != stdout) good = fclose(file) == 0 && good;
    if (good) return LW_OK;
    return lw_fail(error, LW_ERROR_FILE, path, "look for space on the disk", "writing failed");
}
