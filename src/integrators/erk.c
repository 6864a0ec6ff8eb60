/* erk.c - explicit Runge-Kutta pairs, order 5, and order 8 for tight tolerances; step by tolerance.
 *
 *   k_i = f(t + c_i h, y + h sum_j<i a_ij k_j),  y_next = y + h sum b_i k_i,  error = h sum (b_i - d_i) k_i
 *
 * with the coefficients of erk_pairs.c.
 *
 * Step size. With e the norm of the error in units of the tolerance, q the order: a step with e <= 1 is
 * accepted, and the next one is
 *
 *   h_next = 0.8 h e^(-1/q) e_before^(0.3/q)                                               (PI control)
 *
 * where e_before is that of the accepted step before; at most 20 h, and at least 0.1 h. After a rejection the
 * same formula gives the next attempt, at most 0.3 h from the second rejection on, and the step after does
 * not grow. The first step is found as in Hairer, Norsett, Wanner, Solving ordinary differential equations I,
 * II.4: such that an explicit Euler step would be wrong by a hundredth.
 *
 * A stage that cannot be evaluated does not end the run, since only the stage may have left the possible
 * states and not the motion. The step is taken again with a quarter of the way to the time of the failure,
 * until this comes to nothing.
 *
 * Dense output, computed only for steps in which an output time lies. Two ways:
 *
 *   By neighbours (multistep_dense_output.c), where there were steps before since the last start and nothing
 *   has jumped: a polynomial through the ends of this step and the beginnings of up to four before, of degree
 *   11, that is improved by one to four evaluations within the step until what these change is 0.3 of the
 *   tolerance.
 *
 *   From inside the step, in any case. Hermite interpolation of y and ydot at both ends of the step and in
 *   its middle, which the same formula reaches by a shorter step from the beginning: degree 5, local error
 *   O(h^6). At order 8 it serves to find ydot at a quarter and at three quarters of the step as well, wrong
 *   by O(h^6); the polynomial of degree 7 through all of these, wrong by O(h^7), serves to find these two
 *   again, and the one through what is found then has a local error of O(h^8).
 *
 * Projection acts on the new state before ydot is evaluated there.
 *
 * Cost: 6 (order 5; 7 with projection) or 13 (order 8) evaluations per step. Where there is dense output, one
 * to four more by neighbours; else as many again as the step took, and four more at order 8.
 */
#include "integrators/erk_pairs.h"
#include "integrators/events.h"
#include "integrators/multistep_dense_output.h"

#include <math.h>
#include <string.h>

extern const lw_integrator lw_erk;

/* Order 5 is for the few digits of looser tolerances and forces with kinks. From here on order 8 has errors
 * 10 to 1000 times smaller at about the same cost on mechanisms, and a switch further down would make cost
 * and error jump back there. */
static const double HIGH_ORDER_BELOW = 1e-4 * (1 + 1e-9);

/* Errors of dense output in units of the tolerance, root mean square: small enough, and such that one more
 * rate does not mend them. */
static const double enough = 0.3, hopeless = 1e4;

/* Limits of the change of h from one step to the next. */
static const double safety = 0.8, shortest = 0.1, longest = 20, shorter_again = 0.3;

enum {
    SLOPES = 2,      /* rates at quarters of the step, for order 8 */
    ROUNDS = 2,      /* that these are found in */
    REJECTIONS = 50, /* of one step by its error, in a row */
    CRAWL = 1000     /* steps of next to no length in a row: after a start or a jump they grow at once */
};

typedef struct {
    lw_integration base;
    lw_arena *arena;
    const lw_erk_pair *pair;
    int size, controlled; /* numbers of the state, and those under error control: the first ones */
    double tolerance, largest_step, t_start;

    double begin, t_end;     /* the last step; both the start before the first */
    double end;              /* t_end, or the event within the step at which the step ends */
    double *y_begin, *y_end; /* the states at begin and t_end */
    double *f_begin, *f_end; /* their derivatives; f_begin is k[0] */
    double *y;               /* the state at end */
    bool f_end_known;
    double h;            /* the step to try next; 0: it has to be found */
    double error_before; /* norm of the error of the last accepted step */
    double growth;       /* how many times longer the next step may be */
    bool moving;         /* there was a step since the last start */
    int crawled;         /* steps of next to no length, in a row */
    double *k[LW_ERK_STAGES], *stage;
    lw_event event;
    lw_error failure; /* the system's last one, */
    double failed_at; /* and its time */
    long steps, rejected, evaluations;

    /* Dense output. */
    bool high;          /* order 8 */
    bool inside_known;  /* the polynomial of the last step has been found */
    bool by_neighbours; /* it is that of multistep_dense_output.c */
    bool books_too;     /* also for quadratures: states must not notice whether there are any */
    lw_neighbours neighbours;
    double *y_middle, *f_middle, *f_quarter[ROUNDS * SLOPES];
} erk;

