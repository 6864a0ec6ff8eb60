/* test_kkt_sparse.c - the sparse solution of the stationary-point system against dense elimination in long double.
 *
 * Random bodies and rows, also dependent rows (known combinations of others), masses from 1e-6 to 1e3, no rows, no bodies.
 * Accelerations and H lambda are unique; of lambda itself only what no combination leaves open, and it is then the
 * smallest in the metric of E (docs/theory/lagrange.md, section 3).
 */
#include "constraints/kkt/kkt_sparse.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define BODIES 6
#define ROWS 24
#define SIZE (6 * BODIES + ROWS)
#define SEEDS 60

typedef struct problem {
    int n, m, base; /* bodies, rows, of which the first `base` are independent */
    lw_model model;
    lw_body bodies[BODIES + 1];
    lw_rows rows;
    lw_row row[ROWS];
    int body[ROWS * BODIES];
    double H[6 * ROWS * BODIES];
    double inertia[6 * BODIES], mass[BODIES], u[6 * BODIES], gamma[ROWS];
    double combination[ROWS][ROWS]; /* row r >= base is this sum of the first ones */
    double full[SIZE][ROWS];        /* H */
} problem;

static void random_mass(lw_random *random, double spread, double *mass, double inertia[6]) {
    double R[9], q[4], size = pow(10, random_between(random, -1, 0));
    *mass = spread > 0 ? pow(10, random_between(random, -6, 3)) : random_between(random, 0.5, 2);
    random_vector(random, 4, 1, q);
    lw_rot_quat(q, R);
    double principal[6] = {0.3, 0.4, 0.5, 0, 0, 0};
    for (int k = 0; k < 3; k++) principal[k] *= *mass * size * size;
    lw_s3_rotate(R, principal, inertia);
}

/* Rows of a chain, each between a body and the one before, then dependent ones that touch every body. */
static void make(problem *p, lw_random *random, int n, int base, int dependent, double spread) {
    memset(p, 0, sizeof *p);
    p->n = n, p->base = base, p->m = base + dependent;
    for (int i = 0; i < n; i++) random_mass(random, spread, &p->mass[i], p->inertia + 6 * i);
    random_vector(random, 6 * n, 1, p->u);
    for (int k = 0; k < 6 * n; k++) p->u[k] *= p->mass[k / 6];
    int blocks = 0;
    for (int r = 0; r < p->m; r++) {
        p->row[r].block = blocks;
        if (r < base) {
            int second = r % n, first = second - 1;
            p->gamma[r] = random_between(random, -1, 1);
            for (int b = first < 0 ? second : first; b <= second; b++) {
                p->body[blocks] = b + 1;
                random_vector(random, 6, 1, p->H + 6 * blocks++);
            }
        } else {
            random_vector(random, base, 1, p->combination[r]);
            for (int b = 0; b < n; b++) {
                p->body[blocks] = b + 1;
                for (int k = 0; k < 6; k++)
                    for (int s = 0; s < base; s++)
                        p->H[6 * blocks + k] += p->combination[r][s] * p->full[6 * b + k][s];
                blocks++;
            }
            for (int s = 0; s < base; s++) p->gamma[r] += p->combination[r][s] * p->gamma[s];
        }
        p->row[r].count = blocks - p->row[r].block;
        for (int b = p->row[r].block; b < blocks; b++)
            for (int k = 0; k < 6; k++) p->full[6 * (p->body[b] - 1) + k][r] = p->H[6 * b + k];
    }
    p->model.body_count = n;
    p->model.bodies = p->bodies;
    for (int i = 0; i <= n; i++) p->bodies[i].name = "some body";
    p->rows = (lw_rows){.count = p->m, .block_count = blocks, .rows = p->row, .body = p->body, .H = p->H};
}

