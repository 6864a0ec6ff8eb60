/* absolute_rotors.c - rotors of joints for methods whose mass matrix is that of single bodies.
 *
 * Rotor p, with inertia J_p on speed v_p, acts on the bodies of its joint by the force -J_p vdot_p, through
 * the wrenches w_p of a unit force on that speed. With vdot_0 the accelerations of these speeds without
 * rotors, and A_pq the change of vdot_p by a unit force on v_q,
 *
 *   vdot = vdot_0 - A J vdot      (1 + J^1/2 A J^1/2) (J^1/2 vdot) = J^1/2 vdot_0
 *
 * whose matrix is positive definite, its least eigenvalue 1. The method itself gives the columns of A, as the
 * solutions for u = w_q and gamma = 0; then it solves once more with the forces of the rotors, and again with
 * what errors have left: heavy rotors cancel most of u.
 *
 * Source   docs/theory/armature.md, (7), (8).
 * Cost     three or four solutions of the system, and one for each rotor; no allocation.
 */
#include "formulations/common/absolute_rotors.h"

#include <math.h>
#include <string.h>

typedef struct rotor {
    int body, k, v; /* the joint by its body, and its speed: number in the joint, in v */
    double root;    /* of its inertia */
} rotor;

struct lw_rotors {
    lw_arena *arena;
    int count;
    rotor *list;
    double *A;         /* count x count: 1 + J^1/2 A J^1/2, then its Cholesky factor */
    double *x, *speed; /* per rotor; per speed */
    double *u, *gamma; /* of the system */
};

lw_rotors *lw_rotors_create(const lw_newton_euler *s) {
    const lw_model *model = s->model;
    lw_arena *arena = lw_arena_create(NULL);
    lw_rotors *r = arena ? LW_NEW(arena, lw_rotors, 1) : NULL;
    if (r) {
        r->arena = arena;
        r->list = LW_NEW(arena, rotor, model->nv + 1);
        for (int i = 1; i <= model->body_count && r->list; i++)
            for (int k = 0; k < model->links[i].joint.nv; k++)
                if (lw_rotor_speeds(model, i) >> k & 1) {
                    int v = model->links[i].v + k;
                    r->list[r->count++] = (rotor){i, k, v, sqrt(model->armature[v])};
                }
        r->A = LW_NEW(arena, double, (size_t)r->count *(size_t)r->count + 1);
        r->x = LW_NEW(arena, double, r->count + 1);
        r->speed = LW_NEW(arena, double, model->nv + 1);
        r->u = LW_NEW(arena, double, 6 * model->body_count + 1);
        r->gamma = LW_NEW(arena, double, s->rows->count + 1);
    }
    if (r && !lw_arena_failed(arena)) return r;
    if (arena) lw_arena_destroy(arena);
    return NULL;
}

void lw_rotors_destroy(lw_rotors *rotors) {
    if (rotors) lw_arena_destroy(rotors->arena);
}

int lw_rotors_solutions(const lw_rotors *rotors) { return rotors ? rotors->count + 3 : 1; }

/* Fills and factors the matrix; the system's u, gamma and joint_load are as before. */
static lw_status respond(lw_rotors *r, const lw_rotors_method *method, lw_error *error) {
    lw_newton_euler *s = method->system;
    const size_t n = (size_t)r->count, bodies = 6 * (size_t)s->model->body_count * sizeof *s->u,
                 rows = (size_t)s->rows->count * sizeof *s->rows->gamma;
    lw_status status = LW_OK;
    memcpy(r->u, s->u, bodies);
    memcpy(r->gamma, s->rows->gamma, rows);
    memset(s->rows->gamma, 0, rows);
    for (size_t q = 0; q < n && status == LW_OK; q++) {
        const rotor *own = &r->list[q];
        double *load = s->joint_load + 6 * s->model->bodies[own->body].joint_index, kept[6];
        memcpy(kept, load, sizeof kept);
        memset(s->u, 0, bodies);
        lw_newton_euler_push(s, own->body, own->k, 1);
        memcpy(load, kept, sizeof kept);
        status = method->solve(method->context, error);
        lw_rows_joint_speeds(s->model, s->rows, s->a, r->speed); /* linear in a */
        for (size_t p = 0; p < n; p++) r->A[p * n + q] = r->list[p].root * r->speed[r->list[p].v] * own->root;
    }
    memcpy(s->u, r->u, bodies);
    memcpy(s->rows->gamma, r->gamma, rows);
    if (status != LW_OK) return status;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q <= p; q++) {
            double sum = 0.5 * (r->A[p * n + q] + r->A[q * n + p]) + (p == q);
            for (size_t l = 0; l < q; l++) sum -= r->A[p * n + l] * r->A[q * n + l];
            if (p == q && !(sum > 0.5))
                return lw_fail(
                    error, LW_ERROR_SINGULAR, NULL,
                    "take a method in joint coordinates: tree, cut, rcr or partition",
                    "the response of the mechanism to the forces of its rotors has lost its digits");
            r->A[p * n + q] = p == q ? sqrt(sum) : sum / r->A[q * n + q];
        }
    return LW_OK;
}

/* x becomes (1 + A J)^-1 x. */
static void divide(const lw_rotors *r, double *x) {
    const int n = r->count;
    for (int p = 0; p < n; p++) {
        x[p] *= r->list[p].root;
        for (int q = 0; q < p; q++) x[p] -= r->A[p * n + q] * x[q];
        x[p] /= r->A[p * n + p];
    }
    for (int p = n - 1; p >= 0; p--) {
        for (int q = p + 1; q < n; q++) x[p] -= r->A[q * n + p] * x[q];
        x[p] /= r->A[p * n + p];
    }
    for (int p = 0; p < n; p++) x[p] /= r->list[p].root;
}

lw_status lw_rotors_solve(lw_rotors *r, const lw_rotors_method *method, lw_error *error) {
    enum { ROUNDS = 6 };         /* Two or three, but for method penalty. */
    const double enough = 1e-11; /* A correction so small, relative to what it corrects, is the last. */
    lw_newton_euler *s = method->system;
    const lw_model *model = s->model;
    lw_status status = respond(r, method, error);
    double *sum = r->u; /* not needed any more: the accelerations for which the rotors' forces are in u */
    if (status == LW_OK) status = method->solve(method->context, error);
    for (int p = 0; p < r->count; p++) sum[p] = 0;
    bool good = false;
    for (int round = 0; round < ROUNDS && status == LW_OK && !good; round++) {
        double change = 0, size = 0;
        lw_rows_joint_accelerations(model, s->rows, s->a, r->speed);
        for (int p = 0; p < r->count; p++) r->x[p] = r->speed[r->list[p].v] - sum[p];
        divide(r, r->x);
        for (int p = 0; p < r->count; p++) {
            sum[p] += r->x[p];
            change = fmax(change, r->list[p].root * fabs(r->x[p]));
            size = fmax(size, r->list[p].root * fabs(sum[p]));
            lw_newton_euler_push(s, r->list[p].body, r->list[p].k, -model->armature[r->list[p].v] * r->x[p]);
        }
        good = change <= enough * size;
        status = method->solve(method->context, error);
    }
    return status;
}
