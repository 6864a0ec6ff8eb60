/* code_loop_inverse.c - forces of drives in closed loops as nodes: the smallest that make a given motion.
 *
 * With rho the forces of inverse dynamics of the tree, tau = rho - G' lambda. All free speeds driven, lambda
 * makes sum of (e tau)^2 least, e = 1 of torques and the longest arm of forces:
 *
 *   N lambda = G E^2 rho,   N = G E^2 G'                                                          (9)
 *
 * over the speeds that are not prescribed. Where only some are driven, tau vanishes at the others, U, which
 * is a condition beside the least squares:
 *
 *   lambda += N^-1 G_U mu,   (G_U' N^-1 G_U) mu = rho_U - G_U' lambda                             (10)
 *
 * Both matrices are positive definite whichever position it is, so no order of pivots has to be found. They
 * square the condition; so each solution is corrected once by what it leaves (Bjoerck's corrected seminormal
 * equations).
 *
 * Source   docs/theory/inverse_loops.md, 4; docs/theory/generated-c.md, 11.
 * Cost     m^2 n + m^3 / 6, and for u speeds without drive u m^2 + u^2 m + u^3 / 6.
 */
#include "export/code/code_loop.h"
#include "export/code/code_symmetric.h"

#include <stdlib.h>

typedef struct drive_problem {
    int n, m, undriven;
    const code_rows *rows;
    code_node *weight;     /* per speed, e^2; zero at prescribed ones */
    code_node *N, *pivots; /* m x m; and its factors */
    code_node *columns;    /* N^-1 G_U: m numbers for each */
    code_node *S, *pivots_S;
    code_node *lambda, *rest, *mu, *step;
    int *without; /* the speeds without drive */
} drive_problem;

static code_node *array_of(code_build *b, size_t count) {
    code_node *items = calloc(count + 1, sizeof *items);
    if (!items) b->g->failed = true;
    return items;
}

static code_node g_of(const drive_problem *p, int r, int k) {
    return p->rows->G[(size_t)p->rows->chosen[r] * (size_t)p->n + (size_t)k];
}

/* rest = rho - G'lambda at the speeds that are not prescribed. */
static void find_rest(code_graph *g, drive_problem *p, const code_node *rho) {
    for (int k = 0; k < p->n; k++) {
        p->rest[k] = rho[k];
        for (int r = 0; r < p->m; r++)
            p->rest[k] = code_sub(g, p->rest[k], code_mul(g, g_of(p, r, k), p->lambda[r]));
    }
}

/* lambda += N^-1 G E^2 rest */
static void least_squares(code_graph *g, drive_problem *p) {
    for (int r = 0; r < p->m; r++) {
        p->step[r] = 0;
        for (int k = 0; k < p->n; k++)
            p->step[r] =
                code_add(g, p->step[r], code_mul(g, code_mul(g, p->weight[k], g_of(p, r, k)), p->rest[k]));
    }
    code_solve_symmetric(g, p->m, p->N, p->pivots, p->step);
    for (int r = 0; r < p->m; r++) p->lambda[r] = code_add(g, p->lambda[r], p->step[r]);
}

/* lambda += N^-1 G_U S^-1 rest_U */
static void release(code_graph *g, drive_problem *p) {
    for (int i = 0; i < p->undriven; i++) p->mu[i] = p->rest[p->without[i]];
    code_solve_symmetric(g, p->undriven, p->S, p->pivots_S, p->mu);
    for (int r = 0; r < p->m; r++)
        for (int i = 0; i < p->undriven; i++)
            p->lambda[r] = code_add(g, p->lambda[r],
                                    code_mul(g, p->columns[(size_t)i * (size_t)p->m + (size_t)r], p->mu[i]));
}

