/* version.c - the version of the library, as its headers had it when it was built. */
#include <linkwork/version.h>

const char *lw_version(void) { return LW_VERSION; }
