/* rcr.c - forward dynamics of closed loops in one sweep inwards and one outwards, in joint coordinates.
 *
 *   given q, v, tau     find vdot with  M vdot + c = tau + G'lambda,  G vdot = g
 *
 * Sweeping inwards, each body hands to its parent, besides articulated inertia I^ and bias f^, for every tie (closure or
 * constraint) on its way to its base the wrenches K that the tie's multipliers put on the articulated body, so that
 *
 *   wrench      I^ a + f^ - sum K lambda
 *   tie         K'a + l + sum L lambda = 0
 *
 * At the base of tie t its multipliers are eliminated with L_tt = C C' (pivots that vanish are left out: the rows are
 * redundant), E = C^-1 K_t', F_s = C^-1 L_ts, e = C^-1 l_t:
 *
 *   I^ += E'E,  f^ += E'e,  K_s -= E'F_s,  L_su -= F_s'F_u,  l_s -= F_s'e
 *
 * Sweeping outwards, lambda_t = -C^-T (E a + e + sum F_s lambda_s) at the base, and the joints beyond follow as in a tree.
 *
 * Source   Anderson & Critchley (2003), eqs 33-80, in the dual form: rows instead of columns are eliminated, locally and
 *          recursively as there (docs/theory/rcr.md: the duality, any pattern of loops, why no coordinate has to be chosen).
 * Symbols  recursion.h, ties.h; C takes the place of Delta.
 * Cost     O(n + m) for loops of bounded width: strands per body and coupled ties. No allocation but in create.
 * Limits   each joint of the tree must move some inertia.
 */
#include "formulations/looped.h"
#include "formulations/ties.h"
#include "formulations/tree.h"
#include "model/joint.h"

#define LANES 1
#include "formulations/forward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rcr_method {
    lw_looped looped;
    lw_ties *ties;
    double *K;         /* wrenches, internal axes about the internal origin: strands, and ties at their bases */
    double *Y, *Z;     /* per strand: S'K and D^-1 S'K */
    double *L;         /* blocks; after elimination C (lower) and F */
    double *E, *e;     /* per row: 6 and 1 */
    double *l;         /* per row */
    double *scale;     /* per row: what its pivot would be in the direction that moves most, at the initial state */
    double length;     /* of the mechanism */
    int *pivot;        /* per row: the tie's rows in the order of their pivots */
    int *rank;         /* per tie */
    double *zero;      /* speeds at rest, no forces */
} rcr_method;

extern const lw_formulation lw_formulation_rcr;

/* A pivot that falls to this share of its scale belongs to a redundant row. Rounding leaves about 1e-15; a mechanism 1e-5 rad
 * away from a singular position has about 1e-10. */
static const double vanished = 1e-12;

/* --- one joint ------------------------------------------------------------------------------------ */

/* The wrenches of a strand through the joint of body i: Y, Z, what the parent gets (K in the parent's frame), and the
 * tie's bias. */
