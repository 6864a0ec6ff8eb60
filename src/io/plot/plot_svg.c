/* plot_svg.c - draws panels of curves, one above the other, as a self-contained SVG.
 *
 * Light or dark follows the viewer's preference (CSS prefers-color-scheme). The colours are those of Okabe
 * and Ito, which people with any kind of colour vision can distinguish, with a lighter set for dark
 * backgrounds; curves from the ninth on are dashed.
 *
 * Of a curve with many points, each column of pixels keeps the first, lowest, highest and last point, so that
 * no peak is lost and the size of the file is bounded. Numbers that are not finite, or beyond LARGEST, leave
 * a gap.
 */
#include "io/plot/plot.h"
#include "io/number.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e300
#define LETTER 6.8 /* upper estimate of the mean width of a letter of the small font */

static const double width = 920, right = 30, head = 64, plot_height = 200, legend_row = 20, legend_gap = 8;
static const double tick_space = 24, panel_gap = 14, foot = 32;

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu "
    "Sans',Helvetica,Arial,sans-serif;font-size:12px;"
    "fill:#3c4248}\n"
    ".title{font-size:17px;font-weight:600;fill:#15181b}.note{fill:#6b737b}\n"
    ".page{fill:#ffffff}.area{fill:#fafbfc}\n"
    ".grid{stroke:#e4e7ea;stroke-width:1}.zero{stroke:#b4bac0;stroke-width:1}\n"
    ".frame{fill:none;stroke:#8a929a;stroke-width:1}\n"
    ".curve{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}\n"
    ".c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#b3478c}"
    ".c4{stroke:#a38a00}.c5{stroke:#189cbd}.c6{stroke:#5f6670}.c7{stroke:#8c5a2b}\n"
    ".event{stroke:#6b737b;stroke-width:1;stroke-dasharray:3 3}\n"
    ".d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 4}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#c3c9cf}.title{fill:#f2f4f6}.note{fill:#8f979f}\n"
    ".page{fill:#14171a}.area{fill:#1a1e22}\n"
    ".grid{stroke:#2b3137}.zero{stroke:#59616a}.frame{stroke:#69717a}.event{stroke:#8f979f}\n"
    ".c0{stroke:#4aa8e0}.c1{stroke:#ff8a3d}.c2{stroke:#2fcf9f}.c3{stroke:#e58cc0}"
    ".c4{stroke:#f5c04d}.c5{stroke:#9ad6ff}.c6{stroke:#b9c0c8}.c7{stroke:#c79a6b}\n"
    "}\n";
enum { COLOURS = 8, DASHES = 3 };

/* --- axes ----------------------------------------------------------------------------------------- */

static double nice_step(double step) {
    double power = pow(10, floor(log10(step))), factor = step / power;
    /* The bounds are geometric means of neighbours. */
    return power * (factor < 1.42 ? 1 : factor < 3.17 ? 2 : factor < 7.08 ? 5 : 10);
}

lw_axis lw_axis_for(double lo, double hi, int ticks, double margin) {
    if (!(lo <= hi)) lo = 0, hi = 1;
    double size = fmax(fabs(lo), fabs(hi));
    if (size < 1 / LARGEST) lo = -1, hi = 1, size = 1;
    /* A range below the rounding of its values is not shown. */
    if (hi - lo < 1e-12 * size) {
        double middle = 0.5 * (lo + hi);
        lo = middle - 0.1 * size, hi = middle + 0.1 * size;
    }
    double extra = margin * (hi - lo);
    lw_axis axis = {.lo = lo - extra, .hi = hi + extra};
    axis.step = nice_step((axis.hi - axis.lo) / ticks);

    int magnitude = (int)floor(log10(fmax(fabs(axis.lo), fabs(axis.hi))));
    if (magnitude >= 5 || magnitude < -2) axis.exponent = 3 * (int)floor(magnitude / 3.0);
    int decimals = axis.exponent - (int)floor(log10(axis.step) + 1e-9);
    axis.decimals = decimals < 0 ? 0 : decimals > 15 ? 15 : decimals;
    return axis;
}

