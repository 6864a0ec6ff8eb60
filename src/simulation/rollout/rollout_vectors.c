/* rollout_vectors.c - runs of a tree side by side in the vectors of the processor, by rk4.
 *
 * A thread advances `room` runs together: every stage of
 *
 *   k1 = f(t, y), k2 = f(t + h/2, y + h/2 k1), k3 = f(t + h/2, y + h/2 k2), k4 = f(t + h, y + h k3)
 *   y(t + h) = y + h/6 (k1 + 2 k2 + 2 k3 + k4),   y = (q, v), f = (rates of q by v, accelerations)
 *
 * is evaluated for all of them by the method's vectors (method_simd.h), as in batches. It is what rk4.c does
 * with the derivative of method tree (tree.c): quaternions have the rate that drives them towards unit
 * length, and are brought to it at the end of each step. A run that a vector leaves out is evaluated by
 * itself.
 *
 * Not for models whose right side changes otherwise than smoothly with (t, q, v), since nobody looks for the
 * instant; nor with loops, whose drift would have to be taken away state by state. The energy of these runs
 * is not known; one whose numbers are no longer finite has failed.
 *
 * Cost     4 evaluations a step, of `lanes` runs each. No allocation.
 */
#include "simulation/rollout/rollout_parts.h"
#include "formulations/common/method_create.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VECTORS_TOGETHER = 4 };

/* --- what permits it ------------------------------------------------------------------------------- */

static const char *hindrance(const lw_rollout *r) {
    const lw_model *model = r->model;
    const lw_simulation *s = r->workers[0].simulation;
    if (strcmp(s->plan.integrator->name, "rk4") != 0) return "the integrator is not rk4 with a fixed step";
    if (model->closure_count || model->constraint_count) return "the model has closed loops or constraints";
    if (model->motion_count) return "the model has prescribed motions";
    if (model->event_count) return "the model has events";
    if (model->values.state_count) return "the model has user states";
    if (s->switches.motion) return "forces or signals of the model have conditions";
    if (model->knot_count + model->rhythm_count) return "forces of the model switch at known times";
    if (s->system.base.root_count) return "the method has events of its own in this model";
    if (!r->simd) return "the method has no vectors; take method tree";
    return NULL;
}

static lw_status refuse(const char *why, lw_error *error) {
    return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL,
                   "make the runs one by one on threads, without `vectors`",
                   "runs cannot advance side by side in vectors: %s", why);
}

static lw_status create_worker(lw_rollout *r, lw_rollout_worker *own, lw_error *error) {
    const lw_model *model = r->model;
    lw_side_by_side *b = &own->beside;
    const lw_run_plan *plan = &own->simulation->plan;
    b->inputs = LW_NEW(r->arena, double, lw_model_input_count(model) + 1);
    if (!b->inputs) return lw_out_of_memory(error);
    b->options = (lw_method_options){.penalty = plan->options.penalty, .inputs = b->inputs};
    lw_status status = lw_method_create(plan->formulation, model, &b->options, &b->method, error);
    if (status == LW_OK) status = r->simd->create(b->method, &b->options, &r->lanes, &b->workspace, error);
    if (status != LW_OK) return status;
    if (r->lanes < 2) return refuse("the method has no vectors for this model", error);
    r->room = VECTORS_TOGETHER * r->lanes;
    double **const by_q[] = {&b->q, &b->stage_q, &b->rate_q, &b->sum_q};
    double **const by_v[] = {&b->v, &b->stage_v, &b->rate_v, &b->sum_v, &b->tau};
    for (int k = 0; k < 4; k++) *by_q[k] = LW_NEW(r->arena, double, (model->nq + 1) * r->room);
    for (int k = 0; k < 5; k++) *by_v[k] = LW_NEW(r->arena, double, (model->nv + 1) * r->room);
    b->one_q = LW_NEW(r->arena, double, model->nq + 1);
    b->one_v = LW_NEW(r->arena, double, model->nv + 1);
    b->one_tau = LW_NEW(r->arena, double, model->nv + 1);
    b->one_rate = LW_NEW(r->arena, double, model->nq + model->nv + 1);
    return lw_arena_failed(r->arena) ? lw_out_of_memory(error) : LW_OK;
}

