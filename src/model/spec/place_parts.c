/* place_parts.c - a spec with parts as a spec without: everything in the world of the model.
 *
 * A part lies by its placement x = p + R D X, D diagonal with entries +-1 (docs/theory/parts.md). World data
 * of its objects get p, R and D; what is given in the frame of a body gets D alone, because frames of bodies
 * are mirrored along, A -> R D A D. Axes of turns are axial and get det D as well, so that coordinates keep
 * their values, but for the angle of a cylindrical joint and the coordinates of balls (table there). A body
 * without a pose that no joint gives one lies in the frame of its part's world.
 *
 * Cost     O(objects * log(objects) + length of the expressions); nothing without parts.
 */
#include "model/joint_types.h"
#include "linalg/vec3.h"
#include "model/spec/parts.h"

#include <stdio.h>
#include <string.h>

/* --- placements ----------------------------------------------------------------------------------- */

/* The first `end` bytes of a name. */
static bool before_dot(const char *name, size_t end, char *out, size_t size) {
    if (end == 0 || end >= size) return false;
    memcpy(out, name, end);
    out[end] = '\0';
    return true;
}

int lw_part_of(const lw_names *parts, const char *name) {
    char front[512];
    if (parts->count == 0 || !name) return -1;
    for (size_t end = strlen(name); end-- > 0;) {
        if (name[end] != '.' || !before_dot(name, end, front, sizeof front)) continue;
        const int part = lw_names_find(parts, front);
        if (part >= 0) return part;
    }
    return -1;
}

static void mirror_quaternion(const double D[3], double q[4]) {
    const double sense = D[0] * D[1] * D[2];
    for (int k = 0; k < 3; k++) q[k + 1] *= sense * D[k];
}

static bool is_none(const double q[4]) { return q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0; }

static void place_part(const lw_part_spec *part, const lw_placement *outer, lw_placement *own) {
    double q[4] = {1, 0, 0, 0}, p[3], moved[3];
    if (!is_none(part->rotation)) memcpy(q, part->rotation, sizeof q);
    lw_quat_normalise(q);
    lw_v3_copy(part->position, p);
    for (int k = 0; k < 3; k++) own->D[k] = (int)part->mirror == k + 1 ? -1 : 1;
    if (outer) {
        double product[4];
        mirror_quaternion(outer->D, q);
        lw_quat_mul(outer->q, q, product);
        memcpy(q, product, sizeof q);
        for (int k = 0; k < 3; k++) p[k] *= outer->D[k], own->D[k] *= outer->D[k];
        lw_m3_mul_v(outer->R, p, moved);
        lw_v3_add(outer->p, moved, p);
    }
    memcpy(own->q, q, sizeof q);
    lw_v3_copy(p, own->p);
    lw_rot_quat(q, own->R);
    own->sense = own->D[0] * own->D[1] * own->D[2];
    own->plain = own->D[0] > 0 && own->D[1] > 0 && own->D[2] > 0;
    own->at_origin = p[0] == 0 && p[1] == 0 && p[2] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0;
}

lw_status lw_placements_create(const lw_spec *spec, lw_arena *arena, lw_placements *all) {
    const int count = (int)spec->part_count;
    all->items = LW_NEW(arena, lw_placement, count + 1);
    if (!all->items || lw_names_create(arena, count, &all->parts) != LW_OK) return LW_ERROR_MEMORY;
    for (int k = 0; k < count; k++) all->parts.names[k] = spec->parts[k].name;
    lw_names_sort(&all->parts);
    for (int k = 0; k < count; k++) { /* In the order of their names a part comes before those in it. */
        const int index = all->parts.order[k], outer = lw_part_of(&all->parts, spec->parts[index].name);
        place_part(&spec->parts[index], outer >= 0 ? &all->items[outer] : NULL, &all->items[index]);
    }
    return LW_OK;
}

const lw_placement *lw_placement_of(const lw_placements *all, const char *name) {
    const int part = lw_part_of(&all->parts, name);
    if (part < 0 || (all->items[part].at_origin && all->items[part].plain)) return NULL;
    return &all->items[part];
}

