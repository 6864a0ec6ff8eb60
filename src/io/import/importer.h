/* importer.h - one import: where it comes from, what it found, the spec that it fills.
 *
 * Readers of formats take what they find wrong to lw_import_fault and go on, so that one import finds every
 * fault; a call that returns false, or NULL where a value was wanted, has reported why.
 */
#ifndef LW_IMPORTER_H
#define LW_IMPORTER_H

#include "core/core.h"
#include "io/model_read/reader.h"

#include <linkwork/import.h>

enum { LW_IMPORT_MAX_BYTES = 64 << 20 };

/* A warning that may come once for every joint or mesh: told once, with how many there are. */
typedef struct lw_import_repeat {
    const char *kind;
    lw_error first;
    int count;
} lw_import_repeat;

typedef struct lw_importer {
    const char *file; /* for messages; its folder is where relative paths begin */
    bool has_folder;  /* the text is from a file */
    lw_import_options options;
    lw_report *report; /* may be NULL */
    lw_arena *arena;   /* of what lives as long as the import */
    lw_spec *spec;
    const char *text; /* the whole file, with a NUL behind it */
    size_t length;
    size_t faults;
    bool drawing; /* what is read is only drawn: what is wrong there is a warning, and refuses no robot */
    bool out_of_memory;
    lw_import_repeat repeats[16];
    int repeat_count;
    lw_name_table bodies; /* names that are taken: of bodies and frames, */
    lw_name_table joints, forces, constraints;
    lw_name_table words; /* and of parameters, inputs, signals, states and tables */
} lw_importer;

/* Faults and warnings, at a place in the file. object, as  link "arm", and remedy may be NULL. */
void lw_import_fault(lw_importer *importer, lw_place place, const char *object, const char *remedy,
                     const char *format, ...) LW_PRINTF(5, 6);
void lw_import_warning(lw_importer *importer, lw_place place, const char *object, const char *remedy,
                       const char *format, ...) LW_PRINTF(5, 6);
/* A warning of a kind that is told once: the first, and how many others there are. kind is a constant text,
 * one for each such warning. */
void lw_import_warning_once(lw_importer *importer, const char *kind, lw_place place, const char *object,
                            const char *remedy, const char *format, ...) LW_PRINTF(6, 7);
/* Counts something that is left out, or that is not as the file says it. */
void lw_import_note_of(lw_importer *importer, lw_place place, const char *kind, const char *meaning);
/* Status of a call: memory that is out ends the import. */
void lw_import_check(lw_importer *importer, lw_status status);
/* A text of the arena, as printf makes it; "" if memory is out. */
const char *lw_import_print(lw_importer *importer, const char *format, ...) LW_PRINTF(2, 3);

/* Reads a file that this one names, path relative to its folder; it must lie there unless any path is
 * allowed. The text has a NUL behind it and lives as long as the import; NULL: reported at the place. shown
 * receives the path for messages, may be NULL. */
const char *lw_import_file(lw_importer *importer, lw_place place, const char *object, const char *path,
                           size_t *length, const char **shown);

/* The readers of formats. Each fills importer->spec, which it creates. */
void lw_import_urdf(lw_importer *importer);
void lw_import_sdf(lw_importer *importer);
void lw_import_mjcf(lw_importer *importer);
void lw_import_simscape(lw_importer *importer);

#endif
