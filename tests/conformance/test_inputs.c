/* test_inputs.c - inputs: what a method makes of a number that the caller changes is what it makes of the same
 * number written into the file.
 *
 * Each model exists twice, from one text: with a section of inputs whose defaults are other numbers, and with
 * the same names as parameters that have the values of the test. Compared are, for every formulation that
 * applies: checked accelerations and reactions, derivatives, and own steps; for the tree: the public calls and
 * batches. Before every comparison the method is used with other numbers in the array, so that whatever it
 * kept from that evaluation would show.
 */
#include "random_model.h"
#include "formulations/common/checked_accelerations.h"

#include <linkwork/io.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_STATE = 40 * MOST };

/* Rounding times the condition of the equations that a formulation solves; approximate ones: their accuracy. */
static double agreement(const lw_formulation *f) { return fmax(1e-9, 100 * f->accuracy); }

/* Laws are functions of t, so that no version of them has a potential: the director scheme takes the mean of a
 * potential over a step. */
#define FORCES                                                                                               \
    "  motor: {type: drive, joint: a, torque: 'push*(2 - q) - drag*v + if(push > 1, 0.3, 0)'}\n"             \
    "  stiff: {type: torsion, joint: b, law: 'push*x + 0.1*v + 0*t'}\n"                                      \
    "  line: {type: spring, between: [ground, one], points: [[0.3, 0.1, 1], [0.5, 0, 0]], stiffness: 20,"    \
    " length: 0.4, law: 'drag*v*abs(v) + push*x^2 + 0*t'}\n"                                                 \
    "  wind: {type: applied, body: two, frame: body, point: [0.1, 0, 0.2], force: [push, 0, 'drag*t'],"      \
    " torque: [0, 'push*drag', 0]}\n"                                                                        \
    "  follower: {type: applied, body: one, frame: body, axes: body, point: [0.1, 0, 0], force: [0, 0, "     \
    "push]}\n"

static const char *const models[] = {
    "bodies:\n"
    "  one: {mass: 2, com: [0.4, 0, 0], inertia: [0.1, 0.3, 0.3], position: [0, 0, 0]}\n"
    "  two: {mass: 1, com: [1.2, 0.1, 0], inertia: [0.1, 0.2, 0.2], position: [0, 0, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, one], point: [0, 0, 0], axis: [0, 1, 0], q: 0.3, v: 0.7}\n"
    "  b: {type: revolute, between: [one, two], point: [0.8, 0, 0], axis: [0, 1, 0.1], q: -0.4, v: 0.2}\n"
    "forces:\n" FORCES,
    /* a four-bar linkage; the joint that is cut has a torsion spring */
    "bodies:\n"
    "  one: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.1], position: [0, 0, 0]}\n"
    "  two: {mass: 1, com: [0.7, 0, 1.2], inertia: [0.1, 0.2, 0.1], position: [0, 0, 0]}\n"
    "  three: {mass: 1, com: [1.5, 0, 0.7], inertia: [0.1, 0.2, 0.1], position: [0, 0, 0]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, one], point: [0, 0, 0], axis: [0, 1, 0], v: 1}\n"
    "  b: {type: revolute, between: [one, two], point: [0, 0, 1], axis: [0, 1, 0]}\n"
    "  c: {type: revolute, between: [two, three], point: [1.5, 0, 1.5], axis: [0, 1, 0], cut: true}\n"
    "  d: {type: revolute, between: [ground, three], point: [1.5, 0, 0], axis: [0, 1, 0]}\n"
    "forces:\n" FORCES "  at_cut: {type: torsion, joint: c, law: 'push*x + drag*v + 0*t'}\n",
    /* a body without mass between a spring and a damper, whose speed follows from the forces */
    "bodies:\n"
    "  one: {mass: 0, inertia: [0, 0, 0], position: [0, 0, 0]}\n"
    "  two: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
    "joints:\n"
    "  a: {type: prismatic, between: [ground, one], point: [0, 0, 0], axis: [0, 0, 1], q: 0.3}\n"
    "  b: {type: prismatic, between: [one, two], point: [0, 0, 0], axis: [0, 0, 1], q: 0.2, v: 0.5}\n"
    "forces:\n"
    "  damper: {type: torsion, joint: a, law: '(1 + drag^2)*v + 0*t'}\n"
    "  spring: {type: torsion, joint: b, law: '(20 + push)*x + 0*t'}\n"
    "  pull: {type: drive, joint: a, force: 'push - 2*v'}\n",
};
enum { MODELS = sizeof models / sizeof *models };

