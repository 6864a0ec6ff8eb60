/* code_loop.c - dynamics with closed loops as nodes: accelerations, forces of drives, the way back onto the
 * closures.
 *
 * With the rows (7) of code_closures.c that are independent, M = L'DL of the tree and W = L^-T G',
 *
 *   (W'D^-1 W) lambda = -(bias + G vdot_0),   vdot = vdot_0 + M^-1 G' lambda                      (8)
 *
 * where vdot_0 are the accelerations of the tree alone. With phi or psi in place of bias + G vdot_0 the same
 * equations give the smallest motion, in the metric of the masses, that closes the loops. Forces of drives:
 * code_loop_inverse.c.
 *
 * Source   docs/theory/generated-c.md, 9 to 11.
 * Symbols  free: a speed that is not prescribed. u = D^-1 W.
 * Cost     m backward substitutions, m^2 n / 2, m^3 / 6, less what is zero.
 */
#include "export/code/code_loop.h"
#include "export/code/code_symmetric.h"

#include <stdlib.h>
#include <string.h>

typedef struct factored {
    int n, m;
    code_node *mass, *inv; /* L below the diagonal, 1 / D */
    int *before;
    bool *free_speed;
    code_node *W, *u;                /* m x n */
    code_node *A, *pivots, *margins; /* m x m, factored; pivots, and by how much they exceed rounding */
    code_node *lambda, *x;
} factored;

static code_node *array_of(code_build *b, size_t count) {
    code_node *items = calloc(count + 1, sizeof *items);
    if (!items) b->g->failed = true;
    return items;
}

static void factored_destroy(factored *f) {
    free(f->mass);
    free(f->inv);
    free(f->before);
    free(f->free_speed);
    free(f->W);
    free(f->u);
    free(f->A);
    free(f->pivots);
    free(f->margins);
    free(f->lambda);
    free(f->x);
}

static bool factored_create(code_build *b, int m, factored *f) {
    const size_t n = (size_t)b->model->nv, rows = (size_t)m;
    *f = (factored){.n = b->model->nv, .m = m};
    f->mass = array_of(b, n * n), f->inv = array_of(b, n), f->W = array_of(b, n * rows);
    f->u = array_of(b, n * rows), f->A = array_of(b, rows * rows), f->pivots = array_of(b, rows);
    f->margins = array_of(b, rows), f->lambda = array_of(b, rows), f->x = array_of(b, n);
    f->before = calloc(n + 1, sizeof *f->before);
    f->free_speed = calloc(n + 1, sizeof *f->free_speed);
    if (!f->before || !f->free_speed) b->g->failed = true;
    return !b->g->failed;
}

/* x = L^-T x, and x = L^-1 x. */
static void up(code_graph *g, const factored *f, code_node *x) {
    for (int k = f->n - 1; k >= 0; k--)
        for (int i = f->free_speed[k] ? f->before[k] : -1; i >= 0; i = f->before[i])
            x[i] = code_sub(g, x[i], code_mul(g, f->mass[f->n * k + i], x[k]));
}
static void down(code_graph *g, const factored *f, code_node *x) {
    for (int k = 0; k < f->n; k++)
        for (int i = f->free_speed[k] ? f->before[k] : -1; i >= 0; i = f->before[i])
            x[k] = code_sub(g, x[k], code_mul(g, f->mass[f->n * k + i], x[i]));
}

/* Everything that does not depend on the right-hand sides. */
static void factor(code_build *b, const code_rows *rows, double rounding, factored *f) {
    code_graph *g = b->g;
    const int n = f->n, m = f->m;
    code_list_ancestors(b, f->before, f->free_speed);
    code_mass_matrix(b, true, f->mass);
    for (int k = n - 1; k >= 0; k--) {
        if (!f->free_speed[k]) continue;
        f->inv[k] = code_div(g, code_constant(g, 1), f->mass[n * k + k]);
        for (int i = f->before[k]; i >= 0; i = f->before[i]) {
            const code_node a = code_mul(g, f->mass[n * k + i], f->inv[k]);
            for (int j = i; j >= 0; j = f->before[j])
                f->mass[n * i + j] = code_sub(g, f->mass[n * i + j], code_mul(g, a, f->mass[n * k + j]));
        }
        for (int i = f->before[k]; i >= 0; i = f->before[i])
            f->mass[n * k + i] = code_mul(g, f->mass[n * k + i], f->inv[k]);
    }
    for (int r = 0; r < m; r++) {
        code_node *W = f->W + (size_t)r * (size_t)n, *u = f->u + (size_t)r * (size_t)n;
        for (int k = 0; k < n; k++) W[k] = rows->G[(size_t)rows->chosen[r] * (size_t)n + (size_t)k];
        up(g, f, W);
        for (int k = 0; k < n; k++) u[k] = code_mul(g, W[k], f->inv[k]);
        for (int s = 0; s <= r; s++) {
            code_node sum = 0;
            for (int k = 0; k < n; k++)
                sum = code_add(g, sum, code_mul(g, u[k], f->W[(size_t)s * (size_t)n + (size_t)k]));
            f->A[m * r + s] = sum;
        }
    }
    code_factor_symmetric(g, m, f->A, rounding, f->pivots, f->margins);
}