lw_status lw_rollout_vectors_create(lw_rollout *r, lw_error *error) {
    r->simd = lw_method_simd_find(r->workers[0].simulation->plan.formulation->name);
    const char *why = hindrance(r);
    if (why) return refuse(why, error);
    lw_status status = LW_OK;
    for (int k = 0; k < lw_threads_count(r->threads) && status == LW_OK; k++)
        status = create_worker(r, &r->workers[k], error);
    return status;
}

void lw_rollout_vectors_destroy(lw_rollout *r) {
    for (int k = 0; k < lw_threads_count(r->threads); k++) {
        lw_side_by_side *b = &r->workers[k].beside;
        if (b->workspace) r->simd->destroy(b->workspace);
        lw_method_destroy(b->method);
    }
}

lw_status lw_rollout_vectors_check(const lw_rollout *r, const lw_rollout_runs *x, lw_error *error) {
    const size_t size = (size_t)x->instants * (size_t)lw_model_input_count(r->model);
    for (size_t k = 1; x->inputs && size > 0 && k < (size_t)x->count; k++)
        if (memcmp(x->inputs, x->inputs + k * size, size * sizeof *x->inputs) != 0)
            return refuse("their inputs differ, and in vectors all see the same", error);
    return LW_OK;
}

/* --- steps ----------------------------------------------------------------------------------------- */

static void one_of_many(int rows, int room, int run, const double *from, double *to) {
    for (int k = 0; k < rows; k++) to[k] = from[k * room + run];
}

static void many_of_one(int rows, int room, int run, const double *from, double *to) {
    for (int k = 0; k < rows; k++) to[k * room + run] = from[k];
}

/* The runs of one thread: numbers first .. first + count - 1. */
typedef struct crowd {
    lw_rollout *r;
    lw_rollout_worker *own;
    lw_side_by_side *b;
    int first, count, room;
    bool failed[VECTORS_TOGETHER * 16];
    lw_status status[VECTORS_TOGETHER * 16];
} crowd;

static void fail(crowd *c, int run, lw_status status, const lw_error *error) {
    if (run >= c->count || c->failed[run]) return;
    c->failed[run] = true, c->status[run] = status;
    lw_rollout_failed(c->own, c->first + run, status, error);
}

/* A run that the vectors have left out; one without accelerations stays where it is. */
static void accelerate_one(crowd *c, double t, const double *tau, int run) {
    lw_side_by_side *b = c->b;
    const lw_model *model = c->r->model;
    double *vdot = b->one_rate;
    lw_error error = {0};
    one_of_many(model->nq, c->room, run, b->stage_q, b->one_q);
    one_of_many(model->nv, c->room, run, b->stage_v, b->one_v);
    if (tau) one_of_many(model->nv, c->room, run, tau, b->one_tau);
    const lw_status status = c->own->simulation->plan.formulation->accelerations(
        b->method, t, b->one_q, b->one_v, tau ? b->one_tau : NULL, vdot, NULL, NULL, &error);
    if (status != LW_OK) {
        for (int k = 0; k < model->nv; k++) vdot[k] = 0;
        fail(c, run, status, &error);
    }
    many_of_one(model->nv, c->room, run, vdot, b->rate_v);
}

/* Rates of q and v in the stage. */
static void rates(crowd *c, double t, const double *tau) {
    const lw_rollout *r = c->r;
    const lw_model *model = r->model;
    lw_side_by_side *b = c->b;
    const int room = c->room;
    const lw_states states = {room, t, b->stage_q, b->stage_v, tau, b->rate_v};
    for (int s = 0; s < room; s += r->lanes) {
        const unsigned answered = r->simd->accelerations(b->workspace, &states, s);
        for (int l = 0; l < r->lanes; l++)
            if (!(answered >> l & 1)) accelerate_one(c, t, tau, s + l);
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int nq = link->joint.nq, nv = link->joint.nv;
        double *rate = b->rate_q + link->q * room;
        const double *q = b->stage_q + link->q * room, *v = b->stage_v + link->v * room;
        if (nq == nv) {
            memcpy(rate, v, (size_t)(nv * room) * sizeof *rate);
            continue;
        }
        for (int s = 0; s < room; s++) {
            one_of_many(nq, room, s, q, b->one_q);
            one_of_many(nv, room, s, v, b->one_v);
            lw_joint_rate(&link->joint, b->one_q, b->one_v, true, b->one_rate);
            many_of_one(nq, room, s, b->one_rate, rate);
        }
    }
}

