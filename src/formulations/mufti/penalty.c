/* penalty.c - the formulation `penalty`: rows as stiff resistances instead of conditions.
 *
 *   (J + H k H') a = u + H k gamma,   lambda = k (gamma - H'a)
 *
 * is the minimum of Gauss's function (39) plus 1/2 (H'a - gamma)' k (H'a - gamma). The rows are violated by
 * H'a - gamma = -lambda / k, so that the error falls as 1 / k. The rounding of J + H k H' grows as k;
 * corrections with the residuals of the two original equations remove it. k_r is `penalty` times the mean
 * inertia along row r, so that `penalty` has no unit.
 *
 * Source   Mufti (1983), remark 1, eq. 39; docs/theory/penalty.md.
 * Cost     dense Cholesky, O(M^3) with M = 6 bodies. Dependent rows do no harm: H k H' may have any rank.
 * Check    the change in one step of the method of multipliers is the error; too large an error is refused.
 * Limits   approximate by design: about 1e-7 with the default penalty. J may be singular as long as
 *          J + H k H' is not.
 */
#include "formulations/common/absolute_method_base.h"
#include "constraints/characteristic_length.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

/* The default gives an error of about 1e-7, and admits bodies of 1e-6 of the mass of others
 * (docs/theory/penalty.md, section 3). */
static const double default_penalty = 3e8;

typedef struct penalty_method {
    lw_absolute_method absolute_base;
    double penalty, length;
    double *k;            /* per row: its stiffness */
    double *Ht;           /* 6 per block: H in dimensionless coordinates, characteristic_length.h */
    double *A, *a, *next; /* next: a after a step of the method of multipliers */
    double *next_lambda;  /* per row: the multipliers after that step */
    /* residual forces on each body, and the sum of the magnitudes of all forces on it */
    double *left;
    double *open; /* per row: k times its residual */
    lw_symmetric *symmetric;
    double condition;
} penalty_method;

extern const lw_formulation lw_formulation_penalty;

static lw_status applies(const lw_model *model, lw_error *error) {
    lw_status status = lw_dense_limit("penalty", 6 * model->body_count, error);
    return status == LW_OK ? lw_needs_determined(model, error) : status;
}

/* k_r = penalty h'J h / |h|^4, the mean inertia along the row; where this is zero, the inertia of the whole
 * mechanism is used. */
static void weigh_rows(penalty_method *m) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    double total = 0, square_length = m->length * m->length;
    for (int b = 0; b < rows->block_count; b++)
        for (int k = 0; k < 6; k++) m->Ht[6 * b + k] = rows->H[6 * b + k] * (k < 3 ? 1 : m->length);
    for (int i = 0; i < s->model->body_count; i++) {
        const double *I = s->inertia + 6 * i;
        total += I[0] + I[1] + I[2] + s->mass[i] * square_length;
    }
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        double square = 0, inertia = 0, Ih[3];
        for (int b = row->block; b < row->block + row->count; b++) {
            const double *h = m->Ht + 6 * b;
            int i = rows->body[b] - 1;
            lw_s3_mul_v(s->inertia + 6 * i, h, Ih);
            square += lw_v6_dot(h, h);
            inertia += lw_v3_dot(h, Ih) + s->mass[i] * square_length * lw_v3_dot(h + 3, h + 3);
        }
        if (!(inertia > 0)) inertia = total * square;
        m->k[r] = square > 0 ? m->penalty * inertia / (square * square) : 0;
    }
}

