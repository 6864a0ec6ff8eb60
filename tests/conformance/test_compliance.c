/* test_compliance.c - reactions that are not unique, shared by the compliance of joints (docs/theory/redundancy.md, 5).
 *
 *   closed forms   a shaft in two bearings, a door on three hinges
 *   random loops   every method gives the same numbers; no set of internal forces, from singular vectors of all rows,
 *                  lowers the energy; the same reactions as those of elastic joints by displacements of the bodies
 *   some joints    the others are rigid: what stays undetermined stays marked, what does not is the same in all methods
 *   units          the same in millimetres, with compliance and without
 *   runs           samples show what a solver answers
 */
#include "build.h"
#include "random_loops.h"
#include "scaled.h"
#include "constraints/newton_euler_system.h"
#include "linalg/dense.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 200, MAX = 6 * 16, MAX_Q = 7 * 16, JOINTS = 40 };

static const char *const methods[] = {"cut",   "rcr",       "partition",  "lagrange", "schur",
                                      "rates", "nullspace", "barycentre", "relative", "partition-absolute"};
enum { METHODS = sizeof methods / sizeof *methods };

static lw_model *read_text(const char *text) {
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    if (lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec) != LW_OK)
        fail_msg("%s", lw_report_get(report, 0)->message);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

static bool answer(const lw_model *model, const char *method, double t, const double *q, const double *v,
                   double *reactions, bool *unique, bool *shared) {
    lw_solver *solver = NULL;
    lw_solver_options options;
    lw_error error;
    double vdot[MAX];
    lw_solver_defaults(model, &options);
    options.method = method;
    if (lw_solver_create(model, &options, NULL, &solver, &error) != LW_OK)
        fail_msg("%s: %s", method, error.message);
    lw_status status = lw_solver_accelerations(solver, t, q, v, NULL, vdot, &error);
    if (status != LW_OK && status != LW_ERROR_SINGULAR) fail_msg("%s: %s", method, error.message);
    if (status == LW_OK) {
        assert_int_equal(lw_solver_reactions(solver, reactions, unique, &error), LW_OK);
        assert_int_equal(lw_solver_by_compliance(solver, shared, &error), LW_OK);
    }
    lw_solver_destroy(solver);
    return status == LW_OK;
}

/* --- closed forms ------------------------------------------------------------------------------------- */

/* A shaft of weight W at the distance a from the first of two bearings, L apart, of compliance c and r. Forces F and
 * M, the torque of either (by symmetry the same): F1 + F2 = W, 2 M + F2 L = W a. c (F1^2 + F2^2) + 2 r M^2 is least for
 *   M = c (W a/L - W/2) (2/L) / (r + 4 c/L^2). */
static void a_shaft_in_two_bearings(void **state) {
    (void)state;
    const double W = 9.81 * 12, a = 0.25, L = 0.8;
    for (int n = 0; n < 4; n++) {
        const double c = pow(10, -8 + n), r = pow(10, -6);
        char text[1024];
        snprintf(text, sizeof text,
                 "linkwork: 1\n"
                 "bodies:\n  shaft: {mass: 12, com: [0.25, 0, 0], inertia: [0.1, 1, 1]}\n"
                 "joints:\n"
                 "  one: {type: revolute, between: [ground, shaft], point: [0, 0, 0], axis: [1, 0, 0], "
                 "compliance: {translation: %.17g m/N, rotation: %.17g rad/(N m)}, v: 3}\n"
                 "  two: {type: revolute, between: [ground, shaft], point: [0.8, 0, 0], axis: [1, 0, 0], "
                 "compliance: {translation: %.17g, rotation: %.17g}}\n",
                 c, r, c, r);
        lw_model *model = read_text(text);
        const double M = c * (W * a / L - W / 2) * (2 / L) / (r + 4 * c / (L * L)), F2 = (W * a - 2 * M) / L;
        for (int m = 0; m < METHODS; m++) {
            double f[12];
            bool unique[12], shared[12];
            assert_true(answer(model, methods[m], 0, model->q0, model->v0, f, unique, shared));
            /* A torque about -y lifts the far end. */
            const double expected[12] = {0, 0, W - F2, 0, -M, 0, 0, 0, F2, 0, -M, 0};
            for (int k = 0; k < 12; k++) {
                if (!(fabs(f[k] - expected[k]) < 1e-11 * W))
                    fail_msg("%s, %d: component %d is %g, not %g", methods[m], n, k, f[k], expected[k]);
                assert_true(shared[k] == !unique[k]);
            }
            assert_false(unique[2]);
        }
        lw_model_destroy(model);
    }
}

