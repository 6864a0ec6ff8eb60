/* spec_bytes.c - a spec as bytes, and back: for programs without a reader of model files.
 *
 *     "linkwork"   8 bytes
 *     version      u32
 *     length       u64, of all bytes from the first to the checksum
 *     contents     below
 *     checksum     u32, CRC-32 of everything before it
 *
 * Integers are little-endian; numbers are IEEE 754 binary64, their bits as a u64. A text is a u32, 1 + its
 * length, or 0 for none, and its bytes. Lists begin with a u32 count. Contents: name, file, gravity, run;
 * parameters and inputs; tables; bodies, joints, forces, constraints with their places; events, signals,
 * states, outputs; bindings (bindings.h). Fields of objects that hold numbers are counted through in the
 * order of the tables below, which is how a binding names its results.
 *
 * One walk describes the format and measures, writes and reads it. Reading checks every enumeration, count
 * and index, so that bytes of any origin are either refused or become a spec that the compiler can judge.
 * Memory is taken in proportion to the bytes. Cost O(size).
 */
#include "core/archive.h"
#include "core/checksum.h"
#include "model/spec/bindings.h"
#include "model/joint_types.h"
#include "model/spec/spec_storage.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VERSION = 3, HEAD = 20, TAIL = 4 };

static const char magic[8] = {'l', 'i', 'n', 'k', 'w', 'o', 'r', 'k'};

typedef struct walk {
    lw_archive archive;
    lw_spec *spec;
    char *text; /* reading: memory for the remaining texts */
    bool failed;
} walk;

static bool reading(const walk *w) { return w->archive.mode == LW_ARCHIVE_READ; }

/* The number of bytes that have not been read. */
static size_t left(const walk *w) {
    return w->archive.used < w->archive.size ? w->archive.size - w->archive.used : 0;
}

/* Rejects the bytes if a condition on them does not hold. */
static void demand(walk *w, bool condition) {
    if (reading(w) && !condition) w->failed = true;
}

/* --- values --------------------------------------------------------------------------------------- */

static void walk_integer(walk *w, uint64_t *value, int bytes) {
    unsigned char b[8] = {0};
    for (int k = 0; k < bytes; k++) b[k] = (unsigned char)(*value >> 8 * k & 0xFF);
    lw_archive_bytes(&w->archive, b, (size_t)bytes);
    if (!reading(w)) return;
    *value = 0;
    for (int k = 0; k < bytes; k++) *value |= (uint64_t)b[k] << 8 * k;
}

/* Reads or writes an integer, which must lie between least and most. */
static void walk_int(walk *w, int *value, int least, int most) {
    uint64_t bits = (uint32_t)*value;
    walk_integer(w, &bits, 4);
    if (!reading(w)) return;
    int64_t number = bits > INT32_MAX ? (int64_t)bits - ((int64_t)1 << 32) : (int64_t)bits;
    bool good = number >= least && number <= most;
    demand(w, good);
    *value = good ? (int)number : least;
}

static void walk_flag(walk *w, bool *value) {
    int number = *value;
    walk_int(w, &number, 0, 1);
    *value = number == 1;
}

/* Enumerations have count values from 0. */
#define WALK_ENUM(w, member, type, count)                                                                    \
    do {                                                                                                     \
        int number_ = (int)(member);                                                                         \
        walk_int((w), &number_, 0, (int)(count)-1);                                                          \
        (member) = (type)number_;                                                                            \
    } while (0)

static void walk_numbers(walk *w, double *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        walk_integer(w, &bits, 8);
        if (reading(w)) memcpy(&values[k], &bits, sizeof bits); /* Otherwise it may be constant. */
    }
}

static void walk_place(walk *w, lw_place *place) {
    walk_int(w, &place->line, INT_MIN, INT_MAX);
    walk_int(w, &place->column, INT_MIN, INT_MAX);
}

static void walk_text(walk *w, const char **text) {
    uint64_t code = *text ? strlen(*text) + 1 : 0;
    walk_integer(w, &code, 4);
    if (code == 0) {
        *text = NULL;
        return;
    }
    size_t length = (size_t)code - 1;
    if (!reading(w)) {
        lw_archive_bytes(&w->archive, (void *)*text, length);
        return;
    }
    *text = "";
    demand(w, length <= left(w));
    if (w->failed) return;
    /* The text with its final zero takes less memory than its code and bytes, and the memory is as large as
     * all bytes. */
    lw_archive_bytes(&w->archive, w->text, length);
    w->text[length] = '\0';
    demand(w, strlen(w->text) == length);
    *text = w->text;
    w->text += length + 1;
}

