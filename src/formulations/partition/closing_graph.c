/* closing_graph.c - the graph of a mechanism in joints of one coordinate, and its sets of parallel axes.
 *
 *   cylindrical   slide, turn           universal     turn, turn
 *   planar        slide, slide, turn    translation   slide, ...
 *   free          slide, slide, slide, ball
 *   distance      ball, rod, ball
 *
 * in the order in which their product is the pose of the joint, so that coordinates and speeds are those of
 * the joint. Parallel axes: a turn keeps its axis, and a slide every direction. From the axis of a turn a
 * direction therefore spreads over the bodies, whatever the coordinates are, and bodies with a common
 * direction move in parallel planes unless other joints permit other motions.
 *
 * Implied edges: two hinges of one body on the same axis imply a hinge between the other two bodies; a
 * universal joint as a whole is a ball that does not spin (LW_EDGE_CROSS); a cylindrical joint as a whole is
 * a hinge in the plane perpendicular to it (loose).
 *
 * Source   docs/theory/closing.md, section 1.
 * Cost     O(joints) for planar mechanisms, plus the pairs of coaxial hinges; once for a model.
 */
#include "formulations/partition/closing_parts.h"
#include "model/joint.h"

#define PARALLEL 1e-9 /* sine below which axes count as parallel, and part of the length as coaxial */

/* --- edges ----------------------------------------------------------------------------------------- */

/* Counts edges, nodes and chains, and stores them if there are arrays. */
typedef struct builder {
    lw_closing *c;
    int edges, nodes, chains;
} builder;

static void add(builder *b, const lw_closing_edge *edge) {
    if (b->c->edges) b->c->edges[b->edges] = *edge;
    b->edges++;
}

static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* Lists kind and axis of the edges of a joint in the order of its coordinates, which is that of their
 * product; returns their number. */
static int elementary_edges(const lw_joint *joint, lw_closing_edge all[4]) {
    const lw_joint_descriptor *d = lw_joint_describe(joint->type);
    int plain = d->ball ? d->slides : joint->nv;
    for (int k = 0; k < plain; k++) {
        all[k].kind = !lw_joint_speed_turns(joint->type, k) ? LW_EDGE_SLIDE
                      : d->screws                           ? LW_EDGE_SCREW
                                                            : LW_EDGE_TURN;
        if (d->screws) all[k].pitch = joint->pitch;
        lw_joint_direction(joint, k, all[k].axis);
    }
    if (d->ball) all[plain].kind = LW_EDGE_BALL;
    if (joint->nv == 0) all[0].kind = LW_EDGE_FIXED;
    return joint->nv == 0 ? 1 : plain + d->ball;
}

/* Makes the edge that represents the whole joint, from its last edge: two turns make a ball that does not
 * spin; a slide and a turn about one axis make a hinge in the plane perpendicular to the axis. */
static bool implied_edge(const lw_joint_entry *entry, int first_edge, const lw_closing_edge *last,
                         lw_closing_edge *whole) {
    const lw_joint_descriptor *d = lw_joint_describe(entry->joint.type);
    bool crossed = d->turns == 2 && d->slides == 0,
         loose = d->slides && lw_joint_has_one_axis(entry->joint.type);
    if (!crossed && !loose) return false;
    *whole = *last;
    whole->implied = true;
    whole->loose = loose;
    whole->kind = loose ? LW_EDGE_TURN : LW_EDGE_CROSS;
    whole->first_part = first_edge;
    whole->nodes[0] = entry->info.bodies[0];
    whole->ends[0] = entry->frames[0];
    whole->q = whole->v = -1;
    return true;
}

