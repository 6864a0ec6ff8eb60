/* sweep_picture.c - pictures of many runs as SVG: histograms, a matrix of points, maps of two parameters.
 *
 * On a page colours follow the reader's preference for light or dark.
 * Histograms have the square root of the number of runs as bars, 5 to 40. A map has a mark at each pair of
 * values, whose colour is the mean of the measure there. More than 4000 runs are thinned to every k-th.
 */
#include "sweep_picture.h"

#include <linkwork/text.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 4000, MATRIX_MOST = 8, BARS_MOST = 40 };

typedef struct frame {
    double x, y, w, h;   /* pixels */
    double lo[2], hi[2]; /* values */
} frame;

static double value(const lw_sweep_table *t, size_t row, int column) {
    return t->values[row * (size_t)t->columns + (size_t)column];
}

static void put_text(FILE *file, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '"')
            fputs("&quot;", file);
        else
            fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
}

/* The range of a column; false: it has fewer than two different numbers. */
static bool range_of(const lw_sweep_table *t, int column, double range[2]) {
    range[0] = INFINITY, range[1] = -INFINITY;
    for (size_t k = 0; k < t->count; k++) {
        const double x = value(t, k, column);
        if (isfinite(x)) range[0] = fmin(range[0], x), range[1] = fmax(range[1], x);
    }
    return range[1] > range[0];
}

static double across(const frame *f, double x) {
    return f->x + (x - f->lo[0]) / (f->hi[0] - f->lo[0]) * f->w;
}
static double upwards(const frame *f, double y) {
    return f->y + f->h - (y - f->lo[1]) / (f->hi[1] - f->lo[1]) * f->h;
}

static void label(FILE *file, double x, double y, const char *anchor, const char *text, const char *unit) {
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    put_text(file, text);
    if (unit[0]) fputs(" [", file), put_text(file, unit), fputs("]", file);
    fputs("</text>\n", file);
}

static void number(FILE *file, double x, double y, const char *anchor, double n) {
    char text[32];
    snprintf(text, sizeof text, "%.4g", n);
    fprintf(file, "<text class=\"n\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
            text);
}

static void border(FILE *file, const frame *f) {
    fprintf(file, "<rect class=\"f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", f->x, f->y,
            f->w, f->h);
}

static void ends(FILE *file, const frame *f, bool below, bool beside) {
    if (below) {
        number(file, f->x, f->y + f->h + 14, "start", f->lo[0]);
        number(file, f->x + f->w, f->y + f->h + 14, "end", f->hi[0]);
    }
    if (beside) {
        number(file, f->x - 4, f->y + f->h, "end", f->lo[1]);
        number(file, f->x - 4, f->y + 10, "end", f->hi[1]);
    }
}

static void histogram(FILE *file, const lw_sweep_table *t, int column, frame f, bool below) {
    double range[2];
    size_t bars[BARS_MOST] = {0}, most = 1, known = 0;
    if (!range_of(t, column, range)) return;
    for (size_t k = 0; k < t->count; k++) known += isfinite(value(t, k, column));
    const int count = (int)fmin(BARS_MOST, fmax(5, sqrt((double)known)));
    for (size_t k = 0; k < t->count; k++) {
        const double x = value(t, k, column);
        if (!isfinite(x)) continue;
        int bar = (int)((x - range[0]) / (range[1] - range[0]) * count);
        if (bar >= count) bar = count - 1;
        if (++bars[bar] > most) most = bars[bar];
    }
    f.lo[0] = range[0], f.hi[0] = range[1], f.lo[1] = 0, f.hi[1] = (double)most;
    for (int k = 0; k < count; k++)
        fprintf(
            file,
            "<rect class=\"b\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%zu runs, %.4g .. "
            "%.4g</title></rect>\n",
            f.x + k * f.w / count, upwards(&f, (double)bars[k]), f.w / count - 0.5,
            f.h * (double)bars[k] / (double)most, bars[k], range[0] + k * (range[1] - range[0]) / count,
            range[0] + (k + 1) * (range[1] - range[0]) / count);
    border(file, &f);
    ends(file, &f, below, false);
}

static void points(FILE *file, const lw_sweep_table *t, int x, int y, frame f, bool below, bool beside,
                   sweep_link *link, void *context) {
    double across_range[2], up_range[2];
    const bool wide = range_of(t, x, across_range), high = range_of(t, y, up_range);
    border(file, &f);
    if (!wide || !high) return;
    f.lo[0] = across_range[0], f.hi[0] = across_range[1], f.lo[1] = up_range[0], f.hi[1] = up_range[1];
    const size_t step = t->count / POINTS_MOST + 1;
    for (size_t k = 0; k < t->count; k++) {
        char address[512];
        const bool linked = link && link(t->runs[k], address, sizeof address, context);
        const double a = value(t, k, x), b = value(t, k, y);
        if (!isfinite(a) || !isfinite(b) || (!linked && k % step != 0)) continue;
        if (linked) {
            fputs("<a href=\"", file), put_text(file, address);
            fputs("\" target=\"motion\">", file);
        }
        fprintf(file,
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>run %llu: %.6g, "
                "%.6g</title></circle>%s\n",
                linked ? "l" : "p", across(&f, a), upwards(&f, b), linked ? "3.5" : "2",
                (unsigned long long)t->runs[k], a, b, linked ? "</a>" : "");
    }
    ends(file, &f, below, beside);
}

