/* cmd_equilibrium.c - linkwork equilibrium: the position of rest that is reached from the start, whether it
 * is stable, and what the joints carry there.
 */
#include "equilibrium_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *method, *out;
    double at;
    bool as_json;
    cli_changes changes;
} request;

static void print_json(const lw_model *model, const lw_equilibrium *e) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_bool(&j, "converged", e->converged);
    json_bool(&j, "stable", e->stable);
    json_integer(&j, "neutral", e->neutral);
    json_number(&j, "residual", e->residual);
    json_integer(&j, "rounds", e->rounds);
    if (!e->converged) json_text(&j, "unbalanced", e->unbalanced);
    json_object(&j, "joints");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        if (joint.cut) continue;
        json_object(&j, joint.name);
        json_numbers(&j, "q", e->q + joint.q, joint.q_count);
        json_object_end(&j);
    }
    json_object_end(&j);
    json_object(&j, "states");
    for (int k = 0; k < lw_model_state_count(model); k++)
        json_number(&j, lw_model_state_name(model, k), e->states[k]);
    json_object_end(&j);
    cli_json_reactions(&j, model, e->reactions, e->unique);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_model *model, const lw_equilibrium *e) {
    printf("at rest after %d rounds, %s; the largest acceleration left is %.3g\n\n", e->rounds,
           e->stable        ? "stable"
           : e->neutral > 0 ? "neutral: nothing opposes some motion"
                            : "unstable",
           e->residual);
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        if (joint.cut || joint.q_count == 0) continue;
        printf("  %-20s", joint.name);
        for (int k = 0; k < joint.q_count; k++) printf(" %15.9g", e->q[joint.q + k]);
        printf("\n");
    }
    for (int k = 0; k < lw_model_state_count(model); k++)
        printf("  %-20s %15.9g\n", lw_model_state_name(model, k), e->states[k]);
    printf("\njoint reactions on the second body, world axes\n  %-20s %15s %15s %15s %15s %15s %15s\n", "",
           "force x", "force y", "force z", "torque x", "torque y", "torque z");
    bool all = true;
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        printf("  %-20s", lw_model_joint_info(model, i).name);
        for (int k = 0; k < 6; k++) {
            printf(" %14.8g%c", e->reactions[6 * i + k], e->unique[6 * i + k] ? ' ' : '*');
            all = all && e->unique[6 * i + k];
        }
        printf("\n");
    }
    if (!all)
        printf("  * not unique: redundant constraints share this load in a way the model does not say\n");
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    cli_state state;
    int result = cli_state_find(command, loaded, asked->method, asked->at, true, &state);
    if (result == CLI_DONE) {
        const lw_equilibrium *e = state.equilibrium;
        const lw_model *model = loaded->model;
        if (asked->as_json)
            print_json(model, e);
        else if (e->converged)
            print_text(model, e);
        if (!e->converged)
            result = cli_say(command, CLI_FAILED, "no equilibrium is reached in %d rounds: %s", e->rounds,
                             e->unbalanced);
        if (result == CLI_DONE && asked->out) {
            result = equilibrium_write(command, loaded, &asked->changes, e, state.options.t, asked->out);
        }
    }
    cli_state_free(&state);
    return result;
}

static int equilibrium(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN};
    const cli_option options[] = {
        {"at", "T", "from the state to which a run comes at this time, s", "1", .number = &asked.at,
         .unit = "s", .any_sign = true},
        {"out", "FILE", "write the model, with this position as its start", "settled.yaml",
         .text = &asked.out},
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
                       &loaded, &result))
        result = solve(command, &loaded, &asked);
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_equilibrium = {
    "equilibrium", "MODEL [options]", "the position of rest reached from the start",
    "Newton's method along the motions that the joints admit, and relaxation where no stable position is "
    "near.\n"
    "If forces cannot balance, the coordinates that still accelerate are named.",
    equilibrium};
