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
#include "formulations/rcr_parts.h"
#include "formulations/tree.h"

#include <math.h>
#include <string.h>

extern const lw_formulation lw_formulation_rcr;

/* Relative: */
static const double exact = 1e-13;     /* velocities: rounding */
static const double satisfied = 1e-9;  /* accelerations: a sleeping row that is off by more wakes up */
static const double noticeable = 1e-9; /* accelerations, of the largest: anything less is rounding */

/* --- rows at a state -------------------------------------------------------------------------------- */

static lw_subject at_rest(const lw_rcr *m) {
    return (lw_subject){.v = m->zero, .tau = m->zero, .load = NULL, .gravity = false, .drive = NULL};
}

lw_subject lw_rcr_in_motion(const lw_rcr *m) {
    const lw_data *data = m->looped.data;
    return (lw_subject){.v = data->v,
                        .tau = data->tau,
                        .load = m->looped.base.model->forces_need_world ? data->load : NULL,
                        .gravity = true,
                        .drive = m->looped.data->drive};
}

/* Wrenches of the rows that are awake on the bodies that they act on, from the rows' blocks. */
static void place_wrenches(lw_rcr *m) {
    const lw_rows *rows = m->looped.rows;
    const lw_data *data = m->looped.data;
    lw_sweeps *s = m->sweeps;
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        s->placed[t] = false;
        for (int k = 0; k < s->awake[t]; k++) {
            const lw_row *row = &rows->rows[tie->first + s->row[tie->first + k]];
            for (int b = row->block; b < row->block + row->count; b++) {
                const lw_pose *world = &data->world[rows->body[b]];
                const double *h = rows->H + 6 * b;
                double arm[3], moment[3], force[3], *w = s->K + m->ties->place[b] + lw_wrench_at(k);
                lw_v3_sub(rows->bodies[rows->body[b]].r, world->p, arm);
                lw_v3_cross(arm, h + 3, moment);
                lw_v3_add(moment, h, moment);
                lw_m3_tmul_v(world->R, moment, arm);
                lw_m3_tmul_v(world->R, h + 3, force);
                for (int i = 0; i < 3; i++) w[4 * i] = arm[i], w[12 + 4 * i] = force[i];
            }
        }
    }
}

/* Rows of the state in data by rows.c; returns the relative velocity defect. */
static double ask_rows(lw_rcr *m) {
    lw_looped_rows(&m->looped);
    lw_looped_bias(&m->looped, m->bias);
    place_wrenches(m);
    return lw_looped_velocity_defect(&m->looped);
}

/* Rows at position level: slip is a matter of velocities only. Returns the row that is off most. */
int lw_rcr_ask_positions(lw_rcr *m, double *worst) {
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

/* The same for closures that hold points, after lw_sweeps_start; velocities only if asked for. Here l is filled as well. */
static double ask_closures(lw_rcr *m, bool velocities) {
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    lw_sweeps *s = m->sweeps;
    double worst = 0, size = 0;
    lw_closures_move(model, data, velocities ? data->v : NULL, m->closures);
    for (int t = 0; t < m->ties->count; t++) {
        const lw_tie *tie = &m->ties->ties[t];
        double nowhere[48];
        lw_closure_rows(m->closures, tie->closure, s->awake[t], s->row + tie->first,
                        tie->K_second >= 0 && !s->placed[t] ? s->K + tie->K_second : NULL,
                        tie->K_first >= 0 ? s->K + tie->K_first : nowhere, s->l + tie->first);
        s->placed[t] = s->lasting[t];
        if (!velocities) continue;
        double *defect = m->looped.defect + tie->first;
        worst = fmax(worst, lw_closure_velocity(data, m->closures, tie->closure, tie->count, defect, &size));
    }
    return size > 0 ? worst / size : 0;
}

/* Bias of the rows that are awake, in the order of their lists. */
static void list_bias(lw_rcr *m, const double *bias) {
    lw_sweeps *s = m->sweeps;
    for (int t = 0; t < m->ties->count; t++) {
        int first = m->ties->ties[t].first;
        for (int k = 0; k < s->awake[t]; k++) s->l[first + k] = bias[first + s->row[first + k]];
    }
}

/* --- motions ----------------------------------------------------------------------------------------- */

/* Rows that the last run has left out sleep from now on. */
static void put_to_sleep(lw_rcr *m) {
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
        lw_sweeps_clear(s, t);
    }
}

