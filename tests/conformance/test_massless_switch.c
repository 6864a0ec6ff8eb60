/* test_massless_switch.c - a damper on a motion without mass that engages or lets go on the way: clutches by
 * time, end stops, dead zones.
 *
 * A body of 1 kg hangs by a spring on one without mass, which a spring holds and a law resists that changes
 * with place or time. Every law is tried for translations and rotations, alone and with another body on the
 * one without mass; by erk, bdf, adams and ida; and as its mirror image. Integrators agree to what their
 * tolerance of 1e-8 leaves, mirror images are mirror images, the books are closed; and a small mass (1e-6,
 * with a damper of sqrt(k m)/2 that ends its vibration) goes the same way but for O(sqrt(m)).
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
enum { INTEGRATORS = 4, KINDS = 4 };

/* %s: the sign that mirrors the place. Forces are odd in (x, v) together with it. */
typedef struct law {
    const char *name, *text;
    double start; /* speed of the body, m/s or rad/s */
} law;

static const law laws[] = {
    {"clutch", "if(t > 0.3, 30*v, 0)", 2},
    {"clutch that comes slowly", "30*v*step(t, 0.3, 0, 0.31, 1)", 2},
    {"clutch that lets go", "if(t < 0.3, 30*v, 0)", 2},
    {"dead zone", "if(abs(x) > 0.02, 30*v, 0)", 2},
    {"dead zone with a ramp", "30*v*step(abs(x), 0.02, 0, 0.03, 1)", 2},
    {"end stop", "if(%sx > 0.02, 1e4*(x - (%s0.02)) + 30*v, 0)", 2},
    {"end stop behind", "if(%sx < -0.02, 1e4*(x + (%s0.02)) + 30*v, 0)", 2},
};

typedef struct outcome {
    double q[6], v[6];
    lw_run_summary summary;
    int switches;
} outcome;

static void count_note(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text;
    if (strcmp(kind, "switch") == 0) ++*(int *)context;
}

/* kind & 1: rotations; kind & 2: another body of 0.5 kg (or kg m^2) by a spring on the one without mass. */
static void write_model(char *text, size_t size, const law *l, int kind, int side, double mass) {
    const char *sign = side > 0 ? "" : "-";
    const char *body = kind & 1 ? "{mass: 0, inertia: [%g, %g, %g]}" : "{kind: point, mass: %g}";
    const char *joint =
        kind & 1 ? "type: revolute, point: [0, 0, 0], axis: [0, 0, 1]" : "type: prismatic, axis: [0, 0, 1]";
    char A[96], B[96], C[96], force[160];
    snprintf(A, sizeof A, body, mass, mass, mass);
    snprintf(B, sizeof B, body, 1., 1., 1.);
    snprintf(C, sizeof C, body, 0.5, 0.5, 0.5);
    snprintf(force, sizeof force, l->text, sign, sign);
    int n = snprintf(
        text, size,
        "linkwork: 1\nname: switch\ngravity: [0, 0, 0]\nbodies:\n  A: %s\n  B: %s\n%s%s%sjoints:\n"
        "  a: {%s, between: [ground, A]}\n  b: {%s, between: [A, B], v: %g}\n%s%s%s",
        A, B, kind & 2 ? "  C: " : "", kind & 2 ? C : "", kind & 2 ? "\n" : "", joint, joint, side * l->start,
        kind & 2 ? "  c: {" : "", kind & 2 ? joint : "", kind & 2 ? ", between: [A, C]}\n" : "");
    n += snprintf(text + n, size - (size_t)n,
                  "forces:\n  s1: {type: torsion, joint: a, stiffness: 100, law: \"%s\"}\n"
                  "  s2: {type: torsion, joint: b, stiffness: 100}\n%s",
                  force, kind & 2 ? "  s3: {type: torsion, joint: c, stiffness: 40}\n" : "");
    if (mass > 0)
        n += snprintf(text + n, size - (size_t)n, "  tiny: {type: torsion, joint: a, damping: %g}\n",
                      sqrt(100 * mass) / 2);
    snprintf(text + n, size - (size_t)n, "run: {end: 1, output: 0.01}\n");
}

static outcome go(const char *text, const char *integrator) {
    outcome out = {0};
    lw_error error = {0};
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.integrator = integrator, options.tolerance = 1e-8;
    options.event = count_note, options.context = &out.switches;
    if (lw_simulate(model, &options, out.q, out.v, &out.summary, &error) != LW_OK)
        fail_msg("%s: %s\n%s", integrator, error.message, text);
    lw_model_destroy(model);
    return out;
}