/* Blue to yellow, as bright in grey. */
static void colour(double part, char text[16]) {
    static const int at[5][3] = {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    const double along = fmin(fmax(part, 0), 1) * 4;
    const int k = along >= 4 ? 3 : (int)along;
    int rgb[3];
    for (int i = 0; i < 3; i++) rgb[i] = (int)lround(at[k][i] + (along - k) * (at[k + 1][i] - at[k][i]));
    snprintf(text, 16, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

/* A cell for each of 40 x 40 places that has runs, or for each pair of values of a small grid. */
static void map(FILE *file, const lw_sweep_table *t, int x, int y, int measure, frame f) {
    enum { CELLS = 40 };
    double ranges[3][2], distinct[2][CELLS];
    size_t counts[2] = {0, 0};
    double *sum = calloc((size_t)CELLS * CELLS, sizeof *sum),
           *known = calloc((size_t)CELLS * CELLS, sizeof *known);
    const int columns[3] = {x, y, measure};
    bool good = sum && known;
    for (int k = 0; k < 3 && good; k++) good = range_of(t, columns[k], ranges[k]);
    for (int axis = 0; axis < 2 && good; axis++) /* Up to 40 different values are a grid. */
        for (size_t k = 0; k < t->count && counts[axis] <= CELLS; k++) {
            const double a = value(t, k, columns[axis]);
            size_t i = 0;
            while (i < counts[axis] && i < CELLS && distinct[axis][i] != a) i++;
            if (!isfinite(a) || i < counts[axis]) continue;
            if (counts[axis] < CELLS) distinct[axis][counts[axis]] = a;
            counts[axis]++;
        }
    int cells[2];
    for (int axis = 0; axis < 2; axis++)
        cells[axis] = counts[axis] <= CELLS && counts[axis] > 0
                          ? (int)counts[axis]
                          : (int)fmin(CELLS, fmax(4, pow((double)t->count, 0.4)));
    for (size_t k = 0; k < t->count && good; k++) {
        const double m = value(t, k, measure);
        int place[2];
        for (int axis = 0; axis < 2; axis++) {
            const double part =
                (value(t, k, columns[axis]) - ranges[axis][0]) / (ranges[axis][1] - ranges[axis][0]);
            place[axis] = isfinite(part) ? (int)fmin(cells[axis] - 1, floor(part * cells[axis])) : -1;
        }
        if (!isfinite(m) || place[0] < 0 || place[1] < 0) continue;
        sum[place[1] * CELLS + place[0]] += m, known[place[1] * CELLS + place[0]]++;
    }
    for (int j = 0; j < cells[1] && good; j++)
        for (int i = 0; i < cells[0]; i++) {
            const double n = known[j * CELLS + i], mean = sum[j * CELLS + i] / n;
            char rgb[16];
            if (n == 0) continue;
            colour((mean - ranges[2][0]) / (ranges[2][1] - ranges[2][0]), rgb);
            fprintf(
                file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>%.5g, of %.0f "
                "runs</title></rect>\n",
                f.x + i * f.w / cells[0], f.y + f.h - (j + 1) * f.h / cells[1], f.w / cells[0] + 0.3,
                f.h / cells[1] + 0.3, rgb, mean, n);
        }
    if (good) {
        f.lo[0] = ranges[0][0], f.hi[0] = ranges[0][1], f.lo[1] = ranges[1][0], f.hi[1] = ranges[1][1];
        border(file, &f);
        ends(file, &f, true, true);
        for (int k = 0; k < 40; k++) {
            char rgb[16];
            colour((k + 0.5) / 40, rgb);
            fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"%.2f\" fill=\"%s\"/>\n",
                    f.x + f.w + 10, f.y + f.h - (k + 1) * f.h / 40, f.h / 40 + 0.3, rgb);
        }
        number(file, f.x + f.w + 26, f.y + f.h, "start", ranges[2][0]);
        number(file, f.x + f.w + 26, f.y + 10, "start", ranges[2][1]);
    }
    free(sum), free(known);
}

static void open_picture(FILE *file, double width, double height, bool page) {
    static const char *const inks[2][5] = {
        {"#15181b", "#59626b", "#aab2ba", "#0b63a5", "#b3261e"},
        {"var(--ink)", "var(--soft)", "var(--line)", "var(--accent)", "var(--bad)"}};
    const char *const *ink = inks[page];
    fprintf(
        file,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
        "style=\"max-width:100%%;height:auto\">\n",
        width, height, width, height);
    fprintf(file,
            "<style>text{font:12px system-ui,'DejaVu Sans',sans-serif;fill:%s}.n{font-size:11px;fill:%s}"
            ".f{fill:none;stroke:%s}.b{fill:%s}.p{fill:%s;fill-opacity:.45}.l{fill:%s}</style>\n",
            ink[0], ink[1], ink[2], ink[3], ink[3], ink[4]);
}

static bool drawable(const lw_sweep_table *t, int column) {
    double range[2];
    return range_of(t, column, range);
}

static double picture_body(FILE *file, const lw_sweep_table *t, int measure, double top, sweep_link *link,
                           void *context) {
    const double w = 300, h = 190;
    int place = 0, numbers[2] = {-1, -1};
    label(file, 60, top + 22, "start", t->names[measure], t->units[measure]);
    histogram(file, t, measure, (frame){.x = 60, .y = top + 32, .w = w, .h = h}, true);
    label(file, 60 + w / 2, top + 32 + h + 30, "middle", "runs by value", "");
    for (int k = 0; k < t->variables; k++) {
        if (!drawable(t, k) || !drawable(t, measure)) continue;
        place++;
        const frame f = {
            .x = 60 + (place % 3) * (w + 70), .y = top + 32 + (place / 3) * (h + 50), .w = w, .h = h};
        points(file, t, k, measure, f, true, true, link, context);
        label(file, f.x + w / 2, f.y + h + 30, "middle", t->names[k], t->units[k]);
        if (numbers[0] < 0)
            numbers[0] = k;
        else if (numbers[1] < 0)
            numbers[1] = k;
    }
    if (numbers[1] >= 0) {
        place++;
        const frame f = {
            .x = 60 + (place % 3) * (w + 70), .y = top + 32 + (place / 3) * (h + 50), .w = w - 50, .h = h};
        map(file, t, numbers[0], numbers[1], measure, f);
        label(file, f.x, f.y - 6, "start", t->names[numbers[1]], t->units[numbers[1]]);
        label(file, f.x + f.w / 2, f.y + h + 30, "middle", t->names[numbers[0]], "");
    }
    return top + 32 + (place / 3 + 1) * (h + 50) + 10;
}

static double picture_height(const lw_sweep_table *t, int measure) {
    int places = 0;
    for (int k = 0; k < t->variables; k++) places += drawable(t, k) && drawable(t, measure);
    places += places >= 2;
    return 32 + (places / 3 + 1) * 240.0 + 10;
}

void sweep_picture(FILE *file, const lw_sweep_table *t, int measure, sweep_link *link, void *context) {
    open_picture(file, 1130, picture_height(t, measure), true);
    (void)picture_body(file, t, measure, 0, link, context);
    fputs("</svg>\n", file);
}

static double matrix_body(FILE *file, const lw_sweep_table *t, double top, sweep_link *link, void *context) {
    int shown[MATRIX_MOST], count = 0;
    for (int k = 0; k < t->columns && count < MATRIX_MOST; k++)
        if (drawable(t, k)) shown[count++] = k;
    const double size = count > 0 ? 1000.0 / count : 0;
    for (int i = 0; i < count; i++) {
        label(file, 70 + i * size + 4, top + 16, "start", t->names[shown[i]], t->units[shown[i]]);
        for (int j = 0; j < count; j++) {
            const frame f = {
                .x = 70 + i * size + 4, .y = top + 24 + j * size, .w = size - 14, .h = size - 14};
            if (i == j)
                histogram(file, t, shown[i], f, j == count - 1);
            else
                points(file, t, shown[i], shown[j], f, j == count - 1, i == 0, link, context);
        }
    }
    return top + 24 + count * size + 24;
}

void sweep_matrix(FILE *file, const lw_sweep_table *t, sweep_link *link, void *context) {
    open_picture(file, 1130, 1060, true);
    (void)matrix_body(file, t, 0, link, context);
    fputs("</svg>\n", file);
}

void sweep_picture_file(FILE *file, const lw_sweep_table *t) {
    double height = 1080, top = 0;
    for (int m = t->variables; m < t->columns; m++) height += picture_height(t, m);
    open_picture(file, 1130, height, false);
    fprintf(file, "<rect width=\"1130\" height=\"%.0f\" fill=\"#ffffff\"/>\n", height);
    for (int m = t->variables; m < t->columns; m++) top = picture_body(file, t, m, top, NULL, NULL);
    (void)matrix_body(file, t, top, NULL, NULL);
    fputs("</svg>\n", file);
}
