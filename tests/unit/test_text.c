/* test_text.c - texts of others are shown without what a terminal would obey.
 */
#include "core/core.h"
#include "random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void texts(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"left arm, 20 \xC2\xB5m \xE2\x88\x82 \xF0\x9F\x94\xA7 C:\\new",
         "left arm, 20 \xC2\xB5m \xE2\x88\x82 \xF0\x9F\x94\xA7 C:\\new"},
        {"\x1B[31mRED\x1B]0;title\a", "\\x1B[31mRED\\x1B]0;title\\x07"},
        {"a\nb\r\n\tc\x7F", "a\\nb\\r\\n\\tc\\x7F"},
        {"\xC2\x9B"
         "2J",
         "\\u009B2J"},
        {"abc\xE2\x80\xAEtxt", "abc\\u202Etxt"},
        {"\xFF\xC3(\xE2\x80", "\\xFF\\xC3(\\xE2\\x80"},
        {"\xC0\x9B\xED\xA0\x80", "\\xC0\\x9B\\xED\\xA0\\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[128];
        size_t length = lw_escape(cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].shown);
        assert_int_equal(length, strlen(cases[i].shown));
        assert_int_equal(lw_escape(cases[i].text, NULL, 0), length);
    }
}

/* Whatever the bytes and the room: no control character comes out, nothing is written behind the end, and what comes out
 * begins what would come out with more room. */
static void any_bytes_in_any_room(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        lw_random random = random_seed(seed);
        char text[24] = "", whole[256], out[64];
        int length = random_below(&random, 20);
        for (int k = 0; k < length; k++) text[k] = (char)(1 + random_below(&random, 255));
        size_t needed = lw_escape(text, whole, sizeof whole), room = (size_t)random_below(&random, 40);
        assert_int_equal(needed, strlen(whole));
        for (size_t k = 0; k < needed; k++) assert_true((unsigned char)whole[k] >= 0x20 && whole[k] != 0x7F);
        memset(out, '#', sizeof out);
        assert_int_equal(lw_escape(text, out, room), needed);
        assert_true(out[room] == '#');
        if (room > 0) assert_true(strlen(out) < room && strncmp(out, whole, strlen(out)) == 0);
    }
}

/* Every code point but surrogates is read from its encoding, and from no part of it. */
static void code_points(void **state) {
    (void)state;
    for (unsigned wanted = 0; wanted <= 0x10FFFF; wanted++) {
        char text[5] = {0};
        size_t length = wanted < 0x80 ? 1 : wanted < 0x800 ? 2 : wanted < 0x10000 ? 3 : 4;
        static const unsigned lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
        for (size_t k = length; k-- > 1;) text[k] = (char)(0x80 | (wanted >> 6 * (length - 1 - k) & 0x3F));
        text[0] = (char)(lead[length] | wanted >> 6 * (length - 1));
        unsigned code = 0;
        bool surrogate = wanted >= 0xD800 && wanted <= 0xDFFF;
        assert_int_equal(lw_utf8(text, 4, &code), surrogate ? 0 : length);
        if (!surrogate) assert_int_equal(code, wanted);
        if (length == 1) continue;
        assert_int_equal(lw_utf8(text, length - 1, &code), 0);
        assert_int_equal(lw_utf8(text + 1, 4, &code), 0);
        text[length - 1] = 0;
        assert_int_equal(lw_utf8(text, 4, &code), 0);
    }
    unsigned code;
    assert_int_equal(lw_utf8("\xC0\x80", 4, &code), 0); /* overlong forms */
    assert_int_equal(lw_utf8("\xE0\x9F\xBF", 4, &code), 0);
    assert_int_equal(lw_utf8("\xF0\x8F\xBF\xBF", 4, &code), 0);
    assert_int_equal(lw_utf8("\xF4\x90\x80\x80", 4, &code), 0); /* beyond U+10FFFF */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(code_points),
                                       cmocka_unit_test(any_bytes_in_any_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
