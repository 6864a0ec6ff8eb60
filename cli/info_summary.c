/* info_summary.c - a model in at most fifteen lines: what it consists of, how it can move, which joints close
 * its loops, which methods apply, what auto takes, and what to beware of.
 *
 * Every list is cut where its line would become too long to be read at a glance; --all has all of it.
 */
#include "info_summary.h"

#include "info_massless.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 4, LINE_MAX_LENGTH = 96 };

static void print_part(int count, const char *one, const char *many) {
    if (count > 0) printf(", %d %s", count, count == 1 ? one : many);
}

static void print_contents(const cli_model *m) {
    const lw_model *model = m->model;
    const int bodies = lw_model_body_count(model), merged = lw_model_merged_count(model);
    printf("  contents      %d %s", bodies, bodies == 1 ? "body" : "bodies");
    print_part(lw_model_joint_count(model), "joint", "joints");
    print_part(lw_model_loop_count(model), "loop", "loops");
    print_part(lw_model_force_count(model), "force", "forces");
    print_part(lw_model_constraint_count(model), "constraint", "constraints");
    print_part(lw_model_frame_count(model), "frame", "frames");
    print_part(lw_model_input_count(model), "input", "inputs");
    print_part(lw_model_state_count(model), "state", "states");
    print_part(lw_model_output_count(model), "output", "outputs");
    print_part(merged, "weld merged", "welds merged");
    printf("\n");
}

static void print_coordinates(const lw_model *model) {
    int prescribed = 0, rows = 0;
    for (int i = 0; i < lw_model_joint_count(model); i++) {
        const lw_joint_info joint = lw_model_joint_info(model, i);
        for (int k = 0; k < joint.v_count; k++) prescribed += (joint.prescribed >> k) & 1u;
        rows += joint.rows;
    }
    printf("  coordinates   %d in q, %d in v", lw_model_q_size(model), lw_model_v_size(model));
    if (prescribed > 0) printf(", of which %d prescribed", prescribed);
    if (rows > 0) printf("; %d closure row%s", rows, rows == 1 ? "" : "s");
    printf("\n");
}

/* The joints that close loops, the first few by name. */
static void print_closures(const lw_model *model) {
    const int loops = lw_model_loop_count(model);
    if (loops == 0) return;
    printf("  closed by    ");
    for (int l = 0; l < loops && l < NAMES_MAX; l++) {
        cli_shown name;
        printf("%s %s", l ? "," : "",
               cli_show(lw_model_joint_info(model, lw_model_loop_cut(model, l)).name, &name));
    }
    if (loops > NAMES_MAX) printf(" and %d more", loops - NAMES_MAX);
    printf("\n");
}

/* The names of the methods that apply, in lines of readable length. */
static void print_methods(const lw_model *model) {
    int applicable = 0, used = 0;
    printf("  methods      ");
    for (int i = 0; i < lw_method_count(); i++) {
        const char *name = lw_method_at(i).name;
        lw_error error = {0};
        if (lw_method_applies(name, model, &error) != LW_OK) continue;
        if (used + (int)strlen(name) > LINE_MAX_LENGTH) {
            printf(",\n               ");
            used = 0;
        } else if (applicable)
            printf(",");
        used += printf(" %s", name);
        applicable++;
    }
    printf("%s\n", applicable ? "" : " none applies; --all gives the reasons");
}

static void print_choice(const lw_model *model, const info_start *start) {
    char why[256] = "";
    const char *method = start->assembled
                             ? lw_method_auto_at(model, start->t, start->q, start->v, why, sizeof why, NULL)
                             : lw_method_auto(model, why, sizeof why, NULL);
    if (method) printf("  auto takes    %s%s%s\n", method, why[0] ? ": " : "", why);
}

/* Warnings of reading and compiling have been printed on standard error; here is only their number. */
static void print_warnings(const cli_model *m) {
    if (m->warnings > 0)
        printf("  %swarnings%s      %zu, printed above; linkwork check lists them\n",
               terminal_style(stdout, TERMINAL_WARNING), terminal_style(stdout, TERMINAL_PLAIN), m->warnings);
}

void info_print_summary(const cli_model *m, const info_start *start) {
    cli_shown name, path;
    printf("%s%s%s (%s)\n", terminal_style(stdout, TERMINAL_STRONG), cli_show(lw_model_name(m->model), &name),
           terminal_style(stdout, TERMINAL_PLAIN), cli_show(m->path, &path));
    print_contents(m);
    print_coordinates(m->model);
    info_summarise_closing(m->model, start);
    print_closures(m->model);
    info_summarise_massless(m);
    print_methods(m->model);
    print_choice(m->model, start);
    print_warnings(m);
    printf("more: linkwork info %s --all (bodies, joints, graph, loops, every method's reason)\n",
           cli_show(m->path, &path));
}
