/* hessenberg.h - a linear system in Hessenberg form, for its response at many frequencies: part of the full
 * library alone.
 */
#ifndef LW_HESSENBERG_H
#define LW_HESSENBERG_H

#include <stdbool.h>

/* A is balanced and brought to upper Hessenberg form by orthogonal columns, A := Q'(S^-1 A S) Q; B := Q'S^-1
 * B and C := C S Q follow, so that C (s - A)^-1 B stays. A n x n, B n x inputs, C outputs x n, column by
 * column. The call allocates its workspace; false: no memory. */
bool lw_hessenberg_reduce(int n, double *A, int inputs, double *B, int outputs, double *C);

/* X = (i w - A)^-1 B for the Hessenberg matrix A, by elimination with pivots among neighbours: B n x inputs,
 * X the same in pairs of real and imaginary parts. work: 2 n (n + 1) numbers. Returns the smallest pivot
 * relative to the largest entry of i w - A; where it is zero X has no meaning. */
double lw_hessenberg_solve(int n, const double *A, double w, int inputs, const double *B, double *X,
                           double *work);

#endif