/* Reads or writes a text that is never NULL in a spec. */
static void walk_name(walk *w, const char **text) {
    walk_text(w, text);
    if (reading(w) && !*text) *text = "";
}

/* Reads or writes the number of objects of a list, each of which takes at least `least` bytes. */
static size_t walk_count(walk *w, size_t count, size_t least) {
    uint64_t number = count;
    walk_integer(w, &number, 4);
    demand(w, number <= left(w) / least);
    return w->failed ? 0 : (size_t)number;
}

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
                                     {0, 0}};
enum { JOINT_USUAL = 7 }; /* Fields behind these are written only where one is not zero. */
static const field force_fields[] = {
    FIELD(lw_force_spec, points),          FIELD(lw_force_spec, rotation),
    FIELD(lw_force_spec, stiffness),       FIELD(lw_force_spec, damping),
    FIELD(lw_force_spec, free_length),     FIELD(lw_force_spec, bushing_stiffness),
    FIELD(lw_force_spec, bushing_damping), FIELD(lw_force_spec, viscous),
    FIELD(lw_force_spec, coulomb),         FIELD(lw_force_spec, smoothing),
    FIELD(lw_force_spec, limit),           {0, 0}};
static const field constraint_fields[] = {
    FIELD(lw_constraint_spec, points), FIELD(lw_constraint_spec, length),
    FIELD(lw_constraint_spec, radius), FIELD(lw_constraint_spec, axis),
    FIELD(lw_constraint_spec, normal), FIELD(lw_constraint_spec, factors),
    FIELD(lw_constraint_spec, offset), {0, 0}};
static const field state_fields[] = {FIELD(lw_state_spec, start), {0, 0}};
static const field gravity_fields[] = {{0, 3}, {0, 0}}, input_fields[] = {{0, 1}, {0, 0}};

static const field *const owner_fields[LW_OWNERS] = {
    [LW_OWNER_GRAVITY] = gravity_fields,       [LW_OWNER_RUN] = run_fields,
    [LW_OWNER_INPUT] = input_fields,           [LW_OWNER_BODY] = body_fields,
    [LW_OWNER_JOINT] = joint_fields,           [LW_OWNER_FORCE] = force_fields,
    [LW_OWNER_CONSTRAINT] = constraint_fields, [LW_OWNER_STATE] = state_fields,
};

static void walk_field(walk *w, const field *one, void *object) {
    walk_numbers(w, (double *)(void *)((char *)object + one->offset), one->count);
}
static void walk_fields(walk *w, const field *fields, void *object) {
    for (; fields->count; fields++) walk_field(w, fields, object);
}

