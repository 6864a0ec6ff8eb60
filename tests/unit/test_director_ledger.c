/* test_director_ledger.c - the energy ledger of the energy-momentum scheme where steps are long: joints that turn by half a turn, universal joints
 * whose axes meet, elements that share room, bushings that creep while they are carried around; and what is told of such steps.
 */
#include "problems.h"
#include "random_model.h"
#include <linkwork/simulate.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 32 };

typedef struct story {
    int halved, aliased;
    char text[200]; /* of the last that is aliased */
} story;

static void hear(double t, const char *kind, const char *text, void *context) {
    story *s = context;
    (void)t;
    s->halved += strcmp(kind, "halved") == 0;
    if (strcmp(kind, "aliased") == 0) s->aliased++, snprintf(s->text, sizeof s->text, "%s", text);
}

/* Largest unaccounted energy of a run, J. */
static double unaccounted(const char *text, const char *method, double step, double end, double output,
                          story *s) {
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_run_options options;
    lw_run_summary summary;
    lw_error error = {0};
    double q[MAX], v[MAX];
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = "energy-momentum";
    options.step = step, options.end = end, options.output = output;
    options.event = hear, options.context = s;
    if (lw_simulate(model, &options, q, v, &summary, &error) != LW_OK)
        fail_msg("%s: %s: %s", lw_model_name(model), method, error.message);
    print_message("%s, %s: %.1e J, halved %d times\n", lw_model_name(model), method, summary.energy_max_drift,
                  s->halved);
    lw_model_destroy(model);
    return summary.energy_max_drift;
}

/* 400 J in a spring: Newton's iteration ends beyond half a turn, the spring has seen less. */
static const char wheel[] =
    "linkwork: 1\n"
    "name: wheel\n"
    "gravity: [0, 0, 0]\n"
    "bodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1]}}\n"
    "joints: {pin: {type: revolute, between: [ground, b], point: [0, 0, 0], axis: [0, 0, 1], q: 2}}\n"
    "forces: {coil: {type: torsion, joint: pin, stiffness: 200}}\n";

/* Two joints that have nothing to do with each other, one with a product for its measure, one with an angle. */
static const char slide_and_wheel[] =
    "linkwork: 1\n"
    "name: slide and wheel, each on a spring of its own\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  wheel: {mass: 1, inertia: [0.2, 0.2, 0.2]}\n"
    "  block: {mass: 1, inertia: [0.2, 0.2, 0.2]}\n"
    "joints:\n"
    "  table: {type: planar, between: [ground, block], point: [0.5, 0, 0], normal: [0, 0, 1], q: [0.3, 0.5, "
    "0], v: [1, -1, 3]}\n"
    "  pin: {type: revolute, between: [ground, wheel], point: [0.3, 0, 0], axis: [0, 0, 1], q: 1, v: 1}\n"
    "forces:\n"
    "  rubber: {type: torsion, joint: table, coordinate: 1, stiffness: 1000}\n"
    "  coil: {type: torsion, joint: pin, stiffness: 2000}\n";

