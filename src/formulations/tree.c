/* tree.c - forward dynamics of trees: the articulated-body recursion, with prescribed coordinates.
 *
 *   given q, v, tau     find vdot with  M(q) vdot + c(q, v) = tau + forces
 *
 * Source   Anderson & Critchley (2003), eqs 8-19, 24-27, in body frames; derivation in docs/theory/tree.md.
 * Symbols  S motion subspace, I^ and p^ articulated inertia and bias force, U = I^ S, D = S'U, u = tau -
 * S'p^. Cost     O(n) per call, no allocation. Limits   no loops, no constraints; every joint must move some
 * inertia (otherwise LW_ERROR_SINGULAR names it).
 */
#include "formulations/tree.h"
#include "model/joint.h"

#include <stdio.h>
#include <stdlib.h>

/* Cholesky factor of the k x k matrix D (rows of 6) in place, prescribed rows left out. Returns the first row
 * whose pivot does not exceed its floor, or -1. */
static int factor(int k, unsigned prescribed, double *D, const double *floor) {
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        for (int j = 0; j <= i; j++) {
            if (prescribed >> j & 1) continue;
            double sum = D[6 * i + j];
            for (int l = 0; l < j; l++)
                if (!(prescribed >> l & 1)) sum -= D[6 * i + l] * D[6 * j + l];
            if (i != j)
                D[6 * i + j] = sum / D[6 * j + j];
            else if (sum > floor[i])
                D[6 * i + i] = sqrt(sum);
            else
                return i;
        }
    }
    return -1;
}

/* L x = b, in place, prescribed rows left out (they are not touched). */
static void solve_lower(int k, unsigned prescribed, const double *L, double *x) {
    for (int i = 0; i < k; i++) {
        if (prescribed >> i & 1) continue;
        for (int l = 0; l < i; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * i + l] * x[l];
        x[i] /= L[6 * i + i];
    }
}
static void solve_upper(int k, unsigned prescribed, const double *L, double *x) {
    for (int i = k - 1; i >= 0; i--) {
        if (prescribed >> i & 1) continue;
        for (int l = i + 1; l < k; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * l + i] * x[l];
        x[i] /= L[6 * i + i];
    }
}

static lw_status undetermined(const lw_model *model, int body, int speed, lw_error *error) {
    const lw_link *link = &model->links[body];
    char object[sizeof error->object];
    snprintf(object, sizeof object, "joint \"%s\"", model->joints[link->joint_index].name);
    return lw_fail(
        error, LW_ERROR_SINGULAR, object,
        "give the bodies it carries mass or inertia there, lock or prescribe that motion, or use a method "
        "for massless bodies",
        "nothing it carries (body \"%s\" and beyond) resists its %s number %d, so that acceleration is not "
        "determined",
        link->name, lw_joint_speed_turns(link->joint.type, speed) ? "rotation" : "translation", speed + 1);
}

/* Backward pass (anderson2003 14-19): articulated inertia and bias force of each body, handed to its parent.
 */
