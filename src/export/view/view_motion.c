/* view_motion.c - a motion as JSON: times, poses and columns resampled by error, events, ledger, verdict.
 *
 * Poses of all bodies have common keys; every column has its own. Both are interpolated by the cubics of
 * resample.c, whose error at every sample of the run is below
 *
 *     motion_tolerance x size of the scene for positions, motion_tolerance rad for angles,
 *     column_tolerance x range of the column, or 1e-9 of the largest number of its unit where that is more.
 */
#include "export/view/resample.h"
#include "export/view/view_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double default_tolerance = 1e-4, rounding = 1.2e-7; /* of a float32, relative */

static void put_keys(lw_view_json *j, const size_t *keys, size_t kept, size_t count) {
    lw_view_integer(j, "n", (long)kept);
    if (kept == count) return; /* All samples are keys. */
    lw_view_base64 b;
    lw_view_base64_open(j, count <= 65535 ? "k" : "K", &b);
    for (size_t i = 0; i < kept; i++) {
        const uint16_t narrow = (uint16_t)keys[i];
        const uint32_t wide = (uint32_t)keys[i];
        if (count <= 65535)
            lw_view_base64_put(&b, &narrow, sizeof narrow);
        else
            lw_view_base64_put(&b, &wide, sizeof wide);
    }
    lw_view_base64_close(&b, true);
}

static bool put_poses(lw_view_json *j, const lw_animation *a, double tolerance, size_t *keys) {
    const size_t width = a->poses.width;
    double *tolerances = malloc((width + 1) * sizeof *tolerances), size = lw_view_size(a);
    if (!tolerances) return false;
    for (size_t k = 0; k < width; k++) {
        double most = 0;
        for (size_t i = 0; i < a->count; i++) most = fmax(most, fabs(a->poses.at[i * width + k]));
        tolerances[k] = (k % 7 < 3 ? tolerance * size : 0.5 * tolerance) + rounding * most;
    }
    size_t kept = lw_resample(a->times, a->count, a->poses.at, width, width, tolerances, keys);
    free(tolerances);
    if (kept == 0) return false;
    lw_view_open(j, "poses", '{');
    put_keys(j, keys, kept, a->count);
    lw_view_base64 b;
    lw_view_base64_open(j, "v", &b);
    for (size_t i = 0; i < kept; i++)
        for (size_t k = 0; k < width; k++) lw_view_base64_float(&b, a->poses.at[keys[i] * width + k]);
    lw_view_base64_close(&b, true);
    lw_view_close(j, '}');
    return true;
}

/* The largest magnitude among the columns of a unit. */
static double largest_of_unit(const lw_animation *a, const double *most, const char *unit) {
    double largest = 0;
    for (size_t c = 0; c < a->column_count; c++)
        if (strcmp(a->columns[c].unit, unit) == 0) largest = fmax(largest, most[c]);
    return largest;
}

static bool put_columns(lw_view_json *j, const lw_animation *a, double relative, size_t *keys) {
    const size_t width = a->values.width;
    double *most = calloc(2 * width + 1, sizeof *most), *range = most + width;
    if (!most) return false;
    for (size_t c = 0; c < width; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < a->count; i++) {
            double value = a->values.at[i * width + c];
            if (isfinite(value)) low = fmin(low, value), high = fmax(high, value);
        }
        if (high >= low) most[c] = fmax(fabs(low), fabs(high)), range[c] = high - low;
    }
    lw_view_open(j, "columns", '[');
    bool done = true;
    for (size_t c = 0; c < width && done; c++) {
        const lw_shown_column *column = &a->columns[c];
        double tolerance = relative * range[c] + rounding * most[c];
        if (!column->own_scale) tolerance = fmax(tolerance, 1e-9 * largest_of_unit(a, most, column->unit));
        size_t kept = lw_resample(a->times, a->count, a->values.at + c, 1, width, &tolerance, keys);
        done = kept > 0;
        lw_view_open(j, NULL, '{');
        lw_view_text(j, "name", column->name);
        lw_view_text(j, "unit", column->unit);
        put_keys(j, keys, kept, a->count);
        lw_view_base64 b;
        lw_view_base64_open(j, "v", &b);
        for (size_t i = 0; i < kept; i++) lw_view_base64_float(&b, a->values.at[keys[i] * width + c]);
        lw_view_base64_close(&b, true);
        lw_view_close(j, '}');
    }
    lw_view_close(j, ']');
    free(most);
    return done;
}

static void put_summary(lw_view_json *j, const lw_animation *a) {
    const lw_run_summary *s = &a->summary;
    if (!a->has_summary) return;
    lw_view_open(j, "summary", '{');
    lw_view_integer(j, "steps", s->steps);
    lw_view_integer(j, "rejected", s->rejected);
    lw_view_integer(j, "evaluations", s->evaluations);
    lw_view_number(j, "wall_s", s->wall_s);
    lw_view_number(j, "energy_initial", s->energy_initial);
    lw_view_number(j, "energy_final", s->energy_final);
    lw_view_number(j, "energy_max_drift", s->energy_max_drift);
    lw_view_number(j, "position_max", s->position_max);
    lw_view_number(j, "velocity_max", s->velocity_max);
    lw_view_number(j, "balance_max", s->balance_max);
    lw_view_bool(j, "ok", s->verdict.ok);
    lw_view_open(j, "reasons", '[');
    for (int k = 0; k < s->verdict.reason_count; k++) lw_view_text(j, NULL, s->verdict.reasons[k]);
    lw_view_close(j, ']');
    lw_view_close(j, '}');
}

lw_status lw_view_put_motion(lw_view_json *j, const char *key, const lw_animation *a,
                             const lw_view_options *options) {
    double motion = options && options->motion_tolerance > 0 ? options->motion_tolerance : default_tolerance;
    double column = options && options->column_tolerance > 0 ? options->column_tolerance : default_tolerance;
    size_t *keys = malloc((a->count + 1) * sizeof *keys);
    if (!keys) return LW_ERROR_MEMORY;
    lw_view_open(j, key, '{');
    lw_view_text(j, "source", a->source);
    lw_view_text(j, "method", a->method);
    lw_view_text(j, "integrator", a->integrator);
    lw_view_text(j, "failure", a->failure);
    lw_view_number(j, "motion_tolerance", motion);
    lw_view_number(j, "column_tolerance", column);
    put_summary(j, a);
    lw_view_open(j, "notes", '[');
    for (size_t k = 0; k < a->note_count; k++) lw_view_text(j, NULL, a->notes[k]);
    lw_view_close(j, ']');
    lw_view_open(j, "events", '[');
    for (size_t k = 0; k < a->event_count; k++) {
        lw_view_open(j, NULL, '{');
        lw_view_number(j, "t", a->events[k].t);
        lw_view_text(j, "kind", a->events[k].kind);
        if (a->events[k].name) lw_view_text(j, "name", a->events[k].name);
        lw_view_text(j, "text", a->events[k].text);
        lw_view_close(j, '}');
    }
    lw_view_close(j, ']');
    lw_view_base64 b;
    lw_view_base64_open(j, "times", &b);
    lw_view_base64_put(&b, a->times, a->count * sizeof *a->times);
    lw_view_base64_close(&b, true);
    bool done = put_poses(j, a, motion, keys) && put_columns(j, a, column, keys);
    lw_view_close(j, '}');
    free(keys);
    return done ? LW_OK : LW_ERROR_MEMORY;
}
