/* test_number.c - numbers as text: the same text as printf's with the fewest digits that read back, which is
 * the other way to it; near powers of ten and of two, where digits and distances change, at integers, decimal
 * fractions and random doubles.
 */
#include "io/number.h"
#include "random_model.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same(double x) {
    char own[LW_NUMBER_SIZE], expected[64];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(expected, sizeof expected, "%.*g", digits, x);
        if (strtod(expected, NULL) == x) break;
    }
    const int length = lw_number_print(x, own);
    double back;
    if (strcmp(own, expected) != 0 || length != (int)strlen(own))
        fail_msg("%a: \"%s\" in place of \"%s\"", x, own, expected);
    assert_true(lw_number_read(own, &back) && back == x);
}

static void both_sides(double x, int count) {
    double above = x, below = x;
    for (int k = 0; k < count; k++) {
        same(above), same(below), same(-above);
        above = nextafter(above, HUGE_VAL), below = nextafter(below, 0);
    }
}

static void test_powers(void **state) {
    (void)state;
    for (int k = -8; k <= 18; k++) both_sides(pow(10, k), 200);
    for (int k = -18; k <= 53; k++) both_sides(ldexp(1, k), 50);
    for (int k = -8; k <= 15; k++)
        for (int i = 1; i < 200; i++) same(i * pow(10, k)), same(pow(10, k) * i / 7);
}

static void test_random(void **state) {
    (void)state;
    lw_random random = random_seed(3);
    for (int k = 0; k < 60000; k++) {
        const double x = random_between(&random, 1, 2);
        same(ldexp(x, k % 66 - 15));
        same(floor(1e6 * x) / 1000);
        same(floor(ldexp(x, k % 50)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_powers), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
