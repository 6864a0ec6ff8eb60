/* rcr_rank.c - which rows of closed loops are independent at a position; this depends on geometry only, not
 * on masses.
 *
 *   front of loop t:  R_t = G_t - sum over loops u < t of R_t(D_u) R_u                               (15)
 *   its pivots        the largest remaining entry is next, rows and speeds in any order; D_t are the speeds
 *                     of the pivots
 *
 * Lengths are relative to the size of the loop, so that an entry is an angle. A row of which less than
 * `least` remains depends on others: 1e-4 is the gap up to which a loop may be open, and the distance from a
 * singular position, in rad. In the compliances of the passes (8) the same limit would be 1e-8 times the
 * ratio of the masses.
 *
 * Source   docs/theory/rcr.md, 4; the fronts are those of rcr_dependent_speeds.c with all speeds of the
 *          paths.
 * Cost     O(n + m) for loops of bounded width; only create allocates.
 */
#include "formulations/rcr/rcr_rank.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6 };

/* --- size of the loops ------------------------------------------------------------------------------- */

/* The longest path along links from a joint of loop t to the points where its rows act. */
static double size_of(const lw_choice *c, const double *K, int t) {
    const lw_rcr_front *front = &c->fronts[t];
    double size = 0;
    for (int e = front->end; e < front->end + front->ends; e++) {
        const lw_path_end *end = &c->ends[e];
        double reach = 0;
        for (int r = 0; r < c->loops->loops[t].count; r++) {
            double w[6];
            lw_wrench(K + c->loops->wrench_start[end->block], r, w);
            double force = lw_v3_norm(w + 3);
            if (force > 0) reach = fmax(reach, lw_v3_norm(w) / force);
        }
        for (int n = end->step; n + 1 < end->step + end->steps; n++)
            reach += lw_v3_norm(c->model->links[c->steps[n].body].p);
        size = fmax(size, reach);
    }
    return size;
}

/* The size of a loop whose joints meet in one point, for which the path is zero or rounding: the longest path
 * in the mechanism. If the residue of a vanishing row (a hinge beside one with the same axes) were divided by
 * rounding, it would appear as a pivot. */
static double size_without_path(const lw_choice *c, const double *size, double *longest) {
    /* Relative to the longest: 1e-16 is rounding, and no mechanism is built with 1e-9. */
    const double rounding = 1e-9;
    *longest = 0;
    for (int t = 0; t < c->loops->count; t++) *longest = fmax(*longest, size[t]);
    for (int i = 1; i <= c->model->body_count; i++)
        *longest =
            fmax(*longest, fmax(lw_v3_norm(c->model->links[i].p), lw_v3_norm(c->model->bodies[i].com)));
    return rounding * *longest;
}

void lw_rank_measure(lw_rank *x, const double *K) {
    const lw_choice *c = x->choice;
    double longest;
    for (int t = 0; t < c->loops->count; t++) x->size[t] = size_of(c, K, t);
    const double least = size_without_path(c, x->size, &longest);
    for (int t = 0; t < c->loops->count; t++)
        if (!(x->size[t] > least)) x->size[t] = longest > 0 ? longest : 1;
    for (int r = 0; r < x->choice->rows->count; r++)
        x->is_length[r] = lw_row_is_length(x->choice->model, x->choice->rows, r);
}

