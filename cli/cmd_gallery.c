/* cmd_gallery.c - linkwork gallery: a page of linkwork view for every problem that the program carries, and
 * an index of them.
 */
#include "examples.h"
#include "options.h"
#include "page.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_PATH = 4096, LONGEST_TEXT = 1024 };

/* The model, and the page of its motion beside it, in a folder of their own. */
static int make_one(const cli_command *command, const problem *example, const char *out) {
    char folder[LONGEST_PATH], model[LONGEST_PATH], page[LONGEST_PATH];
    int length = snprintf(folder, sizeof folder, "%s/%s", out, example->name);
    int more = snprintf(page, sizeof page, "%s/%s/%s.html", out, example->name, example->name);
    if (length < 0 || more < 0 || (size_t)more >= sizeof page)
        return cli_say(command, CLI_WRONG, "--out: the name of the folder is too long");
    int result = example_folder(command, folder);
    if (result == CLI_DONE) result = example_write(command, example, folder, true, model, sizeof model);
    if (result != CLI_DONE) return result;
    char *arguments[] = {model, (char[]){"--out"}, page, (char[]){"--quiet"}};
    return cli_view.run(&cli_view, sizeof arguments / sizeof arguments[0], arguments);
}

static void put_one(FILE *file, const problem *example, bool moving) {
    char text[LONGEST_TEXT], address[LONGEST_TEXT];
    example_name(example, text, sizeof text);
    fprintf(file, "<article id=\"%s\"><div class=\"top\"><div><h3>", example->name);
    page_text(file, text);
    fprintf(file, "</h3><p class=\"name\"><a href=\"%s/%s.yaml\">%s.yaml</a></p></div></div>\n<p>",
            example->name, example->name, example->name);
    example_description(example, text, sizeof text);
    page_text(file, text);
    fputs("</p>\n", file);
    snprintf(address, sizeof address, "%s/%s.html", example->name, example->name);
    example_name(example, text, sizeof text);
    if (moving)
        page_motion(file, false, text, address);
    else
        fputs("<p class=\"failure\">Its motion could not be made.</p>\n", file);
    fputs("</article>\n", file);
}

static int write_index(const cli_command *command, const char *out, const problem *const *list,
                       const bool *moving, int count) {
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "%s/index.html", out);
    errno = 0;
    FILE *file = fopen(path, "w");
    if (!file) return cli_say(command, CLI_FAILED, "%s could not be written: %s", path, strerror(errno));
    page_begin(file, "Linkwork: gallery");
    fputs("<header><div><h1>Gallery</h1><p class=\"lead\">Mechanisms that Linkwork carries. Each has its "
          "model file and a page that shows it moving.</p></div></header>\n<main>\n",
          file);
    for (int k = 0; k < count; k++) put_one(file, list[k], moving[k]);
    fputs("</main>\n", file);
    page_end(file);
    bool good = ferror(file) == 0;
    if (fclose(file) != 0 || !good)
        return cli_say(command, CLI_FAILED, "%s could not be written: %s", path, strerror(errno));
    printf("%s\n", path);
    return CLI_DONE;
}

static int gallery(const cli_command *command, int argc, char **argv) {
    const char *out = "gallery";
    bool quiet = false;
    const cli_option options[] = {
        {"out", "DIR", "the folder of the pages; if left out, gallery", "pages", .text = &out},
        {"quiet", NULL, "print faults only", NULL, .flag = &quiet},
    };
    cli_list names = {.count = 0};
    switch (
        cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &names, CLI_LIST_MAX)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    const problem *list[CLI_LIST_MAX];
    bool moving[CLI_LIST_MAX];
    int count = 0, failed = 0;
    if (names.count == 0)
        for (; count < problem_count && count < CLI_LIST_MAX; count++) list[count] = &problems[count];
    for (int k = 0; k < names.count; k++) {
        list[count] = example_find(command, names.items[k]);
        if (!list[count++]) return CLI_WRONG;
    }
    int result = example_folder(command, out);
    if (result != CLI_DONE) return result;
    stop_watch();
    for (int k = 0; k < count; k++) {
        if (!quiet) fprintf(stderr, "%d of %d: %s\n", k + 1, count, list[k]->name);
        moving[k] = make_one(command, list[k], out) == CLI_DONE;
        failed += !moving[k];
        if (stop_wanted()) return cli_say(command, CLI_FAILED, "stopped on request, after %d pages", k);
    }
    result = write_index(command, out, list, moving, count);
    if (result == CLI_DONE && failed > 0)
        result = cli_say(command, CLI_FAILED, "%d of %d motions could not be made", failed, count);
    return result;
}

const cli_command cli_gallery = {
    "gallery",
    "[NAME ...] [--out DIR]",
    "write pages that show the examples moving",
    "For every example of linkwork example, or those named: its files and a page of linkwork view, and an "
    "index of them all,\nDIR/index.html. The pages need no network. Files of an earlier gallery in DIR are "
    "replaced.",
    gallery,
    NULL};
