/* compiled_model.c - the public functions that return properties of a compiled model.
 */
#include "model/compiled_model.h"

#include <math.h>
#include <string.h>

void lw_model_destroy(lw_model *model) {
    if (model) lw_arena_destroy(model->arena);
}

/* --- indices -------------------------------------------------------------------------------------- */

static bool is_body(const lw_model *model, int body) {
    return model && body >= 0 && body <= model->body_count;
}
static bool is_frame(const lw_model *model, int frame) {
    return model && frame >= 0 && frame < model->frame_count;
}
static bool is_joint(const lw_model *model, int joint) {
    return model && joint >= 0 && joint < model->joint_count;
}
static bool is_force(const lw_model *model, int force) {
    return model && force >= 0 && force < model->force_count;
}
static bool is_constraint(const lw_model *model, int constraint) {
    return model && constraint >= 0 && constraint < model->constraint_count;
}
static bool is_input(const lw_model *model, int input) {
    return model && input >= 0 && input < model->input_names.count;
}
static bool is_parameter(const lw_model *model, int parameter) {
    return model && parameter >= 0 && parameter < model->parameter_names.count;
}
static bool is_loop(const lw_model *model, int loop) {
    return model && loop >= 0 && loop < model->graph.loop_count;
}

/* --- questions ------------------------------------------------------------------------------------ */

const char *lw_model_name(const lw_model *model) { return model ? model->name : NULL; }
const char *lw_model_file(const lw_model *model) { return model ? model->file : NULL; }
int lw_model_q_size(const lw_model *model) { return model ? model->nq : 0; }
int lw_model_v_size(const lw_model *model) { return model ? model->nv : 0; }
const double *lw_model_gravity(const lw_model *model) { return model ? model->gravity : NULL; }
const lw_run_spec *lw_model_run(const lw_model *model) { return model ? &model->run : NULL; }

int lw_model_body_count(const lw_model *model) { return model ? model->body_count : 0; }
int lw_model_body(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->body_names, name) : -1;
}
const char *lw_model_body_name(const lw_model *model, int body) {
    return is_body(model, body) ? model->bodies[body].name : NULL;
}
int lw_model_body_parent(const lw_model *model, int body) {
    return is_body(model, body) ? model->links[body].parent : -1;
}
int lw_model_body_joint(const lw_model *model, int body) {
    return is_body(model, body) ? model->bodies[body].joint_index : -1;
}
double lw_model_body_mass(const lw_model *model, int body) {
    return is_body(model, body) ? model->links[body].inertia.mass : NAN;
}
lw_body_kind lw_model_body_kind(const lw_model *model, int body) {
    return is_body(model, body) ? model->bodies[body].kind : (lw_body_kind)-1;
}
const lw_shape *lw_model_body_shape(const lw_model *model, int body) {
    static const lw_shape none;
    if (!is_body(model, body)) return NULL;
    return model->bodies[body].shape_count > 0 ? model->bodies[body].shapes : &none;
}
int lw_model_body_shape_count(const lw_model *model, int body) {
    return is_body(model, body) ? model->bodies[body].shape_count : 0;
}
const lw_shape *lw_model_body_shape_at(const lw_model *model, int body, int shape) {
    const int count = lw_model_body_shape_count(model, body);
    return shape >= 0 && shape < count ? &model->bodies[body].shapes[shape] : NULL;
}

int lw_model_frame_count(const lw_model *model) { return model ? model->frame_count : 0; }
int lw_model_frame(const lw_model *model, const char *name) {
    return model && name && model->frame_count ? lw_names_find(&model->frame_names, name) : -1;
}
const char *lw_model_frame_name(const lw_model *model, int frame) {
    return is_frame(model, frame) ? model->frames[frame].name : NULL;
}
int lw_model_frame_body(const lw_model *model, int frame, double position[3], double rotation[4]) {
    const bool known = is_frame(model, frame);
    for (int k = 0; k < 3 && position; k++) position[k] = known ? model->frames[frame].own.p[k] : NAN;
    for (int k = 0; k < 4 && rotation; k++) rotation[k] = NAN;
    if (known && rotation) lw_quat_rot(model->frames[frame].own.R, rotation);
    return known ? model->frames[frame].body : -1;
}

int lw_model_joint_count(const lw_model *model) { return model ? model->joint_count : 0; }
int lw_model_joint(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->joint_names, name) : -1;
}
lw_joint_info lw_model_joint_info(const lw_model *model, int joint) {
    return is_joint(model, joint) ? model->joints[joint].info : (lw_joint_info){.name = NULL};
}

int lw_model_merged_count(const lw_model *model) { return model ? model->merged_count : 0; }
bool lw_model_joint_merged(const lw_model *model, int joint) {
    return is_joint(model, joint) && model->merged && model->merged_joint[joint] < 0;
}

int lw_model_force_count(const lw_model *model) { return model ? model->force_count : 0; }
const char *lw_model_force_name(const lw_model *model, int force) {
    return is_force(model, force) ? model->forces[force].name : NULL;
}
int lw_model_constraint_count(const lw_model *model) { return model ? model->constraint_count : 0; }
const char *lw_model_constraint_name(const lw_model *model, int constraint) {
    return is_constraint(model, constraint) ? model->constraints[constraint].name : NULL;
}
bool lw_model_is_compliant(const lw_model *model) { return model && model->compliance; }

lw_constraint_type lw_model_constraint_type(const lw_model *model, int constraint) {
    return is_constraint(model, constraint) ? model->constraints[constraint].type : (lw_constraint_type)-1;
}

