/* modes.c - vibrations of small amplitude about a position: frequencies, damping, shapes.
 *
 *   M z'' + C z' + K z = 0,   M = N'M N                                                                (1-3)
 *
 * Without damping and with a symmetric K (forces with a potential) frequencies come from K x = w^2 M x, and
 * are exactly imaginary eigenvalues; otherwise from the eigenvalues of A, user states included, the slow ones
 * from those of its inverse.
 *
 * Source   docs/theory/modes.md.
 * Cost     O(states^3), dense. Allocates.
 */
#include "analyses/linear_parts.h"
#include "analyses/rigid_motions.h"
#include "linalg/eigen.h"
#include <linkwork/assemble.h>
#include <linkwork/equilibrium.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
    lw_modes result;
    lw_linear_work work;
    const lw_model *model;
    double length;
    int most;    /* modes that are wanted; 0: all */
    int zeros;   /* eigenvalues that are zero for rigid-body modes */
    bool direct; /* Modes are those of the free speeds of a tree, without independent coordinates. */
    double t;
    double *q, *v, *M, *K, *C, *values, *vectors;
    double *forces; /* rows of M w' over the states */
    lw_mode *modes;
    char name[256];
} answer;

/* Is there neither damping nor a part of K that is not symmetric, to rounding? */
static bool is_undamped(const answer *a, int f) {
    double damping = 0, stiff = 0, skew = 0;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) {
            const double size = sqrt(fabs(a->K[i + i * f] * a->K[j + j * f])) + fabs(a->K[i + j * f]);
            const double inertia = sqrt(a->M[i + i * f] * a->M[j + j * f]);
            stiff = fmax(stiff, size / inertia);
            skew = fmax(skew, fabs(a->K[i + j * f] - a->K[j + i * f]) / inertia);
            damping = fmax(damping, fabs(a->C[i + j * f]) / inertia);
        }
    return skew <= 1e-9 * stiff && damping <= 1e-12 * sqrt(stiff);
}

/* M, K and C in the independent coordinates, column by column, from forces: -M A would have lost digits with
 * the condition of M. */
static lw_status reduce(answer *a, lw_error *error) {
    lw_linear_work *w = &a->work;
    lw_derivatives *d = w->derivatives;
    const int f = w->speeds, nf = d->free_count, nv = a->model->nv, n = w->n;
    lw_status status = lw_derivatives_balance(d, a->t, a->q, a->v, error);
    if (status != LW_OK) return status;
    const double *mass = d->tree->mass;
    for (int k = 0; k < nf; k++)
        for (int l = 0; l < nf; l++) a->K[k + l * nf] = mass[d->free[k] * nv + d->free[l]];
    lw_dense_multiply(false, false, nf, f, nf, 1, a->K, w->Nv, 0, a->C);
    lw_dense_multiply(true, false, f, f, nf, 1, w->Nv, a->C, 0, a->M);
    const size_t inputs = (size_t)a->model->values.input_count;
    a->forces = LW_NEW(w->arena, double, (size_t)f *((size_t)n + inputs) + 1);
    if (!a->forces) return lw_out_of_memory(error);
    lw_linear_forces(w, a->forces, a->forces + (size_t)f * (size_t)n);
    for (int l = 0; l < f; l++)
        for (int j = 0; j < f; j++) {
            a->K[l + j * f] = -a->forces[l * n + j];
            a->C[l + j * f] = -a->forces[l * n + w->coordinates + j];
        }
    return LW_OK;
}

/* Energy and participation of a mode: the twists that its motion gives to the bodies (docs/theory/modes.md,
 * 4-5). */
