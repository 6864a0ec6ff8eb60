/* test_rcr.c - the method rcr where its theory has something to prove: loops on bases of their own, nested, sharing bodies, a
 * thousand bodies; rows that sleep and wake; singular positions. Against lagrange, which knows no tree and no loops.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "formulations/rcr/rcr_solve.h"
#include "problems.h"
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounding times the condition of a thousand bodies in a row. */
static const double agreement = 1e-9;

/* --- towers of four-bars, each on the coupler of the one below ------------------------------------- */

static void name_of(char text[24], const char *what, int index) { snprintf(text, 24, "%s%d", what, index); }

static void turn_about(int axis, double angle, double R[9]) {
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    lw_m3_identity(R);
    R[4 * j] = R[4 * k] = cos(angle);
    R[3 * k + j] = sin(angle), R[3 * j + k] = -sin(angle);
}

static void in_frame(const lw_pose *frame, double x, double y, double z, double out[3]) {
    const double local[3] = {x, y, z};
    lw_pose_point(frame->R, frame->p, local, out);
}

static void add_bar(lw_spec *spec, const char *name, const double a[3], const double b[3], double mass) {
    lw_body_spec body = {.name = name, .mass = mass, .inertia = {0.1 * mass, 0.12 * mass, 0.08 * mass}};
    for (int k = 0; k < 3; k++) body.com[k] = 0.5 * (a[k] + b[k]) + 0.02 * k;
    add_body(spec, body);
}

static const double z_axis[3] = {0, 0, 1};

/* Number `index` on `base`, in the xy-plane of frame; frame becomes that of the next, on its coupler. */
static void add_four_bar(lw_spec *spec, int index, const char *base, lw_pose *frame) {
    char crank[24], coupler[24], rocker[24], joint[24];
    double a[3], b[3], c[3], d[3], axis[3];
    name_of(crank, "crank", index), name_of(coupler, "coupler", index), name_of(rocker, "rocker", index);
    in_frame(frame, 0, 0, 0, a);
    in_frame(frame, 0.2, 0.7, 0, b);
    in_frame(frame, 1.2, 0.8, 0, c);
    in_frame(frame, 1.1, -0.1, 0, d);
    lw_m3_mul_v(frame->R, z_axis, axis);
    add_bar(spec, crank, a, b, 1);
    add_bar(spec, coupler, b, c, 1.5);
    add_bar(spec, rocker, c, d, 0.8);
    name_of(joint, "a", index), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, base, crank, a, axis);
    name_of(joint, "b", index), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, crank, coupler, b, axis);
    name_of(joint, "c", index), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, coupler, rocker, c, axis);
    name_of(joint, "d", index), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, base, rocker, d, axis);
    lw_pose step, next, tilt = {.p = {0, 0, 0}};
    turn_about(2, 0.4, step.R);
    turn_about(0, index % 2 ? 0.5 : -0.3, tilt.R);
    step.p[0] = 0.1, step.p[1] = 0.8, step.p[2] = 0.05;
    lw_pose_compose(frame->R, frame->p, step.R, step.p, next.R, next.p);
    lw_pose_compose(next.R, next.p, tilt.R, tilt.p, frame->R, frame->p);
}

typedef enum base_kind { ON_GROUND, ON_FREE, ON_DRIVEN, BASES } base_kind;

/* Adds a base of that kind and returns its name. */
static const char *add_base(lw_spec *spec, base_kind kind) {
    static const double origin[3] = {0, 0, 0}, tilted[3] = {0.3, 1, 0.2};
    if (kind == ON_GROUND) return LW_GROUND;
    add_bar(spec, "cart", origin, z_axis, 2);
    lw_joint_spec joint = {.name = "root",
                           .type = kind == ON_FREE ? LW_JOINT_FREE : LW_JOINT_REVOLUTE,
                           .bodies = {LW_GROUND, "cart"},
                           .motion = {kind == ON_DRIVEN ? "0.7*sin(3*t)" : NULL}};
    if (kind == ON_DRIVEN) {
        memcpy(joint.geometry[0].axes[0], tilted, sizeof tilted);
        joint.geometry[0].axis_count = 1;
    }
    add_joint(spec, joint);
    return "cart";
}

