/* reproduce_page.c - all reproduced items on one page: index.html, with figures, tables and the command for
 * each.
 *
 * The figures are embedded as data and follow, as the page does, the viewer's preference for light or dark.
 * The mechanisms move in frames: pages of linkwork view in the folder motions beside it, which load when they
 * are unfolded. Numbers are those of the rows; only their ratios are computed here. Long tables fold.
 */
#define _POSIX_C_SOURCE 200809L
#include "page.h"
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHORT_TABLE = 6 };

/* A drawing of a four-bar linkage: crank, coupler with the path of a point, rocker, ground. */
static const char mark[] =
    "<svg viewBox=\"0 0 150 104\" role=\"img\" aria-label=\"a four-bar linkage\" fill=\"none\" "
    "stroke-linecap=\"round\">"
    "<path d=\"M10 90h130\" stroke=\"var(--line)\" stroke-width=\"3\"/>"
    "<circle cx=\"36\" cy=\"84\" r=\"24\" stroke=\"var(--line)\" stroke-width=\"2\" stroke-dasharray=\"3 "
    "5\"/>"
    "<path d=\"M36 84L52 66\" stroke=\"#d55e00\" stroke-width=\"7\"/>"
    "<path d=\"M52 66L104 22\" stroke=\"var(--accent)\" stroke-width=\"7\"/>"
    "<path d=\"M104 22L116 84\" stroke=\"#009e73\" stroke-width=\"7\"/>"
    "<g fill=\"var(--card)\" stroke=\"var(--ink)\" stroke-width=\"3\"><circle cx=\"36\" cy=\"84\" r=\"5\"/>"
    "<circle cx=\"52\" cy=\"66\" r=\"5\"/><circle cx=\"104\" cy=\"22\" r=\"5\"/><circle cx=\"116\" cy=\"84\" "
    "r=\"5\"/></g>"
    "</svg>";

/* Writes the anchor of an item on the page: "anderson2003-fig6" for "anderson2003/fig6". */
static void put_anchor(FILE *file, const char *name) {
    for (; *name; name++) putc(*name == '/' ? '-' : *name, file);
}

/* Writes a verdict where there is something to say: a number that is not as wanted, or not to the digits. */
static void put_verdict(FILE *file, const reproduce_row *row) {
    if (!row->ok)
        fputs("<span class=\"verdict no\">not so</span>", file);
    else if (row->reason)
        fputs("<span class=\"verdict told\">not to the digits</span>", file);
    if (row->reason) fputs("<br><small>", file), page_text(file, row->reason), fputs("</small>", file);
}

/* What the paper prints, says, or NaN. */
static double origin_of(const reproduce_row *row) { return isnan(row->paper) ? row->stated : row->paper; }

/* The number here over the paper's; NaN where that says nothing. */
static double ratio_of(const reproduce_row *row) {
    double origin = origin_of(row);
    return origin == 0 ? (row->here == 0 ? 1 : NAN) : row->here / origin;
}

static const char *ratio_text(char text[24], double ratio) {
    if (isnan(ratio))
        snprintf(text, 24, "\xE2\x80\x93"); /* a dash */
    else if (ratio > 0.01 && ratio < 100)
        snprintf(text, 24, "%.3f", ratio);
    else
        snprintf(text, 24, "%.2e", ratio);
    return text;
}

static void put_row(FILE *file, const reproduce_row *row) {
    char paper[24], here[24], ratio[24];
    fputs("<td class=\"q\">", file), page_text(file, row->quantity);
    fprintf(
        file, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">",
        reproduce_origin(paper, row), reproduce_number(here, row->here), ratio_text(ratio, ratio_of(row)));
    page_text(file, row->wanted);
    fputs("</td><td>", file), put_verdict(file, row), fputs("</td></tr>\n", file);
}

static const char row_head[] =
    "<th>quantity</th><th class=\"n\">paper</th><th class=\"n\">here</th>"
    "<th class=\"n\">here/paper</th><th class=\"n\">wanted</th><th></th></tr></thead>"
    "<tbody>\n";

