/* director_recursive_newton.c - Newton's iteration of a step for trees, in two passes: from the leaves to
 * ground, and back.
 *
 * The balance of a body is r = P_int(qm)'f, six numbers; W is the sum of the balances of the body and all
 * that it carries. S are the columns of its joint and X the transport from its parent, parts of the
 * null-space matrix; they are taken at q1, and with ~ in the middle of the step (58, 69, 180). The reduced
 * scheme is
 *
 *   W_i = r_i + sum over children of X~'W,   S~'W_i = 0
 *
 * and its derivative for increments dt of the twists, du of the speeds:
 *
 *   dt_i = X dt_p + S du,   dW_i = A_i dt_i + A_ip dt_p + k_i
 *   (S~'A_i + Z) dt_i + (S~'A_ip + Z_p) dt_p = -S~'(W_i + k_i),   Z dt_i + Z_p dt_p = dS~'W_i
 *
 * The last equation gives du = -D^-1 (S~'(W_i + k_i) + E dt_p), and with it A_p and k_p, as in
 * articulated-body recursions. No multiplier and no matrix larger than 6 x 6 is ever formed. An element
 * between a body and its parent or ground adds to A_i, A_ip, A_pi, A_pp what director_newton.c adds to the
 * blocks of the sparse matrix. Each pass works on a body once, and reads it once more for each child. Where
 * the bodies do not fit into the caches, these accesses decide the time: in a chain the parent comes next and
 * is still in the cache; in a branched tree, whose labels go from level to level, it has to be fetched again.
 *
 * Balance, W and S~ are long doubles, so that S~'W, a difference of large numbers, is as exact as the step
 * needs (docs/theory/director.md, 6: Rounding). So are the rotations in the step: rows of joints then hold to
 * as many digits, and their forces do no work.
 *
 * Source   Betsch and Leyendecker (2006), eqs 58, 69, 116, 180-189; the derivative of the null-space matrix
 *          is ours.
 * Cost     O(bodies + elements), no allocation but in create.
 * Limits   trees without screws and prescribed motions whose elements act between neighbours or on one body;
 *          director_sparse.c solves the others.
 */
#include "formulations/director/director_recursive_newton.h"
#include "linalg/small.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

enum { ROWS_EVERY = 64 };

/* --- structure ------------------------------------------------------------------------------------ */

/* Returns, of two bodies that are neighbours in the tree or the same, the one nearer to the leaves; 0 if they
 * are neither. */
static int owner(const lw_director *d, const int bodies[2]) {
    int low = bodies[0] < bodies[1] ? bodies[0] : bodies[1], high = bodies[0] + bodies[1] - low;
    return low == 0 || low == high || d->model->links[high].parent == low ? high : 0;
}

static bool is_tree(const lw_director *d) {
    const lw_model *model = d->model;
    if (d->full || d->row_count > d->first_loop_row || model->motion_count || model->idle_count) return false;
    for (int i = 1; i <= d->n; i++)
        if (d->joints[i].screws || d->joints[i].prescribed) return false;
    for (int k = 0; k < model->force_count; k++) {
        int bodies[2];
        lw_director_loaded_bodies(d, &model->forces[k], bodies);
        if (!owner(d, bodies)) return false;
    }
    return true;
}

/* Sorts count things by their owner: those of body i are list[first[i]] .. list[first[i + 1] - 1]. */
static void sort_by_owner(int n, int count, const int *owners, int *first, int *list) {
    for (int k = 0; k < count; k++)
        if (owners[k]) first[owners[k] + 1]++;
    for (int i = 1; i <= n + 1; i++) first[i] += first[i - 1];
    for (int k = 0; k < count; k++)
        if (owners[k]) list[first[owners[k]]++] = k;
    for (int i = n + 1; i > 0; i--) first[i] = first[i - 1];
}

static bool acts_in_joint(const lw_force *force) { return lw_force_type_in_joint(force->type); }

static bool attach_elements(lw_director *d) {
    const lw_model *model = d->model;
    lw_director_recursive *s = d->recursive;
    size_t bodies = (size_t)d->n + 1, forces = (size_t)model->force_count;
    s->first_force = LW_NEW(d->arena, int, bodies + 2);
    s->first_measure = LW_NEW(d->arena, int, bodies + 2);
    s->forces = LW_NEW(d->arena, int, forces + 1);
    s->measures = LW_NEW(d->arena, int, d->measure_count + 1);
    s->loaded = LW_NEW(d->arena, bool, bodies);
    int *owners = LW_NEW(d->arena, int, forces + (size_t)d->measure_count + 1);
    if (lw_arena_failed(d->arena)) return false;
    for (int k = 0; k < model->force_count; k++) {
        int two[2], count, first = lw_director_force_measures(d, k, &count);
        lw_director_loaded_bodies(d, &model->forces[k], two);
        s->loaded[two[0]] = s->loaded[two[1]] = true;
        s->books |= !lw_director_force_conserves(&model->forces[k]);
        owners[k] = owner(d, two);
        s->bodies[owners[k]].pushed |= acts_in_joint(&model->forces[k]);
        for (int m = first; m < first + count; m++) owners[model->force_count + m] = owners[k];
    }
    sort_by_owner(d->n, model->force_count, owners, s->first_force, s->forces);
    sort_by_owner(d->n, d->measure_count, owners + model->force_count, s->first_measure, s->measures);
    return true;
}

