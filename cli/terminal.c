/* terminal.c - bold and coloured words.
 */
#define _POSIX_C_SOURCE 200809L
#include "terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_colours(FILE *stream) {
    const char *refused = getenv("NO_COLOR"), *kind = getenv("TERM");
    if ((refused && refused[0]) || !kind || strcmp(kind, "dumb") == 0) return false;
    return isatty(fileno(stream)) == 1;
}

const char *terminal_style(FILE *stream, terminal_word word) {
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[33m", "\033[31m"};
    return has_colours(stream) ? codes[word] : "";
}
