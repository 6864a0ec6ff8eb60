/* same_spec.h - are two specs equal in every field that means something, to the last bit?
 *
 * What does not count: fields that the type of an object does not have, and places in the file.
 */
#ifndef LW_TEST_SAME_SPEC_H
#define LW_TEST_SAME_SPEC_H

#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

static const char *what;            /* the model under test, for messages */
static const char *text_under_test; /* and as it was written */

static void differ(const char *object, const char *field) {
    fail_msg("%s: %s: %s differs after reading back\n%s", what, object, field, text_under_test);
}

static void same_numbers(const char *object, const char *field, const double *a, const double *b, int count) {
    if (count > 0 && memcmp(a, b, (size_t)count * sizeof *a) != 0) differ(object, field);
}
static void same_number(const char *object, const char *field, double a, double b) {
    same_numbers(object, field, &a, &b, 1);
}
static void same_int(const char *object, const char *field, int a, int b) {
    if (a != b) differ(object, field);
}
static void same_text(const char *object, const char *field, const char *a, const char *b) {
    if (!a != !b || (a && strcmp(a, b) != 0)) differ(object, field);
}

static void same_shape(const char *name, const lw_shape *a, const lw_shape *b) {
    static const int sizes[] = {0, 3, 2, 1, 2, 0, 0, 2, 3, 3}, points[] = {0, 0, 0, 0, 0, 2, 4, 0, 0, 0};
    same_int(name, "shape", (int)a->kind, (int)b->kind);
    same_numbers(name, "size", a->size, b->size, sizes[a->kind]);
    for (int k = 0; k < points[a->kind]; k++)
        same_numbers(name, "shape's point", a->points[k], b->points[k], 3);
    if (a->kind == LW_SHAPE_NONE) return;
    same_numbers(name, "shape's position", a->position, b->position, 3);
    same_numbers(name, "shape's rotation", a->rotation, b->rotation, 4);
    same_int(name, "colour", a->colour, b->colour);
    same_int(name, "has_mass", a->has_mass, b->has_mass);
    same_number(name, "shape's mass", a->mass, b->mass);
    same_number(name, "shape's density", a->density, b->density);
    same_int(name, "mesh", !a->mesh, !b->mesh);
    if (!a->mesh) return;
    same_text(name, "mesh's file", a->mesh->file, b->mesh->file);
    same_int(name, "vertices", a->mesh->vertex_count, b->mesh->vertex_count);
    same_numbers(name, "vertex", a->mesh->vertices, b->mesh->vertices, 3 * a->mesh->vertex_count);
    same_int(name, "triangles", a->mesh->triangle_count, b->mesh->triangle_count);
    for (int k = 0; k < 3 * a->mesh->triangle_count; k++)
        same_int(name, "triangle", a->mesh->triangles[k], b->mesh->triangles[k]);
}

static void same_body(const lw_body_spec *a, const lw_body_spec *b) {
    same_text(a->name, "name", a->name, b->name);
    same_int(a->name, "kind", (int)a->kind, (int)b->kind);
    same_number(a->name, "mass", a->mass, b->mass);
    same_numbers(a->name, "com", a->com, b->com, 3);
    if (a->kind == LW_BODY_SPATIAL) same_numbers(a->name, "inertia", a->inertia, b->inertia, 6);
    if (a->kind == LW_BODY_PLANAR) same_number(a->name, "inertia", a->inertia[2], b->inertia[2]);
    same_int(a->name, "has_pose", a->has_pose, b->has_pose);
    if (a->has_pose) {
        same_numbers(a->name, "position", a->position, b->position, 3);
        same_numbers(a->name, "rotation", a->rotation, b->rotation, 4);
    }
    same_shape(a->name, &a->shape, &b->shape);
    same_int(a->name, "number of shapes", a->shape_count, b->shape_count);
    for (int k = 0; k < a->shape_count; k++) same_shape(a->name, &a->shapes[k], &b->shapes[k]);
}

