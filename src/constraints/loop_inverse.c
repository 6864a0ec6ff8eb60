/* loop_inverse.c - the forces of drives for a given motion of a mechanism with loops.
 *
 *   rho = e (M vdot + h),   T'rho_F = T_D' y_D,   g_F' lambda = rho_F - y_F                  (3), (8), (9)
 *
 * The left side is inverse dynamics of the tree. If all joints are driven, the shortest y is a projection
 * (10); otherwise (8) is solved by orthogonal factors in each set of coupled loops (11). What the drives
 * cannot do is left over (12) and names the missing direction. Forces and the reactions that follow from
 * lambda are put to the balance check, which decides.
 *
 * Source   docs/theory/inverse_loops.md, 4 to 6, with the equation numbers above.
 * Symbols  e units of the speeds; rho, y, g dimensionless in lengths; T orthonormal basis of admissible
 *          speeds.
 * Cost     all joints driven: O(n), the factors of tangent_space.c and the check. d drives: in addition d
 *          rows of Q and d f min(d, f), f freedoms, in each set of coupled loops. No allocation but in
 *          create.
 */
#include "constraints/loop_inverse.h"
#include "constraints/projective_criterion.h"
#include "dynamics/tree_dynamics.h"
#include "model/joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Violations beyond this, relative to the size of the mechanism or to its speeds, are not rounding or drift:
 * the question is wrong. */
static const double off_manifold = 1e-6;
/* Speeds that are not larger, in 1/s, are none. */
static const double at_rest = 1e-12;
static const double vanishes = 1e-9; /* An entry of an orthogonal matrix that is not larger is zero. */

/* --- creation -------------------------------------------------------------------------------------- */

static int component_of(const lw_tangent *t, int speed) {
    return t->first[speed] < 0 ? -1 : t->fronts[t->first[speed]].component;
}

/* The speeds with member[v] (NULL: all) or also[v], by sets of coupled loops. Returns the largest number. */
static int sort_speeds(const lw_loop_inverse *s, const bool *member, const bool *also, lw_speed_sets *sets) {
    const lw_tangent *t = s->tangent;
    int most = 0;
    sets->start = LW_NEW(s->arena, int, t->components + 2);
    sets->item = LW_NEW(s->arena, int, s->model->nv + 1);
    if (lw_arena_failed(s->arena)) return 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 0; v < s->model->nv; v++) {
            int c = component_of(t, v);
            if (c < 0 || (member && !member[v] && !(also && also[v]))) continue;
            if (pass == 0)
                sets->start[c + 1]++;
            else
                sets->item[sets->start[c]++] = v;
        }
        /* Counts become starts; filling has moved each start to the next. */
        if (pass == 0)
            for (int c = 0; c < t->components; c++) {
                if (sets->start[c + 1] > most) most = sets->start[c + 1];
                sets->start[c + 1] += sets->start[c];
            }
        else
            for (int c = t->components; c > 0; c--) sets->start[c] = sets->start[c - 1];
    }
    sets->start[0] = 0;
    return most;
}

static void create_dense(lw_loop_inverse *s) {
    size_t drives = (size_t)sort_speeds(s, s->driven, s->prescribed, &s->actors), n = (size_t)s->most;
    if (s->all) return;
    s->M = LW_NEW(s->arena, double, drives *n + 1);
    s->b = LW_NEW(s->arena, double, n + 1);
    s->y = LW_NEW(s->arena, double, n + 1);
    s->null = LW_NEW(s->arena, int, n + 1);
    s->order = LW_NEW(s->arena, int, n + 1);
    s->work = lw_orthogonal_create((int)drives, (int)n, false);
}

static bool create(lw_loop_inverse *s, const bool *driven) {
    const lw_model *model = s->model;
    lw_arena *arena = s->arena;
    size_t nv = (size_t)model->nv + 1, bodies = (size_t)model->body_count + 1;
    s->rows = lw_rows_create_loops(model, arena);
    if (!s->rows) return false;
    s->tangent = lw_tangent_create(model, s->rows, arena);
    s->prescribed = LW_NEW(arena, bool, nv);
    s->driven = LW_NEW(arena, bool, nv);
    s->v = LW_NEW(arena, double, nv);
    s->vdot = LW_NEW(arena, double, nv);
    s->r = LW_NEW(arena, double, nv);
    s->x = LW_NEW(arena, double, nv);
    s->force = LW_NEW(arena, double, nv);
    s->missing = LW_NEW(arena, double, nv);
    s->lambda = LW_NEW(arena, double, s->rows->count + 1);
    s->rest = LW_NEW(arena, double, s->rows->count + 1);
    s->bodies = LW_NEW(arena, double, 12 * bodies);
    s->reactions = LW_NEW(arena, double, 6 * (size_t)model->joint_count + 1);
    s->multipliers = LW_NEW(arena, double, s->rows->count + 1);
    if (!s->tangent || lw_arena_failed(arena)) return false;
    s->all = true;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < link->joint.nv; k++) {
            int v = link->v + k;
            s->prescribed[v] = link->prescribed >> k & 1;
            s->driven[v] = !s->prescribed[v] && (!driven || driven[v]);
            s->all &= s->prescribed[v] || s->driven[v];
        }
    }
    s->most = sort_speeds(s, NULL, NULL, &s->speeds);
    sort_speeds(s, s->driven, NULL, &s->drives);
    create_dense(s);
    s->balance = lw_balance_create(model);
    return s->balance && !lw_arena_failed(arena) && (s->all || s->work) &&
           lw_data_create(model, NULL, &s->data) == LW_OK;
}