/* Is some number in these fields other than zero, by its bits? */
static bool any_in(const field *fields, const void *object) {
    static const double zeros[2 * LW_JOINT_MAX_V];
    for (; fields->count; fields++)
        if (memcmp((const char *)object + fields->offset, zeros, fields->count * sizeof *zeros) != 0)
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

static void walk_run(walk *w, lw_run_spec *run) {
    walk_fields(w, run_fields, run);
    walk_text(w, &run->method);
    walk_text(w, &run->integrator);
    walk_text(w, &run->drift);
    walk_text(w, &run->independent);
    walk_text(w, &run->reactions);
    walk_place(w, &run->place);
}

static void walk_body(walk *w, lw_body_spec *body) {
    walk_name(w, &body->name);
    WALK_ENUM(w, body->kind, lw_body_kind, LW_BODY_POINT + 1);
    WALK_ENUM(w, body->shape.kind, lw_shape_kind, LW_SHAPE_TETRAHEDRON + 1);
    walk_flag(w, &body->has_pose);
    walk_fields(w, body_fields, body);
    walk_place(w, &body->place);
}

static void walk_joint(walk *w, lw_joint_spec *joint) {
    walk_name(w, &joint->name);
    WALK_ENUM(w, joint->type, lw_joint_type, lw_joint_descriptor_count);
    WALK_ENUM(w, joint->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) {
        walk_text(w, &joint->bodies[side]);
        walk_int(w, &joint->geometry[side].axis_count, 0, 3);
    }
    walk_flag(w, &joint->has_q);
    walk_flag(w, &joint->has_v);
    walk_flag(w, &joint->cut);
    WALK_ENUM(w, joint->stop, lw_stop_kind, LW_STOP_KINDS);
    for (int k = 0; k < JOINT_USUAL; k++) walk_field(w, &joint_fields[k], joint);
    bool more = !reading(w) && any_in(joint_fields + JOINT_USUAL, joint);
    walk_flag(w, &more);
    if (more) walk_fields(w, joint_fields + JOINT_USUAL, joint);
    for (int k = 0; k < LW_JOINT_MAX_V; k++) walk_text(w, &joint->motion[k]);
    walk_place(w, &joint->place);
}

static void walk_column(walk *w, const double **column, int size) {
    bool present = *column && size > 0;
    double *values = (double *)(void *)*column;
    walk_flag(w, &present);
    if (reading(w)) {
        demand(w, !present || (size > 0 && (size_t)size <= left(w) / sizeof(double)));
        values = present && !w->failed ? LW_NEW(w->spec->arena, double, size) : NULL;
        if (present && !values) w->failed = true;
        *column = values;
    }
    if (present && values && !w->failed) walk_numbers(w, values, (size_t)size);
}

static void walk_table(walk *w, lw_table_spec *table) {
    walk_name(w, &table->name);
    WALK_ENUM(w, table->interpolation, lw_interpolation, LW_INTERPOLATIONS);
    WALK_ENUM(w, table->beyond, lw_beyond, LW_BEYONDS);
    walk_int(w, &table->size, INT_MIN, INT_MAX);
    walk_column(w, &table->x, table->size);
    walk_column(w, &table->y, table->size);
    walk_text(w, &table->file);
    walk_text(w, &table->x_column);
    walk_text(w, &table->y_column);
    walk_place(w, &table->place);
}

static void walk_force(walk *w, lw_force_spec *force) {
    walk_name(w, &force->name);
    WALK_ENUM(w, force->type, lw_force_type, LW_FORCE_TYPES);
    WALK_ENUM(w, force->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) walk_text(w, &force->bodies[side]);
    walk_text(w, &force->joint);
    walk_int(w, &force->coordinate, INT_MIN, INT_MAX);
    walk_flag(w, &force->has_free_length);
    walk_flag(w, &force->follows_body);
    walk_fields(w, force_fields, force);
    walk_text(w, &force->law.expression);
    walk_flag(w, &force->law.smooth);
    walk_int(w, &force->law.table_size, INT_MIN, INT_MAX);
    walk_column(w, &force->law.table_x, force->law.table_size);
    walk_column(w, &force->law.table_y, force->law.table_size);
    for (int k = 0; k < 3; k++) walk_text(w, &force->force[k]);
    for (int k = 0; k < 3; k++) walk_text(w, &force->torque[k]);
    walk_text(w, &force->drive);
    walk_place(w, &force->place);
}

static void walk_constraint(walk *w, lw_constraint_spec *constraint) {
    walk_name(w, &constraint->name);
    WALK_ENUM(w, constraint->type, lw_constraint_type, LW_CONSTRAINT_TYPES);
    WALK_ENUM(w, constraint->frame, lw_geometry_frame, LW_GEOMETRY_BODY + 1);
    for (int side = 0; side < 2; side++) walk_text(w, &constraint->bodies[side]);
    walk_int(w, &constraint->terms, INT_MIN, INT_MAX);
    walk_fields(w, constraint_fields, constraint);
    for (int k = 0; k < LW_COUPLING_MAX; k++) {
        walk_text(w, &constraint->joints[k]);
        walk_int(w, &constraint->coordinates[k], INT_MIN, INT_MAX);
    }
    walk_place(w, &constraint->place);
}

static void walk_event(walk *w, lw_event_spec *event) {
    walk_name(w, &event->name);
    walk_text(w, &event->when);
    walk_int(w, &event->direction, -1, 1);
    WALK_ENUM(w, event->action, lw_event_action, LW_ACTIONS);
    walk_int(w, &event->set_count, 0, LW_EVENT_SETS);
    for (int k = 0; k < event->set_count && !w->failed; k++) {
        walk_text(w, &event->sets[k].name);
        walk_text(w, &event->sets[k].value);
    }
    walk_text(w, &event->joint);
    walk_int(w, &event->coordinate, INT_MIN, INT_MAX);
    walk_text(w, &event->factor);
    walk_place(w, &event->place);
}

static void walk_parameter(walk *w, lw_parameter *parameter) {
    walk_name(w, &parameter->name);
    walk_numbers(w, &parameter->value, 1);
    walk_text(w, &parameter->text);
    uint64_t evaluated = parameter->evaluated;
    walk_integer(w, &evaluated, 4);
    parameter->evaluated = (size_t)evaluated; /* walk_spec checks this index. */
    walk_place(w, &parameter->place);
}

static void walk_signal(walk *w, lw_signal_spec *signal) {
    walk_name(w, &signal->name);
    walk_text(w, &signal->value);
    walk_place(w, &signal->place);
}

static void walk_state(walk *w, lw_state_spec *state) {
    walk_name(w, &state->name);
    walk_text(w, &state->rate);
    walk_fields(w, state_fields, state);
    walk_place(w, &state->place);
}

static void walk_output(walk *w, lw_output_spec *output) {
    walk_name(w, &output->name);
    walk_text(w, &output->value);
    walk_text(w, &output->unit);
    walk_place(w, &output->place);
}

static void walk_body_places(walk *w, lw_body_places *p) {
    lw_place *const places[] = {&p->mass, &p->com, &p->inertia, &p->position, &p->rotation};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) walk_place(w, places[k]);
}

