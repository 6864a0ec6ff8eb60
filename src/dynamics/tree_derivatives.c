/* tree_derivatives.c - exact derivatives of the inverse dynamics of the spanning tree in closed form.
 *
 *   dV/dq_j = S_j x V + P_j                          dV/dv_j = S_j
 *   dA/dq_j = S_j x A + P_j x V + C_j                dA/dv_j = D_j + S_j x V
 *   k behind j:  dtau_k/dq_j = S_k . (I_k C_j + B_k P_j),   dtau_k/dv_j = S_k . (I_k D_j + B_k S_j)
 *   j behind k:  dtau_k/dq_j = S_k . (I_j C_j + B_j P_j + S_j x* F_j),  dtau_k/dv_j as above with I_j, B_j
 *
 * Source   docs/theory/derivatives.md, 4-14; the idea of one pass with composite quantities is that of Singh,
 *          Russell and Wensing (2022), whose B is shown there to have 12 different entries only.
 * Symbols  I, F, B: inertia, Newton-Euler wrench and the operator (12) of a body and all that it carries.
 * Cost     O(n depth), about 36 multiplications for each pair of speeds on one branch; no allocation but in
 *          create.
 */
#include "dynamics/tree_derivatives.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

lw_tree_derivatives *lw_tree_derivatives_create(const lw_model *model, lw_arena *arena, lw_data *data) {
    lw_tree_derivatives *d = LW_NEW(arena, lw_tree_derivatives, 1);
    if (!d) return NULL;
    const size_t n = (size_t)model->body_count + 1, nv = (size_t)model->nv;
    const size_t columns = 2 * nv + (size_t)model->values.input_count + (size_t)model->values.state_count;
    *d = (lw_tree_derivatives){.arena = arena, .model = model, .data = data, .columns = (int)columns};
    d->motions = LW_NEW(arena, lw_motion_column, nv + 1);
    d->V = LW_NEW(arena, double, 6 * n);
    d->A = LW_NEW(arena, double, 6 * n);
    d->inertia = LW_NEW(arena, lw_rigid_inertia, n);
    d->F = LW_NEW(arena, double, 6 * n);
    d->B = LW_NEW(arena, double, 9 * n);
    d->p = LW_NEW(arena, double, 3 * n);
    d->mass = LW_NEW(arena, double, nv *nv + 1);
    d->T = LW_NEW(arena, double, nv *columns + 1);
    d->values = LW_NEW(arena, double, (size_t)model->values.count *columns + 1);
    d->slopes = LW_NEW(arena, double, model->values.count + 1);
    d->row = LW_NEW(arena, double, columns + 1);
    d->side = LW_NEW(arena, unsigned char, n);
    d->path = LW_NEW(arena, int, n);
    return lw_arena_failed(arena) ? NULL : d;
}

/* --- motions --------------------------------------------------------------------------------------- */

bool lw_column_moves(const lw_joint *joint, int j, int k) {
    const lw_joint_descriptor *type = lw_joint_describe(joint->type);
    if (type->ball && j >= type->slides && k >= type->slides) return !joint->inverse;
    return joint->inverse ? k < j : k > j;
}

/* `count` motions that are made at once, an elementary one or the three of a ball (7-9). */
static void group(const lw_joint *joint, int first, int count, const double *S, const double *v,
                  const double *vdot, double V[6], double A[6], lw_motion_column *out) {
    double rate[6] = {0}, turn[6], before[6], at[6], both[6];
    memcpy(before, V, sizeof before);
    memcpy(at, A, sizeof at);
    for (int k = first; k < first + count; k++) {
        lw_v6_axpy(v[k], S + 6 * k, rate);
        lw_v6_axpy(vdot[k], S + 6 * k, A);
    }
    lw_twist_cross(before, rate, turn);
    for (int c = 0; c < 6; c++) V[c] += rate[c], A[c] += turn[c], both[c] = before[c] + V[c];
    const bool standing = joint->inverse && count > 1; /* Its columns do not move with the ball. */
    const double *base = standing ? V : before, *base_rate = standing ? A : at;
    for (int k = first; k < first + count; k++) {
        lw_motion_column *m = &out[k];
        double part[6];
        memcpy(m->S, S + 6 * k, sizeof m->S);
        lw_twist_cross(base, m->S, m->P);
        lw_twist_cross(both, m->S, m->D);
        lw_twist_cross(base_rate, m->S, m->C);
        lw_twist_cross(base, m->P, part);
        for (int c = 0; c < 6; c++) m->C[c] += part[c];
    }
}

