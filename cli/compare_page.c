/* compare_page.c - linkwork compare --page: methods side by side, with times, drift, condition and the
 * motion.
 *
 * Methods stand in the order of their times. Lengths of bars are times relative to the slowest, in decades,
 * since methods differ by factors of hundreds. The motion is the model's own run, by the guide's method,
 * beside the page. Nothing is computed here.
 */
#define _POSIX_C_SOURCE 200809L
#include "compare_page.h"
#include "page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A number with two digits, or a dash for one that was not measured. */
static void put_number(FILE *file, double x) {
    if (isnan(x))
        fputs("<td class=\"n\">\xE2\x80\x93</td>", file);
    else if (x == 0)
        fputs("<td class=\"n\">0</td>", file);
    else
        fprintf(file, "<td class=\"n\">%.1e</td>", x);
}

/* A time with a bar: decades above a tenth of the shortest. */
static void put_time(FILE *file, double value, double least, double most, const char *text) {
    double whole = log10(most / least) + 1, part = log10(value / least) + 1;
    if (isnan(value))
        fputs("<td class=\"m\">\xE2\x80\x93</td>", file);
    else
        fprintf(file,
                "<td class=\"m\"><span class=\"r\">%s</span> <span class=\"bar\" "
                "style=\"width:%.0fpx\"></span></td>",
                text, fmax(2, 110 * part / fmax(1, whole)));
}

static bool ran(const lw_comparison *r) { return r->run.samples > 0; }

static void put_note(FILE *file, const char *kind, const char *class, const char *text) {
    fputs("<td class=\"q\">", file);
    if (kind[0]) fprintf(file, "<span class=\"verdict %s\">%s</span> ", class, kind);
    if (text[0]) fputs("<small>", file), page_text(file, text), fputs("</small>", file);
    fputs("</td></tr>\n", file);
}

static void put_method(FILE *file, const char *method) {
    fputs("<tr><td><code style=\"white-space:nowrap\">", file), page_text(file, method),
        fputs("</code></td>", file);
}

/* The shortest and the longest time of all that have one. */
static void time_range(const lw_comparison *const *order, int count, bool of_run, double range[2]) {
    range[0] = INFINITY, range[1] = 0;
    for (int k = 0; k < count; k++) {
        double time = of_run ? (ran(order[k]) ? order[k]->run.wall_s : NAN) : order[k]->ns_per_call;
        if (!(time > 0)) continue;
        range[0] = fmin(range[0], time), range[1] = fmax(range[1], time);
    }
    if (range[1] == 0) range[0] = range[1] = 1;
}

static void put_calls(FILE *file, const lw_comparison *const *order, int count) {
    double range[2];
    time_range(order, count, false, range);
    fputs("<section id=\"call\"><h2>Accelerations of a state</h2><p class=\"about\">Processor time of one "
          "call (bars: in "
          "decades), and differences from the reference, relative to the largest of the state. Condition is "
          "that of the matrix "
          "that a method solves.</p><article><div class=\"scroll\" style=\"margin-top:0\"><table><thead><tr>"
          "<th>method</th><th>time</th><th class=\"n\">accelerations</th><th class=\"n\">reactions</th>"
          "<th class=\"n\">condition</th><th></th></tr></thead><tbody>\n",
          file);
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = order[k];
        char text[16];
        if (!compare_applies(r)) continue;
        put_method(file, r->method);
        put_time(file, r->ns_per_call, range[0], range[1], compare_time(text, r->ns_per_call));
        put_number(file, r->max_rel_diff);
        put_number(file, r->reaction_diff);
        put_number(file, r->condition);
        bool wrong = r->verdict == LW_VERDICT_DIFFERS || r->verdict == LW_VERDICT_FAILED;
        put_note(file,
                 wrong          ? (r->verdict == LW_VERDICT_FAILED ? "failed" : "differs")
                 : r->reference ? "reference"
                 : r->verdict == LW_VERDICT_APPROXIMATE ? "approximate"
                 : r->verdict == LW_VERDICT_DECLINED    ? "declines"
                                                        : "",
                 wrong ? "no" : "told", r->reason);
    }
    fputs("</tbody></table></div>\n", file);
    int others = 0;
    for (int k = 0; k < count; k++) others += !compare_applies(order[k]);
    if (others > 0) {
        page_fold(file, false, "%d method%s that %s not apply", others, others == 1 ? "" : "s",
                  others == 1 ? "does" : "do");
        fputs("<div class=\"scroll\"><table><tbody>\n", file);
        for (int k = 0; k < count; k++)
            if (!compare_applies(order[k]))
                put_method(file, order[k]->method), put_note(file, "", "", order[k]->reason);
        fputs("</tbody></table></div>\n", file);
        page_fold_end(file);
    }
    fputs("</article></section>\n", file);
}

