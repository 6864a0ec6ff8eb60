/* event_scan.c - the search for events that begin and end within one step.
 *
 * A root that is positive at both ends of a step may have been negative in between: a motion that turns round
 * just beyond a stop, an oscillation of the equations that is faster than the steps. The watched roots g are
 * therefore looked at within the step, on a cheap polynomial of the state. A panel is a part a .. b of the
 * step with middle m; the parabola through g at its three points has the Bernstein coefficients
 *
 *     g(a),   c = 2 g(m) - (g(a) + g(b))/2,   g(b),                                                     (1)
 *
 * and where c < 0 the least value (g(a) g(b) - c^2) / (g(a) + g(b) - 2 c). The error e of the parabola of the
 * panel one level up is known from the two points that have been added; g is taken to be positive in a panel
 * if c >= e, or if the least value exceeds e. A panel of which this cannot be said is halved, up to LEVELS
 * times and PER_STEP points in a step; where that is not enough, the step ends at the last point up to which
 * nothing can have happened, and the next steps are to be shorter. A root that turns back close to zero is
 * for the caller to look at again on a better polynomial.
 *
 * Source   docs/theory/events.md, (4) to (6).
 * Cost     four states per step and looks at the roots there, if nothing is near; no allocation.
 */
#include "integrators/events.h"

#include <math.h>

/* A cubic through both ends of a step of an explicit formula may be wrong by so much of what it varies by. */
static const double close = 0.1;

enum { LEVELS = 7, PER_STEP = 120, ROOM = 5 + 3 * LEVELS };

/* A point of a step: its time, and the watched roots there. */
typedef struct point {
    double t, *g;
} point;

typedef struct scan {
    lw_event *event;
    lw_integration *integration;
    lw_state_within state;
    int count, points;
    double begin;
    double from, to; /* the bracket that was found */
    bool cut;        /* It is no bracket: the search was given up there. */
    bool near;       /* A root has turned back close to zero. */
    double shortest; /* the panel in which it was */
} scan;

size_t lw_event_scan_room(const lw_system *system) { return (size_t)ROOM * (size_t)system->watched; }

static bool take(scan *s, double t, double *g, point *p) {
    lw_system *system = s->integration->system;
    *p = (point){t, g};
    s->points++;
    if (s->state(s->integration, t, s->event->y, NULL) != LW_OK ||
        system->glimpse(system, t, s->event->y, g, NULL) != LW_OK)
        return false;
    for (int k = 0; k < s->count; k++)
        if (isnan(g[k])) g[k] = -1;
    return true;
}

/* Is one of the roots that count zero or negative there? */
static bool is_bad(const scan *s, const point *p) {
    for (int k = 0; k < s->count; k++)
        if (!s->event->ignored[k] && !(p->g[k] > 0)) return true;
    return false;
}

/* Is a root with these values positive in the panel? One that is not at its right end need not be. *near: its
 * least value lies inside, and is small beside what it varies by. */
static bool is_positive(double a, double m, double b, double error, bool *near) {
    if (!(b > 0)) return true;
    const double c = 2 * m - 0.5 * (a + b);
    const bool turns = c < a && c < b;
    const double least = turns ? (a * b - c * c) / (a + b - 2 * c) : fmin(a, b);
    *near |= turns && least < close * (fmax(a, b) - least);
    return a > 0 && m > 0 && (c >= error || least > error);
}

/* The error at a quarter and at three quarters of the parabola through (a, m, b). */
static double error_of(double a, double l, double m, double r, double b) {
    const double at_l = 0.375 * a + 0.75 * m - 0.125 * b, at_r = 0.375 * b + 0.75 * m - 0.125 * a;
    return fmax(fabs(l - at_l), fabs(r - at_r));
}

/* A root such as a distance may turn round within less than a panel, beside one of its points: parabolas on
 * either side then see straight lines. Of the interval beside the least of five points it can be excluded if
 * a line as steep as the steepest between them does not get to zero and back. */
static bool may_dip(double one, double other, double span, double steepest) {
    return one + other <= 1.01 * steepest * span;
}

