/* test_projection.c - positions and velocities back onto closed loops and constraints.
 *
 *   closed      from disturbed positions of planar, spatial, overconstrained and constrained mechanisms, in joint and in
 *               absolute coordinates: what is left is rounding
 *   smallest    the change of velocities, and to first order that of positions, against a dense solution with the mass
 *               matrix and differences of the closure
 *   the same    in joint and in absolute coordinates
 */
#include "build.h"
#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "linalg/dense.h"
#include "random_loops.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define MOST 32 /* coordinates, rows and bodies of the models here */
#define SEEDS 12

/* --- mechanisms ------------------------------------------------------------------------------------- */

typedef struct hinge {
    lw_joint_type type;
    double point[3], axis[3];
} hinge;

/* A closed chain: ground, bodies b1 .. b(count - 1), ground again. */
static lw_spec *ring(const hinge *hinges, int count, lw_random *random) {
    lw_spec *spec = lw_spec_create("ring");
    for (int k = 0; k < count; k++) {
        char name[16], first[16], second[16];
        snprintf(name, sizeof name, "j%d", k);
        snprintf(first, sizeof first, "b%d", k);
        snprintf(second, sizeof second, "b%d", k + 1);
        if (k + 1 < count) {
            lw_body_spec body = {.name = second, .mass = random_between(random, 0.5, 2)};
            for (int i = 0; i < 3; i++) {
                body.com[i] =
                    0.5 * (hinges[k].point[i] + hinges[k + 1].point[i]) + random_between(random, -0.1, 0.1);
                body.inertia[i] = body.mass * random_between(random, 0.08, 0.12);
            }
            add_body(spec, body);
        }
        lw_joint_spec joint = {.name = name,
                               .type = hinges[k].type,
                               .bodies = {k ? first : LW_GROUND, k + 1 < count ? second : LW_GROUND}};
        lw_v3_copy(hinges[k].point, joint.geometry[0].point);
        lw_v3_copy(hinges[k].axis, joint.geometry[0].axes[0]);
        joint.geometry[0].axis_count = lw_v3_norm(hinges[k].axis) > 0;
        if (hinges[k].type == LW_JOINT_UNIVERSAL) {
            lw_v3_perpendicular(joint.geometry[0].axes[0], joint.geometry[0].axes[1]);
            joint.geometry[0].axis_count = 2;
        }
        joint.cut = k + 1 == count;
        add_joint(spec, joint);
    }
    return spec;
}

