/* criterion_merits.c - the projective criterion as a tool: the coordinates of a model by name, at a position
 * and along a motion.
 *
 * For joint coordinates, M and C are those of the spanning tree. For absolute coordinates, M = diag(m, m, m,
 * I) for every body, and C has the rows of all joints. The choice by singular value decomposition is the same
 * greedy choice with the unit matrix for M.
 *
 * Sweep    the driven coordinate gets the motion q = t in a copy of the model, and positions follow by
 *          Gauss-Newton from the last one, with shorter steps where this fails or jumps to another branch.
 *          Where even tiny steps fail, the coordinate is at a dead point.
 * Source   Blajer, Schiehlen & Schirm (1994), eqs 16-26, fig. 3; docs/theory/partition.md.
 * Cost     O(n^3) for n coordinates, dense.
 */
#include "analyses/criterion_merits.h"
#include "model/variant.h"
#include "constraints/projective_criterion.h"
#include "constraints/projection.h"
#include "dynamics/tree_dynamics.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>

enum { COORDINATES_MAX = 1500, STEPS_MAX = 20000 }; /* of a sweep: seconds */

struct lw_merits {
    const lw_model *model;
    int count, rows, freedom;
    double worth, length;
    bool bounded;
    lw_merit *merits;
    /* Workspace; the arena is NULL once it has been freed. */
    lw_arena *arena;
    lw_data *data;           /* joint coordinates */
    lw_rows *loops;          /* joint coordinates */
    lw_newton_euler *system; /* absolute coordinates */
    lw_criterion *criterion, *plain;
    double *M, *C, *units, *unit_mass;
    double *alpha, *beta, *weight, *pivots;
    int *chosen;
};

static void name_all(lw_merits *m) {
    static const char *const parts[6] = {"x", "y", "z", "wx", "wy", "wz"};
    for (int i = 0; i < m->count; i++) {
        char *name = m->merits[i].name;
        if (!m->system)
            lw_speed_name(m->model, i, name, sizeof m->merits[i].name);
        else
            snprintf(name, sizeof m->merits[i].name, "%s.%s", m->model->bodies[1 + i / 6].name, parts[i % 6]);
    }
}

lw_status lw_merits_create(const lw_model *model, bool absolute, lw_merits **out, lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out) return lw_call_needs("a model and a place for the result", error);
    int count = absolute ? 6 * model->body_count : model->nv;
    if (count > COORDINATES_MAX)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "examine a smaller model of the same kind",
                       "the criterion needs dense matrices, and there are %d coordinates; %d are allowed",
                       count, COORDINATES_MAX);
    lw_merits *m = calloc(1, sizeof *m);
    if (m) m->arena = lw_arena_create(NULL);
    if (!m || !m->arena) {
        free(m);
        return lw_out_of_memory(error);
    }
    m->model = model;
    m->count = count;
    m->length = lw_longest_arm(model);
    if (absolute) {
        m->system = lw_newton_euler_create(model, LW_HOLD_NONE);
        m->rows = m->system ? m->system->rows->count : 0;
    } else {
        m->loops = lw_rows_create_loops(model, m->arena);
        m->rows = lw_criterion_row_count(model);
        if (lw_data_create(model, NULL, &m->data) != LW_OK) m->data = NULL;
    }
    size_t n = (size_t)count, rows = (size_t)m->rows;
    m->criterion = lw_criterion_create(count, m->rows, m->arena);
    m->plain = lw_criterion_create(count, m->rows, m->arena);
    m->M = LW_NEW(m->arena, double, n *n + 1);
    m->unit_mass = LW_NEW(m->arena, double, n *n + 1);
    m->C = LW_NEW(m->arena, double, n *rows + 1);
    m->units = LW_NEW(m->arena, double, n + 1);
    m->alpha = LW_NEW(m->arena, double, n + 1);
    m->beta = LW_NEW(m->arena, double, n + 1);
    m->weight = LW_NEW(m->arena, double, n + 1);
    m->pivots = LW_NEW(m->arena, double, n + 1);
    m->chosen = LW_NEW(m->arena, int, n + 1);
    m->merits = calloc(n + 1, sizeof *m->merits);
    if (!(absolute ? m->system != NULL : m->loops && m->data) || !m->criterion || !m->plain ||
        lw_arena_failed(m->arena) || !m->merits) {
        lw_merits_destroy(m);
        return lw_out_of_memory(error);
    }
    if (absolute)
        for (int i = 0; i < count; i++) m->units[i] = i % 6 < 3 ? m->length : 1;
    else
        lw_criterion_units(model, m->length, m->units);
    for (size_t i = 0; i < n; i++) m->unit_mass[i * n + i] = 1 / (m->units[i] * m->units[i]);
    name_all(m);
    *out = m;
    return LW_OK;
}

