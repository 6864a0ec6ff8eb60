/* rcr_solve_kernels.h - the pass inwards and the pass outwards, for one state or LANES of them. Equations
 * in rcr_solve.c.
 *
 * Of one state, PACK rows of a loop are taken at a time: rcr_solve.c and rcr_solve_avx2.c differ in PACK (2
 * or 4) and in the instructions that their compiler may use. A pack holds the same number of PACK rows that
 * stand side by side (loop_constraints.h). Where a loop has fewer rows the rest is zero, and adds nothing to
 * anything. Of several states (rcr_simd_kernels.h), each number of a row is a vector, PACK is 1, and pivots
 * are taken in a given order.
 */
#include "formulations/rcr/rcr_solve.h"
#include "dynamics/tree_dynamics.h"
#include "dynamics/tree_forward.h"

#include <math.h>
#include <string.h>

/* Pivots are known by their share of a scale, the pivot of the same row at a position where the loop is wide
 * open. Below `weak`, some 0.1 rad from a singular position, the rows that take part should be chosen anew
 * (rcr_rank.c); a pivot that has vanished belongs to a row that depends on others. */
static const double weak = 1e-2, vanished = 1e-8;

enum { ROWS_MAX = 6 }; /* of one loop */

#if LANES == 1
typedef double pack __attribute__((vector_size(8 * PACK)));
typedef double tight_pack __attribute__((vector_size(8 * PACK), may_alias));             /* in memory, ... */
typedef double loose_pack __attribute__((vector_size(8 * PACK), may_alias, aligned(8))); /* ... anywhere */
#else
typedef REAL pack, tight_pack, loose_pack;
#endif

/* Number k of an array of the system, which has LANES doubles for each. */
INLINE REAL *entry(double *array, int k) { return (REAL *)(void *)array + k; }

/* Packs of so many rows; where number g of them starts in a list of `width` numbers per row. */
INLINE int packs_of(int rows) { return (rows + PACK - 1) / PACK; }
INLINE int pack_at(int g, int width) { return width * (g * PACK / 4 * 4) + g * PACK % 4; }
INLINE pack load(const REAL *x) { return *(const tight_pack *)x; }
INLINE void store(REAL *x, pack value) { *(tight_pack *)x = value; }
INLINE void add_loose(REAL *x, pack value) { *(loose_pack *)x += value; }

/* --- segments through a joint ----------------------------------------------------------------------- */

/* A segment at a body: wrenches K of its rows, what the joint makes of them (Y, Z, l), and where they go on
 * at the parent; NULL if ground takes them. adds: there are some already. */
typedef struct path {
    const REAL *K;
    REAL *Y, *Z, *l, *parent;
    bool adds;
} path;

INLINE path path_of(const lw_rcr_system *s, const lw_segment *segment, int Y) {
    return (path){.K = entry(s->K, segment->K),
                  .Y = entry(s->Y, segment->Y),
                  .Z = entry(s->Z, segment->Y - Y),
                  .l = entry(s->l, segment->row),
                  .parent = segment->to < 0 ? NULL : entry(s->K, segment->to),
                  .adds = segment->adds};
}

/* pass(packs, path, ...) for all segments at body i; compiled for each number of packs of one state. */
#if LANES == 1
#define BY_PACKS(rows, pass, ...)                                                                            \
    if (rows > 2 * PACK)                                                                                     \
        pass(3, __VA_ARGS__);                                                                                \
    else if (rows > PACK)                                                                                    \
        pass(2, __VA_ARGS__);                                                                                \
    else                                                                                                     \
        pass(1, __VA_ARGS__);
#else
#define BY_PACKS(rows, pass, ...)                                                                            \
    if (rows == 3)                                                                                           \
        pass(3, __VA_ARGS__);                                                                                \
    else                                                                                                     \
        pass(rows, __VA_ARGS__);
#endif
#define EACH_SEGMENT(s, i, pass, ...)                                                                        \
    {                                                                                                        \
        const lw_segment *at_ = (s)->loops->segments + (s)->loops->segment_start[i],                         \
                         *end_ = (s)->loops->segments + (s)->loops->segment_start[(i) + 1];                  \
        for (int Y_ = at_->Y; at_ < end_; at_++) {                                                           \
            const path x_ = path_of(s, at_, Y_);                                                             \
            int rows_ = (s)->awake[at_->loop];                                                               \
            BY_PACKS(rows_, pass, x_, __VA_ARGS__)                                                           \
        }                                                                                                    \
    }