static void add_joint(builder *b, const lw_model *model, int j) {
    const lw_joint_entry *entry = &model->joints[j];
    const lw_joint_info *info = &entry->info;
    lw_closing_edge all[4] = {0}, whole;
    for (int k = 0; k < 4; k++) {
        all[k].joint = j, all[k].constraint = all[k].plane = all[k].first_part = -1;
        lw_v3_copy(unit[2], all[k].axis);
    }
    int count = elementary_edges(&entry->joint, all);
    int first_edge = b->edges, before = info->bodies[0];
    for (int k = 0; k < count; k++) {
        lw_m3_identity(all[k].ends[0].R);
        lw_m3_identity(all[k].ends[1].R);
        if (k == 0) all[k].ends[0] = entry->frames[0];
        if (k == count - 1) all[k].ends[1] = entry->frames[1];
        all[k].nodes[0] = before;
        all[k].nodes[1] = before = k == count - 1 ? info->bodies[1] : b->nodes++;
        all[k].q = info->cut || all[k].kind == LW_EDGE_FIXED ? -1 : info->q + k;
        all[k].v = info->cut || all[k].kind == LW_EDGE_FIXED ? -1 : info->v + k;
        add(b, &all[k]);
    }
    if (count == 1) return;
    if (b->c->chains) b->c->chains[b->chains] = (lw_closing_chain){j, first_edge, count};
    b->chains++;
    if (implied_edge(entry, first_edge, &all[count - 1], &whole)) add(b, &whole);
}

static void add_distance(builder *b, const lw_model *model, int index) {
    const lw_constraint *constraint = &model->constraints[index];
    int rod = b->nodes++;
    for (int side = 0; side < 2; side++) {
        lw_closing_edge ball = {.kind = LW_EDGE_BALL,
                                .joint = -1,
                                .constraint = index,
                                .nodes = {constraint->bodies[side], rod},
                                .q = -1,
                                .v = -1,
                                .first_part = -1,
                                .plane = -1};
        lw_m3_identity(ball.ends[0].R);
        lw_m3_identity(ball.ends[1].R);
        lw_v3_copy(constraint->points[side], ball.ends[0].p);
        ball.ends[1].p[0] = side * constraint->length;
        add(b, &ball);
    }
}

static void build(builder *b, const lw_model *model) {
    *b = (builder){.c = b->c, .nodes = model->body_count + 1};
    for (int j = 0; j < model->joint_count; j++) add_joint(b, model, j);
    b->c->rods = b->nodes;
    for (int k = 0; k < model->constraint_count; k++)
        if (model->constraints[k].type == LW_CONSTRAINT_DISTANCE) add_distance(b, model, k);
}

/* Lists the edges of the tree from ground outwards, with the side nearer to ground. */
static void list_walk(lw_closing *c, const int *first_edge) {
    for (int i = 1; i <= c->model->body_count; i++) {
        int j = c->model->bodies[i].joint_index, first = first_edge[j], count = 1;
        bool reversed = c->model->joints[j].info.reversed;
        while (first + count < c->edge_count && c->edges[first + count].joint == j &&
               !c->edges[first + count].implied)
            count++;
        for (int k = 0; k < count; k++) {
            c->walk[c->walk_count] = first + (reversed ? count - 1 - k : k);
            c->walk_from[c->walk_count++] = reversed ? 1 : 0;
        }
    }
}

/* --- parallel axes --------------------------------------------------------------------------------- */

const double *lw_closing_normal(const lw_closing *c, int plane, int node) {
    for (int e = c->entry_of[node]; e >= 0; e = c->entries[e].next)
        if (c->entries[e].plane == plane) return c->entries[e].normal;
    return NULL;
}

/* The sine of the angle between unit vectors. */
static double sine_between(const double a[3], const double b[3]) {
    double cross[3];
    lw_v3_cross(a, b, cross);
    return lw_v3_norm(cross);
}

/* Transfers a direction across an edge from one of its nodes to the other; returns false if the edge does not
 * keep the direction. */
static bool hand_on(const lw_closing_edge *edge, int side, const double normal[3], double out[3]) {
    double local[3], axis[3];
    lw_m3_tmul_v(edge->ends[side].R, normal, local);
    if (edge->kind == LW_EDGE_TURN) {
        if (sine_between(local, edge->axis) > PARALLEL) return false;
        double sign = lw_v3_dot(local, edge->axis) > 0 ? 1 : -1;
        for (int k = 0; k < 3; k++) axis[k] = sign * edge->axis[k];
    } else if (edge->kind == LW_EDGE_SLIDE || edge->kind == LW_EDGE_FIXED)
        lw_v3_copy(local, axis);
    else
        return false;
    lw_m3_mul_v(edge->ends[1 - side].R, axis, out);
    return true;
}

