/* cmd_example.c - linkwork example: writes problems that the program carries as files.
 */
#include "examples.h"
#include "options.h"

#include <stdio.h>

static void list_examples(void) {
    for (int k = 0; k < problem_count; k++) {
        char name[128];
        example_name(&problems[k], name, sizeof name);
        printf("%-22s %s\n", problems[k].name, name);
    }
}

static int example(const cli_command *command, int argc, char **argv) {
    const char *out = NULL;
    const cli_option options[] = {
        {"out", "DIR", "the folder to write into; if left out, the current one", "models", .text = &out},
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
    if (names.count == 0) {
        list_examples();
        return CLI_DONE;
    }
    for (int k = 0; k < names.count; k++)
        if (!example_find(command, names.items[k])) return CLI_WRONG;
    int result = out ? example_folder(command, out) : CLI_DONE;
    for (int k = 0; k < names.count && result == CLI_DONE; k++) {
        char path[4096];
        const problem *found = example_find(command, names.items[k]);
        result = example_write(command, found, out ? out : ".", false, path, sizeof path);
        if (result == CLI_DONE) printf("%s\n", path);
    }
    return result;
}

const cli_command cli_example = {
    "example",
    "[NAME ...] [--out DIR]",
    "write models that the program carries",
    "Without a name the examples are listed. An example is written as NAME.yaml, with the files that it "
    "uses beside it; files\nthat are there already are left alone, and it is an error. docs/gallery.md shows "
    "all of them.",
    example,
    NULL};
