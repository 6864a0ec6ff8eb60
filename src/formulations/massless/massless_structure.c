/* massless_structure.c - finds once per model which joints of a tree can move without moving mass, and which
 * bodies and joints move along.
 *
 * The backward recursion (17a) runs at random positions with kinetic indicators (massless_motion.h) in place
 * of inertias. A speed whose pivot of S'K S vanishes represents a massless direction. The other free speeds
 * of the joint respond to it, and so does everything that the joint carries. The path outwards ends at a
 * joint that can absorb the motion, so that its body does not move.
 *
 * Source   Arnold (2013), eqs 16, 17, 27 and lemma 3; assumption (23) is not needed. docs/theory/massless.md,
 *          1.
 * Cost     O(n) plus the total length of the paths; allocates.
 */
#include "formulations/massless/massless_motion.h"
#include "model/compile/compile.h"
#include "model/joint.h"
#include "core/pseudo_random.h"

#include <stdlib.h>

/* --- indicators ------------------------------------------------------------------------------------- */

/* Computes the eigenvalues (diagonal of A) and eigenvectors (columns of V) of a symmetric n x n matrix,
 * stored by rows, by Jacobi's rotations. */
static void eigen(int n, double *A, double *V) {
    for (int k = 0; k < n * n; k++) V[k] = k % (n + 1) == 0;
    for (int round = 0; round < 30; round++) {
        double off = 0, on = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) *(i == j ? &on : &off) += A[n * i + j] * A[n * i + j];
        if (!(off > 1e-32 * on)) return;
        for (int i = 0; i < n - 1; i++)
            for (int j = i + 1; j < n; j++) {
                double a = A[n * i + j];
                if (a == 0) continue;
                double theta = (A[n * j + j] - A[n * i + i]) / (2 * a);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    double x = A[n * k + i], y = A[n * k + j];
                    A[n * k + i] = c * x - s * y, A[n * k + j] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = A[n * i + k], y = A[n * j + k];
                    A[n * i + k] = c * x - s * y, A[n * j + k] = s * x + c * y;
                    x = V[n * k + i], y = V[n * k + j];
                    V[n * k + i] = c * x - s * y, V[n * k + j] = s * x + c * y;
                }
            }
    }
}

/* Replaces a semi-definite matrix by the projector onto its range, and returns its rank. Eigenvalues count as
 * zero against the largest one, or against `size` if this is larger. */
static int make_projector(int n, double size, double *K) {
    double A[36], V[36], most = size;
    int rank = 0;
    memcpy(A, K, (size_t)(n * n) * sizeof *A);
    eigen(n, A, V);
    for (int i = 0; i < n; i++) most = fmax(most, A[(n + 1) * i]);
    memset(K, 0, (size_t)(n * n) * sizeof *K);
    for (int e = 0; e < n; e++) {
        if (!(A[(n + 1) * e] > LW_KINETIC_ZERO * most)) continue;
        rank++;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) K[n * i + j] += V[n * i + e] * V[n * j + e];
    }
    return rank;
}

static void unit_matrix(double K[36]) {
    for (int k = 0; k < 36; k++) K[k] = k % 7 == 0;
}

int lw_kinetic_own(const lw_model *model, int i, double length, double K[36]) {
    const lw_rigid_inertia *I = &model->links[i].inertia;
    const double *c = model->bodies[i].com, *full = I->second;
    double J[9], m = I->mass, trace = full[0] + full[1] + full[2];
    const double about[6] = {full[0] - m * (c[1] * c[1] + c[2] * c[2]),
                             full[1] - m * (c[0] * c[0] + c[2] * c[2]),
                             full[2] - m * (c[0] * c[0] + c[1] * c[1]),
                             full[3] + m * c[0] * c[1],
                             full[4] + m * c[0] * c[2],
                             full[5] + m * c[1] * c[2]};
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    memset(K, 0, 36 * sizeof *K);
    double inner = about[0] + about[1] + about[2];
    int turning = 0;
    if (inner > 1e-13 * trace) { /* Otherwise the subtraction has left rounding only. */
        for (int k = 0; k < 9; k++) J[k] = about[at[k]];
        turning = make_projector(3, 0, J);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) K[6 * k + l] = J[3 * k + l];
    }
    if (!(m > 0)) return turning;
    if (turning == 3) return unit_matrix(K), 6;
    for (int row = 0; row < 3; row++) { /* The velocity of the centre of mass along e is e.v + (c x e).w. */
        double h[6] = {0}, e[3] = {0};
        e[row] = 1;
        lw_v3_cross(c, e, h);
        for (int k = 0; k < 3; k++) h[k] /= length;
        h[3 + row] = 1;
        for (int k = 0; k < 6; k++)
            for (int l = 0; l < 6; l++) K[6 * k + l] += h[k] * h[l];
    }
    return make_projector(6, 1, K);
}

