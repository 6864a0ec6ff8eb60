/* test_armature.c - rotors in joints (armature): what they add to the equations of motion (docs/theory/armature.md).
 *
 * The reference is the mechanism without rotors under the forces that rotors leave for it, tau - J vdot:
 *
 *   trees    accelerations, inverse dynamics, mass matrix, energy and reactions of random trees; batches of states
 *   loops    ten methods on random loops, against lagrange on the mechanism without rotors, and each other
 *   heavy    the same with rotors of up to 1e10 times the inertia of the bodies: right, or refused
 *   rotors   a cart with an arm whose rotor is a body of its own, geared by a coupling; a flywheel of the same inertia
 *   runs     the ledger of a run closes; drives of motions exert what moves their rotors, too
 *   refused  by massless and director; a loop with a rotor in every joint
 */
#include "build.h"
#include "random_loops.h"
#include "model/data.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TREES = 200, LOOPS = 240, MAX = 6 * 16, MAX_Q = 7 * 16, JOINTS = 40, STATES = 9 };

static bool is_ball(lw_joint_type type) { return type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE; }

/* Gives rotors to the first joints of a spec, some of them heavy, some to single speeds only. */
static void add_rotors(lw_random *random, lw_spec *spec, size_t joints) {
    for (size_t j = 0; j < joints; j++) {
        lw_joint_spec *joint = lw_spec_joint(spec, j);
        int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        for (int k = 0; k < nv && !is_ball(joint->type); k++)
            if (random_unit(random) < 0.6) joint->armature[k] = pow(10, random_between(random, -2, 2));
    }
}

static void drop_rotors(lw_spec *spec) {
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++)
        memset(lw_spec_joint(spec, j)->armature, 0, sizeof lw_spec_joint(spec, j)->armature);
}

/* Inertias of the rotors by speed. */
static void rotors_of(const lw_model *model, double *J) {
    for (int k = 0; k < model->nv; k++) J[k] = model->armature ? model->armature[k] : 0;
}

/* The tree of a seed, with rotors or without. */
static lw_model *tree_of(int seed, bool rotors, bool prescribed) {
    lw_random random = random_seed((uint64_t)seed), other = random_seed(77u + (uint64_t)seed);
    const random_tree options = {.bodies = 1 + random_below(&random, 9),
                                 .forces = seed % 3 == 0,
                                 .prescribed = prescribed,
                                 .reversed = true,
                                 .aligned = seed % 2 == 0,
                                 .joint = -1};
    lw_spec *spec = random_tree_spec(&random, &options);
    add_rotors(&other, spec, lw_spec_joint_count(spec));
    if (!rotors) drop_rotors(spec);
    return compile_or_fail(spec);
}

