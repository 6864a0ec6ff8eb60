/* tree.c - how long forward dynamics, inverse dynamics and mass matrix of trees take, and how that grows.
 *
 * Call: bench-tree [--quick] [--csv FILE]. Prints tables of ns per call (docs/performance.md says how they
 * are measured) and writes every figure to FILE as CSV.
 */
#include "models.h"
#include "subject.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_SPEEDS 32768 /* states times speeds per batch call: half a millisecond of forward dynamics */
#define GROWTH_SIZES 5     /* N = 10, 100, ... */
#define MASS_LIMIT 1000    /* speeds up to which the n x n mass matrix is timed */

typedef struct output {
    int repetitions;
    FILE *csv; /* may be NULL */
    char machine[512];
} output;

/* --- what is timed -------------------------------------------------------------------------------- */

typedef struct mass_context {
    subject *s;
    double *mass;
} mass_context;

static double run_mass(void *context, int calls) {
    mass_context *c = context;
    subject *s = c->s;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        s->next = s->next + 1 < s->count ? s->next + 1 : 0;
        lw_tree_mass_matrix(s->compiled, s->data, 0, s->q + (size_t)s->next * s->nq, c->mass);
        sum += c->mass[0];
    }
    return sum;
}

/* Two sets of states in the layout of the batch calls, [k * states + s]; calls alternate between them. */
typedef struct batch_context {
    const lw_model *model;
    lw_batch *batch;
    size_t nq, nv;
    size_t states; /* per call */
    int set;
    double *q, *v, *tau, *vdot, *out;
} batch_context;

static double run_forward_batch(void *context, int calls) {
    batch_context *c = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        size_t set = (size_t)(c->set = !c->set) * c->states;
        lw_error error;
        if (lw_tree_forward_dynamics_batch(c->model, c->batch, (int)c->states, 0, c->q + set * c->nq,
                                           c->v + set * c->nv, c->tau + set * c->nv, c->out,
                                           &error) != LW_OK) {
            fprintf(stderr, "bench: %s\n", error.message);
            exit(1);
        }
        sum += c->out[0];
    }
    return sum;
}

static double run_inverse_batch(void *context, int calls) {
    batch_context *c = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        size_t set = (size_t)(c->set = !c->set) * c->states;
        lw_error error;
        if (lw_tree_inverse_dynamics_batch(c->model, c->batch, (int)c->states, 0, c->q + set * c->nq,
                                           c->v + set * c->nv, c->vdot + set * c->nv, c->out,
                                           &error) != LW_OK) {
            fprintf(stderr, "bench: %s\n", error.message);
            exit(1);
        }
        sum += c->out[0];
    }
    return sum;
}

static batch_context batch_create(const subject *s, int threads) {
    batch_context c = {
        .model = s->compiled, .nq = s->nq, .nv = s->nv, .states = BATCH_SPEEDS / s->nv / 8 * 8};
    size_t count = 2 * c.states;
    if (lw_batch_create(s->compiled, threads, NULL, &c.batch) != LW_OK) exit(1);
    c.q = bench_allocate(count * c.nq, sizeof(double));
    c.v = bench_allocate(count * c.nv, sizeof(double));
    c.tau = bench_allocate(count * c.nv, sizeof(double));
    c.vdot = bench_allocate(count * c.nv, sizeof(double));
    c.out = bench_allocate(c.states * c.nv, sizeof(double));
    for (size_t k = 0; k < count; k++) {
        size_t from = k % (size_t)s->count, set = k / c.states * c.states, column = k % c.states;
        for (size_t i = 0; i < c.nq; i++) c.q[set * c.nq + i * c.states + column] = s->q[from * c.nq + i];
        for (size_t i = 0; i < c.nv; i++) {
            size_t place = set * c.nv + i * c.states + column;
            c.v[place] = s->v[from * c.nv + i];
            c.tau[place] = s->tau[from * c.nv + i];
            c.vdot[place] = s->vdot[from * c.nv + i];
        }
    }
    return c;
}

static void batch_destroy(batch_context *c) {
    lw_batch_destroy(c->batch);
    free(c->q);
    free(c->v);
    free(c->tau);
    free(c->vdot);
    free(c->out);
}

/* Largest difference between batch and scalar accelerations, relative to the largest of each state. */
static double batch_difference(batch_context *c, subject *s) {
    double worst = 0;
    c->set = 1;
    run_forward_batch(c, 1); /* set 0: its column k is state k % count */
    for (size_t k = 0; k < c->states; k++) {
        double difference = 0, scale = 0;
        subject_forward(s, (int)k % s->count);
        for (size_t i = 0; i < c->nv; i++) {
            double expected = s->vdot_out[i];
            difference = fmax(difference, fabs(c->out[i * c->states + k] - expected));
            scale = fmax(scale, fabs(expected));
        }
        worst = fmax(worst, difference / scale);
    }
    return worst;
}