bool lw_director_recursive_create(lw_director *d) {
    const lw_model *model = d->model;
    if (!is_tree(d)) return true;
    size_t bodies = (size_t)d->n + 1, numbers = 0;
    for (int i = 1; i <= d->n; i++) {
        size_t k = (size_t)model->links[i].joint.nv;
        numbers += 18 * k + k * k + k;
    }
    lw_director_recursive *s = d->recursive = LW_NEW(d->arena, lw_director_recursive, 1);
    if (!s) return false;
    s->bodies = LW_NEW(d->arena, lw_recursive_body, bodies);
    double *next = LW_NEW(d->arena, double, numbers + 1);
    if (lw_arena_failed(d->arena) || !attach_elements(d)) return false;
    for (int i = 0; i <= d->n; i++) {
        lw_recursive_body *b = &s->bodies[i];
        b->turn[0] = 1;
        if (i == 0) continue;
        int k = b->speeds = model->links[i].joint.nv;
        b->parent = model->links[i].parent, b->first_speed = model->links[i].v;
        b->joint = model->bodies[i].joint_index;
        b->S = next, b->H = b->S + 6 * k, b->E = b->H + 6 * k, b->inverse = b->E + 6 * k;
        b->y = b->inverse + k * k, next = b->y + k;
        for (int m = 0; m < d->joints[i].moves; m++) b->slides |= !d->joints[i].move[m].turns;
    }
    return true;
}

static inline void fetch(const void *from, size_t size) {
    for (size_t k = 0; k < size; k += 64) __builtin_prefetch((const char *)from + k, 1);
}

void lw_director_recursive_fetch(const lw_director *d, int i) {
    if (i < 1 || i > d->n) return;
    const lw_director_recursive *s = d->recursive;
    const lw_recursive_body *b = &s->bodies[i];
    size_t at = 12 * (size_t)i, size = 12 * sizeof(double), k = (size_t)b->speeds;
    const double *arrays[] = {d->step.q0,     d->step.v0,   d->step.low_q, d->step.low_v,
                              d->step.change, d->step.rest, d->step.q1,    d->step.qm};
    for (int a = 0; a < 8; a++) fetch(arrays[a] + at, size + 32);
    fetch(b, sizeof *b);
    fetch(b->S, (19 * k + k * k) * sizeof *b->S);
    fetch(&d->joints[i], 256);
    fetch(&d->bodies[i], 32);
    if (!s->loaded[i]) return;
    fetch(d->step.residual + at, size + 32);
    fetch(d->step.exact + at, 2 * size);
    for (int m = s->first_measure[i]; m < s->first_measure[i + 1]; m++)
        fetch(&d->measures[s->measures[m]], 320);
    for (int f = s->first_force[i]; f < s->first_force[i + 1]; f++)
        fetch(&d->model->forces[s->forces[f]], 128);
}

/* Each body is at work while its own elements are added: those add to its own block, to that of its parent,
 * and to the two blocks between them. */
static double *block(lw_director *d, int i, int j, int number, int *stride) {
    lw_director_recursive *s = d->recursive;
    (void)number;
    *stride = 6;
    if (i == j) return s->bodies[i].A;
    return i == s->at ? s->to_parent : s->from_parent;
}

/* The derivatives of a body's measures are used at once. So those of all bodies share the same memory, which
 * stays in the nearest cache. */
static void share_slopes(lw_director *d) {
    const lw_director_recursive *s = d->recursive;
    for (int i = 1; i <= d->n; i++)
        for (int k = s->first_measure[i]; k < s->first_measure[i + 1]; k++) {
            lw_measure *m = &d->measures[s->measures[k]];
            m->D = d->slopes + 72 * (k - s->first_measure[i]), m->slope = m->D + 24, m->bend = m->D + 48;
        }
}

void lw_director_recursive_clear(lw_director *d) {
    size_t bodies = (size_t)d->n + 1;
    for (int i = 1; i <= d->n; i++) {
        lw_recursive_body *b = &d->recursive->bodies[i];
        memset(b->A, 0, sizeof b->A);
        for (int k = 0; k < 6; k++) b->W[k] = 0, b->k[k] = 0;
    }
    memset(d->step.residual, 0, 12 * bodies * sizeof *d->step.residual);
    memset(d->step.exact, 0, 12 * bodies * sizeof *d->step.exact);
    memset(d->step.torque, 0, 3 * bodies * sizeof *d->step.torque);
    share_slopes(d);
    d->recursive->known = false, d->recursive->clear = true;
    d->solver = &lw_director_by_recursion;
}

