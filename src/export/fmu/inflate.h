/* inflate.h - the decoder of deflated bytes (RFC 1951).
 */
#ifndef LW_INFLATE_H
#define LW_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

/* Decodes bytes into exactly `size` bytes of out; false if they are damaged, or give more or fewer. */
bool lw_inflate(const unsigned char *bytes, size_t length, unsigned char *out, size_t size);

#endif
