/* test_quantity.c - named quantities of a state: their names, their derivatives against differences, their
 * values against independent sums, on random mechanisms.
 */
#include "build.h"
#include "formulations/formulation.h"
#include "model/quantity/quantity.h"
#include "problems.h"
#include "random_loops.h"

#include <linkwork/simulation.h>
#include <linkwork/solver.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NV = 128, MAX_NQ = 160, MAX_BODIES = 24, MAX_FORCES = 64, MAX_JOINTS = 64 };

static void settle(const lw_model *model, lw_data *data, double t, const double *q, const double *v) {
    lw_take_state(model, data, t, q, v);
    lw_velocities(model, data);
    lw_world_poses(model, data);
}

static lw_state_quantity find(const lw_model *model, const char *text) {
    lw_state_quantity quantity;
    lw_syntax syntax = {0};
    size_t length = lw_quantity_find(model, text, &quantity, &syntax);
    if (length != strlen(text)) fail_msg("%s: %zu, %s; %s", text, length, syntax.message, syntax.remedy);
    return quantity;
}

/* The spec with a frame on ground and on every body, at random poses. */
static lw_spec *with_frames(lw_spec *spec, uint64_t seed) {
    lw_random random = random_seed(seed + 1000);
    for (size_t k = 0; k <= lw_spec_body_count(spec); k++) {
        char name[32];
        lw_frame_spec frame = {.name = name, .body = k ? lw_spec_body(spec, k - 1)->name : LW_GROUND};
        snprintf(name, sizeof name, "frame%zu", k);
        random_vector(&random, 3, 0.5, frame.position);
        random_vector(&random, 4, 1, frame.rotation);
        assert_int_equal(lw_spec_add_frame(spec, &frame), LW_OK);
    }
    return spec;
}

/* --- every quantity of a model -------------------------------------------------------------------- */

typedef void (*visitor)(const lw_model *model, const lw_state_quantity *quantity, void *context);

/* Visits all components of all kinds, of frames too, points and distances at places of their own, some of
 * them in the axes of another body or frame. */
static void visit_all(const lw_model *model, visitor visit, void *context) {
    const lw_quantity_target plain = {0};
    for (int kind = 1; kind < LW_Q_KINDS; kind++) {
        const lw_object_kind object_kind = lw_quantity_object((lw_quantity_kind)kind);
        int count = 1, first = 0;
        if (object_kind == LW_OBJECT_JOINT) count = model->joint_count;
        if (object_kind == LW_OBJECT_CONSTRAINT) count = model->constraint_count;
        if (object_kind == LW_OBJECT_FORCE) count = model->force_count;
        if (object_kind >= LW_OBJECT_STATE) count = 0; /* values of expressions, inputs and parameters */
        if (object_kind == LW_OBJECT_BODY || object_kind == LW_OBJECT_POINT || object_kind == LW_OBJECT_PAIR)
            count = model->body_count + 1 + model->frame_count, first = 1;
        for (int object = first; object < count; object++) {
            lw_component list[LW_QUANTITY_COMPONENTS];
            const int parts = lw_quantity_components(model, (lw_quantity_kind)kind, object, list);
            for (int k = 0; k < parts; k++)
                for (int axes = 0; axes < 2; axes++) {
                    lw_quantity_target target = plain;
                    lw_state_quantity quantity;
                    target.kind = object_kind;
                    target.object = target.bodies[0] = object;
                    target.bodies[1] = object / 2;
                    target.axes = axes ? 1 + (3 * object + k) % (model->body_count + model->frame_count) : 0;
                    target.at_first = axes && object % 2;
                    for (int c = 0; c < 3; c++) target.own[0][c] = 0.3 * c - 0.2, target.own[1][c] = 0.1 * c;
                    target.centre[1] = object % 2 && !lw_is_marker(model, target.bodies[1]);
                    if (lw_quantity_of_target(model, (lw_quantity_kind)kind, &target, k, &quantity))
                        visit(model, &quantity, context);
                }
        }
    }
}

/* --- names ---------------------------------------------------------------------------------------- */

/* A name that is printed is found again, as the same quantity. */
static void name_returns(const lw_model *model, const lw_state_quantity *quantity, void *context) {
    char name[LW_QUANTITY_NAME];
    lw_state_quantity again;
    lw_syntax syntax = {0};
    if (quantity->kind == LW_Q_TIME) return; /* a variable of expressions */
    lw_quantity_print(model, quantity, name);
    size_t length = lw_quantity_find(model, name, &again, &syntax);
    if (length != strlen(name) || memcmp(&again.kind, &quantity->kind, sizeof again.kind) != 0 ||
        again.component != quantity->component || !lw_quantity_same_vector(&again, quantity) ||
        again.needs != quantity->needs || strcmp(again.unit, quantity->unit) != 0)
        fail_msg("%s comes back as kind %d, component %d, length %zu: %s", name, (int)again.kind,
                 again.component, length, syntax.message);
    ++*(int *)context;
}

