/* massless_null.c - the directions that move no mass, at one position of a tree.
 *
 *   M(q) N(q) = 0,    N = (n_1 .. n_k),    n_k has a one at the speed that stands for it
 *
 * Each starts at its joint; its body's twist is carried outwards along the way that massless_structure.c has found. A joint where
 * the way stops takes up all of it, any other responds by x = -D^+ U'X a as in (19), (20a) with indicators in place of
 * inertias: no mass has any part in it.
 *
 * Source   Arnold (2013), eqs 18-22, 27; docs/theory/massless.md, 3.
 * Cost     O(length of all ways), no allocation.
 */
#include "formulations/massless_motion.h"

/* A joint whose speeds all stand for directions, with a constant S: its part does not depend on position. */
static bool root_is_constant(const lw_null_shape *shape, int i) {
    return shape->kinetic_of[i] < 0 && shape->model->links[i].kernel < LW_KERNEL_SPHERICAL;
}

lw_null *lw_null_create(const lw_null_shape *shape, lw_arena *arena) {
    lw_null *null = LW_NEW(arena, lw_null, 1);
    if (!null) return NULL;
    size_t kinetic = (size_t)shape->kinetic_count;
    null->shape = shape;
    null->value = LW_NEW(arena, double, (shape->count ? shape->entry_start[shape->count] : 0) + 1);
    null->twist =
        LW_NEW(arena, double, 6 * (size_t)(shape->count ? shape->moved_start[shape->count] : 0) + 1);
    null->K = LW_NEW(arena, double, 36 * kinetic + 1);
    null->U = LW_NEW(arena, double, 36 * kinetic + 1);
    null->D = LW_NEW(arena, double, 36 * kinetic + 1);
    null->left_out = LW_NEW(arena, unsigned, kinetic + 1);
    null->rep = LW_NEW(arena, int, shape->count + 1);
    if (!null->value || !null->twist || !null->K || !null->U || !null->D || !null->left_out || !null->rep)
        return NULL;
    for (int k = 0; k < shape->count; k++) {
        const lw_link *link = &shape->model->links[shape->rep_body[k]];
        null->rep[k] = shape->rep[k];
        if (shape->dense || !root_is_constant(shape, shape->rep_body[k])) continue;
        const lw_null_node *at = &shape->nodes[shape->node_start[k]];
        null->value[at->entry] = 1;
        null->twist[6 * at->moved + link->kernel] = link->sign;
    }
    return null;
}

/* Which `count` speeds of a joint are farthest from resisting: those that are left when the largest pivots of S'K S have been taken.
 * Near a position where they change, either choice serves. */
static unsigned choose_left_out(int nv, unsigned fixed, int count, const double *S, double length,
                                const double K[36]) {
    double s[36], A[36];
    unsigned left = 0;
    int free_count = 0;
    for (int k = 0; k < nv; k++) {
        if (!(fixed >> k & 1)) left |= 1u << k, free_count++;
        for (int c = 0; c < 6; c++) s[6 * k + c] = S[6 * k + c] / (c < 3 ? 1 : length);
    }
    for (int k = 0; k < nv; k++)
        for (int l = 0; l < nv; l++) {
            double f[6];
            for (int c = 0; c < 6; c++) f[c] = lw_v6_dot(K + 6 * c, s + 6 * l);
            A[6 * k + l] = lw_v6_dot(s + 6 * k, f);
        }
    for (int step = 0; step < free_count - count; step++) {
        int best = -1;
        for (int k = 0; k < nv; k++) /* against its own motion, so that units do not matter */
            if (left >> k & 1 && (best < 0 || A[7 * k] * lw_v6_dot(s + 6 * best, s + 6 * best) >
                                                  A[7 * best] * lw_v6_dot(s + 6 * k, s + 6 * k)))
                best = k;
        left &= ~(1u << best);
        if (!(A[7 * best] > 0)) continue;
        for (int k = 0; k < nv; k++)
            for (int l = 0; l < nv && k != best; l++)
                if (l != best) A[6 * k + l] -= A[6 * k + best] * A[6 * best + l] / A[7 * best];
    }
    return left;
}

