/* reproduce_arnold2013.c - M. Arnold (2013): the two oscillators of sect. 2.2, the two chains of sect. 4, a
 * walking machine.
 *
 * The paper prints no data of its examples and few numbers; examples of problems/ are used instead, and
 * statements of the paper are checked: O(epsilon) is the exponent 1. The factor 4 of the walking machine is
 * that of Weber et al. (2012), for another machine.
 */
#include "reproduce.h"

#include <linkwork/neglect.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- linear systems z' = A z ------------------------------------------------------------------------ */

enum { LINEAR_MAX = 6 };
typedef struct linear {
    int n;
    double A[LINEAR_MAX][LINEAR_MAX], z[LINEAR_MAX];
} linear;

static void multiply(int n, double (*a)[LINEAR_MAX], double (*b)[LINEAR_MAX], double (*c)[LINEAR_MAX]) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i][j] = 0;
            for (int k = 0; k < n; k++) c[i][j] += a[i][k] * b[k][j];
        }
}

/* E = exp(A h) by its series for A h / 2^k, squared k times. */
static void exponential(const linear *s, double h, double E[LINEAR_MAX][LINEAR_MAX]) {
    double X[LINEAR_MAX][LINEAR_MAX], term[LINEAR_MAX][LINEAR_MAX], next[LINEAR_MAX][LINEAR_MAX], norm = 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) norm = fmax(norm, fabs(s->A[i][j] * h));
    int squarings = norm > 0.1 ? (int)ceil(log2(10 * norm)) : 0;
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) {
            X[i][j] = ldexp(s->A[i][j] * h, -squarings);
            E[i][j] = term[i][j] = i == j;
        }
    /* Entries are at most 0.1, so that the 20th term is far below rounding. */
    for (int k = 1; k <= 20; k++) {
        multiply(s->n, X, term, next);
        for (int i = 0; i < s->n; i++)
            for (int j = 0; j < s->n; j++) E[i][j] += term[i][j] = next[i][j] / k;
    }
    for (int k = 0; k < squarings; k++) {
        multiply(s->n, E, E, next);
        memcpy(E, next, sizeof next);
    }
}

static void step(linear *s, double E[LINEAR_MAX][LINEAR_MAX]) {
    double z[LINEAR_MAX] = {0};
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < s->n; j++) z[i] += E[i][j] * s->z[j];
    memcpy(s->z, z, sizeof z);
}

/* --- models ---------------------------------------------------------------------------------------- */

static double parameter(const lw_spec *spec, const char *name) {
    for (size_t k = 0; k < lw_spec_parameter_count(spec); k++) {
        double value;
        if (strcmp(lw_spec_parameter(spec, k, &value), name) == 0) return value;
    }
    return NAN;
}

/* Makes the two oscillators with this m1 and, if d > 0, this damping. */
static lw_status oscillators(double m1, double d, lw_spec **spec, lw_model **model, lw_error *error) {
    *model = NULL;
    lw_status status = reproduce_spec("two_oscillators", "m1", m1, spec, error);
    if (status != LW_OK) return status;
    for (size_t k = 0; d > 0 && k < lw_spec_force_count(*spec); k++)
        if (lw_spec_force(*spec, k)->type == LW_FORCE_TORSION) lw_spec_force(*spec, k)->damping = d;
    return reproduce_compile(*spec, model, error);
}

/* --- fig. 2: number of steps ------------------------------------------------------------------------ */

static const char *const stiff_codes[] = {"ida", "bdf"};
enum { CODES = 2 };

static lw_status count_steps(reproduction *r, const lw_model *model, const char *integrator, double *steps,
                             lw_error *error) {
    lw_run_options options;
    lw_run_summary summary;
    lw_run_defaults(model, &options);
    options.method = "massless";
    options.integrator = integrator;
    options.tolerance = 1e-6;
    options.output = options.step = options.end; /* Only the error limits steps. */
    lw_status status = reproduce_working(r, error, "%s by %s", lw_model_name(model), integrator);
    if (status == LW_OK) status = lw_simulate(model, &options, NULL, NULL, &summary, error);
    *steps = status == LW_OK ? (double)summary.steps : NAN;
    return status;
}