lw_rank *lw_rank_create(const lw_choice *choice, lw_arena *arena) {
    lw_rank *x = LW_NEW(arena, lw_rank, 1);
    if (!x) return NULL;
    size_t loops = (size_t)choice->loops->count + 1, nv = (size_t)choice->model->nv + 1;
    x->choice = choice;
    x->size = LW_NEW(arena, double, loops);
    x->least = LW_NEW(arena, double, loops);
    x->found = LW_NEW(arena, int, loops);
    x->start = LW_NEW(arena, int, loops);
    x->speed_start = LW_NEW(arena, int, loops);
    x->count = LW_NEW(arena, int, loops);
    x->dependent = LW_NEW(arena, int, choice->rows->count + 1);
    x->row = LW_NEW(arena, int, choice->rows->count + 1);
    x->is_length = LW_NEW(arena, bool, choice->rows->count + 1);
    x->owner = LW_NEW(arena, int, nv);
    x->where = LW_NEW(arena, int, nv);
    x->list = LW_NEW(arena, int, nv);
    x->W = LW_NEW(arena, double, ROWS *nv);
    for (size_t t = 0; t + 1 < loops; t++) {
        x->capacity += ROWS * (2 * choice->fronts[t].path_length + 16);
        x->speed_capacity += 2 * choice->fronts[t].path_length + 16;
    }
    x->R = LW_NEW(arena, double, x->capacity + 1);
    x->speed = LW_NEW(arena, int, x->speed_capacity + 1);
    return lw_arena_failed(arena) ? NULL : x;
}

bool lw_rank_grow(lw_rank *x, lw_arena *arena) {
    if (x->capacity > 1 << 26) return false;
    x->capacity *= 2, x->speed_capacity *= 2;
    x->R = LW_NEW(arena, double, x->capacity + 1);
    x->speed = LW_NEW(arena, int, x->speed_capacity + 1);
    return !lw_arena_failed(arena);
}

/* --- fronts ------------------------------------------------------------------------------------------- */

static void load(lw_rank *x, int t) {
    const lw_choice *c = x->choice;
    const lw_rcr_front *front = &c->fronts[t];
    const lw_loop_constraint *loop = &c->loops->loops[t];
    double scale[ROWS];
    for (int r = 0; r < loop->count; r++) scale[r] = x->is_length[loop->first + r] ? 1 / x->size[t] : 1;
    x->n = front->path_length;
    for (int n = 0; n < x->n; n++) {
        const lw_path_speed *on_path = &c->path_speeds[front->path_start + n];
        x->list[n] = on_path->speed;
        x->where[on_path->speed] = n;
        for (int r = 0; r < loop->count; r++)
            x->W[ROWS * n + r] = scale[r] * c->G[on_path->at + on_path->stride * r];
    }
    if (c->rows->rows[loop->first].joint >= 0) return;
    for (int r = 0; r < loop->count; r++) { /* Factors of couplings may have any size. */
        double most = 0;
        for (int n = 0; n < x->n; n++) most = fmax(most, fabs(x->W[ROWS * n + r]));
        for (int n = 0; n < x->n && most > 1; n++) x->W[ROWS * n + r] /= most;
    }
}

static void drop(lw_rank *x, int n) {
    x->where[x->list[n]] = -1;
    if (n == --x->n) return;
    x->list[n] = x->list[x->n];
    x->where[x->list[n]] = n;
    memcpy(x->W + ROWS * n, x->W + ROWS * x->n, ROWS * sizeof *x->W);
}

/* Eliminates the speeds that loop u determines. */
static void take_out(lw_rank *x, int t, int u) {
    const lw_choice *c = x->choice;
    int rows = c->loops->loops[t].count, rank = x->found[u], count = x->count[u];
    double F[ROWS][ROWS];
    for (int k = 0; k < rank; k++) {
        int n = x->where[x->dependent[c->loops->loops[u].first + k]];
        for (int r = 0; r < rows; r++) F[k][r] = n < 0 ? 0 : x->W[ROWS * n + r];
        if (n >= 0) drop(x, n);
    }
    for (int j = 0; j < count; j++) {
        int speed = x->speed[x->speed_start[u] + j], n = x->where[speed];
        if (n < 0) {
            n = x->where[speed] = x->n++;
            x->list[n] = speed;
            memset(x->W + ROWS * n, 0, ROWS * sizeof *x->W);
        }
        const double *R = x->R + x->start[u] + rank * j;
        for (int k = 0; k < rank; k++)
            for (int r = 0; r < rows; r++) x->W[ROWS * n + r] -= F[k][r] * R[k];
    }
}