void lw_null_kinetics(lw_null *null, const recursion *r) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    memcpy(null->K, shape->own, 36 * (size_t)shape->kinetic_count * sizeof *null->K);
    for (int d = 0; d < shape->donor_count; d++) {
        int i = shape->donors[d], at = shape->kinetic_of[i];
        const lw_link *link = &model->links[i];
        double K[36], U[36], D[36], S[6];
        unsigned left_out = shape->left_out[i];
        const double *motion = subspace(r, i, S);
        for (int k = 0; k < 36; k++) K[k] = at >= 0 ? null->K[36 * at + k] : k % 7 == 0;
        if (at >= 0 && left_out && shape->changing[i])
            left_out = null->follow ? null->follow->left_out[at]
                                    : choose_left_out(link->joint.nv, link->prescribed,
                                                      __builtin_popcount(left_out), motion, shape->length, K);
        if (at >= 0) null->left_out[at] = left_out;
        eliminate_joint(link->joint.nv, link->prescribed, false, &left_out, motion, shape->length, K,
                        at >= 0 ? null->U + 36 * at : U, at >= 0 ? null->D + 36 * at : D);
        int parent = link->parent ? shape->kinetic_of[link->parent] : -1;
        if (parent >= 0) kinetic_to_parent(r, i, shape->length, K, null->K + 36 * parent);
    }
}

/* x_k = -(D^+ U'a)_k of the speeds that respond; the others stay as they are. */
static void respond(int nv, unsigned fixed, const double *U, const double *D, const double a[6], double *x) {
    for (int k = 0; k < nv; k++) {
        if (fixed >> k & 1) continue;
        x[k] = -lw_v6_dot(U + 6 * k, a);
        for (int l = 0; l < k; l++)
            if (!(fixed >> l & 1)) x[k] -= D[6 * k + l] * x[l];
    }
    for (int k = nv - 1; k >= 0; k--) {
        if (fixed >> k & 1) continue;
        x[k] *= D[7 * k];
        for (int l = k + 1; l < nv; l++)
            if (!(fixed >> l & 1)) x[k] -= D[6 * l + k] * x[l];
    }
}

void lw_null_root(const lw_null *null, const recursion *r, int i, int k, double *value, double twist[6]) {
    const lw_null_shape *shape = null->shape;
    const lw_link *link = &shape->model->links[i];
    int at = shape->kinetic_of[i];
    double S[6], n[LW_JOINT_MAX_V] = {0};
    const double *motion = subspace(r, i, S);
    n[k] = 1;
    if (at >= 0) { /* those that respond: x = -(S'K S)^+ S'K S_k */
        const double *U = null->U + 36 * at, *D = null->D + 36 * at;
        double scaled[6];
        for (int c = 0; c < 6; c++) scaled[c] = motion[6 * k + c] / (c < 3 ? 1 : shape->length);
        respond(link->joint.nv, link->prescribed | null->left_out[at], U, D, scaled, n);
    }
    memset(twist, 0, 6 * sizeof *twist);
    for (int j = 0; j < link->joint.nv; j++) lw_v6_axpy(n[j], motion + 6 * j, twist);
    if (value) memcpy(value, n, (size_t)link->joint.nv * sizeof *value);
}

void lw_null_respond(const lw_null *null, const recursion *r, int i, const double parent[6], double *value,
                     double twist[6]) {
    const lw_null_shape *shape = null->shape;
    const lw_link *link = &shape->model->links[i];
    int at = shape->kinetic_of[i], nv = link->joint.nv;
    double S[6], x[LW_JOINT_MAX_V] = {0}, scaled[6];
    twist_to_child(r, i, parent, twist);
    if (at >= 0) {
        const double *motion = subspace(r, i, S);
        for (int k = 0; k < 6; k++) scaled[k] = twist[k] / (k < 3 ? 1 : shape->length);
        respond(nv, link->prescribed | null->left_out[at], null->U + 36 * at, null->D + 36 * at, scaled, x);
        for (int k = 0; k < nv; k++) lw_v6_axpy(x[k], motion + 6 * k, twist);
    }
    if (value) memcpy(value, x, (size_t)nv * sizeof *value);
}

