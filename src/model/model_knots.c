/* model_knots.c - times at which forces and motions have a jump or kink that is known in advance.
 *
 * expression/time_knots.c finds the knots of one expression; here those of all motions and force elements are
 * collected, sorted and made distinct. The comparison that makes a knot is computed with rounding errors, so
 * that it may change at a time next to `at`; each knot is therefore the interval
 *
 *     before .. after = at -+ eps ((3 + rate) |at| + noise),
 *
 * where 3 units are for the knot's own rounding errors. Intervals that overlap are one knot: two switches so
 * close to one another cannot be told apart in double precision. Knots that recur (mod, floor, ceil) are kept
 * as at + k period; one whose period is not longer than four such intervals is left out from there on. Those
 * of a table that repeats have one period and lie within one; they are found by bisection.
 *
 * Cost     compiling: O(n log n) with n knots; lw_model_span: O(log n + different periods), no allocation.
 */
#include "model/model_knots.h"
#include "model/compile/compile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Smaller distances from t = 0 vanish in products. */
static const double least = 1e-290;

static lw_model_knot interval(const lw_knot *knot, double at) {
    const double width = fmax(least, DBL_EPSILON * ((3 + knot->rate) * fabs(at) + knot->noise));
    return (lw_model_knot){at - width, at, at + width};
}

/* --- compiling ------------------------------------------------------------------------------------ */

/* Counts knots and, if there is room for them, keeps them. */
typedef struct collection {
    lw_model_knot *knots;
    lw_knot *rhythms;
    int knot_count, rhythm_count;
} collection;

static void found(const lw_knot *knot, void *context) {
    collection *c = context;
    if (knot->period > 0) {
        if (c->rhythms) c->rhythms[c->rhythm_count] = *knot;
        c->rhythm_count++;
    } else {
        if (c->knots) c->knots[c->knot_count] = interval(knot, knot->at);
        c->knot_count++;
    }
}

static bool has(const lw_value_order *order, int entry) {
    for (int k = 0; order && k < order->count; k++)
        if (order->entries[k] == entry) return true;
    return false;
}

/* The knots of signals and defaults of inputs in one order and not in another. */
static void collect_values(const lw_model *model, const lw_value_order *order, const lw_value_order *other,
                           collection *c) {
    const int named = model->values.count - model->values.quantity_count;
    for (int k = 0; k < order->count; k++)
        if (order->entries[k] < named && !has(other, order->entries[k]))
            lw_function_knots(model->values.functions[order->entries[k]], 0, found, c);
}

static void collect(const lw_model *model, collection *c) {
    for (int k = 0; k < model->motion_count; k++)
        for (int i = 0; i < model->motions[k].count; i++)
            lw_function_motion_knots(model->motions[k].functions[i], 0, found, c);
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        if (force->law) lw_function_knots(force->law, 2, found, c);
        if (force->drive) lw_function_knots(force->drive, 0, found, c);
        for (int i = 0; i < 6; i++)
            if (force->components[i]) lw_function_knots(force->components[i], 0, found, c);
    }
    collect_values(model, &model->values.for_forces, NULL, c);
    collect_values(model, &model->values.for_rates, &model->values.for_forces, c);
    for (int k = 0; k < model->values.state_count; k++)
        lw_function_knots(model->values.functions[model->values.input_count + k], 0, found, c);
    /* A pulse that only an event waits for would otherwise be passed over. */
    collect_values(model, &model->values.for_events, &model->values.for_forces, c);
    for (int k = 0; k < model->event_count; k++) lw_function_knots(model->events[k].when, 0, found, c);
}

static int by_beginning(const void *x, const void *y) {
    const lw_model_knot *a = x, *b = y;
    return (a->before > b->before) - (a->before < b->before);
}

static int by_time(const void *x, const void *y) {
    const lw_knot *a = x, *b = y;
    if (a->period != b->period) return a->period > b->period ? 1 : -1;
    return (a->at > b->at) - (a->at < b->at);
}

/* The number of knots from this one on that have the same period and lie within one. */
static int same_rhythm(const lw_knot *knots, int count) {
    int same = 1;
    while (same < count && knots[same].period == knots->period && knots[same].at - knots->at < knots->period)
        same++;
    return same;
}

