/* driven_joints.h - the speeds that a name of a driven joint means. */
#ifndef LW_DRIVEN_JOINTS_H
#define LW_DRIVEN_JOINTS_H

#include "model/compiled_model.h"

/* Marks the speeds of a joint of the tree, "crank", or one of them, "slide.x", as in results. */
lw_status lw_mark_driven(const lw_model *model, const char *name, bool *driven, lw_error *error);

#endif
