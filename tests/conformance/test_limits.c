/* test_limits.c - limits of joints' coordinates and the stops that stand there.
 *
 *   notes      one for each passage outwards, at the instant; the motion stays as it was
 *   springs    a slide against its stop: half an oscillation in closed form; with damping the stop never pulls, and what
 *              the slide has lost is booked as dissipation
 *   impacts    at the start, too; an impulse at an instant or by another joint happens once; the speed after it, and the loss; where motions move the joint, the work of their drives
 *   loops      the same notes and the same motion wherever the loop is cut, the limited joint included
 *   drives     no more than their limit acts
 */
#include "build.h"
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };

typedef struct course {
    int notes, samples;
    double at[MOST];
    char names[MOST][64];
    double q, v, highest; /* of coordinate 0 */
    double bead[3];
    lw_ledger ledger;
    lw_run_summary summary;
} course;

static void note(double t, const char *kind, const char *text, void *context) {
    course *c = context;
    if (strcmp(kind, "event") != 0) return;
    assert_true(c->notes < MOST);
    c->at[c->notes] = t;
    snprintf(c->names[c->notes++], sizeof c->names[0], "%s", text);
}

static bool keep(const lw_sample *sample, void *context) {
    course *c = context;
    c->q = sample->q[0], c->v = sample->v[0];
    c->highest = fmax(c->highest, c->q);
    c->samples++;
    for (int k = 0; k < 3 && sample->outputs; k++) c->bead[k] = sample->outputs[k];
    c->ledger = *sample->ledger;
    return true;
}

static lw_model *read_text(const char *text) {
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    if (lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec) != LW_OK)
        fail_msg("%s", lw_report_get(report, 0)->message);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

static void run(lw_model *model, const char *method, double end, course *c) {
    lw_run_options options;
    lw_error error;
    memset(c, 0, sizeof *c);
    lw_run_defaults(model, &options);
    options.method = method;
    options.end = end;
    options.output = end / 400;
    options.tolerance = 1e-11;
    options.observe = keep;
    options.event = note;
    options.context = c;
    if (lw_simulate(model, &options, NULL, NULL, &c->summary, &error) != LW_OK)
        fail_msg("%s: %s: %s", method, error.object, error.message);
}

/* A slide of 2 kg at 3 m/s towards a limit 0.5 m ahead. */
static const char slide[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  block: {mass: 2, inertia: [0.1, 0.1, 0.1]}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, block], axis: [1, 0, 0], v: %g, limits: [%s]%s}\n";

static void a_limit_is_noted(void **state) {
    (void)state;
    char text[1024];
    course c;
    snprintf(text, sizeof text, slide, 3.0, "-0.4, 0.5", "");
    lw_model *model = read_text(text);
    run(model, "tree", 1, &c);
    assert_int_equal(c.notes, 1);
    assert_string_equal(c.names[0], "rail.limit.upper");
    assert_true(fabs(c.at[0] - 0.5 / 3) < 1e-12);
    assert_true(fabs(c.q - 3) < 1e-12); /* nothing else has happened */
    lw_model_destroy(model);

    snprintf(text, sizeof text, slide, -3.0, "-0.4, null", "");
    model = read_text(text);
    assert_int_equal(lw_model_event_count(model), 1);
    run(model, "tree", 1, &c);
    assert_int_equal(c.notes, 1);
    assert_string_equal(c.names[0], "rail.limit.lower");
    lw_model_destroy(model);

    /* a pendulum passes its limits once on every swing */
    model = read_text(
        "linkwork: 1\n"
        "bodies:\n"
        "  bob: {mass: 1, com: [0, 0, -1], inertia: [0.1, 0.1, 0.1]}\n"
        "joints:\n"
        "  'my pin': {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], q: 0.1, "
        "v: 2, limits: [-0.3, 0.3]}\n");
    run(model, "tree", 5, &c);
    assert_true(c.notes >= 4);
    for (int k = 0; k < c.notes; k++)
        assert_string_equal(c.names[k], k % 2 ? "my pin.limit.lower" : "my pin.limit.upper");
    lw_model_destroy(model);
}

