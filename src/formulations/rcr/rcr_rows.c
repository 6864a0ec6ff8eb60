/* rcr_rows.c - which rows take part in the passes of the method rcr, and corrections where these lose digits.
 *
 * The base is found once, at the model's initial position or at a closed one beside it: the rows that are
 * independent there (rcr_rank.c), with their pivots in the passes as a scale. A state uses the base as long
 * as its pivots are not far below that scale and the accelerations satisfy the rows that are asleep.
 * Otherwise it uses the rows that are independent at the state, large pivots first; a row of one loop may
 * then replace one of another (three parallel cranks, two of them in line). So nothing depends on states
 * evaluated before.
 *
 * Where the bodies of a loop differ much in inertia, the compliance of the light ones hides that of the
 * others in (8), and its pivots lose digits. Then the residuals of accelerations and multipliers are
 * computed,
 *
 *   rest_j = tau_j - (joint force that vdot, loads and K lambda require),     left_r = K'a + l
 *
 * and the same elimination, at rest under rest and left, gives a correction. It is repeated as long as it
 * makes the residual smaller.
 *
 * Source   docs/theory/rcr.md, 4.
 * Cost     O(1) for the test of each row that is asleep; own rows about as much as two runs; a correction one
 *          run and an inverse dynamics.
 */
#include "constraints/projection.h"
#include "formulations/rcr/rcr_parts.h"

#define LANES 1
#include "dynamics/tree_inverse.h"

#include <math.h>
#include <string.h>

/* Pivots of rcr_rank.c. Rows that depend on others at a closed or singular position have pivots below
 * `redundant`, or below 0.01 of the smallest pivot far from singular positions if that is less; near a
 * singular position pivots are below `wide` times that. */
static const double redundant = 1e-4, wide = 0.015;

/* --- a state's own rows ------------------------------------------------------------------------------ */

/* The number of independent rows at the position in data. */
static int find(lw_rcr *m, double least) {
    const lw_subject subject = lw_rcr_at_rest(m);
    lw_rcr_system_select(m->system, &m->whole);
    lw_rcr_evaluate(m, &subject, false);
    lw_rcr_columns(m, true);
    return lw_rank_find(m->finder, least);
}

static double least_pivot(const lw_rcr *m, int *where) {
    double least = 1;
    for (int t = 0; t < m->loops->count; t++)
        if (m->finder->found[t] > 0 && m->finder->least[t] < least) {
            least = m->finder->least[t];
            if (where) *where = t;
        }
    return least;
}

/* Makes the rows found a selection. */
static void take_found(const lw_rcr *m, lw_selection *x) {
    for (int t = 0; t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        x->awake[t] = m->finder->found[t];
        for (int k = loop->first; k < loop->first + loop->count; k++)
            x->row[k] = m->finder->row[k], x->scale[k] = LW_ANY_PIVOT;
    }
    lw_rcr_system_forget(m->system);
}

void lw_rcr_base_rows(lw_rcr *m) {
    m->owned = false;
    if (m->based)
        lw_rcr_system_select(m->system, &m->base);
    else
        lw_rcr_own_rows(m);
}

void lw_rcr_own_rows(lw_rcr *m) {
    lw_crossing *c = &m->crossing;
    const double open = m->based ? wide * m->narrowest : redundant;
    int total = find(m, open);
    m->owned = true;
    c->within = false;
    if (total >= 0 && m->based && total < m->generic) {
        c->within = true;
        total = find(m, fmin(redundant, 0.01 * m->narrowest));
    }
    double least = least_pivot(m, &c->narrowest) / m->narrowest;
    c->narrow = total < m->generic ? 0 : fmin(least * least, 1);
    for (int t = 0; t < m->loops->count && total >= 0; t++) {
        bool lost = c->narrow == 0 && m->finder->found[t] < m->base.awake[t];
        c->near[t] = lost || m->finder->least[t] < open;
        if (lost) c->narrowest = t;
    }
    if (total < 0) { /* The fronts exceed their memory. */
        lw_rcr_system_select(m->system, m->based ? &m->base : &m->whole);
        return;
    }
    take_found(m, &m->own);
    lw_rcr_system_select(m->system, &m->own);
}

