/* rcr.c - the formulation `rcr`: closed loops in O(n + m), joint coordinates.
 *
 *   given q, v, tau     find vdot with  M vdot + c = tau + G'lambda,  G vdot = g
 *
 * Loops are eliminated locally and recursively in the passes of the tree (rcr_solve.c). Velocities are made
 * consistent at every evaluation: the dependent ones follow from the independent ones, which are chosen loop
 * by loop with the projective criterion and reconsidered after each step (rcr_coordinate_choice.c). Where no
 * choice is suitable, and at the end of each step, the velocity error is removed by the smallest change in
 * the mass metric, which is one more run of the same passes. Positions are projected in the same way after
 * each step, unless --drift none. The independent rows are found once (rcr_rows.c); the others are asleep and
 * cost no more than a test whether the accelerations satisfy them too. Where they do not, or where pivots
 * become small, the rows that are independent at the state are used. So accelerations depend on the state
 * alone.
 *
 * Source   Anderson & Critchley (2003), eqs 33-80, accelerations in the dual form: rows instead of columns
 *          are eliminated; Blajer, Schiehlen & Schirm (1994), eq. 23 (docs/theory/rcr.md: the duality, any
 *          pattern of loops, the choice).
 * Cost     O(n + m) for loops of bounded width, O(m^1.5) on plane nets. Only create allocates.
 * Limits   each joint of the tree must move some inertia, or be determined by loops that have some.
 */
#include "formulations/rcr/rcr_parts.h"
#include "formulations/common/tree_method_base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const lw_formulation lw_formulation_rcr;

static const double exact = 1e-13; /* Relative rounding of velocities. */

/* --- rows at a state -------------------------------------------------------------------------------- */

lw_subject lw_rcr_at_rest(const lw_rcr *m) {
    return (lw_subject){.v = m->zero, .tau = m->zero, .load = NULL, .gravity = false, .drive = NULL};
}

lw_subject lw_rcr_in_motion(const lw_rcr *m) {
    const lw_data *data = m->loop_base.data;
    return (lw_subject){.v = data->v,
                        .tau = data->tau,
                        .load = m->loop_base.base.model->forces_need_world ? data->load : NULL,
                        .gravity = true,
                        .drive = m->loop_base.data->drive};
}

/* Wrenches of the rows that are awake on their bodies, from the blocks of the rows. */
static void write_wrenches(lw_rcr *m) {
    const lw_rows *rows = m->loop_base.rows;
    lw_rcr_system *s = m->system;
    for (int t = 0; t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        s->written[t] = false;
        for (int k = 0; k < s->awake[t]; k++) {
            const lw_row *row = &rows->rows[loop->first + s->row[loop->first + k]];
            for (int b = row->block; b < row->block + row->count; b++) {
                double wrench[6], *w = s->K + s->loops->wrench_start[b] + lw_wrench_at(k);
                lw_rcr_block_wrench(m, b, wrench);
                for (int i = 0; i < 6; i++) w[4 * i] = wrench[i];
            }
        }
    }
}

/* Evaluates the rows of the state in data by model/rows.h; returns the relative velocity error. */
static double ask_rows(lw_rcr *m) {
    lw_loop_method_rows(&m->loop_base);
    lw_loop_method_bias(&m->loop_base, m->bias);
    write_wrenches(m);
    return lw_loop_method_velocity_defect(&m->loop_base);
}

/* The same for closures that hold points, after lw_rcr_system_start; velocities only on request. l is filled
 * as well. */
static double ask_closures(lw_rcr *m, bool velocities) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_rcr_system *s = m->system;
    double worst = 0, size = 0;
    lw_closures_move(model, data, velocities ? data->v : NULL, m->closures);
    for (int t = 0; t < s->loops->count; t++) {
        const lw_loop_constraint *loop = &s->loops->loops[t];
        double nowhere[48];
        lw_closure_rows(m->closures, loop->closure, s->awake[t], s->row + loop->first,
                        loop->K_second >= 0 && !s->written[t] ? s->K + loop->K_second : NULL,
                        loop->K_first >= 0 ? s->K + loop->K_first : nowhere, s->l + loop->first);
        s->written[t] = s->lasting[t];
        if (!velocities) continue;
        double *defect = m->loop_base.defect + loop->first;
        worst =
            fmax(worst, lw_closure_velocity(data, m->closures, loop->closure, loop->count, defect, &size));
    }
    return size > 0 ? worst / size : 0;
}

