/* test_inverse_loops.c - inverse dynamics with loops, the tangent basis and the mass matrix on it: random
 * trees, closed loops of all kinds, redundant rows, prescribed motions, bodies without mass, by every method.
 *
 *   round trip    tau0 -> vdot (by each method) -> tau (inverse) -> vdot again (by each method)
 *   equivalence   T'(tau - tau0) = 0 for the tangent basis T
 *   least         tau is perpendicular to all differences that do nothing; unique flags; both from the singular values
 *                 of (B G'), which contains no tangent space
 *   drives        a set of joints that stands for the freedoms; one less: its own motions come back, others are refused
 *   units         the same in other units of length and mass
 *
 * Rounding of a round trip is that of the method, times the condition of the mechanism: mechanisms next to
 * singular positions, where the methods themselves differ by more than 1e-11, are counted and left out.
 */
#include "random_massless.h"
#include "closures.h"
#include "problems.h"
#include "scaled.h"
#include "formulations/formulation.h"
#include "model/data.h"
#include <linkwork/tree.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NV = 120, MAX_NQ = 140, MAX_ROWS = CLOSURES_MAX, LOOPS = 480, TREES = 120 };

static const double enough = 1e-9;

typedef struct tally {
    int mechanisms, trips, skipped, refused, unique, shared;
    double worst;
} tally;

static lw_solver *solver_for(const lw_model *model, const char *method, double t, const double *q,
                             const double *v, const char *const *driven, int count) {
    lw_solver_options options;
    lw_solver *solver;
    lw_solver_defaults(model, &options);
    options.method = method, options.t = t, options.q = q, options.v = v;
    options.driven = driven, options.driven_count = count;
    return lw_solver_create(model, &options, NULL, &solver, NULL) == LW_OK ? solver : NULL;
}

static double apart(const double *a, const double *b, int count) {
    double most = 0, size = 1;
    for (int k = 0; k < count; k++) {
        size = fmax(size, fabs(a[k]));
        most = isfinite(b[k]) ? fmax(most, fabs(a[k] - b[k])) : HUGE_VAL;
    }
    return most / size;
}

static bool is_prescribed(const lw_model *model, int speed) {
    for (int i = 1; i <= model->body_count; i++)
        if (speed >= model->links[i].v && speed < model->links[i].v + model->links[i].joint.nv)
            return model->links[i].prescribed >> (speed - model->links[i].v) & 1;
    return false;
}

static double unit_of(const lw_model *model, int speed) {
    for (int i = 1; i <= model->body_count; i++)
        if (speed >= model->links[i].v && speed < model->links[i].v + model->links[i].joint.nv)
            return lw_joint_speed_turns(model->links[i].joint.type, speed - model->links[i].v)
                       ? 1
                       : lw_longest_arm(model);
    return 0;
}

/* The differences of (tau, lambda) that do nothing, B tau + G'lambda = 0, from singular values: the forces of
 * drives in them. `unique` and the shortness of tau follow. */
