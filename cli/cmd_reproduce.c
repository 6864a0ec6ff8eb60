/* cmd_reproduce.c - linkwork reproduce: the papers' tables and figures, next to the papers' own numbers.
 */
#define _POSIX_C_SOURCE 200809L
#include "json.h"
#include "options.h"
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const reproduce_paper *const papers[] = {&reproduce_anderson2003, &reproduce_mufti1983,
                                                &reproduce_arnold2013, &reproduce_betsch2006,
                                                &reproduce_blajer1994};
enum { PAPERS = sizeof papers / sizeof papers[0], ITEMS_MAX = 64 };

typedef struct chosen {
    const reproduce_paper *paper;
    const reproduce_item *item;
} chosen;

/* --- choice of items ------------------------------------------------------------------------------ */

static int choose_items(const cli_command *command, const reproduce_paper *paper, const char *item,
                        chosen *list, int *count) {
    const char *names[ITEMS_MAX];
    char all[512] = "";
    int before = *count;
    for (int k = 0; k < paper->count; k++) {
        names[k] = paper->items[k].name;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", names[k]);
        if (!item || strcmp(item, names[k]) == 0) list[(*count)++] = (chosen){paper, &paper->items[k]};
    }
    if (*count > before) return CLI_DONE;
    const char *close = lw_closest(item, names, (size_t)paper->count);
    if (close)
        return cli_say(command, CLI_WRONG, "%s has no item \"%s\"; did you mean %s/%s?", paper->name, item,
                       paper->name, close);
    return cli_say(command, CLI_WRONG, "%s has no item \"%s\"; it has %s", paper->name, item, all);
}

/* Chooses all items, those of "anderson2003", or the one item "anderson2003/fig6". */
static int choose(const cli_command *command, const char *asked, chosen *list, int *count) {
    *count = 0;
    if (!asked) {
        for (int k = 0; k < PAPERS; k++) choose_items(command, papers[k], NULL, list, count);
        return CLI_DONE;
    }
    const char *slash = strchr(asked, '/'), *item = slash && slash[1] ? slash + 1 : NULL;
    char name[64], all[512] = "";
    snprintf(name, sizeof name, "%.*s", slash ? (int)(slash - asked) : (int)strlen(asked), asked);
    const char *names[PAPERS];
    for (int k = 0; k < PAPERS; k++) {
        names[k] = papers[k]->name;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "", names[k]);
        if (strcmp(name, names[k]) == 0) return choose_items(command, papers[k], item, list, count);
    }
    const char *close = lw_closest(name, names, PAPERS);
    if (close) return cli_say(command, CLI_WRONG, "there is no paper \"%s\"; did you mean %s?", name, close);
    return cli_say(command, CLI_WRONG, "there is no paper \"%s\"; there are %s", name, all);
}

static void print_list(const chosen *list, int count) {
    for (int k = 0; k < count; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", list[k].paper->name, list[k].item->name);
        printf("%-22s %s\n", name, list[k].item->summary);
    }
}

/* --- one item ------------------------------------------------------------------------------------- */

static int make_folder(const cli_command *command, const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return CLI_DONE;
    return cli_say(command, CLI_FAILED, "folder %s could not be made: %s", path, strerror(errno));
}