static lw_status backward(const lw_model *model, lw_data *data, lw_error *error) {
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        lw_articulated *own = &data->artic[i];
        lw_inertia I = own->I;
        double p[6], t[6], *u = data->u + link->v;
        int nv = link->joint.nv;
        lw_inertia_mul(&I, motion->bias, p); /* force of the bias acceleration */
        lw_v6_axpy(1, own->p, p);
        if (link->joint.type == LW_JOINT_REVOLUTE && !link->prescribed) {
            double *U = data->U + 6 * link->v;
            U[0] = I.A[4], U[1] = I.A[5], U[2] = I.A[2]; /* third column of I^ */
            U[3] = I.B[6], U[4] = I.B[7], U[5] = I.B[8];
            if (!(U[2] > model->pivot_floor[link->v])) return undetermined(model, i, 0, error);
            double inverse = 1 / U[2];
            data->D[6 * link->v] = inverse;
            *u = data->tau[link->v] - own->p[2];
            if (link->parent == 0) continue;
            double first = *u - lw_v6_dot(U, motion->bias);
            lw_inertia_rank_one(&I, inverse, U);
            lw_v6_axpy(first * inverse, U, p);
        } else if (nv > 0) {
            const double *S = data->S + 6 * link->v;
            double *U = data->U + 6 * link->v, *D = data->D + 6 * link->v;
            for (int k = 0; k < nv; k++) {
                lw_inertia_mul(&I, S + 6 * k, U + 6 * k);
                u[k] = data->tau[link->v + k] - lw_v6_dot(S + 6 * k, own->p);
                for (int l = 0; l <= k; l++) D[6 * k + l] = lw_v6_dot(S + 6 * l, U + 6 * k);
            }
            int bad = factor(nv, link->prescribed, D, model->pivot_floor + link->v);
            if (bad >= 0) return undetermined(model, i, bad, error);
            if (link->parent == 0) continue;
            /* prescribed accelerations act like bias */
            for (int k = 0; k < nv; k++)
                if (link->prescribed >> k & 1) lw_v6_axpy(data->vdot[link->v + k], U + 6 * k, p);
            double W[6 * LW_JOINT_MAX_V], y[LW_JOINT_MAX_V] = {0};
            for (int k = 0; k < nv; k++) {
                if (link->prescribed >> k & 1) continue;
                y[k] = data->tau[link->v + k] - lw_v6_dot(S + 6 * k, p); /* tau - S'(p^ + I^ bias) */
            }
            solve_lower(nv, link->prescribed, D, y);
            for (int row = 0; row < 6; row++) { /* W = L^-1 U' */
                double x[LW_JOINT_MAX_V];
                for (int k = 0; k < nv; k++) x[k] = U[6 * k + row];
                solve_lower(nv, link->prescribed, D, x);
                for (int k = 0; k < nv; k++) W[6 * k + row] = x[k];
            }
            for (int k = 0; k < nv; k++) {
                if (link->prescribed >> k & 1) continue;
                lw_inertia_rank_one(&I, 1, W + 6 * k);
                lw_v6_axpy(y[k], W + 6 * k, p);
            }
        }
        if (link->parent == 0) continue;
        lw_inertia_add_to_parent(motion->R, motion->p, &I, &data->artic[link->parent].I);
        lw_wrench_to_parent(motion->R, motion->p, p, t);
        lw_v6_axpy(1, t, data->artic[link->parent].p);
    }
    return LW_OK;
}

/* Forward pass (anderson2003 24-27): accelerations from ground outwards. */
static void forward(const lw_model *model, lw_data *data) {
    double *ground = data->motion[0].a;
    lw_v3_set(ground, 0, 0, 0);
    for (int k = 0; k < 3; k++)
        ground[3 + k] = -model->gravity[k]; /* gravity as an upward acceleration of ground */
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        lw_body_motion *motion = &data->motion[i];
        const double *U = data->U + 6 * link->v, *S = data->S + 6 * link->v;
        double *a = motion->a, *vdot = data->vdot + link->v;
        int nv = link->joint.nv;
        lw_twist_to_child(motion->R, motion->p, data->motion[link->parent].a, a);
        lw_v6_axpy(1, motion->bias, a);
        if (link->joint.type == LW_JOINT_REVOLUTE && !link->prescribed) {
            *vdot = (data->u[link->v] - lw_v6_dot(U, a)) * data->D[6 * link->v];
            a[2] += *vdot;
            continue;
        }
        for (int k = 0; k < nv; k++)
            if (link->prescribed >> k & 1) lw_v6_axpy(vdot[k], S + 6 * k, a);
        double x[LW_JOINT_MAX_V] = {0};
        for (int k = 0; k < nv; k++)
            if (!(link->prescribed >> k & 1)) x[k] = data->u[link->v + k] - lw_v6_dot(U + 6 * k, a);
        solve_lower(nv, link->prescribed, data->D + 6 * link->v, x);
        solve_upper(nv, link->prescribed, data->D + 6 * link->v, x);
        for (int k = 0; k < nv; k++) {
            if (link->prescribed >> k & 1) continue;
            vdot[k] = x[k];
            lw_v6_axpy(x[k], S + 6 * k, a);
        }
    }
}

