/* singularity_monitor.c - detects that a run approaches a singular position that its method cannot pass.
 *
 * At a distance of delta rad a loop that is open by e, if only by rounding, has accelerations with an error
 * of e / delta^3 (docs/theory/rcr.md, section 5). An integrator then takes ever shorter steps, each of which
 * ends closer, until at 1e-8 rad rounding decides on which branch the linkage continues. Energy is conserved
 * and loops are closed on both branches, so that no other check detects the wrong one. The run stops before.
 *
 *   near      some rows are independent only with pivots below 1e-4 of the widest (rcr_rank.c)
 *   moves     the loop would move more than 1e-4 rad in the longest step of the run; otherwise it is at rest
 *
 * Such a run has steps far shorter than before, so that only short steps are examined; a position that is
 * passed in one long step is not. Where many loops lose rank at once, steps become short at a greater
 * distance: after STUCK short steps in a row 0.015 of the widest pivot, some 0.03 rad, counts as near, also
 * for methods that can pass a singular position (`partition` takes up to 125 short steps for one at a
 * tolerance of 1e-12).
 *
 * Limits    Mechanisms to which rcr does not apply are not monitored; nor is a run by fixed steps, which
 *           passes or not by chance.
 * Cost      a factorisation of the rows after each short step, otherwise nothing. The method rcr is created
 *           at the first short step.
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
        1e-2; /* relative to the longest step; steps that pass a singular position are longer */
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
        model = lw_merged(model);
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