lw_axis lw_axis_of_decades(double lo, double hi, int ticks, double margin) {
    if (!(lo <= hi)) lo = 0, hi = 1;
    double extra = margin * (hi - lo);
    lw_axis axis = {.lo = lo - extra, .hi = hi + extra, .log = true};
    if (floor(axis.hi) - ceil(axis.lo) < 1) { /* An axis has at least two ticks. */
        axis.lo = floor(axis.lo);
        axis.hi = fmax(ceil(axis.hi), axis.lo + 1);
    }
    axis.step = fmax(1, ceil((axis.hi - axis.lo) / (ticks + 1)));
    return axis;
}

/* Ticks are at k * step for integers k from tick_first to tick_last. */
static double tick_first(const lw_axis *axis) { return ceil(axis->lo / axis->step - 1e-9); }
static double tick_last(const lw_axis *axis) { return floor(axis->hi / axis->step + 1e-9); }

static int tick_text(const lw_axis *axis, double k, char text[LW_NUMBER_SIZE]) {
    double value = k * axis->step / pow(10, axis->exponent);
    if (k == 0) value = 0;                                                 /* avoids -0 */
    if (axis->log) return snprintf(text, LW_NUMBER_SIZE, "10%.0f", value); /* drawn with a raised exponent */
    return lw_number_print_fixed(value, axis->decimals, text);
}

static double fraction(const lw_axis *axis, double value) {
    return (value - axis->lo) / (axis->hi - axis->lo);
}

/* The value on an axis: its logarithm if the axis is logarithmic. */
static double scaled(bool log, double value) { return log ? log10(value) : value; }

/* --- values --------------------------------------------------------------------------------------- */

static double curve_value(const lw_results_table *table, const lw_curve *curve, size_t row) {
    double value = table->columns[curve->column].values[row];
    return curve->added < 0 ? value : value + table->columns[curve->added].values[row];
}

static bool drawable(double value) { return fabs(value) < LARGEST; }

static void widen(double value, double *lo, double *hi) {
    if (!drawable(value)) return;
    if (value < *lo) *lo = value;
    if (value > *hi) *hi = value;
}

static lw_axis horizontal_axis(const lw_plot *plot) {
    const lw_results_table *table = plot->table;
    double lo = INFINITY, hi = -INFINITY;
    for (size_t row = 0; row < table->row_count; row++)
        widen(scaled(plot->log_x, table->columns[0].values[row]), &lo, &hi);
    return plot->log_x ? lw_axis_of_decades(lo, hi, 10, 0) : lw_axis_for(lo, hi, 10, 0);
}

static lw_axis vertical_axis(const lw_plot *plot, const lw_panel *panel) {
    const lw_results_table *table = plot->table;
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < panel->curve_count; k++) {
        for (size_t row = 0; row < table->row_count; row++) {
            widen(scaled(plot->log_y, curve_value(table, &panel->curves[k], row)), &lo, &hi);
        }
    }
    return plot->log_y ? lw_axis_of_decades(lo, hi, 5, 0.06) : lw_axis_for(lo, hi, 5, 0.06);
}

/* --- text ----------------------------------------------------------------------------------------- */

static double text_width(const char *text) {
    int letters = 0;
    for (; *text; text++) letters += !lw_utf8_continues(*text);
    return LETTER * letters;
}

/* Writes a coordinate to a hundredth of a pixel, independent of the locale's decimal point. */
static void put_number(FILE *file, double value) {
    long hundredths = lround(100 * value);
    if (hundredths < 0) fputc('-', file);
    hundredths = labs(hundredths);
    fprintf(file, "%ld", hundredths / 100);
    if (hundredths % 100 > 0) fprintf(file, ".%02ld", hundredths % 100);
}

static void put_attribute(FILE *file, const char *name, double value) {
    fprintf(file, " %s=\"", name);
    put_number(file, value);
    fputc('"', file);
}