const char *lw_spec_source(const lw_spec *spec, const char *name, char *use, size_t size) {
    const lw_part_spec *part = NULL, *outer = NULL;
    use[0] = '\0';
    for (size_t k = 0; k < spec->part_count && name; k++) { /* Only where something is wrong. */
        const lw_part_spec *one = &spec->parts[k];
        const size_t length = strlen(one->name);
        if (strncmp(name, one->name, length) != 0 || name[length] != '.') continue;
        if (!part || length > strlen(part->name)) part = one;
    }
    if (!part) return spec->file;
    for (size_t k = 0; k < spec->part_count; k++) {
        const lw_part_spec *one = &spec->parts[k];
        const size_t length = strlen(one->name);
        if (strncmp(part->name, one->name, length) != 0 || part->name[length] != '.') continue;
        if (!outer || length > strlen(outer->name)) outer = one;
    }
    (void)snprintf(use, size, " (used as part \"%.80s\", %.100s:%d:%d)", part->name,
                   outer && outer->file ? outer->file : spec->file, part->place.line, part->place.column);
    return part->file ? part->file : spec->file;
}

/* --- numbers -------------------------------------------------------------------------------------- */

/* A vector of a body's frame. */
static void mirror(const lw_placement *at, double v[3]) {
    for (int k = 0; k < 3; k++) v[k] *= at->D[k];
}

/* A direction of the part's world. */
static void turn(const lw_placement *at, double v[3]) {
    double w[3];
    mirror(at, v);
    lw_m3_mul_v(at->R, v, w);
    lw_v3_copy(w, v);
}

static void place_point(const lw_placement *at, double x[3]) {
    turn(at, x);
    lw_v3_add(at->p, x, x);
}

/* A rotation of the part's world (world) or of a body's frame. */
static void place_rotation(const lw_placement *at, bool world, double q[4]) {
    double product[4];
    if (is_none(q) && !world) return;
    if (is_none(q)) q[0] = 1;
    mirror_quaternion(at->D, q);
    if (!world) return;
    lw_quat_mul(at->q, q, product);
    memcpy(q, product, sizeof product);
}

static void place_vector(const lw_placement *at, bool world, double v[3]) {
    if (world)
        turn(at, v);
    else
        mirror(at, v);
}

static void place_or_mirror(const lw_placement *at, bool world, double x[3]) {
    if (world)
        place_point(at, x);
    else
        mirror(at, x);
}

/* --- objects -------------------------------------------------------------------------------------- */

typedef struct placing {
    const lw_spec *spec; /* as it was */
    lw_spec *out;
    lw_arena *arena;
    lw_placements all;
    lw_names joints, forces, frames;
    lw_report *report;
    bool failed, refused;
} placing;

/* An expression of an object; the text as it was after a fault, which is reported. */
static const char *place_text(placing *job, const lw_placement *at, const char *kind, const char *name,
                              lw_place place, const char *variables, const char *text) {
    lw_syntax syntax = {0};
    if (!text) return NULL;
    const char *placed =
        lw_placed_expression(job->arena, job->spec, &job->joints, &job->forces, at, variables, text, &syntax);
    if (placed) return placed;
    if (!syntax.message[0]) {
        job->failed = true;
        return text;
    }
    char object[112], use[320];
    const char *file = lw_spec_source(job->spec, name, use, sizeof use);
    (void)snprintf(object, sizeof object, "%s \"%.90s\"", kind, name);
    lw_complain(job->report, LW_SEVERITY_ERROR, file, place, object, syntax.remedy, "%s%s", syntax.message,
                use);
    job->refused = true;
    return text;
}

static const char *negated(placing *job, const char *text, double sign) {
    lw_text_out out = {.arena = job->arena};
    if (!text || sign > 0) return text;
    lw_text_add(&out, "-(", 2);
    lw_text_add(&out, text, strlen(text));
    lw_text_add(&out, ")", 1);
    job->failed = job->failed || out.failed;
    return out.failed ? text : out.text;
}

static void place_shape(const lw_placement *at, lw_shape *shape) {
    if (at->plain) return;
    mirror(at, shape->position);
    for (int k = 0; k < 4; k++) mirror(at, shape->points[k]);
    place_rotation(at, false, shape->rotation);
    if (shape->kind == LW_SHAPE_MESH) mirror(at, shape->size);
    if (shape->kind == LW_SHAPE_CONE && at->D[2] < 0) { /* Half a turn about x puts the apex at -z. */
        const double half[4] = {0, 1, 0, 0};
        double q[4];
        if (is_none(shape->rotation)) shape->rotation[0] = 1;
        lw_quat_mul(shape->rotation, half, q);
        memcpy(shape->rotation, q, sizeof q);
    }
}

