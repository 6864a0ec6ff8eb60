/* test_unit_runs.c - the unit of length does not matter to a run: neither to its motion nor to its verdict.
 *
 * Every problem that scale_spec can rewrite is run in units of length of 2^-20 and 2^20 of its own (micrometres, thousands of
 * kilometres), by erk, adams, bdf and ida with the default tolerance. Time is the same, gravity has the same number in the new unit.
 * Powers of four scale without rounding, so that the steps of erk are the same, and the motion to the tolerance. The
 * others iterate, or make matrices by differences, and a test of convergence may come out otherwise by rounding: then their motion
 * differs as much as two runs with nearly the same tolerance do, some ten tolerances each.
 *
 * What scale_spec does not know (user states, switches, motions without any length, another unit of time) is in texts with the
 * units u and w as parameters.
 */
#include "problems.h"
#include "random_model.h"
#include "scaled.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const integrators[] = {"erk", "adams", "bdf", "ida"};
enum { INTEGRATORS = sizeof integrators / sizeof *integrators, ROOM = 4096 };

/* Signals, events and files of points have lengths in expressions that scale_spec does not read. */
static const char *const others[] = {"bouncing_ball", "crank_stop", "cart_pole", "pid_arm",
                                     "quarter_car",   "suspension", "car"};
/* Many bodies, for which a matrix by differences takes its time. */
static const char *const large[] = {"chain", "ladder",     "net",          "trellis",         "scissor",
                                    "hub",   "n_four_bar", "spring_chain", "ladder_pendulum", "v8"};

static bool is_among(const char *name, const char *const *list, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, list[k]) == 0) return true;
    return false;
}

typedef struct outcome {
    lw_status status;
    bool ok;
    char reason[512];
    int nq, nv;
    double q[ROOM], v[ROOM];
    long steps;
} outcome;

static void run(lw_spec *spec, double length, const char *integrator, double end, outcome *out) {
    lw_model *model = compile_or_fail(spec);
    lw_run_options options;
    lw_run_summary summary = {0};
    lw_error error = {0};
    lw_run_defaults(model, &options);
    options.integrator = integrator;
    options.method = NULL;
    options.step = options.tolerance = 0;
    options.end = fmin(options.end > 0 ? options.end : end, end);
    options.output = options.end / 20;
    out->nq = lw_model_q_size(model), out->nv = lw_model_v_size(model);
    assert_true(out->nq < ROOM);
    out->status = lw_simulate(model, &options, out->q, out->v, &summary, &error);
    out->ok = summary.verdict.ok;
    out->steps = summary.steps;
    snprintf(out->reason, sizeof out->reason, "%s",
             out->status != LW_OK ? error.message : summary.verdict.reasons[0]);
    if (out->status == LW_OK) scale_state(model, 1, 1 / length, out->q, out->v, NULL);
    lw_model_destroy(model);
}

static double difference(int count, const double *a, const double *b) {
    double most = 0, size = 1;
    for (int k = 0; k < count; k++) size = fmax(size, fabs(a[k]));
    for (int k = 0; k < count; k++) most = fmax(most, fabs(a[k] - b[k]) / size);
    return most;
}

static void lengths_of_problems_do_not_matter(void **state) {
    (void)state;
    static scaled room;
    static outcome as_it_is, otherwise;
    const double near = 1e-8, iterated = 1e-6, units[] = {0x1p-20, 0x1p20};
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    int runs = 0;
    double worst = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        char path[512];
        snprintf(path, sizeof path, LW_SOURCE_DIR "/problems/%.100s/model.yaml", name);
        FILE *file = name[0] == '.' ? NULL : fopen(path, "r");
        if (!file) continue;
        fclose(file);
        if (is_among(name, others, sizeof others / sizeof *others)) continue;
        const double end = is_among(name, large, sizeof large / sizeof *large) ? 0.002 : 0.1;
        const int count = end < 0.1 ? 1 : INTEGRATORS;
        for (int i = 0; i < count; i++) {
            run(read_problem_spec(name, NULL, 0), 1, integrators[i], end, &as_it_is);
            for (int u = 0; u < 2; u++, runs++) {
                lw_spec *spec = read_problem_spec(name, NULL, 0);
                scale_spec(&room, spec, 1, units[u]);
                run(spec, units[u], integrators[i], end, &otherwise);
                if (otherwise.status != as_it_is.status || otherwise.ok != as_it_is.ok)
                    fail_msg("%s by %s, lengths times %g: \"%s\" and not \"%s\"", name, integrators[i],
                             units[u], otherwise.reason, as_it_is.reason);
                if (as_it_is.status != LW_OK) continue;
                const double off = fmax(difference(as_it_is.nq, as_it_is.q, otherwise.q),
                                        difference(as_it_is.nv, as_it_is.v, otherwise.v));
                worst = fmax(worst, off);
                if (!(off <= (i == 0 ? near : iterated)))
                    fail_msg("%s by %s, lengths times %g: the motion ends %.3g away (%ld and %ld steps)",
                             name, integrators[i], units[u], off, as_it_is.steps, otherwise.steps);
            }
        }
    }
    closedir(folder);
    print_message("%d runs in other units, the worst %.2g away\n", runs, worst);
    assert_true(runs > 200);
}