/* --- inwards -------------------------------------------------------------------------------------- */

/* The joint between a body and its parent in the middle of the step, in long doubles. */
typedef struct hinge {
    lw_wide arm[3];          /* from the joint to the body's centre */
    lw_wide across[3];       /* from the parent's centre to the body's */
    bool on_parent;          /* the joint's point is fixed to the parent, not to the body */
    lw_wide direction[6][3]; /* of every turn or slide */
    double basis[3][3];      /* slides: reciprocal vectors */
} hinge;

static void reciprocal(lw_wide basis[3][3], lw_wide out[3][3]) {
    for (int k = 0; k < 3; k++) lw_wide_cross(basis[(k + 1) % 3], basis[(k + 2) % 3], out[k]);
    lw_wide volume = lw_wide_dot(basis[0], out[0]);
    for (int k = 0; k < 3; k++)
        for (int a = 0; a < 3; a++) out[k][a] /= volume;
}

static void hinge_at(const lw_director *d, int i, const lw_wide own[12], const lw_wide parent[12], hinge *g) {
    const lw_director_joint *joint = &d->joints[i];
    const lw_recursive_body *b = &d->recursive->bodies[i];
    lw_wide sense = joint->side ? 1 : -1, basis[3][3], dual[3][3];
    g->on_parent = b->slides && !joint->side;
    for (int a = 0; a < 3; a++) g->across[a] = own[a] - parent[a], g->arm[a] = 0;
    if (g->on_parent) {
        for (int a = 0; a < 3; a++) g->arm[a] = g->across[a];
        lw_wide_add_arm(joint->point[1], parent, -1, g->arm);
    } else
        lw_wide_add_arm(joint->point[joint->side], own, -1, g->arm);
    if (b->slides) {
        for (int k = 0; k < 3; k++) lw_wide_combine(joint->basis[k], joint->side ? parent : own, basis[k]);
        reciprocal(basis, dual);
        for (int k = 0; k < 3; k++) lw_wide_narrow(3, dual[k], g->basis[k]);
    }
    for (int k = 0; k < joint->moves; k++) {
        const lw_director_move *move = &joint->move[k];
        lw_wide *out = g->direction[k];
        if (move->turns)
            lw_wide_combine(move->vector, move->side == joint->side ? own : parent, out);
        else
            memcpy(out, dual[move->index], sizeof dual[0]);
        for (int a = 0; a < 3; a++) out[a] *= move->turns ? sense : sense * move->sense;
    }
}

/* Computes S~'w for all speeds of a joint. */
static void along_moves(const lw_director_joint *joint, const hinge *g, const lw_wide w[6], double *out) {
    lw_wide moment[3];
    if (joint->free) {
        lw_wide_narrow(6, w, out);
        return;
    }
    lw_wide_cross(g->arm, w, moment);
    for (int a = 0; a < 3; a++) moment[a] += w[3 + a];
    if (joint->ball) {
        lw_wide_narrow(3, moment, out);
        return;
    }
    for (int k = 0; k < joint->moves; k++)
        out[k] = (double)lw_wide_dot(g->direction[k], joint->move[k].turns ? moment : w);
}

/* The balance of a body with the forces that its elements have added: twelve components f and the wrench W.
 * middle: its coordinates in the middle of the step. */
static void balance(lw_director *d, int i, const lw_wide middle[12], lw_wide f[12], lw_wide W[6]) {
    const lw_director_body *body = &d->bodies[i];
    bool loaded = d->recursive->loaded[i];
    lw_wide factor = 2 / d->step.h, torque[3]; /* The factor is rounded as in store_rates. */
    for (int k = 0; k < 12; k++) {
        int a = 12 * i + k;
        double inertia = k < 3 ? body->mass : body->euler[k / 3 - 1];
        f[k] = inertia * (factor * (d->step.change[a] + (lw_wide)d->step.rest[a]) -
                          2 * (d->step.v0[a] + (lw_wide)d->step.low_v[a]));
        if (loaded)
            f[k] += d->step.exact[a] + d->step.residual[a], d->step.exact[a] = 0, d->step.residual[a] = 0;
    }
    for (int a = 0; a < 3; a++) {
        f[a] -= (lw_wide)(d->step.h * body->mass) * d->model->gravity[a];
        W[a] = f[a];
        W[3 + a] = 0;
        if (loaded) W[3 + a] = d->step.torque[3 * i + a], d->step.torque[3 * i + a] = 0;
    }
    for (int k = 3; k < 12; k += 3) {
        lw_wide_cross(middle + k, f + k, torque);
        for (int a = 0; a < 3; a++) W[3 + a] += torque[a];
    }
}

