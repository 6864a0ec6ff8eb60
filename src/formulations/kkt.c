/* kkt.c - sparse solution of the stationary-point system by KLU, also with dependent rows.
 *
 *   [  J   -H ] [   a    ]   [    u   ]
 *   [ -H'  -E ] [ lambda ] = [ -gamma ]
 *
 * E = 0 is the system itself, singular when rows of H' depend on each other. With a small diagonal E > 0 it is
 * not, and corrections by the residual of the system with E = 0,
 *
 *   K (E) d = r (E = 0),   x += d,
 *
 * converge to a solution of that: an error along a mode of H'J^-1 H with eigenvalue s shrinks by E / (E + s) each
 * time, and along the modes with s = 0, where lambda is not determined, nothing is to be corrected. So no row
 * has to be left out, and of all possible lambda the smallest comes out (docs/theory/lagrange.md, 3).
 *
 * Source   Mufti (1983), eqs 10, 49, 63; the treatment of dependent rows is ours (a proximal-point iteration).
 * Cost     sparse: analysed once; refactored with the same pivots at each state as long as these serve.
 */
#include "formulations/kkt.h"
#include "formulations/scaling.h"

#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* E relative to the inverse of the mass that a row meets: small against the modes that matter, large against rounding and against
 * what an overconstrained loop looks like when it does not quite close, which must not lock it. */
static const double softness = 1e-7;

struct lw_kkt {
    int bodies, rows, size;
    int *start, *index; /* compressed columns */
    double *value;
    int *inertia_at;  /* 12 per body: where its inertia and mass go */
    int *block_at;    /* 12 per block: column of the row, then row of it */
    int *diagonal_at; /* per row */
    int *row_block;   /* rows + 1: blocks of a row */
    int *body;        /* per block */
    double *scale;    /* per row: scaling.h */
    double *x, *residual, *work;
    const double *H, *inertia, *mass; /* of the state that was factored */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    bool fresh;        /* the pivots were chosen for this very matrix */
    double fresh_left; /* what such pivots left of the equations the last time */
    double unbalanced; /* the part of the last residual that is about forces */
};

/* --- structure ------------------------------------------------------------------------------------ */

/* Counts the entries of each column, then places them; value is filled by scatter. */
static bool structure(lw_kkt *kkt, const lw_rows *rows) {
    int n = kkt->bodies, m = kkt->rows, size = kkt->size, blocks = rows->block_count;
    int entries = 12 * n + 12 * blocks + m;
    kkt->start = calloc((size_t)size + 1, sizeof *kkt->start);
    kkt->index = calloc((size_t)entries + 1, sizeof *kkt->index);
    kkt->value = calloc((size_t)entries + 1, sizeof *kkt->value);
    kkt->inertia_at = calloc(12 * (size_t)n + 1, sizeof *kkt->inertia_at);
    kkt->block_at = calloc(12 * (size_t)blocks + 1, sizeof *kkt->block_at);
    kkt->diagonal_at = calloc((size_t)m + 1, sizeof *kkt->diagonal_at);
    kkt->row_block = calloc((size_t)m + 1, sizeof *kkt->row_block);
    kkt->body = calloc((size_t)blocks + 1, sizeof *kkt->body);
    int *next = calloc((size_t)size + 1, sizeof *next);
    if (!kkt->start || !kkt->index || !kkt->value || !kkt->inertia_at || !kkt->block_at ||
        !kkt->diagonal_at || !kkt->row_block || !kkt->body || !next) {
        free(next);
        return false;
    }
    int *count = kkt->start + 1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++) count[6 * i + k] += k < 3 ? 3 : 1;
    for (int r = 0; r < m; r++) {
        const lw_row *row = &rows->rows[r];
        kkt->row_block[r] = row->block;
        count[6 * n + r] += 6 * row->count + 1;
        for (int b = row->block; b < row->block + row->count; b++) {
            kkt->body[b] = rows->body[b] - 1;
            for (int k = 0; k < 6; k++) count[6 * kkt->body[b] + k]++;
        }
    }
    kkt->row_block[m] = blocks;
    for (int k = 0; k < size; k++) kkt->start[k + 1] += kkt->start[k];
    memcpy(next, kkt->start, (size_t)size * sizeof *next);
    /* rows ascend within each column: bodies first, then the rows in their order */
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++) {
            int column = 6 * i + k;
            for (int l = k < 3 ? 0 : k; l < (k < 3 ? 3 : k + 1); l++) {
                kkt->inertia_at[12 * i + (k < 3 ? 3 * k + l : 6 + k)] = next[column];
                kkt->index[next[column]++] = 6 * i + l;
            }
        }
    for (int r = 0; r < m; r++) {
        int column = 6 * n + r;
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++)
            for (int k = 0; k < 6; k++) {
                int body_column = 6 * kkt->body[b] + k;
                kkt->block_at[12 * b + k] = next[column];
                kkt->index[next[column]++] = body_column;
                kkt->block_at[12 * b + 6 + k] = next[body_column];
                kkt->index[next[body_column]++] = column;
            }
        kkt->diagonal_at[r] = next[column];
        kkt->index[next[column]++] = column;
    }
    free(next);
    return true;
}

