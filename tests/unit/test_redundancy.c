/* test_redundancy.c - mobility, rank, redundant rows and unique reactions of mechanisms for which they are known.
 *
 * Each is also checked by brute force: singular values of all rows of all joints in the velocities of the bodies give
 * the rank, and their null space every set of reactions that moves nothing. In any position in space, in metres,
 * millimetres and kilometres.
 */
#include "build.h"
#include "constraints/rank/redundancy.h"
#include "linalg/dense.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 72 /* rows, and six times the bodies */

/* --- mechanisms from points and axes ------------------------------------------------------------------- */

typedef struct link {
    const char *name, *first, *second;
    lw_joint_type type;
    double point[3], axis[3];
    bool cut;
} link;

typedef struct mechanism {
    const char *name;
    int rows, rank, mobility; /* of closures and constraints */
    link joints[8];
} mechanism;

#define PIN LW_JOINT_REVOLUTE
#define BALL LW_JOINT_SPHERICAL
static const mechanism mechanisms[] = {
    {"planar four-bar",
     5,
     2,
     1,
     {{"a", "ground", "crank", PIN, {0, 0, 0}, {0, 0, 1}, false},
      {"b", "crank", "rod", PIN, {0.3, 1, 0.2}, {0, 0, 1}, false},
      {"c", "rod", "rocker", PIN, {1.5, 1.4, 0.1}, {0, 0, 1}, false},
      {"d", "rocker", "ground", PIN, {1.7, 0, 0}, {0, 0, 1}, true}}},
    {"spherical four-bar",
     5,
     2,
     1, /* all axes through the origin */
     {{"a", "ground", "crank", PIN, {1, 0, 0}, {1, 0, 0}, false},
      {"b", "crank", "rod", PIN, {0.8, 0.6, 0}, {0.8, 0.6, 0}, false},
      {"c", "rod", "rocker", PIN, {0.2, 0.9, 0.5}, {0.2, 0.9, 0.5}, false},
      {"d", "rocker", "ground", PIN, {0.1, -0.2, 0.9}, {0.1, -0.2, 0.9}, true}}},
    {"RSSR",
     5,
     5,
     2, /* the rod spins about its own line */
     {{"a", "ground", "crank", PIN, {0, 0, 0}, {0, 0, 1}, false},
      {"b", "crank", "rod", BALL, {0.4, 0, 0}, {0}, false},
      {"c", "rod", "rocker", BALL, {1.1, 0.8, 0.6}, {0}, false},
      {"d", "rocker", "ground", PIN, {1.1, 0, 0.6}, {1, 0, 0}, true}}},
    {"Bricard",
     5,
     4,
     1,
     {{"a", "ground", "ab", PIN, {0, 0, 0}, {0, 1, 0}, false},
      {"b", "ab", "bc", PIN, {1, 0, 0}, {0, 0, 1}, false},
      {"c", "bc", "cd", PIN, {1, -1, 0}, {1, 0, 0}, false},
      {"d", "cd", "de", PIN, {1, -1, 1}, {0, 1, 0}, false},
      {"e", "de", "ef", PIN, {0, -1, 1}, {0, 0, 1}, false},
      {"f", "ef", "ground", PIN, {0, 0, 1}, {1, 0, 0}, true}}},
    {"Sarrus",
     5,
     4,
     1, /* two perpendicular chains of three hinges, links 30 degrees from vertical */
     {{"a1", "ground", "a", PIN, {0.2, 0, 0}, {0, 1, 0}, false},
      {"a2", "a", "A", PIN, {0.7, 0, 0.8660254037844386}, {0, 1, 0}, false},
      {"a3", "A", "plate", PIN, {0.2, 0, 1.7320508075688772}, {0, 1, 0}, false},
      {"b1", "ground", "b", PIN, {0, 0.2, 0}, {1, 0, 0}, false},
      {"b2", "b", "B", PIN, {0, 0.7, 0.8660254037844386}, {1, 0, 0}, false},
      {"b3", "B", "plate", PIN, {0, 0.2, 1.7320508075688772}, {1, 0, 0}, true}}},
    {"three parallel cranks",
     10,
     3,
     1,
     {{"a", "ground", "one", PIN, {0, 0, 0}, {0, 0, 1}, false},
      {"b", "ground", "two", PIN, {1, 0, 0}, {0, 0, 1}, false},
      {"c", "ground", "three", PIN, {2.5, 0, 0}, {0, 0, 1}, false},
      {"A", "one", "coupler", PIN, {0.3, 0.7, 0}, {0, 0, 1}, false},
      {"B", "two", "coupler", PIN, {1.3, 0.7, 0}, {0, 0, 1}, true},
      {"C", "three", "coupler", PIN, {2.8, 0.7, 0}, {0, 0, 1}, true}}},
    {"door",
     10,
     0,
     1,
     {{"low", "ground", "door", PIN, {0, 0, 0.2}, {0, 0, 1}, false},
      {"middle", "door", "ground", PIN, {0, 0, 1}, {0, 0, 1}, true},
      {"high", "ground", "door", PIN, {0, 0, 1.8}, {0, 0, 1}, true}}},
    {"beam on three supports",
     6,
     0,
     3,
     {{"left", "ground", "beam", LW_JOINT_PLANAR, {0, 0, 0}, {0, 0, 1}, false},
      {"middle", "ground", "beam", LW_JOINT_PLANAR, {1, 0, 0}, {0, 0, 1}, true},
      {"right", "ground", "beam", LW_JOINT_PLANAR, {2.5, 0, 0}, {0, 0, 1}, true}}},
    {"welded frame",
     6,
     0,
     0,
     {{"left", "ground", "frame", LW_JOINT_WELD, {0, 0, 0}, {0}, false},
      {"right", "frame", "ground", LW_JOINT_WELD, {1, 0, 0}, {0}, true}}},
    {"slider-crank",
     5,
     2,
     1,
     {{"a", "ground", "crank", PIN, {0, 0, 0}, {0, 0, 1}, false},
      {"b", "crank", "rod", PIN, {0.3, 0.4, 0}, {0, 0, 1}, false},
      {"c", "rod", "piston", PIN, {1.5, 0, 0}, {0, 0, 1}, false},
      {"d", "piston", "ground", LW_JOINT_PRISMATIC, {1.5, 0, 0}, {1, 0, 0}, true}}},
};
enum { MECHANISMS = sizeof mechanisms / sizeof *mechanisms };

