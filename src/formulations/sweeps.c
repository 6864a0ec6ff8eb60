/* sweeps.c - articulated inertias inwards and accelerations outwards, with the multipliers of closed loops on the way.
 *
 * Sweeping inwards, each body hands to its parent, besides articulated inertia I^ and bias f^, for every tie (closure or
 * constraint) on its way to its base the wrenches K that the tie's multipliers put on the articulated body, so that
 *
 *   wrench      I^ a + f^ - sum K lambda
 *   tie         K'a + l + sum L lambda = 0
 *
 * Through a joint with Y = S'K, Z = D^-1 Y:   K - U Z,   l + Z'u + (K - U Z)'bias,   L + Y'Z.
 * At the base of tie t its multipliers are eliminated with L_tt = C d C' (pivots d that vanish are left out: the rows are
 * redundant), E = C^-1 K_t', F_s = C^-1 L_ts, e = C^-1 l_t:
 *
 *   I^ += E'd^-1 E,  f^ += E'd^-1 e,  K_s -= E'd^-1 F_s,  L_su -= F_s'd^-1 F_u,  l_s -= F_s'd^-1 e
 *
 * Sweeping outwards, lambda_t = -C^-T d^-1 (E a + e + sum F_s lambda_s) at the base, and the joints beyond follow as in a tree.
 *
 * Source   docs/theory/rcr.md; symbols of recursion.h and ties.h.
 * Cost     O(n + m) for loops of bounded width: strands per body and coupled ties. No allocation but in create.
 */
#include "formulations/sweeps.h"
#include "formulations/tree.h"
#include "model/joint.h"

#define LANES 1
#include "formulations/forward.h"

#include <math.h>
#include <string.h>

/* A pivot that falls to this share of its scale belongs to a redundant row. Rounding leaves about 1e-15, and
 * a loop that does not close by 1e-6 of its size about 1e-12; a mechanism 1e-4 rad away from a singular position has about 1e-8. */
static const double vanished = 1e-8;

enum { ROWS_MAX = 6 }; /* of one tie */

lw_sweeps *lw_sweeps_create(const lw_model *model, lw_data *data, const lw_ties *ties, int rows,
                            lw_arena *arena) {
    lw_sweeps *s = LW_NEW(arena, lw_sweeps, 1);
    if (!s) return NULL;
    size_t m = (size_t)rows + 1;
    s->model = model, s->data = data, s->ties = ties;
    s->awake = LW_NEW(arena, int, ties->count + 1);
    s->rank = LW_NEW(arena, int, ties->count + 1);
    s->row = LW_NEW(arena, int, m);
    s->pivot = LW_NEW(arena, int, m);
    s->K = LW_NEW(arena, double, ties->K_size + 1);
    s->Y = LW_NEW(arena, double, ties->Y_size + 1);
    s->Z = LW_NEW(arena, double, ties->Y_size + 1);
    s->L = LW_NEW(arena, double, ties->block_size + 1);
    s->E = LW_NEW(arena, double, 6 * m);
    s->e = LW_NEW(arena, double, m);
    s->l = LW_NEW(arena, double, m);
    s->scale = LW_NEW(arena, double, m);
    s->lambda = LW_NEW(arena, double, m);
    if (!s->awake || !s->rank || !s->row || !s->pivot || !s->K || !s->Y || !s->Z || !s->L || !s->E || !s->e ||
        !s->l || !s->scale || !s->lambda)
        return NULL;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        s->length = fmax(s->length, lw_v3_norm(link->parent ? link->p : model->bodies[i].com));
    }
    if (!(s->length > 0)) s->length = 1;
    lw_sweeps_wake(s);
    return s;
}

void lw_sweeps_wake(lw_sweeps *s) {
    for (int t = 0; t < s->ties->count; t++) {
        const lw_tie *tie = &s->ties->ties[t];
        double scale[ROWS_MAX] = {0};
        for (int k = 0; k < tie->count; k++) scale[s->row[tie->first + k]] = s->scale[tie->first + k];
        memcpy(s->scale + tie->first, scale, (size_t)tie->count * sizeof *scale);
        s->awake[t] = tie->count;
        for (int k = 0; k < tie->count; k++) s->row[tie->first + k] = k;
    }
}

/* --- strands through a joint ----------------------------------------------------------------------- */