lw_kkt *lw_kkt_create(const lw_model *model, const lw_rows *rows) {
    lw_kkt *kkt = calloc(1, sizeof *kkt);
    if (!kkt) return NULL;
    kkt->bodies = model->body_count;
    kkt->rows = rows->count;
    kkt->size = 6 * kkt->bodies + kkt->rows;
    klu_defaults(&kkt->common);
    size_t size = (size_t)kkt->size + 1;
    kkt->scale = calloc((size_t)kkt->rows + 1, sizeof *kkt->scale);
    kkt->x = calloc(size, sizeof *kkt->x);
    kkt->residual = calloc(size, sizeof *kkt->residual);
    if (!kkt->scale || !kkt->x || !kkt->residual || !structure(kkt, rows)) {
        lw_kkt_destroy(kkt);
        return NULL;
    }
    kkt->symbolic = klu_analyze(kkt->size, kkt->start, kkt->index, &kkt->common);
    if (!kkt->symbolic && kkt->size > 0) {
        lw_kkt_destroy(kkt);
        return NULL;
    }
    return kkt;
}

void lw_kkt_destroy(lw_kkt *kkt) {
    if (!kkt) return;
    if (kkt->numeric) klu_free_numeric(&kkt->numeric, &kkt->common);
    if (kkt->symbolic) klu_free_symbolic(&kkt->symbolic, &kkt->common);
    free(kkt->start), free(kkt->index), free(kkt->value), free(kkt->inertia_at), free(kkt->block_at);
    free(kkt->diagonal_at), free(kkt->row_block), free(kkt->body), free(kkt->scale), free(kkt->x);
    free(kkt->residual), free(kkt);
}

/* --- values --------------------------------------------------------------------------------------- */

static void scatter(lw_kkt *kkt, double soft) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int i = 0; i < kkt->bodies; i++) {
        const int *at = kkt->inertia_at + 12 * i;
        for (int k = 0; k < 9; k++) kkt->value[at[k]] = kkt->inertia[6 * i + symmetric[k]];
        for (int k = 9; k < 12; k++) kkt->value[at[k]] = kkt->mass[i];
    }
    for (int b = 0; b < kkt->row_block[kkt->rows]; b++)
        for (int k = 0; k < 6; k++)
            kkt->value[kkt->block_at[12 * b + k]] = kkt->value[kkt->block_at[12 * b + 6 + k]] =
                -kkt->H[6 * b + k];
    for (int r = 0; r < kkt->rows; r++) kkt->value[kkt->diagonal_at[r]] = -soft * kkt->scale[r];
}

static lw_status factor_anew(lw_kkt *kkt, lw_error *error) {
    if (kkt->numeric) klu_free_numeric(&kkt->numeric, &kkt->common);
    kkt->numeric = klu_factor(kkt->start, kkt->index, kkt->value, kkt->symbolic, &kkt->common);
    kkt->fresh = true;
    if (kkt->numeric) return LW_OK;
    if (kkt->common.status == KLU_OUT_OF_MEMORY) return lw_out_of_memory(error);
    return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                   "give mass or inertia to the bodies that move freely without any",
                   "the equations of motion are singular: some acceleration is not determined");
}

lw_status lw_kkt_factor(lw_kkt *kkt, const double *inertia, const double *mass, const lw_rows *rows,
                        lw_error *error) {
    if (kkt->size == 0) return LW_OK;
    kkt->H = rows->H, kkt->inertia = inertia, kkt->mass = mass;
    lw_row_mobilities(rows, inertia, mass, kkt->scale);
    scatter(kkt, softness);
    kkt->fresh = false;
    if (kkt->numeric &&
        klu_refactor(kkt->start, kkt->index, kkt->value, kkt->symbolic, kkt->numeric, &kkt->common) &&
        kkt->common.status == KLU_OK)
        return LW_OK;
    return factor_anew(kkt, error);
}

bool lw_kkt_determined(lw_kkt *kkt, const double *inertia, const double *mass, const lw_rows *rows) {
    if (kkt->size == 0) return true;
    kkt->H = rows->H, kkt->inertia = inertia, kkt->mass = mass;
    lw_row_mobilities(rows, inertia, mass, kkt->scale);
    scatter(kkt, 1); /* J + H E^-1 H' with rows as heavy as the bodies: well conditioned, or singular */
    if (factor_anew(kkt, NULL) != LW_OK) return false;
    klu_rcond(kkt->symbolic, kkt->numeric, &kkt->common);
    return kkt->common.rcond > 1e-12; /* pivots relative to the largest, rows scaled: less is rounding */
}

/* --- solution ------------------------------------------------------------------------------------- */

