/* director_reactions.c - joint reactions from the multipliers of a step.
 *
 * A row with multiplier lambda acts on its bodies with -lambda D', an element with force f against a measure
 * with -f D'. P_int(qm)' turns these twelve components into a wrench at the centre of mass. A joint transmits
 * to its second body the sum over its own rows and coordinates, at its point there: a mean over the step.
 *
 * The rates v violate the hidden constraints by e with e_n+1 = -e_n + c h^2: a part that changes its sign in
 * every step, and so the multipliers have a part like e / h = O(h) that does. The mean of two steps of the
 * same length that follow each other is free of it and belongs to where they meet; the straight line through
 * the last two such means is right to O(h^2). Steps of different lengths would leave c (h_1^2 - h_2^2) / h.
 *
 * Source   Betsch and Leyendecker (2006), eq 10; docs/theory/director.md, 8 (the part that changes its sign
 *          is our observation).
 * Cost     O(rows + joints), no allocation.
 */
#include "formulations/director/director_parts.h"

#include <math.h>
#include <string.h>

/* Adds the wrench of a measure with force f on the second body of a joint: force, torque about its centre. */
static void add_measure(const lw_director *d, int joint, const lw_measure *m, double f, double *wrench) {
    int second = d->model->joints[joint].info.bodies[1], side = m->bodies[1] == second;
    double own[6];
    lw_director_wrench(d->step.qm + 12 * second, m->D + 12 * side, own);
    lw_v6_axpy(-f, own, wrench);
}

void lw_director_coordinate_loads(const lw_director *d, int joint, const int *coordinates, double *wrench) {
    for (int k = 0; k < d->model->joints[joint].joint.nq; k++)
        if (coordinates[k] >= 0) {
            const lw_measure *m = &d->measures[coordinates[k]];
            if (m->element != 0) add_measure(d, joint, m, m->element, wrench);
        }
}

/* The memory is that of the oldest step, or of the newest where several steps begin at the same time, as for
 * samples within a step. */
double *lw_director_reactions_room(lw_director *d) {
    lw_director_past *kept = d->history.kept, fresh = kept[LW_DIRECTOR_KEPT - 1];
    bool again = false;
    for (int k = 1; k < d->history.count; k++)
        again |= kept[0].begin == d->step.t0 && kept[k].begin == d->step.t0;
    if (!again) {
        memmove(kept + 1, kept, (LW_DIRECTOR_KEPT - 1) * sizeof *kept);
        kept[0] = fresh;
        if (d->history.count < LW_DIRECTOR_KEPT) d->history.count++;
    }
    kept[0].begin = d->step.t0, kept[0].h = d->step.h;
    return kept[0].reactions;
}

void lw_director_keep_reactions(lw_director *d) {
    const lw_model *model = d->model;
    double *now = lw_director_reactions_room(d);
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
        lw_director_coordinate_loads(d, joint, d->coordinate + model->joints[joint].info.q, now + 6 * joint);
    }
    for (int k = 0; k < model->closure_count; k++)
        lw_director_coordinate_loads(d, model->closures[k], d->cut_coordinate + LW_JOINT_MAX_Q * k,
                                     now + 6 * model->closures[k]);
    for (int j = 0; j < model->joint_count; j++) { /* Moves the wrenches from the centre to the joint. */
        const lw_joint_entry *entry = &model->joints[j];
        int second = entry->info.bodies[1];
        double point[4], at[3], arm[3];
        lw_director_point(&d->bodies[second], entry->frames[1].p, point);
        lw_director_combine(point, d->step.qm + 12 * second, at);
        lw_v3_sub(d->step.qm + 12 * second, at, arm);
        lw_v3_add_cross(arm, now + 6 * j, now + 6 * j + 3);
        lw_v3_add(now + 6 * j + 3, d->step.joint_torque + 3 * j, now + 6 * j + 3);
    }
}

/* The last step that ended where this one began and had the same length, or NULL. */
static const lw_director_past *twin(const lw_director *d, const lw_director_past *one) {
    const double near = 1e-4 * fabs(one->h);
    for (const lw_director_past *k = d->history.kept; k < d->history.kept + d->history.count; k++)
        if (fabs(k->begin + k->h - one->begin) <= near && fabs(k->h - one->h) <= near) return k;
    return NULL;
}

bool lw_director_reactions_at(const lw_director *d, double t, double *reactions) {
    size_t count = 6 * (size_t)d->model->joint_count;
    const lw_director_past *one[2] = {d->history.kept, d->history.kept}, *two[2] = {NULL, NULL};
    int pairs = 0;
    if (d->history.count == 0) return false;
    for (const lw_director_past *k = d->history.kept; pairs < 2 && k < d->history.kept + d->history.count;
         k++) {
        const lw_director_past *other = twin(d, k);
        if (!other || (pairs == 1 && fabs(k->begin - one[0]->begin) < 0.1 * fabs(k->h))) continue;
        one[pairs] = k, two[pairs++] = other;
    }
    double slope = pairs == 2 ? (t - one[0]->begin) / (one[0]->begin - one[1]->begin) : 0;
    if (!(fabs(slope) <= 8)) slope = 0; /* The line is not trusted so far away. */
    for (size_t k = 0; k < count; k++) {
        double mean[2];
        for (int i = 0; i < 2; i++) /* The first step has no other to be averaged with. */
            mean[i] = two[i] ? 0.5 * (one[i]->reactions[k] + two[i]->reactions[k]) : one[i]->reactions[k];
        reactions[k] = mean[0] + slope * (mean[0] - mean[1]);
    }
    return true;
}
