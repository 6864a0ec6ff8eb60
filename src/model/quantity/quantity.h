/* quantity.h - the quantities of a state that have names: in results files, and in expressions of a model.
 *
 * A quantity is one component of a vector that belongs to an object: the coordinate of a joint, the velocity
 * of a point along y, the force of a spring, the kinetic energy. The columns of a results file are these
 * quantities, and expressions use them under the same names (docs/results.md lists all):
 *
 *     pin.q  pin.v  pin.a            coordinates, speeds and accelerations of a joint, of cut joints too
 *     body.load.x .qw .rx .vx .wx    position, quaternion, Cardan angles, velocity, angular velocity of a
 *               .ax .alphax          body's frame, and their rates
 *     body(load in arm).vx           the same in the axes of body "arm"
 *     point(load, 0, 0, -0.5).z      a point given in the body's frame; .vx, .ax
 *     com(load).x                    the centre of mass; .vx, .ax
 *     momentum.px .lx .hx            linear; angular about the world's origin; about the centre of mass
 *     momentum(load).px              of one body
 *     reaction(pin).fx .tx .force    of a joint or constraint; .force and .torque are magnitudes
 *     reaction(pin at first in arm)  about the joint's point on its first body, in the axes of "arm"
 *     spring.length  spring.rate     of a force element: the variables of its law
 *     touch.gap  touch.rate          of a contact: the least distance, negative where it touches
 *     force(spring)                  its tension or generalised force; of the others the magnitude of the
 *                                    force, of contacts the normal force; .fx .. .tz on the second body;
 *                                    .power; .work since the start; .friction of contacts
 *     drive(pin)                     what prescribed motions of a joint exert; .power
 *     body.hook.z  point(hook, 1, 0, 0)  a frame with a name is used as a body, but has no com and momentum
 *     distance(a, b)                 of the frames of two bodies, or of point(...) and com(...); .rate
 *     kinetic, potential             energies
 */
#ifndef LW_MODEL_QUANTITY_H
#define LW_MODEL_QUANTITY_H

#include "model/data.h"

#include <linkwork/results.h>

/* What a value needs besides the model (lw_quantity_source); each bit stands alone. */
enum {
    LW_NEEDS_POSITION = 1,     /* data after lw_positions and lw_world_poses */
    LW_NEEDS_VELOCITY = 2,     /* data after lw_velocities and lw_world_poses */
    LW_NEEDS_ACCELERATION = 4, /* vdot */
    LW_NEEDS_MOTION_RATES = 8, /* accelerations of all bodies (lw_body_accelerations) */
    LW_NEEDS_REACTION = 16,    /* reactions of joints */
    LW_NEEDS_MULTIPLIER = 32,  /* multipliers of constraints */
    LW_NEEDS_FORCES = 64,      /* evaluated force elements (lw_force_values) */
    LW_NEEDS_LEDGER = 128,     /* the energy ledger of a run */
    LW_NEEDS_RUN = 256,        /* violations, which a run monitors */
    LW_NEEDS_WORK = 512        /* works of force elements, which a run integrates */
};
/* Quantities that need no more than this are functions of t, q and v alone, and may be used in forces. */
#define LW_NEEDS_KINEMATICS (LW_NEEDS_POSITION | LW_NEEDS_VELOCITY)

typedef enum lw_quantity_kind {
    LW_Q_NONE = 0, /* ends a list of kinds */
    LW_Q_TIME,
    LW_Q_COORDINATE,
    LW_Q_SPEED,
    LW_Q_ACCELERATION,
    LW_Q_DRIVE,
    LW_Q_REACTION,
    LW_Q_CONSTRAINT,
    LW_Q_POSITION,
    LW_Q_ROTATION,
    LW_Q_CARDAN,
    LW_Q_VELOCITY,
    LW_Q_SPIN,
    LW_Q_BODY_ACCELERATION,
    LW_Q_SPIN_RATE,
    LW_Q_COM,
    LW_Q_COM_VELOCITY,
    LW_Q_COM_ACCELERATION,
    LW_Q_MOMENTUM,
    LW_Q_POINT,
    LW_Q_POINT_VELOCITY,
    LW_Q_POINT_ACCELERATION,
    LW_Q_DISTANCE,
    LW_Q_ELEMENT, /* the variables of a force element */
    LW_Q_FORCE,
    LW_Q_TOTAL_MOMENTUM,
    LW_Q_ENERGY,
    LW_Q_LEDGER,
    LW_Q_VIOLATION,
    LW_Q_STATE,  /* a user state, under its name; for results only */
    LW_Q_OUTPUT, /* an output in its unit, under its name; for results only */
    LW_Q_INPUT,  /* the value of an input, and of a parameter, under their names; for results only */
    LW_Q_PARAMETER,
    LW_Q_KINDS
} lw_quantity_kind;

