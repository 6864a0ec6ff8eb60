/* checksum.c - CRC-32, a byte at a time by a table of 256 remainders.
 */
#include "core/checksum.h"

uint32_t lw_crc32(const void *bytes, size_t size) {
    uint32_t remainder[256], crc = 0xFFFFFFFFu;
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t r = k;
        for (int bit = 0; bit < 8; bit++) r = r & 1 ? r >> 1 ^ 0xEDB88320u : r >> 1;
        remainder[k] = r;
    }
    const unsigned char *at = bytes;
    for (size_t k = 0; k < size; k++) crc = crc >> 8 ^ remainder[(crc ^ at[k]) & 0xFF];
    return ~crc;
}