/* In equilibrium accelerations are rounding of what the forces would cause one by one. */
static const double noise = 1e-10;

/* Residual of the system with E = 0 at x; returns its largest entry relative to the terms that make it up. */
static double residual_of(lw_kkt *kkt, const double *u, const double *gamma) {
    int n = 6 * kkt->bodies;
    const double *a = kkt->x, *lambda = kkt->x + n;
    double *top = kkt->residual, *bottom = kkt->residual + n, force = 0, motion = 0, worst = 0, worse = 0;
    for (int i = 0; i < kkt->bodies; i++) {
        double Ja[3];
        lw_s3_mul_v(kkt->inertia + 6 * i, a + 6 * i, Ja);
        for (int k = 0; k < 3; k++) {
            top[6 * i + k] = u[6 * i + k] - Ja[k];
            top[6 * i + 3 + k] = u[6 * i + 3 + k] - kkt->mass[i] * a[6 * i + 3 + k];
        }
    }
    for (int k = 0; k < n; k++) force = fmax(force, fmax(fabs(u[k]), fabs(top[k])));
    for (int r = 0; r < kkt->rows; r++) {
        bottom[r] = -gamma[r];
        motion = fmax(motion, fabs(gamma[r]));
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++) {
            double part = lw_v6_dot(kkt->H + 6 * b, a + 6 * kkt->body[b]);
            bottom[r] += part;
            motion = fmax(motion, fabs(part));
            lw_v6_axpy(lambda[r], kkt->H + 6 * b, top + 6 * kkt->body[b]);
        }
    }
    for (int k = 0; k < n; k++) worst = fmax(worst, fabs(top[k]));
    for (int r = 0; r < kkt->rows; r++) {
        worse = fmax(worse, fabs(bottom[r]));
        motion = fmax(motion, noise * force * kkt->scale[r]);
    }
    kkt->unbalanced = force > 0 ? worst / force : 0;
    return fmax(kkt->unbalanced, motion > 0 ? worse / motion : 0);
}

/* Corrects x until the residual is down to rounding or falls no more; returns it. */
static double correct(lw_kkt *kkt, const double *u, const double *gamma) {
    enum { ROUNDS = 60 };
    const double rounding = 4e-16;
    double before = HUGE_VAL;
    memset(kkt->x, 0, (size_t)kkt->size * sizeof *kkt->x);
    for (int round = 0;; round++) {
        double now = residual_of(kkt, u, gamma);
        if (!(now > rounding) || round == ROUNDS || (round > 3 && now > 0.9 * before) || !isfinite(now))
            return now;
        before = now;
        klu_solve(kkt->symbolic, kkt->numeric, kkt->size, 1, kkt->residual, &kkt->common);
        for (int k = 0; k < kkt->size; k++) kkt->x[k] += kkt->residual[k];
    }
}

lw_status lw_kkt_solve(lw_kkt *kkt, const double *u, const double *gamma, double *a, double *lambda,
                       lw_error *error) {
    const double enough = 1e-11; /* what is left of the equations, relative to their terms */
    /* Rows may contradict each other, as those of an overconstrained loop do in positions that do not close it: then a
     * comes closest to all of them. But forces without balance mean that there is no solution. */
    const double wrong = 1e-2;
    if (kkt->size == 0) return LW_OK;
    double left = correct(kkt, u, gamma);
    if (kkt->fresh) kkt->fresh_left = left;
    bool doubtful = !(left < fmax(enough, 100 * kkt->fresh_left)) || !(kkt->unbalanced < wrong);
    if (doubtful && !kkt->fresh) {
        lw_status status = factor_anew(kkt, error);
        if (status != LW_OK) return status;
        left = correct(kkt, u, gamma);
        kkt->fresh_left = left;
    }
    if (!isfinite(left) || !(kkt->unbalanced < wrong))
        return lw_fail(error, LW_ERROR_SINGULAR, NULL,
                       "give mass or inertia to the bodies that move freely without any",
                       "the equations of motion are singular: some acceleration is not determined");
    memcpy(a, kkt->x, 6 * (size_t)kkt->bodies * sizeof *a);
    if (kkt->rows) memcpy(lambda, kkt->x + 6 * kkt->bodies, (size_t)kkt->rows * sizeof *lambda);
    return LW_OK;
}

double lw_kkt_condition(lw_kkt *kkt) {
    if (!kkt->numeric) return 1;
    klu_condest(kkt->start, kkt->value, kkt->symbolic, kkt->numeric, &kkt->common);
    return kkt->common.condest;
}

void lw_kkt_work(lw_kkt *kkt, double *entries, double *operations) {
    *entries = *operations = 0;
    if (!kkt->numeric) return;
    *entries = kkt->numeric->lnz + kkt->numeric->unz;
    klu_flops(kkt->symbolic, kkt->numeric, &kkt->common);
    *operations = kkt->common.flops;
}