/* A door on three hinges at heights z of compliance c_i and r_i: Lagrange's rule gives F_i = (l + k z_i)/c_i along x,
 * M_i = k/r_i about y, with sum F = X and sum (z F + M) = Y; weights share as 1/c_i. */
static void a_door_on_three_hinges(void **state) {
    (void)state;
    const double z[3] = {0.2, 1, 1.8}, c[3] = {1e-8, 3e-8, 2e-8}, r[3] = {1e-6, 5e-7, 2e-6};
    const double m = 20, w = 2, arm = 0.4, height = 1, g = 9.81;
    const char *names[3] = {"low", "mid", "top"};
    char text[2048];
    int used = snprintf(text, sizeof text,
                        "linkwork: 1\n"
                        "bodies:\n  door: {mass: 20, com: [0.4, 0, 1], inertia: [6, 8, 2]}\njoints:\n");
    for (int i = 0; i < 3; i++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used,
                     "  %s: {type: revolute, between: [ground, door], point: [0, 0, %g], axis: [0, 0, 1], "
                     "compliance: {translation: %g, rotation: %g}%s}\n",
                     names[i], z[i], c[i], r[i], i ? "" : ", v: 2");
    lw_model *model = read_text(text);
    /* The centre is held by -m w^2 arm along x; the moment of that and of the weight, about y at the origin. */
    const double X = -m * w * w * arm, Y = height * X - arm * m * g;
    double s0 = 0, s1 = 0, s2 = 0, sr = 0;
    for (int i = 0; i < 3; i++) s0 += 1 / c[i], s1 += z[i] / c[i], s2 += z[i] * z[i] / c[i], sr += 1 / r[i];
    /* [s0 s1; s1 s2+sr] (l, k) = (X, Y) */
    const double det = s0 * (s2 + sr) - s1 * s1, l = ((s2 + sr) * X - s1 * Y) / det,
                 k = (s0 * Y - s1 * X) / det;
    for (int method = 0; method < METHODS; method++) {
        double f[18];
        bool unique[18], shared[18];
        assert_true(answer(model, methods[method], 0, model->q0, model->v0, f, unique, shared));
        for (int i = 0; i < 3; i++) {
            const double *of = f + 6 * i;
            if (!(fabs(of[0] - (l + k * z[i]) / c[i]) < 1e-10 * m * g) ||
                !(fabs(of[2] - m * g / c[i] / s0) < 1e-10 * m * g) ||
                !(fabs(of[4] - k / r[i]) < 1e-10 * m * g))
                fail_msg("%s, %s: %g %g %g, not %g %g %g", methods[method], names[i], of[0], of[2], of[4],
                         (l + k * z[i]) / c[i], m * g / c[i] / s0, k / r[i]);
            assert_true(shared[6 * i] && shared[6 * i + 2] && shared[6 * i + 4] && !unique[6 * i]);
            assert_true(unique[6 * i + 5] && !shared[6 * i + 5]);
        }
    }
    lw_model_destroy(model);
}

/* --- random loops -------------------------------------------------------------------------------------- */

/* All rows of joints in the velocities of the bodies, by columns, and the energy of their multipliers. */
typedef struct elastic {
    int bodies, rows; /* 6 n, and rows of all kinds */
    double *H;        /* 6 n x rows */
    double *C;        /* rows x rows: compliance in multipliers */
    double *x;        /* per row: multipliers of the reactions; constraints and drives have 0 */
} elastic;