static void names_return(void **state) {
    (void)state;
    int names = 0;
    for (int seed = 0; seed < 40; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(with_frames(loops.spec, (uint64_t)seed));
        visit_all(model, name_returns, &names);
        lw_model_destroy(model);
        lw_random random = random_seed((uint64_t)seed);
        model = random_tree_model(
            &random, &(random_tree){
                         .bodies = 6, .forces = true, .prescribed = seed % 2, .reversed = true, .joint = -1});
        visit_all(model, name_returns, &names);
        lw_model_destroy(model);
    }
    print_message("%d names\n", names);
    assert_true(names > 20000);
}

static const char arms[] =
    "linkwork: 1\nname: arms\n"
    "parameters: {L: 0.5}\n"
    "bodies:\n"
    "  crank: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1]}\n"
    "  'left hand': {mass: 2, com: [1, 0, 0], inertia: [1, 2, 2], position: [1, 0, 0.2]}\n"
    "  a.b: {mass: 2, kind: point}\n"
    "joints:\n"
    "  pin: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0.2]}\n"
    "  left-knee: {type: revolute, between: [crank, 'left hand'], point: [1, 0, 0], axis: [0, 1, 0]}\n"
    "  pin.x: {type: planar, between: [ground, a.b], point: [1, 0, 0], normal: [0, 1, 0]}\n"
    "forces:\n"
    "  spring: {type: spring, between: [crank, 'left hand'], points: [[0, 0, 1], [1, 0, 2]], stiffness: 3}\n"
    "  pin: {type: torsion, joint: pin, stiffness: 3}\n"
    "  motor: {type: drive, joint: pin, torque: 1}\n"
    "constraints:\n"
    "  rod: {type: distance, between: [crank, a.b], points: [[0, 0, 1], [1, 0, 3]]}\n";

static void expect(const lw_model *model, const char *text, size_t length, lw_quantity_kind kind,
                   int component) {
    lw_state_quantity quantity;
    lw_syntax syntax;
    size_t found = lw_quantity_find(model, text, &quantity, &syntax);
    if (found != length || quantity.kind != kind || quantity.component != component)
        fail_msg("%s: length %zu, kind %d, component %d; %s", text, found, (int)quantity.kind,
                 quantity.component, syntax.message);
    assert_string_equal(syntax.message, "");
    assert_int_equal(lw_quantity_find(model, text, &quantity, NULL), length);
}

static void expect_none(const lw_model *model, const char *text, const char *message, const char *remedy) {
    lw_state_quantity quantity;
    lw_syntax syntax;
    assert_int_equal(lw_quantity_find(model, text, &quantity, &syntax), 0);
    assert_int_equal(lw_quantity_find(model, text, &quantity, NULL), 0);
    if (!message) {
        assert_string_equal(syntax.message, "");
        return;
    }
    if (!strstr(syntax.message, message) || !strstr(syntax.remedy, remedy))
        fail_msg("%s: \"%s; %s\" is not \"%s; %s\"", text, syntax.message, syntax.remedy, message, remedy);
}