/* x = D^-1 L^-T of what acts, becomes L^-1 (x + u lambda) with G times that = -wanted. */
static void close(code_build *b, factored *f, const code_node *wanted) {
    code_graph *g = b->g;
    const size_t n = (size_t)f->n;
    for (int r = 0; r < f->m; r++) {
        code_node sum = wanted[r];
        for (size_t k = 0; k < n; k++) sum = code_add(g, sum, code_mul(g, f->W[(size_t)r * n + k], f->x[k]));
        f->lambda[r] = code_neg(g, sum);
    }
    code_solve_symmetric(g, f->m, f->A, f->pivots, f->lambda);
    for (size_t k = 0; k < n; k++)
        for (int r = 0; r < f->m; r++)
            f->x[k] = code_add(g, f->x[k], code_mul(g, f->u[(size_t)r * n + k], f->lambda[r]));
    down(g, f, f->x);
}

/* The pivots of the tree, then those of the rows, as nodes that have to exceed zero or the floors. */
static void put_pivots(const factored *f, code_node *pivots) {
    for (int k = 0; k < f->n; k++) pivots[k] = f->free_speed[k] ? f->mass[f->n * k + k] : -1;
    for (int r = 0; r < f->m; r++) pivots[f->n + r] = f->margins[r];
}

void code_forward_loops(code_build *b, const code_rows *rows, double rounding, const code_node *tau,
                        code_node *vdot, code_node *pivots) {
    code_graph *g = b->g;
    factored f;
    code_node *wanted = array_of(b, (size_t)rows->rank);
    if (factored_create(b, rows->rank, &f)) {
        code_node *held = array_of(b, (size_t)f.n);
        for (int k = 0; k < f.n && !g->failed; k++) held[k] = b->vdot[k] >= 0 ? b->vdot[k] : 0;
        if (!g->failed) {
            factor(b, rows, rounding, &f);
            code_inverse(b, held, true, true, f.x);
            for (int k = 0; k < f.n; k++) f.x[k] = f.free_speed[k] ? code_sub(g, tau[k], f.x[k]) : 0;
            up(g, &f, f.x);
            for (int k = 0; k < f.n; k++) f.x[k] = code_mul(g, f.x[k], f.inv[k]);
            for (int r = 0; r < f.m; r++) wanted[r] = rows->bias[rows->chosen[r]];
            close(b, &f, wanted);
            for (int k = 0; k < f.n; k++) vdot[k] = f.free_speed[k] ? f.x[k] : held[k];
            put_pivots(&f, pivots);
        }
        free(held);
    }
    factored_destroy(&f);
    free(wanted);
}

void code_close_loops(code_build *b, const code_rows *rows, double rounding, bool positions, code_node *delta,
                      code_node *pivots) {
    factored f;
    code_node *wanted = array_of(b, (size_t)rows->rank);
    int *chosen = calloc((size_t)rows->rank + 1, sizeof *chosen), count = 0;
    if (!chosen) b->g->failed = true;
    for (int r = 0; r < rows->rank && chosen; r++) /* What rolls may slide to where it closes. */
        if (!positions || rows->phi[rows->chosen[r]] >= 0) chosen[count++] = rows->chosen[r];
    code_rows own = *rows;
    own.chosen = chosen, own.rank = count;
    for (int k = 0; k < rows->rank; k++) pivots[b->model->nv + k] = -1;
    if (!b->g->failed && factored_create(b, count, &f)) {
        factor(b, &own, rounding, &f);
        for (int r = 0; r < f.m; r++) wanted[r] = positions ? rows->phi[chosen[r]] : rows->psi[chosen[r]];
        close(b, &f, wanted);
        for (int k = 0; k < f.n; k++) delta[k] = f.free_speed[k] ? f.x[k] : 0;
        put_pivots(&f, pivots);
        factored_destroy(&f);
    }
    free(chosen);
    free(wanted);
}
