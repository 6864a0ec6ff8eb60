/* export_tree.h - a mechanism as the tree that formats of robots want: bodies in each other, with elementary
 * joints.
 */
#ifndef LW_EXPORT_TREE_H
#define LW_EXPORT_TREE_H

#include "io/import/import_pose.h"
#include "io/import/importer.h"
#include "model/compiled_model.h"

#include <stdio.h>

/* One motion of a joint: a slide, a turn or a ball, in the frame of the body that it carries. */
typedef struct lw_export_motion {
    bool turns, ball;
    double axis[3];     /* not of a ball */
    int coordinate;     /* the speed of the spec's joint; of a ball its first */
    double pitch;       /* the slide of a screw: its displacement per radian of that coordinate; else 0 */
    const char *suffix; /* behind the joint's name where it has several; "" where it has one */
} lw_export_motion;

typedef struct lw_export_body {
    const char *name;
    int parent;       /* 0: ground */
    int joint;        /* in the spec's order */
    lw_pose pose;     /* of its frame in its parent's, with all coordinates zero */
    lw_pose inverse;  /* of internal frames in its frame */
    lw_pose user;     /* the user's frame of the body in its frame */
    double point[3];  /* of the joint, in its frame */
    int motion_count; /* in the order in which they act */
    lw_export_motion motions[LW_JOINT_MAX_V];
} lw_export_body;

typedef struct lw_export_tree {
    lw_importer importer; /* of which arena and notes are used */
    lw_spec *spec;        /* a copy of the caller's, without limits of drives */
    double *limits;       /* of its drives, by force */
    lw_model *model;
    lw_export_body *bodies; /* 0 .. model->body_count; entry 0 is ground */
} lw_export_tree;

/* Another spec with the same contents. */
lw_status lw_export_copy_spec(const lw_spec *spec, lw_spec **copy, lw_error *error);
/* Which frames bodies get: the user's, but the joint's where the body turns like a ball; or one at the
 * joint's point, as URDF wants it. */
lw_status lw_export_tree_create(const lw_spec *spec, bool at_joints, lw_import_notes *notes,
                                lw_export_tree *tree, lw_error *error);
void lw_export_tree_destroy(lw_export_tree *tree);

/* Counts something that is left out. */
void lw_export_note(lw_export_tree *tree, const char *kind, const char *meaning);
/* A pose in the internal frame of a body, in its frame here. */
lw_pose lw_export_pose(const lw_export_tree *tree, int body, const lw_pose *internal);
/* Mass, centre and inertia of a body in its frame here. */
void lw_export_inertia(const lw_export_tree *tree, int body, double *mass, double com[3], double inertia[6]);
/* The spec's body of this label; NULL for ground. */
lw_body_spec *lw_export_spec_body(const lw_export_tree *tree, int body);

/* name="..." with exact numbers, and with a text, each with a blank before it. */
void lw_export_numbers(FILE *file, const char *name, const double *values, int count);
void lw_export_text(FILE *file, const char *name, const char *format, ...) LW_PRINTF(3, 4);
/* Opens a file; "-" is standard output. */
FILE *lw_export_open(const char *path, lw_error *error);
lw_status lw_export_close(FILE *file, const char *path, lw_error *error);

#endif