static lw_spec *tower(int cells, base_kind kind) {
    lw_spec *spec = lw_spec_create("tower");
    lw_pose frame = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    char base[24];
    snprintf(base, sizeof base, "%s", add_base(spec, kind));
    for (int k = 0; k < cells; k++) {
        add_four_bar(spec, k, base, &frame);
        name_of(base, "coupler", k);
    }
    return spec;
}

/* A rod with ball joints between two bodies, as a body of its own. */
static void add_rod(lw_spec *spec, int index, const char *first, const double a[3], const char *second,
                    const double b[3]) {
    char rod[24], joint[24];
    name_of(rod, "rod", index);
    add_bar(spec, rod, a, b, 0.4);
    name_of(joint, "near", index), add_plain_joint(spec, joint, LW_JOINT_SPHERICAL, first, rod, a, NULL);
    name_of(joint, "far", index), add_plain_joint(spec, joint, LW_JOINT_SPHERICAL, rod, second, b, NULL);
}

/* Rods from level to level: loops that share bodies with others, on bases that are not theirs. */
static lw_spec *braced_tower(base_kind kind) {
    static const double low[3] = {0.4, 0.9, 0.3}, high[3] = {0.2, 1.9, 0.5}, side[3] = {-0.2, 0.5, 0.2},
                        top[3] = {-0.6, 2.4, 0.1};
    lw_spec *spec = tower(6, kind);
    add_rod(spec, 0, "coupler0", low, "coupler2", high);
    add_rod(spec, 1, "crank0", side, "rocker3", top);
    add_rod(spec, 2, "coupler1", high, "crank4", side);
    return spec;
}

/* The same with rods that have no mass: constraints. */
static lw_spec *strung_tower(base_kind kind) {
    lw_spec *spec = tower(5, kind);
    add_constraint(spec, (lw_constraint_spec){.name = "first string",
                                              .bodies = {"coupler0", "coupler3"},
                                              .points = {{0.4, 0.9, 0.3}, {-0.5, 2.2, 0.4}}});
    add_constraint(spec, (lw_constraint_spec){.name = "second string",
                                              .bodies = {"rocker1", "crank4"},
                                              .points = {{0.9, 1.2, 0.1}, {-0.8, 2.6, 0.2}}});
    add_constraint(spec, (lw_constraint_spec){.name = "gear",
                                              .type = LW_CONSTRAINT_COUPLING,
                                              .terms = 2,
                                              .joints = {"a0", "a2"},
                                              .factors = {1, -2}});
    return spec;
}

/* A loop in a loop: crank and coupler of a four-bar are joined by a dyad, and so are its two bars, three deep. */
static lw_spec *inner_loops(base_kind kind) {
    lw_spec *spec = tower(2, kind);
    static const double points[4][3] = {{0.15, 0.5, 0}, {0.35, 0.45, 0}, {0.45, 0.72, 0}, {0, 0, 0}};
    char first[24] = "crank0", second[24] = "coupler0", bars[2][24], joint[24];
    double from[3], middle[3], to[3];
    for (int k = 0; k < 3; k++) from[k] = points[0][k], middle[k] = points[1][k], to[k] = points[2][k];
    for (int level = 0; level < 3; level++) {
        name_of(bars[0], "inner", 2 * level), name_of(bars[1], "inner", 2 * level + 1);
        add_bar(spec, bars[0], from, middle, 0.3);
        add_bar(spec, bars[1], middle, to, 0.3);
        name_of(joint, "p", level),
            add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, first, bars[0], from, z_axis);
        name_of(joint, "r", level),
            add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, bars[0], bars[1], middle, z_axis);
        name_of(joint, "s", level),
            add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, bars[1], second, to, z_axis);
        double knee[3], lower[3], upper[3];
        for (int k = 0; k < 3; k++) {
            lower[k] = 0.4 * from[k] + 0.6 * middle[k];
            upper[k] = 0.6 * middle[k] + 0.4 * to[k];
            knee[k] = middle[k] + 0.5 * (0.5 * (from[k] + to[k]) - middle[k]);
        }
        snprintf(first, sizeof first, "%s", bars[0]), snprintf(second, sizeof second, "%s", bars[1]);
        lw_v3_copy(lower, from), lw_v3_copy(knee, middle), lw_v3_copy(upper, to);
    }
    return spec;
}