/* --- the formula ----------------------------------------------------------------------------------- */

static lw_status evaluate(erk *run, double t, const double *y, double *ydot) {
    lw_status status = lw_checked_derivative(run->base.system, t, y, ydot, &run->evaluations, &run->failure);
    if (status) run->failed_at = t;
    return status;
}

static lw_status project(erk *run, double t, double *y) {
    lw_system *system = run->base.system;
    if (!system->project) return LW_OK;
    lw_status status = system->project(system, t, y, &run->failure);
    if (status) run->failed_at = t;
    return status;
}

static void copy(const erk *run, const double *from, double *to) {
    memcpy(to, from, sizeof *to * (size_t)run->size);
}

/* to = y + h sum of row_j k_j, in one pass for each block of the state; zeros of the table cost nothing. */
static void combine(const erk *run, const double *y, double h, const double *row, int terms, double *to) {
    enum { BLOCK = 64 };
    for (int at = 0; at < run->size; at += BLOCK) {
        double sum[BLOCK] = {0};
        const int width = run->size - at < BLOCK ? run->size - at : BLOCK;
        for (int j = 0; j < terms; j++) {
            if (row[j] == 0) continue;
            const double *k = run->k[j] + at;
            for (int i = 0; i < width; i++) sum[i] += row[j] * k[i];
        }
        for (int i = 0; i < width; i++) to[at + i] = y[at + i] + h * sum[i];
    }
}

/* The formula's step of length h from y_begin, where k[0] is known. */
static lw_status runge_kutta(erk *run, double h, double *y_next) {
    const lw_erk_pair *pair = run->pair;
    const int stages = pair->stages - (pair->last_is_new ? 1 : 0);
    for (int s = 1; s < stages; s++) {
        combine(run, run->y_begin, h, pair->a[s], s, run->stage);
        lw_status status = evaluate(run, run->begin + pair->c[s] * h, run->stage, run->k[s]);
        if (status) return status;
    }
    combine(run, run->y_begin, h, pair->b, stages, y_next);
    return LW_OK;
}

/* Root mean square of x in units of the tolerance at y. */
static double norm(const erk *run, const double *y, const double *x) {
    double sum = 0;
    for (int i = 0; i < run->controlled; i++) {
        const double part = x[i] / (run->tolerance * lw_error_unit(run->base.system, i, y[i]));
        sum += part * part;
    }
    return sqrt(sum / run->controlled);
}

/* A step of length h into y_end, and the norm of its error. */
static lw_status attempt(erk *run, double h, double *wrong) {
    const lw_erk_pair *pair = run->pair;
    lw_status status = runge_kutta(run, h, run->y_end);
    const int last = pair->stages - 1;
    if (!status && pair->last_is_new) status = evaluate(run, run->begin + h, run->y_end, run->k[last]);
    if (status) return status;
    double difference[LW_ERK_STAGES];
    for (int s = 0; s <= last; s++) difference[s] = pair->b[s] - pair->d[s];
    memset(run->stage, 0, sizeof *run->stage * (size_t)run->size);
    combine(run, run->stage, h, difference, last + 1, run->stage);
    *wrong = norm(run, run->y_begin, run->stage);
    return LW_OK;
}

/* --- steps ----------------------------------------------------------------------------------------- */

static lw_status derivative_at_end(erk *run) {
    if (run->f_end_known) return LW_OK;
    lw_status status = evaluate(run, run->t_end, run->y_end, run->f_end);
    run->f_end_known = !status;
    return status;
}

