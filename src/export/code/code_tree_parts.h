/* code_tree_parts.h - what the recursions on the tree share: code_tree.c, code_forward.c.
 */
#ifndef LW_CODE_TREE_PARTS_H
#define LW_CODE_TREE_PARTS_H

#include "export/code/code_build.h"

typedef struct code_inertia {
    code_node mass, moment[3], second[6];
} code_inertia;

/* The coordinate axis about which E turns, or -1. */
int code_axis_of(const code_graph *g, const code_node E[9]);
/* E S E' for a symmetric S. */
void code_turn_symmetric(code_graph *g, const code_node E[9], const code_node S[6], code_node out[6]);
/* Inertias of all bodies, 0 .. n, regrouped; to be freed. held: with the moments of idle spins. */
code_inertia *code_regrouped(code_build *b, bool held);
/* The acceleration that a body has without its joint's: that of the parent, seen from here, and bias. */
void code_carry(code_graph *g, const code_body *own, const code_node parent_a[6], const code_node parent_w[3],
                code_node x[6]);
/* The wrench that a body asks for at angular velocity w and acceleration x; x NULL: for w alone. */
void code_wrench(code_graph *g, const code_inertia *I, const code_node w[3], const code_node *x,
                 code_node f[6]);
/* Adds a wrench on a body to that of its parent. */
void code_to_parent(code_graph *g, const code_body *own, const code_node f[6], code_node total[6]);

#endif
