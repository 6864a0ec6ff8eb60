/* compile_forces.c - force elements, constraints and prescribed motions: from names and points of the user to
 * labels, coordinates and points in internal frames.
 *
 * Without a tree (unusable joints, bodies without connection) only the rules that need no tree are checked.
 */
#include "model/compile/compile.h"
#include "model/data.h"
#include "model/quantity/quantity.h"

#include <stdio.h>
#include <string.h>

static const char *const of_time[] = {"t"};
static const char *const of_elongation[] = {"x", "v", "t"};
static const char *const of_drive[] = {"t", "q", "v"};

/* --- prescribed motion ---------------------------------------------------------------------------- */

/* Compiles the functions of one motion: one for a coordinate, or three for the Cardan angles of a
 * rotation. */
static void compile_motion(lw_compiler *compiler, const lw_joint_spec *joint, lw_motion *motion) {
    double range[2];
    lw_compile_run_range(compiler, range);
    for (int c = 0; c < motion->count; c++)
        motion->functions[c] =
            lw_compile_function(compiler,
                                &(lw_expression_text){"joint", joint->name, joint->place, "motion",
                                                      joint->motion[motion->speed + c]},
                                of_time, 1, LW_USE_MOTION);
    for (int c = 0; c < motion->count; c++)
        if (motion->functions[c] && !lw_compile_motion_tables(compiler, joint, motion->functions[c]) &&
            lw_function_may_jump(motion->functions[c], range))
            lw_compile_warning(
                compiler, "joint", joint->name, joint->place,
                "use smooth functions such as step(t, t0, h0, t1, h1), or drive the joint by a force",
                "its motion \"%s\" may jump; a jump of speed is an impact, which is not simulated",
                joint->motion[motion->speed + c]);
    if (joint->has_q || joint->has_v)
        lw_compile_warning(compiler, "joint", joint->name, joint->place, "leave q and v out",
                           "its motion is prescribed, so initial q and v that are given do not count");
}

/* Compiles all motions of one joint; returns false if an error ends the compilation of the joint's
 * motions. */
static bool compile_joint_motions(lw_compiler *compiler, int body) {
    lw_model *model = compiler->model;
    const lw_link *link = &model->links[body];
    const lw_joint_spec *joint = &compiler->spec->joints[model->bodies[body].joint_index];
    for (int k = 0; k < link->joint.nv; k++) {
        if (!(link->prescribed >> k & 1)) continue;
        lw_motion *motion = &model->motions[model->motion_count++];
        bool angles = lw_joint_coordinate_of_speed(link->joint.type, k) < 0;
        *motion = (lw_motion){.body = body, .speed = k, .count = angles ? 3 : 1};
        if (angles && (link->prescribed >> k & 7) != 7) {
            lw_compile_error(compiler, "joint", joint->name, joint->place,
                             "give all three Cardan angles (rotation = Rx(a) Ry(b) Rz(c)) or none",
                             "the rotation of a %s joint is prescribed in part",
                             lw_joint_type_name(joint->type));
            return false;
        }
        compile_motion(compiler, joint, motion);
        k += motion->count - 1;
    }
    return true;
}

lw_status lw_compile_motions(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    int most = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) most += model->links[i].prescribed >> k & 1;
    model->motions = LW_NEW(model->arena, lw_motion, most + 1);
    if (!model->motions) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++)
        if (!compile_joint_motions(compiler, i)) return LW_OK;
    model->depends_on_time |= model->motion_count > 0;
    return LW_OK;
}

/* --- force elements ------------------------------------------------------------------------------- */

/* The force element or constraint that messages are about. */
typedef struct object {
    const char *kind, *name;
    lw_place place;
} object;

static object force_object(const lw_force_spec *spec) { return (object){"force", spec->name, spec->place}; }

static object constraint_object(const lw_constraint_spec *spec) {
    return (object){"constraint", spec->name, spec->place};
}

static bool finite_or_error(lw_compiler *compiler, object who, const char *what, const double *x, int count) {
    if (lw_finite(x, count)) return true;
    lw_compile_error(compiler, who.kind, who.name, who.place, "give finite numbers", "%s is not finite",
                     what);
    return false;
}

/* The coordinate of a joint that an object names. */
typedef struct wanted_coordinate {
    const char *joint;
    int number;
    bool needs_angle; /* A speed without a coordinate, as in a spherical joint, is not enough. */
    bool may_be_cut;  /* The joint may be one that closes a loop. */
} wanted_coordinate;

