/* rows.c - constraint rows of joints, closures, prescribed motions and constraints, at all three levels.
 *
 *   joint       W'(V_2 - V_1) = 0 for transmitted wrenches, = v(t) for prescribed speeds, at its point on
 *               body 2
 *   distance    u'(x_2' - x_1') = 0,  u the unit vector along the line
 *   coupling    sum of slopes of its terms times speeds = 0
 *   rolling     the touching point of the disc or sphere has the velocity of the plane's point there
 *
 * Source   Mufti (1983), eqs 6-9, 41-48, remarks 3 and 5, 62-66; docs/theory/rows.md derives every line
 *          below.
 * Cost     O(joints + constraints), no allocation but in create.
 */
#include "model/rows.h"
#include "model/coupling.h"
#include "model/joint.h"

#include <stdio.h>

/* --- structure ------------------------------------------------------------------------------------ */

/* Counts rows and blocks, and stores them if `rows` has arrays for them. */
typedef struct builder {
    lw_rows *rows;
    bool loops_only;
    int row, block;
} builder;

static void add_row(builder *b, lw_row_kind kind, int joint, int constraint, int component, const int *bodies,
                    int body_count) {
    int first = b->block;
    for (int k = 0; k < body_count; k++) {
        bool known = bodies[k] == 0;
        for (int i = 0; i < k; i++) known |= bodies[i] == bodies[k];
        if (known) continue;
        if (b->rows->body) b->rows->body[b->block] = bodies[k];
        b->block++;
    }
    if (b->rows->rows)
        b->rows->rows[b->row] = (lw_row){kind, joint, constraint, component, first, b->block - first};
    b->row++;
}

static bool held(const lw_joint_entry *entry, lw_hold hold) {
    return hold == LW_HOLD_Q ? entry->given_q : hold == LW_HOLD_V && entry->given_v;
}

static void add_joint(builder *b, const lw_model *model, int joint, lw_hold hold) {
    const lw_joint_entry *entry = &model->joints[joint];
    const lw_joint_info *info = &entry->info;
    for (int k = entry->joint.nv; k < 6; k++)
        add_row(b, info->cut ? LW_ROW_CLOSURE : LW_ROW_TREE, joint, -1, k, info->bodies, 2);
    if (info->cut) return;
    for (int k = 0; k < entry->joint.nv; k++) {
        if (info->prescribed >> k & 1)
            add_row(b, LW_ROW_PRESCRIBED, joint, -1, k, info->bodies, 2);
        else if (held(entry, hold))
            add_row(b, LW_ROW_HELD, joint, -1, k, info->bodies, 2);
    }
}

static int body_of_speed(const lw_model *model, int speed) {
    int low = 1, high = model->body_count; /* Find the last body whose speeds start at or before this. */
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (model->links[middle].v <= speed)
            low = middle;
        else
            high = middle - 1;
    }
    while (model->links[low].joint.nv == 0) low--; /* Skip bodies without speeds. */
    return low;
}

static void add_constraint(builder *b, const lw_model *model, int index) {
    const lw_constraint *constraint = &model->constraints[index];
    int bodies[2 * LW_COUPLING_MAX], count = 0;
    switch (constraint->type) {
    case LW_CONSTRAINT_DISTANCE:
        add_row(b, LW_ROW_CONSTRAINT, -1, index, 0, constraint->bodies, 2);
        break;
    case LW_CONSTRAINT_COUPLING:
        for (int k = 0; k < constraint->terms; k++) {
            int child = body_of_speed(model, constraint->speeds[k]);
            int joint = model->bodies[child].joint_index, at = LW_COUPLING_MAX * index + k;
            if (b->rows->coupling_joint) {
                b->rows->coupling_joint[at] = joint;
                b->rows->coupling_component[at] = constraint->speeds[k] - model->links[child].v;
            }
            bodies[count++] = child;
            bodies[count++] = model->links[child].parent;
        }
        add_row(b, LW_ROW_CONSTRAINT, -1, index, 0, bodies, count);
        break;
    case LW_CONSTRAINT_ROLLING:
        for (int k = 0; k < 3; k++) add_row(b, LW_ROW_CONSTRAINT, -1, index, k, constraint->bodies, 2);
        break;
    case LW_CONSTRAINT_TYPES:
        break;
    }
}

