/* massless_passing.h - the recursions pass over bodies without any mass or inertia whose joint is rigid for them.
 *
 *   X_c <- X_c X_b,    bias_c <- bias_c + X_c bias_b        c a child of such a body b
 *
 * Then c hands inertia and wrench over to b's parent, and takes accelerations from there, as if b were not there; b itself hands over the
 * wrench of the elements that act on it.
 *
 * Source   Arnold (2013), eq. 24; docs/theory/massless.md, (6a). Symbols of tree_recursion.h.
 * Cost     O(1) per body.
 * Limits   about one axis the joints of b and c turn or slide both, or c goes by its place: so does any joint that can take up all of b's.
 */
#ifndef LW_MASSLESS_PASSING_H
#define LW_MASSLESS_PASSING_H

#include "formulations/massless/massless_joints.h"

/* Per body. */
enum {
    PASSED = 1, /* it is passed over */
    BEYOND = 2, /* its parent is */
    SILENT =
        4, /* passed, and its children's velocities follow without its own: they turn about its own axis */
    COAXIAL = 8,  /* its parent is silent, ... */
    CARRIED = 16, /* ... and the parent of that moves in some direction without mass */
    DIRECT =
        32,   /* silent, its only child the next body, which hands over to its parent at once; that child */
    BARE = 64 /* it has neither mass nor inertia, and carries others */
};

static bool is_bare(const lw_link *link) {
    const lw_rigid_inertia *own = &link->inertia;
    bool bare = own->mass == 0 && lw_v3_dot(own->moment, own->moment) == 0;
    for (int k = 0; k < 6; k++) bare &= own->second[k] == 0;
    return bare && link->slot >= 0;
}

/* Does the body of a hinge carry nothing but hinges about the same line, none of which is passed over? */
static void find_silent(const lw_null_shape *shape, unsigned char *passing) {
    const lw_model *model = shape->model;
    for (int i = 1; i <= model->body_count; i++)
        if (model->links[i].kernel < LW_KERNEL_PRISMATIC && passing[i] == PASSED) passing[i] |= SILENT;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int j = (link->kernel + 1) % 3, k = (link->kernel + 2) % 3; /* where it is a hinge */
        bool coaxial = link->kernel < LW_KERNEL_PRISMATIC && !(passing[i] & PASSED) &&
                       fabs(link->p[j]) + fabs(link->p[k]) < 1e-13 * shape->length; /* rounding */
        if (!coaxial) passing[link->parent] &= (unsigned char)~SILENT;
    }
}

/* Which bodies are passed over; returns how many. A free joint hands over a wrench alone, which costs less than to pass it. */
static int find_passing(const lw_null_shape *shape, unsigned char *passing) {
    const lw_model *model = shape->model;
    int count = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        if (is_bare(link) && shape->left_out[i] && is_rigid(link, shape->left_out[i]) &&
            link->kernel != LW_KERNEL_FREE)
            passing[i] = PASSED;
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        if (link->kernel < LW_KERNEL_SPHERICAL && link->kernel != model->links[link->parent].kernel)
            passing[link->parent] = 0;
    }
    for (int i = 1; i <= model->body_count; i++) {
        if (passing[model->links[i].parent] & PASSED) passing[i] |= BEYOND;
        count += passing[i] & PASSED;
    }
    find_silent(shape, passing);
    for (int m = 0; m < (shape->count ? shape->moved_start[shape->count] : 0); m++)
        passing[shape->body[m]] |= CARRIED; /* for a moment: it moves */
    for (int i = model->body_count; i >= 1; i--) {
        int parent = model->links[i].parent, carrier = model->links[parent].parent;
        passing[i] &= (unsigned char)~CARRIED;
        if (!(passing[parent] & SILENT)) continue;
        passing[i] |= passing[carrier] & CARRIED ? COAXIAL | CARRIED : COAXIAL;
        if (parent == i - 1 && model->links[i].first) /* the last child that the pass meets, and the first */
            passing[i] |= DIRECT, passing[parent] |= DIRECT;
    }
    for (int i = 1; i <= model->body_count; i++)
        if (is_bare(&model->links[i])) passing[i] |= BARE;
    return count;
}

/* The place of a body's joint seen from whom it hands over to. */
INLINE const double *passing_point(const recursion *r, const unsigned char *passing, int i) {
    const lw_link *link = &r->model->links[i];
    return link->kernel < LW_KERNEL_PRISMATIC && !(passing[i] & BEYOND) ? link->p : r->places[i].p;
}
/* x in its axes, seen from there. */
INLINE void passing_turn(const recursion *r, int i, const double x[3], double out[3]) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel < LW_KERNEL_PRISMATIC)
        turn(link->kernel, r->cosine[link->v], r->sine[link->v], x, out);
    else if (link->kernel < LW_KERNEL_SPHERICAL)
        lw_v3_copy(x, out);
    else
        r3_turn(r->places[i].R, x, out);
}