static void through_joint(const recursion *r, int i, int rows, const double *K, double *Y, double *Z,
                          double *l, double *parent) {
    const lw_link *link = &r->model->links[i];
    const node *own = &r->nodes[i];
    int nv = link->joint.nv, kernel = link->kernel;
    bool aligned = kernel < LW_KERNEL_SPHERICAL, turns = kernel < LW_KERNEL_PRISMATIC;
    double b[6];
    memcpy(b, own->bias, sizeof b);
    if (kernel == LW_KERNEL_GENERAL)
        for (int k = 0; k < nv; k++)
            if (link->prescribed >> k & 1)
                lw_v6_axpy(r->vdot[link->v + k], r->S + 6 * (link->v + k), b);
    for (int row = 0; row < rows; row++) {
        const double *w = K + 6 * row;
        double *y = Y + nv * row, *z = Z + nv * row, left[6], moved[6];
        memcpy(left, w, sizeof left);
        if (aligned) {
            y[0] = w[kernel];
            z[0] = own->d * y[0];
            lw_v6_axpy(-z[0], own->U, left);
            l[row] += z[0] * own->u;
        } else if (kernel == LW_KERNEL_FREE) {
            memcpy(y, w, 6 * sizeof *y);
            memcpy(z, w, 6 * sizeof *z);
            solve_lower(6, 0, r->D + 6 * link->v, z);
            solve_upper(6, 0, r->D + 6 * link->v, z);
            memset(left, 0, sizeof left);
            l[row] += lw_v6_dot(z, r->u + link->v);
        } else if (kernel == LW_KERNEL_SPHERICAL) {
            const double *B = r->U + 6 * link->v;
            double t[3];
            memcpy(y, w, 3 * sizeof *y);
            memcpy(z, w, 3 * sizeof *z);
            solve_lower(3, 0, r->D + 6 * link->v, z);
            solve_upper(3, 0, r->D + 6 * link->v, z);
            lw_m3_tmul_v(B, z, t);
            for (int k = 0; k < 3; k++) left[k] = 0, left[3 + k] -= t[k];
            l[row] += lw_v3_dot(z, r->u + link->v);
        } else {
            for (int k = 0; k < nv; k++) z[k] = y[k] = lw_v6_dot(r->S + 6 * (link->v + k), w);
            solve_lower(nv, link->prescribed, r->D + 6 * link->v, z);
            solve_upper(nv, link->prescribed, r->D + 6 * link->v, z);
            for (int k = 0; k < nv; k++) {
                if (link->prescribed >> k & 1) z[k] = 0;
                lw_v6_axpy(-z[k], r->U + 6 * (link->v + k), left);
                l[row] += z[k] * r->u[link->v + k];
            }
        }
        l[row] += lw_v6_dot(left, b);
        /* into the parent's frame */
        if (turns) {
            double c = r->cosine[link->v], s = r->sine[link->v];
            turn(kernel, c, s, left, moved);
            turn(kernel, c, s, left + 3, moved + 3);
            lw_v3_add_cross(link->p, moved + 3, moved);
        } else if (aligned) {
            memcpy(moved, left, sizeof moved);
            lw_v3_add_cross(r->places[i].p, moved + 3, moved);
        } else
            lw_wrench_to_parent(r->places[i].R, r->places[i].p, left, moved);
        lw_v6_axpy(1, moved, parent + 6 * row);
    }
}

/* The multipliers push the joint of body i: u += Y lambda, for accelerate. */
static void push_joint(const recursion *r, int i, int rows, const double *Y, const double *lambda) {
    const lw_link *link = &r->model->links[i];
    int nv = link->joint.nv;
    double *u = link->kernel < LW_KERNEL_SPHERICAL ? &r->nodes[i].u : r->u + link->v;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < nv; k++) u[k] += Y[nv * row + k] * lambda[row];
}

/* --- inwards -------------------------------------------------------------------------------------- */

static void pass_strands(rcr_method *m, const recursion *r, int i) {
    const lw_ties *ties = m->ties;
    for (int s = ties->strand_start[i]; s < ties->strand_start[i + 1]; s++) {
        const lw_strand *strand = &ties->strands[s];
        const lw_tie *tie = &ties->ties[strand->tie];
        int parent = strand->parent < 0 ? tie->K : ties->strands[strand->parent].K;
        through_joint(r, i, tie->count, m->K + strand->K, m->Y + strand->Y, m->Z + strand->Y,
                      m->l + tie->first, m->K + parent);
    }
    int nv = r->model->links[i].joint.nv;
    for (int p = ties->pair_start[i]; p < ties->pair_start[i + 1]; p++) {
        const lw_strand *a = &ties->strands[ties->pairs[p].first], *b = &ties->strands[ties->pairs[p].second];
        int rows = ties->ties[a->tie].count, columns = ties->ties[b->tie].count;
        double *block = m->L + ties->pairs[p].block;
        for (int x = 0; x < rows; x++)
            for (int y = 0; y < columns; y++)
                for (int k = 0; k < nv; k++)
                    block[columns * x + y] += m->Y[a->Y + nv * x + k] * m->Z[b->Y + nv * y + k];
    }
}

