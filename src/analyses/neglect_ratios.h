/* neglect_ratios.h - what the mass and the inertia of a body are measured against, to be called small.
 */
#ifndef LW_NEGLECT_RATIOS_H
#define LW_NEGLECT_RATIOS_H

#include <linkwork/model.h>

/* One body of a spec. */
typedef struct lw_neglect_ratios {
    int label;               /* in the compiled model */
    double mass, inertia[6]; /* as in the spec */
    int moments;             /* how many principal moments its kind has: 0, 1 (planar), 3 */
    double principal[3];     /* ascending */
    double axis[3];          /* of the smallest of three */
    /* what they are measured against: a mass, and moments of inertia about the centre of mass, in the axes of
     * the spec */
    double heaviest, reference[6];
    double mass_ratio;            /* of its mass; 1: there is nothing to measure against */
    double ratio, smallest_ratio; /* of all its moments together, and of the smallest of three alone */
} lw_neglect_ratios;

/* One for each body of the spec, in its order; to be freed. */
lw_status lw_weigh_bodies(const lw_spec *spec, lw_neglect_ratios **bodies, lw_error *error);

/* Compiles; the first fault goes into error. */
lw_status lw_compile_quietly(const lw_spec *spec, lw_model **model, lw_error *error);

#endif