static void put_runs(FILE *file, const lw_run_options *run, const lw_comparison *const *order, int count) {
    double range[2];
    int runs = 0;
    time_range(order, count, true, range);
    for (int k = 0; k < count; k++) runs += ran(order[k]);
    if (runs == 0) return;
    fprintf(
        file,
        "<section id=\"run\"><h2>The run</h2><p class=\"about\">%g s by <code>%s</code>, drift control "
        "<code>%s</code>. Drift is the largest violation of closures and constraints, of energy what the "
        "ledger does not account for; the end is compared with the guide's, poses of "
        "bodies.</p><article><div "
        "class=\"scroll\" style=\"margin-top:0\"><table><thead><tr><th>method</th><th class=\"n\">steps</th>"
        "<th>time, s</th><th class=\"n\">position drift</th><th class=\"n\">velocity drift</th><th "
        "class=\"n\">energy drift, J</th><th class=\"n\">end</th><th></th></tr></thead><tbody>\n",
        run->end - run->start, lw_run_integrator(run), run->drift ? run->drift : "project");
    for (int k = 0; k < count; k++) {
        const lw_comparison *r = order[k];
        char text[32];
        if (!ran(r)) continue;
        snprintf(text, sizeof text, "%.3g", r->run.wall_s);
        put_method(file, r->method);
        fprintf(file, "<td class=\"n\">%ld</td>", r->run.steps);
        put_time(file, r->run.wall_s, range[0], range[1], text);
        put_number(file, r->run.position_max);
        put_number(file, r->run.velocity_max);
        put_number(file, r->run.energy_max_drift);
        put_number(file, r->guide ? NAN : r->final_diff);
        bool call_wrong = r->verdict == LW_VERDICT_DIFFERS || r->verdict == LW_VERDICT_FAILED;
        bool wrong = lw_comparison_wrong(r) && !call_wrong;
        put_note(file,
                 wrong                    ? "not so"
                 : r->guide               ? "guide"
                 : r->run_status != LW_OK ? "ended early"
                                          : "",
                 wrong ? "no" : "told", r->run_reason);
    }
    fputs("</tbody></table></div></article></section>\n", file);
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static void put_page(FILE *file, const lw_model *model, const lw_run_options *run,
                     const lw_comparison *const *order, int count, bool moving) {
    char title[256], text[16];
    int applicable = 0, wrong = 0;
    const lw_comparison *fastest = NULL;
    for (int k = 0; k < count; k++) {
        applicable += compare_applies(order[k]);
        wrong += lw_comparison_wrong(order[k]);
        if (!fastest && compare_answers(order[k]) && order[k]->ns_per_call > 0) fastest = order[k];
    }
    snprintf(title, sizeof title, "%.200s: methods compared", lw_model_name(model));
    page_begin(file, title);
    fputs("<header><div><h1>", file), page_text(file, lw_model_name(model));
    fprintf(file,
            "</h1><p class=\"lead\">%d bod%s, %d speed%s, %d loop%s, %d constraint%s: every method on one "
            "model</p></div></header>\n<main>\n<ul class=\"counts\"><li><b>%d of %d</b>methods apply</li>",
            lw_model_body_count(model), lw_model_body_count(model) == 1 ? "y" : "ies", lw_model_v_size(model),
            plural(lw_model_v_size(model)), lw_model_loop_count(model), plural(lw_model_loop_count(model)),
            lw_model_constraint_count(model), plural(lw_model_constraint_count(model)), applicable, count);
    fprintf(file, "<li><b>%d</b>disagree%s</li>", wrong, wrong == 1 ? "s" : "");
    if (fastest)
        fprintf(file, "<li><b>%s</b>for accelerations by the fastest, %s</li>",
                compare_time(text, fastest->ns_per_call), fastest->method);
    fputs("</ul>\n", file);
    if (moving) {
        fputs("<section id=\"motion\"><h2>The mechanism</h2><article class=\"motions\">", file);
        page_motion(file, true, lw_model_name(model), "motion.html");
        fputs("</article></section>\n", file);
    }
    put_calls(file, order, count);
    put_runs(file, run, order, count);
    fprintf(file,
            "</main>\n<footer>Made by <code>linkwork compare MODEL --page DIR</code>, Linkwork %s. Times are "
            "of the "
            "machine that made it.</footer>\n",
            LW_VERSION);
    page_end(file);
}

static int by_time(const void *a, const void *b) {
    const lw_comparison *x = *(const lw_comparison *const *)a, *y = *(const lw_comparison *const *)b;
    double s = x->ns_per_call > 0 ? x->ns_per_call : INFINITY,
           t = y->ns_per_call > 0 ? y->ns_per_call : INFINITY;
    return s != t ? (s > t) - (s < t) : x < y ? -1 : 1;
}

int compare_page(const compare_call *call, const char *folder, const lw_model *model,
                 const lw_run_options *run, const lw_comparison *results, int count) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/motion.html", folder) >= sizeof path)
        return cli_say(call->command, CLI_WRONG, "--page: the name of the folder is too long");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_say(call->command, CLI_FAILED, "folder %s could not be made: %s", folder, strerror(errno));
    const lw_comparison **order = calloc((size_t)count + 1, sizeof *order);
    if (!order) return cli_say(call->command, CLI_FAILED, "out of memory");
    lw_run_options motion;
    lw_run_defaults(model, &motion);
    for (int k = 0; k < count; k++) {
        order[k] = &results[k];
        if (results[k].guide) motion.method = results[k].method;
    }
    qsort(order, (size_t)count, sizeof *order, by_time);
    lw_error error = {0};
    lw_status moving = page_write_motion(model, &motion, path, &error);
    if (moving != LW_OK) cli_say(call->command, CLI_DONE, "the page has no motion: %s", error.message);
    snprintf(path, sizeof path, "%s/index.html", folder);
    errno = 0;
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    if (file) {
        put_page(file, model, run, order, count, moving == LW_OK);
        good = ferror(file) == 0;
        if (fclose(file) != 0) good = false;
    }
    free(order);
    if (!good)
        return cli_say(call->command, CLI_FAILED, "%s could not be written: %s", path, strerror(errno));
    return CLI_DONE;
}