static void build(builder *b, const lw_model *model, lw_hold hold) {
    b->row = b->block = 0;
    for (int i = 1; i <= model->body_count && !b->loops_only; i++)
        add_joint(b, model, model->bodies[i].joint_index, hold);
    b->rows->tree_count = b->row;
    for (int k = 0; k < model->closure_count; k++) add_joint(b, model, model->closures[k], hold);
    for (int k = 0; k < model->constraint_count; k++) add_constraint(b, model, k);
    b->rows->count = b->row;
    b->rows->block_count = b->block;
}

/* Marks the joints whose state the rows need: all joints, or those that close loops or are coupled. */
static void list_joints(const lw_model *model, bool loops_only, lw_rows *rows) {
    for (int j = 0; j < model->joint_count; j++) rows->needed[j] = !loops_only || model->joints[j].info.cut;
    for (int c = 0; c < model->constraint_count; c++)
        for (int k = 0; k < model->constraints[c].terms; k++)
            rows->needed[rows->coupling_joint[LW_COUPLING_MAX * c + k]] = true;
    for (int j = 0; j < model->joint_count; j++)
        if (rows->needed[j]) rows->needed[rows->joint_count++] = j;
}

static lw_rows *create(const lw_model *model, lw_hold hold, bool loops_only, lw_arena *arena) {
    lw_rows *rows = LW_NEW(arena, lw_rows, 1);
    if (!rows) return NULL;
    builder b = {.rows = rows, .loops_only = loops_only};
    build(&b, model, hold);
    size_t m = (size_t)rows->count + 1, blocks = (size_t)rows->block_count + 1;
    rows->rows = LW_NEW(arena, lw_row, m);
    rows->body = LW_NEW(arena, int, blocks);
    rows->H = LW_NEW(arena, double, 6 * blocks);
    rows->gamma = LW_NEW(arena, double, m);
    rows->rate = LW_NEW(arena, double, m);
    rows->phi = LW_NEW(arena, double, m);
    rows->bodies = LW_NEW(arena, lw_body_state, model->body_count + 1);
    rows->joints = LW_NEW(arena, lw_joint_state, model->joint_count + 1);
    rows->needed = LW_NEW(arena, int, model->joint_count + 1);
    rows->coupling_joint = LW_NEW(arena, int, LW_COUPLING_MAX * model->constraint_count + 1);
    rows->coupling_component = LW_NEW(arena, int, LW_COUPLING_MAX * model->constraint_count + 1);
    rows->coupling_factor = LW_NEW(arena, double, LW_COUPLING_MAX * model->constraint_count + 1);
    if (lw_arena_failed(arena)) return NULL;
    build(&b, model, hold);
    list_joints(model, loops_only, rows);
    for (int j = 0; j < model->joint_count; j++)
        lw_joint_zero(model->joints[j].joint.type, rows->joints[j].q);
    return rows;
}

lw_rows *lw_rows_create(const lw_model *model, lw_hold hold, lw_arena *arena) {
    return create(model, hold, false, arena);
}

lw_rows *lw_rows_create_loops(const lw_model *model, lw_arena *arena) {
    return create(model, LW_HOLD_NONE, true, arena);
}

/* --- one state ------------------------------------------------------------------------------------ */

static void evaluate_bodies(const lw_model *model, const lw_data *data, lw_rows *rows) {
    for (int i = 1; i <= model->body_count; i++) {
        const double *R = data->world[i].R, *V = data->motion[i].V, *com = model->bodies[i].com;
        lw_body_state *body = &rows->bodies[i];
        double local[3];
        lw_v3_copy(V + 3, local);
        lw_v3_add_cross(V, com, local);
        lw_m3_mul_v(R, local, body->rdot);
        lw_m3_mul_v(R, V, body->w);
        lw_pose_point(R, data->world[i].p, com, body->r);
    }
}

/* Computes the velocity of the body's point at x. */
static void velocity_at(const lw_body_state *body, const double x[3], double out[3]) {
    double arm[3];
    lw_v3_sub(x, body->r, arm);
    lw_v3_copy(body->rdot, out);
    lw_v3_add_cross(body->w, arm, out);
}

