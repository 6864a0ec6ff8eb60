/* rcr_singular_passage.c - the passage of the method rcr through a singular position: accelerations as limits
 * along the motion.
 *
 * At a distance delta (rad) from a singular position the rows determine the direction that is about to become
 * free only with a factor delta. A gap e of the loop makes the accelerations wrong by e / delta^3, where e is
 * at least rounding; and where the pivots vanish (rcr_solve.c) the accelerations are those of a mechanism
 * with one more degree of freedom. On the branch of the motion they are smooth. So, near a singular position,
 *
 *   q(s), v(s)   a curve through the state: q + s v in the joints of the loop, closed; v consistent there
 *   F(s)         speeds, accelerations and drive forces at q(s), v(s) under the forces of the state
 *   F(0)         by the polynomial through F(-10h) .. F(10h), s = 0 left out
 *
 * with h so large that the loop's joints move by 0.06 rad. The errors of rounding and of the polynomial are
 * then both about 1e-11. Any smooth curve on the branch is suitable, since its polynomial is evaluated at s =
 * 0. The forces are those of the state and need not be smooth.
 *
 * Whether the motion goes straight through is seen from the positions: a mechanism that only comes near, like
 * a parallelogram whose sides differ slightly, turns back, and q(0) of the polynomial is not that of the
 * state. Then nothing is changed.
 *
 * Source   docs/theory/rcr.md, 5, singular positions.
 * Cost     twenty projections and runs near singular positions; elsewhere a test of the pivots. Only create
 *          allocates.
 */
#include "formulations/rcr/rcr_parts.h"

#include <math.h>
#include <string.h>

enum { SIDES = 10 }; /* Pairs of samples. */
static const double distances[] = {0.06, 0.075, 0.045,
                                   0.1}; /* rad, from sample to sample: the first that is suitable is used. */
static const double passage = 1e-2;      /* Relative to the scale of a pivot: delta = 0.1. */
/* rad: a motion that ends within this distance may end in the singular position. */
static const double stopping = 4e-4;

bool lw_crossing_create(lw_rcr *m) {
    lw_crossing *c = &m->crossing;
    lw_arena *arena = m->loop_base.arena;
    const lw_model *model = m->loop_base.base.model;
    double **speeds[] = {&c->v, &c->vdot, &c->drive, &c->shift, &c->limit_v, &c->limit_vdot, &c->limit_drive};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++)
        *speeds[k] = LW_NEW(arena, double, model->nv + 1);
    c->q = LW_NEW(arena, double, model->nq + 1);
    c->limit_q = LW_NEW(arena, double, model->nq + 1);
    c->near = LW_NEW(arena, bool, m->loops->count + 1);
    c->narrow = 1;
    return !lw_arena_failed(arena);
}

void lw_crossing_forget(lw_rcr *m) {
    lw_crossing *c = &m->crossing;
    c->narrow = 1;
    c->reversed_at = -HUGE_VAL;
    c->reported = false;
}

/* --- how near ------------------------------------------------------------------------------------------ */

/* 1 / the smallest pivot of loop t in the last run, relative to its scale. */
static double largest_inverse(const lw_rcr_system *s, int t) {
    const int first = s->loops->loops[t].first, next = LW_ABREAST(s->awake[t]) + 1, rank = s->rank[t],
              *pivot = s->pivot + first;
    const double *inverse = s->L + s->loops->loops[t].block, *scale = s->scale + first;
    double largest = 0;
    for (int k = 0; k < rank; k++) {
        double x = inverse[next * k] * scale[pivot[k]];
        if (x > largest) largest = x;
    }
    return largest;
}

/* The smallest pivot of the last run with rows of the base, relative to its scale; its loop becomes the
 * narrowest. */
static double width_of(lw_rcr *m) {
    double most = 1;
    for (int t = 0; t < m->loops->count; t++) {
        double inverse = largest_inverse(m->system, t);
        if (inverse > most) most = inverse, m->crossing.narrowest = t;
    }
    return lw_rcr_rank(m) < m->generic ? 0 : 1 / most;
}

void lw_crossing_look(lw_rcr *m) {
    if (!m->owned) m->crossing.narrow = width_of(m); /* Otherwise rcr_rows.c has set it. */
}

