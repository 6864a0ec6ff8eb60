/* linkwork.c - Linkwork in the comparison: lw_tree_forward_dynamics and lw_tree_inverse_dynamics for trees, method rcr for closed loops.
 */
#include "engine.h"
#include "subject.h"

#include <stdlib.h>

struct engine {
    subject *s;
};

static const char *version(void) { return LW_VERSION; }

static engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    (void)reason;
    engine *e = bench_allocate(1, sizeof *e);
    e->s = subject_create(model, states);
    return e;
}

static void close_engine(engine *e) {
    subject_destroy(e->s);
    free(e);
}

static double forward(engine *e, int state) {
    subject_forward(e->s, state);
    return e->s->vdot_out[e->s->nv - 1];
}

static double inverse(engine *e, int state) {
    subject_inverse(e->s, state);
    return e->s->tau_out[0];
}

static void get_vdot(engine *e, int state, double *vdot) {
    (void)state;
    bench_from_linkwork(e->s->model, e->s->compiled, e->s->vdot_out, vdot);
}

static void get_tau(engine *e, int state, double *tau) {
    (void)state;
    bench_from_linkwork(e->s->model, e->s->compiled, e->s->tau_out, tau);
}

const engine_kind engine_linkwork = {"Linkwork", version, open_engine, close_engine,
                                     forward,    inverse, get_vdot,    get_tau};
