/* reproduce_blajer1994.c - W. Blajer, W. Schiehlen and W. Schirm (1994): the projective criterion on a
 * pendulum and a four-bar linkage.
 *
 * The paper prints formulas for the pendulum, (25) and (26), and for the linkage, (40)-(44), but no data of
 * its linkage and no numbers beside fig. 3; data of problems/ are used instead. Statements of the paper are
 * checked: alpha_3 is singular (0) at pi/2 and 3 pi/2 and never the best choice; the singular value
 * decomposition gives the same for all masses (a difference of 0); a change of coordinates reduces neither
 * order nor step.
 */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* The bound is above rounding (a few digits of 16 are lost in the factorisations), and far below what would
 * be visible in a plot or change a choice. */
static const double exact = 1e-12;

static double largest(double a, double b) { return fmax(fabs(a), fabs(b)); }

/* --- the pendulum, (24)-(26) ---------------------------------------------------------------------- */

typedef struct pendulum {
    double cos2[3]; /* (26), of x, y, gamma */
    double D[3][3]; /* (25): row i for the choice q_I = q_i */
    double Md[3];   /* after (25) */
} pendulum;

static const double mass = 3, inertia = 2, rho = 1.5; /* of problems/blajer_pendulum */

static pendulum printed_pendulum(double gamma) {
    double s = sin(gamma), c = cos(gamma), all = mass * rho * rho + inertia;
    return (pendulum){.cos2 = {mass * rho * rho / all * s * s, mass * rho * rho / all * c * c, inertia / all},
                      .D = {{1, -c / s, -1 / (rho * s)}, {-s / c, 1, 1 / (rho * c)}, {-rho * s, rho * c, 1}},
                      .Md = {all / (rho * rho * s * s), all / (rho * rho * c * c), all}};
}

/* Computes the same from the model: the criterion of its coordinates (those of the body if `absolute`), and D
 * from velocities that satisfy the rows. */
static lw_status computed_pendulum(double gamma, bool absolute, pendulum *p, lw_error *error) {
    static const int place[2][3] = {{0, 1, 2}, {0, 1, 5}}; /* of x, y, gamma among the coordinates */
    lw_model *model;
    lw_merits *merits = NULL;
    lw_data *data = NULL;
    double q[3], v[3], rates[3] = {1, 1, 1}, M[9];
    lw_status status = reproduce_model("blajer_pendulum", "angle", gamma, &model, error);
    if (status == LW_OK) {
        lw_model_initial_state(model, q, v);
        status = lw_assemble(model, 0, q, rates, NULL, error);
    }
    if (status == LW_OK) status = lw_merits_create(model, absolute, &merits, error);
    if (status == LW_OK) status = lw_merits_evaluate(merits, 0, q, error);
    if (status == LW_OK && lw_data_create(model, NULL, &data) != LW_OK)
        status = reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    if (status == LW_OK) {
        lw_tree_mass_matrix(model, data, 0, q, M);
        for (int i = 0; i < 3; i++) {
            p->cos2[i] = lw_merits_get(merits, place[absolute][i])->cos2_alpha;
            p->Md[i] = 0;
            for (int k = 0; k < 3; k++) p->D[i][k] = rates[k] / rates[i];
            for (int k = 0; k < 9; k++) p->Md[i] += p->D[i][k / 3] * M[k] * p->D[i][k % 3];
        }
    }
    lw_data_destroy(data);
    lw_merits_destroy(merits);
    lw_model_destroy(model);
    return status;
}

static lw_status pendulum_formulas(reproduction *r, lw_error *error) {
    static const char *const headers[] = {"gamma [rad]",   "x", "y", "gamma", "x, formula", "y, formula",
                                          "gamma, formula"};
    static const char *const names[] = {"x", "y", "gamma"};
    static const char *const panel[] = {"x + y + gamma"};
    enum { ANGLES = 181, SHOWN = 60 };
    reproduce_table table;
    double cos2[2] = {0, 0}, D = 0, Md = 0;
    lw_status status = reproduce_table_create(&table, headers, 7, ANGLES, error);
    for (int k = 0; k < ANGLES && status == LW_OK; k++) {
        double gamma = (k + 0.5) * pi / (2 * ANGLES); /* between the singular positions of x and y */
        pendulum printed = printed_pendulum(gamma), here = {.Md = {0}};
        *reproduce_at(&table, k, 0) = gamma;
        for (int absolute = 1; absolute >= 0 && status == LW_OK; absolute--) {
            status = computed_pendulum(gamma, absolute, &here, error);
            for (int i = 0; i < 3; i++)
                cos2[absolute] = largest(cos2[absolute], here.cos2[i] - printed.cos2[i]);
        }
        for (int i = 0; i < 3 && status == LW_OK; i++) {
            *reproduce_at(&table, k, 1 + i) = here.cos2[i];
            *reproduce_at(&table, k, 4 + i) = printed.cos2[i];
            Md = largest(Md, here.Md[i] / printed.Md[i] - 1);
            for (int c = 0; c < 3; c++)
                D = largest(D, (here.D[i][c] - printed.D[i][c]) / fmax(1, fabs(printed.D[i][c])));
            if (k == SHOWN)
                status = reproduce_expect(r, printed.cos2[i], here.cos2[i], printed.cos2[i] - exact,
                                          printed.cos2[i] + exact, error,
                                          "(26) cos^2 alpha_%s at gamma = %.4f", names[i], gamma);
        }
    }
    if (status == LW_OK)
        status = reproduce_expect(r, 0, cos2[0], 0, exact, error,
                                  "(26), largest difference over a quarter of a turn");
    if (status == LW_OK)
        status = reproduce_expect(r, 0, cos2[1], 0, exact, error,
                                  "(26), the same with absolute coordinates of the body");
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, D, 0, exact, error, "(25) D_x, D_y, D_gamma, largest relative difference");
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, Md, 0, exact, error, "M_d of each choice, largest relative difference");
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table, &(lw_plot_options){.columns = panel, .count = 1, .quantity = "cos²"}, error);
    reproduce_table_clear(&table);
    return status;
}

