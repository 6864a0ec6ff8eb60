/* joint_sincos.h - sines and cosines of the joints of one state.
 */
#ifndef LW_JOINT_SINCOS_H
#define LW_JOINT_SINCOS_H

#include "model/compiled_model.h"

/* Sine and cosine of every aligned revolute joint, at the index of its speed. */
void lw_joint_sincos(const lw_model *model, const double *q, double *sine, double *cosine);
/* On a processor with AVX2 only. */
void lw_joint_sincos_4(const lw_turn *turns, int count, const double *q, double *sine, double *cosine);

#endif
