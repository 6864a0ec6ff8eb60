/* cmd_inverse.c - linkwork inverse: the forces of drives for a given motion.
 */
#include "json.h"
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *out, *record;
    double start, end, output, largest;
    bool as_json;
    cli_list drives, motions;
    cli_changes changes;
} request;

/* The motion as the command line gives it: expressions, and at most one file. */
typedef struct given {
    char *names[CLI_LIST_MAX];
    const char *expressions[CLI_LIST_MAX];
    int count;
    const char *file;
    lw_motion_table *motion;
} given;

static int split(const cli_command *command, const cli_list *texts, given *g) {
    for (int k = 0; k < texts->count; k++) {
        const char *text = texts->items[k], *equals = strchr(text, '=');
        if (!equals) {
            if (g->file)
                return cli_say(command, CLI_WRONG, "--motion: two files are given, %s and %s; give one",
                               g->file, text);
            g->file = text;
            continue;
        }
        char *name = malloc((size_t)(equals - text) + 1);
        if (!name) return cli_say(command, CLI_FAILED, "out of memory");
        memcpy(name, text, (size_t)(equals - text));
        name[equals - text] = 0;
        g->names[g->count] = name, g->expressions[g->count++] = equals + 1;
        if (!name[0] || !equals[1])
            return cli_say(command, CLI_WRONG,
                           "--motion \"%s\": give a coordinate and an expression of t, e.g. --motion "
                           "\"crank=30 deg*sin(3*t)\", or a file",
                           text);
    }
    return CLI_DONE;
}

static void print_json(const lw_inverse *v) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_numbers(&j, "t", v->t, v->samples);
    json_object(&j, "drives");
    double *column = malloc(((size_t)v->samples + 1) * sizeof *column);
    for (int d = 0; d < v->drives && column; d++) {
        for (int i = 0; i < v->samples; i++) column[i] = v->forces[(size_t)i * (size_t)v->drives + (size_t)d];
        json_object(&j, v->names[d]);
        json_text(&j, "unit", v->units[d]);
        json_bool(&j, "unique", v->unique[d]);
        json_numbers(&j, "force", column, v->samples);
        json_object_end(&j);
    }
    free(column);
    json_object_end(&j);
    json_object(&j, "moved");
    json_number(&j, "position", v->moved[0]);
    json_number(&j, "speed", v->moved[1]);
    json_number(&j, "acceleration", v->moved[2]);
    json_object_end(&j);
    json_number(&j, "differences", v->differences);
    json_number(&j, "balance_max", v->balance);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_inverse *v) {
    printf("%d instants, t = %.9g .. %.9g s\n\n  %-24s %15s %15s %15s %15s\n", v->samples, v->t[0],
           v->t[v->samples - 1], "", "at the start", "at the end", "least", "largest");
    bool all = true;
    for (int d = 0; d < v->drives; d++) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (int i = 0; i < v->samples; i++) {
            const double force = v->forces[(size_t)i * (size_t)v->drives + (size_t)d];
            least = fmin(least, force), most = fmax(most, force);
        }
        printf("  %-24s %15.9g %15.9g %15.9g %15.9g %s%s\n", v->names[d], v->forces[d],
               v->forces[(size_t)(v->samples - 1) * (size_t)v->drives + (size_t)d], least, most, v->units[d],
               v->unique[d] ? "" : " *");
        all = all && v->unique[d];
    }
    if (!all)
        printf("  * not unique: several drives share what one could do; these are the smallest forces\n");
}

static void tell(const cli_command *command, const lw_inverse *v) {
    static const char *const what[] = {
        "positions were moved by up to %.3g (rad, or of the longest arm) onto the "
        "closures, at t = %.9g s most at %s",
        "speeds were changed by up to %.3g of the largest, at t = %.9g s most at %s",
        "accelerations were changed by up to %.3g of the largest, at t = %.9g s most "
        "at %s"};
    for (int level = 0; level < 3; level++)
        if (v->moved[level] > 1e-8) { /* rounding of files with fewer digits */
            char text[256];
            snprintf(text, sizeof text, what[level], v->moved[level], v->moved_at[level],
                     v->moved_name[level]);
            cli_say(command, 0, "note: the given motion is not exactly one of the mechanism: %s", text);
        }
    if (v->differences > 1e-8)
        cli_say(command, 0,
                "note: rates that the motion does not give are differences of its rows, uncertain by about "
                "%.1g of "
                "the largest",
                v->differences);
}

/* The columns of the file: forces first. */
static char *record_of(const lw_inverse *v, const char *record) {
    size_t size = 64 + (record ? strlen(record) : 0);
    for (int d = 0; d < v->drives; d++) size += strlen(v->names[d]) + 16;
    char *text = malloc(size), *at = text;
    if (!text) return NULL;
    for (int d = 0; d < v->drives; d++)
        if (v->input_of[d] >= 0)
            at += sprintf(at, "%sforce(%s)", at == text ? "" : ", ", v->names[d]);
        else { /* All of a joint are one item. */
            const int length = (int)strcspn(v->names[d], ".");
            at += sprintf(at, "%sdrive(%.*s)", at == text ? "" : ", ", length, v->names[d]);
        }
    sprintf(at, "%s%s", at == text ? "" : ", ", record ? record : "joint(*), accelerations(*)");
    return text;
}

