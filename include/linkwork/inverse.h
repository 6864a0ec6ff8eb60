/* inverse.h - inverse dynamics over time: the forces of drives for a given motion of a mechanism.
 *
 * The motion is given by expressions of time, by rows of numbers (a table, or the results of a run), or by
 * the motions that the model itself prescribes. It may leave out what loops determine, and say more than
 * needed: at every instant it is brought to the nearest motion that closures and constraints admit, and by
 * how much is told. What the drives are in the model, a force law or nothing, does not matter: their forces
 * are the unknowns. Several drives for one freedom share it by the smallest forces; a drive that is missing
 * is an error which names the motion that nothing drives (docs/theory/inverse_motion.md).
 *
 *   lw_inverse_defaults(model, &options);
 *   options.coordinates = (const char *[]){"crank"}, options.expressions = (const char *[]){"sin(3*t)"};
 *   options.coordinate_count = 1;
 *   lw_inverse_find(model, &options, &inverse, &error);
 */
#ifndef LINKWORK_INVERSE_H
#define LINKWORK_INVERSE_H

#include <linkwork/results.h>
#include <linkwork/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A motion by rows, in the order of a model's coordinates and speeds. A number that is NAN is not given; a
 * coordinate is given in all rows or in none. */
typedef struct lw_motion_table {
    int samples;
    const double *t; /* ascending */
    const double *q; /* samples x nq */
    /* samples x nv; NULL or NAN: the rate of what is given, by differences of seven rows. */
    const double *v, *vdot;
    const double *states; /* samples x user states; NULL: not given */
    const double *inputs; /* samples x inputs, NAN: the default; NULL: all have their defaults */
} lw_motion_table;

/* Reads the columns of a file, CSV with a line of names or a results file, whose names are those of a results
 * file of the model ("crank.q", "crank.v", "crank.a") or of its joints that have one coordinate ("crank").
 * The first column is the time. LW_ERROR_FILE: no column belongs to the model, or a number is missing. */
LW_API lw_status lw_motion_table_read(const char *path, const lw_model *model, lw_motion_table **motion,
                                      lw_error *error);
LW_API void lw_motion_table_destroy(lw_motion_table *motion);

typedef struct lw_inverse_options {
    /* The drives, by the names of force elements of type drive, of joints, or of coordinates ("slide.x").
     * NULL: all drives of the model; if it has none, all joints of the tree. Prescribed motions have their
     * drives in any case. */
    const char *const *drives;
    int drive_count;
    /* The motion: coordinates by name, each with an expression of t in the words of the model; and rows,
     * which also say for which times. Either may be missing, or both: then the motions are those of the
     * model. */
    const char *const *coordinates, *const *expressions;
    int coordinate_count;
    const lw_motion_table *motion;
    double start, end, output; /* times, without rows; output: the interval, 0: 1/1000 of the whole */
    /* A motion that has to be moved by more than this is refused: rad, or parts of the longest arm of the
     * model; speeds and accelerations relative to their largest. */
    double largest;
    const double *inputs; /* values of the model's inputs, NAN: the default; NULL: all have their defaults */
    bool want_reactions;
} lw_inverse_options;

typedef struct lw_inverse {
    int samples, drives;
    const char *const *names, *const *units; /* of the drives */
    const double *t;
    const double *forces; /* samples x drives */
    const bool *unique;   /* per drive: no other forces of the drives make the same motion, at any time */
    const double *q, *v, *vdot; /* the motion itself, samples x nq and nv of `model` */
    const double *reactions;    /* samples x joints x 6; NULL unless wanted */
    const double *states;       /* samples x user states; NULL: none are given */
    /* The model, with the drives as inputs: input_of each, -1 for the drive of a prescribed motion. */
    const lw_model *model;
    const int *input_of;
    /* The largest changes of given positions, speeds, accelerations, in the measure of options.largest; when
     * and at which coordinate. */
    double moved[3], moved_at[3];
    const char *moved_name[3];
    double
        differences; /* estimated error of rates by differences, relative to their largest; 0: none needed */
    double balance;  /* the largest amount of the balance check */
} lw_inverse;

/* Fills the options with their defaults. */
LW_API void lw_inverse_defaults(const lw_model *model, lw_inverse_options *options);
/* LW_ERROR_ARGUMENT: a name or an expression is wrong; the motion does not determine that of the mechanism,
 * or contradicts its closures. LW_ERROR_SINGULAR: the drives cannot make the motion; what lacks is named.
 * LW_ERROR_UNSUPPORTED: forces depend on user states that the motion does not say. */
LW_API lw_status lw_inverse_find(const lw_model *model, const lw_inverse_options *options,
                                 lw_inverse **inverse, lw_error *error);
LW_API void lw_inverse_destroy(lw_inverse *inverse);
/* Sample number k as writers of results take it (lw_results_open with inverse->model): the drives are inputs
 * and force elements there, and record "force(NAME)" is the force of one ("drive(JOINT)" that of a prescribed
 * motion, for which reactions have to be wanted). inputs: room for that model's inputs. */
LW_API lw_status lw_inverse_sample(const lw_inverse *inverse, int k, double *inputs, lw_ledger *ledger,
                                   lw_sample *sample);

#ifdef __cplusplus
}
#endif
#endif
