/* method_auto.c - the automatic choice of a method, by applicability, predicted cost of a call, and a trial.
 *
 *   no loops, all directions with mass     tree: every other method does the same work and more
 *   otherwise                              the cheapest of the methods that predict their cost
 *                                          (lw_formulation.expense) and pass a trial: the accelerations of
 *                                          the assembled initial state pass the balance check, and a run can
 *                                          start from this state
 *   none of these applies or passes        the first by rank that applies and passes; on large models no
 *                                          dense method
 *
 * Predictions count the work that the structure of a method requires (loops and their couplings, entries and
 * operations of a sparse factor), with times per unit fitted to measured calls (docs/choosing.md). A method
 * is created only if its least possible cost (lw_formulation.least_expense) is below the predicted cost of
 * the best so far.
 *
 * Cost     the creation and one evaluation of each candidate that is tried.
 */
#include "simulation/choice/method_auto.h"
#include "formulations/common/checked_accelerations.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 32,
    LARGE = 200 /* bodies, for which a dense method takes a second per call and 12 MB */
};

typedef struct candidate {
    const lw_formulation *formulation;
    double expense; /* ns: the least before the trial, the prediction after it; infinite if it failed */
    bool tried;
} candidate;

typedef struct trial {
    const lw_model *model;
    double t;
    const double *q, *v; /* the state on which methods are tried; NULL if there is none */
    double *own;         /* memory of this state if it was assembled here */
    lw_checked *checked;
    candidate list[CANDIDATES];
    int count;
    lw_error reason; /* the reason of the first method that failed */
} trial;

/* Prepares a trial; returns false if there is no memory. */
static bool prepare(trial *t, const lw_model *model, const lw_method_choice_state *at) {
    size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    *t = (trial){.model = model, .checked = lw_checked_create(model)};
    if (!t->checked) return false;
    if (at) {
        t->t = at->t, t->q = at->q, t->v = at->v;
        return true;
    }
    double *numbers = t->own = calloc(nq + nv + 1, sizeof *numbers);
    if (!numbers) return false;
    lw_error error;
    lw_model_initial_state(model, numbers, numbers + nq);
    if (lw_assemble(model, 0, numbers, numbers + nq, NULL, &error) == LW_OK)
        t->q = numbers, t->v = numbers + nq;
    return true; /* A run reports why the model cannot be assembled. */
}

static void clear(trial *t) {
    free(t->own);
    lw_checked_destroy(t->checked);
}

/* Tries a method: accelerations that pass the balance check, and the start of a run. */
static lw_status begin(const trial *t, lw_method *method, double *y, double *ydot, double *q, double *v,
                       lw_error *error) {
    const lw_formulation *f = method->formulation;
    const lw_method_options options = {0};
    const lw_model *model = t->model;
    lw_power power;
    memcpy(q, t->q, (size_t)lw_model_q_size(model) * sizeof *q);
    memcpy(v, t->v, (size_t)lw_model_v_size(model) * sizeof *v);
    f->to_state(method, t->t, q, v, y);
    lw_status status = f->project ? f->project(method, t->t, y, error) : LW_OK;
    if (status != LW_OK) return status;
    if (f->frees_speeds) f->from_state(method, t->t, y, q, v); /* The method determines some speeds. */
    status = lw_checked_accelerations(t->checked, &(lw_checked_state){method, &options, t->t, q, v, NULL},
                                      (lw_checked_answer){.vdot = NULL}, error);
    if (status == LW_OK && f->derivative) status = f->derivative(method, t->t, y, ydot, &power, error);
    return status;
}

/* Returns whether a method passes the trial; expense (may be NULL) is the predicted cost of a call, in ns. */
static bool passes(trial *t, const lw_formulation *f, double *expense) {
    const lw_method_options options = {0};
    lw_method *method;
    lw_error error = {0};
    lw_status status = f->create(t->model, &options, &method, &error);
    if (status == LW_OK) {
        size_t room = (size_t)method->state_size + 1;
        size_t nq = (size_t)lw_model_q_size(t->model), nv = (size_t)lw_model_v_size(t->model);
        double *y = calloc(2 * room + nq + nv + 2, sizeof *y), *q = y + 2 * room;
        status = y ? begin(t, method, y, y + room, q, q + nq, &error) : lw_out_of_memory(&error);
        free(y);
        if (status == LW_OK && expense && f->expense) *expense = f->expense(method);
        f->destroy(method);
    }
    if (status != LW_OK && t->reason.status == LW_OK) t->reason = error;
    return status == LW_OK;
}

static int by_expense(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return (x->expense > y->expense) - (x->expense < y->expense);
}

/* The cheapest of the methods that predict their cost and pass, or -1. */
static int cheapest(trial *t) {
    int best = -1;
    qsort(t->list, (size_t)t->count, sizeof *t->list, by_expense);
    for (int k = 0; k < t->count; k++) {
        candidate *c = &t->list[k];
        if (best >= 0 && c->expense >= t->list[best].expense) continue;
        c->tried = true;
        if (!passes(t, c->formulation, &c->expense))
            c->expense = HUGE_VAL;
        else if (best < 0 || c->expense < t->list[best].expense)
            best = k;
    }
    return best;
}

