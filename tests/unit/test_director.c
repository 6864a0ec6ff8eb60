/* test_director.c - director coordinates: measures, null-space matrices, Newton's matrix, and what one step keeps.
 *
 * Every identity is checked on random mechanisms between two random states; Newton's matrix against differences of the
 * residual; the scheme itself against energies and momenta that are computed from joint coordinates, and against its own
 * order.
 */
#include "build.h"
#include "random_model.h"
#include "formulations/director/director_parts.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 60, MAX = 200 };

extern const lw_formulation lw_formulation_director, lw_formulation_director_full;

static const lw_formulation *const schemes[2] = {&lw_formulation_director, &lw_formulation_director_full};

typedef struct subject {
    int seed;
    lw_model *model;
    lw_data *data;
    lw_method *method;
    const lw_formulation *f;
    double q[MAX], v[MAX], *y, *next;
    int halved, aliased;
} subject;

static void listen(double t, const char *kind, const char *text, void *context) {
    (void)t, (void)text;
    subject *s = context;
    s->halved += strcmp(kind, "halved") == 0;
    s->aliased += strcmp(kind, "aliased") == 0;
}

static void take(subject *s, lw_model *model, const lw_formulation *f) {
    const lw_method_options options = {.note = listen, .note_context = s};
    lw_error error;
    s->model = model, s->f = f, s->halved = s->aliased = 0;
    assert_int_equal(lw_data_create(model, NULL, &s->data), LW_OK);
    assert_int_equal(f->applies(model, &error), LW_OK);
    assert_int_equal(f->create(model, &options, &s->method, &error), LW_OK);
    s->y = calloc((size_t)s->method->state_size + 1, sizeof *s->y);
    s->next = calloc((size_t)s->method->state_size + 1, sizeof *s->next);
}

static void drop(subject *s) {
    s->f->destroy(s->method);
    lw_data_destroy(s->data);
    lw_model_destroy(s->model);
    free(s->y), free(s->next);
}

/* One step; false, with the reason printed, if there is none. */
static bool step(subject *s, double t, double h, lw_power *work) {
    lw_error error = {0};
    if (s->f->step(s->method, t, h, s->y, s->next, work, &error) != LW_OK) {
        print_error("seed %d, %s: %s\n", s->seed, s->f->name, error.message);
        return false;
    }
    double *y = s->y;
    s->y = s->next, s->next = y;
    return true;
}

static double total(subject *s) {
    lw_energy energy = s->f->energy(s->method, 0, s->y);
    return energy.kinetic + energy.potential;
}

/* A random tree between two states near each other, as the inside of a step sees it. */
static lw_director *between_states(int seed, bool full, bool forces, lw_model **model, lw_random *random) {
    *random = random_seed((uint64_t)seed + 400);
    random_tree options = {.bodies = 1 + random_below(random, 5),
                           .forces = forces,
                           .reversed = seed % 2,
                           .aligned = seed % 3 == 0,
                           .joint = seed % (LW_JOINT_TYPES + 2) < LW_JOINT_TYPES ? seed % (LW_JOINT_TYPES + 2)
                                                                                 : -1};
    *model = random_tree_model(random, &options);
    double q[MAX], v[MAX];
    random_state(random, *model, q, v);
    lw_method *method;
    const lw_method_options none = {0};
    lw_error error;
    assert_int_equal(schemes[full]->create(*model, &none, &method, &error), LW_OK);
    double *y = calloc((size_t)method->state_size + 1, sizeof *y);
    schemes[full]->to_state(method, 0, q, v, y);
    lw_director *d;
    assert_int_equal(lw_director_create(*model, full, &d, &error), LW_OK);
    lw_director_load(d, y);
    d->step.t0 = 0, d->step.h = 0.05;
    for (int k = 0; k < d->measure_count; k++) {
        lw_measure *m = &d->measures[k];
        m->from = lw_measure_value(m, d->step.q0, m->angle >= 0 ? d->step.angles[m->angle] : 0);
    }
    lw_director_start(d);
    for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = random_between(random, -1, 1);
    free(y);
    schemes[full]->destroy(method);
    return d;
}

/* --- measures ------------------------------------------------------------------------------------- */

