/* plot_pdf.c - a canvas for plots that writes a PDF of one page.
 *
 * PDF 1.4 (ISO 32000-1): a catalogue, a page, the stream of its contents, and the standard fonts Helvetica
 * and Helvetica-Bold, which every reader has. A pixel is 3/4 of a point. Colours are those of the light SVG.
 * Texts are encoded as WinAnsi; characters beyond it are shown as ?, but the minus sign becomes a dash.
 */
#include "io/plot/plot_canvas.h"
#include "io/number.h"

#include <linkwork/text.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char inks[LW_INKS][3] = {{0xff, 0xff, 0xff}, {0xfa, 0xfb, 0xfc}, {0x8a, 0x92, 0x9a},
                                               {0xe4, 0xe7, 0xea}, {0xb4, 0xba, 0xc0}, {0x8a, 0x92, 0x9a},
                                               {0x3c, 0x42, 0x48}, {0x15, 0x18, 0x1b}, {0x6b, 0x73, 0x7b}};
static const unsigned char colours[LW_COLOURS][3] = {
    {0x00, 0x72, 0xb2}, {0xd5, 0x5e, 0x00}, {0x00, 0x9e, 0x73}, {0xb3, 0x47, 0x8c},
    {0xa3, 0x8a, 0x00}, {0x18, 0x9c, 0xbd}, {0x5f, 0x66, 0x70}, {0x8c, 0x5a, 0x2b}};
static const char *const dashes[LW_DASHES] = {"[] 0 d", "[7 6] 0 d", "[0.1 6] 0 d", "[13 5 0.1 5] 0 d"};
static const char *const overs[LW_OVERS] = {"[6 26] 0 d", "[6 26] 24 d", "[5 27] 17 d", "[4 28] 11 d",
                                            "[3 29] 5 d"};

/* Widths of the characters 32 .. 126 of Helvetica, in thousandths of the font's size. */
static const short widths[95] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/* --- contents ------------------------------------------------------------------------------------- */

static void put(lw_pdf *pdf, const char *data, size_t size) {
    if (pdf->failed) return;
    if (size > pdf->capacity - pdf->length) {
        size_t capacity = 2 * pdf->capacity + size + 4096;
        char *larger = realloc(pdf->contents, capacity);
        pdf->failed = larger == NULL;
        if (!larger) return;
        pdf->contents = larger;
        pdf->capacity = capacity;
    }
    memcpy(pdf->contents + pdf->length, data, size);
    pdf->length += size;
}

static void put_text(lw_pdf *pdf, const char *text) { put(pdf, text, strlen(text)); }

static void put_number(lw_pdf *pdf, double value) {
    char text[LW_NUMBER_SIZE];
    (void)lw_number_print_fixed(fmin(1e6, fmax(-1e6, value)), 3, text);
    put_text(pdf, text);
    put_text(pdf, " ");
}

static void put_numbers(lw_pdf *pdf, const double *values, int count, const char *operator) {
    for (int k = 0; k < count; k++) put_number(pdf, values[k]);
    put_text(pdf, operator);
    put_text(pdf, "\n");
}

/* Sets the colour of strokes (RG) or areas (rg). */
static void put_colour(lw_pdf *pdf, const unsigned char rgb[3], const char *operator) {
    const double parts[3] = {rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0};
    put_numbers(pdf, parts, 3, operator);
}

static void pen_colour(const lw_pen *pen, unsigned char rgb[3]) {
    if (pen->shade >= 0)
        lw_shade_colour(pen->shade, rgb);
    else
        memcpy(rgb, colours[pen->colour], 3);
}

/* --- texts ---------------------------------------------------------------------------------------- */

/* The character of WinAnsi for a code point, or '?'. */
static unsigned char encode(unsigned code) {
    static const struct {
        unsigned code;
        unsigned char at;
    } others[] = {{0x20AC, 0x80}, {0x2026, 0x85}, {0x2018, 0x91}, {0x2019, 0x92}, {0x201C, 0x93},
                  {0x201D, 0x94}, {0x2022, 0x95}, {0x2013, 0x96}, {0x2212, 0x96}, {0x2014, 0x97}};
    if ((code >= 32 && code < 127) || (code >= 0xA0 && code < 0x100)) return (unsigned char)code;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (others[k].code == code) return others[k].at;
    return '?';
}

static double width_of(unsigned char letter) {
    return 1e-3 * (letter >= 32 && letter < 127 ? widths[letter - 32] : 556);
}

/* A text as letters of WinAnsi, its exponent apart. */
typedef struct {
    unsigned char letters[512];
    size_t count, raised, lowered; /* where the exponent begins and ends */
} encoded;

