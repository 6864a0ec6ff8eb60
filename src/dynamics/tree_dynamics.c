/* tree_dynamics.c - forward and inverse dynamics and joint reactions of a tree, for one state.
 *
 * The recursions are in tree_forward.h and tree_inverse.h; this file adds force elements and prescribed
 * motions, and checks the results.
 *
 * Cost     O(n), no allocation. Elements between bodies need world poses, which cost about as much as
 *          inverse dynamics.
 */
#include "dynamics/tree_dynamics.h"
#include "model/joint.h"
#include <linkwork/tree.h>

#define LANES 1
#include "dynamics/tree_forward.h"
#include "dynamics/tree_inverse.h"

#include <stdio.h>

void lw_take_forces(const lw_model *model, lw_data *data, double t, const double *tau) {
    if (model->forces_need_world) {
        lw_velocities(model, data);
        lw_world_poses(model, data);
    }
    lw_forces(model, data, t, false);
    lw_idle_loads(model, data);
    if (tau)
        for (int k = 0; k < model->nv; k++) data->tau[k] += tau[k];
}

lw_status lw_undetermined(const lw_model *model, int body, int speed, lw_error *error) {
    const lw_joint_entry *joint = &model->joints[model->bodies[body].joint_index];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
        "give the bodies it carries mass or inertia there, lock or prescribe that motion, or take method "
        "massless, by which dampers and springs determine it",
        "nothing it carries (body \"%s\" and beyond) resists its %s (speed %d), so that acceleration is "
        "not determined",
        model->bodies[body].name,
        lw_joint_speed_turns(joint->info.type, speed - 1) ? "rotation" : "translation", speed - 1);
}

static lw_status solve_forward(const recursion *r, lw_error *error) {
    int speed, body;
    velocities(r);
    body = eliminate(r, &speed);
    if (body) return lw_undetermined(r->model, body, speed, error);
    accelerate(r);
    return LW_OK;
}

lw_status lw_tree_solve(const lw_model *model, lw_data *data, double t, const double *tau, lw_error *error) {
    const recursion r = recursion_of(model, data);
    lw_take_forces(model, data, t, tau);
    return solve_forward(&r, error);
}

/* Returns whether the model has neither force elements, prescribed motions nor idle spins, so that the
 * caller's arrays are used without a copy. */
static bool plain(const lw_model *model) {
    return model->motion_count == 0 && model->force_count == 0 && model->idle_count == 0;
}

/* --- idle spins (docs/theory/idle.md) -------------------------------------------------------------- */

/* Computes the angular accelerations nodes[].a for the state in data, after lw_velocities. */
static void turn_rates(const lw_model *model, lw_data *data, const double *vdot) {
    lw_node *nodes = data->nodes;
    lw_v3_set(nodes[0].a, 0, 0, 0);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const double *v = data->v + link->v, *S = data->S + 6 * link->v;
        double R[9], p[3], subspace[36], bias[6], relative[3] = {0}, *a = nodes[i].a;
        lw_joint_motion(&link->joint, data->q + link->q, v, R, p, subspace, bias);
        lw_m3_tmul_v(data->motion[i].R, nodes[link->parent].a, a);
        for (int k = 0; k < link->joint.nv; k++) {
            lw_v3_axpy(vdot[link->v + k], S + 6 * k, a);
            lw_v3_axpy(v[k], S + 6 * k, relative);
        }
        lw_v3_add(a, bias, a);
        lw_v3_add_cross(data->motion[i].V, relative, a);
    }
}
static double spin_rate(const lw_data *data, const lw_idle *idle) {
    return lw_v3_dot(idle->axis, data->nodes[idle->body].a);
}

void lw_idle_forget(const lw_model *model, lw_data *data) {
    turn_rates(model, data, data->vdot);
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        lw_v3_axpy(idle->moment * spin_rate(data, idle), idle->axis, data->load + 6 * idle->body);
    }
}

