/* test_closing_spatial.c - closing conditions of spatial linkages, and of everything else.
 *
 *   rings        with balls and universal joints, rods, spins: closed form from both ends
 *   legs         of a Stewart platform
 *   newton       Bennett's linkage, which has no closed form here, through two turns
 *   others       couplings, distances, planar joints, prescribed motion, a flying base
 *   random       the random mechanisms of the conformance tests, random sets
 */
#include "closing_support.h"
#include "random_loops.h"

/* --- spatial linkages ---------------------------------------------------------------------------------------- */

typedef struct place {
    lw_joint_type type;
    double point[3], axis[3];
    bool cut;
} place;

static lw_spec *spatial_ring(const place *places, int count) {
    lw_spec *spec = lw_spec_create("spatial ring");
    for (int k = 0; k + 1 < count; k++) add_link(spec, k);
    for (int k = 0; k < count; k++) {
        char name[16], first[16], second[16];
        names_of(k, NULL, name);
        names_of(k - 1, first, NULL);
        names_of(k + 1 == count ? -1 : k, second, NULL);
        lw_joint_spec joint = {
            .name = name, .type = places[k].type, .bodies = {first, second}, .cut = places[k].cut};
        lw_v3_copy(places[k].point, joint.geometry[0].point);
        lw_v3_copy(places[k].axis, joint.geometry[0].axes[0]);
        joint.geometry[0].axis_count = places[k].type == LW_JOINT_SPHERICAL ? 0 : 1;
        if (places[k].type == LW_JOINT_UNIVERSAL) {
            double unit[3];
            for (int i = 0; i < 3; i++) unit[i] = places[k].axis[i] / lw_v3_norm(places[k].axis);
            lw_v3_perpendicular(unit, joint.geometry[0].axes[1]);
            joint.geometry[0].axis_count = 2;
        }
        add_joint(spec, joint);
    }
    return spec;
}

static void spatial_rings(void **state) {
    (void)state;
    static const char *const kinds[] = {"RSSR", "PSSR", "RSSP", "RSUR", "RUSR", "PSUR", "RUSP", "PUSP"};
    int examined = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int seed = 0; seed < 16; seed++) {
            lw_random random = random_seed(9000 + 100 * kind + (unsigned)seed);
            place places[4];
            int cut = seed % 4;
            for (int k = 0; k < 4; k++) {
                char c = kinds[kind][k];
                places[k] = (place){.type = c == 'R'   ? LW_JOINT_REVOLUTE
                                            : c == 'P' ? LW_JOINT_PRISMATIC
                                            : c == 'S' ? LW_JOINT_SPHERICAL
                                                       : LW_JOINT_UNIVERSAL,
                                    .cut = k == cut};
                random_direction(&random, places[k].axis);
                for (int i = 0; i < 3; i++)
                    places[k].point[i] =
                        random_between(&random, 0, 1) + (i == 0) * (k > 1) + (i == 1) * (k % 3 > 0);
            }
            bench b;
            char name[64];
            snprintf(name, sizeof name, "ring %s cut at %d, seed %d", kinds[kind], cut, seed);
            open_bench(&b, compile_or_fail(spatial_ring(places, 4)), 0, NULL, name);
            bool two_balls = strstr(kinds[kind], "SS") != NULL;
            for (int end = 0; end < 4;
                 end += 3) { /* the first or the last joint, and a spin if there is one */
                lw_joint_info info = lw_model_joint_info(b.model, end);
                for (int ball = 1; ball < (two_balls ? 3 : 2); ball++)
                    for (int component = 0; component < (two_balls ? 3 : 1); component++) {
                        lw_joint_info other = lw_model_joint_info(b.model, ball);
                        bool independent[MOST] = {false};
                        if (info.cut || (two_balls && other.cut)) continue;
                        independent[info.v] = true;
                        if (two_balls) independent[other.v + component] = true;
                        int newton = examine(&b, independent, &random);
                        if (newton > 0) fail_set(&b, independent, "left to Newton", newton, NULL);
                        examined += newton == 0;
                    }
            }
            close_bench(&b);
        }
    assert_true(examined > 150);
}

