/* fmu_resources.h - where an FMU that has been unpacked keeps its model.
 */
#ifndef LINKWORK_FMU_RESOURCES_H
#define LINKWORK_FMU_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the content (fmu_content.h) from the folder of resources: a path, or with `uri` a file URI. NULL or
 * "": the host has not told it, and the folder is looked for beside the folder of this library. NULL if the
 * file cannot be read; place (may be NULL) receives the path that was tried. The bytes are given back by
 * free. */
void *fmu_resources_read(const char *folder, bool uri, size_t *length, char *place, size_t size);

#endif