/* --- against lagrange ------------------------------------------------------------------------------- */

typedef struct answer {
    double *vdot, *reactions;
    bool *unique;
} answer;

static answer answer_of(const lw_model *model, const char *name, const double *q, const double *v,
                        bool flags) {
    const lw_formulation *f = lw_formulation_find(name);
    const lw_method_options options = {0};
    size_t count = 6 * (size_t)model->joint_count;
    answer a = {calloc((size_t)model->nv, sizeof(double)), calloc(count, sizeof(double)), calloc(count, 1)};
    lw_method *method;
    lw_error error = {0};
    assert_int_equal(f->create(model, &options, &method, &error), LW_OK);
    lw_status status =
        f->accelerations(method, 0.3, q, v, NULL, a.vdot, a.reactions, flags ? a.unique : NULL, &error);
    if (status != LW_OK) fail_msg("%s: %s", name, error.message);
    f->destroy(method);
    return a;
}

static void forget(answer *a) { free(a->vdot), free(a->reactions), free(a->unique); }

/* The model's own positions and random speeds, both consistent. */
static void start(const lw_model *model, int seed, double *q, double *v) {
    lw_random random = random_seed((uint64_t)seed);
    lw_error error = {0};
    lw_violation left;
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_model_initial_state(model, q, v);
    random_vector(&random, model->nv, 1, v);
    assert_int_equal(lw_project_positions(projection, 0.3, q, 50, &left, &error), LW_OK);
    assert_true(left.largest < 1e-11);
    assert_int_equal(lw_project_velocities(projection, 0.3, q, v, &left, &error), LW_OK);
    lw_projection_destroy(projection);
}

static void check_against_lagrange(lw_spec *spec, const char *what, int seed, bool flags) {
    lw_model *model = compile_or_fail(spec);
    double *q = calloc((size_t)model->nq, sizeof *q), *v = calloc((size_t)model->nv, sizeof *v);
    int count = 6 * model->joint_count, same = 0;
    start(model, seed, q, v);
    answer own = answer_of(model, "rcr", q, v, flags), other = answer_of(model, "lagrange", q, v, flags);
    double difference = relative_difference(other.vdot, own.vdot, model->nv);
    if (!(difference < agreement))
        fail_msg("%s, seed %d: accelerations differ by %g", what, seed, difference);
    if (!flags) print_message("%s: accelerations differ by %.1e\n", what, difference);
    for (int k = 0; flags && k < count; k++) {
        if (own.unique[k] != other.unique[k]) fail_msg("%s, seed %d: flag %d", what, seed, k);
        if (own.unique[k])
            same++;
        else
            own.reactions[k] = other.reactions[k];
    }
    difference = relative_difference(other.reactions, own.reactions, count);
    if (flags && !(difference < agreement))
        fail_msg("%s, seed %d: reactions differ by %g", what, seed, difference);
    if (flags) assert_true(same > 0);
    forget(&own), forget(&other), free(q), free(v);
    lw_model_destroy(model);
}

static void loops_on_bases_of_their_own(void **state) {
    (void)state;
    for (int kind = 0; kind < BASES; kind++) {
        for (int seed = 1; seed <= 3; seed++) {
            check_against_lagrange(tower(1, kind), "one loop", seed, true);
            check_against_lagrange(tower(3, kind), "three levels", seed, true);
            check_against_lagrange(braced_tower(kind), "braced tower", seed, true);
            check_against_lagrange(strung_tower(kind), "strung tower", seed, true);
            check_against_lagrange(inner_loops(kind), "loops in loops", seed, true);
        }
    }
}

static void a_thousand_bodies(void **state) {
    (void)state;
    check_against_lagrange(tower(334, ON_GROUND), "1002 bodies", 1, false);
    check_against_lagrange(tower(334, ON_FREE), "1003 bodies", 2, false);
}

/* --- work ------------------------------------------------------------------------------------------- */

typedef struct work {
    int segments, pairs, couplings, targets, numbers, widest;
} work;

