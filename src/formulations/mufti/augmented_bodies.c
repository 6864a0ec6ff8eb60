/* augmented_bodies.c - augmented bodies: rotational equations of a mechanism without the translations of its
 * tree.
 *
 *   M rddot - H_r f = p,   -H_r'rddot = g      with  p = u1 + H*_r lambda*,  g = u3 + H_w'wdot   (10), (17)
 *   rddot = E p - B'g,   f = -(B p + A g)                                                               (19)
 *   E = N (N'M N)^-1 N',   B = T2 - T2 M E,   A = B M B',   D = -H_w B                              (20-27)
 *   K = I + D M D',   N* = D H*_r + H*_w,   S = H*_r'E H*_r                                      (28), (71)
 *   right = u2 + D (u1 + M B'u3),   right* = u3* + H*_r'(E u1 - B'u3)                            (28), (72)
 *
 * Symbols   f, H_r, H_w   translational rows of the tree's joints; u3 = -gamma of them
 *           *             rows of closures and constraints; u3* = -gamma of them
 *           T2            path matrix in the directions of these rows, T2 H_r = 1
 *           N             translations that these rows leave free, H_r'N = 0; 1_n of the paper for a
 *                         free-flying tree
 *
 * In the general form D is an operator: D x, D'x need sums over the tree only. Where every joint transmits a
 * whole force or none (ball, universal, pin, weld; free) D is the paper's array of vectors d_ik from the
 * barycentre of augmented body i to its own centre of mass (k = i) or to the joint that leads to body k; K
 * and the velocity terms are then composed of blocks, (30-38). A body that ground or a prescribed motion
 * carries is augmented by an infinite mass at that joint.
 *
 * Source   Mufti (1983), eqs 17-38, remarks 3 and 5, 65-73; docs/theory/barycentre.md.
 * Cost     O(n (n + slides^2 + stars)); no allocation but in create.
 */
#include "formulations/mufti/augmented_bodies.h"
#include "formulations/common/absolute_method_base.h"
#include "constraints/kkt/kkt_dense.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>

/* --- structure ------------------------------------------------------------------------------------ */

static int sliding_speeds(const lw_joint *joint) {
    int count = 0;
    for (int k = 0; k < joint->nv; k++) count += !lw_joint_speed_turns(joint->type, k);
    return count;
}

bool lw_augmented_is_force(const lw_model *model, const lw_row *row) {
    const lw_joint *joint = &model->joints[row->joint].joint;
    int k = row->component - joint->nv;
    if (k < 0) return !lw_joint_speed_turns(joint->type, row->component);
    return k < 3 - sliding_speeds(joint); /* Forces come before torques. */
}

/* The number of free directions of translation in the tree joint of body i. */
static int free_slides(const lw_model *model, int i) {
    const lw_link *link = &model->links[i];
    int count = 0;
    for (int k = 0; k < link->joint.nv; k++)
        count += !lw_joint_speed_turns(link->joint.type, k) && !(link->prescribed >> k & 1);
    return count;
}

int lw_augmented_stars(const lw_model *model) {
    int count = 0;
    for (int k = 0; k < model->closure_count; k++) count += 6 - model->joints[model->closures[k]].joint.nv;
    for (int k = 0; k < model->constraint_count; k++)
        count += model->constraints[k].type == LW_CONSTRAINT_ROLLING ? 3 : 1;
    return count;
}

lw_status lw_augmented_applies(const char *method, const lw_model *model, int unknowns, lw_error *error) {
    lw_status status = lw_dense_limit(method, unknowns, error);
    if (status != LW_OK) return status;
    for (int i = 1; i <= model->body_count; i++) {
        if (free_slides(model, i) == 0) continue;
        double mass = 0;
        for (int k = i; k <= model->body_count && !(mass > 0); k++) {
            int at = k;
            while (at > i && free_slides(model, at) < 3) at = model->links[at].parent;
            if (at == i) mass += model->links[k].inertia.mass;
        }
        if (mass > 0) continue;
        const lw_body *body = &model->bodies[i];
        return lw_fail_at(
            error, LW_ERROR_UNSUPPORTED, model->file, body->place, "body", body->name,
            "give it mass, or take method lagrange or massless",
            "it slides, but neither it nor the bodies attached to it have mass; method %s divides by that",
            method);
    }
    return lw_needs_determined(model, error);
}