/* A strand at a body: wrenches K of its rows, what the joint makes of them (Y, Z, l), and where they go on at the parent; NULL if
 * ground takes them. adds: there are some already. */
typedef struct way {
    const double *K;
    double *Y, *Z, *l, *parent;
    int rows;
    bool adds;
} way;

INLINE way way_of(const lw_sweeps *s, const lw_strand *strand, bool grounded) {
    const lw_ties *ties = s->ties;
    double *parent = grounded             ? NULL
                     : strand->parent < 0 ? s->K + ties->ties[strand->tie].K
                                          : s->K + ties->strands[strand->parent].K;
    return (way){.K = s->K + strand->K,
                 .Y = s->Y + strand->Y,
                 .Z = s->Z + strand->Y,
                 .l = s->l + strand->row,
                 .parent = parent,
                 .rows = s->awake[strand->tie],
                 .adds = strand->adds};
}

/* pass(rows, way, ...) for all strands at body i; compiled for the usual numbers of rows. */
#define EACH_STRAND(s, r, i, pass, ...)                                                                      \
    {                                                                                                        \
        const lw_strand *at_ = (s)->ties->strands + (s)->ties->strand_start[i],                              \
                        *end_ = (s)->ties->strands + (s)->ties->strand_start[(i) + 1];                       \
        for (; at_ < end_; at_++) {                                                                          \
            const way x_ = way_of(s, at_, (r)->model->links[i].parent == 0);                                 \
            if (x_.rows == 3)                                                                                \
                pass(3, x_, __VA_ARGS__);                                                                    \
            else if (x_.rows == 2)                                                                           \
                pass(2, x_, __VA_ARGS__);                                                                    \
            else                                                                                             \
                pass(x_.rows, x_, __VA_ARGS__);                                                              \
        }                                                                                                    \
    }

/* A wrench at the child's origin p, already in the parent's axes. */
INLINE void hand_on(const double p[3], const double w[6], double *restrict out, bool adds) {
    double moved[6] = {w[0] + (p[1] * w[5] - p[2] * w[4]),
                       w[1] + (p[2] * w[3] - p[0] * w[5]),
                       w[2] + (p[0] * w[4] - p[1] * w[3]),
                       w[3],
                       w[4],
                       w[5]};
    if (adds)
        for (int k = 0; k < 6; k++) out[k] += moved[k];
    else
        for (int k = 0; k < 6; k++) out[k] = moved[k];
}

/* Each _rows: the rows of one strand through the joint of body i; b is the acceleration that the joint has without its speeds'
 * rates: bias, and gravity where the parent is ground. */

/* What is left of a wrench has no component along the joint's axis, number `kernel`. */
INLINE void aligned_rows(int rows, way x, const recursion *r, int i, const double b[6], int kernel) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    bool turns = kernel < LW_KERNEL_PRISMATIC;
    const double *p = turns ? link->p : r->places[i].p, *restrict K = x.K;
    double c = turns ? r->cosine[link->v] : 1, s = turns ? r->sine[link->v] : 0, d = own->d, u = own->u;
    for (int row = 0; row < rows; row++) {
        const double *w = K + 6 * row;
        double y = w[kernel], z = d * y, left[6], total = z * u, moved[6];
        for (int k = 0; k < 6; k++) {
            left[k] = k == kernel ? 0 : w[k] - z * own->U[k];
            if (k != kernel) total += left[k] * b[k];
        }
        x.Y[row] = y, x.Z[row] = z;
        x.l[row] += total;
        if (!x.parent) continue;
        if (turns) {
            int j = (kernel + 1) % 3, k = (kernel + 2) % 3;
            moved[kernel] = 0, moved[j] = c * left[j] - s * left[k], moved[k] = s * left[j] + c * left[k];
            turn(kernel, c, s, left + 3, moved + 3);
        } else
            for (int k = 0; k < 6; k++) moved[k] = left[k];
        hand_on(p, moved, x.parent + 6 * row, x.adds);
    }
}

/* To the parent by a place that is not aligned. */
INLINE void turn_on(const place *at, const double left[6], double *out, bool adds) {
    double moved[6];
    r3_turn(at->R, left, moved);
    r3_turn(at->R, left + 3, moved + 3);
    hand_on(at->p, moved, out, adds);
}