/* A step so short that it changes little, from y_begin and f_begin. */
static double first_step(erk *run, double t_stop) {
    enum { ATTEMPTS = 10 };
    const double rate = norm(run, run->y_begin, run->f_begin), state = norm(run, run->y_begin, run->y_begin);
    const double left = fmin(t_stop - run->begin, run->largest_step), smallest = fmin(1e-6, 1e-3 * left);
    const double few = 1e-5;
    double h = state < few || rate < few ? smallest : 0.01 * state / rate;
    h = fmin(h, 0.1 * left);
    double change = 0;
    for (int k = 0; k < ATTEMPTS; k++, h *= 0.1) {
        for (int i = 0; i < run->size; i++) run->stage[i] = run->y_begin[i] + h * run->f_begin[i];
        if (evaluate(run, run->begin + h, run->stage, run->k[1]) == LW_OK) {
            for (int i = 0; i < run->size; i++) run->stage[i] = run->k[1][i] - run->f_begin[i];
            change = norm(run, run->y_begin, run->stage) / h;
            break;
        }
    }
    const double fastest = fmax(rate, change);
    const double by_order =
        fastest > 1e-15 ? pow(0.01 / fastest, 1.0 / (run->pair->order + 1)) : fmax(smallest, 1e-3 * h);
    return fmin(fmin(100 * h, by_order), left);
}

/* The change of h after a step with this error. */
static double change_of_step(const erk *run, double wrong) {
    const double least = 1e-10, q = run->pair->order;
    const double factor =
        safety * pow(fmax(wrong, least), -1 / q) * pow(fmax(run->error_before, least), 0.3 / q);
    return fmax(factor, shortest);
}

/* One step from y_begin into y_end and t_end, as long as its error allows. */
static lw_status step_by_error(erk *run, double t_stop, lw_error *error) {
    double h = run->h, wrong;
    for (int rejections = 0;;) {
        h = fmin(h, fmin(run->largest_step, run->event.longest));
        const bool last = run->begin + h >= t_stop - 1e-12 * h;
        const double taken = last ? t_stop - run->begin : h;
        run->t_end = last ? t_stop : run->begin + h;
        if (!(run->t_end > run->begin) || rejections > REJECTIONS)
            return lw_step_vanished(run->base.integrator, run->begin, h, run->tolerance, error);
        lw_status status = attempt(run, taken, &wrong);
        if (!status && wrong <= 1) {
            status = project(run, run->t_end, run->y_end);
            if (!status) {
                const double next = fmin(change_of_step(run, wrong), run->growth) * taken;
                run->h = last ? fmax(next, h) : next; /* one that ends early says little about the next */
                run->growth = longest;
                run->error_before = wrong;
                return LW_OK;
            }
        }
        run->rejected++;
        run->growth = 1;
        if (status == LW_OK) {
            const double most = ++rejections > 1 ? shorter_again : 1;
            h = fmin(change_of_step(run, wrong), most) * taken;
        } else {
            h = 0.25 * (run->failed_at - run->begin);
            if (status == LW_ERROR_SINGULAR && run->begin + h > run->begin) continue;
            if (error) *error = run->failure;
            return lw_stopped_at(run->begin, status, error);
        }
    }
}

/* The last step becomes a neighbour of the next one, which begins where it has ended. */
static lw_status begin_step(erk *run, double t_stop, lw_error *error) {
    lw_status status = LW_OK;
    if (run->moving) {
        status = derivative_at_end(run);
        if (!status) {
            lw_neighbours_keep(&run->neighbours, run->begin, run->y_begin, run->f_begin);
            copy(run, run->f_end, run->f_begin);
        }
    } else
        status = evaluate(run, run->end, run->y, run->f_begin);
    if (status) {
        if (error) *error = run->failure;
        return lw_stopped_at(run->end, status, error);
    }
    run->begin = run->end;
    copy(run, run->y, run->y_begin);
    run->inside_known = run->f_end_known = false;
    if (!(run->h > 0)) run->h = first_step(run, t_stop);
    return LW_OK;
}

/* Nothing is known of what was before. */
static void forget(erk *run) {
    run->moving = run->inside_known = run->f_end_known = false;
    run->crawled = 0;
    run->h = 0, run->error_before = 1, run->growth = longest;
    lw_neighbours_forget(&run->neighbours);
}

/* Crosses the event at which the last step ends, and begins anew. */
static lw_status cross(erk *run, double t_stop, lw_error *error) {
    lw_status status =
        lw_event_cross(&run->event, &run->base, run->end, t_stop - run->t_start, run->y, error);
    if (!status) forget(run);
    return status;
}

static lw_status within(lw_integration *integration, double t, double *y, lw_error *error);

/* A state of the last step for the search for events: cubic, without projection, since the rate at the end is
 * needed for the next step anyway. */
