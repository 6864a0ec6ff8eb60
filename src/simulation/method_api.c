/* method_api.c - the public functions on the registries of formulations and integrators; accelerations and
 * reactions of one state by one method.
 */
#include "simulation/choice/method_auto.h"
#include "integrators/integrator.h"
#include <linkwork/simulate.h>
#include <linkwork/solver.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *coordinates_name(lw_coordinates coordinates) {
    switch (coordinates) {
    case LW_COORDINATES_JOINT:
        return "joint";
    case LW_COORDINATES_ABSOLUTE:
        return "absolute";
    case LW_COORDINATES_DIRECTOR:
        return "director";
    }
    return "";
}

int lw_method_count(void) { return lw_formulation_count(); }

lw_method_info lw_method_at(int index) {
    if (index < 0 || index >= lw_formulation_count()) return (lw_method_info){0};
    const lw_formulation *f = lw_formulation_at(index);
    return (lw_method_info){f->name, f->source, coordinates_name(f->coordinates), f->cost, f->summary};
}

lw_status lw_method_applies(const char *method, const lw_model *model, lw_error *error) {
    const lw_formulation *formulation;
    if (!model) return lw_call_needs("a model", error);
    return lw_method_choose(method, model, &formulation, NULL, 0, error);
}

const char *lw_method_auto(const lw_model *model, char *why, size_t size, lw_error *error) {
    const lw_formulation *formulation;
    if (!model) return lw_call_needs("a model", error), NULL;
    return lw_method_choose(NULL, model, &formulation, why, size, error) == LW_OK ? formulation->name : NULL;
}

const char *lw_method_auto_at(const lw_model *model, double t, const double *q, const double *v, char *why,
                              size_t size, lw_error *error) {
    const lw_formulation *formulation;
    const lw_method_choice_state at = {t, q, v};
    if (!model) return lw_call_needs("a model", error), NULL;
    if (!q || !v) return lw_method_auto(model, why, size, error);
    lw_status status = lw_method_choose_at(NULL, model, &at, &formulation, why, size, error);
    return status == LW_OK ? formulation->name : NULL;
}

int lw_integrator_count(void) { return lw_integrators_count(); }
static bool is_integrator(int index) { return index >= 0 && index < lw_integrators_count(); }
const char *lw_integrator_name(int index) {
    return is_integrator(index) ? lw_integrator_at(index)->name : NULL;
}
const char *lw_integrator_summary(int index) {
    return is_integrator(index) ? lw_integrator_at(index)->summary : NULL;
}

/* --- accelerations of one state --------------------------------------------------------------------- */

/* Finds, for the remedy, a method other than `but` whose result passes the balance check; NULL if there is
 * none. Dense methods are not tried on large models. */
static const char *balanced_method(const lw_model *model, const char *but, double t, const double *q,
                                   const double *v, double *vdot) {
    enum { LARGE = 200 }; /* bodies */
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        if (strcmp(f->name, but) == 0 || f->accuracy > 0 || f->borrows) continue;
        if ((f->dense && model->body_count > LARGE) || f->applies(lw_merged(model), NULL) != LW_OK) continue;
        const lw_solver_options options = {.method = f->name};
        lw_solver *solver;
        lw_status status = lw_solver_create(model, &options, NULL, &solver, NULL);
        if (status == LW_OK) status = lw_solver_accelerations(solver, t, q, v, NULL, vdot, NULL);
        lw_solver_destroy(solver);
        if (status == LW_OK) return f->name;
    }
    return NULL;
}

lw_status lw_accelerations_checked(const lw_model *model, const char *name, double t, const double *q,
                                   const double *v, double *vdot, double *reactions, bool *unique,
                                   double *balance, lw_error *error) {
    lw_error own;
    if (!error) error = &own;
    const lw_solver_options options = {.method = name, .t = t, .q = q, .v = v};
    lw_solver *solver;
    lw_status status = lw_solver_create(model, &options, NULL, &solver, error);
    if (status != LW_OK) return status;
    status = lw_solver_accelerations(solver, t, q, v, NULL, vdot, error);
    double amount;
    (void)lw_solver_balance(solver, &amount, NULL);
    if (balance) *balance = amount;
    if (status == LW_OK && (reactions || unique))
        status = lw_solver_reactions(solver, reactions, unique, error);
    /* There is a result, but it fails the balance check. */
    if (status == LW_ERROR_SINGULAR && isfinite(amount)) {
        const char *other = balanced_method(model, lw_solver_method(solver), t, q, v, vdot);
        if (other)
            snprintf(error->remedy, sizeof error->remedy, "take method %s, whose answer balances", other);
        else
            snprintf(error->remedy, sizeof error->remedy,
                     "no method balances there: look for masses or lengths that differ by too many decades");
    }
    lw_solver_destroy(solver);
    return status;
}

lw_status lw_accelerations(const lw_model *model, const char *name, double t, const double *q,
                           const double *v, double *vdot, double *reactions, bool *unique, lw_error *error) {
    return lw_accelerations_checked(model, name, t, q, v, vdot, reactions, unique, NULL, error);
}