static void check_against_whole(lw_solver *solver, const lw_model *model, double t, const double *q,
                                const bool *driven, const double *tau, int seed, tally *count) {
    int nv = model->nv, m = lw_solver_row_count(solver), unknowns = nv + m;
    double *G = calloc((size_t)m * (size_t)nv + 1, sizeof *G);
    double *A = calloc((size_t)nv * (size_t)unknowns + 1, sizeof *A);
    bool unique[MAX_NV];
    assert_int_equal(lw_solver_closure_jacobian(solver, t, q, NULL, G, NULL, NULL), LW_OK);
    assert_int_equal(lw_solver_unique_forces(solver, unique, NULL), LW_OK);
    for (int v = 0; v < nv; v++) {
        double e = unit_of(model, v);
        if (driven[v] || is_prescribed(model, v)) A[v + v * nv] = 1;
        for (int r = 0; r < m; r++) A[v + (nv + r) * nv] = e * G[r * nv + v];
    }
    closures_svd d = closures_decompose(nv, unknowns, A, 1e-9, 1);
    /* Null vectors are the last rows of V'. Drives that are not there have columns of zeros and do not
     * count. */
    double largest[MAX_NV] = {0}, overlap = 0, size = 1e-3;
    for (int v = 0; v < nv; v++) size = fmax(size, fabs(tau[v]) * unit_of(model, v));
    for (int j = d.rank; j < unknowns; j++)
        for (int v = 0; v < nv; v++)
            if (driven[v] || is_prescribed(model, v))
                largest[v] = fmax(largest[v], fabs(d.Vt[j + v * unknowns]));
    for (int v = 0; v < nv; v++) {
        bool acts = driven[v] || is_prescribed(model, v);
        if (!acts) {
            assert_true(unique[v] && tau[v] == 0);
            continue;
        }
        if (largest[v] > 1e-10 && largest[v] < 1e-7) continue; /* not to be told */
        if (unique[v] != (largest[v] < 1e-8))
            fail_msg("seed %d: force %d is said to be %s, and %g says no", seed, v,
                     unique[v] ? "unique" : "shared", largest[v]);
        count->unique += unique[v], count->shared += !unique[v];
    }
    closures_discard(&d);
    /* Differences of driven forces alone (prescribing drives take any): tau is perpendicular to them. */
    memset(A, 0, (size_t)nv * (size_t)unknowns * sizeof *A);
    int next = 0;
    for (int v = 0; v < nv; v++) {
        if (is_prescribed(model, v)) continue;
        if (driven[v]) A[next + v * nv] = 1;
        for (int r = 0; r < m; r++) A[next + (nv + r) * nv] = unit_of(model, v) * G[r * nv + v];
        next++;
    }
    d = closures_decompose(nv, unknowns, A, 1e-9, 1);
    for (int j = d.rank; j < unknowns; j++) {
        double sum = 0;
        for (int v = 0; v < nv; v++)
            if (driven[v]) sum += d.Vt[j + v * unknowns] * tau[v] * unit_of(model, v);
        overlap = fmax(overlap, fabs(sum));
    }
    closures_discard(&d);
    if (overlap > 1e-8 * size)
        fail_msg("seed %d: the forces are not the smallest, %g of %g", seed, overlap, size);
    free(G), free(A);
}

/* T'tau = T'tau0, and T'M T by the matrix of the tree. */
static int check_basis(lw_solver *solver, const lw_model *model, double t, const double *q, const double *tau,
                       const double *tau0, int *own, double *doubt, int seed) {
    int nv = model->nv, mobility, again;
    assert_int_equal(lw_solver_mobility(solver, t, q, &mobility, NULL), LW_OK);
    static double T[MAX_NV * MAX_NV], copy[MAX_NV * MAX_NV], mass[MAX_NV * MAX_NV], M[MAX_NV * MAX_NV];
    assert_int_equal(lw_solver_tangent_basis(solver, t, q, mobility, T, own, NULL), LW_OK);
    assert_int_equal(lw_solver_mobility(solver, t, q, &again, NULL), LW_OK);
    assert_int_equal(lw_solver_tangent_basis(solver, t, q, mobility, copy, NULL, NULL), LW_OK);
    assert_memory_equal(T, copy, (size_t)nv * (size_t)mobility * sizeof *T);
    assert_int_equal(lw_solver_mass_matrix(solver, t, q, mobility, T, mass, NULL), LW_OK);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_tree_mass_matrix(model, data, t, q, M);
    double heaviest = 0;
    for (int k = 0; k < nv * nv; k++) heaviest = fmax(heaviest, fabs(M[k]));
    *doubt = 0;
    for (int j = 0; j < mobility; j++) {
        if (!(T[own[j] * mobility + j] > 0))
            fail_msg("seed %d: column %d does not move its own speed", seed, j);
        assert_true(j == 0 || own[j] > own[j - 1]);
        double sum = 0, size = 1;
        for (int v = 0; v < nv; v++) {
            assert_true(T[v * mobility + j] == 0 || !is_prescribed(model, v));
            sum += T[v * mobility + j] * (tau[v] - tau0[v]);
            size = fmax(size, fabs(T[v * mobility + j] * tau0[v]) + fabs(T[v * mobility + j] * tau[v]));
        }
        *doubt = fmax(*doubt, fabs(sum) / size);
        for (int k = 0; k < mobility; k++) {
            double product = 0, energy = 0;
            for (int v = 0; v < nv; v++) {
                double e = unit_of(model, v);
                product += T[v * mobility + j] * T[v * mobility + k] / (e * e);
                for (int w = 0; w < nv; w++)
                    energy += T[v * mobility + j] * M[v * nv + w] * T[w * mobility + k];
            }
            if (fabs(product - (j == k)) > 1e-12) fail_msg("seed %d: the basis is not orthonormal", seed);
            if (fabs(energy - mass[j * mobility + k]) > 1e-11 * (1 + heaviest))
                fail_msg("seed %d: mass (%d, %d) is %g, not %g", seed, j, k, mass[j * mobility + k], energy);
        }
    }
    lw_data_destroy(data);
    return mobility;
}

