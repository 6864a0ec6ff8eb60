/* frequency.c - the frequency response of a linear system.
 *
 *   G = C X + D,   (i w - A) X = B                                                                       (1)
 *
 * A is balanced and brought to Hessenberg form once; each frequency is one elimination (2). Frequencies stand
 * at equal distances in decades, and beside eigenvalues a + b i with little damping at b + k |a| (3).
 *
 * Source   docs/theory/frequency.md, with the equation numbers above; linalg/hessenberg_lapack.c.
 * Cost     O(states^3), then O(states^2 (1 + inputs) + states inputs outputs) for each frequency. Allocates.
 */
#include "core/core.h"
#include "linalg/hessenberg.h"
#include <linkwork/frequency.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_DECADE = 50, MOST = 1000000 };
static const double pi = 3.14159265358979323846;
/* Multiples of the half width of a peak at which the response is looked at. */
static const double beside[] = {-8, -4, -2, -1, -0.5, 0, 0.5, 1, 2, 4, 8};
enum { BESIDE = sizeof beside / sizeof *beside };
static const double light = 0.1; /* Damping ratios below this have peaks that a grid of decades may miss. */

typedef struct answer {
    lw_frequency_response response; /* first, so that a response is one of these */
    lw_arena *arena;
    int *input, *output; /* of the system */
    double *frequency, *G, *magnitude, *phase;
} answer;

void lw_frequency_defaults(lw_frequency_options *options) {
    if (options) *options = (lw_frequency_options){0};
}

static lw_status find_names(lw_arena *arena, const char *what, int all, const char *const *names, int count,
                            const char *const *wanted, int **found, const char *const **chosen, int *number,
                            lw_error *error) {
    *number = wanted ? count : all;
    *found = LW_NEW(arena, int, *number + 1);
    const char **texts = LW_NEW(arena, const char *, *number + 1);
    if (!*found || !texts) return lw_out_of_memory(error);
    for (int k = 0; k < *number; k++) {
        int at = wanted ? -1 : k;
        for (int i = 0; wanted && wanted[k] && i < all; i++)
            if (strcmp(names[i], wanted[k]) == 0) at = i;
        if (at < 0) {
            char remedy[256] = "name one of those that linkwork linearise lists";
            lw_closest_search near = lw_closest_to(wanted[k] ? wanted[k] : "");
            for (int i = 0; i < all; i++) lw_closest_try(&near, names[i]);
            lw_did_you_mean(near.name, remedy, sizeof remedy);
            return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "\"%s\" is no %s of the linear system",
                           wanted[k] ? wanted[k] : "", what);
        }
        (*found)[k] = at;
        texts[k] = lw_arena_text(arena, names[at]);
        if (!texts[k]) return lw_out_of_memory(error);
    }
    *chosen = texts;
    return LW_OK;
}

/* A decade beyond the eigenvalues that are not zero: those of rigid motions are zero to the square root of
 * rounding. */
static void choose_range(const lw_linear_system *s, double *from, double *to) {
    double most = 0, least = HUGE_VAL, largest = 0;
    for (int k = 0; k < s->states; k++)
        most = fmax(most, hypot(s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1]));
    for (int k = 0; k < s->states; k++) {
        const double size = hypot(s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1]) / (2 * pi);
        if (size * 2 * pi > 1e-6 * most) least = fmin(least, size), largest = fmax(largest, size);
    }
    if (!(largest > 0)) least = largest = 1;
    if (!(*from > 0)) *from = fmin(least / 10, *to > 0 ? *to / 100 : HUGE_VAL);
    if (!(*to > 0)) *to = fmax(10 * largest, 100 * *from);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static lw_status choose_frequencies(answer *a, const lw_linear_system *s, const lw_frequency_options *o,
                                    lw_error *error) {
    double from = o->from, to = o->to;
    choose_range(s, &from, &to);
    if (!(from > 0 && to >= from) || !isfinite(to) || !isfinite(from))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give two frequencies in Hz, the lower one first",
                       "frequencies from %g to %g Hz cannot be taken", from, to);
    const double decades = log10(to / from);
    const int points = o->points > 0 ? o->points : 1 + (int)ceil(PER_DECADE * decades);
    if (points > MOST || o->points < 0)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give fewer points", "%d frequencies are asked for",
                       points);
    const size_t room = (size_t)points + (o->exactly ? 0 : BESIDE * (size_t)s->states) + 1;
    double *f = LW_NEW(a->arena, double, room);
    if (!f) return lw_out_of_memory(error);
    int count = 0;
    for (int k = 0; k < points; k++) /* The ends are exact. */
        f[count++] = k == 0 ? from : k + 1 == points ? to : from * pow(10, decades * k / (points - 1));
    for (int k = 0; k < s->states && !o->exactly; k++) {
        const double re = s->eigenvalues[2 * k], im = s->eigenvalues[2 * k + 1];
        if (!(im > 0) || fabs(re) > light * im) continue;
        const double width = fmax(fabs(re), 1e-6 * im);
        for (int j = 0; j < BESIDE; j++) { /* Not the pole itself where nothing damps it. */
            const double at = (im + beside[j] * width) / (2 * pi);
            if (at > from && at < to && (beside[j] != 0 || fabs(re) > 1e-9 * im)) f[count++] = at;
        }
    }
    qsort(f, (size_t)count, sizeof *f, ascending);
    int kept = 0;
    for (int k = 0; k < count; k++)
        if (kept == 0 || f[k] > f[kept - 1] * (1 + 1e-12)) f[kept++] = f[k];
    a->frequency = f, a->response.count = kept;
    return LW_OK;
}

