/* closure_rows.c - rows of closures that hold a point, in body axes.
 *
 * The rows are components of the wrench at the closure's point P, along axes fixed in the second body. With P
 * fixed in both bodies, w_r = w_2 - w_1 and x one of the axes:
 *
 *   wrench on 2   (x; 0) or (p_2 x x; x),  constant in its axes
 *   on 1          minus the same in the first body's axes, with p_1
 *   velocity      x.w_r or x.(v_2P - v_1P)
 *   bias          -x.(w_2 x w_r) or x.(w_2 x (w_2 x p_2) - w_1 x (w_1 x p_1))
 *   gap           x.(rotation vector of 2 relative to 1) or x.(P_2 - P_1)
 *
 * Positions are relative to the point where the first body of each branch is attached to ground, so that a
 * loop far from the origin is closed as accurately as any other.
 *
 * Source   docs/theory/rows.md for joints whose motion subspace is constant and does not slide;
 *          tree_recursion.h for velocities.
 * Cost     O(bodies on the paths of the closures to ground + closures), no allocation.
 */
#include "constraints/closure_rows.h"
#include "constraints/loop_constraints.h"
#include "model/joint.h"

#include <math.h>
#include <stdlib.h>

/* The rows of one closure; three cache lines. */
typedef struct hold {
    int bodies[2]; /* first, second */
    /* Per row: the component of the wrench at the point, 1 .. 3 torques and 4 .. 6 forces along the axes,
     * with the sense as sign. */
    signed char part[6];
    int frame;   /* Index of the axes in `frames`; -1 if they are those of the second body. */
    double p[3]; /* The point relative to the second body, in its axes. */
    /* Quantities of a state. */
    double axes1[9], p1[3]; /* The axes, one after another, and the point relative to the first body. */
    double bias[6];         /* Per component, including gravity where one body is ground. */
} hold;

/* The data of a closure that only its gap needs. */
typedef struct mate {
    double offset[3]; /* From the ground point of the first body's branch to that of the second's. */
    /* Directions that coincide when the closure is closed, one after another, in the axes of both bodies. */
    double first[9], second[9];
    int directions; /* The number of these directions: none, the axis, or three. */
} mate;

/* Axes in the second body, and the point along them. */
typedef struct frame {
    double axes[9], p[3];
} frame;

struct lw_closures {
    hold *holds;
    mate *mates;
    frame *frames;
    int count, frame_count;
    int body_count, *bodies; /* The bodies on the paths to ground, parents first. */
    /* Poses of the internal frames 0 .. n, with positions relative to the ground point of their branch. */
    lw_pose *world;
    double *w, *v;     /* angular velocity, velocity of the origin, world axes: 3 per body */
    double per_length; /* 1 / size of the mechanism */
};

/* Unlike fmax, which handles NaN, this needs no call. */
static double larger(double a, double b) { return a > b ? a : b; }

static bool holds_a_point(lw_joint_type type) {
    return lw_joint_keeps_point(type) && lw_joint_describe(type)->turns < 2;
}

/* The index of the only non-zero component of a vector, or -1 if there are several. */
static int only_component(const double *x, int count) {
    int found = -1;
    for (int k = 0; k < count; k++) {
        if (x[k] == 0) continue;
        if (found >= 0) return -1;
        found = k;
    }
    return found;
}

