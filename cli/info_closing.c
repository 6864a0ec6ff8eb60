/* info_closing.c - the part of linkwork info on closed loops: assembly of the initial state, mobility,
 * redundant rows.
 */
#include "info_closing.h"

#include <stdlib.h>

typedef struct closing {
    bool assembled;
    lw_assembly assembly;
    lw_mobility *mobility; /* NULL if it is not known */
    char fault[1024];      /* why it is not known */
} closing;

static void examine(const lw_model *model, closing *c) {
    *c = (closing){.assembled = false};
    double *q = calloc((size_t)lw_model_q_size(model) + 1, sizeof *q);
    double *v = calloc((size_t)lw_model_v_size(model) + 1, sizeof *v);
    lw_error error = {0};
    if (q && v) {
        lw_model_initial_state(model, q, v);
        c->assembled = lw_assemble(model, 0, q, v, &c->assembly, &error) == LW_OK;
        if (c->assembled) lw_mobility_create(model, 0, q, &c->mobility, &error);
    }
    if (!c->mobility) {
        error.file[0] = '\0';
        lw_error_format(&error, c->fault, sizeof c->fault);
    }
    free(q), free(v);
}

static void print_given(const lw_model *model, int joint, double change, const char *what) {
    if (joint < 0) return;
    printf("  given initial %s do not fit together and were taken as approximate: joint \"%s\" changed by "
           "%.3g\n",
           what, lw_model_joint_info(model, joint).name, change);
}

void info_print_closing(const lw_model *model) {
    closing c;
    examine(model, &c);
    if (!c.assembled || !c.mobility) {
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
        printf("  initial state closed to %.2g (position), %.2g (velocity), %d rounds\n", c.assembly.position,
               c.assembly.velocity, c.assembly.rounds);
    print_given(model, c.assembly.moved_joint, c.assembly.moved, "coordinates");
    print_given(model, c.assembly.changed_joint, c.assembly.changed, "speeds");
    if (rows > rank)
        printf("  redundant rows, which could be left out (reactions are then not all unique)\n");
    for (int k = 0; k < rows - rank; k++) printf("    %s\n", lw_mobility_redundant(c.mobility, k));
    lw_mobility_destroy(c.mobility);
}

void info_json_closing(json *j, const lw_model *model) {
    closing c;
    examine(model, &c);
    json_object(j, "mobility");
    json_bool(j, "assembled", c.assembled);
    if (c.mobility) {
        int rows = lw_mobility_rows(c.mobility), rank = lw_mobility_rank(c.mobility);
        json_integer(j, "freedom", lw_mobility_freedom(c.mobility));
        json_integer(j, "speeds", lw_mobility_speeds(c.mobility));
        json_integer(j, "rows", rows);
        json_integer(j, "rank", rank);
        json_array(j, "redundant");
        for (int k = 0; k < rows - rank; k++) json_text(j, NULL, lw_mobility_redundant(c.mobility, k));
        json_array_end(j);
        json_number(j, "position_violation", c.assembly.position);
        json_number(j, "velocity_violation", c.assembly.velocity);
        json_number(j, "given_moved_by", c.assembly.moved);
        json_number(j, "given_changed_by", c.assembly.changed);
    } else
        json_text(j, "reason", c.fault);
    json_object_end(j);
    lw_mobility_destroy(c.mobility);
}
