/* spec.h - what the user wrote: an editable description of a mechanism.
 *
 * A spec is a list of bodies, joints between bodies, force elements and constraints, all with names. It knows
 * nothing of parents, spanning trees or coordinates: compiling it (model.h) decides those. SI units; angles
 * in radians; quaternions (w, x, y, z); a rotation maps body axes to world axes.
 *
 * Strings and arrays given to lw_spec_add_* are copied. "ground" is a body that always exists.
 *
 * Every index is checked. To a question about an object that is not there, or a spec that is NULL, the answer
 * is NULL for a pointer and 0 for a count; calls that add or change return LW_ERROR_ARGUMENT.
 */
#ifndef LINKWORK_SPEC_H
#define LINKWORK_SPEC_H

#include <stdbool.h>
#include <linkwork/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LW_GROUND "ground"

typedef enum lw_body_kind {
    LW_BODY_SPATIAL = 0, /* mass, centre, 3 x 3 inertia */
    LW_BODY_PLANAR,      /* moves in one plane: mass, centre, inertia about the plane's normal (body z) */
    LW_BODY_POINT        /* mass only */
} lw_body_kind;

typedef enum lw_shape_kind {
    LW_SHAPE_NONE = 0,
    LW_SHAPE_BOX,         /* size: lengths along x, y, z; centred */
    LW_SHAPE_CYLINDER,    /* size: radius, length along z; centred */
    LW_SHAPE_SPHERE,      /* size: radius; centred */
    LW_SHAPE_CONE,        /* size: base radius, height along z; base centre at the origin, apex at +z */
    LW_SHAPE_ROD,         /* round, from points[0] to points[1]; size: radius, 0 for a thin one */
    LW_SHAPE_TETRAHEDRON, /* points[0..3] */
    LW_SHAPE_CAPSULE,     /* size: radius, length along z of its straight part between half balls; centred */
    LW_SHAPE_ELLIPSOID,   /* size: half its lengths along x, y, z; centred */
    LW_SHAPE_MESH,        /* a solid within triangles; size: factors of the mesh's x, y, z, none zero */
    LW_SHAPE_KINDS
} lw_shape_kind;

/* A surface of triangles. For mass properties it is closed, all triangles counter-clockwise seen from outside
 * (or all clockwise); for drawing it may be anything. */
typedef struct lw_mesh_spec {
    int vertex_count, triangle_count;
    const double *vertices; /* x, y, z of each */
    const int *triangles;   /* the three vertices of each, counted from 0 */
    const char *file;       /* STL, OBJ or MSH, relative to the model file's folder; NULL: not from a file */
} lw_mesh_spec;

/* A colour: 0 for none, or LW_COLOUR with red, green, blue in the lowest bytes, LW_COLOUR | 0xRRGGBB. */
#define LW_COLOUR 0x1000000

/* A shape in body axes, for drawing and, by lw_shape_inertia, for mass properties. */
typedef struct lw_shape {
    lw_shape_kind kind;
    double size[3];
    double position[3]; /* of the shape's origin in the body frame (not for rod and tetrahedron) */
    double rotation[4]; /* of the shape's axes; all zero stands for none */
    double points[4][3];
    int colour;
    const lw_mesh_spec *mesh;
    /* In a list of shapes: its mass, or its density if that is positive. Where no shape of the list has
     * either, they share the body's mass at one density. */
    bool has_mass;
    double mass, density;
} lw_shape;

typedef struct lw_body_spec {
    const char *name;
    lw_body_kind kind;
    double mass;       /* may be zero */
    double com[3];     /* centre of mass, body frame */
    double inertia[6]; /* xx, yy, zz, xy, xz, yz about the centre of mass, body axes; xy is -sum m x y */
    bool has_pose;     /* pose of the body frame in the world in the reference configuration is given */
    double position[3];
    double rotation[4];
    lw_shape shape;
    int shape_count; /* of a body of several shapes, which then has no other one; else 0 */
    const lw_shape *shapes;
    lw_place place;
} lw_body_spec;

/* A frame: a marker with a name on a body, or on ground. Bodies and frames share one namespace, and a frame
 * may stand wherever a body with a point is asked for: on the sides of joints, force elements and
 * constraints, and in the quantities of expressions (body.hook.z). It stands for its body there, and
 * everything that would be given in the frame of the body is given in this one, so that the point [0, 0, 0]
 * is its origin. */