/* Wrenches at the child's origin p, already in the parent's axes. */
INLINE void hand_on(const REAL p[3], const pack w[6], REAL *out, bool adds) {
    const pack moved[6] = {w[0] + (p[1] * w[5] - p[2] * w[4]),
                           w[1] + (p[2] * w[3] - p[0] * w[5]),
                           w[2] + (p[0] * w[4] - p[1] * w[3]),
                           w[3],
                           w[4],
                           w[5]};
    if (adds)
        for (int k = 0; k < 6; k++) store(out + 4 * k, load(out + 4 * k) + moved[k]);
    else
        for (int k = 0; k < 6; k++) store(out + 4 * k, moved[k]);
}

INLINE pack dot6(const REAL a[6], const pack b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

INLINE void load_wrenches(const REAL *K, int g, pack w[6]) {
    for (int k = 0; k < 6; k++) w[k] = load(K + pack_at(g, 6) + 4 * k);
}

/* Each _rows: the rows of one segment through the joint of body i; b is the acceleration that the joint has
 * without its speeds' rates: bias, and gravity where the parent is ground. */

/* What is left of a wrench has no component along the joint's axis, number `kernel`. */
INLINE void aligned_rows(int packs, path x, const recursion *r, int i, const REAL b[6], int kernel) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    bool turns = kernel < LW_KERNEL_PRISMATIC;
    REAL c = turns ? r->cosine[link->v] : real(1), s = turns ? r->sine[link->v] : real(0), d = own->d,
         u = own->u;
    for (int g = 0; g < packs; g++) {
        pack w[6], left[6], moved[6];
        load_wrenches(x.K, g, w);
        pack y = w[kernel], z = d * y, total = z * u;
        for (int k = 0; k < 6; k++) {
            left[k] = k == kernel ? (pack){0} : w[k] - z * own->U[k];
            if (k != kernel) total += left[k] * b[k];
        }
        store(x.Y + pack_at(g, 1), y), store(x.Z + pack_at(g, 1), z);
        add_loose(x.l + PACK * g, total);
        if (!x.parent) continue;
        if (turns) {
            int j = (kernel + 1) % 3, k = (kernel + 2) % 3;
            moved[kernel] = left[kernel];
            moved[j] = c * left[j] - s * left[k], moved[k] = s * left[j] + c * left[k];
            moved[3 + kernel] = left[3 + kernel];
            moved[3 + j] = c * left[3 + j] - s * left[3 + k],
                      moved[3 + k] = s * left[3 + j] + c * left[3 + k];
        } else
            for (int k = 0; k < 6; k++) moved[k] = left[k];
        REAL p[3];
        for (int k = 0; k < 3; k++) p[k] = turns ? real(link->p[k]) : r->relative[i].p[k];
        hand_on(p, moved, x.parent + pack_at(g, 6), x.adds);
    }
}

/* To the parent by a pose that is not aligned. */
INLINE void turn_on(const relative_pose *at, const pack left[6], REAL *out, bool adds) {
    pack moved[6];
    for (int k = 0; k < 3; k++) {
        const REAL *row = at->R + 3 * k;
        moved[k] = row[0] * left[0] + row[1] * left[1] + row[2] * left[2];
        moved[3 + k] = row[0] * left[3] + row[1] * left[4] + row[2] * left[5];
    }
    hand_on(at->p, moved, out, adds);
}

/* x = (L D L')^-1 x by the factors of tree_forward.h; prescribed rows are left out and not touched. */
INLINE void solve_packs(int k, unsigned prescribed, const REAL *L, pack *x) {
    for (int i = 0; i < k; i++)
        for (int l = 0; l < i; l++)
            if (!(prescribed >> i & 1) && !(prescribed >> l & 1)) x[i] -= L[6 * i + l] * x[l];
    for (int i = k - 1; i >= 0; i--) {
        if (prescribed >> i & 1) continue;
        x[i] *= L[6 * i + i];
        for (int l = i + 1; l < k; l++)
            if (!(prescribed >> l & 1)) x[i] -= L[6 * l + i] * x[l];
    }
}

INLINE void spherical_rows(int packs, path x, const recursion *r, int i, const REAL b[6]) {
    const lw_link *link = &r->model->links[i];
    const REAL *B = r->U + 6 * link->v, *u = r->u + link->v;
    for (int g = 0; g < packs; g++) {
        pack w[6], z[3], left[6] = {0}, total = {0};
        load_wrenches(x.K, g, w);
        for (int k = 0; k < 3; k++) z[k] = w[k];
        solve_packs(3, 0, r->D + 6 * link->v, z);
        for (int k = 0; k < 3; k++) {
            store(x.Y + pack_at(g, 3) + 4 * k, w[k]), store(x.Z + pack_at(g, 3) + 4 * k, z[k]);
            left[3 + k] = w[3 + k] - (B[k] * z[0] + B[3 + k] * z[1] + B[6 + k] * z[2]);
            total += z[k] * u[k] + left[3 + k] * b[3 + k];
        }
        add_loose(x.l + PACK * g, total);
        if (x.parent) turn_on(&r->relative[i], left, x.parent + pack_at(g, 6), x.adds);
    }
}