void lw_rcr_list_bias(lw_rcr *m, const double *bias) {
    lw_rcr_system *s = m->system;
    for (int t = 0; t < m->loops->count; t++) {
        int first = m->loops->loops[t].first;
        for (int k = 0; k < s->awake[t]; k++) s->l[first + k] = bias[first + s->row[first + k]];
    }
}

int lw_rcr_ask_positions(lw_rcr *m, double *worst) {
    const lw_rows *rows = m->loop_base.rows;
    int where = 0;
    *worst = 0;
    if (m->closures) {
        const lw_subject subject = lw_rcr_at_rest(m);
        lw_rcr_system_start(m->system, &subject);
        ask_closures(m, false);
        for (int t = 0; t < m->loops->count; t++) {
            const lw_loop_constraint *loop = &m->loops->loops[t];
            lw_closure_gap(m->loop_base.base.model, m->closures, loop->closure, loop->count,
                           m->gap + loop->first);
        }
    } else {
        ask_rows(m);
        memcpy(m->gap, rows->phi, (size_t)rows->count * sizeof *m->gap);
    }
    for (int r = 0; r < rows->count; r++) {
        if (!(fabs(m->gap[r]) <= *worst)) *worst = fabs(m->gap[r]), where = r;
        if (m->closures || !lw_row_is_slip(m->loop_base.base.model, &rows->rows[r])) continue;
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            memset(rows->H + 6 * b, 0, 6 * sizeof *rows->H);
    }
    if (!m->closures) write_wrenches(m);
    return where;
}

/* --- motions ----------------------------------------------------------------------------------------- */

int lw_rcr_rank(const lw_rcr *m) {
    int count = 0;
    for (int t = 0; t < m->loops->count; t++) count += m->system->rank[t];
    return count;
}

double lw_rcr_evaluate(lw_rcr *m, const lw_subject *subject, bool velocities) {
    lw_rcr_system_start(m->system, subject);
    if (m->closures) return ask_closures(m, velocities);
    double defect = ask_rows(m);
    lw_rcr_list_bias(m, m->bias);
    return defect;
}

void lw_rcr_still(lw_rcr *m) {
    const lw_model *model = m->loop_base.base.model;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) m->loop_base.data->vdot[model->links[i].v + k] = 0;
}

lw_status lw_rcr_smallest_motion(lw_rcr *m, const double *l, lw_error *error) {
    const lw_subject subject = lw_rcr_at_rest(m);
    lw_rcr_still(m); /* The values of prescribed motions have been taken already. */
    lw_rcr_list_bias(m, l);
    lw_rcr_system_start(m->system, &subject);
    return lw_rcr_system_run(m->system, &subject, error);
}

int lw_rcr_close(lw_rcr *m, double *left, lw_status *status, lw_error *error) {
    enum { ROUNDS = 10 };
    const double exact_position = 1e-15 * fmin(1, m->system->length);
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    double before = HUGE_VAL;
    *status = LW_OK;
    for (int round = 0;; round++) {
        memset(data->v, 0, (size_t)model->nv * sizeof *data->v);
        int row = lw_rcr_ask_positions(m, left);
        if (!(*left > exact_position) || !(*left < 0.5 * before) || round == ROUNDS) return row;
        before = *left;
        *status = lw_rcr_smallest_motion(m, m->gap, error);
        if (*status != LW_OK) return row;
        lw_integrate_q(model, data->q, data->vdot, 1);
    }
}

void lw_rcr_columns(lw_rcr *m, bool all) {
    const lw_pose *world = m->closures ? lw_closures_world(m->closures) : m->loop_base.data->world;
    lw_choice_columns(m->choice, m->loop_base.data, world, all);
}

/* Makes v consistent by the smallest change in the mass metric; loop_base.defect is its error in the rows
 * just evaluated. */
