/* export.h - mechanisms for other programs: MJCF and URDF (docs/import.md), C (docs/generated-c.md).
 *
 * What a format cannot say is left out and listed in notes, by kind and count, with what that means for the
 * motion; a list that is empty means that the file moves as the model does. Importing the file again
 * (import.h) gives a mechanism of the same accelerations then.
 */
#ifndef LINKWORK_EXPORT_H
#define LINKWORK_EXPORT_H

#include <linkwork/import.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a spec as MJCF, for MuJoCo; "-" is standard output. Bodies keep their names, joints too; a joint of
 * several coordinates becomes several, NAME.x, NAME.y. Loops become equalities: a ball connect, a weld, a
 * hinge two connects. notes may be NULL. LW_ERROR_MODEL: the spec does not compile. */
LW_API lw_status lw_export_mjcf(const lw_spec *spec, const char *path, lw_import_notes *notes,
                                lw_error *error);
/* Writes a spec as URDF; ground is the link "world". LW_ERROR_UNSUPPORTED: it has loops, which URDF cannot
 * say; everything else is as with lw_export_mjcf. */
LW_API lw_status lw_export_urdf(const lw_spec *spec, const char *path, lw_import_notes *notes,
                                lw_error *error);

/* What generated C computes, and how. */
typedef struct lw_code_options {
    bool forward, inverse, mass_matrix, kinematics; /* the functions; none: forward and inverse */
    bool derivatives; /* of forces and accelerations, with forward, inverse and mass matrix */
    bool step;        /* rk4 and semi-implicit, with forward; loops are closed after each */
    /* The joints that inverse dynamics of loops may drive, as in lw_solver_options; NULL: all of the tree. */
    const char *const *driven;
    int driven_count;
    int batch;        /* states of forward dynamics at a time: 2, 4, 8; 0: one */
    bool single;      /* float in place of double */
    const char *name; /* of files and functions; NULL: that of the model */
} lw_code_options;

/* What was generated: operations of each function, in the order forward, inverse, mass_matrix, kinematics,
 * rates, derivatives, and of loops closing of positions and of speeds; -1 for those that are not there. */
typedef struct lw_code_summary {
    int operations[8];
    char name[64];
} lw_code_summary;

/* Writes NAME.h, NAME.c and NAME_test.c, plain C99 for this mechanism alone, into a folder, which is made if
 * it does not exist. options and summary may be NULL. LW_ERROR_UNSUPPORTED: the model has something that
 * cannot be generated, which error names. */
LW_API lw_status lw_export_c(const lw_model *model, const lw_code_options *options, const char *folder,
                             lw_code_summary *summary, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
