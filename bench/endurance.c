/* endurance.c - a million steps: what the energy-momentum scheme keeps, and what other methods keep at the same cost.
 *
 * Call: bench-endurance [--quick] [NAME ...]. Prints the tables of docs/endurance.md in Markdown, for all cases or those
 * named, and a line of progress on standard error for each run. Exit status 1: the energy-momentum scheme has not kept what it
 * should.
 *
 * Each case runs first by `director` with a fixed step h. The others cover the same time with the same processor time: those
 * with a fixed step get the step that this allows, those with a tolerance the tightest one (of whole powers of ten) that it
 * allows. Both are found on short runs before. Where a case has a share below one, the others cover only this part of the
 * time, at the same cost per time.
 *
 * Errors are the largest of about 1000 samples. Energy: what the books do not explain, over the energy at the start. Momentum:
 * change of the components that nothing changes, over the length of the vector at the start. Trend: slope of an error by least
 * squares, times the length of the run, in units of what a random walk with the same increments between samples would show:
 * for a Brownian path W on [0, 1] the slope has the variance 144 int int (s - 1/2)(t - 1/2) min(s, t) ds dt = 6/5. Increments
 * count as at least one rounding error for each step. A walk of rounding errors stays below 3; an error that grows steadily
 * reaches about sqrt(samples), 30.
 */
#define _POSIX_C_SOURCE 200809L /* setenv, execv, clock_gettime */
#include "timing.h"
#include <linkwork/linkwork.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 1000, RIVALS = 6 };
static const double wanted = 1e-10; /* of every error of the energy-momentum scheme */
static const double walk = 3;       /* of the trend: three standard deviations */

typedef struct way {
    const char *method, *integrator;
    bool by_tolerance;
} way;

typedef struct endurance_case {
    const char *problem, *title;
    double h;
    long steps;
    unsigned kept; /* bits 0 .. 2: momentum, 3 .. 5: angular momentum */
    double share;  /* of the time that the others cover */
    way rivals[RIVALS];
} endurance_case;

static const endurance_case cases[] = {
    {"gyro_top",
     "Heavy top",
     1e-3,
     1000000,
     0x20,
     1,
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
     0.1,
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
     1,
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
    double t[SAMPLES + 2], errors[7][SAMPLES + 2]; /* of the energy and of six momenta, over their scales */
    double energy_most, momentum_most, position_most;
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
        r->t[r->count] = sample->t;
        r->errors[0][r->count] = sample->ledger->unaccounted / r->energy_start;
        for (int k = 0; k < 6; k++) r->errors[1 + k][r->count] = (now[k] - r->momentum[k]) / r->scale[k / 3];
    }
    r->count++;
    r->energy_most = fmax(r->energy_most, fabs(sample->ledger->unaccounted) / r->energy_start);
    r->position_most = fmax(r->position_most, sample->position_violation);
    for (int k = 0; k < 6; k++)
        if (r->kept >> k & 1)
            r->momentum_most = fmax(r->momentum_most, fabs(now[k] - r->momentum[k]) / r->scale[k / 3]);
    return true;
}

/* Slope over what a random walk with these increments, or one rounding error a step, would show. */
static double trend_of(int n, const double *t, const double *e, long steps) {
    double mean_t = 0, mean_e = 0, stt = 0, ste = 0, increments = 0;
    for (int k = 0; k < n; k++) mean_t += t[k] / n, mean_e += e[k] / n;
    for (int k = 0; k < n; k++) {
        stt += (t[k] - mean_t) * (t[k] - mean_t);
        ste += (t[k] - mean_t) * (e[k] - mean_e);
        if (k > 0) increments += (e[k] - e[k - 1]) * (e[k] - e[k - 1]);
    }
    increments = fmax(increments, (double)steps * DBL_EPSILON * DBL_EPSILON);
    return fabs(ste / stt) * (t[n - 1] - t[0]) / sqrt(1.2 * increments);
}

