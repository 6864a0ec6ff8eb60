/* code_row_choice.c - which rows of closures and constraints generated code holds: independent ones, chosen
 * when code is generated, at states on the closures.
 *
 * Method   Gram-Schmidt on the rows of G at STATES positions at once. The next row is the one whose part
 *          perpendicular to those chosen before is longest in the geometric mean of all positions; rows count
 *          as dependent if this part vanishes at more than half of them.
 * Cost     STATES rank count speeds.
 * Limits   One choice for all positions: where the chosen rows become dependent while others would not, the
 *          generated function returns SINGULAR.
 */
#include "export/code/code_closures.h"
#include "constraints/projection.h"
#include "core/pseudo_random.h"
#include <linkwork/assemble.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 7, TRIALS = 8, ROUNDS = 40 };

struct code_closer {
    const lw_model *model;
    lw_projection *projection;
    double *q0, *v0;
};

lw_status code_closer_create(const lw_model *model, code_closer **closer, lw_error *error) {
    code_closer *c = *closer = calloc(1, sizeof *c);
    if (!c) return lw_out_of_memory(error);
    c->model = model;
    c->projection = lw_projection_create(model, LW_HOLD_NONE);
    c->q0 = calloc((size_t)model->nq + 1, sizeof(double));
    c->v0 = calloc((size_t)model->nv + 1, sizeof(double));
    if (!c->projection || !c->q0 || !c->v0) return lw_out_of_memory(error);
    code_closer_values(c, NULL, NULL);
    memcpy(c->q0, model->q0, (size_t)model->nq * sizeof(double));
    memcpy(c->v0, model->v0, (size_t)model->nv * sizeof(double));
    return lw_assemble(model, 0, c->q0, c->v0, NULL, error);
}

void code_closer_destroy(code_closer *c) {
    if (!c) return;
    lw_projection_destroy(c->projection);
    free(c->q0);
    free(c->v0);
    free(c);
}

const double *code_closer_q0(const code_closer *c) { return c->q0; }
const double *code_closer_v0(const code_closer *c) { return c->v0; }

void code_closer_values(code_closer *c, const double *inputs, const double *states) {
    lw_projection_set_values(c->projection, inputs ? inputs : c->model->input_defaults,
                             states ? states : c->model->values.starts);
}

bool code_closer_close(code_closer *c, double t, double *q, double *v) {
    const double closed = 1e-12, slow = 1e-10;
    lw_violation left = {0};
    lw_error error = {0};
    return lw_project_positions(c->projection, t, q, ROUNDS, &left, &error) == LW_OK &&
           left.largest <= closed && lw_project_velocities(c->projection, t, q, v, &left, &error) == LW_OK &&
           left.largest <= slow;
}

bool code_closer_state(code_closer *c, double t, double size, uint64_t *random, double *q, double *v) {
    const lw_model *model = c->model;
    for (int trial = 0; trial < TRIALS; trial++, size *= 0.6) {
        for (int k = 0; k < model->nq; k++) q[k] = c->q0[k] + size * lw_pseudo_random(random);
        for (int k = 0; k < model->nv; k++)
            v[k] = c->v0[k] + (size > 0 ? size + 0.1 : 0) * lw_pseudo_random(random);
        if (lw_normalise_q(model, q) != LW_OK) continue;
        if ((size > 0 || t > 0) && !code_closer_close(c, t, q, v)) continue;
        return true;
    }
    return false;
}

/* G at one state, comparable: turning speeds as they are, sliding ones and rows that are lengths by the
 * longest arm. */
static void matrix_at(const code_build *b, const code_rows *rows, const double *values, double *G) {
    const lw_model *model = b->model;
    const double arm = lw_longest_arm(model);
    const int n = model->nv;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            const int at = model->links[i].v + k;
            const double column = lw_joint_speed_turns(model->links[i].joint.type, k) ? 1 : arm;
            for (int r = 0; r < rows->count; r++)
                G[r * n + at] = values[rows->G[r * n + at]] * column / (rows->length[r] ? arm : 1);
        }
}

static double length_of(const double *row, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += row[k] * row[k];
    return sqrt(sum);
}