static bool share(answer *a, lw_mode *mode) {
    const lw_model *model = a->model;
    const int n = model->body_count;
    lw_data *data = a->work.derivatives->data;
    double *energy = LW_NEW(a->work.arena, double, n + 1), total = 0, rotors = 0, mass = 0, along[3] = {0};
    if (!energy) return false;
    const double *parts[2] = {mode->shape, mode->imaginary};
    for (int part = 0; part < 2; part++) {
        lw_take_state(model, data, a->t, a->q, parts[part]);
        for (int k = 0; k < model->nv; k++) /* what is prescribed stands */
            data->v[k] = a->work.derivatives->prescribed[k] ? 0 : parts[part][k];
        lw_velocities(model, data);
        lw_world_poses(model, data);
        for (int i = 1; i <= n; i++) {
            double local[6], P[3];
            lw_rigid_mul(&model->links[i].inertia, data->motion[i].V, local);
            const double T = 0.5 * lw_v6_dot(data->motion[i].V, local);
            energy[i - 1] += T, total += T;
            lw_m3_mul_v(data->world[i].R, local + 3, P);
            if (part == 0) lw_v3_add(along, P, along);
        }
        rotors += lw_rotor_energy(model, data->v);
    }
    for (int i = 1; i <= n; i++) {
        energy[i - 1] /= total > 0 ? total : 1;
        mass += model->links[i].inertia.mass;
    }
    /* The square of the momentum over twice the energy is the effective mass. */
    for (int k = 0; k < 3; k++)
        mode->participation[k] = !a->result.undamped || a->work.derivatives->rows || !(total > 0)
                                     ? NAN
                                     : along[k] * along[k] / (2 * (total + rotors) * mass);
    mode->energy = energy;
    return true;
}

/* The motion of all speeds for one of the independent coordinates; with few modes of a tree these are its
 * free speeds. */
static void expand(const answer *a, const double *x, double *out) {
    const lw_linear_work *w = &a->work;
    const lw_derivatives *d = w->derivatives;
    const int nv = a->model->nv, n = w->n, f = w->coordinates;
    for (int k = 0; k < d->free_count && a->direct; k++) out[d->free[k]] = x[k];
    for (int k = 0; k < nv && !a->direct; k++)
        for (int j = 0; j < f; j++) out[k] += w->Lq[(size_t)k * (size_t)n + (size_t)j] * x[j];
}

/* The shape of a mode from the motion x + i y of the independent coordinates. */
static bool shape(answer *a, lw_mode *mode, const double *x, const double *y) {
    const lw_linear_work *w = &a->work;
    const int nv = a->model->nv;
    double *re = LW_NEW(w->arena, double, nv + 1), *im = LW_NEW(w->arena, double, nv + 1), most = 0, c = 1,
           s = 0;
    int largest = -1;
    if (!re || !im) return false;
    expand(a, x, re);
    if (y) expand(a, y, im);
    for (int k = 0; k < nv; k++) {
        const double size = hypot(re[k], im[k]) / (w->slides[k] ? a->length : 1);
        if (size > most * (1 + 1e-9)) most = size, c = re[k], s = im[k], largest = k;
    }
    const double turn = hypot(c, s);
    for (int k = 0; k < nv && most > 0; k++) { /* divided by the largest entry's direction and size */
        const double r = re[k], i = im[k];
        re[k] = (r * c + i * s) / (turn * most);
        im[k] = (i * c - r * s) / (turn * most);
    }
    if (largest >= 0)
        re[largest] = w->slides[largest] ? a->length : 1, im[largest] = 0; /* without rounding */
    mode->shape = re, mode->imaginary = im;
    return share(a, mode);
}

/* A mode, or a pair that grows and decays, of the squared frequency `square` and the motion x. */
static lw_status add_undamped(answer *a, double square, const double *x, lw_error *error) {
    for (int sign = 1; sign >= (square < 0 ? -1 : 1); sign -= 2) { /* Unstable: it grows and decays. */
        lw_mode *mode = &a->modes[a->result.count++];
        const double w = sqrt(fabs(square));
        *mode = (lw_mode){.frequency = w / (2 * LW_PI)};
        mode->eigenvalue[square > 0] = sign * w;
        mode->damping_ratio = square > 0 ? 0 : -sign;
        if (!shape(a, mode, x, NULL)) return lw_out_of_memory(error);
    }
    return LW_OK;
}

/* K x = w M x leaves errors of the size of the largest w in the small ones, and M x = u (K + s M) x, with w =
 * 1/u - s, those of the smallest in the large ones. So the lower half of w, by their logarithms, is taken
 * from the second, where that can be: K + s M is definite. Then X has its vectors, in K. */