static const hinge four_bar[4] = {{LW_JOINT_REVOLUTE, {0, 0, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {0.3, 1, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {1.5, 1.4, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {1.7, 0, 0}, {0, 0, 1}}};
static const hinge rsur[4] = {{LW_JOINT_REVOLUTE, {0, 0, 0}, {0, 0, 1}},
                              {LW_JOINT_SPHERICAL, {0.4, 0, 0}, {0, 0, 0}},
                              {LW_JOINT_UNIVERSAL, {1.1, 0.8, 0.6}, {0.6, 0, 0.8}},
                              {LW_JOINT_REVOLUTE, {1.1, 0, 0.6}, {1, 0, 0}}};
static const hinge slider[4] = {{LW_JOINT_REVOLUTE, {0, 0, 0}, {0, 0, 1}},
                                {LW_JOINT_SPHERICAL, {0.3, 0.4, 0}, {0, 0, 0}},
                                {LW_JOINT_UNIVERSAL, {1.5, 0, 0.2}, {0, 1, 0}},
                                {LW_JOINT_PRISMATIC, {1.5, 0, 0.2}, {1, 0, 0}}};
static const hinge bricard[6] = {
    {LW_JOINT_REVOLUTE, {0, 0, 0}, {0, 1, 0}},  {LW_JOINT_REVOLUTE, {1, 0, 0}, {0, 0, 1}},
    {LW_JOINT_REVOLUTE, {1, -1, 0}, {1, 0, 0}}, {LW_JOINT_REVOLUTE, {1, -1, 1}, {0, 1, 0}},
    {LW_JOINT_REVOLUTE, {0, -1, 1}, {0, 0, 1}}, {LW_JOINT_REVOLUTE, {0, 0, 1}, {1, 0, 0}}};

enum { FOUR_BAR, RSUR, SLIDER, BRICARD, ROD, GEARS, MECHANISMS };

static lw_model *mechanism(int which, lw_random *random) {
    lw_spec *spec = NULL;
    switch (which) {
    case FOUR_BAR:
        spec = ring(four_bar, 4, random);
        break;
    case RSUR:
        spec = ring(rsur, 4, random);
        break;
    case SLIDER:
        spec = ring(slider, 4, random);
        break;
    case BRICARD:
        spec = ring(bricard, 6, random);
        break;
    case ROD: /* two arms of a Stewart-like stand, held together by rods */
        spec = lw_spec_create("rods");
        add_plain_body(spec, "plate");
        add_plain_joint(spec, "hover", LW_JOINT_FREE, LW_GROUND, "plate", NULL, NULL);
        for (int k = 0; k < 4; k++) {
            char name[16];
            snprintf(name, sizeof name, "rod%d", k);
            lw_constraint_spec rod = {.name = name, .bodies = {LW_GROUND, "plate"}};
            random_vector(random, 3, 1, rod.points[0]);
            random_vector(random, 3, 0.4, rod.points[1]);
            rod.points[0][2] -= 2;
            add_constraint(spec, rod);
        }
        break;
    default: /* GEARS */
        spec = ring(slider, 4, random);
        add_plain_body(spec, "wheel");
        add_plain_joint(spec, "shaft", LW_JOINT_REVOLUTE, LW_GROUND, "wheel", slider[0].point,
                        slider[0].axis);
        add_constraint(spec, (lw_constraint_spec){.name = "gear",
                                                  .type = LW_CONSTRAINT_COUPLING,
                                                  .terms = 2,
                                                  .joints = {"j0", "shaft"},
                                                  .factors = {1, -2.5}});
    }
    return compile_or_fail(spec);
}

static void disturb(const lw_model *model, lw_random *random, double size, double *q) {
    double speed[MOST];
    random_vector(random, model->nv, size, speed);
    lw_integrate_q(model, q, speed, 1);
}

/* --- a mechanism to try things on -------------------------------------------------------------------- */

typedef struct trial {
    int which, seed;
    lw_random random;
    lw_model *model;
    lw_projection *projection;
    lw_newton_euler *s;
    double q[MOST], v[MOST]; /* moved away and closed again; any speeds */
} trial;

static void every_mechanism(void (*check)(trial *x)) {
    for (int which = 0; which < MECHANISMS; which++)
        for (int seed = 1; seed <= SEEDS; seed++) {
            trial x = {.which = which, .seed = seed, .random = random_seed((uint64_t)seed)};
            lw_violation left;
            lw_error error;
            x.model = mechanism(which, &x.random);
            x.projection = lw_projection_create(x.model, LW_HOLD_NONE);
            x.s = lw_newton_euler_create(x.model, LW_HOLD_NONE);
            lw_model_initial_state(x.model, x.q, x.v);
            disturb(x.model, &x.random, 0.08, x.q);
            random_vector(&x.random, x.model->nv, 1, x.v);
            assert_int_equal(lw_project_positions(x.projection, 0, x.q, 60, &left, &error), LW_OK);
            check(&x);
            lw_newton_euler_destroy(x.s);
            lw_projection_destroy(x.projection);
            lw_model_destroy(x.model);
        }
}

/* --- closed ------------------------------------------------------------------------------------------ */

static void check_closed(trial *x) {
    const lw_model *model = x->model;
    lw_newton_euler *s = x->s;
    double *q = x->q, *v = x->v;
    double y[16 * MOST], position, velocity;
    lw_violation left;
    lw_error error;
    assert_int_equal(lw_project_velocities(x->projection, 0, q, v, &left, &error), LW_OK);
    lw_newton_euler_rows_at(s, 0, q, v);
    lw_newton_euler_violation(s, &position, &velocity);
    if (!(position < 1e-13) || !(velocity < 1e-12)) /* lengths, speeds of order 1, poses of six bodies */
        fail_msg("mechanism %d, seed %d: positions %g, velocities %g", x->which, x->seed, position, velocity);

    /* in absolute coordinates, with all joints open */
    lw_absolute_from_joints(s, y);
    for (int i = 0; i < model->body_count; i++) {
        for (int k = 0; k < 7; k++) y[13 * i + k] += random_between(&x->random, -0.01, 0.01);
        random_vector(&x->random, 6, 1, y + 13 * i + 7);
    }
    assert_int_equal(lw_project_absolute(x->projection, 0, y, &error), LW_OK);
    lw_newton_euler_rows_at_absolute(s, 0, y);
    lw_newton_euler_violation(s, &position, &velocity);
    if (!(position < 1e-13) || !(velocity < 1e-12))
        fail_msg("mechanism %d, seed %d, absolute: positions %g, velocities %g", x->which, x->seed, position,
                 velocity);
}

static void loops_close(void **state) {
    (void)state;
    every_mechanism(check_closed);
}

/* Rolling bodies may be moved along their plane: where these random mechanisms roll, closing their loops asks for it. */
static void slip_has_no_position_level(void **state) {
    (void)state;
    static const int seeds[] = {1327, 2015, 2687};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        random_loops loops;
        random_loops_build(&loops, seeds[k]);
        lw_model *model = compile_or_fail(loops.spec);
        bool rolls = false;
        for (int c = 0; c < model->constraint_count; c++)
            rolls |= model->constraints[c].type == LW_CONSTRAINT_ROLLING;
        assert_true(rolls);
        const lw_formulation *f = lw_formulation_find("lagrange");
        const lw_method_options options = {0};
        lw_method *method;
        lw_error error;
        double q[13 * MOST], v[13 * MOST], y[16 * MOST], position, velocity;
        assert_true(model->body_count <= MOST && model->nq <= 13 * MOST);
        random_loops_state(&loops, model, true, q, v);
        assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
        f->to_state(method, loops.t, q, v, y);
        for (int i = 0; i < method->state_size; i++) y[i] += random_between(&loops.random, -1e-4, 1e-4);
        assert_int_equal(f->project(method, loops.t, y, &error), LW_OK);
        f->violation(method, loops.t, y, &position, &velocity);
        if (!(position < 1e-12) || !(velocity < 1e-12)) /* as above; the mechanisms are some metres large */
            fail_msg("seed %d: positions %g, velocities %g", seeds[k], position, velocity);
        f->destroy(method);
        lw_model_destroy(model);
    }
}

/* --- smallest ---------------------------------------------------------------------------------------- */

/* The metric of projection.c: mass matrix, plus a little of the mean mass and inertia for every body. */
static void metric(const lw_model *model, lw_data *data, const lw_newton_euler *s, const double *q,
                   double *M) {
    int n = model->body_count, nv = model->nv;
    double mass = 0, inertia = 0;
    for (int i = 0; i < n; i++) {
        mass += s->mass[i] / n;
        for (int k = 0; k < 3; k++) inertia += s->inertia[6 * i + k] / (3 * n);
    }
    lw_tree_mass_matrix(model, data, 0, q, M);
    for (int i = 1; i <= n; i++) {
        double turning[6 * MOST], moving[3 * MOST], com[3], inverse[9], p[3];
        const lw_pose *frame = &model->bodies[i].frame;
        lw_pose_invert(frame->R, frame->p, inverse, p);
        lw_pose_point(inverse, p, model->bodies[i].com, com); /* in the user's frame */
        lw_tree_body_jacobian(model, data, 0, q, i, turning);
        lw_tree_point_jacobian(model, data, 0, q, i, com, moving);
        for (int a = 0; a < nv; a++)
            for (int b = 0; b < nv; b++)
                for (int k = 0; k < 3; k++)
                    M[a + b * nv] += 1e-6 * (inertia * turning[k * nv + a] * turning[k * nv + b] +
                                             mass * moving[k * nv + a] * moving[k * nv + b]);
    }
}

/* Rows of closures and constraints in the speeds, by differences of phi; m x nv. */
static void closure_by_differences(lw_newton_euler *s, const double *q, double *G) {
    const double h = 0.01;
    static const double weights[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    int m = s->rows->count - s->rows->tree_count, nv = s->model->nv;
    memset(G, 0, (size_t)(m * nv) * sizeof *G);
    for (int k = 0; k < nv; k++)
        for (int i = 1; i <= 4; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double speed[MOST] = {0}, moved[MOST];
                speed[k] = 1;
                memcpy(moved, q, (size_t)s->model->nq * sizeof *q);
                lw_integrate_q(s->model, moved, speed, sign * i * h);
                lw_newton_euler_rows_at(s, 0, moved, NULL);
                for (int r = 0; r < m; r++)
                    G[r + k * m] += sign * weights[i - 1] / h * s->rows->phi[s->rows->tree_count + r];
            }
    lw_newton_euler_rows_at(s, 0, q, NULL);
}

/* x of smallest x'M x with G x = b, by M = L L' and singular values of G L^-T. */
static void smallest(int m, int nv, double *M, const double *G, const double *b, double *x) {
    lw_symmetric *symmetric = lw_symmetric_create(nv);
    lw_orthogonal *work = lw_orthogonal_create(m, nv, true);
    double Y[MOST * MOST], S[MOST], U[MOST * MOST], Vt[MOST * MOST], z[MOST] = {0};
    assert_true(lw_cholesky_factor(symmetric, nv, M, NULL));
    /* Y = G L^-T, column by column from the left */
    for (int r = 0; r < m; r++)
        for (int j = 0; j < nv; j++) {
            double sum = G[r + j * m];
            for (int k = 0; k < j; k++) sum -= Y[r + k * m] * M[j + k * nv];
            Y[r + j * m] = sum / M[j + j * nv];
        }
    int rank = lw_svd(work, m, nv, Y, S, U, Vt, 1e-8);
    for (int k = 0; k < rank; k++) {
        double part = 0;
        for (int r = 0; r < m; r++) part += U[r + k * m] * b[r];
        for (int j = 0; j < nv; j++) z[j] += Vt[k + j * nv] * part / S[k];
    }
    for (int j = nv - 1; j >= 0; j--) { /* L'x = z */
        double sum = z[j];
        for (int k = j + 1; k < nv; k++) sum -= M[k + j * nv] * x[k];
        x[j] = sum / M[j + j * nv];
    }
    lw_symmetric_destroy(symmetric);
    lw_orthogonal_destroy(work);
}

static void check_smallest(trial *x) {
    const lw_model *model = x->model;
    lw_newton_euler *s = x->s;
    double *q = x->q, *v = x->v;
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    int nv = model->nv, m = s->rows->count - s->rows->tree_count;
    double before[MOST], M[MOST * MOST], G[MOST * MOST], b[MOST], change[MOST];
    lw_violation left;
    lw_error error;

    /* velocities: exactly */
    memcpy(before, v, sizeof before);
    assert_int_equal(lw_project_velocities(x->projection, 0, q, v, &left, &error), LW_OK);
    closure_by_differences(s, q, G);
    metric(model, data, s, q, M);
    for (int r = 0; r < m; r++) {
        b[r] = 0;
        for (int k = 0; k < nv; k++) b[r] -= G[r + k * m] * before[k];
    }
    smallest(m, nv, M, G, b, change);
    for (int k = 0; k < nv; k++) change[k] += before[k];
    /* differences are good to 1e-12, the condition of a mechanism of this kind is below 1e3 */
    double apart = relative_difference(v, change, nv);
    if (!(apart < 1e-9)) fail_msg("mechanism %d, seed %d: velocities differ by %g", x->which, x->seed, apart);

    /* positions: to first order in the error */
    if (x->which != BRICARD) { /* off the loop its rows are no longer dependent, only nearly so */
        const double error_size = 1e-5;
        double off[MOST], moved[MOST];
        memcpy(off, q, sizeof off);
        disturb(model, &x->random, error_size, off);
        closure_by_differences(s, off, G);
        metric(model, data, s, off, M);
        for (int r = 0; r < m; r++) b[r] = -s->rows->phi[s->rows->tree_count + r];
        smallest(m, nv, M, G, b, change);
        memcpy(moved, off, sizeof moved);
        lw_integrate_q(model, moved, change, 1);
        assert_int_equal(lw_project_positions(x->projection, 0, off, 1, &left, &error), LW_OK);
        apart = relative_difference(off, moved, model->nq);
        if (!(apart < 100 * error_size * error_size))
            fail_msg("mechanism %d, seed %d: positions differ by %g", x->which, x->seed, apart);
    }
    lw_data_destroy(data);
}

static void smallest_change(void **state) {
    (void)state;
    every_mechanism(check_smallest);
}

/* --- the same in both coordinates --------------------------------------------------------------------- */

static void check_agreement(trial *x) {
    const lw_model *model = x->model;
    lw_newton_euler *s = x->s;
    double *q = x->q, *v = x->v;
    double y[16 * MOST];
    lw_violation left;
    lw_error error;
    lw_newton_euler_rows_at(s, 0, q, v);
    lw_absolute_from_joints(s, y);
    assert_int_equal(lw_project_velocities(x->projection, 0, q, v, &left, &error), LW_OK);
    assert_int_equal(lw_project_absolute(x->projection, 0, y, &error), LW_OK);
    lw_newton_euler_rows_at_absolute(s, 0, y);
    double apart = relative_difference(v, s->data->v, model->nv); /* rounding times the condition */
    if (!(apart < 1e-11))
        fail_msg("mechanism %d, seed %d: velocities differ by %g", x->which, x->seed, apart);

    if (x->which != BRICARD) { /* positions: the paths differ to second order */
        const double size = 1e-4;
        disturb(model, &x->random, size, q);
        lw_newton_euler_rows_at(s, 0, q, v);
        lw_absolute_from_joints(s, y);
        assert_int_equal(lw_project_positions(x->projection, 0, q, 60, &left, &error), LW_OK);
        assert_int_equal(lw_project_absolute(x->projection, 0, y, &error), LW_OK);
        lw_newton_euler_rows_at_absolute(s, 0, y);
        apart = relative_difference(q, s->data->q, model->nq);
        if (!(apart < 100 * size * size))
            fail_msg("mechanism %d, seed %d: positions differ by %g", x->which, x->seed, apart);
    }
}

static void absolute_and_joint_agree(void **state) {
    (void)state;
    every_mechanism(check_agreement);
}

/* --- special cases -------------------------------------------------------------------------------------- */

/* Given initial values stay, the others move. */
static void held_coordinates_stay(void **state) {
    (void)state;
    lw_random random = random_seed(1);
    lw_spec *spec = ring(four_bar, 4, &random);
    lw_spec_joint(spec, 0)->has_q = true, lw_spec_joint(spec, 0)->q[0] = 0.21;
    lw_spec_joint(spec, 0)->has_v = true, lw_spec_joint(spec, 0)->v[0] = 1.7;
    lw_model *model = compile_or_fail(spec);
    lw_projection *positions = lw_projection_create(model, LW_HOLD_Q);
    lw_projection *velocities = lw_projection_create(model, LW_HOLD_V);
    double q[MOST], v[MOST];
    lw_violation left;
    lw_error error;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_project_positions(positions, 0, q, 60, &left, &error), LW_OK);
    assert_true(left.largest < 1e-13);
    assert_int_equal(lw_project_velocities(velocities, 0, q, v, &left, &error), LW_OK);
    assert_true(left.largest < 1e-12);
    int crank = lw_model_joint_info(model, 0).q;
    assert_true(fabs(q[crank] - 0.21) < 1e-13);
    assert_true(fabs(v[lw_model_joint_info(model, 0).v] - 1.7) < 1e-12);
    assert_true(fabs(q[lw_model_joint_info(model, 1).q]) > 0.01);
    lw_projection_destroy(positions), lw_projection_destroy(velocities);
    lw_model_destroy(model);
}

/* A crank whose angle is prescribed: the rest of the linkage follows, in velocity too. */
static void prescribed_coordinates_lead(void **state) {
    (void)state;
    lw_random random = random_seed(2);
    lw_spec *spec = ring(four_bar, 4, &random);
    lw_spec_joint(spec, 0)->motion[0] = "0.1 + 0.7*t";
    lw_model *model = compile_or_fail(spec);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    double q[MOST], v[MOST], y[16 * MOST], position, velocity;
    lw_violation left;
    lw_error error;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_project_positions(projection, 0.2, q, 60, &left, &error), LW_OK);
    assert_true(left.largest < 1e-13);
    assert_int_equal(lw_project_velocities(projection, 0.2, q, v, &left, &error), LW_OK);
    assert_true(left.largest < 1e-12);
    assert_true(fabs(v[lw_model_joint_info(model, 0).v] - 0.7) < 1e-12);
    /* absolute coordinates of another instant are led there too */
    lw_newton_euler_rows_at(s, 0.2, q, v);
    lw_absolute_from_joints(s, y);
    assert_int_equal(lw_project_absolute(projection, 0.25, y, &error), LW_OK);
    lw_newton_euler_rows_at_absolute(s, 0.25, y);
    lw_newton_euler_violation(s, &position, &velocity);
    assert_true(position < 1e-13 && velocity < 1e-12);
    lw_newton_euler_destroy(s);
    lw_projection_destroy(projection);
    lw_model_destroy(model);
}

/* A rod too long to close: nothing is lost but the gap, and its row is named. */
static void gap_that_cannot_close(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("too far");
    const double z[3] = {0, 0, 1};
    add_plain_body(spec, "arm");
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "arm", NULL, z);
    add_constraint(spec, (lw_constraint_spec){.name = "rod",
                                              .bodies = {LW_GROUND, "arm"},
                                              .points = {{4, 0, 0}, {0.8, 0.6, 0}},
                                              .length = 2});
    lw_model *model = compile_or_fail(spec);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    double q[MOST], v[MOST];
    char text[128];
    lw_violation left;
    lw_error error;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_project_positions(projection, 0, q, 60, &left, &error), LW_OK);
    assert_true(isfinite(q[0]) && left.largest > 0.5);
    const lw_rows *rows = lw_projection_system(projection)->rows;
    lw_row_describe(model, &rows->rows[left.row], text, sizeof text);
    assert_string_equal(text, "constraint \"rod\", distance");
    lw_projection_destroy(projection);
    lw_model_destroy(model);
}

