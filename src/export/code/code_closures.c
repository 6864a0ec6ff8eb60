/* code_closures.c - rows of closures and constraints as nodes, at all three levels.
 *
 * Written down are the violations phi alone (and the slip of rolling bodies); their rates follow by the chain
 * rule along the motion, psi = phi_q qdot + phi_t, and once more for the accelerations:
 *
 *   G vdot + bias = 0,   G = d phi / d(motion of each speed),   bias = d psi / dt while vdot = 0        (7)
 *
 * Poses are those in the body where the two branches of a loop part, so that what lies between it and ground
 * has no part in the rows, and the graph knows.
 *
 * Source   docs/theory/generated-c.md, 9; conditions of joints from their descriptors (model/joint_types.h).
 * Cost     O(speeds) passes over the nodes of the rows.
 */
#include "export/code/code_closures.h"

#include "model/coupling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static code_node *array_of(code_build *b, int count) {
    code_node *items = calloc((size_t)count + 1, sizeof *items);
    if (!items) b->g->failed = true;
    return items;
}

/* --- motions as directions of derivatives --------------------------------------------------------------- */

/* What changes in time: t, coordinates, states that motions follow; and, if accelerations is set, prescribed
 * speeds. Returns how many; seeds has room for 1 + nq + nv + states. */
static int motion_seeds(code_build *b, bool accelerations, code_seed *seeds) {
    const lw_model *model = b->model;
    const lw_values *values = &model->values;
    int count = 0;
    seeds[count++] = (code_seed){b->t, code_constant(b->g, 1)};
    for (int k = 0; k < values->moving_count; k++) {
        const int state = values->moving[k];
        seeds[count++] = (code_seed){code_value(b, values->input_count + state), code_state_rate(b, state)};
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        code_node rates[LW_JOINT_MAX_Q];
        code_joint_rate(b->g, &link->joint, b->q + link->q, b->v + link->v, rates);
        for (int k = 0; k < link->joint.nq; k++)
            if (rates[k] != 0 && !code_is_constant(b->g, b->q[link->q + k]))
                seeds[count++] = (code_seed){b->q[link->q + k], rates[k]};
    }
    for (int k = 0; k < model->nv && accelerations; k++)
        if (b->vdot[k] > 0 && !code_is_constant(b->g, b->v[k]))
            seeds[count++] = (code_seed){b->v[k], b->vdot[k]};
    return count;
}

static code_seed *seed_room(code_build *b) {
    const lw_model *model = b->model;
    code_seed *seeds = calloc((size_t)(model->nq + model->nv + model->values.state_count) + 2, sizeof *seeds);
    if (!seeds) b->g->failed = true;
    return seeds;
}

/* The rates of some nodes along the motion. */
static void rates_of(code_build *b, bool accelerations, const code_node *of, int count, code_node *out) {
    code_seed *seeds = seed_room(b);
    if (seeds) {
        const int seed_count = motion_seeds(b, accelerations, seeds);
        (void)code_derive(b->g, seeds, seed_count, of, count, out);
    }
    free(seeds);
}

/* What coordinates do while speed k of a joint is one and all others are zero. */
static int speed_seeds(code_build *b, const lw_link *link, int k, code_seed *seeds) {
    code_node v[LW_JOINT_MAX_V] = {0}, rates[LW_JOINT_MAX_Q];
    int count = 0;
    v[k] = code_constant(b->g, 1);
    code_joint_rate(b->g, &link->joint, b->q + link->q, v, rates);
    for (int i = 0; i < link->joint.nq; i++)
        if (rates[i] != 0) seeds[count++] = (code_seed){b->q[link->q + i], rates[i]};
    return count;
}

/* --- poses ---------------------------------------------------------------------------------------------- */

static int base_of(const lw_model *model, int i, int j) {
    while (i != j) {
        if (i > j)
            i = model->links[i].parent;
        else
            j = model->links[j].parent;
    }
    return i;
}

/* The bodies from base, without it, to this one; returns how many. */
static int path_to(const lw_model *model, int base, int body, int *path) {
    int count = 0, length = 0;
    for (int at = body; at != base; at = model->links[at].parent) length++;
    for (int at = body; at != base; at = model->links[at].parent) path[length - ++count] = at;
    return length;
}

/* A body in the axes of its loop's base, and its angular velocity relative to that. */
typedef struct placed {
    code_node R[9], p[3], w[3];
} placed;

