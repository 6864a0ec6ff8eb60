/* units.c - units behind numbers.
 *
 *     units   = factor { factor | ("*" | "/") factor }      left to right: N s/m = (N s)/m, m/s/s = m/s^2
 *     factor  = (word | "(" ["1" "/"] units ")") [ ("^" | "**") ["-"] digit ]
 *
 * Outside parentheses, "*" or "/" belongs to the units only if a unit follows: in `5 N/2` or `5 N*(a + b)`
 * they are ordinary operators, and also before a function, as in `5 m/min(a, b)`. If the unit that follows is
 * a known name too (a parameter m in `5 N/m`), the text is ambiguous, and the result is a clash. A unit right
 * behind a quotient (`5 N/m s`) is refused for the same reason.
 *
 * Factors to SI are kept as numerator / denominator, both exact wherever the unit's definition is.
 */
#include "expression/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { DEEPEST = 8 };

static const struct unit {
    const char *name;
    double numerator, denominator;
    lw_dimension dimension;
} table[] = {
    {"m", 1, 1, {1, 0, 0, 0}},           {"mm", 1, 1e3, {1, 0, 0, 0}},
    {"cm", 1, 100, {1, 0, 0, 0}},        {"km", 1e3, 1, {1, 0, 0, 0}},
    {"um", 1, 1e6, {1, 0, 0, 0}},        {"in", 254, 1e4, {1, 0, 0, 0}},
    {"ft", 3048, 1e4, {1, 0, 0, 0}},     {"rad", 1, 1, {0, 0, 0, 1}},
    {"deg", PI, 180, {0, 0, 0, 1}},      {"rev", 2 * PI, 1, {0, 0, 0, 1}},
    {"rpm", PI, 30, {0, 0, -1, 1}},      {"s", 1, 1, {0, 0, 1, 0}},
    {"ms", 1, 1e3, {0, 0, 1, 0}},        {"us", 1, 1e6, {0, 0, 1, 0}},
    {"min", 60, 1, {0, 0, 1, 0}},        {"h", 3600, 1, {0, 0, 1, 0}},
    {"kg", 1, 1, {0, 1, 0, 0}},          {"g", 1, 1e3, {0, 1, 0, 0}},
    {"mg", 1, 1e6, {0, 1, 0, 0}},        {"tonne", 1e3, 1, {0, 1, 0, 0}},
    {"lb", 45359237, 1e8, {0, 1, 0, 0}}, {"N", 1, 1, {1, 1, -2, 0}},
    {"mN", 1, 1e3, {1, 1, -2, 0}},       {"kN", 1e3, 1, {1, 1, -2, 0}},
    {"MN", 1e6, 1, {1, 1, -2, 0}},       {"lbf", 44482216152605, 1e13, {1, 1, -2, 0}},
    {"Nm", 1, 1, {2, 1, -2, 0}},         {"Nmm", 1, 1e3, {2, 1, -2, 0}},
    {"kNm", 1e3, 1, {2, 1, -2, 0}},      {"Ns", 1, 1, {1, 1, -1, 0}},
    {"Nms", 1, 1, {2, 1, -1, 0}},        {"Pa", 1, 1, {-1, 1, -2, 0}},
    {"kPa", 1e3, 1, {-1, 1, -2, 0}},     {"MPa", 1e6, 1, {-1, 1, -2, 0}},
    {"GPa", 1e9, 1, {-1, 1, -2, 0}},     {"bar", 1e5, 1, {-1, 1, -2, 0}},
    {"J", 1, 1, {2, 1, -2, 0}},          {"kJ", 1e3, 1, {2, 1, -2, 0}},
    {"W", 1, 1, {2, 1, -3, 0}},          {"kW", 1e3, 1, {2, 1, -3, 0}},
    {"Hz", 1, 1, {0, 0, -1, 0}},
};

enum { UNITS = sizeof table / sizeof *table };