/* Computes the lower triangle of J + H k H'. */
static void assemble(penalty_method *m) {
    static const int symmetric[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    size_t M = 6 * (size_t)s->model->body_count;
    memset(m->A, 0, M * M * sizeof *m->A);
    for (size_t i = 0; i < M / 6; i++) {
        double *block = m->A + 6 * i * (M + 1);
        for (size_t k = 0; k < 9; k++) block[k % 3 + k / 3 * M] = s->inertia[6 * i + (size_t)symmetric[k]];
        for (size_t k = 3; k < 6; k++) block[k * (M + 1)] = s->mass[i] * m->length * m->length;
    }
    for (int r = 0; r < rows->count; r++) {
        const lw_row *row = &rows->rows[r];
        for (int b = row->block; b < row->block + row->count; b++)
            for (int c = row->block; c < row->block + row->count; c++) {
                if (rows->body[b] < rows->body[c]) continue;
                const double *hb = m->Ht + 6 * b, *hc = m->Ht + 6 * c;
                double *block = m->A + 6 * (size_t)(rows->body[b] - 1) + 6 * (size_t)(rows->body[c] - 1) * M;
                for (size_t j = 0; j < 6; j++) lw_v6_axpy(m->k[r] * hc[j], hb, block + j * M);
            }
    }
}

/* Computes left = u - J a + H lambda, the residual of the first of the equations (7). */
static void take_balance(const penalty_method *m, const double *a, const double *lambda, double *left) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    double Iw[3], square_length = m->length * m->length;
    for (int i = 0; i < s->model->body_count; i++) {
        lw_s3_mul_v(s->inertia + 6 * i, a + 6 * i, Iw);
        for (int k = 0; k < 3; k++) {
            left[6 * i + k] = s->u[6 * i + k] - Iw[k];
            left[6 * i + 3 + k] =
                s->u[6 * i + 3 + k] * m->length - s->mass[i] * square_length * a[6 * i + 3 + k];
        }
    }
    for (int r = 0; r < rows->count; r++)
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            lw_v6_axpy(lambda[r], m->Ht + 6 * b, left + 6 * (rows->body[b] - 1));
}

/* The entry of H'a of one row. */
static double along_row(const penalty_method *m, int r, const double *a) {
    const lw_rows *rows = m->absolute_base.system->rows;
    double sum = 0;
    for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
        sum += lw_v6_dot(m->Ht + 6 * b, a + 6 * (rows->body[b] - 1));
    return sum;
}

/* Solves J a - H lambda = u, H'a + (lambda - given) / k = gamma, in dimensionless coordinates (7), (8), by
 * elimination of lambda and corrections with the residuals of the two equations. In the sum J + H k H' the
 * inertia of a light body is lost beside k times that of a heavy one; in the two equations it is not. */
static void minimise(penalty_method *m, const double *given, double *a, double *lambda) {
    enum { CORRECTIONS = 2 };
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    int M = 6 * s->model->body_count;
    memset(a, 0, (size_t)M * sizeof *a);
    memset(lambda, 0, (size_t)rows->count * sizeof *lambda);
    for (int round = 0; round <= CORRECTIONS; round++) {
        double *step = m->left;
        take_balance(m, a, lambda, step);
        for (int r = 0; r < rows->count; r++) {
            double already = given ? given[r] - lambda[r] : -lambda[r];
            m->open[r] = m->k[r] * (rows->gamma[r] - along_row(m, r, a)) + already; /* k times the residual */
            for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
                lw_v6_axpy(m->open[r], m->Ht + 6 * b, step + 6 * (rows->body[b] - 1));
        }
        lw_cholesky_solve(m->symmetric, M, m->A, 1, step);
        for (int r = 0; r < rows->count; r++) lambda[r] += m->open[r] - m->k[r] * along_row(m, r, step);
        for (int k = 0; k < M; k++) a[k] += step[k];
    }
}

/* Returns the largest residual of the forces on a body, relative to the sum of their magnitudes, and the body
 * concerned. A body of little inertia, lost in rounding beside k, has a large residual. */