/* The parent of a free joint feels nothing. */
INLINE void free_rows(int packs, path x, const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    for (int g = 0; g < packs; g++) {
        pack w[6], z[6];
        load_wrenches(x.K, g, w);
        for (int k = 0; k < 6; k++) z[k] = w[k];
        solve_packs(6, 0, r->D + 6 * link->v, z);
        for (int k = 0; k < 6; k++)
            store(x.Y + pack_at(g, 6) + 4 * k, w[k]), store(x.Z + pack_at(g, 6) + 4 * k, z[k]);
        add_loose(x.l + PACK * g, dot6(r->u + link->v, z));
        for (int k = 0; k < 6 && x.parent && !x.adds; k++) store(x.parent + pack_at(g, 6) + 4 * k, (pack){0});
    }
}

/* Two speeds that are free, maybe a universal joint's. rate = u - U'b. */
INLINE void pair_rows(int packs, path x, const recursion *r, int i, const REAL b[6], const REAL rate[2],
                      bool universal) {
    const lw_link *link = &r->model->links[i];
    const REAL *S = r->S + 6 * link->v, *U = r->U + 6 * link->v, *D = r->D + 6 * link->v;
    REAL first = D[0], mixed = D[6], second = D[7];
    for (int g = 0; g < packs; g++) {
        pack w[6], left[6];
        load_wrenches(x.K, g, w);
        pack y0 = universal ? S[0] * w[0] + S[2] * w[2] : dot6(S, w), y1 = universal ? w[1] : dot6(S + 6, w);
        pack z1 = (y1 - mixed * y0) * second, z0 = y0 * first - mixed * z1;
        REAL *Y = x.Y + pack_at(g, 2), *Z = x.Z + pack_at(g, 2);
        store(Y, y0), store(Y + 4, y1), store(Z, z0), store(Z + 4, z1);
        add_loose(x.l + PACK * g, z0 * rate[0] + z1 * rate[1] + dot6(b, w));
        if (!x.parent) continue;
        for (int k = 0; k < 6; k++) left[k] = w[k] - z0 * U[k] - z1 * U[6 + k];
        turn_on(&r->relative[i], left, x.parent + pack_at(g, 6), x.adds);
    }
}

INLINE void general_rows(int packs, path x, const recursion *r, int i, const REAL b[6]) {
    const lw_link *link = &r->model->links[i];
    int nv = link->joint.nv;
    for (int g = 0; g < packs; g++) {
        pack left[6], z[LW_JOINT_MAX_V], total = {0};
        REAL *Y = x.Y + pack_at(g, nv), *Z = x.Z + pack_at(g, nv);
        load_wrenches(x.K, g, left);
        for (int k = 0; k < nv; k++) {
            z[k] = dot6(r->S + 6 * (link->v + k), left);
            store(Y + 4 * k, z[k]);
        }
        solve_packs(nv, link->prescribed, r->D + 6 * link->v, z);
        for (int k = 0; k < nv; k++) {
            if (link->prescribed >> k & 1) z[k] = (pack){0};
            for (int l = 0; l < 6; l++) left[l] -= z[k] * r->U[6 * (link->v + k) + l];
            total += z[k] * r->u[link->v + k];
            store(Z + 4 * k, z[k]);
        }
        add_loose(x.l + PACK * g, total + dot6(b, left));
        if (x.parent) turn_on(&r->relative[i], left, x.parent + pack_at(g, 6), x.adds);
    }
}

/* Bias of joint i; where ground carries it, with ground's acceleration; prescribed speeds count like bias. */
INLINE void joint_bias(const recursion *r, int i, bool gravity, REAL b[6]) {
    const lw_link *link = &r->model->links[i];
    memcpy(b, r->nodes[i].bias, 6 * sizeof *b);
    if (link->kernel == LW_KERNEL_GENERAL && link->prescribed)
        for (int k = 0; k < link->joint.nv; k++)
            for (int l = 0; l < 6 && link->prescribed >> k & 1; l++)
                b[l] += r->vdot[link->v + k] * r->S[6 * (link->v + k) + l];
    if (!gravity || link->parent != 0) return;
    REAL g[3], x[3];
    constant3(r->model->gravity, g);
    if (link->kernel < LW_KERNEL_PRISMATIC)
        turn_back(link->kernel, r->cosine[link->v], r->sine[link->v], g, x);
    else if (link->kernel < LW_KERNEL_SPHERICAL)
        for (int k = 0; k < 3; k++) x[k] = g[k];
    else
        r3_turn_back(r->relative[i].R, g, x);
    for (int k = 0; k < 3; k++) b[3 + k] -= x[k];
}

