/* fmu_content.h - what the exporter puts into an FMU for the runtime: one file of bytes.
 */
#ifndef LW_FMU_CONTENT_H
#define LW_FMU_CONTENT_H

#include <linkwork/spec.h>

#include <stddef.h>

#define LW_FMU_CONTENT_NAME "model.linkwork"

enum { LW_FMU_TOKEN = 64 };

typedef struct lw_fmu_content {
    lw_spec *spec;   /* The method that the export has chosen is entered in its run. */
    char *reactions; /* joints whose reactions are variables (fmu_variables.h) */
    bool exchange;   /* The FMU has Model Exchange, */
    int indicators;  /* with so many event indicators. */
} lw_fmu_content;

/* The content as bytes, given back by free; token identifies them. */
lw_status lw_fmu_content_write(const lw_fmu_content *content, void **bytes, size_t *size,
                               char token[LW_FMU_TOKEN], lw_error *error);
/* And back. LW_ERROR_FILE: these are no such bytes, they are damaged, or of another version. */
lw_status lw_fmu_content_read(const void *bytes, size_t size, lw_fmu_content *content, lw_error *error);
void lw_fmu_content_clear(lw_fmu_content *content);
/* The token of bytes. */
void lw_fmu_content_token(const void *bytes, size_t size, char token[LW_FMU_TOKEN]);

#endif
