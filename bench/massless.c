/* massless.c - what bodies without mass cost: method massless on a chain with every second body massless, next to method tree on the
 * same chain with masses.
 *
 * Call: bench-massless [--quick]. The chain has coaxial pairs of hinges: the first of each pair carries nothing but the second, so each
 * second body moves without mass. Springs and dampers sit in the joints, or between the bodies as well. Prints ns per body and
 * evaluation of the derivative.
 */
#include "models.h"
#include "timing.h"
#include "formulations/formulation.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 5 }; /* N = 10, 100, ... */

static lw_model *chain(int bodies, bool light, bool between) {
    lw_spec *spec = lw_spec_create("chain");
    const double gravity[3] = {0, -9.81, 0};
    lw_spec_set_gravity(spec, gravity);
    for (int i = 1; i <= bodies; i++) {
        char name[24], before[24], joint[24], spring[24], damper[24];
        bool first = i % 2;
        snprintf(name, sizeof name, "b%d", i);
        snprintf(before, sizeof before, i > 1 ? "b%d" : "ground", i - 1);
        snprintf(joint, sizeof joint, "j%d", i);
        snprintf(spring, sizeof spring, "s%d", i);
        snprintf(damper, sizeof damper, "d%d", i);
        lw_body_spec body = {.name = name, .com = {0.05, 0, 0}};
        if (!light || !first) body.mass = 1, body.inertia[0] = 0.01, body.inertia[1] = body.inertia[2] = 0.02;
        lw_spec_add_body(spec, &body);
        lw_joint_spec hinge = {.name = joint,
                               .type = LW_JOINT_REVOLUTE,
                               .bodies = {before, name},
                               .frame = LW_GEOMETRY_BODY,
                               .has_q = true,
                               .q = {0.1 * (i % 7)}};
        for (int k = 0; k < 2; k++) hinge.geometry[k].axis_count = 1, hinge.geometry[k].axes[0][2] = 1;
        if (first && i > 1) hinge.geometry[0].point[0] = 0.1;
        lw_spec_add_joint(spec, &hinge);
        lw_force_spec coil = {.name = spring,
                              .type = LW_FORCE_TORSION,
                              .joint = joint,
                              .stiffness = 3,
                              .damping = between ? 0 : 0.5};
        lw_spec_add_force(spec, &coil);
        lw_force_spec line = {.name = damper,
                              .type = LW_FORCE_SPRING,
                              .bodies = {before, name},
                              .frame = LW_GEOMETRY_BODY,
                              .points = {{0.07, 0.05, 0}, {-0.04, 0.06, 0}},
                              .stiffness = 2,
                              .damping = 0.3};
        if (between) lw_spec_add_force(spec, &line);
    }
    lw_model *model;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) exit(1);
    lw_spec_destroy(spec);
    return model;
}

typedef struct candidate {
    lw_model *model;
    const lw_formulation *formulation;
    lw_method *method;
    double *y, *ydot;
} candidate;

static candidate candidate_create(int bodies, bool light, bool between) {
    candidate c = {.model = chain(bodies, light, between),
                   .formulation = lw_formulation_find(light ? "massless" : "tree")};
    const lw_method_options options = {0};
    lw_error error;
    if (c.formulation->create(c.model, &options, &c.method, &error) != LW_OK) {
        fprintf(stderr, "bench-massless: %s\n", error.message);
        exit(1);
    }
    size_t n = (size_t)c.method->state_size + 1;
    double *q = bench_allocate(n, sizeof *q), *v = bench_allocate(n, sizeof *v);
    c.y = bench_allocate(n, sizeof *c.y), c.ydot = bench_allocate(n, sizeof *c.ydot);
    lw_model_initial_state(c.model, q, v);
    for (int k = 0; k < lw_model_v_size(c.model); k++) v[k] = 0.1 * sin(k);
    c.formulation->to_state(c.method, 0, q, v, c.y);
    free(q), free(v);
    return c;
}

static void candidate_destroy(candidate *c) {
    c->formulation->destroy(c->method);
    lw_model_destroy(c->model);
    free(c->y), free(c->ydot);
}

static double run(void *context, int calls) {
    candidate *c = context;
    double sum = 0;
    lw_power power;
    lw_error error;
    for (int k = 0; k < calls; k++) {
        c->y[0] = 1e-3 * (k % 8);
        if (c->formulation->derivative(c->method, 0, c->y, c->ydot, &power, &error) != LW_OK) exit(1);
        sum += c->ydot[0];
    }
    return sum;
}

int main(int argc, char **argv) {
    int repetitions = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 15 : 51;
    for (int between = 0; between < 2; between++) {
        printf("springs and dampers %s\n%-12s %14s %14s %8s\n",
               between ? "between bodies and in joints" : "in joints", "N", "tree, ns/body", "massless",
               "ratio");
        for (int k = 0, bodies = 10; k < SIZES - between; k++, bodies *= 10) {
            candidate pair[2] = {candidate_create(bodies, false, between),
                                 candidate_create(bodies, true, between)};
            bench_case cases[2] = {{.run = run, .context = &pair[0], .units = 1},
                                   {.run = run, .context = &pair[1], .units = 1}};
            bench_measure(cases, 2, repetitions, 1);
            printf("%-12d %14.1f %14.1f %8.2f\n", bodies, bench_median(&cases[0], repetitions) / bodies,
                   bench_median(&cases[1], repetitions) / bodies,
                   bench_ratio(&cases[1], &cases[0], repetitions));
            fflush(stdout);
            bench_cases_clear(cases, 2);
            candidate_destroy(&pair[0]), candidate_destroy(&pair[1]);
        }
    }
    return 0;
}
