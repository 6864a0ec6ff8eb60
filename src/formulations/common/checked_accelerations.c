/* checked_accelerations.c - accelerations of a method, put to the balance check before anybody sees them.
 *
 * Source   docs/theory/balance.md.
 * Cost     that of accelerations with reactions, and O(bodies + joints + constraints + elements); no
 *          allocation but in create.
 */
#include "formulations/common/checked_accelerations.h"
#include "constraints/compliance.h"
#include "formulations/common/method_create.h"

#include <math.h>
#include <string.h>

struct lw_checked {
    lw_arena *arena;
    const lw_model *model;
    lw_balance *balance;
    lw_compliance *compliance; /* NULL: all joints are rigid */
    bool *rigid;               /* 6 per joint, none of which compliance determines */
    double *vdot, *reactions, *multipliers;
    double *shaken,
        *other; /* joint forces that differ in their last digits, and the accelerations they cause */
};

lw_checked *lw_checked_create(const lw_model *model) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_checked *c = LW_NEW(arena, lw_checked, 1);
    if (c) {
        c->arena = arena;
        c->model = model;
        c->vdot = LW_NEW(arena, double, model->nv + 1);
        c->shaken = LW_NEW(arena, double, model->nv + 1);
        c->other = LW_NEW(arena, double, model->nv + 1);
        c->reactions = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
        c->multipliers = LW_NEW(arena, double, lw_balance_multiplier_count(model) + 1);
        c->balance = lw_balance_create(model);
        if (lw_compliance_given(model)) c->compliance = lw_compliance_create(model);
        c->rigid = LW_NEW(arena, bool, 6 * (size_t)model->joint_count + 1);
    }
    if (c && !lw_arena_failed(arena) && c->balance && (c->compliance || !lw_compliance_given(model)))
        return c;
    if (c) lw_balance_destroy(c->balance);
    if (c) lw_compliance_destroy(c->compliance);
    if (arena) lw_arena_destroy(arena);
    return NULL;
}

void lw_checked_destroy(lw_checked *c) {
    if (!c) return;
    lw_balance_destroy(c->balance);
    lw_compliance_destroy(c->compliance);
    lw_arena_destroy(c->arena);
}

/* The amount up to which answers of a formulation count as balanced: that of the model, or what its accuracy
 * leaves. Speeds that follow from forces are found less accurately. */
static double enough_for(const lw_checked *c, const lw_formulation *formulation) {
    const double share = 100; /* of its error in the mean there is so much in the worst place */
    const double enough = formulation->frees_speeds ? LW_BALANCE_ENOUGH : lw_balance_enough(c->balance);
    return fmax(enough, share * formulation->accuracy);
}

/* Equations that balance to rounding do not determine the motion of a light body whose own forces are smaller
 * than the rounding of those that it transmits. Where that may be so, the answer must not depend on their
 * last digits. */
static lw_status be_certain(lw_checked *c, lw_method *method, const lw_balance_state *state,
                            lw_error *error) {
    const lw_model *model = c->model;
    if (!lw_balance_shake(c->balance, state, c->shaken)) return LW_OK;
    lw_status status = method->formulation->accelerations(method, state->t, state->q, state->v, c->shaken,
                                                          c->other, NULL, NULL, error);
    /* Any joint force turns an idle spin (model/idle_spins.c), and is refused for it; (8) says nothing
     * then. */
    if (status != LW_OK && model->idle_count) return LW_OK;
    int speed = status == LW_OK ? lw_balance_uncertain(c->balance, state->vdot, c->other) : -1;
    if (speed < 0) return status;
    int body = 1;
    while (speed >= model->links[body].v + model->links[body].joint.nv) body++;
    const lw_joint_entry *joint = &model->joints[model->bodies[body].joint_index];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
        "bring masses and forces closer to each other, or give the light bodies no mass at all",
        "method %s at t = %.9g: its acceleration is rounding of far larger forces that body \"%s\" "
        "transmits (they have no digits left for a body of %.3g kg)",
        method->formulation->name, state->t, model->bodies[body].name, model->links[body].inertia.mass);
}

/* Puts the answer of a method, with accelerations vdot and reactions, to the check. */
static lw_status judge(lw_checked *c, const lw_checked_state *asked, const double *vdot,
                       const double *reactions, double *amount, lw_error *error) {
    lw_method *method = asked->method;
    const lw_method_options *options = asked->options;
    const lw_formulation *f = method->formulation;
    bool baumgarte = options && options->drift == LW_DRIFT_BAUMGARTE;
    const lw_balance_state state = {
        .t = asked->t,
        .q = asked->q,
        .v = asked->v,
        .speeds = f->speeds ? f->speeds(method) : asked->v,
        .free_speeds = f->frees_speeds,
        .tau = asked->tau,
        .inputs = options ? options->inputs : NULL,
        .states = options ? options->states : NULL,
        .hold = options ? options->hold : NULL,
        .vdot = vdot,
        .reactions = reactions,
        .multipliers = c->multipliers,
        .alpha = baumgarte ? options->baumgarte_alpha : 0,
        .beta = baumgarte ? options->baumgarte_beta : 0,
        .accuracy = f->accuracy,
    };
    lw_balance_result result = lw_balance_check(c->balance, &state);
    if (amount) *amount = result.amount;
    lw_status status = lw_balance_verdict(c->model, &result, enough_for(c, f), f->name, asked->t, error);
    return status == LW_OK && f->accuracy == 0 ? be_certain(c, method, &state, error) : status;
}

static lw_status ask(const lw_checked_state *s, double *vdot, double *reactions, bool *unique,
                     lw_error *error) {
    return lw_method_accelerations(s->method, s->t, s->q, s->v, s->tau, vdot, reactions, unique, error);
}

/* The forces of constraints, and reactions as compliance shares them, if they are wanted. */
static void complete(lw_checked *c, const lw_checked_state *s, bool wanted, double *reactions) {
    const lw_formulation *f = s->method->formulation;
    if (c->model->constraint_count && f->multipliers) f->multipliers(s->method, c->multipliers);
    if (wanted && c->compliance) lw_compliance_share(c->compliance, s->t, s->q, reactions, c->multipliers);
}

lw_status lw_checked_accelerations(lw_checked *c, const lw_checked_state *state, lw_checked_answer answer,
                                   lw_error *error) {
    double *vdot = answer.vdot ? answer.vdot : c->vdot;
    double *reactions = answer.reactions ? answer.reactions : c->reactions;
    if (answer.amount) *answer.amount = NAN;
    lw_status status = ask(state, vdot, reactions, answer.unique, error);
    if (status != LW_OK) return status;
    complete(c, state, answer.reactions != NULL, reactions);
    return judge(c, state, vdot, reactions, answer.amount, error);
}

lw_status lw_checked_reactions(lw_checked *c, const lw_checked_state *state, const double *vdot,
                               double *reactions, bool *unique, lw_error *error) {
    lw_status status = ask(state, c->vdot, reactions, unique, error);
    if (status != LW_OK) return status;
    complete(c, state, true, reactions);
    return judge(c, state, vdot, reactions, NULL, error);
}

void lw_checked_share(lw_checked *c, double t, const double *q, double *reactions) {
    if (c->compliance) lw_compliance_share(c->compliance, t, q, reactions, NULL);
}

const bool *lw_checked_by_compliance(const lw_checked *c) {
    return c->compliance ? lw_compliance_flags(c->compliance) : c->rigid;
}

const double *lw_checked_multipliers(const lw_checked *c) { return c->multipliers; }
double lw_checked_effort(const lw_checked *c) { return lw_balance_effort(c->balance); }