INLINE void spherical_rows(int rows, way x, const recursion *r, int i, const double b[6]) {
    const lw_link *link = &r->model->links[i];
    const double *B = r->U + 6 * link->v, *u = r->u + link->v;
    for (int row = 0; row < rows; row++) {
        const double *w = x.K + 6 * row;
        double *y = x.Y + 3 * row, *z = x.Z + 3 * row, left[6] = {0}, t[3];
        for (int k = 0; k < 3; k++) y[k] = z[k] = w[k];
        solve_lower(3, 0, r->D + 6 * link->v, z);
        solve_upper(3, 0, r->D + 6 * link->v, z);
        lw_m3_tmul_v(B, z, t);
        for (int k = 0; k < 3; k++) left[3 + k] = w[3 + k] - t[k];
        x.l[row] += lw_v3_dot(z, u) + lw_v3_dot(left + 3, b + 3);
        if (x.parent) turn_on(&r->places[i], left, x.parent + 6 * row, x.adds);
    }
}

/* The parent of a free joint feels nothing. */
INLINE void free_rows(int rows, way x, const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    for (int row = 0; row < rows; row++) {
        double *y = x.Y + 6 * row, *z = x.Z + 6 * row;
        for (int k = 0; k < 6; k++) y[k] = z[k] = x.K[6 * row + k];
        solve_lower(6, 0, r->D + 6 * link->v, z);
        solve_upper(6, 0, r->D + 6 * link->v, z);
        x.l[row] += r6_dot(z, r->u + link->v);
        for (int k = 0; k < 6 && x.parent && !x.adds; k++) x.parent[6 * row + k] = 0;
    }
}

/* Two speeds that are free, maybe a universal joint's. rate = u - U'b. */
INLINE void pair_rows(int rows, way x, const recursion *r, int i, const double b[6], const double rate[2],
                      bool universal) {
    const lw_link *link = &r->model->links[i];
    const double *S = r->S + 6 * link->v, *U = r->U + 6 * link->v, *D = r->D + 6 * link->v;
    const double *restrict K = x.K;
    double first = D[0], mixed = D[6], second = D[7];
    for (int row = 0; row < rows; row++) {
        const double *w = K + 6 * row;
        double y0 = motion_dot(S, 0, w, universal), y1 = motion_dot(S, 1, w, universal), left[6];
        double z1 = (y1 - mixed * y0) * second, z0 = y0 * first - mixed * z1;
        x.Y[2 * row] = y0, x.Y[2 * row + 1] = y1, x.Z[2 * row] = z0, x.Z[2 * row + 1] = z1;
        x.l[row] += z0 * rate[0] + z1 * rate[1] + r6_dot(w, b);
        if (!x.parent) continue;
        for (int k = 0; k < 6; k++) left[k] = w[k] - z0 * U[k] - z1 * U[6 + k];
        turn_on(&r->places[i], left, x.parent + 6 * row, x.adds);
    }
}

INLINE void general_rows(int rows, way x, const recursion *r, int i, const double b[6]) {
    const lw_link *link = &r->model->links[i];
    int nv = link->joint.nv;
    for (int row = 0; row < rows; row++) {
        double *y = x.Y + nv * row, *z = x.Z + nv * row, left[6];
        memcpy(left, x.K + 6 * row, sizeof left);
        for (int k = 0; k < nv; k++) z[k] = y[k] = r6_dot(r->S + 6 * (link->v + k), left);
        solve_lower(nv, link->prescribed, r->D + 6 * link->v, z);
        solve_upper(nv, link->prescribed, r->D + 6 * link->v, z);
        for (int k = 0; k < nv; k++) {
            if (link->prescribed >> k & 1) z[k] = 0;
            lw_v6_axpy(-z[k], r->U + 6 * (link->v + k), left);
            x.l[row] += z[k] * r->u[link->v + k];
        }
        x.l[row] += r6_dot(left, b);
        if (x.parent) turn_on(&r->places[i], left, x.parent + 6 * row, x.adds);
    }
}