/* The coordinate and speed that were found: their indices in q and v of the model, or -1. For a joint that
 * closes a loop the indices count from the first coordinate and speed of this joint, and `closure` is the
 * number of the loop; for a joint of the tree `closure` is -1. */
typedef struct found_coordinate {
    int q, v, closure;
} found_coordinate;

static found_coordinate find_coordinate(lw_compiler *compiler, object who, wanted_coordinate wanted) {
    const lw_model *model = compiler->model;
    const found_coordinate none = {-1, -1, -1};
    int joint = lw_compile_joint(compiler, who.kind, who.name, who.place, wanted.joint);
    if (joint < 0 || !compiler->drafts[joint].usable) return none;
    const lw_joint *type = &compiler->drafts[joint].joint;
    if (wanted.number < 0 || wanted.number >= type->nv) {
        char remedy[96] = "choose a joint that moves";
        if (type->nv) snprintf(remedy, sizeof remedy, "count from 0 to %d", type->nv - 1);
        lw_compile_error(compiler, who.kind, who.name, who.place, remedy,
                         "joint \"%s\" (%s) has no coordinate %d", wanted.joint,
                         lw_joint_type_name(type->type), wanted.number);
        return none;
    }
    int own = lw_joint_coordinate_of_speed(type->type, wanted.number);
    if (own < 0 && wanted.needs_angle) {
        lw_compile_error(
            compiler, who.kind, who.name, who.place, "use a bushing between its bodies",
            "coordinate %d of joint \"%s\" (%s) is an angular velocity, not the rate of an angle",
            wanted.number, wanted.joint, lw_joint_type_name(type->type));
        return none;
    }
    if (!model->links) return none;
    const lw_joint_info *info = &model->joints[joint].info;
    if (!info->cut) return (found_coordinate){own < 0 ? -1 : info->q + own, info->v + wanted.number, -1};
    if (!wanted.may_be_cut) {
        lw_compile_error(compiler, who.kind, who.name, who.place,
                         "couple another joint of the loop, or take out its cut: true",
                         "joint \"%s\" closes a loop and has no coordinates", wanted.joint);
        return none;
    }
    int closure = 0;
    while (model->closures[closure] != joint) closure++;
    return (found_coordinate){own, wanted.number, closure};
}

/* The same for expressions that name an element before it is compiled: without complaints. */
static void announce_coordinate(const lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    const lw_model *model = compiler->model;
    force->q = force->v = force->closure = -1;
    const int joint = spec->joint ? lw_names_find(&compiler->joints, spec->joint) : -1;
    if (joint < 0 || !model->links || !compiler->drafts[joint].usable) return;
    const lw_joint *type = &compiler->drafts[joint].joint;
    if (spec->coordinate < 0 || spec->coordinate >= type->nv) return;
    const lw_joint_info *info = &model->joints[joint].info;
    const int own = lw_joint_coordinate_of_speed(type->type, spec->coordinate);
    force->q = own < 0 ? -1 : info->cut ? own : info->q + own;
    force->v = info->cut ? spec->coordinate : info->v + spec->coordinate;
    for (int k = 0; k < model->closure_count && info->cut; k++)
        if (model->closures[k] == joint) force->closure = k;
}

/* Converts a point, given in the world (reference configuration) or in the body or the frame that stands for
 * it, to the body's internal frame. */
void lw_compile_point(const lw_compiler *compiler, const lw_mount *mount, lw_geometry_frame frame,
                      const double point[3], double out[3]) {
    const lw_model *model = compiler->model;
    if (!model->links) return;
    const lw_pose *user = &model->bodies[model->graph.label[mount->body]].frame;
    double local[3];
    lw_mount_point(mount, point, local);
    if (frame == LW_GEOMETRY_WORLD) {
        double gap[3];
        const lw_pose *pose = &compiler->reference[mount->body];
        lw_v3_sub(point, pose->p, gap);
        lw_m3_tmul_v(pose->R, gap, local);
    }
    lw_pose_point(user->R, user->p, local, out);
}

