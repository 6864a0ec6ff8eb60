/* inverse_motion.c - the forces of drives for a given motion of a mechanism over time.
 *
 *   given motion --(2), (3)--> q, v, vdot on the closures --(8) of inverse_loops.md--> forces of the drives
 *
 * The unknown drives are taken out of the model: in a second one each is an input, zero while forces are
 * sought, and a force element of that input, so that a sample of it with the forces as inputs is the whole
 * motion. Expressions of the motion are the prescribed motions of a third model, which evaluates them and
 * their derivatives and does nothing else.
 *
 * Source   docs/theory/inverse_motion.md.
 * Cost     per instant that of track_motion.c and of loop_inverse.c.
 */
#include "analyses/track_motion.h"
#include "analyses/motion_rows.h"
#include "constraints/projective_criterion.h"
#include "model/kept_spec.h"
#include "model/signals.h"
#include "model/spec/spec_storage.h"

#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 200 };

/* A drive whose force is sought. */
typedef struct driven {
    int joint, k;     /* of the model: the joint and which of its speeds */
    int element;      /* the force element that it is in the model, or -1 */
    bool prescribes;  /* It is the drive of a prescribed motion. */
    const char *name; /* what it is called */
} driven;

typedef struct search {
    lw_inverse result; /* first, so that a result is one of these */
    lw_arena *arena;
    const lw_model *model; /* the caller's */
    const lw_inverse_options *options;
    driven *drives;
    int drive_count;
    lw_model *with_inputs, *prescribing;
    lw_data *prescribed; /* of the latter */
    int *expression_joint, *expression_k;
    lw_motion_rows rows;
    lw_solver *solver;
    lw_track *follow;
    double *t, *forces, *q, *v, *vdot, *reactions, *states, *inputs, *tau, *now;
    bool *unique, *one;
    int *input_of;
    const char **names, **units;
} search;

void lw_inverse_defaults(const lw_model *model, lw_inverse_options *options) {
    if (!options) return;
    *options = (lw_inverse_options){.largest = 1e-3};
    lw_run_options run;
    if (!model) return;
    lw_run_defaults(model, &run);
    options->start = run.start, options->end = run.end, options->output = run.output;
}

/* --- names ----------------------------------------------------------------------------------------- */

/* Does the name mean speed k of the joint: its own name, or that of the coordinate or the speed? */
static bool means(const char *name, const lw_joint_entry *entry, int k) {
    const size_t length = strlen(entry->name);
    const char *unit;
    if (strncmp(name, entry->name, length) != 0) return false;
    if (name[length] == 0) return true;
    const int c = lw_joint_coordinate_of_speed(entry->info.type, k), nv = entry->joint.nv;
    return name[length] == '.' &&
           (strcmp(name + length + 1, lw_joint_column(entry->info.type, nv, 1, k, &unit)) == 0 ||
            (c >= 0 && strcmp(name + length + 1, lw_joint_column(entry->info.type, nv, 0, c, &unit)) == 0));
}

static bool is_prescribed(const lw_model *model, int joint, int k) {
    return model->joints[joint].info.prescribed >> k & 1;
}

/* "crank" if that is all that the joint can do, otherwise "slide.x"; "ball.wx" of a rotation. */
static void name_of(const lw_model *model, int joint, int k, char text[NAME]) {
    const lw_joint_entry *entry = &model->joints[joint];
    const int c = lw_joint_coordinate_of_speed(entry->info.type, k);
    const char *unit;
    if (entry->joint.nv == 1)
        snprintf(text, NAME, "%s", entry->name);
    else
        snprintf(text, NAME, "%s.%s", entry->name,
                 lw_joint_column(entry->info.type, entry->joint.nv, c < 0, c < 0 ? k : c, &unit));
}

/* The joint in the spec's order, and the speed in it, on which a force element acts; false: on a cut
 * joint. */
static bool place_of(const lw_model *model, const lw_force *force, int *joint, int *k) {
    if (force->closure >= 0) return false;
    int body = 1;
    while (body < model->body_count && model->links[body + 1].v <= force->v) body++;
    while (model->links[body].joint.nv == 0) body--;
    *joint = model->bodies[body].joint_index, *k = force->v - model->links[body].v;
    return true;
}

