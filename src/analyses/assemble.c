/* assemble.c - consistent positions and velocities of closed loops; mobility and redundant rows.
 *
 * Positions   Gauss-Newton in the mass metric (constraints/projection.c) from the given ones: first with the
 *             coordinates held that the user gave, then, if the loops do not close, with all free; if this
 *             ends in a local minimum, from perturbed positions, always the same ones. Where a choice
 *             remains, the position nearest to the initial coordinates of all joints is taken
 *             (assemble_nearest.c), so that it does not matter where loops are cut. If the caller's
 *             coordinates are not the initial ones, they are changed as little as possible instead.
 * Velocities  one linear problem, in the same two stages. Speeds that are neither given nor prescribed are
 *             those of least kinetic energy, so that it does not matter where loops are cut; joints that are
 *             not part of a loop or constraint stay at rest. If the caller has speeds other than zero there,
 *             they are changed as little as possible instead.
 *
 * Finally, accelerations that satisfy the rows must exist.
 *
 * Source   docs/theory/projection.md, docs/theory/redundancy.md.
 * Cost     a few sparse factorisations; some hundred where positions are not determined; allocates.
 */
#include "analyses/assemble_nearest.h"
#include "constraints/redundancy.h"
#include "constraints/sparse_rank.h"
#include "constraints/characteristic_length.h"
#include "model/joint.h"
#include "core/pseudo_random.h"
#include <linkwork/assemble.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double closes = 1e-9; /* relative to size: anything worse is a gap, not an error of iteration */
static const double nearer = 1e-6; /* of two positions: less is the same one */
enum { ROUNDS = 200, ATTEMPTS = 12 };
enum { STARTS = 12 }; /* Starting points of the search for the nearest position; fewer if it takes long. */

typedef struct assembler {
    const lw_model *model;
    double t;
    double *start, *trial; /* positions */
    double *v_start;
    lw_error *error;
} assembler;

/* The size of the mechanism, relative to which gaps are measured. */
static double size_of(const lw_newton_euler *s) {
    double size = lw_body_length(s);
    for (int j = 0; j < s->model->joint_count; j++) size = fmax(size, lw_v3_norm(s->rows->joints[j].at));
    return size;
}

static bool any_given(const lw_model *model, lw_hold hold) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        if (!entry->info.cut && (hold == LW_HOLD_Q ? entry->given_q : entry->given_v)) return true;
    }
    return false;
}

/* Moves every coordinate that is neither held nor prescribed, by up to `angle` and a share of the size. */
static void disturb(const lw_model *model, lw_hold hold, double angle, double size, uint64_t *random,
                    double *speed, double *q) {
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        bool held = hold == LW_HOLD_Q && model->joints[model->bodies[i].joint_index].given_q;
        for (int k = 0; k < link->joint.nv; k++) {
            double x = lw_pseudo_random(random);
            bool fixed = held || link->prescribed >> k & 1;
            speed[link->v + k] =
                fixed ? 0 : x * (lw_joint_speed_turns(link->joint.type, k) ? angle : 0.3 * size);
        }
    }
    lw_integrate_q(model, q, speed, 1);
}

/* The joint or constraint whose row is at fault. */
typedef struct culprit {
    const char *kind, *name;
    lw_place place;
} culprit;

static culprit culprit_of(const lw_model *model, const lw_row *row) {
    if (row->joint >= 0)
        return (culprit){"joint", model->joints[row->joint].name, model->joints[row->joint].place};
    const lw_constraint *constraint = &model->constraints[row->constraint];
    return (culprit){"constraint", constraint->name, constraint->place};
}

/* Describes a row that does not close, for messages. */
static void describe_gap(const lw_newton_euler *s, const lw_violation *left, char *text, size_t size) {
    const lw_row *row = &s->rows->rows[left->row];
    if (row->joint < 0) {
        char what[160];
        lw_row_describe(s->model, row, what, sizeof what);
        snprintf(text, size, "%s is off by %.3g", what, left->largest);
        return;
    }
    const double *error = s->rows->joints[row->joint].error;
    double slide[3], turn[3];
    lw_v3_copy(error + 3, slide), lw_v3_copy(error, turn);
    snprintf(text, size, "its two sides stay %.3g m and %.3g deg apart", lw_v3_norm(slide),
             lw_v3_norm(turn) * 180 / LW_PI);
}