static int make_folders(const cli_command *command, const char *out, const chosen *list, int count) {
    int result = make_folder(command, out);
    for (int k = 0; k < count && result == CLI_DONE; k++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", out, list[k].paper->name);
        result = make_folder(command, path);
    }
    return result;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Computes one item. The status is LW_ERROR_STOPPED only if the user stopped it; failures are in the
 * outcome. */
static lw_status work_on(const chosen *what, const char *folder, bool quick, reproduce_outcome *o) {
    double start = seconds_now();
    o->paper = what->paper;
    o->problem = what->item->problem;
    snprintf(o->name, sizeof o->name, "%s/%s", what->paper->name, what->item->name);
    o->work = (reproduction){.item = o->name,
                             .summary = what->item->summary,
                             .folder = folder,
                             .quick = quick,
                             .bar = progress_start(true)};
    lw_error error = {0};
    lw_status status = what->item->run(&o->work, &error);
    progress_end(&o->work.bar);
    o->seconds = seconds_now() - start;
    o->ok = status == LW_OK;
    if (status != LW_OK) lw_error_format(&error, o->failure, sizeof o->failure);
    for (int k = 0; k < o->work.row_count; k++) o->ok = o->ok && o->work.rows[k].ok;
    return status == LW_ERROR_STOPPED ? status : LW_OK;
}

/* --- outcomes ------------------------------------------------------------------------------------- */

static void print_outcome(const reproduce_outcome *o) {
    const reproduction *r = &o->work;
    char paper[24], here[24];
    int width = 8;
    for (int k = 0; k < r->row_count; k++)
        if ((int)strlen(r->rows[k].quantity) > width) width = (int)strlen(r->rows[k].quantity);
    printf("%s  %s\n", o->name, r->summary);
    if (r->row_count > 0) printf("  %-*s %10s %12s    %s\n", width, "", "paper", "here", "wanted");
    for (int k = 0; k < r->row_count; k++) {
        const reproduce_row *row = &r->rows[k];
        printf("  %-*s %10s %12s    %-16s %s\n", width, row->quantity, reproduce_origin(paper, row),
               reproduce_number(here, row->here), row->wanted, row->ok ? "ok" : "NOT SO");
        bool told = k > 0 && r->rows[k - 1].reason == row->reason;
        if (row->reason && !told) printf("    %s\n", row->reason);
    }
    if (o->failure[0]) printf("  FAILED: %s\n", o->failure);
    if (r->files[0][0]) printf("  %s, %s\n", r->files[0], r->files[1]);
    printf("\n");
    fflush(stdout);
}

/* Prints every number of every item, one per line. */
static void print_table(const reproduce_outcome *outcomes, int count) {
    char paper[24], here[24];
    int widths[3] = {5, 4, 8}; /* paper, item, quantity */
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        int name = (int)strlen(o->paper->name), item = (int)strlen(o->name) - name - 1;
        if (name > widths[0]) widths[0] = name;
        if (item > widths[1]) widths[1] = item;
        for (int i = 0; i < o->work.row_count; i++)
            if ((int)strlen(o->work.rows[i].quantity) > widths[2])
                widths[2] = (int)strlen(o->work.rows[i].quantity);
    }
    printf("%-*s  %-*s  %-*s %12s %12s  %s\n", widths[0], "paper", widths[1], "item", widths[2], "quantity",
           "the paper's", "here", "verdict");
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        const char *item = o->name + strlen(o->paper->name) + 1;
        for (int i = 0; i < o->work.row_count; i++) {
            const reproduce_row *row = &o->work.rows[i];
            printf("%-*s  %-*s  %-*s %12s %12s  %s\n", widths[0], o->paper->name, widths[1], item, widths[2],
                   row->quantity, reproduce_origin(paper, row), reproduce_number(here, row->here),
                   !row->ok      ? "NOT SO"
                   : row->reason ? "not to the digits"
                                 : "ok");
        }
        if (o->failure[0])
            printf("%-*s  %-*s  FAILED: %s\n", widths[0], o->paper->name, widths[1], item, o->failure);
    }
    printf("\n");
}

