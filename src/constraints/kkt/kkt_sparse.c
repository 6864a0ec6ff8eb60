/* kkt_sparse.c - sparse solution of the stationary-point system, also with dependent rows and with light or
 * massless bodies.
 *
 *   [  J   -H ] [   a    ]   [    u   ]
 *   [ -H'  -E ] [ lambda ] = [ -gamma ]
 *
 * E = 0 is the system itself, which is singular if rows of H' depend on each other. With a small diagonal
 * E > 0 the system is regular, and corrections by the residual of the system with E = 0,
 *
 *   K (E) d = r (E = 0),   x += d,
 *
 * converge to a solution of the latter: an error along a mode of H'J^-1 H with eigenvalue s shrinks by
 * E / (E + s) in each correction, and along the modes with s = 0, where lambda is not determined, nothing is
 * to be corrected. No row has to be left out, and of all possible lambda the result is the smallest
 * (docs/theory/lagrange.md, 3).
 *
 * Bodies and rows are scaled first: lengths by a body's own size, masses by the heaviest body of the
 * connected component, rows to length 1. Then s >= sigma^2 for the singular values sigma of H, however light
 * bodies are, and entries of J are small only because a body is light. The factorisation (kkt_fronts.c)
 * eliminates such a body with its rows.
 *
 * Source   Mufti (1983), eqs 10, 49, 63; the treatment of dependent rows, a proximal-point iteration, is not
 *          in the paper.
 * Cost     sparse; the order is chosen once, the factor with its pivots at each state, from this state alone.
 */
#include "constraints/kkt/kkt_sparse.h"
#include "constraints/kkt/kkt_fronts.h"

#include <math.h>
#include <string.h>

/* Bounds of E for rows of length 1, relative to the inverse of the heaviest mass. E must be small compared
 * with the modes that matter, and large compared with rounding and with the spurious modes of an
 * overconstrained loop that does not close exactly, which must not lock the loop. */
static const double softest = 1e-6, hardest = LW_FRONTS_HARDEST;

struct lw_kkt_sparse {
    lw_arena *arena;
    const lw_model *model;
    int bodies, rows, size, components;
    int *row_block;                     /* rows + 1: the first block of each row */
    int *body;                          /* per block: its body, from 0 */
    const int *component;               /* per body: its connected component */
    double *length;                     /* per body: its unit of length */
    double *heaviest, *gap, *strongest; /* per component: largest mass, violation, force over mass */
    double *row_scale, *E;              /* per row: its scale; E of the scaled system */
    double *J, *M, *G;                  /* scaled inertias, masses, blocks */
    double *x, *residual, *before;      /* before: the last correction */
    double *own, *reach, *force;        /* per body: see find_reach, residual_of */
    bool firm;                          /* No violation is large enough for the softest E. */
    bool light;                         /* Some body is light compared with the heaviest of its component. */
    const lw_rows *now;
    const double *H, *inertia, *mass; /* data of the state that was factored */
    lw_fronts *fronts;
    bool factored;
};

/* --- structure ------------------------------------------------------------------------------------- */

