/* test_neglect_random.c - random mechanisms with bodies of very different mass and inertia: what --neglect-mass leaves out hardly
 * matters, or the estimate says how much; what is small does not depend on units, nor on whether a mass is zero or nearly so.
 */
#include "build.h"

#include <linkwork/neglect.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- random trees ---------------------------------------------------------------------------------- */

static uint64_t state_of_chance;

static double chance(double low, double high) {
    uint64_t z = (state_of_chance += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)(z >> 11) / 9007199254740992.0;
}

static void anywhere(double size, double x[3]) {
    for (int k = 0; k < 3; k++) x[k] = size * chance(-1, 1);
}

enum { BODIES = 5 };
static const char *const names[BODIES + 1] = {"ground", "a", "b", "c", "d", "e"};
static const char *const joints[BODIES] = {"A", "B", "C", "D", "E"};

/* A tree whose joints all have springs and dampers. Masses are over six decades, and so are moments of inertia, independently of the
 * masses for every second body. Lengths and masses come in other units by the factors. */
static lw_spec *random_tree(uint64_t seed, double length, double mass) {
    state_of_chance = seed;
    lw_spec *spec = lw_spec_create("random");
    const double gravity[3] = {0, 0, -9.81 * length};
    lw_spec_set_gravity(spec, gravity);
    for (int i = 0; i < BODIES; i++) {
        lw_body_spec body = {.name = names[i + 1]};
        bool light = chance(0, 1) < 0.5;
        body.mass = mass * (light ? pow(10, chance(-6, -1)) : chance(0.5, 2));
        anywhere(length, body.com);
        double moment = chance(0, 1) < 0.5 ? body.mass * chance(0.01, 0.1) : mass * pow(10, chance(-6, 0));
        for (int k = 0; k < 3; k++) body.inertia[k] = moment * chance(0.7, 1) * length * length;
        add_body(spec, body);
    }
    static const lw_joint_type types[] = {LW_JOINT_REVOLUTE, LW_JOINT_PRISMATIC, LW_JOINT_SPHERICAL};
    for (int i = 0; i < BODIES; i++) {
        double point[3], axis[3];
        lw_joint_type type = types[(int)chance(0, 2.999)];
        int parent = i == 0 ? 0 : (int)chance(0.3, i + 0.999);
        double rotation = type == LW_JOINT_PRISMATIC ? 1 : length * length;
        double stiffness = mass * rotation * chance(50, 500), damping = mass * rotation * chance(5, 20);
        anywhere(length, point);
        anywhere(1, axis);
        add_plain_joint(spec, joints[i], type, names[parent], names[i + 1], point,
                        type == LW_JOINT_SPHERICAL ? NULL : axis);
        if (type != LW_JOINT_SPHERICAL) {
            add_force(spec, (lw_force_spec){.name = joints[i],
                                            .type = LW_FORCE_TORSION,
                                            .joint = joints[i],
                                            .stiffness = stiffness,
                                            .damping = damping});
            continue;
        }
        lw_force_spec bushing = {
            .name = joints[i], .type = LW_FORCE_BUSHING, .bodies = {names[parent], names[i + 1]}};
        memcpy(bushing.points[0], point, sizeof point);
        for (int k = 3; k < 6; k++)
            bushing.bushing_stiffness[k] = stiffness, bushing.bushing_damping[k] = damping;
        add_force(spec, bushing);
    }
    return spec;
}

/* --- runs --------------------------------------------------------------------------------------------- */

enum { ROWS = 51, SIZE = 8 * BODIES };
typedef struct record {
    int nq, rows;
    double q[ROWS * SIZE];
} record;

static bool keep(const lw_sample *sample, void *context) {
    record *r = context;
    if (r->rows < ROWS) memcpy(r->q + (size_t)r->rows++ * SIZE, sample->q, (size_t)r->nq * sizeof(double));
    return true;
}

static const lw_run_options usual = {
    .method = "massless", .integrator = "bdf", .end = 0.5, .tolerance = 1e-8};