static void place_body(placing *job, lw_body_spec *body) {
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const lw_placement *at = lw_placement_of(&job->all, body->name);
    if (!at) return;
    if (body->has_pose) {
        place_point(at, body->position);
        place_rotation(at, true, body->rotation);
    }
    mirror(at, body->com);
    for (int k = 3; k < 6; k++) body->inertia[k] *= at->D[pair[k][0]] * at->D[pair[k][1]];
    place_shape(at, &body->shape);
    if (body->shape_count <= 0 || at->plain) return;
    lw_shape *shapes = LW_NEW(job->arena, lw_shape, body->shape_count);
    if (!shapes) {
        job->failed = true;
        return;
    }
    memcpy(shapes, body->shapes, (size_t)body->shape_count * sizeof *shapes);
    for (int k = 0; k < body->shape_count; k++) place_shape(at, &shapes[k]);
    body->shapes = shapes;
}

static void place_frame(placing *job, lw_frame_spec *frame) {
    const lw_placement *at = lw_placement_of(&job->all, frame->name);
    if (!at) return;
    const bool world = frame->body && strcmp(frame->body, LW_GROUND) == 0;
    place_or_mirror(at, world, frame->position);
    place_rotation(at, world, frame->rotation);
}

/* Axes of turns are axial. Those of a ball are z and x of a frame, which is mirrored as frames of bodies are:
 * each keeps the side that it is the coordinate axis of. */
static double sense_of_axis(const lw_placement *at, lw_joint_type type, int axis) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    if (d->ball) return at->D[axis == 0 ? 2 : 0];
    if (d->frame == LW_FRAME_X_Y) return at->sense;
    if (d->axes_are_slides || axis > 0 || type == LW_JOINT_CYLINDRICAL || d->turns == 0) return 1;
    return at->sense;
}

/* Is the pose given of what a joint names on a side? */
static bool has_pose(const placing *job, const lw_names *bodies, const char *name) {
    const int frame = name ? lw_names_find(&job->frames, name) : -1;
    if (frame >= 0) name = job->spec->frames[frame].body;
    if (name && strcmp(name, LW_GROUND) == 0) return true;
    const int index = name ? lw_names_find(bodies, name) : -1;
    return index >= 0 && job->spec->bodies[index].has_pose;
}

/* Directions that a file leaves open, and that coordinates depend on, are those that compiling takes in the
 * part's own world. */
static void fix_directions(const placing *job, const lw_names *bodies, lw_joint_spec *joint) {
    static const double x_axis[3] = {1, 0, 0}, z_axis[3] = {0, 0, 1};
    const bool ball = lw_joint_describe(joint->type)->ball, world = joint->frame == LW_GEOMETRY_WORLD;
    /* In the world, the same direction on both bodies; in their frames it says where coordinates are zero. */
    if (lw_joint_describe(joint->type)->frame != LW_FRAME_Z_X) return;
    if (world && joint->type != LW_JOINT_PLANAR && !ball) return;
    if (ball && world && joint->geometry[0].axis_count == 0) {
        lw_v3_copy(z_axis, joint->geometry[0].axes[0]);
        lw_v3_copy(x_axis, joint->geometry[0].axes[1]);
        joint->geometry[0].axis_count = 2;
        return;
    }
    const bool posed = has_pose(job, bodies, joint->bodies[0]) && has_pose(job, bodies, joint->bodies[1]);
    for (int side = 0; side < 2; side++) {
        lw_joint_geometry *g = &joint->geometry[side];
        const double n = lw_v3_norm(g->axes[0]);
        if (g->axis_count != 1 || !(n > 0) || (side == 1 && posed)) continue;
        double z[3] = {g->axes[0][0] / n, g->axes[0][1] / n, g->axes[0][2] / n};
        lw_v3_perpendicular(z, g->axes[1]);
        g->axis_count = 2;
    }
}

