/* test_added_joint.c - a joint type that has a descriptor and no code passes through the whole program.
 *
 * This test is linked with a table of joint types that has one more (LINKWORK_TEST_JOINT in src/model/joint_types.c): the slot,
 * a slide along x and then a turn about z. No other file knows of it. A slot is a planar joint whose y is kept at zero by a
 * coupling, which is the second way to every number here.
 *
 *   the product of elementary motions     against the cases of joint_motion.h, for all types
 *   S and bias of the slot                against differences of its place
 *   wrenches, coordinates of a pose       W'S = (1, 0), fit(place(q)) = q
 *   reading, writing, columns             by the words of the descriptor
 *   trees, loops, reactions               every method, with the balance of every body; planar joints with couplings
 */
#include "random_model.h"
#include "problems.h"
#include "formulations/formulation.h"
#include "io/results/record_columns.h"
#include "model/joint.h"

#define LANES 1
#include "model/joint_motion.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const lw_joint_type slot = LW_JOINT_TYPES;

/* A few operations on numbers of order 1 to 10. */
static const double rounding = 1e-13;

/* --- the joint alone ------------------------------------------------------------------------------ */

static lw_joint random_joint(lw_random *random, int type, double axes[9]) {
    lw_joint joint = {.type = (lw_joint_type)type, .axis = 2, .sign = 1, .axes = axes};
    int count = 1 + random_below(random, 3);
    joint.pitch = random_between(random, -1, 1);
    for (int k = 0; k < 3; k++) random_direction(random, axes + 3 * k);
    joint.nq = lw_joint_type_q(joint.type, count), joint.nv = lw_joint_type_v(joint.type, count);
    const lw_joint_descriptor *about = lw_joint_describe(joint.type);
    if (joint.nv == 1 && !about->screws && !about->axes_are_slides) { /* aligned */
        joint.axis = random_below(random, 3);
        joint.sign = random_below(random, 2) ? 1 : -1;
    }
    return joint;
}

static void random_q(lw_random *random, const lw_joint *joint, double *q) {
    random_vector(random, LW_JOINT_MAX_Q, 2, q);
    int at = lw_joint_quaternion(joint->type);
    if (at >= 0) lw_quat_normalise(q + at);
}

static void near(const double *a, const double *b, int count, double tolerance, int type, const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance))
        fail_msg("%s: %s differs by %g", lw_joint_type_name((lw_joint_type)type), what, difference);
}

static void product_is_what_the_cases_say(void **state) {
    (void)state;
    for (int type = 0; type < lw_joint_descriptor_count; type++)
        for (int seed = 1; seed <= 20; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double axes[9], q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], R[2][9], p[2][3] = {{0}}, bias[2][6];
            double S[2][6 * LW_JOINT_MAX_V] = {{0}};
            lw_joint joint = random_joint(&random, type, axes);
            random_q(&random, &joint, q);
            random_vector(&random, LW_JOINT_MAX_V, 1, v);
            lw_joint_motion(&joint, q, v, R[0], p[0], S[0], bias[0]);
            joint_product(&joint, q, R[1], p[1], S[1]);
            joint_product_bias(&joint, v, R[1], bias[1]);
            near(R[0], R[1], 9, rounding, type, "rotation");
            near(p[0], p[1], 3, rounding, type, "displacement");
            near(S[0], S[1], 6 * joint.nv, rounding, type, "S");
            near(bias[0], bias[1], 6, rounding, type, "bias");
        }
}

