/* allocations.h - counts the allocations of a test program.
 *
 * malloc and its relatives are replaced by ones that count and then do what glibc does. Sanitizers bring their own; with
 * them, or without glibc, nothing is counted (counting is false). To be included by one file of a program.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static atomic_long allocations; /* of malloc, calloc, realloc, free and the aligned ones, so far */

#if defined(__GLIBC__) && !defined(SANITIZED)
static const bool counting = true;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}
void free(void *memory) {
    allocations++;
    __libc_free(memory);
}
#else
static const bool counting = false;
#endif

#endif
