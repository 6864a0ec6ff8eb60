/* singularity_monitor.c - does a run stand before a singular position through which its method has no way?
 *
 * At a distance of delta rad a loop that is open by e, be it by rounding, has accelerations that are wrong by
 * e / delta^3 (docs/theory/rcr.md, section 5). An integrator answers with ever shorter steps, each of which
 * ends nearer, until at 1e-8 rad rounding decides on which branch the linkage goes on: energy is kept and
 * loops are closed on either, so that nothing else would tell a wrong one. The run stops before.
 *
 *   near      some rows are independent with pivots below 1e-4 of the widest only (rcr_rank.c)
 *   moves     its loop would go further than 1e-4 rad in the longest step of the run; else it rests there
 *
 * Such a run has steps far shorter than those before, so that only these are looked at; what passes in one
 * step passes. Where many loops lose rank at once steps become short at a greater distance already: after
 * STUCK of them in a row 0.015 of the widest pivot, some
 * 0.03 rad, is near, for the methods too that have a way through (`partition` takes up to 125 of them for one
 * at a tolerance of 1e-12).
 *
 * Limits    Mechanisms that rcr does not take are not watched. Nor is a run by fixed steps, which pass or not
 *           by chance.
 * Cost      nothing on the way; a factorisation of the rows after short steps. The method rcr is created at
 *           the first of them.
 */
#include "simulation/singularity_monitor.h"

#include <math.h>
#include <string.h>

enum { STUCK = 200 };

void lw_passage_start(lw_passage *p, const lw_model *model, const lw_formulation *formulation) {
    bool loops = model->closure_count > 0 || model->constraint_count > 0;
    bool itself = strcmp(formulation->name, "rcr") == 0;
    *p = (lw_passage){.formulation = formulation, .watches = loops && !itself};
}

bool lw_passage_due(lw_passage *p, double h) {
    const double shorter =
        1e-2; /* of the longest step: 1e-4 rad are less than that of any step that passes */
    p->longest = fmax(p->longest, h);
    p->shorts = h < shorter * p->longest ? p->shorts + 1 : 0;
    bool stuck = p->shorts > 0 && p->shorts % STUCK == 0;
    return p->watches && (stuck || (p->shorts > 0 && !p->formulation->passes));
}

lw_status lw_passage_look(lw_passage *p, const lw_model *model, double t, const double *q, const double *v,
                          lw_error *error) {
    const lw_formulation *rcr = lw_formulation_find("rcr");
    const lw_method_options options = {0};
    if (!p->rcr) {
        if (rcr->applies(model, NULL) != LW_OK || rcr->create(model, &options, &p->rcr, NULL) != LW_OK)
            p->watches = false, p->rcr = NULL;
        if (!p->watches) return LW_OK;
    }
    return p->rcr->formulation->blocked(p->rcr, t, q, v, p->longest, p->shorts >= STUCK, p->formulation->name,
                                        error);
}

void lw_passage_end(lw_passage *p) {
    if (p->rcr) p->rcr->formulation->destroy(p->rcr);
    p->rcr = NULL;
}
