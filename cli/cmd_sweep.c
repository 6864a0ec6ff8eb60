/* cmd_sweep.c - linkwork sweep: many runs of one model with other values of its parameters.
 */
#include "load.h"
#include "progress.h"
#include "repeat_call.h"
#include "run_request.h"
#include "sweep_execute.h"
#include "sweep_page.h"
#include "sweep_summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    run_request run;
    cli_list vary, measures, correlations;
    const char *design, *method, *plan, *page;
    double runs, seed, jobs, failures, budget, output, motions;
    bool resume, dry, quiet, as_json, lanes;
    cli_changes changes;
    const cli_command *command;
    const char *path; /* of the model */
} request;

typedef struct sweeping {
    const cli_command *command;
    const request *asked;
    const lw_sweep *sweep;
    progress bar;
    sweep_rows rows;
    uint64_t done;
} sweeping;

/* The options of a run as linkwork run has them from the same words. */
static void settle(lw_run_options *options, void *context) {
    const request *asked = context;
    run_request_apply(&asked->run, options);
    if (asked->method) options->method = asked->method;
    options->method = cli_method(options->method);
    if (asked->output > 0) options->output = asked->output;
}

/* The model with other files of its parts. */
static lw_status read_other(const char *const *names, const char *const *files, size_t count, lw_spec **spec,
                            lw_error *error, void *context) {
    const request *asked = context;
    cli_changes changes = asked->changes;
    char *texts[CLI_LIST_MAX] = {NULL};
    cli_model other = {0};
    lw_status status = LW_OK;
    *spec = NULL;
    for (size_t k = 0; k < count && status == LW_OK; k++) {
        const size_t size = strlen(names[k]) + strlen(files[k]) + 2;
        if (changes.settings.count < CLI_LIST_MAX) texts[k] = malloc(size);
        if (!texts[k]) {
            status = LW_ERROR_MEMORY;
            break;
        }
        snprintf(texts[k], size, "%s=%s", names[k], files[k]);
        changes.settings.items[changes.settings.count++] = texts[k];
    }
    if (status == LW_OK && cli_load(asked->command, asked->path, &changes, &other) != CLI_DONE) {
        status = LW_ERROR_MODEL;
        for (size_t k = lw_report_size(other.report); k-- > 0;)
            if (lw_report_get(other.report, k)->severity == LW_SEVERITY_ERROR)
                *error = *lw_report_get(other.report, k);
    }
    if (status == LW_OK) *spec = other.spec, other.spec = NULL;
    cli_close_model(&other);
    for (size_t k = 0; k < count; k++) free(texts[k]);
    return status;
}