/* --- the linkage, (40)-(44) ------------------------------------------------------------------------ */

static const double l0 = 2, l1 = 1, l2 = 3, l3 = 2.2; /* of problems/blajer_four_bar */

/* (40) and (41). */
static void printed_angles(double a1, double a[3]) {
    double span = l0 * l0 + l1 * l1 - 2 * l0 * l1 * sin(a1);
    a[0] = a1;
    a[2] = acos((span - l2 * l2 - l3 * l3) / (2 * l2 * l3));
    a[1] = atan2(l0 * l2 * cos(a1) + l0 * l3 * cos(a1 + a[2]) + l1 * l3 * sin(a[2]),
                 l0 * l2 * sin(a1) + l0 * l3 * sin(a1 + a[2]) - l1 * l3 * cos(a[2]) - l1 * l2);
}

/* (43) */
static void printed_D(const double a[3], double D[3]) {
    D[0] = 1;
    D[1] = -(l0 * l1 * cos(a[0]) + l0 * l2 * cos(a[0] + a[1])) / (l2 * l3 * sin(a[2]));
    D[2] = l0 * l1 / (l2 * l3) * cos(a[0]) / sin(a[2]);
}

/* (44), row by row as printed: the transposed of B. */
static void printed_B(const double a[3], double B[3][2]) {
    double x1 = l1 * cos(a[0]), y1 = l1 * sin(a[0]), x2 = l2 * cos(a[0] + a[1]), y2 = l2 * sin(a[0] + a[1]);
    const double printed[3][2] = {{0, -l0}, {-x1, -l0 + y1}, {-x1 - x2, -l0 + y1 + y2}};
    memcpy(B, printed, sizeof printed);
}

typedef struct linkage {
    lw_spec *spec;
    lw_model *model;
    lw_data *data;
    double q[3], v[3]; /* assembled */
} linkage;

static lw_status open_linkage(linkage *l, const char *parameter, double value, lw_error *error) {
    *l = (linkage){.spec = NULL};
    lw_status status = reproduce_spec("blajer_four_bar", parameter, value, &l->spec, error);
    if (status == LW_OK) status = reproduce_compile(l->spec, &l->model, error);
    if (status == LW_OK && lw_data_create(l->model, NULL, &l->data) != LW_OK)
        status = reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    if (status != LW_OK) return status;
    lw_model_initial_state(l->model, l->q, l->v);
    return lw_assemble(l->model, 0, l->q, l->v, NULL, error);
}

static void close_linkage(linkage *l) {
    lw_data_destroy(l->data);
    lw_model_destroy(l->model);
    lw_spec_destroy(l->spec);
}

enum { DEGREES = 360, TURN = DEGREES + 1 };

/* Turns the crank by a full turn, from alpha_1 = 0. */
static lw_status
turn_crank(linkage *l, bool (*observe)(double value, const double *q, const lw_merits *merits, void *context),
           void *context, lw_error *error) {
    lw_merits_path sweep = {
        .speed = 0, .from = 0, .to = 2 * pi, .intervals = DEGREES, .observe = observe, .context = context};
    lw_status status = lw_merits_sweep(l->spec, l->model, 0, l->q, &sweep, error);
    if (status == LW_OK && (sweep.stuck_from || sweep.stuck_to))
        status = reproduce_fail(error, LW_ERROR_MODEL, "the crank does not turn fully: it stops at %g rad",
                                sweep.reached_to);
    return status;
}

typedef struct closing_check {
    linkage *l;
    double angles, D, B, DB;
} closing_check;