/* --- which speeds ------------------------------------------------------------------------------------- */

static void random_position(const lw_model *model, double length, uint64_t *state, double *q) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int at = lw_joint_quaternion(link->joint.type);
        for (int k = 0; k < link->joint.nq; k++) {
            bool slides = at < 0 ? !lw_joint_speed_turns(link->joint.type, k) : k < at;
            q[link->q + k] = lw_pseudo_random(state) * (slides ? length : 2);
        }
        if (at >= 0) lw_quat_normalise(q + link->q + at);
    }
}

/* Sets prescribed positions to those at the start, or later: a motion that is massless at the start only is
 * in a singular position there. If functions of time are undefined later, or lead far away, the positions at
 * the start are taken. */
static void take_prescribed(const lw_model *model, lw_data *data, double length, bool later) {
    static const double some_time = 0.618;
    lw_take_prescribed(model, data, later ? some_time : 0);
    for (int k = 0; k < model->nq && later; k++)
        if (!(fabs(data->q[k]) < 1e3 * fmax(1, length))) {
            lw_take_prescribed(model, data, 0);
            return;
        }
}

/* Returns a typical length of the mechanism. */
static double typical_length(const lw_model *model) {
    /* Joints and centres that fall together are apart by rounding. */
    const double rounding = 1e-9, least = rounding * lw_longest_arm(model);
    double total = 0;
    int count = 0;
    for (int i = 1; i <= model->body_count; i++) {
        double lengths[2] = {lw_v3_norm(model->links[i].p), lw_v3_norm(model->bodies[i].com)};
        for (int k = 0; k < 2; k++)
            if (lengths[k] > least) total += lengths[k], count++;
    }
    return total > 0 && isfinite(total) ? total / count : 1;
}

/* Makes one pass inwards at the position data->q. K: workspace, 36 numbers per body. null: per body, the
 * speeds of its joint whose pivots vanish. plain: per body, as in lw_null_shape. Each pivot that does not
 * vanish lowers the rank of K by one, so a joint is plain if the remaining rank is that of the motions which
 * the joint cannot absorb. */
static void inspect(const lw_model *model, lw_data *data, double length, double *K, unsigned char *null,
                    unsigned char *plain) {
    const recursion r = recursion_of(model, data);
    find_relative_poses(&r);
    memset(K, 0, 36 * ((size_t)model->body_count + 1) * sizeof *K);
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        double own[36], *total = K + 36 * i, U[36], D[36], S[6];
        int rank = lw_kinetic_own(model, i, length, own);
        if (rank == 6)
            unit_matrix(total);
        else {
            for (int k = 0; k < 36; k++) total[k] += own[k];
            rank = make_projector(6, 1, total);
        }
        unsigned found = 0;
        eliminate_joint(link, true, &found, subspace(&r, i, S), length, total, U, D);
        null[i] = (unsigned char)found;
        plain[i] = rank + __builtin_popcount(found) == 6;
        if (link->parent) kinetic_to_parent(&r, i, length, total, K + 36 * link->parent);
    }
}

/* --- paths -------------------------------------------------------------------------------------------- */

/* The paths of all directions, one after the other. */
typedef struct paths {
    lw_null_node *nodes;
    double *twist; /* 6 per node: the twist of its body in the direction. */
    int count, room;
} paths;

/* Appends a node, and returns its twist; NULL when memory is out. */
static double *add_node(paths *p, const lw_model *model, int body, int parent) {
    if (p->count == p->room) {
        size_t room = p->room ? 2 * (size_t)p->room : 64;
        lw_null_node *nodes = realloc(p->nodes, room * sizeof *nodes);
        if (nodes) p->nodes = nodes;
        double *twist = realloc(p->twist, 6 * room * sizeof *twist);
        if (twist) p->twist = twist;
        if (!nodes || !twist) return NULL;
        p->room = (int)room;
    }
    const lw_link *link = &model->links[body];
    p->nodes[p->count] =
        (lw_null_node){.body = body, .parent = parent, .kernel = link->kernel, .sign = link->sign};
    return p->twist + 6 * p->count++;
}