static lw_status fig2(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"m1/m2", "ida", "bdf", "ida, m1 = 0", "bdf, m1 = 0"};
    static const char *const panel[] = {"*"};
    enum { DECADES = 10 };
    const double d = 0.1; /* N s/m, so small that the light mass oscillates for long */
    double limit[CODES], most[CODES] = {0};
    reproduce_table table;
    lw_status status = reproduce_table_create(&table, headers, 1 + 2 * CODES, DECADES + 1, error);
    for (int row = -1; row <= DECADES && status == LW_OK; row++) { /* Row -1 is the limit m1 = 0. */
        double ratio = row < 0 ? 0 : pow(10, -row), m2 = 1;
        lw_spec *spec;
        lw_model *model;
        status = oscillators(ratio * m2, d, &spec, &model, error);
        for (int c = 0; c < CODES && status == LW_OK; c++) {
            double steps;
            status = count_steps(r, model, stiff_codes[c], &steps, error);
            if (row < 0) {
                limit[c] = steps;
            } else {
                *reproduce_at(&table, row, 0) = ratio;
                *reproduce_at(&table, row, 1 + c) = steps;
                *reproduce_at(&table, row, 1 + CODES + c) = limit[c];
                most[c] = fmax(most[c], steps);
            }
        }
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    /* "The number of time steps and the computing time increase significantly"; for m1 = 0 "the integrator
     * can use large stepsizes". Below some m1 the damper stops the swinging at once, and the number falls
     * again. */
    for (int c = 0; c < CODES && status == LW_OK; c++)
        status = reproduce_expect(r, NAN, most[c] / limit[c], 3, INFINITY, error,
                                  "most steps over those for m1 = 0, %s", stiff_codes[c]);
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table,
            &(lw_plot_options){
                .columns = panel, .count = 1, .quantity = "steps", .log_x = true, .log_y = true},
            error);
    reproduce_table_clear(&table);
    return status;
}

/* --- runs against exact motions ---------------------------------------------------------------------- */

enum { SAMPLES = 100 };

/* Records all coordinates in columns from first on. */
static lw_status trace_run(reproduction *r, const lw_model *model, const char *method, const char *integrator,
                           double tolerance, reproduce_table *table, int first, lw_error *error) {
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = method;
    options.integrator = integrator;
    options.tolerance = tolerance;
    options.output = options.end / SAMPLES;
    return reproduce_run(r, model, &options,
                         &(reproduce_trace){table, first, lw_model_q_size(model), all, false}, error);
}

/* (6) and (5b) with F(t) = F sin(10 t): z = q1, p2, p2', sin, cos. */
static void oscillator_limit(const lw_spec *spec, linear *s) {
    double c = parameter(spec, "c"), d = parameter(spec, "d"), m2 = parameter(spec, "m2"), w = 10;
    double *q1 = s->A[0], *p2 = s->A[1], *u2 = s->A[2], *sine = s->A[3], *cosine = s->A[4];
    *s = (linear){.n = 5, .z = {0.02, 0.07, 0, 0, 1}};
    q1[0] = -2 * c / (2 * d), q1[1] = c / (2 * d), q1[2] = d / (2 * d);
    q1[3] = parameter(spec, "F") / (2 * d);
    p2[2] = 1;
    for (int k = 0; k < 4; k++) u2[k] = d / m2 * q1[k];
    u2[0] += c / m2, u2[1] -= c / m2, u2[2] -= d / m2;
    sine[4] = w, cosine[3] = -w;
}