/* The text with other values of its parameters u and w, the units of length and of 1/time. */
static lw_spec *text_with(const char *text, const char *u, const char *w) {
    char changed[2048];
    const char *at = strstr(text, "{u: 1, w: 1}");
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s{u: %s, w: %s}%s", (int)(at - text), text, u, w,
             at + strlen("{u: 1, w: 1}"));
    return read_text_spec(changed);
}

/* --- texts ------------------------------------------------------------------------------------------- */

static const char *const texts[] = {
    /* a vibration of a tenth of the length, with gravity */
    "linkwork: 1\nname: arm\nparameters: {u: 1, w: 1}\ngravity: [0, 0, -9.81*u*w^2]\n"
    "bodies: {a: {mass: 1, com: [0.5*u, 0, 0], inertia: [0.01*u^2, 0.1*u^2, 0.1*u^2]}, b: {kind: point, "
    "mass: 0.3, position: [u, 0, 0]}}\n"
    "joints: {A: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]},"
    " B: {type: prismatic, between: [a, b], axis: [1, 0, 0], q: 0.1*u}}\n"
    "forces: {s: {type: torsion, joint: B, stiffness: 100*w^2}}\nrun: {end: 1/w}\n",
    /* no length but the start */
    "linkwork: 1\nname: slide\nparameters: {u: 1, w: 1}\ngravity: [0, 0, 0]\nbodies: {a: {kind: point, mass: "
    "2}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0], q: 0.3*u}}\n"
    "forces: {s: {type: torsion, joint: A, stiffness: 50*w^2, damping: 0.1*w}}\nrun: {end: 2/w}\n",
    /* no length at all */
    "linkwork: 1\nname: force\nparameters: {u: 1, w: 1}\ngravity: [0, 0, 0]\nbodies: {a: {kind: point, mass: "
    "2}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0]}}\n"
    "forces: {s: {type: torsion, joint: A, stiffness: 50*w^2}, f: {type: drive, joint: A, force: "
    "7*u*w^2}}\nrun: {end: 2/w}\n",
    "linkwork: 1\nname: speed\nparameters: {u: 1, w: 1}\ngravity: [0, 0, 0]\nbodies: {a: {kind: point, mass: "
    "2}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [1, 0, 0], v: 0.2*u*w}}\n"
    "forces: {s: {type: torsion, joint: A, stiffness: 50*w^2}}\nrun: {end: 2/w}\n",
    /* a contact, and a user state that follows the motion */
    "linkwork: 1\nname: contact\nparameters: {u: 1, w: 1}\ngravity: [0, 0, -9.81*u*w^2]\nbodies: {a: {kind: "
    "point, mass: 1}}\n"
    "joints: {A: {type: prismatic, between: [ground, a], axis: [0, 0, 1], q: 0.2*u}}\n"
    "states: {lag: {rate: \"20*w*(A.q - lag)\", start: 0}}\n"
    "forces: {c: {type: drive, joint: A, force: \"1e4*w^2*ramp(-q) - 3*w^2*lag\"}}\nrun: {end: 1/w}\n",
};

static void units_of_texts_do_not_matter(void **state) {
    (void)state;
    static outcome as_it_is, otherwise;
    static const char *const units[][2] = {{"1e-6", "1"},   {"1e6", "1"}, {"1e-6", "1e3"},
                                           {"1e6", "1e-3"}, {"1", "1e5"}, {"1", "1e-5"}};
    const double near = 1e-6;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
        for (int i = 0; i < INTEGRATORS; i++) {
            run(text_with(texts[n], "1", "1"), 1, integrators[i], HUGE_VAL, &as_it_is);
            if (as_it_is.status != LW_OK || !as_it_is.ok)
                fail_msg("text %zu by %s: %s", n, integrators[i], as_it_is.reason);
            for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
                const double u = strtod(units[k][0], NULL), w = strtod(units[k][1], NULL);
                run(text_with(texts[n], units[k][0], units[k][1]), u, integrators[i], HUGE_VAL, &otherwise);
                if (otherwise.status != LW_OK || !otherwise.ok)
                    fail_msg("text %zu by %s, u = %s, w = %s: %s", n, integrators[i], units[k][0],
                             units[k][1], otherwise.reason);
                for (int j = 0; j < otherwise.nv; j++) otherwise.v[j] /= w;
                const double off = fmax(difference(as_it_is.nq, as_it_is.q, otherwise.q),
                                        difference(as_it_is.nv, as_it_is.v, otherwise.v));
                if (!(off <= near))
                    fail_msg("text %zu by %s, u = %s, w = %s: %.3g away, %ld and %ld steps", n,
                             integrators[i], units[k][0], units[k][1], off, as_it_is.steps, otherwise.steps);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_of_texts_do_not_matter),
                                       cmocka_unit_test(lengths_of_problems_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
