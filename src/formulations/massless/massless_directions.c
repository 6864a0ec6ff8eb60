/* massless_directions.c - the public list of a model's massless directions, and what determines them.
 *
 * Source   docs/theory/massless.md.
 * Cost     O(n) for trees, O(n^3) with closed loops; allocates.
 */
#include "formulations/massless/massless_parts.h"
#include "formulations/massless/massless_loops.h"
#include "formulations/common/absolute_method_base.h"
#include <linkwork/assemble.h>
#include <linkwork/massless.h>
#include <linkwork/simulate.h>

#include <stdlib.h>

struct lw_directions {
    int dynamic, count; /* The number of motions that move mass, and the number of massless directions. */
    lw_direction *list;
};

const char *lw_direction_kind_name(lw_direction_kind kind) {
    static const char *const names[] = {"dynamic", "first order", "algebraic", "undetermined"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "";
}

static lw_status list_directions(const lw_null_shape *shape, const lw_null_kinds *kinds, lw_directions *out,
                                 lw_error *error) {
    const lw_model *model = shape->model;
    out->list = calloc((size_t)shape->count + 1, sizeof *out->list);
    if (!out->list) return lw_out_of_memory(error);
    out->count = shape->count;
    for (int k = 0; k < shape->count; k++) {
        /* The list goes from ground outwards, as the numbers of bodies do. */
        lw_direction *d = &out->list[shape->dense ? k : shape->count - 1 - k];
        int body = lw_body_of_speed(model, kinds->speed[k]), joint = model->bodies[body].joint_index;
        *d = (lw_direction){.kind = kinds->kind[k],
                            .joint = joint,
                            .body = body,
                            .speed = kinds->speed[k] - model->links[body].v,
                            .joint_name = model->joints[joint].name,
                            .body_name = model->bodies[body].name};
        lw_describe_speed(model, kinds->speed[k], d->text, sizeof d->text);
        if (d->kind == LW_DIRECTION_UNDETERMINED)
            lw_undetermined_speed(model, kinds->speed[k], kinds->driven[k], &d->error);
    }
    return LW_OK;
}

/* If every body has mass and inertia in every direction, there are no massless directions, and all motions
 * that the loops allow are dynamic. */
static lw_status all_dynamic(const lw_model *model, lw_directions *out, lw_error *error) {
    double *q = calloc((size_t)model->nq + (size_t)model->nv + 1, sizeof *q);
    lw_mobility *mobility = NULL;
    lw_status status = q ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        lw_model_initial_state(model, q, q + model->nq);
        /* If the loops cannot be closed, q is the position that comes closest. */
        lw_assemble(model, 0, q, q + model->nq, NULL, NULL);
        status = lw_mobility_create(model, 0, q, &mobility, error);
    }
    if (status == LW_OK) out->dynamic = lw_mobility_freedom(mobility);
    lw_mobility_destroy(mobility);
    free(q);
    return status;
}

lw_status lw_directions_create(const lw_model *model, lw_directions **directions, lw_error *error) {
    if (directions) *directions = NULL;
    if (!model || !directions) return lw_call_needs("a model and a place for the result", error);
    const lw_model *whole = model;
    model = lw_merged(model); /* A body without mass that is welded to one with mass has it. */
    lw_directions *out = calloc(1, sizeof *out);
    if (out && lw_needs_inverse("", model, true, NULL) == LW_OK) {
        lw_status status = all_dynamic(model, out, error);
        if (status == LW_OK)
            *directions = out;
        else
            free(out);
        return status;
    }
    lw_null_shape *shape = out ? lw_null_shape_create(model) : NULL;
    lw_null_kinds kinds = {0};
    lw_status status = shape ? LW_OK : lw_out_of_memory(error);
    int mobility = -1;
    if (status == LW_OK && shape->dense) status = lw_loops_structure(shape, &mobility, error);
    if (status == LW_OK) status = lw_null_classify(shape, &kinds, shape->arena, error);
    if (status == LW_OK) status = list_directions(shape, &kinds, out, error);
    if (status == LW_OK) {
        if (mobility < 0)
            for (int i = 1, k = mobility = 0; i <= model->body_count; i++)
                for (k = 0; k < model->links[i].joint.nv; k++)
                    mobility += !(model->links[i].prescribed >> k & 1);
        out->dynamic = mobility - out->count;
        for (int k = 0; k < out->count && whole != model; k++) { /* indices of the caller's model */
            out->list[k].joint = lw_model_joint(whole, out->list[k].joint_name);
            out->list[k].body = lw_model_body(whole, out->list[k].body_name);
        }
        *directions = out;
    } else
        lw_directions_destroy(out);
    lw_null_shape_destroy(shape);
    return status;
}

void lw_directions_destroy(lw_directions *directions) {
    if (!directions) return;
    free(directions->list);
    free(directions);
}

int lw_directions_dynamic(const lw_directions *directions) { return directions ? directions->dynamic : 0; }
int lw_directions_count(const lw_directions *directions) { return directions ? directions->count : 0; }
const lw_direction *lw_directions_at(const lw_directions *directions, int index) {
    return directions && index >= 0 && index < directions->count ? &directions->list[index] : NULL;
}

/* --- the balance ------------------------------------------------------------------------------------ */

static bool stop(const lw_sample *sample, void *context) {
    (void)sample, (void)context;
    return false;
}

lw_status lw_directions_balance(const lw_model *model, lw_error *error) {
    lw_run_options options;
    if (!model) return lw_call_needs("a model", error);
    lw_run_defaults(model, &options);
    options.method = "massless";
    options.integrator = options.drift = NULL;
    options.observe = stop; /* The run stops at the first sample, the initial state in balance. */
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, error);
    return status == LW_ERROR_STOPPED ? LW_OK : status;
}
