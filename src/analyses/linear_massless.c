/* linear_massless.c - linear systems of mechanisms some of whose motions move no mass.
 *
 *   M dw' = Aw x + Bw u,   M = N'M N singular,   M T = 0,   dw = D dw_r + T e                     (10, 11)
 *   0 = T'(Aw x + Bw u)                                                                                 (12)
 *
 * (12) gives the speeds e of motions that dampers resist, and the positions of those that springs alone hold;
 * what is left are dynamic speeds w_r, and the coordinates that are not held so.
 *
 * Source   docs/theory/linearise.md, 10-14.
 * Symbols  x = (z, w, s) before, (z_r, w_r, s) after; x = S x_r + U u.
 * Cost     O(states^3), dense. Allocates.
 * Limits   where the mechanism moves, motions that springs alone hold may not turn, nor share dampers with
 *          others that they move along with.
 */
#include "analyses/linear_massless.h"
#include "analyses/linear_turns.h"
#include "analyses/rigid_motions.h"
#include <linkwork/massless.h>

#include <math.h>
#include <string.h>

/* Below these parts of what could cancel, an entry is one of rounding. */
static const double rounding = 1e-10;

static lw_status take_memory(lw_linear_reduction *r, lw_error *error) {
    lw_arena *a = r->w->arena;
    const size_t n = (size_t)r->n, f = (size_t)r->f, wide = n + (size_t)r->ni, still = (size_t)r->still,
                 most = (n > f ? n : f) + 1;
    r->of_dynamic = LW_NEW(a, int, f + 1);
    r->of_still = LW_NEW(a, int, f + 1);
    r->order = LW_NEW(a, int, most + 1);
    r->place = LW_NEW(a, int, most + 1);
    r->pivots = LW_NEW(a, int, most + 1);
    r->own_held = LW_NEW(a, int, still + 1);
    r->unit = LW_NEW(a, double, f + 1);
    r->M = LW_NEW(a, double, f *f + 1);
    r->Mdd = LW_NEW(a, double, f *f + 1);
    r->X = LW_NEW(a, double, f *still + 1);
    r->T = LW_NEW(a, double, f *still + 1);
    r->rows = LW_NEW(a, double, still *wide + 1);
    r->bounds = LW_NEW(a, double, still *wide + 1);
    r->E = LW_NEW(a, double, still *most + 1);
    r->left = LW_NEW(a, double, still *still + 1);
    r->right = LW_NEW(a, double, still *still + 1);
    r->Z = LW_NEW(a, double, n *still + 1);
    r->K = LW_NEW(a, double, still *still + 1);
    r->Y = LW_NEW(a, double, still *wide + 1);
    r->row = LW_NEW(a, double, wide + 1);
    const size_t nv = (size_t)r->w->derivatives->model->nv + 1, nq = (size_t)r->w->derivatives->model->nq + 1;
    r->turn_z = LW_NEW(a, double, f *n + 1);
    r->turn_rate = LW_NEW(a, double, f *n + 1);
    r->turning = LW_NEW(a, double, f + 1);
    r->moved = LW_NEW(a, double, nq);
    r->start = LW_NEW(a, double, nq);
    r->speeds = LW_NEW(a, double, nv);
    r->motion = LW_NEW(a, double, nv);
    r->moved_v = LW_NEW(a, double, nv);
    r->rate = LW_NEW(a, double, f *still + 1);
    r->other_X = LW_NEW(a, double, f *still + 1);
    r->basis = LW_NEW(a, double, nv *f);
    r->turned_N = LW_NEW(a, double, nv *f);
    r->other_M = LW_NEW(a, double, f *f + 1);
    r->block = LW_NEW(a, double, f *f + 1);
    r->S = LW_NEW(a, double, n *n + 1);
    r->U = LW_NEW(a, double, wide *wide + 1);
    return lw_arena_failed(a) ? lw_out_of_memory(error) : LW_OK;
}

/* --- motions without mass ---------------------------------------------------------------------------- */

/* N'M N in the independent speeds, whose basis Nv (free x f) is the identity in their rows. */
static void mass_matrix(const lw_linear_work *w, int f, const double *mass, double *work, double *M) {
    const lw_derivatives *d = w->derivatives;
    const int nf = d->free_count, nv = d->model->nv;
    double *MN = work; /* free x f */
    for (int j = 0; j < f; j++)
        for (int i = 0; i < nf; i++) {
            double sum = 0;
            for (int k = 0; k < nf; k++)
                sum += mass[(size_t)d->free[i] * (size_t)nv + (size_t)d->free[k]] * w->Nv[k + j * nf];
            MN[i + j * nf] = sum;
        }
    lw_dense_multiply(true, false, f, f, nf, 1, w->Nv, MN, 0, M);
}

