/* compile.h - the interface between the parts of the compiler.
 *
 *   validate.c          faults of a single body, joint, force or constraint
 *   compile.c           the sequence of all parts, names, initial state
 *   compile_geometry.c  reference configuration, joint frames
 *   compile_tree.c      spanning tree, loops, internal frames
 *   compile_forces.c    force elements, constraints, prescribed motions
 *   compile_events.c    events
 *   idle_spins.c        rotations that move no inertia and on which nothing acts
 */
#ifndef LW_COMPILE_H
#define LW_COMPILE_H

#include "model/joint.h"
#include "model/compiled_model.h"
#include "model/names.h"
#include "model/spec/spec_storage.h"

/* A joint with its frames, before the tree is known. Bodies are in the user's order, 0 is ground. */
typedef struct lw_joint_draft {
    int bodies[2];
    lw_joint joint;
    lw_pose frames[2]; /* In the users' body frames. */
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V];
    unsigned prescribed;
    bool usable; /* Its bodies are known and its geometry is valid. */
} lw_joint_draft;

typedef struct lw_compiler {
    const lw_spec *spec;
    lw_report *report;
    int errors;
    bool partial;      /* The spec is incomplete: an unknown name is no fault. */
    lw_arena *scratch; /* Freed after compiling. */
    lw_names bodies, joints;
    /* Per body 0 .. n in the user's order: pose of the body frame in the reference configuration. */
    lw_pose *reference;
    bool *posed;            /* The pose is given explicitly. */
    lw_joint_draft *drafts; /* spec's joints */
    lw_constant *constants; /* parameters, for expressions */
    lw_constant *inputs;
    bool *input_used; /* in some expression */
    lw_model *model;
} lw_compiler;

/* Reports an error in an object such as kind "joint", name "pin". */
void lw_compile_error(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                      const char *remedy, const char *format, ...) LW_PRINTF(6, 7);
void lw_compile_warning(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                        const char *remedy, const char *format, ...) LW_PRINTF(6, 7);

/* The body (user's order) or joint of that name, or -1 after an error that suggests the closest name. */
int lw_compile_body(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                    const char *body);
int lw_compile_joint(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *joint);
/* A function of the named variables and of inputs (of t alone: without inputs, for motions); NULL after an
 * error. */
const lw_function *lw_compile_function(lw_compiler *compiler, const char *kind, const char *name,
                                       lw_place place, const char *what, const char *text,
                                       const char *const *variables, size_t variable_count);
const lw_function *lw_compile_motion(lw_compiler *compiler, const lw_joint_spec *joint, const char *text);

/* validate.c: false after an error. */
bool lw_validate_body(lw_compiler *compiler, const lw_body_spec *body);
bool lw_validate_joint(lw_compiler *compiler, const lw_joint_spec *joint);
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

#endif