/* Takes the coordinates of a tree joint from data: the prescribed ones or, unless they are to be fitted,
 * all. */
static void take_coordinates(const lw_joint_entry *entry, const lw_data *data, bool fit, double *q) {
    const lw_joint_info *info = &entry->info;
    if (info->cut) return;
    int at = lw_joint_quaternion(info->type);
    for (int k = 0; k < entry->joint.nq; k++) {
        int speed = at >= 0 && k >= at ? (at == 0 ? 0 : 3) : k; /* Rotations are prescribed as a whole. */
        if (!fit || info->prescribed >> speed & 1) q[k] = data->q[info->q + k];
    }
}

/* A joint in one position: its frames on both bodies in the world, and the pose of the second in the
 * first. */
typedef struct joint_poses {
    lw_pose one, two, relative;
} joint_poses;

static void find_joint_poses(const lw_joint_entry *entry, const lw_data *data, joint_poses *p) {
    const lw_pose *world1 = &data->world[entry->info.bodies[0]],
                  *world2 = &data->world[entry->info.bodies[1]];
    lw_pose inverse;
    lw_pose_compose(world1->R, world1->p, entry->frames[0].R, entry->frames[0].p, p->one.R, p->one.p);
    lw_pose_compose(world2->R, world2->p, entry->frames[1].R, entry->frames[1].p, p->two.R, p->two.p);
    lw_pose_invert(p->one.R, p->one.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, p->two.R, p->two.p, p->relative.R, p->relative.p);
}

/* Finds the coordinates of a joint: those of the state or, at a cut and where coordinates are to be fitted,
 * those that approximate the relative pose best. */
static void find_coordinates(const lw_joint_entry *entry, const lw_data *data, bool fit, const joint_poses *p,
                             double *q) {
    const lw_joint_info *info = &entry->info;
    if (info->cut)
        lw_cut_guess(entry, data->q, q);
    else if (fit)
        memcpy(q, data->q + info->q, (size_t)entry->joint.nq * sizeof *q);
    if (info->cut || fit) lw_joint_fit(&entry->joint, p->relative.R, p->relative.p, q);
    take_coordinates(entry, data, fit, q);
}

/* Stores fitted coordinates and speeds as those of the state. */
static void keep_coordinates(const lw_joint_entry *entry, const lw_joint_state *state, lw_data *data) {
    const lw_joint_info *info = &entry->info;
    if (!info->cut) {
        memcpy(data->q + info->q, state->q, (size_t)entry->joint.nq * sizeof *state->q);
        memcpy(data->v + info->v, state->v, (size_t)entry->joint.nv * sizeof *state->v);
        return;
    }
    for (int k = 0; k < entry->joint.nq; k++)
        if (entry->winding[k] >= 0) data->q[entry->winding[k]] = state->q[k];
}

/* Computes the error: the small motion, in world axes, that leads from the pose joint(q) to the relative
 * pose. */
static void find_error(const joint_poses *p, const lw_pose *joint, double error[6]) {
    double turn[9], quaternion[4], rotation[3], gap[3], slide[3];
    lw_m3_tmul(joint->R, p->relative.R, turn);
    lw_quat_rot(turn, quaternion);
    lw_quat_log(quaternion, rotation);
    lw_v3_sub(p->relative.p, joint->p, gap);
    lw_m3_tmul_v(p->relative.R, gap, slide);
    lw_m3_mul_v(p->two.R, rotation, error);
    lw_m3_mul_v(p->two.R, slide, error + 3);
}