/* Bias of joint i; where ground carries it, with ground's acceleration; prescribed speeds count like bias. */
static void joint_bias(const recursion *r, int i, bool gravity, double b[6]) {
    const lw_link *link = &r->model->links[i];
    memcpy(b, r->nodes[i].bias, 6 * sizeof *b);
    if (link->kernel == LW_KERNEL_GENERAL && link->prescribed)
        for (int k = 0; k < link->joint.nv; k++)
            if (link->prescribed >> k & 1) lw_v6_axpy(r->vdot[link->v + k], r->S + 6 * (link->v + k), b);
    if (!gravity || link->parent != 0) return;
    const double *g = r->model->gravity;
    double x[3];
    if (link->kernel < LW_KERNEL_PRISMATIC)
        turn_back(link->kernel, r->cosine[link->v], r->sine[link->v], g, x);
    else if (link->kernel < LW_KERNEL_SPHERICAL)
        lw_v3_copy(g, x);
    else
        lw_m3_tmul_v(r->places[i].R, g, x);
    lw_v3_sub(b + 3, x, b + 3);
}

static void pass_strands(lw_sweeps *s, const recursion *r, bool gravity, int i) {
    const lw_link *link = &r->model->links[i];
    double b[6];
    joint_bias(r, i, gravity, b);
    switch (link->kernel) {
    case 0:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 0)
        break;
    case 1:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 1)
        break;
    case 2:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 2)
        break;
    case 3:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 3)
        break;
    case 4:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 4)
        break;
    case 5:
        EACH_STRAND(s, r, i, aligned_rows, r, i, b, 5)
        break;
    case LW_KERNEL_SPHERICAL:
        EACH_STRAND(s, r, i, spherical_rows, r, i, b)
        break;
    case LW_KERNEL_FREE:
        EACH_STRAND(s, r, i, free_rows, r, i)
        break;
    default: /* LW_KERNEL_UNIVERSAL, LW_KERNEL_GENERAL */
        if (link->joint.nv != 2 || link->prescribed) {
            EACH_STRAND(s, r, i, general_rows, r, i, b)
            break;
        }
        const double *U = r->U + 6 * link->v, *u = r->u + link->v;
        const double rate[2] = {u[0] - r6_dot(U, b), u[1] - r6_dot(U + 6, b)};
        if (link->kernel == LW_KERNEL_UNIVERSAL)
            EACH_STRAND(s, r, i, pair_rows, r, i, b, rate, true)
        else
            EACH_STRAND(s, r, i, pair_rows, r, i, b, rate, false)
    }
}

/* --- the matrix of the multipliers ----------------------------------------------------------------- */

/* L_ts += Y_t'Z_s, or = if nothing is there yet; of a tie with itself (own) the lower triangle. */
INLINE void couple(int rows, int columns, int nv, const double *restrict Y, const double *restrict Z,
                   double *restrict block, bool own, bool adds) {
    for (int x = 0; x < rows; x++)
        for (int y = 0; y < (own ? x + 1 : columns); y++) {
            double total = nv > 0 ? Y[nv * x] * Z[nv * y] : 0;
            for (int n = 1; n < nv; n++) total += Y[nv * x + n] * Z[nv * y + n];
            block[columns * x + y] = adds ? block[columns * x + y] + total : total;
        }
}

INLINE void couple_pair(int rows, int columns, int nv, const double *Y, const double *Z, double *block,
                        bool own, bool adds) {
    if (adds)
        couple(rows, columns, nv, Y, Z, block, own, true);
    else
        couple(rows, columns, nv, Y, Z, block, own, false);
}

/* All pairs of strands at body i; compiled for the usual numbers of rows. */
INLINE void couple_strands(const lw_sweeps *s, int i, int nv) {
    const lw_ties *ties = s->ties;
    const lw_strand_pair *pair = ties->pairs + ties->pair_start[i];
    const lw_strand *end = ties->strands + ties->strand_start[i + 1];
    for (const lw_strand *first = ties->strands + ties->strand_start[i]; first < end; first++) {
        int rows = s->awake[first->tie];
        const double *Y = s->Y + first->Y;
        for (const lw_strand *second = first; second < end; second++, pair++) {
            int columns = s->awake[second->tie];
            const double *Z = s->Z + second->Y;
            double *block = s->L + pair->block;
            if (first == second && rows == 3)
                couple_pair(3, 3, nv, Y, Z, block, true, pair->adds);
            else if (first == second && rows == 2)
                couple_pair(2, 2, nv, Y, Z, block, true, pair->adds);
            else if (rows == 3 && columns == 3)
                couple_pair(3, 3, nv, Y, Z, block, false, pair->adds);
            else
                couple_pair(rows, columns, nv, Y, Z, block, first == second, pair->adds);
        }
    }
}

