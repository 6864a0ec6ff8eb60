/* cmd_modes.c - linkwork modes: frequencies, damping and shapes of small vibrations about a position.
 */
#include "analysis_state.h"

#include <math.h>

typedef struct request {
    const char *method;
    double at, count;
    bool equilibrium, as_json;
    cli_changes changes;
} request;

static void json_shape(json *j, const char *key, const lw_model *model, const double *shape) {
    json_object(j, key);
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        lw_joint_info joint = lw_model_joint_info(model, i);
        if (!joint.cut && joint.v_count > 0) json_numbers(j, joint.name, shape + joint.v, joint.v_count);
    }
    json_object_end(j);
}

static void print_json(const lw_model *model, const lw_modes *modes) {
    json j;
    json_begin(&j, stdout);
    json_object(&j, NULL);
    json_integer(&j, "rigid", modes->rigid);
    json_number(&j, "imbalance", modes->imbalance);
    json_array(&j, "modes");
    for (int k = 0; k < modes->count; k++) {
        const lw_mode *mode = &modes->modes[k];
        json_object(&j, NULL);
        json_number(&j, "frequency_hz", mode->frequency);
        json_number(&j, "damping_ratio", mode->damping_ratio);
        json_numbers(&j, "eigenvalue", mode->eigenvalue, 2);
        json_shape(&j, "shape", model, mode->shape);
        json_shape(&j, "shape_imaginary", model, mode->imaginary);
        json_object(&j, "energy");
        for (int i = 1; i <= lw_model_body_count(model); i++)
            json_number(&j, lw_model_body_name(model, i), mode->energy[i - 1]);
        json_object_end(&j);
        json_numbers(&j, "participation", mode->participation, 3);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}

static void print_text(const lw_model *model, const lw_modes *modes) {
    printf("%d rigid-body modes, %d others%s\n", modes->rigid, modes->count,
           modes->undamped ? ", without damping" : "");
    if (modes->count > 0)
        printf("\n%6s %16s %12s %16s %16s  moves most, body with most energy\n", "mode", "frequency, Hz",
               "damping", "real part, 1/s", "imaginary");
    for (int k = 0; k < modes->count; k++) {
        const lw_mode *mode = &modes->modes[k];
        const char *most = "";
        double size = -1;
        for (int i = 0; i < lw_model_joint_count(model); i++) {
            lw_joint_info joint = lw_model_joint_info(model, i);
            for (int c = 0; !joint.cut && c < joint.v_count; c++)
                if (hypot(mode->shape[joint.v + c], mode->imaginary[joint.v + c]) > size) {
                    size = hypot(mode->shape[joint.v + c], mode->imaginary[joint.v + c]);
                    most = joint.name;
                }
        }
        int body = 1;
        for (int i = 2; i <= lw_model_body_count(model); i++)
            if (mode->energy[i - 1] > mode->energy[body - 1]) body = i;
        printf("%6d %16.9g %12.5g %16.9g %16.9g  %s, %s %.0f %%\n", k + 1, mode->frequency,
               mode->damping_ratio, mode->eigenvalue[0], mode->eigenvalue[1], most,
               lw_model_body_name(model, body), 100 * mode->energy[body - 1]);
    }
}

static int solve(const cli_command *command, cli_model *loaded, const request *asked) {
    cli_state state;
    lw_error error = {0};
    if (asked->count != 0 && (asked->count < 1 || asked->count > 1e6 || asked->count != floor(asked->count)))
        return cli_say(command, CLI_WRONG, "--count: %g is no number of modes; give 1 or more", asked->count);
    int result = cli_state_find(command, loaded, asked->method, asked->at, asked->equilibrium, &state);
    if (result == CLI_DONE && state.equilibrium && !state.equilibrium->converged)
        result = cli_say(command, CLI_FAILED, "no equilibrium is reached: %s", state.equilibrium->unbalanced);
    if (result == CLI_DONE) {
        lw_modes *modes = NULL;
        lw_status status = asked->count > 0 ? lw_modes_lowest(loaded->model, &state.options,
                                                              (int)asked->count, &modes, &error)
                                            : lw_modes_find(loaded->model, &state.options, &modes, &error);
        if (status != LW_OK) {
            result = cli_fault(command, status, &error);
        } else {
            if (modes->imbalance > 1e-6) /* above what is left of a position that was found */
                cli_say(command, 0,
                        "the position is no equilibrium: %s accelerates by %.6g; --equilibrium goes to one",
                        modes->name, modes->imbalance);
            if (asked->as_json)
                print_json(loaded->model, modes);
            else
                print_text(loaded->model, modes);
        }
        lw_modes_destroy(modes);
    }
    cli_state_free(&state);
    return result;
}

static int find_modes(const cli_command *command, int argc, char **argv) {
    request asked = {.at = NAN};
    const cli_option options[] = {
        {"at", "T", "about the position to which a run comes at this time, s", "1", .number = &asked.at,
         .unit = "s", .any_sign = true},
        {"equilibrium", NULL, "about the position of rest that is reached from there", NULL,
         .flag = &asked.equilibrium},
        {"count", "N", "only the N lowest modes, rigid-body ones counted; large trees are quick then", "20",
         .number = &asked.count, .unit = "1"},
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

const cli_command cli_modes = {
    "modes",
    "MODEL [options]",
    "frequencies, damping and shapes of vibrations",
    "Of small vibrations about the position at rest; rigid-body modes are counted. A shape has the motion "
    "of\n"
    "every joint; its largest entry is 1, lengths counted in the longest arm of the model.",
    find_modes,
    NULL};