/* Central differences with h = 1e-4: h^2 / 6 of functions with third derivatives of order 10, 2e-8. */
static void slot_moves_as_its_place(void **state) {
    (void)state;
    const double h = 1e-4, differences = 1e-6;
    const lw_joint joint = {.type = slot, .axis = 2, .sign = 1, .nq = 2, .nv = 2};
    for (int seed = 1; seed <= 20; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], R[3][9], p[3][3], S[3][36], bias[3][6], W[9];
        random_q(&random, &joint, q);
        random_vector(&random, LW_JOINT_MAX_V, 1, v);
        double twist[3][6] = {{0}}, want[6], rate[6], R_dot[9], p_dot[3];
        for (int i = 0; i < 3; i++) {
            const double at[2] = {q[0] + (i - 1) * h * v[0], q[1] + (i - 1) * h * v[1]};
            lw_joint_motion(&joint, at, v, R[i], p[i], S[i], bias[i]);
            for (int k = 0; k < 2; k++) lw_v6_axpy(v[k], S[i] + 6 * k, twist[i]);
        }
        for (int k = 0; k < 9; k++) R_dot[k] = (R[2][k] - R[0][k]) / (2 * h);
        for (int k = 0; k < 3; k++) p_dot[k] = (p[2][k] - p[0][k]) / (2 * h);
        for (int k = 0; k < 6; k++) rate[k] = (twist[2][k] - twist[0][k]) / (2 * h);
        lw_m3_tmul(R[1], R_dot, W);
        lw_v3_set(want, W[7], W[2], W[3]);
        lw_m3_tmul_v(R[1], p_dot, want + 3);
        near(twist[1], want, 6, differences, slot, "S v");
        near(bias[1], rate, 6, differences, slot, "bias");
        near(p[1], (const double[3]){q[0], 0, 0}, 3, rounding, slot, "displacement");
    }
}

static void wrenches_and_coordinates(void **state) {
    (void)state;
    for (int type = 0; type < lw_joint_descriptor_count; type++)
        for (int seed = 1; seed <= 20; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double axes[9], q[LW_JOINT_MAX_Q], guess[LW_JOINT_MAX_Q], R[9], p[3], S[36], W[36];
            lw_joint joint = random_joint(&random, type, axes);
            random_q(&random, &joint, q);
            lw_joint_motion(&joint, q, NULL, R, p, S, NULL);
            lw_joint_dual(&joint, q, W);
            for (int k = 0; k < 6; k++)
                for (int l = 0; l < joint.nv; l++)
                    if (fabs(lw_v6_dot(W + 6 * k, S + 6 * l) - (k == l)) > 1e-10) /* nearly dependent axes */
                        fail_msg("%s, seed %d: wrench %d on speed %d", lw_joint_type_name(joint.type), seed,
                                 k, l);
            for (int k = 0; k < LW_JOINT_MAX_Q; k++) guess[k] = q[k] + 0.1;
            lw_joint_fit(&joint, R, p, guess);
            near(guess, q, joint.nq, 1e-10, type, "coordinates of its place");
            for (int k = 0; k < 6 - joint.nv; k++) assert_non_null(lw_joint_row_name(&joint, k));
        }
}

/* --- mechanisms ------------------------------------------------------------------------------------ */

/* No method gives a wrong number, and enough of them answer. */
static void methods_agree(const lw_model *model, const char *what, int least, bool run) {
    static lw_comparison results[64];
    lw_compare_options options;
    lw_error error = {0};
    int count, answers = 0;
    lw_compare_defaults(model, &options);
    options.timing = 1e-4, options.run.end = 0.1, options.no_run = !run;
    lw_status status = lw_compare(model, &options, results, &count, &error);
    if (status != LW_OK) fail_msg("%s: %s", what, error.message);
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        if (lw_comparison_wrong(r)) fail_msg("%s, %s: %s %s", what, r->method, r->reason, r->run_reason);
        answers += r->verdict == LW_VERDICT_AGREES;
        if (run && strncmp(r->method, "director", 8) == 0 && r->verdict != LW_VERDICT_REFUSED)
            assert_int_equal(r->run_status, LW_OK);
    }
    if (answers < least) fail_msg("%s: %d methods answer only", what, answers);
}

/* Accelerations of the initial state, and the reaction at joint "hinge". */
static void accelerations(const char *text, const char *method, double *vdot, double hinge[6],
                          bool unique[6]) {
    lw_spec *spec = read_text_spec(text);
    lw_model *model = compile_or_fail(spec);
    const lw_formulation *f = lw_formulation_find(method);
    const lw_method_options options = {0};
    double q[32] = {0}, v[32] = {0}, reactions[64];
    bool said[64];
    lw_error error = {0};
    lw_method *own;
    lw_model_initial_state(model, q, v);
    assert_int_equal(f->create(model, &options, &own, &error), LW_OK);
    if (f->accelerations(own, 0, q, v, NULL, vdot, reactions, said, &error) != LW_OK)
        fail_msg("%s", error.message);
    int joint = lw_model_joint(model, "hinge");
    memcpy(hinge, reactions + 6 * joint, 6 * sizeof *hinge);
    memcpy(unique, said + 6 * joint, 6 * sizeof *unique);
    f->destroy(own);
    methods_agree(model, text, 3, true);
    lw_model_destroy(model);
}

