/* compliance.h - reactions that redundant joints leave undetermined, shared by the compliance of the joints:
 * those of least elastic energy.
 */
#ifndef LW_COMPLIANCE_H
#define LW_COMPLIANCE_H

#include "core/core.h"
#include "model/compiled_model.h"

typedef struct lw_compliance lw_compliance;

/* Does the model say how its joints share such loads? */
bool lw_compliance_given(const lw_model *model);
/* Memory for the states of a model. NULL when memory is out. */
lw_compliance *lw_compliance_create(const lw_model *model);
void lw_compliance_destroy(lw_compliance *compliance);

/* Replaces reactions of a state (6 per joint: force, torque, world axes, as in lw_solver_reactions), and the
 * multipliers of constraints that belong to them (one per row; may be NULL), by those with the same effect
 * and the least elastic energy. Allocates nothing. */
void lw_compliance_share(lw_compliance *compliance, double t, const double *q, double *reactions,
                         double *multipliers);
/* Of the last call, per component of the reactions: it is not determined by the rigid bodies, but by the
 * compliance. */
const bool *lw_compliance_flags(const lw_compliance *compliance);

#endif
