/* demand.h - what must hold for every input: the fuzzer keeps the input where it does not.
 */
#ifndef LW_FUZZ_DEMAND_H
#define LW_FUZZ_DEMAND_H

#include <stdio.h>
#include <stdlib.h>

#define DEMAND(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