/* Returns the free speeds of joint i that do not represent directions, and so respond. */
static unsigned responding(const lw_null_shape *shape, int i) {
    const lw_link *link = &shape->model->links[i];
    unsigned all = (1u << link->joint.nv) - 1;
    return all & ~(unsigned)link->prescribed & ~(unsigned)shape->left_out[i];
}

/* Returns the square of a twist, with lengths measured by `length`. */
static double square_of(const double a[6], double length) {
    return lw_v3_dot(a, a) + lw_v3_dot(a + 3, a + 3) / (length * length);
}

/* Finds the path of the direction that speed k of body i represents: the bodies that move, and those at which
 * the path ends, by K, U, D of the kinetic bodies in `null` at one position. */
static bool find_path(const lw_null *null, const recursion *r, paths *p, int i, int k) {
    const lw_null_shape *shape = null->shape;
    const lw_model *model = shape->model;
    const int first = p->count;
    double *twist = add_node(p, model, i, -1), S[6], x[LW_JOINT_MAX_V];
    if (!twist) return false;
    /* Elsewhere another speed of a joint whose other speeds respond may represent the direction, so the path
     * is that of a combination of all directions of the joint. */
    if (responding(shape, i)) {
        double value[36], twists[36], weight = 0.3;
        unsigned left = lw_null_root(null, r, i, value, 6, twists, 6);
        memset(twist, 0, 6 * sizeof *twist);
        for (int d = 0; d < __builtin_popcount(left); d++, weight += 0.47)
            lw_v6_axpy(weight, twists + 6 * d, twist);
    } else
        memcpy(twist, subspace(r, i, S) + 6 * k, 6 * sizeof *twist);
    for (int at = first; at < p->count; at++) {
        const int body = p->nodes[at].body;
        if (p->nodes[at].moved < 0) continue;
        for (int c = shape->child_start[body]; c < shape->child_start[body + 1]; c++) {
            const int child = shape->child[c];
            double *a = add_node(p, model, child, at - first);
            if (!a) return false;
            const double *motion = subspace(r, child, S), *parent = p->twist + 6 * at;
            twist_to_child(r, child, parent, a);
            const double before = square_of(a, shape->length);
            take_up(&model->links[child], motion, shape->length, a, x);
            add_motion(&model->links[child], motion, x, a);
            if (square_of(a, shape->length) <= LW_KINETIC_ZERO * before || shape->plain[child])
                p->nodes[p->count - 1].moved = -1;
            else
                lw_null_respond(null, r, child, parent, NULL, a);
        }
    }
    return true;
}

/* Tells whether the motion subspace of a joint, in the axes of its body, depends on position. */
static bool subspace_turns(const lw_link *link) {
    const lw_joint *joint = &link->joint;
    return link->kernel >= LW_KERNEL_SPHERICAL && (joint->inverse || lw_joint_subspace_varies(joint->type));
}

/* Lists the joints at which the bias of w differs from that of v. */
static bool list_corrected(lw_null_shape *shape) {
    const lw_model *model = shape->model;
    enum { TOUCHED = 1, MOVED = 2 };
    int n = model->body_count;
    unsigned char *mark = calloc((size_t)n + 1, 1);
    shape->corrected = LW_NEW(shape->arena, int, n + 1);
    shape->carried = LW_NEW(shape->arena, unsigned char, n + 1);
    bool fine = mark && !lw_arena_failed(shape->arena);
    for (int k = 0; k < shape->node_start[shape->count] && fine; k++)
        mark[shape->nodes[k].body] |= shape->nodes[k].moved < 0 ? TOUCHED : TOUCHED | MOVED;
    for (int i = 1; i <= n && fine; i++) {
        const lw_link *link = &model->links[i];
        bool carried = mark[link->parent] & MOVED;
        if (!(mark[i] & TOUCHED) || !(carried || subspace_turns(link))) continue;
        shape->carried[shape->corrected_count] = carried;
        shape->corrected[shape->corrected_count++] = i;
    }
    free(mark);
    return fine;
}