/* Place and bias of a body beyond one that is passed over, from that one's parent on. */
INLINE void revolute_pass(const recursion *r, int i, const unsigned char *passing, int a) {
    const lw_link *link = &r->model->links[i], *between = &r->model->links[link->parent];
    const node *from = &r->nodes[link->parent];
    double *bias = r->nodes[i].bias, *c = r->cosine + link->v, *s = r->sine + link->v, x[3], y[3], z[3];
    double c1 = r->cosine[between->v], s1 = r->sine[between->v];
    lw_v3_copy(from->bias + 3, x);
    lw_v3_add_cross(from->bias, link->p, x);
    turn_back(a, *c, *s, from->bias, y);
    turn_back(a, *c, *s, x, z);
    for (int k = 0; k < 3; k++) bias[k] += y[k], bias[3 + k] += z[k];
    turn(a, c1, s1, link->p, x);
    lw_v3_add(passing_point(r, passing, link->parent), x, r->places[i].p);
    double cosine = c1 * *c - s1 * *s;
    *s = s1 * *c + c1 * *s;
    *c = cosine;
}
INLINE void prismatic_pass(const recursion *r, int i, const unsigned char *passing, int a) {
    (void)passing, (void)a; /* no turning */
    int from = r->model->links[i].parent;
    lw_v3_add(r->nodes[from].bias + 3, r->nodes[i].bias + 3, r->nodes[i].bias + 3);
    lw_v3_add(r->places[from].p, r->places[i].p, r->places[i].p);
}
static void general_pass(const recursion *r, int i, const unsigned char *passing) {
    int from = r->model->links[i].parent;
    const double *before = r->nodes[from].bias;
    double *bias = r->nodes[i].bias, *R = r->places[i].R, *p = r->places[i].p, x[3], y[3], z[3];
    lw_v3_copy(before + 3, x);
    lw_v3_add_cross(before, p, x);
    r3_turn_back(R, before, y);
    r3_turn_back(R, x, z);
    for (int k = 0; k < 3; k++) bias[k] += y[k], bias[3 + k] += z[k];
    passing_turn(r, from, p, x);
    lw_v3_add(passing_point(r, passing, from), x, p);
    for (int k = 0; k < 3; k++) {
        const double column[3] = {R[k], R[3 + k], R[6 + k]};
        passing_turn(r, from, column, x);
        R[k] = x[0], R[3 + k] = x[1], R[6 + k] = x[2];
    }
}

/* What the children of a passed body have handed to it belongs to its parent, and so does what elements do to it. */
static void pass_over(const recursion *r, const unsigned char *passing, int i) {
    const lw_link *link = &r->model->links[i];
    if (link->parent == 0) return;
    sum *own = &r->sums[link->slot], *parent = &r->sums[r->model->links[link->parent].slot];
    if (r->load) {
        const double *load = r->load + 6 * i;
        double n[3], f[3], *to = passing[i] & DIRECT ? parent->f : own->f;
        passing_turn(r, i, load, n);
        passing_turn(r, i, load + 3, f);
        lw_v3_add_cross(passing_point(r, passing, i), f, n);
        for (int k = 0; k < 3; k++) to[k] -= n[k], to[3 + k] -= f[k];
    }
    if (passing[i] & DIRECT) return;
    if (link->first)
        *parent = *own;
    else {
        for (int k = 0; k < 6; k++)
            parent->f[k] += own->f[k], parent->A[k] += own->A[k], parent->C[k] += own->C[k];
        for (int k = 0; k < 9; k++) parent->B[k] += own->B[k];
    }
}

/* A hinge beyond: the place of its joint, and whom it hands over to by `via`; other joints go by their place anyway. */
INLINE void hinge_point(const recursion *r, const unsigned char *passing, int i, double at[3]) {
    const lw_link *link = &r->model->links[i];
    if (passing[i] & COAXIAL)
        lw_v3_add(r->model->links[link->parent].p, link->p, at);
    else
        lw_v3_copy(r->places[i].p, at);
}
static void hinge_beyond_eliminate(const recursion *r, const unsigned char *passing, int i, int *bad) {
    const lw_link *link = &r->model->links[i],
                  *via = passing[i] & DIRECT ? &r->model->links[link->parent] : link;
    double at[3];
    hinge_point(r, passing, i, at);
    if (link->kernel == LW_KERNEL_REVOLUTE)
        revolute_eliminate_at(r, i, bad, via, at, 0);
    else if (link->kernel == LW_KERNEL_REVOLUTE + 1)
        revolute_eliminate_at(r, i, bad, via, at, 1);
    else
        revolute_eliminate_at(r, i, bad, via, at, 2);
}
static void hinge_beyond_accelerate(const recursion *r, const unsigned char *passing, int i) {
    const lw_link *link = &r->model->links[i],
                  *via = passing[i] & COAXIAL ? &r->model->links[link->parent] : link;
    double at[3];
    hinge_point(r, passing, i, at);
    if (link->kernel == LW_KERNEL_REVOLUTE)
        revolute_accelerate_at(r, i, via, at, 0);
    else if (link->kernel == LW_KERNEL_REVOLUTE + 1)
        revolute_accelerate_at(r, i, via, at, 1);
    else
        revolute_accelerate_at(r, i, via, at, 2);
}

#endif
