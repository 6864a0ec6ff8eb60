/* counter_random.h - random numbers as a function of where they are used: no state, no order.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011): ten rounds
 * of products of 32-bit words mix a counter of four words under a key of two. Whoever asks with the same key
 * and counter, on whatever thread or machine and in whatever order, gets the same words.
 */
#ifndef LW_COUNTER_RANDOM_H
#define LW_COUNTER_RANDOM_H

#include <stdint.h>

/* Replaces the counter by the four random words of this counter and key. */
static inline void lw_philox(uint32_t counter[4], const uint32_t key[2]) {
    const uint32_t multiplier[2] = {0xD2511F53u, 0xCD9E8D57u}, weyl[2] = {0x9E3779B9u, 0xBB67AE85u};
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++, k0 += weyl[0], k1 += weyl[1]) {
        const uint64_t a = (uint64_t)multiplier[0] * counter[0], b = (uint64_t)multiplier[1] * counter[2];
        const uint32_t first = (uint32_t)(b >> 32) ^ counter[1] ^ k0,
                       third = (uint32_t)(a >> 32) ^ counter[3] ^ k1;
        counter[1] = (uint32_t)b, counter[3] = (uint32_t)a;
        counter[0] = first, counter[2] = third;
    }
}

/* 64 random bits for a place: three numbers that say which. */
static inline uint64_t lw_random_bits(uint64_t seed, uint64_t index, uint32_t stream, uint32_t purpose) {
    uint32_t words[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream, purpose};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    lw_philox(words, key);
    return (uint64_t)words[1] << 32 | words[0];
}

/* Between 0 and 1, never one of them: the middle of one of 2^52 cells of equal width. */
static inline double lw_random_unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

#endif