static int write_file(const cli_command *command, const request *asked, const lw_inverse *v) {
    lw_error error = {0};
    lw_results *results = NULL;
    char *record = record_of(v, asked->record);
    double *inputs = cli_numbers(command, lw_model_input_count(v->model) + 1);
    if (!record || !inputs) {
        free(record);
        free(inputs);
        return CLI_FAILED;
    }
    const lw_results_options options = {.path = asked->out,
                                        .record = record,
                                        .method = "inverse",
                                        .start = v->t[0],
                                        .end = v->t[v->samples - 1],
                                        .settings = asked->changes.settings.items,
                                        .setting_count = (size_t)asked->changes.settings.count};
    lw_status status = lw_results_open(v->model, &options, &results, &error);
    for (int k = 0; k < v->samples && status == LW_OK; k++) {
        lw_sample sample;
        lw_ledger ledger;
        status = lw_inverse_sample(v, k, inputs, &ledger, &sample);
        if (status == LW_OK) status = lw_results_write(results, &sample);
    }
    const lw_status closed = results ? lw_results_close(results, NULL, &error) : LW_OK;
    if (status == LW_OK) status = closed;
    free(record);
    free(inputs);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    const lw_model *model = loaded->model;
    given g = {0};
    lw_error error = {0};
    lw_inverse_options options;
    lw_inverse *inverse = NULL;
    lw_status status = LW_OK;
    int result = split(command, &asked->motions, &g);
    lw_inverse_defaults(model, &options);
    if (result == CLI_DONE && (!isnan(asked->start) || asked->end > 0 || asked->output > 0) && g.file)
        result = cli_say(command, CLI_WRONG,
                         "--start, --end and --output say the times of expressions; those of %s are its rows",
                         g.file);
    if (!isnan(asked->start)) options.start = asked->start;
    if (asked->end > 0) options.end = asked->end;
    if (asked->output > 0) options.output = asked->output;
    if (asked->largest > 0) options.largest = asked->largest;
    if (result == CLI_DONE && g.file) status = lw_motion_table_read(g.file, model, &g.motion, &error);
    if (result == CLI_DONE && status == LW_OK) {
        options.motion = g.motion;
        options.coordinates = (const char *const *)g.names, options.expressions = g.expressions;
        options.coordinate_count = g.count;
        if (asked->drives.count > 0) options.drives = asked->drives.items;
        options.drive_count = asked->drives.count;
        options.want_reactions = asked->out != NULL;
        status = lw_inverse_find(model, &options, &inverse, &error);
    }
    if (status != LW_OK) result = cli_fault(command, status, &error);
    if (result == CLI_DONE) {
        tell(command, inverse);
        if (asked->out) result = write_file(command, asked, inverse);
        if (result == CLI_DONE && asked->as_json)
            print_json(inverse);
        else if (result == CLI_DONE && !(asked->out && strcmp(asked->out, "-") == 0))
            print_text(inverse);
    }
    lw_inverse_destroy(inverse);
    lw_motion_table_destroy(g.motion);
    for (int k = 0; k < g.count; k++) free(g.names[k]);
    return result;
}

static int inverse(const cli_command *command, int argc, char **argv) {
    request asked = {.start = NAN};
    const cli_option options[] = {
        {"motion", "NAME=EXPR|FILE", "a coordinate as an expression of t; or a file with columns over time",
         "crank=30 deg*sin(3*t)", .list = &asked.motions},
        {"drive", "NAME", "a drive, joint or coordinate whose force is sought; all drives if left out",
         "motor", .list = &asked.drives},
        {"start", "T", "the first time, s", "0", .number = &asked.start, .unit = "s", .any_sign = true},
        {"end", "T", "the last time, s", "2", .number = &asked.end, .unit = "s"},
        {"output", "DT", "the interval between times, s", "1 ms", .number = &asked.output, .unit = "s"},
        {"allow-change", "X", "how far the motion may be moved onto the closures: rad, or of the longest arm",
         "0.01", .number = &asked.largest},
        {"out", "FILE", "write forces and motion: .csv or .h5; - is standard output", "forces.csv",
         .text = &asked.out},
        {"record", "LIST", "what the file has besides the forces", "joint, reaction", .text = &asked.record},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.as_json},
    };
    cli_model loaded;
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                       &loaded, &result)) {
        if (asked.out && strcmp(asked.out, "-") == 0 && asked.as_json)
            result = cli_say(command, CLI_WRONG, "--out - and --json both want standard output; give a file");
        else
            result = solve(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_inverse = {
    "inverse",
    "MODEL [options]",
    "forces of drives for a given motion",
    "The motion is that of --motion, or without it what the model prescribes. It is brought onto the "
    "closures of\n"
    "loops; what it does not say has to follow from them. Force laws of the drives do not count.",
    inverse,
    NULL};
