/* units.c - units behind numbers.
 *
 *     units   = factor { factor | ("*" | "/") factor }      left to right: N s/m = (N s)/m, m/s/s = m/s^2
 *     factor  = (word | "(" ["1" "/"] units ")") [ ("^" | "**") ["-"] digit ]
 *
 * Outside parentheses, "*" or "/" belongs to the units only if a unit follows: in `5 N/2` or `5 N*(a + b)`
 * they are ordinary operators, and so they are before a function, as in `5 m/min(a, b)`. If the unit that
 * follows is a known name too (a parameter m in `5 N/m`), nobody can tell what is meant, and the caller is
 * told of the clash. A unit right behind a quotient (`5 N/m s`) is refused for the same reason.
 *
 * Factors to SI are kept as numerator / denominator, both exact wherever the unit's definition is.
 */
#include "model/units.h"

#include <string.h>

#define PI 3.14159265358979323846

enum { DEEPEST = 8 };

static const struct unit {
    const char *name;
    double numerator, denominator;
} table[] = {
    {"m", 1, 1},           {"mm", 1, 1e3},
    {"cm", 1, 100},        {"km", 1e3, 1},
    {"um", 1, 1e6},        {"in", 254, 1e4},
    {"ft", 3048, 1e4},     {"rad", 1, 1},
    {"deg", PI, 180},      {"rev", 2 * PI, 1},
    {"rpm", PI, 30},       {"s", 1, 1},
    {"ms", 1, 1e3},        {"us", 1, 1e6},
    {"min", 60, 1},        {"h", 3600, 1},
    {"kg", 1, 1},          {"g", 1, 1e3},
    {"mg", 1, 1e6},        {"tonne", 1e3, 1},
    {"lb", 45359237, 1e8}, {"N", 1, 1},
    {"mN", 1, 1e3},        {"kN", 1e3, 1},
    {"MN", 1e6, 1},        {"lbf", 44482216152605, 1e13},
    {"Nm", 1, 1},          {"Nmm", 1, 1e3},
    {"kNm", 1e3, 1},       {"Ns", 1, 1},
    {"Nms", 1, 1},         {"Pa", 1, 1},
    {"kPa", 1e3, 1},       {"MPa", 1e6, 1},
    {"GPa", 1e9, 1},       {"bar", 1e5, 1},
    {"J", 1, 1},           {"kJ", 1e3, 1},
    {"W", 1, 1},           {"kW", 1e3, 1},
    {"Hz", 1, 1},
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
    for (int i = 0; i < r->text[at] - '0'; i++) {
        numerator *= negative ? units->denominator : units->numerator;
        denominator *= negative ? units->numerator : units->denominator;
    }
    units->numerator = numerator;
    units->denominator = denominator;
    units->end = at + 1;
    return LW_UNITS_FOUND;
}

static lw_units_result read_product(const reader *r, size_t at, int depth, bool checked, lw_units *units);

/* checked: words that are known names clash. */
static lw_units_result read_factor(const reader *r, size_t at, int depth, bool checked, lw_units *units) {
    at = skip_space(r, at);
    if (r->text[at] == '(') {
        if (depth >= DEEPEST) return LW_UNITS_NONE;
        at = skip_space(r, at + 1);
        size_t one = skip_space(r, at + (r->text[at] == '1'));
        bool reciprocal = r->text[at] == '1' && r->text[one] == '/';
        /* What is no complete group of units is an ordinary expression in parentheses. */
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
        }
        return read_exponent(r, units);
    }

    size_t length = word_length(r, at);
    const struct unit *unit = find(r->text + at, length);
    if (!unit) return LW_UNITS_NONE;
    *units = (lw_units){unit->numerator, unit->denominator, at + length, at};
    lw_units_result result = read_exponent(r, units);
    if (checked && lw_names_have(r->names, r->text + at, length)) {
        units->trouble = at;
        return LW_UNITS_CLASH;
    }
    return result;
}

/* Inside parentheses every operator must be followed by a unit; outside, an operator that is not ends the
 * units. A clash or an unclear product inside parentheses counts only if the whole group turns out to be
 * units. */
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
        units->end = factor.end;
        quotient = quotient || divides;
    }
    return result;
}

lw_units_result lw_units_read(const char *text, size_t at, const lw_expression_names *names,
                              lw_units *units) {
    reader r = {text, names};
    *units = (lw_units){1, 1, at, at};
    return read_product(&r, at, 0, false, units);
}
