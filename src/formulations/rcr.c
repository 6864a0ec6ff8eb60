/* rcr.c - the formulation `rcr`: closed loops in O(n + m), joint coordinates.
 *
 *   given q, v, tau     find vdot with  M vdot + c = tau + G'lambda,  G vdot = g
 *
 * Loops are eliminated locally and recursively in the sweeps of the tree (sweeps.c). Velocities are eliminated exactly at every
 * evaluation: the dependent ones follow from the independent ones, which are chosen loop by loop with the projective criterion and
 * looked at after each step (rcr_choice.c). Where no choice serves, and at the end of each step, what they have against the rows is
 * taken off by the smallest change in the mass metric, which is one more run of the same sweeps; so are positions after each step,
 * unless --drift none. Rows found redundant are put to sleep: they cost nothing but a look at whether the accelerations still
 * satisfy them.
 *
 * Source   Anderson & Critchley (2003), eqs 33-80, accelerations in the dual form: rows instead of columns are eliminated;
 *          Blajer, Schiehlen & Schirm (1994), eq. 23 (docs/theory/rcr.md: the duality, any pattern of loops, the choice).
 * Cost     O(n + m) for loops of bounded width. No allocation but in create.
 * Limits   each joint of the tree must move some inertia.
 */
#include "formulations/closures.h"
#include "formulations/looped.h"
#include "formulations/rcr_choice.h"
#include "formulations/sweeps.h"
#include "formulations/tree.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct rcr_method {
    lw_looped looped;
    lw_ties *ties;
    lw_sweeps *sweeps;
    lw_closures *closures; /* NULL: rows.c is asked */
    lw_choice *choice;     /* of independent coordinates */
    bool asked;            /* for one, since the run began */
    bool doubt;            /* rows have woken up since the choice */
    double latest;         /* when the choice was looked at last */
    double *zero;          /* per speed */
    double *open;          /* 6 per joint: what redundancy leaves open */
    double *bias;          /* per row, by rows.c: what its products with the accelerations must balance */
    bool started;          /* the first state has been looked at */
    int rank;              /* independent rows, the most after any step: fewer mean a singular position */
    double fastest;        /* of the accelerations of the joints in the run, as angles */
    double tolerated;      /* by how much sleeping rows may be off until the step ends */
} rcr_method;

extern const lw_formulation lw_formulation_rcr;

/* Relative: */
static const double exact = 1e-13;     /* velocities: rounding */
static const double satisfied = 1e-9;  /* accelerations: a sleeping row that is off by more wakes up */
static const double fitting = 1e-4;    /* accelerations: no motion goes on with more at the start */
static const double noticeable = 1e-9; /* accelerations, of the largest: anything less is rounding */
static const double settling =
    1e-2; /* accelerations, of the largest in the run: with less it stays where it is */
static const double near =
    1e-4; /* rad: no nearer to a singular position is told from it (sweeps.c: vanished) */

/* --- rows at a state -------------------------------------------------------------------------------- */

static lw_subject at_rest(const rcr_method *m) {
    return (lw_subject){.v = m->zero, .tau = m->zero, .load = NULL, .gravity = false, .drive = NULL};
}

static lw_subject in_motion(const rcr_method *m) {
    const lw_data *data = m->looped.data;
    return (lw_subject){.v = data->v,
                        .tau = data->tau,
                        .load = m->looped.base.model->forces_need_world ? data->load : NULL,
                        .gravity = true,
                        .drive = m->looped.data->drive};
}

/* Wrenches of the rows that are awake on the bodies that they act on, from the rows' blocks. */
static void place_wrenches(rcr_method *m) {
    const lw_rows *rows = m->looped.rows;
    const lw_data *data = m->looped.data;
    lw_sweeps *s = m->sweeps;
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        for (int k = 0; k < s->awake[t]; k++) {
            const lw_row *row = &rows->rows[tie->first + s->row[tie->first + k]];
            for (int b = row->block; b < row->block + row->count; b++) {
                const lw_pose *world = &data->world[rows->body[b]];
                const double *h = rows->H + 6 * b;
                double arm[3], moment[3], *w = s->K + m->ties->place[b] + 6 * k;
                lw_v3_sub(rows->bodies[rows->body[b]].r, world->p, arm);
                lw_v3_cross(arm, h + 3, moment);
                lw_v3_add(moment, h, moment);
                lw_m3_tmul_v(world->R, moment, w);
                lw_m3_tmul_v(world->R, h + 3, w + 3);
            }
        }
    }
}

