/* peers.c - Linkwork next to other engines: same models, same states, one run, one thread.
 *
 * Call: bench-peers [--quick] [--csv FILE]. First every engine must give Linkwork's accelerations and forces
 * (exit status 1 if one does not), then all are timed in turns. Ratios are to MuJoCo. MuJoCo, which holds closed loops by
 * soft constraints, need come near there only roughly.
 */
#include "engine.h"
#include "output.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES 16
/* How near an engine must come to Linkwork, relative to the largest result of the state. Solving by a
 * factored mass matrix, as MuJoCo and KDL do, loses up to its condition times 1e-16, and that grows as N^4
 * for chains: an engine that misses the bound beyond 100 joints is left out there, not timed. */
#define AGREEMENT 1e-9
/* The same for soft constraints, which give way by about their impedance's distance from 1, 1e-4, times the number of loops
 * that pull together: enough to see that it is the same mechanism. */
#define SOFT_AGREEMENT 0.05
#define CELLS 128 /* of the ladder */

static const engine_kind *const kinds[] = {&engine_linkwork, &engine_mujoco, &engine_dart,
                                           &engine_simbody,  &engine_bullet, &engine_kdl};
enum { ENGINES = sizeof kinds / sizeof *kinds, REFERENCE = 1 /* MuJoCo */ };

typedef struct entry {
    bench_model *model;
    bench_states *states;
    engine *engines[ENGINES]; /* NULL: cannot express the model */
    const char *reasons[ENGINES];
} entry;

typedef struct turn {
    const engine_kind *kind;
    engine *e;
    int state;
} turn;

static double run_forward(void *context, int calls) {
    turn *t = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) sum += t->kind->forward(t->e, t->state = (t->state + 1) % STATES);
    return sum;
}

static double run_inverse(void *context, int calls) {
    turn *t = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) sum += t->kind->inverse(t->e, t->state = (t->state + 1) % STATES);
    return sum;
}

/* --- agreement ------------------------------------------------------------------------------------ */

static double difference(const double *a, const double *b, int count) {
    double largest = 0, scale = 0;
    for (int k = 0; k < count; k++) {
        largest = fmax(largest, fabs(a[k] - b[k]));
        scale = fmax(scale, fabs(b[k]));
    }
    return largest / scale;
}

/* Largest difference between two engines over all states, of forward or of inverse dynamics. */
static double compare(const entry *x, int a, int b, bool inverse) {
    size_t nv = (size_t)x->model->v_size;
    double *result = bench_allocate(2 * nv, sizeof *result), worst = 0;
    for (int s = 0; s < STATES; s++) {
        for (int side = 0; side < 2; side++) {
            int k = side ? b : a;
            (inverse ? kinds[k]->inverse : kinds[k]->forward)(x->engines[k], s);
            (inverse ? kinds[k]->get_tau : kinds[k]->get_vdot)(x->engines[k], s, result + (size_t)side * nv);
        }
        worst = fmax(worst, difference(result, result + nv, (int)nv));
    }
    free(result);
    return worst;
}

static bool offers_inverse(const entry *x, int k) { return kinds[k]->inverse && !x->model->closure_count; }

/* How far engine k may be from Linkwork. */
static double allowed(const entry *x, int k) {
    return x->model->closure_count && kinds[k] == &engine_mujoco ? SOFT_AGREEMENT : AGREEMENT;
}

/* Opens all engines on the model and prints how far each is from Linkwork; true if all are near enough. */
static bool open_and_check(entry *x) {
    const bench_model *model = x->model;
    bool all_agree = true;
    printf("%-16s", model->name);
    for (int k = 0; k < ENGINES; k++) {
        x->engines[k] = kinds[k]->open(model, x->states, &x->reasons[k]);
        if (k == 0) continue;
        char cell[64] = "-";
        if (x->engines[k]) {
            double forward = compare(x, k, 0, false);
            double inverse = offers_inverse(x, k) ? compare(x, k, 0, true) : 0;
            bool agrees = forward <= allowed(x, k) && inverse <= AGREEMENT;
            int length = snprintf(cell, sizeof cell, "%.0e", forward);
            if (offers_inverse(x, k))
                length += snprintf(cell + length, sizeof cell - length, " %.0e", inverse);
            if (!agrees) snprintf(cell + length, sizeof cell - length, " !");
            if (!agrees && model->count > 100 && !model->closure_count) {
                kinds[k]->close(x->engines[k]);
                x->engines[k] = NULL;
                x->reasons[k] = "differs by more than 1e-9";
            } else
                all_agree = all_agree && agrees;
        }
        printf(" %17s", cell);
    }
    printf("\n");
    return all_agree;
}

