/* closing_positions.c - the steps of a plan at position level: the pose of a group in another.
 *
 * In a ring of groups 1, 2, 3 let A be the point of edge 0 (between 1 and 2), B that of edge 1 (2 and 3), C
 * that of edge 2 (3 and 1); an index names the group in whose frame a point is expressed. The closed formulas
 * give B_1 from lengths; the pose of a group then follows from two of its points. Perpendicular to a plane
 * nothing needs to be solved: turns keep the points of both bodies together.
 *
 * Branch   every step with two solutions has a signed measure h, the height of the triangle or half the
 *          chord, whose sign is kept. Where |h| is small both solutions are close to each other, and a guess
 *          that is clearly closer to the other one is followed (closing.h).
 * Source   docs/theory/closing.md, sections 2 to 4.
 * Cost     O(1) per step, and the merging of groups.
 */
#include "formulations/partition/closing_dyads.h"
#include "formulations/partition/closing_parts.h"
#include "model/coupling.h"
#include "model/joint.h"

/* --- geometry of a step ------------------------------------------------------------------------------- */

typedef struct ring {
    lw_pose start[3], end[3]; /* frames of edge k on the groups before and after it */
    double n[3][3];           /* direction of the plane in the group before edge k */
} ring;

/* Computes the frames of the first `edges` edges in the frames of their groups; for rods, in that of the
 * rod. */
static void look(const lw_closing *c, const lw_closing_step *s, const lw_pose *poses, int edges, ring *r) {
    for (int k = 0; k < edges; k++) {
        lw_closing_end(c, poses, s->edges[k], s->from[k], &r->start[k]);
        lw_closing_end(c, poses, s->edges[k], 1 - s->from[k], &r->end[k]);
    }
}

static void directions(const lw_closing *c, const lw_closing_step *s, const lw_pose *poses, int edges,
                       ring *r) {
    for (int k = 0; k < edges; k++) {
        int before = (k + edges - 1) % edges;
        int node = c->edges[s->edges[k]].nodes[s->from[k]];
        if (c->edges[s->edges[k]].kind == LW_EDGE_BALL)
            node = c->edges[s->edges[before]].nodes[1 - s->from[before]];
        lw_m3_mul_v(poses[node].R, lw_closing_normal(c, s->plane, node), r->n[k]);
    }
}

/* b - a without its part along n */
static void across(const double n[3], const double a[3], const double b[3], double out[3]) {
    lw_v3_sub(b, a, out);
    lw_v3_axpy(-lw_v3_dot(out, n), n, out);
}

/* Computes the direction of a slide in the sense of the ring, in the frame of the group before it. */
static void slide_direction(const lw_closing *c, const lw_closing_step *s, int k, const ring *r,
                            double e[3]) {
    lw_m3_mul_v(r->start[k].R, c->edges[s->edges[k]].axis, e);
    for (int i = 0; i < 3 && s->from[k] == 1; i++) e[i] = -e[i];
}

/* Computes the pose of the group behind edge k, a slide at zero, in the frame of the group before it. */
static void slide_pose(const ring *r, int k, lw_pose *T) {
    lw_pose inverse;
    lw_pose_invert(r->end[k].R, r->end[k].p, inverse.R, inverse.p);
    lw_pose_compose(r->start[k].R, r->start[k].p, inverse.R, inverse.p, T->R, T->p);
}

/* Sets T->p so that point b of the inner frame coincides with point a of the outer. */
static void pin(const double a[3], const double b[3], lw_pose *T) {
    double turned[3];
    lw_m3_mul_v(T->R, b, turned);
    lw_v3_sub(a, turned, T->p);
}

/* --- branches ----------------------------------------------------------------------------------------- */

