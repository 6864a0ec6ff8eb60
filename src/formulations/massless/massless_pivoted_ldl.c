/* massless_pivoted_ldl.c - the factor of N'C N for groups of directions in which dampers resist some motions
 * and springs alone hold the others.
 *
 *   P B P' = L D L',     B the rows of N'C N of one group, D = (d_1 .. d_r, 0 .. 0)
 *
 * The rank r is known, but the position decides which directions are damped: a damper that turns with its
 * bodies resists one speed here and another one there. The largest pivots are taken first, so L is small at
 * every position, and the last rows of L^-1 P span the null space of B. Results are stored in fixed slots:
 * r directions of the group are called damped and the others algebraic, whatever the order P is.
 *
 * Source   docs/theory/massless.md, 4.
 * Cost     O(size^3) per group; no allocation but in create.
 */
#include "formulations/massless/massless_pivoted_ldl.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

typedef struct group {
    int size, rank; /* The number of directions, and the number of those that are damped. */
    int *member;    /* The directions of the group, ascending. */
    int *slot;      /* Per pivot: the direction under whose number it is stored, damped ones first. */
    int *order;     /* Per pivot: the index of its direction in member. */
    int *kept;      /* The order of pivots that is to be taken over. */
    int found;      /* The number of pivots above the floor. */
    /* size x size, row by row: the matrix in units of length, then L with its rows in the order of pivots. */
    double *L;
    double *d; /* Per pivot: its value. */
    double *x; /* Workspace. */
} group;

struct lw_mixed {
    int count;
    group *groups;
    const double *unit; /* Per direction: the unit of its speed, of the last factor. */
};

/* Larger groups are factored as a sparse matrix in the order of the directions. */
enum { LARGEST = 100 };

static bool take_group(group *g, int n, const int *of, int own, const bool *algebraic, lw_arena *arena) {
    g->member = LW_NEW(arena, int, g->size);
    g->slot = LW_NEW(arena, int, g->size);
    g->order = LW_NEW(arena, int, g->size);
    g->kept = LW_NEW(arena, int, g->size);
    g->L = LW_NEW(arena, double, (size_t)g->size *(size_t)g->size);
    g->d = LW_NEW(arena, double, g->size);
    g->x = LW_NEW(arena, double, g->size);
    if (lw_arena_failed(arena)) return false;
    int at = 0, damped = 0, others = g->rank;
    for (int k = 0; k < n; k++) {
        if (of[k] != own) continue;
        g->order[at] = at;
        g->member[at++] = k;
        g->slot[algebraic[k] ? others++ : damped++] = k;
    }
    return true;
}

bool lw_mixed_create(int n, const int *of, const bool *algebraic, bool *within, lw_arena *arena,
                     lw_mixed **out) {
    *out = NULL;
    int count = 0;
    int *size = LW_NEW(arena, int, 2 * (size_t)n + 1), *damped = size ? size + n : NULL;
    if (!size) return false;
    for (int k = 0; k < n; k++) size[of[k]]++, damped[of[k]] += !algebraic[k];
    for (int k = 0; k < n; k++) {
        bool both = damped[k] > 0 && damped[k] < size[k] && size[k] <= LARGEST;
        if (!both) size[k] = 0;
        count += both;
    }
    for (int k = 0; k < n; k++) within[k] = size[of[k]] > 0;
    if (!count) return true;
    lw_mixed *m = LW_NEW(arena, lw_mixed, 1);
    if (m) m->groups = LW_NEW(arena, group, count);
    if (lw_arena_failed(arena)) return false;
    for (int k = 0; k < n; k++) {
        if (!size[k]) continue;
        group *g = &m->groups[m->count++];
        g->size = size[k], g->rank = damped[k];
        if (!take_group(g, n, of, k, algebraic, arena)) return false;
    }
    *out = m;
    return true;
}

/* Exchanges pivots a and b: the rows and columns of the remaining matrix, and the rows of L. */
static void exchange(group *g, int a, int b) {
    int n = g->size, member = g->order[a];
    if (a == b) return;
    g->order[a] = g->order[b], g->order[b] = member;
    for (int k = 0; k < n; k++) {
        double x = g->L[a * n + k];
        g->L[a * n + k] = g->L[b * n + k], g->L[b * n + k] = x;
    }
    for (int k = 0; k < n; k++) {
        double x = g->L[k * n + a];
        g->L[k * n + a] = g->L[k * n + b], g->L[k * n + b] = x;
    }
}

/* Computes L D L' in place. rank: the number of pivots to take. kept: the pivots are taken in the order of
 * g->kept. frozen: all of these pivots are taken, and those that do not exceed the floor are replaced by it.
 * Returns the first direction whose pivot does not exceed the floor, or -1. */
