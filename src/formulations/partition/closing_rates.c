/* closing_rates.c - the steps of a plan at the levels of velocity and acceleration: (7) and (8) of Blajer, Schiehlen and
 * Schirm (1994), without a matrix of the whole.
 *
 * With twists (angular; linear at the origin) in world axes, an edge from node a to node b with speeds x gives
 *
 *   V_b = V_a + S x,     A_b = A_a + S xdot + V_a x V_b      (twist product)
 *
 * so around a ring the sum of S x, of what the groups add (known against their own frame), and of the bias V_a x V_b is zero. A
 * step takes from these six equations those that its unknowns need: a plane's, the direction of a rod, the point of a
 * ball. Both levels differ in the bias only.
 *
 * Source   docs/theory/closing.md, section 5.
 * Cost     O(1) a step, and the joining of groups.
 */
#include "formulations/partition/closing_dyads.h"
#include "formulations/partition/closing_parts.h"

/* --- edges in the world ------------------------------------------------------------------------------- */

static int speeds_of(const lw_closing_edge *edge) {
    return edge->kind == LW_EDGE_FIXED ? 0 : edge->kind == LW_EDGE_BALL ? 3 : 1;
}

/* The turn about a at p, as a twist at the origin. */
static void about(const double a[3], const double p[3], double S[6]) {
    lw_v3_copy(a, S);
    lw_v3_cross(p, a, S + 3);
}

static void end_in_world(const lw_closing *c, int e, int side, double p[3], double axis[3]) {
    lw_pose end;
    lw_closing_end(c, c->world, e, side, &end);
    lw_v3_copy(end.p, p);
    if (axis) lw_m3_mul_v(end.R, c->edges[e].axis, axis);
}

/* Column k of an edge's motion. */
static void column(const lw_closing *c, int e, int k, double S[6]) {
    const lw_closing_edge *edge = &c->edges[e];
    lw_pose end;
    double axis[3];
    lw_closing_end(c, c->world, e, 1, &end);
    for (int i = 0; i < 6; i++) S[i] = 0;
    if (edge->kind == LW_EDGE_BALL)
        for (int i = 0; i < 3; i++) axis[i] = end.R[3 * i + k];
    else
        lw_m3_mul_v(end.R, edge->axis, axis);
    if (edge->kind == LW_EDGE_SLIDE) {
        lw_v3_copy(axis, S + 3);
        return;
    }
    about(axis, end.p, S);
    if (edge->kind == LW_EDGE_SCREW) lw_v3_axpy(edge->pitch, axis, S + 3);
}

/* Linear part at a point. */
static void linear_at(const double T[6], const double p[3], double out[3]) {
    lw_v3_copy(T + 3, out);
    lw_v3_add_cross(T, p, out);
}

void lw_closing_twists(lw_closing *c, const double *v) {
    double S[6];
    for (int k = 0; k < 6; k++) c->twist[k] = 0;
    for (int k = 0; k < c->walk_count; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        int from = c->walk_from[k];
        double *far = c->twist + 6 * edge->nodes[1 - from], sign = from == 0 ? 1 : -1;
        memcpy(far, c->twist + 6 * edge->nodes[from], 6 * sizeof *far);
        for (int i = 0; i < speeds_of(edge); i++) {
            column(c, c->walk[k], i, S);
            lw_v6_axpy(sign * v[edge->v + i], S, far);
        }
    }
}

/* Speeds of a chain from the twist across it, less what biases add; false if they are not determined. */
static bool chain_rates(const lw_closing *c, const lw_closing_chain *chain, const double across[6],
                        double *x) {
    double A[36] = {0}, b[6];
    int columns = 0;
    for (int e = chain->first; e < chain->first + chain->count; e++)
        for (int k = 0; k < speeds_of(&c->edges[e]); k++) {
            column(c, e, k, A + 6 * columns);
            for (int i = 3; i < 6; i++) A[6 * columns + i] /= c->length;
            columns++;
        }
    for (int i = 0; i < 6; i++) b[i] = across[i] / (i < 3 ? 1 : c->length);
    return lw_dyad_solve(columns, A, b, x);
}

