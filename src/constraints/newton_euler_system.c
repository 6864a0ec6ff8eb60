/* newton_euler_system.c - the stationary-point system of a mechanism: inertias, forces, rows, and what its
 * solution means.
 *
 *   u_1 = F + m g                      force
 *   u_2 = G - w x (I w)                torque about the centre of mass
 *   joint elements (springs, drives, friction on joint coordinates) act as W tau on the second body, -W tau
 *   on the first, W dual to the joint's motion: C g of the paper.
 *
 * Source   Mufti (1983), eqs 2-10, 47-49, 63, remarks 3-5; docs/theory/rows.md, docs/theory/lagrange.md.
 * Cost     O(bodies + joints + elements) per state, no allocation.
 */
#include "constraints/newton_euler_system.h"
#include "model/joint.h"

#include <math.h>

static void list_angles(lw_newton_euler *s) {
    const lw_model *model = s->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nq && lw_joint_quaternion(link->joint.type) < 0; k++)
            if (lw_joint_speed_turns(link->joint.type, k) && !(link->prescribed >> k & 1))
                s->angles[s->angle_count++] = (lw_winding){link->q + k, model->bodies[i].joint_index, k};
    }
    for (int k = 0; k < model->cut_angle_count; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        s->angles[s->angle_count++] =
            (lw_winding){angle->q, model->closures[angle->closure], angle->coordinate};
    }
}

lw_newton_euler *lw_newton_euler_create(const lw_model *model, lw_hold hold) {
    lw_arena *arena = lw_arena_create(NULL);
    if (!arena) return NULL;
    lw_newton_euler *s = LW_NEW(arena, lw_newton_euler, 1);
    size_t n = (size_t)model->body_count;
    if (s) {
        s->model = model;
        s->arena = arena;
        s->rows = lw_rows_create(model, hold, arena);
        s->mass = LW_NEW(arena, double, n + 1);
        s->inertia = LW_NEW(arena, double, 6 * n + 1);
        s->u = LW_NEW(arena, double, 6 * n + 1);
        s->a = LW_NEW(arena, double, 6 * n + 1);
        s->joint_load = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
        s->vdot = LW_NEW(arena, double, model->nv + 1);
        s->angles = LW_NEW(arena, lw_winding, model->nq + 1);
        if (s->rows) s->lambda = LW_NEW(arena, double, s->rows->count + 1);
    }
    if (lw_arena_failed(arena) || !s->rows || lw_data_create(model, NULL, &s->data) != LW_OK) {
        lw_arena_destroy(arena);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) s->mass[i] = model->links[i + 1].inertia.mass;
    list_angles(s);
    return s;
}

void lw_newton_euler_destroy(lw_newton_euler *s) {
    if (!s) return;
    lw_data_destroy(s->data);
    lw_arena_destroy(s->arena);
}

/* Inertia about the centre of mass, from that about the internal origin, turned into world axes. */
static void turn_inertias(lw_newton_euler *s) {
    for (int i = 1; i <= s->model->body_count; i++) {
        const lw_rigid_inertia *I = &s->model->links[i].inertia;
        const double *c = s->model->bodies[i].com;
        double about[6], m = I->mass, square = lw_v3_dot(c, c);
        for (int k = 0; k < 3; k++) about[k] = I->second[k] - m * (square - c[k] * c[k]);
        about[3] = I->second[3] + m * c[0] * c[1];
        about[4] = I->second[4] + m * c[0] * c[2];
        about[5] = I->second[5] + m * c[1] * c[2];
        lw_s3_rotate(s->data->world[i].R, about, s->inertia + 6 * (i - 1));
    }
}

/* Adds a wrench (torque; force) at a world point to u of a body. */
static void add_wrench(lw_newton_euler *s, int body, double factor, const double w[6], const double at[3]) {
    if (body == 0) return;
    double *u = s->u + 6 * (body - 1), arm[3], moment[3];
    lw_v3_sub(at, s->rows->bodies[body].r, arm);
    lw_v3_cross(arm, w + 3, moment);
    for (int k = 0; k < 3; k++) u[k] += factor * (w[k] + moment[k]), u[3 + k] += factor * w[3 + k];
}

