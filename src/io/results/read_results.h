/* read_results.h - reads columns of a results file, CSV or HDF5.
 *
 * Opening reads the metadata and the header; then the caller says which columns it wants, and reading keeps
 * those only.
 */
#ifndef LW_READ_RESULTS_H
#define LW_READ_RESULTS_H

#include "core/core.h"

typedef struct lw_column {
    const char *header;      /* as in the file, e.g. "crank.q [rad]" */
    const char *name, *unit; /* "crank.q", "rad"; the unit may be "" */
    bool wanted;
    double *values; /* row_count of them if wanted; an empty field is NAN */
} lw_column;

/* An event of the model. */
typedef struct lw_results_moment {
    double t;
    const char *name;
} lw_results_moment;

typedef struct lw_results_table lw_results_table;
struct lw_results_table {
    lw_column *columns;
    size_t column_count, row_count;
    const char *model, *method, *integrator; /* metadata; "" if the file has none */
    lw_results_moment *events;               /* those of a CSV file are known after reading its rows */
    size_t event_count;
    bool strict; /* set by the caller before reading: a last row that is cut off is a fault, not dropped */
    int *lines;  /* line of each row in a file of text that was read strictly; otherwise NULL */

    lw_status (*read)(lw_results_table *table, lw_error *error); /* of the file's format */
    const char *(*text)(lw_results_table *table, const char *key);
    void (*close)(lw_results_table *table);
};

/* The contents of the file, not its name, decide on its format. */
lw_status lw_results_table_open(const char *path, lw_results_table **table, lw_error *error);
lw_status lw_results_table_read(lw_results_table *table, lw_error *error);
void lw_results_table_close(lw_results_table *table);

/* A piece of metadata as text, "" if the file has none: any key of docs/results.md, and "model_text". The
 * keys of the summary, which prevail, are known after reading. */
const char *lw_results_table_text(lw_results_table *table, const char *key);

/* The column with this header, or with this name without its unit; -1 if there is none. */
int lw_results_table_column(const lw_results_table *table, const char *name);

/* hdf5.c; the CSV reader is in read_results.c. */
lw_status lw_results_table_open_hdf5(const char *path, lw_results_table **table, lw_error *error);
/* The bytes of the spec in an HDF5 file, to be freed; *bytes stays NULL if there are none. */
lw_status lw_results_bytes_hdf5(const char *path, unsigned char **bytes, size_t *size, lw_error *error);

/* Is the file a results file, by its first bytes: HDF5, or "# linkwork: " of CSV? */
bool lw_is_results(const char *path);
bool lw_is_hdf5(const char *path);

#endif
