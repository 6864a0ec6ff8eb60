/* plot_layout.c - draws panels of curves, one above the other, on a canvas.
 *
 * Of a curve against time with many points, each column of pixels keeps the first, lowest, highest and last
 * point, so that no peak is lost and the size of the file is bounded; a path keeps points that are half a
 * pixel apart. Numbers that are not finite, or beyond LARGEST, leave a gap.
 *
 * Curves that have the same course on paper are told apart by short wide dashes upon the first; curves of few
 * points show these by marks; those of other files have dashes of their own. More curves than MOST_STYLES are
 * coloured in their order, and the legend names the first and the last.
 *
 * Paths of lengths have the same scale on both axes.
 */
#include "io/plot/plot.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define LARGEST 1e300
#define LETTER 6.8 /* upper estimate of the mean width of a letter of the small font */

enum { MOST_STYLES = 24, FEW_POINTS = 40, PROBES = 240 };

static const double width = 920, right = 30, head = 64, no_head = 10, plot_height = 200, legend_row = 20,
                    legend_gap = 8;
static const double tick_space = 24, panel_gap = 14, foot = 32, path_least = 160, path_most = 460;

/* The area of a panel on the page and its axes; the style of each curve. */
typedef struct {
    const lw_plot *plot;
    const lw_panel *panel;
    double x, y, w, h; /* left, top, size of the area */
    lw_axis across, up;
    lw_pen *pens; /* of each curve */
    int rows;     /* of its legend */
} panel_area;

/* --- values --------------------------------------------------------------------------------------- */

static double fraction(const lw_axis *axis, double value) {
    return (value - axis->lo) / (axis->hi - axis->lo);
}

/* The value on an axis: its logarithm if the axis is logarithmic. */
static double scaled(bool log, double value) { return log ? log10(value) : value; }

static bool drawable(double value) { return fabs(value) < LARGEST; }

static double x_value(const lw_plot *plot, const lw_curve *curve, size_t row) {
    return scaled(plot->log_x, plot->tables[curve->file]->columns[curve->x].values[row]);
}

static double y_value(const lw_plot *plot, const lw_curve *curve, size_t row) {
    const lw_results_table *table = plot->tables[curve->file];
    double value = table->columns[curve->column].values[row];
    if (curve->added >= 0) value += table->columns[curve->added].values[row];
    return scaled(plot->log_y, value);
}

static size_t rows_of(const lw_plot *plot, const lw_curve *curve) {
    return plot->tables[curve->file]->row_count;
}

static void widen(double value, double *lo, double *hi) {
    if (!drawable(value)) return;
    if (value < *lo) *lo = value;
    if (value > *hi) *hi = value;
}

static lw_axis axis_for(bool log, double lo, double hi, int ticks, double margin) {
    return log ? lw_axis_of_decades(lo, hi, ticks, margin) : lw_axis_for(lo, hi, ticks, margin);
}

/* The axis across, of all panels. */
static lw_axis horizontal_axis(const lw_plot *plot) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t p = 0; p < plot->panel_count; p++)
        for (size_t k = 0; k < plot->panels[p].curve_count; k++) {
            const lw_curve *curve = &plot->panels[p].curves[k];
            bool seen = false; /* Curves of one file share their column most often. */
            for (size_t i = 0; i < k && !seen; i++)
                seen =
                    plot->panels[p].curves[i].file == curve->file && plot->panels[p].curves[i].x == curve->x;
            for (size_t row = 0; row < rows_of(plot, curve) && !seen; row++)
                widen(x_value(plot, curve, row), &lo, &hi);
        }
    return axis_for(plot->log_x, lo, hi, 10, plot->path ? 0.04 : 0);
}

static lw_axis vertical_axis(const lw_plot *plot, const lw_panel *panel) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < panel->curve_count; k++)
        for (size_t row = 0; row < rows_of(plot, &panel->curves[k]); row++)
            widen(y_value(plot, &panel->curves[k], row), &lo, &hi);
    return axis_for(plot->log_y, lo, hi, 5, 0.06);
}

