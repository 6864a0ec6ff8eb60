/* compile_welds.c - bodies that welds join become one link: the merged form of a compiled model.
 *
 * The whole model, in which every body is a link, stays as it is: names, lists, quantities, reactions and the
 * balance check are its. The merged form beside it (lw_model.merged) has one link for each group of welded
 * bodies and the same coordinates, speeds, loops, force elements and constraints in the same order, because a
 * weld has neither coordinates nor speeds; methods and recursions work on it.
 *
 *   X_i                      the user's frame of member i in that of its carrier                        (4)
 *   I_G = sum of X_i'I_i X_i   in lw_compile_tree                                                       (1)
 *   Y_i = F_G X_i F_i^-1     from the internal frame of member i to that of its link, by which points, axes
 *                            and quantities move; F are the users' frames in the internal ones
 *
 * A weld is merged if it is in the spanning tree, unless something acts between two members of one group: a
 * joint that closes a loop, a constraint, a spring or bushing. Then the weld into the member with the larger
 * label stays. This label belongs to no ancestor of the other member, so that the weld lies between the two.
 *
 * Source   docs/theory/welds.md.
 * Cost     O(bodies + joints + elements), times the number of passes of choose, which is one but for groups
 *          with loops within them.
 */
#include "model/compile/compile.h"
#include "model/data.h"
#include "model/quantity/quantity.h"

#include <string.h>

/* --- groups ---------------------------------------------------------------------------------------- */

/* Labels are those of the whole model. */
typedef struct grouping {
    lw_compiler *compiler;
    const lw_model *whole;
    bool *merged;   /* label -> its tree joint is a weld that is merged */
    int *carrier;   /* label -> label of the carrier of its group */
    int *link;      /* label -> label of its link in the merged form */
    lw_pose *in;    /* label -> X, its user's frame in that of its carrier */
    lw_pose *moved; /* label -> Y */
    int *joint;     /* joint -> its index in the merged form; -1: it is merged */
    int count;      /* of merged welds */
} grouping;

static void find_carriers(grouping *g) {
    for (int i = 1; i <= g->whole->body_count; i++)
        g->carrier[i] = g->merged[i] ? g->carrier[g->whole->links[i].parent] : i;
}

/* Keeps a weld between two bodies on which something acts, if they are in one group; says whether they
 * were. */
static bool part(grouping *g, const int bodies[2]) {
    if (bodies[0] == bodies[1] || g->carrier[bodies[0]] != g->carrier[bodies[1]]) return false;
    g->merged[bodies[0] > bodies[1] ? bodies[0] : bodies[1]] = false;
    return true;
}

static void choose(grouping *g) {
    const lw_model *whole = g->whole;
    for (int i = 1; i <= whole->body_count; i++)
        g->merged[i] = whole->joints[whole->bodies[i].joint_index].info.type == LW_JOINT_WELD;
    for (bool again = true; again;) {
        again = false;
        find_carriers(g);
        for (int k = 0; k < whole->closure_count; k++)
            again |= part(g, whole->joints[whole->closures[k]].info.bodies);
        for (int k = 0; k < whole->constraint_count; k++)
            if (whole->constraints[k].type != LW_CONSTRAINT_COUPLING)
                again |= part(g, whole->constraints[k].bodies);
        for (int k = 0; k < whole->force_count; k++)
            if (!lw_force_type_in_joint(whole->forces[k].type) && whole->forces[k].type != LW_FORCE_APPLIED)
                again |= part(g, whole->forces[k].bodies);
    }
    g->count = 0;
    for (int i = 1; i <= whole->body_count; i++) g->count += g->merged[i];
}

/* Poses of members in their carriers: a weld's frames on both bodies coincide. */
static void pose_members(grouping *g) {
    const lw_model *whole = g->whole;
    lw_m3_identity(g->in[0].R);
    for (int i = 1; i <= whole->body_count; i++) {
        const int joint = whole->bodies[i].joint_index;
        const lw_joint_draft *draft = &g->compiler->drafts[joint];
        const int own = whole->joints[joint].info.reversed ? 0 : 1;
        lw_pose inverse, step;
        lw_m3_identity(g->in[i].R);
        if (!g->merged[i]) continue;
        const lw_pose *mine = &draft->frames[own], *theirs = &draft->frames[!own],
                      *parent = &g->in[whole->links[i].parent];
        lw_pose_invert(mine->R, mine->p, inverse.R, inverse.p);
        lw_pose_compose(theirs->R, theirs->p, inverse.R, inverse.p, step.R, step.p);
        lw_pose_compose(parent->R, parent->p, step.R, step.p, g->in[i].R, g->in[i].p);
    }
}

