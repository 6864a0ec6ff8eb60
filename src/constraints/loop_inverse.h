/* loop_inverse.h - the forces of drives for a given motion of a mechanism with loops.
 */
#ifndef LW_LOOP_INVERSE_H
#define LW_LOOP_INVERSE_H

#include "constraints/balance/balance.h"
#include "constraints/tangent_space.h"
#include "linalg/dense.h"

/* Speeds by sets of coupled loops: those of set c are item[start[c]] .. item[start[c + 1] - 1]. */
typedef struct lw_speed_sets {
    int *start, *item;
} lw_speed_sets;

typedef struct lw_loop_inverse {
    lw_arena *arena;
    const lw_model *model;
    lw_data *data;
    lw_rows *rows; /* Of closures and constraints. */
    lw_tangent *tangent;
    lw_balance *balance;
    bool *prescribed, *driven;            /* Per speed; never both. */
    bool all;                             /* All speeds are driven that are not prescribed. */
    lw_speed_sets speeds, drives, actors; /* All speeds; the driven ones; these and the prescribed ones. */
    int most;                             /* The largest number of speeds of one set. */
    /* The dense problem of one set of coupled loops; only if not all speeds are driven. */
    double *M, *b, *y; /* T_D, drives x freedoms; its two sides. */
    int *null, *order; /* The speeds at whose places the tangent space stands. */
    lw_orthogonal *work;
    /* Of the last motion. */
    double *v, *vdot; /* With prescribed entries. */
    double *r, *x, *force, *lambda, *rest, *bodies;
    double *reactions, *multipliers;
    double *missing; /* Per speed: a motion in which no drive acts; */
    double lacks;    /* and the size of what is left of (8). */
} lw_loop_inverse;

/* driven: per speed; NULL: all. NULL when memory is out. */
lw_loop_inverse *lw_loop_inverse_create(const lw_model *model, const bool *driven, const double *inputs,
                                        const double *states);
void lw_loop_inverse_destroy(lw_loop_inverse *s);

/* The rows, and g, at a state; v may be NULL: at rest. No call from here on allocates. */
void lw_loop_inverse_at(lw_loop_inverse *s, double t, const double *q, const double *v);
/* The forces tau of the drives, prescribing ones included, zero elsewhere. *amount is what the balance check
 * finds. LW_ERROR_ARGUMENT: the motion contradicts the rows. LW_ERROR_SINGULAR: the drives cannot do it. The
 * reactions, with one possible choice where they are not unique, are in s->reactions. */
lw_status lw_loop_inverse_solve(lw_loop_inverse *s, double t, const double *q, const double *v,
                                const double *vdot, double *tau, double *amount, lw_error *error);
/* Per speed: are these forces the only ones? At positions q. */
void lw_loop_inverse_unique(lw_loop_inverse *s, double t, const double *q, bool *unique);
/* H'A - gamma of the rows at the state in data, for joint accelerations vdot (NULL: zero). bodies: 12 numbers
 * per body, 0 .. n. */
void lw_loop_accelerations(const lw_model *model, const lw_data *data, const lw_rows *rows,
                           const double *vdot, double *bodies, double *out);

#endif