/* Gives both axes of a path the same scale: widens the area's height, or where that ends an axis. */
static void share_scale(panel_area *area) {
    const lw_plot *plot = area->plot;
    if (!plot->path || plot->log_x || plot->log_y || strcmp(plot->x_unit, area->panel->unit) != 0 ||
        strcmp(plot->x_unit, "m") != 0)
        return;
    double across = area->across.hi - area->across.lo, up = area->up.hi - area->up.lo;
    area->h = fmin(path_most, fmax(path_least, area->w * up / across));
    double unit = fmax(across / area->w, up / area->h), more;
    more = 0.5 * (unit * area->w - across);
    if (more > 1e-9 * across)
        area->across = lw_axis_for(area->across.lo - more, area->across.hi + more, 10, 0);
    more = 0.5 * (unit * area->h - up);
    int ticks = (int)fmax(3, area->h / 45);
    area->up = lw_axis_for(area->up.lo - fmax(0, more), area->up.hi + fmax(0, more), ticks, 0);
}

/* --- texts ---------------------------------------------------------------------------------------- */

static double text_width(const char *text) {
    int letters = 0;
    for (; *text; text++) letters += !lw_utf8_continues(*text);
    return LETTER * letters;
}

/* Writes a text from x to the right, shortened to the width `room`. */
static void put_text(lw_canvas *canvas, lw_ink ink, double x, double y, double room, const char *text) {
    double letter = ink == LW_INK_TITLE ? 1.5 * LETTER : LETTER;
    canvas->text(canvas, ink, LW_ANCHOR_START, false, x, y, text, (int)(room / letter));
}

/* Writes "quantity [10^exponent unit]". */
static void put_axis_name(lw_canvas *canvas, const char *quantity, const char *unit, int exponent,
                          bool turned, double x, double y) {
    char text[512], power[32] = "";
    if (exponent != 0)
        snprintf(power, sizeof power, "10" LW_RAISE "%s%d" LW_LOWER, exponent < 0 ? "\xE2\x88\x92" : "",
                 exponent < 0 ? -exponent : exponent);
    if (!unit[0] && exponent == 0)
        snprintf(text, sizeof text, "%.400s", quantity);
    else
        snprintf(text, sizeof text, "%.300s%s%s%s%.100s]", quantity, quantity[0] ? " [" : "[", power,
                 power[0] && unit[0] ? " " : "", unit);
    canvas->text(canvas, LW_INK_TEXT, LW_ANCHOR_MIDDLE, turned, x, y, text, INT_MAX);
}

/* --- styles --------------------------------------------------------------------------------------- */

typedef struct {
    double x, y;
} place;

static place place_of(const panel_area *area, double x, double y) {
    return (place){area->x + area->w * fraction(&area->across, x),
                   area->y + area->h * (1 - fraction(&area->up, y))};
}

/* The curve at a row, or at the row nearest to a fraction of all rows. */
static bool place_at(const panel_area *area, const lw_curve *curve, size_t row, place *at) {
    double x = x_value(area->plot, curve, row), y = y_value(area->plot, curve, row);
    if (!drawable(x) || !drawable(y)) return false;
    *at = place_of(area, x, y);
    return true;
}

/* Have two curves the same course on paper? Looks at places of the one, and at the same row of the other, or
 * at the row with the same x, if rows ascend. */
static bool coincide(const panel_area *area, const lw_curve *a, const lw_curve *b) {
    const lw_plot *plot = area->plot;
    size_t rows = rows_of(plot, a), others = rows_of(plot, b), looked = 0, same = 0, from = 0;
    bool paired = a->file == b->file;
    if (!paired && plot->path) return false;
    for (size_t k = 0; k < PROBES; k++) {
        size_t row = rows > PROBES ? k * (rows - 1) / (PROBES - 1) : k, other = row;
        place here, there;
        if (row >= rows) break;
        if (!place_at(area, a, row, &here)) continue;
        if (!paired) {
            double x = x_value(plot, a, row);
            while (from + 1 < others && x_value(plot, b, from + 1) <= x) from++;
            other = from;
        }
        if (!place_at(area, b, other, &there)) continue;
        looked++;
        same += hypot(plot->path || !paired ? here.x - there.x : 0, here.y - there.y) < 1.8;
    }
    return looked > 1 && 10 * same >= 6 * looked;
}