lw_kkt_sparse *lw_kkt_sparse_create(const lw_model *model, const lw_rows *rows) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_kkt_sparse *kkt = LW_NEW(arena, lw_kkt_sparse, 1);
    if (!kkt) {
        lw_arena_destroy(arena);
        return NULL;
    }
    size_t n = (size_t)model->body_count + 1, m = (size_t)rows->count + 1, b = (size_t)rows->block_count + 1;
    kkt->arena = arena;
    kkt->model = model;
    kkt->bodies = model->body_count;
    kkt->rows = rows->count;
    kkt->size = 6 * kkt->bodies + kkt->rows;
    kkt->row_block = LW_NEW(arena, int, m);
    kkt->body = LW_NEW(arena, int, b);
    kkt->length = LW_NEW(arena, double, n);
    kkt->heaviest = LW_NEW(arena, double, n);
    kkt->gap = LW_NEW(arena, double, n);
    kkt->strongest = LW_NEW(arena, double, n);
    kkt->row_scale = LW_NEW(arena, double, m);
    kkt->E = LW_NEW(arena, double, m);
    kkt->J = LW_NEW(arena, double, 6 * n);
    kkt->M = LW_NEW(arena, double, n);
    kkt->G = LW_NEW(arena, double, 6 * b);
    kkt->x = LW_NEW(arena, double, 6 * n + m);
    kkt->residual = LW_NEW(arena, double, 6 * n + m);
    kkt->before = LW_NEW(arena, double, 6 * n + m);
    kkt->own = LW_NEW(arena, double, n);
    kkt->reach = LW_NEW(arena, double, n);
    kkt->force = LW_NEW(arena, double, n);
    if (!lw_arena_failed(arena)) {
        for (int r = 0; r < rows->count; r++) kkt->row_block[r] = rows->rows[r].block;
        kkt->row_block[rows->count] = rows->block_count;
        for (int k = 0; k < rows->block_count; k++) kkt->body[k] = rows->body[k] - 1;
        kkt->fronts = lw_fronts_create(kkt->bodies, kkt->rows, kkt->row_block, kkt->body);
    }
    if (!kkt->fronts) {
        lw_kkt_sparse_destroy(kkt);
        return NULL;
    }
    kkt->component = lw_fronts_order(kkt->fronts)->component;
    kkt->components = lw_fronts_order(kkt->fronts)->components;
    return kkt;
}

void lw_kkt_sparse_destroy(lw_kkt_sparse *kkt) {
    if (!kkt) return;
    lw_fronts_destroy(kkt->fronts);
    lw_arena_destroy(kkt->arena);
}

/* These replace fmax and fmin, which are function calls; NaN is detected at the end. */
static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }

/* --- scaling --------------------------------------------------------------------------------------- */

static double trace(const double I[6]) { return I[0] + I[1] + I[2]; }

/* Computes the length of each body: the longest arm of a row about its centre of mass, or its radius of
 * gyration, limited to the longest arm of the mechanism, if that is larger. A body without either has the
 * longest arm of the mechanism. */
static void find_lengths(lw_kkt_sparse *kkt) {
    double longest = 0, widest = 0;
    memset(kkt->length, 0, (size_t)kkt->bodies * sizeof *kkt->length);
    for (int b = 0; b < kkt->row_block[kkt->rows]; b++) {
        const double *h = kkt->H + 6 * b;
        double arm[3], square = lw_v3_dot(h + 3, h + 3), *own = &kkt->length[kkt->body[b]];
        lw_v3_cross(h + 3, h, arm);
        if (square > 0) *own = larger(*own, lw_v3_dot(arm, arm) / (square * square));
    }
    for (int i = 0; i < kkt->bodies; i++) {
        kkt->length[i] = sqrt(kkt->length[i]);
        longest = larger(longest, kkt->length[i]);
    }
    for (int i = 0; i < kkt->bodies; i++)
        if (kkt->mass[i] > 0)
            widest = larger(widest, sqrt(larger(trace(kkt->inertia + 6 * i), 0) / (2 * kkt->mass[i])));
    if (!(longest > 0)) longest = widest;
    if (!(longest > 0) || !isfinite(longest)) longest = 1;
    for (int i = 0; i < kkt->bodies; i++) {
        double own = kkt->mass[i] > 0 ? sqrt(larger(trace(kkt->inertia + 6 * i), 0) / (2 * kkt->mass[i])) : 0;
        kkt->length[i] = larger(kkt->length[i], smaller(own, longest));
        if (!(kkt->length[i] > 1e-9 * longest)) kkt->length[i] = longest;
    }
}

