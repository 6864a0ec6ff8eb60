/* rcr_loop_choices.c - which coordinates the method rcr takes as dependent at a position, loop by loop.
 *
 * Source   docs/theory/rcr.md, 5.
 * Cost     that of creating the method, and O(n + m).
 */
#include "formulations/rcr/rcr_coordinate_choice.h"
#include <linkwork/criterion.h>

lw_status lw_loop_choices(const lw_model *model, double t, const double *q, lw_loop_choice *choices,
                          int capacity, int *count, lw_error *error) {
    if (count) *count = 0;
    if (!model || !count || capacity < 0 || (capacity > 0 && !choices) || !lw_given(q, model->nq) ||
        !lw_finite(q, model->nq))
        return lw_call_needs("a model, q, room for choices and a place for their number", error);
    const lw_formulation *rcr = lw_formulation_find("rcr");
    model = lw_merged(model); /* which has the same loops and speeds */
    const lw_method_options options = {0};
    lw_method *method = NULL;
    lw_status status = rcr->applies(model, error);
    if (status == LW_OK) status = rcr->create(model, &options, &method, error);
    if (status == LW_OK) status = lw_rcr_choose(method, t, q, error);
    const lw_choice *c = status == LW_OK ? lw_rcr_choice(method) : NULL;
    for (int loop = 0; c && c->made && loop < c->loops->count; loop++) {
        if (loop < capacity) {
            lw_loop_choice *out = &choices[loop];
            *out = (lw_loop_choice){
                .closed_by = lw_choice_closing(c, loop), .count = c->rank[loop], .cos2 = c->worth[loop]};
            for (int k = 0; k < out->count; k++)
                out->speeds[k] = c->dependent[c->loops->loops[loop].first + k];
        }
        ++*count;
    }
    if (method) rcr->destroy(method);
    return status;
}
