/* tangent_space.h - orthogonal factors of the rows of closures and constraints in the speeds of the tree:
 * rank, admissible speeds, multipliers, for small and large mechanisms.
 *
 * Speeds and rows are dimensionless here (inverse_loops.md, 4). A vector over the speeds has one entry for
 * each speed of the tree; entries of speeds that are left out are neither read nor written. After Q' has been
 * applied, entry k belongs to the range of the rows if range[k], and otherwise to the tangent space.
 */
#ifndef LW_TANGENT_SPACE_H
#define LW_TANGENT_SPACE_H

#include "constraints/loop_constraints.h"

/* The dense matrix of one loop in the elimination; its columns are the loop's rows, then those of the loops
 * coupled with it that come later. */
typedef struct lw_front {
    int own, columns; /* The number of the loop's rows, and of all columns. */
    int room;         /* The largest number of rows of the matrix, and the distance of its columns. */
    int parent;       /* The front that receives what is left; -1 if there is none. */
    int component;    /* The set of coupled loops to which it belongs. */
    int depth;        /* The number of fronts from itself to the last that it feeds. */
    size_t store;     /* Where its entries start; */
    size_t place;     /* its places: the speed at whose entry of a vector each row stands; */
    size_t beta;      /* and the factors of its reflections. */
    int count, rank;  /* At a state: the number of its rows, and the rank of the loop's own columns. */
    int order[6];     /* The loop's rows in the order of their pivots. */
} lw_front;

typedef struct lw_tangent {
    const lw_model *model;
    const lw_rows *rows;
    double length;    /* L: the longest arm of the model. */
    double *unit;     /* Per speed: 1 if it turns, L if it slides. */
    double *row_unit; /* Per row: the factor that makes it dimensionless. */
    int *first;       /* Per speed: the first front that contains it, or -1 if no row touches it. */
    int components;   /* The number of sets of coupled loops. */
    double *touch;    /* Per speed: its largest entry in the rows. */
    bool *out;        /* Per speed: it is left out of the factors. */
    bool *range;      /* Per speed. */
    bool *kept;       /* Per row: it belongs to a largest independent set. */
    int rank;         /* The rank of the factors. */
    int freedom;      /* The number of speeds that are not left out, less the rank. */
    lw_loop_constraints *loops;
    lw_front *fronts; /* One per loop. */
    /* Per coupling: the first column of its loop in the front, and in the front's parent. */
    int *column, *above;
    int *entry;   /* Per segment: where its entries start, the rows of its loop for each speed. */
    int *at;      /* Per segment: the column of its loop in the first front of its body. */
    int *segment; /* Per block of the rows: the segment of its body, or -1. */
    int entry_count;
    double *entries;        /* g; */
    int *row_of, *speed_of; /* per entry: where it stands. */
    double *norm;           /* Per row. */
    double *store, *beta, *work;
    int *place;
    size_t store_size;
} lw_tangent;

/* For rows from lw_rows_create_loops. The arena owns the result; NULL when memory is out. */
lw_tangent *lw_tangent_create(const lw_model *model, const lw_rows *rows, lw_arena *arena);

/* The entries of the rows at the state in data, after lw_rows_evaluate. No call from here on allocates. */
void lw_tangent_rows(lw_tangent *tangent, const lw_data *data);
/* The factors for the speeds that are not left out (NULL: none is). */
void lw_tangent_factor(lw_tangent *tangent, const bool *out);

/* x = Q'x or Q x. */
void lw_tangent_apply(lw_tangent *tangent, bool transpose, double *x);
/* Adds row `speed` of Q to x, which is zero where `range` or anything else has no business: only entries of
 * the speed's own fronts are written. */
void lw_tangent_row(lw_tangent *tangent, int speed, double *x);
/* Multipliers of the rows, in their own units, whose forces have the part in the range that x = Q'(e tau)
 * has. Rows that are not kept get zero. */
void lw_tangent_multipliers(const lw_tangent *tangent, const double *x, double *lambda);
/* The other way: the entries in the range of y = Q'x for the shortest x with g x = b, the right sides b of
 * the rows in their own units. Other entries of y stay. rest: room for one number per row. */
void lw_tangent_shortest(const lw_tangent *tangent, const double *b, double *rest, double *y);
/* tau += factor * G'lambda for all speeds, in their own units. */
void lw_tangent_forces(const lw_tangent *tangent, double factor, const double *lambda, double *tau);
/* G, count x nv row by row, in the units of rows and speeds. */
void lw_tangent_matrix(const lw_tangent *tangent, double *matrix);

#endif
