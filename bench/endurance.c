/* endurance.c - a million steps: what the energy-momentum scheme keeps, and what other methods keep at the same cost.
 *
 * Call: bench-endurance [--quick] [NAME ...]. Prints the tables of docs/endurance.md in Markdown, for all cases or those
 * named, and a line of progress on standard error for each run. --quick takes one step of 200. Exit status 1: the
 * energy-momentum scheme has not kept what it should.
 *
 * Each case runs first by `director` with a fixed step h. The others cover the same time with the same processor time, which decides their
 * step or tolerance. It is sought on short runs, looked at on longer ones, and again after a whole one if that costs more than a tenth more
 * or less. A tolerance ends at 1e-14; from there on the largest step spends what is left. Where longer steps cost more, since they are
 * halved on the way, the cheapest is taken, and the run ends where the cost is spent. Where a run breaks down the line says when.
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
static const double like = 0.1;                       /* costs that differ by this part are equal */
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
    double stop; /* processor time at which to stop, 0: never */
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
    return r->stop == 0 || processor_time() < r->stop;
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

/* Step (fixed or largest) and tolerance of a way. */
typedef struct setting {
    double step, tolerance;
} setting;

/* budget: processor time to spend at most, or 0. */
static result run(const lw_model *model, unsigned kept, const way *w, setting x, double end, long samples,
                  double budget) {
    static record r; /* large */
    result out = {.status = LW_OK};
    double start = processor_time();
    r = (record){.model = model, .kept = kept, .stop = budget > 0 ? start + budget : 0};
    lw_run_options options = {.method = w->method,
                              .integrator = w->integrator,
                              .end = end,
                              .step = x.step,
                              .tolerance = x.tolerance,
                              .output = end / (double)samples,
                              .observe = observe,
                              .context = &r};
    if (lw_data_create(model, NULL, &r.data) != LW_OK) exit(1);
    out.status = lw_simulate(model, &options, NULL, NULL, &out.run, &out.error);
    out.seconds = processor_time() - start;
    lw_data_destroy(r.data);
    out.energy = r.energy_most, out.momentum = r.momentum_most, out.position = r.position_most;
    out.trend = trend(&r);
    double stepped = w->by_tolerance ? 0 : x.step * (double)out.run.steps;
    out.reached = out.status == LW_OK ? end : out.status == LW_ERROR_STOPPED ? r.t : fmax(r.t, stepped);
    return out;
}

/* --- the same cost -------------------------------------------------------------------------------- */

/* What has been tried last, and the cheapest of all. */
typedef struct search {
    setting x, last, best;
    double cost, least; /* of last and best, processor time per second of motion */
    bool dearer; /* longer steps cost more, or there is no looser tolerance: best is the least there is */
} search;

/* The next setting to try, when x cost so much. Costs go like 1 / step, and like a power of the tolerance that the last two tell. */
static void refine(search *s, const way *w, double cost, double wanted_cost, double mean_step) {
    /* settings that hardly differ tell more of the clock than of themselves */
    bool stepped = !w->by_tolerance || s->x.step > 0, again = s->cost > 0;
    double power = stepped ? -1 : -0.12, factor;
    double steps = again && stepped && s->last.step > 0 ? s->x.step / s->last.step : 1;
    double tolerances = again && !stepped ? s->x.tolerance / s->last.tolerance : 1;
    if (fabs(log(tolerances)) > log(3)) power = log(cost / s->cost) / log(tolerances);
    if (fabs(log(steps)) > log(1.3)) power = log(cost / s->cost) / log(steps);
    if (steps > 1.3 && cost > s->cost && fmin(cost, s->least) > 1.1 * wanted_cost) s->dearer = true;
    power = stepped ? fmax(-2, fmin(-0.5, power)) : fmax(-1, fmin(-0.03, power));
    factor = pow(wanted_cost / cost, 1 / power);
    if (cost < s->least) s->least = cost, s->best = s->x;
    s->last = s->x, s->cost = cost;
    if (stepped)
        s->x.step *= fmax(0.05, fmin(2.5, factor));
    else if (s->x.tolerance <= tightest && cost < wanted_cost)
        s->x.step = mean_step * cost / wanted_cost; /* from here on the largest step spends what is left */
    else
        s->x.tolerance = fmax(tightest, fmin(loosest, s->x.tolerance * fmax(1e-4, fmin(1e4, factor))));
    if (s->last.tolerance >= loosest && cost > wanted_cost) s->dearer = true;
}

/* Until a run to `end` costs the same but for a part `within`, or rounds are over. */
static void calibrate(const lw_model *model, const char *problem, const way *w, search *s, double cost,
                      double end, long samples, int rounds, double within) {
    for (int round = 0; round < rounds && !s->dearer; round++) {
        result r = run(model, 0, w, s->x, end, samples, 20 * cost * end);
        double own = r.seconds / fmax(r.reached, 1e-3 * end);
        fprintf(stderr, "%s: %s %s, step %.3g, tolerance %.1e: %.3g s of %.3g, cost %.2f\n", problem,
                w->method, w->integrator, s->x.step, s->x.tolerance, r.reached, end, own / cost);
        if (fabs(own / cost - 1) < within) return;
        refine(s, w, own, cost, r.reached / (double)(r.run.steps > 0 ? r.run.steps : 1));
    }
}

/* --- the table ------------------------------------------------------------------------------------ */

static void power(char text[16], double x) {
    if (isnan(x))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.1e", x);
}

