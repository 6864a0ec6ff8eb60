/* sweep_summary.h - what the rows of a sweep say together.
 */
#ifndef CLI_SWEEP_SUMMARY_H
#define CLI_SWEEP_SUMMARY_H

#include "json.h"

#include <linkwork/sweep.h>

#include <stdio.h>

/* All values of the rows that were measured, column by column. */
typedef struct sweep_rows {
    const lw_sweep *sweep;
    int columns;
    double *values; /* row by row */
    uint64_t *runs;
    size_t count, room;
    bool no_memory; /* Some rows are missing. */
} sweep_rows;

/* Keeps the values of a row; rows that have failed are passed over. */
void sweep_rows_add(sweep_rows *rows, const lw_sweep_row *row);
/* Puts the rows into the order of runs. false: memory is out. */
bool sweep_rows_sort(sweep_rows *rows);
void sweep_rows_free(sweep_rows *rows);
/* Quantiles, extremes and correlations of every measure, as text and into an open object of a document. */
void sweep_summary_print(FILE *out, const sweep_rows *rows);
void sweep_summary_json(json *j, const sweep_rows *rows);

#endif
