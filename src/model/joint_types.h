/* joint_types.h - the table of joint types: all that the program knows about a type, in one place.
 *
 * A joint is a product of elementary motions, in the order of its coordinates: first slides along, then turns
 * about coordinate axes of its frame, or, in place of turns, a ball, which is any rotation. With R the
 * rotation and p the displacement of the second frame in the first,
 *
 *     p = sum of axis_k q_k over the slides,
 *     R = product of the turns, or the rotation of the ball's quaternion.
 *
 * Because slides come first, every column of the motion subspace S at the origin of the second frame is
 * either a rotation or a translation; a screw's turn, which also advances, is the only exception. Pose, S and
 * bias (joint_motion.h), the transmitted wrenches, the coordinates of a pose and the names of rows (joint.c),
 * the rows and motions in director coordinates, the edges of a closing graph, the keys and names in files all
 * follow from the descriptor, so that a type needs no code of its own.
 *
 * Limits   Slides and turns are three at most together and have different axes among themselves, turns are
 *          two at most. A ball stands alone or after three slides. A single motion is about or along z. A
 *          screw has one turn and nothing else.
 */
#ifndef LW_JOINT_TYPES_H
#define LW_JOINT_TYPES_H

#include <linkwork/spec.h>

/* The kernel of the recursions for a joint: a revolute or prismatic joint about or along a coordinate axis
 * whose base does not rotate (the axis is added to the value, which is then its index in a twist); a
 * spherical, free or universal joint; all of these neither inverse nor prescribed; or any other. */
typedef enum lw_kernel {
    LW_KERNEL_REVOLUTE = 0,
    LW_KERNEL_PRISMATIC = 3,
    LW_KERNEL_SPHERICAL = 6,
    LW_KERNEL_FREE = 7,
    LW_KERNEL_UNIVERSAL = 8,
    LW_KERNEL_GENERAL = 9
} lw_kernel;

/* How the axes that the user gives make the joint's frame. */
typedef enum lw_frame_rule {
    LW_FRAME_Z_X, /* The first axis is z; a second one, if given, says where x is. */
    LW_FRAME_X_Y, /* The two axes are x and y, and must be perpendicular. */
    /* The frame has the axes of the first body or of the world; the user's axes are the slides. */
    LW_FRAME_OF_BODY
} lw_frame_rule;

enum {
    LW_JOINT_MOTIONS = 3,    /* slides and turns of a joint, at most */
    LW_JOINT_TYPES_MOST = 32 /* types, at most: for lists of their names */
};

/* The names of one elementary motion. */
typedef struct lw_motion_names {
    const char *word; /* in a model file, of key coordinate */
    /* in results: coordinate, speed, acceleration; a joint of one speed has q, v, a instead */
    const char *columns[3];
} lw_motion_names;

typedef struct lw_joint_descriptor {
    const char *name;           /* in a model file, of key type */
    int slides, turns;          /* how many; of a joint with axes_are_slides, slides is the largest number */
    bool ball;                  /* a rotation: four coordinates, its quaternion, and three speeds */
    bool screws;                /* the turn advances along its axis, by the lead given */
    bool axes_are_slides;       /* as many slides as the user gives axes, in these directions */
    int axis[LW_JOINT_MOTIONS]; /* coordinate axis of each slide and turn, 0 .. 2 */
    /* of the slides and turns; those of a ball are common to all types */
    lw_motion_names names[LW_JOINT_MOTIONS];

    /* In a model file: "axes" for a list; otherwise the key of z, beside which x may be given. */
    const char *axis_key;
    int fewest_axes, most_axes; /* that the user may give */
    lw_frame_rule frame;        /* what the axes say */
    bool point_must_be_given;   /* there is no default for the joint's point in the world */

    /* the recursions' own code for this type where its axes and its sense allow, or the general one */
    lw_kernel kernel;
} lw_joint_descriptor;

/* By lw_joint_type. */
extern const lw_joint_descriptor lw_joint_descriptors[];
extern const int lw_joint_descriptor_count;

static inline const lw_joint_descriptor *lw_joint_describe(lw_joint_type type) {
    return &lw_joint_descriptors[type];
}

/* The index of the quaternion in the joint's q, or -1. */
static inline int lw_joint_quaternion(lw_joint_type type) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->ball ? d->slides : -1;
}

/* Is speed k a rotation (true) or a translation (false)? */
static inline bool lw_joint_speed_turns(lw_joint_type type, int k) {
    return k >= lw_joint_describe(type)->slides;
}

/* The coordinate whose derivative is speed k, or -1 where there is none (angular velocities). */
static inline int lw_joint_coordinate_of_speed(lw_joint_type type, int k) {
    const lw_joint_descriptor *d = lw_joint_describe(type);
    return d->ball && k >= d->slides ? -1 : k;
}

/* Are the axes given as a list in the model file? */
bool lw_joint_axes_are_listed(lw_joint_type type);
/* Can the second body have any pose relative to the first? */
bool lw_joint_is_free(lw_joint_type type);
/* Does the joint hold a point of its second body on its first? */
bool lw_joint_keeps_point(lw_joint_type type);
/* Are all its motions about and along z? Such a joint has the same motion, with the same coordinates, if its
 * bodies change roles and z its sense. */
bool lw_joint_has_one_axis(lw_joint_type type);
/* Does the motion subspace, seen from the second body, depend on the coordinates? */
bool lw_joint_subspace_varies(lw_joint_type type);
/* Does its second body rotate about points or lines that are fixed in the first? */
bool lw_joint_turns_in_place(lw_joint_type type);
/* Name of coordinate (order 0), speed (1) or acceleration (2) number k in results, of a joint with nv speeds,
 * and its unit. */
const char *lw_joint_column(lw_joint_type type, int nv, int order, int k, const char **unit);
/* Name of speed k in a model file. */
const char *lw_joint_speed_word(lw_joint_type type, int k);

#endif