static void place_joint(placing *job, const lw_names *bodies, lw_joint_spec *joint) {
    const lw_placement *at = lw_placement_of(&job->all, joint->name);
    if (!at || (unsigned)joint->type >= LW_JOINT_TYPES) return;
    const bool world = joint->frame == LW_GEOMETRY_WORLD;
    fix_directions(job, bodies, joint);
    for (int side = 0; side < (world ? 1 : 2); side++) {
        lw_joint_geometry *g = &joint->geometry[side];
        place_or_mirror(at, world, g->point);
        for (int k = 0; k < 3; k++) {
            const double sense = sense_of_axis(at, joint->type, k);
            place_vector(at, world, g->axes[k]);
            for (int l = 0; l < 3 && sense < 0; l++) g->axes[k][l] = -g->axes[k][l];
        }
    }
    joint->lead *= at->sense;
    for (int k = 0; k < LW_JOINT_MAX_V; k++) {
        const double sign =
            k < lw_joint_type_v(joint->type, LW_JOINT_MOTIONS) ? lw_placed_speed(at, joint->type, k) : 1;
        joint->motion[k] = place_text(job, at, "joint", joint->name, joint->place, "", joint->motion[k]);
        joint->motion[k] = negated(job, joint->motion[k], sign);
        if (sign > 0) continue;
        const double lower = joint->limits[k][0];
        joint->v[k] = -joint->v[k];
        joint->zero[k] = -joint->zero[k];
        if (lower == 0 && joint->limits[k][1] == 0) continue; /* There are none. */
        joint->limits[k][0] = -joint->limits[k][1];
        joint->limits[k][1] = -lower;
    }
    for (int k = 0; k < lw_joint_type_q(joint->type, LW_JOINT_MOTIONS) && k < LW_JOINT_MAX_Q; k++)
        joint->q[k] *= lw_placed_coordinate(at, joint->type, k);
}

/* --- forces --------------------------------------------------------------------------------------- */

/* A law on a coordinate that changes its sign: f(x) -> -f(-x). */
static void reverse_law(placing *job, lw_law_spec *law) {
    if (law->table_size <= 0) return;
    const int n = law->table_size;
    double *x = LW_NEW(job->arena, double, n), *y = LW_NEW(job->arena, double, n);
    if (!x || !y) {
        job->failed = true;
        return;
    }
    for (int k = 0; k < n; k++) x[k] = -law->table_x[n - 1 - k], y[k] = -law->table_y[n - 1 - k];
    law->table_x = x, law->table_y = y;
}

/* Components of an applied force or torque, axial: a torque. */
static void place_components(placing *job, const lw_placement *at, const lw_force_spec *force, bool axial,
                             const char *components[3]) {
    const char *own[3];
    bool any = false;
    for (int k = 0; k < 3; k++) {
        own[k] = place_text(job, at, "force", force->name, force->place, "", components[k]);
        own[k] = negated(job, own[k], at->D[k] * (axial ? at->sense : 1));
        any = any || own[k];
    }
    const bool turned = !force->follows_body && (at->q[1] != 0 || at->q[2] != 0 || at->q[3] != 0);
    for (int i = 0; i < 3; i++) {
        components[i] = own[i];
        if (!turned || !any) continue;
        lw_text_out out = {.arena = job->arena};
        for (int k = 0; k < 3; k++) {
            if (!own[k] || at->R[3 * i + k] == 0) continue;
            lw_text_print(&out, "%s(%.17g)*(", out.length ? "+" : "", at->R[3 * i + k]);
            lw_text_add(&out, own[k], strlen(own[k]));
            lw_text_add(&out, ")", 1);
        }
        job->failed = job->failed || out.failed;
        components[i] = out.text; /* NULL: zero */
    }
}

