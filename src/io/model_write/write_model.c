/* write_model.c - a spec as a model file (docs/model-format.md), one line for each object.
 *
 * A spec that was read from a file is written so that reading gives the same values to the last bit; a value
 * is left out only if the reader's default is the same. Quaternions of poses are written with unit length.
 * Contents that the format cannot represent are faults: numbers that are not finite, names with quotes or
 * braces, shapes without extent, geometry that the compiler rejects. A table that was read from a file is
 * written as the columns of this file where reading them gives the same points. Expressions of parameters are
 * written where events set these (write_bound.c), otherwise their values; units, repeats and comments are not
 * written, and parts are written as what they are made of, in the world
 * of the model. Cost O(n log n) in the number of objects.
 */
#include "io/model_write/write_model.h"

#include "io/mesh/mesh_file.h"
#include "io/model_write/write_bound.h"
#include "io/model_write/write_text.h"
#include "io/model_write/write_values.h"
#include "io/table_file.h"
#include "expression/expression.h"
#include "expression/function.h"
#include "model/joint_types.h"
#include "model/names.h"
#include "model/spec/parts.h"
#include "model/spec/spec_storage.h"

#include <linkwork/io.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- values --------------------------------------------------------------------------------------- */

static void put_texts(lw_writer *w, const char *key, const char *const *texts, int count) {
    lw_put_key(w, key);
    for (int k = 0; k < count; k++) {
        lw_put(w, k ? ", " : "[");
        size_t part = w->length;
        lw_put_text(w, texts[k]);
        if (k > 0) lw_fit(w, part);
    }
    lw_put(w, "]");
}

static void put_name(lw_writer *w, const char *key, const char *what, const char *name) {
    lw_put_key(w, key);
    lw_put_name(w, what, name);
}

static void put_between(lw_writer *w, const char *const bodies[2]) {
    lw_put_key(w, "between");
    lw_put(w, "[");
    lw_put_name(w, "body", bodies[0]);
    lw_put(w, ", ");
    lw_put_name(w, "body", bodies[1]);
    lw_put(w, "]");
}

static void put_points(lw_writer *w, lw_geometry_frame frame, const double (*points)[3]) {
    if (frame == LW_GEOMETRY_WORLD) {
        lw_write_list(w, "points", points, 2);
    } else {
        lw_write_numbers(w, "first", points[0], 3);
        lw_write_numbers(w, "second", points[1], 3);
    }
}

static bool known_type(lw_writer *w, int type, int count) {
    bool known = type >= 0 && type < count;
    if (!known) lw_write_fault(w, LW_ERROR_ARGUMENT, NULL, "unknown type %d", type);
    return known;
}

/* --- frames --------------------------------------------------------------------------------------- */

static void put_frame(lw_writer *w, const lw_frame_spec *frame) {
    lw_put_entry(w, "frame", frame->name);
    put_name(w, "body", "body", frame->body);
    if (!lw_nothing(frame->position, 3)) lw_write_numbers(w, "position", frame->position, 3);
    if (!lw_nothing(frame->rotation, 4)) lw_write_rotation(w, frame->rotation);
    lw_end_entry(w);
}

/* --- joints --------------------------------------------------------------------------------------- */

static void put_axes(lw_writer *w, lw_joint_type type, const lw_joint_geometry *geometry) {
    int count = geometry->axis_count, most = lw_joint_describe(type)->most_axes;
    if (count < 0 || count > most) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give as many axes as the type has",
                       "%d axes given to a %s joint", count, lw_joint_type_name(type));
    } else if (lw_joint_axes_are_listed(type)) {
        lw_write_list(w, "axes", geometry->axes, count);
    } else {
        if (count > 0) lw_write_numbers(w, lw_joint_describe(type)->axis_key, geometry->axes[0], 3);
        if (count > 1) lw_write_numbers(w, "x", geometry->axes[1], 3);
    }
}

/* Returns whether a point at the world's origin may be left out. A free joint without a point moves the
 * body's own frame instead. */
static bool point_may_be_left_out(lw_joint_type type) {
    return !lw_joint_describe(type)->point_must_be_given && !lw_joint_is_free(type);
}

static void put_geometry(lw_writer *w, const lw_joint_spec *joint) {
    const lw_joint_geometry *geometry = joint->geometry;
    if (joint->frame == LW_GEOMETRY_WORLD) {
        if (!joint->at_frames && (!point_may_be_left_out(joint->type) || !lw_nothing(geometry[0].point, 3)))
            lw_write_numbers(w, "point", geometry[0].point, 3);
        put_axes(w, joint->type, &geometry[0]);
        return;
    }
    bool first_alone = lw_joint_describe(joint->type)->frame == LW_FRAME_OF_BODY;
    if (!first_alone && geometry[0].axis_count != geometry[1].axis_count) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give the same number of axes on both sides",
                       "its first body has %d axes, its second %d", geometry[0].axis_count,
                       geometry[1].axis_count);
        return;
    }
    for (int side = 0; side < 2; side++) {
        lw_put_key(w, side ? "second" : "first");
        lw_open(w);
        lw_write_numbers(w, "point", geometry[side].point, 3);
        if (side == 0 || !first_alone) put_axes(w, joint->type, &geometry[side]);
        lw_close(w);
    }
}