/* Takes the direction of row `by` out of all others. */
static void take_out(double *G, int count, int n, int by) {
    const double size = length_of(G + (size_t)by * (size_t)n, n);
    double *unit = G + (size_t)by * (size_t)n;
    if (!(size > 1e-9)) return;
    for (int k = 0; k < n; k++) unit[k] /= size;
    for (int r = 0; r < count; r++) {
        double *row = G + (size_t)r * (size_t)n, part = 0;
        if (r == by) continue;
        for (int k = 0; k < n; k++) part += row[k] * unit[k];
        for (int k = 0; k < n; k++) row[k] -= part * unit[k];
    }
}

static void choose(code_rows *rows, double *G, int states) {
    const int m = rows->count, n = rows->speeds;
    const size_t size = (size_t)m * (size_t)n;
    bool *taken = calloc((size_t)m + 1, sizeof *taken);
    for (rows->rank = 0; taken && rows->rank < m; rows->rank++) {
        int best = -1;
        double most = 0;
        for (int r = 0; r < m; r++) {
            double score = 0;
            int there = 0;
            if (taken[r]) continue;
            for (int s = 0; s < states; s++) {
                const double part = length_of(G + (size_t)s * size + (size_t)r * (size_t)n, n);
                score += log(part + 1e-9);
                there += part > 1e-7;
            }
            if (2 * there > states && (best < 0 || score > most + 1e-6)) best = r, most = score;
        }
        if (best < 0) break;
        taken[best] = true;
        rows->chosen[rows->rank] = best;
        for (int s = 0; s < states; s++) take_out(G + (size_t)s * size, m, n, best);
    }
    /* in the order of the model: neighbours share nodes */
    rows->rank = 0;
    for (int r = 0; taken && r < m; r++)
        if (taken[r]) rows->chosen[rows->rank++] = r;
    free(taken);
}

/* All nodes at state k of the closer. */
static bool values_at(const code_build *b, code_closer *closer, int k, uint64_t *random, double *q, double *v,
                      double *values) {
    const double t = 0;
    const double *const arrays[CODE_ARRAYS] = {[CODE_TIME] = &t,
                                               [CODE_Q] = q,
                                               [CODE_V] = v,
                                               [CODE_INPUTS] = b->model->input_defaults,
                                               [CODE_STATES] = b->model->values.starts};
    if (!code_closer_state(closer, t, k == 0 ? 0 : 0.15 * k, random, q, v)) return false;
    code_evaluate(b->g, arrays, values);
    return true;
}

void code_choose_rows(code_build *b, code_rows *rows, code_closer *closer) {
    const lw_model *model = b->model;
    const size_t size = (size_t)rows->count * (size_t)rows->speeds;
    double *values = calloc((size_t)b->g->count + 1, sizeof *values),
           *G = calloc(STATES * size + 1, sizeof *G), *q = calloc((size_t)model->nq + 1, sizeof *q),
           *v = calloc((size_t)model->nv + 1, sizeof *v);
    uint64_t random = 5;
    int states = 0;
    if (!values || !G || !q || !v) b->g->failed = true;
    for (int k = 0; k < STATES && !b->g->failed; k++) {
        if (!values_at(b, closer, k, &random, q, v, values)) continue;
        matrix_at(b, rows, values, G + (size_t)states++ * size);
    }
    if (states > 0 && !b->g->failed) choose(rows, G, states);
    free(values);
    free(G);
    free(q);
    free(v);
}

int code_lost_pivot(code_build *b, code_closer *closer, const code_node *pivots, const double *floors,
                    int count) {
    const lw_model *model = b->model;
    double *values = calloc((size_t)b->g->count + 1, sizeof *values),
           *q = calloc((size_t)model->nq + 1, sizeof *q), *v = calloc((size_t)model->nv + 1, sizeof *v);
    int *lost = calloc((size_t)count + 1, sizeof *lost), states = 0, found = -1;
    uint64_t random = 6;
    if (!values || !q || !v || !lost) b->g->failed = true;
    for (int k = 0; k < STATES && !b->g->failed; k++) {
        if (!values_at(b, closer, k, &random, q, v, values)) continue;
        states++;
        for (int i = 0; i < count; i++) lost[i] += pivots[i] >= 0 && !(values[pivots[i]] > floors[i]);
    }
    for (int i = count - 1; i >= 0 && !b->g->failed; i--)
        if (2 * lost[i] > states) found = i;
    free(values);
    free(q);
    free(v);
    free(lost);
    return found;
}
