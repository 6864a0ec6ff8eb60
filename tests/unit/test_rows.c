/* test_rows.c - constraint rows against their definitions and against finite differences.
 *
 *   joint      W'S = [1 0]; the place at q gives q back, in its turn
 *   rows       H'V = rate on motions of the tree; = d/dt phi for any velocities of the bodies; H'A = gamma
 *   both ways  a joint of the tree and the same joint closing a loop give the same rows, whichever its first body
 *   distance, coupling, rolling   against the same conditions written down here and differentiated numerically
 */
#include "build.h"
#include "constraints/newton_euler_system.h"
#include "model/joint.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 24
#define ROWS 64 /* more than any model here has */

/* Products of a few unit vectors. */
static const double rounding = 1e-14;
/* Values up to about 20 that come from ten or so products and sums of poses. */
static const double exact = 1e-12;
/* Eighth-order central differences with h = 0.005: of motions that turn by up to 6 rad/s with velocities up to 20 the
 * truncation is (6 h)^8 / 630 * 6 * 20 = 1e-13 and rounding 1e-15 * 20 / h = 4e-12; accelerations are up to 200. */
static const double differences = 1e-10;
static const double h = 0.005;
static const double weights[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};

static void near(double a, double b, double tolerance, const char *what, int type, int seed) {
    if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b))))
        fail_msg("%s, type %d, seed %d: %.17g and %.17g", what, type, seed, a, b);
}

/* --- one joint ------------------------------------------------------------------------------------ */

static lw_joint random_joint(lw_random *random, lw_joint_type type, double directions[9]) {
    lw_joint joint = {.type = type, .axis = 2, .sign = 1, .pitch = random_between(random, -1, 1)};
    int axes = 1 + random_below(random, 3);
    for (int k = 0; k < 3; k++) random_direction(random, directions + 3 * k);
    for (int k = 0; k < 3; k++) /* not close to a common plane */
        for (int i = 0; i < 3; i++) directions[3 * k + i] = 0.4 * directions[3 * k + i] + (i == k);
    for (int k = 0; k < 3; k++) {
        double size = lw_v3_norm(directions + 3 * k);
        for (int i = 0; i < 3; i++) directions[3 * k + i] /= size;
    }
    joint.axes = directions;
    if (type == LW_JOINT_REVOLUTE || type == LW_JOINT_PRISMATIC) {
        joint.axis = random_below(random, 3);
        joint.sign = random_below(random, 2) ? 1 : -1;
    }
    joint.nq = lw_joint_type_q(type, axes);
    joint.nv = lw_joint_type_v(type, axes);
    return joint;
}

static void dual_of_the_motion(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= 4 * SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9], q[LW_JOINT_MAX_Q], R[9], p[3], S[36], W[36];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            random_vector(&random, LW_JOINT_MAX_Q, 4, q);
            if (lw_joint_quaternion(joint.type) >= 0) lw_quat_normalise(q + lw_joint_quaternion(joint.type));
            lw_joint_motion(&joint, q, NULL, R, p, S, NULL);
            lw_joint_dual(&joint, q, W);
            for (int k = 0; k < 6; k++)
                for (int l = 0; l < joint.nv; l++)
                    near(lw_v6_dot(W + 6 * k, S + 6 * l), k == l, rounding, "W'S", type, seed);
            /* what is transmitted: unit forces, then unit torques, each perpendicular to the others */
            bool torques = false;
            for (int k = joint.nv; k < 6; k++) {
                const double *w = W + 6 * k;
                bool torque = lw_v3_norm(w + 3) == 0;
                assert_true(torque || !torques);
                torques = torque;
                near(lw_v3_norm(torque ? w : w + 3), 1, rounding, "size", type, seed);
                if (joint.type != LW_JOINT_SCREW && !torque) assert_true(lw_v3_norm(w) == 0);
                for (int l = joint.nv; l < k; l++) {
                    near(lw_v3_dot(w, W + 6 * l) * (torque ? 1 : 0), 0, rounding, "across", type, seed);
                    near(lw_v3_dot(w + 3, W + 6 * l + 3), 0, rounding, "across", type, seed);
                }
                assert_non_null(lw_joint_row_name(&joint, k - joint.nv));
            }
        }
}

static void coordinates_of_a_place(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= 4 * SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            double directions[9], q[LW_JOINT_MAX_Q], fitted[LW_JOINT_MAX_Q], R[9], p[3], S[36];
            lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
            random_vector(&random, LW_JOINT_MAX_Q, 30, q); /* several turns */
            int at = lw_joint_quaternion(joint.type);
            if (at >= 0) lw_quat_normalise(q + at);
            for (int k = 0; k < LW_JOINT_MAX_Q; k++) fitted[k] = q[k] + random_between(&random, -0.4, 0.4);
            lw_joint_motion(&joint, q, NULL, R, p, S, NULL);
            lw_joint_fit(&joint, R, p, fitted);
            /* an angle of 30 is known to 30 roundings */
            for (int k = 0; k < joint.nq; k++) near(fitted[k], q[k], exact, "fit", type, seed);
        }
}