static void a_spring_throws_back(void **state) {
    (void)state;
    char text[1024];
    course c;
    const double k = 5e4, m = 2, v = 3;
    for (int side = 0; side < 2; side++) {
        const double sense = side ? -1 : 1;
        snprintf(text, sizeof text, slide, sense * v, "-0.5, 0.5", ", stop: {stiffness: 5e4}");
        lw_model *model = read_text(text);
        run(model, "tree", 0.3, &c);
        const double leaves = 0.5 / v + 3.14159265358979323846 * sqrt(m / k);
        assert_int_equal(c.notes, 1);
        /* the tolerance is 1e-11 per step: measured 1e-12 */
        assert_true(fabs(c.v + sense * v) < 1e-9);
        assert_true(fabs(c.q - sense * (0.5 - v * (0.3 - leaves))) < 1e-9);
        assert_true(fabs(c.ledger.kinetic - 9) < 1e-8 && fabs(c.ledger.potential) < 1e-12);
        assert_true(c.summary.energy_max_drift < 1e-8);
        lw_model_destroy(model);
    }
}

static void damping_takes_energy(void **state) {
    (void)state;
    char text[1024];
    course c;
    /* The force is max(0, k e + c v): integrated here in small steps, independently. */
    const double k = 5e4, damping = 150, m = 2;
    double e = 0, v = 3, h = 1e-7;
    do { /* midpoint rule */
        double a = -fmax(0, k * e + damping * v) / m, em = e + 0.5 * h * v, vm = v + 0.5 * h * a;
        e += h * vm, v += h * -fmax(0, k * em + damping * vm) / m;
    } while (e > 0);
    assert_true(v < -1 && v > -2.5);
    snprintf(text, sizeof text, slide, 3.0, "-2, 0.5", ", stop: {stiffness: 5e4, damping: 150}");
    lw_model *model = read_text(text);
    run(model, "tree", 0.3, &c);
    assert_true(fabs(c.v - v) < 1e-6);
    assert_true(fabs(c.ledger.dissipation - (9 - 0.5 * m * v * v)) < 1e-5);
    assert_true(fabs(c.ledger.potential) < 1e-12 && fabs(c.ledger.forces) < 1e-12);
    assert_true(c.summary.energy_max_drift < 1e-8);
    lw_model_destroy(model);
}

static void an_impact_reverses(void **state) {
    (void)state;
    char text[1024];
    course c;
    snprintf(text, sizeof text, slide, 3.0, "-2, 0.5", ", stop: {restitution: 0.3}");
    lw_model *model = read_text(text);
    run(model, "tree", 0.4, &c);
    assert_int_equal(c.notes, 1);
    assert_string_equal(c.names[0], "rail.stop.upper");
    assert_true(fabs(c.v + 0.9) < 1e-12);
    assert_true(fabs(c.ledger.dissipation - 9 * (1 - 0.09)) < 1e-10);
    lw_model_destroy(model);
}

/* A joint that starts on its limit meets its stop if it goes on, at once, and leaves it otherwise. One that
 * its weight holds there would rebound without end, which is refused and not passed over. */
static void a_stop_stands_at_the_start(void **state) {
    (void)state;
    char text[1024];
    course c;
    for (int side = -1; side <= 1; side += 2)
        for (int outwards = 0; outwards < 2; outwards++) {
            snprintf(text, sizeof text, slide, outwards ? side * 3.0 : side * -3.0,
                     side > 0 ? "-2, 0" : "0, 2", ", stop: {restitution: 0.3}");
            lw_model *model = read_text(text);
            run(model, "tree", 0.4, &c);
            assert_int_equal(c.notes, outwards);
            assert_true(fabs(c.v + side * (outwards ? 0.9 : 3)) < 1e-12);
            assert_true(fabs(c.q - 0.4 * c.v) < 1e-12);
            assert_true(fabs(c.ledger.dissipation - outwards * 9 * (1 - 0.09)) < 1e-10);
            lw_model_destroy(model);
        }
    lw_model *model = read_text(
        "linkwork: 1\n"
        "bodies: {block: {mass: 2, inertia: [0.1, 0.1, 0.1]}}\n"
        "joints: {rail: {type: prismatic, between: [ground, block], axis: [0, 0, 1], limits: [0, 1], stop: "
        "{restitution: 0.3}}}\n");
    lw_run_options options;
    lw_error error;
    lw_run_defaults(model, &options);
    options.end = 1;
    assert_int_equal(lw_simulate(model, &options, NULL, NULL, NULL, &error), LW_ERROR_INTEGRATION);
    assert_non_null(strstr(error.message, "has come to rest at its stop"));
    assert_non_null(strstr(error.remedy, "a stop with stiffness"));
    lw_model_destroy(model);
}