static void same_joint(const lw_joint_spec *a, const lw_joint_spec *b) {
    int axes = a->geometry[0].axis_count;
    same_text(a->name, "name", a->name, b->name);
    same_int(a->name, "type", (int)a->type, (int)b->type);
    same_int(a->name, "frame", (int)a->frame, (int)b->frame);
    for (int side = 0; side < 2; side++) {
        const lw_joint_geometry *g = &a->geometry[side], *h = &b->geometry[side];
        same_text(a->name, "body", a->bodies[side], b->bodies[side]);
        if (side == 1 && a->frame == LW_GEOMETRY_WORLD) continue;
        if (side == 0) same_int(a->name, "at_frames", a->at_frames, b->at_frames);
        same_numbers(a->name, "point", g->point, h->point, 3);
        if (side == 1 && a->type == LW_JOINT_TRANSLATION) continue;
        same_int(a->name, "axis_count", g->axis_count, h->axis_count);
        for (int k = 0; k < axes; k++) same_numbers(a->name, "axis", g->axes[k], h->axes[k], 3);
    }
    if (a->type == LW_JOINT_SCREW) same_number(a->name, "lead", a->lead, b->lead);
    same_int(a->name, "has_q", a->has_q, b->has_q);
    same_int(a->name, "has_v", a->has_v, b->has_v);
    if (a->has_q) same_numbers(a->name, "q", a->q, b->q, lw_joint_type_q(a->type, axes));
    if (a->has_v) same_numbers(a->name, "v", a->v, b->v, lw_joint_type_v(a->type, axes));
    same_numbers(a->name, "armature", a->armature, b->armature, LW_JOINT_MAX_V);
    same_numbers(a->name, "compliance", a->compliance, b->compliance, 2);
    same_numbers(a->name, "zero", a->zero, b->zero, LW_JOINT_MAX_V);
    same_numbers(a->name, "limits", a->limits[0], b->limits[0], 2 * LW_JOINT_MAX_V);
    same_int(a->name, "stop", (int)a->stop, (int)b->stop);
    same_numbers(a->name, "stiffness of the stop", a->stop_stiffness, b->stop_stiffness, LW_JOINT_MAX_V);
    same_numbers(a->name, "damping of the stop", a->stop_damping, b->stop_damping, LW_JOINT_MAX_V);
    same_numbers(a->name, "restitution of the stop", a->stop_restitution, b->stop_restitution,
                 LW_JOINT_MAX_V);
    for (int k = 0; k < lw_joint_type_v(a->type, axes); k++)
        same_text(a->name, "motion", a->motion[k], b->motion[k]);
    same_int(a->name, "cut", a->cut, b->cut);
}

static void same_law(const char *name, const lw_force_spec *a, const lw_force_spec *b) {
    same_number(name, "stiffness", a->stiffness, b->stiffness);
    same_number(name, "damping", a->damping, b->damping);
    same_int(name, "table_size", a->law.table_size, b->law.table_size);
    if (a->law.table_size > 0) {
        same_numbers(name, "table_x", a->law.table_x, b->law.table_x, a->law.table_size);
        same_numbers(name, "table_y", a->law.table_y, b->law.table_y, a->law.table_size);
        same_int(name, "smooth", a->law.smooth, b->law.smooth);
    } else {
        same_text(name, "law", a->law.expression, b->law.expression);
    }
}