static lw_status project_speeds(lw_rcr *m, double t, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_status status = lw_rcr_smallest_motion(m, m->loop_base.defect, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    if (model->motion_count) lw_take_prescribed(model, data, t);
    return LW_OK;
}

/* Makes v consistent with the rows: the dependent speeds follow from the independent ones or, where no choice
 * is suitable, all speeds change by the smallest amount. The rows are evaluated again. */
static lw_status eliminate_speeds(lw_rcr *m, double t, lw_error *error) {
    const double wide = 0.1; /* Relative to the scale of a pivot. */
    const lw_subject subject = lw_rcr_in_motion(m);
    if (!(lw_rcr_evaluate(m, &subject, true) > exact)) return LW_OK;
    bool chosen = m->loop_base.integrating && m->choice->sound && !(m->owned && m->crossing.narrow < wide);
    if (chosen) {
        lw_rcr_columns(m, false);
        chosen = lw_choice_speeds(m->choice, m->loop_base.defect, m->loop_base.data->v);
    }
    lw_status status = chosen ? LW_OK : project_speeds(m, t, error);
    if (status == LW_OK) lw_rcr_evaluate(m, &subject, false);
    return status;
}

/* Reconsiders the choice of coordinates with the rows of the last run, whose columns have been computed. */
static void reconsider(lw_rcr *m, double t) {
    lw_loop_method *loop_base = &m->loop_base;
    if (m->closures) { /* Where model/rows.h is used, the positions have been evaluated already. */
        lw_positions(loop_base->base.model, loop_base->data);
        lw_world_poses(loop_base->base.model, loop_base->data);
    }
    lw_choice_reconsider(m->choice, loop_base->data, &loop_base->options, t);
    m->latest = t;
}

static void list_lambda(lw_rcr *m) {
    const lw_rcr_system *s = m->system;
    memset(m->loop_base.lambda, 0, (size_t)m->loop_base.rows->count * sizeof *m->loop_base.lambda);
    for (int t = 0; t < m->loops->count; t++) {
        int first = m->loops->loops[t].first;
        for (int k = 0; k < s->awake[t]; k++)
            m->loop_base.lambda[first + s->row[first + k]] = s->lambda[first + k];
    }
}

/* Accelerations with the rows that are awake. While integrating, velocities are made consistent first. */
static lw_status attempt(lw_rcr *m, double t, const double *tau, lw_error *error) {
    lw_subject subject = lw_rcr_in_motion(m);
    lw_status status = LW_OK;
    if (m->loop_base.integrating)
        status = eliminate_speeds(m, t, error);
    else
        lw_rcr_evaluate(m, &subject, false);
    if (status != LW_OK) return status;
    if (tau || m->loop_base.base.model->force_count || m->loop_base.base.model->idle_count)
        lw_take_forces(m->loop_base.base.model, m->loop_base.data, t, tau);
    else
        subject.tau = m->zero;
    status = lw_rcr_system_run(m->system, &subject, error);
    return status == LW_OK && (m->delicate || !m->based) ? lw_rcr_correct(m, &subject, error) : status;
}

/* Closes an open loop in a stage of a step. Where rows are dependent only as long as the loop is closed
 * (Bennett, Bricard), the accelerations of an open state depend on the selection of rows; near a singular
 * position they are wrong by the gap over the third power of the distance. Returns false if no loop is open
 * by more than `gap` link lengths. */
static bool close_stage(lw_rcr *m, double t, double gap, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    double left;
    lw_status status;
    memcpy(data->v, m->before, (size_t)model->nv * sizeof *data->v);
    lw_rcr_ask_positions(m, &left);
    bool open = left > gap * m->system->length;
    if (open) lw_rcr_close(m, &left, &status, error);
    memcpy(data->v, m->before, (size_t)model->nv * sizeof *data->v);
    /* The accelerations of prescribed motions. */
    if (open && model->motion_count) lw_take_prescribed(model, data, t);
    return open;
}

/* The same, and whether these rows suit the state. Open loops are closed where this matters. */
static lw_status attempt_closed(lw_rcr *m, double t, const double *tau, bool *suits, lw_error *error) {
    const double fragile_gap = 1e-13, narrow_gap = 1e-16, close_to = 1e-11, narrow = 1e-3;
    if (m->owned && m->loop_base.integrating && m->crossing.narrow < narrow)
        close_stage(m, t, narrow_gap, error);
    for (int round = 0;; round++) {
        lw_status status = attempt(m, t, tau, error);
        bool strong = status == LW_OK && !m->system->weak;
        double off = strong ? lw_rcr_sleeping_defect(m) : HUGE_VAL;
        *suits = !(off > lw_rcr_satisfied);
        bool good = !(off > (m->fragile ? close_to : lw_rcr_satisfied));
        if (!strong || good || round > 0 || !m->loop_base.integrating ||
            !close_stage(m, t, fragile_gap, error))
            return status;
    }
}

lw_status lw_rcr_run(lw_rcr *m, double t, const double *tau, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_status status = LW_OK;
    bool suits = false;
    if (m->loop_base.integrating) memcpy(m->before, data->v, (size_t)model->nv * sizeof *m->before);
    if (m->based) {
        lw_rcr_base_rows(m);
        if (m->loop_base.integrating && m->keeps) lw_rcr_system_select(m->system, &m->kept);
        status = attempt_closed(m, t, tau, &suits, error);
    }
    if (!suits && m->loops->count > 0) {
        if (m->loop_base.integrating) memcpy(data->v, m->before, (size_t)model->nv * sizeof *data->v);
        lw_rcr_own_rows(m);
        status = attempt_closed(m, t, tau, &suits, error);
    }
    if (m->loop_base.integrating) lw_crossing_look(m);
    return status;
}

/* Chooses coordinates where a simulation begins. The state in data is unchanged. */
static void first_choice(lw_rcr *m, double t) {
    lw_data *data = m->loop_base.data;
    const lw_model *model = m->loop_base.base.model;
    const lw_subject subject = lw_rcr_at_rest(m);
    double *q = m->moved; /* v is stored behind it. */
    lw_error ignored;
    m->asked = true;
    memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    memcpy(q + model->nq, data->v, (size_t)model->nv * sizeof *q);
    memcpy(q + model->nq + model->nv, data->vdot, (size_t)model->nv * sizeof *q);
    lw_take_state(model, data, t, m->start, NULL);
    lw_rcr_base_rows(m);
    lw_rcr_evaluate(m, &subject, false);
    memset(m->left, 0, (size_t)m->loop_base.rows->count * sizeof *m->left);
    lw_status status = lw_rcr_smallest_motion(m, m->left, &ignored);
    if (status == LW_OK && m->system->weak) {
        lw_rcr_own_rows(m);
        lw_rcr_evaluate(m, &subject, false);
        status = lw_rcr_smallest_motion(m, m->left, &ignored);
    }
    lw_rcr_evaluate(m, &subject, false);
    lw_rcr_columns(m, true);
    lw_rcr_keep_rows(m);
    if (status == LW_OK) reconsider(m, t);
    lw_choice_keep(m->choice);
    memcpy(data->q, q, (size_t)model->nq * sizeof *q);
    memcpy(data->v, q + model->nq, (size_t)model->nv * sizeof *q);
    memcpy(data->vdot, q + model->nq + model->nv, (size_t)model->nv * sizeof *q);
}

/* The largest rate of x in all loops, as an angle. */
static double largest_rate(const lw_rcr *m, const double *x) {
    double largest = 0;
    for (int k = 0; k < m->choice->loop_speeds; k++) {
        const double rate = fabs(x[m->choice->in_loops[k]]) * m->angle[k];
        if (rate > largest) largest = rate;
    }
    return largest;
}

static lw_status solve(lw_loop_method *loop_base, double t, const double *tau, lw_error *error) {
    lw_rcr *m = (lw_rcr *)loop_base;
    lw_status status = LW_OK;
    if (loop_base->integrating && !m->asked && m->loops->count > 0) first_choice(m, t);
    if (loop_base->integrating && !m->started) {
        const lw_model *model = loop_base->base.model;
        memcpy(m->given, loop_base->data->q, (size_t)model->nq * sizeof *m->given);
        memcpy(m->given + model->nq, loop_base->data->v, (size_t)model->nv * sizeof *m->given);
        status = lw_rcr_look_at_start(m, t, error); /* draws speeds onto the rows */
        m->started = status == LW_OK;
        lw_take_state(model, loop_base->data, t, m->given, m->given + model->nq);
    }
    if (status == LW_OK) status = lw_rcr_run(m, t, tau, error);
    if (status != LW_OK) return status;
    if (loop_base->integrating) m->fastest = fmax(m->fastest, largest_rate(m, loop_base->data->vdot));
    if (loop_base->reacting) list_lambda(m);
    if (loop_base->integrating && m->started) lw_crossing_limit(m, t);
    return LW_OK;
}

/* --- unique components ----------------------------------------------------------------------------- */

/* A run at rest with all rows, of which those that are not among the own rows count as redundant; if loaded,
 * under the wrenches of the multipliers in s->lambda. */
static lw_status run_at_rest(lw_rcr *m, bool loaded, lw_error *error) {
    const lw_rows *rows = m->loop_base.rows;
    lw_rcr_system *s = m->system;
    lw_subject subject = lw_rcr_at_rest(m);
    double *load = m->loop_base.body;
    lw_rcr_system_select(s, &m->own);
    lw_rcr_evaluate(m, &subject, false);
    memset(s->l, 0, (size_t)rows->count * sizeof *s->l);
    lw_rcr_still(m);
    memset(load, 0, 6 * (size_t)(m->loop_base.base.model->body_count + 1) * sizeof *load);
    for (int t = 0; loaded && t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        for (int k = 0; k < loop->count; k++) {
            const lw_row *row = &rows->rows[loop->first + s->row[loop->first + k]];
            for (int b = row->block; b < row->block + row->count; b++) {
                double w[6];
                lw_wrench(s->K + s->loops->wrench_start[b], k, w);
                lw_v6_axpy(s->lambda[loop->first + k], w, load + 6 * rows->body[b]);
            }
        }
    }
    if (loaded) subject.load = load;
    return lw_rcr_system_run(s, &subject, error);
}

/* Multipliers that cause no motion, with arbitrary values in every redundant row. A row that is redundant
 * except for a pivot p is so with errors of sqrt(p) in other rows; the other rows compensate its own
 * effect. */
static lw_status null_vector(lw_rcr *m, unsigned seed, lw_error *error) {
    double *null = m->loop_base.lambda;
    size_t rows = (size_t)m->loop_base.rows->count * sizeof *null;
    lw_rcr_system_null(m->system, seed, m->system->lambda);
    memcpy(null, m->system->lambda, rows);
    lw_status status = run_at_rest(m, true, error);
    for (int r = 0; r < m->loop_base.rows->count; r++) m->system->lambda[r] += null[r];
    return status;
}

/* Redundant rows leave undetermined the reactions that multipliers without effect on the motion cause. Two
 * such multipliers, with arbitrary values in every redundant row, touch every component that any of them
 * touches. Nearly redundant rows are left out where others take over: the null vectors are then exact to
 * 1e-11, otherwise, next to a singular position, to 1e-8. */
static lw_status unique(lw_loop_method *loop_base, double t, bool *flags, lw_error *error) {
    (void)t;
    lw_rcr *m = (lw_rcr *)loop_base;
    const lw_model *model = loop_base->base.model;
    int count = 6 * model->joint_count;
    for (int k = 0; k < count; k++) flags[k] = true;
    lw_loop_method_rows(loop_base);
    if (m->loops->count == 0) return LW_OK;
    /* The multipliers of the state are saved. */
    memcpy(m->held, loop_base->lambda, (size_t)loop_base->rows->count * sizeof *m->held);
    lw_rcr_own_rows(m);
    /* Relative to the largest component; 1e-9 as in redundancy.c. */
    const double threshold = m->crossing.within ? 1e-7 : 1e-9;
    /* All rows take part, but only the own ones may be pivots. */
    for (int t_ = 0; t_ < m->loops->count; t_++) {
        const lw_loop_constraint *loop = &m->loops->loops[t_];
        for (int k = m->own.awake[t_]; k < loop->count; k++) m->own.scale[loop->first + k] = HUGE_VAL;
        m->own.awake[t_] = loop->count;
    }
    lw_rcr_system_forget(m->system);
    lw_status status = run_at_rest(m, false, error);
    for (unsigned seed = 1; seed <= 2 && status == LW_OK; seed++) {
        double largest = 0;
        memset(m->open, 0, (size_t)count * sizeof *m->open);
        status = null_vector(m, seed * 7919, error);
        list_lambda(m);
        lw_loop_constraint_reactions(model, loop_base->data, loop_base->rows, loop_base->lambda,
                                     loop_base->body, m->open);
        for (int r = 0; r < loop_base->rows->count; r++) largest = fmax(largest, fabs(loop_base->lambda[r]));
        for (int k = 0; k < count; k++) {
            if (k % 6 >= 3) m->open[k] /= m->system->length > 0 ? m->system->length : 1;
            largest = fmax(largest, fabs(m->open[k]));
        }
        for (int k = 0; k < count; k++) flags[k] &= !(fabs(m->open[k]) > threshold * largest);
    }
    memcpy(loop_base->lambda, m->held, (size_t)loop_base->rows->count * sizeof *m->held);
    return status;
}

/* --- the method ----------------------------------------------------------------------------------- */

static bool take_memory(lw_rcr *m) {
    const lw_model *model = m->loop_base.base.model;
    lw_arena *arena = m->loop_base.arena;
    size_t rows = (size_t)m->loop_base.rows->count + 1, nv = (size_t)model->nv + 1,
           nq = (size_t)model->nq + 1;
    m->loops = lw_loop_constraints_create(model, m->loop_base.rows, arena);
    if (!m->loops) return false;
    m->system = lw_rcr_system_create(model, m->loop_base.data, m->loops, m->loop_base.rows->count, 1, arena);
    if (!m->system) return false;
    m->choice = lw_choice_create(model, m->loop_base.rows, m->system, arena);
    m->finder = m->choice ? lw_rank_create(m->choice, arena) : NULL;
    m->zero = LW_NEW(arena, double, nv);
    m->open = LW_NEW(arena, double, 6 * model->joint_count + 1);
    m->bias = LW_NEW(arena, double, rows);
    m->gap = LW_NEW(arena, double, rows);
    m->left = LW_NEW(arena, double, rows);
    m->held = LW_NEW(arena, double, rows);
    m->start = LW_NEW(arena, double, nq);
    m->rest = LW_NEW(arena, double, nv);
    m->before = LW_NEW(arena, double, nv);
    m->moved = LW_NEW(arena, double, nq + 2 * nv);
    m->given = LW_NEW(arena, double, nq + nv);
    m->force = LW_NEW(arena, double, nv);
    m->push = LW_NEW(arena, double, nv);
    m->a = LW_NEW(arena, double, 6 * (model->body_count + 1));
    m->angle = LW_NEW(arena, double, nv);
    if (!m->finder || lw_arena_failed(arena)) return false;
    for (size_t k = 0; k < nv; k++) m->zero[k] = 1;
    for (int k = 0; k < m->choice->loop_speeds; k++)
        m->angle[k] = lw_rcr_rate(m, m->choice->in_loops[k], m->zero);
    memset(m->zero, 0, nv * sizeof *m->zero);
    return m->finder && !lw_arena_failed(arena) && lw_closures_create(model, arena, &m->closures) == LW_OK &&
           lw_crossing_create(m);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    lw_method_options own = *options;
    own.flags = false; /* They have their memory already: `unique`. */
    lw_rcr *m = (lw_rcr *)lw_loop_method_create(sizeof *m, &lw_formulation_rcr, model, &own, solve);
    if (!m || !take_memory(m)) {
        if (m) lw_loop_method_destroy(&m->loop_base.base);
        return lw_out_of_memory(error);
    }
    m->loop_base.unique = unique;
    m->latest = -HUGE_VAL;
    lw_status status = lw_rcr_add_inertia(m, error);
    if (status == LW_OK) status = lw_rcr_survey(m, error);
    if (status != LW_OK) {
        lw_loop_method_destroy(&m->loop_base.base);
        return status;
    }
    *out = &m->loop_base.base;
    return LW_OK;
}

/* A joint of the tree that moves no inertia is accepted if the loops determine its motion. This is tested at
 * the initial position under arbitrary forces at all joints: a motion that nothing determines shows as soon
 * as a force acts on it. */
static lw_status applies(const lw_model *model, lw_error *error) {
    const lw_method_options options = {.drift = LW_DRIFT_NONE};
    lw_error fault;
    lw_method *method = NULL;
    lw_status status = lw_tree_determined(model, error);
    if (status != LW_ERROR_UNSUPPORTED || model->closure_count + model->constraint_count == 0) return status;
    double *tau = calloc(3 * (size_t)model->nv + 1, sizeof *tau), *rest = tau + model->nv;
    lw_status tried = tau ? create(model, &options, &method, &fault) : LW_ERROR_MEMORY;
    for (int k = 0; k < model->nv && tau; k++) tau[k] = sin(1.7 * k + 1);
    if (tried == LW_OK)
        tried = lw_loop_method_accelerations(method, 0, model->q0, rest, tau, rest + model->nv, NULL, NULL,
                                             &fault);
    free(tau);
    if (method) lw_loop_method_destroy(method);
    return tried == LW_OK ? LW_OK : status;
}

/* A new simulation begins. */
static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    lw_rcr *m = (lw_rcr *)base;
    m->choice->made = m->choice->sound = m->asked = false;
    m->latest = -HUGE_VAL;
    m->started = m->keeps = false;
    m->fastest = 0;
    memcpy(m->start, q, (size_t)base->model->nq * sizeof *q);
    lw_crossing_forget(m);
    lw_tree_to_state(base, t, q, v, y);
}