INLINE void pass_segments(lw_rcr_system *s, const recursion *r, bool gravity, int i) {
    const lw_link *link = &r->model->links[i];
    REAL b[6];
    joint_bias(r, i, gravity, b);
    switch (link->kernel) {
    case 0:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 0)
        break;
    case 1:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 1)
        break;
    case 2:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 2)
        break;
    case 3:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 3)
        break;
    case 4:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 4)
        break;
    case 5:
        EACH_SEGMENT(s, i, aligned_rows, r, i, b, 5)
        break;
    case LW_KERNEL_SPHERICAL:
        EACH_SEGMENT(s, i, spherical_rows, r, i, b)
        break;
    case LW_KERNEL_FREE:
        EACH_SEGMENT(s, i, free_rows, r, i)
        break;
    default: /* LW_KERNEL_UNIVERSAL, LW_KERNEL_GENERAL */
        if (link->joint.nv != 2 || link->prescribed) {
            EACH_SEGMENT(s, i, general_rows, r, i, b)
            break;
        }
        const REAL *U = r->U + 6 * link->v, *u = r->u + link->v;
        const REAL rate[2] = {u[0] - r6_dot(U, b), u[1] - r6_dot(U + 6, b)};
        if (link->kernel == LW_KERNEL_UNIVERSAL)
            EACH_SEGMENT(s, i, pair_rows, r, i, b, rate, true)
        else
            EACH_SEGMENT(s, i, pair_rows, r, i, b, rate, false)
    }
}

/* --- the matrix of the multipliers ----------------------------------------------------------------- */

/* L_ts += Y_t'Z_s, or = if nothing is there yet; of a loop with itself (own) the lower triangle. */
INLINE void couple(int rows, int columns, int nv, const REAL *Y, const REAL *Z, REAL *block, bool own,
                   bool adds) {
    int width = LW_ABREAST(columns);
    for (int x = 0; x < rows; x++) {
        const REAL *left = Y + pack_at(x / PACK, nv) + x % PACK;
        for (int g = 0; g < packs_of(own ? x + 1 : columns); g++) {
            const REAL *right = Z + pack_at(g, nv);
            REAL *at = block + width * x + PACK * g;
            pack total = nv > 0 ? left[0] * load(right) : (pack){0};
            for (int n = 1; n < nv; n++) total += left[4 * n] * load(right + 4 * n);
            store(at, adds ? load(at) + total : total);
        }
    }
}

INLINE void couple_pair(int rows, int columns, int nv, const REAL *Y, const REAL *Z, REAL *block, bool own,
                        bool adds) {
    if (adds)
        couple(rows, columns, nv, Y, Z, block, own, true);
    else
        couple(rows, columns, nv, Y, Z, block, own, false);
}

/* All pairs of segments at body i; compiled for the usual numbers of rows. */
INLINE void couple_segments(const lw_rcr_system *s, int i, int nv) {
    const lw_loop_constraints *loops = s->loops;
    const lw_segment_pair *pair = loops->pairs + loops->pair_start[i];
    const lw_segment *start = loops->segments + loops->segment_start[i],
                     *end = loops->segments + loops->segment_start[i + 1];
    for (const lw_segment *first = start; first < end; first++) {
        int rows = s->awake[first->loop];
        const REAL *Y = entry(s->Y, first->Y), *own = entry(s->Z, first->Y - start->Y);
        REAL *block = entry(s->L, pair->block);
        if (rows == 3)
            couple_pair(3, 3, nv, Y, own, block, true, pair->adds);
        else if (rows == 2)
            couple_pair(2, 2, nv, Y, own, block, true, pair->adds);
        else
            couple_pair(rows, rows, nv, Y, own, block, true, pair->adds);
        pair++;
        for (const lw_segment *second = first + 1; second < end; second++, pair++) {
            int columns = s->awake[second->loop];
            const REAL *Z = entry(s->Z, second->Y - start->Y);
            block = entry(s->L, pair->block);
            if (rows == 3 && columns == 3)
                couple_pair(3, 3, nv, Y, Z, block, false, pair->adds);
            else
                couple_pair(rows, columns, nv, Y, Z, block, false, pair->adds);
        }
    }
}

INLINE void couple_at(const lw_rcr_system *s, int i) {
    int nv = s->model->links[i].joint.nv;
    if (nv == 1)
        couple_segments(s, i, 1);
    else if (nv == 2)
        couple_segments(s, i, 2);
    else
        couple_segments(s, i, nv);
}