void lw_newton_euler_forces(lw_newton_euler *s, double t, const double *tau) {
    const lw_model *model = s->model;
    lw_data *data = s->data;
    lw_forces(model, data, t, false);
    lw_idle_loads(model, data);
    for (int k = 0; tau && k < model->nv; k++) data->tau[k] += tau[k];
    for (int i = 1; i <= model->body_count; i++) {
        double *u = s->u + 6 * (i - 1), local[3], momentum[3], gyroscopic[3];
        const double *load = data->load + 6 * i, *w = s->rows->bodies[i].w;
        lw_v3_copy(load, local);
        lw_v3_add_cross(load + 3, model->bodies[i].com, local); /* n - c x f */
        lw_m3_mul_v(data->world[i].R, local, u);
        lw_m3_mul_v(data->world[i].R, load + 3, u + 3);
        lw_s3_mul_v(s->inertia + 6 * (i - 1), w, momentum);
        lw_v3_cross(w, momentum, gyroscopic);
        lw_v3_sub(u, gyroscopic, u);
        lw_v3_axpy(s->mass[i - 1], model->gravity, u + 3);
    }
    memset(s->joint_load, 0, 6 * (size_t)model->joint_count * sizeof *s->joint_load);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int j = model->bodies[i].joint_index;
        const lw_joint_info *info = &model->joints[j].info;
        const lw_joint_state *state = &s->rows->joints[j];
        double *load = s->joint_load + 6 * j;
        for (int k = 0; k < link->joint.nv; k++) lw_v6_axpy(data->tau[link->v + k], state->W + 6 * k, load);
        add_wrench(s, info->bodies[1], 1, load, state->at);
        add_wrench(s, info->bodies[0], -1, load, state->at);
    }
    for (int k = 0; k < model->closure_count; k++) /* acts on the bodies already, counts as reaction */
        memcpy(s->joint_load + 6 * model->closures[k], data->cut_load + 6 * k, 6 * sizeof *s->joint_load);
}

void lw_newton_euler_push(lw_newton_euler *s, int body, int speed, double force) {
    const int j = s->model->bodies[body].joint_index;
    const lw_joint_info *info = &s->model->joints[j].info;
    const lw_joint_state *state = &s->rows->joints[j];
    const double *w = state->W + 6 * speed;
    add_wrench(s, info->bodies[1], force, w, state->at);
    add_wrench(s, info->bodies[0], -force, w, state->at);
    lw_v6_axpy(force, w, s->joint_load + 6 * j);
}

void lw_newton_euler_rows_at(lw_newton_euler *s, double t, const double *q, const double *v) {
    lw_take_state(s->model, s->data, t, q, v);
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
    lw_rows_evaluate(s->model, s->data, false, s->rows);
    turn_inertias(s);
}

void lw_newton_euler_at(lw_newton_euler *s, double t, const double *q, const double *v, const double *tau) {
    lw_newton_euler_rows_at(s, t, q, v);
    lw_newton_euler_forces(s, t, tau);
}

/* The quaternion of tree joint i as the quaternions of its bodies make it: with them it moves on without a
 * jump, and they say its sign. y are absolute coordinates. */
static void joint_quaternion(const lw_model *model, int i, const double *y, double out[4]) {
    const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
    double of[2][4];
    for (int side = 0; side < 2; side++) {
        int body = entry->info.bodies[side];
        double frame[4];
        lw_quat_rot(entry->frames[side].R, frame);
        if (body)
            lw_quat_mul(y + 13 * (body - 1) + 3, frame, of[side]);
        else
            memcpy(of[side], frame, sizeof frame);
    }
    for (int k = 1; k < 4; k++) of[0][k] = -of[0][k];
    lw_quat_mul(of[0], of[1], out);
}

int lw_absolute_size(const lw_newton_euler *s) { return 13 * s->model->body_count + s->angle_count; }