static bool check_closing(double value, const double *q, const lw_merits *merits, void *context) {
    closing_check *c = context;
    const lw_model *model = c->l->model;
    double a[3], D[3], B[3][2], v[3] = {1, 0, 0}, jacobian[9], at[3];
    const double end[3] = {0, l3, 0}; /* O4 on the last link */
    lw_error error;
    (void)merits;
    printed_angles(value, a);
    printed_D(a, D);
    printed_B(a, B);
    memcpy(at, q, sizeof at);
    if (lw_assemble(model, 0, at, v, NULL, &error) != LW_OK) return false;
    lw_tree_point_jacobian(model, c->l->data, 0, q, lw_model_body(model, "rocker"), end, jacobian);
    for (int i = 0; i < 3; i++) {
        c->angles = largest(c->angles, remainder(q[i] - a[i], 2 * pi));
        c->D = largest(c->D, v[i] / v[0] - D[i]);
        for (int k = 0; k < 2; k++) c->B = largest(c->B, jacobian[3 * k + i] - B[i][k]);
    }
    for (int k = 0; k < 2; k++) c->DB = largest(c->DB, D[0] * B[0][k] + D[1] * B[1][k] + D[2] * B[2][k]);
    return true;
}

static lw_status closing(reproduction *r, lw_error *error) {
    /* Positions are closed to 1e-14 of the size; the errors of angles are larger near steep positions. */
    const double positions = 1e-11;
    linkage l;
    closing_check c = {.l = &l};
    lw_status status = open_linkage(&l, NULL, 0, error);
    if (status == LW_OK) status = turn_crank(&l, check_closing, &c, error);
    if (status == LW_OK)
        status = reproduce_expect(r, 0, c.angles, 0, positions, error,
                                  "(40), (41) alpha_2 and alpha_3 over a turn, largest difference, rad");
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, c.D, 0, positions, error, "(42), (43) D over a turn, largest difference");
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, c.B, 0, positions, error, "(44) B over a turn, largest difference, m");
    if (status == LW_OK)
        status = reproduce_expect(r, 0, c.DB, 0, exact, error, "D B' over a turn, largest entry, m");
    close_linkage(&l);
    return status;
}

/* --- reactions in O4, (35), (37), (38) with the printed B and D ------------------------------------- */