lw_status lw_tree_solve(const lw_model *model, lw_data *data, double t, const double *tau, lw_error *error) {
    lw_velocities(model, data);
    if (model->forces_need_world) lw_world_poses(model, data);
    lw_forces(model, data, t, false);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_body_motion *motion = &data->motion[i];
        lw_articulated *own = &data->artic[i];
        double momentum[6];
        lw_inertia_from_rigid(&model->links[i].inertia, &own->I);
        lw_rigid_mul(&model->links[i].inertia, motion->V, momentum);
        lw_wrench_cross(motion->V, momentum, own->p);
        lw_v6_axpy(-1, motion->load, own->p);
    }
    if (tau)
        for (int k = 0; k < model->nv; k++) data->tau[k] += tau[k];
    lw_status status = backward(model, data, error);
    if (status == LW_OK) forward(model, data);
    return status;
}

lw_status lw_forward_dynamics(const lw_model *model, lw_data *data, double t, const double *q,
                              const double *v, const double *tau, double *vdot, lw_error *error) {
    lw_take_state(model, data, t, q, v);
    lw_status status = lw_tree_solve(model, data, t, tau, error);
    if (status == LW_OK) memcpy(vdot, data->vdot, (size_t)model->nv * sizeof *vdot);
    return status;
}

/* --- the formulation
 * --------------------------------------------------------------------------------------------- */

typedef struct tree_method {
    lw_method base;
    lw_data *data;
    double *tau; /* of the residual */
} tree_method;

/* Power of the drives that impose prescribed motions: tau_p v_p with tau_p = S'(wrench the joint transmits)
 * less what other elements do there. */
static double prescribed_power(const lw_model *model, const lw_data *data) {
    double power = 0;
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        const lw_articulated *own = &data->artic[motion->body];
        double f[6];
        lw_inertia_mul(&own->I, data->motion[motion->body].a, f);
        lw_v6_axpy(1, own->p, f);
        for (int i = 0; i < motion->count; i++) {
            int v = model->links[motion->body].v + motion->speed + i;
            power += (lw_v6_dot(data->S + 6 * v, f) - data->tau[v]) * data->v[v];
        }
    }
    return power;
}

static lw_status applies(const lw_model *model, lw_error *error) {
    if (model->closure_count) {
        char object[sizeof error->object];
        snprintf(object, sizeof object, "joint \"%s\"", model->joints[model->closures[0].joint_index].name);
        return lw_fail(error, LW_ERROR_UNSUPPORTED, object, "use a method for closed loops",
                       "closes a loop (%d loop%s in all), and method tree knows trees only",
                       model->closure_count, model->closure_count == 1 ? "" : "s");
    }
    if (model->constraint_count) {
        char object[sizeof error->object];
        snprintf(object, sizeof object, "constraint \"%s\"", model->constraints[0].name);
        return lw_fail(error, LW_ERROR_UNSUPPORTED, object, "use a method for constraints",
                       "is a %s constraint, and method tree knows joints and forces only",
                       lw_constraint_type_name(model->constraints[0].type));
    }
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return lw_fail(error, status, NULL, NULL, "out of memory");
    lw_take_state(model, data, 0, model->q0, model->v0);
    status = lw_tree_solve(model, data, 0, NULL, error);
    lw_data_destroy(data);
    if (status == LW_ERROR_SINGULAR && error) error->status = LW_ERROR_UNSUPPORTED;
    return status == LW_ERROR_SINGULAR ? LW_ERROR_UNSUPPORTED : status;
}