/* Speeds at the end of a step. The passes run in any case, because the choice of coordinates is judged by
 * them. */
static lw_status accept_speeds(lw_rcr *m, double t, lw_error *error) {
    const lw_subject subject = lw_rcr_in_motion(m);
    bool off = lw_rcr_evaluate(m, &subject, true) > exact;
    lw_rcr_columns(m, true);
    return off ? project_speeds(m, t, error) : lw_rcr_smallest_motion(m, m->loop_base.defect, error);
}

/* The same, or for an instant between steps, with the rows that suit the state. closed: its positions are
 * consistent, so that rows that are asleep have to hold too. */
static lw_status consistent_speeds(lw_rcr *m, double t, bool next, bool closed, lw_error *error) {
    const double slip = 1e-10; /* Relative to the velocities. */
    const lw_subject subject = lw_rcr_in_motion(m);
    lw_data *data = m->loop_base.data;
    size_t size = (size_t)m->loop_base.base.model->nv * sizeof *data->v;
    memcpy(m->before, data->v, size);
    lw_status status = next ? accept_speeds(m, t, error) : eliminate_speeds(m, t, error);
    bool weak = next && m->system->weak;
    if (m->owned || status != LW_OK) return status;
    if (!weak && (!closed || !(lw_rcr_evaluate(m, &subject, true) > slip))) return status;
    memcpy(data->v, m->before, size);
    lw_rcr_own_rows(m);
    return next ? accept_speeds(m, t, error) : eliminate_speeds(m, t, error);
}

