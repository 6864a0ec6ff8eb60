/* closing_plan.c - the order in which groups of bodies merge, for one set of independent speeds.
 *
 *   1. Bodies that are connected by given coordinates and welds form one group.
 *
 *   2. As long as there are any, the following are solved: joints whose two bodies are in one group;
 *      couplings with one unknown; two groups connected twice, or three groups connected in a ring, by edges
 *      for which there is a closed formula.
 *
 *   3. The remaining coordinates are left to Newton's method.
 *
 * Where loops are redundant there are several rings: the first one that is far from a dead point is taken,
 * otherwise the best. A ring of three groups is rigid whatever is connected to it, so that the order of the
 * solutions in step 2 does not decide what can be solved. Whether axes are coaxial, or slides parallel,
 * within a group is decided at the position evaluated last.
 *
 * Source   docs/theory/closing.md, section 2.
 * Cost     O(steps (edges + rings)), no allocation.
 */
#include "formulations/partition/closing_parts.h"
#include "model/coupling.h"

#include <stdio.h>

#define APART                                                                                                \
    1e-9 /* part of the mechanism's length below which points coincide, and sine of parallel slides */

/* --- state of an edge ------------------------------------------------------------------------------- */

static unsigned all_speeds(const lw_closing_edge *edge) {
    return edge->v < 0 ? 0 : edge->kind == LW_EDGE_BALL ? 7u : 1u;
}

static bool given(const lw_closing_edge *edge) {
    return edge->kind == LW_EDGE_FIXED || (edge->v >= 0 && edge->known == all_speeds(edge));
}

static bool together(const lw_closing *c, const lw_closing_edge *edge) {
    return c->group[edge->nodes[0]] == c->group[edge->nodes[1]];
}

static bool usable(const lw_closing *c, const lw_closing_edge *edge) {
    if (edge->kind == LW_EDGE_FIXED || edge->kind == LW_EDGE_SCREW || together(c, edge)) return false;
    if (edge->first_part < 0) return true;
    /* A joint can be taken as a whole only as long as both its parts are unknown. */
    const lw_closing_edge *part = &c->edges[edge->first_part];
    return !together(c, &part[0]) && !together(c, &part[1]);
}

static bool is_rod(const lw_closing *c, int group) { return group >= c->rods && c->size[group] == 1; }

/* --- geometry at the position evaluated last -------------------------------------------------------- */

static void end_point(const lw_closing *c, int edge, int side, double p[3]) {
    lw_pose end;
    lw_closing_end(c, c->world, edge, side, &end);
    lw_v3_copy(end.p, p);
}

static void direction(const lw_closing *c, int edge, int side, double out[3]) {
    lw_pose end;
    lw_closing_end(c, c->world, edge, side, &end);
    lw_m3_mul_v(end.R, c->edges[edge].axis, out);
}

/* Returns whether two ends on one group are apart, perpendicular to the direction n. */
static bool apart(const lw_closing *c, int e, int e_side, int f, int f_side, const double n[3]) {
    double a[3], b[3];
    end_point(c, e, e_side, a);
    end_point(c, f, f_side, b);
    lw_v3_sub(b, a, b);
    lw_v3_axpy(-lw_v3_dot(b, n), n, b);
    return lw_v3_norm(b) > APART * c->length;
}

static bool slides_cross(const lw_closing *c, int e, int e_side, int f, int f_side) {
    double a[3], b[3], cross[3];
    direction(c, e, e_side, a);
    direction(c, f, f_side, b);
    lw_v3_cross(a, b, cross);
    return lw_v3_norm(cross) > APART;
}

/* Computes the direction of a plane in the world from a node; returns false if the node is not in the
 * plane. */
static bool world_normal(const lw_closing *c, int plane, int node, double n[3]) {
    const double *own = lw_closing_normal(c, plane, node);
    if (own) lw_m3_mul_v(c->world[node].R, own, n);
    return own != NULL;
}

/* --- rings ------------------------------------------------------------------------------------------- */