static work work_of(lw_spec *spec) {
    lw_model *model = compile_or_fail(spec);
    lw_arena *arena = lw_arena_create(NULL);
    const lw_rows *rows = lw_rows_create_loops(model, arena);
    const lw_loop_constraints *loops = lw_loop_constraints_create(model, rows, arena);
    int n = model->body_count;
    work w = {.segments = loops->segment_start[n + 1],
              .pairs = loops->pair_start[n + 1],
              .numbers = loops->K_size + loops->Y_size + loops->block_size};
    for (int i = 1; i <= n; i++) {
        int here = loops->segment_start[i + 1] - loops->segment_start[i];
        if (here > w.widest) w.widest = here;
    }
    for (int t = 0; t < loops->count; t++) {
        int k = loops->loops[t].couplings;
        w.couplings += k;
        w.targets += k * (k + 1) / 2;
    }
    lw_arena_destroy(arena);
    lw_model_destroy(model);
    return w;
}

/* A row of rungs on ground with bars between their tips: coupled loops with a common base. */
static lw_spec *ladder(int cells) {
    static const double y_axis[3] = {0, 1, 0};
    lw_spec *spec = lw_spec_create("ladder");
    char rung[24], before[24], bar[24], joint[24];
    for (int k = 0; k <= cells; k++) {
        const double top[3] = {0.5 * k, 0, 0}, tip[3] = {0.5 * k, 0, -1}, left[3] = {0.5 * (k - 1), 0, -1};
        name_of(rung, "rung", k), name_of(before, "rung", k - 1), name_of(bar, "bar", k);
        add_bar(spec, rung, top, tip, 1);
        name_of(joint, "top", k),
            add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, LW_GROUND, rung, top, y_axis);
        if (k == 0) continue;
        add_bar(spec, bar, left, tip, 1);
        name_of(joint, "left", k), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, before, bar, left, y_axis);
        name_of(joint, "right", k), add_plain_joint(spec, joint, LW_JOINT_REVOLUTE, bar, rung, tip, y_axis);
    }
    return spec;
}

/* What one more cell costs does not depend on how many there are. */
static void work_grows_linearly(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        work w[3];
        for (int k = 0; k < 3; k++) w[k] = work_of(kind == 0 ? tower(50 << k, ON_GROUND) : ladder(50 << k));
        assert_int_equal(w[2].segments - w[1].segments, 2 * (w[1].segments - w[0].segments));
        assert_int_equal(w[2].pairs - w[1].pairs, 2 * (w[1].pairs - w[0].pairs));
        /* AMD may order some cells otherwise */
        assert_true(w[2].couplings - w[1].couplings <= 2.1 * (w[1].couplings - w[0].couplings) + 4);
        assert_true(w[2].targets - w[1].targets <= 2.1 * (w[1].targets - w[0].targets) + 8);
        assert_true(w[2].numbers - w[1].numbers <= 2.1 * (w[1].numbers - w[0].numbers) + 400);
        assert_true(w[2].widest <= 2 && w[2].couplings <= 2 * (50 << 2));
        print_message("%s of 200: %d segments, %d pairs, %d couplings, %d targets\n",
                      kind == 0 ? "tower" : "ladder", w[2].segments, w[2].pairs, w[2].couplings,
                      w[2].targets);
    }
}

/* --- singular positions ------------------------------------------------------------------------------ */

enum { PAR_NV = 3 };

/* A parallelogram of two cranks and a coupler, all lengths times `size`, masses of a crank, the coupler, the other crank; the cranks
 * are angle from upright, about y. */
