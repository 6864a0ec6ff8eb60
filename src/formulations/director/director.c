/* director.c - the formulations `director` and `director-full`: director coordinates, the energy-momentum
 * scheme, and the same equations in continuous form for other integrators.
 *
 * State    y = (q, v, angles): twelve coordinates per body, their rates, and the angles of joints, of which
 *          directors know no turns.
 * Step     director_step.c: with all multipliers (director-full), or reduced by the null-space matrix
 *          (director).
 * Rates    (1) after multiplication by P_int' are the equations of Newton and Euler (37) with the rows of
 *          joints: the stationary-point system, solved by kkt_sparse.c; its solution is that of (9).
 * Joints   coordinates from the poses, whose rotations are those nearest to the directors; speeds from the
 *          smallest change of the rates v, in the mass metric, that satisfies all rows. The rates of the
 *          discrete scheme do so only to O(h^2). The change keeps momenta but not the kinetic energy, which
 *          therefore is computed from v itself (`energy`).
 *
 * Source   Betsch and Leyendecker (2006); docs/theory/director.md.
 * Limits   no rolling: its rows have no position level. Bodies without inertia must be held by others.
 */
#include "constraints/kkt/kkt_sparse.h"
#include "formulations/director/director_parts.h"
#include "formulations/common/absolute_method_base.h"
#include "linalg/dense.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct director_method {
    lw_absolute_method absolute_base;
    lw_kkt_sparse *kkt;
    lw_director *d;
    double *absolute;      /* 13 per body: newton_euler_system.h */
    double *momentum, *V;  /* 6 per body */
    double *lambda, *ydot; /* rows; absolute rates */
    double *q, *v;         /* coordinates and rates with ground */
} director_method;

extern const lw_formulation lw_formulation_director, lw_formulation_director_full;

/* --- the mechanism -------------------------------------------------------------------------------- */

static bool allocate(lw_director *d) {
    const lw_model *model = d->model;
    lw_arena *arena = d->arena;
    size_t bodies = (size_t)d->n + 1, forces = (size_t)model->force_count + 1;
    d->bodies = LW_NEW(arena, lw_director_body, bodies);
    d->joints = LW_NEW(arena, lw_director_joint, bodies);
    d->coordinate = LW_NEW(arena, int, model->nq + 1);
    d->cut_coordinate = LW_NEW(arena, int, LW_JOINT_MAX_Q * model->closure_count + 1);
    d->force_measure = LW_NEW(arena, int, forces);
    d->sparse.force_block = LW_NEW(arena, int, 4 * forces);
    d->sparse.body_block = LW_NEW(arena, int, bodies);
    d->weight = LW_NEW(arena, double, 4 * bodies);
    d->step.joint_torque = LW_NEW(arena, double, 3 * (size_t)model->joint_count + 1);
    d->step.exact = LW_NEW(arena, long double, 12 * bodies);
    size_t loads = 6 * (size_t)model->joint_count + 1;
    double *kept = LW_NEW(arena, double, LW_DIRECTOR_KEPT *loads);
    double *numbers = LW_NEW(arena, double, 11 * 12 * bodies + 7 * bodies + (size_t)model->nv);
    if (lw_arena_failed(arena)) return false;
    for (size_t k = 0; k < LW_DIRECTOR_KEPT; k++) d->history.kept[k].reactions = kept + k * loads;
    double **arrays[] = {&d->step.q0,     &d->step.v0,       &d->step.qm,    &d->step.q1,
                         &d->step.change, &d->step.residual, &d->step.low_v, &d->step.v_end,
                         &d->step.rest,   &d->step.low_q,    &d->step.q_end};
    for (int k = 0; k < 11; k++) *arrays[k] = numbers + 12 * bodies * (size_t)k;
    d->step.turn = numbers + 132 * bodies;
    d->step.torque = d->step.turn + 4 * bodies;
    d->step.u = d->step.torque + 3 * bodies;
    for (int k = 0; k < 3; k++)
        d->step.q0[3 + 4 * k] = d->step.qm[3 + 4 * k] = d->step.q1[3 + 4 * k] = d->step.q_end[3 + 4 * k] = 1;
    for (size_t i = 0; i < bodies; i++) d->step.turn[4 * i] = 1;
    return true;
}

