/* loop_derivatives.h - derivatives of the rows of closures and constraints, of their forces, and of the force
 * elements at joints that close loops.
 */
#ifndef LW_LOOP_DERIVATIVES_H
#define LW_LOOP_DERIVATIVES_H

#include "dynamics/tree_derivatives.h"
#include "model/rows.h"

/* At the state of d (lw_tree_derivatives_inertia) with rows of lw_rows_create_loops evaluated there: the
 * changes of G vdot - gamma and of G v into the matrices (overwritten), and T -= the derivatives of G'lambda
 * where lambda keeps. All are exact along motions and speeds that closures and constraints admit. */
void lw_loop_derivatives(lw_tree_derivatives *d, const lw_rows *rows, const double *lambda,
                         const lw_row_matrices *matrices);
/* T -= the derivatives of the elements at joints that close loops; after lw_tree_derivatives_forces. */
lw_status lw_cut_force_derivatives(lw_tree_derivatives *d, const lw_rows *rows, lw_error *error);

#endif
