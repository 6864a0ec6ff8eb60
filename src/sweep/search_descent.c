/* search_descent.c - the least of a smooth function by quasi-Newton steps within the box (BFGS, projected).
 *
 * docs/theory/optimise.md, equations (8) to (11). Derivatives are differences, whose 2 n points are one
 * batch; steps of twelve lengths along the way are another. Coordinates at an edge that the gradient pushes
 * outwards stay there (Bertsekas 1982); the others follow from the Hessian's approximation B, which is
 * updated as Powell has it, so that it stays positive definite.
 *
 * Symbols   x point, f value, g gradient, B, n dimension.
 * Cost      2 n + 12 points an iteration, O(n^3) beside.
 * Limits    no constraints but the bounds; a function with noise ends it early.
 */
#include "sweep/search.h"

#include <math.h>
#include <string.h>

enum { LENGTHS = 12 };

typedef struct descent {
    lw_search_settings s;
    int n, wanted;
    enum { AT_START, AT_SLOPES, AT_LINE } at;
    double *x, *g, *B, *way, *points, *old_x, *old_g, *L;
    bool *held;
    double f, step; /* half the distance of a difference */
    int iteration, idle;
    bool fresh; /* B is the identity */
    const char *why;
} descent;

static void *create(lw_arena *arena, const lw_search_settings *settings) {
    descent *d = LW_NEW(arena, descent, 1);
    const int n = settings->dimension;
    if (!d) return NULL;
    d->s = *settings, d->n = n;
    d->x = LW_NEW(arena, double, n), d->g = LW_NEW(arena, double, n), d->way = LW_NEW(arena, double, n);
    d->old_x = LW_NEW(arena, double, n), d->old_g = LW_NEW(arena, double, n);
    d->B = LW_NEW(arena, double, n *n), d->L = LW_NEW(arena, double, n *n);
    d->points = LW_NEW(arena, double, n *(2 * n + LENGTHS));
    d->held = LW_NEW(arena, bool, n);
    if (lw_arena_failed(arena)) return NULL;
    memcpy(d->x, settings->start, (size_t)n * sizeof *d->x);
    d->step = 1e-4, d->fresh = true;
    return d;
}