/* Status for a result that is not finite: LW_ERROR_ARGUMENT if q or v are not, else LW_ERROR_SINGULAR. */
static lw_status not_finite(const lw_model *model, double t, const double *q, const double *v,
                            lw_error *error) {
    if (!isfinite(t) || !lw_finite(q, model->nq) || !lw_finite(v, model->nv))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give finite coordinates and speeds",
                       "the state at t = %g has numbers that are not finite", t);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, "look at the forces and motions of the model there",
                   "an acceleration or a force at t = %g is not finite", t);
}

lw_status lw_idle_torque(const lw_model *model, lw_data *data, const double *tau, const double *vdot,
                         lw_error *error) {
    double size = 0;
    lw_velocities(model, data);
    turn_rates(model, data, vdot);
    for (int k = 0; k < model->nv; k++) size = fmax(size, fabs(tau[k]));
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        const lw_body *body = &model->bodies[idle->body];
        double torque = idle->moment * spin_rate(data, idle), axis[3];
        if (!(fabs(torque) > 1e-9 * size)) continue;
        lw_m3_tmul_v(body->frame.R, idle->axis, axis);
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
            "give it inertia there, or leave that torque out",
            "joint forces turn it about [%.4g, %.4g, %.4g] in its own axes, where it has no inertia "
            "and nothing resists",
            axis[0], axis[1], axis[2]);
    }
    return LW_OK;
}

lw_status lw_open_forward(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                          const double *tau, double *vdot, lw_error *error) {
    recursion r = recursion_of(model, data);
    if (plain(model)) {
        r.q = q, r.v = v, r.vdot = vdot;
        if (tau)
            r.tau = tau;
        else
            memset(data->tau, 0, (size_t)model->nv * sizeof *data->tau);
        return solve_forward(&r, error);
    }
    lw_take_state(model, data, t, q, v);
    lw_take_forces(model, data, t, tau);
    lw_status status = solve_forward(&r, error);
    if (status != LW_OK) return status;
    memcpy(vdot, data->vdot, (size_t)model->nv * sizeof *vdot);
    for (int k = 0; k < model->nv; k++) /* A force element may be infinite or undefined. */
        if (!isfinite(vdot[k])) return not_finite(model, t, q, v, error);
    return tau && model->idle_count ? lw_idle_torque(model, data, tau, vdot, error) : LW_OK;
}

/* Inverse dynamics: tau are the joint forces for vdot, without those of elements; data->wrenches are the
 * transmitted wrenches. */
static void invert(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                   const double *vdot, bool held, double *tau) {
    recursion r = recursion_of(model, data);
    if (plain(model)) {
        r.q = q, r.v = v;
    } else {
        lw_take_state(model, data, t, q, v);
        for (int i = 1; i <= model->body_count; i++) {
            const lw_link *link = &model->links[i];
            for (int k = 0; k < link->joint.nv; k++)
                if (!(link->prescribed >> k & 1)) data->vdot[link->v + k] = vdot[link->v + k];
        }
        lw_take_forces(model, data, t, NULL);
        vdot = data->vdot;
        if (model->idle_count && !held) lw_idle_forget(model, data);
    }
    inverse(&r, vdot, tau);
    for (int k = 0; k < model->nv && !plain(model); k++) tau[k] -= data->tau[k];
}

void lw_open_inverse(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                     const double *vdot, double *tau) {
    invert(model, data, t, q, v, vdot, false, tau);
}
void lw_inverse_held(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                     const double *vdot, double *tau) {
    invert(model, data, t, q, v, vdot, true, tau);
}

