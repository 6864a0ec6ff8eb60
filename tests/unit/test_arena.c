/* test_arena.c - arenas: alignment, zeroing, separate pieces, growth, a caller's allocator, memory that runs
 * out. */
#include "core/core.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

/* An allocator that counts, fills its memory with rubbish, is aligned to 16 bytes only and can run out. */
typedef struct {
    int live, taken, allowed;
} counter;

enum { OFFSET = 16 }; /* so that no block of it is aligned to 64 when malloc's is */

static void *counted_allocate(size_t size, void *context) {
    counter *count = context;
    if (count->taken == count->allowed) return NULL;
    unsigned char *memory = malloc(size + OFFSET);
    if (!memory) return NULL;
    memset(memory, 0xA5, size + OFFSET);
    count->taken++;
    count->live++;
    return memory + OFFSET;
}

static void counted_release(void *memory, void *context) {
    counter *count = context;
    count->live--;
    free((unsigned char *)memory - OFFSET);
}

static bool all_equal(const unsigned char *bytes, size_t size, unsigned char value) {
    for (size_t k = 0; k < size; k++) {
        if (bytes[k] != value) return false;
    }
    return true;
}

/* Pieces of growing, odd sizes: each aligned, zero, and untouched by writing into all others. */
static void check_pieces(const lw_allocator *allocator) {
    enum { PIECES = 400 };
    unsigned char *pieces[PIECES];
    lw_arena *arena = lw_arena_create(allocator);
    assert_non_null(arena);
    for (size_t k = 0; k < PIECES; k++) {
        size_t size = k * k % 977 + 1;
        pieces[k] = lw_arena_take(arena, size, 1);
        assert_non_null(pieces[k]);
        assert_int_equal((uintptr_t)pieces[k] % 64, 0);
        assert_true(all_equal(pieces[k], size, 0));
        memset(pieces[k], (int)(k % 255) + 1, size);
    }
    for (size_t k = 0; k < PIECES; k++) {
        assert_true(all_equal(pieces[k], k * k % 977 + 1, (unsigned char)(k % 255 + 1)));
    }
    lw_arena_destroy(arena);
}

static void pieces_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    check_pieces(NULL);
    counter count = {.allowed = -1};
    const lw_allocator allocator = {counted_allocate, counted_release, &count};
    check_pieces(&allocator);
    assert_int_equal(count.live, 0);
    assert_true(count.taken > 1);
}

/* 16 MiB in small pieces: chunks that double from 4 KiB need about log2(4096) = 12 of them, and one for the
 * arena. */
static void growth_is_geometric(void **state) {
    (void)state;
    counter count = {.allowed = -1};
    const lw_allocator allocator = {counted_allocate, counted_release, &count};
    lw_arena *arena = lw_arena_create(&allocator);
    assert_non_null(arena);
    for (int k = 0; k < 16384; k++) assert_non_null(LW_NEW(arena, double, 128));
    assert_in_range(count.taken, 2, 15);
    lw_arena_destroy(arena);
    assert_int_equal(count.live, 0);
}

static void large_and_empty_pieces_work(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    assert_non_null(arena);
    double *large = LW_NEW(arena, double, 3000000);
    assert_non_null(large);
    large[2999999] = 1;
    char *none = lw_arena_take(arena, 0, 8), *other = lw_arena_take(arena, 8, 0);
    assert_non_null(none);
    assert_non_null(other);
    assert_ptr_not_equal(none, other);
    lw_arena_destroy(arena);
    lw_arena_destroy(NULL);
}

static void absurd_sizes_are_refused(void **state) {
    (void)state;
    static const size_t sizes[][2] = {
        {SIZE_MAX, 2},
        {SIZE_MAX / 2, SIZE_MAX / 2},
        {SIZE_MAX, 1}, /* no overflow by itself, but with the chunk's overhead */
    };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        lw_arena *arena = lw_arena_create(NULL);
        assert_non_null(lw_arena_take(arena, 1, 1));
        assert_false(lw_arena_failed(arena));
        assert_null(lw_arena_take(arena, sizes[k][0], sizes[k][1]));
        assert_true(lw_arena_failed(arena));
        lw_arena_destroy(arena);
    }
}

static void memory_that_runs_out_is_reported(void **state) {
    (void)state;
    char long_text[1001]; /* no shorter than the pieces, so it finds no room either */
    memset(long_text, 'a', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    for (int allowed = 0; allowed < 4; allowed++) {
        counter count = {.allowed = allowed};
        const lw_allocator allocator = {counted_allocate, counted_release, &count};
        lw_arena *arena = lw_arena_create(&allocator);
        if (allowed == 0) {
            assert_null(arena);
            assert_true(lw_arena_failed(arena));
            assert_null(lw_arena_take(arena, 1, 1));
            continue;
        }
        void *piece;
        int pieces = 0;
        while ((piece = lw_arena_take(arena, 1000, 1))) pieces++;
        assert_int_equal(pieces > 0, allowed > 1);
        assert_null(lw_arena_text(arena, long_text));
        count.allowed = -1; /* memory has come back, but the arena remembers */
        assert_true(lw_arena_failed(arena));
        assert_null(lw_arena_take(arena, 1, 1));
        assert_null(lw_arena_text(arena, "a"));
        lw_arena_destroy(arena);
        assert_int_equal(count.live, 0);
    }
}

static void texts_are_copied(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    assert_non_null(arena);
    char text[] = "crank";
    char *copy = lw_arena_text(arena, text);
    text[0] = 'X';
    assert_string_equal(copy, "crank");
    assert_string_equal(lw_arena_text(arena, ""), "");
    assert_null(lw_arena_text(arena, NULL));
    double *numbers = LW_NEW(arena, double, 4); /* aligned again after an odd text */
    assert_int_equal((uintptr_t)numbers % 64, 0);
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_zeroed_and_apart), cmocka_unit_test(growth_is_geometric),
        cmocka_unit_test(large_and_empty_pieces_work),         cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(memory_that_runs_out_is_reported),    cmocka_unit_test(texts_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
