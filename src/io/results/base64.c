/* base64.c - bytes as text of 64 letters (RFC 4648, section 4): 3 bytes are 4 letters of 6 bits; = fills up
 * the last four. Cost O(size).
 */
#include "io/results/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t lw_base64_write(const unsigned char *bytes, size_t size, char *text) {
    size_t used = 0;
    for (size_t k = 0; k < size; k += 3) {
        const unsigned b = bytes[k], c = k + 1 < size ? bytes[k + 1] : 0, d = k + 2 < size ? bytes[k + 2] : 0;
        text[used++] = letters[b >> 2];
        text[used++] = letters[(b & 3) << 4 | c >> 4];
        text[used++] = k + 1 < size ? letters[(c & 15) << 2 | d >> 6] : '=';
        text[used++] = k + 2 < size ? letters[d & 63] : '=';
    }
    return used;
}

static int value_of(char letter) {
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (int)(at - letters) : -1;
}

size_t lw_base64_read(const char *text, size_t length, unsigned char *bytes) {
    size_t used = 0;
    if (length % 4 != 0) return (size_t)-1;
    for (size_t k = 0; k < length; k += 4) {
        const size_t fill =
            k + 4 == length ? (text[k + 3] == '=') + (text[k + 3] == '=' && text[k + 2] == '=') : 0;
        int six[4] = {0, 0, 0, 0};
        for (size_t i = 0; i < 4 - fill; i++)
            if ((six[i] = value_of(text[k + i])) < 0) return (size_t)-1;
        const unsigned all =
            (unsigned)six[0] << 18 | (unsigned)six[1] << 12 | (unsigned)six[2] << 6 | (unsigned)six[3];
        for (size_t i = 0; i < 3 - fill; i++) bytes[used++] = (unsigned char)(all >> (16 - 8 * i) & 255);
    }
    return used;
}