static lw_model *parallelogram(double size, const double mass[3], double angle) {
    static const double y_axis[3] = {0, 1, 0};
    lw_spec *spec = lw_spec_create("parallelogram");
    const double a = size, b = 1.5 * size;
    const char *const names[3] = {"left", "coupler", "right"};
    const double ends[3][2][3] = {{{0, 0, 0}, {0, 0, a}}, {{0, 0, a}, {b, 0, a}}, {{b, 0, 0}, {b, 0, a}}};
    for (int k = 0; k < 3; k++) {
        lw_body_spec body = {.name = names[k], .mass = mass[k]};
        double length = k == 1 ? b : a;
        for (int i = 0; i < 3; i++) {
            body.com[i] = 0.5 * (ends[k][0][i] + ends[k][1][i]);
            body.inertia[i] = mass[k] * length * length / 12;
        }
        add_body(spec, body);
    }
    const char *const joints[4] = {"A", "B", "C", "D"};
    const char *const bodies[4][2] = {
        {LW_GROUND, "left"}, {"left", "coupler"}, {"coupler", "right"}, {LW_GROUND, "right"}};
    const double at[4][3] = {{0, 0, 0}, {0, 0, a}, {b, 0, a}, {b, 0, 0}};
    const double q[4] = {angle, -angle, 0, angle};
    for (int k = 0; k < 4; k++) {
        lw_joint_spec joint = {.name = joints[k],
                               .type = LW_JOINT_REVOLUTE,
                               .bodies = {bodies[k][0], bodies[k][1]},
                               .cut = k == 2,
                               .has_q = k != 2,
                               .q = {q[k]}};
        memcpy(joint.geometry[0].point, at[k], sizeof at[k]);
        memcpy(joint.geometry[0].axes[0], y_axis, sizeof y_axis);
        joint.geometry[0].axis_count = 1;
        add_joint(spec, joint);
    }
    lw_model *model = compile_or_fail(spec);
    assert_int_equal(model->nv, PAR_NV);
    assert_int_equal(model->closure_count, 1);
    return model;
}

/* Its speeds in the order of the model, from those of A, B, D. */
static void par_speeds(const lw_model *model, double A, double B, double D, double v[PAR_NV]) {
    for (int i = 1; i <= model->body_count; i++) {
        const char *name = model->joints[model->bodies[i].joint_index].name;
        v[model->links[i].v] = name[0] == 'A' ? A : name[0] == 'B' ? B : D;
    }
}

/* theta'' = c sin theta of a parallelogram with these masses. */
static double par_pull(double size, const double mass[3]) {
    return 9.81 * (0.5 * (mass[0] + mass[2]) + mass[1]) / (size * ((mass[0] + mass[2]) / 3 + mass[1]));
}

static const double heavy_left[3] = {3, 1.5, 1}, even[3] = {1, 1.5, 1};
static const double pi = 3.14159265358979323846;

static lw_method *method_for(const lw_model *model) {
    const lw_method_options options = {0};
    lw_method *method;
    lw_error error;
    assert_int_equal(lw_formulation_find("rcr")->create(model, &options, &method, &error), LW_OK);
    return method;
}

/* Rows that sleep in the singular position are awake beside it, for one method that is asked here and there, in any unit of length. */
static void rows_wake_up(void **state) {
    (void)state;
    for (int scale = -6; scale <= 3; scale++) {
        /* the less the cranks differ, the less the accelerations of two freedoms from those of one */
        const double size = pow(10, scale / 2 * 2), mass[3] = {scale % 2 ? 1.01 : 3, 1.5, 1};
        const double pull = par_pull(size, mass), speed = 3 / sqrt(size);
        lw_model *model = parallelogram(size, mass, pi / 2);
        lw_method *method = method_for(model);
        const double offsets[] = {0, 0.3, 1e-7, -0.01, 0, 1e-3, -1e-9, 1, 0, -1e-3};
        for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++) {
            double angle = pi / 2 + offsets[k], q[PAR_NV], v[PAR_NV], vdot[PAR_NV], wanted[PAR_NV],
                   reactions[24];
            bool unique[24];
            lw_error error;
            par_speeds(model, angle, -angle, angle, q);
            par_speeds(model, speed, -speed, speed, v);
            assert_int_equal(method->formulation->accelerations(method, 0, q, v, NULL, vdot, reactions,
                                                                k % 2 ? unique : NULL, &error),
                             LW_OK);
            if (fabs(offsets[k]) < 1e-5) continue; /* two freedoms there: which accelerations is open */
            double c = pull * sin(angle);
            par_speeds(model, c, -c, c, wanted);
            /* rounding of the positions, 1e-16, over the distance from the singular position, squared where rows are formed */
            double allowed = 1e-10 + 1e-15 / (offsets[k] * offsets[k]);
            for (int i = 0; i < PAR_NV; i++)
                if (!(fabs(vdot[i] - wanted[i]) < allowed * pull))
                    fail_msg("size %g, %g beside: %.12g, not %.12g", size, offsets[k], vdot[i], wanted[i]);
        }
        method->formulation->destroy(method);
        lw_model_destroy(model);
    }
}

