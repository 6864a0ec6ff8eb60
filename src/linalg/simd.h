/* simd.h - arithmetic on one state or on several side by side, under one name.
 *
 * A file that includes this first defines LANES as 1, 2, 4 or 8. REAL is then double or a vector of that many
 * doubles (an extension that gcc and clang share); + - * / work on both, and what they do not offer stands
 * here. Code written with REAL is the same for all, and rounds in each lane as it does for one state.
 *
 * real_sincos: sine and cosine together, within 1 ulp or 1.1e-16, whichever is larger (measured). Cody and
 * Waite's reduction by pi/2 in three parts of 33 bits, exact for |x| < 2^20 pi/2, and fdlibm's polynomials;
 * lanes with larger arguments go to the C library. No table, no branch on other values: vectors do it at the
 * cost of one.
 */
#ifndef LW_SIMD_H
#define LW_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if LANES == 1
typedef double REAL;
typedef uint64_t BITS;
static inline BITS real_bits(REAL x) {
    BITS b;
    memcpy(&b, &x, sizeof b);
    return b;
}
static inline REAL bits_real(BITS b) {
    REAL x;
    memcpy(&x, &b, sizeof x);
    return x;
}
static inline double real_lane(REAL x, int lane) { return (void)lane, x; }
static inline void real_set_lane(REAL *x, int lane, double value) { (void)lane, *x = value; }
#else
typedef double REAL __attribute__((vector_size(8 * LANES)));
typedef uint64_t BITS __attribute__((vector_size(8 * LANES)));
static inline BITS real_bits(REAL x) { return (BITS)x; }
static inline REAL bits_real(BITS b) { return (REAL)b; }
static inline double real_lane(REAL x, int lane) { return x[lane]; }
static inline void real_set_lane(REAL *x, int lane, double value) { (*x)[lane] = value; }
#endif

/* The same number in all lanes: x - 0 is x also for x = -0, so nothing is computed. */
static inline REAL real(double x) { return x - (REAL){0}; }

/* Per lane: all bits set where a > b, none where not, as for NaN. */
static inline BITS real_exceeds(REAL a, REAL b) {
#if LANES == 1
    return -(BITS)(a > b);
#else
    return (BITS)(a > b);
#endif
}
#if LANES == 1
static inline REAL real_larger(REAL a, REAL b) { return a > b ? a : b; }
static inline REAL real_abs(REAL a) { return fabs(a); }
#else
static inline REAL real_larger(REAL a, REAL b) {
    BITS mask = real_exceeds(a, b);
    return bits_real((real_bits(a) & mask) | (real_bits(b) & ~mask));
}
static inline REAL real_abs(REAL a) { return bits_real(real_bits(a) & 0x7fffffffffffffffu); }
#endif

/* x > bound in every lane; false for NaN. */
static inline bool real_above(REAL x, double bound) {
    bool all = true;
    for (int l = 0; l < LANES; l++) all &= real_lane(x, l) > bound;
    return all;
}

static inline void real_sincos(REAL x, REAL *sine, REAL *cosine) {
    const double reach = 1647099.0;              /* 2^20 pi / 2 */
    const REAL magic = real(6755399441055744.0); /* 1.5 2^52: adding it rounds to an integer in low bits */
    bool small = true;
    for (int l = 0; l < LANES; l++) small &= fabs(real_lane(x, l)) < reach;
    REAL shifted = x * 0.63661977236758134308 + magic; /* 2 / pi */
    REAL n = shifted - magic;
    BITS quadrant = real_bits(shifted);
    /* r = x - n pi/2, with the rounding of the second difference put back */
    REAL a = x - n * 1.57079632673412561417e+00, w = n * 6.07710050630396597660e-11;
    REAL r = a - w;
    r = r + (((a - r) - w) - n * 2.02226624871116645580e-21);
    REAL z = r * r;
    REAL s = 8.33333333332248946124e-03 +
             z * (-1.98412698298579493134e-04 +
                  z * (2.75573137070700676789e-06 +
                       z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    s = r + (z * r) * (-1.66666666666666324348e-01 + z * s);
    REAL c = 4.16666666666666019037e-02 +
             z * (-1.38888888888741095749e-03 +
                  z * (2.48015872894767294178e-05 +
                       z * (-2.75573143513906633035e-07 +
                            z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    REAL half = 0.5 * z, near = 1 - half;
    c = near + (((1 - near) - half) + z * z * c);
    /* quadrant k: (s, c), (c, -s), (-s, -c), (-c, s) */
    BITS swap = -(quadrant & 1), sb = real_bits(s), cb = real_bits(c);
    BITS difference = (sb ^ cb) & swap;
    BITS sign_s = (quadrant & 2) << 62, sign_c = ((quadrant + 1) & 2) << 62;
    *sine = bits_real((sb ^ difference) ^ sign_s);
    *cosine = bits_real((cb ^ difference) ^ sign_c);
    for (int l = 0; __builtin_expect(!small, 0) && l < LANES; l++)
        if (!(fabs(real_lane(x, l)) < reach)) {
            real_set_lane(sine, l, sin(real_lane(x, l)));
            real_set_lane(cosine, l, cos(real_lane(x, l)));
        }
}

/* --- 3-vectors and matrices, as in vec3.h --------------------------------------------------------- */

static inline REAL r3_dot(const REAL a[3], const REAL b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline void r3_cross(const REAL a[3], const REAL b[3], REAL out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}
static inline void r3_add_cross(const REAL a[3], const REAL b[3], REAL out[3]) {
    out[0] += a[1] * b[2] - a[2] * b[1];
    out[1] += a[2] * b[0] - a[0] * b[2];
    out[2] += a[0] * b[1] - a[1] * b[0];
}
static inline void r3_turn(const REAL R[9], const REAL x[3], REAL out[3]) { /* R x */
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}
static inline void r3_turn_back(const REAL R[9], const REAL x[3], REAL out[3]) { /* R'x */
    for (int i = 0; i < 3; i++) out[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

#endif
