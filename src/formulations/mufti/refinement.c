/* refinement.c - iterative refinement on the equations of the single bodies and rows.
 *
 *   r_u = u - J a + H lambda,   r_gamma = gamma - H'a,   a += da, lambda += dlambda  from  (r_u, r_gamma)
 *
 * A reduction forms sums of masses, in which the inertia of a light body keeps only some digits beside that
 * of heavy ones. The equations of the single bodies have lost nothing, and each residual is compared with the
 * terms of its own equation. The factors need only be accurate to a digit or so in every direction, and the
 * result is as accurate as the rows: light bodies between heavy ones, and the small forces on them, are
 * computed correctly, too.
 *
 * Refinement ends at rounding, or when it no longer improves the result. If a body or row then violates its
 * equation by more than `wrong` of its own terms, the solution is refused.
 *
 * Source   docs/theory/refinement.md.
 * Cost     O(bodies + rows) and one solution per round, usually two rounds; no allocation but in create.
 */
#include "formulations/mufti/refinement.h"
#include "constraints/characteristic_length.h"

#include <math.h>

/* The part of the largest forces on any body that rounding may leave as a residual on other bodies. */
static const double far_forces = 1e-12;
/* The part of the largest accelerations that counts as a term of every row, for rows between bodies that
 * hardly move. */
static const double far_motion = 1e-6;
/* A residual is wrong if it exceeds the sum of the part `wrong` of the terms of its equation and the part
 * `far_wrong` of the largest forces, which allows for their rounding. */
static const double wrong = 1e-8, far_wrong = 1e-13;

lw_refinement *lw_refinement_create(lw_newton_euler *s, int first, const bool *met) {
    lw_refinement *r = LW_NEW(s->arena, lw_refinement, 1);
    size_t n = (size_t)s->model->body_count, m = (size_t)s->rows->count;
    if (!r) return NULL;
    r->s = s;
    r->first = first;
    r->met = met;
    r->u = LW_NEW(s->arena, double, 6 * n + 1);
    r->gamma = LW_NEW(s->arena, double, m + 1);
    r->a = LW_NEW(s->arena, double, 6 * n + 1);
    r->lambda = LW_NEW(s->arena, double, m + 1);
    r->force = LW_NEW(s->arena, double, n + 1);
    r->torque = LW_NEW(s->arena, double, n + 1);
    r->arm = LW_NEW(s->arena, double, n + 1);
    return lw_arena_failed(s->arena) ? NULL : r;
}

typedef struct leftover {
    double left; /* the largest residual of any equation, relative to its own terms */
    /* the largest residual relative to its terms and the rounding of the largest forces; above the constant
     * `wrong` there is no solution */
    double wrong;
    int body, row; /* body or row of this residual, otherwise -1 */
} leftover;

static void note(leftover *worst, double left, double terms, double far, double far_part, int body, int row) {
    double scale = terms + far_part * far, allowed = terms + far_wrong / wrong * far;
    if (left == 0) return;
    worst->left = fmax(worst->left, scale > 0 ? left / scale : HUGE_VAL);
    double off = allowed > 0 ? left / allowed : HUGE_VAL;
    if (isnan(left)) off = HUGE_VAL, worst->left = HUGE_VAL;
    if (off > worst->wrong) worst->wrong = off, worst->body = body, worst->row = row;
}

/* The largest accelerations, at least those that the forces would cause without cancelling each other: in
 * equilibrium the computed accelerations are only rounding. */
static void accelerations(const lw_newton_euler *s, double length, double *turning, double *linear) {
    double mass = 0, force = 0;
    *turning = *linear = 0;
    for (int i = 0; i < s->model->body_count; i++) {
        *turning = fmax(*turning, lw_v3_norm(s->a + 6 * i));
        *linear = fmax(*linear, lw_v3_norm(s->a + 6 * i + 3));
        mass += s->mass[i];
        force += lw_v3_norm(s->u + 6 * i + 3) + lw_v3_norm(s->u + 6 * i) / length;
    }
    if (mass > 0) *linear = fmax(*linear, force / mass);
    *turning = fmax(*turning, *linear / length);
}

/* Returns whether a row must be satisfied. A row that depends on others may contradict them where a loop does
 * not close exactly. */
static bool asked(const lw_refinement *r, int row) { return row < r->first || r->met[row - r->first]; }

/* Computes the residuals of the bodies without the forces in rows, and the magnitudes of their terms. */
static void leave_bodies(lw_refinement *r) {
    const lw_newton_euler *s = r->s;
    for (int i = 0; i < s->model->body_count; i++) {
        double Iw[3], *u = r->u + 6 * i;
        const double *a = s->a + 6 * i;
        lw_s3_mul_v(s->inertia + 6 * i, a, Iw);
        for (int k = 0; k < 3; k++) {
            u[k] = s->u[6 * i + k] - Iw[k];
            u[3 + k] = s->u[6 * i + 3 + k] - s->mass[i] * a[3 + k];
        }
        r->torque[i] = lw_v3_norm(s->u + 6 * i) + lw_v3_norm(Iw);
        r->force[i] = lw_v3_norm(s->u + 6 * i + 3) + s->mass[i] * lw_v3_norm(a + 3);
        r->arm[i] = 0;
    }
}

