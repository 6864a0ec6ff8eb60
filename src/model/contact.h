/* contact.h - the geometry of a contact: where a shape of one body touches a surface of another. */
#ifndef LW_MODEL_CONTACT_H
#define LW_MODEL_CONTACT_H

#include "model/data.h"

/* Place and twist of a body, or of a frame on it, in world axes: the velocity v is that of the point p. */
typedef struct lw_contact_body {
    double R[9], p[3], w[3], v[3];
} lw_contact_body;

/* One point at which a shape may touch. All vectors in world axes. */
typedef struct lw_touch {
    double c[3];        /* the centre of the sphere around the probe */
    double n[3], H[9];  /* the distance's gradient there, the unit normal, and its second derivatives */
    double depth, rate; /* how far the shape has gone in (negative: the gap), and its rate */
    double x[3];        /* where the force acts, in the middle of the overlap */
    double v[3], u[3];  /* velocity of the shape relative to the surface there, and its tangential part */
    double normal;      /* force along n on the shape, */
    double by_depth, by_rate, friction[3]; /* its slopes, and the force of friction on the shape */
    double elastic;                        /* the part of `normal` that has a potential */
    bool acts;
} lw_touch;

/* Where probe k of the shape is relative to the surface (contact.md, 1-6): all but the forces. */
void lw_contact_look(const lw_contact *contact, const lw_contact_body *surface, const lw_contact_body *shape,
                     int k, lw_touch *touch);
/* The forces (contact.md, 7-9). held: 1, it touches, 0, it does not; NAN: as its depth says. */
void lw_contact_forces(const lw_contact *contact, double held, lw_touch *touch);
/* The two bodies of a contact in the state of data; after lw_velocities and lw_world_poses. */
void lw_contact_bodies(const lw_force *force, const lw_data *data, lw_contact_body *surface,
                       lw_contact_body *shape);
/* How the centre of probe k moves within the shape, beyond the motion that its material has, for small
 * displacements of both bodies: their rotations, and the displacements of their points p. */
void lw_contact_shift(const lw_contact *contact, const lw_contact_body *surface, const lw_contact_body *shape,
                      const lw_touch *touch, const double turns[2][3], const double moves[2][3],
                      double shift[3]);
/* The least gap of all probes, and the rate of that one. */
void lw_contact_gap(const lw_force *force, const lw_data *data, double *gap, double *rate);

#endif