/* Returns whether an edge moves in the plane; a ball does if the other edges keep it there. */
static bool in_plane(const lw_closing *c, int plane, const lw_closing_edge *edge) {
    if (edge->kind == LW_EDGE_BALL) return edge->known == 0;
    if (edge->kind == LW_EDGE_TURN) return edge->plane == plane;
    if (edge->kind != LW_EDGE_SLIDE) return false;
    double local[3];
    const double *n = lw_closing_normal(c, plane, edge->nodes[0]);
    if (!n || !lw_closing_normal(c, plane, edge->nodes[1])) return false;
    lw_m3_tmul_v(edge->ends[0].R, n, local);
    return fabs(lw_v3_dot(local, edge->axis)) < APART;
}

static void rotate(lw_closing_step *s) {
    int edge = s->edges[0], from = s->from[0];
    s->edges[0] = s->edges[1], s->edges[1] = s->edges[2], s->edges[2] = edge;
    s->from[0] = s->from[1], s->from[1] = s->from[2], s->from[2] = from;
}

static void reverse(lw_closing_step *s) { /* Edge 0 stays first, but in the other sense. */
    int edge = s->edges[1], from = s->from[1];
    s->edges[1] = s->edges[2], s->edges[2] = edge;
    s->from[0] = 1 - s->from[0], s->from[1] = 1 - s->from[2], s->from[2] = 1 - from;
}

/* The numbers of edges of each kind in a ring, and its plane, or -1. */
typedef struct census {
    int turns, slides, balls, crosses, loose, plane;
} census;

static census count_kinds(const lw_closing *c, const lw_closing_step *s, int edges) {
    census n = {.plane = -1};
    for (int k = 0; k < edges; k++) {
        const lw_closing_edge *edge = &c->edges[s->edges[k]];
        n.turns += edge->kind == LW_EDGE_TURN;
        n.slides += edge->kind == LW_EDGE_SLIDE;
        n.balls += edge->kind == LW_EDGE_BALL;
        n.crosses += edge->kind == LW_EDGE_CROSS;
        n.loose += edge->loose;
        if (edge->kind == LW_EDGE_TURN && n.plane < 0) n.plane = edge->plane;
    }
    return n;
}

static bool planar(const lw_closing *c, const lw_closing_step *s, int edges, const census *n) {
    if (n->plane < 0 || n->balls > 1 || n->crosses > 0) return false;
    for (int k = 0; k < edges; k++)
        if (!in_plane(c, n->plane, &c->edges[s->edges[k]])) return false;
    return true;
}

/* Returns whether the two hinges of group k of a planar ring are apart. One of their nodes must belong to the
 * plane. */
static bool hinges_apart(const lw_closing *c, const lw_closing_step *s, int edges, int k) {
    int before = (k + edges - 1) % edges;
    double n[3];
    const lw_closing_edge *e = &c->edges[s->edges[before]], *f = &c->edges[s->edges[k]];
    if (!world_normal(c, s->plane, f->nodes[s->from[k]], n) &&
        !world_normal(c, s->plane, e->nodes[1 - s->from[before]], n))
        return false;
    return apart(c, s->edges[before], 1 - s->from[before], s->edges[k], s->from[k], n);
}

static bool try_dyad(const lw_closing *c, lw_closing_step *s, const census *n) {
    s->plane = n->plane;
    s->branch = 1;
    if (n->loose > 1) return false;
    if (n->slides == 0) {
        s->kind = LW_STEP_RRR;
        while (n->loose && !c->edges[s->edges[1]].loose) rotate(s);
        return hinges_apart(c, s, 3, 0) && hinges_apart(c, s, 3, 1) && hinges_apart(c, s, 3, 2);
    }
    while (c->edges[s->edges[0]].kind != LW_EDGE_SLIDE || c->edges[s->edges[2]].kind == LW_EDGE_SLIDE)
        rotate(s);
    if (n->slides == 1) {
        s->kind = LW_STEP_PRR;
        if (c->edges[s->edges[2]].loose) reverse(s);
        return hinges_apart(c, s, 3, 2);
    }
    s->kind = LW_STEP_PPR;
    s->branch = 0;
    return n->slides == 2 && n->turns == 1 &&
           slides_cross(c, s->edges[0], 1 - s->from[0], s->edges[1], s->from[1]);
}