static bool allocate_choice(lw_director *d) {
    int rows = d->row_count - d->first_loop_row, nv = d->model->nv;
    d->choice.rank = -1;
    if (rows == 0) return true;
    size_t entries = (size_t)rows * (size_t)(nv + 1) + 1;
    d->choice.matrix = LW_NEW(d->arena, double, entries);
    d->choice.work = LW_NEW(d->arena, double, entries);
    d->choice.speeds = LW_NEW(d->arena, double, 6 * (size_t)d->n);
    d->choice.scale = LW_NEW(d->arena, double, (size_t)rows);
    d->choice.order = LW_NEW(d->arena, int, 3 * (size_t)rows);
    d->choice.orthogonal = lw_orthogonal_create(nv + 1, rows, false);
    return !lw_arena_failed(d->arena) && d->choice.orthogonal;
}

/* Sets the weights by which increments are measured, inertias and a little more where there are none, and the
 * length of the mechanism. */
static void weigh(lw_director *d) {
    double mass = 0, euler = 0;
    for (int i = 1; i <= d->n; i++) {
        mass += d->bodies[i].mass / d->n;
        for (int k = 0; k < 3; k++) euler += fabs(d->bodies[i].euler[k]) / (3 * d->n);
    }
    if (!(mass > 0)) mass = 1;
    if (!(euler > 0)) euler = mass;
    for (int i = 1; i <= d->n; i++)
        for (int k = 0; k < 4; k++)
            d->weight[4 * i + k] =
                k ? fmax(d->bodies[i].euler[k - 1], 0) + 1e-3 * euler : d->bodies[i].mass + 1e-3 * mass;
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        d->length = fmax(d->length, lw_v3_norm(joint->point[joint->side] + 1));
        if (d->model->links[i].parent)
            d->length = fmax(d->length, lw_v3_norm(joint->point[1 - joint->side] + 1));
        for (int k = 0; k < 3 && d->bodies[i].mass > 0; k++)
            d->length = fmax(d->length, sqrt(fmax(d->bodies[i].euler[k], 0) / d->bodies[i].mass));
    }
    /* There are only points; where these lie turned in the world, their arms are not zero but rounding. */
    const double rounding = 1e-9, longest = lw_longest_arm(d->model);
    if (!(d->length > rounding * longest)) d->length = longest;
}

lw_status lw_director_create(const lw_model *model, bool full, lw_director **out, lw_error *error) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_director *d = LW_NEW(arena, lw_director, 1);
    *out = NULL;
    if (!d) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    d->model = model, d->arena = arena, d->full = full, d->solver = &lw_director_by_matrix;
    d->progress.halved_at = NAN;
    d->n = model->body_count, d->size = full ? 12 : 6;
    bool fine = lw_data_create(model, NULL, &d->data) == LW_OK && allocate(d);
    if (fine) {
        memcpy(d->data->q, model->q0, (size_t)model->nq * sizeof *model->q0);
        for (int i = 0; i <= d->n; i++) lw_director_body_of(model, i, &d->bodies[i]);
        fine = lw_director_build(d) && lw_director_sparse_create(d) && allocate_choice(d) &&
               lw_director_recursive_create(d);
    }
    if (!fine) {
        lw_director_destroy(d);
        return lw_out_of_memory(error);
    }
    weigh(d);
    *out = d;
    return LW_OK;
}

void lw_director_destroy(lw_director *d) {
    if (!d) return;
    lw_block_matrix_destroy(d->sparse.matrix);
    lw_orthogonal_destroy(d->choice.orthogonal);
    lw_data_destroy(d->data);
    lw_arena_destroy(d->arena);
}

