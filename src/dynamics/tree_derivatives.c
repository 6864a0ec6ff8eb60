/* tree_derivatives.c - exact derivatives of the inverse dynamics of the spanning tree in closed form, and
 * those of forward dynamics by the factor of its mass matrix.
 *
 *   dV/dq_j = S_j x V + P_j                          dV/dv_j = S_j
 *   dA/dq_j = S_j x A + P_j x V + C_j                dA/dv_j = D_j + S_j x V
 *   k behind j:  dtau_k/dq_j = S_k . (I_k C_j + B_k P_j),   dtau_k/dv_j = S_k . (I_k D_j + B_k S_j)
 *   j behind k:  dtau_k/dq_j = S_k . (I_j C_j + B_j P_j + S_j x* F_j),  dtau_k/dv_j as above with I_j, B_j
 *
 * Source   docs/theory/derivatives.md, 4-14, 36, 37; the idea of one pass with composite quantities is that
 *          of Singh, Russell and Wensing (2022), whose B is shown there to have 12 different entries only;
 *          the factor is that of Featherstone (2005).
 * Symbols  I, F, B: inertia, Newton-Euler wrench and the operator (12) of a body and all that it carries.
 * Cost     O(n depth), about 36 multiplications for each pair of speeds on one branch, on vectors
 *          (tree_derivatives_kernels.h); the solution O(n^2 depth); no allocation but in create.
 */
#include "dynamics/tree_derivatives.h"
#include "core/processor.h"
#include "model/joint.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const lw_tree_simd *lw_tree_simd_widest(void) {
    if (lw_has_avx512()) return &lw_tree_simd_8;
    if (lw_has_avx2()) return &lw_tree_simd_4;
    return &lw_tree_simd_2;
}

/* --- creation -------------------------------------------------------------------------------------- */

static int padded(size_t count) { return (int)((count + LW_FLAT_BLOCK - 1) / LW_FLAT_BLOCK * LW_FLAT_BLOCK); }

/* The order of places, depth first. */
static void make_line(lw_tree_derivatives *d, int *places) {
    const lw_model *model = d->model;
    lw_tree_flat *f = &d->flat;
    lw_arena *arena = d->arena;
    const size_t nv = (size_t)model->nv + 1, n = (size_t)model->body_count + 1;
    int *motion = LW_NEW(arena, int, nv), *position = LW_NEW(arena, int, nv), *end = LW_NEW(arena, int, nv),
        *length = LW_NEW(arena, int, nv), *own = LW_NEW(arena, int, nv), *up = LW_NEW(arena, int, nv),
        *parent = LW_NEW(arena, int, n), *child = LW_NEW(arena, int, n), *next = LW_NEW(arena, int, n),
        *last = LW_NEW(arena, int, n), *count = LW_NEW(arena, int, n), *body = LW_NEW(arena, int, nv);
    bool *fixed = LW_NEW(arena, bool, nv);
    if (lw_arena_failed(arena)) return;
    for (int i = model->body_count; i > 0; i--) { /* last[i]: the last place on its path, count: how many */
        const int from = model->links[i].parent;
        parent[i] = from;
        next[i] = child[from];
        child[from] = i;
    }
    last[0] = -1;
    for (int i = child[0], place = 0; i > 0;) {
        const lw_link *link = &model->links[i];
        last[i] = last[link->parent];
        count[i] = count[link->parent] + link->joint.nv;
        for (int k = 0; k < link->joint.nv; k++, place++) {
            const int speed = link->v + k;
            d->motions[speed].body = i, d->motions[speed].component = k;
            places[speed] = place;
            body[speed] = i;
            motion[place] = speed;
            position[place] = count[link->parent] + k;
            length[place] = count[i], own[place] = link->joint.nv;
            up[place] = last[i];
            fixed[place] = link->prescribed >> k & 1;
            last[i] = place;
        }
        if (count[i] > f->deepest) f->deepest = count[i];
        int to = child[i];
        for (int at = i; to == 0 && at > 0; at = model->links[at].parent) { /* All of it has been passed. */
            for (int k = 0; k < model->links[at].joint.nv; k++) end[places[model->links[at].v + k]] = place;
            to = next[at];
        }
        i = to;
    }
    f->serial = true;
    for (int k = 0; k < model->nv; k++) f->serial &= motion[k] == k && position[k] == k;
    f->motion = motion, f->position = position, f->end = end, f->length = length, f->own = own, f->up = up;
    f->parent = parent, f->body = body, f->fixed = fixed;
}