static void place(code_build *b, int base, int body, placed *x) {
    code_graph *g = b->g;
    int *path = calloc((size_t)b->model->body_count + 1, sizeof *path);
    const int length = path ? path_to(b->model, base, body, path) : 0;
    if (!path) g->failed = true;
    code33_identity(g, x->R);
    code3_zero(x->p);
    code3_zero(x->w);
    for (int i = 0; i < length; i++) {
        const code_body *own = &b->bodies[path[i]];
        const lw_link *link = &b->model->links[path[i]];
        code_node R[9], p[3], local[3] = {0, 0, 0}, w[3];
        code33_mul(g, x->R, own->E, R);
        code_pose_point(g, x->R, x->p, own->r, p);
        for (int k = 0; k < link->joint.nv; k++)
            code3_add_scaled(g, b->v[link->v + k], own->S + 6 * k, local);
        code3_turn(g, R, local, w);
        code3_add(g, x->w, w, x->w);
        for (int k = 0; k < 9; k++) x->R[k] = R[k];
        code3_copy(p, x->p);
    }
    free(path);
}

/* The frames of a joint on both of its bodies in the axes of the base, and d from one origin to the other. */
typedef struct mated {
    code_node one[9], two[9], d[3];
} mated;

static void mate(code_build *b, int joint, mated *m) {
    code_graph *g = b->g;
    const lw_joint_entry *entry = &b->model->joints[joint];
    const int base = base_of(b->model, entry->info.bodies[0], entry->info.bodies[1]);
    code_node ends[2][3];
    for (int side = 0; side < 2; side++) {
        const lw_pose *frame = &entry->frames[side];
        placed x;
        code_node axes[9], at[3];
        place(b, base, entry->info.bodies[side], &x);
        for (int k = 0; k < 9; k++) axes[k] = code_number(g, frame->R[k], 1);
        code_numbers3(g, frame->p, 0.1, at);
        code33_mul(g, x.R, axes, side ? m->two : m->one);
        code_pose_point(g, x.R, x.p, at, ends[side]);
    }
    code3_sub(g, ends[1], ends[0], m->d);
}

/* Entry (i, j) of the rotation of the second frame in the first. */
static code_node entry_of(code_graph *g, const mated *m, int i, int j) {
    code_node sum = 0;
    for (int k = 0; k < 3; k++) sum = code_add(g, sum, code_mul(g, m->one[3 * k + i], m->two[3 * k + j]));
    return sum;
}
/* The component of d along axis i of the first frame. */
static code_node along(code_graph *g, const mated *m, int i) {
    code_node sum = 0;
    for (int k = 0; k < 3; k++) sum = code_add(g, sum, code_mul(g, m->one[3 * k + i], m->d[k]));
    return sum;
}

/* --- coordinates of joints that close loops
 * --------------------------------------------------------------- */

static code_node angle_of(code_graph *g, code_node sine, code_node cosine) {
    return code_make(g, CODE_ATAN2, sine, cosine, 0);
}

/* The angle in the revolution nearest to the entry of q that counts them. */
static code_node wound(code_build *b, const lw_joint_entry *entry, int k, code_node angle) {
    code_graph *g = b->g;
    if (entry->winding[k] < 0) return angle;
    const double turn = 6.283185307179586;
    const code_node away =
        code_mul(g, code_constant(g, 1 / turn), code_sub(g, code_input(g, CODE_Q, entry->winding[k]), angle));
    const code_node turns = code_make(g, CODE_FLOOR, code_add(g, away, code_constant(g, 0.5)), 0, 0);
    return code_add(g, angle, code_mul(g, code_constant(g, turn), turns));
}

static bool cut_coordinates(code_build *b, int joint, code_node *q) {
    code_graph *g = b->g;
    const lw_joint_entry *entry = &b->model->joints[joint];
    const lw_joint *own = &entry->joint;
    const lw_joint_descriptor *d = lw_joint_describe(own->type);
    const bool single = own->nv == 1;
    const code_node sign = code_constant(g, single ? own->sign : 1);
    mated m;
    if (d->ball || d->axes_are_slides || own->inverse) return false;
    mate(b, joint, &m);
    for (int k = 0; k < d->slides; k++)
        q[k] = code_mul(g, sign, along(g, &m, single ? own->axis : d->axis[k]));
    if (d->turns == 1) {
        const int a = single ? own->axis : d->axis[d->slides], i = (a + 1) % 3, j = (a + 2) % 3;
        const code_node angle = angle_of(g, entry_of(g, &m, j, i), entry_of(g, &m, i, i));
        q[d->slides] = wound(b, entry, d->slides, code_mul(g, sign, angle));
    } else if (d->turns == 2) { /* as lw_joint_fit */
        const int a = d->axis[d->slides], c = d->axis[d->slides + 1], other = 3 - a - c;
        const code_node sense = code_constant(g, c == (a + 1) % 3 ? 1 : -1);
        const code_node first =
            angle_of(g, code_mul(g, sense, entry_of(g, &m, other, c)), entry_of(g, &m, c, c));
        const code_node second =
            angle_of(g, code_mul(g, sense, entry_of(g, &m, a, other)), entry_of(g, &m, a, a));
        q[d->slides] = wound(b, entry, d->slides, first);
        q[d->slides + 1] = wound(b, entry, d->slides + 1, second);
    }
    return true;
}

