/* absolute_rotors.h - rotors of joints for methods whose mass matrix is that of single bodies.
 */
#ifndef LW_ABSOLUTE_ROTORS_H
#define LW_ABSOLUTE_ROTORS_H

#include "constraints/newton_euler_system.h"

typedef struct lw_rotors lw_rotors;
/* A method's own solution: a and lambda of its system from J, H, u and gamma, without rotors. */
typedef struct lw_rotors_method {
    lw_newton_euler *system;
    lw_status (*solve)(void *context, lw_error *error);
    void *context;
} lw_rotors_method;

/* Returns NULL when memory is out; for models with rotors. */
lw_rotors *lw_rotors_create(const lw_newton_euler *system);
void lw_rotors_destroy(lw_rotors *rotors);

/* How many solutions without rotors one with them takes; 1 for NULL. */
int lw_rotors_solutions(const lw_rotors *rotors);

/* Computes a and lambda of the method's system with its rotors, whose forces go to u and joint_load, too. */
lw_status lw_rotors_solve(lw_rotors *rotors, const lw_rotors_method *method, lw_error *error);

#endif