static void add_elements(lw_director *d, int i, bool matrix) {
    lw_director_recursive *s = d->recursive;
    s->at = i;
    if (matrix) {
        memset(s->to_parent, 0, sizeof s->to_parent);
        memset(s->from_parent, 0, sizeof s->from_parent);
    }
    if (s->first_force[i] == s->first_force[i + 1]) return;
    if (s->bodies[i].pushed) lw_v3_set(d->step.joint_torque + 3 * s->bodies[i].joint, 0, 0, 0);
    for (int k = s->first_measure[i]; k < s->first_measure[i + 1]; k++) {
        lw_measure *m = &d->measures[s->measures[k]];
        lw_measure_step(m, m->from, d->step.q0, d->step.q1, matrix);
        m->force = m->stiffness = 0;
    }
    for (int k = s->first_force[i]; k < s->first_force[i + 1]; k++)
        lw_director_force(d, s->forces[k], matrix);
    for (int k = s->first_measure[i]; k < s->first_measure[i + 1]; k++) {
        lw_measure *m = &d->measures[s->measures[k]];
        m->element = m->force / d->step.h;
        lw_director_add_measure(d, m, matrix);
    }
}

/* A += factor x~ y~, column by column. */
static void add_cross_cross(double *A, double factor, const double x[3], const double y[3]) {
    double dot = lw_v3_dot(x, y);
    for (int j = 0; j < 3; j++) {
        for (int a = 0; a < 3; a++) A[a + 6 * j] += factor * y[a] * x[j];
        A[j + 6 * j] -= factor * dot;
    }
}

static void add_inertia(const lw_director *d, int i, const double f[12], double A[36]) {
    const lw_director_body *body = &d->bodies[i];
    double factor = 2 / d->step.h;
    for (int a = 0; a < 3; a++) A[7 * a] += factor * body->mass;
    for (int k = 1; k < 4; k++) {
        const double *end = d->step.q1 + 12 * i + 3 * k;
        add_cross_cross(A + 21, -factor * body->euler[k - 1], d->step.qm + 12 * i + 3 * k, end);
        add_cross_cross(A + 21, 0.5, f + 3 * k, end);
    }
}

/* The columns of a joint, 6 numbers per speed: S at q1 and S~ in the middle of the step. Z and Zp tell how
 * S~'W changes with the increments dt_i of the body and dt_p of its parent. */
typedef struct columns {
    double S[36], T[36], Z[36], Zp[36];
} columns;

/* What the columns of all moves of a joint have in common: both bodies at q1, and the load that it
 * carries. */
typedef struct joint_load {
    const double *own, *parent;
    const double *F;               /* the force */
    double arm[3], moment[3];      /* from the joint to the centre in the middle of the step; torque there */
    double end[3], from_parent[3]; /* at q1: from the joint to the centre, from the parent's to the joint */
} joint_load;

static void slide_column(const lw_director_joint *joint, const hinge *g, const joint_load *load, int k,
                         columns *c) {
    const lw_director_move *move = &joint->move[k];
    const double *first = joint->side ? load->parent : load->own;
    double sense = joint->side ? 1 : -1, *s = c->S + 6 * k, *t = c->T + 6 * k, part[3];
    double *turning = (joint->side ? c->Zp : c->Z) + 6 * k + 3; /* the first body turns the direction */
    lw_wide_narrow(3, g->direction[k], t);
    lw_director_combine(move->vector, first, s);
    for (int a = 0; a < 3; a++) s[a] *= sense * move->factor;
    for (int j = 0; j < 3; j++) {
        double basis[3];
        lw_director_combine(joint->basis[j], first, basis);
        lw_v3_cross(basis, t, part);
        lw_v3_axpy(-0.5 * lw_v3_dot(g->basis[j], load->F), part, turning);
    }
}

static void turn_column(const lw_director_joint *joint, const hinge *g, const joint_load *load, int k,
                        columns *c) {
    double *s = c->S + 6 * k, *t = c->T + 6 * k, *z = c->Z + 6 * k, *zp = c->Zp + 6 * k;
    double n[3] = {0, 0, 0}, n1[3] = {0, 0, 0}, push[3], part[3]; /* the axis in the middle and at q1 */
    if (joint->ball)
        n[k] = n1[k] = 1;
    else {
        const lw_director_move *move = &joint->move[k];
        bool mine = move->side == joint->side;
        double sense = joint->side ? 1 : -1;
        lw_wide_narrow(3, g->direction[k], n);
        lw_director_combine(move->vector, mine ? load->own : load->parent, n1);
        for (int a = 0; a < 3; a++) n1[a] *= sense;
        lw_v3_cross(n1, load->moment, part);
        lw_v3_axpy(0.5, part, (mine ? z : zp) + 3);
    }
    lw_v3_copy(n1, s + 3), lw_v3_cross(n1, load->end, s);
    lw_v3_copy(n, t + 3), lw_v3_cross(n, load->arm, t);
    lw_v3_cross(load->F, n, push);
    if (g->on_parent) {
        lw_v3_axpy(0.5, push, z), lw_v3_axpy(-0.5, push, zp);
        lw_v3_cross(load->from_parent, push, part);
        lw_v3_axpy(-0.5, part, zp + 3);
    } else {
        lw_v3_cross(load->end, push, part);
        lw_v3_axpy(0.5, part, z + 3);
    }
}