static void place_force(placing *job, lw_force_spec *force) {
    const lw_placement *at = lw_placement_of(&job->all, force->name);
    if (!at) return;
    const bool world = force->frame == LW_GEOMETRY_WORLD;
    const int index = force->joint ? lw_names_find(&job->joints, force->joint) : -1;
    const double sign = index >= 0 && force->coordinate >= 0 && force->coordinate < LW_JOINT_MAX_V
                            ? lw_placed_speed(at, job->spec->joints[index].type, force->coordinate)
                            : 1;
    place_or_mirror(at, world, force->points[0]);
    place_or_mirror(at, world, force->points[1]);
    if (force->type == LW_FORCE_BUSHING) place_rotation(at, world, force->rotation);
    for (int side = 0; side < 2 && force->type == LW_FORCE_CONTACT; side++) {
        place_vector(at, world, force->contact.on[side].axis);
        place_rotation(at, world, force->contact.on[side].rotation);
    }
    if (force->type == LW_FORCE_TORSION) force->free_length *= sign;
    if (force->joint && sign < 0) reverse_law(job, &force->law);
    force->law.expression = negated(
        job,
        place_text(job, at, "force", force->name, force->place, sign < 0 ? "xv" : "", force->law.expression),
        force->joint ? sign : 1);
    force->drive = negated(
        job, place_text(job, at, "force", force->name, force->place, sign < 0 ? "qv" : "", force->drive),
        sign);
    place_components(job, at, force, false, force->force);
    place_components(job, at, force, true, force->torque);
}

/* A term of a coordinate that counts in the other sense, x = -q: the curve c(x - about) is c of minus
 * (q + about), so that odd powers change sign. A table cannot be reversed. */
static void reverse_term(placing *job, lw_constraint_spec *constraint, int k) {
    constraint->about[k] = -constraint->about[k];
    if (constraint->tables[k]) {
        char object[112], use[320];
        const char *file = lw_spec_source(job->spec, constraint->name, use, sizeof use);
        (void)snprintf(object, sizeof object, "constraint \"%.90s\"", constraint->name);
        lw_complain(job->report, LW_SEVERITY_ERROR, file, constraint->place, object,
                    "couple another coordinate, or do not mirror the part",
                    "the coordinate of joint \"%.60s\" counts in the other sense in a mirrored part, and the "
                    "table \"%.60s\" cannot be reversed%s",
                    constraint->joints[k], constraint->tables[k], use);
        job->refused = true;
    } else if (constraint->polynomial_size[k] > 0)
        for (int i = 1; i < constraint->polynomial_size[k] && i < LW_POLYNOMIAL_MAX; i += 2)
            constraint->polynomial[k][i] = -constraint->polynomial[k][i];
    else
        constraint->factors[k] = -constraint->factors[k];
}

static void place_constraint(placing *job, lw_constraint_spec *constraint) {
    const lw_placement *at = lw_placement_of(&job->all, constraint->name);
    if (!at) return;
    const bool world = constraint->frame == LW_GEOMETRY_WORLD;
    for (int k = 0; k < 2; k++) place_or_mirror(at, world, constraint->points[k]);
    place_vector(at, world, constraint->axis);
    place_vector(at, world, constraint->normal);
    for (int k = 0; k < constraint->terms && k < LW_COUPLING_MAX; k++) {
        const int joint = constraint->joints[k] ? lw_names_find(&job->joints, constraint->joints[k]) : -1;
        if (joint < 0 || constraint->coordinates[k] < 0 || constraint->coordinates[k] >= LW_JOINT_MAX_V)
            continue;
        if (lw_placed_speed(at, job->spec->joints[joint].type, constraint->coordinates[k]) < 0)
            reverse_term(job, constraint, k);
    }
}

/* --- everything else ------------------------------------------------------------------------------ */

static void place_event(placing *job, lw_event_spec *event) {
    const lw_placement *at = lw_placement_of(&job->all, event->name);
    if (!at) return;
    event->when = place_text(job, at, "event", event->name, event->place, "", event->when);
    event->factor = place_text(job, at, "event", event->name, event->place, "", event->factor);
    for (int k = 0; k < event->set_count; k++)
        event->sets[k].value =
            place_text(job, at, "event", event->name, event->place, "", event->sets[k].value);
}