static void take_rows(const lw_model *model, double t, const double *q, const double *reactions, elastic *e) {
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    assert_non_null(s);
    lw_newton_euler_rows_at(s, t, q, NULL);
    const lw_rows *rows = s->rows;
    e->bodies = 6 * model->body_count, e->rows = rows->count;
    e->H = calloc((size_t)e->bodies * (size_t)e->rows + 1, sizeof(double));
    e->C = calloc((size_t)e->rows * (size_t)e->rows + 1, sizeof(double));
    e->x = calloc((size_t)e->rows + 1, sizeof(double));
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        for (int b = row->block; b < row->block + row->count; b++)
            for (int k = 0; k < 6; k++)
                e->H[(size_t)r * (size_t)e->bodies + (size_t)(6 * (rows->body[b] - 1) + k)] =
                    rows->H[6 * b + k];
        if (row->joint < 0 || row->kind == LW_ROW_PRESCRIBED) continue;
        const double *W = rows->joints[row->joint].W, *w = W + 6 * row->component;
        const double *c = model->compliance + 2 * row->joint;
        /* the multiplier: the wrench along the twist that is dual to the row, from the inverse of W */
        double A[6][7];
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++) A[i][k] = W[6 * k + i];
            A[i][6] = reactions[6 * row->joint + (i < 3 ? 3 + i : i - 3)];
        }
        for (int i = 0; i < 6; i++) { /* Gauss and Jordan */
            int p = i;
            for (int k = i; k < 6; k++)
                if (fabs(A[k][i]) > fabs(A[p][i])) p = k;
            for (int k = 0; k < 7; k++) {
                const double swap = A[i][k];
                A[i][k] = A[p][k], A[p][k] = swap;
            }
            for (int j = 0; j < 6; j++) {
                if (j == i) continue;
                const double factor = A[j][i] / A[i][i];
                for (int k = 0; k < 7; k++) A[j][k] -= factor * A[i][k];
            }
        }
        e->x[r] = A[row->component][6] / A[row->component][row->component];
        for (int o = 0; o < rows->count; o++) {
            if (rows->rows[o].joint != row->joint || rows->rows[o].kind == LW_ROW_PRESCRIBED) continue;
            const double *other = W + 6 * rows->rows[o].component;
            e->C[(size_t)r + (size_t)o * (size_t)e->rows] =
                c[1] * lw_v3_dot(w, other) + c[0] * lw_v3_dot(w + 3, other + 3);
        }
    }
    lw_newton_euler_destroy(s);
}

static void free_rows(elastic *e) { free(e->H), free(e->C), free(e->x); }

/* The largest part of C x along the null space of H (columns: rows), relative to |C x|. */
static double slope_of_energy(const elastic *e, int *nulls) {
    const int m = e->bodies, n = e->rows;
    double *A = malloc((size_t)m * (size_t)n * sizeof *A), *U = malloc((size_t)m * (size_t)m * sizeof *U),
           *Vt = malloc((size_t)n * (size_t)n * sizeof *Vt), *s = calloc((size_t)(m + n), sizeof *s),
           *g = calloc((size_t)n, sizeof *g), size = 0, most = 0;
    memcpy(A, e->H, (size_t)m * (size_t)n * sizeof *A);
    lw_orthogonal *work = lw_orthogonal_create(m, n, true);
    assert_non_null(work);
    const int rank = lw_svd(work, m, n, A, s, U, Vt, 1e-10);
    lw_orthogonal_destroy(work);
    for (int r = 0; r < n; r++) {
        for (int o = 0; o < n; o++) g[r] += e->C[(size_t)r + (size_t)o * (size_t)n] * e->x[o];
        size = fmax(size, fabs(g[r]));
    }
    for (int k = rank; k < n; k++) {
        double along = 0;
        for (int r = 0; r < n; r++) along += Vt[(size_t)k + (size_t)r * (size_t)n] * g[r];
        most = fmax(most, fabs(along));
    }
    *nulls = n - rank;
    free(A), free(U), free(Vt), free(s), free(g);
    return size > 0 ? most / size : 0;
}