/* Computes the coordinates q1, q2 = p2 - q1 of the exact limit in two columns. */
static void exact_oscillators(const lw_spec *spec, reproduce_table *table, int first) {
    linear s;
    double E[LINEAR_MAX][LINEAR_MAX];
    oscillator_limit(spec, &s);
    exponential(&s, lw_spec_run(spec)->end / SAMPLES, E);
    for (int row = 0; row <= SAMPLES; row++, step(&s, E)) {
        *reproduce_at(table, row, first) = s.z[0];
        *reproduce_at(table, row, first + 1) = s.z[1] - s.z[0];
    }
}

static double difference(const reproduce_table *table, int a, int b, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, reproduce_difference(table, a + k, b + k));
    return most;
}

/* Computes the error estimate of --neglect-mass over the true error. */
static lw_status estimate_over_truth(double ratio, double truth, double *quotient, lw_error *error) {
    lw_spec *spec;
    lw_model *model;
    lw_neglect *neglect = NULL;
    lw_neglect_error estimate;
    lw_run_options options;
    lw_status status = oscillators(ratio, 0, &spec, &model, error);
    if (status == LW_OK) status = lw_neglect_create(spec, 2 * ratio, &neglect, error);
    if (status == LW_OK) {
        lw_run_defaults(model, &options);
        options.method = "massless";
        status = lw_neglect_estimate(neglect, &options, &estimate, error);
    }
    if (status == LW_OK) *quotient = estimate.largest / truth;
    lw_neglect_destroy(neglect);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status;
}

static lw_status limit(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"m1/m2", "error of q1, q2 [m]", "estimated [m]"};
    static const char *const columns[] = {"t", "a", "b", "c", "d"};
    static const char *const panel[] = {"*"};
    enum { DECADES = 5 };
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    reproduce_table table, run = {.values = NULL};
    lw_status status = reproduce_table_create(&table, headers, 3, DECADES + 1, error);
    if (status == LW_OK) status = reproduce_table_create(&run, columns, 5, SAMPLES + 1, error);
    if (status == LW_OK) status = oscillators(0, 0, &spec, &model, error);
    if (status == LW_OK) exact_oscillators(spec, &run, 3);
    for (int c = 0; c < CODES && status == LW_OK; c++) {
        status = trace_run(r, model, "massless", stiff_codes[c], 1e-11, &run, 1, error);
        if (status == LW_OK)
            status =
                reproduce_expect(r, NAN, difference(&run, 1, 3, 2), 0, 1e-8, error,
                                 "m1 = 0, %s: difference from the exact solution of (6), m", stiff_codes[c]);
    }
    lw_model_destroy(model);
    for (int row = 0; row <= DECADES && status == LW_OK; row++) {
        double ratio = pow(10, -1 - row), quotient = NAN, truth;
        lw_spec *heavy;
        status = oscillators(ratio, 0, &heavy, &model, error);
        if (status == LW_OK) status = trace_run(r, model, "tree", "bdf", 1e-11, &run, 1, error);
        lw_model_destroy(model);
        lw_spec_destroy(heavy);
        if (status != LW_OK) break;
        *reproduce_at(&table, row, 0) = ratio;
        *reproduce_at(&table, row, 1) = truth = difference(&run, 1, 3, 2);
        status = estimate_over_truth(ratio, truth, &quotient, error);
        *reproduce_at(&table, row, 2) = quotient * truth;
        /* A decision needs the order of magnitude only. */
        if (status == LW_OK)
            status = reproduce_expect(r, NAN, quotient, 0.5, 2, error,
                                      "estimate of --neglect-mass over the true error, m1/m2 = %g", ratio);
    }
    if (status == LW_OK) /* m1 is not small in the first decade. */
        status = reproduce_expect(r, 1, reproduce_exponent(&table, 0, 1, 1, DECADES + 1), 0.95, 1.05, error,
                                  "exponent of m1 in the difference from the limit m1 = 0");
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table,
            &(lw_plot_options){
                .columns = panel, .count = 1, .quantity = "difference", .log_x = true, .log_y = true},
            error);
    reproduce_table_clear(&table);
    reproduce_table_clear(&run);
    lw_spec_destroy(spec);
    return status;
}