bool code_cut_joint(code_build *b, int joint, code_node *q, code_node *v) {
    if (!cut_coordinates(b, joint, q)) return false;
    rates_of(b, false, q, b->model->joints[joint].joint.nv, v);
    return true;
}

void code_cut_force(code_build *b, int joint, int k, code_node force) {
    const lw_model *model = b->model;
    code_node q[LW_JOINT_MAX_Q];
    if (!cut_coordinates(b, joint, q)) return;
    for (int i = 1; i <= model->body_count; i++)
        for (int l = 0; l < model->links[i].joint.nv; l++) {
            code_seed seeds[LW_JOINT_MAX_Q];
            code_node rate;
            if (code_follows(b, &model->links[i], l)) continue;
            const int count = speed_seeds(b, &model->links[i], l, seeds);
            (void)code_derive(b->g, seeds, count, &q[k], 1, &rate);
            code_node *tau = &b->tau[model->links[i].v + l];
            *tau = code_add(b->g, *tau, code_mul(b->g, force, rate));
        }
}

/* --- rows ----------------------------------------------------------------------------------------------- */

static void add_row(code_rows *rows, code_node phi, bool length) {
    rows->phi[rows->count] = phi;
    rows->psi[rows->count] = -1;
    rows->length[rows->count++] = length;
}

/* Two directions across one, or one across two. */
static int directions_across(const double *axes, int count, double out[6]) {
    if (count == 2) {
        lw_v3_cross(axes, axes + 3, out);
        const double size = lw_v3_norm(out);
        for (int k = 0; k < 3; k++) out[k] /= size;
        return 1;
    }
    int least = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(axes[k]) < fabs(axes[least])) least = k;
    double unit[3] = {0, 0, 0};
    unit[least] = 1;
    lw_v3_cross(axes, unit, out);
    const double size = lw_v3_norm(out), length = lw_v3_norm(axes);
    for (int k = 0; k < 3; k++) out[k] /= size;
    lw_v3_cross(axes, out, out + 3);
    for (int k = 0; k < 3; k++) out[3 + k] /= length;
    return 2;
}

static void slide_rows(code_build *b, const lw_joint *joint, const mated *m, code_rows *rows) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    code_graph *g = b->g;
    if (d->axes_are_slides) {
        double across[6];
        const int count = joint->nv < 3 ? directions_across(joint->axes, joint->nv, across) : 0;
        for (int k = 0; k < count; k++) {
            code_node sum = 0;
            for (int i = 0; i < 3; i++)
                sum = code_add(g, sum, code_mul(g, code_number(g, across[3 * k + i], 1), along(g, m, i)));
            add_row(rows, sum, true);
        }
        return;
    }
    bool free_axis[3] = {false, false, false};
    for (int k = 0; k < d->slides; k++) free_axis[joint->nv == 1 ? joint->axis : d->axis[k]] = true;
    for (int i = 0; i < 3; i++) {
        if (free_axis[i]) continue;
        code_node phi = d->slides || d->screws ? along(g, m, i) : m->d[i];
        if (d->screws && i == joint->axis) phi = -2; /* completed by the caller, who knows its angle */
        add_row(rows, phi, true);
    }
}