static void same_force(const lw_force_spec *a, const lw_force_spec *b) {
    const char *name = a->name;
    same_text(name, "name", a->name, b->name);
    same_int(name, "type", (int)a->type, (int)b->type);
    switch (a->type) {
    case LW_FORCE_SPRING:
        same_int(name, "has_free_length", a->has_free_length, b->has_free_length);
        if (a->has_free_length) same_number(name, "free_length", a->free_length, b->free_length);
        same_numbers(name, "points", a->points[0], b->points[0], 6);
        same_law(name, a, b);
        break;
    case LW_FORCE_TORSION:
        same_number(name, "free_length", a->free_length, b->free_length);
        same_law(name, a, b);
        break;
    case LW_FORCE_BUSHING:
        same_numbers(name, "points", a->points[0], b->points[0], a->frame == LW_GEOMETRY_WORLD ? 3 : 6);
        same_numbers(name, "rotation", a->rotation, b->rotation, 4);
        same_numbers(name, "stiffness", a->bushing_stiffness, b->bushing_stiffness, 6);
        same_numbers(name, "damping", a->bushing_damping, b->bushing_damping, 6);
        break;
    case LW_FORCE_APPLIED:
        same_numbers(name, "point", a->points[0], b->points[0], 3);
        for (int k = 0; k < 3; k++) same_text(name, "force", a->force[k], b->force[k]);
        for (int k = 0; k < 3; k++) same_text(name, "torque", a->torque[k], b->torque[k]);
        same_int(name, "follows_body", a->follows_body, b->follows_body);
        break;
    case LW_FORCE_DRIVE:
        same_text(name, "drive", a->drive, b->drive);
        same_number(name, "limit", a->limit, b->limit);
        break;
    case LW_FORCE_FRICTION:
        same_number(name, "viscous", a->viscous, b->viscous);
        same_number(name, "coulomb", a->coulomb, b->coulomb);
        same_number(name, "smoothing", a->smoothing, b->smoothing);
        break;
    case LW_FORCE_CONTACT:
        same_numbers(name, "points", a->points[0], b->points[0], 6);
        same_int(name, "surface", (int)a->contact.surface, (int)b->contact.surface);
        same_int(name, "shape", (int)a->contact.shape, (int)b->contact.shape);
        same_int(name, "inside", a->contact.inside, b->contact.inside);
        for (int side = 0; side < 2; side++) {
            const lw_contact_figure *one = &a->contact.on[side], *two = &b->contact.on[side];
            const bool axis =
                side == 0
                    ? a->contact.surface == LW_SURFACE_PLANE || a->contact.surface == LW_SURFACE_CYLINDER
                    : a->contact.shape == LW_TOUCH_CAPSULE || a->contact.shape == LW_TOUCH_DISC;
            if (axis) same_numbers(name, "axis", one->axis, two->axis, 3);
            same_numbers(name, "size", one->size, two->size, 3);
            same_numbers(name, "rotation of a figure", one->rotation, two->rotation, 4);
            same_number(name, "radius", one->radius, two->radius);
            same_number(name, "length", one->length, two->length);
        }
        same_number(name, "stiffness", a->contact.stiffness, b->contact.stiffness);
        same_number(name, "exponent", a->contact.exponent, b->contact.exponent);
        same_number(name, "damping", a->contact.damping, b->contact.damping);
        same_number(name, "friction", a->contact.friction, b->contact.friction);
        same_number(name, "smoothing", a->contact.smoothing, b->contact.smoothing);
        break;
    case LW_FORCE_TYPES:
        break;
    }
    bool in_joint = a->type == LW_FORCE_TORSION || a->type == LW_FORCE_DRIVE || a->type == LW_FORCE_FRICTION;
    if (in_joint) {
        same_text(name, "joint", a->joint, b->joint);
        same_int(name, "coordinate", a->coordinate, b->coordinate);
    } else {
        same_text(name, "first body", a->bodies[0], b->bodies[0]);
        same_text(name, "second body", a->bodies[1], b->bodies[1]);
        same_int(name, "frame", (int)a->frame, (int)b->frame);
    }
}

static void same_constraint(const lw_constraint_spec *a, const lw_constraint_spec *b) {
    const char *name = a->name;
    same_text(name, "name", a->name, b->name);
    same_int(name, "type", (int)a->type, (int)b->type);
    if (a->type == LW_CONSTRAINT_COUPLING) {
        same_int(name, "terms", a->terms, b->terms);
        same_number(name, "offset", a->offset, b->offset);
        same_numbers(name, "factors", a->factors, b->factors, a->terms);
        for (int k = 0; k < a->terms; k++) {
            same_text(name, "joint", a->joints[k], b->joints[k]);
            same_int(name, "coordinate", a->coordinates[k], b->coordinates[k]);
            same_text(name, "table", a->tables[k], b->tables[k]);
            same_int(name, "polynomial", a->polynomial_size[k], b->polynomial_size[k]);
            same_numbers(name, "polynomial", a->polynomial[k], b->polynomial[k], LW_POLYNOMIAL_MAX);
        }
        same_numbers(name, "about", a->about, b->about, a->terms);
        return;
    }
    for (int k = 0; k < 2; k++) same_text(name, "body", a->bodies[k], b->bodies[k]);
    same_int(name, "frame", (int)a->frame, (int)b->frame);
    same_numbers(name, "points", a->points[0], b->points[0], 6);
    same_number(name, "length", a->length, b->length);
    if (a->type != LW_CONSTRAINT_ROLLING) return;
    same_number(name, "radius", a->radius, b->radius);
    same_numbers(name, "axis", a->axis, b->axis, 3);
    same_numbers(name, "normal", a->normal, b->normal, 3);
}