static void build_tree(lw_augmented_bodies *a) {
    const lw_model *model = a->s->model;
    const lw_rows *rows = a->s->rows;
    int row = 0;
    a->forces = a->slides = 0;
    for (int i = 1; i <= a->n; i++) {
        int j = model->bodies[i].joint_index, slides = free_slides(model, i);
        a->force_at[i] = a->forces;
        a->slide_at[i] = a->slides;
        for (; row < rows->tree_count && rows->rows[row].joint == j; row++)
            if (lw_augmented_is_force(model, &rows->rows[row])) a->force_row[a->forces++] = row;
        a->slides += slides;
        a->up[i] = slides < 3 ? model->links[i].parent : 0;
        a->root[i] = a->up[i] ? a->root[a->up[i]] : i;
        a->beyond[i] = a->s->mass[i - 1];
        if ((slides > 0 && slides < 3) || lw_joint_describe(model->joints[j].joint.type)->screws)
            a->blockwise = false;
    }
    a->force_at[a->n + 1] = a->forces;
    a->slide_at[a->n + 1] = a->slides;
    for (int i = a->n; i >= 1; i--)
        if (a->up[i]) a->beyond[a->up[i]] += a->beyond[i];
}

lw_augmented_bodies *lw_augmented_create(lw_newton_euler *s, bool general) {
    lw_arena *arena = s->arena;
    lw_augmented_bodies *a = LW_NEW(arena, lw_augmented_bodies, 1);
    if (!a) return NULL;
    size_t n = (size_t)s->model->body_count, stars = (size_t)(s->rows->count - s->rows->tree_count);
    a->s = s;
    a->n = s->model->body_count;
    a->stars = (int)stars;
    a->blockwise = !general;
    a->up = LW_NEW(arena, int, n + 1);
    a->root = LW_NEW(arena, int, n + 1);
    a->beyond = LW_NEW(arena, double, n + 1);
    a->force_at = LW_NEW(arena, int, n + 2);
    a->force_row = LW_NEW(arena, int, 3 * n + 1);
    a->slide_at = LW_NEW(arena, int, n + 2);
    if (lw_arena_failed(arena)) return NULL;
    build_tree(a);

    size_t slides = (size_t)a->slides, forces = (size_t)a->forces;
    double **vectors[] = {&a->right, &a->velocity, &a->x, &a->y, &a->z, &a->w};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (!(*vectors[k] = LW_NEW(arena, double, 3 * n + 1))) return NULL;
    a->reach = LW_NEW(arena, double, 3 * forces + 1);
    a->f = LW_NEW(arena, double, forces + 1);
    a->slide = LW_NEW(arena, double, 3 * slides + 1);
    a->slide_mass = LW_NEW(arena, double, slides *slides + 1);
    a->c = LW_NEW(arena, double, slides + 1);
    a->K = LW_NEW(arena, double, 9 * n * n + 1);
    a->N = LW_NEW(arena, double, 3 * n * stars + 1);
    a->S = LW_NEW(arena, double, stars *stars + 1);
    a->slide_star = LW_NEW(arena, double, 2 * slides * stars + 1);
    a->right_star = LW_NEW(arena, double, stars + 1);
    if (lw_arena_failed(arena)) return NULL;
    if (a->blockwise) {
        a->d = LW_NEW(arena, double, 3 * n * n + 1);
        a->own = LW_NEW(arena, double, 3 * n + 1);
        a->out = LW_NEW(arena, double, 3 * n + 1);
        a->moment = LW_NEW(arena, double, 3 * n + 1);
        if (lw_arena_failed(arena)) return NULL;
    }
    a->work = lw_symmetric_create(a->slides);
    return a->work ? a : NULL;
}