static void normalise(crowd *c) {
    const lw_model *model = c->r->model;
    if (model->nq == model->nv) return; /* no quaternions */
    for (int s = 0; s < c->room; s++) {
        one_of_many(model->nq, c->room, s, c->b->q, c->b->one_q);
        lw_normalise_q(model, c->b->one_q);
        many_of_one(model->nq, c->room, s, c->b->one_q, c->b->q);
    }
}

static void combine(int count, double *restrict to, const double *restrict from, double factor,
                    const double *restrict rate) {
    for (int k = 0; k < count; k++) to[k] = from[k] + factor * rate[k];
}

static void add(int count, double *restrict sum, double factor, const double *restrict rate) {
    for (int k = 0; k < count; k++) sum[k] += factor * rate[k];
}

static void step(crowd *c, double t, double h, const double *tau) {
    lw_side_by_side *b = c->b;
    const int nq = c->r->model->nq * c->room, nv = c->r->model->nv * c->room;
    const double at[] = {0.5 * h, 0.5 * h, h}, weights[] = {2, 2, 1};
    memcpy(b->stage_q, b->q, (size_t)nq * sizeof *b->q);
    memcpy(b->stage_v, b->v, (size_t)nv * sizeof *b->v);
    rates(c, t, tau);
    memcpy(b->sum_q, b->rate_q, (size_t)nq * sizeof *b->q);
    memcpy(b->sum_v, b->rate_v, (size_t)nv * sizeof *b->v);
    for (int s = 0; s < 3; s++) {
        combine(nq, b->stage_q, b->q, at[s], b->rate_q);
        combine(nv, b->stage_v, b->v, at[s], b->rate_v);
        rates(c, t + at[s], tau);
        add(nq, b->sum_q, weights[s], b->rate_q);
        add(nv, b->sum_v, weights[s], b->rate_v);
    }
    add(nq, b->q, h / 6, b->sum_q);
    add(nv, b->v, h / 6, b->sum_v);
    normalise(c);
}

/* --- runs ------------------------------------------------------------------------------------------ */

/* Outputs of a state, by the thread's simulation. */
static lw_status outputs_of(crowd *c, double t, double *to, lw_error *error) {
    lw_simulation *s = c->own->simulation;
    lw_status status = lw_simulation_set_state(s, t, c->b->one_q, c->b->one_v, error);
    if (status != LW_OK) return status;
    if (lw_model_input_count(c->r->model)) lw_simulation_set_inputs(s, c->b->inputs);
    status = lw_simulation_outputs(s, to);
    return status == LW_OK ? status
                           : lw_fail(error, status, NULL, "ask for the state alone",
                                     "its outputs cannot be computed at t = %g", t);
}

