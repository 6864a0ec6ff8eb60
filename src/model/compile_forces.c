/* compile_forces.c - force elements, constraints and prescribed motions: from names and points of the user to
 * labels, coordinates and points in internal frames.
 *
 * Without a tree (broken joints, loose bodies) only what can be said without one is checked.
 */
#include "model/compile.h"
#include "model/data.h"

#include <stdio.h>
#include <string.h>

static const char *const of_time[] = {"t"};
static const char *const of_elongation[] = {"x", "v", "t"};
static const char *const of_drive[] = {"t", "q", "v"};

/* --- prescribed motion ---------------------------------------------------------------------------- */

lw_status lw_compile_motions(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    int most = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) most += model->links[i].prescribed >> k & 1;
    model->motions = LW_NEW(model->arena, lw_motion, most + 1);
    if (!model->motions) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_joint_spec *joint = &spec->joints[model->bodies[i].joint_index];
        for (int k = 0; k < link->joint.nv; k++) {
            if (!(link->prescribed >> k & 1)) continue;
            lw_motion *motion = &model->motions[model->motion_count++];
            bool angles = lw_joint_coordinate_of_speed(link->joint.type, k) < 0;
            *motion = (lw_motion){.body = i, .speed = k, .count = angles ? 3 : 1};
            if (angles && (link->prescribed >> k & 7) != 7) {
                lw_compile_error(compiler, "joint", joint->name, joint->place,
                                 "give all three Cardan angles (rotation = Rx(a) Ry(b) Rz(c)) or none",
                                 "the rotation of a %s joint is prescribed in part",
                                 lw_joint_type_name(joint->type));
                return LW_OK;
            }
            for (int c = 0; c < motion->count; c++)
                motion->functions[c] = lw_compile_motion(compiler, joint, joint->motion[k + c]);
            for (int c = 0; c < motion->count; c++)
                if (motion->functions[c] && lw_function_may_jump(motion->functions[c]))
                    lw_compile_warning(
                        compiler, "joint", joint->name, joint->place,
                        "use smooth functions such as step(t, t0, h0, t1, h1), or drive the joint by a force",
                        "its motion \"%s\" may jump; a jump of speed is an impact, which is not simulated",
                        joint->motion[k + c]);
            if (joint->has_q || joint->has_v)
                lw_compile_warning(
                    compiler, "joint", joint->name, joint->place, "leave q and v out",
                    "its motion is prescribed, so initial q and v that are given do not count");
            k += motion->count - 1;
        }
    }
    model->depends_on_time |= model->motion_count > 0;
    return LW_OK;
}

/* --- force elements ------------------------------------------------------------------------------- */

static bool finite_or_error(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                            const char *what, const double *x, int count) {
    if (lw_finite(x, count)) return true;
    lw_compile_error(compiler, kind, name, place, "give finite numbers", "%s is not finite", what);
    return false;
}

/* The joint coordinate and speed on which an element acts; -1 and an error if there is none. At a joint that
 * closes a loop they are counted from that joint's first, and *closure is the loop; closure NULL: such joints
 * are not allowed. */
static void find_coordinate(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                            const char *joint_name, int coordinate, bool needs_q, int *q, int *v,
                            int *closure) {
    const lw_model *model = compiler->model;
    *q = *v = -1;
    if (closure) *closure = -1;
    int joint = lw_compile_joint(compiler, kind, name, place, joint_name);
    if (joint < 0 || !compiler->drafts[joint].usable) return;
    const lw_joint *type = &compiler->drafts[joint].joint;
    if (coordinate < 0 || coordinate >= type->nv) {
        char remedy[96] = "choose a joint that moves";
        if (type->nv) snprintf(remedy, sizeof remedy, "count from 0 to %d", type->nv - 1);
        lw_compile_error(compiler, kind, name, place, remedy, "joint \"%s\" (%s) has no coordinate %d",
                         joint_name, lw_joint_type_name(type->type), coordinate);
        return;
    }
    int own = lw_joint_coordinate_of_speed(type->type, coordinate);
    if (own < 0 && needs_q) {
        lw_compile_error(
            compiler, kind, name, place, "use a bushing between its bodies",
            "coordinate %d of joint \"%s\" (%s) is an angular velocity, not the rate of an angle", coordinate,
            joint_name, lw_joint_type_name(type->type));
        return;
    }
    if (!model->links) return;
    const lw_joint_info *info = &model->joints[joint].info;
    if (info->cut && !closure) {
        lw_compile_error(compiler, kind, name, place,
                         "couple another joint of the loop, or take out its cut: true",
                         "joint \"%s\" closes a loop and has no coordinates", joint_name);
        return;
    }
    if (info->cut) {
        *closure = 0;
        while (model->closures[*closure] != joint) ++*closure;
        *v = coordinate, *q = own;
        return;
    }
    *v = info->v + coordinate;
    if (own >= 0) *q = info->q + own;
}

