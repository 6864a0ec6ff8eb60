/* test_misuse.c - what every public header answers to a wrong call: objects that are not there or belong to
 * another model, indices and sizes out of range, numbers that are none. A status, NULL, NaN, 0 or -1 as the
 * header says, never a crash.
 *
 * Each misuse runs in a process of its own, so that one that crashes is told by its text and does not hide
 * the others. spec.h and model.h have tables of indices of their own in test_bad_indices.c, sweeps, rollouts and
 * analyses are in test_misuse_runs.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "misuse_support.h"

static const char pendulum[] =
    "linkwork: 1\n"
    "parameters: {L: 1}\n"
    "inputs: {u: 0}\n"
    "bodies:\n"
    "  one: {mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}\n"
    "  two: {mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, one], first: {point: [0, 0, 0], axis: [0, 1, 0]},"
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.3}\n"
    "  b: {type: revolute, between: [one, two], first: {point: [L, 0, 0], axis: [0, 1, 0]},"
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.4}\n"
    "forces:\n"
    "  motor: {type: drive, joint: a, torque: u}\n"
    "run: {end: 0.1}\n";

/* Everything that a call may need, once right, and once of another model. */
static lw_spec *spec, *other_spec;
static lw_model *model, *other;
static lw_data *data, *foreign;
static lw_batch *batch, *foreign_batch;
static lw_solver *solver;
static lw_derivatives *derivatives;
static lw_acceleration_derivatives slopes;
static lw_linearise_options near;
static lw_solver_batch *solvers;
static lw_simulation *simulation;
static lw_mobility *mobility;
static lw_merits *merits;
static lw_cuts *cuts;
static lw_directions *directions;
static lw_neglect *neglect;
static lw_report *report;
static lw_animation *animation;
static lw_record *record;
static lw_recording *recording;
static lw_run_options run;
static lw_solver_options solving;
static lw_compare_options comparing;
static lw_error error;
static double q[2], v[2], out[64], nan2[2], three[3], six[6], nine[9], number;
static const double inf2[2] = {INFINITY, 0};
static bool flags[64];
static int count;
static size_t size;
static char text[64];
static void *nothing;

static lw_spec *read_pendulum(void) {
    lw_spec *read = NULL;
    assert_int_equal(lw_read_model_text(pendulum, sizeof pendulum - 1, "text", NULL, 0, report, &read),
                     LW_OK);
    return read;
}

static void set_up(void) {
    report = lw_report_create();
    spec = read_pendulum(), other_spec = read_pendulum();
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    assert_int_equal(lw_model_compile(other_spec, NULL, report, &other), LW_OK);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    assert_int_equal(lw_data_create(other, NULL, &foreign), LW_OK);
    assert_int_equal(lw_batch_create(model, 1, NULL, &batch), LW_OK);
    assert_int_equal(lw_batch_create(other, 1, NULL, &foreign_batch), LW_OK);
    lw_model_initial_state(model, q, v);
    lw_run_defaults(model, &run);
    lw_solver_defaults(model, &solving);
    lw_compare_defaults(model, &comparing);
    assert_int_equal(lw_solver_create(model, &solving, NULL, &solver, &error), LW_OK);
    assert_int_equal(lw_derivatives_create(model, &solving, NULL, &derivatives, &error), LW_OK);
    lw_linearise_defaults(model, &near);
    assert_int_equal(lw_solver_batch_create(model, &solving, 1, NULL, &solvers, &error), LW_OK);
    assert_int_equal(lw_simulation_create(model, &run, NULL, &simulation, &error), LW_OK);
    assert_int_equal(lw_mobility_create(model, 0, q, &mobility, &error), LW_OK);
    assert_int_equal(lw_merits_create(model, false, &merits, &error), LW_OK);
    assert_int_equal(lw_merits_evaluate(merits, 0, q, &error), LW_OK);
    assert_int_equal(lw_cuts_create(spec, model, 0, q, &cuts, &error), LW_OK);
    assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
    assert_int_equal(lw_neglect_create(spec, 1e-6, &neglect, &error), LW_OK);
    assert_int_equal(lw_animation_create(model, NULL, &animation, &error), LW_OK);
    assert_int_equal(lw_record_create(model, "joint(*)", &record, &error), LW_OK);
    assert_int_equal(lw_recording_create(model, &recording, &error), LW_OK);
    nan2[0] = NAN;
}

static void tear_down(void) {
    lw_animation_destroy(animation), lw_neglect_destroy(neglect), lw_directions_destroy(directions),
        lw_cuts_destroy(cuts);
    lw_merits_destroy(merits), lw_mobility_destroy(mobility), lw_simulation_destroy(simulation);
    lw_solver_batch_destroy(solvers);
    lw_derivatives_destroy(derivatives);
    lw_solver_destroy(solver), lw_batch_destroy(batch), lw_batch_destroy(foreign_batch);
    lw_data_destroy(data), lw_data_destroy(foreign), lw_model_destroy(model), lw_model_destroy(other);
    lw_spec_destroy(spec), lw_spec_destroy(other_spec), lw_report_destroy(report);
}

