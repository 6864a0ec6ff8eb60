/* test_tree.c - dynamics of trees on random mechanisms: every number by two independent ways.
 *
 *   forward against inverse dynamics against mass matrix (LAPACK)          three recursions
 *   velocities against finite differences of poses                         kinematics
 *   accelerations against finite differences of velocities                 bias terms
 *   Newton and Euler for every body in world axes, from those              reactions, gyroscopic terms
 *   d/dt (T + U) against the power of drives, forces and dissipation        every force element, energies
 *   Jacobians against velocities                                            Jacobians
 *
 * Trees have up to 12 bodies, all joints, all force elements, joints written in both directions, prescribed
 * motions.
 */
#include "random_model.h"
#include "formulations/common/tree_method_base.h"
#include "model/data.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

extern const lw_formulation lw_formulation_tree;

/* The recursions differ from each other by rounding times the condition of the mass matrix, 1e3
 * or so here. */
static const double agreement = 1e-10;
/* Eighth-order central differences with h = 0.02: truncation h^8 times a ninth derivative of order 100 or
 * more, rounding 1e-16 / h times values of order 100. */
static const double differences = 1e-8;

enum { MAX_NV = 96 };

typedef struct fixture {
    lw_model *model;
    lw_data *data;
    int nq, nv;
    double t, q[MAX_NV * 2], v[MAX_NV], vdot[MAX_NV], tau[MAX_NV];
} fixture;

static random_tree options_for(lw_random *random, int seed) {
    return (random_tree){.bodies = 1 + random_below(random, 12),
                         .forces = seed % 2,
                         .prescribed = seed % 3 == 1,
                         .reversed = seed % 4 < 2,
                         .aligned = seed % 7 < 4,
                         .joint = seed % 5 == 0 ? (seed / 5) % LW_JOINT_TYPES : -1};
}

static void set_up(fixture *f, lw_random *random, int seed) {
    random_tree options = options_for(random, seed);
    f->model = random_tree_model(random, &options);
    assert_int_equal(lw_data_create(f->model, NULL, &f->data), LW_OK);
    f->nq = lw_model_q_size(f->model), f->nv = lw_model_v_size(f->model);
    assert_true(f->nv <= MAX_NV);
    f->t = random_between(random, 0, 3);
    random_state(random, f->model, f->q, f->v);
    /* from here on q and v carry the prescribed values */
    lw_take_state(f->model, f->data, f->t, f->q, f->v);
    for (int k = 0; k < f->nq; k++) f->q[k] = f->data->q[k];
    for (int k = 0; k < f->nv; k++) f->v[k] = f->data->v[k];
    random_vector(random, f->nv, 3, f->tau);
    for (int k = 0; k < f->model->motion_count; k++) /* no additional forces where the motion is prescribed */
        for (int i = 0; i < f->model->motions[k].count; i++)
            f->tau[f->model->links[f->model->motions[k].body].v + f->model->motions[k].speed + i] = 0;
    lw_error error;
    assert_int_equal(lw_tree_forward_dynamics(f->model, f->data, f->t, f->q, f->v, f->tau, f->vdot, &error),
                     LW_OK);
}

static void tear_down(fixture *f) {
    lw_data_destroy(f->data);
    lw_model_destroy(f->model);
}

static void check(double difference, double tolerance, int seed, const char *what) {
    if (!(difference <= tolerance))
        fail_msg("seed %d: %s differ by %g, more than %g", seed, what, difference, tolerance);
}

static bool is_prescribed(const lw_model *model, int speed) {
    for (int i = 1; i <= model->body_count; i++) {
        int k = speed - model->links[i].v;
        if (k >= 0 && k < model->links[i].joint.nv) return model->links[i].prescribed >> k & 1;
    }
    return false;
}

extern void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda, double *b,
                   const int *ldb, int *info);

extern void dpocon_(const char *uplo, const int *n, const double *a, const int *lda, const double *norm,
                    double *rcond, double *work, int *iwork, int *info);

static double norm1(const double *A, int n) {
    double norm = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(A[i * n + j]);
        norm = fmax(norm, sum);
    }
    return norm;
}

