/* cmd_equilibrium.c - linkwork equilibrium: the position of rest that is reached from the start, whether it
 * is stable, and what the joints carry there.
 */
#define _POSIX_C_SOURCE 200809L
#include "equilibrium_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *method, *out;
    double at, starts;
    bool as_json;
    cli_list hold, free;
    cli_changes changes;
} request;

/* The members of one position, without its reactions. */
static void json_position(json *j, const lw_model *model, const lw_equilibrium *e) {
    json_bool(j, "converged", e->converged);
    json_bool(j, "stable", e->stable);
    json_integer(j, "neutral", e->neutral);
    json_number(j, "residual", e->residual);
    json_integer(j, "rounds", e->rounds);
    if (!e->converged) json_text(j, "unbalanced", e->unbalanced);
    json_object(j, "joints");
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        if (joint.cut) continue;
        json_object(j, joint.name);
        json_numbers(j, "q", e->q + joint.q, joint.q_count);
        json_object_end(j);
    }
    json_object_end(j);
    json_object(j, "states");
    for (int k = 0; k < lw_model_state_count(model); k++)
        json_number(j, lw_model_state_name(model, k), e->states[k]);
    json_object_end(j);
}

static void print_json(const lw_model *model, const lw_equilibrium *e, const lw_equilibria *all,
                       const request *asked, const double *found) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_position(&j, model, e);
    cli_json_reactions(&j, model, e->reactions, e->unique);
    if (found) {
        json_object(&j, "trim");
        for (int k = 0; k < asked->free.count; k++) json_number(&j, asked->free.items[k], found[k]);
        json_object_end(&j);
    }
    if (all) {
        json_integer(&j, "starts", all->tried);
        json_array(&j, "equilibria");
        for (int k = 0; k < all->count; k++) {
            json_object(&j, NULL);
            json_number(&j, "potential", all->potential[k]);
            json_position(&j, model, all->items[k]);
            json_object_end(&j);
        }
        json_array_end(&j);
    }
    json_object_end(&j);
    json_end(&j);
}

