/* side_by_side.c - runs of trees that differ in their numbers (masses, lengths, forces), in lanes of vectors.
 *
 * Up to `width` simulations become one system of ordinary differential equations,
 *
 *   y = (q, v, w),   w: the integrals of the energy ledger,   number k of lane l at y[k * width + l],
 *
 * which rk4 integrates like any other (integrators/rk4.c, fixed_step.c): the same steps, and the same cubic
 * between them at the times of samples. Its derivative is that of the method tree (tree.c), by vectors
 * (dynamics/models_simd.h). At a sample the numbers of a lane go into its simulation, which makes the sample,
 * keeps its books and judges the run as if it had integrated by itself.
 *
 * Where some joint of some model moves no inertia, the vector is computed again model by model, each in all
 * lanes, so that a run depends on its own numbers alone. A run that has failed stays where it is, and its
 * lane is no longer looked at; lanes without a run repeat the first one.
 *
 * Limits   what rollout_vectors.c excepts, since nobody looks for the instants of events; no works of single
 *          force elements.
 * Cost     4 evaluations a step, of `width` runs each. Memory is taken once for each set of runs.
 */
#include "simulation/rollout/side_by_side.h"
#include "dynamics/models_simd.h"
#include "model/joint.h"
#include "simulation/simulation_parts.h"

#include <math.h>
#include <string.h>

enum { ASK_EVERY = 16 }; /* steps between two looks whether the caller wants to stop */

typedef struct lanes {
    lw_system base;
    int width, count; /* lanes, and those that have runs of their own */
    int nq, nv, size; /* numbers of one lane: nq + nv + those of the ledger */
    lw_arena *arena;
    const lw_models_simd *simd;
    lw_simulation *s[LW_MODELS_MOST];
    const lw_model *models[LW_MODELS_MOST];
    lw_data *datas[LW_MODELS_MOST];
    lw_lane_end *ends[LW_MODELS_MOST];
    bool failed[LW_MODELS_MOST];
    double *workspace, *alone, *y, *one; /* alone, one: for a vector that is computed model by model */
    long steps;
} lanes;

int lw_side_by_side_width(void) { return lw_models_simd_widest()->width; }

const char *lw_side_by_side_hindrance(const lw_simulation *s) {
    const lw_model *model = s->model;
    if (strcmp(s->plan.integrator->name, "rk4") != 0)
        return "the integrator is not rk4 with a fixed step (--integrator rk4 --step H)";
    if (model->closure_count || model->constraint_count) return "the model has closed loops or constraints";
    if (strcmp(s->plan.formulation->name, "tree") != 0) return "the method is not tree (--method tree)";
    if (model->motion_count) return "the model has prescribed motions";
    if (s->event_count) return "the model has events";
    if (model->values.state_count) return "the model has user states";
    if (s->switches.count) return "forces or signals of the model have conditions";
    if (model->knot_count + model->rhythm_count) return "forces of the model switch at known times";
    if (model->idle_count) return "a joint of the model spins a body about an axis without inertia";
    if (s->force.add) return "it has a force of the caller's";
    if (s->work_count) return "works of single force elements are asked for";
    return NULL;
}

/* --- the right side -------------------------------------------------------------------------------- */

static void fail(lanes *x, int l, lw_status status, const lw_error *error) {
    if (l >= x->count || x->failed[l]) return;
    x->failed[l] = true;
    x->ends[l]->status = status, x->ends[l]->error = *error;
}

/* One model in all lanes; the answer goes to its own. */
static void solve_alone(lanes *x, int l, double t, const double *y, double *ydot, lw_power *powers) {
    const lw_model *models[LW_MODELS_MOST];
    lw_data *datas[LW_MODELS_MOST];
    lw_power each[LW_MODELS_MOST];
    lw_error error = {0};
    const int w = x->width, n = x->nq + x->nv;
    double *vdot = x->one + (size_t)(n * w);
    for (int m = 0; m < w; m++) models[m] = x->models[l], datas[m] = x->datas[l];
    for (int k = 0; k < n; k++)
        for (int m = 0; m < w; m++) x->one[k * w + m] = y[k * w + l];
    x->simd->take(models, x->alone);
    if (!x->simd->forward(models, datas, x->alone, t, x->one, x->one + (size_t)(x->nq * w), vdot, each)) {
        lw_simulation *s = x->s[l]; /* which says why */
        double *state = s->kept;
        lw_power power;
        for (int k = 0; k < x->size; k++) state[k] = y[k * w + l];
        lw_status status = s->plan.formulation->derivative(s->method, t, state, s->work, &power, &error);
        if (status == LW_OK)
            status = lw_fail(&error, LW_ERROR_SINGULAR, NULL, "give a shorter step (--step)",
                             "a joint moves no inertia at t = %.9g", t);
        fail(x, l, status, &error);
        for (int k = 0; k < x->nv; k++) vdot[k * w] = 0;
        each[0] = (lw_power){0};
    }
    for (int k = 0; k < x->nv; k++) ydot[(x->nq + k) * w + l] = vdot[k * w];
    powers[l] = each[0];
}

