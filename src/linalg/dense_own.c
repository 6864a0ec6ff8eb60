/* dense_own.c - the dense routines of our own, for every processor (dense_routines.h).
 */
#include "linalg/dense_routines.h"

#define PACK 2
#define OWN_ROUTINES lw_dense_own
#include "linalg/dense_own_kernels.h"