/* A trial step that overflows must not spoil the guess for good. */
static void a_bad_guess_is_forgotten(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++) {
        lw_random random = random_seed(7);
        double directions[9], zero[LW_JOINT_MAX_Q], q[LW_JOINT_MAX_Q], R[9], p[3], S[36];
        lw_joint joint = random_joint(&random, (lw_joint_type)type, directions);
        lw_joint_zero(joint.type, zero);
        lw_joint_motion(&joint, zero, NULL, R, p, S, NULL);
        for (int k = 0; k < LW_JOINT_MAX_Q; k++) q[k] = NAN;
        lw_joint_fit(&joint, R, p, q);
        for (int k = 0; k < joint.nq; k++) near(q[k], zero[k], rounding, "fit", type, 7);
    }
}

/* --- rows of a joint: in the tree, and closing a loop --------------------------------------------- */

static void add_random_body(lw_spec *spec, lw_random *random, const char *name) {
    lw_body_spec body = {
        .name = name, .mass = 2, .inertia = {0.3, 0.2, 0.25, 0.01, 0.02, -0.03}, .has_pose = true};
    random_vector(random, 3, 0.5, body.com);
    random_vector(random, 3, 1, body.position);
    random_vector(random, 4, 1, body.rotation);
    add_body(spec, body);
}

static void add_free_joint(lw_spec *spec, const char *name, const char *body) {
    add_joint(spec, (lw_joint_spec){.name = name, .type = LW_JOINT_FREE, .bodies = {LW_GROUND, body}});
}

static void random_pair_joint(lw_random *random, lw_joint_type type, bool prescribed, lw_joint_spec *joint) {
    lw_joint_geometry *g = &joint->geometry[0];
    *joint = (lw_joint_spec){.name = "pair", .type = type, .lead = random_between(random, -3, 3)};
    bool backwards = random_below(random, 2);
    joint->bodies[backwards] = "one", joint->bodies[!backwards] = "two";
    random_vector(random, 3, 1, g->point);
    random_direction(random, g->axes[0]);
    random_direction(random, g->axes[2]);
    lw_v3_cross(g->axes[0], g->axes[2], g->axes[1]);
    for (int k = 0; k < 3 && type == LW_JOINT_TRANSLATION; k++) /* oblique */
        g->axes[1][k] += 0.3 * lw_v3_norm(g->axes[1]) * g->axes[0][k], g->axes[2][k] += 0.2 * g->axes[1][k];
    g->axis_count = type == LW_JOINT_UNIVERSAL     ? 2
                    : type == LW_JOINT_TRANSLATION ? 1 + random_below(random, 3)
                                                   : 1;
    if (type == LW_JOINT_SPHERICAL || type == LW_JOINT_FREE || type == LW_JOINT_WELD) g->axis_count = 0;
    static const char *const motion[3] = {"0.4 + 0.3*sin(2*t)", "cos(t) - t", "0.5*t^2 + 0.2"};
    int turning = type == LW_JOINT_SPHERICAL ? 0 : type == LW_JOINT_FREE ? 3 : 6;
    if (prescribed)
        for (int k = 0; k < lw_joint_type_v(type, g->axis_count); k++)
            if (k >= turning || random_below(random, 2)) joint->motion[k] = motion[k % 3];
}

enum { ABSOLUTE = 2 * 13 + 4 }; /* two bodies, and angles of two joints at most */

typedef struct pair {
    lw_model *tree, *loop; /* the joint in the tree; the same joint, cut, between two free bodies */
    lw_newton_euler *in_tree, *in_loop;
    int joint;                        /* in both */
    double q[14], v[12], y[ABSOLUTE]; /* a random state of the tree; the same, as the loop's absolute state */
} pair;

