/* partition_absolute.c - the formulation `partition-absolute`: coordinate partitioning in absolute
 * coordinates.
 *
 * It is the same as `partition` (partition_joint.c), with the velocities of the bodies, (angular; of the
 * centre of mass) in world axes, as speeds, and with the rows of all joints, including those of the tree: M =
 * J is constant except for rotations, C is sparse, and D describes the motions that the joints allow.
 * Corrections of positions rotate and shift the bodies along their dependent speeds.
 *
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 5-15; docs/theory/partition.md, 6.
 * Cost     dense, O(n^2 m) with n = 6 bodies and m the rows of all joints; no allocation.
 * Limits   J may be singular, D J D' may not; there are no closing conditions, which belong to joint
 *          coordinates.
 */
#include "formulations/partition/partition.h"
#include "formulations/common/absolute_method_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct absolute_method {
    lw_absolute_method absolute_base;
    lw_arena *arena;
    lw_partition *partition;
    double length;
    /* solve is called for a derivative: system and set have been taken. */
    bool running;
    double *factor, *right, *multiplier; /* per row */
    double *x, *force;                   /* 6 per body */
    double *y;                           /* The state with v_D by (7). */
} absolute_method;

extern const lw_formulation lw_formulation_partition_absolute;

static void speed_name(const lw_model *model, int coordinate, char *text, size_t size) {
    static const char *const part[6] = {"wx", "wy", "wz", "x", "y", "z"};
    snprintf(text, size, "%s.%s", model->bodies[coordinate / 6 + 1].name, part[coordinate % 6]);
}

/* --- the system at a state ------------------------------------------------------------------------- */

static void fill_C(absolute_method *m, bool positions) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    lw_partition *p = m->partition;
    double square = m->length * m->length;
    memset(p->C, 0, (size_t)p->n * (size_t)p->m * sizeof *p->C);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double size = 0, *c = p->C + (size_t)r * (size_t)p->n;
        for (int b = row->block; b < row->block + row->count; b++) {
            const double *h = rows->H + 6 * b;
            size += lw_v3_dot(h, h) + square * lw_v3_dot(h + 3, h + 3);
        }
        m->factor[r] = size > 0 ? 1 / sqrt(size) : 1;
        if (positions && lw_row_is_slip(s->model, row)) continue;
        for (int b = row->block; b < row->block + row->count; b++)
            lw_v6_axpy(m->factor[r], rows->H + 6 * b, c + 6 * (rows->body[b] - 1));
    }
    p->tolerance = lw_criterion_tolerance(rows, m->length);
}

