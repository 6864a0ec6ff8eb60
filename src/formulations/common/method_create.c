/* method_create.c - methods on the merged form of a model, with answers for the whole model.
 *
 * Source   docs/theory/welds.md.
 * Cost     that of the formulation on the merged form; where reactions are asked for, O(bodies + joints +
 *          constraints + elements) of the whole. Only create allocates, and flags that were not announced.
 */
#include "formulations/common/method_create.h"
#include "constraints/balance/balance.h"
#include "constraints/weld_forces.h"

#include <string.h>

struct lw_whole {
    lw_arena *arena;
    const lw_model *model; /* the whole one */
    lw_method_options options;
    lw_weld_forces *welds;
    /* What the formulation finds on the merged form. */
    double *reactions, *multipliers;
    bool *unique;
};

static void destroy_whole(lw_whole *whole) {
    if (!whole) return;
    lw_weld_forces_destroy(whole->welds);
    lw_arena_destroy(whole->arena);
}

static lw_whole *create_whole(const lw_model *model, const lw_method_options *options) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_whole *whole = LW_NEW(arena, lw_whole, 1);
    if (!whole) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    const size_t joints = 6 * (size_t)model->merged->joint_count + 1;
    whole->arena = arena;
    whole->model = model;
    if (options) whole->options = *options;
    whole->reactions = LW_NEW(arena, double, joints);
    whole->unique = LW_NEW(arena, bool, joints);
    whole->multipliers = LW_NEW(arena, double, lw_balance_multiplier_count(model) + 1);
    whole->welds = lw_weld_forces_create(model, whole->options.flags);
    if (!lw_arena_failed(arena) && whole->welds) return whole;
    destroy_whole(whole);
    return NULL;
}

lw_status lw_method_create(const lw_formulation *formulation, const lw_model *model,
                           const lw_method_options *options, lw_method **method, lw_error *error) {
    lw_status status = formulation->create(lw_merged(model), options, method, error);
    if (status != LW_OK || !model->merged) return status;
    (*method)->whole = create_whole(model, options);
    if ((*method)->whole) return LW_OK;
    formulation->destroy(*method);
    *method = NULL;
    return lw_out_of_memory(error);
}

void lw_method_destroy(lw_method *method) {
    if (!method) return;
    destroy_whole(method->whole);
    method->formulation->destroy(method);
}

lw_status lw_method_accelerations(lw_method *method, double t, const double *q, const double *v,
                                  const double *tau, double *vdot, double *reactions, bool *unique,
                                  lw_error *error) {
    const lw_formulation *f = method->formulation;
    lw_whole *w = method->whole;
    if (!w || (!reactions && !unique))
        return f->accelerations(method, t, q, v, tau, vdot, reactions, unique, error);
    lw_status status =
        f->accelerations(method, t, q, v, tau, vdot, w->reactions, unique ? w->unique : NULL, error);
    if (status != LW_OK) return status;
    if (w->model->constraint_count && f->multipliers) f->multipliers(method, w->multipliers);
    const lw_weld_state state = {.t = t,
                                 .q = q,
                                 .v = f->speeds ? f->speeds(method) : v,
                                 .inputs = w->options.inputs,
                                 .states = w->options.states,
                                 .hold = w->options.hold,
                                 .vdot = vdot,
                                 .multipliers = w->multipliers,
                                 .reactions = w->reactions};
    if (reactions) lw_weld_forces_at(w->welds, &state, reactions);
    return unique ? lw_weld_flags(w->welds, t, q, w->unique, unique, error) : LW_OK;
}

bool lw_method_step_reactions(lw_method *method, double t, double *reactions) {
    const lw_formulation *f = method->formulation;
    const lw_whole *w = method->whole;
    if (!w) return f->reactions(method, t, reactions);
    if (!f->reactions(method, t, w->reactions)) return false;
    for (int j = 0; j < w->model->joint_count; j++) {
        const int from = w->model->merged_joint[j];
        if (from >= 0) memcpy(reactions + 6 * j, w->reactions + 6 * from, 6 * sizeof *reactions);
    }
    return true;
}
