/* status.h - how Linkwork says what went wrong.
 *
 * The library never prints and never exits. Every call that can fail returns an lw_status; the calls that can
 * fail for a reason a person should read also fill an lw_error. Reading and compiling a model look for every
 * fault in one go and put them, one lw_error each, into an lw_report.
 */
#ifndef LINKWORK_STATUS_H
#define LINKWORK_STATUS_H

#include <linkwork/text.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lw_status {
    LW_OK = 0,
    LW_ERROR_MEMORY,      /* an allocation failed */
    LW_ERROR_ARGUMENT,    /* the call is wrong: unknown name, bad option */
    LW_ERROR_FILE,        /* a file could not be opened, read or written */
    LW_ERROR_MODEL,       /* the model is wrong; the report says where */
    LW_ERROR_UNSUPPORTED, /* the model is right, but the chosen method cannot do it */
    LW_ERROR_SINGULAR,    /* the motion is not determined in this state */
    LW_ERROR_INTEGRATION, /* the integrator gave up */
    LW_ERROR_STOPPED,     /* the caller asked to stop */
    LW_EVENT              /* no error: an event of the caller's has ended the call before its time */
} lw_status;

/* Where in a model file something stands; line and column count from 1, 0 means unknown. */
typedef struct lw_place {
    int line, column;
} lw_place;

typedef enum lw_severity { LW_SEVERITY_ERROR = 0, LW_SEVERITY_WARNING } lw_severity;

/* One fault: where, in which object, what is wrong with which value by which rule, and what to
 * do about it. */
typedef struct lw_error {
    lw_status status;
    lw_severity severity;
    char file[256];
    lw_place place;
    char object[112];  /* e.g.  joint "boom_pin"          */
    char message[512]; /* e.g.  axis [0, 0, 0] has no direction   */
    char remedy[256];  /* e.g.  give any non-zero vector, e.g. [0, 0, 1]  */
} lw_error;

/* "file:line:column: object: message; remedy" into text; returns the length needed, as snprintf does. */
LW_API int lw_error_format(const lw_error *error, char *text, size_t size);

/* A status in a few words. */
LW_API const char *lw_status_text(lw_status status);

/* An ordered list of faults. It stops taking errors at 1000 and then says so in a last one. */
typedef struct lw_report lw_report;

/* An empty report; NULL if memory is out. Its size counts errors and warnings, which are in the order in
 * which they were added; a fault that does not exist is NULL. */
LW_API lw_report *lw_report_create(void);
LW_API void lw_report_destroy(lw_report *report);
LW_API size_t lw_report_size(const lw_report *report);
LW_API size_t lw_report_errors(const lw_report *report); /* of these, how many are errors and not warnings */
LW_API const lw_error *lw_report_get(const lw_report *report, size_t index);
LW_API lw_status lw_report_add(lw_report *report, const lw_error *error);

/* Where the library takes memory from; NULL stands for malloc and free. The model and the data of a run each
 * take all they need when they are created, nothing afterwards. */
typedef struct lw_allocator {
    void *(*allocate)(size_t size, void *context); /* aligned as malloc does; NULL on failure */
    void (*release)(void *memory, void *context);
    void *context;
} lw_allocator;

#ifdef __cplusplus
}
#endif
#endif
