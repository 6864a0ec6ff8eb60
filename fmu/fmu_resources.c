/* fmu_resources.c - where an FMU that has been unpacked keeps its model.
 *
 * FMI 2.0 gives the folder of resources as a URI (file:///tmp/x/resources, file:/tmp/x/resources, or with a
 * host; octets as %20), FMI 3.0 as a path that ends with a separator. Hosts that give none leave the place of
 * this library, binaries/PLATFORM/NAME.so, two folders below the one that holds resources.
 */
#define _GNU_SOURCE /* dladdr */
#include "fmu_resources.h"

#include "fmu/fmu_content.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

enum { PATH = 4096 };

static int hex(char c) { return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10; }

/* C:/..., on Windows: file:///C:/x, and file://C:/x of hosts that forget a slash. */
static bool has_drive(const char *text) {
#ifdef _WIN32
    return isalpha((unsigned char)text[0]) && text[1] == ':';
#else
    (void)text;
    return false;
#endif
}

/* The path in a file URI; a text that is none is taken as a path. */
static void path_of_uri(const char *uri, char *path, size_t size) {
    size_t used = 0;
    if (strncmp(uri, "file:", 5) == 0) {
        uri += 5;
        if (strncmp(uri, "//", 2) == 0) { /* a host, mostly empty, up to the next slash */
            uri += 2;
            if (!has_drive(uri)) uri += strcspn(uri, "/");
        }
        if (uri[0] == '/' && has_drive(uri + 1)) uri++;
    }
    for (; *uri && used + 1 < size; uri++) {
        const bool coded =
            uri[0] == '%' && isxdigit((unsigned char)uri[1]) && isxdigit((unsigned char)uri[2]);
        path[used++] = coded ? (char)(16 * hex(uri[1]) + hex(uri[2])) : *uri;
        if (coded) uri += 2;
    }
    path[used] = '\0';
}

/* The folder of resources beside the folder of binaries in which this library is. */
static bool beside_library(char *path, size_t size) {
    char own[PATH] = "";
#ifdef _WIN32
    WCHAR wide[PATH];
    HMODULE module = NULL;
    LPCWSTR here;
    void *(*function)(const char *, bool, size_t *, char *, size_t) = fmu_resources_read;
    memcpy(&here, &function, sizeof here);
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            here, &module) ||
        GetModuleFileNameW(module, wide, PATH) == 0 ||
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, own, sizeof own, NULL, NULL) == 0)
        return false;
    for (char *c = own; *c; c++)
        if (*c == '\\') *c = '/';
#else
    Dl_info info;
    void *address;
    void *(*function)(const char *, bool, size_t *, char *, size_t) = fmu_resources_read;
    memcpy(&address, &function, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname) return false;
    snprintf(own, sizeof own, "%s", info.dli_fname);
#endif
    for (int up = 0; up < 3; up++) { /* the name, the platform, binaries */
        char *slash = strrchr(own, '/');
        if (!slash) return false;
        *slash = '\0';
    }
    return (size_t)snprintf(path, size, "%s/resources", own) < size;
}

/* Both standards give UTF-8, which the C library of Windows takes for the code page of the machine. */
static FILE *open_file(const char *path) {
#ifdef _WIN32
    WCHAR wide[PATH];
    return MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, PATH) ? _wfopen(wide, L"rb") : NULL;
#else
    return fopen(path, "rb");
#endif
}

static void *read_whole(const char *path, size_t *length) {
    FILE *file = open_file(path);
    unsigned char *bytes = NULL;
    size_t room = 0, used = 0;
    if (!file) return NULL;
    for (;;) {
        if (used == room) {
            room = room ? 2 * room : 65536;
            unsigned char *more = realloc(bytes, room);
            if (!more) break;
            bytes = more;
        }
        const size_t got = fread(bytes + used, 1, room - used, file);
        used += got;
        if (got == 0) break;
    }
    const bool whole = bytes && used < room && !ferror(file);
    fclose(file);
    if (!whole) free(bytes);
    *length = used;
    return whole ? bytes : NULL;
}

void *fmu_resources_read(const char *folder, bool uri, size_t *length, char *place, size_t size) {
    char path[PATH], file[PATH + 64];
    *length = 0;
    if (!folder || !folder[0]) {
        if (!beside_library(path, sizeof path)) return NULL;
    } else if (uri)
        path_of_uri(folder, path, sizeof path);
    else
        snprintf(path, sizeof path, "%s", folder);
    const size_t end = strlen(path);
    const bool separated = end > 0 && (path[end - 1] == '/' || path[end - 1] == '\\');
    snprintf(file, sizeof file, "%s%s%s", path, separated ? "" : "/", LW_FMU_CONTENT_NAME);
    if (place) snprintf(place, size, "%s", file);
    return read_whole(file, length);
}