/* The states at an instant. */
static void write(crowd *c, int instant, double t) {
    const lw_rollout_runs *x = &c->r->runs;
    const lw_model *model = c->r->model;
    lw_side_by_side *b = c->b;
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv, outputs = (size_t)model->output_names.count;
    for (int s = 0; s < c->count; s++) {
        const size_t place = (size_t)(c->first + s) * (size_t)x->instants + (size_t)instant;
        lw_error error = {0};
        one_of_many(model->nq, c->room, s, b->q, b->one_q);
        one_of_many(model->nv, c->room, s, b->v, b->one_v);
        double total = 0; /* Zero times a number that is not finite is none. */
        for (size_t k = 0; k < nq; k++) total += 0 * b->one_q[k];
        for (size_t k = 0; k < nv; k++) total += 0 * b->one_v[k];
        if (!(total == 0) && !c->failed[s])
            fail(c, s,
                 lw_fail(&error, LW_ERROR_INTEGRATION, NULL, "give a shorter step, or an adaptive integrator",
                         "its state is not finite at t = %g", t),
                 &error);
        double *out = x->outputs_out && outputs ? x->outputs_out + place * outputs : NULL;
        if (out && !c->failed[s]) {
            const lw_status status = outputs_of(c, t, out, &error);
            if (status != LW_OK) fail(c, s, status, &error);
        }
        const bool lost = c->failed[s];
        for (size_t k = 0; x->q_out && k < nq; k++) x->q_out[place * nq + k] = lost ? NAN : b->one_q[k];
        for (size_t k = 0; x->v_out && k < nv; k++) x->v_out[place * nv + k] = lost ? NAN : b->one_v[k];
        for (size_t k = 0; out && lost && k < outputs; k++) out[k] = NAN;
    }
}

/* Starts, inputs and forces; a place without a run has those of the last one. */
static void begin(crowd *c) {
    const lw_rollout_runs *x = &c->r->runs;
    const lw_run_options *run = &c->r->options.run;
    const lw_model *model = c->r->model;
    for (int s = 0; s < c->room; s++) {
        const size_t at = (size_t)(c->first + (s < c->count ? s : c->count - 1));
        double *q = c->b->one_q, *v = c->b->one_v;
        lw_model_initial_state(model, q, v);
        if (x->q || run->q)
            memcpy(q, x->q ? x->q + at * (size_t)model->nq : run->q, (size_t)model->nq * sizeof *q);
        if (x->v || run->v)
            memcpy(v, x->v ? x->v + at * (size_t)model->nv : run->v, (size_t)model->nv * sizeof *v);
        many_of_one(model->nq, c->room, s, q, c->b->q);
        many_of_one(model->nv, c->room, s, v, c->b->v);
    }
    normalise(c);
}

static const double *forces_of(crowd *c, int instant) {
    const lw_rollout_runs *x = &c->r->runs;
    const int nv = c->r->model->nv;
    if (!x->tau) return NULL;
    for (int s = 0; s < c->room; s++) {
        const size_t at = (size_t)(c->first + (s < c->count ? s : c->count - 1));
        const double *row = x->tau + (at * (size_t)x->instants + (size_t)instant) * (size_t)nv;
        many_of_one(nv, c->room, s, row, c->b->tau);
    }
    return c->b->tau;
}

void lw_rollout_vectors_work(void *rollout, int thread, int chunk) {
    lw_rollout *r = rollout;
    const lw_rollout_runs *x = &r->runs;
    crowd c = {.r = r, .own = &r->workers[thread], .b = &r->workers[thread].beside, .room = r->room};
    const int inputs = lw_model_input_count(r->model);
    c.first = chunk * r->room;
    c.count = x->count - c.first < r->room ? x->count - c.first : r->room;
    begin(&c);
    double t = r->options.run.start;
    bool stopped = false;
    for (int i = 0; i < x->instants; i++) {
        const double *given = x->inputs ? x->inputs + (size_t)i * (size_t)inputs : r->options.run.inputs;
        if (inputs) memcpy(c.b->inputs, given, (size_t)inputs * sizeof *given);
        const double *tau = forces_of(&c, i), span = x->times[i] - t;
        const long steps = (long)ceil(span / r->options.run.step - 1e-9);
        for (long k = 0; k < steps && !stopped; k++) {
            step(&c, t + span * ((double)k / (double)steps), span / (double)steps, tau);
            stopped = lw_rollout_stopped(c.own);
        }
        t = x->times[i];
        for (int s = 0; s < c.count && stopped; s++) {
            lw_error error;
            fail(&c, s, lw_fail(&error, LW_ERROR_STOPPED, NULL, NULL, "stopped before t = %g", t), &error);
        }
        write(&c, i, t);
    }
    for (int s = 0; s < c.count && x->status; s++) x->status[c.first + s] = c.status[s];
}
