/* director_step.c - one step of the energy-momentum scheme: Newton's iteration, acceptance, halving.
 *
 * The iteration starts where the velocities at the begin of the step lead. A body that turns at a constant
 * rate w satisfies the scheme with the rotation of Cayley vector h w; this is the start also for rotations
 * that are no longer small. The solution is found when the next increment is expected to be rounding. Then
 * all rows are checked, also those without a multiplier: a step that violates one has left the constraint
 * manifold and is rejected. A rejected step is tried with new pivots, with another choice of rows, and then
 * in halves. What rounding removes from the state is carried along (docs/theory/director.md, 6: Rounding).
 *
 * Source   Betsch and Leyendecker (2006), eqs 10-15.
 * Cost     that of the solver (director_solver.h) times the number of increments, as a rule two to four. No
 *          allocation but for new pivots.
 */
#include "model/signals.h"
#include "formulations/director/director_parts.h"
#include "model/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITERATIONS = 14, HALVINGS = 12, CHOICE_EVERY = 20 };

/* Limits of increments, relative to the step. If the next one is expected to be smaller than next_one it is
 * not computed: this is far below rounding, since what is left has the same sign in step after step and adds
 * up. Increments below rounding carry no information. Increments above far each get a matrix of their own. */
static const double next_one = 1e-18, rounding = 2e-16, far = 0.01;
/* An increment that is more than this times the one before calls for a new matrix, ... */
static const double slow = 0.1;
/* unless it is rounding of the coordinates: relative to these with the matrix at hand, and with a new one,
 * which a high condition number spoils. */
static const double noise = 1e-15, stagnation = 1e-12;
/* Rows and directors that are off by more than this are put right by lw_director_rebuild. That changes the
 * energy by as much and always with the same sign, so it is not done in every step. */
static const double displaced = 1e-13;

int lw_director_state_size(const lw_director *d) { return 24 * d->n + d->angle_count; }

void lw_director_forget(lw_director *d) {
    for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = 0;
    for (int k = 0; k < 12 * d->n; k++) d->step.q_end[12 + k] = d->step.v_end[12 + k] = NAN;
    d->choice.rank = -1, d->choice.age = 0;
    d->history.count = 0;
    d->progress.forgotten = true;
    if (d->recursive) lw_director_recursive_forget(d);
}

void lw_director_load(lw_director *d, const double *y) {
    lw_director_step *s = &d->step;
    size_t n = 12 * (size_t)d->n;
    memcpy(s->angles, y + 2 * n, (size_t)d->angle_count * sizeof *y);
    if (memcmp(s->q_end + 12, y, n * sizeof *y) == 0 && memcmp(s->v_end + 12, y + n, n * sizeof *y) == 0) {
        double *q = s->q0, *v = s->v0; /* The step continues from the end of the last one. */
        s->q0 = s->q_end, s->q_end = q;
        s->v0 = s->v_end, s->v_end = v;
        return;
    }
    memcpy(s->q0 + 12, y, n * sizeof *y);
    memcpy(s->v0 + 12, y + n, n * sizeof *y);
    memset(s->low_q + 12, 0, n * sizeof *y);
    memset(s->low_v + 12, 0, n * sizeof *y);
}

double lw_director_norm(const lw_director *d, const double *x) {
    double sum = 0;
    for (int i = 1; i <= d->n; i++)
        for (int k = 0; k < 4; k++) {
            const double *part = x + 12 * i + 3 * k;
            sum += d->weight[4 * i + k] * lw_v3_dot(part, part);
        }
    return sqrt(sum);
}

/* --- one attempt ---------------------------------------------------------------------------------- */

/* Newton's iteration with the solver at work. The matrix of the first iteration serves for the others as long
 * as increments fall fast; these are cheap. The next increment is expected to fall as the last one did, but
 * not faster than the error of the matrix allows, which is about the increment that was made with it over the
 * step. new_matrix: accept should evaluate the matrix anew. */
