/* fmu.h - mechanisms as FMUs: Functional Mock-up Interface 2.0 and 3.0 (docs/fmu.md).
 */
#ifndef LINKWORK_FMU_H
#define LINKWORK_FMU_H

#include <linkwork/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_fmu_options {
    int version;                        /* 2 or 3 */
    bool model_exchange, co_simulation; /* which kinds the FMU has: one or both */
    /* Joints whose reactions become outputs, separated by commas; "*": all; NULL: none. */
    const char *reactions;
    /* The runtime that the FMU carries, fmu-linux64.so, with fmu-win64.dll if that lies in the same folder;
     * NULL: looked for beside the program and in ../lib/linkwork from there. */
    const char *runtime;
} lw_fmu_options;

/* FMI 2.0, both kinds, no reactions. */
LW_API void lw_fmu_defaults(lw_fmu_options *options);
/* Writes a spec as an FMU. LW_ERROR_MODEL: it does not compile, or cannot be assembled. LW_ERROR_UNSUPPORTED:
 * a kind that was asked for is not possible; the error says why. LW_ERROR_FILE: the runtime is not found, or
 * the file cannot be written. options may be NULL. */
LW_API lw_status lw_export_fmu(const lw_spec *spec, const char *path, const lw_fmu_options *options,
                               lw_error *error);

/* The platforms that an FMU with these options will have libraries for: "64-bit Linux", "64-bit Linux and
 * Windows"; "": the runtime is not found. options may be NULL. */
LW_API const char *lw_fmu_platforms(const lw_fmu_options *options);

/* Is a file an FMU that importers will take? From any program, of FMI 2.0 or 3.0: its archive, the rules of
 * its description, and, if it has a library for 64-bit Linux, the calls of an importer in a child process of
 * at most a minute. The library is run with the rights of the caller. Faults are added to the report; LW_OK:
 * there are none. */
LW_API lw_status lw_fmu_check(const char *path, lw_report *report);

#ifdef __cplusplus
}
#endif
#endif
