/* massless.c - what bodies without mass cost: method massless on chains with every second body massless, next to method tree on the
 * same chains with masses and the same springs.
 *
 * Call: bench-massless [--quick] [--csv FILE], or bench-massless --evaluate METHOD CHAIN N CALLS, which prints nothing: for
 * tools that count instructions; chains are named in the table below. Bodies come in pairs whose joints stand at one point: the first of each
 * pair carries nothing but the second, so each second body moves without mass, in as many ways as its joint and the next have in common. Where
 * joints are apart, a body between two balls turns about the line between them. Prints ns per body and evaluation of the derivative, the exponent
 * of its growth with N, and the time for compiling the model and preparing the method.
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

enum { LARGEST = 100000 };
enum { TREE, MASSLESS, METHODS };
static const char *const methods[METHODS] = {"tree", "massless"};

/* A joint type for bodies without mass and one for those after them, both at one point unless they are apart, and what resists. */
typedef struct chain_kind {
    const char *name, *title;
    int smallest, factor; /* N */
    lw_joint_type first, second;
    bool apart;    /* the joints of a body without mass stand at a distance */
    bool coils;    /* torsion springs with dampers on every speed */
    bool lines;    /* springs with dampers between bodies; coils then do not damp */
    bool bushings; /* at each joint, on the speeds it has */
} chain_kind;

