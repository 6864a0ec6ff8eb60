/* massless_parts.h - the parts of the method `massless` that its files share (docs/theory/massless.md).
 *
 *   structure   finds once per model which speeds represent massless directions and which bodies these move
 *   null        computes the massless directions N(q) at one position
 *   dampers     assembles and factors the damping matrix N'C N of these directions
 *   flow        finds the velocity v = w + N zeta at which the forces balance, N'Q = 0
 *   springs     finds the positions and velocities of the directions that springs alone hold
 *
 * A massless direction is a motion of the mechanism that moves no mass, one column of N.
 */
#ifndef LW_MASSLESS_PARTS_H
#define LW_MASSLESS_PARTS_H

#include "formulations/formulation.h"
#include "constraints/projection.h"
#include <linkwork/massless.h>

extern const lw_formulation lw_formulation_massless;

/* --- structure (massless_structure.c) -------------------------------------------------------------- */

/* One body on the outward path of a massless direction. The path ends at a joint that absorbs the motion, so
 * that the body beyond it does not move. */
typedef struct lw_null_node {
    int body;
    int parent; /* The previous node of the path; -1 at the root, whose joint the direction belongs to. */
    int entry;  /* The index of the joint's first speed in speed[] and value[]. */
    int moved;  /* The index of the body in body[] and twist[]; -1 if the path ends here. */
    int kernel; /* The kernel of the joint, as in its lw_link. */
    float sign; /* The sign of the joint's axis, as in its lw_link. */
} lw_null_node;

typedef enum lw_root {
    LW_ROOT_CONSTANT, /* All free speeds of the joint represent directions, and its subspace S is constant. */
    LW_ROOT_TURNS,    /* All free speeds of the joint represent directions, and S depends on position. */
    LW_ROOT_RESPONDS  /* Some speeds of the joint respond to the motion of the others. */
} lw_root;

/* Consecutive directions of one joint that share the same path. */
typedef struct lw_null_block {
    /* first is the first direction of the block, count the number of its directions. */
    int first, count;
    /* entries is the number of speeds of each direction and the stride of its values; moved is the number of
     * bodies that each direction moves and the stride of its twists. */
    int entries, moved;
    lw_root root;
    int entry, twist; /* The indices of the block's first value and of its first twist. */
} lw_null_block;

typedef struct lw_null_shape {
    const lw_model *model;
    lw_arena *arena;
    /* The mechanism has closed loops: every speed and every body belongs to every direction, and
     * massless_loops.c computes the directions. */
    bool dense;
    double length; /* A typical length of the mechanism. */
    /* Per speed: the unit of the speed and of its coordinate, 1 for a rotation and `length` for a
     * translation. */
    double *unit;
    double *square; /* Per speed: the square of its unit. */
    /* Per body, bit k: speed k of its joint represents a direction. If other speeds of the joint respond,
     * the bits hold at one position, and elsewhere other speeds may represent as many directions. */
    unsigned char *left_out;
    int count; /* The number of directions, which are ordered from the leaves inwards. */
    int block_count;
    lw_null_block *blocks;
    int *rep;        /* Per direction: the speed that represents it. */
    int *rep_body;   /* Per direction: the body whose joint has that speed. */
    int *node_start; /* count + 1: the range of each direction's path in nodes. */
    lw_null_node *nodes;
    /* entry_start (count + 1) has the range of each direction in speed and in lw_null.value; speed has the
     * speeds that take part in each direction. */
    int *entry_start, *speed;
    /* moved_start (count + 1) has the range of each direction in body and in lw_null.twist; body has the
     * bodies that each direction moves. */
    int *moved_start, *body;
    /* The kinetic bodies, whose indicator is needed at each position; ascending. */
    int kinetic_count, *kinetic;
    int *kinetic_of; /* Per body: its index in kinetic, or -1. */
    /* Per kinetic body: the body moves as the root of directions only, never further along the path of
     * another direction, and all its children are plain. */
    unsigned char *simple;
    /* child has the children of the bodies; child_start has the range of each body's children in child. */
    int *child, *child_start;
    /* The kinetic bodies that are not simple, and the children of these, which contribute to their
     * indicators; descending. */
    int donor_count, *donors;
    double *own;         /* 36 per kinetic body: the indicator of its own inertia. */
    unsigned char *bare; /* Per kinetic body: the indicator of its own inertia is zero. */
    /* Per body: the motions of its parent that move no mass of its subtree are those that its joint
     * absorbs. */
    unsigned char *plain;
    /* Per body: the number of speeds of its joint that respond, if others represent directions. The choice
     * may change with position. */
    unsigned char *responding;
    /* The bodies at whose joint the bias accelerations of w differ from those of v; ascending. */
    int corrected_count, *corrected;
    unsigned char *carried; /* Per corrected body: some direction moves its parent. */
} lw_null_shape;