/* Turned by Q, moved, and `size` times as large. */
static lw_spec *spec_of(const mechanism *m, const double Q[9], double size) {
    lw_spec *spec = lw_spec_create(m->name);
    for (int k = 0; m->joints[k].name; k++) {
        const link *l = &m->joints[k];
        lw_joint_spec joint = {
            .name = l->name, .type = l->type, .bodies = {l->first, l->second}, .cut = l->cut};
        for (int side = 0; side < 2; side++) {
            const char *name = side ? l->second : l->first;
            bool known = strcmp(name, LW_GROUND) == 0;
            for (size_t b = 0; b < lw_spec_body_count(spec); b++)
                known |= !strcmp(lw_spec_body(spec, b)->name, name);
            if (known) continue;
            lw_body_spec body = {.name = name, .mass = 1, .com = {0.1 * size, 0.2 * size, 0.3 * size}};
            for (int i = 0; i < 3; i++) body.inertia[i] = (0.1 + 0.01 * i) * size * size;
            add_body(spec, body);
        }
        lw_m3_mul_v(Q, l->point, joint.geometry[0].point);
        for (int i = 0; i < 3; i++)
            joint.geometry[0].point[i] = size * (joint.geometry[0].point[i] + 0.3 * Q[i]);
        lw_m3_mul_v(Q, l->axis, joint.geometry[0].axes[0]);
        joint.geometry[0].axis_count = lw_v3_norm(l->axis) > 0;
        add_joint(spec, joint);
    }
    return spec;
}

/* --- brute force ----------------------------------------------------------------------------------------- */

/* Rank of rows, all or those that are used, in the velocities of the bodies; columns and rows of lengths divided by the
 * size of the mechanism. null: m x m, its last columns span the multipliers that move nothing. */
