/* test_rcr_choice.c - the independent coordinates that rcr chooses: what the criterion says of them, speeds that follow from
 * them, changes on the way through singular positions, work.
 */
#include "build.h"
#include "problems.h"
#include "random_loops.h"
#include "constraints/projective_criterion.h"
#include "formulations/rcr/rcr_coordinate_choice.h"
#include "formulations/common/tree_method_base.h"
#include <linkwork/assemble.h>
#include <linkwork/criterion.h>
#include <linkwork/simulate.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64, ROWS = 100 };

/* --- a method in a state -------------------------------------------------------------------------- */

typedef struct bench {
    const lw_model *model;
    const lw_formulation *f;
    lw_method *method;
    lw_choice *choice;
    double *q, *v, *y, *ydot;
    int told;
    char text[400]; /* of the last note */
} bench;

static void hear(double t, const char *kind, const char *text, void *context) {
    bench *b = context;
    (void)t;
    assert_string_equal(kind, "coordinates");
    b->told++;
    snprintf(b->text, sizeof b->text, "%s", text);
}

static void set_up(bench *b, const lw_model *model, lw_drift drift) {
    const lw_method_options options = {.drift = drift, .note = hear, .note_context = b};
    lw_error error = {0};
    *b = (bench){.model = model, .f = lw_formulation_find("rcr")};
    if (b->f->create(model, &options, &b->method, &error) != LW_OK) fail_msg("%s", error.message);
    b->choice = lw_rcr_choice(b->method);
    size_t size = (size_t)(model->nq + model->nv + 1);
    b->q = calloc(size, sizeof *b->q), b->v = calloc(size, sizeof *b->v);
    b->y = calloc(size, sizeof *b->y), b->ydot = calloc(size, sizeof *b->ydot);
    lw_model_initial_state(model, b->q, b->v);
}

static void tear_down(bench *b) {
    b->f->destroy(b->method);
    free(b->q), free(b->v), free(b->y), free(b->ydot);
}

/* A run begins at the state in q and v; the first derivative chooses. */
static lw_status begin_run(bench *b, double t, lw_error *error) {
    lw_power power;
    b->f->to_state(b->method, t, b->q, b->v, b->y);
    return b->f->derivative(b->method, t, b->y, b->ydot, &power, error);
}

/* --- the criterion, dense --------------------------------------------------------------------------- */

