/* scaled.h - a mechanism in other units, and with light bodies, for the tests.
 *
 * Unit of mass and unit of length change; time does not. A number of the dimension mass^a length^b becomes
 * mass^a length^b times as large, in the text of force laws and motions too, so the motion is the same.
 */
#ifndef LW_TEST_SCALED_H
#define LW_TEST_SCALED_H

#include <linkwork/linkwork.h>

enum { SCALED_TEXT = 16384, SCALED_NUMBERS = 512 };

typedef struct scaled {
    double mass, length;
    char text[SCALED_TEXT]; /* new expressions and tables: the spec points here until it is compiled */
    int used;
    double numbers[SCALED_NUMBERS];
    int taken;
} scaled;

/* Edits the spec in place. */
void scale_spec(scaled *s, lw_spec *spec, double mass, double length);
/* The state and torques of a model in the new units, in place. Any may be NULL. */
void scale_state(const lw_model *model, double mass, double length, double *q, double *v, double *tau);

/* The joint accelerations of a state from the rows and inertias of all bodies by a dense elimination in extended precision,
 * corrected until nothing is left. Rows that depend on others are left out. Each number that goes in is changed by a part
 * of up to `noise` first, differently for each seed. False: the motion is not determined to rounding. */
bool extended_accelerations(const lw_model *model, double t, const double *q, const double *v,
                            const double *tau, double noise, unsigned seed, double *vdot);

#endif
