/* cmd_linearise.c - linkwork linearise: A, B, C, D and eigenvalues of a mechanism near a state.
 */
#include "analysis_state.h"
#include "linearise_curves.h"

#include <math.h>
#include <string.h>

typedef struct request {
    const char *method, *out, *vary;
    double at, from, to, points;
    bool equilibrium, as_json;
    cli_list coordinates;
    cli_changes changes;
} request;

static void json_matrix(json *j, const char *key, int rows, int columns, const double *matrix) {
    json_array(j, key);
    for (int i = 0; i < rows; i++) json_numbers(j, NULL, matrix + (size_t)i * (size_t)columns, columns);
    json_array_end(j);
}

static void json_texts(json *j, const char *key, int count, const char *const *texts) {
    json_array(j, key);
    for (int k = 0; k < count; k++) json_text(j, NULL, texts[k]);
    json_array_end(j);
}

static void print_json(const lw_linear_system *s) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_number(&j, "t", s->t);
    json_texts(&j, "states", s->states, s->state_names);
    json_texts(&j, "inputs", s->inputs, s->input_names);
    json_texts(&j, "outputs", s->outputs, s->output_names);
    json_matrix(&j, "A", s->states, s->states, s->A);
    json_matrix(&j, "B", s->states, s->inputs, s->B);
    json_matrix(&j, "C", s->outputs, s->states, s->C);
    json_matrix(&j, "D", s->outputs, s->inputs, s->D);
    json_matrix(&j, "eigenvalues", s->states, 2, s->eigenvalues);
    json_numbers(&j, "rates", s->rates, s->states);
    json_integer(&j, "first_order", s->first_order);
    json_integer(&j, "algebraic", s->algebraic);
    json_integer(&j, "controllable", s->controllable);
    json_integer(&j, "observable", s->observable);
    json_object_end(&j);
    json_end(&j);
}

static void print_matrix(const char *name, int rows, const char *const *row_names, int columns,
                         const double *matrix) {
    if (rows == 0 || columns == 0) return;
    printf("\n%s\n", name);
    for (int i = 0; i < rows; i++) {
        printf("  %-20s", row_names[i]);
        for (int j = 0; j < columns; j++)
            printf(" %13.6g", matrix[(size_t)i * (size_t)columns + (size_t)j] + 0.0);
        printf("\n");
    }
}

static void print_text(const lw_linear_system *s) {
    double most = 0;
    int at = -1;
    for (int k = 0; k < s->states; k++)
        if (fabs(s->rates[k]) > most) most = fabs(s->rates[k]), at = k;
    printf("t = %.9g s; %d states: %d coordinates, %d speeds, %d user states; %d inputs, %d outputs\n", s->t,
           s->states, s->coordinates, s->speeds, s->user_states, s->inputs, s->outputs);
    if (s->first_order + s->algebraic > 0)
        printf("motions that move no mass: %d with dampers, of first order; %d held by springs alone\n",
               s->first_order, s->algebraic);
    if (most > 1e-8) /* What the linear system leaves out; small against 1 where a position was found. */
        printf("the state moves: %s changes by %.6g per second, and A to D are those of this instant\n",
               s->state_names[at], most);
    print_matrix("A", s->states, s->state_names, s->states, s->A);
    print_matrix("B", s->states, s->state_names, s->inputs, s->B);
    print_matrix("C", s->outputs, s->output_names, s->states, s->C);
    print_matrix("D", s->outputs, s->output_names, s->inputs, s->D);
    printf("\neigenvalues, 1/s\n");
    for (int k = 0; k < s->states; k++)
        printf("  %17.10g %+17.10g i\n", s->eigenvalues[2 * k], s->eigenvalues[2 * k + 1]);
    if (s->inputs > 0)
        printf("\n%d of %d states can be controlled by the inputs", s->controllable, s->states);
    printf("%s%d of %d states can be observed in the outputs\n", s->inputs > 0 ? ", " : "\n", s->observable,
           s->states);
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    cli_state state;
    lw_error error = {0};
    int result = cli_state_find(command, loaded, asked->method, asked->at, asked->equilibrium, &state);
    if (result == CLI_DONE && state.equilibrium && !state.equilibrium->converged)
        result = cli_say(command, CLI_FAILED, "no equilibrium is reached: %s", state.equilibrium->unbalanced);
    if (result == CLI_DONE) {
        lw_linear_system *system = NULL;
        if (asked->coordinates.count > 0) {
            state.options.coordinates = asked->coordinates.items;
            state.options.coordinate_count = asked->coordinates.count;
        }
        lw_status status = lw_linearise(loaded->model, &state.options, &system, &error);
        for (int k = 0; status == LW_OK && k < system->left_out_count; k++)
            cli_say(command, 0,
                    "output \"%s\" is left out: it, or another output, needs what only a run has, such as "
                    "its energy "
                    "ledger, or it has no derivatives here",
                    system->left_out[k]);
        if (status == LW_OK && asked->out) status = lw_linear_system_write(system, asked->out, &error);
        if (status != LW_OK)
            result = cli_fault(command, status, &error);
        else if (asked->as_json)
            print_json(system);
        else if (asked->out)
            printf("%s\n", asked->out);
        else
            print_text(system);
        lw_linear_system_destroy(system);
    }
    cli_state_free(&state);
    return result;
}

static int linearise(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN, .from = NAN, .to = NAN, .points = 101};
    const cli_option options[] = {
        {"at", "T", "near the state to which a run comes at this time, s", "1", .number = &asked.at,
         .unit = "s", .any_sign = true},
        {"equilibrium", NULL, "near the position of rest that is reached from there", NULL,
         .flag = &asked.equilibrium},
        {"coordinate", "NAME", "an independent coordinate; all of them have to be named", "crank",
         .list = &asked.coordinates},
        {"vary", "NAME", "eigenvalues over this parameter, between --from and --to", "speed",
         .text = &asked.vary},
        {"from", "X", "the first value of the parameter", "1", .number = &asked.from, .any_sign = true},
        {"to", "X", "the last one", "10", .number = &asked.to, .any_sign = true},
        {"points", "N", "how many values; 101 if left out", "201", .number = &asked.points, .unit = "1"},
        {"out", "FILE",
         "write the system: .mat (MATLAB, version 4) or .csv; with --vary .csv, or .svg, .pdf (curves)",
         "plant.mat", .text = &asked.out},
        {"method", "NAME", "the formulation; otherwise the model's own, or auto", "tree",
         .text = &asked.method},
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
        const curves_request curves = {.parameter = asked.vary,
                                       .method = asked.method,
                                       .out = asked.out,
                                       .from = asked.from,
                                       .to = asked.to,
                                       .at = asked.at,
                                       .points = (int)fmin(asked.points, 1e9),
                                       .equilibrium = asked.equilibrium,
                                       .as_json = asked.as_json};
        if (!asked.vary && (!isnan(asked.from) || !isnan(asked.to)))
            result = cli_say(command, CLI_WRONG, "--from and --to are of the parameter that --vary names");
        else if (asked.vary && asked.coordinates.count > 0)
            result =
                cli_say(command, CLI_WRONG, "--coordinate: eigenvalues do not depend on it; leave it out");
        else
            result =
                asked.vary ? linearise_curves(command, &loaded, &curves) : solve(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_linearise = {
    "linearise",
    "MODEL [options]",
    "A, B, C, D and eigenvalues near a state",
    "x' = A x + B u, y = C x + D u: x are changes of independent coordinates, of speeds and of user states,\n"
    "u those of the model's inputs, y those of its outputs or, if it has none, of the coordinates.",
    linearise,
    NULL};
