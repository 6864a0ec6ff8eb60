/* reproduce_page.c - all reproduced items on one page: index.html, with figures, tables and the command for
 * each.
 *
 * The page needs no other file and no network: the figures are embedded as data and follow, as the page does,
 * the viewer's preference for light or dark. Numbers are those of the rows; nothing is computed here.
 */
#include "reproduce.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#ffffff;--ink:#15181b;--soft:#59626b;--line:#dfe3e8;"
    "--accent:#0b63a5;--good:#0a7d55;--good-bg:#e2f5ec;--bad:#b3261e;--bad-bg:#fbe7e5;--code:#eef1f4}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#0e1113;--card:#14171a;--ink:#eef1f4;--soft:#a2abb4;"
    "--line:#2b3137;--accent:#6cb8ee;--good:#4fd6a4;--good-bg:#10352a;--bad:#ff8f86;--bad-bg:#43191a;"
    "--code:#20262b}}\n"
    "*{box-sizing:border-box}html{scroll-behavior:smooth}\n"
    "@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',"
    "'DejaVu Sans',sans-serif}\n"
    "a{color:var(--accent);text-decoration:none}a:hover,a:focus{text-decoration:underline}\n"
    "header,main,footer{max-width:1120px;margin:0 auto;padding:0 24px}\n"
    "header{padding-top:56px;padding-bottom:8px;display:flex;gap:36px;align-items:center;flex-wrap:wrap}\n"
    "header svg{width:150px;height:104px;flex:none}header div{flex:1 1 420px;min-width:0}\n"
    "h1{font-size:44px;line-height:1.1;letter-spacing:-.02em;margin:0}\n"
    ".lead{font-size:19px;color:var(--soft);margin:.5em 0 0}\n"
    ".counts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;padding:0;"
    "margin:28px 0 0;list-style:none}\n"
    ".counts li{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 18px;"
    "color:var(--soft);font-size:14px}\n"
    ".counts b{display:block;color:var(--ink);font-size:28px;line-height:1.2;letter-spacing:-.01em}\n"
    "nav{display:flex;flex-wrap:wrap;gap:8px;margin:24px 0 0}\n"
    "nav a{border:1px solid var(--line);background:var(--card);border-radius:999px;padding:5px 14px;"
    "font-size:14px}\n"
    "h2{font-size:27px;letter-spacing:-.01em;margin:56px 0 4px}h3{font-size:18px;margin:0}\n"
    ".about{color:var(--soft);margin:0 0 18px}\n"
    "article{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:22px;"
    "margin:0 0 18px;min-width:0}\n"
    ".top{display:flex;gap:12px;justify-content:space-between;align-items:flex-start}\n"
    ".name{color:var(--soft);font-size:14px;margin:2px 0 0}\n"
    "code{font-family:ui-monospace,'SF Mono','DejaVu Sans Mono',monospace;font-size:.875em;"
    "background:var(--code);border-radius:6px;padding:2px 7px;overflow-wrap:anywhere}\n"
    ".verdict{flex:none;font-size:13px;font-weight:600;border-radius:999px;padding:2px "
    "11px;white-space:nowrap;"
    "color:var(--good);background:var(--good-bg)}.verdict.no{color:var(--bad);background:var(--bad-bg)}"
    ".verdict.told{color:var(--soft);background:var(--code)}\n"
    ".map{display:grid;grid-template-columns:max-content 1fr;gap:14px 22px;margin:0;align-items:baseline}"
    ".map dt{font-weight:600}.map dd{margin:0;display:flex;flex-wrap:wrap;gap:7px;min-width:0}\n"
    ".map dd p{margin:0;flex-basis:100%;color:var(--soft);font-size:14px}\n"
    ".failure{color:var(--bad)}\n"
    "figure{margin:16px 0 4px}img{display:block;width:100%;max-width:880px;height:auto;margin:0 auto;"
    "border-radius:8px}\n"
    ".scroll{overflow-x:auto;margin-top:14px}\n"
    "table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th{text-align:left;color:var(--soft);font-weight:600;border-bottom:1px solid var(--line);padding:6px "
    "10px}\n"
    "td{border-bottom:1px solid var(--line);padding:6px 10px;vertical-align:top}\n"
    "tr:last-child "
    "td{border-bottom:0}.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    ".q{min-width:15em}\n"
    "footer{color:var(--soft);font-size:14px;padding-top:40px;padding-bottom:56px}\n"
    "@media "
    "(max-width:640px){header{padding-top:32px;gap:18px}h1{font-size:34px}header,main,footer{padding-left:"
    "14px;"
    "padding-right:14px}article{padding:16px}.top{flex-direction:column}.map{grid-template-columns:1fr;gap:"
    "4px}.map dd{margin-bottom:14px}"
    ".q{min-width:11em}}\n"
    "@media print{body{background:none}article{break-inside:avoid}nav{display:none}}\n";

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