/* How far the accelerations of the last run are from the rows that sleep, relative to those of the bodies they act on. */
static double sleeping_defect(const lw_rcr *m) {
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

static int awake(const lw_rcr *m) {
    int count = 0;
    for (int t = 0; t < m->ties->count; t++) count += m->sweeps->awake[t];
    return count;
}

int lw_rcr_rank(const lw_rcr *m) {
    int count = 0;
    for (int t = 0; t < m->ties->count; t++) count += m->sweeps->rank[t];
    return count;
}

/* Rows of the state in data, ready for a run; returns how far its velocities are from them, if asked for. */
double lw_rcr_evaluate(lw_rcr *m, const lw_subject *subject, bool velocities) {
    lw_sweeps_start(m->sweeps, subject);
    if (m->closures) return ask_closures(m, velocities);
    double defect = ask_rows(m);
    list_bias(m, m->bias);
    return defect;
}

static void still(lw_rcr *m) {
    const lw_model *model = m->looped.base.model;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) m->looped.data->vdot[model->links[i].v + k] = 0;
}

/* The smallest motion in the mass metric with G x = -l, into data->vdot; the state in data stays. */
lw_status lw_rcr_smallest_motion(lw_rcr *m, const double *l, lw_error *error) {
    const lw_subject subject = at_rest(m);
    still(m); /* prescribed motions have been taken already */
    list_bias(m, l);
    lw_sweeps_start(m->sweeps, &subject);
    return lw_sweeps_run(m->sweeps, &subject, error);
}

/* Positions in data by the smallest motions that close the loops; returns the row that is off most then. Velocities in data are lost. */
int lw_rcr_close(lw_rcr *m, double *left, lw_status *status, lw_error *error) {
    enum { ROUNDS = 10 };
    const double exact_position = 1e-15 * fmin(1, m->sweeps->length);
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    double before = HUGE_VAL;
    *status = LW_OK;
    for (int round = 0;; round++) {
        memset(data->v, 0, (size_t)model->nv * sizeof *data->v);
        int row = lw_rcr_ask_positions(m, left);
        if (!(*left > exact_position) || !(*left < 0.5 * before) || round == ROUNDS) return row;
        before = *left;
        *status = lw_rcr_smallest_motion(m, m->looped.rows->phi, error);
        if (*status != LW_OK) return row;
        lw_integrate_q(model, data->q, data->vdot, 1);
    }
}

/* Columns of the rows just evaluated, for the choice of coordinates. */
static void take_columns(lw_rcr *m, bool all) {
    const lw_pose *world = m->closures ? lw_closures_world(m->closures) : m->looped.data->world;
    lw_choice_columns(m->choice, m->looped.data, world, all);
}

