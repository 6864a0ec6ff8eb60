/* director_reactions.c - joint reactions from the multipliers of a step.
 *
 * A row with multiplier lambda acts on its bodies with -lambda D', an element with force f against a measure with -f D'; P_int(qm)' makes
 * wrenches of these twelve components, at the centre of mass. What a joint transmits to its second body is the sum over
 * its own rows and coordinates, at its point there. All of this belongs to the middle of the step; at its end the straight line
 * through the middles of the last two steps is right to O(h^2).
 *
 * Source   Betsch and Leyendecker (2006), eq 10; docs/theory/director.md, 8.
 * Cost     O(rows + joints), no allocation.
 */
#include "formulations/director.h"

#include <math.h>
#include <string.h>

/* Adds what a measure with force f does to the second body of a joint: (force; torque about its centre). */
static void add_measure(const lw_director *d, int joint, const lw_measure *m, double f, double *wrench) {
    int second = d->model->joints[joint].info.bodies[1], side = m->bodies[1] == second;
    double own[6];
    lw_director_wrench(d->qm + 12 * second, m->D + 12 * side, own);
    lw_v6_axpy(-f, own, wrench);
}

static void add_coordinates(const lw_director *d, int joint, const int *coordinates, double *wrench) {
    for (int k = 0; k < d->model->joints[joint].joint.nq; k++)
        if (coordinates[k] >= 0) {
            const lw_measure *m = &d->measures[coordinates[k]];
            if (m->element != 0) add_measure(d, joint, m, m->element, wrench);
        }
}

void lw_director_keep_reactions(lw_director *d) {
    const lw_model *model = d->model;
    double *now = d->reactions[1];
    d->reactions[1] = d->reactions[0], d->reactions[0] = now;
    d->reaction_time[1] = d->reaction_time[0], d->reaction_time[0] = d->t0 + 0.5 * d->h;
    if (d->reaction_count < 2) d->reaction_count++;
    memset(now, 0, 6 * (size_t)model->joint_count * sizeof *now);
    for (int r = 0; r < d->row_count; r++) {
        const lw_director_row *row = &d->rows[r];
        if (row->joint < 0) continue;
        for (int k = row->term; k < row->term + row->terms; k++)
            add_measure(d, row->joint, &d->measures[d->terms[k].measure], row->lambda * d->terms[k].factor,
                        now + 6 * row->joint);
    }
    for (int i = 1; i <= d->n; i++) {
        int joint = model->bodies[i].joint_index;
        add_coordinates(d, joint, d->coordinate + model->joints[joint].info.q, now + 6 * joint);
    }
    for (int k = 0; k < model->closure_count; k++)
        add_coordinates(d, model->closures[k], d->cut_coordinate + LW_JOINT_MAX_Q * k,
                        now + 6 * model->closures[k]);
    for (int j = 0; j < model->joint_count; j++) { /* from the centre to the joint */
        const lw_joint_entry *entry = &model->joints[j];
        int second = entry->info.bodies[1];
        double point[4], at[3], arm[3];
        lw_director_point(&d->bodies[second], entry->frames[1].p, point);
        lw_director_combine(point, d->qm + 12 * second, at);
        lw_v3_sub(d->qm + 12 * second, at, arm);
        lw_v3_add_cross(arm, now + 6 * j, now + 6 * j + 3);
        lw_v3_add(now + 6 * j + 3, d->joint_torque + 3 * j, now + 6 * j + 3);
    }
}

bool lw_director_reactions_at(const lw_director *d, double t, double *reactions) {
    size_t count = 6 * (size_t)d->model->joint_count;
    if (d->reaction_count == 0) return false;
    double apart = d->reaction_time[0] - d->reaction_time[1], share = 0;
    /* two that are far from t or from each other, as after a restart, say nothing about t */
    if (d->reaction_count == 2 && apart != 0) share = (t - d->reaction_time[0]) / apart;
    if (!(fabs(share) <= 1)) share = 0;
    for (size_t k = 0; k < count; k++)
        reactions[k] = d->reactions[0][k] + share * (d->reactions[0][k] - d->reactions[1][k]);
    return true;
}
