/* Searches on functions whose least value is known: valleys, long ellipsoids, edges and corners of the box, a
 * constraint, noise, failures; and that what they ask for is the same to the last bit when it is asked again. */
#include "sweep/search.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

enum { MOST = 8 };

typedef lw_found function(int n, const double *x);

static lw_found rosenbrock(int n, const double *u) {
    double f = 0, x[MOST];
    for (int i = 0; i < n; i++) x[i] = 4 * u[i] - 2;
    for (int i = 0; i + 1 < n; i++) f += 100 * pow(x[i + 1] - x[i] * x[i], 2) + pow(1 - x[i], 2);
    return (lw_found){f, 0};
}

/* Axes of 1 to 1000, turned; the least value 2 at 0.3. */
static lw_found ellipsoid(int n, const double *u) {
    double f = 2;
    for (int k = 0; k < n; k++) {
        double along = 0;
        for (int i = 0; i < n; i++) along += (u[i] - 0.3) * cos(1.0 + k * 0.7 + i * (1.3 + 0.4 * k));
        f += pow(1e6, (double)k / (n > 1 ? n - 1 : 1)) * along * along;
    }
    return (lw_found){f, 0};
}

/* Least at the corner 0, 1, 0, 1 ... */
static lw_found corner(int n, const double *u) {
    double f = 0;
    for (int i = 0; i < n; i++) f += (i + 1) * (i % 2 ? 1 - u[i] : u[i]) + u[i] * u[i];
    return (lw_found){f, 0};
}

/* Least at the edge u_0 = 1, the others at 0.5 + 0.1 i. */
static lw_found edge(int n, const double *u) {
    double f = (u[0] - 3) * (u[0] - 3);
    for (int i = 1; i < n; i++)
        f += (u[i] - 0.5 - 0.1 * i) * (u[i] - 0.5 - 0.1 * i) * (1 + i) + 0.1 * u[0] * u[i];
    return (lw_found){f, 0};
}

/* The sum of squares, the sum at least 1: all 1 / n. */
static lw_found constrained(int n, const double *u) {
    double f = 0, sum = 0;
    for (int i = 0; i < n; i++) f += u[i] * u[i], sum += u[i];
    return (lw_found){f, fmax(0, 1 - sum)};
}

/* Kinks, jumps and failures: least 0 at 0.7, fails beyond. */
static lw_found rough(int n, const double *u) {
    double f = 0;
    for (int i = 0; i < n; i++) {
        if (u[i] > 0.9) return (lw_found){NAN, 0};
        f += fabs(u[i] - 0.7) + 0.01 * floor(fabs(u[i] - 0.7) * 50);
    }
    return (lw_found){f, 0};
}

typedef struct outcome {
    lw_found best;
    double x[MOST];
    int runs;
    const char *ended;
} outcome;

static outcome look(const lw_search_way *way, function *f, int n, int most, int restarts, uint64_t seed) {
    static const double start[MOST] = {0.2, 0.55, 0.4, 0.35, 0.6, 0.1, 0.8, 0.5};
    const lw_search_settings settings = {
        .dimension = n, .start = start, .seed = seed, .restarts = restarts, .tolerance = 1e-9};
    lw_arena *arena = lw_arena_create(NULL);
    void *search = way->create(arena, &settings);
    outcome o = {.best = {NAN, 0}};
    const double *points;
    static lw_found found[10000];
    assert_non_null(search);
    for (int count = way->ask(search, &points); count > 0 && o.runs + count <= most;
         count = way->ask(search, &points)) {
        for (int k = 0; k < count; k++) {
            const double *x = points + (size_t)k * (size_t)n;
            for (int i = 0; i < n; i++) assert_true(x[i] >= 0 && x[i] <= 1);
            found[k] = f(n, x);
            if (lw_found_better(&found[k], &o.best)) {
                o.best = found[k];
                memcpy(o.x, x, (size_t)n * sizeof *x);
            }
        }
        o.runs += count;
        way->tell(search, found);
    }
    o.ended = way->ended(search);
    lw_arena_destroy(arena);
    return o;
}

static void assert_near(const outcome *o, int n, double (*right)(int i), double tolerance) {
    for (int i = 0; i < n; i++)
        if (!(fabs(o->x[i] - right(i)) <= tolerance))
            fail_msg("x[%d] = %.10g is not %.10g, after %d runs: %s", i, o->x[i], right(i), o->runs,
                     o->ended ? o->ended : "not ended");
}

static double three_quarters(int i) { return (void)i, 0.75; }
static double three_tenths(int i) { return (void)i, 0.3; }
static double corners(int i) { return i % 2 ? 1 : 0; }
static double seven_tenths(int i) { return (void)i, 0.7; }
static double quarter(int i) { return (void)i, 0.25; }
static double on_edge(int i) { return i == 0 ? 1 : 0.5 + 0.1 * i - 0.05 / (1 + i); }

static void cma(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        outcome o =
            look(&lw_search_cma, rosenbrock, 4, 40000, 3, seed); /* restarts: it has a second minimum */
        assert_near(&o, 4, three_quarters, 1e-6);
        o = look(&lw_search_cma, ellipsoid, 6, 40000, 0, seed);
        assert_near(&o, 6, three_tenths, 1e-4);
        assert_non_null(o.ended);
        o = look(&lw_search_cma, corner, 5, 20000, 0, seed);
        assert_near(&o, 5, corners, 1e-6);
        o = look(&lw_search_cma, edge, 3, 20000, 0, seed);
        assert_near(&o, 3, on_edge, 1e-6);
        o = look(&lw_search_cma, constrained, 4, 20000, 0, seed);
        assert_near(&o, 4, quarter, 1e-3);
        assert_true(o.best.violation == 0 && fabs(o.best.value - 0.25) < 1e-5);
        o = look(&lw_search_cma, rough, 4, 20000, 0, seed);
        assert_near(&o, 4, seven_tenths, 1e-6);
        o = look(&lw_search_cma, corner, 1, 2000, 0, seed);
        assert_near(&o, 1, corners, 1e-6);
    }
}

static void descent(void **state) {
    (void)state;
    outcome o = look(&lw_search_descent, rosenbrock, 2, 4000, 0, 0);
    assert_near(&o, 2, three_quarters, 1e-4);
    o = look(&lw_search_descent, ellipsoid, 4, 4000, 0, 0);
    assert_near(&o, 4, three_tenths, 1e-4);
    o = look(&lw_search_descent, corner, 5, 2000, 0, 0);
    assert_near(&o, 5, corners, 0);
    assert_non_null(o.ended);
    o = look(&lw_search_descent, edge, 3, 2000, 0, 0);
    assert_near(&o, 3, on_edge, 1e-6);
    assert_true(o.runs < 300);
}

static void repeated(void **state) {
    (void)state;
    const lw_search_way *ways[] = {&lw_search_cma, &lw_search_descent};
    for (int k = 0; k < 2; k++) {
        const outcome a = look(ways[k], rosenbrock, 5, 500, 1, 9),
                      b = look(ways[k], rosenbrock, 5, 500, 1, 9);
        assert_memory_equal(a.x, b.x, sizeof a.x);
        assert_int_equal(a.runs, b.runs);
    }
    const outcome a = look(&lw_search_cma, rosenbrock, 5, 500, 0, 9),
                  b = look(&lw_search_cma, rosenbrock, 5, 500, 0, 8);
    assert_memory_not_equal(a.x, b.x, sizeof a.x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cma), cmocka_unit_test(descent),
                                       cmocka_unit_test(repeated)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