static lw_status add_drive(search *s, int joint, int k, int element) {
    for (int d = 0; d < s->drive_count; d++)
        if (s->drives[d].joint == joint && s->drives[d].k == k) return LW_OK;
    char text[NAME];
    name_of(s->model, joint, k, text);
    const char *name = lw_arena_text(s->arena, element >= 0 ? s->model->forces[element].name : text);
    s->drives[s->drive_count++] = (driven){joint, k, element, is_prescribed(s->model, joint, k), name};
    return name ? LW_OK : LW_ERROR_MEMORY;
}

static lw_status unknown_drive(const lw_model *model, const char *name, lw_error *error) {
    char remedy[256] = "name a force element of type drive, a joint of the tree, or one of its coordinates";
    const int joint = lw_names_find(&model->joint_names, name),
              force = lw_names_find(&model->force_names, name);
    if (joint >= 0 && model->joints[joint].info.cut)
        return lw_fail_at(
            error, LW_ERROR_ARGUMENT, model->file, model->joints[joint].place, "joint", name,
            "write `cut: true` at another joint of the loop",
            "it closes a loop and has no coordinate, so that its drive has no force of its own");
    if (joint < 0 && force < 0) {
        lw_closest_search near = lw_closest_to(name);
        for (int j = 0; j < model->joint_count; j++) lw_closest_try(&near, model->joints[j].name);
        for (int f = 0; f < model->force_count; f++)
            if (model->forces[f].type == LW_FORCE_DRIVE) lw_closest_try(&near, model->forces[f].name);
        lw_did_you_mean(near.name, remedy, sizeof remedy);
    }
    return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(model), remedy, "drive \"%s\": %s", name,
                   force >= 0   ? "this force element is no drive of a joint of the tree"
                   : joint >= 0 ? "this joint has no coordinate that is free to be driven"
                                : "there is no drive, joint or coordinate of that name");
}

static lw_status named_drive(search *s, const char *name, lw_error *error) {
    const lw_model *model = s->model;
    const int before = s->drive_count;
    bool found = false;
    lw_status status = LW_OK;
    if (!name) return lw_call_needs("names of drives", error);
    const int force = lw_names_find(&model->force_names, name);
    int joint, k;
    if (force >= 0 && model->forces[force].type == LW_FORCE_DRIVE &&
        place_of(model, &model->forces[force], &joint, &k)) {
        found = true;
        if (!is_prescribed(model, joint, k)) status = add_drive(s, joint, k, force);
    }
    for (int j = 0; j < model->joint_count && !found && status == LW_OK; j++)
        for (int c = 0; c < model->joints[j].joint.nv && !model->joints[j].info.cut && status == LW_OK; c++)
            if (means(name, &model->joints[j], c)) {
                found = true; /* Prescribed motions have their drives in any case. */
                if (!is_prescribed(model, j, c)) status = add_drive(s, j, c, -1);
            }
    if (!found) return unknown_drive(model, name, error);
    if (status != LW_OK) return lw_out_of_memory(error);
    for (int d = before; d < s->drive_count; d++)
        for (int f = 0; f < model->force_count && s->drives[d].element < 0; f++) /* the element that it is */
            if (model->forces[f].type == LW_FORCE_DRIVE && place_of(model, &model->forces[f], &joint, &k) &&
                joint == s->drives[d].joint && k == s->drives[d].k)
                s->drives[d].element = f;
    return LW_OK;
}

/* The drives of prescribed motions, which are unknown in any case. */
static lw_status add_prescribing(search *s, lw_error *error) {
    lw_status status = LW_OK;
    for (int j = 0; j < s->model->joint_count; j++)
        for (int c = 0; c < s->model->joints[j].joint.nv && status == LW_OK; c++)
            if (!s->model->joints[j].info.cut && is_prescribed(s->model, j, c))
                status = add_drive(s, j, c, -1);
    return status == LW_OK ? LW_OK : lw_out_of_memory(error);
}