typedef enum lw_object_kind {
    LW_OBJECT_NONE,
    LW_OBJECT_JOINT,
    LW_OBJECT_CONSTRAINT,
    LW_OBJECT_BODY,
    LW_OBJECT_POINT, /* a body and a place on it */
    LW_OBJECT_PAIR,  /* two of them */
    LW_OBJECT_FORCE,
    LW_OBJECT_STATE,
    LW_OBJECT_OUTPUT,
    LW_OBJECT_INPUT,
    LW_OBJECT_PARAMETER
} lw_object_kind;

/* Where a body is named, indices up to body_count are labels of bodies, those behind them are frames: frame k
 * has the index body_count + 1 + k. A quantity keeps the label of the body and the marker, 1 + k, or 0 for
 * the body's own frame.
 *
 * The type is not called lw_quantity, which is a physical quantity (expression/units.h). */
typedef struct lw_state_quantity {
    lw_quantity_kind kind;
    int object;    /* joint, force or constraint in the spec's order, or label of a body */
    int other;     /* distance: the second body; cut joint: its loop */
    int axes;      /* body in whose axes the components are; 0: the world's, or a frame's on ground */
    int marker[2]; /* of object and other, where these are bodies */
    int axes_marker;
    bool at_first; /* wrench about the point on the first body */
    int component;
    double at[2][3];    /* points in the internal frames of object and other */
    double given[2][3]; /* the same in the frames of the user, for names */
    bool centre[2];     /* distances: the point is the centre of mass, and called so */
    unsigned needs;
    const char *unit;   /* SI, "" if there is none */
    lw_meaning meaning; /* what it measures */
} lw_state_quantity;

enum {
    LW_QUANTITY_COMPONENTS = 10, /* of one vector, at most */
    LW_QUANTITY_NAME = 768,      /* the longest name, with its end */
    LW_FORCE_POWER = 7,          /* components of force(F) */
    LW_FORCE_WORK = 8,
    LW_FORCE_FRICTION_OF_CONTACT = 9
};

/* What is known of a state besides lw_data. Each pointer may be NULL: quantities that need it are NAN. */
typedef struct lw_force_value lw_force_value;
typedef struct lw_quantity_source {
    double t;
    const double *vdot;           /* accelerations of the speeds */
    const double *motion_rates;   /* 6 per body, 0 .. n (lw_body_accelerations) */
    const double *reactions;      /* joint_count x 6 as in dynamics.h */
    const double *multipliers;    /* one per row of the constraints */
    const lw_force_value *forces; /* one per element (lw_force_values) */
    const lw_ledger *ledger;
    const double *states, *outputs; /* user states; outputs in SI units */
    const double *works;            /* works of force elements */
    const double *inputs;           /* values of inputs: no NAN for defaults that are expressions */
    double position_violation, velocity_violation;
} lw_quantity_source;

/* --- names (quantity_find.c) ---------------------------------------------------------------------- */

/* The longest name of a quantity at the beginning of text; returns its length in text, 0 if none begins here.
 * Then the message in syntax (which may be NULL) says why, if the text looks like a quantity: an unknown
 * joint, a component that there is not; otherwise the message is empty. A name that is not made of letters,
 * digits, _ and dots stands in quotes, 'left-knee'.q; between parentheses it need not. The numbers of a point
 * are constant expressions, with units and parameters. */
size_t lw_quantity_find(const lw_model *model, const char *text, lw_state_quantity *quantity,
                        lw_syntax *syntax);

/* What stands between the parentheses of a quantity. */
typedef struct lw_quantity_target {
    lw_object_kind kind;
    int object; /* its index; of points and distances the first body; may be that of a frame */
    int bodies[2];
    double own[2][3]; /* points and distances: places in their frames, */
    bool centre[2];   /* or their centres of mass */
    int axes;
    bool at_first;
} lw_quantity_target;
/* Reads a target for objects of this kind, and the parenthesis behind it; returns the length, 0 with syntax
 * filled if something is wrong. Where a joint is wanted, a constraint may stand (then kind says so). */
size_t lw_quantity_target_read(const lw_model *model, lw_object_kind kind, const char *text,
                               lw_quantity_target *target, lw_syntax *syntax);
/* The component of a vector of the target. false: there is none, or not in these axes. */
bool lw_quantity_of_target(const lw_model *model, lw_quantity_kind kind, const lw_quantity_target *target,
                           int component, lw_state_quantity *quantity);