void lw_absolute_from_joints(const lw_newton_euler *s, double *y) {
    const lw_model *model = s->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_body_state *body = &s->rows->bodies[i];
        const lw_link *link = &model->links[i];
        int at = lw_joint_quaternion(link->joint.type);
        double *own = y + 13 * (i - 1);
        lw_v3_copy(body->r, own);
        lw_quat_rot(s->data->world[i].R, own + 3);
        lw_v3_copy(body->rdot, own + 7);
        lw_v3_copy(body->w, own + 10);
        if (at < 0) continue;
        double joint[4], dot = 0;
        joint_quaternion(model, i, y, joint);
        for (int k = 0; k < 4; k++) dot += joint[k] * s->data->q[link->q + at + k];
        for (int k = 3; k < 7 && dot < 0; k++) own[k] = -own[k];
    }
    lw_absolute_take_angles(s, y);
}

void lw_absolute_take_angles(const lw_newton_euler *s, double *y) {
    for (int k = 0; k < s->angle_count; k++) y[13 * s->model->body_count + k] = s->data->q[s->angles[k].q];
}

void lw_newton_euler_rows_at_absolute(lw_newton_euler *s, double t, const double *y) {
    const lw_model *model = s->model;
    lw_data *data = s->data;
    for (int k = 0; k < s->angle_count; k++) data->q[s->angles[k].q] = y[13 * model->body_count + k];
    for (int i = 1; i <= model->body_count; i++) {
        int at = lw_joint_quaternion(model->links[i].joint.type);
        if (at >= 0) joint_quaternion(model, i, y, data->q + model->links[i].q + at);
    }
    for (int i = 1; i <= model->body_count; i++) {
        const double *r = y + 13 * (i - 1), *quaternion = r + 3, *rdot = r + 7, *w = r + 10;
        lw_pose *world = &data->world[i];
        lw_body_motion *motion = &data->motion[i];
        double arm[3], velocity[3];
        lw_rot_quat(quaternion, world->R);
        lw_m3_mul_v(world->R, model->bodies[i].com, arm);
        lw_v3_sub(r, arm, world->p);
        lw_v3_copy(rdot, velocity);
        lw_v3_add_cross(arm, w, velocity); /* of the internal origin */
        lw_m3_tmul_v(world->R, w, motion->V);
        lw_m3_tmul_v(world->R, velocity, motion->V + 3);
    }
    if (model->motion_count) lw_take_prescribed(model, data, t);
    lw_rows_evaluate(model, data, true, s->rows);
    turn_inertias(s);
}

void lw_newton_euler_stabilise(lw_newton_euler *s, double alpha, double beta) {
    const lw_rows *rows = s->rows;
    lw_rows_velocities(s->model, rows, s->a); /* a and lambda are free until the system is solved */
    lw_rows_transposed(rows, s->a, s->lambda);
    for (int r = 0; r < rows->count; r++)
        rows->gamma[r] -= 2 * alpha * (s->lambda[r] - rows->rate[r]) + beta * beta * rows->phi[r];
}

void lw_newton_euler_reactions(const lw_newton_euler *s, double *reactions) {
    const lw_rows *rows = s->rows;
    for (int j = 0; j < s->model->joint_count; j++)
        for (int k = 0; k < 3; k++) {
            reactions[6 * j + k] = s->joint_load[6 * j + 3 + k];
            reactions[6 * j + 3 + k] = s->joint_load[6 * j + k];
        }
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        if (row->joint < 0) continue;
        const double *w = rows->joints[row->joint].W + 6 * row->component;
        lw_v3_axpy(s->lambda[r], w + 3, reactions + 6 * row->joint);
        lw_v3_axpy(s->lambda[r], w, reactions + 6 * row->joint + 3);
    }
}

lw_power lw_newton_euler_power(const lw_newton_euler *s) {
    lw_power power = s->data->power;
    for (int r = 0; r < s->rows->count; r++)
        if (s->rows->rows[r].kind == LW_ROW_PRESCRIBED) power.drives += s->lambda[r] * s->rows->rate[r];
    return power;
}

void lw_newton_euler_violation(const lw_newton_euler *s, double *position, double *velocity) {
    const lw_rows *rows = s->rows;
    *position = *velocity = 0;
    lw_rows_velocities(s->model, rows, s->a);
    lw_rows_transposed(rows, s->a, s->lambda);
    for (int r = 0; r < rows->count; r++) {
        *position = fmax(*position, fabs(rows->phi[r]));
        *velocity = fmax(*velocity, fabs(s->lambda[r] - rows->rate[r]));
    }
}
