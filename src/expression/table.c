/* table.c - tables: functions of one argument that are given by points (docs/theory/tables.md).
 *
 * Between points i and i+1, with h = x[i+1] - x[i] and D = (y[i+1] - y[i])/h, the function is (1)
 *     y[i] + s (c1 + s (c2 + s c3)),   s = x - x[i];
 * steps have c1 = c2 = c3 = 0, straight lines c1 = D, and a smooth table the cubic with slopes m[i], m[i+1]
 * at its ends (2). The slopes are those of Fritsch and Butland (1984): 0 where D changes sign, otherwise the
 * weighted harmonic mean of D in both neighbouring intervals (3); at the ends they follow from three points
 * and are limited (4), or, where a period closes, from its last and first interval. They satisfy the
 * condition of Fritsch and Carlson (1980) for monotone cubics: there is no overshoot, and the slope is
 * continuous. What lies beyond the ends are pieces like the others, so that there are count + 1 pieces; with
 * a period the argument is reduced first. Every piece stores the integral from x[0] to its anchor.
 *
 * Lookup     The range is divided into as many equal bins as there are intervals, and each bin knows its
 *            first point; which bin an x belongs to is a monotone function of x, also as it is rounded. Then
 *            bisection between the points of the bin. O(1) for points at about equal distances, at most
 *            O(log count).
 * Memory     52 bytes for each point, 60 if the slope jumps.
 */
#include "expression/table.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct piece {
    double x, c0, c1, c2, c3;
    double area; /* integral from the first point to x */
} piece;

struct lw_table {
    piece *pieces; /* count + 1; piece i holds for x[i-1] <= x < x[i] */
    size_t count;
    lw_interpolation interpolation;
    lw_beyond beyond;
    double first, last;      /* ends */
    double area;             /* integral from the first to the last point */
    uint32_t *bins, largest; /* bin b begins with point bins[b] */
    double scale;            /* bins per unit of x */
    double height, noise;    /* difference of the largest and the smallest y; rounding errors of y */
    bool closes;             /* the last y is the first */
    lw_smoothness within, everywhere;
    uint32_t *from, *to; /* first and last piece of each piece's stretch; NULL if the slope jumps nowhere */
};

/* --- rules ---------------------------------------------------------------------------------------- */

static bool refuse(size_t at, size_t *row, lw_syntax *syntax, const char *remedy) {
    *row = at;
    if (syntax) (void)snprintf(syntax->remedy, sizeof syntax->remedy, "%s", remedy);
    return false;
}

#define SAY(syntax, ...)                                                                                     \
    do {                                                                                                     \
        if (syntax) (void)snprintf((syntax)->message, sizeof(syntax)->message, __VA_ARGS__);                 \
    } while (0)

bool lw_table_check(const double *x, const double *y, size_t count, size_t *row, lw_syntax *syntax) {
    if (count < 2) {
        SAY(syntax, "a table of %zu point%s is no function", count, count == 1 ? "" : "s");
        return refuse(0, row, syntax, "give two points or more");
    }
    if (count > UINT32_MAX - 2) {
        SAY(syntax, "a table of %zu points is too large", count);
        return refuse(0, row, syntax, "give fewer points");
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]) || !isfinite(y[i])) {
            SAY(syntax, "%s is not a finite number", isfinite(x[i]) ? "y" : "x");
            return refuse(i, row, syntax, "give a finite number, or leave the point out");
        }
        if (i == 0) continue;
        if (!(x[i] > x[i - 1])) {
            SAY(syntax, "x does not ascend: %.9g behind %.9g", x[i], x[i - 1]);
            return refuse(i, row, syntax,
                          x[i] == x[i - 1] ? "keep one of the two points; a jump needs interpolation: steps"
                                           : "sort the table by x");
        }
        const double h = x[i] - x[i - 1], d = (y[i] - y[i - 1]) / h;
        if (!isfinite(x[i] - x[0]) || !isfinite(d) || !isfinite(d / h) || !isfinite(d / h / h) ||
            !isfinite((x[i] - x[0]) * fmax(fabs(y[i]), fabs(y[i - 1])))) {
            SAY(syntax, "the slope from x %.9g to %.9g, or the area below it, is too large for a number",
                x[i - 1], x[i]);
            return refuse(i, row, syntax, "check the units, and points that are too close to each other");
        }
    }
    return true;
}

