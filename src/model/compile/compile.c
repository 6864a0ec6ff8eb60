/* compile.c - from spec to model: names, reference configuration, joint frames, tree, loops, initial state.
 *
 * The order: names
 *     -> each body and joint by itself (validate.c)
 *     -> pose of every body in the reference configuration, frames of every joint (compile_geometry.c)
 *     -> graph, links and closures in regular labelling (compile_tree.c)
 *     -> motions, forces, constraints (compile_forces.c)
 *     -> initial state
 *     -> welded bodies as one link each (compile_welds.c).
 * Every stage reports all its errors; a stage whose input is broken is left out.
 *
 * Cost     O((n + joints) log), plus the length of the loops.
 */
#include "model/compile/compile.h"
#include "expression/expression.h"
#include "model/data.h"
#include "model/signals.h"
#include "model/spec/parts.h"
#include "model/spec/starts.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* --- complaints ----------------------------------------------------------------------------------- */

static void complain(lw_compiler *compiler, lw_severity severity, const char *kind, const char *name,
                     lw_place place, const char *remedy, const char *format, va_list arguments) {
    char object[sizeof((lw_error *)0)->object] = "", message[sizeof((lw_error *)0)->message];
    if (kind && name) snprintf(object, sizeof object, "%s \"%s\"", kind, name);
    vsnprintf(message, sizeof message, format, arguments);
    char use[320];
    const char *file = lw_spec_source(compiler->spec, name, use, sizeof use);
    lw_complain(compiler->report, severity, file, place, object, remedy, "%s%s", message, use);
}

void lw_compile_error(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                      const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(compiler, LW_SEVERITY_ERROR, kind, name, place, remedy, format, arguments);
    va_end(arguments);
    compiler->errors++;
}

void lw_compile_warning(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                        const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(compiler, LW_SEVERITY_WARNING, kind, name, place, remedy, format, arguments);
    va_end(arguments);
}