/* Gaussian elimination with the largest pivot of the matrix scaled by rows and columns. */
static void eliminate(int n, long double A[SIZE][SIZE + 1], double *x) {
    int order[SIZE];
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = 0; k < n; k++) {
        int row = k, column = k;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++)
                if (fabsl(A[i][j]) > fabsl(A[row][column])) row = i, column = j;
        for (int j = 0; j <= n; j++) {
            long double keep = A[k][j];
            A[k][j] = A[row][j], A[row][j] = keep;
        }
        for (int i = 0; i < n; i++) {
            long double keep = A[i][k];
            A[i][k] = A[i][column], A[i][column] = keep;
        }
        int keep = order[k];
        order[k] = order[column], order[column] = keep;
        for (int i = k + 1; i < n; i++) {
            long double factor = A[i][k] / A[k][k];
            for (int j = k; j <= n; j++) A[i][j] -= factor * A[k][j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) A[k][n] -= A[k][j] * x[order[j]];
        x[order[k]] = (double)(A[k][n] / A[k][k]);
    }
}

/* a and lambda of the independent rows alone. Bodies are scaled by 1/sqrt(mass). */
static void reference(const problem *p, double *a, double *lambda) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    static long double A[SIZE][SIZE + 1];
    int n = 6 * p->n, size = n + p->base;
    double x[SIZE];
    memset(A, 0, sizeof A);
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < 3; l++) A[6 * i + k][6 * i + l] = p->inertia[6 * i + symmetric[3 * k + l]];
            A[6 * i + 3 + k][6 * i + 3 + k] = p->mass[i];
        }
    for (int i = 0; i < n; i++)
        for (int r = 0; r < p->base; r++) A[i][n + r] = A[n + r][i] = -p->full[i][r];
    for (int i = 0; i < n; i++) A[i][size] = p->u[i];
    for (int r = 0; r < p->base; r++) A[n + r][size] = -p->gamma[r];
    long double scale[SIZE];
    for (int i = 0; i < size; i++) scale[i] = i < n ? 1 / sqrtl(p->mass[i / 6]) : 1;
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= size; j++) A[i][j] *= scale[i] * (j < size ? scale[j] : 1);
    eliminate(size, A, x);
    for (int i = 0; i < size; i++) x[i] *= (double)scale[i];
    memcpy(a, x, (size_t)n * sizeof *a);
    memcpy(lambda, x + n, (size_t)p->base * sizeof *lambda);
}

/* Largest difference of each body's six (or of all, group = count) relative to the largest of the group. */
static double difference(const double *a, const double *b, int count, int group) {
    double worst = 0;
    for (int from = 0; from < count; from += group) {
        double size = 0, apart = 0;
        for (int k = from; k < from + group; k++) {
            size = fmax(size, fabs(b[k]));
            if (isnan(a[k] - b[k])) return NAN;
            apart = fmax(apart, fabs(a[k] - b[k]));
        }
        if (size > 0) worst = fmax(worst, apart / size);
    }
    return worst;
}

static void total(const problem *p, const double *lambda, int m, double *F) {
    memset(F, 0, 6 * (size_t)p->n * sizeof *F);
    for (int i = 0; i < 6 * p->n; i++)
        for (int r = 0; r < m; r++) F[i] += p->full[i][r] * lambda[r];
}

static bool attempt(problem *p, double *a, double *lambda) {
    lw_kkt_sparse *kkt = lw_kkt_sparse_create(&p->model, &p->rows);
    lw_error error;
    assert_non_null(kkt);
    lw_status status = lw_kkt_sparse_factor(kkt, p->inertia, p->mass, &p->rows, &error);
    if (status == LW_OK) status = lw_kkt_sparse_solve(kkt, p->u, p->gamma, a, lambda, &error);
    lw_kkt_sparse_destroy(kkt);
    if (status != LW_OK) assert_int_equal(status, LW_ERROR_SINGULAR);
    return status == LW_OK;
}

static void solve(problem *p, double *a, double *lambda, double *condition) {
    lw_kkt_sparse *kkt = lw_kkt_sparse_create(&p->model, &p->rows);
    lw_error error;
    assert_non_null(kkt);
    assert_int_equal(lw_kkt_sparse_factor(kkt, p->inertia, p->mass, &p->rows, &error), LW_OK);
    if (lw_kkt_sparse_solve(kkt, p->u, p->gamma, a, lambda, &error) != LW_OK) fail_msg("%s", error.message);
    if (condition) *condition = lw_kkt_sparse_condition(kkt);
    lw_kkt_sparse_destroy(kkt);
}

