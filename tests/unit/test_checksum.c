/* CRC-32 against the value of its standard, and against a bit at a time for texts of all lengths and alignments.
 */
#include "core/checksum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static uint32_t bit_by_bit(const unsigned char *at, size_t size) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t k = 0; k < size; k++) {
        crc ^= at[k];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

static void crc32(void **state) {
    (void)state;
    unsigned char text[128];
    assert_int_equal(lw_crc32("123456789", 9), 0xCBF43926);
    srand(1);
    for (size_t k = 0; k < sizeof text; k++) text[k] = (unsigned char)rand();
    for (size_t first = 0; first < 9; first++)
        for (size_t size = 0; size < 100; size++)
            assert_int_equal(lw_crc32(text + first, size), bit_by_bit(text + first, size));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(crc32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