void lw_augmented_destroy(lw_augmented_bodies *a) {
    if (a) lw_symmetric_destroy(a->work);
}

/* --- E, B, D as operators ------------------------------------------------------------------------- */

/* Replaces each body's vector by the sum over the body and all bodies beyond it. */
static void gather(const lw_augmented_bodies *a, double *x) {
    for (int i = a->n; i >= 1; i--)
        if (a->up[i]) lw_v3_axpy(1, x + 3 * (i - 1), x + 3 * (a->up[i] - 1));
}

/* Adds each body's vector to those of all bodies beyond it. */
static void spread(const lw_augmented_bodies *a, double *x) {
    for (int i = 1; i <= a->n; i++)
        if (a->up[i]) lw_v3_axpy(1, x + 3 * (a->up[i] - 1), x + 3 * (i - 1));
}

static void times_mass(const lw_augmented_bodies *a, double *x) {
    for (int k = 0; k < 3 * a->n; k++) x[k] *= a->s->mass[k / 3];
}

/* x = E x */
static void apply_E(const lw_augmented_bodies *a, double *x) {
    size_t bytes = 3 * (size_t)a->n * sizeof *x;
    if (a->slides == 0) {
        memset(x, 0, bytes);
        return;
    }
    gather(a, x);
    for (int i = 1; i <= a->n; i++)
        for (int k = a->slide_at[i]; k < a->slide_at[i + 1]; k++)
            a->c[k] = lw_v3_dot(a->slide + 3 * k, x + 3 * (i - 1));
    lw_cholesky_solve(a->work, a->slides, a->slide_mass, 1, a->c);
    memset(x, 0, bytes);
    for (int i = 1; i <= a->n; i++)
        for (int k = a->slide_at[i]; k < a->slide_at[i + 1]; k++)
            lw_v3_axpy(a->c[k], a->slide + 3 * k, x + 3 * (i - 1));
    spread(a, x);
}

void lw_augmented_forces(const lw_augmented_bodies *a, double *y, double *f) {
    gather(a, y);
    for (int i = 1; i <= a->n; i++)
        for (int k = a->force_at[i]; k < a->force_at[i + 1]; k++)
            f[k] = lw_v3_dot(a->reach + 3 * k, y + 3 * (i - 1));
}

/* f = B x = T2 (x - M E x) */
static void apply_B(const lw_augmented_bodies *a, const double *x, double *f) {
    double *y = a->y;
    memcpy(y, x, 3 * (size_t)a->n * sizeof *y);
    apply_E(a, y);
    for (int k = 0; k < 3 * a->n; k++) y[k] = x[k] - a->s->mass[k / 3] * y[k];
    lw_augmented_forces(a, y, f);
}

void lw_augmented_displace(const lw_augmented_bodies *a, const double *f, double *x) {
    memset(x, 0, 3 * (size_t)a->n * sizeof *x);
    for (int i = 1; i <= a->n; i++)
        for (int k = a->force_at[i]; k < a->force_at[i + 1]; k++)
            lw_v3_axpy(f[k], a->reach + 3 * k, x + 3 * (i - 1));
    spread(a, x);
}

/* x = B'f = (1 - E M) T2'f */
static void apply_B_transposed(const lw_augmented_bodies *a, const double *f, double *x) {
    double *y = a->y;
    size_t bytes = 3 * (size_t)a->n * sizeof *x;
    lw_augmented_displace(a, f, x);
    if (a->slides == 0) return;
    memcpy(y, x, bytes);
    times_mass(a, y);
    apply_E(a, y);
    for (int k = 0; k < 3 * a->n; k++) x[k] -= y[k];
}

