/* choose.c - the automatic choice of a method, from what applies, what a call is predicted to cost, and whether it works.
 *
 *   no loops, all directions with mass     tree: every other method does its work and more
 *   otherwise                              of those that predict their cost (lw_formulation.expense) the cheapest that passes a
 *                                          trial: accelerations of the assembled initial state, from a matrix whose condition
 *                                          number leaves some digits, and that state as one to begin a run with
 *   none of these applies or passes        what applies, by rank
 *
 * Predictions count the work that a method's own structure asks for (ties and their couplings, entries and operations of a
 * sparse factor), with times per unit fitted to measured calls: docs/choosing.md.
 *
 * Cost     creates each candidate and evaluates it once; on trees nothing.
 */
#include "analyses/choose.h"
#include <linkwork/assemble.h>
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double worst_condition = 1e13; /* of 1e16; that of a sparse system counts its scaling too */
enum { CANDIDATES = 16 };

typedef struct candidate {
    const lw_formulation *formulation;
    double expense; /* ns; infinite: it did not pass */
} candidate;

/* An assembled state to try methods on; NULL: there is none. */
static double *trial_state(const lw_model *model) {
    double *numbers =
        calloc((size_t)lw_model_q_size(model) + 2 * (size_t)lw_model_v_size(model) + 1, sizeof *numbers);
    if (!numbers) return NULL;
    double *v = numbers + lw_model_q_size(model);
    lw_error error;
    lw_model_initial_state(model, numbers, v);
    if (lw_assemble(model, 0, numbers, v, NULL, &error) == LW_OK) return numbers;
    free(numbers);
    return NULL;
}

/* What a call will cost, in ns; infinite if the method does not get through the trial. state: q, v, room for vdot. */
static double try_on(const lw_formulation *f, const lw_model *model, double *state) {
    const lw_method_options options = {0};
    lw_method *method;
    lw_error error;
    lw_power power;
    double *v = state + lw_model_q_size(model), *vdot = v + lw_model_v_size(model), expense = HUGE_VAL;
    if (f->create(model, &options, &method, &error) != LW_OK) return HUGE_VAL;
    size_t room = (size_t)method->state_size + 1;
    double *y = calloc(2 * room, sizeof *y);
    bool good = y && f->accelerations(method, 0, state, v, NULL, vdot, NULL, NULL, &error) == LW_OK;
    /* and as a run would begin */
    if (good) f->to_state(method, 0, state, v, y);
    if (good && f->project) good = f->project(method, 0, y, &error) == LW_OK;
    if (good && f->derivative) good = f->derivative(method, 0, y, y + room, &power, &error) == LW_OK;
    free(y);
    for (int k = 0; k < lw_model_v_size(model) && good; k++) good = isfinite(vdot[k]);
    if (good && f->condition && !(f->condition(method) < worst_condition)) good = false;
    if (good) expense = f->expense(method);
    f->destroy(method);
    return expense;
}

static int by_expense(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return (x->expense > y->expense) - (x->expense < y->expense);
}

static void explain(const candidate *list, int count, char *why, size_t size) {
    char others[128] = "";
    for (int k = 1; k < count && isfinite(list[k].expense); k++) {
        size_t used = strlen(others);
        snprintf(others + used, sizeof others - used, "%s%.3g us by %s", k > 1 ? ", " : ", against ",
                 1e-3 * list[k].expense, list[k].formulation->name);
    }
    snprintf(why, size, "predicted to take %.3g us a call%s", 1e-3 * list[0].expense, others);
}

/* Method massless asks the least of a model; if it refuses one, it names what no method could do without. */
static bool tells_more(const lw_formulation *f, const lw_error *reason) {
    return strcmp(f->name, "massless") == 0 && reason->object[0];
}

static lw_status choose_best(const lw_model *model, const lw_formulation **formulation, char *why,
                             size_t size, lw_error *error) {
    const lw_formulation *first = NULL, *tree = lw_formulation_find("tree");
    candidate list[CANDIDATES];
    int count = 0, applicable = 0;
    lw_status refused = LW_OK;
    if (tree->applies(model, NULL) == LW_OK) {
        *formulation = tree;
        snprintf(why, size, "no closed loops: one recursion over the tree is the fastest");
        return LW_OK;
    }
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        lw_error reason = {0};
        lw_status status = f->applies(model, &reason);
        if (status != LW_OK && (refused == LW_OK || tells_more(f, &reason))) {
            refused = status;
            if (error) *error = reason;
        }
        if (status != LW_OK) continue;
        applicable++;
        if (!first || f->rank < first->rank) first = f;
        if (f->expense && count < CANDIDATES) list[count++] = (candidate){f, HUGE_VAL};
    }
    if (!first) return refused;
    *formulation = first;
    snprintf(why, size, "%s",
             applicable == 1 ? "the only method that applies" : "the first of those that apply");
    double *state = applicable > 1 && count > 0 ? trial_state(model) : NULL;
    if (!state) return LW_OK;
    for (int k = 0; k < count; k++) list[k].expense = try_on(list[k].formulation, model, state);
    free(state);
    qsort(list, (size_t)count, sizeof *list, by_expense);
    if (!isfinite(list[0].expense)) return LW_OK;
    *formulation = list[0].formulation;
    explain(list, count, why, size);
    return LW_OK;
}

lw_status lw_choose(const char *name, const lw_model *model, const lw_formulation **formulation, char *why,
                    size_t size, lw_error *error) {
    char unwanted[2];
    if (!why) why = unwanted, size = sizeof unwanted;
    *formulation = NULL;
    if (!name || strcmp(name, "auto") == 0) return choose_best(model, formulation, why, size, error);
    const lw_formulation *asked = NULL;
    lw_status status = lw_formulation_named(name, &asked, error);
    if (status == LW_OK) status = asked->applies(model, error);
    if (status != LW_OK) return status;
    *formulation = asked;
    snprintf(why, size, "as asked");
    return LW_OK;
}
