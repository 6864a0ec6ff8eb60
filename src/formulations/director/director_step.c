/* director_step.c - one step of the energy-momentum scheme: start, Newton's iteration, checks, halving.
 *
 * A step starts from the twists at its begin: a body that turns at a constant rate w satisfies the scheme
 * with the rotation of Cayley vector h w, so that is where Newton starts, also for rotations that are no
 * longer small. It has found the solution when the last increment is so small against the step that the next
 * would be rounding. Then every row is looked at, also those without a multiplier: a step that violates one
 * has left the manifold and is not accepted. What fails is tried with new pivots, with another choice of
 * rows, and then in halves. What rounding leaves of the equations and of the state is kept beside the numbers
 * it does not fit into (docs/theory/director.md, 6: Rounding).
 *
 * Source   Betsch and Leyendecker (2006), eqs 10-15.
 * Cost     trees by sweeps, linear (director_recursive_newton.c); others as a rule one sparse factorisation.
 *          No allocation but for new pivots.
 */
#include "formulations/director/director_parts.h"
#include "model/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITERATIONS = 14, HALVINGS = 12, CHOICE_EVERY = 20, ROWS_EVERY = 64 };

/* Of the step: the next increment, if it is expected to be smaller than this, is not worth having. Far below
 * rounding, since what is left has the same sign in step after step and adds up. */
static const double next_one = 1e-18;
/* After the last way inwards one more increment is had by the same matrix (sweep_rest). It may be this large:
 * it is added to changes as a linear one, and work that was booked before does not see it. */
static const double last_one[2] = {1e-9, 1e-14};
static const double rounding = 2e-16; /* of the step: smaller increments tell nothing */
static const double near =
    0.01; /* of the step: increments beyond this are far from the solution, each with its own matrix */
static const double slow = 0.1; /* increments that shrink by less want a new matrix, ... */
/* ... or are rounding, of places, and with a new matrix times condition. */
static const double noise = 1e-15, stagnation = 1e-12;
static const double violation = 1e-9; /* of a row, over the mechanism's length */

int lw_director_state_size(const lw_director *d) { return 24 * d->n + d->angle_count; }

void lw_director_load(lw_director *d, const double *y) {
    size_t n = 12 * (size_t)d->n;
    memcpy(d->angles, y + 2 * n, (size_t)d->angle_count * sizeof *y);
    if (memcmp(d->q_end + 12, y, n * sizeof *y) == 0 && memcmp(d->v_end + 12, y + n, n * sizeof *y) == 0) {
        double *q = d->q0, *v = d->v0; /* on from the end of the last step */
        d->q0 = d->q_end, d->q_end = q;
        d->v0 = d->v_end, d->v_end = v;
        return;
    }
    memcpy(d->q0 + 12, y, n * sizeof *y);
    memcpy(d->v0 + 12, y + n, n * sizeof *y);
    memset(d->low_q + 12, 0, n * sizeof *y);
    memset(d->low + 12, 0, n * sizeof *y);
}

/* Size of increments of the bodies in the mass metric, and of the places themselves. */
static double size_of(const lw_director *d, const double *x) {
    double sum = 0;
    for (int i = 1; i <= d->n; i++)
        for (int k = 0; k < 4; k++) {
            const double *part = x + 12 * i + 3 * k;
            sum += d->weight[4 * i + k] * lw_v3_dot(part, part);
        }
    return sqrt(sum);
}

static double size_of_increments(const lw_director *d, const double *delta) {
    double sum = 0;
    for (int i = 1; i <= d->n; i++) {
        const double *own = delta + d->size * (i - 1), *weight = d->weight + 4 * i;
        if (d->full) {
            for (int k = 0; k < 4; k++) sum += weight[k] * lw_v3_dot(own + 3 * k, own + 3 * k);
            continue;
        }
        sum += weight[0] * lw_v3_dot(own, own);
        for (int k = 1; k < 4; k++) {
            double part[3];
            lw_v3_cross(own + 3, d->q1 + 12 * i + 3 * k, part);
            sum += weight[k] * lw_v3_dot(part, part);
        }
    }
    return sqrt(sum);
}