/* Returns NULL when memory is out. A mechanism with closed loops gets an empty dense shape. */
lw_null_shape *lw_null_shape_create(const lw_model *model);
void lw_null_shape_destroy(lw_null_shape *shape);
/* Fills the shape with `count` dense directions, which the speeds `reps` represent. massless_loops.c calls
 * this for mechanisms with closed loops. Returns false when memory is out. */
bool lw_null_shape_fill(lw_null_shape *shape, int count, const int *reps);

/* Returns the largest speed in rad/s, or in typical lengths per second; at least 1/s. */
double lw_null_fastest(const lw_null_shape *shape, const double *v);

/* Computes the indicator of the inertia of body i itself: the projector onto the twists
 * (angular; linear / length) that move its mass. Returns the rank of the projector. */
int lw_kinetic_own(const lw_model *model, int i, double length, double K[36]);

/* --- null (massless_null.c) ------------------------------------------------------------------------ */

typedef struct lw_null {
    const lw_null_shape *shape;
    /* The directions whose choice of representing speeds is taken over, so that both have the same basis;
     * NULL: these directions choose their own speeds. */
    const struct lw_null *follow;
    unsigned *left_out; /* Per kinetic body: the speeds that represent directions at this position. */
    int *rep;           /* Per direction: the speed that represents it at this position. */
    double *value;      /* Per entry: the speed's part in the direction. */
    double *twist;      /* 6 per moved body, in its internal axes. */
    /* 36 each per kinetic body that is not simple: K is its indicator, U = K S of its joint, and D is the
     * factor of S'K S. */
    double *K, *U, *D;
} lw_null;

/* Returns NULL when memory is out. */
lw_null *lw_null_create(const lw_null_shape *shape, lw_arena *arena);
/* Computes the relative poses and the directions of a tree at the position data->q. */
void lw_null_at(lw_null *null, lw_data *data);
/* x += N z, for all speeds. */
void lw_null_times(const lw_null *null, const double *z, double *x);
/* x += z n_k, with n_k the direction k. */
void lw_null_add(const lw_null *null, int k, double z, double *x);
/* Adds the twists of N z to those of the bodies in data->motion. */
void lw_null_move(const lw_null *null, const double *z, lw_data *data);
/* Computes the motion N z: e per speed, and E, the twists of the bodies, 6 per body. */
void lw_null_motion(const lw_null *null, const double *z, double *e, double *E);
/* out = N'Q for the loads and joint forces in data, for all directions. */
void lw_null_forces(const lw_null *null, const lw_data *data, double *out);
/* out = the sum of the absolute values of all terms of N'Q, by which its rounding is measured. */
void lw_null_force_sizes(const lw_null *null, const lw_data *data, double *out);

typedef struct lw_dampers lw_dampers; /* massless_dampers.h */

/* --- flow (massless_velocity.c) --------------------------------------------------------------------- */

typedef struct lw_flow lw_flow;
struct lw_flow {
    const lw_model *model;
    const lw_null_shape *shape;
    lw_arena *arena;
    lw_data *data;
    lw_null *null;
    lw_dampers *dampers;
    double *zeta;   /* Per direction: zeta of the last velocity. */
    double *gamma;  /* Per direction: N'Q. */
    double *step;   /* Per direction: the last step of Newton's method. */
    double *weight; /* Per direction: the weight of its unbalanced force in the norm of the imbalance. */
    double *held;   /* Per speed: workspace. */
    /* Per speed: the w from which the last velocity was found. It is kept only where springs and latent
     * dampers act. */
    double *given;
    double *apart;              /* Per speed: N zeta. */
    double *twist;              /* 6 per body: the twists of N zeta. */
    bool apart_known;           /* apart and twist belong to the present zeta. */
    struct lw_flow_kept *kept;  /* Data kept from one state to the next, see massless_velocity.h. */
    bool classifying;           /* Directions that are driven rather than damped are not an error. */
    bool sprung;                /* Directions that have lost their pivot are left to springs, not an error. */
    struct lw_loop_null *loops; /* Closed loops, see massless_loops.c; NULL for trees. */
};

/* Returns NULL when memory is out. */
lw_flow *lw_flow_create(const lw_null_shape *shape);
void lw_flow_destroy(lw_flow *flow);
/* Computes the directions, the forces, and N'C N with its factor at the state in flow->data (lw_take_state).
 * tau may be NULL. Returns LW_ERROR_SINGULAR with the name of the direction if a pivot is lost that springs
 * may not replace. */
lw_status lw_flow_at(lw_flow *flow, double t, const double *tau, lw_error *error);
/* Starts from the state (q, w) in flow->data and finds v = w + N zeta with N'Q(q, v, t) = 0 in all directions
 * that dampers resist. Afterwards data->v is v, and forces and power are those at v. */