#define TREE                                                                                                 \
    "linkwork: 1\nname: tree\ngravity: [1, -9.81, 0.5]\n"                                                    \
    "bodies:\n"                                                                                              \
    "  a: {mass: 2, inertia: [0.1, 0.2, 0.25], com: [0.3, 0.1, 0]}\n"                                        \
    "  b: {mass: 1, inertia: [0.2, 0.1, 0.15], com: [0.9, 0.2, 0.3]}\n"                                      \
    "joints:\n"                                                                                              \
    "  hinge: {type: revolute, between: [a, b], point: [0.5, 0, 0], axis: [0.2, 1, 0.3], q: 0.7, v: 1.1}\n"

static void tree_with_a_slot(void **state) {
    (void)state;
    double with[8], without[8], hinge[2][6];
    bool unique[2][6];
    accelerations(
        TREE "  pin: {type: slot, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0],\n"
             "        q: [0.2, 0.3], v: [0.4, -0.5]}\n",
        "tree", with, hinge[0], unique[0]);
    accelerations(
        TREE
        "  pin: {type: planar, between: [ground, a], point: [0, 0, 0], normal: [0, 0, 1], x: [1, 0, 0],\n"
        "        q: [0.2, 0, 0.3], v: [0.4, 0, -0.5]}\n"
        "constraints:\n  y: {type: coupling, terms: [{joint: pin, coordinate: y}]}\n",
        "lagrange", without, hinge[1], unique[1]);
    const double want[3] = {without[0], without[2], without[3]};
    near(with, want, 3, 1e-11, slot,
         "accelerations of a tree"); /* rounding times the condition of the masses */
    near(hinge[0], hinge[1], 6, 1e-11, slot, "reactions of a tree");
}

/* A crank of length 1 at (0.6, 0.8) and a coupler from there to a slot along x at (2, 0); speeds 7, -10, (-8, -3). */
#define LOOP                                                                                                 \
    "linkwork: 1\nname: loop\ngravity: [1, -9.81, 0.5]\n"                                                    \
    "bodies:\n"                                                                                              \
    "  crank: {mass: 2, inertia: [0.1, 0.2, 0.25], com: [0.3, 0.4, 0]}\n"                                    \
    "  coupler: {mass: 1, inertia: [0.2, 0.1, 0.15], com: [1.2, 0.5, 0.1]}\n"                                \
    "joints:\n"                                                                                              \
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 0, 1], v: 7}\n"

static void loop_with_a_slot(void **state) {
    (void)state;
    double cut[8], kept[8], reversed[8], planar[8], hinge[4][6];
    bool unique[4][6];
    accelerations(
        LOOP
        "  hinge: {type: revolute, between: [crank, coupler], point: [0.6, 0.8, 0], axis: [0, 0, 1], v: "
        "-10}\n"
        "  pin: {type: slot, between: [ground, coupler], point: [2, 0, 0], axis: [0, 0, 1], x: [1, 0, 0],"
        " cut: true}\n",
        "lagrange", cut, hinge[0], unique[0]);
    accelerations(
        LOOP
        "  hinge: {type: revolute, between: [crank, coupler], point: [0.6, 0.8, 0], axis: [0, 0, 1], cut: "
        "true}\n"
        "  pin: {type: slot, between: [ground, coupler], point: [2, 0, 0], axis: [0, 0, 1], x: [1, 0, 0],"
        " v: [-8, -3]}\n",
        "lagrange", kept, hinge[1], unique[1]);
    accelerations(LOOP "  hinge: {type: revolute, between: [crank, coupler], point: [0.6, 0.8, 0], axis: [0, "
                       "0, 1], cut: true}\n"
                       "  pin: {type: slot, between: [coupler, ground], point: [2, 0, 0], axis: [0, 0, 1],"
                       " x: [0.175, -0.1, 0]}\n",
                  "lagrange", reversed, hinge[2], unique[2]);
    accelerations(
        LOOP
        "  hinge: {type: revolute, between: [crank, coupler], point: [0.6, 0.8, 0], axis: [0, 0, 1], cut: "
        "true}\n"
        "  pin: {type: planar, between: [ground, coupler], point: [2, 0, 0], normal: [0, 0, 1], x: [1, 0, 0],"
        " v: [-8, 0, -3]}\n"
        "constraints:\n  y: {type: coupling, terms: [{joint: pin, coordinate: y}]}\n",
        "lagrange", planar, hinge[3], unique[3]);
    const double of_cut[2] = {cut[0], cut[0] + cut[1]}, of_planar[2] = {planar[0], planar[3]},
                 with[3] = {kept[0], kept[1], kept[2]}, want[3] = {planar[0], planar[1], planar[3]};
    near(of_cut, of_planar, 2, 1e-11, slot, "accelerations of a loop that the slot closes");
    near(with, want, 3, 1e-11, slot, "accelerations of a loop with the slot in the tree");
    for (int k = 0; k < 6; k++)
        if (unique[0][k] && unique[3][k]) {
            near(hinge[0] + k, hinge[3] + k, 1, 1e-9, slot, "reaction of a loop that the slot closes");
            near(hinge[1] + k, hinge[3] + k, 1, 1e-9, slot, "reaction of a loop with the slot in the tree");
        }
}

