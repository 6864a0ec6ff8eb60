/* closure_rows_kernels.h - rows of closures that hold a point, for one state or LANES of them: included by
 * closure_rows.c, and by files that define LANES above 1. Equations in closure_rows.c.
 *
 * What is constant stands in lw_closures; what depends on the state, in arrays of the caller's, so that each
 * width has its own.
 */
#ifndef LW_CLOSURE_ROWS_KERNELS_H
#define LW_CLOSURE_ROWS_KERNELS_H

#include "constraints/closure_rows.h"
#include "constraints/loop_constraints.h"
#include "dynamics/tree_recursion.h"

#include <stdlib.h>

/* The constants of one closure. */
typedef struct hold {
    int bodies[2]; /* first, second */
    /* Per row: the component of the wrench at the point, 1 .. 3 torques and 4 .. 6 forces along the axes,
     * with the sense as sign. */
    signed char part[6];
    int frame;        /* Index of the axes in `frames`; -1 if they are those of the second body. */
    double p[3];      /* The point relative to the second body, in its axes. */
    double offset[3]; /* From the ground point of the first body's branch to that of the second's. */
} hold;

/* The constants of a closure that only its gap needs. */
typedef struct mate {
    /* Directions that coincide when the closure is closed, one after another, in the axes of both bodies. */
    double first[9], second[9];
    int directions; /* The number of these directions: none, the axis, or three. */
} mate;

/* Axes in the second body, and the point along them. */
typedef struct frame {
    double axes[9], p[3];
} frame;

/* One closure at a state. */
#define LW_HOLDING(REAL)                                                                                     \
    struct {                                                                                                 \
        REAL axes1[9], p1[3]; /* The axes, one after another, and the point, relative to the first body. */  \
        REAL bias[6];         /* Per component, including gravity where one body is ground. */               \
        REAL arms[2][3];      /* The point relative to the first and to the second body, world axes. */      \
        REAL w_r[3];          /* Angular velocity of the second body relative to the first, on the axes. */  \
    }
typedef LW_HOLDING(double) lw_holding;
typedef LW_HOLDING(REAL) holding;
typedef struct pose {
    REAL R[9], p[3];
} pose;

struct lw_closures {
    hold *holds;
    mate *mates;
    frame *frames;
    int count, frame_count;
    int body_count, *bodies; /* The bodies on the paths to ground, parents first. */
    double per_length;       /* 1 / size of the mechanism */
    /* The state. */
    lw_holding *holding;
    /* Poses of the internal frames 0 .. n, with positions relative to the ground point of their branch. */
    lw_pose *world;
    double *w, *v; /* angular velocity, velocity of the origin, world axes: 3 per body */
};

