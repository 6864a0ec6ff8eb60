/* dense_own_avx2.c - the dense routines of our own, four numbers at a time with AVX2 (dense_routines.h).
 */
#include "linalg/dense_routines.h"

#define PACK 4
#define OWN_ROUTINES lw_dense_own_avx2
#include "linalg/dense_own_kernels.h"
