/* small.c - matrices of fixed or small size: eigenvalues and axes of symmetric 3 x 3 matrices by Jacobi's
 * rotations, and inverses by Gauss-Jordan elimination with row pivoting.
 *
 * Each rotation in the plane (i, j) makes the entry ij vanish:
 *
 *   theta = (S_jj - S_ii) / (2 S_ij),   t = sign(theta) / (|theta| + sqrt(theta^2 + 1)) = tan of the angle
 *
 * Exact to rounding also where two eigenvalues are equal, as for every rod: a closed form loses half the
 * digits there. Converges quadratically: four or five rounds.
 *
 * Source   Golub & Van Loan, Matrix Computations, 8.5.
 */
#include "linalg/small.h"

#include <math.h>
#include <string.h>

/* Column operations on the rows of X: (x_i, x_j) <- (c x_i - s x_j, s x_i + c x_j). */
static void rotate_columns(double X[9], int i, int j, double c, double s) {
    for (int k = 0; k < 3; k++) {
        double x = X[3 * k + i], y = X[3 * k + j];
        X[3 * k + i] = c * x - s * y, X[3 * k + j] = s * x + c * y;
    }
}

void lw_s3_axes(const double S[6], double e[3], double axes[9]) {
    enum { ROUNDS = 30 };
    const double overflow = 1e150; /* of theta^2: such an entry is nothing beside the diagonal */
    double A[3][3] = {{S[0], S[3], S[4]}, {S[3], S[1], S[5]}, {S[4], S[5], S[2]}};
    memset(axes, 0, 9 * sizeof *axes);
    for (int k = 0; k < 3; k++) axes[4 * k] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (A[0][1] == 0 && A[0][2] == 0 && A[1][2] == 0) break;
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++) {
                if (A[i][j] == 0) continue;
                double theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
                double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                if (!(fabs(theta) < overflow)) t = 0;
                double c = 1 / sqrt(t * t + 1), s = t * c;
                int k = 3 - i - j;
                double ik = A[i][k], jk = A[j][k];
                A[i][i] -= t * A[i][j];
                A[j][j] += t * A[i][j];
                A[i][j] = A[j][i] = 0;
                A[i][k] = A[k][i] = c * ik - s * jk;
                A[j][k] = A[k][j] = s * ik + c * jk;
                rotate_columns(axes, i, j, c, s);
            }
    }
    for (int k = 0; k < 3; k++) e[k] = A[k][k];
}

static void exchange(double *a, double *b) {
    double x = *a;
    *a = *b, *b = x;
}

void lw_s3_axes_ascending(const double S[6], double e[3], double axes[9]) {
    lw_s3_axes(S, e, axes);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 2; k++) {
            if (!(e[k] > e[k + 1])) continue;
            exchange(&e[k], &e[k + 1]);
            for (int i = 0; i < 3; i++) exchange(&axes[3 * i + k], &axes[3 * i + k + 1]);
        }
}

/* Brings the largest entry of column c, from the diagonal on, to the diagonal; returns the row it was in. */
static int pivot_row(int n, double *A, int c) {
    int best = c;
    for (int r = c + 1; r < n; r++)
        if (fabs(A[r * n + c]) > fabs(A[best * n + c])) best = r;
    for (int j = 0; j < n && best != c; j++) exchange(&A[c * n + j], &A[best * n + j]);
    return best;
}

bool lw_invert(int n, double *A) {
    if (n == 1) {
        A[0] = 1 / A[0];
        return isfinite(A[0]);
    }
    int row[LW_INVERT_MAX];
    for (int c = 0; c < n; c++) {
        row[c] = pivot_row(n, A, c);
        double pivot = 1 / A[c * n + c];
        if (!isfinite(pivot)) return false;
        A[c * n + c] = 1;
        for (int j = 0; j < n; j++) A[c * n + j] *= pivot;
        for (int r = 0; r < n; r++) {
            if (r == c) continue;
            double x = A[r * n + c];
            A[r * n + c] = 0;
            for (int j = 0; j < n; j++) A[r * n + j] -= x * A[c * n + j];
        }
    }
    for (int c = n - 1; c >= 0; c--)
        for (int r = 0; r < n && row[c] != c; r++) exchange(&A[r * n + c], &A[r * n + row[c]]);
    return true;
}