/* Phases are continued from the frequency before by whole turns. */
static void write_polar(answer *a, int i) {
    const int pairs = a->response.inputs * a->response.outputs;
    for (int p = 0; p < pairs; p++) {
        const size_t at = (size_t)i * (size_t)pairs + (size_t)p;
        const double re = a->G[2 * at], im = a->G[2 * at + 1];
        a->magnitude[at] = hypot(re, im);
        if (!isfinite(a->magnitude[at])) a->magnitude[at] = INFINITY;
        a->phase[at] = isfinite(a->magnitude[at]) ? atan2(im, re) : NAN;
        double before = NAN;
        for (int k = i - 1; k >= 0 && isnan(before); k--)
            before = a->phase[(size_t)k * (size_t)pairs + (size_t)p];
        if (isfinite(before) && isfinite(a->phase[at]))
            a->phase[at] += 2 * pi * round((before - a->phase[at]) / (2 * pi));
    }
}

static lw_status respond(answer *a, const lw_linear_system *s, lw_error *error) {
    const int n = s->states, inputs = a->response.inputs, outputs = a->response.outputs;
    const size_t size = (size_t)n, all = (size_t)a->response.count * (size_t)inputs * (size_t)outputs;
    double *A = LW_NEW(a->arena, double, size *size + 1),
           *B = LW_NEW(a->arena, double, size *(size_t)inputs + 1),
           *C = LW_NEW(a->arena, double, size *(size_t)outputs + 1),
           *X = LW_NEW(a->arena, double, 2 * size * (size_t)inputs + 1),
           *work = LW_NEW(a->arena, double, 2 * size * (size + 1) + 1);
    a->G = LW_NEW(a->arena, double, 2 * all + 1);
    a->magnitude = LW_NEW(a->arena, double, all + 1), a->phase = LW_NEW(a->arena, double, all + 1);
    if (lw_arena_failed(a->arena)) return lw_out_of_memory(error);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) A[i + j * n] = s->A[(size_t)i * size + (size_t)j];
        for (int j = 0; j < inputs; j++) B[i + j * n] = s->B[i * s->inputs + a->input[j]];
        for (int j = 0; j < outputs; j++) C[j + i * outputs] = s->C[(size_t)a->output[j] * size + (size_t)i];
    }
    if (!lw_hessenberg_reduce(n, A, inputs, B, outputs, C)) return lw_out_of_memory(error);
    for (int f = 0; f < a->response.count; f++) {
        double *G = a->G + 2 * (size_t)f * (size_t)(inputs * outputs);
        const bool regular = lw_hessenberg_solve(n, A, 2 * pi * a->frequency[f], inputs, B, X, work) > 1e-15;
        for (int o = 0; o < outputs; o++)
            for (int i = 0; i < inputs; i++, G += 2) {
                G[0] = s->D[a->output[o] * s->inputs + a->input[i]], G[1] = 0;
                for (int k = 0; k < n; k++) {
                    G[0] += C[o + k * outputs] * X[2 * (k + i * n)];
                    G[1] += C[o + k * outputs] * X[2 * (k + i * n) + 1];
                }
                if (!regular) G[0] = G[1] = INFINITY;
            }
        write_polar(a, f);
    }
    return LW_OK;
}

lw_status lw_frequency_find(const lw_linear_system *s, const lw_frequency_options *options,
                            lw_frequency_response **response, lw_error *error) {
    if (response) *response = NULL;
    if (!s || !options || !response || options->input_count < 0 || options->output_count < 0)
        return lw_call_needs("a linear system, options and a pointer for the result", error);
    if (s->inputs == 0)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "declare what excites it, e.g. `inputs: {push: 0}`, and use it in a force or drive",
                       "the model has no inputs, so that there is nothing to respond to");
    lw_arena *arena = lw_arena_create(NULL);
    answer *a = LW_NEW(arena, answer, 1);
    if (!a) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    a->arena = arena;
    lw_frequency_response *r = &a->response;
    lw_status status = find_names(arena, "input", s->inputs, s->input_names, options->input_count,
                                  options->inputs, &a->input, &r->input_names, &r->inputs, error);
    if (status == LW_OK)
        status = find_names(arena, "output", s->outputs, s->output_names, options->output_count,
                            options->outputs, &a->output, &r->output_names, &r->outputs, error);
    if (status == LW_OK) status = choose_frequencies(a, s, options, error);
    if (status == LW_OK) status = respond(a, s, error);
    if (status != LW_OK) {
        lw_arena_destroy(arena);
        return status;
    }
    r->frequency = a->frequency, r->G = a->G, r->magnitude = a->magnitude, r->phase = a->phase;
    *response = r;
    return LW_OK;
}

void lw_frequency_destroy(lw_frequency_response *response) {
    if (response) lw_arena_destroy(((answer *)response)->arena);
}
