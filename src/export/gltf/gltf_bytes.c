/* gltf_bytes.c - the two chunks of a .glb file while they grow.
 */
#include "export/gltf/gltf_bytes.h"
#include "io/number.h"

#include <linkwork/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lw_bytes_free(lw_bytes *bytes) {
    free(bytes->data);
    *bytes = (lw_bytes){0};
}

void lw_bytes_put(lw_bytes *bytes, const void *data, size_t size) {
    if (bytes->failed) return;
    if (size > bytes->capacity - bytes->size) {
        size_t capacity = bytes->capacity ? bytes->capacity : 4096;
        while (capacity - bytes->size < size && capacity <= SIZE_MAX / 2) capacity *= 2;
        unsigned char *larger = capacity - bytes->size < size ? NULL : realloc(bytes->data, capacity);
        bytes->failed = larger == NULL;
        if (!larger) return;
        bytes->data = larger;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void lw_bytes_pad(lw_bytes *bytes, unsigned char filler) {
    while (bytes->size % 4 != 0 && !bytes->failed) lw_bytes_put(bytes, &filler, 1);
}

void lw_bytes_u16(lw_bytes *bytes, uint16_t value) {
    const unsigned char parts[2] = {value & 255, (unsigned char)(value >> 8)};
    lw_bytes_put(bytes, parts, sizeof parts);
}

void lw_bytes_u32(lw_bytes *bytes, uint32_t value) {
    const unsigned char parts[4] = {value & 255, value >> 8 & 255, value >> 16 & 255, value >> 24 & 255};
    lw_bytes_put(bytes, parts, sizeof parts);
}

void lw_bytes_float(lw_bytes *bytes, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    lw_bytes_u32(bytes, bits);
}

void lw_bytes_text(lw_bytes *bytes, const char *text) { lw_bytes_put(bytes, text, strlen(text)); }

void lw_bytes_integer(lw_bytes *bytes, size_t value) {
    char text[32];
    lw_bytes_put(bytes, text, (size_t)snprintf(text, sizeof text, "%zu", value));
}

void lw_bytes_number(lw_bytes *bytes, float value) {
    char text[LW_NUMBER_SIZE];
    lw_bytes_put(bytes, text, (size_t)lw_number_print(value, text));
}

void lw_bytes_string(lw_bytes *bytes, const char *text) {
    lw_bytes_text(bytes, "\"");
    for (size_t left = strlen(text); left > 0;) {
        unsigned code;
        size_t length = lw_utf8(text, left, &code);
        char escaped[8];
        if (length == 0) { /* no character: as the one that stands for such */
            lw_bytes_text(bytes, "\xEF\xBF\xBD");
            length = 1;
        } else if (code < 0x20 || code == 0x7F) {
            snprintf(escaped, sizeof escaped, "\\u%04x", code);
            lw_bytes_text(bytes, escaped);
        } else {
            if (code == '"' || code == '\\') lw_bytes_text(bytes, "\\");
            lw_bytes_put(bytes, text, length);
        }
        text += length;
        left -= length;
    }
    lw_bytes_text(bytes, "\"");
}
