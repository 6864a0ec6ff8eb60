/* code_step.c - steps of generated C: rk4 and semi-implicit, and the library's figures for them.
 *
 * rk4              the classical scheme of order 4 for q, v and user states together
 * semi_implicit    v += h vdot(q, v), then q += h qdot(q, v): order 1, bounded energy errors without friction
 *
 * Quaternions are brought to unit length after each step, and loops are closed (code_close.c).
 */
#include "export/code/code_files.h"
#include "model/joint.h"
#include "model/signals.h"
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double weights[4] = {1, 2, 2, 1}, ahead[4] = {0.5, 0.5, 1, 0};

void code_print_step_members(const code_plan *plan, FILE *file) {
    fprintf(file, "    %s_state at, rates, sum; /* of steps */\n", plan->name);
}

void code_print_step_header(const code_plan *plan, FILE *file, const char *real) {
    static const char *const names[2] = {"rk4", "semi_implicit"};
    fprintf(
        file,
        "\n/* Moves the state on by a time h with constant forces tau and inputs: by the classical scheme\n"
        " * of order 4, or by the semi-implicit one of order 1. The state is as it was if they do not\n"
        " * return OK. Entries at prescribed coordinates are not used; they follow the motion's rates. */\n");
    for (int k = 0; k < 2; k++)
        fprintf(file, "int %s_step_%s(%s_state *s, const %s *tau, %s h, %s_workspace *w);\n", plan->name,
                names[k], plan->name, real, real, plan->name);
}

/* A loop over the entries of q, v or states; nothing if there are none. */
static void each(FILE *file, int count, const char *text) {
    if (count > 0) fprintf(file, "    for (k = 0; k < %d; k++) %s\n", count, text);
}

/* Loops are closed before the step counts. */
static void print_end(const code_plan *plan, FILE *file, const char *member) {
    if (plan->loops)
        fprintf(
            file,
            "    const int open = %s_close(&w->%s, &w->residual, w);\n    if (open != %s_OK) return open;\n",
            plan->name, member, plan->upper);
    fprintf(file, "    *s = w->%s;\n    return %s_OK;\n}\n\n", member, plan->upper);
}

void code_print_steps(const code_plan *plan, const code_writer *w) {
    const lw_model *model = plan->dynamics;
    const int nq = model->nq, nv = model->nv, nx = model->values.state_count;
    const char *n = plan->name, *u = plan->upper, *real = w->real;
    FILE *file = w->file;
    fprintf(file, "int %s_step_rk4(%s_state *s, const %s *tau, %s h, %s_workspace *w) {\n", n, n, real, real,
            n);
    fprintf(file, "    int stage, k;\n    w->at = *s;\n    w->sum = *s;\n"
                  "    for (stage = 0; stage < 4; stage++) {\n");
    if (w->single)
        fprintf(file,
                "        const %s part = h * (stage == 0 || stage == 3 ? 1.0f / 6.0f : 1.0f / 3.0f);\n"
                "        const %s far = stage == 2 ? h : 0.5f * h;\n",
                real, real);
    else
        fprintf(file,
                "        const %s part = h * (stage == 0 || stage == 3 ? 1.0 / 6.0 : 1.0 / 3.0);\n"
                "        const %s far = stage == 2 ? h : 0.5 * h;\n",
                real, real);
    fprintf(file,
            "        int status = %s_forward(&w->at, tau, w->vdot, w);\n"
            "        if (status == %s_OK) status = %s_rates(&w->at, &w->rates, w);\n"
            "        if (status != %s_OK) return status;\n",
            n, u, n, u);
    each(file, nq, "w->sum.q[k] += part * w->rates.q[k];");
    each(file, nv, "w->sum.v[k] += part * w->vdot[k];");
    each(file, nx, "w->sum.states[k] += part * w->rates.states[k];");
    fprintf(file, "        if (stage == 3) break;\n        w->at.t = s->t + far;\n");
    each(file, nq, "w->at.q[k] = s->q[k] + far * w->rates.q[k];");
    each(file, nv, "w->at.v[k] = s->v[k] + far * w->vdot[k];");
    each(file, nx, "w->at.states[k] = s->states[k] + far * w->rates.states[k];");
    fprintf(file, "    }\n    (void)k;\n    w->sum.t += h;\n    %s_unit(w->sum.q);\n", n);
    print_end(plan, file, "sum");

    fprintf(file, "int %s_step_semi_implicit(%s_state *s, const %s *tau, %s h, %s_workspace *w) {\n", n, n,
            real, real, n);
    fprintf(file,
            "    int k, status = %s_forward(s, tau, w->vdot, w);\n    if (status != %s_OK) return status;\n",
            n, u);
    fprintf(file, "    w->at = *s;\n");
    each(file, nv, "w->at.v[k] += h * w->vdot[k];");
    fprintf(file, "    status = %s_rates(&w->at, &w->rates, w);\n    if (status != %s_OK) return status;\n",
            n, u);
    each(file, nq, "w->at.q[k] += h * w->rates.q[k];");
    each(file, nx, "w->at.states[k] += h * w->rates.states[k];");
    fprintf(file, "    (void)k;\n    w->at.t += h;\n    %s_unit(w->at.q);\n", n);
    print_end(plan, file, "at");
}

