/* linearise.h - the linear system near a state: x' = A x + B u, y = C x + D u, and its eigenvalues.
 *
 * x are the changes of independent coordinates, of independent speeds and of the user states; u those of the
 * model's inputs; y those of its outputs or, if it has none, of the independent coordinates. Loops, rolling
 * wheels and prescribed motions are included: where wheels roll there are more coordinates than speeds. About
 * a state that moves, the matrices are those of this instant (docs/theory/linearise.md).
 *
 * Part of the full library, not of linkwork-core.
 */
#ifndef LINKWORK_LINEARISE_H
#define LINKWORK_LINEARISE_H

#include <linkwork/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_linearise_options {
    /* The state; q NULL: the assembled initial state of the model; v NULL: at rest. */
    double t;
    const double *q, *v;
    const double *inputs, *states; /* NULL: the defaults, the start values */
    const char *method;            /* of the accelerations; NULL: the model's, or auto */
    /* Independent coordinates by name ("crank", "slide.x"); NULL: those that move most. As many as the
     * mechanism has degrees of freedom. */
    const char *const *coordinates;
    int coordinate_count;
} lw_linearise_options;

typedef struct lw_linear_system {
    int states, inputs, outputs;
    int coordinates, speeds, user_states; /* of the states, in this order */
    const char *const *state_names, *const *input_names, *const *output_names;
    const double *A, *B, *C, *D;  /* row by row */
    const double *eigenvalues;    /* real and imaginary part of each, `states` of them, by magnitude */
    const double *rates;          /* x' in the state itself: zero in an equilibrium */
    int controllable, observable; /* the dimensions of these subspaces */
    double t;
    const double *q, *v;      /* the state */
    const int *coordinate_of; /* per independent coordinate and speed: the number of its speed in v */
    /* Outputs of the model that have no row, since they need what only a run has. Rows of outputs that need
     * reactions, forces or accelerations of bodies are differences of fourth order, if no output needs what
     * only a run has. */
    const char *const *left_out;
    int left_out_count;
    /* dq = motions dz, nv x coordinates, and dv = speed_motions du where the position stays, nv x speeds; row
     * by row. */
    const double *motions, *speed_motions;
    /* Motions that move no mass: those that dampers resist have coordinates and no speeds, and those that
     * springs alone hold have neither (docs/theory/linearise.md). */
    int first_order, algebraic;
} lw_linear_system;

/* Fills the options with their defaults. */
LW_API void lw_linearise_defaults(const lw_model *model, lw_linearise_options *options);
/* LW_ERROR_ARGUMENT: named coordinates are not independent, or not as many as needed. LW_ERROR_UNSUPPORTED:
 * as lw_derivatives_create, or the rate of a user state has no derivatives. */
LW_API lw_status lw_linearise(const lw_model *model, const lw_linearise_options *options,
                              lw_linear_system **system, lw_error *error);
LW_API void lw_linear_system_destroy(lw_linear_system *system);

/* Writes the system to a file: MATLAB's format (.mat, version 4) with A, B, C, D, eigenvalues and the names
 * as rows of characters, or comma-separated values (.csv) with one block for each matrix. */
LW_API lw_status lw_linear_system_write(const lw_linear_system *system, const char *path, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