static void names_are_found(void **state) {
    (void)state;
    lw_model *model = compile_or_fail(read_text_spec(arms));
    expect(model, "pin.q + 3", 5, LW_Q_COORDINATE, 0);
    expect(model, "pin.v*pin.q", 5, LW_Q_SPEED, 0);
    expect(model, "pin.a", 5, LW_Q_ACCELERATION, 0);
    expect(model, "pin.length", 10, LW_Q_ELEMENT, 0); /* the force of that name */
    expect(model, "pin.x.x)", 7, LW_Q_COORDINATE, 0); /* joint "pin.x": the longest name wins */
    expect(model, "pin.x.angle)", 11, LW_Q_COORDINATE, 2);
    expect(model, "'left-knee'.v>0", 13, LW_Q_SPEED, 0);
    expect(model, "body.crank.vx", 13, LW_Q_VELOCITY, 0);
    expect(model, "body.a.b.z,", 10, LW_Q_POSITION, 2);
    expect(model, "body.'left hand'.alphaz", 23, LW_Q_SPIN_RATE, 2);
    expect(model, "body(left hand).rx", 18, LW_Q_CARDAN, 0);
    expect(model, "body(crank in left hand).vx", 27, LW_Q_VELOCITY, 0);
    expect(model, "point(left hand, 1, 2*L, 3 mm).z + 1", 32, LW_Q_POINT, 2);
    expect(model, "point('left hand', 1, (2 + L)*2, 3).vz", 38, LW_Q_POINT_VELOCITY, 2);
    expect(model, "point(crank,0,0,0 in left hand).ax", 34, LW_Q_POINT_ACCELERATION, 0);
    expect(model, "com(crank).y", 12, LW_Q_COM, 1);
    expect(model, "com( crank ).ay", 15, LW_Q_COM_ACCELERATION, 1);
    expect(model, "distance(crank, left hand) - 1", 26, LW_Q_DISTANCE, 0);
    expect(model, "distance(com(crank), point(a.b, 1, 2, 3)).rate", 46, LW_Q_DISTANCE, 1);
    expect(model, "distance(ground, crank)", 23, LW_Q_DISTANCE, 0);
    expect(model, "spring.rate", 11, LW_Q_ELEMENT, 1);
    expect(model, "force(spring)", 13, LW_Q_FORCE, 6);
    expect(model, "force(spring at first in crank).tz", 34, LW_Q_FORCE, 5);
    expect(model, "force(motor).power", 18, LW_Q_FORCE, 7);
    expect(model, "reaction(pin).force/2", 19, LW_Q_REACTION, 6);
    expect(model, "reaction(left-knee at first).ty", 31, LW_Q_REACTION, 4);
    expect(model, "reaction(rod).fx", 16, LW_Q_CONSTRAINT, 0);
    expect(model, "momentum.px", 11, LW_Q_TOTAL_MOMENTUM, 0);
    expect(model, "momentum(crank).hz", 18, LW_Q_MOMENTUM, 8);
    expect(model, "kinetic+potential", 7, LW_Q_ENERGY, 0);
    expect(model, "unaccounted", 11, LW_Q_LEDGER, 3);

    expect_none(model, "3*pin.q", NULL, NULL);
    expect_none(model, "kineticx", NULL, NULL);
    expect_none(model, "sin(t)", NULL, NULL);
    expect_none(model, "point", NULL, NULL);
    expect_none(model, "pim.q", "there is no joint \"pim\"", "did you mean \"pin\"?");
    expect_none(model, "pin.w", "pin has no component \"w\"", "it has .q, .v, .a");
    expect_none(model, "body.crankk.x", "there is no body \"crankk\"", "did you mean \"crank\"?");
    expect_none(model, "body.crank.u", "body.crank has no component \"u\"", ".x, .y, .z");
    expect_none(model, "reaction(pi).fx", "there is no joint \"pi\"", "did you mean \"pin\"?");
    expect_none(model, "reaction(pin)", "which component", ".fx, .fy");
    expect_none(model, "reaction(pin).q", "has no component \"q\"", ".fx");
    expect_none(model, "reaction(pin in cronk).fx", "no body \"cronk\"", "did you mean \"crank\"?");
    expect_none(model, "reaction(pin", "", "");
    expect_none(model, "point(crank, 1, 2).x", "a point is a body and three numbers", "point(load");
    expect_none(model, "point(crank, 1, 2, y).x", "unknown name \"y\"", "");
    expect_none(model, "point(crank, 1, 2, 3, 4).x", "parenthesis is missing", "");
    expect_none(model, "distance(crank)", "a distance has two places", "distance(a, b)");
    expect_none(model, "force(sprung)", "no force element \"sprung\"", "did you mean \"spring\"?");
    expect_none(model, "com(crank at first).x", "has no component", "");
    expect_none(model, "'left-hip'.q", "there is no joint \"left-hip\"", "");
    assert_string_equal(find(model, "momentum.lx").unit, "kg m^2/s");
    assert_true(find(model, "pin.q").meaning.kind == LW_MEANING_SURE);
    lw_model_destroy(model);
}

/* --- gradients ------------------------------------------------------------------------------------ */

typedef struct trial {
    lw_data *data, *other;
    double t;
    const double *q, *v;
    double worst;
    int count, none;
    int seed;
} trial;

static double value_at(const lw_model *model, trial *a, const lw_state_quantity *quantity, const double *q,
                       const double *v) {
    settle(model, a->other, a->t, q, v);
    return lw_quantity_value(model, a->other, NULL, quantity);
}

/* A central difference of steps h and 2 h, h = 1e-4: truncation is h^4 f5/30, small where distances are not
 * below 0.01, and rounding 1e-16 / h. Angles of cut joints have jumps of a whole revolution, quaternions of
 * sign. */
static double slope(double f1, double f2, double g1, double g2, double h, const lw_state_quantity *quantity) {
    if (quantity->kind == LW_Q_COORDINATE || quantity->kind == LW_Q_CARDAN) {
        const double turn = 2 * 3.14159265358979323846;
        g1 += turn * round((f1 - g1) / turn), g2 += turn * round((f1 - g2) / turn);
        f2 += turn * round((f1 - f2) / turn);
    }
    return (8 * (f1 - g1) - (f2 - g2)) / (12 * h);
}