/* The state of the first system, a tree, as an absolute state of the second. */
static void transfer(const lw_newton_euler *from, const lw_newton_euler *system, double *y) {
    const lw_model *to = system->model;
    for (int k = 0; k < system->angle_count; k++) {
        const lw_winding *angle = &system->angles[k];
        y[13 * to->body_count + k] = from->data->q[from->model->joints[angle->joint].info.q + angle->speed];
    }
    for (int i = 1; i <= to->body_count; i++) {
        int j = lw_model_body(from->model, to->bodies[i].name);
        const lw_body_state *body = &from->rows->bodies[j];
        double user[9], turned[9], own[9], *out = y + 13 * (i - 1);
        lw_m3_mul(from->data->world[j].R, from->model->bodies[j].frame.R, user);
        lw_m3_transpose(to->bodies[i].frame.R, turned);
        lw_m3_mul(user, turned, own);
        lw_v3_copy(body->r, out);
        lw_quat_rot(own, out + 3);
        lw_v3_copy(body->rdot, out + 7);
        lw_v3_copy(body->w, out + 10);
    }
}

static void pair_create(pair *p, lw_random *random, lw_joint_type type, bool prescribed) {
    lw_joint_spec joint;
    lw_random start = *random;
    for (int cut = 0; cut < 2; cut++) {
        lw_spec *spec = lw_spec_create("pair");
        *random = start;
        add_random_body(spec, random, "one");
        add_random_body(spec, random, "two");
        random_pair_joint(random, type, prescribed && !cut, &joint);
        joint.cut = cut;
        add_free_joint(spec, "first", "one");
        add_joint(spec, joint);
        if (cut) add_free_joint(spec, "second", "two");
        *(cut ? &p->loop : &p->tree) = compile_or_fail(spec);
    }
    p->joint = 1;
    assert_false(lw_model_joint_info(p->tree, p->joint).cut);
    assert_true(lw_model_joint_info(p->loop, p->joint).cut);
    p->in_tree = lw_newton_euler_create(p->tree, LW_HOLD_NONE);
    p->in_loop = lw_newton_euler_create(p->loop, LW_HOLD_NONE);
    random_state(random, p->tree, p->q, p->v);
    lw_newton_euler_rows_at(p->in_tree, 0, p->q, p->v);
    memcpy(p->q, p->in_tree->data->q, (size_t)p->tree->nq * sizeof *p->q); /* with the prescribed ones */
    memcpy(p->v, p->in_tree->data->v, (size_t)p->tree->nv * sizeof *p->v);
    transfer(p->in_tree, p->in_loop, p->y);
    lw_newton_euler_rows_at_absolute(p->in_loop, 0, p->y);
}

static void pair_destroy(pair *p) {
    lw_newton_euler_destroy(p->in_tree), lw_newton_euler_destroy(p->in_loop);
    lw_model_destroy(p->tree), lw_model_destroy(p->loop);
}

static void velocities_of_rows(const lw_newton_euler *s, double *out) {
    double V[6 * 16];
    assert_true(s->model->body_count <= 16 && s->rows->count <= ROWS);
    lw_rows_velocities(s->model, s->rows, V);
    lw_rows_transposed(s->rows, V, out);
}

/* q moves with constant v (and as prescribed): accelerations of the bodies by differences. */
static void accelerations_by_differences(lw_newton_euler *s, double t, const double *q, const double *v,
                                         double *A) {
    double moved[64], V[6 * 16];
    int n = 6 * s->model->body_count;
    assert_true(s->model->nq <= 64 && n <= 6 * 16);
    memset(A, 0, (size_t)n * sizeof *A);
    for (int i = 1; i <= 4; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(moved, q, (size_t)s->model->nq * sizeof *q);
            lw_integrate_q(s->model, moved, v, sign * i * h);
            lw_newton_euler_rows_at(s, t + sign * i * h, moved, v);
            lw_rows_velocities(s->model, s->rows, V);
            for (int k = 0; k < n; k++) A[k] += sign * weights[i - 1] / h * V[k];
        }
    lw_newton_euler_rows_at(s, t, q, v);
}

/* Bodies move with constant velocity and angular velocity. */
static void move_absolute(int bodies, const double *y, double time, double *out) {
    for (int i = 0; i < bodies; i++) {
        const double *from = y + 13 * i;
        double *to = out + 13 * i, phi[3], turn[4];
        for (int k = 0; k < 3; k++) to[k] = from[k] + time * from[7 + k], phi[k] = time * from[10 + k];
        lw_quat_exp(phi, turn);
        lw_quat_mul(turn, from + 3, to + 3);
        memcpy(to + 7, from + 7, 6 * sizeof *to);
    }
}