static void run(lw_spec *spec, const char *method, record *r) {
    lw_model *model;
    lw_error error = {0};
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_run_options options = usual;
    options.method = method;
    options.tolerance = 1e-10;
    options.output = 0.01;
    options.observe = keep;
    options.context = r;
    *r = (record){.nq = lw_model_q_size(model)};
    lw_status status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    if (status != LW_OK) fail_msg("%s: %s", method, error.message);
    lw_model_destroy(model);
}

/* --- tests --------------------------------------------------------------------------------------------- */

/* The error of the neglect is of the order of the ratio, or the estimate tells it, or says that it cannot. */
static void nothing_that_matters_is_lost(void **state) {
    (void)state;
    static record with, without;
    int neglected = 0, kept = 0, large = 0, distrusted = 0;
    double worst = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const double ratio = seed % 2 ? 1e-3 : 1e-2;
        lw_spec *spec = random_tree(seed, 1, 1);
        lw_neglect *neglect;
        lw_neglect_error estimate;
        lw_error error = {0};
        lw_status status = lw_neglect_create(spec, ratio, &neglect, &error);
        if (status != LW_OK) fail_msg("seed %d: %s", (int)seed, error.message);
        for (int k = 0; k < lw_neglect_count(neglect); k++) {
            const lw_neglected *n = lw_neglect_at(neglect, k);
            kept += n->mass_kept == LW_KEPT_PARTICIPATES || n->inertia_kept == LW_KEPT_PARTICIPATES;
        }
        if (lw_neglect_largest(neglect) > 0) {
            neglected++;
            run(spec, "tree", &with);
            lw_neglect_scale(neglect, 0);
            run(spec, "massless", &without);
            lw_neglect_scale(neglect, 1);
            status = lw_neglect_estimate(neglect, &usual, &estimate, &error);
            if (status != LW_OK) fail_msg("seed %d: %s", (int)seed, error.message);
            double truth = 0, motion = 0;
            for (int row = 0; row < with.rows; row++)
                for (int k = 0; k < with.nq; k++) {
                    double own = without.q[row * SIZE + k];
                    truth = fmax(truth, fabs(with.q[row * SIZE + k] - own));
                    motion = fmax(motion, fabs(own - without.q[k]));
                }
            bool small = truth <= 30 * ratio * motion; /* each body may be felt as 10 times the ratio */
            bool told = !estimate.trusted || truth <= 2 * estimate.largest + 1e-7; /* the runs' own errors */
            large += !small;
            distrusted += !estimate.trusted;
            worst = fmax(worst, truth / (ratio * motion));
            if (!small && !told)
                fail_msg("seed %d, ratio %g: error %.3g of a motion of %.3g, estimated %.3g", (int)seed,
                         ratio, truth, motion, estimate.largest);
        }
        lw_neglect_destroy(neglect);
        lw_spec_destroy(spec);
    }
    print_message(
        "%d of 60 neglect something, %d parts kept because they are felt; error up to %.3g times the "
        "ratio, %d beyond 30 times and told; %d estimates not trusted\n",
        neglected, kept, worst, large, distrusted);
    assert_true(neglected > 30 && kept > 5);
}

static bool close_to(double a, double b, double relative) {
    return fabs(a - b) <= relative * fmax(fabs(a), fabs(b));
}

