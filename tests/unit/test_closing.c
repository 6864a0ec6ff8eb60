/* test_closing.c - closing conditions of planar linkages, and branches.
 *
 *   blajer       its four-bar linkage by its formulas (40) and (41), around full turns, in both branches
 *   rings        rings of four turns and slides in every order, anywhere in space, cut anywhere, with balls and cylindrical
 *                joints too: every choice of the independent coordinate, all in closed form
 *   grown        linkages that grow by random dyads, up to eleven bodies: closed form from the crank, any other input too
 *   problems     the linkages of problems/, and which of them are in closed form
 *   branches     full turns, change points, dead points; sets that are none
 */
#include "closing_support.h"

/* --- planar linkages ------------------------------------------------------------------------------------- */

/* A plane somewhere in space. */
typedef struct sheet {
    double R[9], p[3];
} sheet;

static sheet random_sheet(lw_random *random) {
    sheet s;
    double axis[3];
    random_direction(random, axis);
    lw_rot_axis(axis, random_between(random, 0, 3), s.R);
    random_vector(random, 3, 1, s.p);
    return s;
}

/* A joint between bodies at (x, y) of the sheet, somewhere across it; of type revolute or one that is the same in the
 * plane, or prismatic along `angle`. Written in either sense. */
static void sheet_joint(lw_spec *spec, const sheet *s, lw_random *random, int number, lw_joint_type type,
                        int a, int b, double x, double y, double angle, bool cut) {
    char name[16], first[16], second[16];
    names_of(number, NULL, name);
    names_of(a, first, NULL);
    names_of(b, second, NULL);
    bool turned = random_below(random, 2);
    lw_joint_spec joint = {
        .name = name, .type = type, .bodies = {turned ? second : first, turned ? first : second}, .cut = cut};
    const double at[3] = {x, y, random_between(random, -0.3, 0.3)},
                 z[3] = {0, 0, random_below(random, 2) ? 1 : -1}, along[3] = {cos(angle), sin(angle), 0};
    lw_pose_point(s->R, s->p, at, joint.geometry[0].point);
    lw_m3_mul_v(s->R, type == LW_JOINT_PRISMATIC ? along : z, joint.geometry[0].axes[0]);
    joint.geometry[0].axis_count = type == LW_JOINT_SPHERICAL ? 0 : 1;
    add_joint(spec, joint);
}

static bool is_slide(lw_joint_type type) { return type == LW_JOINT_PRISMATIC; }

static void planar_rings(void **state) {
    (void)state;
    static const char *const kinds[] = {"RRRR", "RRRP", "RRPR", "RPRR", "PRRR", "RRPP",
                                        "RPRP", "PRPR", "PPRR", "PRRP", "RPPR", "RRRS",
                                        "RSRR", "RRSP", "RRRC", "CRRR", "RRCP", "RCRP"};
    int examined = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int seed = 0; seed < 12; seed++) {
            lw_random random = random_seed(1000 * kind + (unsigned)seed);
            sheet s = random_sheet(&random);
            lw_spec *spec = lw_spec_create("ring");
            int cut = random_below(&random, 4);
            for (int k = 0; k < 3; k++) add_link(spec, k);
            for (int k = 0; k < 4; k++) {
                lw_joint_type type = kinds[kind][k] == 'P'   ? LW_JOINT_PRISMATIC
                                     : kinds[kind][k] == 'S' ? LW_JOINT_SPHERICAL
                                     : kinds[kind][k] == 'C' ? LW_JOINT_CYLINDRICAL
                                                             : LW_JOINT_REVOLUTE;
                bool here = strpbrk(kinds[kind], "SC")
                                ? type == LW_JOINT_SPHERICAL || type == LW_JOINT_CYLINDRICAL
                                : k == cut;
                sheet_joint(spec, &s, &random, k, type, k - 1, k == 3 ? -1 : k,
                            random_between(&random, 0, 1) + (k == 1 || k == 2),
                            random_between(&random, 0, 1) + k / 2, random_between(&random, 0, 3), here);
            }
            bench b;
            char name[64];
            snprintf(name, sizeof name, "ring %s, seed %d", kinds[kind], seed);
            open_bench(&b, compile_or_fail(spec), 0, NULL, name);
            examined += examine_all(&b, &random, true);
            close_bench(&b);
        }
    assert_true(examined > 400); /* most choices are well conditioned */
}