static void print_json(const reproduce_outcome *outcomes, int count) {
    json j;
    json_begin(&j, stdout);
    json_array(&j, NULL);
    for (int k = 0; k < count; k++) {
        const reproduce_outcome *o = &outcomes[k];
        json_object(&j, NULL);
        json_text(&j, "item", o->name);
        json_bool(&j, "ok", o->ok);
        json_text(&j, "summary", o->work.summary);
        json_number(&j, "seconds", o->seconds);
        json_text(&j, "failure", o->failure[0] ? o->failure : NULL);
        json_text(&j, "data", o->work.files[0][0] ? o->work.files[0] : NULL);
        json_text(&j, "figure", o->work.files[1][0] ? o->work.files[1] : NULL);
        json_text(&j, "path_figure", o->work.path_figure[0] ? o->work.path_figure : NULL);
        json_array(&j, "rows");
        for (int i = 0; i < o->work.row_count; i++) {
            const reproduce_row *row = &o->work.rows[i];
            json_object(&j, NULL);
            json_text(&j, "quantity", row->quantity);
            json_number(&j, "paper", row->paper);
            json_number(&j, "stated", row->stated);
            json_number(&j, "here", row->here);
            json_text(&j, "wanted", row->wanted);
            json_text(&j, "reason", row->reason);
            json_bool(&j, "ok", row->ok);
            json_object_end(&j);
        }
        json_array_end(&j);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_end(&j);
}

/* --- the command ---------------------------------------------------------------------------------- */

typedef struct request {
    const char *out;
    bool everything; /* No paper is named: short progress messages, and one table at the end. */
    bool as_json, quick, only_list;
} request;

static int reproduce_all(const cli_command *command, const chosen *list, int count, const request *asked) {
    reproduce_outcome *outcomes = calloc((size_t)count, sizeof *outcomes);
    if (!outcomes) return cli_say(command, CLI_FAILED, "out of memory");
    int result = CLI_DONE, done = 0, good = 0;
    lw_status status = LW_OK;
    lw_error error = {0};
    stop_watch();
    while (done < count && status == LW_OK) {
        reproduce_outcome *o = &outcomes[done];
        status = work_on(&list[done], asked->out, asked->quick, o);
        if (status != LW_OK) break;
        if (asked->everything && !asked->as_json) {
            printf("%-24s %6.1f s  %s\n", o->name, o->seconds, o->ok ? "ok" : "NOT SO");
            fflush(stdout);
        } else if (!asked->as_json)
            print_outcome(o);
        good += o->ok;
        done++;
    }
    if (asked->as_json) print_json(outcomes, done);
    if (!asked->as_json && done > 1) {
        if (asked->everything) printf("\n"), print_table(outcomes, done);
        reproduce_count sum;
        reproduce_tally(outcomes, done, &sum);
        printf("%d of %d items as wanted\n", good, done);
        printf("  numbers printed in the papers    %d: %d to the digits printed, %d not, for reasons given\n",
               sum.printed, sum.to_the_digits, sum.reasoned);
        printf("  their statements and formulas    %d of %d\n  checks of our own                %d of %d\n",
               sum.stated_ok, sum.stated, sum.own_ok, sum.own);
    }
    if (asked->out && done > 1) { /* A single item does not replace the page of all. */
        lw_status written = reproduce_page(asked->out, outcomes, done, asked->quick, &error);
        if (written != LW_OK)
            result = cli_fault(command, written, &error);
        else if (!asked->as_json)
            printf("all on one page: %s/index.html\n", asked->out);
    }
    if (status != LW_OK)
        result = cli_say(command, CLI_FAILED, "stopped at %s", outcomes[done].name);
    else if (good < done)
        result = CLI_FAILED;
    for (int k = 0; k < done; k++)
        if (!outcomes[k].ok)
            cli_say(command, CLI_FAILED, "%s is not as wanted%s%s", outcomes[k].name,
                    outcomes[k].failure[0] ? ": " : "", outcomes[k].failure);
    for (int k = 0; k < count; k++) free(outcomes[k].work.rows);
    free(outcomes);
    return result;
}

static int reproduce(const cli_command *command, int argc, char **argv) {
    request asked = {0};
    const cli_option options[] = {
        {"out", "DIR",
         "where data (CSV), figures (SVG) and a page with all of it (index.html) go; otherwise reproduce/, "
         "with --json nowhere",
         "figures", .text = &asked.out},
        {"quick", NULL, "fewer sizes and shorter runs: all papers within a minute", NULL,
         .flag = &asked.quick},
        {"list", NULL, "list the items only", NULL, .flag = &asked.only_list},
        {"json", NULL, "print one JSON document", NULL, .flag = &asked.as_json},
    };
    cli_list rest = {.count = 0};
    switch (cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &rest, 1)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    chosen list[PAPERS * ITEMS_MAX];
    int count;
    asked.everything = rest.count == 0;
    int result = choose(command, rest.count ? rest.items[0] : NULL, list, &count);
    if (result != CLI_DONE) return result;
    if (asked.only_list) {
        print_list(list, count);
        return CLI_DONE;
    }
    if (!asked.out && !asked.as_json) asked.out = "reproduce";
    if (asked.out) result = make_folders(command, asked.out, list, count);
    if (result != CLI_DONE) return result;
    return reproduce_all(command, list, count, &asked);
}

const cli_command cli_reproduce = {
    "reproduce",
    "[PAPER[/ITEM]] [options]",
    "the papers' tables and figures, next to their own numbers",
    "Without PAPER every item of every paper, and one table at the end. Rows show the paper's number (in "
    "parentheses what its\nwords or a formula come to, - for a check of our own), the number computed here, "
    "and what it is "
    "wanted to be. Exit status 1: a row is not as wanted, or an item failed.",
    reproduce,
    NULL};