/* Converts axes, given in the same way, to the body's internal frame. */
void lw_compile_axes(const lw_compiler *compiler, const lw_mount *mount, lw_geometry_frame frame,
                     const double R[9], double out[9]) {
    const lw_model *model = compiler->model;
    if (!model->links) return;
    double local[9];
    memcpy(local, R, sizeof local);
    if (frame == LW_GEOMETRY_WORLD)
        lw_m3_tmul(compiler->reference[mount->body].R, R, local);
    else if (mount->frame)
        lw_m3_mul(mount->frame->R, R, local);
    lw_m3_mul(model->bodies[model->graph.label[mount->body]].frame.R, local, out);
}

bool lw_compile_pair(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *const wanted[2], lw_mount users[2], int labels[2]) {
    const object who = {kind, name, place};
    for (int side = 0; side < 2; side++)
        users[side] = lw_compile_mount(compiler, who.kind, who.name, who.place, wanted[side]);
    if (users[0].body < 0 || users[1].body < 0) return false;
    if (users[0].body == users[1].body) {
        lw_compile_error(compiler, who.kind, who.name, who.place, "name two different bodies",
                         "acts between body \"%s\" and itself", compiler->bodies.names[users[0].body]);
        return false;
    }
    if (compiler->model->links)
        for (int side = 0; side < 2; side++) labels[side] = compiler->model->graph.label[users[side].body];
    return true;
}

/* wanted: what the law measures, a force or a torque. */
static void compile_law(lw_compiler *compiler, const lw_force_spec *spec, lw_quantity wanted,
                        lw_force *force) {
    const double *numbers[] = {&spec->stiffness, &spec->damping, &spec->free_length};
    static const char *const names[] = {"stiffness", "damping", "free length"};
    for (int k = 0; k < 3; k++) finite_or_error(compiler, force_object(spec), names[k], numbers[k], 1);
    if (spec->damping < 0)
        lw_compile_warning(compiler, "force", spec->name, spec->place,
                           "damping takes energy out when it is positive",
                           "damping %g is negative and puts energy in", spec->damping);
    force->stiffness = spec->stiffness;
    force->damping = spec->damping;
    force->free_length = spec->free_length;
    if (spec->law.table_size > 0) {
        if (spec->law.table_x && spec->law.table_y)
            force->law = lw_function_table(compiler->model->arena, spec->law.table_x, spec->law.table_y,
                                           (size_t)spec->law.table_size, spec->law.smooth);
        if (!force->law)
            lw_compile_error(compiler, "force", spec->name, spec->place,
                             "give finite numbers, x ascending, one y for each x",
                             "its table is not a function");
        force->law_is_potential = true;
    } else if (spec->law.expression) {
        const lw_expression_text text = {"force", spec->name, spec->place, "law", spec->law.expression};
        force->law = lw_compile_function(compiler, &text, of_elongation, 3, LW_USE_FORCE);
        lw_compile_measure(compiler, &text, force->law, wanted);
        force->law_is_potential = force->law && !lw_function_uses(force->law, 1) &&
                                  !lw_function_uses(force->law, 2) && !lw_function_uses_inputs(force->law);
    }
}

static void compile_bushing(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    lw_mount users[2];
    if (!finite_or_error(compiler, force_object(spec), "a point", spec->points[0], 6) ||
        !finite_or_error(compiler, force_object(spec), "rotation", spec->rotation, 4) ||
        !lw_compile_pair(compiler, "force", spec->name, spec->place, spec->bodies, users, force->bodies))
        return;
    finite_or_error(compiler, force_object(spec), "stiffness", spec->bushing_stiffness, 6);
    finite_or_error(compiler, force_object(spec), "damping", spec->bushing_damping, 6);
    memcpy(force->bushing_stiffness, spec->bushing_stiffness, sizeof force->bushing_stiffness);
    memcpy(force->bushing_damping, spec->bushing_damping, sizeof force->bushing_damping);
    double quaternion[4], R[9];
    memcpy(quaternion, spec->rotation, sizeof quaternion);
    lw_quat_normalise(quaternion);
    lw_rot_quat(quaternion, R);
    for (int side = 0; side < 2; side++) {
        const double *point = spec->points[spec->frame == LW_GEOMETRY_WORLD ? 0 : side];
        lw_compile_point(compiler, &users[side], spec->frame, point, force->frames[side].p);
    }
    lw_compile_axes(compiler, &users[0], spec->frame, R, force->frames[0].R);
    /* The second frame coincides with the first in the reference configuration. */
    double world[9], own[9];
    memcpy(own, R, sizeof own);
    if (users[0].frame) lw_m3_mul(users[0].frame->R, R, own);
    if (spec->frame == LW_GEOMETRY_WORLD)
        memcpy(world, R, sizeof world);
    else
        lw_m3_mul(compiler->reference[users[0].body].R, own, world);
    lw_compile_axes(compiler, &users[1], LW_GEOMETRY_WORLD, world, force->frames[1].R);
}