/* L_tt = C C' with the largest pivot next, in place (row by row, rows as permuted); returns the rank. */
static int factor_tie(int count, double *L, const double *scale, int *pivot) {
    for (int k = 0; k < count; k++) pivot[k] = k;
    for (int k = 0; k < count; k++) {
        int best = -1;
        double most = vanished;
        for (int i = k; i < count; i++) {
            double share = scale[pivot[i]] > 0 ? L[count * i + i] / scale[pivot[i]] : 0;
            if (share > most) most = share, best = i;
        }
        if (best < 0) return k;
        if (best != k) { /* exchange rows and columns k and best of the symmetric matrix, lower triangle */
            int swap = pivot[k];
            pivot[k] = pivot[best], pivot[best] = swap;
            for (int j = 0; j < count; j++) {
                double x = L[count * k + j];
                L[count * k + j] = L[count * best + j], L[count * best + j] = x;
            }
            for (int i = k; i < count; i++) {
                double x = L[count * i + k];
                L[count * i + k] = L[count * i + best], L[count * i + best] = x;
            }
        }
        double root = sqrt(L[count * k + k]);
        L[count * k + k] = root;
        for (int i = k + 1; i < count; i++) L[count * i + k] /= root;
        for (int i = k + 1; i < count; i++)
            for (int j = k + 1; j < count; j++) L[count * i + j] -= L[count * i + k] * L[count * j + k];
    }
    return count;
}

/* out = C^-1 of the pivoted rows of x, `columns` numbers each. */
static void forward_rows(int rank, int count, const double *C, const int *pivot, int columns, const double *x,
                         double *out) {
    for (int i = 0; i < rank; i++) {
        double *row = out + columns * i;
        memcpy(row, x + columns * pivot[i], (size_t)columns * sizeof *row);
        for (int j = 0; j < i; j++)
            for (int c = 0; c < columns; c++) row[c] -= C[count * i + j] * out[columns * j + c];
        for (int c = 0; c < columns; c++) row[c] /= C[count * i + i];
    }
}

enum { ROWS_MAX = 6 }; /* of one tie */

static void eliminate_tie(rcr_method *m, const recursion *r, int t) {
    const lw_ties *ties = m->ties;
    const lw_tie *tie = &ties->ties[t];
    int count = tie->count, *pivot = m->pivot + tie->first;
    double *C = m->L + tie->block, *E = m->E + 6 * tie->first, *e = m->e + tie->first;
    int rank = factor_tie(count, C, m->scale + tie->first, pivot);
    m->rank[t] = rank;
    forward_rows(rank, count, C, pivot, 6, m->K + tie->K, E);
    forward_rows(rank, count, C, pivot, 1, m->l + tie->first, e);
    if (tie->base > 0 && rank > 0) { /* joints beyond, so children that hand over their inertias in a slot */
        sum *handed = &r->sums[r->model->links[tie->base].slot];
        for (int k = 0; k < rank; k++) {
            const double *x = E + 6 * k;
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j <= i; j++) {
                    handed->A[sym(i, j)] += x[i] * x[j];
                    handed->C[sym(i, j)] += x[3 + i] * x[3 + j];
                }
                for (int j = 0; j < 3; j++) handed->B[3 * i + j] += x[i] * x[3 + j];
            }
            for (int i = 0; i < 6; i++) handed->f[i] += x[i] * e[k];
        }
    }
    const lw_coupling *near = ties->couplings + tie->coupling;
    for (int j = 0; j < tie->couplings; j++) {
        const lw_tie *other = &ties->ties[near[j].tie];
        double rows[ROWS_MAX * ROWS_MAX], *F = m->L + near[j].block, *K = m->K + near[j].K;
        int columns = other->count;
        forward_rows(rank, count, C, pivot, columns, F, rows);
        memcpy(F, rows, (size_t)(rank * columns) * sizeof *F);
        for (int k = 0; k < rank; k++)
            for (int c = 0; c < columns; c++) {
                m->l[other->first + c] -= F[columns * k + c] * e[k];
                lw_v6_axpy(-F[columns * k + c], E + 6 * k, K + 6 * c);
            }
    }
    const int *target = ties->targets + tie->target;
    for (int j = 0; j < tie->couplings; j++)
        for (int k = j; k < tie->couplings; k++) {
            int a = ties->ties[near[j].tie].count, b = ties->ties[near[k].tie].count;
            const double *Fa = m->L + near[j].block, *Fb = m->L + near[k].block;
            double *block = m->L + *target++;
            for (int x = 0; x < a; x++)
                for (int y = 0; y < b; y++)
                    for (int p = 0; p < rank; p++) block[b * x + y] -= Fa[a * p + x] * Fb[b * p + y];
        }
}