static void check_derivative(lw_method *method, double t, const double *y, double *ydot) {
    lw_power power;
    lw_error error;
    lw_status status = method->formulation->derivative(method, t, y, ydot, &power, &error);
    if (status != LW_OK) fail_msg("t = %g: %s", t, error.message);
}

/* Classical Runge-Kutta steps by hand: the method alone, without what an integrator may do about it. */
static lw_status rk4_step(lw_method *method, double t, double h, double *y, lw_error *error) {
    enum { N = 2 * PAR_NV };
    double k[4][N], stage[N];
    static const double part[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int i = 0; i < 4; i++) {
        for (int n = 0; n < N; n++) stage[n] = y[n] + (i ? part[i] * h * k[i - 1][n] : 0);
        check_derivative(method, t + part[i] * h, stage, k[i]);
    }
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < N; n++) y[n] += weight[i] * h * k[i][n];
    return method->formulation->project(method, t + h, y, error);
}

static void rk4(lw_method *method, double h, int steps, double *y) {
    for (int s = 0; s < steps; s++) {
        lw_error error;
        assert_int_equal(rk4_step(method, s * h, h, y, &error), LW_OK);
    }
}

/* Starts exactly in line, where the rank is lower than elsewhere, or comes there on the way, and moves on as a pendulum. */
static void straight_on(void **state) {
    (void)state;
    const double starts[] = {pi / 2, -pi / 2, pi / 2 - 0.75, pi / 2 - 1e-6};
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        lw_model *model = parallelogram(1, heavy_left, starts[k]);
        lw_method *method = method_for(model);
        const double pull = par_pull(1, heavy_left), h = 5e-4;
        double y[2 * PAR_NV], x[2] = {starts[k], 6}, position, velocity;
        par_speeds(model, x[0], -x[0], x[0], y);
        par_speeds(model, x[1], -x[1], x[1], y + PAR_NV);
        rk4(method, h, 1000, y);
        for (int s = 0; s < 1000; s++) { /* the pendulum */
            double a[4][2];
            for (int i = 0; i < 4; i++) {
                double part = i == 0 ? 0 : i == 3 ? h : h / 2;
                a[i][0] = x[1] + (i ? part * a[i - 1][1] : 0);
                a[i][1] = pull * sin(x[0] + (i ? part * a[i - 1][0] : 0));
            }
            for (int i = 0; i < 2; i++) x[i] += h / 6 * (a[0][i] + 2 * a[1][i] + 2 * a[2][i] + a[3][i]);
        }
        double q[PAR_NV], v[PAR_NV];
        par_speeds(model, x[0], -x[0], x[0], q);
        par_speeds(model, x[1], -x[1], x[1], v);
        for (int i = 0; i < PAR_NV; i++)
            /* h^4 and what a step across the singular position makes of its stages */
            if (!(fabs(y[i] - q[i]) < 1e-7) || !(fabs(y[PAR_NV + i] - v[i]) < 1e-6))
                fail_msg("start %g: q %.12g, not %.12g; v %.12g, not %.12g", starts[k], y[i], q[i],
                         y[PAR_NV + i], v[i]);
        method->formulation->violation(method, 0, y, &position, &velocity);
        assert_true(position < 1e-13 && velocity < 1e-11);
        method->formulation->destroy(method);
        lw_model_destroy(model);
    }
}

/* First derivative of a run from that state: what is said of it, if anything. */
static lw_status first_look(const double mass[3], double A, double B, double D, lw_error *error) {
    lw_model *model = parallelogram(1, mass, pi / 2);
    lw_method *method = method_for(model);
    double y[2 * PAR_NV], ydot[2 * PAR_NV];
    lw_power power;
    par_speeds(model, pi / 2, -pi / 2, pi / 2, y);
    par_speeds(model, A, B, D, y + PAR_NV);
    lw_status status = method->formulation->derivative(method, 0, y, ydot, &power, error);
    method->formulation->destroy(method);
    lw_model_destroy(model);
    return status;
}

