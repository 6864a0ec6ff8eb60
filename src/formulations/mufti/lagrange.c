/* lagrange.c - the formulation `lagrange`: the stationary-point system itself, sparse.
 *
 *   J a - H lambda = u,   H'a = gamma
 *
 * Source   Mufti (1983), eqs 10, 49, 63; docs/theory/lagrange.md. The solver is kkt_sparse.c.
 * Cost     sparse: ordered once, factored at each state; linear for chains, trees, ladders, hubs, n^1.5 on
 *          plane nets.
 * Limits   none on topology; dependent rows and light bodies do no harm.
 */
#include "constraints/kkt/kkt_sparse.h"
#include "formulations/common/absolute_method_base.h"

typedef struct lagrange_method {
    lw_absolute_method absolute_base;
    lw_kkt_sparse *kkt;
} lagrange_method;

extern const lw_formulation lw_formulation_lagrange;

static lw_status applies(const lw_model *model, lw_error *error) { return lw_needs_determined(model, error); }

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    lw_kkt_sparse *kkt = ((lagrange_method *)absolute_base)->kkt;
    lw_newton_euler *s = absolute_base->system;
    lw_status status = lw_kkt_sparse_factor(kkt, s->inertia, s->mass, s->rows, error);
    if (status != LW_OK) return status;
    return lw_kkt_sparse_solve(kkt, s->u, s->rows->gamma, s->a, s->lambda, error);
}

static void destroy(lw_method *base) {
    lagrange_method *method = (lagrange_method *)base;
    if (!method) return;
    lw_kkt_sparse_destroy(method->kkt);
    lw_absolute_method_destroy(&method->absolute_base);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    lagrange_method *method = (lagrange_method *)lw_absolute_method_create(
        sizeof *method, &lw_formulation_lagrange, model, options, solve);
    lw_status status = LW_ERROR_MEMORY;
    if (method) method->kkt = lw_kkt_sparse_create(model, method->absolute_base.system->rows);
    if (method && method->kkt) { /* The first factorisation allocates, which must not happen in a step. */
        lw_newton_euler *s = method->absolute_base.system;
        lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
        status = lw_kkt_sparse_factor(method->kkt, s->inertia, s->mass, s->rows, NULL);
    }
    /* A singular state is reported when it is solved. */
    return lw_absolute_method_finish((lw_absolute_method *)method, status != LW_ERROR_MEMORY, out, error);
}

static double condition(lw_method *base) { return lw_kkt_sparse_condition(((lagrange_method *)base)->kkt); }

/* The expense of an evaluation: rows and forces of each body, entries of the factor, and its operations, with
 * times fitted as in rcr.c. */
static double expense(lw_method *base) {
    double entries, operations;
    lw_kkt_sparse_work(((lagrange_method *)base)->kkt, &entries, &operations);
    double times = lw_rotors_solutions(((lagrange_method *)base)->absolute_base.rotors);
    return 1400 * base->model->body_count + times * (3.2 * entries + 0.42 * operations);
}

static double least_expense(const lw_model *model) { return 1400 * model->body_count; }

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
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
    .expense = expense,
    .least_expense = least_expense,
};
