/* zip_writer.h - ZIP archives with stored files (zip_writer.c).
 */
#ifndef LW_ZIP_WRITER_H
#define LW_ZIP_WRITER_H

#include "core/core.h"

typedef struct lw_zip lw_zip;

/* A new archive in a file; NULL with an error. */
lw_zip *lw_zip_open(const char *path, lw_error *error);
/* Adds a file; name has forward slashes. executable: its permission on Unix. */
void lw_zip_add(lw_zip *zip, const char *name, const void *bytes, size_t size, bool executable);
/* Writes the directory and closes; the first fault is told. */
lw_status lw_zip_close(lw_zip *zip, lw_error *error);

#endif