lw_status lw_compile_knots(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    collection counted = {0}, kept = {0};
    collect(model, &counted);
    if (counted.knot_count + counted.rhythm_count == 0) return LW_OK;
    kept.knots = LW_NEW(model->arena, lw_model_knot, counted.knot_count + 1);
    kept.rhythms = LW_NEW(model->arena, lw_knot, counted.rhythm_count + 1);
    if (lw_arena_failed(model->arena)) return LW_ERROR_MEMORY;
    collect(model, &kept);
    qsort(kept.knots, (size_t)kept.knot_count, sizeof *kept.knots, by_beginning);
    qsort(kept.rhythms, (size_t)kept.rhythm_count, sizeof *kept.rhythms, by_time);
    int count = 0;
    for (int k = 0; k < kept.knot_count; k++) {
        lw_model_knot *last = count > 0 ? &kept.knots[count - 1] : NULL;
        if (last && kept.knots[k].before <= last->after)
            last->after = fmax(last->after, kept.knots[k].after);
        else
            kept.knots[count++] = kept.knots[k];
    }
    model->knots = kept.knots;
    model->knot_count = count;
    count = 0;
    for (int k = 0; k < kept.rhythm_count; k++)
        if (count == 0 || by_time(&kept.rhythms[count - 1], &kept.rhythms[k]) != 0)
            kept.rhythms[count++] = kept.rhythms[k];
    model->rhythms = kept.rhythms;
    model->rhythm_count = count;
    model->rhythm_groups = LW_NEW(model->arena, int, count + 1);
    if (!model->rhythm_groups) return LW_ERROR_MEMORY;
    for (int k = 0, group = 0; k < count; k += model->rhythm_groups[group++])
        model->rhythm_groups[group] = same_rhythm(&model->rhythms[k], count - k);
    return LW_OK;
}

/* --- spans ---------------------------------------------------------------------------------------- */

/* The bounds by one knot: it lies behind t, or ahead. */
static void bound(lw_time_span *span, const lw_model_knot *knot, double t) {
    if (knot->before <= t) {
        span->after = fmax(span->after, knot->after);
    } else {
        span->before = fmin(span->before, knot->before);
        span->stop = fmin(span->stop, knot->at);
    }
}

static void bound_by_knots(lw_time_span *span, const lw_model *model, double t) {
    int low = 0, high = model->knot_count; /* The number of knots behind t is in low .. high. */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (model->knots[middle].before <= t)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0) bound(span, &model->knots[low - 1], t);
    if (low < model->knot_count) bound(span, &model->knots[low], t);
}

static void bound_by_rhythm(lw_time_span *span, const lw_knot *knot, double t) {
    const double turn = floor((t - knot->at) / knot->period);
    for (int k = -1; k <= 2; k++) {
        const lw_model_knot one = interval(knot, knot->at + (turn + k) * knot->period);
        if (one.after - one.before < 0.25 * knot->period) bound(span, &one, t);
    }
}

/* Knots of one period, ascending and within one period of the first: the last that is not later in its period
 * than t, and its neighbours on both sides. */
static void bound_by_rhythms(lw_time_span *span, const lw_knot *knots, int count, double t) {
    const double period = knots->period, phase = t - floor((t - knots->at) / period) * period;
    int low = 0, high = count; /* The number of knots up to this phase is in low .. high. */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (knots[middle].at <= phase)
            low = middle + 1;
        else
            high = middle;
    }
    for (int k = -2; k <= 1; k++) bound_by_rhythm(span, &knots[(low + k + 2 * count) % count], t);
}

lw_time_span lw_model_span(const lw_model *model, double t) {
    enum { MOST = 64, LEAST_GROUP = 4 };
    lw_time_span span;
    /* A knot that overlaps with one behind t lies behind it, too. */
    for (int round = 0; round < MOST; round++) {
        span = (lw_time_span){-HUGE_VAL, HUGE_VAL, HUGE_VAL};
        if (model->knot_count > 0) bound_by_knots(&span, model, t);
        for (int k = 0, group = 0; k < model->rhythm_count; k += model->rhythm_groups[group++])
            if (model->rhythm_groups[group] > LEAST_GROUP)
                bound_by_rhythms(&span, &model->rhythms[k], model->rhythm_groups[group], t);
            else
                for (int i = 0; i < model->rhythm_groups[group]; i++)
                    bound_by_rhythm(&span, &model->rhythms[k + i], t);
        if (!(span.after > t)) break;
        t = span.after;
        if (span.before > t) break;
    }
    return span;
}