/* --- sect. 4: two chains ----------------------------------------------------------------------------- */

typedef struct chain {
    const char *problem, *name;
    int columns; /* number of joint coordinates */
    void (*system)(const lw_spec *spec, linear *s);
    void (*coordinates)(const double *z, double *q);
} chain;

/* (34), (35) with p_j = q_i + q_j: z = q_ix, q_iy, p_jx, p_jy, p_jx', p_jy'. */
static void upper_system(const lw_spec *spec, linear *s) {
    double mj = parameter(spec, "mj"), cx = parameter(spec, "cx"), cy = parameter(spec, "cy");
    double dx = parameter(spec, "dx"), dy = parameter(spec, "dy"), cj = parameter(spec, "cj");
    double dj = parameter(spec, "dj"), *ix = s->A[0], *ux = s->A[4];
    *s = (linear){.n = 6, .z = {0.1, 0.2, 0.4, 0.1, -1, 0.5}};
    ix[0] = -(cx + cj) / (dx + dj), ix[2] = cj / (dx + dj), ix[4] = dj / (dx + dj);
    s->A[1][1] = -cy / dy;
    s->A[2][4] = s->A[3][5] = 1;
    for (int k = 0; k < 6; k++) ux[k] = dj / mj * ix[k];
    ux[0] += cj / mj, ux[2] -= cj / mj, ux[4] -= dj / mj;
}

static void upper_coordinates(const double *z, double *q) {
    q[0] = z[0], q[1] = z[1], q[2] = z[2] - z[0], q[3] = z[3] - z[1];
}

/* The equations below (36): z = q_ix, q_iy, q_ix', p_jy, p_jy'. */
static void lower_system(const lw_spec *spec, linear *s) {
    double mj = parameter(spec, "mj");
    *s = (linear){.n = 5, .z = {0.1, 0.2, 0.7, 0.1, 0.5}};
    s->A[0][2] = s->A[3][4] = 1;
    s->A[1][1] = -parameter(spec, "cy") / parameter(spec, "dy");
    s->A[2][0] = -parameter(spec, "cx") / mj, s->A[2][2] = -parameter(spec, "dx") / mj;
}

static void lower_coordinates(const double *z, double *q) { q[0] = z[0], q[1] = z[1], q[2] = z[3] - z[1]; }

static const chain chains[] = {
    {"arnold_sect4_upper", "upper", 4, upper_system, upper_coordinates},
    {"arnold_sect4_lower", "lower", 3, lower_system, lower_coordinates},
};
enum { CHAINS = 2 };

static lw_status chain_runs(reproduction *r, const chain *c, reproduce_table *table, int first,
                            lw_error *error) {
    static const char *const integrators[] = {"ida", "bdf", "erk"};
    static const char *const columns[] = {"t", "a", "b", "c", "d", "e", "f", "g", "h"};
    reproduce_table run = {.values = NULL};
    lw_spec *spec;
    lw_model *model = NULL;
    lw_status status = reproduce_spec(c->problem, NULL, 0, &spec, error);
    if (status == LW_OK) status = reproduce_compile(spec, &model, error);
    if (status == LW_OK) status = reproduce_table_create(&run, columns, 9, SAMPLES + 1, error);
    if (status == LW_OK) {
        linear s;
        double E[LINEAR_MAX][LINEAR_MAX];
        c->system(spec, &s);
        exponential(&s, lw_spec_run(spec)->end / SAMPLES, E);
        for (int row = 0; row <= SAMPLES; row++, step(&s, E)) c->coordinates(s.z, reproduce_at(&run, row, 5));
    }
    for (int k = 0; k < 3 && status == LW_OK; k++) {
        status = trace_run(r, model, "massless", integrators[k], 1e-12, &run, 1, error);
        if (status == LW_OK)
            status = reproduce_expect(r, NAN, difference(&run, 1, 5, c->columns), 0, 1e-8, error,
                                      "%s configuration, %s: difference from the matrix exponential, m",
                                      c->name, integrators[k]);
    }
    for (int row = 0; row <= SAMPLES && status == LW_OK; row++) {
        *reproduce_at(table, row, 0) = *reproduce_at(&run, row, 0);
        for (int k = 0; k < 3; k++) *reproduce_at(table, row, first + k) = *reproduce_at(&run, row, 1 + k);
    }
    reproduce_table_clear(&run);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status;
}