int lw_compile_joint(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *joint) {
    const lw_names *names = &compiler->joints;
    if (!joint) joint = "";
    int index = lw_names_find(names, joint);
    if (index >= 0 || compiler->partial) return index;
    char remedy[160];
    if (!lw_did_you_mean(lw_closest(joint, names->names, (size_t)names->count), remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "name a joint of this model");
    lw_compile_error(compiler, kind, name, place, remedy, "unknown joint \"%s\"", joint);
    return -1;
}

/* --- names ---------------------------------------------------------------------------------------- */

static void complain_of_duplicates(lw_compiler *compiler, const lw_names *names, const char *kind,
                                   lw_place (*place_of)(const lw_spec *, int)) {
    for (int k = 0; k < names->count; k++) {
        int index = names->order[k];
        const char *name = names->names[index];
        if (name[0] == '\0')
            lw_compile_error(compiler, kind, name, place_of(compiler->spec, index), "give it a name",
                             "has no name");
        else if (k > 0 && strcmp(name, names->names[names->order[k - 1]]) == 0)
            lw_compile_error(compiler, kind, name, place_of(compiler->spec, index), "rename one of them",
                             strcmp(name, LW_GROUND) == 0 ? "the name belongs to ground"
                                                          : "the name is taken twice");
    }
}

static lw_place body_place(const lw_spec *spec, int index) {
    return index > 0 ? spec->bodies[index - 1].place : (lw_place){0, 0};
}
static lw_place joint_place(const lw_spec *spec, int index) { return spec->joints[index].place; }
static lw_place force_place(const lw_spec *spec, int index) { return spec->forces[index].place; }
static lw_place constraint_place(const lw_spec *spec, int index) { return spec->constraints[index].place; }

/* In expressions body.NAME.x is a body's and NAME.q a joint's or a force's. */
static void refuse_body(lw_compiler *compiler, const lw_names *names, const char *kind,
                        lw_place (*place_of)(const lw_spec *, int)) {
    const int index = lw_names_find(names, "body");
    if (index >= 0)
        lw_compile_error(compiler, kind, "body", place_of(compiler->spec, index), "choose another name",
                         "the name begins the quantities of bodies, body.NAME.x");
}

static const char *or_empty(const char *text) { return text ? text : ""; }

static lw_status compile_names(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    lw_names forces, constraints;
    if (lw_names_create(compiler->scratch, nb + 1, &compiler->bodies) != LW_OK ||
        lw_names_create(compiler->scratch, nj, &compiler->joints) != LW_OK ||
        lw_names_create(compiler->scratch, (int)spec->force_count, &forces) != LW_OK ||
        lw_names_create(compiler->scratch, (int)spec->constraint_count, &constraints) != LW_OK)
        return LW_ERROR_MEMORY;
    compiler->bodies.names[0] = LW_GROUND;
    for (int k = 0; k < nb; k++) compiler->bodies.names[k + 1] = or_empty(spec->bodies[k].name);
    for (int k = 0; k < nj; k++) compiler->joints.names[k] = or_empty(spec->joints[k].name);
    for (size_t k = 0; k < spec->force_count; k++) forces.names[k] = or_empty(spec->forces[k].name);
    for (size_t k = 0; k < spec->constraint_count; k++)
        constraints.names[k] = or_empty(spec->constraints[k].name);
    lw_names_sort(&compiler->bodies);
    lw_names_sort(&compiler->joints);
    lw_names_sort(&forces);
    lw_names_sort(&constraints);
    if (compiler->partial) return lw_compile_frame_names(compiler);
    refuse_body(compiler, &compiler->joints, "joint", joint_place);
    refuse_body(compiler, &forces, "force", force_place);
    complain_of_duplicates(compiler, &compiler->bodies, "body", body_place);
    complain_of_duplicates(compiler, &compiler->joints, "joint", joint_place);
    complain_of_duplicates(compiler, &forces, "force", force_place);
    complain_of_duplicates(compiler, &constraints, "constraint", constraint_place);
    return lw_compile_frame_names(compiler);
}

/* --- bodies and joints by themselves -------------------------------------------------------------- */

/* Frames on the sides of a joint: two of one body join it to itself, and a point that they give needs one. */
static bool validate_mounts(lw_compiler *compiler, const lw_joint_spec *joint, const lw_joint_draft *draft) {
    const bool framed = draft->mounts[0] || draft->mounts[1];
    const int body = draft->bodies[0];
    if (framed && body >= 0 && body == draft->bodies[1]) {
        lw_compile_error(compiler, "joint", joint->name, joint->place, "name frames on two different bodies",
                         "joins body \"%s\" to itself: \"%s\" and \"%s\" are both on it",
                         compiler->bodies.names[body], joint->bodies[0], joint->bodies[1]);
        return false;
    }
    if (joint->at_frames && !framed && draft->bodies[0] >= 0 && draft->bodies[1] >= 0) {
        lw_compile_error(compiler, "joint", joint->name, joint->place, "give a point, or name a frame",
                         "its point is said to be that of a frame, but it is between two bodies");
        return false;
    }
    return true;
}

static lw_status compile_parts(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    for (size_t k = 0; k < spec->body_count; k++) lw_validate_body(compiler, &spec->bodies[k]);
    for (size_t k = 0; k < spec->joint_count; k++) {
        const lw_joint_spec *joint = &spec->joints[k];
        lw_joint_draft *draft = &compiler->drafts[k];
        for (int side = 0; side < 2; side++) {
            const lw_mount mount =
                lw_compile_mount(compiler, "joint", joint->name, joint->place, joint->bodies[side]);
            draft->bodies[side] = mount.body;
            draft->mounts[side] = mount.frame;
        }
        bool sound = lw_validate_joint(compiler, joint);
        sound = validate_mounts(compiler, joint, draft) && sound;
        draft->usable = sound && draft->bodies[0] >= 0 && draft->bodies[1] >= 0;
    }
    return LW_OK;
}

/* --- initial state -------------------------------------------------------------------------------- */

/* A lower bound for the contribution of body i alone to the pivot of speed k; 0 where no positive bound is
 * known. The bound is exact for a joint with one speed. With several speeds, elimination of the earlier ones
 * leaves at least the least principal moment about the centre of mass c for a rotation, or the effective mass
 * 1 / (1/m + |c|^2 / moment) at the origin for a slide; the factor 1e-3 allows for oblique axes. */
static double own_pivot(const lw_model *model, const double *S, int i, int k) {
    const lw_link *link = &model->links[i];
    const lw_rigid_inertia *I = &link->inertia;
    if (link->joint.nv == 1) {
        double f[6];
        lw_rigid_mul(I, S, f);
        return lw_v6_dot(S, f);
    }
    const double *c = model->bodies[i].com;
    double J[6], e[3], square = lw_v3_dot(c, c);
    memcpy(J, I->second, sizeof J);
    for (int l = 0; l < 3; l++) J[l] -= I->mass * (square - c[l] * c[l]);
    J[3] += I->mass * c[0] * c[1], J[4] += I->mass * c[0] * c[2], J[5] += I->mass * c[1] * c[2];
    lw_principal_moments(J, e);
    if (!(e[0] > 1e-9 * e[2])) return 0;
    if (lw_joint_speed_turns(link->joint.type, k)) return 1e-3 * e[0];
    return I->mass > 0 ? 1e-3 / (1 / I->mass + square / e[0]) : 0;
}

/* A pivot of the articulated recursion counts as zero if it is below 1e-12 of the composite inertia that the
 * joint carries, which is some thousand times the rounding error of the difference that forms the pivot. In a
 * long chain the composite inertia grows with the cube of the length, and this bound may exceed a sound
 * pivot. The contribution of the body alone cannot cancel, however; half of it is a second bound, and the
 * smaller of the two is used. */
lw_status lw_compile_floors(lw_model *model, lw_data *data) {
    model->pivot_floor = LW_NEW(model->arena, double, model->nv + 1);
    if (!model->pivot_floor) return LW_ERROR_MEMORY;
    lw_take_state(model, data, 0, model->q0, model->v0);
    lw_positions(model, data);
    for (int i = 1; i <= model->body_count; i++) data->composite[i] = model->links[i].inertia;
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const lw_rigid_inertia *I = &data->composite[i];
        for (int k = 0; k < link->joint.nv; k++) {
            bool turns = lw_joint_speed_turns(link->joint.type, k);
            double trace = I->second[0] + I->second[1] + I->second[2];
            double own = own_pivot(model, data->S + 6 * link->v, i, k),
                   *floor = &model->pivot_floor[link->v + k];
            *floor = fmin(1e-12 * (turns ? trace : 3 * I->mass), DBL_MAX);
            if (own > 0) *floor = fmin(*floor, 0.5 * own);
            /* A rotor adds to the pivot itself, of which nothing cancels. */
            if (model->armature && model->armature[link->v + k] > 0)
                *floor = fmin(*floor, 0.5 * model->armature[link->v + k]);
        }
        if (link->parent)
            lw_rigid_add_to_parent(data->motion[i].R, data->motion[i].p, I, &data->composite[link->parent]);
    }
    return LW_OK;
}

