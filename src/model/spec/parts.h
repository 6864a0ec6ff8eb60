/* parts.h - parts of a spec: where they lie, what of them is expressed in their own worlds, and their names.
 *
 * An object belongs to the part with the longest name that its own begins with, followed by a dot. The spec
 * keeps all numbers and expressions of the objects of a part as they stand in the part's file, so that
 * bindings of parameters hold; lw_spec_placed gives the spec in one world, which is compiled or written.
 */
#ifndef LW_MODEL_SPEC_PARTS_H
#define LW_MODEL_SPEC_PARTS_H

#include "model/names.h"
#include "expression/expression_types.h"
#include "model/spec/spec_storage.h"

/* A point x of a part's world lies at p + R D x in the world of the model, D diagonal with entries +1 and -1;
 * a vector x of a body's frame becomes D x, and a rotation A becomes R D A D (docs/theory/parts.md, 1 to 3).
 */
typedef struct lw_placement {
    double p[3], q[4], R[9], D[3];
    double sense;   /* det D */
    bool at_origin; /* p = 0, R = 1 */
    bool plain;     /* D = 1 */
} lw_placement;

typedef struct lw_placements {
    lw_names parts; /* of the spec, by index */
    lw_placement *items;
} lw_placements;

lw_status lw_placements_create(const lw_spec *spec, lw_arena *arena, lw_placements *all);
/* The part that an object of this name belongs to, -1: the model itself. */
int lw_part_of(const lw_names *parts, const char *name);
/* Its placement; NULL if it lies in the world as it is, or belongs to no part. */
const lw_placement *lw_placement_of(const lw_placements *all, const char *name);

/* The spec with all parts placed, in *placed, whose parts are only names for messages then; whatever differs
 * is in the arena. LW_ERROR_MODEL, with reports: a quantity has no counterpart. Without parts it is a copy of
 * the structure alone. */
lw_status lw_spec_placed(const lw_spec *spec, lw_arena *arena, lw_spec *placed, lw_report *report);

/* The file of the object with this name; if it belongs to a part, `use` (of `size`) receives
 * ` (used as part "front_left", car.yaml:40:3)`, otherwise "". */
const char *lw_spec_source(const lw_spec *spec, const char *name, char *use, size_t size);

/* --- texts (part_names.c) ------------------------------------------------------------------------- */

/* A text that grows in an arena. */
typedef struct lw_text_out {
    lw_arena *arena;
    char *text;
    size_t length, capacity;
    bool failed;
} lw_text_out;
void lw_text_add(lw_text_out *out, const char *text, size_t length);
void lw_text_print(lw_text_out *out, const char *format, ...) LW_PRINTF(2, 3);

/* Walks through the names in an expression: words, and names of quantities with their arguments; units behind
 * numbers are passed over. Start with at = 0. Returns the length of the next, which begins at `at`, or 0; add
 * it to at to go on. */
typedef struct lw_part_scan {
    const char *text;
    size_t at;
    bool operand, unit_may_follow;
} lw_part_scan;
size_t lw_part_scan_next(lw_part_scan *scan);

/* The names of a spec that expressions may use: values (parameters, inputs, states, signals, tables), bodies
 * with frames and ground, joints with constraints, forces. */
typedef struct lw_part_names {
    lw_names values, bodies, joints, forces;
} lw_part_names;
lw_status lw_part_names_create(const lw_spec *spec, lw_arena *arena, lw_part_names *names);
/* The expression with `prefix`, which ends with a dot, before each name of the spec in it. NULL: memory is
 * out. */
const char *lw_part_expression(lw_arena *arena, const lw_part_names *names, const char *prefix,
                               const char *text);

/* --- quantities in other worlds (part_quantities.c) ------------------------------------------------ */

/* An expression of a part as it reads in the world of the model. variables: letters of variables that change
 * their sign, or "". NULL with syntax filled: a quantity has no counterpart; without a message: memory is
 * out. */
const char *lw_placed_expression(lw_arena *arena, const lw_spec *spec, const lw_names *joints,
                                 const lw_names *forces, const lw_placement *at, const char *variables,
                                 const char *text, lw_syntax *syntax);
/* One behind the place of the first quantity in the expression that all bodies have together (kinetic,
 * potential, momentum.px), and its length; 0 if there is none. */
size_t lw_part_total(const char *text, size_t *length);
/* The factor +1 or -1 of speed k of a joint, or of coordinate k, in a mirrored part. */
double lw_placed_speed(const lw_placement *at, lw_joint_type type, int k);
double lw_placed_coordinate(const lw_placement *at, lw_joint_type type, int k);

#endif
