/* spec_bytes.c - a spec as bytes, and back: for programs without a reader of model files.
 *
 *     "linkwork"   8 bytes
 *     version      u32
 *     length       u64, of all bytes from the first to the checksum
 *     contents     below
 *     checksum     u32, CRC-32 of everything before it
 *
 * Integers are little-endian; numbers are IEEE 754 binary64, their bits as a u64. A text is a u32, 1 + its
 * length, or 0 for none, and its bytes. Lists begin with a u32 count. Contents: name, file, gravity, welds,
 * run; parameters and inputs; tables; bodies with their shapes (a mesh stands where it is used first, and is
 * counted from 1; 0 is none), frames, joints, forces, constraints with their places; events, signals, states,
 * outputs, starts; bindings (bindings.h). Fields of objects that hold numbers are counted through in the
 * order of the tables below, which is how a binding names its results.
 *
 * One walk describes the format and measures, writes and reads it. Reading checks every enumeration, count
 * and index, so that bytes of any origin are either refused or become a spec that the compiler can judge.
 * Memory is taken in proportion to the bytes. Cost O(size).
 */
#include "core/checksum.h"
#include "model/spec/bindings.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"
#include "model/spec/spec_walk.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 3, HEAD = 20, TAIL = 4 };

static const char magic[8] = {'l', 'i', 'n', 'k', 'w', 'o', 'r', 'k'};

/* --- fields that hold numbers --------------------------------------------------------------------- */

typedef struct field {
    size_t offset, count;
} field;

#define FIELD(type, member)                                                                                  \
    { offsetof(type, member), sizeof(((type *)0)->member) / sizeof(double) }

static const field run_fields[] = {FIELD(lw_run_spec, end),       FIELD(lw_run_spec, step),
                                   FIELD(lw_run_spec, tolerance), FIELD(lw_run_spec, output),
                                   FIELD(lw_run_spec, baumgarte), {0, 0}};
static const field body_fields[] = {FIELD(lw_body_spec, mass),           FIELD(lw_body_spec, com),
                                    FIELD(lw_body_spec, inertia),        FIELD(lw_body_spec, position),
                                    FIELD(lw_body_spec, rotation),       FIELD(lw_body_spec, shape.size),
                                    FIELD(lw_body_spec, shape.position), FIELD(lw_body_spec, shape.rotation),
                                    FIELD(lw_body_spec, shape.points),   {0, 0}};
static const field shape_fields[] = {FIELD(lw_shape, size),
                                     FIELD(lw_shape, position),
                                     FIELD(lw_shape, rotation),
                                     FIELD(lw_shape, points),
                                     FIELD(lw_shape, mass),
                                     FIELD(lw_shape, density),
                                     {0, 0}};
enum { SHAPE_NUMBERS = 3 + 3 + 4 + 12 + 1 + 1 };
static const field joint_fields[] = {FIELD(lw_joint_spec, geometry[0].point),
                                     FIELD(lw_joint_spec, geometry[0].axes),
                                     FIELD(lw_joint_spec, geometry[1].point),
                                     FIELD(lw_joint_spec, geometry[1].axes),
                                     FIELD(lw_joint_spec, lead),
                                     FIELD(lw_joint_spec, q),
                                     FIELD(lw_joint_spec, v),
                                     FIELD(lw_joint_spec, armature),
                                     FIELD(lw_joint_spec, zero),
                                     FIELD(lw_joint_spec, limits),
                                     FIELD(lw_joint_spec, stop_stiffness),
                                     FIELD(lw_joint_spec, stop_damping),
                                     FIELD(lw_joint_spec, stop_restitution),
                                     FIELD(lw_joint_spec, compliance),
                                     {0, 0}};
enum { JOINT_USUAL = 7 }; /* Fields behind these are written only where one is not zero. */
static const field force_fields[] = {FIELD(lw_force_spec, points),
                                     FIELD(lw_force_spec, rotation),
                                     FIELD(lw_force_spec, stiffness),
                                     FIELD(lw_force_spec, damping),
                                     FIELD(lw_force_spec, free_length),
                                     FIELD(lw_force_spec, bushing_stiffness),
                                     FIELD(lw_force_spec, bushing_damping),
                                     FIELD(lw_force_spec, viscous),
                                     FIELD(lw_force_spec, coulomb),
                                     FIELD(lw_force_spec, smoothing),
                                     FIELD(lw_force_spec, limit),
                                     FIELD(lw_force_spec, contact.on[0].axis),
                                     FIELD(lw_force_spec, contact.on[0].rotation),
                                     FIELD(lw_force_spec, contact.on[0].size),
                                     FIELD(lw_force_spec, contact.on[0].radius),
                                     FIELD(lw_force_spec, contact.on[0].length),
                                     FIELD(lw_force_spec, contact.on[1].axis),
                                     FIELD(lw_force_spec, contact.on[1].rotation),
                                     FIELD(lw_force_spec, contact.on[1].size),
                                     FIELD(lw_force_spec, contact.on[1].radius),
                                     FIELD(lw_force_spec, contact.on[1].length),
                                     FIELD(lw_force_spec, contact.stiffness),
                                     FIELD(lw_force_spec, contact.exponent),
                                     FIELD(lw_force_spec, contact.damping),
                                     FIELD(lw_force_spec, contact.friction),
                                     FIELD(lw_force_spec, contact.smoothing),
                                     {0, 0}};
