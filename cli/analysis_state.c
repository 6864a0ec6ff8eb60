/* analysis_state.c - the state that an analysis is about.
 */
#include "analysis_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs to the time and takes everything from there, parameters that events have set included. */
static int run_to(const cli_command *command, cli_model *loaded, const lw_run_options *options, double at,
                  cli_state *s) {
    const lw_model *model = loaded->model;
    lw_simulation *simulation = NULL;
    lw_error error = {0};
    double *parameters = cli_numbers(command, lw_model_parameter_count(model) + 1);
    if (!parameters) return CLI_FAILED;
    lw_status status = lw_simulation_create(model, options, NULL, &simulation, &error);
    if (status == LW_OK && at > options->start) status = lw_simulation_advance(simulation, at, &error);
    if (status == LW_OK) status = lw_simulation_state(simulation, s->q, s->v);
    if (status == LW_OK) status = lw_simulation_states(simulation, s->states);
    for (int k = 0; k < lw_model_input_count(model) && status == LW_OK; k++)
        s->inputs[k] = lw_simulation_input(simulation, k);
    for (int k = 0; k < lw_model_parameter_count(model) && status == LW_OK; k++)
        parameters[k] = lw_simulation_parameter(simulation, k);
    lw_simulation_destroy(simulation);
    int result = status == LW_OK ? cli_tune(command, loaded, parameters) : cli_fault(command, status, &error);
    free(parameters);
    return result;
}

int cli_state_find(const cli_command *command, cli_model *loaded, const char *method, double at,
                   bool equilibrium, cli_state *s) {
    const lw_model *model = loaded->model;
    lw_run_options run;
    lw_error error = {0};
    int result = CLI_DONE;
    *s = (cli_state){.q = cli_numbers(command, lw_model_q_size(model)),
                     .v = cli_numbers(command, lw_model_v_size(model)),
                     .states = cli_numbers(command, lw_model_state_count(model) + 1),
                     .inputs = cli_numbers(command, lw_model_input_count(model) + 1)};
    if (!s->q || !s->v || !s->states || !s->inputs) return CLI_FAILED;
    lw_run_defaults(model, &run);
    if (method) run.method = method;
    for (int k = 0; k < lw_model_input_count(model); k++) s->inputs[k] = lw_model_input_default(model, k);
    for (int k = 0; k < lw_model_state_count(model); k++) s->states[k] = lw_model_state_start(model, k);
    lw_linearise_defaults(model, &s->options);
    s->options.t = run.start;
    if (!isnan(at)) {
        if (at < run.start)
            return cli_say(command, CLI_WRONG, "--at: %g s is before the start of the run, %g s", at,
                           run.start);
        if (run.end < at) run.end = at;
        result = run_to(command, loaded, &run, at, s);
        s->options.t = at;
    } else {
        lw_status status = cli_start(model, &run, s->q, s->v, NULL, NULL, 0, NULL, &error);
        if (status != LW_OK) result = cli_fault(command, status, &error);
    }
    if (result != CLI_DONE) return result;
    s->options.method = method;
    s->options.q = s->q, s->options.v = s->v, s->options.states = s->states, s->options.inputs = s->inputs;
    if (!equilibrium) return CLI_DONE;
    model = loaded->model;
    lw_status status = lw_equilibrium_find(model, &s->options, &s->equilibrium, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    memcpy(s->q, s->equilibrium->q, (size_t)lw_model_q_size(model) * sizeof *s->q);
    memset(s->v, 0, (size_t)lw_model_v_size(model) * sizeof *s->v);
    memcpy(s->states, s->equilibrium->states, (size_t)lw_model_state_count(model) * sizeof *s->states);
    return CLI_DONE;
}

void cli_state_free(cli_state *s) {
    lw_equilibrium_destroy(s->equilibrium);
    free(s->q);
    free(s->v);
    free(s->states);
    free(s->inputs);
}

void cli_json_reactions(json *j, const lw_model *model, const double *reactions, const bool *unique) {
    json_object(j, "reactions");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        json_object(j, lw_model_joint_info(model, i).name);
        json_numbers(j, "force", reactions + 6 * i, 3);
        json_numbers(j, "torque", reactions + 6 * i + 3, 3);
        json_array(j, "unique");
        for (int k = 0; k < 6; k++) json_bool(j, NULL, unique[6 * i + k]);
        json_array_end(j);
        json_object_end(j);
    }
    json_object_end(j);
}