static void put_text(FILE *file, const char *text) { lw_put_xml(file, text, INT_MAX); }

/* Writes the anchor of an item on the page: "anderson2003-fig6" for "anderson2003/fig6". */
static void put_anchor(FILE *file, const char *name) {
    for (; *name; name++) putc(*name == '/' ? '-' : *name, file);
}

/* Writes a file in base 64. */
static bool put_file(FILE *to, const char *path) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    FILE *from = fopen(path, "rb");
    if (!from) return false;
    unsigned char bytes[3];
    size_t count;
    while ((count = fread(bytes, 1, 3, from)) > 0) {
        for (size_t k = count; k < 3; k++) bytes[k] = 0;
        unsigned group = (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2];
        for (size_t k = 0; k < 4; k++) putc(k <= count ? digits[group >> (18 - 6 * k) & 63] : '=', to);
    }
    bool good = !ferror(from);
    fclose(from);
    return good;
}

/* Writes a verdict. reason says why the paper's digits are not reproduced; NULL if they are, or if there are
 * none. */
static void put_verdict(FILE *file, bool ok, const char *reason) {
    fprintf(file, "<span class=\"verdict%s\">%s</span>",
            !ok      ? " no"
            : reason ? " told"
                     : "",
            !ok      ? "not so"
            : reason ? "not to the digits"
                     : "as wanted");
}

static void put_row(FILE *file, const reproduce_row *row) {
    char paper[24], here[24];
    fputs("<td class=\"q\">", file), put_text(file, row->quantity);
    fprintf(file, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">",
            reproduce_origin(paper, row), reproduce_number(here, row->here));
    put_text(file, row->wanted);
    fputs("</td><td>", file), put_verdict(file, row->ok, row->reason);
    if (row->reason) fputs("<br><small>", file), put_text(file, row->reason), fputs("</small>", file);
    fputs("</td></tr>\n", file);
}

static const char row_head[] = "<th>quantity</th><th class=\"n\">paper</th><th class=\"n\">here</th>"
                               "<th class=\"n\">wanted</th><th>verdict</th></tr></thead><tbody>\n";

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
            put_text(file, o->paper->about), fputs("</p>", file);
        }
        fputs("<a href=\"#", file), put_anchor(file, o->name);
        fprintf(file, "\"><span class=\"verdict%s\">%s</span></a>", o->ok ? "" : " no",
                o->name + strlen(o->paper->name) + 1);
    }
    fputs("</dd></dl></article></section>\n", file);
}

static void put_summary(FILE *file, const reproduce_outcome *outcomes, int count) {
    fputs(
        "<section id=\"summary\"><h2>All numbers</h2><p class=\"about\">The paper's number, the one computed "
        "here, and what it is wanted to be. In parentheses stands what the paper's words or a formula of it "
        "come to, a "
        "dash where it says nothing and the check is our own.</p><article>"
        "<div class=\"scroll\" style=\"margin-top:0\"><table><thead><tr><th>item</th>",
        file);
    fputs(row_head, file);
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        for (int i = 0; i < o->work.row_count; i++) {
            fputs("<tr><td><a href=\"#", file), put_anchor(file, o->name);
            fprintf(file, "\">%s</a></td>", o->name);
            put_row(file, &o->work.rows[i]);
        }
        if (o->failure[0]) {
            fprintf(file, "<tr><td>%s</td><td class=\"failure\" colspan=\"4\">", o->name);
            put_text(file, o->failure), fputs("</td><td>", file), put_verdict(file, false, NULL);
            fputs("</td></tr>\n", file);
        }
    }
    fputs("</tbody></table></div></article></section>\n", file);
}

