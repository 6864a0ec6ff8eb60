/* verdict.c - the verdict on a run: ok, or doubtful with reasons.
 *
 *   balance      some sample did not pass the balance check (docs/theory/balance.md)
 *   closure      loops and constraints were violated by more than
 *                    max(1e-6, 1e4 tolerance) of the mechanism's length; fixed steps: 1e-3
 *   energy       the ledger does not account for more than
 *                    max(1e-5, 1e4 tolerance max(1, steps / 1e4)), at most 1e-2, of the energy turned over
 *   steps        more steps were rejected than taken
 *
 * The energy turned over is the largest kinetic energy, the range of the potential energy, and all work in
 * the ledger. Errors of an integrator add up over its steps, so that the limit grows with their number. A run
 * with fixed steps has no tolerance to which errors could be in proportion; 1e-2 of the energy turned over is
 * too much for any purpose. In equilibrium no energy is turned over, and the ledger contains only the
 * rounding of the work of forces: eps (1000 + steps) times the largest force times the mechanism's length is
 * always allowed.
 *
 * Cost     a few comparisons per sample.
 */
#include "simulation/verdict.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lw_watch_start(lw_watch *w, const lw_model *model) {
    *w = (lw_watch){.model = model, .length = lw_longest_arm(model)};
}

void lw_watch_sample(lw_watch *w, double t, const lw_ledger *ledger, double position_violation) {
    if (!w->started) w->potential_least = w->potential_most = ledger->potential;
    w->started = true;
    w->kinetic_most = fmax(w->kinetic_most, ledger->kinetic);
    w->potential_least = fmin(w->potential_least, ledger->potential);
    w->potential_most = fmax(w->potential_most, ledger->potential);
    if (fabs(ledger->unaccounted) > w->unaccounted)
        w->unaccounted = fabs(ledger->unaccounted), w->unaccounted_t = t;
    if (position_violation > w->gap) w->gap = position_violation, w->gap_t = t;
}

void lw_watch_balance(lw_watch *w, double t, double amount, double effort, lw_status status,
                      const lw_error *error) {
    w->checks++;
    if (isfinite(effort)) w->effort = fmax(w->effort, effort);
    if (amount > w->balance) w->balance = amount, w->balance_t = t;
    if (status != LW_OK && w->imbalance.status == LW_OK) {
        w->imbalance = *error;
        w->imbalance.status = status;
    }
}

static void doubt(lw_run_verdict *verdict, const char *format, ...) LW_PRINTF(2, 3);
static void doubt(lw_run_verdict *verdict, const char *format, ...) {
    verdict->ok = false;
    if (verdict->reason_count == LW_REASONS_MAX) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->reasons[verdict->reason_count++], LW_REASON_SIZE, format, arguments);
    va_end(arguments);
}

static double turned_over(const lw_watch *w, const lw_ledger *l) {
    return w->kinetic_most + (w->potential_most - w->potential_least) + fabs(l->drives) + fabs(l->forces) +
           fabs(l->dissipation);
}

void lw_watch_verdict(const lw_watch *w, const lw_watch_limits *limits, lw_run_summary *s) {
    const double loose = 1e4; /* the factor by which errors of an ordinary run may exceed the tolerance */
    lw_run_verdict *verdict = &s->verdict;
    *verdict = (lw_run_verdict){.ok = true};
    s->balance_max = w->balance;
    if (w->imbalance.status != LW_OK)
        doubt(verdict, "balance: %s: %s", w->imbalance.object, w->imbalance.message);
    double open = limits->tolerance > 0 ? fmax(1e-6, loose * limits->tolerance) : 1e-3;
    if (w->gap > open * w->length)
        doubt(verdict,
              "closure: loops or constraints are open by %.2g at t = %.4g, %.2g of the mechanism's length",
              w->gap, w->gap_t, w->gap / w->length);
    double turned = turned_over(w, &s->ledger);
    double share =
        limits->tolerance > 0
            ? fmin(1e-2, fmax(1e-5, loose * limits->tolerance * fmax(1, (double)limits->steps / 1e4)))
            : 1e-2;
    double rounding = DBL_EPSILON * (1e3 + (double)limits->steps) * w->effort;
    if (w->unaccounted > share * turned + rounding)
        doubt(verdict, "energy: %.3g J are not accounted for at t = %.4g, %.2g of the %.3g J turned over",
              w->unaccounted, w->unaccounted_t, w->unaccounted / turned, turned);
    if (limits->steps > 100 && limits->rejected > limits->steps)
        doubt(verdict, "steps: %ld were rejected and %ld taken: something is not smooth", limits->rejected,
              limits->steps);
}