static bool try_rod(const lw_closing *c, lw_closing_step *s, const census *n) {
    if (n->balls + n->crosses != 2 || n->crosses > 1 || n->turns + n->slides != 1 || n->loose) return false;
    s->kind = LW_STEP_ROD;
    s->branch = 1;
    while (c->edges[s->edges[0]].kind != LW_EDGE_TURN && c->edges[s->edges[0]].kind != LW_EDGE_SLIDE)
        rotate(s);
    for (int side = 0; side < 2; side++)
        if (is_rod(c, c->group[c->edges[s->edges[0]].nodes[side]])) return false;
    const double none[3] = {0, 0, 0};
    bool massless = is_rod(c, c->group[c->edges[s->edges[1]].nodes[1 - s->from[1]]]);
    if (!massless && !apart(c, s->edges[1], 1 - s->from[1], s->edges[2], s->from[2], none)) return false;
    if (n->slides) return true;
    double first[3], second[3]; /* The balls must be off the axis. */
    direction(c, s->edges[0], s->from[0], first);
    direction(c, s->edges[0], 1 - s->from[0], second);
    return apart(c, s->edges[0], s->from[0], s->edges[2], 1 - s->from[2], first) &&
           apart(c, s->edges[0], 1 - s->from[0], s->edges[1], s->from[1], second);
}

static bool try_ring(const lw_closing *c, lw_closing_step *s) {
    census n = count_kinds(c, s, 3);
    if (planar(c, s, 3, &n)) return try_dyad(c, s, &n);
    return try_rod(c, s, &n);
}

static void swap_pair(lw_closing_step *s) {
    int edge = s->edges[0], from = s->from[0];
    s->edges[0] = s->edges[1], s->from[0] = s->from[1];
    s->edges[1] = edge, s->from[1] = from;
}

static bool try_pair(const lw_closing *c, lw_closing_step *s) {
    census n = count_kinds(c, s, 2);
    const lw_closing_edge *e = &c->edges[s->edges[0]], *f = &c->edges[s->edges[1]];
    s->branch = 0;
    s->plane = n.plane;
    if (n.slides == 2) {
        s->kind = LW_STEP_PP;
        return slides_cross(c, s->edges[0], s->from[0], s->edges[1], 1 - s->from[1]);
    }
    if (n.loose == 0 && planar(c, s, 2, &n)) {
        if (e->kind != LW_EDGE_SLIDE && f->kind == LW_EDGE_SLIDE) swap_pair(s);
        s->kind = n.slides ? LW_STEP_PR : LW_STEP_RR;
        if (n.slides) return true;
        if (e->kind == LW_EDGE_BALL) swap_pair(s);
        return hinges_apart(c, s, 2, 0) && hinges_apart(c, s, 2, 1);
    }
    for (int side = 0; side < 2; side++)
        if (is_rod(c, c->group[e->nodes[side]])) return false; /* The spin of a rod is irrelevant. */
    const double none[3] = {
        0, 0, 0}; /* Concentric balls, and a ball in a universal joint, do not determine directions. */
    if (!apart(c, s->edges[0], s->from[0], s->edges[1], 1 - s->from[1], none)) return false;
    if (n.balls == 2) {
        s->kind = LW_STEP_SPIN;
        if (e->known == 0) {
            swap_pair(s);
            const lw_closing_edge *t = e;
            e = f, f = t;
        }
        return f->known == 0 && (e->known == 1 || e->known == 2 || e->known == 4);
    }
    if (n.balls == 1 && n.crosses == 1) {
        s->kind = LW_STEP_CARDAN;
        s->branch = 1;
        if (e->kind == LW_EDGE_BALL) swap_pair(s);
        return c->edges[s->edges[1]].known == 0;
    }
    return false;
}

/* --- search ------------------------------------------------------------------------------------------ */

static void list_usable(lw_closing *c) {
    memset(c->start, 0, ((size_t)c->nodes + 2) * sizeof *c->start);
    for (int e = 0; e < c->edge_count; e++) {
        const lw_closing_edge *edge = &c->edges[e];
        for (int side = 0; side < 2 && usable(c, edge); side++) c->start[c->group[edge->nodes[side]]]++;
    }
    for (int i = 1; i <= c->nodes; i++) c->start[i] += c->start[i - 1];
    for (int e = c->edge_count - 1; e >= 0; e--) {
        const lw_closing_edge *edge = &c->edges[e];
        for (int side = 0; side < 2 && usable(c, edge); side++)
            c->at[--c->start[c->group[edge->nodes[side]]]] = e;
    }
}