/* Do forces depend on motions of other branches? */
static bool branches_act(const lw_model *model) {
    if (model->values.count > 0) return true;
    for (int k = 0; k < model->force_count; k++)
        if (!lw_force_in_joint(&model->forces[k])) return true;
    return false;
}

/* Which blocks of the solution are not zero on the way inwards, and which are wanted on the way outwards. */
static void mark_blocks(lw_tree_derivatives *d, const int *places) {
    lw_tree_flat *f = &d->flat;
    const bool full = branches_act(d->model);
    const int nv = f->nv;
    const size_t blocks = (size_t)f->block_count;
    unsigned char *inward = LW_NEW(d->arena, unsigned char, ((size_t)nv + 1) * blocks + 1),
                  *outward = LW_NEW(d->arena, unsigned char, ((size_t)nv + 1) * blocks + 1);
    f->inward = inward, f->outward = outward;
    if (lw_arena_failed(d->arena)) return;
    for (int i = 0; i < nv; i++)
        for (int c = 0; c < f->units + nv; c++) {
            const size_t at = (size_t)i * blocks + (size_t)(c / LW_FLAT_BLOCK);
            const bool unit = c >= f->units, other = !unit && (full || c >= 2 * nv);
            const int speed = unit ? c - f->units : c < nv ? c : c < 2 * nv ? c - nv : 0;
            const int j = places[speed];
            inward[at] |= other || (j >= i && j < f->end[i]) || (!unit && j < i && i < f->end[j]);
            outward[at] |= !unit || speed >= f->motion[i];
        }
}

/* Zeros that begin at a cache line: a vector then never lies in two. */
static double *aligned(lw_arena *arena, size_t count) {
    double *at = LW_NEW(arena, double, count + 8);
    while (at && (uintptr_t)at % 64 != 0) at++;
    return at;
}

static void make_flat(lw_tree_derivatives *d) {
    const lw_model *model = d->model;
    lw_tree_flat *f = &d->flat;
    lw_arena *arena = d->arena;
    const size_t nv = (size_t)model->nv, n = (size_t)model->body_count + 1;
    f->body_count = model->body_count, f->nv = model->nv;
    f->body_stride = padded(n + 8), f->motion_stride = padded(nv + 8);
    int *places = LW_NEW(arena, int, nv + 1); /* of the motions */
    if (!places) return;
    make_line(d, places);
    if (lw_arena_failed(arena)) return;
    f->path_stride = padded((size_t)f->deepest + 8);
    f->units = padded((size_t)d->columns);
    f->right_stride = f->units + padded(nv);
    f->plain_blocks = f->units / LW_FLAT_BLOCK, f->block_count = f->right_stride / LW_FLAT_BLOCK;
    f->bodies = aligned(arena, (size_t)f->body_stride * LW_BODY_ROWS);
    f->motions = aligned(arena, (size_t)f->motion_stride * LW_MOTION_ROWS);
    f->path = f->serial ? f->motions : aligned(arena, (size_t)f->path_stride * LW_PATH_ROWS);
    f->mass = aligned(arena, (nv + 1) * (size_t)f->path_stride);
    f->L = aligned(arena, (nv + 1) * (size_t)f->path_stride);
    f->pivot = LW_NEW(arena, double, nv + 1);
    f->inverse = LW_NEW(arena, double, nv + 1);
    f->right = aligned(arena, (nv + 1) * (size_t)f->right_stride);
    d->T = f->right, d->stride = f->right_stride, d->units = f->units;
    f->stack = LW_NEW(arena, int, f->deepest + 1);
    int *run = LW_NEW(arena, int, nv + 1);
    f->run = run;
    for (int k = 0; k < 4; k++) d->lanes[k] = aligned(arena, (size_t)f->path_stride);
    mark_blocks(d, places);
    if (lw_arena_failed(arena)) return;
    const int width = d->simd->width;
    for (int k = 0; k < model->nv; k++) {
        run[k] = f->body[k];
        for (int l = 1; l < width && k + l < model->nv; l++)
            if (f->body[k + l] != f->body[k] + l) run[k] = -1;
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        double *to = f->bodies + (size_t)LW_BODY_OWN * (size_t)f->body_stride + i;
        const size_t stride = (size_t)f->body_stride;
        to[0] = I->mass;
        for (size_t k = 0; k < 3; k++) to[(1 + k) * stride] = I->moment[k];
        for (size_t k = 0; k < 6; k++) to[(4 + k) * stride] = I->second[k];
    }
}

