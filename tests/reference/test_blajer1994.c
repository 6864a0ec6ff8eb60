/* test_blajer1994.c - the projective criterion against the formulas of Blajer, Schiehlen & Schirm (1994), and on random mechanisms.
 *
 * The pendulum's (26) and the linkage's (40)-(43) are written out here once more, with a mass matrix of the linkage from its geometry
 * alone, so that nothing of the library is compared with itself.
 */
#include "random_loops.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct problem {
    lw_spec *spec;
    lw_model *model;
    double q[64], v[64]; /* assembled */
} problem;

/* A model of problems/ with these values of its parameters. */
static problem open_problem(const char *name, const char *const *names, const double *values, int count) {
    problem p = {.spec = NULL};
    char texts[8][32];
    lw_setting settings[8] = {{0}};
    for (int k = 0; k < count; k++) {
        snprintf(texts[k], sizeof texts[k], "%.17g", values[k]);
        settings[k] = (lw_setting){names[k], texts[k]};
    }
    p.spec = read_problem_spec(name, settings, (size_t)count);
    assert_int_equal(lw_model_compile(p.spec, NULL, NULL, &p.model), LW_OK);
    lw_error error;
    lw_model_initial_state(p.model, p.q, p.v);
    assert_int_equal(lw_assemble(p.model, 0, p.q, p.v, NULL, &error), LW_OK);
    return p;
}

static void close_problem(problem *p) {
    lw_model_destroy(p->model);
    lw_spec_destroy(p->spec);
}

static lw_merits *merits_of(const lw_model *model, bool absolute, double t, const double *q) {
    lw_merits *merits;
    lw_error error = {0};
    assert_int_equal(lw_merits_create(model, absolute, &merits, &error), LW_OK);
    lw_status status = lw_merits_evaluate(merits, t, q, &error);
    if (status != LW_OK) print_error("%s\n", error.message);
    assert_int_equal(status, LW_OK);
    return merits;
}

static double cos2(const lw_merits *merits, const char *name) {
    for (int i = 0; i < lw_merits_count(merits); i++)
        if (strcmp(lw_merits_get(merits, i)->name, name) == 0) return lw_merits_get(merits, i)->cos2_alpha;
    fail_msg("there is no coordinate %s", name);
    return NAN;
}

/* --- the pendulum ----------------------------------------------------------------------------------- */

static void pendulum_has_the_printed_criterion(void **state) {
    (void)state;
    static const char *const names[] = {"m", "J", "rho", "angle"};
    lw_random random = random_seed(26);
    for (int k = 0; k < 60; k++) {
        double m = exp(random_between(&random, -3, 3)), J = exp(random_between(&random, -3, 3)),
               rho = exp(random_between(&random, -1, 1)), gamma = random_between(&random, -4, 4);
        const double values[] = {m, J, rho, gamma};
        problem p = open_problem("blajer_pendulum", names, values, 4);
        double all = m * rho * rho + J, s = sin(gamma), c = cos(gamma);
        const double printed[3] = {m * rho * rho / all * s * s, m * rho * rho / all * c * c, J / all};
        static const char *const coordinates[2][3] = {{"plane.x", "plane.y", "plane.angle"},
                                                      {"G.x", "G.y", "G.wz"}};
        for (int absolute = 0; absolute < 2; absolute++) {
            lw_merits *merits = merits_of(p.model, absolute, 0, p.q);
            assert_int_equal(lw_merits_freedom(merits), 1);
            assert_true(lw_merits_bounded(merits)); /* every body has mass */
            double best = 0;
            /* 1e-12: a few roundings of a 6 x 6 problem */
            for (int i = 0; i < 3; i++) {
                assert_true(fabs(cos2(merits, coordinates[absolute][i]) - printed[i]) < 1e-12);
                best = fmax(best, printed[i]);
            }
            assert_true(fabs(lw_merits_worth(merits) - best) < 1e-12);
            lw_merits_destroy(merits);
        }
        close_problem(&p);
    }
}

/* --- the linkage ------------------------------------------------------------------------------------ */

typedef struct linkage {
    double l[4], r[3]; /* lengths, masses per length */
} linkage;

static void angles_of(const linkage *b, double a1, double a[3]) {
    const double *l = b->l;
    double span = l[0] * l[0] + l[1] * l[1] - 2 * l[0] * l[1] * sin(a1);
    a[0] = a1;
    a[2] = acos((span - l[2] * l[2] - l[3] * l[3]) / (2 * l[2] * l[3]));
    a[1] =
        atan2(l[0] * l[2] * cos(a1) + l[0] * l[3] * cos(a1 + a[2]) + l[1] * l[3] * sin(a[2]),
              l[0] * l[2] * sin(a1) + l[0] * l[3] * sin(a1 + a[2]) - l[1] * l[3] * cos(a[2]) - l[1] * l[2]);
}