/* In line, cranks of length 1 and a coupler of 1.5 that turns with s = A + B: across the bars the closure asks A + 1.5 s = D, along
 * them, to second order, A^2 + 1.5 s^2 = D^2. Two motions lead out: s = 0, the parallelogram, and s = -4 A, the antiparallelogram. */
static void undetermined_starts(void **state) {
    (void)state;
    lw_error error = {0};
    assert_int_equal(first_look(even, 2, -2, 2, &error), LW_OK);
    assert_int_equal(first_look(even, 1, -5, -5, &error), LW_OK);
    assert_int_equal(first_look(even, 1, 0, 2.5, &error), LW_ERROR_SINGULAR);
    assert_string_equal(error.object, "joint \"C\"");
    assert_non_null(strstr(error.message, "fit none of the motions"));
    /* at rest: even cranks fall as a parallelogram, uneven ones cannot decide */
    assert_int_equal(first_look(even, 0, 0, 0, &error), LW_OK);
    assert_int_equal(first_look(heavy_left, 0, 0, 0, &error), LW_ERROR_SINGULAR);
    assert_string_equal(error.object, "joint \"C\"");
    assert_non_null(strstr(error.message, "not determined at rest"));
    assert_non_null(strstr(error.remedy, "start beside"));
    /* a hair beside it everything is determined */
    lw_model *model = parallelogram(1, heavy_left, pi / 2 + 1e-3);
    lw_method *method = method_for(model);
    double y[2 * PAR_NV], ydot[2 * PAR_NV];
    par_speeds(model, pi / 2 + 1e-3, -pi / 2 - 1e-3, pi / 2 + 1e-3, y);
    par_speeds(model, 0, 0, 0, y + PAR_NV);
    check_derivative(method, 0, y, ydot);
    method->formulation->destroy(method);
    lw_model_destroy(model);
}

/* Thrown so that it comes to rest in line, where uneven cranks cannot decide how to go on; even ones fall back as they came. With a
 * thousandth more or less speed it passes, or turns back before. */
static void comes_to_rest(void **state) {
    (void)state;
    const double faster[] = {1, 1, 1.001, 0.999}, start = 2 * pi / 3;
    for (int k = 0; k < 4; k++) {
        const double *mass = k == 1 ? even : heavy_left;
        lw_model *model = parallelogram(1, mass, start);
        lw_method *method = method_for(model);
        const double h = 1e-3,
                     speed = -faster[k] * sqrt(par_pull(1, mass)); /* v^2 = 2 c (cos 90 deg - cos start) */
        double y[2 * PAR_NV];
        lw_status status = LW_OK;
        lw_error error = {0};
        par_speeds(model, start, -start, start, y);
        par_speeds(model, speed, -speed, speed, y + PAR_NV);
        for (int s = 0; s < 600 && status == LW_OK; s++) status = rk4_step(method, s * h, h, y, &error);
        assert_int_equal(status, k == 0 ? LW_ERROR_SINGULAR : LW_OK);
        if (k == 0) {
            assert_string_equal(error.object, "joint \"C\"");
            assert_non_null(strstr(error.message, "comes to rest at t = 0.29"));
        }
        method->formulation->destroy(method);
        lw_model_destroy(model);
    }
}