/* Scales rows to length 1 and masses by the heaviest of the component, and finds the violation of rows. */
static void scale(lw_kkt_sparse *kkt) {
    const double light_mass = 1e-3; /* Rounding of forces between others affects them. */
    kkt->light = false;
    find_lengths(kkt);
    for (int c = 0; c < kkt->components; c++) kkt->heaviest[c] = kkt->gap[c] = 0;
    for (int i = 0; i < kkt->bodies; i++) {
        double *heaviest = &kkt->heaviest[kkt->component[i]], square = kkt->length[i] * kkt->length[i];
        *heaviest = larger(*heaviest, larger(kkt->mass[i], trace(kkt->inertia + 6 * i) / (2 * square)));
    }
    for (int c = 0; c < kkt->components; c++)
        if (!(kkt->heaviest[c] > 0)) kkt->heaviest[c] = 1;
    for (int i = 0; i < kkt->bodies; i++) {
        double heaviest = kkt->heaviest[kkt->component[i]], square = kkt->length[i] * kkt->length[i];
        for (int k = 0; k < 6; k++) kkt->J[6 * i + k] = kkt->inertia[6 * i + k] / (square * heaviest);
        kkt->M[i] = kkt->mass[i] / heaviest;
        kkt->light |= kkt->M[i] < light_mass;
    }
    for (int r = 0; r < kkt->rows; r++) {
        double most = 0, length = 0;
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++) {
            const double *h = kkt->H + 6 * b;
            double own = kkt->length[kkt->body[b]];
            most = larger(most, larger(lw_v3_dot(h, h) / (own * own), lw_v3_dot(h + 3, h + 3)));
            length = larger(length, own);
        }
        double by = kkt->row_scale[r] = most > 0 && isfinite(most) ? 1 / sqrt(most) : 1;
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++)
            for (int k = 0; k < 6; k++)
                kkt->G[6 * b + k] = kkt->H[6 * b + k] * by / (k < 3 ? kkt->length[kkt->body[b]] : 1);
        if (kkt->now->phi && most > 0) {
            double *gap = &kkt->gap[kkt->component[kkt->body[kkt->row_block[r]]]];
            *gap = larger(*gap, fabs(kkt->now->phi[r]) * by / length);
        }
    }
}

/* Chooses E. A violation g causes spurious modes with s = g^2, for which E must be large. */
static void soften(lw_kkt_sparse *kkt) {
    const double share = 100;
    kkt->firm = true;
    for (int r = 0; r < kkt->rows; r++) {
        bool touches = kkt->row_block[r] < kkt->row_block[r + 1];
        double gap = touches ? share * kkt->gap[kkt->component[kkt->body[kkt->row_block[r]]]] : 0;
        kkt->E[r] = smaller(softest, larger(hardest, gap * gap));
        kkt->firm &= kkt->E[r] < softest;
    }
}

/* --- factor ---------------------------------------------------------------------------------------- */

static lw_status not_determined(const lw_kkt_sparse *kkt, int coordinate, lw_error *error) {
    const lw_body *body = &kkt->model->bodies[coordinate / 6 + 1];
    return lw_fail_at(
        error, LW_ERROR_SINGULAR, kkt->model->file, body->place, "body", body->name,
        "give it mass and inertia, hold it by a joint, or take method massless, by which dampers and springs "
        "determine it",
        "the equations of motion are singular: nothing determines its acceleration %s",
        coordinate % 6 < 3 ? "about some axis" : "in some direction");
}

lw_status lw_kkt_sparse_factor(lw_kkt_sparse *kkt, const double *inertia, const double *mass,
                               const lw_rows *rows, lw_error *error) {
    int singular = 0;
    if (kkt->size == 0) return LW_OK;
    kkt->now = rows, kkt->H = rows->H, kkt->inertia = inertia, kkt->mass = mass;
    scale(kkt);
    soften(kkt);
    lw_fronts_status status = lw_fronts_factor(kkt->fronts, kkt->J, kkt->M, kkt->G, kkt->E, &singular);
    kkt->factored = status == LW_FRONTS_OK;
    if (status == LW_FRONTS_MEMORY) return lw_out_of_memory(error);
    return kkt->factored ? LW_OK : not_determined(kkt, singular, error);
}

/* --- solution -------------------------------------------------------------------------------------- */

static double size_of(const double v[6]) {
    double most = 0;
    for (int k = 0; k < 6; k++) most = larger(most, fabs(v[k]));
    return most;
}

static const double nothing = 1e-14; /* relative to the largest force: rounding */

/* Computes the residual of the system with E = 0 at x, not scaled; returns the largest residual of the forces
 * on one body, relative to the terms of this body. */