/* The platform's pose given by one leg: the five others in closed form. */
static void platform_legs(void **state) {
    (void)state;
    bench b;
    lw_random random = random_seed(77);
    open_bench(&b, read_problem("stewart_platform"), 0, NULL, "Stewart platform");
    bool independent[MOST] = {false};
    for (int leg = 1; leg <= 6; leg++) { /* the one whose ball is in the tree */
        char name[24];
        snprintf(name, sizeof name, "ball%d", leg);
        lw_joint_info ball = lw_model_joint_info(b.model, lw_model_joint(b.model, name));
        if (ball.cut) continue;
        for (int k = 0; k < 3; k++) independent[ball.v + k] = true;
        snprintf(name, sizeof name, "foot%d", leg);
        lw_joint_info foot = lw_model_joint_info(b.model, lw_model_joint(b.model, name));
        independent[foot.v] = independent[foot.v + 1] = true;
        snprintf(name, sizeof name, "slide%d", leg);
        independent[lw_model_joint_info(b.model, lw_model_joint(b.model, name)).v] = true;
    }
    assert_int_equal(examine(&b, independent, &random), 0);
    assert_int_equal(b.closing->step_count - b.closing->first_step,
                     10); /* for each leg a distance, and the angles of its foot */
    memset(independent, 0, sizeof independent);
    for (int leg = 1; leg <= 6; leg++) {
        char name[24];
        snprintf(name, sizeof name, "slide%d", leg);
        independent[lw_model_joint_info(b.model, lw_model_joint(b.model, name)).v] = true;
    }
    assert_int_equal(examine(&b, independent, &random), 15); /* forward kinematics has forty solutions */
    close_bench(&b);
}

/* Newton's method follows Bennett's linkage through two turns, from the last position alone, and comes back. */
static void newton_turns(void **state) {
    (void)state;
    bench b;
    lw_error error;
    bool independent[3] = {true, false, false};
    double q[3];
    open_bench(&b, read_problem("bennett"), 0, NULL, "bennett");
    assert_int_equal(lw_closing_plan(b.closing, independent, &error), LW_OK);
    assert_int_equal(b.closing->unknown_count, 2);
    lw_closing_take_branch(b.closing, 0, b.q);
    memcpy(q, b.q, sizeof q);
    for (int k = 1; k <= 144; k++) {
        q[0] = b.q[0] + k * LW_PI / 36;
        if (lw_closing_positions(b.closing, 0, q, &error) != LW_OK)
            fail_set(&b, independent, "positions", q[0], &error);
        assert_true(residual(&b, q) < 1e-13);
    }
    for (int k = 1; k < 3; k++) { /* whole turns */
        double turns = (q[k] - b.q[k]) / (2 * LW_PI);
        assert_true(fabs(turns - round(turns)) < 1e-12);
    }
    /* half a turn in one step is too far: it says so, or is where small steps lead; never elsewhere */
    double far[3], near[3];
    memcpy(far, b.q, sizeof far);
    memcpy(near, b.q, sizeof near);
    for (int k = 1; k <= 36; k++) {
        near[0] = b.q[0] + k * LW_PI / 36;
        assert_int_equal(lw_closing_positions(b.closing, 0, near, &error), LW_OK);
    }
    far[0] = near[0];
    lw_status status = lw_closing_positions(b.closing, 0, far, &error);
    assert_true(status == LW_ERROR_SINGULAR || difference(far, near, 3) < 1e-10);
    close_bench(&b);
}

/* --- everything else ------------------------------------------------------------------------------------------ */