static void find_columns(const lw_director *d, int i, const hinge *g, const double W[6], columns *c) {
    const lw_director_joint *joint = &d->joints[i];
    joint_load load = {
        .own = d->step.q1 + 12 * i, .parent = d->step.q1 + 12 * d->recursive->bodies[i].parent, .F = W};
    memset(c, 0, sizeof *c);
    if (joint->free) {
        for (int k = 0; k < 6; k++) c->S[7 * k] = c->T[7 * k] = 1;
        return;
    }
    lw_wide_narrow(3, g->arm, load.arm);
    lw_v3_cross(load.arm, W, load.moment);
    lw_v3_add(load.moment, W + 3, load.moment);
    double at[3]; /* the joint's point at q1 */
    lw_director_combine(joint->point[g->on_parent ? 1 : joint->side], g->on_parent ? load.parent : load.own,
                        at);
    lw_v3_sub(load.own, at, load.end);
    lw_v3_sub(at, load.parent, load.from_parent);
    int moves = joint->ball ? 3 : joint->moves;
    for (int k = 0; k < moves; k++)
        if (joint->ball || joint->move[k].turns)
            turn_column(joint, g, &load, k, c);
        else
            slide_column(joint, g, &load, k, c);
}

/* X~'A, and A X, for a body that stands at arm from its parent. */
static void shift_rows(const double arm[3], double A[36]) {
    for (int j = 0; j < 6; j++) lw_v3_add_cross(arm, A + 6 * j, A + 6 * j + 3);
}
static void shift_columns(const double arm[3], double A[36]) { /* column of a rotation: A_phi (w x arm) */
    for (int a = 0; a < 6; a++) {
        double row[3] = {A[a], A[a + 6], A[a + 12]}, part[3];
        lw_v3_cross(arm, row, part);
        for (int j = 0; j < 3; j++) A[a + 18 + 6 * j] += part[j];
    }
}

/* Finds D^-1 and D^-1 E of a body; E, 6 per speed, too. D = Z S and E = Z X + S~'A_ip + Zp, where Z is
 * S~'A + Z. */
static bool factor_joint(lw_director *d, int i, columns *c, double E[36]) {
    const lw_director_recursive *s = d->recursive;
    lw_recursive_body *b = &s->bodies[i];
    bool free = d->joints[i].free, elements = s->first_force[i] < s->first_force[i + 1];
    int n = b->speeds;
    for (int k = 0; k < n; k++) {
        double *z = c->Z + 6 * k, *e = E + 6 * k;
        for (int j = 0; j < 6; j++) z[j] += lw_v6_dot(c->T + 6 * k, b->A + 6 * j);
        for (int l = 0; l < n; l++) b->inverse[k * n + l] = lw_v6_dot(z, c->S + 6 * l);
        for (int j = 0; j < 6; j++) e[j] = c->Zp[6 * k + j] + (free ? 0 : z[j]);
        for (int j = 0; j < 6 && elements; j++) e[j] += lw_v6_dot(c->T + 6 * k, s->to_parent + 6 * j);
        if (!free) lw_v3_add_cross(b->arm, z, e + 3);
    }
    if (!lw_invert(n, b->inverse)) return false;
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 6; j++) {
            double sum = 0;
            for (int l = 0; l < n; l++) sum += b->inverse[k * n + l] * E[6 * l + j];
            b->E[6 * k + j] = sum;
        }
    return true;
}

/* C = X~'A + A_pi + dX~'W of the body: what its increment adds to dW of its parent. The direct effect of an
 * increment of the parent is added to the parent's A. F is the force that the joint carries. */
static void carry_over(lw_director *d, int i, const hinge *g, const double F[3], double C[36]) {
    lw_director_recursive *s = d->recursive;
    lw_recursive_body *b = &s->bodies[i], *p = &s->bodies[b->parent];
    bool elements = s->first_force[i] < s->first_force[i + 1];
    double across[3];
    if (d->joints[i].free)
        memset(C, 0, 36 * sizeof *C);
    else {
        memcpy(C, b->A, 36 * sizeof *C);
        lw_wide_narrow(3, g->across, across);
        shift_rows(across, C);
        shift_rows(across, s->to_parent);
        const double cross[9] = {0, F[2], -F[1], -F[2], 0, F[0], F[1], -F[0], 0}; /* F~ column by column */
        for (int j = 0; j < 3; j++)
            for (int a = 0; a < 3; a++) {
                C[3 + a + 6 * j] -= 0.5 * cross[3 * j + a];
                p->A[3 + a + 6 * j] += 0.5 * cross[3 * j + a];
            }
        for (int k = 0; k < 36 && elements; k++) p->A[k] += s->to_parent[k];
    }
    for (int k = 0; k < 36 && elements; k++) C[k] += s->from_parent[k];
}