/* The speeds that stay, by pivots of M in units that make speeds comparable; the others stand for the motions
 * without mass, T = (X; 1), X = -Mdd^-1 Mds. False: M has another rank here. */
static bool separate(lw_linear_reduction *r) {
    const int f = r->f, kept = r->dynamic;
    double *S = r->Mdd;
    for (int i = 0; i < f; i++) {
        r->order[i] = i;
        for (int j = 0; j < f; j++) S[i + j * f] = r->unit[i] * r->M[i + j * f] * r->unit[j];
    }
    for (int step = 0; step < kept; step++) { /* elimination with the largest pivot next */
        int best = step;
        for (int k = step + 1; k < f; k++) {
            const int at = r->order[k], other = r->order[best];
            if (S[at + at * f] > S[other + other * f] * (1 + 1e-9)) best = k;
        }
        const int p = r->order[best];
        r->order[best] = r->order[step], r->order[step] = p;
        const double pivot = S[p + p * f];
        if (!(pivot > 1e-14 * r->unit[p] * r->unit[p] * r->M[p + p * f])) return false;
        for (int k = step + 1; k < f; k++) {
            const int i = r->order[k];
            const double factor = S[i + p * f] / pivot;
            for (int l = step + 1; l < f; l++) S[i + r->order[l] * f] -= factor * S[p + r->order[l] * f];
        }
    }
    for (int k = kept; k < f; k++) {
        const int i = r->order[k];
        if (fabs(S[i + i * f]) > 1e-9 * r->unit[i] * r->unit[i] * r->M[i + i * f]) return false;
    }
    int dynamic = 0, still = 0;
    for (int i = 0; i < f; i++) r->place[i] = 0;
    for (int k = 0; k < kept; k++) r->place[r->order[k]] = 1;
    for (int i = 0; i < f; i++) {
        if (r->place[i])
            r->of_dynamic[dynamic++] = i;
        else
            r->of_still[still++] = i;
    }
    for (int i = 0; i < kept; i++)
        for (int j = 0; j < kept; j++) r->Mdd[i + j * kept] = r->M[r->of_dynamic[i] + r->of_dynamic[j] * f];
    for (int i = 0; i < kept; i++)
        for (int j = 0; j < still; j++) r->X[i + j * kept] = -r->M[r->of_dynamic[i] + r->of_still[j] * f];
    if (kept > 0 && !lw_cholesky_factor(r->symmetric, kept, r->Mdd, NULL)) return false;
    if (kept > 0) lw_cholesky_solve(r->symmetric, kept, r->Mdd, still, r->X);
    memset(r->T, 0, (size_t)f * (size_t)still * sizeof *r->T);
    for (int j = 0; j < still; j++) {
        const int s = r->of_still[j];
        r->T[s + j * f] = 1;
        for (int i = 0; i < kept; i++) {
            double *x = &r->X[i + j * kept];
            if (fabs(*x) * r->unit[s] <= 1e-13 * r->unit[r->of_dynamic[i]]) *x = 0;
            r->T[r->of_dynamic[i] + j * f] = *x;
        }
    }
    return true;
}

/* --- their balance ----------------------------------------------------------------------------------- */

/* Does anything move or accelerate, in rad/s or parts of the longest arm? */
static bool at_rest(const lw_linear_reduction *r) {
    const lw_linear_work *w = r->w;
    const lw_derivatives *d = w->derivatives;
    const double length = lw_longest_arm(d->model);
    for (int k = 0; k < d->model->nv; k++)
        if (hypot(d->data->v[k], d->vdot[k]) > 1e-7 * (w->slides[k] ? length : 1)) return false;
    return true;
}

