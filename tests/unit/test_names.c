/* test_names.c - the sorted index of names against looking through all of them.
 */
#include "random_model.h"
#include "model/names.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

enum { MOST = 300 };

static void every_name_is_found(void **state) {
    (void)state;
    static char texts[MOST][8];
    for (int seed = 1; seed <= 100; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_arena *arena = lw_arena_create(NULL);
        lw_names names;
        int count = seed % 10 == 0 ? seed / 10 - 1 : random_below(&random, MOST + 1); /* 0, 1, 2 .. too */
        assert_int_equal(lw_names_create(arena, count, &names), LW_OK);
        for (int k = 0; k < count; k++) {
            snprintf(texts[k], sizeof texts[k], "n%d", random_below(&random, 2 * count)); /* some are twins */
            names.names[k] = texts[k];
        }
        lw_names_sort(&names);
        for (int k = 1; k < count; k++) { /* sorted; twins in the order of their indices */
            int order = strcmp(texts[names.order[k - 1]], texts[names.order[k]]);
            assert_true(order < 0 || (order == 0 && names.order[k - 1] < names.order[k]));
        }
        for (int k = -2; k < 2 * count + 2; k++) {
            char wanted[16];
            int first = -1;
            snprintf(wanted, sizeof wanted, "n%d", k);
            for (int i = count - 1; i >= 0; i--)
                if (strcmp(texts[i], wanted) == 0) first = i;
            assert_int_equal(lw_names_find(&names, wanted), first);
        }
        assert_int_equal(lw_names_find(&names, ""), -1);
        lw_arena_destroy(arena);
    }
}

static void the_closest_name_is_offered(void **state) {
    (void)state;
    lw_arena *arena = lw_arena_create(NULL);
    lw_names names;
    assert_int_equal(lw_names_create(arena, 3, &names), LW_OK);
    names.names[0] = "crank", names.names[1] = "coupler", names.names[2] = "rocker";
    lw_names_sort(&names);
    assert_string_equal(lw_closest("cuopler", names.names, (size_t)names.count), "coupler");
    assert_string_equal(lw_closest("Crank", names.names, (size_t)names.count), "crank");
    assert_null(lw_closest("gearbox", names.names, (size_t)names.count));
    lw_arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_found),
        cmocka_unit_test(the_closest_name_is_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
