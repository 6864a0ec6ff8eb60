/* random_model.h - seeded random numbers and random mechanisms for the tests.
 */
#ifndef LW_TEST_RANDOM_MODEL_H
#define LW_TEST_RANDOM_MODEL_H

#include <linkwork/linkwork.h>
#include <stdint.h>

typedef struct lw_random {
    uint64_t state;
} lw_random;

lw_random random_seed(uint64_t seed);
double random_unit(lw_random *random); /* [0, 1) */
double random_between(lw_random *random, double low, double high);
int random_below(lw_random *random, int count);          /* 0 .. count - 1 */
void random_direction(lw_random *random, double out[3]); /* unit vector */

/* What a random tree may contain. */
typedef struct random_tree {
    int bodies;
    bool forces;     /* every force element, several of each */
    bool prescribed; /* some joints with prescribed motion */
    bool reversed;   /* some joints written from the child to the parent */
    bool aligned;    /* axes along coordinate axes, as in most real mechanisms: the fast kernels */
    int joint;       /* this type of joint everywhere, or -1 for all of them mixed */
} random_tree;

/* A random tree: random topology, geometry (in the world or in body frames), inertias, joints. */
lw_spec *random_tree_spec(lw_random *random, const random_tree *options);
/* The same, compiled; fails the test with every message if it does not compile. */
lw_model *random_tree_model(lw_random *random, const random_tree *options);
/* Compiles or fails the test; destroys the spec. */
lw_model *compile_or_fail(lw_spec *spec);

/* A random state: angles of any size, unit quaternions, speeds of order 1. */
void random_state(lw_random *random, const lw_model *model, double *q, double *v);
void random_vector(lw_random *random, int count, double scale, double *out);

/* max |a - b| / (1 + max |a|). */
double relative_difference(const double *a, const double *b, int count);

#endif