static void enter(lw_closing *c, int plane, int node, const double normal[3]) {
    c->entries[c->entry_count] =
        (lw_closing_entry){plane, c->entry_of[node], {normal[0], normal[1], normal[2]}};
    c->entry_of[node] = c->entry_count++;
}

/* Spreads the axes of turns over the nodes; the edges of node i are at[start[i]] .. at[start[i + 1] - 1].
 * Returns false if there is no memory. */
static bool find_planes(lw_closing *c, const int *start, const int *at, int *queue, lw_arena *arena) {
    int room = 4 * c->edge_count + c->nodes;
    c->entries = LW_NEW(arena, lw_closing_entry, room);
    if (!c->entries) return false;
    for (int i = 0; i < c->nodes; i++) c->entry_of[i] = -1;
    for (int seed = 0, planes = 0; seed < c->edge_count; seed++) {
        if (c->edges[seed].kind != LW_EDGE_TURN || c->edges[seed].implied || c->edges[seed].plane >= 0)
            continue;
        int head = 0, tail = 0, plane = planes++;
        double normal[3];
        lw_m3_mul_v(c->edges[seed].ends[0].R, c->edges[seed].axis, normal);
        if (c->entry_count == room) break;
        enter(c, plane, c->edges[seed].nodes[0], normal);
        queue[tail++] = c->edges[seed].nodes[0];
        for (; head < tail; head++) {
            const double *mine = lw_closing_normal(c, plane, queue[head]);
            for (int k = start[queue[head]]; k < start[queue[head] + 1]; k++) {
                lw_closing_edge *edge = &c->edges[at[k]];
                int side = edge->nodes[0] == queue[head] ? 0 : 1, other = edge->nodes[1 - side];
                if (edge->implied || !hand_on(edge, side, mine, normal)) continue;
                const double *there = lw_closing_normal(c, plane, other);
                if (there && (sine_between(there, normal) > PARALLEL || lw_v3_dot(there, normal) < 0))
                    continue;
                if (edge->kind == LW_EDGE_TURN) edge->plane = plane;
                if (there) continue;
                if (c->entry_count == room) break; /* Further directions are left to Newton's method. */
                enter(c, plane, other, normal);
                queue[tail++] = other;
            }
        }
    }
    for (int e = 0; e < c->edge_count; e++)
        if (c->edges[e].loose) c->edges[e].plane = c->edges[c->edges[e].first_part + 1].plane;
    return true;
}

/* Makes a frame on a node, at a point, whose z axis is the normal of a plane. */
static void normal_frame(const lw_closing *c, int plane, int node, const double p[3], lw_pose *out) {
    double x[3];
    const double *z = lw_closing_normal(c, plane, node);
    lw_v3_perpendicular(z, x);
    lw_rot_columns_zx(z, x, out->R);
    lw_v3_copy(p, out->p);
}

/* Makes the hinge between the nodes beyond that two coaxial turns of a node imply; returns false if they are
 * not coaxial. */
