/* mjcf.h - the inner header of the reader of MJCF, MuJoCo's model files.
 *
 * A file is read in two passes. The first (mjcf_read.c, mjcf_bodies.c and their helpers) turns elements,
 * with defaults, classes, frames and units resolved, into the plain lists below. The second (mjcf_joints.c,
 * mjcf_equality.c, mjcf_actuators.c, mjcf_keys.c and others) makes bodies, joints, force elements and starts
 * of a spec of them. Everything lives in one arena.
 *
 * Poses are those of the configuration that the file draws, which MuJoCo calls qpos0. Angles are radians.
 * Body 0 is the world. docs/import.md says what becomes of what.
 */
#ifndef LW_MJCF_H
#define LW_MJCF_H

#include "core/core.h"
#include "io/import/import_pose.h"
#include "io/import/import_spec.h"
#include "io/import/import_xml.h"
#include "io/import/importer.h"
#include "linalg/vec3.h"

#include <linkwork/import.h>
#include <linkwork/spec.h>

/* An element with the class whose defaults it has; class -1: none. */
typedef struct mj_element {
    const lw_xml *node;
    int class;
    const char *tag; /* under which defaults stand */
} mj_element;

/* A class of defaults: its own elements, in the order of the file, and the class that it inherits from. */
typedef struct mj_class {
    const char *name;
    int parent;
    const lw_xml *node;
} mj_class;

typedef enum mj_joint_type { MJ_HINGE = 0, MJ_SLIDE, MJ_BALL, MJ_FREE } mj_joint_type;

typedef struct mj_joint {
    const char *name;
    const lw_xml *node;
    bool named; /* the file gives its name */
    mj_joint_type type;
    int body;
    double pos[3], axis[3];
    double ref, springref;
    double stiffness[3], damping[3]; /* polynomials */
    double springdamper[2];
    double armature, frictionloss;
    bool limited, aligned;
    double range[2];
    double force_range[2]; /* of all actuators together; both zero: there is none */
    int qpos, dof;         /* addresses in keyframes */
    /* In the spec: the joint, and which of its coordinates and speeds the first one is. */
    const char *spec_joint;
    lw_joint_type spec_type;
    int coordinate;
} mj_joint;

typedef struct mj_body {
    const char *name;
    const lw_xml *node;
    int parent;
    lw_pose local, world; /* in its parent's frame, and in the world */
    int first_joint, joint_count;
    bool mocap, explicit_inertial;
    double gravcomp;
    double mass, com[3], inertia[6]; /* in its own axes, about its centre */
    /* The body that it moves with: itself, or one that carries it without a joint; 0 is ground. */
    int host;
    lw_pose in_host;
    const char *spec_name; /* of the body or frame in the spec */
} mj_body;

typedef struct mj_geom {
    const lw_xml *node;
    int body;
    lw_shape shape; /* kind none: nothing that can be drawn */
    bool has_mass;
    double mass, density;
    int mesh, group; /* mesh: -1 for other shapes */
    bool collides;
    bool shell;   /* its mass is to be on its surface */
    bool unknown; /* it has mass, but nobody here can say where: a mesh that is missing */
} mj_geom;

typedef struct mj_site {
    const char *name;
    const lw_xml *node;
    int body;
    lw_pose pose; /* in its body's frame */
    const char *spec_name;
} mj_site;

/* A tendon: a linear combination of joint coordinates, or a path of straight lines over sites. */
typedef struct mj_tendon {
    const char *name;
    const lw_xml *node;
    bool spatial, usable;
    int count;
    const int *items; /* joints or sites */
    const double *coef;
    double stiffness[3], damping[3]; /* polynomials */
    double springlength[2];
    double length0; /* in the drawn configuration */
} mj_tendon;

/* What the mass of a mesh is taken from: mjcf_mesh_inertia.c. */
typedef enum mj_counting { MJ_LEGACY, MJ_EXACT, MJ_SHELL, MJ_HULL } mj_counting;

typedef struct mj_mesh {
    const char *name;
    const lw_xml *node;
    bool loaded; /* has triangles */
    mj_counting counts;
    double scale[3];
    lw_mesh_spec mesh;
    /* Volume or area, its centre, and the inertia about that at density 1, in the mesh's axes. */
    bool known;
    double amount, com[3], inertia[6];
} mj_mesh;

