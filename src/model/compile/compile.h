/* compile.h - the interface between the parts of the compiler.
 *
 *   validate.c          faults of a single body, joint, force or constraint
 *   validate_coordinates.c  rotors, zeros, limits and stops of a joint
 *   compile.c           the sequence of all parts, names, initial state
 *   compile_frames.c    named frames on bodies, and names that mean a body or a frame
 *   compile_geometry.c  reference configuration, joint frames
 *   compile_tree.c      spanning tree, loops, internal frames
 *   compile_welds.c     welded bodies as one link each
 *   compile_signals.c   inputs, user states, signals, outputs: the vector of values that expressions read
 *   compile_forces.c    force elements, constraints, prescribed motions
 *   compile_events.c    events
 *   compile_limits.c    limits and stops of joints as forces and events
 *   idle_spins.c        rotations that move no inertia and on which nothing acts
 */
#ifndef LW_COMPILE_H
#define LW_COMPILE_H

#include "expression/units.h"
#include "model/joint.h"
#include "model/compiled_model.h"
#include "model/names.h"
#include "model/spec/spec_storage.h"
#include <linkwork/dynamics.h>

/* A body in the user's order (0 is ground, -1 is none), with the frame that stands for it, in the body's
 * frame; NULL: the body stands for itself. */
typedef struct lw_mount {
    int body;
    const lw_pose *frame;
} lw_mount;

/* A joint with its frames, before the tree is known. Bodies are in the user's order, 0 is ground. */
typedef struct lw_joint_draft {
    int bodies[2];
    const lw_pose *mounts[2]; /* as in lw_mount */
    lw_joint joint;
    lw_pose frames[2]; /* In the users' body frames. */
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V];
    unsigned prescribed;
    bool usable; /* Its bodies are known and its geometry is valid. */
} lw_joint_draft;

/* A body that is merged with the carrier of its group, and the pose of its frame in the carrier's. */
typedef struct lw_member {
    const lw_body_spec *body;
    lw_pose in;
} lw_member;

/* The members of links beside their carriers: of link l those from first[l] to first[l + 1] - 1. */
typedef struct lw_merge {
    int *first;
    lw_member *members;
} lw_merge;

typedef struct lw_compiler {
    const lw_spec *spec; /* with the forces and events of joints' limits behind those that are given */
    int given_forces;    /* number of forces that are given */
    int given_events;
    lw_report *report;
    int errors;
    bool partial;      /* The spec is incomplete: an unknown name is no fault. */
    lw_arena *scratch; /* Freed after compiling. */
    lw_names bodies, joints, frames;
    /* Per frame of the spec: its body in the user's order, -1 if there is none, and its pose there. */
    int *frame_bodies;
    lw_pose *frame_poses;
    /* Per body 0 .. n in the user's order: pose of the body frame in the reference configuration. */
    lw_pose *reference;
    bool *posed;            /* The pose is given explicitly. */
    lw_joint_draft *drafts; /* spec's joints */
    lw_constant *constants; /* parameters, for expressions */
    lw_named_table *tables;
    lw_constant *values;      /* inputs, user states and signals, in the order of the vector of values */
    bool *value_used;         /* in some expression */
    unsigned *value_needs;    /* LW_NEEDS_* of signals and defaults */
    const char **value_cause; /* the quantity that needs more than kinematics, or NULL */
    struct lw_state_quantity *quantities; /* those that expressions use so far */
    const char **quantity_texts;          /* as they are written */
    int quantity_count, quantity_capacity;
    int *order; /* signals and defaults of inputs, each behind those that it uses */
    int order_count;
    lw_merge *merge; /* NULL: every body is a link */
    lw_model *model;
} lw_compiler;

/* Where an expression stands, and what it may use. */
typedef enum lw_expression_use {
    LW_USE_FORCE,  /* quantities of kinematics */
    LW_USE_RATE,   /* the same, for the rate of a user state */
    LW_USE_MOTION, /* time and user states */
    LW_USE_EVENT,  /* what the equations of motion give, accelerations and reactions too */
    LW_USE_OUTPUT  /* everything: it is evaluated when accelerations and reactions are known */
} lw_expression_use;

/* Reports an error in an object such as kind "joint", name "pin". */
void lw_compile_error(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                      const char *remedy, const char *format, ...) LW_PRINTF(6, 7);
void lw_compile_warning(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                        const char *remedy, const char *format, ...) LW_PRINTF(6, 7);

/* The joint of that name, or -1 after an error that suggests the closest name. */
int lw_compile_joint(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *joint);

/* compile_frames.c */

/* Names, bodies and poses of frames; when the names of bodies are known. */
lw_status lw_compile_frame_names(lw_compiler *compiler);
/* The frames of the model, when its bodies have internal frames. */
lw_status lw_compile_frames(lw_compiler *compiler);
/* The body or frame of that name: body -1 if there is none, after an error that suggests the closest name. */
lw_mount lw_compile_mount(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                          const char *wanted);
lw_mount lw_find_mount(const lw_compiler *compiler, const char *name); /* The same without an error. */
/* A point that is given in the frame that stands for the body, in the body's frame. */
void lw_mount_point(const lw_mount *mount, const double point[3], double out[3]);