static void put_line(FILE *file, const char *class, double x1, double y1, double x2, double y2) {
    fprintf(file, "<line class=\"%s\"", class);
    put_attribute(file, "x1", x1);
    put_attribute(file, "y1", y1);
    put_attribute(file, "x2", x2);
    put_attribute(file, "y2", y2);
    fputs("/>\n", file);
}

static void put_rectangle(FILE *file, const char *class, double x, double y, double w, double h) {
    fprintf(file, "<rect class=\"%s\"", class);
    put_attribute(file, "x", x);
    put_attribute(file, "y", y);
    put_attribute(file, "width", w);
    put_attribute(file, "height", h);
    fputs("/>\n", file);
}

/* Writes a text from x to the right, shortened to the width `room`. */
static void put_text(FILE *file, const char *class, double x, double y, double room, const char *text) {
    double letter = strcmp(class, "title") == 0 ? 1.5 * LETTER : LETTER;
    fprintf(file, "<text class=\"%s\"", class);
    put_attribute(file, "x", x);
    put_attribute(file, "y", y);
    fputc('>', file);
    lw_put_xml(file, text, (int)(room / letter));
    fputs("</text>\n", file);
}

/* Writes "quantity [10^exponent unit]" as the content of a text element. */
static void put_axis_name(FILE *file, const char *quantity, const char *unit, int exponent) {
    lw_put_xml(file, quantity, INT_MAX);
    if (!unit[0] && exponent == 0) return;
    fputs(quantity[0] ? " [" : "[", file);
    if (exponent != 0) {
        fprintf(file, "10<tspan dy=\"-4\" font-size=\"9\">%s%d</tspan>", exponent < 0 ? "\xE2\x88\x92" : "",
                abs(exponent));
        fprintf(file, "<tspan dx=\"%d\" dy=\"4\">", unit[0] ? 3 : 0);
        lw_put_xml(file, unit, INT_MAX);
        fputs("]</tspan>", file);
    } else {
        lw_put_xml(file, unit, INT_MAX);
        fputc(']', file);
    }
}

/* Writes the label of tick k, with a typographic minus sign. */
static void put_tick(FILE *file, const lw_axis *axis, double k, const char *anchor, double x, double y) {
    char text[LW_NUMBER_SIZE];
    (void)tick_text(axis, k, text);
    const char *number = axis->log ? text + 2 : text, *minus = number[0] == '-' ? "\xE2\x88\x92" : "";
    if (number[0] == '-') number++;
    fprintf(file, "<text text-anchor=\"%s\"", anchor);
    put_attribute(file, "x", x);
    put_attribute(file, "y", y);
    if (axis->log)
        fprintf(file, ">10<tspan dy=\"-5\" font-size=\"9\">%s%s</tspan></text>\n", minus, number);
    else
        fprintf(file, ">%s%s</text>\n", minus, number);
}

/* --- curves --------------------------------------------------------------------------------------- */

/* The area of a panel on the page, its table and its axes. */
typedef struct {
    const lw_results_table *table;
    double x, y, w; /* left, top, width of the area */
    lw_axis across, up;
} panel_area;

typedef struct {
    double x, y;
} point;

static void put_curve_class(FILE *file, size_t index) {
    fprintf(file, " class=\"curve c%zu", index % COLOURS);
    size_t dash = index / COLOURS % DASHES;
    if (dash > 0) fprintf(file, " d%zu", dash);
    fputc('"', file);
}

static void put_point(FILE *file, char command, point p) {
    fputc(command, file);
    put_number(file, p.x);
    fputc(' ', file);
    put_number(file, p.y);
}

/* The points in one column of pixels, reduced to four. */
typedef struct {
    bool any, started; /* started: the path has had a point since the last gap */
    double column;
    point first, lowest, highest, last;
    size_t count, lowest_at, highest_at;
} pixel_column;