static void compare(int dependent, double spread, double tolerance) {
    double worst_a = 0, worst_F = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        problem p;
        int n = 1 + random_below(&random, BODIES), base = 1 + random_below(&random, 3 * n);
        make(&p, &random, n, base, dependent, spread);
        double a[6 * BODIES], lambda[ROWS], right_a[6 * BODIES], right[ROWS], F[6 * BODIES],
            right_F[6 * BODIES];
        double condition;
        solve(&p, a, lambda, &condition);
        reference(&p, right_a, right);
        total(&p, lambda, p.m, F);
        total(&p, right, base, right_F);
        /* the combined rows load light bodies with differences of forces that heavy ones need */
        double apart = difference(a, right_a, 6 * n, 6);
        double forces = difference(F, right_F, 6 * n, dependent ? 6 * n : 6);
        worst_a = fmax(worst_a, apart), worst_F = fmax(worst_F, forces);
        if (!(apart < tolerance) || !(forces < tolerance))
            fail_msg("seed %d, %d bodies, %d + %d rows: accelerations differ by %g, forces by %g", seed, n,
                     base, dependent, apart, forces);
        assert_true(condition >= 1);
    }
    print_message("%d dependent rows, spread %g: accelerations to %.1e, forces to %.1e\n", dependent, spread,
                  worst_a, worst_F);
}

/* Rows of random directions: the condition of H'J^-1 H is up to 1e4 or so. */
static void independent_rows(void **state) {
    (void)state;
    compare(0, 0, 1e-10);
}

static void dependent_rows(void **state) {
    (void)state;
    compare(1, 0, 1e-10);
    compare(4, 0, 1e-10);
}

/* Per body, so that light ones count as much as heavy ones. */
static void very_different_masses(void **state) {
    (void)state;
    compare(0, 1, 1e-9);
    compare(3, 1, 1e-9);
}

/* Of all lambda the smallest: orthogonal, in the metric of E, to every combination that moves nothing. E is the same for rows of
 * length 1, where the length of a block (n; f) is the larger of |n| over the body's own length, and |f|. */
static void smallest_multipliers(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        problem p;
        int n = 2 + random_below(&random, BODIES - 1), base = 1 + random_below(&random, 2 * n);
        make(&p, &random, n, base, 3, 0);
        double a[6 * BODIES], lambda[ROWS], E[ROWS], length[BODIES] = {0}, longest = 0;
        solve(&p, a, lambda, NULL);
        int blocks = p.row[p.m - 1].block + p.row[p.m - 1].count;
        for (int b = 0; b < blocks; b++) {
            const double *h = p.H + 6 * b;
            double arm[3], *own = &length[p.body[b] - 1];
            lw_v3_cross(h + 3, h, arm);
            *own = fmax(*own, lw_v3_norm(arm) / lw_v3_dot(h + 3, h + 3));
            longest = fmax(longest, *own);
        }
        for (int i = 0; i < n; i++) {
            const double *I = p.inertia + 6 * i;
            length[i] = fmax(length[i], fmin(longest, sqrt((I[0] + I[1] + I[2]) / (2 * p.mass[i]))));
        }
        for (int r = 0; r < p.m; r++) {
            double size = 0;
            for (int b = p.row[r].block; b < p.row[r].block + p.row[r].count; b++)
                size = fmax(
                    size, fmax(lw_v3_norm(p.H + 6 * b) / length[p.body[b] - 1], lw_v3_norm(p.H + 6 * b + 3)));
            E[r] = size * size;
        }
        for (int r = base; r < p.m; r++) { /* lambda = (combination, -1 at r) moves nothing */
            double dot = -E[r] * lambda[r], size = fabs(dot);
            for (int s = 0; s < base; s++) {
                dot += E[s] * lambda[s] * p.combination[r][s];
                size += fabs(E[s] * lambda[s] * p.combination[r][s]);
            }
            /* rounding of the rows, 1e-16, divided by the softness, 1e-9, and some conditioning */
            if (!(fabs(dot) <= 1e-3 * size)) fail_msg("seed %d, row %d: %g of %g", seed, r, dot, size);
        }
    }
}

