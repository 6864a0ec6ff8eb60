/* random_welds.h - seeded random splitting of bodies into several that are welded.
 */
#ifndef LW_TEST_RANDOM_WELDS_H
#define LW_TEST_RANDOM_WELDS_H

#include "random_model.h"

/* How bodies are split. */
typedef struct random_welds {
    int bodies;    /* how many bodies are split, and ground: at most */
    bool massless; /* some of the pieces have no mass, and some of the bodies give all theirs away */
    bool doubled;  /* some welds are doubled */
} random_welds;

/* Splits bodies of the spec, and ground, into two or three that are welded, in either sense, at random places.
 * Each end of a joint, force or constraint on such a body moves to one of its pieces, with its geometry: a frame
 * on the piece that lies on the body's own stands for it. Returns the number of welds. */
int random_welds_add(lw_random *random, const random_welds *options, lw_spec *spec);

#endif
