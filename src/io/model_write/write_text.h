/* write_text.h - building the text of a model file: entries in braces, numbers, texts, names.
 *
 * A fault (a name or number that the format cannot hold, memory) is kept once; what is put after it does not
 * matter, so that callers check once, at the end.
 */
#ifndef LW_WRITE_TEXT_H
#define LW_WRITE_TEXT_H

#include "core/core.h"

#include <linkwork/spec.h>

/* A number that is written as the expression that it comes from (write_bound.h). */
typedef struct lw_bound_text {
    const double *field;
    const char *text;
    const char *kind, *name; /* of the object that has it */
    bool written;
} lw_bound_text;

typedef struct lw_writer {
    char *text;
    size_t length, capacity;
    size_t line; /* where the last line begins */

    int depth;   /* braces open, the entry's own included */
    bool fresh;  /* The innermost braces are still empty. */
    size_t item; /* where the entry's last key begins; the line if it may not be moved */
    size_t part; /* where the last key begins; the same */

    lw_bound_text *bound;
    size_t bound_count;

    lw_status status;
    lw_error *error;
    char object[sizeof((lw_error *)0)->object]; /* whose entry is being written */
} lw_writer;

void lw_write_fault(lw_writer *writer, lw_status status, const char *remedy, const char *format, ...)
    LW_PRINTF(4, 5);

void lw_put(lw_writer *writer, const char *text);

/* name: {key: value, ...}, on as many lines as it needs. Keys may be nested by lw_open and lw_close. */
void lw_put_entry(lw_writer *writer, const char *noun, const char *name);
void lw_end_entry(lw_writer *writer);
void lw_put_key(lw_writer *writer, const char *key);
/* A key that is the name of an object. */
void lw_put_name_key(lw_writer *writer, const char *what, const char *name);
void lw_open(lw_writer *writer);
void lw_close(lw_writer *writer);
/* Breaks the line if it has become too long with the part that begins there, behind a blank. */
void lw_fit(lw_writer *writer, size_t part);

void lw_put_number(lw_writer *writer, double value);
/* A number in its place in the spec, by which its expression is found if it has to be written. */
void lw_put_field(lw_writer *writer, const double *field);
void lw_put_numbers(lw_writer *writer, const double *values, int count);
/* A text, in quotes where YAML requires them; NULL is written as null. */
void lw_put_text(lw_writer *writer, const char *text);
/* A name by the rules of the reader; the kind of object, e.g. body, appears in the fault. */
void lw_put_name(lw_writer *writer, const char *what, const char *name);

#endif
