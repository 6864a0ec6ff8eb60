/* zip_writer.c - ZIP archives (APPNOTE 6.3.3): what every unpacker reads, version needed 2.0.
 *
 *     per file      local header, 30 bytes, name, bytes as they are (method 0, stored)
 *     directory     per file a header of 46 bytes and the name
 *     end           22 bytes
 *
 * Files are stored: no library is needed, and the largest one, the runtime, is read as fast as it can be.
 * Every time stamp is the first that the format knows, so that the same model gives the same bytes. Sizes are
 * below 4 GB, names are UTF-8 (bit 11).
 *
 * Cost O(bytes), and one record per file.
 */
#include "export/fmu/zip_writer.h"
#include "core/checksum.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 64, LOCAL = 30, CENTRAL = 46, END = 22, DATE = 0x21 /* 1 January 1980 */ };

typedef struct entry {
    char name[240];
    uint32_t crc, size, offset;
    bool executable;
} entry;

struct lw_zip {
    FILE *file;
    char path[1024];
    uint32_t at;
    int count;
    bool failed;
    entry entries[FILES];
};

static unsigned char *put(unsigned char *at, uint32_t value, int bytes) {
    for (int k = 0; k < bytes; k++) *at++ = (unsigned char)(value >> 8 * k);
    return at;
}

static void write_bytes(lw_zip *zip, const void *bytes, size_t size) {
    if (size && fwrite(bytes, 1, size, zip->file) != size) zip->failed = true;
    if (size > UINT32_MAX - zip->at) zip->failed = true;
    zip->at += (uint32_t)size;
}

lw_zip *lw_zip_open(const char *path, lw_error *error) {
    lw_zip *zip = calloc(1, sizeof *zip);
    if (!zip) {
        lw_out_of_memory(error);
        return NULL;
    }
    snprintf(zip->path, sizeof zip->path, "%s", path);
    zip->file = fopen(path, "wb");
    if (zip->file) return zip;
    lw_fail(error, LW_ERROR_FILE, NULL, "choose another place with --out", "%s cannot be written: %s", path,
            strerror(errno));
    free(zip);
    return NULL;
}

/* What both headers of a file have from "version needed" to the length of the name. */
static unsigned char *put_common(unsigned char *at, const entry *e) {
    at = put(at, 20, 2);      /* version needed: 2.0 */
    at = put(at, 1 << 11, 2); /* the name is UTF-8 */
    at = put(at, 0, 2);       /* stored */
    at = put(at, 0, 2), at = put(at, DATE, 2);
    at = put(at, e->crc, 4), at = put(at, e->size, 4), at = put(at, e->size, 4);
    at = put(at, (uint32_t)strlen(e->name), 2);
    return put(at, 0, 2); /* no extra field */
}

void lw_zip_add(lw_zip *zip, const char *name, const void *bytes, size_t size, bool executable) {
    unsigned char head[LOCAL];
    if (zip->count == FILES || size > UINT32_MAX / 2 || strlen(name) >= sizeof zip->entries[0].name) {
        zip->failed = true;
        return;
    }
    entry *e = &zip->entries[zip->count++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->crc = lw_crc32(bytes, size), e->size = (uint32_t)size, e->offset = zip->at;
    e->executable = executable;
    put_common(put(head, 0x04034b50, 4), e);
    write_bytes(zip, head, LOCAL);
    write_bytes(zip, e->name, strlen(e->name));
    write_bytes(zip, bytes, size);
}

static void write_directory(lw_zip *zip) {
    unsigned char head[CENTRAL], end[END];
    const uint32_t begin = zip->at;
    for (int k = 0; k < zip->count; k++) {
        const entry *e = &zip->entries[k];
        unsigned char *at = put(head, 0x02014b50, 4);
        at = put(at, 3 << 8 | 20, 2); /* made on Unix */
        at = put_common(at, e);
        at = put(at, 0, 2), at = put(at, 0, 2), at = put(at, 0, 2); /* comment, disk, attributes */
        at = put(at, (e->executable ? 0100755u : 0100644u) << 16, 4);
        put(at, e->offset, 4);
        write_bytes(zip, head, CENTRAL);
        write_bytes(zip, e->name, strlen(e->name));
    }
    const uint32_t size = zip->at - begin;
    unsigned char *at = put(end, 0x06054b50, 4);
    at = put(at, 0, 4); /* disks */
    at = put(at, (uint32_t)zip->count, 2), at = put(at, (uint32_t)zip->count, 2);
    at = put(at, size, 4), at = put(at, begin, 4);
    put(at, 0, 2);
    write_bytes(zip, end, END);
}

lw_status lw_zip_close(lw_zip *zip, lw_error *error) {
    write_directory(zip);
    if (fclose(zip->file) != 0) zip->failed = true;
    const bool failed = zip->failed;
    lw_status status = LW_OK;
    if (failed) {
        (void)remove(zip->path);
        status = lw_fail(error, LW_ERROR_FILE, NULL, "look for space on the disk", "%s could not be written",
                         zip->path);
    }
    free(zip);
    return status;
}