/* --- states --------------------------------------------------------------------------------------- */

/* Steps have a memory, of rounding above all, that is worth nothing to others: it is not kept. */
static void archive(lw_method *base, lw_archive *archive) {
    if (archive->mode == LW_ARCHIVE_READ) lw_director_forget(((director_method *)base)->d);
}

static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    director_method *method = (director_method *)base;
    lw_director *d = method->d;
    lw_newton_euler *s = method->absolute_base.system;
    size_t n = 12 * (size_t)d->n;
    lw_newton_euler_rows_at(s, t, q, v);
    for (int i = 1; i <= d->n; i++) {
        const lw_body_state *body = &s->rows->bodies[i];
        double V[6], *own = y + 12 * (i - 1);
        lw_v3_copy(body->w, V), lw_v3_copy(body->rdot, V + 3);
        lw_director_from_pose(&d->bodies[i], s->data->world[i].R, body->r, own);
        lw_director_rates(own, V, own + n);
    }
    memcpy(method->q + 12, y, n * sizeof *y);
    for (int k = 0; k < d->angle_count; k++)
        y[2 * n + (size_t)k] = lw_measure_value(&d->measures[d->angle_measure[k]], method->q, 0);
    /* The joint coordinates know the number of full revolutions. */
    for (int k = 0; k < base->model->nq; k++) {
        int measure = d->coordinate[k];
        if (measure >= 0 && d->measures[measure].angle >= 0)
            y[2 * n + (size_t)d->measures[measure].angle] = s->data->q[k];
    }
}

/* Writes poses, velocities and angles of y as absolute coordinates of the Newton-Euler system, and the
 * momenta of the bodies. */
static void to_absolute(director_method *method, const double *y) {
    lw_director *d = method->d;
    lw_newton_euler *s = method->absolute_base.system;
    size_t n = 12 * (size_t)d->n;
    for (int i = 1; i <= d->n; i++) {
        const double *q = y + 12 * (i - 1), *v = q + n;
        double *own = method->absolute + 13 * (i - 1), R[9], momentum[3], inertia[6];
        double *wrench = method->momentum + 6 * (i - 1), w[3] = {0, 0, 0};
        lw_director_rotation(&d->bodies[i], q, R);
        lw_v3_copy(q, own);
        lw_quat_rot(R, own + 3);
        lw_v3_copy(v, own + 7);
        for (int k = 3; k < 12; k += 3) lw_v3_add_cross(q + k, v + k, w);
        for (int k = 0; k < 3; k++) own[10 + k] = 0.5 * w[k];
        lw_director_spin(&d->bodies[i], q, v, momentum, inertia);
        for (int k = 0; k < 3; k++) wrench[k] = momentum[k], wrench[3 + k] = d->bodies[i].mass * v[k];
    }
    for (int k = 0; k < s->angle_count; k++) {
        int measure = d->coordinate[s->angles[k].q];
        method->absolute[13 * d->n + k] = y[2 * n + (size_t)d->measures[measure].angle];
    }
}

/* Finds the velocities V closest to the rates, in the mass metric, that satisfy all rows:
 * J V - H lambda = momenta, H'V = rate. */
static bool fit_velocities(director_method *method) {
    lw_newton_euler *s = method->absolute_base.system;
    return lw_kkt_sparse_factor(method->kkt, s->inertia, s->mass, s->rows, NULL) == LW_OK &&
           lw_kkt_sparse_solve(method->kkt, method->momentum, s->rows->rate, method->V, method->lambda,
                               NULL) == LW_OK;
}

