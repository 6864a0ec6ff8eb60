/* zip_reader.h - ZIP archives of unknown origin: every name and size is judged before a byte is unpacked.
 */
#ifndef LW_ZIP_READER_H
#define LW_ZIP_READER_H

#include "core/core.h"

typedef struct lw_unzip lw_unzip;

typedef struct lw_unzip_entry {
    const char *name; /* forward slashes, relative, below the folder; ends with a slash: a folder */
    size_t size;      /* unpacked */
} lw_unzip_entry;

/* Opens an archive and judges its directory; NULL: what is wrong with it stands in error. */
lw_unzip *lw_unzip_open(const char *path, lw_error *error);
void lw_unzip_close(lw_unzip *zip);
int lw_unzip_count(const lw_unzip *zip);
lw_unzip_entry lw_unzip_at(const lw_unzip *zip, int index);
int lw_unzip_find(const lw_unzip *zip, const char *name); /* -1 if there is none */
/* The bytes of a file, given back by free, with a NUL behind them; NULL: damaged. */
unsigned char *lw_unzip_read(const lw_unzip *zip, int index, lw_error *error);

#endif