/* Inverts A (n x n) in place by Gauss-Jordan with pivoting; returns its determinant. */
static double invert(int n, double *A) {
    static double W[MAX][2 * MAX];
    double det = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 2 * n; j++) W[i][j] = j < n ? A[i * n + j] : j - n == i;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (fabs(W[i][k]) > fabs(W[best][k])) best = i;
        for (int j = 0; j < 2 * n; j++) {
            double x = W[k][j];
            W[k][j] = W[best][j], W[best][j] = x;
        }
        double pivot = W[k][k];
        det *= best == k ? pivot : -pivot;
        if (pivot == 0) return 0;
        for (int j = 0; j < 2 * n; j++) W[k][j] /= pivot;
        for (int i = 0; i < n; i++) {
            double factor = W[i][k];
            for (int j = 0; i != k && j < 2 * n; j++) W[i][j] -= factor * W[k][j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[i * n + j] = W[i][n + j];
    return det;
}

/* A basis of the null space of the `rows` x n matrix C (destroyed), one vector after another; returns how many. */
static int null_basis(int rows, int n, double *C, double *N) {
    int column[MAX], rank = 0;
    bool used[MAX] = {false};
    for (; rank < rows; rank++) {
        int r = rank, c = -1;
        double most = 1e-8;
        for (int i = rank; i < rows; i++)
            for (int j = 0; j < n; j++)
                if (!used[j] && fabs(C[i * n + j]) > most) most = fabs(C[i * n + j]), r = i, c = j;
        if (c < 0) break;
        used[c] = true, column[rank] = c;
        for (int j = 0; j < n; j++) {
            double x = C[rank * n + j];
            C[rank * n + j] = C[r * n + j], C[r * n + j] = x;
        }
        double pivot = C[rank * n + c];
        for (int j = 0; j < n; j++) C[rank * n + j] /= pivot;
        for (int i = 0; i < rows; i++) {
            double factor = C[i * n + c];
            for (int j = 0; i != rank && j < n; j++) C[i * n + j] -= factor * C[rank * n + j];
        }
    }
    int count = 0;
    for (int j = 0; j < n; j++) {
        if (used[j]) continue;
        for (int i = 0; i < n; i++) N[count * n + i] = i == j;
        for (int k = 0; k < rank; k++) N[count * n + column[k]] = -C[k * n + j];
        count++;
    }
    return count;
}

/* det (Q M^-1)_II / det (M^-1)_II of the independent coordinates of all joints beyond the body `base`, which is held, from M and C of
 * the state in q; also cos^2 alpha of each of these joints' speeds, the number of independent ones in *freedom. */
static double dense_worth(const bench *b, double t, int base, int *freedom, double *cos2_alpha) {
    static double all[MAX * MAX], M[MAX * MAX], inverse[MAX * MAX], whole_C[ROWS * MAX], C[ROWS * MAX],
        N[MAX * MAX], P[MAX * MAX], S[MAX * MAX], whole[MAX * MAX];
    const lw_model *model = b->model;
    int nv = model->nv, n = 0, k = 0, count = lw_criterion_row_count(model), beyond[MAX], list[MAX];
    lw_arena *arena = lw_arena_create(NULL);
    lw_rows *rows = lw_rows_create_loops(model, arena);
    lw_data *data;
    lw_error error;
    assert_true(nv <= MAX && count <= ROWS);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_tree_mass_matrix(model, data, t, b->q, all);
    lw_take_state(model, data, t, b->q, b->v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    lw_rows_evaluate(model, data, false, rows);
    lw_criterion_rows(model, data, rows, lw_longest_arm(model), whole_C, NULL);
    for (int j = 0; j < nv; j++) {
        int body = model->links[b->choice->body_of[j]].parent;
        while (body > base) body = model->links[body].parent;
        if (body == base) beyond[n++] = j;
    }
    for (int x = 0; x < n; x++) {
        for (int z = 0; z < n; z++) M[x * n + z] = all[beyond[x] * nv + beyond[z]];
        for (int r = 0; r < count; r++) C[r * n + x] = whole_C[r * nv + beyond[x]];
    }
    lw_criterion *criterion = lw_criterion_create(n, count, arena);
    assert_int_equal(
        lw_criterion_evaluate(criterion, n, count, M, C, NULL, 1e-8, cos2_alpha, NULL, freedom, &error),
        LW_OK);
    lw_criterion_destroy(criterion);
    int freedoms = null_basis(count, n, C, N);
    assert_int_equal(freedoms, *freedom);
    for (int i = 0; i < freedoms; i++) /* N'M N */
        for (int j = 0; j < freedoms; j++) {
            S[i * freedoms + j] = 0;
            for (int x = 0; x < n; x++)
                for (int z = 0; z < n; z++) S[i * freedoms + j] += N[i * n + x] * M[x * n + z] * N[j * n + z];
        }
    invert(freedoms, S);
    memcpy(inverse, M, sizeof inverse);
    invert(n, inverse);
    for (int x = 0; x < n; x++)
        if (b->choice->owner[beyond[x]] < 0) list[k++] = x;
    assert_int_equal(k, freedoms);
    for (int x = 0; x < k; x++)
        for (int z = 0; z < k; z++) {
            whole[x * k + z] = inverse[list[x] * n + list[z]];
            P[x * k + z] = 0;
            for (int i = 0; i < freedoms; i++)
                for (int j = 0; j < freedoms; j++)
                    P[x * k + z] += N[i * n + list[x]] * S[i * freedoms + j] * N[j * n + list[z]];
        }
    double worth = invert(k, P) / invert(k, whole);
    lw_data_destroy(data);
    lw_arena_destroy(arena);
    return worth;
}

static double product(const bench *b) {
    double worth = 1;
    for (int t = 0; t < b->choice->loops->count; t++) worth *= b->choice->worth[t];
    return worth;
}

/* One loop: the worth is the criterion's, with its base held; with one freedom its coordinate is the one with the largest cos^2
 * alpha. Several on ground: their product is never more than that of the whole set. */
static void the_criterion_itself(void **state) {
    (void)state;
    static random_loops loops;
    int single = 0, coupled = 0, one = 0, seen = 0, without = 0;
    for (int seed = 1; seed <= 400; seed++) {
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        lw_error error = {0};
        if (loops.base == LOOP_MOVING || lw_formulation_find("rcr")->applies(model, &error) != LW_OK) {
            lw_model_destroy(model);
            continue;
        }
        bench b;
        set_up(&b, model, LW_DRIFT_PROJECT);
        random_loops_state(&loops, model, true, b.q, b.v);
        if (begin_run(&b, loops.t, &error) == LW_OK && b.choice->loops->count > 0) {
            seen++;
            if (!b.choice->made) without++;
        }
        if (b.choice->made && b.choice->loops->count > 0 && model->nv <= MAX) {
            double cos2[MAX] = {0}, best = 0;
            int freedom;
            bool grounded = true;
            for (int t = 0; t < b.choice->loops->count; t++) grounded &= b.choice->loops->loops[t].base == 0;
            bool alone = b.choice->loops->count == 1;
            double exact = 1, own = product(&b);
            if (alone || grounded)
                exact = dense_worth(&b, loops.t, b.choice->loops->loops[0].base, &freedom, cos2);
            if (alone) {
                single++;
                /* both determinants lose as many digits as M and G M^-1 G' are badly conditioned */
                if (!(fabs(own - exact) <= 1e-6 * exact))
                    fail_msg("seed %d (%s): cos^2 %.12g, not %.12g", seed, loop_kind_name(loops.kind), own,
                             exact);
                for (int k = 0; k < model->nv && freedom == 1; k++) best = fmax(best, cos2[k]);
                if (freedom == 1 && ++one && !(own > best / 1.02)) /* exchanges stop at a gain of 1.01 */
                    fail_msg("seed %d: cos^2 %.6g, but the best has %.6g", seed, own, best);
            } else if (grounded) {
                coupled++;
                if (!(own <= exact * (1 + 1e-6)) || !(exact > 0))
                    fail_msg("seed %d (%s): product %.12g, whole %.12g", seed, loop_kind_name(loops.kind),
                             own, exact);
            }
        }
        tear_down(&b);
        lw_model_destroy(model);
    }
    print_message(
        "%d mechanisms, %d without a choice; %d of one loop, %d of these with one freedom; %d coupled\n",
        seen, without, single, one, coupled);
    assert_true(single > 80 && one > 30 && coupled > 30);
    assert_true(without * 50 < seen);
}

/* What the dependent speeds of a state are does not matter: they follow from the independent ones. */
static void speeds_follow(void **state) {
    (void)state;
    static random_loops loops;
    int seen = 0, used = 0, sound = 0;
    for (int seed = 1; seed <= 400; seed++) {
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        lw_error error = {0};
        if (lw_formulation_find("rcr")->applies(model, &error) != LW_OK) {
            lw_model_destroy(model);
            continue;
        }
        bench b;
        set_up(&b, model, LW_DRIFT_PROJECT);
        random_loops_state(&loops, model, true, b.q, b.v);
        if (begin_run(&b, loops.t, &error) == LW_OK && b.choice->made && b.choice->loops->count > 0) {
            size_t size = (size_t)(model->nq + model->nv);
            double *wanted = calloc(size, sizeof *wanted), *y = calloc(size, sizeof *y), largest = 0, off = 0;
            lw_power power;
            memcpy(wanted, b.ydot, size * sizeof *wanted);
            memcpy(y, b.y, size * sizeof *y);
            for (int k = 0; k < model->nv; k++)
                if (b.choice->owner[k] >= 0) y[model->nq + k] += 1e-3 * random_between(&loops.random, -1, 1);
            sound += b.choice->sound;
            b.choice->sound = true; /* a run would take the projection below a cos^2 of 0.7 */
            assert_int_equal(b.f->derivative(b.method, loops.t, y, b.ydot, &power, &error), LW_OK);
            for (size_t k = 0; k < size; k++) {
                largest = fmax(largest, fabs(wanted[k]));
                off = fmax(off, fabs(wanted[k] - b.ydot[k]));
            }
            seen++;
            /* 1e-3 of speeds, had they been spread over all coordinates, would show in the sixth digit at least; rounding times the
             * condition of Delta does not */
            if (off < 1e-9 * (1 + largest)) used++;
            free(wanted), free(y);
        }
        tear_down(&b);
        lw_model_destroy(model);
    }
    print_message("%d of %d mechanisms, %d by themselves\n", used, seen, sound);
    assert_true(seen > 250 && sound > 50);
    assert_true(used * 50 >= seen * 49);
}

/* --- on the way --------------------------------------------------------------------------------------- */

/* Cranks of 1 m, a coupler whose mass is nearly in its middle: in line with the cranks it hardly resists the first of them, across
 * with all of its mass. So A is the better coordinate where the bars stand across, D where all are in line, which is the
 * singular position. */
static const char parallelogram[] =
    "linkwork: 1\nname: parallelogram\n"
    "bodies:\n"
    "  left: {mass: 0.2 kg, com: [0, 0, 0.5], inertia: [0.02, 0.02, 0.02]}\n"
    "  coupler: {mass: 8 kg, com: [0.75, 0, 1], inertia: [0.1, 0.1, 0.1]}\n"
    "  right: {mass: 6 kg, com: [1.5, 0, 0.5], inertia: [0.5, 0.5, 0.5]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, left], point: [0, 0, 0], axis: [0, 1, 0], v: 9 rad/s}\n"
    "  B: {type: revolute, between: [left, coupler], point: [0, 0, 1], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [coupler, right], point: [1.5, 0, 1], axis: [0, 1, 0], cut: true}\n"
    "  D: {type: revolute, between: [ground, right], point: [1.5, 0, 0], axis: [0, 1, 0]}\n";

/* Crank and rod of 1 m and a slider that is heavy: it is the better coordinate but at its dead points, where it stands still and the
 * crank takes over. Where the crank is upright the slider passes its centre: singular. */
static const char slider_crank[] =
    "linkwork: 1\nname: slider-crank\n"
    "bodies:\n"
    "  crank: {mass: 10 kg, com: [0.5, 0, 0], inertia: [1, 1, 1]}\n"
    "  rod: {mass: 10 kg, com: [1.5, 0, 0], inertia: [1, 1, 1]}\n"
    "  slider: {mass: 60 kg, com: [2, 0, 0], inertia: [1, 1, 1]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, -1, 0], v: 24 rad/s}\n"
    "  B: {type: revolute, between: [crank, rod], point: [1, 0, 0], axis: [0, -1, 0]}\n"
    "  C: {type: revolute, between: [rod, slider], point: [2, 0, 0], axis: [0, -1, 0], cut: true}\n"
    "  D: {type: prismatic, between: [ground, slider], axis: [1, 0, 0]}\n";

typedef struct journey {
    int changes;
    double turns;
    char text[200]; /* of the first change */
} journey;

static void count_changes(double t, const char *kind, const char *text, void *context) {
    journey *j = context;
    (void)t;
    if (strcmp(kind, "coordinates") != 0) return;
    if (j->changes++ == 0) snprintf(j->text, sizeof j->text, "%s", text);
}

static void crosses(const char *text, const char *name) {
    static const char *const integrators[] = {"erk", "adams"};
    lw_model *model = compile_or_fail(read_text_spec(text));
    for (int i = 0; i < 2; i++)
        for (int digits = 8; digits <= 11; digits++) {
            double end[4], rate[3];
            journey j = {0};
            lw_run_options options = {.method = "rcr",
                                      .integrator = integrators[i],
                                      .tolerance = pow(10, -digits),
                                      .end = 5,
                                      .output = 0.1,
                                      .event = count_changes,
                                      .context = &j};
            lw_run_summary summary;
            lw_error error = {0};
            if (lw_simulate(model, &options, end, rate, &summary, &error) != LW_OK)
                fail_msg("%s, %s, 1e-%d: %s", name, integrators[i], digits, error.message);
            j.turns = fabs(end[0]) / 6.283185307179586;
            print_message("%s, %s, 1e-%d: %.1f turns, %d changes, energy %.1e of it; %s\n", name,
                          integrators[i], digits, j.turns, j.changes,
                          summary.energy_max_drift / summary.energy_initial, j.text);
            assert_true(j.turns > 3);
            assert_true(j.changes >= 2 * j.turns); /* there and back, at least once a turn */
            assert_non_null(strstr(j.text, "loop of \"C\": independent "));
            /* erk comes out at once to six times the tolerance; Adams adds up its error over thousands of steps: the same runs
             * with all speeds changed by the least come out at as much */
            double allowed = (i ? 2000 : 20) * options.tolerance;
            assert_true(summary.energy_max_drift < allowed * summary.energy_initial);
            assert_true(summary.position_max < 1e-12);
        }
    lw_model_destroy(model);
}

static void through_singular_positions(void **state) {
    (void)state;
    crosses(parallelogram, "parallelogram");
    crosses(slider_crank, "slider-crank");
}

/* Told to take the coordinate that is worst, it takes the best after the next step, says so, and has moved nothing. */
static void a_bad_choice_is_changed(void **state) {
    (void)state;
    lw_model *model = read_problem("blajer_four_bar");
    bench b;
    lw_error error = {0};
    double cos2[MAX];
    int freedom, worst = 0, best = 0;
    set_up(&b, model, LW_DRIFT_PROJECT);
    assert_int_equal(lw_assemble(model, 0, b.q, b.v, NULL, &error), LW_OK);
    assert_int_equal(begin_run(&b, 0, &error), LW_OK);
    assert_true(b.choice->made);
    dense_worth(&b, 0, 0, &freedom, cos2);
    assert_int_equal(freedom, 1);
    for (int k = 0; k < model->nv; k++) {
        if (cos2[k] < cos2[worst]) worst = k;
        if (cos2[k] > cos2[best]) best = k;
    }
    assert_true(cos2[worst] < 0.4 * cos2[best]);
    assert_int_equal(b.choice->owner[best], -1);
    int n = 0;
    for (int k = 0; k < model->nv; k++) {
        b.choice->owner[k] = k == worst ? -1 : 0;
        if (k != worst) b.choice->dependent[n++] = k;
    }
    b.choice->delta[0] = 0;
    double before[MAX];
    lw_power power;
    memcpy(before, b.ydot, (size_t)(model->nq + model->nv) * sizeof *before);
    b.y[model->nq + best] += 1e-3; /* dependent now: it does not count */
    assert_int_equal(b.f->derivative(b.method, 1e-3, b.y, b.ydot, &power, &error), LW_OK);
    for (int k = 0; k < model->nq + model->nv; k++)
        assert_true(fabs(b.ydot[k] - before[k]) < 1e-9 * (1 + fabs(before[k]))); /* rounding */
    b.y[model->nq + best] -= 1e-3;
    assert_int_equal(b.f->project(b.method, 1e-3, b.y, &error), LW_OK);
    assert_int_equal(b.choice->owner[best], -1);
    assert_int_equal(b.choice->changes, 1);
    assert_int_equal(b.told, 1);
    char name[2][96], wanted[256];
    lw_speed_name(model, worst, name[0], sizeof name[0]), lw_speed_name(model, best, name[1], sizeof name[1]);
    snprintf(wanted, sizeof wanted, "independent %s -> %s; cos^2 %.3g -> %.3g", name[0], name[1], cos2[worst],
             cos2[best]);
    if (!strstr(b.text, wanted)) fail_msg("\"%s\" and not \"%s\"", b.text, wanted);
    for (int k = 0; k < model->nv; k++)
        assert_true(fabs(b.y[model->nq + k] - b.v[k]) < 1e-12 * (1 + fabs(b.v[k])));
    /* another step, the same set */
    assert_int_equal(b.f->project(b.method, 2e-3, b.y, &error), LW_OK);
    assert_int_equal(b.choice->changes, 1);
    tear_down(&b);
    lw_model_destroy(model);
}

/* As linkwork info shows it: of one loop with one freedom what partition would take. */
static void told_by_loop(void **state) {
    (void)state;
    lw_model *model = read_problem("four_bar");
    lw_error error = {0};
    lw_merits *merits;
    lw_loop_choice choice;
    double q[3], v[3];
    int count;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, &error), LW_OK);
    assert_int_equal(lw_merits_create(model, false, &merits, &error), LW_OK);
    assert_int_equal(lw_merits_evaluate(merits, 0, q, &error), LW_OK);
    assert_int_equal(lw_loop_choices(model, 0, q, &choice, 1, &count, &error), LW_OK);
    assert_int_equal(count, 1);
    assert_int_equal(choice.count, 2);
    assert_string_equal(choice.closed_by, "C");
    for (int k = 0; k < 3; k++) {
        const lw_merit *merit = lw_merits_get(merits, k);
        bool dependent = choice.speeds[0] == k || choice.speeds[1] == k;
        assert_int_equal(dependent, merit->choice == 0);
        if (!dependent) assert_true(fabs(choice.cos2 - merit->cos2_alpha) < 1e-12); /* rounding */
    }
    lw_merits_destroy(merits);
    lw_model_destroy(model);
}

