/* fmu_derivatives.c - directional derivatives of the rates and outputs of an FMU, from exact derivatives.
 *
 * The derivatives of solver_derivatives.c have a column for the motion that each speed makes, for each speed,
 * input and user state. A direction of continuous states becomes numbers for these columns: a coordinate that
 * is the integral of a speed is its motion, and a change de of a quaternion e is the turn 4 N'de with the
 * matrix N of e' = N(e) w, whose columns have the length 1/2; the part of de along e, which leaves the
 * rotation as it is, counts for nothing. Of the rates of quaternions, N is linear in e:
 *
 *   d(e') = N(de) w + N(e) dw.
 *
 * Source   docs/theory/derivatives.md, docs/fmu.md.
 * Cost     the derivatives of one state, and O(columns) per unknown. Nothing is allocated after creation.
 */
#include "fmu/fmu_derivatives.h"
#include "linalg/vec3.h"
#include "model/joint_types.h"
#include "model/signals.h"
#include "simulation/solver/solver_derivatives.h"

#include <math.h>
#include <string.h>

struct lw_fmu_derivatives {
    lw_arena *arena;
    lw_simulation *simulation;
    const lw_fmu_table *table;
    const lw_model *model;
    lw_derivatives *derivatives;
    int columns;
    bool wants_reactions;
    double *direction;                           /* per column */
    double *q, *v;                               /* the state */
    double *dq;                                  /* per coordinate: of the seed */
    double *qdot, *turned;                       /* workspaces per coordinate */
    double *zero_v;                              /* per speed: a workspace */
    double *accelerations;                       /* nv x columns */
    double *row;                                 /* columns */
    double *by_q, *by_v, *by_inputs, *by_states; /* of the reactions */
};

void lw_fmu_derivatives_destroy(lw_fmu_derivatives *f) {
    if (!f) return;
    lw_derivatives_destroy(f->derivatives);
    lw_arena_destroy(f->arena);
}

static lw_status take_memory(lw_fmu_derivatives *f, lw_error *error) {
    const lw_model *model = f->model;
    const size_t nq = (size_t)model->nq + 1, nv = (size_t)model->nv + 1, columns = (size_t)f->columns + 1;
    f->direction = LW_NEW(f->arena, double, columns);
    f->row = LW_NEW(f->arena, double, columns);
    f->q = LW_NEW(f->arena, double, nq);
    f->dq = LW_NEW(f->arena, double, nq);
    f->qdot = LW_NEW(f->arena, double, nq);
    f->turned = LW_NEW(f->arena, double, nq);
    f->v = LW_NEW(f->arena, double, nv);
    f->zero_v = LW_NEW(f->arena, double, nv);
    f->accelerations = LW_NEW(f->arena, double, nv *columns);
    for (int k = 0; k < f->table->count; k++)
        f->wants_reactions |= f->table->variables[k].kind == LW_FMU_REACTION;
    if (f->wants_reactions) {
        const size_t rows = 6 * (size_t)lw_model_joint_count(model) + 1;
        f->by_q = LW_NEW(f->arena, double, rows *nv);
        f->by_v = LW_NEW(f->arena, double, rows *nv);
        f->by_inputs = LW_NEW(f->arena, double, rows *((size_t)model->values.input_count + 1));
        f->by_states = LW_NEW(f->arena, double, rows *((size_t)model->values.state_count + 1));
    }
    return lw_arena_failed(f->arena) ? lw_out_of_memory(error) : LW_OK;
}

/* --- the direction ---------------------------------------------------------------------------------- */

/* The turn of a ball, whose quaternion begins at `first` in q and its speeds at `speed`, by dq. */
static void turn_of(lw_fmu_derivatives *f, int first, int speed) {
    double size = 0;
    for (int k = 0; k < 4; k++) size += f->q[first + k] * f->q[first + k];
    for (int c = 0; c < 3; c++) {
        double along = 0;
        memset(f->zero_v, 0, (size_t)f->model->nv * sizeof *f->zero_v);
        f->zero_v[speed + c] = 1;
        (void)lw_q_rate(f->model, f->q, f->zero_v, f->qdot);
        for (int k = 0; k < 4; k++) along += f->qdot[first + k] * f->dq[first + k];
        f->direction[speed + c] = 4 * along / size;
    }
}