/* Writes one value as a number, several as a list. */
static void put_values(lw_writer *w, const char *key, const double *values, int count) {
    if (count == 1) {
        lw_write_number(w, key, values[0]);
    } else {
        lw_write_numbers(w, key, values, count);
    }
}

/* Writes a coordinate; an angle of more than a turn with its unit, so that nobody takes it for degrees. */
static void put_angle_or_length(lw_writer *w, double value, bool turns) {
    const double turn = 6.2831853071795865;
    lw_put_number(w, value);
    if (turns && fabs(value) > turn) lw_put(w, " rad");
}

/* Writes a coordinate of each motion of a joint whose motions are slides and turns. */
static void put_coordinates(lw_writer *w, const char *key, const lw_joint_spec *joint, const double *values,
                            int count) {
    lw_put_key(w, key);
    if (count > 1) lw_put(w, "[");
    for (int k = 0; k < count; k++) {
        size_t part = w->length;
        if (k > 0) lw_put(w, ", ");
        put_angle_or_length(w, values[k], lw_joint_type_turns(joint->type, k));
        if (k > 0) lw_fit(w, part);
    }
    if (count > 1) lw_put(w, "]");
}

static void put_motion(lw_writer *w, const char *const *motion, int count) {
    bool any = false;
    for (int k = 0; k < count; k++) any = any || motion[k];
    if (!any) return;
    if (count == 1) {
        lw_write_text(w, "motion", motion[0]);
    } else {
        put_texts(w, "motion", motion, count);
    }
}

/* Writes one limit: null is none. */
static void put_limit(lw_writer *w, double limit, bool turns) {
    if (isfinite(limit))
        put_angle_or_length(w, limit, turns);
    else
        lw_put(w, "null");
}

static void put_limits(lw_writer *w, const lw_joint_spec *joint, int count) {
    lw_put_key(w, "limits");
    for (int k = 0; k < count; k++) {
        const bool turns = lw_joint_type_turns(joint->type, k);
        if (count > 1) lw_put(w, k ? ", " : "[");
        size_t part = w->length;
        if (lw_nothing(joint->limits[k], 2)) {
            lw_put(w, "null");
        } else {
            lw_put(w, "[");
            put_limit(w, joint->limits[k][0], turns);
            lw_put(w, ", ");
            put_limit(w, joint->limits[k][1], turns);
            lw_put(w, "]");
        }
        if (k > 0) lw_fit(w, part);
    }
    if (count > 1) lw_put(w, "]");
}

/* Writes rotors, zeros, limits and stops. */
static void put_extras(lw_writer *w, const lw_joint_spec *joint, int count) {
    if (!lw_nothing(joint->armature, (size_t)count)) put_values(w, "armature", joint->armature, count);
    if (!lw_nothing(joint->zero, (size_t)count)) put_coordinates(w, "zero", joint, joint->zero, count);
    if (!lw_nothing(joint->limits[0], 2 * (size_t)count)) put_limits(w, joint, count);
    if (joint->stop == LW_STOP_NONE) return;
    lw_put_key(w, "stop");
    lw_open(w);
    if (joint->stop == LW_STOP_SPRING) {
        put_values(w, "stiffness", joint->stop_stiffness, count);
        if (!lw_nothing(joint->stop_damping, (size_t)count))
            put_values(w, "damping", joint->stop_damping, count);
    } else {
        put_values(w, "restitution", joint->stop_restitution, count);
    }
    lw_close(w);
}