static void print_all(const lw_model *model, const lw_equilibria *all) {
    printf("\n%d position%s of rest, from %d of %d starts\n", all->count, all->count == 1 ? "" : "s",
           all->reached, all->tried);
    for (int k = 0; k < all->count; k++) {
        const lw_equilibrium *e = all->items[k];
        printf("  %14.8g J  %-8s", all->potential[k],
               e->stable        ? "stable"
               : e->neutral > 0 ? "neutral"
                                : "unstable");
        for (int i = 0, shown = 0; i < lw_model_joint_count(model) && shown < 4; i++) {
            const lw_joint_info joint = lw_model_joint_info(model, i);
            if (joint.cut || joint.q_count != 1) continue;
            printf("  %s %.7g", joint.name, e->q[joint.q]);
            shown++;
        }
        printf("\n");
    }
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

/* Splits --hold "NAME=VALUE"; the names are to be freed. */
static int split_hold(const cli_command *command, const request *asked, char **names, double *values) {
    for (int k = 0; k < asked->hold.count; k++) {
        const char *text = asked->hold.items[k], *equals = strchr(text, '=');
        lw_error error = {0};
        if (!equals || equals == text || lw_read_number(equals + 1, NULL, &values[k], &error) != LW_OK)
            return cli_say(command, CLI_WRONG,
                           "--hold \"%s\": give a coordinate and its value, e.g. --hold heave=0%s%s", text,
                           error.message[0] ? "; " : "", error.message);
        names[k] = strndup(text, (size_t)(equals - text));
        if (!names[k]) return cli_say(command, CLI_FAILED, "out of memory");
    }
    if (asked->hold.count != asked->free.count)
        return cli_say(
            command, CLI_WRONG,
            "--hold holds %d coordinates and --free frees %d parameters or inputs; give as many of both",
            asked->hold.count, asked->free.count);
    return CLI_DONE;
}

/* Gives the model and the state the values that were found. Those of parameters also become settings, for
 * --out; room: memory for these. */
static int take_found(const cli_command *command, cli_model *loaded, request *asked, const lw_trim *found,
                      cli_state *state, char (*room)[300]) {
    const lw_model *model = loaded->model;
    double *parameters = cli_numbers(command, lw_model_parameter_count(model) + 1);
    if (!parameters) return CLI_FAILED;
    int result = CLI_DONE;
    for (int k = 0; k < lw_model_parameter_count(model); k++)
        parameters[k] = lw_model_parameter_value(found->model, k);
    memcpy(state->q, found->equilibrium->q, (size_t)lw_model_q_size(model) * sizeof *state->q);
    memcpy(state->states, found->equilibrium->states,
           (size_t)lw_model_state_count(model) * sizeof *state->states);
    for (int k = 0; k < found->count && result == CLI_DONE; k++) {
        const char *name = asked->free.items[k];
        const int input = lw_model_parameter(model, name) < 0 ? lw_model_input(model, name) : -1;
        if (input >= 0) {
            state->inputs[input] = found->values[k];
            if (asked->out)
                result = cli_say(
                    command, CLI_WRONG,
                    "--out: a model file has no values of inputs; free a parameter instead of \"%s\"", name);
            continue;
        }
        int at = 0; /* A setting that was given is replaced. */
        const size_t length = strlen(name);
        while (at < asked->changes.settings.count &&
               !(strncmp(asked->changes.settings.items[at], name, length) == 0 &&
                 asked->changes.settings.items[at][length] == '='))
            at++;
        if (at == CLI_LIST_MAX) result = cli_say(command, CLI_WRONG, "more than %d settings", CLI_LIST_MAX);
        if (result != CLI_DONE) break;
        snprintf(room[k], sizeof room[k], "%s=%.17g", name, found->values[k]);
        asked->changes.settings.items[at] = room[k];
        if (at == asked->changes.settings.count) asked->changes.settings.count++;
    }
    if (result == CLI_DONE) result = cli_tune(command, loaded, parameters);
    free(parameters);
    return result;
}

static int find_trim(const cli_command *command, cli_model *loaded, request *asked, cli_state *state,
                     double *found, char (*room)[300]) {
    char *names[CLI_LIST_MAX] = {0};
    double *values = cli_numbers(command, CLI_LIST_MAX);
    lw_trim *trim = NULL;
    lw_error error = {0};
    int result = values ? split_hold(command, asked, names, values) : CLI_FAILED;
    if (result == CLI_DONE) {
        const lw_trim_options options = {.state = state->options,
                                         .held = (const char *const *)names,
                                         .values = values,
                                         .freed = asked->free.items,
                                         .count = asked->free.count};
        lw_status status = lw_trim_find(loaded->model, &options, &trim, &error);
        if (status != LW_OK)
            result = cli_fault(command, status, &error);
        else if (!trim->converged)
            result = cli_say(command, CLI_FAILED,
                             "no values are found: after %d rounds a coordinate is still %.3g off",
                             trim->rounds, trim->off);
        else
            result = take_found(command, loaded, asked, trim, state, room);
    }
    for (int k = 0; result == CLI_DONE && k < asked->free.count; k++) found[k] = trim->values[k];
    lw_trim_destroy(trim);
    for (int k = 0; k < CLI_LIST_MAX; k++) free(names[k]);
    free(values);
    return result;
}

static int finish(const cli_command *command, cli_model *loaded, const request *asked, const cli_state *state,
                  const lw_equilibrium *e, const lw_equilibria *all, const double *found) {
    const lw_model *model = loaded->model;
    if (asked->as_json)
        print_json(model, e, all, asked, found);
    else if (e->converged) {
        for (int k = 0; found && k < asked->free.count; k++)
            printf("%s = %.15g\n", asked->free.items[k], found[k]);
        print_text(model, e);
        if (all) print_all(model, all);
    }
    if (!e->converged)
        return cli_say(command, CLI_FAILED, "no equilibrium is reached in %d rounds: %s", e->rounds,
                       e->unbalanced);
    return asked->out ? equilibrium_write(command, loaded, &asked->changes, e, state->options.t, asked->out)
                      : CLI_DONE;
}

static int solve(const cli_command *command, cli_model *loaded, request *asked) {
    cli_state state;
    lw_error error = {0};
    lw_equilibria *all = NULL;
    double *found = NULL;
    char(*room)[300] = NULL;
    int result = cli_state_find(command, loaded, asked->method, asked->at, false, &state);
    if (result == CLI_DONE && asked->hold.count + asked->free.count > 0) {
        found = cli_numbers(command, CLI_LIST_MAX), room = calloc(CLI_LIST_MAX, sizeof *room);
        result = found && room ? find_trim(command, loaded, asked, &state, found, room) : CLI_FAILED;
    }
    if (result == CLI_DONE) {
        lw_status status = lw_equilibrium_find(loaded->model, &state.options, &state.equilibrium, &error);
        if (status == LW_OK && asked->starts >= 1)
            status = lw_equilibria_find(loaded->model, &state.options, (int)fmin(asked->starts, 2e6), &all,
                                        &error);
        result = status == LW_OK ? finish(command, loaded, asked, &state, state.equilibrium, all, found)
                                 : cli_fault(command, status, &error);
    }
    lw_equilibria_destroy(all);
    free(found);
    free(room);
    cli_state_free(&state);
    return result;
}

static int equilibrium(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN};
    const cli_option options[] = {
        {"at", "T", "from the state to which a run comes at this time, s", "1", .number = &asked.at,
         .unit = "s", .any_sign = true},
        {"starts", "N", "look for more positions, from N starts in all", "20", .number = &asked.starts,
         .unit = "1"},
        {"hold", "NAME=VALUE", "trim: a coordinate is to rest at this value; as many as --free", "heave=0",
         .list = &asked.hold},
        {"free", "NAME", "trim: a parameter or input whose value is sought", "length", .list = &asked.free},
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
    "equilibrium",
    "MODEL [options]",
    "the position of rest reached from the start",
    "Newton's method along the motions that the joints admit, and relaxation where no stable position is "
    "near.\n"
    "If forces cannot balance, the coordinates that still accelerate are named.",
    equilibrium,
    NULL};