typedef struct lw_frame_spec {
    const char *name;
    const char *body;   /* a body or LW_GROUND; no frame */
    double position[3]; /* of its origin in the body's frame */
    double rotation[4]; /* of its axes in the body's frame; all zero stands for none */
    lw_place place;
} lw_frame_spec;

/* The axis that a part is mirrored along: the sign of this coordinate changes. */
typedef enum lw_mirror { LW_MIRROR_NONE = 0, LW_MIRROR_X, LW_MIRROR_Y, LW_MIRROR_Z, LW_MIRRORS } lw_mirror;

/* A part: a model within the model, with a name. Every object whose name begins with that of the part and a
 * dot belongs to it, front_left.hub to front_left, and parts may have parts. What such an object gives in the
 * world, and the coordinates in its expressions, are those of the part's own world, which lies in the world
 * of the part around it as said here: mirrored first, then turned, then moved. Frames of bodies are mirrored
 * along the same axis, so that they stay right-handed. Compiling places everything (docs/theory/parts.md). */
typedef struct lw_part_spec {
    const char *name;
    const char *file; /* that it was read from, for messages; may be NULL */
    lw_mirror mirror;
    double position[3];
    double rotation[4]; /* all zero stands for none */
    lw_place place;     /* where it is used: in the file of the part around it, or of the model */
} lw_part_spec;

/* A joint lets its second body move relative to its first. Its frame has an origin (the point) and axes; the
 * frame on the first body and the frame on the second coincide when all coordinates are zero.
 *
 *   type         axes given                 coordinates q                        speeds v
 *   weld         -                          -                                    -
 *   revolute     axis                       angle                                rate
 *   prismatic    axis                       displacement                         rate
 *   screw        axis, lead per turn        angle                                rate
 *   cylindrical  axis                       displacement, angle                  rates
 *   universal    axis in the first body,    angle about the first, about the     rates
 *                axis in the second         second axis
 *   spherical    -                          quaternion                           angular velocity
 *   planar       normal [, x direction]     x, y, angle about the normal         rates
 *   translation  1, 2 or 3 axes             displacements along them             rates
 *   free         -                          x, y, z, quaternion                  velocity, angular velocity
 *
 * Velocities are in the axes of the joint's frame on the first body, angular velocities in those on the
 * second.
 */
typedef enum lw_joint_type {
    LW_JOINT_WELD = 0,
    LW_JOINT_REVOLUTE,
    LW_JOINT_PRISMATIC,
    LW_JOINT_SCREW,
    LW_JOINT_CYLINDRICAL,
    LW_JOINT_UNIVERSAL,
    LW_JOINT_SPHERICAL,
    LW_JOINT_PLANAR,
    LW_JOINT_TRANSLATION,
    LW_JOINT_FREE,
    LW_JOINT_TYPES
} lw_joint_type;

#define LW_JOINT_MAX_Q 7
#define LW_JOINT_MAX_V 6

/* Point and axes of a joint, seen from one body or from the world. */
typedef struct lw_joint_geometry {
    double point[3];
    double axes[3][3]; /* axes[0] .. as the table above says; need not be normalised */
    int axis_count;    /* how many were given */
} lw_joint_geometry;

typedef enum lw_geometry_frame {
    LW_GEOMETRY_WORLD = 0, /* geometry[0], in the world frame of the reference configuration */
    LW_GEOMETRY_BODY       /* geometry[0] in the first body's frame, geometry[1] in the second's */
} lw_geometry_frame;

/* What happens beyond the limits of a joint's coordinates. */
typedef enum lw_stop_kind {
    LW_STOP_NONE = 0,
    LW_STOP_SPRING, /* a force: stiffness times the excess, and damping times the speed */
    LW_STOP_IMPACT, /* an impulse reverses the speed: restitution */
    LW_STOP_KINDS
} lw_stop_kind;