static void advance(lw_director *d) {
    const double *delta = d->right;
    if (!d->full) {
        lw_director_advance(d, delta);
    } else {
        for (int k = 0; k < 12 * d->n; k++) {
            d->change[12 + k] += delta[k];
            d->q1[12 + k] = d->q0[12 + k] + d->change[12 + k];
            d->qm[12 + k] = d->q0[12 + k] + 0.5 * d->change[12 + k];
        }
    }
    for (int r = 0; r < d->row_count; r++)
        d->rows[r].lambda += d->right[lw_block_matrix_start(d->matrix, d->n + r)];
}

static bool is_finite(const lw_director *d) {
    double sum = 0;
    for (int k = 12; k < 12 * (d->n + 1); k++) sum += d->change[k];
    return isfinite(sum);
}

/* Newton's iteration from the start; d->right is used up. The matrix of the first iteration serves for the
 * others as long as increments fall fast, and these are cheap then. By how much they fall: as they did, but
 * not more than by the error of that matrix, which is about the increment that was made with it over the
 * step. */
static bool increment(lw_director *d, bool renew, bool anew, double *size, double *step) {
    if (d->swept) {
        if (!lw_director_sweep_in(d, renew, NULL)) return false;
        lw_director_sweep_out(d, size, step);
        return isfinite(*size) && isfinite(*step);
    }
    lw_director_equations(d, renew);
    if (renew && !lw_block_matrix_factor(d->matrix, anew)) return false;
    lw_block_matrix_solve(d->matrix, d->right);
    *size = size_of_increments(d, d->right);
    if (!isfinite(*size)) return false;
    advance(d);
    *step = size_of(d, d->change);
    return is_finite(d);
}

static bool iterate(lw_director *d, bool anew) {
    double before = HUGE_VAL, error = 0, size, step;
    bool renew = true;
    d->renew = false;
    double last = d->swept ? last_one[lw_director_sweep_books(d)] : 0;
    for (d->iterations = 1; d->iterations <= ITERATIONS; d->iterations++) {
        if (!increment(d, renew, anew && d->iterations == 1, &size, &step)) return false;
        d->newton++, d->factored += renew;
        if (renew) error = size / step;
        double rate = fmax(size / before, error);
        if (size <= rounding * step || size * rate <= next_one * step) return true;
        if (size * rate <= last * step) { /* with the matrix at hand, or a new one */
            d->renew = size * rate * rate > next_one * step;
            return true;
        }
        if (size > slow * before && size <= (renew ? stagnation : noise) * size_of(d, d->q0)) return true;
        renew = size > slow * before || size > near * step;
        before = size;
    }
    return false;
}

/* The row that the step violates most, if one too much. */
static const lw_director_row *check_rows(const lw_director *d) {
    const lw_director_row *worst = NULL;
    double most = violation;
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        double size = fabs(row->value) / (row->length ? d->length : 1);
        if (!(size <= most)) worst = row, most = size;
    }
    return worst;
}

/* Where a body turns by half a turn its directors in the middle lose their span, P_int its rank, and the
 * balance multiplied by P_int' has solutions that the balance itself has not. Their volume is the square of
 * the cosine of half the angle; that of a solution proper is 1 / (1 + (h w)^2 / 4). */
static bool middles_span(const lw_director *d) {
    for (int i = 1; i <= d->n; i++) {
        const double *m = d->qm + 12 * i + 3;
        double normal[3];
        lw_v3_cross(m, m + 3, normal);
        if (!(lw_v3_dot(normal, m + 6) > 1e-3)) return false;
    }
    return true;
}

