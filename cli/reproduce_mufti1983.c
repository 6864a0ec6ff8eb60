/* reproduce_mufti1983.c - I. H. Mufti (1983): the graph of the six-body example, and the comparison of
 * methods that the paper had to leave open ('due to the lack of computational results, no comparisons among
 * the various methods are made').
 */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>

enum { BODIES = 6 };

/* Rows are bodies, columns the arcs h1 .. h5. */
static const int incidence[BODIES][BODIES - 1] = /* (1) */
    {{1, 1, 0, 0, 0},  {-1, 0, 1, 1, 1}, {0, -1, 0, 0, 0},
     {0, 0, -1, 0, 0}, {0, 0, 0, -1, 0}, {0, 0, 0, 0, -1}};
static const int path[BODIES][BODIES] = /* (25) */
    {{-1, -1, -1, -1, -1, -1}, {0, -1, 0, -1, -1, -1}, {0, 0, -1, 0, 0, 0},
     {0, 0, 0, -1, 0, 0},      {0, 0, 0, 0, -1, 0},    {0, 0, 0, 0, 0, -1}};

static lw_status example1(reproduction *r, lw_error *error) {
    lw_model *model;
    lw_status status = reproduce_model("six_bodies", NULL, 0, &model, error);
    int of_incidence = 0, of_path = 0, of_inverse = 0;
    for (int i = 0; i < BODIES && status == LW_OK; i++)
        for (int j = 0; j < BODIES; j++) {
            /* Arc 1 of the library is the base arc, -e1 in (22); arc j + 1 is the paper's h_j. */
            int c = lw_model_incidence(model, i + 1, j + 1), t = lw_model_path(model, i + 1, j + 1),
                product = 0;
            of_incidence += j > 0 && c != incidence[i][j - 1];
            of_path += t != path[i][j];
            for (int k = 1; k <= BODIES; k++)
                product += lw_model_path(model, i + 1, k) * lw_model_incidence(model, k, j + 1);
            of_inverse += product != (i == j);
        }
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, of_incidence, 0, 0, error, "entries of C that differ from (1)");
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, of_path, 0, 0, error, "entries of T that differ from (25)");
    if (status == LW_OK)
        status =
            reproduce_expect(r, NAN, of_inverse, 0, 0, error, "entries of T (-e1 C) that differ from E (22)");
    lw_model_destroy(model);
    return status;
}

typedef struct observation {
    reproduction *r;
    lw_error *error;
} observation;

static bool observe(const char *method, const char *work, void *context) {
    observation *o = context;
    return reproduce_working(o->r, o->error, "%s: %s", method, work) == LW_OK;
}

static lw_status tell(reproduction *r, const lw_comparison *c, const char *reference, lw_error *error) {
    lw_status status = LW_OK;
    const double agreement = c->accuracy > 0 ? c->accuracy : 1e-9;
    if (isnan(c->ns_per_call)) /* The method has no results; NaN is not ok. */
        return reproduce_expect(r, NAN, NAN, 0, agreement, error, "%s: %.120s", c->method, c->reason);
    if (!c->reference) {
        status = reproduce_expect(r, NAN, c->max_rel_diff, 0, agreement, error,
                                  "%s (%.3g us a call): accelerations, relative difference from %s",
                                  c->method, 1e-3 * c->ns_per_call, reference);
        if (status == LW_OK)
            status = reproduce_expect(r, NAN, c->reaction_diff, 0, agreement, error,
                                      "%s: reactions, relative difference from %s", c->method, reference);
    }
    return status;
}

static lw_status compare_on(reproduction *r, const char *problem, const char *const *methods,
                            int method_count, lw_error *error) {
    lw_model *model;
    lw_comparison *results = calloc((size_t)lw_method_count(), sizeof *results);
    lw_compare_options options;
    observation context = {r, error};
    int count = 0;
    lw_status status = reproduce_model(problem, NULL, 0, &model, error);
    if (status == LW_OK && !results) status = reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    if (status == LW_OK) {
        lw_compare_defaults(model, &options);
        options.methods = methods;
        options.method_count = method_count;
        options.run.end = 0.5;
        options.timing = 0.1;
        options.observe = observe;
        options.context = &context;
        status = lw_compare(model, &options, results, &count, error);
    }
    const char *reference = "";
    for (int k = 0; k < count && status == LW_OK; k++)
        if (results[k].reference) reference = results[k].method;
    for (int k = 0; k < count && status == LW_OK; k++) status = tell(r, &results[k], reference, error);
    free(results);
    lw_model_destroy(model);
    return status;
}

static lw_status table(reproduction *r, lw_error *error) {
    static const char *const methods[] = {"lagrange", "schur",     "rates",           "barycentre",
                                          "relative", "nullspace", "nullspace-graph", "penalty"};
    return compare_on(r, "four_bar", methods, sizeof methods / sizeof *methods, error);
}

/* Compares Z of (40-d) from the graph, with the system (73) of the cut hinges, with bases by factorisation
 * (appendix). */
static lw_status basis(reproduction *r, lw_error *error) {
    static const char *const methods[] = {"lagrange", "nullspace-graph", "nullspace", "nullspace-partition",
                                          "nullspace-svd"};
    return compare_on(r, "spatial_slider_crank", methods, sizeof methods / sizeof *methods, error);
}

static const reproduce_item items[] = {
    {"example1", "incidence and path matrices (1), (25) of the six-body example", example1, "six_bodies"},
    {"basis", "motion without multipliers: Z from the graph (40-d), (67)-(73), and by QR, partition, SVD",
     basis, NULL},
    {"table", "the comparison the paper could not make: its methods on a four-bar linkage", table,
     "four_bar"},
};
const reproduce_paper reproduce_mufti1983 = {"mufti1983", items, sizeof items / sizeof *items,
                                             "I. H. Mufti (1983). Equations of motion for rigid multibody "
                                             "systems. National Research Council of Canada, "
                                             "DME-DM-3, NRC 22797.",
                                             "One stationary-point system and its reductions, compared at "
                                             "last (methods lagrange, schur, rates, barycentre, "
                                             "relative, nullspace, nullspace-graph, penalty)."};
