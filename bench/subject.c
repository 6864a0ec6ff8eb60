/* subject.c - forward and inverse dynamics of one model in Linkwork, state after state.
 */
#include "subject.h"
#include "formulations/formulation.h"

#include <stdio.h>
#include <stdlib.h>

subject *subject_create(const bench_model *model, const bench_states *states) {
    subject *s = bench_allocate(1, sizeof *s);
    s->model = model;
    s->compiled = bench_compile(model);
    if (lw_data_create(s->compiled, NULL, &s->data) != LW_OK) exit(1);
    if (model->closure_count) {
        const lw_formulation *rcr = lw_formulation_find("rcr");
        lw_method_options options = {0};
        lw_error error;
        if (rcr->create(s->compiled, &options, &s->method, &error) != LW_OK) {
            fprintf(stderr, "bench: %s: %s\n", model->name, error.message);
            exit(1);
        }
    }
    s->nq = (size_t)model->q_size;
    s->nv = (size_t)model->v_size;
    s->count = states->count;
    size_t count = (size_t)s->count;
    s->q = bench_allocate(count * s->nq, sizeof(double));
    s->v = bench_allocate(count * s->nv, sizeof(double));
    s->tau = bench_allocate(count * s->nv, sizeof(double));
    s->vdot = bench_allocate(count * s->nv, sizeof(double));
    s->vdot_out = bench_allocate(s->nv, sizeof(double));
    s->tau_out = bench_allocate(s->nv, sizeof(double));
    for (size_t k = 0; k < count; k++) {
        size_t q = k * s->nq, v = k * s->nv;
        bench_to_linkwork(model, s->compiled, states->q + q, states->v + v, s->q + q, s->v + v);
        bench_to_linkwork(model, s->compiled, NULL, states->tau + v, NULL, s->tau + v);
        bench_to_linkwork(model, s->compiled, NULL, states->vdot + v, NULL, s->vdot + v);
    }
    return s;
}

void subject_destroy(subject *s) {
    if (!s) return;
    if (s->method) s->method->formulation->destroy(s->method);
    lw_data_destroy(s->data);
    lw_model_destroy(s->compiled);
    double *arrays[] = {s->q, s->v, s->tau, s->vdot, s->vdot_out, s->tau_out};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
    free(s);
}

void subject_forward(subject *s, int state) {
    size_t q = (size_t)state * s->nq, v = (size_t)state * s->nv;
    lw_error error;
    lw_status status =
        s->method ? s->method->formulation->accelerations(s->method, 0, s->q + q, s->v + v, s->tau + v,
                                                          s->vdot_out, NULL, NULL, &error)
                  : lw_tree_forward_dynamics(s->compiled, s->data, 0, s->q + q, s->v + v, s->tau + v,
                                             s->vdot_out, &error);
    if (status != LW_OK) {
        fprintf(stderr, "bench: %s: %s\n", s->model->name, error.message);
        exit(1);
    }
}

void subject_inverse(subject *s, int state) {
    size_t q = (size_t)state * s->nq, v = (size_t)state * s->nv;
    lw_error error;
    if (lw_tree_inverse_dynamics(s->compiled, s->data, 0, s->q + q, s->v + v, s->vdot + v, s->tau_out,
                                 &error) != LW_OK) {
        fprintf(stderr, "bench: %s: %s\n", s->model->name, error.message);
        exit(1);
    }
}

static int next_state(subject *s) { return s->next = s->next + 1 < s->count ? s->next + 1 : 0; }

double subject_run_forward(void *context, int calls) {
    subject *s = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        subject_forward(s, next_state(s));
        sum += s->vdot_out[s->nv - 1];
    }
    return sum;
}

double subject_run_inverse(void *context, int calls) {
    subject *s = context;
    double sum = 0;
    for (int k = 0; k < calls; k++) {
        subject_inverse(s, next_state(s));
        sum += s->tau_out[0];
    }
    return sum;
}