/* In millimetres and tonnes the same is small, and as small. */
static void units_do_not_matter(void **state) {
    (void)state;
    int compared = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_spec *spec[2] = {random_tree(seed, 1, 1), random_tree(seed, 1000, 1e-3)};
        lw_neglect *neglect[2];
        for (int k = 0; k < 2; k++)
            assert_int_equal(lw_neglect_create(spec[k], 3e-3, &neglect[k], NULL), LW_OK);
        assert_int_equal(lw_neglect_count(neglect[0]), lw_neglect_count(neglect[1]));
        for (int i = 0; i < lw_neglect_count(neglect[0]); i++, compared++) {
            const lw_neglected *a = lw_neglect_at(neglect[0], i), *b = lw_neglect_at(neglect[1], i);
            assert_string_equal(a->body, b->body);
            /* rounding of products of lengths and masses */
            assert_true(close_to(a->mass_ratio, b->mass_ratio, 1e-12));
            assert_true(close_to(a->inertia_ratio, b->inertia_ratio, 1e-10));
            assert_int_equal(a->mass_kept, b->mass_kept);
            assert_int_equal(a->inertia_kept, b->inertia_kept);
            /* differences of forces: 1e-6 of forces that may be large against their changes */
            assert_true(close_to(a->mass_participation, b->mass_participation, 1e-3));
            assert_true(close_to(a->inertia_participation, b->inertia_participation, 1e-3) ||
                        fmax(a->inertia_participation, b->inertia_participation) <
                            1e-25); /* a body that does not turn */
        }
        for (int k = 0; k < 2; k++) lw_neglect_destroy(neglect[k]), lw_spec_destroy(spec[k]);
    }
    print_message("%d bodies compared\n", compared);
    assert_true(compared > 60);
}

/* A drive line whose rotors are given by their moments of inertia, with masses from zero upwards. What is small of the moments does
 * not depend on these, and the rotors, the largest there are, stay. */
static void rotors_stay(void **state) {
    (void)state;
    const double masses[] = {0, 1e-300, 1e-9, 1e-3, 1, 100};
    const double ratios[] = {1e-4, 1e-3, 1e-2, 0.03};
    for (size_t m = 0; m < sizeof masses / sizeof *masses; m++)
        for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
            const double z[3] = {0, 0, 1}, origin[3] = {0};
            lw_spec *spec = lw_spec_create("drive line");
            add_body(spec, (lw_body_spec){.name = "housing", .mass = 10, .inertia = {0.1, 0.1, 0.1}});
            add_body(spec, (lw_body_spec){.name = "motor", .mass = masses[m], .inertia = {1, 1, 2}});
            add_body(spec, (lw_body_spec){.name = "knot", .inertia = {1e-3, 1e-3, 1e-3}});
            add_body(spec, (lw_body_spec){.name = "load", .mass = masses[m], .inertia = {2, 2, 3}});
            add_plain_joint(spec, "h", LW_JOINT_PRISMATIC, "ground", "housing", NULL, z);
            add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, "housing", "motor", origin, z);
            add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, "motor", "knot", origin, z);
            add_plain_joint(spec, "c", LW_JOINT_REVOLUTE, "knot", "load", origin, z);
            static const char *const sprung[] = {"h", "b", "c"};
            for (int k = 0; k < 3; k++)
                add_force(spec, (lw_force_spec){.name = sprung[k],
                                                .type = LW_FORCE_TORSION,
                                                .joint = sprung[k],
                                                .stiffness = 100,
                                                .damping = 1});
            lw_neglect *neglect;
            assert_int_equal(lw_neglect_create(spec, ratios[r], &neglect, NULL), LW_OK);
            int moments = 0;
            for (int k = 0; k < lw_neglect_count(neglect); k++) {
                const lw_neglected *n = lw_neglect_at(neglect, k);
                if (!(n->inertia > 0)) continue;
                assert_string_equal(n->body, "knot");
                assert_true(close_to(n->inertia_ratio, 1e-3 / 3, 1e-12) && !n->inertia_kept);
                moments++;
            }
            assert_int_equal(moments, ratios[r] > 1e-3 / 3);
            lw_neglect_destroy(neglect);
            lw_spec_destroy(spec);
        }
}

/* A light mass at the long end of a lever counts by the square of the arms, a rotor behind a gear by that of the gear's ratio:
 * both stay, though their numbers are small. */