static void same_head(const lw_spec *a, const lw_spec *b) {
    const lw_run_spec *r = lw_spec_run(a), *s = lw_spec_run(b);
    same_text("model", "name", lw_spec_name(a), lw_spec_name(b));
    same_numbers("model", "gravity", lw_spec_gravity(a), lw_spec_gravity(b), 3);
    same_int("model", "welds", (int)lw_spec_welds(a), (int)lw_spec_welds(b));
    same_numbers("run", "numbers", &r->end, &s->end, 4); /* end, step, tolerance, output */
    same_text("run", "method", r->method, s->method);
    same_text("run", "integrator", r->integrator, s->integrator);
    same_text("run", "drift", r->drift, s->drift);
    same_numbers("run", "baumgarte", r->baumgarte, s->baumgarte, 2);
    same_text("run", "independent", r->independent, s->independent);
    same_text("run", "reactions", r->reactions, s->reactions);
    same_text("run", "begin", r->begin, s->begin);
    same_int("model", "parameters", (int)lw_spec_parameter_count(a), (int)lw_spec_parameter_count(b));
    for (size_t k = 0; k < lw_spec_parameter_count(a); k++) {
        double x, y;
        same_text("parameter", "name", lw_spec_parameter(a, k, &x), lw_spec_parameter(b, k, &y));
        same_number(lw_spec_parameter(a, k, NULL), "value", x, y);
    }
    same_int("model", "inputs", (int)lw_spec_input_count(a), (int)lw_spec_input_count(b));
    for (size_t k = 0; k < lw_spec_input_count(a); k++) {
        double x, y;
        same_text("input", "name", lw_spec_input(a, k, &x), lw_spec_input(b, k, &y));
        same_number(lw_spec_input(a, k, NULL), "default", x, y);
    }
}

static void same_table(const lw_table_spec *a, const lw_table_spec *b) {
    same_text(a->name, "name", a->name, b->name);
    same_int(a->name, "size", a->size, b->size);
    same_int(a->name, "interpolation", (int)a->interpolation, (int)b->interpolation);
    same_int(a->name, "beyond", (int)a->beyond, (int)b->beyond);
    same_numbers(a->name, "x", a->x, b->x, a->size);
    same_numbers(a->name, "y", a->y, b->y, a->size);
}

static void same_frame(const lw_frame_spec *a, const lw_frame_spec *b) {
    same_text("frame", "name", a->name, b->name);
    same_text(a->name, "body", a->body, b->body);
    same_numbers(a->name, "position", a->position, b->position, 3);
    same_numbers(a->name, "rotation", a->rotation, b->rotation, 4);
}

static void same_start(const lw_start_spec *a, const lw_start_spec *b) {
    same_text("start", "name", a->name, b->name);
    same_text(a->name, "joint", a->joint, b->joint);
    same_int(a->name, "has_q", a->has_q, b->has_q);
    same_int(a->name, "has_v", a->has_v, b->has_v);
    same_numbers(a->name, "q", a->q, b->q, LW_JOINT_MAX_Q);
    same_numbers(a->name, "v", a->v, b->v, LW_JOINT_MAX_V);
}