static void from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    director_method *method = (director_method *)base;
    lw_newton_euler *s = method->absolute_base.system;
    to_absolute(method, y);
    lw_newton_euler_rows_at_absolute(s, t, method->absolute);
    memcpy(q, s->data->q, (size_t)base->model->nq * sizeof *q);
    memcpy(v, s->data->v, (size_t)base->model->nv * sizeof *v);
    lw_same_signs(base->model, base->model->q0, q); /* Directors do not know the sign of a quaternion. */
    if (!fit_velocities(method)) return;            /* The speeds are then those of the rates as they are. */
    for (int k = 0; k < base->model->nv; k++) method->ydot[k] = v[k];
    lw_rows_joint_speeds(base->model, s->rows, method->V, v);
    for (int i = 1; i <= base->model->body_count; i++) /* Prescribed speeds are exact. */
        for (int k = 0; k < base->model->links[i].joint.nv; k++)
            if (base->model->links[i].prescribed >> k & 1)
                v[base->model->links[i].v + k] = method->ydot[base->model->links[i].v + k];
}

/* --- continuous form ------------------------------------------------------------------------------ */

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    lw_kkt_sparse *kkt = ((director_method *)absolute_base)->kkt;
    lw_newton_euler *s = absolute_base->system;
    lw_status status = lw_kkt_sparse_factor(kkt, s->inertia, s->mass, s->rows, error);
    if (status != LW_OK) return status;
    return lw_kkt_sparse_solve(kkt, s->u, s->rows->gamma, s->a, s->lambda, error);
}

static lw_status derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error) {
    director_method *method = (director_method *)base;
    lw_director *d = method->d;
    lw_newton_euler *s = method->absolute_base.system;
    size_t n = 12 * (size_t)d->n;
    to_absolute(method, y);
    lw_status status = lw_absolute_derivative(base, t, method->absolute, method->ydot, power, error);
    if (status != LW_OK) return status;
    for (int i = 0; i < d->n; i++) {
        const double *q = y + 12 * i, *w = method->absolute + 13 * i + 10, *a = s->a + 6 * i;
        double *rate = ydot + 12 * i, *acceleration = rate + n;
        memcpy(rate, y + n + 12 * (size_t)i, 12 * sizeof *rate);
        lw_v3_copy(a + 3, acceleration);
        for (int k = 3; k < 12; k += 3) {
            double turning[3];
            lw_v3_cross(w, q + k, turning);
            lw_v3_cross(a, q + k, acceleration + k);
            lw_v3_add_cross(w, turning, acceleration + k);
        }
    }
    memcpy(method->q + 12, y, n * sizeof *y);
    memcpy(method->v + 12, y + n, n * sizeof *y);
    for (int k = 0; k < d->angle_count; k++) {
        const lw_measure *m = &d->measures[d->angle_measure[k]];
        double slope[24];
        lw_measure_slope(m, method->q, slope);
        ydot[2 * n + (size_t)k] = lw_measure_along(slope, m->bodies, method->v);
    }
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    director_method *method = (director_method *)base;
    lw_director *d = method->d;
    size_t n = 12 * (size_t)d->n;
    to_absolute(method, y);
    lw_status status = lw_absolute_project(base, t, method->absolute, error);
    if (status != LW_OK) return status;
    for (int i = 1; i <= d->n; i++) {
        const double *own = method->absolute + 13 * (i - 1);
        double R[9], V[6], *q = y + 12 * (i - 1);
        lw_rot_quat(own + 3, R);
        lw_v3_copy(own + 10, V), lw_v3_copy(own + 7, V + 3);
        lw_director_from_pose(&d->bodies[i], R, own, q);
        lw_director_rates(q, V, q + n);
    }
    memcpy(method->q + 12, y, n * sizeof *y);
    for (int k = 0; k < d->angle_count; k++)
        y[2 * n + (size_t)k] =
            lw_measure_value(&d->measures[d->angle_measure[k]], method->q, y[2 * n + (size_t)k]);
    return LW_OK;
}

/* --- the scheme ----------------------------------------------------------------------------------- */

static lw_status step(lw_method *base, double t, double h, const double *y, double *next, lw_power *work,
                      lw_error *error) {
    director_method *method = (director_method *)base;
    return lw_director_take_step(method->d, t, h, y, next, work, error);
}

