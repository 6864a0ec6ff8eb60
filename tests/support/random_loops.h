/* random_loops.h - seeded random mechanisms with closed loops, assembled by construction.
 *
 * Every body is given its pose in the world, and every joint, tree or closure alike, its frames on both bodies from these
 * poses and from coordinates of its own, zero or not: so all joints close in that configuration, whichever of them the
 * library takes into its tree. Constraints and prescribed motions are made to hold there too.
 */
#ifndef LW_TEST_RANDOM_LOOPS_H
#define LW_TEST_RANDOM_LOOPS_H

#include "random_model.h"
#include "model/compiled_model.h"

typedef enum loop_kind {
    LOOP_SINGLE = 0,  /* one loop in space, any joints */
    LOOP_COUPLED,     /* several, nested, side by side, with a common base or different ones */
    LOOP_PLANAR,      /* planar linkages in a tilted plane: rows out of the plane depend on each other */
    LOOP_SPHERICAL,   /* all axes through one point: so do the positions */
    LOOP_DOUBLED,     /* joints beside others of the same motion: coaxial hinges, parallel slides */
    LOOP_CRANKS,      /* a platform on three to five equal parallel cranks */
    LOOP_BENNETT,     /* Bennett's linkage: four hinges in space that move by their measures alone */
    LOOP_CONSTRAINED, /* distances, couplings, rolling */
    LOOP_KINDS
} loop_kind;

typedef enum loop_base {
    LOOP_FIXED = 0,
    LOOP_MOVING, /* on a joint whose motion is prescribed, all of it or a part */
    LOOP_FLYING, /* on a free joint */
    LOOP_BASES
} loop_base;

enum { LOOP_BODIES = 10, LOOP_JOINTS = 24, LOOP_CLOSURES = 16 };

typedef struct random_loops {
    int seed;
    loop_kind kind;
    loop_base base;
    lw_random random; /* where the seed's sequence stands */
    lw_spec *spec;
    double t; /* when prescribed motions lead through the configuration */
    int bodies, joints;
    lw_pose pose[LOOP_BODIES + 1];         /* of the bodies; 0 is ground */
    double q[LOOP_JOINTS][LW_JOINT_MAX_Q]; /* coordinates of every joint in the configuration */
    lw_pose frames[LOOP_JOINTS][2];        /* of every joint in the world */
    double axes[LOOP_JOINTS][9];           /* of translations, in the world */
    char motion[LW_JOINT_MAX_V][96];       /* of the base */
    int freedom[LOOP_JOINTS];              /* of the tree joints: what they add to mobility */
    int parent[LOOP_BODIES + 1];           /* of the tree as built: joint i - 1 carries body i */
    int closures;                          /* and constraints: on which tree joints, how many rows */
    unsigned mask[LOOP_CLOSURES];
    int rows[LOOP_CLOSURES];
} random_loops;

const char *loop_kind_name(loop_kind kind);
const char *loop_base_name(loop_base base);

/* The mechanism of a seed; kinds and bases take turns. The spec points into *loops, which must outlive its compilation. */
void random_loops_build(random_loops *loops, int seed);
/* Joint coordinates of the configuration for the tree that the library has chosen. */
void random_loops_configuration(const random_loops *loops, const lw_model *model, double *q);
/* A consistent state: the configuration itself or, if it can be moved, one beside it on the constraints, and
 * speeds. Returns whether it was moved. */
bool random_loops_state(random_loops *loops, const lw_model *model, bool move, double *q, double *v);

#endif
