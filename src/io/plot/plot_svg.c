/* plot_svg.c - a canvas for plots that writes a self-contained SVG.
 *
 * Light or dark follows the viewer's preference (CSS prefers-color-scheme). The colours are those of Okabe
 * and Ito, which people with any kind of colour vision can distinguish, with a lighter set for dark
 * backgrounds.
 */
#include "io/plot/plot_canvas.h"

#include <linkwork/text.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu "
    "Sans',Helvetica,Arial,sans-serif;font-size:12px;"
    "fill:#3c4248}\n"
    ".title{font-size:17px;font-weight:600;fill:#15181b}.note{fill:#6b737b}\n"
    ".page{fill:#ffffff}.area{fill:#fafbfc}\n"
    ".grid{stroke:#e4e7ea;stroke-width:1}.zero{stroke:#b4bac0;stroke-width:1}\n"
    ".frame{fill:none;stroke:#8a929a;stroke-width:1}\n"
    ".event{stroke:#8a929a;stroke-width:1;stroke-dasharray:3 3}\n"
    ".curve{fill:none;stroke-width:1.7;stroke-linejoin:round;stroke-linecap:round}\n"
    ".o1,.o2,.o3,.o4,.o5{stroke-width:3.6;stroke-linecap:butt;stroke-dasharray:6 26}\n"
    ".o2{stroke-dashoffset:-8}.o3{stroke-dashoffset:-15;stroke-dasharray:5 27}"
    ".o4{stroke-dashoffset:-21;stroke-dasharray:4 28}"
    ".o5{stroke-dashoffset:-27;stroke-dasharray:3 29}\n"
    ".mark{fill:#fafbfc;stroke-width:1.4}.strong{stroke-width:2}\n"
    ".c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#b3478c}"
    ".c4{stroke:#a38a00}.c5{stroke:#189cbd}.c6{stroke:#5f6670}.c7{stroke:#8c5a2b}\n"
    ".d1{stroke-dasharray:7 6}.d2{stroke-dasharray:1 6;stroke-width:2.4}"
    ".d3{stroke-dasharray:13 5 1 5}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#c3c9cf}.title{fill:#f2f4f6}.note{fill:#8f979f}\n"
    ".page{fill:#14171a}.area{fill:#1a1e22}\n"
    ".grid{stroke:#2b3137}.zero{stroke:#59616a}.frame{stroke:#69717a}\n"
    ".event{stroke:#69717a}.mark{fill:#1a1e22}\n"
    ".c0{stroke:#4aa8e0}.c1{stroke:#ff8a3d}.c2{stroke:#2fcf9f}.c3{stroke:#e58cc0}"
    ".c4{stroke:#f5c04d}.c5{stroke:#9ad6ff}.c6{stroke:#b9c0c8}.c7{stroke:#c79a6b}\n"
    "}\n";

static const char *const classes[LW_INKS] = {"page",  "area", "frame", "grid", "zero",
                                             "event", "",     "title", "note"};

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

static void begin(lw_canvas *canvas, double width, double height, const char *title) {
    FILE *file = canvas->file;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"", file);
    put_attribute(file, "width", width);
    put_attribute(file, "height", height);
    fputs(" viewBox=\"0 0 ", file);
    put_number(file, width);
    fputc(' ', file);
    put_number(file, height);
    fputs("\">\n<title>", file);
    lw_put_xml(file, title, INT_MAX);
    fprintf(file, "</title>\n<style>\n%s</style>\n", style);
}

static void end(lw_canvas *canvas) { fputs("</svg>\n", canvas->file); }

static void rectangle(lw_canvas *canvas, lw_ink ink, double x, double y, double w, double h) {
    fprintf(canvas->file, "<rect class=\"%s\"", classes[ink]);
    put_attribute(canvas->file, "x", x);
    put_attribute(canvas->file, "y", y);
    put_attribute(canvas->file, "width", w);
    put_attribute(canvas->file, "height", h);
    fputs("/>\n", canvas->file);
}

static void line(lw_canvas *canvas, lw_ink ink, double x1, double y1, double x2, double y2) {
    fprintf(canvas->file, "<line class=\"%s\"", classes[ink]);
    put_attribute(canvas->file, "x1", x1);
    put_attribute(canvas->file, "y1", y1);
    put_attribute(canvas->file, "x2", x2);
    put_attribute(canvas->file, "y2", y2);
    fputs("/>\n", canvas->file);
}

/* Writes a piece of a text that has no exponents. */
static void put_piece(FILE *file, const char *text, size_t length, int most) {
    char piece[1024];
    while (length > 0) {
        size_t part = length < sizeof piece ? length : sizeof piece - 1;
        while (part < length && part > 1 && lw_utf8_continues(text[part])) part--;
        memcpy(piece, text, part);
        piece[part] = '\0';
        lw_put_xml(file, piece, most);
        text += part, length -= part;
    }
}