static lw_model *four_bar_driven(const char *crank, const char *rocker) {
    lw_random random = random_seed(1);
    lw_spec *spec = ring(four_bar, 4, &random);
    lw_spec_joint(spec, 0)->motion[0] = crank;
    lw_spec_joint(spec, 2)->cut = true; /* both driven joints stay in the tree */
    lw_spec_joint(spec, 3)->cut = false;
    lw_spec_joint(spec, 3)->motion[0] = rocker;
    return compile_or_fail(spec);
}

/* Motions that contradict each other in place, in speed, only from then on, or only later. */
static void motions_that_contradict(void **state) {
    (void)state;
    static const struct {
        const char *crank, *rocker, *message;
    } cases[] = {{"0.5", "0.2", "the mechanism cannot be assembled: "},
                 {"t", "t", "no velocities are consistent with the prescribed motions: "},
                 {"t^2", "t^2", "no accelerations are consistent with the prescribed motions: "},
                 {"t^3", "t^3", NULL}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        lw_model *model = four_bar_driven(cases[k].crank, cases[k].rocker);
        double q[MOST], v[MOST];
        lw_error error;
        lw_model_initial_state(model, q, v);
        lw_status status = lw_assemble(model, 0, q, v, NULL, &error);
        assert_int_equal(status, cases[k].message ? LW_ERROR_MODEL : LW_OK);
        if (cases[k].message) {
            if (strncmp(error.message, cases[k].message, strlen(cases[k].message)) != 0)
                fail_msg("%s", error.message);
        } else { /* what a run meets */
            lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
            assert_int_equal(lw_project_state(projection, 0.5, q, v, &error), LW_ERROR_SINGULAR);
            assert_non_null(
                strstr(error.message, "the positions cannot be made consistent: joint \"j2\", position"));
            lw_projection_destroy(projection);
        }
        lw_model_destroy(model);
    }
}