typedef struct lw_joint_spec {
    const char *name;
    lw_joint_type type;
    const char *bodies[2]; /* first, second; or frames on them */
    lw_geometry_frame frame;
    lw_joint_geometry geometry[2];
    /* Geometry in the world, without a point: the origin of the frame that stands for a body is the point. If
     * both sides are frames, each has its own origin as its point, and where a pose is not given the second
     * frame lies on the first in the reference configuration. */
    bool at_frames;
    double lead;              /* screw: advance along the axis per turn */
    bool has_q, has_v;        /* initial coordinates and speeds given */
    double q[LW_JOINT_MAX_Q]; /* initial; zero (and the unit quaternion) if not given */
    double v[LW_JOINT_MAX_V];
    /* Prescribed motion: an expression of t per speed, or NULL. For the rotation of spherical and free joints
     * the three entries are Cardan angles a, b, c with rotation = Rx(a) Ry(b) Rz(c); give all three or none.
     */
    const char *motion[LW_JOINT_MAX_V];
    bool cut; /* request: close a loop here */
    /* Per speed: the inertia of a rotor that turns with the coordinate, seen after its gear (kg m^2, or kg
     * along a slide); its kinetic energy is armature v^2 / 2. Not of balls. */
    double armature[LW_JOINT_MAX_V];
    /* The coordinates where the joint's frames on both bodies coincide, as they are drawn. Not of balls. */
    double zero[LW_JOINT_MAX_V];
    /* Per coordinate: lowest and highest value; both zero: no limits. Not of balls. */
    double limits[LW_JOINT_MAX_V][2];
    lw_stop_kind stop; /* at the limits */
    double stop_stiffness[LW_JOINT_MAX_V], stop_damping[LW_JOINT_MAX_V], stop_restitution[LW_JOINT_MAX_V];
    /* How far its two sides give way to what it transmits, m/N and rad/(N m), both zero or more, in every
     * direction and at its point. It changes no motion: where reactions are not unique, those of least
     * elastic energy are given. 0: rigid. */
    double compliance[2];
    lw_place place;
} lw_joint_spec;

/* How a table goes between its points: straight; smooth, a monotone cubic with a continuous slope; or in
 * steps, each value up to the next point. */
typedef enum lw_interpolation {
    LW_INTERPOLATION_LINEAR = 0,
    LW_INTERPOLATION_SMOOTH,
    LW_INTERPOLATION_STEPS,
    LW_INTERPOLATIONS
} lw_interpolation;

/* What a table is beyond its ends: the value there, a straight line with the slope there, or the same again
 * and again, with the distance of its ends as the period. */
typedef enum lw_beyond { LW_BEYOND_HOLD = 0, LW_BEYOND_LINEAR, LW_BEYOND_REPEAT, LW_BEYONDS } lw_beyond;

/* A table: a function of one argument, given by points, that expressions call by its name: road(t). */
typedef struct lw_table_spec {
    const char *name;
    int size;
    const double *x, *y; /* x ascending; SI units */
    lw_interpolation interpolation;
    lw_beyond beyond;
    /* The file, relative to the folder of the model file, and the columns that the points come from; NULL:
     * they stand in the model file. */
    const char *file, *x_column, *y_column;
    lw_place place;
} lw_table_spec;

/* A force law: an expression, or a table if table_size > 0. */
typedef struct lw_law_spec {
    const char *expression;
    int table_size;
    const double *table_x, *table_y; /* table_x ascending */
    bool smooth;                     /* table: cubic (C1, monotone) instead of linear interpolation */
} lw_law_spec;

typedef enum lw_force_type {
    LW_FORCE_SPRING = 0, /* on the line of two points: F = k (length - free length) + c rate + law */
    LW_FORCE_TORSION,    /* on one coordinate of a joint: k (q - free) + c v + law */
    LW_FORCE_BUSHING,    /* between two frames: three translations, three rotations */
    LW_FORCE_APPLIED,    /* force and torque on a body */
    LW_FORCE_DRIVE,      /* on one coordinate of a joint: an expression of t, q, v */
    LW_FORCE_FRICTION,   /* on one coordinate of a joint: viscous and smoothed Coulomb */
    LW_FORCE_CONTACT,    /* between a surface of one body and a shape on another */
    LW_FORCE_TYPES
} lw_force_type;

/* The surface of a contact, on the first body, and the shape on the second body that touches it
 * (docs/theory/contact.md). */
typedef enum lw_contact_surface {
    LW_SURFACE_PLANE = 0, /* axis: its outward normal */
    LW_SURFACE_SPHERE,    /* radius */
    LW_SURFACE_CYLINDER,  /* axis, radius, length (0: without ends) */
    LW_SURFACE_BOX,       /* size, rotation */
    LW_SURFACES
} lw_contact_surface;
typedef enum lw_contact_shape {
    LW_TOUCH_POINT = 0,
    LW_TOUCH_SPHERE,  /* radius */
    LW_TOUCH_CAPSULE, /* axis, radius, length between the centres of its ends */
    LW_TOUCH_DISC,    /* axis, radius: its edge touches */
    LW_TOUCH_BOX,     /* size, rotation: its corners touch */
    LW_TOUCHES
} lw_contact_shape;

