/* rcr_singular.c - simulations by the method rcr that start or come to rest in a singular position, from
 * which more than one motion leads out.
 *
 * With x the multipliers that are new there, G'x = 0, and g the velocity terms, G vdot = g, the velocities of
 * a motion that can continue satisfy x'g(v) = 0. A start with other velocities is refused; so is a start at
 * rest whose accelerations a, with one more degree of freedom, have x'g(a) != 0, and a simulation that comes
 * to rest in this way. Every message names the joint or constraint that closes the loop.
 *
 * Simulations by other methods ask here, too, before their first step, because their equations, whose rows
 * are dependent there, take accelerations with which no motion leads out, and rounding then decides; and
 * later, as they cannot pass through, whether they have come to such a position.
 *
 * Source   docs/theory/rcr.md, 5, singular positions.
 * Cost     a few calls at the start, and after steps that end in a singular position.
 */
#include "formulations/rcr/rcr_parts.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Relative accelerations: no motion continues with a larger error at the start. */
static const double fitting = 1e-4;
static const double noticeable = 1e-9; /* Relative to the largest accelerations: smaller ones are rounding. */
/* Relative to the largest accelerations of the simulation: with less the mechanism stays where it is. */
static const double settling = 1e-2;
/* rad: positions nearer to a singular one cannot be distinguished from it (rcr_solve.c: vanished). */
static const double near = 1e-4;

/* Products of velocities count, too: those of a balanced rotor cancel, and leave their rounding. */
static double largest_acceleration(const lw_rcr *m) {
    const lw_model *model = m->loop_base.base.model;
    const lw_data *data = m->loop_base.data;
    double largest = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < 6; k++) largest = fmax(largest, fabs(data->nodes[i].a[k]));
        for (int k = 0; k < link->joint.nv; k++)
            if (lw_joint_speed_turns(link->joint.type, k))
                largest = fmax(largest, data->v[link->v + k] * data->v[link->v + k]);
    }
    return largest;
}

/* The loop that the accelerations of the last run do not satisfy, or -1. Dependent rows are satisfied
 * together with the others, but in a singular position only if the velocities are correct to second order
 * too. */
static int unsatisfied(lw_rcr *m) {
    const lw_rows *rows = m->loop_base.rows;
    const lw_data *data = m->loop_base.data;
    double largest = largest_acceleration(m), worst = fitting;
    int found = -1;
    lw_loop_method_rows(&m->loop_base);
    lw_loop_method_bias(&m->loop_base, m->bias);
    for (int t = 0; t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        double size = 0, most = 0;
        for (int r = loop->first; r < loop->first + loop->count; r++) {
            const lw_row *row = &rows->rows[r];
            double sum = m->bias[r];
            size = fmax(size, fabs(sum));
            for (int b = row->block; b < row->block + row->count; b++) {
                int body = rows->body[b];
                const double *h = rows->H + 6 * b, *a = data->nodes[body].a, *R = data->world[body].R;
                double alpha[3], point[3], arm[3];
                lw_m3_mul_v(R, a, alpha);
                lw_m3_mul_v(R, a + 3, point);
                lw_v3_sub(rows->bodies[body].r, data->world[body].p, arm);
                lw_v3_add_cross(alpha, arm, point);
                double turning = lw_v3_dot(h, alpha), moving = lw_v3_dot(h + 3, point);
                size = fmax(size, fmax(fabs(turning), fabs(moving)));
                sum += turning + moving;
            }
            most = fmax(most, fabs(sum));
        }
        if (most > worst * size && most > noticeable * largest) worst = most / size, found = t;
    }
    return found;
}

/* Fails because the loop "starts in", "comes to rest in" or "turns away from" a singular position. */
static lw_status singular_position(const lw_rcr *m, int loop, const char *how, const char *remedy,
                                   const char *what, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    const lw_row *row = &m->loop_base.rows->rows[m->loops->loops[loop].first];
    bool joint = row->joint >= 0;
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file,
                      joint ? model->joints[row->joint].place : model->constraints[row->constraint].place,
                      joint ? "joint" : "constraint",
                      joint ? model->joints[row->joint].name : model->constraints[row->constraint].name,
                      remedy, "the loop that it closes %s a singular position, %s", how, what);
}

/* The largest rate of x in a loop, as an angle. */
static double loop_rate(const lw_rcr *m, int loop, const double *x) {
    const lw_rcr_front *front = &m->choice->fronts[loop];
    double largest = 0;
    for (int k = front->path_start; k < front->path_start + front->path_length; k++)
        largest = fmax(largest, lw_rcr_rate(m, m->choice->path_speeds[k].speed, x));
    return largest;
}

/* Among loops at rest in a singular position, with the accelerations in data: the loop that cannot move along
 * these, or -1. A loop is at rest if its speeds v and accelerations a satisfy v^2 <= slack + reach a, a >
 * least; other parts may move. The state is unchanged. */