static void positions_by_differences(lw_newton_euler *s, double t, const double *y, double *phi_dot,
                                     double *row_dot) {
    double moved[16 * 16], now[ROWS];
    int m = s->rows->count;
    memset(phi_dot, 0, (size_t)m * sizeof *phi_dot);
    if (row_dot) memset(row_dot, 0, (size_t)m * sizeof *row_dot);
    for (int i = 1; i <= 4; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            move_absolute(s->model->body_count, y, sign * i * h, moved);
            for (int k = 0, at = 13 * s->model->body_count; k < s->angle_count; k++, at++) moved[at] = y[at];
            lw_newton_euler_rows_at_absolute(s, t + sign * i * h, moved);
            velocities_of_rows(s, now);
            for (int r = 0; r < m; r++) {
                phi_dot[r] += sign * weights[i - 1] / h * s->rows->phi[r];
                if (row_dot) row_dot[r] += sign * weights[i - 1] / h * now[r];
            }
        }
    lw_newton_euler_rows_at_absolute(s, t, y);
}

/* In its motion the tree keeps all rows, and so does the loop in the same places. */
static void kept_by_the_motion(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            pair p;
            pair_create(&p, &random, (lw_joint_type)type, seed % 3 == 0);
            const lw_rows *tree = p.in_tree->rows, *loop = p.in_loop->rows;
            int transmitted = 6 - p.tree->joints[p.joint].joint.nv;
            assert_int_equal(loop->count, transmitted);
            assert_int_equal(loop->tree_count, 0);
            double H_V[ROWS], A[12], H_A[ROWS], H_A_loop[ROWS];
            velocities_of_rows(p.in_tree, H_V);
            for (int r = 0; r < tree->count; r++) {
                near(H_V[r], tree->rate[r], exact, "H'V", type, seed);
                near(tree->phi[r], 0, exact, "phi", type, seed);
            }
            velocities_of_rows(p.in_loop, H_V);
            for (int r = 0; r < loop->count; r++) {
                near(H_V[r], 0, exact, "H'V of the loop", type, seed);
                near(loop->phi[r], 0, exact, "phi of the loop", type, seed);
                near(loop->gamma[r], tree->gamma[r], exact, "gamma of the loop", type, seed);
            }
            accelerations_by_differences(p.in_tree, 0, p.q, p.v, A);
            lw_rows_transposed(tree, A, H_A);
            lw_rows_transposed(loop, A, H_A_loop); /* bodies are labelled alike: one, two */
            assert_string_equal(p.tree->bodies[1].name, p.loop->bodies[1].name);
            for (int r = 0; r < tree->count; r++)
                near(H_A[r], tree->gamma[r], differences, "gamma", type, seed);
            for (int r = 0; r < loop->count; r++)
                near(H_A_loop[r], loop->gamma[r], differences, "gamma", type, seed);
            pair_destroy(&p);
        }
}

/* Bodies that move as they like: H'V - rate is the rate of phi where phi = 0, and nearly so elsewhere. */
static void rate_of_the_violation(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            pair p;
            pair_create(&p, &random, (lw_joint_type)type, seed % 3 == 0);
            for (int cut = 0; cut < 2; cut++) {
                lw_newton_euler *s = cut ? p.in_loop : p.in_tree;
                const lw_rows *rows = s->rows;
                double y[ABSOLUTE], phi_dot[ROWS], H_V[ROWS];
                lw_newton_euler_rows_at(p.in_tree, 0, p.q, p.v);
                transfer(p.in_tree, s, y);
                for (int off = 0; off < 2; off++) {
                    const double error = 1e-5;
                    for (int i = 0; i < 2; i++) {
                        random_vector(&random, 6, 1.5, y + 13 * i + 7);
                        if (!off) continue;
                        for (int k = 0; k < 7; k++) y[13 * i + k] += random_between(&random, -error, error);
                        lw_quat_normalise(y + 13 * i + 3);
                    }
                    positions_by_differences(s, 0, y, phi_dot, NULL);
                    velocities_of_rows(s, H_V);
                    /* off the constraints the difference is of the order of the violation times speeds of up to 10 */
                    for (int r = 0; r < rows->count; r++) {
                        near(phi_dot[r], H_V[r] - rows->rate[r], off ? 20 * error : differences,
                             "rate of phi", type, seed);
                        if (off && fabs(rows->phi[r]) > 10 * error) fail_msg("phi is too large");
                    }
                }
            }
            pair_destroy(&p);
        }
}

/* From places and velocities of the bodies come coordinates and speeds, in the turn of the angles in y. */
static void coordinates_of_absolute_states(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            lw_random random = random_seed((uint64_t)seed);
            pair p;
            pair_create(&p, &random, (lw_joint_type)type, false);
            lw_newton_euler *s = p.in_tree;
            double y[ABSOLUTE];
            for (int k = 0; k < p.tree->nq; k++) p.q[k] *= 6; /* several turns */
            lw_normalise_q(p.tree, p.q);
            lw_newton_euler_rows_at(s, 0, p.q, p.v);
            lw_absolute_from_joints(s, y);
            for (int k = 0; k < s->angle_count; k++)
                y[13 * p.tree->body_count + k] += random_between(&random, -0.4, 0.4);
            lw_newton_euler_rows_at_absolute(s, 0, y);
            for (int k = 0; k < p.tree->nq; k++) near(s->data->q[k], p.q[k], exact, "q", type, seed);
            for (int k = 0; k < p.tree->nv; k++) near(s->data->v[k], p.v[k], exact, "v", type, seed);
            for (int r = 0; r < s->rows->count; r++) near(s->rows->phi[r], 0, exact, "phi", type, seed);
            pair_destroy(&p);
        }
}

