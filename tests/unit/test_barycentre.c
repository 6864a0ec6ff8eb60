/* test_barycentre.c - augmented bodies: the vectors d_ik of Mufti (1983), K and the right-hand sides made of them.
 *
 *   vectors          against the barycentres of augmented bodies, from positions alone
 *   K                against the sums (30), (31)
 *   blocks           against the form for all joints, in which D is an operator
 *   incidence, path  C and T of the six bodies, (1) and (25), as the compiled model has them
 *   refusals         what slides without mass
 */
#include "random_model.h"
#include "build.h"
#include "formulations/mufti/augmented_bodies.h"
#include "formulations/formulation.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A few hundred roundings of sums of some ten terms of order 1 to 100, relative to the largest. */
static const double agreement = 1e-12;

enum { SEEDS = 60, MOST = 9, MAX_Q = 7 * MOST };

typedef struct flight {
    lw_model *model;
    lw_newton_euler *s;
    lw_augmented_bodies *blocks, *general;
    int n, seed;
    double t;
} flight;

static void name_body(int i, char name[16]) {
    if (i == 0)
        strcpy(name, "ground");
    else
        snprintf(name, 16, "body%d", i);
}

/* A random tree of ball, universal, pin and weld joints on a base: the first body is on a joint of type `base`, whose
 * translations may be prescribed. Two more joints close loops if asked for. */
static lw_spec *random_spec(lw_random *random, int n, lw_joint_type base, bool prescribed, bool balls,
                            bool loops) {
    static const lw_joint_type types[] = {LW_JOINT_SPHERICAL, LW_JOINT_UNIVERSAL, LW_JOINT_REVOLUTE,
                                          LW_JOINT_WELD};
    lw_spec *spec = lw_spec_create("tree");
    for (int i = 1; i <= n; i++) {
        char name[16];
        name_body(i, name);
        lw_body_spec body = {
            .name = name, .mass = random_between(random, 0.1, 3), .inertia = {0.3, 0.4, 0.5}};
        random_vector(random, 3, 1, body.com);
        add_body(spec, body);
    }
    for (int k = 1; k <= n + (loops ? 2 : 0); k++) {
        char name[16], first[16], second[16];
        snprintf(name, sizeof name, "joint%d", k);
        int child = k <= n ? k : n + 1 - (k - n);
        name_body(k <= n ? random_below(random, k) : random_below(random, child), first);
        if (k > 1 && k <= n && strcmp(first, "ground") == 0) name_body(k - 1, first); /* one tree */
        name_body(child, second);
        lw_joint_type type = k == 1  ? base
                             : k > n ? LW_JOINT_REVOLUTE
                                     : types[balls ? 0 : random_below(random, 4)];
        bool swap = k > 1 && random_below(random, 3) == 0;
        lw_joint_spec joint = {
            .name = name, .type = type, .bodies = {swap ? second : first, swap ? first : second}};
        joint.cut = k > n;
        random_vector(random, 3, 1, joint.geometry[0].point);
        if (type == LW_JOINT_REVOLUTE || type == LW_JOINT_UNIVERSAL || type == LW_JOINT_PRISMATIC)
            joint.geometry[0].axis_count = type == LW_JOINT_UNIVERSAL ? 2 : 1;
        lw_v3_set(joint.geometry[0].axes[0], 0.6, 0, 0.8);
        lw_v3_set(joint.geometry[0].axes[1], 0, 1, 0);
        if (k == 1 && prescribed)
            joint.motion[0] = "sin(3*t)", joint.motion[1] = "t^2", joint.motion[2] = "0.3*t";
        add_joint(spec, joint);
    }
    return spec;
}

static lw_augmented_bodies *at_state(lw_newton_euler *s, bool general) {
    lw_augmented_bodies *a = lw_augmented_create(s, general);
    lw_error error;
    assert_non_null(a);
    assert_int_equal(lw_augmented_at(a, &error), LW_OK);
    lw_augmented_right(a, s->u, s->rows->gamma);
    return a;
}

/* Closures are not assembled: their matrices and right-hand sides are functions of any state. */
static flight take_off(int seed, lw_joint_type base, bool prescribed, bool balls, bool loops) {
    lw_random random = random_seed((uint64_t)seed + 77);
    flight f = {.seed = seed, .t = random_between(&random, 0, 1)};
    double q[MAX_Q], v[MAX_Q];
    f.n = 3 + random_below(&random, MOST - 2);
    f.model = compile_or_fail(random_spec(&random, f.n, base, prescribed, balls, loops));
    f.s = lw_newton_euler_create(f.model, LW_HOLD_NONE);
    assert_non_null(f.s);
    random_state(&random, f.model, q, v);
    lw_newton_euler_at(f.s, f.t, q, v, NULL);
    f.blocks = at_state(f.s, false);
    f.general = at_state(f.s, true);
    assert_true(f.blocks->blockwise);
    assert_false(f.general->blockwise);
    return f;
}

