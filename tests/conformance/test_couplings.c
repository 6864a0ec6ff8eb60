/* test_couplings.c - couplings by polynomials and by tables (docs/theory/rows.md, section 3).
 *
 *   rows      values, slopes, curvatures and mean slopes of terms against long double sums and differences
 *   trees     accelerations and reactions of random trees with random couplings, by every method, against the
 *             equations of motion in joint coordinates with the conditions written down here; batches of states
 *   balance   an acceleration for another curvature does not pass
 *   assembly  coordinates that a curve determines
 *   runs      the curve is kept, the ledger closes; the energy-momentum scheme keeps the energy to rounding
 *   mjcf      y - y0 = sum a_k (x - x0)^k
 *   refused   rough tables
 */
#include "build.h"
#include "random_model.h"
#include "constraints/balance/balance_parts.h"
#include "expression/table.h"
#include "model/coupling.h"
#include "model/data.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TREES = 120, MOST = 64, COUPLINGS = 3, JOINTS = 20, POINTS = 7 };

static const double cam_x[POINTS] = {-3, -1.5, -0.4, 0.5, 1.1, 2, 3};
static const double cam_y[POINTS] = {0.3, 0.1, 0.4, 1.2, 1.3, 0.7, 0.3};

/* --- the curves once more --------------------------------------------------------------------------- */

/* Value, slope and curvature of a term: powers one by one, and for tables a cubic by its ends' values and the
 * slopes that central differences of the table's values give. */
static void term_by_hand(const lw_constraint_spec *c, int k, double q, const lw_table *table, double out[3]) {
    const double x = q - c->about[k];
    out[0] = x, out[1] = 1, out[2] = 0;
    if (c->polynomial_size[k]) {
        out[0] = out[1] = out[2] = 0;
        for (int i = 0; i < c->polynomial_size[k]; i++) {
            const double a = c->polynomial[k][i];
            out[0] += a * pow(x, i);
            if (i > 0) out[1] += a * i * pow(x, i - 1);
            if (i > 1) out[2] += a * i * (i - 1) * pow(x, i - 2);
        }
    }
    if (c->tables[k]) {
        /* Fourth-order one-sided rules within the piece are exact for its cubic. */
        double period = 6, base = x - period * floor((x + 3) / period), h = 1e-3;
        int i = 0;
        while (i + 2 < POINTS && cam_x[i + 1] <= base) i++;
        if (base + 4 * h > cam_x[i + 1]) h = -h;
        double f[5];
        for (int j = 0; j < 5; j++) f[j] = lw_table_value(table, base + j * h);
        out[0] = f[0];
        out[1] = (-25 * f[0] + 48 * f[1] - 36 * f[2] + 16 * f[3] - 3 * f[4]) / (12 * h);
        out[2] = (35 * f[0] - 104 * f[1] + 114 * f[2] - 56 * f[3] + 11 * f[4]) / (12 * h * h);
    }
    for (int i = 0; i < 3; i++) out[i] *= c->factors[k];
}

static lw_table *cam(lw_arena *arena) {
    return lw_table_create(arena, cam_x, cam_y, POINTS, LW_INTERPOLATION_SMOOTH, LW_BEYOND_REPEAT);
}

