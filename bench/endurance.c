/* endurance.c - a million steps: what the energy-momentum scheme keeps, and what other methods keep at the same cost.
 *
 * Call: bench-endurance [--quick] [NAME ...]. Prints the tables of docs/endurance.md in Markdown, for all cases or those
 * named, and a line of progress on standard error for each run. Exit status 1: the energy-momentum scheme has not kept what it
 * should.
 *
 * Each case runs first by `director` with a fixed step h. The others cover the same time with the same processor time, which decides their step
 * or tolerance: it is sought on short runs, and once more if the whole run costs more than a fifth more or less. Where no setting
 * costs as much (tolerances end at 1e-14) or as little (long steps of director-full are halved) the line says so; where a run ends before its time, when.
 *
 * Errors are the largest of about 1000 samples. Energy: what the books do not explain, over the energy at the start. Momentum:
 * change of the components that nothing changes, over the length of the vector at the start.
 *
 * Trend. An error made of rounding is a random walk: its values depend on each other, and a line fitted to them has a slope far larger than the
 * scatter about it lets one think. Its increments over BLOCKS parts of the run do not depend on each other. Mean increment over its standard error is then
 * Student's t with BLOCKS - 1 degrees of freedom: beyond 3 in one case of 160 without any trend.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "output.h"
#include "timing.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 1000, BLOCKS = 25, RIVALS = 6 };
static const double wanted = 1e-10;                   /* of every error of the energy-momentum scheme */
static const double walk = 3;                         /* of the trend */
static const double like = 0.2;                       /* costs that differ by this part are equal */
static const double tightest = 1e-14, loosest = 1e-2; /* tolerances */

typedef struct way {
    const char *method, *integrator;
    bool by_tolerance;
} way;

typedef struct endurance_case {
    const char *problem, *title;
    double h;
    long steps;
    unsigned kept; /* bits 0 .. 2: momentum, 3 .. 5: angular momentum */
    way rivals[RIVALS];
} endurance_case;

