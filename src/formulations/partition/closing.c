/* closing.c - closing conditions: create, positions, and what people read about them.
 *
 * Positions are found step by step in the frames of groups (closing_positions.c), the coordinates of the tree
 * are read from the result, what is left goes to Newton's method, and in the end the rows of all loops are
 * looked at: redundant ones, and rows out of the plane of planar loops, are checked there and nowhere solved.
 *
 * Source   Blajer, Schiehlen and Schirm (1994), eqs 27-29, 39-41; docs/theory/closing.md.
 * Cost     O(n log n) for closed formulas; no allocation but in create.
 */
#include "formulations/partition/closing.h"
#include "formulations/partition/closing_parts.h"

#include <stdio.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------------- */

lw_closing *lw_closing_create(const lw_model *model, lw_arena *arena) {
    lw_closing *c = LW_NEW(arena, lw_closing, 1);
    if (!c) return NULL;
    c->model = model;
    c->rows = lw_rows_create_loops(model, arena);
    if (!c->rows || !lw_closing_graph(c, arena)) return NULL;
    size_t nodes = (size_t)c->nodes;
    c->known = LW_NEW(arena, bool, model->nv + 1);
    c->steps = LW_NEW(arena, lw_closing_step, nodes + 2);
    c->unknown = LW_NEW(arena, int, model->nv + 1);
    c->group = LW_NEW(arena, int, nodes);
    c->next = LW_NEW(arena, int, nodes);
    c->size = LW_NEW(arena, int, nodes);
    c->pose = LW_NEW(arena, lw_pose, nodes);
    c->q = LW_NEW(arena, double, model->nq + 1);
    c->trial = LW_NEW(arena, double, model->nq + 1);
    c->start = LW_NEW(arena, int, nodes + 2);
    c->at = LW_NEW(arena, int, 2 * (size_t)c->edge_count + 1);
    if (lw_arena_failed(arena)) return NULL;
    if (lw_data_create(model, NULL, &c->data) != LW_OK || !lw_closing_newton_create(c, arena)) {
        lw_closing_destroy(c);
        return NULL;
    }
    memcpy(c->q, model->q0, (size_t)model->nq * sizeof *c->q);
    return c;
}

void lw_closing_set_values(lw_closing *c, const double *inputs, const double *states) {
    lw_data_set_values(c->model, c->data, inputs, states);
}

void lw_closing_destroy(lw_closing *c) {
    if (!c) return;
    lw_data_destroy(c->data);
    lw_orthogonal_destroy(c->orthogonal);
    lw_orthogonal_destroy(c->orthogonal0);
    c->data = NULL;
    c->orthogonal = c->orthogonal0 = NULL;
}

/* --- positions ------------------------------------------------------------------------------------------ */

void lw_closing_take_branch(lw_closing *c, double t, const double *q) {
    lw_take_state(c->model, c->data, t, q, NULL);
    memcpy(c->q, c->data->q, (size_t)c->model->nq * sizeof *c->q);
    lw_closing_poses(c, c->q);
    for (int k = 0; k < c->step_count; k++)
        if (c->steps[k].branch != 0) c->steps[k].branch = lw_closing_measure(c, &c->steps[k]) < 0 ? -1 : 1;
}

lw_status lw_closing_positions(lw_closing *c, double t, double *q, lw_error *error) {
    size_t size = (size_t)c->model->nq * sizeof *q;
    lw_status status = LW_OK;
    lw_take_state(c->model, c->data, t, q, NULL);
    memcpy(c->trial, c->data->q, size);
    c->guess_has_poses = false;
    lw_closing_scatter(c);
    for (int k = 0; k < c->step_count && status == LW_OK; k++)
        status = lw_closing_step_position(c, &c->steps[k], error);
    if (status == LW_OK) {
        lw_closing_read(c);
        if (c->unknown_count > 0) status = lw_closing_newton_positions(c, t, c->trial, error);
    }
    if (status == LW_OK) {
        lw_normalise_q(c->model, c->trial);
        status = lw_closing_check(c, t, c->trial, error);
    }
    if (status != LW_OK) return status;
    memcpy(q, c->trial, size);
    memcpy(c->q, c->trial, size);
    return LW_OK;
}

/* --- for people -------------------------------------------------------------------------------------- */

/* The shortest loop that contains all joints of a step, by the joint that closes it; otherwise that of any of
 * them; or -1. */
static int loop_of(const lw_closing *c, const lw_closing_step *s) {
    const lw_graph *graph = &c->model->graph;
    int best = -1, most = 0;
    for (int loop = 0; loop < graph->loop_count; loop++) {
        int found = 0;
        for (int k = 0; k < 3; k++) {
            if (s->edges[k] < 0 || (k == 1 && s->kind == LW_STEP_COUPLED) || s->kind == LW_STEP_FIT) continue;
            for (int i = graph->loop_start[loop]; i < graph->loop_start[loop + 1]; i++)
                found += graph->loop_edge[i] == c->edges[s->edges[k]].joint;
        }
        if (found > most) best = loop, most = found;
    }
    return best;
}