/* D (q1 - q0) is the change, and forces along D balance each other: no rigid motion of both bodies changes a measure. */
static void measures_change_by_their_derivative(void **state) {
    (void)state;
    for (int seed = 0; seed < TREES; seed++) {
        lw_random random;
        lw_model *model;
        lw_director *d = between_states(seed, seed % 2, true, &model, &random);
        lw_director_equations(d, false);
        for (int k = 0; k < d->measure_count; k++) {
            const lw_measure *m = &d->measures[k];
            double change = lw_measure_along(m->D, m->bodies, d->step.change),
                   scale = 1 + fabs(m->from) + fabs(m->to);
            if (fabs(change - (m->to - m->from)) > 1e-13 * scale) /* rounding */
                fail_msg("seed %d, measure %d of kind %d: %g instead of %g", seed, k, m->kind, change,
                         m->to - m->from);
            if (m->bodies[1] == 0 && m->c.a[1][0] == 0 && m->c.b[1][0] == 0 && m->c.fixed[0] == 0)
                continue; /* of one body */
            double force[3] = {0}, moment[3] = {0}, part[6], size = 0;
            for (int side = 0; side < 2; side++) {
                const double *q = d->step.qm + 12 * m->bodies[side];
                lw_director_wrench(q, m->D + 12 * side, part);
                lw_v3_add(force, part, force);
                lw_v3_add(moment, part + 3, moment);
                lw_v3_add_cross(q, part, moment);
                size += lw_v6_dot(part, part) * (1 + lw_v3_dot(q, q));
            }
            /* components in world axes are no measures of rotations: their vectors do not turn */
            bool world = lw_v3_norm(m->c.fixed) > 0;
            double left = fmax(lw_v3_norm(force), world ? 0 : lw_v3_norm(moment));
            if (left > 1e-13 * (1 + sqrt(size)))
                fail_msg("seed %d, measure %d: out of balance by %g", seed, k, left);
        }
        lw_director_destroy(d);
        lw_model_destroy(model);
    }
}

/* --- null space ----------------------------------------------------------------------------------- */

/* G(qm) P(q0, q1) = 0 (14) and G(q1) P(q1) = 0 (5) for every row of every joint. */
static void rows_and_motions_are_perpendicular(void **state) {
    (void)state;
    int seen[LW_JOINT_TYPES] = {0};
    for (int seed = 0; seed < TREES; seed++) {
        lw_random random;
        lw_model *model;
        lw_director *d = between_states(seed, false, false, &model, &random);
        double *column = calloc(6 * (size_t)d->n + 1, sizeof *column);
        lw_director_equations(d, true);
        for (int i = 1; i <= d->n; i++)
            for (int k = 0; k < model->links[i].joint.nv; k++)
                for (int end = 0; end < 2; end++) {
                    const double *q = end ? d->step.q1 : d->step.qm;
                    lw_director_column(d, q, i, k, !end, column);
                    for (int r = 0; r < d->row_count; r++) {
                        const lw_director_row *row = &d->rows[r];
                        double sum = 0, size = 1;
                        for (int t = row->term; t < row->term + row->terms; t++) {
                            const lw_measure *m = &d->measures[d->terms[t].measure];
                            for (int side = 0; side < 2; side++) {
                                double wrench[6];
                                if (m->bodies[side] == 0) continue;
                                const double *own = column + 6 * (m->bodies[side] - 1);
                                lw_director_wrench(q + 12 * m->bodies[side],
                                                   (end ? m->slope : m->D) + 12 * side, wrench);
                                sum += d->terms[t].factor * lw_v6_dot(wrench, own);
                                size += fabs(d->terms[t].factor) *
                                        sqrt(lw_v6_dot(wrench, wrench) * lw_v6_dot(own, own));
                            }
                        }
                        if (fabs(sum) > 1e-12 * size) /* rounding along a chain of some bodies */
                            fail_msg("seed %d, joint type %s, speed %d, row %d (%s): %g", seed,
                                     lw_joint_type_name(d->joints[i].type), k, r, end ? "end" : "middle",
                                     sum);
                    }
                    seen[d->joints[i].type]++;
                }
        free(column);
        lw_director_destroy(d);
        lw_model_destroy(model);
    }
    for (int k = 0; k < LW_JOINT_TYPES; k++) assert_true(seen[k] > 0 || k == LW_JOINT_WELD);
}

/* --- Newton's matrix ------------------------------------------------------------------------------ */

/* Elements by kind, and those on rotations without a coordinate once more. */
enum { COUPLES = LW_FORCE_TYPES, KINDS = 2 * LW_FORCE_TYPES };

static void count_elements(const lw_model *model, int seen[KINDS]) {
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        bool joint = force->type == LW_FORCE_DRIVE || force->type == LW_FORCE_FRICTION;
        bool rotation = force->type == LW_FORCE_BUSHING && force->bushing_stiffness[3] != 0 &&
                        force->bushing_damping[3] != 0;
        seen[force->type]++;
        if (rotation || (joint && force->q < 0)) seen[COUPLES + force->type]++;
    }
}

static void assert_all_seen(const int seen[KINDS]) {
    for (int k = 0; k < LW_FORCE_CONTACT; k++) assert_true(seen[k] > 0);
    assert_true(seen[COUPLES + LW_FORCE_BUSHING] > 0 && seen[COUPLES + LW_FORCE_DRIVE] > 0 &&
                seen[COUPLES + LW_FORCE_FRICTION] > 0);
}