/* Near a singular position a motion that turns back sharply may lose the speeds across its new direction;
 * this is reported. */
static void tell_loss(lw_rcr *m, double t) {
    /* Relative to the speeds; and relative to the widest pivot. */
    const double noted = 1e-3, close_by = 1e-4;
    lw_crossing_look(m);
    double lost = largest_rate(m, m->loop_base.data->vdot), speed = largest_rate(m, m->loop_base.data->v);
    if (m->crossing.narrow < close_by && lost > noted * speed)
        lw_note(&m->loop_base.options, t, "singular",
                "loop of \"%s\": it turns away from a singular position so sharply that %.2g of its speeds "
                "is lost",
                lw_choice_closing(m->choice, m->crossing.narrowest), lost / speed);
}

static lw_status does_not_close(const lw_rcr *m, int row, double left, lw_error *error) {
    char what[160];
    lw_row_describe(m->loop_base.base.model, &m->loop_base.rows->rows[row], what, sizeof what);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL, lw_rows_remedy(m->loop_base.base.model),
                   "the positions cannot be made consistent: %s is off by %.3g", what, left);
}

/* Closes the loops of q with the rows that suit it. */
static lw_status close_positions(lw_rcr *m, double t, double *q, lw_error *error) {
    /* Relative to the length of a link: the largest gap with which a run can continue, and the largest one
     * with which the base is accepted. */
    const double open = 1e-6, closed = 1e-11;
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    double left;
    lw_status status;
    lw_take_state(model, data, t, q, NULL);
    int row = lw_rcr_close(m, &left, &status, error);
    if (!m->owned && !(status == LW_OK && left <= closed * m->system->length && !m->system->weak)) {
        lw_take_state(model, data, t, q, NULL);
        lw_rcr_own_rows(m);
        row = lw_rcr_close(m, &left, &status, error);
    }
    if (status != LW_OK) return status;
    if (!(left <= open * m->system->length)) return does_not_close(m, row, left, error);
    memcpy(q, data->q, (size_t)model->nq * sizeof *q);
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    const lw_model *model = base->model;
    lw_data *data = m->loop_base.data;
    lw_status status = LW_OK;
    lw_normalise_q(model, y);
    if (m->loop_base.rows->count == 0) return LW_OK;
    lw_take_state(model, data, t, y, NULL);
    lw_rcr_base_rows(m);
    bool closed = lw_crossing_closes(m, t, y);
    if (closed) status = close_positions(m, t, y, error);
    if (status != LW_OK) return status;
    lw_take_state(model, data, t, y, y + model->nq);
    bool next = m->asked && t > m->latest; /* States between steps are evaluated later and change nothing. */
    status = consistent_speeds(m, t, next, closed, error);
    memcpy(y + model->nq, data->v, (size_t)model->nv * sizeof *y);
    if (status != LW_OK || !next) return status;
    if (lw_crossing_reverses(m, t)) return lw_rcr_reverses(m, m->crossing.reversed_at, error);
    tell_loss(m, t);
    int rank = lw_rcr_rank(m);
    lw_rcr_keep_rows(m);
    lw_choice_recall(m->choice);
    reconsider(m, t);
    return m->started && rank < m->generic ? lw_rcr_look_at_rest(m, t, error) : LW_OK;
}