static void trees_carry_rotors(void **state) {
    (void)state;
    int with = 0;
    for (int seed = 1; seed <= TREES; seed++) {
        lw_model *model = tree_of(seed, true, seed % 4 == 1), *bare = tree_of(seed, false, seed % 4 == 1);
        lw_random random = random_seed(1000u + (uint64_t)seed);
        const int nv = model->nv;
        double q[MAX_Q], v[MAX], tau[MAX], less[MAX], vdot[MAX], again[MAX], J[MAX], M[MAX * MAX],
            M0[MAX * MAX];
        double reactions[6 * JOINTS], reference[6 * JOINTS];
        lw_data *data, *of_bare;
        lw_error error;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        assert_int_equal(lw_data_create(bare, NULL, &of_bare), LW_OK);
        random_state(&random, model, q, v);
        random_vector(&random, nv, 10, tau);
        rotors_of(model, J);
        with += model->armature != NULL;
        if (lw_tree_forward_dynamics(model, data, 0.3, q, v, tau, vdot, &error) != LW_OK)
            fail_msg("seed %d: %s", seed, error.message);
        for (int k = 0; k < nv; k++) less[k] = tau[k] - J[k] * vdot[k];
        assert_int_equal(lw_tree_forward_dynamics(bare, of_bare, 0.3, q, v, less, again, &error), LW_OK);
        /* J vdot may be a thousand times what moves the bodies, and its rounding is that of their forces. */
        if (!(relative_difference(vdot, again, nv) < 1e-9))
            fail_msg("seed %d: accelerations differ by %g", seed, relative_difference(vdot, again, nv));
        assert_int_equal(lw_tree_inverse_dynamics(model, data, 0.3, q, v, vdot, again, &error), LW_OK);
        for (int i = 1; i <= model->body_count; i++) /* Drives of prescribed speeds add what is missing. */
            for (int k = 0; k < model->links[i].joint.nv; k++)
                if (model->links[i].prescribed >> k & 1)
                    again[model->links[i].v + k] = tau[model->links[i].v + k];
        if (!(relative_difference(tau, again, nv) < 1e-10))
            fail_msg("seed %d: joint forces differ by %g", seed, relative_difference(tau, again, nv));

        assert_int_equal(lw_tree_mass_matrix(model, data, 0.3, q, M), LW_OK);
        assert_int_equal(lw_tree_mass_matrix(bare, of_bare, 0.3, q, M0), LW_OK);
        double energy = 0;
        lw_take_state(model, data, 0.3, q, v); /* prescribed speeds */
        for (int k = 0; k < nv; k++) {
            M0[k * nv + k] += J[k];
            energy += 0.5 * J[k] * data->v[k] * data->v[k];
        }
        assert_true(relative_difference(M0, M, nv * nv) < 1e-13);
        energy += lw_energy_of(bare, of_bare, 0.3, q, v).kinetic;
        const double has = lw_energy_of(model, data, 0.3, q, v).kinetic;
        assert_true(fabs(has - energy) <= 1e-12 * energy);

        assert_int_equal(lw_joint_reactions(model, data, 0.3, q, v, vdot, reactions, &error), LW_OK);
        assert_int_equal(lw_joint_reactions(bare, of_bare, 0.3, q, v, vdot, reference, &error), LW_OK);
        assert_true(relative_difference(reference, reactions, 6 * model->joint_count) < 1e-10);
        lw_data_destroy(data), lw_data_destroy(of_bare);
        lw_model_destroy(model), lw_model_destroy(bare);
    }
    assert_true(with > TREES / 2);
}

/* Several states at a time. */
static void batches_carry_rotors(void **state) {
    (void)state;
    for (int seed = 2; seed <= 40; seed++) {
        lw_model *model = tree_of(seed, true, false);
        lw_random random = random_seed(3000u + (uint64_t)seed);
        const int nq = model->nq, nv = model->nv;
        static double q[STATES * MAX_Q], v[STATES * MAX], tau[STATES * MAX], vdot[STATES * MAX],
            back[STATES * MAX];
        static double own_q[STATES][MAX_Q], own_v[STATES][MAX], own_tau[STATES][MAX], one[MAX], other[MAX],
            force[MAX];
        lw_batch *batch;
        lw_data *data;
        lw_error error;
        assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        for (int i = 0; i < STATES; i++) {
            random_state(&random, model, own_q[i], own_v[i]);
            random_vector(&random, nv, 10, own_tau[i]);
            for (int k = 0; k < nq; k++) q[k * STATES + i] = own_q[i][k];
            for (int k = 0; k < nv; k++) v[k * STATES + i] = own_v[i][k], tau[k * STATES + i] = own_tau[i][k];
        }
        assert_int_equal(lw_tree_forward_dynamics_batch(model, batch, STATES, 0, q, v, tau, vdot, &error),
                         LW_OK);
        assert_int_equal(lw_tree_inverse_dynamics_batch(model, batch, STATES, 0, q, v, vdot, back, &error),
                         LW_OK);
        for (int i = 0; i < STATES; i++) {
            assert_int_equal(
                lw_tree_forward_dynamics(model, data, 0, own_q[i], own_v[i], own_tau[i], one, &error), LW_OK);
            for (int k = 0; k < nv; k++) other[k] = vdot[k * STATES + i], force[k] = back[k * STATES + i];
            if (!(relative_difference(one, other, nv) < 1e-9) ||
                !(relative_difference(own_tau[i], force, nv) < 1e-9))
                fail_msg("seed %d, state %d: accelerations differ by %g, forces by %g", seed, i,
                         relative_difference(one, other, nv), relative_difference(own_tau[i], force, nv));
        }
        lw_batch_destroy(batch);
        lw_data_destroy(data);
        lw_model_destroy(model);
    }
}