/* --- the tree of links ------------------------------------------------------------------------------ */

/* The joints that are not merged, with their frames on the carriers. */
static lw_status contract_joints(grouping *g, lw_spec *variant, lw_joint_draft **drafts) {
    const lw_model *whole = g->whole;
    lw_arena *scratch = g->compiler->scratch;
    const int kept = whole->joint_count - g->count;
    variant->joints = LW_NEW(scratch, lw_joint_spec, kept + 1);
    *drafts = LW_NEW(scratch, lw_joint_draft, kept + 1);
    if (lw_arena_failed(scratch)) return LW_ERROR_MEMORY;
    for (int i = 1; i <= whole->body_count; i++)
        if (g->merged[i]) g->joint[whole->bodies[i].joint_index] = -1;
    variant->joint_count = 0;
    for (int j = 0; j < whole->joint_count; j++) {
        if (g->joint[j] < 0) continue;
        const int at = g->joint[j] = (int)variant->joint_count++;
        lw_joint_draft *draft = &(*drafts)[at];
        variant->joints[at] = g->compiler->spec->joints[j];
        *draft = g->compiler->drafts[j];
        for (int side = 0; side < 2; side++) {
            const int label = whole->joints[j].info.bodies[side], carrier = g->carrier[label];
            const lw_pose *in = &g->in[label], *frame = &g->compiler->drafts[j].frames[side];
            draft->bodies[side] = carrier > 0 ? whole->graph.body[carrier] : 0;
            if (g->merged[label])
                lw_pose_compose(in->R, in->p, frame->R, frame->p, draft->frames[side].R,
                                draft->frames[side].p);
        }
    }
    return LW_OK;
}

/* The loops of the graph without the welds that are merged. */
static lw_status contract_loops(const grouping *g, lw_arena *arena, lw_graph *graph) {
    const lw_graph *from = &g->whole->graph;
    const int edges = from->loop_start[from->loop_count];
    graph->loop_start = LW_NEW(arena, int, from->loop_count + 1);
    graph->loop_edge = LW_NEW(arena, int, edges + 1);
    graph->loop_sense = LW_NEW(arena, int, edges + 1);
    graph->loop_base = LW_NEW(arena, int, from->loop_count + 1);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    int at = 0;
    for (int k = 0; k < from->loop_count; k++) {
        graph->loop_start[k] = at;
        graph->loop_base[k] = g->link[from->loop_base[k]];
        for (int e = from->loop_start[k]; e < from->loop_start[k + 1]; e++) {
            if (g->joint[from->loop_edge[e]] < 0) continue;
            graph->loop_edge[at] = g->joint[from->loop_edge[e]];
            graph->loop_sense[at++] = from->loop_sense[e];
        }
    }
    graph->loop_start[from->loop_count] = at;
    return LW_OK;
}

/* The graph with the groups as bodies. Links are labelled in the order of their carriers, so that every link
 * stands behind its parent and coordinates keep their order. */
static lw_status contract_graph(grouping *g, lw_arena *arena, lw_graph *graph) {
    const lw_model *whole = g->whole;
    const lw_graph *from = &whole->graph;
    const int links = whole->body_count - g->count;
    *graph = *from;
    graph->body_count = links;
    graph->edge_count = from->edge_count - g->count;
    graph->body = LW_NEW(arena, int, links + 1);
    graph->parent = LW_NEW(arena, int, links + 1);
    graph->edge = LW_NEW(arena, int, links + 1);
    graph->label = LW_NEW(arena, int, whole->body_count + 1);
    graph->cut = LW_NEW(arena, bool, graph->edge_count + 1);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    graph->parent[0] = graph->edge[0] = -1;
    int label = 0;
    for (int i = 1; i <= whole->body_count; i++) {
        g->link[i] = g->merged[i] ? g->link[g->carrier[i]] : ++label;
        graph->label[from->body[i]] = g->link[i];
        if (g->merged[i]) continue;
        graph->body[label] = from->body[i];
        graph->parent[label] = g->link[from->parent[i]];
        graph->edge[label] = g->joint[from->edge[i]];
    }
    for (int j = 0; j < from->edge_count; j++)
        if (g->joint[j] >= 0) graph->cut[g->joint[j]] = from->cut[j];
    return contract_loops(g, arena, graph);
}