void lw_motion_columns(const lw_joint *joint, const double *S, const double *v, const double *vdot,
                       double V[6], double A[6], lw_motion_column *out) {
    const int single = lw_joint_describe(joint->type)->ball ? joint->nv - 3 : joint->nv;
    const bool ball = single < joint->nv;
    if (joint->inverse) {
        if (ball) group(joint, single, 3, S, v, vdot, V, A, out);
        for (int k = single - 1; k >= 0; k--) group(joint, k, 1, S, v, vdot, V, A, out);
        return;
    }
    for (int k = 0; k < single; k++) group(joint, k, 1, S, v, vdot, V, A, out);
    if (ball) group(joint, single, 3, S, v, vdot, V, A, out);
}

/* A point in the middle of the mechanism: arms about it are short. */
static void choose_origin(lw_tree_derivatives *d) {
    const int n = d->model->body_count;
    lw_v3_set(d->origin, 0, 0, 0);
    for (int i = 1; i <= n; i++) lw_v3_axpy(1.0 / n, d->data->world[i].p, d->origin);
}

static void kinematics(lw_tree_derivatives *d, const double *vdot) {
    const lw_model *model = d->model;
    const lw_data *data = d->data;
    memset(d->V, 0, 6 * sizeof *d->V);
    lw_v3_set(d->A, 0, 0, 0);
    for (int k = 0; k < 3; k++) d->A[3 + k] = -model->gravity[k];
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_pose *world = &data->world[i];
        double S[6 * LW_JOINT_MAX_V], p[3];
        lw_v3_sub(world->p, d->origin, p);
        for (int k = 0; k < link->joint.nv; k++)
            lw_twist_to_parent(world->R, p, data->S + 6 * (link->v + k), S + 6 * k);
        memcpy(d->V + 6 * i, d->V + 6 * link->parent, 6 * sizeof *d->V);
        memcpy(d->A + 6 * i, d->A + 6 * link->parent, 6 * sizeof *d->A);
        lw_motion_columns(&link->joint, S, data->v + link->v, vdot + link->v, d->V + 6 * i, d->A + 6 * i,
                          d->motions + link->v);
        for (int k = 0; k < link->joint.nv; k++)
            d->motions[link->v + k].body = i, d->motions[link->v + k].component = k;
    }
}

/* --- bodies ---------------------------------------------------------------------------------------- */

/* B of one body (12): B x = (B11 a; 2 a x p) for x = (a; l), with p its linear momentum and B11 = 2 (tr(G) 1
 * - G), G = sum of m u r' over its particles at r with velocity u. Adds the part of a moment that holds an
 * idle spin, -H (w x a). */
static void operator_of(const lw_rigid_inertia *I, const double V[6], double B[9], double p[3]) {
    const double *J = I->second, *w = V, half = 0.5 * (J[0] + J[1] + J[2]);
    const double E[9] = {half - J[0], -J[3], -J[4], -J[3], half - J[1], -J[5], -J[4], -J[5], half - J[2]};
    double G[9];
    for (int j = 0; j < 3; j++) {
        const double column[3] = {E[j], E[3 + j], E[6 + j]};
        double turned[3];
        lw_v3_cross(w, column, turned);
        for (int i = 0; i < 3; i++) G[3 * i + j] = turned[i] + V[3 + i] * I->moment[j];
    }
    const double trace = G[0] + G[4] + G[8];
    for (int k = 0; k < 9; k++) B[k] = 2 * ((k % 4 == 0 ? trace : 0) - G[k]);
    lw_v3_cross(w, I->moment, p);
    lw_v3_axpy(I->mass, V + 3, p);
}

