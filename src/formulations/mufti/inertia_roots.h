/* inertia_roots.h - principal axes and moments of all bodies: square roots of their inertias, also where
 * these are singular.
 */
#ifndef LW_INERTIA_ROOTS_H
#define LW_INERTIA_ROOTS_H

#include "constraints/newton_euler_system.h"

/* I_i = sum of moment[k] axis_k axis_k', k = 0 .. 2. A moment that is nothing but rounding is set to zero
 * (points, rods). */
typedef struct lw_roots {
    int bodies;
    double *own;    /* 9 per body: three axes in the body frame. */
    double *axes;   /* 9 per body: the same in world axes, at the state of the last lw_roots_at. */
    double *moment; /* 3 per body */
} lw_roots;

/* Returns NULL when memory is out. The arena owns the result. */
lw_roots *lw_roots_create(const lw_model *model, lw_arena *arena);
void lw_roots_at(lw_roots *roots, const lw_newton_euler *s);

#endif