/* Tries to close the loops from the start and from perturbed positions; the best is in trial. */
static lw_status close_positions(assembler *a, lw_assemble_nearest *nearest, lw_hold hold, lw_violation *best,
                                 double *size, bool *closed, culprit *open, char *gap, size_t gap_size) {
    const lw_model *model = a->model;
    size_t nq = (size_t)model->nq;
    double *q = calloc(nq + 1, sizeof *q), *speed = calloc((size_t)model->nv + 1, sizeof *speed);
    lw_status status = LW_OK;
    best->largest = HUGE_VAL;
    uint64_t random = 1;
    if (!q || !speed) status = lw_out_of_memory(a->error);
    for (int attempt = 0; status == LW_OK && attempt < ATTEMPTS; attempt++) {
        lw_violation left;
        memcpy(q, a->start, nq * sizeof *q);
        if (attempt > 0) disturb(model, hold, 0.3 * attempt, *size, &random, speed, q);
        status = lw_assemble_nearest_close(nearest, a->start, q, ROUNDS, &left, a->error);
        if (status == LW_ERROR_SINGULAR) { /* An unsuitable starting point. */
            status = LW_OK;
            continue;
        }
        const lw_newton_euler *s = lw_assemble_nearest_system(nearest);
        *size = size_of(s);
        if (status != LW_OK || !(left.largest < best->largest)) continue;
        *best = left;
        memcpy(a->trial, q, nq * sizeof *q);
        bool length = left.row >= 0 && lw_row_is_length(model, s->rows, left.row);
        if (left.row >= 0) {
            describe_gap(s, &left, gap, gap_size);
            *open = culprit_of(model, &s->rows->rows[left.row]);
        }
        *closed = left.largest <= closes * (length ? *size : fmax(*size, 1));
        if (*closed) break;
    }
    free(q), free(speed);
    return status;
}

/* Are all coordinates that are neither given nor prescribed the initial ones? */
static bool leaves_positions_open(const lw_model *model, const double *q) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        if (entry->info.cut || entry->given_q) continue;
        const double *own = q + entry->info.q, *initial = model->q0 + entry->info.q;
        int rotation = lw_joint_quaternion(entry->info.type);
        unsigned prescribed = (unsigned)entry->info.prescribed;
        for (int k = 0; k < entry->joint.nq; k++) {
            bool turns = rotation >= 0 && k >= rotation; /* Prescribed as a whole. */
            if ((turns ? prescribed >> rotation : prescribed >> k & 1) == 0 && own[k] != initial[k])
                return false;
        }
    }
    return true;
}

/* Marks the joints that are part of loops and constraints: those of loops and couplings, and those between
 * the bodies of another constraint. coupled: nv flags of workspace. */
static void find_constrained(const lw_model *model, bool *coupled, bool *constrained) {
    for (int l = 0; l < lw_model_loop_count(model); l++)
        for (int k = 0, sense; k < lw_model_loop_length(model, l); k++)
            constrained[lw_model_loop_joint(model, l, k, &sense)] = true;
    for (int c = 0; c < model->constraint_count; c++) {
        const lw_constraint *constraint = &model->constraints[c];
        if (constraint->type == LW_CONSTRAINT_COUPLING) {
            for (int k = 0; k < constraint->terms; k++) coupled[constraint->speeds[k]] = true;
            continue;
        }
        int a = constraint->bodies[0], b = constraint->bodies[1];
        while (a != b) { /* parents have smaller labels */
            int *further = a > b ? &a : &b;
            constrained[model->bodies[*further].joint_index] = true;
            *further = model->links[*further].parent;
        }
    }
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        for (int k = 0; k < info->v_count && !info->cut; k++) constrained[j] |= coupled[info->v + k];
    }
}

/* A copy of the model whose joints can hold other values than the given ones. */
typedef struct holder {
    lw_model model;
    bool *constrained; /* per joint, then workspace */
} holder;