/* The error of the rates tells nothing of the accuracy: each step by itself they satisfy the hidden
 * constraints only to O(h^2). */
static void differential(lw_method *base, bool *out) {
    int n = 12 * ((director_method *)base)->d->n;
    for (int k = 0; k < base->state_size; k++) out[k] = k < n || k >= 2 * n;
}

static bool reactions(lw_method *base, double t, double *out) {
    return lw_director_reactions_at(((director_method *)base)->d, t, out);
}

static lw_energy energy(lw_method *base, double t, const double *y) {
    (void)t;
    director_method *method = (director_method *)base;
    size_t n = 12 * (size_t)method->d->n;
    memcpy(method->q + 12, y, n * sizeof *y);
    memcpy(method->v + 12, y + n, n * sizeof *y);
    return lw_director_energy(method->d, method->q, method->v, y + 2 * n);
}

/* The largest violation of rigidity, joints, loops and constraints by the positions, and of the rows by the
 * rates. */
static void violation(lw_method *base, double t, const double *y, double *position, double *velocity) {
    director_method *method = (director_method *)base;
    lw_director *d = method->d;
    lw_newton_euler *s = method->absolute_base.system;
    to_absolute(method, y);
    lw_newton_euler_rows_at_absolute(s, t, method->absolute);
    lw_newton_euler_violation(s, position, velocity);
    for (int i = 0; i < d->n; i++)
        for (int k = 3; k < 12; k += 3)
            for (int l = k; l < 12; l += 3) {
                double dot = lw_v3_dot(y + 12 * i + k, y + 12 * i + l);
                *position = fmax(*position, fabs(dot - (k == l)));
            }
}

/* The condition of Newton's matrix in the last step; before the first step, of the system that was solved for
 * accelerations. */
static double condition(lw_method *base) {
    director_method *method = (director_method *)base;
    return method->d->step.h != 0 ? lw_director_condition(method->d) : lw_kkt_sparse_condition(method->kkt);
}

/* --- create --------------------------------------------------------------------------------------- */

static lw_status applies(const lw_model *model, lw_error *error) {
    if (lw_needs_no_rotors(model, error) != LW_OK) return LW_ERROR_UNSUPPORTED;
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint *constraint = &model->constraints[k];
        if (constraint->type == LW_CONSTRAINT_ROLLING)
            return lw_fail_at(
                error, LW_ERROR_UNSUPPORTED, model->file, constraint->place, "constraint", constraint->name,
                "take another method, such as lagrange or cut",
                "it rolls: steps in director coordinates can only keep constraints on positions");
    }
    for (int k = 0; k < model->force_count; k++)
        if (model->forces[k].contact)
            return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, (lw_place){0, 0}, "force",
                              model->forces[k].name, "take another method, such as lagrange or cut",
                              "it is a contact, which has no discrete gradient in director coordinates");
    if (model->values.element_of_quantities >= 0)
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, (lw_place){0, 0}, "force",
                          model->forces[model->values.element_of_quantities].name,
                          "take another method, such as lagrange or cut",
                          "it depends on quantities of the state, which steps in director coordinates have "
                          "only at their ends, and forces act in their middle");
    if (model->values.mover_count)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "take another method, such as lagrange or cut",
                       "a prescribed motion depends on a state of the user's, which steps in director "
                       "coordinates know only in their middle");
    return lw_needs_determined(model, error);
}

static void destroy(lw_method *base) {
    director_method *method = (director_method *)base;
    if (!method) return;
    lw_director_destroy(method->d);
    lw_kkt_sparse_destroy(method->kkt);
    free(method->absolute), free(method->momentum), free(method->V), free(method->lambda), free(method->ydot);
    free(method->q), free(method->v);
    lw_absolute_method_destroy(&method->absolute_base);
}

static double *numbers(size_t count) { return calloc(count + 1, sizeof(double)); }

