/* progress_monitor.c - the progress of a run, by counts of evaluations and steps, never by the clock, so that
 * the same run ends at the same time on every machine.
 *
 * End. After every WINDOW evaluations the steps that the whole run needs are predicted from the mean step h
 * of this window. A run of T seconds may need
 *
 *     N(T) = 1e6 max(1, sqrt(10 T / s))
 *
 * steps: 1e6 in up to 0.1 s, 1e7 in 10 s, 2e8 in an hour. More steps would be shorter than 0.1 microseconds
 * in short runs, in which sound crosses half a millimetre of steel. No motion of rigid bodies is so fast; a
 * spring on a very small mass, a force that jumps to and fro, or diverging energy are. SLOW windows in a row
 * that predict more steps end the run if they are at least half of all windows, so that an impact late in a
 * long run does not end it. Steps that the user gives (a fixed step, a largest step, a number of steps) are
 * not judged.
 *
 * Stiffness is tested (stiffness.c) after CHECK steps, then after twice as many each time, and in between at
 * every CHECK-th step if steps have become much shorter than at the last test.
 */
#include "simulation/progress_monitor.h"

#include <math.h>

enum { WINDOW = 100000, SLOW = 3, CHECK = 200 };

void lw_effort_start(lw_effort *effort, double start, double end) {
    /* What the user gives stays, and nothing of an earlier run. */
    *effort = (lw_effort){.largest = effort->largest,
                          .most = effort->most,
                          .given = effort->given,
                          .start = start,
                          .end = end,
                          .t = start,
                          .t_then = start,
                          .t_checked = start,
                          .next = CHECK};
}

double lw_effort_allowed(double span) { return 1e6 * fmax(1, sqrt(10 * span)); }

/* Computes the mean step of the last window, and the number of steps that the run needs at this rate. */
static void predict(lw_effort *e) {
    const long steps = e->steps - e->steps_then;
    e->h = steps > 0 ? (e->t - e->t_then) / (double)steps : 0;
    e->needs = (double)e->steps + (e->h > 0 ? (e->end - e->t) / e->h : HUGE_VAL);
}

lw_effort_answer lw_effort_evaluated(lw_effort *e) {
    e->evaluations++;
    if (e->given) return LW_EFFORT_COUNTED;
    if (e->most > 0 && (double)e->steps >= e->most) return LW_EFFORT_SPENT;
    if (e->evaluations - e->evaluations_then < WINDOW) return LW_EFFORT_COUNTED;
    predict(e);
    e->evaluations_then = e->evaluations, e->steps_then = e->steps, e->t_then = e->t;
    const double most = e->most > 0 ? e->most : lw_effort_allowed(e->end - e->start);
    const bool wanted = e->largest > 0 && e->h > 0.5 * e->largest;
    e->windows++;
    e->slow = e->needs > most && !wanted ? e->slow + 1 : 0;
    return e->slow >= SLOW && 2 * e->slow >= e->windows ? LW_EFFORT_HOPELESS : LW_EFFORT_LOOKED;
}

int lw_effort_nearly(const lw_effort *e) {
    const long left = WINDOW - (e->evaluations - e->evaluations_then);
    for (int k = 1; k < LW_EFFORT_STATES; k++)
        if (left == 1L << (k - 1)) return k;
    return 0;
}

bool lw_effort_stepped(lw_effort *e, double t) {
    e->steps++;
    e->t = t;
    const long own = e->steps - e->begun;
    if (own % CHECK) return false;
    e->step_mean = (t - e->t_checked) / CHECK;
    e->evaluations_mean = (double)(e->evaluations - e->evaluations_checked) / CHECK;
    e->t_checked = t, e->evaluations_checked = e->evaluations;
    const double shorter = 0.5, few = 500;
    if (own < e->next && !(e->step_mean < shorter * e->step_before)) return false;
    if (own >= e->next) e->next = 2 * own;
    e->step_before = e->step_mean;
    return (e->end - t) > few * e->step_mean;
}

void lw_effort_changes(lw_effort *e) {
    e->begun = e->steps;
    e->next = CHECK;
    e->t_checked = e->t, e->evaluations_checked = e->evaluations;
    e->step_before = 0;
    e->slow = 0;
}