static const char *edge_name(const lw_closing *c, int e) {
    const lw_closing_edge *edge = &c->edges[e];
    return edge->joint >= 0 ? c->model->joints[edge->joint].name
                            : c->model->constraints[edge->constraint].name;
}

/* R, P, S, U of the edges from the middle of a dyad outwards: edge 0 of a ring is first. */
static void letters(const lw_closing *c, const lw_closing_step *s, int edges, char out[4]) {
    static const char letter[] = {'-', 'R', 'P', 'H', 'S', 'U'};
    for (int k = 0; k < edges; k++) {
        out[k] = letter[c->edges[s->edges[k]].kind];
        if (c->edges[s->edges[k]].loose) out[k] = 'C';
    }
    out[edges] = 0;
}

static int edges_of(const lw_closing_step *s) {
    switch (s->kind) {
    case LW_STEP_RRR:
    case LW_STEP_PRR:
    case LW_STEP_PPR:
    case LW_STEP_ROD:
        return 3;
    case LW_STEP_RR:
    case LW_STEP_PR:
    case LW_STEP_PP:
    case LW_STEP_SPIN:
    case LW_STEP_CARDAN:
        return 2;
    default:
        return 1;
    }
}

static void describe(const lw_closing *c, const lw_closing_step *s, char *text, size_t size) {
    char kinds[4] = "", names[256] = "", where[80] = "";
    int edges = edges_of(s), loop = loop_of(c, s);
    if (s->kind == LW_STEP_NEWTON) {
        snprintf(text, size, "%d dependent speeds by Newton's method", c->unknown_count);
        return;
    }
    if (s->kind == LW_STEP_FIT) {
        snprintf(text, size, "joint \"%s\": from the poses of both its bodies",
                 c->model->joints[c->chains[s->edges[0]].joint].name);
        return;
    }
    if (s->kind == LW_STEP_COUPLED) {
        snprintf(text, size, "joint \"%s\": by coupling \"%s\"", edge_name(c, s->edges[0]),
                 c->model->constraints[s->edges[1]].name);
        return;
    }
    letters(c, s, edges, kinds);
    if (loop >= 0)
        snprintf(where, sizeof where, "loop \"%.60s\": ",
                 c->model->joints[c->model->graph.loop_edge[c->model->graph.loop_start[loop]]].name);
    for (int k = 0, at = 0; k < edges && at < (int)sizeof names; k++)
        at +=
            snprintf(names + at, sizeof names - (size_t)at, "%s%s", k ? ", " : "", edge_name(c, s->edges[k]));
    const char *what = s->kind <= LW_STEP_PPR    ? "dyad"
                       : s->kind <= LW_STEP_PP   ? "redundant pair"
                       : s->kind == LW_STEP_ROD  ? "distance"
                       : s->kind == LW_STEP_SPIN ? "direction of a rod"
                                                 : "universal joint and ball";
    snprintf(text, size, "%s%s %s (%s) in closed form", where, what, kinds, names);
}

/* The independent coordinates near a step, with their values: those of its loop, or otherwise all. */
static void given_near(const lw_closing *c, const lw_closing_step *s, const double *q, char *text,
                       size_t size) {
    const lw_graph *graph = &c->model->graph;
    int loop = loop_of(c, s), at = 0, count = 0;
    text[0] = 0;
    for (int k = 0; k < c->walk_count && count < 4 && at < (int)size; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        bool here = loop < 0;
        for (int i = loop < 0 ? 0 : graph->loop_start[loop]; loop >= 0 && i < graph->loop_start[loop + 1];
             i++)
            here |= graph->loop_edge[i] == edge->joint;
        if (!here || edge->v < 0 || edge->known == 0 || edge->kind == LW_EDGE_BALL) continue;
        at += snprintf(text + at, size - (size_t)at, "%s\"%s\" at %.10g %s", count++ ? ", " : "",
                       c->model->joints[edge->joint].name, q[edge->q],
                       edge->kind == LW_EDGE_SLIDE ? "m" : "rad");
    }
}

lw_status lw_closing_dead(const lw_closing *c, const lw_closing_step *s, double gap, lw_error *error) {
    char what[320], where[160];
    describe(c, s, what, sizeof what);
    char *end = strstr(what, " in closed form");
    if (end) *end = 0;
    given_near(c, s, c->trial, where, sizeof where);
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL,
        "a dead point of these coordinates: choose another independent coordinate, or turn back before it",
        "%s cannot close with %s: %.3g m are missing", what, where[0] ? where : "these coordinates", gap);
}