/* --- the same by the library ---------------------------------------------------------------------- */

typedef struct rates {
    double *q, *v, *x;
} rates;

static lw_status rates_of(const lw_model *model, lw_data *data, code_reference_loops *loops, double t,
                          const double *q, const double *v, const double *inputs, const double *x,
                          const double *tau, rates *out, lw_error *error) {
    lw_data_set_values(model, data, inputs, x);
    lw_status status = LW_OK;
    if (out->v && loops) {
        memcpy(loops->states, x, (size_t)model->values.state_count * sizeof *x);
        status = lw_solver_accelerations(loops->solver, t, q, v, tau, out->v, error);
    } else if (out->v)
        status = lw_tree_forward_dynamics(model, data, t, q, v, tau, out->v, error);
    lw_take_state(model, data, t, q, v);
    if (status == LW_OK) status = lw_q_rate(model, data->q, data->v, out->q);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_state_rates(model, data, t, out->x);
    return status;
}

void code_keep_prescribed(const lw_model *model, const double *from, double *to) {
    const int nq = model->nq;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++) {
            if (!(link->prescribed >> k & 1)) continue;
            const int own = lw_joint_coordinate_of_speed(link->joint.type, k),
                      first = link->q + (own >= 0 ? own : lw_joint_quaternion(link->joint.type));
            to[nq + link->v + k] = from[nq + link->v + k];
            /* a rotation is prescribed as a whole */
            for (int at = first; at < first + (own >= 0 ? 1 : 4); at++) to[at] = from[at];
        }
    }
}

/* Onto the closures; prescribed entries stay what their rates made of them. at: room for q and v. */
static void close_state(const lw_model *model, code_reference_loops *loops, double t, const double *inputs,
                        double *at, double *out) {
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    memcpy(at, out, (nq + nv) * sizeof *at);
    loops->drift = 0;
    code_closer_values(loops->closer, inputs, out + nq + nv);
    if (!code_closer_close(loops->closer, t, out, out + nq)) loops->drift = HUGE_VAL;
    code_closer_values(loops->closer, NULL, NULL);
    code_keep_prescribed(model, at, out);
    for (size_t k = 0; k < nq + nv; k++) loops->drift = fmax(loops->drift, fabs(out[k] - at[k]));
}

lw_status code_reference_step(const lw_model *model, lw_data *data, const code_reference_state *from,
                              const double *tau, double h, bool semi_implicit, code_reference_loops *loops,
                              double *out, lw_error *error) {
    const int nq = model->nq, nv = model->nv, nx = model->values.state_count, n = nq + nv + nx;
    double *room = calloc(2 * (size_t)n + (size_t)nx + 1, sizeof *room);
    if (!room) return lw_out_of_memory(error);
    double *at = room, *rate = room + n, *first = room + 2 * n; /* first: states, which the solver's are */
    memcpy(first, from->states, (size_t)nx * sizeof *first);
    rates r = {rate, rate + nq, rate + nq + nv};
    lw_status status = LW_OK;
    memcpy(at, from->q, (size_t)nq * sizeof *at);
    memcpy(at + nq, from->v, (size_t)nv * sizeof *at);
    memcpy(at + nq + nv, from->states, (size_t)nx * sizeof *at);
    memcpy(out, at, (size_t)n * sizeof *out);
    if (semi_implicit) {
        status =
            rates_of(model, data, loops, from->t, at, at + nq, from->inputs, at + nq + nv, tau, &r, error);
        for (int k = 0; k < nv; k++) out[nq + k] += h * r.v[k];
        r.v = NULL;
        if (status == LW_OK)
            status = rates_of(model, data, loops, from->t, at, out + nq, from->inputs, at + nq + nv, tau, &r,
                              error);
        for (int k = 0; k < nq; k++) out[k] += h * rate[k];
        for (int k = nq + nv; k < n; k++) out[k] += h * rate[k];
    }
    double t = from->t;
    for (int stage = 0; status == LW_OK && !semi_implicit && stage < 4; stage++) {
        status = rates_of(model, data, loops, t, at, at + nq, from->inputs, at + nq + nv, tau, &r, error);
        for (int k = 0; k < n; k++) out[k] += h * weights[stage] / 6 * rate[k];
        for (int k = 0; k < n; k++) {
            const double start = k < nq ? from->q[k] : k < nq + nv ? from->v[k - nq] : first[k - nq - nv];
            at[k] = start + h * ahead[stage] * rate[k];
        }
        t = from->t + h * ahead[stage];
    }
    if (status == LW_OK) status = lw_normalise_q(model, out);
    if (loops) memcpy(loops->states, first, (size_t)nx * sizeof *first);
    if (status == LW_OK && loops) close_state(model, loops, from->t + h, from->inputs, room, out);
    lw_data_set_values(model, data, from->inputs, from->states);
    free(room);
    return status;
}
