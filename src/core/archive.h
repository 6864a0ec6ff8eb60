/* archive.h - one walk over the numbers of an object that measures, writes or reads them.
 *
 * An object that can be saved has one function which hands each of its variable members to an archive, always
 * in the same order. The archive's mode decides what happens to them, so that measuring, writing and reading
 * cannot disagree. Pointers are not handed over, only what they point to; sizes are those of the object that
 * is there already. The bytes are those of this machine and this build.
 */
#ifndef LW_ARCHIVE_H
#define LW_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum lw_archive_mode { LW_ARCHIVE_MEASURE, LW_ARCHIVE_WRITE, LW_ARCHIVE_READ } lw_archive_mode;

typedef struct lw_archive {
    lw_archive_mode mode;
    unsigned char *bytes; /* when measuring: NULL */
    size_t size, used;    /* The capacity in bytes; used continues to count beyond it. */
} lw_archive;

/* The next `size` bytes of the archive and those at data; past the end of the archive nothing happens to
 * them. */
void lw_archive_bytes(lw_archive *archive, void *data, size_t size);

/* Did everything fit into the bytes, and fill them? */
bool lw_archive_complete(const lw_archive *archive);

#define LW_ARCHIVE_ONE(archive, member) lw_archive_bytes((archive), &(member), sizeof(member))
#define LW_ARCHIVE_MANY(archive, pointer, count)                                                             \
    lw_archive_bytes((archive), (pointer), (size_t)(count) * sizeof *(pointer))

#endif
