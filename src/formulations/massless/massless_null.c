/* massless_null.c - the massless directions of a tree at one position.
 *
 *   M(q) N(q) = 0,    N = (n_1 .. n_k),    n_k has a one at the speed that represents it
 *
 * Each direction starts at its joint, and the twist of its body is carried outwards along the path that
 * massless_structure.c has found. A joint where the path ends absorbs the whole motion; any other joint
 * responds by x = -D^+ U'X a as in (19), (20a), with indicators in place of inertias, so that masses have no
 * influence.
 *
 * Source   Arnold (2013), eqs 18-22, 27; docs/theory/massless.md, 1.
 * Cost     O(total length of the paths), no allocation.
 */
#include "formulations/massless/massless_motion.h"
#include "model/joint.h"

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
    if (lw_arena_failed(arena)) return NULL;
    for (int k = 0; k < shape->count; k++) null->rep[k] = shape->rep[k];
    for (int b = 0; b < shape->block_count && !shape->dense; b++) {
        const lw_null_block *block = &shape->blocks[b];
        if (block->root == LW_ROOT_RESPONDS) continue;
        for (int k = block->first; k < block->first + block->count; k++) {
            const lw_null_node *at = &shape->nodes[shape->node_start[k]];
            const lw_link *link = &shape->model->links[at->body];
            double R[9], p[3], S[6 * LW_JOINT_MAX_V];
            null->value[at->entry] = 1;
            if (link->kernel < LW_KERNEL_SPHERICAL) {
                null->twist[6 * at->moved + link->kernel] = link->sign;
                continue;
            }
            lw_joint_motion(&link->joint, shape->model->q0 + link->q, NULL, R, p, S, NULL);
            memcpy(null->twist + 6 * at->moved, S + 6 * (shape->rep[k] - link->v), 6 * sizeof *S);
        }
    }
    return null;
}

/* Adds S'K S to the lower triangle of G, which is stored by rows of 6. */
static void add_indicator(int nv, const double *S, double length, const double *K, double *G) {
    for (int k = 0; k < nv; k++) {
        double s[6], f[6];
        for (int c = 0; c < 6; c++) s[c] = S[6 * k + c] / (c < 3 ? 1 : length);
        for (int c = 0; c < 6; c++) f[c] = lw_v6_dot(K + 6 * c, s) / (c < 3 ? 1 : length);
        for (int l = 0; l <= k; l++) G[6 * k + l] += lw_v6_dot(S + 6 * l, f);
    }
}

/* Adds to the lower triangle of G what a ball joint or a universal joint (with its first axis) cannot absorb:
 * the velocity of its point and, for a universal joint, the rotation about the normal to both axes. */
INLINE void add_point(int nv, const double *S, const relative_pose *at, const double *axis, double weight,
                      double *G) {
    double velocity[3 * LW_JOINT_MAX_V], turning[LW_JOINT_MAX_V] = {0};
    for (int k = 0; k < nv; k++) {
        const double *s = S + 6 * k, *R = at->R;
        double *x = velocity + 3 * k;
        lw_v3_cross(s, at->p, x);
        lw_v3_add(x, s + 3, x);
        if (axis)
            turning[k] = axis[0] * (R[2] * s[0] + R[5] * s[1] + R[8] * s[2]) -
                         axis[2] * (R[0] * s[0] + R[3] * s[1] + R[6] * s[2]);
        for (int l = 0; l <= k; l++)
            G[6 * k + l] += weight * lw_v3_dot(x, velocity + 3 * l) + turning[k] * turning[l];
    }
}

/* G = S'K S of the joint of a kinetic body, stored by rows of 6. K of a simple body is the sum of the
 * indicator of its own inertia and of the projectors onto the motions that its children cannot absorb. */
INLINE void resistance(const lw_null *null, const recursion *r, int i, const double *S, double *G) {
    const lw_null_shape *shape = null->shape;
    const int nv = r->model->links[i].joint.nv, at = shape->kinetic_of[i];
    const double length = shape->length, weight = 1 / (length * length);
    for (int k = 0; k < nv; k++)
        for (int l = 0; l <= k; l++) G[6 * k + l] = 0;
    if (!shape->simple[at]) add_indicator(nv, S, length, null->K + 36 * at, G);
    for (int c = shape->child_start[i]; c < shape->child_start[i + 1] && shape->simple[at]; c++) {
        int child = shape->child[c];
        double rest[6 * LW_JOINT_MAX_V], own[6], taken[LW_JOINT_MAX_V];
        const lw_link *link = &r->model->links[child];
        const double *motion = subspace(r, child, own);
        if (link->kernel == LW_KERNEL_SPHERICAL || link->kernel == LW_KERNEL_UNIVERSAL) {
            add_point(nv, S, &r->relative[child], link->kernel == LW_KERNEL_UNIVERSAL ? motion : NULL, weight,
                      G);
            continue;
        }
        for (int k = 0; k < nv; k++) {
            double *x = rest + 6 * k;
            twist_to_child(r, child, S + 6 * k, x);
            take_up(link, motion, length, x, taken);
            add_motion(link, motion, taken, x);
            for (int l = 0; l <= k; l++)
                G[6 * k + l] += lw_v3_dot(x, rest + 6 * l) + weight * lw_v3_dot(x + 3, rest + 6 * l + 3);
        }
    }
    if (shape->simple[at] && !shape->bare[at]) add_indicator(nv, S, length, shape->own + 36 * at, G);
    for (int k = 0; k < nv; k++)
        for (int l = 0; l < k; l++) G[6 * l + k] = G[6 * k + l];
}

