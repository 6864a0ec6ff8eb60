/* coupling.c - the terms of a coupling: value, slope and curvature of factor times a curve of one coordinate,
 * the mean slope of a step, and the term along a motion.
 *
 * The mean slope is the integral of F' over the step. F' of a polynomial of the 4th degree and of a piece of
 * a table is a polynomial of the third degree at most, for which Gauss' rule of two nodes is exact:
 *
 *   (F(b) - F(a))/(b - a) = (F'(m - d) + F'(m + d))/2,   m = (a + b)/2,  d = (b - a)/(2 sqrt 3)
 *
 * so nothing cancels, however short the step is; a step of a table is divided at its points.
 *
 * Source   docs/theory/rows.md, section 3.
 * Cost     O(1); of a table O(log points), and of its mean slope O(points in the step).
 * Limits   the curvature of a table jumps at its points: there it is that of the piece to the right.
 */
#include "model/coupling.h"
#include "expression/table.h"

#include <math.h>

static const lw_coupling_curve *curve_of(const lw_constraint *constraint, int term) {
    const lw_coupling_curve *curve = constraint->curves ? &constraint->curves[term] : NULL;
    return curve && (curve->size > 0 || curve->table || curve->about != 0) ? curve : NULL;
}

/* The curve and its two derivatives at x, without the factor: Horner's scheme of three levels. */
static lw_coupling_value at(const lw_coupling_curve *curve, double x) {
    if (curve->table) {
        const lw_jet y = lw_table_jet(curve->table, (lw_jet){x, 1, 0});
        return (lw_coupling_value){y.f, y.d, y.dd};
    }
    if (curve->size == 0) return (lw_coupling_value){x, 1, 0};
    double value = 0, slope = 0, half = 0;
    for (int k = curve->size - 1; k >= 0; k--) {
        half = half * x + slope;
        slope = slope * x + value;
        value = value * x + curve->polynomial[k];
    }
    return (lw_coupling_value){value, slope, 2 * half};
}

lw_coupling_value lw_coupling_term(const lw_constraint *constraint, int term, double q) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    const double factor = constraint->factors[term];
    if (!curve) return (lw_coupling_value){factor * q, factor, 0};
    const lw_coupling_value c = at(curve, q - curve->about);
    return (lw_coupling_value){factor * c.value, factor * c.slope, factor * c.curvature};
}

double lw_coupling_third(const lw_constraint *constraint, int term, double q) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    const double factor = constraint->factors[term], x = curve ? q - curve->about : q;
    if (!curve) return 0;
    if (curve->table) { /* Within a piece, a cubic, the curvature is a straight line. */
        const double h = 0.5 * fmin(lw_table_next_point(curve->table, x) - x, 1);
        return factor * (at(curve, x + h).curvature - at(curve, x).curvature) / h;
    }
    double third = 0;
    for (int k = curve->size - 1; k >= 3; k--)
        third = third * x + k * (k - 1) * (k - 2) * curve->polynomial[k];
    return factor * third;
}

/* Mean slope over an interval in which the curve is one polynomial, and its derivative by the end b: the
 * mean of s F''(a + s (b - a)) over 0 <= s <= 1, a cubic of s, too. */
static double mean_by_gauss(const lw_coupling_curve *curve, double a, double b, double *by_b) {
    const double node = 0.28867513459481288; /* 1/(2 sqrt 3) */
    const lw_coupling_value low = at(curve, 0.5 * (a + b) - node * (b - a)),
                            high = at(curve, 0.5 * (a + b) + node * (b - a));
    *by_b = 0.5 * ((0.5 - node) * low.curvature + (0.5 + node) * high.curvature);
    return 0.5 * (low.slope + high.slope);
}

/* The integral of the slope of a table from a to b > a, point by point. */
static double rise(const lw_coupling_curve *curve, double a, double b) {
    double sum = 0, unused, from = a;
    size_t most = 4 * lw_table_count(curve->table);
    for (size_t k = 0; from < b; k++) {
        /* Of a step over many periods the difference has lost nothing. */
        if (k > most) return at(curve, b).value - at(curve, a).value;
        const double to = fmin(lw_table_next_point(curve->table, from), b);
        sum += (to - from) * mean_by_gauss(curve, from, to, &unused);
        from = to;
    }
    return sum;
}

double lw_coupling_mean_slope(const lw_constraint *constraint, int term, double a, double b, double *by_b) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    const double factor = constraint->factors[term];
    *by_b = 0;
    if (!curve) return factor;
    a -= curve->about, b -= curve->about;
    double mean, change;
    if (!curve->table || lw_table_next_point(curve->table, fmin(a, b)) >= fmax(a, b)) {
        mean = mean_by_gauss(curve, a, b, &change);
    } else {
        mean = rise(curve, fmin(a, b), fmax(a, b)) / fabs(b - a);
        change = (at(curve, b).slope - mean) / (b - a);
    }
    *by_b = factor * change;
    return factor * mean;
}

bool lw_coupling_is_linear(const lw_constraint *constraint, int term) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    return constraint->factors[term] != 0 && (!curve || (curve->size == 0 && !curve->table));
}

double lw_coupling_solve(const lw_constraint *constraint, int term, double value) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    return value / constraint->factors[term] + (curve ? curve->about : 0);
}

static lw_jet jet_product(lw_jet a, lw_jet b) {
    return (lw_jet){a.f * b.f, a.d * b.f + a.f * b.d, a.dd * b.f + 2 * a.d * b.d + a.f * b.dd};
}

lw_jet lw_coupling_jet(const lw_constraint *constraint, int term, lw_jet q) {
    const lw_coupling_curve *curve = curve_of(constraint, term);
    lw_jet sum = q;
    if (curve) sum.f = q.f -= curve->about;
    if (curve && curve->table) {
        sum = lw_table_jet(curve->table, q);
    } else if (curve && curve->size > 0) { /* powers, one after the other */
        lw_jet power = {1, 0, 0};
        sum = (lw_jet){0, 0, 0};
        for (int k = 0; k < curve->size; k++) {
            const double a = curve->polynomial[k];
            sum = (lw_jet){sum.f + a * power.f, sum.d + a * power.d, sum.dd + a * power.dd};
            power = jet_product(power, q);
        }
    }
    const double factor = constraint->factors[term];
    return (lw_jet){factor * sum.f, factor * sum.d, factor * sum.dd};
}