/* The scales and the order of a selection become those of the pivots of the last run. */
static void take_scale(const lw_rcr *m, const lw_selection *x) {
    const lw_rcr_system *s = m->system;
    for (int t = 0; t < s->loops->count; t++) {
        const lw_loop_constraint *loop = &s->loops->loops[t];
        for (int k = 0; k < s->rank[t]; k++) {
            int next = x->order[loop->first + k] = s->pivot[loop->first + k];
            x->scale[loop->first + next] = 1 / s->L[loop->block + (LW_ABREAST(x->awake[t]) + 1) * k];
        }
    }
}

void lw_rcr_keep_rows(lw_rcr *m) {
    const double fair = 0.1; /* Near a singular position the base has to be used to measure the distance. */
    m->keeps = m->owned && m->based && m->crossing.narrow > fair;
    if (!m->keeps) return;
    memcpy(m->kept.awake, m->own.awake, (size_t)m->loops->count * sizeof *m->own.awake);
    memcpy(m->kept.row, m->own.row, (size_t)m->loop_base.rows->count * sizeof *m->own.row);
    for (int r = 0; r < m->loop_base.rows->count; r++) m->kept.scale[r] = LW_ANY_PIVOT;
    take_scale(m, &m->kept);
    if (m->system->selected == &m->kept) lw_rcr_system_forget(m->system);
}

/* --- once and for all --------------------------------------------------------------------------------- */

/* In [-1, 1], the same for the same seed (xorshift). */
static double chance(unsigned *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return (double)*seed / 2147483648.0 - 1;
}

/* Arbitrary speeds of the joints in loops, including prescribed ones, as angles of at most 1. */
static void any_speeds(const lw_rcr *m, unsigned seed, double *v) {
    const lw_model *model = m->loop_base.base.model;
    memset(v, 0, (size_t)model->nv * sizeof *v);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++) {
            int speed = model->links[i].v + k;
            if (m->loops->segment_start[i] == m->loops->segment_start[i + 1]) continue;
            double x = chance(&seed);
            v[speed] = 1;
            v[speed] = x / lw_rcr_rate(m, speed, v);
        }
}

static double fastest_of(const lw_rcr *m, const double *v) {
    const lw_model *model = m->loop_base.base.model;
    double fastest = 0;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (m->loops->segment_start[i] < m->loops->segment_start[i + 1])
                fastest = fmax(fastest, lw_rcr_rate(m, model->links[i].v + k, v));
    return fastest;
}

/* A closed position at or near the one in data; false if none has been found. */
static bool close_reference(lw_rcr *m) {
    const double closed = 1e-9; /* Relative to the length of a link. */
    const lw_model *model = m->loop_base.base.model;
    double left;
    lw_rcr_system_select(m->system, &m->whole);
    lw_rcr_ask_positions(m, &left);
    if (left <= closed * m->system->length) return true;
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    if (!projection) return false;
    lw_violation violation;
    lw_error ignored;
    double *q = m->loop_base.data->q;
    lw_status status = lw_project_positions(projection, 0, q, 200, &violation, &ignored);
    lw_projection_destroy(projection);
    return status == LW_OK && violation.largest <= closed * m->system->length;
}

