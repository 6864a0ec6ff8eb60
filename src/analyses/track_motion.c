/* track_motion.c - a given motion brought to where closures and constraints hold.
 *
 *   minimise |x_S - d_S|  with  g x = b,    x = Q (y; z),  R'y = b,   min |T_S z + (Q (y; 0))_S - d_S| (2, 3)
 *
 * x are changes of the free speeds' coordinates, of speeds or of accelerations, dimensionless; S those whose
 * motion is given, d what is still missing there; b what the rows lack. Positions are iterated (Newton and
 * Gauss), speeds and accelerations are linear. Where everything is given, T_S is orthonormal and z its
 * product with the rest, so that a step costs no more than the factors.
 *
 * Source   docs/theory/inverse_motion.md, with the equation numbers above; factors: tangent_space.c.
 * Cost     a round costs the factors of tangent_space.c; where some coordinates are not given, in addition
 *          s f min(s, f) for s given ones and f freedoms. No allocation but in create.
 * Limits   where wheels roll, positions follow from the whole history, so that all coordinates have to be
 *          given.
 */
#include "analyses/track_motion.h"
#include "constraints/projective_criterion.h"
#include "model/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A round moves no coordinate by more than this, so that a motion that begins far from the start of the model
 * is reached on the branch that leads there. */
static const double largest_step = 0.2;
enum { ROUNDS = 200 };
/* Loops are open by no more than rounding leaves, relative to the size of the mechanism. */
static const double closed = 1e-9;
/* Given coordinates whose motions are dependent to this degree determine nothing: next to dead centres. */
static const double independent = 1e-7;

lw_status lw_track_create(lw_solver *solver, const bool *given, const double *start, lw_track **follow,
                          lw_error *error) {
    const lw_model *model = solver->model;
    const lw_loop_inverse *s = solver->inverse;
    lw_arena *arena = lw_arena_create(NULL);
    lw_track *f = LW_NEW(arena, lw_track, 1);
    *follow = NULL;
    if (!f) {
        if (arena) lw_arena_destroy(arena);
        return lw_out_of_memory(error);
    }
    const size_t nv = (size_t)model->nv + 1, m = (size_t)s->rows->count + 1;
    f->solver = solver, f->model = model, f->arena = arena;
    f->given = LW_NEW(arena, bool, nv);
    f->followed = LW_NEW(arena, int, nv);
    f->q = LW_NEW(arena, double, model->nq + 1);
    f->v = LW_NEW(arena, double, nv);
    f->vdot = LW_NEW(arena, double, nv);
    f->wanted = LW_NEW(arena, double, nv);
    f->x = LW_NEW(arena, double, nv);
    f->y = LW_NEW(arena, double, nv);
    f->right = LW_NEW(arena, double, nv);
    f->rest = LW_NEW(arena, double, m);
    f->row = LW_NEW(arena, double, m + nv);
    f->order = LW_NEW(arena, int, nv);
    f->null = LW_NEW(arena, int, nv);
    if (lw_arena_failed(arena)) {
        lw_track_destroy(f);
        return lw_out_of_memory(error);
    }
    memcpy(f->q, start, (size_t)model->nq * sizeof *f->q);
    f->all = true;
    int touched = 0;
    for (int v = 0; v < model->nv; v++) {
        f->given[v] = given[v] && !s->prescribed[v];
        if (s->prescribed[v] || s->tangent->first[v] < 0) continue;
        touched++;
        if (f->given[v])
            f->followed[f->count++] = v;
        else
            f->all = false;
    }
    for (int r = 0; r < s->rows->count; r++) f->slips |= lw_row_is_slip(model, &s->rows->rows[r]);
    if (!f->all) {
        f->T = LW_NEW(arena, double, (size_t)f->count *(size_t)touched + 1);
        f->work = lw_orthogonal_create(f->count > touched ? f->count : touched, touched + 1, false);
        if (!f->T || !f->work) {
            lw_track_destroy(f);
            return lw_out_of_memory(error);
        }
    }
    *follow = f;
    return LW_OK;
}

void lw_track_destroy(lw_track *f) {
    if (!f) return;
    lw_orthogonal_destroy(f->work);
    lw_arena_destroy(f->arena);
}

/* --- one step -------------------------------------------------------------------------------------- */