/* --- loops ---------------------------------------------------------------------------------------- */

static lw_solver *solver_of(const lw_model *model, const char *method, lw_error *error) {
    lw_solver *solver = NULL;
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    options.method = method;
    lw_status status = lw_solver_create(model, &options, NULL, &solver, error);
    return status == LW_OK ? solver : NULL;
}

/* The largest entry, or 1. */
static double size_of(const double *x, int n) {
    double size = 1;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(x[k]));
    return size;
}

static void loops_carry_rotors(void **state) {
    (void)state;
    static const char *const methods[] = {
        "cut",   "rcr",       "partition",  "lagrange", "schur",
        "rates", "nullspace", "barycentre", "relative", "partition-absolute"};
    int compared = 0, singular = 0;
    double worst = 0;
    for (int seed = 1; seed <= LOOPS; seed++) {
        static random_loops loops, plain;
        lw_random random = random_seed(500u + (uint64_t)seed);
        random_loops_build(&loops, seed);
        random_loops_build(&plain, seed);
        /* The joints of the tree as built carry the bodies, so no rotor has to be cut. */
        add_rotors(&random, loops.spec, (size_t)loops.bodies);
        lw_model *model = compile_or_fail(loops.spec), *bare = NULL;
        lw_error error;
        if (!model->armature) {
            lw_model_destroy(model);
            lw_spec_destroy(plain.spec);
            continue;
        }
        /* The same cuts, so that both have the same coordinates. */
        for (size_t j = 0; j < lw_spec_joint_count(plain.spec); j++)
            lw_spec_joint(plain.spec, j)->cut = model->joints[j].info.cut;
        bare = compile_or_fail(plain.spec);
        bool same = bare->nv == model->nv;
        for (int j = 0; j < model->joint_count && same; j++)
            same = model->joints[j].info.v == bare->joints[j].info.v;
        double q[MAX_Q], v[MAX], tau[MAX], less[MAX], J[MAX], vdot[MAX], again[MAX], first[MAX] = {0};
        double reactions[6 * JOINTS], reference[6 * JOINTS];
        bool unique[6 * JOINTS];
        const int nv = model->nv;
        rotors_of(model, J);
        random_loops_state(&loops, model, true, q, v);
        random_vector(&random, nv, 10, tau);
        for (size_t m = 0; m < sizeof methods / sizeof *methods && same; m++) {
            lw_solver *solver = solver_of(model, methods[m], &error),
                      *other = solver_of(bare, "lagrange", &error);
            if (!solver || !other) fail_msg("seed %d, %s: %s", seed, methods[m], error.message);
            lw_status status = lw_solver_accelerations(solver, loops.t, q, v, tau, vdot, &error);
            if (status == LW_ERROR_SINGULAR) {
                singular++;
            } else {
                if (status != LW_OK) fail_msg("seed %d, %s: %s", seed, methods[m], error.message);
                /* J vdot may be many times what moves the bodies, and so are its errors; so methods of bodies are
                 * compared with the first one. */
                for (int k = 0; k < nv; k++) less[k] = tau[k] - J[k] * (m ? first[k] : vdot[k]);
                assert_int_equal(lw_solver_accelerations(other, loops.t, q, v, less, again, &error), LW_OK);
                if (m == 0) memcpy(first, vdot, sizeof first);
                double differ = relative_difference(vdot, m ? first : again, nv);
                worst = fmax(worst, differ);
                if (!(differ < 1e-7))
                    fail_msg("seed %d, %s: accelerations differ by %g", seed, methods[m], differ);
                assert_int_equal(lw_solver_reactions(solver, reactions, unique, &error), LW_OK);
                assert_int_equal(lw_solver_reactions(other, reference, NULL, &error), LW_OK);
                const double size = size_of(reference, 6 * model->joint_count);
                for (int k = 0; k < 6 * model->joint_count; k++)
                    if (unique[k] && !(fabs(reactions[k] - reference[k]) < 1e-6 * size))
                        fail_msg("seed %d, %s: reaction %d is %g, not %g", seed, methods[m], k, reactions[k],
                                 reference[k]);
                compared++;
            }
            lw_solver_destroy(solver), lw_solver_destroy(other);
        }
        lw_model_destroy(model), lw_model_destroy(bare);
    }
    print_message("%d answers compared, %d singular, worst %.1e\n", compared, singular, worst);
    assert_true(compared > LOOPS && singular < compared / 20);
}