/* Tells whether directions a and b have the same path. */
static bool same_path(const lw_null_shape *shape, int a, int b) {
    int count = shape->node_start[a + 1] - shape->node_start[a];
    const lw_null_node *one = shape->nodes + shape->node_start[a], *two = shape->nodes + shape->node_start[b];
    if (!count || shape->node_start[b + 1] - shape->node_start[b] != count) return false;
    for (int n = 0; n < count; n++)
        if (one[n].body != two[n].body || one[n].parent != two[n].parent ||
            (one[n].moved < 0) != (two[n].moved < 0))
            return false;
    return true;
}
static bool list_blocks(lw_null_shape *shape) {
    shape->blocks = LW_NEW(shape->arena, lw_null_block, shape->count + 1);
    for (int k = 0; shape->blocks && k < shape->count; k++) {
        lw_null_block *block = &shape->blocks[shape->block_count];
        int root = shape->rep_body[k];
        if (k && same_path(shape, k - 1, k)) {
            block[-1].count++;
            continue;
        }
        block->first = k, block->count = 1;
        block->entries = shape->entry_start[k + 1] - shape->entry_start[k];
        block->moved = shape->moved_start[k + 1] - shape->moved_start[k];
        block->root = shape->responding[root]                      ? LW_ROOT_RESPONDS
                      : subspace_turns(&shape->model->links[root]) ? LW_ROOT_TURNS
                                                                   : LW_ROOT_CONSTANT;
        shape->block_count++;
    }
    for (lw_null_block *block = shape->blocks; block && block < shape->blocks + shape->block_count; block++) {
        block->entry = shape->entry_start[block->first], block->twist = shape->moved_start[block->first];
    }
    return shape->blocks != NULL;
}

/* Allocates the lists of all directions: `entries` values and `moved` bodies in all. */
static bool allocate(lw_null_shape *shape, int count, int entries, int moved) {
    lw_arena *arena = shape->arena;
    shape->count = count;
    shape->rep = LW_NEW(arena, int, count + 1);
    shape->rep_body = LW_NEW(arena, int, count + 1);
    shape->node_start = LW_NEW(arena, int, count + 1);
    shape->entry_start = LW_NEW(arena, int, count + 1);
    shape->moved_start = LW_NEW(arena, int, count + 1);
    shape->speed = LW_NEW(arena, int, entries + 1);
    shape->body = LW_NEW(arena, int, moved + 1);
    return !lw_arena_failed(arena);
}

/* Takes the paths over into the shape. */
static bool take_paths(lw_null_shape *shape, const paths *p, int count, const int *reps) {
    const lw_model *model = shape->model;
    int entries = 0, moved = 0, k = 0;
    for (int n = 0; n < p->count; n++)
        entries += model->links[p->nodes[n].body].joint.nv, moved += p->nodes[n].moved >= 0;
    shape->nodes = LW_NEW(shape->arena, lw_null_node, p->count + 1);
    if (!shape->nodes || !allocate(shape, count, entries, moved)) return false;
    entries = moved = 0;
    for (int n = 0; n < p->count; n++) {
        lw_null_node *own = &shape->nodes[n];
        *own = p->nodes[n];
        const lw_link *link = &model->links[own->body];
        const bool root = own->parent < 0;
        if (root) {
            shape->rep[k] = reps[k], shape->rep_body[k] = own->body;
            shape->node_start[k] = n, shape->entry_start[k] = entries, shape->moved_start[k] = moved;
            k++;
        }
        own->entry = entries;
        if (root && !responding(shape, own->body))
            shape->speed[entries++] = reps[k - 1];
        else
            for (int v = 0; v < link->joint.nv; v++) shape->speed[entries++] = link->v + v;
        if (own->moved < 0) continue;
        own->moved = moved;
        shape->body[moved++] = own->body;
    }
    shape->node_start[k] = p->count, shape->entry_start[k] = entries, shape->moved_start[k] = moved;
    return list_blocks(shape);
}

/* --- kinetic bodies ------------------------------------------------------------------------------------- */

/* The marks of kinetic bodies, see lw_null_shape.simple. */
enum { SIMPLE = 1, GENERAL };