static void put_joint(lw_writer *w, const lw_joint_spec *joint) {
    int axes = joint->geometry[0].axis_count;
    lw_put_entry(w, "joint", joint->name);
    if (!known_type(w, (int)joint->type, lw_joint_descriptor_count)) return;
    lw_write_word(w, "type", lw_joint_type_name(joint->type));
    put_between(w, joint->bodies);
    put_geometry(w, joint);
    if (lw_joint_describe(joint->type)->screws) lw_write_number(w, "lead", joint->lead);
    bool moves = lw_joint_type_v(joint->type, axes) > 0;
    const bool ball = lw_joint_describe(joint->type)->ball;
    if (joint->has_q && moves && ball) put_values(w, "q", joint->q, lw_joint_type_q(joint->type, axes));
    if (joint->has_q && moves && !ball)
        put_coordinates(w, "q", joint, joint->q, lw_joint_type_q(joint->type, axes));
    if (joint->has_v && moves) put_values(w, "v", joint->v, lw_joint_type_v(joint->type, axes));
    put_motion(w, joint->motion, lw_joint_type_v(joint->type, axes));
    if (!ball) put_extras(w, joint, lw_joint_type_v(joint->type, axes));
    if (!lw_nothing(joint->compliance, 2)) {
        lw_put_key(w, "compliance");
        lw_open(w);
        if (!lw_nothing(&joint->compliance[0], 1)) lw_write_number(w, "translation", joint->compliance[0]);
        if (!lw_nothing(&joint->compliance[1], 1)) lw_write_number(w, "rotation", joint->compliance[1]);
        lw_close(w);
    }
    if (joint->cut) lw_write_word(w, "cut", "true");
    lw_end_entry(w);
}

/* --- joint coordinates ---------------------------------------------------------------------------- */

/* The joint with this name, or NULL if there is none. */
static const lw_joint_spec *find_joint(const lw_spec *spec, const lw_names *joints, const char *name) {
    int index = name ? lw_names_find(joints, name) : -1;
    return index < 0 ? NULL : &spec->joints[index];
}

/* Writes a joint and its coordinate, which is left out if the joint has only one. */
static void put_coordinate(lw_writer *w, const lw_joint_spec *joint, const char *name, int coordinate) {
    char digits[16];
    put_name(w, "joint", "joint", name);
    if (joint && lw_joint_type_v(joint->type, joint->geometry[0].axis_count) == 1 && coordinate == 0) return;
    snprintf(digits, sizeof digits, "%d", coordinate);
    lw_write_word(w, "coordinate", digits);
}

static bool is_angle(const lw_joint_spec *joint, int coordinate) {
    return joint && lw_joint_type_turns(joint->type, coordinate);
}

/* --- starts --------------------------------------------------------------------------------------- */

/* Is entry k the first of its start? */
static bool begins_start(const lw_spec *spec, size_t k) {
    for (size_t i = 0; i < k; i++)
        if (strcmp(spec->starts[i].name, spec->starts[k].name) == 0) return false;
    return true;
}

static void put_start_joint(lw_writer *w, const lw_joint_spec *joint, const lw_start_spec *start) {
    if (!joint || !known_type(w, (int)joint->type, lw_joint_descriptor_count)) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "name a joint of this model", "there is no joint \"%.80s\"",
                       start->joint);
        return;
    }
    const int axes = joint->geometry[0].axis_count;
    lw_put_name_key(w, "joint", start->joint);
    lw_open(w);
    if (start->has_q) put_values(w, "q", start->q, lw_joint_type_q(joint->type, axes));
    if (start->has_v) put_values(w, "v", start->v, lw_joint_type_v(joint->type, axes));
    lw_close(w);
}

static void put_starts(lw_writer *w, const lw_spec *spec, const lw_names *joints) {
    if (spec->start_count > 0) lw_put(w, "starts:\n");
    for (size_t k = 0; k < spec->start_count && w->status == LW_OK; k++) {
        if (!begins_start(spec, k)) continue;
        lw_put_entry(w, "start", spec->starts[k].name);
        for (size_t i = k; i < spec->start_count && w->status == LW_OK; i++)
            if (strcmp(spec->starts[i].name, spec->starts[k].name) == 0)
                put_start_joint(w, find_joint(spec, joints, spec->starts[i].joint), &spec->starts[i]);
        lw_end_entry(w);
    }
}

/* --- forces --------------------------------------------------------------------------------------- */

static void put_law(lw_writer *w, const lw_force_spec *force) {
    const lw_law_spec *law = &force->law;
    bool has_law = law->table_size > 0 || law->expression;
    bool has_damping = !lw_left_out(w, &force->damping, 1);
    if (!lw_left_out(w, &force->stiffness, 1) || (!has_law && !has_damping))
        lw_write_field(w, "stiffness", &force->stiffness);
    if (has_damping) lw_write_field(w, "damping", &force->damping);
    if (law->table_size > 0 && (!law->table_x || !law->table_y)) {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give both columns, or table_size 0",
                       "its table of %d rows has no %s", law->table_size, law->table_x ? "y" : "x");
    } else if (law->table_size > 0) {
        lw_put_key(w, "table");
        lw_open(w);
        lw_write_numbers(w, "x", law->table_x, law->table_size);
        lw_write_numbers(w, force->type == LW_FORCE_TORSION ? "torque" : "force", law->table_y,
                         law->table_size);
        if (law->smooth) lw_write_word(w, "smooth", "true");
        lw_close(w);
    } else if (law->expression) {
        lw_write_text(w, "law", law->expression);
    }
}