static void flush_column(FILE *file, pixel_column *c) {
    if (!c->any) return;
    if (!c->started) {
        put_point(file, 'M', c->first);
        put_point(file, 'L', c->first); /* A single point is drawn as a dot. */
    } else {
        put_point(file, 'L', c->first);
    }
    c->started = true;
    bool low_first = c->lowest_at < c->highest_at;
    size_t inner_a = low_first ? c->lowest_at : c->highest_at,
           inner_b = low_first ? c->highest_at : c->lowest_at;
    if (inner_a > 0 && inner_a < c->count - 1) put_point(file, 'L', low_first ? c->lowest : c->highest);
    if (inner_b > 0 && inner_b < c->count - 1 && inner_b != inner_a)
        put_point(file, 'L', low_first ? c->highest : c->lowest);
    if (c->count > 1) put_point(file, 'L', c->last);
    c->any = false;
}

static void add_point(FILE *file, pixel_column *c, point p) {
    if (c->any && floor(p.x) != c->column) flush_column(file, c);
    if (!c->any) {
        *c = (pixel_column){
            .any = true, .started = c->started, .column = floor(p.x), .first = p, .lowest = p, .highest = p};
    }
    if (p.y < c->lowest.y) c->lowest = p, c->lowest_at = c->count;
    if (p.y > c->highest.y) c->highest = p, c->highest_at = c->count;
    c->last = p;
    c->count++;
}

static void draw_curve(const panel_area *area, const lw_curve *curve, size_t index, FILE *file) {
    pixel_column pixels = {0};
    fputs("<path", file);
    put_curve_class(file, index);
    fputs(" d=\"", file);
    for (size_t row = 0; row < area->table->row_count; row++) {
        double x = scaled(area->across.log, area->table->columns[0].values[row]);
        double y = scaled(area->up.log, curve_value(area->table, curve, row));
        if (!drawable(x) || !drawable(y)) {
            flush_column(file, &pixels);
            pixels.started = false;
            continue;
        }
        add_point(file, &pixels,
                  (point){area->x + area->w * fraction(&area->across, x),
                          area->y + plot_height * (1 - fraction(&area->up, y))});
    }
    flush_column(file, &pixels);
    fputs("\"/>\n", file);
}

/* --- panels --------------------------------------------------------------------------------------- */

static const double swatch = 31; /* width of the sample of the curve before its name */

static double legend_entry_width(const char *label) { return swatch + text_width(label) + 17; }

/* Sets the legend in rows, draws it if file is not NULL, and returns the number of rows. */
static int set_legend(const lw_panel *panel, double x, double y, double w, FILE *file) {
    int rows = 1;
    double at = x;
    for (size_t k = 0; k < panel->curve_count; k++) {
        const char *label = panel->curves[k].label;
        double entry = legend_entry_width(label);
        if (at > x && at + entry > x + w) at = x, rows++;
        if (file) {
            double line = y + (rows - 1) * legend_row;
            fputs("<path", file);
            put_curve_class(file, k);
            fputs(" d=\"", file);
            put_point(file, 'M', (point){at + 2, line - 4});
            put_point(file, 'L', (point){at + 24, line - 4});
            fputs("\"/>\n", file);
            put_text(file, "label", at + swatch, line, x + w - at - swatch, label);
        }
        at += entry;
    }
    if (panel->hidden > 0) {
        char note[64];
        snprintf(note, sizeof note, "and %zu more", panel->hidden);
        if (at > x && at + text_width(note) > x + w) at = x, rows++;
        if (file) put_text(file, "note", at, y + (rows - 1) * legend_row, w, note);
    }
    return rows;
}

static void draw_grid(const panel_area *area, FILE *file) {
    put_rectangle(file, "area", area->x, area->y, area->w, plot_height);
    for (double k = tick_first(&area->across); k <= tick_last(&area->across); k++) {
        double x = area->x + area->w * fraction(&area->across, k * area->across.step);
        put_line(file, "grid", x, area->y, x, area->y + plot_height);
        put_tick(file, &area->across, k, "middle", x, area->y + plot_height + 17);
    }
    for (double k = tick_first(&area->up); k <= tick_last(&area->up); k++) {
        double y = area->y + plot_height * (1 - fraction(&area->up, k * area->up.step));
        put_line(file, k == 0 && !area->up.log ? "zero" : "grid", area->x, y, area->x + area->w, y);
        put_tick(file, &area->up, k, "end", area->x - 7, y + 4);
    }
    put_rectangle(file, "frame", area->x, area->y, area->w, plot_height);
}