static lw_status sect4(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"t [s]",           "upper, q_ix [m]", "upper, q_iy [m]",
                                          "upper, q_jx [m]", "lower, q_ix [m]", "lower, q_iy [m]",
                                          "lower, q_jy [m]"};
    static const char *const panels[] = {"upper, *", "lower, *"};
    reproduce_table table;
    lw_status status = reproduce_table_create(&table, headers, 7, SAMPLES + 1, error);
    for (int k = 0; k < CHAINS && status == LW_OK; k++)
        status = chain_runs(r, &chains[k], &table, 1 + 3 * k, error);
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 2}, error);
    reproduce_table_clear(&table);
    return status;
}

/* --- the condensed equations (33)-(36) ---------------------------------------------------------------- */

/* One row of a linear equation M a + D v + K q = 0 of the joint coordinates, as the paper writes it. */
typedef struct equation {
    const char *name;
    int own; /* the speed that an equation of first order determines */
    double M[4], D[4], K[4];
} equation;

/* Computes the same row by the library, as a combination of the rows of inverse dynamics, whose coefficients
 * are found with unit vectors. Returns the largest difference of a coefficient. */
static double compare_equation(const lw_model *model, lw_data *data, const double *combination,
                               const equation *e) {
    int n = lw_model_v_size(model);
    double most = 0;
    for (int level = 0; level < 3; level++)
        for (int k = 0; k < n; k++) {
            double unit[4] = {0}, zero[4] = {0}, tau[4], sum = 0;
            unit[k] = 1;
            if (lw_tree_inverse_dynamics(model, data, 0, level == 0 ? unit : zero, level == 1 ? unit : zero,
                                         level == 2 ? unit : zero, tau, NULL) != LW_OK)
                return NAN;
            for (int i = 0; i < n; i++) sum += combination[i] * tau[i];
            most = fmax(most, fabs(sum - (level == 0 ? e->K : level == 1 ? e->D : e->M)[k]));
        }
    return most;
}

/* Computes J'M-bar J of body i by (17a) in joint coordinates: the mass matrix after elimination of joint j,
 * the last rows. */
static void condensed_mass(const lw_model *model, lw_data *data, double M[2][2]) {
    double mass[16];
    int n = lw_model_v_size(model);
    lw_tree_mass_matrix(model, data, 0, (const double[4]){0}, mass);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            M[i][k] = mass[i * n + k];
            for (int j = 2; j < n; j++) /* The block of j is diagonal. */
                M[i][k] -= mass[i * n + j] * mass[j * n + k] / mass[j * n + j];
        }
}

/* Checks that the accelerations by method massless satisfy the equations, those of first order after
 * differentiation. Computes the largest residual at unit states, relative to the largest coefficient. */