static bool holder_create(const lw_model *model, holder *h) {
    size_t count = (size_t)model->joint_count;
    h->model = *model;
    h->model.joints = calloc(count + 1, sizeof *h->model.joints);
    h->constrained = calloc(count + (size_t)model->nv + 1, sizeof *h->constrained);
    if (!h->model.joints || !h->constrained) return false;
    memcpy(h->model.joints, model->joints, count * sizeof *h->model.joints);
    find_constrained(model, h->constrained + count, h->constrained);
    return true;
}

static void holder_discard(holder *h) { free(h->model.joints), free(h->constrained); }

/* The nearest of several positions: trial, and those found by descent from perturbed ones. model holds the
 * given and the determined coordinates, which therefore stay on their branch. */
static lw_status start_elsewhere(assembler *a, const lw_model *model, double size, double gap,
                                 lw_violation *left) {
    size_t nq = (size_t)model->nq;
    uint64_t random = 1;
    double least = HUGE_VAL, distance;
    bool chosen;
    lw_assemble_nearest *nearest = lw_assemble_nearest_create(model, LW_HOLD_Q, a->t);
    double *base = calloc(2 * nq + 1, sizeof *base), *q = base + nq;
    double *speed = calloc((size_t)model->nv + 1, sizeof *speed);
    lw_status status = LW_ERROR_MEMORY;
    if (nearest && base && speed) {
        memcpy(base, a->start, nq * sizeof *base);
        lw_put_back(model, a->trial, base);
        status = lw_assemble_nearest_descend(nearest, gap, a->trial, left, &least, &chosen, a->error);
    } else
        lw_out_of_memory(a->error);
    for (int k = 0; status == LW_OK && k < STARTS && !lw_assemble_nearest_spent(nearest); k++) {
        lw_violation now;
        memcpy(q, base, nq * sizeof *q);
        disturb(model, LW_HOLD_Q, 1.5, size, &random, speed, q);
        status = lw_assemble_nearest_close(nearest, base, q, ROUNDS, &now, a->error);
        bool closed = status == LW_OK && now.largest <= gap;
        if (status == LW_ERROR_SINGULAR) status = LW_OK;
        if (closed) status = lw_assemble_nearest_descend(nearest, gap, q, &now, &distance, &chosen, a->error);
        if (status == LW_OK && closed && !lw_assemble_nearest_spent(nearest) && distance < least - nearer) {
            least = distance, *left = now;
            memcpy(a->trial, q, nq * sizeof *q);
        }
    }
    free(base), free(speed);
    lw_assemble_nearest_destroy(nearest);
    return status;
}

/* From trial, which is closed, to the nearest position: by descent from there, then from elsewhere. Joints
 * that are not part of a loop or constraint take their initial coordinates. */
static lw_status choose_nearest(assembler *a, double size, lw_violation *left) {
    const lw_model *model = a->model;
    double gap = fmax(2 * left->largest, closes * fmin(size, 1)), distance;
    bool chosen = false, *fixed = calloc((size_t)model->joint_count + 1, sizeof *fixed);
    lw_assemble_nearest *nearest = NULL;
    holder h;
    if (holder_create(model, &h) && fixed) {
        for (int j = 0; j < model->joint_count; j++) h.model.joints[j].given_q |= !h.constrained[j];
        lw_put_back(&h.model, a->start, a->trial);
        nearest = lw_assemble_nearest_create(&h.model, LW_HOLD_Q, a->t);
    }
    lw_status status =
        nearest ? lw_assemble_nearest_descend(nearest, gap, a->trial, left, &distance, &chosen, a->error)
                : lw_out_of_memory(a->error);
    if (status == LW_OK && chosen) status = lw_assemble_nearest_fixed(nearest, a->trial, fixed, a->error);
    if (status == LW_OK && chosen) {
        for (int j = 0; j < model->joint_count; j++) h.model.joints[j].given_q |= fixed[j];
        status = start_elsewhere(a, &h.model, size, gap, left);
    }
    lw_assemble_nearest_destroy(nearest);
    holder_discard(&h);
    free(fixed);
    return status;
}

