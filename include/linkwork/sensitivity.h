/* sensitivity.h - how a motion changes with parameters of the model: derivatives of everything that a run can
 * record with respect to parameters, over time.
 *
 * They follow from the variational equations, integrated along the run with the exact derivatives of the
 * dynamics, and are compared with differences of runs with other values: an answer in which both disagree is
 * refused (docs/theory/sensitivity.md). Parameters may enter anything: masses, lengths, places of joints,
 * laws, prescribed motions, initial values.
 *
 *   lw_sensitivity_defaults(model, &options);
 *   options.parameters = (const char *[]){"length"}, options.parameter_count = 1;
 *   lw_sensitivity_find(model, &options, &sensitivity, &error);
 *
 * Part of the full library, not of linkwork-core.
 */
#ifndef LINKWORK_SENSITIVITY_H
#define LINKWORK_SENSITIVITY_H

#include <linkwork/simulate.h>
#include <linkwork/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_sensitivity_options {
    lw_run_options run; /* start, end, output, method, integrator, tolerance, initial values; calls of the
                           caller's own (observe, force, events) are not possible */
    const char *const *parameters;
    int parameter_count;
    const char *record; /* as in lw_record_create; NULL: coordinates, speeds, user states, outputs */
} lw_sensitivity_options;

typedef struct lw_sensitivity {
    int samples, parameters, columns;
    const char *const *parameter_names;
    const double *parameter_values;
    const char *const *names, *const *units; /* of the columns */
    const double *t;
    const double *values;      /* samples x columns, in their units */
    const double *derivatives; /* samples x parameters x columns, per SI unit of the parameter */
    const double *differences; /* the same by differences of runs */
    /* The largest difference between the two, and the error of the differences as two formulas of different
     * order let it appear, both relative to the largest derivative of the same column. */
    double disagreement, uncertainty;
    const char *disagreement_column;
    long steps; /* of the variational equations */
} lw_sensitivity;

/* Fills the options: those of the model's run, its tolerance at most 1e-9, a hundred samples. */
LW_API void lw_sensitivity_defaults(const lw_model *model, lw_sensitivity_options *options);
/* LW_ERROR_ARGUMENT: a name is wrong. LW_ERROR_UNSUPPORTED: as lw_derivatives_create, or the model has events
 * that change its motion. LW_ERROR_SINGULAR: the two ways disagree, or with another value of the parameter
 * the mechanism does not close. */
LW_API lw_status lw_sensitivity_find(const lw_model *model, const lw_sensitivity_options *options,
                                     lw_sensitivity **sensitivity, lw_error *error);
LW_API void lw_sensitivity_destroy(lw_sensitivity *sensitivity);
/* Comma-separated values; "-" is standard output: t, the columns, and for each parameter their derivatives as
 * "d(COLUMN)/d(PARAMETER)". */
LW_API lw_status lw_sensitivity_write(const lw_sensitivity *sensitivity, const char *path, lw_error *error);

/* Derivatives of single states with respect to one parameter, which may enter anything. A state (q, v) is one
 * of the mechanism; with another value of the parameter its loops would be open, and prescribed coordinates
 * elsewhere. So the state moves with the parameter: along the smallest motion that keeps loops closed and
 * prescribed coordinates in place. In a tree without prescribed motions it stays, and derivatives are partial
 * ones. Places for the results, per unit of the parameter; each may be NULL. */
typedef struct lw_parameter_derivatives {
    double *dq, *dv;    /* nv: how the state moves; dq as in derivatives.h */
    double *dvdot;      /* nv: of its accelerations */
    double *dreactions; /* 6 joints: of its reactions; NAN where these are not unique */
} lw_parameter_derivatives;
typedef struct lw_parameter_changes lw_parameter_changes;

/* options: method, inputs and user states are used (NULL: the defaults); inputs are those of this moment, the
 * array of user states is read in every call. LW_ERROR_ARGUMENT: there is no such parameter, or with
 * neighbouring values there is no model. */
LW_API lw_status lw_parameter_changes_create(const lw_model *model, const lw_solver_options *options,
                                             const char *parameter, lw_parameter_changes **changes,
                                             lw_error *error);
LW_API void lw_parameter_changes_destroy(lw_parameter_changes *changes);
/* By differences of fourth order, right to about 1e-9 of the largest. LW_ERROR_SINGULAR: with a neighbouring
 * value the mechanism does not close. */
LW_API lw_status lw_parameter_changes_of_state(lw_parameter_changes *changes, double t, const double *q,
                                               const double *v, const lw_parameter_derivatives *out,
                                               lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