enum { FORCE_USUAL = 11 }; /* Fields behind these are those of contacts. */
static const field constraint_fields[] = {
    FIELD(lw_constraint_spec, points),     FIELD(lw_constraint_spec, length),
    FIELD(lw_constraint_spec, radius),     FIELD(lw_constraint_spec, axis),
    FIELD(lw_constraint_spec, normal),     FIELD(lw_constraint_spec, factors),
    FIELD(lw_constraint_spec, offset),     FIELD(lw_constraint_spec, about),
    FIELD(lw_constraint_spec, polynomial), {0, 0}};
enum { CONSTRAINT_USUAL = 7 }; /* As of joints. */
static const field frame_fields[] = {FIELD(lw_frame_spec, position), FIELD(lw_frame_spec, rotation), {0, 0}};
static const field part_fields[] = {FIELD(lw_part_spec, position), FIELD(lw_part_spec, rotation), {0, 0}};
static const field start_fields[] = {FIELD(lw_start_spec, q), FIELD(lw_start_spec, v), {0, 0}};
static const field state_fields[] = {FIELD(lw_state_spec, start), {0, 0}};
static const field gravity_fields[] = {{0, 3}, {0, 0}}, input_fields[] = {{0, 1}, {0, 0}};

static const field *const owner_fields[LW_OWNERS] = {
    [LW_OWNER_GRAVITY] = gravity_fields,       [LW_OWNER_RUN] = run_fields,
    [LW_OWNER_INPUT] = input_fields,           [LW_OWNER_BODY] = body_fields,
    [LW_OWNER_JOINT] = joint_fields,           [LW_OWNER_FORCE] = force_fields,
    [LW_OWNER_CONSTRAINT] = constraint_fields, [LW_OWNER_STATE] = state_fields,
    [LW_OWNER_SHAPES] = shape_fields,          [LW_OWNER_FRAME] = frame_fields,
    [LW_OWNER_START] = start_fields,           [LW_OWNER_PART] = part_fields,
};

static void walk_field(lw_spec_walk *w, const field *one, void *object) {
    lw_walk_numbers(w, (double *)(void *)((char *)object + one->offset), one->count);
}
static void walk_fields(lw_spec_walk *w, const field *fields, void *object) {
    for (; fields->count; fields++) walk_field(w, fields, object);
}

/* Is some number in these fields other than zero, by its bits? */
static bool any_in(const field *fields, const void *object) {
    static const double zero;
    for (; fields->count; fields++)
        for (size_t k = 0; k < fields->count; k++)
            if (memcmp((const char *)object + fields->offset + k * sizeof zero, &zero, sizeof zero) != 0)
                return true;
    return false;
}

/* The number of the field at this offset. */
static int field_at(const field *fields, int offset) {
    int number = 0;
    for (; fields->count; number += (int)fields->count, fields++) {
        size_t first = fields->offset, end = first + fields->count * sizeof(double);
        if ((size_t)offset >= first && (size_t)offset < end)
            return number + (int)(((size_t)offset - first) / sizeof(double));
    }
    return -1;
}

/* The offset of the field with this number if `count` adjacent numbers begin there, otherwise -1. */
static int offset_of(const field *fields, int number, int count) {
    int offset = -1;
    for (; fields->count && count > 0; number -= (int)fields->count, fields++) {
        if (number >= (int)fields->count) continue;
        if (number < 0) return -1;
        size_t at = fields->offset + (size_t)number * sizeof(double);
        int here = (int)fields->count - number;
        if (offset >= 0 && (size_t)offset != at) return -1; /* The numbers are not adjacent. */
        if (offset < 0) offset = (int)at;
        if (here >= count) return offset;
        return offset_of(fields + 1, 0, count - here) == (int)(at + (size_t)here * sizeof(double)) ? offset
                                                                                                   : -1;
    }
    return -1;
}

/* --- objects -------------------------------------------------------------------------------------- */

static void walk_run(lw_spec_walk *w, lw_run_spec *run) {
    walk_fields(w, run_fields, run);
    lw_walk_text(w, &run->method);
    lw_walk_text(w, &run->integrator);
    lw_walk_text(w, &run->drift);
    lw_walk_text(w, &run->independent);
    lw_walk_text(w, &run->reactions);
    lw_walk_text(w, &run->begin);
    lw_walk_place(w, &run->place);
}

/* Remembers a mesh as the last of those that have occurred. */
static void remember_mesh(lw_spec_walk *w, const lw_mesh_spec *mesh) {
    if (w->mesh_count == w->mesh_capacity) {
        size_t capacity = 2 * w->mesh_capacity + 8;
        const lw_mesh_spec **longer = realloc((void *)w->meshes, capacity * sizeof *longer);
        if (!longer) {
            w->failed = true;
            return;
        }
        w->meshes = longer;
        w->mesh_capacity = capacity;
    }
    w->meshes[w->mesh_count++] = mesh;
}

