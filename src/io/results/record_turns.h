/* record_turns.h - signs of quaternions and revolutions of angles of cut joints, from row to row.
 */
#ifndef LW_RECORD_TURNS_H
#define LW_RECORD_TURNS_H

#include "io/results/record_columns.h"
#include "model/quantity/quantity.h"

typedef struct lw_last_row {
    double *quaternion; /* 4 per body, at first zero */
    double *turned;     /* LW_JOINT_MAX_Q per loop: coordinates of the cut joint, at first zero */
} lw_last_row;

/* The arena remembers if memory is out. */
void lw_last_row_create(lw_arena *arena, const lw_model *model, lw_last_row *last);
/* Gives the vector of a quantity the signs and turns nearest to the last row, of which it becomes part.
 * Following twice in one row changes nothing. */
void lw_last_row_follow(const lw_model *model, lw_last_row *last, const lw_state_quantity *quantity,
                        double *vector);
/* Takes signs of quaternions, and turns, from a row of which values are known by name. */
void lw_last_row_set(const lw_model *model, lw_last_row *last, bool signs, bool turns, lw_record_value *value,
                     void *context);

#endif
