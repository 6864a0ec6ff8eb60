/* cmd_accel.c - linkwork accel: accelerations and joint reactions of a state by one method: the initial one,
 * a row of a results file, or that of a run at a later time.
 */
#include "json.h"
#include "load.h"

#include <math.h>
#include <stdlib.h>

/* Which state. */
typedef struct request {
    const char *method, *state; /* a results file */
    double at;                  /* NAN: not given */
    bool as_json;
    cli_changes changes;
} request;

/* Accelerations (nv), reactions and their uniqueness flags (6 per joint) of the state. */
typedef struct answer {
    double t;
    const char *method;
    double *vdot, *reactions;
    bool *unique, *shared; /* shared: by compliance */
    double balance;        /* result of the balance check */
} answer;

static void print_json(const lw_model *model, const answer *a) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "method", a->method);
    json_number(&j, "t", a->t);
    json_number(&j, "balance", a->balance);
    json_object(&j, "qdd");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        json_numbers(&j, joint.name, joint.cut ? NULL : a->vdot + joint.v, joint.cut ? 0 : joint.v_count);
    }
    json_object_end(&j);
    json_object(&j, "reactions");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        json_object(&j, lw_model_joint_info(model, i).name);
        json_numbers(&j, "force", a->reactions + 6 * i, 3);
        json_numbers(&j, "torque", a->reactions + 6 * i + 3, 3);
        json_array(&j, "unique");
        for (int k = 0; k < 6; k++) json_bool(&j, NULL, a->unique[6 * i + k]);
        json_array_end(&j);
        if (lw_model_is_compliant(model)) {
            json_array(&j, "by_compliance");
            for (int k = 0; k < 6; k++) json_bool(&j, NULL, a->shared[6 * i + k]);
            json_array_end(&j);
        }
        json_object_end(&j);
    }
    json_object_end(&j);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_model *model, const answer *a) {
    bool all_known = true, any_shared = false;
    if (a->t != 0) printf("t = %.9g s\n", a->t);
    printf("method %s; every body, joint and loop balances to %.2g\n\n", a->method, a->balance);
    printf("accelerations (SI units, in the joint's own coordinates)\n");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        if (joint.cut || joint.v_count == 0) continue;
        printf("  %-20s", joint.name);
        for (int k = 0; k < joint.v_count; k++) printf(" %15.8g", a->vdot[joint.v + k]);
        printf("\n");
    }
    printf("\njoint reactions on the second body, world axes\n  %-20s %15s %15s %15s %15s %15s %15s\n", "",
           "force x", "force y", "force z", "torque x", "torque y", "torque z");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        printf("  %-20s", lw_model_joint_info(model, i).name);
        for (int k = 0; k < 6; k++) {
            const bool unique = a->unique[6 * i + k], shared = a->shared[6 * i + k];
            printf(" %14.8g%c", a->reactions[6 * i + k], unique ? ' ' : shared ? '~' : '*');
            all_known = all_known && (unique || shared);
            any_shared = any_shared || (shared && !unique);
        }
        printf("\n");
    }
    if (any_shared)
        printf("  ~ by compliance: redundant constraints share this load with the least elastic energy\n");
    if (!all_known)
        printf("  * not unique: redundant constraints share this load in a way the model does not say\n");
}

/* A state that is not the initial one: with user states, and with what has been set until then. */
typedef struct state {
    double *q, *v, *states, *inputs, *parameters;
} state;

/* The state of a row of the results, or of a run at time request->at; from then on given. */
static lw_status find_state(const lw_model *model, lw_run_options *options, const request *asked,
                            const state *at, lw_error *error) {
    lw_status status = LW_OK;
    double *q = at->q, *v = at->v, *states = at->states;
    if (asked->state) {
        status = lw_results_state(asked->state, model, asked->at, &options->start, q, v, states, error);
        if (status == LW_OK)
            status = lw_results_values(asked->state, model, options->start, q, v, states, at->inputs,
                                       at->parameters, error);
    } else {
        lw_simulation *simulation = NULL;
        if (options->end < asked->at) options->end = asked->at;
        status = lw_simulation_create(model, options, NULL, &simulation, error);
        if (status == LW_OK && asked->at > options->start)
            status = lw_simulation_advance(simulation, asked->at, error);
        if (status == LW_OK) status = lw_simulation_state(simulation, q, v);
        if (status == LW_OK) status = lw_simulation_states(simulation, states);
        for (int k = 0; k < lw_model_input_count(model) && status == LW_OK; k++)
            at->inputs[k] = lw_simulation_input(simulation, k);
        for (int k = 0; k < lw_model_parameter_count(model) && status == LW_OK; k++)
            at->parameters[k] = lw_simulation_parameter(simulation, k);
        lw_simulation_destroy(simulation);
        options->start = asked->at;
    }
    return status;
}

/* Makes such a state the start, of the model with the parameters that it has there. */
static int go_to(const cli_command *command, cli_model *loaded, lw_run_options *options, const request *asked,
                 const state *at) {
    lw_error error = {0};
    lw_status status = find_state(loaded->model, options, asked, at, &error);
    if (status != LW_OK) {
        const int result = cli_fault(command, status, &error);
        return status == LW_ERROR_FILE ? CLI_WRONG : result;
    }
    const double start = options->start;
    const int result = cli_tune(command, loaded, at->parameters);
    if (result != CLI_DONE) return result;
    lw_run_defaults(loaded->model, options); /* Its texts belong to the model. */
    if (asked->method) options->method = asked->method;
    options->start = start, options->end = fmax(options->end, start);
    options->q = at->q, options->v = at->v, options->states = at->states, options->inputs = at->inputs;
    options->as_given = true;
    return CLI_DONE;
}

