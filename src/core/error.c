/* error.c - filling, formatting and explaining errors.
 *
 *     file:line:column: object: message; remedy
 *
 * lw_fail_at and lw_complain take the place in the file; lw_error_format writes the line and leaves out
 * what is not known.
 */
#include "core/core.h"

#include <stdio.h>
#include <string.h>

/* --- texts that fit their field ------------------------------------------------------------------- */

/* Marks a text that did not fit by "..." and splits no UTF-8 character. size > 3. */
static void mark_truncation(char *text, size_t size) {
    size_t end = size - 4;
    while (end > 0 && lw_utf8_continues(text[end])) end--;
    memcpy(text + end, "...", 4);
}

static void print_field(char *field, size_t size, const char *format, va_list arguments) {
    int length = vsnprintf(field, size, format, arguments);
    if (length < 0) {
        field[0] = '\0';
    } else if ((size_t)length >= size) {
        mark_truncation(field, size);
    }
}

static void copy_field(char *field, size_t size, const char *text) {
    size_t length = text ? strlen(text) : 0;
    size_t kept = length < size ? length : size - 1;
    if (kept > 0) memcpy(field, text, kept);
    field[kept] = '\0';
    if (length >= size) mark_truncation(field, size);
}

static void fill(lw_error *error, lw_status status, const char *object, const char *remedy,
                 const char *format, va_list arguments) {
    memset(error, 0, sizeof *error);
    error->status = status;
    copy_field(error->object, sizeof error->object, object);
    copy_field(error->remedy, sizeof error->remedy, remedy);
    print_field(error->message, sizeof error->message, format, arguments);
}

lw_status lw_fail(lw_error *error, lw_status status, const char *object, const char *remedy,
                  const char *format, ...) {
    if (!error) return status;
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, object, remedy, format, arguments);
    va_end(arguments);
    return status;
}

lw_status lw_call_needs(const char *what, lw_error *error) {
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give all of these, with finite numbers",
                   "the call needs %s", what);
}

lw_status lw_out_of_memory(lw_error *error) {
    return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "out of memory");
}

lw_status lw_fail_at(lw_error *error, lw_status status, const char *file, lw_place place, const char *kind,
                     const char *name, const char *remedy, const char *format, ...) {
    if (!error) return status;
    char object[sizeof error->object] = "";
    if (name) snprintf(object, sizeof object, "%s \"%s\"", kind, name);
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, object, remedy, format, arguments);
    va_end(arguments);
    error->place = place;
    copy_field(error->file, sizeof error->file, file);
    return status;
}

void lw_complain(lw_report *report, lw_severity severity, const char *file, lw_place place,
                 const char *object, const char *remedy, const char *format, ...) {
    if (!report) return;
    lw_error error;
    va_list arguments;
    va_start(arguments, format);
    fill(&error, LW_ERROR_MODEL, object, remedy, format, arguments);
    va_end(arguments);
    error.severity = severity;
    error.place = place;
    copy_field(error.file, sizeof error.file, file);
    (void)lw_report_add(report, &error); /* a report that is full or out of memory says so itself */
}

/* --- formatting ----------------------------------------------------------------------------------- */

typedef struct {
    char *text;
    size_t size, length;
} output;

static void append(output *out, const char *part) {
    size_t used = out->length < out->size ? out->length : out->size;
    out->length += lw_escape(part, out->text + used, out->size - used);
}

static void append_number(output *out, int number) {
    char digits[16];
    snprintf(digits, sizeof digits, "%d", number);
    append(out, digits);
}

int lw_error_format(const lw_error *error, char *text, size_t size) {
    output out = {text, text ? size : 0, 0};
    if (!error) {
        if (out.size > 0) text[0] = '\0';
        return 0;
    }
    append(&out, error->file);
    if (error->place.line > 0) {
        if (error->file[0]) append(&out, ":");
        append_number(&out, error->place.line);
        if (error->place.column > 0) {
            append(&out, ":");
            append_number(&out, error->place.column);
        }
    }
    if (out.length > 0) append(&out, ": ");
    if (error->severity == LW_SEVERITY_WARNING) append(&out, "warning: ");
    if (error->object[0]) {
        append(&out, error->object);
        append(&out, ": ");
    }
    append(&out, error->message[0] ? error->message : lw_status_text(error->status));
    if (error->remedy[0]) {
        append(&out, "; ");
        append(&out, error->remedy);
    }

    if (size > 0) text[out.length < size ? out.length : size - 1] = '\0';
    return (int)out.length;
}

const char *lw_status_text(lw_status status) {
    switch (status) {
    case LW_OK:
        return "done";
    case LW_ERROR_MEMORY:
        return "out of memory";
    case LW_ERROR_ARGUMENT:
        return "wrong argument";
    case LW_ERROR_FILE:
        return "a file could not be opened, read or written";
    case LW_ERROR_MODEL:
        return "the model is wrong";
    case LW_ERROR_UNSUPPORTED:
        return "the chosen method cannot do this model";
    case LW_ERROR_SINGULAR:
        return "the motion is not determined in this state";
    case LW_ERROR_INTEGRATION:
        return "the integrator gave up";
    case LW_EVENT:
        return "an event has happened";
    case LW_ERROR_STOPPED:
        return "stopped by the caller";
    }
    return "unknown status";
}