/* Solves three equations by Gauss elimination with pivoting; b becomes A^-1 b. */
static void solve3(double A[3][3], double b[3]) {
    for (int k = 0; k < 3; k++) {
        int pivot = k;
        for (int i = k + 1; i < 3; i++)
            if (fabs(A[i][k]) > fabs(A[pivot][k])) pivot = i;
        for (int j = 0; j < 3; j++) {
            double swap = A[k][j];
            A[k][j] = A[pivot][j], A[pivot][j] = swap;
        }
        double swap = b[k];
        b[k] = b[pivot], b[pivot] = swap;
        for (int i = 0; i < 3; i++) {
            double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (int j = k; j < 3; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = 0; k < 3; k++) b[k] /= A[k][k];
}

static void solve2(double a, double b, double c, double d, const double right[2], double x[2]) {
    double determinant = a * d - b * c;
    x[0] = (d * right[0] - b * right[1]) / determinant;
    x[1] = (a * right[1] - c * right[0]) / determinant;
}

/* The reaction f by each scheme, from M, h, the accelerations and the printed matrices. */
typedef struct schemes {
    double f35[2], f37[2], f38[2];
} schemes;

static schemes printed_schemes(const double M[9], const double h[3], const double vdot[3], double B[3][2],
                               const double D[3]) {
    schemes s;
    double left[3], free[3], inverse[3][2], bare[2] = {0}, Mb[2][2] = {{0}}, A[3][3];
    for (int i = 0; i < 3; i++) {
        left[i] = -h[i];
        for (int k = 0; k < 3; k++) left[i] += M[3 * i + k] * vdot[k]; /* M vdot - h */
    }
    /* (35): M^-1 h and M^-1 B' */
    for (int c = -1; c < 2; c++) {
        double right[3];
        memcpy(A, M, sizeof A);
        for (int i = 0; i < 3; i++) right[i] = c < 0 ? h[i] : B[i][c];
        solve3(A, right);
        for (int i = 0; i < 3; i++) *(c < 0 ? &free[i] : &inverse[i][c]) = right[i];
    }
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < 3; i++) {
            double xi = vdot[i] - D[i] * vdot[0]; /* (10) */
            bare[r] += B[i][r] * (xi - free[i]);
            for (int c = 0; c < 2; c++) Mb[r][c] += B[i][r] * inverse[i][c];
        }
    solve2(Mb[0][0], Mb[0][1], Mb[1][0], Mb[1][1], bare, s.f35);
    /* (37): the columns of the matrix are those of B' and M D' */
    double x[3] = {left[0], left[1], left[2]};
    for (int i = 0; i < 3; i++) {
        A[i][0] = B[i][0], A[i][1] = B[i][1], A[i][2] = 0;
        for (int k = 0; k < 3; k++) A[i][2] += M[3 * i + k] * D[k];
    }
    solve3(A, x);
    s.f37[0] = x[0], s.f37[1] = x[1];
    /* (38): the equations of alpha_2 and alpha_3 */
    solve2(B[1][0], B[1][1], B[2][0], B[2][1], left + 1, s.f38);
    return s;
}

static const char *const reaction_methods[] = {"partition", "rcr", "lagrange"};
enum { REACTION_METHODS = sizeof reaction_methods / sizeof *reaction_methods };

typedef struct reaction_check {
    linkage *l;
    lw_model *chain; /* the three links without joint O4: M and h of (35) to (38) are its own */
    lw_data *data;
    double largest, schemes, methods[REACTION_METHODS];
    lw_status status;
    lw_error *error;
} reaction_check;

/* Checks one position, with the crank at 10 rad/s. */
static bool check_reactions(double value, const double *q, const lw_merits *merits, void *context) {
    reaction_check *c = context;
    const lw_model *model = c->l->model;
    double a[3], D[3], B[3][2], v[3], M[9], h[3], zero[3] = {0}, vdot[3], reactions[4 * 6];
    (void)merits;
    printed_angles(value, a);
    printed_D(a, D);
    printed_B(a, B);
    for (int i = 0; i < 3; i++) v[i] = 10 * D[i];
    c->status = lw_tree_mass_matrix(c->chain, c->data, 0, q, M);
    if (c->status == LW_OK)
        c->status = lw_tree_inverse_dynamics(c->chain, c->data, 0, q, v, zero, h, c->error);
    if (c->status != LW_OK) return false;
    for (int i = 0; i < 3; i++) h[i] = -h[i];
    for (int k = 0; k < REACTION_METHODS; k++) {
        c->status = lw_accelerations(model, reaction_methods[k], 0, q, v, vdot, reactions, NULL, c->error);
        if (c->status != LW_OK) return false;
        schemes s = printed_schemes(M, h, vdot, B, D);
        const double *on_ground = reactions + 6 * lw_model_joint(model, "O4"); /* f acts on the linkage. */
        for (int r = 0; r < 2; r++) {
            c->largest = largest(c->largest, s.f38[r]);
            c->schemes = largest(c->schemes, s.f35[r] - s.f38[r]);
            c->schemes = largest(c->schemes, s.f37[r] - s.f38[r]);
            c->methods[k] = largest(c->methods[k], s.f38[r] + on_ground[r]);
        }
    }
    return !stop_wanted();
}

/* Compiles the linkage without its last joint, O4, with a workspace. */
static lw_status open_chain(const linkage *l, lw_model **chain, lw_data **data, lw_error *error) {
    lw_spec *spec = lw_spec_create("chain");
    lw_status status = spec ? LW_OK : LW_ERROR_MEMORY;
    lw_spec_set_gravity(spec, lw_spec_gravity(l->spec));
    for (size_t k = 0; k < 3 && status == LW_OK; k++) {
        status = lw_spec_add_body(spec, lw_spec_body(l->spec, k));
        if (status == LW_OK) status = lw_spec_add_joint(spec, lw_spec_joint(l->spec, k));
    }
    if (status != LW_OK) reproduce_fail(error, status, "%s", lw_status_text(status));
    if (status == LW_OK) status = reproduce_compile(spec, chain, error);
    if (status == LW_OK && lw_data_create(*chain, NULL, data) != LW_OK)
        status = reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    lw_spec_destroy(spec);
    return status;
}

static lw_status reactions(reproduction *r, lw_error *error) {
    const double agree = 1e-10; /* relative; M^-1 and positions closed to 1e-14 lose digits */
    linkage l;
    lw_status status = open_linkage(&l, NULL, 0, error);
    reaction_check c = {.l = &l, .status = LW_OK, .error = error};
    if (status == LW_OK) status = open_chain(&l, &c.chain, &c.data, error);
    if (status == LW_OK) status = turn_crank(&l, check_reactions, &c, error);
    if (c.status != LW_OK) status = c.status;
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, c.schemes / c.largest, 0, agree, error,
                             "(35), (37), (38) with B of (44), D of (43): largest relative difference of f");
    for (int k = 0; k < REACTION_METHODS && status == LW_OK; k++)
        status = reproduce_expect(r, 0, c.methods[k] / c.largest, 0, agree, error,
                                  "reaction in O4 by %s against f, largest relative difference",
                                  reaction_methods[k]);
    lw_data_destroy(c.data);
    lw_model_destroy(c.chain);
    close_linkage(&l);
    return status;
}

/* --- fig. 3, and the influence of masses ------------------------------------------------------------ */

enum { ANGLE, COS2 = 1, SVD = 4, CURVES = 7 }; /* columns */

