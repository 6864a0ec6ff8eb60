/* partition_joint.c - the formulation `partition`: joint coordinates of the spanning tree, of which the
 * independent ones are chosen by the projective criterion and reconsidered during the run.
 *
 *   v_D = A v_I + eta                                 speeds that the state merely carries               (7)
 *   x = [0; xi],   M_d vdot_I = -D tau(x)             tau: inverse dynamics of the tree, M x - h (8), (12-14)
 *   vdot = D'vdot_I + x                                                                                  (10)
 *
 * Rows     of closures, constraints and prescribed speeds (C = e_i); eta and xi contain the terms that depend
 *          on time.
 * State    y = (q, v) of the whole tree, so that a change of coordinates changes only which speeds are read:
 *          no entry of y jumps, and multistep formulas continue. The set changes in project only, at accepted
 *          steps.
 * Drift    project: q_D by Newton's method for given q_I, v_D by (7); none: v_D by (7) only; baumgarte: all
 *          speeds are read, and the rows hold at acceleration level with Baumgarte's terms; closed: q_D =
 *          g(q_I) (closing.c) at every state.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 5-15, 27-28; docs/theory/partition.md.
 * Cost     dense, O(n^2 m + n^2 k) per derivative; a choice per accepted step, O(n^3 + n^2 m); no allocation.
 * Limits   M may be singular, M_d may not. Slip of rolling bodies has no position level and no closing
 *          conditions.
 */
#include "formulations/partition/closing.h"
#include "formulations/partition/constraint_forces.h"
#include "formulations/common/loop_method_base.h"
#include "formulations/common/absolute_method_base.h"
#include "formulations/common/tree_method_base.h"
#include "model/joint.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct partition_method {
    lw_loop_method loop_base;
    lw_partition *partition;
    lw_constraint_forces *constraint_forces;
    lw_scheme scheme;
    lw_closing *closing; /* Only with drift control `closed`. */
    int planned;         /* The choice for which the closing conditions have been planned; 0: none. */
    bool *independent;
    double length;
    double *factor, *right, *multiplier; /* per row */
    double *q, *step;
    double *particular, *before, *after; /* [0; xi];  M [0; xi] - h;  M vdot - h. */
    /* 6 per body: accelerations of the bodies at vdot = 0, and the spatial ones. */
    double *wanted, *rest;
} partition_method;

extern const lw_formulation lw_formulation_partition;

/* --- the system at a state ------------------------------------------------------------------------- */

/* Rows and C of the state in data; for positions, rows of slip are left out. */
static void take_rows(partition_method *m, bool positions) {
    lw_loop_method *loop_base = &m->loop_base;
    const lw_model *model = loop_base->base.model;
    lw_partition *p = m->partition;
    lw_loop_method_rows(loop_base);
    lw_criterion_rows(model, loop_base->data, loop_base->rows, m->length, p->C, m->factor);
    for (int r = 0; positions && r < loop_base->rows->count; r++)
        if (lw_row_is_slip(model, &loop_base->rows->rows[r]))
            memset(p->C + (size_t)r * (size_t)p->n, 0, (size_t)p->n * sizeof *p->C);
    p->tolerance = lw_criterion_tolerance(loop_base->rows, m->length);
}

/* M and C at (t, q, v), and the state in data. */
static void take_system(partition_method *m, double t, const double *q, const double *v) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_mass_matrix_held(model, data, t, q, m->partition->M);
    lw_take_state(model, data, t, q, v);
    take_rows(m, false);
    lw_partition_scale(m->partition);
}

/* Right-hand sides of the rows, from those of closures and constraints and from the prescribed speeds (or
 * their rates). */
static void take_right(partition_method *m, const double *of_loops, double sign, const double *of_speeds) {
    const lw_model *model = m->loop_base.base.model;
    int count = m->loop_base.rows->count;
    for (int r = 0; r < count; r++) m->right[r] = sign * of_loops[r] * m->factor[r];
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) {
                m->right[count] = of_speeds ? of_speeds[model->links[i].v + k] * m->factor[count] : 0;
                count++;
            }
}

