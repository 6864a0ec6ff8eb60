/* solver_reaction_derivatives.c - derivatives of the reactions in joints, along the accelerations that
 * follow.
 *
 *   W_i = sum over all that joint i carries of (f - loads)
 *   j carries i:  dW_i/dq_j = S_j x* F_i + I_i C_j + B_i P_j,   dW_i/dv_j = I_i D_j + B_i S_j
 *   j behind i:   dW_i/dq_j, dW_i/dv_j = the same with F_j, I_j, B_j
 *   dW_i = these + sum over j of I_max(i,j) S_j da_j - the changes of loads, multipliers among them     (38)
 *   G'dlambda = dR1 + M da                                                                            (39)
 *
 * W_i is about a fixed point; the reaction stands at the joint's point on its second body, which moves, and
 * the force that this movement turns into a torque is that of the multipliers chosen here: where it is not
 * unique, the torque still may be.
 *
 * Source   docs/theory/derivatives.md, 38-40.
 * Symbols  I, F, B: inertia, Newton-Euler wrench and operator (12) of all that a joint carries.
 * Cost     O(n nv columns), no allocation but in prepare.
 * Limits   reactions that are not unique have no derivatives: NAN.
 */
#include "simulation/solver/solver_derivatives.h"

#include <math.h>
#include <string.h>

lw_status lw_derivatives_prepare_reactions(lw_derivatives *d, lw_error *error) {
    if (!d) return lw_call_needs("an object", error);
    if (d->loads) return LW_OK;
    const lw_model *model = d->model;
    const size_t nv = (size_t)model->nv, n = (size_t)model->body_count + 1,
                 columns = (size_t)d->tree->columns;
    const size_t rows = d->rows ? (size_t)d->rows->count : 0, all = columns + nv;
    lw_arena *arena = d->arena;
    double *loads = LW_NEW(arena, double, 6 * n * (columns + 1));
    d->cut_loads = LW_NEW(arena, double, 6 * (size_t)model->closure_count * (columns + 1) + 1);
    d->units_of_rows =
        LW_NEW(arena, struct lw_unit_wrench, rows + LW_COUPLING_MAX * (size_t)model->constraint_count + 1);
    d->wrenches = LW_NEW(arena, double, 6 * all + 1);
    d->multipliers = LW_NEW(arena, double, (rows + nv) * all + 1);
    d->reactions = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
    d->unique = LW_NEW(arena, bool, 6 * (size_t)model->joint_count + 1);
    int *closure_of = LW_NEW(arena, int, (size_t)model->joint_count + 1);
    if (lw_arena_failed(arena)) return lw_out_of_memory(error);
    for (int k = 0; k < model->closure_count; k++) closure_of[model->closures[k]] = k;
    d->tree->closure_of = closure_of;
    d->loads = loads;
    return LW_OK;
}

/* Entry i of the accelerations' derivatives in column c; behind the columns of T stand forces. */
static double da(const lw_derivatives *d, int i, int c) {
    const int columns = d->tree->columns, nf = d->free_count;
    if (c < columns) return d->dvdot[(size_t)i + (size_t)c * (size_t)nf];
    for (int j = 0; j < nf; j++)
        if (d->free[j] == c - columns) return d->inverse[i + j * nf];
    return 0;
}

