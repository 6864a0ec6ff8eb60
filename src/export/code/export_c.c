/* export_c.c - lw_export_c: which functions are generated, and from what.
 *
 * Source   docs/theory/generated-c.md. The equations become a graph (code_build.h); forward dynamics are made
 *          twice, by articulated bodies and by the mass matrix, and the one of fewer operations is taken.
 * Cost     milliseconds for tens of bodies.
 *          Of mechanisms with loops the rows that are independent are chosen before (code_row_choice.c).
 * Limits   what is refused says code_refuse with its reason.
 */
#include "export/code/code_files.h"
#include "simulation/solver/driven_joints.h"

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

/* Room for the pivots of a routine with loops, their floors zero. */
static bool pivots_of(code_plan *plan, code_routine *r, int count) {
    r->pivots = nodes_of(plan, count);
    r->floors = calloc((size_t)count + 1, sizeof *r->floors);
    r->pivot_count = count;
    if (!r->floors) plan->graph.failed = true;
    return !plan->graph.failed;
}

static double rounding_of(const code_plan *plan) { return plan->options.single ? 1e-6 : 1e-12; }

/* The body or the loop without which a routine cannot be. */
static void refuse_lost(code_plan *plan, code_build *b, code_closer *closer, const code_routine *r,
                        int speeds) {
    const lw_model *model = plan->dynamics;
    const int lost = code_lost_pivot(b, closer, r->pivots, r->floors, r->pivot_count);
    if (lost < 0) return;
    for (int i = 1; i <= model->body_count && lost < speeds; i++)
        if (lost >= model->links[i].v && lost < model->links[i].v + model->links[i].joint.nv)
            code_refuse(b, model->bodies[i].name,
                        "the joint of the tree that carries it moves no inertia when all loops are cut");
    if (speeds == 0 && lost >= plan->rows.rank) /* of inverse dynamics: (10) */
        code_refuse(b, NULL,
                    "the joints of --drive cannot make every motion that the loops allow; name more");
    else if (lost >= speeds)
        code_refuse(b, NULL, "rows of its loops depend on each other at most positions");
}

static void add_forward_loops(code_plan *plan, code_build *b, code_closer *closer) {
    const int n = plan->dynamics->nv;
    code_graph *g = &plan->graph;
    code_routine *r = &plan->routines[CODE_FORWARD];
    code_node *tau = nodes_of(plan, n), *vdot = nodes_of(plan, n);
    *r = (code_routine){.name = "forward",
                        .parameters = plan->options.single
                                          ? "const float *restrict tau, float *restrict vdot, "
                                          : "const double *restrict tau, double *restrict vdot, ",
                        .arguments = "tau, vdot, "};
    for (int k = 0; k < n && !g->failed; k++) tau[k] = code_input(g, CODE_FORCE, k);
    if (pivots_of(plan, r, n + plan->rows.rank)) {
        code_forward_loops(b, &plan->rows, rounding_of(plan), tau, vdot, r->pivots);
        memcpy(r->floors, plan->dynamics->pivot_floor, (size_t)n * sizeof *r->floors);
    }
    for (int k = 0; k < n && !g->failed; k++) code_routine_add(r, g, vdot[k], "vdot[%d]", k);
    if (!g->failed) refuse_lost(plan, b, closer, r, n);
    free(tau);
    free(vdot);
}

/* NAME_close_positions and NAME_close_velocities, which code_close.c calls. */
static void add_close(code_plan *plan, code_build *b, bool positions) {
    const lw_model *model = plan->dynamics;
    const int n = model->nv;
    code_graph *g = &plan->graph;
    code_routine *r = &plan->routines[positions ? CODE_CLOSE_Q : CODE_CLOSE_V];
    code_node *delta = nodes_of(plan, n), *move = nodes_of(plan, model->nq);
    const bool single = plan->options.single;
    const double arm = lw_longest_arm(model);
    *r = (code_routine){.name = positions ? "close_positions" : "close_velocities",
                        .internal = true,
                        .parameters = positions ? single ? "float *restrict move, float *restrict gap, "
                                                         : "double *restrict move, double *restrict gap, "
                                      : single  ? "float *restrict move, "
                                                : "double *restrict move, ",
                        .arguments = positions ? "move, gap, " : "move, "};
    if (pivots_of(plan, r, n + plan->rows.rank)) {
        code_close_loops(b, &plan->rows, rounding_of(plan), positions, delta, r->pivots);
        memcpy(r->floors, model->pivot_floor, (size_t)n * sizeof *r->floors);
    }
    for (int k = 0; k < n && !g->failed && !positions; k++) code_routine_add(r, g, delta[k], "move[%d]", k);
    for (int i = 1; i <= model->body_count && !g->failed && positions; i++) {
        const lw_link *link = &model->links[i];
        code_joint_rate(g, &link->joint, b->q + link->q, delta + link->v, move + link->q);
    }
    for (int k = 0; k < model->cut_angle_count && !g->failed && positions; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        code_node q[LW_JOINT_MAX_Q] = {0}, v[LW_JOINT_MAX_V] = {0};
        if (code_cut_joint(b, model->closures[angle->closure], q, v))
            move[angle->q] = code_sub(g, q[angle->coordinate], code_input(g, CODE_Q, angle->q));
    }
    for (int k = 0; k < model->nq && !g->failed && positions; k++)
        code_routine_add(r, g, move[k], "move[%d]", k);
    for (int k = 0; k < plan->rows.count && !g->failed && positions; k++) {
        const code_node phi = plan->rows.phi[k] >= 0 ? plan->rows.phi[k] : 0;
        const code_node scale = code_number(g, plan->rows.length[k] ? 1 / arm : 1, 0);
        code_routine_add(r, g, code_mul(g, scale, phi), "gap[%d]", k);
    }
    free(delta);
    free(move);
}