static void prepare(code_build *b, drive_problem *p, const code_drives *drives, double rounding,
                    code_node *pivots) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    const double arm = drives->arm;
    const int m = p->m;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            const int at = model->links[i].v + k;
            const bool turns = lw_joint_speed_turns(model->links[i].joint.type, k);
            if (model->links[i].prescribed >> k & 1) continue;
            p->weight[at] = code_number(g, turns ? 1 : arm * arm, 0);
            if (drives->driven && !drives->driven[at]) p->without[p->undriven++] = at;
        }
    for (int r = 0; r < m; r++)
        for (int s = 0; s <= r; s++) {
            code_node sum = 0;
            for (int k = 0; k < p->n; k++)
                sum = code_add(g, sum, code_mul(g, code_mul(g, p->weight[k], g_of(p, r, k)), g_of(p, s, k)));
            p->N[m * r + s] = sum;
        }
    code_factor_symmetric(g, m, p->N, rounding, p->pivots, pivots);
    for (int i = 0; i < p->undriven; i++) {
        code_node *column = p->columns + (size_t)i * (size_t)m;
        for (int r = 0; r < m; r++) column[r] = g_of(p, r, p->without[i]);
        code_solve_symmetric(g, m, p->N, p->pivots, column);
    }
    for (int i = 0; i < p->undriven; i++)
        for (int j = 0; j <= i; j++) {
            code_node sum = 0;
            for (int r = 0; r < m; r++)
                sum = code_add(
                    g, sum,
                    code_mul(g, p->columns[(size_t)i * (size_t)m + (size_t)r], g_of(p, r, p->without[j])));
            p->S[p->undriven * i + j] = sum;
        }
    code_factor_symmetric(g, p->undriven, p->S, rounding, p->pivots_S, pivots + m);
}

void code_inverse_loops(code_build *b, const code_rows *rows, const code_drives *drives, double rounding,
                        const code_node *vdot, code_node *tau, code_node *pivots) {
    code_graph *g = b->g;
    const size_t n = (size_t)b->model->nv, m = (size_t)rows->rank;
    drive_problem p = {.n = (int)n, .m = (int)m, .rows = rows};
    code_node *rho = array_of(b, n);
    p.weight = array_of(b, n), p.N = array_of(b, m * m), p.pivots = array_of(b, m);
    p.columns = array_of(b, n * m), p.S = array_of(b, n * n), p.pivots_S = array_of(b, n);
    p.lambda = array_of(b, m), p.rest = array_of(b, n), p.mu = array_of(b, n), p.step = array_of(b, m);
    p.without = calloc(n + 1, sizeof *p.without);
    for (size_t k = 0; k < n + m; k++) pivots[k] = -1;
    if (!p.without) g->failed = true;
    if (!g->failed) {
        prepare(b, &p, drives, rounding, pivots);
        code_inverse(b, vdot, true, false, rho);
        for (int round = 0; round < 2; round++) {
            find_rest(g, &p, rho);
            least_squares(g, &p);
        }
        for (int round = 0; round < 2 && p.undriven; round++) {
            find_rest(g, &p, rho);
            release(g, &p);
        }
        find_rest(g, &p, rho);
        for (size_t k = 0; k < n; k++) {
            tau[k] = p.rest[k];
            for (size_t r = 0; r < m; r++)
                tau[k] = code_sub(g, tau[k],
                                  code_mul(g, drives->follow[(size_t)rows->chosen[r] * n + k], p.lambda[r]));
        }
        for (int i = 0; i < p.undriven; i++) tau[p.without[i]] = 0;
    }
    free(rho);
    free(p.weight);
    free(p.N);
    free(p.pivots);
    free(p.columns);
    free(p.S);
    free(p.pivots_S);
    free(p.lambda);
    free(p.rest);
    free(p.mu);
    free(p.step);
    free(p.without);
}

/* The derivative by a coordinate that follows a function cannot be taken once the function stands in its
 * place: so the rows are made again with all coordinates as arguments, and the functions put in
 * afterwards. */
void code_follow_columns(code_build *b, const code_rows *rows, code_node *follow) {
    const lw_model *model = b->model;
    code_graph *g = b->g;
    const int size = rows->count * model->nv;
    code_build open;
    code_rows plain;
    code_seed *swaps = calloc((size_t)model->nq + 1, sizeof *swaps);
    int swap_count = 0;
    if (!swaps) g->failed = true;
    for (int k = 0; k < size; k++) follow[k] = 0;
    if (model->motion_count == 0 || g->failed) {
        free(swaps);
        return;
    }
    code_build_create_open(&open, g, model);
    code_rows_create(&open, &plain);
    for (int k = 0; k < model->nq && !g->failed; k++) {
        const code_node input = code_input(g, CODE_Q, k);
        if (input != b->q[k]) swaps[swap_count++] = (code_seed){input, b->q[k]};
    }
    if (!g->failed) (void)code_substitute(g, swaps, swap_count, plain.G, size, follow);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            for (int r = 0; r < rows->count && !(model->links[i].prescribed >> k & 1); r++)
                follow[r * model->nv + model->links[i].v + k] = 0;
    code_rows_destroy(&plain);
    code_build_destroy(&open);
    free(swaps);
}
