/* simscape.h - an assembly of the XML of Simscape Multibody while it is read: its instances, and who is fixed
 * to whom.
 *
 * An instance is a part, with a pose, or an assembly that holds others. An instance of a part becomes a body,
 * in the frame of the part, or, grounded, a frame of the ground. What welds and mates fix to each other is a
 * group (union and find).
 */
#ifndef LW_SIMSCAPE_H
#define LW_SIMSCAPE_H

#include "io/import/import_spec.h"
#include "io/import/import_xml.h"

enum { LW_SIMSCAPE_GROUND = -1, LW_SIMSCAPE_MOST = 10000 /* instances, and mates */ };

typedef struct lw_simscape_instance {
    const char *uid, *name; /* name with those of the assemblies around it: arm/link */
    const char *entity;     /* the part or assembly that it is one of */
    const char *object;     /* for messages */
    const lw_xml *element;
    int parent; /* the instance of an assembly around it; -1: the root assembly */
    bool is_part, grounded;
    bool stands;      /* a part on the ground: it and all assemblies around it are grounded */
    lw_pose world;    /* as drawn */
    const char *body; /* of a part: the body, or frame of the ground, of the spec */
    int group;        /* another instance that is fixed to it, at last the leader of its group */
    int linked;       /* the same for what joints and mates hold together */
} lw_simscape_instance;

/* What two points, lines or planes of a mate ask of two parts. */
typedef struct lw_simscape_mate lw_simscape_mate;

typedef struct lw_simscape {
    lw_importer *importer;
    const lw_xml *root;
    double length, mass; /* units of the data: in m, and in kg */
    lw_simscape_instance *instances;
    int count;
    lw_simscape_mate *mates;
    int mate_count, mate_room;
    bool full; /* more mates came than are read */
} lw_simscape;

/* The leader of a part's group, which is the ground for all that is fixed to it. */
int lw_simscape_group(lw_simscape *cad, int instance);
/* Two parts are fixed to each other, or held together by a joint. */
void lw_simscape_fix(lw_simscape *cad, int one, int other);
void lw_simscape_link(lw_simscape *cad, int one, int other);
/* The part that <InstancePath> names, from the assembly in which it stands (-1: the root); -1: reported. */
int lw_simscape_part(lw_simscape *cad, const lw_xml *holder, int assembly, const char *object);
/* The numbers in an element's text, which must be there. */
bool lw_simscape_numbers(lw_simscape *cad, const lw_xml *holder, const char *child, const char *object,
                         int count, double *values);
/* <Transform> with <Rotation>, nine numbers row by row, and <Translation>; none if there is no element. */
lw_pose lw_simscape_pose(lw_simscape *cad, const lw_xml *holder, const char *object);
/* A weld between two parts in their drawn poses, which makes one group of theirs; nothing if they are one. */
void lw_simscape_weld(lw_simscape *cad, int one, int other, const char *name, lw_place place);
/* Adds a joint between two parts, from its frame on each, in the world as they are drawn, with the joint's
 * direction z, and x. Coordinates are zero where the frames coincide. */
void lw_simscape_join(lw_simscape *cad, lw_joint_spec *joint, const int parts[2], const lw_pose frames[2]);

/* simscape_joints.c: <Joints> of an assembly, the root or an instance: welds first, then the others. */
void lw_simscape_welds(lw_simscape *cad, const lw_xml *assembly, int instance);
void lw_simscape_joints(lw_simscape *cad, const lw_xml *assembly, int instance);
/* simscape_mates.c: <Constraints> of an assembly; and what all of them mean. */
void lw_simscape_read_mates(lw_simscape *cad, const lw_xml *assembly, int instance);
void lw_simscape_use_mates(lw_simscape *cad);

#endif
