/* export_c.c - lw_export_c: which functions are generated, and from what.
 *
 * Source   docs/theory/generated-c.md. The equations become a graph (code_build.h); forward dynamics are made
 *          twice, by articulated bodies and by the mass matrix, and the one of fewer operations is taken.
 * Cost     milliseconds for tens of bodies.
 * Limits   trees; what else is refused says code_refuse with its reason.
 */
#include "export/code/code_files.h"
#include "dynamics/tree_dynamics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static code_node *nodes_of(code_plan *plan, int count) {
    code_node *items = calloc((size_t)count + 1, sizeof *items);
    if (!items) plan->graph.failed = true;
    return items;
}

static int operations(const code_routine *r) {
    return r->additions + r->multiplications + 4 * r->divisions + 10 * r->functions;
}

static void add_forward(code_plan *plan, code_build *b) {
    const int n = plan->dynamics->nv;
    code_graph *g = &plan->graph;
    code_node *tau = nodes_of(plan, n);
    for (int k = 0; k < n && !g->failed; k++) tau[k] = code_input(g, CODE_FORCE, k);
    code_routine choices[2] = {{0}};
    for (int c = 0; c < 2 && !g->failed; c++) {
        code_routine *r = &choices[c];
        *r = (code_routine){.name = "forward",
                            .parameters = plan->options.single
                                              ? "const float *restrict tau, float *restrict vdot, "
                                              : "const double *restrict tau, double *restrict vdot, ",
                            .arguments = "tau, vdot, "};
        code_node *vdot = nodes_of(plan, n);
        r->pivots = nodes_of(plan, n);
        r->floors = calloc((size_t)n + 1, sizeof *r->floors);
        r->pivot_count = n;
        if (!r->floors) g->failed = true;
        if (!g->failed) (c ? code_forward_composite : code_forward_articulated)(b, tau, vdot, r->pivots);
        for (int k = 0; k < n && !g->failed; k++) {
            r->floors[k] = plan->dynamics->pivot_floor[k];
            code_routine_add(r, g, vdot[k], "vdot[%d]", k);
        }
        free(vdot);
        (void)code_routine_count(g, r);
    }
    plan->composite = operations(&choices[1]) < operations(&choices[0]);
    plan->routines[CODE_FORWARD] = choices[plan->composite];
    code_routine_destroy(&choices[!plan->composite]);
    free(tau);
}

static void add_inverse(code_plan *plan, code_build *b) {
    const int n = plan->dynamics->nv;
    code_graph *g = &plan->graph;
    code_routine *r = &plan->routines[CODE_INVERSE];
    code_node *vdot = nodes_of(plan, n), *tau = nodes_of(plan, n);
    *r = (code_routine){.name = "inverse",
                        .parameters = plan->options.single
                                          ? "const float *restrict vdot, float *restrict tau, "
                                          : "const double *restrict vdot, double *restrict tau, ",
                        .arguments = "vdot, tau, "};
    for (int k = 0; k < n && !g->failed; k++)
        vdot[k] = b->vdot[k] >= 0 ? b->vdot[k] : code_input(g, CODE_RATE, k);
    if (!g->failed) code_inverse(b, vdot, true, false, tau);
    for (int k = 0; k < n && !g->failed; k++) code_routine_add(r, g, tau[k], "tau[%d]", k);
    if (plan->wanted[CODE_GRADIENTS] && !g->failed) code_add_gradients(plan, b, tau);
    free(vdot);
    free(tau);
}

static void add_mass_matrix(code_plan *plan, code_build *b) {
    const int n = plan->dynamics->nv;
    code_routine *r = &plan->routines[CODE_MASS_MATRIX];
    code_node *mass = nodes_of(plan, n * n);
    *r = (code_routine){.name = "mass_matrix",
                        .parameters =
                            plan->options.single ? "float *restrict mass, " : "double *restrict mass, ",
                        .arguments = "mass, "};
    if (!plan->graph.failed) code_mass_matrix(b, false, mass);
    for (int k = 0; k < n * n && !plan->graph.failed; k++)
        code_routine_add(r, &plan->graph, mass[k], "mass[%d]", k);
    free(mass);
}

