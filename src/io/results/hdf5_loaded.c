/* hdf5_loaded.c - HDF5 loaded when it is needed: hdf5_library.h.
 *
 * LW_HDF5 is the name under which the dynamic linker knows the HDF5 whose headers were compiled against, with
 * the version of its binary interface, so that no other one is ever taken.
 */
#define _GNU_SOURCE /* RTLD_NODELETE */
#define LW_HDF5_TABLE_ONLY

#include "io/results/hdf5_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

lw_hdf5_library lw_hdf5;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char fault[200]; /* why it could not be loaded; "" if it was */

static void load(void) {
    void *handle = dlopen(LW_HDF5, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        (void)snprintf(fault, sizeof fault, "%s", reason ? reason : LW_HDF5);
        return;
    }
    /* ISO C does not convert pointers to objects into pointers to functions; their bytes are the same. */
#define TAKE(name)                                                                                           \
    {                                                                                                        \
        void *symbol = dlsym(handle, #name);                                                                 \
        if (!symbol) (void)snprintf(fault, sizeof fault, "%s has no " #name, LW_HDF5);                       \
        memcpy(&lw_hdf5.name, &symbol, sizeof symbol);                                                       \
    }
#define FUNCTION TAKE
#define NUMBER TAKE
#include "io/results/hdf5_names.inc"
#undef FUNCTION
#undef NUMBER
#undef TAKE
}

bool lw_hdf5_open(char *why, size_t size) {
    (void)pthread_once(&once, load);
    (void)snprintf(why, size, "%s", fault);
    return !fault[0];
}
