/* table.h - tables: functions of one argument that are given by points (docs/theory/tables.md).
 */
#ifndef LW_TABLE_H
#define LW_TABLE_H

#include "core/core.h"
#include "expression/expression_types.h"

#include <linkwork/spec.h>

typedef struct lw_table lw_table;

/* Are these points a table: two or more, finite, x ascending, and with finite slopes? If not, *row is the
 * first wrong point, from 0, and syntax (which may be NULL) has message and remedy. */
bool lw_table_check(const double *x, const double *y, size_t count, size_t *row, lw_syntax *syntax);

/* Copies the points; memory comes from the arena. NULL if they are no table, or memory is out. */
lw_table *lw_table_create(lw_arena *arena, const double *x, const double *y, size_t count,
                          lw_interpolation interpolation, lw_beyond beyond);

double lw_table_value(const lw_table *table, double x);
/* Value and derivatives along a curve x(s); where one does not exist, those of the piece to the right. */
lw_jet lw_table_jet(const lw_table *table, lw_jet x);
/* Integral from a to b, in closed form. */
double lw_table_integral(const lw_table *table, double a, double b);

/* How smooth it is: LW_TABLE_JUMPS, continuous with kinks, or with a continuous slope. */
typedef enum lw_smoothness { LW_TABLE_JUMPS, LW_TABLE_KINKS, LW_TABLE_C1 } lw_smoothness;
lw_smoothness lw_table_smoothness(const lw_table *table);        /* everywhere, beyond its ends too */
lw_smoothness lw_table_smoothness_within(const lw_table *table); /* between its ends */
/* The first point between the ends at which the slope jumps, or, if there is none, an end with this
 * property. */
double lw_table_first_kink(const lw_table *table);

/* Its points, in order, and the period with which they recur, 0 if they do not. */
size_t lw_table_count(const lw_table *table);
double lw_table_point(const lw_table *table, size_t i);
double lw_table_period(const lw_table *table);
/* The first point greater than x, in a later period if need be; infinite behind the last one. */
double lw_table_next_point(const lw_table *table, double x);
/* Is point i a knot for someone who uses the value and so many derivatives (0: a force, 2: a motion)? Knots
 * are jumps of the value, its slope and these derivatives, and the ends of straight stretches. */
bool lw_table_is_knot(const lw_table *table, size_t i, int derivatives);

/* Piece k, 0 .. count: value c[0] + s (c[1] + s (c[2] + s c[3])) at the distance s from its anchor; pieces 0
 * and count lie beyond the ends. Returns the anchor. For a copy of the table in another language. */
double lw_table_piece(const lw_table *table, size_t k, double c[4]);
lw_beyond lw_table_beyond(const lw_table *table);

/* From one knot (of a force) to the next the table is a stretch of pieces; stretches have numbers, which go
 * on with a period. The stretch at x; how far x is within a stretch, negative outside; and the jet of a
 * stretch, whose outer pieces go on where x is outside. A table whose slope jumps nowhere is one stretch. */
double lw_table_stretch(const lw_table *table, double x);
double lw_table_room(const lw_table *table, double stretch, double x);
lw_jet lw_table_stretch_jet(const lw_table *table, double stretch, lw_jet x);

#endif
