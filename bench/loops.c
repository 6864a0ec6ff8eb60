/* loops.c - how long the accelerations of closed loops take by rcr, cut and lagrange, and how that grows; batches of
 * states against single calls.
 *
 * Call: bench-loops [--quick] [--csv FILE]. Prints tables of ns per call (docs/performance.md says how they are measured) and
 * writes every figure to FILE as CSV. Mechanisms are those of problems/, in their assembled initial state.
 */
#include "models.h"
#include "output.h"
#include "subject.h"
#include "timing.h"
#include "formulations/formulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZES 11       /* ladders of 1, 2, 4, ... 1024 cells */
#define CHAIN 1000     /* joints of the chain whose time per joint is the unit */
#define PATIENCE 0.3e9 /* ns: a method that takes longer is not asked for the next size */
#define DEAR 5e6       /* ns: from here on fewer repetitions */

enum { RCR, CUT, LAGRANGE, METHODS };
static const char *const methods[METHODS] = {"rcr", "cut", "lagrange"};

/* --- what is timed -------------------------------------------------------------------------------- */

typedef struct mechanism {
    char name[32];
    lw_model *model;
    size_t nv;
    double *q, *v, *vdot[METHODS];
    lw_method *method[METHODS]; /* NULL: not asked for yet */
} mechanism;

typedef struct turn {
    mechanism *x;
    int method;
} turn;

static void fail(const char *name, const lw_error *error) {
    fprintf(stderr, "bench-loops: %s: %s\n", name, error->message);
    exit(1);
}

static double run_method(void *context, int calls) {
    const turn *t = context;
    mechanism *x = t->x;
    lw_method *method = x->method[t->method];
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        lw_error error;
        if (method->formulation->accelerations(method, 0, x->q, x->v, NULL, x->vdot[t->method], NULL, NULL,
                                               &error) != LW_OK)
            fail(x->name, &error);
        sum += x->vdot[t->method][0];
    }
    return sum;
}

/* The case of a method; creates the method if it was not asked for before. */
static bench_case method_case(turn *t) {
    mechanism *x = t->x;
    lw_method_options options = {0};
    lw_error error;
    if (!x->method[t->method] &&
        lw_formulation_find(methods[t->method])->create(x->model, &options, &x->method[t->method], &error) !=
            LW_OK)
        fail(x->name, &error);
    return (bench_case){.run = run_method, .context = t, .units = 1};
}

/* problems/<problem>/model.yaml with the parameter N = n, unless n is 0. */
static mechanism *mechanism_create(const char *problem, int n) {
    mechanism *x = bench_allocate(1, sizeof *x);
    snprintf(x->name, sizeof x->name, n ? "%s %d" : "%s", problem, n);
    char path[1024], value[16];
    snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, problem);
    snprintf(value, sizeof value, "%d", n);
    lw_setting setting = {"N", value};
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    if (!report || lw_read_model(path, &setting, n > 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &x->model) != LW_OK) {
        fprintf(stderr, "bench-loops: cannot read %s; linkwork check says why\n", path);
        exit(1);
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    x->nv = (size_t)lw_model_v_size(x->model);
    x->q = bench_allocate((size_t)lw_model_q_size(x->model), sizeof(double));
    x->v = bench_allocate(x->nv, sizeof(double));
    for (int k = 0; k < METHODS; k++) x->vdot[k] = bench_allocate(x->nv, sizeof(double));
    lw_error error;
    lw_model_initial_state(x->model, x->q, x->v);
    if (lw_assemble(x->model, 0, x->q, x->v, NULL, &error) != LW_OK) fail(x->name, &error);
    return x;
}

static void mechanism_destroy(mechanism *x) {
    for (int k = 0; k < METHODS; k++) {
        if (x->method[k]) x->method[k]->formulation->destroy(x->method[k]);
        free(x->vdot[k]);
    }
    lw_model_destroy(x->model);
    free(x->q);
    free(x->v);
    free(x);
}

/* Largest difference of a method's accelerations, after a call, from those of rcr, relative to the largest of them or, where
 * a mechanism starts without any, to 1. */
static double difference(const mechanism *x, int method) {
    double largest = 0, scale = 1;
    for (size_t k = 0; k < x->nv; k++) {
        largest = fmax(largest, fabs(x->vdot[method][k] - x->vdot[RCR][k]));
        scale = fmax(scale, fabs(x->vdot[RCR][k]));
    }
    return largest / scale;
}

/* --- tables --------------------------------------------------------------------------------------- */