static void compile_applied(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    const lw_mount mount = lw_compile_mount(compiler, "force", spec->name, spec->place, spec->bodies[0]);
    const int body = mount.body;
    int against = spec->bodies[1]
                      ? lw_compile_mount(compiler, "force", spec->name, spec->place, spec->bodies[1]).body
                      : 0;
    finite_or_error(compiler, force_object(spec), "point", spec->points[0], 3);
    for (int k = 0; k < 6; k++) {
        const char *text = k < 3 ? spec->force[k] : spec->torque[k - 3];
        if (!text) continue;
        const lw_expression_text component = {"force", spec->name, spec->place, k < 3 ? "force" : "torque",
                                              text};
        force->components[k] = lw_compile_function(compiler, &component, of_time, 1, LW_USE_FORCE);
        lw_compile_measure(compiler, &component, force->components[k], k < 3 ? LW_FORCE : LW_TORQUE);
    }
    force->follows_body = spec->follows_body;
    if (body < 0 || against < 0 || !compiler->model->links) return;
    force->bodies[0] = compiler->model->graph.label[body];
    force->bodies[1] = compiler->model->graph.label[against];
    lw_compile_point(compiler, &mount, spec->frame, spec->points[0], force->frames[0].p);
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    lw_compile_axes(compiler, &mount, LW_GEOMETRY_BODY, same, force->frames[0].R);
}

static void compile_spring(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    lw_mount users[2];
    compile_law(compiler, spec, LW_FORCE, force);
    if (spec->has_free_length && spec->free_length < 0)
        lw_compile_error(compiler, "force", spec->name, spec->place, "give zero or a positive length",
                         "free length %g is negative", spec->free_length);
    if (finite_or_error(compiler, force_object(spec), "a point", spec->points[0], 6) &&
        lw_compile_pair(compiler, "force", spec->name, spec->place, spec->bodies, users, force->bodies))
        for (int side = 0; side < 2; side++)
            lw_compile_point(compiler, &users[side], spec->frame, spec->points[side], force->frames[side].p);
}

/* Finds the coordinate that a torsion spring, a drive or friction acts on. */
static void compile_coordinate(lw_compiler *compiler, const lw_force_spec *spec, bool needs_angle,
                               lw_force *force) {
    const wanted_coordinate wanted = {spec->joint, spec->coordinate, needs_angle, true};
    found_coordinate found = find_coordinate(compiler, force_object(spec), wanted);
    force->q = found.q, force->v = found.v, force->closure = found.closure;
}

/* What acts on the coordinate of an element in a joint: a force, a torque, or nobody knows. */
static lw_quantity effort_at(const lw_compiler *compiler, const lw_force_spec *spec) {
    int joint = lw_names_find(&compiler->joints, spec->joint ? spec->joint : "");
    if (joint < 0 || !compiler->drafts[joint].usable) return LW_ANY_QUANTITY;
    const lw_joint *type = &compiler->drafts[joint].joint;
    if (spec->coordinate < 0 || spec->coordinate >= type->nv) return LW_ANY_QUANTITY;
    return lw_joint_speed_turns(type->type, spec->coordinate) ? LW_TORQUE : LW_FORCE;
}

/* Of a drive that is sound, no more than its limit acts: as min and max its switching is located. */
static void limit_drive(lw_compiler *compiler, const lw_force_spec *spec, const lw_expression_text *text,
                        lw_force *force) {
    if (!(spec->limit > 0) || !isfinite(spec->limit)) {
        lw_compile_error(compiler, "force", spec->name, spec->place,
                         "give the largest force, a positive number",
                         "limit %g is no limit of a drive's force", spec->limit);
        return;
    }
    const size_t size = strlen(spec->drive) + 100;
    char *limited = LW_NEW(compiler->scratch, char, size);
    if (!limited) return; /* lw_compile_forces fails. */
    snprintf(limited, size, "max(-%.17g, min(%.17g, (%s)))", spec->limit, spec->limit, spec->drive);
    lw_expression_text whole = *text;
    whole.text = limited;
    force->drive = lw_compile_function(compiler, &whole, of_drive, 3, LW_USE_FORCE);
}

