/* fmu_content.c - what the exporter puts into an FMU for the runtime.
 *
 *     "lwfmu"      8 bytes, the rest of them zero
 *     version      u32
 *     exchange     u32, 0 or 1
 *     indicators   u32
 *     reactions    u32 length, and the text
 *     spec         as lw_spec_save writes it, with a checksum of its own
 *
 * Integers are little-endian. The token is a hash of all bytes and the version of the library, so that an FMU
 * whose description and content belong together is told from one where they do not.
 */
#include "fmu/fmu_content.h"
#include "core/checksum.h"
#include "core/core.h"
#include <linkwork/version.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, HEAD = 24 };
static const char magic[8] = "lwfmu";

static void put(unsigned char *at, uint32_t value) {
    for (int k = 0; k < 4; k++) at[k] = (unsigned char)(value >> 8 * k);
}

static uint32_t get(const unsigned char *at) {
    uint32_t value = 0;
    for (int k = 0; k < 4; k++) value |= (uint32_t)at[k] << 8 * k;
    return value;
}

void lw_fmu_content_token(const void *bytes, size_t size, char token[LW_FMU_TOKEN]) {
    const uint64_t first = lw_hash(lw_hash(LW_HASH_OF_NOTHING, LW_VERSION, strlen(LW_VERSION)), bytes, size);
    const uint64_t second = lw_hash(first, bytes, size);
    snprintf(token, LW_FMU_TOKEN, "{%016llx-%016llx}", (unsigned long long)first, (unsigned long long)second);
}

lw_status lw_fmu_content_write(const lw_fmu_content *c, void **bytes, size_t *size, char token[LW_FMU_TOKEN],
                               lw_error *error) {
    const size_t text = strlen(c->reactions);
    size_t needed = 0;
    *bytes = NULL;
    lw_status status = lw_spec_save(c->spec, NULL, 0, &needed);
    if (status != LW_OK) return lw_fail(error, status, NULL, NULL, "the model cannot be written as bytes");
    *size = HEAD + text + needed;
    unsigned char *b = malloc(*size);
    if (!b) return lw_out_of_memory(error);
    memcpy(b, magic, sizeof magic);
    put(b + 8, VERSION), put(b + 12, c->exchange), put(b + 16, (uint32_t)c->indicators);
    put(b + 20, (uint32_t)text);
    memcpy(b + HEAD, c->reactions, text);
    status = lw_spec_save(c->spec, b + HEAD + text, needed, NULL);
    if (status != LW_OK) {
        free(b);
        return lw_fail(error, status, NULL, NULL, "the model cannot be written as bytes");
    }
    lw_fmu_content_token(b, *size, token);
    *bytes = b;
    return LW_OK;
}

lw_status lw_fmu_content_read(const void *bytes, size_t size, lw_fmu_content *c, lw_error *error) {
    const unsigned char *b = bytes;
    *c = (lw_fmu_content){0};
    const bool whole = size >= HEAD && memcmp(b, magic, sizeof magic) == 0;
    if (!whole || get(b + 8) != VERSION || get(b + 20) > size - HEAD)
        return lw_fail(error, LW_ERROR_FILE, NULL, "export the FMU again",
                       whole ? "its content is damaged, or of another version of Linkwork"
                             : "its content is none of Linkwork");
    const size_t text = get(b + 20);
    c->exchange = get(b + 12) != 0;
    c->indicators = (int)(get(b + 16) & 0xFFFFFF);
    c->reactions = calloc(text + 1, 1);
    if (!c->reactions) return lw_out_of_memory(error);
    memcpy(c->reactions, b + HEAD, text);
    lw_status status = lw_spec_load(b + HEAD + text, size - HEAD - text, &c->spec, error);
    if (status != LW_OK) lw_fmu_content_clear(c);
    return status;
}

void lw_fmu_content_clear(lw_fmu_content *c) {
    lw_spec_destroy(c->spec);
    free(c->reactions);
    *c = (lw_fmu_content){0};
}