static void put_bushing(lw_writer *w, const lw_force_spec *force) {
    put_between(w, force->bodies);
    if (force->frame == LW_GEOMETRY_WORLD) {
        lw_write_numbers(w, "point", force->points[0], 3);
    } else {
        put_points(w, force->frame, force->points);
    }
    if (!lw_left_out(w, force->rotation, 4)) lw_write_rotation(w, force->rotation);
    lw_write_numbers(w, "stiffness", force->bushing_stiffness, 6);
    if (!lw_left_out(w, force->bushing_damping, 6)) lw_write_numbers(w, "damping", force->bushing_damping, 6);
}

static void put_applied(lw_writer *w, const lw_force_spec *force) {
    bool has_force = force->force[0] || force->force[1] || force->force[2];
    bool has_torque = force->torque[0] || force->torque[1] || force->torque[2];
    bool in_body = force->frame == LW_GEOMETRY_BODY;
    put_name(w, "body", "body", force->bodies[0]);
    if (force->bodies[1] && strcmp(force->bodies[1], LW_GROUND) != 0)
        put_name(w, "against", "body", force->bodies[1]);
    if (has_force || !has_torque || !in_body || !lw_left_out(w, force->points[0], 3)) {
        lw_write_numbers(w, "point", force->points[0], 3); /* A pure torque needs no point. */
        if (in_body) lw_write_word(w, "frame", "body");
    }
    if (has_force || !has_torque) put_texts(w, "force", force->force, 3);
    if (has_torque) put_texts(w, "torque", force->torque, 3);
    if (force->follows_body) lw_write_word(w, "axes", "body");
}

static void put_friction(lw_writer *w, const lw_force_spec *force) {
    lw_write_field(w, "viscous", &force->viscous);
    if (!lw_left_out(w, &force->coulomb, 1)) lw_write_field(w, "coulomb", &force->coulomb);
    lw_write_field(w, "smoothing", &force->smoothing);
}

static void put_force(lw_writer *w, const lw_force_spec *force, const lw_joint_spec *joint) {
    lw_put_entry(w, "force", force->name);
    if (!known_type(w, (int)force->type, LW_FORCE_TYPES)) return;
    lw_write_word(w, "type", lw_force_type_name(force->type));
    switch (force->type) {
    case LW_FORCE_SPRING:
        put_between(w, force->bodies);
        put_points(w, force->frame, force->points);
        if (force->has_free_length) lw_write_field(w, "length", &force->free_length);
        put_law(w, force);
        break;
    case LW_FORCE_TORSION:
        put_coordinate(w, joint, force->joint, force->coordinate);
        if (force->has_free_length || !lw_left_out(w, &force->free_length, 1))
            lw_write_field(w, "free", &force->free_length);
        put_law(w, force);
        break;
    case LW_FORCE_BUSHING:
        put_bushing(w, force);
        break;
    case LW_FORCE_APPLIED:
        put_applied(w, force);
        break;
    case LW_FORCE_DRIVE:
        put_coordinate(w, joint, force->joint, force->coordinate);
        lw_write_text(w, is_angle(joint, force->coordinate) ? "torque" : "force", force->drive);
        if (!lw_left_out(w, &force->limit, 1)) lw_write_field(w, "limit", &force->limit);
        break;
    case LW_FORCE_FRICTION:
        put_coordinate(w, joint, force->joint, force->coordinate);
        put_friction(w, force);
        break;
    case LW_FORCE_CONTACT:
        put_between(w, force->bodies);
        put_points(w, force->frame, force->points);
        lw_write_contact(w, &force->contact);
        break;
    case LW_FORCE_TYPES:
        break;
    }
    lw_end_entry(w);
}

/* --- constraints ---------------------------------------------------------------------------------- */

static void put_coupling(lw_writer *w, const lw_spec *spec, const lw_names *joints,
                         const lw_constraint_spec *constraint) {
    lw_put_key(w, "terms");
    lw_put(w, "[");
    for (int k = 0; k < constraint->terms && k < LW_COUPLING_MAX; k++) {
        const char *name = constraint->joints[k];
        if (k > 0) lw_put(w, ", ");
        size_t brace = w->length;
        lw_open(w);
        if (k > 0) w->part = brace; /* A line may be broken here. */
        put_coordinate(w, find_joint(spec, joints, name), name, constraint->coordinates[k]);
        lw_write_number(w, "factor", constraint->factors[k]);
        if (!lw_nothing(&constraint->about[k], 1)) lw_write_number(w, "about", constraint->about[k]);
        const int size = constraint->polynomial_size[k];
        if (size > 0 && size <= LW_POLYNOMIAL_MAX)
            lw_write_numbers(w, "polynomial", constraint->polynomial[k], size);
        if (constraint->tables[k]) lw_write_word(w, "table", constraint->tables[k]);
        lw_close(w);
    }
    lw_put(w, "]");
    if (!lw_nothing(&constraint->offset, 1)) lw_write_number(w, "offset", constraint->offset);
}