static lw_status find_drives(search *s, lw_error *error) {
    const lw_model *model = s->model;
    lw_status status = LW_OK;
    bool any = false;
    int joint, k;
    s->drives = LW_NEW(s->arena, driven, model->nv + 1);
    if (!s->drives) return lw_out_of_memory(error);
    for (int d = 0; d < s->options->drive_count && s->options->drives && status == LW_OK; d++)
        status = named_drive(s, s->options->drives[d], error);
    if (status != LW_OK) return status;
    if (s->options->drives) return add_prescribing(s, error);
    for (int f = 0; f < model->force_count && status == LW_OK; f++) {
        if (model->forces[f].type != LW_FORCE_DRIVE) continue;
        any = true;
        if (!place_of(model, &model->forces[f], &joint, &k))
            return unknown_drive(model, model->joints[model->closures[model->forces[f].closure]].name, error);
        if (!is_prescribed(model, joint, k)) status = add_drive(s, joint, k, f);
    }
    for (int j = 0; j < model->joint_count && !any && status == LW_OK; j++)
        for (int c = 0; c < model->joints[j].joint.nv && !model->joints[j].info.cut && status == LW_OK; c++)
            if (!is_prescribed(model, j, c)) status = add_drive(s, j, c, -1);
    return status == LW_OK ? add_prescribing(s, error) : lw_out_of_memory(error);
}

/* --- the model with drives as inputs --------------------------------------------------------------- */

static bool is_drive_of(const lw_force_spec *force, const lw_spec *spec, int joint, int k) {
    return force->type == LW_FORCE_DRIVE && force->coordinate == k && force->joint &&
           strcmp(force->joint, spec->joints[joint].name) == 0;
}

/* An input for a drive; the force elements of type drive on its coordinate do nothing else any more. An
 * element that is named alone leaves others beside it as they are. */
static lw_status put_input(search *s, lw_spec *spec, int d, lw_error *error) {
    driven *drive = &s->drives[d];
    char input[NAME], plain[NAME];
    const bool alone =
        drive->element >= 0 && s->options->drives && lw_names_find(&s->model->joint_names, drive->name) < 0;
    snprintf(input, sizeof input, "inverse_drive_%d", d + 1);
    lw_status status = lw_spec_set_input(spec, input, 0);
    if (status != LW_OK) return lw_out_of_memory(error);
    const char *own = drive->element >= 0 ? s->model->forces[drive->element].name : NULL;
    for (size_t f = 0; f < spec->force_count; f++) {
        lw_force_spec *force = &spec->forces[f];
        if (!is_drive_of(force, spec, drive->joint, drive->k)) continue;
        const bool self = own && force->name && strcmp(force->name, own) == 0;
        if (!self && alone) continue;
        force->limit = 0;
        force->drive = lw_arena_text(spec->arena, self ? input : "0");
        if (!force->drive) return lw_out_of_memory(error);
    }
    if (own) return LW_OK;
    snprintf(plain, sizeof plain, "%s", drive->name);
    for (char *c = plain; *c; c++)
        if (*c == '.') *c = '_';
    while (lw_names_find(&s->model->force_names, plain) >= 0 && strlen(plain) + 2 < sizeof plain)
        strcat(plain, "_");
    const lw_force_spec added = {.name = plain,
                                 .type = LW_FORCE_DRIVE,
                                 .joint = spec->joints[drive->joint].name,
                                 .coordinate = drive->k,
                                 .drive = input};
    drive->name = lw_arena_text(s->arena, plain);
    status = lw_spec_add_force(spec, &added);
    return status == LW_OK && drive->name ? LW_OK : lw_out_of_memory(error);
}