static void couple_at(const lw_sweeps *s, int i) {
    int nv = s->model->links[i].joint.nv;
    if (nv == 1)
        couple_strands(s, i, 1);
    else if (nv == 2)
        couple_strands(s, i, 2);
    else
        couple_strands(s, i, nv);
}

static void swap(double *a, double *b) {
    double x = *a;
    *a = *b, *b = x;
}

/* L_tt = C d C', C a unit triangle, with the largest pivot next, in place of the lower triangle; returns the rank. The diagonal
 * holds 1 / d. */
static int factor_tie(int count, double *L, const double *scale, int *pivot) {
    for (int i = 0; i < count; i++) {
        pivot[i] = i;
        for (int j = 0; j < i; j++) L[count * j + i] = L[count * i + j];
    }
    for (int k = 0; k < count; k++) {
        int best = -1;
        double most = 0;
        for (int i = k; i < count; i++) {
            double pivot_i = L[count * i + i], size = scale[pivot[i]];
            if (pivot_i > vanished * size && pivot_i > most * size) most = pivot_i / size, best = i;
        }
        if (best < 0) return k;
        if (best != k) { /* exchange rows and columns k and best of the symmetric matrix */
            int moved = pivot[k];
            pivot[k] = pivot[best], pivot[best] = moved;
            for (int j = 0; j < count; j++) swap(&L[count * k + j], &L[count * best + j]);
            for (int i = k; i < count; i++) swap(&L[count * i + k], &L[count * i + best]);
        }
        double inverse = 1 / L[count * k + k], column[ROWS_MAX];
        L[count * k + k] = inverse;
        for (int i = k + 1; i < count; i++) {
            column[i] = L[count * i + k];
            L[count * i + k] *= inverse;
        }
        for (int i = k + 1; i < count; i++)
            for (int j = k + 1; j <= i; j++) {
                L[count * i + j] -= L[count * i + k] * column[j];
                L[count * j + i] = L[count * i + j];
            }
    }
    return count;
}

/* The same in the order given, in which rows have been left since the last look for pivots; false, and L as it was, if a
 * pivot has become small. C is a copy. */
INLINE bool factor_in_order(int count, double *restrict L, const double *restrict scale, double *restrict C) {
    const double small = 1e-4;
    for (int i = 0; i < count; i++) {
        double scaled[ROWS_MAX], pivot = L[count * i + i]; /* C_ij d_j */
        for (int j = 0; j < i; j++) {
            scaled[j] = L[count * i + j];
            for (int k = 0; k < j; k++) scaled[j] -= scaled[k] * C[count * j + k];
            C[count * i + j] = scaled[j] * C[count * j + j];
            pivot -= scaled[j] * C[count * i + j];
        }
        if (!(pivot > small * scale[i])) return false;
        C[count * i + i] = 1 / pivot;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++) L[count * i + j] = C[count * i + j];
    return true;
}

/* out = C^-1 of the pivoted rows of x, `columns` numbers each; without pivots out may be x. */
INLINE void forward_rows(int rank, int count, const double *C, const int *pivot, int columns, const double *x,
                         double *out) {
    for (int c = 0; c < columns; c++) {
        double column[ROWS_MAX];
        for (int i = 0; i < rank; i++) {
            column[i] = x[columns * (pivot ? pivot[i] : i) + c];
            for (int j = 0; j < i; j++) column[i] -= C[count * i + j] * column[j];
        }
        for (int i = 0; i < rank; i++) out[columns * i + c] = column[i];
    }
}

/* I^ += E'd^-1 E, f^ += E'd^-1 e where the children of the base hand over their inertias. */
static void load_base(const recursion *r, int base, int rank, const double *E, const double *e,
                      const double *inverse) {
    sum *handed = &r->sums[r->model->links[base].slot];
    for (int k = 0; k < rank; k++) {
        const double *x = E + 6 * k;
        double y[6];
        for (int i = 0; i < 6; i++) y[i] = inverse[k] * x[i];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) {
                handed->A[sym(i, j)] += y[i] * x[j];
                handed->C[sym(i, j)] += y[3 + i] * x[3 + j];
            }
            for (int j = 0; j < 3; j++) handed->B[3 * i + j] += y[i] * x[3 + j];
        }
        for (int i = 0; i < 6; i++) handed->f[i] += y[i] * e[k];
    }
}

