/* Designs of sweeps: the generator against its authors' known answers, Sobol's points and Latin hypercubes by the
 * slices that they must hit, distributions by their quantiles, and that run i depends on the plan and i alone.
 */
#include "core/counter_random.h"
#include "sweep/sobol.h"
#include "sweep/sweep_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static void assert_close(double value, double right, double tolerance) {
    if (!(fabs(value - right) <= tolerance))
        fail_msg("%.17g is not %.17g, by %.3g", value, right, value - right);
}

/* Known answers of the authors' library (Random123, kat_vectors, philox4x32 with 10 rounds). */
static void generator(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        uint32_t words[4];
        memcpy(words, known[k].counter, sizeof words);
        lw_philox(words, known[k].key);
        assert_memory_equal(words, known[k].words, sizeof words);
    }
    assert_true(lw_random_unit(0) > 0 && lw_random_unit(UINT64_MAX) < 1);
}

/* The first 2^k points have one in each of 2^k slices, in every coordinate; in the first two, one in each of the
 * 2^k boxes of every shape. */
static void sobol(void **state) {
    (void)state;
    enum { K = 10, COUNT = 1 << K };
    static unsigned char hit[COUNT];
    for (int dimension = 0; dimension < LW_SOBOL_DIMENSIONS; dimension++) {
        memset(hit, 0, sizeof hit);
        for (uint32_t i = 0; i < COUNT; i++) hit[lw_sobol(i, dimension) >> (32 - K)]++;
        for (int i = 0; i < COUNT; i++) assert_int_equal(hit[i], 1);
    }
    for (int wide = 0; wide <= K; wide++) {
        memset(hit, 0, sizeof hit);
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t x = wide ? lw_sobol(i, 0) >> (32 - wide) : 0;
            const uint32_t y = wide < K ? lw_sobol(i, 1) >> (32 - (K - wide)) : 0;
            hit[x << (K - wide) | y]++;
        }
        for (int i = 0; i < COUNT; i++) assert_int_equal(hit[i], 1);
    }
}

static void quantiles(void **state) {
    (void)state;
    for (double z = -8; z <= 8; z += 0.125) {
        const double p = 0.5 * erfc(-z / sqrt(2));
        /* p is rounded, by half a unit of 1 at the upper end: so much is z uncertain. */
        const double density = exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
        assert_close(lw_normal_quantile(p), z, 1e-14 * (1 + fabs(z)) + 2.3e-16 * (p > 0.5 ? 1 : p) / density);
    }
}

static lw_spec *new_spec(void) {
    lw_spec *spec = lw_spec_create("plan");
    assert_non_null(spec);
    assert_int_equal(lw_spec_add_parameter(spec, "L", 1), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, "k", 5), LW_OK);
    assert_int_equal(lw_spec_add_parameter(spec, "c", 7), LW_OK);
    assert_int_equal(lw_spec_set_input(spec, "u", 0), LW_OK);
    return spec;
}

static lw_status read_plan(const lw_spec *spec, const lw_sweep_options *options, lw_arena **arena,
                           lw_design *design, lw_error *error) {
    *arena = lw_arena_create(NULL);
    *error = (lw_error){0};
    return lw_design_read(spec, options, false, *arena, design, error);
}

static void grids(void **state) {
    (void)state;
    lw_spec *spec = new_spec();
    const char *vary[] = {"L = 1..2 : 11", "k = 1..1000 : 4 log", "c = 5, 1/4, 2e3", "method = rcr, cut"};
    const lw_sweep_options options = {.vary = vary, .vary_count = 4};
    lw_arena *arena;
    lw_error error;
    lw_design d;
    assert_int_equal(read_plan(spec, &options, &arena, &d, &error), LW_OK);
    assert_int_equal(d.count, 11 * 4 * 3 * 2);
    const double list[3] = {5, 0.25, 2e3};
    double v[LW_VARIABLES_MOST];
    uint64_t run = 0;
    for (int a = 0; a < 11; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 3; c++)
                for (int m = 0; m < 2; m++, run++) {
                    lw_design_values(&d, run, v);
                    assert_close(v[0], 1 + 0.1 * a, 1e-15);
                    assert_close(v[1], pow(10, b), 1e-12 * pow(10, b));
                    assert_true(v[2] == list[c]);
                    assert_true(v[3] == m);
                }
    lw_design_values(&d, d.count - 1, v);
    assert_true(v[0] == 2 && v[1] == 1000); /* The ends are exact. */
    lw_arena_destroy(arena);
    lw_spec_destroy(spec);
}

/* Each of N slices of equal probability is hit once, by every variable, at every point of the grid, and not in
 * the same order. */
static void latin(void **state) {
    (void)state;
    enum { N = 237 };
    lw_spec *spec = new_spec();
    const char *vary[] = {"L ~ uniform(0, 1)", "k = 1, 2", "c ~ uniform(0, 1)"};
    const lw_sweep_options options = {
        .vary = vary, .vary_count = 3, .design = "latin", .draws = N, .seed = 5};
    lw_arena *arena;
    lw_error error;
    lw_design d;
    assert_int_equal(read_plan(spec, &options, &arena, &d, &error), LW_OK);
    int same = 0, ordered = 0;
    for (int g = 0; g < 2; g++) {
        int hit[2][N] = {{0}};
        for (int j = 0; j < N; j++) {
            double v[LW_VARIABLES_MOST], w[LW_VARIABLES_MOST];
            lw_design_values(&d, (uint64_t)(g * N + j), v);
            hit[0][(int)(v[0] * N)]++, hit[1][(int)(v[2] * N)]++;
            same += (int)(v[0] * N) == (int)(v[2] * N);
            ordered += (int)(v[0] * N) == j;
            lw_design_values(&d, (uint64_t)(g * N + j), w);
            assert_memory_equal(v, w, 3 * sizeof *v);
        }
        for (int j = 0; j < N; j++) assert_true(hit[0][j] == 1 && hit[1][j] == 1);
    }
    assert_true(same < 12 && ordered < 12); /* one is expected in each of four permutations */
    lw_arena_destroy(arena);
    lw_spec_destroy(spec);
}