/* Makes a Gauss-Jordan step of the n x n matrix G (rows of 6) at pivot p. After all steps the rows p of the
 * pivots are G_pk = ((S'K S)^-1 S'K S_k)_p. */
INLINE void step_at(int n, int p, double *G) {
    /* The pivot is zero at a singular position, where the speed need not respond. */
    double inverse = G[7 * p] > 0 ? 1 / G[7 * p] : 0;
    for (int k = 0; k < n; k++) {
        if (k == p) continue;
        double factor = G[6 * k + p] * inverse;
        for (int l = 0; l < n; l++)
            if (l != p) G[6 * k + l] -= factor * G[6 * p + l];
        G[6 * k + p] = 0;
    }
    for (int l = 0; l < n; l++) G[6 * p + l] *= inverse;
}

/* Chooses the speeds of a joint that represent its directions, those that are left when the largest pivots of
 * G = S'K S have been taken, or those that are wanted. Near a position where the choice changes, either
 * choice is good. */
INLINE unsigned choose(const lw_null *null, int i, unsigned wanted, double *G) {
    const lw_null_shape *shape = null->shape;
    const lw_link *link = &shape->model->links[i];
    const double *square = shape->square + link->v; /* so that units do not matter */
    const int nv = link->joint.nv;
    unsigned left = ~(unsigned)link->prescribed & ((1u << nv) - 1);
    for (int step = 0; step < shape->responding[i]; step++) {
        int best = -1;
        for (int k = 0; k < nv; k++)
            if (left >> k & ~wanted >> k & 1 &&
                (best < 0 || G[7 * k] * square[k] > G[7 * best] * square[best]))
                best = k;
        left &= ~(1u << best);
        step_at(nv, best, G);
    }
    return left;
}

void lw_null_kinetics(lw_null *null, const recursion *r) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    if (!shape->donor_count) return;
    memcpy(null->K, shape->own, 36 * (size_t)shape->kinetic_count * sizeof *null->K);
    for (int d = 0; d < shape->donor_count; d++) {
        int i = shape->donors[d], at = shape->kinetic_of[i];
        const lw_link *link = &model->links[i];
        double K[36], U[36], D[36], S[6];
        unsigned left_out = shape->left_out[i], none = 0;
        const double *motion = subspace(r, i, S);
        int parent = link->parent ? shape->kinetic_of[link->parent] : -1;
        if (at >= 0 && !shape->simple[at]) {
            memcpy(K, null->K + 36 * at, sizeof K);
            if (shape->responding[i]) {
                double G[36];
                resistance(null, r, i, motion, G);
                left_out = choose(null, i, null->follow ? null->follow->left_out[at] : 0, G);
            }
            null->left_out[at] = left_out;
            eliminate_joint(link, false, &left_out, motion, shape->length, K, null->U + 36 * at,
                            null->D + 36 * at);
        }
        if (parent < 0 || shape->simple[parent]) continue;
        if (shape->plain[i]) { /* The projector onto the motions that the joint cannot absorb. */
            for (int k = 0; k < 36; k++) K[k] = k % 7 == 0;
            eliminate_joint(link, false, &none, motion, shape->length, K, U, D);
        }
        kinetic_to_parent(r, i, shape->length, K, null->K + 36 * parent);
    }
}

/* --- directions --------------------------------------------------------------------------------------- */

/* x_k = -(D^+ U'a)_k for the speeds that respond; the others keep their values. */
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