/* Rates of coordinates: speeds, but for quaternions. */
static void coordinate_rates(const lanes *x, const double *y, double *ydot) {
    const lw_model *model = x->models[0];
    const int w = x->width;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const double *q = y + link->q * w, *v = y + (x->nq + link->v) * w;
        double one_q[LW_JOINT_MAX_Q], one_v[LW_JOINT_MAX_V], rate[LW_JOINT_MAX_Q];
        if (link->joint.nq == link->joint.nv) {
            memcpy(ydot + link->q * w, v, (size_t)(link->joint.nv * w) * sizeof *v);
            continue;
        }
        for (int l = 0; l < w; l++) {
            for (int k = 0; k < link->joint.nq; k++) one_q[k] = q[k * w + l];
            for (int k = 0; k < link->joint.nv; k++) one_v[k] = v[k * w + l];
            lw_joint_rate(&link->joint, one_q, one_v, true, rate);
            for (int k = 0; k < link->joint.nq; k++) ydot[(link->q + k) * w + l] = rate[k];
        }
    }
}

/* Runs whose rates are too large for any step have failed; the rates of failed ones are zero. */
static void check_rates(lanes *x, double t, double *ydot) {
    static const double largest = 1e150;
    const int w = x->width;
    for (int l = 0; l < w; l++) {
        double worst = 0;
        bool good = true;
        for (int k = 0; k < x->size; k++) {
            const double rate = fabs(ydot[k * w + l]);
            if (good && !(rate < largest)) worst = rate, good = false;
        }
        if (!good && l < x->count && !x->failed[l]) {
            lw_error error = {0};
            fail(x, l,
                 lw_fail(&error, LW_ERROR_SINGULAR, NULL,
                         "give a shorter step (--step), or look for forces that are infinite there",
                         "a rate of the state is %.3g at t = %.9g, too large for any step", worst, t),
                 &error);
        }
        if (!good || x->failed[l < x->count ? l : 0])
            for (int k = 0; k < x->size; k++) ydot[k * w + l] = 0;
    }
}

static lw_status derivative(lw_system *base, double t, const double *y, double *ydot, lw_error *error) {
    lanes *x = (lanes *)base;
    const int w = x->width;
    lw_power powers[LW_MODELS_MOST];
    (void)error;
    if (!x->simd->forward(x->models, x->datas, x->workspace, t, y, y + (size_t)(x->nq * w),
                          ydot + (size_t)(x->nq * w), powers))
        for (int l = 0; l < w; l++) solve_alone(x, l, t, y, ydot, powers);
    coordinate_rates(x, y, ydot);
    for (int l = 0; l < w; l++) {
        double books[LW_POWERS];
        lw_ledger_put(&powers[l], books);
        for (int k = 0; k < LW_POWERS; k++) ydot[(x->nq + x->nv + k) * w + l] = books[k];
    }
    check_rates(x, t, ydot);
    return LW_OK;
}

static lw_status project(lw_system *base, double t, double *y, lw_error *error) {
    lanes *x = (lanes *)base;
    (void)t, (void)error;
    if (x->nq == x->nv) return LW_OK; /* no quaternions */
    for (int l = 0; l < x->width; l++) {
        for (int k = 0; k < x->nq; k++) x->one[k] = y[k * x->width + l];
        lw_normalise_q(x->models[l], x->one);
        for (int k = 0; k < x->nq; k++) y[k * x->width + l] = x->one[k];
    }
    return LW_OK;
}

/* What system_accepted and the counting of evaluations do for a single run. */
static lw_status accepted(lw_system *base, double t, double h, int order, const double *y, lw_error *error) {
    lanes *x = (lanes *)base;
    const double *books = y + (size_t)((x->nq + x->nv) * x->width);
    const lw_run_options *options = &x->s[0]->plan.options;
    (void)h, (void)order;
    for (int l = 0; l < x->count; l++) {
        lw_simulation *s = x->s[l];
        s->worked = fmax(s->worked, fmax(0, books[l]) + fmax(0, books[x->width + l]));
        s->system.effort.evaluations += 4, s->before.evaluations += 4, s->before.steps++;
    }
    if (++x->steps % ASK_EVERY == 0 && options->interrupted && options->interrupted(options->context))
        return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped near t = %g", t);
    return LW_OK;
}

/* --- a set of runs --------------------------------------------------------------------------------- */

/* Makes the samples of the runs that go on, from the present state. */
static void make_samples(lanes *x, double t, bool first, bool last) {
    for (int l = 0; l < x->count; l++) {
        lw_simulation *s = x->s[l];
        lw_error error = {0};
        if (x->failed[l]) continue;
        if (!first) {
            s->t = t;
            for (int k = 0; k < x->size; k++) s->y[k] = x->y[k * x->width + l];
        }
        const lw_status status = lw_simulation_sample(s, first, last, &error);
        if (status != LW_OK) fail(x, l, status, &error);
    }
}