static void take_row(const lw_sweep *sweep, const lw_sweep_row *row, void *context) {
    sweeping *s = context;
    s->done++;
    sweep_rows_add(&s->rows, row);
    progress_runs(&s->bar, s->done, lw_sweep_count(sweep));
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

/* The call that repeats a run. */
static void print_repeat(FILE *out, const sweeping *s, uint64_t run, const char *path) {
    const request *asked = s->asked;
    const repeat_call call = {path, &asked->changes, &asked->run, asked->method, asked->output, asked->lanes};
    double values[64];
    if (lw_sweep_values(s->sweep, run, values) == LW_OK) repeat_call_print(out, &call, s->sweep, values);
}

static void print_text(FILE *out, const sweeping *s, const lw_sweep_summary *summary, const char *path) {
    fprintf(out, "%llu of %llu runs: %llu ok, %llu doubtful, %llu failed; %.3g s",
            (unsigned long long)summary->done, (unsigned long long)lw_sweep_count(s->sweep),
            (unsigned long long)(summary->done - summary->doubtful - summary->failed),
            (unsigned long long)summary->doubtful, (unsigned long long)summary->failed, summary->wall_s);
    fprintf(out, summary->wall_s > 0 ? ", %.4g runs per s\n" : "\n", (double)summary->done / summary->wall_s);
    if (summary->stopped) fprintf(out, "  stopped before the end: %s\n", summary->stopped);
    if (summary->failed > 0) {
        fprintf(out, "  the first that failed is run %llu:\n", (unsigned long long)summary->first_failed);
        print_repeat(out, s, summary->first_failed, path);
    }
    if (summary->doubtful > 0) {
        fprintf(out, "  the first doubtful one is run %llu:\n", (unsigned long long)summary->first_doubtful);
        print_repeat(out, s, summary->first_doubtful, path);
    }
    if (s->rows.no_memory) fprintf(out, "  the summary lacks rows, for which memory was out\n");
    sweep_summary_print(out, &s->rows);
    if (s->asked->run.out)
        fprintf(out, "\nrows: %s\n", s->asked->run.out);
    else
        fprintf(out, "\nno file of rows; --out FILE.csv or FILE.h5 writes one\n");
}

static void print_json(const sweeping *s, const lw_sweep_summary *summary) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_integer(&j, "runs", (long)lw_sweep_count(s->sweep));
    json_integer(&j, "done", (long)summary->done);
    json_integer(&j, "ok", (long)(summary->done - summary->doubtful - summary->failed));
    json_integer(&j, "doubtful", (long)summary->doubtful);
    json_integer(&j, "failed", (long)summary->failed);
    json_number(&j, "wall_s", summary->wall_s);
    json_text(&j, "stopped", summary->stopped);
    json_array(&j, "variables");
    for (int k = 0; k < lw_sweep_variable_count(s->sweep); k++)
        json_text(&j, NULL, lw_sweep_column_name(s->sweep, k));
    json_array_end(&j);
    sweep_summary_json(&j, &s->rows);
    json_object_end(&j);
    json_end(&j);
}

/* Shows the first and last runs of the design. */
static void print_design(const lw_sweep *sweep) {
    const uint64_t count = lw_sweep_count(sweep), shown = 12;
    printf("%llu runs\n%10s", (unsigned long long)count, "run");
    for (int k = 0; k < lw_sweep_variable_count(sweep); k++) {
        char name[1024];
        lw_escape(lw_sweep_column_name(sweep, k), name, sizeof name);
        printf("  %14s", name);
    }
    printf("\n");
    for (uint64_t run = 0; run < count; run++) {
        double values[64];
        if (run == shown && count > 2 * shown) {
            printf("%10s\n", "...");
            run = count - shown;
        }
        (void)lw_sweep_values(sweep, run, values);
        printf("%10llu", (unsigned long long)run);
        for (int k = 0; k < lw_sweep_variable_count(sweep); k++) {
            const char *text = lw_sweep_text(sweep, k, values[k]);
            char shown_text[256];
            if (text) lw_escape(text, shown_text, sizeof shown_text);
            text ? printf("  %14s", shown_text) : printf("  %14.8g", values[k]);
        }
        printf("\n");
    }
}

static int whole_number(const cli_command *command, const char *option, double value, double most) {
    if (value == floor(value) && value >= 0 && value <= most) return CLI_DONE;
    return cli_say(command, CLI_WRONG, "--%s: %g is no whole number from 0 to %g", option, value, most);
}

static int check(const cli_command *command, request *asked) {
    int result = run_request_check(command, &asked->run, "rows.csv");
    if (result == CLI_DONE) result = whole_number(command, "runs", asked->runs, 1e12);
    if (result == CLI_DONE) result = whole_number(command, "seed", asked->seed, 9007199254740992.0);
    if (result == CLI_DONE) result = whole_number(command, "jobs", asked->jobs, 1024);
    if (result == CLI_DONE) result = whole_number(command, "motions", asked->motions, 1e5);
    if (result == CLI_DONE && asked->motions > 0 && !asked->page)
        result = cli_say(command, CLI_WRONG, "--motions are those of a page; name it by --page FILE.html");
    if (result == CLI_DONE) result = whole_number(command, "max-failures", asked->failures, 1e9);
    if (result == CLI_DONE && asked->resume && !asked->run.out)
        result = cli_say(command, CLI_WRONG, "--resume goes on with a file; name it by --out FILE");
    if (result == CLI_DONE && asked->page) result = sweep_page_check(command, asked->page);
    if (result == CLI_DONE && asked->vary.count == 0 && !asked->plan)
        result = cli_say(command, CLI_WRONG, "nothing varies; give e.g. --vary \"L = 1..2 : 11\"");
    if (result == CLI_DONE && asked->plan &&
        asked->vary.count + asked->measures.count + asked->correlations.count > 0)
        result =
            cli_say(command, CLI_WRONG,
                    "--plan says what varies and is measured; leave --vary, --measure and --correlate away");
    return result;
}

