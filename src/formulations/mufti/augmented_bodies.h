/* augmented_bodies.h - the rotational equations of a mechanism after elimination of the translations of its
 * tree: augmented bodies.
 *
 *   K wdot - C Q lambda - N lambda* = right                                           (28), (38), (51)
 *   -N'wdot - S lambda*             = right_star                                      (71-73)
 *
 * lambda are the multipliers of the tree's rotational rows, which are kept as they are, lambda* those of
 * closures and constraints. Bodies 1 .. n have three numbers each, in world axes.
 */
#ifndef LW_AUGMENTED_BODIES_H
#define LW_AUGMENTED_BODIES_H

#include "constraints/newton_euler_system.h"
#include "linalg/dense.h"

typedef struct lw_augmented_bodies {
    lw_newton_euler *s;
    int n; /* The number of bodies. */
    /* Every joint of the tree transmits all components of a force or none: vectors d_ik and blocks as in
     * (35). */
    bool blockwise;

    /* The tree of force transmission: a body is attached to its parent if their joint transmits a force. */
    int *up;        /* 1 .. n: that parent, or 0. */
    int *root;      /* 1 .. n: the first body on its path from ground in this tree. */
    double *beyond; /* 1 .. n: mass of the body and of all bodies beyond it. */

    /* Translational rows of the tree joints; those of body i from force_at[i]. */
    int forces, *force_at, *force_row;
    double *reach; /* 3 each: T2 is reach for the bodies beyond the joint and 0 for the others. */
    /* The directions that these rows leave free, the columns of N: displacements of all bodies beyond. Those
     * of body i start at slide_at[i]. */
    int slides, *slide_at;
    double *slide;      /* 3 each, unit vectors */
    double *slide_mass; /* N'M N, factored */

    int stars; /* The number of rows of closures and constraints, which start at rows->tree_count. */
    double *d; /* blockwise: d_ik, three numbers from 3 (i - 1 + n (k - 1)) */
    double *K; /* 3n x 3n, both triangles */
    double *N; /* 3n x stars */
    double *S; /* stars x stars */
    double *right, *right_star;
    double *velocity; /* Blockwise: the terms (36, 37) due to the velocities of ball joints, 3 per body. */

    double *own, *out, *moment; /* Blockwise, per body: see augmented_bodies.c. */
    /* Workspace: per slide and star; per body; per translational row; per slide. */
    double *slide_star, *x, *y, *z, *w, *f, *c;
    lw_symmetric *work;
} lw_augmented_bodies;

/* Refuses trees in which a part without mass slides, and more unknowns than the limit of dense methods. */
lw_status lw_augmented_applies(const char *method, const lw_model *model, int unknowns, lw_error *error);
/* general: use the form for all joints even where blocks are possible. Returns NULL when memory is out. */
lw_augmented_bodies *lw_augmented_create(lw_newton_euler *s, bool general);
void lw_augmented_destroy(lw_augmented_bodies *a);

/* Does a row of a tree joint transmit a force? (The advance of a screw does, together with a torque.) */
bool lw_augmented_is_force(const lw_model *model, const lw_row *row);
/* The number of rows of closures and constraints. */
int lw_augmented_stars(const lw_model *model);

/* Computes the directions reach and slide at the state in s. */
void lw_augmented_directions(lw_augmented_bodies *a);
/* Computes K, N and S at the state in s. */
lw_status lw_augmented_at(lw_augmented_bodies *a, lw_error *error);
/* right and right_star for forces u and rows gamma. For those of the state, the velocity terms are built from
 * blocks where K is. */
void lw_augmented_right(lw_augmented_bodies *a, const double *u, const double *gamma);
/* x = T2'f: displacements of the bodies, three numbers each, whose translational rows give f. */
void lw_augmented_displace(const lw_augmented_bodies *a, const double *f, double *x);
/* f = T2 y; y is replaced by its sums over all bodies beyond each body. */
void lw_augmented_forces(const lw_augmented_bodies *a, double *y, double *f);
/* out = D x, both three numbers per body. */
void lw_augmented_shift(lw_augmented_bodies *a, const double *x, double *out);
/* acceleration (6 per body) and lambda (except for the tree's rotational rows) from wdot and lambda*, for u
 * and gamma. */
void lw_augmented_expand(lw_augmented_bodies *a, const double *u, const double *gamma, const double *wdot,
                         const double *lambda_star, double *acceleration, double *lambda);

/* dual_i . basis_j = delta_ij for three independent vectors. */
void lw_dual_basis(const double basis[9], double dual[9]);

#endif
