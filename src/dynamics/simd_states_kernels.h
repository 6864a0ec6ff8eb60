/* simd_states_kernels.h - LANES states side by side: the memory of the recursions for them, states gathered
 * from and scattered to the caller's arrays, force elements and prescribed motions, which are evaluated state
 * by state. Included by files that define LANES as 2, 4 or 8.
 */
#include "dynamics/batch_simd.h"
#include "dynamics/tree_recursion.h"

typedef struct workspace {
    recursion r;
    REAL *q, *v, *vdot, *tau, *load;
} workspace;

/* Takes count vectors of the given number of doubles per lane. */
static REAL *take(double **at, size_t count) {
    REAL *taken = (REAL *)(void *)*at;
    *at += count * LANES;
    return taken;
}

static size_t lay_out(const lw_model *model, double *memory, workspace *w) {
    double *at = memory;
    size_t n = (size_t)model->body_count + 1, nv = (size_t)model->nv + 1;
    *w = (workspace){.r = {.model = model, .floor = model->pivot_floor}};
    w->r.nodes = (node *)(void *)take(&at, n * sizeof(lw_node) / sizeof(double));
    w->r.relative = (relative_pose *)(void *)take(&at, n * sizeof(lw_relative_pose) / sizeof(double));
    w->r.swings =
        (swing *)(void *)take(&at, ((size_t)model->slot_count + 2) * sizeof(lw_node_swing) / sizeof(double));
    w->r.wrenches = take(&at, 6 * n);
    w->r.sums =
        (sum *)(void *)take(&at, ((size_t)model->slot_count + 1) * sizeof(lw_node_sum) / sizeof(double));
    w->r.S = take(&at, 6 * nv);
    w->r.U = take(&at, 6 * nv);
    w->r.D = take(&at, 6 * nv);
    w->r.u = take(&at, nv);
    w->r.sine = take(&at, nv);
    w->r.cosine = take(&at, nv);
    w->q = take(&at, (size_t)model->nq + 1);
    w->v = take(&at, nv);
    w->vdot = take(&at, nv);
    w->tau = take(&at, nv);
    w->load = take(&at, model->forces_need_world ? 6 * n : 0);
    w->r.q = w->q, w->r.v = w->v, w->r.vdot = w->vdot, w->r.tau = w->tau;
    if (model->forces_need_world) w->r.load = w->load;
    return (size_t)(at - memory);
}

/* Doubles of memory that lay_out needs. */
__attribute__((unused)) static size_t size(const lw_model *model) {
    static double origin[1]; /* lay_out only counts */
    workspace w;
    return lay_out(model, origin, &w);
}

/* Lanes beyond the last state repeat it. */
INLINE int state_of(const lw_states *states, int first, int lane) {
    return first + lane < states->count ? first + lane : states->count - 1;
}

INLINE void gather_lanes(const lw_states *states, int first, const double *from, int rows, REAL *to) {
    if (first + LANES <= states->count) {
        for (int k = 0; k < rows; k++)
            memcpy(&to[k], from + (size_t)k * (size_t)states->count + first, sizeof *to);
        return;
    }
    for (int k = 0; k < rows; k++)
        for (int l = 0; l < LANES; l++)
            to[k][l] = from[(size_t)k * (size_t)states->count + (size_t)state_of(states, first, l)];
}

INLINE void scatter_lanes(const lw_states *states, int first, const REAL *from, int rows, double *to) {
    int lanes = first + LANES <= states->count ? LANES : states->count - first;
    for (int k = 0; k < rows; k++)
        memcpy(to + (size_t)k * (size_t)states->count + first, &from[k], (size_t)lanes * 8);
}

/* Prescribed motions and force elements, one state after another. */
__attribute__((unused)) static void take_elements(const lw_model *model, lw_data *data, double t,
                                                  workspace *w, bool with_tau) {
    for (int l = 0; l < LANES; l++) {
        for (int k = 0; k < model->nq; k++) data->q[k] = w->q[k][l];
        for (int k = 0; k < model->nv; k++) data->v[k] = w->v[k][l];
        lw_take_state(model, data, t, data->q, data->v);
        lw_take_forces(model, data, t, NULL);
        if (!with_tau && model->idle_count) { /* inverse dynamics */
            for (int k = 0; k < model->nv; k++) data->vdot[k] = w->vdot[k][l];
            lw_take_prescribed(model, data, t);
            lw_idle_forget(model, data);
        }
        for (int k = 0; k < model->nq; k++) w->q[k][l] = data->q[k];
        for (int k = 0; k < model->nv; k++) {
            w->v[k][l] = data->v[k];
            w->tau[k][l] = data->tau[k] + (with_tau ? w->tau[k][l] : 0);
        }
        for (int m = 0; m < model->motion_count; m++) {
            int first = model->links[model->motions[m].body].v + model->motions[m].speed;
            for (int k = first; k < first + model->motions[m].count; k++) w->vdot[k][l] = data->vdot[k];
        }
        if (model->forces_need_world)
            for (int k = 0; k < 6 * (model->body_count + 1); k++) w->load[k][l] = data->load[k];
    }
}