static int degree(const lw_closing *c, int group) { return c->start[group + 1] - c->start[group]; }

static int side_in(const lw_closing *c, int edge, int group) {
    return c->group[c->edges[edge].nodes[0]] == group ? 0 : 1;
}

/* Keeps the step if it is better than the best so far; returns whether the best is good enough to end the
 * search. */
static bool consider(const lw_closing *c, const lw_closing_step *s, lw_closing_step *best, double *quality) {
    const double enough = 0.2;
    double q = lw_closing_quality(c, s);
    if (q > *quality) *best = *s, *quality = q;
    return *quality > enough;
}

/* Tries the rings through group g and its edges e and f. They are tried only from the group with the fewest
 * edges, which avoids repetition. */
static bool ring_of(const lw_closing *c, int g, int e, int f, lw_closing_step *best, double *quality) {
    int e_side = side_in(c, e, g), f_side = side_in(c, f, g);
    int h = c->group[c->edges[e].nodes[1 - e_side]], k = c->group[c->edges[f].nodes[1 - f_side]];
    if (degree(c, h) < degree(c, g) || degree(c, k) < degree(c, g)) return false;
    lw_closing_step s;
    if (h == k) {
        s = (lw_closing_step){.edges = {e, f, -1}, .from = {e_side, 1 - f_side, 0}};
        return try_pair(c, &s) && consider(c, &s, best, quality);
    }
    int fewer = degree(c, h) <= degree(c, k) ? h : k, other = fewer == h ? k : h;
    for (int i = c->start[fewer]; i < c->start[fewer + 1]; i++) {
        int x = c->at[i], side = side_in(c, x, h);
        if (c->group[c->edges[x].nodes[1 - side_in(c, x, fewer)]] != other) continue;
        s = (lw_closing_step){.edges = {e, x, f}, .from = {e_side, side, 1 - f_side}};
        if (try_ring(c, &s) && consider(c, &s, best, quality)) return true;
    }
    return false;
}

static bool find_ring(lw_closing *c, lw_closing_step *best) {
    double quality = -1;
    list_usable(c);
    for (int g = 0; g < c->nodes; g++)
        for (int i = c->start[g]; i < c->start[g + 1]; i++)
            for (int j = i + 1; j < c->start[g + 1]; j++)
                if (ring_of(c, g, c->at[i], c->at[j], best, &quality)) return true;
    return quality >= 0;
}

static bool find_chain(const lw_closing *c, lw_closing_step *s) {
    for (int k = 0; k < c->chain_count; k++) {
        const lw_closing_chain *chain = &c->chains[k];
        const lw_closing_edge *edges = c->edges + chain->first;
        if (edges[0].v < 0 || c->group[edges[0].nodes[0]] != c->group[edges[chain->count - 1].nodes[1]])
            continue;
        bool open = true;
        for (int i = 0; i < chain->count; i++)
            open &=
                edges[i].known == 0 && (i == chain->count - 1 || c->size[c->group[edges[i].nodes[1]]] == 1);
        *s = (lw_closing_step){.kind = LW_STEP_FIT, .edges = {k, -1, -1}};
        if (open) return true;
    }
    return false;
}

static bool find_coupling(const lw_closing *c, lw_closing_step *s) {
    for (int k = 0; k < c->model->constraint_count; k++) {
        const lw_constraint *constraint = &c->model->constraints[k];
        int missing = 0;
        if (constraint->type != LW_CONSTRAINT_COUPLING) continue;
        for (int i = 0; i < constraint->terms; i++) {
            int e = c->edge_of_speed[constraint->speeds[i]];
            if (together(c, &c->edges[e])) continue;
            missing++;
            *s = (lw_closing_step){.kind = LW_STEP_COUPLED, .edges = {e, k, -1}, .term = i};
        }
        if (missing == 1 && lw_coupling_is_linear(constraint, s->term)) return true;
    }
    return false;
}

