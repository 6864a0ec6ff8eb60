/* code_forward.c - forward dynamics of the tree as nodes: by articulated bodies, or by the mass matrix.
 *
 * Source   docs/theory/tree.md, 14-20 (articulated bodies); composite bodies with the factors L'DL of the
 *          mass matrix, which have no other non-zeros than it: docs/theory/generated-c.md, 5.
 * Symbols  I^ = [A B; B' C] articulated inertia, f^ its bias wrench, U = I^ S, D = S'U, u = tau - S'f^.
 * Choice   Of short chains the second takes fewer operations, of long ones the first: who generates code
 *          makes both and counts.
 */
#include "export/code/code_loop.h"
#include "export/code/code_tree_parts.h"

#include <stdlib.h>

enum { MOST = LW_JOINT_MAX_V };

typedef struct articulated {
    code_node A[6], B[9], C[6], f[6]; /* what children have added */
    code_node U[6 * MOST], u[MOST];
    code_node L[MOST * MOST], inv[MOST]; /* D = L diag(1 / inv) L' */
    code_node x[6], c[6];                /* acceleration; bias */
    int columns[MOST], count;            /* the speeds that are not prescribed */
    bool whole;                          /* its joint lets it move freely: D is I^ itself */
} articulated;

/* S = L diag(1 / inv) L' of a symmetric n x n matrix, row by row, which L may be; pivots receive the
 * diagonal. */
static void factor(code_graph *g, int n, code_node *S, code_node *inv, code_node *pivots) {
    for (int k = 0; k < n; k++) {
        pivots[k] = S[n * k + k];
        inv[k] = code_div(g, code_constant(g, 1), S[n * k + k]);
        code_node row[MOST];
        for (int i = k + 1; i < n; i++) row[i] = code_mul(g, S[n * i + k], inv[k]);
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j <= i; j++)
                S[n * i + j] = code_sub(g, S[n * i + j], code_mul(g, row[i], S[n * j + k]));
        for (int i = k + 1; i < n; i++) S[n * i + k] = row[i];
    }
}
/* L x = x. */
static void solve_lower(code_graph *g, int n, const code_node *L, code_node *x) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) x[i] = code_sub(g, x[i], code_mul(g, L[n * i + j], x[j]));
}
static void solve_upper(code_graph *g, int n, const code_node *L, code_node *x) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) x[i] = code_sub(g, x[i], code_mul(g, L[n * j + i], x[j]));
}

/* (n; f) = I^ (x; y). */
static void inertia_times(code_graph *g, const articulated *I, const code_node x[6], code_node out[6]) {
    code_node t[3];
    code_sym_mul(g, I->A, x, out);
    code3_turn(g, I->B, x + 3, t);
    code3_add(g, out, t, out);
    code_sym_mul(g, I->C, x + 3, out + 3);
    code3_turn_back(g, I->B, x, t);
    code3_add(g, out + 3, t, out + 3);
}

/* Entry (i, j) of the 6 x 6 matrix. */
static code_node *entry(articulated *I, int i, int j) {
    if (i < 3 && j < 3) return &I->A[code_sym(i, j)];
    if (i >= 3 && j >= 3) return &I->C[code_sym(i - 3, j - 3)];
    return i < 3 ? &I->B[3 * i + j - 3] : &I->B[3 * j + i - 3];
}

/* E B E' of any matrix. Of a rotation about a coordinate axis the symmetric part in the plane turns by twice
 * the angle, the skew part stays. */