/* The place of the least of the five values of a root beside which it may have been negative, or -1. */
static int dips_beside(const point *const p[5], int k) {
    double steepest = 0;
    int least = 0;
    for (int i = 0; i < 4; i++)
        steepest = fmax(steepest, fabs(p[i + 1]->g[k] - p[i]->g[k]) / (p[i + 1]->t - p[i]->t));
    for (int i = 1; i < 5; i++)
        if (p[i]->g[k] < p[least]->g[k]) least = i;
    bool dips = false;
    for (int i = least > 0 ? least - 1 : 0; i < 4 && i <= least; i++)
        dips |= may_dip(p[i]->g[k], p[i + 1]->g[k], p[i + 1]->t - p[i]->t, steepest);
    return dips ? least : -1;
}

/* Searches the panel for the first point at which a root is not positive; what is at b is left to others. */
static bool search(scan *s, int level, const point *a, const point *m, const point *b);

/* Searches around one of five points; at an end, the half of the interval that is next to it. */
static bool search_beside(scan *s, int level, const point *const p[5], int i) {
    const bool inner = i > 0 && i < 4;
    if (!inner && (level + 1 >= LEVELS || s->points + 3 > PER_STEP)) return false;
    if (inner) return search(s, level + 1, p[i - 1], p[i], p[i + 1]);
    const point *from = i ? p[3] : p[0], *to = i ? p[4] : p[1];
    point middle;
    double *room = s->event->samples + (size_t)(3 + 2 * LEVELS + level) * (size_t)s->count;
    const double t = 0.5 * (from->t + to->t);
    if (!(t > from->t && t < to->t) || !take(s, t, room, &middle)) return false;
    if (is_bad(s, &middle)) return s->from = from->t, s->to = middle.t, true;
    return search(s, level + 1, from, &middle, to);
}

static bool search(scan *s, int level, const point *a, const point *m, const point *b) {
    double *room = s->event->samples + (size_t)(3 + 2 * level) * (size_t)s->count;
    point l, r;
    if (!(m->t > a->t && b->t > m->t)) return false; /* Rounding leaves nothing between. */
    if (level >= LEVELS || s->points + 2 > PER_STEP) {
        s->cut = true;
        s->shortest = b->t - a->t;
        s->to = a->t > s->begin ? a->t : b->t; /* Time must go on. */
        return true;
    }
    if (!take(s, 0.5 * (a->t + m->t), room, &l) || !take(s, 0.5 * (m->t + b->t), room + s->count, &r))
        return false;
    const point *const order[] = {a, &l, m, &r, b};
    bool beside[5] = {false};
    for (int k = 0; k < s->count; k++) {
        const int least = s->event->ignored[k] ? -1 : dips_beside(order, k);
        if (least >= 0) beside[least] = true;
    }
    for (int half = 0; half < 2; half++) {
        const point *const *p = order + 2 * half;
        bool clear = true;
        if (is_bad(s, p[1])) return s->from = p[0]->t, s->to = p[1]->t, true;
        for (int k = 0; k < s->count && clear; k++) {
            if (s->event->ignored[k]) continue;
            const double error = error_of(a->g[k], l.g[k], m->g[k], r.g[k], b->g[k]);
            clear = is_positive(p[0]->g[k], p[1]->g[k], p[2]->g[k], error, &s->near);
        }
        if (!clear && search(s, level + 1, p[0], p[1], p[2])) return true;
        if (half == 0 && is_bad(s, m)) return s->from = l.t, s->to = m->t, true;
    }
    for (int i = 0; i < 5; i++)
        if (beside[i] && search_beside(s, level, order, i)) return true;
    return false;
}

bool lw_event_scan(lw_event *event, lw_integration *integration, lw_state_within state, double begin,
                   double end, double *from, double *to, bool *near) {
    lw_system *system = integration->system;
    const int n = system->watched;
    scan s = {.event = event, .integration = integration, .state = state, .count = n, .begin = begin};
    point a, m, b;
    if (!take(&s, begin, event->samples, &a) || !take(&s, end, event->samples + n, &b) ||
        !take(&s, 0.5 * (begin + end), event->samples + 2 * n, &m))
        return false;
    /* A root that is not awaited may have become negative for good. */
    const double *at_end = event->after + (system->root_count - n);
    for (int k = 0; k < n; k++) event->ignored[k] = !(a.g[k] > 0) || (!(b.g[k] > 0) && at_end[k] > 0);
    const bool found = search(&s, 0, &a, &m, &b);
    *near = s.near;
    *from = s.cut ? s.to : s.from, *to = s.to;
    if (s.cut)
        event->longest = 16 * s.shortest;
    else if (s.points < PER_STEP / 8)
        event->longest = fmax(event->longest, 2 * (end - begin));
    return found;
}