typedef struct lw_contact_figure {
    double axis[3], rotation[4], size[3]; /* rotation: all zero: none */
    double radius, length;
} lw_contact_figure;

typedef struct lw_contact_spec {
    lw_contact_surface surface;
    lw_contact_shape shape;
    lw_contact_figure on[2]; /* the surface, the shape */
    bool inside;             /* sphere, cylinder: the shape is within */
    double stiffness;        /* normal force = stiffness depth^exponent (1 + damping rate), never pulling */
    double exponent, damping;
    double friction, smoothing; /* coefficient; speed over which it changes from rest to sliding */
} lw_contact_spec;

typedef struct lw_force_spec {
    const char *name;
    lw_force_type type;

    /* Bodies, or frames on them. spring, bushing, contact: both; applied: bodies[0], and bodies[1] (default
     * ground) takes the reaction */
    const char *bodies[2];
    lw_geometry_frame frame; /* spring: points; bushing: point and axes; applied: point; contact: all */
    double points[2][3];     /* world: bushing and applied use points[0] only */
    double rotation[4]; /* bushing: axes of its frame, in the world or in the first body; all zero: none */

    /* torsion, drive, friction */
    const char *joint;
    int coordinate; /* which of the joint's speeds, from 0 */

    /* Laws, drives and applied forces are expressions of what is said here, of parameters and of inputs.
     * spring, torsion: tension-positive law of x (elongation: length or coordinate minus free value) and v
     * (its rate) and t. It has a potential if it is an expression of x and parameters alone or a table. */
    double stiffness, damping;
    double free_length;   /* spring: natural length; torsion: the coordinate's value without force */
    bool has_free_length; /* spring: otherwise the length in the initial state */
    lw_law_spec law;      /* added to the linear terms */

    /* bushing: translations along, rotations about its axes (rotation vector) */
    double bushing_stiffness[6], bushing_damping[6];

    /* applied: expressions of t; NULL is zero */
    const char *force[3], *torque[3];
    bool follows_body; /* components in body axes; otherwise in world axes */

    /* drive: generalised force, an expression of t, q, v (the driven coordinate and its speed) */
    const char *drive;
    double limit; /* drive: its largest force, either way; 0: there is none */

    /* friction: -(viscous v + coulomb tanh(v / smoothing)) */
    double viscous, coulomb, smoothing;

    lw_contact_spec contact;

    lw_place place;
} lw_force_spec;

typedef enum lw_constraint_type {
    LW_CONSTRAINT_DISTANCE = 0, /* between two points: length, 0 < length */
    LW_CONSTRAINT_COUPLING,     /* sum of factor[k] * curve[k](coordinate[k] - about[k]) = offset */
    LW_CONSTRAINT_ROLLING,      /* disc or sphere rolling without slip on a plane of the other body */
    LW_CONSTRAINT_TYPES
} lw_constraint_type;

#define LW_COUPLING_MAX 8
#define LW_POLYNOMIAL_MAX 5 /* coefficients of a polynomial of the 4th degree */

typedef struct lw_constraint_spec {
    const char *name;
    lw_constraint_type type;
    const char *
        bodies[2]; /* or frames. distance: both; rolling: the rolling body, the body that carries the plane */
    lw_geometry_frame frame;
    double points[2][3]; /* distance; rolling: centre of the disc or sphere, a point of the plane */
    double length;       /* distance; 0: the length in the initial state */
    double radius;       /* rolling */
    double axis[3];      /* rolling: the disc's axis (zero: a sphere) */
    double normal[3];    /* rolling: the plane's normal */
    int terms;           /* coupling */
    const char *joints[LW_COUPLING_MAX];
    int coordinates[LW_COUPLING_MAX];
    double factors[LW_COUPLING_MAX];
    double offset;
    /* coupling: the curve of a term, a function of x = coordinate - about. It is x itself, the polynomial
     * sum of polynomial[k][i] x^i if it has coefficients, or the table of this name, a cam. */
    double about[LW_COUPLING_MAX];
    int polynomial_size[LW_COUPLING_MAX]; /* 0: none; else how many coefficients are given */
    double polynomial[LW_COUPLING_MAX][LW_POLYNOMIAL_MAX];
    const char *tables[LW_COUPLING_MAX]; /* NULL: none; one of interpolation smooth */
    lw_place place;
} lw_constraint_spec;