/* An impulse at an instant, or where another joint passes, happens once: what the event waits for goes on. */
static void an_impulse_elsewhere_happens_once(void **state) {
    (void)state;
    static const char *const when[] = {"t - 0.21", "other.q - 0.42"};
    for (int k = 0; k < 2; k++) {
        char text[1024];
        course c;
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "gravity: [0, 0, 0]\n"
                 "bodies: {a: &solid {mass: 2, inertia: [0.1, 0.1, 0.1]}, b: *solid}\n"
                 "joints:\n"
                 "  rail: {type: prismatic, between: [ground, a], axis: [1, 0, 0], v: 3}\n"
                 "  other: {type: prismatic, between: [ground, b], axis: [1, 0, 0], v: 2}\n"
                 "events: {kick: {when: %s, do: {restitution: {joint: rail, factor: 0.5}}}}\n",
                 when[k]);
        lw_model *model = read_text(text);
        run(model, "tree", 0.4, &c);
        assert_int_equal(c.notes, 1);
        assert_true(fabs(c.at[0] - 0.21) < 1e-12);
        assert_true(fabs(c.q - (3 * 0.21 - 1.5 * 0.19)) < 1e-12);
        lw_model_destroy(model);
    }
}

/* A pendulum on a piston, with a bead on a wire that hits its end: whether the piston stands or moves evenly,
 * the bead and the pendulum move alike and lose the same, and the piston's drive does the rest. A crank
 * drives it in the last, a loop, of whose speeds an impact changes none: there the ledger closes. */
static void a_moving_piston_does_work(void **state) {
    (void)state;
    static const char piston[] =
        "linkwork: 1\n"
        "bodies:\n"
        "  piston: {mass: 2, inertia: [1, 1, 1]}\n"
        "  arm: {mass: 1, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1]}\n"
        "  bead: {mass: 0.7, inertia: [1, 1, 1]}\n"
        "joints:\n"
        "  wire: {type: prismatic, between: [arm, bead], axis: [0, 0.6, 0.8], q: 0.3, limits: [0, null], "
        "stop: {restitution: 0.6}}\n"
        "  pin: {type: revolute, between: [piston, arm], point: [0, 0, 0], axis: [0, 1, 0], q: 0.2}\n"
        "  drive: {type: prismatic, between: [ground, piston], axis: [0, 0, 1]%s}\n%s"
        "outputs: {place: wire.q, speed: wire.v, angle: pin.q}\n";
    static const char crank[] =
        "  turn: {type: revolute, between: [ground, crank], point: [0, 0, -1], axis: [0, 1, 0], motion: 1 + "
        "4*t}\n"
        "  big: {type: revolute, between: [crank, rod], point: [0, 0, -0.9], axis: [0, 1, 0]}\n"
        "  small: {type: spherical, between: [rod, piston], point: [0, 0, 0]}\n";
    static const char *const methods[] = {"tree", "lagrange", "partition", "nullspace", "rcr"};
    char text[2048];
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        course c[3];
        for (int w = 0; w < 3; w++) {
            char motion[32];
            snprintf(motion, sizeof motion, ", motion: %d*t", 2 * w - 1);
            snprintf(text, sizeof text, piston, w == 0 ? ", motion: 0*t" : motion, "");
            lw_model *model = read_text(text);
            run(model, methods[m], 0.8, &c[w]);
            lw_model_destroy(model);
        }
        /* speeds of 4 m/s and energies of 60 J, integrated with a tolerance of 1e-11 */
        for (int w = 1; w < 3; w++) {
            assert_true(c[0].notes >= 2 && c[w].notes == c[0].notes);
            for (int k = 0; k < 3; k++) assert_true(fabs(c[w].bead[k] - c[0].bead[k]) < 1e-9);
            assert_true(fabs(c[w].ledger.dissipation - c[0].ledger.dissipation) < 1e-9);
            assert_true(fabs(c[w].ledger.drives) > 10 && c[w].summary.energy_max_drift < 1e-8);
        }
        assert_true(c[0].ledger.dissipation > 1 && c[0].ledger.drives == 0);
        if (m == 0) continue;
        snprintf(text, sizeof text, piston, "", crank);
        char *joints = strstr(text, "joints:");
        static const char more[] = "  crank: {mass: 1, inertia: [1, 1, 1], position: [0, 0, -1]}\n"
                                   "  rod: {mass: 0.5, inertia: [0.1, 0.1, 0.1], position: [0, 0, -0.5]}\n";
        memmove(joints + sizeof more - 1, joints, strlen(joints) + 1);
        memcpy(joints, more, sizeof more - 1);
        lw_model *model = read_text(text);
        run(model, methods[m], 0.9, &c[0]);
        assert_true(c[0].notes >= 2 && c[0].summary.energy_max_drift < 1e-6);
        lw_model_destroy(model);
    }
}

