/* test_dense_svd_kernels.c - bidiagonal matrices of which entries vanish, on the diagonal and above it, at the ends and
 * inside: B = G diag(s) H' with orthogonal G and H.
 */
#define PACK 2
#pragma GCC diagnostic ignored "-Wunused-function"
#include "linalg/dense_svd_kernels.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

enum { MOST = 12, SEEDS = 2000 };

static void vanishing_entries(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const int n = 1 + random_below(&random, MOST);
        double d[MOST], e[MOST], B[MOST * MOST] = {0}, G[MOST * MOST], H[MOST * MOST];
        random_vector(&random, n, 1, d), random_vector(&random, n, 1, e);
        for (int k = random_below(&random, 4); k > 0; k--) d[random_below(&random, n)] = 0;
        for (int k = random_below(&random, 3); k > 0; k--) e[random_below(&random, n)] = 0;
        for (int k = 0; k < n; k++) {
            B[k * (n + 1)] = d[k];
            if (k + 1 < n) B[k + (k + 1) * n] = e[k];
        }
        fill_identity(n, G), fill_identity(n, H);
        const bidiagonal b = {n, d, e, G, H, (size_t)n, (size_t)n, DBL_EPSILON};
        assert_true(diagonalise(&b));
        sort_values(&b);
        for (int k = 1; k < n; k++) assert_true(d[k] >= 0 && d[k] <= d[k - 1]);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                double product = -B[i + j * n], left = i == j ? -1 : 0, right = left;
                for (int k = 0; k < n; k++) {
                    product += G[i + k * n] * d[k] * H[j + k * n];
                    left += G[k + i * n] * G[k + j * n], right += H[k + i * n] * H[k + j * n];
                }
                /* some dozens of rotations of entries up to one */
                if (!(fabs(product) < 1e-14 * MOST && fabs(left) < 1e-14 * MOST &&
                      fabs(right) < 1e-14 * MOST))
                    fail_msg("seed %d: %g, %g, %g", seed, product, left, right);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vanishing_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