/* A joint that takes up its parent's twist, so that its body stays. */
static void stop(const recursion *r, const lw_null_node *at, double length, const double parent[6],
                 double *value) {
    if (at->kernel < LW_KERNEL_PRISMATIC)
        value[0] = -at->sign * parent[at->kernel];
    else if (at->kernel < LW_KERNEL_SPHERICAL) {
        int a = at->kernel - LW_KERNEL_PRISMATIC, b = (a + 1) % 3, c = (a + 2) % 3;
        const double *p = r->places[at->body].p;
        value[0] = -at->sign * (parent[3 + a] + parent[b] * p[c] - parent[c] * p[b]);
    } else {
        const lw_link *link = &r->model->links[at->body];
        double a[6], x[LW_JOINT_MAX_V], S[6];
        twist_to_child(r, at->body, parent, a);
        take_up(link->joint.nv, link->prescribed, subspace(r, at->body, S), length, a, x);
        memcpy(value, x, (size_t)link->joint.nv * sizeof *value);
    }
}

void lw_null_at(lw_null *null, lw_data *data) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    const recursion r = recursion_of(model, data);
    turn_joints(&r);
    for (int k = 0; k < shape->placed_count; k++) {
        int i = shape->placed[k];
        BY_JOINT(&model->links[i], place, &r, i)
    }
    lw_null_kinetics(null, &r);
    for (int k = 0, number = 0; k < shape->count; k++) {
        const lw_null_node *nodes = shape->nodes + shape->node_start[k];
        int count = shape->node_start[k + 1] - shape->node_start[k], root = shape->rep_body[k];
        int at = shape->kinetic_of[root];
        number = k && shape->rep_body[k - 1] == root ? number + 1 : 0; /* among those of its joint */
        if (at >= 0) {
            unsigned left = null->left_out[at];
            for (int skip = 0; skip < number; skip++) left &= left - 1;
            null->rep[k] = model->links[root].v + __builtin_ctz(left);
        }
        if (at >= 0 || nodes[0].kernel >= LW_KERNEL_SPHERICAL)
            lw_null_root(null, &r, root, null->rep[k] - model->links[root].v, null->value + nodes[0].entry,
                         null->twist + 6 * nodes[0].moved);
        for (int n = 1; n < count; n++) {
            const double *parent = null->twist + 6 * nodes[nodes[n].parent].moved;
            double *value = null->value + nodes[n].entry;
            if (nodes[n].moved < 0)
                stop(&r, &nodes[n], shape->length, parent, value);
            else
                lw_null_respond(null, &r, nodes[n].body, parent, value, null->twist + 6 * nodes[n].moved);
        }
    }
}

void lw_null_times(const lw_null *null, const double *z, double *x) {
    const lw_null_shape *shape = null->shape;
    for (int k = 0; k < shape->count; k++)
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            x[shape->speed[e]] += null->value[e] * z[k];
}

void lw_null_move(const lw_null *null, const double *z, lw_data *data) {
    const lw_null_shape *shape = null->shape;
    for (int k = 0; k < shape->count; k++)
        for (int m = shape->moved_start[k]; m < shape->moved_start[k + 1]; m++)
            lw_v6_axpy(z[k], null->twist + 6 * m, data->motion[shape->body[m]].V);
}

void lw_null_forces(const lw_null *null, const lw_data *data, double *out) {
    const lw_null_shape *shape = null->shape;
    bool loaded = shape->model->forces_need_world;
    for (int k = 0; k < shape->count; k++) {
        double balance = 0;
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            balance += null->value[e] * data->tau[shape->speed[e]];
        for (int m = shape->moved_start[k]; loaded && m < shape->moved_start[k + 1]; m++)
            balance += lw_v6_dot(null->twist + 6 * m, data->load + 6 * shape->body[m]);
        out[k] = balance;
    }
}

void lw_null_force_sizes(const lw_null *null, const lw_data *data, double *out) {
    const lw_null_shape *shape = null->shape;
    bool loaded = shape->model->forces_need_world;
    for (int k = 0; k < shape->count; k++) {
        double size = 0;
        for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
            size += fabs(null->value[e] * data->tau[shape->speed[e]]);
        for (int m = shape->moved_start[k]; loaded && m < shape->moved_start[k + 1]; m++)
            for (int c = 0; c < 6; c++)
                size += fabs(null->twist[6 * m + c] * data->load[6 * shape->body[m] + c]);
        out[k] = size;
    }
}