/* f += H_w'x */
static void add_arms_transposed(const lw_augmented_bodies *a, const double *x, double *f) {
    const lw_rows *rows = a->s->rows;
    for (int k = 0; k < a->forces; k++) {
        const lw_row *row = &rows->rows[a->force_row[k]];
        for (int b = row->block; b < row->block + row->count; b++)
            f[k] += lw_v3_dot(rows->H + 6 * b, x + 3 * (rows->body[b] - 1));
    }
}

void lw_augmented_shift(lw_augmented_bodies *a, const double *x, double *out) {
    const lw_rows *rows = a->s->rows;
    apply_B(a, x, a->f);
    memset(out, 0, 3 * (size_t)a->n * sizeof *out);
    for (int k = 0; k < a->forces; k++) {
        const lw_row *row = &rows->rows[a->force_row[k]];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_axpy(-a->f[k], rows->H + 6 * b, out + 3 * (rows->body[b] - 1));
    }
}

/* --- directions ----------------------------------------------------------------------------------- */

void lw_dual_basis(const double basis[9], double dual[9]) {
    for (int k = 0; k < 3; k++) lw_v3_cross(basis + (3 * k + 3) % 9, basis + (3 * k + 6) % 9, dual + 3 * k);
    double volume = lw_v3_dot(basis, dual);
    for (int k = 0; k < 9; k++) dual[k] /= volume;
}

/* Completes `count` independent vectors by unit vectors perpendicular to them and to each other. */
static void complete_basis(int count, double basis[9]) {
    if (count == 0) lw_m3_identity(basis);
    if (count == 1) {
        double unit[3], length = lw_v3_norm(basis);
        for (int k = 0; k < 3; k++) unit[k] = basis[k] / length;
        lw_v3_perpendicular(unit, basis + 3);
        lw_v3_cross(unit, basis + 3, basis + 6);
    }
    if (count == 2) {
        lw_v3_cross(basis, basis + 3, basis + 6);
        double length = lw_v3_norm(basis + 6);
        for (int k = 6; k < 9; k++) basis[k] /= length;
    }
}

/* Computes T2 and N: for each joint the pseudo-inverse of its directions, and the directions perpendicular to
 * them. */
void lw_augmented_directions(lw_augmented_bodies *a) {
    const lw_model *model = a->s->model;
    const lw_rows *rows = a->s->rows;
    for (int i = 1; i <= a->n; i++) {
        int j = model->bodies[i].joint_index, first = a->force_at[i], count = a->force_at[i + 1] - first;
        double sign = model->joints[j].info.bodies[1] == i ? 1 : -1, basis[9], dual[9];
        for (int k = 0; k < count; k++)
            lw_v3_copy(rows->joints[j].W + 6 * rows->rows[a->force_row[first + k]].component + 3,
                       basis + 3 * k);
        complete_basis(count, basis);
        lw_dual_basis(basis, dual);
        for (int k = 0; k < 3 * count; k++) a->reach[3 * first + k] = sign * dual[k];
        for (int k = 3 * count; k < 9; k++) a->slide[3 * a->slide_at[i] + k - 3 * count] = basis[k];
    }
}

/* Factors N'M N; returns false if some free translation moves no mass of its own. */
static bool factor_slides(lw_augmented_bodies *a) {
    const double rounding = 1e-14; /* relative to the mass that slides */
    size_t size = (size_t)a->slides;
    memset(a->slide_mass, 0, size * size * sizeof *a->slide_mass);
    for (int i = 1; i <= a->n; i++)
        for (int k = a->slide_at[i]; k < a->slide_at[i + 1]; k++)
            for (int at = i; at > 0; at = a->up[at])
                for (int l = a->slide_at[at]; l < a->slide_at[at + 1]; l++)
                    if (l <= k)
                        a->slide_mass[(size_t)k + (size_t)l * size] =
                            a->beyond[i] * lw_v3_dot(a->slide + 3 * k, a->slide + 3 * l);
    if (!lw_cholesky_factor(a->work, a->slides, a->slide_mass, NULL)) return false;
    for (int i = 1; i <= a->n; i++)
        for (int k = a->slide_at[i]; k < a->slide_at[i + 1]; k++) {
            double pivot = a->slide_mass[(size_t)k + (size_t)k * size];
            if (!(pivot * pivot > rounding * a->beyond[i])) return false;
        }
    return true;
}