static lw_status glance(lw_integration *integration, double t, double *y, lw_error *error) {
    (void)error;
    erk *run = (erk *)integration;
    lw_status status = derivative_at_end(run);
    if (status) return status;
    const double thetas[] = {0, 1}, *states[] = {run->y_begin, run->y_end};
    const double *rates[] = {run->f_begin, run->f_end}, h = run->t_end - run->begin;
    lw_hermite(run->size, 2, thetas, states, rates, h, (t - run->begin) / h, y);
    return LW_OK;
}

static lw_status step(erk *run, double t_stop, lw_error *error) {
    lw_system *system = run->base.system;
    lw_status status = run->event.pending ? cross(run, t_stop, error) : LW_OK;
    if (!status) status = begin_step(run, t_stop, error);
    if (!status) status = step_by_error(run, t_stop, error);
    if (status) return status;
    const double shortest_step = 1e-13 * fmin(t_stop - run->begin, 1);
    run->crawled = run->t_end - run->begin < shortest_step ? run->crawled + 1 : 0;
    if (run->crawled > CRAWL)
        return lw_step_vanished(run->base.integrator, run->begin, run->h, run->tolerance, error);
    run->steps++;
    run->moving = true;
    run->end = run->t_end;
    copy(run, run->y_end, run->y);
    if (run->pair->last_is_new && !system->project) {
        copy(run, run->k[run->pair->stages - 1], run->f_end);
        run->f_end_known = true;
    }
    if (system->root_count) {
        status = lw_event_find(&run->event, &run->base, glance, within, run->begin, &run->end, run->y, error);
        if (status) return status;
    }
    if (!system->accepted) return LW_OK;
    return system->accepted(system, run->end, run->end - run->begin, 0, run->y, error);
}

/* --- dense output --------------------------------------------------------------------------------- */

/* The polynomial of degree 5. */
static void quintic(const erk *run, double theta, double *y) {
    const double thetas[] = {0, 0.5, 1}, *states[] = {run->y_begin, run->y_middle, run->y_end};
    const double *rates[] = {run->f_begin, run->f_middle, run->f_end};
    lw_hermite(run->size, 3, thetas, states, rates, run->t_end - run->begin, theta, y);
}

/* That of degree 7, sum of c_k s^k with s = 2 theta - 1, from y at s = -1, 0, 1 and g = h/2 ydot at s = -1,
 * -1/2, 0, 1/2, 1. Even and odd parts are found apart, with c1 = g(0):
 *
 *     c2 + c4 + c6              = E  = (y(1) + y(-1))/2 - y(0)
 *     2 c2 + 4 c4 + 6 c6        = G1 = (g(1) - g(-1))/2
 *     c2 + c4/2 + 3/16 c6       = G  = (g(1/2) - g(-1/2))/2
 *     c3 + c5 + c7              = D  = (y(1) - y(-1))/2 - c1
 *     3 c3 + 5 c5 + 7 c7        = H1 = (g(1) + g(-1))/2 - c1
 *     3/4 c3 + 5/16 c5 + 7/64 c7 = H = (g(1/2) + g(-1/2))/2 - c1 */
static void septic(const erk *run, double theta, double *y) {
    const double *y0 = run->y_begin, *y1 = run->y_end, *ym = run->y_middle;
    const double *f0 = run->f_begin, *f1 = run->f_end, *fm = run->f_middle;
    const double half = 0.5 * (run->t_end - run->begin), s = 2 * theta - 1, s2 = s * s;
    for (int i = 0; i < run->size; i++) {
        const double c1 = half * fm[i];
        const double E = 0.5 * (y1[i] + y0[i]) - ym[i], D = 0.5 * (y1[i] - y0[i]) - c1;
        const double G1 = 0.5 * half * (f1[i] - f0[i]), H1 = 0.5 * half * (f1[i] + f0[i]) - c1;
        const double G = 0.5 * half * (run->f_quarter[1][i] - run->f_quarter[0][i]);
        const double H = 0.5 * half * (run->f_quarter[1][i] + run->f_quarter[0][i]) - c1;
        const double c6 = (G - E + 0.25 * (G1 - 2 * E)) * 16 / 3, c4 = 0.5 * (G1 - 2 * E) - 2 * c6;
        const double c7 = (H - 0.75 * D + 7.0 / 32 * (H1 - 3 * D)) * 64 / 15,
                     c5 = 0.5 * (H1 - 3 * D) - 2 * c7;
        const double c2 = E - c4 - c6, c3 = D - c5 - c7;
        y[i] = ym[i] + s * (c1 + s2 * (c3 + s2 * (c5 + s2 * c7))) + s2 * (c2 + s2 * (c4 + s2 * c6));
    }
}