static lw_status compile_state(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    model->q0 = LW_NEW(model->arena, double, model->nq + 1);
    model->v0 = LW_NEW(model->arena, double, model->nv + 1);
    if (lw_arena_failed(model->arena)) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_joint_draft *draft = &compiler->drafts[model->bodies[i].joint_index];
        memcpy(model->q0 + link->q, draft->q, (size_t)link->joint.nq * sizeof *model->q0);
        memcpy(model->v0 + link->v, draft->v, (size_t)link->joint.nv * sizeof *model->v0);
    }
    for (int k = 0; k < model->cut_angle_count; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        model->q0[angle->q] = model->joints[model->closures[angle->closure]].initial[angle->coordinate];
    }
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    lw_take_state(model, data, 0, model->q0, model->v0); /* prescribed entries */
    lw_fit_cut_angles(model, data->q);
    memcpy(model->q0, data->q, (size_t)model->nq * sizeof *model->q0);
    memcpy(model->v0, data->v, (size_t)model->nv * sizeof *model->v0);
    /* validate.c has checked that given values are finite; prescribed motions are checked here. */
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        const lw_link *link = &model->links[motion->body];
        const lw_joint_entry *joint = &model->joints[model->bodies[motion->body].joint_index];
        int v = link->v + motion->speed;
        if (!lw_finite(data->q + link->q, link->joint.nq) || !lw_finite(data->v + v, motion->count) ||
            !lw_finite(data->vdot + v, motion->count))
            lw_compile_error(compiler, "joint", joint->name, joint->place,
                             "give a motion with a speed and an acceleration there",
                             "its prescribed motion is not finite at t = 0");
    }
    if (!compiler->errors) status = lw_compile_idle(compiler);
    if (status == LW_OK) status = lw_compile_floors(model, data);
    lw_data_destroy(data);
    return status;
}