static lw_status make_model(search *s, lw_error *error) {
    lw_spec *spec = NULL;
    lw_status status = lw_model_kept_spec(s->model, &spec, error);
    for (int d = 0; d < s->drive_count && status == LW_OK; d++)
        if (!s->drives[d].prescribes) status = put_input(s, spec, d, error);
    if (status == LW_OK) status = lw_model_compile_again(s->model, spec, &s->with_inputs, error);
    lw_spec_destroy(spec);
    if (status != LW_OK) return status;
    const lw_values *values = &s->with_inputs->values;
    if ((values->element_of_states >= 0 || values->mover_count > 0) && values->state_count > 0 &&
        !(s->options->motion && s->options->motion->states))
        return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(s->model),
                       "give the motion by the results of a run that have its user states",
                       "%s depends on user states, of which the given motion says nothing",
                       values->element_of_states >= 0 ? s->with_inputs->forces[values->element_of_states].name
                                                      : "a prescribed motion");
    return LW_OK;
}

/* --- expressions of the motion --------------------------------------------------------------------- */

static lw_status find_coordinate(search *s, int index, lw_error *error) {
    const lw_model *model = s->model;
    const char *name = s->options->coordinates[index];
    int found = 0;
    if (!name || !s->options->expressions[index])
        return lw_call_needs("names and expressions of a motion", error);
    for (int j = 0; j < model->joint_count; j++)
        for (int k = 0; k < model->joints[j].joint.nv && !model->joints[j].info.cut; k++) {
            if (!means(name, &model->joints[j], k)) continue;
            if (lw_joint_coordinate_of_speed(model->joints[j].info.type, k) < 0)
                return lw_fail(error, LW_ERROR_ARGUMENT, name, "give its motion by a file with a quaternion",
                               "a rotation in space is not given by one expression");
            if (is_prescribed(model, j, k))
                return lw_fail(error, LW_ERROR_ARGUMENT, name,
                               "leave it out, or remove `motion` from the model",
                               "the model itself prescribes the motion of this coordinate");
            s->expression_joint[index] = j, s->expression_k[index] = k, found++;
        }
    if (found == 1) return LW_OK;
    char remedy[256] = "name a joint of the tree with one coordinate, or a coordinate, e.g. slide.x";
    const int joint = lw_names_find(&model->joint_names, name);
    if (found == 0 && joint < 0) {
        lw_closest_search near = lw_closest_to(name);
        for (int j = 0; j < model->joint_count; j++) lw_closest_try(&near, model->joints[j].name);
        lw_did_you_mean(near.name, remedy, sizeof remedy);
    }
    return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(model), remedy, "motion of \"%s\": %s", name,
                   found > 1    ? "this joint has several coordinates"
                   : joint >= 0 ? "this joint closes a loop and has no coordinate"
                                : "there is no coordinate of that name");
}

static lw_status make_prescribing(search *s, lw_error *error) {
    const int count = s->options->coordinate_count;
    lw_spec *spec = NULL;
    if (count == 0) return LW_OK;
    s->expression_joint = LW_NEW(s->arena, int, count), s->expression_k = LW_NEW(s->arena, int, count);
    if (!s->expression_joint || !s->expression_k) return lw_out_of_memory(error);
    lw_status status = lw_model_kept_spec(s->model, &spec, error);
    for (int k = 0; k < count && status == LW_OK; k++) {
        status = find_coordinate(s, k, error);
        if (status != LW_OK) break;
        lw_joint_spec *joint = &spec->joints[s->expression_joint[k]];
        for (int i = 0; i < k; i++)
            if (s->expression_joint[i] == s->expression_joint[k] && s->expression_k[i] == s->expression_k[k])
                status = lw_fail(error, LW_ERROR_ARGUMENT, s->options->coordinates[k], "give it once",
                                 "two motions are given for this coordinate");
        joint->motion[s->expression_k[k]] = lw_arena_text(spec->arena, s->options->expressions[k]);
        joint->has_q = joint->has_v = false;
        joint->stop = LW_STOP_NONE;
        for (int c = 0; c < LW_JOINT_MAX_V; c++) joint->limits[c][0] = joint->limits[c][1] = 0;
        if (status == LW_OK && !joint->motion[s->expression_k[k]]) status = lw_out_of_memory(error);
    }
    if (status == LW_OK) {
        status = lw_model_compile_again(s->model, spec, &s->prescribing, error);
        if (status == LW_OK) status = lw_data_create(s->prescribing, NULL, &s->prescribed);
        if (status == LW_ERROR_MEMORY) (void)lw_out_of_memory(error);
    }
    lw_spec_destroy(spec);
    return status;
}