/* Moves from the position in data, whose rows have just been found, to one at some distance. */
static bool move_on(lw_rcr *m, lw_error *error) {
    const double distance = 0.2, closed = 1e-9; /* In rad; relative to the length of a link. */
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    const lw_subject subject = lw_rcr_in_motion(m);
    double left;
    lw_status status;
    take_found(m, &m->own);
    lw_rcr_system_select(m->system, &m->own);
    any_speeds(m, 12345, data->v);
    lw_rcr_evaluate(m, &subject, true);
    if (lw_rcr_smallest_motion(m, m->loop_base.defect, error) != LW_OK) return false;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    double fastest = fastest_of(m, data->v);
    if (!(fastest > 1e-6)) return false; /* Nothing moves. */
    lw_integrate_q(model, data->q, data->v, distance / fastest);
    memcpy(m->moved, data->q, (size_t)model->nq * sizeof *m->moved);
    lw_rcr_close(m, &left, &status, error);
    if (status == LW_OK && left <= closed * m->system->length) return true;
    /* Starting from a singular position, no row may be missing. */
    memcpy(data->q, m->moved, (size_t)model->nq * sizeof *m->moved);
    if (find(m, redundant) < 0) return false;
    take_found(m, &m->own);
    lw_rcr_system_select(m->system, &m->own);
    lw_rcr_close(m, &left, &status, error);
    return status == LW_OK && left <= closed * m->system->length;
}

/* Takes that one of two positions whose smallest pivot is larger: its rows into the finder, its q into
 * data. */
static void find_widest(lw_rcr *m) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    size_t size = (size_t)model->nq * sizeof *data->q;
    lw_error ignored;
    while ((m->generic = find(m, redundant)) < 0)
        if (!lw_rank_grow(m->finder, m->loop_base.arena)) return;
    m->narrowest = least_pivot(m, NULL);
    memcpy(m->start, data->q, size);
    if (move_on(m, &ignored)) {
        int total = find(m, redundant);
        double narrowest = least_pivot(m, NULL);
        if (total > m->generic || (total == m->generic && narrowest > 3 * m->narrowest)) {
            m->generic = total, m->narrowest = narrowest;
            return;
        }
    }
    memcpy(data->q, m->start, size);
    find(m, redundant);
}

/* Are there rows asleep that are not satisfied where the loops are open? */
static bool is_fragile(lw_rcr *m) {
    const double gap = 1e-6, satisfied = 1e-9; /* In rad; relative. */
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_subject subject = lw_rcr_at_rest(m);
    lw_error ignored;
    any_speeds(m, 777, m->rest);
    lw_integrate_q(model, data->q, m->rest, gap);
    any_speeds(m, 4711, m->rest);
    subject.tau = m->rest;
    lw_rcr_still(m);
    memset(data->v, 0, (size_t)model->nv * sizeof *data->v);
    lw_rcr_evaluate(m, &subject, false);
    memset(m->left, 0, (size_t)m->loop_base.rows->count * sizeof *m->left);
    memset(m->system->l, 0, (size_t)m->loop_base.rows->count * sizeof *m->left);
    if (lw_rcr_system_run(m->system, &subject, &ignored) != LW_OK) return false;
    return lw_rcr_sleeping_defect(m) > satisfied;
}