/* (23a) by hand: D of (43); M from the Jacobians of the centres of three round rods of radius 20 mm. */
static void criterion_of(const linkage *b, const double a[3], double criterion[3], double svd[3]) {
    const double *l = b->l;
    double D[3] = {1, -(l[0] * l[1] * cos(a[0]) + l[0] * l[2] * cos(a[0] + a[1])) / (l[2] * l[3] * sin(a[2])),
                   l[0] * l[1] / (l[2] * l[3]) * cos(a[0]) / sin(a[2])};
    double M[3][3] = {{0}}, angle = 0, direction[3][2];
    for (int i = 0; i < 3; i++) {
        angle += a[i];
        direction[i][0] = cos(angle), direction[i][1] = -sin(angle); /* of d(sin, cos) */
    }
    for (int body = 0; body < 3; body++) {
        double m = b->r[body] * l[1 + body], J = m * (l[1 + body] * l[1 + body] / 12 + 0.02 * 0.02 / 4),
               jacobian[3][2] = {{0}};
        for (int i = 0; i <= body; i++)
            for (int k = i; k <= body; k++)
                for (int x = 0; x < 2; x++)
                    jacobian[i][x] += (k == body ? 0.5 : 1) * l[1 + k] * direction[k][x];
        for (int i = 0; i <= body; i++)
            for (int j = 0; j <= body; j++)
                M[i][j] += m * (jacobian[i][0] * jacobian[j][0] + jacobian[i][1] * jacobian[j][1]) + J;
    }
    double Md = 0, determinant = 0, square = 0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        determinant += M[0][i] * (M[1][j] * M[2][k] - M[1][k] * M[2][j]);
        square += D[i] * D[i];
        for (int c = 0; c < 3; c++) Md += D[i] * M[i][c] * D[c];
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        criterion[i] = D[i] * D[i] / Md * determinant / (M[j][j] * M[k][k] - M[j][k] * M[k][j]);
        svd[i] = D[i] * D[i] / square;
    }
}

typedef struct follower {
    const linkage *b;
    int points;
    double angles, criterion, svd, sum;
    double weights[73][3]; /* svd */
    int best[73];
} follower;

static bool follow(double value, const double *q, const lw_merits *merits, void *context) {
    follower *f = context;
    double a[3], criterion[3], svd[3];
    assert_true(f->points < 73);
    angles_of(f->b, value, a);
    criterion_of(f->b, a, criterion, svd);
    for (int i = 0; i < 3; i++) {
        const lw_merit *merit = lw_merits_get(merits, i);
        f->angles = fmax(f->angles, fabs(remainder(q[i] - a[i], 2 * pi)));
        f->criterion = fmax(f->criterion, fabs(merit->cos2_alpha - criterion[i]));
        f->svd = fmax(f->svd, fabs(merit->svd - svd[i]));
        f->sum = fmax(f->sum, fabs(merit->cos2_alpha + merit->cos2_beta - 1));
        f->weights[f->points][i] = merit->svd;
        if (merit->choice == 1) f->best[f->points] = i;
    }
    if (f->points == 18 || f->points == 54) /* pi/2, 3 pi/2: both criteria are zero */
        assert_true(lw_merits_get(merits, 2)->cos2_alpha < 1e-20 && lw_merits_get(merits, 2)->svd < 1e-20);
    f->points++;
    return true;
}

static void turn(const linkage *b, follower *f) {
    static const char *const names[] = {"l0", "l1", "l2", "l3", "r1", "r2", "r3"};
    const double values[] = {b->l[0], b->l[1], b->l[2], b->l[3], b->r[0], b->r[1], b->r[2]};
    problem p = open_problem("blajer_four_bar", names, values, 7);
    lw_error error = {0};
    *f = (follower){.b = b};
    lw_merits_path sweep = {
        .speed = 0, .from = 0, .to = 2 * pi, .intervals = 72, .observe = follow, .context = f};
    assert_int_equal(lw_merits_sweep(p.spec, p.model, 0, p.q, &sweep, &error), LW_OK);
    assert_false(sweep.stuck_from || sweep.stuck_to);
    assert_int_equal(f->points, 73);
    close_problem(&p);
}

static void linkage_has_the_printed_criterion(void **state) {
    (void)state;
    static follower f;
    lw_random random = random_seed(43);
    for (int k = 0; k < 20; k++) {
        linkage b = {.l = {2, 1, 3, 2.2}};
        for (int i = 0; i < 4; i++)
            b.l[i] *= 1 + (i == 1 ? -0.1 : 0.02) * random_unit(&random); /* stays a crank-rocker */
        for (int i = 0; i < 3; i++) b.r[i] = 10 * exp(random_between(&random, -2, 2));
        turn(&b, &f);
        /* positions are closed to 1e-14 of the size; sin(alpha_3) >= 0.1 magnifies that, and masses of 1 : 50 the rest */
        assert_true(f.angles < 1e-11);
        assert_true(f.criterion < 1e-10);
        assert_true(f.svd < 1e-11);
        assert_true(f.sum < 1e-12);
    }
}

