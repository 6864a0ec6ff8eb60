/* scaled.c - mechanisms in other units; accelerations in extended precision (scaled.h).
 */
#include "scaled.h"
#include "random_model.h"
#include "constraints/newton_euler_system.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- text ----------------------------------------------------------------------------------------- */

static void put(scaled *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    s->used += vsnprintf(s->text + s->used, (size_t)(SCALED_TEXT - s->used), format, arguments);
    va_end(arguments);
    assert_true(s->used < SCALED_TEXT - 1);
}

/* factor * (expression), with x, v and q divided by unit. */
static const char *expression(scaled *s, const char *old, double factor, double unit) {
    if (!old) return NULL;
    const char *start = s->text + s->used;
    put(s, "%.17g*(", factor);
    while (*old) {
        int length = 0;
        while (isalpha((unsigned char)old[length])) length++;
        if (length == 1 && strchr("xvq", *old) && unit != 1)
            put(s, "(%c/%.17g)", *old, unit);
        else if (length > 0)
            put(s, "%.*s", length, old);
        else
            put(s, "%c", *old), length = 1;
        old += length;
    }
    put(s, ")");
    s->used++; /* the end of the string */
    return start;
}

static const double *numbers(scaled *s, const double *old, int count, double factor) {
    assert_true(s->taken + count <= SCALED_NUMBERS);
    double *out = s->numbers + s->taken;
    for (int k = 0; k < count; k++) out[k] = factor * old[k];
    s->taken += count;
    return out;
}

static void law(scaled *s, lw_law_spec *l, double factor, double unit) {
    l->expression = expression(s, l->expression, factor, unit);
    if (l->table_size == 0) return;
    l->table_x = numbers(s, l->table_x, l->table_size, unit);
    l->table_y = numbers(s, l->table_y, l->table_size, factor);
}

/* --- the parts of a spec -------------------------------------------------------------------------- */

static void times(double factor, double *x, int count) {
    for (int k = 0; k < count; k++) x[k] *= factor;
}

static void scale_joint(scaled *s, lw_joint_spec *joint) {
    int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
    for (int side = 0; side < 2; side++) times(s->length, joint->geometry[side].point, 3);
    joint->lead *= s->length;
    joint->compliance[0] /= s->mass, joint->compliance[1] /= s->mass * s->length * s->length;
    for (int k = 0; k < nv; k++) {
        const bool turns = lw_joint_speed_turns(joint->type, k);
        const double rotor = s->mass * (turns ? s->length * s->length : 1);
        joint->armature[k] *= rotor, joint->stop_stiffness[k] *= rotor, joint->stop_damping[k] *= rotor;
        if (turns) continue;
        joint->zero[k] *= s->length;
        times(s->length, joint->limits[k], 2);
        joint->motion[k] = expression(s, joint->motion[k], s->length, 1);
        joint->q[k] *= s->length, joint->v[k] *= s->length;
    }
}

static const lw_joint_spec *joint_named(lw_spec *spec, const char *name) {
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++)
        if (strcmp(lw_spec_joint(spec, j)->name, name) == 0) return lw_spec_joint(spec, j);
    fail_msg("no joint %s", name);
    return NULL;
}

static void scale_force(scaled *s, lw_spec *spec, lw_force_spec *f) {
    double m = s->mass, l = s->length;
    bool turns = f->joint && lw_joint_speed_turns(joint_named(spec, f->joint)->type, f->coordinate);
    double unit = turns ? 1 : l, force = m * l * (turns ? l : 1); /* of the coordinate, of what acts on it */
    times(l, f->points[0], 6);
    f->stiffness *= force / unit, f->damping *= force / unit;
    f->free_length *= unit;
    law(s, &f->law, force, unit);
    for (int k = 0; k < 6; k++) {
        double factor = k < 3 ? m : m * l * l;
        f->bushing_stiffness[k] *= factor, f->bushing_damping[k] *= factor;
    }
    for (int k = 0; k < 3; k++) {
        f->force[k] = expression(s, f->force[k], m * l, 1);
        f->torque[k] = expression(s, f->torque[k], m * l * l, 1);
    }
    f->drive = expression(s, f->drive, force, unit);
    f->limit *= force;
    f->viscous *= force / unit, f->coulomb *= force, f->smoothing *= unit;
    for (int side = 0; side < 2; side++) {
        lw_contact_figure *figure = &f->contact.on[side];
        times(l, figure->size, 3);
        figure->radius *= l, figure->length *= l;
    }
    /* k e^p (1 + a edot) is a force m l for a depth l. */
    f->contact.stiffness *= m * pow(l, 1 - f->contact.exponent);
    f->contact.damping /= l, f->contact.smoothing *= l;
}

