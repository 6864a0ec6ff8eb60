/* sweep_file.c - the file of a sweep, whatever its format.
 */
#define _POSIX_C_SOURCE 200809L
#include "sweep/sweep_parts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

lw_status lw_sweep_file_fault(lw_error *error, const char *path, const char *action, const char *reason,
                              const char *remedy) {
    char object[112];
    snprintf(object, sizeof object, "file \"%.90s\"", path);
    return lw_fail(error, LW_ERROR_FILE, object, remedy, "cannot be %s: %s", action, reason);
}

lw_status lw_sweep_other_plan(const lw_sweep *sweep, const char *path, const char *head, lw_error *error) {
    const char *here = sweep->head, *there = head;
    while (*here && *there) {
        const size_t a = strcspn(here, "\n"), b = strcspn(there, "\n");
        if (a != b || strncmp(here, there, a) != 0) break;
        here += a + (here[a] == '\n'), there += b + (there[b] == '\n');
    }
    char reason[400];
    snprintf(reason, sizeof reason, "it is that of another sweep: there \"%.*s\", here \"%.*s\"",
             (int)strcspn(there, "\n") < 150 ? (int)strcspn(there, "\n") : 150, there,
             (int)strcspn(here, "\n") < 150 ? (int)strcspn(here, "\n") : 150, here);
    return lw_sweep_file_fault(error, path, "gone on with", reason, "give the same call, or another file");
}

static bool ends_with(const char *path, const char *ending) {
    const size_t length = strlen(path), end = strlen(ending);
    return length > end && strcasecmp(path + length - end, ending) == 0;
}

lw_status lw_sweep_file_open(const lw_sweep *sweep, const char *path, bool resume, lw_sweep_file **file,
                             lw_error *error) {
    if (!sweep || !path || !file) return lw_call_needs("a sweep, a path, and a place for the file", error);
    *file = NULL;
    const lw_sweep_format *format = ends_with(path, ".csv")                              ? &lw_sweep_csv
                                    : ends_with(path, ".h5") || ends_with(path, ".hdf5") ? &lw_sweep_hdf5
                                                                                         : NULL;
    if (!format)
        return lw_sweep_file_fault(error, path, "written", "its ending names no format",
                                   "let it end in .csv, .h5 or .hdf5");
    const bool there = access(path, F_OK) == 0;
    if (there && !resume)
        return lw_sweep_file_fault(error, path, "written", "it is there already",
                                   "go on with it by --resume, remove it, or give another name");
    const lw_status status = format->open(sweep, path, there, file, error);
    if (status == LW_OK) (*file)->format = format, (*file)->flushed = now();
    return status;
}

bool lw_sweep_file_has(const lw_sweep_file *file, uint64_t run) {
    return file && file->format->has(file, run);
}

lw_status lw_sweep_file_get(lw_sweep_file *file, uint64_t run, lw_sweep_row *row) {
    if (!file || !row || !row->values || !lw_sweep_file_has(file, run)) return LW_ERROR_ARGUMENT;
    return file->format->get(file, run, row);
}

lw_status lw_sweep_file_tick(lw_sweep_file *file, lw_error *error) {
    const double time = now();
    if (!file) return LW_OK;
    if (time - file->flushed < 1) return LW_OK;
    file->flushed = time;
    return file->format->flush(file, error);
}

lw_status lw_sweep_file_add(lw_sweep_file *file, const lw_sweep_row *row, lw_error *error) {
    if (!file || !row || !row->values) return lw_call_needs("a file and a row", error);
    const lw_status status = file->format->add(file, row, error);
    return status == LW_OK ? lw_sweep_file_tick(file, error) : status;
}

lw_status lw_sweep_file_close(lw_sweep_file *file, lw_error *error) {
    return file ? file->format->close(file, error) : LW_OK;
}
