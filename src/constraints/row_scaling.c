/* row_scaling.c - what makes rows and speeds dimensionless before their rank is decided.
 *
 * A rank that is decided in metres differs from one in millimetres; so lengths count in the size of the
 * mechanism.
 *
 * Cost     O(joints); O(1) for a row.
 */
#include "constraints/row_scaling.h"
#include "constraints/characteristic_length.h"
#include "model/joint.h"

#include <math.h>

/* How far the joints are from their middle; where all are in one place, the size of the bodies. */
double lw_mechanism_size(const lw_newton_euler *s) {
    double middle[3] = {0, 0, 0}, far = 0;
    int count = s->model->joint_count;
    for (int j = 0; j < count; j++) lw_v3_axpy(1.0 / count, s->rows->joints[j].at, middle);
    for (int j = 0; j < count; j++) {
        double arm[3];
        lw_v3_sub(s->rows->joints[j].at, middle, arm);
        far = fmax(far, lw_v3_norm(arm));
    }
    return far > 0 ? far : lw_length_of(s);
}

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
        largest = fmax(largest, fabs(constraint->factors[k]) * (turns ? 1 : size));
    }
    return largest > 0 ? 1 / largest : 1;
}