static void masses_change_the_best_choice_and_svd_does_not_see_them(void **state) {
    (void)state;
    static follower light, heavy;
    linkage b = {.l = {2, 1, 3, 2.2}, .r = {10, 10, 5}};
    turn(&b, &light);
    b.r[0] = 100;
    turn(&b, &heavy);
    int changed = 0, best[3] = {0};
    for (int k = 0; k < 73; k++) {
        changed += light.best[k] != heavy.best[k];
        best[light.best[k]]++;
        for (int i = 0; i < 3; i++)
            assert_true(fabs(light.weights[k][i] - heavy.weights[k][i]) < 1e-12); /* positions by iteration */
    }
    assert_true(changed >= 5 && changed <= 30);
    assert_true(best[0] > 20 && best[1] > 20 &&
                best[2] == 0); /* neither is the best throughout; alpha_3 never */
}

static bool count_points(double value, const double *q, const lw_merits *merits, void *context) {
    (void)value, (void)q, (void)merits;
    ++*(int *)context;
    return true;
}

/* alpha_3 goes from its largest value, at alpha_1 = pi/2, to its smallest, at 3 pi/2, and no further. */
static void sweep_stops_at_dead_points(void **state) {
    (void)state;
    problem p = open_problem("blajer_four_bar", NULL, NULL, 0);
    int points = 0;
    lw_error error = {0};
    lw_merits_path sweep = {
        .speed = 2, .from = 10, .to = -10, .intervals = 100, .observe = count_points, .context = &points};
    assert_int_equal(lw_merits_sweep(p.spec, p.model, 0, p.q, &sweep, &error), LW_OK);
    assert_true(sweep.stuck_from && sweep.stuck_to && points > 2);
    double least = acos(((2 + 1) * (2 + 1) - 3. * 3 - 2.2 * 2.2) / (2 * 3 * 2.2)),
           most = acos((1 - 3. * 3 - 2.2 * 2.2) / (2 * 3 * 2.2));
    /* the gap that counts as closed, 1e-10 of the size, reaches as far beyond */
    assert_true(fabs(sweep.reached_from - most) < 1e-8);
    assert_true(fabs(sweep.reached_to - least) < 1e-8);

    sweep = (lw_merits_path){
        .speed = 0, .from = 1, .to = 1, .intervals = 10, .observe = count_points, .context = &points};
    assert_int_equal(lw_merits_sweep(p.spec, p.model, 0, p.q, &sweep, &error), LW_ERROR_ARGUMENT);
    sweep.to = 2, sweep.speed = 3;
    assert_int_equal(lw_merits_sweep(p.spec, p.model, 0, p.q, &sweep, &error), LW_ERROR_ARGUMENT);
    close_problem(&p);
}

/* --- random mechanisms ------------------------------------------------------------------------------ */

static void check_random(const lw_merits *merits, int seed, int freedom, const char *kind) {
    double sum = 0, trace = 0;
    int chosen = 0, svd_chosen = 0;
    for (int i = 0; i < lw_merits_count(merits); i++) {
        const lw_merit *merit = lw_merits_get(merits, i);
        sum = fmax(sum, fabs(merit->cos2_alpha + merit->cos2_beta - 1));
        trace += merit->svd;
        chosen += merit->choice > 0, svd_chosen += merit->svd_choice > 0;
        assert_true(merit->cos2_alpha > -1e-12 && merit->cos2_alpha < 1 + 1e-12);
    }
    /* the trace of a projector is its rank, whatever the mechanism; sums as the issue asks for them */
    bool good = lw_merits_freedom(merits) == freedom && chosen == freedom && svd_chosen == freedom &&
                sum < 1e-12 && fabs(trace - freedom) < 1e-11;
    if (!good)
        fail_msg(
            "seed %d, %s coordinates: freedom %d and not %d, chosen %d and %d, sum off by %g, trace by %g",
            seed, kind, lw_merits_freedom(merits), freedom, chosen, svd_chosen, sum, trace - freedom);
}

static void alpha_and_beta_sum_to_one_on_random_mechanisms(void **state) {
    (void)state;
    static random_loops loops;
    for (int seed = 1; seed <= 240; seed++) {
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        double q[512], v[512];
        lw_mobility *mobility;
        lw_error error;
        random_loops_state(&loops, model, true, q, v);
        assert_int_equal(lw_mobility_create(model, loops.t, q, &mobility, &error), LW_OK);
        for (int absolute = 0; absolute < 2; absolute++) {
            lw_merits *merits = merits_of(model, absolute, loops.t, q);
            check_random(merits, seed, lw_mobility_freedom(mobility), absolute ? "absolute" : "joint");
            lw_merits_destroy(merits);
        }
        lw_mobility_destroy(mobility);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_has_the_printed_criterion),
        cmocka_unit_test(linkage_has_the_printed_criterion),
        cmocka_unit_test(masses_change_the_best_choice_and_svd_does_not_see_them),
        cmocka_unit_test(sweep_stops_at_dead_points),
        cmocka_unit_test(alpha_and_beta_sum_to_one_on_random_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