/* All joints driven, by every method. Returns the mobility; -1 if the mechanism is next to a singular
 * position. */
static int round_trips(const lw_model *model, double t, const double *q, const double *v, const double *tau0,
                       const char *only, int *own, double *motion, int seed, tally *count) {
    int nv = model->nv, mobility = -1;
    double first[MAX_NV], vdot[MAX_NV], tau[MAX_NV], back[MAX_NV], doubt, amount;
    bool driven[MAX_NV], any = false, even = true;
    for (int k = 0; k < nv; k++) driven[k] = !is_prescribed(model, k);
    for (int m = 0; m < lw_method_count() && even; m++) {
        const char *name = lw_method_at(m).name;
        const lw_formulation *f = lw_formulation_find(name);
        if (only && strcmp(only, name) != 0) continue;
        lw_solver *solver = solver_for(model, name, t, q, v, NULL, 0);
        if (!solver) continue;
        lw_error error = {0};
        const double scale = f->accuracy > 0 ? 1e3 * f->accuracy / enough : 1;
        if (lw_solver_accelerations(solver, t, q, v, tau0, vdot, &error) == LW_OK) {
            if (any && apart(first, vdot, nv) > 1e-11 * scale * 100) even = false;
            if (!any) memcpy(first, vdot, sizeof first);
            if (even) {
                if (lw_solver_inverse_dynamics(solver, t, q, v, f->accuracy > 0 ? first : vdot, tau,
                                               &error) != LW_OK)
                    fail_msg("seed %d, %s: %s", seed, name, error.message);
                assert_int_equal(lw_solver_balance(solver, &amount, &error), LW_OK);
                assert_true(amount < 5e-7);
                double reactions[6 * 64];
                assert_true(model->joint_count <= 64);
                if (lw_solver_reactions(solver, reactions, NULL, &error) != LW_OK)
                    fail_msg("seed %d, %s: reactions: %s", seed, name, error.message);
                if (!any) {
                    check_against_whole(solver, model, t, q, driven, tau, seed, count);
                    mobility = check_basis(solver, model, t, q, tau, tau0, own, &doubt, seed);
                    if (doubt > 1e-9) fail_msg("seed %d: %g of the forces act otherwise", seed, doubt);
                }
                if (lw_solver_accelerations(solver, t, q, v, tau, back, &error) != LW_OK)
                    fail_msg("seed %d, %s: %s", seed, name, error.message);
                double off = apart(vdot, back, nv) / scale;
                if (off > enough)
                    fail_msg("seed %d, %s: %g of the motion does not come back", seed, name, off);
                count->worst = fmax(count->worst, off);
                count->trips++;
            }
            any = true;
        }
        lw_solver_destroy(solver);
    }
    if (any) memcpy(motion, first, sizeof first);
    count->mechanisms += any, count->skipped += any && !even;
    return even ? mobility : -1;
}

/* The name of a speed: of its joint, or of the coordinate in results. */
static void speed_name(const lw_model *model, int speed, char *text, size_t size) {
    int i = model->body_count;
    while (model->links[i].v > speed) i--;
    const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
    const char *unit;
    int k = speed - model->links[i].v;
    if (entry->joint.nv == 1)
        snprintf(text, size, "%s", entry->name);
    else
        snprintf(text, size, "%s.%s", entry->name,
                 lw_joint_column(entry->info.type, entry->joint.nv, 1, k, &unit));
}