static void compile_drive(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    const lw_quantity effort = effort_at(compiler, spec);
    const lw_expression_text text = {"force", spec->name, spec->place,
                                     effort == LW_TORQUE ? "torque" : "force", spec->drive};
    if (spec->drive) {
        force->drive = lw_compile_function(compiler, &text, of_drive, 3, LW_USE_FORCE);
        lw_compile_measure(compiler, &text, force->drive, effort);
        if (force->drive && spec->limit != 0) limit_drive(compiler, spec, &text, force);
    } else
        lw_compile_error(compiler, "force", spec->name, spec->place, "give an expression of t, q and v",
                         "has no force");
    compile_coordinate(compiler, spec, force->drive && lw_function_uses(force->drive, 1), force);
}

static void compile_friction(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    if (!isfinite(spec->viscous) || !isfinite(spec->coulomb) || spec->viscous < 0 || spec->coulomb < 0)
        lw_compile_error(compiler, "force", spec->name, spec->place, "give zero or positive numbers",
                         "friction (viscous %g, coulomb %g) is negative or not finite", spec->viscous,
                         spec->coulomb);
    if (spec->coulomb != 0 && !(spec->smoothing > 0 && isfinite(spec->smoothing)))
        lw_compile_error(compiler, "force", spec->name, spec->place,
                         "give the speed below which friction fades, e.g. 0.01",
                         "smoothing %g is not a speed", spec->smoothing);
    force->viscous = spec->viscous;
    force->coulomb = spec->coulomb;
    force->smoothing = spec->smoothing;
    compile_coordinate(compiler, spec, false, force);
}

static void compile_force(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    force->q = force->v = force->closure = -1;
    switch (spec->type) {
    case LW_FORCE_SPRING:
        compile_spring(compiler, spec, force);
        break;
    case LW_FORCE_BUSHING:
        compile_bushing(compiler, spec, force);
        break;
    case LW_FORCE_APPLIED:
        compile_applied(compiler, spec, force);
        break;
    case LW_FORCE_TORSION:
        compile_law(compiler, spec, effort_at(compiler, spec), force);
        compile_coordinate(compiler, spec, true, force);
        break;
    case LW_FORCE_DRIVE:
        compile_drive(compiler, spec, force);
        break;
    case LW_FORCE_FRICTION:
        compile_friction(compiler, spec, force);
        break;
    case LW_FORCE_CONTACT:
        lw_compile_contact(compiler, spec, force);
        break;
    default:
        lw_compile_error(compiler, "force", spec->name, spec->place, NULL, "unknown force type %d",
                         (int)spec->type);
    }
}

lw_status lw_compile_forces(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->force_count = (int)spec->force_count;
    model->forces = LW_NEW(model->arena, lw_force, spec->force_count + 1);
    if (!model->forces) return LW_ERROR_MEMORY;
    lw_status status = lw_names_create(model->arena, model->force_count, &model->force_names);
    if (status != LW_OK) return status;
    for (size_t k = 0; k < spec->force_count; k++) { /* Expressions may name any element. */
        lw_force *force = &model->forces[k];
        force->name = lw_arena_text(model->arena, spec->forces[k].name);
        force->type = spec->forces[k].type;
        announce_coordinate(compiler, &spec->forces[k], force);
        model->force_names.names[k] = force->name;
        if (!force->name) return LW_ERROR_MEMORY;
    }
    lw_names_sort(&model->force_names);
    status = lw_compile_signals(compiler);
    if (status != LW_OK) return status;
    for (size_t k = 0; k < spec->force_count; k++) {
        lw_force *force = &model->forces[k];
        compile_force(compiler, &spec->forces[k], force);
        /* Of a stop, what is not potential is damping (compile_limits.c). */
        force->law_dissipates =
            !compiler->partial && (int)k >= compiler->given_forces && force->law && !force->law_is_potential;
        model->depends_on_time |=
            (force->law && !force->law_is_potential && lw_function_uses(force->law, 2)) ||
            (force->drive && lw_function_uses(force->drive, 0));
        for (int i = 0; i < 6; i++)
            model->depends_on_time |= force->components[i] && lw_function_uses(force->components[i], 0);
        model->forces_need_world |= force->closure >= 0 || !lw_force_type_in_joint(spec->forces[k].type);
    }
    return lw_arena_failed(compiler->scratch) ? LW_ERROR_MEMORY : LW_OK;
}