/* Accelerations of the bodies (angular; of the centre of mass; world axes) that depend on speeds only. */
static void accelerations_at_rest(const partition_method *m, double *A) {
    const lw_model *model = m->loop_base.base.model;
    const lw_data *data = m->loop_base.data;
    double *rest = m->rest; /* Rates of the components of the twists. */
    memset(rest, 0, 6 * sizeof *rest);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        const lw_pose *world = &data->world[i];
        const double *V = motion->V, *c = model->bodies[i].com;
        double R[9], p[3], S[6 * LW_JOINT_MAX_V], bias[6], relative[6] = {0}, *own = rest + 6 * i;
        lw_joint_motion(&link->joint, data->q + link->q, data->v + link->v, R, p, S, bias);
        for (int k = 0; k < link->joint.nv; k++) lw_v6_axpy(data->v[link->v + k], S + 6 * k, relative);
        lw_twist_to_child(motion->R, motion->p, rest + 6 * link->parent, own);
        lw_v6_axpy(1, bias, own);
        lw_v3_add_cross(V, relative, own);
        lw_v3_add_cross(V, relative + 3, own + 3);
        lw_v3_add_cross(V + 3, relative, own + 3);
        double a[3], turn[3], out[3]; /* Acceleration of the point at c: vdot + wdot x c + w x (v + w x c). */
        lw_v3_cross(V, c, turn);
        lw_v3_add(turn, V + 3, turn);
        lw_v3_copy(own + 3, a);
        lw_v3_add_cross(own, c, a);
        lw_v3_cross(V, turn, out);
        lw_v3_add(a, out, a);
        lw_m3_mul_v(world->R, own, A + 6 * (i - 1));
        lw_m3_mul_v(world->R, a, A + 6 * (i - 1) + 3);
    }
}

/* v with v_D by (7), for the state in data; C is factored. After a position where rank was lost, v_I may
 * contain a component across the motion, which the additional freedom there has allowed: then all speeds
 * change by the smallest amount. */
static lw_status take_speeds(partition_method *m, double *v, lw_error *error) {
    take_right(m, m->loop_base.rows->rate, 1, m->loop_base.data->v);
    if (!m->partition->crossed) {
        lw_partition_dependent(m->partition, m->right, v);
        return LW_OK;
    }
    lw_status status = lw_partition_reduce(m->partition, error);
    if (status == LW_OK) lw_partition_tangent(m->partition, m->right, v);
    return status;
}

/* --- closing conditions ----------------------------------------------------------------------------- */

static bool by_closing(const partition_method *m) { return m->closing != NULL; }

/* Plans the closing conditions for the set of the run. */
static lw_status plan(partition_method *m, lw_error *error) {
    const lw_partition *p = m->partition;
    for (int k = 0; k < p->n; k++) m->independent[k] = false;
    for (int k = 0; k < p->run.count; k++) m->independent[p->run.independent[k]] = true;
    m->planned = 0;
    lw_status status = lw_closing_plan(m->closing, m->independent, error);
    if (status == LW_OK) m->planned = p->choices;
    return status;
}

/* q_D = g(q_I) (27). The branch is that of the q_D in the state: they are integrated like the others and have
 * local errors only, so that no trial step or state between steps has an influence. */
static lw_status take_positions(partition_method *m, double t, double *q, lw_error *error) {
    lw_status status = m->planned == m->partition->choices ? LW_OK : plan(m, error);
    if (status != LW_OK) return status;
    lw_closing_take_branch(m->closing, t, q);
    return lw_closing_positions(m->closing, t, q, error);
}

/* --- motion ---------------------------------------------------------------------------------------- */

static lw_status row_forces(partition_method *m, lw_scheme scheme, lw_error *error) {
    return lw_constraint_forces_solve(m->constraint_forces, m->partition, scheme, m->before, m->after,
                                      m->multiplier, error);
}

