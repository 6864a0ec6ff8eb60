/* parameter_changes.h - models in which one parameter differs a little, and derivatives with respect to it.
 */
#ifndef LW_PARAMETER_CHANGES_H
#define LW_PARAMETER_CHANGES_H

#include "constraints/projection.h"
#include <linkwork/sensitivity.h>

enum { LW_VARIANTS = 5 };

/* A model with another value of the parameter, and what evaluates it. */
typedef struct lw_variant_model {
    lw_model *model;
    lw_data *data;
    lw_solver *solver;
    lw_projection *projection; /* NULL in a tree */
    double offset;             /* of the parameter's value */
    double *inputs;            /* values, with those defaults that follow from the parameter */
    double *q, *v, *vdot, *rates;
} lw_variant_model;

struct lw_parameter_changes {
    lw_arena *arena;
    const lw_model *model;
    const char *name;
    double value, step, scale; /* scale: its size, 1 if it is zero */
    bool central;
    int count; /* of the variants; their weights in derivatives are those of lw_parameter_weight */
    lw_variant_model at[LW_VARIANTS];
    const double *states; /* user states: the caller's array, which is read in every evaluation */
    /* Of the last evaluation, all per unit of the parameter. */
    double *dq, *dv, *da; /* nv each: the motion, the speeds, the accelerations */
    double *rates;        /* of the rates of user states */
    double *motion;       /* workspace */
    /* If not NULL: 6 joints each, the derivatives of reactions are wanted. */
    double *reactions, *reaction;
    bool *unique, *all_unique;
};

/* How a state of the model moves with the parameter while its user states keep, and what follows for its
 * accelerations. LW_ERROR_SINGULAR: with another value the mechanism does not close. */
lw_status lw_parameter_changes_evaluate(lw_parameter_changes *changes, double t, const double *q,
                                        const double *v, lw_error *error);

/* The weight of variant k in a derivative with respect to the parameter: d/dp = sum of weight times value. */
double lw_parameter_weight(const lw_parameter_changes *changes, int k);
/* The motion (nv) that leads from q to other coordinates in a unit of time: lw_integrate_q by it gives
 * them. */
void lw_motion_between(const lw_model *model, const double *q, const double *other, double *motion);

#endif