#if LANES == 1
static void swap(double *a, double *b) {
    double x = *a;
    *a = *b, *b = x;
}

/* L_tt = C d C', C a unit triangle, with the largest pivot next, in place of the lower triangle; returns the
 * rank. The diagonal holds 1 / d. least: becomes the smallest pivot relative to its scale, if that is
 * less. */
static int factor_loop(int count, double *L, const double *scale, int *pivot, double *least) {
    const int width = LW_ABREAST(count);
    for (int i = 0; i < count; i++) {
        pivot[i] = i;
        for (int j = 0; j < i; j++) L[width * j + i] = L[width * i + j];
    }
    for (int k = 0; k < count; k++) {
        int best = -1;
        double most = 0;
        for (int i = k; i < count; i++) {
            double pivot_i = L[width * i + i], size = scale[pivot[i]];
            if (pivot_i > vanished * size && pivot_i > most * size) most = pivot_i / size, best = i;
        }
        if (best < 0) {
            *least = 0;
            return k;
        }
        if (most < *least) *least = most;
        if (best != k) { /* exchange rows and columns k and best of the symmetric matrix */
            int moved = pivot[k];
            pivot[k] = pivot[best], pivot[best] = moved;
            for (int j = 0; j < count; j++) swap(&L[width * k + j], &L[width * best + j]);
            for (int i = k; i < count; i++) swap(&L[width * i + k], &L[width * i + best]);
        }
        double inverse = 1 / L[width * k + k], column[ROWS_MAX];
        L[width * k + k] = inverse;
        for (int i = k + 1; i < count; i++) {
            column[i] = L[width * i + k];
            L[width * i + k] *= inverse;
        }
        for (int i = k + 1; i < count; i++)
            for (int j = k + 1; j <= i; j++) {
                L[width * i + j] -= L[width * i + k] * column[j];
                L[width * j + i] = L[width * i + j];
            }
    }
    return count;
}

/* The same in the order given, in which rows have been left since the last look for pivots; false, and L as
 * it was, if a pivot has become small. C is a copy. */
INLINE bool factor_in_order(int count, double *restrict L, const double *restrict scale, double *restrict C) {
    const int width = LW_ABREAST(count);
    for (int i = 0; i < count; i++) {
        double scaled[ROWS_MAX], pivot = L[width * i + i]; /* C_ij d_j */
        for (int j = 0; j < i; j++) {
            scaled[j] = L[width * i + j];
            for (int k = 0; k < j; k++) scaled[j] -= scaled[k] * C[width * j + k];
            C[width * i + j] = scaled[j] * C[width * j + j];
            pivot -= scaled[j] * C[width * i + j];
        }
        if (!(pivot > weak * scale[i])) return false;
        C[width * i + i] = 1 / pivot;
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++) L[width * i + j] = C[width * i + j];
    return true;
}