static bool all_failed(const lanes *x) {
    bool all = true;
    for (int l = 0; l < x->count; l++) all &= x->failed[l];
    return all;
}

static lw_status integrate(lanes *x, lw_error *error) {
    lw_simulation *s = x->s[0];
    const lw_integrator *rk4 = s->plan.integrator;
    const double begin = s->t, end = s->plan.options.end;
    lw_integration *integration = NULL;
    for (int l = 0; l < x->width; l++)
        for (int k = 0; k < x->size; k++) x->y[k * x->width + l] = x->s[l]->y[k];
    lw_status status =
        rk4->create(&x->base, &s->plan.integrator_options, begin, x->y, NULL, &integration, error);
    if (status != LW_OK) return status;
    make_samples(x, begin, true, false);
    for (long k = 1; status == LW_OK && !all_failed(x); k++) {
        double t;
        const bool last = lw_simulation_sample_time(s, begin, k, &t);
        status = rk4->advance(integration, t, end, x->y, error);
        if (status == LW_OK) make_samples(x, t, false, last);
        if (last) break;
    }
    rk4->destroy(integration);
    return status;
}

static lw_status create(lanes *x, lw_error *error) {
    const lw_model *model = x->models[0];
    const size_t w = (size_t)x->width;
    x->nq = model->nq, x->nv = model->nv, x->size = model->nq + model->nv + LW_POWERS;
    x->workspace = LW_NEW(x->arena, double, x->simd->size(model));
    x->alone = LW_NEW(x->arena, double, x->simd->size(model));
    x->y = LW_NEW(x->arena, double, (size_t)x->size *w);
    x->one = LW_NEW(x->arena, double, (size_t)(x->nq + 2 * x->nv + 1) * w);
    if (lw_arena_failed(x->arena)) return lw_out_of_memory(error);
    for (int l = 0; l < x->count; l++) {
        if (lw_data_create(x->models[l], NULL, &x->datas[l]) != LW_OK) return lw_out_of_memory(error);
        lw_data_set_values(x->models[l], x->datas[l], x->s[l]->inputs, x->s[l]->states);
    }
    for (int l = x->count; l < x->width; l++) x->datas[l] = x->datas[0];
    x->simd->take(x->models, x->workspace);
    x->base = (lw_system){.size = x->size * x->width,
                          .quadratures = LW_POWERS * x->width,
                          .derivative = derivative,
                          .project = project,
                          .accepted = accepted};
    return LW_OK;
}

static void run_set(lanes *x) {
    lw_error error = {0};
    lw_status status = LW_ERROR_MEMORY;
    x->simd = lw_models_simd_widest();
    x->width = x->simd->width;
    for (int l = x->count; l < x->width; l++) x->s[l] = x->s[0];
    for (int l = 0; l < x->width; l++) x->models[l] = x->s[l]->method->model;
    x->arena = lw_arena_create(NULL);
    if (x->arena)
        status = create(x, &error);
    else
        (void)lw_out_of_memory(&error);
    if (status == LW_OK) status = integrate(x, &error);
    for (int l = 0; l < x->count; l++) {
        if (status != LW_OK) fail(x, l, status, &error);
        lw_simulation_conclude(x->s[l], x->ends[l]->status, &x->ends[l]->summary);
        lw_data_destroy(x->datas[l]);
    }
    if (x->arena) lw_arena_destroy(x->arena);
}

/* Do their runs fit into the lanes of one vector? */
static bool alike(const lw_simulation *a, const lw_simulation *b) {
    const lw_run_options *x = &a->plan.options, *y = &b->plan.options;
    return x->start == y->start && x->end == y->end && x->output == y->output && x->step == y->step &&
           a->plan.integrator_options.step == b->plan.integrator_options.step &&
           a->system.base.size == b->system.base.size && lw_models_alike(a->method->model, b->method->model);
}

void lw_run_side_by_side(lw_simulation *const *simulations, int count, lw_lane_end *ends) {
    bool done[LW_SIDE_BY_SIDE_MOST] = {false};
    const int width = lw_side_by_side_width();
    if (count > width) count = width;
    for (int k = 0; k < count; k++) ends[k] = (lw_lane_end){.status = LW_OK};
    for (int first = 0; first < count; first++) {
        lanes x = {.count = 0};
        for (int k = first; k < count && !done[first]; k++)
            if (!done[k] && alike(simulations[first], simulations[k]))
                x.s[x.count] = simulations[k], x.ends[x.count++] = &ends[k];
        for (int k = 0; k < x.count; k++) done[x.ends[k] - ends] = true;
        if (x.count > 0) run_set(&x);
    }
}