/* Finds H = C S D^-1, and adds to the parent's A what the body leaves: C X - H E. */
static void reduce_to_parent(lw_director *d, int i, const columns *c, double C[36], const double E[36]) {
    lw_recursive_body *b = &d->recursive->bodies[i], *p = &d->recursive->bodies[b->parent];
    int n = b->speeds;
    double CS[36];
    for (int k = 0; k < n; k++) {
        for (int a = 0; a < 6; a++) CS[6 * k + a] = 0;
        for (int j = 0; j < 6; j++)
            for (int a = 0; a < 6; a++) CS[6 * k + a] += C[6 * j + a] * c->S[6 * k + j];
    }
    for (int k = 0; k < n; k++)
        for (int a = 0; a < 6; a++) {
            double sum = 0;
            for (int l = 0; l < n; l++) sum += CS[6 * l + a] * b->inverse[l * n + k];
            b->H[6 * k + a] = sum;
        }
    if (!d->joints[i].free) {
        shift_columns(b->arm, C);
        for (int k = 0; k < 36; k++) p->A[k] += C[k];
    }
    for (int k = 0; k < n; k++)
        for (int j = 0; j < 6; j++)
            for (int a = 0; a < 6; a++) p->A[6 * j + a] -= b->H[6 * k + a] * E[6 * k + j];
}

/* Eliminates a body: its factors, and what is left for its parent. W is the load that its joint carries. */
static bool eliminate(lw_director *d, int i, const hinge *g, const lw_wide f[12], const double W[6]) {
    lw_recursive_body *b = &d->recursive->bodies[i];
    double E[36], C[36], twelve[12];
    columns c;
    lw_wide_narrow(12, f, twelve);
    add_inertia(d, i, twelve, b->A);
    lw_v3_sub(d->step.q1 + 12 * i, d->step.q1 + 12 * b->parent, b->arm);
    find_columns(d, i, g, W, &c);
    memcpy(b->S, c.S, 6 * (size_t)b->speeds * sizeof *b->S);
    if (!factor_joint(d, i, &c, E)) return false;
    if (b->parent == 0) return true;
    carry_over(d, i, g, W, C);
    reduce_to_parent(d, i, &c, C, E);
    return true;
}

/* Whether the directors in the middle still span space: see middles_span in director_sparse.c. */
static bool spans(const lw_wide m[12]) {
    lw_wide normal[3];
    lw_wide_cross(m + 3, m + 6, normal);
    return lw_wide_dot(normal, m + 9) > 1e-3L;
}

/* Whether the two axes of a universal joint still differ: where they are parallel in the middle of the step,
 * one of the joint's two equations is lost. */
static bool turns_span(const lw_director_joint *joint, const hinge *g) {
    lw_wide normal[3];
    if (!joint->crossed) return true;
    lw_wide_cross(g->direction[0], g->direction[1], normal);
    return lw_wide_dot(normal, normal) > 1e-3L;
}

/* Keeps the wrench of a joint on its second body, at its point there, as in director_reactions.c. */
static void keep_reaction(lw_director *d, int i, const lw_wide W[6], const lw_wide middle[12],
                          const lw_wide parent[12], double *reactions) {
    const lw_director_joint *joint = &d->joints[i];
    const lw_recursive_body *b = &d->recursive->bodies[i];
    int index = b->joint;
    double *out = reactions + 6 * index, sign = joint->side ? 1 / d->step.h : -1 / d->step.h;
    lw_wide at[3], arm[3], moment[3];
    lw_wide_combine(joint->point[1], joint->side ? middle : parent, at);
    for (int a = 0; a < 3; a++) arm[a] = middle[a] - at[a];
    lw_wide_cross(arm, W, moment);
    for (int a = 0; a < 3; a++) {
        out[a] = sign * (double)W[a];
        out[3 + a] = sign * (double)(W[3 + a] + moment[a]);
    }
    if (!b->pushed) return;
    double own[6] = {0}, part[3], offset[3];
    lw_director_coordinate_loads(d, index, d->coordinate + d->model->joints[index].info.q, own);
    for (int a = 0; a < 3; a++) offset[a] = (double)((joint->side ? middle : parent)[a] - at[a]);
    lw_v3_cross(offset, own, part);
    for (int a = 0; a < 3; a++) {
        out[a] += own[a];
        out[3 + a] += own[3 + a] + part[a] + d->step.joint_torque[3 * index + a];
    }
}

