/* whole_file.c - a file as text, whole.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

lw_status lw_file_fault(lw_report *report, const char *path, const char *remedy, const char *message) {
    lw_error error;
    lw_fail(&error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    snprintf(error.file, sizeof error.file, "%s", path);
    if (report) (void)lw_report_add(report, &error);
    return LW_ERROR_FILE;
}

static lw_status open_fault(lw_report *report, const char *path) {
    switch (errno) {
    case ENOENT:
        return lw_file_fault(report, path, "check the path", "there is no such file");
    case EACCES:
        return lw_file_fault(report, path, "check the file's permissions", "the file may not be read");
    case EISDIR:
        return lw_file_fault(report, path, "name a model file in it", "this is a folder");
    case ENOTDIR:
        return lw_file_fault(report, path, "check the path", "a part of the path is not a folder");
    case ELOOP:
        return lw_file_fault(report, path, "check the path",
                             "symbolic links in the path lead back to themselves");
    default:
        return lw_file_fault(report, path, "check the path", strerror(errno));
    }
}

static lw_status read_all(int file, const char *path, size_t most, const char *too_large, lw_report *report,
                          char **text, size_t *length) {
    struct stat about;
    if (fstat(file, &about) != 0) return open_fault(report, path);
    if (S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return open_fault(report, path);
    }
    if (!S_ISREG(about.st_mode)) {
        return lw_file_fault(report, path, "give a regular file", "this is a device, pipe or socket");
    }
    if ((unsigned long long)about.st_size > most) {
        char message[80];
        (void)snprintf(message, sizeof message, "the file is larger than %zu MiB", most >> 20);
        return lw_file_fault(report, path, too_large, message);
    }
    *text = malloc((size_t)about.st_size + 1);
    if (!*text) return LW_ERROR_MEMORY;
    *length = 0;
    while (*length < (size_t)about.st_size) {
        ssize_t got = read(file, *text + *length, (size_t)about.st_size - *length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return open_fault(report, path);
        if (got == 0) break;
        *length += (size_t)got;
    }
    (*text)[*length] = '\0';
    return LW_OK;
}

lw_status lw_whole_file(const char *path, size_t most, const char *too_large, lw_report *report, char **text,
                        size_t *length) {
    *text = NULL;
    *length = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* Opening a pipe must not block. */
    if (file < 0) return open_fault(report, path);
    lw_status status = read_all(file, path, most, too_large, report, text, length);
    (void)close(file);
    if (status != LW_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
