/* record_columns.h - the columns of a record as the writers of results files need them; the rest is public.
 */
#ifndef LW_RECORD_COLUMNS_H
#define LW_RECORD_COLUMNS_H

#include "core/core.h"
#include "model/compiled_model.h"

#include <linkwork/record.h>
#include <linkwork/results.h>

/* A column of a results file, e.g. "crank.q", "rad"; the unit may be "". */
typedef struct lw_record_column {
    const char *name, *unit;
} lw_record_column;

const lw_record_column *lw_record_columns(const lw_record *record);
/* Is this column the work of a force element? */
bool lw_record_is_work(const lw_record *record, size_t column);

/* The value of a column of this name in some row, NAN if it is not known. */
typedef double lw_record_value(void *context, const char *name);
/* Makes that row the last one: signs of quaternions and turns of angles of cut joints go on from there. */
void lw_record_go_on(lw_record *record, lw_record_value *value, void *context);

/* Does text match the pattern, in which * stands for any characters? */
bool lw_pattern_matches(const char *pattern, const char *text);

#endif
