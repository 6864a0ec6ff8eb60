/* massless_parts.h - what the files of the method `massless` share (docs/theory/massless.md).
 *
 *   structure   which speeds stand for directions without mass, and what moves along: decided once per model
 *   null        the directions N(q) themselves, at one position
 *   dampers     what resists them: N'C N
 *   flow        the velocity v = w + N zeta that the balance of forces N'Q = 0 asks for; positions held by
 *   springs alone
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
    int parent; /* the node before it; -1 at the root, whose joint the direction belongs to */
    int entry;  /* the first of the joint's speeds in speed[] and value[] */
    int moved;  /* the place of the body in body[] and twist[]; -1 where the path ends */
    int kernel; /* of the joint, as in its lw_link */
    float sign; /* of the joint */
} lw_null_node;

typedef enum lw_root {
    LW_ROOT_CONSTANT, /* all speeds of the joint represent directions, and its subspace S is constant */
    LW_ROOT_TURNS,    /* all of them do, and S depends on position */
    LW_ROOT_RESPONDS  /* some speeds of the joint respond to the others */
} lw_root;

/* Consecutive directions of one joint that share the same path. */
typedef struct lw_null_block {
    int first, count;
    int entries, moved; /* how many speeds and bodies each direction has: strides from one to the next */
    int responding;     /* how many other speeds of the joint respond */
    lw_root root;
    int entry, place; /* the first of its values and of its twists */
    int body;         /* the body whose joint it belongs to */
    int speed;        /* the first speed of that joint that represents a direction */
    bool constant;    /* its values do not change with position */
    bool alone;       /* it shares no speed and no body with another block */
} lw_null_block;

typedef struct lw_null_shape {
    const lw_model *model;
    lw_arena *arena;
    bool dense; /* closed loops: every speed and body belongs to every direction, found by massless_loops.c */
    double length;  /* typical of the mechanism */
    double *unit;   /* per speed: what it and its coordinate are measured by, `length` or, if it turns, 1 */
    double *square; /* per speed: the square of that */
    /* Per body, bit k: speed k of its joint represents a direction. Where other speeds of the joint respond,
     * this holds at some position, and elsewhere others may represent as many directions. */
    unsigned char *left_out;
    int count; /* directions, from the leaves inwards */
    int block_count;
    lw_null_block *blocks;
    int *rep;        /* per direction: the speed that represents it */
    int *rep_body;   /* per direction: the body of its joint */
    int *node_start; /* count + 1 */
    lw_null_node *nodes;
    int *entry_start, *speed;    /* count + 1: the speeds of each direction */
    int *moved_start, *body;     /* count + 1: the bodies that each direction moves */
    int kinetic_count, *kinetic; /* bodies whose kinetic indicator is needed at each position, ascending */
    int *kinetic_of;             /* per body: its place in kinetic, or -1 */
    /* Per kinetic body: the speeds of its joint represent directions only, and all its children are plain. */
    unsigned char *simple;
    int *child, *child_start; /* per kinetic body: its children */
    int donor_count, *donors; /* bodies with an indicator, and those that contribute to one, descending */
    double *own;              /* 36 per kinetic body: the indicator of its own inertia */
    unsigned char *bare;      /* per kinetic body: that indicator is zero */
    /* Per body: the motions of its parent that move no mass of its subtree are those that its joint
     * absorbs. */
    unsigned char *plain;
    /* Per body: which speeds of its joint represent directions may change with position. */
    unsigned char *changing;
    /* Bodies whose relative pose is computed because it does not follow from the sines and cosines of q
     * alone. */
    int placed_count, *placed;
    /* Bodies whose joint hands on other accelerations for w than for v; carried: because of the parent's
     * motion too. */
    int corrected_count, *corrected;
    unsigned char *carried;
    bool turning; /* the subspace of some of these joints depends on position */
} lw_null_shape;

