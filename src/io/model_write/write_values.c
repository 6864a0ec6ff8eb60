/* write_values.c - keys with their values in a model file.
 */
#include "io/model_write/write_values.h"

#include <math.h>
#include <string.h>

/* Returns whether all values are +0, the reader's default. */
bool lw_nothing(const double *values, size_t count) {
    static const double zeros[8];
    return memcmp(values, zeros, count * sizeof *values) == 0;
}

void lw_write_number(lw_writer *w, const char *key, double value) {
    lw_put_key(w, key);
    lw_put_number(w, value);
}

void lw_write_field(lw_writer *w, const char *key, const double *field) {
    lw_put_key(w, key);
    lw_put_field(w, field);
}

bool lw_left_out(const lw_writer *w, const double *values, size_t count) {
    for (size_t k = 0; k < w->bound_count; k++)
        if (w->bound[k].field >= values && w->bound[k].field < values + count) return false;
    return lw_nothing(values, count);
}

void lw_write_numbers(lw_writer *w, const char *key, const double *values, int count) {
    lw_put_key(w, key);
    lw_put_numbers(w, values, count);
}

void lw_write_list(lw_writer *w, const char *key, const double (*vectors)[3], int count) {
    lw_put_key(w, key);
    for (int k = 0; k < count; k++) {
        lw_put(w, k ? ", " : "[");
        size_t part = w->length;
        lw_put_numbers(w, vectors[k], 3);
        if (k > 0) lw_fit(w, part);
    }
    lw_put(w, "]");
}

void lw_write_word(lw_writer *w, const char *key, const char *word) {
    lw_put_key(w, key);
    lw_put(w, word);
}

void lw_write_text(lw_writer *w, const char *key, const char *text) {
    lw_put_key(w, key);
    lw_put_text(w, text);
}

/* Normalises a quaternion, unless its length is 1 to rounding, which the reader keeps unchanged, or 0, which
 * means that no rotation is given. */
void lw_unit_rotation(const double q[4], double unit[4]) {
    double length = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    bool is_unit = length == 0 || fabs(length - 1) <= 1e-15;
    for (int k = 0; k < 4; k++) unit[k] = is_unit ? q[k] : q[k] / length;
}

void lw_write_rotation(lw_writer *w, const double q[4]) {
    double unit[4];
    lw_unit_rotation(q, unit);
    lw_write_numbers(w, "rotation", unit, 4);
}