/* Reads or writes vertices, triangles and file of a mesh that has not occurred yet. */
static void walk_new_mesh(lw_spec_walk *w, const lw_mesh_spec **mesh) {
    lw_mesh_spec own = lw_walk_reading(w) ? (lw_mesh_spec){0} : **mesh;
    size_t vertices = own.vertices ? (size_t)own.vertex_count : 0;
    size_t triangles = own.triangles ? (size_t)own.triangle_count : 0;
    lw_walk_text(w, &own.file);
    vertices = lw_walk_count(w, vertices, 3 * sizeof(double));
    triangles = lw_walk_count(w, triangles, 3 * 4);
    double *numbers = (double *)(void *)own.vertices;
    int *corners = (int *)(void *)own.triangles;
    if (lw_walk_reading(w)) {
        numbers = LW_NEW(w->spec->arena, double, 3 * vertices + 1);
        corners = LW_NEW(w->spec->arena, int, 3 * triangles + 1);
        lw_mesh_spec *copy = LW_NEW(w->spec->arena, lw_mesh_spec, 1);
        lw_walk_demand(w, !lw_arena_failed(w->spec->arena) && vertices <= INT_MAX / 3 &&
                              triangles <= INT_MAX / 3);
        if (w->failed) return;
        own.vertex_count = (int)vertices, own.triangle_count = (int)triangles;
        own.vertices = numbers, own.triangles = corners;
        *copy = own;
        *mesh = copy;
    }
    if (numbers) lw_walk_numbers(w, numbers, 3 * vertices);
    for (size_t k = 0; k < 3 * triangles && !w->failed; k++) {
        int corner = corners[k];
        lw_walk_int(w, &corner, INT_MIN, INT_MAX);
        lw_walk_demand(w, corner >= 0 && (size_t)corner < vertices);
        if (lw_walk_reading(w)) corners[k] = corner;
    }
    remember_mesh(w, *mesh);
    if (lw_walk_reading(w) && !w->failed && !lw_mesh_enter(&w->spec->meshes, w->spec->arena, *mesh))
        w->failed = true;
}

static void walk_mesh(lw_spec_walk *w, const lw_mesh_spec **mesh) {
    uint64_t number = 0;
    if (!lw_walk_reading(w) && *mesh) {
        size_t k = 0;
        while (k < w->mesh_count && w->meshes[k] != *mesh) k++;
        number = k + 1;
    }
    lw_walk_integer(w, &number, 4);
    lw_walk_demand(w, number <= w->mesh_count + 1);
    if (w->failed || number == 0) {
        if (lw_walk_reading(w)) *mesh = NULL;
    } else if (number <= w->mesh_count) {
        *mesh = w->meshes[number - 1];
    } else {
        walk_new_mesh(w, mesh);
    }
}

static void walk_shape(lw_spec_walk *w, lw_shape *shape) {
    LW_WALK_ENUM(w, shape->kind, lw_shape_kind, LW_SHAPE_KINDS);
    walk_fields(w, shape_fields, shape);
    lw_walk_int(w, &shape->colour, 0, LW_COLOUR | 0xFFFFFF);
    lw_walk_flag(w, &shape->has_mass);
    walk_mesh(w, &shape->mesh);
}

static void walk_body(lw_spec_walk *w, lw_body_spec *body) {
    enum { LEAST_SHAPE = 4 + 8 * SHAPE_NUMBERS + 4 + 4 + 4 };
    lw_walk_name(w, &body->name);
    LW_WALK_ENUM(w, body->kind, lw_body_kind, LW_BODY_POINT + 1);
    LW_WALK_ENUM(w, body->shape.kind, lw_shape_kind, LW_SHAPE_KINDS);
    lw_walk_flag(w, &body->has_pose);
    walk_fields(w, body_fields, body);
    lw_walk_int(w, &body->shape.colour, 0, LW_COLOUR | 0xFFFFFF);
    walk_mesh(w, &body->shape.mesh);
    size_t count = lw_walk_count(w, body->shapes ? (size_t)body->shape_count : 0, LEAST_SHAPE);
    if (lw_walk_reading(w)) {
        lw_shape *shapes = LW_NEW(w->spec->arena, lw_shape, count + 1);
        lw_walk_demand(w, shapes && count <= INT_MAX);
        body->shape_count = w->failed ? 0 : (int)count;
        body->shapes = body->shape_count > 0 ? shapes : NULL;
    }
    for (int k = 0; (size_t)k < count && !w->failed; k++) {
        lw_shape shape = body->shapes[k];
        walk_shape(w, &shape);
        if (lw_walk_reading(w)) ((lw_shape *)(void *)body->shapes)[k] = shape;
    }
    lw_walk_place(w, &body->place);
}

static void walk_frame(lw_spec_walk *w, lw_frame_spec *frame) {
    lw_walk_name(w, &frame->name);
    lw_walk_text(w, &frame->body);
    walk_fields(w, frame_fields, frame);
    lw_walk_place(w, &frame->place);
}

static void walk_part(lw_spec_walk *w, lw_part_spec *part) {
    lw_walk_name(w, &part->name);
    lw_walk_text(w, &part->file);
    LW_WALK_ENUM(w, part->mirror, lw_mirror, LW_MIRRORS);
    walk_fields(w, part_fields, part);
    lw_walk_place(w, &part->place);
}