lw_tree_derivatives *lw_tree_derivatives_create(const lw_model *model, lw_arena *arena, lw_data *data) {
    lw_tree_derivatives *d = LW_NEW(arena, lw_tree_derivatives, 1);
    if (!d) return NULL;
    const size_t n = (size_t)model->body_count + 1, nv = (size_t)model->nv;
    const size_t columns = 2 * nv + (size_t)model->values.input_count + (size_t)model->values.state_count;
    *d = (lw_tree_derivatives){.arena = arena, .model = model, .data = data, .columns = (int)columns};
    d->simd = lw_tree_simd_widest();
    d->acting = model->force_count + model->closure_count + model->constraint_count > 0;
    d->motions = LW_NEW(arena, lw_motion_column, nv + 1);
    d->V = LW_NEW(arena, double, 6 * n);
    d->A = LW_NEW(arena, double, 6 * n);
    d->mass = LW_NEW(arena, double, nv *nv + 1);
    d->values = LW_NEW(arena, double, (size_t)model->values.count *columns + 1);
    d->slopes = LW_NEW(arena, double, model->values.count + 1);
    d->row = LW_NEW(arena, double, columns + 1);
    d->side = LW_NEW(arena, unsigned char, n);
    d->path = LW_NEW(arena, int, n);
    if (!lw_arena_failed(arena)) make_flat(d);
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

/* --- outwards -------------------------------------------------------------------------------------- */

static inline void scatter(double *to, size_t stride, int count, const double *x) {
    for (int k = 0; k < count; k++) to[(size_t)k * stride] = x[k];
}
static inline void collect(const double *from, size_t stride, int count, double *x) {
    for (int k = 0; k < count; k++) x[k] = from[(size_t)k * stride];
}

/* The three motions of a ball, from component `first` on, made at once; V, A of what carries them become
 * those behind them. */
static void pass_ball(lw_tree_derivatives *d, const lw_link *link, int first, const double *S,
                      const double *vdot, double V[6], double A[6]) {
    const size_t stride = (size_t)d->flat.motion_stride;
    const double *v = d->data->v + link->v;
    double rate[6] = {0}, turn[6], base[6], base_rate[6];
    memcpy(base, V, sizeof base);
    memcpy(base_rate, A, sizeof base_rate);
    for (int k = first; k < first + 3; k++) {
        lw_v6_axpy(v[k], S + 6 * k, rate);
        lw_v6_axpy(vdot[k], S + 6 * k, A);
    }
    lw_twist_cross(base, rate, turn);
    for (int c = 0; c < 6; c++) V[c] += rate[c], A[c] += turn[c];
    if (link->joint.inverse) { /* Its columns do not move with the ball. */
        memcpy(base, V, sizeof base);
        memcpy(base_rate, A, sizeof base_rate);
    }
    for (int k = first; k < first + 3; k++) {
        double *to = d->flat.motions + link->v + k, P[6];
        lw_twist_cross(base, S + 6 * k, P);
        scatter(to + LW_FLAT_S * stride, stride, 6, S + 6 * k);
        scatter(to + LW_FLAT_P * stride, stride, 6, P);
        scatter(to + LW_FLAT_V * stride, stride, 6, base);
        scatter(to + LW_FLAT_A * stride, stride, 6, base_rate);
    }
}

/* The same for a single motion: its rate turns with what carries it, S' = P v. */
static inline void pass_one(lw_tree_derivatives *d, int speed, const double S[6], double vdot, double V[6],
                            double A[6]) {
    const size_t stride = (size_t)d->flat.motion_stride;
    const double v = d->data->v[speed];
    double *to = d->flat.motions + speed, P[6];
    lw_twist_cross(V, S, P);
    for (size_t c = 0; c < 6; c++) {
        to[(LW_FLAT_S + c) * stride] = S[c];
        to[(LW_FLAT_P + c) * stride] = P[c];
        to[(LW_FLAT_V + c) * stride] = V[c];
        to[(LW_FLAT_A + c) * stride] = A[c];
        V[c] += v * S[c];
        A[c] += vdot * S[c] + v * P[c];
    }
}

/* D = (V- + V+) x S of the motions of a ball, from 2 P. */
static void mend_ball(lw_tree_derivatives *d, const lw_link *link, int first) {
    const size_t stride = (size_t)d->flat.motion_stride;
    double *motions = d->flat.motions + link->v, rate[6] = {0}, S[6], turn[6];
    for (int k = first; k < first + 3; k++) {
        collect(motions + k + LW_FLAT_S * stride, stride, 6, S);
        lw_v6_axpy((link->joint.inverse ? -1 : 1) * d->data->v[link->v + k], S, rate);
    }
    for (int k = first; k < first + 3; k++) {
        double *D = motions + k + LW_FLAT_D * stride;
        collect(motions + k + LW_FLAT_S * stride, stride, 6, S);
        lw_twist_cross(rate, S, turn);
        for (size_t c = 0; c < 6; c++) D[c * stride] += turn[c];
    }
}

static void outwards(lw_tree_derivatives *d, const double *vdot) {
    const lw_model *model = d->model;
    const lw_data *data = d->data;
    const size_t stride = (size_t)d->flat.body_stride;
    memset(d->V, 0, 6 * sizeof *d->V);
    lw_v3_set(d->A, 0, 0, 0);
    for (int k = 0; k < 3; k++) d->A[3 + k] = -model->gravity[k];
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_joint *joint = &link->joint;
        const lw_pose *world = &data->world[i];
        double S[6 * LW_JOINT_MAX_V], p[3], *to = d->flat.bodies + i, *V = d->V + 6 * i, *A = d->A + 6 * i;
        lw_v3_sub(world->p, d->origin, p);
        memcpy(V, d->V + 6 * link->parent, 6 * sizeof *V);
        memcpy(A, d->A + 6 * link->parent, 6 * sizeof *A);
        if (link->kernel < LW_KERNEL_PRISMATIC) {
            const int a = link->kernel;
            for (int k = 0; k < 3; k++) S[k] = (double)link->sign * world->R[3 * k + a];
            lw_v3_cross(p, S, S + 3);
            pass_one(d, link->v, S, vdot[link->v], V, A);
        } else {
            const bool ball = lw_joint_describe(joint->type)->ball;
            const int single = ball ? joint->nv - 3 : joint->nv;
            for (int k = 0; k < joint->nv; k++)
                lw_twist_to_parent(world->R, p, data->S + 6 * (link->v + k), S + 6 * k);
            if (joint->inverse) {
                if (ball) pass_ball(d, link, single, S, vdot + link->v, V, A);
                for (int k = single - 1; k >= 0; k--)
                    pass_one(d, link->v + k, S + 6 * k, vdot[link->v + k], V, A);
            } else {
                for (int k = 0; k < single; k++) pass_one(d, link->v + k, S + 6 * k, vdot[link->v + k], V, A);
                if (ball) pass_ball(d, link, single, S, vdot + link->v, V, A);
            }
        }
        scatter(to + LW_BODY_R * stride, stride, 9, world->R);
        scatter(to + LW_BODY_P * stride, stride, 3, p);
        scatter(to + LW_BODY_V * stride, stride, 6, V);
        scatter(to + LW_BODY_A * stride, stride, 6, A);
    }
    d->simd->columns(&d->flat);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_joint *joint = &model->links[i].joint;
        if (lw_joint_describe(joint->type)->ball) mend_ball(d, &model->links[i], joint->nv - 3);
    }
}