static void turn_matrix(code_graph *g, const code_node E[9], const code_node B[9], code_node out[9]) {
    const int a = code_axis_of(g, E);
    code_node rows[9];
    if (a < 0) {
        code33_mul(g, E, B, rows);
        for (int i = 0; i < 3; i++) code3_turn(g, E, rows + 3 * i, out + 3 * i);
        return;
    }
    const int i = (a + 1) % 3, j = (a + 2) % 3;
    const code_node c = E[4 * i], s = E[3 * j + i], half = code_constant(g, 0.5);
    const code_node mean = code_mul(g, half, code_add(g, B[3 * i + j], B[3 * j + i])),
                    skew = code_mul(g, half, code_sub(g, B[3 * i + j], B[3 * j + i]));
    code_node plane[6] = {0}, turned[6];
    plane[i] = B[4 * i], plane[j] = B[4 * j], plane[code_sym(i, j)] = mean;
    code_turn_symmetric(g, E, plane, turned);
    out[4 * a] = B[4 * a];
    out[4 * i] = turned[i], out[4 * j] = turned[j];
    out[3 * i + j] = code_add(g, turned[code_sym(i, j)], skew);
    out[3 * j + i] = code_sub(g, turned[code_sym(i, j)], skew);
    out[3 * a + i] = code_sub(g, code_mul(g, c, B[3 * a + i]), code_mul(g, s, B[3 * a + j]));
    out[3 * a + j] = code_add(g, code_mul(g, s, B[3 * a + i]), code_mul(g, c, B[3 * a + j]));
    out[3 * i + a] = code_sub(g, code_mul(g, c, B[3 * i + a]), code_mul(g, s, B[3 * j + a]));
    out[3 * j + a] = code_add(g, code_mul(g, s, B[3 * i + a]), code_mul(g, c, B[3 * j + a]));
}

/* Adds I^ of a body to that of its parent: with B^ = E B E', C^ = E C E' and X = B^ + r~ C^,
 *     A += E A E' + r~ B^' - X r~,   B += X,   C += C^. */
static void add_to_parent(code_graph *g, const code_body *own, const articulated *I, articulated *parent) {
    code_node A[6], B[9], C[6], X[9], P[9], Q[9];
    const code_node *r = own->r;
    code_turn_symmetric(g, own->E, I->A, A);
    turn_matrix(g, own->E, I->B, B);
    code_turn_symmetric(g, own->E, I->C, C);
    for (int j = 0; j < 3; j++) { /* r~ C, column by column */
        const code_node column[3] = {C[code_sym(0, j)], C[code_sym(1, j)], C[code_sym(2, j)]};
        code_node t[3];
        code3_cross(g, r, column, t);
        for (int i = 0; i < 3; i++) X[3 * i + j] = code_add(g, B[3 * i + j], t[i]);
    }
    for (int i = 0; i < 3; i++) {
        code3_cross(g, r, B + 3 * i, P + 3 * i); /* column i of r~ B' */
        code3_cross(g, r, X + 3 * i, Q + 3 * i); /* row i of -X r~ */
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++)
            A[code_sym(i, j)] = code_add(g, A[code_sym(i, j)], code_add(g, P[3 * j + i], Q[3 * i + j]));
    for (int k = 0; k < 6; k++) {
        parent->A[k] = code_add(g, parent->A[k], A[k]);
        parent->C[k] = code_add(g, parent->C[k], C[k]);
    }
    for (int k = 0; k < 9; k++) parent->B[k] = code_add(g, parent->B[k], X[k]);
}

/* The number of the component in which a column of S is 1 or -1 while all others are 0, or -1. */
static int unit_of(const code_graph *g, const code_node s[6]) {
    int at = -1;
    for (int k = 0; k < 6; k++) {
        if (s[k] == 0) continue;
        if (at >= 0 || !(code_is(g, s[k], 1) || code_is(g, s[k], -1))) return -1;
        at = k;
    }
    return at;
}

