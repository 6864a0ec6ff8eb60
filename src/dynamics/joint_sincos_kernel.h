/* joint_sincos_kernel.h - sines and cosines of the aligned revolute joints of one state, LANES joints at a
 * time: included by joint_sincos.c and joint_sincos_4.c, which differ in LANES and in the instructions that
 * their compiler may use.
 *
 * Results are those of real_sincos for one joint to the last bit.
 */
#include "model/compiled_model.h"
#include "linalg/simd.h"

static inline void turn_joints(const lw_turn *turn, int count, const double *q, double *sine,
                               double *cosine) {
    REAL s, c;
    for (; count >= LANES; count -= LANES, turn += LANES) {
        REAL angle = {0};
        for (int l = 0; l < LANES; l++) angle[l] = turn[l].sign * q[turn[l].q];
        real_sincos(angle, &s, &c);
        for (int l = 0; l < LANES; l++) sine[turn[l].v] = s[l], cosine[turn[l].v] = c[l];
    }
    if (count == 0) return;
    REAL angle = {0};
    for (int l = 0; l < count; l++) angle[l] = turn[l].sign * q[turn[l].q];
    real_sincos(angle, &s, &c);
    for (int l = 0; l < count; l++) sine[turn[l].v] = s[l], cosine[turn[l].v] = c[l];
}
