/* cmd_compare.c - linkwork compare: every method on one model, side by side.
 */
#include "compare_call.h"
#include "compare_page.h"
#include "run_request.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The request on the command line; 0 and NULL mean that an option is not given. */
typedef struct request {
    run_request run;
    const char *methods, *sweep, *page;
    double budget;
    bool no_run;
    cli_changes changes;
} request;

/* --- options -------------------------------------------------------------------------------------- */

static int check_request(const cli_command *command, const request *asked) {
    const run_request *run = &asked->run;
    if (asked->sweep &&
        (run->end > 0 || run->step > 0 || run->tolerance > 0 || run->integrator || run->drift))
        return cli_say(
            command, CLI_WRONG,
            "--end, --step, --tol, --integrator and --drift are for the run, and --sweep makes none; "
            "leave them out");
    if (asked->sweep && asked->page)
        return cli_say(command, CLI_WRONG,
                       "--page shows one model, and --sweep has many; leave one of them out");
    return run_request_check(command, run, "compare.csv");
}

/* Splits "tree,lagrange" in place. */
static bool split_methods(char *text, cli_list *methods) {
    for (char *word = strtok(text, ", "); word; word = strtok(NULL, ", ")) {
        if (methods->count == CLI_LIST_MAX) return false;
        methods->items[methods->count++] = word;
    }
    return methods->count > 0;
}

static void override(lw_compare_options *options, const request *asked) {
    run_request_apply(&asked->run, &options->run);
    options->no_run = asked->no_run;
    options->patience = asked->budget;
}

/* --- progress ------------------------------------------------------------------------------------- */

bool compare_progress(const char *method, const char *work, void *context) {
    compare_call *call = context;
    if (call->bar.shown) {
        fprintf(stderr, "\r%s%s%s: %s\033[K", call->size, call->size[0] ? ", " : "", method, work);
        fflush(stderr);
        call->bar.drawn = true;
    }
    return !stop_wanted();
}

/* --- one model ------------------------------------------------------------------------------------ */

bool compare_applies(const lw_comparison *r) { return r->verdict != LW_VERDICT_REFUSED; }

bool compare_answers(const lw_comparison *r) {
    return compare_applies(r) && r->verdict != LW_VERDICT_FAILED && r->verdict != LW_VERDICT_DECLINED;
}

static bool ran(const lw_comparison *r) { return r->run.samples > 0; }

void compare_json_head(json *j, const lw_comparison *r) {
    json_text(j, "method", r->method);
    json_bool(j, "applies", compare_applies(r));
    json_text(j, "reason", r->reason[0] ? r->reason : NULL);
    json_number(j, "max_rel_diff", r->max_rel_diff);
    json_number(j, "ns_per_call", r->ns_per_call);
    json_bool(j, "reference", r->reference);
    json_bool(j, "exact", !(r->accuracy > 0));
}

static void print_json(const lw_comparison *results, int count) {
    json j;
    json_begin(&j, stdout);
    json_array(&j, NULL);
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        json_object(&j, NULL);
        compare_json_head(&j, r);
        json_bool(&j, "agrees", r->verdict == LW_VERDICT_AGREES);
        json_bool(&j, "declines", r->verdict == LW_VERDICT_DECLINED);
        json_number(&j, "balance", r->balance);
        json_number(&j, "allowed", r->allowed);
        json_number(&j, "reaction_diff", r->reaction_diff);
        json_number(&j, "condition", r->condition);
        json_integer(&j, "states", r->states);
        json_number(&j, "setup_s", r->setup_s);
        if (ran(r)) {
            json_text(&j, "integrator", r->run.integrator);
            json_bool(&j, "completed", r->run_status == LW_OK);
            json_bool(&j, "guide", r->guide);
            json_text(&j, "run_reason", r->run_reason[0] ? r->run_reason : NULL);
            json_number(&j, "t_end", r->run.t_end);
            json_integer(&j, "steps", r->run.steps);
            json_integer(&j, "evaluations", r->run.evaluations);
            json_number(&j, "wall_s", r->run.wall_s);
            json_number(&j, "drift_position", r->run.position_max);
            json_number(&j, "drift_velocity", r->run.velocity_max);
            json_number(&j, "energy_drift", r->run.energy_max_drift);
            json_number(&j, "final_diff", r->final_diff);
            json_number(&j, "final_allowed", r->final_allowed);
        }
        if (r->scheme_count) {
            json_array(&j, "reaction_schemes");
            for (int s = 0; s < r->scheme_count; s++) {
                json_object(&j, NULL);
                json_text(&j, "scheme", r->schemes[s].name);
                json_number(&j, "ns", r->schemes[s].ns);
                json_number(&j, "max_rel_diff", r->schemes[s].max_rel_diff);
                json_object_end(&j);
            }
            json_array_end(&j);
        }
        json_object_end(&j);
    }
    json_array_end(&j);
    json_end(&j);
}