bool lw_crossing_closes(lw_rcr *m, double t, const double *y) {
    /* Relative to the length of a link: rows that are redundant in a closed loop remain so up to a gap of
     * 1e-4. */
    const double wide_open = 3e-5;
    lw_crossing *c = &m->crossing;
    const lw_loop_method *loop_base = &m->loop_base;
    double open;
    if (loop_base->options.drift == LW_DRIFT_PROJECT) return true;
    lw_take_state(loop_base->base.model, loop_base->data, t, y, NULL);
    int row = lw_rcr_ask_positions(m, &open);
    bool passes = c->narrow < passage, gapes = m->fragile && open > wide_open * m->system->length;
    bool closes = passes || gapes;
    if (!(t > m->latest)) return closes; /* Nothing is reported between steps. */
    if (closes && !c->reported)
        lw_note(&loop_base->options, t, "closing", "loop of \"%s\": closed, it was open by %.2g; %s",
                lw_choice_closing(m->choice, passes ? c->narrowest : m->loops->loop_of_row[row]), open,
                passes ? "near a singular position a gap would decide which way it goes on"
                       : "its rows are redundant only as long as it is closed");
    c->reported = closes;
    return closes;
}

/* --- samples beside the state ------------------------------------------------------------------------- */

/* Copies the speeds x of the joints on the path of loop t into shift; returns the largest, as an angle. */
static double speed_on_path(lw_rcr *m, int t, const double *x) {
    const lw_choice *choice = m->choice;
    const lw_rcr_front *front = &choice->fronts[t];
    double largest = 0;
    for (int e = front->end; e < front->end + front->ends; e++)
        for (int k = choice->ends[e].step; k < choice->ends[e].step + choice->ends[e].steps; k++) {
            const lw_link *link = &choice->model->links[choice->steps[k].body];
            for (int speed = link->v; speed < link->v + link->joint.nv; speed++) {
                m->crossing.shift[speed] = x[speed];
                largest = fmax(largest, lw_rcr_rate(m, speed, x));
            }
        }
    return largest;
}

/* Computes the shift from sample to sample along x, in the loops that are near a singular position; returns
 * the largest rate of x there, as an angle. */
static double direct(lw_rcr *m, double distance, const double *x) {
    lw_crossing *c = &m->crossing;
    int nv = m->loop_base.base.model->nv;
    double fastest = 0;
    memset(c->shift, 0, (size_t)nv * sizeof *c->shift);
    for (int t = 0; t < m->loops->count; t++)
        if (c->near[t]) fastest = fmax(fastest, speed_on_path(m, t, x));
    for (int k = 0; k < nv && fastest > 0; k++) c->shift[k] *= distance / fastest;
    return fastest;
}

/* Positions of the state, moved by `steps` shifts and closed, into data; prescribed joints move along. */
static bool move(lw_rcr *m, double steps, lw_error *error) {
    const double closed = 1e-12; /* Relative to the length of a link. */
    const lw_model *model = m->loop_base.base.model;
    double left;
    lw_status status;
    memcpy(m->loop_base.data->q, m->crossing.q, (size_t)model->nq * sizeof *m->loop_base.data->q);
    lw_integrate_q(model, m->loop_base.data->q, m->crossing.shift, steps);
    lw_rcr_close(m, &left, &status, error);
    return status == LW_OK && left <= closed * m->system->length;
}

/* Makes the speeds of the state consistent at the sample and computes accelerations. Returns false if there
 * are none, or if the sample is near a singular position too. */
static bool run(lw_rcr *m, double width, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    const lw_crossing *c = &m->crossing;
    lw_data *data = m->loop_base.data;
    lw_subject subject = lw_rcr_in_motion(m);
    if (!model->force_count && !model->idle_count) subject.tau = m->zero;
    memcpy(data->v, c->v, (size_t)model->nv * sizeof *data->v);
    lw_rcr_evaluate(m, &subject, true);
    if (lw_rcr_smallest_motion(m, m->loop_base.defect, error) != LW_OK) return false;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    /* The accelerations of prescribed speeds. */
    memcpy(data->vdot, c->vdot, (size_t)model->nv * sizeof *data->vdot);
    lw_rcr_evaluate(m, &subject, false);
    if (lw_rcr_system_run(m->system, &subject, error) != LW_OK || lw_rcr_rank(m) < m->generic) return false;
    return !m->system->weak || width_of(m) >= 0.9 * width;
}

static void add(int count, double weight, const double *x, double *sum) {
    for (int k = 0; k < count; k++) sum[k] += weight * x[k];
}

/* F(0) into limit_*. Returns false if some sample fails, or is as near to a singular position as the
 * state. */
