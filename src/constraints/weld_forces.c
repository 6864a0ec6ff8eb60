/* weld_forces.c - what merged welds transmit: Newton's and Euler's laws for the bodies beyond each weld.
 *
 *   f_i = I_i A_i + V_i x* I_i V_i - (weight) - (elements) - (joints that are not merged) - (constraints)
 *   F_i = f_i + sum over the merged welds j of which i is the parent of X_j' F_j                          (6)
 *
 * f_i is what the merged welds have to supply to body i; the sums are taken from the leaves of each group to
 * its carrier. Wrenches are (torque; force) in internal axes about the internal origin of the body, which is
 * the point of its tree joint.
 *
 * A component is unique where no multipliers without effect on the motion contribute to it; redundancy.c
 * finds these on the whole model, in which the welds are joints of the tree.
 *
 * Source   docs/theory/welds.md.
 * Cost     O(bodies + joints + constraints + elements) for the forces; flags as redundancy.c.
 */
#include "constraints/weld_forces.h"
#include "model/quantity/quantity.h"

#include <string.h>

struct lw_weld_forces {
    lw_arena *arena;
    const lw_model *model;
    lw_data *data;
    lw_rows *rows;             /* of closures and constraints */
    double *A;                 /* 6 per body, 0 .. n: spatial acceleration */
    double *f;                 /* 6 per body, 0 .. n */
    bool *unique;              /* 6 per joint of the whole model */
    lw_uniqueness *uniqueness; /* NULL: flags were not announced */
};

lw_weld_forces *lw_weld_forces_create(const lw_model *model, bool flags) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_weld_forces *w = LW_NEW(arena, lw_weld_forces, 1);
    if (!w) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    const size_t bodies = (size_t)model->body_count + 1;
    w->arena = arena;
    w->model = model;
    w->A = LW_NEW(arena, double, 6 * bodies);
    w->f = LW_NEW(arena, double, 6 * bodies);
    w->unique = LW_NEW(arena, bool, 6 * (size_t)model->joint_count + 1);
    w->rows = lw_rows_create_loops(model, arena);
    if (flags) w->uniqueness = lw_uniqueness_create(model, NULL);
    if (lw_arena_failed(arena) || !w->rows || (flags && !w->uniqueness) ||
        lw_data_create(model, NULL, &w->data) != LW_OK) {
        lw_weld_forces_destroy(w);
        return NULL;
    }
    return w;
}

void lw_weld_forces_destroy(lw_weld_forces *w) {
    if (!w) return;
    lw_data_destroy(w->data);
    lw_uniqueness_destroy(w->uniqueness);
    lw_arena_destroy(w->arena);
}

/* Inertia, weight and elements of body i. */
static void own_terms(lw_weld_forces *w, int i) {
    const lw_model *model = w->model;
    const lw_rigid_inertia I = lw_true_inertia(model, i);
    const double *V = w->data->motion[i].V;
    double momentum[6], turning[6], g[3], heavy[3], *f = w->f + 6 * i;
    lw_rigid_mul(&I, w->A + 6 * i, f);
    lw_rigid_mul(&I, V, momentum);
    lw_wrench_cross(V, momentum, turning);
    lw_m3_tmul_v(w->data->world[i].R, model->gravity, g);
    lw_v3_cross(I.moment, g, heavy);
    for (int k = 0; k < 3; k++) {
        f[k] += turning[k] - heavy[k];
        f[3 + k] += turning[3 + k] - I.mass * g[k];
    }
    if (model->forces_need_world) lw_v6_axpy(-1, w->data->load + 6 * i, f);
}

/* Adds factor times a wrench to body i, given as (force; torque) in world axes at the point x of the
 * world. */
static void act(lw_weld_forces *w, int i, double factor, const double wrench[6], const double x[3]) {
    const lw_pose *world = &w->data->world[i];
    double force[3], torque[3], arm[3], at[3];
    lw_v3_sub(x, world->p, arm);
    lw_m3_tmul_v(world->R, arm, at);
    lw_m3_tmul_v(world->R, wrench, force);
    lw_m3_tmul_v(world->R, wrench + 3, torque);
    lw_v3_add_cross(at, force, torque);
    lw_v3_axpy(factor, torque, w->f + 6 * i);
    lw_v3_axpy(factor, force, w->f + 6 * i + 3);
}