lw_loop_inverse *lw_loop_inverse_create(const lw_model *model, const bool *driven, const double *inputs,
                                        const double *states) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_loop_inverse *s = LW_NEW(arena, lw_loop_inverse, 1);
    if (!s) {
        if (arena) lw_arena_destroy(arena);
        return NULL;
    }
    s->arena = arena;
    s->model = model;
    if (!create(s, driven)) {
        lw_loop_inverse_destroy(s);
        return NULL;
    }
    lw_data_set_values(model, s->data, inputs, states);
    return s;
}

void lw_loop_inverse_destroy(lw_loop_inverse *s) {
    if (!s) return;
    if (s->data) lw_data_destroy(s->data);
    lw_balance_destroy(s->balance);
    lw_orthogonal_destroy(s->work);
    lw_arena_destroy(s->arena);
}

/* --- the motion ------------------------------------------------------------------------------------ */

void lw_loop_inverse_at(lw_loop_inverse *s, double t, const double *q, const double *v) {
    lw_take_state(s->model, s->data, t, q, v);
    lw_velocities(s->model, s->data);
    lw_world_poses(s->model, s->data);
    lw_rows_evaluate(s->model, s->data, false, s->rows);
    lw_tangent_rows(s->tangent, s->data);
}

void lw_loop_accelerations(const lw_model *model, const lw_data *data, const lw_rows *rows,
                           const double *vdot, double *bodies, double *out) {
    double *spatial = bodies, *centre = bodies + 6 * ((size_t)model->body_count + 1);
    memset(spatial, 0, 6 * sizeof *spatial);
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_body_motion *motion = &data->motion[i];
        const double *S = data->S + 6 * link->v, *v = data->v + link->v, *c = model->bodies[i].com;
        const double *V = motion->V;
        double *A = spatial + 6 * i, R[9], p[3], again[6 * LW_JOINT_MAX_V], bias[6], joint[6] = {0};
        double turning[6], local[3], swing[3];
        lw_twist_to_child(motion->R, motion->p, spatial + 6 * link->parent, A);
        lw_joint_motion(&link->joint, data->q + link->q, v, R, p, again, bias);
        for (int k = 0; k < link->joint.nv; k++) {
            lw_v6_axpy(v[k], S + 6 * k, joint);
            if (vdot) lw_v6_axpy(vdot[link->v + k], S + 6 * k, A);
        }
        lw_twist_cross(V, joint, turning);
        for (int k = 0; k < 6; k++) A[k] += bias[k] + turning[k];
        lw_v3_copy(A + 3, local); /* of the centre of mass, in body axes */
        lw_v3_add_cross(V, V + 3, local);
        lw_v3_add_cross(A, c, local);
        lw_v3_cross(V, c, swing);
        lw_v3_add_cross(V, swing, local);
        lw_m3_mul_v(data->world[i].R, A, centre + 6 * i);
        lw_m3_mul_v(data->world[i].R, local, centre + 6 * i + 3);
    }
    lw_rows_transposed(rows, centre + 6, out);
    for (int r = 0; r < rows->count; r++) out[r] -= rows->gamma[r];
}

/* The row with the largest violation, dimensionless. */
static int worst_row(const lw_loop_inverse *s, const double *violation, double *most) {
    int worst = -1;
    *most = 0;
    for (int r = 0; r < s->rows->count; r++) {
        double size = fabs(violation[r]) * s->tangent->row_unit[r];
        if (!(size <= *most)) *most = size, worst = r;
    }
    return worst;
}

