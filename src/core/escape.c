/* escape.c - texts of others as a person can look at them without harm.
 *
 * Names in a model and words of a call go to terminals and logs. There a control character is a command: it moves the
 * cursor, hides what stands before it, or starts a line that the program never wrote. So wherever such a text is shown,
 * these are spelt out:
 *     line break, return, tab                           \n \r \t
 *     other bytes below 0x20, 0x7F, broken UTF-8        \x1B
 *     U+0080..U+009F, marks of direction, line and paragraph separators      \u202E
 * Everything else stays. A backslash stays as well: the result is for reading, not for reading back.
 */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

/* Length and value of the UTF-8 sequence at s; 0 if it is none. */
static size_t decode(const unsigned char *s, unsigned *code) {
    *code = s[0];
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    *code = s[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3Fu);
    }
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    return *code >= least[length] && *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF) ? length : 0;
}

static bool commands(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xFEFF;
}

size_t lw_escape(const char *text, char *out, size_t size) {
    size_t needed = 0;
    bool full = size == 0;
    if (size > 0) out[0] = '\0';
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned code;
        size_t length = decode(s, &code), shown;
        char piece[16];
        if (length > 0 && !commands(code)) {
            memcpy(piece, s, length);
            shown = length;
        } else if (code == '\n' || code == '\r' || code == '\t') {
            shown = (size_t)snprintf(piece, sizeof piece, "\\%c",
                                     code == '\n'   ? 'n'
                                     : code == '\r' ? 'r'
                                                    : 't');
        } else {
            shown = (size_t)snprintf(piece, sizeof piece, length > 1 ? "\\u%04X" : "\\x%02X",
                                     length > 1 ? code : s[0]);
        }
        full = full || needed + shown >= size; /* a piece is whole or not there */
        if (!full) memcpy(out + needed, piece, shown), out[needed + shown] = '\0';
        needed += shown;
        s += length > 0 ? length : 1;
    }
    return needed;
}