/* M x - h at the state in q and v. */
static void inverse(partition_method *m, double t, const double *tau, const double *x, double *out) {
    const lw_model *model = m->loop_base.base.model;
    lw_inverse_held(model, m->loop_base.data, t, m->q, m->loop_base.v, x, out);
    for (int k = 0; tau && k < model->nv; k++) out[k] -= tau[k];
}

/* Positions, matrices and speeds of the system: in a run dependent ones follow from the others. */
static lw_status take_state(partition_method *m, double t, lw_error *error) {
    lw_loop_method *base = &m->loop_base;
    lw_partition *p = m->partition;
    lw_data *data = base->data;
    bool baumgarte = base->options.drift == LW_DRIFT_BAUMGARTE;
    lw_status status = LW_OK;
    memcpy(m->q, data->q, (size_t)base->base.model->nq * sizeof *m->q);
    memcpy(base->v, data->v, (size_t)base->base.model->nv * sizeof *base->v);
    if (base->integrating && by_closing(m) && p->run.count >= 0) status = take_positions(m, t, m->q, error);
    if (status != LW_OK) return status;
    take_system(m, t, m->q, base->v);
    if (base->integrating) {
        status = lw_partition_factor_run(p, error);
    } else {
        status = lw_partition_choose(p, &p->query, error);
        if (status == LW_OK) status = lw_partition_factor(p, &p->query, false, error);
    }
    if (status != LW_OK || !base->integrating || baumgarte || base->rows->count == 0) return status;
    status = take_speeds(m, base->v, error);
    if (status != LW_OK) return status;
    lw_take_state(base->base.model, data, t, m->q, base->v);
    lw_loop_method_rows(base);
    return LW_OK;
}

/* Computes accelerations x: dependent ones from the rows alone, then all of them so that M x = h up to forces
 * in the rows. Inverse dynamics is more accurate than M_d: one correction by its residual. */
static void find_accelerations(partition_method *m, double t, const double *tau, double *x) {
    enum { ROUNDS = 2 };
    int nv = m->loop_base.base.model->nv;
    memset(x, 0, (size_t)nv * sizeof *x);
    lw_partition_dependent(m->partition, m->right, x);
    inverse(m, t, tau, x, m->before);
    memcpy(m->after, m->before, (size_t)nv * sizeof *m->after);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < nv; k++) m->after[k] = -m->after[k];
        lw_partition_move(m->partition, m->after, x);
        inverse(m, t, tau, x, m->after);
    }
}

/* (12) is solved for the rounding of M x as well, a part eps of |M| |x|, so that vdot_I is uncertain by
 * eps M_d^-1 |D| |M| |x| at worst. Next to a singular position a body without inertia about an axis may
 * accelerate 1e9 times as fast as all others. The others then have lost their digits, and this bound alone
 * tells it: the balance check grants the rounding of the fast one. step is workspace. */
static lw_status keep_digits(partition_method *m, const double *x, double *step, lw_error *error) {
    const double good = 3e-5;  /* of each acceleration; what passes the balance check is right to 1e-5 */
    const double least = 1e-8; /* of the largest one: some hundred of its roundings, over `good` */
    const lw_model *model = m->loop_base.base.model;
    lw_partition *p = m->partition;
    size_t n = (size_t)p->n;
    double most = lw_v3_norm(model->gravity) / m->length, worst = 0, *a = p->pivots; /* free here */
    int where = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]) / p->units[i]);
        step[i] = 0;
        for (size_t j = 0; j < n; j++) step[i] += DBL_EPSILON * fabs(p->M[i + j * n] * x[j]) / p->units[j];
    }
    for (int i = 0; i < p->k; i++) {
        a[i] = 0;
        for (size_t j = 0; j < n; j++) a[i] += fabs(p->D[j + (size_t)i * n]) * step[j];
    }
    lw_cholesky_solve(p->symmetric, p->k, p->Md, 1, a);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = model->links[i].v; k < model->links[i].v + model->links[i].joint.nv; k++) {
            double uncertain = 0;
            for (int j = 0; j < p->k; j++) uncertain += fabs(p->D[(size_t)k + (size_t)j * n] * a[j]);
            double share = uncertain / (fabs(x[k]) / p->units[k] + least * most);
            if (share > worst) worst = share, where = i;
        }
    if (!(worst > good)) return LW_OK;
    const lw_joint_entry *joint = &model->joints[model->bodies[where].joint_index];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
        "take method lagrange, or give a little inertia to bodies that have none about some axis",
        "its acceleration is uncertain by up to %.1g of itself: other joints accelerate so fast "
        "that their rounding is left in it",
        worst);
}

