/* checksum.c - CRC-32, a byte at a time by a table of 256 remainders, and a hash of 64 bits.
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

uint64_t lw_hash(uint64_t so_far, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t k = 0; k < size; k++) so_far = (so_far ^ at[k]) * UINT64_C(1099511628211);
    return so_far;
}