/* --- trees ---------------------------------------------------------------------------------------- */

static void random_trees(void **state) {
    (void)state;
    for (int seed = 1; seed <= 4 * SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        random_tree options = {
            .bodies = 1 + random_below(&random, 6), .prescribed = true, .reversed = true, .joint = -1};
        options.aligned = seed % 2;
        lw_model *model = random_tree_model(&random, &options);
        lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
        const lw_rows *rows = s->rows;
        double q[64], v[64], A[6 * 16], H_A[ROWS], H_V[ROWS], back[64], F[6 * 16] = {0}, x[ROWS];
        random_state(&random, model, q, v);
        lw_newton_euler_rows_at(s, 0.3, q, v);
        velocities_of_rows(s, H_V);
        for (int r = 0; r < rows->count; r++) near(H_V[r], rows->rate[r], 10 * exact, "H'V", -1, seed);

        lw_rows_velocities(model, rows, A);
        lw_rows_joint_speeds(model, rows, A, back);
        for (int k = 0; k < model->nv; k++) near(back[k], s->data->v[k], 10 * exact, "v", -1, seed);

        /* six bodies at the end of each other: accelerations of up to 1000 */
        accelerations_by_differences(s, 0.3, q, v, A);
        lw_rows_transposed(rows, A, H_A);
        for (int r = 0; r < rows->count; r++)
            near(H_A[r], rows->gamma[r], 10 * differences, "gamma", -1, seed);
        lw_rows_joint_accelerations(model, rows, A, back);
        unsigned prescribed;
        for (int i = 1; i <= model->body_count; i++)
            for (int k = 0; k < model->links[i].joint.nv; k++) {
                int at = model->links[i].v + k;
                prescribed = model->links[i].prescribed >> k & 1;
                near(back[at], prescribed ? s->data->vdot[at] : 0, 10 * differences, "vdot", -1, seed);
            }

        /* (H x)'A = x'(H'A) */
        random_vector(&random, rows->count, 1, x);
        lw_rows_times(rows, x, F);
        double one = 0, other = 0, size = 0;
        for (int k = 0; k < 6 * model->body_count; k++) one += F[k] * A[k], size += fabs(F[k] * A[k]);
        for (int r = 0; r < rows->count; r++) other += x[r] * H_A[r];
        assert_true(fabs(one - other) <= 1e-13 * (1 + size));
        lw_newton_euler_destroy(s);
        lw_model_destroy(model);
    }
}

/* Given initial values become rows that ask for what is there. */
static void held_values(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("held");
    add_plain_body(spec, "one");
    add_plain_body(spec, "two");
    add_joint(spec, (lw_joint_spec){.name = "a",
                                    .type = LW_JOINT_CYLINDRICAL,
                                    .bodies = {LW_GROUND, "one"},
                                    .geometry[0] = {.axes = {{0, 0, 1}}, .axis_count = 1},
                                    .has_q = true,
                                    .q = {0.2, 0.3}});
    add_joint(spec, (lw_joint_spec){.name = "b",
                                    .type = LW_JOINT_SPHERICAL,
                                    .bodies = {"one", "two"},
                                    .has_v = true,
                                    .v = {1, 2, 3}});
    lw_model *model = compile_or_fail(spec);
    const int expected[3] = {4 + 3, 4 + 3 + 2, 4 + 3 + 3};
    for (int hold = LW_HOLD_NONE; hold <= LW_HOLD_V; hold++) {
        lw_newton_euler *s = lw_newton_euler_create(model, (lw_hold)hold);
        double H_V[ROWS];
        assert_int_equal(s->rows->count, expected[hold]);
        lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
        velocities_of_rows(s, H_V);
        for (int r = 0; r < s->rows->count; r++) {
            near(s->rows->phi[r], 0, rounding, "phi", hold, 0);
            near(H_V[r], s->rows->rate[r], rounding, "rate", hold, 0);
        }
        lw_newton_euler_destroy(s);
    }
    lw_model_destroy(model);
}

/* --- constraints ---------------------------------------------------------------------------------- */