static void forward_inverse_and_mass_matrix_agree(void **state) {
    (void)state;
    for (int seed = 1; seed <= 600; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        fixture f;
        set_up(&f, &random, seed);
        double tau[MAX_NV], zero[MAX_NV] = {0}, bias[MAX_NV];
        assert_int_equal(lw_tree_inverse_dynamics(f.model, f.data, f.t, f.q, f.v, f.vdot, tau, NULL), LW_OK);
        int n = 0, free_speed[MAX_NV];
        for (int k = 0; k < f.nv; k++)
            if (!is_prescribed(f.model, k)) free_speed[n++] = k;
        double difference = 0, scale = 1;
        for (int k = 0; k < n; k++) {
            difference = fmax(difference, fabs(tau[free_speed[k]] - f.tau[free_speed[k]]));
            scale = fmax(scale, fabs(f.vdot[free_speed[k]]));
        }
        check(difference / scale, agreement, seed, "forward and inverse dynamics");

        /* M vdot + bias = tau, on the free speeds; bias holds what prescribed accelerations do */
        double *M = calloc((size_t)(f.nv * f.nv + 1), sizeof *M), *A = calloc((size_t)(n * n + 1), sizeof *A);
        double b[MAX_NV], expected[MAX_NV];
        assert_int_equal(lw_tree_inverse_dynamics(f.model, f.data, f.t, f.q, f.v, zero, bias, NULL), LW_OK);
        lw_tree_mass_matrix(f.model, f.data, f.t, f.q, M);
        for (int i = 0; i < n; i++) {
            b[i] = f.tau[free_speed[i]] - bias[free_speed[i]];
            expected[i] = f.vdot[free_speed[i]];
            for (int j = 0; j < n; j++) A[i * n + j] = M[free_speed[i] * f.nv + free_speed[j]];
        }
        double residual = 0, size = 1;
        for (int i = 0; i < n; i++) {
            double sum = -b[i];
            for (int j = 0; j < n; j++) {
                sum += A[i * n + j] * expected[j];
                size = fmax(size, fabs(A[i * n + j] * expected[j]));
            }
            residual = fmax(residual, fabs(sum));
        }
        check(residual / size, agreement, seed, "mass matrix times acceleration and force");
        int one = 1, info = 0;
        double norm = norm1(A, n), rcond = 1, work[3 * MAX_NV];
        int iwork[MAX_NV];
        if (n > 0) {
            dposv_("U", &n, &one, A, &n, b, &n, &info);
            dpocon_("U", &n, A, &n, &norm, &rcond, work, iwork, &info);
        }
        assert_int_equal(info, 0);
        /* a solution carries rounding times the condition number, which a long chain of sliders
         * makes large */
        check(relative_difference(expected, b, n), agreement + 1e-15 / rcond, seed,
              "forward dynamics and mass matrix");
        free(M), free(A);
        tear_down(&f);
    }
}

/* Derivative at 0 of a function of s given at s = -4h .. 4h (without 0), eighth order. */
static double derivative(const double *values, int stride, double h) {
    static const double c[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double sum = 0;
    for (int k = 1; k <= 4; k++) sum += c[k - 1] * (values[(k + 3) * stride] - values[(4 - k) * stride]);
    return sum / h;
}
static double offset(int sample, double h) { return (sample < 4 ? sample - 4 : sample - 3) * h; }

/* The state at time t + s on a curve with the derivative (N v, vdot) at s = 0. */
static void along(const fixture *f, double s, double *q, double *v) {
    memcpy(q, f->q, (size_t)f->nq * sizeof *q);
    lw_integrate_q(f->model, q, f->v, s);
    for (int k = 0; k < f->nv; k++) v[k] = f->v[k] + s * f->vdot[k];
}

static void velocities_are_rates_of_poses(void **state) {
    (void)state;
    const double h = 0.02;
    for (int seed = 1; seed <= 200; seed++) {
        lw_random random = random_seed((uint64_t)seed + 1000);
        fixture f;
        set_up(&f, &random, seed);
        int body = 1 + random_below(&random, f.model->body_count);
        double point[3], values[8][3], spins[8][9], q[2 * MAX_NV], v[MAX_NV], J[6 * MAX_NV];
        random_vector(&random, 3, 1, point);
        for (int k = 0; k < 8; k++) {
            double position[3], R[9];
            along(&f, offset(k, h), q, v);
            lw_body_pose(f.model, f.data, f.t + offset(k, h), q, body, position, R);
            lw_m3_mul_v(R, point, values[k]);
            lw_v3_add(values[k], position, values[k]);
            memcpy(spins[k], R, sizeof R);
        }
        double angular[3], linear[3], numeric[3], position[3], R[9], Rdot[9], skew[9];
        for (int i = 0; i < 3; i++) numeric[i] = derivative(&values[0][i], 3, h);
        lw_body_velocity(f.model, f.data, f.t, f.q, f.v, body, point, angular, linear);
        check(relative_difference(linear, numeric, 3), differences, seed, "velocity and rate of position");
        for (int i = 0; i < 9; i++) Rdot[i] = derivative(&spins[0][i], 9, h);
        lw_body_pose(f.model, f.data, f.t, f.q, body, position, R);
        double Rt[9];
        lw_m3_transpose(R, Rt);
        lw_m3_mul(Rdot, Rt, skew);
        const double spin[3] = {skew[7], skew[2], skew[3]};
        check(relative_difference(angular, spin, 3), differences, seed,
              "angular velocity and rate of rotation");

        double by_jacobian[6] = {0}, expected[6];
        lw_tree_body_jacobian(f.model, f.data, f.t, f.q, body, J);
        for (int r = 0; r < 6; r++)
            for (int k = 0; k < f.nv; k++) by_jacobian[r] += J[r * f.nv + k] * f.v[k];
        const double origin[3] = {0, 0, 0};
        lw_body_velocity(f.model, f.data, f.t, f.q, f.v, body, origin, expected, expected + 3);
        check(relative_difference(expected, by_jacobian, 6), agreement, seed, "body Jacobian and velocity");
        lw_tree_point_jacobian(f.model, f.data, f.t, f.q, body, point, J);
        memset(by_jacobian, 0, sizeof by_jacobian);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < f.nv; k++) by_jacobian[r] += J[r * f.nv + k] * f.v[k];
        check(relative_difference(linear, by_jacobian, 3), agreement, seed, "point Jacobian and velocity");
        tear_down(&f);
    }
}

