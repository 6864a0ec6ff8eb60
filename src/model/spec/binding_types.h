/* binding_types.h - what a spec keeps of the expressions that its values come from (bindings.h).
 */
#ifndef LW_BINDING_TYPES_H
#define LW_BINDING_TYPES_H

#include <linkwork/spec.h>

#include <stddef.h>

/* How results follow from operands. The order is part of the format of saved specs. */
typedef enum lw_binding_kind {
    LW_BIND_NUMBER = 0, /* One number. */
    LW_BIND_QUATERNION, /* Four numbers that are brought to unit length. */
    LW_BIND_AXIS_ANGLE, /* Axis and angle to a quaternion. */
    LW_BIND_CARDAN,     /* Three Cardan angles to a quaternion. */
    LW_BIND_DIRECTION,  /* Three numbers that must not all be zero. */
    LW_BIND_INERTIA,    /* A symmetric matrix to six numbers. */
    LW_BIND_SHAPE,      /* Density (0: the mass is given) to mass, centre and inertia of the body's shape. */
    LW_BIND_STRUCTURE,  /* One number from which names or counts were made, and which must not change. */
    LW_BIND_KINDS
} lw_binding_kind;

enum { LW_MAX_OPERANDS = 9, LW_MAX_RESULTS = 10 };

typedef enum lw_binding_rule {
    LW_RULE_NONE = 0,
    LW_RULE_POSITIVE,
    LW_RULE_FRACTION, /* Above 0 and below 1. */
    LW_RULES
} lw_binding_rule;

/* The object that holds the results. */
typedef enum lw_binding_owner {
    LW_OWNER_NONE = 0,
    LW_OWNER_GRAVITY,
    LW_OWNER_RUN,
    LW_OWNER_INPUT,
    LW_OWNER_BODY,
    LW_OWNER_JOINT,
    LW_OWNER_FORCE,
    LW_OWNER_CONSTRAINT,
    LW_OWNER_TABLE_X, /* The table of a force's law. */
    LW_OWNER_TABLE_Y,
    LW_OWNER_STATE,    /* The start of a user state. */
    LW_OWNER_POINTS_X, /* A table of the spec. */
    LW_OWNER_POINTS_Y,
    LW_OWNER_SHAPES, /* The list of shapes of a body. */
    LW_OWNER_FRAME,
    LW_OWNER_START,
    LW_OWNER_PART,
    LW_OWNERS
} lw_binding_owner;

/* text is an expression of parameters; NULL for an operand that is constant. */
typedef struct lw_operand {
    const char *text;
    double value;
} lw_operand;

typedef struct lw_binding {
    lw_binding_kind kind;
    lw_binding_owner owner;
    lw_binding_rule rule;
    unsigned kept; /* Bit k: result k is not written, because the file gives that value itself. */
    int object;    /* Index of the owner among its kind. */
    int offset;    /* Bytes from the owner's beginning to the first result. */
    int operand;   /* First of its operands in lw_bindings. */
    int result;    /* First of its results in lw_bindings.written. */
    int shadow;    /* LW_BIND_SHAPE: index of the body as read. */
    const double
        *table; /* LW_OWNER_TABLE_*, _POINTS_*, _SHAPES: the array, as long as the owner still has it. */
    lw_place place;
} lw_binding;

/* All bindings of a spec; those of one object are neighbours, in the order of reading. */
typedef struct lw_bindings {
    lw_binding *items;
    lw_operand *operands;
    double *written; /* Results as last written: a field with another value was changed by the caller. */
    lw_body_spec *shadows; /* Bodies with LW_BIND_SHAPE as the file has them, whatever the caller changed. */
    size_t count, operand_count, written_count, shadow_count;
    size_t capacity, operand_capacity, written_capacity, shadow_capacity;
    char *text; /* Free room for texts of operands. */
    size_t text_left;
} lw_bindings;

#endif
