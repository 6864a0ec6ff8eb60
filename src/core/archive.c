/* archive.c - one walk over the numbers of an object that measures, writes or reads them.
 */
#include "core/archive.h"

#include <string.h>

void lw_archive_bytes(lw_archive *archive, void *data, size_t size) {
    const size_t at = archive->used;
    archive->used += size;
    if (archive->mode == LW_ARCHIVE_MEASURE || archive->used > archive->size || size == 0) return;
    if (archive->mode == LW_ARCHIVE_WRITE)
        memcpy(archive->bytes + at, data, size);
    else
        memcpy(data, archive->bytes + at, size);
}

bool lw_archive_complete(const lw_archive *archive) { return archive->used == archive->size; }