static void evaluate_joint(const lw_model *model, lw_data *data, bool fit, int index, lw_rows *rows) {
    const lw_joint_entry *entry = &model->joints[index];
    const lw_joint_info *info = &entry->info;
    lw_joint_state *state = &rows->joints[index];
    const lw_body_state *body1 = &rows->bodies[info->bodies[0]], *body2 = &rows->bodies[info->bodies[1]];
    joint_poses p;
    lw_pose joint;
    find_joint_poses(entry, data, &p);
    lw_v3_copy(p.two.p, state->at);
    find_coordinates(entry, data, fit, &p, state->q);

    /* Wrenches and relative twist are in world axes, at the joint's point on the second body. */
    double W[36], V1[6], V2[6], twist[6];
    lw_joint_dual(&entry->joint, state->q, W);
    for (int k = 0; k < 12; k++) lw_m3_mul_v(p.two.R, W + 3 * k, state->W + 3 * k);
    lw_v3_copy(body1->w, V1), velocity_at(body1, state->at, V1 + 3);
    lw_v3_copy(body2->w, V2), velocity_at(body2, state->at, V2 + 3);
    for (int k = 0; k < 6; k++) twist[k] = V2[k] - V1[k];
    for (int k = 0; k < entry->joint.nv; k++) {
        bool known = !info->cut && (!fit || info->prescribed >> k & 1);
        state->v[k] = known ? data->v[info->v + k] : lw_v6_dot(state->W + 6 * k, twist);
    }
    if (fit) keep_coordinates(entry, state, data);

    /* c = bias + V_2 x (V_2 - V_1) + (0; w_2 x r_2' - w_1 x r_1') */
    double S[6 * LW_JOINT_MAX_V], bias[6];
    lw_joint_motion(&entry->joint, state->q, state->v, joint.R, joint.p, S, bias);
    lw_twist_cross(V2, twist, state->c);
    lw_m3_mul_v(p.two.R, bias, V1);
    lw_m3_mul_v(p.two.R, bias + 3, V1 + 3);
    for (int k = 0; k < 6; k++) state->c[k] += V1[k];
    lw_v3_add_cross(body2->w, body2->rdot, state->c + 3);
    lw_v3_add_cross(body1->rdot, body1->w, state->c + 3);
    find_error(&p, &joint, state->error);
}

static double *block_of(lw_rows *rows, const lw_row *row, int body) {
    for (int k = row->block; k < row->block + row->count; k++)
        if (rows->body[k] == body) return rows->H + 6 * k;
    return NULL;
}

/* Adds factor times the wrench w (torque; force) at a world point to the row's block of a body. */
static void add_wrench(lw_rows *rows, const lw_row *row, int body, double factor, const double w[6],
                       const double at[3]) {
    double *h = block_of(rows, row, body), arm[3], moment[3];
    if (!h) return;
    lw_v3_sub(at, rows->bodies[body].r, arm);
    lw_v3_cross(arm, w + 3, moment);
    for (int k = 0; k < 3; k++) {
        h[k] += factor * (w[k] + moment[k]);
        h[3 + k] += factor * w[3 + k];
    }
}

static void joint_row(const lw_model *model, const lw_data *data, int r, lw_rows *rows) {
    const lw_row *row = &rows->rows[r];
    const lw_joint_info *info = &model->joints[row->joint].info;
    const lw_joint_state *state = &rows->joints[row->joint];
    const double *w = state->W + 6 * row->component;
    add_wrench(rows, row, info->bodies[1], 1, w, state->at);
    add_wrench(rows, row, info->bodies[0], -1, w, state->at);
    bool own_speed = row->kind == LW_ROW_PRESCRIBED || row->kind == LW_ROW_HELD;
    int speed = info->v + row->component;
    rows->rate[r] = own_speed ? data->v[speed] : 0;
    rows->gamma[r] = lw_v6_dot(w, state->c) + (own_speed ? data->vdot[speed] : 0);
    rows->phi[r] = lw_v6_dot(w, state->error);
}

/* Computes the world position and velocity of a constraint's point on one of its bodies. */
static void constraint_point(const lw_data *data, const lw_rows *rows, const lw_constraint *constraint,
                             int side, double x[3], double xdot[3]) {
    int body = constraint->bodies[side];
    lw_pose_point(data->world[body].R, data->world[body].p, constraint->points[side], x);
    velocity_at(&rows->bodies[body], x, xdot);
}

/* Adds factor times w x (w x arm), the part of a point's acceleration without wdot and rddot. */
static void add_centripetal(const lw_body_state *body, const double x[3], double factor, double out[3]) {
    double arm[3], first[3], second[3];
    lw_v3_sub(x, body->r, arm);
    lw_v3_cross(body->w, arm, first);
    lw_v3_cross(body->w, first, second);
    lw_v3_axpy(factor, second, out);
}