/* L_su -= F_s'd^-1 F_u, or = if nothing is there yet; of a tie with itself (own) the lower triangle. */
INLINE void take_off(int rank, int rows, int columns, const double *restrict inverse, const double *Fs,
                     const double *Fu, double *restrict block, bool own, bool adds) {
    for (int x = 0; x < rows; x++) {
        double scaled[ROWS_MAX];
        for (int p = 0; p < rank; p++) scaled[p] = inverse[p] * Fs[rows * p + x];
        for (int y = 0; y < (own ? x + 1 : columns); y++) {
            double total = 0;
            for (int p = 0; p < rank; p++) total += scaled[p] * Fu[columns * p + y];
            block[columns * x + y] = adds ? block[columns * x + y] - total : -total;
        }
    }
}

/* Tie t with `count` rows awake, factored to `rank` by C in the order pivot (NULL: as they are); others: how many rows are in all
 * ties coupled with it, or 0 if that varies. */
INLINE void eliminate_rows(lw_sweeps *s, const recursion *r, int t, int count, int rank, const double *C,
                           const int *pivot, int others) {
    const lw_ties *ties = s->ties;
    const lw_tie *tie = &ties->ties[t];
    double *E = s->E + 6 * tie->first, *e = s->e + tie->first;
    bool moves = tie->base > 0; /* ground does not, and its acceleration is in l already */
    double inverse[ROWS_MAX], y[ROWS_MAX], pull[ROWS_MAX]; /* 1 / d, e, e / d */
    for (int k = 0; k < rank; k++) inverse[k] = C[(count + 1) * k];
    s->rank[t] = rank;
    forward_rows(rank, count, C, pivot, 1, s->l + tie->first, y);
    for (int k = 0; k < rank; k++) e[k] = y[k], pull[k] = inverse[k] * y[k];
    if (moves && rank > 0) {
        forward_rows(rank, count, C, pivot, 6, s->K + tie->K, E);
        load_base(r, tie->base, rank, E, e, inverse);
    }
    const lw_coupling *near = ties->couplings + tie->coupling;
    for (int j = 0; j < tie->couplings; j++) {
        double given[ROWS_MAX * ROWS_MAX], *F = s->L + near[j].block, *K = s->K + near[j].K;
        double *restrict l = s->l + ties->ties[near[j].tie].first;
        int columns = others ? others : s->awake[near[j].tie];
        if (pivot) memcpy(given, F, (size_t)(count * columns) * sizeof *F);
        forward_rows(rank, count, C, pivot, columns, pivot ? given : F, F);
        for (int c = 0; c < columns; c++) {
            double total = 0;
            for (int k = 0; k < rank; k++) total += F[columns * k + c] * pull[k];
            l[c] -= total;
            for (int k = 0; k < rank && moves; k++)
                lw_v6_axpy(-inverse[k] * F[columns * k + c], E + 6 * k, K + 6 * c);
        }
    }
    int target = tie->target;
    for (int j = 0; j < tie->couplings; j++)
        for (int k = j; k < tie->couplings; k++, target++) {
            int a = others ? others : s->awake[near[j].tie], b = others ? others : s->awake[near[k].tie];
            const double *Fa = s->L + near[j].block, *Fb = s->L + near[k].block;
            double *block = s->L + ties->targets[target];
            if (ties->target_adds[target])
                take_off(rank, a, b, inverse, Fa, Fb, block, j == k, true);
            else
                take_off(rank, a, b, inverse, Fa, Fb, block, j == k, false);
        }
}

/* The usual numbers of rows compiled for themselves, in their order. */
INLINE bool eliminate_in_order(lw_sweeps *s, const recursion *r, int t, int count) {
    const lw_tie *tie = &s->ties->ties[t];
    for (int j = 0; j < tie->couplings; j++)
        if (s->awake[s->ties->couplings[tie->coupling + j].tie] != count) return false;
    double C[ROWS_MAX * ROWS_MAX];
    if (!factor_in_order(count, s->L + tie->block, s->scale + tie->first, C)) return false;
    for (int k = 0; k < count; k++) s->pivot[tie->first + k] = k;
    eliminate_rows(s, r, t, count, count, C, NULL, count);
    return true;
}

