/* closures.c - rows of closures that hold a point, in body axes.
 *
 * With the closure's point P at rest in both bodies, and w_r = w_2 - w_1 (all in the second body's axes):
 *
 *   wrench on 2   (n + p_2 x f; f),  constant
 *   on 1          minus the same, moved by the relative place of the two internal frames
 *   velocity      n.w_r + f.(v_2P - v_1P)
 *   bias          -n.(w_2 x w_r) + f.(w_2 x (w_2 x p_2) - w_1 x (w_1 x p_1))
 *
 * Source   docs/theory/rows.md for joints whose motion subspace is constant and does not slide; recursion.h for velocities.
 * Cost     O(bodies on the ways of the closures to ground + closures), no allocation.
 */
#include "formulations/closures.h"
#include "model/joint.h"

#include <math.h>

typedef struct hold {
    int bodies[2]; /* first, second */
    double p[3];   /* the point, second body's internal frame */
    double n[6][3], f[6][3];
    bool torque[6];      /* f = 0; else n = 0 */
    double second[6][6]; /* wrenches on the second body */
    /* of a state */
    double R[9], p1[3]; /* second's axes in the first's; the point, seen from the first */
    double spin[3];     /* -w_2 x w_r */
    double pull[3];     /* w_2 x (w_2 x p_2) - w_1 x (w_1 x p_1), and gravity for ground */
} hold;

struct lw_closures {
    hold *holds;
    int count;
    int body_count, *bodies; /* on the ways to ground, parents first */
    lw_pose *world;          /* of the internal frames; 0 .. n */
    double *w, *v;           /* angular velocity, velocity of the origin, world axes: 3 per body */
    double per_length;       /* 1 / size of the mechanism */
};

/* fmax would be a call: it has to look for NaN. */
static double larger(double a, double b) { return a > b ? a : b; }

static bool holds_a_point(lw_joint_type type) {
    return type == LW_JOINT_REVOLUTE || type == LW_JOINT_SPHERICAL || type == LW_JOINT_WELD;
}

static void make_hold(const lw_model *model, int joint, hold *h) {
    const lw_joint_entry *entry = &model->joints[joint];
    double W[36], q[LW_JOINT_MAX_Q];
    h->bodies[0] = entry->info.bodies[0], h->bodies[1] = entry->info.bodies[1];
    lw_v3_copy(entry->frames[1].p, h->p);
    lw_joint_zero(entry->joint.type, q);
    lw_joint_dual(&entry->joint, q, W);
    for (int k = entry->joint.nv; k < 6; k++) {
        lw_m3_mul_v(entry->frames[1].R, W + 6 * k, h->n[k - entry->joint.nv]);
        lw_m3_mul_v(entry->frames[1].R, W + 6 * k + 3, h->f[k - entry->joint.nv]);
    }
    for (int k = 0; k < 6 - entry->joint.nv; k++) {
        h->torque[k] = lw_v3_norm(h->f[k]) == 0;
        lw_v3_copy(h->f[k], h->second[k] + 3);
        lw_v3_cross(h->p, h->f[k], h->second[k]);
        lw_v3_add(h->second[k], h->n[k], h->second[k]);
    }
}