void lw_merits_settle(lw_merits *m) {
    if (!m->arena) return;
    lw_criterion_destroy(m->criterion);
    lw_criterion_destroy(m->plain);
    lw_data_destroy(m->data);
    lw_newton_euler_destroy(m->system);
    lw_arena_destroy(m->arena);
    m->arena = NULL;
}

void lw_merits_destroy(lw_merits *m) {
    if (!m) return;
    lw_merits_settle(m);
    free(m->merits);
    free(m);
}

int lw_merits_count(const lw_merits *m) { return m ? m->count : 0; }
const lw_merit *lw_merits_get(const lw_merits *m, int index) {
    return m && index >= 0 && index < m->count ? &m->merits[index] : NULL;
}
int lw_merits_freedom(const lw_merits *m) { return m ? m->freedom : 0; }
double lw_merits_worth(const lw_merits *m) { return m ? m->worth : NAN; }
bool lw_merits_bounded(const lw_merits *m) { return m && m->bounded; }

/* M and C of the tree. Returns the tolerance for rank decisions. */
static double joint_matrices(lw_merits *m, double t, const double *q) {
    lw_mass_matrix_held(m->model, m->data, t, q, m->M);
    lw_take_state(m->model, m->data, t, q, NULL);
    lw_velocities(m->model, m->data);
    lw_world_poses(m->model, m->data);
    lw_rows_evaluate(m->model, m->data, false, m->loops);
    lw_criterion_rows(m->model, m->data, m->loops, m->length, m->C, NULL);
    return lw_criterion_tolerance(m->loops, m->length);
}

/* M and C of the bodies; rows of lengths are divided by the length of the mechanism. */
static double absolute_matrices(lw_merits *m, double t, const double *q) {
    const lw_newton_euler *s = m->system;
    const lw_rows *rows = s->rows;
    size_t n = (size_t)m->count;
    lw_newton_euler_rows_at(m->system, t, q, NULL);
    memset(m->M, 0, n * n * sizeof *m->M);
    for (int body = 0; body < m->model->body_count; body++) {
        static const int packed[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}}; /* in xx, yy, zz, xy, xz, yz */
        size_t first = 6 * (size_t)body;
        for (size_t i = 0; i < 3; i++) {
            m->M[(first + i) * n + first + i] = s->mass[body];
            for (size_t j = 0; j < 3; j++)
                m->M[(first + 3 + i) * n + first + 3 + j] = s->inertia[6 * body + packed[i][j]];
        }
    }
    memset(m->C, 0, n * (size_t)m->rows * sizeof *m->C);
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double scale = lw_row_is_length(m->model, rows, r) ? 1 / m->length : 1;
        for (int b = row->block; b < row->block + row->count; b++)
            for (size_t k = 0; k < 6; k++) /* blocks have the angular part first */
                m->C[(size_t)r * n + 6 * (size_t)(rows->body[b] - 1) + (k + 3) % 6] +=
                    scale * rows->H[6 * (size_t)b + k];
    }
    return lw_criterion_tolerance(rows, m->length);
}

/* Numbers the coordinates in the order in which they are chosen; returns the smallest pivot. */
static double choose(lw_merits *m, lw_criterion *criterion, bool svd) {
    int count = lw_criterion_choose(criterion, NULL, m->chosen, m->pivots);
    double least = count < m->freedom ? 0 : 1;
    for (int i = 0; i < m->count; i++) *(svd ? &m->merits[i].svd_choice : &m->merits[i].choice) = 0;
    for (int k = 0; k < count; k++) {
        lw_merit *merit = &m->merits[m->chosen[k]];
        *(svd ? &merit->svd_choice : &merit->choice) = k + 1;
        least = fmin(least, m->pivots[k]);
    }
    return least;
}

lw_status lw_merits_evaluate(lw_merits *m, double t, const double *q, lw_error *error) {
    if (!m || !lw_given(q, m->model->nq) || !isfinite(t) || !lw_finite(q, m->model->nq))
        return lw_call_needs("merits, a time and q", error);
    double tolerance = m->system ? absolute_matrices(m, t, q) : joint_matrices(m, t, q);
    lw_status status = lw_criterion_evaluate(m->criterion, m->count, m->rows, m->M, m->C, m->units, tolerance,
                                             m->alpha, m->beta, &m->freedom, error);
    if (status == LW_OK)
        status = lw_criterion_evaluate(m->plain, m->count, m->rows, m->unit_mass, m->C, m->units, tolerance,
                                       NULL, NULL, NULL, error);
    if (status != LW_OK) return status;
    lw_criterion_svd(m->criterion, m->weight);
    for (int i = 0; i < m->count; i++) {
        m->merits[i].cos2_alpha = m->alpha[i];
        m->merits[i].cos2_beta = m->beta[i];
        m->merits[i].svd = m->weight[i];
    }
    m->bounded = lw_criterion_bounded(m->criterion);
    m->worth = choose(m, m->criterion, false);
    choose(m, m->plain, true);
    return LW_OK;
}