lw_status lw_rcr_survey(lw_rcr *m, lw_error *error) {
    const double lost = 1e4; /* The factor of cancellation from which results are corrected. */
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    lw_arena *arena = m->loop_base.arena;
    int rows = m->loop_base.rows->count;
    if (!lw_selection_create(&m->whole, m->loops, rows, arena) ||
        !lw_selection_create(&m->base, m->loops, rows, arena) ||
        !lw_selection_create(&m->own, m->loops, rows, arena) ||
        !lw_selection_create(&m->kept, m->loops, rows, arena))
        return lw_out_of_memory(error);
    lw_take_state(model, data, 0, model->q0, NULL);
    lw_rcr_system_select(m->system, &m->whole);
    const lw_subject subject = lw_rcr_at_rest(m);
    lw_loop_method_rows(&m->loop_base);
    lw_rcr_evaluate(m, &subject, false);
    lw_rank_measure(m->finder, m->system->K);
    m->narrowest = 1;
    if (rows > 0 && !close_reference(m)) return LW_OK;
    find_widest(m);
    if (m->generic < 0) return lw_out_of_memory(error);
    take_found(m, &m->base);
    int asleep = 0;
    bool *active = LW_NEW(arena, bool, m->loops->count + 1);
    for (int t = 0; active && t < m->loops->count; t++) {
        active[t] = m->base.awake[t] > 0;
        asleep += !active[t];
    }
    if (asleep) m->base.loops = lw_loop_constraints_reduce(model, m->loop_base.rows, m->loops, active, arena);
    if (!active || !m->base.loops) return lw_out_of_memory(error);
    lw_rcr_system_select(m->system, &m->base);
    m->based = true;
    lw_rcr_evaluate(m, &subject, false);
    memset(m->left, 0, (size_t)rows * sizeof *m->left);
    lw_status status = lw_rcr_smallest_motion(m, m->left, error);
    if (status != LW_OK) return status;
    m->delicate = m->auxiliary || lw_rcr_system_cancellation(m->system) > lost;
    take_scale(m, &m->base);
    m->fragile = rows > m->generic && is_fragile(m);
    return LW_OK;
}

/* --- rows that sleep ---------------------------------------------------------------------------------- */

/* As lw_closure_defect, for rows of any kind. */
static double rows_defect(const lw_rcr *m, const lw_loop_constraint *loop, int from, double *size) {
    const lw_rows *rows = m->loop_base.rows;
    const lw_data *data = m->loop_base.data;
    double worst = 0;
    for (int k = from; k < loop->count; k++) {
        int r = loop->first + m->system->row[loop->first + k];
        const lw_row *row = &rows->rows[r];
        double total = m->bias[r], unit = m->finder->is_length[r] ? 1 / m->system->length : 1;
        for (int b = row->block; b < row->block + row->count; b++) {
            int body = rows->body[b];
            const double *h = rows->H + 6 * b, *a = data->nodes[body].a, *R = data->world[body].R;
            double alpha[3], point[3], arm[3];
            lw_m3_mul_v(R, a, alpha);
            lw_m3_mul_v(R, a + 3, point);
            lw_v3_sub(rows->bodies[body].r, data->world[body].p, arm);
            lw_v3_add_cross(alpha, arm, point);
            double turning = lw_v3_dot(h, alpha), moving = lw_v3_dot(h + 3, point);
            *size = fmax(*size, unit * fmax(fabs(turning), fabs(moving)));
            for (int n = 0; n < 3; n++)
                *size = fmax(*size, fmax(fabs(alpha[n]), fabs(point[n]) / m->system->length));
            total += turning + moving;
        }
        worst = fmax(worst, unit * fabs(total));
    }
    return worst;
}

double lw_rcr_sleeping_defect(const lw_rcr *m) {
    const lw_rcr_system *s = m->system;
    double most = 0, relative = 0, largest = 0;
    for (int t = 0; t < m->loops->count; t++) {
        const lw_loop_constraint *loop = &m->loops->loops[t];
        int awake = s->awake[t], asleep = loop->count - awake;
        double size = 0;
        if (asleep == 0) continue;
        double worst = m->closures ? lw_closure_defect(m->loop_base.data, m->closures, loop->closure, asleep,
                                                       s->row + loop->first + awake, &size)
                                   : rows_defect(m, loop, awake, &size);
        if (size > largest) largest = size;
        if (worst > most) most = worst;
        if (worst > relative * size) relative = size > 0 ? worst / size : 0;
    }
    return most > lw_rcr_noticeable * largest ? relative : 0;
}

/* --- corrections ---------------------------------------------------------------------------------------- */

/* The residuals of the solution in moved, held and a: of the rows that are awake and of the equations of the
 * joints. */