/* A colour by name. */
typedef struct mj_material {
    const char *name;
    int colour;
} mj_material;

/* A list that grows in the arena. */
typedef struct mj_table {
    void *items;
    int count, room;
} mj_table;

typedef struct mj_reader {
    lw_importer *importer;
    lw_arena *arena; /* the importer's */
    lw_xml *root;
    /* compiler */
    bool degrees, autolimits, balanceinertia, strippath;
    int inertiafromgeom; /* 0 false, 1 true, 2 auto */
    int group_range[2];
    double boundmass, boundinertia, settotalmass;
    char eulerseq[4];
    bool exact_meshes; /* "exact" is the default of meshes */
    const char *meshdir;
    /* option */
    double gravity[3];
    bool align_free;     /* what freejoint align="auto" means */
    unsigned groups_off; /* bit k: actuators of group k are switched off */
    bool no_clamp, no_equality, no_limit, no_frictionloss, no_spring, no_damper, no_gravcomp, no_actuation,
        no_gravity;
    mj_table classes, bodies, joints, geoms, sites, tendons, meshes, materials;
    int nq, nv;
    bool posed; /* bodies of the spec have poses: translations and springs of balls need them */
    const double *weights, *factor; /* mjcf_weights.c; NULL: not computed yet */
    double *work;
} mj_reader;

#define MJ_AT(reader, list, type, index) (&((type *)(reader)->list.items)[index])
#define MJ_BODY(reader, k) MJ_AT(reader, bodies, mj_body, k)
#define MJ_JOINT(reader, k) MJ_AT(reader, joints, mj_joint, k)
#define MJ_GEOM(reader, k) MJ_AT(reader, geoms, mj_geom, k)
#define MJ_SITE(reader, k) MJ_AT(reader, sites, mj_site, k)
#define MJ_TENDON(reader, k) MJ_AT(reader, tendons, mj_tendon, k)
#define MJ_MESH(reader, k) MJ_AT(reader, meshes, mj_mesh, k)

/* A zeroed item behind the last; NULL when memory is out. Earlier items may move. */
void *mj_add(mj_reader *reader, mj_table *table, size_t size);

/* --- mjcf_values.c: messages, and values of elements with their defaults ---------------------------- */

void mj_error(mj_reader *reader, const lw_xml *node, const char *key, const char *remedy, const char *format,
              ...) LW_PRINTF(5, 6);
void mj_warn(mj_reader *reader, const lw_xml *node, const char *name, const char *remedy, const char *format,
             ...) LW_PRINTF(5, 6);
/* The text of an attribute: the element's own, or that of the nearest class that gives it. */
const char *mj_text(const mj_reader *reader, const mj_element *element, const char *key);
/* Numbers of an attribute into out: returns how many there are, 0 if the attribute is not given or, with a
 * message, not between least and most numbers. */
int mj_numbers(mj_reader *reader, const mj_element *element, const char *key, int least, int most,
               double *out);
/* One number; the value stays as it is if the attribute is not given. True if it is. */
bool mj_number(mj_reader *reader, const mj_element *element, const char *key, double *value);
bool mj_flag(mj_reader *reader, const mj_element *element, const char *key, bool *value);
/* true, false or auto: 1, 0, 2. */
int mj_tristate(mj_reader *reader, const mj_element *element, const char *key, int otherwise);
/* The index of the attribute's word in words (which ends with NULL); otherwise if it is not given, -1 with a
 * message if it is none of them. */
int mj_word(mj_reader *reader, const mj_element *element, const char *key, const char *const *words,
            int otherwise);
/* A list of numbers of any length, in the arena. */
const double *mj_list(mj_reader *reader, const mj_element *element, const char *key, int *count);

/* --- mjcf_defaults.c ------------------------------------------------------------------------------- */

void mj_read_defaults(mj_reader *reader);
int mj_find_class(const mj_reader *reader, const char *name); /* -1: there is none */
/* The element as one of this tag; childclass is the class around it. An unknown class is a fault. */
mj_element mj_with_class(mj_reader *reader, const lw_xml *node, const char *tag, int childclass);