static void eliminate_tie(lw_sweeps *s, const recursion *r, int t) {
    const lw_tie *tie = &s->ties->ties[t];
    int count = s->awake[t], *pivot = s->pivot + tie->first;
    if (count == 3 && eliminate_in_order(s, r, t, 3)) return;
    if (count == 2 && eliminate_in_order(s, r, t, 2)) return;
    int rank = factor_tie(count, s->L + tie->block, s->scale + tie->first, pivot);
    eliminate_rows(s, r, t, count, rank, s->L + tie->block, pivot, 0);
}

/* --- outwards ------------------------------------------------------------------------------------- */

/* C^-T x, into the pivoted places of lambda with the sign turned. */
INLINE void backward_rows(int rank, int count, const double *C, const int *pivot, double *x, double *lambda) {
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) x[i] -= C[count * j + i] * x[j];
        lambda[pivot[i]] = -x[i];
    }
}

INLINE void add_product(int rows, int columns, const double *F, const double *restrict y,
                        double *restrict x) {
    for (int k = 0; k < rows; k++)
        for (int c = 0; c < columns; c++) x[k] += F[columns * k + c] * y[c];
}

/* sum F_s lambda_s of tie t. */
INLINE void coupled(const lw_sweeps *s, int t, int rank, const double *lambda, double *x) {
    const lw_tie *tie = &s->ties->ties[t];
    for (int j = 0; j < tie->couplings; j++) {
        const lw_coupling *near = &s->ties->couplings[tie->coupling + j];
        const double *F = s->L + near->block, *other = lambda + s->ties->ties[near->tie].first;
        if (s->awake[near->tie] == 3)
            add_product(rank, 3, F, other, x);
        else
            add_product(rank, s->awake[near->tie], F, other, x);
    }
}

INLINE void solve_rows(lw_sweeps *s, const recursion *r, int t, int rank, int count) {
    const lw_tie *tie = &s->ties->ties[t];
    const int *pivot = s->pivot + tie->first;
    double x[ROWS_MAX], *lambda = s->lambda + tie->first;
    for (int k = 0; k < rank; k++) x[k] = s->e[tie->first + k];
    for (int k = 0; k < rank && tie->base > 0; k++)
        x[k] += r6_dot(s->E + 6 * (tie->first + k), r->nodes[tie->base].a);
    coupled(s, t, rank, s->lambda, x);
    for (int k = 0; k < rank; k++) x[k] *= s->L[tie->block + (count + 1) * k];
    for (int k = rank; k < count; k++) lambda[pivot[k]] = 0;
    backward_rows(rank, count, s->L + tie->block, pivot, x, lambda);
}

static void solve_tie(lw_sweeps *s, const recursion *r, int t) {
    if (s->rank[t] == 3 && s->awake[t] == 3)
        solve_rows(s, r, t, 3, 3);
    else
        solve_rows(s, r, t, s->rank[t], s->awake[t]);
}

static void solve_based_ties(lw_sweeps *s, const recursion *r, int body) {
    int first = s->ties->at_base[body];
    for (int t = first + s->ties->based[body] - 1; t >= first; t--) solve_tie(s, r, t);
}

INLINE void push(int rows, int nv, const double *restrict Y, const double *restrict lambda,
                 double *restrict u) {
    for (int n = 0; n < nv; n++) {
        double total = u[n];
        for (int row = 0; row < rows; row++) total += Y[nv * row + n] * lambda[row];
        u[n] = total;
    }
}

/* The multipliers push the joint of body i: u += Y lambda, for accelerate. */
INLINE void push_joint(const lw_sweeps *s, const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    int nv = link->joint.nv;
    double *u = link->kernel < LW_KERNEL_SPHERICAL ? &r->nodes[i].u : r->u + link->v;
    const lw_strand *end = s->ties->strands + s->ties->strand_start[i + 1];
    for (const lw_strand *strand = s->ties->strands + s->ties->strand_start[i]; strand < end; strand++) {
        const double *Y = s->Y + strand->Y, *lambda = s->lambda + strand->row;
        int rows = s->awake[strand->tie];
        if (rows == 3 && nv == 1)
            push(3, 1, Y, lambda, u);
        else if (rows == 3 && nv == 2)
            push(3, 2, Y, lambda, u);
        else
            push(rows, nv, Y, lambda, u);
    }
}

/* --- both ----------------------------------------------------------------------------------------- */