/* director-full: all unknowns of the bodies. director: along the motions of the tree, the only ones there are. */
static void matrix_is_the_derivative(void **state) {
    (void)state;
    int tested = 0, steep = 0, seen[KINDS] = {0};
    for (int seed = 0; seed < 2 * TREES; seed++) {
        lw_random random;
        lw_model *model;
        bool full = seed % 2;
        lw_director *d = between_states(seed / 2, full, seed % 8 < 6, &model, &random);
        count_elements(model, seen);
        int size = lw_block_matrix_size(d->sparse.matrix), bodies = d->size * d->n;
        double *x = calloc((size_t)size + 1, sizeof *x), *Kx = calloc((size_t)size + 1, sizeof *Kx);
        double *ahead = calloc((size_t)size + 1, sizeof *ahead);
        /* four points: errors eps^4 times fifth derivatives, which friction makes large, and 1e-13 / eps of forces */
        const double eps = 1e-5, shift[4] = {-2, -1, 1, 2},
                     weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
        int moves = full ? bodies : model->nv;
        for (int move = 0; move < moves; move++) {
            memset(x, 0, (size_t)size * sizeof *x);
            if (full)
                x[move] = 1;
            else {
                int i = 1;
                while (move >= model->links[i].v + model->links[i].joint.nv) i++;
                lw_director_equations(d, true);
                lw_director_column(d, d->step.q1, i, move - model->links[i].v, false, x);
            }
            lw_director_equations(d, true);
            lw_block_matrix_times(d->sparse.matrix, x, Kx);
            memset(ahead, 0, (size_t)size * sizeof *ahead);
            for (int side = 0; side < 4; side++) {
                double *save = malloc(12 * ((size_t)d->n + 1) * sizeof *save);
                double *turn = malloc(4 * ((size_t)d->n + 1) * sizeof *turn), u[MAX];
                memcpy(save, d->step.change, 12 * ((size_t)d->n + 1) * sizeof *save);
                memcpy(turn, d->step.turn, 4 * ((size_t)d->n + 1) * sizeof *turn);
                memcpy(u, d->step.u, (size_t)model->nv * sizeof *u);
                for (int k = 0; k < bodies; k++) d->sparse.right[k] = eps * shift[side] * x[k];
                if (full)
                    for (int k = 0; k < bodies; k++) {
                        d->step.change[12 + k] += d->sparse.right[k];
                        d->step.q1[12 + k] = d->step.q0[12 + k] + d->step.change[12 + k];
                        d->step.qm[12 + k] = d->step.q0[12 + k] + 0.5 * d->step.change[12 + k];
                    }
                else
                    lw_director_advance(d, d->sparse.right);
                lw_director_equations(d, false);
                for (int k = 0; k < size; k++) ahead[k] -= weight[side] * d->sparse.right[k] / eps;
                memcpy(d->step.change, save, 12 * ((size_t)d->n + 1) * sizeof *save);
                memcpy(d->step.turn, turn, 4 * ((size_t)d->n + 1) * sizeof *turn);
                memcpy(d->step.u, u, (size_t)model->nv * sizeof *u);
                for (int k = 12; k < 12 * (d->n + 1); k++) {
                    d->step.q1[k] = d->step.q0[k] + d->step.change[k];
                    d->step.qm[k] = d->step.q0[k] + 0.5 * d->step.change[k];
                }
                free(save), free(turn);
                lw_director_equations(d, true); /* slopes as they were */
            }
            double worst = 0, scale = 1;
            for (int k = 0; k < (full ? size : bodies); k++) {
                worst = fmax(worst, fabs(ahead[k] - Kx[k]));
                scale = fmax(scale, fabs(Kx[k]));
            }
            if (scale > 1e6) { /* a law so steep there that differences tell nothing */
                steep++;
                continue;
            }
            if (worst > 1e-5 * scale) /* laws are integrated to 1e-13, over eps and over the elongation */
                fail_msg("tree %d, %s, motion %d: matrix and differences differ by %g of %g", seed / 2,
                         full ? "director-full" : "director", move, worst, scale);
            tested++;
        }
        free(x), free(Kx), free(ahead);
        lw_director_destroy(d);
        lw_model_destroy(model);
    }
    assert_all_seen(seen);
    assert_true(tested > 1000 && steep < tested / 20);
}

