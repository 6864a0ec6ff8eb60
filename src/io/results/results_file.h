/* results_file.h - what the writers of results files have in common: the head, the rows, the end.
 *
 * results.c decides what stands in a file; csv.c and hdf5.c write it.
 */
#ifndef LW_RESULTS_FILE_H
#define LW_RESULTS_FILE_H

#include "io/results/record_columns.h"

/* One piece of metadata. */
typedef enum lw_entry_kind { LW_ENTRY_TEXT, LW_ENTRY_NUMBER, LW_ENTRY_INTEGER } lw_entry_kind;
typedef struct lw_entry {
    const char *key;
    lw_entry_kind kind;
    const char *text;
    double number;
    long integer;
} lw_entry;

typedef struct lw_head {
    const char *path;
    const lw_entry *entries;
    size_t entry_count;
    const char *model_text; /* NULL: unknown */
    const void *spec;       /* the whole model as bytes (lw_spec_save); NULL: unknown */
    size_t spec_size;
    const lw_record_column *columns;
    size_t column_count;
    double expected_rows; /* a guess; 0: unknown */
} lw_head;

/* An event of the model. */
typedef struct lw_results_mark {
    double t;
    const char *name;
} lw_results_mark;

/* What is written when the run has ended. */
typedef struct lw_results_end {
    const lw_entry *entries;
    size_t entry_count;
    const lw_results_mark *events;
    size_t event_count;
} lw_results_end;

/* A writer embeds lw_results_writer as its first member. Rows are written at least once a second. The first
 * fault is kept: row returns it as a status, and close reports it and releases the writer in every case. */
typedef struct lw_results_writer lw_results_writer;
typedef struct lw_format {
    const char *endings[3]; /* of a path, with the dot */
    lw_status (*open)(const lw_head *head, lw_results_writer **writer, lw_error *error);
    lw_status (*row)(lw_results_writer *writer, const double *values);
    lw_status (*close)(lw_results_writer *writer, const lw_results_end *end, lw_error *error);
} lw_format;
struct lw_results_writer {
    const lw_format *format;
};

extern const lw_format lw_format_csv, lw_format_hdf5;

/* "results file "x": cannot be <action>: <reason>; <remedy>" */
lw_status lw_results_fault(lw_error *error, const char *path, const char *action, const char *reason);

#endif