/* World accelerations of a body's centre of mass and its angular acceleration, by differences
 * of velocities. */
static void numeric_accelerations(const fixture *f, int body, double a[3], double alpha[3]) {
    const double h = 0.01; /* angular velocities reach 20 rad/s */
    double linear[8][3], angular[8][3], com[3], q[2 * MAX_NV], v[MAX_NV], t[3];
    const lw_body *link = &f->model->bodies[body];
    lw_v3_sub(link->com, link->frame.p, t); /* the centre of mass in the user's frame */
    lw_m3_tmul_v(link->frame.R, t, com);
    for (int k = 0; k < 8; k++) {
        along(f, offset(k, h), q, v);
        lw_body_velocity(f->model, f->data, f->t + offset(k, h), q, v, body, com, angular[k], linear[k]);
    }
    for (int i = 0; i < 3; i++)
        a[i] = derivative(&linear[0][i], 3, h), alpha[i] = derivative(&angular[0][i], 3, h);
}

/* Accelerations of a body's centre and its rotation, analytically from the recursion (gravity put back). */
static void recursion_accelerations(const fixture *f, int body, double a[3], double alpha[3], double w[3]) {
    const lw_node *node = &f->data->nodes[body];
    const double *com = f->model->bodies[body].com, *R = f->data->world[body].R;
    double local[3], t[3];
    lw_v3_copy(node->a + 3, local);
    lw_v3_add_cross(node->a, com, local);
    lw_v3_cross(node->w, com, t);
    lw_v3_add_cross(node->w, t, local);
    lw_m3_mul_v(R, local, a);
    lw_v3_add(a, f->model->gravity, a);
    lw_m3_mul_v(R, node->a, alpha);
    lw_m3_mul_v(R, node->w, w);
}

