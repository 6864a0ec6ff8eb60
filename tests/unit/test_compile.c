/* test_compile.c - from spec to model: labels, loops and cuts, independence of the spec, lack of memory.
 * (Geometry and initial state: test_compile_geometry.c.)
 */
#include "build.h"
#include "random_model.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 96 };

/* --- regular labelling (mufti1983) ---------------------------------------------------------------- */

static const int C_of_1[6][5] = {{1, 1, 0, 0, 0},  {-1, 0, 1, 1, 1}, {0, -1, 0, 0, 0},
                                 {0, 0, -1, 0, 0}, {0, 0, 0, -1, 0}, {0, 0, 0, 0, -1}};
static const int T_of_25[6][6] = {{-1, -1, -1, -1, -1, -1}, {0, -1, 0, -1, -1, -1}, {0, 0, -1, 0, 0, 0},
                                  {0, 0, 0, -1, 0, 0},      {0, 0, 0, 0, -1, 0},    {0, 0, 0, 0, 0, -1}};

static void check_six_bodies(const lw_model *model) {
    assert_int_equal(lw_model_body_count(model), 6);
    assert_int_equal(lw_model_loop_count(model), 0);
    for (int i = 1; i <= 6; i++) {
        for (int h = 2; h <= 6; h++) assert_int_equal(lw_model_incidence(model, i, h), C_of_1[i - 1][h - 2]);
        assert_int_equal(lw_model_incidence(model, i, 1), i == 1 ? -1 : 0); /* -e1 of (22) */
        for (int h = 1; h <= 6; h++) assert_int_equal(lw_model_path(model, h, i), T_of_25[h - 1][i - 1]);
    }
    /* S T = 1 (24) */
    for (int i = 1; i <= 6; i++)
        for (int j = 1; j <= 6; j++) {
            int sum = 0;
            for (int k = 1; k <= 6; k++) sum += lw_model_incidence(model, i, k) * lw_model_path(model, k, j);
            assert_int_equal(sum, i == j);
        }
    assert_string_equal(lw_model_body_name(model, 1), "b1"); /* the base body and the hub have one place */
    assert_string_equal(lw_model_body_name(model, 2), "b4");
    assert_string_equal(lw_model_body_name(model, 3), "b5");
}

static void six_bodies_of_the_paper(void **state) {
    (void)state;
    lw_model *model = read_problem("six_bodies");
    check_six_bodies(model);
    lw_model_destroy(model);
}

/* The same graph, bodies and joints in any order, joints in either direction. */
static void six_bodies_in_any_order(void **state) {
    (void)state;
    static const char *const names[6] = {"b1", "b2", "b3", "b4", "b5", "b6"};
    static const char *const arcs[6][2] = {{LW_GROUND, "b1"}, {"b1", "b5"}, {"b1", "b4"},
                                           {"b4", "b6"},      {"b4", "b2"}, {"b4", "b3"}};
    for (int seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *spec = lw_spec_create("six");
        int order[2][6];
        for (int list = 0; list < 2; list++)
            for (int k = 0; k < 6; k++) {
                int at = random_below(&random, k + 1);
                order[list][k] = order[list][at];
                order[list][at] = k;
            }
        for (int k = 0; k < 6; k++) add_plain_body(spec, names[order[0][k]]);
        for (int k = 0; k < 6; k++) {
            char name[8];
            int arc = order[1][k], turned = random_below(&random, 2);
            snprintf(name, sizeof name, "h%d", arc);
            add_plain_joint(spec, name, arc ? LW_JOINT_SPHERICAL : LW_JOINT_FREE, arcs[arc][turned],
                            arcs[arc][1 - turned], NULL, NULL);
        }
        lw_model *model = compile_or_fail(spec);
        check_six_bodies(model);
        for (int i = 1; i <= 6; i++) { /* each arc is the joint that leads to its body */
            lw_joint_info info = lw_model_joint_info(model, lw_model_body_joint(model, i));
            assert_int_equal(info.child, i);
            assert_int_equal(info.bodies[info.reversed ? 0 : 1], i);
            assert_int_equal(info.bodies[info.reversed ? 1 : 0], lw_model_body_parent(model, i));
        }
        lw_model_destroy(model);
    }
}

