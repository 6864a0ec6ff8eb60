/* animation_forces.c - what every force element does in a sample, as columns of an animation.
 *
 *     spring                     force(NAME).tension             N, positive in tension
 *     applied, bushing           force(NAME).fx .. fz, tx .. tz  on the first body (applied), on the second
 *                                                                (bushing), at its point, world axes
 *     torsion, drive, friction   force(NAME).torque or .force    on the joint's coordinate, in its sense
 *
 * Each element is evaluated alone by model/force.c; its load on a body is read off there.
 * Cost     O(n) per element and sample, since all loads are cleared for each; so models of more than
 *          MOST_ELEMENTS elements have no such columns.
 */
#include "export/view/animation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ELEMENTS = 200 };

static const char *const wrench_names[6] = {"fx", "fy", "fz", "tx", "ty", "tz"};

static bool is_left_out(const lw_model *model) { return model->force_count > MOST_ELEMENTS; }

/* Does an element act on a coordinate that turns? */
static bool acts_on_turn(const lw_model *model, const lw_force *force) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        if (force->closure >= 0) {
            if (model->closures[force->closure] == j) return lw_joint_type_turns(info->type, force->v);
        } else if (!info->cut && force->v >= info->v && force->v < info->v + info->v_count) {
            return lw_joint_type_turns(info->type, force->v - info->v);
        }
    }
    return true;
}

/* The components of an element: their number, and the name and unit of each. */
static int components_of(const lw_model *model, const lw_force *force, const char *names[6],
                         const char *units[6]) {
    if (force->type == LW_FORCE_SPRING) {
        names[0] = "tension", units[0] = "N";
        return 1;
    }
    if (force->type == LW_FORCE_APPLIED || force->type == LW_FORCE_BUSHING) {
        for (int k = 0; k < 6; k++) names[k] = wrench_names[k], units[k] = k < 3 ? "N" : "N m";
        return 6;
    }
    bool turns = acts_on_turn(model, force);
    names[0] = turns ? "torque" : "force", units[0] = turns ? "N m" : "N";
    return 1;
}

lw_status lw_animation_force_columns(lw_animation *a) {
    const lw_model *model = a->model;
    if (is_left_out(model)) {
        char text[160];
        snprintf(text, sizeof text, "forces of the %d elements are left out; up to %d are shown",
                 model->force_count, MOST_ELEMENTS);
        return lw_animation_note(a, text);
    }
    lw_shown_column *columns =
        LW_NEW(a->arena, lw_shown_column, a->column_count + 6 * (size_t)model->force_count + 1);
    if (!columns) return LW_ERROR_MEMORY;
    if (a->column_count) memcpy(columns, a->columns, a->column_count * sizeof *columns);
    a->columns = columns;
    for (int k = 0; k < model->force_count; k++) {
        const char *names[6], *units[6];
        int count = components_of(model, &model->forces[k], names, units);
        for (int c = 0; c < count; c++) {
            char name[512];
            snprintf(name, sizeof name, "force(%s).%s", model->forces[k].name, names[c]);
            const char *kept = lw_arena_text(a->arena, name);
            if (!kept) return LW_ERROR_MEMORY;
            columns[a->column_count++] = (lw_shown_column){kept, units[c], false};
        }
    }
    return LW_OK;
}

/* Force and torque on a body at a point given in its internal frame, in world axes, from its load. */
static void wrench_at(const lw_data *data, int body, const double at[3], double wrench[6]) {
    const double *load = data->load + 6 * body;
    double torque[3], arm[3];
    lw_v3_cross(at, load + 3, arm);
    lw_v3_sub(load, arm, torque);
    lw_m3_mul_v(data->world[body].R, load + 3, wrench);
    lw_m3_mul_v(data->world[body].R, torque, wrench + 3);
}

/* The force of an element on a coordinate of a cut joint, from the wrench that it has put there. */
static double force_at_cut(const lw_model *model, const lw_data *data, const lw_force *force) {
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    lw_cut_joint(model, data, force->closure, q, v, W, at);
    const double *w = W + 6 * force->v, size = lw_v6_dot(w, w);
    return size > 0 ? lw_v6_dot(data->cut_load + 6 * force->closure, w) / size : 0;
}

/* The tension of a spring from its pull on one of its bodies, ground included. */
static double tension_of(const lw_model *model, const lw_data *data, const lw_force *force) {
    (void)model;
    const int side = force->bodies[0] != 0 ? 0 : 1, body = force->bodies[side];
    const lw_pose *here = &data->world[body], *there = &data->world[force->bodies[1 - side]];
    double a[3], b[3], line[3], pull[3];
    lw_pose_point(here->R, here->p, force->frames[side].p, a);
    lw_pose_point(there->R, there->p, force->frames[1 - side].p, b);
    lw_v3_sub(b, a, line);
    lw_m3_mul_v(here->R, data->load + 6 * body + 3, pull);
    double length = lw_v3_norm(line);
    return length > 0 ? lw_v3_dot(pull, line) / length : 0;
}

void lw_animation_force_values(lw_animation *a, double t, const double *q, const double *v, double *values) {
    const lw_model *model = a->model;
    if (is_left_out(model) || model->force_count == 0) return;
    lw_data *data = a->data;
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        lw_forces_clear(model, data, t);
        lw_forces_add(model, data, k, k + 1, t, false);
        switch (force->type) {
        case LW_FORCE_SPRING:
            *values++ = force->bodies[0] == force->bodies[1] ? 0 : tension_of(model, data, force);
            break;
        case LW_FORCE_APPLIED:
        case LW_FORCE_BUSHING: {
            const int side = force->type == LW_FORCE_BUSHING;
            wrench_at(data, force->bodies[side], force->frames[side].p, values);
            values += 6;
            break;
        }
        default:
            *values++ = force->closure >= 0 ? force_at_cut(model, data, force) : data->tau[force->v];
        }
    }
}
