/* equilibrium_file.c - linkwork equilibrium --out: the model with the position of rest as its start.
 *
 * The text of a model file stays as it was written, with one more start. Where its form has no place for
 * that, and for files in other formats and results, the model is written anew, with numbers in place of
 * expressions; then parameters that nothing mentions any more are left out, so that setting them is refused,
 * and the file says so. Either file is read again before it is kept.
 */
#include "equilibrium_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
 * whose length is not given does, would have changed with it. Nothing is printed. */
static bool rests(const cli_command *command, const char *path, const cli_model *loaded,
                  const lw_equilibrium *e) {
    cli_model again = {0};
    const cli_changes none = {.any_path = true};
    bool good = cli_load(command, path, &none, &again) == CLI_DONE && again.model;
    if (good) {
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
        good = same && most < 1e-7;
        lw_equilibrium_destroy(found);
    }
    cli_close_model(&again);
    return good;
}

/* --- the text as it was written --------------------------------------------------------------------- */

static bool is_taken(const lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_start_count(spec); k++)
        if (strcmp(lw_spec_start((lw_spec *)spec, k)->name, name) == 0) return true;
    return false;
}

/* Joints as `put_start` has left them in the spec; was: had they coordinates in the file? Those of a cut
 * joint that the file gives have to follow. */
static size_t list_joints(const lw_model *model, const lw_equilibrium *e, lw_spec *spec, const bool *was,
                          lw_data *data, double t, lw_start_spec *list) {
    size_t count = 0;
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, k);
        const int index = lw_model_joint(model, joint->name);
        const lw_joint_info info = lw_model_joint_info(model, index);
        lw_start_spec entry = {.joint = joint->name, .has_q = joint->has_q, .has_v = joint->has_q};
        memcpy(entry.q, joint->q, sizeof entry.q);
        if (info.cut && was[k] && info.prescribed == 0) {
            double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V],
                *still = calloc((size_t)lw_model_v_size(model) + 1, sizeof *v);
            entry.has_q = entry.has_v =
                still && lw_joint_coordinates(model, data, t, e->q, still, index, q, v) > 0;
            if (entry.has_q) memcpy(entry.q, q, sizeof q);
            free(still);
        }
        if (entry.has_q) list[count++] = entry;
    }
    return count;
}

/* Tries to keep the text; false if that is not possible. */
static bool keep_text(const cli_command *command, const cli_model *loaded, const cli_changes *changes,
                      const lw_equilibrium *e, const bool *was, double t, const char *path) {
    const lw_model *model = loaded->model;
    lw_setting settings[CLI_LIST_MAX] = {0};
    char name[32] = "equilibrium";
    const size_t states = (size_t)lw_model_state_count(model);
    if (loaded->notes || changes->inputs.count > 0 || loaded->path == cli_input_name ||
        lw_import_format_of(loaded->path) != LW_FORMAT_MODEL)
        return false;
    for (int k = 2; is_taken(loaded->spec, name); k++) snprintf(name, sizeof name, "equilibrium_%d", k);
    lw_start_spec *joints = calloc(lw_spec_joint_count(loaded->spec) + 1, sizeof *joints);
    const char **state_names = calloc(states + 1, sizeof *state_names);
    lw_data *data = NULL;
    bool good = joints && state_names && lw_data_create(model, NULL, &data) == LW_OK &&
                cli_split_settings(command, &changes->settings, settings) == CLI_DONE;
    if (good) {
        for (size_t k = 0; k < states; k++) state_names[k] = lw_model_state_name(model, (int)k);
        const lw_new_start start = {.name = name,
                                    .joints = joints,
                                    .joint_count = list_joints(model, e, loaded->spec, was, data, t, joints),
                                    .states = state_names,
                                    .state_starts = e->states,
                                    .state_count = states,
                                    .settings = settings,
                                    .setting_count = (size_t)changes->settings.count};
        good = lw_write_with_start(loaded->path, loaded->spec, &start, path, NULL) == LW_OK;
        if (good && !rests(command, path, loaded, e)) {
            remove(path);
            good = false;
        }
    }
    cli_free_settings(settings, changes->settings.count);
    lw_data_destroy(data);
    free(joints);
    free(state_names);
    return good;
}