static void scale_constraint(scaled *s, lw_spec *spec, lw_constraint_spec *c) {
    times(s->length, c->points[0], 6);
    c->length *= s->length, c->radius *= s->length;
    for (int k = 0; k < c->terms; k++)
        if (!lw_joint_speed_turns(joint_named(spec, c->joints[k])->type, c->coordinates[k])) {
            double power = 1; /* A polynomial takes its variable by powers; tables are not scaled. */
            if (c->polynomial_size[k] == 0) c->factors[k] /= s->length;
            c->about[k] *= s->length;
            for (int i = 0; i < c->polynomial_size[k]; i++, power *= s->length) c->polynomial[k][i] /= power;
        }
}

void scale_spec(scaled *s, lw_spec *spec, double mass, double length) {
    double gravity[3];
    s->mass = mass, s->length = length, s->used = s->taken = 0;
    memcpy(gravity, lw_spec_gravity(spec), sizeof gravity);
    times(length, gravity, 3);
    lw_spec_set_gravity(spec, gravity);
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        lw_body_spec *body = lw_spec_body(spec, k);
        body->mass *= mass;
        times(length, body->com, 3), times(length, body->position, 3);
        times(mass * length * length, body->inertia, 6);
    }
    for (size_t k = 0; k < lw_spec_part_count(spec); k++) times(length, lw_spec_part(spec, k)->position, 3);
    for (size_t k = 0; k < lw_spec_force_count(spec); k++) scale_force(s, spec, lw_spec_force(spec, k));
    for (size_t k = 0; k < lw_spec_constraint_count(spec); k++)
        scale_constraint(s, spec, lw_spec_constraint(spec, k));
    for (size_t k = 0; k < lw_spec_joint_count(spec); k++) scale_joint(s, lw_spec_joint(spec, k));
}

void scale_state(const lw_model *model, double mass, double length, double *q, double *v, double *tau) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info info = lw_model_joint_info(model, j);
        if (info.cut) continue;
        for (int k = 0; k < info.v_count; k++) {
            bool turns = lw_joint_speed_turns(info.type, k);
            double unit = turns ? 1 : length;
            int at = lw_joint_coordinate_of_speed(info.type, k);
            if (v) v[info.v + k] *= unit;
            if (tau) tau[info.v + k] *= mass * length * length / unit;
            if (q && at >= 0 && !turns) q[info.q + at] *= unit;
        }
    }
}

/* --- extended precision --------------------------------------------------------------------------- */

typedef long double real;

/* A largest set of independent rows: those of the tree, then others as long as more than `threshold` of one is left across all
 * before it, the longest next. Lengths are divided by that of the mechanism. */