static void terms_have_their_derivatives(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    lw_random random = random_seed(4);
    lw_table *table = cam(arena);
    assert_non_null(table);
    for (int n = 0; n < 4000; n++) {
        lw_coupling_curve curve = {.about = random_between(&random, -1, 1)};
        lw_constraint c = {.terms = 1, .factors = {random_between(&random, -2, 2)}, .curves = &curve};
        if (n % 3) curve.size = 1 + random_below(&random, 5);
        for (int i = 0; i < curve.size; i++) curve.polynomial[i] = random_between(&random, -1, 1);
        if (n % 3 == 0) curve.table = table;
        const double a = random_between(&random, -9, 9), span = pow(10, random_between(&random, -9, 1));
        const double b = a + (n % 2 ? span : -span), h = 1e-4;
        double by_b, by, unused;
        const lw_coupling_value at = lw_coupling_term(&c, 0, a), end = lw_coupling_term(&c, 0, b);
        const double mean = lw_coupling_mean_slope(&c, 0, a, b, &by_b);
        double size = 1 + fabs(at.value) + fabs(at.slope) + fabs(end.slope) + fabs(end.value);
        assert_true(fabs(mean * (b - a) - (end.value - at.value)) < 1e-13 * size * (1 + span));
        /* Of a short step it is the slope in the middle. */
        if (span < 1e-6) assert_true(fabs(mean - at.slope) < 1e-5 * (size + fabs(at.curvature)));
        /* Jets along q = a + 2 s + 3 s^2/2. */
        const lw_jet jet = lw_coupling_jet(&c, 0, (lw_jet){a, 2, 3});
        assert_true(fabs(jet.f - at.value) < 1e-13 * size && fabs(jet.d - 2 * at.slope) < 1e-13 * size);
        assert_true(fabs(jet.dd - 3 * at.slope - 4 * at.curvature) <
                    1e-12 * (size + fabs(at.curvature)) * 10);
        if (curve.table && lw_table_next_point(table, a - curve.about - 3 * h) < a - curve.about + 3 * h)
            continue;
        const double slope =
            (lw_coupling_term(&c, 0, a + h).value - lw_coupling_term(&c, 0, a - h).value) / (2 * h);
        const double bend =
            (lw_coupling_term(&c, 0, a + h).slope - lw_coupling_term(&c, 0, a - h).slope) / (2 * h);
        size += fabs(at.curvature);
        if (!(fabs(slope - at.slope) < 1e-6 * size) || !(fabs(bend - at.curvature) < 1e-6 * size))
            fail_msg("%d: slope %g, not %g; curvature %g, not %g", n, at.slope, slope, at.curvature, bend);
        if (curve.table || span < 0.01) continue;
        by = (lw_coupling_mean_slope(&c, 0, a, b + h, &unused) -
              lw_coupling_mean_slope(&c, 0, a, b - h, &unused)) /
             (2 * h);
        assert_true(fabs(by - by_b) < 1e-5 * (1 + size + fabs(end.curvature)));
    }
    lw_arena_destroy(arena);
}

/* --- random trees ------------------------------------------------------------------------------------ */

static bool is_ball(lw_joint_type type) { return type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE; }

/* Adds couplings of coordinates, each of which no other coupling has; returns how many. */
static int add_couplings(lw_random *random, lw_spec *spec, lw_constraint_spec *list, const double *offsets) {
    static const char *const names[COUPLINGS] = {"first", "second", "third"};
    const char *joints[MOST];
    int coordinates[MOST], count = 0, made = 0;
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, j);
        const int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        for (int k = 0; k < nv && !is_ball(joint->type) && count < MOST; k++)
            joints[count] = joint->name, coordinates[count++] = k;
    }
    for (int k = count - 1; k > 0; k--) { /* in any order */
        int other = random_below(random, k + 1), number = coordinates[k];
        const char *name = joints[k];
        joints[k] = joints[other], coordinates[k] = coordinates[other];
        joints[other] = name, coordinates[other] = number;
    }
    for (int next = 0; made < COUPLINGS && next < count; made++) {
        lw_constraint_spec c = {.name = names[made], .type = LW_CONSTRAINT_COUPLING};
        for (int k = 0; k < 3 && next < count; k++, next++) {
            c.joints[k] = joints[next], c.coordinates[k] = coordinates[next];
            c.factors[k] = random_between(random, 0.3, 2);
            if (random_unit(random) < 0.7) c.about[k] = random_between(random, -1, 1);
            const int kind = random_below(random, 3);
            if (kind == 1) {
                c.polynomial_size[k] = 2 + random_below(random, 4);
                for (int i = 0; i < c.polynomial_size[k]; i++)
                    c.polynomial[k][i] = random_between(random, 0.2, 1);
            }
            if (kind == 2) c.tables[k] = "cam";
            c.terms++;
        }
        c.offset = offsets ? offsets[made] : 0;
        list[made] = c;
        add_constraint(spec, c);
    }
    return made;
}

