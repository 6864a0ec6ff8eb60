/* balance_parts.h - the terms of the balance check, for the files that implement it.
 *
 * balance.c             the equations (1) to (4) of docs/theory/balance.md
 * balance_certainty.c   whether they determine the answer (8)
 * balance_couplings.c   the rows of couplings by curves, derived once more (3c)
 * balance_positions.c   rounding of positions that follow from forces (9)
 */
#ifndef LW_BALANCE_PARTS_H
#define LW_BALANCE_PARTS_H

#include "constraints/balance/balance.h"
#include "model/rows.h"

/* The sum of the terms in the equation of one body: its residual, and the magnitudes of the terms. Torque
 * first, then force. */
typedef struct lw_term_sum {
    double rest[6];
    double sum[2], own[2];
    /* The magnitudes of the products of velocities before they cancel: a rotor that is balanced has no
     * inertia forces, except for their rounding. */
    double swirl[2];
    double arm;    /* The longest arm of the forces on the body, which may be zero or rounding; */
    double length; /* the same, or, where it is, that of the mechanism. */
    /* The effect of rounding in accelerations on the inertia forces of the body, and of all that its joint
     * carries. */
    double rounding[2], beyond[2];
} lw_term_sum;

struct lw_balance {
    lw_arena *arena;
    const lw_model *model;
    lw_data *data;
    lw_rows *rows; /* Rows of closures and constraints. */
    double *A;     /* 6 per body, 0 .. n: spatial acceleration, internal axes and origin */
    double *a;     /* 6 per body: (angular acceleration; acceleration of the centre of mass), world axes. */
    double *V;     /* 6 per body: the velocities in the rows. */
    /* 2 per body, 0 .. n: the error of A, angular and linear, due to rounding of joint accelerations. */
    double *digits;
    double *slack; /* per row: H'V - rate */
    /* Per body: the accelerations (as lw_balance_shake has them) that applied forces cause anywhere in the
     * mechanism of which it is part: what hangs on the ground at the same body, and what loops join to it. */
    double *scales;
    lw_term_sum *sums; /* per body, 0 .. n */
    double *parts;     /* 2 per element: the magnitudes of its parts, torque and force. */
    /* Per speed: the magnitudes of all parts of the joint's elements, which may cancel each other. */
    double *gross;
    /* The same at the given speeds, where bodies without mass have other ones in the answer: the forces of
     * their dampers are rounded like those from which the new speeds follow. */
    double *given_gross;
    /* What rounding of positions changes, where bodies lack mass: the forces of the elements in joints, nv,
     * and the loads of bodies (torque, force), 2 per body, 0 .. n (9). Workspace: the forces and loads
     * without it, nv + 6 (n + 1), and a state. */
    double *blur, *plain, *displaced_q, *displaced_v;
    double length;   /* The longest arm on a body. */
    double extent;   /* Of the mechanism, wherever it lies. */
    double heaviest; /* The largest mass of a body. */
    double lightest; /* The least mass of a body; 0 where one has none. */
    double most;     /* The largest force in the mechanism. */
    int strongest;   /* The body on which it acts. */
    double acting;   /* The largest applied force: the bodies' own terms, and elements in joints. */
    /* Rounding relative to the largest force: g eps, or the accuracy of an approximate method. */
    double noise;
    /* The noise of forces: `noise` times the largest force. */
    double floor;
};

/* The residual of (3) for a coupling by curves, and in *sum the magnitudes of its terms. */
double lw_balance_curve(const lw_balance *b, const lw_balance_state *s, const lw_constraint *constraint,
                        double *sum);

/* Fills blur, with zeros where positions do not follow from forces. The state of data is changed. */
void lw_balance_blur(lw_balance *b, const lw_balance_state *s);

#endif