static lw_status look_inside(erk *run) {
    const double h = run->t_end - run->begin, middle = run->begin + 0.5 * h;
    lw_status status = runge_kutta(run, 0.5 * h, run->y_middle);
    if (!status) status = project(run, middle, run->y_middle);
    if (!status) status = evaluate(run, middle, run->y_middle, run->f_middle);
    for (int k = 0; k < ROUNDS * SLOPES && run->high && !status; k++) {
        const double theta = 0.25 + 0.5 * (k % SLOPES);
        double *to = run->f_quarter[k < SLOPES ? k : SLOPES + k % SLOPES];
        if (k < SLOPES)
            quintic(run, theta, run->stage);
        else
            septic(run, theta, run->stage);
        status = evaluate(run, run->begin + theta * h, run->stage, to);
    }
    /* Those found by the better polynomial take the place of the others. */
    for (int k = 0; k < SLOPES; k++) copy(run, run->f_quarter[SLOPES + k], run->f_quarter[k]);
    return status;
}

/* Do the preceding steps determine the states within this one? If not, the other method is used. */
static bool ask_neighbours(erk *run) {
    lw_neighbours *n = &run->neighbours;
    const double h = run->t_end - run->begin;
    if (!lw_neighbours_enter(n, run->begin, h, run->y_begin, run->f_begin, run->y_end, run->f_end))
        return false;
    for (double theta = lw_neighbours_next(n); theta >= 0; theta = lw_neighbours_next(n)) {
        lw_error ignored = {0};
        lw_neighbours_state(n, theta, run->stage);
        if (lw_checked_derivative(run->base.system, run->begin + theta * h, run->stage, run->f_middle,
                                  &run->evaluations, &ignored))
            return false;
        double wrong = lw_neighbours_add(n, run->f_middle);
        if (wrong <= enough) return true;
        if (!(wrong <= hopeless)) return false;
    }
    return false;
}

static lw_status find_inside(erk *run) {
    if (run->inside_known) return LW_OK;
    lw_status status = derivative_at_end(run);
    if (status) return status;
    run->by_neighbours = ask_neighbours(run);
    run->books_too = run->by_neighbours && run->neighbours.others <= enough;
    if (!run->books_too) status = look_inside(run);
    run->inside_known = !status;
    return status;
}

/* The state at t within the last step. The step is taken: a failure in it can only be reported, as one of
 * what follows. */
static lw_status within(lw_integration *integration, double t, double *y, lw_error *error) {
    erk *run = (erk *)integration;
    lw_status status = find_inside(run);
    if (!status) {
        const double theta = (t - run->begin) / (run->t_end - run->begin);
        double *inside = run->by_neighbours ? run->stage : y;
        if (!run->books_too && run->high) septic(run, theta, inside);
        if (!run->books_too && !run->high) quintic(run, theta, inside);
        if (run->by_neighbours) {
            const int count = run->controlled;
            lw_neighbours_state(&run->neighbours, theta, y);
            if (!run->books_too) memcpy(y + count, inside + count, sizeof *y * (size_t)(run->size - count));
        }
        status = project(run, t, y);
    }
    if (!status) return LW_OK;
    if (error) *error = run->failure;
    return lw_stopped_at(run->end, status, error);
}

static lw_status advance(lw_integration *integration, double t_out, double t_stop, double *y,
                         lw_error *error) {
    erk *run = (erk *)integration;
    lw_status status = lw_check_times(integration->integrator, run->begin, t_out, t_stop, error);
    while (!status && run->end < t_out) status = step(run, t_stop, error);
    /* At the instant of an event the state is that after it, to which forces at that instant belong. */
    if (!status && run->end == t_out && run->event.pending) status = cross(run, t_stop, error);
    if (status) return status;
    if (t_out < run->end) return within(integration, t_out, y, error);
    copy(run, run->y, y);
    return LW_OK;
}

static lw_status one_step(lw_integration *integration, double t_stop, double *t, double *y, lw_error *error) {
    erk *run = (erk *)integration;
    lw_status status = step(run, t_stop, error);
    *t = run->end;
    copy(run, run->y, y);
    return status;
}