/* --- mjcf_pose.c ----------------------------------------------------------------------------------- */

/* The pose that pos and one of quat, axisangle, euler, xyaxes, zaxis give, with defaults. */
void mj_read_pose(mj_reader *reader, const mj_element *element, lw_pose *pose);
void mj_read_rotation(mj_reader *reader, const mj_element *element, double R[9]);
/* A vector of length one in the same direction, or zero; returns its length. */
double mj_unit(const double a[3], double out[3]);

/* --- mjcf_settings.c, mjcf_assets.c, mjcf_bodies.c, mjcf_geoms.c ------------------------------------- */

void mj_read_settings(mj_reader *reader);
void mj_read_assets(mj_reader *reader);
int mj_find_mesh(const mj_reader *reader, const char *name);
/* Volume or area of a mesh, its centre, and the inertia about that at density 1; false if it has none. */
bool mj_mesh_moments(const mj_mesh *mesh, double *amount, double com[3], double inertia[6]);
void mj_read_bodies(mj_reader *reader);
void mj_read_geom(mj_reader *reader, const lw_xml *node, int body, const lw_pose *frame, int childclass);
int mj_find_body(const mj_reader *reader, const char *name); /* "world" is 0 */
int mj_find_joint(const mj_reader *reader, const char *name);
int mj_find_site(const mj_reader *reader, const char *name);
int mj_find_tendon(const mj_reader *reader, const char *name);

/* --- mjcf_inertia.c -------------------------------------------------------------------------------- */

/* Mass, centre and inertia of every body, from its inertial or its geoms, with the compiler's bounds. */
void mj_compute_inertias(mj_reader *reader);
/* Adds a mass at a pose to that of a body in place. */
void mj_add_inertia(double *mass, double com[3], double inertia[6], double more, const double more_com[3],
                    const double more_inertia[6]);

/* --- mjcf_weights.c -------------------------------------------------------------------------------- */

/* The diagonal of the inverse of the mass matrix in the drawn configuration, averaged over the rotations of a
 * ball: reader->nv numbers, NULL if there is none. */
const double *mj_weights(mj_reader *reader);
/* The inertia that a force feels which has these moments on these speeds; 0 if there is none. */
double mj_felt_inertia(mj_reader *reader, const int *dofs, const double *moments, int count);

/* --- the second pass ------------------------------------------------------------------------------- */

void mj_make_bodies(mj_reader *reader); /* mjcf_spec.c: bodies, frames, shapes */
void mj_give_pose(const mj_reader *reader, const mj_body *body, lw_body_spec *spec);
void mj_make_joints(mj_reader *reader); /* mjcf_joints.c */
bool mj_needs_poses(const mj_reader *reader);
void mj_make_springs(mj_reader *reader); /* mjcf_springs.c: passive forces of joints, weight compensation */
void mj_read_tendons(mj_reader *reader); /* mjcf_tendons.c */
void mj_make_tendons(mj_reader *reader);
/* Does a force along it act on anything? */
bool mj_tendon_pulls(const mj_reader *reader, const mj_tendon *tendon);
/* Length or rate of a tendon as an expression, and a force along it, which lengthens it. */
const char *mj_tendon_text(mj_reader *reader, const mj_tendon *tendon, bool rate);
void mj_pull(mj_reader *reader, const mj_tendon *tendon, const char *name, const char *force);
void mj_make_equality(mj_reader *reader);                     /* mjcf_equality.c */
void mj_make_actuators(mj_reader *reader, const lw_xml *key); /* mjcf_actuators.c; key: whose ctrl to take */
const lw_xml *mj_make_keys(mj_reader *reader);                /* mjcf_keys.c; returns the chosen one */

void mj_note_unread(mj_reader *reader, const lw_xml *node); /* mjcf_unread.c */

/* A number as expressions take it, and the name of a quantity of a joint coordinate: 'left-knee'.q. */
const char *mj_digits(mj_reader *reader, double value);
const char *mj_quantity(mj_reader *reader, const mj_joint *joint, const char *what);

#endif