static void eliminate(code_build *b, int i, articulated *all, const code_inertia *inertia,
                      const code_node *tau, code_node *pivots) {
    code_graph *g = b->g;
    const lw_link *link = &b->model->links[i];
    const code_body *own = &b->bodies[i], *parent = &b->bodies[link->parent];
    articulated *I = &all[i];
    code_node h[3], f[6], t[6], pivot[6];
    /* the body's own inertia and wrench */
    code3_copy(inertia[i].moment, h);
    for (int k = 0; k < 6; k++) I->A[k] = code_add(g, I->A[k], inertia[i].second[k]);
    for (int k = 0; k < 3; k++) {
        const int j = (k + 1) % 3, l = (k + 2) % 3;
        I->B[3 * j + k] = code_add(g, I->B[3 * j + k], h[l]); /* h~ */
        I->B[3 * k + j] = code_sub(g, I->B[3 * k + j], h[l]);
        I->C[k] = code_add(g, I->C[k], inertia[i].mass);
    }
    code_wrench(g, &inertia[i], own->w, NULL, f);
    for (int k = 0; k < 6; k++) I->f[k] = code_add(g, I->f[k], code_sub(g, f[k], own->load[k]));
    /* the bias of the joint, prescribed accelerations included */
    const code_node none[6] = {0};
    code_carry(g, own, none, parent->w, I->c);
    I->count = 0;
    for (int k = 0; k < link->joint.nv; k++) {
        if (!(link->prescribed >> k & 1))
            I->columns[I->count++] = k;
        else
            for (int l = 0; l < 6; l++)
                I->c[l] = code_add(g, I->c[l], code_mul(g, own->S[6 * k + l], b->vdot[link->v + k]));
    }
    const int n = I->count;
    bool rotor = false;
    for (int k = 0; k < link->joint.nv; k++) rotor |= b->armature[link->v + k] != 0;
    I->whole =
        n == 6 && lw_joint_is_free(link->joint.type) && !link->joint.inverse && !rotor && !link->parent;
    if (I->whole) { /* I^ x = S^-T tau - f^, then vdot from x */
        for (int r = 0; r < 6; r++)
            for (int c = 0; c <= r; c++) I->L[6 * r + c] = *entry(I, r, c);
        factor(g, 6, I->L, I->inv, pivot);
        for (int k = 0; k < 6; k++) pivots[link->v + k] = pivot[k];
        /* tau of a free joint: force along the parent's axes, torque in the body's; E turns the former. */
        code_node force[3];
        for (int k = 0; k < 3; k++) {
            force[k] = code_add(g, tau[link->v + k], b->tau[link->v + k]);
            I->u[k] = code_add(g, tau[link->v + 3 + k], b->tau[link->v + 3 + k]);
        }
        for (int k = 0; k < 3; k++) { /* S' of slides are rows R'e_k: the columns of S themselves */
            I->u[3 + k] = 0;
            for (int l = 0; l < 3; l++)
                I->u[3 + k] = code_add(g, I->u[3 + k], code_mul(g, own->S[6 * l + 3 + k], force[l]));
        }
        for (int k = 0; k < 6; k++) I->u[k] = code_sub(g, I->u[k], I->f[k]);
        return;
    }
    for (int k = 0; k < n; k++) {
        const int at = link->v + I->columns[k];
        const code_node *s = own->S + 6 * I->columns[k];
        inertia_times(g, I, s, I->U + 6 * k);
        for (int l = 0; l <= k; l++) I->L[n * k + l] = code6_dot(g, own->S + 6 * I->columns[l], I->U + 6 * k);
        I->L[n * k + k] = code_add(g, I->L[n * k + k], b->armature[at]);
        I->u[k] = code_sub(g, code_add(g, tau[at], b->tau[at]), code6_dot(g, s, I->f));
    }
    factor(g, n, I->L, I->inv, pivot);
    for (int k = 0; k < n; k++) pivots[link->v + I->columns[k]] = pivot[k];
    /* U L^-T and L^-1 u, so that the product U D^-1 U' is a sum over columns */
    code_node W[6 * MOST], z[MOST];
    for (int k = 0; k < n; k++) {
        z[k] = I->u[k];
        for (int l = 0; l < 6; l++) W[6 * k + l] = I->U[6 * k + l];
        for (int m = 0; m < k; m++) {
            z[k] = code_sub(g, z[k], code_mul(g, I->L[n * k + m], z[m]));
            for (int l = 0; l < 6; l++)
                W[6 * k + l] = code_sub(g, W[6 * k + l], code_mul(g, I->L[n * k + m], W[6 * m + l]));
        }
    }
    if (!link->parent) return;
    bool gone[6] = {false}; /* rows in which I^ S D^-1 S' I^ takes all there is */
    for (int k = 0; k < n; k++) {
        const int at = unit_of(g, own->S + 6 * I->columns[k]), speed = link->v + I->columns[k];
        if (at >= 0 && b->armature[speed] == 0) gone[at] = true;
    }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < 6; l++) {
            if (gone[l]) continue;
            const code_node scaled = code_mul(g, W[6 * k + l], I->inv[k]);
            for (int m = 0; m <= l; m++)
                if (!gone[m])
                    *entry(I, l, m) = code_sub(g, *entry(I, l, m), code_mul(g, scaled, W[6 * k + m]));
        }
    for (int l = 0; l < 6; l++)
        for (int m = 0; m < 6 && gone[l]; m++) *entry(I, l, m) = 0;
    /* f^ + I^ c + U D^-1 u */
    inertia_times(g, I, I->c, t);
    for (int l = 0; l < 6; l++) f[l] = code_add(g, I->f[l], t[l]);
    for (int k = 0; k < n; k++) {
        const code_node scaled = code_mul(g, z[k], I->inv[k]);
        for (int l = 0; l < 6; l++) f[l] = code_add(g, f[l], code_mul(g, W[6 * k + l], scaled));
    }
    add_to_parent(g, own, I, &all[link->parent]);
    code_to_parent(g, own, f, all[link->parent].f);
}

