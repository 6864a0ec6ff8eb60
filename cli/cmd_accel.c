/* cmd_accel.c - linkwork accel: accelerations and joint reactions of the initial state by one method.
 */
#include "json.h"
#include "load.h"

#include <stdlib.h>

/* Accelerations (nv), reactions and their uniqueness flags (6 per joint) of the model's initial state. */
typedef struct answer {
    const char *method;
    double *vdot, *reactions;
    bool *unique;
    double balance; /* result of the balance check */
} answer;

static void print_json(const lw_model *model, const answer *a) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_text(&j, "method", a->method);
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
        json_object_end(&j);
    }
    json_object_end(&j);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_model *model, const answer *a) {
    bool all_unique = true;
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
            printf(" %14.8g%c", a->reactions[6 * i + k], a->unique[6 * i + k] ? ' ' : '*');
            all_unique = all_unique && a->unique[6 * i + k];
        }
        printf("\n");
    }
    if (!all_unique)
        printf("  * not unique: redundant constraints share this load in a way the model does not say\n");
}

static int solve(const cli_command *command, const lw_model *model, const lw_run_options *options,
                 bool as_json) {
    int nq = lw_model_q_size(model), nv = lw_model_v_size(model), joints = lw_model_joint_count(model);
    double *q = cli_numbers(command, nq), *v = cli_numbers(command, nv);
    answer a = {NULL, cli_numbers(command, nv), cli_numbers(command, 6 * joints),
                calloc((size_t)(6 * joints + 1), sizeof(bool)), 0};
    int result = CLI_FAILED;
    if (q && v && a.vdot && a.reactions && a.unique) {
        lw_error error = {0};
        lw_status status = cli_start(model, options, q, v, &a.method, NULL, 0, NULL, &error);
        if (status == LW_OK)
            status = lw_accelerations_checked(model, a.method, options->start, q, v, a.vdot, a.reactions,
                                              a.unique, &a.balance, &error);
        result = status == LW_OK ? CLI_DONE : cli_fault(command, status, &error);
        if (status == LW_OK && as_json) print_json(model, &a);
        if (status == LW_OK && !as_json) print_text(model, &a);
    }
    free(q);
    free(v);
    free(a.vdot);
    free(a.reactions);
    free(a.unique);
    return result;
}

static int accel(const cli_command *command, int argc, char **argv) {
    const char *method = NULL;
    bool as_json = false;
    cli_changes changes = {.any_path = false};
    const cli_option options[] = {
        {"method", "NAME", "the formulation; otherwise the model's own, or auto", "tree", .text = &method},
        CLI_SET_OPTION(changes),
        CLI_INPUT_OPTION(changes),
        CLI_PATH_OPTION(changes),
        {"json", NULL, "print one JSON document", NULL, .flag = &as_json},
    };
    cli_model loaded;
    int result;
    if (cli_open_model(command, options, sizeof options / sizeof options[0], argc, argv, &changes, &loaded,
                       &result)) {
        lw_run_options run;
        lw_run_defaults(loaded.model, &run);
        if (method) run.method = method;
        result = solve(command, loaded.model, &run, as_json);
    }
    cli_close_model(&loaded);
    return result;
}

const cli_command cli_accel = {"accel", "MODEL [options]",
                               "accelerations and joint reactions of the initial state", "", accel};