static void check_gradient(const lw_model *model, const lw_state_quantity *quantity, void *context) {
    trial *a = context;
    double dq[MAX_NV], dv[MAX_NV], q[4][MAX_NQ], v[4][MAX_NV], f[4];
    const double h = 1e-4, steps[4] = {h, 2 * h, -h, -2 * h};
    char name[LW_QUANTITY_NAME];
    if (quantity->needs & ~(unsigned)LW_NEEDS_KINEMATICS || quantity->kind == LW_Q_TIME) {
        assert_false(lw_quantity_gradient(model, a->data, quantity, dq, dv));
        return;
    }
    lw_quantity_print(model, quantity, name);
    if (!lw_quantity_gradient(model, a->data, quantity, dq, dv)) {
        a->none++;
        return;
    }
    double vector[LW_QUANTITY_COMPONENTS];
    lw_quantity_vector(model, a->data, NULL, quantity, vector);
    if (quantity->kind == LW_Q_CARDAN && fabs(cos(vector[1])) < 0.1) return; /* nearly singular */
    double scale = 1;
    for (int k = 0; k < model->nv; k++) scale = fmax(scale, fmax(fabs(dq[k]), fabs(dv[k])));
    for (int k = 0; k < model->nv; k++) {
        double unit[MAX_NV] = {0};
        unit[k] = 1;
        bool prescribed = false;
        for (int i = 1; i <= model->body_count; i++) {
            const lw_link *link = &model->links[i];
            if (k >= link->v && k < link->v + link->joint.nv)
                prescribed = link->prescribed >> (k - link->v) & 1;
        }
        if (prescribed) continue;
        for (int s = 0; s < 4; s++) {
            memcpy(q[s], a->q, (size_t)model->nq * sizeof(double));
            assert_int_equal(lw_integrate_q(model, q[s], unit, steps[s]), LW_OK);
            f[s] = value_at(model, a, quantity, q[s], a->v);
        }
        if (quantity->kind == LW_Q_ROTATION && (f[0] * f[2] < 0 && fabs(f[0]) > 1e-2)) continue;
        double d = slope(f[0], f[1], f[2], f[3], h, quantity);
        if (quantity->kind == LW_Q_COORDINATE && quantity->other >= 0 && strcmp(quantity->unit, "1") == 0 &&
            f[0] * f[2] < 0 && fabs(f[0] - f[2]) > 0.1)
            continue;
        double fault = fabs(d - dq[k]) / scale;
        if (!(fault < 1e-7))
            fail_msg("seed %d, %s: d/dq[%d] is %.12g, differences give %.12g", a->seed, name, k, dq[k], d);
        a->worst = fmax(a->worst, fault);
        for (int s = 0; s < 4; s++) {
            memcpy(v[s], a->v, (size_t)model->nv * sizeof(double));
            v[s][k] += steps[s];
            f[s] = value_at(model, a, quantity, a->q, v[s]);
        }
        d = slope(f[0], f[1], f[2], f[3], h, quantity);
        fault = fabs(d - dv[k]) / scale;
        if (!(fault < 1e-7))
            fail_msg("seed %d, %s: d/dv[%d] is %.12g, differences give %.12g", a->seed, name, k, dv[k], d);
        a->worst = fmax(a->worst, fault);
    }
    a->count++;
}

static void gradients_of(lw_model *model, trial *a, const double *q, const double *v) {
    assert_int_equal(lw_data_create(model, NULL, &a->data), LW_OK);
    assert_int_equal(lw_data_create(model, NULL, &a->other), LW_OK);
    assert_true(model->nq <= MAX_NQ && model->nv <= MAX_NV);
    a->q = q, a->v = v;
    settle(model, a->data, a->t, q, v);
    visit_all(model, check_gradient, a);
    lw_data_destroy(a->data);
    lw_data_destroy(a->other);
    lw_model_destroy(model);
}

static void gradients_are_those_of_differences(void **state) {
    (void)state;
    trial a = {.worst = 0};
    double q[MAX_NQ], v[MAX_NV];
    for (a.seed = 0; a.seed < 60; a.seed++) {
        lw_random random = random_seed((uint64_t)a.seed + 77);
        lw_spec *spec = random_tree_spec(&random, &(random_tree){.bodies = 1 + a.seed % 7,
                                                                 .forces = true,
                                                                 .prescribed = a.seed % 5 == 0,
                                                                 .reversed = a.seed % 2,
                                                                 .aligned = a.seed % 3 == 0,
                                                                 .joint = -1});
        for (size_t j = 0; j < lw_spec_joint_count(spec); j++) { /* rotors have kinetic energy, too */
            lw_joint_spec *joint = lw_spec_joint(spec, j);
            bool ball = joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_FREE;
            int speeds = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
            for (int k = 0; k < speeds && !ball && a.seed % 2; k++) joint->armature[k] = 0.3 + 0.1 * k;
        }
        lw_model *model = compile_or_fail(with_frames(spec, (uint64_t)a.seed));
        random_state(&random, model, q, v);
        a.t = 0.3;
        gradients_of(model, &a, q, v);
    }
    const int trees = a.count;
    for (a.seed = 0; a.seed < 80; a.seed++) {
        random_loops loops;
        random_loops_build(&loops, a.seed);
        lw_model *model = compile_or_fail(with_frames(loops.spec, (uint64_t)a.seed));
        random_loops_state(&loops, model, false, q, v);
        a.t = loops.t;
        gradients_of(model, &a, q, v);
    }
    print_message("%d + %d gradients, at most %.1e off; %d have none\n", trees, a.count - trees, a.worst,
                  a.none);
    assert_true(a.count > 10000);
}