typedef struct curves {
    linkage *l;
    reproduce_table *table;
    int row;
    double formula,
        sum; /* largest difference from (23a) with the printed D; of cos^2 alpha + cos^2 beta from 1 */
} curves;

/* (23a) with D of (43) and the mass matrix of the model. */
static void printed_criterion(linkage *l, const double *q, double a1, double cos2[3]) {
    double a[3], D[3], M[9], Md = 0;
    printed_angles(a1, a);
    printed_D(a, D);
    lw_tree_mass_matrix(l->model, l->data, 0, q, M);
    for (int k = 0; k < 9; k++) Md += D[k / 3] * M[k] * D[k % 3];
    double determinant = 0;
    for (int k = 0; k < 3; k++)
        determinant +=
            M[k] * (M[3 + (k + 1) % 3] * M[6 + (k + 2) % 3] - M[3 + (k + 2) % 3] * M[6 + (k + 1) % 3]);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        cos2[i] = D[i] * D[i] / Md * determinant / (M[4 * j] * M[4 * k] - M[3 * j + k] * M[3 * j + k]);
    }
}

static bool gather(double value, const double *q, const lw_merits *merits, void *context) {
    curves *c = context;
    double printed[3];
    if (c->row == c->table->rows) return false;
    printed_criterion(c->l, q, value, printed);
    *reproduce_at(c->table, c->row, ANGLE) = value;
    for (int i = 0; i < 3; i++) {
        const lw_merit *merit = lw_merits_get(merits, i);
        *reproduce_at(c->table, c->row, COS2 + i) = merit->cos2_alpha;
        *reproduce_at(c->table, c->row, SVD + i) = merit->svd;
        c->formula = largest(c->formula, merit->cos2_alpha - printed[i]);
        c->sum = largest(c->sum, merit->cos2_alpha + merit->cos2_beta - 1);
    }
    c->row++;
    return !stop_wanted();
}

/* Computes the curves of fig. 3 for one set of masses. */
static lw_status draw_curves(const char *parameter, double value, reproduce_table *table, curves *c,
                             lw_error *error) {
    linkage l;
    *c = (curves){.l = &l, .table = table};
    lw_status status = open_linkage(&l, parameter, value, error);
    if (status == LW_OK) status = turn_crank(&l, gather, c, error);
    close_linkage(&l);
    return status;
}

/* The share of the turn in which coordinate i is the best, by the columns from first on. */
static double share_of_best(const reproduce_table *table, int first, int i) {
    int best = 0;
    for (int row = 0; row < DEGREES; row++) {
        const double *at = reproduce_at(table, row, first);
        best += at[i] >= fmax(at[(i + 1) % 3], at[(i + 2) % 3]);
    }
    return (double)best / DEGREES;
}

static double least_of(const reproduce_table *table, int column) {
    double least = INFINITY;
    for (int row = 0; row < table->rows; row++) least = fmin(least, *reproduce_at(table, row, column));
    return least;
}

static const char *const curve_headers[] = {"alpha_1 [rad]", "alpha_1",      "alpha_2",     "alpha_3",
                                            "alpha_1, SVD",  "alpha_2, SVD", "alpha_3, SVD"};

static lw_status fig3(reproduction *r, lw_error *error) {
    static const char *const panels[] = {"alpha_1 + alpha_2 + alpha_3",
                                         "alpha_1, SVD + alpha_2, SVD + alpha_3, SVD"};
    reproduce_table table;
    curves c;
    lw_status status = reproduce_table_create(&table, curve_headers, CURVES, TURN, error);
    if (status == LW_OK) status = draw_curves(NULL, 0, &table, &c, error);
    for (int k = 1; k <= 3 && status == LW_OK; k += 2)
        status = reproduce_expect(r, 0, *reproduce_at(&table, k * DEGREES / 4, COS2 + 2), 0, exact, error,
                                  "cos^2 of alpha_3 at alpha_1 = %s", k == 1 ? "pi/2" : "3 pi/2");
    for (int k = 1; k <= 3 && status == LW_OK; k += 2)
        status = reproduce_expect(r, 0, *reproduce_at(&table, k * DEGREES / 4, SVD + 2), 0, exact, error,
                                  "the same by SVD at alpha_1 = %s", k == 1 ? "pi/2" : "3 pi/2");
    /* A coordinate that is acceptable in any configuration is far from zero. */
    for (int i = 0; i < 2 && status == LW_OK; i++)
        status = reproduce_expect(r, NAN, least_of(&table, COS2 + i), 0.1, 1, error,
                                  "least cos^2 of alpha_%d over the turn", i + 1);
    /* No coordinate is the best over the whole range. */
    for (int i = 0; i < 2 && status == LW_OK; i++)
        status = reproduce_expect(r, NAN, share_of_best(&table, COS2, i), 0.01, 0.99, error,
                                  "share of the turn in which alpha_%d is the best", i + 1);
    if (status == LW_OK)
        status = reproduce_expect(r, 0, share_of_best(&table, COS2, 2), 0, 0, error, "the same of alpha_3");
    if (status == LW_OK)
        status =
            reproduce_expect(r, 0, c.formula, 0, 1e-11, error, "(23a) with D of (43), largest difference");
    if (status == LW_OK)
        status = reproduce_expect(r, 0, c.sum, 0, exact, error, "cos^2 alpha + cos^2 beta - 1, largest");
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table, &(lw_plot_options){.columns = panels, .count = 2, .quantity = "cos²"}, error);
    reproduce_table_clear(&table);
    return status;
}

