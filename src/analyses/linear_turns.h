/* linear_turns.h - the reduction of a linear system with motions that move no mass, and how these turn.
 */
#ifndef LW_LINEAR_TURNS_H
#define LW_LINEAR_TURNS_H

#include "analyses/linear_parts.h"

typedef struct lw_linear_reduction {
    lw_linear_work *w;
    int n, ni, fq, f, ns;       /* states and inputs; coordinates, speeds, user states */
    int still, dynamic;         /* motions without mass, and speeds that stay */
    int damped, held;           /* motions without mass: with dampers, held by springs alone */
    int *of_dynamic, *of_still; /* among the independent speeds */
    int *order, *place, *pivots;
    int *own_held;       /* coordinates that stand for what springs hold */
    double *unit;        /* per independent speed */
    double *M, *Mdd, *X; /* f x f; dynamic x dynamic, factored; dynamic x still, column by column */
    double *T;           /* f x still, column by column */
    double *rows;        /* T'(Aw, Bw): still x (n + ni), row by row, with speeds (dynamic, still) */
    double *bounds;      /* the sizes of what cancels in them */
    double *E, *left, *right, *Z, *K, *Y;
    double *row;   /* n + ni */
    double *S, *U; /* n x reduced states, n x inputs, row by row */
    /* Where motions without mass turn: */
    bool turns;
    double *turn_z, *turn_rate, *turning; /* dynamic x fq, dynamic x n, row by row; dynamic */
    double *moved, *speeds, *motion, *rate, *moved_v, *start, *other_X, *basis, *other_M, *block, *turned_N;
    lw_orthogonal *factors;
    lw_symmetric *symmetric;
} lw_linear_reduction;

/* Whether X differs at positions nearby: displaced by all independent motions at a time, or by the motion
 * itself, in which time passes and prescribed motions go on. */
bool lw_linear_turns(lw_linear_reduction *r, double t, const double *q, const double *v);
/* What turning adds: turn_z, what displacements change in X w; turn_rate, what they and speeds change in X v'
 * + X' v; and X' v itself. False: there are no such positions nearby. */
bool lw_linear_find_turns(lw_linear_reduction *r, double t, const double *q, const double *v,
                          const double *vdot);

#endif