/* dlambda, rows x columns, column by column: zero for rows that are not kept. */
static void multipliers(lw_derivatives *d) {
    const lw_tangent *t = d->tangent;
    const lw_tree_derivatives *tree = d->tree;
    const int nf = d->free_count, columns = tree->columns, nv = d->model->nv, all = columns + nv;
    const int rows = d->rows->count, *kept = d->order, *order = d->order + rows;
    double *residual = d->multipliers + (size_t)rows * (size_t)all; /* nf x 1 */
    for (int c = 0; c < all; c++) {
        for (int i = 0; i < nf; i++) residual[i] = 0;
        for (int j = 0; j < nf; j++) {
            const double a = da(d, j, c);
            for (int i = 0; i < nf && a != 0; i++)
                residual[i] += a * tree->mass[d->free[i] * nv + d->free[j]];
        }
        for (int i = 0; i < nf; i++) {
            const int speed = d->free[i];
            if (c < columns)
                residual[i] += tree->T[(size_t)speed * (size_t)tree->stride + (size_t)c];
            else
                residual[i] -= speed == c - columns;
            residual[i] *= t->unit[speed];
        }
        double *out = d->multipliers + (size_t)rows * (size_t)c;
        memset(out, 0, (size_t)rows * sizeof *out);
        lw_qr_apply(d->factors, true, nf, d->rank, d->A, 1, residual);
        lw_qr_triangle(false, d->rank, nf, d->A, 1, residual, nf);
        for (int k = 0; k < d->rank; k++) {
            const int r = kept[order[k]];
            out[r] = t->row_unit[r] * residual[k];
        }
    }
}

/* --- what a joint transmits ------------------------------------------------------------------------ */

/* Is body `b` the body `of`, or carried by it? Bodies that carry have smaller numbers. */
static bool carried(const lw_model *model, int b, int of) {
    while (b > of) b = model->links[b].parent;
    return b == of;
}

/* The sums of a body and all that it carries. */
typedef struct carried_sums {
    lw_rigid_inertia I;
    double F[6], B[9], p[3];
} carried_sums;

static void take_sums(const lw_tree_flat *f, int body, carried_sums *out) {
    const size_t stride = (size_t)f->body_stride;
    const double *at = f->bodies + LW_BODY_SUM * stride + body;
    out->I.mass = at[0];
    for (size_t k = 0; k < 3; k++)
        out->I.moment[k] = at[(1 + k) * stride], out->p[k] = at[(LW_SUM_P + k) * stride];
    for (size_t k = 0; k < 6; k++)
        out->I.second[k] = at[(4 + k) * stride], out->F[k] = at[(LW_SUM_F + k) * stride];
    for (size_t k = 0; k < 9; k++) out->B[k] = at[(LW_SUM_B + k) * stride];
}

/* out = I x + B y with B y = (B11 a; 2 a x p). */
static void force_of(const carried_sums *s, const double x[6], const double y[6], double out[6]) {
    double part[3];
    lw_rigid_mul(&s->I, x, out);
    lw_m3_mul_v(s->B, y, part);
    lw_v3_add(out, part, out);
    lw_v3_cross(y, s->p, part);
    lw_v3_axpy(2, part, out + 3);
}

/* dW of joint i, 6 x all columns, about the origin. */
static void transmitted(lw_derivatives *d, int body, double *out, double force[3]) {
    const lw_model *model = d->model;
    const lw_tree_derivatives *tree = d->tree;
    const size_t columns = (size_t)tree->columns, nv = (size_t)model->nv, all = columns + nv;
    carried_sums here;
    take_sums(&tree->flat, body, &here);
    memset(out, 0, 6 * all * sizeof *out);
    for (size_t k = 0; k < 3; k++)
        force[k] = here.F[3 + k] - tree->loads[(6 * (size_t)body + 3 + k) * (columns + 1) + columns];
    for (size_t k = 0; k < 6; k++)
        for (size_t c = 0; c < columns; c++)
            out[k * all + c] = -tree->loads[(6 * (size_t)body + k) * (columns + 1) + c];
    for (int j = 0; j < model->nv; j++) {
        const lw_motion_column *m = &tree->motions[j];
        const bool above = carried(model, body, m->body);
        if (!above && !carried(model, m->body, body)) continue;
        carried_sums behind;
        const carried_sums *s = &here;
        if (!above) take_sums(&tree->flat, m->body, &behind), s = &behind;
        double by_q[6], by_v[6], U[6], turn[6];
        force_of(s, m->C, m->P, by_q);
        force_of(s, m->D, m->S, by_v);
        lw_wrench_cross(m->S, s->F, turn);
        lw_rigid_mul(&s->I, m->S, U);
        const bool prescribed = d->prescribed[j];
        for (size_t k = 0; k < 6 && !prescribed; k++) {
            out[k * all + (size_t)j] += by_q[k] + turn[k];
            out[k * all + nv + (size_t)j] += by_v[k];
        }
        int free = 0;
        while (free < d->free_count && d->free[free] != j) free++;
        if (free == d->free_count) continue;
        for (size_t c = 0; c < all; c++) {
            const double a = da(d, free, (int)c);
            for (size_t k = 0; k < 6; k++) out[k * all + c] += U[k] * a;
        }
    }
    if (!d->rows) return;
    for (int u = 0; u < tree->unit_count; u++) {
        const struct lw_unit_wrench *unit = &tree->units_of_rows[u];
        const int sign = (unit->plus && carried(model, unit->plus, body)) -
                         (unit->minus && carried(model, unit->minus, body));
        for (size_t c = 0; c < all && sign; c++) {
            const double change = sign * d->multipliers[(size_t)unit->row + c * (size_t)d->rows->count];
            for (size_t k = 0; k < 6; k++) out[k * all + c] -= change * unit->W[k];
        }
    }
}

