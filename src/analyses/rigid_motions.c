/* rigid_motions.c - motions that nothing opposes, and how many eigenvalues are zero for them.
 *
 *   M z'' + C z' + K z + .. = 0:   K z0 = 0,   K z1 + C z0 = 0                                         (6, 7)
 *
 * Each z0 is a motion with the eigenvalue zero; where there is a z1, the eigenvalue is double. Rounding
 * splits double zeros by the root of its size, so that eigenvalues are counted and not judged by theirs:
 * beside a stiff damper those of soft springs are smaller than what rounding leaves.
 *
 * Source   docs/theory/modes.md, 6 and 7.
 * Cost     O(n^3). Allocates.
 */
#include "analyses/rigid_motions.h"

#include <math.h>
#include <string.h>

/* Rows and columns of K are divided by the roots of their largest entries, so that soft springs count beside
 * stiff ones; but where these are below this part of the largest of all, they are rounding and stay small. */
static const double rank_tolerance = 1e-12;

/* The columns of Q behind the rank, for the factors of A or of A' (n x n): the left or right null space. */
static int null_space(lw_orthogonal *factors, int n, const double *A, bool right, double *work, int *order,
                      double *basis) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) work[i + j * n] = right ? A[j + i * n] : A[i + j * n];
    int rank = lw_qr_factor(factors, n, n, work, order, rank_tolerance);
    if (n == 0 || work[0] == 0) rank = 0;
    memset(basis, 0, (size_t)n * (size_t)(n - rank) * sizeof *basis);
    for (int j = 0; j < n - rank; j++) basis[rank + j + j * n] = 1;
    lw_qr_apply(factors, false, n, n, work, n - rank, basis);
    return n - rank;
}

bool lw_rigid_motions(lw_arena *arena, int motions, int n, double *K, const double *C, int *rigid,
                      int *zeros) {
    const size_t square = (size_t)n * (size_t)n + 1;
    double *scale = LW_NEW(arena, double, n + 1), *work = LW_NEW(arena, double, square),
           *left = LW_NEW(arena, double, square), *right = LW_NEW(arena, double, square),
           *chains = LW_NEW(arena, double, square);
    int *order = LW_NEW(arena, int, n + 1);
    lw_orthogonal *factors = lw_orthogonal_create(n + 1, n + 1, false);
    const bool fine = factors && !lw_arena_failed(arena);
    *rigid = *zeros = 0;
    if (fine) {
        double most_C = 0, most_K = 0, all_C = 0;
        for (int k = 0; k < n * n; k++) most_K = fmax(most_K, fabs(K[k]));
        for (int i = 0; i < n; i++) {
            double most = 0;
            for (int j = 0; j < n; j++) most = fmax(most, fmax(fabs(K[i + j * n]), fabs(K[j + i * n])));
            if (!(most > rank_tolerance * most_K)) most = most_K;
            scale[i] = most > 0 ? 1 / sqrt(most) : 1;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                K[i + j * n] *= scale[i] * scale[j];
                all_C = fmax(all_C, scale[i] * fabs(C[i + j * n]) * scale[j]);
            }
        const int free_left = null_space(factors, n, K, false, work, order, left);
        const int free_right = null_space(factors, n, K, true, work, order, right);
        /* left' C right, of the columns that stand for motions; z = scale times the scaled one */
        for (int a = 0; a < free_left; a++)
            for (int b = 0; b < free_right; b++) {
                double sum = 0, size = 0;
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++) {
                        const double entry =
                            scale[i] * left[i + a * n] * C[i + j * n] * scale[j] * right[j + b * n];
                        sum += entry, size += fabs(entry);
                    }
                chains[a + b * free_left] = fabs(sum) > 1e-10 * size && fabs(sum) > 1e-13 * all_C ? sum : 0;
                most_C = fmax(most_C, fabs(chains[a + b * free_left]));
            }
        const int single = most_C > 0 ? lw_qr_factor(factors, free_left, free_right, chains, order, 1e-9) : 0;
        *zeros = 2 * free_right - single;
        /* Of null vectors of K those that move something. */
        for (int b = 0; b < free_right; b++)
            for (int j = 0; j < motions; j++) chains[j + b * motions] = right[j + b * n];
        *rigid = motions > 0 && free_right > 0
                     ? lw_qr_factor(factors, motions, free_right, chains, order, 1e-9)
                     : 0;
        double most = 0;
        for (int k = 0; k < motions && free_right > 0; k++) most = fmax(most, fabs(chains[0]));
        if (most == 0) *rigid = 0;
    }
    lw_orthogonal_destroy(factors);
    return fine;
}