static lw_status make_direction(lw_fmu_derivatives *f, const unsigned *known, size_t knowns,
                                const double *seed, lw_error *error) {
    const lw_model *model = f->model;
    const int nv = model->nv, inputs = model->values.input_count;
    memset(f->direction, 0, (size_t)f->columns * sizeof *f->direction);
    memset(f->dq, 0, (size_t)model->nq * sizeof *f->dq);
    for (size_t k = 0; k < knowns; k++) {
        const lw_fmu_variable *v =
            known[k] < (unsigned)f->table->count ? &f->table->variables[known[k]] : NULL;
        if (v && v->kind == LW_FMU_INPUT)
            f->direction[2 * nv + v->index] += seed[k];
        else if (v && v->state >= 0 && v->kind == LW_FMU_STATE)
            f->direction[2 * nv + inputs + v->index] += seed[k];
        else if (v && v->state >= 0 && v->kind == LW_FMU_SPEED)
            f->direction[nv + v->index] += seed[k];
        else if (v && v->state >= 0 && v->kind == LW_FMU_COORDINATE)
            f->dq[v->index] += seed[k];
        else
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "ask by continuous states and inputs",
                           "there are no derivatives by %s", v ? v->name : "a variable that is not there");
    }
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info info = lw_model_joint_info(model, j);
        const int ball = lw_joint_quaternion(info.type);
        for (int k = 0; k < info.v_count && !info.cut; k++)
            if (ball < 0 || k < ball) f->direction[info.v + k] = f->dq[info.q + k];
        if (ball >= 0 && !info.cut) turn_of(f, info.q + ball, info.v + ball);
    }
    return LW_OK;
}

/* --- unknowns --------------------------------------------------------------------------------------- */

static double along(const lw_fmu_derivatives *f, const double *row) {
    double sum = 0;
    for (int k = 0; k < f->columns; k++)
        if (f->direction[k] != 0) sum += row[k] * f->direction[k];
    return sum;
}

/* Accelerations of the speeds by all columns, and the vector of values with its derivatives. */
static lw_status evaluate(lw_fmu_derivatives *f, lw_error *error) {
    lw_simulation *s = f->simulation;
    lw_derivatives *d = f->derivatives;
    const lw_model *model = f->model;
    const double t = lw_simulation_seen(s, s->t);
    lw_simulation_take(s, s->t, s->y, false);
    memcpy(f->q, s->q, (size_t)model->nq * sizeof *f->q);
    memcpy(f->v, s->v, (size_t)model->nv * sizeof *f->v);
    lw_simulation_see(s, s->y);
    lw_status status = lw_derivatives_evaluate(d, t, f->q, f->v, NULL, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < d->free_count; i++)
        for (int k = 0; k < f->columns; k++)
            f->accelerations[(size_t)d->free[i] * (size_t)f->columns + (size_t)k] =
                d->dvdot[(size_t)i + (size_t)k * (size_t)d->free_count];
    if (model->values.count == 0) return LW_OK;
    const lw_quantity_source source = {.t = d->tree->t, .vdot = d->vdot};
    d->tree->accelerations = f->accelerations;
    d->tree->tolerant = true;
    lw_values_compute(model, d->data, d->tree->t, &source, &model->values.for_all);
    status = lw_value_derivatives(d->tree, &model->values.for_all, error);
    return status;
}