/* The coordinate that moves most in a motion which the given ones leave free: T w with T_S w = 0. */
static lw_status not_determined(lw_track *f, double t, int freedom, int rank, lw_error *error) {
    lw_tangent *tangent = f->solver->inverse->tangent;
    char name[256];
    memset(f->x, 0, (size_t)f->model->nv * sizeof *f->x);
    if (freedom > 0) {
        double *w = f->right;
        const int j = f->order[rank];
        for (int i = 0; i < rank; i++) w[i] = -f->T[(size_t)i + (size_t)rank * (size_t)f->count];
        if (rank) lw_qr_triangle(false, rank, f->count, f->T, 1, w, rank);
        for (int i = 0; i < rank; i++) f->x[f->null[f->order[i]]] = w[i];
        f->x[f->null[j]] = 1;
        lw_tangent_apply(tangent, false, f->x);
    }
    int most = -1;
    for (int v = 0; v < f->model->nv; v++)
        if (!f->given[v] && !tangent->out[v] && (most < 0 || fabs(f->x[v]) > fabs(f->x[most]))) most = v;
    lw_speed_name(f->model, most < 0 ? 0 : most, name, sizeof name);
    return lw_fail(
        error, LW_ERROR_ARGUMENT, lw_model_name(f->model),
        "give as many coordinates as the mechanism has degrees of freedom, this one too",
        "at t = %.9g s the given motion does not determine that of \"%s\": %d of %d freedoms are left", t,
        name, freedom - rank, freedom);
}

/* The step x of (2) for right sides b of the rows and what is missing at the given speeds (f->wanted,
 * dimensionless). At untouched speeds that are given x is what is missing. steady: rows only, other motions
 * stay. */
static lw_status step(lw_track *f, double t, const double *b, bool steady, lw_error *error) {
    const lw_model *model = f->model;
    lw_tangent *tangent = f->solver->inverse->tangent;
    const int nv = model->nv;
    double *x = f->x;
    if (f->all && !steady) {
        for (int v = 0; v < nv; v++) x[v] = f->given[v] ? f->wanted[v] : 0;
        lw_tangent_apply(tangent, true, x);
        lw_tangent_shortest(tangent, b, f->rest, x);
        lw_tangent_apply(tangent, false, x);
        return LW_OK;
    }
    memset(x, 0, (size_t)nv * sizeof *x);
    lw_tangent_shortest(tangent, b, f->rest, x);
    if (f->all || steady) {
        lw_tangent_apply(tangent, false, x);
        for (int v = 0; v < nv; v++)
            if (f->given[v] && tangent->first[v] < 0) x[v] = f->wanted[v];
        return LW_OK;
    }
    int freedom = 0, rank = 0;
    for (int v = 0; v < nv; v++)
        if (!tangent->out[v] && !tangent->range[v] && tangent->first[v] >= 0) f->null[freedom++] = v;
    memcpy(f->y, x, (size_t)nv * sizeof *x); /* in the factors' places: range set, tangent space zero */
    lw_tangent_apply(tangent, false, x);
    const size_t count = (size_t)f->count;
    for (size_t k = 0; k < count; k++) {
        const int speed = f->followed[k];
        memset(f->row, 0, (size_t)nv * sizeof *f->row);
        lw_tangent_row(tangent, speed, f->row);
        for (int j = 0; j < freedom; j++) f->T[k + (size_t)j * count] = f->row[f->null[j]];
        f->right[k] = f->wanted[speed] - x[speed];
    }
    if (f->count > 0 && freedom > 0) {
        const int pivots = lw_qr_factor(f->work, f->count, freedom, f->T, f->order, 0);
        while (rank < pivots && fabs(f->T[(size_t)rank * (count + 1)]) > independent) rank++;
    } else
        for (int j = 0; j < freedom; j++) f->order[j] = j;
    if (rank < freedom) return not_determined(f, t, freedom, rank, error);
    if (freedom > 0) {
        lw_qr_apply(f->work, true, f->count, freedom, f->T, 1, f->right);
        lw_qr_triangle(false, freedom, f->count, f->T, 1, f->right, f->count);
        for (int j = 0; j < freedom; j++) f->y[f->null[f->order[j]]] = f->right[j];
    }
    memcpy(x, f->y, (size_t)nv * sizeof *x);
    lw_tangent_apply(tangent, false, x);
    for (int v = 0; v < nv; v++) /* Speeds that no row touches do not depend on others. */
        if (tangent->first[v] < 0) x[v] = f->given[v] ? f->wanted[v] : 0;
    return LW_OK;
}