static void archive(lw_method *base, lw_archive *archive) {
    lw_rcr *m = (lw_rcr *)base;
    const int rows = m->loop_base.rows->count;
    lw_choice_archive(m->choice, archive);
    LW_ARCHIVE_ONE(archive, m->asked);
    LW_ARCHIVE_ONE(archive, m->latest);
    LW_ARCHIVE_ONE(archive, m->started);
    LW_ARCHIVE_ONE(archive, m->fastest);
    LW_ARCHIVE_MANY(archive, m->start, base->model->nq);
    LW_ARCHIVE_ONE(archive, m->keeps);
    if (rows > 0) {
        LW_ARCHIVE_MANY(archive, m->kept.awake, m->loops->count);
        LW_ARCHIVE_MANY(archive, m->kept.row, rows);
        LW_ARCHIVE_MANY(archive, m->kept.scale, rows);
    }
    LW_ARCHIVE_ONE(archive, m->crossing.reversed_at);
    LW_ARCHIVE_ONE(archive, m->crossing.reversing_loop);
    LW_ARCHIVE_ONE(archive, m->crossing.reported);
    if (archive->mode == LW_ARCHIVE_READ) lw_rcr_system_forget(m->system);
}

lw_choice *lw_rcr_choice(lw_method *base) { return ((lw_rcr *)base)->choice; }

