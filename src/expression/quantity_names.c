/* quantity_names.c - how the name of a quantity of the state is written in an expression.
 *
 *     quantity = part { "." part } | word "(" arguments ")" [ "." part ]
 *     part     = word | "'" any characters, a quotation mark doubled "'"
 *
 * This is syntax only: which parts name joints, bodies and forces is decided against the model. A word that
 * begins with a digit may follow a dot, as in arm.2.q for a joint called arm.2.
 */
#include "expression/expression.h"

#include <string.h>

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Words that begin a quantity by themselves, and those that are called. */
static const char *const lone[] = {"kinetic", "potential"};
static const char *const called[] = {"point", "com",      "distance", "force",
                                     "drive", "reaction", "momentum", "body"};

enum { LONE = sizeof lone / sizeof *lone, CALLED = sizeof called / sizeof *called };

const char *lw_quantity_word(size_t index) {
    if (index < LONE) return lone[index];
    return index < LONE + CALLED ? called[index - LONE] : NULL;
}

static bool is_one_of(const char *text, size_t length, const char *const *words, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (strlen(words[k]) == length && memcmp(words[k], text, length) == 0) return true;
    return false;
}

bool lw_quantity_is_called(const char *word, size_t length) {
    return is_one_of(word, length, called, CALLED);
}

/* The length of a quoted name with its marks; 0 if it is not closed. */
static size_t quoted(const char *text) {
    for (size_t k = 1; text[k]; k++) {
        if (text[k] != '\'') continue;
        if (text[k + 1] != '\'') return k + 1;
        k++;
    }
    return 0;
}

/* The length of a part at the beginning of text. */
static size_t part(const char *text) {
    size_t length = 0;
    if (*text == '\'') return quoted(text);
    while (is_word(text[length])) length++;
    return length;
}

/* The length of arguments in parentheses; 0 if there are none here, or they are not closed. */
static size_t arguments(const char *text) {
    int depth = 0;
    if (text[0] != '(') return 0;
    for (size_t k = 0; text[k]; k++) {
        if (text[k] == '\'') {
            const size_t length = quoted(text + k);
            if (length == 0) return 0;
            k += length - 1;
        } else if (text[k] == '(') {
            depth++;
        } else if (text[k] == ')' && --depth == 0) {
            return k + 1;
        }
    }
    return 0;
}

size_t lw_quantity_extent(const char *text) {
    if (*text >= '0' && *text <= '9') return 0;
    size_t length = part(text);
    if (length == 0) return 0;
    bool is_quantity = *text == '\'' || is_one_of(text, length, lone, LONE);
    if (is_one_of(text, length, called, CALLED)) {
        const size_t space = strspn(text + length, " \t\r\n"), inside = arguments(text + length + space);
        if (inside > 0) {
            length += space + inside;
            is_quantity = true;
        }
    }
    while (text[length] == '.') {
        const size_t next = part(text + length + 1);
        if (next == 0) break;
        length += 1 + next;
        is_quantity = true;
    }
    return is_quantity ? length : 0;
}