static int factor_group(group *g, int rank, bool kept, bool frozen, double floor) {
    int n = g->size, lost = -1;
    g->found = rank;
    for (int p = 0; p < rank; p++) {
        int best = p;
        for (int k = p; k < n; k++) {
            if (kept) {
                if (g->order[k] == g->kept[p]) best = k;
                continue;
            }
            if (fabs(g->L[k * n + k]) > fabs(g->L[best * n + best])) best = k;
        }
        double pivot = g->L[best * n + best];
        if (frozen && !(pivot > floor)) {
            exchange(g, p, best);
            g->d[p] = floor;
            for (int i = p + 1; i < n; i++) g->L[i * n + p] = 0;
            continue;
        }
        if (pivot < -floor && lost < 0)
            lost = g->member[g->order[best]]; /* It is driven; the other pivots are still found. */
        /* The remaining pivots do not exceed the floor either. Nothing is exchanged, since another factor
         * takes over the pivots up to here only. */
        if (!(fabs(pivot) > floor)) {
            if (lost < 0) lost = g->member[g->order[best]];
            g->found = p;
            break;
        }
        /* The columns before p contain L, and the matrix is symmetric from p on, so rows and columns may be
         * exchanged as a whole. */
        exchange(g, p, best);
        g->d[p] = pivot;
        for (int i = p + 1; i < n; i++) g->x[i] = g->L[i * n + p] / pivot;
        for (int i = p + 1; i < n; i++)
            for (int j = p + 1; j < n; j++) g->L[i * n + j] -= g->x[i] * g->L[p * n + j];
        for (int i = p + 1; i < n; i++) g->L[i * n + p] = g->x[i];
    }
    return lost;
}

/* Returns the largest diagonal entry that has not been taken as a pivot. */
static double left_over(const group *g) {
    double most = 0;
    for (int p = g->found; p < g->size; p++) most = fmax(most, g->L[p * g->size + p]);
    return most;
}

/* Takes the matrix of a group over from the sparse one, in units of length. */
static void take_matrix(group *g, const lw_dampers *d) {
    const double *unit = d->unit;
    int n = g->size;
    for (int i = 0; i < n;
         i++) { /* Sparse rows end at the diagonal, and their columns ascend as members do. */
        int row = g->member[i], at = 0;
        for (int j = 0; j < n; j++) g->L[i * n + j] = 0;
        for (int p = d->start[row]; p < d->start[row + 1]; p++) {
            while (g->member[at] < d->column[p]) at++;
            g->L[i * n + at] = unit[row] * unit[g->member[at]] * d->value[p];
        }
        for (int j = 0; j < i; j++) g->L[j * n + i] = g->L[i * n + j];
        d->diagonal[row] = g->L[i * n + i];
        g->order[i] = i;
    }
}

void lw_mixed_factor(lw_dampers *d) {
    lw_mixed *m = d->mixed;
    const lw_mixed *follow = d->follow ? d->follow->mixed : NULL;
    const double *unit = m->unit = d->unit;
    for (int k = 0; k < d->size; k++)
        if (d->within[k]) d->unit[k] = d->null->shape->unit[d->null->rep[k]];
    for (int k = 0; k < m->count; k++) {
        group *g = &m->groups[k];
        int n = g->size;
        double least = HUGE_VAL;
        if (follow) memcpy(g->kept, follow->groups[k].order, (size_t)n * sizeof *g->kept);
        take_matrix(g, d);
        for (int p = 0; p < g->rank; p++)
            if (d->floor[g->slot[p]] > 0) least = fmin(least, d->floor[g->slot[p]]);
        bool another = follow && follow != m;
        int rank = 0; /* Held directions have the last slots. */
        while (rank < g->rank && !d->held[g->slot[rank]]) rank++;
        int bad = factor_group(g, another ? follow->groups[k].found : rank, follow != NULL,
                               d->frozen && least < HUGE_VAL,
                               another || isinf(least) ? 0
                               : d->frozen             ? least / 4
                                                       : least);
        if (d->missing < 0) d->missing = bad;
        /* Without a floor, as in the classification, a pivot counts as negative if it is below minus the
         * rounding of the first pivot. */
        double below = isinf(least) ? 1e-9 * fabs(g->found ? g->d[0] : g->L[0]) : least;
        for (int p = 0; p < n && !d->frozen; p++)
            if ((p < g->found ? g->d[p] : g->L[p * n + p]) < -below) d->driven = g->member[g->order[p]];
        for (int p = 0; p < n; p++) {
            int slot = g->slot[p];
            d->pivot[slot] = p < g->found ? g->d[p] : p == g->found ? left_over(g) : 0;
            d->inverse[slot] = p < g->found ? unit[slot] * unit[slot] / g->d[p] : 0;
            d->loose_count += d->loose[slot] = d->inverse[slot] == 0;
        }
    }
}

/* x = L^-1 P x, which transforms forces of directions into forces of slots. */
static void group_lower(const group *g, const double *unit, double *x) {
    int n = g->size;
    for (int p = 0; p < n; p++) g->x[p] = unit[g->member[g->order[p]]] * x[g->member[g->order[p]]];
    for (int p = 0; p < n; p++)
        for (int c = 0; c < p && c < g->found; c++) g->x[p] -= g->L[p * n + c] * g->x[c];
    for (int p = 0; p < n; p++) x[g->slot[p]] = g->x[p] / unit[g->slot[p]];
}

/* x = P'L^-T x, which transforms displacements of slots into displacements of directions. */
static void group_upper(const group *g, const double *unit, double *x) {
    int n = g->size;
    for (int p = 0; p < n; p++) g->x[p] = x[g->slot[p]] / unit[g->slot[p]];
    for (int c = g->found - 1; c >= 0; c--)
        for (int p = c + 1; p < n; p++) g->x[c] -= g->L[p * n + c] * g->x[p];
    for (int p = 0; p < n; p++) x[g->member[g->order[p]]] = unit[g->member[g->order[p]]] * g->x[p];
}

void lw_mixed_lower(const lw_mixed *m, double *x) {
    for (int k = 0; k < m->count; k++) group_lower(&m->groups[k], m->unit, x);
}
void lw_mixed_upper(const lw_mixed *m, double *x) {
    for (int k = 0; k < m->count; k++) group_upper(&m->groups[k], m->unit, x);
}