/* Twists of the nodes that the tree does not reach: within joints that close loops, and rods. */
static void twists_beside(lw_closing *c) {
    for (int k = 0; k < c->chain_count; k++) {
        const lw_closing_chain *chain = &c->chains[k];
        int last = chain->first + chain->count - 1, at = 0;
        if (!c->model->joints[chain->joint].info.cut) continue;
        const double *a = c->twist + 6 * c->edges[chain->first].nodes[0];
        const double *b = c->twist + 6 * c->edges[last].nodes[1];
        double across[6], x[6] = {0}, S[6];
        for (int i = 0; i < 6; i++) across[i] = b[i] - a[i];
        chain_rates(c, chain, across, x);
        for (int e = chain->first; e < last; e++) {
            double *next = c->twist + 6 * c->edges[e].nodes[1];
            memcpy(next, c->twist + 6 * c->edges[e].nodes[0], 6 * sizeof *next);
            column(c, e, 0, S);
            lw_v6_axpy(x[at++], S, next);
        }
    }
    for (int e = 0; e + 1 < c->edge_count; e++) {
        if (c->edges[e].joint >= 0 || c->edges[e].nodes[1] != c->edges[e + 1].nodes[1]) continue;
        double p[3], r[3], v[3], w[3], *rod = c->twist + 6 * c->edges[e].nodes[1];
        end_in_world(c, e, 0, p, NULL);
        end_in_world(c, e + 1, 0, r, NULL);
        linear_at(c->twist + 6 * c->edges[e].nodes[0], p, v);
        linear_at(c->twist + 6 * c->edges[e + 1].nodes[0], r, w);
        lw_v3_sub(r, p, r);
        lw_v3_sub(w, v, w);
        lw_v3_cross(r, w, rod); /* without spin */
        double square = lw_v3_dot(r, r);
        for (int i = 0; i < 3; i++) rod[i] = square > 0 ? rod[i] / square : 0;
        lw_v3_copy(v, rod + 3);
        lw_v3_add_cross(p, rod, rod + 3);
    }
}

static void biases(lw_closing *c) {
    for (int e = 0; e < c->edge_count; e++) {
        const lw_closing_edge *edge = &c->edges[e];
        lw_twist_cross(c->twist + 6 * edge->nodes[0], c->twist + 6 * edge->nodes[1], c->bias + 6 * e);
        if (edge->first_part < 0) continue;
        for (int k = 0; k < 6; k++)
            c->bias[6 * e + k] = c->bias[6 * edge->first_part + k] + c->bias[6 * (edge->first_part + 1) + k];
    }
}

void lw_closing_node_accelerations(lw_closing *c, const double *vdot) {
    double S[6];
    for (int k = 0; k < 6; k++) c->rate[k] = 0;
    for (int k = 0; k < c->walk_count; k++) {
        int e = c->walk[k], from = c->walk_from[k];
        const lw_closing_edge *edge = &c->edges[e];
        double *far = c->rate + 6 * edge->nodes[1 - from], sign = from == 0 ? 1 : -1;
        memcpy(far, c->rate + 6 * edge->nodes[from], 6 * sizeof *far);
        lw_v6_axpy(sign, c->bias + 6 * e, far);
        for (int i = 0; i < speeds_of(edge); i++) {
            column(c, e, i, S);
            lw_v6_axpy(sign * vdot[edge->v + i], S, far);
        }
    }
}

/* --- groups ------------------------------------------------------------------------------------------- */

/* The group of node b joins that of node a, T being what b has more than a. */
static void join(lw_closing *c, int a, int b, const double T[6]) {
    double shift[6];
    if (c->group[a] == c->group[b]) return;
    for (int k = 0; k < 6; k++) shift[k] = c->rate[6 * a + k] + T[k] - c->rate[6 * b + k];
    int node = c->size[c->group[b]] > c->size[c->group[a]] ? a : b, first = node;
    double sign = node == b ? 1 : -1;
    do {
        lw_v6_axpy(sign, shift, c->rate + 6 * node);
        node = c->next[node];
    } while (node != first);
    lw_closing_join(c, a, b, NULL);
}

/* Across an edge in the user's sense: bias and S x. */
static void across_edge(const lw_closing *c, int e, const double *x, double T[6]) {
    double S[6];
    memcpy(T, c->bias + 6 * e, 6 * sizeof *T);
    for (int k = 0; k < speeds_of(&c->edges[e]); k++) {
        column(c, e, k, S);
        lw_v6_axpy(x[k], S, T);
    }
}

static void join_edge(lw_closing *c, int e, const double *x) {
    double T[6];
    across_edge(c, e, x, T);
    join(c, c->edges[e].nodes[0], c->edges[e].nodes[1], T);
}

/* Speeds of an edge within a group. */
static void read_edge(const lw_closing *c, int e, double x[3]) {
    const lw_closing_edge *edge = &c->edges[e];
    double T[6], at[3];
    lw_pose end;
    for (int k = 0; k < 6; k++)
        T[k] = c->rate[6 * edge->nodes[1] + k] - c->rate[6 * edge->nodes[0] + k] - c->bias[6 * e + k];
    lw_closing_end(c, c->world, e, 1, &end);
    if (edge->kind == LW_EDGE_SLIDE) {
        double axis[3];
        linear_at(T, end.p, at);
        lw_m3_mul_v(end.R, edge->axis, axis);
        x[0] = lw_v3_dot(axis, at);
    } else {
        lw_m3_tmul_v(end.R, T, at);
        if (edge->kind == LW_EDGE_BALL)
            lw_v3_copy(at, x);
        else
            x[0] = lw_v3_dot(edge->axis, at);
    }
}