/* Single mechanisms by all methods, in turns. */
static void bench_mechanism(const bench_output *out, mechanism *x) {
    turn turns[METHODS];
    bench_case cases[METHODS];
    for (int k = 0; k < METHODS; k++) {
        turns[k] = (turn){x, k};
        cases[k] = method_case(&turns[k]);
    }
    bench_measure(cases, METHODS, out->repetitions, 1);
    printf("%-16s %7d", x->name, lw_model_body_count(x->model));
    for (int k = 0; k < METHODS; k++) {
        double ns = bench_median(&cases[k], out->repetitions);
        printf(" %12.0f", ns);
        bench_output_row(out, x->name, x->nv, methods[k], 1, ns, bench_minimum(&cases[k], out->repetitions));
    }
    for (int k = CUT; k < METHODS; k++)
        printf(" %9.1f", bench_ratio(&cases[k], &cases[RCR], out->repetitions));
    printf(" %10.0e\n", fmax(difference(x, CUT), difference(x, LAGRANGE)));
    fflush(stdout);
    bench_cases_clear(cases, METHODS);
    mechanism_destroy(x);
}

typedef struct ladder {
    mechanism *x;
    int cells;
    double ns[METHODS];        /* NaN: not timed */
    double times_rcr[METHODS]; /* ratio to rcr */
    double exponent[METHODS];  /* from the size before */
    double cell;               /* one added cell by rcr, in joints of the chain */
} ladder;

/* rcr and lagrange of all sizes and the chain in one interleaved run. Returns ns per joint of the chain. */
static double time_growth(const bench_output *out, ladder *ladders) {
    enum { FIRST_LAGRANGE = SIZES, UNIT = 2 * SIZES, CASES };
    int repetitions = out->repetitions;
    bench_model *chain = bench_chain(CHAIN);
    bench_states *states = bench_states_create(chain, 16, 4);
    subject *s = subject_create(chain, states);
    turn turns[2 * SIZES];
    bench_case cases[CASES];
    for (int k = 0; k < SIZES; k++) {
        turns[k] = (turn){ladders[k].x, RCR};
        turns[FIRST_LAGRANGE + k] = (turn){ladders[k].x, LAGRANGE};
    }
    for (int k = 0; k < 2 * SIZES; k++) cases[k] = method_case(&turns[k]);
    cases[UNIT] = (bench_case){.run = subject_run_forward, .context = s, .units = CHAIN};
    bench_measure(cases, CASES, repetitions, 1);

    bench_case added = {.sample = bench_allocate((size_t)repetitions, sizeof(double))};
    for (int k = 0; k < SIZES; k++) {
        ladder *l = &ladders[k];
        for (int i = 0; i < 2; i++) {
            int method = i ? LAGRANGE : RCR;
            const bench_case *c = &cases[i * FIRST_LAGRANGE + k];
            l->ns[method] = bench_median(c, repetitions);
            l->times_rcr[method] = bench_ratio(c, &cases[k], repetitions);
            l->exponent[method] = k ? log2(bench_ratio(c, c - 1, repetitions)) : NAN;
            bench_output_row(out, l->x->name, l->x->nv, methods[method], 1, l->ns[method],
                             bench_minimum(c, repetitions));
        }
        l->cell = NAN;
        if (k == 0) continue;
        for (int r = 0; r < repetitions; r++)
            added.sample[r] = (cases[k].sample[r] - cases[k - 1].sample[r]) /
                              (l->cells - ladders[k - 1].cells) / cases[UNIT].sample[r];
        l->cell = bench_median(&added, repetitions);
    }
    double unit = bench_median(&cases[UNIT], repetitions);
    bench_output_row(out, chain->name, (size_t)chain->v_size, "forward", 1, CHAIN * unit,
                     CHAIN * bench_minimum(&cases[UNIT], repetitions));
    free(added.sample);
    bench_cases_clear(cases, CASES);
    subject_destroy(s);
    bench_states_destroy(states);
    bench_model_destroy(chain);
    return unit;
}