/* Rotors of up to 1e10 times the inertia of the bodies. Their J vdot has the digits of joint forces only, and a
 * method in the coordinates of bodies finds vdot as a difference of two bodies' accelerations: it must refuse where
 * these have too few. */
static void heavy_rotors_are_right_or_refused(void **state) {
    (void)state;
    static const char *const methods[] = {
        "cut",   "rcr",       "partition",  "lagrange", "schur",
        "rates", "nullspace", "barycentre", "relative", "partition-absolute"};
    int compared = 0, refused = 0;
    double worst = 0, worst_own = 0;
    for (int seed = 1; seed <= LOOPS; seed++) {
        static random_loops loops;
        lw_random random = random_seed(7100u + (uint64_t)seed);
        random_loops_build(&loops, seed);
        for (size_t j = 0; j < (size_t)loops.bodies; j++) {
            lw_joint_spec *joint = lw_spec_joint(loops.spec, j);
            int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
            for (int k = 0; k < nv && !is_ball(joint->type); k++)
                if (random_unit(&random) < 0.3) joint->armature[k] = pow(10, random_between(&random, 4, 10));
        }
        lw_model *model = compile_or_fail(loops.spec);
        const int nv = model->nv;
        double q[MAX_Q], v[MAX], tau[MAX], vdot[MAX], first[MAX], J[MAX];
        bool known = false;
        rotors_of(model, J);
        random_loops_state(&loops, model, true, q, v);
        random_vector(&random, nv, 10, tau);
        for (size_t m = 0; m < sizeof methods / sizeof *methods && model->armature; m++) {
            lw_error error;
            lw_solver *solver = solver_of(model, methods[m], &error);
            if (!solver) fail_msg("seed %d, %s: %s", seed, methods[m], error.message);
            lw_status status = lw_solver_accelerations(solver, loops.t, q, v, tau, vdot, &error);
            lw_solver_destroy(solver);
            if (status != LW_OK) {
                refused++;
                continue;
            }
            if (!known) memcpy(first, vdot, sizeof first);
            known = true;
            compared++;
            const double differ = relative_difference(vdot, first, nv), size = size_of(first, nv);
            worst = fmax(worst, differ);
            for (int k = 0; k < nv; k++) {
                /* Applied forces are of size 10, transmitted ones up to 1000, and the check allows 1e-7 of these;
                 * what a loop holds still is zero to the rounding of the other accelerations. */
                const double least = 1 / J[k] + 1e-9 * size;
                const double own = J[k] > 0 ? fabs(vdot[k] - first[k]) / (fabs(first[k]) + least) : 0;
                worst_own = fmax(worst_own, own);
                if (!(own < 1e-4))
                    fail_msg("seed %d, %s: acceleration %d is %.9g, not %.9g", seed, methods[m], k, vdot[k],
                             first[k]);
            }
            if (!(differ < 1e-6))
                fail_msg("seed %d, %s: accelerations differ by %g", seed, methods[m], differ);
        }
        lw_model_destroy(model);
    }
    print_message("%d answers compared, %d refused, worst %.1e, of itself %.1e\n", compared, refused, worst,
                  worst_own);
    assert_true(compared > LOOPS && refused < compared);
}