static void add_inverse_loops(code_plan *plan, code_build *b, code_closer *closer, const code_node *vdot,
                              code_node *tau) {
    const int n = plan->dynamics->nv;
    code_routine *r = &plan->routines[CODE_INVERSE];
    code_node *follow = nodes_of(plan, plan->rows.count * n);
    if (pivots_of(plan, r, plan->rows.rank + n)) {
        code_follow_columns(b, &plan->rows, follow);
        const code_drives drives = {plan->driven, follow, lw_longest_arm(plan->model)};
        code_inverse_loops(b, &plan->rows, &drives, rounding_of(plan), vdot, tau, r->pivots);
        if (!plan->graph.failed) refuse_lost(plan, b, closer, r, 0);
    }
    free(follow);
}

static void add_inverse(code_plan *plan, code_build *b, code_closer *closer) {
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
    if (!g->failed && plan->loops)
        add_inverse_loops(plan, b, closer, vdot, tau);
    else if (!g->failed)
        code_inverse(b, vdot, true, false, tau);
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
    for (int k = 0; k < model->cut_angle_count && !g->failed; k++) {
        const lw_cut_angle *angle = &model->cut_angles[k];
        code_node q[LW_JOINT_MAX_Q] = {0}, v[LW_JOINT_MAX_V] = {0};
        if (code_cut_joint(b, model->closures[angle->closure], q, v)) qdot[angle->q] = v[angle->coordinate];
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

static lw_status make(code_plan *plan, char room[2][96], code_closer *closer, lw_error *error) {
    code_build b;
    code_graph *g = &plan->graph;
    code_build_create(&b, g, plan->dynamics);
    if (!g->failed && !b.refusal && plan->loops) {
        code_rows_create(&b, &plan->rows);
        if (!g->failed && !b.refusal) code_choose_rows(&b, &plan->rows, closer);
    }
    if (!g->failed && !b.refusal) {
        if (plan->wanted[CODE_FORWARD] && plan->loops) add_forward_loops(plan, &b, closer);
        if (plan->wanted[CODE_FORWARD] && !plan->loops) add_forward(plan, &b);
        if (plan->wanted[CODE_CLOSE_Q]) add_close(plan, &b, true);
        if (plan->wanted[CODE_CLOSE_V]) add_close(plan, &b, false);
        if (plan->wanted[CODE_INVERSE]) add_inverse(plan, &b, closer);
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

static lw_status take_drives(code_plan *plan, lw_error *error) {
    const lw_code_options *o = &plan->options;
    lw_status status = LW_OK;
    if (!o->driven) return LW_OK;
    plan->driven = calloc((size_t)plan->dynamics->nv + 1, sizeof *plan->driven);
    if (!plan->driven) return lw_out_of_memory(error);
    for (int k = 0; k < o->driven_count && status == LW_OK; k++)
        status = lw_mark_driven(plan->model, o->driven[k], plan->driven, error);
    if (status == LW_OK && !plan->loops)
        status = lw_fail(error, LW_ERROR_ARGUMENT, NULL, "leave out --drive",
                         "of a mechanism without loops every joint has to be driven");
    return status;
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
    plan.loops = plan.dynamics->constraint_count > 0;
    for (int k = 0; k < plan.dynamics->closure_count; k++)
        plan.loops |= plan.dynamics->joints[plan.dynamics->closures[k]].info.rows > 0;
    plan.q0 = plan.dynamics->q0, plan.v0 = plan.dynamics->v0;
    plan.wanted[CODE_CLOSE_Q] = plan.wanted[CODE_CLOSE_V] = plan.loops && o->forward && plan.dynamics->nv > 0;
    lw_status status = choose_name(&plan, error);
    if (status == LW_OK && o->derivatives && plan.dynamics->idle_count > 0)
        status =
            lw_fail(error, LW_ERROR_UNSUPPORTED, plan.dynamics->bodies[plan.dynamics->idle[0].body].name,
                    "give the body inertia about every axis",
                    "derivatives cannot be generated: the body turns about an axis where it has no inertia");
    if (status == LW_OK && o->derivatives && plan.loops)
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, model->name,
                         "leave out --derivatives, or use the library (lw_solver_derivatives)",
                         "derivatives of mechanisms with loops cannot be generated");
    if (status == LW_OK) status = take_drives(&plan, error);
    code_closer *closer = NULL;
    if (status == LW_OK && plan.loops) {
        status = code_closer_create(plan.dynamics, &closer, error);
        if (status == LW_OK) plan.q0 = code_closer_q0(closer), plan.v0 = code_closer_v0(closer);
    }
    if (status != LW_OK) {
        code_closer_destroy(closer);
        free(plan.driven);
        return status;
    }
    code_graph_create(&plan.graph);
    status = make(&plan, room, closer, error);
    if (status == LW_OK) {
        (void)mkdir(folder, 0777); /* It may exist; otherwise the first file says why it cannot be written. */
        status = code_write_test(&plan, closer, folder, error);
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
    code_rows_destroy(&plan.rows);
    code_closer_destroy(closer);
    free(plan.driven);
    code_graph_destroy(&plan.graph);
    return status;
}