/* --- the motion ------------------------------------------------------------------------------------ */

static lw_status make_times(search *s, lw_error *error) {
    const lw_inverse_options *o = s->options;
    int count;
    if (o->motion)
        count = o->motion->samples;
    else {
        if (!(o->end > o->start)) /* one instant */
            count = 1;
        else {
            const double all = (o->end - o->start) / (o->output > 0 ? o->output : (o->end - o->start) / 1000);
            if (!(all < 1e7))
                return lw_fail(error, LW_ERROR_ARGUMENT, "output", "give a longer interval",
                               "%.3g instants are asked for", all);
            count = (int)floor(all * (1 + 1e-12)) + 1;
            /* The end is an instant, too, as in a run. */
            if (o->start + (count - 1) * (o->output > 0 ? o->output : (o->end - o->start) / 1000) <
                o->end - 1e-9 * (o->end - o->start))
                count++;
        }
    }
    s->t = LW_NEW(s->arena, double, count);
    if (!s->t) return lw_out_of_memory(error);
    const double interval = o->output > 0 ? o->output : (o->end - o->start) / 1000;
    for (int i = 0; i < count; i++)
        s->t[i] = o->motion ? o->motion->t[i] : fmin(o->start + i * interval, fmax(o->end, o->start));
    s->result.samples = count;
    return LW_OK;
}

/* The given motion of row i in q, v, vdot. */
static void take_given(search *s, int i, double *q, double *v, double *vdot) {
    const lw_model *model = s->model;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, row = (size_t)i;
    memset(q, 0, nq * sizeof *q);
    memset(v, 0, nv * sizeof *v);
    memset(vdot, 0, nv * sizeof *vdot);
    if (s->options->motion) {
        memcpy(q, s->options->motion->q + row * nq, nq * sizeof *q);
        memcpy(v, s->rows.v + row * nv, nv * sizeof *v);
        memcpy(vdot, s->rows.vdot + row * nv, nv * sizeof *vdot);
    }
    if (s->prescribing) lw_take_prescribed(s->prescribing, s->prescribed, s->t[i]);
    for (int k = 0; k < s->options->coordinate_count; k++) {
        const int j = s->expression_joint[k], c = s->expression_k[k];
        const lw_joint_info *to = &model->joints[j].info, *from = &s->prescribing->joints[j].info;
        const int coordinate = lw_joint_coordinate_of_speed(to->type, c);
        q[to->q + coordinate] = s->prescribed->q[from->q + coordinate];
        v[to->v + c] = s->prescribed->v[from->v + c];
        vdot[to->v + c] = s->prescribed->vdot[from->v + c];
    }
}