static void switches(void **state) {
    (void)state;
    double apart = 0, mirrored = 0, limit = 0;
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
        for (int kind = 0; kind < KINDS; kind++) {
            char text[1600];
            int coordinates = kind & 2 ? 3 : 2;
            outcome first = {0};
            for (int i = 0; i < INTEGRATORS; i++) {
                outcome side[2];
                for (int s = 0; s < 2; s++) {
                    write_model(text, sizeof text, &laws[l], kind, s ? -1 : 1, 0);
                    side[s] = go(text, integrators[i]);
                    if (!side[s].summary.verdict.ok)
                        fail_msg("%s, %s: doubtful: %s\n%s", laws[l].name, integrators[i],
                                 side[s].summary.verdict.reasons[0], text);
                    if (side[s].switches != 1)
                        fail_msg("%s, kind %d, %s: %d switches", laws[l].name, kind, integrators[i],
                                 side[s].switches);
                }
                if (i == 0) first = side[0];
                for (int k = 0; k < coordinates; k++) {
                    double between = fabs(side[0].q[k] - first.q[k]),
                           mirror = fabs(side[0].q[k] + side[1].q[k]);
                    if (between > 2e-6 || mirror > 2e-6)
                        fail_msg("%s, kind %d, %s: q[%d] = %.9g, mirrored %.9g, by erk %.9g", laws[l].name,
                                 kind, integrators[i], k, side[0].q[k], side[1].q[k], first.q[k]);
                    apart = fmax(apart, between), mirrored = fmax(mirrored, mirror);
                }
            }
            write_model(text, sizeof text, &laws[l], kind, 1, 1e-6);
            outcome small = go(text, "bdf");
            for (int k = 0; k < coordinates; k++) {
                double off = fabs(small.q[k] - first.q[k]);
                if (off > 5e-4)
                    fail_msg("%s, kind %d: q[%d] = %.9g, with a small mass %.9g", laws[l].name, kind, k,
                             first.q[k], small.q[k]);
                limit = fmax(limit, off);
            }
        }
    print_message("integrators differ by %.1e, mirror images by %.1e, masses of 1e-6 by %.1e\n", apart,
                  mirrored, limit);
}

/* The same within a loop: a crank and a rocker, between them a coupler without mass in three parts that slide
 * on each other. */
static void in_a_loop(void **state) {
    (void)state;
    static const char *const resists[] = {"if(abs(x) > 0.01, 30*v, 0)",
                                          "if(x < -0.01, 1e4*(x + 0.01) + 30*v, 0)", "if(t > 0.3, 30*v, 0)"};
    double apart = 0, limit = 0;
    for (int l = 0; l < 3; l++) {
        outcome first = {0};
        for (int i = 0; i <= INTEGRATORS; i++) { /* the last: a small mass */
            char text[2000];
            double mass = i < INTEGRATORS ? 0 : 1e-7;
            snprintf(
                text, sizeof text,
                "linkwork: 1\nname: loop\ngravity: [0, 0, 0]\nparameters: {eps: %g}\nbodies:\n"
                "  crank: {mass: 1, com: [0, 0, 0.15], inertia: [0.01, 0.01, 0.01]}\n"
                "  x: {mass: eps, com: [0.1, 0, 0.3], inertia: [eps, eps, eps]}\n"
                "  k: {mass: eps, com: [0.2, 0, 0.3], inertia: [eps, eps, eps]}\n"
                "  y: {mass: eps, com: [0.4, 0, 0.3], inertia: [eps, eps, eps]}\n"
                "  rocker: {mass: 1, com: [0.6, 0, 0.15], inertia: [0.01, 0.01, 0.01]}\njoints:\n"
                "  p1: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 2}\n"
                "  p2: {type: revolute, between: [crank, x], point: [0, 0, 0.3], axis: [0, 1, 0]}\n"
                "  s1: {type: prismatic, between: [x, k], axis: [1, 0, 0]}\n"
                "  s2: {type: prismatic, between: [k, y], axis: [1, 0, 0]}\n"
                "  p3: {type: revolute, between: [y, rocker], point: [0.6, 0, 0.3], axis: [0, 1, 0], cut: "
                "true}\n"
                "  p4: {type: revolute, between: [ground, rocker], point: [0.6, 0, 0], axis: [0, 1, "
                "0]}\nforces:\n"
                "  a: {type: torsion, joint: s1, stiffness: 200, law: \"%s\"}\n"
                "  b: {type: torsion, joint: s2, stiffness: 200}\n  c: {type: torsion, joint: p4, stiffness: "
                "3}\n"
                "  tiny: {type: torsion, joint: s1, damping: \"%g\"}\nrun: {end: 0.6, output: 0.01}\n",
                mass, resists[l], 3e4 * mass);
            outcome out = go(text, i < INTEGRATORS ? integrators[i] : "bdf");
            if (!out.summary.verdict.ok)
                fail_msg("%s: doubtful: %s", resists[l], out.summary.verdict.reasons[0]);
            if (i == 0) first = out;
            double off = fabs(out.summary.energy_final - first.summary.energy_final);
            if (off > (i < INTEGRATORS ? 1e-5 : 1e-3))
                fail_msg("%s, %s: energy %.9g, by erk %.9g", resists[l],
                         i < INTEGRATORS ? integrators[i] : "small mass", out.summary.energy_final,
                         first.summary.energy_final);
            *(i < INTEGRATORS ? &apart : &limit) = fmax(i < INTEGRATORS ? apart : limit, off);
        }
    }
    print_message(
        "in a loop energies differ by %.1e J between integrators, by %.1e J from masses of 1e-7 kg\n", apart,
        limit);
}