void lw_open_reactions(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                       const double *vdot, double *reactions) {
    lw_open_inverse(model, data, t, q, v, vdot, data->joint_u);
    lw_take_state(model, data, t, q, v);
    lw_positions(model, data);
    lw_world_poses(model, data);
    memset(reactions, 0, (size_t)model->joint_count * 6 * sizeof *reactions);
    for (int i = 1; i <= model->body_count; i++) {
        int index = model->bodies[i].joint_index;
        const lw_joint_entry *entry = &model->joints[index];
        const lw_pose *world = &data->world[i];
        double *force = reactions + 6 * index, *torque = force + 3;
        lw_m3_mul_v(world->R, data->wrenches + 6 * i + 3, force);
        lw_m3_mul_v(world->R, data->wrenches + 6 * i, torque);
        if (!entry->info.reversed) continue;
        /* The child is the first body, so that the wrench is reversed and moved to the point on the
         * second. */
        double at[3], arm[3];
        const lw_pose *second = &data->world[entry->info.bodies[1]];
        lw_pose_point(second->R, second->p, entry->frames[1].p, at);
        lw_v3_sub(world->p, at, arm);
        lw_v3_add_cross(arm, force, torque);
        for (int k = 0; k < 6; k++) force[k] = -force[k];
    }
    for (int k = 0; k < model->closure_count; k++) { /* elements in joints that close loops */
        double *reaction = reactions + 6 * model->closures[k];
        lw_v3_copy(data->cut_load + 6 * k + 3, reaction);
        lw_v3_copy(data->cut_load + 6 * k, reaction + 3);
    }
}

double lw_prescribed_power(const lw_model *model, const lw_data *data, const double *force) {
    double power = 0;
    for (int k = 0; k < model->motion_count; k++) {
        const lw_motion *motion = &model->motions[k];
        int first = model->links[motion->body].v + motion->speed;
        for (int v = first; v < first + motion->count; v++) power += force[v] * data->v[v];
    }
    return power;
}

/* --- the public calls ------------------------------------------------------------------------------ */

lw_status lw_only_trees(const lw_model *model, lw_error *error) {
    static const char remedy[] =
        "take a solver (lw_solver_create), whose answers include loops and constraints";
    for (int k = 0; k < model->closure_count; k++) {
        const lw_joint_entry *joint = &model->joints[model->closures[k]];
        if (joint->info.rows == 0) continue; /* A free joint closes nothing. */
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, joint->place, "joint", joint->name,
                          remedy, "it closes a loop, which calls for trees would leave open");
    }
    if (model->constraint_count) {
        const lw_constraint *constraint = &model->constraints[0];
        return lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, constraint->place, "constraint",
                          constraint->name, remedy, "calls for trees would leave its forces out");
    }
    return LW_OK;
}

lw_status lw_tree_forward_dynamics(const lw_model *model, lw_data *data, double t, const double *q,
                                   const double *v, const double *tau, double *vdot, lw_error *error) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || ((!v || !vdot) && model->nv))
        return lw_bad_arguments(model, data, error);
    lw_take_merged(&model, &data);
    lw_status status = model->closure_count || model->constraint_count ? lw_only_trees(model, error) : LW_OK;
    if (status == LW_OK) status = lw_open_forward(model, data, t, q, v, tau, vdot, error);
    if (status != LW_OK) return status;
    return lw_finite(vdot, model->nv) ? LW_OK : not_finite(model, t, q, v, error);
}

lw_status lw_tree_inverse_dynamics(const lw_model *model, lw_data *data, double t, const double *q,
                                   const double *v, const double *vdot, double *tau, lw_error *error) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || ((!v || !vdot || !tau) && model->nv))
        return lw_bad_arguments(model, data, error);
    lw_take_merged(&model, &data);
    lw_status status = model->closure_count || model->constraint_count ? lw_only_trees(model, error) : LW_OK;
    if (status != LW_OK) return status;
    invert(model, data, t, q, v, vdot, false, tau);
    return lw_finite(tau, model->nv) ? LW_OK : not_finite(model, t, q, v, error);
}

lw_status lw_joint_reactions(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                             const double *vdot, double *reactions, lw_error *error) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || ((!v || !vdot) && model->nv) ||
        !lw_given(reactions, model->joint_count))
        return lw_bad_arguments(model, data, error);
    lw_status status = lw_only_trees(model, error);
    if (status != LW_OK) return status;
    lw_open_reactions(model, data, t, q, v, vdot, reactions);
    return lw_finite(reactions, 6 * model->joint_count) ? LW_OK : not_finite(model, t, q, v, error);
}