/* Other values, same structure: what came before leaves no trace, to the last bit. */
static void no_history(void **state) {
    (void)state;
    lw_random random = random_seed(3);
    problem p, other;
    make(&p, &random, 4, 10, 2, 0);
    lw_kkt_sparse *kkt = lw_kkt_sparse_create(&p.model, &p.rows);
    lw_error error;
    for (int k = 0; k < 40; k++) {
        double a[6 * BODIES], lambda[ROWS], right_a[6 * BODIES], right[ROWS], alone[6 * BODIES];
        make(&other, &random, 4, 10, 2, k % 2);
        if (k % 3 == 0) /* a row that was between two bodies meets one alone */
            for (int i = 0; i < 6; i++) other.H[6 * other.row[1].block + i] = 0, other.full[i][1] = 0;
        if (k % 3 == 0) { /* and dependent rows again what they were */
            for (int r = other.base; r < other.m; r++)
                for (int b = 0; b < 4; b++)
                    for (int i = 0; i < 6; i++) {
                        double sum = 0;
                        for (int s = 0; s < other.base; s++)
                            sum += other.combination[r][s] * other.full[6 * b + i][s];
                        other.H[6 * (other.row[r].block + b) + i] = other.full[6 * b + i][r] = sum;
                    }
        }
        assert_int_equal(lw_kkt_sparse_factor(kkt, other.inertia, other.mass, &other.rows, &error), LW_OK);
        assert_int_equal(lw_kkt_sparse_solve(kkt, other.u, other.gamma, a, lambda, &error), LW_OK);
        reference(&other, right_a, right);
        double apart = difference(a, right_a, 24, 6);
        if (!(apart < 1e-8)) fail_msg("state %d: %g", k, apart);
        solve(&other, alone, right, NULL);
        assert_memory_equal(a, alone, 24 * sizeof *a);
        assert_memory_equal(lambda, right, 12 * sizeof *right);
    }
    lw_kkt_sparse_destroy(kkt);
}

/* Single bodies of 1e-15 of the others' mass, and of none: such a body follows from its rows. As a limit of light bodies the answer
 * is that of no mass where rows hold it in all directions, and that of dense elimination in long double elsewhere. Rows that depend on each
 * other to 1e-16 only may leave too few digits beside a body of 1e9 times the others' mass: then it is a refusal, not a number. */
static void light_between_heavy(void **state) {
    (void)state;
    double worst = 0;
    int refused = 0, right_ones = 0;
    for (int seed = 1; seed <= SEEDS; seed++)
        for (int decade = -15; decade <= 15; decade += 3) {
            lw_random random = random_seed((uint64_t)seed);
            problem p;
            int n = 3 + random_below(&random, BODIES - 2), base = 3 * n;
            make(&p, &random, n, base, seed % 3, 0);
            double a[6 * BODIES], lambda[ROWS], right_a[6 * BODIES], right[ROWS], by = pow(10, decade);
            int light = random_below(&random, n);
            p.mass[light] *= by;
            for (int k = 0; k < 6; k++) p.inertia[6 * light + k] *= by, p.u[6 * light + k] *= by;
            bool hard = seed % 3 && (by < 1e-8 || by > 1e8);
            if (!attempt(&p, a, lambda) && hard) {
                refused++;
                continue;
            }
            reference(&p, right_a, right);
            double apart = difference(a, right_a, 6 * n, 6);
            worst = fmax(worst, apart);
            right_ones++;
            /* 1e-16 of the forces that heavy bodies send through light ones moves these; dependent rows are such to 1e-16 only */
            if (!(apart < fmax(1e-9, 1e-14 * (seed % 3 ? fmax(by, 1 / by) : 1 / by))))
                fail_msg("seed %d, body times %g: accelerations differ by %g", seed, by, apart);
        }
    print_message("single bodies times 1e-15 .. 1e15: accelerations to %.1e, %d of %d refused\n", worst,
                  refused, refused + right_ones);
    assert_true(refused < right_ones / 10);
}