static int run_sweep(const cli_command *command, const request *asked, const lw_sweep *sweep,
                     const char *path) {
    sweeping s = {
        .command = command,
        .asked = asked,
        .sweep = sweep,
        .bar = progress_start(!asked->quiet),
        .rows = {.sweep = sweep, .columns = lw_sweep_variable_count(sweep) + lw_sweep_measure_count(sweep)}};
    const lw_sweep_call call = {.jobs = (int)asked->jobs,
                                .path = asked->run.out,
                                .resume = asked->resume,
                                .most_failures = (uint64_t)asked->failures,
                                .budget = asked->budget,
                                .row = take_row,
                                .interrupted = interrupted,
                                .context = &s};
    lw_sweep_summary summary;
    lw_error error = {0};
    stop_watch();
    bool silent;
    const lw_status status = sweep_execute(sweep, &call, &summary, &silent, &error);
    progress_end(&s.bar);
    if (silent) {
        sweep_rows_free(&s.rows);
        return CLI_DONE;
    }
    int result = CLI_DONE;
    if (status != LW_OK && status != LW_ERROR_STOPPED) result = cli_fault(command, status, &error);
    if (result == CLI_DONE && asked->as_json)
        print_json(&s, &summary);
    else if (result == CLI_DONE && !asked->quiet)
        print_text(stdout, &s, &summary, path);
    const size_t motions = asked->motions > 0 ? (size_t)asked->motions : 40;
    if (status == LW_OK && result == CLI_DONE && asked->page && s.rows.count > 0)
        result = sweep_rows_sort(&s.rows)
                     ? sweep_page_write(
                           command, &(sweep_page){.path = asked->page, .rows = &s.rows, .motions = motions})
                     : cli_say(command, CLI_FAILED, "out of memory");
    if (status == LW_ERROR_STOPPED)
        result = cli_say(command, CLI_FAILED, "stopped on request behind %llu of %llu runs%s",
                         (unsigned long long)summary.done, (unsigned long long)lw_sweep_count(sweep),
                         asked->run.out ? "; --resume goes on" : "");
    else if (result == CLI_DONE &&
             (summary.stopped || (summary.failed > 0 && summary.failed == summary.done)))
        result = CLI_FAILED;
    sweep_rows_free(&s.rows);
    return result;
}

/* The plan of a file; --runs, --seed and --design prevail. */
static int read_plan(const cli_command *command, const request *asked, lw_sweep_plan **file,
                     lw_sweep_options *plan) {
    lw_report *report = lw_report_create();
    if (!report) return cli_say(command, CLI_FAILED, "out of memory");
    const lw_sweep_options given = *plan;
    const lw_status status = lw_sweep_plan_read(asked->plan, report, file);
    cli_tell(report);
    lw_report_destroy(report);
    if (status != LW_OK) return status == LW_ERROR_MEMORY ? CLI_FAILED : CLI_WRONG;
    *plan = *lw_sweep_plan_options(*file);
    if (asked->runs > 0) plan->draws = given.draws;
    if (asked->seed > 0) plan->seed = given.seed;
    if (asked->design) plan->design = given.design;
    return CLI_DONE;
}

