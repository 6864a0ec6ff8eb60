/* director.c - what a step of the energy-momentum scheme costs, and how that grows with the number of bodies.
 *
 * Call: bench-director [--quick] [--csv FILE]. Two trees: a chain of hinges, and a binary tree whose joints are hinges, universal
 * and spherical in turn with springs between neighbours. Steps of 0.1 ms go some way forward and back again, as often as it takes: the scheme is
 * reversible, so times are those of a run, but the motion does not get away. Prints microseconds of processor per body and step (median), over that of
 * the shortest, Newton's iterations per step, and microseconds per body and evaluation: one for each iteration, and a last one. Both methods for each size;
 * director-full to 1000 bodies.
 */
#include "models.h"
#include "output.h"
#include "timing.h"
#include "formulations/director/director_parts.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 4, FORWARD = 16, LONGEST_FULL = 1000 };
static const double h = 1e-4;

static void add_link(lw_spec *spec, int i, bool branched) {
    static const lw_joint_type types[3] = {LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL, LW_JOINT_SPHERICAL};
    char name[24], before[24], pin[24], spring[24];
    int parent = branched ? i / 2 : i - 1;
    snprintf(name, sizeof name, "b%d", i);
    snprintf(before, sizeof before, parent ? "b%d" : "ground", parent);
    snprintf(pin, sizeof pin, "j%d", i);
    snprintf(spring, sizeof spring, "s%d", i);
    lw_body_spec body = {.name = name, .mass = 1, .inertia = {0.1, 0.2, 0.25}, .com = {0.5, 0, 0}};
    lw_spec_add_body(spec, &body);
    lw_joint_spec joint = {.name = pin,
                           .type = branched ? types[i % 3] : LW_JOINT_REVOLUTE,
                           .bodies = {before, name},
                           .frame = LW_GEOMETRY_BODY};
    for (int k = 0; k < 2; k++) {
        joint.geometry[k].axis_count = joint.type == LW_JOINT_UNIVERSAL ? 2 : joint.type == LW_JOINT_REVOLUTE;
        joint.geometry[k].axes[0][1 + i % 2] = 1;
        joint.geometry[k].axes[1][0] = 1;
    }
    if (parent) joint.geometry[0].point[0] = 1;
    lw_spec_add_joint(spec, &joint);
    lw_force_spec line = {.name = spring,
                          .type = LW_FORCE_SPRING,
                          .bodies = {before, name},
                          .frame = LW_GEOMETRY_BODY,
                          .points = {{0.7, 0.3, 0}, {0.4, 0.2, 0.1}},
                          .stiffness = 20,
                          .damping = 0};
    if (branched) lw_spec_add_force(spec, &line);
}

typedef struct candidate {
    lw_model *model;
    lw_director *d;
    double *y, *next;
    long steps;
} candidate;

static candidate candidate_create(int bodies, bool branched, bool full) {
    candidate c = {0};
    lw_spec *spec = lw_spec_create("bench");
    const double gravity[3] = {9.81, 0, 0}; /* it hangs down along x */
    lw_spec_set_gravity(spec, gravity);
    for (int i = 1; i <= bodies; i++) add_link(spec, i, branched);
    lw_error error = {0};
    const lw_formulation *f = lw_formulation_find("director");
    const lw_method_options options = {0};
    lw_method *method;
    if (lw_model_compile(spec, NULL, NULL, &c.model) != LW_OK ||
        f->create(c.model, &options, &method, &error) != LW_OK ||
        lw_director_create(c.model, full, &c.d, &error) != LW_OK) {
        fprintf(stderr, "bench-director: %s\n", error.message);
        exit(1);
    }
    lw_spec_destroy(spec);
    size_t n = (size_t)method->state_size + 1;
    double *q = bench_allocate(n, sizeof *q), *v = bench_allocate(n, sizeof *v);
    c.y = bench_allocate(n, sizeof *c.y), c.next = bench_allocate(n, sizeof *c.next);
    lw_model_initial_state(c.model, q, v);
    for (
        int k = 0; k < lw_model_v_size(c.model);
        k++) { /* every second axis is the same: rates of the bodies, and of their places, stay of one size along the chain */
        v[k] = 0.1 * (sin(k / 2) - sin(k / 2 - 1));
    }
    f->to_state(method, 0, q, v, c.y);
    f->destroy(method);
    free(q), free(v);
    return c;
}

static void candidate_destroy(candidate *c) {
    lw_director_destroy(c->d);
    lw_model_destroy(c->model);
    free(c->y), free(c->next);
}

static double run(void *context, int calls) {
    candidate *c = context;
    lw_power work;
    lw_error error;
    for (int k = 0; k < calls; k++) {
        bool back = c->steps++ / FORWARD % 2;
        if (lw_director_take_step(c->d, 0, back ? -h : h, c->y, c->next, &work, &error) != LW_OK) {
            fprintf(stderr, "bench-director: %s\n", error.message);
            exit(1);
        }
        double *y = c->y;
        c->y = c->next, c->next = y;
    }
    return c->y[0];
}

static void table(bool branched, int repetitions, FILE *csv) {
    const char *title =
        branched ? "binary tree of hinges, universal and spherical joints with springs" : "chain of hinges";
    double first[2] = {0, 0};
    printf("%s\n%8s %16s %8s %12s %10s %18s %8s %12s %10s\n", title, "bodies", "director, us", "ratio",
           "iterations", "each", "director-full, us", "ratio", "iterations", "each");
    for (int k = 0, bodies = 10; k < SIZES; k++, bodies *= 10) {
        printf("%8d", bodies);
        for (int full = 0; full < (bodies > LONGEST_FULL ? 1 : 2); full++) {
            candidate c = candidate_create(bodies, branched, full);
            bench_case timed = {.run = run, .context = &c, .units = bodies};
            run(&c, 1);
            long before = c.steps, newton = c.d->progress.newton, factored = c.d->progress.factored;
            bench_measure(&timed, 1, repetitions, 2);
            double us = 1e-3 * bench_median(&timed, repetitions),
                   iterations = (double)(c.d->progress.newton - newton) / (double)(c.steps - before),
                   new_ones = (double)(c.d->progress.factored - factored) / (double)(c.steps - before);
            if (k == 0) first[full] = us;
            printf(full ? " %18.2f %8.2f %12.2f %10.2f" : " %16.2f %8.2f %12.2f %10.2f", us, us / first[full],
                   iterations, us / (iterations + 1));
            if (csv)
                fprintf(csv, "\"%s\",%s,%d,%.4f,%.3f,%.3f,%.3f\n", title, full ? "director-full" : "director",
                        bodies, us, us / first[full], iterations, new_ones);
            bench_cases_clear(&timed, 1);
            candidate_destroy(&c);
            fflush(stdout);
        }
        printf("\n");
    }
}

int main(int argc, char **argv) {
    bench_without_threads(argv);
    bench_output out = bench_output_open(
        "bench-director", "tree,method,bodies,us_per_body_and_step,over_shortest,iterations,factorisations",
        argc, argv);
    printf("A step of the energy-momentum scheme: microseconds of processor per body\n");
    for (int branched = 0; branched < 2; branched++) table(branched, out.quick ? 7 : 31, out.csv);
    bench_output_close(&out);
    return 0;
}