/* --- K, general form ------------------------------------------------------------------------------ */

static double *block(const lw_augmented_bodies *a, int i, int j) {
    size_t rows = 3 * (size_t)a->n;
    return a->K + 3 * (size_t)(i - 1) + 3 * (size_t)(j - 1) * rows;
}

static void add_inertias(lw_augmented_bodies *a) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 1; i <= a->n; i++) {
        double *own = block(a, i, i);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                own[r + 3 * (size_t)a->n * (size_t)c] += a->s->inertia[6 * (i - 1) + symmetric[3 * r + c]];
    }
}

/* Computes D M D' column by column: f = H_w'e, D'e = -B'f. */
static void form_K(lw_augmented_bodies *a) {
    size_t size = 3 * (size_t)a->n;
    for (size_t column = 0; column < size; column++) {
        memset(a->z, 0, size * sizeof *a->z);
        memset(a->f, 0, (size_t)a->forces * sizeof *a->f);
        a->z[column] = -1;
        add_arms_transposed(a, a->z, a->f);
        apply_B_transposed(a, a->f, a->x);
        times_mass(a, a->x);
        lw_augmented_shift(a, a->x, a->K + column * size);
    }
    for (size_t j = 0; j < size; j++) /* One triangle is copied, so that K is exactly symmetric. */
        for (size_t i = 0; i < j; i++) a->K[i + j * size] = a->K[j + i * size];
    add_inertias(a);
}

/* --- K, blockwise --------------------------------------------------------------------------------- */

static double *d_of(const lw_augmented_bodies *a, int i, int k) {
    return a->d + 3 * ((size_t)(i - 1) + (size_t)a->n * (size_t)(k - 1));
}

/* Returns whether a joint of the tree of body i transmits a force to ground. */
static bool carried(const lw_augmented_bodies *a, int i) {
    int root = a->root[i];
    return a->force_at[root + 1] > a->force_at[root];
}

/* Computes the vectors to the joint of body i from its centre of mass (own) and from that of the body to
 * which it is attached (other). */
static void arms(const lw_augmented_bodies *a, int i, double own[3], double other[3]) {
    const lw_rows *rows = a->s->rows;
    const double *at = rows->joints[a->s->model->bodies[i].joint_index].at;
    lw_v3_sub(at, rows->bodies[i].r, own);
    lw_v3_sub(at, rows->bodies[a->up[i]].r, other);
}

/* Computes the vectors d_ik. a->own is first the vector from the centre of mass to the barycentre, then from
 * the barycentre to the body's own joint; a->out is the vector from the barycentre of the body to which i is
 * attached to the joint of i. */
static void find_barycentres(lw_augmented_bodies *a) {
    int n = a->n;
    double own[3], other[3];
    memset(a->own, 0, 3 * (size_t)n * sizeof *a->own);
    for (int i = 1; i <= n; i++) {
        double m = a->beyond[a->root[i]];
        arms(a, i, own, other);
        if (carried(a, i)) { /* There is an infinite mass beyond the joint. */
            lw_v3_copy(own, a->own + 3 * (i - 1));
            continue;
        }
        if (!a->up[i]) continue;
        lw_v3_axpy((m - a->beyond[i]) / m, own, a->own + 3 * (i - 1));
        lw_v3_axpy(a->beyond[i] / m, other, a->own + 3 * (a->up[i] - 1));
    }
    for (int i = 1; i <= n; i++) {
        double *d = d_of(a, i, i);
        arms(a, i, own, other);
        for (int k = 0; k < 3; k++) d[k] = -a->own[3 * (i - 1) + k];
        if (a->up[i]) lw_v3_sub(other, a->own + 3 * (a->up[i] - 1), a->out + 3 * (i - 1));
    }
    for (int i = 1; i <= n; i++) { /* own becomes the vector from the barycentre to the joint. */
        arms(a, i, own, other);
        lw_v3_sub(own, a->own + 3 * (i - 1), a->own + 3 * (i - 1));
    }
    for (int k = 1; k <= n; k++) {
        for (int i = 1; i <= n; i++) {
            if (i == k) continue;
            if (a->root[i] == a->root[k])
                lw_v3_copy(a->own + 3 * (i - 1), d_of(a, i, k));
            else
                lw_v3_set(d_of(a, i, k), 0, 0, 0);
        }
        for (int at = k; a->up[at]; at = a->up[at]) lw_v3_copy(a->out + 3 * (at - 1), d_of(a, a->up[at], k));
    }
}