/* --- tables --------------------------------------------------------------------------------------- */

static void write_csv(const output *out, const bench_model *model, const char *call, int threads,
                      const bench_case *c) {
    if (!out->csv) return;
    fprintf(out->csv, "\"%s\",%d,%s,%d,%.1f,%.1f,\"%s\",\"%s\",%s\n", model->name, model->v_size, call,
            threads, bench_median(c, out->repetitions), bench_minimum(c, out->repetitions), out->machine,
            bench_compiler(), LW_VERSION);
}

static void print_time(const output *out, const bench_case *c) {
    char text[64];
    snprintf(text, sizeof text, "%.0f (%.0f)", bench_median(c, out->repetitions),
             bench_minimum(c, out->repetitions));
    printf(" %21s", text);
}

static void bench_scalar(const output *out, bench_model *model) {
    int count = model->v_size > 10000 ? 2 : 16;
    bool with_mass = model->v_size <= MASS_LIMIT;
    bench_states *states = bench_states_create(model, count, 4);
    subject *s = subject_create(model, states);
    mass_context mass = {.s = s};
    if (with_mass) mass.mass = bench_allocate(s->nv * s->nv, sizeof(double));

    bench_case cases[3] = {{.run = subject_run_forward, .context = s, .units = 1},
                           {.run = subject_run_inverse, .context = s, .units = 1},
                           {.run = run_mass, .context = &mass, .units = 1}};
    int used = with_mass ? 3 : 2;
    bench_measure(cases, used, out->repetitions, 1);

    printf("%-16s", model->name);
    for (int k = 0; k < used; k++) print_time(out, &cases[k]);
    if (!with_mass) printf(" %21s", "");
    printf(" %9.2f", bench_ratio(&cases[1], &cases[0], out->repetitions));
    if (with_mass) printf(" %9.2f", bench_ratio(&cases[2], &cases[0], out->repetitions));
    printf("\n");
    fflush(stdout);
    static const char *const calls[] = {"forward", "inverse", "mass"};
    for (int k = 0; k < used; k++) write_csv(out, model, calls[k], 1, &cases[k]);

    bench_cases_clear(cases, used);
    free(mass.mass);
    subject_destroy(s);
    bench_states_destroy(states);
    bench_model_destroy(model);
}

static void bench_batch(const output *out, bench_model *model) {
    bench_states *states = bench_states_create(model, 512, 4);
    subject *s = subject_create(model, states);
    batch_context one = batch_create(s, 1), all = batch_create(s, 0);

    /* scalar and one thread by processor time; one thread and all by the wall clock */
    enum { SCALAR, ONE, ONE_WALL, ALL, KINDS };
    bench_case cases[2 * KINDS];
    for (int k = 0; k < 2; k++) {
        double (*scalar)(void *, int) = k == 0 ? subject_run_forward : subject_run_inverse;
        double (*batch)(void *, int) = k == 0 ? run_forward_batch : run_inverse_batch;
        bench_case *c = &cases[k * KINDS];
        c[SCALAR] = (bench_case){.run = scalar, .context = s, .units = 1};
        c[ONE] = (bench_case){.run = batch, .context = &one, .units = (int)one.states};
        c[ONE_WALL] = c[ONE];
        c[ONE_WALL].wall = true;
        c[ALL] = c[ONE_WALL];
        c[ALL].context = &all;
    }
    bench_measure(cases, 2 * KINDS, out->repetitions, 2);

    int threads = bench_processors();
    for (int k = 0; k < 2; k++) {
        const bench_case *c = &cases[k * KINDS];
        const char *call = k == 0 ? "forward_batch" : "inverse_batch";
        printf("%-16s %-8s %6zu", k == 0 ? model->name : "", k == 0 ? "forward" : "inverse", one.states);
        print_time(out, &c[ONE]);
        printf(" %9.2f", bench_ratio(&c[ONE], &c[SCALAR], out->repetitions));
        print_time(out, &c[ALL]);
        printf(" %9.2f (%.2f)", bench_ratio(&c[ONE_WALL], &c[ALL], out->repetitions),
               bench_minimum(&c[ONE_WALL], out->repetitions) / bench_minimum(&c[ALL], out->repetitions));
        if (k == 0) printf(" %12.1e", batch_difference(&one, s));
        printf("\n");
        write_csv(out, model, call, 1, &c[ONE]);
        write_csv(out, model, call, threads, &c[ALL]);
    }
    fflush(stdout);

    bench_cases_clear(cases, 2 * KINDS);
    batch_destroy(&one);
    batch_destroy(&all);
    subject_destroy(s);
    bench_states_destroy(states);
    bench_model_destroy(model);
}

