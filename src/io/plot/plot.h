/* plot.h - what a plot shows (plot.c decides), and its drawing (plot_layout.c, on an SVG or PDF canvas).
 */
#ifndef LW_PLOT_H
#define LW_PLOT_H

#include "io/plot/plot_canvas.h"
#include "io/results/read_results.h"

typedef struct lw_curve {
    const char *label;
    int file;          /* index of its table */
    int x;             /* column of the horizontal axis */
    int column, added; /* the values of column, plus those of added unless that is -1 */
    int index;         /* which of the panel's columns it is, the same in all files */
    bool marks;        /* points without a line between them */
    bool named;        /* asked for by its own name */
} lw_curve;

typedef struct lw_panel {
    const char *quantity, *unit; /* of the vertical axis; may be "" */
    lw_curve *curves;
    size_t curve_count;
    size_t columns, offered; /* how many are drawn of how many that were asked for */
    size_t limit;            /* more than so many columns are thinned; 0: none are */
} lw_panel;

typedef struct lw_plot {
    lw_results_table *const *tables;
    const char *const *names; /* of the files, for legends */
    size_t table_count;
    const char *title, *subtitle;    /* may be "" */
    bool heading;                    /* they are drawn */
    const char *x_quantity, *x_unit; /* of the horizontal axis */
    bool path;                       /* that axis is not the first column, time */
    lw_panel *panels;
    size_t panel_count;
    bool log_x, log_y;
} lw_plot;

/* Draws the plot; memory for its measures comes from the arena. False if that is out. */
bool lw_plot_draw(const lw_plot *plot, lw_canvas *canvas, lw_arena *arena);

/* An axis: from lo to hi, with ticks at the multiples of step, a 1, 2 or 5 times a power of ten. Labels are
 * values divided by 10^exponent, with so many decimals. On a logarithmic axis lo, hi and step are decades. */
typedef struct lw_axis {
    double lo, hi, step;
    int exponent, decimals;
    bool log;
} lw_axis;

/* The axis for data from lo to hi (lo > hi: none) with about that many ticks; margin widens it
 * on both sides. */
lw_axis lw_axis_for(double lo, double hi, int ticks, double margin);
/* The same for the decimal logarithms of the data. */
lw_axis lw_axis_of_decades(double lo, double hi, int ticks, double margin);
/* Ticks are at k * step for integers k from lw_tick_first to lw_tick_last. */
double lw_tick_first(const lw_axis *axis);
double lw_tick_last(const lw_axis *axis);
/* The label of tick k, as lw_canvas takes it. */
enum { LW_TICK_SIZE = 48 };
void lw_tick_text(const lw_axis *axis, double k, char text[LW_TICK_SIZE]);

#endif