double lw_closing_measure(const lw_closing *c, const lw_closing_step *s) {
    ring r;
    double d[3], b[3], e[3], cross[3];
    const lw_closing_edge *first = &c->edges[s->edges[0]];
    if (s->kind == LW_STEP_CARDAN) {
        const lw_pose *middle = &c->world[c->edges[first->first_part].nodes[1]];
        look(c, s, c->world, 2, &r);
        lw_v3_sub(r.start[1].p, r.start[0].p, d); /* vector from the universal joint to the ball */
        return middle->R[2] * d[0] + middle->R[5] * d[1] + middle->R[8] * d[2];
    }
    look(c, s, c->world, 3, &r);
    if (first->kind == LW_EDGE_SLIDE) { /* The step is PRR, or a rod with a slide. */
        slide_direction(c, s, 0, &r, e);
        lw_v3_sub(r.start[1].p, r.end[2].p, d);
        return lw_v3_dot(d, e);
    }
    if (s->kind == LW_STEP_ROD) {
        lw_m3_mul_v(r.start[0].R, first->axis, r.n[0]);
        across(r.n[0], r.start[0].p, r.end[2].p, d);
        across(r.n[0], r.start[0].p, r.start[1].p, b);
    } else {
        directions(c, s, c->world, 3, &r);
        across(r.n[0], r.start[0].p, r.end[2].p, d);
        for (int k = 0; k < 3; k++) e[k] = 0.5 * (r.start[1].p[k] + r.end[1].p[k]);
        across(r.n[0], r.start[0].p, e, b);
    }
    lw_v3_cross(d, b, cross);
    return lw_v3_dot(cross, r.n[0]) / lw_v3_norm(d);
}

double lw_closing_quality(const lw_closing *c, const lw_closing_step *s) {
    ring r;
    double ab[3], ac[3], bc[3], h;
    if (s->kind != LW_STEP_RRR && s->kind != LW_STEP_PRR) return 1;
    look(c, s, c->world, 3, &r);
    directions(c, s, c->world, 3, &r);
    across(r.n[0], r.start[0].p, r.start[1].p, ab);
    across(r.n[0], r.start[0].p, r.end[2].p, ac);
    across(r.n[0], r.start[1].p, r.end[2].p, bc);
    h = fabs(lw_closing_measure(c, s));
    if (s->kind == LW_STEP_RRR) h *= lw_v3_norm(ac) / lw_v3_norm(ab);
    return h / lw_v3_norm(bc);
}

/* The sign of the solution to take, where h >= 0 is the measure of both solutions, relative to `size`. */
static double branch(lw_closing *c, lw_closing_step *s, double h, double size) {
    const double near = 0.1, clearly = 0.25;
    if (h < near * size) {
        if (!c->guess_has_poses) lw_closing_poses(c, c->trial);
        c->guess_has_poses = true;
        double guess = lw_closing_measure(c, s);
        if (fabs(guess + s->branch * h) < clearly * fabs(guess - s->branch * h)) s->branch = -s->branch;
    }
    return s->branch;
}

/* --- joining ------------------------------------------------------------------------------------------ */

/* Merges groups 2 and, unless T13 is NULL, 3 into group 1, which the nodes identify. */
static void join(lw_closing *c, int one, int two, const lw_pose *T12, int three, const lw_pose *T13) {
    lw_pose before = c->pose[one], inverse, moved, T;
    lw_closing_join(c, one, two, T12);
    if (!T13) return;
    lw_pose_invert(before.R, before.p, inverse.R, inverse.p);
    lw_pose_compose(c->pose[one].R, c->pose[one].p, inverse.R, inverse.p, moved.R, moved.p);
    lw_pose_compose(moved.R, moved.p, T13->R, T13->p, T.R, T.p);
    lw_closing_join(c, one, three, &T);
}

static int node_before(const lw_closing *c, const lw_closing_step *s, int k) {
    return c->edges[s->edges[k]].nodes[s->from[k]];
}

/* --- steps -------------------------------------------------------------------------------------------- */

/* Merges the groups at the ends of an edge, whose coordinates are in trial. */
static void by_coordinates(lw_closing *c, int e) {
    const lw_closing_edge *edge = &c->edges[e];
    lw_pose near, far, inverse, relative, outer, T;
    lw_closing_end(c, c->pose, e, 0, &near);
    lw_closing_end(c, c->pose, e, 1, &far);
    lw_closing_edge_pose(edge, edge->q >= 0 ? c->trial + edge->q : NULL, &relative);
    lw_pose_compose(near.R, near.p, relative.R, relative.p, outer.R, outer.p);
    lw_pose_invert(far.R, far.p, inverse.R, inverse.p);
    lw_pose_compose(outer.R, outer.p, inverse.R, inverse.p, T.R, T.p);
    lw_closing_join(c, edge->nodes[0], edge->nodes[1], &T);
}

