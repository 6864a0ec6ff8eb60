/* test_assemble_kept.c - what assembly must leave as it is.
 *
 *   poses       a ring of ball joints that is drawn closed stays where it is drawn, wherever it is cut
 *   given       given coordinates that fit together stay, though rows contradict each other on the way to the closed position
 *   own         the caller's own coordinates, beside prescribed ones in the same joint, are changed as little as possible
 */
#include "build.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

static void drawn_closed_stays(void **state) {
    (void)state;
    for (int cut = 0; cut < 5; cut++) {
        char text[1600], key[5][16] = {"", "", "", "", ""};
        snprintf(key[cut], sizeof key[cut], ", cut: true");
        snprintf(text, sizeof text,
                 "linkwork: 1\nname: ring\nbodies:\n"
                 "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], rotation: {axis: [0, 0, 1], angle: 90 deg}}\n"
                 "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0], rotation: {axis: [1, 0, 0], "
                 "angle: 90 deg}}\n"
                 "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [1, 1, 0]}\n"
                 "  d: {mass: 1, inertia: [0.1, 0.1, 0.1], position: [0, 1, 0.3], rotation: {axis: [0, 0, "
                 "1], angle: 90 deg}}\n"
                 "joints:\n"
                 "  ja: {type: spherical, between: [ground, a], first: {point: [0, 0, 0]}, second: {point: "
                 "[0, 0, 0]}%s}\n"
                 "  jb: {type: spherical, between: [a, b], first: {point: [0, -1, 0]}, second: {point: [0, "
                 "0, 0]}%s}\n"
                 "  jc: {type: spherical, between: [b, c], first: {point: [0, 0, -1]}, second: {point: [0, "
                 "0, 0]}%s}\n"
                 "  jd: {type: spherical, between: [c, d], first: {point: [-1, 0, 0.3]}, second: {point: [0, "
                 "0, 0]}%s}\n"
                 "  je: {type: spherical, between: [d, ground], first: {point: [-1, 0, 0.2]}, second: "
                 "{point: [0, 0, 0.5]}%s}\n",
                 key[0], key[1], key[2], key[3], key[4]);
        lw_model *model = compile_or_fail(read_text_spec(text));
        double q[40], v[40], drawn[40];
        lw_error error = {0};
        lw_model_initial_state(model, drawn, v);
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
        for (int k = 0; k < lw_model_q_size(model); k++) /* it closes to rounding */
            if (!(fabs(q[k] - drawn[k]) < 1e-12))
                fail_msg("cut %d: q %d moves by %g", cut, k, q[k] - drawn[k]);
        lw_model_destroy(model);
    }
}

/* As problems/ladder: N loops with two freedoms, 2 of 5 rows of each dependent. */
static void consistent_given_values_stay(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(
        read_text_spec("linkwork: 1\nname: ladder\nparameters:\n  N: 30\n  h: 1 m\n  s: 0.5 m\nbodies:\n"
                       "  rung{i}: {repeat: {i: 0..N}, mass: 1, shape: rod, points: [[i*s, 0, 0], [i*s, 0, "
                       "-h]], radius: 30 mm}\n"
                       "  bar{i}: {repeat: {i: 1..N}, mass: 1, shape: rod, points: [[(i-1)*s, 0, -h], [i*s, "
                       "0, -h]], radius: 30 mm}\n"
                       "joints:\n"
                       "  hooke{i}: {repeat: {i: 0..N}, type: universal, between: [ground, \"rung{i}\"], "
                       "point: [i*s, 0, 0], "
                       "axes: [[1, 0, 0], [0, 1, 0]], q: [0.7, 0.5]}\n"
                       "  left{i}: {repeat: {i: 1..N}, type: revolute, between: [\"rung{i-1}\", \"bar{i}\"], "
                       "point: [(i-1)*s, 0, -h], "
                       "axis: [0, 1, 0]}\n"
                       "  right{i}: {repeat: {i: 1..N}, type: revolute, between: [\"bar{i}\", \"rung{i}\"], "
                       "point: [i*s, 0, -h], "
                       "axis: [0, 1, 0], cut: true}\n"));
    double q[200], v[200];
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    for (int i = 0; i <= 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "hooke%d", i);
        lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, name));
        assert_true(fabs(q[info.q] - 0.7) < 1e-12 && fabs(q[info.q + 1] - 0.5) < 1e-12);
    }
    lw_model_destroy(model);
}

static void own_values_beside_prescribed_ones_count(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(
        read_text_spec("linkwork: 1\nname: part\nbodies:\n"
                       "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0]}\n"
                       "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [1, 0.5, 0]}\n"
                       "  c: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [1.5, 1, 0]}\n"
                       "joints:\n"
                       "  A: {type: cylindrical, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], "
                       "motion: [null, \"0.1*t\"]}\n"
                       "  B: {type: spherical, between: [a, b], point: [1, 0, 0]}\n"
                       "  C: {type: spherical, between: [b, c], point: [1, 1, 0]}\n"
                       "  D: {type: spherical, between: [c, ground], point: [2, 1, 0], cut: true}\n"));
    double q[40], v[40];
    lw_error error = {0};
    lw_model_initial_state(model, q, v);
    q[0] = 0.2; /* zero closes, too, and is what nobody asked for */
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    assert_true(fabs(q[0] - 0.2) < 0.02);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_closed_stays),
        cmocka_unit_test(consistent_given_values_stay),
        cmocka_unit_test(own_values_beside_prescribed_ones_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