static void distance_row(const lw_data *data, const lw_constraint *constraint, int r, lw_rows *rows) {
    const lw_row *row = &rows->rows[r];
    double a[3], va[3], b[3], vb[3], line[3], rate[3], w[6] = {0}, quick[3] = {0, 0, 0};
    constraint_point(data, rows, constraint, 0, a, va);
    constraint_point(data, rows, constraint, 1, b, vb);
    lw_v3_sub(b, a, line);
    lw_v3_sub(vb, va, rate);
    double length = lw_v3_norm(line);
    for (int k = 0; k < 3; k++) w[3 + k] = length > 0 ? line[k] / length : 0;
    add_wrench(rows, row, constraint->bodies[1], 1, w, b);
    add_wrench(rows, row, constraint->bodies[0], -1, w, a);
    add_centripetal(&rows->bodies[constraint->bodies[1]], b, 1, quick);
    add_centripetal(&rows->bodies[constraint->bodies[0]], a, -1, quick);
    double along = lw_v3_dot(w + 3, rate);
    double turning = length > 0 ? (lw_v3_dot(rate, rate) - along * along) / length : 0;
    rows->rate[r] = 0;
    rows->gamma[r] = -lw_v3_dot(w + 3, quick) - turning;
    rows->phi[r] = length - constraint->length;
}

static void coupling_row(const lw_model *model, const lw_data *data, int r, lw_rows *rows) {
    const lw_row *row = &rows->rows[r];
    const lw_constraint *constraint = &model->constraints[row->constraint];
    rows->rate[r] = rows->gamma[r] = 0;
    rows->phi[r] = -constraint->offset;
    for (int k = 0; k < constraint->terms; k++) {
        int at = LW_COUPLING_MAX * row->constraint + k, joint = rows->coupling_joint[at];
        const lw_joint_info *info = &model->joints[joint].info;
        const lw_joint_state *state = &rows->joints[joint];
        const double *w = state->W + 6 * rows->coupling_component[at];
        const lw_coupling_value term = lw_coupling_term(constraint, k, data->q[constraint->coordinates[k]]);
        const double factor = rows->coupling_factor[at] = term.slope;
        const double speed = state->v[rows->coupling_component[at]];
        add_wrench(rows, row, info->bodies[1], factor, w, state->at);
        add_wrench(rows, row, info->bodies[0], -factor, w, state->at);
        rows->gamma[r] += factor * lw_v6_dot(w, state->c) - term.curvature * speed * speed;
        rows->phi[r] += term.value;
    }
}

/* Where a sphere or a disc touches its plane. d runs from the centre to the touching point: -radius n for a
 * sphere, and for a disc along the steepest direction of its own plane, m = n - (n.a) a. */
typedef struct contact {
    double n[3], centre[3], centre_dot[3], origin[3], origin_dot[3];
    double d[3], d_dot[3], touch[3];
} contact;

static void find_contact(const lw_data *data, const lw_constraint *constraint, const lw_rows *rows,
                         contact *c) {
    int roller = constraint->bodies[0], plane = constraint->bodies[1];
    double a[3], n_dot[3], a_dot[3], m[3], m_dot[3], *n = c->n;
    lw_m3_mul_v(data->world[plane].R, constraint->normal, n);
    lw_m3_mul_v(data->world[roller].R, constraint->axis, a);
    lw_v3_cross(rows->bodies[plane].w, n, n_dot);
    lw_v3_cross(rows->bodies[roller].w, a, a_dot);
    constraint_point(data, rows, constraint, 0, c->centre, c->centre_dot);
    constraint_point(data, rows, constraint, 1, c->origin, c->origin_dot);
    double na = lw_v3_dot(n, a), na_dot = lw_v3_dot(n_dot, a) + lw_v3_dot(n, a_dot);
    for (int k = 0; k < 3; k++) {
        m[k] = n[k] - na * a[k];
        m_dot[k] = n_dot[k] - na_dot * a[k] - na * a_dot[k];
    }
    double size = lw_v3_norm(m), radius = constraint->radius;
    if (!(size > 0)) size = 1; /* A disc parallel to the plane has no single contact point. */
    double growth = lw_v3_dot(m, m_dot) / (size * size);
    for (int k = 0; k < 3; k++) {
        c->d[k] = -radius * m[k] / size;
        c->d_dot[k] = -radius * (m_dot[k] - growth * m[k]) / size;
        c->touch[k] = c->centre[k] + c->d[k];
    }
}

