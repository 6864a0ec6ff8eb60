/* singularity_monitor.c - detects that a run starts in a singular position from which no motion leads out, or
 * more than one, or that it approaches a singular position that its method cannot pass.
 *
 * At the start the rows are dependent there, and accelerations that satisfy the equations need not be those
 * of any motion: a flat parallelogram at rest can leave on two branches, and on neither with the
 * accelerations that its dependent rows allow. Method rcr looks at the second order, for all methods.
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
 * Cost      the creation of the method rcr and a few of its calls at the start, and a factorisation of the
 *           rows after each short step.
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

/* Creates the method rcr, if that is not done; returns whether it is there. */
static bool has_rcr(lw_passage *p, const lw_model *merged, const lw_method_options *options) {
    const lw_formulation *rcr = lw_formulation_find("rcr");
    if (p->rcr || !p->watches) return p->rcr;
    if (rcr->applies(merged, NULL) != LW_OK || rcr->create(merged, options, &p->rcr, NULL) != LW_OK)
        p->watches = false, p->rcr = NULL;
    return p->rcr;
}

lw_status lw_passage_begin(lw_passage *p, const lw_model *model, const lw_method_options *options, double t,
                           const double *q, const double *v, lw_error *error) {
    const lw_method_options own = {
        .inputs = options->inputs, .states = options->states, .force = options->force};
    if (!has_rcr(p, lw_merged(model), &own)) return LW_OK;
    return p->rcr->formulation->leads_out(p->rcr, t, q, v, error);
}

lw_status lw_passage_look(lw_passage *p, const lw_model *model, double t, const double *q, const double *v,
                          lw_error *error) {
    const lw_method_options options = {0};
    if (!has_rcr(p, lw_merged(model), &options)) return LW_OK;
    return p->rcr->formulation->blocked(p->rcr, t, q, v, p->longest, p->shorts >= STUCK, p->formulation->name,
                                        error);
}

void lw_passage_end(lw_passage *p) {
    if (p->rcr) p->rcr->formulation->destroy(p->rcr);
    p->rcr = NULL;
}