/* NULL when memory is out. A mechanism with closed loops gets an empty dense shape. */
lw_null_shape *lw_null_shape_create(const lw_model *model);
void lw_null_shape_destroy(lw_null_shape *shape);
/* For massless_loops.c: `count` dense directions for these speeds. */
bool lw_null_shape_fill(lw_null_shape *shape, int count, const int *reps);

/* The largest of the speeds, in rad/s or typical lengths per second, but 1/s at least. */
double lw_null_fastest(const lw_null_shape *shape, const double *v);

/* The indicator of body i's own inertia: the projector onto the twists (angular; linear / length) that move
 * its mass. Returns its rank. */
int lw_kinetic_own(const lw_model *model, int i, double length, double K[36]);

/* Directions that share no damper with others, with their blocks and dampers: what is worked on while it is
 * at hand. */
typedef struct lw_null_piece {
    int first, end;
    int block, block_end;
    int damper, damper_end;
    int element;     /* the smallest index of an element that acts on this piece or one before it */
    int speed, body; /* the smallest speed and body that the piece or elements from that one on touch */
    int placed, placed_end; /* bodies whose places are needed for this piece first */
    bool constant;          /* its values do not change with position */
    unsigned *known;        /* the epoch of its factor, if nothing that resists it changes either; or NULL */
} lw_null_piece;

/* --- null (massless_null.c) ------------------------------------------------------------------------ */

typedef struct lw_null {
    const lw_null_shape *shape;
    const struct lw_null
        *follow; /* whose choice of speeds to take, so that both have the same basis; NULL: an own one */
    unsigned *left_out; /* per kinetic body: the speeds that stand for directions at this position */
    int *rep;           /* per direction: its speed at this position */
    double *value;      /* per entry */
    double *twist;      /* 6 per moved body, internal axes */
    double *K, *U, *D;  /* 36 each per kinetic body that is not simple */
} lw_null;

lw_null *lw_null_create(const lw_null_shape *shape, lw_arena *arena);
/* Places of the joints and directions at the position data->q of a tree. */
void lw_null_at(lw_null *null, lw_data *data);
/* The same where lw_velocities has found the places. */
void lw_null_placed(lw_null *null, lw_data *data);
/* The steps of both: the places that are needed, of bodies before `end` and from this place in shape->placed
 * on, from what lw_velocities has found, returns the next; other places (placed: none) and indicators; the
 * directions of a piece. */
int lw_null_copy_places(const lw_null *null, lw_data *data, int from, int end);
void lw_null_prepare(lw_null *null, lw_data *data, bool placed);
void lw_null_place(const lw_null *null, lw_data *data, int count, const int *bodies);
void lw_null_find(lw_null *null, lw_data *data, const lw_null_piece *piece);
/* x += N z, for all speeds; x += z n_k. */
void lw_null_times(const lw_null *null, const double *z, double *x);
void lw_null_add(const lw_null *null, int k, double z, double *x);
/* V of the bodies in data->motion += that of N z. */
void lw_null_move(const lw_null *null, const double *z, lw_data *data);
/* out = N'Q for the loads and joint forces in data. */
void lw_null_forces(const lw_null *null, const lw_data *data, double *out);
void lw_null_forces_piece(const lw_null *null, const lw_null_piece *piece, const lw_data *data, double *out);
/* The same with all terms positive: what rounding of it is measured by. */
void lw_null_force_sizes(const lw_null *null, const lw_data *data, double *out);

/* --- dampers (massless_damping.c, massless_damping_matrix.c)
 * ---------------------------------------------- */

typedef struct lw_dampers lw_dampers;

lw_dampers *lw_dampers_create(const lw_null *null, lw_arena *arena);
/* The pieces that can be factored and solved one by one. */
const lw_null_piece *lw_dampers_pieces(const lw_dampers *dampers, int *count);
/* Bodies that pieces refer to by placed. */
const int *lw_dampers_placed(const lw_dampers *dampers);
/* Per speed: c of the dampers there that lw_dampers_advance leaves to its caller; NULL: there are none. */
const double *lw_dampers_in_joints(const lw_dampers *dampers);
/* Where elements are to leave what these need, line_of of data.h: each apart from others; or brief, each
 * until its piece is done. */