/* Joints that stand for the freedoms, then one more, then one less. */
static void some_drives(const lw_model *model, double t, const double *q, const double *v,
                        const double *motion, const int *own, int mobility, int seed, tally *count) {
    int nv = model->nv, extra = -1;
    char names[MAX_NV][96];
    const char *list[MAX_NV];
    bool driven[MAX_NV] = {false};
    double tau[MAX_NV], back[MAX_NV], vdot[MAX_NV];
    for (int j = 0; j < mobility; j++) {
        speed_name(model, own[j], names[j], sizeof names[j]);
        list[j] = names[j];
        driven[own[j]] = true;
    }
    for (int k = 0; k < nv; k++)
        if (!driven[k] && !is_prescribed(model, k)) extra = k;
    for (int more = 0; more < 2; more++) {
        if (more && extra < 0) break;
        if (more) speed_name(model, extra, names[mobility], sizeof *names), driven[extra] = true;
        list[mobility] = names[mobility];
        lw_error error = {0};
        lw_solver *solver = solver_for(model, NULL, t, q, v, list, mobility + more);
        assert_non_null(solver);
        if (lw_solver_inverse_dynamics(solver, t, q, v, motion, tau, &error) != LW_OK)
            fail_msg("seed %d: %d drives for %d freedoms: %s", seed, mobility + more, mobility,
                     error.message);
        check_against_whole(solver, model, t, q, driven, tau, seed, count);
        assert_int_equal(lw_solver_accelerations(solver, t, q, v, tau, back, &error), LW_OK);
        if (apart(motion, back, nv) > 1e-8)
            fail_msg("seed %d: %g does not come back", seed, apart(motion, back, nv));
        lw_solver_destroy(solver);
    }
    if (extra >= 0) driven[extra] = false;
    if (mobility == 0) return;
    /* One drive less: what the others do comes back; what it alone does is refused. */
    lw_error error = {0};
    lw_solver *solver = solver_for(model, NULL, t, q, v, list, mobility - 1);
    lw_random random = random_seed((uint64_t)seed + 31);
    double tau0[MAX_NV] = {0}, rate = 0;
    for (int j = 0; j + 1 < mobility; j++) tau0[own[j]] = random_between(&random, -3, 3);
    assert_int_equal(lw_solver_accelerations(solver, t, q, v, tau0, vdot, &error), LW_OK);
    if (lw_solver_inverse_dynamics(solver, t, q, v, vdot, tau, &error) != LW_OK)
        fail_msg("seed %d: one drive less: %s", seed, error.message);
    for (int k = 0; k < nv; k++)
        if (!is_prescribed(model, k) && fabs(tau[k] - tau0[k]) > 1e-7 * 3)
            fail_msg("seed %d: force %d is %g, not %g", seed, k, tau[k], tau0[k]);
    tau0[own[mobility - 1]] = 2;
    assert_int_equal(lw_solver_accelerations(solver, t, q, v, tau0, back, &error), LW_OK);
    for (int k = 0; k < nv; k++) rate = fmax(rate, fabs(back[k] - vdot[k]));
    lw_status status = lw_solver_inverse_dynamics(solver, t, q, v, back, tau, &error);
    char last[96];
    speed_name(model, own[mobility - 1], last, sizeof last);
    if (rate > 1e-3 && (status != LW_ERROR_SINGULAR || !strstr(error.message, "cannot produce this motion")))
        fail_msg("seed %d: without \"%s\": %d, %s", seed, last, status, error.message);
    count->refused += status == LW_ERROR_SINGULAR;
    lw_solver_destroy(solver);
}