static double clipped(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Two points for each coordinate, within the box, equation (8). */
static int slopes(descent *d) {
    for (int i = 0; i < d->n; i++)
        for (int side = 0; side < 2; side++) {
            double *point = d->points + (2 * i + side) * d->n;
            memcpy(point, d->x, (size_t)d->n * sizeof *point);
            point[i] = clipped(d->x[i] + (side ? d->step : -d->step));
        }
    return 2 * d->n;
}

/* Points along the projected way, equation (10), the longest one first. */
static int line(descent *d) {
    for (int k = 0; k < LENGTHS; k++)
        for (int i = 0; i < d->n; i++)
            d->points[k * d->n + i] = clipped(d->x[i] + ldexp(4, -2 * k) * d->way[i]);
    return LENGTHS;
}

/* B_ff way_f = -g_f, equation (9), by Cholesky; the way is zero where it is held. */
static void find_way(descent *d) {
    const int n = d->n;
    for (int i = 0; i < n; i++) d->held[i] = (d->x[i] <= 0 && d->g[i] > 0) || (d->x[i] >= 1 && d->g[i] < 0);
    for (int j = 0; j < n; j++) {
        d->way[j] = d->held[j] ? 0 : -d->g[j];
        for (int i = j; i < n; i++) {
            double sum = d->held[i] || d->held[j] ? i == j : d->B[i * n + j];
            for (int k = 0; k < j; k++) sum -= d->L[i * n + k] * d->L[j * n + k];
            d->L[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / d->L[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) d->way[i] -= d->L[i * n + k] * d->way[k];
        d->way[i] /= d->L[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) d->way[i] -= d->L[k * n + i] * d->way[k];
        d->way[i] /= d->L[i * n + i];
    }
}

/* B from the last step, equation (11). */
static void update(descent *d) {
    const int n = d->n;
    double ss = 0, sBs = 0, sy = 0, yy = 0;
    double *s = d->old_x, *y = d->old_g, *Bs = d->points; /* differences replace the old ones */
    for (int i = 0; i < n; i++) s[i] = d->x[i] - s[i], y[i] = d->g[i] - y[i];
    for (int i = 0; i < n; i++) ss += s[i] * s[i], sy += s[i] * y[i], yy += y[i] * y[i];
    if (!(ss > 0) || !(yy > 0)) return;
    if (d->fresh) /* Its scale from the first step. */
        for (int i = 0; i < n * n; i++)
            d->B[i] = i % (n + 1) == 0 ? fmax(yy / fmax(fabs(sy), 1e-300), 1e-12) : 0;
    d->fresh = false;
    for (int i = 0; i < n; i++) {
        Bs[i] = 0;
        for (int j = 0; j < n; j++) Bs[i] += d->B[i * n + j] * s[j];
        sBs += s[i] * Bs[i];
    }
    const double mix = sy >= 0.2 * sBs ? 1 : 0.8 * sBs / (sBs - sy);
    double sr = 0;
    for (int i = 0; i < n; i++) y[i] = mix * y[i] + (1 - mix) * Bs[i], sr += s[i] * y[i];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d->B[i * n + j] += y[i] * y[j] / sr - Bs[i] * Bs[j] / sBs;
}

static int ask(void *search, const double **points) {
    descent *d = search;
    *points = d->points;
    if (d->why) return 0;
    if (d->at == AT_START) memcpy(d->points, d->x, (size_t)d->n * sizeof *d->x);
    d->wanted = d->at == AT_START ? 1 : d->at == AT_SLOPES ? slopes(d) : line(d);
    return d->wanted;
}

static void take_slopes(descent *d, const lw_found *found) {
    const int n = d->n;
    double steepest = 0;
    memcpy(d->old_g, d->g, (size_t)n * sizeof *d->g);
    for (int i = 0; i < n; i++) {
        const double low = d->points[2 * i * n + i], high = d->points[(2 * i + 1) * n + i];
        d->g[i] = (found[2 * i + 1].value - found[2 * i].value) / (high - low);
        if (!isfinite(d->g[i])) {
            d->why = "a run beside the best one fails";
            return;
        }
    }
    if (d->iteration > 0) update(d);
    for (int i = 0; i < n; i++) steepest = fmax(steepest, fabs(d->g[i]));
    if (d->fresh) /* The first way is a tenth of the box long. */
        for (int i = 0; i < n * n; i++) d->B[i] = i % (n + 1) == 0 ? fmax(10 * steepest, 1e-300) : 0;
    find_way(d);
    double longest = 0;
    for (int i = 0; i < n; i++) longest = fmax(longest, fabs(clipped(d->x[i] + d->way[i]) - d->x[i]));
    if (longest <= d->s.tolerance) d->why = "the gradient vanishes, but at the bounds";
    d->at = AT_LINE;
}

static void take_line(descent *d, const lw_found *found) {
    int best = -1;
    for (int k = 0; k < LENGTHS; k++)
        if (found[k].value < (best < 0 ? d->f : found[best].value)) best = k;
    if (best < 0 && !d->fresh) { /* B has misled: once more along the gradient. */
        d->fresh = true, d->iteration = 0, d->at = AT_SLOPES;
        return;
    }
    if (best < 0) {
        d->why = "no step along the gradient is lower";
        return;
    }
    double moved = 0;
    const double gain = d->f - found[best].value;
    memcpy(d->old_x, d->x, (size_t)d->n * sizeof *d->x);
    for (int i = 0; i < d->n; i++) {
        moved = fmax(moved, fabs(d->points[best * d->n + i] - d->x[i]));
        d->x[i] = d->points[best * d->n + i];
    }
    d->f = found[best].value;
    d->iteration++;
    d->idle = moved <= d->s.tolerance || gain <= 1e-13 * fabs(d->f) ? d->idle + 1 : 0;
    if (d->idle == 2) d->why = "steps do not lower the value any more";
    d->at = AT_SLOPES;
}

static void tell(void *search, const lw_found *found) {
    descent *d = search;
    if (d->at == AT_START) {
        d->f = found[0].value;
        if (!isfinite(d->f)) d->why = "the run at the start fails";
        d->at = AT_SLOPES;
    } else if (d->at == AT_SLOPES) {
        take_slopes(d, found);
    } else {
        take_line(d, found);
    }
}

static const char *ended(const void *search) { return ((const descent *)search)->why; }

const lw_search_way lw_search_descent = {"descent", false, create, ask, tell, ended};