/* The rows of an item in a sentence: how many, how many as wanted, and the ratios to the paper's numbers. */
static void describe_rows(const reproduction *work, char *text, size_t size) {
    int good = 0, compared = 0;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < work->row_count; k++) {
        double ratio = ratio_of(&work->rows[k]);
        good += work->rows[k].ok;
        if (isnan(ratio)) continue;
        compared++;
        least = fmin(least, ratio), most = fmax(most, ratio);
    }
    int used = snprintf(text, size, "%d number%s, %d as wanted", work->row_count,
                        work->row_count == 1 ? "" : "s", good);
    char low[24], high[24];
    if (compared > 0 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; here/paper %s%s%s", ratio_text(low, least),
                 compared > 1 ? " to " : "", compared > 1 ? ratio_text(high, most) : "");
}

static void put_header(FILE *file, const reproduce_outcome *outcomes, int count, bool quick) {
    int papers = 0, items = 0;
    double seconds = 0;
    reproduce_count sum;
    reproduce_tally(outcomes, count, &sum);
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        papers += k == 0 || outcomes[k - 1].paper != o->paper;
        items += o->ok;
        seconds += o->seconds;
    }
    fprintf(
        file,
        "<header>%s<div><h1>Linkwork</h1><p class=\"lead\">Multibody dynamics with the numbers shown: one "
        "model file, every formulation, and the papers they come from reproduced by one "
        "command.</p></div></header>\n<main>\n",
        mark);
    fprintf(file,
            "<ul class=\"counts\"><li><b>%d</b>paper%s</li><li><b>%d of %d</b>items as wanted</li>"
            "<li><b>%d of %d</b>numbers of the papers to the digits printed, %d not, with the reason</li>"
            "<li><b>%d of %d</b>statements and formulas of the papers</li><li><b>%d of %d</b>checks of our "
            "own</li><li><b>%d</b>methods on one model file</li>"
            "<li><b>%.0f s</b>to compute this page%s</li></ul>\n<nav aria-label=\"sections\">",
            papers, papers == 1 ? "" : "s", items, count, sum.to_the_digits, sum.printed, sum.reasoned,
            sum.stated_ok, sum.stated, sum.own_ok, sum.own, lw_method_count(), seconds,
            quick ? ", the short way" : "");
    fputs("<a href=\"#overview\">overview</a>", file);
    for (int k = 0; k < count; k++)
        if (k == 0 || outcomes[k - 1].paper != outcomes[k].paper)
            fprintf(file, "<a href=\"#%s\">%s</a>", outcomes[k].paper->name, outcomes[k].paper->name);
    fputs("<a href=\"#methods\">methods</a><a href=\"#summary\">all numbers</a></nav>\n", file);
}

/* Writes an overview of all items and their outcomes. */
static void put_overview(FILE *file, const reproduce_outcome *outcomes, int count) {
    fputs("<section id=\"overview\"><h2>Papers and items</h2><article><dl class=\"map\">\n", file);
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        if (k == 0 || outcomes[k - 1].paper != o->paper) {
            fprintf(file, "%s<dt><a href=\"#%s\">%s</a></dt><dd><p>", k ? "</dd>\n" : "", o->paper->name,
                    o->paper->name);
            page_text(file, o->paper->about), fputs("</p>", file);
        }
        fputs("<a href=\"#", file), put_anchor(file, o->name);
        fprintf(file, "\"><span class=\"verdict %s\">%s</span></a>", o->ok ? "told" : "no",
                o->name + strlen(o->paper->name) + 1);
    }
    fputs("</dd></dl></article></section>\n", file);
}

static void put_summary(FILE *file, const reproduce_outcome *outcomes, int count) {
    fputs(
        "<section id=\"summary\"><h2>All numbers</h2><p class=\"about\">The paper's number, the one computed "
        "here, their ratio, and what it is wanted to be. In parentheses stands what the paper's words or a "
        "formula "
        "of it come to, a dash where it says nothing and the check is our own.</p><article>",
        file);
    int rows = 0;
    for (int k = 0; k < count; k++) rows += outcomes[k].work.row_count;
    page_fold(file, false, "%d numbers in one table", rows);
    fputs("<div class=\"scroll\"><table><thead><tr><th>item</th>", file);
    fputs(row_head, file);
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        for (int i = 0; i < o->work.row_count; i++) {
            fputs("<tr><td><a href=\"#", file), put_anchor(file, o->name);
            fprintf(file, "\">%s</a></td>", o->name);
            put_row(file, &o->work.rows[i]);
        }
        if (o->failure[0]) {
            fprintf(file, "<tr><td>%s</td><td class=\"failure\" colspan=\"5\">", o->name);
            page_text(file, o->failure), fputs("</td><td></td></tr>\n", file);
        }
    }
    fputs("</tbody></table></div>", file), page_fold_end(file), fputs("</article></section>\n", file);
}