/* Means, deviations and the correlation of 40 000 draws, to four standard errors. */
static void distributions(void **state) {
    (void)state;
    enum { N = 40000 };
    static const char *const draws[] = {"random", "latin", "sobol"};
    lw_spec *spec = new_spec();
    const char *vary[] = {"L ~ normal(2, 0.5)", "k ~ lognormal(3, 0.2)", "c ~ triangular(1, 2, 5)",
                          "u ~ uniform(-1, 3)"};
    const char *correlations[] = {"L, k = 0.6"};
    for (int kind = 0; kind < 3; kind++) {
        const lw_sweep_options options = {.vary = vary,
                                          .vary_count = 4,
                                          .correlations = correlations,
                                          .correlation_count = 1,
                                          .design = draws[kind],
                                          .draws = N,
                                          .seed = 11};
        lw_arena *arena;
        lw_error error;
        lw_design d;
        assert_int_equal(read_plan(spec, &options, &arena, &d, &error), LW_OK);
        double sum[4] = {0}, squares[4] = {0}, product = 0;
        for (int i = 0; i < N; i++) {
            double v[LW_VARIABLES_MOST];
            lw_design_values(&d, (uint64_t)i, v);
            const double x[4] = {(v[0] - 2) / 0.5, log(v[1] / 3) / 0.2, v[2], v[3]};
            assert_true(v[2] > 1 && v[2] < 5 && v[3] > -1 && v[3] < 3);
            for (int k = 0; k < 4; k++) sum[k] += x[k], squares[k] += x[k] * x[k];
            product += x[0] * x[1];
        }
        const double means[4] = {0, 0, 8.0 / 3, 1}, variances[4] = {1, 1, 13.0 / 18, 16.0 / 12};
        for (int k = 0; k < 4; k++) {
            const double mean = sum[k] / N, variance = squares[k] / N - mean * mean;
            assert_close(mean, means[k], 4 * sqrt(variances[k] / N));
            assert_close(variance, variances[k], 4 * sqrt(2.0 / N) * variances[k]);
        }
        assert_close(product / N, 0.6, 4 / sqrt(N));
        lw_arena_destroy(arena);
    }
    lw_spec_destroy(spec);
}

static void bad_plans(void **state) {
    (void)state;
    static const struct {
        const char *vary, *correlation, *says;
        uint64_t draws;
    } bad[] = {
        {"M = 1, 2", NULL, "no parameter or input \"M\"", 0},
        {"Lenght = 1", NULL, "no parameter or input", 0},
        {"L", NULL, "does not say how", 0},
        {"L = 1..2", NULL, "lacks the number of its points", 0},
        {"L = 1..2 : 2.5", NULL, "no whole number", 0},
        {"L = 1..2 : 1", NULL, "cannot be both ends", 0},
        {"L = -1..2 : 5 log", NULL, "passes zero", 0},
        {"L = 1, x", NULL, "\"x\"", 0},
        {"L ~ gauss(1, 2)", NULL, "no such distribution", 0},
        {"L ~ normal(1)", NULL, "numbers are not as they should be", 0},
        {"L ~ normal(1, -2)", NULL, "no distribution", 0},
        {"L ~ triangular(3, 2, 1)", NULL, "no distribution", 0},
        {"method ~ normal(1, 2)", NULL, "takes texts", 0},
        {"L = 1..2 : 1000000000000", NULL, "has 1e+12 runs", 0},
        {"L = 1, 2", NULL, "would all be the same", 3},
        {"L ~ normal(1, 2)", "L, k = 0.5", "no correlation of two", 0},
        {"L ~ normal(1, 2)", "L, L = 0.5", "no correlation of two", 0},
        {"L from no_such_file.csv", NULL, "no_such_file.csv", 0},
    };
    lw_spec *spec = new_spec();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const lw_sweep_options options = {.vary = &bad[k].vary,
                                          .vary_count = 1,
                                          .correlations = &bad[k].correlation,
                                          .correlation_count = bad[k].correlation != NULL,
                                          .draws = bad[k].draws};
        lw_arena *arena;
        lw_error error;
        lw_design d;
        char text[2048];
        assert_int_not_equal(read_plan(spec, &options, &arena, &d, &error), LW_OK);
        lw_error_format(&error, text, sizeof text);
        if (!strstr(text, bad[k].says)) fail_msg("\"%s\" is refused by: %s", bad[k].vary, text);
        lw_arena_destroy(arena);
    }
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(generator), cmocka_unit_test(sobol),
                                       cmocka_unit_test(quantiles), cmocka_unit_test(grids),
                                       cmocka_unit_test(latin),     cmocka_unit_test(distributions),
                                       cmocka_unit_test(bad_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
