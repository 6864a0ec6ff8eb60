/* results.h - what a run delivers at each requested time.
 */
#ifndef LINKWORK_RESULTS_H
#define LINKWORK_RESULTS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where the energy went since the start: kinetic + potential - initial = drives + forces - dissipation +
 * unaccounted. */
typedef struct lw_ledger {
    double kinetic, potential;
    double drives;      /* work of joint drives and of prescribed motions */
    double forces;      /* work of applied forces, and of laws without a potential */
    double dissipation; /* lost in dampers and friction, positive */
    double unaccounted;
} lw_ledger;

typedef struct lw_sample {
    double t;
    const double *q, *v;
    const lw_ledger *ledger;
    double progress; /* 0 .. 1 */
} lw_sample;

#ifdef __cplusplus
}
#endif
#endif