static void accelerate(code_build *b, int i, articulated *all, code_node *vdot) {
    code_graph *g = b->g;
    const lw_link *link = &b->model->links[i];
    const code_body *own = &b->bodies[i];
    articulated *I = &all[i];
    const code_node at_rest[3] = {0, 0, 0};
    code_body plain = *own; /* c stands in I->c */
    for (int k = 0; k < 6; k++) plain.bias[k] = I->c[k];
    code_carry(g, &plain, all[link->parent].x, at_rest, I->x);
    const int n = I->count;
    code_node z[MOST];
    if (I->whole) {
        code_node x[6];
        for (int k = 0; k < 6; k++) x[k] = I->u[k];
        solve_lower(g, 6, I->L, x);
        for (int k = 0; k < 6; k++) x[k] = code_mul(g, x[k], I->inv[k]);
        solve_upper(g, 6, I->L, x);
        for (int k = 0; k < 3; k++) {
            code_node gap[3];
            vdot[link->v + 3 + k] = code_sub(g, x[k], I->x[k]);
            code3_sub(g, x + 3, I->x + 3, gap);
            vdot[link->v + k] = code3_dot(g, own->S + 6 * k + 3, gap);
        }
        for (int k = 0; k < 6; k++) I->x[k] = x[k];
        return;
    }
    for (int k = 0; k < n; k++) z[k] = code_sub(g, I->u[k], code6_dot(g, I->U + 6 * k, I->x));
    solve_lower(g, n, I->L, z);
    for (int k = 0; k < n; k++) z[k] = code_mul(g, z[k], I->inv[k]);
    solve_upper(g, n, I->L, z);
    for (int k = 0; k < n; k++) {
        vdot[link->v + I->columns[k]] = z[k];
        for (int l = 0; l < 6; l++)
            I->x[l] = code_add(g, I->x[l], code_mul(g, own->S[6 * I->columns[k] + l], z[k]));
    }
    for (int k = 0; k < link->joint.nv; k++)
        if (link->prescribed >> k & 1) vdot[link->v + k] = b->vdot[link->v + k];
}