/* --- accelerations -------------------------------------------------------------------------------- */

/* The kind whose rate this one is. */
static lw_quantity_kind rate_of(lw_quantity_kind kind) {
    return kind == LW_Q_ACCELERATION         ? LW_Q_SPEED
           : kind == LW_Q_BODY_ACCELERATION  ? LW_Q_VELOCITY
           : kind == LW_Q_SPIN_RATE          ? LW_Q_SPIN
           : kind == LW_Q_COM_ACCELERATION   ? LW_Q_COM_VELOCITY
           : kind == LW_Q_POINT_ACCELERATION ? LW_Q_POINT_VELOCITY
                                             : LW_Q_NONE;
}

typedef struct motion {
    trial *a;
    const double *vdot, *rates;
    double worst;
    int count, seed;
} motion;

/* The state after a short time h with constant vdot, to h^3. */
static void go_on(const lw_model *model, const trial *a, const double *vdot, double h, double *q, double *v) {
    double mean[MAX_NV];
    memcpy(q, a->q, (size_t)model->nq * sizeof *q);
    for (int k = 0; k < model->nv; k++) mean[k] = a->v[k] + 0.5 * h * vdot[k], v[k] = a->v[k] + h * vdot[k];
    assert_int_equal(lw_integrate_q(model, q, mean, h), LW_OK);
}

static void check_rate(const lw_model *model, const lw_state_quantity *quantity, void *context) {
    motion *m = context;
    const lw_quantity_kind kind = rate_of(quantity->kind);
    double q[MAX_NQ], v[MAX_NV], f[2];
    if (kind == LW_Q_NONE || quantity->axes > 0) return;
    lw_state_quantity speed = *quantity;
    speed.kind = kind;
    speed.needs = LW_NEEDS_KINEMATICS;
    const double h = 1e-5;
    for (int s = 0; s < 2; s++) {
        go_on(model, m->a, m->vdot, s ? -h : h, q, v);
        f[s] = value_at(model, m->a, &speed, q, v);
    }
    const lw_quantity_source source = {.vdot = m->vdot, .motion_rates = m->rates};
    double value = lw_quantity_value(model, m->a->data, &source, quantity),
           slope_here = (f[0] - f[1]) / (2 * h);
    double fault = fabs(value - slope_here) / (1 + fabs(value));
    char name[LW_QUANTITY_NAME];
    lw_quantity_print(model, quantity, name);
    if (!(fault < 1e-6)) /* truncation h^2, rounding 1e-16 / h, of quantities up to 1e4 */
        fail_msg("seed %d, %s is %.12g, differences give %.12g", m->seed, name, value, slope_here);
    assert_true(isnan(lw_quantity_value(model, m->a->data, NULL, quantity)));
    m->worst = fmax(m->worst, fault);
    m->count++;
}

static void rates_of(lw_model *model, motion *m, double t, const double *q, const double *v,
                     lw_random *random) {
    double vdot[MAX_NV], rates[6 * (MAX_BODIES + 1)];
    trial a = {.t = t, .q = q, .v = v};
    assert_int_equal(lw_data_create(model, NULL, &a.data), LW_OK);
    assert_int_equal(lw_data_create(model, NULL, &a.other), LW_OK);
    assert_true(model->body_count <= MAX_BODIES);
    random_vector(random, model->nv, 3, vdot);
    settle(model, a.data, t, q, v);
    lw_body_accelerations(model, a.data, vdot, rates);
    m->a = &a, m->vdot = vdot, m->rates = rates;
    visit_all(model, check_rate, m);
    lw_data_destroy(a.data);
    lw_data_destroy(a.other);
    lw_model_destroy(model);
}

/* Along any motion, the laws of motion or not, that keeps its accelerations for a short time. */
static void accelerations_are_rates_of_velocities(void **state) {
    (void)state;
    motion m = {.worst = 0};
    double q[MAX_NQ], v[MAX_NV];
    for (m.seed = 0; m.seed < 100; m.seed++) {
        lw_random random = random_seed((uint64_t)m.seed + 177);
        lw_model *model = random_tree_model(
            &random, &(random_tree){.bodies = 1 + m.seed % 8, .reversed = m.seed % 2, .joint = -1});
        random_state(&random, model, q, v);
        rates_of(model, &m, 0, q, v, &random);
    }
    for (m.seed = 0; m.seed < 100; m.seed++) {
        random_loops loops;
        random_loops_build(&loops, m.seed);
        if (loops.base == LOOP_MOVING) {
            lw_spec_destroy(loops.spec);
            continue;
        }
        lw_model *model = compile_or_fail(loops.spec);
        random_loops_state(&loops, model, false, q, v);
        rates_of(model, &m, loops.t, q, v, &loops.random);
    }
    print_message("%d accelerations, at most %.1e off\n", m.count, m.worst);
    assert_true(m.count > 5000);
}

