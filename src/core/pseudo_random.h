/* pseudo_random.h - pseudo-random numbers that are the same in every run (splitmix64), for positions beside a
 * given one at which ranks are examined.
 */
#ifndef LW_PSEUDO_RANDOM_H
#define LW_PSEUDO_RANDOM_H

#include <stdint.h>

/* Returns the next number between -1 and 1; any value may be the first state. */
static inline double lw_pseudo_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)(int64_t)(z ^ (z >> 31)) / 9.3e18;
}

#endif
