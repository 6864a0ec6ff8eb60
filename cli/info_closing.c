/* info_closing.c - the part of linkwork info on closed loops: assembly of the initial state, mobility,
 * redundant rows.
 */
#include "info_closing.h"

#include <stdlib.h>

typedef struct closing {
    lw_mobility *mobility; /* NULL if it is not known */
    char fault[1024];      /* why it is not known */
} closing;

bool info_find_start(const cli_command *command, const lw_model *model, info_start *start) {
    lw_run_options options;
    lw_run_defaults(model, &options);
    *start = (info_start){.t = options.start,
                          .q = cli_numbers(command, lw_model_q_size(model)),
                          .v = cli_numbers(command, lw_model_v_size(model))};
    if (!start->q || !start->v) return false;
    start->assembled = lw_run_start(model, &options, start->q, start->v, &start->assembly, NULL, NULL, 0,
                                    &start->error) == LW_OK;
    return true;
}

void info_free_start(info_start *start) {
    free(start->q);
    free(start->v);
}

static void examine(const lw_model *model, const info_start *start, closing *c) {
    *c = (closing){.mobility = NULL};
    lw_error error = start->error;
    if (start->assembled) lw_mobility_create(model, start->t, start->q, &c->mobility, &error);
    if (c->mobility) return;
    error.file[0] = '\0';
    lw_error_format(&error, c->fault, sizeof c->fault);
}

static void print_given(const lw_model *model, int joint, double change, const char *what) {
    if (joint < 0) return;
    printf("  given initial %s do not fit together and were taken as approximate: joint \"%s\" changed by "
           "%.3g\n",
           what, lw_model_joint_info(model, joint).name, change);
}

void info_print_closing(const lw_model *model, const info_start *start) {
    const lw_assembly *assembly = &start->assembly;
    closing c;
    examine(model, start, &c);
    if (!c.mobility) {
        printf("\nmobility: not known, %s\n", c.fault);
        return;
    }
    int rows = lw_mobility_rows(c.mobility), rank = lw_mobility_rank(c.mobility);
    printf("\nmobility: %d, from %d speeds of the tree", lw_mobility_freedom(c.mobility),
           lw_mobility_speeds(c.mobility));
    if (rows > 0) printf(" and %d rows of closures and constraints of rank %d", rows, rank);
    printf("\n");
    if (cli_cannot_move(model, c.mobility)) printf("  warning: mobility 0: nothing can move\n");
    if (rows > 0)
        printf("  initial state closed to %.2g (position), %.2g (velocity), %d rounds\n", assembly->position,
               assembly->velocity, assembly->rounds);
    print_given(model, assembly->moved_joint, assembly->moved, "coordinates");
    print_given(model, assembly->changed_joint, assembly->changed, "speeds");
    if (rows > rank)
        printf("  redundant rows, which could be left out (reactions are then not all unique)\n");
    for (int k = 0; k < rows - rank; k++) printf("    %s\n", lw_mobility_redundant(c.mobility, k));
    lw_mobility_destroy(c.mobility);
}

void info_summarise_closing(const lw_model *model, const info_start *start) {
    closing c;
    examine(model, start, &c);
    if (!c.mobility) {
        printf("  mobility      not known, %s\n", c.fault);
        return;
    }
    const int rows = lw_mobility_rows(c.mobility), rank = lw_mobility_rank(c.mobility);
    printf("  mobility      %d", lw_mobility_freedom(c.mobility));
    if (rows > 0)
        printf(": %d speeds of the tree less %d independent row%s", lw_mobility_speeds(c.mobility), rank,
               rank == 1 ? "" : "s");
    if (rows > rank) printf("; %d redundant, so that reactions are not all unique", rows - rank);
    printf("%s\n", cli_cannot_move(model, c.mobility) ? "; nothing can move" : "");
    lw_mobility_destroy(c.mobility);
}

void info_json_closing(json *j, const lw_model *model, const info_start *start) {
    const lw_assembly *assembly = &start->assembly;
    closing c;
    examine(model, start, &c);
    json_object(j, "mobility");
    json_bool(j, "assembled", start->assembled);
    if (c.mobility) {
        int rows = lw_mobility_rows(c.mobility), rank = lw_mobility_rank(c.mobility);
        json_integer(j, "freedom", lw_mobility_freedom(c.mobility));
        json_integer(j, "speeds", lw_mobility_speeds(c.mobility));
        json_integer(j, "rows", rows);
        json_integer(j, "rank", rank);
        json_array(j, "redundant");
        for (int k = 0; k < rows - rank; k++) json_text(j, NULL, lw_mobility_redundant(c.mobility, k));
        json_array_end(j);
        json_number(j, "position_violation", assembly->position);
        json_number(j, "velocity_violation", assembly->velocity);
        json_number(j, "given_moved_by", assembly->moved);
        json_number(j, "given_changed_by", assembly->changed);
    } else
        json_text(j, "reason", c.fault);
    json_object_end(j);
    lw_mobility_destroy(c.mobility);
}