/* --- rotations ------------------------------------------------------------------------------------ */

static void about(int axis, double angle, double R[9]) {
    double unit[3] = {axis == 0, axis == 1, axis == 2};
    lw_rot_axis(unit, angle, R);
}

/* R = Rx Ry Rz of the three angles, wherever they stand, also where the second is near or at 90 degrees. */
static void cardan_angles_rebuild_the_rotation(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("body");
    add_plain_body(spec, "body");
    add_plain_joint(spec, "free", LW_JOINT_FREE, LW_GROUND, "body", NULL, NULL);
    lw_model *model = compile_or_fail(spec);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_random random = random_seed(5);
    double worst = 0;
    lw_state_quantity angles = find(model, "body.body.rx");
    const lw_joint_info free_joint = lw_model_joint_info(model, 0);
    for (int k = 0; k < 2000; k++) {
        double q[7] = {0}, v[6] = {0}, R[9], Rx[9], Ry[9], Rz[9], part[9], given[3],
               angle[LW_QUANTITY_COMPONENTS];
        for (int i = 0; i < 3; i++) given[i] = random_between(&random, -3, 3);
        if (k % 2)
            given[1] = (k % 4 == 1 ? 1 : -1) * (1.5707963267948966 - (k % 8 < 4 ? 0 : pow(10, -(k % 17))));
        about(0, given[0], Rx), about(1, given[1], Ry), about(2, given[2], Rz);
        lw_m3_mul(Rx, Ry, part);
        lw_m3_mul(part, Rz, R);
        lw_quat_rot(R, q + free_joint.q + 3);
        settle(model, data, 0, q, v);
        lw_quantity_vector(model, data, NULL, &angles, angle);
        about(0, angle[0], Rx), about(1, angle[1], Ry), about(2, angle[2], Rz);
        lw_m3_mul(Rx, Ry, part);
        lw_m3_mul(part, Rz, R);
        double again[9], body[9];
        lw_m3_mul(data->world[1].R, model->bodies[1].frame.R, body);
        memcpy(again, R, sizeof again);
        for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(again[i] - body[i]));
    }
    print_message("rebuilt to %.1e\n", worst);
    assert_true(worst < 2e-15);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

/* --- balance -------------------------------------------------------------------------------------- */

/* Adds a force at a point, and a torque, to what acts on a body, about the world's origin: force; moment. */
static void act(double *net, int body, const double at[3], double sign, const double force[3],
                const double torque[3]) {
    double moment[3] = {0, 0, 0};
    lw_v3_add_cross(at, force, moment);
    for (int k = 0; k < 3; k++) {
        net[6 * body + k] += sign * force[k];
        net[6 * body + 3 + k] += sign * (moment[k] + (torque ? torque[k] : 0));
    }
}

static void vector_of(const lw_model *model, const lw_data *data, const lw_quantity_source *source,
                      lw_quantity_kind kind, int object, bool at_first, double *out) {
    lw_state_quantity quantity;
    lw_quantity_make(model, kind, object, 0, &quantity);
    lw_quantity_refer(model, &quantity, 0, at_first);
    lw_quantity_vector(model, data, source, &quantity, out);
}

static void point_on(const lw_data *data, int body, const double at[3], double x[3]) {
    lw_pose_point(data->world[body].R, data->world[body].p, at, x);
}

/* Reactions of joints and constraints, and forces of elements, as recorded, with weight: together they are
 * the rate of each body's momentum, by differences. Elements in joints are part of what the joint
 * transmits. */