/* Accelerations that open a loop are refused, with the name of a row. */
static void open_accelerations(const lw_model *model, double t, const double *q, const double *v,
                               const double *motion, int seed) {
    lw_solver *solver = solver_for(model, NULL, t, q, v, NULL, 0);
    int nv = model->nv, m = lw_solver_row_count(solver), row = -1, speed = -1;
    double *G = calloc((size_t)m * (size_t)nv + 1, sizeof *G), *bias = calloc((size_t)m + 1, sizeof *bias),
           most = 0.1;
    double vdot[MAX_NV], tau[MAX_NV];
    lw_error error = {0};
    assert_int_equal(lw_solver_closure_jacobian(solver, t, q, v, G, bias, &error), LW_OK);
    for (int r = 0; r < m; r++) {
        double sum = -bias[r], speeds = 0, size = 1 + fabs(bias[r]);
        for (int k = 0; k < nv; k++) {
            sum += G[r * nv + k] * motion[k];
            speeds += G[r * nv + k] * v[k];
            size = fmax(size, fabs(G[r * nv + k] * motion[k]));
            if (fabs(G[r * nv + k]) > most && !is_prescribed(model, k))
                most = fabs(G[r * nv + k]), row = r, speed = k;
        }
        assert_non_null(lw_solver_row_name(solver, r));
        if (fabs(sum) > 1e-7 * size) fail_msg("seed %d: row %d: jacobian vdot - bias = %g", seed, r, sum);
        if (fabs(speeds) > 1e-7) fail_msg("seed %d: row %d: jacobian v = %g", seed, r, speeds);
    }
    assert_null(lw_solver_row_name(solver, m));
    memcpy(vdot, motion, sizeof vdot);
    if (row >= 0) {
        vdot[speed] += 1;
        lw_status status = lw_solver_inverse_dynamics(solver, t, q, v, vdot, tau, &error);
        if (status != LW_ERROR_ARGUMENT || !strstr(error.message, "the accelerations violate"))
            fail_msg("seed %d: %d, %s", seed, status, error.message);
    }
    free(G), free(bias);
    lw_solver_destroy(solver);
}

static void report(const tally *count) {
    print_message("%d mechanisms, %d round trips, the worst %.1e; %d next to singular positions; "
                  "%d forces unique, %d shared; %d motions refused\n",
                  count->mechanisms, count->trips, count->worst, count->skipped, count->unique, count->shared,
                  count->refused);
}

static void closed_loops(void **state) {
    (void)state;
    tally count = {0};
    for (int seed = 0; seed < LOOPS; seed++) {
        static random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double q[MAX_NQ], v[MAX_NV], tau0[MAX_NV], motion[MAX_NV];
        int own[MAX_NV];
        random_loops_state(&loops, model, seed % 2, q, v);
        lw_random random = random_seed((uint64_t)seed + 5);
        random_vector(&random, model->nv, 2, tau0);
        int mobility = round_trips(model, loops.t, q, v, tau0, NULL, own, motion, seed, &count);
        if (mobility >= 0) {
            some_drives(model, loops.t, q, v, motion, own, mobility, seed, &count);
            open_accelerations(model, loops.t, q, v, motion, seed);
        }
        lw_model_destroy(model);
    }
    report(&count);
    assert_true(count.mechanisms - count.skipped > LOOPS * 8 / 10 && count.refused > LOOPS / 2);
    assert_true(count.shared > 500 && count.unique > 500);
}

