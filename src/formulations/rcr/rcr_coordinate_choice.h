/* rcr_coordinate_choice.h - independent coordinates of closed loops for the method rcr. They are chosen loop
 * by loop with the projective criterion, and the dependent speeds follow from the independent ones.
 *
 *   G v = rate,   v_D = -Delta^-1 (G_I v_I - rate),   Delta = G_D
 *
 * Every loop determines as many speeds of the joints on its path as it has independent rows. Loops are taken
 * in the static order of loop_constraints.h. Speeds that earlier loops determine are eliminated from the rows
 * of a loop, so that Delta consists of one small block for each loop.
 */
#ifndef LW_RCR_COORDINATE_CHOICE_H
#define LW_RCR_COORDINATE_CHOICE_H

#include "formulations/formulation.h"
#include "formulations/rcr/rcr_solve.h"

/* A speed of a joint on the path of a loop. */
typedef struct lw_path_speed {
    int speed, at, stride; /* The entry of row r of the loop's list in G is G[at + stride r]. */
} lw_path_speed;

/* A joint on the path from an end of a loop (a body on which its rows act) to its base. */
typedef struct lw_path_step {
    int body, segment;
    bool adds; /* The path from another end of the same loop has passed this joint before. */
} lw_path_step;

typedef struct lw_path_end {
    int body, block; /* The block of lw_rows that holds the wrenches on the body. */
    int step, steps;
} lw_path_end;

/* The rows of a loop after the elimination of other loops: a list of speeds, and the entries of each row at
 * these. */
typedef struct lw_rcr_front {
    int path_start, path_length; /* Range in path_speeds: the speeds on the loop's path. */
    int end, ends;               /* Range in lw_choice.ends. */
    int capacity, count;         /* Speeds that fit into the list, and speeds in it. */
    int *speed;
    double *R;       /* Row by row, `capacity` entries each. */
    double right[6]; /* The right-hand side of each row. */
} lw_rcr_front;

typedef struct lw_choice {
    const lw_model *model;
    const lw_rows *rows;
    const lw_loop_constraints *loops;
    const lw_rcr_system *system;
    bool sound;             /* cos^2 is large enough for errors of independent speeds not to be amplified. */
    bool made;              /* A choice exists. Then the six arrays below hold it. */
    int *rank;              /* Per loop: how many speeds it determines. */
    int *dependent;         /* From loop.first on: the speeds that the loop determines. */
    int *row;               /* From loop.first on: the rows that determine them, counted from loop.first. */
    int *owner;             /* Per speed: the loop that determines it; -1 if it is independent. */
    double *worth;          /* Per loop: cos^2 of its set, at most 1 (docs/theory/rcr.md, 5). */
    double *delta;          /* Per loop: |det Delta| when the choice was last reconsidered. */
    int changes;            /* How often the set has changed since the first choice. */
    struct lw_choice_made { /* A copy of the choice (lw_choice_keep). */
        bool sound, made;
        int *rank, *dependent, *row, *owner;
        double *worth, *delta;
    } kept;
    long work; /* Approximate number of multiplications in lw_choice_reconsider so far. */
    /* Structure of the loops. */
    lw_rcr_front *fronts;
    lw_path_speed *path_speeds;
    lw_path_step *steps;
    lw_path_end *ends;
    int *body_of;               /* Per speed: the body whose joint has it. */
    int *in_loops, loop_speeds; /* The speeds of joints that are part of a loop. */
    /* Quantities of a state. */
    double *G; /* Columns of the rows, laid out as segment.Y in loop_constraints.h. */
    /* 6 per speed: (angular velocity; velocity of the body's origin) for unit speed, world axes. */
    double *axis;
    /* 6 per speed: momentum of the body and all that it carries, for unit speed. */
    double *momentum;
    /* Per body: inertia of the body and all that it carries, world axes, about its origin. */
    lw_rigid_inertia *composite;
    /* Workspace: per speed; per speed of the largest front; and six times that. */
    /* where: per speed, its slot in the front that is loaded, or -1. former: owners before the last
     * recall. */
    int *where, *former;
    double *former_worth; /* Per loop: worth before the last recall. */
    double *step;
    double *square, *images, *left, *along, *mass;
    int *set, *present;
} lw_choice;

/* Returns NULL when memory is out. */
lw_choice *lw_choice_create(const lw_model *model, const lw_rows *rows, const lw_rcr_system *system,
                            lw_arena *arena);

/* Computes columns of the rows that are awake at the state in data: of all speeds, or of dependent ones only.
 * The wrenches K of the system must be set for the state and not yet eliminated. world: poses of the internal
 * frames. */
void lw_choice_columns(lw_choice *c, const lw_data *data, const lw_pose *world, bool all);

/* After lw_choice_columns: corrects the dependent speeds in v so that the defect G v - rate vanishes. Returns
 * false and leaves v unchanged if the set does not suit the state: if another number of rows is awake than it
 * was chosen for, or Delta has become small since. */
bool lw_choice_speeds(lw_choice *c, const double *defect, double *v);

/* Makes the first choice, or changes the sets that have become bad by the criterion, with a note at time t.
 * It needs lw_choice_columns of all speeds, a run of the system, and data->world of all bodies. Where rank is
 * lost for a moment the set stays. */
void lw_choice_reconsider(lw_choice *c, const lw_data *data, const lw_method_options *options, double t);

/* Keeps a copy of the choice, and restores it, so that results do not depend on states evaluated in
 * between. */
void lw_choice_keep(lw_choice *c);
void lw_choice_recall(lw_choice *c);

void lw_choice_archive(lw_choice *c, lw_archive *archive);

/* The name of the joint or constraint that closes a loop. */
const char *lw_choice_closing(const lw_choice *c, int loop);

/* The choice of an instance of the method rcr (rcr.c); and a choice made for a position at rest. */
lw_choice *lw_rcr_choice(lw_method *method);
lw_status lw_rcr_choose(lw_method *method, double t, const double *q, lw_error *error);
/* For a simulation by another method that starts from (q, v): fails with a message if no motion leads out of
 * this state, or more than one. */
lw_status lw_rcr_leads_out(lw_method *rcr, double t, const double *q, const double *v, lw_error *error);
/* For a simulation by another method, with steps up to `step`: fails with a message if a moving loop has come
 * to a singular position, where the continuation is defined by the limit along the motion only. A position
 * counts as singular below 1e-4 of the widest pivot, or below 0.015 if the steps have become stuck. */
lw_status lw_rcr_blocked(lw_method *rcr, double t, const double *q, const double *v, double step, bool stuck,
                         const char *method, lw_error *error);

/* --- fronts of the loops, for rcr_coordinate_choice.c and rcr_dependent_speeds.c ---------------------- */

/* Loads the rows at `slot` in the list of loop t, less what earlier loops determine, at all speeds or at
 * dependent ones only. where[] gives the slots of its speeds until lw_front_release. Returns false if the
 * list is too short. */
bool lw_front_load(lw_choice *c, int t, bool all, int rows, const int *slot, const double *defect);
/* Solves the front for the speeds at the slots `pick`, which leave the list; afterwards row k gives speed k.
 * Returns |det Delta|. */
double lw_front_solve(lw_choice *c, int t, int rows, int *pick);
void lw_front_release(lw_choice *c, int t);

#endif