static const double wanted[2] = {1.5, 0.25}, other[2] = {-0.75, 0.5};

static lw_model *read_as(const char *section, const char *rest) {
    char text[8192];
    int length = snprintf(text, sizeof text, "linkwork: 1\n%s\n%s", section, rest);
    assert_true(length > 0 && (size_t)length < sizeof text);
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_read_model_text(text, (size_t)length, "test", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char line[1024];
        lw_error_format(lw_report_get(report, k), line, sizeof line);
        if (status != LW_OK) print_error("%s\n", line);
    }
    assert_int_equal(status, LW_OK);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return model;
}

typedef struct pair {
    int number;
    lw_model *input, *written; /* the same model with inputs and with parameters */
    double t, q[MOST], v[MOST], tau[MOST];
} pair;

static void set_up(pair *p, int number) {
    *p = (pair){.number = number, .t = 0.4};
    p->input = read_as("inputs: {push: 7, drag: 3}", models[number]);
    p->written = read_as("parameters: {push: 1.5, drag: 0.25}", models[number]);
    lw_model_initial_state(p->written, p->q, p->v);
    for (int k = 0; k < lw_model_v_size(p->written); k++) p->tau[k] = 0.3 * (k + 1);
}

static void tear_down(pair *p) {
    lw_model_destroy(p->input);
    lw_model_destroy(p->written);
}

static void same(const pair *p, const lw_formulation *f, const double *a, const double *b, int count,
                 const char *what) {
    double difference = relative_difference(a, b, count);
    if (!(difference <= agreement(f)))
        fail_msg("model %d, method %s: %s differ by %g", p->number, f->name, what, difference);
}

/* Results of one method, as arrays. */
typedef struct results {
    double vdot[MOST], reactions[6 * MOST], ydot[MOST_STATE], next[MOST_STATE];
    int state_size;
} results;

static void evaluate(const pair *p, const lw_formulation *f, lw_method *method, lw_checked *checked,
                     const lw_method_options *options, results *r) {
    static double y[MOST_STATE];
    lw_error error = {0};
    assert_true(method->state_size <= MOST_STATE);
    f->to_state(method, p->t, p->q, p->v, y); /* a run begins here, and may choose its coordinates */
    lw_status status =
        lw_checked_accelerations(checked, &(lw_checked_state){method, options, p->t, p->q, p->v, p->tau},
                                 (lw_checked_answer){.vdot = r->vdot, .reactions = r->reactions}, &error);
    if (status != LW_OK) fail_msg("model %d, method %s: %s", p->number, f->name, error.message);
    r->state_size = method->state_size;
    lw_power power;
    if (f->derivative) assert_int_equal(f->derivative(method, p->t, y, r->ydot, &power, &error), LW_OK);
    if (f->step) assert_int_equal(f->step(method, p->t, 1e-3, y, r->next, &power, &error), LW_OK);
}

static void test_formulations(void **state) {
    (void)state;
    int compared = 0;
    for (int number = 0; number < MODELS; number++) {
        pair p;
        set_up(&p, number);
        lw_checked *checked = lw_checked_create(p.input), *plain = lw_checked_create(p.written);
        for (int k = 0; k < lw_formulation_count(); k++) {
            const lw_formulation *f = lw_formulation_at(k);
            if (f->applies(p.written, NULL) != LW_OK || f->applies(p.input, NULL) != LW_OK) continue;
            double inputs[2] = {other[0], other[1]};
            const lw_method_options given = {.inputs = inputs}, none = {0};
            lw_method *changing = NULL, *fixed = NULL;
            assert_int_equal(f->create(p.input, &given, &changing, NULL), LW_OK);
            assert_int_equal(f->create(p.written, &none, &fixed, NULL), LW_OK);
            static results before, now, again, expected;
            evaluate(&p, f, changing, checked, &given, &before);
            memcpy(inputs, wanted, sizeof inputs);
            evaluate(&p, f, changing, checked, &given, &now);
            evaluate(&p, f, fixed, plain, &none, &expected);
            int nv = lw_model_v_size(p.input), joints = lw_model_joint_count(p.input);
            same(&p, f, expected.vdot, now.vdot, nv, "accelerations");
            same(&p, f, expected.reactions, now.reactions, 6 * joints, "reactions");
            assert_true(relative_difference(before.vdot, now.vdot, nv) > 1e-3); /* they matter */
            if (f->derivative) same(&p, f, expected.ydot, now.ydot, now.state_size, "derivatives");
            if (f->step) same(&p, f, expected.next, now.next, now.state_size, "steps");
            /* back to the first numbers: the same bits as then */
            memcpy(inputs, other, sizeof inputs);
            evaluate(&p, f, changing, checked, &given, &again);
            if (memcmp(before.vdot, again.vdot, (size_t)nv * sizeof(double)) != 0)
                fail_msg("model %d, method %s: accelerations depend on earlier inputs", number, f->name);
            /* to rounding only: Newton's method of massless starts where it ended the last time */
            if (f->derivative && !(relative_difference(before.ydot, again.ydot, before.state_size) < 1e-14))
                fail_msg("model %d, method %s: derivatives depend on earlier inputs", number, f->name);
            f->destroy(changing);
            f->destroy(fixed);
            compared++;
        }
        lw_checked_destroy(checked);
        lw_checked_destroy(plain);
        tear_down(&p);
    }
    assert_true(compared > 25);
}