static double trend(const record *r, long steps) {
    int n = r->count < SAMPLES + 2 ? r->count : SAMPLES + 2;
    if (n < 3) return NAN;
    double most = trend_of(n, r->t, r->errors[0], steps);
    for (int k = 0; k < 6; k++)
        if (r->kept >> k & 1) most = fmax(most, trend_of(n, r->t, r->errors[1 + k], steps));
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
    out.trend = trend(&r, out.run.steps);
    out.reached = out.run.t_end;
    return out;
}

/* --- the same cost -------------------------------------------------------------------------------- */

/* The step with which fixed-step way w costs `cost` per second of motion, from what its steps cost with h, and then with that
 * step: Newton's iterations grow with it. NaN: it does not get through with h. */
static double equal_step(const lw_model *model, const way *w, double h, double cost, double end) {
    double step = h;
    for (int pass = 0; pass < 2; pass++) {
        result r = run(model, 0, w, step, 0, end, 10);
        if (r.status != LW_OK) return pass ? step : NAN;
        step = r.seconds / (double)r.run.steps / cost;
    }
    return step;
}

static double equal_tolerance(const lw_model *model, const way *w, double cost, double end) {
    double tolerance = 1e-2;
    while (tolerance > 1e-13) {
        result r = run(model, 0, w, 0, 0.1 * tolerance, end, 10);
        if (r.status == LW_OK && r.seconds > cost * end) break;
        tolerance *= 0.1;
    }
    return tolerance;
}

/* --- the table ------------------------------------------------------------------------------------ */

static void power(char text[16], double x) {
    if (isnan(x))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.1e", x);
}

static void row(const endurance_case *c, const way *w, double step, double tolerance, const result *r,
                bool loops) {
    char setting[32], energy[16], momentum[16], position[16], trend_text[16];
    if (w->by_tolerance)
        snprintf(setting, sizeof setting, "tolerance %.0e", tolerance);
    else
        snprintf(setting, sizeof setting, "h = %.3g", step);
    power(energy, r->energy);
    power(momentum, c->kept ? r->momentum : NAN);
    if (isnan(r->trend))
        snprintf(trend_text, sizeof trend_text, "-");
    else
        snprintf(trend_text, sizeof trend_text, "%.1f", r->trend);
    power(position, loops || r->position > 0 ? r->position : NAN);
    printf("| `%s` | %s | %s | %ld | %.0f | %.1f | %s | %s | %s | %s |\n", w->method, w->integrator, setting,
           r->run.steps, r->reached, r->seconds, energy, momentum, position, trend_text);
    fflush(stdout);
    fprintf(stderr, "%s: %s %s %s: %.1f s\n", c->problem, w->method, w->integrator, setting, r->seconds);
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
    printf("| method | integrator | setting | steps | s of motion | s of processor | energy | momentum | "
           "constraints | trend |\n");
    printf("|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
    long samples = steps < SAMPLES ? steps : SAMPLES; /* where steps end */
    result own = run(model, c->kept, &scheme, c->h, 0, end, samples);
    row(c, &scheme, c->h, 0, &own, loops);
    double cost = own.seconds / end, part = c->share * end, short_end = fmax(part / 50, 500 * c->h);
    for (int k = 0; k < RIVALS && c->rivals[k].method && own.status == LW_OK; k++) {
        const way *w = &c->rivals[k];
        double step = w->by_tolerance ? 0 : equal_step(model, w, c->h, cost, short_end);
        double tolerance = w->by_tolerance ? equal_tolerance(model, w, cost, short_end) : 0;
        result r = {.status = LW_OK};
        if (isnan(step)) {
            printf("| `%s` | %s | fails with h = %g already | | | | | | | |\n", w->method, w->integrator,
                   c->h);
            continue;
        }
        r = run(model, c->kept, w, step, tolerance, part, samples);
        row(c, w, step, tolerance, &r, loops);
    }
    bool good = kept(c, &own);
    printf("\n%s: energy, momentum and constraints below %.0e, trend below %.0f: %s.\n\n", c->title, wanted,
           walk, good ? "yes" : "**no**");
    lw_model_destroy(model);
    return good;
}

/* LAPACK reads this before main: start once more with one thread. */
static void without_threads(char **argv) {
    if (getenv("BENCH_WITHOUT_THREADS")) return;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("BENCH_WITHOUT_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    bool quick = false, good = true, named = false;
    without_threads(argv);
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