static int rank_of_rows(const lw_newton_euler *s, double size, const bool *used, double *null) {
    static double A[MOST * MOST], U[MOST * MOST], Vt[MOST * MOST], values[MOST];
    const lw_rows *rows = s->rows;
    int n = 6 * s->model->body_count, m = rows->count;
    assert_true(n <= MOST && m <= MOST);
    memset(A, 0, sizeof A);
    for (int r = 0; r < m; r++)
        for (int b = rows->rows[r].block; (!used || used[r]) && b < rows->rows[r].block + rows->rows[r].count;
             b++)
            for (int k = 0; k < 6; k++)
                A[6 * (rows->body[b] - 1) + k + r * n] = rows->H[6 * b + k] * (k < 3 ? 1 : size);
    for (int r = 0; r < m; r++) { /* forces count as they are, torques by the size */
        double largest = 0;
        for (int k = 0; k < n; k++) largest = fmax(largest, fabs(A[k + r * n]));
        for (int k = 0; k < n && largest > 0; k++) A[k + r * n] /= largest;
        values[r] = largest > 0 ? largest : 1;
    }
    double scale[MOST], singular[MOST];
    memcpy(scale, values, sizeof scale);
    lw_orthogonal *work = lw_orthogonal_create(n, m, true);
    int rank = lw_svd(work, n, m, A, singular, U, Vt, 1e-9);
    lw_orthogonal_destroy(work);
    if (null)
        for (int c = 0; c < m; c++)
            for (int r = 0; r < m; r++) null[r + c * m] = Vt[c + r * m] / scale[r];
    return rank;
}

static void brute_force(const lw_newton_euler *s, double size, int *rank, bool *unique) {
    static double null[MOST * MOST];
    int m = s->rows->count, count = 6 * s->model->joint_count;
    *rank = rank_of_rows(s, size, NULL, null);
    for (int k = 0; k < count; k++) unique[k] = true;
    for (int c = *rank; c < m; c++) {
        double wrench[6 * 8] = {0}, largest = 0;
        for (int r = 0; r < m; r++) {
            const lw_row *row = &s->rows->rows[r];
            if (row->joint < 0) continue;
            const double *W = s->rows->joints[row->joint].W + 6 * row->component;
            for (int k = 0; k < 3; k++) {
                wrench[6 * row->joint + k] += null[r + c * m] * W[3 + k];
                wrench[6 * row->joint + 3 + k] += null[r + c * m] * W[k] / size;
            }
        }
        for (int k = 0; k < m; k++) largest = fmax(largest, fabs(null[k + c * m]));
        for (int k = 0; k < count; k++)
            if (fabs(wrench[k]) > 1e-8 * largest / fmax(1, size)) unique[k] = false;
    }
}

static void check(lw_spec *spec, double size, int rows, int rank, int mobility, bool *unique,
                  lw_random *random) {
    char name[64];
    snprintf(name, sizeof name, "%s", lw_spec_name(spec));
    lw_model *model = compile_or_fail(spec);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_redundancy *found;
    lw_error error;
    lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
    assert_int_equal(lw_redundancy_create(s, &found, &error), LW_OK);
    if (found->rows != rows || found->rank != rank || found->mobility != mobility)
        fail_msg("%s, size %g: %d rows, rank %d, mobility %d", name, size, found->rows, found->rank,
                 found->mobility);
    assert_int_equal(found->nulls, rows - rank);
    assert_int_equal(found->speeds, mobility + rank);

    /* by brute force; what is kept is as good as all */
    bool right[6 * 8], used[MOST];
    int all, kept = 0, tree = s->rows->tree_count;
    brute_force(s, size, &all, right);
    assert_int_equal(all, tree + rank);
    assert_int_equal(6 * model->body_count - all, mobility);
    for (int r = 0; r < s->rows->count; r++) {
        used[r] = r < tree || found->kept[r - tree];
        kept += r >= tree && used[r];
    }
    assert_int_equal(kept, rank);
    assert_int_equal(rank_of_rows(s, size, used, NULL), tree + rank);

    /* null: l'(H_c'V) = 0 for every motion of the tree */
    double v[32], V[MOST], H_V[MOST];
    random_vector(random, model->nv, 1, v);
    for (int i = 1; i <= model->body_count; i++) /* speeds that slide are as large as the mechanism */
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (s->data->S[6 * (model->links[i].v + k)] == 0 &&
                s->data->S[6 * (model->links[i].v + k) + 1] == 0 &&
                s->data->S[6 * (model->links[i].v + k) + 2] == 0)
                v[model->links[i].v + k] *= size;
    lw_newton_euler_rows_at(s, 0, model->q0, v);
    lw_rows_velocities(model, s->rows, V);
    lw_rows_transposed(s->rows, V, H_V);
    for (int c = 0; c < found->nulls; c++) {
        double sum = 0, scale = 0;
        for (int r = 0; r < rows; r++) {
            double part = found->null[r + c * rows] * H_V[tree + r];
            sum += part, scale += fabs(part);
        }
        if (!(fabs(sum) <= 1e-9 * scale + 1e-12))
            fail_msg("%s: null vector %d gives %g of %g", name, c, sum, scale);
    }
    lw_redundancy_destroy(found);

    assert_int_equal(lw_unique_reactions(NULL, s, unique, &error), LW_OK);
    for (int k = 0; k < 6 * model->joint_count; k++)
        if (unique[k] != right[k])
            fail_msg("%s, size %g: component %d of joint \"%s\" is %s", name, size, k % 6,
                     model->joints[k / 6].name, right[k] ? "unique" : "not unique");
    lw_newton_euler_destroy(s);
    lw_model_destroy(model);
}