static lw_status positions(assembler *a, double *q, lw_assembly *summary) {
    char gap[256] = "no start leads to where its loops close";
    culprit open = {"model", a->model->name, {0}};
    double size = 1;
    lw_violation left = {0};
    bool given = any_given(a->model, LW_HOLD_Q), closed = false;
    bool open_to_choice = leaves_positions_open(a->model, q);
    memcpy(a->start, q, (size_t)a->model->nq * sizeof *q);
    for (int stage = given ? 0 : 1; stage < 2 && !closed; stage++) {
        /* With given values first nearby, then elsewhere; they may be approximate. */
        lw_hold hold = stage == 0 ? LW_HOLD_Q : LW_HOLD_NONE;
        lw_assemble_nearest *nearest = lw_assemble_nearest_create(a->model, hold, a->t);
        if (!nearest) return lw_out_of_memory(a->error);
        lw_status status = close_positions(a, nearest, hold, &left, &size, &closed, &open, gap, sizeof gap);
        if (status == LW_OK && closed && open_to_choice && !(given && stage == 1))
            status = choose_nearest(a, size, &left);
        lw_assemble_nearest_destroy(nearest);
        if (status != LW_OK) return status;
    }
    if (!closed)
        return lw_fail_at(
            a->error, LW_ERROR_MODEL, a->model->file, open.place, open.kind, open.name,
            "check lengths and axes of the loop, or give initial values nearer to the assembled ones",
            "the mechanism cannot be assembled: %s", gap);
    summary->position = left.largest;
    summary->rounds = left.rounds;
    memcpy(q, a->trial, (size_t)a->model->nq * sizeof *q);
    lw_normalise_q(a->model, q);
    for (int j = 0; j < a->model->joint_count; j++) {
        const lw_joint_entry *entry = &a->model->joints[j];
        for (int k = 0; entry->given_q && !entry->info.cut && k < entry->joint.nq; k++) {
            double moved = fabs(q[entry->info.q + k] - a->start[entry->info.q + k]);
            bool prescribed = k < entry->joint.nv && entry->info.prescribed >> k & 1;
            if (!prescribed && moved > fmax(1e-9, summary->moved)) {
                summary->moved = moved;
                summary->moved_joint = j;
            }
        }
    }
    return LW_OK;
}

/* Are all speeds zero that are neither given nor prescribed? */
static bool leaves_open(const lw_model *model, const double *v) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        for (int k = 0; !entry->info.cut && !entry->given_v && k < entry->joint.nv; k++)
            if (!(entry->info.prescribed >> k & 1) && v[entry->info.v + k] != 0) return false;
    }
    return true;
}

/* Velocities of least energy: given speeds are held, and joints outside loops and constraints stay at
 * rest. */
static lw_status least_velocities(assembler *a, const double *q, double *v, lw_violation *left) {
    lw_projection *projection = NULL;
    holder h;
    if (holder_create(a->model, &h)) {
        for (int j = 0; j < h.model.joint_count; j++) h.model.joints[j].given_v |= !h.constrained[j];
        projection = lw_projection_create(&h.model, LW_HOLD_V);
    }
    lw_status status =
        projection ? lw_least_velocities(projection, a->t, q, v, left, a->error) : lw_out_of_memory(a->error);
    lw_projection_destroy(projection);
    holder_discard(&h);
    return status;
}

static double fastest(const double *v, size_t count) {
    double most = 1;
    for (size_t k = 0; k < count; k++) most = fmax(most, fabs(v[k]));
    return most;
}

