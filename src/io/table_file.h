/* table_file.h - points of a table from two columns of a file: CSV with a line of names, or a results file.
 */
#ifndef LW_TABLE_FILE_H
#define LW_TABLE_FILE_H

#include "core/core.h"
#include "expression/meaning.h"

typedef struct lw_table_file {
    double *x, *y; /* SI units */
    size_t count;
    lw_meaning x_measure, y_measure; /* by the units in the names of the columns */
} lw_table_file;

/* The path of `file`, which is relative to the folder of the model file, in its final form, to be given back
 * by free. Unless any path is allowed it must lie in that folder: links and .. are followed first. NULL on
 * failure, with error filled. */
char *lw_table_file_path(const char *model, const char *file, bool any_path, lw_error *error);

/* Reads both columns; x_column NULL: the first of the file. The points are a table, or error says which row
 * makes them none. */
lw_status lw_table_file_read(const char *path, const char *x_column, const char *y_column,
                             lw_table_file *points, lw_error *error);
void lw_table_file_free(lw_table_file *points);

#endif