/* The same in a joint that closes a loop. */
static void transmitted_by_cut(lw_derivatives *d, int joint, double *out, double force[3]) {
    const lw_tree_derivatives *tree = d->tree;
    const size_t columns = (size_t)tree->columns, all = columns + (size_t)d->model->nv;
    const double *own = tree->cut_loads + 6 * (columns + 1) * (size_t)tree->closure_of[joint];
    memset(out, 0, 6 * all * sizeof *out);
    for (size_t k = 0; k < 6; k++) memcpy(out + k * all, own + k * (columns + 1), columns * sizeof *out);
    for (size_t k = 0; k < 3; k++) force[k] = own[(3 + k) * (columns + 1) + columns];
    for (int u = 0; u < tree->unit_count; u++) {
        const struct lw_unit_wrench *unit = &tree->units_of_rows[u];
        if (d->rows->rows[unit->row].joint != joint) continue;
        for (size_t c = 0; c < all; c++)
            for (size_t k = 0; k < 6; k++)
                out[k * all + c] +=
                    d->multipliers[(size_t)unit->row + c * (size_t)d->rows->count] * unit->W[k];
    }
}

/* The wrench about the origin becomes force and torque at the joint's point on its second body, which moves
 * with that. */
static void move_to_point(const lw_derivatives *d, int joint, double sign, const double force[3],
                          double *wrenches) {
    const lw_model *model = d->model;
    const lw_joint_entry *entry = &model->joints[joint];
    const int second = entry->info.bodies[1];
    const size_t all = (size_t)d->tree->columns + (size_t)model->nv;
    lw_point_motion at;
    lw_point_of(d->tree, second, entry->frames[1].p, &at);
    for (size_t c = 0; c < all; c++) {
        double F[3], torque[3], x[3] = {0}, turn[3];
        for (size_t k = 0; k < 3; k++)
            torque[k] = sign * wrenches[k * all + c], F[k] = sign * wrenches[(3 + k) * all + c];
        if (c < (size_t)model->nv && !d->prescribed[c] && second > 0 &&
            carried(model, second, d->tree->motions[c].body)) {
            const double *S = d->tree->motions[c].S;
            lw_v3_copy(S + 3, x);
            lw_v3_add_cross(S, at.x, x);
        }
        lw_v3_add_cross(F, at.x, torque); /* - x x dF - dx x F */
        lw_v3_cross(force, x, turn);
        lw_v3_axpy(sign, turn, torque);
        for (size_t k = 0; k < 3; k++) wrenches[k * all + c] = F[k], wrenches[(3 + k) * all + c] = torque[k];
    }
}

/* --- all ------------------------------------------------------------------------------------------- */