static void make_hold(const lw_model *model, int joint, lw_closures *c, hold *h) {
    const lw_joint_entry *entry = &model->joints[joint];
    int nv = entry->joint.nv;
    double W[36], q[LW_JOINT_MAX_Q], axes[9];
    bool own = true;
    h->bodies[0] = entry->info.bodies[0], h->bodies[1] = entry->info.bodies[1];
    lw_v3_copy(entry->frames[1].p, h->p);
    lw_m3_transpose(entry->frames[1].R, axes); /* The joint's axes, one after another. */
    for (int k = 0; k < 3; k++) own &= only_component(axes + 3 * k, 3) >= 0;
    h->frame = own ? -1 : c->frame_count++;
    if (!own) {
        memcpy(c->frames[h->frame].axes, axes, sizeof axes);
        lw_m3_mul_v(axes, h->p, c->frames[h->frame].p);
    }
    lw_joint_zero(entry->joint.type, q);
    lw_joint_dual(&entry->joint, q, W);
    for (int k = 0; k < 6 - nv; k++) {
        int part = only_component(W + 6 * (nv + k), 6), first = part < 3 ? 0 : 3, axis = part - first;
        const double *x = axes + 3 * axis;
        int along = own ? only_component(x, 3) : axis;
        h->part[k] = (signed char)((own && x[along] < 0 ? -1 : 1) * (1 + first + along));
    }
}

/* The point where the branch of a body is attached to ground. */
static const double *hung_at(const lw_model *model, int body) {
    static const double origin[3] = {0, 0, 0};
    if (body == 0) return origin;
    while (model->links[body].parent) body = model->links[body].parent;
    return model->links[body].p;
}

static void make_mate(const lw_model *model, int joint, mate *x) {
    const lw_joint_entry *entry = &model->joints[joint];
    double *directions[2] = {x->first, x->second};
    lw_v3_sub(hung_at(model, entry->info.bodies[1]), hung_at(model, entry->info.bodies[0]), x->offset);
    const lw_joint_descriptor *about = lw_joint_describe(entry->joint.type);
    x->directions = about->ball ? 0 : about->turns ? 1 : 3;
    for (int side = 0; side < 2; side++) {
        double axes[9];
        lw_m3_transpose(entry->frames[side].R, axes);
        memcpy(directions[side], x->directions == 1 ? axes + 3 * entry->joint.axis : axes,
               3 * (size_t)x->directions * sizeof *axes);
    }
}

lw_status lw_closures_create(const lw_model *model, lw_arena *arena, lw_closures **out) {
    *out = NULL;
    if (model->constraint_count) return LW_OK;
    for (int k = 0; k < model->closure_count; k++)
        if (!holds_a_point(model->joints[model->closures[k]].joint.type)) return LW_OK;
    size_t n = (size_t)model->body_count + 1;
    lw_closures *c = LW_NEW(arena, lw_closures, 1);
    bool *wanted = LW_NEW(arena, bool, n);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    c->count = model->closure_count;
    c->holds = LW_NEW(arena, hold, model->closure_count + 1);
    c->mates = LW_NEW(arena, mate, model->closure_count + 1);
    c->frames = LW_NEW(arena, frame, model->closure_count + 1);
    c->bodies = LW_NEW(arena, int, n);
    c->world = LW_NEW(arena, lw_pose, n);
    c->w = LW_NEW(arena, double, 3 * n);
    c->v = LW_NEW(arena, double, 3 * n);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    for (int k = 0; k < model->closure_count; k++) {
        make_hold(model, model->closures[k], c, &c->holds[k]);
        make_mate(model, model->closures[k], &c->mates[k]);
        for (int side = 0; side < 2; side++)
            for (int i = c->holds[k].bodies[side]; i > 0 && !wanted[i]; i = model->links[i].parent)
                wanted[i] = true;
    }
    for (int i = 1; i <= model->body_count; i++)
        if (wanted[i]) c->bodies[c->body_count++] = i;
    double length = 0;
    for (int i = 1; i <= model->body_count; i++) length = larger(length, lw_v3_norm(model->links[i].p));
    for (int k = 0; k < c->count; k++) length = larger(length, lw_v3_norm(c->holds[k].p));
    c->per_length = length > 0 ? 1 / length : 1;
    lw_m3_identity(c->world[0].R);
    *out = c;
    return LW_OK;
}

