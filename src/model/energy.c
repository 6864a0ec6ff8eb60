/* energy.c - kinetic and potential energy, linear and angular momentum of the tree. The moments of inertia
 * added for idle spins (idle_spins.c) are left out. Rotors have kinetic energy, but no momentum in space
 * (docs/theory/armature.md).
 *
 *   T = sum V'I V / 2 + sum J v^2 / 2
 *   U = - sum m g.c + U(elements),   p = sum m c',   L = sum (c x m c' + J w)
 *
 * Cost     O(n), no allocation.
 */
#include "model/data.h"

lw_energy lw_energy_of(const lw_model *model, lw_data *data, double t, const double *q, const double *v) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || !lw_given(v, model->nv))
        return (lw_energy){NAN, NAN};
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_forces(model, data, t, true);
    lw_energy energy = {0, data->potential - lw_v3_dot(model->gravity, model->fixed_moment)};
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double momentum[6], centre[3];
        lw_rigid_mul(&link->inertia, data->motion[i].V, momentum);
        energy.kinetic += 0.5 * lw_v6_dot(data->motion[i].V, momentum);
        lw_pose_point(data->world[i].R, data->world[i].p, model->bodies[i].com, centre);
        energy.potential -= link->inertia.mass * lw_v3_dot(model->gravity, centre);
    }
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        double spin = lw_v3_dot(idle->axis, data->motion[idle->body].V);
        energy.kinetic -= 0.5 * idle->moment * spin * spin;
    }
    energy.kinetic += lw_rotor_energy(model, data->v);
    return energy;
}

lw_status lw_momentum(const lw_model *model, lw_data *data, double t, const double *q, const double *v,
                      double linear_out[3], double angular_out[3]) {
    if (!lw_data_fits(model, data) || !lw_given(q, model->nq) || !lw_given(v, model->nv) ||
        !lw_finite(q, model->nq) || !lw_finite(v, model->nv))
        return LW_ERROR_ARGUMENT;
    double linear[3], angular[3];
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_v3_set(linear, 0, 0, 0);
    lw_v3_set(angular, 0, 0, 0);
    for (int i = 1; i <= model->body_count; i++) {
        double local[6], world[6];
        lw_rigid_mul(&model->links[i].inertia, data->motion[i].V, local);
        lw_wrench_to_parent(data->world[i].R, data->world[i].p, local,
                            world); /* Momenta transform like wrenches. */
        lw_v3_add(angular, world, angular);
        lw_v3_add(linear, world + 3, linear);
    }
    for (int k = 0; k < model->idle_count; k++) {
        const lw_idle *idle = &model->idle[k];
        double axis[3], spin = lw_v3_dot(idle->axis, data->motion[idle->body].V);
        lw_m3_mul_v(data->world[idle->body].R, idle->axis, axis);
        lw_v3_axpy(-idle->moment * spin, axis, angular);
    }
    if (linear_out) lw_v3_copy(linear, linear_out);
    if (angular_out) lw_v3_copy(angular, angular_out);
    return LW_OK;
}