/* v by the smallest change in the mass metric; defect: what it has against the rows just evaluated. */
static lw_status project_speeds(lw_rcr *m, double t, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    lw_status status = lw_rcr_smallest_motion(m, m->looped.defect, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    if (model->motion_count) lw_take_prescribed(model, data, t);
    return LW_OK;
}

/* Takes off what v has against the rows: the dependent speeds follow from the independent ones, or, where no choice of them will
 * do, all change by the least. The rows follow. */
static lw_status eliminate_speeds(lw_rcr *m, double t, lw_error *error) {
    const lw_subject subject = lw_rcr_in_motion(m);
    if (!(lw_rcr_evaluate(m, &subject, true) > exact)) return LW_OK;
    bool chosen = m->looped.integrating && m->choice->sound && !m->doubt;
    if (chosen) {
        take_columns(m, false);
        chosen = lw_choice_speeds(m->choice, m->looped.defect, m->looped.data->v);
    }
    lw_status status = chosen ? LW_OK : project_speeds(m, t, error);
    if (status == LW_OK) lw_rcr_evaluate(m, &subject, false);
    return status;
}

/* Looks at the choice of coordinates with the rows of the last run, whose columns have been taken. */
static void reconsider(lw_rcr *m, double t) {
    lw_looped *looped = &m->looped;
    if (m->closures && looped->options.drift != LW_DRIFT_PROJECT) { /* else positions have been looked at */
        lw_positions(looped->base.model, looped->data);
        lw_world_poses(looped->base.model, looped->data);
    }
    lw_choice_reconsider(m->choice, looped->data, &looped->options, t);
    m->latest = t;
}

static void list_lambda(lw_rcr *m) {
    const lw_sweeps *s = m->sweeps;
    memset(m->looped.lambda, 0, (size_t)m->looped.rows->count * sizeof *m->looped.lambda);
    for (int t = 0; t < m->ties->count; t++) {
        int first = m->ties->ties[t].first;
        for (int k = 0; k < s->awake[t]; k++)
            m->looped.lambda[first + s->row[first + k]] = s->lambda[first + k];
    }
}

/* Accelerations with the rows that are awake; where drift is possible, velocities first. */
lw_status lw_rcr_run(lw_rcr *m, double t, const double *tau, lw_error *error) {
    lw_subject subject = lw_rcr_in_motion(m);
    lw_status status = LW_OK;
    if (m->looped.integrating)
        status = eliminate_speeds(m, t, error);
    else
        lw_rcr_evaluate(m, &subject, false);
    if (status != LW_OK) return status;
    if (tau || m->looped.base.model->force_count || m->looped.base.model->idle_count)
        lw_take_forces(m->looped.base.model, m->looped.data, t, tau);
    else
        subject.tau = m->zero;
    status = lw_sweeps_run(m->sweeps, &subject, error);
    if (m->looped.integrating) lw_crossing_look(m);
    return status;
}

/* Of a run: with the matrix of the multipliers that the last run of the sweeps has left. */
static void first_choice(lw_rcr *m, double t) {
    const lw_subject subject = lw_rcr_in_motion(m);
    m->asked = true;
    lw_rcr_evaluate(m, &subject, false);
    take_columns(m, true);
    lw_positions(m->looped.base.model, m->looped.data);
    lw_world_poses(m->looped.base.model, m->looped.data);
    reconsider(m, t);
}

/* The largest of x in all loops, as an angle. */
static double largest_rate(const lw_rcr *m, const double *x) {
    double largest = 0;
    for (int k = 0; k < m->choice->loop_speeds; k++)
        largest = fmax(largest, lw_rcr_rate(m, m->choice->in_loops[k], x));
    return largest;
}

/* Where the rows of a loop depend on each other only as long as it is closed (Bennett, Bricard), a state with a gap, as in the stages of
 * a step, has the accelerations of one selection of rows or of another. So it is closed first; false: there is no gap. */
static bool close_fragile(lw_rcr *m, double t, lw_error *error) {
    const double gap = 1e-13; /* of a link */
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    double left, *v = m->looped.v;
    lw_status status;
    memcpy(v, data->v, (size_t)model->nv * sizeof *v);
    lw_rcr_ask_positions(m, &left);
    bool open = left > gap * m->sweeps->length;
    if (open) lw_rcr_close(m, &left, &status, error);
    memcpy(data->v, v, (size_t)model->nv * sizeof *v);
    if (open && model->motion_count) lw_take_prescribed(model, data, t); /* their accelerations */
    return open;
}

static lw_status solve(lw_looped *looped, double t, const double *tau, lw_error *error) {
    lw_rcr *m = (lw_rcr *)looped;
    lw_status status = LW_OK;
    if (looped->integrating && !m->started) {
        status = lw_rcr_look_at_start(m, t, error);
        m->started = status == LW_OK;
        if (m->started) lw_crossing_look_beside(m);
    }
    if (looped->integrating && m->fragile) close_fragile(m, t, error);
    if (status == LW_OK) status = lw_rcr_run(m, t, tau, error);
    if (status == LW_OK && looped->integrating && !m->asked) first_choice(m, t);
    double off = status == LW_OK && m->closures ? sleeping_defect(m) : 0;
    if (off > satisfied && looped->integrating && !m->fragile && close_fragile(m, t, error)) {
        m->fragile = true;
        status = lw_rcr_run(m, t, tau, error);
        off = status == LW_OK ? sleeping_defect(m) : 0;
    }
    if (off > (looped->integrating ? m->tolerated : satisfied)) {
        int before = awake(m);
        lw_sweeps_wake(m->sweeps);
        m->doubt = true;
        status = lw_rcr_run(m, t, tau, error);
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
    if (looped->integrating && m->started) lw_crossing_limit(m, t);
    return LW_OK;
}

/* A run at rest with all rows awake, under the wrenches of the multipliers in s->lambda if loaded; wide: a pivot counts as zero below
 * 1e-4 of its scale already. */
static lw_status run_at_rest(lw_rcr *m, bool wide, bool loaded, lw_error *error) {
    const lw_rows *rows = m->looped.rows;
    const double factor = wide ? 1e4 : 1;
    lw_sweeps *s = m->sweeps;
    lw_subject subject = at_rest(m);
    double *load = m->looped.body;
    lw_sweeps_wake(s);
    lw_rcr_evaluate(m, &subject, false);
    memset(s->l, 0, (size_t)rows->count * sizeof *s->l);
    still(m);
    memset(load, 0, 6 * (size_t)(m->looped.base.model->body_count + 1) * sizeof *load);
    for (int t = 0; loaded && t < m->ties->count; t++)
        for (int k = 0; k < m->ties->ties[t].count; k++) {
            const lw_row *row = &rows->rows[m->ties->ties[t].first + k];
            for (int b = row->block; b < row->block + row->count; b++) {
                double w[6];
                lw_wrench(s->K + m->ties->place[b], k, w);
                lw_v6_axpy(s->lambda[m->ties->ties[t].first + k], w, load + 6 * rows->body[b]);
            }
        }
    if (loaded) subject.load = load;
    for (int r = 0; r < rows->count; r++) s->scale[r] *= factor;
    lw_status status = lw_sweeps_run(s, &subject, error);
    for (int r = 0; r < rows->count; r++) s->scale[r] /= factor;
    return status;
}

/* Multipliers that move nothing, arbitrary in every redundant row. A row that is redundant but for a pivot p is so with sqrt(p) of other
 * rows: these answer to what it does alone. */
static lw_status null_vector(lw_rcr *m, unsigned seed, bool wide, lw_error *error) {
    double *null = m->looped.lambda;
    size_t rows = (size_t)m->looped.rows->count * sizeof *null;
    lw_sweeps_null(m->sweeps, seed, m->sweeps->lambda);
    memcpy(null, m->sweeps->lambda, rows);
    lw_status status = run_at_rest(m, wide, true, error);
    for (int r = 0; r < m->looped.rows->count; r++) m->sweeps->lambda[r] += null[r];
    return status;
}

/* Redundant rows leave open what multipliers that move nothing make the joints transmit. Two of these, of arbitrary size in every
 * redundant row, touch every component that any of them touches. Rows that are nearly redundant are left out where others do what
 * they did: the null vectors are exact to 1e-11 then, else, next to a singular position, to 1e-8. */
static lw_status unique(lw_looped *looped, double t, bool *flags, lw_error *error) {
    (void)t;
    lw_rcr *m = (lw_rcr *)looped;
    const lw_model *model = looped->base.model;
    int count = 6 * model->joint_count;
    for (int k = 0; k < count; k++) flags[k] = true;
    lw_looped_rows(looped);
    lw_status status = run_at_rest(m, false, false, error);
    int rank = lw_rcr_rank(m);
    if (status == LW_OK) status = run_at_rest(m, true, false, error);
    bool wide = status == LW_OK && lw_rcr_rank(m) == rank;
    if (status == LW_OK && !wide) status = run_at_rest(m, false, false, error);
    const double threshold = wide ? 1e-9 : 1e-7; /* of the largest component; 1e-9 as redundancy.c */
    for (unsigned seed = 1; seed <= 2 && status == LW_OK; seed++) {
        double largest = 0;
        memset(m->open, 0, (size_t)count * sizeof *m->open);
        status = null_vector(m, seed * 7919, wide, error);
        list_lambda(m);
        lw_tie_reactions(model, looped->data, looped->rows, looped->lambda, looped->body, m->open);
        for (int r = 0; r < looped->rows->count; r++) largest = fmax(largest, fabs(looped->lambda[r]));
        for (int k = 0; k < count; k++) {
            if (k % 6 >= 3) m->open[k] /= m->sweeps->length > 0 ? m->sweeps->length : 1;
            largest = fmax(largest, fabs(m->open[k]));
        }
        for (int k = 0; k < count; k++) flags[k] &= !(fabs(m->open[k]) > threshold * largest);
    }
    return status;
}

/* --- the method ----------------------------------------------------------------------------------- */

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    lw_rcr *m = (lw_rcr *)lw_looped_create(sizeof *m, &lw_formulation_rcr, model, options, solve);
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
        status = lw_closures_create(model, looped->arena, &m->closures);
        if (!m->choice || !m->zero || !m->open || !m->bias || !lw_crossing_create(m))
            status = LW_ERROR_MEMORY;
    }
    if (status != LW_OK) {
        if (m) lw_looped_destroy(&m->looped.base);
        return lw_fail(error, status, NULL, NULL, "out of memory");
    }
    /* the first run finds the scales of the rows; nothing is eliminated in it while these are infinite */
    lw_take_state(model, m->looped.data, 0, model->q0, model->v0);
    lw_take_forces(model, m->looped.data, 0, NULL);
    const lw_subject subject = lw_rcr_in_motion(m);
    lw_rcr_evaluate(m, &subject, false);
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
    lw_rcr *m = (lw_rcr *)base;
    m->choice->made = m->choice->sound = m->asked = false;
    m->latest = -HUGE_VAL;
    m->started = m->doubt = m->fragile = false;
    m->rank = 0;
    m->fastest = 0;
    m->tolerated = satisfied;
    lw_sweeps_wake(m->sweeps);
    lw_crossing_forget(m);
    lw_tree_to_state(base, t, q, v, y);
}

