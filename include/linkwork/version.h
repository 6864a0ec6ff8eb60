/* version.h - the one place where Linkwork's version stands; the build reads it from here. */
#ifndef LINKWORK_VERSION_H
#define LINKWORK_VERSION_H

#include <linkwork/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers. Before 1.0 a new minor version may change the interface, a patch does not:
 * the shared library is liblinkwork.so.MAJOR.MINOR, and CMake's package is compatible within a minor
 * version. */
#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 2
#define LW_VERSION_PATCH 0
#define LW_VERSION "0.2.0"

/* The version of the library that is linked, to be compared with LW_VERSION. */
LW_API const char *lw_version(void);

#ifdef __cplusplus
}
#endif

#endif
