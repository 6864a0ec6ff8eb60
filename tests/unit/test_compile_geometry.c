/* test_compile_geometry.c - the same mechanism written in several ways: joints in either direction, in the
 * world or in body frames, with and without poses; and the initial state.
 *
 * Models that describe the same mechanism differ by roundings only; their accelerations by roundings times
 * the condition of the mass matrix, 1e3 or so here: 1e-10.
 */
#include "build.h"
#include "linalg/vec3.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double same_pose = 1e-12, same_dynamics = 1e-10;

enum { MAX = 96 };

/* --- the same mechanism written in two ways ------------------------------------------------------- */

typedef struct twin {
    lw_model *model;
    lw_data *data;
} twin;

static twin make(lw_spec *spec) {
    twin t = {.model = compile_or_fail(spec)};
    assert_int_equal(lw_data_create(t.model, NULL, &t.data), LW_OK);
    return t;
}

static void unmake(twin *t) {
    lw_data_destroy(t->data);
    lw_model_destroy(t->model);
}

static void near(const double *a, const double *b, int count, double tolerance, int seed, const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= tolerance)) fail_msg("seed %d: %s differ by %g", seed, what, difference);
}

/* State of b that has the joint coordinates of a's state; joints are found by name. */
static void carry_state(const lw_model *a, const double *qa, const double *va, const lw_model *b, double *qb,
                        double *vb) {
    for (int j = 0; j < lw_model_joint_count(a); j++) {
        lw_joint_info from = lw_model_joint_info(a, j);
        lw_joint_info to = lw_model_joint_info(b, lw_model_joint(b, from.name));
        assert_int_equal(from.v_count, to.v_count);
        for (int k = 0; k < from.q_count; k++) qb[to.q + k] = qa[from.q + k];
        for (int k = 0; k < from.v_count; k++) vb[to.v + k] = va[from.v + k];
    }
}

/* Same poses, velocities, energies, accelerations for the same joint coordinates. sign: the reactions of
 * joint j in b are sign[j] times those in a (and at the same point); NULL: +1. */
static void same_mechanism(const twin *a, const twin *b, lw_random *random, int seed, const bool *opposite) {
    double q[2][2 * MAX], v[2][MAX], vdot[2][MAX], back[2 * MAX], back_v[MAX],
        t = random_between(random, 0, 2);
    assert_true(lw_model_v_size(a->model) <= MAX);
    assert_int_equal(lw_model_v_size(a->model), lw_model_v_size(b->model));
    random_state(random, a->model, q[0], v[0]);
    carry_state(a->model, q[0], v[0], b->model, q[1], v[1]);
    const twin *twins[2] = {a, b};
    lw_error error;
    double energy[2][2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(
            lw_tree_forward_dynamics(twins[k]->model, twins[k]->data, t, q[k], v[k], NULL, vdot[k], &error),
            LW_OK);
        lw_energy e = lw_energy_of(twins[k]->model, twins[k]->data, t, q[k], v[k]);
        energy[k][0] = e.kinetic, energy[k][1] = e.potential;
    }
    near(energy[0], energy[1], 2, same_dynamics, seed, "energies");
    carry_state(b->model, q[1], vdot[1], a->model, back, back_v);
    near(vdot[0], back_v, lw_model_v_size(a->model), same_dynamics, seed, "accelerations");
    for (int i = 1; i <= lw_model_body_count(a->model); i++) {
        double p[2][3], R[2][9], w[2][3], l[2][3];
        const double point[3] = {0.3, -0.2, 0.1};
        for (int k = 0; k < 2; k++) {
            int body = lw_model_body(twins[k]->model, lw_model_body_name(a->model, i));
            lw_body_pose(twins[k]->model, twins[k]->data, t, q[k], body, p[k], R[k]);
            lw_body_velocity(twins[k]->model, twins[k]->data, t, q[k], v[k], body, point, w[k], l[k]);
        }
        near(p[0], p[1], 3, same_pose, seed, "positions");
        near(R[0], R[1], 9, same_pose, seed, "rotations");
        near(w[0], w[1], 3, same_pose, seed, "angular velocities");
        near(l[0], l[1], 3, same_pose, seed, "velocities");
    }
    double reactions[2][6 * MAX];
    for (int k = 0; k < 2; k++)
        assert_int_equal(
            lw_joint_reactions(twins[k]->model, twins[k]->data, t, q[k], v[k], vdot[k], reactions[k], NULL),
            LW_OK);
    for (int j = 0; j < lw_model_joint_count(a->model); j++) {
        double *ra = reactions[0] + 6 * j,
               *rb = reactions[1] + 6 * lw_model_joint(b->model, lw_model_joint_info(a->model, j).name);
        if (opposite && opposite[j]) continue; /* given at another point */
        near(ra, rb, 6, same_dynamics, seed, "reactions");
    }
}

