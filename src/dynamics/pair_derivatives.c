/* pair_derivatives.c - derivatives of what acts between two bodies of the tree, force elements or rows of
 * closures and constraints, by motions and speeds of the tree.
 *
 *   d(S_k . W) = S_k . dW - S_k . (S_j x* W) if k is behind j
 *
 * Source   docs/theory/derivatives.md, 7-9 and 15; what dW is for each kind, force_derivatives.c and
 *          constraints/loop_derivatives.c know.
 * Cost     O(path^2) for a pair whose bodies are `path` speeds apart; no allocation.
 */
#include "dynamics/tree_derivatives.h"

#include <string.h>

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
    const size_t stride = (size_t)d->stride, column = (size_t)j + (speed ? (size_t)d->model->nv : 0);
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
            d->T[(size_t)k * stride + column] -= sign * force;
        }
    }
}

/* The change of the wrench as a load of both bodies; behind all columns stands the wrench itself. */
static void add_load(lw_tree_derivatives *d, const lw_pair *pair, size_t column, double factor,
                     const double dW[6]) {
    const size_t columns = (size_t)d->columns + 1;
    for (size_t c = 0; c < 6; c++) {
        const double change = factor * dW[c];
        d->loads[(6 * (size_t)pair->plus + c) * columns + column] += change;
        d->loads[(6 * (size_t)pair->minus + c) * columns + column] -= change;
        if (pair->own) pair->own[c * columns + column] += change;
    }
}

/* A motion that carries both bodies turns the wrench with them. */
static void turn_load(lw_tree_derivatives *d, const lw_pair *pair, const lw_link *link) {
    for (int j = link->v; j < link->v + link->joint.nv && d->loads; j++) {
        double turned[6];
        lw_wrench_cross(d->motions[j].S, pair->W, turned);
        add_load(d, pair, (size_t)j, 1, turned);
    }
}

void lw_pair_derivatives(lw_tree_derivatives *d, const lw_pair *pair, lw_pair_change *change,
                         const void *context, const lw_row_matrices *matrices) {
    static const lw_variation none;
    if (d->loads) add_load(d, pair, (size_t)d->columns, 1, pair->W);
    const int count = mark(d, pair), nv = d->model->nv;
    for (int b = 0; b < count; b++) {
        const int i = d->path[b], side = d->side[i];
        const lw_link *link = &d->model->links[i];
        if (pair->invariant && side == (PLUS | MINUS)) {
            turn_load(d, pair, link);
            continue;
        }
        for (int j = link->v; j < link->v + link->joint.nv; j++)
            for (int speed = 0; speed < 2; speed++) {
                lw_variation plus = none, minus = none;
                double dW[6] = {0}, rows[12] = {0};
                if (side & PLUS) vary(d, &d->motions[j], pair->plus, speed, &plus);
                if (side & MINUS) vary(d, &d->motions[j], pair->minus, speed, &minus);
                change(context, &plus, &minus, dW, rows);
                add_column(d, pair, count, j, speed, dW);
                if (d->loads) add_load(d, pair, (size_t)(j + speed * nv), 1, dW);
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
    for (int c = 0; c < d->columns && d->loads; c++)
        if (row[c] != 0) add_load(d, pair, (size_t)c, row[c], W);
    for (int b = 0; b < count; b++) {
        const int i = d->path[b];
        const lw_link *link = &d->model->links[i];
        if (d->side[i] == (PLUS | MINUS)) continue;
        for (int k = link->v; k < link->v + link->joint.nv; k++) {
            const double force = (d->side[i] == PLUS ? 1 : -1) * lw_v6_dot(d->motions[k].S, W);
            double *T = d->T + (size_t)k * (size_t)d->stride;
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