static void body(lw_tree_derivatives *d, int i) {
    const lw_model *model = d->model;
    const lw_pose *world = &d->data->world[i];
    const double *V = d->V + 6 * i, *A = d->A + 6 * i;
    double p[3], h[6], *F = d->F + 6 * i, turn[6], *B = d->B + 9 * i;
    lw_v3_sub(world->p, d->origin, p);
    memset(&d->inertia[i], 0, sizeof d->inertia[i]);
    lw_rigid_add_to_parent(world->R, p, &model->links[i].inertia, &d->inertia[i]);
    lw_rigid_inertia I = d->inertia[i];
    const double *held = model->bodies[i].held;
    if (model->idle_count) {
        const lw_rigid_inertia own = lw_true_inertia(model, i);
        memset(&I, 0, sizeof I);
        lw_rigid_add_to_parent(world->R, p, &own, &I);
    }
    lw_rigid_mul(&d->inertia[i], A, F); /* The moment that holds an idle spin has no gyroscopic torque. */
    lw_rigid_mul(&I, V, h);
    lw_wrench_cross(V, h, turn);
    for (int k = 0; k < 6; k++) F[k] += turn[k];
    operator_of(&I, V, B, d->p + 3 * i);
    if (!model->idle_count) return;
    double H[6];
    lw_s3_rotate(world->R, held, H);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = {j == 0, j == 1, j == 2};
        double across[3], torque[3];
        lw_v3_cross(V, unit, across);
        lw_s3_mul_v(H, across, torque);
        for (int k = 0; k < 3; k++) B[3 * k + j] -= torque[k];
    }
}

static void add_to_parent(lw_tree_derivatives *d, int i) {
    const int to = d->model->links[i].parent;
    lw_rigid_inertia *I = &d->inertia[to], *own = &d->inertia[i];
    I->mass += own->mass;
    for (int k = 0; k < 3; k++) I->moment[k] += own->moment[k], d->p[3 * to + k] += d->p[3 * i + k];
    for (int k = 0; k < 6; k++) I->second[k] += own->second[k], d->F[6 * to + k] += d->F[6 * i + k];
    for (int k = 0; k < 9; k++) d->B[9 * to + k] += d->B[9 * i + k];
}

/* --- pairs of motions ------------------------------------------------------------------------------ */

/* What motion k hands to the motions that carry it (13, 14). */
typedef struct handed {
    double U[6], b[3];   /* I S, and the angular part of B'S, whose linear part is zero */
    double wq[6], wv[6]; /* wrenches of its own motion and speed */
} handed;

static void hand(const lw_tree_derivatives *d, const lw_motion_column *m, handed *out) {
    const int i = m->body;
    const lw_rigid_inertia *I = &d->inertia[i];
    const double *B = d->B + 9 * i, *p = d->p + 3 * i;
    double part[3], turn[6];
    lw_rigid_mul(I, m->S, out->U);
    lw_m3_tmul_v(B, m->S, out->b);
    lw_v3_cross(p, m->S + 3, part);
    lw_v3_axpy(2, part, out->b);
    lw_rigid_mul(I, m->C, out->wq);
    lw_rigid_mul(I, m->D, out->wv);
    lw_m3_mul_v(B, m->P, part);
    lw_v3_add(out->wq, part, out->wq);
    lw_v3_cross(m->P, p, part);
    lw_v3_axpy(2, part, out->wq + 3);
    lw_m3_mul_v(B, m->S, part);
    lw_v3_add(out->wv, part, out->wv);
    lw_v3_cross(m->S, p, part);
    lw_v3_axpy(2, part, out->wv + 3);
    lw_wrench_cross(m->S, d->F + 6 * i, turn);
    for (int c = 0; c < 6; c++) out->wq[c] += turn[c];
}

/* The entries of motions of the same joint. */
static void same_joint(lw_tree_derivatives *d, int k, const handed *own) {
    const lw_motion_column *m = &d->motions[k];
    const lw_link *link = &d->model->links[m->body];
    const size_t columns = (size_t)d->columns, nv = (size_t)d->model->nv;
    for (int j = link->v; j < link->v + link->joint.nv; j++) {
        const lw_motion_column *other = &d->motions[j];
        double *T = d->T + (size_t)k * columns + j;
        T[0] = lw_v6_dot(own->U, other->C) + lw_v3_dot(own->b, other->P);
        T[nv] = lw_v6_dot(own->U, other->D) + lw_v3_dot(own->b, other->S);
        d->mass[(size_t)k * nv + (size_t)j] = lw_v6_dot(own->U, other->S);
        if (lw_column_moves(&link->joint, other->component, m->component)) continue;
        double turn[6];
        lw_wrench_cross(other->S, d->F + 6 * m->body, turn);
        T[0] += lw_v6_dot(m->S, turn);
    }
}