/* Any direction, or often a coordinate axis: the compiler treats these in a way of its own. */
static void random_axis(lw_random *random, double axis[3]) {
    random_direction(random, axis);
    if (random_below(random, 2)) return;
    int k = random_below(random, 3);
    double sign = random_below(random, 2) ? 1 : -1;
    lw_v3_set(axis, 0, 0, 0);
    axis[k] = sign;
}

/* A floating chain of four bodies. Its base joint holds one end or the other; from the far end the tree goes
 * through every joint against the user's order. */
static lw_spec *chain(lw_random *random, lw_joint_type type, lw_geometry_frame frame, bool from_far_end) {
    lw_spec *spec = lw_spec_create("chain");
    static const char *const names[4] = {"one", "two", "three", "four"};
    for (int k = 0; k < 4; k++) {
        lw_body_spec body = {
            .name = names[k], .mass = random_between(random, 0.5, 2), .inertia = {0.3, 0.35, 0.4}};
        random_vector(random, 3, 0.3, body.com);
        add_body(spec, body);
    }
    for (int k = 0; k < 3; k++) {
        lw_joint_spec joint = {.name = (const char *[]){"a", "b", "c"}[k],
                               .type = type,
                               .bodies = {names[k], names[k + 1]},
                               .frame = frame,
                               .lead = 0.7};
        for (int side = 0; side < 2; side++) {
            lw_joint_geometry *g = &joint.geometry[side];
            random_vector(random, 3, 1, g->point);
            random_axis(random, g->axes[0]);
            lw_v3_perpendicular(g->axes[0], g->axes[1]);
            lw_v3_cross(g->axes[0], g->axes[1], g->axes[2]);
            g->axis_count = type == LW_JOINT_TRANSLATION ? 3 : 2;
        }
        add_joint(spec, joint);
    }
    /* the chain floats: its base joint is free and holds either end */
    add_plain_joint(spec, "base", LW_JOINT_FREE, LW_GROUND, names[from_far_end ? 3 : 0], NULL, NULL);
    return spec;
}

/* For equal coordinates of a joint, the pose of its second body relative to its first is the same, whichever
 * way the tree goes through it. */
static void reversed_joints_keep_the_users_coordinates(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= 20; seed++) {
            lw_geometry_frame frame = seed % 2 ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
            lw_random first = random_seed((uint64_t)seed), second = first,
                      random = random_seed(1000u + (uint64_t)seed);
            twin a = make(chain(&first, (lw_joint_type)type, frame, false));
            twin b = make(chain(&second, (lw_joint_type)type, frame, true));
            double q[2][2 * MAX], v[2][MAX], relative[2][4][12], twist[2][4][6];
            random_state(&random, a.model, q[0], v[0]);
            carry_state(a.model, q[0], v[0], b.model, q[1], v[1]);
            const twin *twins[2] = {&a, &b};
            for (int k = 0; k < 2; k++) {
                const lw_model *model = twins[k]->model;
                const double origin[3] = {0, 0, 0};
                for (int j = 0; j < 3; j++) {
                    lw_joint_info info = lw_model_joint_info(model, j);
                    assert_int_equal(info.reversed, k == 1);
                    double p[2][3], R[2][9], w[2][3], l[2][3], gap[3], rate[3];
                    for (int side = 0; side < 2; side++) {
                        lw_body_pose(model, twins[k]->data, 0, q[k], info.bodies[side], p[side], R[side]);
                        lw_body_velocity(model, twins[k]->data, 0, q[k], v[k], info.bodies[side], origin,
                                         w[side], l[side]);
                    }
                    lw_m3_tmul(R[0], R[1], relative[k][j]);
                    lw_v3_sub(p[1], p[0], gap);
                    lw_m3_tmul_v(R[0], gap, relative[k][j] + 9);
                    lw_v3_sub(l[1], l[0], rate); /* velocity of the second seen from the first */
                    lw_v3_add_cross(gap, w[0], rate);
                    lw_m3_tmul_v(R[0], rate, twist[k][j]);
                    lw_v3_sub(w[1], w[0], gap);
                    lw_m3_tmul_v(R[0], gap, twist[k][j] + 3);
                }
            }
            for (int j = 0; j < 3; j++) {
                near(relative[0][j], relative[1][j], 12, same_pose, seed,
                     lw_joint_type_name((lw_joint_type)type));
                near(twist[0][j], twist[1][j], 6, same_pose, seed, lw_joint_type_name((lw_joint_type)type));
            }
            unmake(&a);
            unmake(&b);
        }
}

