/* sensitivity_parts.h - the structure of a search for sensitivities, for the files that implement it.
 *
 * sensitivity.c         the object, its samples
 * sensitivity_step.c    the variational equations and their steps
 * sensitivity_switch.c  jumps at instants that the state decides
 * sensitivity_check.c   differences of runs
 */
#ifndef LW_SENSITIVITY_PARTS_H
#define LW_SENSITIVITY_PARTS_H

#include "analyses/linear_parts.h"
#include "analyses/parameter_changes.h"
#include <linkwork/record.h>
#include <linkwork/sensitivity.h>
#include <linkwork/simulation.h>

/* The variational equations x' = A x + b at one instant, in independent coordinates, and how everything else
 * follows from x; m parameters, n unknowns. */
typedef struct lw_variational_node {
    double t;
    double *A;         /* n x n, row by row */
    double *b;         /* m x n */
    double *Lq, *Lv;   /* nv x n: motions and speeds of changes that closures admit */
    double *dq0, *dv0; /* m x nv: the motion of the state with the parameter */
    double *x0;        /* m x n: its independent coordinates */
} lw_variational_node;

enum { LW_RADAU_STAGES = 3 };

typedef struct lw_sensitivity_work {
    lw_sensitivity result; /* first, so that a result is one of these */
    lw_arena *arena;
    const lw_model *model;
    lw_run_options run;
    const char *list; /* what is recorded */
    lw_simulation *simulation;
    lw_linear_work linear;
    lw_linearise_options at;
    int m, n;
    lw_parameter_changes **changes; /* per parameter */
    double *q, *v, *states, *inputs;
    bool chosen; /* independent coordinates, which are kept while they move much: */
    int *kept_q, *kept_v;
    lw_variational_node nodes[LW_RADAU_STAGES + 1];
    double *x, *stages, *matrix, *small, *error_of; /* of steps */
    int *pivots, *small_pivots;
    double *largest;             /* m x 2: sizes of motions and speeds so far */
    double fastest, *most_state; /* the largest speed and user states so far */
    double h;
    /* Of instants at which a force switches: where its conditions are, values of them, a state, what was. */
    lw_data *probe;
    int *conditions;
    double *distances, *probe_q, *probe_v, *probe_states, *vdot_before, *rates_before;
    void *snapshot;
    size_t snapshot_size;
    double *dq, *dv, *dx; /* m x nv, m x nv, m x ns: the answer at the present time */
    /* Of samples: records and, where these need more than the state, simulations of all variants. */
    lw_record *record, **records;
    lw_simulation **variants;
    double *row, *vdot, *reactions, *outputs;
    double *t, *values, *derivatives, *differences;
    int samples;
    int *quaternions, quaternion_count; /* columns that begin one */
} lw_sensitivity_work;

/* Memory for steps, and the node of the start, where dq, dv, dx stand. */
lw_status lw_variational_begin(lw_sensitivity_work *work, lw_error *error);
/* To a later time; then dq, dv, dx are those of that time, as the simulation is. */
lw_status lw_variational_advance(lw_sensitivity_work *work, double t, lw_error *error);
bool lw_variational_switch_create(lw_sensitivity_work *work);
/* The first instant after t, up to `to`, at which the simulation has seen a force switch by its state;
 * HUGE_VAL: there is none. Switches at knots do not count. */
double lw_variational_switch(const lw_sensitivity_work *work, double t, double to, double knot);
/* The simulation stands shortly before the switch, dq, dv, dx are those of there, and vdot_before and
 * rates_before its rates; afterwards it stands behind it, and dv, dx have jumped. `evaluate` finds the rates
 * there. */
lw_status lw_variational_jump(lw_sensitivity_work *work, double at, double behind,
                              lw_status (*evaluate)(lw_sensitivity_work *, double, lw_error *),
                              lw_error *error);
/* A quaternion and its negative are the same: gives those of a row the signs of another row of values. */
void lw_sensitivity_same_signs(const lw_sensitivity_work *work, const double *like, double *row);
/* Fills differences, and compares. */
lw_status lw_sensitivity_check(lw_sensitivity_work *work, lw_error *error);

#endif