static void joint_rows(code_build *b, int index, code_rows *rows) {
    const lw_joint_entry *entry = &b->model->joints[index];
    const lw_joint *joint = &entry->joint;
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    code_graph *g = b->g;
    mated m;
    if (joint->nv == 6) return;
    if (joint->inverse) {
        code_refuse(b, entry->name, "the joint closes a loop and is written backwards");
        return;
    }
    mate(b, index, &m);
    if (!(d->ball && d->slides)) slide_rows(b, joint, &m, rows);
    if (d->screws) { /* p = pitch angle along the axis */
        code_node q[LW_JOINT_MAX_Q] = {0};
        (void)cut_coordinates(b, index, q);
        for (int k = 0; k < rows->count; k++)
            if (rows->phi[k] == -2)
                rows->phi[k] = code_sub(g, along(g, &m, joint->axis),
                                        code_mul(g, code_number(g, joint->pitch, 0), q[0]));
    }
    if (d->ball) return;
    if (d->turns == 0) {
        for (int i = 0; i < 3; i++) add_row(rows, entry_of(g, &m, i, (i + 1) % 3), false);
    } else if (d->turns == 1) {
        const int a = joint->nv == 1 ? joint->axis : d->axis[d->slides];
        add_row(rows, entry_of(g, &m, (a + 1) % 3, a), false);
        add_row(rows, entry_of(g, &m, (a + 2) % 3, a), false);
    } else
        add_row(rows, entry_of(g, &m, d->axis[d->slides], d->axis[d->slides + 1]), false);
}

/* (|d|^2 - l^2) / 2 l: no root, and to first order the same as |d| - l. */
static void distance_row(code_build *b, const lw_constraint *constraint, code_rows *rows) {
    code_graph *g = b->g;
    const int base = base_of(b->model, constraint->bodies[0], constraint->bodies[1]);
    code_node ends[2][3], d[3];
    for (int side = 0; side < 2; side++) {
        placed x;
        code_node at[3];
        place(b, base, constraint->bodies[side], &x);
        code_numbers3(g, constraint->points[side], 0.1, at);
        code_pose_point(g, x.R, x.p, at, ends[side]);
    }
    code3_sub(g, ends[1], ends[0], d);
    const code_node l = code_number(g, constraint->length, 0);
    const code_node off = code_sub(g, code3_dot(g, d, d), code_mul(g, l, l));
    add_row(rows, code_div(g, code_mul(g, code_constant(g, 0.5), off), l), true);
}

static void coupling_row(code_build *b, const lw_constraint *constraint, code_rows *rows) {
    code_graph *g = b->g;
    code_node sum = code_neg(g, code_number(g, constraint->offset, 0));
    for (int k = 0; k < constraint->terms; k++) {
        code_node x = b->q[constraint->coordinates[k]];
        const lw_coupling_curve *curve = constraint->curves ? &constraint->curves[k] : NULL;
        if (curve) {
            x = code_sub(g, x, code_number(g, curve->about, 0));
            if (curve->table)
                x = code_table(g, curve->table, x, 0);
            else if (curve->size > 0) {
                code_node value = 0;
                for (int i = curve->size - 1; i >= 0; i--)
                    value = code_add(g, code_mul(g, value, x), code_number(g, curve->polynomial[i], 0));
                x = value;
            }
        }
        sum = code_add(g, sum, code_mul(g, code_number(g, constraint->factors[k], 0), x));
    }
    add_row(rows, sum, true);
}

/* As rolling_rows in model/rows.c: d leads from the centre to the point that touches. */
static void rolling_rows(code_build *b, const lw_constraint *constraint, code_rows *rows) {
    code_graph *g = b->g;
    const int base = base_of(b->model, constraint->bodies[0], constraint->bodies[1]);
    placed x[2];
    code_node at[3], n[3], normal[3], ends[6], rates[6], d[3], gap[3], slip[3], arm[3];
    for (int side = 0; side < 2; side++) {
        place(b, base, constraint->bodies[side], &x[side]);
        code_numbers3(g, constraint->points[side], 0.1, at);
        code_pose_point(g, x[side].R, x[side].p, at, ends + 3 * side);
    }
    code_numbers3(g, constraint->normal, 1, normal);
    code3_turn(g, x[1].R, normal, n);
    const bool disc = lw_v3_norm(constraint->axis) > 0;
    const code_node minus = code_neg(g, code_number(g, constraint->radius, 0));
    if (disc) { /* m = n - (n.a) a */
        code_node own[3], a[3], m[3];
        code_numbers3(g, constraint->axis, 1, own);
        code3_turn(g, x[0].R, own, a);
        code3_copy(n, m);
        code3_add_scaled(g, code_neg(g, code3_dot(g, n, a)), a, m);
        code3_scale(g, code_div(g, minus, code3_norm(g, m)), m, d);
    } else
        code3_scale(g, minus, n, d);
    code3_add(g, ends, d, gap);
    code3_sub(g, gap, ends + 3, gap);
    add_row(rows, code3_dot(g, n, gap), true);
    /* slip: the velocity of the touching point of the body over that of the plane */
    rates_of(b, false, ends, 6, rates);
    code3_sub(g, rates, rates + 3, slip);
    code3_add_cross(g, x[0].w, d, slip);
    code3_cross(g, x[1].w, gap, arm);
    code3_sub(g, slip, arm, slip);
    const double *axis = constraint->along[fabs(lw_v3_dot(constraint->along[0], constraint->normal)) > 0.9];
    double first[3], second[3];
    lw_v3_cross(constraint->normal, axis, first);
    const double size = lw_v3_norm(first);
    for (int k = 0; k < 3; k++) first[k] /= size;
    lw_v3_cross(constraint->normal, first, second);
    const double *const directions[2] = {first, second};
    for (int k = 0; k < 2; k++) {
        code_node own[3], t[3];
        code_numbers3(g, directions[k], 1, own);
        code3_turn(g, x[1].R, own, t);
        add_row(rows, -1, true);
        rows->psi[rows->count - 1] = code3_dot(g, t, slip);
    }
}