/* A joint of one axis written from child to parent with its axis turned round is the same motion with the
 * same coordinate. */
static void turned_joints_of_one_axis(void **state) {
    (void)state;
    static const lw_joint_type types[] = {LW_JOINT_REVOLUTE,    LW_JOINT_PRISMATIC,   LW_JOINT_SCREW,
                                          LW_JOINT_CYLINDRICAL, LW_JOINT_TRANSLATION, LW_JOINT_WELD};
    for (int seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *specs[2] = {lw_spec_create("as written"), lw_spec_create("turned")};
        lw_joint_type type = types[seed % 6];
        bool turned[3] = {true, seed % 2 == 0, true};
        for (int k = 0; k < 3; k++) {
            char name[8], parent[8], joint_name[8];
            snprintf(name, sizeof name, "b%d", k);
            snprintf(joint_name, sizeof joint_name, "j%d", k);
            snprintf(parent, sizeof parent, "b%d", k - 1);
            lw_joint_spec joint = {
                .name = joint_name, .type = type, .bodies = {k ? parent : LW_GROUND, name}, .lead = 0.3};
            random_vector(&random, 3, 1, joint.geometry[0].point);
            random_axis(&random, joint.geometry[0].axes[0]);
            joint.geometry[0].axis_count = type == LW_JOINT_WELD ? 0 : 1;
            lw_joint_spec back = joint;
            if (turned[k]) {
                back.bodies[0] = joint.bodies[1], back.bodies[1] = joint.bodies[0];
                for (int i = 0; i < 3; i++) back.geometry[0].axes[0][i] *= -1;
            }
            for (int s = 0; s < 2; s++) {
                add_plain_body(specs[s], name);
                add_joint(specs[s], s ? back : joint);
            }
        }
        twin a = make(specs[0]), b = make(specs[1]);
        same_mechanism(&a, &b, &random, seed, turned);
        unmake(&a);
        unmake(&b);
    }
}

/* The same mechanism with joints given in the world of the reference configuration, in body frames, or mixed;
 * bodies with explicit poses, or placed by the joints that lead to them. Forces likewise. */
typedef enum writing { IN_WORLD, IN_BODIES, IN_BODIES_NOT_POSED, MIXED } writing;

