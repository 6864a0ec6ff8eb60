/* write_values.h - keys with their values in a model file, and the bodies, which have most of them.
 */
#ifndef LW_WRITE_VALUES_H
#define LW_WRITE_VALUES_H

#include "io/model_write/write_text.h"

#include <linkwork/spec.h>

/* Are all values, at most 8, +0, the reader's default? */
bool lw_nothing(const double *values, size_t count);
/* The same, and none of them is written as an expression. */
bool lw_left_out(const lw_writer *w, const double *values, size_t count);
void lw_write_number(lw_writer *w, const char *key, double value);
void lw_write_field(lw_writer *w, const char *key, const double *field); /* as lw_put_field */
void lw_write_numbers(lw_writer *w, const char *key, const double *values, int count);
void lw_write_list(lw_writer *w, const char *key, const double (*vectors)[3], int count);
void lw_write_word(lw_writer *w, const char *key, const char *word);
void lw_write_text(lw_writer *w, const char *key, const char *text);
/* A quaternion of unit length, unless it is zero, and as key rotation. */
void lw_unit_rotation(const double q[4], double unit[4]);
void lw_write_rotation(lw_writer *w, const double q[4]);

/* May a mesh be written as its file, because reading that gives the same? */
typedef bool lw_mesh_has_file(const lw_mesh_spec *mesh, const void *context);
void lw_write_body(lw_writer *w, const lw_body_spec *body, lw_mesh_has_file *has_file, const void *context);

/* The surface, the shape and the law of a contact (write_contact.c). */
void lw_write_contact(lw_writer *w, const lw_contact_spec *contact);

#endif