#else
/* The same in the order `pivot`. Of *fit the lanes remain in which no pivot is small. */
INLINE void factor_lanes(int count, REAL *L, const double *scale, const int *pivot, BITS *fit) {
    const int width = LW_ABREAST(count);
    REAL C[ROWS_MAX * LW_ABREAST(ROWS_MAX)];
    for (int i = 0; i < count; i++) {
        REAL scaled[ROWS_MAX]; /* C_ij d_j */
        for (int j = 0; j <= i; j++) {
            int a = pivot[i], b = pivot[j];
            scaled[j] = L[a > b ? width * a + b : width * b + a];
            for (int k = 0; k < j; k++) scaled[j] -= scaled[k] * C[width * j + k];
            if (j < i) C[width * i + j] = scaled[j] * C[width * j + j];
        }
        *fit &= real_exceeds(scaled[i], real(weak * scale[pivot[i]]));
        C[width * i + i] = 1 / scaled[i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j <= i; j++) L[width * i + j] = C[width * i + j];
}
#endif

/* out = C^-1 of the pivoted rows (NULL: as they are), each one number: x[0], x[stride], ... */
INLINE void forward_rows(int rank, int width, const REAL *C, const int *pivot, const REAL *x,
                         REAL out[ROWS_MAX]) {
    for (int i = 0; i < rank; i++) {
        out[i] = x[pivot ? pivot[i] : i];
        for (int j = 0; j < i; j++) out[i] -= C[width * i + j] * out[j];
    }
}

/* E = C^-1 K_t', 6 numbers per row. */
INLINE void take_wrenches(int rank, int count, const REAL *C, const int *pivot, const REAL *K, REAL *E) {
    for (int k = 0; k < 6; k++) {
        REAL x[ROWS_MAX], y[ROWS_MAX];
        for (int i = 0; i < count; i++) x[i] = K[lw_wrench_at(i) + 4 * k];
        forward_rows(rank, LW_ABREAST(count), C, pivot, x, y);
        for (int i = 0; i < rank; i++) E[6 * i + k] = y[i];
    }
}

/* I^ += E'd^-1 E, f^ += E'd^-1 e where the children of the base hand over their inertias. */
static void load_base(const recursion *r, int base, int rank, const REAL *E, const REAL *e,
                      const REAL *inverse) {
    sum *handed = &r->sums[r->model->links[base].slot];
    for (int k = 0; k < rank; k++) {
        const REAL *x = E + 6 * k;
        REAL y[6];
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

/* L_su -= F_s'd^-1 F_u, or = if nothing is there yet; of a loop with itself (own) the lower triangle. */
INLINE void take_off(int rank, int rows, int columns, const REAL *inverse, const REAL *Fs, const REAL *Fu,
                     REAL *block, bool own, bool adds) {
    int left = LW_ABREAST(rows), right = LW_ABREAST(columns);
    for (int x = 0; x < rows; x++) {
        REAL scaled[ROWS_MAX];
        for (int p = 0; p < rank; p++) scaled[p] = inverse[p] * Fs[left * p + x];
        for (int g = 0; g < packs_of(own ? x + 1 : columns); g++) {
            REAL *at = block + right * x + PACK * g;
            pack total = {0};
            for (int p = 0; p < rank; p++) total += scaled[p] * load(Fu + right * p + PACK * g);
            store(at, adds ? load(at) - total : -total);
        }
    }
}

/* Loop t with `count` rows awake, factored to `rank` by C in the order pivot (NULL: as they are); others: how
 * many rows are in all loops coupled with it, or 0 if that varies. */
INLINE void eliminate_rows(lw_rcr_system *s, const recursion *r, int t, int count, int rank, const REAL *C,
                           const int *pivot, int others) {
    const lw_loop_constraints *loops = s->loops;
    const lw_loop_constraint *loop = &loops->loops[t];
    const int own = LW_ABREAST(count);
    REAL *E = entry(s->E, 6 * loop->first), *e = entry(s->e, loop->first);
    bool moves = loop->base > 0; /* ground does not, and its acceleration is in l already */
    REAL inverse[ROWS_MAX], y[ROWS_MAX], pull[ROWS_MAX]; /* 1 / d, e, e / d */
    for (int k = 0; k < rank; k++) inverse[k] = C[(own + 1) * k];
    s->rank[t] = rank;
    forward_rows(rank, own, C, pivot, entry(s->l, loop->first), y);
    for (int k = 0; k < rank; k++) e[k] = y[k], pull[k] = inverse[k] * y[k];
    if (moves && rank > 0) {
        take_wrenches(rank, count, C, pivot, entry(s->K, loop->K), E);
        load_base(r, loop->base, rank, E, e, inverse);
    }
    const lw_coupling *near = loops->couplings + loop->coupling;
    for (int j = 0; j < loop->couplings; j++) {
        REAL *block = entry(s->L, near[j].block), *l = entry(s->l, loops->loops[near[j].loop].first);
        int columns = others ? others : s->awake[near[j].loop], width = LW_ABREAST(columns);
        for (int g = 0; g < packs_of(columns); g++) {
            pack F[ROWS_MAX], total = {0};
            for (int i = 0; i < rank; i++) {
                F[i] = load(block + width * (pivot ? pivot[i] : i) + PACK * g);
                for (int k = 0; k < i; k++) F[i] -= C[own * i + k] * F[k];
            }
            for (int i = 0; i < rank; i++) {
                store(block + width * i + PACK * g, F[i]);
                total -= pull[i] * F[i];
            }
            add_loose(l + PACK * g, total);
            for (int k = 0; k < 6 && moves; k++) {
                REAL *K = entry(s->K, near[j].K) + pack_at(g, 6) + 4 * k;
                pack left = load(K);
                for (int i = 0; i < rank; i++) left -= inverse[i] * E[6 * i + k] * F[i];
                store(K, left);
            }
        }
    }
    int target = loop->target;
    for (int j = 0; j < loop->couplings; j++)
        for (int k = j; k < loop->couplings; k++, target++) {
            int a = others ? others : s->awake[near[j].loop], b = others ? others : s->awake[near[k].loop];
            const REAL *Fa = entry(s->L, near[j].block), *Fb = entry(s->L, near[k].block);
            REAL *block = entry(s->L, loops->targets[target]);
            if (loops->target_adds[target])
                take_off(rank, a, b, inverse, Fa, Fb, block, j == k, true);
            else
                take_off(rank, a, b, inverse, Fa, Fb, block, j == k, false);
        }
}

#if LANES == 1
/* The usual numbers of rows compiled for themselves, in their order. */
INLINE bool eliminate_in_order(lw_rcr_system *s, const recursion *r, int t, int count) {
    const lw_loop_constraint *loop = &s->loops->loops[t];
    for (int j = 0; j < loop->couplings; j++)
        if (s->awake[s->loops->couplings[loop->coupling + j].loop] != count) return false;
    double C[ROWS_MAX * LW_ABREAST(ROWS_MAX)];
    if (!factor_in_order(count, s->L + loop->block, s->scale + loop->first, C)) return false;
    for (int k = 0; k < count; k++) s->pivot[loop->first + k] = k;
    eliminate_rows(s, r, t, count, count, C, NULL, count);
    return true;
}

static void eliminate_loop(lw_rcr_system *s, const recursion *r, int t, BITS *fit) {
    (void)fit;
    const lw_loop_constraint *loop = &s->loops->loops[t];
    int count = s->awake[t], *pivot = s->pivot + loop->first;
    if (count == 3 && eliminate_in_order(s, r, t, 3)) return;
    if (count == 2 && eliminate_in_order(s, r, t, 2)) return;
    double least = 1;
    int rank = factor_loop(count, s->L + loop->block, s->scale + loop->first, pivot, &least);
    if (least < weak) s->weak = true;
    eliminate_rows(s, r, t, count, rank, s->L + loop->block, pivot, 0);
}
#else
static void eliminate_loop(lw_rcr_system *s, const recursion *r, int t, BITS *fit) {
    const lw_loop_constraint *loop = &s->loops->loops[t];
    int count = s->awake[t], *pivot = s->pivot + loop->first;
    REAL *L = entry(s->L, loop->block);
    bool alike = count == 3;
    for (int j = 0; j < loop->couplings && alike; j++)
        alike = s->awake[s->loops->couplings[loop->coupling + j].loop] == 3;
    if (alike) {
        factor_lanes(3, L, s->scale + loop->first, pivot, fit);
        eliminate_rows(s, r, t, 3, 3, L, pivot, 3);
    } else {
        factor_lanes(count, L, s->scale + loop->first, pivot, fit);
        eliminate_rows(s, r, t, count, count, L, pivot, 0);
    }
}
#endif

/* --- outwards ------------------------------------------------------------------------------------- */

/* C^-T x, into the pivoted entries of lambda with the opposite sign. */
INLINE void backward_rows(int rank, int count, const REAL *C, const int *pivot, REAL *x, REAL *lambda) {
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) x[i] -= C[LW_ABREAST(count) * j + i] * x[j];
        lambda[pivot[i]] = -x[i];
    }
}

INLINE void add_product(int rows, int columns, const REAL *F, const REAL *restrict y, REAL *restrict x) {
    for (int k = 0; k < rows; k++)
        for (int c = 0; c < columns; c++) x[k] += F[LW_ABREAST(columns) * k + c] * y[c];
}

/* sum F_s lambda_s of loop t. */
INLINE void coupled(const lw_rcr_system *s, int t, int rank, const REAL *lambda, REAL *x) {
    const lw_loop_constraint *loop = &s->loops->loops[t];
    for (int j = 0; j < loop->couplings; j++) {
        const lw_coupling *near = &s->loops->couplings[loop->coupling + j];
        const REAL *F = entry(s->L, near->block), *other = lambda + s->loops->loops[near->loop].first;
        if (s->awake[near->loop] == 3)
            add_product(rank, 3, F, other, x);
        else
            add_product(rank, s->awake[near->loop], F, other, x);
    }
}

INLINE void solve_rows(lw_rcr_system *s, const recursion *r, int t, int rank, int count) {
    const lw_loop_constraint *loop = &s->loops->loops[t];
    const int *pivot = s->pivot + loop->first;
    REAL x[ROWS_MAX], *lambda = entry(s->lambda, loop->first);
    const REAL *e = entry(s->e, loop->first), *E = entry(s->E, 6 * loop->first),
               *C = entry(s->L, loop->block);
    for (int k = 0; k < rank; k++) x[k] = e[k];
    for (int k = 0; k < rank && loop->base > 0; k++) x[k] += r6_dot(E + 6 * k, r->nodes[loop->base].a);
    coupled(s, t, rank, entry(s->lambda, 0), x);
    for (int k = 0; k < rank; k++) x[k] *= C[(LW_ABREAST(count) + 1) * k];
    for (int k = rank; k < count; k++) lambda[pivot[k]] = real(0);
    backward_rows(rank, count, C, pivot, x, lambda);
}

static void solve_loop(lw_rcr_system *s, const recursion *r, int t) {
    if (s->rank[t] == 3 && s->awake[t] == 3)
        solve_rows(s, r, t, 3, 3);
    else
        solve_rows(s, r, t, s->rank[t], s->awake[t]);
}

static void solve_based_loops(lw_rcr_system *s, const recursion *r, int body) {
    int first = s->loops->at_base[body];
    for (int t = first + s->loops->based[body] - 1; t >= first; t--) solve_loop(s, r, t);
}

/* Y lambda of one speed, whose components are 4 nv apart for every four rows. */
INLINE REAL pushed(int rows, int nv, const REAL *Y, const REAL *lambda) {
    REAL total = Y[0] * lambda[0];
    for (int row = 1; row < rows; row++) total += Y[nv * (row / 4 * 4) + row % 4] * lambda[row];
    return total;
}

/* The multipliers push the joint of body i: u += Y lambda, for accelerate. */
INLINE void push_speeds(const lw_rcr_system *s, int i, int nv, REAL *u) {
    const lw_segment *end = s->loops->segments + s->loops->segment_start[i + 1];
    for (const lw_segment *segment = s->loops->segments + s->loops->segment_start[i]; segment < end;
         segment++) {
        const REAL *Y = entry(s->Y, segment->Y), *lambda = entry(s->lambda, segment->row);
        int rows = s->awake[segment->loop];
        if (rows == 3)
            for (int n = 0; n < nv; n++) u[n] += pushed(3, nv, Y + 4 * n, lambda);
        else if (rows > 0)
            for (int n = 0; n < nv; n++) u[n] += pushed(rows, nv, Y + 4 * n, lambda);
    }
}

INLINE void push_joint(const lw_rcr_system *s, const recursion *r, int i) {
    const lw_link *link = &r->model->links[i];
    if (link->kernel < LW_KERNEL_SPHERICAL)
        push_speeds(s, i, 1, &r->nodes[i].u);
    else if (link->kernel == LW_KERNEL_UNIVERSAL)
        push_speeds(s, i, 2, r->u + link->v);
    else
        push_speeds(s, i, link->joint.nv, r->u + link->v);
}

/* --- both ----------------------------------------------------------------------------------------- */

/* Solves the equations after velocities, for given l, and K at the bodies on which the rows act. Returns the
 * body at which some speed moves no inertia and that speed's number from 1, or 0. Of several states, *fit
 * loses the lanes with small pivots; of one, s->weak says so. */
INLINE int both_passes(lw_rcr_system *s, const recursion *r, bool gravity, int *bad_speed, BITS *fit) {
    const lw_model *model = s->model;
    const lw_loop_constraints *loops = s->loops;
    int n = model->body_count, bad_body = 0;
    for (int i = n; i >= 0; i--) {
        for (int k = 0; k < loops->based[i]; k++) eliminate_loop(s, r, loops->at_base[i] + k, fit);
        if (i == 0) break;
        int bad = 0;
        BY_JOINT(&model->links[i], eliminate, r, i, &bad)
        if (__builtin_expect(bad && !bad_body, 0)) bad_body = i, *bad_speed = bad;
        if (loops->segment_start[i] == loops->segment_start[i + 1]) continue;
        pass_segments(s, r, gravity, i);
        couple_at(s, i);
    }
    if (bad_body) return bad_body;
    hang_ground(r);
    for (int k = 0; k < 6 && !gravity; k++) r->nodes[0].a[k] = real(0);
    solve_based_loops(s, r, 0);
    for (int i = 1; i <= n; i++) {
        push_joint(s, r, i);
        BY_JOINT(&model->links[i], accelerate, r, i)
        if (loops->based[i]) solve_based_loops(s, r, i);
    }
    return 0;
}

#if LANES == 1
static recursion recursion_for(const lw_rcr_system *s, const lw_subject *subject) {
    recursion r = recursion_of(s->model, s->data);
    r.v = subject->v;
    r.tau = subject->tau;
    r.load = subject->load;
    r.drive = subject->drive;
    return r;
}

/* lw_rcr_system_start */
static void start(lw_rcr_system *s, const lw_subject *subject) {
    const recursion r = recursion_for(s, subject);
    velocities(&r);
}

/* lw_rcr_system_run */
static lw_status run(lw_rcr_system *s, const lw_subject *subject, lw_error *error) {
    const recursion r = recursion_for(s, subject);
    int speed = 0;
    s->weak = false;
    int body = both_passes(s, &r, subject->gravity, &speed, NULL);
    return body ? lw_undetermined(s->model, body, speed, error) : LW_OK;
}
#endif