/* Rows (12) in (z, w_r, e, s, u), and the sums of the sizes of their terms. */
static void balance(lw_linear_reduction *r) {
    const lw_linear_work *w = r->w;
    const int n = r->n, ni = r->ni, wide = n + ni, f = r->f, still = r->still;
    double *plain = r->U, *sizes = r->U + wide; /* workspaces */
    for (int k = 0; k < still; k++) {
        double *row = r->rows + (size_t)k * (size_t)wide, *bound = r->bounds + (size_t)k * (size_t)wide;
        memset(plain, 0, 2 * (size_t)wide * sizeof *plain);
        for (int i = 0; i < f; i++) {
            const double part = r->T[i + k * f];
            const double *A = w->A + (size_t)(r->fq + i) * (size_t)n,
                         *B = w->B + (size_t)(r->fq + i) * (size_t)ni;
            for (int j = 0; j < wide && part != 0; j++) {
                const double entry = part * (j < n ? A[j] : B[j - n]);
                plain[j] += entry, sizes[j] += fabs(entry);
            }
        }
        memcpy(row, plain, (size_t)wide * sizeof *row);
        memcpy(bound, sizes, (size_t)wide * sizeof *bound);
        for (int i = 0; i < r->dynamic; i++) {
            row[r->fq + i] = plain[r->fq + r->of_dynamic[i]];
            bound[r->fq + i] = sizes[r->fq + r->of_dynamic[i]];
            for (int c = 0; c < r->fq && r->turns; c++)
                row[c] += row[r->fq + i] * r->turn_z[(size_t)i * (size_t)r->fq + (size_t)c];
        }
        for (int j = 0; j < still; j++) {
            double sum = 0, size = 0;
            for (int i = 0; i < f; i++) {
                sum += plain[r->fq + i] * r->T[i + j * f];
                size += sizes[r->fq + i] * fabs(r->T[i + j * f]);
            }
            row[r->fq + r->dynamic + j] = sum, bound[r->fq + r->dynamic + j] = size;
        }
    }
}

/* The rank of the damping E of motions without mass, each divided by the root of its own: left and right are
 * what E does not reach, and what it does not see. The rows (12) become `damped` ones solved for e, and the
 * balances of the others. */
static void damping(lw_linear_reduction *r) {
    const int still = r->still, wide = r->n + r->ni, first = r->fq + r->dynamic;
    double *scale = r->K;
    for (int k = 0; k < still; k++) {
        const double size = r->bounds[(size_t)k * (size_t)wide + (size_t)(first + k)];
        scale[k] = size > 0 ? 1 / sqrt(size) : r->unit[r->of_still[k]];
        if (size > 0 && fabs(r->rows[(size_t)k * (size_t)wide + (size_t)(first + k)]) < rounding * size)
            scale[k] = 0; /* What resists it is rounding. */
    }
    for (int k = 0; k < still; k++)
        for (int j = 0; j < still; j++)
            r->E[k + j * still] =
                scale[k] * scale[j] * r->rows[(size_t)k * (size_t)wide + (size_t)(first + j)];
    for (int k = 0; k < still; k++)
        if (scale[k] == 0) scale[k] = r->unit[r->of_still[k]];
    r->damped = lw_qr_factor(r->factors, still, still, r->E, r->order, 1e-9);
    if (r->E[0] == 0) r->damped = 0; /* A matrix of zeros has no rank. */
    r->held = still - r->damped;
    /* Q of the factors, column by column, in the units of rows. */
    memset(r->left, 0, (size_t)still * (size_t)still * sizeof *r->left);
    for (int k = 0; k < still; k++) r->left[k + k * still] = 1;
    lw_qr_apply(r->factors, false, still, still, r->E, still, r->left);
    for (int j = 0; j < still; j++)
        for (int k = 0; k < still; k++) r->left[k + j * still] *= scale[k];
    /* e = first `damped` columns of right y + the others eta, with R11^-1 in them. */
    memset(r->right, 0, (size_t)still * (size_t)still * sizeof *r->right);
    double *triangle = r->Y;
    for (int j = 0; j < still; j++) {
        for (int k = 0; k < r->damped; k++)
            triangle[k + j * still] = j < r->damped ? (double)(k == j) : -r->E[k + j * still];
        for (int k = r->damped; k < still; k++) triangle[k + j * still] = (double)(k == j && j >= r->damped);
    }
    lw_qr_triangle(false, r->damped, still, r->E, still, triangle, still);
    for (int j = 0; j < still; j++)
        for (int k = 0; k < still; k++) r->right[r->order[k] + j * still] = triangle[k + j * still];
    for (int j = 0; j < still; j++)
        for (int k = 0; k < still; k++) r->right[k + j * still] *= scale[k];
}

static lw_status not_held(const lw_linear_reduction *r, lw_error *error) {
    return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(r->w->derivatives->model),
                   "add a damper or a spring there, or leave this position",
                   "in this position nothing resists a motion that moves no mass");
}

/* Motions that springs alone hold: Z, what they do to coordinates, becomes the identity in the coordinates
 * that stand for them; own_held are these. */
