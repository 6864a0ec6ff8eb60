/* code_loop.h - dynamics of mechanisms with closed loops as nodes.
 *
 * pivots: nv of the tree, then one for each chosen row, to be positive; -1 where there is none. rounding: the
 * part of a pivot that is rounding.
 */
#ifndef LW_CODE_LOOP_H
#define LW_CODE_LOOP_H

#include "export/code/code_closures.h"

/* The speed before k on the way to ground, over those that are not prescribed; -1: none. (code_forward.c) */
void code_list_ancestors(const code_build *b, int *before, bool *free_speed);

void code_forward_loops(code_build *b, const code_rows *rows, double rounding, const code_node *tau,
                        code_node *vdot, code_node *pivots);
/* The smallest motion in the metric of the masses, one number for each speed, that takes phi (positions) or
 * psi away to first order. */
void code_close_loops(code_build *b, const code_rows *rows, double rounding, bool positions, code_node *delta,
                      code_node *pivots);

/* Forces of the drives, driven per speed (NULL: all that are not prescribed), for accelerations vdot that
 * satisfy the rows. follow: columns of G at prescribed speeds. pivots: one for each chosen row, then one for
 * each speed. */
typedef struct code_drives {
    const bool *driven;
    const code_node *follow;
    double arm; /* by which a force counts as a torque: the longest of the model, welds as they are */
} code_drives;
void code_inverse_loops(code_build *b, const code_rows *rows, const code_drives *drives, double rounding,
                        const code_node *vdot, code_node *tau, code_node *pivots);
/* The columns of G at prescribed speeds, count x speeds, zero elsewhere. */
void code_follow_columns(code_build *b, const code_rows *rows, code_node *follow);

#endif