/* The right-hand side of a body's speeds, and what is left of it for the parent. all: W + k. */
static void reduce_right(lw_director *d, int i, const hinge *g, const lw_wide W[6], const double known[6],
                         const lw_wide all[6]) {
    lw_recursive_body *b = &d->recursive->bodies[i], *p = &d->recursive->bodies[b->parent];
    double rho[6], across[3];
    lw_wide moment[3];
    along_moves(&d->joints[i], g, all, rho);
    for (int k = 0; k < b->speeds; k++) {
        b->y[k] = 0;
        for (int l = 0; l < b->speeds; l++) b->y[k] += b->inverse[k * b->speeds + l] * rho[l];
    }
    if (b->parent == 0) return;
    for (int k = 0; k < b->speeds; k++)
        for (int a = 0; a < 6; a++) p->k[a] -= b->H[6 * k + a] * rho[k];
    if (d->joints[i].free) return;
    lw_wide_cross(g->across, W, moment);
    for (int a = 0; a < 3; a++) p->W[a] += W[a], p->W[3 + a] += W[3 + a] + moment[a];
    lw_wide_narrow(3, g->across, across);
    for (int a = 0; a < 6; a++) p->k[a] += known[a];
    lw_v3_add_cross(across, known, p->k + 3);
}

/* From the leaves to ground: balance, and with a new matrix the factors too. reactions (may be NULL) receives
 * what the joints transmit. False: a matrix is singular, or, with reactions, the step is invalid because the
 * directors or axes in its middle have become dependent. */
static bool inwards(lw_director *d, bool matrix, double *reactions) {
    lw_director_recursive *s = d->recursive;
    lw_wide middle[12], parent[12], f[12], W[6], all[6];
    hinge g;
    s->clear = false;
    s->fresh = matrix;
    bool use_loads = s->known && s->far;
    if (reactions || matrix) s->known = true;
    d->step.work = (lw_power){0, 0, 0};
    for (int i = d->n; i >= 1; i--) {
        lw_recursive_body *b = &s->bodies[i];
        double known[6];
        lw_director_recursive_fetch(d, i - LW_FETCH_AHEAD);
        add_elements(d, i, matrix);
        lw_wide_middle(d, i, middle);
        lw_wide_middle(d, b->parent, parent);
        balance(d, i, middle, f, W);
        for (int k = 0; k < 6; k++) W[k] += b->W[k], b->W[k] = 0;
        if (!d->joints[i].free) hinge_at(d, i, middle, parent, &g);
        if (matrix) {
            double load[6];
            for (int k = 0; k < 6; k++) load[k] = use_loads ? d->step.h * b->load[k] : (double)W[k];
            if (!eliminate(d, i, &g, f, load)) return false;
        }
        if (reactions) {
            if (!spans(middle) || !turns_span(&d->joints[i], &g)) return false;
            for (int k = 0; k < 6; k++) b->load[k] = (double)W[k] / d->step.h;
            keep_reaction(d, i, W, middle, parent, reactions);
        }
        for (int k = 0; k < 6; k++) all[k] = W[k] + b->k[k], known[k] = b->k[k], b->k[k] = 0;
        if (matrix) lw_wide_narrow(6, all, b->load);
        reduce_right(d, i, &g, W, known, all);
    }
    s->clear = true;
    return true;
}

/* --- outwards ------------------------------------------------------------------------------------- */

/* Computes the increments of a body from those of its parent, and du of its speeds. */
static void increments(lw_director *d, int i, double du[6]) {
    lw_recursive_body *b = &d->recursive->bodies[i];
    const double *of_parent = d->recursive->bodies[b->parent].delta;
    bool moves = b->parent != 0;
    for (int a = 0; a < 6; a++) b->delta[a] = 0;
    if (moves && !d->joints[i].free) {
        for (int a = 0; a < 6; a++) b->delta[a] = of_parent[a];
        lw_v3_add_cross(of_parent + 3, b->arm, b->delta);
    }
    for (int k = 0; k < b->speeds; k++) {
        du[k] = -b->y[k] - (moves ? lw_v6_dot(b->E + 6 * k, of_parent) : 0);
        for (int a = 0; a < 6; a++) b->delta[a] += du[k] * b->S[6 * k + a];
    }
}

/* The load that the joint will transmit after the increment, W + dW. The next matrix is evaluated with this
 * load, as it would be with multipliers among the unknowns. With W itself, which is far
 * off during the first iterations on a long chain, Newton's method would diverge. */
static void expect_load(const lw_director *d, lw_recursive_body *b) {
    for (int j = 0; j < 6; j++)
        for (int a = 0; a < 6; a++) b->load[a] += b->A[6 * j + a] * b->delta[j];
    for (int a = 0; a < 6; a++) b->load[a] /= d->step.h;
    memset(b->A, 0, sizeof b->A);
}

