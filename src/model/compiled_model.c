/* compiled_model.c - what the compiled model tells about itself.
 */
#include "model/compiled_model.h"

#include <math.h>
#include <string.h>

void lw_model_destroy(lw_model *model) {
    if (model) lw_arena_destroy(model->arena);
}

const char *lw_model_name(const lw_model *model) { return model->name; }
const char *lw_model_file(const lw_model *model) { return model->file; }
int lw_model_q_size(const lw_model *model) { return model->nq; }
int lw_model_v_size(const lw_model *model) { return model->nv; }
const double *lw_model_gravity(const lw_model *model) { return model->gravity; }
const lw_run_spec *lw_model_run(const lw_model *model) { return &model->run; }

int lw_model_body_count(const lw_model *model) { return model->body_count; }
int lw_model_body(const lw_model *model, const char *name) { return lw_names_find(&model->body_names, name); }
const char *lw_model_body_name(const lw_model *model, int body) { return model->bodies[body].name; }
int lw_model_body_parent(const lw_model *model, int body) { return model->links[body].parent; }
int lw_model_body_joint(const lw_model *model, int body) { return model->bodies[body].joint_index; }
double lw_model_body_mass(const lw_model *model, int body) { return model->links[body].inertia.mass; }
lw_body_kind lw_model_body_kind(const lw_model *model, int body) { return model->bodies[body].kind; }
const lw_shape *lw_model_body_shape(const lw_model *model, int body) { return &model->bodies[body].shape; }

int lw_model_joint_count(const lw_model *model) { return model->joint_count; }
int lw_model_joint(const lw_model *model, const char *name) {
    return lw_names_find(&model->joint_names, name);
}
lw_joint_info lw_model_joint_info(const lw_model *model, int joint) { return model->joints[joint].info; }

int lw_model_force_count(const lw_model *model) { return model->force_count; }
const char *lw_model_force_name(const lw_model *model, int force) { return model->forces[force].name; }
int lw_model_constraint_count(const lw_model *model) { return model->constraint_count; }
const char *lw_model_constraint_name(const lw_model *model, int k) { return model->constraints[k].name; }
lw_constraint_type lw_model_constraint_type(const lw_model *model, int k) {
    return model->constraints[k].type;
}

int lw_model_input_count(const lw_model *model) { return model->input_names.count; }
int lw_model_input(const lw_model *model, const char *name) {
    return lw_names_find(&model->input_names, name);
}
const char *lw_model_input_name(const lw_model *model, int input) { return model->input_names.names[input]; }
double lw_model_input_default(const lw_model *model, int input) { return model->input_defaults[input]; }
int lw_model_output_count(const lw_model *model) {
    (void)model;
    return 0;
}
int lw_model_output(const lw_model *model, const char *name) {
    (void)model, (void)name;
    return -1;
}

int lw_model_incidence(const lw_model *model, int body, int arc) {
    if (body == arc) return -1;
    return model->links[arc].parent == body ? 1 : 0;
}

int lw_model_path(const lw_model *model, int arc, int body) {
    while (body > arc) body = model->links[body].parent; /* parents have smaller labels */
    return body == arc ? -1 : 0;
}

int lw_model_loop_count(const lw_model *model) { return model->graph.loop_count; }
int lw_model_loop_cut(const lw_model *model, int loop) { return model->closures[loop]; }
int lw_model_loop_length(const lw_model *model, int loop) {
    return model->graph.loop_start[loop + 1] - model->graph.loop_start[loop];
}
int lw_model_loop_joint(const lw_model *model, int loop, int index, int *sense) {
    int at = model->graph.loop_start[loop] + index;
    if (sense) *sense = model->graph.loop_sense[at];
    return model->graph.loop_edge[at];
}
int lw_model_loop_base(const lw_model *model, int loop) { return model->graph.loop_base[loop]; }

void lw_model_initial_state(const lw_model *model, double *q, double *v) {
    memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    memcpy(v, model->v0, (size_t)model->nv * sizeof *v);
}

double lw_longest_arm(const lw_model *model) {
    double arm = 0;
    for (int i = 1; i <= model->body_count; i++)
        arm = fmax(arm, fmax(lw_v3_norm(model->bodies[i].com), lw_v3_norm(model->links[i].p)));
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < model->joint_count; j++)
            if (model->joints[j].info.bodies[side] > 0)
                arm = fmax(arm, lw_v3_norm(model->joints[j].frames[side].p));
        for (int k = 0; k < model->constraint_count; k++)
            if (model->constraints[k].bodies[side] > 0)
                arm = fmax(arm, lw_v3_norm(model->constraints[k].points[side]));
    }
    for (int k = 0; k < model->constraint_count; k++)
        arm = fmax(arm, fmax(model->constraints[k].length, model->constraints[k].radius));
    return arm > 0 ? arm : 1;
}
