/* base64.h - bytes as text of 64 letters (RFC 4648, section 4).
 */
#ifndef LW_BASE64_H
#define LW_BASE64_H

#include <stddef.h>

/* Writes the letters of size bytes, 4 for each 3 bytes begun, and no end; returns how many. */
size_t lw_base64_write(const unsigned char *bytes, size_t size, char *text);
/* Reads letters; returns the number of bytes, at most 3 for 4 letters, or (size_t)-1 if text is none. */
size_t lw_base64_read(const char *text, size_t length, unsigned char *bytes);

#endif