static lw_model *tree_of(int seed, bool coupled, const double *offsets, lw_constraint_spec *list,
                         int *count) {
    lw_random random = random_seed((uint64_t)seed), other = random_seed(7000u + (uint64_t)seed);
    const random_tree options = {.bodies = 2 + random_below(&random, 7),
                                 .forces = seed % 3 == 0,
                                 .reversed = true,
                                 .aligned = seed % 2 == 0,
                                 .joint = -1};
    lw_spec *spec = random_tree_spec(&random, &options);
    const lw_table_spec table = {.name = "cam",
                                 .size = POINTS,
                                 .x = cam_x,
                                 .y = cam_y,
                                 .interpolation = LW_INTERPOLATION_SMOOTH,
                                 .beyond = LW_BEYOND_REPEAT};
    assert_int_equal(lw_spec_add_table(spec, &table), LW_OK);
    *count = coupled ? add_couplings(&other, spec, list, offsets) : 0;
    if (coupled) { /* The names must outlive the spec. */
        static char names[COUPLINGS][LW_COUPLING_MAX][64];
        for (int c = 0; c < *count; c++)
            for (int k = 0; k < list[c].terms; k++) {
                snprintf(names[c][k], sizeof names[c][k], "%s", list[c].joints[k]);
                list[c].joints[k] = names[c][k];
            }
    }
    return compile_or_fail(spec);
}

/* Gauss with pivots, in place. */
static bool solve(int n, long double *A, long double *b) {
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[p * n + k])) p = i;
        if (!(fabsl(A[p * n + k]) > 1e-14L)) return false;
        for (int j = 0; j < n && p != k; j++) {
            long double x = A[k * n + j];
            A[k * n + j] = A[p * n + j], A[p * n + j] = x;
        }
        long double x = b[k];
        b[k] = b[p], b[p] = x;
        for (int i = k + 1; i < n; i++) {
            long double f = A[i * n + k] / A[k * n + k];
            for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
    return true;
}

typedef struct condition {
    double value, bias, row[MOST];
} condition;

/* The conditions at a state: value, row in the speeds, and the sum of curvatures times squares of speeds. */
static void conditions_at(const lw_model *model, const lw_constraint_spec *list, int count,
                          const lw_table *table, const double *q, const double *v, condition *out) {
    memset(out, 0, (size_t)count * sizeof *out);
    for (int c = 0; c < count; c++)
        for (int k = 0; k < list[c].terms; k++) {
            int j = 0;
            while (strcmp(model->joints[j].name, list[c].joints[k]) != 0) j++;
            const lw_joint_info info = lw_model_joint_info(model, j);
            double term[3];
            term_by_hand(&list[c], k, q[info.q + list[c].coordinates[k]], table, term);
            out[c].value += term[0];
            out[c].row[info.v + list[c].coordinates[k]] += term[1];
            out[c].bias += term[2] * pow(v[info.v + list[c].coordinates[k]], 2);
        }
}

/* Speeds that satisfy the conditions, by the least change. */
static void make_consistent(const condition *rows, int count, int nv, double *v) {
    long double A[COUPLINGS * COUPLINGS], b[COUPLINGS];
    for (int i = 0; i < count; i++) {
        b[i] = 0;
        for (int k = 0; k < nv; k++) b[i] += (long double)rows[i].row[k] * v[k];
        for (int j = 0; j < count; j++) {
            A[i * count + j] = 0;
            for (int k = 0; k < nv; k++) A[i * count + j] += (long double)rows[i].row[k] * rows[j].row[k];
        }
    }
    if (!solve(count, A, b)) return;
    for (int k = 0; k < nv; k++)
        for (int i = 0; i < count; i++) v[k] -= (double)(b[i] * rows[i].row[k]);
}

/* vdot and lambda from the mass matrix and the forces of the tree without couplings. */
static bool reference(const lw_model *bare, const condition *rows, int count, const double *q,
                      const double *v, const double *tau, double *vdot) {
    static long double A[(MOST + COUPLINGS) * (MOST + COUPLINGS)], b[MOST + COUPLINGS];
    static double M[MOST * MOST];
    double zero[MOST] = {0}, force[MOST];
    const int nv = bare->nv, n = nv + count;
    lw_data *data;
    lw_error error;
    assert_int_equal(lw_data_create(bare, NULL, &data), LW_OK);
    assert_int_equal(lw_tree_mass_matrix(bare, data, 0, q, M), LW_OK);
    assert_int_equal(lw_tree_inverse_dynamics(bare, data, 0, q, v, zero, force, &error), LW_OK);
    lw_data_destroy(data);
    memset(A, 0, sizeof A);
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) A[i * n + j] = M[i * nv + j];
        b[i] = (long double)tau[i] - force[i];
    }
    for (int c = 0; c < count; c++) {
        for (int k = 0; k < nv; k++)
            A[k * n + nv + c] = -(long double)rows[c].row[k], A[(nv + c) * n + k] = rows[c].row[k];
        b[nv + c] = -rows[c].bias;
    }
    if (!solve(n, A, b)) return false;
    for (int k = 0; k < nv; k++) vdot[k] = (double)b[k];
    return true;
}