/* Computes two directions perpendicular to the normal of a plane, which rotate with the plane. */
void lw_rolling_directions(const lw_constraint *constraint, const double R[9], const double n[3],
                           double first[3], double second[3]) {
    double axis[3];
    lw_m3_mul_v(R, constraint->along[0], axis);
    if (fabs(lw_v3_dot(axis, n)) > 0.9) lw_m3_mul_v(R, constraint->along[1], axis);
    lw_v3_cross(n, axis, first);
    double length = lw_v3_norm(first);
    for (int k = 0; k < 3; k++) first[k] /= length;
    lw_v3_cross(n, first, second);
}

/* Computes three rows: one along the plane's normal and two perpendicular to it. */
static void rolling_rows(const lw_data *data, const lw_constraint *constraint, int r, lw_rows *rows) {
    int roller = constraint->bodies[0], plane = constraint->bodies[1];
    const lw_body_state *body = &rows->bodies[roller], *base = &rows->bodies[plane];
    contact c;
    find_contact(data, constraint, rows, &c);

    /* quick is the relative acceleration of the material points at the contact without wdot and rddot. */
    double quick[3] = {0, 0, 0}, path[3], part[3];
    add_centripetal(body, c.centre, 1, quick);
    lw_v3_add_cross(body->w, c.d_dot, quick);
    add_centripetal(base, c.origin, -1, quick);
    for (int k = 0; k < 3; k++) path[k] = c.centre_dot[k] + c.d_dot[k] - c.origin_dot[k];
    lw_v3_cross(base->w, path, part);
    lw_v3_sub(quick, part, quick);

    double first[3], second[3], gap[3];
    lw_rolling_directions(constraint, data->world[plane].R, c.n, first, second);
    const double *direction[3] = {c.n, first, second};
    lw_v3_sub(c.touch, c.origin, gap);
    for (int k = 0; k < 3; k++) {
        double w[6] = {0};
        lw_v3_copy(direction[k], w + 3);
        add_wrench(rows, &rows->rows[r + k], roller, 1, w, c.touch);
        add_wrench(rows, &rows->rows[r + k], plane, -1, w, c.touch);
        rows->rate[r + k] = 0;
        rows->gamma[r + k] = -lw_v3_dot(direction[k], quick);
        rows->phi[r + k] = k == 0 ? lw_v3_dot(c.n, gap) : 0; /* Slip has a velocity level only. */
    }
}

void lw_rows_evaluate(const lw_model *model, lw_data *data, bool fit, lw_rows *rows) {
    evaluate_bodies(model, data, rows);
    for (int k = 0; k < rows->joint_count; k++) evaluate_joint(model, data, fit, rows->needed[k], rows);
    memset(rows->H, 0, 6 * (size_t)rows->block_count * sizeof *rows->H);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        if (row->joint >= 0) {
            joint_row(model, data, r, rows);
            continue;
        }
        const lw_constraint *constraint = &model->constraints[row->constraint];
        if (constraint->type == LW_CONSTRAINT_DISTANCE)
            distance_row(data, constraint, r, rows);
        else if (constraint->type == LW_CONSTRAINT_COUPLING)
            coupling_row(model, data, r, rows);
        else if (row->component == 0)
            rolling_rows(data, constraint, r, rows);
    }
}

/* --- products ------------------------------------------------------------------------------------- */

void lw_rows_times(const lw_rows *rows, const double *x, double *F) {
    for (int r = 0; r < rows->count; r++)
        for (int k = rows->rows[r].block; k < rows->rows[r].block + rows->rows[r].count; k++)
            lw_v6_axpy(x[r], rows->H + 6 * k, F + 6 * (rows->body[k] - 1));
}

void lw_rows_transposed(const lw_rows *rows, const double *V, double *out) {
    for (int r = 0; r < rows->count; r++) {
        out[r] = 0;
        for (int k = rows->rows[r].block; k < rows->rows[r].block + rows->rows[r].count; k++)
            out[r] += lw_v6_dot(rows->H + 6 * k, V + 6 * (rows->body[k] - 1));
    }
}