/* Says how each curve is drawn. */
static void choose_pens(panel_area *area) {
    const lw_panel *panel = area->panel;
    for (size_t k = 0; k < panel->curve_count; k++) {
        const lw_curve *curve = &panel->curves[k];
        lw_pen *pen = &area->pens[k];
        bool by_file = area->plot->table_count > 1 && panel->columns == 1;
        size_t order = by_file ? (size_t)curve->file : (size_t)curve->index;
        *pen = (lw_pen){.colour = (int)(order % LW_COLOURS), .shade = -1};
        if (panel->columns > MOST_STYLES) {
            pen->shade = (double)curve->index / (double)(panel->columns - 1);
            continue;
        }
        if (area->plot->table_count > 1) {
            pen->dash = curve->file % LW_DASHES;
            pen->beaded = area->plot->path && curve->file > 0; /* Turns of a path fill the gaps of dashes. */
        } else {
            pen->dash = (int)(order / LW_COLOURS) % LW_DASHES;
        }
        if (curve->marks) { /* "constrained, paper" has the colour of "constrained". */
            for (size_t i = 0; i < panel->curve_count; i++) {
                size_t length = strlen(panel->curves[i].label);
                if (!panel->curves[i].marks && strncmp(panel->curves[i].label, curve->label, length) == 0 &&
                    curve->label[length] == ',')
                    *pen = (lw_pen){.colour = panel->curves[i].index % LW_COLOURS, .shade = -1};
            }
            continue;
        }
        int below = 0;
        for (size_t i = 0; i < k; i++) {
            if (panel->curves[i].marks || !coincide(area, curve, &panel->curves[i])) continue;
            if (area->pens[i].colour == pen->colour)
                pen->beaded = true;
            else
                below++;
        }
        if (below > 0 && area->plot->table_count == 1) pen->over = 1 + (below - 1) % LW_OVERS;
    }
}

/* --- curves --------------------------------------------------------------------------------------- */

/* The points in one column of pixels, reduced to four. */
typedef struct {
    bool any, started; /* started: the path has had a point since the last gap */
    double column;
    place first, lowest, highest, last;
    size_t count, lowest_at, highest_at;
} pixel_column;

static void flush_column(lw_canvas *canvas, pixel_column *c) {
    if (!c->any) return;
    if (!c->started) canvas->point(canvas, true, c->first.x, c->first.y);
    canvas->point(canvas, false, c->first.x, c->first.y); /* A single point is drawn as a dot. */
    c->started = true;
    bool low_first = c->lowest_at < c->highest_at;
    size_t inner_a = low_first ? c->lowest_at : c->highest_at,
           inner_b = low_first ? c->highest_at : c->lowest_at;
    place a = low_first ? c->lowest : c->highest, b = low_first ? c->highest : c->lowest;
    if (inner_a > 0 && inner_a < c->count - 1) canvas->point(canvas, false, a.x, a.y);
    if (inner_b > 0 && inner_b < c->count - 1 && inner_b != inner_a) canvas->point(canvas, false, b.x, b.y);
    if (c->count > 1) canvas->point(canvas, false, c->last.x, c->last.y);
    c->any = false;
}

static void add_point(lw_canvas *canvas, pixel_column *c, place p) {
    if (c->any && floor(p.x) != c->column) flush_column(canvas, c);
    if (!c->any) {
        *c = (pixel_column){
            .any = true, .started = c->started, .column = floor(p.x), .first = p, .lowest = p, .highest = p};
    }
    if (p.y < c->lowest.y) c->lowest = p, c->lowest_at = c->count;
    if (p.y > c->highest.y) c->highest = p, c->highest_at = c->count;
    c->last = p;
    c->count++;
}

/* A path keeps the points that are half a pixel from the last. */
static void draw_path(const panel_area *area, const lw_curve *curve, lw_canvas *canvas) {
    bool started = false;
    place last = {0, 0};
    size_t rows = rows_of(area->plot, curve);
    for (size_t row = 0; row < rows; row++) {
        place at;
        if (!place_at(area, curve, row, &at)) {
            started = false;
            continue;
        }
        if (started && hypot(at.x - last.x, at.y - last.y) < 0.5 && row + 1 < rows) continue;
        canvas->point(canvas, !started, at.x, at.y);
        if (!started) canvas->point(canvas, false, at.x, at.y);
        started = true;
        last = at;
    }
}

