/* zip_reader.c - ZIP archives of unknown origin.
 *
 * The directory at the end of the archive counts. Refused are names that are absolute, lead out of it,
 * have a drive, a backslash or control characters, come twice, or differ from those in the local headers;
 * links, encrypted files, methods but stored and deflated, versions beyond 2.0, archives in several parts;
 * and sizes beyond what an FMU has: 10000 files, 256 MB for each of them and 512 MB in all.
 *
 * Source   APPNOTE.TXT 6.3.3 of the format; the standards' sections on distribution of FMUs.
 * Cost     O(files^2) for names that come twice, O(bytes) for what is read.
 */
#include "export/fmu/zip_reader.h"
#include "core/checksum.h"
#include "export/fmu/inflate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 10000, LOCAL = 30, CENTRAL = 46, END = 22 };
static const size_t most_file = (size_t)256 << 20, most_all = (size_t)512 << 20;

typedef struct entry {
    char *name;
    size_t size, packed, at; /* at: of its bytes */
    uint32_t crc;
    int method;
} entry;

struct lw_unzip {
    char path[1024];
    unsigned char *bytes;
    size_t length;
    int count;
    entry *entries;
};

static uint32_t number(const unsigned char *at, int bytes) {
    uint32_t value = 0;
    for (int k = 0; k < bytes; k++) value |= (uint32_t)at[k] << 8 * k;
    return value;
}

static lw_status damaged(const lw_unzip *zip, const char *what, const char *name, lw_error *error) {
    char shown[128];
    size_t k = 0;
    for (; name && name[k] && k + 1 < sizeof shown; k++)
        shown[k] = (unsigned char)name[k] < 32 || (unsigned char)name[k] == 127 ? '?' : name[k];
    shown[k] = '\0';
    return lw_fail(error, LW_ERROR_FILE, NULL, "make the FMU again", "%s: %s%s%s", zip->path, what,
                   shown[0] ? ": " : "", shown);
}

static bool read_whole(lw_unzip *zip, lw_error *error) {
    FILE *file = fopen(zip->path, "rb");
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length >= 0 && (size_t)length <= most_all && fseek(file, 0, SEEK_SET) == 0) {
        zip->bytes = malloc((size_t)length + 1);
        zip->length = zip->bytes ? fread(zip->bytes, 1, (size_t)length, file) : 0;
    }
    if (file) fclose(file);
    if (zip->bytes && zip->length == (size_t)length) return true;
    if (!file)
        lw_fail(error, LW_ERROR_FILE, NULL, NULL, "%s cannot be read: %s", zip->path, strerror(errno));
    else
        (void)damaged(zip, "it cannot be read, or is too large for an FMU", NULL, error);
    return false;
}

/* Relative, below the folder, with forward slashes. */
static bool is_safe(const char *name) {
    const size_t length = strlen(name);
    if (length == 0 || name[0] == '/' || (length > 1 && name[1] == ':')) return false;
    for (const char *c = name; *c; c++)
        if (*c == '\\' || (unsigned char)*c < 32 || (unsigned char)*c == 127) return false;
    for (const char *part = name; *part;) {
        const size_t n = strcspn(part, "/");
        if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += n + (part[n] == '/');
    }
    return true;
}

static lw_status read_entry(lw_unzip *zip, const unsigned char *head, entry *e, lw_error *error) {
    const uint32_t made = number(head + 4, 2), needed = number(head + 6, 2), flags = number(head + 8, 2);
    const uint32_t mode = number(head + 38, 4) >> 16, offset = number(head + 42, 4);
    const size_t length = number(head + 28, 2);
    e->method = (int)number(head + 10, 2);
    e->crc = number(head + 16, 4), e->packed = number(head + 20, 4), e->size = number(head + 24, 4);
    e->name = calloc(length + 1, 1);
    if (!e->name) return lw_out_of_memory(error);
    memcpy(e->name, head + CENTRAL, length);
    if (strlen(e->name) != length || !is_safe(e->name))
        return damaged(zip, "a name leads out of the folder or has characters that it must not have", e->name,
                       error);
    if (flags & 1) return damaged(zip, "a file is encrypted", e->name, error);
    if (made >> 8 == 3 && (mode & 0170000) == 0120000)
        return damaged(zip, "a file is a link", e->name, error);
    if ((needed & 0xFF) > 20) return damaged(zip, "a file needs a version beyond 2.0", e->name, error);
    if (e->method != 0 && e->method != 8)
        return damaged(zip, "a file is neither stored nor deflated", e->name, error);
    if (e->size > most_file || e->packed > zip->length || (e->method == 0 && e->packed != e->size))
        return damaged(zip, "a file has a size that an FMU must not have", e->name, error);
    if (offset > zip->length || zip->length - offset < LOCAL || number(zip->bytes + offset, 4) != 0x04034b50)
        return damaged(zip, "a file is not where the directory says", e->name, error);
    const unsigned char *local = zip->bytes + offset;
    const size_t own = number(local + 26, 2), extra = number(local + 28, 2);
    e->at = offset + LOCAL + own + extra;
    if (own != length || e->at > zip->length || zip->length - e->at < e->packed ||
        memcmp(local + LOCAL, e->name, length) != 0)
        return damaged(zip, "a file is not what the directory says", e->name, error);
    return LW_OK;
}

