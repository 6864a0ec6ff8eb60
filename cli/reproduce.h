/* reproduce.h - common parts of the papers' tables and figures: rows 'paper / here', data and figures in
 * files, runs, fits.
 *
 * A paper is one file, reproduce_<paper>.c, with a table of its items under the paper's own numbering. An
 * item computes, adds rows (reproduce_expect) and produces a table of numbers, which is written as a CSV file
 * and an SVG figure (reproduce_figure). reproduce_page.c shows all items on one page for a browser.
 */
#ifndef LINKWORK_REPRODUCE_H
#define LINKWORK_REPRODUCE_H

#include "cli.h"
#include "progress.h"

/* One number: it is printed in the paper, or follows from a statement or formula of the paper ("linear" is
 * the exponent 1), or is an additional check that is not in the paper. */
typedef struct reproduce_row {
    char quantity[160];
    double paper, stated, here; /* paper and stated are NaN if the paper prints or states no number */
    char wanted[64];            /* the condition on `here` */
    const char *reason;         /* why it differs from the printed digits; NULL if it does not */
    bool ok;
} reproduce_row;

/* The numbers of rows of each kind, and of those that are ok. */
typedef struct reproduce_count {
    int printed, to_the_digits,
        reasoned; /* printed numbers: all, reproduced, not reproduced for a given reason */
    int stated, stated_ok, own, own_ok;
} reproduce_count;

/* The computation of one item. */
typedef struct reproduction {
    const char *item;    /* "anderson2003/fig6" */
    const char *summary; /* its description in one line */
    const char *folder;  /* folder for files, or NULL */
    bool quick;          /* All papers together must take less than a minute: fewer sizes, shorter runs. */
    progress bar;
    reproduce_row *rows;
    int row_count;
    char files[2][256];    /* data and figure written; "" if not */
    char path_figure[256]; /* a figure of paths; "" if there is none */
} reproduction;

typedef struct reproduce_item {
    const char *name;    /* name in the paper */
    const char *summary; /* one line */
    lw_status (*run)(reproduction *r, lw_error *error);
    const char *problem; /* the mechanism that it is about, a folder of problems/; NULL: none */
} reproduce_item;

typedef struct reproduce_paper {
    const char *name;
    const reproduce_item *items;
    int count;
    const char *citation; /* authors (year). Title. Journal */
    const char *about;    /* its contribution to Linkwork, in a sentence */
} reproduce_paper;

/* The outcome of one item. */
typedef struct reproduce_outcome {
    const reproduce_paper *paper;
    char name[64]; /* "anderson2003/fig6" */
    reproduction work;
    char failure[2048]; /* why the computation ended early, or "" */
    double seconds;
    bool ok;
    const char *problem; /* the item's */
    char moving[64];     /* the name of the mechanism whose motion is beside the page; "": none */
} reproduce_outcome;

void reproduce_tally(const reproduce_outcome *outcomes, int count, reproduce_count *sum);
/* The printed number or, in parentheses, the stated one. */
const char *reproduce_origin(char text[24], const reproduce_row *row);
/* The number as text, or "-" for NaN. */
const char *reproduce_number(char text[24], double x);
/* Writes folder/index.html, all outcomes with their figures, and folder/motions, the mechanisms moving. */
lw_status reproduce_page(const char *folder, reproduce_outcome *outcomes, int count, bool quick,
                         lw_error *error);

extern const reproduce_paper reproduce_anderson2003, reproduce_mufti1983, reproduce_arnold2013,
    reproduce_betsch2006, reproduce_blajer1994;

/* Fills error with a sentence and returns status. */
lw_status reproduce_fail(lw_error *error, lw_status status, const char *format, ...);
/* Adds a row, which is ok if least <= here <= most; an infinity is no bound. stated is the number that
 * follows from a statement or formula of the paper, or NAN for an additional check. */
lw_status reproduce_expect(reproduction *r, double stated, double here, double least, double most,
                           lw_error *error, const char *quantity, ...);
/* The same for a number that the paper prints. reason says why the bounds are wider than its digits; NULL if
 * they are not. */
lw_status reproduce_printed(reproduction *r, double paper, double here, double least, double most,
                            const char *reason, lw_error *error, const char *quantity, ...);
/* Shows the present work; LW_ERROR_STOPPED if the user has stopped the program. */
lw_status reproduce_working(reproduction *r, lw_error *error, const char *work, ...);

/* Reads a model of problems/, with one parameter changed unless its name is NULL. */
lw_status reproduce_spec(const char *name, const char *parameter, double value, lw_spec **spec,
                         lw_error *error);
lw_status reproduce_compile(const lw_spec *spec, lw_model **model, lw_error *error);
lw_status reproduce_model(const char *name, const char *parameter, double value, lw_model **model,
                          lw_error *error);
/* Finds the index of a joint's coordinate in q. */
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
/* The largest difference of two columns, over rows where both have numbers. */
double reproduce_difference(const reproduce_table *table, int a, int b);
/* The slope of log(column y) against log(column x) by least squares, over rows first .. end - 1 where both
 * are positive. */
double reproduce_exponent(const reproduce_table *table, int x, int y, int first, int end);
/* Writes the CSV file and the figure, if there is a folder for files. */
lw_status reproduce_figure(reproduction *r, const reproduce_table *table, const lw_plot_options *plot,
                           lw_error *error);

/* Writes a figure of paths, column y against column x, in addition; a * in both stands for the same. */
lw_status reproduce_paths(reproduction *r, const char *x, const char *y, lw_error *error);

/* Each sample of a run becomes a row of the table: t in column 0, coordinates q[k] in columns from first on,
 * then, if requested, the violation of the loops. */
typedef struct reproduce_trace {
    reproduce_table *table;
    int first, count;
    const int *q;
    bool violation;
} reproduce_trace;
lw_status reproduce_run(reproduction *r, const lw_model *model, lw_run_options *options,
                        const reproduce_trace *trace, lw_error *error);

#endif