/* Times of all sizes in one interleaved run; the exponents are slopes of log time over log N. */
static void bench_growth(const output *out) {
    bench_model *models[GROWTH_SIZES];
    bench_states *states[GROWTH_SIZES];
    subject *subjects[GROWTH_SIZES];
    bench_case cases[2 * GROWTH_SIZES];
    for (int k = 0, joints = 10; k < GROWTH_SIZES; k++, joints *= 10) {
        models[k] = bench_chain(joints);
        states[k] = bench_states_create(models[k], joints > 10000 ? 2 : 16, 4);
        subjects[k] = subject_create(models[k], states[k]);
        cases[k] = (bench_case){.run = subject_run_forward, .context = subjects[k], .units = 1};
        cases[GROWTH_SIZES + k] =
            (bench_case){.run = subject_run_inverse, .context = subjects[k], .units = 1};
    }
    bench_measure(cases, 2 * GROWTH_SIZES, out->repetitions, 1);

    for (int call = 0; call < 2; call++) {
        const bench_case *c = &cases[call * GROWTH_SIZES];
        printf("%-16s", call == 0 ? "forward" : "inverse");
        for (int k = 0; k < GROWTH_SIZES; k++) {
            printf(" %10.1f", bench_median(&c[k], out->repetitions) / models[k]->count);
            write_csv(out, models[k], call == 0 ? "forward" : "inverse", 1, &c[k]);
        }
        printf("\n%-16s %10s", "  exponent", "");
        for (int k = 1; k < GROWTH_SIZES; k++)
            printf(" %10.2f", log10(bench_ratio(&c[k], &c[k - 1], out->repetitions)));
        printf(" %10.2f\n",
               log10(bench_ratio(&c[GROWTH_SIZES - 1], &c[0], out->repetitions)) / (GROWTH_SIZES - 1));
    }
    bench_cases_clear(cases, 2 * GROWTH_SIZES);
    for (int k = 0; k < GROWTH_SIZES; k++) {
        subject_destroy(subjects[k]);
        bench_states_destroy(states[k]);
        bench_model_destroy(models[k]);
    }
}

int main(int argc, char **argv) {
    output out = {.repetitions = 101};
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0) {
            out.repetitions = 15;
        } else if (strcmp(argv[k], "--csv") == 0 && k + 1 < argc) {
            out.csv = fopen(argv[++k], "w");
            if (!out.csv) {
                fprintf(stderr, "bench-tree: cannot write %s\n", argv[k]);
                return 2;
            }
        } else {
            fprintf(stderr, "usage: bench-tree [--quick] [--csv FILE]\n");
            return 2;
        }
    }
    bench_machine(out.machine, sizeof out.machine);
    if (out.csv) fprintf(out.csv, "model,dof,call,threads,median_ns,min_ns,machine,compiler,version\n");
    printf("Linkwork %s, %s\n%s\n", LW_VERSION, bench_compiler(), out.machine);
    printf("ns per call: median of %d repetitions, (least); ratios are medians of their own\n\n",
           out.repetitions);

    printf("%-16s %21s %21s %21s %9s %9s\n", "one call", "forward", "inverse", "mass matrix", "inv/fwd",
           "mass/fwd");
    static const int sizes[] = {1, 7, 30, 100, 1000, 100000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) bench_scalar(&out, bench_chain(sizes[k]));
    bench_scalar(&out, bench_humanoid());
    bench_scalar(&out, bench_mixed(true));

    printf("\n%-16s %-8s %6s %21s %9s %18s x%2d %16s %12s\n", "batch, per state", "", "states", "one thread",
           "/scalar", "threads", bench_processors(), "speed-up", "difference");
    bench_batch(&out, bench_chain(7));
    bench_batch(&out, bench_chain(30));
    bench_batch(&out, bench_humanoid());
    bench_batch(&out, bench_mixed(true));

    printf("\n%-16s %10s %10s %10s %10s %10s %10s\n", "ns per joint", "N = 10", "100", "1000", "10000",
           "100000", "overall");
    bench_growth(&out);
    if (out.csv) fclose(out.csv);
    return 0;
}
