/* reproduce.h - what the papers' tables and figures share: rows 'paper / here', data and figures in files,
 * runs, fits.
 *
 * A paper is one file, reproduce_<paper>.c, with a table of its items under the paper's own numbering. An
 * item computes, tells rows (reproduce_expect) and leaves a table of numbers that becomes a CSV file and an
 * SVG figure (reproduce_figure). reproduce_page.c shows all of it as one page for a browser.
 */
#ifndef LINKWORK_REPRODUCE_H
#define LINKWORK_REPRODUCE_H

#include "cli.h"
#include "progress.h"

/* One number: printed in the paper; or what a statement or formula of the paper comes to ("linear" is the
 * exponent 1); or a check of our own, of which the paper says nothing. */
typedef struct reproduce_row {
    char quantity[160];
    double paper, stated, here; /* NaN where the paper prints, states none */
    char wanted[64];            /* what here must be */
    const char *reason;         /* why it is not the paper's number to the digits printed; NULL: it is */
    bool ok;
} reproduce_row;

/* How many rows of each kind there are, and how many are ok. */
typedef struct reproduce_count {
    int printed, to_the_digits,
        reasoned; /* numbers of the papers: all, met, not met for a reason that is given */
    int stated, stated_ok, own, own_ok;
} reproduce_count;

/* One item under way. */
typedef struct reproduction {
    const char *item;    /* "anderson2003/fig6" */
    const char *summary; /* its one line */
    const char *folder;  /* where files go; NULL: nowhere */
    bool quick; /* the whole program of all papers is to end within a minute: fewer sizes, shorter runs */
    progress bar;
    reproduce_row *rows;
    int row_count;
    char files[2][256]; /* data and figure written; "" if not */
} reproduction;

typedef struct reproduce_item {
    const char *name;    /* in the paper */
    const char *summary; /* one line */
    lw_status (*run)(reproduction *r, lw_error *error);
} reproduce_item;

typedef struct reproduce_paper {
    const char *name;
    const reproduce_item *items;
    int count;
    const char *citation; /* authors (year). Title. Journal */
    const char *about;    /* what it gives Linkwork, in a sentence */
} reproduce_paper;

/* An item that has been worked on. */
typedef struct reproduce_outcome {
    const reproduce_paper *paper;
    char name[64]; /* "anderson2003/fig6" */
    reproduction work;
    char failure[2048]; /* why there are no more rows; "" */
    double seconds;
    bool ok;
} reproduce_outcome;

void reproduce_tally(const reproduce_outcome *outcomes, int count, reproduce_count *sum);
/* The paper's number, or what it states in parentheses. */
const char *reproduce_origin(char text[24], const reproduce_row *row);
/* The number as people read it: "-" where there is none. */
const char *reproduce_number(char text[24], double x);
/* Writes folder/index.html: all outcomes with their figures, in one file that needs no other. */
lw_status reproduce_page(const char *folder, const reproduce_outcome *outcomes, int count, bool quick,
                         lw_error *error);

extern const reproduce_paper reproduce_anderson2003, reproduce_mufti1983, reproduce_arnold2013,
    reproduce_betsch2006, reproduce_blajer1994;

/* Fills error with a sentence and returns status. */
lw_status reproduce_fail(lw_error *error, lw_status status, const char *format, ...);
/* Adds a row; it is ok if least <= here <= most (an infinity: no such bound). stated: what the paper's words
 * or formula come to; NAN: a check of our own. */
lw_status reproduce_expect(reproduction *r, double stated, double here, double least, double most,
                           lw_error *error, const char *quantity, ...);
/* The same for a number that the paper prints. reason: NULL if the bounds are its digits, else why they are
 * wider. */
lw_status reproduce_printed(reproduction *r, double paper, double here, double least, double most,
                            const char *reason, lw_error *error, const char *quantity, ...);
/* Shows what is being done; LW_ERROR_STOPPED if the user does not want it any more. */
lw_status reproduce_working(reproduction *r, lw_error *error, const char *work, ...);

/* A model of problems/, one parameter set (name NULL: none). */
lw_status reproduce_spec(const char *name, const char *parameter, double value, lw_spec **spec,
                         lw_error *error);
lw_status reproduce_compile(const lw_spec *spec, lw_model **model, lw_error *error);
lw_status reproduce_model(const char *name, const char *parameter, double value, lw_model **model,
                          lw_error *error);
/* The place of a joint's coordinate in q. */
lw_status reproduce_coordinate(const lw_model *model, const char *joint, int *q, lw_error *error);

/* Numbers in columns; the first one is the horizontal axis of the figure. NaN is an empty field. */
enum { REPRODUCE_COLUMNS = 16 };
typedef struct reproduce_table {
    const char *headers[REPRODUCE_COLUMNS]; /* "name [unit]" */
    int columns, rows;
    double *values; /* row by row */
} reproduce_table;

lw_status reproduce_table_create(reproduce_table *table, const char *const *headers, int columns, int rows,
                                 lw_error *error);
void reproduce_table_clear(reproduce_table *table);
double *reproduce_at(const reproduce_table *table, int row, int column);
/* Largest difference of two columns, where both have numbers. */
double reproduce_difference(const reproduce_table *table, int a, int b);
/* Slope of log(column y) against log(column x) by least squares, over rows first .. end - 1 where both are
 * positive. */
double reproduce_exponent(const reproduce_table *table, int x, int y, int first, int end);
/* Writes the CSV file and the figure, if files are wanted. */
lw_status reproduce_figure(reproduction *r, const reproduce_table *table, const lw_plot_options *plot,
                           lw_error *error);

/* Runs; each sample becomes a row: t in column 0, coordinates q[k] in columns from first on, then, if wanted,
 * the violation of the loops. The table has a row for each sample. */
typedef struct reproduce_trace {
    reproduce_table *table;
    int first, count;
    const int *q;
    bool violation;
} reproduce_trace;
lw_status reproduce_run(reproduction *r, const lw_model *model, lw_run_options *options,
                        const reproduce_trace *trace, lw_error *error);

#endif