static lw_status of_function(lw_fmu_derivatives *f, const lw_function *function, const char *name,
                             double *value, lw_error *error) {
    lw_tree_derivatives *tree = f->derivatives->tree;
    memset(f->row, 0, (size_t)f->columns * sizeof *f->row);
    lw_function_derivatives(tree, function, &tree->t, f->derivatives->data->computed, 1, f->row, NULL, 0);
    *value = along(f, f->row);
    if (lw_finite(f->row, f->columns)) return LW_OK;
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, "ask for others", "%s has no derivatives in this state",
                   name);
}

static double of_coordinate_rate(lw_fmu_derivatives *f, const lw_fmu_variable *v) {
    const lw_model *model = f->model;
    const lw_joint_info info = lw_model_joint_info(model, v->joint);
    const int ball = lw_joint_quaternion(info.type);
    if (ball < 0 || v->number < ball) return f->direction[model->nv + info.v + v->number];
    (void)lw_q_rate(model, f->q, f->direction + model->nv, f->qdot);
    const double by_speeds = f->qdot[v->index];
    double radial = 0, size = 0; /* Only what turns counts of a change of the quaternion. */
    const int first = info.q + ball;
    for (int k = 0; k < 4; k++)
        radial += f->q[first + k] * f->dq[first + k], size += f->q[first + k] * f->q[first + k];
    for (int k = 0; k < 4; k++) f->turned[first + k] = f->dq[first + k] - radial / size * f->q[first + k];
    (void)lw_q_rate(model, f->turned, f->v, f->qdot);
    return by_speeds + f->qdot[v->index];
}

static double of_reaction(const lw_fmu_derivatives *f, int component) {
    const int nv = f->model->nv, inputs = f->model->values.input_count, states = f->model->values.state_count;
    double sum = 0;
    for (int k = 0; k < nv; k++)
        sum += f->by_q[component * nv + k] * f->direction[k] +
               f->by_v[component * nv + k] * f->direction[nv + k];
    for (int k = 0; k < inputs; k++) sum += f->by_inputs[component * inputs + k] * f->direction[2 * nv + k];
    for (int k = 0; k < states; k++)
        sum += f->by_states[component * states + k] * f->direction[2 * nv + inputs + k];
    return sum;
}

static lw_status of_unknown(lw_fmu_derivatives *f, const lw_fmu_variable *v, double *value, lw_error *error) {
    const lw_model *model = f->model;
    const int nv = model->nv, inputs = model->values.input_count;
    if (v->kind == LW_FMU_RATE) {
        const lw_fmu_variable *of = &f->table->variables[f->table->states[v->index]];
        if (of->kind == LW_FMU_STATE)
            return of_function(f, model->values.functions[inputs + of->index], v->name, value, error);
        *value = of->kind == LW_FMU_COORDINATE
                     ? of_coordinate_rate(f, of)
                     : along(f, f->accelerations + (size_t)of->index * (size_t)f->columns);
        return LW_OK;
    }
    switch (v->kind) {
    case LW_FMU_OUTPUT: {
        lw_status status = of_function(f, model->outputs[v->index].function, v->name, value, error);
        *value *= v->scale;
        return status;
    }
    case LW_FMU_COORDINATE:
        *value = v->prescribed ? 0 : f->dq[v->index];
        return LW_OK;
    case LW_FMU_SPEED:
        *value = v->prescribed ? 0 : f->direction[nv + v->index];
        return LW_OK;
    case LW_FMU_STATE:
        *value = f->direction[2 * nv + inputs + v->index];
        return LW_OK;
    case LW_FMU_REACTION:
        *value = of_reaction(f, v->index);
        if (isfinite(*value)) return LW_OK;
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, "ask for others", "%s is not unique", v->name);
    default:
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "ask for rates and outputs",
                       "there are no derivatives of %s", v->name);
    }
}