/* Several states of a loop at a time, by the vectors of rcr. */
static void batches_of_loops_carry_rotors(void **state) {
    (void)state;
    int compared = 0;
    for (int seed = 1; seed <= 60; seed++) {
        static random_loops loops;
        lw_random random = random_seed(900u + (uint64_t)seed);
        random_loops_build(&loops, seed);
        add_rotors(&random, loops.spec, (size_t)loops.bodies);
        lw_model *model = compile_or_fail(loops.spec);
        const int nq = model->nq, nv = model->nv;
        static double q[STATES * MAX_Q], v[STATES * MAX], tau[STATES * MAX], vdot[STATES * MAX];
        double own_q[MAX_Q], own_v[MAX], own_tau[STATES][MAX], one[MAX], other[MAX];
        lw_solver_options options;
        lw_solver_batch *batch = NULL;
        lw_error error;
        lw_solver_batch_defaults(model, &options);
        options.method = "rcr";
        lw_solver *solver = solver_of(model, "rcr", &error);
        assert_non_null(solver);
        assert_int_equal(lw_solver_batch_create(model, &options, 1, NULL, &batch, &error), LW_OK);
        random_loops_state(&loops, model, false, own_q, own_v);
        for (int i = 0; i < STATES; i++) {
            random_vector(&random, nv, 10, own_tau[i]);
            for (int k = 0; k < nq; k++) q[k * STATES + i] = own_q[k];
            for (int k = 0; k < nv; k++) v[k * STATES + i] = own_v[k], tau[k * STATES + i] = own_tau[i][k];
        }
        if (lw_solver_batch_accelerations(batch, STATES, loops.t, q, v, tau, vdot, &error) == LW_OK)
            for (int i = 0; i < STATES; i++) {
                assert_int_equal(
                    lw_solver_accelerations(solver, loops.t, own_q, own_v, own_tau[i], one, &error), LW_OK);
                for (int k = 0; k < nv; k++) other[k] = vdot[k * STATES + i];
                if (!(relative_difference(one, other, nv) < 1e-7))
                    fail_msg("seed %d, state %d: %g", seed, i, relative_difference(one, other, nv));
                compared++;
            }
        lw_solver_destroy(solver);
        lw_solver_batch_destroy(batch);
        lw_model_destroy(model);
    }
    assert_true(compared > 50 * STATES);
}

/* --- rotors as bodies -------------------------------------------------------------------------------- */

/* A cart on a rail with an arm. The arm's motor has a rotor of inertia I that turns n times as fast, as a body on the
 * cart with a coupling, or as armature n^2 I. The cart does not turn, so both are the same. */
static const char cart[] =
    "linkwork: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies:\n"
    "  cart: {mass: 3, inertia: [0.1, 0.1, 0.1]}\n"
    "  arm: {mass: 2, com: [0.3, 0, 0.1], inertia: [0.02, 0.05, 0.06]}\n"
    "%s"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0], q: 0.2, v: 0.7}\n"
    "  hinge: {type: revolute, between: [cart, arm], point: [0, 0, 0], axis: [0, 1, 0], q: 0.4, v: 1.1%s}\n"
    "%s";

static lw_model *read_text(const char *text) {
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    if (lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec) != LW_OK)
        fail_msg("%s", lw_report_get(report, 0)->message);
    lw_report_destroy(report);
    return compile_or_fail(spec);
}

static void a_geared_rotor_is_an_armature(void **state) {
    (void)state;
    char text[2][2048];
    const double n = 50, I = 2e-4;
    snprintf(text[0], sizeof text[0], cart, "", ", armature: 50^2*2e-4 kg m^2", "");
    snprintf(
        text[1], sizeof text[1], cart, "  rotor: {mass: 0, inertia: [1e-4, 2e-4, 1e-4]}\n", "",
        "  shaft: {type: revolute, between: [cart, rotor], point: [0, 0, 0], axis: [0, 1, 0], q: 20, v: 55}\n"
        "constraints:\n"
        "  gear: {type: coupling, terms: [{joint: shaft, factor: 1}, {joint: hinge, factor: -50}]}\n");
    lw_model *armature = read_text(text[0]), *explicit = read_text(text[1]);
    const double tau[3] = {4, -7, 0};
    double vdot[3], full[3], turned[3];
    lw_error error;
    lw_solver *one = solver_of(armature, "tree", &error);
    assert_non_null(one);
    assert_int_equal(lw_solver_accelerations(one, 0, armature->q0, armature->v0, tau, vdot, &error), LW_OK);
    static const char *const methods[] = {"lagrange", "cut", "rcr", "partition"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        lw_solver *other = solver_of(explicit, methods[m], &error);
        if (!other) fail_msg("%s: %s", methods[m], error.message);
        double given[3];
        for (int j = 0; j < 3; j++) {
            lw_joint_info info = lw_model_joint_info(explicit, j);
            given[info.v] = tau[j];
        }
        assert_int_equal(lw_solver_accelerations(other, 0, explicit->q0, explicit->v0, given, full, &error),
                         LW_OK);
        for (int j = 0; j < 2; j++)
            turned[lw_model_joint_info(armature, j).v] = full[lw_model_joint_info(explicit, j).v];
        if (!(relative_difference(vdot, turned, 2) < 1e-12))
            fail_msg("%s: accelerations differ by %g", methods[m], relative_difference(vdot, turned, 2));
        lw_solver_destroy(other);
    }
    /* the energies are the same too, since the rotor turns with the gear */
    lw_data *a, *b;
    assert_int_equal(lw_data_create(armature, NULL, &a), LW_OK);
    assert_int_equal(lw_data_create(explicit, NULL, &b), LW_OK);
    const double T = lw_energy_of(armature, a, 0, armature->q0, armature->v0).kinetic;
    assert_true(fabs(T - lw_energy_of(explicit, b, 0, explicit->q0, explicit->v0).kinetic) < 1e-13 * T);
    assert_true(T > 0.5 * n * n * I * 1.1 * 1.1);
    lw_data_destroy(a), lw_data_destroy(b);
    lw_solver_destroy(one);
    lw_model_destroy(armature), lw_model_destroy(explicit);
}