/* --- the whole compilation ------------------------------------------------------------------------ */

static lw_status compile_parameters(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    int count = (int)spec->parameter_count;
    model->parameter_values = LW_NEW(model->arena, double, count + 1);
    if (!model->parameter_values || lw_names_create(model->arena, count, &model->parameter_names) != LW_OK)
        return LW_ERROR_MEMORY;
    for (int k = 0; k < count; k++) {
        model->parameter_names.names[k] = lw_arena_text(model->arena, spec->parameters[k].name);
        if (!model->parameter_names.names[k]) return LW_ERROR_MEMORY;
        model->parameter_values[k] = spec->parameters[k].value;
    }
    lw_names_sort(&model->parameter_names);
    return LW_OK;
}

static lw_status compile_header(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->name = lw_arena_text(model->arena, spec->name);
    model->file = lw_arena_text(model->arena, spec->file);
    model->run = spec->run;
    model->run.method = lw_arena_text(model->arena, spec->run.method);
    model->run.integrator = lw_arena_text(model->arena, spec->run.integrator);
    model->run.drift = lw_arena_text(model->arena, spec->run.drift);
    model->run.independent = lw_arena_text(model->arena, spec->run.independent);
    model->run.reactions = lw_arena_text(model->arena, spec->run.reactions);
    model->run.begin = lw_arena_text(model->arena, spec->run.begin);
    lw_v3_copy(spec->gravity, model->gravity);
    if (!lw_finite(spec->gravity, 3))
        lw_compile_error(compiler, NULL, NULL, (lw_place){0, 0}, "give three finite numbers",
                         "gravity is not finite");
    model->body_count = (int)spec->body_count;
    model->joint_count = (int)spec->joint_count;
    for (size_t k = 0; k < spec->parameter_count; k++)
        compiler->constants[k] = (lw_constant){.name = spec->parameters[k].name,
                                               .value = spec->parameters[k].value,
                                               .meaning = spec->parameters[k].meaning};
    if (!model->name || !model->file) return LW_ERROR_MEMORY;
    lw_status status = compile_parameters(compiler);
    if (status == LW_OK) status = lw_compile_value_names(compiler);
    return status == LW_OK ? lw_compile_tables(compiler) : status;
}

/* Returns whether the loads, the joint force, the potential and the power of element k are finite. Only the
 * entries that the element adds to are examined. */
