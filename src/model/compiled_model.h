/* compiled_model.h - the inner structure of the compiled model: flat arrays in regular labelling.
 *
 * Each body i has an internal frame. Its origin is the point of its tree joint on the body's side, so that
 * the joint's motion needs no transformation there. Its axes are those of the joint's frame (z along the axis
 * of a one-axis joint); but where a revolute or prismatic joint moves about or along a coordinate axis of the
 * parent, they are the parent's at q = 0 ("aligned"), so that no rotation to the joint's base is needed
 * either. bodies[i].frame is the pose of the user's body frame in the internal frame.
 */
#ifndef LW_COMPILED_MODEL_H
#define LW_COMPILED_MODEL_H

#include "core/core.h"
#include "linalg/spatial.h"
#include "expression/function.h"
#include "model/graph.h"
#include "model/joint_types.h"
#include "model/names.h"
#include "model/spec/shape_copy.h"
#include <linkwork/criterion.h>
#include <linkwork/model.h>

#include <stdint.h>

typedef struct lw_pose {
    double R[9], p[3];
} lw_pose;

/* The motion that a joint allows, in its own frame: enough to evaluate it in the tree or in a closure. */
typedef struct lw_joint {
    lw_joint_type type;
    bool inverse;     /* Evaluate the motion of the first frame relative to the second. */
    bool straight;    /* In the tree: its frame on the parent has the parent's internal axes. */
    int axis;         /* Revolute, prismatic: the coordinate axis of the motion, 0 .. 2. */
    lw_kernel kernel; /* The kernel of its type. */
    /* Revolute, prismatic: +1 for a motion in the sense of the axis, -1 against it; translation: the sign of
     * all axes. */
    double sign;
    double pitch;       /* Screw: advance per radian. */
    const double *axes; /* Translation: direction k is axes[3k..]. */
    int nq, nv;
} lw_joint;

/* Body i and the tree joint that carries it, in the form that the recursions need; entry 0 is ground. The
 * first 64 bytes serve velocities and accelerations of an aligned joint, the second 64 bytes its inertia. */
typedef struct lw_link {
    _Alignas(64) int parent;
    int q, v; /* First coordinate and first speed. */
    /* The slot where it accumulates its children's terms (lw_node_sum, lw_node_swing), or -1 if it has
     * none. */
    int slot;
    signed char kernel;       /* An lw_kernel. */
    bool first;               /* It is the first of its siblings in a backward pass. */
    unsigned char prescribed; /* Bit k: speed k is prescribed. */
    bool principal;           /* inertia.second is diagonal. */
    float sign;               /* The sign of its joint. */
    double p[3];              /* Origin of the joint's frame in the parent's internal frame. */
    lw_rigid_inertia inertia;
    /* Axes of the joint's frame in the parent's internal frame: the identity for aligned joints. */
    double R[9];
    lw_joint joint;
} lw_link;

/* An angle whose sine and cosine the recursions need: sign * q[q]. */
typedef struct lw_turn {
    int q, v;
    double sign;
} lw_turn;

/* The speeds of body i and of all bodies that it carries, as columns of the mass matrix; the carried bodies
 * come first. A branch starts at an even column, so that columns can be processed in pairs: behind its end
 * there is either nothing or a column that is written later, nearer to ground. */
typedef struct lw_branch {
    int first, end;
} lw_branch;

/* The properties of body i that no recursion needs. */
typedef struct lw_body {
    const char *name;
    lw_body_kind kind;
    double com[3];   /* Centre of mass in the internal frame. */
    lw_pose frame;   /* the user's body frame in the internal frame */
    double held[6];  /* The part of the link's second moments that keeps idle spins determined (lw_idle). */
    int joint_index; /* Its tree joint in the spec's order. */
    int shape_count;
    const lw_shape *shapes; /* NULL if there are none */
    lw_place place;
} lw_body;

/* A named marker on a body. */
typedef struct lw_frame {
    const char *name;
    int body;     /* label */
    lw_pose pose; /* in the internal frame of the body */
    lw_pose own;  /* in the user's frame of the body */
    /* In the merged form of a model, for the frame of a body that is merged with others: its own inertia and
     * centre of mass, in the internal frame of the link; otherwise NULL. */
    const lw_rigid_inertia *inertia;
    double com[3];
} lw_frame;

/* A joint, in the tree or closing a loop, in the sense of the model file: from its first body to its
 * second. */
typedef struct lw_joint_entry {
    const char *name;
    lw_joint_info info;
    lw_joint joint;
    lw_pose frames[2];     /* On both bodies, in their internal frames; reactions are given at frames[1]. */
    bool given_q, given_v; /* Initial coordinates or speeds are given in the model file. */
    /* Coordinates, of cut joints too: the given ones, or those of the reference configuration. */
    double initial[LW_JOINT_MAX_Q];
    /* For a cut joint: the entry of q that counts the revolutions of coordinate k, or -1. */
    int winding[LW_JOINT_MAX_Q];
    lw_place place;
} lw_joint_entry;

