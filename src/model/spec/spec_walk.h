/* spec_walk.h - one walk over the values of a spec, which measures, writes or reads their bytes.
 *
 * A walk visits integers, numbers, texts and places; in which order is what spec_bytes.c says, once for all
 * three uses. Reading demands that enumerations, counts and lengths are possible; the first that is not makes
 * the walk fail, after which nothing it gives is to be used. Cost O(bytes).
 */
#ifndef LW_MODEL_SPEC_SPEC_WALK_H
#define LW_MODEL_SPEC_SPEC_WALK_H

#include "core/archive.h"
#include "model/spec/spec_storage.h"

#include <stdint.h>

typedef struct lw_spec_walk {
    lw_archive archive;
    lw_spec *spec;
    char *text;                  /* reading: memory for the remaining texts */
    const lw_mesh_spec **meshes; /* that have occurred */
    size_t mesh_count, mesh_capacity;
    bool failed;
} lw_spec_walk;

static inline bool lw_walk_reading(const lw_spec_walk *w) { return w->archive.mode == LW_ARCHIVE_READ; }

/* The number of bytes that have not been read. */
static inline size_t lw_walk_left(const lw_spec_walk *w) {
    return w->archive.used < w->archive.size ? w->archive.size - w->archive.used : 0;
}

/* Rejects the bytes if a condition on them does not hold. */
static inline void lw_walk_demand(lw_spec_walk *w, bool condition) {
    if (lw_walk_reading(w) && !condition) w->failed = true;
}

void lw_walk_integer(lw_spec_walk *w, uint64_t *value, int bytes);
/* Reads or writes an integer, which must lie between least and most. */
void lw_walk_int(lw_spec_walk *w, int *value, int least, int most);
void lw_walk_flag(lw_spec_walk *w, bool *value);
void lw_walk_numbers(lw_spec_walk *w, double *values, size_t count);
void lw_walk_place(lw_spec_walk *w, lw_place *place);
void lw_walk_text(lw_spec_walk *w, const char **text);
/* Reads or writes a text that is never NULL in a spec. */
void lw_walk_name(lw_spec_walk *w, const char **text);
/* Reads or writes the number of objects of a list, each of which takes at least `least` bytes. */
size_t lw_walk_count(lw_spec_walk *w, size_t count, size_t least);

/* Enumerations have count values from 0. */
#define LW_WALK_ENUM(w, member, type, count)                                                                 \
    do {                                                                                                     \
        int number_ = (int)(member);                                                                         \
        lw_walk_int((w), &number_, 0, (int)(count)-1);                                                       \
        (member) = (type)number_;                                                                            \
    } while (0)

#endif