/* A distance: phi, its rate and the rate of that hold for any motion. */
static void distance(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *spec = lw_spec_create("distance");
        bool to_ground = seed % 4 == 0;
        double points[2][3], y[26], phi_dot[ROWS], row_dot[ROWS], H_V[ROWS];
        add_random_body(spec, &random, "one");
        add_random_body(spec, &random, "two");
        add_free_joint(spec, "first", "one");
        add_free_joint(spec, "second", "two");
        random_vector(&random, 6, 1, points[0]);
        lw_constraint_spec rod = {.name = "rod",
                                  .bodies = {"one", to_ground ? LW_GROUND : "two"},
                                  .frame = LW_GEOMETRY_BODY,
                                  .length = 0.7};
        memcpy(rod.points, points, sizeof points);
        add_constraint(spec, rod);
        lw_model *model = compile_or_fail(spec);
        lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
        random_vector(&random, 26, 1.5, y);
        for (int i = 0; i < 2; i++) lw_quat_normalise(y + 13 * i + 3);
        positions_by_differences(s, 0, y, phi_dot, row_dot);
        velocities_of_rows(s, H_V);

        double ends[2][3] = {{0}}, line[3];
        for (int side = 0; side < 2; side++) {
            int body = lw_model_body(model, rod.bodies[side]);
            const lw_pose *world = &s->data->world[body], *frame = &model->bodies[body].frame;
            lw_pose user;
            lw_pose_compose(world->R, world->p, frame->R, frame->p, user.R, user.p);
            if (body == 0) lw_m3_identity(user.R), lw_v3_set(user.p, 0, 0, 0);
            lw_pose_point(user.R, user.p, points[side], ends[side]);
        }
        lw_v3_sub(ends[1], ends[0], line);
        assert_int_equal(s->rows->count, 1);
        near(s->rows->phi[0], lw_v3_norm(line) - 0.7, exact, "distance", 0, seed);
        near(H_V[0], phi_dot[0], differences, "rate of distance", 0, seed);
        near(-s->rows->gamma[0], row_dot[0], differences, "gamma of distance", 0, seed); /* A = 0 */
        assert_true(s->rows->rate[0] == 0);
        lw_newton_euler_destroy(s);
        lw_model_destroy(model);
    }
}

/* Coordinates of joints of several types, one written backwards, with a welded body in between. */
static void coupling(void **state) {
    (void)state;
    for (int seed = 1; seed <= SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_spec *spec = lw_spec_create("coupling");
        const char *const names[5] = {LW_GROUND, "a", "b", "c", "d"};
        static const lw_joint_type types[4] = {LW_JOINT_REVOLUTE, LW_JOINT_WELD, LW_JOINT_CYLINDRICAL,
                                               LW_JOINT_PLANAR};
        for (int i = 0; i < 4; i++) {
            char joint_name[8];
            add_random_body(spec, &random, names[i + 1]);
            snprintf(joint_name, sizeof joint_name, "j%d", i);
            lw_joint_spec joint = {.name = joint_name, .type = types[i], .bodies = {names[i], names[i + 1]}};
            if (i == 2) joint.bodies[0] = names[i + 1], joint.bodies[1] = names[i];
            random_vector(&random, 3, 1, joint.geometry[0].point);
            random_direction(&random, joint.geometry[0].axes[0]);
            joint.geometry[0].axis_count = types[i] != LW_JOINT_WELD;
            add_joint(spec, joint);
        }
        const double factors[4] = {2, -3, 0.5, 1.25};
        lw_constraint_spec gear = {.name = "gear",
                                   .type = LW_CONSTRAINT_COUPLING,
                                   .terms = 4,
                                   .offset = 0.3,
                                   .joints = {"j0", "j2", "j2", "j3"},
                                   .coordinates = {0, 1, 0, 2}};
        memcpy(gear.factors, factors, sizeof factors);
        add_constraint(spec, gear);
        lw_model *model = compile_or_fail(spec);
        lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
        double q[16], v[16], A[24], H_A[ROWS], H_V[ROWS], phi = -0.3, rate = 0;
        random_state(&random, model, q, v);
        accelerations_by_differences(s, 0, q, v, A);
        velocities_of_rows(s, H_V);
        lw_rows_transposed(s->rows, A, H_A);
        for (int k = 0; k < 4; k++) {
            lw_joint_info info = lw_model_joint_info(model, lw_model_joint(model, gear.joints[k]));
            phi += factors[k] * q[info.q + gear.coordinates[k]];
            rate += factors[k] * v[info.v + gear.coordinates[k]];
        }
        int r = s->rows->tree_count;
        assert_int_equal(s->rows->count, r + 1);
        near(s->rows->phi[r], phi, exact, "coupling", 0, seed);
        near(H_V[r], rate, exact, "rate of coupling", 0, seed);
        near(H_A[r], s->rows->gamma[r], differences, "gamma of coupling", 0, seed); /* vdot = 0 */
        lw_newton_euler_destroy(s);
        lw_model_destroy(model);
    }
}