/* A point of the world (reference configuration) or of a body, in the body's internal frame. */
static void place_point(const lw_compiler *compiler, int body, lw_geometry_frame frame, const double point[3],
                        double out[3]) {
    const lw_model *model = compiler->model;
    if (!model->links) return;
    const lw_pose *user = &model->bodies[model->graph.label[body]].frame;
    double local[3];
    lw_v3_copy(point, local);
    if (frame == LW_GEOMETRY_WORLD) {
        double gap[3];
        const lw_pose *pose = &compiler->reference[body];
        lw_v3_sub(point, pose->p, gap);
        lw_m3_tmul_v(pose->R, gap, local);
    }
    lw_pose_point(user->R, user->p, local, out);
}

/* Axes given in the world or in the body, in the body's internal frame. */
static void place_axes(const lw_compiler *compiler, int body, lw_geometry_frame frame, const double R[9],
                       double out[9]) {
    const lw_model *model = compiler->model;
    if (!model->links) return;
    double local[9];
    memcpy(local, R, sizeof local);
    if (frame == LW_GEOMETRY_WORLD) lw_m3_tmul(compiler->reference[body].R, R, local);
    lw_m3_mul(model->bodies[model->graph.label[body]].frame.R, local, out);
}

static bool find_bodies(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                        const char *const wanted[2], int users[2], int labels[2]) {
    for (int side = 0; side < 2; side++)
        users[side] = lw_compile_body(compiler, kind, name, place, wanted[side]);
    if (users[0] < 0 || users[1] < 0) return false;
    if (users[0] == users[1]) {
        lw_compile_error(compiler, kind, name, place, "name two different bodies",
                         "acts between body \"%s\" and itself", wanted[0]);
        return false;
    }
    if (compiler->model->links)
        for (int side = 0; side < 2; side++) labels[side] = compiler->model->graph.label[users[side]];
    return true;
}

static void compile_law(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    const double *numbers[] = {&spec->stiffness, &spec->damping, &spec->free_length};
    static const char *const names[] = {"stiffness", "damping", "free length"};
    for (int k = 0; k < 3; k++)
        finite_or_error(compiler, "force", spec->name, spec->place, names[k], numbers[k], 1);
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
        force->law = lw_compile_function(compiler, "force", spec->name, spec->place, "law",
                                         spec->law.expression, of_elongation, 3);
        force->law_is_potential = force->law && !lw_function_uses(force->law, 1) &&
                                  !lw_function_uses(force->law, 2) && !lw_function_uses_inputs(force->law);
    }
}

static void compile_bushing(lw_compiler *compiler, const lw_force_spec *spec, const int users[2],
                            lw_force *force) {
    finite_or_error(compiler, "force", spec->name, spec->place, "stiffness", spec->bushing_stiffness, 6);
    finite_or_error(compiler, "force", spec->name, spec->place, "damping", spec->bushing_damping, 6);
    memcpy(force->bushing_stiffness, spec->bushing_stiffness, sizeof force->bushing_stiffness);
    memcpy(force->bushing_damping, spec->bushing_damping, sizeof force->bushing_damping);
    double quaternion[4], R[9];
    memcpy(quaternion, spec->rotation, sizeof quaternion);
    lw_quat_normalise(quaternion);
    lw_rot_quat(quaternion, R);
    for (int side = 0; side < 2; side++) {
        const double *point = spec->points[spec->frame == LW_GEOMETRY_WORLD ? 0 : side];
        place_point(compiler, users[side], spec->frame, point, force->frames[side].p);
    }
    place_axes(compiler, users[0], spec->frame, R, force->frames[0].R);
    /* the second frame coincides with the first in the reference configuration */
    double world[9];
    if (spec->frame == LW_GEOMETRY_WORLD)
        memcpy(world, R, sizeof world);
    else
        lw_m3_mul(compiler->reference[users[0]].R, R, world);
    place_axes(compiler, users[1], LW_GEOMETRY_WORLD, world, force->frames[1].R);
}