/* The members of each link, for lw_compile_tree: those of link l begin with first[l]. */
static lw_status list_members(const grouping *g, lw_merge *merge) {
    const lw_model *whole = g->whole;
    lw_arena *scratch = g->compiler->scratch;
    const int links = whole->body_count - g->count;
    merge->first = LW_NEW(scratch, int, links + 2);
    merge->members = LW_NEW(scratch, lw_member, g->count + 1);
    if (lw_arena_failed(scratch)) return LW_ERROR_MEMORY;
    for (int i = 1; i <= whole->body_count; i++)
        if (g->merged[i]) merge->first[g->link[i] + 1]++;
    for (int l = 1; l <= links + 1; l++) merge->first[l] += merge->first[l - 1];
    for (int i = whole->body_count; i >= 1; i--)
        if (g->merged[i])
            merge->members[--merge->first[g->link[i] + 1]] =
                (lw_member){&g->compiler->spec->bodies[whole->graph.body[i] - 1], g->in[i]};
    /* Each start has moved down to the beginning of its own members, one entry behind. */
    for (int l = 0; l <= links; l++) merge->first[l] = merge->first[l + 1];
    merge->first[links + 1] = g->count;
    return LW_OK;
}

static lw_status compile_links(grouping *g, lw_compiler *merging, lw_model *model) {
    lw_arena *arena = model->arena;
    lw_status status = contract_graph(g, arena, &model->graph);
    if (status == LW_OK) status = list_members(g, merging->merge);
    if (status != LW_OK) return status;
    model->body_count = model->graph.body_count;
    model->joint_count = model->graph.edge_count;
    model->nq = model->nv = model->slot_count = model->turn_count = model->revolute_count = 0;
    model->armature = NULL;
    model->compliance = NULL; /* Loads are shared on the whole form; this one numbers joints otherwise. */
    model->idle = NULL;
    model->idle_count = 0;
    return lw_compile_tree(merging);
}

/* --- what stands on bodies --------------------------------------------------------------------------- */

/* Y of every body of the whole model, and the numbers of revolutions of cut joints. */
static void take_over_joints(grouping *g, lw_model *model) {
    const lw_model *whole = g->whole;
    for (int i = 0; i <= whole->body_count; i++) {
        const lw_pose *link = &model->bodies[g->link[i]].frame, *in = &g->in[i];
        lw_pose own, inverse;
        lw_pose_compose(link->R, link->p, in->R, in->p, own.R, own.p);
        lw_pose_invert(whole->bodies[i].frame.R, whole->bodies[i].frame.p, inverse.R, inverse.p);
        lw_pose_compose(own.R, own.p, inverse.R, inverse.p, g->moved[i].R, g->moved[i].p);
    }
    for (int j = 0; j < whole->joint_count; j++) {
        if (g->joint[j] < 0) continue;
        lw_joint_entry *to = &model->joints[g->joint[j]];
        memcpy(to->winding, whole->joints[j].winding, sizeof to->winding);
        memcpy(to->initial, whole->joints[j].initial, sizeof to->initial);
    }
}

static void move_point(const grouping *g, int body, double x[3]) {
    const lw_pose *by = &g->moved[body];
    double out[3];
    lw_pose_point(by->R, by->p, x, out);
    lw_v3_copy(out, x);
}

static void move_direction(const grouping *g, int body, double a[3]) {
    double out[3];
    lw_m3_mul_v(g->moved[body].R, a, out);
    lw_v3_copy(out, a);
}

static void move_pose(const grouping *g, int body, lw_pose *pose) {
    const lw_pose *by = &g->moved[body];
    lw_pose out;
    lw_pose_compose(by->R, by->p, pose->R, pose->p, out.R, out.p);
    *pose = out;
}

/* Is the body in a group with others? */
static bool grouped(const grouping *g, int body, const int *size) { return size[g->link[body]] > 1; }

/* The frames of the spec, then one for each body of a group, with its own inertia: by these names of bodies
 * keep their meaning in expressions. marker[label] is 1 + the index of a body's frame, or 0. */
