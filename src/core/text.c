/* text.c - texts of others: UTF-8, escapes for terminals and XML, and the name that was probably
 * meant ("did you mean").
 *
 * Terminals   Names in a model and words of a call go to terminals and logs. There a control character is a
 *             command: it moves the cursor, hides what stands before it, or starts a line that the program
 *             never wrote. So wherever such a text is shown, these are spelt out:
 *                 line break, return, tab                           \n \r \t
 *                 other bytes below 0x20, 0x7F, broken UTF-8        \x1B
 *                 U+0080..U+009F, marks of direction, line and paragraph separators      \u202E
 *             Everything else stays. A backslash stays as well: the result is not meant to be read back.
 * Closest     The smallest optimal-string-alignment distance (insert, delete, replace, swap neighbours;
 *             Damerau 1964) of the words in lower case. A word of n letters may differ by 0 (n = 1), 1
 *             (n <= 4), 2 (n <= 8), else 3 edits. Cost O(n^2) per name; words longer than LONGEST_WORD are
 *             compared for equality only, so the cost stays bounded whatever the input.
 */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 64 };

/* --- UTF-8 ---------------------------------------------------------------------------------------- */

size_t lw_utf8(const char *text, size_t left, unsigned *code) {
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned own;
    if (!text || left == 0) return 0;
    if (!code) code = &own;
    unsigned first = (unsigned char)text[0];
    *code = first;
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (length > left) return 0;
    *code = first & (0x7Fu >> length);
    for (size_t k = 1; k < length; k++) {
        if (!lw_utf8_continues(text[k])) return 0; /* the closing NUL does not, either */
        *code = *code << 6 | (text[k] & 0x3Fu);
    }
    return *code >= least[length] && *code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF) ? length : 0;
}

/* --- terminals ------------------------------------------------------------------------------------ */

static bool commands(unsigned code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xFEFF;
}

size_t lw_escape(const char *text, char *out, size_t size) {
    size_t needed = 0;
    if (!out) size = 0;
    bool full = size == 0;
    if (size > 0) out[0] = '\0';
    if (!text) return 0;
    while (*text) {
        unsigned code;
        size_t length = lw_utf8(text, 4, &code), shown;
        char piece[16];
        if (length > 0 && !commands(code)) {
            memcpy(piece, text, length);
            shown = length;
        } else if (code == '\n' || code == '\r' || code == '\t') {
            shown = (size_t)snprintf(piece, sizeof piece, "\\%c",
                                     code == '\n'   ? 'n'
                                     : code == '\r' ? 'r'
                                                    : 't');
        } else {
            shown = (size_t)snprintf(piece, sizeof piece, length > 1 ? "\\u%04X" : "\\x%02X",
                                     length > 1 ? code : (unsigned char)text[0]);
        }
        full = full || needed + shown >= size; /* a piece is whole or not there */
        if (!full) memcpy(out + needed, piece, shown), out[needed + shown] = '\0';
        needed += shown;
        text += length > 0 ? length : 1;
    }
    return needed;
}

/* --- XML ------------------------------------------------------------------------------------------ */

static const char *entity(unsigned code) {
    return code == '&'   ? "&amp;"
           : code == '<' ? "&lt;"
           : code == '>' ? "&gt;"
           : code == '"' ? "&quot;"
                         : NULL;
}

void lw_put_xml(FILE *file, const char *text, int most) {
    if (!file || !text) return;
    for (int letters = 0; *text; letters++) {
        unsigned code;
        size_t length = lw_utf8(text, 4, &code);
        if (letters == most) {
            fputs("\xE2\x80\xA6", file);
            return;
        }
        if (length == 0 || code < ' ' || code == 0xFFFE || code == 0xFFFF)
            putc('?', file);
        else if (entity(code))
            fputs(entity(code), file);
        else
            fwrite(text, 1, length, file);
        text += length > 0 ? length : 1;
    }
}

/* --- did you mean --------------------------------------------------------------------------------- */

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool same_ignoring_case(const char *a, const char *b) {
    for (; *a && lower(*a) == lower(*b); a++, b++) {
    }
    return lower(*a) == lower(*b);
}

static int least(int a, int b) { return a < b ? a : b; }

/* Edits that turn a into b; lengths at most LONGEST_WORD. */
static int distance(const char *a, int a_length, const char *b, int b_length) {
    int rows[3][LONGEST_WORD + 1]; /* rows i-2, i-1 and i of the table, in turn */
    for (int j = 0; j <= b_length; j++) rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            int edits = above[j - 1] + (x != y);
            edits = least(edits, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y) {
                edits = least(edits, two_above[j - 2] + 1);
            }
            row[j] = edits;
        }
    }
    return rows[a_length % 3][b_length];
}

static int allowed_edits(int length) {
    if (length <= 1) return 0;
    if (length <= 4) return 1;
    return length <= 8 ? 2 : 3;
}

/* LONGEST_WORD + 1 stands for everything that is too long. */
static int bounded_length(const char *word) {
    const char *end = memchr(word, '\0', LONGEST_WORD + 1);
    return end ? (int)(end - word) : LONGEST_WORD + 1;
}

lw_closest_search lw_closest_to(const char *word) {
    int length = bounded_length(word);
    return (lw_closest_search){.word = word, .length = length, .edits = allowed_edits(length) + 1};
}

void lw_closest_try(lw_closest_search *search, const char *name) {
    if (!name || !*name || search->edits < 0) return;
    if (same_ignoring_case(search->word, name)) {
        search->name = name, search->edits = -1;
        return;
    }
    int length = bounded_length(name), difference = length - search->length;
    if (search->length > LONGEST_WORD || length > LONGEST_WORD) return;
    if (difference >= search->edits || -difference >= search->edits) return;
    int edits = distance(search->word, search->length, name, length);
    if (edits < search->edits) search->name = name, search->edits = edits;
}

const char *lw_closest(const char *word, const char *const *names, size_t count) {
    if (!word || !names) return NULL;
    lw_closest_search search = lw_closest_to(word);
    for (size_t k = 0; k < count; k++) lw_closest_try(&search, names[k]);
    return search.name;
}

bool lw_did_you_mean(const char *name, char *remedy, size_t size) {
    if (name) snprintf(remedy, size, "did you mean \"%s\"?", name);
    return name;
}