/* z(t) of a body of 1 kg on springs of 100 N/m in series through a body without mass, a at the first of which
 * another spring of 1000 N/m engages below -0.02 m; from z = 0 at -2 m/s. The springs are 50 N/m above z =
 * -0.04, and below it a = (100 z - 20)/1200. */
static double sprung(double t) {
    const double speed = 2, place = 0.04, pi = 3.14159265358979323846;
    const double w1 = sqrt(50), k2 = 100 - 1e4 / 1200, z2 = -100 * 20 / 1200. / k2, w2 = sqrt(k2);
    const double first = asin(place * w1 / speed), v = sqrt(speed * speed - w1 * w1 * place * place);
    const double u = -place - z2, second = atan2(-u * w2, v); /* z - z2 = -R sin(w2 s + second) below */
    const double below = (pi - 2 * second) / w2, above = (pi + 2 * first) / w1;
    if (t < first / w1) return -speed / w1 * sin(w1 * t);
    const double s = fmod(t - first / w1, below + above);
    return s < below ? z2 - hypot(u, v / w2) * sin(w2 * s + second)
                     : speed / w1 * sin(w1 * (s - below) - first);
}

/* A spring that engages where springs alone hold a body without mass: its speed changes at once by a factor
 * of six, at a kink of the force. Differences of 6e-6 m across the kink mix both sides, and by ida the body
 * stuck between them (1.46 of 2 J were left). */
static void springs_that_engage(void **state) {
    (void)state;
    static const struct {
        const char *tables, *limits, *law;
    } kinks[] = {
        {"", "", ", law: \"if(x < -0.02, 1e3*(x + 0.02), 0)\""},
        {"", "", ", law: \"min(0, 1e3*(x + 0.02))\""},
        {"", "", ", law: \"500*(x + 0.02) - 500*abs(x + 0.02)\""},
        {"", "", ", table: {x: [-1, -0.02, 1], torque: [-980, 0, 0]}"},
        {"tables: {bend: {x: [-1, -0.02, 1], y: [-980, 0, 0], beyond: linear}}\n", "", ", law: bend(x)"},
        {"", ", limits: [-0.02, null], stop: {stiffness: 1000}", ""},
    };
    double worst = 0;
    for (size_t k = 0; k < sizeof kinks / sizeof *kinks; k++)
        for (int i = 0; i < INTEGRATORS; i++)
            for (double end = 0.3; end < 2.5; end += 0.7) {
                char text[1600];
                snprintf(
                    text, sizeof text,
                    "linkwork: 1\nname: kink\ngravity: [0, 0, 0]\n%sbodies:\n  A: {kind: point, mass: 0}\n"
                    "  B: {kind: point, mass: 1}\njoints:\n"
                    "  a: {type: prismatic, between: [ground, A], axis: [0, 0, 1]%s}\n"
                    "  b: {type: prismatic, between: [A, B], axis: [0, 0, 1], v: -2}\nforces:\n"
                    "  s1: {type: torsion, joint: a, stiffness: 100%s}\n"
                    "  s2: {type: torsion, joint: b, stiffness: 100}\nrun: {end: %g, output: 0.01}\n",
                    kinks[k].tables, kinks[k].limits, kinks[k].law, end);
                const outcome out = go(text, integrators[i]);
                const double off = fabs(out.q[0] + out.q[1] - sprung(end));
                if (!out.summary.verdict.ok || off > 2e-6 || out.summary.evaluations > 6000)
                    fail_msg("kink %zu, %s: off by %.2g after %ld evaluations: %s\n%s", k, integrators[i],
                             off, (long)out.summary.evaluations,
                             out.summary.verdict.ok ? "" : out.summary.verdict.reasons[0], text);
                worst = fmax(worst, off);
            }
    print_message("springs that engage: off by %.1e m\n", worst);
}