/* --- rolling: the condition once more --------------------------------------------------------------- */

typedef struct roll {
    lw_model *model;
    lw_newton_euler *system;
    double centre[3], axis[3], origin[3], normal[3], radius; /* in the user's body frames */
    bool disc;
} roll;

/* A body's user frame in the world in an absolute state. */
static void user_frame(const lw_model *model, int body, const double *y, lw_pose *user) {
    const double *own = y + 13 * (body - 1);
    double R[9], arm[3];
    lw_pose internal;
    lw_rot_quat(own + 3, R);
    memcpy(internal.R, R, sizeof R);
    lw_m3_mul_v(R, model->bodies[body].com, arm);
    lw_v3_sub(own, arm, internal.p);
    lw_pose_compose(internal.R, internal.p, model->bodies[body].frame.R, model->bodies[body].frame.p, user->R,
                    user->p);
}

static void point_velocity(const double *y, int body, const double x[3], double out[3]) {
    const double *own = y + 13 * (body - 1);
    double arm[3];
    lw_v3_sub(x, own, arm);
    lw_v3_cross(own + 10, arm, out);
    lw_v3_add(out, own + 7, out);
}

/* Of the disc's rim x(a) = c + r (cos a b1 + sin a b2) the point that is lowest over the plane; how high it is, and the
 * velocity of the disc against the plane there. */
static void touching(const roll *r, const double *y, double *height, double slip[3]) {
    int roller = lw_model_body(r->model, "wheel"), table = lw_model_body(r->model, "table");
    lw_pose wheel, plane;
    double c[3], o[3], n[3], x[3], gap[3], plane_velocity[3];
    user_frame(r->model, roller, y, &wheel);
    user_frame(r->model, table, y, &plane);
    lw_pose_point(wheel.R, wheel.p, r->centre, c);
    lw_pose_point(plane.R, plane.p, r->origin, o);
    lw_m3_mul_v(plane.R, r->normal, n);
    lw_v3_copy(c, x);
    if (r->disc) {
        double a[3], b1[3], b2[3];
        lw_m3_mul_v(wheel.R, r->axis, a);
        lw_v3_perpendicular(a, b1);
        lw_v3_cross(a, b1, b2);
        double angle = atan2(-lw_v3_dot(n, b2), -lw_v3_dot(n, b1));
        lw_v3_axpy(r->radius * cos(angle), b1, x);
        lw_v3_axpy(r->radius * sin(angle), b2, x);
    } else
        lw_v3_axpy(-r->radius, n, x);
    lw_v3_sub(x, o, gap);
    *height = lw_v3_dot(gap, n);
    point_velocity(y, roller, x, slip);
    point_velocity(y, table, x, plane_velocity);
    lw_v3_sub(slip, plane_velocity, slip);
}

/* A disc or a sphere on a tilted plane that moves itself. Bodies move with constant velocities, so wdot and rddot are
 * zero and the rate of the slip, apart from that of the directions, is -gamma. */