/* An expression with its object, for messages. */
typedef struct lw_expression_text {
    const char *kind, *name; /* such as "force", "motor" */
    lw_place place;          /* of the object */
    const char *what, *text; /* such as "torque", "kp*error" */
} lw_expression_text;

/* compile_signals.c */

/* Inputs, user states and signals, by name. */
lw_status lw_compile_value_names(lw_compiler *compiler);
/* Signals, defaults of inputs and rates of user states; when joints, bodies and names of forces are known. */
lw_status lw_compile_signals(lw_compiler *compiler);
lw_status lw_compile_outputs(lw_compiler *compiler);
/* The orders of computation, when all expressions are compiled. */
lw_status lw_compile_value_orders(lw_compiler *compiler);
void lw_warn_of_unused_inputs(lw_compiler *compiler);
/* A function of the named variables and of the vector of values, as far as it may be used; NULL after an
 * error. */
const lw_function *lw_compile_function(lw_compiler *compiler, const lw_expression_text *text,
                                       const char *const *variables, size_t variable_count,
                                       lw_expression_use use);
/* Reports an expression that does not measure this quantity; for those that use values of the state, which
 * the reader cannot judge. */
void lw_compile_measure(lw_compiler *compiler, const lw_expression_text *text, const lw_function *function,
                        lw_quantity wanted);

/* compile_tables.c: the tables, for expressions. */
lw_status lw_compile_tables(lw_compiler *compiler);
/* The times of the run that the model suggests; all times if it suggests none. */
void lw_compile_run_range(const lw_compiler *compiler, double range[2]);
/* Reports a table in a motion whose slope jumps; returns whether there is one. */
bool lw_compile_motion_tables(lw_compiler *compiler, const lw_joint_spec *joint, const lw_function *function);

/* compile_coupling.c: the curves of the terms of a coupling; NULL if all are linear, or memory is out. */
const lw_coupling_curve *lw_compile_curves(lw_compiler *compiler, const lw_constraint_spec *spec);

/* validate.c: false after an error. */
bool lw_validate_body(lw_compiler *compiler, const lw_body_spec *body);
bool lw_validate_joint(lw_compiler *compiler, const lw_joint_spec *joint);
/* compile_limits.c: *spec is a given one with the forces and events of its joints' limits and stops behind
 * its own; what is added belongs to the arena. */
lw_status lw_expand_limits(const lw_spec *given, lw_arena *arena, lw_spec *spec);
/* validate_coordinates.c: armature, zero, limits and stop of a joint of a known type. */
void lw_validate_coordinates(lw_compiler *compiler, const lw_joint_spec *joint);
void lw_validate_planar(lw_compiler *compiler);
/* Eigenvalues of a symmetric 3 x 3 matrix, ascending. */
void lw_principal_moments(const double S[6], double e[3]);

/* compile_geometry.c */
lw_status lw_compile_reference(lw_compiler *compiler);
lw_status lw_compile_draft(lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft);
/* a / |a| for a finite, non-zero a of any size. */
void lw_unit(const double a[3], double out[3]);

/* compile_tree.c */
lw_status lw_compile_graph(lw_compiler *compiler);
lw_status lw_compile_tree(lw_compiler *compiler);
/* The moments of inertia of a link about its centre of mass, in internal axes. */
void lw_compile_central(const lw_compiler *compiler, int link, double J[6]);

/* compile_welds.c: the merged form of a model that is otherwise complete, where welds can be merged. */
lw_status lw_compile_merged(lw_compiler *compiler);

/* compile.c: what counts as zero of the pivots of a model whose links and initial state are known. */
lw_status lw_compile_floors(lw_model *model, lw_data *data);

/* compile_forces.c */
lw_status lw_compile_motions(lw_compiler *compiler);
lw_status lw_compile_forces(lw_compiler *compiler);
/* Adds entries of q for the angles of cut joints whose revolutions matter: those of screws, and those on
 * which elements depend. */
lw_status lw_compile_cut_angles(lw_compiler *compiler);
lw_status lw_compile_constraints(lw_compiler *compiler);
/* Free lengths that the model leaves to the initial state; to be called when this is known. */
lw_status lw_compile_lengths(lw_compiler *compiler);

/* compile_events.c */
lw_status lw_compile_events(lw_compiler *compiler);

/* model_knots.c: the jumps and kinks of all motions and elements at times that are known in advance. */
lw_status lw_compile_knots(lw_compiler *compiler);

/* idle_spins.c: to be called when the initial state is known, before pivots are judged. */
lw_status lw_compile_idle(lw_compiler *compiler);

/* --- between two bodies (compile_forces.c) ------------------------------------------------------------- */

/* A point, given in the world (reference configuration) or in the body or the frame that stands for it, in
 * the body's internal frame; and axes that are given in the same way. */
void lw_compile_point(const lw_compiler *compiler, const lw_mount *mount, lw_geometry_frame frame,
                      const double point[3], double out[3]);
void lw_compile_axes(const lw_compiler *compiler, const lw_mount *mount, lw_geometry_frame frame,
                     const double R[9], double out[9]);
/* Two different bodies by their names, and their labels if there is a tree; false after an error. */
bool lw_compile_pair(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *const wanted[2], lw_mount users[2], int labels[2]);
/* The surface, the shape and the numbers of a contact (compile_contact.c). */
void lw_compile_contact(lw_compiler *compiler, const lw_force_spec *spec, lw_force *force);

#endif