static void encode_text(const char *text, int most, encoded *out) {
    *out = (encoded){.raised = sizeof out->letters, .lowered = sizeof out->letters};
    int shown = 0;
    for (size_t left = strlen(text); left > 0 && out->count < sizeof out->letters;) {
        unsigned code;
        size_t length = lw_utf8(text, left, &code);
        if (*text == *LW_RAISE) {
            out->raised = out->count;
        } else if (*text == *LW_LOWER) {
            out->lowered = out->count;
        } else if (shown++ >= most) {
            out->letters[out->count++] = 0x85;
            return;
        } else {
            out->letters[out->count++] = length ? encode(code) : '?';
        }
        if (length == 0) length = 1;
        text += length, left -= length;
    }
}

static double letters_width(const encoded *text, size_t from, size_t to) {
    double width = 0;
    for (size_t k = from; k < to && k < text->count; k++) width += width_of(text->letters[k]);
    return width;
}

static void show(lw_pdf *pdf, const encoded *text, size_t from, size_t to, double size, double rise) {
    char head[64], number[LW_NUMBER_SIZE];
    (void)lw_number_print_fixed(size, 1, number);
    snprintf(head, sizeof head, "%s Tf %d Ts (", number, (int)rise);
    put_text(pdf, head);
    for (size_t k = from; k < to && k < text->count; k++) {
        const char letter = (char)text->letters[k];
        if (letter == '(' || letter == ')' || letter == '\\') put(pdf, "\\", 1);
        put(pdf, &letter, 1);
    }
    put_text(pdf, ") Tj\n");
}

static void draw_text(lw_canvas *canvas, lw_ink ink, lw_anchor anchor, bool turned, double x, double y,
                      const char *text, int most) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    double size = ink == LW_INK_TITLE ? 17 : 12, small = 0.75 * size;
    const char *font = ink == LW_INK_TITLE ? "/B " : "/R ";
    encoded letters;
    encode_text(text, most, &letters);
    double wide = size * letters_width(&letters, 0, letters.raised) +
                  small * letters_width(&letters, letters.raised, letters.lowered) +
                  size * letters_width(&letters, letters.lowered, letters.count);
    double back = anchor == LW_ANCHOR_START ? 0 : anchor == LW_ANCHOR_MIDDLE ? 0.5 * wide : wide;
    put_text(pdf, "BT ");
    put_colour(pdf, inks[ink], "rg");
    /* The page has y downwards: letters are turned upside down to stand upright. */
    const double upright[6] = {1, 0, 0, -1, x - back, y}, upwards[6] = {0, -1, -1, 0, x, y + back};
    put_numbers(pdf, turned ? upwards : upright, 6, "Tm");
    const size_t ends[4] = {0, letters.raised, letters.lowered, letters.count};
    for (int k = 0; k < 3; k++) {
        if (ends[k] >= letters.count || ends[k] == ends[k + 1]) continue;
        put_text(pdf, font);
        show(pdf, &letters, ends[k], ends[k + 1], k == 1 ? small : size, k == 1 ? 4 : 0);
    }
    put_text(pdf, "ET\n");
}

/* --- lines and areas ------------------------------------------------------------------------------ */

static void rectangle(lw_canvas *canvas, lw_ink ink, double x, double y, double w, double h) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    const double place[4] = {x, y, w, h};
    bool framed = ink == LW_INK_FRAME;
    put_colour(pdf, inks[ink], framed ? "RG" : "rg");
    if (framed) put_text(pdf, "1 w [] 0 d\n");
    put_numbers(pdf, place, 4, framed ? "re S" : "re f");
}

static void line(lw_canvas *canvas, lw_ink ink, double x1, double y1, double x2, double y2) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    const double from[2] = {x1, y1}, to[2] = {x2, y2};
    put_colour(pdf, inks[ink], "RG");
    put_text(pdf, ink == LW_INK_EVENT ? "1 w [3 3] 0 d\n" : "1 w [] 0 d\n");
    put_numbers(pdf, from, 2, "m");
    put_numbers(pdf, to, 2, "l S");
}

static void curve(lw_canvas *canvas, const lw_pen *pen) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    unsigned char rgb[3];
    pen_colour(pen, rgb);
    put_colour(pdf, rgb, "RG");
    if (pen->over > 0) {
        put_text(pdf, "3.6 w 0 J ");
        put_text(pdf, overs[pen->over - 1]);
    } else {
        put_text(pdf, pen->dash == 2 ? "2.4 w 1 J " : "1.7 w 1 J ");
        put_text(pdf, dashes[pen->dash]);
    }
    put_text(pdf, "\n");
}