/* Fast, stiff and in long steps: steps end where the axes of the universal joint j4 are parallel in the middle. */
static const char tree[] =
    "linkwork: 1\n"
    "name: r144\n"
    "gravity: [-9.118, -8.211, 6.784]\n"
    "bodies:\n"
    "  b1: {mass: 0.677, com: [-0.277, -0.227, -0.155], inertia: [0.0852, 0.1246, 0.1528], position: "
    "[-0.661, -0.206, 0.328], rotation: {axis: [0.009, -0.525, 0.974], angle: -1.816}}\n"
    "  b2: {mass: 1.034, com: [0.059, 0.153, 0.061], inertia: [0.0629, 0.1116, 0.1469], position: [0.059, "
    "-0.593, -0.525], rotation: {axis: [-0.394, -0.71, -0.798], angle: -0.207}}\n"
    "  b3: {mass: 1.146, com: [-0.111, -0.06, -0.181], inertia: [0.0817, 0.0853, 0.1569], position: [-0.831, "
    "-1.051, -0.445], rotation: {axis: [0.292, -0.244, -0.131], angle: -1.395}}\n"
    "  b4: {mass: 1.112, com: [0.298, 0.135, 0.284], inertia: [0.1184, 0.1266, 0.1693], position: [-1.695, "
    "-0.952, 0.146], rotation: {axis: [0.221, -0.309, -0.027], angle: 1.111}}\n"
    "  b5: {mass: 0.891, com: [-0.193, -0.147, -0.027], inertia: [0.1707, 0.1889, 0.1966], position: [0.585, "
    "0.276, 0.391], rotation: {axis: [-0.835, 0.687, 0.235], angle: 0.334}}\n"
    "joints:\n"
    "  j1: {type: weld, between: [b1, ground]}\n"
    "  j2: {type: revolute, between: [b2, ground], point: [0.329, -0.325, -0.871], axis: [0.25, 0.979, "
    "0.822], v: -3.652, q: 0.805}\n"
    "  j3: {type: cylindrical, between: [b3, b2], point: [-0.983, -1.32, -0.204], axis: [0.115, -0.693, "
    "0.618], v: [-1.499, -3.348], q: [0.006, -0.304]}\n"
    "  j4: {type: universal, between: [b3, b4], point: [-1.914, -1.194, 0.362], axes: [[-0.447, -0.58, 0.3], "
    "[0.23066, -0.024984000000000006, 0.295381]], v: [1.855, 4.607], q: [0.661, 0.161]}\n"
    "  j5: {type: free, between: [b5, ground], v: [1.403, 0.509, -2.037, -1.841, -2.655, -4.259]}\n"
    "forces:\n"
    "  f0: {type: spring, between: [ground, b1], first: [-0.426, 0.325, -0.288], second: [-0.102, 0.495, "
    "0.246], length: 0.38, stiffness: 1000}\n"
    "  f1: {type: drive, joint: j2, coordinate: 0, force: 3*sin(3*t) - 0.5*v + q}\n"
    "  f2: {type: spring, between: [b3, b2], first: [-0.456, 0.323, 0.061], second: [0.455, 0.309, 0.162], "
    "length: 0.33, table: {x: [-0.3, 0, 0.2, 1], force: [-1000, 0, 100, 2000], smooth: true}}\n"
    "  f3: {type: friction, joint: j4, coordinate: 1, viscous: 0.2, coulomb: 1, smoothing: 0.05}\n"
    "  f4: {type: spring, between: [b5, ground], first: [-0.36, 0.234, 0.319], second: [-0.136, -0.228, "
    "0.296], length: 0.93, stiffness: 1000}\n";

/* The damper is so strong that the bodies hardly turn against each other, 55 rad/s together. */
static const char carried[] =
    "linkwork: 1\n"
    "name: two bodies spin together while a bushing between them creeps\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.2, 0.25, 0.3]}\n"
    "  b: {mass: 1, inertia: [0.2, 0.25, 0.3]}\n"
    "joints:\n"
    "  float: {type: free, between: [ground, a], angular_velocity: [10, -20, 50]}\n"
    "  ball: {type: spherical, between: [a, b], point: [0, 0, 0], rotation: {axis: [1, -2, 3], angle: 0.9}}\n"
    "forces:\n"
    "  mount: {type: bushing, between: [a, b], point: [0, 0, 0], stiffness: [0, 0, 0, 1000, 3000, 500], "
    "damping: [0, 0, 0, 1e7, 1e7, 1e7]}\n";

/* Either wheel turns by less than half a turn in a step, the joint between them by more. */
static const char wheels[] =
    "linkwork: 1\n"
    "name: counter-rotating wheels\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  a: {mass: 1, inertia: [0.2, 0.2, 0.3]}\n"
    "  b: {mass: 1, inertia: [0.2, 0.2, 0.3]}\n"
    "joints:\n"
    "  pa: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], v: 60}\n"
    "  pb: {type: revolute, between: [a, b], point: [0, 0, 0], axis: [0, 0, 1], v: -120}\n"
    "forces:\n"
    "  drag: {type: friction, joint: pb, viscous: 1e-3}\n";

static void long_steps(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double step, end, energy; /* J that go to and fro */
    } cases[] = {{wheel, 0.05, 1, 400},
                 {slide_and_wheel, 0.02, 1, 1100},
                 {tree, 0.05, 0.9, 500},
                 {carried, 0.01, 5, 700}};
    for (int k = 0; k < 4; k++)
        for (int full = 0; full < 2; full++) {
            story s = {0};
            /* rounding of some hundred steps; before 1e5, 6e-8, 1e3 and 1e-2 J */
            double left = unaccounted(cases[k].text, full ? "director-full" : "director", cases[k].step,
                                      cases[k].end, cases[k].step, &s);
            assert_true(left < 1e-13 * cases[k].energy);
        }
}

static void told(void **state) {
    (void)state;
    story s = {0}, often = {0};
    unaccounted(wheels, "director", 0.05, 0.6, 0.6, &s);
    assert_int_equal(s.aliased, 1);
    assert_non_null(strstr(s.text, "joint \"pb\" turns by 6 rad"));
    s = (story){0};
    unaccounted(wheel, "director", 0.2, 0.8, 0.2, &s);
    unaccounted(wheel, "director", 0.2, 0.8, 0.01, &often); /* states between steps are no steps */
    assert_true(s.halved > 0);
    assert_int_equal(s.halved, often.halved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_steps),
        cmocka_unit_test(told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