/* A loop at rest in line, beside something that moves: a fan that is driven, a pendulum, the cart that carries it. */
static void others_move(void **state) {
    (void)state;
    static const struct {
        const char *body, *joint, *base;
    } others[] = {
        {"fan: {mass: 1, inertia: [1, 1, 1]}",
         "M: {type: revolute, between: [ground, fan], point: [9, 9, 9], axis: [0, 1, 0], motion: 3*t}",
         "ground"},
        {"bob: {mass: 1, shape: rod, points: [[0, 3, 0], [0, 3, -1]]}",
         "P: {type: revolute, between: [ground, bob], point: [0, 3, 0], axis: [0, 1, 0], v: 1}", "ground"},
        {"cart: {mass: 1, inertia: [1, 1, 1]}",
         "P: {type: prismatic, between: [ground, cart], axis: [1, 0, 0], v: 1}", "cart"}};
    for (int k = 0; k < 3; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "linkwork: 1\nbodies:\n"
                 "  l: {mass: 10, shape: rod, points: [[0, 0, 0], [1, 0, 0]], radius: 0.02}\n"
                 "  c: {mass: 15, shape: rod, points: [[1, 0, 0], [2.5, 0, 0]], radius: 0.02}\n"
                 "  r: {mass: 20, shape: rod, points: [[1.5, 0, 0], [2.5, 0, 0]], radius: 0.02}\n"
                 "  %s\njoints:\n"
                 "  A: {type: revolute, between: [%s, l], point: [0, 0, 0], axis: [0, 1, 0]}\n"
                 "  B: {type: revolute, between: [l, c], point: [1, 0, 0], axis: [0, 1, 0]}\n"
                 "  C: {type: revolute, between: [c, r], point: [2.5, 0, 0], axis: [0, 1, 0], cut: true}\n"
                 "  D: {type: revolute, between: [%s, r], point: [1.5, 0, 0], axis: [0, 1, 0]}\n"
                 "  %s\n",
                 others[k].body, others[k].base, others[k].base, others[k].joint);
        lw_model *model = compile_or_fail(read_text_spec(text));
        lw_run_options options = {.method = "rcr", .tolerance = 1e-9, .end = 0.5};
        double q[6], v[6];
        lw_run_summary summary;
        lw_error error = {0};
        assert_int_equal(lw_simulate(model, &options, q, v, &summary, &error), LW_ERROR_SINGULAR);
        assert_string_equal(error.object, "joint \"C\"");
        assert_non_null(strstr(error.message, "not determined at rest"));
        lw_model_destroy(model);
    }
}

/* Several turns through the singular positions, with every integrator that steps by tolerance. */
static void energy_is_kept(void **state) {
    (void)state;
    static const char *const integrators[] = {"erk", "adams"};
    for (int k = 0; k < 2; k++)
        for (int digits = 8; digits <= 11; digits++) {
            lw_model *model = parallelogram(1, heavy_left, 0.2);
            double q[PAR_NV], v[PAR_NV], end[PAR_NV], rate[PAR_NV];
            lw_run_options options = {.method = "rcr",
                                      .integrator = integrators[k],
                                      .tolerance = pow(10, -digits),
                                      .end = 5,
                                      .output = 0.1,
                                      .q = q,
                                      .v = v};
            lw_run_summary summary;
            lw_error error;
            par_speeds(model, 0.2, -0.2, 0.2, q);
            par_speeds(model, 7, -7, 7, v);
            if (lw_simulate(model, &options, end, rate, &summary, &error) != LW_OK)
                fail_msg("%s, 1e-%d: %s", integrators[k], digits, error.message);
            double sum = 0;
            par_speeds(model, 1, 1, 0, q);
            for (int i = 0; i < PAR_NV; i++) sum += q[i] * end[i]; /* A + B: the coupler stays level */
            print_message("%s 1e-%d: energy %.1e, coupler %.1e\n", integrators[k], digits,
                          summary.energy_max_drift / summary.energy_initial, sum);
            /* erk comes out at once or twice the tolerance; Adams adds up its error over thousands of steps */
            double allowed = (k ? 300 : 20) * options.tolerance;
            assert_true(summary.energy_max_drift < allowed * summary.energy_initial);
            assert_true(fabs(sum) < 1e-10 && summary.position_max < 1e-12);
            assert_true(fabs(end[0]) > 6 * pi); /* it went round */
            lw_model_destroy(model);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_on_bases_of_their_own),
        cmocka_unit_test(a_thousand_bodies),
        cmocka_unit_test(work_grows_linearly),
        cmocka_unit_test(rows_wake_up),
        cmocka_unit_test(straight_on),
        cmocka_unit_test(undetermined_starts),
        cmocka_unit_test(comes_to_rest),
        cmocka_unit_test(others_move),
        cmocka_unit_test(energy_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
