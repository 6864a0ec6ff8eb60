/* trim.c - parameters and inputs for which a mechanism rests where it is wanted.
 *
 *   F(p) = 0,   J dp = -F,   J_ij = (F_i(p + h_j) - F_i(p - h_j)) / 2 h_j                                (3)
 *
 * F are the forces that hold the coordinates at their values, where the rest of the mechanism is at rest
 * under the values p of what is free. A second model prescribes these coordinates; each evaluation is a
 * search for its position of rest, from the one before, and inverse dynamics there. So positions that are
 * unstable are found, too.
 *
 * Source   docs/theory/equilibrium.md, "Trim".
 * Cost     per round 2 p + 1 searches (equilibrium.c), with compiling where parameters are free. Allocates.
 */
#include "analyses/linear_parts.h"
#include "linalg/dense.h"
#include "model/kept_spec.h"
#include "model/spec/spec_storage.h"
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, HALVINGS = 12, NUMBER = 40 };
/* A step that is smaller, relative to the values, is rounding; where no part of one helps, up to `little`. */
static const double nothing = 1e-12, little = 1e-7;
/* The position without the prescriptions is that which was wanted to this, rad or parts of the longest
 * arm. */
static const double same_place = 1e-8;
/* Step of differences relative to a value: forces are right to 1e-11, so that differences are to 1e-6. */
static const double relative_step = 1e-5;

typedef struct search {
    lw_trim result; /* first, so that a result is one of these */
    lw_arena *arena;
    const lw_model *model;
    const lw_trim_options *options;
    lw_linearise_options state;
    lw_spec *spec; /* with the held coordinates prescribed */
    int count;
    int *held, *speed; /* coordinate in q of each, and its speed */
    double *unit;      /* of each */
    int *parameter;    /* of the spec, or -1: an input */
    int *input;
    double *p, *trial, *c, *J, *step, *one, *q, *states, *inputs;
    int *order;
    lw_orthogonal *work;
    double *tau, *still; /* per speed */
    double largest;      /* holding force so far */
    lw_model *tuned;     /* with the held coordinates prescribed; in the end without */
    lw_equilibrium *rest;
} search;

static lw_status find_held(search *s, int k, lw_error *error) {
    const lw_model *model = s->model;
    const char *name = s->options->held[k];
    for (int i = 1; name && i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
        for (int c = 0; c < link->joint.nv; c++) {
            char text[256];
            const int coordinate = lw_joint_coordinate_of_speed(link->joint.type, c);
            lw_state_name(model, link->v + c, 0, text, sizeof text);
            if (coordinate < 0 || (link->prescribed >> c & 1)) continue;
            if (strcmp(text, name) != 0 && !(link->joint.nv == 1 && strcmp(entry->name, name) == 0)) continue;
            const int joint = model->bodies[i].joint_index;
            char value[NUMBER];
            snprintf(value, sizeof value, "%.17g", s->options->values[k]);
            s->spec->joints[joint].motion[c] = lw_arena_text(s->spec->arena, value);
            s->spec->joints[joint].has_q = s->spec->joints[joint].has_v = false;
            if (!s->spec->joints[joint].motion[c]) return lw_out_of_memory(error);
            s->held[k] = link->q + coordinate, s->speed[k] = link->v + c;
            s->unit[k] = lw_joint_speed_turns(link->joint.type, c) ? 1 : lw_longest_arm(model);
            return LW_OK;
        }
    }
    return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(model),
                   "name a joint of the tree with one coordinate, or a coordinate as in results",
                   "\"%s\" is no coordinate that can be held", name ? name : "");
}