static lw_status velocities(assembler *a, const double *q, double *v, lw_assembly *summary) {
    const lw_model *model = a->model;
    size_t nv = (size_t)model->nv;
    bool given = any_given(model, LW_HOLD_V), consistent = false;
    memcpy(a->v_start, v, nv * sizeof *v);
    if (leaves_open(model, v)) {
        lw_violation left;
        lw_status status = least_velocities(a, q, v, &left);
        if (status != LW_OK && status != LW_ERROR_SINGULAR) return status;
        consistent = status == LW_OK && left.largest <= closes * fastest(v, nv);
        if (consistent) summary->velocity = left.largest;
    }
    for (int stage = given ? 0 : 1; stage < 2 && !consistent; stage++) {
        lw_projection *projection = lw_projection_create(model, stage == 0 ? LW_HOLD_V : LW_HOLD_NONE);
        if (!projection) return lw_out_of_memory(a->error);
        lw_violation left;
        memcpy(v, a->v_start, nv * sizeof *v);
        lw_status status = lw_project_velocities(projection, a->t, q, v, &left, a->error);
        consistent = status == LW_OK && left.largest <= closes * fastest(v, nv);
        char what[160] = "";
        culprit off = {"model", model->name, {0}};
        const lw_rows *rows = lw_projection_system(projection)->rows;
        if (left.row >= 0) {
            lw_row_describe(model, &rows->rows[left.row], what, sizeof what);
            off = culprit_of(model, &rows->rows[left.row]);
        }
        lw_projection_destroy(projection);
        if (status != LW_OK) return status;
        summary->velocity = left.largest;
        if (!consistent && stage == 1)
            return lw_fail_at(
                a->error, LW_ERROR_MODEL, model->file, off.place, off.kind, off.name,
                model->motion_count > 0
                    ? "the position is singular, or prescribed motions contradict each other: start elsewhere"
                    : "the position is singular: start beside it",
                "no velocities are consistent with %s: %s is off by %.3g",
                model->motion_count > 0 ? "the prescribed motions" : "each other", what, left.largest);
    }
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        for (int k = 0; entry->given_v && !entry->info.cut && k < entry->joint.nv; k++) {
            double changed = fabs(v[entry->info.v + k] - a->v_start[entry->info.v + k]);
            if (!(entry->info.prescribed >> k & 1) && changed > fmax(1e-9, summary->changed)) {
                summary->changed = changed;
                summary->changed_joint = j;
            }
        }
    }
    return LW_OK;
}

/* Motions that agree in position and speed may still contradict each other afterwards, and in a singular
 * position not all speeds lead along a branch. */
static lw_status accelerations(assembler *a, const double *q, const double *v) {
    lw_projection *projection = lw_projection_create(a->model, LW_HOLD_NONE);
    if (!projection) return lw_out_of_memory(a->error);
    /* Relative to the accelerations that speeds and motions require, or to 1. */
    const double contradicts = 1e-6;
    const lw_rows *rows = lw_projection_system(projection)->rows;
    lw_violation left;
    double asked = 1;
    lw_status status = lw_project_accelerations(projection, a->t, q, v, &left, a->error);
    for (int r = 0; r < rows->count; r++) asked = fmax(asked, fabs(rows->gamma[r]));
    if (status == LW_OK && !(left.largest <= contradicts * asked)) {
        char what[160] = "";
        bool motions = a->model->motion_count > 0;
        lw_row_describe(a->model, &rows->rows[left.row], what, sizeof what);
        culprit off = culprit_of(a->model, &rows->rows[left.row]);
        status = lw_fail_at(
            a->error, LW_ERROR_MODEL, a->model->file, off.place, off.kind, off.name,
            motions ? "the position is singular, or prescribed motions contradict each other: start elsewhere"
                    : "the position is singular: start beside it, or with speeds along one of its branches",
            "no accelerations are consistent with the %s: %s is off by %.3g",
            motions ? "prescribed motions" : "initial speeds", what, left.largest);
    }
    lw_projection_destroy(projection);
    return status;
}

lw_status lw_assemble(const lw_model *model, double t, double *q, double *v, lw_assembly *assembly,
                      lw_error *error) {
    lw_assembly own;
    if (!assembly) assembly = &own;
    *assembly = (lw_assembly){.moved_joint = -1, .changed_joint = -1};
    if (!model || !lw_given(q, model->nq) || !lw_given(v, model->nv) || !isfinite(t) ||
        !lw_finite(q, model->nq) || !lw_finite(v, model->nv))
        return lw_call_needs("a model, a time, q and v", error);
    if (!model->closure_count && !model->constraint_count) return LW_OK;
    size_t nq = (size_t)model->nq + 1;
    assembler a = {model,
                   t,
                   calloc(nq, sizeof *a.start),
                   calloc(nq, sizeof *a.trial),
                   calloc((size_t)model->nv + 1, sizeof *a.v_start),
                   error};
    lw_status status = LW_ERROR_MEMORY;
    if (a.start && a.trial && a.v_start) {
        status = positions(&a, q, assembly);
        if (status == LW_OK) status = velocities(&a, q, v, assembly);
        if (status == LW_OK) status = accelerations(&a, q, v);
    } else
        lw_out_of_memory(error);
    free(a.start), free(a.trial), free(a.v_start);
    return status;
}