static lw_status solved(const lw_model *model, const equation *equations, int second, int first,
                        double *residual, lw_error *error) {
    int n = lw_model_v_size(model);
    lw_status status = LW_OK;
    *residual = 0;
    for (int k = 0; k < 2 * n && status == LW_OK; k++) {
        double q[4] = {0}, v[4] = {0}, a[4];
        if (k < n)
            q[k] = 1;
        else
            v[k - n] = 1;
        /* Velocities must satisfy the first-order equations. */
        for (int e = second; e < second + first; e++) {
            const equation *row = &equations[e];
            int own = row->own;
            double sum = 0;
            for (int i = 0; i < n; i++) sum += row->K[i] * q[i] + (i == own ? 0 : row->D[i] * v[i]);
            v[own] = -sum / row->D[own];
        }
        status = lw_accelerations(model, "massless", 0, q, v, a, NULL, NULL, error);
        for (int e = 0; e < second + first && status == LW_OK; e++) {
            const equation *row = &equations[e];
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += e < second ? row->M[i] * a[i] + row->D[i] * v[i] + row->K[i] * q[i]
                                  : row->D[i] * a[i] + row->K[i] * v[i]; /* its time derivative */
            *residual = fmax(*residual, fabs(sum));
        }
    }
    return status;
}

static lw_status condense(reproduction *r, const chain *c, double mi, lw_error *error) {
    bool upper = c == &chains[0];
    lw_spec *spec;
    lw_model *model = NULL;
    lw_data *data = NULL;
    lw_status status = reproduce_spec(c->problem, "mi", mi, &spec, error);
    if (status == LW_OK) status = reproduce_compile(spec, &model, error);
    if (status == LW_OK) status = lw_data_create(model, NULL, &data);
    if (status == LW_OK) {
        double mj = parameter(spec, "mj"), cx = parameter(spec, "cx"), cy = parameter(spec, "cy");
        double dx = parameter(spec, "dx"), dy = parameter(spec, "dy"), M[2][2];
        double cj = upper ? parameter(spec, "cj") : 0, dj = upper ? parameter(spec, "dj") : 0;
        /* The row of a joint is a sum over the bodies that it carries: the equation of body i alone is its
         * row less that of j, where j is free. */
        const equation of_upper[] = {
            {"(35a), (33c)", -1, {mj, 0, mj, 0}, {0, 0, dj, 0}, {0, 0, cj, 0}},
            {"(35b), (33d)", -1, {0, mj, 0, mj}, {0}, {0}},
            {"(34) x, (33a)", 0, {mi, 0, 0, 0}, {dx, 0, -dj, 0}, {cx, 0, -cj, 0}},
            {"(34) y, (33b)", 1, {0, mi, 0, 0}, {0, dy, 0, 0}, {0, cy, 0, 0}},
        };
        const double upper_rows[][4] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, -1, 0}, {0, 1, 0, -1}};
        const equation of_lower[] = {
            {"(36a) + (36c)", -1, {mi + mj, 0, 0}, {dx, 0, 0}, {cx, 0, 0}},
            {"(36d)", -1, {0, mj, mj}, {0}, {0}},
            {"(36b)", 1, {0, mi, 0}, {0, dy, 0}, {0, cy, 0}},
        };
        const double lower_rows[][4] = {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, -1, 0}};
        const equation *equations = upper ? of_upper : of_lower;
        const double(*rows)[4] = upper ? upper_rows : lower_rows;
        int count = upper ? 4 : 3;
        for (int k = 0; k < count && status == LW_OK; k++)
            status = reproduce_expect(r, NAN, compare_equation(model, data, rows[k], &equations[k]), 0, 1e-12,
                                      error, "%s, m_i = %g: coefficients that differ from %s by", c->name, mi,
                                      equations[k].name);
        condensed_mass(model, data, M);
        double wrong = fmax(fmax(fabs(M[0][1]), fabs(M[1][0])),
                            fmax(fabs(M[0][0] - (upper ? mi : mi + mj)), fabs(M[1][1] - mi)));
        if (status == LW_OK)
            status =
                reproduce_expect(r, NAN, wrong, 0, 1e-12, error,
                                 "%s, m_i = %g: condensed mass M-bar_i (17a) differs by, kg", c->name, mi);
        /* The bound is rounding: coefficients are up to 300, accelerations up to some 1e4. */
        double residual = NAN;
        int second = mi > 0 ? count : 2, first = count - second;
        if (status == LW_OK) status = solved(model, equations, second, first, &residual, error);
        if (status == LW_OK)
            status =
                reproduce_expect(r, NAN, residual, 0, 1e-8, error,
                                 "%s, m_i = %g: residual of these equations by method massless", c->name, mi);
    }
    lw_data_destroy(data);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status;
}