INLINE void constant9(const double x[9], REAL out[9]) {
    for (int k = 0; k < 9; k++) out[k] = real(x[k]);
}
INLINE void product(const REAL A[9], const REAL B[9], REAL out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
INLINE void product_back(const REAL A[9], const REAL B[9], REAL out[9]) { /* A'B */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

/* --- poses --------------------------------------------------------------------------------------------- */

/* Rotates a pose about coordinate axis a of the parent. */
INLINE void turn_pose(int a, const pose *parent, REAL c, REAL s, pose *own) {
    int j = (a + 1) % 3, k = (a + 2) % 3;
    for (int row = 0; row < 9; row += 3) {
        REAL x = parent->R[row + j], y = parent->R[row + k];
        own->R[row + a] = parent->R[row + a];
        own->R[row + j] = c * x + s * y;
        own->R[row + k] = c * y - s * x;
    }
}

/* Poses of the bodies concerned after the velocities of the recursion; if v is not NULL, also angular
 * velocities and velocities of the origins in world axes, 3 per body. */
INLINE void move_bodies(const lw_closures *c, const recursion *r, const REAL *v, pose *world, REAL *w_world,
                        REAL *v_world) {
    for (int b = 0; b < c->body_count; b++) {
        int i = c->bodies[b];
        const lw_link *link = &r->model->links[i];
        const pose *parent = &world[link->parent];
        pose *own = &world[i];
        REAL p[3], arm[3];
        bool turns = link->kernel < LW_KERNEL_PRISMATIC,
             slides = !turns && link->kernel < LW_KERNEL_SPHERICAL;
        for (int k = 0; k < 3; k++) p[k] = turns ? real(link->p[k]) : r->relative[i].p[k];
        if (link->parent == 0) {
            for (int k = 0; k < 3; k++) arm[k] = p[k], own->p[k] = p[k] - link->p[k];
        } else {
            r3_turn(parent->R, p, arm);
            for (int k = 0; k < 3; k++) own->p[k] = parent->p[k] + arm[k];
        }
        if (link->kernel == 0)
            turn_pose(0, parent, r->cosine[link->v], r->sine[link->v], own);
        else if (link->kernel == 1)
            turn_pose(1, parent, r->cosine[link->v], r->sine[link->v], own);
        else if (link->kernel == 2)
            turn_pose(2, parent, r->cosine[link->v], r->sine[link->v], own);
        else if (slides)
            memcpy(own->R, parent->R, sizeof own->R);
        else if (link->parent == 0)
            memcpy(own->R, r->relative[i].R, sizeof own->R);
        else
            product(parent->R, r->relative[i].R, own->R);
        if (!v) continue;
        REAL *velocity = v_world + 3 * i;
        r3_turn(own->R, r->nodes[i].w, w_world + 3 * i);
        for (int k = 0; k < 3; k++) velocity[k] = v_world[3 * link->parent + k];
        r3_add_cross(w_world + 3 * link->parent, arm, velocity);
        if (turns || link->kernel == LW_KERNEL_SPHERICAL) continue;
        REAL local[3] = {0}, slide[3];
        if (slides)
            local[link->kernel - LW_KERNEL_PRISMATIC] = link->sign * v[link->v];
        else
            for (int k = 0; k < link->joint.nv; k++)
                for (int l = 0; l < 3; l++) local[l] += v[link->v + k] * r->S[6 * (link->v + k) + 3 + l];
        r3_turn(own->R, local, slide);
        for (int k = 0; k < 3; k++) velocity[k] += slide[k];
    }
}

static const REAL still[6] = {0}; /* velocities and accelerations of ground, which gravity is not part of */

/* --- rows ---------------------------------------------------------------------------------------------- */

/* Axes, point and bias of closure k at the poses in `world`; ground does not turn. */
INLINE void locate_hold(const lw_closures *c, const recursion *r, const pose *world, int index,
                        holding *out) {
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    const pose *A = &world[one], *B = &world[two];
    const REAL *w1 = one ? r->nodes[one].w : still, *w2 = two ? r->nodes[two].w : still;
    REAL p[3], t[3], w1_axes[3], w2_axes[3], pull[3], *w_r = out->w_r;
    constant3(h->p, p);
    r3_turn(B->R, p, out->arms[1]);
    for (int k = 0; k < 3; k++) out->arms[0][k] = out->arms[1][k] + (B->p[k] - A->p[k] + h->offset[k]);
    r3_turn_back(A->R, out->arms[0], out->p1);
    product_back(B->R, A->R, out->axes1); /* The second body's axes. */
    for (int k = 0; k < 3; k++) w2_axes[k] = w2[k];
    if (h->frame >= 0) {
        const frame *own = &c->frames[h->frame];
        REAL body[9], axes[9];
        for (int k = 0; k < 9; k++) body[k] = out->axes1[k];
        constant9(own->axes, axes);
        product(axes, body, out->axes1);
        r3_turn(axes, w2, w2_axes);
        constant3(own->p, p);
    }
    r3_turn(out->axes1, w1, w1_axes);
    for (int k = 0; k < 3; k++) w_r[k] = w2_axes[k] - w1_axes[k];
    r3_cross(w_r, w2_axes, out->bias);
    centripetal(w1, out->p1, t);
    r3_turn(out->axes1, t, pull);
    centripetal(w2_axes, p, out->bias + 3);
    for (int k = 0; k < 3; k++) out->bias[3 + k] -= pull[k];
    if (one && two) return;
    REAL gravity[3]; /* The acceleration of ground is -gravity, and ground has no segment. */
    constant3(r->model->gravity, gravity);
    r3_turn_back(A->R, gravity, t);
    r3_turn(out->axes1, t, pull);
    for (int k = 0; k < 3; k++) out->bias[3 + k] += one == 0 ? pull[k] : -pull[k];
}

/* Axis `along` in the second body's axes. */
INLINE const double *axis_of(const lw_closures *c, const hold *h, int along) {
    static const double units[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return h->frame < 0 ? units[along] : c->frames[h->frame].axes + 3 * along;
}

/* Stores the wrench of a torque x, or of a force x through p. */
INLINE void put_torque(const REAL x[3], REAL *out) {
    out[0] = x[0], out[4] = x[1], out[8] = x[2];
    out[12] = out[16] = out[20] = real(0);
}
INLINE void put_force(const REAL p[3], const REAL x[3], REAL *out) {
    out[0] = p[1] * x[2] - p[2] * x[1];
    out[4] = p[2] * x[0] - p[0] * x[2];
    out[8] = p[0] * x[1] - p[1] * x[0];
    out[12] = x[0], out[16] = x[1], out[20] = x[2];
}

/* lw_closure_rows; at: the closure at the state. */
INLINE void put_rows(const lw_closures *c, int index, const holding *at, int count, const int *row,
                     REAL *restrict second, REAL *restrict first, REAL *restrict bias) {
    const hold *h = &c->holds[index];
    for (int k = 0; k < count; k++) {
        int part = h->part[row[k]], size = part < 0 ? -part : part;
        bool force = size > 3;
        double sign = part < 0 ? -1 : 1;
        int along = force ? size - 4 : size - 1;
        REAL x[3], p[3], *out = first + lw_wrench_at(k);
        for (int l = 0; l < 3; l++) x[l] = -sign * at->axes1[3 * along + l];
        bias[k] = sign * at->bias[size - 1];
        if (force)
            put_force(at->p1, x, out);
        else
            put_torque(x, out);
        if (!second) continue;
        const double *axis = axis_of(c, h, along);
        for (int l = 0; l < 3; l++) x[l] = real(sign * axis[l]);
        constant3(h->p, p);
        out = second + lw_wrench_at(k);
        if (force)
            put_force(p, x, out);
        else
            put_torque(x, out);
    }
}

/* lw_closure_defect; nodes: those of the recursion, with accelerations. */
INLINE REAL rows_defect(const lw_closures *c, const node *nodes, int index, const holding *at, int count,
                        const int *row, REAL *size) {
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    const REAL *a1 = one ? nodes[one].a : still, *a2 = two ? nodes[two].a : still;
    REAL p[3], point1[3], point2[3], worst = real(0), turning = real(0), moving = real(0);
    constant3(h->p, p);
    r3_cross(a1, at->p1, point1);
    r3_cross(a2, p, point2);
    for (int k = 0; k < 3; k++) {
        point1[k] += a1[3 + k], point2[k] += a2[3 + k];
        turning = real_larger(turning, real_abs(a1[k]));
        moving = real_larger(moving, real_larger(real_abs(point1[k]), real_abs(point2[k])));
    }
    *size = real_larger(*size, real_larger(turning, c->per_length * moving));
    for (int k = 0; k < count; k++) { /* The sense of a row does not matter. */
        int part = abs(h->part[row[k]]) - 1;
        bool force = part >= 3;
        int along = force ? part - 3 : part;
        const REAL *from1 = force ? point1 : a1, *from2 = force ? point2 : a2;
        REAL other = from2[along];
        if (h->frame >= 0) {
            const double *axis = axis_of(c, h, along);
            other = axis[0] * from2[0] + axis[1] * from2[1] + axis[2] * from2[2];
        }
        REAL off = real_abs(other - r3_dot(at->axes1 + 3 * along, from1) + at->bias[part]);
        worst = real_larger(worst, force ? c->per_length * off : off);
    }
    return worst;
}

#endif
