/* inflate.c - the decoder of deflated bytes.
 *
 * Blocks are stored, or coded by canonical Huffman codes, fixed or given in the block, of literals, lengths
 * and distances. A code of length n is the next one of its length in the order of symbols, so that reading
 * it bit by bit needs only how many codes there are of each length and the symbols in that order.
 *
 * Source   RFC 1951, 3.2.
 * Cost     O(bits); no memory beyond the result's. Nothing is read or written outside of the arrays, whatever
 *          the bytes are.
 */
#include "export/fmu/inflate.h"

#include <string.h>

enum { LENGTHS = 15, LITERALS = 288, DISTANCES = 30 };

typedef struct reader {
    const unsigned char *bytes;
    size_t length, at;
    unsigned held;
    int count; /* bits in held */
    unsigned char *out;
    size_t size, used;
    bool failed;
} reader;

typedef struct code {
    short count[LENGTHS + 1]; /* codes of each length */
    short symbols[LITERALS];  /* in the order of their codes */
} code;

static unsigned bits(reader *r, int wanted) {
    while (r->count < wanted) {
        if (r->at == r->length) {
            r->failed = true;
            return 0;
        }
        r->held |= (unsigned)r->bytes[r->at++] << r->count;
        r->count += 8;
    }
    const unsigned value = r->held & ((1u << wanted) - 1);
    r->held >>= wanted;
    r->count -= wanted;
    return value;
}

/* False: more codes than the lengths have room for. */
static bool make_code(code *c, const unsigned char *lengths, int n) {
    short first[LENGTHS + 2] = {0};
    int left = 1;
    memset(c->count, 0, sizeof c->count);
    for (int k = 0; k < n; k++) c->count[lengths[k]]++;
    c->count[0] = 0;
    for (int length = 1; length <= LENGTHS; length++) {
        left = 2 * left - c->count[length];
        if (left < 0) return false;
        first[length + 1] = (short)(first[length] + c->count[length]);
    }
    for (int k = 0; k < n; k++)
        if (lengths[k]) c->symbols[first[lengths[k]]++] = (short)k;
    return true;
}

static int symbol(reader *r, const code *c) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= LENGTHS; length++) {
        value |= (int)bits(r, 1);
        const int count = c->count[length];
        if (value - count < first) return c->symbols[index + value - first];
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    r->failed = true;
    return 0;
}

static void put(reader *r, unsigned char byte) {
    if (r->used == r->size)
        r->failed = true;
    else
        r->out[r->used++] = byte;
}

static void stored(reader *r) {
    r->held = 0, r->count = 0; /* the rest of the byte */
    if (r->length - r->at < 4) {
        r->failed = true;
        return;
    }
    const size_t n = r->bytes[r->at] | (size_t)r->bytes[r->at + 1] << 8;
    const size_t check = r->bytes[r->at + 2] | (size_t)r->bytes[r->at + 3] << 8;
    r->at += 4;
    if (n != (~check & 0xFFFF) || r->length - r->at < n || r->size - r->used < n) {
        r->failed = true;
        return;
    }
    memcpy(r->out + r->used, r->bytes + r->at, n);
    r->at += n, r->used += n;
}

static void coded(reader *r, const code *literals, const code *distances) {
    static const short length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const short length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const short distance_base[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    for (;;) {
        const int s = symbol(r, literals);
        if (r->failed || s == 256) return;
        if (s < 256) {
            put(r, (unsigned char)s);
            continue;
        }
        if (s - 257 >= 29) break;
        size_t n = (size_t)length_base[s - 257] + bits(r, length_bits[s - 257]);
        const int d = symbol(r, distances);
        if (r->failed || d >= DISTANCES) break;
        const size_t back = (size_t)distance_base[d] + bits(r, d < 4 ? 0 : d / 2 - 1);
        if (r->failed || back > r->used || n > r->size - r->used) break;
        for (; n > 0; n--, r->used++) r->out[r->used] = r->out[r->used - back];
    }
    r->failed = true;
}

static void fixed_codes(reader *r) {
    unsigned char lengths[LITERALS];
    code literals, distances;
    for (int k = 0; k < LITERALS; k++)
        lengths[k] = (unsigned char)(k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8);
    (void)make_code(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    (void)make_code(&distances, lengths, DISTANCES);
    coded(r, &literals, &distances);
}

static void given_codes(reader *r) {
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[LITERALS + 32 + 138] = {0};
    code first, literals, distances;
    const int n = (int)bits(r, 5) + 257, m = (int)bits(r, 5) + 1, c = (int)bits(r, 4) + 4;
    for (int k = 0; k < c; k++) lengths[order[k]] = (unsigned char)bits(r, 3);
    if (r->failed || n > 286 || m > DISTANCES || !make_code(&first, lengths, 19)) {
        r->failed = true;
        return;
    }
    memset(lengths, 0, sizeof lengths);
    for (int k = 0; k < n + m && !r->failed;) {
        const int s = symbol(r, &first);
        if (s < 16) {
            lengths[k++] = (unsigned char)s;
            continue;
        }
        if (s == 16 && k == 0) r->failed = true;
        const unsigned char again = s == 16 && k > 0 ? lengths[k - 1] : 0;
        int times = s == 16 ? 3 + (int)bits(r, 2) : s == 17 ? 3 + (int)bits(r, 3) : 11 + (int)bits(r, 7);
        if (k + times > n + m) r->failed = true;
        while (times-- > 0 && !r->failed) lengths[k++] = again;
    }
    if (r->failed || lengths[256] == 0 || !make_code(&literals, lengths, n) ||
        !make_code(&distances, lengths + n, m))
        r->failed = true;
    else
        coded(r, &literals, &distances);
}

bool lw_inflate(const unsigned char *bytes, size_t length, unsigned char *out, size_t size) {
    reader r = {.bytes = bytes, .length = length, .out = out, .size = size};
    for (bool last = false; !last && !r.failed;) {
        last = bits(&r, 1);
        const unsigned kind = bits(&r, 2);
        if (r.failed) break;
        if (kind == 0)
            stored(&r);
        else if (kind == 1)
            fixed_codes(&r);
        else if (kind == 2)
            given_codes(&r);
        else
            r.failed = true;
    }
    return !r.failed && r.used == size;
}