/* Places of all bodies of the user: of the whole model, whose welds are constants. */
static void add_kinematics(code_plan *plan, char *parameters, size_t size) {
    code_graph *g = &plan->graph;
    code_routine *r = &plan->routines[CODE_KINEMATICS];
    code_build b;
    (void)snprintf(parameters, size, "%s_body *restrict bodies, ", plan->name);
    *r = (code_routine){.name = "kinematics", .parameters = parameters, .arguments = "bodies, "};
    code_build_create(&b, g, plan->model);
    for (int k = 0; k <= plan->model->body_count && !g->failed; k++) {
        const lw_pose *frame = &plan->model->bodies[k].frame;
        const code_body *own = &b.bodies[k];
        code_node at[3], axes[9], R[9], x[3], xdot[3], w[3];
        code_numbers3(g, frame->p, 0.1, at);
        for (int i = 0; i < 9; i++) axes[i] = code_number(g, k ? frame->R[i] : i % 4 == 0, 1);
        code33_mul(g, own->R, axes, R);
        code_point(&b, k, at, x, xdot);
        code3_turn(g, own->R, own->w, w);
        for (int i = 0; i < 3; i++) code_routine_add(r, g, x[i], "bodies[%d].position[%d]", k, i);
        for (int i = 0; i < 9; i++) code_routine_add(r, g, R[i], "bodies[%d].rotation[%d]", k, i);
        for (int i = 0; i < 3; i++) code_routine_add(r, g, xdot[i], "bodies[%d].velocity[%d]", k, i);
        for (int i = 0; i < 3; i++) code_routine_add(r, g, w[i], "bodies[%d].angular[%d]", k, i);
    }
    code_build_destroy(&b);
}

static void add_rates(code_plan *plan, code_build *b, char *parameters, size_t size) {
    const lw_model *model = plan->dynamics;
    code_graph *g = &plan->graph;
    code_routine *r = &plan->routines[CODE_RATES];
    code_node *qdot = nodes_of(plan, model->nq);
    (void)snprintf(parameters, size, "%s_state *restrict rates, ", plan->name);
    *r = (code_routine){.name = "rates", .parameters = parameters, .arguments = "rates, "};
    for (int i = 1; i <= model->body_count && !g->failed; i++) {
        const lw_link *link = &model->links[i];
        code_joint_rate(g, &link->joint, b->q + link->q, b->v + link->v, qdot + link->q);
    }
    for (int k = 0; k < model->nq && !g->failed; k++) code_routine_add(r, g, qdot[k], "rates->q[%d]", k);
    for (int k = 0; k < model->values.state_count && !g->failed; k++)
        code_routine_add(r, g, code_state_rate(b, k), "rates->states[%d]", k);
    free(qdot);
}

static lw_status choose_name(code_plan *plan, lw_error *error) {
    const char *given = plan->options.name ? plan->options.name : plan->model->name;
    code_identifier(given ? given : "", plan->name, sizeof plan->name - 8);
    if (!isalpha((unsigned char)plan->name[0]))
        return lw_fail(error, LW_ERROR_ARGUMENT, given, "give a name by --name, as robot_arm",
                       "no name for C follows from this one: it must begin with a letter");
    for (size_t k = 0; k < sizeof plan->name; k++)
        plan->upper[k] = (char)toupper((unsigned char)plan->name[k]);
    return LW_OK;
}