/* Rows of the state in data by rows.c; returns the relative velocity defect. */
static double ask_rows(rcr_method *m) {
    lw_looped_rows(&m->looped);
    lw_looped_bias(&m->looped, m->bias);
    place_wrenches(m);
    return lw_looped_velocity_defect(&m->looped);
}

/* The same for closures that hold points, after lw_sweeps_start; velocities only if asked for. Here l is filled as well. */
static double ask_closures(rcr_method *m, bool velocities) {
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    lw_sweeps *s = m->sweeps;
    double worst = 0, size = 0;
    lw_closures_move(model, data, velocities ? data->v : NULL, m->closures);
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        double nowhere[36];
        lw_closure_rows(m->closures, tie->closure, s->awake[t], s->row + tie->first,
                        tie->K_second >= 0 ? s->K + tie->K_second : nowhere,
                        tie->K_first >= 0 ? s->K + tie->K_first : nowhere, s->l + tie->first);
        if (!velocities) continue;
        double *defect = m->looped.defect + tie->first;
        worst = fmax(worst, lw_closure_velocity(data, m->closures, tie->closure, tie->count, defect, &size));
    }
    return size > 0 ? worst / size : 0;
}

/* Bias of the rows that are awake, in the order of their lists. */
static void list_bias(rcr_method *m, const double *bias) {
    lw_sweeps *s = m->sweeps;
    for (int t = 0; t < m->ties->count; t++) {
        int first = m->ties->ties[t].first;
        for (int k = 0; k < s->awake[t]; k++) s->l[first + k] = bias[first + s->row[first + k]];
    }
}

/* --- motions ----------------------------------------------------------------------------------------- */

/* Rows that the last run has left out sleep from now on. */
static void put_to_sleep(rcr_method *m) {
    lw_sweeps *s = m->sweeps;
    for (int t = 0; t < m->ties->count; t++) {
        int first = m->ties->ties[t].first, rank = s->rank[t], count = s->awake[t], list[6];
        if (rank == count) continue;
        double scale[6];
        for (int k = 0; k < count; k++) {
            list[k] = s->row[first + s->pivot[first + k]];
            scale[k] = s->scale[first + s->pivot[first + k]];
        }
        double lambda[6];
        for (int k = 0; k < count; k++) lambda[k] = s->lambda[first + s->pivot[first + k]];
        memcpy(s->row + first, list, (size_t)count * sizeof *list);
        memcpy(s->scale + first, scale, (size_t)count * sizeof *scale);
        memcpy(s->lambda + first, lambda, (size_t)count * sizeof *lambda);
        s->awake[t] = rank;
    }
}

/* How far the accelerations of the last run are from the rows that sleep, relative to those of the bodies they act on. */
static double sleeping_defect(const rcr_method *m) {
    const lw_sweeps *s = m->sweeps;
    double most = 0, relative = 0, largest = 0;
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        int awake = s->awake[t], asleep = tie->count - awake;
        double size = 0;
        if (asleep == 0) continue;
        double worst = lw_closure_defect(m->looped.data, m->closures, tie->closure, asleep,
                                         s->row + tie->first + awake, &size);
        largest = fmax(largest, size);
        most = fmax(most, worst);
        if (worst > relative * size) relative = size > 0 ? worst / size : 0;
    }
    return most > noticeable * largest ? relative : 0;
}

static int awake(const rcr_method *m) {
    int count = 0;
    for (int t = 0; t < m->ties->count; t++) count += m->sweeps->awake[t];
    return count;
}

/* Rows that the last run has found independent. */
static int independent(const rcr_method *m) {
    int count = 0;
    for (int t = 0; t < m->ties->count; t++) count += m->sweeps->rank[t];
    return count;
}

/* Rows of the state in data, ready for a run; returns how far its velocities are from them, if asked for. */
static double evaluate(rcr_method *m, const lw_subject *subject, bool velocities) {
    lw_sweeps_start(m->sweeps, subject);
    if (m->closures) return ask_closures(m, velocities);
    double defect = ask_rows(m);
    list_bias(m, m->bias);
    return defect;
}