static lw_status move_frames(grouping *g, lw_model *model, int *marker) {
    const lw_model *whole = g->whole;
    lw_arena *arena = model->arena;
    int *size = LW_NEW(g->compiler->scratch, int, model->body_count + 1), more = 0;
    if (!size) return LW_ERROR_MEMORY;
    for (int i = 0; i <= whole->body_count; i++) size[g->link[i]]++;
    for (int i = 1; i <= whole->body_count; i++) more += grouped(g, i, size);
    model->frames = LW_NEW(arena, lw_frame, whole->frame_count + more + 1);
    lw_rigid_inertia *inertia = LW_NEW(arena, lw_rigid_inertia, more + 1);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    for (int k = 0; k < whole->frame_count; k++) {
        lw_frame *frame = &model->frames[k];
        *frame = whole->frames[k];
        frame->body = g->link[frame->body];
        move_pose(g, whole->frames[k].body, &frame->pose);
    }
    model->frame_count = whole->frame_count;
    for (int i = 1; i <= whole->body_count; i++) {
        if (!grouped(g, i, size)) continue;
        lw_frame *frame = &model->frames[model->frame_count++];
        *frame =
            (lw_frame){.name = whole->bodies[i].name, .body = g->link[i], .pose = whole->bodies[i].frame};
        move_pose(g, i, &frame->pose);
        lw_v3_copy(whole->bodies[i].com, frame->com);
        move_point(g, i, frame->com);
        const lw_rigid_inertia own = lw_true_inertia(whole, i);
        lw_rigid_add_to_parent(g->moved[i].R, g->moved[i].p, &own, inertia);
        frame->inertia = inertia++;
        marker[i] = model->frame_count;
    }
    return LW_OK;
}

/* Mass and mass moment of the bodies that have become ground. */
static void add_fixed(const grouping *g, lw_model *model) {
    for (int i = 1; i <= g->whole->body_count; i++) {
        if (g->link[i] > 0) continue;
        double c[3];
        lw_v3_copy(g->whole->bodies[i].com, c);
        move_point(g, i, c);
        model->fixed_mass += g->whole->links[i].inertia.mass;
        lw_v3_axpy(g->whole->links[i].inertia.mass, c, model->fixed_moment);
    }
}

/* Forces and constraints act on links; motions belong to them. */
static lw_status move_elements(const grouping *g, lw_model *model) {
    const lw_model *whole = g->whole;
    lw_arena *arena = model->arena;
    model->motions = LW_NEW(arena, lw_motion, whole->motion_count + 1);
    model->forces = LW_NEW(arena, lw_force, whole->force_count + 1);
    model->constraints = LW_NEW(arena, lw_constraint, whole->constraint_count + 1);
    if (lw_arena_failed(arena)) return LW_ERROR_MEMORY;
    for (int k = 0; k < whole->motion_count; k++) {
        model->motions[k] = whole->motions[k];
        model->motions[k].body = g->link[whole->motions[k].body];
    }
    for (int k = 0; k < whole->force_count; k++) {
        lw_force *force = &model->forces[k];
        *force = whole->forces[k];
        for (int side = 0; side < 2; side++) {
            move_pose(g, force->bodies[side], &force->frames[side]);
            force->bodies[side] = g->link[force->bodies[side]];
        }
    }
    for (int k = 0; k < whole->constraint_count; k++) {
        lw_constraint *constraint = &model->constraints[k];
        *constraint = whole->constraints[k];
        if (constraint->type == LW_CONSTRAINT_COUPLING) continue;
        for (int side = 0; side < 2; side++)
            move_point(g, constraint->bodies[side], constraint->points[side]);
        move_direction(g, constraint->bodies[0], constraint->axis);
        move_direction(g, constraint->bodies[1], constraint->normal);
        for (int a = 0; a < 2; a++) move_direction(g, constraint->bodies[1], constraint->along[a]);
        for (int side = 0; side < 2; side++) constraint->bodies[side] = g->link[constraint->bodies[side]];
    }
    return LW_OK;
}

/* One end of a quantity: a body of the whole model, or a frame on one, becomes a link with a frame. */
static void move_end(const grouping *g, const int *marker, int *body, int *frame, double at[3]) {
    if (at) move_point(g, *body, at);
    if (*frame == 0) *frame = marker[*body];
    *body = g->link[*body];
}

/* Quantities of the state that force laws and rates of user states read. Those that need accelerations or
 * reactions are evaluated on the whole model only; here they stay as they are. */
