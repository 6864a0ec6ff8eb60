/* linear_parts.h - a linear system near a state, for the analyses that use one: linearise, equilibrium,
 * modes.
 */
#ifndef LW_LINEAR_PARTS_H
#define LW_LINEAR_PARTS_H

#include "simulation/solver/solver_derivatives.h"
#include <linkwork/linearise.h>

typedef struct lw_linear_work {
    lw_arena *arena;
    lw_derivatives *derivatives;
    lw_orthogonal *factors;
    int coordinates, speeds, n, outputs; /* n: states */
    int *named;                          /* coordinates of the user's choice, as indices of the free speeds */
    double *Nq, *Nv;                     /* free x coordinates, free x speeds, column by column */
    int *own_q, *own_v;                  /* the free speeds that stand for their columns */
    /* Those that are to stand for them again, whatever moves most; NULL: no such demand. */
    const int *kept_q, *kept_v;
    double *Lq, *Lv; /* nv x n row by row: dq = Lq x + Uq u, dv = Lv x + Uv u, */
    double *Uq, *Uv; /* nv x inputs; zero unless motions move no mass */
    double *A, *B, *C, *D, *rates, *eigenvalues;
    bool *slides; /* per speed */
    /* workspaces */
    double *square, *block, *row, *subspace, *accelerations;
    int *order, *output_of; /* output_of: the model's outputs that have rows */
    int *shown;             /* where it has none: the free speeds of the coordinates that are outputs */
    int rolling;            /* how many more coordinates than speeds, before the next two leave some out */
    int first_order, algebraic; /* motions that move no mass: with dampers, and held by springs alone */
    bool *shared;     /* per coordinate and speed: less what motions without mass do to it; or NULL */
    bool input_rates; /* Speeds of the latter depend on rates of inputs. */
    int rigid, zeros; /* if motions move no mass: motions that nothing opposes, zero eigenvalues of these */
} lw_linear_work;

/* massless: models some of whose motions move no mass are not refused; lw_linear_at then allocates. */
lw_status lw_linear_create(lw_linear_work *work, const lw_model *model, const lw_linearise_options *options,
                           bool massless, lw_error *error);
/* All but eigenvalues, at a state that satisfies closures and constraints. */
lw_status lw_linear_at(lw_linear_work *work, const lw_linearise_options *options, double t, const double *q,
                       const double *v, lw_error *error);
/* Rows of (N'M N) w' = A x + B u, as (3) says it in the basis Nv, -N'(dR1 + M y) + N'M N y_J, after
 * lw_derivatives_balance: speeds x n and speeds x inputs, added to what stands there. */
void lw_linear_forces(lw_linear_work *work, double *A, double *B);
void lw_linear_destroy(lw_linear_work *work);
/* The state of the options, or the assembled initial one. */
lw_status lw_linear_start(const lw_model *model, const lw_linearise_options *options, double *q, double *v,
                          lw_error *error);
/* The name of a coordinate (order 0) or speed (1) of the tree by its number in v. */
void lw_state_name(const lw_model *model, int speed, int order, char *text, size_t size);

#endif
