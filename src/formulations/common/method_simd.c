/* method_simd.c - the list of methods that take several states at a time.
 */
#include "formulations/common/method_simd.h"

#include <string.h>

extern const lw_method_simd lw_method_simd_tree, lw_method_simd_rcr;

const lw_method_simd *lw_method_simd_find(const char *method) {
    static const lw_method_simd *const all[] = {&lw_method_simd_tree, &lw_method_simd_rcr};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->method, method) == 0) return all[k];
    return NULL;
}