/* Writes the coordinates of an edge within a group into trial. */
static void read_coordinates(lw_closing *c, int e) {
    lw_pose near, far, inverse, relative;
    lw_closing_end(c, c->pose, e, 0, &near);
    lw_closing_end(c, c->pose, e, 1, &far);
    lw_pose_invert(near.R, near.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, far.R, far.p, relative.R, relative.p);
    lw_closing_edge_fit(&c->edges[e], &relative, c->trial + c->edges[e].q);
}

static void coupled(lw_closing *c, const lw_closing_step *s) {
    const lw_constraint *constraint = &c->model->constraints[s->edges[1]];
    double sum = constraint->offset;
    for (int k = 0; k < constraint->terms; k++) {
        if (k == s->term) continue;
        int e = c->edge_of_speed[constraint->speeds[k]];
        if (!c->known[constraint->speeds[k]]) read_coordinates(c, e);
        sum -= lw_coupling_term(constraint, k, c->trial[constraint->coordinates[k]]).value;
    }
    c->trial[constraint->coordinates[s->term]] = lw_coupling_solve(constraint, s->term, sum);
    by_coordinates(c, s->edges[0]);
}

/* Solves a joint of several coordinates between nodes of one group. */
static void fit(lw_closing *c, const lw_closing_step *s) {
    const lw_closing_chain *chain = &c->chains[s->edges[0]];
    const lw_joint_info *info = &c->model->joints[chain->joint].info;
    double own[LW_JOINT_MAX_Q];
    memcpy(own, c->trial + info->q, (size_t)info->q_count * sizeof *own);
    lw_pose a, b, inverse, relative;
    int last = chain->first + chain->count - 1;
    lw_closing_end(c, c->pose, chain->first, 0, &a);
    lw_closing_end(c, c->pose, last, 1, &b);
    lw_pose_invert(a.R, a.p, inverse.R, inverse.p);
    lw_pose_compose(inverse.R, inverse.p, b.R, b.p, relative.R, relative.p);
    lw_joint_fit(&c->model->joints[chain->joint].joint, relative.R, relative.p, own);
    memcpy(c->trial + info->q, own, (size_t)info->q_count * sizeof *own);
    for (int e = chain->first; e < last; e++) by_coordinates(c, e);
}

static bool rrr(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double d1[3], r2[3], r3[3], up[3], to[3], b[3], cosine, sine;
    lw_pose T12, T13;
    look(c, s, c->pose, 3, &r);
    directions(c, s, c->pose, 3, &r);
    const double *A1 = r.start[0].p, *A2 = r.end[0].p, *B2 = r.start[1].p, *B3 = r.end[1].p,
                 *C3 = r.start[2].p, *C1 = r.end[2].p;
    across(r.n[0], A1, C1, d1);
    across(r.n[1], A2, B2, r2);
    across(r.n[2], C3, B3, r3);
    double base = lw_v3_norm(d1), length = lw_v3_norm(r2);
    if (!lw_dyad_triangle(base, length, lw_v3_norm(r3), &cosine, &sine, gap)) return false;
    sine *= branch(c, s, sine * length, length);
    lw_v3_cross(r.n[0], d1, up);
    for (int k = 0; k < 3; k++) {
        to[k] = length * (cosine * d1[k] + sine * up[k]) / base; /* A1 to B1 */
        b[k] = to[k] - d1[k];                                    /* C1 to B1 */
    }
    if (!(lw_v3_norm(b) > 0)) return false;
    lw_dyad_turn(r.n[0], to, r.n[1], r2, T12.R);
    pin(A1, A2, &T12);
    lw_dyad_turn(r.n[0], b, r.n[2], r3, T13.R);
    pin(C1, C3, &T13);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T12, node_before(c, s, 2), &T13);
    return true;
}