static void row(const endurance_case *c, const way *w, setting x, const result *r, double cost, double end,
                bool loops) {
    char set[48], energy[16], momentum[16], position[16], trend_text[16], note[96] = "";
    bool stopped = r->status == LW_ERROR_STOPPED, broken = r->status != LW_OK && !stopped;
    if (!w->by_tolerance)
        snprintf(set, sizeof set, "h = %.3g", x.step);
    else
        snprintf(set, sizeof set, x.step > 0 ? "tolerance %.1e, h <= %.3g" : "tolerance %.1e", x.tolerance,
                 x.step);
    bool seen = r->status == LW_OK || r->energy > 0; /* more than the start */
    power(energy, seen ? r->energy : NAN);
    power(momentum, seen && c->kept ? r->momentum : NAN);
    if (isnan(r->trend))
        snprintf(trend_text, sizeof trend_text, "-");
    else
        snprintf(trend_text, sizeof trend_text, "%.1f", r->trend);
    power(position, seen && (loops || r->position > 0) ? r->position : NAN);
    /* what broke down is compared with the same part of the scheme's run */
    double ratio = r->seconds / (broken ? cost * r->reached / end : cost);
    if (broken)
        snprintf(note, sizeof note, "breaks down after %.3g s, with an energy wrong by %.2g times itself",
                 r->reached, r->energy);
    else if (stopped)
        snprintf(note, sizeof note, "the cost is spent after %.3g of %.3g s; longer steps cost more",
                 r->reached, end);
    else if (fabs(ratio - 1) > like)
        snprintf(note, sizeof note, "cost differs");
    printf("| `%s` | %s | %s | %ld | %.3g | %.1f | %.2f | %s | %s | %s | %s | %s |\n", w->method,
           w->integrator, set, r->run.steps, r->reached, r->seconds, ratio, energy, momentum, position,
           trend_text, note);
    fflush(stdout);
    fprintf(stderr, "%s: %s %s, %s: %.1f s, cost %.2f %s\n", c->problem, w->method, w->integrator, set,
            r->seconds, ratio, note);
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

static bool kept(const endurance_case *c, const result *r, double walks) {
    return r->status == LW_OK && r->energy < wanted && (!c->kept || r->momentum < wanted) &&
           r->position < wanted && r->trend < walks;
}

/* One line of the table: a way at the cost of the scheme's own run. */
static void rival(const lw_model *model, const endurance_case *c, const way *w, const result *own, double end,
                  long samples, bool loops) {
    double cost = own->seconds / end, parts[2] = {50, 8};
    search s = {.x = w->by_tolerance ? (setting){0, 1e-8} : (setting){c->h, 0}, .least = HUGE_VAL};
    result r = {0}, next;
    setting x = s.x;
    for (int k = 0; k < 2; k++) {
        double part = fmax(end / parts[k], 500 * c->h);
        long seen = (long)ceil((double)samples * part / end);
        calibrate(model, c->problem, w, &s, cost, fmin(part, end), seen, k ? 2 : 10, k ? 0.04 : 0.03);
    }
    for (int round = 0; round < 3; round++) {
        setting now = s.dearer ? s.best : s.x;
        next = run(model, c->kept, w, now, end, samples, s.dearer ? own->seconds : 1.5 * own->seconds);
        bool whole = next.status == LW_OK || s.dearer;
        bool closer = round == 0 ||
                      (whole && fabs(log(next.seconds / own->seconds)) < fabs(log(r.seconds / own->seconds)));
        if (closer) r = next, x = now;
        if (s.dearer || (next.status != LW_OK && next.status != LW_ERROR_STOPPED)) break;
        if (next.status == LW_OK && fabs(next.seconds / own->seconds - 1) <= like) break;
        fprintf(stderr, "%s: %s %s costs %.2f of the scheme, again\n", c->problem, w->method, w->integrator,
                next.seconds / next.reached / cost);
        refine(&s, w, next.seconds / next.reached, cost, next.reached / (double)next.run.steps);
    }
    if (r.status != LW_OK && r.status != LW_ERROR_STOPPED &&
        r.reached > 0) { /* what happened until then, in full */
        next = run(model, c->kept, w, x, 0.995 * r.reached, SAMPLES, 0);
        r.energy = next.energy, r.momentum = next.momentum, r.position = next.position, r.trend = next.trend;
    }
    row(c, w, x, &r, own->seconds, end, loops);
}

static bool one_case(const endurance_case *c, bool quick) {
    static const way scheme = {"director", "energy-momentum", false};
    lw_model *model = read_model(c->problem);
    bool loops = lw_model_loop_count(model) > 0;
    long steps = quick ? c->steps / 200 : c->steps;
    double end = c->h * (double)steps, walks = quick ? 5 : walk; /* a test has to be surer */
    printf("### %s\n\n", c->title);
    printf(
        "| method | integrator | setting | steps | s of motion | s of processor | cost | energy | momentum | "
        "constraints | trend | |\n");
    printf("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    long samples = steps < SAMPLES ? steps : SAMPLES; /* where steps end */
    result own = run(model, c->kept, &scheme, (setting){c->h, 0}, end, samples, 0);
    row(c, &scheme, (setting){c->h, 0}, &own, own.seconds, end, loops);
    for (int k = 0; k < RIVALS && c->rivals[k].method && own.status == LW_OK; k++)
        rival(model, c, &c->rivals[k], &own, end, samples, loops);
    bool good = kept(c, &own, walks);
    printf("\n%s: energy, momentum and constraints below %.0e, trend below %.0f: %s.\n\n", c->title, wanted,
           walks, good ? "yes" : "**no**");
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