static lw_status prepare(search *s, lw_error *error) {
    const lw_model *model = s->model;
    const lw_inverse_options *o = s->options;
    bool *given = LW_NEW(s->arena, bool, model->nv + 1);
    lw_status status = given ? make_times(s, error) : lw_out_of_memory(error);
    if (status == LW_OK && o->motion) {
        status = lw_motion_rows_complete(model, o->motion, s->arena, &s->rows, error);
        for (int k = 0; status == LW_OK && k < model->nv; k++) given[k] = s->rows.given[k];
    }
    if (status != LW_OK) return status;
    for (int k = 0; k < o->coordinate_count; k++)
        given[model->joints[s->expression_joint[k]].info.v + s->expression_k[k]] = true;
    const size_t samples = (size_t)s->result.samples, drives = (size_t)s->drive_count,
                 inputs = (size_t)s->with_inputs->values.input_count;
    lw_arena *a = s->arena;
    s->q = LW_NEW(a, double, samples *(size_t)model->nq + 1);
    s->v = LW_NEW(a, double, samples *(size_t)model->nv + 1);
    s->vdot = LW_NEW(a, double, samples *(size_t)model->nv + 1);
    s->forces = LW_NEW(a, double, samples *drives + 1);
    s->unique = LW_NEW(a, bool, drives + 1);
    s->one = LW_NEW(a, bool, model->nv + 1);
    s->tau = LW_NEW(a, double, model->nv + 1);
    s->now = LW_NEW(a, double, model->nq + 2 * model->nv + 1);
    s->inputs = LW_NEW(a, double, inputs + 1);
    s->states = LW_NEW(a, double, model->values.state_count + 1);
    s->input_of = LW_NEW(a, int, drives + 1);
    s->names = LW_NEW(a, const char *, drives + 1);
    s->units = LW_NEW(a, const char *, drives + 1);
    if (o->want_reactions) s->reactions = LW_NEW(a, double, 6 * samples * (size_t)model->joint_count + 1);
    const char **driven_names = LW_NEW(a, const char *, drives + 1);
    if (lw_arena_failed(a)) return lw_out_of_memory(error);
    for (size_t k = 0; k < inputs; k++) s->inputs[k] = s->with_inputs->input_defaults[k];
    for (int k = 0; k < model->values.input_count && o->inputs; k++) s->inputs[k] = o->inputs[k];
    int driven_count = 0;
    for (size_t d = 0; d < drives; d++) {
        char text[NAME];
        const driven *drive = &s->drives[d];
        name_of(model, drive->joint, drive->k, text);
        const char *coordinate = lw_arena_text(a, text);
        if (!drive->prescribes) driven_names[driven_count++] = coordinate;
        s->names[d] = drive->name, s->unique[d] = true;
        s->units[d] = lw_joint_speed_turns(model->joints[drive->joint].info.type, drive->k) ? "N m" : "N";
        snprintf(text, sizeof text, "inverse_drive_%zu", d + 1);
        s->input_of[d] = lw_model_input(s->with_inputs, text);
        if (!coordinate) return lw_out_of_memory(error);
    }
    lw_solver_options options;
    lw_solver_defaults(s->with_inputs, &options);
    options.inputs = s->inputs;
    options.states = o->motion && o->motion->states ? s->states : NULL;
    options.driven = driven_names, options.driven_count = driven_count;
    if (options.states)
        memcpy(s->states, o->motion->states, (size_t)model->values.state_count * sizeof *s->states);
    status = lw_solver_create(s->with_inputs, &options, NULL, &s->solver, error);
    if (status != LW_OK) return status;
    double *start_q = s->q, *start_v = s->v; /* the first row is room for them */
    lw_model_initial_state(s->with_inputs, start_q, start_v);
    status = lw_assemble(s->with_inputs, s->t[0], start_q, start_v, NULL, error);
    return status == LW_OK ? lw_track_create(s->solver, given, start_q, &s->follow, error) : status;
}

/* --- the work -------------------------------------------------------------------------------------- */

static lw_status at_time(double t, lw_status status, lw_error *error) {
    char text[sizeof error->message];
    if (!error || strncmp(error->message, "at t = ", 7) == 0) return status;
    snprintf(text, sizeof text, "at t = %.9g s: %.*s", t, (int)sizeof text - 40, error->message);
    snprintf(error->message, sizeof error->message, "%s", text);
    return status;
}

/* Speeds in 1/s and accelerations in 1/s^2 that are not larger are compared with this: rounding at rest. */
static const double slow = 1e-6;

/* The largest given speed and acceleration, dimensionless: what deviations are compared with. */
static void sizes(search *s, double size[LW_TRACK_LEVELS]) {
    const lw_model *model = s->model;
    const double *unit = s->solver->inverse->tangent->unit;
    double *q = s->now, *v = q + model->nq, *vdot = v + model->nv;
    size[0] = 1, size[1] = size[2] = slow;
    for (int i = 0; i < s->result.samples; i++) {
        take_given(s, i, q, v, vdot);
        for (int k = 0; k < model->nv; k++) {
            if (!s->follow->given[k]) continue;
            size[1] = fmax(size[1], fabs(v[k]) / unit[k]);
            size[2] = fmax(size[2], fabs(vdot[k]) / unit[k]);
        }
    }
}

