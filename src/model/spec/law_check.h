/* law_check.h - the expressions of a spec that stay expressions: which of them other parameters break.
 */
#ifndef LW_LAW_CHECK_H
#define LW_LAW_CHECK_H

#include "expression/expression_types.h"

#include <linkwork/spec.h>

/* An expression that has no value, as 1/k for k = 0. */
typedef struct lw_broken_law {
    const char *kind, *name, *text; /* of the object: "force", "motor", "1/k*v" */
    lw_place place;
    lw_syntax syntax;
} lw_broken_law;

/* Does some motion, law, signal, rate, output or event call a table? */
bool lw_laws_call_tables(const lw_spec *spec);

/* Returns false, with the first in `broken`, if some motion, law, signal, rate, output or event has no value
 * with these constants and tables, but has one with the present parameters. Allocates from scratch; if that
 * fails, which the arena remembers, the answer is true. */
bool lw_laws_hold(const lw_spec *spec, const lw_constant *constants, const lw_named_table *tables,
                  lw_arena *scratch, lw_broken_law *broken);

#endif
