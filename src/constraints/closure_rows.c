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
#define LANES 1
#include "constraints/closure_rows_kernels.h"
#include "model/joint.h"

#include <math.h>

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

/* The point where the branch of a body is attached to ground. */
static const double *hung_at(const lw_model *model, int body) {
    static const double origin[3] = {0, 0, 0};
    if (body == 0) return origin;
    while (model->links[body].parent) body = model->links[body].parent;
    return model->links[body].p;
}

static void make_hold(const lw_model *model, int joint, lw_closures *c, hold *h) {
    const lw_joint_entry *entry = &model->joints[joint];
    int nv = entry->joint.nv;
    double W[36], q[LW_JOINT_MAX_Q], axes[9];
    bool own = true;
    h->bodies[0] = entry->info.bodies[0], h->bodies[1] = entry->info.bodies[1];
    lw_v3_copy(entry->frames[1].p, h->p);
    lw_v3_sub(hung_at(model, h->bodies[1]), hung_at(model, h->bodies[0]), h->offset);
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

static void make_mate(const lw_model *model, int joint, mate *x) {
    const lw_joint_entry *entry = &model->joints[joint];
    double *directions[2] = {x->first, x->second};
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
    c->holding = LW_NEW(arena, lw_holding, model->closure_count + 1);
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
    c->per_length = 1 / larger(length, 0.1 * lw_longest_arm(model)); /* Joints in one point: rounding. */
    lw_m3_identity(c->world[0].R);
    *out = c;
    return LW_OK;
}

void lw_closures_move(const lw_model *model, const lw_data *data, const double *v, lw_closures *c) {
    const recursion r = {.model = model,
                         .nodes = (node *)data->nodes,
                         .relative = (relative_pose *)data->relative,
                         .S = data->S,
                         .sine = data->sine,
                         .cosine = data->cosine};
    pose *world = (pose *)c->world;
    move_bodies(c, &r, v, world, c->w, c->v);
    for (int k = 0; k < c->count; k++) locate_hold(c, &r, world, k, (holding *)&c->holding[k]);
}

const lw_pose *lw_closures_world(const lw_closures *c) { return c->world; }

void lw_closure_rows(const lw_closures *c, int index, int count, const int *row, double *restrict second,
                     double *restrict first, double *restrict bias) {
    put_rows(c, index, (const holding *)&c->holding[index], count, row, second, first, bias);
}

double lw_closure_defect(const lw_data *data, const lw_closures *c, int index, int count, const int *row,
                         double *size) {
    return rows_defect(c, (const node *)data->nodes, index, (const holding *)&c->holding[index], count, row,
                       size);
}

double lw_closure_velocity(const lw_data *data, const lw_closures *c, int index, int count, double *velocity,
                           double *size) {
    static const double rest[3] = {0, 0, 0};
    const hold *h = &c->holds[index];
    const lw_holding *at = &c->holding[index];
    int one = h->bodies[0], two = h->bodies[1];
    const double *w1 = one ? data->nodes[one].w : rest, *w2 = two ? data->nodes[two].w : rest;
    double v1[3], v2[3], slip[3], t[3], worst = 0;
    lw_v3_copy(c->v + 3 * two, v2);
    lw_v3_add_cross(c->w + 3 * two, at->arms[1], v2);
    lw_v3_copy(c->v + 3 * one, v1);
    lw_v3_add_cross(c->w + 3 * one, at->arms[0], v1);
    lw_v3_sub(v2, v1, t);
    lw_m3_tmul_v(c->world[two].R, t, slip);
    if (h->frame >= 0) {
        lw_v3_copy(slip, t);
        lw_m3_mul_v(c->frames[h->frame].axes, t, slip);
    }
    for (int k = 0; k < 3; k++)
        *size = larger(*size, larger(larger(fabs(w1[k]), fabs(w2[k])),
                                     c->per_length * larger(fabs(v1[k]), fabs(v2[k]))));
    for (int k = 0; k < count; k++) {
        int part = abs(h->part[k]) - 1;
        bool force = part >= 3;
        double along = force ? slip[part - 3] : at->w_r[part];
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
    double point1[3], point2[3], t[3], apart[3], turned[3] = {0, 0, 0}, worst = 0;
    lw_m3_mul_v(A->R, at1->p, point1);
    lw_m3_mul_v(B->R, h->p, point2);
    for (int k = 0; k < 3; k++) t[k] = (point2[k] - point1[k]) + ((B->p[k] - A->p[k]) + h->offset[k]);
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
