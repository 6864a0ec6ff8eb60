/* import.h - mechanisms in the formats of others: URDF, SDF, MJCF and CAD's (docs/import.md).
 *
 * An import reads such a file into a spec, as lw_read_model does with a model file. What is wrong goes into
 * the report, errors and warnings, with line and column. What the format says and a spec does not hold is
 * listed once in notes, by kind and count, with what it means for the motion.
 */
#ifndef LINKWORK_IMPORT_H
#define LINKWORK_IMPORT_H

#include <linkwork/spec.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_import_format {
    LW_FORMAT_UNKNOWN = 0,
    LW_FORMAT_MODEL, /* Linkwork's own, docs/model-format.md, or a results file */
    LW_FORMAT_URDF,
    LW_FORMAT_SDF,
    LW_FORMAT_MJCF,
    LW_FORMAT_XACRO,    /* URDF that the program xacro has not expanded yet; it is refused */
    LW_FORMAT_SIMSCAPE, /* XML of Simscape Multibody, as plug-ins of CAD programs write it */
    LW_FORMATS
} lw_import_format;

/* What was left out, or is not as the file says it: how often, and what that means. */
typedef struct lw_import_note {
    char kind[64];     /* e.g.  collision shapes  */
    char meaning[256]; /* e.g.  bodies pass through each other  */
    int count;
    lw_place place; /* of the first */
} lw_import_note;

/* A list of them, in the order in which the kinds were met first. */
typedef struct lw_import_notes lw_import_notes;
/* An empty list, NULL if memory is out; its end; and how many notes there are. */
LW_API lw_import_notes *lw_import_notes_create(void);
LW_API void lw_import_notes_destroy(lw_import_notes *notes);
LW_API size_t lw_import_notes_size(const lw_import_notes *notes);
/* NULL if there is none of this index. */
LW_API const lw_import_note *lw_import_notes_get(const lw_import_notes *notes, size_t index);

/* Whether the root link of a URDF stands on the ground or is free; for other formats fixed. */
typedef enum lw_import_base { LW_BASE_FIXED = 0, LW_BASE_FREE } lw_import_base;

/* What becomes of a weld that closes a loop: */
typedef enum lw_import_loops {
    LW_LOOPS_AS_WRITTEN = 0, /* it is kept, */
    LW_LOOPS_JOINTS          /* or makes one body of its two, and the joint beside it closes the loop */
} lw_import_loops;

typedef struct lw_import_options {
    lw_import_base base;
    bool keep_fixed; /* links on fixed joints stay bodies of their own, on welds that are not merged */
    lw_import_loops loops;
    const char *key;            /* MJCF: the keyframe to begin with; NULL: none */
    const char *const *folders; /* where to look for packages and meshes, besides the usual places */
    size_t folder_count;
    bool any_path;          /* files may be included from outside the file's folder */
    lw_import_notes *notes; /* receives what was left out; NULL: not wanted */
} lw_import_options;
/* Fixed base, loops as written, nothing else. */
LW_API void lw_import_defaults(lw_import_options *options);

/* Reads a file of any of these formats, told by its content; options may be NULL. Every fault goes into
 * report; with errors *spec is NULL. A model file of Linkwork's own is read, too. */
LW_API lw_status lw_import(const char *path, const lw_import_options *options, lw_report *report,
                           lw_spec **spec);
/* The same from memory; name stands for the file in messages. Files that the text refers to are not read. */
LW_API lw_status lw_import_text(const char *text, size_t length, const char *name,
                                const lw_import_options *options, lw_report *report, lw_spec **spec);

/* The format of a text, and of a file (LW_FORMAT_UNKNOWN also if it cannot be read). */
LW_API lw_import_format lw_import_format_of_text(const char *text, size_t length);
LW_API lw_import_format lw_import_format_of(const char *path);
LW_API const char *lw_import_format_name(lw_import_format format); /* "URDF", ... */

#ifdef __cplusplus
}
#endif
#endif
