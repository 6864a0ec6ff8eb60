/* names.h - finding objects by name: a sorted index.
 */
#ifndef LW_NAMES_H
#define LW_NAMES_H

#include "core/core.h"

typedef struct lw_names {
    const char **names; /* by index */
    int *order;         /* indices in the order of the names */
    int count;
} lw_names;

/* Allocates an index of count names; fill names[], then call lw_names_sort. */
lw_status lw_names_create(lw_arena *arena, int count, lw_names *names);
void lw_names_sort(lw_names *names);
int lw_names_find(const lw_names *names, const char *name); /* The smallest index of that name, or -1. */

#endif