static double residual_of(lw_kkt_sparse *kkt, const double *u, const double *gamma, int *where) {
    int n = 6 * kkt->bodies;
    const double *a = kkt->x, *lambda = kkt->x + n;
    double *top = kkt->residual, *bottom = kkt->residual + n, *force = kkt->force, worst = 0;
    for (int i = 0; i < kkt->bodies; i++) {
        double Ja[3], length = kkt->length[i], torque = 0, push = 0;
        lw_s3_mul_v(kkt->inertia + 6 * i, a + 6 * i, Ja);
        for (int k = 0; k < 3; k++) {
            double ma = kkt->mass[i] * a[6 * i + 3 + k];
            torque = larger(torque, larger(fabs(u[6 * i + k]), fabs(Ja[k])));
            push = larger(push, larger(fabs(u[6 * i + 3 + k]), fabs(ma)));
            top[6 * i + k] = u[6 * i + k] - Ja[k];
            top[6 * i + 3 + k] = u[6 * i + 3 + k] - ma;
        }
        force[i] = push + torque / length;
    }
    for (int r = 0; r < kkt->rows; r++) {
        bottom[r] = -gamma[r];
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++) {
            int i = kkt->body[b];
            bottom[r] += lw_v6_dot(kkt->H + 6 * b, a + 6 * i);
            force[i] = larger(force[i], fabs(lambda[r]) * size_of(kkt->G + 6 * b) / kkt->row_scale[r]);
            lw_v6_axpy(lambda[r], kkt->H + 6 * b, top + 6 * i);
        }
    }
    double most = 0; /* Its rounding is allowed on bodies without forces. */
    for (int i = 0; i < kkt->bodies; i++) most = larger(most, force[i]);
    for (int i = 0; i < kkt->bodies; i++) {
        double left = 0;
        for (int k = 0; k < 6; k++) left = larger(left, fabs(top[6 * i + k]) / (k < 3 ? kkt->length[i] : 1));
        left -= nothing * most;
        if (!(left <= worst * force[i])) worst = left / force[i], *where = i;
    }
    return worst;
}

/* Replaces the residual by the correction d of the scaled system; x is not changed. */
static void solve_scaled(lw_kkt_sparse *kkt) {
    int n = kkt->bodies;
    double *d = kkt->residual;
    for (int i = 0; i < n; i++) {
        double by = 1 / kkt->heaviest[kkt->component[i]];
        for (int k = 0; k < 6; k++) d[6 * i + k] *= k < 3 ? by / kkt->length[i] : by;
    }
    for (int r = 0; r < kkt->rows; r++) d[6 * n + r] *= kkt->row_scale[r];
    lw_fronts_solve(kkt->fronts, d);
}

/* x += share d. */
static void move(lw_kkt_sparse *kkt, double share) {
    int n = kkt->bodies;
    const double *d = kkt->residual;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++) kkt->x[6 * i + k] += share * d[6 * i + k] / (k < 3 ? kkt->length[i] : 1);
    for (int r = 0; r < kkt->rows; r++) {
        int from = kkt->row_block[r];
        if (from < kkt->row_block[r + 1])
            kkt->x[6 * n + r] +=
                share * d[6 * n + r] * kkt->row_scale[r] * kkt->heaviest[kkt->component[kkt->body[from]]];
    }
}

/* Computes the reach of each body: the largest acceleration of the body, of those with which it shares rows,
 * and of gamma in these rows; it is at least the acceleration that the forces on the body would give the
 * heaviest body, because in equilibrium accelerations are only rounding. */
static void find_reach(lw_kkt_sparse *kkt, const double *gamma) {
    for (int c = 0; c < kkt->components; c++) kkt->strongest[c] = 0;
    for (int i = 0; i < kkt->bodies; i++) {
        const double *a = kkt->x + 6 * i;
        double most = kkt->force[i] / kkt->heaviest[kkt->component[i]];
        kkt->strongest[kkt->component[i]] = larger(kkt->strongest[kkt->component[i]], most);
        for (int k = 0; k < 6; k++) most = larger(most, fabs(a[k]) * (k < 3 ? kkt->length[i] : 1));
        kkt->own[i] = kkt->reach[i] = most;
    }
    for (int r = 0; r < kkt->rows; r++) {
        int from = kkt->row_block[r], to = kkt->row_block[r + 1];
        double most = fabs(gamma[r]) * kkt->row_scale[r];
        for (int b = from; b < to; b++) most = larger(most, kkt->own[kkt->body[b]]);
        for (int b = from; b < to; b++) kkt->reach[kkt->body[b]] = larger(kkt->reach[kkt->body[b]], most);
    }
}