static double unbalanced(const penalty_method *m, int *body) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    int bodies = s->model->body_count;
    double *left = m->left, *terms = m->left + 6 * bodies, worst = 0;
    take_balance(m, m->a, s->lambda, left);
    for (int i = 0; i < bodies; i++) {
        terms[i] = 0;
        for (int k = 0; k < 6; k++) terms[i] += fabs(s->u[6 * i + k]) * (k < 3 ? 1 : m->length);
    }
    for (int r = 0; r < rows->count; r++)
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            for (int k = 0; k < 6; k++) terms[rows->body[b] - 1] += fabs(s->lambda[r] * m->Ht[6 * b + k]);
    for (int i = 0; i < bodies; i++)
        for (int k = 0; k < 6; k++)
            if (fabs(left[6 * i + k]) > worst * terms[i])
                worst = fabs(left[6 * i + k]) / terms[i], *body = i + 1;
    return worst;
}

/* An acceleration that is usual in this state, with dimensionless lengths: that which the forces would cause
 * on the mechanism as a whole, and no more than gravity, speeds and prescribed motions cause or than bodies
 * have in the mean, by their masses. What presses on a body of 1e-9 kg that its joints hold would accelerate
 * it by 1e10, and an error is not small beside that; in the mean by masses such a body does not count. */
static double usual_acceleration(const penalty_method *m) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    double force = 0, mass = 0, square = 0, motion = lw_v3_norm(s->model->gravity) / m->length;
    for (int i = 0; i < s->model->body_count; i++) {
        const double *w = s->data->motion[i + 1].V;
        force += lw_v3_norm(s->u + 6 * i) / m->length + lw_v3_norm(s->u + 6 * i + 3);
        mass += s->mass[i] * m->length;
        square += s->mass[i] * m->length * lw_v6_dot(m->a + 6 * i, m->a + 6 * i);
        motion = fmax(motion, lw_v3_dot(w, w));
    }
    for (int r = 0; r < rows->count; r++) {
        double size = 0;
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++)
            size += lw_v6_dot(m->Ht + 6 * b, m->Ht + 6 * b);
        if (size > 0) motion = fmax(motion, fabs(rows->gamma[r]) / sqrt(size));
    }
    return mass > 0 ? fmin(force / mass, fmax(motion, sqrt(square / mass))) : 0;
}

/* Returns the error over the largest error that is allowed, 1e-4 of the accelerations with the default
 * penalty. The rows are violated by lambda / k. With these multipliers as applied forces the violation is far
 * smaller, so that the change in such a step is the error, provided that the rows are enforced at all. An
 * error out of proportion to 1 / penalty means that rows transmit forces too large for the masses on which
 * they act: heavy bodies attached to light ones. */
static double yielding(const penalty_method *m) {
    const lw_newton_euler *s = m->absolute_base.system;
    const lw_rows *rows = s->rows;
    const double share = 3e4, open = 1e-2;
    double usual = usual_acceleration(m), worst = 0;
    for (int i = 0; i < s->model->body_count; i++) {
        double change = 0, size = usual * usual;
        for (int k = 6 * i; k < 6 * i + 6; k++) {
            change += (m->next[k] - m->a[k]) * (m->next[k] - m->a[k]);
            size += m->a[k] * m->a[k];
        }
        if (change > 0) worst = fmax(worst, sqrt(change / size) * m->penalty / share);
    }
    for (int r = 0; r < rows->count && m->penalty > share; r++) {
        double terms = fabs(rows->gamma[r]);
        for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++) {
            const double *h = m->Ht + 6 * b, *a = m->a + 6 * (rows->body[b] - 1);
            terms += fabs(lw_v6_dot(h, a)) + usual * sqrt(lw_v6_dot(h, h));
        }
        if (m->k[r] > 0 && s->lambda[r] != 0)
            worst = fmax(worst, fabs(s->lambda[r]) / (m->k[r] * terms * open));
    }
    return worst;
}