static void explain(const trial *t, int best, char *why, size_t size) {
    char others[160] = "";
    for (int k = 0; k < t->count; k++) {
        const candidate *c = &t->list[k];
        if (k == best || !isfinite(c->expense)) continue;
        size_t used = strlen(others);
        snprintf(others + used, sizeof others - used, "%s%s%.3g us by %s", used ? ", " : ", against ",
                 c->tried ? "" : "at least ", 1e-3 * c->expense, c->formulation->name);
    }
    snprintf(why, size, "predicted to take %.3g us a call%s", 1e-3 * t->list[best].expense, others);
}

/* Method massless requires the least of a model; if it refuses a model, it names a defect that no method
 * tolerates. */
static bool tells_more(const lw_formulation *f, const lw_error *reason) {
    return strcmp(f->name, "massless") == 0 && reason->object[0];
}

/* Chooses the first method by rank that applies and passes the trial or, without a state for trials, the
 * first that applies. */
static lw_status first_by_rank(trial *t, const lw_formulation **formulation, char *why, size_t size,
                               lw_error *error) {
    lw_status refused = LW_OK;
    for (int rank = -1, applicable = 0;;) {
        const lw_formulation *next = NULL;
        for (int k = 0; k < lw_formulation_count(); k++) {
            const lw_formulation *f = lw_formulation_at(k);
            /* It is approximate, or has no solution of its own. */
            if (f->accuracy > 0 || f->borrows) continue;
            if (f->rank > rank && (!next || f->rank < next->rank)) next = f;
        }
        if (!next) break;
        rank = next->rank;
        if (next->dense && lw_model_body_count(t->model) > LARGE) continue;
        bool tried = false; /* The method was tried and failed. */
        for (int k = 0; k < t->count; k++) tried |= t->list[k].formulation == next && t->list[k].tried;
        lw_error reason = {0};
        lw_status status = next->applies(t->model, &reason);
        if (status != LW_OK && (refused == LW_OK || tells_more(next, &reason))) {
            refused = status;
            if (error) *error = reason;
        }
        if (status != LW_OK) continue;
        applicable++;
        if (tried || (t->q && !passes(t, next, NULL))) continue;
        *formulation = next;
        snprintf(why, size, "%s",
                 applicable == 1 ? "the first that applies" : "the first of those that apply and balance");
        return LW_OK;
    }
    if (t->reason.status == LW_OK) return refused;
    if (error) *error = t->reason; /* A method that applied and failed gives the reason. */
    return t->reason.status;
}

static lw_status choose_best(const lw_model *model, const lw_method_choice_state *at,
                             const lw_formulation **formulation, char *why, size_t size, lw_error *error) {
    const lw_formulation *tree = lw_formulation_find("tree");
    trial t;
    if (!prepare(&t, model, at)) {
        clear(&t);
        return lw_out_of_memory(error);
    }
    lw_status status = LW_OK;
    if (tree->applies(model, NULL) == LW_OK && (!t.q || passes(&t, tree, NULL))) {
        *formulation = tree;
        snprintf(why, size, "no closed loops: one recursion over the tree is the fastest");
    } else {
        for (int k = 0; k < lw_formulation_count() && t.q; k++) {
            const lw_formulation *f = lw_formulation_at(k);
            if (f->expense && t.count < CANDIDATES && f->applies(model, NULL) == LW_OK)
                t.list[t.count++] = (candidate){f, f->least_expense ? f->least_expense(model) : 0, false};
        }
        int best = cheapest(&t);
        if (best >= 0) {
            *formulation = t.list[best].formulation;
            explain(&t, best, why, size);
        } else
            status = first_by_rank(&t, formulation, why, size, error);
    }
    clear(&t);
    return status;
}

lw_status lw_method_choose_at(const char *name, const lw_model *model, const lw_method_choice_state *at,
                              const lw_formulation **formulation, char *why, size_t size, lw_error *error) {
    char unwanted[2];
    if (!why) why = unwanted, size = sizeof unwanted;
    *formulation = NULL;
    model = lw_merged(model); /* which has the same coordinates */
    if (!name || strcmp(name, "auto") == 0) return choose_best(model, at, formulation, why, size, error);
    const lw_formulation *asked = NULL;
    lw_status status = lw_formulation_named(name, &asked, error);
    if (status == LW_OK) status = asked->applies(model, error);
    if (status != LW_OK) return status;
    *formulation = asked;
    snprintf(why, size, "as asked");
    return LW_OK;
}

lw_status lw_method_choose(const char *name, const lw_model *model, const lw_formulation **formulation,
                           char *why, size_t size, lw_error *error) {
    return lw_method_choose_at(name, model, NULL, formulation, why, size, error);
}