/* A crank, and then dyads between bodies that are there already. */
static void grown_linkages(void **state) {
    (void)state;
    int examined = 0, closed = 0;
    for (int seed = 0; seed < 120; seed++) {
        lw_random random = random_seed(5000 + (unsigned)seed);
        sheet s = random_sheet(&random);
        lw_spec *spec = lw_spec_create("grown");
        int bodies = 1, joints = 1, dyads = 1 + random_below(&random, 5);
        add_link(spec, 0);
        sheet_joint(spec, &s, &random, 0, LW_JOINT_REVOLUTE, -1, 0, 0, 0, 0, false);
        for (int d = 0; d < dyads; d++) {
            /* between two different bodies that are not both ground */
            int ends[2];
            do {
                for (int k = 0; k < 2; k++) ends[k] = random_below(&random, bodies + 1) - 1;
            } while (ends[0] == ends[1]);
            int slides = 0;
            add_link(spec, bodies);
            add_link(spec, bodies + 1);
            const int chain[4] = {ends[0], bodies, bodies + 1, ends[1]};
            for (int k = 0; k < 3; k++) {
                lw_joint_type type =
                    random_below(&random, 4) == 0 && slides < 2 ? LW_JOINT_PRISMATIC : LW_JOINT_REVOLUTE;
                slides += is_slide(type);
                sheet_joint(spec, &s, &random, joints++, type, chain[k], chain[k + 1],
                            random_between(&random, -2, 2), random_between(&random, -2, 2),
                            random_between(&random, 0, 3), k == 2);
            }
            bodies += 2;
        }
        bench b;
        char name[64];
        snprintf(name, sizeof name, "grown linkage, seed %d", seed);
        open_bench(&b, compile_or_fail(spec), 0, NULL, name);
        bool independent[MOST] = {false};
        independent[lw_model_joint_info(b.model, 0).v] = true;
        int newton = examine(&b, independent, &random);
        if (newton > 0) fail_set(&b, independent, "left to Newton", newton, NULL);
        closed += newton == 0;
        examined += examine_all(&b, &random, false);
        close_bench(&b);
    }
    assert_true(closed > 60 && examined > 250);
}

/* --- Blajer's four-bar linkage ------------------------------------------------------------------------------ */

/* O1 = (0, 0), O4 = (l0, 0); angles count from y towards x, as (44) shows. */
static lw_spec *blajer(const double l[4]) {
    lw_spec *spec = lw_spec_create("four-bar");
    static const char *const bodies[5] = {"ground", "one", "two", "three", "ground"};
    static const char *const joints[4] = {"O1", "O2", "O3", "O4"};
    for (int k = 1; k < 4; k++) add_plain_body(spec, bodies[k]);
    for (int k = 0; k < 4; k++) {
        lw_joint_spec joint = {.name = joints[k],
                               .type = LW_JOINT_REVOLUTE,
                               .bodies = {bodies[k], bodies[k + 1]},
                               .frame = LW_GEOMETRY_BODY,
                               .cut = k == 3};
        for (int side = 0; side < 2; side++) {
            lw_joint_geometry *g = &joint.geometry[side];
            g->axis_count = 2;
            g->axes[0][2] = -1;
            g->axes[1][0] = 1;
        }
        if (k > 0) joint.geometry[0].point[1] = l[k];
        if (k == 3) joint.geometry[1].point[0] = l[0];
        add_joint(spec, joint);
    }
    return spec;
}

