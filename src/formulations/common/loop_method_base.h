/* loop_method_base.h - the common part of methods in joint coordinates with closed loops: state, rows of
 * closures and constraints, reactions.
 *
 * A method embeds lw_loop_method as its first member, sets solve, and puts the functions below into its
 * table.
 */
#ifndef LW_LOOP_METHOD_BASE_H
#define LW_LOOP_METHOD_BASE_H

#include "formulations/formulation.h"
#include "constraints/rank/redundancy.h"
#include "model/rows.h"

typedef struct lw_loop_method lw_loop_method;
struct lw_loop_method {
    lw_method base;
    lw_method_options options;
    lw_arena *arena; /* Owns the method. */
    lw_data *data;
    lw_rows *rows;  /* Rows of closures and constraints. */
    double *lambda; /* Per row: the multipliers. */
    double *defect; /* Per row: H'V - rate. */
    double *body;   /* 6 per body: workspace. */
    double *v;      /* Per speed: the speeds to which the last accelerations with reactions belong. */
    lw_uniqueness *uniqueness; /* NULL unless options.flags. */
    bool integrating;          /* solve is called for a derivative, so that the state may have drifted. */
    bool reacting;             /* solve has to compute lambda too. */
    /* From the state in data: accelerations into data->vdot, multipliers into lambda if `reacting`, forces of
     * the drives of prescribed speeds into data->drive. tau may be NULL. */
    lw_status (*solve)(lw_loop_method *method, double t, const double *tau, lw_error *error);
    /* Which components of the reactions are determined at the state in data; NULL: redundancy.c decides. */
    lw_status (*unique)(lw_loop_method *method, double t, bool *unique, lw_error *error);
};

/* A method of `size` bytes, zeroed except for its lw_loop_method; NULL when memory is out. */
lw_loop_method *lw_loop_method_create(size_t size, const lw_formulation *formulation, const lw_model *model,
                                      const lw_method_options *options,
                                      lw_status (*solve)(lw_loop_method *method, double t, const double *tau,
                                                         lw_error *error));
void lw_loop_method_destroy(lw_method *method);

/* Evaluates the rows at the state in data (lw_take_state), with its poses and twists. */
void lw_loop_method_rows(lw_loop_method *method);
/* Computes H'V - rate into defect; returns the largest, relative to the velocities of the bodies. */
double lw_loop_method_velocity_defect(lw_loop_method *method);
/* The biases of the rows at acceleration level, for accelerations as in the tree's recursions (of the
 * internal origin, minus gravity): the sum of h'(alpha; a) over the blocks of a row, plus its bias,
 * vanishes. */
void lw_loop_method_bias(const lw_loop_method *method, double *bias);
/* The residuals of the rows: that sum plus the bias, for the accelerations in data->nodes. */
void lw_loop_method_row_defects(const lw_loop_method *method, double *out);
/* With drift control by Baumgarte's method: adds its terms to gamma, from the rows and their velocity
 * defect. */
void lw_loop_method_stabilise(lw_loop_method *method);

/* For the table of functions. */
void lw_loop_method_from_state(lw_method *method, double t, const double *y, double *q, double *v);
lw_status lw_loop_method_derivative(lw_method *method, double t, const double *y, double *ydot,
                                    lw_power *power, lw_error *error);
lw_status lw_loop_method_accelerations(lw_method *method, double t, const double *q, const double *v,
                                       const double *tau, double *vdot, double *reactions, bool *unique,
                                       lw_error *error);
void lw_loop_method_multipliers(const lw_method *method, double *multipliers);
const double *lw_loop_method_speeds(const lw_method *method);
void lw_loop_method_violation(lw_method *method, double t, const double *y, double *position,
                              double *velocity);

#endif