static lw_spec *written(int seed, writing how) {
    lw_random random = random_seed((uint64_t)seed); /* the same numbers whatever the writing */
    lw_spec *spec = lw_spec_create("written");
    int bodies = 2 + random_below(&random, 5), parents[8] = {0};
    double position[8][3] = {{0}}, rotation[8][4] = {{1, 0, 0, 0}}, R[8][9];
    lw_m3_identity(R[0]);
    for (int i = 1; i <= bodies; i++) {
        char name[8], parent[8], joint_name[8];
        parents[i] = random_below(&random, i);
        snprintf(name, sizeof name, "b%d", i);
        snprintf(parent, sizeof parent, "b%d", parents[i]);
        snprintf(joint_name, sizeof joint_name, "j%d", i);
        random_vector(&random, 3, 2, position[i]);
        random_vector(&random, 4, 1, rotation[i]);
        if (seed % 2) rotation[i][0] = 1, rotation[i][1] = rotation[i][2] = rotation[i][3] = 0;
        lw_rot_quat(rotation[i], R[i]);
        lw_body_spec body = {.name = name, .mass = 1, .inertia = {0.3, 0.35, 0.4, 0.02, 0.01, -0.03}};
        random_vector(&random, 3, 0.3, body.com);
        body.has_pose = how != IN_BODIES_NOT_POSED;
        memcpy(body.position, position[i], sizeof position[i]);
        memcpy(body.rotation, rotation[i], sizeof rotation[i]);
        add_body(spec, body);

        lw_joint_spec joint = {
            .name = joint_name, .lead = 0.3, .bodies = {parents[i] ? parent : LW_GROUND, name}};
        /* in body frames the start of a free joint is the pose, not zero: tested below */
        do joint.type = (lw_joint_type)random_below(&random, LW_JOINT_TYPES);
        while (joint.type == LW_JOINT_FREE);
        int ids[2] = {parents[i], i};
        if (random_below(&random, 2)) {
            const char *swap = joint.bodies[0];
            joint.bodies[0] = joint.bodies[1], joint.bodies[1] = swap;
            ids[0] = i, ids[1] = parents[i];
        }
        double point[3], axes[3][3];
        random_vector(&random, 3, 2, point);
        random_axis(&random, axes[0]);
        lw_v3_perpendicular(axes[0], axes[1]);
        lw_v3_cross(axes[0], axes[1], axes[2]);
        int count = joint.type == LW_JOINT_TRANSLATION ? 1 + random_below(&random, 3) : 2;
        bool in_world = how == IN_WORLD || (how == MIXED && random_below(&random, 2));
        if (how != MIXED) random_below(&random, 2);
        joint.frame = in_world ? LW_GEOMETRY_WORLD : LW_GEOMETRY_BODY;
        for (int side = 0; side < 2; side++) {
            lw_joint_geometry *g = &joint.geometry[side];
            g->axis_count = count;
            double gap[3];
            lw_v3_sub(point, position[ids[side]], gap);
            lw_m3_tmul_v(R[ids[side]], gap, g->point);
            for (int k = 0; k < 3; k++) lw_m3_tmul_v(R[ids[side]], axes[k], g->axes[k]);
            if (in_world) {
                memcpy(g->point, point, sizeof point);
                memcpy(g->axes, axes, sizeof axes);
            }
        }
        add_joint(spec, joint);

        /* a spring and a bushing from the body to ground, a force on it */
        char spring[12], bushing[12], push[12];
        snprintf(spring, sizeof spring, "spring%d", i);
        snprintf(bushing, sizeof bushing, "bushing%d", i);
        snprintf(push, sizeof push, "push%d", i);
        lw_force_spec force = {.name = spring,
                               .bodies = {name, LW_GROUND},
                               .frame = joint.frame,
                               .stiffness = 3,
                               .damping = 0.4,
                               .bushing_stiffness = {1, 2, 3, 4, 5, 6},
                               .bushing_damping = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
                               .force = {"1", "t", NULL}};
        double tip[3], gap[3];
        random_vector(&random, 3, 2, tip);
        lw_v3_sub(tip, position[i], gap);
        lw_m3_tmul_v(R[i], gap, force.points[0]);
        if (in_world) memcpy(force.points[0], tip, sizeof tip);
        random_vector(&random, 3, 2, force.points[1]);
        add_force(spec, force);
        force.name = push, force.type = LW_FORCE_APPLIED, force.follows_body = i % 2;
        add_force(spec, force);
        if (how == IN_BODIES_NOT_POSED) continue;
        force.name = bushing, force.type = LW_FORCE_BUSHING;
        memcpy(force.points[1], tip, sizeof tip);
        /* axes of the bushing: the world's, or the same seen from the first body */
        double Rt[9];
        lw_m3_transpose(R[i], Rt);
        if (!in_world) lw_quat_rot(Rt, force.rotation);
        add_force(spec, force);
    }
    return spec;
}

