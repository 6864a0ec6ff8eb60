/* meaning.h - what an expression measures: a mass, a length, a plain number, or nobody knows.
 */
#ifndef LW_MEANING_H
#define LW_MEANING_H

#include <stdbool.h>
#include <stddef.h>

/* How far the dimension of a value is known; zeroed memory is a value of which nothing is known. */
typedef enum lw_meaning_kind {
    LW_MEANING_UNKNOWN = 0, /* 9.81, a parameter without unit, or a product with one: fits anything */
    LW_MEANING_NUMBER,      /* 2, 12, 0.5: fits anything, and is a plain number most likely */
    LW_MEANING_RATIO, /* certainly without dimension: pi, a sine, a quotient of two lengths; fits anything */
    LW_MEANING_VARIABLE, /* a variable of a law by itself: has its dimension, but fits anything */
    LW_MEANING_LIKELY,   /* a quantity if the numbers without unit in its products are plain: 2*L */
    LW_MEANING_SURE      /* a quantity */
} lw_meaning_kind;

/* Powers of metre, kilogram, second and radian. Roots make fractions, so they are no integers. The radian is
 * kept to tell an angle from a ratio; it never makes two dimensions differ otherwise. */
typedef struct lw_meaning {
    lw_meaning_kind kind;
    bool direct; /* read off units, with no product or quotient of values behind it; of a number: it is 1 */
    double length, mass, time, angle;
} lw_meaning;

bool lw_meaning_same(const lw_meaning *a, const lw_meaning *b);
bool lw_meaning_is_known(const lw_meaning *m); /* LIKELY or SURE */

/* Of a product (sign 1) or quotient (sign -1), and of a power. */
lw_meaning lw_meaning_product(const lw_meaning *a, const lw_meaning *b, int sign);
lw_meaning lw_meaning_power(const lw_meaning *a, double exponent);
/* Of a sum, a difference, the greater of two: false if both are known and differ. */
bool lw_meaning_sum(const lw_meaning *a, const lw_meaning *b, lw_meaning *sum);
/* May it be the argument of a sine, a logarithm, an exponent? */
bool lw_meaning_is_plain(const lw_meaning *m);

#endif