static void place_values(placing *job) {
    lw_spec *out = job->out;
    const lw_placement *at;
    for (lw_parameter *i = out->inputs; (size_t)(i - out->inputs) < (size_t)out->input_count; i++)
        if ((at = lw_placement_of(&job->all, i->name)))
            i->text = place_text(job, at, "input", i->name, i->place, "", i->text);
    for (lw_signal_spec *s = out->signals; (size_t)(s - out->signals) < (size_t)out->signal_count; s++)
        if ((at = lw_placement_of(&job->all, s->name)))
            s->value = place_text(job, at, "signal", s->name, s->place, "", s->value);
    for (lw_state_spec *s = out->states; (size_t)(s - out->states) < (size_t)out->state_count; s++)
        if ((at = lw_placement_of(&job->all, s->name)))
            s->rate = place_text(job, at, "state", s->name, s->place, "", s->rate);
    for (lw_output_spec *o = out->outputs; (size_t)(o - out->outputs) < (size_t)out->output_count; o++)
        if ((at = lw_placement_of(&job->all, o->name)))
            o->value = place_text(job, at, "output", o->name, o->place, "", o->value);
    for (lw_start_spec *s = out->starts; (size_t)(s - out->starts) < (size_t)out->start_count; s++) {
        const int joint = lw_names_find(&job->joints, s->joint);
        if (joint < 0 || !(at = lw_placement_of(&job->all, s->name))) continue;
        const lw_joint_type type = job->spec->joints[joint].type;
        for (int k = 0; k < lw_joint_type_q(type, LW_JOINT_MOTIONS); k++)
            s->q[k] *= lw_placed_coordinate(at, type, k);
        for (int k = 0; k < lw_joint_type_v(type, LW_JOINT_MOTIONS); k++)
            s->v[k] *= lw_placed_speed(at, type, k);
    }
}

/* --- bodies that nothing places ------------------------------------------------------------------- */

typedef struct search {
    const lw_spec *spec;
    lw_names bodies, frames;
    bool *known, *in_world; /* per body, ground behind the last */
    int (*ends)[2];         /* per joint */
    bool *leads;            /* per joint: the pose of one body gives that of the other */
} search;

/* The body of a name on a side of a joint: its index, the number of bodies for ground, -1. */
static int body_of(const search *s, const char *name, bool *framed) {
    *framed = false;
    if (!name) return -1;
    if (strcmp(name, LW_GROUND) == 0) return (int)s->spec->body_count;
    int body = lw_names_find(&s->bodies, name);
    const int frame = body < 0 ? lw_names_find(&s->frames, name) : -1;
    if (frame < 0) return body;
    *framed = true;
    const char *carrier = s->spec->frames[frame].body;
    if (carrier && strcmp(carrier, LW_GROUND) == 0) return (int)s->spec->body_count;
    return carrier ? lw_names_find(&s->bodies, carrier) : -1;
}

static void see_joints(search *s) {
    for (size_t j = 0; j < s->spec->joint_count; j++) {
        const lw_joint_spec *joint = &s->spec->joints[j];
        bool framed[2];
        for (int side = 0; side < 2; side++)
            s->ends[j][side] = body_of(s, joint->bodies[side], &framed[side]);
        if (s->ends[j][0] < 0 || s->ends[j][1] < 0) continue;
        s->leads[j] = !lw_joint_is_free(joint->type) &&
                      (joint->frame == LW_GEOMETRY_BODY || (joint->at_frames && framed[0] && framed[1]));
        for (int side = 0; side < 2; side++)
            if (joint->frame == LW_GEOMETRY_WORLD && !s->leads[j]) s->in_world[s->ends[j][side]] = true;
    }
}

/* Poses spread across joints that lead on; union by passes would be quadratic, so a queue is used. */
static lw_status spread(const search *s, lw_arena *arena, int *queue, int *tail, int head) {
    const int nb = (int)s->spec->body_count, nj = (int)s->spec->joint_count;
    int *start = LW_NEW(arena, int, nb + 3), *at = LW_NEW(arena, int, 2 * nj + 1);
    if (!start || !at) return LW_ERROR_MEMORY;
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && s->leads[j]; side++) start[s->ends[j][side] + 1]++;
    for (int i = 0; i <= nb; i++) start[i + 1] += start[i];
    int *next = LW_NEW(arena, int, nb + 2);
    if (!next) return LW_ERROR_MEMORY;
    memcpy(next, start, (size_t)(nb + 1) * sizeof *next);
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && s->leads[j]; side++) at[next[s->ends[j][side]]++] = j;
    for (int pass = 0, body = 0;;) {
        for (; head < *tail; head++)
            for (int k = start[queue[head]]; k < start[queue[head] + 1]; k++) {
                const int other = s->ends[at[k]][s->ends[at[k]][0] == queue[head]];
                if (s->known[other]) continue;
                s->known[other] = true;
                queue[(*tail)++] = other;
            }
        while (body < nb && (s->known[body] || (pass == 0 && !s->in_world[body]))) body++;
        if (body < nb) { /* It gets the frame of its world. */
            s->known[body] = true;
            queue[(*tail)++] = body;
            s->spec->bodies[body].has_pose = true;
        } else if (pass++ == 0) {
            body = 0;
        } else {
            return LW_OK;
        }
    }
}