static void draw_line(const panel_area *area, const lw_curve *curve, lw_canvas *canvas) {
    pixel_column pixels = {0};
    for (size_t row = 0; row < rows_of(area->plot, curve); row++) {
        place at;
        if (!place_at(area, curve, row, &at)) {
            flush_column(canvas, &pixels);
            pixels.started = false;
            continue;
        }
        add_point(canvas, &pixels, at);
    }
    flush_column(canvas, &pixels);
}

static int form_of(const lw_curve *curve) { return curve->index % LW_MARKS; }

/* Some ten marks along a curve, at least 60 pixels apart; those of other files stand between. */
static void draw_beads(const panel_area *area, const lw_curve *curve, const lw_pen *pen, lw_canvas *canvas) {
    double length = 0, apart = 0, way = 0;
    for (int pass = 0; pass < 2; pass++) {
        place last = {0, 0}, at;
        bool any = false;
        for (size_t row = 0; row < rows_of(area->plot, curve); row++) {
            if (!place_at(area, curve, row, &at)) continue;
            double step = any ? hypot(at.x - last.x, at.y - last.y) : 0;
            length += pass == 0 ? step : 0;
            way += pass == 1 ? step : 0;
            last = at, any = true;
            if (pass == 0 || way < apart) continue;
            canvas->mark(canvas, pen, curve->file % LW_MARKS, false, at.x, at.y);
            way = 0;
        }
        apart = fmax(60, length / 10);
        way = apart * (1 - 0.37 * curve->file);
    }
}

static bool has_marks(const panel_area *area, const lw_curve *curve) {
    return curve->marks || (rows_of(area->plot, curve) <= FEW_POINTS && area->panel->columns <= MOST_STYLES);
}

static void draw_curve(const panel_area *area, size_t k, lw_canvas *canvas) {
    const lw_curve *curve = &area->panel->curves[k];
    const lw_pen *pen = &area->pens[k];
    if (!curve->marks) {
        canvas->curve(canvas, pen);
        if (area->plot->path)
            draw_path(area, curve, canvas);
        else
            draw_line(area, curve, canvas);
        canvas->curve_end(canvas);
    }
    size_t rows = rows_of(area->plot, curve);
    place at;
    for (size_t row = 0; row < rows && has_marks(area, curve); row++)
        if (place_at(area, curve, row, &at))
            canvas->mark(canvas, pen, form_of(curve), curve->marks, at.x, at.y);
    if (pen->beaded) draw_beads(area, curve, pen, canvas);
    if (area->plot->path && !curve->marks) /* where the path starts */
        for (size_t row = 0; row < rows; row++)
            if (place_at(area, curve, row, &at)) {
                canvas->mark(canvas, pen, 0, true, at.x, at.y);
                break;
            }
}

/* --- legends -------------------------------------------------------------------------------------- */

static const double swatch = 31; /* width of the sample of the curve before its name */

/* A legend that is being set in rows. canvas is NULL while only its rows are counted. */
typedef struct {
    lw_canvas *canvas;
    double x, y, w, at;
    int rows;
} legend;

/* Goes to where an entry of this width stands. */
static double next_entry(legend *l, double entry) {
    if (l->at > l->x && l->at + entry > l->x + l->w) l->at = l->x, l->rows++;
    double at = l->at;
    l->at += entry;
    return at;
}

static void add_entry(legend *l, const char *label, const lw_pen *pen, bool line, int form, bool strong) {
    double at = next_entry(l, swatch + text_width(label) + 17), y = l->y + (l->rows - 1) * legend_row;
    lw_canvas *canvas = l->canvas;
    if (!canvas) return;
    if (line) {
        canvas->curve(canvas, pen);
        canvas->point(canvas, true, at + 2, y - 4);
        canvas->point(canvas, false, at + 24, y - 4);
        canvas->curve_end(canvas);
    }
    if (form >= 0) canvas->mark(canvas, pen, form, strong, at + 13, y - 4);
    put_text(canvas, LW_INK_TEXT, at + swatch, y, l->x + l->w - at - swatch, label);
}