/* Why some engines are left out of some models, each reason once per engine. */
static void print_reasons(const entry *entries, int count) {
    for (int k = 0; k < ENGINES; k++) {
        const char *last = NULL;
        for (int i = 0; i < count; i++) {
            const char *reason = entries[i].reasons[k];
            if (entries[i].engines[k] || (last && strcmp(last, reason) == 0)) continue;
            printf("  - %s, %s: %s\n", kinds[k]->name, entries[i].model->name, reason);
            last = reason;
        }
    }
}

/* --- times ---------------------------------------------------------------------------------------- */

static void time_entry(const bench_output *out, const entry *x, bool inverse) {
    turn turns[ENGINES];
    bench_case cases[ENGINES];
    int kind[ENGINES], count = 0, reference = -1;
    for (int k = 0; k < ENGINES; k++) {
        if (!x->engines[k] || (inverse && !offers_inverse(x, k))) continue;
        turns[count] = (turn){.kind = kinds[k], .e = x->engines[k]};
        cases[count] =
            (bench_case){.run = inverse ? run_inverse : run_forward, .context = &turns[count], .units = 1};
        if (k == REFERENCE) reference = count;
        kind[count++] = k;
    }
    bench_measure(cases, count, out->repetitions, 1);

    printf("%-16s", x->model->name);
    for (int k = 0, i = 0; k < ENGINES; k++) {
        char cell[64] = "-";
        if (i < count && kind[i] == k) {
            double ns = bench_median(&cases[i], out->repetitions);
            double ratio = reference >= 0 ? bench_ratio(&cases[i], &cases[reference], out->repetitions) : NAN;
            if (reference >= 0)
                snprintf(cell, sizeof cell, "%.3f (%.0f)", ratio, ns);
            else
                snprintf(cell, sizeof cell, "(%.0f)", ns);
            if (out->csv)
                fprintf(out->csv, "\"%s\",%d,%s,%s,%s,%.1f,%.1f,%.4f,\"%s\",\"%s\"\n", x->model->name,
                        x->model->v_size, inverse ? "inverse" : "forward", kinds[k]->name,
                        kinds[k]->version(), ns, bench_minimum(&cases[i], out->repetitions), ratio,
                        out->machine, bench_compiler());
            i++;
        }
        printf(" %17s", cell);
    }
    printf("\n");
    fflush(stdout);
    bench_cases_clear(cases, count);
}

static void print_head(const char *title, int first) {
    printf("\n%-16s", title);
    for (int k = first; k < ENGINES; k++) printf(" %17s", kinds[k]->name);
    printf("\n");
}

int main(int argc, char **argv) {
    bench_output out = bench_output_open(
        "bench-peers", "model,dof,call,engine,version,median_ns,min_ns,ratio_to_mujoco,machine,compiler",
        argc, argv);
    for (int k = 0; k < ENGINES; k++) printf("%s%s %s", k ? ", " : "", kinds[k]->name, kinds[k]->version());
    printf("\n%s, %s\n", bench_compiler(), out.machine);

    entry entries[] = {
        {.model = bench_chain(1)},    {.model = bench_chain(7)},     {.model = bench_chain(30)},
        {.model = bench_chain(100)},  {.model = bench_chain(1000)},  {.model = bench_humanoid()},
        {.model = bench_mixed(true)}, {.model = bench_mixed(false)}, {.model = bench_ladder(CELLS)}};
    enum { MODELS = sizeof entries / sizeof *entries, LADDER = MODELS - 1 };
    bool agree = true;
    print_head("difference", 1);
    for (int k = 0; k < MODELS; k++) {
        entry *x = &entries[k];
        x->states = k == LADDER ? bench_ladder_states(x->model, STATES, 1, 4)
                                : bench_states_create(x->model, STATES, 4);
        agree = open_and_check(x) && agree;
    }
    printf("of forward and inverse dynamics to Linkwork, relative to the largest; left out (-):\n");
    print_reasons(entries, MODELS);
    if (!agree) {
        fprintf(stderr, "bench-peers: engines disagree (marked !); nothing was timed\n");
        return 1;
    }

    for (int inverse = 0; inverse < 2; inverse++) {
        print_head(inverse ? "inverse dynamics" : "forward dynamics", 0);
        for (int k = 0; k < LADDER; k++) time_entry(&out, &entries[k], inverse);
    }
    print_head("closed loops", 0);
    time_entry(&out, &entries[LADDER], false);
    printf("ratio to MuJoCo (ns per call): medians of %d repetitions on one processor\n", out.repetitions);

    for (int k = 0; k < MODELS; k++) {
        for (int i = 0; i < ENGINES; i++)
            if (entries[k].engines[i]) kinds[i]->close(entries[k].engines[i]);
        bench_states_destroy(entries[k].states);
        bench_model_destroy(entries[k].model);
    }
    bench_output_close(&out);
    return 0;
}
