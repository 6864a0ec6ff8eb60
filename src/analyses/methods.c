/* methods.c - the registries of formulations and integrators as the public interface shows them;
 * accelerations and reactions of one state by one method.
 */
#include "analyses/choose.h"
#include "integrators/integrator.h"
#include <linkwork/simulate.h>

#include <math.h>
#include <stdio.h>

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
    const lw_formulation *f = lw_formulation_at(index);
    return (lw_method_info){f->name, f->source, coordinates_name(f->coordinates), f->cost, f->summary};
}

lw_status lw_method_applies(const char *method, const lw_model *model, lw_error *error) {
    const lw_formulation *formulation;
    return lw_choose(method, model, &formulation, NULL, 0, error);
}

const char *lw_method_auto(const lw_model *model, char *why, size_t size, lw_error *error) {
    const lw_formulation *formulation;
    return lw_choose(NULL, model, &formulation, why, size, error) == LW_OK ? formulation->name : NULL;
}

int lw_integrator_count(void) { return lw_integrators_count(); }
const char *lw_integrator_name(int index) { return lw_integrator_at(index)->name; }
const char *lw_integrator_summary(int index) { return lw_integrator_at(index)->summary; }

/* Finite forces give finite accelerations; names the joint where that fails. */
static lw_status check_finite(const lw_model *model, double t, const double *vdot, lw_error *error) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info info = lw_model_joint_info(model, j);
        for (int k = 0; k < info.v_count; k++) {
            if (info.cut || isfinite(vdot[info.v + k])) continue;
            char object[sizeof error->object];
            snprintf(object, sizeof object, "joint \"%s\"", info.name);
            return lw_fail(error, LW_ERROR_SINGULAR, object,
                           "look at the forces and motions that act there: is one infinite or undefined?",
                           "its acceleration at t = %g is not finite", t);
        }
    }
    return LW_OK;
}

lw_status lw_accelerations(const lw_model *model, const char *name, double t, const double *q,
                           const double *v, double *vdot, double *reactions, bool *unique, lw_error *error) {
    const lw_formulation *formulation;
    lw_status status = lw_choose(name, model, &formulation, NULL, 0, error);
    if (status != LW_OK) return status;
    const lw_method_options options = {0};
    lw_method *method;
    status = formulation->create(model, &options, &method, error);
    if (status != LW_OK) return status;
    status = formulation->accelerations(method, t, q, v, NULL, vdot, reactions, unique, error);
    formulation->destroy(method);
    return status == LW_OK ? check_finite(model, t, vdot, error) : status;
}
