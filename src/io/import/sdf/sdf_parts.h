/* sdf_parts.h - an SDF while it is read: models, links, joints and frames, whose poses are a graph.
 */
#ifndef LW_SDF_PARTS_H
#define LW_SDF_PARTS_H

#include "io/import/import_spec.h"
#include "io/import/import_xml.h"

enum { LW_SDF_WORLD = -1, LW_SDF_NONE = -2 };

typedef enum lw_sdf_kind { LW_SDF_MODEL, LW_SDF_LINK, LW_SDF_JOINT, LW_SDF_FRAME } lw_sdf_kind;

/* One of the named objects. Their poses: each is given relative to another one, or to the world. */
typedef struct lw_sdf_item {
    lw_sdf_kind kind;
    const char *name;   /* its own */
    const char *full;   /* with those of the models around it: arm::hand::finger */
    const char *object; /* for messages */
    const lw_xml *element;
    int scope;   /* the model that it is in; LW_SDF_WORLD */
    bool merged; /* a model whose contents have names as if they stood in the model around it */
    bool is_static;
    int version;           /* of its file */
    const lw_xml *pose;    /* NULL: none; of an included model that of <include> */
    const char *placement; /* of a model: its frame that the pose places; NULL: its own */
    lw_pose raw;           /* as given, */
    int relative_to;       /* relative to this item, */
    lw_pose world;         /* and in the world */
    int state;             /* 0: pose not known yet, 1: being computed, 2: known */
    int attached;          /* the link that a frame, model or joint is fixed to; LW_SDF_NONE: not known yet */
    /* link */
    const char *body; /* what stands for it in the spec */
    int group;        /* of links that joints connect: another one of it, or itself; -1 - ... */
    /* joint: its sides, and by what names its coordinates go in the spec */
    int sides[2];       /* links, LW_SDF_WORLD */
    const char *own[2]; /* joint of the spec for axis and axis2; NULL: none */
    int coordinates[2]; /* and which of its coordinates */
    double axes[2][3];  /* unit vectors in the joint's frame */
    lw_joint_type type;
} lw_sdf_item;

typedef struct lw_sdf {
    lw_importer *importer;
    int version; /* of the file that is read: 1.6 is 6, 1.12 is 12, what stands behind the point */
    lw_sdf_item *items;
    int count, room;
    lw_name_table names; /* full names; type: the index */
    int top_models;
    int include_depth;
    bool has_world;
} lw_sdf;

/* The item of a name, seen from inside a model: its index, LW_SDF_WORLD, or LW_SDF_NONE, which is reported
 * unless quiet. */
int lw_sdf_find(lw_sdf *sdf, int scope, const char *name, lw_place place, const char *object, bool quiet);

/* A <pose> without its relation; none if there is no element. */
lw_pose lw_sdf_pose(lw_importer *importer, const lw_xml *element, const char *object);
/* The poses of all items in the world, and the links that all are attached to. */
void lw_sdf_resolve(lw_sdf *sdf);
/* The pose of an item in the world; the identity for the world. */
lw_pose lw_sdf_world(const lw_sdf *sdf, int item);

/* The text of a child as a number, or otherwise. */
double lw_sdf_number(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                     double otherwise);
bool lw_sdf_vector(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                   int count, double *values);
/* The text of a child, NULL if there is none or it is empty. */
const char *lw_sdf_text(const lw_xml *element, const char *name);
bool lw_sdf_flag(lw_importer *importer, const lw_xml *element, const char *object, const char *name,
                 bool otherwise);

/* A link as a body. */
void lw_sdf_add_link(lw_sdf *sdf, lw_sdf_item *link);
/* A joint: its type, sides and axes; then, when all are known, into the spec. */
void lw_sdf_read_joint(lw_sdf *sdf, lw_sdf_item *joint);
void lw_sdf_add_joint(lw_sdf *sdf, lw_sdf_item *joint);
/* Gearboxes and mimics, when all joints are in the spec. */
void lw_sdf_add_relations(lw_sdf *sdf, lw_sdf_item *joint);
void lw_sdf_add_ball(lw_sdf *sdf, const lw_xml *element, int scope);

#endif