static lw_status note_moved(search *s, int i, const double size[LW_TRACK_LEVELS], lw_error *error) {
    static const char *const what[] = {"position", "speed", "acceleration"};
    const lw_track *f = s->follow;
    for (int level = 0; level < LW_TRACK_LEVELS; level++) {
        const double moved = f->moved[level] / size[level];
        char name[NAME];
        if (moved <= s->result.moved[level]) continue;
        lw_speed_name(s->model, f->moved_speed[level], name, sizeof name);
        s->result.moved[level] = moved, s->result.moved_at[level] = s->t[i];
        if (moved > s->options->largest)
            return lw_fail(
                error, LW_ERROR_ARGUMENT, lw_model_name(s->model),
                level == 0
                    ? "give fewer coordinates, or a motion of this mechanism; a larger change can be allowed"
                    : "give speeds and accelerations that belong to the positions, or none",
                "at t = %.9g s the given motion contradicts the closures: the %s of \"%s\" would have to "
                "change by "
                "%.3g %s, and %.3g are allowed",
                s->t[i], what[level], name, moved,
                level == 0 ? "rad or of the longest arm" : "of the largest of the motion",
                s->options->largest);
        s->result.moved_name[level] = lw_arena_text(s->arena, name);
        if (!s->result.moved_name[level]) return lw_out_of_memory(error);
    }
    return LW_OK;
}

static lw_status solve_at(search *s, int i, const double size[LW_TRACK_LEVELS], lw_error *error) {
    const lw_model *model = s->with_inputs;
    const lw_motion_table *m = s->options->motion;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, row = (size_t)i,
                 ns = (size_t)model->values.state_count;
    double *q = s->now, *v = q + nq, *vdot = v + nv, amount = 0;
    if (m && m->states) memcpy(s->states, m->states + row * ns, ns * sizeof *s->states);
    for (int k = 0; m && m->inputs && k < s->model->values.input_count; k++) {
        const double value = m->inputs[row * (size_t)s->model->values.input_count + (size_t)k];
        if (!isnan(value)) s->inputs[k] = value;
    }
    take_given(s, i, q, v, vdot);
    lw_status status = lw_track_at(s->follow, s->t[i], q, v, vdot, error);
    if (status == LW_OK) status = note_moved(s, i, size, error);
    if (status != LW_OK) return at_time(s->t[i], status, error);
    memcpy(s->q + row * nq, s->follow->q, nq * sizeof *q);
    memcpy(s->v + row * nv, s->follow->v, nv * sizeof *v);
    memcpy(s->vdot + row * nv, s->follow->vdot, nv * sizeof *v);
    status = lw_solver_inverse_dynamics(s->solver, s->t[i], s->follow->q, s->follow->v, s->follow->vdot,
                                        s->tau, error);
    if (status == LW_OK) status = lw_solver_balance(s->solver, &amount, error);
    if (status == LW_OK && s->reactions)
        status =
            lw_solver_reactions(s->solver, s->reactions + 6 * row * (size_t)model->joint_count, NULL, error);
    if (status == LW_OK) status = lw_solver_unique_forces(s->solver, s->one, error);
    if (status != LW_OK) return at_time(s->t[i], status, error);
    s->result.balance = fmax(s->result.balance, amount);
    for (int d = 0; d < s->drive_count; d++) {
        const int speed = model->joints[s->drives[d].joint].info.v + s->drives[d].k;
        s->forces[row * (size_t)s->drive_count + (size_t)d] = s->tau[speed];
        s->unique[d] &= s->one[speed];
    }
    return LW_OK;
}

static void give(search *s) {
    s->result.drives = s->drive_count;
    s->result.names = s->names, s->result.units = s->units;
    s->result.t = s->t, s->result.forces = s->forces, s->result.unique = s->unique;
    s->result.q = s->q, s->result.v = s->v, s->result.vdot = s->vdot;
    s->result.reactions = s->reactions, s->result.model = s->with_inputs;
    s->result.input_of = s->input_of;
    s->result.states = s->options->motion ? s->options->motion->states : NULL;
    s->result.differences = s->rows.differences;
}