static recursion recursion_for(const lw_sweeps *s, const lw_subject *subject) {
    recursion r = recursion_of(s->model, s->data);
    r.v = subject->v;
    r.tau = subject->tau;
    r.load = subject->load;
    r.drive = subject->drive;
    return r;
}

void lw_sweeps_start(lw_sweeps *s, const lw_subject *subject) {
    const recursion r = recursion_for(s, subject);
    velocities(&r);
}

lw_status lw_sweeps_run(lw_sweeps *s, const lw_subject *subject, lw_error *error) {
    const recursion r = recursion_for(s, subject);
    const lw_model *model = s->model;
    const lw_ties *ties = s->ties;
    int n = model->body_count, bad_body = 0, bad_speed = 0;
    for (int i = n; i >= 0; i--) {
        for (int k = 0; k < ties->based[i]; k++) eliminate_tie(s, &r, ties->at_base[i] + k);
        if (i == 0) break;
        int bad = 0;
        BY_JOINT(&model->links[i], eliminate, &r, i, &bad)
        if (__builtin_expect(bad && !bad_body, 0)) bad_body = i, bad_speed = bad;
        if (ties->strand_start[i] == ties->strand_start[i + 1]) continue;
        pass_strands(s, &r, subject->gravity, i);
        couple_at(s, i);
    }
    if (bad_body) return lw_undetermined(model, bad_body, bad_speed, error);
    hang_ground(&r);
    if (!subject->gravity) memset(r.nodes[0].a, 0, sizeof r.nodes[0].a);
    solve_based_ties(s, &r, 0);
    for (int i = 1; i <= n; i++) {
        push_joint(s, &r, i);
        BY_JOINT(&model->links[i], accelerate, &r, i)
        if (ties->based[i]) solve_based_ties(s, &r, i);
    }
    return LW_OK;
}

/* Each joint could give way by 1 / D to the whole of a strand's wrench, if that had the joint's direction. */
void lw_sweeps_measure(lw_sweeps *s) {
    const lw_ties *ties = s->ties;
    const lw_data *data = s->data;
    for (int t = 0; t < ties->count; t++)
        for (int k = 0; k < ties->ties[t].count; k++) s->scale[ties->ties[t].first + k] = 0;
    for (int i = 1; i <= s->model->body_count; i++) {
        const lw_link *link = &s->model->links[i];
        bool aligned = link->kernel < LW_KERNEL_SPHERICAL;
        for (int n = ties->strand_start[i]; n < ties->strand_start[i + 1]; n++) {
            const lw_strand *strand = &ties->strands[n];
            for (int row = 0; row < s->awake[strand->tie]; row++) {
                const double *w = s->K + strand->K + 6 * row;
                double force = lw_v3_dot(w + 3, w + 3);
                double torque = lw_v3_dot(w, w) + s->length * s->length * force;
                for (int k = 0; k < link->joint.nv; k++) {
                    if (link->prescribed >> k & 1) continue; /* does not give way */
                    double inverse = aligned ? 0 : data->joint_D[6 * (link->v + k) + k];
                    double d = aligned ? data->nodes[i].d : inverse > 0 ? inverse : 0;
                    s->scale[ties->ties[strand->tie].first + row] +=
                        d * (lw_joint_speed_turns(link->joint.type, k) ? torque : force);
                }
            }
        }
    }
}

/* In [-1, 1], the same for the same seed (xorshift). */
static double chance(unsigned *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return (double)*seed / 2147483648.0 - 1;
}

void lw_sweeps_null(lw_sweeps *s, unsigned seed, double *lambda) {
    for (int t = s->ties->count - 1; t >= 0; t--) {
        const lw_tie *tie = &s->ties->ties[t];
        const double *C = s->L + tie->block;
        const int *pivot = s->pivot + tie->first;
        int rank = s->rank[t], count = s->awake[t];
        double x[ROWS_MAX] = {0}, *own = lambda + tie->first;
        coupled(s, t, rank, lambda, x);
        for (int k = 0; k < rank; k++) x[k] *= C[(count + 1) * k];
        for (int i = rank; i < count; i++) {
            double any = own[pivot[i]] = chance(&seed);
            for (int k = 0; k < rank; k++) x[k] += C[count * i + k] * any;
        }
        backward_rows(rank, count, C, pivot, x, own);
    }
}
