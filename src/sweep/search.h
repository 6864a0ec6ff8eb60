/* search.h - inner header of the ways to look for the least of a function in the unit box.
 *
 * A way is asked for points and told what was found there, again and again; it never calls the function, so
 * that whoever does may compute the points of a batch at once. All it does follows from the start, the seed
 * and what it was told, to the last bit.
 */
#ifndef LW_SEARCH_H
#define LW_SEARCH_H

#include "core/core.h"

#include <stdint.h>

/* What was found at a point: NAN where nothing was, and how far it is from what is allowed, at least 0. */
typedef struct lw_found {
    double value, violation;
} lw_found;

/* Is a better than b? Points that fail are the worst, then those that are not allowed, by their violation. */
static inline bool lw_found_better(const lw_found *a, const lw_found *b) {
    const bool a_fails = !(a->value == a->value), b_fails = !(b->value == b->value);
    if (a_fails || b_fails) return !a_fails && b_fails;
    if (a->violation > 0 || b->violation > 0) return a->violation < b->violation;
    return a->value < b->value;
}

typedef struct lw_search_settings {
    int dimension;
    const double *start; /* between 0 and 1 */
    uint64_t seed;
    int population, restarts; /* population 0: by the dimension */
    double tolerance;         /* changes of the points that no longer matter, of the box's edge */
} lw_search_settings;

typedef struct lw_search_way {
    const char *name;
    bool constraints; /* it takes violations */
    /* NULL: memory is out. */
    void *(*create)(lw_arena *arena, const lw_search_settings *settings);
    /* The points that are wanted next, one after the other; 0: the search is over. */
    int (*ask)(void *search, const double **points);
    /* What was found there; points that are not computed any more end it. */
    void (*tell)(void *search, const lw_found *found);
    const char *(*ended)(const void *search); /* why; a few words */
} lw_search_way;
extern const lw_search_way lw_search_cma, lw_search_descent;

#endif