static void begin(lw_director *d) {
    for (int k = 0; k < d->measure_count; k++) {
        lw_measure *m = &d->measures[k];
        m->from = lw_measure_value(m, d->q0, m->angle >= 0 ? d->angles[m->angle] : 0);
    }
    lw_director_aim_at(d);
    for (int k = 0; k < d->aim_count; k++) /* their vectors are those of the end: at the begin they hold */
        for (int i = 0; i < 3; i++) d->measures[d->aims[k].measure + i].from = 0;
    lw_director_start(d);
}

/* From the state loaded; true if the step is good. */
static bool attempt(lw_director *d, double t, double h) {
    d->t0 = t, d->h = h;
    int ties = d->row_count - d->tie;
    bool often = (long)ties * d->model->nv <= 2000;
    if (ties && (often || d->age++ % CHOICE_EVERY == 0)) lw_director_choose(d, d->tie_rank < 0);
    if (d->sweep) {
        d->swept = true;
        lw_director_sweep_start(d);
        if (iterate(d, false) && lw_director_sweep_in(d, d->renew, lw_director_reactions_room(d)))
            return true;
        for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = 0; /* not known */
    }
    d->swept = false;
    for (int round = 0; round < 3; round++) {
        if (round == 2 && (!ties || !lw_director_choose(d, true))) return false;
        begin(d);
        d->broken = NULL;
        bool found = iterate(d, round > 0) && middles_span(d);
        if (found) {
            lw_director_equations(d, false);
            d->broken = check_rows(d);
            if (!d->broken) return true;
        }
        for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = 0; /* no good start any more */
    }
    return false;
}

void lw_director_warm_up(lw_director *d, const double *y) {
    lw_director_load(d, y);
    d->t0 = 0, d->h = 1e-3;
    lw_director_choose(d, true);
    begin(d);
    lw_director_equations(d, true);
    lw_block_matrix_factor(d->matrix, true);
    d->h = 0, d->tie_rank = -1; /* the first step chooses for itself */
}

/* Directors turned and places added up often enough are no longer where they belong. Putting them there costs
 * energy of the same size and always of the same sign, so it is done when it is time, not every step. */
static const double displaced = 1e-13;

static bool rows_are_off(const lw_director *d) {
    for (int k = 0; k < d->tie; k++)
        if (fabs(d->rows[k].value) > displaced * (d->rows[k].length ? d->length : 1)) return true;
    return false;
}

static bool directors_are_off(const double *q) {
    for (int k = 3; k < 12; k += 3) {
        const double *a = q + k, *b = q + (k < 9 ? k + 3 : 3);
        if (fabs(lw_v3_dot(a, a) - 1) > displaced || fabs(lw_v3_dot(a, b)) > displaced) return true;
    }
    return false;
}

/* Rows of trees that sweeps have solved are looked at from time to time: they hold to more digits than places
 * have. */
static bool swept_rows_are_off(lw_director *d) {
    if (d->age++ % ROWS_EVERY != 0) return false;
    for (int k = 0; k < d->measure_count; k++)
        d->measures[k].to = lw_measure_value(&d->measures[k], d->q1, 0);
    lw_director_row_values(d);
    return rows_are_off(d);
}

/* What a row changes by in the step, D (q1 - q0): its multiplier does no work if that is nothing. */
static double change_of_row(const lw_director *d, const lw_director_row *row) {
    long double sum = 0;
    for (int t = row->term; t < row->term + row->terms; t++) {
        const lw_measure *m = &d->measures[d->terms[t].measure];
        for (int side = 0; side < 2; side++)
            for (int k = 0, at = 12 * m->bodies[side]; k < 12; k++)
                sum += d->terms[t].factor * m->D[12 * side + k] *
                       (d->change[at + k] + (long double)d->rest[at + k]);
    }
    return (double)sum;
}

/* What rounding has left of the equations is one more increment of Newton's, too small for the numbers that
 * describe the step: it is kept beside them. Left alone it would add up, each time in the same sense. */