static bool undamped_pairs(answer *a, int f, int rigid) {
    const size_t square = (size_t)f * (size_t)f;
    double *first = a->vectors, *second = first + square, *definite = second + square, *w = a->values,
           *u = w + f, least = HUGE_VAL, most = 0;
    memcpy(first, a->K, square * sizeof *first);
    memcpy(a->C, a->M, square * sizeof *first);
    if (!lw_eigen_definite(f, first, a->C, w)) return false;
    int zeros = 0;
    for (int k = 0; k < f; k++) most = fmax(most, fabs(w[k]));
    for (int k = 0; k < f && zeros < rigid; k++)
        zeros += fabs(w[k]) <= 1e-7 * most; /* lowest of all, if so */
    for (int k = rigid; k < f; k++) least = fmin(least, fabs(w[k]));
    const double shift = rigid > 0 ? least : 0;
    bool both = zeros == rigid && rigid < f && w[rigid] > 0;
    for (size_t i = 0; i < square && both; i++) second[i] = a->M[i], definite[i] = a->K[i] + shift * a->M[i];
    both = both && lw_eigen_definite(f, second, definite, u) && u[0] > 0;
    const double middle = sqrt(least * most);
    for (int k = 0; k < f && both; k++) {
        if (w[k] > middle) continue;
        const double better = 1 / u[f - 1 - k] - shift;
        w[k] = k < rigid ? 0 : better;
        memcpy(first + (size_t)k * (size_t)f, second + (size_t)(f - 1 - k) * (size_t)f,
               (size_t)f * sizeof *first);
    }
    memcpy(a->K, first, square * sizeof *first);
    return true;
}

static lw_status undamped(answer *a, lw_error *error) {
    const int f = a->work.speeds, rigid = a->result.rigid;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < i; j++)
            a->K[i + j * f] = a->K[j + i * f] = 0.5 * (a->K[i + j * f] + a->K[j + i * f]);
    if (!undamped_pairs(a, f, rigid))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the frequencies did not converge");
    for (int k = 0; k < rigid; k++) { /* The smallest are those of rigid-body modes. */
        int least = -1;
        for (int j = 0; j < f; j++)
            if (!isnan(a->values[j]) && (least < 0 || fabs(a->values[j]) < fabs(a->values[least]))) least = j;
        a->values[least] = NAN;
    }
    a->result.rigid = 0;
    for (int k = 0; k < f; k++) {
        const double square = a->values[k];
        if (isnan(square) || square == 0) {
            a->result.rigid++;
            continue;
        }
        if (a->most > 0 && a->result.rigid + a->result.count >= a->most) break;
        lw_status status = add_undamped(a, square, a->K + (size_t)k * (size_t)f, error);
        if (status != LW_OK) return status;
    }
    return LW_OK;
}

/* The same of a position that is no equilibrium, where more than two eigenvalues may be zero for a motion:
 * eigenvalues of -A21, whose zeros are simple more often, and of A by their size. */
static bool judge_rigid(answer *a) {
    const lw_linear_work *w = &a->work;
    const int f = w->speeds, n = w->n;
    double most = 0, *K = a->vectors;
    for (int i = 0; i < f; i++)
        for (int j = 0; j < f; j++) K[i + j * f] = -w->A[(f + i) * n + j];
    if (!lw_eigen_general(f, K, a->values, NULL)) return false;
    for (int k = 0; k < f; k++) most = fmax(most, hypot(a->values[2 * k], a->values[2 * k + 1]));
    for (int k = 0; k < f; k++)
        a->result.rigid += !(hypot(a->values[2 * k], a->values[2 * k + 1]) > 1e-11 * most);
    a->zeros = -1;
    return true;
}

/* Is what accelerates small against what springs and weights do for a displacement of one? */
static bool balanced(const answer *a) {
    const lw_linear_work *w = &a->work;
    double most = 0;
    for (int i = 0; i < w->speeds; i++)
        for (int j = 0; j < w->coordinates; j++)
            most = fmax(most, fabs(w->A[(w->coordinates + i) * w->n + j]));
    return a->result.imbalance <= 1e-6 * most;
}

