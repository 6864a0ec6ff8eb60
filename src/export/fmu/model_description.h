/* model_description.h - modelDescription.xml of an FMU.
 */
#ifndef LW_MODEL_DESCRIPTION_H
#define LW_MODEL_DESCRIPTION_H

#include "fmu/fmu_instance.h"
#include <linkwork/fmu.h>

typedef struct lw_description {
    int version;
    bool exchange, co_simulation;
    const char *identifier, *token;
    const lw_spec *spec; /* as read, with what parameters and inputs measure */
    const lw_model *model;
    lw_fmu *fmu; /* an instance, for the start values */
} lw_description;

/* The file as text, given back by free; NULL if memory is out, or a start value is not a finite number: then
 * error has its name. */
char *lw_description_write(const lw_description *description, size_t *length, lw_error *error);

#endif