/* The largest of some velocities or accelerations of bodies, lengths counted in that of the mechanism. */
static double fastest_of(const lw_loop_inverse *s, const double *V) {
    double fastest = 0;
    for (int k = 0; k < 6 * s->model->body_count; k++)
        fastest = fmax(fastest, fabs(V[k]) / (k % 6 < 3 ? 1 : s->tangent->length));
    return fastest;
}

static lw_status refuse(const lw_loop_inverse *s, int row, const char *remedy, const char *what,
                        double amount, lw_error *error) {
    char text[160];
    lw_row_describe(s->model, &s->rows->rows[row], text, sizeof text);
    return lw_fail(error, LW_ERROR_ARGUMENT, NULL, remedy, "inverse dynamics: %s %s (%.2g of %s)", what, text,
                   amount, "the size of the mechanism or of its motion");
}

/* Positions and speeds must satisfy the rows. */
static lw_status check_state(lw_loop_inverse *s, lw_error *error) {
    double open, defect;
    int row = worst_row(s, s->rows->phi, &open);
    if (open > off_manifold)
        return refuse(s, row, "give a position in which loops are closed: lw_assemble finds one",
                      "the position violates", open, error);
    lw_rows_velocities(s->model, s->rows, s->bodies);
    lw_rows_transposed(s->rows, s->bodies, s->rest);
    for (int r = 0; r < s->rows->count; r++) s->rest[r] -= s->rows->rate[r];
    row = worst_row(s, s->rest, &defect);
    double fastest = fastest_of(s, s->bodies);
    if (defect > off_manifold * fastest + at_rest)
        return refuse(s, row, "give speeds that keep loops closed: lw_assemble finds such speeds",
                      "the speeds violate", defect / fastest, error);
    return LW_OK;
}

static void take_motion(lw_loop_inverse *s, double t, const double *q, const double *v, const double *vdot) {
    const size_t nv = (size_t)s->model->nv;
    lw_loop_inverse_at(s, t, q, v);
    memcpy(s->v, s->data->v, nv * sizeof *s->v);
    for (size_t k = 0; k < nv; k++) s->vdot[k] = s->prescribed[k] ? s->data->vdot[k] : vdot[k];
}

/* --- forces of drives ------------------------------------------------------------------------------ */

static void note_missing(lw_loop_inverse *s, double lacks) {
    s->lacks = lacks;
    memset(s->missing, 0, (size_t)s->model->nv * sizeof *s->missing);
}

/* The places of the tangent space in one set of coupled loops. */
static int find_nulls(lw_loop_inverse *s, int c) {
    int count = 0;
    for (int k = s->speeds.start[c]; k < s->speeds.start[c + 1]; k++) {
        int v = s->speeds.item[k];
        if (!s->tangent->out[v] && !s->tangent->range[v]) s->null[count++] = v;
    }
    return count;
}

/* M P = Q R for the rows of T that belong to some speeds; returns the rank. */
static int factor_drives(lw_loop_inverse *s, int c, const lw_speed_sets *drives, int freedom) {
    int from = drives->start[c], count = drives->start[c + 1] - from, rank = 0;
    for (int j = 0; j < freedom; j++) s->order[j] = j;
    for (int d = 0; d < count; d++) {
        for (int k = s->speeds.start[c]; k < s->speeds.start[c + 1]; k++) s->force[s->speeds.item[k]] = 0;
        lw_tangent_row(s->tangent, drives->item[from + d], s->force);
        for (int j = 0; j < freedom; j++) s->M[(size_t)d + (size_t)j * (size_t)count] = s->force[s->null[j]];
    }
    if (count == 0 || freedom == 0) return 0;
    int pivots = lw_qr_factor(s->work, count, freedom, s->M, s->order, 0);
    double least = lw_criterion_tolerance(s->rows, s->tangent->length);
    while (rank < pivots && fabs(s->M[(size_t)rank * ((size_t)count + 1)]) > least) rank++;
    return rank;
}

/* The missing direction of a set of coupled loops: b holds z, then what is left (12). */
static void find_direction(lw_loop_inverse *s, int count, int freedom, int rank) {
    double *w = s->y;
    for (int j = rank; j < freedom; j++) w[j] = s->b[j];
    for (int i = 0; i < rank; i++) {
        w[i] = 0;
        for (int j = rank; j < freedom; j++) w[i] -= s->M[(size_t)i + (size_t)j * (size_t)count] * w[j];
    }
    if (rank) lw_qr_triangle(false, rank, count, s->M, 1, w, rank);
    for (int j = 0; j < freedom; j++) s->missing[s->null[s->order[j]]] = w[j];
    lw_tangent_apply(s->tangent, false, s->missing);
}