/* Units: masses times 2^30, lengths times 2^20 change no bit of what is found but the scale. */
static void units(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        problem p;
        int n = 1 + random_below(&random, BODIES), base = 1 + random_below(&random, 3 * n);
        make(&p, &random, n, base, 2, seed % 2);
        double a[6 * BODIES], lambda[ROWS], b[6 * BODIES], other[ROWS];
        double mass = ldexp(1, 30), length = ldexp(1, -20);
        solve(&p, a, lambda, NULL);
        int blocks = p.row[p.m - 1].block + p.row[p.m - 1].count;
        for (int i = 0; i < n; i++) p.mass[i] *= mass;
        for (int k = 0; k < 6 * n; k++) {
            p.inertia[k] *= mass * length * length;
            p.u[k] *= mass * length * (k % 6 < 3 ? length : 1);
        }
        for (int k = 0; k < 6 * blocks; k++) p.H[k] *= k % 6 < 3 ? length : 1;
        for (int r = 0; r < p.m; r++) p.gamma[r] *= length;
        solve(&p, b, other, NULL);
        for (int k = 0; k < 6 * n; k++) assert_true(b[k] == a[k] * (k % 6 < 3 ? 1 : length));
        for (int r = 0; r < p.m; r++) assert_true(other[r] == lambda[r] * mass * length);
    }
}

/* A row of scissors: the work of a factor grows with their number, not faster. */
static void linear_fill(void **state) {
    (void)state;
    double per_cell[2];
    for (int large = 0; large < 2; large++) {
        enum { CELLS = 64 };
        int cells = large ? CELLS : CELLS / 4, bodies = 2 * cells, m = 0, blocks = 0;
        lw_row *row = calloc(20 * CELLS, sizeof *row);
        int *body = calloc(40 * CELLS, sizeof *body);
        double *H = calloc(240 * CELLS, sizeof *H), *inertia = calloc(12 * CELLS, sizeof *inertia),
               *mass = calloc(2 * CELLS, sizeof *mass), entries, operations;
        lw_random random = random_seed(1);
        for (int i = 0; i < bodies; i++) {
            mass[i] = 1;
            for (int k = 0; k < 3; k++) inertia[6 * i + k] = 0.1;
        }
        for (int c = 0; c < cells; c++) /* two bars cross; each meets the other bar of the cell before */
            for (int pin = 0; pin < 3; pin++)
                for (int k = 0; k < 5; k++) {
                    int pair[2] = {2 * c, pin == 0 ? 2 * c + 1 : 2 * c - 3 + pin};
                    if (pin == 2) pair[0] = 2 * c + 1, pair[1] = 2 * c - 2;
                    if (pair[1] < 0) pair[1] = -1;
                    row[m].block = blocks;
                    for (int e = 0; e < 2; e++) {
                        if (pair[e] < 0) continue;
                        body[blocks] = pair[e] + 1;
                        random_vector(&random, 6, 1, H + 6 * blocks++);
                    }
                    row[m].count = blocks - row[m].block;
                    m++;
                }
        lw_model model = {.body_count = bodies};
        lw_rows rows = {.count = m, .block_count = blocks, .rows = row, .body = body, .H = H};
        lw_kkt_sparse *kkt = lw_kkt_sparse_create(&model, &rows);
        assert_int_equal(lw_kkt_sparse_factor(kkt, inertia, mass, &rows, NULL), LW_OK);
        lw_kkt_sparse_work(kkt, &entries, &operations);
        per_cell[large] = operations / cells;
        lw_kkt_sparse_destroy(kkt);
        free(row), free(body), free(H), free(inertia), free(mass);
    }
    print_message("scissors: %.0f multiplications a cell of 16, %.0f of 64\n", per_cell[0], per_cell[1]);
    assert_true(per_cell[1] < 1.3 * per_cell[0]);
}