static lw_solver *solver_of(const lw_model *model, const char *method, lw_error *error) {
    lw_solver *solver = NULL;
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    options.method = method;
    lw_status status = lw_solver_create(model, &options, NULL, &solver, error);
    return status == LW_OK ? solver : NULL;
}

static void trees_are_coupled(void **state) {
    (void)state;
    static const char *const methods[] = {
        "cut",   "rcr",       "partition",  "lagrange", "schur",
        "rates", "nullspace", "barycentre", "relative", "partition-absolute"};
    lw_arena *arena = lw_arena_create(NULL);
    lw_table *table = cam(arena);
    int compared = 0, refused = 0;
    double worst = 0, worst_reaction = 0;
    for (int seed = 1; seed <= TREES; seed++) {
        lw_constraint_spec list[COUPLINGS];
        condition rows[COUPLINGS];
        double q[MOST], v[MOST], tau[MOST], vdot[MOST], expected[MOST], offsets[COUPLINGS], many[4 * MOST],
            q4[4 * MOST], v4[4 * MOST], tau4[4 * MOST];
        double reactions[6 * JOINTS], first[6 * JOINTS] = {0};
        bool unique[6 * JOINTS];
        lw_error error;
        int count, none;
        lw_random random = random_seed(9000u + (uint64_t)seed);
        lw_model *trial = tree_of(seed, true, NULL, list, &count),
                 *bare = tree_of(seed, false, NULL, NULL, &none);
        random_state(&random, trial, q, v);
        for (int k = 0; k < trial->nq; k++) /* Powers of large numbers hide small ones. */
            if (fabs(q[k]) > 2) q[k] = fmod(q[k], 2);
        for (int i = 1; i <= trial->body_count; i++) lw_normalise_q(trial, q);
        random_vector(&random, trial->nv, 5, tau);
        conditions_at(trial, list, count, table, q, v, rows);
        for (int c = 0; c < count; c++) offsets[c] = rows[c].value;
        make_consistent(rows, count, trial->nv, v);
        conditions_at(trial, list, count, table, q, v, rows);
        lw_model_destroy(trial);
        lw_model *model = tree_of(seed, true, offsets, list, &count);
        if (count == 0 || !reference(bare, rows, count, q, v, tau, expected)) {
            lw_model_destroy(model), lw_model_destroy(bare);
            continue;
        }
        bool have = false;
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            lw_solver *solver = solver_of(model, methods[m], &error);
            if (!solver) fail_msg("seed %d, %s: %s", seed, methods[m], error.message);
            lw_status status = lw_solver_accelerations(solver, 0, q, v, tau, vdot, &error);
            if (status == LW_ERROR_SINGULAR) {
                refused++;
                lw_solver_destroy(solver);
                continue;
            }
            if (status != LW_OK) fail_msg("seed %d, %s: %s", seed, methods[m], error.message);
            const double differ = relative_difference(expected, vdot, model->nv);
            worst = fmax(worst, differ);
            if (!(differ < 1e-7)) fail_msg("seed %d, %s: differs by %g", seed, methods[m], differ);
            assert_int_equal(lw_solver_reactions(solver, reactions, unique, &error), LW_OK);
            for (int k = 0; k < 6 * model->joint_count; k++)
                if (!unique[k]) reactions[k] = 0;
            if (!have) memcpy(first, reactions, sizeof first), have = true;
            const double apart = relative_difference(first, reactions, 6 * model->joint_count);
            worst_reaction = fmax(worst_reaction, apart);
            if (!(apart < 1e-6)) fail_msg("seed %d, %s: reactions differ by %g", seed, methods[m], apart);
            compared++;
            lw_solver_destroy(solver);
        }
        /* Four states at a time. */
        lw_solver_options options;
        lw_solver_batch *batch = NULL;
        lw_solver_batch_defaults(model, &options);
        options.method = "rcr";
        assert_int_equal(lw_solver_batch_create(model, &options, 1, NULL, &batch, &error), LW_OK);
        for (int i = 0; i < 4; i++) {
            for (int k = 0; k < model->nq; k++) q4[4 * k + i] = q[k];
            for (int k = 0; k < model->nv; k++) v4[4 * k + i] = v[k], tau4[4 * k + i] = tau[k];
        }
        if (lw_solver_batch_accelerations(batch, 4, 0, q4, v4, tau4, many, &error) == LW_OK)
            for (int i = 0; i < 4; i++) {
                for (int k = 0; k < model->nv; k++) vdot[k] = many[4 * k + i];
                assert_true(relative_difference(expected, vdot, model->nv) < 1e-7);
            }
        lw_solver_batch_destroy(batch);
        lw_model_destroy(model), lw_model_destroy(bare);
    }
    print_message("%d answers compared, %d refused, worst %.1e, reactions %.1e\n", compared, refused, worst,
                  worst_reaction);
    assert_true(compared > 7 * TREES && refused < compared / 50);
    lw_arena_destroy(arena);
}