/* An angle of a cut joint whose number of revolutions matters. Poses do not show whole revolutions, so the
 * angle has an entry of its own behind the coordinates of the tree. This entry is integrated like the others
 * but only selects the revolution; the angle itself follows from the poses of the bodies. */
typedef struct lw_cut_angle {
    int closure, coordinate; /* of the cut joint */
    int q;                   /* Its entry of q. */
} lw_cut_angle;

/* Prescribed motion of one speed, or of the rotation of a joint by three Cardan angles. */
typedef struct lw_motion {
    int body, speed; /* The tree joint, by its body, and its first prescribed speed. */
    int count;       /* 1, or 3 for Cardan angles */
    const lw_function *functions[3];
} lw_motion;

/* The surface and the shape of a contact, in the axes of frames[0] and frames[1] of its element, whose z axes
 * are their axes (model/contact.h). */
typedef struct lw_contact {
    lw_contact_surface surface;
    lw_contact_shape shape;
    bool inside;
    double radius, half_length, half_size[3]; /* of the surface; half_length: HUGE_VAL without ends */
    int probes;                               /* points at which the shape may touch */
    double probe[8][3];                       /* those that are fixed in it, in the frame of the shape */
    double probe_radius, reach; /* of the sphere around each; disc, capsule: radius, half length */
    double stiffness, exponent, damping, friction, smoothing;
} lw_contact;

/* The members that elements in joints need come first: one or two cache lines for each element. */
typedef struct lw_force {
    lw_force_type type;
    int q, v; /* joint coordinate and speed acted on; q is -1 where there is no such coordinate */
    /* The loop at whose cut joint it acts, with q and v counted from that joint's first; otherwise -1. */
    int closure;
    double stiffness, damping, free_length;
    const lw_function *law;   /* of x, v, t and the vector of values, as drive and components are */
    bool law_is_potential;    /* law of x alone */
    bool law_dissipates;      /* what the law takes is dissipation: the damping of a joint's stop */
    const lw_function *drive; /* of t, q, v */
    double viscous, coulomb, smoothing;
    int bodies[2];     /* labels */
    lw_pose frames[2]; /* bushing, contact: its frames on both; spring, applied: only p */
    double bushing_stiffness[6], bushing_damping[6];
    const lw_function *components[6]; /* applied: force, torque, of t; NULL is zero */
    bool follows_body;
    const lw_contact *contact; /* NULL of all other elements */
    const char *name;
} lw_force;

/* Does the element act on a coordinate of a joint, in the tree or cut, and not between bodies? */
static inline bool lw_force_type_in_joint(lw_force_type type) {
    return type == LW_FORCE_TORSION || type == LW_FORCE_DRIVE || type == LW_FORCE_FRICTION;
}

/* The curve of a coupled coordinate, a function of x = q - about: x itself, or a polynomial of `size`
 * coefficients, or a table (model/coupling.h evaluates it). */
typedef struct lw_coupling_curve {
    double about, polynomial[LW_POLYNOMIAL_MAX];
    int size;
    const lw_table *table;
} lw_coupling_curve;

typedef struct lw_constraint {
    const char *name;
    lw_constraint_type type;
    int bodies[2];
    double points[2][3]; /* internal frames */
    double length, radius;
    double axis[3], normal[3]; /* internal frames of bodies[0], bodies[1] */
    /* rolling: the two rows along the plane are perpendicular to the first of these directions, internal
     * frame of bodies[1], or to the second if the first is nearly normal to the plane */
    double along[2][3];
    lw_place place;
    int terms;
    int coordinates[LW_COUPLING_MAX], speeds[LW_COUPLING_MAX];
    double factors[LW_COUPLING_MAX], offset;
    const lw_coupling_curve *curves; /* coupling: one per term; NULL if all terms are linear */
} lw_constraint;

/* What an event sets: an input, a user state or a parameter, by number. */
typedef enum lw_set_kind { LW_SET_INPUT, LW_SET_STATE, LW_SET_PARAMETER } lw_set_kind;
typedef struct lw_model_event_set {
    lw_set_kind kind;
    int index;
    const char *name;
    const lw_function *value; /* of t and the vector of values, as `when` and impact_factor are */
} lw_model_event_set;

typedef struct lw_model_event {
    const char *name;
    const lw_function *when;
    int direction;
    lw_event_action action;
    int set_count;
    lw_model_event_set sets[LW_EVENT_SETS];
    int joint; /* restitution: in the spec's order; */
    /* the number of the speed, counted from the joint's first if this one closes loop number `closure`;
     * otherwise closure is -1. */
    int speed, closure;
    const lw_function *impact_factor;
    bool stands; /* It is the stop of a joint, which stands there from the start. */
    lw_place place;
} lw_model_event;

