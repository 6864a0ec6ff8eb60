/* force_conditions.c - the conditions in the laws, drives and applied forces of a model.
 *
 * A condition is a comparison, sign, floor, ceil, mod, step, or the kink of abs, min, max and ramp in an
 * expression (expression/function.h). Its outcome decides which smooth branch of the expression holds. The
 * conditions of all elements stand one behind the other, those of element k from place of[k] on; within an
 * applied force they follow its six components.
 *
 * Source   docs/theory/events.md, (1).
 * Cost     look: O(elements with conditions); no allocation.
 */
#include "model/force_conditions.h"

#include <math.h>

static int count_in(const lw_force *force) {
    int count = 0;
    if (force->type == LW_FORCE_APPLIED) {
        for (int c = 0; c < 6; c++)
            if (force->components[c]) count += lw_function_conditions(force->components[c]);
        return count;
    }
    const lw_function *f = force->type == LW_FORCE_DRIVE ? force->drive : force->law;
    return f ? lw_function_conditions(f) : 0;
}

int lw_force_conditions(const lw_model *model, int *of) {
    int total = 0;
    for (int k = 0; k < model->force_count; k++) {
        const int own = count_in(&model->forces[k]);
        if (of) of[k] = own ? total : -1;
        total += own;
    }
    return total;
}

/* The elongation of a spring and its rate. */
static void line_of(const lw_data *data, const lw_force *force, double *x, double *rate) {
    double ends[2][3], speeds[2][3], line[3], against[3];
    for (int e = 0; e < 2; e++) {
        const lw_pose *world = &data->world[force->bodies[e]];
        const double *V = data->motion[force->bodies[e]].V;
        double local[3];
        lw_v3_copy(V + 3, local);
        lw_v3_add_cross(V, force->frames[e].p, local);
        lw_pose_point(world->R, world->p, force->frames[e].p, ends[e]);
        lw_m3_mul_v(world->R, local, speeds[e]);
    }
    lw_v3_sub(ends[1], ends[0], line);
    lw_v3_sub(speeds[1], speeds[0], against);
    const double length = lw_v3_norm(line);
    *x = length - force->free_length;
    *rate = length > 0 ? lw_v3_dot(line, against) / length : 0;
}

/* The variables of its law or drive. */
static void variables_of(const lw_model *model, const lw_data *data, const lw_force *force, double t,
                         double out[3]) {
    double x = 0, v = 0;
    if (force->type == LW_FORCE_SPRING)
        line_of(data, force, &x, &v);
    else if (force->closure < 0) {
        x = force->q >= 0 ? data->q[force->q] : 0;
        v = force->v >= 0 ? data->v[force->v] : 0;
    } else {
        double q[LW_JOINT_MAX_Q], speeds[LW_JOINT_MAX_V], W[36], at[3];
        lw_cut_joint(model, data, force->closure, q, speeds, W, at);
        x = force->q >= 0 ? q[force->q] : 0;
        v = speeds[force->v];
    }
    if (force->type == LW_FORCE_DRIVE) {
        out[0] = t, out[1] = x, out[2] = v;
        return;
    }
    out[0] = force->type == LW_FORCE_TORSION ? x - force->free_length : x, out[1] = v, out[2] = t;
}

bool lw_force_conditions_need_poses(const lw_model *model, const int *of) {
    for (int k = 0; k < model->force_count; k++)
        if (of[k] >= 0 && (model->forces[k].type == LW_FORCE_SPRING || model->forces[k].closure >= 0))
            return true;
    return false;
}

void lw_force_look(const lw_model *model, const lw_data *data, int k, double t, const lw_look *at) {
    const lw_force *force = &model->forces[k];
    if (force->type != LW_FORCE_APPLIED) {
        double x[3];
        variables_of(model, data, force, t, x);
        (void)lw_function_look(force->type == LW_FORCE_DRIVE ? force->drive : force->law, x, data->inputs, 0,
                               at);
        return;
    }
    lw_look part = *at;
    for (int c = 0; c < 6; c++) {
        const lw_function *f = force->components[c];
        if (!f) continue;
        (void)lw_function_look(f, &t, data->inputs, 0, &part);
        const int own = lw_function_conditions(f);
        if (part.held) part.held += own;
        if (part.outcomes) part.outcomes += own;
        if (part.distances) part.distances += own;
    }
}