int lw_dampers_line_count(const lw_dampers *dampers);
const int *lw_dampers_lines(lw_dampers *dampers, bool brief);
/* Is every one of them linear in the speeds? */
bool lw_dampers_linear(const lw_dampers *dampers);
/* ... and can forces follow a change of velocity by lw_dampers_advance alone? */
bool lw_dampers_steady(const lw_dampers *dampers);
/* Forces and power of a piece's dampers in data follow when N z, which moves bodies by twists E, 6 each, has
 * been added to its velocities; after the factor at that position. */
void lw_dampers_advance(const lw_dampers *dampers, const lw_null_piece *piece, const double *z,
                        const double *E, lw_data *data);
/* N'C N at the state in data, after lw_forces, with L D L' of it; directions that are skipped are left out of
 * it. Returns the direction whose pivot does not exceed its floor, or -1. */
int lw_dampers_factor(lw_dampers *dampers, lw_data *data, double t);
/* The same piece by piece. */
void lw_dampers_begin(lw_dampers *dampers);
void lw_dampers_factor_piece(lw_dampers *dampers, const lw_null_piece *piece, lw_data *data, double t);
/* Of the last factor: the diagonal of N'C N and the pivots, both times the square of the unit of the speed
 * that represents the direction: a rate of damping times length^2, whichever speed that is. */
const double *lw_dampers_diagonal(const lw_dampers *dampers);
const double *lw_dampers_pivots(const lw_dampers *dampers);
/* Per direction: skipped (no damper ever resists it), and the floor of its pivot, in the same unit; to be
 * filled by whoever classifies. */
bool *lw_dampers_skipped(lw_dampers *dampers);
double *lw_dampers_floors(lw_dampers *dampers);
/* Of the last factor: skipped, held, or without a pivot at that position; and how many are. */
const bool *lw_dampers_loose(const lw_dampers *dampers);
int lw_dampers_loose_count(const lw_dampers *dampers);
/* A direction that is neither skipped nor held and has lost its pivot, or -1; is there one? */
int lw_dampers_missing(const lw_dampers *dampers);
bool lw_dampers_lost(const lw_dampers *dampers);
/* Of the last factor: a direction that is driven rather than damped, or -1. */
int lw_dampers_driven(const lw_dampers *dampers);
/* Of the last factor: the speed at which a negative damper in a joint does most work along N z, or -1. */
int lw_dampers_driver(const lw_dampers *dampers, const double *z);
/* Directions that some damper reaches whose slope depends on position or time, and may vanish in a region
 * (latent); whether these dampers are left out. */
const bool *lw_dampers_latent(const lw_dampers *dampers);
/* The element of such a damper that reaches direction k, or -1. */
int lw_dampers_latent_element(const lw_dampers *dampers, int k);
/* Per element: whether it is such a damper; NULL: there are none. */
const bool *lw_dampers_still(const lw_dampers *dampers);
void lw_dampers_without_latent(lw_dampers *dampers, bool without);
/* Directions that are left to springs, whatever their pivot is: at all states to come, until this is called
 * with NULL (freeze); or at the state of the last factor (hold), which counts them as lost no more. held:
 * NULL if there are none. */
void lw_dampers_freeze(lw_dampers *dampers, const bool *held);
void lw_dampers_hold(lw_dampers *dampers, const bool *held);
const bool *lw_dampers_held(const lw_dampers *dampers);
bool lw_dampers_frozen(const lw_dampers *dampers);
/* Per direction: its group chooses at each position which of its directions are damped (lw_dampers_mix). */
const bool *lw_dampers_within(const lw_dampers *dampers);
/* Per direction: the number of one direction of those that it shares dampers with. */
void lw_dampers_groups(const lw_dampers *dampers, int *of);
/* Groups with skipped directions beside others choose at each position which these are: to be called when
 * skipped is filled. False when memory is out. follow: whose choice to take, so that both have the same
 * basis, itself: that of its last factor; NULL: a new one. */