static void rolling(void **state) {
    (void)state;
    for (int seed = 1; seed <= 2 * SEEDS; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        roll r = {.disc = seed % 2, .radius = random_between(&random, 0.2, 1)};
        lw_spec *spec = lw_spec_create("rolling");
        add_random_body(spec, &random, "wheel");
        add_random_body(spec, &random, "table");
        add_free_joint(spec, "first", "wheel");
        add_free_joint(spec, "second", "table");
        random_vector(&random, 3, 0.5, r.centre);
        random_vector(&random, 3, 0.5, r.origin);
        random_direction(&random, r.axis);
        random_direction(&random, r.normal);
        lw_constraint_spec rolls = {.name = "rolls",
                                    .type = LW_CONSTRAINT_ROLLING,
                                    .bodies = {"wheel", "table"},
                                    .frame = LW_GEOMETRY_BODY,
                                    .radius = r.radius};
        for (int k = 0; k < 3; k++) {
            rolls.points[0][k] = r.centre[k], rolls.points[1][k] = r.origin[k];
            rolls.axis[k] = r.disc ? 3 * r.axis[k] : 0;
            rolls.normal[k] = 0.2 * r.normal[k];
        }
        add_constraint(spec, rolls);
        r.model = compile_or_fail(spec);
        r.system = lw_newton_euler_create(r.model, LW_HOLD_NONE);
        const lw_rows *rows = r.system->rows;
        assert_int_equal(rows->count, 3);

        /* not too flat a disc: the touching point runs the faster the flatter it lies */
        double y[26], moved[26], height, slip[3], n[3], a[3];
        int wheel = lw_model_body(r.model, "wheel"), table = lw_model_body(r.model, "table");
        do {
            lw_pose pose;
            random_vector(&random, 26, 1, y);
            for (int i = 0; i < 2; i++) lw_quat_normalise(y + 13 * i + 3);
            user_frame(r.model, wheel, y, &pose), lw_m3_mul_v(pose.R, r.axis, a);
            user_frame(r.model, table, y, &pose), lw_m3_mul_v(pose.R, r.normal, n);
        } while (r.disc && fabs(lw_v3_dot(a, n)) > 0.6);
        double height_dot = 0, slip_dot[3] = {0, 0, 0}, H_V[3];
        for (int i = 1; i <= 4; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                move_absolute(2, y, sign * i * h, moved);
                touching(&r, moved, &height, slip);
                height_dot += sign * weights[i - 1] / h * height;
                lw_v3_axpy(sign * weights[i - 1] / h, slip, slip_dot);
            }
        touching(&r, y, &height, slip);
        lw_newton_euler_rows_at_absolute(r.system, 0, y);
        velocities_of_rows(r.system, H_V);
        near(rows->phi[0], height, exact, "height", 0, seed);
        near(H_V[0], height_dot, differences, "rate of height", 0, seed);
        for (int k = 0; k < 3; k++) {
            const lw_row *row = &rows->rows[k];
            const double *block = rows->H + 6 * row->block,
                         *e = block + 3; /* the first block is the wheel's */
            assert_int_equal(rows->body[row->block], wheel);
            near(lw_v3_norm(e), 1, rounding, "direction", k, seed);
            near(lw_v3_dot(e, n), k == 0, rounding, "normal", k, seed);
            near(H_V[k], lw_v3_dot(e, slip), exact, "slip", k, seed);
            near(-rows->gamma[k], lw_v3_dot(e, slip_dot), differences, "gamma of slip", k, seed);
            if (k > 0) assert_true(rows->phi[k] == 0);
        }
        lw_newton_euler_destroy(r.system);
        lw_model_destroy(r.model);
    }
}

/* --- words ------------------------------------------------------------------------------------------ */

static void says(const lw_model *model, const lw_rows *rows, int r, const char *text) {
    char words[128];
    lw_row_describe(model, &rows->rows[r], words, sizeof words);
    assert_string_equal(words, text);
}

static void descriptions(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("words");
    const double z[3] = {0, 0, 1};
    add_plain_body(spec, "one");
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "one", NULL, z);
    lw_spec_joint(spec, 0)->motion[0] = "t";
    add_joint(spec, (lw_joint_spec){.name = "lock",
                                    .type = LW_JOINT_UNIVERSAL,
                                    .bodies = {LW_GROUND, "one"},
                                    .geometry[0] = {.axes = {{0, 0, 1}, {1, 0, 0}}, .axis_count = 2},
                                    .cut = true});
    add_constraint(spec, (lw_constraint_spec){
                             .name = "rod", .bodies = {LW_GROUND, "one"}, .points = {{1, 0, 0}, {2, 0, 0}}});
    add_constraint(spec, (lw_constraint_spec){.name = "wheel",
                                              .type = LW_CONSTRAINT_ROLLING,
                                              .bodies = {"one", LW_GROUND},
                                              .radius = 1,
                                              .normal = {0, 0, 1}});
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_model_compile(spec, NULL, report, &model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    assert_non_null(model);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    says(model, s->rows, 0, "joint \"pin\", position x");
    says(model, s->rows, 4, "joint \"pin\", rotation y");
    says(model, s->rows, 5, "joint \"pin\", motion of speed 1");
    says(model, s->rows, 9, "joint \"lock\", rotation across both axes");
    says(model, s->rows, 10, "constraint \"rod\", distance");
    says(model, s->rows, 11, "constraint \"wheel\", touching the plane");
    says(model, s->rows, 13, "constraint \"wheel\", slip, second direction");
    lw_newton_euler_destroy(s);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dual_of_the_motion),
        cmocka_unit_test(coordinates_of_a_place),
        cmocka_unit_test(a_bad_guess_is_forgotten),
        cmocka_unit_test(kept_by_the_motion),
        cmocka_unit_test(rate_of_the_violation),
        cmocka_unit_test(coordinates_of_absolute_states),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(held_values),
        cmocka_unit_test(distance),
        cmocka_unit_test(coupling),
        cmocka_unit_test(rolling),
        cmocka_unit_test(descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
