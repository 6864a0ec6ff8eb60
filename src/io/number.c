/* number.c - numbers as text, with a decimal point in every locale.
 *
 * printf and strtod use the locale's decimal point, which the calling program may have set; a file must not
 * depend on the locale, so that its point is replaced here.
 *
 * Results files are mostly numbers. Those of usual size, 1e-4 <= |x| < 1e15, are therefore printed without
 * printf, 15 times as fast, by exact integers: x = m 2^-s, N = m 10^k with k such that N 2^-s has 17 digits
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

static const uint64_t whole_powers[] = {1u,
                                        10u,
                                        100u,
                                        1000u,
                                        10000u,
                                        100000u,
                                        1000000u,
                                        10000000u,
                                        100000000u,
                                        1000000000u,
                                        10000000000u,
                                        100000000000u,
                                        1000000000000u,
                                        10000000000000u,
                                        100000000000000u,
                                        1000000000000000u,
                                        10000000000000000u,
                                        100000000000000000u,
                                        1000000000000000000u,
                                        10000000000000000000u};

/* The two digits of each number below a hundred. */
static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

/* Writes `count` digits of v, which has no more. */
static void put_digits(uint64_t v, int count, char *text) {
    enum { HALF = 8, HALF_POWER = 100000000 };
    if (count > HALF) { /* two halves that do not wait for each other */
        uint32_t low = (uint32_t)(v % HALF_POWER);
        v /= HALF_POWER;
        for (int k = HALF - 2; k >= 0; k -= 2, low /= 100)
            memcpy(text + count - HALF + k, pairs + 2 * (size_t)(low % 100), 2);
        count -= HALF;
    }
    for (; count >= 2; count -= 2, v /= 100) memcpy(text + count - 2, pairs + 2 * (v % 100), 2);
    if (count == 1) text[0] = (char)('0' + v % 10);
}

/* Prints v 10^-k, of `before` digits before the point or one more, in fixed notation. */
static int print_scaled(uint64_t v, int k, int before, char *text) {
    for (; k >= 8 && v % 100000000 == 0; k -= 8) v /= 100000000;
    for (; k > 0 && v % 10 == 0; k--) v /= 10;
    if (k + before < 20 && v >= whole_powers[k + before]) before++;
    put_digits(v, before + k, text);
    if (k > 0) { /* the point, and what is behind it one place on */
        memmove(text + before + 1, text + before, (size_t)k);
        text[before] = '.';
        before += k + 1;
    }
    text[before] = '\0';
    return before;
}

/* One of the three texts of whole 2^-s + rest 2^-s, of 15, 16 or 17 digits: p = 100, 10, 1, a constant where
 * this is called, so that nothing is divided. Is it close enough to read back? */
static inline bool rounds_back(uint64_t whole, wide rest, wide n, int s, wide scale, uint64_t p,
                               uint64_t *rounded) {
    const wide one = (wide)1 << s;
    uint64_t c = whole / p;
    const uint64_t r = whole % p;
    const bool above = p > 1 ? 2 * r > p || (2 * r == p && rest > 0) : 2 * rest > one;
    const bool tie = p > 1 ? 2 * r == p && rest == 0 : 2 * rest == one;
    if (above || (tie && c % 2 == 1)) c++;
    *rounded = c;
    const wide text_value = (wide)(c * p) << s, distance = text_value > n ? text_value - n : n - text_value;
    return p == 1 || 2 * distance < scale;
}

/* Prints 1e-4 <= value < 1e15, except powers of two, where the next double is closer on one side; returns 0
 * for powers of two and values outside the range. */
static int print_usual(double value, char *text) {
    static const double powers[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    enum { POWERS = sizeof powers / sizeof *powers, BIAS = 1075 };
    if (!(value >= powers[0] && value < powers[POWERS - 1])) return 0;
    uint64_t bits, rounded;
    memcpy(&bits, &value, sizeof bits); /* a normal number: value = m 2^-s */
    const uint64_t hidden = (uint64_t)1 << 52, m = (bits & (hidden - 1)) | hidden;
    const int s = BIAS - (int)(bits >> 52);
    if (m == hidden) return 0;
    int size = (((int)(bits >> 52) - 1023) * 1233 >> 12) + 4; /* log 2 = 1233 / 4096: one too few at most */
    size += value >= powers[size + 1];
    int k = 20 - size; /* powers[size] <= value */
    const wide scale = k < 20 ? (wide)whole_powers[k] : (wide)whole_powers[19] * 10;
    const wide n = m * scale, rest = n & (((wide)1 << s) - 1);
    const uint64_t whole = (uint64_t)(n >> s);
    if (rounds_back(whole, rest, n, s, scale, 100, &rounded))
        k -= 2;
    else if (rounds_back(whole, rest, n, s, scale, 10, &rounded))
        k -= 1;
    else
        (void)rounds_back(whole, rest, n, s, scale, 1, &rounded);
    return print_scaled(rounded, k, size > 4 ? size - 3 : 1, text);
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
