/* sobol.c - points of Sobol's sequence, each by itself.
 *
 * Coordinate j of point i is the exclusive or of direction numbers v_j1, v_j2, ... over the bits of the Gray
 * code i ^ (i >> 1) that are set (Sobol 1967; Antonov, Saleev 1979). The direction numbers v_jk = m_jk
 * 2^(32-k) follow from a primitive polynomial of degree s over the field of two elements, with inner
 * coefficients a, and s odd numbers to begin with (Joe, Kuo 2008, the set new-joe-kuo-6):
 *     m_k = 2 a_1 m_(k-1) ^ 4 a_2 m_(k-2) ^ ... ^ 2^s m_(k-s) ^ m_(k-s)
 * Any 2^k points from number 0 on have one in each of 2^k slices of equal width of every coordinate.
 *
 * Cost     O(32^2) a coordinate: nothing beside a run. No tables are built, so that nothing is shared.
 */
#include "sweep/sobol.h"

enum { BITS = 32, DEGREE_MAX = 7 };

typedef struct polynomial {
    unsigned char degree, inner, start[DEGREE_MAX];
} polynomial;

/* Of dimensions 1 and up; dimension 0 is van der Corput's sequence. */
static const polynomial polynomials[LW_SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

uint32_t lw_sobol(uint32_t index, int dimension) {
    const uint32_t gray = index ^ index >> 1;
    uint32_t m[BITS], point = 0;
    if (dimension == 0) {
        for (int k = 0; k < BITS; k++) m[k] = 1;
    } else {
        const polynomial *p = &polynomials[dimension - 1];
        const int s = p->degree;
        for (int k = 0; k < s; k++) m[k] = p->start[k];
        for (int k = s; k < BITS; k++) {
            m[k] = m[k - s] ^ m[k - s] << s;
            for (int i = 1; i < s; i++) m[k] ^= (uint32_t)(p->inner >> (s - 1 - i) & 1) * (m[k - i] << i);
        }
    }
    for (int k = 0; k < BITS; k++)
        if (gray >> k & 1) point ^= m[k] << (BITS - 1 - k);
    return point;
}