static void fill_M(absolute_method *m) {
    /* Index in the six numbers of a symmetric 3 x 3 matrix. */
    static const int packed[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const lw_newton_euler *s = m->absolute_base.system;
    lw_partition *p = m->partition;
    size_t n = (size_t)p->n;
    memset(p->M, 0, n * n * sizeof *p->M);
    for (size_t i = 0; i < n / 6; i++)
        for (size_t k = 0; k < 3; k++) {
            for (size_t l = 0; l < 3; l++)
                p->M[6 * i + k + (6 * i + l) * n] = s->inertia[6 * i + (size_t)packed[3 * k + l]];
            p->M[(6 * i + 3 + k) * (n + 1)] = s->mass[i];
        }
}

/* M and C of the state in the system. */
static void take_system(absolute_method *m) {
    fill_M(m);
    fill_C(m, false);
    lw_partition_scale(m->partition);
}

static void inertia_times(const lw_newton_euler *s, const double *x, double *out) {
    for (int i = 0; i < s->model->body_count; i++) {
        lw_s3_mul_v(s->inertia + 6 * i, x + 6 * i, out + 6 * i);
        for (int k = 3; k < 6; k++) out[6 * i + k] = s->mass[i] * x[6 * i + k];
    }
}

static void take_right(absolute_method *m, const double *values, double sign) {
    for (int r = 0; r < m->partition->m; r++) m->right[r] = sign * values[r] * m->factor[r];
}

static void put_speeds(const double *V, int bodies, double *y) {
    for (int i = 0; i < bodies; i++) {
        lw_v3_copy(V + 6 * i, y + 13 * i + 10);
        lw_v3_copy(V + 6 * i + 3, y + 13 * i + 7);
    }
}

/* y with v_D by (7), or with all speeds changed, as in partition_joint.c; C is factored. */
static lw_status take_speeds(absolute_method *m, double *y, lw_error *error) {
    const lw_newton_euler *s = m->absolute_base.system;
    lw_status status = LW_OK;
    lw_rows_velocities(s->model, s->rows, m->x);
    take_right(m, s->rows->rate, 1);
    if (m->partition->crossed) {
        status = lw_partition_reduce(m->partition, error);
        if (status == LW_OK) lw_partition_tangent(m->partition, m->right, m->x);
    } else
        lw_partition_dependent(m->partition, m->right, m->x);
    put_speeds(m->x, s->model->body_count, y);
    return status;
}

/* --- motion ---------------------------------------------------------------------------------------- */

/* D combines the speeds of all bodies; where a light body is 1e10 times faster than the others, its rounding
 * appears in theirs. In H'a = gamma each row has the speeds of its own bodies only. */
static void correct_rows(absolute_method *m) {
    const lw_newton_euler *s = m->absolute_base.system;
    lw_partition *p = m->partition;
    lw_rows_transposed(s->rows, s->a, m->multiplier);
    for (int r = 0; r < p->m; r++) m->right[r] = (s->rows->gamma[r] - m->multiplier[r]) * m->factor[r];
    memset(m->x, 0, (size_t)p->n * sizeof *m->x);
    lw_partition_dependent(p, m->right, m->x);
    for (int k = 0; k < p->n; k++) s->a[k] += m->x[k];
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    enum { ROUNDS = 3 }; /* Corrections by the residuals of M_d and the factors of C. */
    absolute_method *m = (absolute_method *)absolute_base;
    lw_newton_euler *s = absolute_base->system;
    lw_partition *p = m->partition;
    lw_status status = LW_OK;
    if (!m->running) {
        take_system(m);
        status = lw_partition_choose(p, &p->query, error);
        if (status == LW_OK) status = lw_partition_factor(p, &p->query, false, error);
    }
    if (status == LW_OK) status = lw_partition_reduce(p, error);
    if (status != LW_OK) return status;
    take_right(m, s->rows->gamma, 1);
    memset(s->a, 0, (size_t)p->n * sizeof *s->a);
    lw_partition_dependent(p, m->right, s->a);
    for (int round = 0; round < ROUNDS; round++) {
        inertia_times(s, s->a, m->force);
        for (int k = 0; k < p->n; k++) m->force[k] = s->u[k] - m->force[k];
        lw_partition_move(p, m->force, s->a);
        correct_rows(m);
    }
    inertia_times(s, s->a, m->force);
    for (int k = 0; k < p->n; k++) m->force[k] -= s->u[k];
    lw_partition_multipliers(p, m->force, m->multiplier);
    for (int r = 0; r < p->m; r++) s->lambda[r] = m->multiplier[r] * m->factor[r];
    return LW_OK;
}

static lw_status derivative(lw_method *base, double t, const double *y, double *ydot, lw_power *power,
                            lw_error *error) {
    absolute_method *m = (absolute_method *)base;
    lw_newton_euler_rows_at_absolute(m->absolute_base.system, t, y);
    take_system(m);
    lw_status status = lw_partition_factor_run(m->partition, error);
    if (status != LW_OK) return status;
    memcpy(m->y, y, (size_t)base->state_size * sizeof *y);
    if (m->absolute_base.options.drift != LW_DRIFT_BAUMGARTE) status = take_speeds(m, m->y, error);
    if (status != LW_OK) return status;
    m->running = true;
    status = lw_absolute_derivative(base, t, m->y, ydot, power, error);
    m->running = false;
    return status;
}

static void archive(lw_method *base, lw_archive *archive) {
    lw_partition_archive(((absolute_method *)base)->partition, archive);
}

/* --- drift ----------------------------------------------------------------------------------------- */

static void displace(absolute_method *m, const double *step, double part, double *y) {
    for (int i = 0; i < m->absolute_base.base.model->body_count; i++) {
        double angle[3], turn[4], next[4], *body = y + 13 * i;
        for (int k = 0; k < 3; k++) angle[k] = part * step[6 * i + k];
        lw_quat_exp(angle, turn);
        lw_quat_mul(turn, body + 3, next);
        lw_quat_normalise(next);
        memcpy(body + 3, next, sizeof next);
        lw_v3_axpy(part, step + 6 * i + 3, body);
    }
}

/* The dependent positions for given independent ones, by Newton's method. */
static lw_status close_positions(absolute_method *m, double t, double *y, lw_error *error) {
    enum { ROUNDS = 40, PATIENCE = 10 };
    const double closed = 1e-14,
                 /* Relative to the size of the mechanism: rounding, and the largest gap with which a run can
                  * continue. */
        open = 1e-6;
    lw_newton_euler *s = m->absolute_base.system;
    lw_partition *p = m->partition;
    double best = HUGE_VAL;
    int stalled = 0;
    for (int round = 0;; round++) {
        double gap = 0, most = 0;
        lw_newton_euler_rows_at_absolute(s, t, y);
        lw_absolute_take_angles(s, y);
        for (int r = 0; r < p->m; r++) gap = fmax(gap, fabs(s->rows->phi[r]));
        stalled = gap < 0.5 * best ? 0 : stalled + 1;
        bool settled = gap < 1e-12 * m->length && stalled > 0; /* Only rounding fluctuates. */
        if (!(gap > closed * m->length) || settled || round == ROUNDS || stalled > PATIENCE)
            return gap <= open * m->length
                       ? LW_OK
                       : lw_stays_open(s->model, s->data, s->rows, s->rows->phi, "positions", error);
        best = fmin(best, gap);
        fill_C(m, true);
        lw_partition_scale(p);
        lw_partition_factor(p, &p->run, true, NULL);
        memset(m->x, 0, (size_t)p->n * sizeof *m->x);
        take_right(m, s->rows->phi, -1);
        lw_partition_dependent(p, m->right, m->x);
        for (int k = 0; k < p->n; k++) most = fmax(most, fabs(m->x[k]) / p->units[k]);
        displace(m, m->x, most > 0.5 ? 0.5 / most : 1, y);
    }
}

static lw_status close_speeds(absolute_method *m, double t, double *y, lw_error *error) {
    const double open = 1e-6;
    lw_newton_euler *s = m->absolute_base.system;
    double position, velocity, fastest = 1;
    lw_newton_euler_rows_at_absolute(s, t, y);
    take_system(m);
    lw_status status = lw_partition_factor_run(m->partition, error);
    if (status == LW_OK) status = take_speeds(m, y, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < m->partition->n; k++) fastest = fmax(fastest, fabs(m->x[k]));
    lw_newton_euler_rows_at_absolute(s, t, y);
    lw_absolute_take_angles(s, y);
    lw_newton_euler_violation(s, &position, &velocity);
    if (velocity <= open * fastest) return LW_OK;
    for (int r = 0; r < s->rows->count; r++) s->lambda[r] -= s->rows->rate[r];
    return lw_stays_open(s->model, s->data, s->rows, s->lambda, "speeds", error);
}

/* --- the method ------------------------------------------------------------------------------------ */

static void to_state(lw_method *base, double t, const double *q, const double *v, double *y) {
    absolute_method *m = (absolute_method *)base;
    lw_absolute_to_state(base, t, q, v, y);
    take_system(m); /* A new run begins. */
    lw_partition_begin(m->partition, t);
}

static lw_status keep_positions(absolute_method *m, double t, double *y, lw_error *error) {
    bool wanted = m->absolute_base.options.drift == LW_DRIFT_PROJECT && m->partition->run.count >= 0;
    return wanted ? close_positions(m, t, y, error) : LW_OK;
}

/* As in partition_joint.c. */
static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    absolute_method *m = (absolute_method *)base;
    bool changed = false;
    lw_status status = LW_OK;
    for (int i = 0; i < base->model->body_count; i++) lw_quat_normalise(y + 13 * i + 3);
    lw_status closed = keep_positions(m, t, y, error);
    if (lw_partition_due(m->partition, t)) {
        lw_newton_euler_rows_at_absolute(m->absolute_base.system, t, y);
        take_system(m);
        status = lw_partition_reconsider(m->partition, &m->absolute_base.options, t, &changed, error);
    }
    if (status == LW_OK) status = changed ? keep_positions(m, t, y, error) : closed;
    if (status == LW_OK && m->absolute_base.options.drift != LW_DRIFT_BAUMGARTE)
        status = close_speeds(m, t, y, error);
    lw_partition_accept(m->partition, t);
    return status;
}

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status = lw_dense_limit("partition-absolute", 6 * model->body_count, error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

static void destroy(lw_method *base) {
    absolute_method *m = (absolute_method *)base;
    if (!m) return;
    lw_partition_destroy(m->partition);
    if (m->arena) lw_arena_destroy(m->arena);
    lw_absolute_method_destroy(&m->absolute_base);
}

static bool build(absolute_method *m) {
    const lw_model *model = m->absolute_base.base.model;
    int n = 6 * model->body_count, rows = m->absolute_base.system->rows->count;
    lw_arena *arena = m->arena = lw_arena_create(NULL);
    if (!arena) return false;
    m->partition = lw_partition_create(n, rows, model, arena);
    m->factor = LW_NEW(arena, double, rows + 1);
    m->right = LW_NEW(arena, double, rows + 1);
    m->multiplier = LW_NEW(arena, double, rows + 1);
    m->x = LW_NEW(arena, double, n + 1);
    m->force = LW_NEW(arena, double, n + 1);
    m->y = LW_NEW(arena, double, m->absolute_base.base.state_size + 1);
    return m->partition && !lw_arena_failed(arena);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    absolute_method *m = (absolute_method *)lw_absolute_method_create(
        sizeof *m, &lw_formulation_partition_absolute, model, options, solve);
    if (!m || !build(m)) {
        if (m) destroy(&m->absolute_base.base);
        return lw_out_of_memory(error);
    }
    m->length = lw_longest_arm(model);
    for (int k = 0; k < m->partition->n; k++) m->partition->units[k] = k % 6 < 3 ? 1 : m->length;
    m->partition->name = speed_name;
    lw_status status = lw_partition_fix(m->partition, options->independent, error);
    if (status == LW_OK)
        *out = &m->absolute_base.base;
    else
        destroy(&m->absolute_base.base);
    return status;
}

static double condition(lw_method *base) { return ((absolute_method *)base)->partition->condition; }

const lw_formulation lw_formulation_partition_absolute = {
    .name = "partition-absolute",
    .source = "blajer1994 5-15, 23",
    .cost = "O(n^3), dense",
    .dense = true,
    .summary = "independent absolute coordinates that are chosen automatically, motion only",
    .partitions = true,
    .passes = true,
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 38,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    .to_state = to_state,
    .from_state = lw_absolute_from_state,
    .accelerations = lw_absolute_method_accelerations,
    .multipliers = lw_absolute_method_multipliers,
    .derivative = derivative,
    .archive = archive,
    .project = project,
    .violation = lw_absolute_violation,
    .condition = condition,
};