static bool put_item(FILE *file, const reproduce_outcome *o) {
    const reproduction *work = &o->work;
    bool good = true;
    fputs("<article id=\"", file), put_anchor(file, o->name);
    fputs("\"><div class=\"top\"><div><h3>", file), put_text(file, work->summary);
    fprintf(file, "</h3><p class=\"name\"><code>linkwork reproduce %s</code> &nbsp;%.1f s</p></div>", o->name,
            o->seconds);
    put_verdict(file, o->ok, NULL), fputs("</div>\n", file);
    if (o->failure[0])
        fputs("<p class=\"failure\">", file), put_text(file, o->failure), fputs("</p>\n", file);
    if (work->files[1][0]) {
        fputs("<figure><img alt=\"", file), put_text(file, work->summary);
        fputs("\" src=\"data:image/svg+xml;base64,", file);
        good = put_file(file, work->files[1]);
        fputs("\"></figure>\n", file);
    }
    if (work->row_count > 0) {
        fputs("<div class=\"scroll\"><table><thead><tr>", file), fputs(row_head, file);
        for (int i = 0; i < work->row_count; i++) fputs("<tr>", file), put_row(file, &work->rows[i]);
        fputs("</tbody></table></div>\n", file);
    }
    fputs("</article>\n", file);
    return good;
}

static void put_methods(FILE *file) {
    fputs(
        "<section id=\"methods\"><h2>Methods</h2><p class=\"about\"><code>linkwork compare MODEL</code> runs "
        "all that apply to a model next to each other; <code>--method auto</code> picks one and says "
        "why.</p><article><div class=\"scroll\" style=\"margin-top:0\"><table><thead><tr><th>method</th>"
        "<th>coordinates</th><th>cost of a call</th><th>source</th><th>what it "
        "does</th></tr></thead><tbody>\n",
        file);
    for (int k = 0; k < lw_method_count(); k++) {
        lw_method_info method = lw_method_at(k);
        const char *const cells[] = {method.coordinates, method.cost, method.source, method.summary};
        fputs("<tr><td><code>", file), put_text(file, method.name), fputs("</code></td>", file);
        for (int i = 0; i < 4; i++)
            fprintf(file, "<td%s>", i == 3 ? " class=\"q\"" : ""), put_text(file, cells[i]),
                fputs("</td>", file);
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div></article></section>\n", file);
}

static bool put_page(FILE *file, const reproduce_outcome *outcomes, int count, bool quick) {
    bool good = true;
    fprintf(file,
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width,initial-scale=1\">\n<title>Linkwork: papers reproduced, methods "
            "compared</title>\n<style>\n%s</style></head><body>\n",
            style);
    put_header(file, outcomes, count, quick);
    put_overview(file, outcomes, count);
    for (int k = 0; k < count; k++) {
        const reproduce_paper *paper = outcomes[k].paper;
        if (k == 0 || outcomes[k - 1].paper != paper) {
            fprintf(file, "%s<section id=\"%s\"><h2>%s</h2><p class=\"about\">", k ? "</section>\n" : "",
                    paper->name, paper->name);
            put_text(file, paper->citation), fputs("<br>", file), put_text(file, paper->about);
            fprintf(file, "<br>\n<code>linkwork reproduce %s</code></p>\n", paper->name);
        }
        good = put_item(file, &outcomes[k]) && good;
    }
    fputs("</section>\n", file);
    put_methods(file);
    put_summary(file, outcomes, count);
    fprintf(file,
            "</main>\n<footer>Made by <code>linkwork reproduce%s --out DIR</code>, Linkwork %s. Data of each "
            "figure "
            "stand beside this page as PAPER/ITEM.csv. Times are of the machine that made it.</footer>\n"
            "</body></html>\n",
            quick ? " --quick" : "", LW_VERSION);
    return good;
}

lw_status reproduce_page(const char *folder, const reproduce_outcome *outcomes, int count, bool quick,
                         lw_error *error) {
    char path[4096];
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