static lw_status masses(reproduction *r, lw_error *error) {
    enum { SETS = 2 };
    static const char *const headers[] = {"alpha_1 [rad]",
                                          "alpha_1",
                                          "alpha_2",
                                          "alpha_3",
                                          "alpha_1, heavy crank",
                                          "alpha_2, heavy crank",
                                          "alpha_3, heavy crank"};
    static const char *const panels[] = {"alpha_1 + alpha_2 + alpha_3", "*, heavy crank"};
    static const double crank[SETS] = {10, 100}; /* kg/m; the other masses are unchanged */
    reproduce_table table = {.values = NULL}, sets[SETS] = {{.values = NULL}, {.values = NULL}};
    double svd = 0, cos2 = 0, other = 0;
    curves c;
    lw_status status = reproduce_table_create(&table, headers, CURVES, TURN, error);
    for (int k = 0; k < SETS && status == LW_OK; k++) {
        status = reproduce_table_create(&sets[k], curve_headers, CURVES, TURN, error);
        if (status == LW_OK) status = draw_curves("r1", crank[k], &sets[k], &c, error);
    }
    for (int row = 0; row < TURN && status == LW_OK; row++) {
        const double *a = reproduce_at(&sets[0], row, 0), *b = reproduce_at(&sets[1], row, 0);
        *reproduce_at(&table, row, ANGLE) = a[ANGLE];
        for (int i = 0; i < 3; i++) {
            *reproduce_at(&table, row, 1 + i) = a[COS2 + i];
            *reproduce_at(&table, row, 4 + i) = b[COS2 + i];
            cos2 = largest(cos2, a[COS2 + i] - b[COS2 + i]);
            svd = largest(svd, a[SVD + i] - b[SVD + i]);
        }
        if (row < DEGREES) other += (double)((a[COS2] > a[COS2 + 1]) != (b[COS2] > b[COS2 + 1])) / DEGREES;
    }
    for (int k = 0; k < SETS && status == LW_OK; k++)
        status =
            reproduce_expect(r, NAN, share_of_best(&sets[k], COS2, 0), 0.01, 0.99, error,
                             "share of the turn in which alpha_1 is the best, crank of %g kg/m", crank[k]);
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, other, 0.01, 1, error,
                                  "share of the turn in which the best coordinate is another one");
    if (status == LW_OK)
        status =
            reproduce_expect(r, NAN, cos2, 0.05, 1, error, "largest difference of cos^2 between the two");
    if (status == LW_OK)
        status = reproduce_expect(r, 0, svd, 0, exact, error, "the same by SVD, which ignores masses");
    if (status == LW_OK)
        status = reproduce_figure(
            r, &table, &(lw_plot_options){.columns = panels, .count = 2, .quantity = "cos²"}, error);
    for (int k = 0; k < SETS; k++) reproduce_table_clear(&sets[k]);
    reproduce_table_clear(&table);
    return status;
}

/* --- a run that changes its coordinates ------------------------------------------------------------- */

enum { CHANGES_MAX = 2000 };

/* A record of an accepted step. */
typedef struct step {
    double t, h;
    int order;
} step;

typedef struct diary {
    step *steps;
    int count, capacity;
    double changes[CHANGES_MAX];
    int changed;
    bool full;
} diary;

static void note_step(double t, double h, int order, void *context) {
    diary *d = context;
    if (d->count == d->capacity) {
        int capacity = d->capacity ? 2 * d->capacity : 4096;
        step *steps = realloc(d->steps, (size_t)capacity * sizeof *steps);
        if (!steps) {
            d->full = true;
            return;
        }
        d->steps = steps, d->capacity = capacity;
    }
    d->steps[d->count++] = (step){t, h, order};
}

static void note_event(double t, const char *kind, const char *text, void *context) {
    diary *d = context;
    (void)text;
    if (strcmp(kind, "coordinates") == 0 && d->changed < CHANGES_MAX) d->changes[d->changed++] = t;
}

static bool go_on(void *context) {
    (void)context;
    return stop_wanted();
}

/* Compares step and order of one step with those of the three steps after it: a restart would have order 1
 * and a tiny step. */