/* The reactions of elastic joints that bear the same loads H x: forces D H'u, D = C^-1, of displacements u of the
 * bodies with (H D H') u = H x; of the solutions the shortest. Only where there are no constraints and drives. Returns the
 * difference from x relative to its largest entry. */
static double difference_from_bushings(const elastic *e) {
    const int m = e->bodies, n = e->rows;
    double *D = calloc((size_t)n * (size_t)n, sizeof *D), *L = calloc((size_t)n * (size_t)n, sizeof *L);
    /* C = L L', and B = H L^-T: then D = L^-T L^-1, and H D H' = B B'. With B = U s V' the forces are
     * x' = L^-T B'u = L^-T V V' L'x for the columns of V of non-zero s. */
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = e->C[(size_t)i + (size_t)j * (size_t)n];
            for (int k = 0; k < j; k++)
                sum -= L[(size_t)i + (size_t)k * (size_t)n] * L[(size_t)j + (size_t)k * (size_t)n];
            L[(size_t)i + (size_t)j * (size_t)n] = i == j ? sqrt(sum) : sum / L[(size_t)j * (size_t)(n + 1)];
        }
    double *B = malloc((size_t)m * (size_t)n * sizeof *B), *U = malloc((size_t)m * (size_t)m * sizeof *U),
           *Vt = malloc((size_t)n * (size_t)n * sizeof *Vt), *s = calloc((size_t)(m + n), sizeof *s),
           *y = calloc((size_t)n, sizeof *y), *x = calloc((size_t)n, sizeof *x), size = 0, most = 0;
    for (int i = 0; i < m; i++) /* Row i of B solves B L' = H, from the left. */
        for (int j = 0; j < n; j++) {
            double sum = e->H[(size_t)j * (size_t)m + (size_t)i];
            for (int k = 0; k < j; k++)
                sum -= B[(size_t)k * (size_t)m + (size_t)i] * L[(size_t)j + (size_t)k * (size_t)n];
            B[(size_t)j * (size_t)m + (size_t)i] = sum / L[(size_t)j * (size_t)(n + 1)];
        }
    lw_orthogonal *work = lw_orthogonal_create(m, n, true);
    const int rank = lw_svd(work, m, n, B, s, U, Vt, 1e-10);
    lw_orthogonal_destroy(work);
    double *w = calloc((size_t)n, sizeof *w);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) y[j] += L[(size_t)i + (size_t)j * (size_t)n] * e->x[i]; /* L'x */
    for (int k = 0; k < rank; k++) {
        double along = 0;
        for (int r = 0; r < n; r++) along += Vt[(size_t)k + (size_t)r * (size_t)n] * y[r];
        for (int r = 0; r < n; r++) w[r] += along * Vt[(size_t)k + (size_t)r * (size_t)n];
    }
    for (int j = n - 1; j >= 0; j--) { /* L'x = w */
        x[j] = w[j];
        for (int i = j + 1; i < n; i++) x[j] -= L[(size_t)i + (size_t)j * (size_t)n] * x[i];
        x[j] /= L[(size_t)j * (size_t)(n + 1)];
        size = fmax(size, fabs(e->x[j])), most = fmax(most, fabs(x[j] - e->x[j]));
    }
    free(D), free(L), free(B), free(U), free(Vt), free(s), free(y), free(x), free(w);
    return size > 0 ? most / size : 0;
}

static void give_compliance(lw_random *random, lw_spec *spec, double share) {
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
        lw_joint_spec *joint = lw_spec_joint(spec, j);
        const double one = pow(10, random_between(random, -9, -7)),
                     other = pow(10, random_between(random, -8, -6));
        if (random_unit(random) < share) joint->compliance[0] = one, joint->compliance[1] = other;
    }
}

static double largest(const double *x, int n) {
    double most = 1;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(x[k]));
    return most;
}