static void land(flight *f) {
    lw_augmented_destroy(f->blocks);
    lw_augmented_destroy(f->general);
    lw_newton_euler_destroy(f->s);
    lw_model_destroy(f->model);
}

static const double *d_of(const lw_augmented_bodies *a, int i, int k) {
    return a->d + 3 * ((size_t)(i - 1) + (size_t)a->n * (size_t)(k - 1));
}

static void same(const flight *f, const double *expected, const double *found, int count, const char *what) {
    double difference = relative_difference(expected, found, count);
    if (!(difference <= agreement)) fail_msg("seed %d: %s differ by %g", f->seed, what, difference);
}

/* The joint on body i that leads to body k, as a world point; from parents alone. */
static const double *joint_towards(const flight *f, int i, int k) {
    int at = k, via = i;
    while (at > i) via = at, at = f->model->links[at].parent;
    if (at != i) via = i; /* not beyond i: through its own joint */
    return f->s->rows->joints[f->model->bodies[via].joint_index].at;
}

/* d_ii from the barycentre to the centre of mass, d_ik from there to the joint that leads to k; the barycentre is the
 * centre of mass i with every other body's mass at the joint that leads to it. */
static void vectors_start_at_barycentres(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        flight f = take_off(seed, LW_JOINT_FREE, false, seed % 2, false);
        const lw_body_state *bodies = f.s->rows->bodies;
        for (int i = 1; i <= f.n; i++) {
            double total = 0, centre[3] = {0, 0, 0}, sum[3] = {0, 0, 0}, expected[3];
            for (int k = 1; k <= f.n; k++) {
                double m = f.s->mass[k - 1];
                total += m;
                lw_v3_axpy(m, k == i ? bodies[i].r : joint_towards(&f, i, k), centre);
            }
            for (int c = 0; c < 3; c++) centre[c] /= total;
            for (int k = 1; k <= f.n; k++) {
                lw_v3_sub(k == i ? bodies[i].r : joint_towards(&f, i, k), centre, expected);
                same(&f, expected, d_of(f.blocks, i, k), 3, "vectors and barycentres");
                lw_v3_axpy(f.s->mass[k - 1], d_of(f.blocks, i, k), sum);
            }
            same(&f, (const double[3]){0, 0, 0}, sum, 3, "sum of m_k d_ik and zero");
        }
        land(&f);
    }
}

/* K = I - sum of m_k d~_ik d~_jk (30, 31, 35) for free, fixed and moving bases, and D x = sum of d_ik x x_k. */
static void blocks_are_sums_over_all_bodies(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_joint_type base = seed % 3 == 0 ? LW_JOINT_SPHERICAL : LW_JOINT_FREE;
        flight f = take_off(seed, base, seed % 3 == 1, false, false);
        static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
        int size = 3 * f.n;
        double *K = calloc((size_t)(size * size), sizeof *K), x[3 * MOST], found[3 * MOST],
               expected[3 * MOST];
        lw_random random = random_seed((uint64_t)seed);
        random_vector(&random, size, 1, x);
        for (int i = 1; i <= f.n; i++) {
            double *sum = expected + 3 * (i - 1);
            lw_v3_set(sum, 0, 0, 0);
            for (int k = 1; k <= f.n; k++) lw_v3_add_cross(d_of(f.blocks, i, k), x + 3 * (k - 1), sum);
            for (int j = 1; j <= f.n; j++)
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) {
                        double *entry = K + 3 * (i - 1) + r + size * (3 * (j - 1) + c);
                        if (i == j) *entry = f.s->inertia[6 * (i - 1) + symmetric[3 * r + c]];
                        for (int k = 1; k <= f.n; k++) { /* a~b~ = b a' - (a.b) 1 */
                            const double *a = d_of(f.blocks, i, k), *b = d_of(f.blocks, j, k);
                            *entry -= f.s->mass[k - 1] * (b[r] * a[c] - (r == c ? lw_v3_dot(a, b) : 0));
                        }
                    }
        }
        same(&f, K, f.blocks->K, size * size, "K and its sums");
        lw_augmented_shift(f.general, x, found);
        same(&f, expected, found, size, "D x and sums of d_ik x x_k");
        free(K);
        land(&f);
    }
}

/* Everything that methods take from augmented_bodies.c, with free, fixed and moving bases, trees and loops. */
static void blocks_agree_with_the_general_form(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_joint_type base = seed % 3 == 0 ? LW_JOINT_SPHERICAL : LW_JOINT_FREE;
        flight f = take_off(seed, base, seed % 3 == 1, false, seed % 2);
        const lw_augmented_bodies *a = f.general, *b = f.blocks;
        int size = 3 * f.n, stars = a->stars;
        assert_int_equal(stars, seed % 2 ? 10 : 0);
        same(&f, a->K, b->K, size * size, "K of both forms");
        same(&f, a->right, b->right, size, "right-hand sides of both forms");
        same(&f, a->N, b->N, size * stars, "N of both forms");
        same(&f, a->S, b->S, stars * stars, "S of both forms");
        same(&f, a->right_star, b->right_star, stars, "right-hand sides of the closures of both forms");
        land(&f);
    }
}