/* The text "1.2e-16", or "-" for a number that was not measured. */
static const char *number(char text[16], double x) {
    if (isnan(x))
        snprintf(text, 16, "-");
    else
        snprintf(text, 16, "%.1e", x);
    return text;
}

const char *compare_time(char text[16], double ns) {
    if (isnan(ns))
        snprintf(text, 16, "-");
    else if (ns < 9995)
        snprintf(text, 16, "%.3g us", ns / 1e3);
    else if (ns < 9995e3)
        snprintf(text, 16, "%.4g us", round(ns / 1e3));
    else
        snprintf(text, 16, "%.3g ms", ns / 1e6);
    return text;
}

/* Prints reactions of loops and constraints by the schemes of blajer1994. */
static void print_schemes(const lw_comparison *r) {
    char t[2][16];
    if (r->scheme_count == 0) return;
    printf("\nreactions by scheme (method %s, beyond the accelerations)\n\n", r->method);
    printf("  %-20s %12s %9s\n", "scheme", "time", "diff.");
    for (int s = 0; s < r->scheme_count; s++)
        printf("  %-20s %12s %9s%s\n", r->schemes[s].name, compare_time(t[0], r->schemes[s].ns),
               s == 0 ? "reference" : number(t[1], r->schemes[s].max_rel_diff),
               isnan(r->schemes[s].ns) ? "  needs the inverse of the mass matrix" : "");
}

static void print_table(const lw_model *model, const lw_run_options *run, const lw_comparison *results,
                        int count) {
    char t[8][16];
    const char *reference = "none";
    int states = 0;
    for (int k = 0; k < count; k++)
        if (results[k].reference) reference = results[k].method, states = results[k].states;
    cli_shown name;
    const int bodies = lw_model_body_count(model), speeds = lw_model_v_size(model),
              loops = lw_model_loop_count(model), constraints = lw_model_constraint_count(model);
    printf("%s: %d bod%s, %d speed%s, %d loop%s, %d constraint%s; reference %s, %d state%s\n",
           cli_show(lw_model_name(model), &name), bodies, bodies == 1 ? "y" : "ies", speeds,
           speeds == 1 ? "" : "s", loops, loops == 1 ? "" : "s", constraints, constraints == 1 ? "" : "s",
           reference, states, states == 1 ? "" : "s");
    printf("\n  %-20s %12s %9s %9s %10s\n", "method", "time of a", "accel.", "reaction", "condition");
    printf("  %-20s %12s %9s %9s %10s\n", "", "call", "diff.", "diff.", "number");
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        if (!compare_applies(r)) {
            printf("  %-20s does not apply: %s\n", r->method, r->reason);
            continue;
        }
        printf("  %-20s %12s %9s %9s %10s  %s%s\n", r->method, compare_time(t[0], r->ns_per_call),
               r->reference ? "reference" : number(t[1], r->max_rel_diff),
               r->reference ? "" : number(t[2], r->reaction_diff), number(t[3], r->condition),
               r->verdict == LW_VERDICT_APPROXIMATE ? (r->reason[0] ? "approximate: " : "approximate")
               : r->verdict == LW_VERDICT_DIFFERS   ? "DIFFERS: "
               : r->verdict == LW_VERDICT_FAILED    ? "FAILED: "
               : r->verdict == LW_VERDICT_DECLINED  ? "declines: "
                                                    : "",
               r->reason);
    }
    for (int k = 0; k < count; k++) print_schemes(&results[k]);
    bool any = false;
    for (int k = 0; k < count; k++) any = any || ran(&results[k]);
    if (!any) return;
    printf("\nrun of %g s by %s, drift control %s\n\n", run->end - run->start, lw_run_integrator(run),
           run->drift ? run->drift : "project");
    printf("  %-20s %8s %9s %9s %9s %9s %9s\n", "method", "steps", "wall", "position", "velocity", "energy",
           "final");
    printf("  %-20s %8s %9s %9s %9s %9s %9s\n", "", "", "s", "drift", "drift", "drift, J", "diff.");
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        if (r->run_reason[0] && !ran(r)) printf("  %-20s did not start: %s\n", r->method, r->run_reason);
        if (!ran(r)) continue;
        printf("  %-20s %8ld %9.3g %9s %9s %9s %9s  %s\n", r->method, r->run.steps, r->run.wall_s,
               number(t[0], r->run.position_max), number(t[1], r->run.velocity_max),
               number(t[2], r->run.energy_max_drift), r->guide ? "guide" : number(t[3], r->final_diff),
               r->run_reason);
    }
}