/* How many motions nothing opposes, and how many eigenvalues are zero for them. */
static bool count_rigid(answer *a) {
    const lw_linear_work *w = &a->work;
    if (w->derivatives->massless) {
        a->result.rigid = w->rigid, a->zeros = w->zeros;
        return true;
    }
    if (!balanced(a)) return judge_rigid(a);
    const int f = w->speeds, ns = a->model->values.state_count, n = w->n, m = f + ns;
    double *K = a->vectors, *C = K + (size_t)m * (size_t)m; /* n^2 >= 2 m^2 if there is no state */
    if (ns > 0) {
        K = LW_NEW(w->arena, double, 2 * (size_t)m * (size_t)m), C = K + (size_t)m * (size_t)m;
        if (!K) return false;
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            const int column = j < f ? j : f + j; /* of z or s in A */
            const double *row = i < f ? a->forces + i * n : w->A + (f + i) * n;
            K[i + j * m] = -row[column];
            C[i + j * m] = j < f ? -row[f + j] : (double)(i == j);
        }
    return lw_rigid_motions(w->arena, f, m, K, C, &a->result.rigid, &a->zeros);
}

static int by_frequency(const void *x, const void *y) {
    const lw_mode *a = x, *b = y;
    return a->frequency < b->frequency ? -1 : a->frequency > b->frequency;
}

static int ascending(const void *x, const void *y) {
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Eigenvalues u = 1/l of the inverse of A, which have errors of the size of the slowest l in the fast ones,
 *
 *   A^-1 = (-K^-1 C, -K^-1 M; 1, 0),                                                                     (8)
 *
 * and a size of l that as many of them do not exceed as of A do: a gap, the nearest to the middle. False: K
 * is singular, there are user states or motions of first order, or no such gap. */
static bool slow_pairs(answer *a, double *values, double *vectors, double *matrix, double *sizes,
                       double *middle) {
    lw_linear_work *w = &a->work;
    const int f = w->speeds, n = w->n;
    double *right[2] = {a->C, a->M};
    if (n != 2 * f || w->first_order > 0 || a->result.rigid > 0) return false;
    if (lw_qr_factor(w->factors, f, f, a->K, w->order, 1e-14) < f) return false;
    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    for (int part = 0; part < 2; part++) {
        lw_qr_apply(w->factors, true, f, f, a->K, f, right[part]);
        lw_qr_triangle(false, f, f, a->K, f, right[part], f);
        for (int j = 0; j < f; j++)
            for (int i = 0; i < f; i++) matrix[w->order[i] + (part * f + j) * n] = -right[part][i + j * f];
    }
    for (int i = 0; i < f; i++) matrix[f + i + i * n] = 1;
    if (!lw_eigen_general(n, matrix, values, vectors)) return false;
    double *fast = sizes + n;
    for (int k = 0; k < n; k++) {
        sizes[k] = 1 / hypot(values[2 * k], values[2 * k + 1]);
        fast[k] = hypot(a->values[2 * k], a->values[2 * k + 1]);
    }
    qsort(sizes, (size_t)n, sizeof *sizes, ascending);
    qsort(fast, (size_t)n, sizeof *fast, ascending);
    const double aim = sqrt(sizes[0] * fast[n - 1]);
    double best = HUGE_VAL;
    for (int k = 0; k + 1 < n; k++) {
        const double gap = sqrt(sizes[k] * sizes[k + 1]), far = fabs(log(gap / aim));
        if (!(sizes[k + 1] > 1.001 * sizes[k]) || !(far < best)) continue;
        if (!(fast[k] < gap && fast[k + 1] > gap)) continue;
        best = far, *middle = gap;
    }
    return best < HUGE_VAL;
}

static lw_status add_damped(answer *a, double re, double im, const double *x, const double *y,
                            lw_error *error) {
    const double size = hypot(re, im);
    lw_mode *mode = &a->modes[a->result.count++];
    *mode = (lw_mode){.frequency = size / (2 * LW_PI), .damping_ratio = -re / size, .eigenvalue = {re, im}};
    return shape(a, mode, x, im > 0 ? y : NULL) ? LW_OK : lw_out_of_memory(error);
}

static lw_status damped(answer *a, lw_error *error) {
    lw_linear_work *w = &a->work;
    const int n = w->n;
    const size_t square = (size_t)n * (size_t)n;
    double most = 0, middle = 0;
    double *slow = LW_NEW(w->arena, double, 2 * square + 4 * (size_t)n + 1), *values = slow + square;
    if (!slow) return lw_out_of_memory(error);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) w->subspace[i + j * n] = w->A[i * n + j];
    if (!lw_eigen_general(n, w->subspace, a->values, a->vectors))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the eigenvalues did not converge");
    for (int k = 0; k < n; k++) most = fmax(most, hypot(a->values[2 * k], a->values[2 * k + 1]));
    if (!slow_pairs(a, values, slow, values + 4 * n, values + 2 * n, &middle)) middle = 0;
    for (int k = 0; k < a->zeros && k < n; k++) { /* The smallest are zeros, split by rounding. */
        int least = 0;
        for (int j = 1; j < n; j++) {
            const double size = hypot(a->values[2 * j], a->values[2 * j + 1]),
                         least_size = hypot(a->values[2 * least], a->values[2 * least + 1]);
            if (isnan(least_size) || size < least_size) least = j;
        }
        a->values[2 * least] = NAN;
    }
    lw_status status = LW_OK;
    for (int k = 0; k < n && status == LW_OK; k++) {
        const double re = a->values[2 * k], im = a->values[2 * k + 1], size = hypot(re, im);
        if (im < 0) continue; /* the second of a pair */
        if (isnan(size) || size <= 1e-15 * most || size < middle) continue;
        if (a->zeros < 0 && a->result.rigid > 0 && size < 1e-6 * most) continue;
        const double *x = a->vectors + (size_t)k * (size_t)n;
        status = add_damped(a, re, im, x, x + n, error);
    }
    for (int k = 0; k < n && middle > 0 && status == LW_OK; k++) { /* 1/u, with the conjugate vector */
        const double re = values[2 * k], im = values[2 * k + 1], size = hypot(re, im);
        double *x = slow + (size_t)k * (size_t)n;
        if (im < 0 || 1 / size > middle) continue;
        for (int i = 0; i < n && im > 0; i++) x[n + i] = -x[n + i];
        status = add_damped(a, re / (size * size), im / (size * size), x, x + n, error);
    }
    if (status != LW_OK) return status;
    qsort(a->modes, (size_t)a->result.count, sizeof *a->modes, by_frequency);
    if (a->most > 0 && a->result.rigid + a->result.count > a->most)
        a->result.count = a->most > a->result.rigid ? a->most - a->result.rigid : 0;
    return LW_OK;
}

