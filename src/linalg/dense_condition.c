/* dense_condition.c - the 1-norm of an inverse by Hager's method, as improved by Higham.
 *
 * |A^-1|_1 is the largest value of the convex function f(x) = |A^-1 x|_1 on the unit ball, which it takes at
 * a unit vector e_j. A gradient of f at x is g = A^-T sign(A^-1 x): as long as an entry |g_j| exceeds g'x,
 * e_j gives a larger value. A start at (1, ..., 1) / n and rarely more than two steps suffice. A vector of
 * alternating signs that grows slowly guards against matrices for which the method stops too early.
 *
 * Source   Hager, SIAM J. Sci. Stat. Comput. 5 (1984); Higham, ACM TOMS 14 (1988), algorithm 4.1.
 * Cost     four to eleven solutions.
 */
#include "linalg/dense_condition.h"

#include <math.h>

static double sum_of_amounts(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

static int largest(int n, const double *x) {
    int at = 0;
    for (int i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at])) at = i;
    return at;
}

/* Puts the signs of x into sign and x; returns whether none has changed. */
static bool take_signs(int n, double *x, double *sign) {
    bool same = true;
    for (int i = 0; i < n; i++) {
        const double s = x[i] < 0 ? -1 : 1;
        same &= s == sign[i];
        x[i] = sign[i] = s;
    }
    return same;
}

/* f after the last step. */
static double climb(int n, lw_solve solve, void *context, double *x, double *sign) {
    enum { STEPS = 5 };
    for (int i = 0; i < n; i++) x[i] = 1 / (double)n, sign[i] = 0;
    solve(context, false, x);
    double best = sum_of_amounts(n, x);
    if (n == 1) return best;
    take_signs(n, x, sign);
    solve(context, true, x);
    for (int step = 1, j = largest(n, x); step < STEPS; step++) {
        for (int i = 0; i < n; i++) x[i] = i == j;
        solve(context, false, x);
        const double value = sum_of_amounts(n, x);
        if (!(value > best)) return isnan(value) ? value : best;
        best = value;
        if (take_signs(n, x, sign)) return best;
        solve(context, true, x);
        const int next = largest(n, x);
        if (fabs(x[next]) == fabs(x[j])) return best;
        j = next;
    }
    return best;
}

double lw_inverse_norm(int n, lw_solve solve, void *context, double *work) {
    if (n == 0) return 0;
    double *x = work, *sign = work + n;
    double best = climb(n, solve, context, x, sign);
    for (int i = 0; i < n && n > 1; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (double)(n - 1));
    if (n > 1) {
        solve(context, false, x);
        const double other = 2 * sum_of_amounts(n, x) / (3 * (double)n);
        if (!(other <= best)) best = other;
    }
    return isfinite(best) ? best : INFINITY;
}