static double imbalance(const lw_model *model, trial *a, const double *vdot, const double *reactions,
                        const double *multipliers, bool at_first) {
    double net[6 * (MAX_BODIES + 1)] = {0}, w[LW_QUANTITY_COMPONENTS], x[3], scale = 1, worst = 0;
    lw_force_value forces[MAX_FORCES];
    assert_true(model->force_count <= MAX_FORCES && model->body_count <= MAX_BODIES);
    lw_force_values(model, a->data, a->t, false, forces);
    const lw_quantity_source source = {
        .t = a->t, .vdot = vdot, .reactions = reactions, .multipliers = multipliers, .forces = forces};
    for (int i = 1; i <= model->body_count; i++) {
        double weight[3];
        for (int k = 0; k < 3; k++) weight[k] = model->links[i].inertia.mass * model->gravity[k];
        point_on(a->data, i, model->bodies[i].com, x);
        act(net, i, x, 1, weight, NULL);
    }
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        vector_of(model, a->data, &source, LW_Q_REACTION, j, at_first, w);
        point_on(a->data, entry->info.bodies[!at_first], entry->frames[!at_first].p, x);
        act(net, entry->info.bodies[1], x, 1, w, w + 3);
        act(net, entry->info.bodies[0], x, -1, w, w + 3);
        assert_true(fabs(w[6] - lw_v3_norm(w)) <= 1e-15 * w[6] &&
                    fabs(w[7] - lw_v3_norm(w + 3)) <= 1e-15 * w[7]);
        for (int k = 0; k < 6; k++) scale = fmax(scale, fabs(w[k]));
    }
    for (int f = 0; f < model->force_count; f++) {
        const lw_force *force = &model->forces[f];
        const bool applied = force->type == LW_FORCE_APPLIED;
        if (!applied && force->type != LW_FORCE_SPRING && force->type != LW_FORCE_BUSHING) continue;
        vector_of(model, a->data, &source, LW_Q_FORCE, f, at_first, w);
        const int second = force->bodies[!applied], first = force->bodies[applied];
        if (applied)
            point_on(a->data, second, force->frames[0].p, x);
        else
            point_on(a->data, force->bodies[!at_first], force->frames[!at_first].p, x);
        act(net, second, x, 1, w, w + 3);
        act(net, first, x, -1, w, w + 3);
        for (int k = 0; k < 6; k++) scale = fmax(scale, fabs(w[k]));
    }
    for (int c = 0; c < model->constraint_count; c++) {
        const lw_constraint *constraint = &model->constraints[c];
        if (constraint->type == LW_CONSTRAINT_COUPLING) return 0; /* acts in joints */
        vector_of(model, a->data, &source, LW_Q_CONSTRAINT, c, false, w);
        if (constraint->type == LW_CONSTRAINT_ROLLING) {
            double n[3], axis[3], m[3];
            point_on(a->data, constraint->bodies[0], constraint->points[0], x);
            lw_m3_mul_v(a->data->world[constraint->bodies[1]].R, constraint->normal, n);
            lw_m3_mul_v(a->data->world[constraint->bodies[0]].R, constraint->axis, axis);
            for (int k = 0; k < 3; k++) m[k] = n[k] - lw_v3_dot(n, axis) * axis[k];
            const double size = lw_v3_norm(m);
            for (int k = 0; k < 3; k++) x[k] -= constraint->radius * m[k] / size;
        } else {
            point_on(a->data, constraint->bodies[1], constraint->points[1], x);
        }
        act(net, constraint->bodies[1], x, 1, w, NULL);
        act(net, constraint->bodies[0], x, -1, w, NULL);
        for (int k = 0; k < 3; k++) scale = fmax(scale, fabs(w[k]));
    }
    const double h = 1e-5;
    double q[2][MAX_NQ], v[2][MAX_NV];
    for (int s = 0; s < 2; s++) go_on(model, a, vdot, s ? -h : h, q[s], v[s]);
    for (int i = 1; i <= model->body_count; i++) {
        double before[LW_QUANTITY_COMPONENTS], after[LW_QUANTITY_COMPONENTS];
        settle(model, a->other, a->t, q[1], v[1]);
        vector_of(model, a->other, NULL, LW_Q_MOMENTUM, i, false, before);
        settle(model, a->other, a->t, q[0], v[0]);
        vector_of(model, a->other, NULL, LW_Q_MOMENTUM, i, false, after);
        for (int k = 0; k < 6; k++)
            worst = fmax(worst, fabs((after[k] - before[k]) / (2 * h) - net[6 * i + k]));
    }
    /* The momentum of all: only what ground and gravity exert. */
    double total[2][LW_QUANTITY_COMPONENTS], outer[6] = {0};
    for (int s = 0; s < 2; s++) {
        settle(model, a->other, a->t, q[s], v[s]);
        vector_of(model, a->other, NULL, LW_Q_TOTAL_MOMENTUM, 0, false, total[s]);
    }
    for (int i = 1; i <= model->body_count; i++) {
        double weight[3];
        for (int k = 0; k < 3; k++) weight[k] = model->links[i].inertia.mass * model->gravity[k];
        point_on(a->data, i, model->bodies[i].com, x);
        act(outer, 0, x, 1, weight, NULL);
    }
    for (int k = 0; k < 6; k++)
        worst = fmax(worst, fabs((total[0][k] - total[1][k]) / (2 * h) - outer[k] + net[k]));
    return worst / scale;
}