static void pairs(lw_tree_derivatives *d) {
    const lw_model *model = d->model;
    const size_t columns = (size_t)d->columns, nv = (size_t)model->nv;
    for (int k = 0; k < model->nv; k++) {
        const lw_motion_column *m = &d->motions[k];
        handed own;
        hand(d, m, &own);
        same_joint(d, k, &own);
        if (model->armature) d->mass[(size_t)k * nv + (size_t)k] += model->armature[k];
        double *Tk = d->T + (size_t)k * columns, *Mk = d->mass + (size_t)k * nv;
        for (int i = model->links[m->body].parent; i > 0; i = model->links[i].parent) {
            const lw_link *link = &model->links[i];
            for (int j = link->v; j < link->v + link->joint.nv; j++) {
                const lw_motion_column *up = &d->motions[j];
                double *Tj = d->T + (size_t)j * columns + k;
                Tk[j] = lw_v6_dot(own.U, up->C) + lw_v3_dot(own.b, up->P);
                Tk[nv + (size_t)j] = lw_v6_dot(own.U, up->D) + lw_v3_dot(own.b, up->S);
                Tj[0] = lw_v6_dot(up->S, own.wq);
                Tj[nv] = lw_v6_dot(up->S, own.wv);
                Mk[j] = d->mass[(size_t)j * nv + (size_t)k] = lw_v6_dot(own.U, up->S);
            }
        }
    }
}

void lw_tree_derivatives_inertia(lw_tree_derivatives *d, double t, const double *vdot) {
    const lw_model *model = d->model;
    const size_t nv = (size_t)model->nv;
    d->t = t;
    lw_velocities(model, d->data);
    lw_world_poses(model, d->data);
    choose_origin(d);
    kinematics(d, vdot);
    memset(d->T, 0, nv * (size_t)d->columns * sizeof *d->T);
    memset(d->mass, 0, nv * nv * sizeof *d->mass);
    for (int i = 1; i <= model->body_count; i++) body(d, i);
    for (int i = model->body_count; i > 0; i--)
        if (model->links[i].parent > 0) add_to_parent(d, i);
    pairs(d);
}

void lw_tree_derivatives_prescribe(lw_tree_derivatives *d, int rows, double *matrix) {
    const lw_model *model = d->model;
    if (!model->motion_count) return;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            if (!(model->links[i].prescribed >> k & 1)) continue;
            const size_t j = (size_t)(model->links[i].v + k);
            for (int r = 0; r < rows; r++) {
                double *row = matrix + (size_t)r * (size_t)d->columns;
                row[j] = row[j + (size_t)model->nv] = 0;
            }
        }
}

/* --- pairs of bodies ------------------------------------------------------------------------------- */

enum { PLUS = 1, MINUS = 2 };

/* Marks the bodies on the ways from ground to both bodies and lists them; returns how many there are. */
static int mark(lw_tree_derivatives *d, const lw_pair *pair) {
    int count = 0;
    for (int side = PLUS; side <= MINUS; side++)
        for (int i = side == PLUS ? pair->plus : pair->minus; i > 0; i = d->model->links[i].parent) {
            if (!d->side[i]) d->path[count++] = i;
            d->side[i] |= (unsigned char)side;
        }
    return count;
}

static void unmark(lw_tree_derivatives *d, int count) {
    for (int k = 0; k < count; k++) d->side[d->path[k]] = 0;
}

/* What a motion or (speed) the speed of column m changes on a body that it carries. */
static void vary(const lw_tree_derivatives *d, const lw_motion_column *m, int body, bool speed,
                 lw_variation *out) {
    const double *V = d->V + 6 * body, *A = d->A + 6 * body;
    double part[6];
    if (speed) {
        memset(out->place, 0, sizeof out->place);
        memcpy(out->V, m->S, sizeof out->V);
        lw_twist_cross(m->S, V, out->A);
        lw_v6_axpy(1, m->D, out->A);
        return;
    }
    memcpy(out->place, m->S, sizeof out->place);
    lw_twist_cross(m->S, V, out->V);
    lw_v6_axpy(1, m->P, out->V);
    lw_twist_cross(m->S, A, out->A);
    lw_twist_cross(m->P, V, part);
    for (int c = 0; c < 6; c++) out->A[c] += part[c] + m->C[c];
}

/* Does column k move with motion j, both on the ways to the bodies of a pair? */
static bool moves_with(const lw_tree_derivatives *d, int k, int j) {
    const lw_motion_column *a = &d->motions[j], *b = &d->motions[k];
    if (a->body == b->body)
        return lw_column_moves(&d->model->links[a->body].joint, a->component, b->component);
    return a->body < b->body && d->side[a->body] & d->side[b->body];
}