static bool extrapolate(lw_rcr *m, double width) {
    lw_crossing *c = &m->crossing;
    const lw_data *data = m->loop_base.data;
    int nq = m->loop_base.base.model->nq, nv = m->loop_base.base.model->nv;
    size_t speeds = (size_t)nv * sizeof(double);
    lw_error ignored;
    memset(c->limit_q, 0, (size_t)nq * sizeof *c->limit_q);
    memset(c->limit_v, 0, speeds), memset(c->limit_vdot, 0, speeds), memset(c->limit_drive, 0, speeds);
    double weight = (double)SIDES / (SIDES + 1); /* (-1)^(k+1) n!^2 / ((n - k)! (n + k)!) for sample k. */
    for (int sample = 1; sample <= SIDES; sample++) {
        for (int side = -1; side <= 1; side += 2) {
            if (!move(m, side * sample, &ignored) || !run(m, width, &ignored)) return false;
            add(nq, weight, data->q, c->limit_q);
            add(nv, weight, data->v, c->limit_v);
            add(nv, weight, data->vdot, c->limit_vdot);
            add(nv, weight, data->drive, c->limit_drive);
        }
        weight *= -(double)(SIDES - sample) / (SIDES + sample + 1);
    }
    return true;
}

/* --- the state itself ---------------------------------------------------------------------------------- */

static void keep(lw_rcr *m) {
    lw_crossing *c = &m->crossing;
    const lw_data *data = m->loop_base.data;
    size_t speeds = (size_t)m->loop_base.base.model->nv * sizeof(double);
    memcpy(c->q, data->q, (size_t)m->loop_base.base.model->nq * sizeof(double));
    memcpy(c->v, data->v, speeds), memcpy(c->vdot, data->vdot, speeds), memcpy(c->drive, data->drive, speeds);
}

static void put_back(lw_rcr *m, const double *v, const double *vdot, const double *drive) {
    lw_data *data = m->loop_base.data;
    size_t speeds = (size_t)m->loop_base.base.model->nv * sizeof(double);
    memcpy(data->q, m->crossing.q, (size_t)m->loop_base.base.model->nq * sizeof(double));
    memcpy(data->v, v, speeds), memcpy(data->vdot, vdot, speeds), memcpy(data->drive, drive, speeds);
}

/* Is q(0) the state? A loop that is open by e may be at a distance sqrt(e) from the branch. */
static bool straight(lw_rcr *m) {
    const double apart = 1e-6, share = 100; /* Relative to the length of a link, or in rad. */
    const lw_crossing *c = &m->crossing;
    const lw_model *model = m->loop_base.base.model;
    double open, most = 0, length = m->system->length;
    memcpy(m->loop_base.data->q, c->q, (size_t)model->nq * sizeof *c->q);
    lw_rcr_ask_positions(m, &open);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        int quaternion = lw_joint_quaternion(link->joint.type);
        if (m->loops->segment_start[i] == m->loops->segment_start[i + 1]) continue;
        for (int k = 0; k < link->joint.nq; k++) {
            bool turns = quaternion < 0 ? lw_joint_speed_turns(link->joint.type, k) : k >= quaternion;
            double apart_k = fabs(c->limit_q[link->q + k] - c->q[link->q + k]);
            most = fmax(most, turns ? apart_k : apart_k / length);
        }
    }
    return most * most <= apart * apart + share * open / length;
}

void lw_crossing_limit(lw_rcr *m, double t) {
    lw_crossing *c = &m->crossing;
    if (!m->owned || !c->within) return;
    keep(m);
    double acceleration = direct(m, 1, c->vdot), speed = direct(m, 1, c->v);
    /* The continuation is unknown (rcr_singular.c). */
    if (speed * speed <= 2 * stopping * acceleration) return;
    const lw_subject subject = lw_rcr_at_rest(m);
    const int narrowest = c->narrowest;
    lw_error ignored;
    lw_rcr_system_select(m->system, &m->base);
    lw_rcr_evaluate(m, &subject, false);
    memset(m->left, 0, (size_t)m->loop_base.rows->count * sizeof *m->left);
    bool known = false, fine = lw_rcr_smallest_motion(m, m->left, &ignored) == LW_OK;
    const double width = width_of(m);
    for (size_t k = 0; k < sizeof distances / sizeof *distances && fine && !known; k++) {
        direct(m, distances[k], c->v);
        known = extrapolate(m, width);
    }
    c->narrowest = narrowest;
    bool passes = known && straight(m);
    if (known && !passes && !(c->narrow > 0)) c->reversed_at = t, c->reversing_loop = c->narrowest;
    if (passes)
        put_back(m, c->limit_v, c->limit_vdot, c->limit_drive);
    else
        put_back(m, c->v, c->vdot, c->drive);
}

bool lw_crossing_reverses(const lw_rcr *m, double t) {
    return m->crossing.reversed_at > m->latest && m->crossing.reversed_at <= t;
}