/* Writes a figure into the page; its title is the item's. */
static bool put_figure(FILE *file, const char *path, const char *about, const char *kind) {
    fputs("<figure><img alt=\"", file), page_text(file, about), fputs(kind, file);
    fputs("\" src=\"data:image/svg+xml;base64,", file);
    bool good = page_file(file, path);
    fputs("\"></figure>\n", file);
    return good;
}

static bool put_item(FILE *file, const reproduce_outcome *o) {
    const reproduction *work = &o->work;
    bool good = true;
    fputs("<article id=\"", file), put_anchor(file, o->name);
    fputs("\"><div class=\"top\"><div><h3>", file), page_text(file, work->summary);
    fprintf(file, "</h3><p class=\"name\"><code>linkwork reproduce %s</code> &nbsp;%.1f s</p></div>", o->name,
            o->seconds);
    if (!o->ok) fputs("<span class=\"verdict no\">not so</span>", file);
    fputs("</div>\n", file);
    if (o->failure[0])
        fputs("<p class=\"failure\">", file), page_text(file, o->failure), fputs("</p>\n", file);
    if (work->files[1][0]) good = put_figure(file, work->files[1], work->summary, "") && good;
    if (work->path_figure[0]) good = put_figure(file, work->path_figure, work->summary, ": path") && good;
    if (work->row_count > 0) {
        char text[200];
        describe_rows(work, text, sizeof text);
        /* Long tables fold, unless something in them is not as wanted. */
        page_fold(file, work->row_count <= SHORT_TABLE || !o->ok, "%s", text);
        fputs("<div class=\"scroll\" style=\"margin-top:6px\"><table><thead><tr>", file),
            fputs(row_head, file);
        for (int i = 0; i < work->row_count; i++) fputs("<tr>", file), put_row(file, &work->rows[i]);
        fputs("</tbody></table></div>\n", file);
        page_fold_end(file);
    }
    fputs("</article>\n", file);
    return good;
}

