/* closing_groups.c - groups of nodes that are rigid for given independent coordinates, and how they merge.
 *
 * A group is named after one of its nodes and has a frame of its own, in which the poses of its nodes are
 * given. When two groups merge, the smaller one is transformed to the frame of the larger: O(n log n) poses
 * for all merges of a plan.
 */
#include "formulations/partition/closing_parts.h"

void lw_closing_scatter(lw_closing *c) {
    for (int i = 0; i < c->nodes; i++) {
        c->group[i] = c->next[i] = i;
        c->size[i] = 1;
        lw_m3_identity(c->pose[i].R);
        lw_v3_set(c->pose[i].p, 0, 0, 0);
    }
}

void lw_closing_join(lw_closing *c, int a, int b, const lw_pose *T) {
    int keep = c->group[a], lose = c->group[b];
    if (keep == lose) return;
    lw_pose move = {{0}, {0}};
    if (T) move = *T;
    if (c->size[lose] > c->size[keep]) {
        int other = keep;
        keep = lose, lose = other;
        if (T) lw_pose_invert(T->R, T->p, move.R, move.p);
    }
    int node = lose;
    do {
        c->group[node] = keep;
        if (T) {
            lw_pose old = c->pose[node];
            lw_pose_compose(move.R, move.p, old.R, old.p, c->pose[node].R, c->pose[node].p);
        }
        node = c->next[node];
    } while (node != lose);
    c->size[keep] += c->size[lose];
    int after = c->next[keep];
    c->next[keep] = c->next[lose];
    c->next[lose] = after;
}

void lw_closing_end(const lw_closing *c, const lw_pose *poses, int edge, int side, lw_pose *out) {
    const lw_pose *node = &poses[c->edges[edge].nodes[side]], *end = &c->edges[edge].ends[side];
    lw_pose_compose(node->R, node->p, end->R, end->p, out->R, out->p);
}