void code_forward_articulated(code_build *b, const code_node *tau, code_node *vdot, code_node *pivots) {
    const int n = b->model->body_count;
    articulated *all = calloc((size_t)n + 1, sizeof *all);
    code_inertia *inertia = code_regrouped(b, true);
    if (!all) b->g->failed = true;
    for (int k = 0; k < b->model->nv; k++) pivots[k] = -1;
    if (all && inertia) {
        for (int i = n; i >= 1; i--) eliminate(b, i, all, inertia, tau, pivots);
        for (int k = 0; k < 3; k++) all[0].x[3 + k] = code_neg(b->g, b->gravity[k]);
        for (int i = 1; i <= n; i++) accelerate(b, i, all, vdot);
    }
    free(all);
    free(inertia);
}

void code_list_ancestors(const code_build *b, int *before, bool *free_speed) {
    const lw_model *model = b->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int last = -1; /* the last free speed of the bodies that carry this one */
        for (int at = link->parent; at && last < 0; at = model->links[at].parent)
            for (int k = model->links[at].joint.nv - 1; k >= 0 && last < 0; k--)
                if (!(model->links[at].prescribed >> k & 1)) last = model->links[at].v + k;
        for (int k = 0; k < link->joint.nv; k++) {
            free_speed[link->v + k] = !(link->prescribed >> k & 1);
            before[link->v + k] = last;
            if (free_speed[link->v + k]) last = link->v + k;
        }
    }
}

static void by_factors(code_build *b, const code_node *tau, code_node *vdot, code_node *pivots,
                       code_node *mass, code_node *x, int *before, bool *free_speed) {
    code_graph *g = b->g;
    const int n = b->model->nv;
    for (int k = 0; k < n; k++) vdot[k] = b->vdot[k] >= 0 ? b->vdot[k] : 0;
    code_list_ancestors(b, before, free_speed);
    code_mass_matrix(b, true, mass);
    code_inverse(b, vdot, true, true, x);
    for (int k = 0; k < n; k++) x[k] = code_sub(g, tau[k], x[k]);
    for (int k = n - 1; k >= 0; k--) {
        pivots[k] = -1;
        if (!free_speed[k]) continue;
        pivots[k] = mass[n * k + k];
        const code_node inv = code_div(g, code_constant(g, 1), pivots[k]);
        for (int i = before[k]; i >= 0; i = before[i]) {
            const code_node a = code_mul(g, mass[n * k + i], inv);
            for (int j = i; j >= 0; j = before[j])
                mass[n * i + j] = code_sub(g, mass[n * i + j], code_mul(g, a, mass[n * k + j]));
            x[i] = code_sub(g, x[i], code_mul(g, a, x[k]));
        }
        for (int i = before[k]; i >= 0; i = before[i]) mass[n * k + i] = code_mul(g, mass[n * k + i], inv);
        x[k] = code_mul(g, x[k], inv);
    }
    for (int k = 0; k < n; k++) {
        if (!free_speed[k]) continue;
        vdot[k] = x[k];
        for (int i = before[k]; i >= 0; i = before[i])
            vdot[k] = code_sub(g, vdot[k], code_mul(g, mass[n * k + i], vdot[i]));
    }
}

void code_forward_composite(code_build *b, const code_node *tau, code_node *vdot, code_node *pivots) {
    const size_t n = (size_t)b->model->nv + 1;
    code_node *mass = calloc(n * n, sizeof *mass), *x = calloc(n, sizeof *x);
    int *before = calloc(n, sizeof *before);
    bool *free_speed = calloc(n, sizeof *free_speed);
    if (!mass || !x || !before || !free_speed)
        b->g->failed = true;
    else
        by_factors(b, tau, vdot, pivots, mass, x, before, free_speed);
    free(mass);
    free(x);
    free(before);
    free(free_speed);
}