static lw_status judge(const penalty_method *m, lw_error *error) {
    const lw_model *model = m->absolute_base.system->model;
    const double lost = 1e-4;
    int lightest = 0;
    double missing = unbalanced(m, &lightest);
    if (!(missing < lost)) {
        const lw_body *body = &model->bodies[lightest];
        return lw_fail_at(
            error, LW_ERROR_SINGULAR, model->file, body->place, "body", body->name,
            "take an exact method, such as rcr or lagrange, or a smaller penalty (--penalty)",
            "with penalty %g rounding leaves %.2g of the forces on it: its inertia is lost beside "
            "the penalty of the rows",
            m->penalty, missing);
    }
    if (yielding(m) < 1) return LW_OK;
    return lw_fail(
        error, LW_ERROR_SINGULAR, NULL, "take an exact method, such as rcr or lagrange",
        "with penalty %g the rows yield by more than they should: bodies of very different mass are "
        "connected%s",
        m->penalty,
        model->closure_count || model->constraint_count ? ", or the mechanism is near a singular position"
                                                        : "");
}

static lw_status solve(lw_absolute_method *absolute_base, lw_error *error) {
    const double largest_condition = 1e15; /* Beyond it J is lost in the rounding of H k H'. */
    penalty_method *m = (penalty_method *)absolute_base;
    lw_newton_euler *s = absolute_base->system;
    int M = 6 * s->model->body_count;
    m->length = lw_body_length(s);
    weigh_rows(m);
    assemble(m);
    bool definite = lw_cholesky_factor(m->symmetric, M, m->A, &m->condition);
    if (!definite || !(m->condition < largest_condition))
        return lw_fail(
            error, LW_ERROR_SINGULAR, NULL,
            "give mass or inertia to bodies that move freely without any, or take a smaller penalty",
            "with penalty %g the equations of motion are singular to rounding", m->penalty);

    minimise(m, NULL, m->a, s->lambda);
    minimise(m, s->lambda, m->next, m->next_lambda);
    for (int k = 0; k < M; k++) s->a[k] = m->a[k] * (k % 6 < 3 ? 1 : m->length);
    return judge(m, error);
}

static void destroy(lw_method *base) {
    penalty_method *m = (penalty_method *)base;
    if (!m) return;
    lw_symmetric_destroy(m->symmetric);
    lw_absolute_method_destroy(&m->absolute_base);
}

static lw_status create(const lw_model *model, const lw_method_options *options, lw_method **out,
                        lw_error *error) {
    penalty_method *m = (penalty_method *)lw_absolute_method_create(sizeof *m, &lw_formulation_penalty, model,
                                                                    options, solve);
    if (!m) return lw_out_of_memory(error);
    const lw_rows *rows = m->absolute_base.system->rows;
    size_t M = 6 * (size_t)model->body_count;
    m->penalty = options->penalty > 0 ? options->penalty : default_penalty;
    lw_arena *arena = m->absolute_base.system->arena;
    m->k = LW_NEW(arena, double, rows->count + 1);
    m->Ht = LW_NEW(arena, double, 6 * rows->block_count + 1);
    m->A = LW_NEW(arena, double, M *M + 1);
    m->a = LW_NEW(arena, double, M + 1);
    m->next = LW_NEW(arena, double, M + 1);
    m->next_lambda = LW_NEW(arena, double, rows->count + 1);
    m->open = LW_NEW(arena, double, rows->count + 1);
    m->left = LW_NEW(arena, double, 2 * M + 1);
    m->symmetric = lw_symmetric_create((int)M);
    return lw_absolute_method_finish(&m->absolute_base, !lw_arena_failed(arena) && m->symmetric, out, error);
}

static double condition(lw_method *base) { return ((penalty_method *)base)->condition; }

const lw_formulation lw_formulation_penalty = {
    .name = "penalty",
    .source = "mufti1983 remark 1, 39",
    .cost = "O(n^3), dense",
    .dense = true,
    .summary = "rows as stiff resistances: approximate, the error is proportional to 1 / penalty",
    .coordinates = LW_COORDINATES_ABSOLUTE,
    .rank = 90,
    .accuracy = 1e-5,
    .applies = applies,
    .create = create,
    .destroy = destroy,
    LW_ABSOLUTE_FUNCTIONS,
    .condition = condition,
};