/* Bars across others, pinned wherever they cross: of 5 k^2 rows all but 12 k are redundant at least. Such rows wait for the bars
 * that they tie; sheared, at most as many wait as these have coordinates. J a - H lambda = u and H'a = gamma with J > 0 have
 * one a only, so that what is left of both tells whether it is right. Masses spread over 9 decades shall not matter. */
static double crossing(lw_random *random, int k, double spread, double *operations) {
    int bodies = 2 * k, m = 0, blocks = 0, count = 5 * k * k;
    lw_row *row = calloc((size_t)count, sizeof *row);
    int *body = calloc(2 * (size_t)count, sizeof *body);
    lw_body *names = calloc((size_t)bodies + 1, sizeof *names);
    double *H = calloc(12 * (size_t)count, sizeof *H), *inertia = calloc(6 * (size_t)bodies, sizeof *inertia),
           *mass = calloc((size_t)bodies, sizeof *mass), *u = calloc(6 * (size_t)bodies, sizeof *u),
           *gamma = calloc((size_t)count, sizeof *gamma), *a = calloc(6 * (size_t)bodies, sizeof *a),
           *lambda = calloc((size_t)count, sizeof *lambda),
           *wanted = calloc(6 * (size_t)bodies, sizeof *wanted),
           *force = calloc(6 * (size_t)bodies, sizeof *force), entries;
    for (int i = 0; i <= bodies; i++) names[i].name = "some bar";
    for (int i = 0; i < bodies; i++) random_mass(random, spread, &mass[i], inertia + 6 * i);
    random_vector(random, 6 * bodies, 1, wanted);
    random_vector(random, 6 * bodies, 1, u);
    for (int i = 0; i < 6 * bodies; i++) u[i] *= mass[i / 6];
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            for (int d = 0; d < 5; d++, m++) { /* three forces at the pin, two torques across its axis z */
                double at[2][3] = {{j - 0.5 * k, 0, 0.05}, {0, i - 0.5 * k, -0.05}};
                row[m].block = blocks, row[m].count = 2;
                for (int side = 0; side < 2; side++, blocks++) {
                    double *h = H + 6 * blocks, axis[3] = {d % 3 == 0, d % 3 == 1, d % 3 == 2};
                    body[blocks] = 1 + (side ? k + j : i);
                    for (int e = 0; e < 3; e++) h[d < 3 ? 3 + e : e] = side ? -axis[e] : axis[e];
                    if (d < 3) lw_v3_cross(at[side], h + 3, h);
                    gamma[m] += lw_v6_dot(h, wanted + 6 * (body[blocks] - 1));
                }
            }
    lw_model model = {.body_count = bodies, .bodies = names};
    lw_rows rows = {.count = m, .block_count = blocks, .rows = row, .body = body, .H = H};
    lw_kkt_sparse *kkt = lw_kkt_sparse_create(&model, &rows);
    assert_int_equal(lw_kkt_sparse_factor(kkt, inertia, mass, &rows, NULL), LW_OK);
    assert_int_equal(lw_kkt_sparse_solve(kkt, u, gamma, a, lambda, NULL), LW_OK);
    lw_kkt_sparse_work(kkt, &entries, operations);
    double worst = 0, largest = 0;
    for (int i = 0; i < 6 * bodies; i++) largest = fmax(largest, fabs(a[i]));
    for (int i = 0; i < bodies; i++) {
        double *f = force + 6 * i, turned[3];
        lw_s3_mul_v(inertia + 6 * i, a + 6 * i, turned);
        for (int e = 0; e < 3; e++)
            f[e] = turned[e] - u[6 * i + e], f[3 + e] = mass[i] * a[6 * i + 3 + e] - u[6 * i + 3 + e];
    }
    double size = 0;
    for (int r = 0; r < m; r++) {
        double rest = -gamma[r];
        for (int b = row[r].block; b < row[r].block + 2; b++) {
            rest += lw_v6_dot(H + 6 * b, a + 6 * (body[b] - 1));
            lw_v6_axpy(-lambda[r], H + 6 * b, force + 6 * (body[b] - 1));
            size = fmax(size, fabs(lambda[r]));
        }
        worst = fmax(worst, fabs(rest) / (k * largest));
    }
    for (int i = 0; i < 6 * bodies; i++) worst = fmax(worst, fabs(force[i]) / (k * size));
    lw_kkt_sparse_destroy(kkt);
    free(row), free(body), free(names), free(H), free(inertia), free(mass), free(u), free(gamma), free(a),
        free(lambda);
    free(wanted), free(force);
    return worst;
}