/* The same search as that of compile_geometry.c for the reference configuration: bodies that it would put
 * into the frame of the world get the pose zero, in the world of their part. */
static lw_status pose_the_rest(placing *job) {
    lw_spec *out = job->out;
    const size_t nb = out->body_count, nj = out->joint_count;
    search s = {.spec = out,
                .known = LW_NEW(job->arena, bool, nb + 2),
                .in_world = LW_NEW(job->arena, bool, nb + 2),
                .ends = (int(*)[2])LW_NEW(job->arena, int, 2 * nj + 2),
                .leads = LW_NEW(job->arena, bool, nj + 1)};
    int *queue = LW_NEW(job->arena, int, nb + 2), tail = 0;
    bool *given = LW_NEW(job->arena, bool, nb + 1);
    if (lw_arena_failed(job->arena) || lw_names_create(job->arena, (int)nb, &s.bodies) != LW_OK ||
        lw_names_create(job->arena, (int)out->frame_count, &s.frames) != LW_OK)
        return LW_ERROR_MEMORY;
    for (size_t k = 0; k < nb; k++) s.bodies.names[k] = out->bodies[k].name;
    for (size_t k = 0; k < out->frame_count; k++) s.frames.names[k] = out->frames[k].name;
    lw_names_sort(&s.bodies);
    lw_names_sort(&s.frames);
    see_joints(&s);
    s.known[nb] = true;
    queue[tail++] = (int)nb; /* ground */
    for (size_t k = 0; k < nb; k++) {
        given[k] = out->bodies[k].has_pose;
        if (given[k]) s.known[k] = true, queue[tail++] = (int)k;
    }
    if (spread(&s, job->arena, queue, &tail, 0) != LW_OK) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < nb; k++) {
        lw_body_spec *body = &out->bodies[k];
        if (given[k] || !body->has_pose) continue;
        /* Bodies of the model itself stay as they are. */
        body->has_pose = lw_part_of(&job->all.parts, body->name) >= 0;
        memset(body->position, 0, sizeof body->position);
        memset(body->rotation, 0, sizeof body->rotation);
        if (body->has_pose) body->rotation[0] = 1;
    }
    return LW_OK;
}

/* --- the whole ------------------------------------------------------------------------------------ */