static void blajer_formulas(void **state) {
    (void)state;
    const double l[4] = {1.1, 0.4, 1.0, 0.9}; /* alpha_1 turns fully: 1.1 + 0.4 < 1.0 + 0.9 */
    for (int branch = -1; branch <= 1; branch += 2) {
        bench b;
        lw_model *model = compile_or_fail(blajer(l));
        double q[3], turns = 0;
        for (int k = 0; k <= 720; k++) {
            double a1 = k * LW_PI / 180, s1 = sin(a1), c1 = cos(a1);
            double square = l[0] * l[0] + l[1] * l[1] - 2 * l[0] * l[1] * s1;
            double a3 = branch * acos((square - l[2] * l[2] - l[3] * l[3]) / (2 * l[2] * l[3])); /* (40) */
            double sine = (l[0] * l[2] * c1 + l[0] * l[3] * cos(a1 + a3) + l[1] * l[3] * sin(a3)) / square,
                   cosine =
                       (l[0] * l[2] * s1 + l[0] * l[3] * sin(a1 + a3) - l[1] * l[3] * cos(a3) - l[1] * l[2]) /
                       square;
            double a2 = atan2(sine, cosine); /* (41) */
            bool independent[3] = {true, false, false};
            lw_error error;
            if (k == 0) {
                const double start[3] = {a1, a2, a3};
                open_bench(&b, model, 0, start, "Blajer's four-bar");
                assert_true(residual(&b, start) < 1e-14);
                memcpy(q, start, sizeof q);
                assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
                assert_int_equal(b.closing->unknown_count, 0);
                lw_closing_take_branch(b.closing, 0, q);
            }
            q[0] = a1;
            assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_OK);
            assert_true(residual(&b, q) < 1e-14);
            turns = round((q[1] - a2) / (2 * LW_PI));
            assert_true(fabs(q[1] - 2 * LW_PI * turns - a2) < 1e-14 * (8 + fabs(q[1])));
            assert_true(fabs(q[2] - a3) < 1e-14);
        }
        lw_random random = random_seed(1);
        memcpy(b.q, q, sizeof q);
        assert_int_equal(examine_all(&b, &random, true), 3); /* alpha_2 and alpha_3 as well */
        close_bench(&b);
    }
}

/* --- problems/ ---------------------------------------------------------------------------------------------- */

/* The linkages that come with the program: every choice of one coordinate, and what is in closed form. */
static void single_inputs(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool closed;
        int examined;
    } list[] = {{"four_bar", true, 3},      {"slider_crank", true, 2},
                {"parallelogram", true, 3}, {"andrews_squeezer", true, 2},
                {"bennett", false, 3},      {"bricard", false, 5},
                {"sarrus", false, 5},       {"spatial_slider_crank", false, 4}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        bench b;
        lw_random random = random_seed(k);
        open_bench(&b, read_problem(list[k].name), 0, NULL, list[k].name);
        assert_int_equal(examine_all(&b, &random, list[k].closed), list[k].examined);
        close_bench(&b);
    }
}

/* Andrews' squeezer from each of its seven coordinates, all around. */
static void squeezer(void **state) {
    (void)state;
    bench b;
    lw_random random = random_seed(8);
    lw_error error;
    bool crank[7] = {false};
    int examined[7] = {0};
    open_bench(&b, read_problem("andrews_squeezer"), 0, NULL, "andrews_squeezer");
    lw_joint_info beta = lw_model_joint_info(b.model, lw_model_joint(b.model, "beta"));
    crank[beta.v] = true;
    for (int k = 0; k < 24; k++) {
        assert_int_equal(lw_closing_plan(b.closing, crank, &error), LW_OK);
        lw_closing_take_branch(b.closing, 0, b.q);
        b.q[beta.q] += LW_PI / 12;
        assert_int_equal(lw_closing_positions(b.closing, 0, b.q, &error), LW_OK);
        assert_true(residual(&b, b.q) < 1e-16); /* its links are 7 to 40 mm */
        for (int i = 0; i < 7; i++) {
            bool independent[7] = {false};
            independent[i] = true;
            assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
            assert_int_equal(b.closing->unknown_count, 0);
            examined[i] += examine(&b, independent, &random) == 0;
        }
    }
    /* the crank is short, so from the others it is mostly badly conditioned, and examine() leaves it alone */
    int total = 0;
    for (int i = 0; i < 7; i++) total += examined[i];
    assert_true(examined[beta.v] == 24 && total > 100);
    close_bench(&b);
}

