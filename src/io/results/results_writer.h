/* results_writer.h - rows of another results file in one that is being written.
 */
#ifndef LW_RESULTS_WRITER_H
#define LW_RESULTS_WRITER_H

#include "io/results/read_results.h"

#include <linkwork/io.h>

/* The first column of results that is the work of a force element and unknown in this row; or NULL. */
const char *lw_results_lacking_work(const lw_results *results, const lw_results_table *table, size_t row);
/* Writes the first rows of a table that has been read, the columns of the same names; the others are
 * unknown. */
lw_status lw_results_copy(lw_results *results, const lw_results_table *table, size_t rows, lw_error *error);

#endif