static lw_status read_directory(lw_unzip *zip, lw_error *error) {
    size_t end = zip->length >= END ? zip->length - END + 1 : 0;
    const size_t least = end > 65536 ? end - 65536 : 0;
    while (end > least && number(zip->bytes + end - 1, 4) != 0x06054b50) end--;
    if (end == least) return damaged(zip, "it is no ZIP archive", NULL, error);
    const unsigned char *tail = zip->bytes + end - 1;
    const uint32_t count = number(tail + 10, 2), size = number(tail + 12, 4), begin = number(tail + 16, 4);
    if (number(tail + 4, 4) != 0 || number(tail + 8, 2) != count || count > FILES || begin > zip->length ||
        size > zip->length - begin)
        return damaged(zip, "its directory is damaged, or too large for an FMU", NULL, error);
    zip->entries = calloc(count + 1, sizeof *zip->entries);
    if (!zip->entries) return lw_out_of_memory(error);
    size_t at = begin, all = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (begin + size - at < CENTRAL || number(zip->bytes + at, 4) != 0x02014b50)
            return damaged(zip, "its directory is damaged", NULL, error);
        const unsigned char *head = zip->bytes + at;
        const size_t whole =
            CENTRAL + (size_t)number(head + 28, 2) + number(head + 30, 2) + number(head + 32, 2);
        if (begin + size - at < whole) return damaged(zip, "its directory is damaged", NULL, error);
        entry *e = &zip->entries[zip->count++];
        lw_status status = read_entry(zip, head, e, error);
        if (status != LW_OK) return status;
        for (int other = 0; other + 1 < zip->count; other++)
            if (strcmp(zip->entries[other].name, e->name) == 0)
                return damaged(zip, "a name comes twice", e->name, error);
        all += e->size;
        if (all > most_all) return damaged(zip, "it unpacks to more than an FMU may have", NULL, error);
        at += whole;
    }
    return LW_OK;
}

lw_unzip *lw_unzip_open(const char *path, lw_error *error) {
    lw_unzip *zip = calloc(1, sizeof *zip);
    if (!zip) {
        lw_out_of_memory(error);
        return NULL;
    }
    snprintf(zip->path, sizeof zip->path, "%s", path);
    if (read_whole(zip, error) && read_directory(zip, error) == LW_OK) return zip;
    lw_unzip_close(zip);
    return NULL;
}

void lw_unzip_close(lw_unzip *zip) {
    if (!zip) return;
    for (int k = 0; k < zip->count; k++) free(zip->entries[k].name);
    free(zip->entries);
    free(zip->bytes);
    free(zip);
}

int lw_unzip_count(const lw_unzip *zip) { return zip->count; }

lw_unzip_entry lw_unzip_at(const lw_unzip *zip, int index) {
    return (lw_unzip_entry){zip->entries[index].name, zip->entries[index].size};
}

int lw_unzip_find(const lw_unzip *zip, const char *name) {
    for (int k = 0; k < zip->count; k++)
        if (strcmp(zip->entries[k].name, name) == 0) return k;
    return -1;
}

unsigned char *lw_unzip_read(const lw_unzip *zip, int index, lw_error *error) {
    const entry *e = &zip->entries[index];
    unsigned char *out = malloc(e->size + 1);
    if (!out) {
        lw_out_of_memory(error);
        return NULL;
    }
    out[e->size] = 0;
    bool good = true;
    if (e->method == 0) {
        if (e->size) memcpy(out, zip->bytes + e->at, e->size);
    } else
        good = lw_inflate(zip->bytes + e->at, e->packed, out, e->size);
    if (good && lw_crc32(out, e->size) == e->crc) return out;
    free(out);
    (void)damaged(zip, "a file is damaged", e->name, error);
    return NULL;
}
