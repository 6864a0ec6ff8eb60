/* rcr_coordinate_choice.h - independent coordinates of closed loops for the method rcr: which speeds depend
 * on which, chosen loop by loop with the projective criterion, and the dependent ones from the others.
 *
 *   G v = rate,   v_D = -Delta^-1 (G_I v_I - rate),   Delta = G_D
 *
 * Every loop determines as many speeds of the joints on its way as it has independent rows. Loops are taken
 * in the static order of loop_constraints.h; what a loop needs of those before is eliminated from its rows,
 * so that Delta is one small block for each loop.
 */
#ifndef LW_RCR_COORDINATE_CHOICE_H
#define LW_RCR_COORDINATE_CHOICE_H

#include "formulations/formulation.h"
#include "formulations/rcr/rcr_solve.h"

/* A speed of a joint on the way of a loop. */
typedef struct lw_path_speed {
    int speed, at, stride; /* its column in G: row r of the loop's list is at + stride r */
} lw_path_speed;

/* A joint between the end of a loop (a body that its rows act on) and its base. */
typedef struct lw_path_step {
    int body, segment;
    bool adds; /* another end has been there */
} lw_path_step;

typedef struct lw_path_end {
    int body, block; /* of the rows: where the wrenches on it are */
    int step, steps;
} lw_path_end;

/* What is left of the rows of a loop: a list of speeds, and of each row its entries at them. */
typedef struct lw_front {
    int path_start, path_length; /* its speeds in `ways` */
    int end, ends;               /* in `ends` */
    int capacity, count;         /* speeds; so many are in use */
    int *speed;
    double *R;       /* row after row, `room` each */
    double right[6]; /* of each row */
} lw_front;

typedef struct lw_choice {
    const lw_model *model;
    const lw_rows *rows;
    const lw_loop_constraints *loops;
    const lw_rcr_system *system;
    bool sound;     /* its cos^2 is large enough for errors of independent speeds to stay what they are */
    bool made;      /* there is one: */
    int *rank;      /* per loop: how many speeds it determines, ... */
    int *dependent; /* ... from loop.first on: these, ... */
    int *row;       /* ... with these rows, counted from loop.first */
    int *owner;     /* per speed: the loop that determines it; -1: independent */
    double *worth;  /* per loop: cos^2 of its set, 1 at best (docs/theory/rcr.md, 5) */
    double *delta;  /* per loop: |det Delta| when it was looked at last */
    int changes;    /* of the set since the first choice */
    struct lw_choice_made { /* the same, kept */
        bool sound, made;
        int *rank, *dependent, *row, *owner;
        double *worth, *delta;
    } kept;
    long work; /* multiplications of lw_choice_reconsider so far, about */
    /* structure */
    lw_front *fronts;
    lw_path_speed *path_speeds;
    lw_path_step *steps;
    lw_path_end *ends;
    int *body_of;               /* per speed */
    int *in_loops, loop_speeds; /* the speeds of joints that are part of a loop */
    /* of a state */
    double *G;                   /* columns of the rows, as segment.Y in loop_constraints.h */
    double *axis;                /* 6 per speed: (angular; of the body's origin), world axes */
    double *momentum;            /* 6 per speed: of all that its body carries, moved along it */
    lw_rigid_inertia *composite; /* per body: with all that it carries, world axes, about its origin */
    /* workspace: per speed; per speed of the largest front, and six times that */
    int *where, *former;  /* former: owners before the last recall, ... */
    double *former_worth; /* ... and worth, per loop */
    double *step;
    double *square, *images, *left, *along, *mass;
    int *set, *present;
} lw_choice;

/* NULL when memory is out. */
lw_choice *lw_choice_create(const lw_model *model, const lw_rows *rows, const lw_rcr_system *system,
                            lw_arena *arena);

/* Columns of the rows that are awake at the state in data, with K of the sweeps set for it and not yet run;
 * world: poses of the internal frames. all: else those of dependent speeds only. */
void lw_choice_columns(lw_choice *c, const lw_data *data, const lw_pose *world, bool all);

/* Adds to the dependent speeds in v what takes the defect G v - rate off. False, and v as it was, if the set
 * does not suit: another number of rows is awake than it was chosen for, or Delta has become small since.
 * After lw_choice_columns. */
bool lw_choice_speeds(lw_choice *c, const double *defect, double *v);

/* Chooses, or changes what has become bad by the criterion, and tells so at t. After lw_choice_columns of all
 * speeds and a run of the sweeps, with data->world of all bodies. Where rank is lost for a moment the set
 * stays. */
void lw_choice_reconsider(lw_choice *c, const lw_data *data, const lw_method_options *options, double t);

/* Keeps the choice, and takes the one that has been kept: what follows from it depends on no state
 * between. */
void lw_choice_keep(lw_choice *c);
void lw_choice_recall(lw_choice *c);

/* What closes the loop of a loop: the name of its joint or constraint. */
const char *lw_choice_closing(const lw_choice *c, int loop);

/* That of an instance of the method rcr (rcr.c); and made for a position, at rest. */
lw_choice *lw_rcr_choice(lw_method *method);
lw_status lw_rcr_choose(lw_method *method, double t, const double *q, lw_error *error);
/* For a run by another method, with steps up to `step`: has a loop that moves come to a singular position,
 * where only the limit along its motion tells the way on? Then a failure that says so. Near is 1e-4 of the
 * widest pivot; stuck: 0.015. */
lw_status lw_rcr_blocked(lw_method *rcr, double t, const double *q, const double *v, double step, bool stuck,
                         const char *method, lw_error *error);

/* --- for both files: fronts of the loops -------------------------------------------------------------- */

/* The rows at `place` in the list of loop t, less what loops before it determine; all: at all speeds, else at
 * dependent ones. where[] tells the places of its speeds until lw_front_release. False: no room. */
bool lw_front_load(lw_choice *c, int t, bool all, int rows, const int *slot, const double *defect);
/* Solves it for the speeds at the places `pick`, which leave it: row k then gives speed k. Returns |det
 * Delta|. */
double lw_front_solve(lw_choice *c, int t, int rows, int *pick);
void lw_front_release(lw_choice *c, int t);

#endif
