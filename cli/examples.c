/* examples.c - the problems that the program carries, as files that a user may have.
 */
#define _POSIX_C_SOURCE 200809L
#include "examples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_NAMES = 512, LONGEST_PATH = 4096 };

const problem *example_find(const cli_command *command, const char *name) {
    const char *names[MOST_NAMES];
    int count = problem_count < MOST_NAMES ? problem_count : MOST_NAMES;
    for (int k = 0; k < count; k++) {
        names[k] = problems[k].name;
        if (strcmp(name, names[k]) == 0) return &problems[k];
    }
    const char *close = lw_closest(name, names, (size_t)count);
    if (close)
        cli_say(command, CLI_WRONG, "there is no example \"%s\"; did you mean %s?", name, close);
    else
        cli_say(command, CLI_WRONG, "there is no example \"%s\"; linkwork example lists them", name);
    return NULL;
}

/* --- what a model says about itself -------------------------------------------------------------- */

/* The rest of the first line that begins with this; NULL if there is none. The texts end with a zero. */
static const char *find_line(const char *text, const char *begin) {
    size_t length = strlen(begin);
    while (text && strncmp(text, begin, length) != 0) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return text ? text + length : NULL;
}

static size_t add_line(char *text, size_t size, size_t used, const char *line) {
    for (size_t k = 0; line[k] && line[k] != '\n' && used + 1 < size; k++) text[used++] = line[k];
    text[used] = '\0';
    return used;
}

void example_name(const problem *example, char *text, size_t size) {
    const char *line = find_line(example->text, "name: ");
    add_line(text, size, 0, line ? line : example->name);
}

/* A description is a folded text of YAML, in lines that two spaces indent; tests/cli/test_gallery.sh sees to
 * that. */
void example_description(const problem *example, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    const char *line = find_line(example->text, "description: >-\n");
    while (line && strncmp(line, "  ", 2) == 0) {
        if (used > 0) used = add_line(text, size, used, " ");
        used = add_line(text, size, used, line + 2);
        line = strchr(line, '\n');
        if (line) line++;
    }
}

/* --- files ---------------------------------------------------------------------------------------- */

int example_folder(const cli_command *command, const char *folder) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST) return CLI_DONE;
    return cli_say(command, CLI_FAILED, "folder %s could not be made: %s", folder, strerror(errno));
}

static int path_in(const cli_command *command, const char *folder, const char *name, const char *end,
                   char *path, size_t size) {
    int length = strcmp(folder, ".") == 0 ? snprintf(path, size, "%s%s", name, end)
                                          : snprintf(path, size, "%s/%s%s", folder, name, end);
    if (length >= 0 && (size_t)length < size) return CLI_DONE;
    return cli_say(command, CLI_WRONG, "the name of the folder is too long");
}

static int check_free(const cli_command *command, const char *path) {
    struct stat found;
    if (stat(path, &found) != 0) return CLI_DONE;
    return cli_say(command, CLI_WRONG,
                   "%s is there already, and nothing is overwritten; move it away, or give another folder by "
                   "--out",
                   path);
}

static int write_file(const cli_command *command, const char *path, bool over, const char *text,
                      size_t length) {
    errno = 0;
    FILE *file = fopen(path, over ? "wb" : "wbx"); /* x: not if it has come into being by now */
    bool good = file && fwrite(text, 1, length, file) == length;
    int reason = errno;
    if (file && fclose(file) != 0) good = false, reason = errno;
    if (good) return CLI_DONE;
    return cli_say(command, CLI_FAILED, "%s could not be written: %s", path, strerror(reason));
}

int example_write(const cli_command *command, const problem *example, const char *folder, bool over,
                  char *path, size_t size) {
    char beside[LONGEST_PATH];
    int result = path_in(command, folder, example->name, ".yaml", path, size);
    if (result == CLI_DONE && !over) result = check_free(command, path);
    for (int pass = over ? 1 : 0; pass < 2; pass++) /* First look, then write. */
        for (int k = 0; k < problem_file_count && result == CLI_DONE; k++) {
            const problem_file *file = &problem_files[k];
            if (strcmp(file->problem, example->name) != 0) continue;
            /* A part lies beside the model, too: the line for editors in it has no schema to point to. */
            const char *text = file->text, *rest = find_line(text, "linkwork: ");
            if (rest) text = rest - strlen("linkwork: ");
            size_t length = file->length - (size_t)(text - file->text);
            result = path_in(command, folder, file->name, "", beside, sizeof beside);
            if (result == CLI_DONE)
                result =
                    pass == 0 ? check_free(command, beside) : write_file(command, beside, over, text, length);
        }
    if (result != CLI_DONE) return result;
    const char *text = find_line(example->text, "linkwork: ");
    text = text ? text - strlen("linkwork: ") : example->text;
    return write_file(command, path, over, text, example->length - (size_t)(text - example->text));
}
