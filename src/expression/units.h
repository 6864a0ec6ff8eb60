/* units.h - units behind numbers: "20 mm", "5 N/mm", "30 deg/s^2", "2 N s/m", "5 (N/m)".
 */
#ifndef LW_UNITS_H
#define LW_UNITS_H

#include "expression/expression_types.h"

/* What stands at a place where units may stand. */
typedef enum lw_units_result {
    LW_UNITS_FOUND,
    LW_UNITS_NONE,         /* no unit here */
    LW_UNITS_CLASH,        /* behind * or /: a word that is a unit and a known name as well */
    LW_UNITS_BAD_EXPONENT, /* an exponent that is not a whole number from -9 to 9 */
    LW_UNITS_UNCLEAR       /* a unit right behind a quotient: is N/m s meant as (N/m) s or as N/(m s)? */
} lw_units_result;

/* Powers of metre, kilogram, second and radian; dimensions that differ by radians only are the same. */
typedef struct lw_dimension {
    int length, mass, time, angle;
} lw_dimension;

/* A product of units: a number times numerator / denominator is in SI units. Two factors, because 9/1000 is
 * the number nearest to 9 mm and 9*0.001 is not. */
typedef struct lw_units {
    double numerator, denominator;
    lw_dimension dimension;
    size_t end;     /* offset behind the units */
    size_t trouble; /* offset of what CLASH, BAD_EXPONENT or UNCLEAR is about */
} lw_units;

/* Reads the units that begin at offset at (behind a number or a complete operand). */
lw_units_result lw_units_read(const char *text, size_t at, const lw_expression_names *names, lw_units *units);

/* What a number may measure. */
typedef enum lw_quantity {
    LW_ANY_QUANTITY = 0, /* not known here */
    LW_PLAIN_NUMBER,
    LW_ANGLE,
    LW_LENGTH,
    LW_MASS,
    LW_TIME,
    LW_SPEED,
    LW_ANGULAR_SPEED,
    LW_ACCELERATION,
    LW_FORCE,
    LW_TORQUE,
    LW_INERTIA,
    LW_DENSITY,
    LW_STIFFNESS,
    LW_DAMPING,
    LW_PRESSURE,
    LW_TURNING_STIFFNESS,
    LW_TURNING_DAMPING,
    LW_POWER,
    LW_COMPLIANCE,
    LW_TURNING_COMPLIANCE,
    LW_QUANTITIES
} lw_quantity;

/* Do the units in text, if it is a lone number with units behind it, measure this quantity? If not, syntax
 * (which may be NULL) is filled. Other expressions are taken on trust: lw_meaning_fit judges them. */
bool lw_units_fit(const char *text, lw_quantity quantity, lw_syntax *syntax);
/* The quantity that an SI unit such as "s" or "m/s" stands for here; "1" is a plain number, NULL any
 * quantity. */
lw_quantity lw_quantity_of(const char *unit);

const char *lw_quantity_name(lw_quantity quantity); /* "a length" */
const char *lw_quantity_unit(lw_quantity quantity); /* "m" */

/* --- what expressions measure --------------------------------------------------------------------- */

lw_meaning lw_units_meaning(const lw_units *units);
/* Of a known quantity; any quantity and a plain number give a measure of which nothing is known. */
lw_meaning lw_quantity_meaning(lw_quantity quantity, lw_meaning_kind kind);
/* "a length", "a quantity in kg m^2". */
void lw_meaning_name(const lw_meaning *m, char *name, size_t size);

typedef enum lw_fitness {
    LW_FITS,    /* or nothing is known */
    LW_MAY_FIT, /* only if numbers without unit in it stand for quantities, or t for a number of seconds */
    LW_IS_PER_ANGLE, /* 5 mm/rev where a length is wanted */
    LW_DOES_NOT_FIT
} lw_fitness;
/* May a value that measures m stand where the quantity is wanted? uses_time: the variable t is in it. */
lw_fitness lw_meaning_fit(const lw_meaning *m, lw_quantity quantity, bool uses_time);

/* Is the word a unit? */
bool lw_is_unit(const char *word, size_t length);

/* Unit names by index, NULL behind the last: for suggestions. */
const char *lw_unit_name(size_t index);

#endif