static void trees(void **state) {
    (void)state;
    tally count = {0};
    for (int seed = 0; seed < TREES; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        const random_tree options = {.bodies = 2 + seed % 8,
                                     .forces = true,
                                     .prescribed = seed % 2,
                                     .reversed = seed % 3 == 0,
                                     .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        double q[MAX_NQ], v[MAX_NV], tau0[MAX_NV], motion[MAX_NV], tau[MAX_NV], expected[MAX_NV];
        int own[MAX_NV];
        random_state(&random, model, q, v);
        random_vector(&random, model->nv, 2, tau0);
        int mobility = round_trips(model, 0.4, q, v, tau0, NULL, own, motion, seed, &count);
        if (mobility >= 0) {
            some_drives(model, 0.4, q, v, motion, own, mobility, seed, &count);
            /* without loops it is the inverse dynamics of the tree */
            lw_solver *solver = solver_for(model, "tree", 0.4, q, v, NULL, 0);
            lw_data *data;
            assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
            assert_int_equal(lw_solver_inverse_dynamics(solver, 0.4, q, v, motion, tau, NULL), LW_OK);
            assert_int_equal(lw_tree_inverse_dynamics(model, data, 0.4, q, v, motion, expected, NULL), LW_OK);
            for (int k = 0; k < model->nv; k++)
                assert_true(fabs(tau[k] - expected[k]) <= 1e-14 * fabs(expected[k]));
            lw_data_destroy(data);
            lw_solver_destroy(solver);
        }
        lw_model_destroy(model);
    }
    report(&count);
    assert_true(count.mechanisms > TREES * 8 / 10 && count.shared == 0);
}

/* Canonical mechanisms, among them rods that spin idly about themselves, bodies without mass, singular
 * starts: what can be accelerated can be inverted, by every method. */
static void canonical(void **state) {
    (void)state;
    static const char *const problems[] = {"andrews_squeezer",
                                           "bennett",
                                           "blajer_four_bar",
                                           "bricard",
                                           "cylindrical_pair",
                                           "double_wishbone",
                                           "gantry",
                                           "gyro_top",
                                           "hub",
                                           "ladder",
                                           "parallelogram",
                                           "planar_pair",
                                           "sarrus",
                                           "scissor",
                                           "six_body_linkage",
                                           "slider_crank",
                                           "spherical_pair",
                                           "spatial_slider_crank",
                                           "stewart_platform",
                                           "trellis",
                                           "two_arms",
                                           "walker"};
    tally count = {0};
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        lw_model *model = read_problem(problems[p]);
        double q[MAX_NQ], v[MAX_NV], tau[MAX_NV], vdot[MAX_NV], back[MAX_NV];
        lw_error error = {0};
        if (model->nv <= MAX_NV && model->nq <= MAX_NQ) {
            lw_model_initial_state(model, q, v);
            assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
            for (int m = 0; m < lw_method_count(); m++) {
                const char *name = lw_method_at(m).name;
                const lw_formulation *f = lw_formulation_find(name);
                lw_solver *solver =
                    f->accuracy > 0 || f->frees_speeds ? NULL : solver_for(model, name, 0, q, v, NULL, 0);
                if (!solver) continue;
                if (lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error) == LW_OK) {
                    if (lw_solver_inverse_dynamics(solver, 0, q, v, vdot, tau, &error) != LW_OK)
                        fail_msg("%s by %s: %s", problems[p], name, error.message);
                    if (lw_solver_accelerations(solver, 0, q, v, tau, back, &error) != LW_OK)
                        fail_msg("%s by %s: %s", problems[p], name, error.message);
                    double off = apart(vdot, back, model->nv);
                    if (off > enough) fail_msg("%s by %s: %g does not come back", problems[p], name, off);
                    count.worst = fmax(count.worst, off);
                    count.trips++;
                }
                lw_solver_destroy(solver);
            }
            count.mechanisms++;
        }
        lw_model_destroy(model);
    }
    report(&count);
    assert_true(count.mechanisms >= 20 && count.trips > 200);
}

/* The change of acceleration in terms of momentum, relative to that of the accelerations one by one. */
static double moved_mass(const lw_model *model, double t, const double *q, const double *a, const double *b) {
    static double M[MAX_NV * MAX_NV];
    lw_data *data;
    int nv = model->nv;
    double most = 0, size = 0;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_tree_mass_matrix(model, data, t, q, M);
    lw_data_destroy(data);
    for (int v = 0; v < nv; v++) {
        double sum = 0;
        for (int w = 0; w < nv; w++) {
            sum += M[v * nv + w] * (a[w] - b[w]);
            size = fmax(size, fabs(M[v * nv + w] * a[w]));
        }
        most = fmax(most, fabs(sum));
    }
    return size > 0 ? most / size : 0;
}

/* Bodies without mass. Their speeds follow from the forces, so the motion is asked at the speeds to which the
 * method's accelerations belong. Their accelerations follow from the rate of the forces: other forces with
 * the same effect, held constant, have another one. So with loops what has mass must come back, without them
 * everything. */