/* --- positions ------------------------------------------------------------------------------------- */

/* What is missing from q to the given coordinates, as motions of the free speeds, dimensionless. */
static void missing_position(lw_track *f, const double *q) {
    const lw_model *model = f->model;
    const double *unit = f->solver->inverse->tangent->unit;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const int at = lw_joint_quaternion(link->joint.type), nv = link->joint.nv;
        for (int k = 0; k < nv; k++) {
            const int v = link->v + k, c = lw_joint_coordinate_of_speed(link->joint.type, k);
            f->wanted[v] = f->given[v] && c >= 0 ? (q[link->q + c] - f->q[link->q + c]) / unit[v] : 0;
        }
        if (at < 0 || !f->given[link->v + nv - 3]) continue;
        const double *from = f->q + link->q + at;
        const double back[4] = {from[0], -from[1], -from[2], -from[3]};
        double turn[4], given[4];
        memcpy(given, q + link->q + at, sizeof given);
        lw_quat_normalise(given);
        lw_quat_mul(back, given, turn);
        lw_quat_log(turn, f->wanted + link->v + nv - 3);
    }
}

/* Notes by how much the motion differs from what is missing in f->wanted. */
static void note(lw_track *f, int level) {
    f->moved[level] = 0, f->moved_speed[level] = -1;
    for (int v = 0; v < f->model->nv; v++)
        if (f->given[v] && fabs(f->wanted[v]) > f->moved[level])
            f->moved[level] = fabs(f->wanted[v]), f->moved_speed[level] = v;
}

static lw_status stays_open(const lw_track *f, double t, lw_error *error) {
    const lw_rows *rows = f->solver->inverse->rows;
    const double *unit = f->solver->inverse->tangent->row_unit;
    char text[160];
    int worst = 0;
    for (int r = 1; r < rows->count; r++)
        if (fabs(rows->phi[r]) * unit[r] > fabs(rows->phi[worst]) * unit[worst]) worst = r;
    lw_row_describe(f->model, &rows->rows[worst], text, sizeof text);
    return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(f->model),
                   "give a motion that the mechanism can make, or let it begin nearer to the model's start",
                   "at t = %.9g s no position near the given motion closes the loops: %s stays open by %.3g",
                   t, text, fabs(rows->phi[worst]));
}

static lw_status positions(lw_track *f, double t, const double *q, lw_error *error) {
    const lw_model *model = f->model;
    lw_loop_inverse *s = f->solver->inverse;
    const lw_tangent *tangent = s->tangent;
    double last = HUGE_VAL;
    if (f->all) { /* The search begins in the given position. */
        for (int i = 1; i <= model->body_count; i++) {
            const lw_link *link = &model->links[i];
            const int at = lw_joint_quaternion(link->joint.type);
            for (int k = 0; k < link->joint.nv; k++) {
                const int c = lw_joint_coordinate_of_speed(link->joint.type, k);
                if (f->given[link->v + k] && c >= 0) f->q[link->q + c] = q[link->q + c];
            }
            if (at >= 0 && f->given[link->v + link->joint.nv - 3])
                memcpy(f->q + link->q + at, q + link->q + at, 4 * sizeof *q);
        }
        (void)lw_normalise_q(model, f->q);
    }
    for (int round = 0; round < ROUNDS; round++) {
        double most = 0, gap = 0;
        lw_loop_inverse_at(s, t, f->q, NULL);
        memcpy(f->q, s->data->q, (size_t)model->nq * sizeof *f->q);
        lw_tangent_factor(s->tangent, s->prescribed);
        missing_position(f, q);
        for (int r = 0; r < s->rows->count; r++) {
            f->y[0] = fabs(s->rows->phi[r]) * tangent->row_unit[r];
            gap = fmax(gap, f->y[0]);
            f->row[r] = -s->rows->phi[r];
        }
        memcpy(s->rest, f->row, (size_t)s->rows->count * sizeof *f->row);
        lw_status status = step(f, t, s->rest, f->slips, error);
        if (status != LW_OK) return status;
        for (int v = 0; v < model->nv; v++) most = fmax(most, fabs(f->x[v]));
        /* Steps that no longer shrink are rounding, or the end of a motion that loops contradict. */
        if (!(most > 1e-13) || (most < 1e-7 && most > 0.5 * last)) {
            if (gap > closed) return stays_open(f, t, error);
            break;
        }
        last = most;
        for (int v = 0; v < model->nv; v++) f->x[v] *= tangent->unit[v];
        if (!isfinite(most) || round + 1 == ROUNDS) return stays_open(f, t, error);
        lw_integrate_q(model, f->q, f->x, fmin(1, largest_step / most));
    }
    missing_position(f, q);
    note(f, 0);
    return LW_OK;
}