/* --- sweep ---------------------------------------------------------------------------------------- */

typedef struct walk {
    const lw_model *driven; /* the coordinate follows t */
    lw_projection *projection;
    double length;
    double x, *q, *trial; /* The present value of the coordinate; the positions. */
    double step;          /* the longest */
} walk;

/* The largest change in one short step, in rad or relative to the mechanism's length for slides: larger ones
 * lead to another branch or revolution. */
static const double turn = 0.5;

static bool jumps(const walk *w, const double *from, const double *to) {
    for (int i = 1; i <= w->driven->body_count; i++) {
        const lw_link *link = &w->driven->links[i];
        int quaternion = lw_joint_quaternion(link->joint.type);
        for (int k = 0; k < link->joint.nq; k++) {
            bool slides = quaternion >= 0 ? k < quaternion : !lw_joint_speed_turns(link->joint.type, k);
            if (!(fabs(to[link->q + k] - from[link->q + k]) <= turn * (slides ? w->length : 1))) return true;
        }
    }
    return false;
}

/* One step to the value x; false if there is no position nearby. */
static lw_status try_step(walk *w, double x, bool *done, lw_error *error) {
    enum { ROUNDS = 30 };
    const double closes = 1e-10; /* relative to the size */
    size_t nq = (size_t)w->driven->nq;
    lw_violation left;
    memcpy(w->trial, w->q, nq * sizeof *w->q);
    lw_status status = lw_project_positions(w->projection, x, w->trial, ROUNDS, &left, error);
    *done = false;
    if (status == LW_ERROR_SINGULAR) return LW_OK;
    if (status != LW_OK) return status;
    /* Including the driven one. */
    memcpy(w->trial, lw_projection_system(w->projection)->data->q, nq * sizeof *w->q);
    lw_normalise_q(w->driven, w->trial);
    *done = left.largest <= closes * fmax(w->length, 1) && !jumps(w, w->q, w->trial);
    if (!*done) return LW_OK;
    memcpy(w->q, w->trial, nq * sizeof *w->q);
    w->x = x;
    return LW_OK;
}

/* Goes to the value x, or as far as possible. */
static lw_status go_to(walk *w, double x, bool *arrived, lw_error *error) {
    const double tiny = 1e-9; /* Relative to a step: the accuracy of the location of a dead point. */
    double step = w->step;
    lw_status status = LW_OK;
    while (status == LW_OK && w->x != x && step > tiny * w->step) {
        double next = fabs(x - w->x) <= step ? x : w->x + (x > w->x ? step : -step);
        bool done;
        status = try_step(w, next, &done, error);
        step = done ? fmin(2 * step, w->step) : step / 2;
    }
    *arrived = w->x == x;
    return status;
}

/* A copy of the model whose coordinate `speed` follows t while other prescribed ones stand still at q. */
static lw_status compile_driven(const lw_spec *spec, const lw_model *model, const double *q, int speed,
                                lw_model **driven, lw_error *error) {
    lw_spec variant = lw_variant(spec);
    size_t slots = (size_t)model->joint_count * LW_JOINT_MAX_V;
    char(*texts)[32] = calloc(slots + 1, sizeof *texts);
    lw_report *report = lw_report_create();
    lw_status status = LW_OK;
    *driven = NULL;
    if (!variant.joints || !texts || !report) status = lw_out_of_memory(error);
    if (status == LW_OK) lw_variant_cuts(model, variant.joints);
    for (int j = 0; j < model->joint_count && status == LW_OK; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        for (int k = 0; k < info->v_count; k++) {
            int coordinate = lw_joint_coordinate_of_speed(info->type, k);
            bool prescribed = info->prescribed >> k & 1;
            if (info->v + k == speed) {
                if (coordinate < 0)
                    status = lw_fail_at(error, LW_ERROR_ARGUMENT, model->file, model->joints[j].place,
                                        "joint", model->joints[j].name, "drive another joint",
                                        "speed %d is an angular velocity: no coordinate belongs to it", k);
                variant.joints[j].motion[k] = "t";
            } else if (prescribed && coordinate < 0)
                status = lw_fail_at(error, LW_ERROR_UNSUPPORTED, model->file, model->joints[j].place, "joint",
                                    model->joints[j].name, "take its motion away for the sweep",
                                    "its rotation is prescribed, and a sweep cannot hold a rotation");
            else if (prescribed) {
                char *text = texts[j * LW_JOINT_MAX_V + k];
                snprintf(text, sizeof *texts, "%.17g", q[info->q + coordinate]);
                variant.joints[j].motion[k] = text;
            }
        }
    }
    if (status == LW_OK) {
        status = lw_compile_as_cut(&variant, NULL, report, driven);
        for (size_t k = 0; status != LW_OK && error && k < lw_report_size(report); k++)
            if (lw_report_get(report, k)->severity == LW_SEVERITY_ERROR) *error = *lw_report_get(report, k);
    }
    if (status == LW_OK && !lw_variant_same_tree(model, *driven))
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, NULL, "name the cut yourself: cut: true",
                         "the loops of this model would be cut elsewhere if the coordinate is driven");
    lw_report_destroy(report);
    free(variant.joints), free(texts);
    return status;
}