static void put_rolling(lw_writer *w, const lw_constraint_spec *constraint) {
    static const double up[3] = {0, 0, 1};
    put_name(w, "body", "body", constraint->bodies[0]);
    if (!constraint->bodies[1] || strcmp(constraint->bodies[1], LW_GROUND) != 0)
        put_name(w, "on", "body", constraint->bodies[1]);
    if (constraint->frame == LW_GEOMETRY_BODY) lw_write_word(w, "frame", "body");
    lw_write_numbers(w, "centre", constraint->points[0], 3);
    lw_write_number(w, "radius", constraint->radius);
    if (constraint->axis[0] != 0 || constraint->axis[1] != 0 || constraint->axis[2] != 0)
        lw_write_numbers(w, "axis", constraint->axis, 3);
    if (!lw_nothing(constraint->points[1], 3)) lw_write_numbers(w, "point", constraint->points[1], 3);
    if (memcmp(constraint->normal, up, sizeof up) != 0) lw_write_numbers(w, "normal", constraint->normal, 3);
}

static void put_constraint(lw_writer *w, const lw_spec *spec, const lw_names *joints,
                           const lw_constraint_spec *constraint) {
    lw_put_entry(w, "constraint", constraint->name);
    if (!known_type(w, (int)constraint->type, LW_CONSTRAINT_TYPES)) return;
    lw_write_word(w, "type", lw_constraint_type_name(constraint->type));
    switch (constraint->type) {
    case LW_CONSTRAINT_DISTANCE:
        put_between(w, constraint->bodies);
        put_points(w, constraint->frame, constraint->points);
        if (constraint->length != 0) lw_write_number(w, "length", constraint->length);
        break;
    case LW_CONSTRAINT_COUPLING:
        put_coupling(w, spec, joints, constraint);
        break;
    case LW_CONSTRAINT_ROLLING:
        put_rolling(w, constraint);
        break;
    case LW_CONSTRAINT_TYPES:
        break;
    }
    lw_end_entry(w);
}

/* --- events --------------------------------------------------------------------------------------- */

static void put_event(lw_writer *w, const lw_spec *spec, const lw_names *joints, const lw_event_spec *event) {
    lw_put_entry(w, "event", event->name);
    lw_write_text(w, "when", event->when);
    if (event->direction != 0) lw_write_word(w, "direction", event->direction > 0 ? "up" : "down");
    if (!known_type(w, (int)event->action, LW_ACTIONS)) return;
    if (event->action <= LW_ACTION_NOTE) {
        lw_write_word(w, "do", event->action == LW_ACTION_STOP ? "stop" : "note");
    } else {
        lw_put_key(w, "do");
        lw_open(w);
        lw_put_key(w, event->action == LW_ACTION_SET ? "set" : "restitution");
        lw_open(w);
        for (int k = 0; k < event->set_count && event->action == LW_ACTION_SET; k++)
            lw_write_text(w, event->sets[k].name, event->sets[k].value);
        if (event->action == LW_ACTION_RESTITUTION) {
            put_coordinate(w, find_joint(spec, joints, event->joint), event->joint, event->coordinate);
            lw_write_text(w, "factor", event->factor);
        }
        lw_close(w);
        lw_close(w);
    }
    lw_end_entry(w);
}

/* --- the whole ------------------------------------------------------------------------------------ */

static bool is_word(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t length = strspn(name, letters);
    if (length == 0 || (*name >= '0' && *name <= '9')) return false;
    return name[length] == '\0' || (name[length] == '.' && is_word(name + length + 1)); /* of a part */
}

static void lack_of_name(lw_writer *w, const char *noun) {
    lw_write_fault(w, LW_ERROR_ARGUMENT,
                   "use letters, digits and _, and no name of a variable, function or unit",
                   "a model file cannot hold %s %s of this name", noun[0] == 'i' ? "an" : "a", noun);
}

/* Writes an expression, which a model file would change if it had braces. */
static void put_braceless(lw_writer *w, const char *what, const char *text) {
    if (!text || strchr(text, '{'))
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give an expression without braces",
                       "%s \"%.80s\" is none, or has a brace, which a model file takes for an index", what,
                       text ? text : "");
    else
        lw_put_text(w, text);
}