/* cut next to rcr, size after size, until it takes too long. */
static void time_cut(const bench_output *out, ladder *ladders) {
    bool patient = true;
    double before = NAN;
    for (int k = 0; k < SIZES; k++) {
        ladder *l = &ladders[k];
        l->ns[CUT] = l->times_rcr[CUT] = l->exponent[CUT] = NAN;
        if (!patient) continue;
        turn turns[2] = {{l->x, RCR}, {l->x, CUT}};
        bench_case cases[2] = {method_case(&turns[0]), method_case(&turns[1])};
        /* eight times as long as the size before, at most */
        bool dear = k > 0 && 8 * ladders[k - 1].ns[CUT] > DEAR;
        int repetitions = dear ? 5 : out->repetitions;
        bench_measure(cases, 2, repetitions, 1);
        l->ns[CUT] = bench_median(&cases[1], repetitions);
        l->times_rcr[CUT] = bench_ratio(&cases[1], &cases[0], repetitions);
        /* what else the machine does can only add to a time: of few repetitions the least counts */
        double least = bench_minimum(&cases[1], repetitions);
        if (k > 0) l->exponent[CUT] = log2(least / before);
        before = least;
        patient = l->ns[CUT] < PATIENCE;
        bench_output_row(out, l->x->name, l->x->nv, methods[CUT], 1, l->ns[CUT], least);
        bench_cases_clear(cases, 2);
    }
}

static void print_or_dash(int width, int digits, double value) {
    if (isnan(value))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, value);
}

static void bench_ladders(const bench_output *out) {
    ladder ladders[SIZES];
    for (int k = 0; k < SIZES; k++)
        ladders[k] = (ladder){.x = mechanism_create("ladder", 1 << k), .cells = 1 << k};
    double unit = time_growth(out, ladders);
    time_cut(out, ladders);

    printf("%-7s %10s %10s %12s %12s %9s %9s %7s %6s %6s %10s\n", "ladder", "rcr", "added cell", "cut",
           "lagrange", "cut/rcr", "lag/rcr", "exp rcr", "cut", "lag", "difference");
    for (int k = 0; k < SIZES; k++) {
        const ladder *l = &ladders[k];
        printf("%-7d %10.0f", l->cells, l->ns[RCR]);
        print_or_dash(10, 2, l->cell);
        print_or_dash(12, 0, l->ns[CUT]);
        print_or_dash(12, 0, l->ns[LAGRANGE]);
        print_or_dash(9, 1, l->times_rcr[CUT]);
        print_or_dash(9, 1, l->times_rcr[LAGRANGE]);
        print_or_dash(7, 2, l->exponent[RCR]);
        print_or_dash(6, 2, l->exponent[CUT]);
        print_or_dash(6, 2, l->exponent[LAGRANGE]);
        double cut = isnan(l->ns[CUT]) ? 0 : difference(l->x, CUT);
        printf(" %10.0e\n", fmax(cut, difference(l->x, LAGRANGE)));
    }
    const ladder *last = &ladders[SIZES - 1];
    printf(
        "added cell: by rcr, in joints of the chain of %d (%.1f ns each); from first to last %.2f of them\n",
        CHAIN, unit, (last->ns[RCR] - ladders[0].ns[RCR]) / (last->cells - ladders[0].cells) / unit);
    printf("exponent of rcr from first to last: %.2f\n",
           log2(last->ns[RCR] / ladders[0].ns[RCR]) / log2(last->cells));
    for (int k = 0; k < SIZES; k++) mechanism_destroy(ladders[k].x);
}

/* --- batches -------------------------------------------------------------------------------------- */

enum { STATES = 256, ONE_BY_ONE = 0, ONE_THREAD, ALL_THREADS, WAYS };

typedef struct crowd {
    mechanism *x;
    size_t nq;
    lw_solver *solver;
    lw_solver_batch *batch[WAYS];
    double *q, *v, *one_q, *one_v; /* [k * STATES + s], and state after state */
    double *vdot;
} crowd;

typedef struct way {
    crowd *c;
    int way;
} way;

static double run_crowd(void *context, int calls) {
    const way *w = context;
    crowd *c = w->c;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        lw_error error;
        lw_status status = LW_OK;
        if (w->way != ONE_BY_ONE)
            status =
                lw_solver_batch_accelerations(c->batch[w->way], STATES, 0, c->q, c->v, NULL, c->vdot, &error);
        for (size_t s = 0; s < STATES && w->way == ONE_BY_ONE && status == LW_OK; s++)
            status = lw_solver_accelerations(c->solver, 0, c->one_q + s * c->nq, c->one_v + s * c->x->nv,
                                             NULL, c->vdot, &error);
        if (status != LW_OK) fail(c->x->name, &error);
        sum += c->vdot[0];
    }
    return sum;
}

