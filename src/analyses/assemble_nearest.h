/* assemble_nearest.h - of the positions in which all loops close, the one nearest to where the joints would
 * stand on their own.
 */
#ifndef LW_ASSEMBLE_NEAREST_H
#define LW_ASSEMBLE_NEAREST_H

#include "constraints/projection.h"

typedef struct lw_assemble_nearest lw_assemble_nearest;

/* hold: given initial values that stay as they are. NULL when memory is out. */
lw_assemble_nearest *lw_assemble_nearest_create(const lw_model *model, lw_hold hold, double t);
void lw_assemble_nearest_destroy(lw_assemble_nearest *nearest);
/* The rows at the position that was closed last. */
const lw_newton_euler *lw_assemble_nearest_system(const lw_assemble_nearest *nearest);

/* Has it searched for as long as it may? Then the last position is no minimum. */
bool lw_assemble_nearest_spent(const lw_assemble_nearest *nearest);

/* Closes all loops as lw_project_positions does, with prescribed values in q, and what is held as in `given`,
 * a whole position, to the last digit. */
lw_status lw_assemble_nearest_close(lw_assemble_nearest *nearest, const double *given, double *q, int rounds,
                                    lw_violation *left, lw_error *error);
/* Moves q, which closes, downhill to a position that is nearer than all beside it, and takes angles in the
 * turn nearest to their initial ones; distance says how far it is. Where nothing is left to choose, q stays
 * as it is, to the last digit, and *chosen is false. gap is the largest violation that counts as closed. */
lw_status lw_assemble_nearest_descend(lw_assemble_nearest *nearest, double gap, double *q, lw_violation *left,
                                      double *distance, bool *chosen, lw_error *error);
/* Puts coordinates of joints with given values back into q, but for prescribed ones; returns by how much one
 * had changed at most. */
double lw_put_back(const lw_model *model, const double *given, double *q);
/* Joints of the tree that no motion from q moves with what is held. */
lw_status lw_assemble_nearest_fixed(lw_assemble_nearest *nearest, const double *q, bool *fixed,
                                    lw_error *error);

#endif
