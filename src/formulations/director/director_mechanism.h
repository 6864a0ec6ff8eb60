/* director_mechanism.h - the parts of a mechanism in director coordinates: constraint equations made of
 * measures, and the motions that each joint of the spanning tree allows. director_joints.c builds them once.
 */
#ifndef LW_DIRECTOR_MECHANISM_H
#define LW_DIRECTOR_MECHANISM_H

#include "formulations/director/director_coordinates.h"

typedef enum lw_director_row_kind {
    LW_DIRECTOR_RIGID = 0,  /* rigidity of one body (24); in director-full only */
    LW_DIRECTOR_JOINT,      /* a joint of the spanning tree (80, 100, 119, 129, 139) */
    LW_DIRECTOR_PRESCRIBED, /* a coordinate or a rotation that is given as a function of time */
    LW_DIRECTOR_CLOSURE,    /* a joint that closes a loop (190) */
    LW_DIRECTOR_CONSTRAINT  /* a constraint of the model */
} lw_director_row_kind;

/* A row is one constraint equation at position level: sum of factor * measure - constant = 0. */
typedef struct lw_director_row {
    lw_director_row_kind kind;
    int joint, constraint; /* the object that the row belongs to; the other of the two is -1 */
    int component;         /* the row's number among those of its object, as in lw_row */
    int term, terms;       /* index of its first term, and the number of its terms */
    double constant;
    int target;    /* the coordinate whose prescribed value replaces the constant, or -1 */
    bool length;   /* the row is a length; otherwise it is an angle or a cosine */
    int diagonal;  /* its diagonal block in Newton's matrix, which dropped rows need; -1 if it has none */
    double lambda; /* the multiplier; a step starts with the multiplier of the step before */
    double value;  /* the left-hand side at the end of the step */
    bool dropped;  /* the row depends on others: it has no multiplier, and is only checked */
} lw_director_row;

/* One summand of a row: factor times its measure or, in a coupling by a curve, a function of it. The function
 * has mean slope `factor` in the step, slope `end` at its end, and `change` is the derivative of the former by
 * the measure's value there. For both bodies of its measure `column` is the block of Newton's matrix (body, row)
 * and `line` the block (row, body); both are -1 for ground. */
typedef struct lw_director_term {
    int measure;
    double factor, end, change;
    const lw_constraint *curved; /* the coupling whose term number `number` this is; NULL: a mere factor */
    int number;
    int column[2], line[2];
} lw_director_term;

/* What one speed of a joint does: a turn about, or a slide along, a vector fixed to one of its bodies. */
typedef struct lw_director_move {
    bool turns;
    int side;         /* the vector is fixed to the first body (0) or to the second (1) */
    int speed;        /* index among the speeds of the tree */
    int measure;      /* the measure that is its coordinate */
    int angle;        /* its number among the angles that the state remembers, or -1 */
    double vector[4]; /* combination of that body's coordinates */
    double factor;    /* advance per unit of the speed: 1, or the pitch of a screw */
    int index;        /* for a slide, the vector of the joint's basis that measures it */
    double sense;     /* the sign with which that vector measures the slide */
} lw_director_move;

/* The joint that connects a body of the spanning tree with its parent. */
typedef struct lw_director_joint {
    lw_joint_type type;
    bool ball;          /* any rotation is possible: spherical and free joints */
    bool free;          /* any displacement is possible, too */
    bool screws;        /* the turn advances the body along its axis */
    bool crossed;       /* the joint has two turns, about crossed axes */
    int side;           /* the body is the joint's first (0) or second (1); its parent is the other */
    double point[2][4]; /* the joint's point on either body, as combination of coordinates */
    double basis[3][4]; /* vectors on the first body along which displacements are measured */
    int moves;          /* number of moves; balls and free joints have none here */
    lw_director_move move[3];
    unsigned prescribed; /* bit k: speed k is prescribed */
} lw_director_joint;

/* A prescribed rotation: three measures, from this one on, whose vectors on the first body turn with time. */
typedef struct lw_director_aim {
    int joint, measure;
} lw_director_aim;

#endif