/* Multipliers of the rows, and forces of prescribed speeds, which stand behind these. */
static void take_multipliers(partition_method *m) {
    lw_loop_method *base = &m->loop_base;
    const lw_model *model = base->base.model;
    int rows = base->rows->count;
    for (int r = 0; r < rows; r++) base->lambda[r] = m->multiplier[r] * m->factor[r];
    memset(base->data->drive, 0, (size_t)model->nv * sizeof *base->data->drive);
    for (int i = 1, r = rows; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) {
                base->data->drive[model->links[i].v + k] = m->multiplier[r] * m->factor[r];
                r++;
            }
}

static lw_status solve(lw_loop_method *loop_base, double t, const double *tau, lw_error *error) {
    partition_method *m = (partition_method *)loop_base;
    const lw_model *model = loop_base->base.model;
    lw_data *data = loop_base->data;
    const lw_rows *rows = loop_base->rows;
    lw_status status = take_state(m, t, error);
    if (status != LW_OK) return status;
    lw_loop_method_stabilise(loop_base);
    accelerations_at_rest(m, m->wanted);
    lw_rows_transposed(rows, m->wanted, loop_base->defect);
    for (int r = 0; r < rows->count; r++) loop_base->defect[r] = rows->gamma[r] - loop_base->defect[r];
    take_right(m, loop_base->defect, 1, data->vdot);
    status = lw_partition_reduce(m->partition, error);
    if (status != LW_OK) return status;
    find_accelerations(m, t, tau, m->particular);
    if (!loop_base->integrating) status = keep_digits(m, m->particular, m->step, error); /* what is shown */
    if (status == LW_OK) status = row_forces(m, m->scheme, error);
    if (status != LW_OK) return status;
    take_multipliers(m);
    /* Inverse dynamics does not take over the state of a model without prescribed motions and elements. */
    lw_take_state(model, data, t, m->q, loop_base->v);
    memcpy(data->vdot, m->particular, (size_t)model->nv * sizeof *data->vdot);
    return LW_OK;
}

/* --- drift ----------------------------------------------------------------------------------------- */

/* q_D for the q_I in q, by Newton's method. */
static lw_status close_positions(partition_method *m, double t, double *q, lw_error *error) {
    enum { ROUNDS = 40, PATIENCE = 10 };
    const double closed = 1e-14,
                 /* Relative to the size of the mechanism: rounding, and the largest gap with which a run can
                  * continue. */
        open = 1e-6;
    const lw_model *model = m->loop_base.base.model;
    const lw_rows *rows = m->loop_base.rows;
    lw_partition *p = m->partition;
    double best = HUGE_VAL;
    int stalled = 0;
    for (int round = 0;; round++) {
        lw_take_state(model, m->loop_base.data, t, q, NULL);
        memcpy(q, m->loop_base.data->q, (size_t)model->nq * sizeof *q); /* Including the prescribed ones. */
        take_rows(m, true);
        double gap = 0;
        for (int r = 0; r < rows->count; r++)
            gap = rows->phi[r] > gap || rows->phi[r] < -gap ? fabs(rows->phi[r]) : gap;
        stalled = gap < 0.5 * best ? 0 : stalled + 1;
        bool settled = gap < 1e-12 * m->length && stalled > 0; /* Only rounding fluctuates. */
        if (!(gap > closed * m->length) || settled || round == ROUNDS || stalled > PATIENCE)
            return gap <= open * m->length
                       ? LW_OK
                       : lw_stays_open(model, m->loop_base.data, rows, rows->phi, "positions", error);
        best = fmin(best, gap);
        lw_partition_scale(p);
        lw_partition_factor(p, &p->run, true, NULL);
        memset(m->step, 0, (size_t)model->nv * sizeof *m->step);
        take_right(m, rows->phi, -1, NULL);
        lw_partition_dependent(p, m->right, m->step);
        double most = 0; /* Far from the solution a linear step means little. */
        for (int k = 0; k < model->nv; k++) most = fmax(most, fabs(m->step[k]) / p->units[k]);
        lw_integrate_q(model, q, m->step, most > 0.5 ? 0.5 / most : 1);
    }
}

