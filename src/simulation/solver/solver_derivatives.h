/* solver_derivatives.h - the inner structure of lw_derivatives, for the analyses that linearise.
 */
#ifndef LW_SOLVER_DERIVATIVES_H
#define LW_SOLVER_DERIVATIVES_H

#include "constraints/loop_derivatives.h"
#include "constraints/tangent_space.h"
#include "linalg/dense.h"
#include <linkwork/derivatives.h>

struct lw_derivatives {
    lw_arena *arena;
    const lw_model *model;
    lw_solver *solver;
    lw_data *data;
    lw_tree_derivatives *tree;
    lw_rows *rows;          /* of closures and constraints; NULL in a tree, as the next one is */
    lw_tangent *tangent;    /* their rank */
    lw_orthogonal *factors; /* of the rows that are kept */
    lw_symmetric *symmetric;
    bool *prescribed; /* per speed */
    int *free;        /* The speeds that are not prescribed, */
    int free_count;   /* and how many they are. */
    int *order;       /* the rows kept, then workspace */
    int *drives;      /* driven ones among the free speeds, then workspace */
    double *vdot, *lambda, *residual;
    double *G;          /* rows x nv, then */
    double *rows_by;    /* rows x columns: derivatives of the rows' accelerations */
    double *rates_by;   /* rows x columns: derivatives of their velocities */
    double *A;          /* free x rows kept: the factors */
    double *N;          /* free x freedom, column by column: a basis of the admissible speeds */
    double *K, *MN;     /* N'M N and M N */
    double *inverse;    /* free x free: N (N'M N)^-1 N' */
    double *particular; /* free x columns: accelerations that keep the rows */
    double *right;      /* free x columns, column by column */
    double *dvdot;      /* free x columns, column by column: the answer */
    int rank, freedom;  /* of the last state */
    int massless;       /* how many motions move no mass; then there are balances alone */
    /* For derivatives of reactions (lw_derivatives_prepare_reactions), or NULL. */
    double *loads, *cut_loads, *reactions, *wrenches, *multipliers;
    struct lw_unit_wrench *units_of_rows;
    bool *unique;
};

/* lw_derivatives_create, for models too some of whose motions move no mass: these have no answer of
 * lw_derivatives_evaluate, but of lw_derivatives_balance. */
lw_status lw_derivatives_create_any(const lw_model *model, const lw_solver_options *options,
                                    const lw_allocator *allocator, lw_derivatives **derivatives,
                                    lw_error *error);
/* Of a state whose motions without mass are to be in balance: q and v that are. */
void lw_derivatives_settle(lw_derivatives *d, double t, double *q, double *v);
/* dR1 into tree->T, M into tree->mass, with rows N and the accelerations that keep them, too: what (3) says
 * where M may be singular along N. */
lw_status lw_derivatives_balance(lw_derivatives *d, double t, const double *q, const double *v,
                                 lw_error *error);

/* All derivatives of the state, into dvdot and inverse; vdot: the accelerations of the state. */
lw_status lw_derivatives_evaluate(lw_derivatives *d, double t, const double *q, const double *v,
                                  const double *tau, lw_error *error);
/* Y (free x nv, column by column) of the last state: dv = Y dq keeps G v where the mechanism is displaced by
 * an admissible dq. Only with rows. */
void lw_derivatives_speeds(lw_derivatives *d, double *Y);
/* dR1 into tree->T and dR2 into rows_by, at the state in data with accelerations vdot and forces tau (NULL:
 * none). */
lw_status lw_derivatives_differentiate(lw_derivatives *d, double t, const double *tau, lw_error *error);
/* After that: the rows that are kept, dimensionless, as columns: factors; N and the accelerations y of
 * (33). */
void lw_derivatives_particular(lw_derivatives *d);

#endif
