/* test_massless_dampers.c - forces that follow a change of velocity without a second look at the elements (lw_dampers_advance) are those
 * that lw_forces finds at the new velocity; laws whose slope vanishes or is infinite at rest.
 */
#include "build.h"
#include "random_massless.h"
#include "formulations/formulation.h"
#include "formulations/massless/massless_dampers.h"

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
            *(flow->dampers->steady ? &steady : &other) += 1;
        }
        lw_flow_destroy(flow);
        lw_null_shape_destroy(shape);
        lw_model_destroy(model);
    }
    print_message("%d by dampers alone, %d by all elements\n", steady, other);
    assert_true(steady >= 50 && other >= 20);
}

/* ground - ghost - load on slides, a damper with this law at the ghost, a spring 30 N/m, stretched, from it to the load. Returns the
 * ghost's speed, found from the one given. */
static double speed_of_ghost(const char *law, double stretch, double from) {
    lw_spec *spec = lw_spec_create("row");
    const double axis[3] = {1, 0, 0}, point[3] = {0, 0, 0};
    add_body(spec, (lw_body_spec){.name = "ghost"});
    add_body(spec, (lw_body_spec){.name = "load", .mass = 1, .inertia = {1, 1, 1}});
    add_plain_joint(spec, "first", LW_JOINT_PRISMATIC, "ground", "ghost", point, axis);
    add_plain_joint(spec, "second", LW_JOINT_PRISMATIC, "ghost", "load", point, axis);
    add_force(spec, (lw_force_spec){
                        .name = "damper", .type = LW_FORCE_TORSION, .joint = "first", .law.expression = law});
    add_force(spec, (lw_force_spec){
                        .name = "spring", .type = LW_FORCE_TORSION, .joint = "second", .stiffness = 30});
    lw_model *model = compile_or_fail(spec);
    const lw_formulation *massless = lw_formulation_find("massless");
    const lw_method_options options = {0};
    lw_method *method;
    lw_error error;
    assert_int_equal(massless->create(model, &options, &method, &error), LW_OK);
    const double q[2] = {0, stretch}, v[2] = {from, -from};
    double y[4];
    massless->to_state(method, 0, q, v, y);
    massless->destroy(method);
    lw_model_destroy(model);
    assert_true(y[0] == 0); /* a damper holds it, not the spring alone */
    return y[2];
}

/* Laws whose slope at rest is zero or infinite determine the speed all the same: law(v) = 30 stretch. */
static void laws_without_slope_at_rest(void **state) {
    (void)state;
    static const double stretch[] = {0.2, -0.2, 1e-3, -1e-6, 0}, from[] = {0, 1e-9, 0.3, -2};
    for (int s = 0; s < 5; s++)
        for (int f = 0; f < 4; f++) {
            double force = 30 * stretch[s], size = fabs(force), sign = force < 0 ? -1 : 1;
            double square = speed_of_ghost("3*v*abs(v)", stretch[s], from[f]),
                   root = speed_of_ghost("sqrt(abs(v))*sign(v)", stretch[s], from[f]);
            /* found to rounding of the forces on the way, of which some are those of the given speed, or to 1e-15 m/s; at rest a
             * step of 1e-15 m/s is one of 3e-14 m/s for the square */
            double noise = 1e-12 * fmax(size, 3 * from[f] * from[f]), exact = sign * sqrt(size / 3);
            if (!(fabs(3 * square * fabs(square) - force) <= noise) && !(fabs(square - exact) < 1e-13))
                fail_msg("stretch %g from %g: speed %.15g, not %.15g", stretch[s], from[f], square, exact);
            noise = 1e-12 * fmax(size, sqrt(fabs(from[f]))), exact = sign * size * size;
            if (!(fabs(sqrt(fabs(root)) * (root < 0 ? -1 : 1) - force) <= noise) &&
                !(fabs(root - exact) < 1e-15))
                fail_msg("stretch %g from %g: speed %.15g, not %.15g", stretch[s], from[f], root, exact);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(forces_follow_velocities),
                                       cmocka_unit_test(laws_without_slope_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