/* Draws the events as vertical lines; names stand at the top, where there is room for them. */
static void draw_events(const panel_area *area, FILE *file) {
    const lw_results_table *table = area->table;
    double free_from = area->x, drawn = -HUGE_VAL;
    if (strcmp(table->columns[0].name, "t") != 0) return;
    for (size_t k = 0; k < table->event_count; k++) {
        const double t = scaled(area->across.log, table->events[k].t), at = fraction(&area->across, t);
        const double x = area->x + area->w * at, wide = text_width(table->events[k].name) + 8;
        if (!drawable(t) || !(at >= 0 && at <= 1) || fabs(x - drawn) < 0.5) continue;
        put_line(file, "event", x, area->y, x, area->y + plot_height);
        drawn = x;
        if (x < free_from || x + wide > area->x + area->w) continue;
        put_text(file, "note", x + 3, area->y + 12, wide, table->events[k].name);
        free_from = x + wide;
    }
}

static void draw_panel(const panel_area *area, const lw_panel *panel, FILE *file) {
    draw_grid(area, file);
    draw_events(area, file);
    double middle = area->y + 0.5 * plot_height;
    fputs("<text text-anchor=\"middle\" transform=\"translate(20 ", file);
    put_number(file, middle);
    fputs(") rotate(-90)\">", file);
    put_axis_name(file, panel->quantity, panel->unit, area->up.exponent);
    fputs("</text>\n", file);
    for (size_t k = 0; k < panel->curve_count; k++) draw_curve(area, &panel->curves[k], k, file);
}

/* The margin for the widest tick label of all vertical axes. */
static double left_margin(const lw_plot *plot) {
    double widest = 0;
    for (size_t p = 0; p < plot->panel_count; p++) {
        lw_axis axis = vertical_axis(plot, &plot->panels[p]);
        for (double k = tick_first(&axis); k <= tick_last(&axis); k++) {
            char text[LW_NUMBER_SIZE];
            widest = fmax(widest, LETTER * tick_text(&axis, k, text));
        }
    }
    return 40 + widest;
}

void lw_plot_draw(const lw_plot *plot, FILE *file) {
    const lw_results_table *table = plot->table;
    double left = left_margin(plot), inner = width - left - right, height = head;
    for (size_t p = 0; p < plot->panel_count; p++) {
        int rows = set_legend(&plot->panels[p], left, 0, inner, NULL);
        height += rows * legend_row + legend_gap + plot_height + tick_space + panel_gap;
    }
    height += foot - panel_gap;

    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", file);
    put_attribute(file, "width", width);
    put_attribute(file, "height", height);
    fputs(" viewBox=\"0 0 ", file);
    put_number(file, width);
    fputc(' ', file);
    put_number(file, height);
    fputs("\">\n<title>", file);
    lw_put_xml(file, plot->title, INT_MAX);
    fprintf(file, "</title>\n<style>\n%s</style>\n", style);
    put_rectangle(file, "page", 0, 0, width, height);
    put_text(file, "title", left, 30, inner, plot->title);
    put_text(file, "note", left, 50, inner, plot->subtitle);

    panel_area area = {.table = table, .x = left, .w = inner, .across = horizontal_axis(plot)};
    double y = head;
    for (size_t p = 0; p < plot->panel_count; p++) {
        const lw_panel *panel = &plot->panels[p];
        int rows = set_legend(panel, left, y + 14, inner, file);
        area.y = y + rows * legend_row + legend_gap;
        area.up = vertical_axis(plot, panel);
        draw_panel(&area, panel, file);
        y = area.y + plot_height + tick_space + panel_gap;
    }
    fputs("<text text-anchor=\"middle\"", file);
    put_attribute(file, "x", left + 0.5 * inner);
    put_attribute(file, "y", height - 12);
    fputc('>', file);
    put_axis_name(file, table->columns[0].name, table->columns[0].unit, area.across.exponent);
    fputs("</text>\n</svg>\n", file);
}
