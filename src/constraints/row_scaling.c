/* row_scaling.c - what makes rows and speeds dimensionless before their rank is decided.
 *
 * A rank that is decided in metres differs from one in millimetres; so lengths count in the size of the
 * mechanism.
 *
 * Cost     O(joints); O(1) for a row.
 */
#include "constraints/row_scaling.h"
#include "model/joint.h"

#include <math.h>

/* What makes a row dimensionless: of lengths the size of the mechanism; of a coupling its largest term. */
double lw_row_scale(const lw_newton_euler *s, const lw_row *row, double size) {
    if (row->joint >= 0) {
        bool length = lw_v3_norm(s->rows->joints[row->joint].W + 6 * row->component + 3) > 0.5;
        return length ? 1 / size : 1;
    }
    const lw_constraint *constraint = &s->model->constraints[row->constraint];
    if (constraint->type != LW_CONSTRAINT_COUPLING) return 1 / size;
    double largest = 0;
    for (int k = 0; k < constraint->terms; k++) {
        int at = LW_COUPLING_MAX * row->constraint + k;
        lw_joint_type type = s->model->joints[s->rows->coupling_joint[at]].info.type;
        bool turns = lw_joint_speed_turns(type, s->rows->coupling_component[at]);
        largest = fmax(largest, fabs(s->rows->coupling_factor[at]) * (turns ? 1 : size));
    }
    return largest > 0 ? 1 / largest : 1;
}
