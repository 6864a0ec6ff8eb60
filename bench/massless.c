/* massless.c - what bodies without mass cost: method massless on a chain with every second body massless, next to method tree on the
 * same chain with masses and the same springs.
 *
 * Call: bench-massless [--quick] [--csv FILE], or bench-massless --evaluate METHOD in|between N CALLS, which prints nothing: for
 * tools that count instructions. The chain has coaxial pairs of hinges: the first of each pair carries nothing but the second, so
 * each second body moves without mass. Springs and dampers sit in the joints, or between the bodies as well. Prints ns per body and
 * evaluation of the derivative, the exponent of its growth with N, and the time for compiling the model and preparing the method.
 */
#include "models.h"
#include "output.h"
#include "timing.h"
#include "formulations/formulation.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZES = 5 }; /* N = 10, 100, ... */
enum { TREE, MASSLESS, METHODS };
static const char *const methods[METHODS] = {"tree", "massless"};

static lw_spec *chain(int bodies, bool light, bool between) {
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
    return spec;
}

typedef struct candidate {
    lw_model *model;
    const lw_formulation *formulation;
    lw_method *method;
    double *y, *ydot;
    double compile, create; /* seconds that these took */
} candidate;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static candidate candidate_create(int bodies, int method, bool between) {
    candidate c = {.formulation = lw_formulation_find(methods[method])};
    const lw_method_options options = {0};
    lw_error error;
    lw_spec *spec = chain(bodies, method == MASSLESS, between);
    double start = seconds();
    if (lw_model_compile(spec, NULL, NULL, &c.model) != LW_OK) exit(1);
    c.compile = seconds() - start;
    lw_spec_destroy(spec);
    start = seconds();
    if (c.formulation->create(c.model, &options, &c.method, &error) != LW_OK) {
        fprintf(stderr, "bench-massless: %s\n", error.message);
        exit(1);
    }
    c.create = seconds() - start;
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

static void bench_chains(const bench_output *out, bool between) {
    printf("springs and dampers %s\n\n", between ? "between bodies and in joints" : "in joints");
    printf("  %-10s %14s %10s %7s %10s %12s %12s\n", "N", "tree, ns/body", "massless", "ratio", "exponent",
           "compile, us", "create, us");
    double before = NAN;
    for (int k = 0, bodies = 10; k < SIZES; k++, bodies *= 10) {
        candidate pair[METHODS];
        bench_case cases[METHODS];
        double ns[METHODS];
        for (int m = 0; m < METHODS; m++) {
            pair[m] = candidate_create(bodies, m, between);
            cases[m] = (bench_case){.run = run, .context = &pair[m], .units = 1};
        }
        bench_measure(cases, METHODS, out->repetitions, 1);
        for (int m = 0; m < METHODS; m++) {
            ns[m] = bench_median(&cases[m], out->repetitions);
            bench_output_row(out, between ? "springs between bodies" : "springs in joints", (size_t)bodies,
                             methods[m], 1, ns[m], bench_minimum(&cases[m], out->repetitions));
        }
        printf("  %-10d %14.1f %10.1f %7.2f", bodies, ns[TREE] / bodies, ns[MASSLESS] / bodies,
               bench_ratio(&cases[MASSLESS], &cases[TREE], out->repetitions));
        if (k)
            printf(" %10.2f", log10(ns[MASSLESS] / before));
        else
            printf(" %10s", "-");
        printf(" %12.1f %12.1f\n", 1e6 * pair[MASSLESS].compile / bodies,
               1e6 * pair[MASSLESS].create / bodies);
        fflush(stdout);
        before = ns[MASSLESS];
        bench_cases_clear(cases, METHODS);
        for (int m = 0; m < METHODS; m++) candidate_destroy(&pair[m]);
    }
}

static int evaluate(char **argv) {
    int method = strcmp(argv[2], methods[MASSLESS]) == 0 ? MASSLESS : TREE;
    candidate c = candidate_create(atoi(argv[4]), method, strcmp(argv[3], "between") == 0);
    bool finite = isfinite(run(&c, atoi(argv[5])));
    candidate_destroy(&c);
    return !finite;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "--evaluate") == 0) return evaluate(argv);
    bench_output out = bench_output_open("bench-massless", BENCH_ROW, argc, argv);
    printf("bodies without mass, every second one; compile and create (massless) per body\n\n");
    bench_chains(&out, false);
    printf("\n");
    bench_chains(&out, true);
    bench_output_close(&out);
    return 0;
}
