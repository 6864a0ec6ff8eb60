/* turns.c - sines and cosines of the aligned revolute joints of one state, two joints at a time.
 *
 * Every 64-bit x86 and ARM processor computes two doubles in the time of one; the recursions for one state
 * would leave half of that unused. Results are those of real_sincos for one joint to the last bit, except beside
 * an angle above 1.6e6 rad, which sends both to the C library.
 */
#include "formulations/tree.h"

#define LANES 2
#include "linalg/lanes.h"

void lw_turn_joints(const lw_model *model, const double *q, double *sine, double *cosine) {
    const lw_turn *turn = model->turns;
    for (int left = model->turn_count; left > 0; left -= 2, turn += 2) {
        const lw_turn *other = left > 1 ? turn + 1 : turn;
        const REAL angle = {turn->sign * q[turn->q], other->sign * q[other->q]};
        REAL s, c;
        real_sincos(angle, &s, &c);
        sine[turn->v] = s[0], cosine[turn->v] = c[0];
        sine[other->v] = s[1], cosine[other->v] = c[1];
    }
}
