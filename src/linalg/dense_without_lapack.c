/* dense_without_lapack.c - linkwork-core is linked without LAPACK: the routines of our own serve all sizes.
 */
#include "linalg/dense_routines.h"

#include <stddef.h>

const lw_dense_routines *lw_dense_lapack(void) { return NULL; }