static bool coaxial(const lw_closing *c, int node, int first, int second, lw_closing_edge *out) {
    const lw_closing_edge *a = &c->edges[first], *b = &c->edges[second];
    if (a->plane < 0 || a->plane != b->plane || a->kind != LW_EDGE_TURN || b->kind != LW_EDGE_TURN ||
        a->implied || b->implied)
        return false;
    int sa = a->nodes[0] == node ? 0 : 1, sb = b->nodes[0] == node ? 0 : 1;
    int far_a = a->nodes[1 - sa], far_b = b->nodes[1 - sb];
    const double *n = lw_closing_normal(c, a->plane, node), *beyond = lw_closing_normal(c, a->plane, far_b);
    const double *near_a = lw_closing_normal(c, a->plane, far_a);
    if (far_a == far_b || !n || !beyond || !near_a) return false;
    double gap[3], p[3];
    lw_v3_sub(b->ends[sb].p, a->ends[sa].p, gap);
    double along = lw_v3_dot(gap, n);
    lw_v3_axpy(-along, n, gap);
    if (lw_v3_norm(gap) > PARALLEL * c->length) return false;
    *out = (lw_closing_edge){.kind = LW_EDGE_TURN,
                             .joint = a->joint,
                             .constraint = -1,
                             .nodes = {far_a, far_b},
                             .axis = {0, 0, 1},
                             .q = -1,
                             .v = -1,
                             .implied = true,
                             .first_part = -1,
                             .plane = a->plane};
    normal_frame(c, a->plane, far_a, a->ends[1 - sa].p, &out->ends[0]);
    lw_v3_copy(b->ends[1 - sb].p, p); /* moved along the axis to the first hinge */
    lw_v3_axpy(-along, beyond, p);
    normal_frame(c, a->plane, far_b, p, &out->ends[1]);
    return true;
}