/* --- a cam ------------------------------------------------------------------------------------------- */

static const char machine[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "tables:\n"
    "  cam: {interpolation: %s, beyond: repeat, x: [0 deg, 60 deg, 180 deg, 280 deg, 360 deg], "
    "y: [0 m, 0.02 m, 0.05 m, 0.02 m, 0 m]}\n"
    "bodies:\n"
    "  shaft: {mass: 1, inertia: [0.01, 0.01, 0.01], com: [0.05, 0, 0]}\n"
    "  lifter: {mass: 0.5, inertia: [1e-3, 1e-3, 1e-3], position: [0.2, 0, 0]}\n"
    "  arm: {mass: 0.3, inertia: [1e-3, 2e-3, 1e-3], position: [0.5, 0, 0], com: [0.1, 0, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, shaft], point: [0, 0, 0], axis: [0, 1, 0], q: 0.3, v: 3}\n"
    "  b: {type: prismatic, between: [ground, lifter], point: [0.2, 0, 0], axis: [0, 0, 1]}\n"
    "  c: {type: revolute, between: [ground, arm], point: [0.5, 0, 0], axis: [0, 1, 0]}\n"
    "constraints:\n"
    "  cam: {type: coupling, terms: [{joint: b}, {joint: a, factor: -1, table: cam}]}\n"
    "  follow: {type: coupling, terms: [{joint: c, about: 0.1}, {joint: a, about: 0.2, factor: -1, "
    "polynomial: [0.05, 0.5, 0.2, -0.1, 0.03]}]}\n";

static lw_status read_text(const char *text, lw_model **model, lw_report *report) {
    lw_spec *spec = NULL;
    lw_status status = lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, model);
    lw_spec_destroy(spec);
    return status;
}

static lw_model *machine_of(const char *interpolation) {
    char text[4096];
    lw_model *model = NULL;
    lw_report *report = lw_report_create();
    snprintf(text, sizeof text, machine, interpolation);
    if (read_text(text, &model, report) != LW_OK) show_report(report);
    assert_non_null(model);
    lw_report_destroy(report);
    return model;
}

/* MJCF: y - y0 = a0 + a1 (x - x0) + ..., and the position that assembly finds. */
static void curves_are_assembled(void **state) {
    (void)state;
    lw_model *model = machine_of("smooth");
    double q[3], v[3];
    lw_error error;
    memcpy(q, model->q0, sizeof q), memcpy(v, model->v0, sizeof v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    const lw_joint_info a = lw_model_joint_info(model, 0), b = lw_model_joint_info(model, 1),
                        c = lw_model_joint_info(model, 2);
    const double x = 0.3 - 0.2;
    assert_true(fabs(q[a.q] - 0.3) < 1e-12 && fabs(v[a.v] - 3) < 1e-12);
    assert_true(fabs(q[c.q] - (0.1 + 0.05 + 0.5 * x + 0.2 * x * x - 0.1 * x * x * x + 0.03 * x * x * x * x)) <
                1e-13);
    assert_true(fabs(v[c.v] - 3 * (0.5 + 0.4 * x - 0.3 * x * x + 0.12 * x * x * x)) < 1e-12);
    /* At the first piece the slope begins level: 0.02 (3 s^2 - 2 s^3) has another end slope, so the table's. */
    lw_arena *arena = lw_arena_create(NULL);
    const double deg = acos(-1) / 180, tx[5] = {0, 60 * deg, 180 * deg, 280 * deg, 360 * deg},
                 ty[5] = {0, 0.02, 0.05, 0.02, 0};
    lw_table *table = lw_table_create(arena, tx, ty, 5, LW_INTERPOLATION_SMOOTH, LW_BEYOND_REPEAT);
    assert_true(fabs(q[b.q] - lw_table_value(table, 0.3)) < 1e-14);
    lw_arena_destroy(arena);
    lw_model_destroy(model);
}

static void runs_keep_the_curve(void **state) {
    (void)state;
    static const char *const methods[] = {"cut", "rcr", "partition", "lagrange", "director", "director-full"};
    lw_model *model = machine_of("smooth");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error error;
        lw_run_defaults(model, &options);
        options.method = methods[m];
        options.end = 2;
        options.tolerance = 1e-10;
        if (m >= 4) options.integrator = "energy-momentum", options.step = 2e-3;
        if (lw_simulate(model, &options, NULL, NULL, &summary, &error) != LW_OK)
            fail_msg("%s: %s", methods[m], error.message);
        /* The energies are some 0.2 J. The scheme keeps them to rounding; others to their tolerance, which sees
         * the jumps of the cam's curvature. */
        if (!(summary.energy_max_drift < (m >= 4 ? 1e-13 : 1e-7)))
            fail_msg("%s: energy drifts by %g", methods[m], summary.energy_max_drift);
    }
    lw_model_destroy(model);
}