/* What happens at an event. */
typedef enum lw_event_action {
    LW_ACTION_STOP = 0,    /* the run ends there */
    LW_ACTION_NOTE,        /* nothing but a note */
    LW_ACTION_SET,         /* inputs or parameters change */
    LW_ACTION_RESTITUTION, /* an impulse along a joint's coordinate reverses its speed */
    LW_ACTIONS
} lw_event_action;

#define LW_EVENT_SETS 8

/* An input, or a parameter that enters nothing but forces, by name, and its new value, an expression. */
typedef struct lw_event_set {
    const char *name, *value;
} lw_event_set;

/* The instant at which an expression of t, parameters and inputs passes through zero. */
typedef struct lw_event_spec {
    const char *name;
    const char *when;
    int direction; /* +1: upwards; -1: downwards; 0: both */
    lw_event_action action;
    int set_count; /* set */
    lw_event_set sets[LW_EVENT_SETS];
    const char *joint;  /* restitution: the joint, */
    int coordinate;     /* which of its speeds, from 0, */
    const char *factor; /* and an expression of 0 .. 1: the speed becomes -factor times what it was */
    lw_place place;
} lw_event_spec;

/* A signal: a named expression of t, parameters, inputs, states, other signals and quantities of the state
 * (pin.q, body.load.z, ...), which may stand in laws, drives, applied forces, rates, outputs. Signals may use
 * each other in any order, but not in a circle. */
typedef struct lw_signal_spec {
    const char *name;
    const char *value;
    lw_place place;
} lw_signal_spec;

/* A first-order state of the user's own, integrated with the mechanism: d state / dt = rate. */
typedef struct lw_state_spec {
    const char *name;
    const char *rate; /* an expression, as a signal's value */
    double start;     /* its value at the beginning of a run */
    lw_place place;
} lw_state_spec;

/* An output: an expression that results record. It may use accelerations and reactions, too. */
typedef struct lw_output_spec {
    const char *name;
    const char *value;
    const char *unit; /* in which results files show it, as "deg"; NULL: in SI units */
    lw_place place;
} lw_output_spec;

/* The part of one joint in a named start: initial coordinates and speeds that lw_spec_begin gives to it. The
 * joints of a start have its name in common. */
typedef struct lw_start_spec {
    const char *name;  /* of the start */
    const char *joint; /* by name */
    bool has_q, has_v;
    double q[LW_JOINT_MAX_Q];
    double v[LW_JOINT_MAX_V];
    lw_place place;
} lw_start_spec;

/* What the model file suggests for a run; the caller may override each. Zero or NULL: not given. */
typedef struct lw_run_spec {
    double end, step, tolerance, output;
    double baumgarte[2]; /* alpha and beta, 1/s, of drift control baumgarte */
    const char *method, *integrator, *drift;
    const char *independent; /* coordinates of method partition, separated by commas */
    const char *reactions;   /* scheme of method partition: 35, 37 or 38 */
    const char *begin;       /* the start that joints take initial values from */
    lw_place place;
} lw_run_spec;

/* Whether bodies that welds join become one body when compiling. Nothing that can be asked of a model depends
 * on it, but the time that methods take (docs/theory/welds.md). */
typedef enum lw_welds { LW_WELDS_MERGE = 0, LW_WELDS_KEEP } lw_welds;

typedef struct lw_spec lw_spec;

/* An empty spec, with gravity along -z; NULL if memory is out. */
LW_API lw_spec *lw_spec_create(const char *name);
LW_API void lw_spec_destroy(lw_spec *spec);

/* A spec as bytes, with a checksum, the same on every machine: for caches, other processes, and programs
 * without model files. *needed (may be NULL) receives how many bytes it takes; with buffer NULL that is all.
 * A buffer of less than that is LW_ERROR_ARGUMENT. */
LW_API lw_status lw_spec_save(const lw_spec *spec, void *buffer, size_t size, size_t *needed);
/* The spec again, with parameters that can be set as before. Bytes that are damaged, cut off or of another
 * version are LW_ERROR_FILE, and *spec is NULL. */
