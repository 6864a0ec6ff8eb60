/* import_spec.h - adding what an import found to its spec: names that a spec may hold, and faults of memory.
 */
#ifndef LW_IMPORT_SPEC_H
#define LW_IMPORT_SPEC_H

#include "io/import/import_pose.h"
#include "io/import/importer.h"

/* A name as a spec holds it, that nothing in the table has, and which is in it afterwards: characters that a
 * model file cannot hold become '_', a long name is shortened, a name that is taken gets a number behind it.
 * Where that changes it, a warning says so. In the arena; "" if memory is out. */
const char *lw_import_name(lw_importer *importer, lw_name_table *table, const char *name, lw_place place,
                           const char *kind);
/* The same for names of the program's own making: without a warning. */
const char *lw_import_own_name(lw_importer *importer, lw_name_table *table, const char *name);
/* A plain word (letters, digits, _) for an input or a parameter, that no unit, function or other one has. */
const char *lw_import_word(lw_importer *importer, const char *name);

/* Each adds a copy to the spec. */
void lw_import_add_body(lw_importer *importer, const lw_body_spec *body);
void lw_import_add_frame(lw_importer *importer, const char *name, const char *body, const lw_pose *pose,
                         lw_place place);
void lw_import_add_joint(lw_importer *importer, const lw_joint_spec *joint);
void lw_import_add_force(lw_importer *importer, const lw_force_spec *force);
void lw_import_add_constraint(lw_importer *importer, const lw_constraint_spec *constraint);
/* friction of a joint's coordinate, if there is any: viscous and smoothed Coulomb. Says once what the latter
 * means. */
void lw_import_add_friction(lw_importer *importer, const char *joint, int coordinate, double viscous,
                            double coulomb, lw_place place);
/* factor0 q0 + factor1 q1 = offset; without joints[1] factor0 q0 = offset. */
void lw_import_add_coupling(lw_importer *importer, const char *name, const char *const joints[2],
                            const int coordinates[2], const double factors[2], double offset, lw_place place);
/* An input, zero, and a drive of the joint's coordinate by it. */
void lw_import_add_motor(lw_importer *importer, const char *joint, lw_joint_type type, int coordinate,
                         lw_place place);

/* Limits of a coordinate; infinite ones, and those of 1e15 and more, leave their side open. false, with a
 * warning, if they leave no room. */
bool lw_import_limits(lw_importer *importer, double lower, double upper, double limits[2], lw_place place,
                      const char *object);

/* A mesh by its URI (package://, file://, model:// or a path) from the places where it may be; NULL with a
 * note or a warning if it is not there or of a kind that is not read. The mesh lives in the arena. */
const lw_mesh_spec *lw_import_mesh(lw_importer *importer, const char *uri, lw_place place,
                                   const char *object);

/* Shapes of one body while they are collected. */
typedef struct lw_shape_list {
    lw_shape *items;
    int count, room;
} lw_shape_list;
/* Adds a shape at a pose. A shape without extent is left out, with a warning. */
void lw_import_add_shape(lw_importer *importer, lw_shape_list *list, const lw_shape *shape,
                         const lw_pose *pose, lw_place place, const char *object);
/* Gives them to a body. */
void lw_import_give_shapes(const lw_shape_list *list, lw_body_spec *body);
/* red, green, blue of 0 .. 1 */
int lw_import_colour(const double rgb[3]);

#endif