static lw_status make(code_plan *plan, char room[2][96], lw_error *error) {
    code_build b;
    code_graph *g = &plan->graph;
    code_build_create(&b, g, plan->dynamics);
    if (!g->failed && !b.refusal) {
        if (plan->wanted[CODE_FORWARD]) add_forward(plan, &b);
        if (plan->wanted[CODE_INVERSE]) add_inverse(plan, &b);
        if (plan->wanted[CODE_MASS_MATRIX]) add_mass_matrix(plan, &b);
        if (plan->wanted[CODE_KINEMATICS]) add_kinematics(plan, room[0], sizeof room[0]);
        if (plan->wanted[CODE_RATES]) add_rates(plan, &b, room[1], sizeof room[1]);
    }
    lw_status status = LW_OK;
    if (b.refusal)
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, b.refused, "leave it out, or use the library",
                         "C cannot be generated: %s", b.refusal);
    code_build_destroy(&b);
    for (int k = 0; k < CODE_ROUTINES && !g->failed; k++)
        if (plan->wanted[k]) (void)code_routine_count(g, &plan->routines[k]);
    return g->failed ? lw_out_of_memory(error) : status;
}

lw_status lw_export_c(const lw_model *model, const lw_code_options *options, const char *folder,
                      lw_code_summary *summary, lw_error *error) {
    if (!model || !folder) return lw_call_needs("a model and a folder", error);
    code_plan plan = {.model = model, .dynamics = lw_merged(model)};
    char room[2][96];
    if (options) plan.options = *options;
    lw_code_options *o = &plan.options;
    if (!o->forward && !o->inverse && !o->mass_matrix && !o->kinematics && !o->step && !o->derivatives &&
        o->batch == 0)
        o->forward = o->inverse = true;
    o->forward |= o->step || o->derivatives || o->batch > 0;
    o->inverse |= o->derivatives;
    o->mass_matrix |= o->derivatives;
    plan.step = o->step && model->nq > 0;
    plan.wanted[CODE_FORWARD] = o->forward;
    plan.wanted[CODE_INVERSE] = o->inverse;
    plan.wanted[CODE_MASS_MATRIX] = o->mass_matrix;
    plan.wanted[CODE_KINEMATICS] = o->kinematics;
    plan.wanted[CODE_GRADIENTS] = o->derivatives && model->nv > 0;
    plan.wanted[CODE_RATES] = model->nq > 0 && o->forward;
    if (o->batch && ((o->batch != 2 && o->batch != 4 && o->batch != 8) || o->single))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a batch of 2, 4 or 8 states in double",
                       "a batch of %d%s is not generated", o->batch, o->single ? " in float" : "");
    lw_status status = choose_name(&plan, error);
    if (status == LW_OK) status = lw_only_trees(model, error);
    if (status == LW_OK && o->derivatives && plan.dynamics->idle_count > 0)
        status =
            lw_fail(error, LW_ERROR_UNSUPPORTED, plan.dynamics->bodies[plan.dynamics->idle[0].body].name,
                    "give the body inertia about every axis",
                    "derivatives cannot be generated: the body turns about an axis where it has no inertia");
    if (status != LW_OK) return status;
    code_graph_create(&plan.graph);
    status = make(&plan, room, error);
    if (status == LW_OK) {
        (void)mkdir(folder, 0777); /* It may exist; otherwise the first file says why it cannot be written. */
        status = code_write_test(&plan, folder, error);
    }
    if (status == LW_OK) status = code_write_source(&plan, folder, error);
    if (status == LW_OK) status = code_write_header(&plan, folder, error); /* knows the workspace now */
    if (status == LW_OK && summary) {
        *summary = (lw_code_summary){{0}, ""};
        for (int k = 0; k < CODE_ROUTINES; k++) {
            const code_routine *r = &plan.routines[k];
            summary->operations[k] =
                plan.wanted[k] ? r->additions + r->multiplications + r->divisions + r->functions : -1;
        }
        memcpy(summary->name, plan.name, sizeof summary->name);
    }
    for (int k = 0; k < CODE_ROUTINES; k++) code_routine_destroy(&plan.routines[k]);
    code_graph_destroy(&plan.graph);
    return status;
}