/* The coordinate that belongs to a speed, in q; -1: none. */
static int coordinate_of(const lw_model *model, int speed) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        if (speed < link->v || speed >= link->v + link->joint.nv) continue;
        int coordinate = lw_joint_coordinate_of_speed(link->joint.type, speed - link->v);
        return coordinate < 0 ? -1 : link->q + coordinate;
    }
    return -1;
}

static lw_status walk_along(walk *w, lw_merits *merits, double t, lw_merits_path *sweep, lw_error *error) {
    bool arrived;
    lw_status status = go_to(w, sweep->from, &arrived, error);
    double range = fabs(sweep->to - sweep->from);
    w->step = fmin(w->step, fmin(range / sweep->intervals, range / 60));
    sweep->reached_from = sweep->reached_to = w->x;
    sweep->stuck_from = !arrived;
    sweep->stuck_to = false;
    for (int k = 0; k <= sweep->intervals && status == LW_OK && !sweep->stuck_to; k++) {
        double x = sweep->from + k * ((sweep->to - sweep->from) / sweep->intervals);
        if (sweep->stuck_from && k > 0 && (x - w->x) * (sweep->to - sweep->from) <= 0) continue;
        if (k > 0) {
            status = go_to(w, x, &arrived, error);
            sweep->stuck_to = !arrived;
        }
        if (status == LW_OK) status = lw_merits_evaluate(merits, t, w->q, error);
        sweep->reached_to = w->x;
        if (status == LW_OK && !sweep->observe(w->x, w->q, merits, sweep->context))
            return lw_fail(error, LW_ERROR_STOPPED, NULL, NULL, "stopped on request");
    }
    return status;
}

lw_status lw_merits_sweep(const lw_spec *spec, const lw_model *model, double t, const double *q,
                          lw_merits_path *sweep, lw_error *error) {
    if (!spec || !model || !sweep || !lw_given(q, model->nq) || !isfinite(t) || !lw_finite(q, model->nq))
        return lw_call_needs("a spec, its model, a time, q and a sweep", error);
    if (sweep->speed < 0 || sweep->speed >= model->nv)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give one of the tree's", "there is no speed %d",
                       sweep->speed);
    if (sweep->intervals < 1 || !isfinite(sweep->from) || !isfinite(sweep->to) || sweep->from == sweep->to)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give two different numbers",
                       "the range of a sweep, %g to %g, has no extent", sweep->from, sweep->to);
    int coordinate = coordinate_of(model, sweep->speed);
    lw_model *driven = NULL;
    lw_merits *merits = NULL;
    lw_status status = compile_driven(spec, model, q, sweep->speed, &driven, error);
    if (status == LW_OK) status = lw_merits_create(model, false, &merits, error);
    walk w = {.driven = driven, .length = lw_longest_arm(model)};
    if (status == LW_OK) {
        double range = fabs(sweep->to - sweep->from);
        w.step = turn / 4 * merits->units[sweep->speed];
        double steps = (range + fabs(q[coordinate] - sweep->from)) / w.step;
        if (!(steps <= STEPS_MAX))
            status = lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give a range nearer to it, or a shorter one",
                             "from the initial value %g to %g and on to %g takes %.3g steps; %d are allowed",
                             q[coordinate], sweep->from, sweep->to, steps, STEPS_MAX);
        w.q = calloc((size_t)model->nq + 1, sizeof *w.q);
        w.trial = calloc((size_t)model->nq + 1, sizeof *w.trial);
        w.projection = lw_projection_create(driven, LW_HOLD_NONE);
        if (status == LW_OK && (!w.q || !w.trial || !w.projection)) status = lw_out_of_memory(error);
    }
    if (status == LW_OK) {
        memcpy(w.q, q, (size_t)model->nq * sizeof *w.q);
        w.x = q[coordinate];
        status = walk_along(&w, merits, t, sweep, error);
    }
    lw_projection_destroy(w.projection);
    lw_merits_destroy(merits);
    lw_model_destroy(driven);
    free(w.q), free(w.trial);
    return status;
}