static void walk_joint(lw_spec_walk *w, lw_joint_spec *joint) {
    lw_walk_name(w, &joint->name);
    LW_WALK_ENUM(w, joint->type, lw_joint_type, lw_joint_descriptor_count);
    LW_WALK_ENUM(w, joint->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) {
        lw_walk_text(w, &joint->bodies[side]);
        lw_walk_int(w, &joint->geometry[side].axis_count, 0, 3);
    }
    lw_walk_flag(w, &joint->at_frames);
    lw_walk_flag(w, &joint->has_q);
    lw_walk_flag(w, &joint->has_v);
    lw_walk_flag(w, &joint->cut);
    LW_WALK_ENUM(w, joint->stop, lw_stop_kind, LW_STOP_KINDS);
    for (int k = 0; k < JOINT_USUAL; k++) walk_field(w, &joint_fields[k], joint);
    bool more = !lw_walk_reading(w) && any_in(joint_fields + JOINT_USUAL, joint);
    lw_walk_flag(w, &more);
    if (more) walk_fields(w, joint_fields + JOINT_USUAL, joint);
    for (int k = 0; k < LW_JOINT_MAX_V; k++) lw_walk_text(w, &joint->motion[k]);
    lw_walk_place(w, &joint->place);
}

static void walk_column(lw_spec_walk *w, const double **column, int size) {
    bool present = *column && size > 0;
    double *values = (double *)(void *)*column;
    lw_walk_flag(w, &present);
    if (lw_walk_reading(w)) {
        lw_walk_demand(w, !present || (size > 0 && (size_t)size <= lw_walk_left(w) / sizeof(double)));
        values = present && !w->failed ? LW_NEW(w->spec->arena, double, size) : NULL;
        if (present && !values) w->failed = true;
        *column = values;
    }
    if (present && values && !w->failed) lw_walk_numbers(w, values, (size_t)size);
}

static void walk_table(lw_spec_walk *w, lw_table_spec *table) {
    lw_walk_name(w, &table->name);
    LW_WALK_ENUM(w, table->interpolation, lw_interpolation, LW_INTERPOLATIONS);
    LW_WALK_ENUM(w, table->beyond, lw_beyond, LW_BEYONDS);
    lw_walk_int(w, &table->size, INT_MIN, INT_MAX);
    walk_column(w, &table->x, table->size);
    walk_column(w, &table->y, table->size);
    lw_walk_text(w, &table->file);
    lw_walk_text(w, &table->x_column);
    lw_walk_text(w, &table->y_column);
    lw_walk_place(w, &table->place);
}

static void walk_force(lw_spec_walk *w, lw_force_spec *force) {
    lw_walk_name(w, &force->name);
    LW_WALK_ENUM(w, force->type, lw_force_type, LW_FORCE_TYPES);
    LW_WALK_ENUM(w, force->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) lw_walk_text(w, &force->bodies[side]);
    lw_walk_text(w, &force->joint);
    lw_walk_int(w, &force->coordinate, INT_MIN, INT_MAX);
    lw_walk_flag(w, &force->has_free_length);
    lw_walk_flag(w, &force->follows_body);
    for (int k = 0; k < FORCE_USUAL; k++) walk_field(w, &force_fields[k], force);
    if (force->type == LW_FORCE_CONTACT) {
        LW_WALK_ENUM(w, force->contact.surface, lw_contact_surface, LW_SURFACES);
        LW_WALK_ENUM(w, force->contact.shape, lw_contact_shape, LW_TOUCHES);
        lw_walk_flag(w, &force->contact.inside);
        walk_fields(w, force_fields + FORCE_USUAL, force);
    }
    lw_walk_text(w, &force->law.expression);
    lw_walk_flag(w, &force->law.smooth);
    lw_walk_int(w, &force->law.table_size, INT_MIN, INT_MAX);
    walk_column(w, &force->law.table_x, force->law.table_size);
    walk_column(w, &force->law.table_y, force->law.table_size);
    for (int k = 0; k < 3; k++) lw_walk_text(w, &force->force[k]);
    for (int k = 0; k < 3; k++) lw_walk_text(w, &force->torque[k]);
    lw_walk_text(w, &force->drive);
    lw_walk_place(w, &force->place);
}

static void walk_constraint(lw_spec_walk *w, lw_constraint_spec *constraint) {
    lw_walk_name(w, &constraint->name);
    LW_WALK_ENUM(w, constraint->type, lw_constraint_type, LW_CONSTRAINT_TYPES);
    LW_WALK_ENUM(w, constraint->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) lw_walk_text(w, &constraint->bodies[side]);
    lw_walk_int(w, &constraint->terms, INT_MIN, INT_MAX);
    for (int k = 0; k < CONSTRAINT_USUAL; k++) walk_field(w, &constraint_fields[k], constraint);
    bool more = !lw_walk_reading(w) && any_in(constraint_fields + CONSTRAINT_USUAL, constraint);
    for (int k = 0; k < LW_COUPLING_MAX; k++) {
        lw_walk_text(w, &constraint->joints[k]);
        lw_walk_int(w, &constraint->coordinates[k], INT_MIN, INT_MAX);
        more = more || (!lw_walk_reading(w) && (constraint->polynomial_size[k] || constraint->tables[k]));
    }
    lw_walk_flag(w, &more);
    if (more) walk_fields(w, constraint_fields + CONSTRAINT_USUAL, constraint);
    for (int k = 0; k < LW_COUPLING_MAX && more; k++) {
        lw_walk_text(w, &constraint->tables[k]);
        lw_walk_int(w, &constraint->polynomial_size[k], INT_MIN, INT_MAX);
    }
    lw_walk_place(w, &constraint->place);
}

