/* newton_hints.h - what a system may tell the Newton iteration of a stiff integrator about its Jacobian.
 *
 * A stiff integrator forms its Jacobian by differences and keeps the matrix for many steps. Both can be
 * wasteful or wrong for a system whose stiffness changes by decades within a few steps, as that of bodies
 * without mass does where dampers engage. Such a system offers this structure. A method of a formulation
 * makes it, the run hands it on untouched, and integrators ask.
 */
#ifndef LW_NEWTON_HINTS_H
#define LW_NEWTON_HINTS_H

#include <stdbool.h>

typedef struct lw_newton_hints {
    void *subject; /* what both functions receive */
    /* Marks the stiffness of the last evaluation if `mark` is true. Otherwise returns the factor, 1 or more,
     * by which the stiffness at the last evaluation differs from the marked one, or HUGE_VAL if the factor is
     * not known. */
    double (*stiffness_change)(void *subject, bool mark);
    /* Announces, before and after, evaluations that serve only for differences from the last one: they need
     * to be exact to first order in the difference, and not beyond. */
    void (*differences)(void *subject, bool begin);
} lw_newton_hints;

#endif