/* Any two coordinates of the five-bar linkage with its third leg; windows from each coordinate. */
static void more_inputs(void **state) {
    (void)state;
    bench b;
    lw_random random = random_seed(9);
    int examined = 0;
    open_bench(&b, read_problem("five_bar_redundant"), 0, NULL, "five_bar_redundant");
    for (int i = 0; i < 6; i++)
        for (int k = i + 1; k < 6; k++) {
            bool independent[6] = {false};
            independent[i] = independent[k] = true;
            int newton = examine(&b, independent, &random);
            if (newton > 0) fail_set(&b, independent, "left to Newton", newton, NULL);
            examined += newton == 0;
        }
    assert_true(examined >= 10);
    close_bench(&b);
    open_bench(&b, read_problem("n_four_bar"), 0, NULL, "n_four_bar");
    for (int i = 0; i < b.nv; i += 9) {
        bool independent[MOST] = {false};
        independent[i] = true;
        if (lw_closing_plan(b.closing, independent, NULL) != LW_OK || b.closing->unknown_count > 0)
            fail_set(&b, independent, "left to Newton", 0, NULL);
        assert_int_equal(b.closing->step_count - b.closing->first_step, 40);
        lw_closing_take_branch(b.closing, 0, b.q);
        double q[MOST];
        memcpy(q, b.q, sizeof q);
        q[i] += i % 3 ? 0.3 : -0.3;
        assert_int_equal(lw_closing_positions(b.closing, 0, q, NULL), LW_OK);
        assert_true(residual(&b, q) < 1e-12); /* forty loops in a row, each from the one before */
    }
    close_bench(&b);
}

/* --- branches --------------------------------------------------------------------------------------------------- */

/* Steps of half a radian from the last position alone end where steps of a hundredth end. */
static void branch_over_turns(void **state) {
    (void)state;
    bench b;
    double fine[3], coarse[3];
    lw_error error;
    bool independent[3] = {true, false, false};
    open_bench(&b, read_problem("four_bar"), 0, NULL, "four_bar");
    assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
    lw_closing_take_branch(b.closing, 0, b.q);
    memcpy(fine, b.q, sizeof fine);
    memcpy(coarse, b.q, sizeof coarse);
    int crank = lw_model_joint_info(b.model, lw_model_joint(b.model, "A")).q,
        rocker = lw_model_joint_info(b.model, lw_model_joint(b.model, "D")).q;
    for (int k = 0; k < 50; k++) {
        for (int i = 0; i < 50; i++) {
            fine[crank] = b.q[crank] + 0.5 * k + 0.01 * (i + 1);
            assert_int_equal(lw_closing_positions(b.closing, 0, fine, &error), LW_OK);
            assert_true(residual(&b, fine) < 1e-13);
        }
        coarse[crank] = fine[crank];
        assert_int_equal(lw_closing_positions(b.closing, 0, coarse, &error), LW_OK);
        assert_true(fabs(fine[rocker] - coarse[rocker]) < 1e-13);
    }
    close_bench(&b);
}

/* Through its change points with predicted guesses the parallelogram stays one. */
static void change_points(void **state) {
    (void)state;
    bench b;
    lw_error error;
    open_bench(&b, read_problem("parallelogram"), 0, NULL, "parallelogram");
    for (int which = 0; which < 3; which++) {
        bool independent[3] = {which == 0, which == 1, which == 2};
        double q[3], v[3], dt = 0.0237;
        memcpy(q, b.q, sizeof q);
        assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
        lw_closing_take_branch(b.closing, 0, q);
        for (int k = 0; k < 600; k++) { /* more than two turns */
            v[which] = 1;
            assert_true(complete_speeds(&b, q, independent, v));
            for (int i = 0; i < 3; i++) q[i] += dt * v[i];
            assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_OK);
            assert_true(residual(&b, q) < 1e-13);
            lw_joint_info left = lw_model_joint_info(b.model, lw_model_joint(b.model, "A")),
                          right = lw_model_joint_info(b.model, lw_model_joint(b.model, "D"));
            assert_true(fabs(q[left.q] - q[right.q]) <
                        1e-7); /* beside a change point half the digits are lost */
        }
    }
    close_bench(&b);
}

