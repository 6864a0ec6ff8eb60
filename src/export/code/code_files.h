/* code_files.h - what generated C consists of: the routines of a model, and the three files.
 */
#ifndef LW_CODE_FILES_H
#define LW_CODE_FILES_H

#include "export/code/code_build.h"
#include "export/code/code_print.h"
#include <linkwork/export.h>
#include <linkwork/version.h>

enum { CODE_ROUTINES = 5 };
enum { CODE_FORWARD, CODE_INVERSE, CODE_MASS_MATRIX, CODE_KINEMATICS, CODE_RATES };

typedef struct code_plan {
    const lw_model *model;    /* the caller's */
    const lw_model *dynamics; /* its merged form */
    lw_code_options options;
    char name[64], upper[64];
    code_graph graph;
    bool wanted[CODE_ROUTINES];
    code_routine routines[CODE_ROUTINES];
    bool composite; /* forward dynamics by the mass matrix */
} code_plan;

/* NAME.h and NAME.c; NAME_test.c with the library's figures (code_test.c). */
lw_status code_write_header(code_plan *plan, const char *folder, lw_error *error);
lw_status code_write_source(code_plan *plan, const char *folder, lw_error *error);
lw_status code_write_test(code_plan *plan, const char *folder, lw_error *error);

FILE *code_open(const code_plan *plan, const char *folder, const char *ending, char path[4096],
                lw_error *error);
lw_status code_close(FILE *file, const char *path, lw_error *error);
code_writer code_writer_for(code_plan *plan, FILE *file);
/* A name as it may stand in C: lower case, underscores. */
void code_identifier(const char *name, char *out, size_t size);

#endif
