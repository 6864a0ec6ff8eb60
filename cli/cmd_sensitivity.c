/* cmd_sensitivity.c - linkwork sensitivity: derivatives of a run with respect to parameters.
 */
#include "json.h"
#include "load.h"

#include <math.h>
#include <string.h>

typedef struct request {
    const char *method, *integrator, *record, *out;
    double end, output, tolerance, step;
    bool as_json;
    cli_list parameters;
    cli_changes changes;
} request;

static const double *place(const lw_sensitivity *s, const double *numbers, int sample, int parameter) {
    return numbers + ((size_t)sample * (size_t)s->parameters + (size_t)parameter) * (size_t)s->columns;
}

static void json_table(json *j, const char *key, const lw_sensitivity *s, const double *numbers, int stride,
                       int first) {
    json_array(j, key);
    for (int k = 0; k < s->samples; k++)
        json_numbers(j, NULL, numbers + (size_t)k * (size_t)stride + (size_t)first, s->columns);
    json_array_end(j);
}

static void print_json(const lw_sensitivity *s) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_numbers(&j, "t", s->t, s->samples);
    json_array(&j, "columns");
    for (int c = 0; c < s->columns; c++) json_text(&j, NULL, s->names[c]);
    json_array_end(&j);
    json_table(&j, "values", s, s->values, s->columns, 0);
    json_object(&j, "derivatives");
    for (int p = 0; p < s->parameters; p++)
        json_table(&j, s->parameter_names[p], s, s->derivatives, s->columns * s->parameters, p * s->columns);
    json_object_end(&j);
    json_object(&j, "differences");
    for (int p = 0; p < s->parameters; p++)
        json_table(&j, s->parameter_names[p], s, s->differences, s->columns * s->parameters, p * s->columns);
    json_object_end(&j);
    json_number(&j, "disagreement", s->disagreement);
    json_number(&j, "uncertainty", s->uncertainty);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_sensitivity *s) {
    const int last = s->samples - 1;
    printf("at t = %.9g s, per unit of the parameter; largest over the run in brackets\n\n  %-24s %14s",
           s->t[last], "", "value");
    for (int p = 0; p < s->parameters; p++) printf(" %30s", s->parameter_names[p]);
    printf("\n");
    for (int c = 0; c < s->columns; c++) {
        printf("  %-24s %14.7g", s->names[c], s->values[(size_t)last * (size_t)s->columns + (size_t)c]);
        for (int p = 0; p < s->parameters; p++) {
            double most = 0;
            for (int k = 0; k < s->samples; k++) most = fmax(most, fabs(place(s, s->derivatives, k, p)[c]));
            printf(" %15.8g (%12.6g)", place(s, s->derivatives, last, p)[c], most);
        }
        printf("\n");
    }
    printf("\ndifferences of runs agree to %.2g of the largest derivative of a column (%s), and are known to "
           "%.2g\n",
           s->disagreement, s->disagreement_column[0] ? s->disagreement_column : "all zero", s->uncertainty);
}

static int solve(const cli_command *command, const lw_model *model, const request *asked) {
    lw_sensitivity_options options;
    lw_sensitivity *sensitivity = NULL;
    lw_error error = {0};
    if (asked->parameters.count == 0)
        return cli_say(command, CLI_WRONG, "--parameter NAME says with respect to what; give at least one");
    lw_sensitivity_defaults(model, &options);
    if (asked->method) options.run.method = cli_method(asked->method);
    if (asked->integrator) options.run.integrator = asked->integrator;
    if (asked->tolerance > 0) options.run.tolerance = asked->tolerance;
    if (asked->step > 0) options.run.step = asked->step;
    if (!isnan(asked->end)) options.run.end = asked->end;
    options.run.output = asked->output > 0 ? asked->output : (options.run.end - options.run.start) / 100;
    options.parameters = asked->parameters.items, options.parameter_count = asked->parameters.count;
    options.record = asked->record;
    lw_status status = lw_sensitivity_find(model, &options, &sensitivity, &error);
    if (status == LW_OK && asked->out) status = lw_sensitivity_write(sensitivity, asked->out, &error);
    if (status == LW_OK) {
        if (asked->as_json)
            print_json(sensitivity);
        else if (!asked->out || strcmp(asked->out, "-") != 0)
            print_text(sensitivity);
    }
    lw_sensitivity_destroy(sensitivity);
    return status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
}

static int sensitivity(const cli_command *command, int argc, char **argv) {
    request asked = {.end = NAN};
    const cli_option options[] = {
        {"parameter", "NAME", "with respect to this parameter of the model; several if repeated", "length",
         .list = &asked.parameters},
        {"record", "LIST",
         "of what, as run records it; coordinates, speeds, user states, outputs if left out",
         "joint(*), reaction(pin)", .text = &asked.record},
        {"end", "T", "end of the run, s", "2", .number = &asked.end, .unit = "s"},
        {"output", "DT", "interval between samples, s; a hundredth of the run if left out", "0.01",
         .number = &asked.output, .unit = "s"},
        {"tol", "TOL", "tolerance of the runs; 1e-9 or the model's if left out", "1e-10",
         .number = &asked.tolerance, .unit = "1"},
        {"step", "H", "step of integrators with a fixed one, s", "1e-3", .number = &asked.step, .unit = "s"},
        {"method", "NAME", "the formulation; otherwise the model's own, or auto", "tree",
         .text = &asked.method},
        {"integrator", "NAME", "the integrator of the runs", "bdf", .text = &asked.integrator},
        {"out", "FILE", "write .csv; - for standard output", "gradients.csv", .text = &asked.out},
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
        const size_t length = asked.out ? strlen(asked.out) : 0;
        if (asked.out && strcmp(asked.out, "-") != 0 &&
            (length < 5 || strcmp(asked.out + length - 4, ".csv") != 0))
            result = cli_say(command, CLI_WRONG, "--out \"%s\": give a file that ends in .csv", asked.out);
        else if (asked.out && strcmp(asked.out, "-") == 0 && asked.as_json)
            result = cli_say(command, CLI_WRONG, "--out - and --json both want standard output; give a file");
        else
            result = solve(command, loaded.model, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_sensitivity = {
    "sensitivity",
    "MODEL [options]",
    "derivatives of a run with respect to parameters",
    "By the variational equations of the run, and once more by differences of runs with other values; where "
    "both\n"
    "disagree there is no answer. Parameters may enter anything, lengths and initial values too.",
    sensitivity,
    NULL};