/* Trees of slots only, in both senses, with all force elements and prescribed motions. */
static void random_trees_of_slots(void **state) {
    (void)state;
    for (int seed = 1; seed <= 12; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        char what[32];
        random_tree options = {.bodies = 1 + random_below(&random, 6),
                               .forces = seed % 2,
                               .prescribed = seed % 3 == 1,
                               .reversed = seed % 4 < 2,
                               .aligned = seed % 5 < 2,
                               .joint = slot};
        lw_model *model = random_tree_model(&random, &options);
        snprintf(what, sizeof what, "seed %d", seed);
        methods_agree(model, what, 3, false);
        lw_model_destroy(model);
    }
}

/* --- files ----------------------------------------------------------------------------------------- */

static void names_in_files(void **state) {
    (void)state;
    lw_spec *spec = read_text_spec(
        TREE
        "  pin: {type: slot, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], q: [20 cm, 30 deg]}\n"
        "forces:\n  spring: {type: torsion, joint: pin, coordinate: angle, stiffness: 3}\n");
    const lw_joint_spec *pin = lw_spec_joint(spec, 1);
    assert_int_equal(pin->type, slot);
    assert_float_equal(pin->q[0], 0.2, rounding);
    assert_float_equal(pin->q[1], LW_PI / 6, rounding);
    assert_int_equal(lw_spec_force(spec, 0)->coordinate, 1);

    static const char path[] = "added_joint.yaml";
    lw_error error = {0};
    assert_int_equal(lw_write_model(spec, path, &error), LW_OK);
    lw_spec *again = NULL;
    lw_report *report = lw_report_create();
    assert_int_equal(lw_read_model(path, NULL, 0, report, &again), LW_OK);
    const lw_joint_spec *same = lw_spec_joint(again, 1);
    assert_int_equal(same->type, slot);
    assert_memory_equal(same->q, pin->q, sizeof pin->q);
    lw_report_destroy(report);
    lw_spec_destroy(again);
    remove(path);

    lw_model *model = compile_or_fail(spec);
    lw_record *record;
    assert_int_equal(lw_record_create(model, "joint(pin)", &record, &error), LW_OK);
    static const char *const names[] = {"pin.way", "pin.angle", "pin.vway", "pin.vangle"};
    static const char *const units[] = {"m", "rad", "m/s", "rad/s"};
    int found = 0;
    for (size_t c = 0; c < lw_record_count(record); c++)
        for (int k = 0; k < 4; k++)
            if (strcmp(lw_record_columns(record)[c].name, names[k]) == 0) {
                assert_string_equal(lw_record_columns(record)[c].unit, units[k]);
                found++;
            }
    assert_int_equal(found, 4);
    lw_record_destroy(record);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_is_what_the_cases_say),
        cmocka_unit_test(slot_moves_as_its_place),
        cmocka_unit_test(wrenches_and_coordinates),
        cmocka_unit_test(tree_with_a_slot),
        cmocka_unit_test(loop_with_a_slot),
        cmocka_unit_test(random_trees_of_slots),
        cmocka_unit_test(names_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
