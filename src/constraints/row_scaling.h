/* row_scaling.h - the factors that make rows dimensionless before their rank is decided. */
#ifndef LW_ROW_SCALING_H
#define LW_ROW_SCALING_H

#include "constraints/newton_euler_system.h"

/* The factor that makes a row dimensionless, given the size of the mechanism (characteristic_length.h). */
double lw_row_scale(const lw_newton_euler *s, const lw_row *row, double size);

#endif