/* w x (w x x) */
static void centripetal(const double w[3], const double x[3], double out[3]) {
    double along = lw_v3_dot(w, x), square = lw_v3_dot(w, w);
    for (int k = 0; k < 3; k++) out[k] = along * w[k] - square * x[k];
}

static const double rest[3] = {0, 0, 0};

static void place_hold(const lw_model *model, const lw_data *data, const lw_closures *c, const mate *x,
                       hold *h) {
    int one = h->bodies[0], two = h->bodies[1];
    const lw_pose *A = &c->world[one], *B = &c->world[two];
    const double *w1 = one ? data->nodes[one].w : rest, *w2 = two ? data->nodes[two].w : rest;
    double t[3], at[3], w1_axes[3], w2_axes[3], w_r[3], pull[3];
    lw_m3_tmul(B->R, A->R, h->axes1); /* The second body's axes. */
    lw_v3_copy(w2, w2_axes);
    const double *p_axes = h->p;
    if (h->frame >= 0) {
        const frame *own = &c->frames[h->frame];
        double body[9];
        memcpy(body, h->axes1, sizeof body);
        lw_m3_mul(own->axes, body, h->axes1);
        lw_m3_mul_v(own->axes, w2, w2_axes);
        p_axes = own->p;
    }
    lw_m3_mul_v(B->R, h->p, at);
    for (int k = 0; k < 3; k++) at[k] += B->p[k] - A->p[k] + x->offset[k];
    lw_m3_tmul_v(A->R, at, h->p1);
    lw_m3_mul_v(h->axes1, w1, w1_axes);
    lw_v3_sub(w2_axes, w1_axes, w_r);
    lw_v3_cross(w_r, w2_axes, h->bias);
    centripetal(w1, h->p1, t);
    lw_m3_mul_v(h->axes1, t, pull);
    centripetal(w2_axes, p_axes, h->bias + 3);
    lw_v3_sub(h->bias + 3, pull, h->bias + 3);
    if (one == 0 || two == 0) { /* The acceleration of ground is -gravity, and ground has no segment. */
        lw_m3_tmul_v(A->R, model->gravity, t);
        lw_m3_mul_v(h->axes1, t, pull);
        lw_v3_axpy(one == 0 ? 1 : -1, pull, h->bias + 3);
    }
}

/* Rotates a pose about coordinate axis a of the parent. */
static inline void turn_pose(int a, const lw_pose *parent, double c, double s, lw_pose *own) {
    int j = (a + 1) % 3, k = (a + 2) % 3;
    for (int row = 0; row < 9; row += 3) {
        double x = parent->R[row + j], y = parent->R[row + k];
        own->R[row + a] = parent->R[row + a];
        own->R[row + j] = c * x + s * y;
        own->R[row + k] = c * y - s * x;
    }
}

void lw_closures_move(const lw_model *model, const lw_data *data, const double *v, lw_closures *c) {
    for (int b = 0; b < c->body_count; b++) {
        int i = c->bodies[b];
        const lw_link *link = &model->links[i];
        const lw_pose *parent = &c->world[link->parent];
        lw_pose *own = &c->world[i];
        double *velocity = c->v + 3 * i, arm[3];
        bool turns = link->kernel < LW_KERNEL_PRISMATIC,
             slides = !turns && link->kernel < LW_KERNEL_SPHERICAL;
        const double *p = turns ? link->p : data->places[i].p;
        if (link->parent == 0) {
            lw_v3_copy(p, arm);
            lw_v3_sub(p, link->p, own->p);
        } else {
            lw_m3_mul_v(parent->R, p, arm);
            lw_v3_add(parent->p, arm, own->p);
        }
        if (link->kernel == 0)
            turn_pose(0, parent, data->cosine[link->v], data->sine[link->v], own);
        else if (link->kernel == 1)
            turn_pose(1, parent, data->cosine[link->v], data->sine[link->v], own);
        else if (link->kernel == 2)
            turn_pose(2, parent, data->cosine[link->v], data->sine[link->v], own);
        else if (slides)
            memcpy(own->R, parent->R, sizeof own->R);
        else if (link->parent == 0)
            memcpy(own->R, data->places[i].R, sizeof own->R);
        else
            lw_m3_mul(parent->R, data->places[i].R, own->R);
        if (!v) continue;
        lw_m3_mul_v(own->R, data->nodes[i].w, c->w + 3 * i);
        lw_v3_copy(c->v + 3 * link->parent, velocity);
        lw_v3_add_cross(c->w + 3 * link->parent, arm, velocity);
        if (turns || link->kernel == LW_KERNEL_SPHERICAL) continue;
        double local[3] = {0, 0, 0}, slide[3];
        if (slides)
            local[link->kernel - LW_KERNEL_PRISMATIC] = link->sign * v[link->v];
        else
            for (int k = 0; k < link->joint.nv; k++)
                lw_v3_axpy(v[link->v + k], data->S + 6 * (link->v + k) + 3, local);
        lw_m3_mul_v(own->R, local, slide);
        lw_v3_add(velocity, slide, velocity);
    }
    for (int k = 0; k < c->count; k++) place_hold(model, data, c, &c->mates[k], &c->holds[k]);
}

