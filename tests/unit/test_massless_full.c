/* test_massless_full.c - the kernels for joints whose motions without mass are many or turn (massless_null.c): directions, their
 * sums, the forces along them and N'C N are those that mass matrix, velocities and forces of the whole model give.
 */
#include "build.h"
#include "random_massless.h"
#include "formulations/massless/massless_dampers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BODIES = 6, MAX = 6 * (BODIES + 1), SEEDS = 60 };

/* Every second body without mass, on these joints, at one point or apart; bushings in either order of the bodies. */
static lw_spec *chain(lw_random *random, lw_joint_type first, lw_joint_type second, bool apart) {
    lw_spec *spec = lw_spec_create("chain");
    for (int i = 1; i <= BODIES; i++) {
        char name[16], before[16], joint[16], element[16];
        lw_joint_type type = i % 2 ? first : second;
        snprintf(name, sizeof name, "b%d", i);
        snprintf(before, sizeof before, i > 1 ? "b%d" : "ground", i - 1);
        snprintf(joint, sizeof joint, "j%d", i);
        snprintf(element, sizeof element, "f%d", i);
        lw_body_spec body = {.name = name};
        if (i % 2 == 0) body.mass = 1, body.inertia[0] = 0.1, body.inertia[1] = body.inertia[2] = 0.2;
        add_body(spec, body);
        lw_joint_spec pin = {
            .name = joint, .type = type, .bodies = {before, name}, .frame = LW_GEOMETRY_BODY};
        for (int k = 0; k < 2 && type == LW_JOINT_UNIVERSAL; k++) {
            pin.geometry[k].axis_count = 2;
            pin.geometry[k].axes[0][0] = pin.geometry[k].axes[1][1] = 1;
        }
        if (apart || i % 2) random_vector(random, 3, 1, pin.geometry[0].point);
        add_joint(spec, pin);
        bool turned = random_below(random, 2);
        lw_force_spec bushing = {.name = element,
                                 .type = LW_FORCE_BUSHING,
                                 .bodies = {turned ? name : before, turned ? before : name},
                                 .frame = LW_GEOMETRY_BODY};
        random_vector(random, 3, 1, bushing.points[0]);
        for (int c = 0; c < 6; c++)
            bushing.bushing_stiffness[c] = 3, bushing.bushing_damping[c] = random_between(random, 0.5, 2);
        add_force(spec, bushing);
    }
    return spec;
}

static void must_equal(int seed, const char *what, const double *x, const double *y, int count) {
    double size = 1, worst = 0;
    for (int k = 0; k < count; k++) size = fmax(size, fabs(y[k])), worst = fmax(worst, fabs(x[k] - y[k]));
    /* rounding of some tens of terms, and N'C N of condition up to 1e3 */
    if (!(worst <= 1e-11 * size)) fail_msg("seed %d: %s differ by %g of %g", seed, what, worst, size);
}

static void forces_at(lw_flow *flow, const double *q, const double *v) {
    lw_take_state(flow->model, flow->data, 0, q, v);
    lw_velocities(flow->model, flow->data);
    lw_world_poses(flow->model, flow->data);
    lw_forces(flow->model, flow->data, 0, false);
}

/* Direction k, and N'C N e_k, of flow at (q, v). */
static void look_at_direction(int seed, lw_flow *flow, int k, const double *q, const double *v) {
    const lw_model *model = flow->model;
    const lw_null_shape *shape = flow->shape;
    lw_data *data = flow->data;
    int nv = model->nv, count = shape->count;
    double n[MAX] = {0}, unit[MAX] = {0}, x[MAX] = {0}, M[MAX * MAX], none[MAX] = {0}, moved[MAX], still[MAX],
           twist[6 * (BODIES + 1)], out[MAX], column[MAX] = {0};
    lw_error error;
    unit[k] = 1;
    lw_null_add(flow->null, k, 1, n);
    lw_null_times(flow->null, unit, x);
    must_equal(seed, "sums of directions", x, n, nv);
    lw_tree_mass_matrix(model, data, 0, q, M);
    for (int a = 0; a < nv; a++)
        for (int b = 0; b < nv; b++) x[a] = (b ? x[a] : 0) + M[a * nv + b] * n[b];
    must_equal(seed, "momenta of a direction", x, none, nv);
    /* velocities and forces along it */
    lw_take_state(model, data, 0, q, NULL);
    lw_velocities(model, data);
    lw_null_move(flow->null, unit, data);
    for (int i = 0; i <= BODIES; i++) memcpy(twist + 6 * i, data->motion[i].V, 6 * sizeof *twist);
    lw_take_state(model, data, 0, q, n);
    lw_velocities(model, data);
    for (int i = 0; i <= BODIES; i++) must_equal(seed, "twists", twist + 6 * i, data->motion[i].V, 6);
    forces_at(flow, q, v);
    lw_null_forces(flow->null, data, still);
    double sum = 0;
    for (int a = 0; a < nv; a++) sum += n[a] * data->tau[a];
    for (int a = 0; a < 6 * (BODIES + 1); a++) sum += twist[a] * data->load[a];
    must_equal(seed, "forces along a direction", still + k, &sum, 1);
    for (int a = 0; a < nv; a++) x[a] = v[a] + n[a];
    forces_at(flow, q, x);
    lw_null_forces(flow->null, data, moved);
    for (int a = 0; a < count; a++) column[a] = still[a] - moved[a];
    lw_take_state(model, data, 0, q, v);
    assert_int_equal(lw_flow_at(flow, 0, NULL, &error), LW_OK);
    memcpy(out, column, (size_t)count * sizeof *out);
    lw_dampers_solve(flow->dampers, out);
    must_equal(seed, "solutions with N'C N", out, unit, count);
}

static void kernels_are_right(void **state) {
    (void)state;
    static const struct {
        lw_joint_type first, second;
        bool apart;
        int motions;
    } kinds[] = {{LW_JOINT_FREE, LW_JOINT_FREE, false, 6},
                 {LW_JOINT_FREE, LW_JOINT_FREE, true, 6},
                 {LW_JOINT_UNIVERSAL, LW_JOINT_UNIVERSAL, false, 1},
                 {LW_JOINT_UNIVERSAL, LW_JOINT_SPHERICAL, false, 2},
                 {LW_JOINT_SPHERICAL, LW_JOINT_UNIVERSAL, false, 2},
                 {LW_JOINT_SPHERICAL, LW_JOINT_SPHERICAL, true, 1}};
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        int kind = seed % (int)(sizeof kinds / sizeof *kinds);
        lw_model *model =
            compile_or_fail(chain(&random, kinds[kind].first, kinds[kind].second, kinds[kind].apart));
        lw_null_shape *shape = lw_null_shape_create(model);
        lw_flow *flow = lw_flow_create(shape);
        double q[MAX + BODIES], v[MAX];
        lw_error error;
        assert_non_null(flow);
        assert_int_equal(shape->count, kinds[kind].motions * BODIES / 2);
        random_state(&random, model, q, v);
        for (int k = 0; k < shape->count; k++) {
            lw_take_state(model, flow->data, 0, q, v);
            assert_int_equal(lw_flow_at(flow, 0, NULL, &error), LW_OK);
            look_at_direction(seed, flow, k, q, v);
        }
        lw_flow_destroy(flow);
        lw_null_shape_destroy(shape);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