static void other_linkages(void **state) {
    (void)state;
    static const char bodies[] = "linkwork: 1\nname: other\nbodies:\n"
                                 "  a: {mass: 1, inertia: [1, 1, 1]}\n  b: {mass: 1, inertia: [1, 1, 1]}\n"
                                 "  c: {mass: 1, inertia: [1, 1, 1]}\n  d: {mass: 1, inertia: [1, 1, 1]}\n";
    static const struct {
        const char *name, *text, *given; /* given: independent in every set */
        bool closed;
        int examined;
    } list[] = {
        {"geared five-bar",
         "joints:\n"
         "  A: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
         "  B: {type: revolute, between: [a, b], point: [-0.5, 1, 0], axis: [0, 0, 1]}\n"
         "  C: {type: revolute, between: [b, c], point: [0.7, 2, 0], axis: [0, 0, 1], cut: true}\n"
         "  D: {type: revolute, between: [d, c], point: [1.8, 1.1, 0], axis: [0, 0, 1]}\n"
         "  E: {type: revolute, between: [ground, d], point: [1.5, 0, 0], axis: [0, 0, 1]}\n"
         "constraints:\n  gear: {type: coupling, terms: [{joint: A, factor: 2}, {joint: E, factor: 1}]}\n",
         NULL, false, 4},
        {"rod without mass",
         "joints:\n"
         "  A: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0.1, 1]}\n"
         "  B: {type: revolute, between: [ground, b], point: [2, 0, 0.3], axis: [0.2, 0, 1]}\n"
         "  C: {type: weld, between: [a, c], point: [0, 1, 0]}\n  D: {type: weld, between: [b, d], point: "
         "[2, 1, 0]}\n"
         "constraints:\n  rod: {type: distance, between: [a, b], points: [[0.1, 1, 0], [2.4, 1.3, 0.5]]}\n",
         NULL, true, 2},
        {"planar joint",
         "joints:\n"
         "  A: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1]}\n"
         "  B: {type: revolute, between: [a, b], point: [0.4, 0.8, 0], axis: [0, 0, 1], cut: true}\n"
         "  C: {type: planar, between: [ground, b], point: [1, 1, 0], normal: [0, 0, 1]}\n"
         "  D: {type: weld, between: [b, c], point: [0, 1, 0]}\n  E: {type: weld, between: [c, d], point: "
         "[2, 1, 0]}\n",
         "C2", true, 3},
        {"flying slider-crank",
         "joints:\n"
         "  F: {type: free, between: [ground, a]}\n"
         "  A: {type: revolute, between: [a, b], point: [0, 0, 0], axis: [1, 0, 1]}\n"
         "  B: {type: revolute, between: [b, c], point: [0.4, 0.8, 0], axis: [1, 0, 1]}\n"
         "  C: {type: revolute, between: [d, c], point: [1, 0.1, 0.2], axis: [1, 0, 1], cut: true}\n"
         "  D: {type: prismatic, between: [a, d], axis: [1, 0.5, -1]}\n",
         "F", true, 3},
        {"driven six-bar",
         "joints:\n"
         "  A: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], motion: 0.2*sin(t) "
         "+ t^2/4}\n"
         "  B: {type: revolute, between: [a, b], point: [0.4, 0.8, 0], axis: [0, 0, 1]}\n"
         "  C: {type: revolute, between: [b, c], point: [1.2, 1.1, 0.2], axis: [0, 0, 1], cut: true}\n"
         "  D: {type: revolute, between: [ground, c], point: [1.1, 0, 0.2], axis: [0, 0, 1]}\n"
         "  E: {type: revolute, between: [c, d], point: [2.2, 0.4, 0.2], axis: [0, 0, 1]}\n",
         "E", true, 1},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        char text[4000];
        bench b;
        lw_random random = random_seed(40 + k);
        snprintf(text, sizeof text, "%s%s", bodies, list[k].text);
        open_bench(&b, compile_or_fail(read_text_spec(text)), 0, NULL, list[k].name);
        bool given[MOST] = {false};
        if (list[k].given) {
            char joint[2] = {list[k].given[0], 0};
            lw_joint_info info = lw_model_joint_info(b.model, lw_model_joint(b.model, joint));
            for (int i = 0; i < info.v_count; i++)
                given[info.v + i] = list[k].given[1] ? i == list[k].given[1] - '0' : true;
        }
        int examined = 0;
        bool alone = strcmp(list[k].given ? list[k].given : "", "E") == 0;
        for (int i = 0; i < b.nv; i++) {
            bool independent[MOST];
            memcpy(independent, given, sizeof given);
            if (alone ? i > 0 : given[i]) continue;
            if (!alone) independent[i] = true;
            int newton = examine(&b, independent, &random);
            if (list[k].closed && newton > 0) fail_set(&b, independent, "left to Newton", newton, NULL);
            examined += newton >= 0;
        }
        if (examined != list[k].examined) print_error("%s: %d examined\n", list[k].name, examined);
        assert_int_equal(examined, list[k].examined);
        close_bench(&b);
    }
}

/* Random mechanisms of all kinds, random sets: dependent are the columns that pivoting takes first, with random weights. */
static void random_mechanisms(void **state) {
    (void)state;
    int examined = 0, closed = 0;
    for (int seed = 0; seed < 300; seed++) {
        random_loops loops;
        double q[MOST], v[MOST], weight[MOST];
        int order[MOST], count;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        lw_random random = random_seed(31 * (unsigned)seed);
        random_loops_state(&loops, model, true, q, v);
        bench b;
        char name[96];
        snprintf(name, sizeof name, "random loops, seed %d (%s, %s)", seed, loop_kind_name(loops.kind),
                 loop_base_name(loops.base));
        open_bench(&b, model, loops.t, q, name);
        for (int k = 0; k < 4; k++) {
            bool independent[MOST] = {false};
            residual(&b, b.q);
            lw_loop_constraint_matrix(b.model, b.data, b.rows, b.G);
            for (int i = 0; i < b.nv; i++) weight[i] = exp(random_between(&random, -3, 3));
            int rank = rank_of(&b, NULL, weight, NULL, &count, order);
            for (int i = rank; i < count; i++) independent[order[i]] = true;
            int newton = examine(&b, independent, &random);
            examined += newton >= 0;
            closed += newton == 0;
        }
        close_bench(&b);
    }
    print_message("random mechanisms: %d sets, %d in closed form\n", examined, closed);
    assert_true(examined > 200 && closed > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spatial_rings),  cmocka_unit_test(platform_legs),     cmocka_unit_test(newton_turns),
        cmocka_unit_test(other_linkages), cmocka_unit_test(random_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