static void walk_joint_places(walk *w, lw_joint_places *p) {
    lw_place *const places[] = {&p->between, &p->lead, &p->q, &p->v, &p->point[0], &p->point[1]};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) walk_place(w, places[k]);
    for (int k = 0; k < 6; k++) walk_place(w, &p->axes[k / 3][k % 3]);
    lw_place *const rare[] = {&p->armature, &p->zero, &p->limits, &p->stop};
    bool more = false;
    for (int k = 0; k < 4 && !reading(w); k++) more |= rare[k]->line != 0;
    walk_flag(w, &more);
    for (int k = 0; k < 4 && more; k++) walk_place(w, rare[k]);
}

/* --- lists ---------------------------------------------------------------------------------------- */

/* The size of an object of zeros, which is the least size of an object. */
#define LEAST(type, function)                                                                                \
    static size_t least_of_##type(void) {                                                                    \
        walk w = {.archive = {.mode = LW_ARCHIVE_MEASURE}};                                                  \
        type object;                                                                                         \
        memset(&object, 0, sizeof object);                                                                   \
        function(&w, &object);                                                                               \
        return w.archive.used;                                                                               \
    }

/* Reads or writes a list of a spec: its count and its objects. Writing does not change the objects. */
#define LIST(name, type, function)                                                                           \
    LEAST(type, function)                                                                                    \
    static void name(walk *w, type **items, size_t *count, size_t *capacity) {                               \
        size_t number = walk_count(w, *count, least_of_##type());                                            \
        if (reading(w)) {                                                                                    \
            *items = LW_NEW(w->spec->arena, type, number + 1);                                               \
            if (!*items) w->failed = true;                                                                   \
            *count = *capacity = w->failed ? 0 : number;                                                     \
        }                                                                                                    \
        for (size_t k = 0; k < *count && !w->failed; k++) {                                                  \
            type object = (*items)[k];                                                                       \
            function(w, &object);                                                                            \
            if (reading(w)) (*items)[k] = object;                                                            \
        }                                                                                                    \
    }

LIST(walk_parameters, lw_parameter, walk_parameter)
LIST(walk_table_list, lw_table_spec, walk_table)
LIST(walk_bodies, lw_body_spec, walk_body)
LIST(walk_joints, lw_joint_spec, walk_joint)
LIST(walk_forces, lw_force_spec, walk_force)
LIST(walk_constraints, lw_constraint_spec, walk_constraint)
LIST(walk_events, lw_event_spec, walk_event)
LIST(walk_signals, lw_signal_spec, walk_signal)
LIST(walk_states, lw_state_spec, walk_state)
LIST(walk_outputs, lw_output_spec, walk_output)
LIST(walk_all_body_places, lw_body_places, walk_body_places)
LIST(walk_all_joint_places, lw_joint_places, walk_joint_places)

/* --- bindings ------------------------------------------------------------------------------------- */

static size_t owners(const lw_spec *spec, lw_binding_owner owner) {
    switch (owner) {
    case LW_OWNER_INPUT:
        return spec->input_count;
    case LW_OWNER_BODY:
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
    case LW_OWNER_NONE:
    case LW_OWNER_GRAVITY:
    case LW_OWNER_RUN:
    case LW_OWNERS:
        break;
    }
    return 1;
}

/* Sets the offset of the results from the number of their field, after reading. */
static void place_results(walk *w, lw_binding *b, int number) {
    int count = lw_binding_results(b->kind);
    const bool column = lw_binding_has_column(b->owner);
    demand(w, (b->kind == LW_BIND_STRUCTURE) == (b->owner == LW_OWNER_NONE));
    demand(w, b->object >= 0 && (size_t)b->object < owners(w->spec, b->owner));
    demand(w, !column || b->kind == LW_BIND_NUMBER);
    demand(w, b->kind != LW_BIND_SHAPE || (b->owner == LW_OWNER_BODY && number == 0));
    if (w->failed || b->owner == LW_OWNER_NONE) return;
    if (column) {
        int size = 0;
        b->table = lw_binding_column(w->spec, b->owner, (size_t)b->object, &size);
        demand(w, b->table && number >= 0 && number < size && number < INT_MAX / 8);
        b->offset = w->failed ? 0 : number * (int)sizeof(double);
        return;
    }
    b->offset = offset_of(owner_fields[b->owner], number, count);
    demand(w, b->offset >= 0);
}

static void walk_binding(walk *w, lw_binding *b) {
    const bool column = lw_binding_has_column(b->owner);
    WALK_ENUM(w, b->kind, lw_binding_kind, LW_BIND_KINDS);
    WALK_ENUM(w, b->owner, lw_binding_owner, LW_OWNERS);
    WALK_ENUM(w, b->rule, lw_binding_rule, LW_RULES);
    int kept = (int)b->kept, number = 0;
    walk_int(w, &kept, 0, (1 << LW_MAX_RESULTS) - 1);
    b->kept = (unsigned)kept;
    walk_int(w, &b->object, 0, INT_MAX);
    if (!reading(w) && b->owner != LW_OWNER_NONE)
        number = column ? b->offset / (int)sizeof(double) : field_at(owner_fields[b->owner], b->offset);
    walk_int(w, &number, 0, INT_MAX);
    walk_place(w, &b->place);
    if (reading(w)) place_results(w, b, number);
}

/* Returns whether a binding still has a target; one whose table the caller has replaced has none. */
static bool lives(const lw_spec *spec, const lw_binding *b) {
    return b->owner == LW_OWNER_NONE || lw_binding_location(spec, b);
}

static void walk_binding_data(walk *w, lw_bindings *all, lw_binding *b) {
    for (int k = 0; k < lw_binding_operands(b->kind) && !w->failed; k++) {
        lw_operand operand = all->operands[b->operand + k];
        walk_text(w, &operand.text);
        walk_numbers(w, &operand.value, 1);
        if (reading(w)) all->operands[b->operand + k] = operand;
    }
    demand(w, b->kind != LW_BIND_STRUCTURE || all->operands[b->operand].text);
    walk_numbers(w, all->written + b->result, (size_t)lw_binding_results(b->kind));
    if (b->kind != LW_BIND_SHAPE) return;
    lw_body_spec shadow = all->shadows[b->shadow];
    walk_body(w, &shadow);
    if (reading(w)) all->shadows[b->shadow] = shadow;
}

static void walk_bindings(walk *w, lw_bindings *all) {
    enum { LEAST_BINDING = 32 };
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++) count += lives(w->spec, &all->items[k]);
    count = walk_count(w, count, LEAST_BINDING);
    if (reading(w)) {
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
        demand(w, operands <= left(w) / 12 && results <= left(w) / 8 && operands + results < INT_MAX);
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
static void walk_tables(walk *w) {
    lw_spec *spec = w->spec;
    walk_table_list(w, &spec->tables, &spec->table_count, &spec->table_capacity);
    if (reading(w)) {
        spec->table_sources = LW_NEW(spec->arena, lw_table_source, spec->table_count + 1);
        spec->table_source_capacity = spec->table_count;
        if (!spec->table_sources) w->failed = true;
    }
    for (size_t k = 0; k < spec->table_count && !w->failed; k++) {
        const lw_table_spec *table = &spec->tables[k];
        bool own = !reading(w) && lw_spec_table_is_of_file(spec, k);
        walk_flag(w, &own);
        if (reading(w) && own) spec->table_sources[k] = (lw_table_source){table->x, table->y, table->size};
    }
}

/* --- the whole ------------------------------------------------------------------------------------ */

static void walk_spec(walk *w) {
    lw_spec *spec = w->spec;
    const char *name = spec->name, *file = spec->file;
    lw_run_spec run = spec->run;
    walk_name(w, &name);
    walk_name(w, &file);
    walk_numbers(w, spec->gravity, 3);
    walk_run(w, &run);
    if (reading(w)) spec->name = name, spec->file = file, spec->run = run;
    walk_parameters(w, &spec->parameters, &spec->parameter_count, &spec->parameter_capacity);
    for (size_t k = 0; k < spec->parameter_count; k++)
        demand(w, spec->parameters[k].evaluated < spec->parameter_count);
    walk_parameters(w, &spec->inputs, &spec->input_count, &spec->input_capacity);
    walk_tables(w);
    walk_bodies(w, &spec->bodies, &spec->body_count, &spec->body_capacity);
    walk_joints(w, &spec->joints, &spec->joint_count, &spec->joint_capacity);
    walk_forces(w, &spec->forces, &spec->force_count, &spec->force_capacity);
    walk_constraints(w, &spec->constraints, &spec->constraint_count, &spec->constraint_capacity);
    walk_events(w, &spec->events, &spec->event_count, &spec->event_capacity);
    walk_signals(w, &spec->signals, &spec->signal_count, &spec->signal_capacity);
    walk_states(w, &spec->states, &spec->state_count, &spec->state_capacity);
    walk_outputs(w, &spec->outputs, &spec->output_count, &spec->output_capacity);
    walk_all_body_places(w, &spec->body_places, &spec->body_place_count, &spec->body_place_capacity);
    walk_all_joint_places(w, &spec->joint_places, &spec->joint_place_count, &spec->joint_place_capacity);
    demand(w, spec->body_place_count <= spec->body_count && spec->joint_place_count <= spec->joint_count);
    if (!w->failed) walk_bindings(w, &spec->bindings);
    if (reading(w)) spec->evaluated_count = spec->parameter_count;
}

static void walk_head(walk *w, uint64_t *version, uint64_t *length) {
    char mark[sizeof magic];
    memcpy(mark, magic, sizeof magic);
    lw_archive_bytes(&w->archive, mark, sizeof mark);
    demand(w, memcmp(mark, magic, sizeof magic) == 0);
    walk_integer(w, version, 4);
    walk_integer(w, length, 8);
}

lw_status lw_spec_save(const lw_spec *spec, void *buffer, size_t size, size_t *needed) {
    if (needed) *needed = 0;
    if (!spec) return LW_ERROR_ARGUMENT;
    lw_spec copy = *spec; /* A walk may change its spec when reading. */
    walk measure = {.archive = {.mode = LW_ARCHIVE_MEASURE}, .spec = &copy};
    walk_spec(&measure);
    size_t total = HEAD + measure.archive.used + TAIL;
    if (needed) *needed = total;
    if (!buffer) return LW_OK;
    if (size < total) return LW_ERROR_ARGUMENT;
    uint64_t version = VERSION, length = total, sum;
    walk w = {.archive = {.mode = LW_ARCHIVE_WRITE, .bytes = buffer, .size = total}, .spec = &copy};
    walk_head(&w, &version, &length);
    walk_spec(&w);
    sum = lw_crc32(buffer, total - TAIL);
    walk_integer(&w, &sum, TAIL);
    return LW_OK;
}

lw_status lw_spec_load(const void *bytes, size_t size, lw_spec **out, lw_error *error) {
    if (!out) return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a place for the spec", "there is none");
    *out = NULL;
    uint64_t version = 0, length = 0, sum = 0;
    walk head = {.archive = {.mode = LW_ARCHIVE_READ, .bytes = (unsigned char *)bytes, .size = size}};
    if (bytes && size >= HEAD + TAIL) walk_head(&head, &version, &length);
    if (!bytes || size < HEAD + TAIL || head.failed)
        return lw_fail(error, LW_ERROR_FILE, NULL, "give the bytes that lw_spec_save has written",
                       "these %zu bytes are no saved model", bytes ? size : 0);
    if (length != size)
        return lw_fail(error, LW_ERROR_FILE, NULL,
                       "give all bytes that lw_spec_save has written, and no others",
                       "the saved model has %llu bytes, but %zu are given", (unsigned long long)length, size);
    walk tail = {
        .archive = {
            .mode = LW_ARCHIVE_READ, .bytes = (unsigned char *)bytes, .size = size, .used = size - TAIL}};
    walk_integer(&tail, &sum, TAIL);
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
    walk w = {.archive = {.mode = LW_ARCHIVE_READ,
                          .bytes = (unsigned char *)bytes,
                          .size = size - TAIL,
                          .used = HEAD},
              .spec = spec,
              .text = text};
    walk_spec(&w);
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