static lw_status name_held(lw_linear_reduction *r, lw_error *error) {
    const lw_linear_work *w = r->w;
    const int n = r->n, fq = r->fq, f = r->f, held = r->held, still = r->still;
    if (held == 0) return LW_OK;
    double *eta = r->right + (size_t)r->damped * (size_t)still; /* still x held */
    for (int c = 0; c < fq; c++)
        for (int j = 0; j < held; j++) {
            double sum = 0;
            for (int i = 0; i < f; i++)
                for (int k = 0; k < still; k++)
                    sum +=
                        w->A[(size_t)c * (size_t)n + (size_t)(fq + i)] * r->T[i + k * f] * eta[k + j * still];
            r->Z[c + j * fq] = sum;
        }
    /* First those coordinates whose speeds stand for motions without mass. */
    double *turn = r->E; /* held x fq */
    for (int pass = 0, rank = 0; pass < 2 && rank < held; pass++) {
        for (int c = 0; c < fq; c++) {
            bool own = pass == 1;
            for (int k = 0; k < still && !own; k++) own = w->own_v[r->of_still[k]] == w->own_q[c];
            const double unit =
                w->slides[w->derivatives->free[w->own_q[c]]] ? lw_longest_arm(w->derivatives->model) : 1;
            for (int j = 0; j < held; j++) turn[j + c * held] = own ? r->Z[c + j * fq] / unit : 0;
        }
        rank = lw_qr_factor(r->factors, held, fq, turn, r->order, 1e-9);
        if (rank < held && pass == 1) return not_held(r, error);
    }
    for (int j = 0; j < held; j++) r->own_held[j] = r->order[j];
    for (int i = 0; i < held; i++) /* Z := Z B^-1, right likewise, by the factors of B' */
        for (int j = 0; j < held; j++) turn[j + i * held] = r->Z[r->own_held[i] + j * fq];
    if (lw_qr_factor(r->factors, held, held, turn, r->order, 1e-12) < held) return not_held(r, error);
    for (int part = 0; part < 2; part++) {
        const int rows = part ? still : fq;
        double *M = part ? eta : r->Z, *x = r->Y;
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < held; j++) x[j] = M[i + j * rows];
            /* y B = x: B'y' = x', B' = Q R P' */
            lw_qr_apply(r->factors, true, held, held, turn, 1, x);
            lw_qr_triangle(false, held, held, turn, 1, x, held);
            for (int j = 0; j < held; j++) M[i + r->order[j] * rows] = x[j];
        }
    }
    return LW_OK;
}

/* Do other coordinates move with those that stand for what springs alone hold, and may that change? Not if T
 * is constant and the motions are those of directions that no damper acts on. */
static bool moves_along(const lw_linear_reduction *r) {
    const int wide = r->n + r->ni, first = r->fq + r->dynamic;
    bool along = false, plain = true;
    for (int c = 0; c < r->fq; c++) {
        bool stands = false;
        for (int b = 0; b < r->held; b++) stands |= r->own_held[b] == c;
        for (int a = 0; a < r->held && !stands; a++) along |= r->Z[c + a * r->fq] != 0;
    }
    for (int k = 0; k < r->still; k++)
        for (int a = 0; a < r->held; a++)
            plain &= r->right[k + (r->damped + a) * r->still] == 0 ||
                     r->bounds[(size_t)k * (size_t)wide + (size_t)(first + k)] == 0;
    return along && !plain;
}

/* The balances of springs alone, -K y = what other coordinates, user states and inputs do: K^-1 into
 * `right hand sides` Y, held x wide, row by row, so that y = Y (z_r, 0, s, u). */
