/* test_tangent_space.c - orthogonal factors of the rows of loops, one loop after another: entries, rank, kept rows,
 * tangent space and multipliers on random closed loops, against dense factors; a ladder of many cells.
 */
#include "random_loops.h"
#include "closures.h"
#include "problems.h"
#include "constraints/rank/redundancy.h"
#include "constraints/tangent_space.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NV = 6 * LOOP_BODIES, MAX_NQ = 8 * LOOP_BODIES };

typedef struct subject {
    lw_arena *arena;
    const lw_model *model;
    lw_data *data;
    lw_rows *rows;
    lw_tangent *tangent;
    bool prescribed[MAX_NV];
} subject;

static void begin(subject *s, const lw_model *model, double t, const double *q) {
    s->arena = lw_arena_create(NULL);
    s->model = model;
    assert_int_equal(lw_data_create(model, NULL, &s->data), LW_OK);
    s->rows = lw_rows_create_loops(model, s->arena);
    s->tangent = lw_tangent_create(model, s->rows, s->arena);
    assert_non_null(s->tangent);
    lw_take_state(model, s->data, t, q, NULL);
    lw_velocities(model, s->data);
    lw_world_poses(model, s->data);
    lw_rows_evaluate(model, s->data, false, s->rows);
    lw_tangent_rows(s->tangent, s->data);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv && model->nv <= MAX_NV; k++)
            s->prescribed[model->links[i].v + k] = model->links[i].prescribed >> k & 1;
}

static void end(subject *s) {
    lw_data_destroy(s->data);
    lw_arena_destroy(s->arena);
}

/* The rows without units, and columns that are left out, column by column: for singular values. */
static int dense_rank(const subject *s, const double *G, const bool *out) {
    int m = s->rows->count, nv = s->model->nv;
    double *A = calloc((size_t)m * (size_t)nv + 1, sizeof *A);
    for (int v = 0; v < nv; v++)
        for (int r = 0; r < m; r++)
            A[r + v * m] = out[v] ? 0 : G[r * nv + v] * s->tangent->row_unit[r] * s->tangent->unit[v];
    closures_svd d = closures_decompose(m, nv, A, 1e-9, 1);
    int rank = d.rank;
    closures_discard(&d);
    free(A);
    return rank;
}

/* Every row of Q: T is orthonormal and annihilates the rows; Q and Q' are inverse to each other. */
static void check_tangent(subject *s, const double *G, const bool *out, int seed) {
    const lw_tangent *t = s->tangent;
    int nv = s->model->nv, m = s->rows->count, count = 0;
    static double Q[MAX_NV][MAX_NV];
    memset(Q, 0, sizeof Q);
    for (int v = 0; v < nv; v++)
        if (!out[v]) lw_tangent_row(s->tangent, v, Q[v]), count++;
    for (int j = 0; j < nv; j++)
        for (int k = 0; k <= j && !out[j]; k++) {
            double sum = 0;
            for (int v = 0; v < nv; v++) sum += Q[v][j] * Q[v][k];
            if (!out[k] && fabs(sum - (j == k)) > 1e-13)
                fail_msg("seed %d: Q is not orthogonal, %g", seed, sum);
        }
    int freedom = 0;
    for (int j = 0; j < nv; j++) {
        if (out[j] || t->range[j]) continue;
        freedom++;
        for (int r = 0; r < m; r++) {
            double sum = 0;
            for (int v = 0; v < nv; v++) sum += G[r * nv + v] * t->row_unit[r] * t->unit[v] * Q[v][j];
            if (fabs(sum) > 1e-8) fail_msg("seed %d: row %d of %g is not annihilated", seed, r, sum);
        }
    }
    assert_int_equal(freedom, count - t->rank);
    assert_int_equal(freedom, t->freedom);
}

