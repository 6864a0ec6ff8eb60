/* plot.h - what a plot shows (plot.c decides), and its drawing (plot_svg.c).
 */
#ifndef LW_PLOT_H
#define LW_PLOT_H

#include "io/results/read_results.h"

#include <stdio.h>

typedef struct lw_curve {
    const char *label;
    int column, added; /* the values of column, plus those of added unless that is -1 */
} lw_curve;

typedef struct lw_panel {
    const char *quantity, *unit; /* of the vertical axis; may be "" */
    lw_curve *curves;
    size_t curve_count;
    size_t hidden; /* curves that would belong here but are too many */
} lw_panel;

typedef struct lw_plot {
    const lw_results_table *table; /* its first column is the horizontal axis */
    const char *title, *subtitle;
    lw_panel *panels;
    size_t panel_count;
    bool log_x, log_y;
} lw_plot;

/* Writes the plot as SVG; faults of the file are left to ferror. */
void lw_plot_draw(const lw_plot *plot, FILE *file);

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

#endif
