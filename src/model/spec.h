/* spec.h - the inside of a spec, for the files that compile it.
 *
 * All strings, tables and lists live in the arena. A list doubles into a new piece of the arena, so the
 * pieces left behind are together no larger than the list itself.
 */
#ifndef LW_MODEL_SPEC_H
#define LW_MODEL_SPEC_H

#include "core/core.h"

#include <linkwork/spec.h>

typedef struct lw_parameter {
    const char *name;
    double value;
} lw_parameter;

struct lw_spec {
    lw_arena *arena;
    const char *name, *file; /* never NULL; "" if not given */
    double gravity[3];
    lw_run_spec run;

    lw_parameter *parameters;
    lw_body_spec *bodies;
    lw_joint_spec *joints;
    lw_force_spec *forces;
    lw_constraint_spec *constraints;
    size_t parameter_count, body_count, joint_count, force_count, constraint_count;
    size_t parameter_capacity, body_capacity, joint_capacity, force_capacity, constraint_capacity;
};

/* What is wrong with each body and joint taken by itself (compile.c): for a spec that lacks others, and so cannot be
 * compiled. */
void lw_spec_check_parts(const lw_spec *spec, lw_report *report);

#endif