/* The balance check takes its own inputs: with others than the method's it does not hold. */
static void test_balance_sees_them(void **state) {
    (void)state;
    pair p;
    set_up(&p, 0);
    double inputs[2] = {wanted[0], wanted[1]};
    const lw_method_options given = {.inputs = inputs}, none = {0};
    const lw_formulation *f = lw_formulation_find("tree");
    lw_method *method = NULL;
    lw_checked *checked = lw_checked_create(p.input);
    double amount;
    assert_int_equal(f->create(p.input, &given, &method, NULL), LW_OK);
    assert_int_equal(lw_checked_accelerations(checked,
                                              &(lw_checked_state){method, &given, p.t, p.q, p.v, NULL},
                                              (lw_checked_answer){.amount = &amount}, NULL),
                     LW_OK);
    assert_int_equal(lw_checked_accelerations(checked,
                                              &(lw_checked_state){method, &none, p.t, p.q, p.v, NULL},
                                              (lw_checked_answer){.amount = &amount}, NULL),
                     LW_ERROR_SINGULAR);
    f->destroy(method);
    lw_checked_destroy(checked);
    tear_down(&p);
}

static void test_tree_calls_and_batches(void **state) {
    (void)state;
    enum { STATES = 37 };
    pair p;
    set_up(&p, 0);
    int nq = lw_model_q_size(p.input), nv = lw_model_v_size(p.input);
    double inputs[2] = {other[0], other[1]}, vdot[MOST], expected[MOST], back[MOST], want_back[MOST];
    lw_data *data, *plain;
    assert_int_equal(lw_data_create(p.input, NULL, &data), LW_OK);
    assert_int_equal(lw_data_create(p.written, NULL, &plain), LW_OK);
    lw_data_set_inputs(p.input, data, inputs);
    memcpy(inputs, wanted, sizeof inputs);
    lw_tree_forward_dynamics(p.input, data, p.t, p.q, p.v, p.tau, vdot, NULL);
    lw_tree_forward_dynamics(p.written, plain, p.t, p.q, p.v, p.tau, expected, NULL);
    assert_memory_equal(vdot, expected, (size_t)nv * sizeof *vdot);
    assert_int_equal(lw_tree_inverse_dynamics(p.input, data, p.t, p.q, p.v, p.tau, back, NULL), LW_OK);
    assert_int_equal(lw_tree_inverse_dynamics(p.written, plain, p.t, p.q, p.v, p.tau, want_back, NULL),
                     LW_OK);
    assert_memory_equal(back, want_back, (size_t)nv * sizeof *back);

    static double q[MOST * STATES], v[MOST * STATES], many[MOST * STATES], many_expected[MOST * STATES];
    for (int s = 0; s < STATES; s++) {
        for (int k = 0; k < nq; k++) q[k * STATES + s] = p.q[k] + 0.01 * s;
        for (int k = 0; k < nv; k++) v[k * STATES + s] = p.v[k] - 0.02 * s;
    }
    lw_batch *batch, *plain_batch;
    assert_int_equal(lw_batch_create(p.input, 2, NULL, &batch), LW_OK);
    assert_int_equal(lw_batch_create(p.written, 2, NULL, &plain_batch), LW_OK);
    lw_batch_set_inputs(batch, inputs);
    lw_tree_forward_dynamics_batch(p.input, batch, STATES, p.t, q, v, NULL, many, NULL);
    lw_tree_forward_dynamics_batch(p.written, plain_batch, STATES, p.t, q, v, NULL, many_expected, NULL);
    assert_memory_equal(many, many_expected, (size_t)(nv * STATES) * sizeof *many);
    lw_batch_set_inputs(batch, NULL); /* the defaults again: 7 and 3 */
    lw_tree_forward_dynamics_batch(p.input, batch, STATES, p.t, q, v, NULL, many, NULL);
    assert_true(relative_difference(many, many_expected, nv * STATES) > 1e-3);
    lw_batch_destroy(batch);
    lw_batch_destroy(plain_batch);
    lw_data_destroy(data);
    lw_data_destroy(plain);
    tear_down(&p);
}