/* Writes the section parameters or inputs: named numbers, or their expressions (as_text[k]; NULL: of all). */
static void put_named_numbers(lw_writer *w, const char *section, const char *noun, const lw_parameter *list,
                              size_t count, const bool *as_text) {
    if (count > 0) lw_put(w, section);
    for (size_t k = 0; k < count; k++) {
        const char *name = list[k].name;
        snprintf(w->object, sizeof w->object, "%s \"%.80s\"", noun, name);
        if (!is_word(name) || lw_name_taken(name)) lack_of_name(w, noun);
        lw_put(w, "  ");
        lw_put_name(w, noun, name);
        lw_put(w, ": ");
        if (list[k].text && (!as_text || as_text[k]))
            lw_put_text(w, list[k].text);
        else
            lw_put_field(w, &list[k].value);
        lw_put(w, "\n");
    }
    w->object[0] = '\0';
}

/* The columns of the file if the table has the points in it, otherwise the points. */
static void put_table(lw_writer *w, const lw_spec *spec, size_t index, bool with_files) {
    static const char *const interpolations[] = {"linear", "smooth", "steps"}, *const beyonds[] = {"hold",
                                                                                                   "linear",
                                                                                                   "repeat"};
    const lw_table_spec *table = &spec->tables[index];
    lw_put_entry(w, "table", table->name);
    if (!is_word(table->name) || lw_name_taken(table->name)) lack_of_name(w, "table");
    if (!known_type(w, (int)table->interpolation, LW_INTERPOLATIONS) ||
        !known_type(w, (int)table->beyond, LW_BEYONDS))
        return;
    const bool braces = table->file && table->x_column && table->y_column &&
                        (strchr(table->file, '{') || strchr(table->x_column, '{') ||
                         strchr(table->y_column, '{')); /* Reading takes them for indices. */
    if (with_files && !braces && lw_spec_table_is_of_file(spec, index)) {
        lw_write_text(w, "file", table->file);
        lw_write_text(w, "x", table->x_column);
        lw_write_text(w, "y", table->y_column);
    } else if (table->size > 0 && table->x && table->y) {
        lw_write_numbers(w, "x", table->x, table->size);
        lw_write_numbers(w, "y", table->y, table->size);
    } else {
        lw_write_fault(w, LW_ERROR_ARGUMENT, "give two points or more", "it has no points");
    }
    if (table->interpolation != LW_INTERPOLATION_LINEAR)
        lw_write_word(w, "interpolation", interpolations[table->interpolation]);
    if (table->beyond != LW_BEYOND_HOLD) lw_write_word(w, "beyond", beyonds[table->beyond]);
    lw_end_entry(w);
}

/* Which tables and meshes may be written as their files. */
typedef struct {
    const lw_spec *spec;
    const bool *tables, *meshes; /* by index; NULL: all that come from files */
} file_choice;

static bool mesh_has_file(const lw_mesh_spec *mesh, const void *context) {
    const file_choice *choice = context;
    if (!mesh->file || strchr(mesh->file, '{')) return false; /* Reading takes braces for indices. */
    int index = lw_mesh_index(&choice->spec->meshes, mesh);
    return index >= 0 && (!choice->meshes || choice->meshes[index]);
}

/* Writes the section signals: one expression a line. */
static void put_signals(lw_writer *w, const lw_spec *spec) {
    if (spec->signal_count > 0) lw_put(w, "signals:\n");
    for (size_t k = 0; k < spec->signal_count && w->status == LW_OK; k++) {
        const char *name = spec->signals[k].name;
        snprintf(w->object, sizeof w->object, "signal \"%.80s\"", name);
        if (!is_word(name) || lw_name_taken(name)) lack_of_name(w, "signal");
        lw_put(w, "  ");
        lw_put_name(w, "signal", name);
        lw_put(w, ": ");
        put_braceless(w, "value", spec->signals[k].value);
        lw_put(w, "\n");
    }
    w->object[0] = '\0';
}

static void put_state(lw_writer *w, const lw_state_spec *state) {
    lw_put_entry(w, "state", state->name);
    if (!is_word(state->name) || lw_name_taken(state->name)) lack_of_name(w, "state");
    lw_put_key(w, "rate");
    put_braceless(w, "rate", state->rate);
    lw_write_number(w, "start", state->start);
    lw_end_entry(w);
}

static void put_output(lw_writer *w, const lw_output_spec *output) {
    lw_put_entry(w, "output", output->name);
    lw_put_key(w, "value");
    put_braceless(w, "value", output->value);
    if (output->unit) lw_write_text(w, "unit", output->unit);
    lw_end_entry(w);
}

