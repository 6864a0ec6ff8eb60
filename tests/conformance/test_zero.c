/* test_zero.c - joints whose coordinates are not zero where they are drawn (key zero): the same mechanism at q + zero.
 *
 *   trees   poses, accelerations, reactions of random trees
 *   loops   accelerations by cut, rcr and lagrange, and reactions, of random loops
 *   start   q left out is zero; the pose is the drawn one
 */
#include "random_loops.h"
#include "model/data.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <string.h>

enum { TREES = 150, LOOPS = 160, MAX = 6 * 16, MAX_Q = 7 * 16, JOINTS = 40 };

static bool is_ball(lw_joint_type type) { return type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE; }

static void add_zeros(lw_random *random, lw_spec *spec) {
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
        lw_joint_spec *joint = lw_spec_joint(spec, j);
        int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        bool prescribed = false;
        for (int k = 0; k < nv; k++) prescribed |= joint->motion[k] != NULL;
        for (int k = 0; k < nv && !is_ball(joint->type) && !prescribed; k++) {
            joint->zero[k] = random_between(random, -1, 1);
            joint->q[k] += joint->zero[k];
        }
    }
}

/* Coordinates of the same configuration in a model with zeros. */
static void move(const lw_spec *spec, const lw_model *model, const double *q, double *moved) {
    memcpy(moved, q, (size_t)model->nq * sizeof *q);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        const lw_joint_spec *joint = lw_spec_joint((lw_spec *)spec, (size_t)j);
        for (int k = 0; k < model->joints[j].joint.nv && !is_ball(info->type) && !info->cut; k++)
            moved[info->q + k] += joint->zero[k];
    }
    for (int k = 0; k < model->cut_angle_count; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        moved[angle->q] +=
            lw_spec_joint((lw_spec *)spec, (size_t)model->closures[angle->closure])->zero[angle->coordinate];
    }
}

static lw_model *compile_and_keep(lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model = NULL;
    if (lw_model_compile(spec, NULL, report, &model) != LW_OK)
        fail_msg("%s", lw_report_get(report, 0)->message);
    lw_report_destroy(report);
    return model;
}

static void trees_move_alike(void **state) {
    (void)state;
    for (int seed = 1; seed <= TREES; seed++) {
        lw_random random = random_seed((uint64_t)seed), again = random_seed((uint64_t)seed),
                  other = random_seed(9);
        random_tree options = {
            .bodies = 1 + seed % 9, .reversed = true, .aligned = seed % 2 == 0, .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        lw_model *bare = random_tree_model(&again, &options);
        add_zeros(&other, spec);
        lw_model *model = compile_and_keep(spec);
        double q[MAX_Q], v[MAX], moved[MAX_Q], tau[MAX], a[MAX], b[MAX], f[6 * JOINTS], g[6 * JOINTS],
            pose[2][12];
        lw_data *data, *of_bare;
        lw_error error;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        assert_int_equal(lw_data_create(bare, NULL, &of_bare), LW_OK);
        random_state(&random, bare, q, v);
        random_vector(&random, bare->nv, 10, tau);
        move(spec, model, q, moved);
        for (int i = 1; i <= model->body_count; i++) {
            lw_body_pose(bare, of_bare, 0, q, i, pose[0], pose[0] + 3);
            lw_body_pose(model, data, 0, moved, i, pose[1], pose[1] + 3);
            if (!(relative_difference(pose[0], pose[1], 12) < 1e-12))
                fail_msg("seed %d: pose of body %d differs by %g", seed, i,
                         relative_difference(pose[0], pose[1], 12));
        }
        assert_int_equal(lw_tree_forward_dynamics(bare, of_bare, 0, q, v, tau, a, &error), LW_OK);
        assert_int_equal(lw_tree_forward_dynamics(model, data, 0, moved, v, tau, b, &error), LW_OK);
        assert_true(relative_difference(a, b, bare->nv) < 1e-9);
        assert_int_equal(lw_joint_reactions(bare, of_bare, 0, q, v, a, f, &error), LW_OK);
        assert_int_equal(lw_joint_reactions(model, data, 0, moved, v, a, g, &error), LW_OK);
        assert_true(relative_difference(f, g, 6 * bare->joint_count) < 1e-9);
        lw_data_destroy(data), lw_data_destroy(of_bare);
        lw_model_destroy(model), lw_model_destroy(bare);
        lw_spec_destroy(spec);
    }
}

static bool solve(const lw_model *model, const char *method, double t, const double *q, const double *v,
                  const double *tau, double *vdot, double *reactions, bool *unique) {
    lw_solver *solver = NULL;
    lw_solver_options options;
    lw_error error;
    lw_solver_defaults(model, &options);
    options.method = method;
    if (lw_solver_create(model, &options, NULL, &solver, &error) != LW_OK) return false;
    bool good = lw_solver_accelerations(solver, t, q, v, tau, vdot, &error) == LW_OK &&
                lw_solver_reactions(solver, reactions, unique, &error) == LW_OK;
    lw_solver_destroy(solver);
    return good;
}

static void loops_move_alike(void **state) {
    (void)state;
    static const char *const methods[] = {"cut", "rcr", "lagrange"};
    int compared = 0;
    for (int seed = 1; seed <= LOOPS; seed++) {
        static random_loops loops, plain;
        lw_random other = random_seed((uint64_t)seed);
        random_loops_build(&loops, seed);
        random_loops_build(&plain, seed);
        bool coupled = loops.kind == LOOP_CONSTRAINED; /* Couplings and springs count from other zeros. */
        for (size_t k = 0; k < lw_spec_force_count(loops.spec); k++)
            coupled |= lw_spec_force(loops.spec, k)->type == LW_FORCE_TORSION;
        if (!coupled) add_zeros(&other, loops.spec);
        lw_model *model = compile_and_keep(loops.spec), *bare = compile_and_keep(plain.spec);
        double q[MAX_Q], v[MAX], moved[MAX_Q], tau[MAX], a[MAX], b[MAX], f[6 * JOINTS], g[6 * JOINTS];
        bool unique[6 * JOINTS];
        bool same = model->nv == bare->nv && !coupled;
        for (int j = 0; j < model->joint_count && same; j++)
            same = model->joints[j].info.v == bare->joints[j].info.v;
        if (same) {
            random_loops_state(&plain, bare, true, q, v);
            random_vector(&other, bare->nv, 10, tau);
            move(loops.spec, model, q, moved);
        }
        for (int m = 0; m < 3 && same; m++) {
            if (!solve(bare, methods[m], plain.t, q, v, tau, a, f, unique)) continue;
            assert_true(solve(model, methods[m], plain.t, moved, v, tau, b, g, NULL));
            if (!(relative_difference(a, b, bare->nv) < 1e-7))
                fail_msg("seed %d, %s: accelerations differ by %g", seed, methods[m],
                         relative_difference(a, b, bare->nv));
            for (int k = 0; k < 6 * bare->joint_count; k++)
                if (!unique[k]) f[k] = g[k] = 0;
            if (!(relative_difference(f, g, 6 * bare->joint_count) < 1e-6))
                fail_msg("seed %d, %s: reactions differ by %g", seed, methods[m],
                         relative_difference(f, g, 6 * bare->joint_count));
            compared++;
        }
        lw_model_destroy(model), lw_model_destroy(bare);
        lw_spec_destroy(loops.spec), lw_spec_destroy(plain.spec);
    }
    print_message("%d answers compared\n", compared);
    assert_true(compared > LOOPS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_move_alike),
                                       cmocka_unit_test(loops_move_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