static const chain_kind kinds[] = {
    {"in", "hinges, springs and dampers in joints", 10, 10, LW_JOINT_REVOLUTE, LW_JOINT_REVOLUTE,
     .coils = true},
    {"between", "hinges, springs and dampers between bodies and in joints", 10, 10, LW_JOINT_REVOLUTE,
     LW_JOINT_REVOLUTE, .coils = true, .lines = true},
    {"cylinders", "cylindrical joints, springs and dampers in joints: two motions", 1000, 100,
     LW_JOINT_CYLINDRICAL, LW_JOINT_CYLINDRICAL, .coils = true},
    {"universals", "universal joints, springs and dampers in joints: one motion, which turns", 1000, 100,
     LW_JOINT_UNIVERSAL, LW_JOINT_UNIVERSAL, .coils = true},
    {"mixed", "universal, then ball joints with bushings: two motions", 1000, 100, LW_JOINT_UNIVERSAL,
     LW_JOINT_SPHERICAL, .bushings = true},
    {"planar", "planar joints, springs and dampers in joints: three motions", 1000, 100, LW_JOINT_PLANAR,
     LW_JOINT_PLANAR, .coils = true},
    {"balls", "ball joints with bushings: three motions", 1000, 100, LW_JOINT_SPHERICAL, LW_JOINT_SPHERICAL,
     .bushings = true},
    {"rods", "ball joints with bushings, apart: one motion, about the line between them", 1000, 100,
     LW_JOINT_SPHERICAL, LW_JOINT_SPHERICAL, .apart = true, .bushings = true},
    {"free", "bushings between free bodies: six motions", 1000, 100, LW_JOINT_FREE, LW_JOINT_FREE,
     .bushings = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void add_elements(lw_spec *spec, const chain_kind *kind, lw_joint_type type, int i, const char *before,
                         const char *name, const char *joint, const double at[3]) {
    char element[24];
    bool slides = type == LW_JOINT_FREE, turns = type != LW_JOINT_TRANSLATION;
    snprintf(element, sizeof element, "f%d", i);
    lw_force_spec bushing = {
        .name = element, .type = LW_FORCE_BUSHING, .bodies = {before, name}, .frame = LW_GEOMETRY_BODY};
    memcpy(bushing.points[0], at, sizeof bushing.points[0]);
    for (int k = 0; k < 6; k++) {
        bool moves = k < 3 ? slides : turns;
        bushing.bushing_stiffness[k] = moves ? 3 : 0, bushing.bushing_damping[k] = moves ? 0.5 : 0;
    }
    if (kind->bushings) lw_spec_add_force(spec, &bushing);
    for (int k = 0; kind->coils && k < lw_joint_type_v(type, 0); k++) {
        snprintf(element, sizeof element, "s%d.%d", i, k);
        lw_force_spec coil = {.name = element,
                              .type = LW_FORCE_TORSION,
                              .joint = joint,
                              .coordinate = k,
                              .stiffness = 3,
                              .damping = kind->lines ? 0 : 0.5};
        lw_spec_add_force(spec, &coil);
    }
    snprintf(element, sizeof element, "d%d", i);
    lw_force_spec line = {.name = element,
                          .type = LW_FORCE_SPRING,
                          .bodies = {before, name},
                          .frame = LW_GEOMETRY_BODY,
                          .points = {{0.07, 0.05, 0}, {-0.04, 0.06, 0}},
                          .stiffness = 2,
                          .damping = 0.3};
    if (kind->lines) lw_spec_add_force(spec, &line);
}

static lw_spec *chain(const chain_kind *kind, int bodies, bool light) {
    lw_spec *spec = lw_spec_create("chain");
    const double gravity[3] = {0, -9.81, 0};
    lw_spec_set_gravity(spec, gravity);
    for (int i = 1; i <= bodies; i++) {
        char name[24], before[24], joint[24];
        bool first = i % 2;
        lw_joint_type type = first ? kind->first : kind->second;
        snprintf(name, sizeof name, "b%d", i);
        snprintf(before, sizeof before, i > 1 ? "b%d" : "ground", i - 1);
        snprintf(joint, sizeof joint, "j%d", i);
        lw_body_spec body = {.name = name, .com = {0.05, 0, 0}};
        if (!light || !first) body.mass = 1, body.inertia[0] = 0.01, body.inertia[1] = body.inertia[2] = 0.02;
        lw_spec_add_body(spec, &body);
        lw_joint_spec pin = {
            .name = joint, .type = type, .bodies = {before, name}, .frame = LW_GEOMETRY_BODY, .has_q = true};
        int coordinates = lw_joint_type_q(type, 0), at = type == LW_JOINT_SPHERICAL ? 0
                                                         : type == LW_JOINT_FREE    ? 3
                                                                                    : -1;
        for (int k = 0; k < coordinates; k++) pin.q[k] = 0.1 * (1 + (i + k) % 7);
        if (at >= 0) pin.q[at] = 1;
        if (at >= 0) {
            double *q = pin.q + at, norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            for (int k = 0; k < 4; k++) q[k] /= norm;
        }
        for (int k = 0; k < 2; k++) {
            lw_joint_geometry *geometry = &pin.geometry[k];
            geometry->axis_count = type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE ? 0
                                   : type == LW_JOINT_UNIVERSAL                        ? 2
                                                                                       : 1;
            geometry->axes[0][type == LW_JOINT_UNIVERSAL ? 0 : 2] = 1;
            if (type == LW_JOINT_UNIVERSAL) geometry->axes[1][1] = 1;
        }
        if (i > 1 && (first || kind->apart)) pin.geometry[0].point[0] = 0.1;
        lw_spec_add_joint(spec, &pin);
        add_elements(spec, kind, type, i, before, name, joint, pin.geometry[0].point);
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

static candidate candidate_create(const chain_kind *kind, int bodies, int method) {
    candidate c = {.formulation = lw_formulation_find(methods[method])};
    const lw_method_options options = {0};
    lw_error error;
    lw_spec *spec = chain(kind, bodies, method == MASSLESS);
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
        if (c->formulation->derivative(c->method, 0, c->y, c->ydot, &power, &error) != LW_OK) {
            fprintf(stderr, "bench-massless: %s\n", error.message);
            exit(1);
        }
        sum += c->ydot[0];
    }
    return sum;
}

static void bench_chains(const bench_output *out, const chain_kind *kind) {
    printf("%s\n\n", kind->title);
    printf("  %-10s %14s %10s %7s %10s %12s %12s\n", "N", "tree, ns/body", "massless", "ratio", "exponent",
           "compile, us", "create, us");
    double before = NAN;
    for (int bodies = kind->smallest; bodies <= LARGEST; bodies *= kind->factor) {
        candidate pair[METHODS];
        bench_case cases[METHODS];
        double ns[METHODS];
        /* a call of many bodies is long; but it meets what others do to the memory */
        int repetitions = bodies < LARGEST / 10 ? out->repetitions : out->repetitions / 4 | 1;
        for (int m = 0; m < METHODS; m++) {
            pair[m] = candidate_create(kind, bodies, m);
            cases[m] = (bench_case){.run = run, .context = &pair[m], .units = 1};
        }
        bench_measure(cases, METHODS, repetitions, 1);
        for (int m = 0; m < METHODS; m++) {
            ns[m] = bench_median(&cases[m], repetitions);
            bench_output_row(out, kind->name, (size_t)bodies, methods[m], 1, ns[m],
                             bench_minimum(&cases[m], repetitions));
        }
        printf("  %-10d %14.1f %10.1f %7.2f", bodies, ns[TREE] / bodies, ns[MASSLESS] / bodies,
               bench_ratio(&cases[MASSLESS], &cases[TREE], repetitions));
        if (bodies > kind->smallest)
            printf(" %10.2f", log(ns[MASSLESS] / before) / log(kind->factor));
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
    int kind = 0;
    while (kind < KINDS && strcmp(argv[3], kinds[kind].name)) kind++;
    if (kind == KINDS) return 1;
    candidate c = candidate_create(&kinds[kind], atoi(argv[4]), method);
    bool finite = isfinite(run(&c, atoi(argv[5])));
    candidate_destroy(&c);
    return !finite;
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "--evaluate") == 0) return evaluate(argv);
    bench_output out = bench_output_open("bench-massless", BENCH_ROW, argc, argv);
    printf("bodies without mass, every second one; compile and create (massless) per body\n\n");
    for (int k = 0; k < KINDS; k++) {
        if (k) printf("\n");
        bench_chains(&out, &kinds[k]);
    }
    bench_output_close(&out);
    return 0;
}