static lw_status condensed(reproduction *r, lw_error *error) {
    lw_status status = LW_OK;
    for (int k = 0; k < CHAINS && status == LW_OK; k++) {
        status = condense(r, &chains[k], 0.5, error);
        if (status == LW_OK) status = condense(r, &chains[k], 0, error);
    }
    return status;
}

/* --- a walking machine with light legs ---------------------------------------------------------------- */

typedef struct effort {
    double steps, evaluations, seconds;
} effort;

/* Takes the least time of several runs, since other processes can only add to a time. */
static lw_status walk(reproduction *r, const lw_model *model, const char *method, const char *integrator,
                      effort *e, double *way, lw_error *error) {
    const int passes = r->quick ? 1 : 3;
    lw_run_options options;
    lw_run_summary summary = {0};
    double q[16], v[16]; /* 7 coordinates and 6 speeds of the trunk, 2 of each leg */
    lw_run_defaults(model, &options);
    options.method = method;
    options.integrator = integrator;
    if (r->quick) options.end = 1;
    options.output = options.end / 10;
    e->seconds = INFINITY;
    for (int k = 0; k < passes; k++) {
        lw_status status = reproduce_working(r, error, "walker, %s, %s", method, integrator);
        if (status == LW_OK) status = lw_simulate(model, &options, q, v, &summary, error);
        if (status != LW_OK) return status;
        e->seconds = fmin(e->seconds, summary.wall_s);
    }
    e->steps = (double)summary.steps, e->evaluations = (double)summary.evaluations;
    *way = q[lw_model_joint_info(model, lw_model_joint(model, "trunk")).q];
    return LW_OK;
}

/* Times depend on other processes, so that they are only shown, and evaluations are checked. Light legs make
 * an explicit integrator take short steps: neglecting their inertia must save at least the paper's factor. An
 * implicit one does not suffer from them, and begins anew at each of the 220 contacts and corners of gait,
 * with or without legs (docs/theory/massless.md, 5): no loss of more than a tenth. */
static lw_status tell_effort(reproduction *r, const char *integrator, const effort *with,
                             const effort *without, lw_error *error) {
    const double least = strcmp(integrator, "erk") == 0 ? 4 : 0.9;
    return reproduce_printed(
        r, 4, with->evaluations / without->evaluations, least, INFINITY,
        "the factor 4 is that of Weber et al. (2012) for another robot and another code; this one has "
        "our own data",
        error, "%s: evaluations are less by the factor (steps %g and %g, time by %.2g)", integrator,
        with->steps, without->steps, with->seconds / without->seconds);
}

/* Records distance and height of the trunk in two columns. */
static lw_status trace_walk(reproduction *r, const lw_model *model, const char *method,
                            reproduce_table *table, int first, lw_error *error) {
    lw_run_options options;
    int trunk, q[2];
    lw_status status = reproduce_coordinate(model, "trunk", &trunk, error);
    lw_run_defaults(model, &options);
    options.method = method;
    if (r->quick) options.end = 1;
    options.output = options.end / (table->rows - 1);
    q[0] = trunk, q[1] = trunk + 2;
    if (status != LW_OK) return status;
    return reproduce_run(r, model, &options, &(reproduce_trace){table, first, 2, q, false}, error);
}

/* Makes the machine with and without the inertia of its legs; `neglect` refers to the spec. */
static lw_status open_walkers(lw_spec **spec, lw_neglect **neglect, lw_model **with, lw_model **without,
                              lw_error *error) {
    const double ratio = 5e-3; /* Legs have 2e-3 of the trunk's mass. */
    lw_status status = reproduce_spec("walker", NULL, 0, spec, error);
    if (status == LW_OK) status = reproduce_compile(*spec, with, error);
    if (status == LW_OK) status = lw_neglect_create(*spec, ratio, neglect, error);
    if (status != LW_OK) return status;
    lw_neglect_scale(*neglect, 0);
    return reproduce_compile(*spec, without, error);
}

