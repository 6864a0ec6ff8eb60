/* lightness.h - what the mass and the inertia of a body are measured against, to be called small.
 */
#ifndef LW_LIGHTNESS_H
#define LW_LIGHTNESS_H

#include <linkwork/model.h>

/* One body of a spec. */
typedef struct lw_lightness {
    int label;                 /* in the compiled model */
    double mass, inertia[6];   /* as in the spec */
    int moments;               /* how many principal moments its kind has: 0, 1 (planar), 3 */
    double principal[3];       /* ascending */
    double heaviest, greatest; /* what they are measured against; 0: there is nothing */
} lw_lightness;

/* One for each body of the spec, in its order; to be freed. */
lw_status lw_weigh_bodies(const lw_spec *spec, lw_lightness **bodies, lw_error *error);

/* Compiles; the first fault goes into error. */
lw_status lw_compile_quietly(const lw_spec *spec, lw_model **model, lw_error *error);

#endif