int lw_model_input_count(const lw_model *model) { return model ? model->input_names.count : 0; }
int lw_model_input(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->input_names, name) : -1;
}
const char *lw_model_input_name(const lw_model *model, int input) {
    return is_input(model, input) ? model->input_names.names[input] : NULL;
}
double lw_model_input_default(const lw_model *model, int input) {
    return is_input(model, input) ? model->input_defaults[input] : NAN;
}
int lw_model_event_count(const lw_model *model) { return model ? model->event_count : 0; }
const char *lw_model_event_name(const lw_model *model, int event) {
    return model && event >= 0 && event < model->event_count ? model->events[event].name : NULL;
}
int lw_model_parameter_count(const lw_model *model) { return model ? model->parameter_names.count : 0; }
int lw_model_parameter(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->parameter_names, name) : -1;
}
const char *lw_model_parameter_name(const lw_model *model, int parameter) {
    return is_parameter(model, parameter) ? model->parameter_names.names[parameter] : NULL;
}
double lw_model_parameter_value(const lw_model *model, int parameter) {
    return is_parameter(model, parameter) ? model->parameter_values[parameter] : NAN;
}
int lw_model_state_count(const lw_model *model) { return model ? model->values.state_count : 0; }
int lw_model_state(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->values.state_names, name) : -1;
}
const char *lw_model_state_name(const lw_model *model, int state) {
    return state >= 0 && state < lw_model_state_count(model) ? model->values.state_names.names[state] : NULL;
}
double lw_model_state_start(const lw_model *model, int state) {
    return state >= 0 && state < lw_model_state_count(model) ? model->values.starts[state] : NAN;
}
int lw_model_output_count(const lw_model *model) { return model ? model->output_names.count : 0; }
int lw_model_output(const lw_model *model, const char *name) {
    return model && name ? lw_names_find(&model->output_names, name) : -1;
}
const char *lw_model_output_name(const lw_model *model, int output) {
    return output >= 0 && output < lw_model_output_count(model) ? model->output_names.names[output] : NULL;
}
const char *lw_model_output_unit(const lw_model *model, int output, double *scale) {
    if (scale) *scale = NAN;
    if (output < 0 || output >= lw_model_output_count(model)) return NULL;
    if (scale) *scale = model->outputs[output].denominator / model->outputs[output].numerator;
    return model->outputs[output].unit;
}

int lw_model_incidence(const lw_model *model, int body, int arc) {
    if (!is_body(model, body) || !is_body(model, arc) || body == 0 || arc == 0) return 0;
    if (body == arc) return -1;
    return model->links[arc].parent == body ? 1 : 0;
}

int lw_model_path(const lw_model *model, int arc, int body) {
    if (!is_body(model, body) || !is_body(model, arc) || arc == 0) return 0;
    while (body > arc) body = model->links[body].parent; /* parents have smaller labels */
    return body == arc ? -1 : 0;
}

int lw_model_loop_count(const lw_model *model) { return model ? model->graph.loop_count : 0; }
int lw_model_loop_cut(const lw_model *model, int loop) {
    return is_loop(model, loop) ? model->closures[loop] : -1;
}
int lw_model_loop_length(const lw_model *model, int loop) {
    return is_loop(model, loop) ? model->graph.loop_start[loop + 1] - model->graph.loop_start[loop] : 0;
}
int lw_model_loop_joint(const lw_model *model, int loop, int index, int *sense) {
    if (sense) *sense = 0;
    if (index < 0 || index >= lw_model_loop_length(model, loop)) return -1;
    int at = model->graph.loop_start[loop] + index;
    if (sense) *sense = model->graph.loop_sense[at];
    return model->graph.loop_edge[at];
}
int lw_model_loop_base(const lw_model *model, int loop) {
    return is_loop(model, loop) ? model->graph.loop_base[loop] : -1;
}

void lw_model_initial_state(const lw_model *model, double *q, double *v) {
    if (model && q) memcpy(q, model->q0, (size_t)model->nq * sizeof *q);
    if (model && v) memcpy(v, model->v0, (size_t)model->nv * sizeof *v);
}

/* Joints on ground count by their distance from origin. */
static double longest_arm(const lw_model *model, const double origin[3]) {
    double arm = 0;
    for (int i = 1; i <= model->body_count; i++) {
        double p[3];
        lw_v3_copy(model->links[i].p, p);
        if (model->links[i].parent == 0) lw_v3_sub(p, origin, p);
        arm = fmax(arm, fmax(lw_v3_norm(model->bodies[i].com), lw_v3_norm(p)));
    }
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
    return arm;
}

double lw_longest_arm(const lw_model *model) {
    const double world[3] = {0, 0, 0}, arm = longest_arm(model, world);
    return arm > 0 ? arm : 1;
}

double lw_model_extent(const lw_model *model) {
    const double far = lw_longest_arm(model), rounding = 1e-9;
    double first[3] = {0, 0, 0};
    for (int i = model->body_count; i >= 1; i--)
        if (model->links[i].parent == 0) lw_v3_copy(model->links[i].p, first);
    double arm = longest_arm(model, first);
    for (int i = 1; i <= model->body_count && !(arm > rounding * far); i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        if (I->mass > 0) arm = sqrt(fmax(I->second[0] + I->second[1] + I->second[2], 0) / (2 * I->mass));
    }
    return arm > rounding * far ? arm : far;
}