/* Multiplies reactions by what they count in other units of length: forces once, torques twice. */
static void compare_scaled(const lw_model *model, const double *f, const double *g, double scale,
                           double limit, int seed, const char *method, const char *what) {
    const double size = largest(f, 6 * model->joint_count);
    for (int k = 0; k < 6 * model->joint_count; k++) {
        const double back = g[k] / (k % 6 < 3 ? scale : scale * scale);
        if (!(fabs(back - f[k]) < limit * size))
            fail_msg("seed %d, %s, %s: component %d is %g, in other units %g (of %g)", seed, method, what, k,
                     f[k], back, size);
    }
}

static void random_loops_share(void **state) {
    (void)state;
    int redundant = 0, compared = 0, elastic_ones = 0, partly = 0, still = 0;
    double worst = 0, slope = 0, bushings = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        static random_loops loops;
        lw_random random = random_seed(100u + (uint64_t)seed);
        const bool all = seed % 3 != 0;
        random_loops_build(&loops, seed);
        give_compliance(&random, loops.spec, all ? 1 : 0.5);
        lw_model *model = compile_or_fail(loops.spec);
        double q[MAX_Q], v[MAX], f[6 * JOINTS], first[6 * JOINTS] = {0};
        bool unique[6 * JOINTS], shared[6 * JOINTS], kept[6 * JOINTS] = {0}, have = false, some = false;
        const int count = 6 * model->joint_count;
        random_loops_state(&loops, model, true, q, v);
        for (int m = 0; m < METHODS && model->compliance; m++) {
            if (!answer(model, methods[m], loops.t, q, v, f, unique, shared)) continue;
            for (int k = 0; k < count; k++) {
                some |= shared[k];
                still += !unique[k] && !shared[k];
                if (unique[k] && shared[k]) fail_msg("seed %d, %s: %d is both", seed, methods[m], k);
            }
            if (!have) memcpy(first, f, sizeof first), memcpy(kept, shared, sizeof kept), have = true;
            const double size = largest(first, count);
            for (int k = 0; k < count; k++) {
                if (shared[k] != kept[k]) fail_msg("seed %d, %s: flag %d differs", seed, methods[m], k);
                if (!unique[k] && !shared[k]) continue;
                const double apart = fabs(f[k] - first[k]) / size;
                worst = fmax(worst, apart);
                if (!(apart < 1e-7))
                    fail_msg("seed %d, %s: component %d is %g, not %g", seed, methods[m], k, f[k], first[k]);
            }
            compared++;
        }
        if (have && some) redundant++, partly += !all;
        if (have && some) {
            elastic e;
            int nulls;
            take_rows(model, loops.t, q, first, &e);
            const double along = slope_of_energy(&e, &nulls);
            slope = fmax(slope, along);
            if (!(along < 1e-8)) fail_msg("seed %d: the energy has slope %g", seed, along);
            assert_true(nulls > 0);
            bool pure = all && model->constraint_count == 0 && model->motion_count == 0;
            if (pure) {
                const double apart = difference_from_bushings(&e);
                bushings = fmax(bushings, apart);
                if (!(apart < 1e-8)) fail_msg("seed %d: elastic joints differ by %g", seed, apart);
                elastic_ones++;
            }
            free_rows(&e);
        }
        lw_model_destroy(model);
    }
    print_message("%d redundant (%d in part), %d answers, worst %.1e, slope %.1e, %d elastic %.1e, %d open\n",
                  redundant, partly, compared, worst, slope, elastic_ones, bushings, still);
    assert_true(redundant > SEEDS / 3 && partly > 10 && elastic_ones > 20 && still > 0);
}

/* The numbers that are shown do not depend on the unit of length, neither with compliance nor without. What sparse
 * elimination (lagrange) leaves undetermined it knows to rounding over its softness, 1e-16/1e-9, only, times what bodies
 * amplify (docs/theory/lagrange.md, 3); by a power of two there is no rounding, and the numbers agree as the others do. */