static void three_on(const diary *d, int k, double *ratio, int *loss) {
    for (int after = k + 1; after <= k + 3 && after < d->count - 1;
         after++) { /* The last step ends with the run. */
        *ratio = fmin(*ratio, d->steps[after].h / d->steps[k].h);
        if (d->steps[k].order - d->steps[after].order > *loss)
            *loss = d->steps[k].order - d->steps[after].order;
    }
}

/* The worst ratios and losses after changes, and after steps that are three or more away from any change. The
 * first twentieth of the run, its start, is left out. */
typedef struct continuity {
    double at_changes, elsewhere, median;
    int loss, usual_loss;
} continuity;

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static continuity across_changes(const diary *d) {
    continuity c = {INFINITY, INFINITY, NAN, 0, 0};
    double ratios[CHANGES_MAX];
    int next = 0, judged = 0, last = -4;
    for (int k = 0; k < d->count - 4; k++) {
        bool change = false;
        while (next < d->changed && d->changes[next] <= d->steps[k].t) next++, change = true;
        if (change) last = k;
        if (k < d->count / 20) continue;
        bool soon = next < d->changed && d->changes[next] <= d->steps[k + 3].t;
        if (change) {
            three_on(d, k, &c.at_changes, &c.loss);
            ratios[judged++] = d->steps[k + 3].h / d->steps[k].h;
        } else if (!soon && k > last + 3)
            three_on(d, k, &c.elsewhere, &c.usual_loss);
    }
    qsort(ratios, (size_t)judged, sizeof *ratios, compare_numbers);
    if (judged > 0) c.median = ratios[judged / 2];
    return c;
}

/* The mean order of the steps. */
static double mean_order(const diary *d) {
    double sum = 0;
    for (int k = 0; k < d->count; k++) sum += d->steps[k].order;
    return sum / d->count;
}

static lw_status judge_changes(reproduction *r, const diary *d, const diary *other, const lw_run_summary *run,
                               const lw_run_summary *rcr, double tolerance, double angle,
                               double error_of_angle, lw_error *error) {
    continuity c = across_changes(d);
    /* Each step may have an error of the tolerance, and all errors may add up. */
    double allowed = tolerance * (double)run->steps, scale = fabs(run->energy_initial);
    lw_status status = reproduce_expect(r, NAN, d->changed, 100, INFINITY, error,
                                        "changes of coordinates in %g s", run->t_end);
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, run->energy_max_drift / scale, 0, allowed, error,
                                  "largest error of the energy, relative, with a tolerance of %g", tolerance);
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, rcr->energy_max_drift / scale, 0, allowed, error,
                                  "the same by rcr, which changes none");
    if (status == LW_OK)
        status = reproduce_expect(
            r, NAN, error_of_angle / angle, 0, allowed, error,
            "error of alpha_1 against a run with tiny steps, relative to the %.0f rad it turns", angle);
    if (status == LW_OK) /* The integrator may reduce the order by one in any step. */
        status = reproduce_expect(r, 0, c.loss, 0, fmax(1, c.usual_loss), error,
                                  "largest loss of order within three steps after a change (elsewhere: %d)",
                                  c.usual_loss);
    if (status == LW_OK)
        status = reproduce_expect(r, 1, c.median, 0.8, 1.25, error,
                                  "third step after a change over the one before it, median");
    if (status == LW_OK)
        status = reproduce_expect(
            r, NAN, c.at_changes, 0.8 * c.elsewhere, INFINITY, error,
            "smallest of three steps after a change over the one before it (elsewhere: %.2g)", c.elsewhere);
    if (status == LW_OK)
        status = reproduce_expect(r, 1, (double)run->steps / (double)rcr->steps, 0, 1.2, error,
                                  "steps, relative to those of rcr");
    if (status == LW_OK)
        status = reproduce_expect(r, 0, mean_order(other) - mean_order(d), -INFINITY, 0.5, error,
                                  "order by rcr less that by partition, mean of all steps (%.3g, %.3g)",
                                  mean_order(other), mean_order(d));
    return status;
}

/* Draws step and order of both runs at the same times. */
static lw_status draw_changes(reproduction *r, const diary *d, const diary *rcr, lw_error *error) {
    static const char *const headers[] = {
        "t [s]", "step, partition [s]", "step, rcr [s]", "order, partition", "order, rcr", "changes so far"};
    static const char *const panels[] = {"step, partition + step, rcr", "order, partition + order, rcr",
                                         "changes so far"};
    enum { ROWS = 1001 };
    const double shown = 5; /* s, some 20 changes */
    const diary *const runs[2] = {d, rcr};
    reproduce_table table;
    int at[2] = {0, 0}, so_far = 0;
    lw_status status = reproduce_table_create(&table, headers, 6, ROWS, error);
    for (int row = 0; row < ROWS && status == LW_OK; row++) {
        double t = *reproduce_at(&table, row, 0) = row * shown / (ROWS - 1);
        for (int k = 0; k < 2; k++) {
            while (at[k] < runs[k]->count - 1 && runs[k]->steps[at[k]].t < t) at[k]++;
            *reproduce_at(&table, row, 1 + k) = runs[k]->steps[at[k]].h;
            *reproduce_at(&table, row, 3 + k) = runs[k]->steps[at[k]].order;
        }
        while (so_far < d->changed && d->changes[so_far] <= t) so_far++;
        *reproduce_at(&table, row, 5) = so_far;
    }
    if (status == LW_OK)
        status = reproduce_figure(r, &table, &(lw_plot_options){.columns = panels, .count = 3}, error);
    reproduce_table_clear(&table);
    return status;
}