lw_status lw_closures_create(const lw_model *model, const lw_rows *rows, lw_arena *arena, lw_closures **out) {
    (void)rows;
    *out = NULL;
    if (model->constraint_count) return LW_OK;
    for (int k = 0; k < model->closure_count; k++)
        if (!holds_a_point(model->joints[model->closures[k]].joint.type)) return LW_OK;
    size_t n = (size_t)model->body_count + 1;
    lw_closures *c = LW_NEW(arena, lw_closures, 1);
    bool *wanted = LW_NEW(arena, bool, n);
    if (!c || !wanted) return LW_ERROR_MEMORY;
    c->count = model->closure_count;
    c->holds = LW_NEW(arena, hold, model->closure_count + 1);
    c->bodies = LW_NEW(arena, int, n);
    c->world = LW_NEW(arena, lw_pose, n);
    c->w = LW_NEW(arena, double, 3 * n);
    c->v = LW_NEW(arena, double, 3 * n);
    if (!c->holds || !c->bodies || !c->world || !c->w || !c->v) return LW_ERROR_MEMORY;
    for (int k = 0; k < model->closure_count; k++) {
        make_hold(model, model->closures[k], &c->holds[k]);
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

static void place_hold(const lw_model *model, const lw_data *data, const lw_closures *c, hold *h) {
    int one = h->bodies[0], two = h->bodies[1];
    const lw_pose *A = &c->world[one], *B = &c->world[two];
    const double *w1 = one ? data->nodes[one].w : rest, *w2 = two ? data->nodes[two].w : rest;
    double t[3], gap[3], w_r[3], hold1[3], hold2[3];
    lw_m3_tmul(A->R, B->R, h->R);
    lw_v3_sub(B->p, A->p, t);
    lw_m3_tmul_v(A->R, t, gap);
    lw_m3_mul_v(h->R, h->p, h->p1);
    lw_v3_add(h->p1, gap, h->p1);
    lw_m3_tmul_v(h->R, w1, t);
    lw_v3_sub(w2, t, w_r);
    lw_v3_cross(w_r, w2, h->spin);
    centripetal(w1, h->p1, t);
    lw_m3_tmul_v(h->R, t, hold1);
    centripetal(w2, h->p, hold2);
    lw_v3_sub(hold2, hold1, h->pull);
    if (one == 0 || two == 0) { /* ground's acceleration is -gravity, and it has no strand */
        lw_m3_tmul_v(B->R, model->gravity, t);
        lw_v3_axpy(one == 0 ? 1 : -1, t, h->pull);
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
        lw_m3_mul_v(parent->R, turns ? link->p : data->places[i].p, arm);
        lw_v3_add(parent->p, arm, own->p);
        if (turns) { /* about coordinate axis a of the parent */
            int a = link->kernel, j = (a + 1) % 3, k = (a + 2) % 3;
            double cosine = data->cosine[link->v], sine = data->sine[link->v];
            for (int row = 0; row < 9; row += 3) {
                double x = parent->R[row + j], y = parent->R[row + k];
                own->R[row + a] = parent->R[row + a];
                own->R[row + j] = cosine * x + sine * y;
                own->R[row + k] = cosine * y - sine * x;
            }
        } else if (slides)
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
                lw_v3_axpy(v[link->v + k], data->joint_S + 6 * (link->v + k) + 3, local);
        lw_m3_mul_v(own->R, local, slide);
        lw_v3_add(velocity, slide, velocity);
    }
    for (int k = 0; k < c->count; k++) place_hold(model, data, c, &c->holds[k]);
}

void lw_closure_rows(const lw_closures *c, int index, int count, const int *row, double *restrict second,
                     double *restrict first, double *restrict bias) {
    const hold *h = &c->holds[index];
    for (int k = 0; k < count; k++) {
        const double *n = h->n[row[k]], *f = h->f[row[k]];
        double *on1 = first + 6 * k, turned[3];
        memcpy(second + 6 * k, h->second[row[k]], 6 * sizeof *second);
        if (h->torque[row[k]]) {
            bias[k] = lw_v3_dot(n, h->spin);
            lw_m3_mul_v(h->R, n, turned);
            for (int i = 0; i < 3; i++) on1[i] = -turned[i], on1[3 + i] = 0;
        } else {
            bias[k] = lw_v3_dot(f, h->pull);
            lw_m3_mul_v(h->R, f, turned);
            lw_v3_cross(turned, h->p1, on1); /* -p_1 x f */
            for (int i = 0; i < 3; i++) on1[3 + i] = -turned[i];
        }
    }
}

double lw_closure_defect(const lw_data *data, const lw_closures *c, int index, int count, const int *row,
                         double *size) {
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    static const double still[6] = {0};
    const double *a1 = one ? data->nodes[one].a : still, *a2 = two ? data->nodes[two].a : still;
    double on1[3], on2[3], alpha[3], t[3], sum[3];
    lw_v3_cross(a1, h->p1, t);
    lw_v3_add(t, a1 + 3, t);
    lw_m3_tmul_v(h->R, t, on1);
    lw_v3_cross(a2, h->p, on2);
    lw_v3_add(on2, a2 + 3, on2);
    lw_m3_tmul_v(h->R, a1, t);
    for (int k = 0; k < 3; k++) {
        alpha[k] = a2[k] - t[k] + h->spin[k];
        sum[k] = on2[k] - on1[k] + h->pull[k];
        *size = larger(*size, larger(c->per_length * larger(fabs(on1[k]), fabs(on2[k])), fabs(t[k])));
    }
    double worst = 0;
    for (int k = 0; k < count; k++)
        worst = larger(worst, fabs(h->torque[row[k]] ? lw_v3_dot(h->n[row[k]], alpha)
                                                     : c->per_length * lw_v3_dot(h->f[row[k]], sum)));
    return worst;
}

double lw_closure_velocity(const lw_data *data, const lw_closures *c, int index, int count, double *velocity,
                           double *size) {
    const hold *h = &c->holds[index];
    int one = h->bodies[0], two = h->bodies[1];
    const lw_pose *A = &c->world[one], *B = &c->world[two];
    const double *w1 = one ? data->nodes[one].w : rest, *w2 = two ? data->nodes[two].w : rest;
    double arm[3], v1[3], v2[3], slip[3], t[3], w_r[3];
    lw_m3_tmul_v(h->R, w1, t);
    lw_v3_sub(w2, t, w_r);
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
    double worst = 0;
    for (int k = 0; k < count; k++) {
        velocity[k] = h->torque[k] ? lw_v3_dot(h->n[k], w_r) : lw_v3_dot(h->f[k], slip);
        worst = larger(worst, (h->torque[k] ? 1 : c->per_length) * fabs(velocity[k]));
    }
    return worst;
}