/* The matrix is exact, so each increment of Newton's iteration is of the order of the square of the one before. */
static void newton_converges_quadratically(void **state) {
    (void)state;
    int pairs = 0, most = 0, seen[KINDS] = {0};
    double worst = 0;
    for (int seed = 0; seed < 2 * TREES; seed++) {
        lw_random random;
        lw_model *model;
        bool full = seed % 2;
        lw_director *d = between_states(seed / 2, full, true, &model, &random);
        int n = d->size * d->n;
        double before = HUGE_VAL, size = HUGE_VAL, places = 0;
        count_elements(model, seen);
        for (int r = 0; r < d->row_count; r++) d->rows[r].lambda = 0;
        for (int k = 12; k < 12 * (d->n + 1); k++) places = fmax(places, fabs(d->step.q0[k]));
        int round = 0;
        for (; round < 20 && size > 1e-13 * places; round++) {
            lw_director_equations(d, true);
            assert_true(lw_block_matrix_factor(d->sparse.matrix, true));
            lw_block_matrix_solve(d->sparse.matrix, d->sparse.right);
            size = 0;
            for (int k = 0; k < n; k++) size = fmax(size, fabs(d->sparse.right[k]));
            for (int r = 0; r < d->row_count; r++)
                d->rows[r].lambda += d->sparse.right[lw_block_matrix_start(d->sparse.matrix, d->n + r)];
            if (full)
                for (int k = 0; k < n; k++) {
                    d->step.change[12 + k] += d->sparse.right[k];
                    d->step.q1[12 + k] = d->step.q0[12 + k] + d->step.change[12 + k];
                    d->step.qm[12 + k] = d->step.q0[12 + k] + 0.5 * d->step.change[12 + k];
                }
            else
                lw_director_advance(d, d->sparse.right);
            /* below 1e-7 squares are rounding, with the conditioning of director-full below 1e-6 */
            if (before < 1e-2 && before > 1e-6) {
                worst = fmax(worst, size / (before * before));
                pairs++;
            }
            before = size;
        }
        most = round > most ? round : most;
        if (round >= 10)
            fail_msg("tree %d, %s: %d iterations", seed / 2, full ? "director-full" : "director", round);
        lw_director_destroy(d);
        lw_model_destroy(model);
    }
    print_message("%d pairs of increments: second over square of first at most %.1f, %d iterations at most\n",
                  pairs, worst, most);
    assert_all_seen(seen);
    assert_true(pairs > 100);
    assert_true(
        worst <
        100); /* curvature over slope, of mechanisms of size 1; linear convergence at 0.1 would show 1e5 */
}

/* --- recursion --------------------------------------------------------------------------------------- */

/* The same steps by two passes and by the sparse matrix: states, work and reactions; and the sweeps converge quadratically, that is, with
 * the exact derivative. */
static void recursion_and_matrix_agree(void **state) {
    (void)state;
    int swept = 0, pairs = 0, seen[KINDS] = {0}, joints[LW_JOINT_TYPES] = {0};
    double furthest = 0, worst = 0;
    for (int seed = 0; seed < 6 * TREES; seed++) {
        lw_random random;
        lw_model *model;
        lw_director *by_recursion = between_states(seed, false, seed % 4 > 0, &model, &random), *by_matrix;
        lw_error error;
        assert_int_equal(lw_director_create(model, false, &by_matrix, &error), LW_OK);
        if (by_recursion->recursive) {
            lw_director *d[2] = {by_recursion, by_matrix};
            size_t n = (size_t)lw_director_state_size(by_matrix), loads = 6 * (size_t)model->joint_count;
            double *y[2], *reactions[2], before = HUGE_VAL, size = HUGE_VAL, length;
            lw_power work[2];
            swept++, by_matrix->recursive = NULL;
            count_elements(model, seen);
            for (int i = 1; i <= by_matrix->n; i++) joints[by_matrix->joints[i].type]++;
            lw_director_by_recursion.start(by_recursion);
            for (int round = 0; round < 12 && size > 1e-7; round++) {
                assert_true(
                    lw_director_by_recursion.increment(by_recursion, LW_DIRECTOR_NEW_MATRIX, &size, &length));
                /* over the step; before that loads are expected, not known, and it is only faster than linear */
                if (before < 1e-2 && before > 1e-5)
                    worst = fmax(worst, size / length / (before * before)), pairs++;
                before = size / length;
            }
            for (int way = 0; way < 2; way++) {
                y[way] = calloc(2 * n + 1, sizeof *y[way]);
                reactions[way] = calloc(loads, sizeof *reactions[way]);
            }
            for (int way = 0; way < 2; way++) {
                size_t places = 12 * (size_t)by_matrix->n;
                memcpy(y[way], by_recursion->step.q0 + 12, places * sizeof(double));
                memcpy(y[way] + places, by_recursion->step.v0 + 12, places * sizeof(double));
                memcpy(y[way] + 2 * places, by_recursion->step.angles, (n - 2 * places) * sizeof(double));
            }
            bool fine = true;
            for (int way = 1; way >= 0 && fine; way--)
                for (int k = 0; k < 2 && fine; k++)
                    fine = lw_director_take_step(d[way], 0.01 * k, 0.01, y[way] + (k ? n : 0),
                                                 y[way] + (k ? 0 : n), &work[way], &error) == LW_OK;
            if (!fine) fail_msg("tree %d: %s", seed, error.message);
            double off = 0, scale = 1, off_load = 0, load = 1;
            for (size_t k = 0; k < n; k++) {
                off = fmax(off, fabs(y[0][k] - y[1][k]));
                scale = fmax(scale, fabs(y[1][k]));
            }
            for (int way = 0; way < 2; way++)
                assert_true(lw_director_reactions_at(d[way], 0.015, reactions[way]));
            for (size_t k = 0; k < loads; k++) {
                off_load = fmax(off_load, fabs(reactions[0][k] - reactions[1][k]));
                load = fmax(load, fabs(reactions[1][k]));
            }
            furthest = fmax(furthest, fmax(off / scale, off_load / load));
            double books = fabs(work[0].drives - work[1].drives) + fabs(work[0].forces - work[1].forces) +
                           fabs(work[0].dissipation - work[1].dissipation);
            /* both are solved to rounding, which the rates see over h; matrices of random models amplify it */
            if (off > 1e-11 * scale || off_load > 1e-9 * load ||
                books > 1e-10 * (1 + fabs(work[1].dissipation)))
                fail_msg("tree %d: states differ by %g of %g, reactions by %g of %g, work by %g", seed, off,
                         scale, off_load, load, books);
            for (int way = 0; way < 2; way++) free(y[way]), free(reactions[way]);
        }
        lw_director_destroy(by_recursion), lw_director_destroy(by_matrix);
        lw_model_destroy(model);
    }
    print_message("%d trees by sweeps and by the matrix: differ by %.1e at most; %d pairs of increments, at "
                  "most %.1f\n",
                  swept, furthest, pairs, worst);
    for (int k = 0; k < LW_FORCE_CONTACT; k++) assert_true(seen[k] > 0);
    for (int k = 0; k < LW_JOINT_TYPES; k++) assert_true(joints[k] > 0 || k == LW_JOINT_SCREW);
    assert_true(swept > 100 && pairs > 50);
    assert_true(
        worst <
        300); /* curvature over slope, of friction and bushings; linear convergence at 0.1 would show 1e4 */
}