/* The columns one by one, for what acts between bodies. */
static void list_motions(lw_tree_derivatives *d) {
    const size_t stride = (size_t)d->flat.motion_stride;
    for (int k = 0; k < d->model->nv; k++) {
        const double *from = d->flat.motions + k;
        collect(from + LW_FLAT_S * stride, stride, 6, d->motions[k].S);
        collect(from + LW_FLAT_P * stride, stride, 6, d->motions[k].P);
        collect(from + LW_FLAT_C * stride, stride, 6, d->motions[k].C);
        collect(from + LW_FLAT_D * stride, stride, 6, d->motions[k].D);
    }
}

/* --- inwards --------------------------------------------------------------------------------------- */

/* The moment H that holds an idle spin has no gyroscopic torque: takes w x H w from F, and from B11 the part
 * of H, 2 (tr(G) 1 - G) with G = w~ E, and H w~. */
static void mend_idle(lw_tree_derivatives *d, int i) {
    const size_t stride = (size_t)d->flat.body_stride;
    double *sum = d->flat.bodies + LW_BODY_SUM * stride + i, *B = sum + LW_SUM_B * stride;
    const double *w = d->V + 6 * i;
    double H[6], momentum[3], torque[3], G[9];
    lw_s3_rotate(d->data->world[i].R, d->model->bodies[i].held, H);
    lw_s3_mul_v(H, w, momentum);
    lw_v3_cross(w, momentum, torque);
    for (size_t k = 0; k < 3; k++) sum[(LW_SUM_F + k) * stride] -= torque[k];
    const double half = 0.5 * (H[0] + H[1] + H[2]);
    const double E[9] = {half - H[0], -H[3], -H[4], -H[3], half - H[1], -H[5], -H[4], -H[5], half - H[2]};
    for (int j = 0; j < 3; j++) {
        double turned[3];
        lw_v3_cross(w, E + 3 * j, turned);
        for (int k = 0; k < 3; k++) G[3 * k + j] = turned[k];
    }
    const double trace = G[0] + G[4] + G[8];
    for (size_t k = 0; k < 9; k++) B[k * stride] -= 2 * ((k % 4 == 0 ? trace : 0) - G[k]);
    for (int j = 0; j < 3; j++) {
        const double unit[3] = {j == 0, j == 1, j == 2};
        double across[3];
        lw_v3_cross(w, unit, across);
        lw_s3_mul_v(H, across, torque);
        for (size_t k = 0; k < 3; k++) B[(3 * k + (size_t)j) * stride] -= torque[k];
    }
}