/* A rotation that moves no inertia and on which nothing acts (idle_spins.c). link.inertia includes a moment
 * about an axis of the body (internal axes) that makes its acceleration determined; no energy, momentum or
 * reaction includes it. */
typedef struct lw_idle {
    int body;
    double axis[3], moment;
} lw_idle;

/* An entry of the vector of values that is a coordinate or a speed of the tree, number `from`. */
typedef struct lw_value_copy {
    int entry, from;
} lw_value_copy;

/* Entries of the vector of values in the order in which they are computed: coordinates and speeds, other
 * quantities with those of one vector side by side, then signals and defaults; and what they need of a state
 * (LW_NEEDS_* of quantity.h). */
typedef struct lw_value_order {
    const lw_value_copy *coordinates, *speeds;
    const int *entries; /* quantity_count quantities, then the others */
    const bool *again;  /* per quantity: it belongs to the vector of the one before */
    int coordinate_count, speed_count, quantity_count, count;
    unsigned needs;
} lw_value_order;

/* The vector of values that expressions read: inputs, user states, signals, and the quantities of the state
 * that some expression uses (signals.h). */
typedef struct lw_values {
    int input_count, state_count, signal_count, quantity_count, count;
    lw_names state_names, signal_names; /* In the spec's order. */
    double *starts;                     /* of the user states */
    /* Per input, user state and signal: the expression of its default (NULL: a number), its rate, its
     * value. */
    const lw_function **functions;
    struct lw_state_quantity *quantities;
    /* What has to be computed for forces, for rates of user states, and for everything. */
    lw_value_order for_forces, for_rates, for_all;
    /* The same for forces and rates together, and for the model's events. */
    lw_value_order for_motion, for_events;
    /* The first element whose force depends on a quantity of the state, and the first that depends on a user
     * state; -1: none does. */
    int element_of_quantities, element_of_states;
    /* The user states that motions depend on come first in this list, then those that the rates of these
     * depend on; what their rates need is for_motions, without quantities. */
    const int *moving;
    int mover_count, moving_count;
    lw_value_order for_motions;
} lw_values;

/* Is there nothing to compute for an order, so that expressions read the inputs as they are? */
static inline bool lw_values_are_inputs(const lw_values *values, const lw_value_order *order) {
    return order->count + order->coordinate_count + order->speed_count + values->state_count == 0;
}

typedef struct lw_output {
    const lw_function *function; /* of t and the vector of values */
    unsigned needs;
    const char *column; /* its name in results: output(NAME) where the name alone is that of something else */
    const char *unit;   /* of its columns in results; "": none */
    double numerator, denominator; /* A value in SI units times denominator / numerator is in this unit. */
} lw_output;

/* What a model keeps of its spec (kept_spec.h). */
typedef struct lw_kept_spec {
    const void *bytes; /* The spec as bytes; NULL if it is not known. */
    size_t size;
    uint64_t fingerprint; /* A hash of the spec as bytes; 0 if the spec is not known. */
} lw_kept_spec;

/* A time at which forces or motions have a jump or kink that is known in advance. Rounding may move it within
 * before .. after, which contains `at`; these intervals are disjoint and ascend. */
typedef struct lw_model_knot {
    double before, at, after;
} lw_model_knot;