/* --- runs and refusals --------------------------------------------------------------------------------- */

static void the_ledger_closes(void **state) {
    (void)state;
    for (int seed = 3; seed <= 30; seed += 3) {
        lw_model *model = tree_of(seed, true, true);
        lw_run_options options;
        lw_run_summary summary;
        lw_error error;
        lw_run_defaults(model, &options);
        options.method = "tree";
        options.end = 1;
        options.tolerance = 1e-10;
        if (lw_simulate(model, &options, NULL, NULL, &summary, &error) != LW_OK)
            fail_msg("seed %d: %s", seed, error.message);
        /* relative to the energies that the run exchanges; the tolerance is 1e-10 per step */
        const lw_ledger *l = &summary.ledger;
        const double size =
            1 + fabs(l->kinetic) + fabs(l->potential) + fabs(l->drives) + fabs(l->dissipation);
        if (!(summary.energy_max_drift < 1e-6 * size))
            fail_msg("seed %d: %g J of %g are unaccounted for", seed, summary.energy_max_drift, size);
        lw_model_destroy(model);
    }
}

/* A motor turns an arm on a carriage, both by motions, with a spring and friction beside the motor. What drives
 * exert: the arm's balance by hand, with its rotor; their power is what the ledger books as their work. */
static const char moved_arm[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  carriage: {mass: 3, inertia: [0.1, 0.1, 0.1]}\n"
    "  arm: {mass: 2, com: [0, 0, -0.5], inertia: [0.1, 0.3, 0.1]}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, carriage], axis: [1, 0, 0], motion: 0.2*sin(3*t), armature: "
    "7}\n"
    "  pin: {type: revolute, between: [carriage, arm], point: [0, 0, 0], axis: [0, 1, 0], motion: sin(2*t), "
    "armature: 1.5}\n"
    "forces:\n"
    "  wire: {type: torsion, joint: pin, stiffness: 4}\n"
    "  rub: {type: friction, joint: pin, viscous: 0.7}\n"
    "outputs: {rail: drive(rail), pin: drive(pin), power: drive(rail).power + drive(pin).power}\n";

typedef struct driven {
    double worst, power, work, booked, t;
    int samples;
} driven;

static bool watch_drives(const lw_sample *sample, void *context) {
    driven *d = context;
    const double t = sample->t, x2 = -1.8 * sin(3 * t), q = sin(2 * t), v = 2 * cos(2 * t), a = -4 * q;
    /* Of the arm: its angle turns z to x, so that its centre lies at x = -0.5 sin q, z = -0.5 cos q. */
    const double rail = (3 + 2 + 7) * x2 + 2 * -0.5 * (cos(q) * a - sin(q) * v * v);
    const double pin = (0.3 + 2 * 0.25 + 1.5) * a - 2 * 0.5 * cos(q) * x2 + 4 * q + 0.7 * v;
    d->worst = fmax(d->worst, fmax(fabs(sample->outputs[0] - rail), fabs(sample->outputs[1] - pin)));
    if (d->samples++ > 0) d->work += 0.5 * (t - d->t) * (d->power + sample->outputs[2]);
    d->t = t, d->power = sample->outputs[2], d->booked = sample->ledger->drives;
    return true;
}

static void drives_move_rotors(void **state) {
    (void)state;
    static const char *const methods[] = {"tree", "cut", "lagrange", "partition", "nullspace"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        lw_model *model = read_text(moved_arm);
        lw_run_options options;
        lw_error error;
        driven d = {0};
        lw_run_defaults(model, &options);
        options.method = methods[m];
        options.end = 1;
        options.output = 1e-3;
        options.tolerance = 1e-10;
        options.observe = watch_drives;
        options.context = &d;
        if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK)
            fail_msg("%s: %s", methods[m], error.message);
        /* forces of up to 60 N, and the trapezoidal rule with a step of 1e-3: h^2 P'' / 12 */
        if (!(d.worst < 1e-11 && fabs(d.work - d.booked) < 1e-4 && fabs(d.booked) > 0.1))
            fail_msg("%s: force off by %g, work %g, booked %g", methods[m], d.worst, d.work, d.booked);
        lw_model_destroy(model);
    }
}