static void check_multipliers(subject *s, lw_random *random, const double *G, const bool *out, int seed) {
    const lw_tangent *t = s->tangent;
    int nv = s->model->nv, m = s->rows->count;
    double lambda[CLOSURES_MAX], again[CLOSURES_MAX], tau[MAX_NV] = {0}, back[MAX_NV] = {0}, x[MAX_NV];
    random_vector(random, m, 1, lambda);
    lw_tangent_forces(t, 1, lambda, tau);
    for (int v = 0; v < nv; v++) {
        double sum = 0;
        for (int r = 0; r < m; r++) sum += G[r * nv + v] * lambda[r];
        assert_true(fabs(sum - tau[v]) < 1e-10 * (1 + fabs(sum)));
        x[v] = out[v] ? 0 : tau[v] * t->unit[v];
    }
    lw_tangent_apply(s->tangent, true, x);
    for (int v = 0; v < nv; v++)
        if (!out[v] && !t->range[v] && fabs(x[v]) > 1e-8)
            fail_msg("seed %d: forces of rows act along the tangent space, %g", seed, x[v]);
    lw_tangent_multipliers(t, x, again);
    lw_tangent_forces(t, 1, again, back);
    for (int r = 0; r < m; r++) assert_true(t->kept[r] || again[r] == 0);
    for (int v = 0; v < nv; v++)
        if (!out[v] && fabs(back[v] - tau[v]) > 1e-7 * (1 + fabs(tau[v])))
            fail_msg("seed %d: speed %d: %g from %g", seed, v, back[v], tau[v]);
}

static void random_mechanisms(void **unused) {
    (void)unused;
    int redundant = 0, several = 0;
    for (int seed = 0; seed < 500; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double q[MAX_NQ], v[MAX_NV];
        random_loops_state(&loops, model, seed % 2, q, v);
        subject s = {0};
        begin(&s, model, loops.t, q);
        lw_newton_euler *system = lw_newton_euler_create(model, LW_HOLD_NONE);
        lw_redundancy *dense;
        lw_newton_euler_rows_at(system, loops.t, q, NULL);
        assert_int_equal(lw_redundancy_create(system, &dense, NULL), LW_OK);
        int m = s.rows->count, nv = model->nv, kept = 0;
        double *G = calloc((size_t)m * (size_t)nv + 1, sizeof *G),
               *H = calloc((size_t)m * (size_t)nv + 1, sizeof *H);
        lw_tangent_matrix(s.tangent, G);
        lw_loop_constraint_matrix(model, s.data, s.rows, H);
        for (int k = 0; k < m * nv; k++) assert_true(fabs(G[k] - H[k]) < 1e-11);
        lw_tangent_factor(s.tangent, s.prescribed);
        for (int r = 0; r < m; r++) kept += s.tangent->kept[r];
        if (s.tangent->rank != dense->rank)
            fail_msg("seed %d (%s): rank %d, and %d by pivoting among all rows", seed,
                     loop_kind_name(loops.kind), s.tangent->rank, dense->rank);
        assert_int_equal(kept, dense->rank);
        redundant += dense->rank < dense->rows;
        several += s.tangent->components > 1;
        lw_random random = random_seed((uint64_t)seed + 77);
        check_tangent(&s, G, s.prescribed, seed);
        check_multipliers(&s, &random, G, s.prescribed, seed);
        bool out[MAX_NV]; /* any other speeds may be left out, too */
        for (int k = 0; k < nv; k++) out[k] = random_unit(&random) < 0.4;
        lw_tangent_factor(s.tangent, out);
        if (s.tangent->rank != dense_rank(&s, G, out))
            fail_msg("seed %d: rank %d of a part, and %d by singular values", seed, s.tangent->rank,
                     dense_rank(&s, G, out));
        check_tangent(&s, G, out, seed);
        check_multipliers(&s, &random, G, out, seed);
        free(G), free(H);
        lw_redundancy_destroy(dense);
        lw_newton_euler_destroy(system);
        end(&s);
        lw_model_destroy(model);
    }
    print_message("%d with redundant rows, %d with several sets of loops\n", redundant, several);
    assert_true(redundant > 150 && several > 20);
}

/* Memory and fronts of a ladder grow with the number of its cells, not with its square. */
static void ladders(void **unused) {
    (void)unused;
    size_t before = 0;
    for (int cells = 32; cells <= 128; cells *= 2) {
        char value[16];
        snprintf(value, sizeof value, "%d", cells);
        lw_model *model = read_problem_with("ladder", "N", value);
        double *q = calloc((size_t)model->nq + 1, sizeof *q), *v = calloc((size_t)model->nv + 1, sizeof *v);
        lw_model_initial_state(model, q, v);
        assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
        subject s = {0};
        begin(&s, model, 0, q);
        lw_tangent_factor(s.tangent, NULL);
        assert_int_equal(s.tangent->rank, 3 * cells);
        assert_int_equal(s.tangent->freedom, 2);
        if (before) assert_true(s.tangent->store_size < 3 * before);
        before = s.tangent->store_size;
        print_message("%d cells: %zu numbers in fronts\n", cells, before);
        end(&s);
        free(q), free(v);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_mechanisms), cmocka_unit_test(ladders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