/* --- loops ---------------------------------------------------------------------------------------- */

/* crank - coupler - rocker, pins at (0,0), (1,1), (3,1.5), (4,0); closing joint of the given type. */
static lw_spec *four_bar(lw_joint_type closing, const char *const ends[2]) {
    static const double at[4][3] = {{0, 0, 0}, {1, 1, 0}, {3, 1.5, 0}, {4, 0, 0}}, z[3] = {0, 0, 1};
    lw_spec *spec = lw_spec_create("four-bar");
    add_plain_body(spec, "crank");
    add_plain_body(spec, "coupler");
    add_plain_body(spec, "rocker");
    add_plain_joint(spec, "A", LW_JOINT_REVOLUTE, LW_GROUND, "crank", at[0], z);
    add_plain_joint(spec, "B", LW_JOINT_REVOLUTE, "crank", "coupler", at[1], z);
    add_plain_joint(spec, "C", closing, ends[0], ends[1], at[2], z);
    add_plain_joint(spec, "D", LW_JOINT_REVOLUTE, LW_GROUND, "rocker", at[3], z);
    return spec;
}

static void a_four_bar_has_one_loop(void **state) {
    (void)state;
    static const char *const ways[2][2] = {{"coupler", "rocker"}, {"rocker", "coupler"}};
    static const struct {
        lw_joint_type type;
        int rows;
    } closings[] = {{LW_JOINT_REVOLUTE, 5},
                    {LW_JOINT_CYLINDRICAL, 4},
                    {LW_JOINT_SPHERICAL, 3},
                    {LW_JOINT_PLANAR, 3},
                    {LW_JOINT_FREE, 0}};
    for (size_t k = 0; k < sizeof closings / sizeof *closings; k++)
        for (int way = 0; way < 2; way++) {
            lw_spec *spec = four_bar(closings[k].type, ways[way]);
            lw_spec_joint(spec, 2)->cut = true;
            lw_model *model = compile_or_fail(spec);
            assert_int_equal(lw_model_loop_count(model), 1);
            assert_int_equal(lw_model_loop_cut(model, 0), 2);
            assert_int_equal(lw_model_loop_length(model, 0), 4);
            assert_int_equal(lw_model_loop_base(model, 0), 0);
            lw_joint_info info = lw_model_joint_info(model, 2);
            assert_true(info.cut);
            assert_int_equal(info.rows, closings[k].rows);
            assert_int_equal(info.child, -1);
            assert_int_equal(info.q, -1);
            assert_int_equal(info.q_count + info.v_count, 0);
            assert_int_equal(info.bodies[0], lw_model_body(model, ways[way][0]));
            assert_int_equal(info.bodies[1], lw_model_body(model, ways[way][1]));
            assert_int_equal(lw_model_v_size(model), 3);
            /* C, then from its second body through ground back to its first */
            static const int along[2][4] = {{2, 3, 0, 1}, {2, 1, 0, 3}},
                             senses[2][4] = {{1, -1, 1, 1}, {1, -1, -1, 1}};
            for (int i = 0; i < 4; i++) {
                int sense;
                assert_int_equal(lw_model_loop_joint(model, 0, i, &sense), along[way][i]);
                assert_int_equal(sense, senses[way][i]);
            }
            for (int j = 0; j < 4; j++) {
                info = lw_model_joint_info(model, j);
                assert_int_equal(info.cut, j == 2);
                if (j != 2) assert_int_equal(info.rows, 0);
            }
            lw_model_destroy(model);
        }
}

