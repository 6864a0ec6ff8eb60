/* text.h - texts of others: what a byte sequence says, and how it is shown without harm.
 *
 * Names in a model and words of a call may hold anything. These are the functions by which the library itself
 * reads and shows them, for programs that do the same.
 */
#ifndef LINKWORK_TEXT_H
#define LINKWORK_TEXT_H

#include <linkwork/api.h>

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The UTF-8 character at text[0 .. left), left > 0: returns its length in bytes and sets *code to its code
 * point, or returns 0 if no character stands there (Unicode 15, table 3-7: neither overlong forms nor
 * surrogates are). A text that ends with NUL needs no bound: pass 4. */
LW_API size_t lw_utf8(const char *text, size_t left, unsigned *code);

/* For a terminal: control characters are spelt out (\n, \x1B), so that they do nothing. Returns the length
 * needed, as snprintf does. lw_error_format does this already. */
LW_API size_t lw_escape(const char *text, char *out, size_t size);

/* For XML and HTML: & < > " as entities, and ? for what XML does not allow. After `most` characters an
 * ellipsis ends it. */
LW_API void lw_put_xml(FILE *file, const char *text, int most);

/* The name among names[0 .. count) that word was probably meant to be, for "did you mean"; NULL if none is
 * close. Capitals do not count; names that are NULL are passed over. */
LW_API const char *lw_closest(const char *word, const char *const *names, size_t count);

#ifdef __cplusplus
}
#endif

#endif