/* z and a of the same body where the one without mass slides between stops of k = 1e4 N/m and c = 30 N s/m, which push and never
 * pull: a = z/2 away from them; at one with the force S = 200 a - 100 z > 0 into it, S = k e + c de/dt, e how far it is pressed. A
 * stop that has been left while it was pressed recovers by itself, k e + c de/dt = 0, and is touched again where a reaches it; so a
 * is within it for good only once it moves out faster than that. Heun's method in steps of 2e-7 s. */
static void stopped(double low, double high, double end, double *a, double *z) {
    const double k = 1e4, c = 30, h = 2e-7;
    double v = -2;
    bool touches = false;
    *a = *z = 0;
    for (long n = lround(end / h); n > 0; n--) {
        const double side = *a < 0 ? -1 : 1, e = side < 0 ? low - *a : *a - high;
        const double force = side * (100 * *z - 200 * *a); /* into the stop, at a */
        const double loose = *z / 2, loose_e = side < 0 ? low - loose : loose - high, rate = side * v / 2;
        if (!touches && loose_e > 0 && k * loose_e + c * rate > 0) touches = true;
        if (touches && (force <= 0 && !(k * loose_e + c * rate > 0))) touches = false;
        const double speed = touches ? side * (force - k * e) / c : v / 2;
        const double pull = 100 * (*z - *a), a1 = *a + h * speed, z1 = *z + h * v, v1 = v - h * pull;
        const double e1 = side < 0 ? low - a1 : a1 - high;
        const double speed1 = touches ? side * (side * (100 * z1 - 200 * a1) - k * e1) / c : v1 / 2;
        *a = touches ? *a + h / 2 * (speed + speed1) : z1 / 2;
        *z += h / 2 * (v + v1);
        v -= h / 2 * (pull + 100 * (z1 - a1));
        if (!touches) *a = *z / 2;
    }
}

/* A stop with a damper lets go by its speed, where its force would become a pull, and takes hold by it. */
static void stops_that_only_push(void **state) {
    (void)state;
    double worst = 0;
    for (int both = 0; both < 2; both++)
        for (double end = 0.1; end < 2; end += 0.3) {
            double a, z;
            char text[1600];
            stopped(-0.02, both ? 0.05 : 1e9, end, &a, &z);
            snprintf(text, sizeof text,
                     "linkwork: 1\nname: stop\ngravity: [0, 0, 0]\nbodies:\n  A: {kind: point, mass: 0}\n"
                     "  B: {kind: point, mass: 1}\njoints:\n"
                     "  a: {type: prismatic, between: [ground, A], axis: [0, 0, 1], limits: [-0.02, %s], "
                     "stop: {stiffness: 1e4, damping: 30}}\n"
                     "  b: {type: prismatic, between: [A, B], axis: [0, 0, 1], v: -2}\nforces:\n"
                     "  s1: {type: torsion, joint: a, stiffness: 100}\n"
                     "  s2: {type: torsion, joint: b, stiffness: 100}\nrun: {end: %g, output: 0.01}\n",
                     both ? "0.05" : "null", end);
            for (int i = 0; i < INTEGRATORS; i++) {
                const outcome out = go(text, integrators[i]);
                const double off = fmax(fabs(out.q[0] - a), fabs(out.q[0] + out.q[1] - z));
                if (!out.summary.verdict.ok || off > 2e-6)
                    fail_msg("%s until %g: off by %.2g: %s\n%s", integrators[i], end, off,
                             out.summary.verdict.ok ? "" : out.summary.verdict.reasons[0], text);
                worst = fmax(worst, off);
            }
        }
    print_message("stops that only push: off by %.1e m\n", worst);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(switches), cmocka_unit_test(in_a_loop),
                                       cmocka_unit_test(springs_that_engage),
                                       cmocka_unit_test(stops_that_only_push)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