/* (11), (12) in one set of coupled loops, from x = Q'rho; y goes into tau. */
static void drive_set(lw_loop_inverse *s, int c, double *tau) {
    int from = s->drives.start[c], count = s->drives.start[c + 1] - from, freedom = find_nulls(s, c);
    int rank = factor_drives(s, c, &s->drives, freedom);
    double *b = s->b, *y = s->y, square = 0;
    for (int j = 0; j < freedom; j++) b[j] = s->x[s->null[s->order[j]]];
    if (rank) lw_qr_triangle(true, rank, count, s->M, 1, b, rank);
    for (int j = rank; j < freedom; j++) {
        for (int i = 0; i < rank; i++) b[j] -= s->M[(size_t)i + (size_t)j * (size_t)count] * b[i];
        square += b[j] * b[j];
    }
    for (int d = 0; d < count; d++) y[d] = d < rank ? b[d] : 0;
    if (rank) lw_qr_apply(s->work, false, count, freedom, s->M, 1, y);
    for (int d = 0; d < count; d++) tau[s->drives.item[from + d]] = y[d];
    if (sqrt(square) > s->lacks) {
        note_missing(s, sqrt(square));
        find_direction(s, count, freedom, rank);
    }
}

/* y_F into tau, dimensionless. */
static void drive(lw_loop_inverse *s, double *tau) {
    const int nv = s->model->nv;
    for (int v = 0; v < nv; v++) s->x[v] = s->prescribed[v] ? 0 : s->r[v] * s->tangent->unit[v];
    s->lacks = 0;
    memset(tau, 0, (size_t)nv * sizeof *tau);
    for (int v = 0; v < nv; v++) {
        if (s->tangent->first[v] >= 0 || s->prescribed[v]) continue;
        if (s->driven[v])
            tau[v] = s->x[v];
        else if (fabs(s->x[v]) > s->lacks)
            note_missing(s, fabs(s->x[v])), s->missing[v] = 1;
    }
    lw_tangent_apply(s->tangent, true, s->x);
    if (!s->all) {
        for (int c = 0; c < s->tangent->components; c++) drive_set(s, c, tau);
        return;
    }
    for (int v = 0; v < nv; v++)
        if (s->tangent->range[v] || s->prescribed[v]) s->x[v] = 0;
    lw_tangent_apply(s->tangent, false, s->x); /* (10) */
    memcpy(tau, s->x, (size_t)nv * sizeof *tau);
}

/* (9): multipliers, and the forces of prescribing drives. */
static void find_multipliers(lw_loop_inverse *s, double *tau) {
    const int nv = s->model->nv;
    for (int v = 0; v < nv; v++) {
        s->x[v] = s->prescribed[v] ? 0 : s->r[v] * s->tangent->unit[v] - tau[v];
        tau[v] /= s->tangent->unit[v];
    }
    lw_tangent_apply(s->tangent, true, s->x);
    lw_tangent_multipliers(s->tangent, s->x, s->lambda);
    memcpy(s->force, s->r, (size_t)nv * sizeof *s->force);
    lw_tangent_forces(s->tangent, -1, s->lambda, s->force);
    for (int v = 0; v < nv; v++)
        if (s->prescribed[v]) tau[v] = s->force[v];
}

/* --- the check ------------------------------------------------------------------------------------- */

/* Names the joints that move in the missing direction, those that move most first, and the force that the
 * motion requires there: the work along it for a motion of length one. */
static lw_status refuse_missing(const lw_loop_inverse *s, lw_error *error) {
    enum { NAMED = 4 };
    const double *unit = s->tangent->unit;
    char text[256] = "", name[80];
    double most = 0, work = 0, square = 0;
    int named[NAMED], count = 0, moving = 0;
    bool slides = false;
    for (int v = 0; v < s->model->nv; v++) {
        most = fmax(most, fabs(s->missing[v]));
        square += s->missing[v] * s->missing[v];
        work += s->r[v] * unit[v] * s->missing[v];
    }
    for (int v = 0; v < s->model->nv; v++) moving += fabs(s->missing[v]) > 1e-6 * most;
    for (; count < NAMED && count < moving; count++) {
        int best = -1;
        for (int v = 0; v < s->model->nv; v++) {
            bool taken = false;
            for (int k = 0; k < count; k++) taken |= named[k] == v;
            if (!taken && (best < 0 || fabs(s->missing[v]) > fabs(s->missing[best]))) best = v;
        }
        named[count] = best;
        slides |= unit[best] != 1;
        lw_speed_name(s->model, best, name, sizeof name);
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s\"%s\" by %.3g %s", count ? ", " : "", name,
                 s->missing[best] / s->missing[named[0]] * unit[best], unit[best] == 1 ? "rad" : "m");
    }
    if (moving == 1 && slides) work /= unit[named[0]];
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL, "drive one of these joints too, or give another motion",
        "the driven joints cannot produce this motion: while all of them stand still, the mechanism "
        "can still move %s%s; %.3g %s are missing there",
        text, moving > count ? ", and others" : "", fabs(work) / sqrt(square),
        moving > 1 && slides ? "N m (lengths in units of the longest arm)"
        : slides             ? "N"
                             : "N m");
}