static void levers_and_gears_count(void **state) {
    (void)state;
    const double y[3] = {0, 1, 0}, x[3] = {1, 0, 0}, origin[3] = {0};
    lw_spec *spec = lw_spec_create("lever and gear");
    add_body(spec, (lw_body_spec){.name = "block", .kind = LW_BODY_POINT, .mass = 10, .com = {0.01, 0, 0}});
    add_body(spec, (lw_body_spec){.name = "tip", .kind = LW_BODY_POINT, .mass = 1e-3, .com = {1, 0, 0}});
    add_body(spec, (lw_body_spec){.name = "rack", .kind = LW_BODY_POINT, .mass = 5});
    add_body(spec, (lw_body_spec){.name = "rotor", .mass = 1, .inertia = {1e-4, 2e-4, 1e-4}});
    add_body(spec, (lw_body_spec){.name = "drum", .mass = 1, .inertia = {1, 1, 1}});
    add_plain_joint(spec, "pivot", LW_JOINT_REVOLUTE, "ground", "block", origin, y);
    add_plain_joint(spec, "tip", LW_JOINT_WELD, "block", "tip", origin, NULL);
    add_plain_joint(spec, "rack", LW_JOINT_PRISMATIC, "ground", "rack", NULL, x);
    add_plain_joint(spec, "rotor", LW_JOINT_REVOLUTE, "rack", "rotor", origin, y);
    add_plain_joint(spec, "drum", LW_JOINT_REVOLUTE, "rack", "drum", origin, y);
    add_constraint(spec, (lw_constraint_spec){.name = "gear",
                                              .type = LW_CONSTRAINT_COUPLING,
                                              .terms = 2,
                                              .joints = {"rotor", "drum"},
                                              .factors = {1, -100}});
    static const char *const sprung[] = {"pivot", "rack", "drum"};
    for (int k = 0; k < 3; k++)
        add_force(spec, (lw_force_spec){.name = sprung[k],
                                        .type = LW_FORCE_TORSION,
                                        .joint = sprung[k],
                                        .stiffness = 100,
                                        .damping = 1});
    lw_neglect *neglect;
    lw_error error = {0};
    lw_status status = lw_neglect_create(spec, 1e-2, &neglect, &error);
    if (status != LW_OK) fail_msg("%s", error.message);
    assert_int_equal(lw_neglect_count(neglect), 2);
    const lw_neglected *tip = lw_neglect_at(neglect, 0), *rotor = lw_neglect_at(neglect, 1);
    assert_string_equal(tip->body, "tip");
    assert_int_equal(tip->mass_kept, LW_KEPT_PARTICIPATES);
    assert_true(close_to(tip->mass_participation, 1e-3 / (10 * 1e-4), 1e-9)); /* m L^2 / (M l^2) */
    assert_string_equal(rotor->body, "rotor");
    assert_int_equal(rotor->inertia_kept, LW_KEPT_PARTICIPATES);
    assert_true(close_to(rotor->inertia_participation, 2e-4 * 1e4 / 1, 1e-9));
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

/* Two oscillators: in the slow motion the light one goes half as far as the heavy one, so a quarter of its mass is felt. */
static void what_follows_is_felt(void **state) {
    (void)state;
    const double x[3] = {1, 0, 0};
    lw_spec *spec = lw_spec_create("two");
    add_body(spec, (lw_body_spec){.name = "light", .kind = LW_BODY_POINT, .mass = 1e-4});
    add_body(spec, (lw_body_spec){.name = "heavy", .kind = LW_BODY_POINT, .mass = 2});
    add_plain_joint(spec, "A", LW_JOINT_PRISMATIC, "ground", "light", NULL, x);
    add_plain_joint(spec, "B", LW_JOINT_PRISMATIC, "light", "heavy", NULL, x);
    for (int k = 0; k < 2; k++)
        add_force(spec, (lw_force_spec){.name = joints[k],
                                        .type = LW_FORCE_TORSION,
                                        .joint = joints[k],
                                        .stiffness = 1000,
                                        .damping = 3});
    lw_neglect *neglect;
    assert_int_equal(lw_neglect_create(spec, 1e-3, &neglect, NULL), LW_OK);
    assert_int_equal(lw_neglect_count(neglect), 1);
    assert_true(close_to(lw_neglect_at(neglect, 0)->mass_participation, 1e-4 / 4 / 2,
                         1e-6)); /* differences of forces */
    lw_neglect_destroy(neglect);
    lw_spec_destroy(spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_that_matters_is_lost),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(rotors_stay),
        cmocka_unit_test(levers_and_gears_count),
        cmocka_unit_test(what_follows_is_felt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
