/* director_recursive_newton.h - what the files of the sweeps over a tree share: bodies on the way, and
 * vectors with more digits.
 */
#ifndef LW_DIRECTOR_RECURSIVE_NEWTON_H
#define LW_DIRECTOR_RECURSIVE_NEWTON_H

#include "formulations/director/director_parts.h"

typedef long double lw_wide;

enum { LW_SWEEP_AHEAD = 3 };

/* One body on the way in and out. */
typedef struct lw_sweep_body {
    lw_wide W[6];        /* what its children pass on */
    lw_wide turn[4];     /* rotation in the step; length of no importance */
    double k[6], A[36];  /* the same of k and, column by column, of A */
    double arm[3];       /* from the parent's centre, at q1 */
    double delta[6];     /* increment (displacement of the centre; rotation) */
    double *S, *H, *E;   /* 6 per speed: columns; C S D^-1 (C: what dt_i adds to the parent's dW); D^-1 E */
    double *inverse, *y; /* D^-1; D^-1 S~'(W + k) */
    double load[6];      /* W of the last step over its length: what its joint transmits */
    int parent, speeds, first_speed;
    int joint;   /* its joint in the spec's order */
    bool slides; /* some of its speeds do */
    bool pushed; /* an element acts in its joint */
} lw_sweep_body;

struct lw_sweep {
    lw_sweep_body *bodies;
    int *first_force, *forces, *first_measure,
        *measures;                         /* elements and their measures by the body nearer to the leaves */
    bool *loaded;                          /* some element acts on the body */
    bool books;                            /* some element does work that is booked */
    bool known, far;                       /* loads are known; the last increment was large */
    bool fresh;                            /* on the last way inwards there was a new matrix */
    int at;                                /* the body whose elements are added */
    double to_parent[36], from_parent[36]; /* A_ip, A_pi */
};

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
    for (int k = 0; k < 12; k++) q[k] = d->q0[12 * i + k] + (lw_wide)d->low_q[12 * i + k];
}
static inline void lw_wide_change(const lw_director *d, int i, lw_wide q[12]) {
    for (int k = 0; k < 12; k++) q[k] = d->change[12 * i + k] + (lw_wide)d->rest[12 * i + k];
}
static inline void lw_wide_middle(const lw_director *d, int i, lw_wide q[12]) {
    for (int k = 12 * i; k < 12 * i + 12; k++)
        q[k - 12 * i] = d->q0[k] + (d->low_q[k] + 0.5L * (d->change[k] + (lw_wide)d->rest[k]));
}

static inline void lw_wide_multiply(const lw_wide a[4], const lw_wide b[4], lw_wide out[4]) {
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
    out[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}

/* Asks for what a body needs, some bodies ahead of its turn: a tree that does not fit into the caches would
 * else be waited for, line by line. */
void lw_director_sweep_fetch(const lw_director *d, int body);
/* The body from its turn or its joint's increments: change, rest, q1 and qm. That of its parent is known. */
void lw_director_sweep_place(lw_director *d, int body);
/* Nothing is on its way: after a way inwards that ended early, and where residuals were used otherwise. */
void lw_director_sweep_clear(lw_director *d);

#endif