/* --- outwards ------------------------------------------------------------------------------------- */

/* lambda_t = -C^-T (E a + e + sum F_s lambda_s) in the pivoted rows, zero in the others. */
static void solve_tie(rcr_method *m, const recursion *r, int t) {
    const lw_ties *ties = m->ties;
    const lw_tie *tie = &ties->ties[t];
    const double *C = m->L + tie->block, *a = r->nodes[tie->base].a;
    const int *pivot = m->pivot + tie->first;
    int rank = m->rank[t], count = tie->count;
    double x[ROWS_MAX], *lambda = m->looped.lambda + tie->first;
    for (int k = 0; k < rank; k++)
        x[k] = lw_v6_dot(m->E + 6 * (tie->first + k), a) + m->e[tie->first + k];
    for (int j = 0; j < tie->couplings; j++) {
        const lw_coupling *near = &ties->couplings[tie->coupling + j];
        const lw_tie *other = &ties->ties[near->tie];
        for (int k = 0; k < rank; k++)
            for (int c = 0; c < other->count; c++)
                x[k] += m->L[near->block + other->count * k + c] * m->looped.lambda[other->first + c];
    }
    for (int k = 0; k < count; k++) lambda[k] = 0;
    for (int i = rank - 1; i >= 0; i--) {
        for (int j = i + 1; j < rank; j++) x[i] -= C[count * j + i] * x[j];
        x[i] /= C[count * i + i];
        lambda[pivot[i]] = -x[i];
    }
}

static void solve_based_ties(rcr_method *m, const recursion *r, int body) {
    const lw_ties *ties = m->ties;
    for (int t = ties->at_base[body] + ties->based[body] - 1; t >= ties->at_base[body] && ties->based[body];
         t--)
        solve_tie(m, r, t);
}

/* --- the two sweeps ------------------------------------------------------------------------------- */

/* The rows' wrenches on the bodies they act on directly, in internal axes about the internal origin. */
static void place_wrenches(rcr_method *m) {
    const lw_rows *rows = m->looped.rows;
    const lw_data *data = m->looped.data;
    memset(m->K, 0, (size_t)m->ties->K_size * sizeof *m->K);
    for (int b = 0; b < rows->block_count; b++) {
        int body = rows->body[b];
        const double *h = rows->H + 6 * b;
        double arm[3], moment[3], *w = m->K + m->ties->place[b];
        lw_v3_sub(rows->bodies[body].r, data->world[body].p, arm);
        lw_v3_cross(arm, h + 3, moment);
        lw_v3_add(moment, h, moment);
        lw_m3_tmul_v(data->world[body].R, moment, w);
        lw_m3_tmul_v(data->world[body].R, h + 3, w + 3);
    }
}

/* Both sweeps, with l, K, tau and speeds set. */
static lw_status sweep(rcr_method *m, const recursion *r, bool gravity, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    const lw_ties *ties = m->ties;
    int n = model->body_count, bad_body = 0, bad_speed = 0;
    memset(m->L, 0, (size_t)ties->block_size * sizeof *m->L);
    velocities(r);
    for (int i = n; i >= 0; i--) {
        for (int t = ties->at_base[i]; t < ties->at_base[i] + ties->based[i]; t++) eliminate_tie(m, r, t);
        if (i == 0) break;
        int bad = 0;
        BY_JOINT(&model->links[i], eliminate, r, i, &bad)
        if (bad && !bad_body) bad_body = i, bad_speed = bad;
        pass_strands(m, r, i);
    }
    if (bad_body) return lw_undetermined(model, bad_body, bad_speed, error);
    hang_ground(r);
    if (!gravity) memset(r->nodes[0].a, 0, sizeof r->nodes[0].a);
    solve_based_ties(m, r, 0);
    for (int i = 1; i <= n; i++) {
        for (int s = ties->strand_start[i]; s < ties->strand_start[i + 1]; s++) {
            const lw_strand *strand = &ties->strands[s];
            const lw_tie *tie = &ties->ties[strand->tie];
            push_joint(r, i, tie->count, m->Y + strand->Y, m->looped.lambda + tie->first);
        }
        BY_JOINT(&model->links[i], accelerate, r, i)
        solve_based_ties(m, r, i);
    }
    return LW_OK;
}

