/* code_files.h - what generated C consists of: the routines of a model, and the three files.
 */
#ifndef LW_CODE_FILES_H
#define LW_CODE_FILES_H

#include "export/code/code_loop.h"
#include "export/code/code_print.h"
#include <linkwork/export.h>
#include <linkwork/solver.h>
#include <linkwork/version.h>

enum {
    CODE_FORWARD,
    CODE_INVERSE,
    CODE_MASS_MATRIX,
    CODE_KINEMATICS,
    CODE_RATES,
    CODE_GRADIENTS,
    CODE_CLOSE_Q, /* the way back onto the closures: positions, */
    CODE_CLOSE_V, /* velocities */
    CODE_ROUTINES
};

typedef struct code_plan {
    const lw_model *model;    /* the caller's */
    const lw_model *dynamics; /* its merged form */
    lw_code_options options;
    char name[64], upper[64];
    code_graph graph;
    bool wanted[CODE_ROUTINES], step;
    code_routine routines[CODE_ROUTINES];
    int batch_kept;
    bool composite; /* forward dynamics by the mass matrix */
    bool loops;     /* there are rows of closures or constraints */
    code_rows rows;
    const double *q0, *v0; /* where NAME_start begins: closed */
    bool *driven;          /* per speed: inverse dynamics may use it; NULL: all */
} code_plan;

/* NAME.h and NAME.c; NAME_test.c with the library's figures (code_test.c). */
lw_status code_write_header(code_plan *plan, const char *folder, lw_error *error);
lw_status code_write_source(code_plan *plan, const char *folder, lw_error *error);
lw_status code_write_test(code_plan *plan, code_closer *closer, const char *folder, lw_error *error);

/* --- code_step.c ---------------------------------------------------------------------------------- */

void code_print_step_members(const code_plan *plan, FILE *file);
void code_print_step_header(const code_plan *plan, FILE *file, const char *real);
void code_print_steps(const code_plan *plan, const code_writer *w);
typedef struct code_reference_state {
    double t;
    const double *q, *v, *inputs, *states;
} code_reference_state;
/* Of mechanisms with loops: a solver that reads its user states from an array, and the way back. */
typedef struct code_reference_loops {
    lw_solver *solver;
    double *states;
    code_closer *closer;
    double drift; /* out: how far closing moved the state */
} code_reference_loops;
/* Copies the entries of q, and v behind them, that follow motions. */
void code_keep_prescribed(const lw_model *model, const double *from, double *to);
/* The same step by the library: q, v and user states behind it into out. loops: NULL of trees. */
lw_status code_reference_step(const lw_model *model, lw_data *data, const code_reference_state *from,
                              const double *tau, double h, bool semi_implicit, code_reference_loops *loops,
                              double *out, lw_error *error);

/* --- code_close.c --------------------------------------------------------------------------------- */

void code_print_unit(const code_plan *plan, const code_writer *w);
void code_print_close_members(const code_plan *plan, FILE *file, const char *real);
void code_print_close_header(const code_plan *plan, FILE *file, const char *real);
void code_print_close(const code_plan *plan, const code_writer *w);

/* --- code_batch.c --------------------------------------------------------------------------------- */

void code_print_batch_header(const code_plan *plan, FILE *file);
/* After the functions of one state; sets how many values it keeps. */
void code_print_batch(code_plan *plan, FILE *file);

/* --- code_gradients.c ----------------------------------------------------------------------------- */

/* The routine inverse_derivatives, from the nodes of inverse dynamics. */
void code_add_gradients(code_plan *plan, code_build *b, const code_node *tau);
void code_print_gradients_header(const code_plan *plan, FILE *file, const char *real);
/* Derivatives of accelerations, from those of forces. */
void code_print_gradients(const code_plan *plan, const code_writer *w);
/* By the library, nv x nv each: of forces by q, v; of accelerations by q, v. */
lw_status code_reference_gradients(const lw_model *model, const code_reference_state *at, const double *tau,
                                   const double *vdot, double *const out[4], lw_error *error);

FILE *code_open(const code_plan *plan, const char *folder, const char *ending, char path[4096],
                lw_error *error);
lw_status code_close(FILE *file, const char *path, lw_error *error);
code_writer code_writer_for(code_plan *plan, FILE *file);
/* A name as it may stand in C: lower case, underscores. */
void code_identifier(const char *name, char *out, size_t size);

#endif
