/* absolute_method_base.h - the common part of the methods of Mufti (1983). They differ in the solution of the
 * stationary-point system; state, forces, reactions and drift control are the same for all.
 *
 * A method embeds lw_absolute_method as its first member, sets solve, and puts the functions below into its
 * table: lw_absolute_... for a state in absolute coordinates, lw_jointed_... for one in joint coordinates.
 */
#ifndef LW_ABSOLUTE_METHOD_BASE_H
#define LW_ABSOLUTE_METHOD_BASE_H

#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "constraints/rank/redundancy.h"
#include "formulations/common/absolute_rotors.h"

typedef struct lw_absolute_method lw_absolute_method;
struct lw_absolute_method {
    lw_method base;
    lw_method_options options;
    lw_newton_euler *system;
    lw_projection *projection;
    lw_uniqueness *uniqueness; /* NULL unless options.flags. */
    lw_rotors *rotors;         /* NULL if no joint has one. */
    /* Computes a and lambda of the system from its J, H, u and gamma, without rotors. */
    lw_status (*solve)(lw_absolute_method *method, lw_error *error);
};

/* A method of `size` bytes, zeroed except for its lw_absolute_method; NULL when memory is out. */
lw_absolute_method *lw_absolute_method_create(size_t size, const lw_formulation *formulation,
                                              const lw_model *model, const lw_method_options *options,
                                              lw_status (*solve)(lw_absolute_method *method,
                                                                 lw_error *error));
/* The end of a method's create. fine: its own parts are there, too; otherwise it is destroyed (method may be
 * NULL then) and the status is LW_ERROR_MEMORY. */
lw_status lw_absolute_method_finish(lw_absolute_method *method, bool fine, lw_method **out, lw_error *error);
/* Frees everything that lw_absolute_method_create made, including the method. */
void lw_absolute_method_destroy(lw_absolute_method *method);

/* For dense methods: refuses more unknowns than a matrix of 1 GB has. */
lw_status lw_dense_limit(const char *method, int unknowns, lw_error *error);
/* For methods that invert them: refuses bodies with singular mass or, if rotation is true, singular
 * inertia. */
lw_status lw_needs_inverse(const char *method, const lw_model *model, bool rotation, lw_error *error);

/* Refuses joints with rotors, for methods whose steps or classifications know the inertia of bodies only. */
lw_status lw_needs_no_rotors(const lw_model *model, lw_error *error);
/* Refuses bodies without mass or inertia whose motion no other body's inertia determines (in the initial
 * state): then some acceleration is undetermined for every method, unless a rotor determines it. */
lw_status lw_needs_determined(const lw_model *model, lw_error *error);

/* For the table of functions. */
lw_status lw_absolute_method_accelerations(lw_method *method, double t, const double *q, const double *v,
                                           const double *tau, double *vdot, double *reactions, bool *unique,
                                           lw_error *error);

void lw_absolute_method_multipliers(const lw_method *method, double *multipliers);

void lw_absolute_to_state(lw_method *method, double t, const double *q, const double *v, double *y);
void lw_absolute_from_state(lw_method *method, double t, const double *y, double *q, double *v);
lw_status lw_absolute_derivative(lw_method *method, double t, const double *y, double *ydot, lw_power *power,
                                 lw_error *error);
lw_status lw_absolute_project(lw_method *method, double t, double *y, lw_error *error);
void lw_absolute_violation(lw_method *method, double t, const double *y, double *position, double *velocity);

#define LW_ABSOLUTE_FUNCTIONS                                                                                \
    .to_state = lw_absolute_to_state, .from_state = lw_absolute_from_state,                                  \
    .accelerations = lw_absolute_method_accelerations, .multipliers = lw_absolute_method_multipliers,        \
    .derivative = lw_absolute_derivative, .project = lw_absolute_project, .violation = lw_absolute_violation

void lw_jointed_from_state(lw_method *method, double t, const double *y, double *q, double *v);
lw_status lw_jointed_derivative(lw_method *method, double t, const double *y, double *ydot, lw_power *power,
                                lw_error *error);
lw_status lw_jointed_project(lw_method *method, double t, double *y, lw_error *error);
void lw_jointed_violation(lw_method *method, double t, const double *y, double *position, double *velocity);

#endif