/* v_D by (7) at q. */
static lw_status close_speeds(partition_method *m, double t, const double *q, double *v, lw_error *error) {
    const double open = 1e-6;
    take_system(m, t, q, v);
    lw_status status = lw_partition_factor_run(m->partition, error);
    if (status == LW_OK) status = take_speeds(m, v, error);
    if (status != LW_OK) return status;
    lw_take_state(m->loop_base.base.model, m->loop_base.data, t, q, v);
    lw_loop_method_rows(&m->loop_base);
    if (lw_loop_method_velocity_defect(&m->loop_base) <= open) return LW_OK;
    return lw_stays_open(m->loop_base.base.model, m->loop_base.data, m->loop_base.rows, m->loop_base.defect,
                         "speeds", error);
}

/* --- the method ------------------------------------------------------------------------------------ */

static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    partition_method *m = (partition_method *)base;
    lw_tree_to_state(base, t, q, v, y);
    take_system(m, t, q, v); /* A new run begins. */
    m->planned = 0;
    lw_partition_begin(m->partition, t);
}

/* The plan of closing conditions belongs to a set: it is made anew. */
static void archive(lw_method *base, lw_archive *archive) {
    partition_method *m = (partition_method *)base;
    lw_partition_archive(m->partition, archive);
    if (archive->mode == LW_ARCHIVE_READ) m->planned = 0;
}

static void from_state(lw_method *base, double t, const double *y, double *q, double *v) {
    partition_method *m = (partition_method *)base;
    lw_loop_method_from_state(base, t, y, q, v);
    /* If the speeds cannot be made consistent they stay as they are; the calls of the run itself report
     * it. */
    if (by_closing(m) && m->planned && take_positions(m, t, q, NULL) == LW_OK) close_speeds(m, t, q, v, NULL);
}

/* Puts positions onto the constraints, if the drift control asks for it. */
static lw_status keep_positions(partition_method *m, double t, double *q, lw_error *error) {
    if (m->partition->run.count < 0) return LW_OK;
    if (by_closing(m)) return take_positions(m, t, q, error);
    return m->loop_base.options.drift == LW_DRIFT_PROJECT ? close_positions(m, t, q, error) : LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    partition_method *m = (partition_method *)base;
    double *v = y + base->model->nq;
    bool changed = false;
    lw_status status = LW_OK;
    lw_normalise_q(base->model, y);
    if (m->partition->m == 0) return LW_OK;
    /* On the constraints ranks are clear, so the set is reconsidered there. If the old set does not lead
     * there, a new one may. */
    lw_status closed = keep_positions(m, t, y, error);
    if (lw_partition_due(m->partition, t)) {
        take_system(m, t, y, v);
        status = lw_partition_reconsider(m->partition, &m->loop_base.options, t, &changed, error);
    }
    if (status == LW_OK) status = changed ? keep_positions(m, t, y, error) : closed;
    if (status == LW_OK && m->loop_base.options.drift != LW_DRIFT_BAUMGARTE)
        status = close_speeds(m, t, y, v, error);
    lw_partition_accept(m->partition, t);
    return status;
}

static lw_status applies(const lw_model *model, lw_error *error) {
    int rows = lw_criterion_row_count(model);
    lw_status status = lw_dense_limit("partition", rows > model->nv ? rows : model->nv, error);
    if (status != LW_OK) return status;
    return model->armature ? lw_tree_determined(model, error) : lw_needs_determined(model, error);
}