static const struct unit *find(const char *word, size_t length) {
    for (size_t i = 0; i < UNITS; i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, word, length) == 0) return &table[i];
    }
    return NULL;
}

bool lw_is_unit(const char *word, size_t length) { return find(word, length) != NULL; }
const char *lw_unit_name(size_t index) { return index < UNITS ? table[index].name : NULL; }

typedef struct reader {
    const char *text;
    const lw_expression_names *names;
} reader;

static size_t skip_space(const reader *r, size_t at) {
    while (r->text[at] != '\0' && strchr(" \t\r\n", r->text[at])) at++;
    return at;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t word_length(const reader *r, size_t at) {
    size_t length = 0;
    if (!is_letter(r->text[at])) return 0;
    while (is_letter(r->text[at + length]) || is_digit(r->text[at + length])) length++;
    return length;
}

/* Bounds exponents for any text; no quantity has such large exponents. */
static int saturated(int exponent) { return exponent > 999 ? 999 : exponent < -999 ? -999 : exponent; }

/* The dimension of a times b^exponent. */
static lw_dimension combined(lw_dimension a, lw_dimension b, int exponent) {
    return (lw_dimension){saturated(a.length + b.length * exponent), saturated(a.mass + b.mass * exponent),
                          saturated(a.time + b.time * exponent), saturated(a.angle + b.angle * exponent)};
}

/* Raises units to the exponent behind them, if there is one. */
static lw_units_result read_exponent(const reader *r, lw_units *units) {
    size_t at = skip_space(r, units->end);
    size_t sign = r->text[at] == '^' ? 1 : r->text[at] == '*' && r->text[at + 1] == '*' ? 2 : 0;
    if (sign == 0) return LW_UNITS_FOUND;

    units->trouble = at;
    at = skip_space(r, at + sign);
    bool negative = r->text[at] == '-';
    if (negative) at = skip_space(r, at + 1);
    if (!is_digit(r->text[at])) return LW_UNITS_BAD_EXPONENT;
    char next = r->text[at + 1];
    if (is_digit(next) || is_letter(next) || next == '.') return LW_UNITS_BAD_EXPONENT;

    double numerator = 1, denominator = 1;
    int exponent = (negative ? -1 : 1) * (r->text[at] - '0');
    for (int i = 0; i < r->text[at] - '0'; i++) {
        numerator *= negative ? units->denominator : units->numerator;
        denominator *= negative ? units->numerator : units->denominator;
    }
    units->numerator = numerator;
    units->denominator = denominator;
    units->dimension = combined((lw_dimension){0, 0, 0, 0}, units->dimension, exponent);
    units->end = at + 1;
    return LW_UNITS_FOUND;
}

static lw_units_result read_product(const reader *r, size_t at, int depth, bool checked, lw_units *units);

/* Reads one factor. If `checked`, a unit that is also a known name is a clash. */
static lw_units_result read_factor(const reader *r, size_t at, int depth, bool checked, lw_units *units) {
    at = skip_space(r, at);
    if (r->text[at] == '(') {
        if (depth >= DEEPEST) return LW_UNITS_NONE;
        at = skip_space(r, at + 1);
        size_t one = skip_space(r, at + (r->text[at] == '1'));
        bool reciprocal = r->text[at] == '1' && r->text[one] == '/';
        /* Parentheses with anything but units are an ordinary expression. */
        lw_units_result result = read_product(r, reciprocal ? one + 1 : at, depth + 1, checked, units);
        if (result == LW_UNITS_NONE || result == LW_UNITS_BAD_EXPONENT) return LW_UNITS_NONE;
        size_t end = skip_space(r, units->end);
        if (r->text[end] != ')') return LW_UNITS_NONE;
        units->end = end + 1;
        if (result != LW_UNITS_FOUND) return result;
        if (reciprocal) {
            double numerator = units->numerator;
            units->numerator = units->denominator;
            units->denominator = numerator;
            units->dimension = combined((lw_dimension){0, 0, 0, 0}, units->dimension, -1);
        }
        return read_exponent(r, units);
    }

    size_t length = word_length(r, at);
    const struct unit *unit = find(r->text + at, length);
    if (!unit) return LW_UNITS_NONE;
    *units = (lw_units){unit->numerator, unit->denominator, unit->dimension, at + length, at};
    lw_units_result result = read_exponent(r, units);
    if (checked && lw_names_have(r->names, r->text + at, length)) {
        units->trouble = at;
        return LW_UNITS_CLASH;
    }
    return result;
}

/* Reads a product. Inside parentheses every operator must be followed by a unit; outside, an operator without
 * a following unit ends the units. A clash or an unclear product inside parentheses counts only if the whole
 * group consists of units. */
static lw_units_result read_product(const reader *r, size_t at, int depth, bool checked, lw_units *units) {
    lw_units_result result = read_factor(r, at, depth, checked, units);
    bool quotient = false;

    while (result != LW_UNITS_NONE && result != LW_UNITS_BAD_EXPONENT) {
        if (result != LW_UNITS_FOUND && depth == 0) return result;
        size_t operator_at = skip_space(r, units->end), next = operator_at;
        bool divides = r->text[next] == '/', multiplies = r->text[next] == '*' && r->text[next + 1] != '*';
        if (divides || multiplies) next = skip_space(r, next + 1);
        size_t length = word_length(r, next);
        bool group = r->text[next] == '(' && (divides || multiplies);
        bool call = length > 0 && r->text[skip_space(r, next + length)] == '('; /* as in 5 m/min(a, b) */
        if (call || (!group && !lw_is_unit(r->text + next, length))) {
            return (divides || multiplies) && depth > 0 ? LW_UNITS_NONE : result;
        }

        lw_units factor;
        bool ask = checked || (depth == 0 && (divides || multiplies));
        lw_units_result more = read_factor(r, next, depth, ask, &factor);
        if (more == LW_UNITS_NONE) return depth > 0 ? LW_UNITS_NONE : result;
        if (more == LW_UNITS_BAD_EXPONENT) {
            units->trouble = factor.trouble;
            return more;
        }
        if (more == LW_UNITS_FOUND && quotient && !divides && !multiplies) {
            more = LW_UNITS_UNCLEAR;
            factor.trouble = next;
        }
        if (more != LW_UNITS_FOUND && result == LW_UNITS_FOUND) {
            result = more;
            units->trouble = factor.trouble;
        }
        units->numerator *= divides ? factor.denominator : factor.numerator;
        units->denominator *= divides ? factor.numerator : factor.denominator;
        units->dimension = combined(units->dimension, factor.dimension, divides ? -1 : 1);
        units->end = factor.end;
        quotient = quotient || divides;
    }
    return result;
}

lw_units_result lw_units_read(const char *text, size_t at, const lw_expression_names *names,
                              lw_units *units) {
    reader r = {text, names};
    *units = (lw_units){1, 1, {0, 0, 0, 0}, at, at};
    return read_product(&r, at, 0, false, units);
}

/* --- quantities -------------------------------------------------------------------------------------- */

static const struct quantity {
    const char *name, *unit;
    lw_dimension dimension;
} quantities[LW_QUANTITIES] = {
    [LW_PLAIN_NUMBER] = {"a plain number", "1", {0, 0, 0, 0}},
    [LW_ANGLE] = {"an angle", "rad", {0, 0, 0, 1}},
    [LW_LENGTH] = {"a length", "m", {1, 0, 0, 0}},
    [LW_MASS] = {"a mass", "kg", {0, 1, 0, 0}},
    [LW_TIME] = {"a time", "s", {0, 0, 1, 0}},
    [LW_SPEED] = {"a speed", "m/s", {1, 0, -1, 0}},
    [LW_ANGULAR_SPEED] = {"an angular speed", "rad/s", {0, 0, -1, 1}},
    [LW_ACCELERATION] = {"an acceleration", "m/s^2", {1, 0, -2, 0}},
    [LW_FORCE] = {"a force", "N", {1, 1, -2, 0}},
    [LW_TORQUE] = {"a torque", "N m", {2, 1, -2, 0}},
    [LW_INERTIA] = {"a moment of inertia", "kg m^2", {2, 1, 0, 0}},
    [LW_DENSITY] = {"a density", "kg/m^3", {-3, 1, 0, 0}},
    [LW_STIFFNESS] = {"a stiffness", "N/m", {0, 1, -2, 0}},
    [LW_DAMPING] = {"a damping", "N s/m", {0, 1, -1, 0}},
    [LW_PRESSURE] = {"a pressure", "Pa", {-1, 1, -2, 0}},
    [LW_TURNING_STIFFNESS] = {"a stiffness against turning", "N m/rad", {2, 1, -2, -1}},
    [LW_TURNING_DAMPING] = {"a damping of turning", "N m s/rad", {2, 1, -1, -1}},
    [LW_POWER] = {"a power", "W", {2, 1, -3, 0}},
    [LW_COMPLIANCE] = {"a compliance", "m/N", {0, -1, 2, 0}},
    [LW_TURNING_COMPLIANCE] = {"a compliance against turning", "rad/(N m)", {-2, -1, 2, 1}},
};

lw_quantity lw_quantity_of(const char *unit) {
    for (int k = LW_PLAIN_NUMBER; unit && k < LW_QUANTITIES; k++) {
        if (strcmp(quantities[k].unit, unit) == 0) return (lw_quantity)k;
    }
    return LW_ANY_QUANTITY;
}

static bool same(lw_dimension a, lw_dimension b) {
    return a.length == b.length && a.mass == b.mass && a.time == b.time;
}

/* The name of the quantity with this dimension, or NULL if it has none. */
static const char *measured(lw_dimension dimension) {
    for (int k = LW_ANGLE; k < LW_QUANTITIES; k++) {
        if (same(quantities[k].dimension, dimension)) return quantities[k].name;
    }
    return NULL;
}

bool lw_units_fit(const char *text, lw_quantity quantity, lw_syntax *syntax) {
    if (quantity == LW_ANY_QUANTITY) return true;
    size_t at = strspn(text, " \t\r\n+-"), digits = strspn(text + at, "0123456789.");
    if (digits == 0) return true;
    at += digits;
    if (text[at] == 'e' || text[at] == 'E') {
        size_t sign = text[at + 1] == '+' || text[at + 1] == '-',
               exponent = strspn(text + at + 1 + sign, "0123456789");
        if (exponent > 0) at += 1 + sign + exponent;
    }
    at += strspn(text + at, " \t\r\n");
    if (text[at] == '\0') return true;

    const lw_expression_names none = {.constants = NULL};
    lw_units units;
    if (lw_units_read(text, at, &none, &units) != LW_UNITS_FOUND) return true;
    if (text[units.end + strspn(text + units.end, " \t\r\n")] != '\0') return true;
    const struct quantity *wanted = &quantities[quantity];
    bool per_angle = quantity == LW_LENGTH && units.dimension.angle != 0;
    if (same(units.dimension, wanted->dimension) && !per_angle) return true;
    if (!syntax) return false;
    size_t length = units.end - at < 40 ? units.end - at : 40;
    syntax->offset = at;
    if (per_angle && same(units.dimension, wanted->dimension)) {
        (void)snprintf(syntax->message, sizeof syntax->message,
                       "%.*s has an angle in it, but a length is expected", (int)length, text + at);
        (void)snprintf(syntax->remedy, sizeof syntax->remedy, "give it in m; a screw's lead is per turn");
        return false;
    }
    const char *other = measured(units.dimension);
    (void)snprintf(syntax->message, sizeof syntax->message,
                   other ? "%.*s is %s, but %s is expected" : "%.*s is %s unit of %s", (int)length, text + at,
                   other ? other : "no", wanted->name);
    if (quantity == LW_PLAIN_NUMBER) {
        (void)snprintf(syntax->remedy, sizeof syntax->remedy, "leave the unit out");
    } else {
        (void)snprintf(syntax->remedy, sizeof syntax->remedy, "give it in %s", wanted->unit);
    }
    return false;
}

/* --- measures ---------------------------------------------------------------------------------------- */

static lw_meaning measure_of(lw_dimension d, lw_meaning_kind kind) {
    return (lw_meaning){kind, true, d.length, d.mass, d.time, d.angle};
}

lw_meaning lw_units_meaning(const lw_units *units) {
    const lw_dimension d = units->dimension;
    bool ratio = same(d, (lw_dimension){0, 0, 0, 0}) && d.angle == 0; /* 3 m/m */
    return ratio ? (lw_meaning){.kind = LW_MEANING_RATIO} : measure_of(d, LW_MEANING_SURE);
}

lw_meaning lw_quantity_meaning(lw_quantity quantity, lw_meaning_kind kind) {
    if (quantity == LW_ANY_QUANTITY || quantity == LW_PLAIN_NUMBER)
        return (lw_meaning){.kind = LW_MEANING_UNKNOWN};
    return measure_of(quantities[quantity].dimension, kind);
}

const char *lw_quantity_name(lw_quantity quantity) { return quantities[quantity].name; }
const char *lw_quantity_unit(lw_quantity quantity) { return quantities[quantity].unit; }

void lw_meaning_name(const lw_meaning *m, char *name, size_t size) {
    for (int k = LW_ANGLE; k < LW_QUANTITIES; k++) {
        const lw_meaning other = lw_quantity_meaning((lw_quantity)k, LW_MEANING_SURE);
        if (!lw_meaning_same(m, &other)) continue;
        (void)snprintf(name, size, "%s", quantities[k].name);
        return;
    }
    static const char *const bases[] = {"kg", "m", "s"};
    const double powers[] = {m->mass, m->length, m->time};
    int used = snprintf(name, size, "a quantity in");
    for (int k = 0; k < 3 && used > 0 && (size_t)used < size; k++) {
        if (fabs(powers[k]) < 1e-9) continue;
        used += fabs(powers[k] - 1) < 1e-9
                    ? snprintf(name + used, size - (size_t)used, " %s", bases[k])
                    : snprintf(name + used, size - (size_t)used, " %s^%.3g", bases[k], powers[k]);
    }
}

lw_fitness lw_meaning_fit(const lw_meaning *m, lw_quantity quantity, bool uses_time) {
    static const lw_meaning plain = {.kind = LW_MEANING_RATIO};
    if (quantity == LW_ANY_QUANTITY || !lw_meaning_is_known(m)) return LW_FITS;
    const lw_meaning wanted =
        quantity == LW_PLAIN_NUMBER ? plain : lw_quantity_meaning(quantity, LW_MEANING_SURE);
    if (lw_meaning_same(m, &wanted)) {
        bool per_angle = quantity == LW_LENGTH && m->direct && fabs(m->angle) > 1e-9;
        return per_angle ? LW_IS_PER_ANGLE : LW_FITS;
    }
    bool in_length = fabs(m->length - wanted.length) > 1e-9, in_mass = fabs(m->mass - wanted.mass) > 1e-9;
    bool in_time = fabs(m->time - wanted.time) > 1e-9;
    if (m->kind ==
        /* One factor 1 was left out, as in L^2/12 for the inertia of 1 kg, or k/50 for a damping. */
        LW_MEANING_LIKELY)
        return in_length + in_mass + in_time == 1 ? LW_FITS : LW_MAY_FIT;
    return uses_time && in_time && !in_length && !in_mass ? LW_MAY_FIT
                                                          : LW_DOES_NOT_FIT; /* 5 N*t for 5 N/s*t */
}