/* Options with one member changed. */
static lw_run_options wrong_run(int which) {
    static const lw_event_function no_value = {NULL, 0};
    lw_run_options o = run;
    switch (which) {
    case 0:
        return o.method = "nonsense", o;
    case 1:
        return o.integrator = "nonsense", o;
    case 2:
        return o.drift = "nonsense", o;
    case 3:
        return o.end = NAN, o;
    case 4:
        return o.start = INFINITY, o;
    case 5:
        return o.step = -1, o;
    case 6:
        return o.tolerance = NAN, o;
    case 7:
        return o.output = -1, o;
    case 8:
        return o.max_steps = -1, o;
    case 9:
        return o.penalty = NAN, o;
    case 10:
        return o.q = nan2, o.v = v, o;
    case 11:
        return o.q = q, o.v = inf2, o;
    case 12:
        return o.event_count = -1, o;
    case 13:
        return o.event_count = 1, o;
    case 14:
        return o.event_count = 1, o.events = &no_value, o;
    case 15:
        return o.end = o.start - 1, o;
    default:
        return o.baumgarte_alpha = -1, o.drift = "baumgarte", o;
    }
}
static bool refuses_run(int which) {
    const lw_run_options o = wrong_run(which);
    lw_simulation *made = simulation;
    return lw_simulation_create(model, &o, NULL, &made, &error) != LW_OK && !made && error.message[0];
}
static bool refuses_sweep(int speed, double from, double to, int intervals) {
    lw_merits_path sweep = {.speed = speed, .from = from, .to = to, .intervals = intervals};
    return lw_merits_sweep(spec, model, 0, q, &sweep, &error) == LW_ERROR_ARGUMENT;
}
static bool is_nan(lw_energy energy) { return isnan(energy.kinetic) && isnan(energy.potential); }
static bool same(double x, double y) { return x == y; }
enum { BEFORE = __COUNTER__ + 1 };
static bool misuse(int number_of_case) {
    switch (number_of_case + BEFORE) {
        /* --- text.h, status.h, version.h --- */
        MISUSE(lw_utf8(NULL, 4, NULL) == 0)
        MISUSE(lw_utf8("a", 0, NULL) == 0)
        MISUSE(lw_utf8("a", 1, NULL) == 1)
        MISUSE(lw_escape(NULL, text, sizeof text) == 0)
        MISUSE(lw_escape("abc", NULL, 0) == 3)
        MISUSE(QUIET(lw_put_xml(NULL, "a", 1)))
        MISUSE(QUIET(lw_put_xml(stderr, NULL, 1)))
        MISUSE(lw_closest(NULL, (const char *const[]){"a"}, 1) == NULL)
        MISUSE(lw_closest("a", NULL, 0) == NULL)
        MISUSE(lw_closest("a", NULL, 3) == NULL)
        MISUSE(lw_error_format(NULL, text, sizeof text) == 0)
        MISUSE(lw_error_format(&error, NULL, 0) >= 0)
        MISUSE(lw_status_text((lw_status)99) != NULL)
        MISUSE(lw_status_text((lw_status)-1) != NULL)
        MISUSE(QUIET(lw_report_destroy(NULL)))
        MISUSE(lw_report_size(NULL) == 0)
        MISUSE(lw_report_errors(NULL) == 0)
        MISUSE(lw_report_get(NULL, 0) == NULL)
        MISUSE(lw_report_get(report, SIZE_MAX) == NULL)
        MISUSE(lw_report_add(NULL, &error) == LW_OK)
        ARGUMENT(lw_report_add(report, NULL))
        /* --- spec.h --- */
        MISUSE(QUIET(lw_spec_destroy(NULL)))
        ARGUMENT(lw_spec_save(NULL, NULL, 0, &size))
        ARGUMENT(lw_spec_save(spec, text, 1, &size))
        MISUSE(lw_spec_save(spec, NULL, 0, NULL) == LW_OK)
        MISUSE(lw_spec_load(NULL, 0, &(lw_spec *){NULL}, &error) != LW_OK)
        MISUSE(lw_spec_load("abc", 3, &(lw_spec *){NULL}, &error) != LW_OK)
        ARGUMENT(lw_spec_load("abc", 3, NULL, &error))
        ARGUMENT(lw_spec_set_file(NULL, "f"))
        MISUSE(QUIET(lw_spec_set_gravity(NULL, three)))
        MISUSE(QUIET(lw_spec_set_gravity(spec, NULL)))
        ARGUMENT(lw_spec_set_welds(NULL, LW_WELDS_KEEP))
        ARGUMENT(lw_spec_set_welds(spec, (lw_welds)7))
        ARGUMENT(lw_spec_add_parameter(NULL, "p", 1))
        ARGUMENT(lw_spec_add_parameter(spec, NULL, 1))
        ARGUMENT(lw_spec_set_parameter(NULL, "L", 1, &error))
        ARGUMENT(lw_spec_set_parameter(spec, NULL, 1, &error))
        ARGUMENT(lw_spec_set_parameter(spec, "none", 1, &error))
        MISUSE(lw_spec_set_parameter(spec, "L", NAN, &error) != LW_OK)
        ARGUMENT(lw_spec_set_input(NULL, "u", 1))
        ARGUMENT(lw_spec_set_input_expression(NULL, "u", "t"))
        ARGUMENT(lw_spec_set_input_expression(spec, NULL, "t"))
        ARGUMENT(lw_spec_set_input_expression(spec, "u", NULL))
        ARGUMENT(lw_spec_add_signal(spec, NULL))
        ARGUMENT(lw_spec_add_signal(NULL, &(lw_signal_spec){.name = "s", .value = "t"}))
        ARGUMENT(lw_spec_add_state(spec, NULL))
        ARGUMENT(lw_spec_add_state(NULL, &(lw_state_spec){.name = "s", .rate = "t"}))
        ARGUMENT(lw_spec_add_output(spec, NULL))
        ARGUMENT(lw_spec_add_frame(spec, NULL))
        ARGUMENT(lw_spec_add_frame(NULL, &(lw_frame_spec){.name = "f", .body = "ground"}))
        ARGUMENT(lw_spec_add_part(spec, NULL))
        ARGUMENT(lw_spec_add_part(NULL, &(lw_part_spec){.name = "p"}))
        MISUSE(lw_spec_part_count(NULL) == 0)
        MISUSE(lw_spec_part(spec, 99) == NULL && lw_spec_part(NULL, 0) == NULL)
        ARGUMENT(lw_spec_add_start(spec, NULL))
        ARGUMENT(lw_spec_add_start(NULL, &(lw_start_spec){.name = "s", .joint = "j"}))
        ARGUMENT(lw_spec_begin(NULL, "home", &error))
        MISUSE(lw_spec_begin(spec, NULL, &error) == LW_OK)
        ARGUMENT(lw_spec_begin(spec, "home", &error))
        ARGUMENT(lw_spec_begin(spec, "home", NULL))
        MISUSE(lw_spec_frame_count(NULL) + lw_spec_start_count(NULL) == 0)
        MISUSE(lw_spec_frame(spec, 99) == NULL && lw_spec_frame(NULL, 0) == NULL)
        MISUSE(lw_spec_start(spec, 99) == NULL && lw_spec_start(NULL, 0) == NULL)
        ARGUMENT(lw_spec_add_output(NULL, &(lw_output_spec){.name = "s", .value = "t"}))
        MISUSE(lw_spec_input_expression(NULL, 0) == NULL)
        MISUSE(lw_spec_input_expression(spec, 99) == NULL)
        MISUSE(lw_spec_signal_count(NULL) + lw_spec_state_count(NULL) + lw_spec_output_count(NULL) == 0)
        MISUSE(lw_spec_signal(spec, 99) == NULL && lw_spec_signal(NULL, 0) == NULL)
        MISUSE(lw_spec_state(spec, 99) == NULL && lw_spec_state(NULL, 0) == NULL)
        MISUSE(lw_spec_output(spec, 99) == NULL && lw_spec_output(NULL, 0) == NULL)
        ARGUMENT(lw_spec_set_run(spec, NULL))
        ARGUMENT(lw_spec_add_body(spec, NULL))
        ARGUMENT(lw_spec_add_joint(spec, NULL))
        ARGUMENT(lw_spec_add_force(spec, NULL))
        ARGUMENT(lw_spec_add_constraint(spec, NULL))
        ARGUMENT(lw_spec_add_table(NULL, &(lw_table_spec){.name = "f"}))
        ARGUMENT(lw_spec_add_table(spec, NULL))
        ARGUMENT(lw_spec_add_table(spec, &(lw_table_spec){.name = "f", .size = 2}))
        MISUSE(lw_spec_table_count(NULL) == 0)
        MISUSE(lw_spec_table(NULL, 0) == NULL && lw_spec_table(spec, 99) == NULL)
        ARGUMENT(lw_spec_add_event(spec, NULL))
        ARGUMENT(lw_spec_add_event(NULL, &(lw_event_spec){.name = "a", .when = "t"}))
        ARGUMENT(lw_spec_add_event(spec, &(lw_event_spec){.name = "a", .when = "t", .set_count = 99}))
        MISUSE(lw_spec_event_count(NULL) == 0)
        MISUSE(lw_spec_event(NULL, 0) == NULL)
        MISUSE(lw_spec_event(spec, 1000) == NULL)
        MISUSE(lw_spec_body(spec, SIZE_MAX) == NULL)
        MISUSE(lw_spec_parameter(spec, 99, &number) == NULL)
        MISUSE(lw_spec_parameter(spec, 0, NULL) != NULL)
        MISUSE(lw_spec_input(spec, 0, NULL) != NULL)
        MISUSE(lw_joint_type_name((lw_joint_type)99) != NULL)
        MISUSE(lw_joint_type_name((lw_joint_type)-1) != NULL)
        MISUSE(lw_force_type_name((lw_force_type)99) != NULL)
        MISUSE(lw_constraint_type_name((lw_constraint_type)99) != NULL)
        MISUSE(lw_joint_type_q((lw_joint_type)99, 0) == 0)
        MISUSE(lw_joint_type_v((lw_joint_type)99, 0) == 0)
        MISUSE(lw_joint_type_turns((lw_joint_type)99, 0) == false)
        MISUSE(lw_joint_type_turns(LW_JOINT_REVOLUTE, 99) == false)
        MISUSE(lw_joint_type_turns(LW_JOINT_REVOLUTE, -1) == false)
        ARGUMENT(lw_shape_inertia(NULL, 1, 0, &number, three, six))
        ARGUMENT(lw_shape_inertia(&(lw_shape){.kind = (lw_shape_kind)99}, 1, 0, &number, three, six))
        ARGUMENT(
            lw_shape_inertia(&(lw_shape){.kind = LW_SHAPE_SPHERE, .size = {1}}, NAN, 0, &number, three, six))
        ARGUMENT(lw_shape_inertia(&(lw_shape){.kind = LW_SHAPE_SPHERE, .size = {1}}, 1, 0, NULL, three, six))
        ARGUMENT(lw_shapes_inertia(NULL, 1, 1, &number, three, six))
        ARGUMENT(
            lw_shapes_inertia(&(lw_shape){.kind = LW_SHAPE_SPHERE, .size = {1}}, 0, 1, &number, three, six))
        ARGUMENT(
            lw_shapes_inertia(&(lw_shape){.kind = LW_SHAPE_SPHERE, .size = {1}}, 1, NAN, &number, three, six))
        ARGUMENT(lw_shapes_inertia(&(lw_shape){.kind = (lw_shape_kind)99}, 1, 1, &number, three, six))
        ARGUMENT(lw_mesh_check(NULL, NULL))
        ARGUMENT(lw_mesh_check(&(lw_mesh_spec){.vertex_count = -1, .triangle_count = 5}, NULL))
        ARGUMENT(lw_spec_add_body(spec, &(lw_body_spec){.name = "x", .shape_count = 2}))
        ARGUMENT(lw_spec_add_body(spec, &(lw_body_spec){.name = "x", .shape_count = -2}))
        ARGUMENT(lw_spec_add_body(
            spec,
            &(lw_body_spec){.name = "x",
                            .shape = {.kind = LW_SHAPE_MESH, .mesh = &(lw_mesh_spec){.vertex_count = -1}}}))
        /* --- model.h --- */
        MISUSE(lw_model_compile(NULL, NULL, report, &(lw_model *){NULL}) != LW_OK)
        ARGUMENT(lw_model_compile(spec, NULL, report, NULL))
        MISUSE(QUIET(lw_model_destroy(NULL)))
        MISUSE(lw_model_body(model, NULL) == -1)
        MISUSE(lw_model_joint(NULL, "a") == -1)
        MISUSE(lw_model_input(model, NULL) == -1)
        MISUSE(lw_model_frame(NULL, NULL) == -1 && lw_model_frame(model, NULL) == -1)
        MISUSE(lw_model_frame(model, "none") == -1 && lw_model_frame_count(NULL) == 0)
        MISUSE(lw_model_frame_name(NULL, 0) == NULL && lw_model_frame_name(model, 99) == NULL)
        MISUSE(lw_model_frame_body(NULL, 0, NULL, NULL) == -1)
        MISUSE(lw_model_frame_body(model, -1, NULL, NULL) == -1)
        MISUSE(lw_model_output(NULL, NULL) == -1)
        MISUSE(lw_model_output_count(NULL) == 0)
        MISUSE(lw_model_output_name(NULL, 0) == NULL && lw_model_output_name(model, 99) == NULL)
        MISUSE(lw_model_output_unit(NULL, 0, NULL) == NULL && lw_model_output_unit(model, -1, NULL) == NULL)
        MISUSE(lw_model_state_count(NULL) == 0)
        MISUSE(lw_model_state(NULL, "x") == -1 && lw_model_state(model, NULL) == -1)
        MISUSE(lw_model_state_name(NULL, 0) == NULL && lw_model_state_name(model, 99) == NULL)
        MISUSE(isnan(lw_model_state_start(NULL, 0)) && isnan(lw_model_state_start(model, -1)))
        MISUSE(lw_model_loop_joint(model, 0, 0, NULL) == -1)
        MISUSE(lw_model_parameter_count(NULL) == 0)
        MISUSE(lw_model_parameter(NULL, "L") == -1)
        MISUSE(lw_model_parameter(model, NULL) == -1)
        MISUSE(lw_model_event_count(NULL) == 0)
        MISUSE(lw_model_event_name(NULL, 0) == NULL)
        MISUSE(lw_model_event_name(model, -1) == NULL)
        MISUSE(lw_model_event_name(model, 1000) == NULL)
        MISUSE(lw_model_parameter_name(NULL, 0) == NULL)
        MISUSE(lw_model_parameter_name(model, 1) == NULL)
        MISUSE(lw_model_parameter_name(model, -1) == NULL)
        MISUSE(isnan(lw_model_parameter_value(NULL, 0)))
        MISUSE(isnan(lw_model_parameter_value(model, INT_MAX)))
        MISUSE(QUIET(lw_model_initial_state(NULL, q, v)))
        MISUSE(QUIET(lw_model_initial_state(model, NULL, NULL)))
        /* --- dynamics.h --- */
        ARGUMENT(lw_data_create(NULL, NULL, &(lw_data *){NULL}))
        ARGUMENT(lw_data_create(model, NULL, NULL))
        MISUSE(QUIET(lw_data_destroy(NULL)))
        ARGUMENT(lw_data_set_inputs(model, NULL, out))
        ARGUMENT(lw_data_set_inputs(NULL, data, out))
        ARGUMENT(lw_data_set_inputs(model, foreign, out))
        ARGUMENT(lw_data_set_states(model, NULL, out))
        ARGUMENT(lw_data_set_states(NULL, data, out))
        ARGUMENT(lw_data_set_states(model, foreign, out))
        ARGUMENT(lw_body_pose(NULL, data, 0, q, 1, three, nine))
        ARGUMENT(lw_body_pose(model, foreign, 0, q, 1, three, nine))
        ARGUMENT(lw_body_pose(model, data, 0, NULL, 1, three, nine))
        ARGUMENT(lw_body_pose(model, data, 0, q, -1, three, nine))
        ARGUMENT(lw_body_pose(model, data, 0, q, 3, three, nine))
        ARGUMENT(lw_body_pose(model, data, 0, q, INT_MAX, three, nine))
        ARGUMENT(lw_body_pose(model, data, 0, nan2, 1, three, nine))
        MISUSE(lw_body_pose(model, data, 0, q, 1, NULL, nine) == LW_OK)
        MISUSE(lw_body_pose(model, data, 0, q, 1, three, NULL) == LW_OK)
        ARGUMENT(lw_body_velocity(model, NULL, 0, q, v, 1, three, six, nine))
        ARGUMENT(lw_body_velocity(model, foreign, 0, q, v, 1, three, six, nine))
        ARGUMENT(lw_body_velocity(model, data, 0, q, NULL, 1, three, six, nine))
        ARGUMENT(lw_body_velocity(model, data, 0, q, v, 3, three, six, nine))
        ARGUMENT(lw_body_velocity(model, data, 0, q, nan2, 1, three, six, nine))
        ARGUMENT(lw_body_velocity(model, data, 0, q, v, 1, NULL, six, nine))
        MISUSE(lw_body_velocity(model, data, 0, q, v, 1, three, NULL, NULL) == LW_OK)
        MISUSE(lw_joint_coordinates(NULL, data, 0, q, v, 0, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, foreign, 0, q, v, 0, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, data, 0, q, v, 2, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, data, 0, q, v, -1, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, data, 0, NULL, v, 0, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, data, 0, nan2, v, 0, six, nine) == -1)
        MISUSE(lw_joint_coordinates(model, data, 0, q, v, 0, NULL, nine) == -1)
        MISUSE(is_nan(lw_energy_of(NULL, data, 0, q, v)))
        MISUSE(is_nan(lw_energy_of(model, NULL, 0, q, v)))
        MISUSE(is_nan(lw_energy_of(model, foreign, 0, q, v)))
        MISUSE(is_nan(lw_energy_of(model, data, 0, NULL, v)))
        MISUSE(isnan(lw_energy_of(model, data, 0, nan2, v).potential))
        ARGUMENT(lw_momentum(NULL, data, 0, q, v, three, six))
        ARGUMENT(lw_momentum(model, foreign, 0, q, v, three, six))
        ARGUMENT(lw_momentum(model, data, 0, q, NULL, three, six))
        ARGUMENT(lw_momentum(model, data, 0, nan2, v, three, six))
        MISUSE(lw_momentum(model, data, 0, q, v, NULL, NULL) == LW_OK)
        ARGUMENT(lw_integrate_q(NULL, q, v, 1))
        ARGUMENT(lw_integrate_q(model, NULL, v, 1))
        ARGUMENT(lw_integrate_q(model, q, NULL, 1))
        ARGUMENT(lw_integrate_q(model, q, v, NAN))
        ARGUMENT(lw_q_rate(NULL, q, v, out))
        ARGUMENT(lw_q_rate(model, q, v, NULL))
        ARGUMENT(lw_normalise_q(NULL, q))
        ARGUMENT(lw_normalise_q(model, NULL))
        /* --- tree.h --- */
        ARGUMENT(lw_tree_forward_dynamics(NULL, data, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_tree_forward_dynamics(model, NULL, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_tree_forward_dynamics(model, foreign, 0, q, v, NULL, out, NULL))
        ARGUMENT(lw_tree_forward_dynamics(model, data, 0, q, v, NULL, NULL, &error))
        ARGUMENT(lw_tree_forward_dynamics(model, data, 0, q, nan2, NULL, out, &error))
        MISUSE(lw_tree_forward_dynamics(model, data, 0, q, v, nan2, out, &error) != LW_OK)
        ARGUMENT(lw_tree_inverse_dynamics(model, foreign, 0, q, v, v, out, &error))
        ARGUMENT(lw_tree_inverse_dynamics(model, data, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_tree_inverse_dynamics(model, data, 0, nan2, v, v, out, &error))
        MISUSE(lw_tree_inverse_dynamics(model, data, 0, q, v, nan2, out, &error) != LW_OK)
        ARGUMENT(lw_tree_mass_matrix(model, foreign, 0, q, out))
        ARGUMENT(lw_tree_mass_matrix(model, data, 0, q, NULL))
        ARGUMENT(lw_tree_body_jacobian(model, data, 0, q, 3, out))
        ARGUMENT(lw_tree_body_jacobian(model, data, 0, q, -1, out))
        ARGUMENT(lw_tree_point_jacobian(model, data, 0, q, 1, NULL, out))
        ARGUMENT(lw_joint_reactions(model, foreign, 0, q, v, v, out, &error))
        ARGUMENT(lw_joint_reactions(model, data, 0, q, v, v, NULL, &error))
        ARGUMENT(lw_batch_create(NULL, 1, NULL, &(lw_batch *){NULL}))
        ARGUMENT(lw_batch_create(model, 1, NULL, NULL))
        MISUSE(QUIET(lw_batch_destroy(NULL)))
        MISUSE(lw_batch_lanes(NULL) == 0)
        ARGUMENT(lw_batch_set_inputs(NULL, out))
        ARGUMENT(lw_batch_set_states(NULL, out))
        ARGUMENT(lw_tree_forward_dynamics_batch(model, foreign_batch, 1, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_tree_forward_dynamics_batch(model, batch, -1, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_tree_forward_dynamics_batch(model, batch, 1, 0, NULL, v, NULL, out, &error))
        MISUSE(lw_tree_forward_dynamics_batch(model, batch, 0, 0, NULL, NULL, NULL, NULL, &error) == LW_OK)
        ARGUMENT(lw_tree_inverse_dynamics_batch(model, batch, 1, 0, q, v, v, NULL, &error))
        /* --- solver.h --- */
        MISUSE(QUIET(lw_solver_defaults(NULL, &(lw_solver_options){0})))
        MISUSE(QUIET(lw_solver_defaults(model, NULL)))
        ARGUMENT(lw_solver_create(NULL, &solving, NULL, &(lw_solver *){NULL}, &error))
        ARGUMENT(lw_solver_create(model, NULL, NULL, &(lw_solver *){NULL}, &error))
        ARGUMENT(lw_solver_create(model, &solving, NULL, NULL, &error))
        ARGUMENT(lw_solver_create(model, &(lw_solver_options){.method = "none"}, NULL, &(lw_solver *){NULL},
                                  &error))
        ARGUMENT(
            lw_solver_create(model, &(lw_solver_options){.penalty = NAN}, NULL, &(lw_solver *){NULL}, &error))
        MISUSE(QUIET(lw_solver_destroy(NULL)))
        MISUSE(lw_solver_model(NULL) == NULL)
        MISUSE(lw_solver_method(NULL) == NULL)
        MISUSE(lw_solver_method_reason(NULL) == NULL)
        ARGUMENT(lw_solver_accelerations(NULL, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_solver_accelerations(solver, 0, NULL, v, NULL, out, &error))
        ARGUMENT(lw_solver_accelerations(solver, 0, q, v, NULL, NULL, &error))
        MISUSE(lw_solver_accelerations(solver, 0, nan2, v, NULL, out, &error) != LW_OK)
        MISUSE(lw_solver_accelerations(solver, NAN, nan2, v, NULL, out, NULL) != LW_OK)
        MISUSE(lw_solver_accelerations(solver, 0, q, v, nan2, out, &error) != LW_OK)
        MISUSE(QUIET(lw_solver_batch_defaults(NULL, &(lw_solver_options){0})))
        MISUSE(QUIET(lw_solver_batch_defaults(model, NULL)))
        ARGUMENT(lw_solver_batch_create(NULL, &solving, 1, NULL, &(lw_solver_batch *){NULL}, &error))
        ARGUMENT(lw_solver_batch_create(model, NULL, 1, NULL, &(lw_solver_batch *){NULL}, &error))
        ARGUMENT(lw_solver_batch_create(model, &solving, 1, NULL, NULL, &error))
        MISUSE(QUIET(lw_solver_batch_destroy(NULL)))
        MISUSE(lw_solver_batch_model(NULL) == NULL)
        MISUSE(lw_solver_batch_method(NULL) == NULL)
        MISUSE(lw_solver_batch_lanes(NULL) == 0)
        MISUSE(lw_solver_batch_threads(NULL) == 0)
        ARGUMENT(lw_solver_batch_accelerations(NULL, 1, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_solver_batch_accelerations(solvers, -1, 0, q, v, NULL, out, &error))
        ARGUMENT(lw_solver_batch_accelerations(solvers, 1, 0, NULL, v, NULL, out, &error))
        ARGUMENT(lw_solver_batch_accelerations(solvers, 1, 0, q, NULL, NULL, out, &error))
        ARGUMENT(lw_solver_batch_accelerations(solvers, 1, 0, q, v, NULL, NULL, &error))
        MISUSE(lw_solver_batch_accelerations(solvers, 1, 0, nan2, v, NULL, out, &error) != LW_OK)
        ARGUMENT(lw_solver_reactions(NULL, out, flags, &error))
        ARGUMENT(lw_solver_reactions(solver, out, flags, NULL))
        ARGUMENT(lw_solver_balance(NULL, &number, &error))
        ARGUMENT(lw_solver_inverse_dynamics(NULL, 0, q, v, v, out, &error))
        ARGUMENT(lw_solver_inverse_dynamics(solver, 0, q, v, NULL, out, &error))
        MISUSE(lw_solver_inverse_dynamics(solver, 0, q, nan2, v, out, &error) != LW_OK)
        ARGUMENT(lw_solver_unique_forces(NULL, flags, &error))
        ARGUMENT(lw_solver_mobility(NULL, 0, q, &count, &error))
        ARGUMENT(lw_solver_mobility(solver, 0, NULL, &count, &error))
        ARGUMENT(lw_solver_tangent_basis(solver, 0, q, 99, out, NULL, &error))
        ARGUMENT(lw_solver_tangent_basis(solver, 0, q, 2, NULL, NULL, &error))
        ARGUMENT(lw_solver_mass_matrix(solver, 0, q, -1, out, out, &error))
        ARGUMENT(lw_solver_mass_matrix(solver, 0, q, 2, out, NULL, &error))
        ARGUMENT(lw_solver_closure_jacobian(NULL, 0, q, v, out, out, &error))
        MISUSE(lw_solver_row_count(NULL) == 0)
        MISUSE(lw_solver_row_name(solver, 0) == NULL)
        MISUSE(lw_solver_row_name(NULL, 0) == NULL)
        /* --- derivatives.h --- */
        ARGUMENT(lw_derivatives_create(NULL, &solving, NULL, &(lw_derivatives *){NULL}, &error))
        ARGUMENT(lw_derivatives_create(model, &solving, NULL, NULL, NULL))
        ARGUMENT(lw_derivatives_create(model, &(lw_solver_options){.method = "none"}, NULL,
                                       &(lw_derivatives *){NULL}, &error))
        MISUSE(QUIET(lw_derivatives_destroy(NULL)))
        MISUSE(lw_derivatives_solver(NULL) == NULL)
        ARGUMENT(lw_derivatives_of_accelerations(NULL, 0, q, v, NULL, &slopes, &error))
        ARGUMENT(lw_derivatives_of_accelerations(derivatives, 0, NULL, v, NULL, &slopes, &error))
        ARGUMENT(lw_derivatives_of_accelerations(derivatives, 0, q, nan2, NULL, &slopes, NULL))
        ARGUMENT(lw_derivatives_of_accelerations(derivatives, NAN, q, v, NULL, &slopes, &error))
        ARGUMENT(lw_derivatives_of_accelerations(derivatives, 0, q, v, NULL, NULL, &error))
        ARGUMENT(lw_derivatives_of_forces(NULL, 0, q, v, v, out, NULL, NULL, &error))
        ARGUMENT(lw_derivatives_of_forces(derivatives, 0, q, v, NULL, out, NULL, NULL, &error))
        ARGUMENT(lw_derivatives_of_forces(derivatives, 0, q, v, nan2, out, NULL, NULL, NULL))
        /* --- linearise.h --- */
        MISUSE(QUIET(lw_linearise_defaults(NULL, &(lw_linearise_options){0})))
        MISUSE(QUIET(lw_linearise_defaults(model, NULL)))
        ARGUMENT(lw_linearise(NULL, &near, &(lw_linear_system *){NULL}, &error))
        ARGUMENT(lw_linearise(model, NULL, &(lw_linear_system *){NULL}, &error))
        ARGUMENT(lw_linearise(model, &near, NULL, NULL))
        ARGUMENT(lw_linearise(model, &(lw_linearise_options){.q = nan2}, &(lw_linear_system *){NULL}, &error))
        ARGUMENT(lw_linearise(model, &(lw_linearise_options){.t = NAN}, &(lw_linear_system *){NULL}, &error))
        ARGUMENT(lw_linear_system_write(NULL, "x.mat", &error))
        MISUSE(QUIET(lw_linear_system_destroy(NULL)))
        /* --- equilibrium.h --- */
        ARGUMENT(lw_equilibrium_find(NULL, &near, &(lw_equilibrium *){NULL}, &error))
        ARGUMENT(lw_equilibrium_find(model, NULL, &(lw_equilibrium *){NULL}, &error))
        ARGUMENT(lw_equilibrium_find(model, &near, NULL, NULL))
        ARGUMENT(
            lw_equilibrium_find(model, &(lw_linearise_options){.q = nan2}, &(lw_equilibrium *){NULL}, &error))
        MISUSE(QUIET(lw_equilibrium_destroy(NULL)))
        ARGUMENT(lw_modes_find(NULL, &near, &(lw_modes *){NULL}, &error))
        ARGUMENT(lw_modes_find(model, NULL, &(lw_modes *){NULL}, &error))
        ARGUMENT(lw_modes_find(model, &near, NULL, NULL))
        ARGUMENT(lw_modes_find(model, &(lw_linearise_options){.q = nan2}, &(lw_modes *){NULL}, &error))
        MISUSE(QUIET(lw_modes_destroy(NULL)))
        /* --- simulate.h --- */
        MISUSE(lw_method_at(-1).name == NULL)
        MISUSE(lw_method_at(999).name == NULL)
        MISUSE(lw_integrator_name(-1) == NULL)
        MISUSE(lw_integrator_name(999) == NULL)
        MISUSE(lw_integrator_summary(999) == NULL)
        ARGUMENT(lw_method_applies("tree", NULL, &error))
        ARGUMENT(lw_method_applies("none", model, &error))
        MISUSE(lw_method_auto(NULL, NULL, 0, &error) == NULL)
        MISUSE(lw_method_auto_at(NULL, 0, q, v, NULL, 0, NULL) == NULL)
        MISUSE(lw_method_auto_at(model, 0, NULL, NULL, NULL, 0, NULL) != NULL)
        ARGUMENT(lw_accelerations(NULL, NULL, 0, q, v, out, NULL, NULL, &error))
        ARGUMENT(lw_accelerations(model, NULL, 0, NULL, v, out, NULL, NULL, &error))
        ARGUMENT(lw_accelerations(model, NULL, 0, q, v, NULL, NULL, NULL, NULL))
        MISUSE(lw_accelerations(model, NULL, 0, nan2, v, out, NULL, NULL, NULL) != LW_OK)
        ARGUMENT(lw_accelerations_checked(NULL, NULL, 0, q, v, out, NULL, NULL, &number, &error))
        ARGUMENT(lw_accelerations_checked(model, "none", 0, q, v, out, NULL, NULL, NULL, NULL))
        MISUSE(lw_method_count() > 0 && lw_method_at(lw_method_count()).name == NULL)
        MISUSE(lw_integrator_count() > 0 && lw_integrator_name(lw_integrator_count()) == NULL)
        MISUSE(strcmp(lw_version(), LW_VERSION) == 0)
        MISUSE(QUIET(lw_run_defaults(NULL, &(lw_run_options){0})))
        MISUSE(QUIET(lw_run_defaults(model, NULL)))
        ARGUMENT(lw_run_check(NULL, &run, &error))
        ARGUMENT(lw_run_check(model, NULL, &error))
        ARGUMENT(lw_run_start(NULL, &run, out, out + 2, NULL, NULL, NULL, 0, &error))
        ARGUMENT(lw_run_start(model, NULL, out, out + 2, NULL, NULL, NULL, 0, &error))
        ARGUMENT(lw_run_start(model, &run, NULL, out + 2, NULL, NULL, NULL, 0, &error))
        MISUSE(lw_run_start(model, &run, out, out + 2, NULL, NULL, NULL, 0, NULL) == LW_OK)
        ARGUMENT(lw_run_leads_on(NULL, &run, out, out + 2, &error))
        ARGUMENT(lw_run_leads_on(model, NULL, out, out + 2, &error))
        ARGUMENT(lw_run_leads_on(model, &run, NULL, out + 2, &error))
        ARGUMENT(lw_run_leads_on(model, &run, out, NULL, &error))
        MISUSE(lw_run_integrator(NULL) == NULL)
        MISUSE(lw_integrator_by_step(NULL, &run) == false)
        MISUSE(lw_integrator_by_step("rk4", NULL) == false)
        MISUSE(lw_integrator_by_step("none", &run) == false)
        ARGUMENT(lw_simulate(NULL, &run, q, v, NULL, &error))
        ARGUMENT(lw_simulate(model, NULL, q, v, NULL, &error))
        MISUSE(lw_simulate(model, &run, NULL, NULL, NULL, NULL) == LW_OK)
        /* --- simulation.h --- */
        MISUSE(refuses_run(0))
        MISUSE(refuses_run(1))
        MISUSE(refuses_run(2))
        MISUSE(refuses_run(3))
        MISUSE(refuses_run(4))
        MISUSE(refuses_run(5))
        MISUSE(refuses_run(6))
        MISUSE(refuses_run(7))
        MISUSE(refuses_run(8))
        MISUSE(refuses_run(9))
        MISUSE(refuses_run(10))
        MISUSE(refuses_run(11))
        MISUSE(refuses_run(12))
        MISUSE(refuses_run(13))
        MISUSE(refuses_run(14))
        MISUSE(refuses_run(15))
        MISUSE(refuses_run(16))
        ARGUMENT(lw_simulation_create(NULL, &run, NULL, &(lw_simulation *){NULL}, &error))
        ARGUMENT(lw_simulation_create(model, NULL, NULL, &(lw_simulation *){NULL}, &error))
        ARGUMENT(lw_simulation_create(model, &run, NULL, NULL, &error))
        MISUSE(QUIET(lw_simulation_destroy(NULL)))
        MISUSE(lw_simulation_model(NULL) == NULL)
        MISUSE(lw_simulation_method(NULL) == NULL)
        MISUSE(lw_simulation_integrator(NULL) == NULL)
        MISUSE(lw_simulation_event(NULL) == -1)
        MISUSE(lw_simulation_model_event(NULL) == -1)
        MISUSE(isnan(lw_simulation_time(NULL)))
        MISUSE(isnan(lw_simulation_input(NULL, 0)))
        MISUSE(isnan(lw_simulation_input(simulation, 1)))
        MISUSE(isnan(lw_simulation_input(simulation, -1)))
        ARGUMENT(lw_simulation_advance(NULL, 1, &error))
        ARGUMENT(lw_simulation_advance(simulation, NAN, &error))
        ARGUMENT(lw_simulation_advance(simulation, INFINITY, &error))
        ARGUMENT(lw_simulation_advance(simulation, -1, &error))
        ARGUMENT(lw_simulation_step(NULL, &error))
        ARGUMENT(lw_simulation_run(NULL, NULL, &error))
        ARGUMENT(lw_simulation_reset(NULL, &error))
        ARGUMENT(lw_simulation_state(NULL, q, v))
        MISUSE(lw_simulation_state(simulation, NULL, NULL) == LW_OK)
        ARGUMENT(lw_simulation_set_state(NULL, 0, q, v, &error))
        ARGUMENT(lw_simulation_set_state(simulation, 0, NULL, v, &error))
        ARGUMENT(lw_simulation_set_state(simulation, NAN, q, v, &error))
        ARGUMENT(lw_simulation_set_state(simulation, 0, nan2, v, &error))
        ARGUMENT(lw_simulation_set_state(simulation, 0, q, inf2, &error))
        ARGUMENT(lw_simulation_states(NULL, out))
        ARGUMENT(lw_simulation_works(NULL, out))
        ARGUMENT(lw_simulation_set_states(NULL, out))
        ARGUMENT(lw_simulation_set_input(NULL, 0, 1))
        ARGUMENT(lw_simulation_set_input(simulation, 1, 1))
        ARGUMENT(lw_simulation_set_input(simulation, -1, 1))
        ARGUMENT(lw_simulation_set_input(simulation, 0, NAN))
        ARGUMENT(lw_simulation_set_inputs(NULL, out))
        ARGUMENT(lw_simulation_set_inputs(simulation, NULL))
        ARGUMENT(lw_simulation_set_inputs(simulation, nan2))
        MISUSE(lw_simulation_method_reason(NULL) == NULL)
        MISUSE(lw_simulation_set_parameter(NULL, 0, 1, &error) == LW_ERROR_ARGUMENT)
        MISUSE(lw_simulation_set_parameter(simulation, 1, 1, &error) == LW_ERROR_ARGUMENT)
        MISUSE(lw_simulation_set_parameter(simulation, -1, 1, NULL) == LW_ERROR_ARGUMENT)
        MISUSE(lw_simulation_set_parameter(simulation, 0, NAN, &error) != LW_OK)
        MISUSE(isnan(lw_simulation_parameter(NULL, 0)))
        MISUSE(isnan(lw_simulation_parameter(simulation, 1)))
        MISUSE(isnan(lw_simulation_parameter(simulation, -1)))
        ARGUMENT(lw_simulation_output(simulation, 0, &number))
        ARGUMENT(lw_simulation_output(NULL, 0, &number))
        ARGUMENT(lw_simulation_outputs(NULL, out))
        ARGUMENT(lw_simulation_accelerations(NULL, out, NULL, &error))
        ARGUMENT(lw_simulation_ledger(NULL, &(lw_ledger){0}))
        ARGUMENT(lw_simulation_ledger(simulation, NULL))
        ARGUMENT(lw_simulation_summary(NULL, &(lw_run_summary){0}))
        ARGUMENT(lw_simulation_summary(simulation, NULL))
        MISUSE(lw_simulation_snapshot_size(NULL) == 0)
        ARGUMENT(lw_simulation_save(NULL, out, sizeof out))
        ARGUMENT(lw_simulation_save(simulation, NULL, 1000000))
        ARGUMENT(lw_simulation_save(simulation, out, 8))
        ARGUMENT(lw_simulation_restore(NULL, out, sizeof out, &error))
        ARGUMENT(lw_simulation_restore(simulation, NULL, 8, &error))
        ARGUMENT(lw_simulation_restore(simulation, out, sizeof out, &error))
        /* --- assemble.h --- */
        ARGUMENT(lw_assemble(NULL, 0, q, v, NULL, &error))
        ARGUMENT(lw_assemble(model, 0, NULL, v, NULL, &error))
        ARGUMENT(lw_assemble(model, 0, q, NULL, NULL, &error))
        ARGUMENT(lw_assemble(model, 0, nan2, v, NULL, &error))
        ARGUMENT(lw_assemble(model, NAN, q, v, NULL, NULL))
        ARGUMENT(lw_mobility_create(NULL, 0, q, &(lw_mobility *){NULL}, &error))
        ARGUMENT(lw_mobility_create(model, 0, NULL, &(lw_mobility *){NULL}, &error))
        ARGUMENT(lw_mobility_create(model, 0, nan2, &(lw_mobility *){NULL}, &error))
        ARGUMENT(lw_mobility_create(model, 0, q, NULL, &error))
        MISUSE(QUIET(lw_mobility_destroy(NULL)))
        MISUSE(lw_mobility_freedom(NULL) == 0)
        MISUSE(lw_mobility_speeds(NULL) == 0)
        MISUSE(lw_mobility_rows(NULL) == 0)
        MISUSE(lw_mobility_rank(NULL) == 0)
        MISUSE(lw_mobility_redundant_joint(mobility, 0) == -1)
        MISUSE(lw_mobility_redundant_joint(NULL, 0) == -1)
        MISUSE(lw_mobility_redundant(mobility, 0) == NULL)
        MISUSE(lw_mobility_redundant(mobility, -1) == NULL)
        MISUSE(lw_mobility_redundant(NULL, 0) == NULL)
        /* --- criterion.h --- */
        ARGUMENT(lw_merits_create(NULL, false, &(lw_merits *){NULL}, &error))
        ARGUMENT(lw_merits_create(model, false, NULL, &error))
        MISUSE(QUIET(lw_merits_destroy(NULL)))
        ARGUMENT(lw_merits_evaluate(NULL, 0, q, &error))
        ARGUMENT(lw_merits_evaluate(merits, 0, NULL, &error))
        ARGUMENT(lw_merits_evaluate(merits, 0, nan2, &error))
        MISUSE(lw_merits_count(NULL) == 0)
        MISUSE(lw_merits_get(NULL, 0) == NULL)
        MISUSE(lw_merits_get(merits, 2) == NULL)
        MISUSE(lw_merits_get(merits, -1) == NULL)
        MISUSE(lw_merits_freedom(NULL) == 0)
        MISUSE(isnan(lw_merits_worth(NULL)))
        MISUSE(lw_merits_bounded(NULL) == false)
        ARGUMENT(lw_loop_choices(NULL, 0, q, NULL, 0, &count, &error))
        ARGUMENT(lw_loop_choices(model, 0, NULL, NULL, 0, &count, &error))
        ARGUMENT(lw_loop_choices(model, 0, q, NULL, 0, NULL, &error))
        ARGUMENT(lw_loop_choices(model, 0, q, NULL, -1, &count, &error))
        ARGUMENT(lw_merits_sweep(NULL, model, 0, q, &(lw_merits_path){0}, &error))
        ARGUMENT(lw_merits_sweep(spec, NULL, 0, q, &(lw_merits_path){0}, &error))
        ARGUMENT(lw_merits_sweep(spec, model, 0, NULL, &(lw_merits_path){0}, &error))
        ARGUMENT(lw_merits_sweep(spec, model, 0, q, NULL, &error))
        MISUSE(refuses_sweep(-1, 0, 1, 2))
        MISUSE(refuses_sweep(2, 0, 1, 2))
        MISUSE(refuses_sweep(0, 0, NAN, 2))
        MISUSE(refuses_sweep(0, 0, 1, -1))
        ARGUMENT(lw_cuts_create(NULL, model, 0, q, &(lw_cuts *){NULL}, &error))
        ARGUMENT(lw_cuts_create(spec, NULL, 0, q, &(lw_cuts *){NULL}, &error))
        ARGUMENT(lw_cuts_create(spec, model, 0, NULL, &(lw_cuts *){NULL}, &error))
        ARGUMENT(lw_cuts_create(spec, model, 0, q, NULL, &error))
        MISUSE(QUIET(lw_cuts_destroy(NULL)))
        MISUSE(lw_cuts_count(NULL) == 0)
        MISUSE(lw_cuts_get(NULL, 0) == NULL)
        MISUSE(lw_cuts_get(cuts, 99) == NULL)
        MISUSE(lw_cuts_get(cuts, -1) == NULL)
        MISUSE(lw_cuts_best(NULL) == 0)
        MISUSE(lw_model_cut_move(model, 0) == NULL)
        MISUSE(lw_model_cut_move_count(NULL) == 0)
        ARGUMENT(lw_spec_keep_cuts(NULL, model))
        ARGUMENT(lw_spec_keep_cuts(spec, NULL))
        /* --- compare.h --- */
        MISUSE(QUIET(lw_compare_defaults(NULL, &(lw_compare_options){0})))
        MISUSE(QUIET(lw_compare_defaults(model, NULL)))
        MISUSE(lw_comparison_wrong(NULL) == false)
        ARGUMENT(lw_compare(NULL, &comparing, nothing, &count, &error))
        ARGUMENT(lw_compare(model, NULL, nothing, &count, &error))
        ARGUMENT(lw_compare(model, &comparing, nothing, &count, &error))
        ARGUMENT(lw_compare(model, &comparing, (lw_comparison[32]){{0}}, NULL, &error))
        /* --- director.h, massless.h --- */
        ARGUMENT(lw_newton_condition(NULL, "director", 1e-3, 1, &number, &error))
        ARGUMENT(lw_newton_condition(model, NULL, 1e-3, 1, &number, &error))
        ARGUMENT(lw_newton_condition(model, "tree", 1e-3, 1, &number, &error))
        ARGUMENT(lw_newton_condition(model, "director", NAN, 1, &number, &error))
        ARGUMENT(lw_newton_condition(model, "director", 1e-3, -1, &number, &error))
        ARGUMENT(lw_newton_condition(model, "director", 1e-3, 1, NULL, &error))
        MISUSE(lw_direction_kind_name((lw_direction_kind)99) != NULL)
        ARGUMENT(lw_directions_create(NULL, &(lw_directions *){NULL}, &error))
        ARGUMENT(lw_directions_create(model, NULL, &error))
        MISUSE(QUIET(lw_directions_destroy(NULL)))
        MISUSE(lw_directions_dynamic(NULL) == 0)
        MISUSE(lw_directions_count(NULL) == 0)
        MISUSE(lw_directions_at(NULL, 0) == NULL)
        MISUSE(lw_directions_at(directions, 0) == NULL)
        MISUSE(lw_directions_at(directions, -1) == NULL)
        ARGUMENT(lw_directions_balance(NULL, &error))
        /* --- neglect.h --- */
        ARGUMENT(lw_neglect_create(NULL, 1e-3, &(lw_neglect *){NULL}, &error))
        ARGUMENT(lw_neglect_create(spec, NAN, &(lw_neglect *){NULL}, &error))
        ARGUMENT(lw_neglect_create(spec, 2, &(lw_neglect *){NULL}, &error))
        ARGUMENT(lw_neglect_create(spec, 1e-3, NULL, &error))
        MISUSE(QUIET(lw_neglect_destroy(NULL)))
        MISUSE(lw_neglect_count(NULL) == 0)
        MISUSE(lw_neglect_at(NULL, 0) == NULL)
        MISUSE(lw_neglect_at(neglect, 0) == NULL)
        MISUSE(lw_neglect_at(neglect, -1) == NULL)
        MISUSE(isnan(lw_neglect_largest(NULL)))
        MISUSE(QUIET(lw_neglect_scale(NULL, 1)))
        ARGUMENT(lw_neglect_state(NULL, other, 0, q, v, out, out + 2, &error))
        ARGUMENT(lw_neglect_state(model, other, 0, NULL, v, out, out + 2, &error))
        ARGUMENT(lw_neglect_estimate(NULL, &run, &(lw_neglect_error){0}, &error))
        ARGUMENT(lw_neglect_estimate(neglect, NULL, &(lw_neglect_error){0}, &error))
        ARGUMENT(lw_neglect_estimate(neglect, &run, NULL, &error))
        ARGUMENT(lw_stiff_bodies(NULL, nothing, 0, &count, &error))
        ARGUMENT(lw_stiff_bodies(spec, nothing, 1, &count, &error))
        ARGUMENT(lw_stiff_bodies(spec, nothing, 0, NULL, &error))
        ARGUMENT(lw_stiff_bodies(spec, nothing, -1, &count, &error))
        /* --- io.h --- */
        ARGUMENT(lw_read_model(NULL, NULL, 0, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_read_model("x", NULL, 0, report, NULL))
        MISUSE(lw_read_model("/none/such", NULL, 0, NULL, &(lw_spec *){NULL}) == LW_ERROR_FILE)
        ARGUMENT(lw_read_model("x", NULL, 1, report, &(lw_spec *){NULL}))
        ARGUMENT(
            lw_read_model_with(NULL, &(lw_read_options){NULL, 0, false, NULL, 0}, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_read_model_with("x", NULL, report, &(lw_spec *){NULL}))
        ARGUMENT(
            lw_read_model_with("x", &(lw_read_options){NULL, 1, false, NULL, 0}, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_read_model_with("x", &(lw_read_options){NULL, 0, false, NULL, 0}, report, NULL))
        ARGUMENT(lw_read_input(NULL, "u", "x.csv", "y", &error))
        ARGUMENT(lw_read_input(spec, NULL, "x.csv", "y", &error))
        ARGUMENT(lw_read_input(spec, "none", "x.csv", "y", &error))
        ARGUMENT(lw_read_input(spec, "u", NULL, "y", NULL))
        ARGUMENT(lw_read_model_text(NULL, 3, "x", NULL, 0, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_read_model_text("x", 1, "x", NULL, 0, report, NULL))
        MISUSE(lw_read_model_text("x", 1, NULL, NULL, 0, NULL, &(lw_spec *){NULL}) != LW_OK)
        ARGUMENT(lw_read_run(NULL, NULL, 0, &(lw_spec *){NULL}))
        ARGUMENT(lw_read_run("x", NULL, 0, NULL))
        ARGUMENT(lw_read_number(NULL, "s", &number, &error))
        ARGUMENT(lw_read_number("1 s", "s", NULL, &error))
        MISUSE(lw_read_number("1 s", NULL, &number, NULL) == LW_OK && same(number, 1))
        ARGUMENT(lw_write_model(NULL, "x", &error))
        ARGUMENT(lw_write_model(spec, NULL, &error))
        ARGUMENT(lw_results_spec(NULL, &(lw_spec *){NULL}, &error))
        ARGUMENT(lw_results_spec("x.csv", NULL, &error))
        ARGUMENT(
            lw_results_state(NULL, model, 0, &(double){0}, (double[64]){0}, (double[64]){0}, NULL, &error))
        ARGUMENT(
            lw_results_state("x.csv", NULL, 0, &(double){0}, (double[64]){0}, (double[64]){0}, NULL, &error))
        ARGUMENT(lw_results_state("x.csv", model, 0, NULL, (double[64]){0}, (double[64]){0}, NULL, &error))
        ARGUMENT(lw_results_state("x.csv", model, 0, &(double){0}, NULL, (double[64]){0}, NULL, &error))
        ARGUMENT(lw_results_state("x.csv", model, INFINITY, &(double){0}, (double[64]){0}, (double[64]){0},
                                  NULL, &error))
        ARGUMENT(lw_results_values(NULL, model, 0, (double[64]){0}, (double[64]){0}, NULL, (double[64]){0},
                                   (double[64]){0}, &error))
        ARGUMENT(lw_results_values("x.csv", NULL, 0, (double[64]){0}, (double[64]){0}, NULL, (double[64]){0},
                                   (double[64]){0}, &error))
        ARGUMENT(lw_results_values("x.csv", model, NAN, (double[64]){0}, (double[64]){0}, NULL,
                                   (double[64]){0}, (double[64]){0}, &error))
        ARGUMENT(lw_results_values("x.csv", model, 0, NULL, (double[64]){0}, NULL, (double[64]){0},
                                   (double[64]){0}, &error))
        ARGUMENT(lw_results_go_on(NULL, NULL, 0, NULL, NULL, &error))
        ARGUMENT(lw_results_go_on(NULL, "x.csv", NAN, NULL, NULL, &error))
        ARGUMENT(lw_results_open(NULL, &(lw_results_options){.path = "-"}, &(lw_results *){NULL}, &error))
        ARGUMENT(lw_results_open(model, NULL, &(lw_results *){NULL}, &error))
        ARGUMENT(lw_results_open(model, &(lw_results_options){.path = NULL}, &(lw_results *){NULL}, &error))
        ARGUMENT(lw_results_open(model, &(lw_results_options){.path = "-"}, NULL, &error))
        MISUSE(lw_results_want_accelerations(NULL) == false)
        MISUSE(lw_results_want_reactions(NULL) == false)
        MISUSE(lw_results_want_works(NULL) == false)
        ARGUMENT(lw_results_works(NULL, model, 0, (double[64]){0}, &error))
        ARGUMENT(lw_results_works("x.csv", NULL, 0, (double[64]){0}, &error))
        ARGUMENT(lw_results_works("x.csv", model, NAN, (double[64]){0}, &error))
        ARGUMENT(lw_results_write(NULL, &(lw_sample){0}))
        ARGUMENT(lw_results_event(NULL, 0, "a"))
        MISUSE(lw_results_close(NULL, NULL, &error) == LW_OK)
        ARGUMENT(lw_plot_results(NULL, "x.svg", NULL, 0, &error))
        ARGUMENT(lw_plot_results("x.csv", NULL, NULL, 0, &error))
        ARGUMENT(lw_plot_results("x.csv", "x.svg", NULL, 1, &error))
        ARGUMENT(lw_plot_with(NULL, "x.svg", &(lw_plot_options){0}, &error))
        ARGUMENT(lw_plot_with("x.csv", "x.svg", NULL, &error))
        /* --- gltf.h --- */
        ARGUMENT(lw_gltf_poses(NULL, data, 0, q, out))
        ARGUMENT(lw_gltf_poses(model, NULL, 0, q, out))
        ARGUMENT(lw_gltf_poses(model, data, 0, NULL, out))
        ARGUMENT(lw_gltf_poses(model, data, 0, q, NULL))
        ARGUMENT(lw_gltf_poses(model, data, NAN, q, out))
        ARGUMENT(lw_animation_gltf(NULL, "x.glb", NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(NULL, &number, out, 1, "x.glb", NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(model, NULL, out, 1, "x.glb", NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(model, &number, NULL, 1, "x.glb", NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(model, &number, out, 0, "x.glb", NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(model, &number, out, 1, NULL, NULL, NULL, &error))
        ARGUMENT(lw_export_gltf(model, &number, out, 1, "x.glb", &(lw_gltf_options){.accuracy = NAN}, NULL,
                                &error))
        /* --- record.h --- */
        ARGUMENT(lw_record_create(NULL, NULL, &(lw_record *){NULL}, &error))
        ARGUMENT(lw_record_create(model, NULL, NULL, &error))
        ARGUMENT(lw_record_create(model, "nonsense(", &(lw_record *){NULL}, &error))
        MISUSE(QUIET(lw_record_destroy(NULL)))
        MISUSE(lw_record_count(NULL) == 0)
        MISUSE(lw_record_name(NULL, 0) == NULL && lw_record_name(record, 9999) == NULL)
        MISUSE(lw_record_unit(NULL, 0) == NULL && lw_record_unit(record, 9999) == NULL)
        MISUSE(!lw_record_accelerations(NULL) && !lw_record_reactions(NULL) && !lw_record_works(NULL))
        ARGUMENT(lw_record_row(NULL, &(lw_sample){.q = q, .v = v}, out))
        ARGUMENT(lw_record_row(record, NULL, out))
        ARGUMENT(lw_record_row(record, &(lw_sample){.q = NULL, .v = v}, out))
        ARGUMENT(lw_record_row(record, &(lw_sample){.q = q, .v = v}, NULL))
        ARGUMENT(lw_recording_create(NULL, &(lw_recording *){NULL}, &error))
        ARGUMENT(lw_recording_create(model, NULL, &error))
        MISUSE(QUIET(lw_recording_destroy(NULL)))
        ARGUMENT(lw_recording_add(NULL, &(lw_sample){.q = q, .v = v}))
        ARGUMENT(lw_recording_add(recording, NULL))
        ARGUMENT(lw_recording_add(recording, &(lw_sample){.q = q, .v = NULL}))
        MISUSE(lw_recording_add(recording, &(lw_sample){.q = q, .v = v, .model = other}) ==
               LW_ERROR_UNSUPPORTED)
        MISUSE(lw_recording_count(NULL) == 0)
        ARGUMENT(lw_recording_at(NULL, 0, &(lw_sample){0}))
        ARGUMENT(lw_recording_at(recording, 0, &(lw_sample){0})) /* no samples */
        /* --- import.h, export.h --- */
        ARGUMENT(lw_import(NULL, NULL, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_import("x.urdf", NULL, report, NULL))
        MISUSE(lw_import("/none/such.urdf", NULL, NULL, &(lw_spec *){NULL}) == LW_ERROR_FILE)
        ARGUMENT(lw_import_text(NULL, 4, "x", NULL, report, &(lw_spec *){NULL}))
        ARGUMENT(lw_import_text("<robot/>", 8, "x", NULL, report, NULL))
        MISUSE(lw_import_text("<robot/>", 8, NULL, NULL, NULL, &(lw_spec *){NULL}) == LW_ERROR_MODEL)
        MISUSE(QUIET(lw_import_defaults(NULL)))
        MISUSE(lw_import_format_of(NULL) == LW_FORMAT_UNKNOWN)
        MISUSE(lw_import_format_of_text(NULL, 8) == LW_FORMAT_UNKNOWN)
        MISUSE(lw_import_format_name((lw_import_format)99) != NULL)
        MISUSE(QUIET(lw_import_notes_destroy(NULL)))
        MISUSE(QUIET(lw_import_notes_destroy(lw_import_notes_create())))
        MISUSE(lw_import_notes_size(NULL) == 0 && lw_import_notes_get(NULL, 0) == NULL)
        ARGUMENT(lw_export_mjcf(NULL, "x.xml", NULL, &error))
        ARGUMENT(lw_export_mjcf(spec, NULL, NULL, &error))
        ARGUMENT(lw_results_about(NULL, (char[8]){0}, 8, &error))
        ARGUMENT(lw_results_about("x.csv", NULL, 8, &error))
        ARGUMENT(lw_results_about("x.csv", (char[8]){0}, 0, &error))
        MISUSE(lw_results_about("/dev/null", (char[8]){0}, 8, &error) == LW_ERROR_FILE)
        ARGUMENT(lw_export_c(NULL, NULL, "x", NULL, &error))
        ARGUMENT(lw_export_c(model, NULL, NULL, NULL, &error))
        ARGUMENT(lw_export_fmu(NULL, "x.fmu", NULL, &error))
        ARGUMENT(lw_export_fmu(spec, NULL, NULL, &error))
        MISUSE(QUIET(lw_fmu_defaults(NULL)))
        MISUSE(lw_fmu_platforms(NULL) != NULL)
        MISUSE(lw_fmu_check(NULL, NULL) == LW_ERROR_ARGUMENT)
        MISUSE(lw_fmu_check("x.fmu", NULL) == LW_ERROR_ARGUMENT)
        ARGUMENT(lw_export_urdf(NULL, "x.urdf", NULL, &error))
        ARGUMENT(lw_export_urdf(spec, NULL, NULL, &error))
        /* --- compliance, parts --- */
        MISUSE(!lw_model_is_compliant(NULL))
        ARGUMENT(lw_solver_by_compliance(NULL, (bool[12]){false}, &error))
        ARGUMENT(lw_solver_by_compliance(solver, NULL, &error))
        ARGUMENT(lw_spec_add_part(NULL, &(lw_part_spec){.name = "p"}))
        ARGUMENT(lw_spec_add_part(spec, NULL))
        MISUSE(lw_spec_part_count(NULL) == 0)
        MISUSE(lw_spec_part(NULL, 0) == NULL && lw_spec_part(spec, 99) == NULL)
        /* --- view.h --- */
        ARGUMENT(lw_animation_create(NULL, NULL, &(lw_animation *){NULL}, &error))
        ARGUMENT(lw_animation_create(model, NULL, NULL, &error))
        ARGUMENT(lw_animation_create(model, "nonsense(", &(lw_animation *){NULL}, &error))
        ARGUMENT(lw_animation_read(NULL, NULL, &(lw_animation *){NULL}, &error))
        ARGUMENT(lw_animation_read("x.csv", NULL, NULL, &error))
        MISUSE(lw_animation_read("/none/such.csv", NULL, &(lw_animation *){NULL}, NULL) == LW_ERROR_FILE)
        MISUSE((lw_animation_destroy(NULL), true))
        MISUSE(lw_animation_model(NULL) == NULL)
        MISUSE(lw_animation_samples(NULL) == 0)
        MISUSE(lw_animation_wants_accelerations(NULL) == false)
        MISUSE(lw_animation_wants_reactions(NULL) == false)
        MISUSE(lw_animation_wants_works(NULL) == false)
        ARGUMENT(lw_animation_sample(NULL, &(lw_sample){0}))
        ARGUMENT(lw_animation_sample(animation, NULL))
        ARGUMENT(lw_animation_sample(animation, &(lw_sample){.q = NULL, .v = v}))
        ARGUMENT(lw_animation_sample(animation, &(lw_sample){.t = NAN, .q = q, .v = v}))
        ARGUMENT(lw_animation_sample(animation, &(lw_sample){.q = inf2, .v = v}))
        ARGUMENT(lw_animation_event(NULL, 0, "kind", "text"))
        ARGUMENT(lw_animation_event(animation, 0, NULL, "text"))
        ARGUMENT(lw_animation_note(NULL, "text"))
        ARGUMENT(lw_animation_note(animation, NULL))
        ARGUMENT(lw_animation_finish(NULL, NULL, NULL))
        ARGUMENT(lw_view_write(NULL, 1, "x.html", NULL, &error))
        ARGUMENT(lw_view_write((const lw_animation *const[]){NULL}, 1, "x.html", NULL, &error))
        ARGUMENT(lw_view_write((const lw_animation *const[]){animation}, 3, "x.html", NULL, &error))
        ARGUMENT(lw_view_write((const lw_animation *const[]){animation}, 1, NULL, NULL, &error))
        ARGUMENT(lw_view_write((const lw_animation *const[]){animation}, 1, "x.html", NULL,
                               &error)) /* no samples */
        ARGUMENT(lw_view_write_data((const lw_animation *const[]){NULL}, 1, "x.json", NULL, &error))
    }
    return false;
}
enum { MISUSES = __COUNTER__ - BEFORE };

static void every_misuse_has_an_answer(void **state) {
    (void)state;
    set_up();
    const int failed = misuses_failed(MISUSES, misuse);
    tear_down();
    print_message("%d misuses\n", (int)MISUSES);
    assert_true(MISUSES >= 150);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_misuse_has_an_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