static const endurance_case cases[] = {
    {"gyro_top",
     "Heavy top",
     1e-3,
     1000000,
     0x20,
     {{"director-full", "energy-momentum", false},
      {"director", "rk4", false},
      {"tree", "rk4", false},
      {"lagrange", "rk4", false},
      {"tree", "adams", true},
      {"tree", "bdf", true}}},
    {"six_body_linkage",
     "Six-body linkage",
     1e-3,
     1000000,
     0,
     {{"director-full", "energy-momentum", false},
      {"rcr", "rk4", false},
      {"lagrange", "rk4", false},
      {"nullspace", "rk4", false},
      {"rcr", "adams", true},
      {"rcr", "bdf", true}}},
    {"spring_chain",
     "Free chain of 100 links with springs",
     5e-3,
     10000,
     0x3f,
     {{"director-full", "energy-momentum", false},
      {"tree", "rk4", false},
      {"lagrange", "rk4", false},
      {"tree", "adams", true},
      {"tree", "bdf", true}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* --- one run -------------------------------------------------------------------------------------- */

typedef struct record {
    const lw_model *model;
    lw_data *data;
    unsigned kept;
    double momentum[6], scale[2]; /* at the start */
    int count;
    double errors[7][SAMPLES + 2]; /* of the energy and of six momenta, over their scales */
    double t, energy_most, momentum_most, position_most;
    double energy_start;
} record;

typedef struct result {
    lw_status status;
    lw_error error;
    lw_run_summary run;
    double seconds; /* of the processor */
    double energy, momentum, position, trend;
    double reached;
} result;

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool observe(const lw_sample *sample, void *context) {
    record *r = context;
    double now[6];
    lw_momentum(r->model, r->data, sample->t, sample->q, sample->v, now, now + 3);
    if (r->count == 0) {
        memcpy(r->momentum, now, sizeof now);
        r->scale[0] = sqrt(now[0] * now[0] + now[1] * now[1] + now[2] * now[2]);
        r->scale[1] = sqrt(now[3] * now[3] + now[4] * now[4] + now[5] * now[5]);
        r->energy_start = fabs(sample->ledger->kinetic + sample->ledger->potential);
    }
    if (r->count < SAMPLES + 2) {
        r->errors[0][r->count] = sample->ledger->unaccounted / r->energy_start;
        for (int k = 0; k < 6; k++) r->errors[1 + k][r->count] = (now[k] - r->momentum[k]) / r->scale[k / 3];
    }
    r->count++;
    r->t = sample->t;
    r->energy_most = fmax(r->energy_most, fabs(sample->ledger->unaccounted) / r->energy_start);
    r->position_most = fmax(r->position_most, sample->position_violation);
    for (int k = 0; k < 6; k++)
        if (r->kept >> k & 1)
            r->momentum_most = fmax(r->momentum_most, fabs(now[k] - r->momentum[k]) / r->scale[k / 3]);
    return true;
}

/* Mean increment of an error between blocks over its standard error. */
static double trend_of(int n, const double *e) {
    int length = (n - 1) / BLOCKS;
    double mean = (e[BLOCKS * length] - e[0]) / BLOCKS, squares = 0;
    for (int b = 0; b < BLOCKS; b++) {
        double off = e[(b + 1) * length] - e[b * length] - mean;
        squares += off * off;
    }
    return squares > 0 ? fabs(mean) / sqrt(squares / (BLOCKS - 1) / BLOCKS) : 0;
}

static double trend(const record *r) {
    int n = r->count < SAMPLES + 2 ? r->count : SAMPLES + 2;
    if (n <= BLOCKS) return NAN;
    double most = trend_of(n, r->errors[0]);
    for (int k = 0; k < 6; k++)
        if (r->kept >> k & 1) most = fmax(most, trend_of(n, r->errors[1 + k]));
    return most;
}

static result run(const lw_model *model, unsigned kept, const way *w, double step, double tolerance,
                  double end, long samples) {
    static record r; /* large */
    result out = {.status = LW_OK};
    r = (record){.model = model, .kept = kept};
    lw_run_options options = {.method = w->method,
                              .integrator = w->integrator,
                              .end = end,
                              .step = step,
                              .tolerance = tolerance,
                              .output = end / (double)samples,
                              .observe = observe,
                              .context = &r};
    if (lw_data_create(model, NULL, &r.data) != LW_OK) exit(1);
    double start = processor_time();
    out.status = lw_simulate(model, &options, NULL, NULL, &out.run, &out.error);
    out.seconds = processor_time() - start;
    lw_data_destroy(r.data);
    out.energy = r.energy_most, out.momentum = r.momentum_most, out.position = r.position_most;
    out.trend = trend(&r);
    out.reached = out.status == LW_OK ? end : fmax(r.t, step * (double)out.run.steps);
    return out;
}

/* --- the same cost -------------------------------------------------------------------------------- */

/* Step or tolerance of a way, x, and what it cost per second of motion, twice: the last two that were tried. */
typedef struct search {
    bool by_tolerance;
    double x, tried[2], cost[2];
    int count;
    bool cheapest; /* longer steps cost more */
} search;

static result try(const lw_model *model, unsigned kept, const way *w, double x, double end, long samples) {
    return run(model, kept, w, w->by_tolerance ? 0 : x, w->by_tolerance ? x : 0, end, samples);
}

/* The next x to try. Costs go like 1 / step, and like a power of the tolerance that the last two tell. */
static void refine(search *s, double cost, double wanted_cost) {
    double power = s->by_tolerance ? -0.12 : -1;
    s->tried[0] = s->tried[1], s->cost[0] = s->cost[1];
    s->tried[1] = s->x, s->cost[1] = cost;
    if (++s->count > 1 && s->by_tolerance && s->tried[0] != s->tried[1])
        power = log(s->cost[1] / s->cost[0]) / log(s->tried[1] / s->tried[0]);
    if (!(power < -0.05)) power = s->by_tolerance ? -0.05 : -1;
    double most = s->by_tolerance ? 1e4 : 2.5;
    s->x *= fmax(1e-4, fmin(most, pow(wanted_cost / cost, 1 / power)));
    if (s->by_tolerance) s->x = fmax(tightest, fmin(loosest, s->x));
}

/* By short runs. What fails is tried with a fourth; where longer steps cost more, since they are halved on the way, the cheapest is taken. */
static search equal_cost(const lw_model *model, const way *w, double h, double cost, double end,
                         long samples) {
    search s = {.by_tolerance = w->by_tolerance, .x = w->by_tolerance ? 1e-8 : h};
    double best = HUGE_VAL, best_x = s.x;
    bool worse = false;
    for (int round = 0; round < 6; round++) {
        result r = try(model, 0, w, s.x, end, samples);
        double own = r.seconds / end, off = fabs(log(own / cost));
        if (r.status != LW_OK) {
            s.x *= 0.25;
            if (best == HUGE_VAL) best_x = s.x;
            continue;
        }
        worse = !w->by_tolerance && s.count > 0 && s.x > s.tried[1] && own > s.cost[1];
        if (off < best) best = off, best_x = s.x;
        if (worse || off < 0.3 * like || (own < cost && w->by_tolerance && s.x <= tightest)) break;
        refine(&s, own, cost);
    }
    s.x = best_x;
    s.cheapest = worse;
    return s;
}

/* --- the table ------------------------------------------------------------------------------------ */

static void power(char text[16], double x) {
    if (isnan(x))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.1e", x);
}

static void row(const endurance_case *c, const way *w, double x, bool cheapest, const result *r, double cost,
                bool loops) {
    char setting[32], energy[16], momentum[16], position[16], trend_text[16], end[64] = "";
    if (w->by_tolerance)
        snprintf(setting, sizeof setting, "tolerance %.1e", x);
    else
        snprintf(setting, sizeof setting, "h = %.3g", x);
    bool seen = r->status == LW_OK || r->energy > 0; /* more than the start */
    power(energy, seen ? r->energy : NAN);
    power(momentum, seen && c->kept ? r->momentum : NAN);
    if (isnan(r->trend))
        snprintf(trend_text, sizeof trend_text, "-");
    else
        snprintf(trend_text, sizeof trend_text, "%.1f", r->trend);
    power(position, seen && (loops || r->position > 0) ? r->position : NAN);
    if (r->status != LW_OK)
        snprintf(end, sizeof end, "breaks down after %.3g s", r->reached);
    else if (w->by_tolerance && x <= tightest && r->seconds < (1 - like) * cost)
        snprintf(end, sizeof end, "no tighter tolerance");
    else if (fabs(r->seconds / cost - 1) > like)
        snprintf(end, sizeof end, cheapest ? "longer steps are halved and cost more" : "cost differs");
    printf("| `%s` | %s | %s | %ld | %.0f | %.1f | %.2f | %s | %s | %s | %s | %s |\n", w->method,
           w->integrator, setting, r->run.steps, r->reached, r->seconds, r->seconds / cost, energy, momentum,
           position, trend_text, end);
    fflush(stdout);
    fprintf(stderr, "%s: %s %s %s: %.1f s %s\n", c->problem, w->method, w->integrator, setting, r->seconds,
            end);
}

static lw_model *read_model(const char *problem) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/model.yaml", BENCH_PROBLEMS, problem);
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    if (lw_read_model(path, NULL, 0, report, &spec) != LW_OK ||
        lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        fprintf(stderr, "bench-endurance: %s could not be read\n", path);
        exit(1);
    }
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

static bool kept(const endurance_case *c, const result *r) {
    return r->status == LW_OK && r->energy < wanted && (!c->kept || r->momentum < wanted) &&
           r->position < wanted && r->trend < walk;
}

static bool one_case(const endurance_case *c, bool quick) {
    static const way scheme = {"director", "energy-momentum", false};
    lw_model *model = read_model(c->problem);
    bool loops = lw_model_loop_count(model) > 0;
    long steps = quick ? c->steps / 100 : c->steps;
    double end = c->h * (double)steps;
    printf("### %s\n\n", c->title);
    printf(
        "| method | integrator | setting | steps | s of motion | s of processor | cost | energy | momentum | "
        "constraints | trend | |\n");
    printf("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    long samples = steps < SAMPLES ? steps : SAMPLES; /* where steps end */
    result own = try(model, c->kept, &scheme, c->h, end, samples);
    row(c, &scheme, c->h, false, &own, own.seconds, loops);
    double cost = own.seconds / end, short_end = fmax(end / 50, 500 * c->h);
    for (int k = 0; k < RIVALS && c->rivals[k].method && own.status == LW_OK; k++) {
        const way *w = &c->rivals[k];
        search s = equal_cost(model, w, c->h, cost, short_end, (long)ceil((double)samples * short_end / end));
        double x = s.x;
        result r = try(model, c->kept, w, x, end, samples);
        double ratio = r.seconds / own.seconds;
        bool again = r.status == LW_OK && fabs(ratio - 1) > like && !(s.cheapest && ratio > 1) &&
                     !(w->by_tolerance && x <= tightest && ratio < 1);
        if (again) {
            refine(&s, r.seconds / end, cost);
            result second = try(model, c->kept, w, s.x, end, samples);
            if (second.status != LW_OK || fabs(log(second.seconds / own.seconds)) < fabs(log(ratio)))
                r = second, x = s.x;
        }
        row(c, w, x, s.cheapest, &r, own.seconds, loops);
    }
    bool good = kept(c, &own);
    printf("\n%s: energy, momentum and constraints below %.0e, trend below %.0f: %s.\n\n", c->title, wanted,
           walk, good ? "yes" : "**no**");
    lw_model_destroy(model);
    return good;
}

int main(int argc, char **argv) {
    bool quick = false, good = true, named = false;
    bench_without_threads(argv);
    for (int k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0)
            quick = true;
        else
            named = true;
    }
    char machine[512];
    bench_machine(machine, sizeof machine);
    printf("Measured on %s, one thread, compiler %s.\n\n", machine, bench_compiler());
    for (int c = 0; c < CASES; c++) {
        bool chosen = !named;
        for (int k = 1; k < argc; k++) chosen = chosen || strcmp(argv[k], cases[c].problem) == 0;
        if (chosen) good = one_case(&cases[c], quick) && good;
    }
    return good ? 0 : 1;
}