/* --- a model written anew --------------------------------------------------------------------------- */

static char *whole_text(const char *path) {
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text) {
        rewind(file);
        text[fread(text, 1, (size_t)size, file)] = 0;
    }
    if (file) fclose(file);
    return text;
}

static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool mentions(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !in_word(at[-1])) && !in_word(at[length])) return true;
    return false;
}

/* The parameter that a line of the section `parameters` defines: one for each line, as lw_write_model has
 * them. */
static const char *parameter_of(const lw_model *model, const char *line) {
    for (int k = 0; k < lw_model_parameter_count(model); k++) {
        const char *name = lw_model_parameter_name(model, k);
        const size_t length = strlen(name);
        if (strncmp(line, "  ", 2) == 0 && strncmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return name;
    }
    return NULL;
}

/* Says in the file what it is, and takes parameters out of it that nothing mentions. */
static bool say_in_file(const lw_model *model, const char *path) {
    char *text = whole_text(path);
    FILE *file = text ? fopen(path, "wb") : NULL;
    const char *section = text ? strstr(text, "\nparameters:\n") : NULL, *behind = section;
    if (section) /* up to the next section */
        for (behind = section + 13; *behind == ' ';) {
            const char *end = strchr(behind, '\n');
            behind = end ? end + 1 : behind + strlen(behind);
        }
    if (file) {
        bool any = false;
        fputs("# A model that starts in a position of rest, written by linkwork equilibrium. Numbers stand "
              "where the\n"
              "# model had expressions of parameters; parameters that enter nothing else are left out.\n",
              file);
        if (section) fwrite(text, 1, (size_t)(section + 1 - text), file);
        for (const char *line = section ? section + 13 : NULL; line && line < behind;) {
            const char *end = strchr(line, '\n'), *name = parameter_of(model, line);
            const size_t length = end ? (size_t)(end + 1 - line) : strlen(line);
            if (!name || mentions(behind, name)) {
                if (!any) fputs("parameters:\n", file);
                any = true;
                fwrite(line, 1, length, file);
            }
            line += length;
        }
        fputs(section ? behind : text, file);
    }
    bool good = file && !ferror(file);
    if (file && fclose(file) != 0) good = false;
    free(text);
    return good;
}

int equilibrium_write(const cli_command *command, const cli_model *loaded, const cli_changes *changes,
                      const lw_equilibrium *e, double t, const char *path) {
    const lw_model *model = loaded->model;
    lw_error error = {0};
    const size_t joints = lw_spec_joint_count(loaded->spec);
    bool *was = calloc(joints + 1, sizeof *was);
    if (!was) return cli_say(command, CLI_FAILED, "out of memory");
    for (size_t k = 0; k < joints; k++) was[k] = lw_spec_joint(loaded->spec, k)->has_q;
    put_start(model, e, loaded->spec);
    lw_status status = turn_senses(model, e, loaded->spec);
    const bool kept = status == LW_OK && keep_text(command, loaded, changes, e, was, t, path);
    free(was);
    if (status != LW_OK) return cli_fault(command, status, &error);
    if (kept) return CLI_DONE;
    status = lw_write_model(loaded->spec, path, &error);
    if (status != LW_OK) return cli_fault(command, status, &error);
    if (strcmp(path, "-") == 0) return CLI_DONE;
    if (!say_in_file(model, path)) return cli_say(command, CLI_FAILED, "%s could not be written whole", path);
    if (!rests(command, path, loaded, e)) {
        remove(path);
        return cli_say(
            command, CLI_FAILED,
            "--out: the model does not rest there when it starts there, since something in it depends on "
            "its start; give the lengths of springs (length) instead of their start");
    }
    if (lw_model_parameter_count(model) > 0)
        cli_say(
            command, 0,
            "note: %s has numbers in place of expressions, since the text of the model could not be kept; "
            "parameters that enter nothing else are left out of it",
            path);
    return CLI_DONE;
}
