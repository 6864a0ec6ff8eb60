/* fmu_smoke.h - does an FMU run? The sequence of calls of an importer, in a child process.
 */
#ifndef LW_FMU_SMOKE_H
#define LW_FMU_SMOKE_H

#include "export/fmu/zip_reader.h"

typedef struct lw_smoke_plan {
    int version;
    bool exchange, co_simulation;
    const char *identifier, *token;
    double start, stop;
    int states, indicators; /* of Model Exchange; indicators by the description of FMI 2.0 */
    unsigned *references;   /* outputs that are real numbers */
    size_t count;
} lw_smoke_plan;

/* Unpacks the archive into a folder of its own and runs the sequence there, for at most a minute; what goes
 * wrong is reported. path: of the archive, for messages. */
void lw_fmu_smoke(const lw_unzip *zip, const char *path, const lw_smoke_plan *plan, lw_report *report);

#endif