static void take(lw_closing *c, const lw_closing_step *s) {
    c->steps[c->step_count++] = *s;
    if (s->kind == LW_STEP_FIT) {
        const lw_closing_chain *chain = &c->chains[s->edges[0]];
        for (int e = chain->first; e < chain->first + chain->count; e++)
            lw_closing_join(c, c->edges[e].nodes[0], c->edges[e].nodes[1], NULL);
        return;
    }
    const lw_closing_edge *first = &c->edges[s->edges[0]];
    if (s->kind == LW_STEP_CARDAN)
        lw_closing_join(c, first->nodes[0], c->edges[first->first_part].nodes[1], NULL);
    lw_closing_join(c, first->nodes[0], first->nodes[1], NULL);
    if (s->kind >= LW_STEP_RRR && s->kind <= LW_STEP_PPR) {
        const lw_closing_edge *last = &c->edges[s->edges[s->kind == LW_STEP_PPR ? 1 : 2]];
        lw_closing_join(c, last->nodes[0], last->nodes[1], NULL);
    }
}

/* --- remaining coordinates ---------------------------------------------------------------------------- */

static lw_status refuse(const lw_closing *c, const lw_closing_edge *edge, const char *remedy, const char *why,
                        lw_error *error) {
    const lw_joint_entry *entry = &c->model->joints[edge->joint];
    return lw_fail_at(error, LW_ERROR_ARGUMENT, c->model->file, entry->place, "joint", entry->name, remedy,
                      "%s", why);
}

static lw_status list_unknown(lw_closing *c, lw_error *error) {
    c->unknown_count = 0;
    for (int k = 0; k < c->walk_count; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        if (edge->v < 0 || given(edge)) continue;
        if (!c->constrained[c->model->joints[edge->joint].info.child])
            return refuse(c, edge, "take it as independent",
                          "its speed is not independent, but the joint is in no loop that could determine it",
                          error);
        bool spun = edge->known == 0; /* otherwise a ball with some independent speeds */
        for (int s = 0; s < c->step_count && !spun; s++)
            spun = c->steps[s].kind == LW_STEP_SPIN && c->steps[s].edges[0] == c->walk[k];
        if (together(c, edge) && !spun)
            return refuse(
                c, edge, "take it out of the set",
                "one of its speeds is independent, but the other independent coordinates determine it",
                error);
        int speeds = edge->kind == LW_EDGE_BALL ? 3 : 1;
        for (int i = 0; i < speeds && !together(c, edge); i++)
            if (!(edge->known >> i & 1)) c->unknown[c->unknown_count++] = edge->v + i;
    }
    return LW_OK;
}

lw_status lw_closing_plan(lw_closing *c, const bool *independent, lw_error *error) {
    lw_closing_step step;
    for (int e = 0; e < c->edge_count; e++) {
        lw_closing_edge *edge = &c->edges[e];
        edge->known = 0;
        if (edge->v < 0) continue;
        const lw_joint_info *info = &c->model->joints[edge->joint].info;
        for (int k = 0; k < (edge->kind == LW_EDGE_BALL ? 3 : 1); k++)
            if (independent[edge->v + k] || info->prescribed >> (edge->v + k - info->v) & 1)
                edge->known |= 1u << k;
    }
    for (int k = 0; k < c->model->nv; k++)
        c->known[k] = c->edges[c->edge_of_speed[k]].known >> (k - c->edges[c->edge_of_speed[k]].v) & 1;
    lw_closing_poses(c, c->q);
    lw_closing_scatter(c);
    c->step_count = 0;
    for (int e = 0; e < c->edge_count; e++)
        if (given(&c->edges[e]) && !together(c, &c->edges[e]))
            take(c, &(lw_closing_step){.kind = LW_STEP_GIVEN, .edges = {e, -1, -1}});
    c->first_step = c->step_count;
    while (find_chain(c, &step) || find_coupling(c, &step) || find_ring(c, &step)) take(c, &step);
    lw_status status = list_unknown(c, error);
    if (status == LW_OK && c->unknown_count > 0)
        c->steps[c->step_count++] = (lw_closing_step){.kind = LW_STEP_NEWTON, .edges = {-1, -1, -1}};
    return status;
}