static void same_part(const lw_part_spec *a, const lw_part_spec *b) {
    same_text(a->name, "part's name", a->name, b->name);
    same_text(a->name, "part's file", a->file, b->file);
    same_int(a->name, "mirror", (int)a->mirror, (int)b->mirror);
    same_numbers(a->name, "part's position", a->position, b->position, 3);
    same_numbers(a->name, "part's rotation", a->rotation, b->rotation, 4);
}

static void same_spec(lw_spec *a, lw_spec *b) {
    same_head(a, b);
    same_int("model", "parts", (int)lw_spec_part_count(a), (int)lw_spec_part_count(b));
    for (size_t k = 0; k < lw_spec_part_count(a); k++) same_part(lw_spec_part(a, k), lw_spec_part(b, k));
    same_int("model", "frames", (int)lw_spec_frame_count(a), (int)lw_spec_frame_count(b));
    same_int("model", "starts", (int)lw_spec_start_count(a), (int)lw_spec_start_count(b));
    for (size_t k = 0; k < lw_spec_frame_count(a); k++) same_frame(lw_spec_frame(a, k), lw_spec_frame(b, k));
    for (size_t k = 0; k < lw_spec_start_count(a); k++) same_start(lw_spec_start(a, k), lw_spec_start(b, k));
    same_int("model", "tables", (int)lw_spec_table_count(a), (int)lw_spec_table_count(b));
    for (size_t k = 0; k < lw_spec_table_count(a); k++) same_table(lw_spec_table(a, k), lw_spec_table(b, k));
    same_int("model", "bodies", (int)lw_spec_body_count(a), (int)lw_spec_body_count(b));
    same_int("model", "joints", (int)lw_spec_joint_count(a), (int)lw_spec_joint_count(b));
    same_int("model", "forces", (int)lw_spec_force_count(a), (int)lw_spec_force_count(b));
    same_int("model", "constraints", (int)lw_spec_constraint_count(a), (int)lw_spec_constraint_count(b));
    for (size_t k = 0; k < lw_spec_body_count(a); k++) same_body(lw_spec_body(a, k), lw_spec_body(b, k));
    for (size_t k = 0; k < lw_spec_joint_count(a); k++) same_joint(lw_spec_joint(a, k), lw_spec_joint(b, k));
    for (size_t k = 0; k < lw_spec_force_count(a); k++) same_force(lw_spec_force(a, k), lw_spec_force(b, k));
    same_int("model", "signals", (int)lw_spec_signal_count(a), (int)lw_spec_signal_count(b));
    same_int("model", "states", (int)lw_spec_state_count(a), (int)lw_spec_state_count(b));
    same_int("model", "outputs", (int)lw_spec_output_count(a), (int)lw_spec_output_count(b));
    for (size_t k = 0; k < lw_spec_input_count(a); k++)
        same_text("input", "default", lw_spec_input_expression(a, k), lw_spec_input_expression(b, k));
    for (size_t k = 0; k < lw_spec_signal_count(a); k++) {
        const lw_signal_spec *one = lw_spec_signal((lw_spec *)a, k), *two = lw_spec_signal((lw_spec *)b, k);
        same_text("signal", "name", one->name, two->name);
        same_text(one->name, "value", one->value, two->value);
    }
    for (size_t k = 0; k < lw_spec_state_count(a); k++) {
        const lw_state_spec *one = lw_spec_state((lw_spec *)a, k), *two = lw_spec_state((lw_spec *)b, k);
        same_text("state", "name", one->name, two->name);
        same_text(one->name, "rate", one->rate, two->rate);
        same_numbers(one->name, "start", &one->start, &two->start, 1);
    }
    for (size_t k = 0; k < lw_spec_output_count(a); k++) {
        const lw_output_spec *one = lw_spec_output((lw_spec *)a, k), *two = lw_spec_output((lw_spec *)b, k);
        same_text("output", "name", one->name, two->name);
        same_text(one->name, "value", one->value, two->value);
        same_text(one->name, "unit", one->unit, two->unit);
    }
    for (size_t k = 0; k < lw_spec_constraint_count(a); k++)
        same_constraint(lw_spec_constraint(a, k), lw_spec_constraint(b, k));
}

#endif
