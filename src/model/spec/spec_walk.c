/* spec_walk.c - the values of which a spec consists, as bytes: integers little-endian, numbers by their bits,
 * texts behind 1 + their length. */
#include "model/spec/spec_walk.h"

#include <limits.h>
#include <string.h>

void lw_walk_integer(lw_spec_walk *w, uint64_t *value, int bytes) {
    unsigned char b[8] = {0};
    for (int k = 0; k < bytes; k++) b[k] = (unsigned char)(*value >> 8 * k & 0xFF);
    lw_archive_bytes(&w->archive, b, (size_t)bytes);
    if (!lw_walk_reading(w)) return;
    *value = 0;
    for (int k = 0; k < bytes; k++) *value |= (uint64_t)b[k] << 8 * k;
}

void lw_walk_int(lw_spec_walk *w, int *value, int least, int most) {
    uint64_t bits = (uint32_t)*value;
    lw_walk_integer(w, &bits, 4);
    if (!lw_walk_reading(w)) return;
    int64_t number = bits > INT32_MAX ? (int64_t)bits - ((int64_t)1 << 32) : (int64_t)bits;
    bool good = number >= least && number <= most;
    lw_walk_demand(w, good);
    *value = good ? (int)number : least;
}

void lw_walk_flag(lw_spec_walk *w, bool *value) {
    int number = *value;
    lw_walk_int(w, &number, 0, 1);
    *value = number == 1;
}

void lw_walk_numbers(lw_spec_walk *w, double *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        lw_walk_integer(w, &bits, 8);
        if (lw_walk_reading(w)) memcpy(&values[k], &bits, sizeof bits); /* Otherwise it may be constant. */
    }
}

void lw_walk_place(lw_spec_walk *w, lw_place *place) {
    lw_walk_int(w, &place->line, INT_MIN, INT_MAX);
    lw_walk_int(w, &place->column, INT_MIN, INT_MAX);
}

void lw_walk_text(lw_spec_walk *w, const char **text) {
    uint64_t code = *text ? strlen(*text) + 1 : 0;
    lw_walk_integer(w, &code, 4);
    if (code == 0) {
        *text = NULL;
        return;
    }
    size_t length = (size_t)code - 1;
    if (!lw_walk_reading(w)) {
        lw_archive_bytes(&w->archive, (void *)*text, length);
        return;
    }
    *text = "";
    lw_walk_demand(w, length <= lw_walk_left(w));
    if (w->failed) return;
    /* The text with its final zero takes less memory than its code and bytes, and the memory is as large as
     * all bytes. */
    lw_archive_bytes(&w->archive, w->text, length);
    w->text[length] = '\0';
    lw_walk_demand(w, strlen(w->text) == length);
    *text = w->text;
    w->text += length + 1;
}

void lw_walk_name(lw_spec_walk *w, const char **text) {
    lw_walk_text(w, text);
    if (lw_walk_reading(w) && !*text) *text = "";
}

size_t lw_walk_count(lw_spec_walk *w, size_t count, size_t least) {
    uint64_t number = count;
    lw_walk_integer(w, &number, 4);
    lw_walk_demand(w, number <= lw_walk_left(w) / least);
    return w->failed ? 0 : (size_t)number;
}