static void units_do_not_matter(void **state) {
    (void)state;
    int compared = 0;
    for (int seed = 1; seed <= SEEDS; seed += 3)
        for (int way = 0; way < 3; way++) {
            const double scale = way < 2 ? 1e3 : 1024;
            const int with = way == 1;
            static random_loops loops, again;
            static scaled units;
            lw_random random = random_seed(100u + (uint64_t)seed), same = random;
            random_loops_build(&loops, seed), random_loops_build(&again, seed);
            give_compliance(&random, loops.spec, with), give_compliance(&same, again.spec, with);
            units = (scaled){0};
            scale_spec(&units, again.spec, 1, scale);
            lw_model *model = compile_or_fail(loops.spec), *other = compile_or_fail(again.spec);
            double q[MAX_Q], v[MAX], far_q[MAX_Q], far_v[MAX], f[6 * JOINTS], g[6 * JOINTS];
            bool unique[6 * JOINTS], shared[6 * JOINTS];
            random_loops_state(&loops, model, true, q, v);
            memcpy(far_q, q, sizeof q), memcpy(far_v, v, sizeof v);
            scale_state(model, 1, scale, far_q, far_v, NULL);
            bool alike = model->closure_count == other->closure_count;
            for (int j = 0; j < model->joint_count && alike; j++)
                alike = model->joints[j].info.cut == other->joints[j].info.cut;
            for (int m = 0; m < METHODS && alike; m++) {
                if (!answer(model, methods[m], loops.t, q, v, f, unique, shared) ||
                    !answer(other, methods[m], loops.t, far_q, far_v, g, unique, shared))
                    continue;
                compare_scaled(model, f, g, scale,
                               strcmp(methods[m], "lagrange") == 0 && way == 0 ? 1e-4 : 1e-6, seed,
                               methods[m], with ? "compliant" : "rigid");
                compared++;
            }
            lw_model_destroy(model), lw_model_destroy(other);
        }
    print_message("%d compared\n", compared);
    assert_true(compared > 5 * SEEDS);
}

/* --- runs ---------------------------------------------------------------------------------------------- */

typedef struct seen {
    double f[12], t;
    int samples;
} seen;

static bool look(const lw_sample *sample, void *context) {
    seen *s = context;
    assert_non_null(sample->reactions);
    memcpy(s->f, sample->reactions, sizeof s->f), s->t = sample->t, s->samples++;
    return true;
}

static void runs_show_the_same(void **state) {
    (void)state;
    static const char *const by[] = {"rcr", "lagrange", "director"};
    lw_model *model =
        read_text("linkwork: 1\n"
                  "bodies:\n  shaft: {mass: 12, com: [0.25, 0, 0], inertia: [0.1, 1, 1]}\n"
                  "joints:\n"
                  "  one: {type: revolute, between: [ground, shaft], point: [0, 0, 0], axis: [1, 0, 0], "
                  "compliance: {translation: 1e-8, rotation: 1e-6}, v: 3}\n"
                  "  two: {type: revolute, between: [ground, shaft], point: [0.8, 0, 0], axis: [1, 0, 0], "
                  "compliance: {translation: 1e-8, rotation: 1e-6}}\n");
    double f[12];
    bool unique[12], shared[12];
    assert_true(answer(model, "lagrange", 0, model->q0, model->v0, f, unique, shared));
    for (int k = 0; k < 3; k++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error error;
        seen s = {.samples = 0};
        lw_run_defaults(model, &options);
        options.method = by[k];
        options.end = 0.2;
        options.want_reactions = true;
        options.observe = look, options.context = &s;
        if (k == 2) options.integrator = "energy-momentum", options.step = 1e-3;
        if (lw_simulate(model, &options, NULL, NULL, &summary, &error) != LW_OK)
            fail_msg("%s: %s", by[k], error.message);
        assert_true(s.samples > 10);
        for (int i = 0; i < 12; i++)
            if (!(fabs(s.f[i] - f[i]) < 1e-8 * 120)) fail_msg("%s: %d is %g, not %g", by[k], i, s.f[i], f[i]);
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shaft_in_two_bearings), cmocka_unit_test(a_door_on_three_hinges),
        cmocka_unit_test(random_loops_share),      cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(runs_show_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