static bool iterate(lw_director *d, bool new_pivots, bool *new_matrix) {
    lw_director_progress *p = &d->progress;
    double before = HUGE_VAL, error = 0, size, step, last = d->solver->last_increment(d);
    lw_director_matrix_use use = new_pivots ? LW_DIRECTOR_NEW_PIVOTS : LW_DIRECTOR_NEW_MATRIX;
    *new_matrix = false;
    for (p->iterations = 1; p->iterations <= ITERATIONS; p->iterations++) {
        bool renewed = use != LW_DIRECTOR_SAME_MATRIX;
        if (!d->solver->increment(d, use, &size, &step)) return false;
        p->newton++, p->factored += renewed;
        if (renewed) error = size / step;
        double rate = fmax(size / before, error);
        if (size <= rounding * step || size * rate <= next_one * step) return true;
        if (size * rate <= last * step) {
            *new_matrix = size * rate * rate > next_one * step;
            return true;
        }
        if (size > slow * before && size <= (renewed ? stagnation : noise) * lw_director_norm(d, d->step.q0))
            return true;
        use = size > slow * before || size > far * step ? LW_DIRECTOR_NEW_MATRIX : LW_DIRECTOR_SAME_MATRIX;
        before = size;
    }
    return false;
}

/* Looks for the step with one solver. If there is none, the multipliers are no good start for another try. */
static bool solve(lw_director *d, const lw_director_solver *solver, bool new_pivots) {
    bool new_matrix;
    d->progress.broken = NULL;
    solver->start(d);
    if (iterate(d, new_pivots, &new_matrix) && solver->accept(d, new_matrix)) return true;
    for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = 0;
    return false;
}

/* Looks for a step of length h from the state that was loaded. */
static bool attempt(lw_director *d, double t, double h) {
    d->step.t0 = t, d->step.h = h;
    lw_signals(d->model, d->data, t + 0.5 * h);
    int loop_rows = d->row_count - d->first_loop_row;
    bool cheap = (long)loop_rows * d->model->nv <= 2000;
    if (loop_rows && (cheap || d->choice.age++ % CHOICE_EVERY == 0))
        lw_director_choose(d, d->choice.rank < 0);
    if (d->recursive && solve(d, &lw_director_by_recursion, false)) return true;
    const bool new_pivots = d->progress.forgotten;
    d->progress.forgotten = false;
    if (solve(d, &lw_director_by_matrix, new_pivots) || solve(d, &lw_director_by_matrix, true)) return true;
    return loop_rows && lw_director_choose(d, true) && solve(d, &lw_director_by_matrix, true);
}

/* --- the end of a step as a state ----------------------------------------------------------------- */

bool lw_director_rows_are_off(const lw_director *d) {
    for (int k = 0; k < d->first_loop_row; k++)
        if (fabs(d->rows[k].value) > displaced * (d->rows[k].length ? d->length : 1)) return true;
    return false;
}

bool lw_director_directors_are_off(const lw_director *d, int body) {
    const double *q = d->step.q1 + 12 * body;
    for (int k = 3; k < 12; k += 3) {
        const double *a = q + k, *b = q + (k < 9 ? k + 3 : 3);
        if (fabs(lw_v3_dot(a, a) - 1) > displaced || fabs(lw_v3_dot(a, b)) > displaced) return true;
    }
    return false;
}

/* q1 = q0 + change, and what rounding removes from the sum. */
static void store_places(lw_director_step *s, int i, double *q) {
    for (int k = 12 * i; k < 12 * i + 12; k++) {
        double small = s->rest[k] + s->low_q[k], change = s->change[k] + small, sum = s->q0[k] + change,
               back = sum - s->q0[k];
        s->low_q[k] = ((s->q0[k] - (sum - back)) + (change - back)) + (small - (change - s->change[k]));
        s->q_end[k] = q[k - 12] = sum;
    }
}

/* v1 = 2 (q1 - q0) / h - v0, and the remainder that rounding removes. Without this remainder the rates would
 * drift in the course of many steps. */
static void store_rates(lw_director_step *s, int i, double *v) {
    double factor = 2 / s->h;
    for (int k = 12 * i; k < 12 * i + 12; k++) {
        double product = factor * s->change[k], rate = product - s->v0[k], back = rate - product;
        double lost = fma(factor, s->change[k], -product) + ((product - (rate - back)) - (s->v0[k] + back));
        lost += factor * s->rest[k] - s->low_v[k];
        s->v_end[k] = v[k - 12] = rate + lost;
        s->low_v[k] = lost - (s->v_end[k] - rate);
    }
}

void lw_director_store_body(lw_director *d, int body, double *y) {
    store_places(&d->step, body, y);
    store_rates(&d->step, body, y + 12 * (size_t)d->n);
}

static void store(lw_director *d, double *y, lw_power *work) {
    size_t n = 12 * (size_t)d->n;
    if (d->solver->store(d, y)) {
        lw_director_rebuild(d);
        memcpy(y, d->step.q1 + 12, n * sizeof *y);
        memcpy(d->step.q_end + 12, y, n * sizeof *y);
        memset(d->step.low_q + 12, 0, n * sizeof *y);
    }
    work->drives += d->step.work.drives;
    work->forces += d->step.work.forces;
    work->dissipation += d->step.work.dissipation;
}