/* Rows at the state in data (lw_take_state). */
static void evaluate_rows(rcr_method *m) {
    lw_looped_rows(&m->looped);
    place_wrenches(m);
}

/* The smallest motion in the mass metric with G x = -l, into data->vdot; the state in data stays. */
static lw_status smallest_motion(rcr_method *m, const double *l, lw_error *error) {
    recursion r = recursion_of(m->looped.base.model, m->looped.data);
    r.v = m->zero, r.tau = m->zero, r.load = NULL, r.drive = NULL;
    memcpy(m->l, l, (size_t)m->looped.rows->count * sizeof *l);
    const lw_model *model = m->looped.base.model;
    for (int i = 1; i <= model->body_count; i++) /* prescribed motions have been taken already */
        for (int k = 0; k < model->links[i].joint.nv; k++)
            if (model->links[i].prescribed >> k & 1) m->looped.data->vdot[model->links[i].v + k] = 0;
    return sweep(m, &r, false, error);
}

static const double exact = 1e-13; /* of velocities: rounding */

/* Eliminates what v has against the rows; the state in data, rows and wrenches follow. */
static lw_status eliminate_speeds(rcr_method *m, double t, lw_error *error) {
    const lw_model *model = m->looped.base.model;
    lw_data *data = m->looped.data;
    evaluate_rows(m);
    if (!(lw_looped_velocity_defect(&m->looped) > exact)) return LW_OK;
    lw_status status = smallest_motion(m, m->looped.defect, error);
    if (status != LW_OK) return status;
    for (int k = 0; k < model->nv; k++) data->v[k] += data->vdot[k];
    if (model->motion_count) lw_take_prescribed(model, data, t);
    evaluate_rows(m);
    return LW_OK;
}

static lw_status solve(lw_looped *looped, double t, const double *tau, lw_error *error) {
    rcr_method *m = (rcr_method *)looped;
    lw_status status = eliminate_speeds(m, t, error);
    if (status != LW_OK) return status;
    lw_take_forces(looped->base.model, looped->data, t, tau);
    lw_looped_bias(looped, m->l);
    const recursion r = recursion_of(m->looped.base.model, m->looped.data);
    return sweep(m, &r, true, error);
}

/* The scales of the rows, from the strands of the sweep that has just been made: each joint could give way by 1 / D to the
 * whole of a strand's wrench, if that had the joint's direction. */
static void measure_scales(rcr_method *m, const recursion *r) {
    const lw_ties *ties = m->ties;
    memset(m->scale, 0, (size_t)m->looped.rows->count * sizeof *m->scale);
    for (int i = 1; i <= m->looped.base.model->body_count; i++) {
        const lw_link *link = &m->looped.base.model->links[i];
        for (int s = ties->strand_start[i]; s < ties->strand_start[i + 1]; s++) {
            const lw_tie *tie = &ties->ties[ties->strands[s].tie];
            for (int row = 0; row < tie->count; row++) {
                const double *w = m->K + ties->strands[s].K + 6 * row;
                double torque = lw_v3_dot(w, w), force = lw_v3_dot(w + 3, w + 3);
                torque += m->length * m->length * force;
                for (int k = 0; k < link->joint.nv; k++) {
                    bool aligned = link->kernel < LW_KERNEL_SPHERICAL;
                    double root = aligned ? 0 : r->D[6 * (link->v + k) + k];
                    double d = aligned ? r->nodes[i].d : root > 0 ? 1 / (root * root) : 0;
                    m->scale[tie->first + row] +=
                        d * (lw_joint_speed_turns(link->joint.type, k) ? torque : force);
                }
            }
        }
    }
}