static void what_must_have_coordinates_is_not_cut(void **state) {
    (void)state;
    static const char *const ends[2] = {"coupler", "rocker"};
    for (int how = 0; how < 5; how++)
        for (int keep = 0; keep < 4; keep++) {
            lw_spec *spec = four_bar(LW_JOINT_REVOLUTE, ends);
            for (int j = 0; j < 4; j++) { /* all but one are kept for some reason, so that one is cut */
                lw_joint_spec *joint = lw_spec_joint(spec, (size_t)j);
                char name[8];
                snprintf(name, sizeof name, "f%d", j);
                if (j == keep) continue;
                if (how == 0) joint->has_q = true;
                if (how == 1) joint->has_v = true;
                if (how == 2) joint->motion[0] = "0";
                if (how == 3)
                    add_force(spec,
                              (lw_force_spec){.name = name, .type = LW_FORCE_FRICTION, .joint = joint->name});
                if (how == 4)
                    add_constraint(spec, (lw_constraint_spec){.name = name,
                                                              .type = LW_CONSTRAINT_COUPLING,
                                                              .terms = 1,
                                                              .joints = {joint->name},
                                                              .factors = {1}});
            }
            lw_model *model = compile_or_fail(spec);
            assert_int_equal(lw_model_loop_cut(model, 0), keep);
            lw_model_destroy(model);
        }
}

