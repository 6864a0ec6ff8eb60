/* test_fmu_pair.c - two FMUs in Co-Simulation, a controller and the cart-pole that it holds upright, against the run of the model that
 * has the controller inside.
 *
 * The controller is held between communication points, so that the pair differs from the continuous one by the length of its steps to
 * the first order: half of it has half the difference, and what extrapolation leaves is of the second.
 */
#include "fmu_importer.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

static const char *const names[4] = {"rail.q", "rail.v", "pivot.q", "pivot.v"};
static const char *const gains[4] = {"k1", "k2", "k3", "k4"};

static void run_pair(const importer *plant, void *library, double h, int steps, double state[4]) {
    importer_instance i;
    fmi2InstantiateTYPE *instantiate;
    fmi2FreeInstanceTYPE *release;
    fmi2SetRealTYPE *set;
    fmi2GetRealTYPE *get;
    fmi2DoStepTYPE *step;
    void *symbols[] = {dlsym(library, "fmi2Instantiate"), dlsym(library, "fmi2FreeInstance"),
                       dlsym(library, "fmi2SetReal"), dlsym(library, "fmi2GetReal"),
                       dlsym(library, "fmi2DoStep")};
    memcpy(&instantiate, &symbols[0], sizeof symbols[0]), memcpy(&release, &symbols[1], sizeof symbols[0]);
    memcpy(&set, &symbols[2], sizeof symbols[0]), memcpy(&get, &symbols[3], sizeof symbols[0]);
    memcpy(&step, &symbols[4], sizeof symbols[0]);
    fmi2Component controller =
        instantiate("controller", fmi2CoSimulation, "", "", NULL, fmi2False, fmi2False);
    assert_non_null(controller);
    assert_true(importer_instantiate(plant, false, &i));
    unsigned own[4];
    const fmi2ValueReference inputs[4] = {0, 1, 2, 3}, constants[4] = {4, 5, 6, 7}, force = 8;
    double values[4], u;
    for (int k = 0; k < 4; k++) {
        own[k] = importer_reference(plant, names[k]);
        values[k] = importer_start(plant, gains[k]);
        assert_int_equal(importer_set(&i, importer_reference(plant, gains[k]), 0),
                         0); /* the one inside is off */
    }
    set(controller, constants, 4, values);
    assert_int_equal(importer_enter(&i, 0, NAN, NAN), 0);
    assert_int_equal(importer_exit(&i), 0);
    const unsigned push = importer_reference(plant, "push");
    for (int n = 0; n < steps; n++) {
        bool ended;
        for (int k = 0; k < 4; k++) assert_int_equal(importer_get(&i, own[k], &values[k]), 0);
        set(controller, inputs, 4, values);
        get(controller, &force, 1, &u);
        assert_int_equal(importer_set(&i, push, u), 0);
        assert_int_equal(importer_step(&i, n * h, h, &ended), 0);
        assert_int_equal(step(controller, n * h, h, fmi2True), fmi2OK);
    }
    for (int k = 0; k < 4; k++) assert_int_equal(importer_get(&i, own[k], &state[k]), 0);
    importer_free(&i);
    release(controller);
}

static void test_pair_is_the_whole(void **unused) {
    (void)unused;
    importer plant;
    char path[512];
    snprintf(path, sizeof path, "%s/problems/cart_pole/model.yaml", LW_SOURCE_DIR);
    importer_open(&plant, path, 2, NULL);
    void *library = dlopen(CONTROLLER, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    lw_model *model = read_problem("cart_pole");
    lw_run_options options;
    lw_error error = {0};
    double q[2], v[2], coarse[4], fine[4];
    lw_run_defaults(model, &options);
    options.end = 1, options.tolerance = 1e-12;
    assert_int_equal(lw_simulate(model, &options, q, v, NULL, &error), LW_OK);
    const double whole[4] = {q[0], v[0], q[1], v[1]};
    run_pair(&plant, library, 1e-3, 1000, coarse);
    run_pair(&plant, library, 5e-4, 2000, fine);
    for (int k = 0; k < 4; k++) {
        const double first = coarse[k] - whole[k], second = fine[k] - whole[k];
        print_message("%-8s %.3e %.3e, extrapolated %.3e\n", names[k], first, second, 2 * second - first);
        assert_true(fabs(first) < 5e-3);
        assert_true(fabs(2 * second - first) < 2e-5);
    }
    lw_model_destroy(model);
    assert_int_equal(dlclose(library), 0);
    importer_close(&plant);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pair_is_the_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
