/* core.h - errors, reports, texts and arenas, for every layer.
 */
#ifndef LW_CORE_H
#define LW_CORE_H

#include <linkwork/status.h>
#include <stdarg.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define LW_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define LW_PRINTF(format_index, first)
#endif

/* Fills error (which may be NULL) and returns status. object and remedy may be NULL. */
lw_status lw_fail(lw_error *error, lw_status status, const char *object, const char *remedy,
                  const char *format, ...) LW_PRINTF(5, 6);
/* LW_ERROR_ARGUMENT for a call whose arguments are NULL, out of range or not finite; what: all that it
 * needs. */
lw_status lw_call_needs(const char *what, lw_error *error);
/* LW_ERROR_MEMORY with its sentence. */
lw_status lw_out_of_memory(lw_error *error);

/* The same with a place in a file, and the object as kind and name: joint "pin"; both NULL if there is
 * none. */
lw_status lw_fail_at(lw_error *error, lw_status status, const char *file, lw_place place, const char *kind,
                     const char *name, const char *remedy, const char *format, ...) LW_PRINTF(8, 9);

/* The same into a report (which may be NULL), with a place in a file. */
void lw_complain(lw_report *report, lw_severity severity, const char *file, lw_place place,
                 const char *object, const char *remedy, const char *format, ...) LW_PRINTF(7, 8);

/* Does this byte continue a UTF-8 character that began before it? */
static inline bool lw_utf8_continues(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* lw_closest for names that are not in one array: try each; the first of several equally close ones wins.
 * Afterwards name is the closest, or NULL. */
typedef struct lw_closest_search {
    const char *word, *name;
    int length, edits;
} lw_closest_search;
lw_closest_search lw_closest_to(const char *word);
void lw_closest_try(lw_closest_search *search, const char *name);
/* Writes `did you mean "NAME"?` and returns true; if name is NULL, leaves remedy as it is and returns
 * false. */
bool lw_did_you_mean(const char *name, char *remedy, size_t size);

/* An arena hands out zeroed memory, aligned to 64 bytes, and gives all of it back at once. It remembers
 * failure: after one every piece is NULL, so that one question at the end, lw_arena_failed, answers for
 * all pieces. Nothing may be written to them before. An arena that is NULL has failed. */
typedef struct lw_arena lw_arena;
lw_arena *lw_arena_create(const lw_allocator *allocator);
void lw_arena_destroy(lw_arena *arena);
bool lw_arena_failed(const lw_arena *arena);
void *lw_arena_take(lw_arena *arena, size_t count, size_t size); /* NULL when memory is out */
char *lw_arena_text(lw_arena *arena, const char *text);          /* a copy; NULL for NULL or out of memory */

/* LW_NEW(arena, double, n): n zeroed doubles. */
#define LW_NEW(arena, type, count) ((type *)lw_arena_take((arena), (size_t)(count), sizeof(type)))

/* A list of numbers that grows, in the memory of an arena. Where that has failed append does nothing. */
typedef struct lw_list {
    int *item, count, room;
} lw_list;
void lw_list_append(lw_list *list, int value, lw_arena *arena);

#endif