/* Rates, G and bias of all rows. */
static void differentiate(code_build *b, code_rows *rows) {
    code_graph *g = b->g;
    const lw_model *model = b->model;
    const int m = rows->count, n = model->nv;
    code_node *phi = array_of(b, m), *out = array_of(b, m);
    if (!phi || !out) g->failed = true;
    for (int r = 0; r < m && !g->failed; r++) phi[r] = rows->phi[r] >= 0 ? rows->phi[r] : 0;
    if (!g->failed) rates_of(b, false, phi, m, out);
    for (int r = 0; r < m && !g->failed; r++)
        if (rows->phi[r] >= 0) rows->psi[r] = out[r];
    if (!g->failed) rates_of(b, true, rows->psi, m, rows->bias);
    for (int i = 1; i <= model->body_count && !g->failed; i++)
        for (int k = 0; k < model->links[i].joint.nv && !g->failed; k++) {
            const lw_link *link = &model->links[i];
            code_seed seeds[LW_JOINT_MAX_Q];
            if (code_follows(b, link, k)) continue;
            const int count = speed_seeds(b, link, k, seeds), at = link->v + k;
            (void)code_derive(g, seeds, count, phi, m, out);
            for (int r = 0; r < m; r++)
                if (rows->phi[r] >= 0) rows->G[r * n + at] = out[r];
            const code_seed speed = {b->v[at], code_constant(g, 1)};
            (void)code_derive(g, &speed, 1, rows->psi, m, out);
            for (int r = 0; r < m; r++)
                if (rows->phi[r] < 0) rows->G[r * n + at] = out[r];
        }
    free(phi);
    free(out);
}

void code_rows_create(code_build *b, code_rows *rows) {
    enum { MOST = 1500 }; /* rows, redundant ones included: 4 MB of C */
    const lw_model *model = b->model;
    const int room = 6 * model->closure_count + 3 * model->constraint_count;
    *rows = (code_rows){.speeds = model->nv};
    if (room > MOST) {
        code_refuse(b, NULL, "its loops have more than 1500 rows, which would be megabytes of C");
        return;
    }
    rows->phi = array_of(b, room), rows->psi = array_of(b, room), rows->bias = array_of(b, room);
    rows->chosen = array_of(b, room);
    rows->G = calloc((size_t)room * (size_t)model->nv + 1, sizeof *rows->G);
    rows->length = calloc((size_t)room + 1, sizeof *rows->length);
    if (!rows->G || !rows->length) b->g->failed = true;
    for (int k = 0; k < model->closure_count && !b->g->failed; k++) joint_rows(b, model->closures[k], rows);
    for (int k = 0; k < model->constraint_count && !b->g->failed; k++) {
        const lw_constraint *constraint = &model->constraints[k];
        if (constraint->type == LW_CONSTRAINT_DISTANCE)
            distance_row(b, constraint, rows);
        else if (constraint->type == LW_CONSTRAINT_COUPLING)
            coupling_row(b, constraint, rows);
        else
            rolling_rows(b, constraint, rows);
    }
    if (!b->g->failed && !b->refusal) differentiate(b, rows);
}

void code_rows_destroy(code_rows *rows) {
    free(rows->phi);
    free(rows->psi);
    free(rows->bias);
    free(rows->G);
    free(rows->length);
    free(rows->chosen);
    *rows = (code_rows){0};
}