static void wrenches_balance_on_every_body(void **state) {
    (void)state;
    for (int seed = 1; seed <= 400; seed++) {
        lw_random random = random_seed((uint64_t)seed + 2000);
        fixture f;
        set_up(&f, &random, seed);
        const lw_model *model = f.model;
        int nj = model->joint_count;
        double *reactions = calloc((size_t)nj * 6 + 6, sizeof *reactions);
        /* Accelerations of all bodies: without this only those of links would be there, where welds are merged. */
        assert_int_equal(lw_open_forward(model, f.data, f.t, f.q, f.v, f.tau, f.vdot, NULL), LW_OK);
        for (int i = 1; i <= model->body_count; i++) {
            double a[3], alpha[3], w[3], numeric_a[3], numeric_alpha[3];
            assert_int_equal(lw_joint_reactions(model, f.data, f.t, f.q, f.v, f.vdot, reactions, NULL),
                             LW_OK);
            recursion_accelerations(&f, i, a, alpha, w);
            const lw_link *link = &model->links[i];
            const lw_pose *world = &f.data->world[i];
            double com[3], force[3], torque[3], load_f[3], load_n[3], arm[3], scale = 1;
            lw_pose_point(world->R, world->p, model->bodies[i].com, com);
            lw_m3_mul_v(world->R, f.data->load + 6 * i + 3, force);
            lw_m3_mul_v(world->R, f.data->load + 6 * i, torque); /* about the internal origin */
            lw_v3_copy(force, load_f);
            lw_v3_copy(torque, load_n);
            lw_v3_sub(world->p, com, arm);
            lw_v3_add_cross(arm, force, torque);
            lw_v3_axpy(link->inertia.mass, model->gravity, force);
            for (int j = 0; j < nj; j++) {
                const lw_joint_entry *entry = &model->joints[j];
                double sign = entry->info.bodies[1] == i ? 1 : entry->info.bodies[0] == i ? -1 : 0;
                if (sign == 0) continue;
                double at[3], moment[3];
                const lw_pose *second = &f.data->world[entry->info.bodies[1]];
                lw_pose_point(second->R, second->p, entry->frames[1].p, at);
                lw_v3_sub(at, com, arm);
                lw_v3_cross(arm, reactions + 6 * j, moment);
                lw_v3_add(moment, reactions + 6 * j + 3, moment);
                lw_v3_axpy(sign, reactions + 6 * j, force);
                lw_v3_axpy(sign, moment, torque);
                for (int k = 0; k < 3; k++)
                    scale = fmax(scale, fmax(fabs(reactions[6 * j + k]), fabs(moment[k])));
            }
            /* rate of momentum: m a, and d/dt (J w) = J alpha + w x J w about the centre of
             * mass, world axes */
            double centre[6], J[6], momentum[3], rate[3], t[3],
                c2 = lw_v3_dot(model->bodies[i].com, model->bodies[i].com);
            memcpy(centre, link->inertia.second, sizeof centre);
            double m = link->inertia.mass;
            const double *c = model->bodies[i].com;
            for (int k = 0; k < 3; k++) centre[k] -= m * (c2 - c[k] * c[k]);
            centre[3] += m * c[0] * c[1], centre[4] += m * c[0] * c[2], centre[5] += m * c[1] * c[2];
            lw_s3_rotate(world->R, centre, J);
            lw_s3_mul_v(J, w, momentum);
            lw_s3_mul_v(J, alpha, rate);
            lw_v3_cross(w, momentum, t);
            lw_v3_add(rate, t, rate);
            for (int k = 0; k < 3; k++) {
                check(fabs(force[k] - m * a[k]) / scale, agreement, seed, "force and rate of momentum");
                check(fabs(torque[k] - rate[k]) / scale, agreement, seed,
                      "torque and rate of angular momentum");
            }
            numeric_accelerations(&f, i, numeric_a, numeric_alpha);
            check(relative_difference(a, numeric_a, 3), differences, seed,
                  "acceleration and rate of velocity");
            check(relative_difference(alpha, numeric_alpha, 3), differences, seed,
                  "angular acceleration and rate of angular velocity");
        }
        free(reactions);
        tear_down(&f);
    }
}

static void energy_changes_by_the_power_of_what_acts(void **state) {
    (void)state;
    const double h = 0.005; /* short, since a bushing's potential has a kink where its rotation passes pi */
    for (int seed = 1; seed <= 400; seed++) {
        lw_random random = random_seed((uint64_t)seed + 3000);
        fixture f;
        set_up(&f, &random, seed);
        const lw_method_options none = {0};
        lw_method *method;
        lw_error error;
        lw_power power;
        double y[3 * MAX_NV], ydot[3 * MAX_NV], q[2 * MAX_NV], v[MAX_NV], total[8], magnitude = 1;
        assert_int_equal(lw_formulation_tree.create(f.model, &none, &method, &error), LW_OK);
        lw_formulation_tree.to_state(method, f.t, f.q, f.v, y);
        assert_int_equal(lw_formulation_tree.derivative(method, f.t, y, ydot, &power, &error), LW_OK);
        for (int k = 0; k < f.nv; k++) f.vdot[k] = ydot[f.nq + k]; /* without additional tau */
        for (int k = 0; k < 8; k++) {
            along(&f, offset(k, h), q, v);
            /* the curve misses prescribed values at second order only; lw_energy_of takes them exactly */
            lw_energy energy = lw_energy_of(f.model, f.data, f.t + offset(k, h), q, v);
            total[k] = energy.kinetic + energy.potential;
            magnitude = fmax(magnitude, fmax(energy.kinetic, fabs(energy.potential)));
        }
        double rate = derivative(total, 1, h), expected = power.drives + power.forces - power.dissipation;
        check(fabs(rate - expected) / magnitude, 1e-7, seed,
              "rate of energy and power"); /* tables are C1 only */

        /* the residual of IDA books the same power and vanishes on the derivative */
        double residual[3 * MAX_NV];
        lw_power again;
        assert_int_equal(lw_formulation_tree.residual(method, f.t, y, ydot, residual, &again, &error), LW_OK);
        double worst = 0, scale = 1;
        for (int k = 0; k < f.nq + f.nv; k++) worst = fmax(worst, fabs(residual[k]));
        for (int k = 0; k < f.nv; k++) scale = fmax(scale, fabs(f.vdot[k]));
        check(worst / scale, agreement, seed, "residual and zero");
        check(fabs(again.drives - power.drives) / magnitude, agreement, seed, "power of drives by two ways");
        lw_formulation_tree.destroy(method);
        tear_down(&f);
    }
}