/* Lists the children of all bodies. */
static bool list_children(lw_null_shape *shape) {
    const lw_model *model = shape->model;
    const int n = model->body_count;
    shape->child = LW_NEW(shape->arena, int, n + 1);
    int *end = shape->child_start = LW_NEW(shape->arena, int, n + 3);
    if (lw_arena_failed(shape->arena)) return false;
    for (int i = 1; i <= n; i++) end[model->links[i].parent + 2]++;
    for (int i = 0; i <= n + 1; i++) end[i + 1] += end[i];
    for (int i = 1; i <= n; i++) shape->child[end[model->links[i].parent + 1]++] = i;
    return true;
}

/* Lists the marked bodies as kinetic bodies, with the indicators of their own inertias. */
static bool list_kinetic(lw_null_shape *shape, const unsigned char *mark) {
    const lw_model *model = shape->model;
    int n = model->body_count, count = 0;
    for (int i = 1; i <= n; i++) count += mark[i] != 0;
    shape->kinetic_count = count;
    shape->kinetic = LW_NEW(shape->arena, int, count + 1);
    shape->kinetic_of = LW_NEW(shape->arena, int, n + 1);
    shape->own = LW_NEW(shape->arena, double, 36 * (size_t)count + 1);
    shape->bare = LW_NEW(shape->arena, unsigned char, count + 1);
    shape->simple = LW_NEW(shape->arena, unsigned char, count + 1);
    if (lw_arena_failed(shape->arena)) return false;
    count = 0;
    for (int i = 0; i <= n; i++) {
        shape->kinetic_of[i] = i && mark[i] ? count : -1;
        if (!i || !mark[i]) continue;
        shape->kinetic[count] = i;
        shape->bare[count] = lw_kinetic_own(model, i, shape->length, shape->own + 36 * count) == 0;
        shape->simple[count++] = mark[i] == SIMPLE;
    }
    shape->donors = LW_NEW(shape->arena, int, n + 1);
    shape->donor_count = 0;
    for (int i = n; i >= 1 && shape->donors; i--)
        if (mark[i] == GENERAL || mark[model->links[i].parent] == GENERAL)
            shape->donors[shape->donor_count++] = i;
    return shape->donors != NULL;
}

/* Keeps the indicators that are needed at each position: those of bodies that move on some path and whose
 * joint has responding speeds, and those of the bodies which these carry by joints that are not plain. */
static bool prune_kinetic(lw_null_shape *shape) {
    const lw_model *model = shape->model;
    unsigned char *mark = calloc((size_t)model->body_count + 1, 1);
    if (!mark) return false;
    for (int k = 0; k < shape->node_start[shape->count]; k++) {
        const lw_null_node *on = &shape->nodes[k];
        if (on->moved < 0 || !responding(shape, on->body)) continue;
        if (mark[on->body] != GENERAL) mark[on->body] = on->parent < 0 ? SIMPLE : GENERAL;
    }
    for (int i = 1; i <= model->body_count; i++) {
        int parent = model->links[i].parent;
        if (mark[parent] && !shape->plain[i]) mark[i] = mark[parent] = GENERAL;
    }
    bool fine = list_kinetic(shape, mark);
    free(mark);
    return fine;
}

/* --- the shape ------------------------------------------------------------------------------------------ */

