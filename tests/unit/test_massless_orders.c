/* test_massless_orders.c - large models whose forces follow linear dampers without a second look at the elements: whatever the order of the
 * elements, forces are those that lw_forces finds at the new velocity, and no direction is out of balance.
 */
#include "build.h"
#include "random_model.h"
#include "formulations/massless/massless_dampers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KNOTS = 900, MOST = 20 * KNOTS };
typedef enum order { AS_BODIES, BACKWARDS, SHUFFLED, ORDERS } order;

typedef struct builder {
    lw_random random;
    lw_spec *spec;
    int bodies, forces;
    lw_force_spec force[MOST];
    char names[MOST][16], joints[2 * KNOTS + 1][16], labels[2 * KNOTS + 1][16];
} builder;

static lw_force_spec *next_force(builder *b, lw_force_type type) {
    int k = b->forces++;
    snprintf(b->names[k], sizeof b->names[k], "f%d", k);
    b->force[k] = (lw_force_spec){.name = b->names[k], .type = type, .frame = LW_GEOMETRY_BODY};
    return &b->force[k];
}

/* A spring between two bodies, with a damper or not. */
static void add_line(builder *b, int first, int second, double damping) {
    lw_force_spec *line = next_force(b, LW_FORCE_SPRING);
    line->bodies[0] = b->labels[first], line->bodies[1] = b->labels[second];
    line->stiffness = 2, line->damping = damping;
    random_vector(&b->random, 3, 1, line->points[0]);
    random_vector(&b->random, 3, 1, line->points[1]);
}

/* A body, by a joint at a point of its carrier; held: with springs and dampers in it. */
static void add(builder *b, int carrier, lw_joint_type type, bool massive, bool apart, bool held) {
    int own = ++b->bodies, axes = type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE ? 0 : 1;
    snprintf(b->labels[own], sizeof b->labels[own], "b%d", own);
    snprintf(b->joints[own], sizeof b->joints[own], "j%d", own);
    lw_body_spec body = {.name = b->labels[own], .com = {0.1, 0, 0.2}};
    if (massive) body.mass = 1, body.inertia[0] = 0.3, body.inertia[1] = body.inertia[2] = 0.4;
    add_body(b->spec, body);
    lw_joint_spec pin = {.name = b->joints[own],
                         .type = type,
                         .bodies = {b->labels[carrier], b->labels[own]},
                         .frame = LW_GEOMETRY_BODY};
    for (int side = 0; side < 2; side++) {
        pin.geometry[side].axis_count = type == LW_JOINT_UNIVERSAL ? 2 : axes;
        pin.geometry[side].axes[0][type == LW_JOINT_UNIVERSAL ? 0 : 2] = 1;
        pin.geometry[side].axes[1][1] = 1;
    }
    if (apart) pin.geometry[0].point[0] = 0.5;
    pin.has_q = type == LW_JOINT_UNIVERSAL; /* two in a row that are straight are in a singular position */
    for (int k = 0; k < 2 && pin.has_q; k++) pin.q[k] = 0.4;
    add_joint(b->spec, pin);
    for (int k = 0; k < lw_joint_type_v(type, 0) && held; k++) {
        lw_force_spec *coil = next_force(b, k % 2 || !axes ? LW_FORCE_FRICTION : LW_FORCE_TORSION);
        coil->joint = b->joints[own], coil->coordinate = k;
        coil->stiffness = 3, coil->damping = coil->viscous = random_between(&b->random, 0.5, 2);
    }
}

static void add_bushing(builder *b, int first, int second) {
    lw_force_spec *bushing = next_force(b, LW_FORCE_BUSHING);
    bushing->bodies[0] = b->labels[first], bushing->bodies[1] = b->labels[second];
    for (int c = 0; c < 6; c++) bushing->bushing_stiffness[c] = 3, bushing->bushing_damping[c] = 0.5;
}

/* Short branches of knots, a body without mass and one with mass each. between: elements between bodies too, some of which join those of
 * two branches. */
