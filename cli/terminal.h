/* terminal.h - bold and coloured words, on terminals only.
 *
 * A stream gets them if it is a terminal, unless the environment has NO_COLOR (any value but ""), or
 * TERM=dumb.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdio.h>

typedef enum terminal_word {
    TERMINAL_PLAIN,
    TERMINAL_STRONG,
    TERMINAL_WARNING,
    TERMINAL_ERROR
} terminal_word;

/* What to print before a word of this kind, and TERMINAL_PLAIN after it; "" if the stream gets no colours. */
const char *terminal_style(FILE *stream, terminal_word word);

#endif