static bool force_is_finite(const lw_model *model, lw_data *data, int k) {
    const lw_force *force = &model->forces[k];
    const int *bodies =
        force->closure < 0 ? force->bodies : model->joints[model->closures[force->closure]].info.bodies;
    double *tau = data->tau + (force->v < 0 ? 0 : force->v);
    double *loads[2] = {data->load + 6 * bodies[0], data->load + 6 * bodies[1]};
    data->potential = *tau = 0;
    data->power = (lw_power){0, 0, 0};
    for (int side = 0; side < 2; side++) memset(loads[side], 0, 6 * sizeof(double));
    lw_forces_add(model, data, k, k + 1, 0, true);
    const lw_power *p = &data->power;
    const double books[5] = {data->potential, p->drives, p->forces, p->dissipation, *tau};
    return lw_finite(books, 5) && lw_finite(loads[0], 6) && lw_finite(loads[1], 6);
}

/* Names every force element that is not finite in the initial state. */
static lw_status check_forces(lw_compiler *compiler) {
    const lw_model *model = compiler->model;
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    lw_take_state(model, data, 0, model->q0, model->v0);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_signals(model, data, 0);
    for (int k = 0; k < model->force_count; k++) {
        if (force_is_finite(model, data, k)) continue;
        const lw_force_spec *force = &compiler->spec->forces[k];
        lw_compile_error(compiler, "force", force->name, force->place,
                         "look for a division by zero, or a root or logarithm of what is negative there",
                         "is not finite in the initial state");
    }
    lw_data_destroy(data);
    return LW_OK;
}

static lw_status compile_elements(lw_compiler *compiler) {
    lw_status status = lw_compile_forces(compiler);
    if (status == LW_OK) status = lw_compile_constraints(compiler);
    if (status == LW_OK) status = lw_compile_outputs(compiler);
    if (status == LW_OK) status = lw_compile_events(compiler);
    return status == LW_OK ? lw_compile_value_orders(compiler) : status;
}

/* Continues when a joint is unusable, so that there is no tree: elements and constraints are still checked.
 * If every joint names two bodies, the graph is examined too, since bodies without a connection to ground do
 * not depend on the geometry of the joints. */
static lw_status compile_without_joints(lw_compiler *compiler) {
    bool joined = true;
    for (size_t j = 0; j < compiler->spec->joint_count; j++) {
        int *bodies = compiler->drafts[j].bodies;
        if (bodies[0] == bodies[1]) bodies[0] = 0; /* One name is wrong; ground may have been meant. */
        joined &= bodies[0] >= 0 && bodies[1] >= 0 && bodies[0] != bodies[1];
    }
    lw_status status = joined ? lw_compile_graph(compiler) : LW_OK;
    return status == LW_OK ? compile_elements(compiler) : status;
}

/* Compiles what needs no tree: header, names, and every body and joint by itself. *usable says whether all
 * joints are usable. */
static lw_status compile_drafts(lw_compiler *compiler, bool *usable) {
    const lw_spec *spec = compiler->spec;
    compiler->reference = LW_NEW(compiler->scratch, lw_pose, spec->body_count + 1);
    compiler->posed = LW_NEW(compiler->scratch, bool, spec->body_count + 1);
    compiler->drafts = LW_NEW(compiler->scratch, lw_joint_draft, spec->joint_count + 1);
    compiler->constants = LW_NEW(compiler->scratch, lw_constant, spec->parameter_count + 1);
    if (lw_arena_failed(compiler->scratch)) return LW_ERROR_MEMORY;
    lw_status status = compile_header(compiler);
    if (status == LW_OK) status = compile_names(compiler);
    if (status == LW_OK) status = compile_parts(compiler);
    if (status == LW_OK) status = lw_compile_reference(compiler);
    *usable = true;
    for (size_t j = 0; j < spec->joint_count && status == LW_OK; j++) {
        *usable &= compiler->drafts[j].usable;
        if (compiler->drafts[j].usable)
            status = lw_compile_draft(compiler, &spec->joints[j], &compiler->drafts[j]);
    }
    return status;
}