static void outwards(lw_director *d, double *size, double *step) {
    double sizes[2] = {0, 0};
    bool fresh = d->recursive->fresh;
    for (int i = 1; i <= d->n; i++) {
        const lw_director_joint *joint = &d->joints[i];
        lw_recursive_body *b = &d->recursive->bodies[i];
        double du[6];
        lw_director_recursive_fetch(d, i + LW_FETCH_AHEAD);
        increments(d, i, du);
        if (fresh) expect_load(d, b);
        const double *weight = d->weight + 4 * i, *change = d->step.change + 12 * i, *delta = b->delta;
        sizes[0] += weight[0] * lw_v3_dot(delta, delta);
        for (int k = 1; k < 4; k++) {
            double part[3];
            lw_v3_cross(delta + 3, d->step.q1 + 12 * i + 3 * k, part);
            sizes[0] += weight[k] * lw_v3_dot(part, part);
        }
        if (joint->ball) {
            double small[4];
            lw_wide turn[4], before[4];
            lw_quat_exp(delta + 3, small);
            for (int k = 0; k < 4; k++) turn[k] = small[k], before[k] = b->turn[k];
            lw_wide_multiply(turn, before, b->turn);
            lw_v3_add(d->step.change + 12 * i, delta, d->step.change + 12 * i);
        } else
            for (int k = 0; k < b->speeds; k++) d->step.u[b->first_speed + k] += du[k];
        lw_director_recursive_poses(d, i);
        for (int k = 0; k < 4; k++) sizes[1] += weight[k] * lw_v3_dot(change + 3 * k, change + 3 * k);
    }
    *size = sqrt(sizes[0]), *step = sqrt(sizes[1]);
    d->recursive->far = *size > 0.01 * *step;
}

/* The increment that is left of a body after the last pass inwards is too small for q1 and goes to step.rest.
 * Called from ground outwards; the angles of its joint at the end go to the state. */
static void find_rest(lw_director *d, int i, double *angles) {
    const lw_director_joint *joint = &d->joints[i];
    double du[6], *rest = d->step.rest + 12 * i;
    increments(d, i, du);
    if (d->recursive->fresh) expect_load(d, &d->recursive->bodies[i]);
    const double *delta = d->recursive->bodies[i].delta;
    lw_v3_add(rest, delta, rest);
    for (int k = 3; k < 12; k += 3) lw_v3_add_cross(delta + 3, d->step.q1 + 12 * i + k, rest + k);
    for (int k = 0; k < joint->moves; k++) {
        int angle = joint->move[k].angle;
        if (angle >= 0)
            angles[angle] =
                d->step.angles[angle] + remainder(d->step.u[joint->move[k].speed] + du[k], 2 * LW_PI);
    }
}

/* --- the solver ----------------------------------------------------------------------------------- */

static bool increment(lw_director *d, lw_director_matrix_use use, double *size, double *step) {
    if (!inwards(d, use != LW_DIRECTOR_SAME_MATRIX, NULL)) return false;
    outwards(d, size, step);
    return isfinite(*size) && isfinite(*step);
}

/* accept makes one more pass inwards, and store the increment that follows from it. That increment is added
 * to changes as if they were linear, and work that was booked before does not see it. */
static double last_increment(const lw_director *d) { return d->recursive->books ? 1e-14 : 1e-9; }

static bool accept(lw_director *d, bool new_matrix) {
    return inwards(d, new_matrix, lw_director_reactions_room(d));
}

/* Rows hold to more digits than coordinates have, so they are checked from time to time only. */
static bool rows_are_off(lw_director *d) {
    if (d->recursive->age++ % ROWS_EVERY != 0) return false;
    for (int k = 0; k < d->measure_count; k++)
        d->measures[k].to = lw_measure_value(&d->measures[k], d->step.q1, 0);
    lw_director_row_values(d);
    return lw_director_rows_are_off(d);
}

static bool store(lw_director *d, double *y) {
    double *angles = y + 24 * (size_t)d->n;
    bool off = false;
    for (int i = 1; i <= d->n; i++) {
        find_rest(d, i, angles);
        lw_director_store_body(d, i, y);
        off = off || lw_director_directors_are_off(d, i);
    }
    off = off || rows_are_off(d);
    for (int k = 0; k < d->measure_count && off;
         k++) { /* lw_director_rebuild takes joint coordinates from them */
        lw_measure *m = &d->measures[k];
        m->to = lw_measure_value(m, d->step.q1, m->angle >= 0 ? angles[m->angle] : 0);
    }
    return off;
}

const lw_director_solver lw_director_by_recursion = {
    .start = lw_director_recursive_start,
    .increment = increment,
    .last_increment = last_increment,
    .accept = accept,
    .store = store,
    .block = block,
};

void lw_director_recursive_forget(lw_director *d) {
    d->recursive->known = d->recursive->far = false;
    d->recursive->age = 0;
}