static int independent(const lw_newton_euler *s, int *row) {
    const lw_rows *rows = s->rows;
    const real threshold = 1e-8L;
    int M = 6 * s->model->body_count, N = rows->count, found = 0;
    double length = 0;
    for (int b = 0; b < rows->block_count; b++) {
        const double *h = rows->H + 6 * b, force = lw_v3_norm(h + 3);
        if (force > 0.1) length = fmax(length, lw_v3_norm(h) / force);
    }
    if (!(length > 0)) length = 1;
    real *Q = calloc((size_t)M * (size_t)N + 1, sizeof *Q);
    bool *used = calloc((size_t)N + 1, sizeof *used);
    assert_true(Q && used);
    for (int r = 0; r < N; r++) {
        real *q = Q + (size_t)r * (size_t)M, square = 0;
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            for (int k = 0; k < 6; k++) {
                real x = (real)rows->H[6 * b + k] * (k < 3 ? 1 : (real)length);
                q[6 * (rows->body[b] - 1) + k] += x;
            }
        for (int k = 0; k < M; k++) square += q[k] * q[k];
        for (int k = 0; k < M && square > 0; k++) q[k] /= sqrtl(square);
    }
    for (int step = 0; step < N; step++) {
        int best = step < rows->tree_count ? step : -1;
        real most = 0;
        for (int r = rows->tree_count; r < N && step >= rows->tree_count; r++) {
            real square = 0;
            for (int k = 0; k < M && !used[r]; k++)
                square += Q[(size_t)r * (size_t)M + k] * Q[(size_t)r * (size_t)M + k];
            if (!used[r] && square > most) most = square, best = r;
        }
        if (best < 0 || (step >= rows->tree_count && sqrtl(most) < threshold)) break;
        used[best] = true;
        row[found++] = best;
        real *q = Q + (size_t)best * (size_t)M, square = 0;
        for (int k = 0; k < M; k++) square += q[k] * q[k];
        for (int r = 0; r < N; r++) {
            real *other = Q + (size_t)r * (size_t)M, dot = 0;
            if (used[r]) continue;
            for (int twice = 0; twice < 2; twice++) {
                dot = 0;
                for (int k = 0; k < M; k++) dot += q[k] * other[k];
                for (int k = 0; k < M; k++) other[k] -= dot / square * q[k];
            }
        }
    }
    free(Q), free(used);
    return found;
}

/* x = A^-1 b, A n x n by rows: scaled, eliminated with the largest pivot next, corrected. */
static bool eliminate(int n, const real *A, const real *b, real *x) {
    size_t size = (size_t)n;
    real *LU = malloc((size * size + 4 * size + 1) * sizeof *LU), *d = LU + size * size, *r = d + size,
         *e = r + size;

    int *pivot = calloc(size + 1, sizeof *pivot);
    bool regular = true;
    assert_true(LU && pivot);
    memcpy(LU, A, size * size * sizeof *LU);
    for (int i = 0; i < n; i++) d[i] = e[i] = 1;
    for (int pass = 0; pass < 12; pass++) /* rows and columns to one; d rows, e columns */
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < n; i++) {
                real most = 0;
                for (int j = 0; j < n; j++) {
                    real entry =
                        fabsl(side ? LU[(size_t)j * size + (size_t)i] : LU[(size_t)i * size + (size_t)j]);
                    if (entry > most) most = entry;
                }
                int power = 0;
                if (most > 0) frexpl(most, &power);
                real factor = ldexpl(1, -power);
                for (int j = 0; j < n; j++)
                    LU[side ? (size_t)j * size + (size_t)i : (size_t)i * size + (size_t)j] *= factor;
                *(side ? &e[i] : &d[i]) *= factor;
            }
    for (int p = 0; p < n && regular; p++) {
        int top = p;
        for (int i = p + 1; i < n; i++)
            if (fabsl(LU[(size_t)i * size + (size_t)p]) > fabsl(LU[(size_t)top * size + (size_t)p])) top = i;
        pivot[p] = top;
        if (!(fabsl(LU[(size_t)top * size + (size_t)p]) > 1e-18L)) regular = false;
        for (int j = 0; j < n && top != p; j++) {
            real keep = LU[(size_t)p * size + (size_t)j];
            LU[(size_t)p * size + (size_t)j] = LU[(size_t)top * size + (size_t)j];
            LU[(size_t)top * size + (size_t)j] = keep;
        }
        for (int i = p + 1; i < n && regular; i++) {
            real factor = LU[(size_t)i * size + (size_t)p] /= LU[(size_t)p * size + (size_t)p];
            for (int j = p + 1; j < n && factor != 0; j++)
                LU[(size_t)i * size + (size_t)j] -= factor * LU[(size_t)p * size + (size_t)j];
        }
    }
    memset(x, 0, size * sizeof *x);
    for (int round = 0; round < 6 && regular; round++) {
        for (int i = 0; i < n; i++) {
            r[i] = b[i];
            for (int j = 0; j < n; j++) r[i] -= A[(size_t)i * size + (size_t)j] * x[j];
            r[i] *= d[i];
        }
        for (int i = 0; i < n; i++) {
            real keep = r[pivot[i]];
            r[pivot[i]] = r[i], r[i] = keep;
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) r[i] -= LU[(size_t)i * size + (size_t)j] * r[j];
        for (int i = n - 1; i >= 0; i--) {
            for (int j = i + 1; j < n; j++) r[i] -= LU[(size_t)i * size + (size_t)j] * r[j];
            r[i] /= LU[(size_t)i * size + (size_t)i];
        }
        for (int i = 0; i < n; i++) x[i] += e[i] * r[i];
    }

    free(LU), free(pivot);
    return regular;
}