/* Baumgarte's terms and speeds that violate the joints change u3 beyond what balls do (remark 4). */
static void blocks_carry_what_balls_do_not_cause(void **state) {
    (void)state;
    for (int seed = 1; seed <= 10; seed++) {
        flight f = take_off(seed, LW_JOINT_FREE, false, false, false);
        lw_random random = random_seed((uint64_t)seed);
        lw_error error;
        for (int r = 0; r < f.s->rows->count; r++) f.s->rows->gamma[r] += random_between(&random, -1, 1);
        assert_int_equal(lw_augmented_at(f.blocks, &error), LW_OK);
        assert_int_equal(lw_augmented_at(f.general, &error), LW_OK);
        lw_augmented_right(f.blocks, f.blocks->s->u, f.blocks->s->rows->gamma);
        lw_augmented_right(f.general, f.general->s->u, f.general->s->rows->gamma);
        same(&f, f.general->right, f.blocks->right, 3 * f.n, "right-hand sides with other terms");
        land(&f);
    }
}

/* The six bodies of Fig. 3: (1), (25), and which d are equal. */
static void six_bodies_of_the_paper(void **state) {
    (void)state;
    static const int parents[6] = {0, 1, 1, 2, 2, 2};
    static const int C[6][5] = {{1, 1, 0, 0, 0},  {-1, 0, 1, 1, 1}, {0, -1, 0, 0, 0},
                                {0, 0, -1, 0, 0}, {0, 0, 0, -1, 0}, {0, 0, 0, 0, -1}};
    static const int T[6][6] = {{-1, -1, -1, -1, -1, -1}, {0, -1, 0, -1, -1, -1}, {0, 0, -1, 0, 0, 0},
                                {0, 0, 0, -1, 0, 0},      {0, 0, 0, 0, -1, 0},    {0, 0, 0, 0, 0, -1}};
    lw_spec *spec = lw_spec_create("six bodies");
    for (int i = 1; i <= 6; i++) {
        char name[16], parent[16], joint[16];
        const double point[3] = {0.3 * i, 0.1 * i * i, -0.2 * i};
        name_body(i, name), name_body(parents[i - 1], parent);
        snprintf(joint, sizeof joint, "joint%d", i);
        add_plain_body(spec, name);
        add_plain_joint(spec, joint, i == 1 ? LW_JOINT_FREE : LW_JOINT_SPHERICAL, parent, name, point, NULL);
    }
    flight f = {.model = compile_or_fail(spec), .n = 6};
    for (int i = 1; i <= 6; i++)
        for (int j = 1; j <= 6; j++) {
            assert_int_equal(lw_model_incidence(f.model, i, j), j == 1 ? (i == 1 ? -1 : 0) : C[i - 1][j - 2]);
            assert_int_equal(lw_model_path(f.model, i, j), T[i - 1][j - 1]);
        }
    f.s = lw_newton_euler_create(f.model, LW_HOLD_NONE);
    lw_newton_euler_at(f.s, 0, f.model->q0, f.model->v0, NULL);
    f.blocks = at_state(f.s, false);
    for (int k = 4; k <= 6; k++) /* d12 = d14 = d15 = d16, to the last bit: one vector */
        assert_memory_equal(d_of(f.blocks, 1, 2), d_of(f.blocks, 1, k), 3 * sizeof(double));
    assert_memory_equal(d_of(f.blocks, 2, 1), d_of(f.blocks, 2, 3), 3 * sizeof(double));
    assert_true(relative_difference(d_of(f.blocks, 1, 2), d_of(f.blocks, 1, 3), 3) > 0.01);
    land(&f);
}

static void sliding_without_mass_is_refused(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("light");
    const double origin[3] = {0, 0, 0}, axis[3] = {1, 0, 0};
    add_plain_body(spec, "heavy");
    add_body(spec, (lw_body_spec){.name = "light", .mass = 0, .inertia = {0.1, 0.1, 0.1}});
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, "ground", "heavy", origin, axis);
    add_plain_joint(spec, "b", LW_JOINT_PRISMATIC, "heavy", "light", origin, axis);
    lw_model *model = compile_or_fail(spec);
    static const char *const names[] = {"barycentre", "relative"};
    for (int k = 0; k < 2; k++) {
        lw_error error;
        assert_int_equal(lw_formulation_find(names[k])->applies(model, &error), LW_ERROR_UNSUPPORTED);
        assert_string_equal(error.object, "body \"light\"");
        assert_non_null(strstr(error.message, "have mass"));
        assert_non_null(strstr(error.message, names[k]));
    }
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_start_at_barycentres),
        cmocka_unit_test(blocks_are_sums_over_all_bodies),
        cmocka_unit_test(blocks_agree_with_the_general_form),
        cmocka_unit_test(blocks_carry_what_balls_do_not_cause),
        cmocka_unit_test(six_bodies_of_the_paper),
        cmocka_unit_test(sliding_without_mass_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