/* The largest change of a body's acceleration by d relative to its reach, after subtraction of the part
 * `noise` of the acceleration that the largest force in the mechanism gives its heaviest body. */
static double change_of(const lw_kkt_sparse *kkt, double noise, int *where) {
    double worst = 0;
    for (int i = 0; i < kkt->bodies; i++) {
        double change = size_of(kkt->residual + 6 * i) - noise * kkt->strongest[kkt->component[i]];
        if (!(change <= worst * kkt->reach[i])) worst = change / kkt->reach[i], *where = i;
    }
    return worst;
}

/* The quotient of this correction and the one before that fits the accelerations best. d is kept for the next
 * call. */
static double quotient(lw_kkt_sparse *kkt) {
    double dot = 0, square = 0;
    for (int k = 0; k < 6 * kkt->bodies; k++) {
        dot += kkt->residual[k] * kkt->before[k];
        square += kkt->before[k] * kkt->before[k];
    }
    memcpy(kkt->before, kkt->residual, (size_t)kkt->size * sizeof *kkt->before);
    return square > 0 ? dot / square : 0;
}

/* Makes corrections (4) until the accelerations do not change any more. Returns the last change. */
static double iterate(lw_kkt_sparse *kkt, const double *u, const double *gamma, int *where) {
    enum { ROUNDS = 60 };
    const double enough = 1e-15, rounding = 1e-11;
    double before = 0, now = 0, best = HUGE_VAL, last_share = 0;
    int stalled = 0;
    memset(kkt->x, 0, (size_t)kkt->size * sizeof *kkt->x);
    memset(kkt->before, 0, (size_t)kkt->size * sizeof *kkt->before);
    for (int round = 0; round < ROUNDS && stalled < 3; round++) {
        residual_of(kkt, u, gamma, where);
        solve_scaled(kkt);
        move(kkt, 1);
        find_reach(kkt, gamma);
        now = change_of(kkt, 2e-16, where); /* A smaller change is rounding. */
        double share = quotient(kkt);
        if (!(now > enough) || (round > kkt->light && now * now < enough * before)) break;
        if (round > 0 && now > 0.3 * before) {
            if (now < rounding || share > 0.999) break;
            /* A single mode remains, which is soft (6) or has an inaccurate pivot: its further corrections
             * form a geometric series. */
            bool steady = fabs(share - last_share) < 0.1 * fabs(share);
            if (kkt->firm && steady && fabs(share) > 0.3) move(kkt, share / (1 - share));
        }
        stalled = now < 0.9 * best ? 0 : stalled + 1;
        best = smaller(best, now), last_share = share;
        before = now;
    }
    double all = 0; /* NaN if any number is not finite */
    for (int k = 0; k < kkt->size; k++) all += 0 * kkt->x[k];
    if (isnan(all)) return NAN;
    /* Where rows contradict each other, multipliers grow with each round, and in the end their rounding moves
     * bodies. */
    return change_of(kkt, 1e-13, where);
}

/* The largest violation of a row beyond the effect of its softness, relative to the reach of its bodies; *row
 * is the row. */
static double row_defect(const lw_kkt_sparse *kkt, int *row) {
    double worst = 0;
    for (int r = 0; r < kkt->rows; r++) {
        double reach = 0, left = kkt->residual[6 * kkt->bodies + r] * kkt->row_scale[r];
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++)
            reach = larger(reach, kkt->reach[kkt->body[b]]);
        if (kkt->row_block[r] == kkt->row_block[r + 1]) continue;
        left = fabs(left + kkt->E[r] * kkt->before[6 * kkt->bodies + r]);
        if (!(left <= worst * reach)) worst = left / reach, *row = r;
    }
    return worst;
}

