/* code_print.h - C from a graph: routines, their schedule, the functions that they are split into.
 */
#ifndef LW_CODE_PRINT_H
#define LW_CODE_PRINT_H

#include "export/code/code_graph.h"

#include <stdio.h>

/* A value that a routine computes, and the place to which it is assigned, as C. */
typedef struct code_output {
    code_node node;
    char place[56];
} code_output;

typedef struct code_routine {
    const char *name;       /* forward, behind the prefix */
    bool internal;          /* not in the header: static */
    const char *parameters; /* of the function, behind the state: "const double tau[...], ..." */
    const char *arguments;  /* the same as names, for the functions that it is split into */
    code_output *outputs;
    int output_count, output_room;
    /* Nodes that have to be larger than these numbers, or the routine returns SINGULAR. */
    code_node *pivots;
    double *floors;
    int pivot_count;
    /* out: what it costs */
    int additions, multiplications, divisions, functions, parts, kept;
} code_routine;

typedef struct code_writer {
    FILE *file;
    code_graph *g;
    const char *prefix, *upper; /* NAME, and the same in upper case */
    const char *real;           /* double or float */
    bool single;
    int lanes; /* 1, or the states of a batch */
    const char *const *parameter_names;
    bool failed;
} code_writer;

void code_routine_add(code_routine *routine, code_graph *g, code_node node, const char *format, ...)
    LW_PRINTF(4, 5);
void code_routine_destroy(code_routine *routine);
/* Does it consist of arithmetic, and of sines and cosines of joints' angles, alone? */
bool code_routine_is_arithmetic(const code_graph *g, const code_routine *routine);
/* Counts the operations of a routine, with the additions. */
bool code_routine_count(code_graph *g, code_routine *routine);
/* Prints the routine. Afterwards routine->kept is the number of values that it keeps in the workspace. */
void code_print_routine(code_writer *w, code_routine *routine);
/* A number that reads back as itself, with a suffix for float. */
void code_print_number(const code_writer *w, double value, char text[40]);
/* Helpers that the nodes which these routines need call: sines, mod, sign, tables. (code_helpers.c) */
void code_print_helpers(code_writer *w, const code_routine *routines, int count);
/* Marks all nodes that the outputs and pivots need; live has g->count entries. */
void code_mark(const code_graph *g, const code_routine *routine, bool *live);

#endif