static void walk_event(lw_spec_walk *w, lw_event_spec *event) {
    lw_walk_name(w, &event->name);
    lw_walk_text(w, &event->when);
    lw_walk_int(w, &event->direction, -1, 1);
    LW_WALK_ENUM(w, event->action, lw_event_action, LW_ACTIONS);
    lw_walk_int(w, &event->set_count, 0, LW_EVENT_SETS);
    for (int k = 0; k < event->set_count && !w->failed; k++) {
        lw_walk_text(w, &event->sets[k].name);
        lw_walk_text(w, &event->sets[k].value);
    }
    lw_walk_text(w, &event->joint);
    lw_walk_int(w, &event->coordinate, INT_MIN, INT_MAX);
    lw_walk_text(w, &event->factor);
    lw_walk_place(w, &event->place);
}

static void walk_parameter(lw_spec_walk *w, lw_parameter *parameter) {
    lw_walk_name(w, &parameter->name);
    lw_walk_numbers(w, &parameter->value, 1);
    lw_walk_text(w, &parameter->text);
    uint64_t evaluated = parameter->evaluated;
    lw_walk_integer(w, &evaluated, 4);
    parameter->evaluated = (size_t)evaluated; /* walk_spec checks this index. */
    lw_walk_place(w, &parameter->place);
}

static void walk_signal(lw_spec_walk *w, lw_signal_spec *signal) {
    lw_walk_name(w, &signal->name);
    lw_walk_text(w, &signal->value);
    lw_walk_place(w, &signal->place);
}

static void walk_state(lw_spec_walk *w, lw_state_spec *state) {
    lw_walk_name(w, &state->name);
    lw_walk_text(w, &state->rate);
    walk_fields(w, state_fields, state);
    lw_walk_place(w, &state->place);
}

static void walk_output(lw_spec_walk *w, lw_output_spec *output) {
    lw_walk_name(w, &output->name);
    lw_walk_text(w, &output->value);
    lw_walk_text(w, &output->unit);
    lw_walk_place(w, &output->place);
}

static void walk_start(lw_spec_walk *w, lw_start_spec *start) {
    lw_walk_name(w, &start->name);
    lw_walk_name(w, &start->joint);
    lw_walk_flag(w, &start->has_q);
    lw_walk_flag(w, &start->has_v);
    walk_fields(w, start_fields, start);
    lw_walk_place(w, &start->place);
}

static void walk_body_places(lw_spec_walk *w, lw_body_places *p) {
    lw_place *const places[] = {&p->mass, &p->com, &p->inertia, &p->position, &p->rotation};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) lw_walk_place(w, places[k]);
}

static void walk_joint_places(lw_spec_walk *w, lw_joint_places *p) {
    lw_place *const places[] = {&p->between, &p->lead, &p->q, &p->v, &p->point[0], &p->point[1]};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) lw_walk_place(w, places[k]);
    for (int k = 0; k < 6; k++) lw_walk_place(w, &p->axes[k / 3][k % 3]);
    lw_place *const rare[] = {&p->armature, &p->zero, &p->limits, &p->stop, &p->compliance};
    bool more = false;
    for (int k = 0; k < 4 && !lw_walk_reading(w); k++) more |= rare[k]->line != 0;
    lw_walk_flag(w, &more);
    for (int k = 0; k < 4 && more; k++) lw_walk_place(w, rare[k]);
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* The size of an object of zeros, which is the least size of an object. */
#define LEAST(type, function)                                                                                \
    static size_t least_of_##type(void) {                                                                    \
        lw_spec_walk w = {.archive = {.mode = LW_ARCHIVE_MEASURE}};                                          \
        type object;                                                                                         \
        memset(&object, 0, sizeof object);                                                                   \
        function(&w, &object);                                                                               \
        return w.archive.used;                                                                               \
    }