/* What the groups and the biases add up to around a ring. */
static void around(const lw_closing *c, const lw_closing_step *s, int edges, double W[6]) {
    for (int i = 0; i < 6; i++) W[i] = 0;
    for (int k = 0; k < edges; k++) {
        const lw_closing_edge *edge = &c->edges[s->edges[k]];
        lw_v6_axpy(1, c->rate + 6 * edge->nodes[s->from[k]], W);
        lw_v6_axpy(-1, c->rate + 6 * edge->nodes[1 - s->from[k]], W);
        lw_v6_axpy(s->from[k] == 0 ? 1 : -1, c->bias + 6 * s->edges[k], W);
    }
}

/* --- steps -------------------------------------------------------------------------------------------- */

/* The part of a twist that a plane speaks of: angular, and linear across n at p. */
static void in_plane(const lw_closing *c, const double n[3], const double p[3], const double T[6],
                     double out[6]) {
    double v[3];
    lw_v3_copy(T, out);
    linear_at(T, p, v);
    if (n) lw_v3_axpy(-lw_v3_dot(v, n), n, v);
    for (int k = 0; k < 3; k++) out[3 + k] = v[k] / c->length;
}

static bool planar(lw_closing *c, const lw_closing_step *s) {
    int edges = s->kind <= LW_STEP_PPR ? 3 : 2;
    double W[6], S[3][6], A[36] = {0}, b[6], x[3], n[3], p[3], T[6];
    bool has_plane = s->kind != LW_STEP_PP;
    around(c, s, edges, W);
    end_in_world(c, s->edges[0], s->from[0], p, NULL);
    for (int k = 0; k < edges && has_plane; k++)
        if (c->edges[s->edges[k]].kind == LW_EDGE_TURN) end_in_world(c, s->edges[k], s->from[k], b, n);
    for (int k = 0; k < edges; k++) {
        if (c->edges[s->edges[k]].kind == LW_EDGE_BALL) {
            end_in_world(c, s->edges[k], 1, b, NULL);
            about(n, b, S[k]);
        } else
            column(c, s->edges[k], 0, S[k]);
        in_plane(c, has_plane ? n : NULL, p, S[k], A + 6 * k);
        for (int i = 0; i < 6 && s->from[k] == 1; i++) A[6 * k + i] = -A[6 * k + i];
    }
    in_plane(c, has_plane ? n : NULL, p, W, b);
    for (int i = 0; i < 6; i++) b[i] = -b[i];
    if (!lw_dyad_solve(edges, A, b, x)) return false;
    for (int k = 0; k < edges; k++) {
        bool last = s->kind == LW_STEP_PPR ? k == 1 : k == 2;
        const lw_closing_edge *edge = &c->edges[s->edges[k]];
        if (k > 0 && !last) continue;
        memcpy(T, c->bias + 6 * s->edges[k], sizeof T);
        lw_v6_axpy(x[k], S[k], T);
        join(c, edge->nodes[0], edge->nodes[1], T);
    }
    return true;
}

static bool rod(lw_closing *c, const lw_closing_step *s) {
    double W[6], S[6], p[3], q[3], d[3], v[3], x;
    around(c, s, 3, W);
    end_in_world(c, s->edges[1], s->from[1], p, NULL); /* in group 2 */
    end_in_world(c, s->edges[2], 1 - s->from[2], q, NULL);
    lw_v3_sub(p, q, d);
    column(c, s->edges[0], 0, S);
    linear_at(S, p, v);
    double slope = lw_v3_dot(d, v);
    if (!(fabs(slope) > 1e-9 * lw_v3_norm(d) * (lw_v3_norm(S) > 0 ? c->length : 1))) return false;
    linear_at(W, p, v);
    x = -lw_v3_dot(d, v) / slope * (s->from[0] == 0 ? 1 : -1);
    join_edge(c, s->edges[0], &x);
    return true;
}

/* The velocity of the ball, edge 1, is the same from both sides: for the columns given, in the sense of the ring. */
static bool at_ball(const lw_closing *c, const lw_closing_step *s, const double W[6], int columns,
                    double (*S)[6], double *x) {
    double p[3], A[36] = {0}, b[6] = {0};
    end_in_world(c, s->edges[1], s->from[1], p, NULL);
    linear_at(W, p, b);
    for (int i = 0; i < 3; i++) b[i] = -b[i];
    for (int k = 0; k < columns; k++) {
        linear_at(S[k], p, A + 6 * k);
        for (int i = 0; i < 3 && s->from[0] == 1; i++) A[6 * k + i] = -A[6 * k + i];
    }
    return lw_dyad_solve(columns, A, b, x);
}

