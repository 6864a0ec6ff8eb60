/* plot_canvas.h - what plots are drawn on: lines, texts and curves in pixels, y downwards, as SVG or PDF.
 *
 * A text may hold exponents: what stands between the characters LW_RAISE and LW_LOWER is raised and small.
 */
#ifndef LW_PLOT_CANVAS_H
#define LW_PLOT_CANVAS_H

#include "core/core.h"

#include <stdio.h>

#define LW_RAISE "\x02"
#define LW_LOWER "\x03"

typedef enum lw_ink {
    LW_INK_PAGE = 0, /* areas */
    LW_INK_AREA,
    LW_INK_FRAME, /* lines */
    LW_INK_GRID,
    LW_INK_ZERO,
    LW_INK_EVENT,
    LW_INK_TEXT, /* texts */
    LW_INK_TITLE,
    LW_INK_NOTE,
    LW_INKS
} lw_ink;

typedef enum lw_anchor { LW_ANCHOR_START, LW_ANCHOR_MIDDLE, LW_ANCHOR_END } lw_anchor;

enum { LW_COLOURS = 8, LW_DASHES = 4, LW_OVERS = 5, LW_MARKS = 4 };

/* How a curve looks. */
typedef struct lw_pen {
    int colour;   /* 0 .. LW_COLOURS - 1 */
    double shade; /* 0 .. 1: one of many curves, coloured in their order instead; negative: not so */
    int dash;     /* 0: none .. LW_DASHES - 1 */
    /* 1 .. LW_OVERS: short wide dashes upon others with the same course, between theirs; 0: not */
    int over;
    bool beaded; /* marks along it tell it from one of the same colour with the same course */
} lw_pen;

typedef struct lw_canvas lw_canvas;
struct lw_canvas {
    FILE *file;
    void (*begin)(lw_canvas *canvas, double width, double height, const char *title);
    void (*end)(lw_canvas *canvas);
    void (*rectangle)(lw_canvas *canvas, lw_ink ink, double x, double y, double w, double h);
    void (*line)(lw_canvas *canvas, lw_ink ink, double x1, double y1, double x2, double y2);
    /* turned: reading upwards. At most `most` characters are shown. */
    void (*text)(lw_canvas *canvas, lw_ink ink, lw_anchor anchor, bool turned, double x, double y,
                 const char *text, int most);
    void (*curve)(lw_canvas *canvas, const lw_pen *pen);             /* begins */
    void (*point)(lw_canvas *canvas, bool move, double x, double y); /* of the curve that has begun */
    void (*curve_end)(lw_canvas *canvas);
    /* A hollow mark of one of LW_MARKS forms; strong: one that stands for itself. */
    void (*mark)(lw_canvas *canvas, const lw_pen *pen, int form, bool strong, double x, double y);
};

/* The corners of a mark around the origin, up to 8, and their number; for a circle 0. */
int lw_mark_corners(int form, double size, double corners[8][2]);
/* The colour of a shade. */
void lw_shade_colour(double shade, unsigned char rgb[3]);

/* Canvases that write to a file; faults of the file are left to ferror. */
lw_canvas lw_canvas_svg(FILE *file);
/* The canvas of a PDF keeps what it draws in memory until its end: pdf is its memory. */
typedef struct lw_pdf {
    lw_canvas canvas; /* the first member */
    FILE *out;
    double height;
    const char *title;
    size_t length; /* of the contents so far */
    bool failed;
    char *contents;
    size_t capacity;
} lw_pdf;
lw_canvas *lw_canvas_pdf(lw_pdf *pdf, FILE *file);

#endif