/* A flat parallelogram can go on in two ways; speeds between these lead nowhere. */
static void speeds_along_no_branch(void **state) {
    (void)state;
    static const hinge flat[4] = {{LW_JOINT_REVOLUTE, {0, 0, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {1, 0, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {3, 0, 0}, {0, 0, 1}},
                                  {LW_JOINT_REVOLUTE, {2, 0, 0}, {0, 0, 1}}};
    for (int along = 0; along < 2; along++) {
        lw_random random = random_seed(1);
        lw_spec *spec = ring(flat, 4, &random);
        lw_spec_joint(spec, 0)->v[0] = 1, lw_spec_joint(spec, 0)->has_v = true;
        lw_spec_joint(spec, 1)->v[0] = along ? -1 : 0.5, lw_spec_joint(spec, 1)->has_v = true;
        lw_model *model = compile_or_fail(spec);
        double q[MOST], v[MOST];
        lw_error error;
        lw_model_initial_state(model, q, v);
        lw_status status = lw_assemble(model, 0, q, v, NULL, &error);
        assert_int_equal(status, along ? LW_OK : LW_ERROR_MODEL);
        if (!along)
            assert_non_null(strstr(error.message, "no accelerations are consistent with the initial speeds"));
        lw_model_destroy(model);
    }
}

static void nothing_to_do(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("free");
    add_plain_body(spec, "stone");
    add_plain_joint(spec, "air", LW_JOINT_FREE, LW_GROUND, "stone", NULL, NULL);
    lw_model *model = compile_or_fail(spec);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    double q[7], v[6] = {1, 2, 3, 4, 5, 6}, y[13] = {1, 2, 3, 2, 0, 0, 0, 4, 5, 6, 7, 8, 9}, kept[7];
    lw_violation left;
    lw_error error;
    lw_model_initial_state(model, kept, q);
    memcpy(q, kept, sizeof q);
    assert_int_equal(lw_project_positions(projection, 0, q, 5, &left, &error), LW_OK);
    assert_int_equal(left.row, -1);
    assert_memory_equal(q, kept, sizeof q);
    assert_int_equal(lw_project_velocities(projection, 0, q, v, &left, &error), LW_OK);
    assert_true(left.row == -1 && v[0] == 1 && v[5] == 6);
    assert_int_equal(lw_project_absolute(projection, 0, y, &error), LW_OK);
    assert_true(y[0] == 1 && y[3] == 1 && y[12] == 9); /* only the quaternion's length */
    lw_projection_destroy(projection);
    lw_model_destroy(model);
}

/* A gear ten turns from where the model starts: poses do not tell how often it has turned, and projection must not wind it
 * back. */
static void turns_are_kept(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("gears");
    const double z[3] = {0, 0, 1}, apart[3] = {1, 0, 0};
    add_plain_body(spec, "a");
    add_plain_body(spec, "b");
    add_plain_joint(spec, "pa", LW_JOINT_REVOLUTE, LW_GROUND, "a", NULL, z);
    add_plain_joint(spec, "pb", LW_JOINT_REVOLUTE, LW_GROUND, "b", apart, z);
    add_constraint(spec, (lw_constraint_spec){.name = "mesh",
                                              .type = LW_CONSTRAINT_COUPLING,
                                              .terms = 2,
                                              .joints = {"pa", "pb"},
                                              .factors = {1, 2.3}});
    lw_model *model = compile_or_fail(spec);
    const lw_formulation *lagrange = lw_formulation_find("lagrange");
    const lw_method_options options = {.drift = LW_DRIFT_PROJECT};
    lw_method *method;
    lw_error error;
    assert_int_equal(lagrange->create(model, &options, &method, &error), LW_OK);
    double q[2], v[2] = {2.3, -1}, y[28], kept[28], back[2], speeds[2];
    q[lw_model_joint_info(model, 0).q] = 2.3 * 60;
    q[lw_model_joint_info(model, 1).q] = -60;
    lagrange->to_state(method, 0, q, v, y);
    memcpy(kept, y, sizeof kept);
    assert_int_equal(lagrange->project(method, 0, y, &error), LW_OK);
    assert_true(relative_difference(y, kept, 28) < 1e-12);
    lagrange->from_state(method, 0, y, back, speeds);
    assert_true(relative_difference(back, q, 2) < 1e-12);
    lagrange->destroy(method);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_close),
        cmocka_unit_test(slip_has_no_position_level),
        cmocka_unit_test(smallest_change),
        cmocka_unit_test(absolute_and_joint_agree),
        cmocka_unit_test(held_coordinates_stay),
        cmocka_unit_test(prescribed_coordinates_lead),
        cmocka_unit_test(gap_that_cannot_close),
        cmocka_unit_test(motions_that_contradict),
        cmocka_unit_test(speeds_along_no_branch),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(turns_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