/* --- mobility ------------------------------------------------------------------------------------- */

struct lw_mobility {
    int speeds, rows, rank;
    int *joint;
    char (*sentence)[160];
};

/* Which rows beyond the tree are independent: by orthogonal factors or, for a large mechanism, by sparse
 * elimination. */
static lw_status find_rank(const lw_newton_euler *s, bool *kept, lw_mobility *mobility, lw_error *error) {
    double entries = (double)mobility->rows * s->model->nv;
    if (entries > LW_DENSE_ENTRIES)
        return lw_sparse_rank_at(s, kept, &mobility->rank, &mobility->speeds, error);
    lw_redundancy *redundancy = NULL;
    lw_status status = lw_redundancy_create(s, &redundancy, error);
    if (status != LW_OK) return status;
    mobility->speeds = redundancy->speeds;
    mobility->rank = redundancy->rank;
    memcpy(kept, redundancy->kept, (size_t)mobility->rows * sizeof *kept);
    lw_redundancy_destroy(redundancy);
    return LW_OK;
}

lw_status lw_mobility_create(const lw_model *model, double t, const double *q, lw_mobility **out,
                             lw_error *error) {
    if (out) *out = NULL;
    if (!model || !out || !lw_given(q, model->nq) || !isfinite(t) || !lw_finite(q, model->nq))
        return lw_call_needs("a model, a time, q and a place for the result", error);
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_mobility *mobility = calloc(1, sizeof *mobility);
    bool *kept = s ? calloc((size_t)s->rows->count + 1, sizeof *kept) : NULL;
    lw_status status = s && mobility && kept ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        mobility->rows = s->rows->count - s->rows->tree_count;
        lw_newton_euler_rows_at(s, t, q, NULL);
        status = find_rank(s, kept, mobility, error);
    }
    if (status == LW_OK) {
        size_t count = (size_t)(mobility->rows - mobility->rank) + 1;
        mobility->joint = calloc(count, sizeof *mobility->joint);
        mobility->sentence = calloc(count, sizeof *mobility->sentence);
        if (!mobility->joint || !mobility->sentence) status = lw_out_of_memory(error);
        for (int r = 0, at = 0; status == LW_OK && r < mobility->rows; r++) {
            if (kept[r]) continue;
            const lw_row *row = &s->rows->rows[s->rows->tree_count + r];
            mobility->joint[at] = row->joint;
            lw_row_describe(model, row, mobility->sentence[at++], sizeof *mobility->sentence);
        }
    }
    free(kept);
    lw_newton_euler_destroy(s);
    if (status == LW_OK)
        *out = mobility;
    else
        lw_mobility_destroy(mobility);
    return status;
}

void lw_mobility_destroy(lw_mobility *mobility) {
    if (!mobility) return;
    free(mobility->joint), free(mobility->sentence), free(mobility);
}

int lw_mobility_freedom(const lw_mobility *m) { return m ? m->speeds - m->rank : 0; }
int lw_mobility_speeds(const lw_mobility *m) { return m ? m->speeds : 0; }
int lw_mobility_rows(const lw_mobility *m) { return m ? m->rows : 0; }
int lw_mobility_rank(const lw_mobility *m) { return m ? m->rank : 0; }
static bool is_redundant(const lw_mobility *m, int index) {
    return m && index >= 0 && index < m->rows - m->rank;
}
int lw_mobility_redundant_joint(const lw_mobility *m, int index) {
    return is_redundant(m, index) ? m->joint[index] : -1;
}
const char *lw_mobility_redundant(const lw_mobility *m, int index) {
    return is_redundant(m, index) ? m->sentence[index] : NULL;
}
