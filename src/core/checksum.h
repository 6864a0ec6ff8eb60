/* checksum.h - a number that tells whether bytes are still those that were written.
 */
#ifndef LW_CHECKSUM_H
#define LW_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of ISO 3309 (polynomial 0x04C11DB7, bits reflected), as in PNG and gzip: finds every error of up to
 * 32 neighbouring bits, and of others all but one in 4e9. */
uint32_t lw_crc32(const void *bytes, size_t size);

/* FNV-1a, 64 bits, of bytes that follow those already in so_far; a quick test whether two things are the
 * same. */
#define LW_HASH_OF_NOTHING UINT64_C(14695981039346656037)
uint64_t lw_hash(uint64_t so_far, const void *bytes, size_t size);

#endif