static void inwards(lw_tree_derivatives *d) {
    const lw_tree_flat *f = &d->flat;
    const size_t stride = (size_t)f->body_stride;
    double *sums = f->bodies + LW_BODY_SUM * stride;
    d->simd->bodies(f);
    for (int i = 1; i <= f->body_count && d->model->idle_count; i++) mend_idle(d, i);
    for (int i = f->body_count; i > 0; i--) {
        if (f->parent[i] == 0) continue;
        const double *own = sums + i;
        double *to = sums + f->parent[i];
        for (size_t k = 0; k < LW_SUM_ROWS; k++) to[k * stride] += own[k * stride];
    }
    d->simd->handed(f);
}

/* --- pairs of motions ------------------------------------------------------------------------------ */

/* Motions of one joint that do not move with each other: in (13) the turning of F remains. */
static void mend_joint(lw_tree_derivatives *d, int k) {
    const lw_link *link = &d->model->links[d->motions[k].body];
    const size_t stride = (size_t)d->flat.motion_stride, body = (size_t)d->flat.body_stride;
    const double *motions = d->flat.motions;
    double S[6], F[6], other[6], turn[6];
    collect(motions + k, stride, 6, S);
    collect(d->flat.bodies + (LW_BODY_SUM + LW_SUM_F) * body + d->motions[k].body, body, 6, F);
    for (int j = link->v; j < link->v + link->joint.nv; j++) {
        if (j == k || lw_column_moves(&link->joint, d->motions[j].component, d->motions[k].component))
            continue;
        collect(motions + j, stride, 6, other);
        lw_wrench_cross(other, F, turn);
        d->T[(size_t)k * (size_t)d->stride + (size_t)j] += lw_v6_dot(S, turn);
    }
}

/* The motions of a joint, on the path of all that it carries. */
static void extend_path(const lw_tree_flat *f, int place) {
    const double *from = f->motions + f->motion[place];
    double *to = f->path + f->position[place];
    for (size_t row = 0; row < LW_PATH_ROWS; row++)
        to[row * (size_t)f->path_stride] = from[row * (size_t)f->motion_stride];
    f->stack[f->position[place]] = f->motion[place];
}