static void destroy(lw_method *base) {
    tree_method *method = (tree_method *)base;
    if (!method) return;
    lw_data_destroy(method->data);
    free(method->tau);
    free(method);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    (void)options; /* a tree cannot drift */
    tree_method *method = calloc(1, sizeof *method);
    if (method) method->tau = calloc((size_t)model->nv + 1, sizeof *method->tau);
    if (!method || !method->tau || lw_data_create(model, NULL, &method->data) != LW_OK) {
        if (method) free(method->tau);
        free(method);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "out of memory");
    }
    method->base.formulation = &lw_formulation_tree;
    method->base.model = model;
    method->base.state_size = model->nq + model->nv;
    *out = &method->base;
    return LW_OK;
}

static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    (void)t;
    memcpy(y, q, (size_t)base->model->nq * sizeof *y);
    memcpy(y + base->model->nq, v, (size_t)base->model->nv * sizeof *y);
}

static void from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    const lw_model *model = base->model;
    lw_data *data = ((tree_method *)base)->data;
    lw_take_state(model, data, t, y, y + model->nq); /* prescribed entries exactly */
    memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    lw_normalise_q(model, q);
}

static lw_status accelerations(lw_method *base, double t, const double *q, const double *v, const double *tau,
                               double *vdot, double *reactions, bool *unique, lw_error *error) {
    const lw_model *model = base->model;
    lw_data *data = ((tree_method *)base)->data;
    lw_status status = lw_forward_dynamics(model, data, t, q, v, tau, vdot, error);
    if (status != LW_OK) return status;
    if (reactions) lw_joint_reactions(model, data, t, q, v, vdot, reactions);
    if (unique)
        for (int k = 0; k < 6 * model->joint_count; k++) unique[k] = true; /* a tree has nothing redundant */
    return LW_OK;
}

static lw_status derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error) {
    const lw_model *model = base->model;
    lw_data *data = ((tree_method *)base)->data;
    lw_take_state(model, data, t, y, y + model->nq);
    lw_status status = lw_tree_solve(model, data, t, NULL, error);
    if (status != LW_OK) return status;
    lw_q_rate_stable(model, data->q, data->v, ydot);
    memcpy(ydot + model->nq, data->vdot, (size_t)model->nv * sizeof *ydot);
    *power = data->power;
    power->drives += prescribed_power(model, data);
    return LW_OK;
}

/* Rows: qdot - N(q) v;  inverse dynamics (no matrix is formed or solved), vdot - prescribed at prescribed
 * speeds. */
static lw_status residual(lw_method *base, double t, const double *y, const double *ydot, double *out,
                          lw_power *power, lw_error *error) {
    (void)error;
    tree_method *method = (tree_method *)base;
    const lw_model *model = base->model;
    lw_data *data = method->data;
    int nq = model->nq;
    lw_inverse_dynamics(model, data, t, y, y + nq, ydot + nq, method->tau);
    *power = data->power;
    for (int k = 0; k < model->nv; k++) out[nq + k] = method->tau[k];
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        for (int i = 0; i < motion->count; i++) {
            int v = model->links[motion->body].v + motion->speed + i;
            power->drives += method->tau[v] * data->v[v];
            out[nq + v] = ydot[nq + v] - data->vdot[v];
        }
    }
    lw_q_rate_stable(model, data->q, data->v, out);
    for (int k = 0; k < nq; k++) out[k] = ydot[k] - out[k];
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    (void)t, (void)error;
    lw_normalise_q(base->model, y);
    return LW_OK;
}

const lw_formulation lw_formulation_tree = {
    .name = "tree",
    .source = "anderson2003 8-27",
    .cost = "O(n)",
    .summary = "articulated-body recursion for trees, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 0,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = to_state,
    .from_state = from_state,
    .accelerations = accelerations,
    .derivative = derivative,
    .residual = residual,
    .project = project,
};