static lw_status unknowns_along(lw_fmu_derivatives *f, const unsigned *unknown, size_t unknowns, double *out,
                                lw_error *error) {
    lw_status status = LW_OK;
    bool reactions = false;
    for (size_t k = 0; k < unknowns; k++) {
        if (unknown[k] >= (unsigned)f->table->count)
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "there is no variable of value reference %u",
                           unknown[k]);
        const lw_fmu_variable *v = &f->table->variables[unknown[k]];
        if (v->kind == LW_FMU_REACTION) continue;
        status = of_unknown(f, v, &out[k], error);
        if (status != LW_OK) return status;
    }
    for (size_t k = 0; k < unknowns; k++) { /* They use the workspaces of the others anew. */
        const lw_fmu_variable *v = &f->table->variables[unknown[k]];
        if (v->kind != LW_FMU_REACTION) continue;
        if (!reactions) {
            const lw_reaction_derivatives places = {
                .dq = f->by_q, .dv = f->by_v, .dinputs = f->by_inputs, .dstates = f->by_states};
            const lw_simulation *s = f->simulation;
            status = lw_derivatives_of_reactions(f->derivatives, lw_simulation_seen(s, s->t), f->q, f->v,
                                                 NULL, &places, error);
            reactions = true;
        }
        if (status == LW_OK) status = of_unknown(f, v, &out[k], error);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

lw_status lw_fmu_derivatives_along(lw_fmu_derivatives *f, const unsigned *unknown, size_t unknowns,
                                   const unsigned *known, size_t knowns, const double *seed,
                                   double *sensitivity, lw_error *error) {
    lw_status status = evaluate(f, error);
    if (status == LW_OK) status = make_direction(f, known, knowns, seed, error);
    if (status == LW_OK) status = unknowns_along(f, unknown, unknowns, sensitivity, error);
    f->derivatives->tree->accelerations = NULL;
    f->derivatives->tree->tolerant = false;
    return status;
}

/* --- creation --------------------------------------------------------------------------------------- */

/* Can everything that may be asked for be had in the present state? */
static lw_status try_unknowns(lw_fmu_derivatives *f, lw_error *error) {
    unsigned *unknown = LW_NEW(f->arena, unsigned, f->table->count + 1);
    double *values = LW_NEW(f->arena, double, f->table->count + 1);
    size_t count = 0;
    if (lw_arena_failed(f->arena)) return lw_out_of_memory(error);
    for (int k = 0; k < f->table->count; k++) {
        const lw_fmu_kind kind = f->table->variables[k].kind;
        if (kind == LW_FMU_OUTPUT || kind == LW_FMU_RATE || kind == LW_FMU_REACTION)
            unknown[count++] = (unsigned)k;
    }
    return lw_fmu_derivatives_along(f, unknown, count, NULL, 0, NULL, values, error);
}

lw_status lw_fmu_derivatives_create(lw_simulation *s, const lw_fmu_table *table,
                                    lw_fmu_derivatives **derivatives, lw_error *error) {
    const lw_model *model = s->model;
    *derivatives = NULL;
    for (int k = 0; k < table->count; k++)
        if (table->variables[k].kind == LW_FMU_BOOK)
            return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, NULL,
                           "outputs of the ledger have no derivatives");
    if (lw_model_loop_count(model) + lw_model_constraint_count(model) > 0)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, NULL,
                       "off loops and constraints single coordinates have no derivatives");
    lw_arena *arena = lw_arena_create(NULL);
    lw_fmu_derivatives *f = LW_NEW(arena, lw_fmu_derivatives, 1);
    if (!f) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    *f = (lw_fmu_derivatives){.arena = arena, .simulation = s, .table = table, .model = model};
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    options.inputs = s->inputs, options.states = s->states;
    lw_status status = lw_derivatives_create(model, &options, NULL, &f->derivatives, error);
    if (status == LW_OK) {
        f->columns = f->derivatives->tree->columns;
        status = take_memory(f, error);
    }
    if (status == LW_OK && f->wants_reactions)
        status = lw_derivatives_prepare_reactions(f->derivatives, error);
    if (status == LW_OK) status = try_unknowns(f, error);
    if (status == LW_OK)
        *derivatives = f;
    else
        lw_fmu_derivatives_destroy(f);
    return status;
}