/* Reads or writes a list of a spec: its count and its objects. Writing does not change the objects. */
#define LIST(name, type, function)                                                                           \
    LEAST(type, function)                                                                                    \
    static void name(lw_spec_walk *w, type **items, size_t *count, size_t *capacity) {                       \
        size_t number = lw_walk_count(w, *count, least_of_##type());                                         \
        if (lw_walk_reading(w)) {                                                                            \
            *items = LW_NEW(w->spec->arena, type, number + 1);                                               \
            if (!*items) w->failed = true;                                                                   \
            *count = *capacity = w->failed ? 0 : number;                                                     \
        }                                                                                                    \
        for (size_t k = 0; k < *count && !w->failed; k++) {                                                  \
            type object = (*items)[k];                                                                       \
            function(w, &object);                                                                            \
            if (lw_walk_reading(w)) (*items)[k] = object;                                                    \
        }                                                                                                    \
    }

LIST(walk_parameters, lw_parameter, walk_parameter)
LIST(walk_table_list, lw_table_spec, walk_table)
LIST(walk_bodies, lw_body_spec, walk_body)
LIST(walk_frames, lw_frame_spec, walk_frame)
LIST(walk_parts, lw_part_spec, walk_part)
LIST(walk_joints, lw_joint_spec, walk_joint)
LIST(walk_forces, lw_force_spec, walk_force)
LIST(walk_constraints, lw_constraint_spec, walk_constraint)
LIST(walk_events, lw_event_spec, walk_event)
LIST(walk_signals, lw_signal_spec, walk_signal)
LIST(walk_states, lw_state_spec, walk_state)
LIST(walk_outputs, lw_output_spec, walk_output)
LIST(walk_starts, lw_start_spec, walk_start)
LIST(walk_all_body_places, lw_body_places, walk_body_places)
LIST(walk_all_joint_places, lw_joint_places, walk_joint_places)

/* --- bindings ------------------------------------------------------------------------------------- */

static size_t owners(const lw_spec *spec, lw_binding_owner owner) {
    switch (owner) {
    case LW_OWNER_INPUT:
        return spec->input_count;
    case LW_OWNER_BODY:
    case LW_OWNER_SHAPES:
        return spec->body_count;
    case LW_OWNER_JOINT:
        return spec->joint_count;
    case LW_OWNER_FORCE:
    case LW_OWNER_TABLE_X:
    case LW_OWNER_TABLE_Y:
        return spec->force_count;
    case LW_OWNER_CONSTRAINT:
        return spec->constraint_count;
    case LW_OWNER_POINTS_X:
    case LW_OWNER_POINTS_Y:
        return spec->table_count;
    case LW_OWNER_STATE:
        return spec->state_count;
    case LW_OWNER_FRAME:
        return spec->frame_count;
    case LW_OWNER_START:
        return spec->start_count;
    case LW_OWNER_PART:
        return spec->part_count;
    case LW_OWNER_NONE:
    case LW_OWNER_GRAVITY:
    case LW_OWNER_RUN:
    case LW_OWNERS:
        break;
    }
    return 1;
}

/* Sets the offset of the results from the number of their field, after reading. */
static void place_results(lw_spec_walk *w, lw_binding *b, int number) {
    int count = lw_binding_results(b->kind);
    const bool column = lw_binding_has_column(b->owner);
    lw_walk_demand(w, (b->kind == LW_BIND_STRUCTURE) == (b->owner == LW_OWNER_NONE));
    lw_walk_demand(w, b->object >= 0 && (size_t)b->object < owners(w->spec, b->owner));
    lw_walk_demand(w, !column || b->kind == LW_BIND_NUMBER);
    lw_walk_demand(w, b->kind != LW_BIND_SHAPE || (b->owner == LW_OWNER_BODY && number == 0));
    if (w->failed || b->owner == LW_OWNER_NONE) return;
    if (column) {
        int size = 0;
        b->table = lw_binding_column(w->spec, b->owner, (size_t)b->object, &size);
        lw_walk_demand(w, b->table && number >= 0 && number < size && number < INT_MAX / 8);
        b->offset = w->failed ? 0 : number * (int)sizeof(double);
        return;
    }
    int shape = 0;
    if (b->owner == LW_OWNER_SHAPES) {
        int size = 0;
        b->table = lw_binding_column(w->spec, b->owner, (size_t)b->object, &size);
        shape = number / SHAPE_NUMBERS, number %= SHAPE_NUMBERS;
        lw_walk_demand(w, b->table && shape < size && shape < INT_MAX / (int)sizeof(lw_shape) - 1);
    }
    if (w->failed) return;
    b->offset = offset_of(owner_fields[b->owner], number, count);
    lw_walk_demand(w, b->offset >= 0);
    if (!w->failed) b->offset += shape * (int)sizeof(lw_shape);
}

static void walk_binding(lw_spec_walk *w, lw_binding *b) {
    const bool column = lw_binding_has_column(b->owner);
    LW_WALK_ENUM(w, b->kind, lw_binding_kind, LW_BIND_KINDS);
    LW_WALK_ENUM(w, b->owner, lw_binding_owner, LW_OWNERS);
    LW_WALK_ENUM(w, b->rule, lw_binding_rule, LW_RULES);
    int kept = (int)b->kept, number = 0;
    lw_walk_int(w, &kept, 0, (1 << LW_MAX_RESULTS) - 1);
    b->kept = (unsigned)kept;
    lw_walk_int(w, &b->object, 0, INT_MAX);
    if (!lw_walk_reading(w) && b->owner == LW_OWNER_SHAPES)
        number = b->offset / (int)sizeof(lw_shape) * SHAPE_NUMBERS +
                 field_at(shape_fields, b->offset % (int)sizeof(lw_shape));
    else if (!lw_walk_reading(w) && b->owner != LW_OWNER_NONE)
        number = column ? b->offset / (int)sizeof(double) : field_at(owner_fields[b->owner], b->offset);
    lw_walk_int(w, &number, 0, INT_MAX);
    lw_walk_place(w, &b->place);
    if (lw_walk_reading(w)) place_results(w, b, number);
}

/* Returns whether a binding still has a target; one whose table the caller has replaced has none. */
static bool lives(const lw_spec *spec, const lw_binding *b) {
    return b->owner == LW_OWNER_NONE || lw_binding_location(spec, b);
}

static void walk_binding_data(lw_spec_walk *w, lw_bindings *all, lw_binding *b) {
    for (int k = 0; k < lw_binding_operands(b->kind) && !w->failed; k++) {
        lw_operand operand = all->operands[b->operand + k];
        lw_walk_text(w, &operand.text);
        lw_walk_numbers(w, &operand.value, 1);
        if (lw_walk_reading(w)) all->operands[b->operand + k] = operand;
    }
    lw_walk_demand(w, b->kind != LW_BIND_STRUCTURE || all->operands[b->operand].text);
    lw_walk_numbers(w, all->written + b->result, (size_t)lw_binding_results(b->kind));
    if (b->kind != LW_BIND_SHAPE) return;
    lw_body_spec shadow = all->shadows[b->shadow];
    walk_body(w, &shadow);
    /* The bindings of its shapes write there, too. */
    lw_walk_demand(w, shadow.shape_count == w->spec->bodies[b->object].shape_count);
    if (lw_walk_reading(w)) all->shadows[b->shadow] = shadow;
}

static void walk_bindings(lw_spec_walk *w, lw_bindings *all) {
    enum { LEAST_BINDING = 32 };
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++) count += lives(w->spec, &all->items[k]);
    count = lw_walk_count(w, count, LEAST_BINDING);
    if (lw_walk_reading(w)) {
        lw_arena *arena = w->spec->arena;
        all->items = LW_NEW(arena, lw_binding, count + 1);
        if (!all->items) w->failed = true;
        all->count = all->capacity = w->failed ? 0 : count;
        size_t operands = 0, results = 0, shadows = 0;
        for (size_t k = 0; k < all->count && !w->failed; k++) {
            lw_binding *b = &all->items[k];
            walk_binding(w, b);
            b->operand = (int)operands, b->result = (int)results, b->shadow = -1;
            if (b->kind == LW_BIND_SHAPE) b->shadow = (int)shadows++;
            operands += (size_t)lw_binding_operands(b->kind), results += (size_t)lw_binding_results(b->kind);
        }
        /* Each operand takes at least 12 bytes and each result 8; the indices must be ints. */
        lw_walk_demand(w, operands <= lw_walk_left(w) / 12 && results <= lw_walk_left(w) / 8 &&
                              operands + results < INT_MAX);
        if (w->failed) return;
        all->operands = LW_NEW(arena, lw_operand, operands + 1);
        all->written = LW_NEW(arena, double, results + 1);
        all->shadows = LW_NEW(arena, lw_body_spec, shadows + 1);
        if (lw_arena_failed(arena)) {
            w->failed = true;
            return;
        }
        all->operand_count = all->operand_capacity = operands;
        all->written_count = all->written_capacity = results;
        all->shadow_count = all->shadow_capacity = shadows;
    } else {
        for (size_t k = 0; k < all->count; k++) {
            lw_binding b = all->items[k];
            if (lives(w->spec, &b)) walk_binding(w, &b);
        }
    }
    for (size_t k = 0; k < all->count && !w->failed; k++)
        if (lives(w->spec, &all->items[k])) walk_binding_data(w, all, &all->items[k]);
}