lw_status lw_inverse_find(const lw_model *model, const lw_inverse_options *options, lw_inverse **inverse,
                          lw_error *error) {
    if (inverse) *inverse = NULL;
    if (!model || !options || !inverse || !isfinite(options->start) || !isfinite(options->end) ||
        !(options->output >= 0) || options->drive_count < 0 || options->coordinate_count < 0 ||
        (options->coordinate_count > 0 && (!options->coordinates || !options->expressions)) ||
        !(options->largest >= 0) ||
        (options->motion && (options->motion->samples < 1 || !options->motion->t || !options->motion->q)))
        return lw_call_needs("a model, options with finite numbers and a pointer for the result", error);
    for (int i = 0; options->motion && i < options->motion->samples; i++)
        if (!isfinite(options->motion->t[i]) || (i > 0 && options->motion->t[i] < options->motion->t[i - 1]))
            return lw_fail(error, LW_ERROR_ARGUMENT, "motion", "give finite times that ascend",
                           "t[%d] is %.9g", i, options->motion->t[i]);
    lw_arena *arena = lw_arena_create(NULL);
    search *s = LW_NEW(arena, search, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    double size[LW_TRACK_LEVELS];
    s->arena = arena, s->model = model, s->options = options;
    lw_status status = find_drives(s, error);
    if (status == LW_OK) status = make_model(s, error);
    if (status == LW_OK) status = make_prescribing(s, error);
    if (status == LW_OK) status = prepare(s, error);
    if (status == LW_OK) sizes(s, size);
    for (int i = 0; i < s->result.samples && status == LW_OK; i++) status = solve_at(s, i, size, error);
    if (status == LW_OK) give(s);
    if (status == LW_OK && s->result.states) { /* The caller's motion may not live as long. */
        const size_t count = (size_t)s->result.samples * (size_t)model->values.state_count;
        double *copy = LW_NEW(arena, double, count + 1);
        if (copy) memcpy(copy, s->result.states, count * sizeof *copy);
        s->result.states = copy;
        if (!copy) status = lw_out_of_memory(error);
    }
    if (status == LW_OK)
        *inverse = &s->result;
    else
        lw_inverse_destroy(&s->result);
    return status;
}

void lw_inverse_destroy(lw_inverse *inverse) {
    if (!inverse) return;
    search *s = (search *)inverse;
    lw_track_destroy(s->follow);
    lw_solver_destroy(s->solver);
    if (s->prescribed) lw_data_destroy(s->prescribed);
    lw_model_destroy(s->prescribing);
    lw_model_destroy(s->with_inputs);
    lw_arena_destroy(s->arena);
}

lw_status lw_inverse_sample(const lw_inverse *inverse, int k, double *inputs, lw_ledger *ledger,
                            lw_sample *sample) {
    if (!inverse || k < 0 || k >= inverse->samples || !inputs || !ledger || !sample) return LW_ERROR_ARGUMENT;
    const search *s = (const search *)inverse;
    const lw_model *model = inverse->model;
    const size_t row = (size_t)k, nq = (size_t)model->nq, nv = (size_t)model->nv;
    for (int i = 0; i < model->values.input_count; i++) inputs[i] = s->inputs[i];
    for (int d = 0; d < inverse->drives; d++)
        if (inverse->input_of[d] >= 0)
            inputs[inverse->input_of[d]] = inverse->forces[row * (size_t)inverse->drives + (size_t)d];
    *ledger = (lw_ledger){NAN, NAN, NAN, NAN, NAN, NAN};
    *sample = (lw_sample){
        .t = inverse->t[k],
        .q = inverse->q + row * nq,
        .v = inverse->v + row * nv,
        .vdot = inverse->vdot + row * nv,
        .reactions = inverse->reactions ? inverse->reactions + 6 * row * (size_t)model->joint_count : NULL,
        .states = inverse->states ? inverse->states + row * (size_t)model->values.state_count : NULL,
        .ledger = ledger,
        .inputs = inputs};
    return LW_OK;
}