/* alpha_3 of Blajer's linkage comes to its end where alpha_1 = pi/2: exact up to there, and told beyond. */
static void dead_point(void **state) {
    (void)state;
    const double l[4] = {1.1, 0.4, 1.0, 0.9};
    const double limit =
        acos(((l[0] - l[1]) * (l[0] - l[1]) - l[2] * l[2] - l[3] * l[3]) / (2 * l[2] * l[3]));
    bench b;
    lw_error error = {0};
    bool independent[3] = {false, false, true};
    double q[3] = {0.5, 0, 0};
    lw_model *model = compile_or_fail(blajer(l));
    double square = l[0] * l[0] + l[1] * l[1] - 2 * l[0] * l[1] * sin(q[0]);
    q[2] = acos((square - l[2] * l[2] - l[3] * l[3]) / (2 * l[2] * l[3]));
    q[1] = atan2(l[0] * l[2] * cos(q[0]) + l[0] * l[3] * cos(q[0] + q[2]) + l[1] * l[3] * sin(q[2]),
                 l[0] * l[2] * sin(q[0]) + l[0] * l[3] * sin(q[0] + q[2]) - l[1] * l[3] * cos(q[2]) -
                     l[1] * l[2]);
    open_bench(&b, model, 0, q, "dead point");
    assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
    lw_closing_take_branch(b.closing, 0, q);
    for (double delta = 1e-1; delta > 1e-17; delta /= 10) {
        q[2] = limit - delta;
        delta = limit - q[2]; /* as it is stored */
        assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_OK);
        assert_true(residual(&b, q) < 1e-14);
        /* 1 - sin alpha_1 = l2 l3 (cos alpha_3 - cos limit) / (l0 l1), without a difference of like numbers */
        double less = 2 * l[2] * l[3] * sin(limit - delta / 2) * sin(delta / 2) / (l[0] * l[1]);
        double before = 2 * asin(sqrt(less / 2));
        /* rounding of lengths, over the slope of the length in alpha_1; at the very point its root */
        double rounding = fmin(1e-15 / fmax(before, 1e-30), 5e-8);
        assert_true(fabs(LW_PI / 2 - q[0] - before) < rounding + 2e-15);
        if (delta == 0) break;
    }
    q[2] = limit + 1e-15; /* rounding */
    assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_OK);
    double old[3];
    q[2] = limit + 1e-6;
    memcpy(old, q, sizeof q);
    assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_ERROR_SINGULAR);
    assert_memory_equal(q, old, sizeof q);
    assert_non_null(strstr(error.message, "loop \"O4\": dyad RRR"));
    assert_non_null(strstr(error.message, "\"O3\" at 2."));
    assert_non_null(strstr(error.message, "are missing"));
    assert_non_null(strstr(error.remedy, "choose another independent coordinate"));
    close_bench(&b);
}

static void wrong_sets(void **state) {
    (void)state;
    bench b;
    lw_error error = {0};
    double q[MOST];
    open_bench(&b, read_problem("four_bar"), 0, NULL, "four_bar");
    bool both[3] = {true, true, false}, none[3] = {false, false, false};
    memcpy(q, b.q, sizeof q);
    assert_int_equal(lw_closing_plan(b.closing, both, &error), LW_OK); /* too many: only numbers tell */
    lw_closing_take_branch(b.closing, 0, q);
    assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_OK);
    q[0] += 0.1;
    assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_ERROR_SINGULAR);
    assert_int_equal(lw_closing_plan(b.closing, none, &error), LW_OK); /* too few */
    memcpy(q, b.q, sizeof q);
    lw_closing_take_branch(b.closing, 0, q);
    q[0] += 0.1;
    assert_int_equal(lw_closing_positions(b.closing, 0, q, &error), LW_ERROR_SINGULAR);
    assert_non_null(strstr(error.message, "do not determine the others"));
    close_bench(&b);
    open_bench(&b, read_problem("pendulum"), 0, NULL, "pendulum");
    bool never[MOST] = {false}, always[MOST];
    memset(always, 1, sizeof always);
    assert_int_equal(lw_closing_plan(b.closing, never, &error), LW_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "in no loop"));
    assert_int_equal(lw_closing_plan(b.closing, always, &error), LW_OK);
    assert_int_equal(b.closing->step_count - b.closing->first_step, 0);
    assert_int_equal(lw_closing_positions(b.closing, 0, b.q, &error), LW_OK);
    close_bench(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blajer_formulas),   cmocka_unit_test(planar_rings),
        cmocka_unit_test(grown_linkages),    cmocka_unit_test(single_inputs),
        cmocka_unit_test(squeezer),          cmocka_unit_test(more_inputs),
        cmocka_unit_test(branch_over_turns), cmocka_unit_test(change_points),
        cmocka_unit_test(dead_point),        cmocka_unit_test(wrong_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