static void point(lw_canvas *canvas, bool move, double x, double y) {
    const double place[2] = {x, y};
    put_numbers((lw_pdf *)canvas, place, 2, move ? "m" : "l");
}

static void curve_end(lw_canvas *canvas) { put_text((lw_pdf *)canvas, "S\n"); }

static void mark(lw_canvas *canvas, const lw_pen *pen, int form, bool strong, double x, double y) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    double size = strong ? 5 : 3, corners[8][2];
    int count = lw_mark_corners(form, size, corners);
    unsigned char rgb[3];
    pen_colour(pen, rgb);
    put_colour(pdf, rgb, "RG");
    put_colour(pdf, inks[LW_INK_AREA], "rg");
    put_text(pdf, strong ? "2 w [] 0 d\n" : "1.4 w [] 0 d\n");
    if (count == 0) { /* A circle of four Bezier arcs. */
        const double k = 0.5523 * size, start[2] = {x + size, y};
        put_numbers(pdf, start, 2, "m");
        const double arcs[4][6] = {{size, k, k, size, 0, size},
                                   {-k, size, -size, k, -size, 0},
                                   {-size, -k, -k, -size, 0, -size},
                                   {k, -size, size, -k, size, 0}};
        for (int a = 0; a < 4; a++) {
            double moved[6];
            for (int i = 0; i < 6; i++) moved[i] = arcs[a][i] + (i % 2 ? y : x);
            put_numbers(pdf, moved, 6, "c");
        }
    }
    for (int k = 0; k < count; k++) point(canvas, k == 0, x + corners[k][0], y + corners[k][1]);
    put_text(pdf, "b\n");
}

/* --- the file ------------------------------------------------------------------------------------- */

static void begin(lw_canvas *canvas, double width, double height, const char *title) {
    lw_pdf *pdf = (lw_pdf *)canvas;
    const double page[6] = {0.75, 0, 0, -0.75, 0, 0.75 * height};
    (void)width;
    pdf->height = height;
    pdf->title = title;
    put_numbers(pdf, page, 6, "cm");
    put_text(pdf, "1 j 1 J\n");
}

/* Writes an object and notes where it begins. */
static size_t put_object(FILE *file, size_t at, int number, const char *text, size_t offsets[]) {
    offsets[number] = at;
    int length = fprintf(file, "%d 0 obj\n%s\nendobj\n", number, text);
    return at + (length > 0 ? (size_t)length : 0);
}

static void end(lw_canvas *canvas) {
    enum { OBJECTS = 8 };
    static const double width = 920;
    lw_pdf *pdf = (lw_pdf *)canvas;
    FILE *file = pdf->out;
    char text[2048];
    size_t offsets[OBJECTS] = {0}, at = 0;
    if (pdf->failed) return;
    at += (size_t)fprintf(file, "%%PDF-1.4\n%%\xE2\xE3\xCF\xD3\n");
    at = put_object(file, at, 1, "<< /Type /Catalog /Pages 2 0 R >>", offsets);
    at = put_object(file, at, 2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", offsets);
    snprintf(text, sizeof text,
             "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R\n"
             "/Resources << /Font << /R 5 0 R /B 6 0 R >> >> >>",
             (int)lround(0.75 * width), (int)ceil(0.75 * pdf->height));
    at = put_object(file, at, 3, text, offsets);
    offsets[4] = at;
    at += (size_t)fprintf(file, "4 0 obj\n<< /Length %zu >>\nstream\n", pdf->length);
    at += fwrite(pdf->contents, 1, pdf->length, file);
    at += (size_t)fprintf(file, "\nendstream\nendobj\n");
    at = put_object(file, at, 5,
                    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
                    offsets);
    at = put_object(file, at, 6,
                    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
                    offsets);
    encoded title;
    encode_text(pdf->title, 200, &title);
    size_t used = (size_t)snprintf(text, sizeof text, "<< /Producer (Linkwork) /Title <");
    for (size_t k = 0; k < title.count; k++) used += (size_t)sprintf(text + used, "%02X", title.letters[k]);
    snprintf(text + used, sizeof text - used, "> >>");
    at = put_object(file, at, 7, text, offsets);
    fprintf(file, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS);
    for (int k = 1; k < OBJECTS; k++) fprintf(file, "%010zu 00000 n \n", offsets[k]);
    fprintf(file, "trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%zu\n%%%%EOF\n", OBJECTS, at);
}

lw_canvas *lw_canvas_pdf(lw_pdf *pdf, FILE *file) {
    *pdf = (lw_pdf){.canvas = {file, begin, end, rectangle, line, draw_text, curve, point, curve_end, mark},
                    .out = file};
    return &pdf->canvas;
}