/* --- kinds (quantity.c) --------------------------------------------------------------------------- */

typedef struct lw_component {
    const char *name, *unit;
} lw_component;
/* The components of a vector of an object, in order; returns how many there are. A name may be "": the vector
 * itself, as in force(spring). */
int lw_quantity_components(const lw_model *model, lw_quantity_kind kind, int object,
                           lw_component list[LW_QUANTITY_COMPONENTS]);
lw_object_kind lw_quantity_object(lw_quantity_kind kind);
/* The quantity of this component in world axes. Of points and distances the places have still to be set. */
void lw_quantity_make(const lw_model *model, lw_quantity_kind kind, int object, int component,
                      lw_state_quantity *quantity);
/* Sets place 0 or 1 of a point or distance, in the frame of the body or marker of this index. */
void lw_quantity_place(const lw_model *model, lw_state_quantity *quantity, int end, int body,
                       const double own[3]);
/* May its components be taken in the axes of a body, and about the point on the first body? */
bool lw_quantity_has_axes(lw_quantity_kind kind);
bool lw_quantity_has_sides(lw_quantity_kind kind);
/* Takes the components of vectors in the axes of a body, and the wrench of a reaction about the point on its
 * first body. */
void lw_quantity_refer(const lw_model *model, lw_state_quantity *quantity, int axes, bool at_first);
/* Is this the index of a frame, and not the label of a body? */
static inline bool lw_is_marker(const lw_model *model, int index) { return index > model->body_count; }
/* Axes of a body's own frame, or of a marker on it, in the body's internal frame. */
static inline const double *lw_marker_axes(const lw_model *model, int body, int marker) {
    return marker > 0 ? model->frames[marker - 1].pose.R : model->bodies[body].frame.R;
}
/* Is this the name of a quantity that belongs to no object, such as the kinetic energy? */
bool lw_quantity_is_alone(const char *name);
/* Its name in results files. Points are given by their coordinates in the body's frame. */
void lw_quantity_print(const lw_model *model, const lw_state_quantity *quantity, char name[LW_QUANTITY_NAME]);
/* Do the quantities belong to the same vector, so that one evaluation serves both? */
bool lw_quantity_same_vector(const lw_state_quantity *a, const lw_state_quantity *b);

/* --- values (quantity_value.c) -------------------------------------------------------------------- */

/* The value in the state of data; allocates nothing. O(1), but O(bodies) of energies and total momentum. */
double lw_quantity_value(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                         const lw_state_quantity *quantity);
/* All components of its vector. */
void lw_quantity_vector(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                        const lw_state_quantity *quantity, double out[LW_QUANTITY_COMPONENTS]);

/* Spatial accelerations of all bodies in internal axes, 6 each, 0 .. n, from those of the speeds; after
 * lw_velocities. Of prescribed speeds vdot must hold the accelerations, too. */
void lw_body_accelerations(const lw_model *model, const lw_data *data, const double *vdot, double *A);

/* The power of the wrenches of all joints along their prescribed speeds, that of forces on the same speeds
 * included; after lw_velocities and lw_world_poses. reactions: 6 numbers per joint. */
double lw_prescribed_wrench_power(const lw_model *model, const lw_data *data, const double *reactions);

/* A force element in a state. */
struct lw_force_value {
    double value;     /* tension, generalised force, magnitude of the force; contact: the normal force */
    double wrench[6]; /* force and torque on the second body (applied: on the body), world axes, at: */
    double at[2][3];  /* its points on the second and on the first body, in the world */
    double power;     /* what it supplies to the bodies: -dU/dt of its potential included */
    lw_power booked;  /* its power in the ledger */
    double potential; /* its potential energy, if that was asked for */
    double friction;  /* contact: magnitude of the force of friction */
};
/* Evaluates all elements, or those of the list; data is as after lw_forces, and keeps its loads. potential:
 * with potentials, which takes integrating laws. After lw_velocities and lw_world_poses. */
void lw_force_values(const lw_model *model, lw_data *data, double t, bool potential, lw_force_value *values);

/* --- derivatives (quantity_gradient.c) ------------------------------------------------------------ */

/* Derivatives of a quantity of kinematics: dq[k] along the motion that speed k makes, with speeds v kept, and
 * dv[k] with respect to speed k; nv each, overwritten; either may be NULL. After lw_velocities and
 * lw_world_poses. Returns false, with zeros, for quantities that need more than kinematics and for those that
 * have no derivatives (a distance of zero, Cardan angles where they are singular). */
bool lw_quantity_gradient(const lw_model *model, const lw_data *data, const lw_state_quantity *quantity,
                          double *dq, double *dv);

#endif