static void add_note(legend *l, const char *note) {
    double at = next_entry(l, text_width(note) + 17);
    if (l->canvas) put_text(l->canvas, LW_INK_NOTE, at, l->y + (l->rows - 1) * legend_row, l->w, note);
}

static bool beaded_file(const panel_area *area, int file) {
    bool beaded = false;
    for (size_t k = 0; k < area->panel->curve_count; k++)
        beaded = beaded || (area->panel->curves[k].file == file && area->pens[k].beaded);
    return beaded;
}

/* Draws the legend if canvas is not NULL; returns the number of rows. */
static int set_legend(const panel_area *area, double y, lw_canvas *canvas) {
    const lw_panel *panel = area->panel;
    const lw_plot *plot = area->plot;
    legend l = {canvas, area->x, y, area->w, area->x, 1};
    bool many = panel->columns > MOST_STYLES, both = plot->table_count > 1 && panel->columns > 1;
    char note[160];
    for (size_t k = 0; k < panel->curve_count; k++) {
        const lw_curve *curve = &panel->curves[k];
        if (many && curve->index > 0 && (size_t)curve->index < panel->columns - 1) continue;
        if (both) { /* The column once, by its colour. */
            bool named = false;
            for (size_t i = 0; i < k && !named; i++) named = panel->curves[i].index == curve->index;
            if (named) continue;
        }
        lw_pen pen = area->pens[k];
        if (both) pen.dash = 0;
        if (pen.over > 0) pen.over = 1; /* The sample is short. */
        if (many && (size_t)curve->index == panel->columns - 1) add_note(&l, "to");
        add_entry(&l, curve->label, &pen, !curve->marks,
                  has_marks(area, curve) ? form_of(curve)
                  : pen.beaded && !both  ? curve->file % LW_MARKS
                                         : -1,
                  curve->marks);
    }
    for (size_t f = 0; f < plot->table_count && both; f++) {
        const lw_pen pen = {.colour = 6, .shade = -1, .dash = (int)f % LW_DASHES};
        add_entry(&l, plot->names[f], &pen, true, beaded_file(area, (int)f) ? (int)f % LW_MARKS : -1, false);
    }
    if (panel->offered > panel->columns) {
        snprintf(note, sizeof note, "%zu of %zu curves, those that differ most", panel->columns,
                 panel->offered);
        add_note(&l, note);
    } else if (many) {
        snprintf(note, sizeof note, "%zu curves, coloured in their order", panel->columns);
        add_note(&l, note);
    }
    return l.rows;
}

/* --- panels --------------------------------------------------------------------------------------- */

static void draw_grid(const panel_area *area, lw_canvas *canvas) {
    char text[LW_TICK_SIZE];
    canvas->rectangle(canvas, LW_INK_AREA, area->x, area->y, area->w, area->h);
    for (double k = lw_tick_first(&area->across); k <= lw_tick_last(&area->across); k++) {
        double x = area->x + area->w * fraction(&area->across, k * area->across.step);
        canvas->line(canvas, LW_INK_GRID, x, area->y, x, area->y + area->h);
        lw_tick_text(&area->across, k, text);
        canvas->text(canvas, LW_INK_TEXT, LW_ANCHOR_MIDDLE, false, x, area->y + area->h + 17, text, INT_MAX);
    }
    for (double k = lw_tick_first(&area->up); k <= lw_tick_last(&area->up); k++) {
        double y = area->y + area->h * (1 - fraction(&area->up, k * area->up.step));
        canvas->line(canvas, k == 0 && !area->up.log ? LW_INK_ZERO : LW_INK_GRID, area->x, y,
                     area->x + area->w, y);
        lw_tick_text(&area->up, k, text);
        canvas->text(canvas, LW_INK_TEXT, LW_ANCHOR_END, false, area->x - 7, y + 4, text, INT_MAX);
    }
    canvas->rectangle(canvas, LW_INK_FRAME, area->x, area->y, area->w, area->h);
}