static bool prr(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double e[3], r3[3], b[3], w[3], root;
    lw_pose T12, T13;
    look(c, s, c->pose, 3, &r);
    directions(c, s, c->pose, 3, &r);
    slide_direction(c, s, 0, &r, e);
    slide_pose(&r, 0, &T12);
    lw_pose_point(T12.R, T12.p, r.start[1].p, b); /* B_1 with the slide at zero */
    across(r.n[0], b, r.end[2].p, w);
    across(r.n[2], r.start[2].p, r.end[1].p, r3);
    double along = lw_v3_dot(w, e), length = lw_v3_norm(r3);
    for (int k = 0; k < 3; k++) b[k] = w[k] - along * e[k];
    if (!lw_dyad_chord(length, lw_v3_norm(b), &root, gap)) return false;
    double slide = along + branch(c, s, root, length) * root;
    lw_v3_axpy(slide, e, T12.p);
    for (int k = 0; k < 3; k++) b[k] = slide * e[k] - w[k]; /* C1 to B1 */
    if (!(lw_v3_norm(b) > 0)) return false;
    lw_dyad_turn(r.n[0], b, r.n[2], r3, T13.R);
    pin(r.end[2].p, r.start[2].p, &T13);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T12, node_before(c, s, 2), &T13);
    return true;
}

/* Computes the lengths of two slides along the unit vectors e and f with x e + y f = w, from the part g of f
 * perpendicular to e; returns false if they are parallel to 1e-9. */
static bool two_slides(const double e[3], const double f[3], const double w[3], double *x, double *y) {
    double g[3], along = lw_v3_dot(e, f);
    lw_v3_copy(f, g);
    lw_v3_axpy(-along, e, g);
    lw_v3_axpy(-lw_v3_dot(e, g), e, g); /* repeated, since the difference may be small */
    double square = lw_v3_dot(g, g);
    if (!(square > 1e-18)) return false;
    *y = lw_v3_dot(g, w) / square;
    *x = lw_v3_dot(e, w) - along * *y;
    return true;
}

static bool ppr(lw_closing *c, lw_closing_step *s) {
    ring r;
    double e[3], f2[3], f[3], at[3], w[3], x, y;
    lw_pose T12, T23, T13;
    look(c, s, c->pose, 3, &r);
    directions(c, s, c->pose, 3, &r);
    slide_direction(c, s, 0, &r, e);
    slide_direction(c, s, 1, &r, f2);
    slide_pose(&r, 0, &T12);
    slide_pose(&r, 1, &T23);
    lw_m3_mul_v(T12.R, f2, f);
    lw_pose_compose(T12.R, T12.p, T23.R, T23.p, T13.R, T13.p);
    lw_pose_point(T13.R, T13.p, r.start[2].p, at); /* C_1 of group 3 with both slides at zero */
    across(r.n[0], at, r.end[2].p, w);
    if (!two_slides(e, f, w, &x, &y)) return false;
    lw_v3_axpy(x, e, T12.p);
    lw_v3_axpy(x, e, T13.p);
    lw_v3_axpy(y, f, T13.p);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T12, node_before(c, s, 2), &T13);
    return true;
}

static bool is_closed(const lw_closing *c, double off, double *gap) {
    *gap = fabs(off);
    return *gap <= 1e-9 * c->length; /* A redundant closure may be as inaccurate as an assembled one. */
}

static bool rr(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double r1[3], r2[3];
    lw_pose T;
    look(c, s, c->pose, 2, &r);
    directions(c, s, c->pose, 2, &r);
    across(r.n[0], r.start[0].p, r.end[1].p, r1);
    across(r.n[1], r.end[0].p, r.start[1].p, r2);
    *gap = 0;
    if (!(lw_v3_norm(r1) > 0) || !(lw_v3_norm(r2) > 0)) return false;
    if (!is_closed(c, lw_v3_norm(r1) - lw_v3_norm(r2), gap)) return false;
    lw_dyad_turn(r.n[0], r1, r.n[1], r2, T.R);
    pin(r.start[0].p, r.end[0].p, &T);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T, -1, NULL);
    return true;
}

static bool pr(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double e[3], at[3], w[3];
    lw_pose T;
    look(c, s, c->pose, 2, &r);
    directions(c, s, c->pose, 2, &r);
    slide_direction(c, s, 0, &r, e);
    slide_pose(&r, 0, &T);
    lw_pose_point(T.R, T.p, r.start[1].p, at);
    across(r.n[0], at, r.end[1].p, w);
    double along = lw_v3_dot(w, e);
    lw_v3_axpy(-along, e, w);
    if (!is_closed(c, lw_v3_norm(w), gap)) return false;
    lw_v3_axpy(along, e, T.p);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T, -1, NULL);
    return true;
}