static lw_status estimate_walk(reproduction *r, lw_neglect *neglect, const lw_model *without,
                               lw_error *error) {
    lw_neglect_error estimate;
    lw_run_options options;
    lw_run_defaults(without, &options);
    options.method = "massless";
    if (r->quick) options.end = 1;
    lw_status status = reproduce_working(r, error, "estimate of the error");
    if (status == LW_OK) status = lw_neglect_estimate(neglect, &options, &estimate, error);
    if (status != LW_OK) return status;
    return reproduce_expect(r, NAN, estimate.largest, 0, 0.05, error, /* as for the distance */
                            "estimated error of the neglect, largest of all coordinates");
}

static lw_status walker(reproduction *r, lw_error *error) {
    static const char *const integrators[] = {"erk", "bdf", "ida"};
    static const char *const headers[] = {"t [s]", "way, light legs [m]", "height, light legs [m]",
                                          "way, neglected [m]", "height, neglected [m]"};
    static const char *const panels[] = {"way, *", "height, *"};
    lw_spec *spec = NULL;
    lw_model *with = NULL, *without = NULL;
    lw_neglect *neglect = NULL;
    reproduce_table table;
    lw_status status = reproduce_table_create(&table, headers, 5, 301, error);
    if (status == LW_OK) status = open_walkers(&spec, &neglect, &with, &without, error);
    for (int k = 0; k < 3 && status == LW_OK; k++) {
        effort heavy, light;
        double way[2];
        status = walk(r, with, "tree", integrators[k], &heavy, &way[0], error);
        if (status == LW_OK) status = walk(r, without, "massless", integrators[k], &light, &way[1], error);
        if (status == LW_OK) status = tell_effort(r, integrators[k], &heavy, &light, error);
        /* Neglecting 1 % of the mass may change the distance by some per cent. */
        if (status == LW_OK)
            status = reproduce_expect(r, NAN, fabs(way[1] - way[0]), 0, 0.05, error,
                                      "%s: difference of the way gone (%.2f m), m", integrators[k], way[0]);
    }
    if (status == LW_OK) status = estimate_walk(r, neglect, without, error);
    if (status == LW_OK) status = trace_walk(r, with, "tree", &table, 1, error);
    if (status == LW_OK) status = trace_walk(r, without, "massless", &table, 3, error);
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 2}, error);
    if (status == LW_OK) status = reproduce_paths(r, "way, *", "height, *", error);
    reproduce_table_clear(&table);
    lw_neglect_destroy(neglect);
    lw_model_destroy(with);
    lw_model_destroy(without);
    lw_spec_destroy(spec);
    return status;
}

static const reproduce_item items[] = {
    {"fig2", "two oscillators: steps of BDF codes as m1/m2 falls to 0", fig2, "two_oscillators"},
    {"limit", "two oscillators: O(m1) from the limit m1 = 0, and its estimate", limit, "two_oscillators"},
    {"sect4", "two chains with a body without mass against the matrix exponential", sect4,
     "arnold_sect4_upper"},
    {"condensed", "the condensed equations (33)-(36), coefficient by coefficient", condensed, NULL},
    {"walker", "a walking machine: effort with light legs, and with their inertia neglected", walker,
     "walker"},
};
const reproduce_paper reproduce_arnold2013 = {
    .name = "arnold2013",
    .items = items,
    .count = sizeof items / sizeof *items,
    .citation = "M. Arnold (2013). A recursive multibody formalism for systems with small mass and inertia "
                "terms. Mechanical "
                "Sciences 4, 221-231",
    .about = "Bodies without mass: the recursion with generalised inverses, and equations of mixed first and "
             "second order.",
};