/* Tables, and that they have the points that they were saved with. */
static void walk_tables(lw_spec_walk *w) {
    lw_spec *spec = w->spec;
    walk_table_list(w, &spec->tables, &spec->table_count, &spec->table_capacity);
    if (lw_walk_reading(w)) {
        spec->table_sources = LW_NEW(spec->arena, lw_table_source, spec->table_count + 1);
        spec->table_source_capacity = spec->table_count;
        if (!spec->table_sources) w->failed = true;
    }
    for (size_t k = 0; k < spec->table_count && !w->failed; k++) {
        const lw_table_spec *table = &spec->tables[k];
        bool own = !lw_walk_reading(w) && lw_spec_table_is_of_file(spec, k);
        lw_walk_flag(w, &own);
        if (lw_walk_reading(w) && own)
            spec->table_sources[k] = (lw_table_source){table->x, table->y, table->size};
    }
}

/* --- the whole ------------------------------------------------------------------------------------ */

static void walk_spec(lw_spec_walk *w) {
    lw_spec *spec = w->spec;
    const char *name = spec->name, *file = spec->file;
    lw_run_spec run = spec->run;
    lw_walk_name(w, &name);
    lw_walk_name(w, &file);
    lw_walk_numbers(w, spec->gravity, 3);
    LW_WALK_ENUM(w, spec->welds, lw_welds, LW_WELDS_KEEP + 1);
    walk_run(w, &run);
    if (lw_walk_reading(w)) spec->name = name, spec->file = file, spec->run = run;
    walk_parameters(w, &spec->parameters, &spec->parameter_count, &spec->parameter_capacity);
    for (size_t k = 0; k < spec->parameter_count; k++)
        lw_walk_demand(w, spec->parameters[k].evaluated < spec->parameter_count);
    walk_parameters(w, &spec->inputs, &spec->input_count, &spec->input_capacity);
    walk_tables(w);
    walk_bodies(w, &spec->bodies, &spec->body_count, &spec->body_capacity);
    walk_frames(w, &spec->frames, &spec->frame_count, &spec->frame_capacity);
    walk_parts(w, &spec->parts, &spec->part_count, &spec->part_capacity);
    walk_joints(w, &spec->joints, &spec->joint_count, &spec->joint_capacity);
    walk_forces(w, &spec->forces, &spec->force_count, &spec->force_capacity);
    walk_constraints(w, &spec->constraints, &spec->constraint_count, &spec->constraint_capacity);
    walk_events(w, &spec->events, &spec->event_count, &spec->event_capacity);
    walk_signals(w, &spec->signals, &spec->signal_count, &spec->signal_capacity);
    walk_states(w, &spec->states, &spec->state_count, &spec->state_capacity);
    walk_outputs(w, &spec->outputs, &spec->output_count, &spec->output_capacity);
    walk_starts(w, &spec->starts, &spec->start_count, &spec->start_capacity);
    walk_all_body_places(w, &spec->body_places, &spec->body_place_count, &spec->body_place_capacity);
    walk_all_joint_places(w, &spec->joint_places, &spec->joint_place_count, &spec->joint_place_capacity);
    lw_walk_demand(w, spec->body_place_count <= spec->body_count &&
                          spec->joint_place_count <= spec->joint_count);
    if (!w->failed) walk_bindings(w, &spec->bindings);
    if (lw_walk_reading(w)) spec->evaluated_count = spec->parameter_count;
}