static void put_run(lw_writer *w, const lw_run_spec *run) {
    const double numbers[] = {run->end, run->step, run->tolerance, run->output};
    const char *const texts[] = {run->method,      run->integrator, run->drift,
                                 run->independent, run->reactions,  run->begin};
    static const char *const keys[] = {"end",        "step",  "tolerance",   "output",    "method",
                                       "integrator", "drift", "independent", "reactions", "begin"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    bool damped = run->baumgarte[0] != 0 || run->baumgarte[1] != 0, any = damped;
    for (int k = 0; k < 4; k++) any = any || numbers[k] != 0;
    for (int k = 0; k < TEXTS; k++) any = any || texts[k];
    if (!any) return;
    snprintf(w->object, sizeof w->object, "run");
    lw_put(w, "run: ");
    lw_open(w);
    for (int k = 0; k < 4; k++) {
        if (numbers[k] < 0) {
            lw_write_fault(w, LW_ERROR_ARGUMENT, "give a positive number, or 0 for none",
                           "%s %g is not positive", keys[k], numbers[k]);
        }
        if (numbers[k] != 0) lw_write_number(w, keys[k], numbers[k]);
    }
    if (damped) {
        lw_put_key(w, "baumgarte");
        lw_put_numbers(w, run->baumgarte, 2);
    }
    for (int k = 0; k < TEXTS; k++) {
        if (texts[k] && strchr(texts[k], '{')) {
            lw_write_fault(w, LW_ERROR_ARGUMENT, "give a name without braces",
                           "%s \"%.80s\" has a brace, which a model file takes for an index", keys[4 + k],
                           texts[k]);
        }
        if (texts[k]) lw_write_text(w, keys[4 + k], texts[k]);
    }
    lw_close(w);
    lw_put(w, "\n");
    w->object[0] = '\0';
}

static void put_all(lw_writer *w, const lw_spec *spec, const lw_names *joints, const file_choice *files,
                    const bool *changing) {
    lw_put(w, "linkwork: 1\nname: ");
    lw_put_text(w, spec->name);
    lw_put(w, "\n");
    put_named_numbers(w, "parameters:\n", "parameter", spec->parameters, spec->parameter_count, changing);
    put_named_numbers(w, "inputs:\n", "input", spec->inputs, spec->input_count, NULL);
    if (spec->table_count > 0) lw_put(w, "tables:\n");
    for (size_t k = 0; k < spec->table_count && w->status == LW_OK; k++)
        put_table(w, spec, k, !files->tables || files->tables[k]);
    put_signals(w, spec);
    if (spec->state_count > 0) lw_put(w, "states:\n");
    for (size_t k = 0; k < spec->state_count && w->status == LW_OK; k++) put_state(w, &spec->states[k]);
    lw_put(w, "gravity: ");
    lw_put_numbers(w, spec->gravity, 3);
    lw_put(w, "\n");
    if (spec->welds == LW_WELDS_KEEP) lw_put(w, "welds: keep\n");
    if (spec->body_count > 0) lw_put(w, "bodies:\n");
    for (size_t k = 0; k < spec->body_count && w->status == LW_OK; k++)
        lw_write_body(w, &spec->bodies[k], mesh_has_file, files);
    if (spec->frame_count > 0) lw_put(w, "frames:\n");
    for (size_t k = 0; k < spec->frame_count && w->status == LW_OK; k++) put_frame(w, &spec->frames[k]);
    if (spec->joint_count > 0) lw_put(w, "joints:\n");
    for (size_t k = 0; k < spec->joint_count && w->status == LW_OK; k++) put_joint(w, &spec->joints[k]);
    put_starts(w, spec, joints);
    if (spec->force_count > 0) lw_put(w, "forces:\n");
    for (size_t k = 0; k < spec->force_count && w->status == LW_OK; k++) {
        put_force(w, &spec->forces[k], find_joint(spec, joints, spec->forces[k].joint));
    }
    if (spec->constraint_count > 0) lw_put(w, "constraints:\n");
    for (size_t k = 0; k < spec->constraint_count && w->status == LW_OK; k++)
        put_constraint(w, spec, joints, &spec->constraints[k]);
    if (spec->event_count > 0) lw_put(w, "events:\n");
    for (size_t k = 0; k < spec->event_count && w->status == LW_OK; k++)
        put_event(w, spec, joints, &spec->events[k]);
    if (spec->output_count > 0) lw_put(w, "outputs:\n");
    for (size_t k = 0; k < spec->output_count && w->status == LW_OK; k++) put_output(w, &spec->outputs[k]);
    put_run(w, &spec->run);
}

/* The spec with its parts placed; the writer has the fault if it cannot be had. */
static bool place(lw_writer *w, const lw_spec *spec, lw_arena *arena, lw_spec *placed) {
    lw_report *report = lw_report_create();
    const lw_status status = report ? lw_spec_placed(spec, arena, placed, report) : LW_ERROR_MEMORY;
    const lw_error *first = status == LW_ERROR_MODEL ? lw_report_get(report, 0) : NULL;
    if (first)
        lw_write_fault(w, LW_ERROR_MODEL, first->remedy, "%s: %s", first->object, first->message);
    else if (status != LW_OK)
        lw_write_fault(w, LW_ERROR_MEMORY, NULL, "memory is out");
    lw_report_destroy(report);
    return status == LW_OK;
}

static lw_status model_text(const lw_spec *parted, const file_choice *files, char **text, size_t *length,
                            lw_error *error) {
    lw_writer w = {.error = error};
    lw_names joints;
    lw_spec placed;
    const lw_spec *spec = &placed;
    lw_arena *arena = lw_arena_create(NULL);
    bool *changing = LW_NEW(arena, bool, parted->parameter_count + parted->table_count + 1);
    if (changing && !place(&w, parted, arena, &placed)) {
        /* The fault is noted. */
    } else if (changing && lw_bound_create(&w, parted, spec, arena, changing) &&
               lw_names_create(arena, (int)spec->joint_count, &joints) == LW_OK) {
        for (size_t k = 0; k < spec->joint_count; k++) joints.names[k] = spec->joints[k].name;
        lw_names_sort(&joints);
        put_all(&w, spec, &joints, files, changing);
        lw_bound_check(&w);
    } else {
        lw_write_fault(&w, LW_ERROR_MEMORY, NULL, "memory is out");
    }
    lw_arena_destroy(arena);
    *text = w.status == LW_OK ? w.text : NULL;
    *length = w.length;
    if (w.status != LW_OK) free(w.text);
    return w.status;
}

lw_status lw_model_text(const lw_spec *spec, char **text, size_t *length, lw_error *error) {
    const file_choice all = {.spec = spec};
    return model_text(spec, &all, text, length, error);
}

/* Would a model file at this path read the same points from the table's file? */
static bool reads_back(const lw_spec *spec, size_t index, const char *path) {
    const lw_table_spec *table = &spec->tables[index];
    if (!lw_spec_table_is_of_file(spec, index)) return false;
    lw_table_file points = {0};
    char *file = lw_table_file_path(path, table->file, false, NULL);
    bool same = file && lw_table_file_read(file, table->x_column, table->y_column, &points, NULL) == LW_OK &&
                points.count == (size_t)table->size;
    const size_t size = (size_t)table->size * sizeof(double);
    same = same && memcmp(points.x, table->x, size) == 0 && memcmp(points.y, table->y, size) == 0;
    lw_table_file_free(&points);
    free(file);
    return same;
}

/* Would a model file at this path read the same mesh from the mesh's file? */
static bool mesh_reads_back(const lw_mesh_spec *mesh, const char *path) {
    lw_mesh_spec again = {0};
    char *file = mesh->file ? lw_table_file_path(path, mesh->file, false, NULL) : NULL;
    lw_arena *arena = file ? lw_arena_create(NULL) : NULL;
    bool same = arena && lw_mesh_file_read(file, arena, &again, NULL) == LW_OK &&
                again.vertex_count == mesh->vertex_count && again.triangle_count == mesh->triangle_count;
    same = same &&
           memcmp(again.vertices, mesh->vertices, 3 * (size_t)mesh->vertex_count * sizeof(double)) == 0 &&
           memcmp(again.triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof(int)) == 0;
    if (arena) lw_arena_destroy(arena);
    free(file);
    return same;
}

static lw_status file_fault(lw_error *error, const char *path, const char *action, int fault) {
    char object[sizeof error->object];
    snprintf(object, sizeof object, "model file \"%s\"", path);
    return lw_fail(error, LW_ERROR_FILE, object, "give a path in an existing folder where you may write",
                   "cannot be %s: %s", action, strerror(fault));
}

lw_status lw_write_model(const lw_spec *spec, const char *path, lw_error *error) {
    char *text = NULL;
    size_t length = 0;
    if (!spec || !path) return lw_call_needs("a spec and a path", error);
    bool *of_file = calloc(spec->table_count + spec->meshes.count + 1, sizeof *of_file);
    if (!of_file) return lw_out_of_memory(error);
    const file_choice files = {spec, of_file, of_file + spec->table_count};
    for (size_t k = 0; k < spec->table_count; k++) of_file[k] = reads_back(spec, k, path);
    for (size_t k = 0; k < spec->meshes.count; k++)
        of_file[spec->table_count + k] = mesh_reads_back(spec->meshes.items[k], path);
    lw_status status = model_text(spec, &files, &text, &length, error);
    free(of_file);
    if (status != LW_OK) return status; /* An existing file is left unchanged. */

    errno = 0;
    bool standard_output = strcmp(path, "-") == 0;
    FILE *file = standard_output ? stdout : fopen(path, "wb");
    if (!file) {
        status = file_fault(error, path, "opened", errno);
    } else {
        bool written = fwrite(text, 1, length, file) == length && fflush(file) == 0;
        int fault = written ? 0 : errno;
        if (!standard_output && fclose(file) != 0 && fault == 0) fault = errno ? errno : EIO;
        if (fault) status = file_fault(error, path, "written", fault);
    }
    free(text);
    return status;
}