/* Counts the implied hinges, and stores them if out is not NULL. */
static int imply_hinges(const lw_closing *c, const int *start, const int *at, lw_closing_edge *out) {
    enum { MOST = 64 }; /* The number of coaxial hinges of a body that are considered. */
    lw_closing_edge edge;
    int count = 0;
    for (int i = 0; i < c->nodes; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            for (int l = k + 1, seen = 0; l < start[i + 1] && seen < MOST; l++) {
                if (!coaxial(c, i, at[k], at[l], &edge)) continue;
                if (out) out[count] = edge;
                count++, seen++;
            }
    return count;
}

/* --- placing --------------------------------------------------------------------------------------- */

void lw_closing_edge_pose(const lw_closing_edge *edge, const double *own, lw_pose *relative) {
    lw_m3_identity(relative->R);
    lw_v3_set(relative->p, 0, 0, 0);
    switch (edge->kind) {
    case LW_EDGE_SCREW:
        lw_v3_axpy(edge->pitch * own[0], edge->axis, relative->p);
        lw_rot_axis(edge->axis, own[0], relative->R);
        break;
    case LW_EDGE_TURN:
        lw_rot_axis(edge->axis, own[0], relative->R);
        break;
    case LW_EDGE_SLIDE:
        lw_v3_axpy(own[0], edge->axis, relative->p);
        break;
    case LW_EDGE_BALL:
        lw_rot_quat(own, relative->R);
        break;
    case LW_EDGE_FIXED:
    case LW_EDGE_CROSS:
        break;
    }
}

void lw_closing_edge_fit(const lw_closing_edge *edge, const lw_pose *relative, double *own) {
    const double *R = relative->R, *a = edge->axis;
    switch (edge->kind) {
    case LW_EDGE_SCREW:
    case LW_EDGE_TURN: {
        double twice_sine = a[0] * (R[7] - R[5]) + a[1] * (R[2] - R[6]) + a[2] * (R[3] - R[1]);
        double angle = atan2(twice_sine, R[0] + R[4] + R[8] - 1), turns = round((*own - angle) / (2 * LW_PI));
        *own = isfinite(turns) ? angle + 2 * LW_PI * turns : angle;
        break;
    }
    case LW_EDGE_SLIDE:
        *own = lw_v3_dot(a, relative->p);
        break;
    case LW_EDGE_BALL: {
        double guess[4], dot = 0;
        memcpy(guess, own, sizeof guess);
        lw_quat_rot(R, own);
        for (int k = 0; k < 4; k++) dot += own[k] * guess[k];
        for (int k = 0; k < 4 && dot < 0; k++) own[k] = -own[k];
        break;
    }
    case LW_EDGE_FIXED:
    case LW_EDGE_CROSS:
        break;
    }
}

/* Computes the pose of the node beyond an edge from that of the node before it. */
static void beyond(const lw_closing_edge *edge, int from, const double *own, const lw_pose *here,
                   lw_pose *there) {
    lw_pose relative, end, back, inverse;
    lw_closing_edge_pose(edge, own, &relative);
    if (from == 1) {
        lw_pose_invert(relative.R, relative.p, inverse.R, inverse.p);
        relative = inverse;
    }
    const lw_pose *near = &edge->ends[from], *far = &edge->ends[1 - from];
    lw_pose_compose(here->R, here->p, near->R, near->p, end.R, end.p);
    lw_pose_compose(end.R, end.p, relative.R, relative.p, back.R, back.p);
    lw_pose_invert(far->R, far->p, inverse.R, inverse.p);
    lw_pose_compose(back.R, back.p, inverse.R, inverse.p, there->R, there->p);
}

/* The coordinates of a chain from the poses of the bodies at its ends, where own holds a guess; and the poses
 * of its inner nodes. */
static void fit_chain(lw_closing *c, const lw_closing_chain *chain, double *own) {
    int last = chain->first + chain->count - 1;
    lw_pose a, b, inverse, relative;
    lw_closing_end(c, c->world, chain->first, 0, &a);
    lw_closing_end(c, c->world, last, 1, &b);
    lw_pose_invert(a.R, a.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, b.R, b.p, relative.R, relative.p);
    lw_joint_fit(&c->model->joints[chain->joint].joint, relative.R, relative.p, own);
    const lw_pose *here = &c->world[c->edges[chain->first].nodes[0]];
    for (int e = chain->first; e < last; e++) {
        beyond(&c->edges[e], 0, own + (e - chain->first), here, &c->world[c->edges[e].nodes[1]]);
        here = &c->world[c->edges[e].nodes[1]];
    }
}

void lw_closing_poses(lw_closing *c, const double *q) {
    lw_m3_identity(c->world[0].R);
    lw_v3_set(c->world[0].p, 0, 0, 0);
    for (int k = 0; k < c->walk_count; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        int from = c->walk_from[k];
        beyond(edge, from, edge->q >= 0 ? q + edge->q : NULL, &c->world[edge->nodes[from]],
               &c->world[edge->nodes[1 - from]]);
    }
    for (int k = 0; k < c->chain_count; k++) { /* intermediate nodes of joints that close loops */
        const lw_closing_chain *chain = &c->chains[k];
        if (c->model->joints[chain->joint].info.cut) fit_chain(c, chain, c->chain_q + LW_JOINT_MAX_Q * k);
    }
}

/* --- the whole graph ------------------------------------------------------------------------------- */

static void list_edges_of_nodes(const lw_closing *c, int count, int *start, int *at) {
    memset(start, 0, ((size_t)c->nodes + 2) * sizeof *start);
    for (int e = 0; e < count; e++)
        for (int side = 0; side < 2; side++) start[c->edges[e].nodes[side]]++;
    for (int i = 1; i <= c->nodes; i++) start[i] += start[i - 1];
    for (int e = count - 1; e >= 0; e--)
        for (int side = 0; side < 2; side++) at[--start[c->edges[e].nodes[side]]] = e;
}

/* Marks the tree joints that loops and constraints can determine. */
static void find_constrained(lw_closing *c) {
    const lw_model *model = c->model;
    const lw_graph *graph = &model->graph;
    for (int k = 0; k < graph->loop_start[graph->loop_count]; k++) {
        int child = model->joints[graph->loop_edge[k]].info.child;
        if (child > 0) c->constrained[child] = true;
    }
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint *constraint = &model->constraints[k];
        if (constraint->type == LW_CONSTRAINT_COUPLING) {
            for (int i = 1; i <= model->body_count; i++)
                for (int term = 0; term < constraint->terms; term++) {
                    int at = constraint->speeds[term] - model->links[i].v;
                    if (at >= 0 && at < model->links[i].joint.nv) c->constrained[i] = true;
                }
            continue;
        }
        int a = constraint->bodies[0], b = constraint->bodies[1];
        while (a != b) { /* Labels increase outwards. */
            int *outer = a > b ? &a : &b;
            c->constrained[*outer] = true;
            *outer = model->links[*outer].parent;
        }
    }
}