bool lw_dampers_mix(lw_dampers *dampers, lw_arena *arena);
void lw_dampers_follow(lw_dampers *dampers, const lw_dampers *leader);
/* Per direction: what the diagonal would be if every damper that it may reach took all of its speed; rounding
 * is measured by it. */
void lw_dampers_sizes(const lw_dampers *dampers, lw_data *data, double t, double *size);
/* x = (N'C N)^-1 x, zero at skipped directions;  x = L^-1 x;  x = L^-T x. */
void lw_dampers_solve(const lw_dampers *dampers, double *x);
void lw_dampers_solve_piece(const lw_dampers *dampers, const lw_null_piece *piece, double *x);
void lw_dampers_lower(const lw_dampers *dampers, double *x);
void lw_dampers_upper(const lw_dampers *dampers, double *x);

/* --- flow (massless_velocity.c)
 * -------------------------------------------------------------------------- */

typedef struct lw_flow lw_flow;
struct lw_flow {
    const lw_model *model;
    const lw_null_shape *shape;
    lw_arena *arena;
    lw_data *data;
    lw_null *null;
    lw_dampers *dampers;
    double *zeta;   /* per direction: of the last velocity */
    double *gamma;  /* per direction: N'Q */
    double *step;   /* per direction */
    double *weight; /* per direction: of what is out of balance */
    double *held;   /* per speed */
    double *given;  /* per speed: w, of the last velocity that was asked for */
    double *apart;  /* per speed: N zeta, ... */
    double *twist;  /* ... and 6 per body: the twists by it; both only where they are known */
    bool apart_known;
    struct lw_flow_kept *kept;  /* from one state to the next: massless_velocity.h */
    bool classifying;           /* directions that are driven rather than damped are no error */
    bool sprung;                /* directions whose pivot is lost are left to springs, not an error */
    struct lw_loop_null *loops; /* closed loops: massless_loops.c; else NULL */
};

lw_flow *lw_flow_create(const lw_null_shape *shape);
void lw_flow_destroy(lw_flow *flow);
/* Directions, forces and N'C N with its factor at the state in flow->data (lw_take_state); tau may be NULL.
 * Returns LW_ERROR_SINGULAR, and says where, if a pivot is lost. */
lw_status lw_flow_at(lw_flow *flow, double t, const double *tau, lw_error *error);
/* From the state (q, w) in flow->data: v = w + N zeta with N'Q(q, v, t) = 0 where dampers resist; data->v is
 * v afterwards, and forces and power are those at v. */
lw_status lw_flow_velocity(lw_flow *flow, double t, const double *tau, lw_error *error);
/* What it means that directions have lost their pivots in the last factor; up to `loose` of them may be left
 * to springs. */
lw_status lw_flow_lost(const lw_flow *flow, int loose, lw_error *error);
/* LW_ERROR_SINGULAR with the sentence that there is none; a velocity whose square is still a number. */
lw_status lw_flow_not_found(const lw_flow *flow, int k, double t, lw_error *error);
#define LW_OUT_OF_REACH 1e150
/* lw_flow_velocity where dampers are steady (massless_steady.c). */
lw_status lw_flow_steady(lw_flow *flow, double t, const double *tau, lw_error *error);

/* Which direction is what. */
typedef struct lw_null_kinds {
    lw_direction_kind *kind; /* per direction */
    bool *driven;            /* per direction: negative damping */
    double *floor;           /* per direction: of its pivot in N'C N, as lw_dampers_floors has it */
    int *speed;              /* per direction: the one to name it by, of a joint whose body moves */
    bool *wanting;           /* per direction: without latent dampers nothing resists it */
    bool *
        /* per direction: wanting, and there are such: whether it is damped is a matter of the state */
        latent;
    int algebraic;    /* how many are */
    int undetermined; /* the first that is, or -1 */
} lw_null_kinds;