static void put_csv_number(FILE *out, double x) {
    if (isnan(x))
        putc(',', out);
    else
        fprintf(out, ",%.6g", x);
}

static void print_csv(FILE *out, const lw_comparison *results, int count) {
    fprintf(out, "method,applies,exact,reference,ns_per_call,max_rel_diff,reaction_diff,allowed,condition,"
                 "setup_s,steps,"
                 "wall_s,drift_position,drift_velocity,energy_drift,final_diff,reason\n");
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        fprintf(out, "%s,%d,%d,%d", r->method, compare_applies(r), !(r->accuracy > 0), r->reference);
        const double numbers[] = {r->ns_per_call,
                                  r->max_rel_diff,
                                  r->reaction_diff,
                                  r->allowed,
                                  r->condition,
                                  r->setup_s,
                                  ran(r) ? (double)r->run.steps : NAN,
                                  r->run.wall_s,
                                  r->run.position_max,
                                  r->run.velocity_max,
                                  r->run.energy_max_drift,
                                  r->final_diff};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) put_csv_number(out, numbers[i]);
        fputs(",\"", out);
        for (const char *s = r->reason[0] ? r->reason : r->run_reason; *s; s++) {
            if (*s == '"') putc('"', out);
            putc(*s, out);
        }
        fputs("\"\n", out);
    }
}

int compare_write(const cli_command *command, const char *path, void (*print)(FILE *out, const void *what),
                  const void *what) {
    bool to_output = strcmp(path, "-") == 0;
    FILE *out = to_output ? stdout : fopen(path, "w");
    if (!out) return cli_say(command, CLI_FAILED, "%s could not be opened: %s", path, strerror(errno));
    print(out, what);
    bool bad = ferror(out) != 0;
    if (!to_output && fclose(out) != 0) bad = true;
    if (bad) return cli_say(command, CLI_FAILED, "%s could not be written: %s", path, strerror(errno));
    return CLI_DONE;
}

typedef struct one_model {
    const lw_comparison *results;
    int count;
} one_model;
static void print_one(FILE *out, const void *what) {
    const one_model *one = what;
    print_csv(out, one->results, one->count);
}

int compare_verdict(const cli_command *command, const char *where, const lw_comparison *results, int count) {
    int result = CLI_DONE, applicable = 0, answers = 0;
    for (int k = 0; k < count; k++)
        applicable += compare_applies(&results[k]), answers += compare_answers(&results[k]);
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = &results[k];
        bool nobody = !answers && r->verdict == LW_VERDICT_DECLINED;
        if (!lw_comparison_wrong(r) && !nobody) continue;
        bool run = r->verdict != LW_VERDICT_DIFFERS && r->verdict != LW_VERDICT_FAILED && !nobody;
        result = cli_say(command, CLI_FAILED, "%s%smethod %s: %s", where, run ? "run of " : "", r->method,
                         run ? r->run_reason : r->reason);
    }
    if (applicable == 0)
        result = cli_say(command, CLI_WRONG, "%snone of these methods applies to the model", where);
    return result;
}