/* Checks the energy error of the same motion by an integrator without history. */
static lw_status changes_by_erk(reproduction *r, const lw_model *model, double tolerance, double end,
                                lw_error *error) {
    const lw_run_options options = {.method = "partition",
                                    .integrator = "erk",
                                    .end = end,
                                    .tolerance = tolerance,
                                    .output = end / 100,
                                    .interrupted = go_on};
    lw_run_summary run;
    lw_status status = reproduce_working(r, error, "partition by erk");
    if (status == LW_OK) status = lw_simulate(model, &options, NULL, NULL, &run, error);
    if (status == LW_OK)
        status = reproduce_expect(r, NAN, (double)run.events, 100, INFINITY, error,
                                  "changes of coordinates, integrator erk");
    if (status == LW_OK) /* The error is at most ten times the tolerance. */
        status = reproduce_expect(r, NAN, run.energy_max_drift / fabs(run.energy_initial), 0, 10 * tolerance,
                                  error, "largest error of the energy, relative, by erk with that tolerance");
    return status;
}

static lw_status changes(reproduction *r, lw_error *error) {
    const double tolerance = 1e-9, end = r->quick ? 40 : 100;
    linkage l;
    diary d = {.steps = NULL}, other = {.steps = NULL};
    lw_run_summary run, rcr;
    double q[2][3];
    lw_status status = open_linkage(&l, NULL, 0, error);
    lw_run_options options = {.method = "partition",
                              .integrator = "adams",
                              .end = end,
                              .tolerance = tolerance,
                              .output = end / 100,
                              .interrupted = go_on,
                              .event = note_event,
                              .step_taken = note_step,
                              .context = &d};
    if (status == LW_OK) status = reproduce_working(r, error, "partition");
    if (status == LW_OK) status = lw_simulate(l.model, &options, q[0], NULL, &run, error);
    /* A method that changes no coordinates is used with the same tolerance, and with tiny steps. */
    options.method = "rcr";
    options.context = &other;
    if (status == LW_OK) status = reproduce_working(r, error, "rcr");
    if (status == LW_OK) status = lw_simulate(l.model, &options, NULL, NULL, &rcr, error);
    if (status == LW_OK && (d.full || other.full))
        status = reproduce_fail(error, LW_ERROR_MEMORY, "out of memory");
    options.step_taken = NULL;
    options.tolerance = 1e-13;
    options.step = 2e-3;
    if (status == LW_OK) status = reproduce_working(r, error, "tiny steps");
    if (status == LW_OK) status = lw_simulate(l.model, &options, q[1], NULL, NULL, error);
    if (status == LW_OK)
        status = judge_changes(r, &d, &other, &run, &rcr, tolerance, fabs(q[1][0]), fabs(q[0][0] - q[1][0]),
                               error);
    if (status == LW_OK) status = changes_by_erk(r, l.model, tolerance, end, error);
    if (status == LW_OK) status = draw_changes(r, &d, &other, error);
    free(d.steps), free(other.steps);
    close_linkage(&l);
    return status;
}

static const reproduce_item items[] = {
    {"pendulum", "physical pendulum: the criterion (26), D (25) and M_d", pendulum_formulas,
     "blajer_pendulum"},
    {"closing", "four-bar linkage: closing conditions (40)-(42), D (43), B (44)", closing, "blajer_four_bar"},
    {"reactions", "four-bar linkage: reactions in O4 by schemes (35), (37), (38)", reactions,
     "blajer_four_bar"},
    {"fig3", "four-bar linkage: the criterion over a turn of the crank", fig3, "blajer_four_bar"},
    {"mass", "four-bar linkage: masses change the best choice, and SVD does not see it", masses,
     "blajer_four_bar"},
    {"changes", "four-bar linkage: a run that changes coordinates, without a loss of order or step", changes,
     "blajer_four_bar"},
};
const reproduce_paper reproduce_blajer1994 = {"blajer1994", items, sizeof items / sizeof *items,
                                              "W. Blajer, W. Schiehlen and W. Schirm (1994). A projective "
                                              "criterion to the coordinate partitioning method for multibody "
                                              "dynamics. Archive of Applied Mechanics 64, 86-98.",
                                              "Independent coordinates that choose themselves, and the best "
                                              "place to cut a loop (methods partition, partition-absolute; "
                                              "linkwork info --criterion)."};