static lw_status hold(lw_linear_reduction *r, lw_error *error) {
    const int held = r->held, still = r->still, wide = r->n + r->ni, fq = r->fq;
    const double *L = r->left + (size_t)r->damped * (size_t)still;
    double *rows = r->Y, *K = r->K;
    if (held == 0) return LW_OK;
    for (int a = 0; a < held; a++) {
        double *row = rows + (size_t)a * (size_t)wide;
        for (int c = 0; c < wide; c++) {
            double sum = 0, size = 0;
            for (int k = 0; k < still; k++) {
                sum += L[k + a * still] * r->rows[(size_t)k * (size_t)wide + (size_t)c];
                size += fabs(L[k + a * still]) * r->bounds[(size_t)k * (size_t)wide + (size_t)c];
            }
            row[c] = fabs(sum) > 1e-13 * size ? sum : 0;
            if (c < fq || c >= r->fq + r->f) continue;
            if (fabs(sum) > 1e-8 * size && c < fq + r->dynamic)
                return lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(r->w->derivatives->model),
                               "give every body that moves a mass",
                               "a motion that moves no mass and that no damper resists is driven by a force "
                               "that depends on the speed of another");
            row[c] = 0;
        }
    }
    double most = 0;
    for (int j = 0; j < held; j++) {
        for (int a = 0; a < held; a++) {
            double sum = 0, size = 0;
            for (int c = 0; c < fq; c++) {
                const double entry = rows[(size_t)a * (size_t)wide + (size_t)c] * r->Z[c + j * fq];
                sum += entry, size += fabs(entry);
            }
            K[a + j * held] = fabs(sum) > rounding * size ? sum : 0;
            most = fmax(most, fabs(sum));
        }
    }
    if (lw_qr_factor(r->factors, held, held, K, r->order, 1e-11) < held || most == 0)
        return not_held(r, error);
    for (int j = 0; j < held; j++) /* Coordinates that stand for y are z_r no more. */
        for (int a = 0; a < held; a++) rows[(size_t)a * (size_t)wide + (size_t)r->own_held[j]] = 0;
    double *x = r->E;
    for (int c = 0; c < wide; c++) {
        for (int a = 0; a < held; a++) x[a] = -rows[(size_t)a * (size_t)wide + (size_t)c];
        lw_qr_apply(r->factors, true, held, held, K, 1, x);
        lw_qr_triangle(false, held, held, K, 1, x, held);
        for (int a = 0; a < held; a++) rows[(size_t)r->order[a] * (size_t)wide + (size_t)c] = x[a];
    }
    return LW_OK;
}

/* --- the reduced system ------------------------------------------------------------------------------ */

/* x = S x_r + U u, without the speeds of what springs alone hold; x_r in the places of its entries in x. */
static void substitute(lw_linear_reduction *r) {
    const int n = r->n, ni = r->ni, fq = r->fq, f = r->f, still = r->still, wide = n + ni;
    memset(r->S, 0, (size_t)n * (size_t)n * sizeof *r->S);
    memset(r->U, 0, (size_t)wide * (size_t)ni * sizeof *r->U);
    for (int c = 0; c < fq; c++) r->S[(size_t)c * (size_t)n + (size_t)c] = 1;
    for (int a = 0; a < r->held; a++) { /* z = z_r + Z y */
        const double *y = r->Y + (size_t)a * (size_t)wide;
        r->S[(size_t)r->own_held[a] * (size_t)n + (size_t)r->own_held[a]] = 0;
        for (int c = 0; c < fq; c++) {
            const double part = r->Z[c + a * fq];
            for (int j = 0; j < n && part != 0; j++) r->S[(size_t)c * (size_t)n + (size_t)j] += part * y[j];
            for (int j = 0; j < ni && part != 0; j++)
                r->U[(size_t)c * (size_t)ni + (size_t)j] += part * y[n + j];
        }
    }
    for (int k = 0; k < r->ns; k++) r->S[(size_t)(fq + f + k) * (size_t)(n + 1)] = 1;
    for (int i = 0; i < r->dynamic; i++) {
        double *row = r->S + (size_t)(fq + r->of_dynamic[i]) * (size_t)n;
        row[fq + r->of_dynamic[i]] = 1;
        for (int c = 0; c < fq && r->turns; c++) row[c] += r->turn_z[(size_t)i * (size_t)fq + (size_t)c];
    }
    /* e = right_1 y1, y1 = -Q1'(rows without e) of what is known so far */
    for (int a = 0; a < r->damped; a++) {
        double *row = r->row;
        memset(row, 0, (size_t)wide * sizeof *row);
        for (int k = 0; k < still; k++) {
            const double part = r->left[k + a * still], *from = r->rows + (size_t)k * (size_t)wide;
            for (int j = 0; j < wide; j++) row[j] -= part * from[j];
        }
        for (int j = 0; j < n + ni; j++) { /* column j of what a unit of x_r or u does */
            double sum = j < n ? 0 : row[j];
            for (int c = 0; c < fq; c++)
                sum += row[c] * (j < n ? r->S[(size_t)c * (size_t)n + (size_t)j]
                                       : r->U[(size_t)c * (size_t)ni + (size_t)(j - n)]);
            for (int i = 0; i < r->dynamic && j < n; i++)
                if (fq + r->of_dynamic[i] == j) sum += row[fq + i];
            if (j >= fq + f && j < n) sum += row[j];
            if (sum == 0) continue;
            for (int i = 0; i < f; i++) {
                double part = 0;
                for (int k = 0; k < still; k++) part += r->T[i + k * f] * r->right[k + a * still];
                if (j < n)
                    r->S[(size_t)(fq + i) * (size_t)n + (size_t)j] += part * sum;
                else
                    r->U[(size_t)(fq + i) * (size_t)ni + (size_t)(j - n)] += part * sum;
            }
        }
    }
}

