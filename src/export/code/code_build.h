/* code_build.h - the equations of a mechanism as nodes of a graph (docs/theory/generated-c.md).
 *
 * A build holds what is known of one state: coordinates and speeds with the prescribed ones filled in, the
 * kinematics of all bodies, the values that expressions read, loads. Its arrays are nodes; what nothing asks
 * for is never printed.
 */
#ifndef LW_CODE_BUILD_H
#define LW_CODE_BUILD_H

#include "export/code/code_vectors.h"
#include "model/compiled_model.h"
#include "model/quantity/quantity.h"

/* One body and the joint that carries it, in its internal axes. */
typedef struct code_body {
    code_node E[9], r[3];                 /* pose in the parent's internal frame */
    code_node S[6 * LW_JOINT_MAX_V];      /* motion subspace */
    code_node bias[6];                    /* S° v */
    code_node w[3], carried[3];           /* angular velocity; that of the parent in these axes */
    code_node R[9], p[3];                 /* world pose */
    code_node V[6];                       /* twist */
    code_node load[6];                    /* wrench of the elements, about the internal origin */
    code_node mass, moment[3], second[6]; /* inertia, with what holds idle spins */
    code_node true_second[6];             /* without */
    code_node link_R[9], link_p[3];       /* the joint's frame in the parent's internal frame */
} code_body;

typedef struct code_build {
    code_graph *g;
    const lw_model *model; /* merged */
    bool open;           /* coordinates that follow motions are arguments like the others; no elements act */
    code_body *bodies;   /* 0 .. body_count */
    code_node t, *q, *v; /* with prescribed entries */
    code_node *vdot;     /* of prescribed speeds; -1 for others */
    code_node *tau;      /* of elements, per speed */
    code_node *values;   /* the vector of values that expressions read; -1: not yet known */
    code_node *armature; /* per speed */
    code_node gravity[3];
    const char *refusal; /* what cannot be generated, or NULL */
    char refused[160];   /* its object */
} code_build;

/* Takes a state: q, v from the arguments, motions, kinematics; then loads. g->failed where memory is out;
 * refusal where the model has something that cannot be generated. */
void code_build_create(code_build *b, code_graph *g, const lw_model *model);
/* The same with all coordinates and speeds as arguments, and without elements. */
void code_build_create_open(code_build *b, code_graph *g, const lw_model *model);
void code_build_destroy(code_build *b);
/* Is speed k of a joint given by a motion? */
static inline bool code_follows(const code_build *b, const lw_link *link, int k) {
    return !b->open && (link->prescribed >> k & 1);
}
void code_refuse(code_build *b, const char *object, const char *why);

/* --- code_joint.c --------------------------------------------------------------------------------- */

/* Pose of the child's joint frame in the parent's, motion subspace and bias of a joint. */
void code_joint_motion(code_graph *g, const lw_joint *joint, const code_node *q, const code_node *v,
                       code_node R[9], code_node p[3], code_node *S, code_node bias[6]);
/* qdot of a joint. */
void code_joint_rate(code_graph *g, const lw_joint *joint, const code_node *q, const code_node *v,
                     code_node *qdot);

/* --- code_expression.c ---------------------------------------------------------------------------- */

/* The value of a function at these variables. */
code_node code_function(code_build *b, const lw_function *function, const code_node *variables);
/* An entry of the vector of values. */
code_node code_value(code_build *b, int entry);
/* The rate of user state k. */
code_node code_state_rate(code_build *b, int k);
/* Fills q, v and vdot at prescribed speeds. */
void code_motions(code_build *b);

/* --- code_quantity.c ------------------------------------------------------------------------------ */

code_node code_quantity(code_build *b, const lw_state_quantity *quantity);
/* World position and velocity of a point fixed in a body's internal frame. */
void code_point(code_build *b, int body, const code_node at[3], code_node x[3], code_node xdot[3]);
/* The quaternion of a rotation, of either sign. */
void code_quaternion_of(code_graph *g, const code_node R[9], code_node q[4]);
/* Three numbers of the model, as lengths. */
void code_numbers3(code_graph *g, const double x[3], double scale, code_node out[3]);

/* --- code_forces.c -------------------------------------------------------------------------------- */

/* Loads and joint forces of all elements, into load and tau. */
void code_forces(code_build *b);

/* --- code_tree.c ---------------------------------------------------------------------------------- */

/* Kinematics of all bodies, after motions. */
void code_kinematics(code_build *b);
/* tau for accelerations, without force elements if loads is false; held: with the moments of idle spins. */
void code_inverse(code_build *b, const code_node *vdot, bool loads, bool held, code_node *tau);
void code_mass_matrix(code_build *b, bool held, code_node *mass);

/* Forward dynamics; pivots, nv of them, are the numbers that have to be positive, -1 where there is none. By
 * the articulated-body recursion, or by the mass matrix and its factors. */
void code_forward_articulated(code_build *b, const code_node *tau, code_node *vdot, code_node *pivots);
void code_forward_composite(code_build *b, const code_node *tau, code_node *vdot, code_node *pivots);

#endif