/* Returns whether the force of some element depends on this coordinate of the joint that closes a loop. */
static bool depends_on(const lw_model *model, int closure, int coordinate) {
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        if (force->closure != closure || force->q != coordinate) continue;
        if (force->type == LW_FORCE_TORSION) return true;
        if (force->drive && lw_function_uses(force->drive, 1)) return true;
    }
    for (int k = 0; k < model->values.quantity_count; k++) { /* Expressions may depend on any of these. */
        const lw_state_quantity *quantity = &model->values.quantities[k];
        if (quantity->kind == LW_Q_COORDINATE && quantity->other == closure &&
            quantity->component == coordinate)
            return true;
        const lw_force *force = quantity->kind == LW_Q_ELEMENT ? &model->forces[quantity->object] : NULL;
        if (force && lw_force_type_in_joint(force->type) && force->closure == closure &&
            force->q == coordinate)
            return true;
    }
    return false;
}

lw_status lw_compile_cut_angles(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    model->cut_angles =
        /* A cut joint has at most two angles. */
        LW_NEW(model->arena, lw_cut_angle, 2 * model->closure_count + 1);
    if (!model->cut_angles) return LW_ERROR_MEMORY;
    for (int c = 0; c < model->closure_count; c++) {
        lw_joint_entry *entry = &model->joints[model->closures[c]];
        lw_joint_type type = entry->joint.type;
        for (int k = 0; k < entry->joint.nq && lw_joint_quaternion(type) < 0; k++) {
            bool matters = lw_joint_describe(type)->screws || depends_on(model, c, k);
            if (!matters || !lw_joint_speed_turns(type, k)) continue;
            entry->winding[k] = model->nq;
            model->cut_angles[model->cut_angle_count++] = (lw_cut_angle){c, k, model->nq++};
        }
    }
    return LW_OK;
}

lw_status lw_compile_lengths(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    lw_take_state(model, data, 0, model->q0, model->v0);
    lw_positions(model, data);
    lw_world_poses(model, data);
    for (int k = 0; k < model->force_count + model->constraint_count; k++) {
        bool spring = k < model->force_count;
        lw_force *force = spring ? &model->forces[k] : NULL;
        lw_constraint *distance = spring ? NULL : &model->constraints[k - model->force_count];
        if (spring && (force->type != LW_FORCE_SPRING || compiler->spec->forces[k].has_free_length)) continue;
        if (!spring && (distance->type != LW_CONSTRAINT_DISTANCE || distance->length > 0)) continue;
        const int *bodies = spring ? force->bodies : distance->bodies;
        double ends[2][3];
        for (int side = 0; side < 2; side++) {
            const double *point = spring ? force->frames[side].p : distance->points[side];
            const lw_pose *world = &data->world[bodies[side]];
            lw_pose_point(world->R, world->p, point, ends[side]);
        }
        lw_v3_sub(ends[1], ends[0], ends[0]);
        double length = lw_v3_norm(ends[0]);
        if (spring)
            force->free_length = length;
        else if (length > 0)
            distance->length = length;
        else
            lw_compile_error(compiler, "constraint", distance->name, (lw_place){0, 0},
                             "use a spherical joint, or give a positive length",
                             "its two points coincide in the initial state, so its length would be zero");
    }
    lw_data_destroy(data);
    return LW_OK;
}

/* --- constraints ---------------------------------------------------------------------------------- */