/* Speeds at the end of a step, with all rows awake and a run of the sweeps in any case: it tells which rows are independent. */
static lw_status accept_speeds(lw_rcr *m, double t, lw_error *error) {
    const lw_subject subject = lw_rcr_in_motion(m);
    bool off = lw_rcr_evaluate(m, &subject, true) > exact;
    take_columns(m, true);
    return off ? project_speeds(m, t, error) : lw_rcr_smallest_motion(m, m->looped.defect, error);
}

/* Near a singular position a motion that turns away sharply may lose what speeds it has across its new direction: told. */
static void tell_loss(lw_rcr *m, double t) {
    const double noted = 1e-3, close_by = 1e-4; /* of the speeds; of the widest pivot */
    lw_crossing_look(m);
    double lost = largest_rate(m, m->looped.data->vdot), speed = largest_rate(m, m->looped.data->v);
    if (m->crossing.narrow < close_by && lost > noted * speed)
        lw_note(&m->looped.options, t, "singular",
                "loop of \"%s\": it turns away from a singular position so sharply that %.2g of its speeds "
                "is lost",
                lw_choice_closing(m->choice, m->crossing.narrowest), lost / speed);
}

static lw_status does_not_close(const lw_rcr *m, int row, double left, lw_error *error) {
    char what[160];
    lw_row_describe(m->looped.base.model, &m->looped.rows->rows[row], what, sizeof what);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, lw_rows_remedy(m->looped.base.model),
                   "the positions cannot be made consistent: %s is off by %.3g", what, left);
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    const lw_model *model = base->model;
    lw_data *data = m->looped.data;
    const double open = 1e-6; /* of a link: a run cannot go on with a loop that does not close */
    double left;
    lw_status status = LW_OK;
    lw_normalise_q(model, y);
    if (m->looped.rows->count == 0) return LW_OK;
    lw_sweeps_wake(m->sweeps); /* once a step: rows that were redundant may no longer be */
    m->tolerated = satisfied;
    m->doubt = false;
    if (lw_crossing_closes(m, t, y)) {
        lw_take_state(model, data, t, y, NULL);
        int row = lw_rcr_close(m, &left, &status, error);
        if (status != LW_OK) return status;
        if (!(left <= open * m->sweeps->length)) return does_not_close(m, row, left, error);
        memcpy(y, data->q, (size_t)model->nq * sizeof *y);
    }
    lw_take_state(model, data, t, y, y + model->nq);
    bool next = m->asked && t > m->latest; /* states between steps come later and change nothing */
    status = next ? accept_speeds(m, t, error) : eliminate_speeds(m, t, error);
    memcpy(y + model->nq, data->v, (size_t)model->nv * sizeof *y);
    if (status == LW_OK && next && lw_crossing_turns(m, t))
        return lw_rcr_turns_away(m, m->crossing.turned, error);
    if (status == LW_OK && next) tell_loss(m, t);
    int rank = lw_rcr_rank(m);
    if (rank > m->rank) m->rank = rank;
    if (next) lw_crossing_remember(m);
    if (status == LW_OK && next) reconsider(m, t);
    if (status == LW_OK && m->started && rank < m->rank) status = lw_rcr_look_at_rest(m, t, error);
    if (status == LW_OK && next && m->closures) put_to_sleep(m);
    return status;
}

lw_choice *lw_rcr_choice(lw_method *base) { return ((lw_rcr *)base)->choice; }

lw_status lw_rcr_choose(lw_method *base, double t, const double *q, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    const lw_subject subject = at_rest(m);
    lw_take_state(base->model, m->looped.data, t, q, NULL);
    lw_sweeps_wake(m->sweeps);
    lw_rcr_evaluate(m, &subject, false);
    lw_status status = lw_sweeps_run(m->sweeps, &subject, error);
    if (status == LW_OK) first_choice(m, t);
    return status;
}

/* Times per body, row of a strand, pair of rows at a joint, and multiplication of the elimination, fitted to calls on
 * ladders, grids and platforms on 3 to 100 legs; rows that sleep take none. */
static double expense(lw_method *base) {
    const lw_rcr *m = (const lw_rcr *)base;
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

static double least_expense(const lw_model *model) { return 75 * model->body_count; }

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
    .multipliers = lw_looped_multipliers,
    .speeds = lw_looped_speeds,
    .derivative = lw_looped_derivative,
    .project = project,
    .violation = lw_looped_violation,
    .expense = expense,
    .least_expense = least_expense,
};