lw_status lw_kkt_sparse_solve(lw_kkt_sparse *kkt, const double *u, const double *gamma, double *a,
                              double *lambda, lw_error *error) {
    const double accurate = 1e-9, steady = 1e-6;
    static const char remedy[] = "take a recursive method, or one that linkwork compare shows to balance";
    if (kkt->size == 0) return LW_OK;
    int body = 0, row = 0;
    double change = iterate(kkt, u, gamma, &body);
    memcpy(a, kkt->x, 6 * (size_t)kkt->bodies * sizeof *a);
    if (kkt->rows) memcpy(lambda, kkt->x + 6 * kkt->bodies, (size_t)kkt->rows * sizeof *lambda);
    if (!(change < steady) && (kkt->firm || !isfinite(change)))
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, kkt->model->file, kkt->model->bodies[body + 1].place, "body",
            kkt->model->bodies[body + 1].name, remedy,
            "the sparse system does not determine its acceleration: corrections still change it "
            "by %.1g of the accelerations around it",
            change);
    double left = residual_of(kkt, u, gamma, &body), missed = row_defect(kkt, &row);
    if (!(left < accurate))
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, kkt->model->file, kkt->model->bodies[body + 1].place, "body",
            kkt->model->bodies[body + 1].name, remedy,
            "the forces on it cannot be balanced in the digits that there are: %.1g of them is left", left);
    if (!(missed < accurate)) {
        char what[160];
        lw_row_describe(kkt->model, &kkt->now->rows[row], what, sizeof what);
        return lw_fail(error, LW_ERROR_SINGULAR, NULL, remedy,
                       "the accelerations that %s requires cannot be reached in double precision: a "
                       "residual of %.1g of the accelerations around it is left",
                       what, missed);
    }
    memcpy(a, kkt->x, 6 * (size_t)kkt->bodies * sizeof *a);
    if (kkt->rows) memcpy(lambda, kkt->x + 6 * kkt->bodies, (size_t)kkt->rows * sizeof *lambda);
    return LW_OK;
}

/* --- condition ------------------------------------------------------------------------------------- */

/* The largest column sum of the scaled matrix. */
static double norm_of(lw_kkt_sparse *kkt) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    double *sum = kkt->residual, most = 0;
    for (int i = 0; i < kkt->bodies; i++)
        for (int k = 0; k < 3; k++) {
            sum[6 * i + k] = 0, sum[6 * i + 3 + k] = fabs(kkt->M[i]);
            for (int l = 0; l < 3; l++) sum[6 * i + k] += fabs(kkt->J[6 * i + symmetric[3 * k + l]]);
        }
    for (int r = 0; r < kkt->rows; r++) {
        double *own = &sum[6 * kkt->bodies + r];
        *own = kkt->E[r];
        for (int b = kkt->row_block[r]; b < kkt->row_block[r + 1]; b++)
            for (int k = 0; k < 6; k++) {
                *own += fabs(kkt->G[6 * b + k]);
                sum[6 * kkt->body[b] + k] += fabs(kkt->G[6 * b + k]);
            }
    }
    for (int k = 0; k < kkt->size; k++) most = larger(most, sum[k]);
    return most;
}

/* Hager's estimate of the largest column sum of the inverse, which is symmetric. */
double lw_kkt_sparse_condition(lw_kkt_sparse *kkt) {
    enum { ROUNDS = 5 };
    if (!kkt->factored || kkt->bodies == 0) return 1;
    double norm = norm_of(kkt), inverse = 0, *x = kkt->residual;
    for (int k = 0; k < kkt->size; k++) x[k] = 1.0 / kkt->size;
    for (int round = 0, at = -1; round < ROUNDS; round++) {
        lw_fronts_solve(kkt->fronts, x);
        double sum = 0;
        int largest = 0;
        for (int k = 0; k < kkt->size; k++) sum += fabs(x[k]);
        if (round > 0 && !(sum > inverse)) break;
        inverse = sum;
        for (int k = 0; k < kkt->size; k++) x[k] = x[k] < 0 ? -1 : 1;
        lw_fronts_solve(kkt->fronts, x);
        for (int k = 1; k < kkt->size; k++)
            if (fabs(x[k]) > fabs(x[largest])) largest = k;
        if (largest == at) break;
        at = largest;
        memset(x, 0, (size_t)kkt->size * sizeof *x);
        x[at] = 1;
    }
    return larger(1, norm * inverse);
}

void lw_kkt_sparse_work(lw_kkt_sparse *kkt, double *entries, double *operations) {
    lw_fronts_work(kkt->fronts, entries, operations);
}