static void find_rest(lw_director *d) {
    for (int r = 0; r < d->row_count && !d->full; r++) {
        const lw_director_row *row = &d->rows[r];
        bool off = fabs(row->value) > 1e-14 * (row->length ? d->length : 1);
        if (row->dropped || row->kind == LW_DIRECTOR_PRESCRIBED || (off && r >= d->tie)) continue;
        d->right[lw_block_matrix_start(d->matrix, d->n + r)] = -change_of_row(d, row);
    }
    lw_block_matrix_solve(d->matrix, d->right);
    for (int i = 1; i <= d->n; i++) {
        const double *own = d->right + d->size * (i - 1);
        double *rest = d->rest + 12 * i;
        if (d->full) {
            memcpy(rest, own, 12 * sizeof *rest);
            continue;
        }
        lw_v3_add(rest, own, rest);
        for (int k = 3; k < 12; k += 3) lw_v3_add_cross(own + 3, d->q1 + 12 * i + k, rest + k);
    }
    for (int r = 0; r < d->row_count; r++)
        d->rows[r].lambda += d->right[lw_block_matrix_start(d->matrix, d->n + r)];
}

/* q1 = q0 + change of a body with what rounding cuts off. */
static void store_places(lw_director *d, int i, double *q) {
    for (int k = 12 * i; k < 12 * i + 12; k++) {
        double small = d->rest[k] + d->low_q[k], change = d->change[k] + small, sum = d->q0[k] + change,
               back = sum - d->q0[k];
        d->low_q[k] = ((d->q0[k] - (sum - back)) + (change - back)) + (small - (change - d->change[k]));
        d->q_end[k] = q[k - 12] = sum;
    }
}

/* v1 = 2 (q1 - q0) / h - v0 with what rounding cuts off, which goes on with the next step: rates would wander
 * by it, and not quite without direction. */
static void store_rates(lw_director *d, int i, double *v) {
    double factor = 2 / d->h;
    for (int k = 12 * i; k < 12 * i + 12; k++) {
        double product = factor * d->change[k], rate = product - d->v0[k], back = rate - product;
        double lost = fma(factor, d->change[k], -product) + ((product - (rate - back)) - (d->v0[k] + back));
        lost += factor * d->rest[k] - d->low[k];
        d->v_end[k] = v[k - 12] = rate + lost;
        d->low[k] = lost - (d->v_end[k] - rate);
    }
}

static void rebuild(lw_director *d, double *y) {
    size_t n = 12 * (size_t)d->n;
    for (int k = 0; k < d->measure_count && d->swept; k++) {
        lw_measure *m = &d->measures[k];
        m->to = lw_measure_value(m, d->q1, m->angle >= 0 ? y[2 * n + (size_t)m->angle] : 0);
    }
    lw_director_rebuild(d);
    memcpy(y, d->q1 + 12, n * sizeof *y);
    memcpy(d->q_end + 12, y, n * sizeof *y);
    memset(d->low_q + 12, 0, n * sizeof *y);
}

static void book_drives(lw_director *d) {
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        if (row->kind != LW_DIRECTOR_PRESCRIBED) continue;
        const lw_measure *m = &d->measures[d->terms[row->term].measure];
        d->work.drives -= row->lambda * lw_measure_along(m->D, m->bodies, d->change);
    }
}

/* The end of the step as a state, and what its drives did. */
static void store(lw_director *d, double *y, lw_power *work) {
    size_t n = 12 * (size_t)d->n;
    bool off = false;
    if (!d->swept) {
        find_rest(d);
        lw_director_keep_reactions(d);
        for (int k = 0; k < d->angle_count; k++) y[2 * n + (size_t)k] = d->measures[d->angle_measure[k]].to;
        book_drives(d);
    }
    for (int i = 1; i <= d->n; i++) {
        if (d->swept) lw_director_sweep_rest(d, i, y + 2 * n);
        store_places(d, i, y);
        store_rates(d, i, y + n);
        off = off || directors_are_off(d->q1 + 12 * i);
    }
    if (!d->full && (off || (d->swept ? swept_rows_are_off(d) : rows_are_off(d)))) rebuild(d, y);
    work->drives += d->work.drives;
    work->forces += d->work.forces;
    work->dissipation += d->work.dissipation;
}