static double balance_of(lw_model *model, double t, const double *q, const double *v, int seed, int *count) {
    double vdot[MAX_NV], reactions[6 * MAX_JOINTS], multipliers[64], worst = 0;
    const lw_formulation *f = lw_formulation_find("lagrange");
    const lw_method_options options = {0};
    lw_error error = {0};
    lw_method *method;
    trial a = {.t = t, .q = q, .v = v};
    if (f->create(model, &options, &method, &error) != LW_OK) fail_msg("%s", error.message);
    assert_int_equal(lw_data_create(model, NULL, &a.data), LW_OK);
    assert_int_equal(lw_data_create(model, NULL, &a.other), LW_OK);
    if (f->accelerations(method, t, q, v, NULL, vdot, reactions, NULL, &error) == LW_OK) {
        f->multipliers(method, multipliers);
        settle(model, a.data, t, q, v);
        for (int at_first = 0; at_first < 2; at_first++)
            worst = fmax(worst, imbalance(model, &a, vdot, reactions, multipliers, at_first));
        if (!(worst < 1e-6)) fail_msg("seed %d: %g is left", seed, worst);
        ++*count;
    }
    f->destroy(method);
    lw_data_destroy(a.data);
    lw_data_destroy(a.other);
    lw_model_destroy(model);
    return worst;
}

static void recorded_forces_balance_every_body(void **state) {
    (void)state;
    double worst = 0, q[MAX_NQ], v[MAX_NV];
    int count = 0;
    for (int seed = 0; seed < 150; seed++) {
        lw_random random = random_seed((uint64_t)seed + 577);
        lw_model *model = random_tree_model(
            &random,
            &(random_tree){.bodies = 1 + seed % 8, .forces = true, .reversed = seed % 2, .joint = -1});
        random_state(&random, model, q, v);
        worst = fmax(worst, balance_of(model, 0.3, q, v, seed, &count));
    }
    for (int seed = 0; seed < 150; seed++) {
        random_loops loops;
        random_loops_build(&loops, seed);
        if (loops.base == LOOP_MOVING) { /* the differences leave prescribed motions */
            lw_spec_destroy(loops.spec);
            continue;
        }
        lw_model *model = compile_or_fail(loops.spec);
        random_loops_state(&loops, model, false, q, v);
        worst = fmax(worst, balance_of(model, loops.t, q, v, 1000 + seed, &count));
    }
    print_message("%d mechanisms, at most %.1e of the largest force left\n", count, worst);
    assert_true(count > 200);
}

/* Each element's power and potential: together those that the ledger books. */
static void elements_add_up(void **state) {
    (void)state;
    for (int seed = 0; seed < 100; seed++) {
        lw_random random = random_seed((uint64_t)seed + 977);
        double q[MAX_NQ], v[MAX_NV];
        lw_model *model = random_tree_model(
            &random,
            &(random_tree){.bodies = 1 + seed % 8, .forces = true, .reversed = seed % 2, .joint = -1});
        lw_data *data;
        assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
        random_state(&random, model, q, v);
        settle(model, data, 0.3, q, v);
        lw_forces(model, data, 0.3, true);
        const lw_power power = data->power;
        const double potential = data->potential, tau = data->tau[0];
        lw_force_value values[MAX_FORCES];
        lw_force_values(model, data, 0.3, true, values);
        assert_true(data->tau[0] == tau && data->potential == potential);
        lw_power sum = {0};
        double supplied = 0, stored = 0, size = 1;
        for (int k = 0; k < model->force_count; k++) {
            sum.drives += values[k].booked.drives, sum.forces += values[k].booked.forces;
            sum.dissipation += values[k].booked.dissipation;
            stored += values[k].potential;
            supplied += values[k].power;
            size += fabs(values[k].power) + fabs(values[k].potential);
        }
        assert_true(fabs(sum.drives - power.drives) + fabs(sum.forces - power.forces) +
                        fabs(sum.dissipation - power.dissipation) <
                    1e-13 * size);
        assert_true(fabs(stored - potential) < 1e-13 * size);
        /* supplied = drives + forces - dissipation - dU/dt */
        double U[2], next[MAX_NQ];
        const double h = 1e-5;
        for (int s = 0; s < 2; s++) {
            memcpy(next, q, sizeof next);
            lw_integrate_q(model, next, v, s ? -h : h);
            settle(model, data, 0.3, next, v);
            lw_forces(model, data, 0.3, true);
            U[s] = data->potential;
        }
        const double expected = power.drives + power.forces - power.dissipation - (U[0] - U[1]) / (2 * h);
        if (!(fabs(supplied - expected) < 1e-6 * size))
            fail_msg("seed %d: %.12g W, %.12g W expected", seed, supplied, expected);
        lw_data_destroy(data);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_return),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(gradients_are_those_of_differences),
        cmocka_unit_test(accelerations_are_rates_of_velocities),
        cmocka_unit_test(cardan_angles_rebuild_the_rotation),
        cmocka_unit_test(recorded_forces_balance_every_body),
        cmocka_unit_test(elements_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