/* K_ii -= m d~d~ (30) */
static void add_point(lw_augmented_bodies *a, int i, double m, const double d[3]) {
    double *own = block(a, i, i), square = lw_v3_dot(d, d);
    size_t rows = 3 * (size_t)a->n;
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 3; c++) own[r + rows * c] += m * ((r == c ? square : 0) - d[r] * d[c]);
}

/* Adds, for a pair of bodies with the sum of m_k d_ik d_jk' = b c', the blocks -b~c~ of K (31, 35) and the
 * velocity terms -b x (w_j x (w_j x c)) (34, 37). */
static void add_pair(lw_augmented_bodies *a, int i, int j, const double b[3], const double c[3]) {
    double *upper = block(a, i, j), *lower = block(a, j, i), dot = lw_v3_dot(b, c);
    size_t rows = 3 * (size_t)a->n;
    for (size_t r = 0; r < 3; r++)
        for (size_t k = 0; k < 3; k++)
            upper[r + rows * k] = lower[k + rows * r] = (r == k ? dot : 0) - c[r] * b[k];
    double first[3], second[3];
    const double *wi = a->s->rows->bodies[i].w, *wj = a->s->rows->bodies[j].w;
    lw_v3_cross(wj, c, first);
    lw_v3_cross(wj, first, second);
    lw_v3_add_cross(second, b, a->velocity + 3 * (i - 1));
    lw_v3_cross(wi, b, first);
    lw_v3_cross(wi, first, second);
    lw_v3_add_cross(second, c, a->velocity + 3 * (j - 1));
}

/* Computes K and the velocity terms of ball joints (36, 37). */
static void form_blocks(lw_augmented_bodies *a) {
    int n = a->n;
    memset(a->K, 0, 9 * (size_t)n * (size_t)n * sizeof *a->K);
    memset(a->moment, 0, 3 * (size_t)n * sizeof *a->moment);
    memset(a->velocity, 0, 3 * (size_t)n * sizeof *a->velocity);
    /* point masses on the augmented bodies; the moment is the sum of m_k d_ik */
    for (int i = 1; i <= n; i++) {
        double m = a->s->mass[i - 1];
        add_point(a, i, m, d_of(a, i, i));
        lw_v3_axpy(m, d_of(a, i, i), a->moment + 3 * (i - 1));
        if (!a->up[i]) continue;
        add_point(a, a->up[i], a->beyond[i], a->out + 3 * (i - 1));
        lw_v3_axpy(a->beyond[i], a->out + 3 * (i - 1), a->moment + 3 * (a->up[i] - 1));
        if (!carried(a, i)) add_point(a, i, a->beyond[a->root[i]] - a->beyond[i], a->own + 3 * (i - 1));
    }
    for (int i = 1; i <= n; i++) { /* (36) */
        double *own = block(a, i, i), turned[3] = {0, 0, 0};
        const double *w = a->s->rows->bodies[i].w;
        for (int c = 0; c < 3; c++) lw_v3_axpy(w[c], own + 3 * (size_t)n * (size_t)c, turned);
        lw_v3_add_cross(turned, w, a->velocity + 3 * (i - 1));
    }
    for (int j = 1; j <= n; j++) {
        if (carried(a, j)) {
            for (int i = a->up[j]; i > 0; i = a->up[i])
                add_pair(a, i, j, d_of(a, i, j), a->moment + 3 * (j - 1));
            continue;
        }
        double m = a->beyond[a->root[j]], opposite[3];
        for (int i = 1; i < j; i++) {
            if (a->root[i] != a->root[j]) continue;
            const double *d = d_of(a, j, i);
            for (int k = 0; k < 3; k++) opposite[k] = -m * d[k];
            add_pair(a, i, j, d_of(a, i, j), opposite);
        }
    }
    add_inertias(a);
}