static lw_status find_freed(search *s, int k, lw_error *error) {
    const char *name = s->options->freed[k];
    s->parameter[k] = name ? lw_model_parameter(s->model, name) : -1;
    s->input[k] = name ? lw_model_input(s->model, name) : -1;
    if (s->parameter[k] >= 0)
        s->p[k] = lw_model_parameter_value(s->model, s->parameter[k]);
    else if (s->input[k] >= 0)
        s->p[k] = isfinite(s->inputs[s->input[k]]) ? s->inputs[s->input[k]] : 0;
    else {
        char remedy[256] = "name a parameter or an input of the model";
        lw_closest_search near = lw_closest_to(name ? name : "");
        for (int i = 0; i < lw_model_parameter_count(s->model); i++)
            lw_closest_try(&near, lw_model_parameter_name(s->model, i));
        for (int i = 0; i < lw_model_input_count(s->model); i++)
            lw_closest_try(&near, lw_model_input_name(s->model, i));
        lw_did_you_mean(near.name, remedy, sizeof remedy);
        return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(s->model), remedy,
                       "\"%s\" is no parameter and no input that could be free", name ? name : "");
    }
    for (int i = 0; i < k; i++)
        if (strcmp(s->options->freed[i], name) == 0)
            return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(s->model), "name it once",
                           "\"%s\" is free twice", name);
    return LW_OK;
}

/* The model of the spec with values p of its parameters, in s->tuned; inputs become those of p. */
static lw_status tune(search *s, lw_spec *spec, const double *p, bool anew, lw_error *error) {
    lw_status status = LW_OK;
    for (int k = 0; k < s->count && status == LW_OK; k++) {
        if (s->parameter[k] < 0)
            s->inputs[s->input[k]] = p[k];
        else
            status = lw_spec_set_parameter(spec, s->options->freed[k], p[k], error), anew = true;
    }
    lw_model *model = NULL;
    if (status != LW_OK || (s->tuned && !anew)) return status;
    status = lw_model_compile_again(s->model, spec, &model, error);
    if (status != LW_OK) return status;
    lw_equilibrium_destroy(s->rest); /* which belongs to the model before */
    s->rest = NULL;
    lw_model_destroy(s->tuned);
    s->tuned = model;
    return LW_OK;
}

static lw_status settle(search *s, const double *p, lw_error *error) {
    lw_equilibrium *rest = NULL;
    s->state.q = s->q, s->state.v = NULL, s->state.states = s->states, s->state.inputs = s->inputs;
    lw_status status = lw_equilibrium_find(s->tuned, &s->state, &rest, error);
    if (status == LW_OK && !rest->converged)
        status = lw_fail(
            error, LW_ERROR_SINGULAR, lw_model_name(s->model), "begin nearer to the values sought",
            "there is no position of rest with %s = %.9g: %s", s->options->freed[0], p[0], rest->unbalanced);
    if (status != LW_OK) {
        lw_equilibrium_destroy(rest);
        return status;
    }
    lw_equilibrium_destroy(s->rest);
    s->rest = rest;
    return LW_OK;
}

/* The holding forces F for values p. */
static lw_status evaluate(search *s, const double *p, double *force, lw_error *error) {
    lw_solver *solver = NULL;
    lw_status status = tune(s, s->spec, p, false, error);
    if (status == LW_OK) status = settle(s, p, error);
    if (status != LW_OK) return status;
    static const char *const none[] = {NULL}; /* prescribing drives alone */
    lw_solver_options options;
    lw_solver_defaults(s->tuned, &options);
    if (s->state.method) options.method = s->state.method;
    options.driven = none, options.inputs = s->inputs, options.states = s->rest->states;
    options.t = s->state.t, options.q = s->rest->q, options.v = s->still;
    status = lw_solver_create(s->tuned, &options, NULL, &solver, error);
    if (status == LW_OK)
        status =
            lw_solver_inverse_dynamics(solver, s->state.t, s->rest->q, s->still, s->still, s->tau, error);
    for (int i = 0; i < s->count && status == LW_OK; i++) force[i] = s->tau[s->speed[i]] * s->unit[i];
    lw_solver_destroy(solver);
    return status;
}

