/* frequency.h - frequency responses: what outputs do for harmonic inputs, near a state.
 *
 *   G(s) = C (s - A)^-1 B + D,   s = i 2 pi f
 *
 * of a linear system (linearise.h). Part of the full library, not of linkwork-core. Method:
 * docs/theory/frequency.md.
 */
#ifndef LINKWORK_FREQUENCY_H
#define LINKWORK_FREQUENCY_H

#include <linkwork/linearise.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_frequency_options {
    /* Hz, both positive; 0: a decade below the slowest and above the fastest eigenvalue that is not zero. */
    double from, to;
    /* Frequencies at equal distances in decades; 0: 50 per decade. Near eigenvalues with little damping more
     * are added, so that peaks are met, unless `exactly`. */
    int points;
    bool exactly;
    /* Inputs and outputs by name; NULL: all. */
    const char *const *inputs, *const *outputs;
    int input_count, output_count;
} lw_frequency_options;

typedef struct lw_frequency_response {
    int count, inputs, outputs;
    const char *const *input_names, *const *output_names;
    const double *frequency; /* Hz, ascending */
    /* count x outputs x inputs: G in pairs of real and imaginary part; its magnitude; its phase in rad,
     * without jumps from frequency to frequency. Infinite (phase NAN) at an eigenvalue without damping. */
    const double *G, *magnitude, *phase;
} lw_frequency_response;

/* Fills the options with their defaults. */
LW_API void lw_frequency_defaults(lw_frequency_options *options);
/* LW_ERROR_ARGUMENT: a name is wrong, frequencies are not positive and ascending, or the system has no
 * input. */
LW_API lw_status lw_frequency_find(const lw_linear_system *system, const lw_frequency_options *options,
                                   lw_frequency_response **response, lw_error *error);
LW_API void lw_frequency_destroy(lw_frequency_response *response);
/* Writes comma-separated values: the frequency, then for every output and input magnitude, decibels, phase in
 * degrees, real and imaginary part; "-" is standard output. */
LW_API lw_status lw_frequency_write(const lw_frequency_response *response, const char *path, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