lw_status lw_rcr_choose(lw_method *base, double t, const double *q, lw_error *error) {
    lw_rcr *m = (lw_rcr *)base;
    (void)error;
    lw_take_state(base->model, m->loop_base.data, t, q, NULL);
    memcpy(m->start, q, (size_t)base->model->nq * sizeof *q);
    if (m->loops->count > 0) first_choice(m, t);
    return LW_OK;
}

/* Instructions counted on four-bars, ladders, platforms, trellises, scissors, nets and hubs; the prediction
 * is within a third of these: per body, per four rows of a segment, per pair of segments, and per block that
 * the elimination of a loop changes; plus the test of each closure, awake or not. */
static double expense(lw_method *base) {
    const double per_instruction = 0.075; /* ns */
    const lw_rcr *m = (const lw_rcr *)base;
    const lw_selection *x = m->based ? &m->base : &m->whole;
    const lw_loop_constraints *loops = x->loops;
    double count = 230 + (m->closures ? 900. * loops->count : 3300. * m->loop_base.rows->count);
    for (int i = 1; i <= base->model->body_count; i++) {
        const lw_link *link = &base->model->links[i];
        bool aligned = link->kernel < LW_KERNEL_SPHERICAL;
        count += aligned ? 630 : 1750;
        for (int k = loops->segment_start[i]; k < loops->segment_start[i + 1]; k++) {
            int packs = (x->awake[loops->segments[k].loop] + 3) / 4;
            count += packs * (aligned ? 450 : 60 * link->joint.nv);
        }
        for (int k = loops->pair_start[i]; k < loops->pair_start[i + 1]; k++) {
            int rows = x->awake[loops->segments[loops->pairs[k].first].loop];
            count += 60 + 3. * rows * ((x->awake[loops->segments[loops->pairs[k].second].loop] + 3) / 4);
        }
    }
    for (int t = 0; t < loops->count; t++) {
        const lw_coupling *near = loops->couplings + loops->loops[t].coupling;
        double rows = x->awake[t], others = 0, packs = 0;
        count += 6 * rows * rows * rows;
        /* With itself and with all loops after it. */
        for (int j = loops->loops[t].couplings - 1; j >= 0; j--) {
            packs += (x->awake[near[j].loop] + 3) / 4, others++;
            count += 138 * others + 3.5 * rows * x->awake[near[j].loop] * packs;
        }
    }
    return per_instruction * count * (m->delicate ? 3 : 1);
}

static double least_expense(const lw_model *model) { return 45 * model->body_count; }

const lw_formulation lw_formulation_rcr = {
    .name = "rcr",
    .source = "anderson2003 33-80",
    .cost = "O(n + m), m^1.5 on nets",
    .summary = "loops eliminated locally in one pass inwards and one outwards, joint coordinates",
    .passes = true,
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 10,
    /* Speeds are made consistent in every evaluation, so that there is no drift to stabilise. */
    .no_baumgarte = true,
    .applies = applies,
    .create = create,
    .destroy = lw_loop_method_destroy,
    .to_state = to_state,
    .from_state = lw_loop_method_from_state,
    .accelerations = lw_loop_method_accelerations,
    .multipliers = lw_loop_method_multipliers,
    .speeds = lw_loop_method_speeds,
    .derivative = lw_loop_method_derivative,
    .archive = archive,
    .project = project,
    .leads_out = lw_rcr_leads_out,
    .blocked = lw_rcr_blocked,
    .violation = lw_loop_method_violation,
    .expense = expense,
    .least_expense = least_expense,
};