/* Workspace for building the graph. */
typedef struct scratch {
    int *first_edge;         /* per joint: its first edge */
    int *start, *at, *queue; /* edges of node i: at[start[i]] .. at[start[i + 1] - 1]; nodes to visit */
} scratch;

static bool allocate(lw_closing *c, scratch *x, lw_arena *arena) {
    const lw_model *model = c->model;
    size_t nodes = (size_t)c->nodes, edges = (size_t)c->edge_count;
    c->edges = LW_NEW(arena, lw_closing_edge, edges + 1);
    c->chains = LW_NEW(arena, lw_closing_chain, c->chain_count + 1);
    c->walk = LW_NEW(arena, int, edges + 1);
    c->walk_from = LW_NEW(arena, int, edges + 1);
    c->entry_of = LW_NEW(arena, int, nodes);
    c->constrained = LW_NEW(arena, bool, model->body_count + 1);
    c->chain_q = LW_NEW(arena, double, LW_JOINT_MAX_Q * c->chain_count + 1);
    c->edge_of_speed = LW_NEW(arena, int, model->nv + 1);
    c->world = LW_NEW(arena, lw_pose, nodes);
    x->first_edge = LW_NEW(arena, int, model->joint_count + 1);
    x->start = LW_NEW(arena, int, nodes + 2);
    x->at = LW_NEW(arena, int, 2 * edges + 1);
    x->queue = LW_NEW(arena, int, nodes + 1);
    return !lw_arena_failed(arena);
}

/* Indexes the edges by joint and by speed, and sets the coordinates of chains to zero. */
static void index_edges(lw_closing *c, int *first_edge) {
    for (int e = c->edge_count - 1; e >= 0; e--)
        if (c->edges[e].joint >= 0) first_edge[c->edges[e].joint] = e;
    for (int k = 0; k < c->chain_count; k++)
        lw_joint_zero(c->model->joints[c->chains[k].joint].joint.type, c->chain_q + LW_JOINT_MAX_Q * k);
    for (int e = 0; e < c->edge_count; e++)
        for (int k = 0; c->edges[e].v >= 0 && k < (c->edges[e].kind == LW_EDGE_BALL ? 3 : 1); k++)
            c->edge_of_speed[c->edges[e].v + k] = e;
}

/* Computes the length of the mechanism in its initial state. */
static void find_length(lw_closing *c) {
    lw_closing_poses(c, c->model->q0);
    for (int i = 0; i < c->rods; i++) c->length = fmax(c->length, lw_v3_norm(c->world[i].p));
    for (int e = 0; e < c->edge_count; e++)
        for (int side = 0; side < 2; side++)
            c->length = fmax(c->length, lw_v3_norm(c->edges[e].ends[side].p));
    if (!(c->length > 0)) c->length = 1;
}

/* Appends the implied hinges to the edges. */
static bool append_hinges(lw_closing *c, const scratch *x, lw_arena *arena) {
    size_t edges = (size_t)c->edge_count;
    int implied = imply_hinges(c, x->start, x->at, NULL);
    lw_closing_edge *all = LW_NEW(arena, lw_closing_edge, edges + (size_t)implied + 1);
    if (!all) return false;
    memcpy(all, c->edges, edges * sizeof *all);
    imply_hinges(c, x->start, x->at, all + edges);
    c->edges = all;
    c->edge_count += implied;
    return true;
}

bool lw_closing_graph(lw_closing *c, lw_arena *arena) {
    builder b = {.c = c};
    scratch x;
    build(&b, c->model);
    c->nodes = b.nodes, c->edge_count = b.edges, c->chain_count = b.chains;
    if (!allocate(c, &x, arena)) return false;
    build(&b, c->model);
    index_edges(c, x.first_edge);
    list_walk(c, x.first_edge);
    find_constrained(c);
    find_length(c);
    list_edges_of_nodes(c, c->edge_count, x.start, x.at);
    return find_planes(c, x.start, x.at, x.queue, arena) && append_hinges(c, &x, arena);
}
