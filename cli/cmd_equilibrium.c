/* cmd_equilibrium.c - linkwork equilibrium: the position of rest that is reached from the start, whether it
 * is stable, and what the joints carry there.
 */
#include "analysis_state.h"

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

/* Gives the spec the position as its start, at rest. */
static void put_start(const lw_model *model, const lw_equilibrium *e, lw_spec *spec) {
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, joint->name));
        memset(joint->v, 0, sizeof joint->v);
        joint->has_v = false;
        joint->has_q = !info.cut && info.q_count > 0 && info.prescribed == 0;
        for (int c = 0; c < info.q_count && joint->has_q; c++) joint->q[c] = e->q[info.q + c];
    }
    for (int k = 0; k < lw_model_state_count(model); k++)
        lw_spec_state(spec, (size_t)k)->start = e->states[k];
    lw_run_spec run = *lw_spec_run(spec);
    run.begin = NULL;
    lw_spec_set_run(spec, &run);
}

/* Coordinates of a mirrored part may count in the other sense in its own file, in which the spec has them:
 * they are turned round where the compiled spec shows it. */
static lw_status turn_senses(const lw_model *model, const lw_equilibrium *e, lw_spec *spec) {
    lw_model *again = NULL;
    double *q = calloc((size_t)lw_model_q_size(model) + 1, sizeof *q);
    lw_status status = q ? lw_model_compile(spec, NULL, NULL, &again) : LW_ERROR_MEMORY;
    if (status == LW_OK && lw_model_q_size(again) == lw_model_q_size(model))
        lw_model_initial_state(again, q, NULL);
    for (size_t k = 0; status == LW_OK && k < lw_spec_joint_count(spec); k++) {
        lw_joint_spec *joint = lw_spec_joint(spec, k);
        const lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, joint->name));
        for (int c = 0; joint->has_q && c < info.q_count; c++)
            if (e->q[info.q + c] != 0 && q[info.q + c] == -e->q[info.q + c]) joint->q[c] = -joint->q[c];
    }
    lw_model_destroy(again);
    free(q);
    return status;
}

/* Is the start of the model this position? Quaternions of opposite sign are the same rotation. */
static bool starts_there(const lw_model *model, const lw_equilibrium *e) {
    double *q = calloc((size_t)lw_model_q_size(model) + 1, sizeof *q);
    bool same = q;
    if (q) lw_model_initial_state(model, q, NULL);
    for (int j = 0; same && j < lw_model_joint_count(model); j++) {
        const lw_joint_info info = lw_model_joint_info(model, j);
        const int turned = info.q_count > info.v_count ? 4 : 0;
        double most = 0, plus = 0, minus = 0;
        for (int c = 0; !info.cut && c < info.q_count; c++) {
            const double a = q[info.q + c], b = e->q[info.q + c];
            if (c < info.q_count - turned)
                most = fmax(most, fabs(a - b) / (1 + fabs(b)));
            else
                plus = fmax(plus, fabs(a - b)), minus = fmax(minus, fabs(a + b));
        }
        same = fmax(most, fmin(plus, minus)) < 1e-7;
    }
    free(q);
    return same;
}

/* Reads the file again: its start has to be at rest. What depends on the start in the old file, as a spring
 * whose length is not given does, would have changed with it. */
static int check_file(const cli_command *command, const char *path, const cli_model *loaded,
                      const lw_equilibrium *e) {
    cli_model again = {0};
    const cli_changes none = {.any_path = true};
    int result = cli_load(command, path, &none, &again);
    if (result == CLI_DONE && again.model) {
        lw_linearise_options options;
        lw_equilibrium *found = NULL;
        lw_error error = {0};
        lw_linearise_defaults(again.model, &options);
        lw_status status = lw_equilibrium_find(again.model, &options, &found, &error);
        double most = 0;
        const int nq = lw_model_q_size(loaded->model);
        bool same = status == LW_OK && lw_model_q_size(again.model) == nq && starts_there(again.model, e);
        for (int k = 0; k < nq && same; k++)
            most = fmax(most, fabs(found->q[k] - e->q[k]) / (1 + fabs(e->q[k])));
        if (!same || !(most < 1e-7)) {
            remove(path);
            result =
                cli_say(command, CLI_FAILED,
                        "--out: the model does not rest there when it starts there, since something in it "
                        "depends on its start; give the lengths of springs (length) instead of their start");
        }
        lw_equilibrium_destroy(found);
    }
    cli_close_model(&again);
    return result;
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
            lw_error error = {0};
            put_start(model, e, loaded->spec);
            lw_status status = turn_senses(model, e, loaded->spec);
            if (status == LW_OK) status = lw_write_model(loaded->spec, asked->out, &error);
            result = status == LW_OK ? check_file(command, asked->out, loaded, e)
                                     : cli_fault(command, status, &error);
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
