/* xml_loaded.c - libxml2 loaded when it is needed: xml_library.h.
 *
 * LW_LIBXML2 is the name under which the dynamic linker knows the libxml2 whose headers were compiled
 * against, with the version of its binary interface, so that no other one is ever taken.
 */
#define _GNU_SOURCE /* RTLD_NODELETE */

#include "io/import/xml_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool lw_xml_library_open(lw_xml_library *library, char *why, size_t size) {
    void *handle = dlopen(LW_LIBXML2, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        (void)snprintf(why, size, "%s", reason ? reason : LW_LIBXML2);
        return false;
    }
    /* ISO C does not convert pointers to objects into pointers to functions; their bytes are the same. */
#define TAKE(function, name)                                                                                 \
    {                                                                                                        \
        void *symbol = dlsym(handle, #function);                                                             \
        if (!symbol) {                                                                                       \
            (void)snprintf(why, size, "%s has no " #function, LW_LIBXML2);                                   \
            (void)dlclose(handle);                                                                           \
            return false;                                                                                    \
        }                                                                                                    \
        memcpy(&library->name, &symbol, sizeof symbol);                                                      \
    }
    LW_XML_FUNCTIONS(TAKE)
#undef TAKE
    library->handle = handle;
    return true;
}

void lw_xml_library_close(lw_xml_library *library) { (void)dlclose(library->handle); }