/* The smallest motion in the mass metric with G x = -l, into data->vdot; the state in data stays. */
static lw_status smallest_motion(rcr_method *m, const double *l, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    const lw_subject subject = at_rest(m);
    for (int i = 1; i <= model->body_count; i++) /* prescribed motions have been taken already */
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) m->looped.data->vdot[model->links[i].v + k] = 0;
    list_bias(m, l);
    lw_sweeps_start(m->sweeps, &subject);
    return lw_sweeps_run(m->sweeps, &subject, error);
}

/* Columns of the rows just evaluated, for the choice of coordinates. */
static void take_columns(rcr_method *m, bool all) {
    const lw_pose *world = m->closures ? lw_closures_world(m->closures) : m->looped.data->world;
    lw_choice_columns(m->choice, m->looped.data, world, all);
}

/* v by the smallest change in the mass metric; defect: what it has against the rows just evaluated. */
static lw_status project_speeds(rcr_method *m, double t, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    lw_status status = smallest_motion(m, m->looped.defect, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    if (model->motion_count) lw_take_prescribed(model, data, t);
    return LW_OK;
}

/* Takes off what v has against the rows: the dependent speeds follow from the independent ones, or, where no choice of them will
 * do, all change by the least. The rows follow. */
static lw_status eliminate_speeds(rcr_method *m, double t, lw_error *error) {
    const lw_subject subject = in_motion(m);
    if (!(evaluate(m, &subject, true) > exact)) return LW_OK;
    bool chosen = m->looped.integrating && m->choice->sound && !m->doubt;
    if (chosen) {
        take_columns(m, false);
        chosen = lw_choice_speeds(m->choice, m->looped.defect, m->looped.data->v);
    }
    lw_status status = chosen ? LW_OK : project_speeds(m, t, error);
    if (status == LW_OK) evaluate(m, &subject, false);
    return status;
}

/* Looks at the choice of coordinates with the rows of the last run, whose columns have been taken. */
static void reconsider(rcr_method *m, double t) {
    lw_looped *looped = &m->looped;
    if (m->closures && looped->options.drift != LW_DRIFT_PROJECT) { /* else positions have been looked at */
        lw_positions(looped->base.model, looped->data);
        lw_world_poses(looped->base.model, looped->data);
    }
    lw_choice_reconsider(m->choice, looped->data, &looped->options, t);
    m->latest = t;
}

static void list_lambda(rcr_method *m) {
    const lw_sweeps *s = m->sweeps;
    memset(m->looped.lambda, 0, (size_t)m->looped.rows->count * sizeof *m->looped.lambda);
    for (int t = 0; t < m->ties->count; t++) {
        int first = m->ties->ties[t].first;
        for (int k = 0; k < s->awake[t]; k++)
            m->looped.lambda[first + s->row[first + k]] = s->lambda[first + k];
    }
}

/* Accelerations with the rows that are awake; where drift is possible, velocities first. */
static lw_status run_awake(rcr_method *m, double t, const double *tau, lw_error *error) {
    lw_subject subject = in_motion(m);
    lw_status status = LW_OK;
    if (m->looped.integrating)
        status = eliminate_speeds(m, t, error);
    else
        evaluate(m, &subject, false);
    if (status != LW_OK) return status;
    if (tau || m->looped.base.model->force_count)
        lw_take_forces(m->looped.base.model, m->looped.data, t, tau);
    else
        subject.tau = m->zero;
    return lw_sweeps_run(m->sweeps, &subject, error);
}

static double largest_acceleration(const rcr_method *m) {
    double largest = 0;
    for (int i = 1; i <= m->looped.base.model->body_count; i++)
        for (int k = 0; k < 6; k++) largest = fmax(largest, fabs(m->looped.data->nodes[i].a[k]));
    return largest;
}

/* The tie that the accelerations of the last run leave unsatisfied, or -1. Rows that depend on others are satisfied with them,
 * but in a singular position only if the velocities are right to second order too. */
static int unsatisfied(rcr_method *m) {
    const lw_rows *rows = m->looped.rows;
    const lw_data *data = m->looped.data;
    double largest = largest_acceleration(m), worst = fitting;
    int found = -1;
    lw_looped_rows(&m->looped);
    lw_looped_bias(&m->looped, m->bias);
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        double size = 0, most = 0;
        for (int r = tie->first; r < tie->first + tie->count; r++) {
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

/* The loop that `tie` closes "starts" or "comes to rest" in a singular position. */
static lw_status singular_position(const rcr_method *m, int tie, const char *how, const char *remedy,
                                   const char *what, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    const lw_row *row = &m->looped.rows->rows[m->ties->ties[tie].first];
    bool joint = row->joint >= 0;
    return lw_fail_at(error, LW_ERROR_SINGULAR, model->file,
                      joint ? model->joints[row->joint].place : model->constraints[row->constraint].place,
                      joint ? "joint" : "constraint",
                      joint ? model->joints[row->joint].name : model->constraints[row->constraint].name,
                      remedy, "the loop that it closes %s in a singular position, and %s", how, what);
}

/* Speed or acceleration x of a joint, as an angle: lengths relative to the size of the mechanism. */
static double rate(const rcr_method *m, int speed, const double *x) {
    const lw_link *link = &m->looped.base.model->links[m->choice->body_of[speed]];
    bool turns = lw_joint_speed_turns(link->joint.type, speed - link->v);
    return fabs(x[speed]) / (turns ? 1 : m->sweeps->length);
}

/* The largest of x in all loops, and in the loop of a tie. */
static double largest_rate(const rcr_method *m, const double *x) {
    double largest = 0;
    for (int k = 0; k < m->choice->loop_speeds; k++)
        largest = fmax(largest, rate(m, m->choice->in_loops[k], x));
    return largest;
}
static double loop_rate(const rcr_method *m, int tie, const double *x) {
    const lw_front *front = &m->choice->fronts[tie];
    double largest = 0;
    for (int k = front->way; k < front->way + front->ways; k++)
        largest = fmax(largest, rate(m, m->choice->ways[k].speed, x));
    return largest;
}

/* Prescribed motions lead through. */
static bool driven(const rcr_method *m, int tie) {
    const lw_front *front = &m->choice->fronts[tie];
    for (int k = front->way; k < front->way + front->ways; k++) {
        int speed = m->choice->ways[k].speed;
        const lw_link *link = &m->looped.base.model->links[m->choice->body_of[speed]];
        if (link->prescribed >> (speed - link->v) & 1) return true;
    }
    return false;
}

/* Of loops at rest in a singular position, with the accelerations in data: the tie with which they cannot move along them, or -1.
 * At rest is one whose speeds v and accelerations a have v^2 <= slack + reach a, a > least; whatever else moves. The state stays. */
static lw_status undecided(rcr_method *m, double t, double slack, double reach, double least, int *tie,
                           lw_error *error) {
    const double fast = 100; /* so fast that gravity and other forces do not matter */
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    double *v = m->looped.v, fastest = 0;
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    memset(data->v, 0, (size_t)model->nv * sizeof *v);
    for (int k = 0; k < m->ties->count; k++) {
        double speed = loop_rate(m, k, v), a = loop_rate(m, k, data->vdot);
        if (speed * speed > slack + reach * a || !(a > least) || driven(m, k)) continue;
        const lw_front *front = &m->choice->fronts[k];
        for (int n = front->way; n < front->way + front->ways; n++) {
            int moved = m->choice->ways[n].speed;
            data->v[moved] = data->vdot[moved];
            fastest = fmax(fastest, fabs(data->vdot[moved]));
        }
    }
    *tie = -1;
    lw_status status = LW_OK;
    if (fastest > 0) {
        for (int k = 0; k < model->nv; k++) data->v[k] *= fast / fastest;
        status = run_awake(m, t, NULL, error);
        if (status == LW_OK) *tie = unsatisfied(m);
    }
    memcpy(data->v, v, (size_t)model->nv * sizeof *v);
    return status;
}

/* A mechanism that comes to a singular position goes straight on. One that starts there may have been given velocities, or,
 * at rest, be moved by its forces, in a direction in which nothing goes on. */
static lw_status look_at_start(rcr_method *m, double t, lw_error *error) {
    const double gap = 1e-6; /* m, rad */
    lw_status status = run_awake(m, t, NULL, error);
    if (status != LW_OK || m->looped.rows->count == 0) return status;
    int tie = unsatisfied(m);
    for (int r = 0; r < m->looped.rows->count; r++) /* gaps have other consequences */
        if (fabs(m->looped.rows->phi[r]) > gap) return LW_OK;
    if (tie >= 0)
        return singular_position(m, tie, "starts",
                                 "give velocities with which it can go on, or start beside this position",
                                 "its velocities fit none of the motions that lead out of it", error);
    const double slight = noticeable * largest_acceleration(m);
    status = undecided(m, t, slight, 0, slight, &tie, error);
    if (status != LW_OK || tie < 0) return status;
    return singular_position(m, tie, "starts", "give velocities, or start beside this position",
                             "more than one motion leads out of it: which one is not determined at rest",
                             error);
}

/* After a step, with fewer independent rows than there have been: a mechanism that passes goes on, one whose speeds take it
 * no farther than it can be told from the singular position comes to rest there, and where more than one motion leads out. */
static lw_status look_at_rest(rcr_method *m, double t, lw_error *error) {
    lw_status status = run_awake(m, t, NULL, error);
    if (status != LW_OK) return status;
    int tie;
    status = undecided(m, t, 0, 2 * near, settling * m->fastest, &tie, error);
    if (status != LW_OK || tie < 0) return status;
    char how[64];
    snprintf(how, sizeof how, "comes to rest at t = %.6g", t);
    return singular_position(m, tie, how, "end the run before, or start with other velocities",
                             "more than one motion leads out of it: which one is not determined", error);
}

/* Of a run: with the matrix of the multipliers that the last run of the sweeps has left. */
static void first_choice(rcr_method *m, double t) {
    const lw_subject subject = in_motion(m);
    m->asked = true;
    evaluate(m, &subject, false);
    take_columns(m, true);
    lw_positions(m->looped.base.model, m->looped.data);
    lw_world_poses(m->looped.base.model, m->looped.data);
    reconsider(m, t);
}

static lw_status solve(lw_looped *looped, double t, const double *tau, lw_error *error) {
    rcr_method *m = (rcr_method *)looped;
    lw_status status = LW_OK;
    if (looped->integrating && !m->started) {
        status = look_at_start(m, t, error);
        m->started = status == LW_OK;
    }
    if (status == LW_OK) status = run_awake(m, t, tau, error);
    if (status == LW_OK && looped->integrating && !m->asked) first_choice(m, t);
    double off = status == LW_OK && m->closures ? sleeping_defect(m) : 0;
    if (off > (looped->integrating ? m->tolerated : satisfied)) {
        int before = awake(m);
        lw_sweeps_wake(m->sweeps);
        m->doubt = true;
        status = run_awake(m, t, tau, error);
        if (status != LW_OK) return status;
        put_to_sleep(m);
        m->doubt = awake(m) != before;
        /* in vain: rows of a loop that is not quite closed, as in the stages of a step, are off by about its gap */
        if (awake(m) == before) m->tolerated = fmax(m->tolerated, 3 * off);
    }
    if (status != LW_OK) return status;
    if (m->closures) put_to_sleep(m);
    if (looped->integrating) m->fastest = fmax(m->fastest, largest_rate(m, looped->data->vdot));
    if (looped->reacting) list_lambda(m);
    return LW_OK;
}

/* Redundant rows leave open what multipliers that move nothing make the joints transmit. Two of these, of arbitrary size in every
 * redundant row, touch every component that any of them touches. */
static lw_status unique(lw_looped *looped, double t, bool *flags, lw_error *error) {
    (void)t;
    rcr_method *m = (rcr_method *)looped;
    const lw_model *model = looped->base.model;
    int count = 6 * model->joint_count;
    const double threshold = 1e-7; /* of the largest component: pivots are taken for zero below 1e-8 */
    const lw_subject subject = at_rest(m);
    for (int k = 0; k < count; k++) flags[k] = true;
    lw_sweeps_wake(m->sweeps);
    lw_looped_rows(looped);
    evaluate(m, &subject, false);
    lw_status status = lw_sweeps_run(m->sweeps, &subject, error);
    if (status != LW_OK) return status;
    for (unsigned seed = 1; seed <= 2; seed++) {
        double largest = 0;
        memset(m->open, 0, (size_t)count * sizeof *m->open);
        lw_sweeps_null(m->sweeps, seed * 7919, m->sweeps->lambda);
        list_lambda(m);
        lw_tie_reactions(model, looped->data, looped->rows, looped->lambda, looped->body, m->open);
        for (int r = 0; r < looped->rows->count; r++) largest = fmax(largest, fabs(looped->lambda[r]));
        for (int k = 0; k < count; k++) {
            if (k % 6 >= 3) m->open[k] /= m->sweeps->length > 0 ? m->sweeps->length : 1;
            largest = fmax(largest, fabs(m->open[k]));
        }
        for (int k = 0; k < count; k++) flags[k] &= !(fabs(m->open[k]) > threshold * largest);
    }
    return LW_OK;
}

/* --- the method ----------------------------------------------------------------------------------- */

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    rcr_method *m = (rcr_method *)lw_looped_create(sizeof *m, &lw_formulation_rcr, model, options, solve);
    lw_status status = m ? LW_OK : LW_ERROR_MEMORY;
    if (m) {
        lw_looped *looped = &m->looped;
        m->ties = lw_ties_create(model, looped->rows, looped->arena);
        if (m->ties)
            m->sweeps = lw_sweeps_create(model, looped->data, m->ties, looped->rows->count, looped->arena);
        m->zero = LW_NEW(looped->arena, double, model->nv + 1);
        m->open = LW_NEW(looped->arena, double, 6 * model->joint_count + 1);
        looped->unique = unique;
        m->bias = LW_NEW(looped->arena, double, looped->rows->count + 1);
        if (m->sweeps) m->choice = lw_choice_create(model, looped->rows, m->sweeps, looped->arena);
        m->latest = -HUGE_VAL;
        status = lw_closures_create(model, looped->rows, looped->arena, &m->closures);
        if (!m->choice || !m->zero || !m->open || !m->bias) status = LW_ERROR_MEMORY;
    }
    if (status != LW_OK) {
        if (m) lw_looped_destroy(&m->looped.base);
        return lw_fail(error, status, NULL, NULL, "out of memory");
    }
    /* the first run finds the scales of the rows; nothing is eliminated in it while these are infinite */
    lw_take_state(model, m->looped.data, 0, model->q0, model->v0);
    lw_take_forces(model, m->looped.data, 0, NULL);
    const lw_subject subject = in_motion(m);
    evaluate(m, &subject, false);
    for (int r = 0; r < m->looped.rows->count; r++) m->sweeps->scale[r] = HUGE_VAL;
    status = lw_sweeps_run(m->sweeps, &subject, error);
    if (status != LW_OK) {
        lw_looped_destroy(&m->looped.base);
        return status;
    }
    lw_sweeps_measure(m->sweeps);
    m->tolerated = satisfied;
    *out = &m->looped.base;
    return LW_OK;
}

/* Another run begins. */
static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    rcr_method *m = (rcr_method *)base;
    m->choice->made = m->choice->sound = m->asked = false;
    m->latest = -HUGE_VAL;
    lw_tree_to_state(base, t, q, v, y);
}

/* Rows at position level: slip is a matter of velocities only. Returns the row that is off most. */
static int ask_positions(rcr_method *m, double *worst) {
    const lw_rows *rows = m->looped.rows;
    int where = 0;
    ask_rows(m);
    *worst = 0;
    for (int r = 0; r < rows->count; r++) {
        if (!(fabs(rows->phi[r]) <= *worst)) *worst = fabs(rows->phi[r]), where = r;
        if (!lw_row_is_slip(m->looped.base.model, &rows->rows[r])) continue;
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            memset(rows->H + 6 * b, 0, 6 * sizeof *rows->H);
    }
    place_wrenches(m);
    return where;
}

/* Speeds at the end of a step, with all rows awake and a run of the sweeps in any case: it tells which rows are independent. */
static lw_status accept_speeds(rcr_method *m, double t, lw_error *error) {
    const lw_subject subject = in_motion(m);
    bool off = evaluate(m, &subject, true) > exact;
    take_columns(m, true);
    return off ? project_speeds(m, t, error) : smallest_motion(m, m->looped.defect, error);
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    enum { ROUNDS = 10 };
    rcr_method *m = (rcr_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->looped.data;
    const lw_rows *rows = m->looped.rows;
    const double open = 1e-6; /* of a link: a run cannot go on with a loop that does not close */
    double before = HUGE_VAL, worst = 0;
    lw_status status = LW_OK;
    lw_normalise_q(model, y);
    if (rows->count == 0) return LW_OK;
    lw_sweeps_wake(m->sweeps); /* once a step: rows that were redundant may no longer be */
    m->tolerated = satisfied;
    m->doubt = false;
    for (int round = 0; m->looped.options.drift == LW_DRIFT_PROJECT; round++) {
        lw_take_state(model, data, t, y, NULL);
        int row = ask_positions(m, &worst);
        if (!(worst > 1e-15) || !(worst < 0.5 * before) || round == ROUNDS) {
            if (worst <= open * m->sweeps->length) break;
            char what[160];
            lw_row_describe(model, &rows->rows[row], what, sizeof what);
            return lw_fail(
                error, LW_ERROR_SINGULAR, NULL,
                "prescribed motions contradict each other, or lead beyond what the mechanism can reach",
                "the positions cannot be made consistent: %s is off by %.3g", what, worst);
        }
        before = worst;
        status = smallest_motion(m, rows->phi, error);
        if (status != LW_OK) return status;
        lw_integrate_q(model, y, data->vdot, 1);
    }
    lw_take_state(model, data, t, y, y + model->nq);
    bool next = m->asked && t > m->latest; /* states between steps come later and change nothing */
    status = next ? accept_speeds(m, t, error) : eliminate_speeds(m, t, error);
    memcpy(y + model->nq, data->v, (size_t)model->nv * sizeof *y);
    int rank = independent(m);
    if (rank > m->rank) m->rank = rank;
    if (status == LW_OK && next) reconsider(m, t);
    if (status == LW_OK && m->started && rank < m->rank) status = look_at_rest(m, t, error);
    if (status == LW_OK && next && m->closures) put_to_sleep(m);
    return status;
}

lw_choice *lw_rcr_choice(lw_method *base) { return ((rcr_method *)base)->choice; }

lw_status lw_rcr_choose(lw_method *base, double t, const double *q, lw_error *error) {
    rcr_method *m = (rcr_method *)base;
    const lw_subject subject = at_rest(m);
    lw_take_state(base->model, m->looped.data, t, q, NULL);
    lw_sweeps_wake(m->sweeps);
    evaluate(m, &subject, false);
    lw_status status = lw_sweeps_run(m->sweeps, &subject, error);
    if (status == LW_OK) first_choice(m, t);
    return status;
}

/* Times per body, row of a strand, pair of rows at a joint, and multiplication of the elimination, fitted to calls on
 * ladders, grids and platforms on 3 to 100 legs; rows that sleep take none. */
static double expense(lw_method *base) {
    const rcr_method *m = (const rcr_method *)base;
    const lw_ties *ties = m->ties;
    const int *awake = m->sweeps->awake;
    double strands = 0, pairs = 0, products = 0;
    for (int k = 0; k < ties->strand_start[base->model->body_count + 1]; k++)
        strands += awake[ties->strands[k].tie];
    for (int k = 0; k < ties->pair_start[base->model->body_count + 1]; k++)
        pairs +=
            awake[ties->strands[ties->pairs[k].first].tie] * awake[ties->strands[ties->pairs[k].second].tie];
    for (int t = 0; t < ties->count; t++) {
        double rows = awake[t], coupled = 0;
        for (int k = 0; k < ties->ties[t].couplings; k++)
            coupled += awake[ties->couplings[ties->ties[t].coupling + k].tie];
        products += rows * (rows * rows / 3 + rows * coupled + coupled * coupled / 2);
    }
    return 60 + 75 * base->model->body_count + 12 * strands + 0.8 * pairs + 0.28 * products;
}

const lw_formulation lw_formulation_rcr = {
    .name = "rcr",
    .source = "anderson2003 33-80",
    .cost = "O(n + m)",
    .summary = "loops eliminated locally in one sweep inwards and one outwards, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 10,
    .no_baumgarte = true, /* speeds are made consistent in every evaluation: there is nothing to pull back */
    .applies = lw_tree_determined,
    .create = create,
    .destroy = lw_looped_destroy,
    .to_state = to_state,
    .from_state = lw_looped_from_state,
    .accelerations = lw_looped_accelerations,
    .derivative = lw_looped_derivative,
    .project = project,
    .violation = lw_looped_violation,
    .expense = expense,
};
