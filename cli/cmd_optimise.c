/* cmd_optimise.c - linkwork optimise: the parameters at which a measure is least or greatest.
 */
#include "json.h"
#include "load.h"
#include "progress.h"
#include "repeat_call.h"
#include "run_request.h"

#include <linkwork/optimise.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct request {
    run_request run;
    cli_list vary, measures, subject;
    const char *minimise, *maximise, *algorithm, *method;
    double runs, seed, jobs, failures, budget, output, population, restarts, precision;
    bool resume, quiet, as_json;
    cli_changes changes;
} request;

typedef struct searching {
    const request *asked;
    progress bar;
    uint64_t done;
} searching;

/* The options of a run as linkwork run has them from the same words. */
static void settle(lw_run_options *options, void *context) {
    const request *asked = context;
    run_request_apply(&asked->run, options);
    if (asked->method) options->method = asked->method;
    options->method = cli_method(options->method);
    if (asked->output > 0) options->output = asked->output;
}

static void take_row(const lw_sweep *sweep, const lw_sweep_row *row, void *context) {
    searching *s = context;
    (void)row;
    progress_runs(&s->bar, ++s->done, lw_sweep_count(sweep));
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

static void print_text(const request *asked, const lw_sweep *sweep, const lw_optimum *best,
                       const double *values, const char *path) {
    const int variables = lw_sweep_variable_count(sweep), measures = lw_sweep_measure_count(sweep);
    char name[1024];
    printf("%llu runs, %.3g s; ended by: %s\n", (unsigned long long)best->done, best->wall_s, best->ended);
    if (best->failed + best->doubtful + best->outside > 0)
        printf("  %llu failed, %llu doubtful, %llu outside of what must hold\n",
               (unsigned long long)best->failed, (unsigned long long)best->doubtful,
               (unsigned long long)best->outside);
    if (!best->found) {
        printf("no run has succeeded and keeps what must hold\n");
    } else {
        printf("best, run %llu:\n", (unsigned long long)best->run);
        for (int k = 0; k < variables + measures; k++) {
            const char *unit = lw_sweep_column_unit(sweep, k);
            lw_escape(lw_sweep_column_name(sweep, k), name, sizeof name);
            printf("  %-24s %18.10g%s%s\n", name, values[k], unit[0] ? " " : "", unit);
        }
        repeat_call_print(
            stdout, &(repeat_call){path, &asked->changes, &asked->run, asked->method, asked->output, false},
            sweep, values);
    }
    if (asked->run.out) printf("rows: %s\n", asked->run.out);
}

static void print_json(const lw_sweep *sweep, const lw_optimum *best, const double *values) {
    const int variables = lw_sweep_variable_count(sweep), measures = lw_sweep_measure_count(sweep);
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_integer(&j, "runs", (long)best->done);
    json_integer(&j, "failed", (long)best->failed);
    json_integer(&j, "doubtful", (long)best->doubtful);
    json_integer(&j, "outside", (long)best->outside);
    json_number(&j, "wall_s", best->wall_s);
    json_text(&j, "ended", best->ended);
    json_bool(&j, "converged", best->converged);
    json_bool(&j, "found", best->found);
    if (best->found) {
        json_integer(&j, "run", (long)best->run);
        json_number(&j, "value", best->value);
        json_object(&j, "variables");
        for (int k = 0; k < variables; k++) json_number(&j, lw_sweep_column_name(sweep, k), values[k]);
        json_object_end(&j);
        json_object(&j, "measures");
        for (int k = variables; k < variables + measures; k++)
            json_number(&j, lw_sweep_column_name(sweep, k), values[k]);
        json_object_end(&j);
    }
    json_object_end(&j);
    json_end(&j);
}

static int whole_number(const cli_command *command, const char *option, double value, double most) {
    if (value == floor(value) && value >= 0 && value <= most) return CLI_DONE;
    return cli_say(command, CLI_WRONG, "--%s: %g is no whole number from 0 to %g", option, value, most);
}

static int check(const cli_command *command, const request *asked) {
    int result = run_request_check(command, &asked->run, "rows.csv");
    if (result == CLI_DONE) result = whole_number(command, "runs", asked->runs, 1e9);
    if (result == CLI_DONE) result = whole_number(command, "seed", asked->seed, 9007199254740992.0);
    if (result == CLI_DONE) result = whole_number(command, "jobs", asked->jobs, 1024);
    if (result == CLI_DONE) result = whole_number(command, "population", asked->population, 4096);
    if (result == CLI_DONE) result = whole_number(command, "restarts", asked->restarts, 100);
    if (result == CLI_DONE) result = whole_number(command, "max-failures", asked->failures, 1e9);
    if (result == CLI_DONE && asked->resume && !asked->run.out)
        result = cli_say(command, CLI_WRONG, "--resume goes on with a file; name it by --out FILE");
    if (result == CLI_DONE && asked->vary.count == 0)
        result = cli_say(command, CLI_WRONG, "nothing varies; give bounds, e.g. --vary \"L = 1..2\"");
    if (result == CLI_DONE && !asked->minimise == !asked->maximise)
        result = cli_say(command, CLI_WRONG,
                         "give one measure, by --minimise or --maximise, e.g. --minimise \"max(kinetic)\"");
    return result;
}

static int run_search(const cli_command *command, const request *asked, lw_optimisation *optimisation,
                      const char *path) {
    static double values[64 + CLI_LIST_MAX * 2 + 1];
    searching s = {.asked = asked, .bar = progress_start(!asked->quiet)};
    const lw_sweep_call call = {.jobs = (int)asked->jobs,
                                .path = asked->run.out,
                                .resume = asked->resume,
                                .most_failures = (uint64_t)asked->failures,
                                .budget = asked->budget,
                                .row = take_row,
                                .interrupted = interrupted,
                                .context = &s};
    const lw_sweep *sweep = lw_optimise_sweep(optimisation);
    lw_optimum best;
    lw_error error = {0};
    stop_watch();
    const lw_status status = lw_optimise_run(optimisation, &call, &best, values, &error);
    progress_end(&s.bar);
    if (status != LW_OK && status != LW_ERROR_STOPPED) return cli_fault(command, status, &error);
    if (asked->as_json)
        print_json(sweep, &best, values);
    else if (!asked->quiet)
        print_text(asked, sweep, &best, values, path);
    if (status == LW_ERROR_STOPPED)
        return cli_say(command, CLI_FAILED, "stopped on request behind %llu runs%s",
                       (unsigned long long)best.done, asked->run.out ? "; --resume goes on" : "");
    return best.found ? CLI_DONE : CLI_FAILED;
}

static int optimise_model(const cli_command *command, const cli_model *loaded, request *asked) {
    const lw_optimise_options plan = {.vary = asked->vary.items,
                                      .vary_count = (size_t)asked->vary.count,
                                      .minimise = asked->minimise ? asked->minimise : asked->maximise,
                                      .maximise = asked->maximise != NULL,
                                      .subject = asked->subject.items,
                                      .subject_count = (size_t)asked->subject.count,
                                      .measures = asked->measures.items,
                                      .measure_count = (size_t)asked->measures.count,
                                      .algorithm = asked->algorithm,
                                      .runs = (uint64_t)asked->runs,
                                      .seed = (uint64_t)asked->seed,
                                      .population = (int)asked->population,
                                      .restarts = (int)asked->restarts,
                                      .tolerance = asked->precision,
                                      .settle = settle,
                                      .context = asked};
    lw_optimisation *optimisation = NULL;
    lw_error error = {0};
    const lw_status status = lw_optimise_create(loaded->spec, &plan, &optimisation, &error);
    const int result = status != LW_OK ? cli_fault(command, status, &error)
                                       : run_search(command, asked, optimisation, loaded->path);
    lw_optimise_destroy(optimisation);
    return result;
}

static int optimise_command(const cli_command *command, int argc, char **argv) {
    request asked = {.budget = 0};
    const cli_option options[] = {
        {"vary", "TEXT", "bounds of a parameter or input; may be repeated", "\"L = 1..2 from 1.3\"",
         .list = &asked.vary},
        {"minimise", "TEXT", "the measure whose least value is wanted", "\"range(toe)\"",
         .text = &asked.minimise},
        {"maximise", "TEXT", "the measure whose greatest value is wanted", "\"final(body.load.x)\"",
         .text = &asked.maximise},
        {"subject", "TEXT", "what must hold; may be repeated", "\"max(drive(J)) <= 40 N m\"",
         .list = &asked.subject},
        {"measure", "TEXT", "measured beside; may be repeated", "\"max(kinetic)\"", .list = &asked.measures},
        {"algorithm", "NAME", "cma (evolution, the default) or descent (by gradients)", "descent",
         .text = &asked.algorithm},
        {"runs", "N", "at most so many; 1000 unless given", "5000", .number = &asked.runs, .unit = "1"},
        {"seed", "S", "another number, other points of cma", "7", .number = &asked.seed, .unit = "1",
         .any_sign = true},
        {"population", "N", "points of cma at once; by the number of variables unless given", "20",
         .number = &asked.population, .unit = "1"},
        {"restarts", "N", "how often cma begins again elsewhere, with twice the population", "3",
         .number = &asked.restarts, .unit = "1"},
        {"precision", "R", "changes of variables that do not matter, of their range; 1e-8 unless given",
         "1e-4", .number = &asked.precision, .unit = "1"},
        {"jobs", "J", "threads; one for each processor unless given", "2", .number = &asked.jobs,
         .unit = "1"},
        {"out", "FILE", "write the rows there, as .csv or .h5 (HDF5)", "rows.csv", .text = &asked.run.out},
        {"resume", NULL, "go on with the file", NULL, .flag = &asked.resume},
        {"max-failures", "N", "stop behind so many failed runs", "1000", .number = &asked.failures,
         .unit = "1"},
        {"budget", "T", "stop after this time", "\"10 min\"", .number = &asked.budget, .unit = "s"},
        {"method", "NAME", "the formulation, or auto", "tree", .text = &asked.method},
        {"integrator", "NAME", "as of linkwork run", "bdf", .text = &asked.run.integrator},
        {"step", "H", "fixed step of rk4, largest step of the others, s", "\"1 ms\"",
         .number = &asked.run.step, .unit = "s"},
        {"tol", "R", "tolerance of the adaptive integrators", "1e-8", .number = &asked.run.tolerance,
         .unit = "1"},
        {"end", "T", "until when, s", "10", .number = &asked.run.end, .unit = "s"},
        {"drift", "NAME", "how closed loops stay closed: project, baumgarte, none, closed", "project",
         .text = &asked.run.drift},
        {"output", "DT", "time between two samples, s", "\"10 ms\"", .number = &asked.output, .unit = "s"},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.as_json},
        {"quiet", NULL, "print faults only", NULL, .flag = &asked.quiet},
    };
    cli_model loaded;
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                       &loaded, &result)) {
        result = check(command, &asked);
        if (result == CLI_DONE) result = optimise_model(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_optimise = {
    "optimise",
    "MODEL [options]",
    "parameters at which a measure is least or greatest",
    "Measures are those of linkwork sweep: max(Q), min, range, mean, rms, final, at(Q, TIME) ... of a "
    "quantity.\n"
    "cma takes noise, jumps, runs that fail, and --subject; descent needs far fewer runs where the measure "
    "is\n"
    "smooth. Runs that fail or are doubtful are never the best. Exit status 1 if no run is good.",
    optimise_command,
    NULL};
