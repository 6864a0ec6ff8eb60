/* test_massless_follow.c - motions without mass whose damper engages or lets go on the way, and forces that jump.
 *
 *   hop      a body on a foot without mass; the ground resists the foot once it touches, and a spring alone in the air
 *   damp     a damper that engages beyond 0.02 m, at one side; its mirror image is the mirror image
 *   step     a force that steps at t = 0.3 on a body between two springs: q = 0.1 (1 - cos(sqrt(50) (t - 0.3))) of what they carry
 *   random   chains with laws of all these sorts, clutches by t among them, one or two such bodies
 *
 * What is right is the limit of small masses. A small mass that no damper resists would vibrate for ever after a jump, so it gets a
 * damper of sqrt(k m) / 3, which goes to zero with it; then motions differ from the limit by O(sqrt(m)).
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
#include <string.h>

static const char *const integrators[] = {"erk", "bdf", "adams", "ida"};
enum { INTEGRATORS = 4 };

typedef struct notes {
    int jumps, switches, others;
} notes;

static void count_note(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text;
    notes *n = context;
    if (strcmp(kind, "jump") == 0)
        n->jumps++;
    else if (strcmp(kind, "switch") == 0)
        n->switches++;
    else
        n->others++;
}

typedef struct outcome {
    double q[4], v[4];
    lw_run_summary summary;
    notes told;
} outcome;

static lw_status go(const char *text, const char *integrator, double tolerance, double step, outcome *out,
                    lw_error *error) {
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_run_options options;
    *out = (outcome){0};
    lw_run_defaults(model, &options);
    options.integrator = integrator, options.tolerance = tolerance, options.step = step;
    options.event = count_note, options.context = &out->told;
    lw_status status = lw_simulate(model, &options, out->q, out->v, &out->summary, error);
    lw_model_destroy(model);
    return status;
}
static outcome must_go(const char *text, const char *integrator, double tolerance, double step) {
    outcome out;
    lw_error error = {0};
    if (go(text, integrator, tolerance, step, &out, &error) != LW_OK)
        fail_msg("%s: %s\n%s", integrator, error.message, text);
    return out;
}

/* --- a hopper ------------------------------------------------------------------------------------------------ */

static void hopper(char *text, size_t size, double foot, double q, double v) {
    snprintf(text, size,
             "linkwork: 1\nname: hopper\nbodies:\n  foot: {kind: point, mass: %g, position: [0, 0, 0.1]}\n"
             "  body: {kind: point, mass: 1, position: [0, 0, 0.6]}\njoints:\n"
             "  f: {type: prismatic, between: [ground, foot], axis: [0, 0, 1], q: %.17g}\n"
             "  b: {type: prismatic, between: [foot, body], axis: [0, 0, 1], v: %.17g}\nforces:\n"
             "  leg: {type: torsion, joint: b, stiffness: 2000}\n"
             "  contact: {type: torsion, joint: f, law: \"if(x < -0.1, 2e4*(x + 0.1) + 50*v*step(-x, 0.1, 0, "
             "0.101, 1), 0)\"}\nrun: {end: 1.5, output: 0.005}\n",
             foot, q, v);
}

/* Limits of small masses by bdf at 1e-10, masses of 1e-4 to 1e-6, extrapolated: good to 2e-5. */
static void a_hopper_lands(void **state) {
    (void)state;
    static const struct {
        double q, v, place, energy;
    } cases[] = {{0, 0, -0.03316, 5.77180}, {-0.105, 1, -0.06817, 5.29115}};
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < INTEGRATORS; i++) {
            char text[1200];
            hopper(text, sizeof text, 0, cases[c].q, cases[c].v);
            outcome out = must_go(text, integrators[i], 1e-8, 0);
            double place = out.q[0] + out.q[1];
            if (!(fabs(place - cases[c].place) < 3e-5))
                print_error("%s from %g: %.8g\n", integrators[i], cases[c].q, place);
            assert_true(fabs(place - cases[c].place) < 3e-5);
            assert_true(fabs(out.summary.energy_final - cases[c].energy) < 5e-5);
            assert_true(fabs(out.summary.ledger.unaccounted) < 1e-4);
            assert_int_equal(out.told.switches, 1);
        }
}

/* --- a damper that engages later ----------------------------------------------------------------------------- */

static void damped_beyond(char *text, size_t size, int side) {
    snprintf(text, size,
             "linkwork: 1\nname: later\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: 0}\n"
             "  B: {kind: point, mass: 1, position: [1, 0, 0]}\njoints:\n"
             "  a: {type: prismatic, between: [ground, A], axis: [1, 0, 0]}\n"
             "  b: {type: prismatic, between: [A, B], axis: [1, 0, 0], v: %d}\nforces:\n"
             "  s1: {type: torsion, joint: a, stiffness: 100, law: \"if(%sx > 0.02, 30*v*(%sx - 0.02)/0.02, "
             "0)\"}\n"
             "  s2: {type: torsion, joint: b, stiffness: 100}\nrun: {end: 2, output: 0.01}\n",
             2 * side, side > 0 ? "" : "-", side > 0 ? "" : "-");
}