/* Accelerations and reactions of the state, checked. */
static lw_status answer_to(const lw_model *model, const lw_run_options *options, const double *q,
                           const double *v, answer *a, lw_error *error) {
    lw_solver_options with;
    lw_solver *solver = NULL;
    lw_solver_defaults(model, &with);
    with.method = a->method;
    with.states = options->states;
    with.inputs = options->inputs;
    lw_status status = lw_solver_create(model, &with, NULL, &solver, error);
    if (status == LW_OK) status = lw_solver_accelerations(solver, options->start, q, v, NULL, a->vdot, error);
    if (status == LW_OK) status = lw_solver_reactions(solver, a->reactions, a->unique, error);
    if (status == LW_OK) status = lw_solver_by_compliance(solver, a->shared, error);
    if (status == LW_OK) status = lw_solver_balance(solver, &a->balance, error);
    lw_solver_destroy(solver);
    return status;
}

/* In a singular position the equations have solutions that are the accelerations of no motion. */
static void warn_of_no_motion(const lw_model *model, const lw_run_options *options, const double *q,
                              const double *v) {
    lw_error error = {0};
    char text[2048];
    if (lw_run_leads_on(model, options, q, v, &error) == LW_OK) return;
    error.severity = LW_SEVERITY_WARNING;
    lw_error_format(&error, text, sizeof text);
    fprintf(stderr, "%s\nThese accelerations satisfy the equations; a run from here is refused.\n", text);
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    const lw_model *model = loaded->model;
    lw_run_options run, *options = &run;
    lw_run_defaults(model, options);
    if (asked->method) options->method = asked->method;
    if (asked->state && asked->changes.begin)
        return cli_say(command, CLI_WRONG,
                       "--state takes a row of a results file, so that there is no start to choose; leave "
                       "--begin away");
    if (asked->at < options->start && !asked->state)
        return cli_say(command, CLI_WRONG, "--at: %g s is before the start of the run, %g s", asked->at,
                       options->start);
    int nq = lw_model_q_size(model), nv = lw_model_v_size(model), joints = lw_model_joint_count(model);
    double *q = cli_numbers(command, nq), *v = cli_numbers(command, nv);
    double *states = cli_numbers(command, lw_model_state_count(model) + 1);
    double *inputs = cli_numbers(command, lw_model_input_count(model) + 1);
    double *parameters = cli_numbers(command, lw_model_parameter_count(model) + 1);
    answer a = {.vdot = cli_numbers(command, nv),
                .reactions = cli_numbers(command, 6 * joints),
                .unique = calloc((size_t)(6 * joints + 1), sizeof(bool)),
                .shared = calloc((size_t)(6 * joints + 1), sizeof(bool))};
    int result = CLI_FAILED;
    const state at = {q, v, states, inputs, parameters};
    if (q && v && states && inputs && parameters && a.vdot && a.reactions && a.unique && a.shared)
        result = asked->state || !isnan(asked->at) ? go_to(command, loaded, options, asked, &at) : CLI_DONE;
    model = loaded->model;
    if (result == CLI_DONE) {
        lw_error error = {0};
        lw_status status = cli_start(model, options, q, v, &a.method, NULL, 0, NULL, &error);
        a.t = options->start;
        if (status == LW_OK)
            status = options->states ? answer_to(model, options, q, v, &a, &error)
                                     : lw_accelerations_checked(model, a.method, options->start, q, v, a.vdot,
                                                                a.reactions, a.unique, &a.balance, &error);
        if (status == LW_OK && !options->states && lw_model_is_compliant(model))
            status = answer_to(model, options, q, v, &a, &error); /* The flags, too. */
        result = status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
        if (status == LW_OK) warn_of_no_motion(model, options, q, v);
        if (status == LW_OK && asked->as_json) print_json(model, &a);
        if (status == LW_OK && !asked->as_json) print_text(model, &a);
    }
    free(q);
    free(v);
    free(states);
    free(inputs);
    free(parameters);
    free(a.vdot);
    free(a.reactions);
    free(a.unique);
    free(a.shared);
    return result;
}

static int accel(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN};
    const cli_option options[] = {
        {"method", "NAME", "the formulation; otherwise the model's own, or auto", "tree",
         .text = &asked.method},
        {"at", "T", "of the state at this time, s: of the run, or of the row of --state", "1",
         .number = &asked.at, .unit = "s", .any_sign = true},
        {"state", "FILE", "of the last row of a results file, or of that at --at", "results.h5",
         .text = &asked.state},
        CLI_SET_OPTION(asked.changes),
        CLI_INPUT_OPTION(asked.changes),
        CLI_BEGIN_OPTION(asked.changes),
        CLI_PATH_OPTION(asked.changes),
        CLI_IMPORT_OPTIONS(asked.changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.as_json},
    };
    cli_model loaded;
    int result;
    if (cli_open_model_or(command, options, sizeof options / sizeof options[0], argc, argv, &asked.changes,
                          &asked.state, &loaded, &result)) {
        result = solve(command, &loaded, &asked);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_accel = {
    "accel",
    "MODEL [options]",
    "accelerations and joint reactions of a state",
    "Of the initial state; with --at T of the state to which a run comes at that time; "
    "with --state FILE of a row of results.\n"
    "A row is taken as it is: there is none between two. MODEL may be a results file; "
    "with --state it may be left away.",
    accel,
    NULL};