/* --- one state ------------------------------------------------------------------------------------ */

/* Computes f = u3. In the blockwise form the part of ball joints, the sum of c_ij w_i x (w_i x l_ij) in (10),
 * is left out, since form_blocks computes its terms; motion of the base and Baumgarte's terms remain. */
static void translational_right(const lw_augmented_bodies *a, const double *gamma, bool without_balls,
                                double *f) {
    const lw_rows *rows = a->s->rows;
    for (int i = 1; i <= a->n; i++) {
        double own[3], other[3], first[3], centripetal[3] = {0, 0, 0};
        if (without_balls) {
            const double *w = rows->bodies[a->up[i]].w, *w_own = rows->bodies[i].w;
            arms(a, i, own, other);
            lw_v3_cross(w, other, first);
            lw_v3_cross(w, first, centripetal);
            lw_v3_cross(w_own, own, first);
            lw_v3_add_cross(first, w_own, centripetal);
        }
        for (int k = a->force_at[i]; k < a->force_at[i + 1]; k++) {
            const lw_row *row = &rows->rows[a->force_row[k]];
            bool second = a->s->model->joints[row->joint].info.bodies[1] == i;
            const double *direction = rows->joints[row->joint].W + 6 * row->component + 3;
            f[k] = -gamma[a->force_row[k]] + (second ? 1 : -1) * lw_v3_dot(direction, centripetal);
        }
    }
}

/* N* = D H*_r + H*_w */
static void form_stars(lw_augmented_bodies *a) {
    const lw_rows *rows = a->s->rows;
    size_t size = 3 * (size_t)a->n;
    for (int r = 0; r < a->stars; r++) {
        const lw_row *row = &rows->rows[rows->tree_count + r];
        double *column = a->N + (size_t)r * size;
        memset(column, 0, size * sizeof *column);
        memset(a->x, 0, size * sizeof *a->x);
        for (int b = row->block; b < row->block + row->count; b++) {
            int k = rows->body[b];
            const double *force = rows->H + 6 * b + 3;
            lw_v3_copy(force, a->x + 3 * (k - 1));
            for (int i = 1; a->blockwise && i <= a->n; i++)
                lw_v3_add_cross(d_of(a, i, k), force, column + 3 * (i - 1));
        }
        if (!a->blockwise) lw_augmented_shift(a, a->x, column);
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_axpy(1, rows->H + 6 * b, column + 3 * (rows->body[b] - 1));
    }
}

/* Computes S = H*_r'E H*_r from N'H*_r, the slides that lead to the bodies of a row. */
static void form_S(lw_augmented_bodies *a) {
    const lw_rows *rows = a->s->rows;
    size_t slides = (size_t)a->slides, stars = (size_t)a->stars;
    double *Y = a->slide_star, *X = Y + slides * stars;
    memset(Y, 0, slides * stars * sizeof *Y);
    for (int r = 0; r < a->stars; r++) {
        const lw_row *row = &rows->rows[rows->tree_count + r];
        double *y = Y + (size_t)r * slides;
        for (int b = row->block; b < row->block + row->count; b++)
            for (int at = rows->body[b]; at > 0; at = a->up[at])
                for (int k = a->slide_at[at]; k < a->slide_at[at + 1]; k++)
                    y[k] += lw_v3_dot(a->slide + 3 * k, rows->H + 6 * b + 3);
    }
    memcpy(X, Y, slides * stars * sizeof *X);
    lw_cholesky_solve(a->work, a->slides, a->slide_mass, a->stars, X);
    memset(a->S, 0, stars * stars * sizeof *a->S);
    if (slides > 0) lw_dense_multiply(true, false, a->stars, a->stars, a->slides, 1, Y, X, 0, a->S);
}