static void a_damper_engages(void **state) {
    (void)state;
    for (int i = 0; i < INTEGRATORS; i++) {
        char text[1200];
        outcome out[2];
        for (int side = 0; side < 2; side++) {
            damped_beyond(text, sizeof text, side ? -1 : 1);
            out[side] = must_go(text, integrators[i], 1e-9, 0);
            /* limit of small masses: 0.0314089156 at 1e-6 kg, 0.0314091428 at 1e-5 */
            assert_true(fabs(fabs(out[side].q[0]) - 0.03140889) < 2e-7);
            assert_true(fabs(out[side].summary.energy_final - 0.1506893) < 2e-6);
            assert_true(fabs(out[side].summary.ledger.unaccounted) < 1e-5);
            assert_true(fabs(out[side].summary.ledger.dissipation - 0.512498) < 1e-5); /* two jumps */
            assert_int_equal(out[side].told.jumps, 2);
            assert_int_equal(out[side].told.switches, 1);
        }
        for (int k = 0; k < 2; k++) assert_true(fabs(out[0].q[k] + out[1].q[k]) < 1e-7);
    }
}

/* --- a force that steps -------------------------------------------------------------------------------------- */

static void a_force_steps(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nname: step\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: 0}\n"
        "  B: {kind: point, mass: 1, position: [1, 0, 0]}\njoints:\n"
        "  a: {type: prismatic, between: [ground, A], axis: [1, 0, 0]}\n"
        "  b: {type: prismatic, between: [A, B], axis: [1, 0, 0]}\nforces:\n"
        "  s1: {type: torsion, joint: a, stiffness: 100}\n  s2: {type: torsion, joint: b, stiffness: 100}\n"
        "  f: {type: applied, body: A, point: [0, 0, 0], force: [\"if(t < 0.3, 0, 10)\", 0, 0]}\n"
        "run: {end: 1, output: 0.01}\n";
    for (int i = 0; i <= INTEGRATORS; i++) {
        bool fixed = i == INTEGRATORS;
        outcome out = must_go(text, fixed ? "rk4" : integrators[i], fixed ? 0 : 1e-9, fixed ? 1e-3 : 0);
        double right = 0.1 * (1 - cos(sqrt(50) * 0.7));
        if (!(fabs(out.q[0] + out.q[1] - right) < 1e-7))
            print_error("%s: %.3e\n", fixed ? "rk4" : integrators[i], out.q[0] + out.q[1] - right);
        assert_true(fabs(out.q[0] + out.q[1] - right) < 1e-7); /* some ten tolerances */
        assert_true(fabs(out.summary.ledger.unaccounted) < 1e-6);
        /* 10 N move A by 0.05 m: half of that work is in the springs */
        assert_true(fabs(out.summary.ledger.dissipation - 0.25) < 1e-7);
        assert_int_equal(out.told.jumps, 1);
        assert_int_equal(out.told.switches + out.told.others, 0);
    }
}

/* --- random relatives ---------------------------------------------------------------------------------------- */

static double between(lw_random *random, double low, double high) {
    return low + (high - low) * random_below(random, 100000) / 1e5;
}

/* A law that damps at some places or times; x of the mirror image has the other sign. */
static void draw_law(lw_random *random, bool mirrored, char *text, size_t size) {
    double d = between(random, 0.01, 0.04), c = between(random, 5, 40);
    const char *sign = mirrored ? "-" : "";
    switch (random_below(random, 6)) {
    case 0:
        snprintf(text, size, "if(%sx > %.5g, %.5g*v*(%sx - %.5g)/0.02, 0)", sign, d, c, sign, d);
        break;
    case 1:
        snprintf(text, size, "if(%sx > %.5g, %.5g*v, 0)", sign, d, c);
        break;
    case 2:
        snprintf(text, size, "if(%sx > %.5g, %.5g*v*step(%sx, %.5g, 0, 0.08, 1), 0)", sign, d, c, sign, d);
        break;
    case 3:
        snprintf(text, size, "ramp(%sx - %.5g)*%.5g*v/0.02", sign, d, c);
        break;
    case 4:
        snprintf(text, size, "if(t < %.5g, 0, %.5g*v)", 10 * d, c);
        break;
    default:
        snprintf(text, size, "if(t < %.5g, %.5g*v, 0)", 20 * d, c);
    }
}

