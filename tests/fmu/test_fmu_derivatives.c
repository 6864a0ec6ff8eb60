/* test_fmu_derivatives.c - directional derivatives of FMUs against central differences of the FMU itself; an FMU that offers none
 * refuses them.
 *
 * Directions are random, in all states and inputs at once, and tangential where a state is a quaternion.
 */
#include "fmu_importer.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

typedef struct list {
    unsigned references[MOST];
    char names[MOST][64];
    int count;
} list;

/* The variables whose lines in the description hold a word; of rates the variables that they are rates of. */
static void find(const importer *fmu, const char *word, bool states, list *out) {
    out->count = 0;
    for (const char *at = strstr(fmu->description, " name=\""); at; at = strstr(at + 1, " name=\"")) {
        const char *end = strchr(at, '\n'), *hit = strstr(at, word);
        if (!hit || hit > end || !strstr(at, "valueReference") || strstr(at, "valueReference") > end)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 7, "\""), at + 7);
        if (states) { /* der(X) */
            memmove(name, name + 4, strlen(name) - 3);
            name[strlen(name) - 1] = 0;
        }
        assert_true(out->count < MOST);
        snprintf(out->names[out->count], 64, "%s", name);
        out->references[out->count++] = importer_reference(fmu, name);
    }
}

static double random_number(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

static void set_known(importer_instance *i, const double *x, const list *inputs, const double *u) {
    assert_int_equal(importer_set_states(i, x), 0);
    for (int k = 0; k < inputs->count; k++) assert_int_equal(importer_set(i, inputs->references[k], u[k]), 0);
}

static void check(const char *problem, int version, double end) {
    importer fmu;
    importer_instance i;
    char path[512];
    snprintf(path, sizeof path, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, problem);
    importer_open(&fmu, path, version, NULL);
    assert_non_null(strstr(fmu.description, "providesDirectionalDerivative"));
    static list states, inputs, rates, outputs;
    find(&fmu, " derivative=\"", true, &states);
    find(&fmu, "causality=\"input\"", false, &inputs);
    find(&fmu, " derivative=\"", false, &rates);
    find(&fmu, "causality=\"output\"", false, &outputs);
    assert_int_equal(states.count, fmu.states);
    assert_true(importer_instantiate(&fmu, true, &i));
    assert_int_equal(importer_enter(&i, 0, 10, NAN), 0);
    assert_int_equal(importer_exit(&i), 0);
    assert_true(importer_integrate(&i, 0, end, 1e-3, NULL) >= 0);
    double x[MOST], u[MOST], y[MOST], w[MOST], seed[2 * MOST], exact[2 * MOST], values[2][2 * MOST];
    unsigned known[2 * MOST], unknown[2 * MOST];
    assert_int_equal(importer_states(&i, x), 0);
    for (int k = 0; k < inputs.count; k++) assert_int_equal(importer_get(&i, inputs.references[k], &u[k]), 0);
    memcpy(known, states.references, sizeof(unsigned) * (size_t)states.count);
    memcpy(known + states.count, inputs.references, sizeof(unsigned) * (size_t)inputs.count);
    memcpy(unknown, rates.references, sizeof(unsigned) * (size_t)rates.count);
    memcpy(unknown + rates.count, outputs.references, sizeof(unsigned) * (size_t)outputs.count);
    const int n = states.count + inputs.count, m = rates.count + outputs.count;
    unsigned random = 7;
    double worst = 0;
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < n; k++) seed[k] = random_number(&random);
        for (int k = 0; k + 3 < states.count; k++) {
            const size_t length = strlen(states.names[k]);
            if (length < 3 || strcmp(states.names[k] + length - 3, ".qw") != 0) continue;
            double radial = 0, size = 0;
            for (int c = 0; c < 4; c++) radial += x[k + c] * seed[k + c], size += x[k + c] * x[k + c];
            for (int c = 0; c < 4; c++) seed[k + c] -= radial / size * x[k + c];
        }
        if (importer_directional(&i, unknown, (size_t)m, known, (size_t)n, seed, exact) != 0)
            fail_msg("%s", i.last);
        const double h = 1e-5;
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < states.count; k++) y[k] = x[k] + (side ? -h : h) * seed[k];
            for (int k = 0; k < inputs.count; k++) w[k] = u[k] + (side ? -h : h) * seed[states.count + k];
            set_known(&i, y, &inputs, w);
            for (int k = 0; k < m; k++) assert_int_equal(importer_get(&i, unknown[k], &values[side][k]), 0);
        }
        set_known(&i, x, &inputs, u);
        for (int k = 0; k < m; k++) {
            const double difference = (values[0][k] - values[1][k]) / (2 * h);
            const double size = fmax(1, fmax(fabs(exact[k]), 1e-3 * fabs(values[0][k])));
            const double off = fabs(difference - exact[k]) / size;
            if (off > worst) worst = off;
            if (!(off < 1e-6))
                fail_msg("%s: %s by differences %.9g, exactly %.9g", problem,
                         k < rates.count ? rates.names[k] : outputs.names[k - rates.count], difference,
                         exact[k]);
        }
    }
    print_message("%s, FMI %d: %d by %d, %.1e\n", problem, version, m, n, worst);
    assert_int_not_equal(importer_directional(&i, known + n, 0, unknown, 1, seed, exact), 0); /* by a rate */
    importer_free(&i);
    importer_close(&fmu);
}

static void test_derivatives_are_those_of_the_fmu(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        check("double_pendulum", version, 0.4);
        check("cart_pole", version, 0.3);
        check("gantry", version, 0.1);
        check("tumbling_body", version, 0.3);
        check("robot_arm", version, 0.05);
    }
}

static void test_loops_offer_none(void **state) {
    (void)state;
    importer fmu;
    importer_instance i;
    double value = 0;
    char path[512];
    snprintf(path, sizeof path, "%s/problems/four_bar/model.yaml", LW_SOURCE_DIR);
    importer_open(&fmu, path, 2, NULL);
    assert_null(strstr(fmu.description, "providesDirectionalDerivative"));
    assert_true(importer_instantiate(&fmu, true, &i));
    const unsigned one = importer_reference(&fmu, "A.q"), other = importer_reference(&fmu, "der(A.q)");
    const double seed = 1;
    assert_int_not_equal(importer_directional(&i, &other, 1, &one, 1, &seed, &value), 0);
    assert_non_null(strstr(i.last, "no derivatives"));
    importer_free(&i);
    importer_close(&fmu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives_are_those_of_the_fmu),
        cmocka_unit_test(test_loops_offer_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