/* A drive towards 0.4 m with more force than it may have: as one whose expression says so itself. */
static void a_drive_has_its_limit(void **state) {
    (void)state;
    static const char *const drives[] = {"force: 400*(0.4 - q) - 20*v, limit: 30 N",
                                         "force: 'max(-30, min(30, 400*(0.4 - q) - 20*v))'",
                                         "force: 400*(0.4 - q) - 20*v"};
    char text[2048];
    course c[3];
    for (int k = 0; k < 3; k++) {
        int length = snprintf(text, sizeof text, slide, 0.0, "-2, 2", "");
        snprintf(text + length, sizeof text - (size_t)length,
                 "forces:\n  motor: {type: drive, joint: rail, %s}\n", drives[k]);
        lw_model *model = read_text(text);
        lw_data *data;
        double vdot;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        const double zero = 0;
        assert_int_equal(lw_tree_forward_dynamics(model, data, 0, &zero, &zero, NULL, &vdot, NULL), LW_OK);
        assert_true(fabs(vdot - (k < 2 ? 15 : 80)) < 1e-12);
        lw_data_destroy(data);
        run(model, "tree", 1, &c[k]);
        assert_true(c[k].summary.energy_max_drift < 1e-9);
        lw_model_destroy(model);
    }
    assert_true(c[0].q == c[1].q && c[0].v == c[1].v && c[0].ledger.drives == c[1].ledger.drives);
    assert_true(fabs(c[0].q - c[2].q) > 1e-6);
}

/* Limits in every joint of a four-bar, a spring at one of them: wherever it is cut, and by whichever
 * method. */
static void the_cut_does_not_matter(void **state) {
    (void)state;
    static const char *const methods[] = {"lagrange", "cut", "rcr"};
    course first = {0}, c;
    for (int cut = 0; cut < 4; cut++)
        for (int n = 0; n < 3; n++) {
            lw_spec *spec = read_problem_spec("four_bar", NULL, 0);
            for (size_t j = 0; j < 4; j++) {
                lw_joint_spec *joint = lw_spec_joint(spec, j);
                joint->cut = (int)j == cut;
                if (joint->has_v) joint->has_v = cut != (int)j;
                joint->limits[0][0] = -0.4 - 0.1 * (double)j, joint->limits[0][1] = 0.3 + 0.1 * (double)j;
            }
            lw_joint_spec *last = lw_spec_joint(spec, 3);
            last->limits[0][0] = -0.1, last->limits[0][1] = 0.1;
            last->stop = LW_STOP_SPRING;
            last->stop_stiffness[0] = 2000, last->stop_damping[0] = 30;
            if (cut == 0) { /* the crank's speed is given, and a cut joint has none */
                lw_spec_destroy(spec);
                continue;
            }
            lw_model *model = compile_or_fail(spec);
            assert_true(lw_model_joint_info(model, cut).cut);
            run(model, methods[n], 1, &c);
            if (!first.samples) first = c;
            assert_true(c.notes >= 3);
            assert_int_equal(c.notes, first.notes);
            for (int k = 0; k < c.notes; k++) {
                assert_string_equal(c.names[k], first.names[k]);
                assert_true(fabs(c.at[k] - first.at[k]) < 1e-7);
            }
            assert_true(fabs(c.ledger.dissipation - first.ledger.dissipation) <
                        1e-5 * (1 + first.ledger.dissipation));
            assert_true(fabs(c.ledger.potential - first.ledger.potential) <
                        1e-5 * fabs(first.ledger.potential));
            lw_model_destroy(model);
        }
    assert_true(first.ledger.dissipation > 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limit_is_noted),
        cmocka_unit_test(a_spring_throws_back),
        cmocka_unit_test(damping_takes_energy),
        cmocka_unit_test(an_impact_reverses),
        cmocka_unit_test(a_moving_piston_does_work),
        cmocka_unit_test(a_drive_has_its_limit),
        cmocka_unit_test(the_cut_does_not_matter),
        cmocka_unit_test(a_stop_stands_at_the_start),
        cmocka_unit_test(an_impulse_elsewhere_happens_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