static void without_mass(void **state) {
    (void)state;
    tally count = {0};
    for (int seed = 0; seed < 120; seed++) {
        static random_loops loops;
        bool closed = seed % 2;
        double t = 0;
        lw_model *model = closed ? random_massless_loops(&loops, seed / 2, 0)
                                 : random_massless_model((uint64_t)seed, 2 + seed % 5, HOLD_DAMPED, 0);
        const lw_formulation *f = lw_formulation_find("massless");
        const lw_method_options options = {0};
        lw_method *method;
        lw_error error = {0};
        double q[MAX_NQ], v[MAX_NV], tau0[MAX_NV], vdot[MAX_NV], tau[MAX_NV], back[MAX_NV], reactions[6 * 64];
        lw_model_initial_state(model, q, v);
        if (closed) random_loops_configuration(&loops, model, q), t = loops.t;
        lw_random random = random_seed((uint64_t)seed + 9);
        random_vector(&random, model->nv, 1, tau0);
        bool usable = !(closed && loops.base == LOOP_MOVING) && f->applies(model, &error) == LW_OK;
        if (usable && f->create(model, &options, &method, &error) == LW_OK) {
            if (f->accelerations(method, t, q, v, tau0, vdot, reactions, NULL, &error) == LW_OK) {
                double speeds[MAX_NV];
                memcpy(speeds, f->speeds(method), (size_t)model->nv * sizeof *speeds);
                lw_solver *solver = solver_for(model, "massless", t, q, v, NULL, 0);
                if (solver && lw_solver_inverse_dynamics(solver, t, q, speeds, vdot, tau, &error) == LW_OK) {
                    lw_status status = lw_solver_accelerations(solver, t, q, speeds, tau, back, &error);
                    if (status != LW_OK) fail_msg("seed %d: %s", seed, error.message);
                    double off = closed ? moved_mass(model, t, q, vdot, back) : apart(vdot, back, model->nv);
                    if (off > 1e-8) fail_msg("seed %d: %g of the motion does not come back", seed, off);
                    count.worst = fmax(count.worst, off);
                    count.trips++;
                } else if (solver)
                    fail_msg("seed %d: %s", seed, error.message);
                count.mechanisms++;
                lw_solver_destroy(solver);
            }
            f->destroy(method);
        }
        lw_model_destroy(model);
    }
    report(&count);
    assert_true(count.trips > 40);
}

/* Metres, or millimetres and grams: the same forces. */
static void units(void **state) {
    (void)state;
    const double mass = 1000, length = 1000;
    int asked = 0;
    double worst = 0;
    for (int seed = 0; seed < 120; seed++) {
        static random_loops loops;
        static scaled s;
        random_loops_build(&loops, seed);
        lw_spec *spec = loops.spec;
        lw_model *model = compile_or_fail(spec);
        double q[MAX_NQ], v[MAX_NV], tau0[MAX_NV], vdot[MAX_NV], tau[MAX_NV], other[MAX_NV];
        random_loops_state(&loops, model, seed % 2, q, v);
        lw_random random = random_seed((uint64_t)seed + 5);
        random_vector(&random, model->nv, 2, tau0);
        lw_solver *solver = solver_for(model, "lagrange", loops.t, q, v, NULL, 0);
        if (solver && lw_solver_accelerations(solver, loops.t, q, v, tau0, vdot, NULL) == LW_OK &&
            lw_solver_inverse_dynamics(solver, loops.t, q, v, vdot, tau, NULL) == LW_OK) {
            random_loops again;
            random_loops_build(&again, seed);
            scale_spec(&s, again.spec, mass, length);
            lw_model *small = compile_or_fail(again.spec);
            bool same = small->nv == model->nv && small->nq == model->nq;
            for (int j = 0; same && j < model->joint_count; j++)
                same = small->joints[j].info.cut == model->joints[j].info.cut;
            lw_solver *second = same ? solver_for(small, "lagrange", loops.t, q, v, NULL, 0) : NULL;
            if (second) {
                double e[MAX_NV];
                for (int k = 0; k < model->nv; k++)
                    e[k] = unit_of(model, k) == 1 && lw_longest_arm(model) != 1 ? 1 : length;
                scale_state(model, mass, length, q, v, tau);
                for (int k = 0; k < model->nv; k++) vdot[k] *= e[k];
                lw_error error = {0};
                if (lw_solver_inverse_dynamics(second, loops.t, q, v, vdot, other, &error) != LW_OK)
                    fail_msg("seed %d: %s", seed, error.message);
                double size = 0;
                for (int k = 0; k < model->nv; k++) size = fmax(size, fabs(tau[k]) * e[k] / length);
                for (int k = 0; k < model->nv; k++)
                    worst = fmax(worst, fabs(tau[k] - other[k]) * e[k] / length / size);
                if (worst > 1e-8) fail_msg("seed %d: %g", seed, worst);
                asked++;
                lw_solver_destroy(second);
            }
            lw_model_destroy(small);
        }
        lw_solver_destroy(solver);
        lw_model_destroy(model);
    }
    print_message("%d mechanisms in other units, %.1e\n", asked, worst);
    assert_true(asked > 80);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),        cmocka_unit_test(closed_loops), cmocka_unit_test(canonical),
        cmocka_unit_test(without_mass), cmocka_unit_test(units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