static int sweep_model(const cli_command *command, const cli_model *loaded, request *asked) {
    lw_sweep_options plan = {.vary = asked->vary.items,
                             .vary_count = (size_t)asked->vary.count,
                             .measures = asked->measures.items,
                             .measure_count = (size_t)asked->measures.count,
                             .correlations = asked->correlations.items,
                             .correlation_count = (size_t)asked->correlations.count,
                             .design = asked->design,
                             .draws = (uint64_t)asked->runs,
                             .seed = (uint64_t)asked->seed};
    lw_sweep_plan *file = NULL;
    lw_sweep *sweep = NULL;
    lw_error error = {0};
    int result = asked->plan ? read_plan(command, asked, &file, &plan) : CLI_DONE;
    if (result == CLI_DONE) {
        plan.settle = settle, plan.context = asked, plan.lanes = asked->lanes;
        plan.read = read_other, asked->command = command, asked->path = loaded->path;
        const lw_status status = lw_sweep_create(loaded->spec, &plan, &sweep, &error);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    if (result == CLI_DONE && asked->dry)
        print_design(sweep);
    else if (result == CLI_DONE)
        result = run_sweep(command, asked, sweep, loaded->path);
    lw_sweep_destroy(sweep);
    lw_sweep_plan_destroy(file);
    return result;
}

static int sweep_command(const cli_command *command, int argc, char **argv) {
    request asked = {.budget = 0};
    const cli_option options[] = {
        {"vary", "TEXT", "what varies, and how; may be repeated: grids multiply", "\"L = 1..2 : 11\"",
         .list = &asked.vary},
        {"measure", "TEXT", "what is measured of every run; may be repeated", "\"max(kinetic)\"",
         .list = &asked.measures},
        {"plan", "FILE", "a file (YAML) with the keys vary, measure, runs, seed, design, correlate instead",
         "plan.yaml", .text = &asked.plan},
        {"runs", "N", "how often to draw what varies by ~, for each point of the grids", "1000",
         .number = &asked.runs, .unit = "1"},
        {"seed", "S", "another number, other draws; 0 unless given", "7", .number = &asked.seed, .unit = "1",
         .any_sign = true},
        {"design", "NAME", "how to draw: random, latin, sobol, saltelli (for Sobol' indices)", "latin",
         .text = &asked.design},
        {"correlate", "TEXT", "the correlation of two that are drawn", "\"L, k = 0.5\"",
         .list = &asked.correlations},
        {"lanes", NULL, "neighbouring runs side by side in vectors: trees by rk4 with a fixed step (--step)",
         NULL, .flag = &asked.lanes},
        {"jobs", "J", "threads; one for each processor unless given", "2", .number = &asked.jobs,
         .unit = "1"},
        {"out", "FILE", "write the rows there, as .csv or .h5 (HDF5)", "rows.csv", .text = &asked.run.out},
        {"page", "FILE", "draw the rows on a page, with motions of some runs beside it", "rows.html",
         .text = &asked.page},
        {"motions", "N", "how many runs of the page have a motion at most; 40 unless given", "1000",
         .number = &asked.motions, .unit = "1"},
        {"resume", NULL, "go on with the file", NULL, .flag = &asked.resume},
        {"dry-run", NULL, "show the design and run nothing", NULL, .flag = &asked.dry},
        {"max-failures", "N", "stop behind so many failed runs", "10", .number = &asked.failures,
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
        if (result == CLI_DONE) result = sweep_model(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_sweep = {
    "sweep",
    "MODEL [options]",
    "many runs with other parameters",
    "--vary:    \"L = 1..2 : 11\" (\"1..100 : 5 log\"), \"L = 1, 2, 5\", \"L, k from values.csv\",\n"
    "           \"k ~ normal(2e4, 1e3)\", uniform(1, 2), lognormal(2e4, 0.1), triangular(1, 1.2, 2),\n"
    "           \"method = rcr, lagrange\", integrator, begin, \"use(PART) = a.yaml, b.yaml\"\n"
    "--measure: max, min, range, mean, rms, final, initial (of a quantity), at(Q, TIME), settle(Q, "
    "DIFFERENCE),\n"
    "           overshoot(Q), time(EVENT); \"peak = max(kinetic)\" names it\n"
    "A row is a function of the model, the plan, the seed and its number, whatever computes it. A run that\n"
    "fails is a row with its reason; exit status 1 if all have failed.",
    sweep_command,
    NULL};