/* The change of the pair's generalised forces in one column. */
static void add_column(lw_tree_derivatives *d, const lw_pair *pair, int count, int j, bool speed,
                       const double dW[6]) {
    const size_t columns = (size_t)d->columns, column = (size_t)j + (speed ? (size_t)d->model->nv : 0);
    double turned[6];
    if (!speed) lw_wrench_cross(d->motions[j].S, pair->W, turned); /* (S_j x S_k) . W = -S_k . (S_j x* W) */
    for (int b = 0; b < count; b++) {
        const int i = d->path[b];
        const lw_link *link = &d->model->links[i];
        if (d->side[i] == (PLUS | MINUS)) continue;
        const double sign = d->side[i] == PLUS ? 1 : -1;
        for (int k = link->v; k < link->v + link->joint.nv; k++) {
            double force = lw_v6_dot(d->motions[k].S, dW);
            if (!speed && moves_with(d, k, j)) force -= lw_v6_dot(d->motions[k].S, turned);
            d->T[(size_t)k * columns + column] -= sign * force;
        }
    }
}

void lw_pair_derivatives(lw_tree_derivatives *d, const lw_pair *pair, lw_pair_change *change,
                         const void *context, const lw_row_matrices *matrices) {
    static const lw_variation none;
    const int count = mark(d, pair), nv = d->model->nv;
    for (int b = 0; b < count; b++) {
        const int i = d->path[b], side = d->side[i];
        const lw_link *link = &d->model->links[i];
        if (pair->invariant && side == (PLUS | MINUS)) continue;
        for (int j = link->v; j < link->v + link->joint.nv; j++)
            for (int speed = 0; speed < 2; speed++) {
                lw_variation plus = none, minus = none;
                double dW[6] = {0}, rows[12] = {0};
                if (side & PLUS) vary(d, &d->motions[j], pair->plus, speed, &plus);
                if (side & MINUS) vary(d, &d->motions[j], pair->minus, speed, &minus);
                change(context, &plus, &minus, dW, rows);
                add_column(d, pair, count, j, speed, dW);
                for (int r = 0; matrices && r < pair->count; r++) {
                    const size_t at =
                        (size_t)(pair->first + r) * (size_t)d->columns + (size_t)(j + speed * nv);
                    matrices->accelerations[at] += rows[r];
                    matrices->velocities[at] += rows[6 + r];
                }
            }
    }
    unmark(d, count);
}

void lw_pair_wrench(lw_tree_derivatives *d, const lw_pair *pair, const double W[6], const double *row) {
    const int count = mark(d, pair);
    for (int b = 0; b < count; b++) {
        const int i = d->path[b];
        const lw_link *link = &d->model->links[i];
        if (d->side[i] == (PLUS | MINUS)) continue;
        for (int k = link->v; k < link->v + link->joint.nv; k++) {
            const double force = (d->side[i] == PLUS ? 1 : -1) * lw_v6_dot(d->motions[k].S, W);
            double *T = d->T + (size_t)k * (size_t)d->columns;
            for (int c = 0; c < d->columns && force != 0; c++) T[c] -= force * row[c];
        }
    }
    unmark(d, count);
}

/* --- points ---------------------------------------------------------------------------------------- */

void lw_point_of(const lw_tree_derivatives *d, int body, const double local[3], lw_point_motion *out) {
    const lw_pose *world = &d->data->world[body];
    const double *V = d->V + 6 * body, *A = d->A + 6 * body;
    double x[3];
    lw_pose_point(world->R, world->p, local, x);
    lw_v3_sub(x, d->origin, out->x);
    lw_v3_copy(V + 3, out->v);
    lw_v3_add_cross(V, out->x, out->v);
    lw_v3_copy(A + 3, out->a);
    lw_v3_add_cross(A, out->x, out->a);
    lw_v3_add_cross(V, out->v, out->a);
}

void lw_point_vary(const lw_tree_derivatives *d, int body, const lw_point_motion *point,
                   const lw_variation *by, lw_point_motion *out) {
    const double *V = d->V + 6 * body, *A = d->A + 6 * body;
    lw_v3_copy(by->place + 3, out->x);
    lw_v3_add_cross(by->place, point->x, out->x);
    lw_v3_copy(by->V + 3, out->v);
    lw_v3_add_cross(by->V, point->x, out->v);
    lw_v3_add_cross(V, out->x, out->v);
    lw_v3_copy(by->A + 3, out->a);
    lw_v3_add_cross(by->A, point->x, out->a);
    lw_v3_add_cross(A, out->x, out->a);
    lw_v3_add_cross(by->V, point->v, out->a);
    lw_v3_add_cross(V, out->v, out->a);
}
