/* page.c - what the program's pages share.
 */
#include "page.h"
#include "progress.h"

#include <limits.h>
#include <stdarg.h>
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
    ".q{min-width:11em}}\n";
static const char style_of_folds[] =
    ".motions{padding:10px 22px 16px}.motions "
    "details{margin-top:4px}details{margin-top:12px}summary{cursor:pointer;color:var(--accent);font-size:"
    "14px;padding:4px 0}\n"
    "summary b{font-weight:600;color:var(--ink)}.motion{width:100%;height:min(560px,75vh);border:1px solid "
    "var(--line);"
    "border-radius:10px;display:block;margin-top:10px;background:var(--page)}\n"
    ".away{color:var(--soft);font-size:13px;margin:6px 0 0}\n"
    ".bar{display:inline-block;height:9px;border-radius:3px;background:var(--accent);min-width:2px;"
    "vertical-align:middle}.bar.slow{background:var(--soft)}td.m{min-width:9em;white-space:nowrap}\n"
    ".r{display:inline-block;min-width:4.2em}.r.no{color:var(--bad);font-weight:600}\n"
    "@media print{body{background:none}article{break-inside:avoid}nav,.motion{display:none}}\n";

void page_text(FILE *file, const char *text) { lw_put_xml(file, text, INT_MAX); }

void page_begin(FILE *file, const char *title) {
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
          "content=\"width=device-width,initial-scale=1\">\n<title>",
          file);
    page_text(file, title);
    fprintf(file, "</title>\n<style>\n%s%s</style></head><body>\n", style, style_of_folds);
}

void page_end(FILE *file) { fputs("</body></html>\n", file); }

bool page_file(FILE *to, const char *path) {
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

void page_fold(FILE *file, bool open, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(file, "<details%s><summary>", open ? " open" : "");
    page_text(file, text);
    fputs("</summary>\n", file);
}

void page_fold_end(FILE *file) { fputs("</details>\n", file); }

void page_motion(FILE *file, bool open, const char *name, const char *address) {
    page_fold(file, open, "See it move: %s", name);
    fputs("<iframe class=\"motion\" loading=\"lazy\" title=\"", file), page_text(file, name);
    fputs("\" src=\"", file), page_text(file, address);
    fputs("\"></iframe><p class=\"away\"><a href=\"", file), page_text(file, address);
    fputs("\">the whole window</a></p>\n", file);
    page_fold_end(file);
}

/* --- motions -------------------------------------------------------------------------------------- */

static bool observe(const lw_sample *sample, void *context) {
    return lw_animation_sample(context, sample) == LW_OK && !stop_wanted();
}

static void hear(double t, const char *kind, const char *text, void *context) {
    (void)lw_animation_event(context, t, kind, text);
}

static bool interrupted(void *context) {
    (void)context;
    return stop_wanted();
}

lw_status page_write_motion(const lw_model *model, const lw_run_options *options, const char *path,
                            lw_error *error) {
    lw_run_options run = *options;
    lw_run_summary summary;
    lw_animation *animation = NULL;
    char failure[2048] = "";
    lw_status status = lw_animation_create(model, "joint, ledger, violation", &animation, error);
    if (status != LW_OK) return status;
    run.want_accelerations = run.want_reactions = run.want_works = false;
    run.observe = observe;
    run.event = hear;
    run.interrupted = interrupted;
    run.context = animation;
    status = lw_simulate(model, &run, NULL, NULL, &summary, error);
    if (status == LW_EVENT) status = LW_OK; /* An event of the model has ended the run, as it should. */
    if (status != LW_OK) lw_error_format(error, failure, sizeof failure);
    if (status != LW_ERROR_STOPPED && lw_animation_samples(animation) > 0) {
        (void)lw_animation_finish(animation, status == LW_OK ? &summary : NULL,
                                  status == LW_OK ? NULL : failure);
        const lw_animation *const one = animation;
        status = lw_view_write(&one, 1, path, NULL, error);
    }
    lw_animation_destroy(animation);
    return status;
}
