/* resample.h - as few samples of a motion as reproduce all of them. */
#ifndef LW_RESAMPLE_H
#define LW_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>

/* Chooses the samples to keep: the cubic interpolation through them (resample.c) differs at every sample and
 * in every channel by no more than that channel's tolerance. values has `stride` numbers per sample, of which
 * the first `width` are channels. keys receives the indices that are kept, in order, count of them; room for
 * all. Channels with numbers that are not finite keep everything. Returns the number kept; 0: memory is
 * out. */
size_t lw_resample(const double *t, size_t count, const double *values, size_t width, size_t stride,
                   const double *tolerance, size_t *keys);

#endif
