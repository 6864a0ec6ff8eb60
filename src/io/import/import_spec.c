/* import_spec.c - adding what an import found to its spec: names that a spec may hold, and faults of memory.
 */
#include "io/import/import_spec.h"

#include "expression/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- names ---------------------------------------------------------------------------------------- */

/* A copy without what a model file cannot hold, of at most LW_MAX_NAME - 8 bytes where it was longer. */
static void clean_name(const char *name, char out[LW_MAX_NAME + 1]) {
    size_t used = 0;
    const size_t most = strlen(name) > LW_MAX_NAME ? LW_MAX_NAME - 8 : LW_MAX_NAME;
    while (*name) {
        unsigned code;
        size_t length = lw_utf8(name, 4, &code);
        const bool bad =
            length == 0 || strchr("\"',{}", *name) || code < 32 || code == 127 || (code >= 128 && code < 160);
        if (length == 0) length = 1;
        if (used + (bad ? 1 : length) > most) break;
        if (bad)
            out[used++] = '_';
        else {
            memcpy(out + used, name, length);
            used += length;
        }
        name += length;
    }
    out[used] = '\0';
    char shown[2 * LW_MAX_NAME];
    if (used == 0 || lw_escape(out, shown, sizeof shown) != used) /* other characters that show nothing */
        for (size_t k = 0; k < used || k == 0; k++) {
            if (k >= used || (unsigned char)out[k] >= 128) out[k] = '_';
            if (k >= used) out[++used] = '\0';
        }
}

static const char *taken_name(lw_importer *importer, lw_name_table *table, const char *clean,
                              lw_place place) {
    char text[LW_MAX_NAME + 16];
    (void)snprintf(text, sizeof text, "%s", clean);
    const bool reserved = strcmp(clean, LW_GROUND) == 0 || strcmp(clean, "body") == 0;
    for (int k = 2; lw_results_table_find(table, text) || (k == 2 && reserved); k++) {
        size_t kept = strlen(clean);
        while (kept > LW_MAX_NAME - 8 || (kept > 0 && lw_utf8_continues(clean[kept]))) kept--;
        (void)snprintf(text, sizeof text, "%.*s_%d", (int)kept, clean, k);
        if (lw_results_table_find(table, text)) continue;
        break;
    }
    const lw_named *named = lw_results_table_add(table, importer->arena, text, place);
    if (!named) importer->out_of_memory = true;
    return named ? named->name : "";
}

const char *lw_import_name(lw_importer *importer, lw_name_table *table, const char *name, lw_place place,
                           const char *kind) {
    char clean[LW_MAX_NAME + 1];
    clean_name(name, clean);
    const char *taken = taken_name(importer, table, clean, place);
    if (strcmp(taken, name) != 0 && !importer->out_of_memory)
        lw_import_warning(importer, place, NULL, NULL, "%s \"%.90s\" is called \"%s\" here", kind, name,
                          taken);
    return taken;
}

const char *lw_import_own_name(lw_importer *importer, lw_name_table *table, const char *name) {
    char clean[LW_MAX_NAME + 1];
    clean_name(name, clean);
    return taken_name(importer, table, clean, (lw_place){0, 0});
}

const char *lw_import_word(lw_importer *importer, const char *name) {
    char clean[LW_MAX_NAME + 1];
    clean_name(name, clean);
    for (char *c = clean; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))) *c = '_';
    char word[LW_MAX_NAME + 2];
    const bool own = (clean[0] >= '0' && clean[0] <= '9') || lw_name_taken(clean);
    (void)snprintf(word, sizeof word, "%s%.*s", own ? "_" : "", LW_MAX_NAME - 1, clean);
    return taken_name(importer, &importer->words, word, (lw_place){0, 0});
}

/* --- adding --------------------------------------------------------------------------------------- */

void lw_import_add_body(lw_importer *importer, const lw_body_spec *body) {
    lw_import_check(importer, lw_spec_add_body(importer->spec, body));
}

void lw_import_add_frame(lw_importer *importer, const char *name, const char *body, const lw_pose *pose,
                         lw_place place) {
    lw_frame_spec frame = {.name = name, .body = body, .place = place};
    lw_pose_parts(pose, frame.position, frame.rotation);
    lw_import_check(importer, lw_spec_add_frame(importer->spec, &frame));
}

void lw_import_add_joint(lw_importer *importer, const lw_joint_spec *joint) {
    lw_import_check(importer, lw_spec_add_joint(importer->spec, joint));
}

void lw_import_add_force(lw_importer *importer, const lw_force_spec *force) {
    lw_import_check(importer, lw_spec_add_force(importer->spec, force));
}

void lw_import_add_constraint(lw_importer *importer, const lw_constraint_spec *constraint) {
    lw_import_check(importer, lw_spec_add_constraint(importer->spec, constraint));
}