static lw_status restart(lw_integration *integration, double t, const double *y, lw_error *error) {
    (void)error;
    erk *run = (erk *)integration;
    forget(run);
    run->t_start = run->begin = run->t_end = run->end = t;
    lw_event_reset(&run->event, integration->system, t);
    copy(run, y, run->y);
    return LW_OK;
}

/* The polynomial inside the last step is found again where it is needed; it is the same. */
static void archive(lw_integration *integration, lw_archive *archive) {
    erk *run = (erk *)integration;
    double *arrays[] = {run->y_begin, run->y_end, run->f_begin, run->f_end, run->y};
    for (int i = 0; i < 5; i++) LW_ARCHIVE_MANY(archive, arrays[i], run->size);
    LW_ARCHIVE_ONE(archive, run->t_start);
    LW_ARCHIVE_ONE(archive, run->begin);
    LW_ARCHIVE_ONE(archive, run->t_end);
    LW_ARCHIVE_ONE(archive, run->end);
    LW_ARCHIVE_ONE(archive, run->f_end_known);
    LW_ARCHIVE_ONE(archive, run->h);
    LW_ARCHIVE_ONE(archive, run->error_before);
    LW_ARCHIVE_ONE(archive, run->growth);
    LW_ARCHIVE_ONE(archive, run->moving);
    LW_ARCHIVE_ONE(archive, run->crawled);
    LW_ARCHIVE_ONE(archive, run->steps);
    LW_ARCHIVE_ONE(archive, run->rejected);
    LW_ARCHIVE_ONE(archive, run->evaluations);
    lw_event_archive(&run->event, archive);
    lw_neighbours_archive(&run->neighbours, archive);
    if (archive->mode == LW_ARCHIVE_READ) run->inside_known = false;
}

/* --- creation ------------------------------------------------------------------------------------- */

static void destroy(lw_integration *integration) {
    if (integration) lw_arena_destroy(((erk *)integration)->arena);
}

static bool allocate(erk *run, lw_system *system, double t) {
    lw_arena *arena = run->arena;
    double **arrays[] = {&run->y_begin, &run->y_end, &run->f_begin,  &run->f_end,
                         &run->y,       &run->stage, &run->y_middle, &run->f_middle};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = LW_NEW(arena, double, run->size);
    for (int k = 0; k < ROUNDS * SLOPES; k++) run->f_quarter[k] = LW_NEW(arena, double, run->size);
    for (int s = 1; s < run->pair->stages; s++) run->k[s] = LW_NEW(arena, double, run->size);
    run->k[0] = run->f_begin;
    return lw_neighbours_create(&run->neighbours, arena, run->size, run->controlled, run->high ? 2 : 1,
                                run->tolerance, system->scale) &&
           lw_event_create(&run->event, system, t, arena) && !lw_arena_failed(arena);
}

static lw_status create(lw_system *system, const lw_integrator_options *options, double t, const double *y,
                        const double *ydot, lw_integration **integration, lw_error *error) {
    (void)ydot;
    *integration = NULL;
    lw_status status = lw_check_start(&lw_erk, system, options, t, y, error);
    if (status) return status;
    lw_arena *arena = lw_arena_create(NULL);
    erk *run = LW_NEW(arena, erk, 1);
    if (run) {
        run->base = (lw_integration){&lw_erk, system};
        run->arena = arena;
        run->high = options->tolerance <= HIGH_ORDER_BELOW;
        run->pair = lw_erk_pair_of(run->high);
        run->size = system->size;
        run->controlled = lw_controlled_states(system);
        run->tolerance = options->tolerance;
        run->largest_step = options->step > 0 ? options->step : HUGE_VAL;
        run->t_start = run->begin = run->t_end = run->end = t;
        run->error_before = 1;
        run->growth = longest;
    }
    if (!run || !allocate(run, system, t)) {
        if (arena) lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    copy(run, y, run->y);
    *integration = &run->base;
    return LW_OK;
}

static void statistics(const lw_integration *integration, lw_integrator_statistics *result) {
    const erk *run = (const erk *)integration;
    *result = (lw_integrator_statistics){
        .steps = run->steps, .evaluations = run->evaluations, .rejected = run->rejected};
}

const lw_integrator lw_erk = {
    .name = "erk",
    .summary = "explicit Runge-Kutta pairs of order 5 and 8, step by tolerance",
    .create = create,
    .destroy = destroy,
    .advance = advance,
    .step = one_step,
    .restart = restart,
    .archive = archive,
    .statistics = statistics,
};