/* --- what a step keeps ---------------------------------------------------------------------------- */

/* A free chain of different joints with springs between its bodies, no ground, no gravity. */
static lw_model *free_chain(int links) {
    static const lw_joint_type types[6] = {LW_JOINT_UNIVERSAL,   LW_JOINT_SPHERICAL, LW_JOINT_REVOLUTE,
                                           LW_JOINT_CYLINDRICAL, LW_JOINT_PLANAR,    LW_JOINT_SCREW};
    lw_spec *spec = lw_spec_create("free chain");
    static char names[40][8], joints[40][8], springs[40][8];
    assert_true(links < 40);
    lw_spec_set_gravity(spec, (const double[3]){0, 0, 0});
    for (int i = 0; i < links; i++) {
        snprintf(names[i], sizeof names[i], "b%d", i);
        snprintf(joints[i], sizeof joints[i], "j%d", i);
        snprintf(springs[i], sizeof springs[i], "s%d", i);
        lw_body_spec body = {.name = names[i],
                             .mass = 1 + 0.1 * i,
                             .inertia = {0.1, 0.12, 0.15, 0.01, 0, -0.01},
                             .position = {i, 0.1 * i, 0}};
        add_body(spec, body);
        lw_joint_spec joint = {.name = joints[i],
                               .type = i ? types[i % 6] : LW_JOINT_FREE,
                               .bodies = {i ? names[i - 1] : LW_GROUND, names[i]},
                               .lead = 0.3,
                               .has_v = true,
                               .v = {0.3, -0.5, 0.4, 0.3, 0.6, -0.4}};
        for (int k = 0; k < 3; k++) joint.geometry[0].point[k] = k == 0 ? i - 0.5 : 0;
        joint.geometry[0].axes[0][0] = 0.6, joint.geometry[0].axes[0][2] = 0.8;
        joint.geometry[0].axes[1][1] = 1;
        joint.geometry[0].axis_count = !i || types[i % 6] == LW_JOINT_SPHERICAL ? 0
                                       : types[i % 6] == LW_JOINT_UNIVERSAL     ? 2
                                                                                : 1;
        add_joint(spec, joint);
        if (i < 2) continue;
        lw_force_spec spring = {.name = springs[i],
                                .type = LW_FORCE_SPRING,
                                .bodies = {names[i - 2], names[i]},
                                .frame = LW_GEOMETRY_BODY,
                                .points = {{0.1, 0.2, 0.3}, {-0.2, 0, 0.1}},
                                .free_length = 1.5,
                                .has_free_length = true,
                                .law = {.expression = i % 2 ? "40*x + 200*x^3" : "30*sinh(x)"}};
        add_force(spec, spring);
    }
    return compile_or_fail(spec);
}