static bool pp(lw_closing *c, lw_closing_step *s) {
    ring r;
    double e[3], f[3], f2[3], w[3], at[3], x, y;
    lw_pose T;
    look(c, s, c->pose, 2, &r);
    slide_direction(c, s, 0, &r, e);
    slide_direction(c, s, 1, &r, f2);
    slide_pose(&r, 0, &T);
    lw_m3_mul_v(T.R, f2, f);
    lw_pose_point(T.R, T.p, r.start[1].p, at); /* The second slide goes from here to r.end[1]. */
    lw_v3_sub(r.end[1].p, at, w);
    if (!two_slides(e, f, w, &x, &y)) return false;
    lw_v3_axpy(x, e, T.p);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T, -1, NULL);
    return true;
}

static bool rod(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double e[3], w[3], cosine, sine, root;
    lw_pose T;
    look(c, s, c->pose, 3, &r);
    const double *P2 = r.start[1].p, *Q1 = r.end[2].p;
    lw_v3_sub(r.end[1].p, r.start[2].p, w);
    double length = lw_v3_norm(w);
    if (c->edges[s->edges[0]].kind == LW_EDGE_SLIDE) {
        double at[3];
        slide_direction(c, s, 0, &r, e);
        slide_pose(&r, 0, &T);
        lw_pose_point(T.R, T.p, P2, at);
        lw_v3_sub(Q1, at, w);
        double along = lw_v3_dot(w, e);
        lw_v3_axpy(-along, e, w);
        if (!lw_dyad_chord(length, lw_v3_norm(w), &root, gap)) return false;
        lw_v3_axpy(along + branch(c, s, root, length) * root, e, T.p);
    } else {
        double n2[3], r1[3], r2[3], up[3];
        lw_m3_mul_v(r.start[0].R, c->edges[s->edges[0]].axis, e);
        lw_m3_mul_v(r.end[0].R, c->edges[s->edges[0]].axis, n2);
        across(e, r.start[0].p, Q1, r1);
        across(n2, r.end[0].p, P2, r2);
        double a = lw_v3_norm(r1), b = lw_v3_norm(r2), off;
        lw_v3_sub(Q1, r.start[0].p, w);
        double height = lw_v3_dot(w, e);
        lw_v3_sub(P2, r.end[0].p, w);
        height -= lw_v3_dot(w, n2);
        /* length of the rod perpendicular to the axis */
        if (!lw_dyad_chord(length, fabs(height), &off, gap)) return false;
        if (!lw_dyad_triangle(a, b, off, &cosine, &sine, gap)) return false;
        sine *= branch(c, s, sine * b, b);
        lw_v3_cross(e, r1, up);
        for (int k = 0; k < 3; k++) w[k] = cosine * r1[k] + sine * up[k];
        lw_dyad_turn(e, w, n2, r2, T.R);
        pin(r.start[0].p, r.end[0].p, &T);
    }
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T, -1, NULL);
    return true;
}

static bool spin(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double r1[3], r2[3], turned[3], R[9], G[9], swing[9];
    lw_pose T, relative;
    const lw_closing_edge *ball = &c->edges[s->edges[0]];
    look(c, s, c->pose, 2, &r);
    lw_v3_sub(r.end[1].p, r.start[0].p, r1);
    lw_v3_sub(r.start[1].p, r.end[0].p, r2);
    *gap = 0;
    if (!(lw_v3_norm(r1) > 0) || !(lw_v3_norm(r2) > 0)) return false;
    lw_closing_edge_pose(ball, c->trial + ball->q, &relative);
    if (s->from[0] == 1) {
        lw_m3_transpose(relative.R, R);
        memcpy(relative.R, R, sizeof R);
    }
    lw_m3_mul(r.start[0].R, relative.R, R); /* The guess is start relative end'. */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) G[3 * i + j] = lw_v3_dot(R + 3 * i, r.end[0].R + 3 * j);
    lw_m3_mul_v(G, r2, turned);
    lw_dyad_swing(turned, r1, swing);
    lw_m3_mul(swing, G, T.R);
    pin(r.start[0].p, r.end[0].p, &T);
    join(c, node_before(c, s, 0), node_before(c, s, 1), &T, -1, NULL);
    return true;
}

