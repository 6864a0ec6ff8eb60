/* checksum.c - CRC-32, eight bytes at a time, and a hash of 64 bits.
 *
 * The remainder of a text is that of its parts, each behind as many zeros as bytes follow it: table k has the
 * remainders of a byte before k zeros, and those of eight bytes are looked up without waiting for each other.
 */
#include "core/checksum.h"

enum { SLICES = 8 };

/* The remainders of all bytes: of a power of two by a shift, of sums by sums. */
static void make_tables(uint32_t table[SLICES][256]) {
    uint32_t crc = 1;
    table[0][0] = 0;
    for (uint32_t i = 128; i > 0; i >>= 1) {
        crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        for (uint32_t j = 0; j < 256; j += 2 * i) table[0][i + j] = crc ^ table[0][j];
    }
    for (int k = 1; k < SLICES; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xFF];
}

uint32_t lw_crc32(const void *bytes, size_t size) {
    uint32_t table[SLICES][256], crc = 0xFFFFFFFFu;
    const unsigned char *at = bytes;
    make_tables(table);
    for (; size >= SLICES; size -= SLICES, at += SLICES)
        crc = table[7][(crc ^ at[0]) & 0xFF] ^ table[6][(crc >> 8 ^ at[1]) & 0xFF] ^
              table[5][(crc >> 16 ^ at[2]) & 0xFF] ^ table[4][crc >> 24 ^ at[3]] ^ table[3][at[4]] ^
              table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    for (; size > 0; size--, at++) crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xFF];
    return ~crc;
}

uint64_t lw_hash(uint64_t so_far, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t k = 0; k < size; k++) so_far = (so_far ^ at[k]) * UINT64_C(1099511628211);
    return so_far;
}