static lw_status undecided(lw_rcr *m, double t, double slack, double reach, double least, int *loop,
                           lw_error *error) {
    const double fast = 100; /* So fast that gravity and other forces do not matter. */
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    double *v = m->loop_base.v, fastest = 0;
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    memset(data->v, 0, (size_t)model->nv * sizeof *v);
    for (int k = 0; k < m->loops->count; k++) {
        double speed = loop_rate(m, k, v), a = loop_rate(m, k, data->vdot);
        if (speed * speed > slack + reach * a || !(a > least)) continue;
        const lw_rcr_front *front = &m->choice->fronts[k];
        for (int n = front->path_start; n < front->path_start + front->path_length; n++) {
            int moved = m->choice->path_speeds[n].speed;
            data->v[moved] = data->vdot[moved];
            fastest = fmax(fastest, fabs(data->vdot[moved]));
        }
    }
    *loop = -1;
    lw_status status = LW_OK;
    if (fastest > 0) {
        for (int k = 0; k < model->nv; k++) data->v[k] *= fast / fastest;
        status = lw_rcr_run(m, t, NULL, error);
        if (status == LW_OK) *loop = unsatisfied(m);
    }
    memcpy(data->v, v, (size_t)model->nv * sizeof *v);
    return status;
}

/* Fails if no motion leads out of the state in data, or more than one; *told: this is the reason, and not
 * that the equations have no solution. */
static lw_status look_at_start(lw_rcr *m, double t, bool *told, lw_error *error) {
    const double gap = 1e-6; /* m, rad. */
    *told = false;
    lw_status status = lw_rcr_run(m, t, NULL, error);
    if (status != LW_OK || m->loop_base.rows->count == 0) return status;
    /* With as many independent rows as anywhere they miss rounding only, where forces are in balance. */
    if (m->based && !(m->owned && m->crossing.narrow == 0)) return LW_OK;
    int loop = unsatisfied(m);
    for (int r = 0; r < m->loop_base.rows->count; r++) /* Gaps have other consequences. */
        if (fabs(m->loop_base.rows->phi[r]) > gap) return LW_OK;
    *told = loop >= 0;
    if (loop >= 0)
        return singular_position(m, loop, "starts in",
                                 "give velocities with which it can go on, or start beside this position",
                                 "and its velocities fit none of the motions that lead out of it", error);
    const double slight = noticeable * largest_acceleration(m);
    status = undecided(m, t, slight, 0, slight, &loop, error);
    if (status != LW_OK || loop < 0) return status;
    *told = true;
    return singular_position(m, loop, "starts in", "give velocities, or start beside this position",
                             "and more than one motion leads out of it: which one is not determined at rest",
                             error);
}

lw_status lw_rcr_look_at_start(lw_rcr *m, double t, lw_error *error) {
    bool told;
    return look_at_start(m, t, &told, error);
}

lw_status lw_rcr_leads_out(lw_method *base, double t, const double *q, const double *v, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    lw_error reason;
    bool told;
    lw_take_state(base->model, m->loop_base.data, t, q, v);
    lw_status status = look_at_start(m, t, &told, &reason);
    if (!told) return LW_OK;
    if (error) *error = reason;
    return status;
}

lw_status lw_rcr_look_at_rest(lw_rcr *m, double t, lw_error *error) {
    lw_status status = lw_rcr_run(m, t, NULL, error);
    if (status != LW_OK) return status;
    int loop;
    status = undecided(m, t, 0, 2 * near, settling * m->fastest, &loop, error);
    if (status != LW_OK || loop < 0) return status;
    char how[64];
    snprintf(how, sizeof how, "comes to rest at t = %.6g in", t);
    return singular_position(m, loop, how, "end the run before, or start with other velocities",
                             "and more than one motion leads out of it: which one is not determined", error);
}

lw_status lw_rcr_reverses(const lw_rcr *m, double t, lw_error *error) {
    char how[64];
    snprintf(how, sizeof how, "turns away at t = %.6g from", t);
    return singular_position(m, m->crossing.reversing_loop, how,
                             "give it lengths with which it goes straight through, or that differ from those "
                             "by 1e-7 of a link and more",
                             "at less than 1e-4 rad: rounding would decide how it continues", error);
}

/* Is a speed in the loop prescribed? Then the position may be a dead point, from which no motion
 * continues. */
static bool driven(const lw_rcr *m, int loop) {
    const lw_choice *choice = m->choice;
    const lw_rcr_front *front = &choice->fronts[loop];
    for (int e = front->end; e < front->end + front->ends; e++)
        for (int k = choice->ends[e].step; k < choice->ends[e].step + choice->ends[e].steps; k++)
            if (choice->model->links[choice->steps[k].body].prescribed) return true;
    return false;
}

lw_status lw_rcr_blocked(lw_method *base, double t, const double *q, const double *v, double step, bool stuck,
                         const char *method, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    double speed = 0;
    if (!m->based) return LW_OK;
    lw_take_state(base->model, m->loop_base.data, t, q, v);
    lw_rcr_own_rows(m);
    bool dead = driven(m, m->crossing.narrowest);
    if (m->crossing.narrow > 0 && !(stuck && m->crossing.within && !dead)) return LW_OK;
    for (int k = 0; k < m->loops->count; k++)
        if (m->crossing.near[k]) speed = fmax(speed, loop_rate(m, k, v));
    if (!(speed * step > near)) return LW_OK; /* It rests there. */
    char how[64], what[200];
    snprintf(how, sizeof how, "has come at t = %.6g to", t);
    snprintf(what, sizeof what, "where it could branch off%s: by method %s %s",
             dead ? " or, driven as it is, get no further" : "", method,
             stuck ? "steps become ever shorter there" : "rounding would decide how it continues");
    return singular_position(m, m->crossing.narrowest, how,
                             dead ? "method rcr passes such positions if the motion can continue"
                                  : "method rcr passes such positions",
                             what, error);
}
