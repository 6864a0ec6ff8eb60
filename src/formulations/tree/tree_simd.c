/* tree_simd.c - accelerations of several states of a tree at a time, on vectors (dynamics/batch_simd.h).
 *
 * A joint that moves no inertia in one lane may spoil the others. Such a vector is computed again state by
 * state, each in all lanes, so that every answer is its state's own.
 */
#include "formulations/common/method_simd.h"

extern const lw_method_simd lw_method_simd_tree;

typedef struct simd_tree {
    lw_arena *arena;
    const lw_model *model;
    const lw_batch_simd *simd;
    lw_data *data;
    double *workspace;
    double *alone; /* q, v, tau and vdot of one state */
} simd_tree;

static void destroy(void *workspace) {
    simd_tree *x = workspace;
    if (!x) return;
    lw_data_destroy(x->data);
    lw_arena_destroy(x->arena);
}

static lw_status create(lw_method *method, const lw_method_options *options, int *width, void **workspace,
                        lw_error *error) {
    const lw_model *model = method->model;
    *width = 1, *workspace = NULL;
    /* Joint forces on idle spins have to be examined state by state (lw_idle_torque). */
    if (model->idle_count) return LW_OK;
    lw_arena *arena = lw_arena_create(NULL);
    simd_tree *x = LW_NEW(arena, simd_tree, 1);
    if (!x) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    *x = (simd_tree){.arena = arena, .model = model, .simd = lw_batch_simd_widest()};
    x->workspace = LW_NEW(arena, double, x->simd->size(model));
    x->alone = LW_NEW(arena, double, model->nq + 3 * model->nv + 1);
    if (lw_arena_failed(arena) || lw_data_create(model, NULL, &x->data) != LW_OK) {
        destroy(x);
        return lw_out_of_memory(error);
    }
    lw_data_set_values(model, x->data, options->inputs, options->states);
    *width = x->simd->width, *workspace = x;
    return LW_OK;
}

/* One state in all lanes of a vector; false if it has no accelerations. */
static bool solve_alone(simd_tree *x, const lw_states *states, int s) {
    const size_t nq = (size_t)x->model->nq, nv = (size_t)x->model->nv, count = (size_t)states->count,
                 at = (size_t)s;
    double *q = x->alone, *v = q + nq, *tau = v + nv, *vdot = tau + nv;
    for (size_t k = 0; k < nq; k++) q[k] = states->q[k * count + at];
    for (size_t k = 0; k < nv; k++) v[k] = states->v[k * count + at];
    for (size_t k = 0; k < nv && states->tau; k++) tau[k] = states->tau[k * count + at];
    const lw_states one = {1, states->t, q, v, states->tau ? tau : NULL, vdot};
    if (x->simd->forward(x->model, x->data, x->workspace, &one, 0, NULL) != LW_OK) return false;
    for (size_t k = 0; k < nv; k++) states->vdot[k * count + at] = vdot[k];
    return true;
}

static unsigned accelerations(void *workspace, const lw_states *states, int first) {
    simd_tree *x = workspace;
    unsigned answered = 0;
    if (x->simd->forward(x->model, x->data, x->workspace, states, first, NULL) == LW_OK) return ~0u;
    for (int l = 0; l < x->simd->width && first + l < states->count; l++)
        answered |= (unsigned)solve_alone(x, states, first + l) << l;
    return answered;
}

const lw_method_simd lw_method_simd_tree = {"tree", create, destroy, accelerations};
