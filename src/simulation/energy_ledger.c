/* energy_ledger.c - the energy ledger of a run: what is booked, and the energy that is not accounted for.
 *
 *   unaccounted = (T + U) - (T0 + U0) - drives - forces + dissipation
 *
 * T and U are the energies of the present state, T0 and U0 those of the initial one. The work of drives, the
 * work of forces and the dissipation are the last three entries of the integrated vector. simulation_system.c
 * gives the integrator their rates, or adds the work of a step or an event. A change of the state or the
 * parameters by the caller is booked as work of forces.
 *
 * Cost     O(n) for the energies.
 */
#include "simulation/simulation_parts.h"

#include <math.h>
#include <stdio.h>

/* --- booking --------------------------------------------------------------------------------------- */

void lw_ledger_put(const lw_power *power, double books[LW_POWERS]) {
    books[0] = power->drives, books[1] = power->forces, books[2] = power->dissipation;
}

void lw_ledger_add(const lw_power *work, double books[LW_POWERS]) {
    books[0] += work->drives, books[1] += work->forces, books[2] += work->dissipation;
}

void lw_ledger_jump(lw_simulation *s, const lw_energy *had) {
    const lw_energy has = lw_simulation_energy(s);
    s->y[lw_simulation_books(s) + 1] += has.kinetic + has.potential - had->kinetic - had->potential;
}

/* --- the balance ------------------------------------------------------------------------------------ */

lw_energy lw_simulation_energy(lw_simulation *s) {
    const lw_formulation *f = s->plan.formulation;
    const double t = lw_simulation_seen(s, s->t);
    lw_simulation_see(s, s->y);
    f->from_state(s->method, t, s->y, s->q, s->v);
    return f->energy ? f->energy(s->method, t, s->y) : lw_energy_of(s->model, s->data, t, s->q, s->v);
}

lw_status lw_simulation_ledger(lw_simulation *s, lw_ledger *ledger) {
    if (!s || !ledger) return LW_ERROR_ARGUMENT;
    const double *books = s->y + lw_simulation_books(s);
    const lw_energy energy = lw_simulation_energy(s);
    *ledger = (lw_ledger){energy.kinetic, energy.potential, books[0], books[1], books[2], 0};
    ledger->unaccounted = (energy.kinetic - s->initial.kinetic) + (energy.potential - s->initial.potential) -
                          books[0] - books[1] + books[2];
    return LW_OK;
}

lw_status lw_ledger_check(lw_simulation *s, double t, const lw_ledger *ledger, lw_error *error) {
    s->lowest = fmin(s->lowest, ledger->potential);
    s->worked = fmax(s->worked, fmax(0, ledger->drives) + fmax(0, ledger->forces));
    const double had = s->initial.kinetic + (s->initial.potential - s->lowest) + s->worked;
    const double has = ledger->kinetic + (ledger->potential - s->lowest);
    /* For a mechanism at rest. */
    const double nothing = 1e-3 * s->scales.energy + 1e-6 * fabs(s->initial.potential);
    if (isfinite(has) && (has <= 10 * had + nothing || fabs(ledger->unaccounted) < 0.1 * has)) return LW_OK;
    char remedy[160];
    if (lw_integrator_by_step(s->integrator->name, &s->plan.options))
        snprintf(remedy, sizeof remedy,
                 "the step %g s is too long for this model: give a shorter one (--step), or take an "
                 "integrator that "
                 "chooses it (erk, bdf)",
                 s->plan.options.step);
    else if (s->jumped)
        snprintf(remedy, sizeof remedy,
                 "the motion of joint \"%.60s\" has jumped: let a state follow what an event sets, "
                 "filtered twice",
                 s->model->joints[s->jumped - 1].name);
    else
        snprintf(remedy, sizeof remedy, "give a smaller tolerance than %g (--tol)",
                 s->plan.integrator_options.tolerance);
    return lw_fail(
        error, LW_ERROR_INTEGRATION, NULL, remedy,
        "the run by %s has blown up at t = %g: its motion has %.3g J, and %.3g J are all that it had or was "
        "given; the rest comes from nowhere",
        s->integrator->name, t, has, had);
}