/* Without the prescriptions: is it at rest there? */
static lw_status release(search *s, lw_error *error) {
    lw_spec *spec = NULL;
    lw_status status = lw_model_kept_spec(s->model, &spec, error);
    if (status == LW_OK) status = tune(s, spec, s->p, true, error);
    lw_spec_destroy(spec);
    if (status == LW_OK) status = settle(s, s->p, error);
    for (int i = 0; i < s->count && status == LW_OK; i++)
        s->result.off =
            fmax(s->result.off, fabs(s->rest->q[s->held[i]] - s->options->values[i]) / s->unit[i]);
    s->result.converged &= status == LW_OK && s->result.off < same_place;
    return status;
}

static double size_of(int n, const double *c) {
    double most = 0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(c[k]));
    return most;
}

static void keep_position(search *s) {
    memcpy(s->q, s->rest->q, (size_t)s->model->nq * sizeof *s->q);
    for (int k = 0; k < s->count; k++)
        s->q[s->held[k]] = s->options->values[k]; /* prescribed ones are not told */
    memcpy(s->states, s->rest->states, (size_t)s->model->values.state_count * sizeof *s->states);
}

/* J at p, and the step that it asks for, in s->step; *size: the step relative to the values. */
static lw_status find_step(search *s, double *size, lw_error *error) {
    const int n = s->count;
    double *scale = s->step + n;
    for (int j = 0; j < n; j++) {
        const double h = relative_step * (fabs(s->p[j]) > 0 ? fabs(s->p[j]) : 1);
        double most = 0;
        for (int side = -1; side <= 1; side += 2) {
            memcpy(s->trial, s->p, (size_t)n * sizeof *s->p);
            s->trial[j] = s->p[j] + side * h;
            const lw_status status = evaluate(s, s->trial, s->one, error);
            if (status != LW_OK) return status;
            for (int i = 0; i < n; i++) {
                double *entry = &s->J[i + j * n];
                *entry = side < 0 ? s->one[i] : (s->one[i] - *entry) / (2 * h);
            }
        }
        for (int i = 0; i < n; i++) most = fmax(most, fabs(s->J[i + j * n]));
        /* What rounding leaves of a force that does not change is no slope. */
        scale[j] = most * h > 1e-9 * s->largest ? 1 / most : 1;
        for (int i = 0; i < n; i++)
            s->J[i + j * n] = most * h > 1e-9 * s->largest ? s->J[i + j * n] * scale[j] : 0;
    }
    for (int i = 0; i < n; i++) s->step[i] = -s->c[i];
    if (lw_qr_factor(s->work, n, n, s->J, s->order, 1e-6) < n)
        return lw_fail(
            error, LW_ERROR_SINGULAR, lw_model_name(s->model),
            "free others, or hold coordinates that depend on them",
            "the forces at the held coordinates do not depend on all that is free, each in a way of its "
            "own");
    lw_qr_apply(s->work, true, n, n, s->J, 1, s->step);
    lw_qr_triangle(false, n, n, s->J, 1, s->step, n);
    *size = 0;
    for (int j = 0; j < n; j++) {
        const int k = s->order[j];
        s->one[k] = s->step[j] * scale[k];
        *size = fmax(*size, fabs(s->one[k]) / (fabs(s->p[k]) > 0 ? fabs(s->p[k]) : 1));
    }
    memcpy(s->step, s->one, (size_t)n * sizeof *s->step);
    return LW_OK;
}

static lw_status newton(search *s, lw_error *error) {
    const int n = s->count;
    lw_status status = evaluate(s, s->p, s->c, error);
    for (; status == LW_OK && s->result.rounds < ROUNDS; s->result.rounds++) {
        double size = 0, part = 1;
        const double before = size_of(n, s->c);
        bool better = false;
        s->largest = fmax(s->largest, before);
        keep_position(s);
        if (!(before > 0)) {
            s->result.converged = true;
            break;
        }
        status = find_step(s, &size, error);
        if (status != LW_OK) break;
        for (int half = 0; half < HALVINGS && !better; half++, part /= 2) {
            for (int j = 0; j < n; j++) s->trial[j] = s->p[j] + part * s->step[j];
            better = evaluate(s, s->trial, s->one, NULL) == LW_OK && size_of(n, s->one) < before;
        }
        if (!better) { /* What is left is rounding, or nothing leads on. */
            s->result.converged = size < little;
            break;
        }
        memcpy(s->p, s->trial, (size_t)n * sizeof *s->p);
        memcpy(s->c, s->one, (size_t)n * sizeof *s->c);
        if (size < nothing) {
            s->result.converged = true;
            break;
        }
    }
    if (status == LW_OK && s->result.converged) keep_position(s);
    return status == LW_OK ? release(s, error) : status;
}

