/* code_closures.h - the rows of closures and constraints as nodes, and the coordinates of joints that close
 * loops (docs/theory/generated-c.md, 9).
 */
#ifndef LW_CODE_CLOSURES_H
#define LW_CODE_CLOSURES_H

#include "export/code/code_build.h"

/* Rows of all closures, then of all constraints, with redundant ones. */
typedef struct code_rows {
    int count, speeds;
    code_node *phi;  /* violation in m or rad; -1: slip, which has none */
    code_node *psi;  /* its rate, at the speeds of the state */
    code_node *bias; /* what it accelerates by if only prescribed speeds change */
    code_node *G;    /* count x speeds: the rate per speed; zero at prescribed ones */
    bool *length;    /* in m */
    /* Those that are independent, chosen by code_choose_rows. */
    int *chosen, rank;
} code_rows;

/* Memory out: graph->failed. To be destroyed in any case. */
void code_rows_create(code_build *b, code_rows *rows);
void code_rows_destroy(code_rows *rows);

/* Coordinates q and speeds v of a joint that closes a loop. false: it has a ball, whose rotation has no
 * coordinates of this kind, or slides in directions of the user's. */
bool code_cut_joint(code_build *b, int joint, code_node *q, code_node *v);
/* Adds a force at coordinate k of such a joint to the speeds of the tree. */
void code_cut_force(code_build *b, int joint, int k, code_node force);

/* States on the closures. Fails where lw_assemble does. */
typedef struct code_closer code_closer;
lw_status code_closer_create(const lw_model *model, code_closer **closer, lw_error *error);
void code_closer_destroy(code_closer *closer);
/* The initial state, closed. */
const double *code_closer_q0(const code_closer *closer);
const double *code_closer_v0(const code_closer *closer);
/* A state at t whose positions are near the initial ones, perturbed by this size. false: none was found. */
bool code_closer_state(code_closer *closer, double t, double size, uint64_t *random, double *q, double *v);

/* Inputs and user states that motions follow, for later calls; NULL: the defaults, and the starts. */
void code_closer_values(code_closer *closer, const double *inputs, const double *states);
/* Brings a state onto the closures; false if they stay open. */
bool code_closer_close(code_closer *closer, double t, double *q, double *v);

/* Chooses rows that are independent at most of the states that the closer finds. */
void code_choose_rows(code_build *b, code_rows *rows, code_closer *closer);
/* Of the pivots of a routine, the first that is not above its floor at most states; -1: none. */
int code_lost_pivot(code_build *b, code_closer *closer, const code_node *pivots, const double *floors,
                    int count);

#endif