static void swap(double *a, double *b) {
    double x = *a;
    *a = *b, *b = x;
}

/* The factor that makes a speed an angle of the loop. */
static double weight(const lw_rank *x, int t, int speed) {
    const lw_link *link = &x->choice->model->links[x->choice->body_of[speed]];
    return lw_joint_speed_turns(link->joint.type, speed - link->v) ? 1 : x->size[t];
}

/* Finds the pivots of the front of loop t; the rows picked come first in the list. */
static int solve(lw_rank *x, int t, double least) {
    const lw_loop_constraint *loop = &x->choice->loops->loops[t];
    int rows = loop->count, *row = x->row + loop->first;
    for (int r = 0; r < rows; r++) row[r] = r;
    x->least[t] = 1;
    for (int k = 0; k < rows; k++) {
        double most = 0;
        int best = -1, at = -1;
        for (int n = k; n < x->n; n++) {
            double size = weight(x, t, x->list[n]);
            for (int r = k; r < rows; r++) {
                double entry = size * fabs(x->W[ROWS * n + r]);
                /* The first of equal entries. */
                if (entry > most * (1 + 1e-9)) most = entry, best = r, at = n;
            }
        }
        if (!(most > least)) return k;
        if (most < x->least[t]) x->least[t] = most;
        int moved = row[k], speed = x->list[k];
        row[k] = row[best], row[best] = moved;
        x->list[k] = x->list[at], x->list[at] = speed;
        x->where[x->list[k]] = k, x->where[x->list[at]] = at;
        for (int r = 0; r < rows; r++) swap(&x->W[ROWS * k + r], &x->W[ROWS * at + r]);
        for (int n = 0; n < x->n; n++) swap(&x->W[ROWS * n + k], &x->W[ROWS * n + best]);
        double inverse = 1 / x->W[ROWS * k + k], factor[ROWS];
        for (int n = k + 1; n < x->n; n++) x->W[ROWS * n + k] *= inverse;
        for (int r = 0; r < rows; r++) factor[r] = r == k ? 0 : x->W[ROWS * k + r];
        for (int n = k + 1; n < x->n; n++)
            for (int r = 0; r < rows; r++) x->W[ROWS * n + r] -= factor[r] * x->W[ROWS * n + k];
    }
    return rows;
}

int lw_rank_find(lw_rank *x, double least) {
    const lw_choice *c = x->choice;
    int used = 0, speeds = 0, total = 0;
    for (int k = 0; k < c->model->nv; k++) x->owner[k] = x->where[k] = -1;
    for (int t = 0; t < c->loops->count; t++) {
        load(x, t);
        for (;
             /* The elimination of u may bring in speeds of loops between u and t, so the earliest loop comes
              * first. */
             ;) {
            int u = t;
            for (int n = 0; n < x->n; n++) {
                int owner = x->owner[x->list[n]];
                if (owner >= 0 && owner < u) u = owner;
            }
            if (u == t) break;
            take_out(x, t, u);
        }
        int rank = x->found[t] = solve(x, t, least), rest = rank ? x->n - rank : 0;
        total += rank;
        for (int n = 0; n < x->n; n++) x->where[x->list[n]] = -1;
        if (used + rank * rest > x->capacity || speeds + rest > x->speed_capacity) return -1;
        x->start[t] = used, x->speed_start[t] = speeds, x->count[t] = rest;
        for (int k = 0; k < rank; k++) {
            x->dependent[c->loops->loops[t].first + k] = x->list[k];
            x->owner[x->list[k]] = t;
        }
        for (int j = 0; j < rest; j++) {
            x->speed[speeds + j] = x->list[rank + j];
            memcpy(x->R + used + rank * j, x->W + ROWS * (rank + j), (size_t)rank * sizeof *x->R);
        }
        used += rank * rest, speeds += rest;
    }
    return total;
}