/* --- work ------------------------------------------------------------------------------------------- */

/* Rungs on hinges of their own with two bars between neighbours: a freedom for every cell and one more. */
static lw_spec *five_bars(int cells) {
    static const double y_axis[3] = {0, 1, 0};
    lw_spec *spec = lw_spec_create("five-bars");
    for (int k = 0; k <= cells; k++) {
        char rung[24], before[24], bars[2][24], joint[24];
        const double top[3] = {k, 0, 0}, tip[3] = {k, 0, -1}, left[3] = {k - 1, 0, -1},
                     knee[3] = {k - 0.5, 0, -1.4};
        snprintf(rung, sizeof rung, "rung%d", k), snprintf(before, sizeof before, "rung%d", k - 1);
        snprintf(bars[0], sizeof bars[0], "near%d", k), snprintf(bars[1], sizeof bars[1], "far%d", k);
        add_body(spec,
                 (lw_body_spec){.name = rung, .mass = 1, .com = {k, 0, -0.5}, .inertia = {0.1, 0.1, 0.1}});
        snprintf(joint, sizeof joint, "top%d", k);
        add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, LW_GROUND, rung, top, y_axis);
        if (k == 0) continue;
        for (int side = 0; side < 2; side++)
            add_body(spec, (lw_body_spec){.name = bars[side],
                                          .mass = 0.5,
                                          .com = {k - 0.75 + 0.5 * side, 0, -1.2},
                                          .inertia = {0.02, 0.02, 0.02}});
        snprintf(joint, sizeof joint, "left%d", k);
        add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, before, bars[0], left, y_axis);
        snprintf(joint, sizeof joint, "knee%d", k);
        add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, bars[0], bars[1], knee, y_axis);
        snprintf(joint, sizeof joint, "right%d", k);
        add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, bars[1], rung, tip, y_axis);
    }
    return spec;
}