static void walk_head(lw_spec_walk *w, uint64_t *version, uint64_t *length) {
    char mark[sizeof magic];
    memcpy(mark, magic, sizeof magic);
    lw_archive_bytes(&w->archive, mark, sizeof mark);
    lw_walk_demand(w, memcmp(mark, magic, sizeof magic) == 0);
    lw_walk_integer(w, version, 4);
    lw_walk_integer(w, length, 8);
}

lw_status lw_spec_save(const lw_spec *spec, void *buffer, size_t size, size_t *needed) {
    if (needed) *needed = 0;
    if (!spec) return LW_ERROR_ARGUMENT;
    lw_spec copy = *spec; /* A walk may change its spec when reading. */
    lw_spec_walk measure = {.archive = {.mode = LW_ARCHIVE_MEASURE}, .spec = &copy};
    walk_spec(&measure);
    size_t total = HEAD + measure.archive.used + TAIL;
    free((void *)measure.meshes);
    if (measure.failed) return LW_ERROR_MEMORY;
    if (needed) *needed = total;
    if (!buffer) return LW_OK;
    if (size < total) return LW_ERROR_ARGUMENT;
    uint64_t version = VERSION, length = total, sum;
    lw_spec_walk w = {.archive = {.mode = LW_ARCHIVE_WRITE, .bytes = buffer, .size = total}, .spec = &copy};
    walk_head(&w, &version, &length);
    walk_spec(&w);
    free((void *)w.meshes);
    if (w.failed) return LW_ERROR_MEMORY;
    sum = lw_crc32(buffer, total - TAIL);
    lw_walk_integer(&w, &sum, TAIL);
    return LW_OK;
}

lw_status lw_spec_load(const void *bytes, size_t size, lw_spec **out, lw_error *error) {
    if (!out) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a place for the spec", "there is none");
    *out = NULL;
    uint64_t version = 0, length = 0, sum = 0;
    lw_spec_walk head = {.archive = {.mode = LW_ARCHIVE_READ, .bytes = (unsigned char *)bytes, .size = size}};
    if (bytes && size >= HEAD + TAIL) walk_head(&head, &version, &length);
    if (!bytes || size < HEAD + TAIL || head.failed)
        return lw_fail(error, LW_ERROR_FILE, NULL, "give the bytes that lw_spec_save has written",
                       "these %zu bytes are no saved model", bytes ? size : 0);
    if (length != size)
        return lw_fail(error, LW_ERROR_FILE, NULL,
                       "give all bytes that lw_spec_save has written, and no others",
                       "the saved model has %llu bytes, but %zu are given", (unsigned long long)length, size);
    lw_spec_walk tail = {
        .archive = {
            .mode = LW_ARCHIVE_READ, .bytes = (unsigned char *)bytes, .size = size, .used = size - TAIL}};
    lw_walk_integer(&tail, &sum, TAIL);
    if (sum != lw_crc32(bytes, size - TAIL))
        return lw_fail(error, LW_ERROR_FILE, NULL, "save it again",
                       "the saved model is damaged: its checksum differs");
    if (version != VERSION)
        return lw_fail(error, LW_ERROR_FILE, NULL,
                       "this library reads version 3; save the model again with it",
                       "version %llu of saved models is not known", (unsigned long long)version);
    lw_spec *spec = lw_spec_create(NULL);
    char *text = spec ? LW_NEW(spec->arena, char, size + 1) : NULL;
    if (!text) {
        lw_spec_destroy(spec);
        return lw_out_of_memory(error);
    }
    lw_spec_walk w = {.archive = {.mode = LW_ARCHIVE_READ,
                                  .bytes = (unsigned char *)bytes,
                                  .size = size - TAIL,
                                  .used = HEAD},
                      .spec = spec,
                      .text = text};
    walk_spec(&w);
    free((void *)w.meshes);
    if (!w.failed && lw_archive_complete(&w.archive)) {
        *out = spec;
        return LW_OK;
    }
    bool memory = lw_arena_failed(spec->arena);
    lw_spec_destroy(spec);
    if (memory) return lw_out_of_memory(error);
    return lw_fail(error, LW_ERROR_FILE, NULL, "save it again with lw_spec_save",
                   "the saved model contradicts itself: a count, an index or a kind in it is impossible");
}