/* rows x n times S into rows x kept states, and plus rows x n times U into rows x inputs. In place: columns
 * of S are read in the order of `columns`. */
static void apply(const lw_linear_reduction *r, int rows, const int *columns, int kept, const double *of_x,
                  double *to_x, double *to_u, double *work) {
    const int n = r->n, ni = r->ni;
    for (int i = 0; i < rows; i++) {
        memcpy(work, of_x + (size_t)i * (size_t)n, (size_t)n * sizeof *work);
        for (int j = 0; j < ni; j++)
            for (int k = 0; k < n; k++)
                if (work[k] != 0)
                    to_u[(size_t)i * (size_t)ni + (size_t)j] +=
                        work[k] * r->U[(size_t)k * (size_t)ni + (size_t)j];
        for (int j = 0; j < kept; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                if (work[k] != 0) sum += work[k] * r->S[(size_t)k * (size_t)n + (size_t)columns[j]];
            to_x[(size_t)i * (size_t)kept + (size_t)j] = sum;
        }
    }
}

/* The effect of a unit of eta_j on a row over x. */
static double by_held_speed(const lw_linear_reduction *r, const double *row, int j, double *size) {
    double sum = 0;
    *size = 0;
    for (int i = 0; i < r->f; i++)
        for (int k = 0; k < r->still; k++) {
            const double entry =
                row[r->fq + i] * r->T[i + k * r->f] * r->right[k + (r->damped + j) * r->still];
            sum += entry, *size += fabs(entry);
        }
    return sum;
}

/* Speeds of what springs alone hold are rates of y; at rest they follow if inputs do not act there. Returns
 * whether they are in S now. */
static bool add_held_speeds(lw_linear_reduction *r, const int *columns, int kept, const double *A,
                            const double *B) {
    const int n = r->n, ni = r->ni, wide = n + ni, fq = r->fq;
    for (int a = 0; a < r->held; a++)
        for (int j = 0; j < ni; j++)
            if (r->Y[(size_t)a * (size_t)wide + (size_t)(n + j)] != 0) return false;
    for (int a = 0; a < r->held; a++)
        for (int j = 0; j < kept + ni; j++) {
            double rate = 0;
            for (int k = 0; k < kept; k++)
                rate += r->Y[(size_t)a * (size_t)wide + (size_t)columns[k]] *
                        (j < kept ? A[(size_t)k * (size_t)kept + (size_t)j]
                                  : B[(size_t)k * (size_t)ni + (size_t)(j - kept)]);
            for (int i = 0; i < r->f && rate != 0; i++) {
                double *to = j < kept ? &r->S[(size_t)(fq + i) * (size_t)n + (size_t)columns[j]]
                                      : &r->U[(size_t)(fq + i) * (size_t)ni + (size_t)(j - kept)];
                for (int k = 0; k < r->still; k++)
                    *to += r->T[i + k * r->f] * r->right[k + (r->damped + a) * r->still] * rate;
            }
        }
    return true;
}

/* Motions that nothing opposes; rows of speeds are forces. Where wheels roll it is left out. */
static bool count_rigid(lw_linear_reduction *r) {
    lw_linear_work *w = r->w;
    const int f = r->f, ns = r->ns, n = r->n, m = f + ns;
    if (r->fq != f) return true;
    double *K = LW_NEW(w->arena, double, 2 * (size_t)m * (size_t)m + 1), *C = K + (size_t)m * (size_t)m;
    if (!K) return false;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            const double *row = w->A + (size_t)(f + i) * (size_t)n;
            K[i + j * m] = -row[j < f ? j : f + j];
            C[i + j * m] = j < f ? -row[f + j] : (double)(i == j);
        }
    return lw_rigid_motions(w->arena, f, m, K, C, &w->rigid, &w->zeros);
}