static void energy_and_momenta_of_a_free_chain(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        subject s = {.seed = -1};
        take(&s, free_chain(7), schemes[k]);
        lw_model_initial_state(s.model, s.q, s.v);
        s.f->to_state(s.method, 0, s.q, s.v, s.y);
        double linear[3], angular[3], p[3], L[3], start = total(&s), size = 0;
        lw_momentum(s.model, s.data, 0, s.q, s.v, linear, angular);
        double scale = lw_v3_norm(linear) + lw_v3_norm(angular);
        lw_power work;
        for (int i = 0; i < 500; i++) {
            assert_true(step(&s, 0.02 * i, 0.02, &work));
            s.f->from_state(s.method, 0, s.y, s.q, s.v);
            lw_momentum(s.model, s.data, 0, s.q, s.v, p, L); /* survives the way to joint coordinates */
            for (int c = 0; c < 3; c++)
                size = fmax(size, fmax(fabs(p[c] - linear[c]), fabs(L[c] - angular[c])));
            assert_true(work.drives == 0 && work.forces == 0 && work.dissipation == 0);
        }
        double position, velocity;
        s.f->violation(s.method, 0, s.y, &position, &velocity);
        print_message("%s: energy %.1e, momenta %.1e, position %.1e, rates %.1e, halved %d\n", s.f->name,
                      fabs(total(&s) - start) / start, size / scale, position, velocity, s.halved);
        assert_true(fabs(total(&s) - start) < 1e-12 * start); /* 500 roundings, and room */
        assert_true(size < 1e-11 * scale); /* the same, and a sparse solution on the way out */
        assert_true(position < 1e-12);
        drop(&s);
    }
}

/* h forward and h back is nowhere. */
static void steps_are_reversible(void **state) {
    (void)state;
    for (int seed = 0; seed < 20; seed++) {
        lw_random random = random_seed((uint64_t)seed + 50);
        random_tree options = {.bodies = 3, .forces = false, .joint = -1};
        subject s = {.seed = seed};
        take(&s, random_tree_model(&random, &options), schemes[seed % 2]);
        random_state(&random, s.model, s.q, s.v);
        s.f->to_state(s.method, 0, s.q, s.v, s.y);
        size_t n = (size_t)s.method->state_size;
        double *start = malloc(n * sizeof *start), worst = 0;
        memcpy(start, s.y, n * sizeof *start);
        lw_power work;
        for (int k = 0; k < 40; k++) assert_true(step(&s, 0, k < 20 ? 0.01 : -0.01, &work));
        for (size_t k = 0; k < n; k++) worst = fmax(worst, fabs(s.y[k] - start[k]) / (1 + fabs(start[k])));
        if (worst > 1e-9)
            fail_msg("seed %d: back by %g", seed, worst); /* rates: rounding over h, forty times */
        free(start);
        drop(&s);
    }
}

/* Order 2, and 4 of the composition, from differences of three step sizes. */
static void order_of_the_scheme(void **state) {
    (void)state;
    static const char *const integrators[2] = {"energy-momentum", "energy-momentum-4"};
    for (int method = 0; method < 2; method++)
        for (int k = 0; k < 2; k++) {
            lw_model *model = free_chain(4);
            double q[3][MAX], v[3][MAX], differences[2] = {0, 0};
            for (int fine = 0; fine < 3; fine++) {
                lw_run_options options;
                lw_error error = {0};
                lw_run_defaults(model, &options);
                options.method = schemes[method]->name, options.integrator = integrators[k];
                options.end = 0.4, options.step = (k ? 0.04 : 0.01) / (1 << fine), options.tolerance = 0;
                if (lw_simulate(model, &options, q[fine], v[fine], NULL, &error) != LW_OK)
                    fail_msg("%s", error.message);
            }
            for (int i = 0; i < model->nv; i++)
                for (int fine = 0; fine < 2; fine++)
                    differences[fine] = fmax(differences[fine], fabs(v[fine + 1][i] - v[fine][i]));
            double order = log2(differences[0] / differences[1]);
            print_message("%s, %s: order %.2f, difference %.1e\n", schemes[method]->name, integrators[k],
                          order, differences[1]);
            assert_true(fabs(order - (k ? 4 : 2)) < 0.3); /* the next term of the error is h^2 of this one */
            lw_model_destroy(model);
        }
}

/* With a tolerance the error follows it, and energy is kept all the same. */
static void steps_by_tolerance(void **state) {
    (void)state;
    lw_model *model = free_chain(4);
    double reference[2 * MAX], v[2 * MAX], q[2 * MAX], before = 0;
    for (int k = 0; k < 3; k++) {
        lw_run_options options;
        lw_run_summary summary;
        lw_error error = {0};
        lw_run_defaults(model, &options);
        options.method = k ? "director" : "tree", options.integrator = k ? "energy-momentum-4" : "erk";
        options.end = 0.5, options.step = 0, options.output = 0.1;
        options.tolerance = k == 0 ? 1e-11 : k == 1 ? 1e-4 : 1e-6;
        if (lw_simulate(model, &options, q, k ? v : reference, &summary, &error) != LW_OK)
            fail_msg("%s", error.message);
        if (k == 0) continue;
        double worst = 0;
        for (int i = 0; i < model->nv; i++) worst = fmax(worst, fabs(v[i] - reference[i]));
        print_message("tolerance %g: %ld steps, error %.1e, energy %.1e\n", options.tolerance, summary.steps,
                      worst, summary.energy_max_drift);
        assert_true(worst < 1e3 * options.tolerance && (k == 1 || worst < 0.2 * before));
        assert_true(summary.energy_max_drift < 1e-11 * summary.energy_initial);
        before = worst;
    }
    lw_model_destroy(model);
}