/* --- slopes --------------------------------------------------------------------------------------- */

/* Slope at an end from the two nearest intervals (h0, d0 at the end): that of the parabola, limited so that
 * the cubic is monotone. */
static double end_slope(double h0, double h1, double d0, double d1) {
    double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (m * d0 <= 0) return 0;
    if (d0 * d1 <= 0 && fabs(m) > 3 * fabs(d0)) return 3 * d0;
    return m;
}

static double inner_slope(double h0, double h1, double d0, double d1) {
    if (d0 * d1 <= 0) return 0;
    double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

static double slope_between(const double *x, const double *y, size_t i) {
    return (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
}

static double smooth_slope(const double *x, const double *y, size_t count, size_t i, bool periodic) {
    const size_t last = count - 1;
    if (periodic && (i == 0 || i == last))
        return inner_slope(x[last] - x[last - 1], x[1] - x[0], slope_between(x, y, last - 1),
                           slope_between(x, y, 0));
    if (count == 2) return slope_between(x, y, 0);
    size_t l = i == 0 ? 0 : i == last ? last - 2 : i - 1; /* the two intervals from l */
    double h0 = x[l + 1] - x[l], h1 = x[l + 2] - x[l + 1];
    double d0 = slope_between(x, y, l), d1 = slope_between(x, y, l + 1);
    if (i == 0) return end_slope(h0, h1, d0, d1);
    return i == last ? end_slope(h1, h0, d1, d0) : inner_slope(h0, h1, d0, d1);
}

/* --- pieces --------------------------------------------------------------------------------------- */

static double piece_value(const piece *p, double s) { return p->c0 + s * (p->c1 + s * (p->c2 + s * p->c3)); }

static double piece_slope(const piece *p, double s) { return p->c1 + s * (2 * p->c2 + 3 * s * p->c3); }

static double piece_area(const piece *p, double s) {
    return p->area + s * (p->c0 + s * (p->c1 / 2 + s * (p->c2 / 3 + s * p->c3 / 4)));
}

static lw_jet piece_jet(const piece *p, double s, lw_jet x) {
    double d = piece_slope(p, s), dd = 2 * p->c2 + 6 * s * p->c3;
    return (lw_jet){piece_value(p, s), d * x.d, d * x.dd + dd * x.d * x.d};
}

static void make_pieces(lw_table *table, const double *x, const double *y) {
    const size_t count = table->count;
    const bool smooth = table->interpolation == LW_INTERPOLATION_SMOOTH;
    const bool periodic = table->beyond == LW_BEYOND_REPEAT && table->closes;
    double m0 = smooth ? smooth_slope(x, y, count, 0, periodic) : 0, area = 0;
    for (size_t i = 0; i + 1 < count; i++) {
        piece *p = &table->pieces[i + 1];
        const double h = x[i + 1] - x[i], d = slope_between(x, y, i);
        *p = (piece){.x = x[i], .c0 = y[i], .area = area};
        if (table->interpolation == LW_INTERPOLATION_LINEAR) p->c1 = d;
        if (smooth) {
            const double m1 = smooth_slope(x, y, count, i + 1, periodic);
            p->c1 = m0, p->c2 = (3 * d - 2 * m0 - m1) / h, p->c3 = (m0 + m1 - 2 * d) / h / h;
            m0 = m1;
        }
        area = piece_area(p, h);
    }
    table->area = area;
    const double first = table->pieces[1].c1,
                 last = smooth ? m0 : table->pieces[count - 1].c1; /* slopes at the ends */
    const bool line = table->beyond == LW_BEYOND_LINEAR;
    table->pieces[0] = (piece){.x = x[0], .c0 = y[0], .c1 = line ? first : 0};
    table->pieces[count] =
        (piece){.x = x[count - 1], .c0 = y[count - 1], .c1 = line ? last : 0, .area = area};
}

/* --- lookup --------------------------------------------------------------------------------------- */

static uint32_t bin_of(const lw_table *table, double x) {
    const double bin = (x - table->first) * table->scale; /* Not negative, and no NaN. */
    return bin < table->largest ? (uint32_t)bin : table->largest;
}

/* The number of points <= x, which is the piece at x, between the ends. */
static inline size_t find_within(const lw_table *table, double x) {
    const uint32_t bin = bin_of(table, x);
    size_t low = table->bins[bin], high = table->bins[bin + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (table->pieces[middle + 1].x <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t find(const lw_table *table, double x) {
    if (!(x >= table->first)) return 0;
    return x >= table->last ? table->count : find_within(table, x);
}

static void make_bins(lw_table *table) {
    uint32_t bin = 0;
    for (size_t i = 0; i < table->count; i++) {
        const uint32_t own = bin_of(table, table->pieces[i + 1].x);
        while (bin <= own) table->bins[bin++] = (uint32_t)i;
    }
    while (bin <= table->largest + 1) table->bins[bin++] = (uint32_t)table->count;
}

/* Where an argument is: a piece, the distance from its anchor, and how many periods were taken off. */
typedef struct spot {
    size_t piece;
    double s, turns;
} spot;

static spot locate_outside(const lw_table *table, double x) {
    if (table->beyond != LW_BEYOND_REPEAT) {
        const size_t k = x >= table->last ? table->count : 0;
        const bool held = table->beyond == LW_BEYOND_HOLD && !isnan(x);
        return (spot){k, held ? 0 : x - table->pieces[k].x, 0};
    }
    const double period = table->last - table->first, distance = x - table->first;
    double rest = fmod(distance, period);
    if (rest < 0) rest += period;
    size_t k = find(table, table->first + rest);
    if (k < 1) k = 1; /* NaN, or rounded over an end */
    if (k >= table->count) k = table->count - 1;
    return (spot){k, rest - (table->pieces[k].x - table->first), nearbyint((distance - rest) / period)};
}

static inline spot locate(const lw_table *table, double x) {
    if (!(x >= table->first && x < table->last)) return locate_outside(table, x);
    const size_t k = find_within(table, x);
    return (spot){k, x - table->pieces[k].x, 0};
}

/* --- evaluation ----------------------------------------------------------------------------------- */

double lw_table_value(const lw_table *table, double x) {
    const spot at = locate(table, x);
    return piece_value(&table->pieces[at.piece], at.s);
}

lw_jet lw_table_jet(const lw_table *table, lw_jet x) {
    const spot at = locate(table, x.f);
    return piece_jet(&table->pieces[at.piece], at.s, x);
}

double lw_table_piece(const lw_table *table, size_t k, double c[4]) {
    const piece *p = &table->pieces[k];
    c[0] = p->c0, c[1] = p->c1, c[2] = p->c2, c[3] = p->c3;
    return p->x;
}
lw_beyond lw_table_beyond(const lw_table *table) { return table->beyond; }

/* The integral from the first point to x. */
static double area_to(const lw_table *table, double x) {
    spot at = locate(table, x);
    if (table->beyond == LW_BEYOND_HOLD) at.s = x - table->pieces[at.piece].x;
    return at.turns * table->area + piece_area(&table->pieces[at.piece], at.s);
}

double lw_table_integral(const lw_table *table, double a, double b) {
    return a == b ? 0 : area_to(table, b) - area_to(table, a);
}

/* --- knots ---------------------------------------------------------------------------------------- */

size_t lw_table_count(const lw_table *table) { return table->count; }
double lw_table_point(const lw_table *table, size_t i) { return table->pieces[i + 1].x; }
double lw_table_period(const lw_table *table) {
    return table->beyond == LW_BEYOND_REPEAT ? table->last - table->first : 0;
}

double lw_table_next_point(const lw_table *table, double x) {
    const spot at = locate(table, x);
    const size_t last = table->beyond == LW_BEYOND_REPEAT ? table->count - 1 : table->count;
    if (isnan(x) || (table->beyond != LW_BEYOND_REPEAT && at.piece >= last)) return HUGE_VAL;
    double next = table->pieces[at.piece + 1].x + at.turns * lw_table_period(table);
    /* Rounding of a period must not return x itself. */
    return next > x ? next : nextafter(x, HUGE_VAL);
}

/* The two pieces that meet at a point, with the lengths of their intervals. */
typedef struct meeting {
    const piece *left, *right;
    double left_h, right_h;
} meeting;

static double interval_of(const lw_table *table, size_t k) { /* The mean one for pieces beyond the ends. */
    if (k == 0 || k == table->count) return (table->last - table->first) / (double)(table->count - 1);
    return lw_table_point(table, k) - table->pieces[k].x;
}

static meeting meeting_at(const lw_table *table, size_t i) {
    size_t left = i, right = i + 1;
    if (table->beyond == LW_BEYOND_REPEAT && (i == 0 || i + 1 == table->count))
        left = table->count - 1, right = 1;
    return (meeting){&table->pieces[left], &table->pieces[right], interval_of(table, left),
                     interval_of(table, right)};
}

static bool differ(double a, double b, double noise) {
    return fabs(a - b) > 1e-9 * (fabs(a) + fabs(b)) + noise;
}

/* The argument where the left piece ends, from its anchor. */
static double left_end(const lw_table *table, size_t i, const meeting *m) {
    if (i == 0 && table->beyond != LW_BEYOND_REPEAT) return 0; /* anchored at the same point */
    return m->left_h;
}

static bool value_jumps(const lw_table *table, size_t i) {
    const meeting m = meeting_at(table, i);
    const bool seam = table->beyond == LW_BEYOND_REPEAT && (i == 0 || i + 1 == table->count);
    if (table->interpolation == LW_INTERPOLATION_STEPS)
        return piece_value(m.left, left_end(table, i, &m)) != m.right->c0;
    return seam && !table->closes;
}

static bool slope_jumps(const lw_table *table, size_t i) {
    const meeting m = meeting_at(table, i);
    const double noise = 16 * table->noise * (1 / m.left_h + 1 / m.right_h);
    if (table->interpolation == LW_INTERPOLATION_SMOOTH && i > 0 && i + 1 < table->count)
        return false; /* (3) */
    return differ(piece_slope(m.left, left_end(table, i, &m)), m.right->c1, noise);
}

static bool curvature_jumps(const lw_table *table, size_t i) {
    const meeting m = meeting_at(table, i);
    const double h = fmin(m.left_h, m.right_h), noise = 16 * table->noise / h / h;
    return differ(2 * m.left->c2 + 6 * left_end(table, i, &m) * m.left->c3, 2 * m.right->c2, noise);
}

static bool is_straight(const lw_table *table, const piece *p, double h) {
    const double slope = fabs(p->c1) + table->height / (table->last - table->first);
    return h * fabs(p->c2) + h * h * fabs(p->c3) <= 1e-9 * slope + table->noise / h;
}

bool lw_table_is_knot(const lw_table *table, size_t i, int derivatives) {
    if (value_jumps(table, i) || slope_jumps(table, i)) return true;
    if (table->interpolation != LW_INTERPOLATION_SMOOTH) return false;
    if (derivatives >= 2) return curvature_jumps(table, i);
    const meeting m = meeting_at(table, i);
    return is_straight(table, m.left, m.left_h) != is_straight(table, m.right, m.right_h);
}

static lw_smoothness at_point(const lw_table *table, size_t i) {
    return value_jumps(table, i) ? LW_TABLE_JUMPS : slope_jumps(table, i) ? LW_TABLE_KINKS : LW_TABLE_C1;
}

static void find_smoothness(lw_table *table) {
    table->within = LW_TABLE_C1;
    for (size_t i = 1; i + 1 < table->count && table->within != LW_TABLE_JUMPS; i++) {
        const lw_smoothness here = at_point(table, i);
        if (here < table->within) table->within = here;
    }
    table->everywhere = table->within;
    for (size_t i = 0; i < table->count; i += table->count - 1)
        if (at_point(table, i) < table->everywhere) table->everywhere = at_point(table, i);
}

lw_smoothness lw_table_smoothness(const lw_table *table) { return table->everywhere; }
lw_smoothness lw_table_smoothness_within(const lw_table *table) { return table->within; }

double lw_table_first_kink(const lw_table *table) {
    for (size_t i = 1; i + 1 < table->count; i++)
        if (at_point(table, i) != LW_TABLE_C1) return lw_table_point(table, i);
    return at_point(table, 0) != LW_TABLE_C1 ? table->first : table->last;
}

/* --- stretches ------------------------------------------------------------------------------------ */

/* Pieces from one knot to the next are a stretch. With a period each begins with one anew. */
static void find_stretches(lw_table *table) {
    uint32_t first = 0;
    for (size_t k = 0; k <= table->count; k++) {
        if (k > 0 && lw_table_is_knot(table, k - 1, 0)) first = (uint32_t)k;
        if (k == 1 && table->beyond == LW_BEYOND_REPEAT) first = 1;
        table->from[k] = first;
    }
    for (size_t k = table->count + 1; k-- > 0;) {
        const bool last = k == table->count || table->from[k + 1] != table->from[k] ||
                          (k + 1 == table->count && table->beyond == LW_BEYOND_REPEAT);
        table->to[k] = last ? (uint32_t)k : table->to[k + 1];
    }
}

/* A stretch by its number: the first piece, and how many periods it lies behind the table's own. */
typedef struct stretch {
    size_t from, to;
    double shift;
} stretch;

static stretch stretch_of(const lw_table *table, double number) {
    double turns = 0;
    if (table->beyond == LW_BEYOND_REPEAT) {
        const double pieces = (double)(table->count - 1);
        turns = floor((number - 1) / pieces);
        number -= turns * pieces;
    }
    const size_t from = number >= 0 && number <= (double)table->count ? (size_t)number : 0;
    return (stretch){from, table->to[from], turns * lw_table_period(table)};
}

double lw_table_stretch(const lw_table *table, double x) {
    if (!table->from) return 0;
    const spot at = locate(table, x);
    return at.turns * (double)(table->count - 1) + (double)table->from[at.piece];
}

double lw_table_room(const lw_table *table, double number, double x) {
    if (!table->from) return HUGE_VAL;
    const stretch s = stretch_of(table, number);
    const bool endless = table->beyond != LW_BEYOND_REPEAT;
    const double left = endless && s.from == 0 ? HUGE_VAL : x - (table->pieces[s.from].x + s.shift);
    const double right = endless && s.to == table->count ? HUGE_VAL : table->pieces[s.to + 1].x + s.shift - x;
    return fmin(left, right);
}

lw_jet lw_table_stretch_jet(const lw_table *table, double number, lw_jet x) {
    if (!table->from) return lw_table_jet(table, x);
    const stretch s = stretch_of(table, number);
    const double at = x.f - s.shift;
    size_t k = find(table, at);
    if (k < s.from) k = s.from;
    if (k > s.to) k = s.to;
    return piece_jet(&table->pieces[k], at - table->pieces[k].x, x);
}

/* --- making --------------------------------------------------------------------------------------- */

lw_table *lw_table_create(lw_arena *arena, const double *x, const double *y, size_t count,
                          lw_interpolation interpolation, lw_beyond beyond) {
    size_t row;
    if (!x || !y || !lw_table_check(x, y, count, &row, NULL)) return NULL;
    lw_table *table = LW_NEW(arena, lw_table, 1);
    piece *pieces = LW_NEW(arena, piece, count + 1);
    uint32_t *bins = LW_NEW(arena, uint32_t, count + 1);
    if (lw_arena_failed(arena)) return NULL;
    double low = y[0], high = y[0];
    for (size_t i = 1; i < count; i++) low = fmin(low, y[i]), high = fmax(high, y[i]);
    *table = (lw_table){.pieces = pieces,
                        .count = count,
                        .interpolation = interpolation,
                        .beyond = beyond,
                        .first = x[0],
                        .last = x[count - 1],
                        .bins = bins,
                        .largest = (uint32_t)count - 2,
                        .scale = (double)(count - 1) / (x[count - 1] - x[0]),
                        .height = high - low,
                        .noise = 4 * DBL_EPSILON * fmax(fabs(low), fabs(high))};
    table->closes = fabs(y[count - 1] - y[0]) <= 1e-12 * table->height + table->noise;
    if (!isfinite(table->scale)) return NULL;
    make_pieces(table, x, y);
    make_bins(table);
    find_smoothness(table);
    if (table->everywhere != LW_TABLE_C1) {
        table->from = LW_NEW(arena, uint32_t, count + 1);
        table->to = LW_NEW(arena, uint32_t, count + 1);
        if (lw_arena_failed(arena)) return NULL;
        find_stretches(table);
    }
    for (size_t i = 0; i <= count; i++) {
        const piece *p = &pieces[i];
        if (!isfinite(p->c1) || !isfinite(p->c2) || !isfinite(p->c3) || !isfinite(p->area)) return NULL;
    }
    return table;
}