static lw_status reduce(lw_linear_reduction *r, double t, const double *q, lw_error *error) {
    lw_linear_work *w = r->w;
    const lw_derivatives *d = w->derivatives;
    const int n = r->n, ni = r->ni, fq = r->fq, f = r->f, nv = d->model->nv, nf = d->free_count;
    const bool rest = at_rest(r);
    mass_matrix(w, f, d->tree->mass, w->block, r->M);
    for (int i = 0; i < f; i++) r->unit[i] = w->slides[d->free[w->own_v[i]]] ? lw_longest_arm(d->model) : 1;
    if (!separate(r))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(d->model), "leave this position",
                       "in this position more or fewer motions move no mass than elsewhere");
    r->turns = !rest && lw_linear_turns(r, t, q, d->data->v);
    if (r->turns && !lw_linear_find_turns(r, t, q, d->data->v, d->vdot))
        return lw_fail(
            error, LW_ERROR_SINGULAR, lw_model_name(d->model), "leave this position",
            "motions that move no mass turn as the mechanism moves, and do so beyond measure here");
    if (!count_rigid(r)) return lw_out_of_memory(error);
    balance(r);
    damping(r);
    lw_status status = name_held(r, error);
    if (status == LW_OK && !rest && r->held > 0 && (r->turns || moves_along(r)))
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, lw_model_name(d->model),
                         "take a position of rest, or give every body that moves a mass",
                         "coordinates move along with what springs alone hold without moving mass, and the "
                         "mechanism moves: the rates at which they do are not computed");
    if (status == LW_OK) status = hold(r, error);
    if (status != LW_OK) return status;
    substitute(r);
    /* Which entries of x stay. */
    int *columns = r->pivots, coordinates = 0, kept = 0;
    for (int c = 0; c < fq; c++) {
        bool stays = true;
        for (int a = 0; a < r->held; a++) stays &= r->own_held[a] != c;
        if (stays) columns[kept++] = c;
    }
    coordinates = kept;
    for (int i = 0; i < r->dynamic; i++) columns[kept++] = fq + r->of_dynamic[i];
    for (int k = 0; k < r->ns; k++) columns[kept++] = fq + f + k;
    /* Rows of z_r' = z' - Z y', of w_r' by Mdd, of s'. */
    lw_arena *a = w->arena;
    double *A = LW_NEW(a, double, (size_t)kept *(size_t)n + 1),
           *B = LW_NEW(a, double, (size_t)kept *(size_t)ni + 1), *work = LW_NEW(a, double, n + 1),
           *rates = LW_NEW(a, double, kept + 1);
    if (lw_arena_failed(a)) return lw_out_of_memory(error);
    for (int k = 0; k < kept; k++) {
        const int at = columns[k];
        memcpy(A + (size_t)k * (size_t)n, w->A + (size_t)at * (size_t)n, (size_t)n * sizeof *A);
        memcpy(B + (size_t)k * (size_t)ni, w->B + (size_t)at * (size_t)ni, (size_t)ni * sizeof *B);
        rates[k] = w->rates[at];
        for (int h = 0; h < r->held && at < fq; h++) {
            const double part = r->Z[at + h * fq];
            const size_t from = (size_t)r->own_held[h];
            for (int j = 0; j < n; j++)
                A[(size_t)k * (size_t)n + (size_t)j] -= part * w->A[from * (size_t)n + (size_t)j];
            rates[k] -= part * w->rates[from];
        }
        for (int j = 0; j < r->still && at >= fq && at < fq + f; j++)
            rates[k] -= r->X[(k - coordinates) + j * r->dynamic] * w->rates[fq + r->of_still[j]];
        if (r->turns && at >= fq && at < fq + f) rates[k] -= r->turning[k - coordinates];
        for (int h = 0; h < r->held && at >= fq; h++) {
            double size;
            const double by = by_held_speed(r, A + (size_t)k * (size_t)n, h, &size);
            if (fabs(by) > 1e-8 * size)
                return lw_fail(
                    error, LW_ERROR_UNSUPPORTED, lw_model_name(d->model), "give every body that moves a mass",
                    "a force depends on the speed of a motion that moves no mass and that no damper "
                    "resists");
        }
    }
    for (int j = 0; j < n + ni; j++) { /* w_r' = Mdd^-1 rows */
        double *x = w->row;
        for (int i = 0; i < r->dynamic; i++)
            x[i] = j < n ? A[(size_t)(coordinates + i) * (size_t)n + (size_t)j]
                         : B[(size_t)(coordinates + i) * (size_t)ni + (size_t)(j - n)];
        if (r->dynamic > 0) lw_cholesky_solve(r->symmetric, r->dynamic, r->Mdd, 1, x);
        for (int i = 0; i < r->dynamic; i++) {
            if (j < n)
                A[(size_t)(coordinates + i) * (size_t)n + (size_t)j] = x[i];
            else
                B[(size_t)(coordinates + i) * (size_t)ni + (size_t)(j - n)] = x[i];
        }
    }
    for (int i = 0; i < r->dynamic && r->turns; i++)
        for (int j = 0; j < n; j++)
            A[(size_t)(coordinates + i) * (size_t)n + (size_t)j] -=
                r->turn_rate[(size_t)i * (size_t)n + (size_t)j];
    apply(r, kept, columns, kept, A, A, B, work);
    const bool known = r->held == 0 || (rest && add_held_speeds(r, columns, kept, A, B));
    for (int k = 0; k < w->outputs && d->model->output_names.count > 0 && !known; k++)
        for (int h = 0; h < r->held; h++) { /* Their rows are then differences, if at all. */
            double size, *row = w->C + (size_t)k * (size_t)n;
            if (fabs(by_held_speed(r, row, h, &size)) > 1e-8 * size) row[0] = NAN;
        }
    /* Outputs without a row any more go. */
    int outputs = 0;
    for (int k = 0; k < w->outputs && d->model->output_names.count > 0; k++) {
        if (isnan(w->C[(size_t)k * (size_t)n])) continue;
        memmove(w->C + (size_t)outputs * (size_t)n, w->C + (size_t)k * (size_t)n, (size_t)n * sizeof *w->C);
        memmove(w->D + (size_t)outputs * (size_t)ni, w->D + (size_t)k * (size_t)ni,
                (size_t)ni * sizeof *w->D);
        w->output_of[outputs++] = w->output_of[k];
    }
    if (d->model->output_names.count > 0) w->outputs = outputs;
    memset(w->Uq, 0, (size_t)nv * (size_t)ni * sizeof *w->Uq);
    memset(w->Uv, 0, (size_t)nv * (size_t)ni * sizeof *w->Uv);
    apply(r, w->outputs, columns, kept, w->C, w->C, w->D, work);
    apply(r, nv, columns, kept, w->Lq, w->Lq, w->Uq, work);
    apply(r, nv, columns, kept, w->Lv, w->Lv, w->Uv, work);
    memcpy(w->A, A, (size_t)kept * (size_t)kept * sizeof *A);
    memcpy(w->B, B, (size_t)kept * (size_t)ni * sizeof *B);
    memcpy(w->rates, rates, (size_t)kept * sizeof *rates);
    w->input_rates = false;
    for (int h = 0; h < r->held; h++)
        for (int j = 0; j < ni; j++)
            w->input_rates |= r->Y[(size_t)h * (size_t)(n + ni) + (size_t)(n + j)] != 0;
    for (int k = 0; k < coordinates; k++) w->own_q[k] = w->own_q[columns[k]];
    for (int i = 0; i < r->dynamic; i++) {
        const int from = r->of_dynamic[i];
        w->own_v[i] = w->own_v[from];
        memmove(w->Nv + (size_t)i * (size_t)nf, w->Nv + (size_t)from * (size_t)nf,
                (size_t)nf * sizeof *w->Nv);
    }
    w->shared = LW_NEW(a, bool, kept + 1);
    if (!w->shared) return lw_out_of_memory(error);
    for (int k = 0; k < coordinates; k++)
        for (int h = 0; h < r->held; h++) w->shared[k] |= r->Z[columns[k] + h * fq] != 0;
    for (int i = 0; i < r->dynamic; i++)
        for (int j = 0; j < r->still; j++) w->shared[coordinates + i] |= r->X[i + j * r->dynamic] != 0;
    w->coordinates = coordinates, w->speeds = r->dynamic, w->n = kept;
    w->first_order = r->damped, w->algebraic = r->held;
    return LW_OK;
}

lw_status lw_linear_massless(lw_linear_work *w, double t, const double *q, lw_error *error) {
    const lw_model *model = w->derivatives->model;
    lw_linear_reduction r = {.w = w,
                             .n = w->n,
                             .ni = model->values.input_count,
                             .fq = w->coordinates,
                             .f = w->speeds,
                             .ns = model->values.state_count,
                             .still = w->derivatives->massless};
    r.dynamic = r.f - r.still;
    if (r.dynamic < 0) return not_held(&r, error);
    const int most = r.n + r.ni + model->nv + 2;
    lw_status status = take_memory(&r, error);
    r.factors = lw_orthogonal_create(most, most, false);
    r.symmetric = lw_symmetric_create(r.f + 1);
    if (status == LW_OK && (!r.factors || !r.symmetric)) status = lw_out_of_memory(error);
    if (status == LW_OK) status = reduce(&r, t, q, error);
    lw_orthogonal_destroy(r.factors);
    lw_symmetric_destroy(r.symmetric);
    return status;
}