/* Computes the residuals of the rows, and adds their forces to the residuals of the bodies. turning and
 * linear are the largest accelerations of any body. */
static void leave_rows(lw_refinement *r, double turning, double linear, leftover *worst) {
    const lw_newton_euler *s = r->s;
    const lw_rows *rows = s->rows;
    for (int k = 0; k < rows->count; k++) {
        const lw_row *row = &rows->rows[k];
        double sum = rows->gamma[k], terms = fabs(sum), far = 0;
        for (int b = row->block; b < row->block + row->count; b++) {
            const double *h = rows->H + 6 * b, *a = s->a + 6 * (rows->body[b] - 1);
            int i = rows->body[b] - 1;
            double turn = lw_v3_dot(h, a), move = lw_v3_dot(h + 3, a + 3), torque = lw_v3_norm(h),
                   force = lw_v3_norm(h + 3), arm[3];
            sum -= turn + move;
            terms += fabs(turn) + fabs(move);
            far += torque * turning + force * linear;
            lw_v6_axpy(s->lambda[k], h, r->u + 6 * i);
            r->torque[i] += fabs(s->lambda[k]) * torque;
            r->force[i] += fabs(s->lambda[k]) * force;
            lw_v3_cross(h + 3, h, arm);
            if (force > 0) r->arm[i] = fmax(r->arm[i], lw_v3_norm(arm) / (force * force));
        }
        r->gamma[k] = sum;
        if (asked(r, k)) note(worst, fabs(sum), terms + far_motion * far, 0, 0, -1, k);
    }
}

/* Computes the residuals of a and lambda of the system; returns the largest. */
static leftover remaining(lw_refinement *r) {
    int n = r->s->model->body_count;
    double length = lw_body_length(r->s), turning, linear, forces = 0, torques = 0;
    leftover worst = {0, 0, -1, -1};
    accelerations(r->s, length, &turning, &linear);
    leave_bodies(r);
    leave_rows(r, turning, linear, &worst);
    for (int i = 0; i < n; i++) {
        r->torque[i] += r->arm[i] * r->force[i]; /* Arms are rounded, too. */
        forces = fmax(forces, r->force[i]), torques = fmax(torques, r->torque[i]);
    }
    forces = fmax(forces, torques / length), torques = fmax(torques, forces * length);
    for (int i = 0; i < n; i++) {
        note(&worst, lw_v3_norm(r->u + 6 * i), r->torque[i], torques, far_forces, i + 1, -1);
        note(&worst, lw_v3_norm(r->u + 6 * i + 3), r->force[i], forces, far_forces, i + 1, -1);
    }
    return worst;
}

static void add(lw_refinement *r, double factor) {
    lw_newton_euler *s = r->s;
    for (int k = 0; k < 6 * s->model->body_count; k++) s->a[k] += factor * r->a[k];
    for (int k = 0; k < s->rows->count; k++) s->lambda[k] += factor * r->lambda[k];
}

static lw_status lost(const lw_refinement *r, const leftover *at, const char *name, lw_error *error) {
    const lw_model *model = r->s->model;
    static const char *const remedy = "take another method: rcr, cut or tree lose nothing in sums of masses";
    if (at->body > 0) {
        const lw_body *body = &model->bodies[at->body];
        return lw_fail_at(error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name, remedy,
                          "method %s balances it only to %.1g of the forces on it: the equations of motion "
                          "are singular or nearly so, or the body is lost in rounding beside heavier ones",
                          name, at->wrong);
    }
    char what[160];
    lw_row_describe(model, &r->s->rows->rows[at->row], what, sizeof what);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, remedy,
                   "method %s misses the acceleration that %s requires by %.1g of it: the equations of "
                   "motion are singular "
                   "or nearly so",
                   name, what, at->wrong);
}

lw_status lw_refine(lw_refinement *r, lw_solver_of *solve, lw_absolute_method *method, lw_error *error) {
    enum { ROUNDS = 12 };
    const double rounding = 2e-16, gain = 0.5;
    lw_newton_euler *s = r->s;
    solve(method, s->u, s->rows->gamma, s->a, s->lambda);
    leftover now = remaining(r);
    for (int round = 0; round < ROUNDS && (round == 0 || now.left > rounding) && isfinite(now.left);
         round++) {
        solve(method, r->u, r->gamma, r->a, r->lambda);
        add(r, 1);
        leftover next = remaining(r);
        /* The first correction also improves rows that need not be satisfied. */
        if (!(next.left < fmax(now.left, round == 0 ? 8 * rounding : 0))) {
            add(r, -1);
            break;
        }
        bool slow = next.left > gain * now.left;
        now = next;
        if (slow) break;
    }
    return now.wrong < wrong ? LW_OK : lost(r, &now, method->base.formulation->name, error);
}