static bool build(lw_null_shape *shape, lw_data *data) {
    const lw_model *model = shape->model;
    enum { POSITIONS = 2 };
    size_t n = (size_t)model->body_count + 1;
    uint64_t random = 2013;
    paths found = {0};
    int *reps = calloc((size_t)model->nv + 1, sizeof *reps), count = 0;
    double *K = calloc(36 * n, sizeof *K);
    unsigned char *null = calloc(n, 1), *plain = calloc(n, 1), *mark = calloc(n, 1);
    bool fine = K && null && plain && mark && reps && list_children(shape);
    for (int k = 0; fine && k < POSITIONS; k++) {
        random_position(model, shape->length, &random, data->q);
        if (model->motion_count) take_prescribed(model, data, shape->length, k);
        inspect(model, data, shape->length, K, null, plain);
        for (size_t i = 1; i < n;
             i++) { /* A pivot that vanishes at one of the positions only is due to a singular position. */
            bool fewer = __builtin_popcount(null[i]) < __builtin_popcount(shape->left_out[i]);
            if (!k || fewer)
                shape->left_out[i] =
                    null[i]; /* The speeds may differ between positions, their number does not. */
            shape->plain[i] |= plain[i];
        }
    }
    free(K);
    bool any = false;
    for (size_t i = 1; fine && i < n; i++) {
        any |= shape->left_out[i] != 0;
        if (shape->left_out[i])
            shape->responding[i] = (unsigned char)__builtin_popcount(responding(shape, (int)i));
        mark[i] = shape->plain[i] && !shape->responding[i] ? 0 : GENERAL;
    }
    /* The paths are found at the last position, with the indicators of all bodies that need one. */
    if (fine && any) {
        lw_arena *arena = lw_arena_create(NULL), *kept = shape->arena;
        shape->arena = arena;
        fine = arena && list_kinetic(shape, mark);
        shape->arena = kept;
        lw_null *at = fine ? lw_null_create(shape, arena) : NULL;
        fine = at != NULL;
        if (fine) {
            const recursion r = recursion_of(model, data);
            lw_null_kinetics(at, &r);
            for (int i = model->body_count; i >= 1 && fine; i--)
                for (int k = 0; k < model->links[i].joint.nv && fine; k++)
                    if (shape->left_out[i] >> k & 1)
                        reps[count++] = model->links[i].v + k, fine = find_path(at, &r, &found, i, k);
        }
        if (arena) lw_arena_destroy(arena);
    }
    fine = fine && take_paths(shape, &found, count, reps) && prune_kinetic(shape) && list_corrected(shape);
    free(found.nodes), free(found.twist), free(reps);
    free(null), free(plain), free(mark);
    return fine;
}

lw_null_shape *lw_null_shape_create(const lw_model *model) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_null_shape *shape = LW_NEW(arena, lw_null_shape, 1);
    if (!shape) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    shape->model = model;
    shape->arena = arena;
    shape->length = typical_length(model);
    shape->dense = model->closure_count || model->constraint_count;
    shape->unit = LW_NEW(arena, double, model->nv + 1);
    shape->square = LW_NEW(arena, double, model->nv + 1);
    for (int i = 1; i <= model->body_count && !lw_arena_failed(arena); i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            double unit = lw_joint_speed_turns(model->links[i].joint.type, k) ? 1 : shape->length;
            shape->unit[model->links[i].v + k] = unit, shape->square[model->links[i].v + k] = unit * unit;
        }
    shape->left_out = LW_NEW(arena, unsigned char, model->body_count + 1);
    shape->plain = LW_NEW(arena, unsigned char, model->body_count + 1);
    shape->responding = LW_NEW(arena, unsigned char, model->body_count + 1);
    lw_data *data = NULL;
    bool fine = !lw_arena_failed(arena) && lw_data_create(model, NULL, &data) == LW_OK;
    if (fine && shape->dense)
        fine = lw_null_shape_fill(shape, 0, NULL);
    else if (fine) {
        bool deficient = false;
        double K[36];
        for (int i = 1; i <= model->body_count && !deficient; i++)
            deficient = lw_kinetic_own(model, i, shape->length, K) < 6;
        fine = deficient ? build(shape, data) : lw_null_shape_fill(shape, 0, NULL);
    }
    lw_data_destroy(data);
    if (fine) return shape;
    lw_arena_destroy(arena);
    return NULL;
}

double lw_null_fastest(const lw_null_shape *shape, const double *v) {
    double most = 1;
    for (int k = 0; k < shape->model->nv; k++) most = fmax(most, fabs(v[k]) / shape->unit[k]);
    return most;
}

bool lw_null_shape_fill(lw_null_shape *shape, int count, const int *reps) {
    const lw_model *model = shape->model;
    const int nv = model->nv, n = model->body_count;
    unsigned char *none = calloc((size_t)n + 1, 1);
    bool fine = none && allocate(shape, count, count * nv, count * n);
    for (int k = 0; k < count && fine; k++) {
        shape->rep[k] = reps[k], shape->rep_body[k] = lw_body_of_speed(model, reps[k]);
        for (int v = 0; v < nv; v++) shape->speed[k * nv + v] = v;
        for (int i = 0; i < n; i++) shape->body[k * n + i] = i + 1;
        shape->entry_start[k + 1] = (k + 1) * nv, shape->moved_start[k + 1] = (k + 1) * n;
    }
    fine = fine && list_blocks(shape) && list_kinetic(shape, none) && list_corrected(shape);
    free(none);
    return fine;
}

void lw_null_shape_destroy(lw_null_shape *shape) {
    if (shape) lw_arena_destroy(shape->arena);
}