/* --- the method ----------------------------------------------------------------------------------- */

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    rcr_method *m = (rcr_method *)lw_looped_create(sizeof *m, &lw_formulation_rcr, model, options, solve);
    if (m) m->ties = lw_ties_create(model, m->looped.rows, m->looped.arena);
    if (m && m->ties) {
        lw_arena *arena = m->looped.arena;
        size_t rows = (size_t)m->looped.rows->count + 1;
        m->K = LW_NEW(arena, double, m->ties->K_size + 1);
        m->Y = LW_NEW(arena, double, m->ties->Y_size + 1);
        m->Z = LW_NEW(arena, double, m->ties->Y_size + 1);
        m->L = LW_NEW(arena, double, m->ties->block_size + 1);
        m->E = LW_NEW(arena, double, 6 * rows);
        m->e = LW_NEW(arena, double, rows);
        m->l = LW_NEW(arena, double, rows);
        m->scale = LW_NEW(arena, double, rows);
        m->pivot = LW_NEW(arena, int, rows);
        m->rank = LW_NEW(arena, int, rows);
        m->zero = LW_NEW(arena, double, model->nv + 1);
    }
    if (!m || !m->ties || !m->K || !m->Y || !m->Z || !m->L || !m->E || !m->e || !m->l || !m->scale ||
        !m->pivot || !m->rank || !m->zero) {
        if (m) lw_looped_destroy(&m->looped.base);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "out of memory");
    }
    lw_take_state(model, m->looped.data, 0, model->q0, model->v0);
    evaluate_rows(m);
    for (int i = 1; i <= model->body_count; i++)
        for (int k = 0; k < 3; k++) m->length = fmax(m->length, fabs(model->links[i].p[k]));
    const recursion r = recursion_of(m->looped.base.model, m->looped.data);
    lw_status status = sweep(m, &r, true, error); /* nothing is eliminated while all scales are zero */
    if (status != LW_OK) {
        lw_looped_destroy(&m->looped.base);
        return status;
    }
    measure_scales(m, &r);
    *out = &m->looped.base;
    return LW_OK;
}

static lw_status project(lw_method *base, double t, double *y, lw_error *error) {
    enum { ROUNDS = 10 };
    rcr_method *m = (rcr_method *)base;
    const lw_model *model = base->model;
    lw_data *data = m->looped.data;
    double before = HUGE_VAL;
    lw_status status = LW_OK;
    lw_normalise_q(model, y);
    for (int round = 0; round < ROUNDS && m->looped.options.drift == LW_DRIFT_PROJECT; round++) {
        double worst = 0;
        lw_take_state(model, data, t, y, NULL);
        evaluate_rows(m);
        for (int r = 0; r < m->looped.rows->count; r++) worst = fmax(worst, fabs(m->looped.rows->phi[r]));
        if (!(worst > 1e-15) || !(worst < 0.5 * before)) break;
        before = worst;
        status = smallest_motion(m, m->looped.rows->phi, error);
        if (status != LW_OK) return status;
        lw_integrate_q(model, y, data->vdot, 1);
    }
    lw_take_state(model, data, t, y, y + model->nq);
    status = eliminate_speeds(m, t, error);
    memcpy(y + model->nq, data->v, (size_t)model->nv * sizeof *y);
    return status;
}

const lw_formulation lw_formulation_rcr = {
    .name = "rcr",
    .source = "anderson2003 33-80",
    .cost = "O(n + m)",
    .summary = "loops eliminated locally in one sweep inwards and one outwards, joint coordinates",
    .coordinates = LW_COORDINATES_JOINT,
    .rank = 10,
    .applies = lw_looped_applies,
    .create = create,
    .destroy = lw_looped_destroy,
    .to_state = lw_looped_to_state,
    .from_state = lw_looped_from_state,
    .accelerations = lw_looped_accelerations,
    .derivative = lw_looped_derivative,
    .project = project,
    .violation = lw_looped_violation,
};