/* The largest acceleration of the free speeds, and whose it is. */
static void take_imbalance(answer *a, int speed, double acceleration) {
    if (!(fabs(acceleration) > a->result.imbalance)) return;
    a->result.imbalance = fabs(acceleration);
    lw_state_name(a->model, speed, 0, a->name, sizeof a->name);
}

/* The lowest modes of a large tree without damping and user states, from M and K of its free speeds, which
 * are derivatives of the inverse dynamics. done: false if it is none of that. */
static lw_status few(answer *a, bool *done, lw_error *error) {
    lw_derivatives *d = a->work.derivatives;
    const int nf = d->free_count, nv = a->model->nv;
    *done = false;
    if (a->most <= 0 || 4 * a->most > nf || d->rows || a->model->values.state_count > 0) return LW_OK;
    double *full[3] = {a->vectors, a->vectors + (size_t)nv * (size_t)nv,
                       a->vectors + 2 * (size_t)nv * (size_t)nv};
    double *blocks[3] = {a->K, a->C, a->M};
    lw_status status = lw_solver_accelerations(d->solver, a->t, a->q, a->v, NULL, a->values, error);
    if (status == LW_OK)
        status = lw_derivatives_of_forces(d, a->t, a->q, a->v, a->values, full[0], full[1], full[2], error);
    if (status != LW_OK) return status;
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < nf; i++)
            for (int j = 0; j < nf; j++)
                blocks[part][i + (size_t)j * (size_t)nf] =
                    full[part][(size_t)d->free[i] * (size_t)nv + (size_t)d->free[j]];
    a->result.undamped = is_undamped(a, nf);
    if (!a->result.undamped) return LW_OK;
    for (int i = 0; i < nf; i++) take_imbalance(a, d->free[i], a->values[d->free[i]]);
    a->direct = *done = true;
    const int count = a->most;
    double *squares = a->values, *rounding = squares + count, *unit = rounding + count, *x = a->vectors;
    for (int i = 0; i < nf; i++) unit[i] = a->work.slides[d->free[i]] ? a->length : 1;
    if (!lw_eigen_lowest(nf, a->K, a->M, unit, count, squares, x, rounding))
        return lw_fail(error, LW_ERROR_SINGULAR, lw_model_name(a->model), NULL,
                       "the lowest frequencies did not converge");
    for (int k = 0; k < count && status == LW_OK; k++) {
        if (fabs(squares[k]) > 250 * rounding[k])
            status = add_undamped(a, squares[k], x + (size_t)k * (size_t)nf, error);
        else
            a->result.rigid++;
    }
    return status;
}