/* --- springs (massless_springs.c): directions held by springs alone ----------------------------------- */

typedef struct lw_springs lw_springs;

/* `probe` is a flow of its own for states nearby. candidate: per direction, whether it may be algebraic at
 * some position, which it is where the dampers of the flow find it loose. NULL when memory is out. */
lw_springs *lw_springs_create(lw_flow *flow, lw_flow *probe, const bool *candidate, lw_arena *arena);
/* d/dz of the balance L^-1 N'Q of the algebraic directions for displacements N L^-T z; factored. Returns the
 * direction at which it is singular, or -1. */
int lw_springs_factor(lw_springs *springs, double t, const double *tau);
/* Its entry on the diagonal, as a size. */
double lw_springs_stiffness(const lw_springs *springs, int direction);
/* Was it singular there? Then N z is a motion that nothing holds. */
bool lw_springs_lost(const lw_springs *springs, int direction);
void lw_springs_free(lw_springs *springs, int direction, double *z);
/* Moves q along the algebraic directions until they balance. */
lw_status lw_springs_settle(lw_springs *springs, double t, const double *tau, double *q, const double *v,
                            double *moved, lw_error *error);
/* Moves q along them, down to the next stable balance, at the start of a run and after a jump, or to where a
 * damper engages; LW_ERROR_SINGULAR where none is found: settle tells why. work (may be NULL): += that of
 * drives and forces on the way. loops: closed after each step there (may be NULL). */
lw_status lw_springs_descend(lw_springs *springs, double t, const double *tau, double *q, const double *v,
                             lw_power *work);
void lw_springs_loops(lw_springs *springs, lw_projection *loops);
/* Adds to the velocity of the flow what keeps them in balance. */
lw_status lw_springs_velocity(lw_springs *springs, double t, const double *tau, lw_error *error);

/* Whether the given position balances the forces along the algebraic directions, after lw_springs_velocity:
 * accelerations of a position that does not would satisfy no law. LW_ERROR_SINGULAR names the worst one. */
lw_status lw_springs_check_balance(lw_springs *springs, double t, const double *tau, lw_error *error);

/* lw_flow_velocity and lw_springs_velocity (springs may be NULL), and, where no velocity balances because
 * dampers that only push have let go, the one that springs ask for. */
lw_status lw_springs_consistent(lw_flow *flow, lw_springs *springs, double t, const double *tau,
                                lw_error *error);

/* v += what brings positions back into balance at a rate (1/s), with the last factors, after
 * lw_springs_velocity. */
void lw_springs_pull(lw_springs *springs, double t, double rate, double *v);

/* --- rows (massless_rows.c): the paper's equations (25), (26), (28) in (q, v)
 * ---------------------------- */

/* out: nq + nv rows at (y, ydot); force: room for nv. */
void lw_massless_rows(const lw_model *model, lw_data *data, double t, const double *y, const double *ydot,
                      double *force, double *out, lw_power *power);

/* --- classification (massless_kinds.c) ------------------------------------------------------------------ */

/* Up to so many directions all may be found algebraic where dampers stand across them. */
enum { LW_LOOSE_LIMIT = 200 };

lw_status lw_null_classify(lw_null_shape *shape, lw_null_kinds *kinds, lw_arena *arena, lw_error *error);
/* The body that a speed's joint carries. */
int lw_body_of_speed(const lw_model *model, int speed);
/* "rotation about x", of that body. */
void lw_describe_speed(const lw_model *model, int speed, char *text, size_t size);
/* LW_ERROR_SINGULAR with the sentence: nothing resists a motion without mass that has this speed. */
lw_status lw_undetermined_speed(const lw_model *model, int speed, bool driven, lw_error *error);

#endif