static lw_status compile(lw_compiler *compiler) {
    bool usable;
    lw_status status = compile_drafts(compiler, &usable);
    if (status != LW_OK) return status;
    if (!usable) return compile_without_joints(compiler);
    status = lw_compile_graph(compiler);
    if (status != LW_OK) return status;
    if (compiler->model->graph.unreached) return compile_elements(compiler);
    status = lw_compile_tree(compiler);
    if (status == LW_OK) status = lw_compile_frames(compiler);
    if (status == LW_OK) status = lw_compile_motions(compiler);
    if (status == LW_OK) status = compile_elements(compiler);
    if (status != LW_OK || compiler->errors) return status;
    status = lw_compile_knots(compiler);
    if (status != LW_OK) return status;
    lw_validate_planar(compiler);
    status = lw_compile_cut_angles(compiler);
    if (status == LW_OK) status = compile_state(compiler);
    if (status == LW_OK) status = lw_compile_lengths(compiler);
    if (status == LW_OK && !compiler->errors) status = check_forces(compiler);
    if (status == LW_OK && !compiler->errors) status = lw_compile_merged(compiler);
    if (status == LW_OK && !compiler->errors) lw_warn_of_unused_inputs(compiler);
    return status;
}

void lw_spec_check_parts(const lw_spec *spec, lw_report *report) {
    lw_arena *scratch = lw_arena_create(NULL);
    lw_model model = {.arena = scratch};
    lw_compiler compiler = {
        .spec = spec, .report = report, .partial = true, .scratch = scratch, .model = &model};
    for (size_t k = 0; k < spec->body_count; k++) lw_validate_body(&compiler, &spec->bodies[k]);
    for (size_t k = 0; k < spec->joint_count; k++) lw_validate_joint(&compiler, &spec->joints[k]);
    compiler.reference = LW_NEW(scratch, lw_pose, spec->body_count + 1);
    compiler.drafts = LW_NEW(scratch, lw_joint_draft, spec->joint_count + 1);
    compiler.constants = LW_NEW(scratch, lw_constant, spec->parameter_count + 1);
    if (scratch && !lw_arena_failed(scratch) && compile_header(&compiler) == LW_OK &&
        compile_names(&compiler) == LW_OK && lw_compile_forces(&compiler) == LW_OK)
        /* A lack of memory is not reported here: the reader has already reported errors. */
        (void)(lw_compile_constraints(&compiler) == LW_OK && lw_compile_events(&compiler) == LW_OK);
    lw_arena_destroy(scratch);
}

lw_status lw_compile_as_cut(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                            lw_model **out) {
    *out = NULL;
    lw_arena *arena = lw_arena_create(allocator), *scratch = lw_arena_create(allocator);
    lw_model *model = LW_NEW(arena, lw_model, 1);
    lw_status status = LW_ERROR_MEMORY;
    lw_spec begun, placed, whole;
    lw_compiler compiler = {.spec = &whole, .report = report, .scratch = scratch, .model = model};
    if (model && scratch) {
        lw_error error = {0};
        model->arena = arena;
        status = lw_spec_begun(spec, spec->run.begin, scratch, &begun, &error);
        if (status == LW_ERROR_ARGUMENT) {
            lw_complain(report, LW_SEVERITY_ERROR, spec->file, error.place,
                        error.object[0] ? error.object : "run", error.remedy, "%s", error.message);
            status = LW_ERROR_MODEL;
        }
        if (status == LW_OK) status = lw_spec_placed(&begun, scratch, &placed, report);
        if (status == LW_OK) status = lw_expand_limits(&placed, scratch, &whole);
        compiler.given_forces = (int)spec->force_count;
        compiler.given_events = (int)spec->event_count;
        if (status == LW_OK) status = compile(&compiler);
    }
    lw_arena_destroy(scratch);
    if (status == LW_OK && compiler.errors) status = LW_ERROR_MODEL;
    if (status == LW_ERROR_MEMORY)
        lw_complain(report, LW_SEVERITY_ERROR, spec->file, (lw_place){0, 0}, NULL, NULL, "out of memory");
    if (status == LW_OK)
        *out = model;
    else
        lw_arena_destroy(arena);
    return status;
}