static lw_status create(search *s, lw_error *error) {
    const lw_model *model = s->model;
    const size_t n = (size_t)s->count + 1, inputs = (size_t)model->values.input_count;
    lw_arena *a = s->arena;
    s->tau = LW_NEW(a, double, model->nv + 1), s->still = LW_NEW(a, double, model->nv + 1);
    s->speed = LW_NEW(a, int, n);
    s->held = LW_NEW(a, int, n), s->unit = LW_NEW(a, double, n), s->order = LW_NEW(a, int, n);
    s->parameter = LW_NEW(a, int, n), s->input = LW_NEW(a, int, n);
    s->p = LW_NEW(a, double, n), s->trial = LW_NEW(a, double, n), s->c = LW_NEW(a, double, n);
    s->J = LW_NEW(a, double, n *n), s->step = LW_NEW(a, double, 2 * n), s->one = LW_NEW(a, double, n);
    s->q = LW_NEW(a, double, model->nq + model->nv + 1);
    s->states = LW_NEW(a, double, model->values.state_count + 1);
    s->inputs = LW_NEW(a, double, inputs + 1);
    s->work = lw_orthogonal_create(s->count, s->count, false);
    if (lw_arena_failed(a) || !s->work) return lw_out_of_memory(error);
    const lw_linearise_options *given = &s->options->state;
    for (size_t k = 0; k < inputs; k++)
        s->inputs[k] = given->inputs ? given->inputs[k] : model->input_defaults[k];
    for (int k = 0; k < model->values.state_count; k++)
        s->states[k] = given->states ? given->states[k] : model->values.starts[k];
    s->state = *given;
    lw_status status = lw_model_kept_spec(model, &s->spec, error);
    if (status == LW_OK) status = lw_linear_start(model, given, s->q, s->q + model->nq, error);
    for (int k = 0; k < s->count && status == LW_OK; k++) {
        status = find_held(s, k, error);
        if (status == LW_OK) status = find_freed(s, k, error);
    }
    return status;
}

lw_status lw_trim_find(const lw_model *model, const lw_trim_options *options, lw_trim **trim,
                       lw_error *error) {
    if (trim) *trim = NULL;
    if (!model || !options || !trim || options->count < 1 || !options->held || !options->values ||
        !options->freed || !lw_finite(options->values, options->count))
        return lw_call_needs(
            "a model, as many held coordinates with finite values as free names, and a pointer for the "
            "result",
            error);
    lw_arena *arena = lw_arena_create(NULL);
    search *s = LW_NEW(arena, search, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    s->arena = arena, s->model = model, s->options = options, s->count = options->count;
    lw_status status = create(s, error);
    if (status == LW_OK) status = newton(s, error);
    if (status == LW_OK) {
        s->result.count = s->count, s->result.values = s->p;
        s->result.equilibrium = s->rest, s->result.model = s->tuned;
        *trim = &s->result;
    } else
        lw_trim_destroy(&s->result);
    return status;
}

void lw_trim_destroy(lw_trim *trim) {
    if (!trim) return;
    search *s = (search *)trim;
    lw_equilibrium_destroy(s->rest);
    lw_model_destroy(s->tuned);
    lw_spec_destroy(s->spec);
    lw_orthogonal_destroy(s->work);
    lw_arena_destroy(s->arena);
}
