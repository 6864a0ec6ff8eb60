/* names.c - finding objects by name: a sorted index, O(log n) per look-up.
 */
#include "model/names.h"

#include <string.h>

lw_status lw_names_create(lw_arena *arena, int count, lw_names *names) {
    names->count = count;
    names->names = LW_NEW(arena, const char *, count + 1);
    names->order = LW_NEW(arena, int, count + 1);
    return lw_arena_failed(arena) ? LW_ERROR_MEMORY : LW_OK;
}

static int compare(const lw_names *names, int a, int b) {
    int order = strcmp(names->names[a], names->names[b]);
    return order ? order : a - b;
}

/* Heap sort: the comparison of qsort cannot be passed the names, and the standard does not bound its cost. */
static void sift(const lw_names *names, int *order, int start, int end) {
    for (int root = start; 2 * root + 1 < end;) {
        int child = 2 * root + 1;
        if (child + 1 < end && compare(names, order[child], order[child + 1]) < 0) child++;
        if (compare(names, order[root], order[child]) >= 0) return;
        int t = order[root];
        order[root] = order[child];
        order[child] = t;
        root = child;
    }
}

void lw_names_sort(lw_names *names) {
    int *order = names->order, n = names->count;
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = n / 2 - 1; k >= 0; k--) sift(names, order, k, n);
    for (int k = n - 1; k > 0; k--) {
        int t = order[0];
        order[0] = order[k];
        order[k] = t;
        sift(names, order, 0, k);
    }
}

int lw_names_find(const lw_names *names, const char *name) {
    int low = 0, high = names->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(names->names[names->order[middle]], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == names->count || strcmp(names->names[names->order[low]], name) != 0) return -1;
    return names->order[low];
}
