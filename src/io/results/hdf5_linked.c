/* hdf5_linked.c - HDF5 as it is linked: hdf5_library.h.
 */
#include "io/results/hdf5_library.h"

bool lw_hdf5_open(char *why, size_t size) {
    (void)why, (void)size;
    return true;
}
