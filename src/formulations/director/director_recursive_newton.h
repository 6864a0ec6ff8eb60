/* director_recursive_newton.h - what both files of the recursive solver share: its memory, and vectors of
 * long doubles ("wide": with more digits).
 */
#ifndef LW_DIRECTOR_RECURSIVE_NEWTON_H
#define LW_DIRECTOR_RECURSIVE_NEWTON_H

#include "formulations/director/director_parts.h"

typedef long double lw_wide;

enum { LW_FETCH_AHEAD = 3 };

/* What the recursion knows of one body. W, k and A are sums that the children of the body add to on the way
 * inwards; the body itself uses them up. */
typedef struct lw_recursive_body {
    lw_wide W[6];       /* balance of all bodies beyond its children's joints, at its centre */
    lw_wide turn[4];    /* quaternion of its rotation in the step; its length does not matter */
    double k[6], A[36]; /* dW = A dt + k for an increment dt of its twist; A column by column */
    double arm[3];      /* from the parent's centre to its own, at q1 */
    double delta[6];    /* increment: displacement of the centre, rotation */
    double *S;          /* columns of its joint at q1, 6 per speed */
    double *H; /* C S D^-1, 6 per speed; C dt is what the body's increment adds to dW of its parent */
    double *E; /* D^-1 E, 6 per speed: what an increment of the parent adds to those of the speeds */
    double *inverse, *y; /* D^-1, and D^-1 S~'(W + k) */
    double load[6];      /* the force that its joint transmitted last: W over the length of the step */
    int parent, speeds, first_speed;
    int joint;   /* number of its joint in the spec */
    bool slides; /* its joint slides */
    bool pushed; /* an element acts in its joint */
} lw_recursive_body;

typedef struct lw_director_recursive {
    lw_recursive_body *bodies;
    /* The elements that body i is responsible for, and their measures: an element belongs to the one of its
     * two bodies that is farther from ground. forces[first_force[i]] is the first. */
    int *first_force, *forces, *first_measure, *measures;
    bool *loaded; /* some element acts on the body */
    bool books;   /* some element does work that is booked */
    bool known;   /* every body's load is known, from a step or from an earlier increment */
    bool far;     /* the last increment was large: matrices are better taken at the loads than at W */
    bool fresh;   /* the last pass inwards made a new matrix */
    bool clear;   /* the sums in the bodies and in the balance are zero */
    int at;       /* the body whose elements are being added */
    int age;      /* steps since rows were checked */
    double to_parent[36], from_parent[36]; /* A_ip and A_pi of that body, from its elements */
} lw_director_recursive;

/* --- wide vectors --------------------------------------------------------------------------------- */

static inline void lw_wide_cross(const lw_wide a[3], const lw_wide b[3], lw_wide out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}
static inline lw_wide lw_wide_dot(const lw_wide a[3], const lw_wide b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void lw_wide_narrow(int n, const lw_wide *a, double *out) {
    for (int k = 0; k < n; k++) out[k] = (double)a[k];
}
/* out += sign times the combination of directors alone. */
static inline void lw_wide_add_arm(const double c[4], const lw_wide *q, lw_wide sign, lw_wide out[3]) {
    for (int k = 0; k < 3; k++) out[k] += sign * (c[1] * q[3 + k] + c[2] * q[6 + k] + c[3] * q[9 + k]);
}
static inline void lw_wide_combine(const double c[4], const lw_wide *q, lw_wide out[3]) {
    for (int k = 0; k < 3; k++) out[k] = c[0] * q[k];
    lw_wide_add_arm(c, q, 1, out);
}

static inline void lw_wide_begin(const lw_director *d, int i, lw_wide q[12]) {
    for (int k = 0; k < 12; k++) q[k] = d->step.q0[12 * i + k] + (lw_wide)d->step.low_q[12 * i + k];
}
static inline void lw_wide_change(const lw_director *d, int i, lw_wide q[12]) {
    for (int k = 0; k < 12; k++) q[k] = d->step.change[12 * i + k] + (lw_wide)d->step.rest[12 * i + k];
}
static inline void lw_wide_middle(const lw_director *d, int i, lw_wide q[12]) {
    for (int k = 12 * i; k < 12 * i + 12; k++)
        q[k - 12 * i] =
            d->step.q0[k] + (d->step.low_q[k] + 0.5L * (d->step.change[k] + (lw_wide)d->step.rest[k]));
}

static inline void lw_wide_multiply(const lw_wide a[4], const lw_wide b[4], lw_wide out[4]) {
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
    out[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}

/* Fetches the data of a body into the caches. It is called some bodies ahead, since a tree that does not fit
 * into the caches would otherwise have to be waited for, line by line. */
void lw_director_recursive_fetch(const lw_director *d, int body);
/* Computes change, rest, q1 and qm of a body from its rotation or from the increments of its joint. Those of
 * its parent must be known. */
void lw_director_recursive_poses(lw_director *d, int body);
/* Clears all sums: before the first step, after a pass inwards that ended early, and after the other solver
 * was at work. */
void lw_director_recursive_clear(lw_director *d);
/* The entry `start` of the solver (director_recursive_positions.c). */
void lw_director_recursive_start(lw_director *d);

#endif
