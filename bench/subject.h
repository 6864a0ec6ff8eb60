/* subject.h - one model in Linkwork with states to go through, call after call: what is timed.
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "models.h"

typedef struct subject {
    const bench_model *model;
    lw_model *compiled;
    lw_data *data;
    struct lw_method *method; /* rcr, if there are loops; NULL: a tree */
    /* Linkwork's order; q of state s at [s * nq], ... */
    size_t nq, nv;
    int count, next;
    double *q, *v, *tau, *vdot;
    double *vdot_out, *tau_out;
} subject;

/* Copies the states. */
subject *subject_create(const bench_model *model, const bench_states *states);
void subject_destroy(subject *s);

void subject_forward(subject *s, int state); /* into vdot_out */
void subject_inverse(subject *s, int state); /* into tau_out; trees only */

/* For timing: each call takes the next state. */
double subject_run_forward(void *context, int calls);
double subject_run_inverse(void *context, int calls);

#endif