static bool cardan(lw_closing *c, const lw_closing_step *s) {
    double W[6], S[2][6], x[2];
    int part = c->edges[s->edges[0]].first_part;
    around(c, s, 2, W);
    column(c, part, 0, S[0]);
    column(c, part + 1, 0, S[1]);
    if (!at_ball(c, s, W, 2, S, x)) return false;
    join_edge(c, part, &x[0]);
    join_edge(c, part + 1, &x[1]);
    return true;
}

static bool spin(lw_closing *c, const lw_closing_step *s, const double *known) {
    const lw_closing_edge *ball = &c->edges[s->edges[0]];
    double W[6], S[2][6], column_k[6], x[2], all[3];
    int unknowns = 0, which[2] = {0, 0};
    around(c, s, 2, W);
    for (int k = 0; k < 3; k++) {
        column(c, s->edges[0], k, column_k);
        all[k] = known[ball->v + k];
        if (ball->known >> k & 1)
            lw_v6_axpy((s->from[0] == 0 ? 1 : -1) * all[k], column_k, W);
        else
            memcpy(S[unknowns], column_k, sizeof column_k), which[unknowns++] = k;
    }
    if (!at_ball(c, s, W, unknowns, S, x)) return false;
    for (int k = 0; k < unknowns; k++) all[which[k]] = x[k];
    join_edge(c, s->edges[0], all);
    return true;
}

static void coupled(lw_closing *c, const lw_closing_step *s, const double *known) {
    const lw_constraint *constraint = &c->model->constraints[s->edges[1]];
    double sum = 0, x[3];
    for (int k = 0; k < constraint->terms; k++) {
        int speed = constraint->speeds[k];
        if (k == s->term) continue;
        read_edge(c, c->edge_of_speed[speed], x);
        sum -= constraint->factors[k] * (c->known[speed] ? known[speed] : x[0]);
    }
    x[0] = sum / constraint->factors[s->term];
    join_edge(c, s->edges[0], x);
}

static bool fit(lw_closing *c, const lw_closing_step *s) {
    const lw_closing_chain *chain = &c->chains[s->edges[0]];
    int last = chain->first + chain->count - 1, at = 0;
    const double *a = c->rate + 6 * c->edges[chain->first].nodes[0],
                 *b = c->rate + 6 * c->edges[last].nodes[1];
    double T[6], x[6];
    for (int k = 0; k < 6; k++) T[k] = b[k] - a[k];
    for (int e = chain->first; e <= last; e++) lw_v6_axpy(-1, c->bias + 6 * e, T);
    if (!chain_rates(c, chain, T, x)) return false;
    for (int e = chain->first; e < last; e++) join_edge(c, e, &x[at++]);
    return true;
}

lw_status lw_closing_rates(lw_closing *c, bool accelerations, double *x, lw_error *error) {
    lw_closing_scatter(c);
    if (accelerations) {
        twists_beside(c);
        biases(c);
    } else
        memset(c->bias, 0, 6 * (size_t)c->edge_count * sizeof *c->bias);
    for (int k = 0; k < c->step_count; k++) {
        const lw_closing_step *s = &c->steps[k];
        bool determined = true;
        switch (s->kind) {
        case LW_STEP_GIVEN: {
            const lw_closing_edge *edge = &c->edges[s->edges[0]];
            join_edge(c, s->edges[0], edge->v >= 0 ? x + edge->v : NULL);
            break;
        }
        case LW_STEP_COUPLED:
            coupled(c, s, x);
            break;
        case LW_STEP_FIT:
            determined = fit(c, s);
            break;
        case LW_STEP_ROD:
            determined = rod(c, s);
            break;
        case LW_STEP_SPIN:
            determined = spin(c, s, x);
            break;
        case LW_STEP_CARDAN:
            determined = cardan(c, s);
            break;
        case LW_STEP_NEWTON:
            break;
        default:
            determined = planar(c, s);
        }
        if (!determined) return lw_closing_singular(c, s, error);
    }
    for (int k = 0; k < c->walk_count; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        double own[3];
        if (edge->v < 0 || c->group[edge->nodes[0]] != c->group[edge->nodes[1]]) continue;
        read_edge(c, c->walk[k], own);
        for (int i = 0; i < speeds_of(edge); i++)
            if (!(edge->known >> i & 1)) x[edge->v + i] = own[i];
    }
    return LW_OK;
}