static void pairs(lw_tree_derivatives *d) {
    const lw_tree_flat *f = &d->flat;
    const size_t columns = (size_t)d->columns, stride = (size_t)d->stride, nv = (size_t)f->nv;
    const int path_stride = f->serial ? f->motion_stride : f->path_stride;
    for (int place = 0; place < f->nv; place++) {
        const int k = f->motion[place], length = f->length[place], own = f->own[place];
        const int before = length - own, *path = f->stack;
        double *mass = f->mass + (size_t)place * (size_t)f->path_stride;
        double *Tk = d->T + (size_t)k * stride, *down = d->T + k;
        for (int l = 0; !f->serial && l < own && f->position[place] == before; l++) extend_path(f, place + l);
        /* In a chain rows go to T at once. What vectors write beyond them is written later, or cleared. */
        d->simd->pairs(f, f->path, path_stride, k, length,
                       (double *[5]){f->serial ? Tk : d->lanes[0], f->serial ? Tk + nv : d->lanes[1],
                                     d->lanes[2], d->lanes[3], mass});
        if (f->serial) {
            for (size_t c = 2 * nv; c < columns; c++) Tk[c] = 0;
            for (int l = 0; l < before; l++, down += stride)
                down[0] = d->lanes[2][l], down[nv] = d->lanes[3][l];
        } else {
            for (int l = 0; l < length; l++)
                Tk[path[l]] = d->lanes[0][l], Tk[nv + (size_t)path[l]] = d->lanes[1][l];
            for (int l = 0; l < before; l++) {
                double *at = down + (size_t)path[l] * stride;
                at[0] = d->lanes[2][l], at[nv] = d->lanes[3][l];
            }
        }
        if (own > 1) mend_joint(d, k);
        if (d->model->armature) mass[f->position[place]] += d->model->armature[k];
    }
}

void lw_tree_derivatives_inertia(lw_tree_derivatives *d, double t, const double *vdot) {
    const lw_model *model = d->model;
    const size_t nv = (size_t)model->nv;
    d->t = t, d->vdot = vdot;
    lw_velocities(model, d->data);
    lw_world_poses(model, d->data);
    choose_origin(d);
    outwards(d, vdot);
    if (d->acting) list_motions(d);
    inwards(d);
    for (size_t k = 0; k < nv && !d->flat.serial; k++)
        memset(d->T + k * (size_t)d->stride, 0, (size_t)d->columns * sizeof *d->T);
    pairs(d);
}

void lw_tree_derivatives_mass(lw_tree_derivatives *d) {
    const lw_tree_flat *f = &d->flat;
    const size_t nv = (size_t)f->nv;
    memset(d->mass, 0, nv * nv * sizeof *d->mass);
    for (int place = 0; place < f->nv; place++) {
        const double *row = f->mass + (size_t)place * (size_t)f->path_stride;
        const size_t k = (size_t)f->motion[place];
        for (int i = place; i >= 0; i = f->up[i]) {
            const size_t j = (size_t)f->motion[i];
            d->mass[k * nv + j] = d->mass[j * nv + k] = row[f->position[i]];
        }
    }
}

/* --- forward dynamics ------------------------------------------------------------------------------ */

bool lw_tree_derivatives_solve(lw_tree_derivatives *d, bool units) {
    const lw_tree_flat *f = &d->flat;
    if (d->simd->factor(f)) return false;
    for (int k = 0; k < f->nv && units; k++) {
        double *to = d->T + (size_t)k * (size_t)d->stride + d->units;
        memset(to, 0, (size_t)(d->stride - d->units) * sizeof *to);
        to[k] = 1;
    }
    return d->simd->solve(f, units ? f->block_count : f->plain_blocks);
}

void lw_tree_derivatives_prescribe(lw_tree_derivatives *d, int rows, int stride, double *matrix) {
    const lw_model *model = d->model;
    if (!model->motion_count) return;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            if (!(model->links[i].prescribed >> k & 1)) continue;
            const size_t j = (size_t)(model->links[i].v + k);
            for (int r = 0; r < rows; r++) {
                double *row = matrix + (size_t)r * (size_t)stride;
                row[j] = row[j + (size_t)model->nv] = 0;
            }
        }
}