static void crossing_bars(void **state) {
    (void)state;
    lw_random random = random_seed(7);
    double worst = 0, operations[2];
    for (int k = 3; k <= 12; k++)
        for (int spread = 0; spread < 2; spread++)
            worst = fmax(worst, crossing(&random, k, spread, &operations[0]));
    crossing(&random, 8, 0, &operations[0]);
    crossing(&random, 16, 0, &operations[1]);
    print_message("crossing bars: rests %.1e, %.2g multiplications for 8 x 8, %.2g for 16 x 16\n", worst,
                  operations[0], operations[1]);
    assert_true(worst < 1e-12);
    assert_true(operations[1] <
                24 * operations[0]); /* k fronts of some 10 k coordinates: k^4; all rows at once: k^6 */
}

static void nothing_at_all(void **state) {
    (void)state;
    problem p;
    lw_random random = random_seed(1);
    double a[6 * BODIES], lambda[ROWS], condition;
    memset(&p, 0, sizeof p);
    p.rows = (lw_rows){.rows = p.row, .body = p.body, .H = p.H};
    solve(&p, a, lambda, &condition);

    make(&p, &random, 3, 0, 0, 1); /* no rows: each body on its own */
    solve(&p, a, lambda, NULL);
    for (int i = 0; i < 3; i++) {
        double Ja[6];
        lw_s3_mul_v(p.inertia + 6 * i, a + 6 * i, Ja);
        for (int k = 0; k < 3; k++) Ja[3 + k] = p.mass[i] * a[6 * i + 3 + k];
        assert_true(difference(Ja, p.u + 6 * i, 6, 6) < 1e-13);
    }
    /* nothing acts */
    memset(p.u, 0, sizeof p.u);
    solve(&p, a, lambda, NULL);
    for (int k = 0; k < 18; k++) assert_true(a[k] == 0);
}

/* Rows can carry a body without mass; one that nothing carries is an error. */
static void without_mass(void **state) {
    (void)state;
    problem p;
    lw_random random = random_seed(5);
    double a[6 * BODIES], lambda[ROWS], right_a[6 * BODIES], right[ROWS];
    make(&p, &random, 2, 12, 0, 0);
    memset(p.inertia, 0, sizeof p.inertia);
    p.mass[0] = 0; /* body 2 has mass but no inertia; twelve rows hold both */
    solve(&p, a, lambda, NULL);
    p.mass[0] = 1; /* the motion does not depend on it */
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++) p.inertia[6 * i + k] = 1;
    reference(&p, right_a, right);
    assert_true(difference(a, right_a, 12, 12) < 1e-9);

    make(&p, &random, 2, 2, 0, 0);
    p.mass[1] = 0;
    lw_kkt_sparse *kkt = lw_kkt_sparse_create(&p.model, &p.rows);
    lw_error error;
    lw_status status = lw_kkt_sparse_factor(kkt, p.inertia, p.mass, &p.rows, &error);
    if (status == LW_OK) status = lw_kkt_sparse_solve(kkt, p.u, p.gamma, a, lambda, &error);
    assert_int_equal(status, LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "singular"));
    lw_kkt_sparse_destroy(kkt);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_rows),
        cmocka_unit_test(dependent_rows),
        cmocka_unit_test(very_different_masses),
        cmocka_unit_test(smallest_multipliers),
        cmocka_unit_test(no_history),
        cmocka_unit_test(light_between_heavy),
        cmocka_unit_test(units),
        cmocka_unit_test(linear_fill),
        cmocka_unit_test(crossing_bars),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(without_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