void lw_rows_velocities(const lw_model *model, const lw_rows *rows, double *V) {
    for (int i = 1; i <= model->body_count; i++) {
        lw_v3_copy(rows->bodies[i].w, V + 6 * (i - 1));
        lw_v3_copy(rows->bodies[i].rdot, V + 6 * (i - 1) + 3);
    }
}

/* Computes the relative acceleration (or velocity, or displacement) at a joint from A, 6 per body. */
static void relative_of(const lw_model *model, const lw_rows *rows, int joint, const double *A,
                        double relative[6]) {
    const lw_joint_info *info = &model->joints[joint].info;
    for (int k = 0; k < 6; k++) relative[k] = 0;
    for (int side = 0; side < 2; side++) {
        int body = info->bodies[side];
        if (body == 0) continue;
        const double *a = A + 6 * (body - 1);
        double arm[3], linear[3], sign = side ? 1 : -1;
        lw_v3_sub(rows->joints[joint].at, rows->bodies[body].r, arm);
        lw_v3_copy(a + 3, linear);
        lw_v3_add_cross(a, arm, linear);
        lw_v3_axpy(sign, a, relative);
        lw_v3_axpy(sign, linear, relative + 3);
    }
}

static void joint_components(const lw_model *model, const lw_rows *rows, const double *A, bool accelerations,
                             double *out) {
    for (int i = 1; i <= model->body_count; i++) {
        int j = model->bodies[i].joint_index;
        const lw_joint_state *state = &rows->joints[j];
        double relative[6];
        relative_of(model, rows, j, A, relative);
        if (accelerations)
            for (int k = 0; k < 6; k++) relative[k] -= state->c[k];
        for (int k = 0; k < model->links[i].joint.nv; k++)
            out[model->links[i].v + k] = lw_v6_dot(state->W + 6 * k, relative);
    }
}

void lw_rows_joint_accelerations(const lw_model *model, const lw_rows *rows, const double *A, double *vdot) {
    joint_components(model, rows, A, true, vdot);
}

void lw_rows_joint_speeds(const lw_model *model, const lw_rows *rows, const double *V, double *v) {
    joint_components(model, rows, V, false, v);
}

int lw_row_count(const lw_model *model) {
    lw_rows rows = {0};
    builder b = {.rows = &rows};
    build(&b, model, LW_HOLD_NONE); /* Without arrays, rows are only counted. */
    return rows.count;
}

bool lw_row_is_slip(const lw_model *model, const lw_row *row) {
    return row->kind == LW_ROW_CONSTRAINT && row->component > 0 &&
           model->constraints[row->constraint].type == LW_CONSTRAINT_ROLLING;
}

bool lw_row_is_length(const lw_model *model, const lw_rows *rows, int row) {
    const lw_row *r = &rows->rows[row];
    if (r->joint < 0) return model->constraints[r->constraint].type != LW_CONSTRAINT_COUPLING;
    return lw_v3_norm(rows->joints[r->joint].W + 6 * r->component + 3) > 0.5;
}

void lw_row_describe(const lw_model *model, const lw_row *row, char *text, size_t size) {
    static const char *const rolling[3] = {"touching the plane", "slip, first direction",
                                           "slip, second direction"};
    if (row->joint < 0) {
        const lw_constraint *constraint = &model->constraints[row->constraint];
        const char *what = constraint->type == LW_CONSTRAINT_DISTANCE   ? "distance"
                           : constraint->type == LW_CONSTRAINT_COUPLING ? "coupling"
                                                                        : rolling[row->component];
        snprintf(text, size, "constraint \"%s\", %s", constraint->name, what);
        return;
    }
    const lw_joint_entry *entry = &model->joints[row->joint];
    if (row->kind == LW_ROW_PRESCRIBED || row->kind == LW_ROW_HELD)
        snprintf(text, size, "joint \"%s\", %s of speed %d", entry->name,
                 row->kind == LW_ROW_HELD ? "initial value" : "motion", row->component + 1);
    else
        snprintf(text, size, "joint \"%s\", %s", entry->name,
                 lw_joint_row_name(&entry->joint, row->component - entry->joint.nv));
}

const char *lw_rows_remedy(const lw_model *model) {
    return model->motion_count > 0
               ? "prescribed motions contradict each other, or lead beyond what the mechanism can reach"
               : "a step went too far, or a singular position is near: take shorter steps or a tighter "
                 "tolerance";
}