static lw_status find(answer *a, const lw_linearise_options *options, lw_error *error) {
    lw_linear_work *w = &a->work;
    const lw_model *model = a->model;
    lw_status status = lw_linear_create(w, model, options, true, error);
    if (status != LW_OK) return status;
    const size_t nv = (size_t)model->nv, n = 2 * nv + (size_t)model->values.state_count + 1;
    a->q = LW_NEW(w->arena, double, model->nq + 1);
    a->v = LW_NEW(w->arena, double, nv + 1);
    a->M = LW_NEW(w->arena, double, nv *nv + 1);
    a->K = LW_NEW(w->arena, double, nv *nv + 1);
    a->C = LW_NEW(w->arena, double, nv *nv + 1);
    a->values = LW_NEW(w->arena, double, 2 * n);
    a->vectors = LW_NEW(w->arena, double, n *n);
    a->t = options->t;
    a->modes = LW_NEW(w->arena, lw_mode, n);
    if (lw_arena_failed(w->arena)) return lw_out_of_memory(error);
    status = lw_linear_start(model, options, a->q, a->v, error);
    memset(a->v, 0, nv * sizeof *a->v);
    a->result.modes = a->modes, a->result.name = a->name;
    if (status == LW_OK) lw_derivatives_settle(w->derivatives, options->t, a->q, a->v);
    bool done = false;
    if (status == LW_OK && !w->derivatives->massless) status = few(a, &done, error);
    if (status != LW_OK || done) return status;
    status = lw_linear_at(w, options, options->t, a->q, a->v, error);
    if (status != LW_OK) return status;
    if (w->rolling > 0)
        return lw_fail(
            error, LW_ERROR_UNSUPPORTED, lw_model_name(model),
            "linkwork linearise has the eigenvalues of such a mechanism",
            "modes are those of mechanisms whose positions and speeds are equally many, and wheels roll "
            "here");
    for (int k = 0; k < w->speeds; k++)
        take_imbalance(a, w->derivatives->free[w->own_v[k]], w->rates[w->coordinates + k]);
    if (w->first_order == 0) status = reduce(a, error);
    if (status != LW_OK) return status;
    a->result.undamped = w->first_order == 0 && model->values.state_count == 0 && is_undamped(a, w->speeds);
    if (!count_rigid(a)) return lw_out_of_memory(error);
    return a->result.undamped ? undamped(a, error) : damped(a, error);
}

static lw_status find_most(const lw_model *model, const lw_linearise_options *options, int most,
                           lw_modes **modes, lw_error *error) {
    if (modes) *modes = NULL;
    if (!model || !options || !modes || most < 0 || !isfinite(options->t) ||
        (options->q && !lw_finite(options->q, model->nq)))
        return lw_call_needs("a model, options with finite numbers and a pointer for the result", error);
    answer *a = calloc(1, sizeof *a);
    if (!a) return lw_out_of_memory(error);
    a->model = model, a->length = lw_longest_arm(model), a->most = most;
    lw_status status = find(a, options, error);
    if (status == LW_OK)
        *modes = &a->result;
    else
        lw_modes_destroy(&a->result);
    return status;
}

lw_status lw_modes_find(const lw_model *model, const lw_linearise_options *options, lw_modes **modes,
                        lw_error *error) {
    return find_most(model, options, 0, modes, error);
}

lw_status lw_modes_lowest(const lw_model *model, const lw_linearise_options *options, int most,
                          lw_modes **modes, lw_error *error) {
    if (modes) *modes = NULL;
    if (most < 1) return lw_call_needs("a number of modes, 1 or more", error);
    return find_most(model, options, most, modes, error);
}

void lw_modes_destroy(lw_modes *modes) {
    if (!modes) return;
    answer *a = (answer *)modes;
    lw_linear_destroy(&a->work);
    free(a);
}
