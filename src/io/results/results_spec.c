/* results_spec.c - the model that a results file carries, as the spec it was compiled from.
 *
 * CSV has it as lines "#= letters" (base64) in its head, HDF5 as the dataset /spec. The bytes are those of
 * lw_spec_save and have a checksum, so that a file that is damaged or cut off is not taken for another model.
 * Cost O(size of the head).
 */
#include "io/results/base64.h"
#include "io/results/read_results.h"

#include <linkwork/io.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 28 }; /* letters */

static lw_status fault(lw_error *error, const char *path, const char *remedy, const char *message) {
    if (!error) return LW_ERROR_FILE;
    (void)lw_fail(error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    snprintf(error->file, sizeof error->file, "%s", path);
    return LW_ERROR_FILE;
}

static const char damaged[] = "the model that the file carries is damaged or cut off";
static const char as_written[] = "give the file as the run has written it, or the model's own file";

/* Collects the letters of all lines that begin with "#=", up to the first line without #. */
static lw_status read_letters(FILE *file, char **letters, size_t *length) {
    size_t capacity = 0;
    for (int letter = getc(file); letter == '#';) {
        const bool wanted = (letter = getc(file)) == '=';
        while (letter != EOF && letter != '\n') {
            letter = getc(file);
            if (!wanted || letter == EOF || strchr(" \r\n", letter)) continue;
            if (*length == LONGEST) return LW_ERROR_FILE;
            if (*length == capacity) {
                capacity = capacity ? 2 * capacity : 1 << 14;
                char *longer = realloc(*letters, capacity);
                if (!longer) return LW_ERROR_MEMORY;
                *letters = longer;
            }
            (*letters)[(*length)++] = (char)letter;
        }
        if (letter == '\n') letter = getc(file);
    }
    return LW_OK;
}

static lw_status bytes_of_csv(const char *path, unsigned char **bytes, size_t *size, lw_error *error) {
    char *letters = NULL;
    size_t length = 0;
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (!file) {
        char message[256];
        snprintf(message, sizeof message, "cannot be opened: %s", strerror(errno));
        return fault(error, path, "give the path of a results file", message);
    }
    lw_status status = read_letters(file, &letters, &length);
    fclose(file);
    if (status == LW_OK && length > 0) {
        *bytes = malloc(length);
        status = *bytes ? LW_OK : LW_ERROR_MEMORY;
        if (status == LW_OK) *size = lw_base64_read(letters, length, *bytes);
        if (status == LW_OK && *size == (size_t)-1) status = LW_ERROR_FILE;
    }
    free(letters);
    if (status == LW_ERROR_MEMORY) return lw_out_of_memory(error);
    return status == LW_OK ? LW_OK : fault(error, path, as_written, damaged);
}

lw_status lw_results_about(const char *path, char *name, size_t size, lw_error *error) {
    lw_results_table *table = NULL;
    if (!path || !name || size == 0)
        return lw_call_needs("the path of a results file, and a place for the name", error);
    name[0] = '\0';
    if (!lw_is_results(path))
        return fault(error, path, "give the path of a results file", "is no results file");
    const lw_status status = lw_results_table_open(path, &table, error);
    if (status == LW_OK) snprintf(name, size, "%s", lw_results_table_text(table, "model"));
    lw_results_table_close(table);
    return status;
}

lw_status lw_results_spec(const char *path, lw_spec **spec, lw_error *error) {
    if (spec) *spec = NULL;
    if (!path || !spec) return lw_call_needs("the path of a results file, and a place for the spec", error);
    unsigned char *bytes = NULL;
    size_t size = 0;
    lw_error reason = {0};
    lw_status status = lw_is_hdf5(path) ? lw_results_bytes_hdf5(path, &bytes, &size, error)
                                        : bytes_of_csv(path, &bytes, &size, error);
    if (status == LW_OK && !bytes)
        status = fault(error, path, "give the model's own file",
                       "the file does not carry its model: it is no results file, or one of an old version");
    else if (status == LW_OK)
        status = lw_spec_load(bytes, size, spec, &reason);
    if (status == LW_ERROR_FILE && bytes && reason.message[0]) {
        char message[sizeof damaged + sizeof reason.message + 4];
        snprintf(message, sizeof message, "%s: %s", damaged, reason.message);
        status = fault(error, path, as_written, message);
    } else if (status == LW_ERROR_MEMORY) {
        status = lw_out_of_memory(error);
    }
    free(bytes);
    return status;
}