static void known_mechanisms(void **state) {
    (void)state;
    static const double sizes[3] = {1, 1e-3, 1e3};
    for (int k = 0; k < MECHANISMS; k++)
        for (int seed = 1; seed <= 6; seed++) {
            const mechanism *m = &mechanisms[k];
            lw_random random = random_seed((uint64_t)seed);
            double Q[9], q[4], size = sizes[seed % 3];
            bool unique[6 * 8];
            random_vector(&random, 4, 1, q);
            lw_rot_quat(q, Q);
            if (seed <= 3) lw_m3_identity(Q);
            check(spec_of(m, Q, size), size, m->rows, m->rank, m->mobility, unique, &random);
        }
}

/* Twists and lengths with sin(alpha) / a = sin(beta) / b, and angles that belong together. */
static void bennett(void **state) {
    (void)state;
    for (int seed = 1; seed <= 6; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        double alpha = random_between(&random, 0.4, 0.8), beta = random_between(&random, 1.0, 1.4);
        double length[2] = {sin(alpha), sin(beta)}, twist[2] = {alpha, beta}, angles[4];
        angles[0] = random_between(&random, 0.5, 2);
        angles[1] = 2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(angles[0] / 2));
        angles[2] = -angles[0], angles[3] = -angles[1];
        static const char *const names[5] = {"ground", "ab", "bc", "cd", "ground"};
        static const char *const joint_names[4] = {"a", "b", "c", "d"};
        mechanism m = {.name = "Bennett"};
        lw_pose place;
        lw_m3_identity(place.R);
        lw_v3_set(place.p, 0, 0, 0);
        for (int k = 0; k < 4; k++) { /* hinge k, then Rz(angle) Tx(length) Rx(twist) to the next */
            double turn[9], tilt[9], next[9];
            m.joints[k] = (link){joint_names[k], names[k], names[k + 1], PIN, {0}, {0}, k == 3};
            lw_v3_copy(place.p, m.joints[k].point);
            for (int i = 0; i < 3; i++) m.joints[k].axis[i] = place.R[3 * i + 2];
            lw_rot_axis((const double[3]){0, 0, 1}, angles[k], turn);
            lw_m3_mul(place.R, turn, next);
            for (int i = 0; i < 3; i++) place.p[i] += length[k % 2] * next[3 * i];
            lw_rot_axis((const double[3]){1, 0, 0}, twist[k % 2], tilt);
            lw_m3_mul(next, tilt, place.R);
        }
        double identity[9];
        lw_m3_identity(identity);
        if (lw_v3_norm(place.p) > 1e-12 || relative_difference(place.R, identity, 9) > 1e-12)
            fail_msg("seed %d: the linkage does not close, by %g", seed, lw_v3_norm(place.p));
        bool unique[24];
        check(spec_of(&m, identity, 1), 1, 5, 2, 1, unique, &random);
    }
}

/* In the plane of a four-bar forces are unique, and the torque about its axes; nothing else is. */
static void flags(const char *name, const bool *unique, int joint, const char *wanted) {
    for (int k = 0; k < 6; k++)
        if (unique[6 * joint + k] != (wanted[k] == '1'))
            fail_msg("%s, joint %d, component %d: expected %s", name, joint, k, wanted);
}

static void unique_reactions(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    double identity[9];
    bool unique[6 * 8];
    lw_m3_identity(identity);
    for (int k = 0; k < MECHANISMS; k++) {
        const mechanism *m = &mechanisms[k];
        check(spec_of(m, identity, 1), 1, m->rows, m->rank, m->mobility, unique, &random);
        if (!strcmp(m->name, "planar four-bar") || !strcmp(m->name, "slider-crank"))
            for (int j = 0; j < 3; j++) flags(m->name, unique, j, "110001"); /* force x y z, torque x y z */
        if (!strcmp(m->name, "RSSR"))
            for (int j = 0; j < 4; j++) flags(m->name, unique, j, "111111");
        if (!strcmp(m->name, "door"))
            for (int j = 0; j < 3; j++) flags(m->name, unique, j, "000001");
        if (!strcmp(m->name, "beam on three supports"))
            for (int j = 0; j < 3; j++) flags(m->name, unique, j, "110001");
        if (!strcmp(m->name, "welded frame"))
            for (int j = 0; j < 2; j++) flags(m->name, unique, j, "000000");
    }
}