const lw_pose *lw_closures_world(const lw_closures *c) { return c->world; }

/* Axis `along` in the second body's axes. */
static inline const double *axis_of(const lw_closures *c, const hold *h, int along) {
    static const double units[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return h->frame < 0 ? units[along] : c->frames[h->frame].axes + 3 * along;
}

/* Stores the wrench of a torque (x, y, z), or of a force (x, y, z) through p. */
static inline void put_torque(double x, double y, double z, double *out) {
    out[0] = x, out[4] = y, out[8] = z;
    out[12] = out[16] = out[20] = 0;
}
static inline void put_force(const double *p, double x, double y, double z, double *out) {
    out[0] = p[1] * z - p[2] * y;
    out[4] = p[2] * x - p[0] * z;
    out[8] = p[0] * y - p[1] * x;
    out[12] = x, out[16] = y, out[20] = z;
}

void lw_closure_rows(const lw_closures *c, int index, int count, const int *row, double *restrict second,
                     double *restrict first, double *restrict bias) {
    const hold *h = &c->holds[index];
    for (int k = 0; k < count; k++) {
        int part = h->part[row[k]], size = part < 0 ? -part : part;
        bool force = size > 3;
        double sign = part < 0 ? -1 : 1;
        const double *axis = h->axes1 + 3 * (force ? size - 4 : size - 1);
        double x = -sign * axis[0], y = -sign * axis[1], z = -sign * axis[2], *out = first + lw_wrench_at(k);
        bias[k] = sign * h->bias[size - 1];
        if (force)
            put_force(h->p1, x, y, z, out);
        else
            put_torque(x, y, z, out);
        if (!second) continue;
        axis = axis_of(c, h, force ? size - 4 : size - 1);
        x = sign * axis[0], y = sign * axis[1], z = sign * axis[2], out = second + lw_wrench_at(k);
        if (force)
            put_force(h->p, x, y, z, out);
        else
            put_torque(x, y, z, out);
    }
}

double lw_closure_defect(const lw_data *data, const lw_closures *c, int index, int count, const int *row,
                         double *size) {
    static const double still[6] = {0};
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    const double *a1 = one ? data->nodes[one].a : still, *a2 = two ? data->nodes[two].a : still;
    double point1[3], point2[3], worst = 0, turning = 0, moving = 0;
    lw_v3_cross(a1, h->p1, point1);
    lw_v3_cross(a2, h->p, point2);
    for (int k = 0; k < 3; k++) {
        point1[k] += a1[3 + k], point2[k] += a2[3 + k];
        turning = larger(turning, fabs(a1[k]));
        moving = larger(moving, larger(fabs(point1[k]), fabs(point2[k])));
    }
    *size = larger(*size, larger(turning, c->per_length * moving));
    for (int k = 0; k < count; k++) { /* The sense of a row does not matter. */
        int part = abs(h->part[row[k]]) - 1;
        bool force = part >= 3;
        int along = force ? part - 3 : part;
        const double *from1 = force ? point1 : a1, *from2 = force ? point2 : a2;
        double other = h->frame < 0 ? from2[along] : lw_v3_dot(axis_of(c, h, along), from2);
        double off = fabs(other - lw_v3_dot(h->axes1 + 3 * along, from1) + h->bias[part]);
        worst = larger(worst, force ? c->per_length * off : off);
    }
    return worst;
}

double lw_closure_velocity(const lw_data *data, const lw_closures *c, int index, int count, double *velocity,
                           double *size) {
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    const lw_pose *A = &c->world[one], *B = &c->world[two];
    const double *w1 = one ? data->nodes[one].w : rest, *w2 = two ? data->nodes[two].w : rest;
    double arm[3], v1[3], v2[3], slip[3], t[3], worst = 0;
    lw_m3_mul_v(B->R, h->p, arm);
    lw_v3_copy(c->v + 3 * two, v2);
    lw_v3_add_cross(c->w + 3 * two, arm, v2);
    lw_m3_mul_v(A->R, h->p1, arm);
    lw_v3_copy(c->v + 3 * one, v1);
    lw_v3_add_cross(c->w + 3 * one, arm, v1);
    lw_v3_sub(v2, v1, t);
    lw_m3_tmul_v(B->R, t, slip);
    for (int k = 0; k < 3; k++)
        *size = larger(*size, larger(larger(fabs(w1[k]), fabs(w2[k])),
                                     c->per_length * larger(fabs(v1[k]), fabs(v2[k]))));
    for (int k = 0; k < count; k++) {
        int part = abs(h->part[k]) - 1;
        bool force = part >= 3;
        const double *x = axis_of(c, h, force ? part - 3 : part);
        double along = force ? lw_v3_dot(x, slip) : lw_v3_dot(x, w2) - lw_v3_dot(h->axes1 + 3 * part, w1);
        velocity[k] = h->part[k] < 0 ? -along : along;
        worst = larger(worst, (force ? c->per_length : 1) * fabs(along));
    }
    return worst;
}

double lw_closure_gap(const lw_model *model, const lw_closures *c, int index, int count, double *gap) {
    const hold *h = &c->holds[index];
    const mate *m = &c->mates[index];
    const lw_pose *A = &c->world[h->bodies[0]], *B = &c->world[h->bodies[1]];
    const lw_pose *at1 = &model->joints[model->closures[index]].frames[0];
    double place1[3], place2[3], t[3], apart[3], turned[3] = {0, 0, 0}, worst = 0;
    lw_m3_mul_v(A->R, at1->p, place1);
    lw_m3_mul_v(B->R, h->p, place2);
    for (int k = 0; k < 3; k++) t[k] = (place2[k] - place1[k]) + ((B->p[k] - A->p[k]) + m->offset[k]);
    lw_m3_tmul_v(B->R, t, apart);
    /* For a small relative rotation t, first x second is the component of t perpendicular to them. */
    for (int k = 0; k < m->directions; k++) {
        double first[3], across[3];
        lw_m3_mul_v(A->R, m->first + 3 * k, t);
        lw_m3_tmul_v(B->R, t, first);
        lw_v3_cross(first, m->second + 3 * k, across);
        lw_v3_axpy(m->directions == 3 ? 0.5 : 1, across, turned);
    }
    for (int k = 0; k < count; k++) {
        int part = abs(h->part[k]) - 1;
        bool force = part >= 3;
        double off = lw_v3_dot(axis_of(c, h, force ? part - 3 : part), force ? apart : turned);
        gap[k] = h->part[k] < 0 ? -off : off;
        worst = larger(worst, fabs(off));
    }
    return worst;
}