static void momentum_of_a_free_tree_changes_by_gravity_alone(void **state) {
    (void)state;
    const double h = 0.02;
    for (int seed = 1; seed <= 100; seed++) {
        lw_random random = random_seed((uint64_t)seed + 4000);
        random_tree options = {.bodies = 1 + random_below(&random, 8), .reversed = true, .joint = -1};
        lw_spec *spec = random_tree_spec(&random, &options);
        /* everything hangs on one free body; internal springs only */
        double mass = 0;
        for (size_t k = 0; k < lw_spec_body_count(spec); k++) mass += lw_spec_body(spec, k)->mass;
        for (size_t k = 0; k < lw_spec_joint_count(spec); k++) {
            lw_joint_spec *joint = lw_spec_joint(spec, k);
            int ground = strcmp(joint->bodies[0], "ground") == 0   ? 0
                         : strcmp(joint->bodies[1], "ground") == 0 ? 1
                                                                   : -1;
            if (ground < 0) continue;
            if (k == 0) {
                joint->type = LW_JOINT_FREE;
                joint->geometry[0].axis_count = joint->geometry[1].axis_count = 0;
            } else
                joint->bodies[ground] = "body1";
        }
        fixture f = {.t = 0.3};
        f.model = compile_or_fail(spec);
        assert_int_equal(lw_data_create(f.model, NULL, &f.data), LW_OK);
        f.nq = lw_model_q_size(f.model), f.nv = lw_model_v_size(f.model);
        random_state(&random, f.model, f.q, f.v);
        assert_int_equal(lw_tree_forward_dynamics(f.model, f.data, f.t, f.q, f.v, NULL, f.vdot, NULL), LW_OK);
        double linear[8][3], angular[8][3], q[2 * MAX_NV], v[MAX_NV], rate[3], weight[3] = {0};
        for (int k = 0; k < 8; k++) {
            along(&f, offset(k, h), q, v);
            lw_momentum(f.model, f.data, f.t, q, v, linear[k], angular[k]);
        }
        for (int i = 0; i < 3; i++) rate[i] = derivative(&linear[0][i], 3, h);
        lw_v3_axpy(mass, lw_model_gravity(f.model), weight);
        check(relative_difference(weight, rate, 3), differences, seed, "rate of momentum and weight");
        double moment[3] = {0, 0, 0}, centre[3], part[3], w[3];
        lw_take_state(f.model, f.data, f.t, f.q, f.v);
        lw_positions(f.model, f.data);
        lw_world_poses(f.model, f.data);
        for (int i = 1; i <= f.model->body_count; i++) {
            lw_pose_point(f.data->world[i].R, f.data->world[i].p, f.model->bodies[i].com, centre);
            lw_v3_set(w, 0, 0, 0);
            lw_v3_axpy(f.model->links[i].inertia.mass, f.model->gravity, w);
            lw_v3_cross(centre, w, part);
            lw_v3_add(moment, part, moment);
        }
        for (int i = 0; i < 3; i++) rate[i] = derivative(&angular[0][i], 3, h);
        check(relative_difference(moment, rate, 3), differences, seed,
              "rate of angular momentum and moment of weight");
        tear_down(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_inverse_and_mass_matrix_agree),
        cmocka_unit_test(velocities_are_rates_of_poses),
        cmocka_unit_test(wrenches_balance_on_every_body),
        cmocka_unit_test(energy_changes_by_the_power_of_what_acts),
        cmocka_unit_test(momentum_of_a_free_tree_changes_by_gravity_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
