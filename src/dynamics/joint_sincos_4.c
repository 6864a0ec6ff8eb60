/* joint_sincos_4.c - sines and cosines of four joints at a time, with AVX2 (joint_sincos_kernel.h).
 */
#define LANES 4
#include "dynamics/joint_sincos.h"
#include "dynamics/joint_sincos_kernel.h"

void lw_joint_sincos_4(const lw_turn *turns, int count, const double *q, double *sine, double *cosine) {
    turn_joints(turns, count, q, sine, cosine);
}