LW_API lw_status lw_spec_load(const void *bytes, size_t size, lw_spec **spec, lw_error *error);

/* The name under which faults of this spec are reported, normally the model file's path. */
LW_API lw_status lw_spec_set_file(lw_spec *spec, const char *file);
/* World frame, m/s^2; (0, 0, -9.81) unless set. */
LW_API void lw_spec_set_gravity(lw_spec *spec, const double gravity[3]);
/* LW_WELDS_MERGE unless set. LW_ERROR_ARGUMENT: no spec, or no such value. */
LW_API lw_status lw_spec_set_welds(lw_spec *spec, lw_welds welds);
/* Adds a constant that expressions may use. LW_ERROR_ARGUMENT: there is one of this name. */
LW_API lw_status lw_spec_add_parameter(lw_spec *spec, const char *name, double value);
/* Changes a parameter, in SI units, and with it all that depends on it: expressions, other parameters, and
 * the numbers that a model file gives by expressions of it. The spec is then, to the last bit, the one that
 * reading with the new value gives, but fields that the caller has changed keep the caller's values. Refused,
 * with the spec as it was: a name that is not there (error suggests one), a value with which some expression
 * has none, and a value with which the file would describe other objects (a range of repeat): then the file
 * has to be read again with the setting. error may be NULL. */
LW_API lw_status lw_spec_set_parameter(lw_spec *spec, const char *name, double value, lw_error *error);
/* The same for several parameters at once: only the values that they have together are judged, so that
 * nothing depends on their order. Of a name that comes twice the last value counts. */
LW_API lw_status lw_spec_set_parameters(lw_spec *spec, const char *const *names, const double *values,
                                        size_t count, lw_error *error);
/* An input: a number that laws, drives and applied forces may use and that the caller may change at run time
 * (lw_data_set_inputs). value is its default; a second call with the same name changes that. */
LW_API lw_status lw_spec_set_input(lw_spec *spec, const char *name, double value);
/* An input whose default is an expression, as a signal's value; it holds until the caller sets the input. */
LW_API lw_status lw_spec_set_input_expression(lw_spec *spec, const char *name, const char *expression);
LW_API lw_status lw_spec_set_run(lw_spec *spec, const lw_run_spec *run);
/* Adds a table. LW_ERROR_ARGUMENT: no name, no points, or the name of a parameter, input or table that is
 * there; what the points are is judged when compiling. */
LW_API lw_status lw_spec_add_table(lw_spec *spec, const lw_table_spec *table);

/* Each add copies what it is given and returns LW_ERROR_MEMORY or LW_OK; faults are found when compiling. */
LW_API lw_status lw_spec_add_body(lw_spec *spec, const lw_body_spec *body);
LW_API lw_status lw_spec_add_frame(lw_spec *spec, const lw_frame_spec *frame);
LW_API lw_status lw_spec_add_part(lw_spec *spec, const lw_part_spec *part);
LW_API lw_status lw_spec_add_joint(lw_spec *spec, const lw_joint_spec *joint);
LW_API lw_status lw_spec_add_force(lw_spec *spec, const lw_force_spec *force);
LW_API lw_status lw_spec_add_constraint(lw_spec *spec, const lw_constraint_spec *constraint);
LW_API lw_status lw_spec_add_event(lw_spec *spec, const lw_event_spec *event);
LW_API lw_status lw_spec_add_signal(lw_spec *spec, const lw_signal_spec *signal);
LW_API lw_status lw_spec_add_state(lw_spec *spec, const lw_state_spec *state);
LW_API lw_status lw_spec_add_output(lw_spec *spec, const lw_output_spec *output);
LW_API lw_status lw_spec_add_start(lw_spec *spec, const lw_start_spec *start);

/* Chooses the start of this name, NULL for none: models that are compiled from now on begin with its initial
 * coordinates and speeds in the joints that it mentions, and with those of the joints themselves in the
 * others. It is entered in the run of the spec. LW_ERROR_ARGUMENT, with the spec as it was: there is no such
 * start (error suggests one), or it names a joint that there is not. error may be NULL. */
LW_API lw_status lw_spec_begin(lw_spec *spec, const char *start, lw_error *error);

/* What a spec holds: texts and numbers as they were given, counts, and by index from 0 the name of a
 * parameter or an input with its value (value may be NULL). */