/* --- robust steps --------------------------------------------------------------------------------- */

static lw_model *spinning_body(double speed) {
    lw_spec *spec = lw_spec_create("spinning");
    add_plain_body(spec, "wheel");
    lw_joint_spec joint = {.name = "pin",
                           .type = LW_JOINT_SPHERICAL,
                           .bodies = {LW_GROUND, "wheel"},
                           .has_v = true,
                           .v = {0.1, 0.2, speed}};
    joint.geometry[0].point[0] = 0.3;
    add_joint(spec, joint);
    return compile_or_fail(spec);
}

static void fast_rotation_is_reported(void **state) {
    (void)state;
    for (int fast = 0; fast < 2; fast++) {
        subject s = {.seed = -2};
        take(&s, spinning_body(fast ? 70 : 20), schemes[0]);
        lw_model_initial_state(s.model, s.q, s.v);
        s.f->to_state(s.method, 0, s.q, s.v, s.y);
        double start = total(&s);
        lw_power work;
        for (int k = 0; k < 40; k++) assert_true(step(&s, 0.05 * k, 0.05, &work));
        assert_int_equal(s.aliased, fast); /* 3.5 rad in a step, told once */
        assert_true(fabs(total(&s) - start) < 1e-12 * start);
        drop(&s);
    }
}

/* A stop that gets hard so fast that a whole step is beyond Newton: it is taken in parts, and told. */
static void hard_steps_are_halved(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("hard");
    add_plain_body(spec, "bob");
    const double origin[3] = {0, 0, 0}, axis[3] = {0, 1, 0};
    add_plain_joint(spec, "pin", LW_JOINT_REVOLUTE, LW_GROUND, "bob", origin, axis);
    lw_force_spec drive = {
        .name = "hammer", .type = LW_FORCE_DRIVE, .joint = "pin", .drive = "-1e-3*exp(60*q)"};
    add_force(spec, drive);
    subject s = {.seed = -3};
    take(&s, compile_or_fail(spec), schemes[0]);
    s.q[0] = 0, s.v[0] = 20;
    s.f->to_state(s.method, 0, s.q, s.v, s.y);
    double start = total(&s), booked = 0;
    lw_power work;
    for (int k = 0; k < 40; k++) {
        assert_true(step(&s, 0.1 * k, 0.1, &work));
        booked += work.drives + work.forces - work.dissipation;
    }
    print_message("halved in %d of 40 steps\n", s.halved);
    assert_true(s.halved > 0);
    assert_true(fabs(total(&s) - start - booked) < 1e-10 * (1 + fabs(booked)));
    drop(&s);
}

/* --- cost ----------------------------------------------------------------------------------------- */

static lw_model *long_chain(int links) {
    lw_spec *spec = lw_spec_create("chain");
    char before[16] = "", name[16], joint[16];
    for (int i = 0; i < links; i++) {
        snprintf(name, sizeof name, "b%d", i);
        snprintf(joint, sizeof joint, "j%d", i);
        lw_body_spec body = {
            .name = name, .mass = 1, .inertia = {0.1, 0.2, 0.25}, .position = {i + 0.5, 0, 0}};
        add_body(spec, body);
        const double point[3] = {i, 0, 0}, axis[3] = {0, i % 2, 1 - i % 2};
        add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, i ? before : LW_GROUND, name, point, axis);
        memcpy(before, name, sizeof name);
    }
    return compile_or_fail(spec);
}

/* Newton's iterations per step do not grow with the chain, nor do numbers in the factors per body where it is solved as a sparse matrix; by
 * recursion they are what they are for each joint. */
static void cost_is_linear(void **state) {
    (void)state;
    double per_body[3];
    const int links[3] = {100, 1000, 10000};
    for (int k = 0; k < 3; k++) {
        lw_model *model = long_chain(links[k]);
        const lw_method_options options = {0};
        lw_method *method;
        lw_director *d;
        lw_error error;
        lw_power work;
        double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v);
        for (int i = 0; i < model->nv; i++) v[i] = 0.1 * sin(i);
        assert_int_equal(schemes[0]->create(model, &options, &method, &error), LW_OK);
        size_t size = (size_t)method->state_size;
        double *y = calloc(2 * size, sizeof *y);
        schemes[0]->to_state(method, 0, q, v, y);
        schemes[0]->destroy(method);
        for (int matrix = 0; matrix < 2; matrix++) {
            assert_int_equal(lw_director_create(model, false, &d, &error), LW_OK);
            assert_non_null(d->recursive);
            if (matrix) d->recursive = NULL;
            assert_int_equal(lw_director_take_step(d, 0, 1e-3, y, y + size, &work, &error), LW_OK);
            assert_true(d->solver == (matrix ? &lw_director_by_matrix : &lw_director_by_recursion));
            if (matrix) per_body[k] = (double)lw_block_matrix_fill(d->sparse.matrix) / links[k];
            print_message("%d links, %s: %d iterations, %ld factorisations\n", links[k],
                          matrix ? "matrix" : "recursion", d->progress.iterations, d->progress.factored);
            assert_true(d->progress.iterations <= 6 &&
                        d->progress.factored <= 3); /* from loads that are not known yet */
            lw_director_destroy(d);
        }
        free(y), free(q), free(v);
        lw_model_destroy(model);
    }
    assert_true(per_body[2] < 1.1 * per_body[0] && per_body[1] < 1.1 * per_body[0]);
}