static const char four_bar[] =
    "linkwork: 1\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
    "  coupler: {mass: 2, inertia: [0.1, 0.1, 0.2]}\n"
    "  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 0, 1], armature: 0.5}\n"
    "  b: {type: revolute, between: [crank, coupler], point: [0, 1, 0], axis: [0, 0, 1], armature: 0.2}\n"
    "  c: {type: revolute, between: [coupler, rocker], point: [3, 2, 0], axis: [0, 0, 1]%s}\n"
    "  d: {type: revolute, between: [ground, rocker], point: [3, 0, 0], axis: [0, 0, 1], armature: 0.1}\n";

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const char *const refused[] = {"director", "director-full", "massless"};
    static const char *const taken[] = {"cut", "rcr", "partition", "lagrange", "penalty", "nullspace-svd"};
    char text[2048];
    lw_error error;
    snprintf(text, sizeof text, four_bar, "");
    lw_model *model = read_text(text);
    assert_true(lw_model_joint_info(model, lw_model_joint(model, "c")).cut);
    for (size_t m = 0; m < sizeof refused / sizeof *refused; m++) {
        if (solver_of(model, refused[m], &error)) fail_msg("%s is not refused", refused[m]);
        if (!strstr(error.message, "rotor")) fail_msg("%s: %s", refused[m], error.message);
    }
    for (size_t m = 0; m < sizeof taken / sizeof *taken; m++) {
        lw_solver *solver = solver_of(model, taken[m], &error);
        if (!solver) fail_msg("%s: %s", taken[m], error.message);
        lw_solver_destroy(solver);
    }
    lw_model_destroy(model);

    static const char *const wrong[][2] = {{", armature: 0.3", "every joint of its loop must be kept"},
                                           {", armature: -0.3", "armature -0.3 is no inertia"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        lw_spec *spec = NULL;
        lw_report *report = lw_report_create();
        snprintf(text, sizeof text, four_bar, wrong[k][0]);
        lw_status status = lw_read_model_text(text, strlen(text), "test.yaml", NULL, 0, report, &spec);
        model = NULL;
        if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
        assert_int_not_equal(status, LW_OK);
        bool said = false;
        for (size_t i = 0; i < lw_report_size(report); i++)
            said |= strstr(lw_report_get(report, i)->message, wrong[k][1]) != NULL;
        if (!said) fail_msg("%s: %s", wrong[k][0], lw_report_get(report, 0)->message);
        lw_report_destroy(report);
        lw_spec_destroy(spec);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_carry_rotors),
        cmocka_unit_test(batches_carry_rotors),
        cmocka_unit_test(loops_carry_rotors),
        cmocka_unit_test(heavy_rotors_are_right_or_refused),
        cmocka_unit_test(a_geared_rotor_is_an_armature),
        cmocka_unit_test(batches_of_loops_carry_rotors),
        cmocka_unit_test(the_ledger_closes),
        cmocka_unit_test(drives_move_rotors),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