static double relative_defect(lw_loop_inverse *s, int *row) {
    double most;
    *row = worst_row(s, s->rest, &most);
    const double fastest = fastest_of(s, s->bodies + 6 * ((size_t)s->model->body_count + 2));
    return fastest > 0 ? most / fastest : most > 0 ? 1 : 0;
}

static lw_status check(lw_loop_inverse *s, double t, const double *q, const double *tau, double *amount,
                       lw_error *error) {
    const lw_model *model = s->model;
    const lw_rows *rows = s->rows;
    int next = 0, row = -1;
    for (int r = 0; r < rows->count; r++)
        if (rows->rows[r].kind == LW_ROW_CONSTRAINT) s->multipliers[next++] = s->lambda[r];
    const lw_balance_state state = {.t = t,
                                    .q = q,
                                    .v = s->v,
                                    .speeds = s->v,
                                    .tau = tau,
                                    .inputs = s->data->inputs,
                                    .states = s->data->states,
                                    .vdot = s->vdot,
                                    .reactions = s->reactions,
                                    .multipliers = s->multipliers};
    lw_balance_result result = lw_balance_check(s->balance, &state);
    *amount = result.amount;
    if (result.amount <= LW_BALANCE_ENOUGH) return LW_OK;
    double defect = relative_defect(s, &row);
    if (defect > off_manifold && isfinite(defect))
        return refuse(s, row, "give accelerations that keep loops closed, such as those of a simulation",
                      "the accelerations violate", defect, error);
    double size = 0;
    for (int v = 0; v < model->nv; v++) size = fmax(size, fabs(s->r[v]) * s->tangent->unit[v]);
    if (result.object == LW_BALANCE_JOINT && s->lacks > vanishes * size && isfinite(result.amount))
        return refuse_missing(s, error);
    return lw_balance_verdict(model, &result, LW_BALANCE_ENOUGH, "inverse dynamics", t, error);
}

lw_status lw_loop_inverse_solve(lw_loop_inverse *s, double t, const double *q, const double *v,
                                const double *vdot, double *tau, double *amount, lw_error *error) {
    const lw_model *model = s->model, *links = model;
    lw_data *of_links = s->data;
    lw_take_merged(&links, &of_links);
    *amount = NAN;
    take_motion(s, t, q, v, vdot);
    lw_status status = check_state(s, error);
    if (status != LW_OK) return status;
    lw_loop_accelerations(model, s->data, s->rows, s->vdot, s->bodies, s->rest);
    lw_tangent_factor(s->tangent, s->prescribed);
    lw_open_inverse(links, of_links, t, q, s->v, s->vdot, s->r);
    drive(s, tau);
    find_multipliers(s, tau);
    lw_open_reactions(model, s->data, t, q, s->v, s->vdot, s->reactions);
    lw_loop_constraint_reactions(model, s->data, s->rows, s->lambda, s->bodies, s->reactions);
    return check(s, t, q, tau, amount, error);
}

/* --- uniqueness ------------------------------------------------------------------------------------ */

/* (13) in one set of coupled loops. */
static void unique_set(lw_loop_inverse *s, int c, bool *unique) {
    int from = s->actors.start[c], count = s->actors.start[c + 1] - from, freedom = find_nulls(s, c);
    int rank = factor_drives(s, c, &s->actors, freedom);
    for (int j = rank; j < count; j++) {
        for (int d = 0; d < count; d++) s->y[d] = d == j;
        if (rank) lw_qr_apply(s->work, false, count, freedom, s->M, 1, s->y);
        for (int d = 0; d < count; d++)
            if (fabs(s->y[d]) > vanishes) unique[s->actors.item[from + d]] = false;
    }
}

void lw_loop_inverse_unique(lw_loop_inverse *s, double t, const double *q, bool *unique) {
    lw_loop_inverse_at(s, t, q, NULL);
    for (int v = 0; v < s->model->nv; v++) unique[v] = !s->all || !(s->tangent->touch[v] > vanishes);
    if (s->all) return;
    lw_tangent_factor(s->tangent, NULL);
    for (int c = 0; c < s->tangent->components; c++) unique_set(s, c, unique);
}
