/* number.c - numbers as text, with a decimal point in every locale.
 *
 * printf and strtod use the locale's decimal point, which the calling program may have set; a file must not
 * depend on the locale, so that its point is replaced here.
 *
 * Results files are mostly numbers. Those of usual size, 1e-4 <= |x| < 1e15, are therefore printed without
 * printf, 10 times as fast, by exact integers: x = m 2^-s, N = m 10^k with k such that N 2^-s has 17 digits
 * before the point. A text of d digits is this number rounded to a multiple c p of p = 10^(17-d); it reads
 * back as x if it is closer to x than half the distance to the next double: 2 |c p 2^s - N| < 10^k.
 */
#include "io/number.h"

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *decimal_point(void) {
    const char *point = localeconv()->decimal_point;
    return point[0] ? point : ".";
}

/* Replaces the locale's point by "."; returns the new length. */
static int use_point(char *text) {
    const char *point = decimal_point();
    char *place = strcmp(point, ".") == 0 ? NULL : strstr(text, point);
    if (place) {
        char *rest = place + strlen(point);
        *place = '.';
        memmove(place + 1, rest, strlen(rest) + 1);
    }
    return (int)strlen(text);
}

__extension__ typedef unsigned __int128 wide;

/* Prints v 10^-k in fixed notation. */
static int print_scaled(uint64_t v, int k, char *text) {
    char digits[24]; /* from the last to the first */
    int count = 0, length = 0;
    for (; v % 10 == 0 && k > 0; k--) v /= 10;
    for (; v > 0 || count <= k; v /= 10) digits[count++] = (char)('0' + v % 10);
    while (count > 0) {
        if (count == k) text[length++] = '.';
        text[length++] = digits[--count];
    }
    text[length] = '\0';
    return length;
}

/* Prints 1e-4 <= value < 1e15, except powers of two, where the next double is closer on one side; returns 0
 * for powers of two and values outside the range. */
static int print_usual(double value, char *text) {
    static const double powers[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    enum { POWERS = sizeof powers / sizeof *powers };
    if (!(value >= powers[0] && value < powers[POWERS - 1])) return 0;
    int exponent, k = 20, s;
    uint64_t m = (uint64_t)ldexp(frexp(value, &exponent), 53);
    if (m == (uint64_t)1 << 52) return 0;
    s = 53 - exponent;
    for (int i = 1; value >= powers[i]; i++) k--;
    wide scale = 1, one = (wide)1 << s;
    for (int i = 0; i < k; i++) scale *= 10;
    wide n = m * scale, rest = n & (one - 1);
    uint64_t whole = (uint64_t)(n >> s);
    for (uint64_t p = 100;; p /= 10) {
        uint64_t c = whole / p, r = whole % p;
        bool above = p > 1 ? 2 * r > p || (2 * r == p && rest > 0) : 2 * rest > one;
        bool tie = p > 1 ? 2 * r == p && rest == 0 : 2 * rest == one;
        if (above || (tie && c % 2 == 1)) c++;
        wide text_value = (wide)(c * p) << s, distance = text_value > n ? text_value - n : n - text_value;
        if (p == 1 || 2 * distance < scale) return print_scaled(c * p, k, text);
    }
}

int lw_number_print(double value, char text[LW_NUMBER_SIZE]) {
    if (value == 0) { /* The text is never "-0". */
        memcpy(text, "0", 2);
        return 1;
    }
    if (value < 0) text[0] = '-';
    int sign = value < 0, length = print_usual(fabs(value), text + sign);
    if (length > 0) return sign + length;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, LW_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return use_point(text);
}

int lw_number_print_fixed(double value, int decimals, char text[LW_NUMBER_SIZE]) {
    snprintf(text, LW_NUMBER_SIZE, "%.*f", decimals, value);
    return use_point(text);
}

static const char *skip_blanks(const char *text) {
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

static bool read_all(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *skip_blanks(end) == '\0';
}

/* Reads a number of at most 2^53 and few digits behind the point, which a product or a quotient of two exact
 * numbers gives correctly rounded; false if the text is anything else. */
static bool read_usual(const char *text, double *value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const uint64_t most = (uint64_t)1 << 53;
    uint64_t number = 0;
    int digits = 0, exponent = 0, sign = 1;
    bool point = false, seen = false;
    if (*text == '-' || *text == '+') sign = *text++ == '-' ? -1 : 1;
    for (;; text++) {
        if (*text >= '0' && *text <= '9' && digits < 18) {
            number = 10 * number + (uint64_t)(*text - '0');
            digits += number > 0;
            exponent -= point;
        } else if (*text == '.' && !point) {
            point = true;
        } else {
            break;
        }
        seen = true;
    }
    if (!seen || text[-1] == '.' || *skip_blanks(text) != '\0' || number > most || exponent < -22)
        return false; /* strtod decides */
    *value = sign * ((double)number / powers[-exponent]);
    return true;
}

bool lw_number_read(const char *text, double *value) {
    text = skip_blanks(text);
    if (*text >= '+' && *text <= '9' && read_usual(text, value)) return true;
    const char *place = strchr(text, '.'), *point = decimal_point();
    if (!place || strcmp(point, ".") == 0) return read_all(text, value);

    char local[128]; /* In another locale longer numbers are not read. */
    size_t before = (size_t)(place - text), after = strlen(place + 1), width = strlen(point);
    if (before + width + after >= sizeof local) return false;
    memcpy(local, text, before);
    memcpy(local + before, point, width);
    memcpy(local + before + width, place + 1, after + 1);
    return read_all(local, value);
}
