/* arena.c - memory that is handed out piece by piece and given back at once.
 *
 * Chunks are taken from the allocator, each at least twice as large as the one before (up to LARGEST_CHUNK,
 * unless one piece needs more), and pieces are taken from their front. Taking is O(size) for the zeroing; n
 * bytes cost O(log n) allocations. The allocator aligns as malloc does, so a chunk is ALIGNMENT - 1 bytes
 * longer than what it offers.
 *
 * An arena remembers failure: once memory was out every further piece is NULL, and so is every piece of an
 * arena that could not be created. A function that needs many pieces takes them all and then asks once.
 */
#include "core/core.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, FIRST_CHUNK = 4096, LARGEST_CHUNK = 64 * 1024 * 1024 };

typedef struct chunk {
    struct chunk *previous;
    unsigned char *free, *end;
} chunk;

struct lw_arena {
    lw_allocator allocator;
    chunk *last;
    size_t next_size;
    bool failed;
};

static void *malloc_for_arena(size_t size, void *context) {
    (void)context;
    return malloc(size);
}

static void free_for_arena(void *memory, void *context) {
    (void)context;
    free(memory);
}

lw_arena *lw_arena_create(const lw_allocator *allocator) {
    const lw_allocator standard = {malloc_for_arena, free_for_arena, NULL};
    if (!allocator || !allocator->allocate) allocator = &standard;
    lw_arena *arena = allocator->allocate(sizeof *arena, allocator->context);
    if (!arena) return NULL;
    arena->allocator = *allocator;
    arena->last = NULL;
    arena->next_size = FIRST_CHUNK;
    arena->failed = false;
    return arena;
}

void lw_arena_destroy(lw_arena *arena) {
    if (!arena) return;
    lw_allocator allocator = arena->allocator;
    if (!allocator.release) return; /* The allocator frees all of it. */
    for (chunk *piece = arena->last; piece;) {
        chunk *previous = piece->previous;
        allocator.release(piece, allocator.context);
        piece = previous;
    }
    allocator.release(arena, allocator.context);
}

static bool add_chunk(lw_arena *arena, size_t need) {
    size_t overhead = sizeof(chunk) + ALIGNMENT - 1;
    size_t size = arena->next_size;
    if (size < need) size = need;
    if (size > SIZE_MAX - overhead) return false;
    chunk *piece = arena->allocator.allocate(size + overhead, arena->allocator.context);
    if (!piece) return false;
    piece->previous = arena->last;
    piece->free = (unsigned char *)(piece + 1);
    piece->end = (unsigned char *)piece + size + overhead;
    arena->last = piece;
    if (arena->next_size < LARGEST_CHUNK) arena->next_size *= 2;
    return true;
}

/* bytes from the last chunk, or NULL if it has not enough; alignment is a power of two. */
static void *take_front(lw_arena *arena, size_t bytes, size_t alignment) {
    chunk *piece = arena->last;
    if (!piece) return NULL;
    size_t gap = (size_t)(-(uintptr_t)piece->free & (alignment - 1));
    size_t left = (size_t)(piece->end - piece->free);
    if (gap > left || bytes > left - gap) return NULL;
    void *memory = piece->free + gap;
    piece->free += gap + bytes;
    return memory;
}

bool lw_arena_failed(const lw_arena *arena) { return !arena || arena->failed; }

static void *take(lw_arena *arena, size_t bytes, size_t alignment) {
    if (lw_arena_failed(arena)) return NULL;
    void *memory = take_front(arena, bytes, alignment);
    if (!memory && add_chunk(arena, bytes)) memory = take_front(arena, bytes, alignment);
    arena->failed = !memory;
    return memory;
}

void *lw_arena_take(lw_arena *arena, size_t count, size_t size) {
    size_t bytes = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size; /* SIZE_MAX never fits */
    if (bytes == 0) bytes = 1; /* NULL means that memory is out, so nothing is a piece, too */
    void *memory = take(arena, bytes, ALIGNMENT);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

char *lw_arena_text(lw_arena *arena, const char *text) {
    if (!text) return NULL;
    size_t size = strlen(text) + 1;
    char *copy = take(arena, size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

void lw_list_append(lw_list *list, int value, lw_arena *arena) {
    if (list->count == list->room) {
        int room = list->room ? 2 * list->room : 16;
        int *item = LW_NEW(arena, int, room);
        if (!item) return;
        if (list->count) memcpy(item, list->item, (size_t)list->count * sizeof *item);
        list->item = item, list->room = room;
    }
    list->item[list->count++] = value;
}