static lw_status create(const lw_model *model, const lw_method_options *options, bool full, lw_method **out,
                        lw_error *error) {
    const lw_formulation *formulation = full ? &lw_formulation_director_full : &lw_formulation_director;
    director_method *method =
        (director_method *)lw_absolute_method_create(sizeof *method, formulation, model, options, solve);
    if (!method) return lw_out_of_memory(error);
    size_t n = (size_t)model->body_count;
    lw_newton_euler *s = method->absolute_base.system;
    method->kkt = lw_kkt_sparse_create(model, s->rows);
    method->absolute = numbers((size_t)lw_absolute_size(s));
    method->momentum = numbers(6 * n);
    method->V = numbers(6 * n);
    method->lambda = numbers((size_t)s->rows->count);
    method->ydot = numbers((size_t)lw_absolute_size(s) + (size_t)model->nv);
    method->q = numbers(12 * (n + 1));
    method->v = numbers(12 * (n + 1));
    lw_status status = LW_ERROR_MEMORY;
    if (method->kkt && method->absolute && method->momentum && method->V && method->lambda && method->ydot &&
        method->q && method->v)
        status = lw_director_create(model, full, &method->d, error);
    if (status == LW_OK) { /* The first factorisations choose pivots, which takes memory. */
        lw_data_set_values(model, method->d->data, options->inputs, options->states);
        for (int k = 0; k < 3; k++) method->q[3 + 4 * k] = 1;
        method->d->options = *options;
        method->absolute_base.base.state_size = lw_director_state_size(method->d);
        lw_newton_euler_rows_at(s, 0, model->q0, model->v0);
        status = lw_kkt_sparse_factor(method->kkt, s->inertia, s->mass, s->rows, NULL);
        if (status != LW_ERROR_MEMORY) status = LW_OK; /* A singular state is reported when it is solved. */
        double *y = numbers((size_t)method->absolute_base.base.state_size);
        if (y) {
            to_state(&method->absolute_base.base, 0, model->q0, model->v0, y);
            lw_director_warm_up(method->d, y);
        } else
            status = LW_ERROR_MEMORY;
        free(y);
    }
    if (status != LW_OK) {
        destroy(&method->absolute_base.base);
        return status == LW_ERROR_MEMORY ? lw_out_of_memory(error) : status;
    }
    *out = &method->absolute_base.base;
    return LW_OK;
}

static lw_status create_reduced(const lw_model *model, const lw_method_options *options, lw_method **out,
                                lw_error *error) {
    return create(model, options, false, out, error);
}

static lw_status create_full(const lw_model *model, const lw_method_options *options, lw_method **out,
                             lw_error *error) {
    return create(model, options, true, out, error);
}

#define COMMON                                                                                               \
    .coordinates = LW_COORDINATES_DIRECTOR, .integrator = "energy-momentum", .no_baumgarte = true,           \
    .applies = applies, .destroy = destroy, .to_state = to_state, .from_state = from_state,                  \
    .accelerations = lw_absolute_method_accelerations, .multipliers = lw_absolute_method_multipliers,        \
    .borrows = "lagrange", .no_force = true, .archive = archive, .derivative = derivative,                   \
    .differential = differential, .step = step, .project = project, .violation = violation,                  \
    .reactions = reactions, .energy = energy, .condition = condition

const lw_formulation lw_formulation_director = {
    .name = "director",
    .source = "betsch2006 9-15, 58-189",
    .cost = "O(n) per step for trees",
    .summary = "directors and the discrete null space: steps that keep energy and momenta",
    .rank = 200,
    .create = create_reduced,
    COMMON,
};

const lw_formulation lw_formulation_director_full = {
    .name = "director-full",
    .source = "betsch2006 1, 10, 24",
    .cost = "sparse",
    .summary = "directors with all multipliers: the constrained energy-momentum scheme",
    .rank = 201,
    .create = create_full,
    COMMON,
};