LW_API const char *lw_spec_name(const lw_spec *spec);
LW_API const char *lw_spec_file(const lw_spec *spec);
LW_API const double *lw_spec_gravity(const lw_spec *spec);
LW_API lw_welds lw_spec_welds(const lw_spec *spec);
LW_API const lw_run_spec *lw_spec_run(const lw_spec *spec);
LW_API size_t lw_spec_parameter_count(const lw_spec *spec);
LW_API const char *lw_spec_parameter(const lw_spec *spec, size_t index, double *value);
LW_API size_t lw_spec_input_count(const lw_spec *spec);
LW_API const char *lw_spec_input(const lw_spec *spec, size_t index, double *value); /* its default */
/* The expression that is the default of an input; NULL if that is a number. */
LW_API const char *lw_spec_input_expression(const lw_spec *spec, size_t index);
LW_API size_t lw_spec_table_count(const lw_spec *spec);
LW_API size_t lw_spec_body_count(const lw_spec *spec); /* ground does not count */
LW_API size_t lw_spec_frame_count(const lw_spec *spec);
LW_API size_t lw_spec_part_count(const lw_spec *spec);
LW_API size_t lw_spec_joint_count(const lw_spec *spec);
LW_API size_t lw_spec_force_count(const lw_spec *spec);
LW_API size_t lw_spec_constraint_count(const lw_spec *spec);
LW_API size_t lw_spec_event_count(const lw_spec *spec);
LW_API size_t lw_spec_signal_count(const lw_spec *spec);
LW_API size_t lw_spec_state_count(const lw_spec *spec);
LW_API size_t lw_spec_output_count(const lw_spec *spec);
LW_API size_t lw_spec_start_count(const lw_spec *spec); /* of all joints of all starts */
/* What was added, to read or to edit in place; valid until the next add. */
LW_API lw_table_spec *lw_spec_table(lw_spec *spec, size_t index);
LW_API lw_body_spec *lw_spec_body(lw_spec *spec, size_t index);
LW_API lw_frame_spec *lw_spec_frame(lw_spec *spec, size_t index);
LW_API lw_part_spec *lw_spec_part(lw_spec *spec, size_t index);
LW_API lw_joint_spec *lw_spec_joint(lw_spec *spec, size_t index);
LW_API lw_force_spec *lw_spec_force(lw_spec *spec, size_t index);
LW_API lw_constraint_spec *lw_spec_constraint(lw_spec *spec, size_t index);
LW_API lw_event_spec *lw_spec_event(lw_spec *spec, size_t index);
LW_API lw_signal_spec *lw_spec_signal(lw_spec *spec, size_t index);
LW_API lw_state_spec *lw_spec_state(lw_spec *spec, size_t index);
LW_API lw_output_spec *lw_spec_output(lw_spec *spec, size_t index);
LW_API lw_start_spec *lw_spec_start(lw_spec *spec, size_t index);

/* Names of the kinds as they stand in model files. */
LW_API const char *lw_joint_type_name(lw_joint_type type);
LW_API const char *lw_force_type_name(lw_force_type type);
LW_API const char *lw_constraint_type_name(lw_constraint_type type);
LW_API int lw_joint_type_q(lw_joint_type type,
                           int axis_count); /* coordinates; axis_count matters for translation only */
LW_API int lw_joint_type_v(lw_joint_type type, int axis_count); /* speeds */
LW_API bool lw_joint_type_turns(lw_joint_type type,
                                int speed); /* speed number speed is a rotation, not a displacement */

/* Mass, centre and inertia of a homogeneous shape, in the body frame, for a mass, or for a density if density
 * > 0. Returns LW_ERROR_ARGUMENT for a shape without the needed extent (a density needs volume). */
LW_API lw_status lw_shape_inertia(const lw_shape *shape, double mass, double density, double *total,
                                  double com[3], double inertia[6]);
/* The same of several shapes together. If one of them has a mass or density, each has its own, none for those
 * without, and the argument mass does not matter; otherwise all share it at one density. */
LW_API lw_status lw_shapes_inertia(const lw_shape *shapes, int count, double mass, double *total,
                                   double com[3], double inertia[6]);
/* Whether a mesh has an inside: its counts, indices and coordinates are valid, every edge closes, triangles
 * have one sense, and what they enclose has volume. LW_ERROR_ARGUMENT, with error saying where, if not. */
LW_API lw_status lw_mesh_check(const lw_mesh_spec *mesh, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