static void put_methods(FILE *file) {
    fputs(
        "<section id=\"methods\"><h2>Methods</h2><p class=\"about\"><code>linkwork compare MODEL</code> runs "
        "all that apply to a model next to each other; <code>--method auto</code> picks one and says "
        "why.</p><article>",
        file);
    page_fold(file, false, "%d methods: coordinates, cost, source", lw_method_count());
    fputs("<div class=\"scroll\"><table><thead><tr><th>method</th>"
          "<th>coordinates</th><th>cost of a call</th><th>source</th><th>what it "
          "does</th></tr></thead><tbody>\n",
          file);
    for (int k = 0; k < lw_method_count(); k++) {
        lw_method_info method = lw_method_at(k);
        const char *const cells[] = {method.coordinates, method.cost, method.source, method.summary};
        fputs("<tr><td><code>", file), page_text(file, method.name), fputs("</code></td>", file);
        for (int i = 0; i < 4; i++)
            fprintf(file, "<td%s>", i == 3 ? " class=\"q\"" : ""), page_text(file, cells[i]),
                fputs("</td>", file);
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>", file), page_fold_end(file), fputs("</article></section>\n", file);
}

/* --- motions -------------------------------------------------------------------------------------- */

/* Is outcome k the first of its paper that shows this mechanism? */
static bool shows_first(const reproduce_outcome *outcomes, int k) {
    const char *problem = outcomes[k].problem;
    for (int i = 0; i < k; i++)
        if (outcomes[i].paper == outcomes[k].paper && outcomes[i].problem && problem &&
            strcmp(outcomes[i].problem, problem) == 0)
            return false;
    return problem != NULL;
}

/* Writes the mechanisms of a paper as folds with their motions, the first one open. */
static void put_motions(FILE *file, const reproduce_outcome *outcomes, int count, int first) {
    bool any = false;
    for (int k = first; k < count && outcomes[k].paper == outcomes[first].paper; k++) {
        char address[128];
        if (!outcomes[k].moving[0] || !shows_first(outcomes, k)) continue;
        snprintf(address, sizeof address, "motions/%s.html", outcomes[k].problem);
        if (!any) fputs("<article class=\"motions\">", file);
        page_motion(file, !any, outcomes[k].moving, address);
        any = true;
    }
    if (any) fputs("</article>\n", file);
}

/* Runs the mechanisms and writes their motions beside the page. One that fails is left out. */
static lw_status write_motions(const char *folder, reproduce_outcome *outcomes, int count, lw_error *error) {
    char path[4096];
    snprintf(path, sizeof path, "%s/motions", folder);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return reproduce_fail(error, LW_ERROR_FILE, "folder %s could not be made: %s", path, strerror(errno));
    for (int k = 0; k < count; k++) {
        if (!outcomes[k].problem) continue;
        for (int i = 0; i < k; i++) /* It may be there already, for another paper. */
            if (outcomes[i].moving[0] && strcmp(outcomes[i].problem, outcomes[k].problem) == 0)
                memcpy(outcomes[k].moving, outcomes[i].moving, sizeof outcomes[k].moving);
        if (outcomes[k].moving[0]) continue;
        lw_model *model;
        lw_run_options options;
        if (reproduce_model(outcomes[k].problem, NULL, 0, &model, error) != LW_OK) continue;
        lw_run_defaults(model, &options);
        int length = snprintf(path, sizeof path, "%s/motions/%s.html", folder, outcomes[k].problem);
        lw_status status = length > 0 && (size_t)length < sizeof path
                               ? page_write_motion(model, &options, path, error)
                               : LW_ERROR_FILE;
        if (status == LW_OK)
            snprintf(outcomes[k].moving, sizeof outcomes[k].moving, "%s", lw_model_name(model));
        lw_model_destroy(model);
        if (status == LW_ERROR_STOPPED) return status;
    }
    return LW_OK;
}

static bool put_page(FILE *file, const reproduce_outcome *outcomes, int count, bool quick) {
    bool good = true;
    page_begin(file, "Linkwork: papers reproduced, methods compared");
    put_header(file, outcomes, count, quick);
    put_overview(file, outcomes, count);
    for (int k = 0; k < count; k++) {
        const reproduce_paper *paper = outcomes[k].paper;
        if (k == 0 || outcomes[k - 1].paper != paper) {
            fprintf(file, "%s<section id=\"%s\"><h2>%s</h2><p class=\"about\">", k ? "</section>\n" : "",
                    paper->name, paper->name);
            page_text(file, paper->citation), fputs("<br>", file), page_text(file, paper->about);
            fprintf(file, "<br>\n<code>linkwork reproduce %s</code></p>\n", paper->name);
            put_motions(file, outcomes, count, k);
        }
        good = put_item(file, &outcomes[k]) && good;
    }
    fputs("</section>\n", file);
    put_methods(file);
    put_summary(file, outcomes, count);
    fprintf(file,
            "</main>\n<footer>Made by <code>linkwork reproduce%s --out DIR</code>, Linkwork %s. Data of each "
            "figure "
            "stand beside this page as PAPER/ITEM.csv. Times are of the machine that made it.</footer>\n",
            quick ? " --quick" : "", LW_VERSION);
    page_end(file);
    return good;
}

lw_status reproduce_page(const char *folder, reproduce_outcome *outcomes, int count, bool quick,
                         lw_error *error) {
    char path[4096];
    lw_status status = write_motions(folder, outcomes, count, error);
    if (status != LW_OK) return status;
    int length = snprintf(path, sizeof path, "%s/index.html", folder);
    if (length < 0 || (size_t)length >= sizeof path)
        return reproduce_fail(error, LW_ERROR_FILE, "the name of the folder is too long");
    errno = 0;
    FILE *file = fopen(path, "w");
    bool good = file && put_page(file, outcomes, count, quick);
    if (file && ferror(file)) good = false;
    if (file && fclose(file) != 0) good = false;
    return good ? LW_OK
                : reproduce_fail(error, LW_ERROR_FILE, "%s could not be written: %s", path,
                                 errno ? strerror(errno) : "a figure is missing");
}
