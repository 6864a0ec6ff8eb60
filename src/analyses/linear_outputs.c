/* linear_outputs.c - rows of C and D of outputs that need reactions, forces or accelerations of bodies.
 *
 *   C_kj = sum of w_i y_k(q displaced by h_i Lq_j, v + h_i Lv_j, s + h_i),   D likewise                  (9)
 *
 * with h_i = -2 h, -h, h, 2 h and weights 1, -8, 8, -1 over 12 h: the outputs of a simulation that is set to
 * displaced states, in which everything that a run shows is computed and has passed the balance check. Rows
 * of all other outputs are exact (linearise.c).
 *
 * Source   docs/theory/linearise.md, (9).
 * Cost     four evaluations per state and input. Allocates.
 * Limits   outputs that only a run has (works, the energy ledger) are left out, and if there are some, so are
 *          all of this kind.
 */
#include "analyses/linear_outputs.h"
#include "model/quantity/quantity.h"
#include "model/signals.h"
#include <linkwork/dynamics.h>
#include <linkwork/simulation.h>

#include <math.h>
#include <string.h>

/* h: of rad, parts of the longest arm and their rates per second, and of user states and inputs relative to
 * their values: truncation is (1e-3)^4, rounding 1e-13 / 1e-3. */
static const double relative_step = 1e-3;
static const double offsets[] = {-2, -1, 1, 2}, weights[] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};

typedef struct displacement {
    lw_linear_work *work;
    lw_simulation *simulation;
    const lw_model *model;
    double t;
    const double *q, *v, *states, *inputs; /* the state itself */
    double *moved_q, *moved_v, *change, *moved_states, *moved_inputs, *outputs;
} displacement;

/* The outputs with state j (or behind the states, input j - n) displaced by h. */
static lw_status show(displacement *d, int j, double h, lw_error *error) {
    const lw_linear_work *w = d->work;
    const lw_model *model = d->model;
    const int nv = model->nv, ns = model->values.state_count, ni = model->values.input_count, n = w->n;
    memcpy(d->moved_q, d->q, (size_t)model->nq * sizeof *d->q);
    for (int i = 0; i < nv; i++) {
        const size_t by_state = (size_t)i * (size_t)n + (size_t)j,
                     by_input = (size_t)i * (size_t)ni + (size_t)(j - n);
        d->change[i] = j < n ? w->Lq[by_state] : w->Uq[by_input];
        d->moved_v[i] = d->v[i] + h * (j < n ? w->Lv[by_state] : w->Uv[by_input]);
    }
    lw_integrate_q(model, d->moved_q, d->change, h);
    for (int k = 0; k < ns; k++)
        d->moved_states[k] = d->states[k] + (j == w->coordinates + w->speeds + k ? h : 0);
    for (int k = 0; k < ni; k++) d->moved_inputs[k] = d->inputs[k] + (j == n + k ? h : 0);
    lw_status status = lw_simulation_set_inputs(d->simulation, d->moved_inputs);
    if (status == LW_OK) status = lw_simulation_set_state(d->simulation, d->t, d->moved_q, d->moved_v, error);
    if (status == LW_OK && ns > 0) status = lw_simulation_set_states(d->simulation, d->moved_states);
    return status == LW_OK ? lw_simulation_outputs(d->simulation, d->outputs) : status;
}

static double step_of(const displacement *d, int j) {
    const lw_linear_work *w = d->work;
    const int slides_of = j < w->coordinates               ? w->own_q[j]
                          : j < w->coordinates + w->speeds ? w->own_v[j - w->coordinates]
                                                           : -1;
    if (slides_of >= 0)
        return relative_step * (w->slides[w->derivatives->free[slides_of]] ? lw_longest_arm(d->model) : 1);
    const double value = j < w->n ? d->states[j - w->coordinates - w->speeds] : d->inputs[j - w->n];
    return relative_step * fmax(fabs(value), 1);
}

/* Is the output's row known already? */
static bool known(const lw_linear_work *w, int output) {
    for (int k = 0; k < w->outputs; k++)
        if (w->output_of[k] == output) return true;
    return false;
}