lw_status lw_flow_velocity(lw_flow *flow, double t, const double *tau, lw_error *error);

/* The classification of the directions. */
typedef struct lw_null_kinds {
    lw_direction_kind *kind; /* Per direction: what determines it. */
    bool *driven;            /* Per direction: its damping is negative. */
    double *floor;           /* Per direction: the floor of its pivot in N'C N, as in lw_dampers. */
    int *speed;              /* Per direction: the speed that names it, of a joint whose body moves. */
    bool *wanting;           /* Per direction: nothing but latent dampers resists it, if anything does. */
    /* Per direction: the direction is wanting, and a latent damper acts on it, so that the state decides
     * whether it is damped. */
    bool *latent;
    int algebraic;    /* The number of directions that were found without a damper. */
    int undetermined; /* The first undetermined direction, or -1. */
} lw_null_kinds;

/* --- springs (massless_springs.c): directions held by springs alone ----------------------------------- */

typedef struct lw_springs lw_springs;

/* probe: a separate flow, which evaluates states nearby. candidate: per direction, whether it may be
 * algebraic at some position; it is algebraic wherever the dampers of the flow find it loose. Returns NULL
 * when memory is out. */
lw_springs *lw_springs_create(lw_flow *flow, lw_flow *probe, const bool *candidate, lw_arena *arena);
/* Computes and factors G, the derivative of the balance L^-1 N'Q of the algebraic directions with respect to
 * displacements N L^-T z. Returns the first direction at which G is singular, or -1. */
int lw_springs_factor(lw_springs *springs, double t, const double *tau);
/* Returns the absolute value of the diagonal entry of G at an algebraic direction, in N/m or N m/rad; 0 for
 * other directions. */
double lw_springs_stiffness(const lw_springs *springs, int direction);
/* Tells whether the last G was singular at the direction. */
bool lw_springs_lost(const lw_springs *springs, int direction);
/* Computes z such that N z is the motion at which G is singular, which nothing holds; zero if G is not
 * singular at the direction. */
void lw_springs_free(lw_springs *springs, int direction, double *z);
/* Moves q along the algebraic directions until their forces balance. moved: the length of the longest step,
 * in angles or typical lengths. */
lw_status lw_springs_settle(lw_springs *springs, double t, const double *tau, double *q, const double *v,
                            double *moved, lw_error *error);
/* Moves q along the algebraic directions downhill to the next stable balance, or to the position at which a
 * damper engages; for the start of a run and for jumps. work (may be NULL): the work of drives and forces on
 * the path is added to it. Returns LW_ERROR_SINGULAR if no balance is found; lw_springs_settle reports the
 * reason. */
lw_status lw_springs_descend(lw_springs *springs, double t, const double *tau, double *q, const double *v,
                             lw_power *work);
/* Sets the projection that closes loops after each step downhill; NULL if there are no loops. */
void lw_springs_loops(lw_springs *springs, lw_projection *loops);
/* Adds to the velocity of the flow the part that keeps the algebraic directions in balance. */
lw_status lw_springs_velocity(lw_springs *springs, double t, const double *tau, lw_error *error);

/* Checks, after lw_springs_velocity, that the forces along the algebraic directions balance at the given
 * position: accelerations at any other position would satisfy no law. LW_ERROR_SINGULAR names the direction
 * that is farthest from balance. */
lw_status lw_springs_check_balance(lw_springs *springs, double t, const double *tau, lw_error *error);

/* Calls lw_flow_velocity and lw_springs_velocity (springs may be NULL). If no velocity balances the forces
 * because dampers that can only push have let go, springs determine the velocity of their directions. */
lw_status lw_springs_consistent(lw_flow *flow, lw_springs *springs, double t, const double *tau,
                                lw_error *error);

/* Adds to v the velocity that brings positions back into balance at a rate (1/s), by the last factor of G,
 * after lw_springs_velocity. */
void lw_springs_pull(lw_springs *springs, double t, double rate, double *v);

/* --- classification (massless_kinds.c) ------------------------------------------------------------------ */

/* With up to so many directions, every direction may become algebraic at a position where its damper stands
 * across it. */
enum { LW_LOOSE_LIMIT = 200 };

lw_status lw_null_classify(lw_null_shape *shape, lw_null_kinds *kinds, lw_arena *arena, lw_error *error);
/* Returns the body that the joint of a speed carries. */
int lw_body_of_speed(const lw_model *model, int speed);
/* Writes the motion of that body, such as "rotation about x", into text. */
void lw_describe_speed(const lw_model *model, int speed, char *text, size_t size);
/* Returns LW_ERROR_SINGULAR with the message that nothing resists a massless motion that has this speed, or
 * (driven) that forces drive the motion rather than damp it. */
lw_status lw_undetermined_speed(const lw_model *model, int speed, bool driven, lw_error *error);

#endif