static void find_rest(lw_rcr *m, const lw_subject *subject) {
    const lw_model *model = m->loop_base.base.model;
    const lw_rows *rows = m->loop_base.rows;
    lw_data *data = m->loop_base.data;
    lw_rcr_system *s = m->system;
    double *load = m->loop_base.body; /* Of bodies 1 .. n. */
    lw_rcr_evaluate(m, subject, false);
    if (subject->load)
        memcpy(load, subject->load + 6, 6 * (size_t)model->body_count * sizeof *load);
    else
        memset(load, 0, 6 * (size_t)model->body_count * sizeof *load);
    for (int t = 0; t < m->loops->count; t++) {
        int first = m->loops->loops[t].first;
        for (int k = 0; k < s->awake[t]; k++) {
            const lw_row *row = &rows->rows[first + s->row[first + k]];
            double defect = s->l[first + k];
            for (int b = row->block; b < row->block + row->count; b++) {
                double w[6];
                lw_wrench(s->K + s->loops->wrench_start[b], k, w);
                defect += lw_v6_dot(w, m->a + 6 * rows->body[b]);
                lw_v6_axpy(m->held[first + k], w, load + 6 * (rows->body[b] - 1));
            }
            m->left[first + s->row[first + k]] = defect;
        }
    }
    recursion r = recursion_of(model, data);
    r.v = subject->v;
    r.load = load - 6;
    inverse(&r, m->moved, m->rest);
    for (int k = 0; k < model->nv; k++) m->rest[k] = subject->tau[k] - m->rest[k];
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) m->rest[model->links[i].v + k] = 0;
}

static double largest(int count, const double *x) {
    double most = 0;
    for (int k = 0; k < count; k++)
        if (!(fabs(x[k]) <= most)) most = fabs(x[k]);
    return most;
}

/* Accelerations of the joints as angles, and, of a mechanism that cannot move, what its bodies would do. */
static double size_of_motion(const lw_rcr *m) {
    double size = 0;
    for (int k = 0; k < m->loop_base.base.model->nv; k++) size = fmax(size, lw_rcr_rate(m, k, m->moved));
    for (int i = 1; i <= m->loop_base.base.model->body_count; i++)
        size = fmax(size, largest(3, m->a + 6 * i + 3) / m->system->length);
    return size;
}

/* How fast a body accelerates, as an angle; gravity counts as an acceleration. */
static double size_of_body(const lw_rcr *m, int body) {
    const double *a = m->a + 6 * body;
    return fmax(largest(3, a), largest(3, a + 3) / m->system->length);
}

/* The largest change x of a joint's acceleration relative to that acceleration: a light body may accelerate
 * 1e9 times as fast as others, and what is rounding of its acceleration is not rounding of theirs. An
 * acceleration is also a difference of those of two bodies, from whose digits it cannot be told where these
 * move as one: the hinge that keeps its angle while its bodies accelerate. */
static double largest_share(const lw_rcr *m, const double *x, double size, int *where) {
    const double least = 1e-8; /* Of the largest one: the others may have a hundred of its roundings. */
    const double both = 1e-3;  /* Of the bodies: with a share of 1e-5 eight digits of these are left. */
    const lw_model *model = m->loop_base.base.model;
    double share = 0;
    for (int i = 1; i <= model->body_count; i++) {
        const double bodies = fmax(size_of_body(m, i), size_of_body(m, model->links[i].parent));
        for (int k = model->links[i].v; k < model->links[i].v + model->links[i].joint.nv; k++) {
            const double part =
                lw_rcr_rate(m, k, x) / (lw_rcr_rate(m, k, m->moved) + least * size + both * bodies);
            if (!(part <= share)) share = part, *where = k;
        }
    }
    return share;
}

static void add(int count, const double *x, double *to) {
    for (int k = 0; k < count; k++) to[k] += x[k];
}