static void rough_tables_are_refused(void **state) {
    (void)state;
    static const char *const rough[2] = {"linear", "steps"};
    for (int k = 0; k < 2; k++) {
        char text[4096];
        lw_model *model = NULL;
        lw_report *report = lw_report_create();
        snprintf(text, sizeof text, machine, rough[k]);
        assert_int_equal(read_text(text, &model, report), LW_ERROR_MODEL);
        must_say(report, LW_SEVERITY_ERROR, "constraint \"cam\"",
                 k ? "the value of table" : "the slope of table", "interpolation: smooth");
        lw_report_destroy(report);
    }
}

/* The check is not satisfied by the acceleration of a coupling with another curvature. */
static void the_check_knows_the_curvature(void **state) {
    (void)state;
    lw_model *model = machine_of("smooth");
    double q[3], v[3], vdot[3], reactions[18], multipliers[2];
    lw_error error;
    memcpy(q, model->q0, sizeof q), memcpy(v, model->v0, sizeof v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    /* Take the curvature out of the model's row, but not out of the check's: a coupling that is straight at
     * this position has the same rows but for the curvature. */
    const lw_constraint *follow = &model->constraints[1];
    const lw_joint_info a = lw_model_joint_info(model, 0);
    const double speed = v[a.v];
    const lw_coupling_value here = lw_coupling_term(follow, 1, q[a.q]);
    lw_coupling_curve straight[LW_COUPLING_MAX];
    memcpy(straight, follow->curves, sizeof straight);
    straight[1] = (lw_coupling_curve){
        .about = q[a.q], .size = 2, .polynomial = {-here.value, -here.slope}}; /* the factor is -1 */
    lw_constraint *changed = (lw_constraint *)follow;
    const lw_coupling_curve *kept = follow->curves;
    lw_solver *solver = solver_of(model, "lagrange", &error);
    assert_non_null(solver);
    changed->curves = straight;
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error), LW_OK);
    assert_int_equal(lw_solver_reactions(solver, reactions, NULL, &error), LW_OK);
    changed->curves = kept;
    lw_balance *balance = lw_balance_create(model);
    assert_non_null(balance);
    memset(multipliers, 0, sizeof multipliers);
    double tau[3] = {0};
    const lw_balance_state s = {.q = q,
                                .v = v,
                                .speeds = v,
                                .tau = tau,
                                .vdot = vdot,
                                .reactions = reactions,
                                .multipliers = multipliers};
    double terms;
    (void)lw_balance_check(balance, &s); /* It takes the state. */
    const double rest = lw_balance_curve(balance, &s, follow, &terms), bend = here.curvature * speed * speed;
    assert_true(fabs(bend) > 1 && fabs(rest - bend) < 1e-12 * terms);
    assert_int_equal(lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error), LW_OK);
    assert_true(fabs(lw_balance_curve(balance, &s, follow, &terms)) < 1e-12 * terms);
    lw_balance_destroy(balance);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_have_their_derivatives), cmocka_unit_test(trees_are_coupled),
        cmocka_unit_test(curves_are_assembled),         cmocka_unit_test(runs_keep_the_curve),
        cmocka_unit_test(rough_tables_are_refused),     cmocka_unit_test(the_check_knows_the_curvature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