static bool begin(displacement *d, const lw_linearise_options *options, lw_error *error) {
    const lw_model *model = d->model;
    lw_run_options run;
    lw_arena *arena = d->work->arena;
    const size_t ns = (size_t)model->values.state_count + 1, ni = (size_t)model->values.input_count + 1;
    d->moved_q = LW_NEW(arena, double, model->nq + 1);
    d->moved_v = LW_NEW(arena, double, model->nv + 1);
    d->change = LW_NEW(arena, double, model->nv + 1);
    d->moved_states = LW_NEW(arena, double, ns);
    d->moved_inputs = LW_NEW(arena, double, ni);
    d->outputs = LW_NEW(arena, double, model->output_names.count + 1);
    double *states = LW_NEW(arena, double, ns), *inputs = LW_NEW(arena, double, ni);
    if (lw_arena_failed(arena)) return false;
    for (int k = 0; k < model->values.state_count; k++)
        states[k] = options->states ? options->states[k] : model->values.starts[k];
    for (int k = 0; k < model->values.input_count; k++) {
        inputs[k] = options->inputs ? options->inputs[k] : lw_model_input_default(model, k);
        if (isnan(inputs[k])) return false; /* The default is an expression. */
    }
    d->states = states, d->inputs = inputs;
    lw_run_defaults(model, &run);
    run.method = lw_solver_method(lw_derivatives_solver(d->work->derivatives));
    run.start = d->t, run.end = d->t + 1, run.q = d->q, run.v = d->v, run.as_given = true;
    run.states = states, run.inputs = inputs;
    return lw_simulation_create(model, &run, NULL, &d->simulation, error) == LW_OK;
}

/* The columns of all outputs, rows of `all`: outputs x (n + inputs). */
static bool differentiate(displacement *d, double *all, lw_error *error) {
    const lw_linear_work *w = d->work;
    const int wide = w->n + d->model->values.input_count, outputs = d->model->output_names.count;
    for (int j = 0; j < wide; j++) {
        const double h = step_of(d, j);
        for (int i = 0; i < 4; i++) {
            if (show(d, j, offsets[i] * h, error) != LW_OK) return false;
            for (int k = 0; k < outputs; k++)
                all[(size_t)k * (size_t)wide + (size_t)j] += weights[i] / h * d->outputs[k];
        }
    }
    return true;
}

lw_status lw_linear_outputs(lw_linear_work *w, const lw_linearise_options *options, double t, const double *q,
                            const double *v, lw_error *error) {
    const lw_model *model = w->derivatives->model;
    const int outputs = model->output_names.count, n = w->n, ni = model->values.input_count, wide = n + ni;
    const unsigned of_runs = LW_NEEDS_LEDGER | LW_NEEDS_RUN | LW_NEEDS_WORK;
    if (outputs == 0 || w->outputs == outputs || w->input_rates || (lw_outputs_need(model) & of_runs))
        return LW_OK;
    displacement d = {.work = w, .model = model, .t = t, .q = q, .v = v};
    double *all = LW_NEW(w->arena, double, (size_t)outputs *(size_t)wide + 1);
    double *C = LW_NEW(w->arena, double, (size_t)outputs *(size_t)n + 1);
    double *D = LW_NEW(w->arena, double, (size_t)outputs *(size_t)ni + 1);
    int *list = LW_NEW(w->arena, int, outputs + 1);
    if (lw_arena_failed(w->arena)) return lw_out_of_memory(error);
    /* What has no value in a displaced state stays left out, and is named. */
    const bool found = begin(&d, options, NULL) && differentiate(&d, all, NULL);
    lw_simulation_destroy(d.simulation);
    if (!found) return LW_OK;
    int rows = 0, exact = 0;
    for (int k = 0; k < outputs; k++) {
        const double *row = all + (size_t)k * (size_t)wide;
        double *to_C = C + (size_t)rows * (size_t)n, *to_D = D + (size_t)rows * (size_t)ni;
        if (known(w, k)) {
            memcpy(to_C, w->C + (size_t)exact * (size_t)n, (size_t)n * sizeof *C);
            memcpy(to_D, w->D + (size_t)exact * (size_t)ni, (size_t)ni * sizeof *D);
            exact++;
        } else if (lw_finite(row, wide)) {
            memcpy(to_C, row, (size_t)n * sizeof *C);
            memcpy(to_D, row + n, (size_t)ni * sizeof *D);
        } else
            continue;
        list[rows++] = k;
    }
    memcpy(w->output_of, list, (size_t)rows * sizeof *w->output_of);
    w->outputs = rows, w->C = C, w->D = D;
    return LW_OK;
}