static void rotation_in(const lw_director *d, int i, double h, double turn[3]) {
    double w[3] = {0, 0, 0};
    for (int k = 3; k < 12 && i > 0; k += 3) lw_v3_add_cross(d->q0 + 12 * i + k, d->v0 + 12 * i + k, w);
    for (int k = 0; k < 3; k++) turn[k] = 0.5 * h * w[k];
}

/* Directors cannot tell rotations by more than half a turn in a step from others: the first body that turns
 * by so much, or against its parent, in which case it is its joint. */
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
    if (!d->broken)
        return lw_fail(error, LW_ERROR_INTEGRATION, NULL, remedy,
                       "no step of the energy-momentum scheme was found from t = %.9g on, down to %.3g s", t,
                       h);
    describe(d, d->broken, what, sizeof what);
    return lw_fail(error, LW_ERROR_INTEGRATION, NULL, remedy,
                   "steps from t = %.9g on leave the constraints, down to %.3g s: %s is violated by %.3g", t,
                   h, what, fabs(d->broken->value));
}

lw_status lw_director_step(lw_director *d, const lw_method_options *options, double t, double h,
                           const double *y, double *next, lw_power *work, lw_error *error) {
    *work = (lw_power){0, 0, 0};
    int level = 0, deepest = 0, parts = 0;
    long at = 0; /* of 2^level */
    double turn;
    bool joint;
    lw_director_load(d, y);
    int aliased = d->warned ? 0 : aliased_body(d, h, &turn, &joint);
    while (at < 1L << level) {
        double part = ldexp(h, -level), from = t + (double)at * part;
        if (parts > 0) lw_director_load(d, next); /* else it is there: what fails leaves it as it was */
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
    if (aliased) {
        d->warned = true;
        const lw_body *body = &d->model->bodies[aliased];
        lw_note(options, t, "aliased",
                "%s \"%s\" turns by %.3g rad in a step of %.3g s: more than half a turn is seen as less; "
                "give a smaller step",
                joint ? "joint" : "body", joint ? d->model->joints[body->joint_index].name : body->name, turn,
                h);
    }
    if (deepest > 0 && t != d->halved_at) { /* states between begin and end of a step begin there too */
        d->halved_at = t;
        lw_note(options, t, "halved", "a step of %.3g s was halved %d %s, and taken in %d parts", h, deepest,
                deepest == 1 ? "time" : "times", parts);
    }
    return LW_OK;
}

bool lw_director_last_matrix(lw_director *d) {
    if (d->swept) { /* the matrix wants multipliers, and sweeps have none: one increment tells them */
        for (int k = 0; k < d->measure_count; k++) {
            lw_measure *m = &d->measures[k];
            m->from = lw_measure_value(m, d->q0, m->angle >= 0 ? d->angles[m->angle] : 0);
        }
        lw_director_equations(d, true);
        if (!lw_block_matrix_factor(d->matrix, false)) return false;
        lw_block_matrix_solve(d->matrix, d->right);
        for (int r = 0; r < d->row_count; r++)
            d->rows[r].lambda += d->right[lw_block_matrix_start(d->matrix, d->n + r)];
    }
    lw_director_equations(d, true);
    return true;
}

double lw_director_condition(lw_director *d) {
    return lw_director_last_matrix(d) && lw_block_matrix_factor(d->matrix, false)
               ? lw_block_matrix_condition(d->matrix)
               : HUGE_VAL;
}