static void compile_rolling(lw_compiler *compiler, const lw_constraint_spec *spec, const lw_mount users[2],
                            lw_constraint *constraint) {
    const char *name = spec->name;
    if (!(spec->radius > 0) || !isfinite(spec->radius))
        lw_compile_error(compiler, "constraint", name, spec->place, "give a positive radius",
                         "radius %g is not a length", spec->radius);
    double normal = lw_v3_norm(spec->normal), axis = lw_v3_norm(spec->axis);
    finite_or_error(compiler, constraint_object(spec), "axis", spec->axis, 3);
    if (!(normal > 0) || !isfinite(normal)) {
        lw_compile_error(compiler, "constraint", name, spec->place,
                         "give any non-zero vector, e.g. [0, 0, 1]",
                         "the plane's normal [%g, %g, %g] has no direction", spec->normal[0], spec->normal[1],
                         spec->normal[2]);
        return;
    }
    constraint->radius = spec->radius;
    lw_v3_set(constraint->along[0], 1, 0, 0);
    lw_v3_set(constraint->along[1], 0, 1, 0);
    if (!compiler->model->links) return;
    double columns[9] = {0}, placed[9];
    for (int k = 0; k < 3; k++) columns[3 * k] = axis > 0 ? spec->axis[k] / axis : 0;
    lw_compile_axes(compiler, &users[0], spec->frame, columns, placed);
    for (int k = 0; k < 3; k++) constraint->axis[k] = placed[3 * k];
    for (int k = 0; k < 3; k++) columns[3 * k] = spec->normal[k] / normal;
    lw_compile_axes(compiler, &users[1], spec->frame, columns, placed);
    for (int k = 0; k < 3; k++) constraint->normal[k] = placed[3 * k];
}

static void compile_coupling(lw_compiler *compiler, const lw_constraint_spec *spec,
                             lw_constraint *constraint) {
    if (spec->terms < 1 || spec->terms > LW_COUPLING_MAX) {
        lw_compile_error(compiler, "constraint", spec->name, spec->place, "give at least one, at most 8",
                         "has %d terms", spec->terms);
        return;
    }
    bool any = false;
    for (int k = 0; k < spec->terms; k++) {
        const wanted_coordinate wanted = {spec->joints[k], spec->coordinates[k], true, false};
        found_coordinate found = find_coordinate(compiler, constraint_object(spec), wanted);
        constraint->coordinates[k] = found.q, constraint->speeds[k] = found.v;
        constraint->factors[k] = spec->factors[k];
        any |= spec->factors[k] != 0;
    }
    finite_or_error(compiler, constraint_object(spec), "a factor", spec->factors, spec->terms);
    finite_or_error(compiler, constraint_object(spec), "offset", &spec->offset, 1);
    if (!any)
        lw_compile_error(compiler, "constraint", spec->name, spec->place,
                         "give at least one that is not zero", "all its factors are zero");
    constraint->terms = spec->terms;
    constraint->offset = spec->offset;
    constraint->curves = lw_compile_curves(compiler, spec);
}

static void compile_constraint(lw_compiler *compiler, const lw_constraint_spec *spec,
                               lw_constraint *constraint) {
    lw_mount users[2];
    constraint->type = spec->type;
    constraint->place = spec->place;
    if (spec->type == LW_CONSTRAINT_COUPLING) {
        compile_coupling(compiler, spec, constraint);
        return;
    }
    if (spec->type != LW_CONSTRAINT_DISTANCE && spec->type != LW_CONSTRAINT_ROLLING) {
        lw_compile_error(compiler, "constraint", spec->name, spec->place, NULL, "unknown constraint type %d",
                         (int)spec->type);
        return;
    }
    if (!finite_or_error(compiler, constraint_object(spec), "a point", spec->points[0], 6) ||
        !lw_compile_pair(compiler, "constraint", spec->name, spec->place, spec->bodies, users,
                         constraint->bodies))
        return;
    for (int side = 0; side < 2; side++)
        lw_compile_point(compiler, &users[side], spec->frame, spec->points[side], constraint->points[side]);
    if (spec->type == LW_CONSTRAINT_ROLLING)
        compile_rolling(compiler, spec, users, constraint);
    else if (!isfinite(spec->length) || spec->length < 0)
        lw_compile_error(compiler, "constraint", spec->name, spec->place, "give a positive length",
                         "length %g is not a length", spec->length);
    constraint->length = spec->length;
}

lw_status lw_compile_constraints(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->constraint_count = (int)spec->constraint_count;
    model->constraints = LW_NEW(model->arena, lw_constraint, spec->constraint_count + 1);
    if (!model->constraints) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->constraint_count; k++) {
        model->constraints[k].name = lw_arena_text(model->arena, spec->constraints[k].name);
        if (!model->constraints[k].name) return LW_ERROR_MEMORY;
        compile_constraint(compiler, &spec->constraints[k], &model->constraints[k]);
    }
    return lw_arena_failed(model->arena) || lw_arena_failed(compiler->scratch) ? LW_ERROR_MEMORY : LW_OK;
}