struct lw_model {
    lw_arena *arena;
    const lw_cut_move *moves; /* cuts that lw_model_compile has moved */
    int move_count;
    const char *name, *file;
    lw_run_spec run;
    double gravity[3];
    int body_count;     /* without ground */
    int nq, nv;         /* nq with the angles of cut joints, which come last */
    int revolute_count; /* The number of aligned revolute joints. */
    int turn_count;     /* The number of their angles and of those of universal joints. */
    lw_turn *turns;
    int slot_count;      /* The largest number of inertias that a backward pass holds at the same time. */
    lw_link *links;      /* 0 .. body_count */
    lw_branch *branches; /* 0 .. body_count */
    int *column_speeds;  /* The speed of each column; -1 for columns that are skipped, and at the end. */
    lw_body *bodies;     /* 0 .. body_count */
    /* Per speed: a pivot of the mass matrix below this value counts as zero (compile.c). */
    double *pivot_floor;
    /* Per speed: inertia of a rotor that follows the coordinate; NULL if no joint has one. */
    double *armature;
    double *compliance; /* 2 per joint, in the spec's order: translation, rotation; NULL if all are rigid */
    double *q0, *v0;
    int frame_count;
    lw_frame *frames; /* the spec's order */
    int joint_count;
    lw_joint_entry *joints; /* the spec's order */
    int closure_count;
    int *closures; /* the joints that close loops, in the order of the loops */
    int cut_angle_count;
    lw_cut_angle *cut_angles;
    int motion_count;
    lw_motion *motions;
    int force_count;
    lw_force *forces;
    int knot_count, rhythm_count;
    lw_model_knot *knots;   /* Times at which forces or motions have a jump or kink (model_knots.h), */
    lw_knot *rhythms;       /* and those that recur, */
    int *rhythm_groups;     /* in groups of so many neighbours of one period. */
    bool depends_on_time;   /* prescribed motions, or elements that are functions of t */
    bool forces_need_world; /* some element needs world poses */
    int constraint_count;
    lw_constraint *constraints;
    int event_count;
    lw_model_event *events;
    int idle_count;
    lw_idle *idle;
    lw_graph graph;
    lw_names body_names, joint_names; /* By label, and in the spec's order. */
    lw_names force_names;             /* In the spec's order. */
    lw_names frame_names;             /* In the spec's order. */
    lw_names input_names;             /* In the spec's order. */
    double *input_defaults;           /* NAN: the default is an expression. */
    lw_values values;
    lw_names output_names; /* In the spec's order. */
    lw_output *outputs;
    lw_names parameter_names; /* In the spec's order. */
    double *parameter_values;
    lw_mesh_pool meshes; /* of the shapes of bodies */
    lw_kept_spec kept;   /* Only in models of lw_model_compile. */
    /* The same mechanism with welded bodies as one link each, for methods and recursions (compile_welds.c);
     * NULL: no weld is merged. It belongs to the same arena, and has the same coordinates, speeds, loops,
     * elements and constraints in the same order. */
    const lw_model *merged;
    const int *merged_joint; /* joint -> its index in the merged form; -1: a weld that is merged */
    int merged_count;        /* number of merged welds */
    /* In a merged form: mass of the bodies that are ground, and their mass times their centre, which count in
     * the centre of mass and the potential energy of the mechanism. Otherwise zero. */
    double fixed_mass, fixed_moment[3];
};

/* The form of a model that methods and recursions work on. */
static inline const lw_model *lw_merged(const lw_model *model) {
    return model->merged ? model->merged : model;
}

/* The longest arm on a body, in metres: the largest distance of a joint, a constraint's point or the centre
 * of mass from the origin of a body's internal frame, or the largest length or radius that a constraint
 * keeps. 1 if all of these are zero. It depends on the model alone; constraints/characteristic_length.h has
 * the lengths that depend on the state. */
double lw_longest_arm(const lw_model *model);
/* The same, wherever the mechanism lies: joints on ground count by their distances from the first of them. */
double lw_model_extent(const lw_model *model);

/* Inertia of a body without the moments that hold idle spins. */
static inline lw_rigid_inertia lw_true_inertia(const lw_model *model, int body) {
    lw_rigid_inertia I = model->links[body].inertia;
    for (int k = 0; k < 6 && model->idle_count; k++) I.second[k] -= model->bodies[body].held[k];
    return I;
}

/* Inertia and centre of mass of a body of the user: those of a link, or of a member of it that has a frame of
 * its own (marker: 1 + the index of the frame, or 0). */
static inline lw_rigid_inertia lw_member_inertia(const lw_model *model, int body, int marker) {
    const lw_rigid_inertia *own = marker > 0 ? model->frames[marker - 1].inertia : NULL;
    return own ? *own : lw_true_inertia(model, body);
}
static inline const double *lw_member_com(const lw_model *model, int body, int marker) {
    const bool own = marker > 0 && model->frames[marker - 1].inertia;
    return own ? model->frames[marker - 1].com : model->bodies[body].com;
}

/* Bit k: speed k of a body's joint turns a rotor. */
static inline unsigned lw_rotor_speeds(const lw_model *model, int body) {
    const lw_link *link = &model->links[body];
    unsigned speeds = 0;
    for (int k = 0; model->armature && k < link->joint.nv; k++)
        if (model->armature[link->v + k] > 0) speeds |= 1u << k;
    return speeds;
}

/* Kinetic energy of the rotors: J v^2 / 2 each. */
static inline double lw_rotor_energy(const lw_model *model, const double *v) {
    double energy = 0;
    for (int k = 0; model->armature && k < model->nv; k++) energy += 0.5 * model->armature[k] * v[k] * v[k];
    return energy;
}

/* Compiles a spec with the cuts that its graph asks for (lw_model_compile chooses better ones where these are
 * poor). */
lw_status lw_compile_as_cut(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                            lw_model **model);

/* Does an event of the model set this input, user state or parameter? */
static inline bool lw_model_event_sets(const lw_model *model, lw_set_kind kind, int index) {
    for (int e = 0; e < model->event_count; e++)
        for (int k = 0; k < model->events[e].set_count; k++)
            if (model->events[e].sets[k].kind == kind && model->events[e].sets[k].index == index) return true;
    return false;
}

#endif