static void world_and_body_geometry_are_the_same_mechanism(void **state) {
    (void)state;
    for (int seed = 1; seed <= 120; seed++) {
        lw_random random = random_seed(5000u + (uint64_t)seed);
        twin a = make(written(seed, IN_WORLD));
        for (int how = IN_BODIES; how <= MIXED; how++) {
            if (how == IN_BODIES_NOT_POSED) continue;
            twin b = make(written(seed, (writing)how));
            same_mechanism(&a, &b, &random, seed, NULL);
            unmake(&b);
        }
        unmake(&a);
    }
}

/* Bodies that are placed by joints in body frames are where these say, at q = 0. Translations leave the
 * orientation of the second body open, so they are not in here. */
static void joints_in_body_frames_place_bodies(void **state) {
    (void)state;
    int compared = 0;
    for (int seed = 1; seed <= 400; seed++) {
        lw_spec *spec = written(seed, IN_BODIES_NOT_POSED);
        bool open = false;
        for (size_t j = 0; j < lw_spec_joint_count(spec); j++)
            open |= lw_spec_joint(spec, j)->type == LW_JOINT_TRANSLATION;
        lw_spec *posed = written(seed, IN_WORLD);
        lw_model *a = compile_or_fail(spec), *b = compile_or_fail(posed);
        lw_data *da, *db;
        assert_int_equal(lw_data_create(a, NULL, &da), LW_OK);
        assert_int_equal(lw_data_create(b, NULL, &db), LW_OK);
        double q[2 * MAX], v[MAX];
        lw_model_initial_state(a, q, v);
        for (int i = 1; i <= lw_model_body_count(a) && !open; i++) {
            double p[2][3], R[2][9];
            lw_body_pose(a, da, 0, q, i, p[0], R[0]);
            lw_body_pose(b, db, 0, q, lw_model_body(b, lw_model_body_name(a, i)), p[1], R[1]);
            near(p[0], p[1], 3, same_pose, seed, "positions");
            near(R[0], R[1], 9, same_pose, seed, "rotations");
            compared++;
        }
        lw_data_destroy(da);
        lw_data_destroy(db);
        lw_model_destroy(a);
        lw_model_destroy(b);
    }
    assert_true(compared > 200);
}

/* --- initial state -------------------------------------------------------------------------------- */

static void a_free_body_starts_at_its_pose(void **state) {
    (void)state;
    for (int seed = 1; seed <= 60; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *spec = lw_spec_create("floating");
        lw_body_spec body = {.name = "ship", .mass = 1, .inertia = {1, 1, 1}, .has_pose = true};
        random_vector(&random, 3, 3, body.position);
        random_vector(&random, 4, 1, body.rotation);
        add_body(spec, body);
        lw_joint_spec joint = {.name = "sea", .type = LW_JOINT_FREE, .bodies = {LW_GROUND, "ship"}};
        joint.frame = seed % 3 ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
        if (seed % 2) joint.bodies[0] = "ship", joint.bodies[1] = LW_GROUND;
        for (int side = 0; side < 2 && seed % 5 == 0; side++) {
            random_vector(&random, 3, 1, joint.geometry[side].point);
            random_direction(&random, joint.geometry[side].axes[0]);
            joint.geometry[side].axis_count = 1;
        }
        add_joint(spec, joint);
        twin t = make(spec);
        double q[7], v[6], p[3], R[9], want[9];
        lw_model_initial_state(t.model, q, v);
        lw_body_pose(t.model, t.data, 0, q, 1, p, R);
        lw_rot_quat(body.rotation, want);
        near(p, body.position, 3, same_pose, seed, "positions");
        near(R, want, 9, same_pose, seed, "rotations");
        if (joint.frame == LW_GEOMETRY_BODY && seed % 2 == 0 && seed % 5) { /* q is the pose itself */
            near(q, body.position, 3, same_pose, seed, "coordinates");
            lw_rot_quat(q + 3, R);
            near(R, want, 9, same_pose, seed, "quaternions");
        }
        unmake(&t);
    }
}