/* --- the step ------------------------------------------------------------------------------------- */

/* The rotation of body i in a time h at the rate of the begin. */
static void rotation_in(const lw_director *d, int i, double h, double turn[3]) {
    double w[3] = {0, 0, 0};
    for (int k = 12 * i + 3; k < 12 * i + 12 && i > 0; k += 3)
        lw_v3_add_cross(d->step.q0 + k, d->step.v0 + k, w);
    for (int k = 0; k < 3; k++) turn[k] = 0.5 * h * w[k];
}

/* Directors cannot tell a rotation by more than half a turn in a step from a smaller one. Returns the first
 * body that turns by so much, by itself or against its parent (joint), or 0. */
static int aliased_body(const lw_director *d, double h, double *turn, bool *joint) {
    for (int i = 1; i <= d->n; i++) {
        double own[3], parent[3], relative[3];
        rotation_in(d, i, h, own);
        rotation_in(d, d->model->links[i].parent, h, parent);
        lw_v3_sub(own, parent, relative);
        double alone = lw_v3_norm(own), against = lw_v3_norm(relative);
        *joint = alone <= LW_PI;
        *turn = *joint ? against : alone;
        if (*turn > LW_PI) return i;
    }
    return 0;
}

static void describe(const lw_director *d, const lw_director_row *row, char *text, size_t size) {
    const lw_row plain = {.kind = row->kind == LW_DIRECTOR_PRESCRIBED ? LW_ROW_PRESCRIBED : LW_ROW_TREE,
                          .joint = row->joint,
                          .constraint = row->constraint,
                          .component = row->component};
    if (row->kind == LW_DIRECTOR_RIGID)
        snprintf(text, size, "the directors of a body");
    else
        lw_row_describe(d->model, &plain, text, size);
}

static lw_status give_up(const lw_director *d, double t, double h, lw_error *error) {
    char what[160];
    const char *remedy =
        "give a smaller step, or look at what happens there: does the mechanism lock or jump?";
    if (!d->progress.broken)
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL, remedy,
                       "no step of the energy-momentum scheme was found from t = %.9g on, down to %.3g s", t,
                       h);
    describe(d, d->progress.broken, what, sizeof what);
    return lw_fail(error, LW_ERROR_INTEGRATION, NULL, remedy,
                   "steps from t = %.9g on leave the constraints, down to %.3g s: %s is violated by %.3g", t,
                   h, what, fabs(d->progress.broken->value));
}

static void tell_aliased(lw_director *d, double t, double h, int aliased, double turn, bool joint) {
    const lw_body *body = &d->model->bodies[aliased];
    d->progress.warned = true;
    lw_note(&d->options, t, "aliased",
            "%s \"%s\" turns by %.3g rad in a step of %.3g s: more than half a turn is seen as less; "
            "give a smaller step",
            joint ? "joint" : "body", joint ? d->model->joints[body->joint_index].name : body->name, turn, h);
}

lw_status lw_director_take_step(lw_director *d, double t, double h, const double *y, double *next,
                                lw_power *work, lw_error *error) {
    *work = (lw_power){0, 0, 0};
    int level = 0, deepest = 0, parts = 0; /* The present part has the length h / 2^level ... */
    long at = 0;                           /* and begins at t + at h / 2^level. */
    double turn;
    bool joint;
    lw_director_load(d, y);
    int aliased = d->progress.warned ? 0 : aliased_body(d, h, &turn, &joint);
    while (at < 1L << level) {
        double part = ldexp(h, -level), from = t + (double)at * part;
        /* The first part begins at y, which is loaded: an attempt that fails leaves it unchanged. */
        if (parts > 0) lw_director_load(d, next);
        if (attempt(d, from, part)) {
            store(d, next, work);
            parts++, at++;
            while (level > 0 && at % 2 == 0) at /= 2, level--;
            continue;
        }
        if (level == HALVINGS) return give_up(d, from, part, error);
        at *= 2, level++;
        if (level > deepest) deepest = level;
    }
    if (aliased) tell_aliased(d, t, h, aliased, turn, joint);
    /* Samples within a step are steps from the same begin: the user is told once. */
    if (deepest > 0 && t != d->progress.halved_at) {
        d->progress.halved_at = t;
        lw_note(&d->options, t, "halved", "a step of %.3g s was halved %d %s, and taken in %d parts", h,
                deepest, deepest == 1 ? "time" : "times", parts);
    }
    return LW_OK;
}