static void take_forces(const lw_augmented_bodies *a, const double *u, double *u1) {
    for (int i = 0; i < a->n; i++) lw_v3_copy(u + 6 * i + 3, u1 + 3 * i);
}

static void form_right_star(lw_augmented_bodies *a, const double *u, const double *gamma) {
    const lw_rows *rows = a->s->rows;
    translational_right(a, gamma, false, a->f);
    apply_B_transposed(a, a->f, a->x);
    take_forces(a, u, a->z);
    apply_E(a, a->z);
    for (int k = 0; k < 3 * a->n; k++) a->z[k] -= a->x[k];
    for (int r = 0; r < a->stars; r++) {
        const lw_row *row = &rows->rows[rows->tree_count + r];
        a->right_star[r] = -gamma[rows->tree_count + r];
        for (int b = row->block; b < row->block + row->count; b++)
            a->right_star[r] += lw_v3_dot(rows->H + 6 * b + 3, a->z + 3 * (rows->body[b] - 1));
    }
}

lw_status lw_augmented_at(lw_augmented_bodies *a, lw_error *error) {
    lw_augmented_directions(a);
    if (!factor_slides(a)) return lw_kkt_dense_singular(error);
    if (a->blockwise) {
        find_barycentres(a);
        form_blocks(a);
    } else
        form_K(a);
    if (a->stars > 0) {
        form_stars(a);
        form_S(a);
    }
    return LW_OK;
}

void lw_augmented_right(lw_augmented_bodies *a, const double *u, const double *gamma) {
    bool blocks = a->blockwise && gamma == a->s->rows->gamma;
    if (a->stars > 0) form_right_star(a, u, gamma);
    translational_right(a, gamma, blocks, a->f);
    apply_B_transposed(a, a->f, a->x);
    times_mass(a, a->x);
    take_forces(a, u, a->z);
    for (int k = 0; k < 3 * a->n; k++) a->x[k] += a->z[k];
    lw_augmented_shift(a, a->x, a->right);
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < 3; k++)
            a->right[3 * i + k] += u[6 * i + k] + (blocks ? a->velocity[3 * i + k] : 0);
}

void lw_augmented_expand(lw_augmented_bodies *a, const double *u, const double *gamma, const double *wdot,
                         const double *lambda_star, double *acceleration, double *lambda) {
    const lw_rows *rows = a->s->rows;
    double *p = a->z, *x = a->x, *Ep = a->w;
    take_forces(a, u, p);
    for (int r = 0; r < a->stars; r++) {
        const lw_row *row = &rows->rows[rows->tree_count + r];
        lambda[rows->tree_count + r] = lambda_star[r];
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v3_axpy(lambda_star[r], rows->H + 6 * b + 3, p + 3 * (rows->body[b] - 1));
    }
    translational_right(a, gamma, false, a->f);
    add_arms_transposed(a, wdot, a->f);
    apply_B_transposed(a, a->f, x); /* B'g */
    memcpy(Ep, p, 3 * (size_t)a->n * sizeof *Ep);
    apply_E(a, Ep);
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < 3; k++) {
            acceleration[6 * i + k] = wdot[3 * i + k];
            acceleration[6 * i + 3 + k] = Ep[3 * i + k] - x[3 * i + k];
        }
    times_mass(a, x);
    for (int k = 0; k < 3 * a->n; k++) p[k] += x[k];
    apply_B(a, p, a->f); /* A g = B M B'g */
    for (int k = 0; k < a->forces; k++) lambda[a->force_row[k]] = -a->f[k];
}