static void initial_state_is_what_was_given(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("start");
    static const double z[3] = {0, 0, 1};
    for (int k = 0; k < 3; k++) add_plain_body(spec, (const char *[]){"a", "b", "c"}[k]);
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "a", NULL, z);
    add_plain_joint(spec, "ball", LW_JOINT_SPHERICAL, "a", "b", NULL, NULL);
    add_plain_joint(spec, "slide", LW_JOINT_CYLINDRICAL, "b", "c", NULL, z);
    lw_joint_spec *pin = lw_spec_joint(spec, 0), *ball = lw_spec_joint(spec, 1),
                  *slide = lw_spec_joint(spec, 2);
    pin->has_q = pin->has_v = true, pin->q[0] = 0.3, pin->v[0] = -2;
    ball->has_q = ball->has_v = true;
    ball->q[0] = 3, ball->q[2] = 4, ball->v[1] = 5; /* any length */
    slide->motion[1] = "0.5 + 2*t";                 /* the prescribed one knows better */
    slide->has_q = slide->has_v = true, slide->q[0] = 0.7, slide->q[1] = 99, slide->v[1] = 99;
    lw_model *model = compile_or_fail(spec);
    double q[7], v[6];
    lw_model_initial_state(model, q, v);
    lw_joint_info a = lw_model_joint_info(model, 0), b = lw_model_joint_info(model, 1),
                  c = lw_model_joint_info(model, 2);
    assert_true(q[a.q] == 0.3 && v[a.v] == -2);
    assert_true(fabs(q[b.q] - 0.6) < 1e-15 && fabs(q[b.q + 2] - 0.8) < 1e-15 && q[b.q + 1] == 0 &&
                v[b.v + 1] == 5);
    assert_true(q[c.q] == 0.7 && q[c.q + 1] == 0.5 && v[c.v] == 0 && v[c.v + 1] == 2);
    assert_int_equal(c.prescribed, 2);
    assert_int_equal(a.prescribed, 0);
    lw_model_destroy(model);
}

/* A spring without free length has none of tension in the initial state, which need not be the reference. */
static void free_length_is_the_initial_length(void **state) {
    (void)state;
    static const double z[3] = {0, 0, 1};
    for (int given = 0; given < 2; given++) {
        lw_spec *spec = lw_spec_create("sprung");
        const double none[3] = {0, 0, 0};
        lw_spec_set_gravity(spec, none);
        add_plain_body(spec, "a");
        add_plain_joint(spec, "rail", LW_JOINT_PRISMATIC, LW_GROUND, "a", NULL, z);
        lw_spec_joint(spec, 0)->has_q = true;
        lw_spec_joint(spec, 0)->q[0] = 0.5;
        add_force(spec, (lw_force_spec){.name = "s",
                                        .bodies = {LW_GROUND, "a"},
                                        .points = {{0, 0, -1}},
                                        .stiffness = 100,
                                        .free_length = 1,
                                        .has_free_length = given});
        twin t = make(spec);
        double q[1], v[1], vdot[1];
        lw_error error;
        lw_model_initial_state(t.model, q, v);
        assert_int_equal(lw_tree_forward_dynamics(t.model, t.data, 0, q, v, NULL, vdot, &error), LW_OK);
        assert_true(fabs(vdot[0] - (given ? -50 : 0)) < 1e-12); /* length 1.5 of mass 1 */
        q[0] = 0.7;
        assert_int_equal(lw_tree_forward_dynamics(t.model, t.data, 0, q, v, NULL, vdot, &error), LW_OK);
        assert_true(fabs(vdot[0] - (given ? -70 : -20)) < 1e-12);
        unmake(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reversed_joints_keep_the_users_coordinates),
        cmocka_unit_test(turned_joints_of_one_axis),
        cmocka_unit_test(world_and_body_geometry_are_the_same_mechanism),
        cmocka_unit_test(joints_in_body_frames_place_bodies),
        cmocka_unit_test(a_free_body_starts_at_its_pose),
        cmocka_unit_test(initial_state_is_what_was_given),
        cmocka_unit_test(free_length_is_the_initial_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