/* --- reactions ------------------------------------------------------------------------------------ */

typedef struct reaction_watch {
    const lw_model *model;
    lw_data *data;
    double worst, scale;
} reaction_watch;

/* Against those of the accelerations at the sampled state. */
static bool compare_reactions(const lw_sample *sample, void *context) {
    reaction_watch *w = context;
    double vdot[MAX], reactions[6 * MAX];
    lw_error error;
    assert_int_equal(lw_accelerations(w->model, "lagrange", sample->t, sample->q, sample->v, vdot, reactions,
                                      NULL, &error),
                     LW_OK);
    for (int k = 0; k < 6 * w->model->joint_count; k++) {
        w->scale = fmax(w->scale, fabs(reactions[k]));
        if (sample->t > 0.1) w->worst = fmax(w->worst, fabs(reactions[k] - sample->reactions[k]));
    }
    return true;
}

/* A pendulum of several joints with drive and friction: multipliers of the steps give the reactions to second order. */
static void reactions_of_the_multipliers(void **state) {
    (void)state;
    for (int method = 0; method < 2; method++) {
        double error_of[2];
        for (int fine = 0; fine < 2; fine++) {
            lw_spec *spec = lw_spec_create("arm");
            static const char *const names[4] = {LW_GROUND, "a", "b", "c"};
            static const char *const joints[3] = {"shoulder", "elbow", "wrist"};
            static const lw_joint_type types[3] = {LW_JOINT_REVOLUTE, LW_JOINT_UNIVERSAL, LW_JOINT_SPHERICAL};
            for (int i = 0; i < 3; i++) {
                add_body(spec, (lw_body_spec){.name = names[i + 1],
                                              .mass = 1,
                                              .inertia = {0.1, 0.2, 0.25},
                                              .position = {i + 0.5, 0, 0}});
                lw_joint_spec joint = {
                    .name = joints[i], .type = types[i], .bodies = {names[i], names[i + 1]}};
                joint.geometry[0].point[0] = i;
                joint.geometry[0].axes[0][1] = joint.geometry[0].axes[1][2] = 1;
                joint.geometry[0].axis_count = i == 0 ? 1 : i == 1 ? 2 : 0;
                joint.v[0] =
                    1 - i; /* from rest the multipliers would not change their errors' sign in every step */
                add_joint(spec, joint);
            }
            add_force(spec, (lw_force_spec){.name = "motor",
                                            .type = LW_FORCE_DRIVE,
                                            .joint = "shoulder",
                                            .drive = "5*sin(3*t) - q"});
            add_force(spec, (lw_force_spec){.name = "rub",
                                            .type = LW_FORCE_FRICTION,
                                            .joint = "wrist",
                                            .coordinate = 1,
                                            .viscous = 0.3});
            lw_model *model = compile_or_fail(spec);
            reaction_watch watch = {.model = model};
            lw_run_options options;
            lw_error error = {0};
            lw_run_defaults(model, &options);
            options.method = schemes[method]->name, options.integrator = "energy-momentum";
            options.end = 0.5, options.step = fine ? 0.0025 : 0.005;
            options.output = 0.037; /* also between the ends of steps */
            options.want_reactions = true, options.observe = compare_reactions, options.context = &watch;
            if (lw_simulate(model, &options, NULL, NULL, NULL, &error) != LW_OK)
                fail_msg("%s", error.message);
            error_of[fine] = watch.worst / watch.scale;
            lw_model_destroy(model);
        }
        print_message("%s: reactions differ by %.1e and %.1e\n", schemes[method]->name, error_of[0],
                      error_of[1]);
        assert_true(error_of[1] < 1e-2 && error_of[0] / error_of[1] > 3); /* of second order: by 4 */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_change_by_their_derivative),
        cmocka_unit_test(rows_and_motions_are_perpendicular),
        cmocka_unit_test(matrix_is_the_derivative),
        cmocka_unit_test(newton_converges_quadratically),
        cmocka_unit_test(recursion_and_matrix_agree),
        cmocka_unit_test(energy_and_momenta_of_a_free_chain),
        cmocka_unit_test(steps_are_reversible),
        cmocka_unit_test(order_of_the_scheme),
        cmocka_unit_test(steps_by_tolerance),
        cmocka_unit_test(fast_rotation_is_reported),
        cmocka_unit_test(hard_steps_are_halved),
        cmocka_unit_test(cost_is_linear),
        cmocka_unit_test(reactions_of_the_multipliers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