/* States on the constraints beside the initial one: joints moved by up to 0.1, speeds by up to 0.5. */
static void spread(crowd *c) {
    unsigned long long random = 12345;
    mechanism *x = c->x;
    for (size_t s = 0; s < STATES; s++) {
        double *q = c->one_q + s * c->nq, *v = c->one_v + s * x->nv;
        memcpy(q, x->q, c->nq * sizeof *q);
        for (size_t k = 0; k < 2 * x->nv; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            double number = (double)(random >> 11) / (double)(1ull << 52) - 1;
            if (k < x->nv) v[k] = 0.1 * number;
            if (k == x->nv) lw_integrate_q(x->model, q, v, 1), memcpy(v, x->v, x->nv * sizeof *v);
            if (k >= x->nv) v[k - x->nv] += 0.5 * number;
        }
        lw_error error;
        if (lw_assemble(x->model, 0, q, v, NULL, &error) != LW_OK) fail(x->name, &error);
        for (size_t k = 0; k < c->nq; k++) c->q[k * STATES + s] = q[k];
        for (size_t k = 0; k < x->nv; k++) c->v[k * STATES + s] = v[k];
    }
}

static void bench_batch(const bench_output *out, mechanism *x) {
    static const char *const names[WAYS] = {"solver", "batch on one thread", "batch on all threads"};
    crowd c = {.x = x, .nq = (size_t)lw_model_q_size(x->model)};
    double **arrays[] = {&c.q, &c.one_q, &c.v, &c.one_v, &c.vdot};
    for (int k = 0; k < 5; k++) *arrays[k] = bench_allocate(STATES * (k < 2 ? c.nq : x->nv), sizeof(double));
    lw_solver_options options;
    lw_error error;
    lw_solver_batch_defaults(x->model, &options);
    if (lw_solver_create(x->model, &options, NULL, &c.solver, &error) != LW_OK) fail(x->name, &error);
    way ways[WAYS];
    bench_case cases[WAYS];
    spread(&c);
    for (int k = 0; k < WAYS; k++) {
        if (k != ONE_BY_ONE && lw_solver_batch_create(x->model, &options, k == ONE_THREAD ? 1 : 0, NULL,
                                                      &c.batch[k], &error) != LW_OK)
            fail(x->name, &error);
        ways[k] = (way){&c, k};
        cases[k] = (bench_case){.run = run_crowd, .context = &ways[k], .units = STATES};
    }
    bench_measure(cases, WAYS, out->repetitions, 1);
    printf("%-18s %-6s %6d", x->name, lw_solver_method(c.solver), lw_solver_batch_lanes(c.batch[ONE_THREAD]));
    for (int k = 0; k < WAYS; k++) {
        double ns = bench_median(&cases[k], out->repetitions);
        printf(" %10.0f", ns);
        bench_output_row(out, x->name, x->nv, names[k], lw_solver_batch_threads(c.batch[k]) + !k, ns,
                         bench_minimum(&cases[k], out->repetitions));
    }
    for (int k = ONE_THREAD; k < WAYS; k++)
        printf(" %12.2f", bench_ratio(&cases[k], &cases[ONE_BY_ONE], out->repetitions));
    printf("\n");
    fflush(stdout);
    bench_cases_clear(cases, WAYS);
    for (int k = 0; k < WAYS; k++) lw_solver_batch_destroy(c.batch[k]);
    lw_solver_destroy(c.solver);
    for (int k = 0; k < 5; k++) free(*arrays[k]);
    mechanism_destroy(x);
}

static void bench_batches(const bench_output *out) {
    printf("%-18s %-6s %6s %10s %10s %10s %12s %12s\n", "per state", "method", "lanes", "one call",
           "one thread", "all", "one/call", "all/call");
    bench_batch(out, mechanism_create("four_bar", 0));
    bench_batch(out, mechanism_create("ladder", 16));
    bench_batch(out, mechanism_create("andrews_squeezer", 0));
    bench_batch(out, mechanism_create("bricard", 0));
    printf("batches of %d states, unchecked; ratios to single calls\n\n", STATES);
}

int main(int argc, char **argv) {
    bench_without_threads(argv);
    bench_output out = bench_output_open("bench-loops", BENCH_ROW, argc, argv);
    printf("Closed loops, Linkwork %s, %s\n%s\n", LW_VERSION, bench_compiler(), out.machine);
    printf("ns per call: median of %d repetitions; ratios are medians of their own\n\n", out.repetitions);

    printf("%-16s %7s %12s %12s %12s %9s %9s %10s\n", "one call", "bodies", "rcr", "cut", "lagrange",
           "cut/rcr", "lag/rcr", "difference");
    bench_mechanism(&out, mechanism_create("four_bar", 0));
    bench_mechanism(&out, mechanism_create("bricard", 0));
    bench_mechanism(&out, mechanism_create("n_four_bar", 40));
    printf("\n");
    bench_batches(&out);
    bench_ladders(&out);
    bench_output_close(&out);
    return 0;
}