/* A law of x and parameters has a potential; of x and an input it has none, and its power is booked. */
static void test_ledger(void **state) {
    (void)state;
    static const char rest[] =
        "bodies:\n  one: {mass: 2, com: [0.4, 0, 0], inertia: [0.1, 0.3, 0.3], position: [0, 0, 0]}\n"
        "joints:\n"
        "  a: {type: revolute, between: [ground, one], point: [0, 0, 0], axis: [0, 1, 0], q: 0.3, v: 0.7}\n"
        "forces:\n  stiff: {type: torsion, joint: a, law: 'push*x'}\n";
    lw_model *input = read_as("inputs: {push: 5}", rest), *written = read_as("parameters: {push: 5}", rest);
    const double q = 0.3, v = 0.7;
    lw_data *data, *plain;
    assert_int_equal(lw_data_create(input, NULL, &data), LW_OK);
    assert_int_equal(lw_data_create(written, NULL, &plain), LW_OK);
    double with = lw_energy_of(written, plain, 0, &q, &v).potential,
           without = lw_energy_of(input, data, 0, &q, &v).potential;
    assert_true(fabs(with - without - 0.5 * 5 * q * q) < 1e-14);
    assert_true(fabs(data->power.forces + 5 * q * v) < 1e-14 && plain->power.forces == 0);
    lw_data_destroy(data);
    lw_data_destroy(plain);
    lw_model_destroy(input);
    lw_model_destroy(written);
}

static void test_names(void **state) {
    (void)state;
    lw_model *model = read_as("inputs: {push: 7, drag: 3}", models[0]);
    assert_int_equal(lw_model_input_count(model), 2);
    assert_int_equal(lw_model_input(model, "push"), 0);
    assert_int_equal(lw_model_input(model, "drag"), 1);
    assert_int_equal(lw_model_input(model, "pull"), -1);
    assert_string_equal(lw_model_input_name(model, 1), "drag");
    assert_true(lw_model_input_default(model, 0) == 7);
    assert_int_equal(lw_model_output_count(model), 0);
    assert_int_equal(lw_model_output(model, "push"), -1);
    lw_model_destroy(model);
}

/* Through C: what the reader would have refused is refused when compiling; an input without use is a warning. */
static void test_compile_faults(void **state) {
    (void)state;
    static const struct {
        const char *parameter, *input;
        double value;
        const char *said;
    } cases[] = {
        {"k", "k", 1, "its name is taken by a parameter"},
        {"k", "sin", 1, "its name is taken by a function, unit or constant"},
        {"k", "t", 1, "its name is taken by a variable of force laws and motions"},
        {"k", "u", NAN, "its default is not finite"},
        {"k", "u", 1, "nothing depends on it"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        lw_spec *spec = lw_spec_create("inputs");
        lw_report *report = lw_report_create();
        lw_model *model = NULL;
        const lw_body_spec body = {.name = "rod", .mass = 1, .inertia = {1, 1, 1}};
        const lw_joint_spec joint = {.name = "free", .type = LW_JOINT_FREE, .bodies = {LW_GROUND, "rod"}};
        assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
        assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
        assert_int_equal(lw_spec_add_parameter(spec, cases[c].parameter, 2), LW_OK);
        assert_int_equal(lw_spec_set_input(spec, cases[c].input, cases[c].value), LW_OK);
        lw_status status = lw_model_compile(spec, NULL, report, &model);
        assert_int_equal(status, c + 1 == sizeof cases / sizeof *cases ? LW_OK : LW_ERROR_MODEL);
        assert_int_equal(lw_report_size(report), 1);
        assert_string_equal(lw_report_get(report, 0)->message, cases[c].said);
        lw_model_destroy(model);
        lw_report_destroy(report);
        lw_spec_destroy(spec);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulations),
        cmocka_unit_test(test_balance_sees_them),
        cmocka_unit_test(test_tree_calls_and_batches),
        cmocka_unit_test(test_ledger),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_compile_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
