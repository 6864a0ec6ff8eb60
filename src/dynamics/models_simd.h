/* models_simd.h - forward dynamics of several trees at a time, alike in structure and different in numbers,
 * one model in each lane of a vector; one table for each width.
 */
#ifndef LW_MODELS_SIMD_H
#define LW_MODELS_SIMD_H

#include "dynamics/tree_dynamics.h"

enum { LW_MODELS_MOST = 8 }; /* the widest vector */

typedef struct lw_models_simd {
    int width; /* models at a time */
    /* Doubles of workspace, aligned to 64 bytes, for models like this one. */
    size_t (*size)(const lw_model *model);
    /* Takes the numbers of `width` models that are alike into the workspace. */
    void (*take)(const lw_model *const *models, double *workspace);
    /* Accelerations of each model in its own state: coordinate k of model l at q[k * width + l], and so on.
     * datas serve the force elements, one for each model; powers receives theirs. False: some joint of some
     * model moves no inertia, and no answer is good. */
    bool (*forward)(const lw_model *const *models, lw_data *const *datas, double *workspace, double t,
                    const double *q, const double *v, double *vdot, lw_power *powers);
} lw_models_simd;

extern const lw_models_simd lw_models_simd_2, lw_models_simd_4, lw_models_simd_8;
/* The widest that the processor has. */
const lw_models_simd *lw_models_simd_widest(void);

/* Can these models stand in lanes of one vector? Both are trees whose bodies, joints and kinds of numbers are
 * the same, and that differ in masses, inertias, lengths, frames, gravity, rotors and forces alone. */
bool lw_models_alike(const lw_model *one, const lw_model *other);

#endif
