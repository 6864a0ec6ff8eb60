/* gltf_bytes.h - bytes and JSON text that grow in memory; after a failure nothing more is added.
 */
#ifndef LW_GLTF_BYTES_H
#define LW_GLTF_BYTES_H

#include "core/core.h"

#include <stdint.h>

typedef struct lw_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} lw_bytes;

void lw_bytes_free(lw_bytes *bytes);
void lw_bytes_put(lw_bytes *bytes, const void *data, size_t size);
/* Up to a multiple of four bytes. */
void lw_bytes_pad(lw_bytes *bytes, unsigned char filler);
/* In the order of glTF, the lowest byte first. */
void lw_bytes_float(lw_bytes *bytes, float value);
void lw_bytes_u16(lw_bytes *bytes, uint16_t value);
void lw_bytes_u32(lw_bytes *bytes, uint32_t value);

/* Text as it is; an integer; a number with the digits that read back as the same float; a JSON string. */
void lw_bytes_text(lw_bytes *bytes, const char *text);
void lw_bytes_integer(lw_bytes *bytes, size_t value);
void lw_bytes_number(lw_bytes *bytes, float value);
void lw_bytes_string(lw_bytes *bytes, const char *text);

#endif