static void massless_bodies_and_cuts(void **state) {
    (void)state;
    static const char *const ends[2] = {"coupler", "rocker"};
    lw_report *report = lw_report_create();
    lw_model *model;
    for (int light = 0; light < 3; light++) { /* one massless body: some joint of the loop is away from it */
        lw_spec *spec = four_bar(LW_JOINT_REVOLUTE, ends);
        lw_spec_body(spec, (size_t)light)->mass = 0;
        memset(lw_spec_body(spec, (size_t)light)->inertia, 0, sizeof lw_spec_body(spec, 0)->inertia);
        assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
        assert_int_equal(lw_report_size(report), 0);
        lw_joint_info info = lw_model_joint_info(model, lw_model_loop_cut(model, 0));
        for (int side = 0; side < 2; side++)
            assert_true(info.bodies[side] == 0 || lw_model_body_mass(model, info.bodies[side]) > 0);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    /* crank and rocker massless: every joint touches one */
    lw_spec *spec = four_bar(LW_JOINT_REVOLUTE, ends);
    lw_spec_body(spec, 0)->mass = lw_spec_body(spec, 2)->mass = 0;
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    assert_int_equal(lw_report_errors(report), 0);
    assert_int_equal(lw_report_size(report), 1);
    must_say(report, LW_SEVERITY_WARNING, NULL, "closes a loop at a massless body",
             "give one body of the loop mass");
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

/* Wishes that cannot be followed are answered, the others are followed in silence. */
static void wishes_to_cut_are_answered(void **state) {
    (void)state;
    static const char *const ends[2] = {"coupler", "rocker"};
    for (int light = -1; light < 3; light++)
        for (size_t wish = 0; wish < 4; wish++) {
            lw_spec *spec = four_bar(LW_JOINT_REVOLUTE, ends);
            lw_report *report = lw_report_create();
            lw_model *model;
            if (light >= 0) {
                lw_spec_body(spec, (size_t)light)->mass = 0;
                memset(lw_spec_body(spec, (size_t)light)->inertia, 0, sizeof lw_spec_body(spec, 0)->inertia);
            }
            lw_spec_joint(spec, wish)->cut = true;
            assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
            const lw_joint_spec *joint = lw_spec_joint(spec, wish);
            bool touches =
                light >= 0 && (!strcmp(joint->bodies[0], lw_spec_body(spec, (size_t)light)->name) ||
                               !strcmp(joint->bodies[1], lw_spec_body(spec, (size_t)light)->name));
            assert_int_equal(lw_model_loop_cut(model, 0) == (int)wish, !touches);
            assert_int_equal(lw_report_size(report), touches);
            if (touches) {
                char object[64], reason[64];
                snprintf(object, sizeof object, "joint \"%s\"", joint->name);
                snprintf(reason, sizeof reason, "since body \"%s\" has no mass",
                         lw_spec_body(spec, (size_t)light)->name);
                must_say(report, LW_SEVERITY_WARNING, object, reason, "cut at another joint of the loop");
            }
            lw_model_destroy(model);
            lw_spec_destroy(spec);
            lw_report_destroy(report);
        }

    lw_spec *spec = four_bar(LW_JOINT_REVOLUTE, ends);
    lw_report *report = lw_report_create();
    lw_model *model;
    add_plain_body(spec, "bob"); /* hangs from the coupler */
    add_plain_joint(spec, "string", LW_JOINT_SPHERICAL, "coupler", "bob", (double[3]){0}, NULL);
    lw_spec_joint(spec, 4)->cut = true;                               /* in no loop */
    lw_spec_joint(spec, 0)->cut = lw_spec_joint(spec, 1)->cut = true; /* twice in one loop */
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    assert_int_equal(lw_report_size(report), 2);
    must_say(report, LW_SEVERITY_WARNING, "joint \"string\"", "is in no loop, so there is nothing to cut",
             "remove cut: true");
    must_say(report, LW_SEVERITY_WARNING, NULL, "all its loops are cut at other joints with cut: true",
             "remove one cut: true");
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
}

/* --- independence --------------------------------------------------------------------------------- */

/* compile_or_fail destroys the spec. Here its memory is overwritten first, then everything is asked for. */
static void the_model_does_not_need_the_spec(void **state) {
    (void)state;
    for (int seed = 1; seed <= 30; seed++) {
        lw_random random = random_seed((uint64_t)seed), again = random;
        random_tree options = {
            .bodies = 6, .forces = true, .prescribed = true, .reversed = true, .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        lw_run_spec run = {.end = 3, .method = "tree", .integrator = "rk4", .drift = "none"};
        char file[] = "model.yaml";
        assert_int_equal(lw_spec_set_file(spec, file), LW_OK);
        assert_int_equal(lw_spec_set_run(spec, &run), LW_OK);
        lw_model *model, *other;
        assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
        for (size_t k = 0; k < lw_spec_force_count(spec); k++) {
            lw_force_spec *force = lw_spec_force(spec, k);
            for (int i = 0; i < force->law.table_size; i++)
                ((double *)(uintptr_t)force->law.table_y)[i] = NAN;
            memset((char *)(uintptr_t)force->name, '?', strlen(force->name));
        }
        for (size_t k = 0; k < lw_spec_joint_count(spec); k++)
            memset((char *)(uintptr_t)lw_spec_joint(spec, k)->name, '?',
                   strlen(lw_spec_joint(spec, k)->name));
        for (size_t k = 0; k < lw_spec_body_count(spec); k++)
            memset((char *)(uintptr_t)lw_spec_body(spec, k)->name, '?', strlen(lw_spec_body(spec, k)->name));
        lw_spec_destroy(spec);
        other = random_tree_model(&again, &options);

        assert_string_equal(lw_model_file(model), "model.yaml");
        assert_string_equal(lw_model_name(model), "random tree");
        assert_string_equal(lw_model_run(model)->method, "tree");
        assert_string_equal(lw_model_run(model)->integrator, "rk4");
        assert_string_equal(lw_model_run(model)->drift, "none");
        for (int i = 0; i <= 6; i++)
            assert_string_equal(lw_model_body_name(model, i), lw_model_body_name(other, i));
        for (int j = 0; j < lw_model_joint_count(model); j++)
            assert_string_equal(lw_model_joint_info(model, j).name, lw_model_joint_info(other, j).name);
        for (int k = 0; k < lw_model_force_count(model); k++)
            assert_string_equal(lw_model_force_name(model, k), lw_model_force_name(other, k));
        double q[2 * MAX], v[MAX], vdot[2][MAX];
        lw_data *data[2];
        lw_error error;
        random_state(&random, model, q, v);
        assert_int_equal(lw_data_create(model, NULL, &data[0]), LW_OK);
        assert_int_equal(lw_data_create(other, NULL, &data[1]), LW_OK);
        assert_int_equal(lw_tree_forward_dynamics(model, data[0], 0.3, q, v, NULL, vdot[0], &error), LW_OK);
        assert_int_equal(lw_tree_forward_dynamics(other, data[1], 0.3, q, v, NULL, vdot[1], &error), LW_OK);
        for (int k = 0; k < lw_model_v_size(model); k++) assert_true(vdot[0][k] == vdot[1][k]);
        for (int k = 0; k < 2; k++) lw_data_destroy(data[k]);
        lw_model_destroy(model);
        lw_model_destroy(other);
    }
}

static void names_are_found(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    random_tree options = {.bodies = 5, .joint = LW_JOINT_REVOLUTE};
    lw_model *model = random_tree_model(&random, &options);
    assert_int_equal(lw_model_body(model, LW_GROUND), 0);
    assert_int_equal(lw_model_body(model, "nobody"), -1);
    assert_int_equal(lw_model_joint(model, "nobody"), -1);
    for (int i = 1; i <= 5; i++) {
        assert_int_equal(lw_model_body(model, lw_model_body_name(model, i)), i);
        assert_true(lw_model_body_parent(model, i) < i);
    }
    lw_model_destroy(model);
}

static void bodies_and_constraints_are_as_written(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(
        read_text_spec("linkwork: 1\n"
                       "bodies:\n"
                       "  rod: {mass: 2, shape: rod, points: [[0, 0, 0], [1, 0, 0]]}\n"
                       "  bob: {kind: point, mass: 1, position: [1, 0, 0]}\n"
                       "joints:\n"
                       "  pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}\n"
                       "  air: {type: free, between: [ground, bob]}\n"
                       "constraints:\n"
                       "  string: {type: distance, between: [rod, bob], points: [[0, 0, 0], "
                       "[1, 0, 0]]}\n"));
    int rod = lw_model_body(model, "rod"), bob = lw_model_body(model, "bob");
    assert_int_equal(lw_model_body_kind(model, rod), LW_BODY_SPATIAL);
    assert_int_equal(lw_model_body_kind(model, bob), LW_BODY_POINT);
    assert_int_equal(lw_model_body_shape(model, rod)->kind, LW_SHAPE_ROD);
    assert_true(lw_model_body_shape(model, rod)->points[1][0] == 1);
    assert_int_equal(lw_model_body_shape(model, bob)->kind, LW_SHAPE_NONE);
    assert_int_equal(lw_model_constraint_count(model), 1);
    assert_string_equal(lw_model_constraint_name(model, 0), "string");
    lw_model_destroy(model);
}

/* An allocator that fails from the n-th call on: no crash, no model, everything given back. */
typedef struct budget {
    int left, open;
} budget;
static void *allocate(size_t size, void *context) {
    budget *b = context;
    if (b->left-- <= 0) return NULL;
    b->open++;
    return malloc(size);
}
static void release(void *memory, void *context) {
    if (memory) ((budget *)context)->open--;
    free(memory);
}

static void memory_runs_out(void **state) {
    (void)state;
    lw_random random = random_seed(3);
    random_tree options = {.bodies = 8, .forces = true, .prescribed = true, .joint = -1};
    lw_spec *spec = random_tree_spec(&random, &options);
    lw_status status = LW_ERROR_MEMORY;
    for (int room = 0; status != LW_OK && room < 10000; room++) {
        budget b = {room, 0};
        lw_allocator allocator = {allocate, release, &b};
        lw_model *model;
        status = lw_model_compile(spec, &allocator, NULL, &model);
        if (status != LW_OK) {
            assert_null(model);
            assert_int_equal(b.open, 0);
            continue;
        }
        budget d = {0, 0};
        lw_allocator other = {allocate, release, &d};
        lw_data *data;
        lw_status created = LW_ERROR_MEMORY;
        for (int more = 0; created != LW_OK && more < 10000; more++) {
            d.left = more;
            created = lw_data_create(model, &other, &data);
            if (created != LW_OK) assert_int_equal(d.open, 0);
        }
        assert_int_equal(created, LW_OK);
        lw_data_destroy(data);
        assert_int_equal(d.open, 0);
        lw_model_destroy(model);
        assert_int_equal(b.open, 0);
    }
    assert_int_equal(status, LW_OK);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_bodies_of_the_paper),
        cmocka_unit_test(six_bodies_in_any_order),
        cmocka_unit_test(a_four_bar_has_one_loop),
        cmocka_unit_test(what_must_have_coordinates_is_not_cut),
        cmocka_unit_test(massless_bodies_and_cuts),
        cmocka_unit_test(wishes_to_cut_are_answered),
        cmocka_unit_test(the_model_does_not_need_the_spec),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(bodies_and_constraints_are_as_written),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
