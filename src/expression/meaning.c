/* meaning.c - the algebra of dimensions in expressions, lenient where usual notation is.
 *
 * A number without unit fits anything: it may be plain (2*L) or a quantity in SI units (9.81*m). The compiler
 * calls small whole numbers and their quarters plain, and leaves others unknown. So
 *     quantity * quantity     is a quantity, and a RATIO if its dimension cancels;
 *     quantity * number       has LIKELY the dimension of the quantity: enough for a warning, not for
 *                             an error;
 *     quantity * ratio        is the quantity;
 *     quantity * variable     is a quantity, but 30 deg*t stays open: it is common for 30 deg/s*t;
 *     anything * unknown, variable * number, variable * variable      are unknown;
 *     quantity + anything open   is the quantity; two quantities, or a quantity and a variable, must have
 *                             the same dimension.
 * A power and a root scale the exponents. Torque and energy are one dimension, and so are 1/s and rad/s.
 */
#include "expression/meaning.h"

#include <math.h>

/* Exponents are sums of a few products and quotients of small numbers. */
static bool equal(double a, double b) { return fabs(a - b) < 1e-9; }

bool lw_meaning_same(const lw_meaning *a, const lw_meaning *b) {
    return equal(a->length, b->length) && equal(a->mass, b->mass) && equal(a->time, b->time);
}

bool lw_meaning_is_known(const lw_meaning *m) {
    return m->kind == LW_MEANING_LIKELY || m->kind == LW_MEANING_SURE;
}

static bool has_dimension(const lw_meaning *m) {
    static const lw_meaning none = {LW_MEANING_RATIO, false, 0, 0, 0, 0};
    return !lw_meaning_same(m, &none);
}

/* A quantity whose dimension cancels is a ratio or, if its dimension was only likely, a number. */
static lw_meaning settled(lw_meaning m) {
    if (!lw_meaning_is_known(&m) || has_dimension(&m) || !equal(m.angle, 0)) return m;
    return (lw_meaning){.kind = m.kind == LW_MEANING_SURE ? LW_MEANING_RATIO : LW_MEANING_NUMBER};
}

static lw_meaning scaled(const lw_meaning *m, double factor, lw_meaning_kind kind) {
    return (lw_meaning){kind,
                        factor == 1 && m->direct,
                        factor * m->length,
                        factor * m->mass,
                        factor * m->time,
                        factor * m->angle};
}

lw_meaning lw_meaning_product(const lw_meaning *a, const lw_meaning *b, int sign) {
    static const lw_meaning unknown = {.kind = LW_MEANING_UNKNOWN}, ratio = {.kind = LW_MEANING_RATIO};
    if (sign < 0 && a->kind == LW_MEANING_NUMBER && a->direct) a = &ratio; /* 1/T */
    lw_meaning_kind weak = a->kind < b->kind ? a->kind : b->kind,
                    strong = a->kind < b->kind ? b->kind : a->kind;
    if (weak == LW_MEANING_UNKNOWN) return unknown;
    if (strong <= LW_MEANING_RATIO) return (lw_meaning){.kind = weak};
    if (strong == LW_MEANING_VARIABLE) return unknown;
    if (weak == LW_MEANING_VARIABLE) {
        const lw_meaning *quantity = a->kind == strong ? a : b;
        if (strong == LW_MEANING_LIKELY || !has_dimension(quantity)) return unknown;
    }
    bool open = weak == LW_MEANING_NUMBER || weak == LW_MEANING_LIKELY;
    lw_meaning m = scaled(b, sign, open ? LW_MEANING_LIKELY : LW_MEANING_SURE);
    m.direct = weak <= LW_MEANING_RATIO && (a->kind == strong || sign > 0) && (a->direct || b->direct);
    m.length += a->length;
    m.mass += a->mass;
    m.time += a->time;
    m.angle += a->angle;
    return settled(m);
}

lw_meaning lw_meaning_power(const lw_meaning *a, double exponent) {
    if (a->kind == LW_MEANING_VARIABLE) return (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    if (!lw_meaning_is_known(a)) return (lw_meaning){.kind = a->kind};
    return settled(scaled(a, exponent, a->kind));
}

bool lw_meaning_sum(const lw_meaning *a, const lw_meaning *b, lw_meaning *sum) {
    const lw_meaning *strong = a->kind < b->kind ? b : a, *weak = a->kind < b->kind ? a : b;
    *sum = *strong;
    if (!lw_meaning_is_known(strong)) { /* t + 1, x + v, 2 + L: the dimension of the sum stays open. */
        if (strong->kind == LW_MEANING_VARIABLE || weak->kind == LW_MEANING_UNKNOWN) {
            *sum = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
        } else {
            *sum = (lw_meaning){.kind = weak->kind};
        }
        return true;
    }
    sum->direct = strong->direct && (weak->direct || weak->kind <= LW_MEANING_RATIO);
    if (weak->kind <= LW_MEANING_RATIO || lw_meaning_same(a, b)) return true;
    if (weak->kind == LW_MEANING_VARIABLE && !has_dimension(strong)) return true; /* sin(t + 30 deg) */
    *sum = (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    return strong->kind == LW_MEANING_LIKELY || weak->kind == LW_MEANING_LIKELY;
}

bool lw_meaning_is_plain(const lw_meaning *m) { return m->kind != LW_MEANING_SURE || !has_dimension(m); }