static void give(const lw_derivatives *d, int joint, int first, int count, const double *wrenches,
                 double *out) {
    const size_t all = (size_t)d->tree->columns + (size_t)d->model->nv;
    for (size_t k = 0; k < 6 && out; k++)
        for (int c = 0; c < count; c++)
            out[(6 * (size_t)joint + k) * (size_t)count + (size_t)c] =
                d->unique[6 * (size_t)joint + k] ? wrenches[k * all + (size_t)(first + c)] : NAN;
}

/* Loads of bodies become those of all that a joint carries; prescribed columns are zero. */
static void sum_loads(lw_derivatives *d) {
    const lw_model *model = d->model;
    lw_tree_derivatives *tree = d->tree;
    const size_t block = 6 * (size_t)(tree->columns + 1);
    lw_tree_derivatives_prescribe(tree, 6 * (model->body_count + 1), tree->columns + 1, tree->loads);
    lw_tree_derivatives_prescribe(tree, 6 * model->closure_count, tree->columns + 1, tree->cut_loads);
    for (int i = model->body_count; i > 0; i--)
        for (size_t k = 0; k < block; k++)
            tree->loads[(size_t)model->links[i].parent * block + k] += tree->loads[(size_t)i * block + k];
}

lw_status lw_derivatives_of_reactions(lw_derivatives *d, double t, const double *q, const double *v,
                                      const double *tau, const lw_reaction_derivatives *out,
                                      lw_error *error) {
    if (!d || !d->loads || !out || !isfinite(t) || !lw_given(q, d->model->nq) || !lw_given(v, d->model->nv) ||
        !lw_finite(q, d->model->nq) || !lw_finite(v, d->model->nv) || (tau && !lw_finite(tau, d->model->nv)))
        return lw_call_needs(
            "an object that is prepared for reactions, a finite state and a place for the results", error);
    const lw_model *model = d->model;
    lw_tree_derivatives *tree = d->tree;
    const int nv = model->nv, columns = tree->columns, inputs = model->values.input_count;
    tree->loads = d->loads, tree->cut_loads = d->cut_loads;
    tree->units_of_rows = d->units_of_rows, tree->unit_count = 0;
    memset(tree->loads, 0, 6 * (size_t)(columns + 1) * (size_t)(model->body_count + 1) * sizeof(double));
    memset(tree->cut_loads, 0, 6 * (size_t)(columns + 1) * (size_t)model->closure_count * sizeof(double));
    const bool acting = tree->acting;
    tree->acting = true; /* The columns are wanted one by one. */
    lw_status status = lw_derivatives_evaluate(d, t, q, v, tau, error);
    tree->acting = acting;
    if (status == LW_OK) status = lw_solver_reactions(d->solver, d->reactions, d->unique, error);
    if (status == LW_OK) {
        sum_loads(d);
        if (d->rows) multipliers(d);
        for (int joint = 0; joint < model->joint_count; joint++) {
            const lw_joint_info *info = &model->joints[joint].info;
            double force[3];
            if (info->cut)
                transmitted_by_cut(d, joint, d->wrenches, force);
            else
                transmitted(d, info->child, d->wrenches, force);
            move_to_point(d, joint, info->reversed && !info->cut ? -1 : 1, force, d->wrenches);
            give(d, joint, 0, nv, d->wrenches, out->dq);
            give(d, joint, nv, nv, d->wrenches, out->dv);
            give(d, joint, 2 * nv, inputs, d->wrenches, out->dinputs);
            give(d, joint, 2 * nv + inputs, model->values.state_count, d->wrenches, out->dstates);
            give(d, joint, columns, nv, d->wrenches, out->dtau);
        }
        const size_t count = 6 * (size_t)model->joint_count;
        if (out->reactions) memcpy(out->reactions, d->reactions, count * sizeof *out->reactions);
        if (out->unique) memcpy(out->unique, d->unique, count * sizeof *out->unique);
    }
    tree->loads = tree->cut_loads = NULL;
    return status;
}
