/* assemble.h - closed loops: consistent positions and velocities from approximate ones; mobility, redundant
 * rows.
 */
#ifndef LINKWORK_ASSEMBLE_H
#define LINKWORK_ASSEMBLE_H

#include <linkwork/dynamics.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How an assembly went. */
typedef struct lw_assembly {
    double position, velocity; /* largest violation left, in m, rad and their rates */
    int rounds;                /* of the iteration for positions */
    /* Coordinates and speeds that the user gave are kept if the mechanism allows it. If not, they are taken
     * as approximate: then here stand the joint whose given value changed most (-1: none did), and by how
     * much. */
    int moved_joint, changed_joint;
    double moved, changed;
} lw_assembly;

/* Brings q and v to where all loops close and all constraints hold, by the smallest change in the mass
 * metric. Where q has the initial coordinates of the model at all joints that the user did not give, and
 * given ones can be kept, it becomes the closed position nearest to the initial coordinates of all joints
 * instead, those that close loops among them: angles in rad, slides relative to the size of the mechanism.
 * Where v is zero at all speeds that the user did not give, it becomes the velocity of least kinetic energy.
 * Joints that no loop or constraint has a part in stay where they are, at rest. So the initial state does not
 * depend on where loops are cut. What the given coordinates determine stays on the branch to which the
 * smallest change leads. LW_ERROR_MODEL names the joint or constraint that does not close and by how much.
 * assembly may be NULL. */
LW_API lw_status lw_assemble(const lw_model *model, double t, double *q, double *v, lw_assembly *assembly,
                             lw_error *error);

/* Mobility of a mechanism in an assembled position. */
typedef struct lw_mobility lw_mobility;
/* Finds the independent rows at q. Questions about a mobility that is NULL, or a
 * row that is not there, are answered by 0, -1 or NULL. */
LW_API lw_status lw_mobility_create(const lw_model *model, double t, const double *q, lw_mobility **mobility,
                                    lw_error *error);
LW_API void lw_mobility_destroy(lw_mobility *mobility);
LW_API int lw_mobility_freedom(const lw_mobility *mobility); /* speeds that can be chosen */
LW_API int lw_mobility_speeds(const lw_mobility *mobility);  /* of the tree, without prescribed ones */
LW_API int lw_mobility_rows(const lw_mobility *mobility);    /* of closures and constraints */
LW_API int lw_mobility_rank(const lw_mobility *mobility);    /* of these rows */
/* Redundant rows, rows - rank of them: they could be left out. Joint (-1: a constraint) and sentence of
 * each. */
LW_API int lw_mobility_redundant_joint(const lw_mobility *mobility, int index);
LW_API const char *lw_mobility_redundant(const lw_mobility *mobility, int index);

#ifdef __cplusplus
}
#endif
#endif