static void *copied(placing *job, const void *items, size_t count, size_t size) {
    void *copy = lw_arena_take(job->arena, count + 1, size);
    if (!copy)
        job->failed = true;
    else if (count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

/* Expressions of a part mean what they mean in its file, but which bodies' energy a part has is not defined
 * where bodies are joined: what all bodies have together belongs into the model. */
static void refuse_total(placing *job, const char *kind, const char *name, lw_place place, const char *text) {
    size_t length;
    const size_t found = text ? lw_part_total(text, &length) : 0;
    if (found == 0 || lw_part_of(&job->all.parts, name) < 0) return;
    char object[112], use[320];
    const char *file = lw_spec_source(job->spec, name, use, sizeof use);
    (void)snprintf(object, sizeof object, "%s \"%.90s\"", kind, name);
    lw_complain(job->report, LW_SEVERITY_ERROR, file, place, object,
                "write it in the model that uses the part, or add up quantities of single bodies",
                "\"%.*s\" is that of the whole model, and this file is a part of it%s", (int)length,
                text + found - 1, use);
    job->refused = true;
}

static void refuse_totals(placing *job) {
    const lw_spec *spec = job->spec;
    for (size_t k = 0; k < spec->joint_count; k++)
        for (int i = 0; i < LW_JOINT_MAX_V; i++)
            refuse_total(job, "joint", spec->joints[k].name, spec->joints[k].place,
                         spec->joints[k].motion[i]);
    for (size_t k = 0; k < spec->force_count; k++) {
        const lw_force_spec *f = &spec->forces[k];
        refuse_total(job, "force", f->name, f->place, f->law.expression);
        refuse_total(job, "force", f->name, f->place, f->drive);
        for (int i = 0; i < 3; i++) refuse_total(job, "force", f->name, f->place, f->force[i]);
        for (int i = 0; i < 3; i++) refuse_total(job, "force", f->name, f->place, f->torque[i]);
    }
    for (size_t k = 0; k < spec->event_count; k++) {
        const lw_event_spec *e = &spec->events[k];
        refuse_total(job, "event", e->name, e->place, e->when);
        refuse_total(job, "event", e->name, e->place, e->factor);
        for (int i = 0; i < e->set_count; i++)
            refuse_total(job, "event", e->name, e->place, e->sets[i].value);
    }
    for (size_t k = 0; k < spec->input_count; k++)
        refuse_total(job, "input", spec->inputs[k].name, spec->inputs[k].place, spec->inputs[k].text);
    for (size_t k = 0; k < spec->signal_count; k++)
        refuse_total(job, "signal", spec->signals[k].name, spec->signals[k].place, spec->signals[k].value);
    for (size_t k = 0; k < spec->state_count; k++)
        refuse_total(job, "state", spec->states[k].name, spec->states[k].place, spec->states[k].rate);
    for (size_t k = 0; k < spec->output_count; k++)
        refuse_total(job, "output", spec->outputs[k].name, spec->outputs[k].place, spec->outputs[k].value);
}

static lw_status place_all(placing *job) {
    lw_spec *out = job->out;
    const lw_spec *spec = job->spec;
    lw_names bodies;
    if (lw_placements_create(spec, job->arena, &job->all) != LW_OK ||
        lw_names_create(job->arena, (int)spec->joint_count, &job->joints) != LW_OK ||
        lw_names_create(job->arena, (int)spec->force_count, &job->forces) != LW_OK ||
        lw_names_create(job->arena, (int)spec->frame_count, &job->frames) != LW_OK ||
        lw_names_create(job->arena, (int)spec->body_count, &bodies) != LW_OK)
        return LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->joint_count; k++) job->joints.names[k] = spec->joints[k].name;
    for (size_t k = 0; k < spec->force_count; k++) job->forces.names[k] = spec->forces[k].name;
    for (size_t k = 0; k < spec->frame_count; k++) job->frames.names[k] = spec->frames[k].name;
    for (size_t k = 0; k < spec->body_count; k++) bodies.names[k] = spec->bodies[k].name;
    lw_names_sort(&job->frames);
    lw_names_sort(&job->joints);
    lw_names_sort(&job->forces);
    lw_names_sort(&bodies);
#define COPIED(list, count) out->list = copied(job, spec->list, spec->count, sizeof *spec->list)
    COPIED(inputs, input_count);
    COPIED(bodies, body_count);
    COPIED(frames, frame_count);
    COPIED(joints, joint_count);
    COPIED(forces, force_count);
    COPIED(constraints, constraint_count);
    COPIED(events, event_count);
    COPIED(signals, signal_count);
    COPIED(states, state_count);
    COPIED(outputs, output_count);
    COPIED(starts, start_count);
#undef COPIED
    if (job->failed || pose_the_rest(job) != LW_OK) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < out->body_count; k++) place_body(job, &out->bodies[k]);
    for (size_t k = 0; k < out->frame_count; k++) place_frame(job, &out->frames[k]);
    for (size_t k = 0; k < out->joint_count; k++) place_joint(job, &bodies, &out->joints[k]);
    for (size_t k = 0; k < out->force_count; k++) place_force(job, &out->forces[k]);
    for (size_t k = 0; k < out->constraint_count; k++) place_constraint(job, &out->constraints[k]);
    for (size_t k = 0; k < out->event_count; k++) place_event(job, &out->events[k]);
    place_values(job);
    refuse_totals(job);
    return job->failed ? LW_ERROR_MEMORY : job->refused ? LW_ERROR_MODEL : LW_OK;
}

lw_status lw_spec_placed(const lw_spec *spec, lw_arena *arena, lw_spec *placed, lw_report *report) {
    *placed = *spec;
    if (spec->part_count == 0) return LW_OK;
    placing job = {.spec = spec, .out = placed, .arena = arena, .report = report};
    return place_all(&job);
}
