/* joint_sincos.c - sines and cosines of the aligned revolute joints of one state.
 *
 * Every 64-bit x86 and ARM processor computes two doubles in the time of one, and with AVX2 four. The
 * recursions for one state compute one joint after the other and cannot use this.
 */
#define LANES 2
#include "dynamics/joint_sincos.h"
#include "core/processor.h"
#include "dynamics/joint_sincos_kernel.h"

void lw_joint_sincos(const lw_model *model, const double *q, double *sine, double *cosine) {
    if (model->turn_count > 2 && lw_has_avx2())
        lw_joint_sincos_4(model->turns, model->turn_count, q, sine, cosine);
    else
        turn_joints(model->turns, model->turn_count, q, sine, cosine);
}