/* Takes what a joint that is not merged transmits from its bodies. The elements in a joint that closes a loop
 * are among the loads of the bodies. */
static void take_reaction(lw_weld_forces *w, int joint, const double *load, const double *reaction) {
    const lw_joint_entry *entry = &w->model->joints[joint];
    const lw_pose *second = &w->data->world[entry->info.bodies[1]];
    double rest[6], x[3];
    for (int k = 0; k < 3; k++) {
        rest[k] = reaction[k] - (load ? load[3 + k] : 0);
        rest[3 + k] = reaction[3 + k] - (load ? load[k] : 0);
    }
    lw_pose_point(second->R, second->p, entry->frames[1].p, x);
    act(w, entry->info.bodies[1], -1, rest, x);
    act(w, entry->info.bodies[0], 1, rest, x);
}

static void take_constraint(lw_weld_forces *w, const lw_row *row, double multiplier) {
    for (int k = row->block; k < row->block + row->count; k++) {
        const double *h = w->rows->H + 6 * k; /* (torque about the centre of mass; force), world axes */
        const double wrench[6] = {h[3], h[4], h[5], h[0], h[1], h[2]};
        act(w, w->rows->body[k], -multiplier, wrench, w->rows->bodies[w->rows->body[k]].r);
    }
}

/* Poses, motion and elements of the whole model. */
static void move(lw_weld_forces *w, const lw_weld_state *s) {
    const lw_model *model = w->model;
    lw_data_set_values(model, w->data, s->inputs, s->states);
    lw_data_hold(w->data, s->hold);
    lw_take_state(model, w->data, s->t, s->q, s->v);
    lw_velocities(model, w->data);
    lw_world_poses(model, w->data);
    lw_body_accelerations(model, w->data, s->vdot, w->A);
    lw_forces(model, w->data, s->t, false);
    if (model->constraint_count) lw_rows_evaluate(model, w->data, false, w->rows);
}

void lw_weld_forces_at(lw_weld_forces *w, const lw_weld_state *s, double *reactions) {
    const lw_model *model = w->model;
    const int *merged = model->merged_joint;
    move(w, s);
    for (int i = 1; i <= model->body_count; i++) own_terms(w, i);
    for (int j = 0; j < model->joint_count; j++) {
        if (merged[j] < 0) continue;
        memcpy(reactions + 6 * j, s->reactions + 6 * merged[j], 6 * sizeof *reactions);
        if (!model->joints[j].info.cut) take_reaction(w, j, NULL, reactions + 6 * j);
    }
    for (int k = 0; k < model->closure_count; k++)
        take_reaction(w, model->closures[k], w->data->cut_load + 6 * k, reactions + 6 * model->closures[k]);
    for (int r = 0, next = 0; r < w->rows->count && model->constraint_count; r++)
        if (w->rows->rows[r].kind == LW_ROW_CONSTRAINT)
            take_constraint(w, &w->rows->rows[r], s->multipliers[next++]);
    for (int i = model->body_count; i >= 1; i--) {
        const int j = model->bodies[i].joint_index;
        if (merged[j] >= 0) continue;
        const lw_body_motion *motion = &w->data->motion[i];
        const double *f = w->f + 6 * i, sign = model->joints[j].info.reversed ? -1 : 1;
        double handed[6], *out = reactions + 6 * j;
        lw_m3_mul_v(w->data->world[i].R, f + 3, out);
        lw_m3_mul_v(w->data->world[i].R, f, out + 3);
        for (int k = 0; k < 6; k++) out[k] *= sign;
        lw_wrench_to_parent(motion->R, motion->p, f, handed);
        lw_v6_axpy(1, handed, w->f + 6 * model->links[i].parent);
    }
}

lw_status lw_weld_flags(lw_weld_forces *w, double t, const double *q, const bool *given, bool *unique,
                        lw_error *error) {
    const lw_model *model = w->model;
    lw_status status = lw_unique_reactions_at(w->uniqueness, model, t, q, w->unique, error);
    for (int j = 0; j < model->joint_count && status == LW_OK; j++) {
        const int from = model->merged_joint[j];
        memcpy(unique + 6 * j, from < 0 ? w->unique + 6 * j : given + 6 * from, 6 * sizeof *unique);
    }
    return status;
}