/* Draws the events as vertical lines; names stand at the top, where there is room for them. */
static void draw_events(const panel_area *area, lw_canvas *canvas) {
    const lw_plot *plot = area->plot;
    double free_from = area->x;
    for (size_t f = 0; f < plot->table_count && !plot->path; f++) {
        const lw_results_table *table = plot->tables[f];
        double drawn = -HUGE_VAL;
        if (strcmp(table->columns[0].name, "t") != 0) continue;
        for (size_t k = 0; k < table->event_count; k++) {
            const double t = scaled(plot->log_x, table->events[k].t), at = fraction(&area->across, t);
            const double x = area->x + area->w * at, wide = text_width(table->events[k].name) + 8;
            if (!drawable(t) || !(at >= 0 && at <= 1) || fabs(x - drawn) < 0.5) continue;
            canvas->line(canvas, LW_INK_EVENT, x, area->y, x, area->y + area->h);
            drawn = x;
            if (f > 0 || x < free_from || x + wide > area->x + area->w) continue;
            put_text(canvas, LW_INK_NOTE, x + 3, area->y + 12, wide, table->events[k].name);
            free_from = x + wide;
        }
    }
}

static void draw_panel(const panel_area *area, lw_canvas *canvas) {
    draw_grid(area, canvas);
    draw_events(area, canvas);
    put_axis_name(canvas, area->panel->quantity, area->panel->unit, area->up.exponent, true, 20,
                  area->y + 0.5 * area->h);
    /* Lines first, then those above them that are dashed, then marks alone. */
    for (int layer = 0; layer < 3; layer++)
        for (size_t k = 0; k < area->panel->curve_count; k++) {
            int own = area->panel->curves[k].marks                       ? 2
                      : area->pens[k].dash > 0 || area->pens[k].over > 0 ? 1
                                                                         : 0;
            if (own == layer) draw_curve(area, k, canvas);
        }
}

/* The margin for the widest tick label of all vertical axes. */
static double left_margin(const panel_area *areas, size_t count) {
    double widest = 0;
    for (size_t p = 0; p < count; p++)
        for (double k = lw_tick_first(&areas[p].up); k <= lw_tick_last(&areas[p].up); k++) {
            char text[LW_TICK_SIZE];
            lw_tick_text(&areas[p].up, k, text);
            widest = fmax(widest, text_width(text));
        }
    return 40 + widest;
}

bool lw_plot_draw(const lw_plot *plot, lw_canvas *canvas, lw_arena *arena) {
    panel_area *areas = LW_NEW(arena, panel_area, plot->panel_count + 1);
    if (!areas) return false;
    lw_axis across = horizontal_axis(plot);
    for (size_t p = 0; p < plot->panel_count; p++) {
        areas[p] = (panel_area){.plot = plot,
                                .panel = &plot->panels[p],
                                .h = plot_height,
                                .across = across,
                                .up = vertical_axis(plot, &plot->panels[p]),
                                .pens = LW_NEW(arena, lw_pen, plot->panels[p].curve_count + 1)};
        if (!areas[p].pens) return false;
    }
    double left = left_margin(areas, plot->panel_count), inner = width - left - right;
    double y = plot->heading ? head : no_head;
    for (size_t p = 0; p < plot->panel_count; p++) {
        panel_area *area = &areas[p];
        area->x = left, area->w = inner;
        share_scale(area);
        area->y = 0;
        choose_pens(area);
        area->rows = set_legend(area, 0, NULL);
        area->y = y + area->rows * legend_row + legend_gap;
        y = area->y + area->h + tick_space + panel_gap;
    }
    double height = y - panel_gap + foot;
    canvas->begin(canvas, width, height, plot->title);
    canvas->rectangle(canvas, LW_INK_PAGE, 0, 0, width, height);
    if (plot->heading) put_text(canvas, LW_INK_TITLE, left, 30, inner, plot->title);
    if (plot->heading) put_text(canvas, LW_INK_NOTE, left, 50, inner, plot->subtitle);
    for (size_t p = 0; p < plot->panel_count; p++) {
        (void)set_legend(&areas[p], areas[p].y - areas[p].rows * legend_row - legend_gap + 14, canvas);
        draw_panel(&areas[p], canvas);
    }
    int exponent = plot->panel_count ? areas[plot->panel_count - 1].across.exponent : 0;
    put_axis_name(canvas, plot->x_quantity, plot->x_unit, exponent, false, left + 0.5 * inner, height - 12);
    canvas->end(canvas);
    return true;
}