static int compare_one(compare_call *call, const lw_model *model, const request *asked) {
    lw_comparison *results = calloc((size_t)lw_method_count(), sizeof *results);
    if (!results) return cli_say(call->command, CLI_FAILED, "out of memory");
    lw_compare_options options;
    lw_compare_defaults(model, &options);
    override(&options, asked);
    options.methods = call->methods.count ? call->methods.items : NULL;
    options.method_count = call->methods.count;
    options.observe = compare_progress;
    options.context = call;
    lw_error error = {0};
    int count, result;
    lw_status status = lw_compare(model, &options, results, &count, &error);
    progress_end(&call->bar);
    if (status != LW_OK) {
        result = cli_fault(call->command, status, &error);
    } else {
        bool to_output = asked->run.out && strcmp(asked->run.out, "-") == 0;
        const one_model one = {results, count};
        if (asked->run.as_json)
            print_json(results, count);
        else if (!to_output)
            print_table(model, &options.run, results, count);
        result = compare_verdict(call->command, "", results, count);
        int written =
            asked->run.out ? compare_write(call->command, asked->run.out, print_one, &one) : CLI_DONE;
        if (written != CLI_DONE) result = written;
        if (asked->page) {
            written = compare_page(call, asked->page, model, &options.run, results, count);
            if (written != CLI_DONE)
                result = written;
            else if (!asked->run.as_json && !to_output)
                printf("\nall on one page: %s/index.html\n", asked->page);
        }
    }
    free(results);
    return result;
}

/* --- the command ---------------------------------------------------------------------------------- */

static int compare(const cli_command *command, int argc, char **argv) {
    request asked = {0};
    const cli_option options[] = {
        {"method", "A,B", "only these methods; otherwise all", "tree,lagrange", .text = &asked.methods},
        {"end", "T", "until when each method runs, s; otherwise the model's, at most 1 s", "10",
         .number = &asked.run.end, .unit = "s"},
        {"tol", "R", "tolerance of the run", "1e-8", .number = &asked.run.tolerance, .unit = "1"},
        {"step", "H", "fixed step of the run, with rk4 if no other is named, s", "\"1 ms\"",
         .number = &asked.run.step, .unit = "s"},
        {"integrator", "NAME", "linkwork info lists them", "erk", .text = &asked.run.integrator},
        {"drift", "NAME", "how closed loops stay closed: project, baumgarte, none, closed", "project",
         .text = &asked.run.drift},
        {"no-run", NULL, "compare the initial state only", NULL, .flag = &asked.no_run},
        {"sweep", "NAME=A..B", "double a parameter from A to B and measure how times grow", "bodies=4..256",
         .text = &asked.sweep},
        {"budget", "S", "seconds that a method may take for its run, or for one size of a sweep; otherwise 5",
         "5", .number = &asked.budget, .unit = "s"},
        {"out", "FILE", "write the numbers there too, as .csv; - is standard output", "compare.csv",
         .text = &asked.run.out},
        {"page", "DIR", "a page with all of it and the mechanism moving, DIR/index.html", "compare",
         .text = &asked.page},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.run.as_json},
    };
    cli_model loaded;
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                       &loaded, &result)) {
        compare_call call = {.command = command, .bar = progress_start(true)};
        char *names = calloc(1, (asked.methods ? strlen(asked.methods) : 0) + 1);
        if (names && asked.methods) strcpy(names, asked.methods);
        result = names ? check_request(command, &asked) : cli_say(command, CLI_FAILED, "out of memory");
        if (result == CLI_DONE && asked.methods && !split_methods(names, &call.methods))
            result =
                cli_say(command, CLI_WRONG, "--method names no method; give e.g. --method tree,lagrange");
        stop_watch();
        if (result == CLI_DONE && asked.sweep)
            result = compare_sweep(
                &call, &loaded, &asked.changes,
                &(compare_sweep_request){asked.sweep, asked.budget, asked.run.out, asked.run.as_json});
        else if (result == CLI_DONE)
            result = compare_one(&call, loaded.model, &asked);
        free(names);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_compare = {
    "compare",
    "MODEL [options]",
    "every method on one model: difference, time, drift, condition, growth",
    "The reference is tree, lagrange or else the first exact method that has answers. Accelerations and\n"
    "unique components of reactions are compared at the initial state and at five more along the run of the\n"
    "guide, the first that comes to its end without doubts. Times are processor time of one call for\n"
    "accelerations, the median of batches. Then every method makes the run. Exit status 1: an answer that\n"
    "does not balance, or that of an exact method that differs by more than 1e-9 and than rounding "
    "explains;\n"
    "a run that ends further from the guide's than the tolerance explains, is doubtful, or fails. A method\n"
    "that tells why it has no answer, or why its run cannot go on, gives no wrong number.",
    compare,
    NULL};