static void text(lw_canvas *canvas, lw_ink ink, lw_anchor anchor, bool turned, double x, double y,
                 const char *text, int most) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    FILE *file = canvas->file;
    fputs("<text", file);
    if (classes[ink][0]) fprintf(file, " class=\"%s\"", classes[ink]);
    fputs(anchors[anchor], file);
    if (turned) {
        fputs(" transform=\"translate(", file);
        put_number(file, x);
        fputc(' ', file);
        put_number(file, y);
        fputs(") rotate(-90)\"", file);
    } else {
        put_attribute(file, "x", x);
        put_attribute(file, "y", y);
    }
    fputc('>', file);
    const char *raised = strstr(text, LW_RAISE), *lowered = raised ? strstr(raised, LW_LOWER) : NULL;
    if (lowered) {
        put_piece(file, text, (size_t)(raised - text), most);
        fputs("<tspan dy=\"-5\" font-size=\"9\">", file);
        put_piece(file, raised + 1, (size_t)(lowered - raised - 1), most);
        fputs("</tspan>", file);
        if (lowered[1]) {
            fputs("<tspan dy=\"5\">", file);
            put_piece(file, lowered + 1, strlen(lowered + 1), most);
            fputs("</tspan>", file);
        }
    } else {
        lw_put_xml(file, text, most);
    }
    fputs("</text>\n", file);
}

static void put_pen(FILE *file, const lw_pen *pen, const char *class) {
    fprintf(file, " class=\"%s", class);
    if (pen->shade < 0) fprintf(file, " c%d", pen->colour);
    if (pen->dash > 0) fprintf(file, " d%d", pen->dash);
    if (pen->over > 0) fprintf(file, " o%d", pen->over);
    fputc('"', file);
    if (pen->shade < 0) return;
    unsigned char rgb[3];
    lw_shade_colour(pen->shade, rgb);
    fprintf(file, " stroke=\"#%02x%02x%02x\"", rgb[0], rgb[1], rgb[2]);
}

static void curve(lw_canvas *canvas, const lw_pen *pen) {
    fputs("<path", canvas->file);
    put_pen(canvas->file, pen, "curve");
    fputs(" d=\"", canvas->file);
}

static void point(lw_canvas *canvas, bool move, double x, double y) {
    fputc(move ? 'M' : 'L', canvas->file);
    put_number(canvas->file, x);
    fputc(' ', canvas->file);
    put_number(canvas->file, y);
}

static void curve_end(lw_canvas *canvas) { fputs("\"/>\n", canvas->file); }

static void mark(lw_canvas *canvas, const lw_pen *pen, int form, bool strong, double x, double y) {
    FILE *file = canvas->file;
    double size = strong ? 5 : 3, corners[8][2];
    int count = lw_mark_corners(form, size, corners);
    const lw_pen plain = {.colour = pen->colour, .shade = pen->shade};
    fputs(count ? "<polygon" : "<circle", file);
    put_pen(file, &plain, strong ? "mark strong" : "mark");
    if (count == 0) {
        put_attribute(file, "cx", x);
        put_attribute(file, "cy", y);
        put_attribute(file, "r", size);
    } else {
        fputs(" points=\"", file);
        for (int k = 0; k < count; k++) {
            if (k) fputc(' ', file);
            put_number(file, x + corners[k][0]);
            fputc(',', file);
            put_number(file, y + corners[k][1]);
        }
        fputc('"', file);
    }
    fputs("/>\n", file);
}

lw_canvas lw_canvas_svg(FILE *file) {
    return (lw_canvas){file, begin, end, rectangle, line, text, curve, point, curve_end, mark};
}

/* --- common to all canvases ----------------------------------------------------------------------- */

int lw_mark_corners(int form, double size, double corners[8][2]) {
    static const double forms[LW_MARKS][4][2] = {{{0}},
                                                 {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
                                                 {{0, -1.2}, {1.15, 0.9}, {-1.15, 0.9}},
                                                 {{0, -1.35}, {1.35, 0}, {0, 1.35}, {-1.35, 0}}};
    static const int counts[LW_MARKS] = {0, 4, 3, 4};
    for (int k = 0; k < counts[form]; k++)
        for (int i = 0; i < 2; i++) corners[k][i] = size * forms[form][k][i];
    return counts[form];
}

/* Blue, green, orange: in the middle of the scale of lightness, so that both pages show them. */
void lw_shade_colour(double shade, unsigned char rgb[3]) {
    static const unsigned char stops[3][3] = {{0x1f, 0x82, 0xc8}, {0x1a, 0x9a, 0x72}, {0xd8, 0x66, 0x14}};
    double at = 2 * fmin(1, fmax(0, shade));
    int from = at < 1 ? 0 : 1;
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned char)lround(stops[from][k] + (at - from) * (stops[from + 1][k] - stops[from][k]));
}