static lw_status move_quantities(const grouping *g, const int *marker, lw_model *model) {
    const lw_values *from = &g->whole->values;
    lw_state_quantity *quantities = LW_NEW(model->arena, lw_state_quantity, from->quantity_count + 1);
    if (!quantities) return LW_ERROR_MEMORY;
    for (int k = 0; k < from->quantity_count; k++) {
        lw_state_quantity *quantity = &quantities[k];
        *quantity = from->quantities[k];
        const lw_object_kind object = lw_quantity_object(quantity->kind);
        const bool point = object == LW_OBJECT_POINT || object == LW_OBJECT_PAIR;
        if (object == LW_OBJECT_JOINT && g->joint[quantity->object] >= 0)
            quantity->object = g->joint[quantity->object];
        if (object == LW_OBJECT_BODY || point)
            move_end(g, marker, &quantity->object, &quantity->marker[0], quantity->at[0]);
        if (object == LW_OBJECT_PAIR)
            move_end(g, marker, &quantity->other, &quantity->marker[1], quantity->at[1]);
        move_end(g, marker, &quantity->axes, &quantity->axes_marker, NULL);
    }
    model->values.quantities = quantities;
    return LW_OK;
}

/* --- the whole ---------------------------------------------------------------------------------------- */

static lw_status create(grouping *g, lw_compiler *compiler) {
    const size_t bodies = (size_t)compiler->model->body_count + 1;
    lw_arena *scratch = compiler->scratch;
    *g = (grouping){.compiler = compiler, .whole = compiler->model};
    g->merged = LW_NEW(scratch, bool, bodies);
    g->carrier = LW_NEW(scratch, int, bodies);
    g->link = LW_NEW(scratch, int, bodies);
    g->in = LW_NEW(scratch, lw_pose, bodies);
    g->moved = LW_NEW(scratch, lw_pose, bodies);
    g->joint = LW_NEW(scratch, int, compiler->model->joint_count + 1);
    return lw_arena_failed(scratch) ? LW_ERROR_MEMORY : LW_OK;
}

/* What the whole model needs to know of its merged form. */
static lw_status enter_merged(const grouping *g, lw_model *whole, lw_model *merged) {
    int *of = LW_NEW(whole->arena, int, whole->joint_count + 1);
    if (!of) return LW_ERROR_MEMORY;
    memcpy(of, g->joint, (size_t)whole->joint_count * sizeof *of);
    whole->merged = merged;
    whole->merged_joint = of;
    whole->merged_count = g->count;
    return LW_OK;
}

lw_status lw_compile_merged(lw_compiler *compiler) {
    lw_model *whole = compiler->model;
    grouping g;
    bool any = false;
    for (size_t j = 0; j < compiler->spec->joint_count; j++)
        any |= compiler->spec->joints[j].type == LW_JOINT_WELD;
    if (!any || compiler->spec->welds != LW_WELDS_MERGE) return LW_OK;
    lw_status status = create(&g, compiler);
    if (status != LW_OK) return status;
    choose(&g);
    if (g.count == 0) return LW_OK;
    pose_members(&g);

    lw_spec variant = *compiler->spec;
    lw_merge merge = {0};
    lw_compiler merging = *compiler;
    lw_model *model = LW_NEW(whole->arena, lw_model, 1);
    int *marker = LW_NEW(compiler->scratch, int, whole->body_count + 1);
    if (!model || !marker) return LW_ERROR_MEMORY;
    *model = *whole;
    merging.spec = &variant;
    merging.report = NULL; /* What there is to say has been said of the whole model. */
    merging.model = model;
    merging.merge = &merge;
    status = contract_joints(&g, &variant, &merging.drafts);
    if (status == LW_OK) status = compile_links(&g, &merging, model);
    if (status != LW_OK) return status;
    take_over_joints(&g, model);
    add_fixed(&g, model);
    status = move_frames(&g, model, marker);
    if (status == LW_OK) status = move_elements(&g, model);
    if (status == LW_OK) status = move_quantities(&g, marker, model);
    if (status != LW_OK) return status;
    model->nq = whole->nq; /* with the angles of cut joints, which come last */
    lw_data *data;
    status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    status = lw_compile_idle(&merging);
    if (status == LW_OK) status = lw_compile_floors(model, data);
    lw_data_destroy(data);
    /* Whatever is a fault of the merged form alone is none of the mechanism: its welds stay. */
    if (status == LW_OK && merging.errors > compiler->errors) return LW_OK;
    return status == LW_OK ? enter_merged(&g, whole, model) : status;
}