static void destroy(lw_method *base) {
    partition_method *m = (partition_method *)base;
    if (!m) return;
    lw_closing_destroy(m->closing);
    lw_constraint_forces_destroy(m->constraint_forces);
    lw_partition_destroy(m->partition);
    lw_loop_method_destroy(base);
}

static bool build(partition_method *m) {
    const lw_model *model = m->loop_base.base.model;
    lw_arena *arena = m->loop_base.arena;
    int rows = lw_criterion_row_count(model);
    size_t bodies = 6 * ((size_t)model->body_count + 1), nv = (size_t)model->nv + 1;
    m->partition = lw_partition_create(model->nv, rows, model, arena);
    if (m->partition) m->constraint_forces = lw_constraint_forces_create(m->partition, arena);
    bool closed = m->loop_base.options.drift == LW_DRIFT_CLOSED && rows > 0;
    if (closed) m->closing = lw_closing_create(model, arena);
    if (m->closing)
        lw_closing_set_values(m->closing, m->loop_base.options.inputs, m->loop_base.options.states);
    m->independent = LW_NEW(arena, bool, nv);
    m->factor = LW_NEW(arena, double, rows + 1);
    m->right = LW_NEW(arena, double, rows + 1);
    m->multiplier = LW_NEW(arena, double, rows + 1);
    m->q = LW_NEW(arena, double, model->nq + 1);
    m->step = LW_NEW(arena, double, nv);
    m->particular = LW_NEW(arena, double, nv);
    m->before = LW_NEW(arena, double, nv);
    m->after = LW_NEW(arena, double, nv);
    m->wanted = LW_NEW(arena, double, bodies);
    m->rest = LW_NEW(arena, double, bodies);
    return m->partition && m->constraint_forces && (m->closing || !closed) && !lw_arena_failed(arena);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    partition_method *m = (partition_method *)lw_loop_method_create(sizeof *m, &lw_formulation_partition,
                                                                    model, options, solve);
    if (!m || !build(m)) {
        if (m) destroy(&m->loop_base.base);
        return lw_out_of_memory(error);
    }
    m->length = lw_longest_arm(model);
    lw_criterion_units(model, m->length, m->partition->units);
    m->partition->name = lw_speed_name;
    m->scheme = options->scheme == 35 ? LW_SCHEME_35 : options->scheme == 37 ? LW_SCHEME_37 : LW_SCHEME_38;
    lw_status status = lw_partition_fix(m->partition, options->independent, error);
    if (status == LW_OK)
        *out = &m->loop_base.base;
    else
        destroy(&m->loop_base.base);
    return status;
}

static const char *scheme_name(int scheme) { return lw_scheme_name((lw_scheme)scheme); }
static void use_scheme(lw_method *method, int scheme) {
    ((partition_method *)method)->scheme = (lw_scheme)scheme;
}
static lw_status scheme_forces(lw_method *method, int scheme, lw_error *error) {
    return row_forces((partition_method *)method, (lw_scheme)scheme, error);
}
static const lw_reaction_schemes schemes = {LW_SCHEMES, scheme_name, use_scheme, scheme_forces};

static double condition(lw_method *base) { return ((partition_method *)base)->partition->condition; }

const lw_formulation lw_formulation_partition = {
    .name = "partition",
    .source = "blajer1994 5-15, 23, 27-38",
    .cost = "O(n^3), dense",
    .dense = true,
    .summary = "independent joint coordinates that are chosen automatically, motion only, no multipliers",
    .passes = true,
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 25,
    .closing = true,
    .partitions = true,
    .schemes = &schemes,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = to_state,
    .from_state = from_state,
    .accelerations = lw_loop_method_accelerations,
    .multipliers = lw_loop_method_multipliers,
    .speeds = lw_loop_method_speeds,
    .derivative = lw_loop_method_derivative,
    .archive = archive,
    .project = project,
    .violation = lw_loop_method_violation,
    .condition = condition,
};
