/* whole_file.h - a file as text, whole.
 */
#ifndef LW_WHOLE_FILE_H
#define LW_WHOLE_FILE_H

#include "core/core.h"

/* Reads a regular file of at most `most` bytes (too_large: what to do about more); the text has a NUL behind
 * it and is given back by free. Faults go into report, which may be NULL. */
lw_status lw_whole_file(const char *path, size_t most, const char *too_large, lw_report *report, char **text,
                        size_t *length);

/* LW_ERROR_FILE, and the fault in the report. */
lw_status lw_file_fault(lw_report *report, const char *path, const char *remedy, const char *message);

#endif