static lw_model *build(builder *b, int seed, lw_joint_type only, bool between, order elements) {
    static const lw_joint_type types[] = {LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL,   LW_JOINT_SPHERICAL,
                                          LW_JOINT_PLANAR,   LW_JOINT_CYLINDRICAL, LW_JOINT_FREE};
    b->random = random_seed((uint64_t)seed);
    b->spec = lw_spec_create("branches");
    b->bodies = b->forces = 0;
    snprintf(b->labels[0], sizeof b->labels[0], LW_GROUND);
    for (int k = 0; k < KNOTS; k++) {
        lw_joint_type type = only != LW_JOINT_TYPES ? only : types[random_below(&b->random, 6)];
        int carrier = k % 3 ? b->bodies : 0;
        bool bushed = between && type == LW_JOINT_FREE && random_below(&b->random, 2);
        add(b, carrier, type, false, carrier != 0, !bushed);
        add(b, b->bodies, type, true, false, !bushed);
        if (bushed) add_bushing(b, carrier, b->bodies - 1), add_bushing(b, b->bodies - 1, b->bodies);
        if (!between) continue;
        if (k % 2) add_bushing(b, carrier, b->bodies - 1);
        add_line(b, b->bodies, b->bodies - 1, 0.7);
        if (k % 10 == 0) add_line(b, 1 + random_below(&b->random, 2 * KNOTS), 0, 0); /* before or after it */
        if (k % 100 == 99) add_line(b, b->bodies - 1, b->bodies - 7, 0.2); /* of the branch before */
    }
    for (int k = b->forces - 1; k > 0; k--) {
        int with = elements == SHUFFLED ? random_below(&b->random, k + 1) : b->forces - 1 - k;
        if (elements == AS_BODIES || (elements == BACKWARDS && with >= k)) continue;
        lw_force_spec moved = b->force[k];
        b->force[k] = b->force[with], b->force[with] = moved;
    }
    for (int k = 0; k < b->forces; k++) add_force(b->spec, b->force[k]);
    return compile_or_fail(b->spec);
}

static double worst_of(const double *x, const double *y, int count) {
    double worst = 0, size = 1;
    for (int k = 0; k < count; k++) size = fmax(size, fabs(y[k]));
    for (int k = 0; k < count; k++) worst = fmax(worst, fabs(x[k] - y[k]));
    return worst / size;
}

static double *copy_of(const double *x, int count) {
    double *out = malloc((size_t)count * sizeof *out);
    assert_non_null(out);
    memcpy(out, x, (size_t)count * sizeof *out);
    return out;
}

/* At a state of its own: what the flow leaves against lw_forces at its velocity. */
static void compare(lw_random *random, const lw_model *model, lw_flow *flow, const double *caller) {
    lw_data *data = flow->data;
    int loads = model->forces_need_world ? 6 * (model->body_count + 1) : 0;
    double *q = copy_of(data->q, model->nq), *v = copy_of(data->v, model->nv);
    lw_error error;
    random_state(random, model, q, v);
    lw_take_state(model, data, 0, q, v);
    if (lw_flow_velocity(flow, 0, caller, &error) != LW_OK) fail_msg("%s", error.message);
    lw_power power = data->power;
    double *load = copy_of(data->load, loads + 1), *tau = copy_of(data->tau, model->nv);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_forces(model, data, 0, false);
    for (int k = 0; caller && k < model->nv; k++) data->tau[k] += caller[k];
    /* rounding of some tens of terms, not of one size; of powers that of all elements together */
    double worst = fmax(worst_of(load, data->load, loads), worst_of(tau, data->tau, model->nv));
    if (!(worst < 1e-11)) fail_msg("forces differ by %g", worst);
    worst = worst_of((double *)&power, (double *)&data->power, LW_POWERS);
    if (!(worst < 1e-11)) fail_msg("powers differ by %g", worst);
    lw_null_at(flow->null, data);
    lw_null_forces(flow->null, data, flow->gamma);
    lw_null_force_sizes(flow->null, data, flow->weight);
    for (int k = 0; k < flow->shape->count; k++)
        if (!(fabs(flow->gamma[k]) <= 1e-9 * (1 + flow->weight[k])))
            fail_msg("direction %d is out of balance by %g of %g", k, flow->gamma[k], flow->weight[k]);
    free(q), free(v), free(load), free(tau);
}

static void elements_in_any_order(void **state) {
    static const lw_joint_type only[] = {LW_JOINT_REVOLUTE, LW_JOINT_PLANAR, LW_JOINT_TYPES};
    (void)state;
    builder *b = calloc(1, sizeof *b);
    assert_non_null(b);
    for (int seed = 0; seed < 6 * ORDERS; seed++) {
        lw_model *model = build(b, seed, only[seed / ORDERS % 3], seed >= 3 * ORDERS, (order)(seed % ORDERS));
        lw_null_shape *shape = lw_null_shape_create(model);
        lw_flow *flow = lw_flow_create(shape);
        assert_non_null(flow);
        if (!flow->dampers->steady) fail_msg("seed %d: forces do not follow from dampers alone", seed);
        double *caller = copy_of(flow->data->v, model->nv);
        random_vector(&b->random, model->nv, 1, caller);
        for (int k = 0; k < 3; k++) compare(&b->random, model, flow, k == 1 ? caller : NULL);
        free(caller);
        lw_flow_destroy(flow);
        lw_null_shape_destroy(shape);
        lw_model_destroy(model);
    }
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(elements_in_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
