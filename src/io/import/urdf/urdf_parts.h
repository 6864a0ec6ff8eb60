/* urdf_parts.h - a URDF while it is read: its links and joints, and who carries whom.
 */
#ifndef LW_URDF_PARTS_H
#define LW_URDF_PARTS_H

#include "io/import/import_spec.h"
#include "io/import/import_xml.h"

enum { LW_URDF_GROUND = -1 };

typedef struct lw_urdf_link {
    const char *name;   /* as the file has it */
    const char *object; /* for messages */
    const lw_xml *element;
    double mass, com[3], inertia[6];
    bool massless;
    lw_shape_list shapes; /* in its own frame */
    int parent;           /* the joint that carries it; -1: a root */
    const char *body;     /* the body or frame of the spec that stands for it */
    int carrier;          /* the link whose body it is on; itself if it is one; LW_URDF_GROUND */
    lw_pose in_carrier;
    int on; /* a closure made it a frame of this link; -1: none did */
    lw_pose on_pose;
    int children; /* joints that it is the parent of */
} lw_urdf_link;

typedef struct lw_urdf_joint {
    const char *name, *object;
    const lw_xml *element; /* of the message's place */
    lw_place place;
    lw_joint_type type;
    int parent, child; /* links */
    lw_pose origin;    /* of its frame in the parent, */
    lw_pose end;       /* and in the child: none but for closures */
    double axis[3], second_axis[3], x[3];
    double limits[2], damping, friction;
    bool closure;
    bool left_out; /* a weld that made one body of two */
    bool joined;   /* a joint that closes a loop since its child was made part of another body */
    bool motor;
    const char *own; /* its name in the spec */
} lw_urdf_joint;

typedef struct lw_urdf {
    lw_importer *importer;
    const lw_xml *root;
    lw_urdf_link *links;
    lw_urdf_joint *joints;
    int link_count, joint_count, joint_room;
    int joined;                            /* links with mass that were made parts of other bodies */
    lw_name_table link_names, joint_names; /* type: the index */
} lw_urdf;

/* The index of a link or joint by name; -1 if there is none, which is reported where. */
int lw_urdf_find_link(lw_urdf *urdf, const char *name, lw_place place, const char *object);
int lw_urdf_find_joint(lw_urdf *urdf, const char *name, lw_place place, const char *object);
/* A new joint at the end, NULL when memory is out. */
lw_urdf_joint *lw_urdf_new_joint(lw_urdf *urdf);
/* An <origin> or the like; none if there is no element. */
lw_pose lw_urdf_origin(lw_importer *importer, const lw_xml *element, const char *object);
/* A unit vector; false: it has no direction, which is reported. */
bool lw_urdf_axis(lw_importer *importer, const lw_xml *element, const char *object, const char *attribute,
                  double axis[3]);

/* The type of a joint or closure; false: not known, which is reported. */
bool lw_urdf_type(lw_urdf *urdf, const lw_xml *element, const char *object, lw_joint_type *type);

/* Mass properties and shapes of all links. */
void lw_urdf_read_links(lw_urdf *urdf);
/* What closes loops, but for second parents: elements of the file, and the file robot.yaml beside it. */
void lw_urdf_read_closures(lw_urdf *urdf);
void lw_urdf_read_sidecar(lw_urdf *urdf);
/* Where a weld closes a loop, makes one body of the two, if that is wanted. */
void lw_urdf_join_welds(lw_urdf *urdf);
/* Into the spec, once joints have their names. */
void lw_urdf_add_couplings(lw_urdf *urdf);
void lw_urdf_add_motors(lw_urdf *urdf);

#endif