/* Multiplications of a first choice, and of a look at it after a step. */
static void work_of(lw_model *model, long work[2]) {
    bench b;
    lw_error error = {0};
    set_up(&b, model, LW_DRIFT_PROJECT);
    assert_int_equal(begin_run(&b, 0, &error), LW_OK);
    assert_true(b.choice->made);
    work[0] = b.choice->work;
    assert_int_equal(b.f->project(b.method, 1e-3, b.y, &error), LW_OK);
    work[1] = b.choice->work - work[0];
    assert_true(work[1] > 0 && b.choice->made);
    tear_down(&b);
    lw_model_destroy(model);
}

/* What one more cell takes does not depend on how many there are. */
static void work_grows_linearly(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        long work[11][2];
        for (int k = 0; k <= 10; k++) {
            char cells[16];
            snprintf(cells, sizeof cells, "%d", 1 << k);
            work_of(kind ? compile_or_fail(five_bars(1 << k)) : read_problem_with("ladder", "N", cells),
                    work[k]);
        }
        print_message("%s: a cell takes %ld to choose, %ld to look at\n", kind ? "five-bars" : "ladder",
                      (work[10][0] - work[9][0]) / 512, (work[10][1] - work[9][1]) / 512);
        for (int what = 0; what < 2; what++)
            for (int k = 5; k <= 10; k++) {
                /* ends are different, and cells differ in how often members are exchanged */
                double before = (double)(work[k - 1][what] - work[k - 2][what]),
                       now = (double)(work[k][what] - work[k - 1][what]);
                if (!(now < 2.2 * before))
                    fail_msg("%d cells: %ld, %ld before", 1 << k, work[k][what], work[k - 1][what]);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_criterion_itself),
        cmocka_unit_test(speeds_follow),
        cmocka_unit_test(through_singular_positions),
        cmocka_unit_test(a_bad_choice_is_changed),
        cmocka_unit_test(told_by_loop),
        cmocka_unit_test(work_grows_linearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