static void compile_applied(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    int body = lw_compile_body(compiler, "force", spec->name, spec->place, spec->bodies[0]);
    int against =
        spec->bodies[1] ? lw_compile_body(compiler, "force", spec->name, spec->place, spec->bodies[1]) : 0;
    finite_or_error(compiler, "force", spec->name, spec->place, "point", spec->points[0], 3);
    for (int k = 0; k < 6; k++) {
        const char *text = k < 3 ? spec->force[k] : spec->torque[k - 3];
        if (text)
            force->components[k] = lw_compile_function(compiler, "force", spec->name, spec->place,
                                                       k < 3 ? "force" : "torque", text, of_time, 1);
    }
    force->follows_body = spec->follows_body;
    if (body < 0 || against < 0 || !compiler->model->links) return;
    force->bodies[0] = compiler->model->graph.label[body];
    force->bodies[1] = compiler->model->graph.label[against];
    place_point(compiler, body, spec->frame, spec->points[0], force->frames[0].p);
    memcpy(force->frames[0].R, compiler->model->bodies[force->bodies[0]].frame.R, sizeof force->frames[0].R);
}

static void compile_force(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force) {
    const char *name = spec->name;
    int users[2];
    force->type = spec->type;
    force->q = force->v = -1;
    switch (spec->type) {
    case LW_FORCE_SPRING:
        compile_law(compiler, spec, force);
        if (spec->has_free_length && spec->free_length < 0)
            lw_compile_error(compiler, "force", name, spec->place, "give zero or a positive length",
                             "free length %g is negative", spec->free_length);
        if (finite_or_error(compiler, "force", name, spec->place, "a point", spec->points[0], 6) &&
            find_bodies(compiler, "force", name, spec->place, spec->bodies, users, force->bodies))
            for (int side = 0; side < 2; side++)
                place_point(compiler, users[side], spec->frame, spec->points[side], force->frames[side].p);
        break;
    case LW_FORCE_BUSHING:
        if (finite_or_error(compiler, "force", name, spec->place, "a point", spec->points[0], 6) &&
            finite_or_error(compiler, "force", name, spec->place, "rotation", spec->rotation, 4) &&
            find_bodies(compiler, "force", name, spec->place, spec->bodies, users, force->bodies))
            compile_bushing(compiler, spec, users, force);
        break;
    case LW_FORCE_APPLIED:
        compile_applied(compiler, spec, force);
        break;
    case LW_FORCE_TORSION:
        compile_law(compiler, spec, force);
        find_coordinate(compiler, "force", name, spec->place, spec->joint, spec->coordinate, true, &force->q,
                        &force->v, &force->closure);
        break;
    case LW_FORCE_DRIVE:
        if (spec->drive)
            force->drive =
                lw_compile_function(compiler, "force", name, spec->place, "force", spec->drive, of_drive, 3);
        else
            lw_compile_error(compiler, "force", name, spec->place, "give an expression of t, q and v",
                             "has no force");
        find_coordinate(compiler, "force", name, spec->place, spec->joint, spec->coordinate,
                        force->drive && lw_function_uses(force->drive, 1), &force->q, &force->v,
                        &force->closure);
        break;
    case LW_FORCE_FRICTION:
        if (!isfinite(spec->viscous) || !isfinite(spec->coulomb) || spec->viscous < 0 || spec->coulomb < 0)
            lw_compile_error(compiler, "force", name, spec->place, "give zero or positive numbers",
                             "friction (viscous %g, coulomb %g) is negative or not finite", spec->viscous,
                             spec->coulomb);
        if (spec->coulomb != 0 && !(spec->smoothing > 0 && isfinite(spec->smoothing)))
            lw_compile_error(compiler, "force", name, spec->place,
                             "give the speed below which friction fades, e.g. 0.01",
                             "smoothing %g is not a speed", spec->smoothing);
        force->viscous = spec->viscous;
        force->coulomb = spec->coulomb;
        force->smoothing = spec->smoothing;
        find_coordinate(compiler, "force", name, spec->place, spec->joint, spec->coordinate, false, &force->q,
                        &force->v, &force->closure);
        break;
    default:
        lw_compile_error(compiler, "force", name, spec->place, NULL, "unknown force type %d",
                         (int)spec->type);
    }
}

lw_status lw_compile_forces(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->force_count = (int)spec->force_count;
    model->forces = LW_NEW(model->arena, lw_force, spec->force_count + 1);
    if (!model->forces) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->force_count; k++) {
        lw_force *force = &model->forces[k];
        force->name = lw_arena_text(model->arena, spec->forces[k].name);
        if (!force->name) return LW_ERROR_MEMORY;
        force->closure = -1;
        compile_force(compiler, &spec->forces[k], force);
        model->depends_on_time |=
            (force->law && !force->law_is_potential && lw_function_uses(force->law, 2)) ||
            (force->drive && lw_function_uses(force->drive, 0));
        for (int i = 0; i < 6; i++)
            model->depends_on_time |= force->components[i] && lw_function_uses(force->components[i], 0);
        model->forces_need_world |= force->closure >= 0 || spec->forces[k].type == LW_FORCE_SPRING ||
                                    spec->forces[k].type == LW_FORCE_BUSHING ||
                                    spec->forces[k].type == LW_FORCE_APPLIED;
    }
    return LW_OK;
}