static void draw_chain(int seed, bool mirrored, double mass, char *text, size_t size) {
    lw_random random = random_seed((uint64_t)seed);
    char law[2][160], force[80];
    bool two = random_below(&random, 3) == 0, pushed = random_below(&random, 3) == 0;
    double k[4], v = between(&random, 0.5, 2.5), push = between(&random, -6, 6);
    for (int n = 0; n < 4; n++) k[n] = between(&random, 50, 300);
    double damping = sqrt((k[0] + k[1]) * mass) / 3;
    for (int n = 0; n < 2; n++) draw_law(&random, mirrored, law[n], sizeof law[n]);
    double sign = mirrored ? -1 : 1;
    snprintf(force, sizeof force, "%.6g*sign(sin(%.6g*t))", sign * push, between(&random, 3, 8));
    int at = snprintf(text, size,
                      "linkwork: 1\nname: chain\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: %g}\n"
                      "  B: {kind: point, mass: 1, position: [1, 0, 0]}\n",
                      mass);
    if (two)
        at += snprintf(text + at, size - (size_t)at,
                       "  C: {kind: point, mass: %g, position: [2, 0, 0]}\n"
                       "  D: {kind: point, mass: 2, position: [3, 0, 0]}\n",
                       mass);
    at += snprintf(text + at, size - (size_t)at,
                   "joints:\n  a: {type: prismatic, between: [ground, A], axis: [1, 0, 0]}\n"
                   "  b: {type: prismatic, between: [A, B], axis: [1, 0, 0], v: %.6g}\n",
                   sign * v);
    if (two)
        at += snprintf(text + at, size - (size_t)at,
                       "  c: {type: prismatic, between: [B, C], axis: [1, 0, 0]}\n"
                       "  d: {type: prismatic, between: [C, D], axis: [1, 0, 0]}\n");
    at += snprintf(text + at, size - (size_t)at,
                   "forces:\n  s1: {type: torsion, joint: a, stiffness: %.6g, damping: %.9g, law: \"%s\"}\n"
                   "  s2: {type: torsion, joint: b, stiffness: %.6g}\n",
                   k[0], damping, law[0], k[1]);
    if (two)
        at += snprintf(text + at, size - (size_t)at,
                       "  s3: {type: torsion, joint: c, stiffness: %.6g, damping: %.9g, law: \"%s\"}\n"
                       "  s4: {type: torsion, joint: d, stiffness: %.6g}\n",
                       k[2], damping, law[1], k[3]);
    if (pushed)
        at += snprintf(text + at, size - (size_t)at,
                       "  f: {type: applied, body: A, point: [0, 0, 0], force: [\"%s\", 0, 0]}\n", force);
    snprintf(text + at, size - (size_t)at, "run: {end: 1.2, output: 0.02}\n");
}

static void chains_are_the_limit_of_small_mass(void **state) {
    (void)state;
    for (int seed = 1; seed <= 14; seed++) {
        char text[2400];
        outcome first = {0}, little[2];
        for (int i = 0; i < 2 * INTEGRATORS; i++) {
            bool mirrored = i >= INTEGRATORS;
            draw_chain(seed, mirrored, 0, text, sizeof text);
            outcome out = must_go(text, integrators[i % INTEGRATORS], 1e-9, 0);
            if (!i) first = out;
            for (int k = 0; k < 4; k++) {
                double apart = mirrored ? out.q[k] + first.q[k] : out.q[k] - first.q[k];
                if (!(fabs(apart) < 2e-6))
                    fail_msg("seed %d, %s: %g\n%s", seed, integrators[i % 4], apart, text);
            }
            /* of some J: a power that rises like 1/sqrt(t) is integrated to some hundred tolerances */
            if (!(fabs(out.summary.ledger.unaccounted) < 2e-5))
                fail_msg("seed %d, %s: %g J\n%s", seed, integrators[i % 4], out.summary.ledger.unaccounted,
                         text);
        }
        for (int m = 0; m < 2; m++) {
            draw_chain(seed, false, m ? 1e-5 : 1e-4, text, sizeof text);
            little[m] = must_go(text, "bdf", 1e-8, 0);
        }
        double apart[2] = {0};
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < 4; k += 2)
                apart[m] =
                    fmax(apart[m], fabs(little[m].q[k] + little[m].q[k + 1] - first.q[k] - first.q[k + 1]));
        if (!(apart[1] < 5e-4) || !(apart[1] < 0.5 * apart[0] + 1e-5)) /* sqrt(m): a third */
            fail_msg("seed %d: a little mass leads %g, then %g away\n%s", seed, apart[0], apart[1], text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_hopper_lands), cmocka_unit_test(a_damper_engages),
                                       cmocka_unit_test(a_force_steps),
                                       cmocka_unit_test(chains_are_the_limit_of_small_mass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