/* --- speeds and accelerations ---------------------------------------------------------------------- */

/* What the rows lack at the motion so far: H'V - rate, or H'A - gamma. */
static void lack(lw_track *f, double t, int level) {
    lw_loop_inverse *s = f->solver->inverse;
    if (level == 1) {
        lw_loop_inverse_at(s, t, f->q, f->v);
        memcpy(f->v, s->data->v, (size_t)f->model->nv * sizeof *f->v);
        lw_rows_velocities(f->model, s->rows, s->bodies);
        lw_rows_transposed(s->rows, s->bodies, s->rest);
        for (int r = 0; r < s->rows->count; r++) s->rest[r] -= s->rows->rate[r];
    } else
        lw_loop_accelerations(f->model, s->data, s->rows, f->vdot, s->bodies, s->rest);
    for (int r = 0; r < s->rows->count; r++) s->rest[r] = -s->rest[r];
}

static lw_status rates(lw_track *f, double t, int level, const double *given, double *x, lw_error *error) {
    const lw_model *model = f->model;
    lw_loop_inverse *s = f->solver->inverse;
    const double *unit = s->tangent->unit;
    for (int v = 0; v < model->nv; v++) x[v] = f->given[v] ? given[v] : 0;
    if (level == 2) /* The state of the speeds is that of `lack` before. */
        for (int v = 0; v < model->nv; v++)
            if (s->prescribed[v]) x[v] = s->data->vdot[v];
    for (int pass = 0; pass < 2; pass++) { /* The second removes what rounding left. */
        lack(f, t, level);
        if (pass == 0 && level == 1) lw_tangent_factor(s->tangent, s->prescribed);
        for (int v = 0; v < model->nv; v++) f->wanted[v] = f->given[v] ? (given[v] - x[v]) / unit[v] : 0;
        lw_status status = step(f, t, s->rest, false, error);
        if (status != LW_OK) return status;
        for (int v = 0; v < model->nv; v++)
            if (!s->prescribed[v]) x[v] += f->x[v] * unit[v];
    }
    for (int v = 0; v < model->nv; v++) f->wanted[v] = f->given[v] ? (given[v] - x[v]) / unit[v] : 0;
    note(f, level);
    return LW_OK;
}

lw_status lw_track_at(lw_track *f, double t, const double *q, const double *v, const double *vdot,
                      lw_error *error) {
    const lw_tangent *tangent = f->solver->inverse->tangent;
    for (int k = 0; k < f->model->nv; k++) {
        char name[256];
        if (f->given[k] || f->solver->inverse->prescribed[k] || tangent->first[k] >= 0) continue;
        lw_speed_name(f->model, k, name, sizeof name);
        return lw_fail(error, LW_ERROR_ARGUMENT, lw_model_name(f->model),
                       "give its motion, too, or prescribe it in the model",
                       "the given motion says nothing of \"%s\", which no loop moves", name);
    }
    if (f->slips && !f->all)
        return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(f->model),
                       "give the motion of all coordinates, as a results file of a run has it",
                       "where wheels roll, positions follow from the whole history of speeds, so that some "
                       "coordinates do not determine the others");
    lw_status status = positions(f, t, q, error);
    if (status == LW_OK) status = rates(f, t, 1, v, f->v, error);
    if (status == LW_OK) { /* Accelerations at the speeds that have been found. */
        lack(f, t, 1);
        status = rates(f, t, 2, vdot, f->vdot, error);
    }
    return status;
}