/* Is there an element whose force depends on this coordinate of the joint that closes a loop? */
static bool depends_on(const lw_model *model, int closure, int coordinate) {
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        if (force->closure != closure || force->q != coordinate) continue;
        if (force->type == LW_FORCE_TORSION) return true;
        if (force->drive && lw_function_uses(force->drive, 1)) return true;
    }
    return false;
}

lw_status lw_compile_cut_angles(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    model->cut_angles =
        LW_NEW(model->arena, lw_cut_angle, 2 * model->closure_count + 1); /* at most two each */
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

static void compile_rolling(lw_compiler *compiler, const lw_constraint_spec *spec, const int users[2],
                            lw_constraint *constraint) {
    const char *name = spec->name;
    if (!(spec->radius > 0) || !isfinite(spec->radius))
        lw_compile_error(compiler, "constraint", name, spec->place, "give a positive radius",
                         "radius %g is not a length", spec->radius);
    double normal = lw_v3_norm(spec->normal), axis = lw_v3_norm(spec->axis);
    finite_or_error(compiler, "constraint", name, spec->place, "axis", spec->axis, 3);
    if (!(normal > 0) || !isfinite(normal)) {
        lw_compile_error(compiler, "constraint", name, spec->place,
                         "give any non-zero vector, e.g. [0, 0, 1]",
                         "the plane's normal [%g, %g, %g] has no direction", spec->normal[0], spec->normal[1],
                         spec->normal[2]);
        return;
    }
    constraint->radius = spec->radius;
    if (!compiler->model->links) return;
    double columns[9] = {0}, placed[9];
    for (int k = 0; k < 3; k++) columns[3 * k] = axis > 0 ? spec->axis[k] / axis : 0;
    place_axes(compiler, users[0], spec->frame, columns, placed);
    for (int k = 0; k < 3; k++) constraint->axis[k] = placed[3 * k];
    for (int k = 0; k < 3; k++) columns[3 * k] = spec->normal[k] / normal;
    place_axes(compiler, users[1], spec->frame, columns, placed);
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
        find_coordinate(compiler, "constraint", spec->name, spec->place, spec->joints[k],
                        spec->coordinates[k], true, &constraint->coordinates[k], &constraint->speeds[k],
                        NULL);
        constraint->factors[k] = spec->factors[k];
        any |= spec->factors[k] != 0;
    }
    finite_or_error(compiler, "constraint", spec->name, spec->place, "a factor", spec->factors, spec->terms);
    finite_or_error(compiler, "constraint", spec->name, spec->place, "offset", &spec->offset, 1);
    if (!any)
        lw_compile_error(compiler, "constraint", spec->name, spec->place,
                         "give at least one that is not zero", "all its factors are zero");
    constraint->terms = spec->terms;
    constraint->offset = spec->offset;
}

lw_status lw_compile_constraints(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->constraint_count = (int)spec->constraint_count;
    model->constraints = LW_NEW(model->arena, lw_constraint, spec->constraint_count + 1);
    if (!model->constraints) return LW_ERROR_MEMORY;
    for (size_t k = 0; k < spec->constraint_count; k++) {
        const lw_constraint_spec *from = &spec->constraints[k];
        lw_constraint *constraint = &model->constraints[k];
        int users[2];
        constraint->name = lw_arena_text(model->arena, from->name);
        if (!constraint->name) return LW_ERROR_MEMORY;
        constraint->type = from->type;
        constraint->place = from->place;
        if (from->type == LW_CONSTRAINT_COUPLING) {
            compile_coupling(compiler, from, constraint);
            continue;
        }
        if (from->type != LW_CONSTRAINT_DISTANCE && from->type != LW_CONSTRAINT_ROLLING) {
            lw_compile_error(compiler, "constraint", from->name, from->place, NULL,
                             "unknown constraint type %d", (int)from->type);
            continue;
        }
        if (!finite_or_error(compiler, "constraint", from->name, from->place, "a point", from->points[0],
                             6) ||
            !find_bodies(compiler, "constraint", from->name, from->place, from->bodies, users,
                         constraint->bodies))
            continue;
        for (int side = 0; side < 2; side++)
            place_point(compiler, users[side], from->frame, from->points[side], constraint->points[side]);
        if (from->type == LW_CONSTRAINT_ROLLING)
            compile_rolling(compiler, from, users, constraint);
        else if (!isfinite(from->length) || from->length < 0)
            lw_compile_error(compiler, "constraint", from->name, from->place, "give a positive length",
                             "length %g is not a length", from->length);
        constraint->length = from->length;
    }
    return LW_OK;
}
