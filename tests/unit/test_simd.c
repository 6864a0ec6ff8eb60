/* test_simd.c - sine and cosine of linalg/simd.h against the C library in extended precision.
 *
 * The reduced argument carries half an ulp of itself and the polynomials less than one of the result, so errors beyond
 * 1.1 of max(ulp, 1e-16) mean a wrong coefficient or a wrong quadrant.
 */
#define LANES 1
#include "linalg/simd.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <float.h>

static double error_of(double got, long double exact) {
    double unit = fmax(DBL_EPSILON * fabs(got), 1e-16);
    return (double)(fabsl((long double)got - exact) / unit);
}

static void sine_and_cosine_are_right(void **state) {
    (void)state;
    lw_random random = random_seed(7);
    double worst = 0;
    for (int k = 0; k < 400000; k++) {
        double x = random_between(&random, -1, 1) * pow(10, random_between(&random, -9, 6.2)), s, c;
        if (k % 4 == 0)
            x = floor(random_between(&random, -100, 100)) * 1.5707963267948966 + x * 1e-9; /* edges */
        real_sincos(x, &s, &c);
        double error = fmax(error_of(s, sinl(x)), error_of(c, cosl(x)));
        if (!(error <= 1.1)) fail_msg("x = %.17g: off by %g", x, error);
        worst = fmax(worst, error);
    }
    print_message("worst error %.3f of max(ulp, 1e-16)\n", worst);
}

static void beyond_its_reach_the_library_answers(void **state) {
    (void)state;
    double s, c;
    const double large[] = {1647099.0, -2e6, 1e15, 1e300};
    for (int k = 0; k < 4; k++) {
        real_sincos(large[k], &s, &c);
        assert_true(s == sin(large[k]) && c == cos(large[k]));
    }
    real_sincos(NAN, &s, &c);
    assert_true(isnan(s) && isnan(c));
    real_sincos(INFINITY, &s, &c);
    assert_true(isnan(s) && isnan(c));
    real_sincos(-0.0, &s, &c);
    assert_true(s == 0 && c == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sine_and_cosine_are_right),
        cmocka_unit_test(beyond_its_reach_the_library_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
