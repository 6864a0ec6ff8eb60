/* lagrange.c - the formulation `lagrange`: the stationary-point system itself, sparse.
 *
 *   J a - H lambda = u,   H'a = gamma
 *
 * Source   Mufti (1983), eqs 10, 49, 63; docs/theory/lagrange.md. The solver is kkt.c.
 * Cost     sparse: analysed once, refactored at each state; about linear for chains and trees.
 * Limits   none on topology; dependent rows do no harm.
 */
#include "formulations/reduction.h"

#include <stdio.h>

typedef struct lagrange_method {
    lw_reduction reduction;
    lw_kkt *kkt;
} lagrange_method;

extern const lw_formulation lw_formulation_lagrange;

/* Bodies without mass or inertia must be held by others that have some. */
static lw_status applies(const lw_model *model, lw_error *error) {
    if (lw_needs_inverse("lagrange", model, true, error) == LW_OK) return LW_OK;
    lw_stationary *s = lw_stationary_create(model, LW_HOLD_NONE);
    lw_kkt *kkt = s ? lw_kkt_create(model, s->rows) : NULL;
    lw_status status = kkt ? LW_OK : lw_out_of_memory(error);
    if (kkt) {
        lw_stationary_rows_at(s, 0, model->q0, model->v0);
        if (!lw_kkt_determined(kkt, s->inertia, s->mass, s->rows)) {
            status = LW_ERROR_UNSUPPORTED;
            if (error)
                snprintf(error->message, sizeof error->message, "%s",
                         "it has no inertia in some direction, and neither have the bodies that move with it there, so that "
                         "some acceleration is not determined");
            if (error)
                snprintf(error->remedy, sizeof error->remedy, "%s",
                         "give it mass and inertia, or hold it by a joint");
        }
    }
    lw_kkt_destroy(kkt);
    lw_stationary_destroy(s);
    return status;
}

static lw_status solve(lw_reduction *reduction, lw_error *error) {
    lw_kkt *kkt = ((lagrange_method *)reduction)->kkt;
    lw_stationary *s = reduction->system;
    lw_status status = lw_kkt_factor(kkt, s->inertia, s->mass, s->rows, error);
    if (status != LW_OK) return status;
    return lw_kkt_solve(kkt, s->u, s->rows->gamma, s->a, s->lambda, error);
}

static void destroy(lw_method *base) {
    lagrange_method *method = (lagrange_method *)base;
    if (!method) return;
    lw_kkt_destroy(method->kkt);
    lw_reduction_destroy(&method->reduction);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    lagrange_method *method = (lagrange_method *)lw_reduction_create(sizeof *method, &lw_formulation_lagrange,
                                                                     model, options, solve);
    lw_status status = LW_ERROR_MEMORY;
    if (method) method->kkt = lw_kkt_create(model, method->reduction.system->rows);
    if (method && method->kkt) { /* the first factorisation chooses pivots, which takes memory */
        lw_stationary *s = method->reduction.system;
        lw_stationary_rows_at(s, 0, model->q0, model->v0);
        status = lw_kkt_factor(method->kkt, s->inertia, s->mass, s->rows, NULL);
    }
    if (status == LW_ERROR_MEMORY) { /* a singular state says so when it is solved */
        if (method) destroy(&method->reduction.base);
        return lw_out_of_memory(error);
    }
    *out = &method->reduction.base;
    return LW_OK;
}

static double condition(lw_method *base) { return lw_kkt_condition(((lagrange_method *)base)->kkt); }

const lw_formulation lw_formulation_lagrange = {
    .name = "lagrange",
    .source = "mufti1983 10, 49, 63",
    .cost = "sparse",
    .summary = "all accelerations and reactions from one sparse system, absolute coordinates",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 20,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = lw_absolute_to_state,
    .from_state = lw_absolute_from_state,
    .accelerations = lw_reduction_accelerations,
    .derivative = lw_absolute_derivative,
    .project = lw_absolute_project,
    .violation = lw_absolute_violation,
    .condition = condition,
};