void lw_import_add_friction(lw_importer *importer, const char *joint, int coordinate, double viscous,
                            double coulomb, lw_place place) {
    if (viscous == 0 && coulomb == 0) return;
    char name[2 * LW_MAX_NAME];
    (void)snprintf(name, sizeof name, coordinate > 0 ? "%s.friction.%d" : "%s.friction", joint, coordinate);
    const lw_force_spec friction = {.name = lw_import_own_name(importer, &importer->forces, name),
                                    .type = LW_FORCE_FRICTION,
                                    .joint = joint,
                                    .coordinate = coordinate,
                                    .viscous = viscous,
                                    .coulomb = coulomb,
                                    .smoothing = 1e-3,
                                    .place = place};
    lw_import_add_force(importer, &friction);
    if (coulomb != 0)
        lw_import_note_of(importer, place, "dry friction",
                          "smoothed: coulomb tanh(v / smoothing) with smoothing 0.001 m/s or rad/s, so that "
                          "a joint at rest creeps instead of sticking");
}

void lw_import_add_coupling(lw_importer *importer, const char *name, const char *const joints[2],
                            const int coordinates[2], const double factors[2], double offset,
                            lw_place place) {
    lw_constraint_spec coupling = {.name = lw_import_own_name(importer, &importer->constraints, name),
                                   .type = LW_CONSTRAINT_COUPLING,
                                   .terms = joints[1] ? 2 : 1,
                                   .offset = offset,
                                   .place = place};
    for (int k = 0; k < coupling.terms; k++) {
        coupling.joints[k] = joints[k];
        coupling.coordinates[k] = coordinates[k];
        coupling.factors[k] = factors[k];
    }
    lw_import_add_constraint(importer, &coupling);
}

void lw_import_add_motor(lw_importer *importer, const char *joint, lw_joint_type type, int coordinate,
                         lw_place place) {
    char name[2 * LW_MAX_NAME];
    (void)snprintf(name, sizeof name, "%.70s_%s", joint,
                   lw_joint_type_turns(type, coordinate) ? "torque" : "force");
    const char *input = lw_import_word(importer, name);
    lw_import_check(importer, lw_spec_set_input(importer->spec, input, 0));
    (void)snprintf(name, sizeof name, "%.70s.motor", joint);
    const lw_force_spec drive = {.name = lw_import_own_name(importer, &importer->forces, name),
                                 .type = LW_FORCE_DRIVE,
                                 .joint = joint,
                                 .coordinate = coordinate,
                                 .drive = input,
                                 .place = place};
    lw_import_add_force(importer, &drive);
}

bool lw_import_limits(lw_importer *importer, double lower, double upper, double limits[2], lw_place place,
                      const char *object) {
    const double none = 1e15;
    limits[0] = limits[1] = 0;
    if (!(lower < upper)) {
        lw_import_warning_once(importer, "limits", place, object,
                               "give lower < upper, or make the joint fixed if it shall not move",
                               "limits %g .. %g leave no room to move; the joint moves without limits", lower,
                               upper);
        return false;
    }
    if (lower <= -none && upper >= none) return true;
    limits[0] = lower <= -none ? -HUGE_VAL : lower;
    limits[1] = upper >= none ? HUGE_VAL : upper;
    return true;
}

/* --- shapes --------------------------------------------------------------------------------------- */

int lw_import_colour(const double rgb[3]) {
    int colour = LW_COLOUR;
    for (int k = 0; k < 3; k++) {
        const double part = rgb[k] < 0 ? 0 : rgb[k] > 1 ? 1 : rgb[k];
        colour |= (int)(255 * part + 0.5) << (8 * (2 - k));
    }
    return colour;
}

static bool has_extent(const lw_shape *shape) {
    static const int sizes[LW_SHAPE_KINDS] = {
        [LW_SHAPE_BOX] = 3,  [LW_SHAPE_CYLINDER] = 2, [LW_SHAPE_SPHERE] = 1,
        [LW_SHAPE_CONE] = 2, [LW_SHAPE_CAPSULE] = 2,  [LW_SHAPE_ELLIPSOID] = 3};
    for (int k = 0; k < sizes[shape->kind]; k++)
        if (!(shape->size[k] > 0)) return false;
    if (shape->kind == LW_SHAPE_MESH)
        return shape->mesh && shape->size[0] != 0 && shape->size[1] != 0 && shape->size[2] != 0;
    return true;
}

void lw_import_add_shape(lw_importer *importer, lw_shape_list *list, const lw_shape *shape,
                         const lw_pose *pose, lw_place place, const char *object) {
    if (!has_extent(shape)) {
        lw_import_warning(importer, place, object, "give positive sizes",
                          "a shape has no extent and is not drawn");
        return;
    }
    if (list->count == list->room) {
        const int room = 2 * list->room + 4;
        lw_shape *items = LW_NEW(importer->arena, lw_shape, room);
        if (!items) {
            importer->out_of_memory = true;
            return;
        }
        if (list->count > 0) memcpy(items, list->items, (size_t)list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    lw_shape *own = &list->items[list->count++];
    *own = *shape;
    if (shape->kind != LW_SHAPE_ROD && shape->kind != LW_SHAPE_TETRAHEDRON)
        lw_pose_parts(pose, own->position, own->rotation);
}

void lw_import_give_shapes(const lw_shape_list *list, lw_body_spec *body) {
    if (list->count == 1)
        body->shape = list->items[0];
    else if (list->count > 1) {
        body->shape_count = list->count;
        body->shapes = list->items;
    }
}
