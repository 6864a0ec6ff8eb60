/* record.h - which quantities a results file holds, and their values in a sample.
 */
#ifndef LW_RECORD_H
#define LW_RECORD_H

#include "core/core.h"
#include "model/compiled_model.h"

#include <linkwork/results.h>

typedef struct lw_record lw_record;

/* A column of a results file, e.g. "crank.q", "rad"; the unit may be "". */
typedef struct lw_record_column {
    const char *name, *unit;
} lw_record_column;

/* Parses a list such as "joint(*), reaction(pin)" (docs/results.md). Time is always the first column; a
 * column asked for twice stands where it was asked for first. model must outlive the record. */
lw_status lw_record_create(const lw_model *model, const char *list, lw_record **record, lw_error *error);
void lw_record_destroy(lw_record *record);

size_t lw_record_count(const lw_record *record);
const lw_record_column *lw_record_columns(const lw_record *record);
bool lw_record_accelerations(const lw_record *record); /* the sample must carry them */
bool lw_record_reactions(const lw_record *record);
bool lw_record_works(const lw_record *record);

/* The values of all columns in a sample; NAN for what the sample does not carry. O(n + columns), no
 * allocation. Quaternions keep their sign from row to row, so that they do not jump. */
void lw_record_row(lw_record *record, const lw_sample *sample, double *row);

/* Does text match the pattern, in which * stands for any characters? */
bool lw_pattern_matches(const char *pattern, const char *text);

#endif