unsigned lw_null_root(const lw_null *null, const recursion *r, int i, double *value, int values,
                      double *twist, int twists) {
    const lw_link *link = &r->model->links[i];
    const int nv = link->joint.nv, at = null->shape->kinetic_of[i];
    unsigned wanted =
        null->shape->simple[at] ? null->follow ? null->follow->left_out[at] : 0 : null->left_out[at];
    double G[36], S[6];
    const double *motion = subspace(r, i, S);
    resistance(null, r, i, motion, G);
    const unsigned chosen = choose(null, i, wanted, G);
    for (unsigned left = chosen; left; left &= left - 1, value += values, twist += twists) {
        int rep = __builtin_ctz(left);
        for (int k = 0; k < nv; k++)
            value[k] = (link->prescribed | chosen) >> k & 1 ? k == rep : -G[6 * k + rep];
        for (int c = 0; c < 6; c++) twist[c] = 0;
        add_motion(link, motion, value, twist);
    }
    return chosen;
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

/* Computes the values of a joint that absorbs the twist of its parent, so that its body does not move, for
 * the `count` directions of a block. twists, values: the strides from one direction to the next. */
static void stop(const recursion *r, const lw_null_node *at, double length, int count, const double *parent,
                 int twists, double *value, int values) {
    const lw_link *link = &r->model->links[at->body];
    if (at->kernel < LW_KERNEL_PRISMATIC) {
        for (; count--; parent += twists, value += values) value[0] = -at->sign * parent[at->kernel];
        return;
    }
    double a[6], S[6];
    const double *motion = subspace(r, at->body, S);
    for (; count--; parent += twists, value += values) {
        twist_to_child(r, at->body, parent, a);
        take_up(link, motion, length, a, value);
    }
}

/* Computes the directions, after the indicators of the kinetic bodies. */
static void find(lw_null *null, const recursion *r) {
    const lw_null_shape *shape = null->shape;
    for (const lw_null_block *block = shape->blocks; block < shape->blocks + shape->block_count; block++) {
        const int first = block->first, count = block->count, values = block->entries,
                  twists = 6 * block->moved;
        double *root = null->twist + 6 * block->twist;
        if (block->root == LW_ROOT_RESPONDS) {
            int i = shape->rep_body[first];
            unsigned left = lw_null_root(null, r, i, null->value + block->entry, values, root, twists);
            null->left_out[shape->kinetic_of[i]] = left;
            for (int d = 0; d < count; d++, left &= left - 1)
                null->rep[first + d] = shape->model->links[i].v + __builtin_ctz(left);
        }
        if (block->root == LW_ROOT_TURNS)
            for (int d = 0; d < count; d++)
                memcpy(root + twists * d, r->S + 6 * null->rep[first + d], 6 * sizeof *r->S);
        const lw_null_node *nodes = shape->nodes + shape->node_start[first],
                           *end = shape->nodes + shape->node_start[first + 1];
        for (const lw_null_node *at = nodes + 1; at < end; at++) {
            const double *parent = null->twist + 6 * nodes[at->parent].moved;
            double *value = null->value + at->entry;
            if (at->moved < 0)
                stop(r, at, shape->length, count, parent, twists, value, values);
            else
                for (int d = 0; d < count; d++)
                    lw_null_respond(null, r, at->body, parent + twists * d, value + values * d,
                                    null->twist + 6 * at->moved + twists * d);
        }
    }
}

void lw_null_at(lw_null *null, lw_data *data) {
    const recursion r = recursion_of(null->shape->model, data);
    find_relative_poses(&r);
    lw_null_kinetics(null, &r);
    find(null, &r);
}

INLINE void add_direction(const lw_null *null, int k, double z, double *x) {
    const lw_null_shape *shape = null->shape;
    for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
        x[shape->speed[e]] += null->value[e] * z;
}
void lw_null_add(const lw_null *null, int k, double z, double *x) { add_direction(null, k, z, x); }

void lw_null_times(const lw_null *null, const double *z, double *x) {
    for (int k = 0; k < null->shape->count; k++) add_direction(null, k, z[k], x);
}
/* Adds the twists of N z to V, in which the twists of successive bodies are `size` numbers apart. */
INLINE void add_twists(const lw_null *null, const double *z, double *V, int size) {
    const lw_null_shape *shape = null->shape;
    for (int k = 0; k < shape->count; k++)
        for (int m = shape->moved_start[k]; m < shape->moved_start[k + 1]; m++)
            lw_v6_axpy(z[k], null->twist + 6 * m, V + size * shape->body[m]);
}
void lw_null_move(const lw_null *null, const double *z, lw_data *data) {
    add_twists(null, z, data->motion->V, sizeof *data->motion / sizeof(double));
}
void lw_null_motion(const lw_null *null, const double *z, double *e, double *E) {
    const lw_model *model = null->shape->model;
    memset(e, 0, (size_t)model->nv * sizeof *e);
    lw_null_times(null, z, e);
    memset(E, 0, 6 * ((size_t)model->body_count + 1) * sizeof *E);
    add_twists(null, z, E, 6);
}

INLINE double balance(const lw_null *null, const lw_data *data, bool loaded, int k) {
    const lw_null_shape *shape = null->shape;
    double total = 0;
    for (int e = shape->entry_start[k]; e < shape->entry_start[k + 1]; e++)
        total += null->value[e] * data->tau[shape->speed[e]];
    for (int m = shape->moved_start[k]; loaded && m < shape->moved_start[k + 1]; m++)
        total += lw_v6_dot(null->twist + 6 * m, data->load + 6 * shape->body[m]);
    return total;
}

void lw_null_forces(const lw_null *null, const lw_data *data, double *out) {
    bool loaded = null->shape->model->forces_need_world;
    for (int k = 0; k < null->shape->count; k++) out[k] = balance(null, data, loaded, k);
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