bool extended_accelerations(const lw_model *model, double t, const double *q, const double *v,
                            const double *tau, double noise, unsigned seed, double *vdot) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    lw_newton_euler *s = lw_newton_euler_create(model, LW_HOLD_NONE);
    lw_random random = random_seed(seed + 900001u);
    assert_non_null(s);
    lw_newton_euler_at(s, t, q, v, tau);
    const lw_rows *rows = s->rows;
    int *row = calloc((size_t)rows->count + 1, sizeof *row);
    assert_non_null(row);
    int M = 6 * model->body_count, N = independent(s, row), n = M + N;
    size_t size = (size_t)n;
    double largest = 0;
    real *A = calloc(size * size + 2 * size + 1, sizeof *A), *b = A + size * size, *x = b + size;
    assert_non_null(A);
#define DISTURBED(number) ((real)(number) * (1 + (real)noise * (real)random_between(&random, -1, 1)))
    for (int i = 0; i < M / 6; i++)
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l <= k; l++) {
                real entry = DISTURBED(s->inertia[6 * i + symmetric[3 * k + l]]);
                A[(size_t)(6 * i + k) * size + (size_t)(6 * i + l)] = entry;
                A[(size_t)(6 * i + l) * size + (size_t)(6 * i + k)] = entry;
            }
            A[(size_t)(6 * i + 3 + k) * (size + 1)] = DISTURBED(s->mass[i]);
            b[6 * i + k] = DISTURBED(s->u[6 * i + k]);
            b[6 * i + 3 + k] = DISTURBED(s->u[6 * i + 3 + k]);
        }
    for (int r = 0; r < N; r++)
        largest = fmax(largest, fabs(rows->gamma[row[r]])); /* rows are sums of terms */
    for (int r = 0; r < N; r++) {
        const lw_row *own = &rows->rows[row[r]];
        b[M + r] = DISTURBED(-rows->gamma[row[r]]) - (DISTURBED(1) - 1) * (real)largest;
        for (int block = own->block; block < own->block + own->count; block++)
            for (int k = 0; k < 6; k++) {
                size_t at = (size_t)(6 * (rows->body[block] - 1) + k);
                double part =
                    lw_v3_norm(rows->H + 6 * block + (k < 3 ? 0 : 3)); /* a direction is rounded as a whole */
                real entry = -(real)rows->H[6 * block + k] + (DISTURBED(1) - 1) * (real)part;
                A[at * size + (size_t)(M + r)] += entry;
                A[(size_t)(M + r) * size + at] += entry;
            }
    }
#undef DISTURBED
    bool regular = eliminate(n, A, b, x);
    for (int k = 0; k < M; k++) s->a[k] = (double)x[k];
    lw_rows_joint_accelerations(model, rows, s->a, vdot);
    free(A), free(row);
    lw_newton_euler_destroy(s);
    return regular;
}
