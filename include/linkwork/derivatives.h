/* derivatives.h - exact derivatives of the dynamics with respect to coordinates, speeds, forces, inputs and
 * user states, loops and constraints included: of accelerations, of reactions, of the forces of drives.
 *
 * Columns for coordinates are motions: column k is the change per unit along the motion that speed k makes,
 * q displaced as lw_integrate_q does it, with the numbers in v kept. So there are nv of them, for quaternions
 * too. At prescribed coordinates all columns are zero, since q and v are not taken from the caller there.
 *
 * With loops or constraints a state can only change along them. Then matrices are to be multiplied by changes
 * (dq, dv) that closures and constraints admit, as lw_solver_tangent_basis has them for dq; single columns
 * have no meaning of their own.
 *
 * An input that is NAN has its default, an expression; its column is that of a number added to the default.
 *
 * Derivatives are exact (docs/theory/derivatives.md), and at kinks and jumps of expressions those of the
 * branch that holds in the state. Every call belongs to one thread; nothing allocates after creation.
 *
 *   lw_derivatives_create(model, NULL, NULL, &derivatives, &error);
 *   lw_derivatives_of_accelerations(derivatives, t, q, v, NULL, &(lw_acceleration_derivatives){.dq = dq},
 *   &error);
 */
#ifndef LINKWORK_DERIVATIVES_H
#define LINKWORK_DERIVATIVES_H

#include <linkwork/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_derivatives lw_derivatives;

/* options: of the solver that finds the accelerations (NULL: lw_solver_defaults); its inputs and user states
 * are those of the derivatives. LW_ERROR_UNSUPPORTED: the model has motions that move no mass, or prescribed
 * motions that depend on user states; the sentence names one. */
LW_API lw_status lw_derivatives_create(const lw_model *model, const lw_solver_options *options,
                                       const lw_allocator *allocator, lw_derivatives **derivatives,
                                       lw_error *error);
LW_API void lw_derivatives_destroy(lw_derivatives *derivatives);

/* Places for the results, row by row; each may be NULL. */
typedef struct lw_acceleration_derivatives {
    double *vdot;    /* nv: the accelerations themselves */
    double *dq, *dv; /* nv x nv: of the accelerations by motions and by speeds */
    double *dtau;    /* nv x nv: by generalised forces; symmetric */
    double *dinputs; /* nv x inputs */
    double *dstates; /* nv x user states */
} lw_acceleration_derivatives;

/* Of the accelerations that lw_solver_accelerations gives. tau may be NULL. LW_ERROR_SINGULAR: an element has
 * no derivatives in this state, and is named; or accelerations are not determined. */
LW_API lw_status lw_derivatives_of_accelerations(lw_derivatives *derivatives, double t, const double *q,
                                                 const double *v, const double *tau,
                                                 const lw_acceleration_derivatives *out, lw_error *error);

/* Of the generalised forces that lw_tree_inverse_dynamics gives for accelerations vdot that keep: dq and dv,
 * nv x nv, and mass, nv x nv, which is their derivative with respect to vdot. Each may be NULL. Refuses
 * models with loops or constraints as that call does. */
LW_API lw_status lw_derivatives_of_forces(lw_derivatives *derivatives, double t, const double *q,
                                          const double *v, const double *vdot, double *dq, double *dv,
                                          double *mass, lw_error *error);

/* Derivatives of the forces that lw_solver_inverse_dynamics gives, through loops, for the joints that the
 * options name as driven. Places for the results, row by row; each may be NULL. */
typedef struct lw_drive_derivatives {
    double *tau;             /* nv: the forces themselves */
    double *dq, *dv, *dvdot; /* nv x nv: by motions, by speeds, by accelerations */
    double *dinputs;         /* nv x inputs */
    double *dstates;         /* nv x user states */
} lw_drive_derivatives;

/* Matrices are to be multiplied by changes (dq, dv, dvdot) that closures and constraints admit. Rows of
 * joints that are not driven are zero, and those of prescribed motions NAN. LW_ERROR_UNSUPPORTED: the forces
 * are not unique, since there are not as many driven coordinates as the mechanism has freedoms. */
LW_API lw_status lw_derivatives_of_drives(lw_derivatives *derivatives, double t, const double *q,
                                          const double *v, const double *vdot,
                                          const lw_drive_derivatives *out, lw_error *error);

/* Derivatives of the reactions that lw_solver_reactions gives: 6 numbers per joint in the model's order,
 * force and torque in world axes. Places for the results, row by row; each may be NULL. */
typedef struct lw_reaction_derivatives {
    double *reactions;      /* 6 joints: the reactions themselves */
    bool *unique;           /* 6 joints */
    double *dq, *dv, *dtau; /* 6 joints x nv */
    double *dinputs;        /* 6 joints x inputs */
    double *dstates;        /* 6 joints x user states */
} lw_reaction_derivatives;

/* Takes the memory for lw_derivatives_of_reactions, once: 6 numbers per body and column. */
LW_API lw_status lw_derivatives_prepare_reactions(lw_derivatives *derivatives, lw_error *error);
/* Where a reaction is not unique, as where rows are redundant, its derivatives are NAN. dtau: with
 * accelerations that follow. Needs lw_derivatives_prepare_reactions; allocates nothing. */
LW_API lw_status lw_derivatives_of_reactions(lw_derivatives *derivatives, double t, const double *q,
                                             const double *v, const double *tau,
                                             const lw_reaction_derivatives *out, lw_error *error);

/* The solver inside, for accelerations, reactions and bases; it must not be destroyed. */
LW_API lw_solver *lw_derivatives_solver(lw_derivatives *derivatives);

#ifdef __cplusplus
}
#endif
#endif