/* Copies the solution of the system to, or back from, where corrections are added up. */
static void save_solution(lw_rcr *m) {
    const lw_data *data = m->loop_base.data;
    size_t nv = (size_t)m->loop_base.base.model->nv;
    memcpy(m->moved, data->vdot, nv * sizeof *m->moved);
    memcpy(m->push, data->drive, nv * sizeof *m->push);
    memcpy(m->held, m->system->lambda, (size_t)m->loop_base.rows->count * sizeof *m->held);
    for (int i = 0; i <= m->loop_base.base.model->body_count; i++)
        memcpy(m->a + 6 * i, data->nodes[i].a, 6 * sizeof *m->a);
}

static void restore_solution(lw_rcr *m) {
    lw_data *data = m->loop_base.data;
    size_t nv = (size_t)m->loop_base.base.model->nv;
    memcpy(data->vdot, m->moved, nv * sizeof *m->moved);
    memcpy(data->drive, m->push, nv * sizeof *m->push);
    memcpy(m->system->lambda, m->held, (size_t)m->loop_base.rows->count * sizeof *m->held);
    for (int i = 0; i <= m->loop_base.base.model->body_count; i++)
        memcpy(data->nodes[i].a, m->a + 6 * i, 6 * sizeof *m->a);
}

/* Solves once more for what is left of the equations, at rest. */
static lw_status find_correction(lw_rcr *m, const lw_subject *subject, lw_error *error) {
    lw_subject still = lw_rcr_at_rest(m);
    find_rest(m, subject);
    still.tau = m->rest;
    still.drive = m->force;
    lw_rcr_still(m);
    lw_rcr_list_bias(m, m->left);
    lw_rcr_system_start(m->system, &still);
    return lw_rcr_system_run(m->system, &still, error);
}

/* Corrections do not settle: the acceleration of some speed still changes by a share of itself. */
static lw_status uncertain(const lw_rcr *m, int speed, double share, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    const lw_joint_entry *joint = &model->joints[model->bodies[m->choice->body_of[speed]].joint_index];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, model->file, joint->place, "joint", joint->name,
        m->auxiliary ? "take method lagrange, or give some mass and inertia to the bodies without"
                     : "take method lagrange or massless, or give light bodies more mass",
        m->auxiliary
            ? "the closed loops hardly determine how bodies without mass or inertia move: corrections "
              "still change its acceleration by %.1g of itself"
            : "bodies of the closed loops differ so much in mass and inertia that method rcr loses its "
              "digits: its acceleration is uncertain by %.1g of itself",
        share);
}

lw_status lw_rcr_correct(lw_rcr *m, const lw_subject *subject, lw_error *error) {
    enum { ROUNDS = 12 };
    const double rounding = 1e-13, good = 1e-8; /* Relative to the largest acceleration. */
    const double good_share = 1e-5;             /* Relative to each one, as the balance check can tell. */
    const lw_model *model = m->loop_base.base.model;
    const lw_data *data = m->loop_base.data;
    int nv = model->nv, n = model->body_count, where = 0;
    double before = HUGE_VAL, share = HUGE_VAL; /* The largest change by the last correction. */
    save_solution(m);
    for (int round = 0; round < ROUNDS; round++) {
        lw_status status = find_correction(m, subject, error);
        if (status != LW_OK) return status;
        double change = 0, own = largest_share(m, data->vdot, size_of_motion(m), &where);
        for (int k = 0; k < nv; k++) change = fmax(change, lw_rcr_rate(m, k, data->vdot));
        if (!(change < 0.5 * before || own < 0.5 * share)) break;
        before = change, share = own;
        add(nv, data->vdot, m->moved);
        add(m->loop_base.rows->count, m->system->lambda, m->held);
        if (model->motion_count) add(nv, m->force, m->push);
        for (int i = 1; i <= n; i++) add(6, data->nodes[i].a, m->a + 6 * i);
        if (!(share > rounding)) break;
    }
    restore_solution(m);
    if (!m->delicate || (before <= good * size_of_motion(m) && share <= good_share)) return LW_OK;
    return uncertain(m, where, share, error);
}
