/* test_massless_dampers.c - forces that follow a change of velocity without a second look at the elements (lw_dampers_advance) are those
 * that lw_forces finds at the new velocity.
 */
#include "build.h"
#include "random_massless.h"
#include "formulations/massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 200, SEEDS = 200 };

/* Springs and bushings between random bodies, all with damping, and now and then one that books power otherwise. */
static void add_elements(lw_random *random, lw_spec *spec, bool pushing) {
    int bodies = (int)lw_spec_body_count(spec);
    for (int k = 0; k < 4; k++) {
        char name[16];
        int first = random_below(random, bodies + 1), second = random_below(random, bodies);
        const char *one = first ? lw_spec_body(spec, (size_t)first - 1)->name : LW_GROUND,
                   *two = lw_spec_body(spec, (size_t)second)->name;
        if (first == second + 1) continue;
        snprintf(name, sizeof name, "element%d", k);
        lw_force_spec force = {.name = name, .bodies = {one, two}, .frame = LW_GEOMETRY_BODY};
        random_vector(random, 3, 1, force.points[0]);
        random_vector(random, 3, 1, force.points[1]);
        force.type = k % 2 ? LW_FORCE_BUSHING : LW_FORCE_SPRING;
        force.stiffness = random_between(random, 1, 9), force.damping = random_between(random, 1, 3);
        if (pushing && k == 0) force.law.expression = "2 * x + sin(t)";
        for (int c = 0; c < 6; c++) {
            force.bushing_stiffness[c] = random_between(random, 1, 9);
            force.bushing_damping[c] = c % 3 ? random_between(random, 0.1, 2) : 0;
        }
        add_force(spec, force);
    }
}

static double worst_of(const double *x, const double *y, int count) {
    double worst = 0, size = 1;
    for (int k = 0; k < count; k++) size = fmax(size, fabs(y[k]));
    for (int k = 0; k < count; k++) worst = fmax(worst, fabs(x[k] - y[k]));
    return worst / size;
}

static void forces_follow_velocities(void **state) {
    (void)state;
    int steady = 0, other = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed + 900);
        lw_spec *spec = random_massless_spec((uint64_t)seed, 2 + random_below(&random, 6), HOLD_DAMPED, 0);
        add_elements(&random, spec, seed % 5 == 0);
        lw_model *model = compile_or_fail(spec);
        lw_null_shape *shape = lw_null_shape_create(model);
        lw_flow *flow = lw_flow_create(shape);
        assert_non_null(flow);
        lw_data *data = flow->data;
        double q[MAX], v[MAX], load[6 * MAX], tau[MAX];
        lw_error error;
        random_state(&random, model, q, v);
        lw_take_state(model, data, 0.3, q, v);
        if (shape->count && lw_flow_velocity(flow, 0.3, NULL, &error) == LW_OK) {
            int loads = 6 * (model->body_count + 1);
            lw_power power = data->power;
            memcpy(load, data->load, (size_t)loads * sizeof *load);
            memcpy(tau, data->tau, (size_t)model->nv * sizeof *tau);
            lw_velocities(model, data);
            lw_world_poses(model, data);
            lw_forces(model, data, 0.3, false);
            /* rounding of some tens of terms, not of one size */
            double worst = fmax(worst_of(load, data->load, loads), worst_of(tau, data->tau, model->nv));
            worst = fmax(worst, worst_of((double *)&power, (double *)&data->power, LW_POWERS));
            if (!(worst < 1e-11)) fail_msg("seed %d: forces differ by %g", seed, worst);
            lw_null_forces(flow->null, data, flow->gamma);
            lw_null_force_sizes(flow->null, data, flow->weight);
            for (int k = 0; k < shape->count; k++)
                if (!(fabs(flow->gamma[k]) <= 1e-9 * (1 + flow->weight[k])))
                    fail_msg("seed %d: direction %d is out of balance by %g of %g", seed, k, flow->gamma[k],
                             flow->weight[k]);
            *(lw_dampers_steady(flow->dampers) ? &steady : &other) += 1;
        }
        lw_flow_destroy(flow);
        lw_null_shape_destroy(shape);
        lw_model_destroy(model);
    }
    print_message("%d by dampers alone, %d by all elements\n", steady, other);
    assert_true(steady >= 50 && other >= 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_follow_velocities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