static bool cardan(lw_closing *c, lw_closing_step *s, double *gap) {
    ring r;
    double d1[3], d2[3], u[3], w[3], R[9], S[9];
    lw_pose T, half, turned, inverse;
    const lw_closing_edge *cross = &c->edges[s->edges[0]];
    int middle = c->edges[cross->first_part].nodes[1];
    look(c, s, c->pose, 2, &r);
    lw_v3_sub(r.end[1].p, r.start[0].p, d1); /* vectors to the ball, in groups 1 and 2 */
    lw_v3_sub(r.start[1].p, r.end[0].p, d2);
    bool forward = s->from[0] == 0; /* Group 1 has the joint's first frame. */
    lw_m3_tmul_v(r.start[0].R, d1, forward ? w : u);
    lw_m3_tmul_v(r.end[0].R, d2, forward ? u : w);
    double size = lw_v3_norm(u), h = hypot(w[1], w[2]);
    h = sqrt(fmax((h - fabs(u[1])) * (h + fabs(u[1])), 0));
    if (!lw_dyad_cardan(u, w, branch(c, s, h, size), R, S, gap)) return false;
    /* R is the rotation of the intermediate node in the first frame, S that of the second frame in the
     * intermediate node. */
    lw_pose whole = {{0}, {0, 0, 0}};
    lw_m3_mul(R, S, whole.R);
    const lw_pose *first = forward ? &r.start[0] : &r.end[0], *second = forward ? &r.end[0] : &r.start[0];
    lw_pose_compose(first->R, first->p, whole.R, whole.p, turned.R, turned.p);
    lw_pose_invert(second->R, second->p, inverse.R, inverse.p);
    lw_pose_compose(turned.R, turned.p, inverse.R, inverse.p, T.R,
                    T.p); /* pose of the group of `second` in that of `first` */
    lw_m3_mul(first->R, R, half.R);
    lw_v3_copy(first->p, half.p);
    /* The intermediate node is the only one of its group and has its frame. */
    join(c, cross->nodes[0], cross->nodes[1], &T, middle, &half);
    return true;
}

lw_status lw_closing_step_position(lw_closing *c, lw_closing_step *s, lw_error *error) {
    double gap = 0;
    bool closed = true;
    switch (s->kind) {
    case LW_STEP_GIVEN:
        by_coordinates(c, s->edges[0]);
        break;
    case LW_STEP_COUPLED:
        coupled(c, s);
        break;
    case LW_STEP_FIT:
        fit(c, s);
        break;
    case LW_STEP_RRR:
        closed = rrr(c, s, &gap);
        break;
    case LW_STEP_PRR:
        closed = prr(c, s, &gap);
        break;
    case LW_STEP_PPR:
        closed = ppr(c, s);
        break;
    case LW_STEP_RR:
        closed = rr(c, s, &gap);
        break;
    case LW_STEP_PR:
        closed = pr(c, s, &gap);
        break;
    case LW_STEP_PP:
        closed = pp(c, s);
        break;
    case LW_STEP_ROD:
        closed = rod(c, s, &gap);
        break;
    case LW_STEP_SPIN:
        closed = spin(c, s, &gap);
        break;
    case LW_STEP_CARDAN:
        closed = cardan(c, s, &gap);
        break;
    case LW_STEP_NEWTON:
        break;
    }
    return closed ? LW_OK : lw_closing_dead(c, s, gap, error);
}

void lw_closing_read(lw_closing *c) {
    for (int k = 0; k < c->walk_count; k++) {
        const lw_closing_edge *edge = &c->edges[c->walk[k]];
        bool all = edge->known == (edge->kind == LW_EDGE_BALL ? 7u : 1u);
        if (edge->v >= 0 && !all && c->group[edge->nodes[0]] == c->group[edge->nodes[1]])
            read_coordinates(c, c->walk[k]);
    }
}