/* Three rods hold a beam that moves in a plane: one too many, and the joint it moves in notices nothing. */
static void rods(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    lw_spec *spec = lw_spec_create("rods");
    const double y[3] = {0, 1, 0};
    bool unique[6 * 8];
    add_plain_body(spec, "beam");
    add_plain_joint(spec, "plane", LW_JOINT_PLANAR, LW_GROUND, "beam", NULL, y);
    static const char *const names[3] = {"left", "middle", "right"};
    for (int k = 0; k < 3; k++)
        add_constraint(spec, (lw_constraint_spec){.name = names[k],
                                                  .bodies = {LW_GROUND, "beam"},
                                                  .points = {{k, 0, 2}, {k, 0, 0}}});
    check(spec, 1, 3, 2, 1, unique, &random);
    flags("rods", unique, 0, "111111");
}

/* Two gears that say the same: their teeth share the load as they like, the bearings feel it all the same; the
 * torque about the axis is the teeth's, not the joint's. */
static void twice_coupled(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    lw_spec *spec = lw_spec_create("gears");
    const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    bool unique[6 * 8];
    add_plain_body(spec, "one");
    add_plain_body(spec, "two");
    add_plain_joint(spec, "a", LW_JOINT_REVOLUTE, LW_GROUND, "one", NULL, z);
    add_plain_joint(spec, "b", LW_JOINT_REVOLUTE, "two", LW_GROUND, x, z); /* written backwards */
    for (int k = 1; k <= 2; k++)
        add_constraint(spec, (lw_constraint_spec){.name = k == 1 ? "front" : "back",
                                                  .type = LW_CONSTRAINT_COUPLING,
                                                  .terms = 2,
                                                  .joints = {"a", "b"},
                                                  .factors = {k, -2.0 * k}});
    check(spec, 1, 2, 1, 1, unique, &random);
    flags("gears", unique, 0, "111111");
    flags("gears", unique, 1, "111111");
}

/* A prescribed crank takes its speed away; one crank too many prescribed leaves a row over. */
static void prescribed(void **state) {
    (void)state;
    double identity[9];
    bool unique[6 * 8];
    lw_m3_identity(identity);
    lw_spec *spec = spec_of(&mechanisms[0], identity, 1);
    lw_spec_joint(spec, 0)->motion[0] = "0*t";
    lw_model *model = compile_or_fail(spec);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_redundancy *found;
    lw_error error;
    lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
    assert_int_equal(lw_redundancy_create(s, &found, &error), LW_OK);
    assert_true(found->speeds == 2 && found->rank == 2 && found->mobility == 0 && found->nulls == 3);
    lw_redundancy_destroy(found);
    assert_int_equal(lw_unique_reactions(NULL, s, unique, &error), LW_OK);
    for (int j = 0; j < 4; j++) flags("driven four-bar", unique, j, "110001");
    lw_newton_euler_destroy(s);
    lw_model_destroy(model);
}

/* A tree has nothing redundant. */
static void tree(void **state) {
    (void)state;
    for (int seed = 1; seed <= 10; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {.bodies = 5, .reversed = true, .joint = -1};
        lw_model *model = random_tree_model(&random, &options);
        lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
        lw_redundancy *found;
        lw_error error;
        bool unique[6 * 8];
        lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
        assert_int_equal(lw_redundancy_create(s, &found, &error), LW_OK);
        assert_true(found->rows == 0 && found->rank == 0 && found->mobility == model->nv &&
                    found->nulls == 0);
        assert_int_equal(rank_of_rows(s, 1, NULL, NULL), s->rows->count);
        assert_int_equal(lw_unique_reactions(NULL, s, unique, &error), LW_OK);
        for (int k = 0; k < 6 * model->joint_count; k++) assert_true(unique[k]);
        lw_redundancy_destroy(found);
        lw_newton_euler_destroy(s);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_mechanisms),
        cmocka_unit_test(bennett),
        cmocka_unit_test(unique_reactions),
        cmocka_unit_test(rods),
        cmocka_unit_test(twice_coupled),
        cmocka_unit_test(prescribed),
        cmocka_unit_test(tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
